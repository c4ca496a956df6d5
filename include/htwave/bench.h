/* htwave bench: cases plan rows, the rows are measured one by one, and then
 * each case prints its rows.
 */
#ifndef HTWAVE_BENCH_H
#define HTWAVE_BENCH_H

#include "htwave/json.h"
#include "htwave/rate.h"
#include "htwave/sweep.h"

/* One measurement: its plan and its results. */
struct ht_bench_row {
    const struct ht_bench_case *of;
    const struct ht_system *system;
    const struct ht_scheme *scheme;
    struct ht_tuning tuning;
    int dims, order;
    int stages;   /* 0 in a plan: all */
    int64_t side; /* cells along each axis; 0 in a plan: chosen */
    int steps;    /* number of timed steps; 0: until the median is steady */
    int kernel;   /* results are of this kernel of the variant; -1: of all */
    bool density; /* varies; of finite differences */
    /* ---- results ---- */
    bool done;     /* else skipped, see why */
    char why[160]; /* "" if no error */
    struct ht_shape shape;
    double fields;        /* stored fields, mean of both grids */
    double seconds, best; /* per half step: median, least */
    double total;         /* of all timed steps */
    int timed;
    double joules;        /* per half step; NaN: unknown */
    double verified;      /* worst difference over its bound */
    struct ht_cost cost;  /* per cell, of the variant */
    struct ht_cost least; /* per cell, of the method */
    double fraction;      /* of the device's limit */
};

struct ht_bench {
    struct ht_sweep sweep;
    struct ht_device *device;
    const struct ht_device_info *info;
    struct ht_limits limits[2]; /* [double precision] */
    char *cache;                /* of compiled kernels; NULL: none */
    const char *directory;      /* of the results */
    int64_t side;               /* 0: chosen */
    double gib, seconds;        /* largest state; time per case */
    int cells, rows, planes;    /* of the shape; 0: chosen */
    int stages;                 /* 0: all */
    bool each;                  /* kernel of a variant is a row, too */
    bool csv, json;             /* on standard output */
    int count, room;
    struct ht_bench_row *row;
    int left_out; /* number of rows skipped for lack of time */
    bool wrong;   /* a program disagrees with the reference */
};

struct ht_bench_case {
    const char *name, *help;
    /* Adds rows with ht_bench_plan_system. */
    enum ht_err (*plan)(struct ht_bench *bench,
                        const struct ht_bench_case *self);
    /* Prints its measured rows [first, last). NULL: nothing. */
    enum ht_err (*finish)(struct ht_bench *bench, int first, int last);
};

/* ---- bench_rows.c ---- */
/* Rows of all systems, schemes, dimensions, orders, precisions, layouts and
 * variants of the sweep that apply; default orders 1..most. */
HT_CHECKED enum ht_err ht_bench_plan_sweep(struct ht_bench *bench,
                                           const struct ht_bench_case *of,
                                           int most);
/* The same for one system. */
HT_CHECKED enum ht_err ht_bench_plan_system(struct ht_bench *bench,
                                            const struct ht_bench_row *like,
                                            int most);
/* Measures planned rows [first, last), with progress. */
HT_CHECKED enum ht_err ht_bench_measure(struct ht_bench *bench, int first,
                                        int last);
double ht_bench_cells(const struct ht_bench_row *row); /* of the grid */
double ht_bench_rate(const struct ht_bench_row *row);  /* cell half-steps/s */
/* The largest stable cfl number at the row's stages. */
double ht_bench_largest_cfl(const struct ht_bench_row *row);
double ht_bench_gflops(const struct ht_bench_row *row);
double ht_bench_gbytes(const struct ht_bench_row *row);
const char *ht_bench_precision(const struct ht_bench_row *row);
const char *ht_bench_layout(const struct ht_bench_row *row);
/* Coefficients of all fields per cell. */
double ht_bench_unknowns(const struct ht_bench_row *row);
/* "rolled interpolation" and the like, or the variant's name. */
const char *ht_bench_kernel(const struct ht_bench_row *row);

/* ---- bench_files.c ---- */
/* Writes bench.csv and bench.json with all rows; csv, json: prints them as
 * well. */
HT_CHECKED enum ht_err ht_bench_write(const struct ht_bench *bench);
/* directory/name; free it. */
HT_CHECKED enum ht_err ht_bench_path(const struct ht_bench *bench,
                                     const char *name, char **path);
/* Appends one line of a table of rows; row NULL: the head. */
void ht_bench_print_row(const struct ht_bench_row *row, struct ht_text *text);

/* ---- bench_cases.c ---- */
int ht_bench_case_count(void);
const struct ht_bench_case *ht_bench_case_at(int index);
/* What has taken the place of a case that is gone; NULL: it is none. */
const char *ht_bench_case_gone(const char *name);

#endif
