/* Measured scaling: the table DIR/scaling.csv, to which each launch adds rows.
 */
#ifndef HTWAVE_SCALING_H
#define HTWAVE_SCALING_H

#include "htwave/json.h"
#include "htwave/prediction.h"
#include "htwave/rate.h"

enum { HT_SCALING_WORD = 64 };
/* Half steps per exchange, at most: as parallel.halo_depth. */
enum { HT_SCALING_DEPTH = 64 };

/* One number of ranks; the grid is side x side x planes cells, periodic.
 * Milliseconds, messages and bytes are per time step of two half steps. */
struct ht_scaling_row {
    char kind[HT_SCALING_WORD]; /* weak, strong */
    char system[HT_SCALING_WORD], scheme[HT_SCALING_WORD];
    char precision[HT_SCALING_WORD], variant[HT_SCALING_WORD];
    char layout[HT_SCALING_WORD];
    double order, stages, side, planes, ranks;
    double depth;
    char halo[HT_SCALING_WORD], transport[HT_SCALING_WORD];
    double ms; /* of the slowest rank, by the clock */
    double interior_ms, boundary_ms, pack_ms; /* device times, mean of ranks */
    double exposed_ms;                        /* ms minus these three */
    double messages, bytes;                   /* sent by a rank, mean */
    double verified;                          /* as in struct ht_bench_row */
    char device[HT_SCALING_WORD], backend[HT_SCALING_WORD];
    char driver[HT_SCALING_WORD];
    char version[HT_SCALING_WORD];
};
struct ht_scaling {
    int count;
    struct ht_scaling_row *row;
};

/* ---- scaling_file.c ---- */
/* A missing file has no rows. A file with other columns, broken lines or
 * impossible numbers is refused. Free with ht_scaling_free, also after an
 * error. */
HT_CHECKED enum ht_err ht_scaling_read(const char *path,
                                       struct ht_scaling *out);
HT_CHECKED enum ht_err ht_scaling_add(struct ht_scaling *table,
                                      const struct ht_scaling_row *row);
HT_CHECKED enum ht_err ht_scaling_write(const char *path,
                                        const struct ht_scaling *table);
void ht_scaling_free(struct ht_scaling *table);
/* The table as text of the file; as a JSON array "rows". */
void ht_scaling_csv(const struct ht_scaling *table, struct ht_text *out);
void ht_scaling_json(const struct ht_scaling *table, struct ht_json *out);
/* Whether two rows agree except in kind, planes, ranks and measurements. */
bool ht_scaling_same(const struct ht_scaling_row *a,
                     const struct ht_scaling_row *b);
/* The last row of one rank for the same problem; NULL: none. */
const struct ht_scaling_row *ht_scaling_alone(const struct ht_scaling *table,
                                              const struct ht_scaling_row *of);
/* Efficiency relative to the row of one rank; NaN: no such row. */
double ht_scaling_efficiency(const struct ht_scaling *table,
                             const struct ht_scaling_row *row);
/* Cell half-steps per second of all ranks. */
double ht_scaling_rate(const struct ht_scaling_row *row);

/* The row's test problem with its whole grid, without other ranks. eq must
 * outlive it. */
HT_CHECKED enum ht_err ht_scaling_problem(const struct ht_scaling_row *row,
                                          const struct ht_equations *eq,
                                          struct ht_part *out);

/* ---- scaling_show.c ---- */
/* Prints the rows and the messages of dG on standard output. */
HT_CHECKED enum ht_err ht_scaling_show(const struct ht_scaling *table);

#endif
