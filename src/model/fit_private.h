/* Shared by the files src/model/fit*.c: the boxes on which the medium is constant, and the weights
 * that average over them along each axis. */
#pragma once

#include "medium_private.h"

/* The weights of one output: `count` pieces from `first` on. */
struct ht_fit_taps {
    int64_t first;
    int count;
    double *weight;
};

/* What a medium is averaged by along an axis: a windowed sinc, a box, a raised cosine of the reach
 * of the sinc; slopes: differences over a spacing of the averages half a spacing to either side. */
enum ht_fit_window {
    HT_FIT_BY_SINC,
    HT_FIT_BY_BOX,
    HT_FIT_BY_COSINE,
    HT_FIT_BOX_SLOPE,
    HT_FIT_COSINE_SLOPE,
    HT_FIT_WINDOWS
};
/* What is done at the end of a piece: averages by the sinc or by boxes, or the medium is split. */
enum ht_fit_end { HT_FIT_END_SINC, HT_FIT_END_BOX, HT_FIT_END_SPLIT };

/* Along one axis the box is cut into boxes from edge[i] to edge[i + 1], whose values are those of
 * source base + i. Pieces are these boxes continued beyond the box of the grid: piece p has the
 * values of box[p] and lies between place[p] and place[p + 1]. taps[w][s][m + 1] average about x_m
 * + s h/2 by window w, for m from -1 to `nodes`. */
struct ht_fit_axis {
    double lower, upper, h;
    bool periodic;
    int64_t nodes; /* primary */
    int64_t boxes, base;
    double *edge;
    int64_t pieces, *box;
    double *place;
    enum ht_fit_end *end; /* of each piece */
    double *jump[2];      /* the factors of 1/K and rho there, where splits are looked for */
    struct ht_fit_taps *taps[HT_FIT_WINDOWS][2]; /* of windows that are in use */
    int most;                                    /* taps */
    struct ht_pool *pool;                        /* of all arrays */
};
struct ht_fit {
    const struct ht_medium *medium;
    const struct ht_average *average; /* of the system; its scalars are averaged */
    unsigned shown[HT_MAX_SCALARS];   /* parameters that decide each scalar */
    int nlost;                        /* materials of losses, behind them */
    enum ht_fit_kind kind;
    unsigned parameters; /* that are read */
    bool split;          /* somewhere */
    struct ht_fit_axis axis[3];
    struct ht_pool pool; /* of what they point to */
};

/* What is averaged: a quantity about points half a spacing up along the axes of the mask `shift`.
 * track: with its least values in reach, below half of which it is cut. */
struct ht_fit_channel {
    int quantity;
    unsigned shift;
    enum ht_fit_window window[3];
    bool track;
};
enum { HT_FIT_CHANNELS = 6 * HT_MAX_SCALARS }; /* mean, box, n: mean and slopes */
/* A plane of averages: rows are `row` apart; least: the least values in reach, NULL: none. */
struct ht_fit_done {
    int64_t row;
    const double *value, *least;
};

/* What a fill computes: of x3 planes [first[2], last[2]) rows [first[1], last[1]). Functions on
 * values of x1 and x2, some averaged to nodes already and others of pieces, share it. With a shape
 * gradients by the averages become those by the values of the boxes. */
struct ht_fit_job {
    const struct ht_fit *fit;
    int quantity;   /* scalar that is looked at */
    unsigned shift; /* axes along which points lie half a spacing up */
    int nchannels;
    const struct ht_fit_channel *channel;
    /* Takes plane at3 of averages, of all channels; with a shape gives the gradients by them, in
     * the same rows, whose ends are 0. */
    enum ht_err (*emit)(struct ht_fit_job *job, const struct ht_fit_done *done,
                        double *const *gradient);
    void *data; /* of emit */
    /* Gradients by quantity, of boxes on a lattice of this shape: added to. */
    const int64_t *shape; /* NULL: averages alone */
    double *sum[HT_MAX_SCALARS];
    int64_t first[3], last[3];
    int64_t pieces[2];               /* [first, last) along x2 that the rows need */
    bool fitted[3];                  /* axes that have been averaged */
    int64_t at3;                     /* piece, or fitted: plane */
    double range[HT_MAX_SCALARS][2]; /* least and largest of the values checked so far */
    struct ht_fit_counts counts;
};

/* ---- fit.c ---- */
/* The axes of a fit whose medium and kind are set, from boxes of the medium. */
HT_ERR ht_fit_make_axes(struct ht_fit *fit, const struct ht_medium_boxes all[3]);
/* Adds the counts of another part. */
void ht_fit_counts_add(const struct ht_fit_counts *more, struct ht_fit_counts *counts);
/* Position along axis k of entry i of the values of a job (k 2: at3). */
double ht_fit_position(const struct ht_fit_job *job, int k, int64_t i);
/* The same of a plane of rows of n[0] values, `row` apart, next to each other, and to `before` (or
 * NULL) on the plane below. */
