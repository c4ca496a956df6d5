/* Shared by the files src/model/fit*.c: the boxes on which the medium is
 * constant, and the weights that average over them along each axis. */
#ifndef HTWAVE_MODEL_FIT_PRIVATE_H
#define HTWAVE_MODEL_FIT_PRIVATE_H

#include "htwave/fit.h"
#include "medium_private.h"

/* ---- fit_axis.c ---- */
/* The weights of one output: `count` pieces from `first` on. */
struct ht_fit_taps {
    int64_t first;
    int count;
    double *weight;
};

/* Along one axis the box is cut into boxes from edge[i] to edge[i + 1], whose
 * values are those of source base + i. Pieces are these boxes continued beyond
 * the box of the grid: piece p has the values of box[p] and lies between
 * place[p] and place[p + 1]. taps[s][m + 1] average about x_m + s h/2, for m
 * from -1 to `nodes`. */
struct ht_fit_axis {
    double lower, upper, h;
    bool periodic;
    int64_t nodes; /* primary */
    int64_t boxes, base;
    double *edge;
    int64_t pieces, *box;
    double *place;
    struct ht_fit_taps *taps[2];
    double *weights; /* what the taps point into */
    int most;        /* taps */
};
struct ht_fit {
    const struct ht_medium *medium;
    enum ht_fit_kind kind;
    bool uniform, density_uniform;
    double K, b; /* where uniform */
    struct ht_fit_axis axis[3];
    struct ht_fit_counts counts;
    bool quiet; /* fills are not counted */
    /* point, of each quantity that ht_fit_fill knows: 1/K or rho on the plane
     * that was filled last, which the next one is compared with. NULL: none. */
    struct {
        double *value;
        int64_t plane;
    } below[4];
};

/* What a fill computes: of x3 planes [first[2], last[2]) rows [first[1],
 * last[1]); out is that of ht_fit_fill. Functions on values of x1 and x2, some
 * averaged to nodes already and others of pieces, share it. */
struct ht_fit_job {
    struct ht_fit *fit;
    int what;
    int own; /* axis that is averaged first, half a spacing on; -1: none */
    int64_t first[3], last[3];
    int64_t pieces[2]; /* [first, last) along x2 that the rows need */
    bool fitted[3];    /* axes that have been averaged */
    int64_t at3;       /* piece, or fitted: plane */
    double *out;
};

/* edge and boxes are set; kind sinc or box. */
HT_CHECKED enum ht_err ht_fit_axis_weigh(struct ht_fit_axis *axis,
                                         enum ht_fit_kind kind);
void ht_fit_axis_clear(struct ht_fit_axis *axis);

/* ---- fit.c ---- */
/* Position along axis k of entry i of the values of a job (k 2: at3). */
double ht_fit_position(const struct ht_fit_job *job, int k, int64_t i);
/* Refuses values, rows of n[0] `row` apart, next to each other, or to `before`
 * (or NULL) on the plane below, that differ by too much. */
HT_CHECKED enum ht_err ht_fit_check_contrast(const struct ht_fit_job *job,
                                             const int64_t n[2], int64_t row,
                                             const double *values,
                                             const double *before);
/* Values of the job's rows of plane at3 into its output: compliance or b. */
HT_CHECKED enum ht_err ht_fit_emit(struct ht_fit_job *job, int64_t row,
                                   const double *values);

/* ---- fit_average.c ---- */
/* All rows of planes [first[2], last[2]) by averages. */
HT_CHECKED enum ht_err ht_fit_average(struct ht_fit_job *job);

/* ---- fit_source.c ---- */
/* Parameters of the systems "acoustic" and "wave"; the latter has no rho. */
enum { HT_FIT_C_OR_K, HT_FIT_RHO };

/* Values that are averaged. */
enum ht_fit_quantity { HT_FIT_COMPLIANCE, HT_FIT_DENSITY }; /* 1/K, rho */

/* Sets base, boxes and edge of the axis from the medium's rows. */
HT_CHECKED enum ht_err ht_fit_boxes(const struct ht_medium *medium, int k,
                                    struct ht_fit_axis *axis);
/* The quantity on a plane of the boxes, x1 fastest: piece p3 along x3, lines of
 * the pieces [first, last) along x2, `row` apart. */
HT_CHECKED enum ht_err ht_fit_source(const struct ht_medium *medium,
                                     const struct ht_fit_axis axis[3],
                                     enum ht_fit_quantity quantity, int64_t p3,
                                     int64_t first, int64_t last, int64_t row,
                                     double *out);
/* Whether the system has a density. */
bool ht_fit_density(const struct ht_medium *medium);
/* The key to blame for a quantity, and its name in messages. */
const char *ht_fit_key(const struct ht_medium *medium,
                       enum ht_fit_quantity quantity);
const char *ht_fit_name(const struct ht_medium *medium,
                        enum ht_fit_quantity quantity);

#endif
