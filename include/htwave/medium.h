/* The medium: materials of the equations as polynomials about every node of both grids, in xi =
 * (x - x_m)/h, truncated at total degree `degree`: M_a belongs to index[a] of ht_jets_make(dims,
 * degree, true). Where a material varies too much over a node's cell, or a jump or kink lies in it,
 * all materials of the node have degree 0 and their harmonic means over the cell, as layers and
 * media of degree 0 have everywhere (docs/developers/method.md, section 7). */
#pragma once

#include "htwave/grid.h"

struct ht_medium {
    const struct ht_equations *eq;
    const struct ht_grid *grid;
    bool uniform; /* same materials everywhere: `constant` holds them */
    bool flat;    /* varies along one axis at most */
    int degree;   /* of the polynomials; 0 = constant per node */
    int coefs;    /* multi-indices of ht_jets_make(dims, degree, true) */
    double constant[HT_MAX_MATERIALS];
    unsigned constant_materials;     /* bit m: material m follows from parameters
                                        that are uniform, whatever the others are,
                                        so that its polynomials are numbers */
    double speed[3], fastest;        /* largest signal speed along each axis, of all */
    double speed_min;                /* smallest above 0 over axes and nodes, of parameters at
                                        the node, for cells per wavelength; 0 when nothing
                                        moves */
    double slowest;                  /* the same of the slowest waves, such as shear */
    int64_t flattened;               /* nodes of both grids that are reduced to degree 0;
                                        beyond 2e6 different nodes about so many */
    bool rough;                      /* has jumps or kinks, or is not resolved: orders and errors
                                        of smooth media do not hold */
    unsigned losses;                 /* of the system, whose parameters are not 0 everywhere */
    const char *loss_key;            /* of such a parameter; NULL: none */
    bool vanishes;                   /* a parameter that may be 0 is 0 somewhere */
    bool wall_gradient;              /* varies across a wall: order drops there */
    struct ht_medium_source *source; /* private */
};

/* Reads files and parses expressions: then `uniform` is known. Parameters that the system has not
 * are refused. grid, eq and params must outlive the medium; grid->order need not be known yet. */
HT_ERR ht_medium_read(const struct ht_params *params, const struct ht_equations *eq,
                      const struct ht_grid *grid, struct ht_medium **out);
/* Chooses the degree and scans the grid once: every material is finite and, where the system says
 * so, positive over its whole cell. Errors name the key, the value found and the place. Sampled:
 * only some 2e6 nodes, spread evenly, for callers that need only a good guess of the speeds.
 * Collective where the grid is cut: each rank scans its own planes, and all get the same medium. A
 * rank that fails must enter ht_comm_agree. */
HT_ERR ht_medium_scan(struct ht_medium *medium, bool sampled);
void ht_medium_destroy(struct ht_medium *medium);

/* Materials on x3 planes [first, last) of a grid (2-D, 1-D: plane 0):
 * out[material][a][node in those planes], nodes with x1 fastest. At primary nodes on a wall the
 * powers odd in the wall's normal are left out: the mirrored medium is even, so the wall condition
 * holds exactly. Planes of other ranks are allowed. medium: a struct ht_medium. */
HT_ERR ht_medium_fill(const void *medium, enum ht_subgrid subgrid, int64_t first, int64_t last,
                      double *out);
/* All materials at x from the parameters there, checked. */
HT_ERR ht_medium_point(const struct ht_medium *medium, const double x[3],
                       double material[HT_MAX_MATERIALS]);
/* The largest signal speed over the axes at x. */
HT_ERR ht_medium_speed(const struct ht_medium *medium, const double x[3], double *speed);
/* The value at x of one user parameter (such as "c"), of a material ("K", "1/rho"), or of the speed
 * by its name, such as "c" where K was given: for pictures. Files are linear between samples here.
 * HT_ERR_INPUT when the name is unknown. */
HT_ERR ht_medium_parameter(const struct ht_medium *medium, const char *name, const double x[3],
                           double *value);
/* The rule of a system's parameter that a value breaks, "positive and finite"; NULL: none. */
const char *ht_medium_forbids(const struct ht_system *system, const char *name, double value);
/* Whether one of these parameters decides a material. */
bool ht_medium_decides(const struct ht_medium *medium, const struct ht_names *names, int material);

/* What the samples of a parameter cover of the box from grid.lower to grid.upper. */
struct ht_coverage {
    char text[128];     /* "c: file x1 0..12, x2 0..3," */
    double share;       /* of the box, up to a spacing beyond the ends */
    double part;        /* that the box is of the samples, the largest of all axes */
    double spacings;    /* of samples in the box, the fewest of all axes */
    double least, most; /* of the values in it */
};
/* false: the parameter has no samples. */
bool ht_medium_covers(const struct ht_medium *medium, int parameter, struct ht_coverage *out);

/* ---- slip.c ---- */
/* A flat face normal to an axis between fluid, a material that may be 0 and is, and solid: where
 * one is found on some lines along the axis, *at is the lowest one's place. */
HT_ERR ht_medium_slip(const struct ht_medium *medium, int axis, bool *found, double *at);

