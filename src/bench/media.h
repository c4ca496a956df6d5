/* Results of the case media of htwave bench: error over cost of methods in
 * media, measured by bench_media.c and printed by media_show.c.
 *
 * Grids are multiples, in quarters, of a medium's unit grid: in the built-in
 * media that of one cell per unit of length, of a file that of half its
 * grid.cells. Errors are those at the nodes of the unit grid, or of a method's
 * grid that is coarser.
 */
#ifndef HTWAVE_BENCH_MEDIA_H
#define HTWAVE_BENCH_MEDIA_H

#include "htwave/bench.h"

enum { HT_MEDIA_METHODS = 64, HT_MEDIA_MEDIA = 16, HT_MEDIA_SIDE = 32 };
#define HT_MEDIA_END 14.0

struct ht_media_point {
    double updates;                /* steps times cells */
    double seconds, joules, bytes; /* of the whole run; NaN: not known */
    double error;
    double points; /* cells per unit of length; of the file's cells */
};
enum { HT_MEDIA_POINTS = 16 };
struct ht_media_curve {
    int count;
    struct ht_media_point point[HT_MEDIA_POINTS];
};

/* Of a step of a cell; NaN: not known. */
struct ht_media_rate {
    double seconds, joules, bytes;
};

struct ht_media_method {
    const char *system; /* NULL: the file's */
    const struct ht_scheme *scheme;
    int order;                 /* grid.order */
    int terms;                 /* of finite differences in time; 0: Hermite */
    const char *fit;           /* of finite differences, else NULL */
    int refused;               /* grids */
    char why[160];             /* one is refused; "" else */
    int grew;                  /* runs that ended because they grew */
    bool warned;               /* the energy rose by 1 % in a run */
    int finest;                /* of its grids so far, in quarters; 0: none */
    struct ht_media_rate rate; /* on this grid */
    struct ht_media_curve curve;
};

struct ht_media_reference {
    bool known; /* else no time was left for it */
    int order;
    double points; /* as those of a method */
    bool fp64;
    double error; /* its own, estimated */
};

/* A medium and what was measured there. */
struct ht_media_medium {
    char name[64]; /* of a file: its base name without .cfg */
    bool file;     /* of the user, else built in */
    bool jumps;    /* or may: errors are of second order */
    bool uniform;
    char *path; /* of the input */
    int dims;
    int64_t unit[3];   /* cells of the unit grid; 1 where there is no axis */
    double points;     /* of the unit grid */
    const char *field; /* whose error it is */
    struct ht_media_reference reference;
    int count;
    struct ht_media_method method[HT_MEDIA_METHODS];
};

struct ht_media {
    struct ht_bench *bench;
    bool fp64; /* of the runs that are judged */
    int count;
    struct ht_media_medium medium[HT_MEDIA_MEDIA];
};

/* "taylor N = 3", "fd 8, 2 terms, box" */
void ht_media_name(const struct ht_media_method *method, char *buffer,
                   size_t size);

/* ---- media_list.c ---- */
/* The media of a list (NULL: those that are built in). Of files, which are
 * read and checked, all but the results; of the others name and kind. Free
 * *out, also after an error. */
HT_CHECKED enum ht_err ht_media_list(const char *list, struct ht_media **out);
void ht_media_free(struct ht_media *media);

/* ---- media_input.c ---- */
/* Writes the input of a built-in medium into the directory of the results and
 * sets its path. */
HT_CHECKED enum ht_err ht_media_write(const struct ht_bench *bench,
                                      struct ht_media_medium *medium);

/* ---- media_show.c ---- */
/* Writes media.csv and media.md; prints the latter unless rows are printed. */
HT_CHECKED enum ht_err ht_media_show(const struct ht_media *media);

#endif
