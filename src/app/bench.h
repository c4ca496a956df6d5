/* The rows of htwave bench. */
#ifndef HTWAVE_APP_BENCH_H
#define HTWAVE_APP_BENCH_H

#include "htwave/json.h"
#include "htwave/tune.h"
#include "sweep.h"

/* One measurement: its plan and its results. */
struct ht_bench_row {
    const char *of; /* case */
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
    int count;
    int64_t room;
    struct ht_bench_row *row;
    int left_out; /* number of rows skipped for lack of time */
    bool wrong;   /* a program disagrees with the reference */
};

/* Rows of all systems, schemes, dimensions, orders, precisions, layouts and variants of the sweep
 * that apply; default orders 1..most. */
HT_CHECKED enum ht_err ht_bench_plan_sweep(struct ht_bench *bench, const char *of, int most);
/* The same for one system. */
HT_CHECKED enum ht_err ht_bench_plan_system(struct ht_bench *bench, const struct ht_bench_row *like,
                                            int most);
/* Measures planned rows [first, last), with progress. */
HT_CHECKED enum ht_err ht_bench_measure(struct ht_bench *bench, int first, int last);
/* Writes bench.csv and bench.json with all rows; csv, json: prints them as well. */
HT_CHECKED enum ht_err ht_bench_write(const struct ht_bench *bench);

#endif