/* ---- samples.c, samples_read.c: values on a regular grid, from a file or in memory ---- */
struct ht_samples {
    int64_t shape[3]; /* per axis x1 x2 x3; 1 = extruded along it */
    double origin[3], spacing[3];
    double *value; /* x1 fastest */
};
/* A file of the format medium.format, or by its name. Entries of shape, spacing and origin follow
 * axes, the axes of the file from the fastest on (none: x1, x2, ..; of SEG-Y depth, the last one of
 * the grid, first); along axes not named the values do not vary. Raw is little-endian float32 whose
 * size must match the shape exactly; the others know their shape, which 0 takes (and another one
 * refuses), SEG-Y its spacing, too. memory: values in place of a file's, of the given shape; or
 * NULL. Values are multiplied by scale and must be finite. */
HT_ERR ht_samples_read(const struct ht_params *params, const char *path, const char *dataset,
                       const double *memory, struct ht_samples **out);
/* *out: values as the file has them; medium.shape, spacing and axes become those of the file. */
HT_ERR ht_samples_load(struct ht_params *params, const char *path, const char *dataset,
                       double **out);
/* Values with x1 fastest into the order of the file. */
HT_ERR ht_samples_unplace(const struct ht_params *params, const int64_t shape[3],
                          const double *values, double *out);
void ht_samples_destroy(struct ht_samples *samples);
/* Polynomial about x with scaled coefficients over jets (total or tensor), of the largest power of
 * each axis in jets, or less where there are fewer samples (src/model/samples.c). */
void ht_samples_jet(const struct ht_samples *samples, const struct ht_jets *jets, const double x[3],
                    const double h[3], double *out);

/* ---- frame.c ----
 * The medium of finite differences: coefficients at the primary nodes, moved half a spacing up
 * along the axes of their parity, one number each: of the staggered fields of a pair, or of the
 * form of second order, the modulus K at x_m and b_k = 1/rho at x_m + h_k/2 along axis k.
 *
 * They follow from averages in the frame of the face that crosses the cell (struct ht_average), by
 * the exact integral of the medium, which is constant on boxes, along each axis with
 *     sinc   a windowed sinc, four spacings to either side,
 *     box    1/h over one spacing.
 * The medium continues periodically or as a mirror image behind walls. Boxes are the layers, the
 * samples of a file (half a spacing to either side) or, for expressions, of a quarter of a spacing:
 * at faces the means of 4 points of them per axis (2 in three dimensions), else the centre's value.
 * Adjacent boxes that differ by more than 10^4 are refused. Averages by the sinc below half of the
 * least value in reach are raised (src/model/fit_average.c). point: values at the points. */
struct ht_frame;
/* Spacings to either side that the windowed sinc takes. */
enum { HT_FIT_REACH = 4 };
/* What auto becomes: point where the medium is a smooth expression, else sinc. A uniform medium is
 * always of values at points. */
enum ht_fit_kind ht_frame_kind(const struct ht_medium *medium, enum ht_fit_kind kind);
/* pair: coefficients apart, but for kind point; NULL: the form of second order, with K as
 * coefficient 0 and b_k as 1 + k. The medium must outlive the frame. */
HT_ERR ht_frame_create(const struct ht_medium *medium, const struct ht_pair *pair,
                       enum ht_fit_kind kind, struct ht_frame **out);
void ht_frame_destroy(struct ht_frame *frame); /* NULL allowed */
/* Of the fills that were counted. */
struct ht_fit_counts {
    /* cut: averages along an axis that were raised, at points of that axis and of those before it,
     * on boxes of those after it; once where they repeat along an axis. */
    int64_t values, cut;
    double place[3]; /* of the value that was cut lowest along x3, of these along x2, .. */
};
struct ht_fit_counts ht_frame_counts(const struct ht_frame *frame);
/* Whether all averages stay in memory, as those of small grids do. */
bool ht_frame_keeps(const struct ht_frame *frame);
/* Whether the next fills are counted; at first those of the form of second order are. */
void ht_frame_count(struct ht_frame *frame, bool count);
/* Makes the counts those of all ranks, the place that of the lowest rank with a cut. Collective. */
HT_ERR ht_frame_share_counts(struct ht_frame *frame, struct ht_comm *comm);
/* out: a coefficient for the primary nodes of x3 planes [first, last) (2-D, 1-D: plane 0), x1
 * fastest, whatever the rank, threads and other calls. Points behind the periodic seam or a wall
 * are of the medium's image, those in absorbing layers of the nearest point outside. Averages along
 * x3 begin anew with each call, from some ten planes more: fill many planes at once. Memory beyond
 * out: for each thread and mean some 9 h/s planes of its rows, s the size of boxes along x3. */
HT_ERR ht_frame_fill(struct ht_frame *frame, int coefficient, int64_t first, int64_t last,
                     double *out);

/* ---- fit_gradient.c: gradients by what the medium is fitted from ----
 * From the gradient by coefficients where ht_frame_fill gives them, those of a pair or, of the form
 * of second order, 1/K and the b_k, to that by a number, by numbers of layers or by samples as they
 * are in a file: the transposed derivative of the fit, its cut and the turning of faces included. A
 * medium that is fitted to expressions or by "point" has none; a parameter that is 0 where there is
 * fluid has the gradient 0 there. */