HT_ERR ht_fit_check_plane(struct ht_fit_job *job, const int64_t n[2], int64_t row,
                          const double *values, const double *before);

/* ---- fit_average.c ---- */
/* All rows of planes [first[2], last[2]) by averages. */
HT_ERR ht_fit_average(struct ht_fit_job *job);

/* ---- frame.c ---- */
struct ht_frame {
    struct ht_fit fit; /* its medium, kind and axes */
    struct ht_pair pair;
    int field[HT_MAX_FIELDS]; /* of the system, by fields of the pair */
    int coefficients;         /* of terms, and couplings */
    int sharing[8];           /* coefficients of each parity */
    bool second_order;        /* they are K and the b_k */
    bool fluid;               /* may be somewhere */
    struct ht_fit_counts counts;
    bool quiet; /* fills are not counted */
    /* All coefficients of a parity on some planes, one after the other: callers ask for one at a
     * time. Of the parity that was averaged last, of small grids of all. NULL: none. */
    struct ht_frame_kept {
        double *value;
        int64_t first, last;
        bool counted;
        struct ht_fit_counts counts;
    } kept[8];
};
/* A frame, zero before, of averages over these boxes; pair: as of ht_frame_create. */
HT_ERR ht_frame_make(struct ht_frame *frame, const struct ht_medium *medium,
                     const struct ht_pair *pair, enum ht_fit_kind kind,
                     const struct ht_medium_boxes boxes[3]);
/* What some coefficients of a parity follow from: the channels of the mean of each scalar, -1: it
 * is not used, of that by boxes beside fluid, of its mean and its slopes along the axes for n. */
struct ht_frame_means {
    unsigned parity;
    bool wanted[HT_MAX_TERMS];
    bool turned; /* n is needed to rounding alone */
    int mean[HT_MAX_SCALARS], box[HT_MAX_SCALARS], whole[HT_MAX_SCALARS];
    int slope[HT_MAX_SCALARS][3];
    int lost[HT_MAX_SCALARS]; /* of materials of losses */
    int nchannels;
    struct ht_fit_channel channel[HT_FIT_CHANNELS];
    double n[3]; /* where it is the same everywhere; 0: it is not, or nothing depends on it */
};
/* Of the parity and the wanted ones, the rest being 0. */
void ht_frame_find_means(const struct ht_frame *frame, struct ht_frame_means *means);
/* Those of a point. rows: the slopes of scalars over their means, whose squares J sums up. */
struct ht_frame_point {
    const int *from; /* channels of the means */
    struct ht_face face;
    int rows, scalar[HT_MAX_SCALARS];
    double row[HT_MAX_SCALARS][3];
};
/* Eigenvalues and eigenvectors of J, as ht_eigen has them; the number of the largest. */
int ht_frame_axes(const struct ht_frame_point *point, double J[3][3], double V[3][3]);
/* Of entry i of the channels' planes. */
void ht_frame_at(const struct ht_frame *frame, const struct ht_frame_means *means,
                 const struct ht_fit_done *done, int64_t i, struct ht_frame_point *point);

/* ---- fit_source.c ---- */
/* Materials at the points x1[i], x[1], x[2], checked, of parameters in the mask, the others at
 * their defaults; at: number of the first one's samples, -1: files are interpolated. */
HT_ERR ht_fit_line_materials(const struct ht_medium *medium, unsigned parameters, const double x[3],
                             int64_t at, const struct ht_medium_work *line);
/* All scalars on a plane of the boxes, x1 fastest: piece p3 along x3, lines of the pieces [first,
 * last) along x2, `row` apart. */
HT_ERR ht_fit_source(const struct ht_fit *fit, int64_t p3, int64_t first, int64_t last, int64_t row,
                     double *const out[HT_MAX_SCALARS]);
/* Of expressions, lines of the pieces [first, last) along x2, next to each other: values at the
 * centres of piece p, with those of its neighbours; then means of the boxes at faces in their
 * place. *out: NULL where there are no such faces. */
struct ht_fit_near;
HT_ERR ht_fit_near_make(const struct ht_fit *fit, const int64_t pieces[2], struct ht_pool *pool,
                        struct ht_fit_near **out);
HT_ERR ht_fit_near_read(struct ht_fit_near *near, int64_t p, double *const *out);
HT_ERR ht_fit_near_average(struct ht_fit_near *near, int64_t p, double *const *out);
void ht_fit_near_end(struct ht_fit_near *near);
/* The first scalar of those that a field's coefficients take: that of the mean along its axis. */
int ht_fit_scalar(const struct ht_fit *fit, int field);
/* Scalars and materials of losses. */
static inline int ht_fit_quantities(const struct ht_fit *fit) {
    return fit->average->nscalars + fit->nlost;
}
/* The key to blame for a scalar. */
const char *ht_fit_key(const struct ht_fit *fit, int quantity);
