/* The case accuracy of htwave bench: what a wavelength costs for an error.
 * Planned and searched by bench_accuracy.c, run by accuracy_waves.c, printed by
 * accuracy_show.c.
 */
#ifndef HTWAVE_BENCH_ACCURACY_H
#define HTWAVE_BENCH_ACCURACY_H

#include "htwave/bench.h"
#include "htwave/resolution.h"

enum {
    HT_ACCURACY_WAYS = 3,    /* directions of waves */
    HT_ACCURACY_LENGTHS = 2, /* 10 and 100 wavelengths */
    HT_ACCURACY_TARGETS = 7, /* errors 1e-2 .. 1e-8 */
    HT_ACCURACY_GRIDS = 64
};
extern const int ht_accuracy_length[HT_ACCURACY_LENGTHS];
double ht_accuracy_target(int index);

/* Waves on a grid, along each direction. */
struct ht_accuracy_grid {
    struct ht_resolution asked;     /* its error: of the scheme, by analysis */
    int lengths, ways;              /* of the runs */
    double cells[HT_ACCURACY_WAYS]; /* per wavelength */
    /* Of the runs; expected by the plan, at the end. */
    double error[HT_ACCURACY_WAYS][HT_ACCURACY_LENGTHS];
    double expected[HT_ACCURACY_WAYS];
    double worst[HT_ACCURACY_LENGTHS]; /* of all directions; NaN: not run */
};

struct ht_accuracy_method {
    const struct ht_bench_row *row;
    /* Where the runs begin, by analysis. */
    struct ht_resolution asked[HT_ACCURACY_LENGTHS][HT_ACCURACY_TARGETS];
    bool cut; /* incomplete: no time left */
    int count;
    struct ht_accuracy_grid grid[HT_ACCURACY_GRIDS];
};

struct ht_accuracy {
    const struct ht_bench *bench;
    int dims; /* of the runs */
    int cut;  /* number of incomplete methods */
    int count;
    struct ht_accuracy_method *method;
};

/* What a cubic wavelength costs per period. */
struct ht_accuracy_cost {
    double seconds, joules, bytes; /* of the device's memory; NaN: not known */
};
struct ht_accuracy_cost ht_accuracy_cost(const struct ht_accuracy_method *m,
                                         const struct ht_accuracy_grid *grid);
/* The cheapest grid whose runs reached an error; NULL: none has. */
const struct ht_accuracy_grid *
ht_accuracy_cheapest(const struct ht_accuracy_method *method, int length,
                     double error);

/* ---- accuracy_waves.c ---- */
/* "(1,2,2)" */
const char *ht_accuracy_way(int dims, int way);
/* The kernels of a row, made by its first run. */
struct ht_accuracy_runner {
    const struct ht_bench *bench;
    const struct ht_bench_row *row;
    int dims;
    struct ht_kernels kernels;
    bool ready;
};
void ht_accuracy_end(struct ht_accuracy_runner *runner);
/* Runs waves over the first `lengths` distances and sets all but `asked`.
 * patience: seconds that a run may take on the device by the row's rate; longer
 * ones are left out. */
HT_CHECKED enum ht_err ht_accuracy_run(struct ht_accuracy_runner *runner,
                                       int lengths, double patience,
                                       struct ht_accuracy_grid *grid);

/* ---- accuracy_show.c ---- */
/* Writes accuracy.csv with all runs and accuracy.md with tables; prints the
 * latter unless rows are printed. */
HT_CHECKED enum ht_err ht_accuracy_show(const struct ht_accuracy *accuracy);

#endif