struct ht_medium_gradient {
    int count;
    struct ht_medium_wanted {
        int parameter;   /* of the system */
        const char *key; /* "medium.c" */
        const char *name;
        /* As in struct ht_samples; of numbers 1, or their count along the axis of the layers. */
        int64_t shape[3];
        double origin[3], spacing[3];
        int64_t samples, held; /* held: fixed, their gradient is 0 */
        double *value;         /* x1 fastest, on all ranks */
    } wanted[HT_MAX_MATERIALS];
    unsigned coefficients;   /* whose gradients are read: bit 0 1/K, bit 1 + k b_k; of the pair's */
    int64_t places;          /* of boxes or samples */
    const double *at_places; /* [place], on rank 0: a part of the gradient by the density, of
                                ht_medium_gradient_spread; NULL: none */
    struct ht_medium_gradient_data *data; /* private */
};
/* pair: whose coefficients, of terms and couplings, have gradients; NULL: the form of second order.
 * names: parameters, from the option `key`. The medium, which must outlive it, is scanned; kind as
 * for its frame. whole: gradients are read in absorbing layers, too, where the medium is that of
 * the nearest point outside. Else samples that points on an inner face or in a layer depend on are
 * held, and numbers are refused where sides absorb. */
HT_ERR ht_medium_gradient_create(const struct ht_medium *medium, const struct ht_pair *pair,
                                 enum ht_fit_kind kind, const struct ht_names *names,
                                 const char *key, bool whole, struct ht_medium_gradient **out);
void ht_medium_gradient_destroy(struct ht_medium_gradient *gradient); /* NULL allowed */
/* The gradient by a coefficient, in the form of second order by 1/K (0) or b_k (1 + k), on own x3
 * planes [first, last), every plane once, from below, of several coefficients in turn; any rank:
 * ranks are in it at the same time. Entries as those of ht_frame_fill: every one counts, so that of
 * points half a spacing up those behind a wall must be 0 where another one stands for them. An
 * entry C_rq of a pair is C_qr, too, and has the gradient by both. */
typedef enum ht_err ht_medium_gradient_read(void *data, int coefficient, int64_t first,
                                            int64_t last, double *out);
/* out[place] += the gradient `by` by what ht_medium_parameter says of the density at x, if a
 * density is wanted. */
void ht_medium_gradient_spread(const struct ht_medium_gradient *gradient, const double x[3],
                               double by, double *out);
/* Sets the values, whose bits do not depend on ranks and threads. Collective. */
HT_ERR ht_medium_gradient_find(struct ht_medium_gradient *gradient, ht_medium_gradient_read *read,
                               void *data);
/* out: what is given at the nodes, such as their illumination, read as such a coefficient, on the
 * samples of a wanted parameter: each gets its part of the cell about a node. Collective. */
HT_ERR ht_medium_gradient_share(const struct ht_medium_gradient *gradient, int wanted,
                                int coefficient, ht_medium_gradient_read *read, void *data,
                                double *out);
/* Values that are found from here on are multiplied by those of a file in the format of the
 * medium's; dataset of HDF5, "": medium.dataset, or "mask". Another shape is refused (`key`). */
HT_ERR ht_medium_gradient_mask(struct ht_medium_gradient *gradient, const char *path,
                               const char *dataset, const char *key);

/* Initial data and exact solutions: node coefficients to full order at any time for which the
 * solution is known. */

struct ht_solution {
    const struct ht_equations *eq;
    const struct ht_grid *grid;
    bool exact;                    /* known at every time */
    bool rest;                     /* zero, at times before 0, too */
    bool returns;                  /* known at time.end only: equals the initial data */
    unsigned occurs;               /* fields that may differ from 0 at time 0 */
    double snapshot;               /* a snapshot of a run at this time; 0: none */
    double wavenumber[3];          /* largest per axis where known (radians per length,
                                      also from a frequency); else 0 */
    bool single_wave;              /* wavenumber is the vector of one plane wave or mode;
                                      else     it bounds waves along any axis */
    double theta;                  /* the worst radians per cell where known; else 0 */
    struct ht_solution_data *data; /* private */
};

/* Checks initial.* against system, walls and medium (a standing mode must suit the walls, plane
 * waves need periodic sides, ...). The arguments must outlive the solution. */
HT_ERR ht_solution_create(const struct ht_params *params, const struct ht_medium *medium,
                          struct ht_solution **out);
void ht_solution_destroy(struct ht_solution *solution);

static inline bool ht_solution_occurs(const struct ht_solution *solution, int field) {
    return solution->occurs >> field & 1u;
}

/* Coefficients of all fields on x3 planes [first, last) of a grid at a time:
 * out[field][i][node in those planes], i as in ht_grid_coefs, nodes with x1 fastest. time must be 0
 * unless exact, 0 or less at rest. */
HT_ERR ht_solution_fill(const struct ht_solution *solution, enum ht_subgrid subgrid, double time,
                        int64_t first, int64_t last, double *out);
