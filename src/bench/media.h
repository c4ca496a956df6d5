/* Results of the case media of htwave bench: error over cost of methods in
 * three media, measured by bench_media.c and printed by media_show.c.
 */
#ifndef HTWAVE_BENCH_MEDIA_H
#define HTWAVE_BENCH_MEDIA_H

#include "htwave/bench.h"

enum { HT_MEDIA_METHODS = 64, HT_MEDIA_MEDIA = 3, HT_MEDIA_SIDE = 32 };
#define HT_MEDIA_END 14.0

struct ht_media_point {
    double updates;                /* steps times cells */
    double seconds, joules, bytes; /* of the whole run; NaN: not known */
    double error;
    double points; /* cells per unit of length */
};
enum { HT_MEDIA_POINTS = 16 };
struct ht_media_curve {
    int count;
    struct ht_media_point point[HT_MEDIA_POINTS];
};

/* A method in a medium. */
struct ht_media_method {
    const char *medium, *system;
    const struct ht_scheme *scheme;
    int order;       /* grid.order */
    int terms;       /* of finite differences in time; 0: Hermite */
    const char *fit; /* of finite differences, else NULL */
    char why[160];   /* it is refused; "" else */
    int grew;        /* runs that ended because they grew */
    bool warned;     /* the energy rose by 1 % in a run */
    struct ht_media_curve curve;
};

struct ht_media_reference {
    const char *medium;
    int order, points; /* cells per unit */
    bool fp64;
    double error; /* its own, estimated */
};

struct ht_media {
    struct ht_bench *bench;
    int dims;
    bool fp64; /* of the runs that are judged */
    int count, references;
    struct ht_media_method method[HT_MEDIA_METHODS];
    struct ht_media_reference reference[HT_MEDIA_MEDIA];
};

/* "taylor N = 3", "fd 8, 2 terms, box" */
void ht_media_name(const struct ht_media_method *method, char *buffer,
                   size_t size);

/* ---- media_input.c ---- */
/* Writes the input of a medium into the directory of the results; *path: its
 * file, to be freed. */
HT_CHECKED enum ht_err ht_media_write(const struct ht_bench *bench,
                                      const char *medium, int dims,
                                      char **path);

/* ---- media_show.c ---- */
/* Writes media.csv and media.md; prints the latter unless rows are printed. */
HT_CHECKED enum ht_err ht_media_show(const struct ht_media *media);

#endif
