/* Sources of Hermite methods: what a source adds to a half step of tau = dt/2 is the sum over r of
 * a_r G_r (docs/developers/sources.md), a_r the coefficients of its signal in Legendre's
 * polynomials; derivatives of G_r at nodes have a closed form where the medium is uniform. */
#pragma once

#include "htwave/problem.h"
#include "htwave/tool.h"

struct ht_plan;
struct ht_resampled;

/* The Gaussian of a shot, of a volume a plain one of its width; a plane's varies along one axis. */
struct ht_source_form {
    double radius;   /* in cells, of a volume in the largest spacing */
    double along[3]; /* the same along each axis; 0: it does not vary there */
    int order;       /* Q */
    double cut;      /* what is smaller than this part of the largest is left */
    double error;    /* relative, in L2, of a trace, at most, by the source */
    double travel;   /* and by the scheme, ten wavelengths away */
    double reach[3]; /* cells up to which nodes take it, at most, along axes
                        where it varies */
};
enum { HT_SOURCE_WIDEST = 6 }; /* cells that a volume's width has, at most */
static inline bool ht_source_varies(const struct ht_source_form *form, int axis) {
    return form->along[axis] > 0;
}
double ht_source_reach_most(const struct ht_source_form *form);
/* A point of a shot; the materials are constant within its reach. */
struct ht_source_point {
    int shot;
    double x[3], material[HT_MAX_MATERIALS];
};
enum { HT_DUHAMEL_TERMS = 24 }; /* of Legendre, at most */
struct ht_injection_counts {
    int64_t nodes, entries, shapes;
};
struct ht_duhamel {
    const struct ht_shots *shots;
    struct ht_source_form *form; /* of each shot */
    int64_t points;
    struct ht_source_point *point;
    int terms;                          /* R + 1 */
    double needed;                      /* cells per shortest wavelength: ht_plan_needed_points */
    struct ht_injection_counts most[2]; /* of the whole target grids */
};
/* Chooses the forms and refuses what cannot be added, with key and place. For a plan that is
 * complete but for its problem's sources. */
HT_ERR ht_duhamel_create(const struct ht_plan *plan, struct ht_duhamel **out);
void ht_duhamel_destroy(struct ht_duhamel *duhamel); /* NULL allowed */
/* Whether a place of an axis lies in reach of a point or in a cell beside. */
bool ht_source_reaches(const struct ht_problem *problem, const struct ht_source_point *point,
                       int axis, double x);

/* ---- what a stepper adds ---- */
/* Of one target grid: the nodes of a window and their shapes. */
struct ht_injection_grid {
    struct ht_inject_list list;
    struct ht_inject_shapes shapes;
    int64_t *plane;               /* [x3 plane of the window + 1]: its first node */
    struct ht_pool pool;          /* of these but shapes.value */
    int field[HT_MAX_FIELDS];     /* of each stored one */
    struct ht_injected *injected; /* on a device, or NULL */
};
enum { HT_INJECTION_ROWS = 64 }; /* half steps in the table at a time */
struct ht_injection {
    struct ht_problem problem;
    struct ht_injection_grid grid[2];
    double *table; /* [row][column][term] */
    bool acts[HT_INJECTION_ROWS];
    int64_t first; /* half step of row 0 */
    int64_t steps; /* time steps done: half steps from the dual grid */
    int64_t row;   /* of the current half step; -1: no source acts */
};
/* *out: NULL for a problem without sources. The windows are those of the target grids; a problem's
 * duhamel must outlive it. injector: of the device that gets lists and shapes; NULL: none. */
HT_ERR ht_injection_create(const struct ht_problem *problem, const struct ht_window window[2],
                           struct ht_tool *injector, struct ht_injection **out);
void ht_injection_destroy(struct ht_injection *in); /* NULL allowed */
/* Its device bytes, at most. */
int64_t ht_injection_bytes(const struct ht_problem *problem, const struct ht_spec *spec);
/* Begins a half step: finds its row of amplitudes. */
HT_ERR ht_injection_begin(struct ht_injection *in, enum ht_subgrid from);
/* Adds to x3 planes [first, last) of the target grid's window; u[field]. */
HT_ERR ht_injection_add(struct ht_injection *in, enum ht_subgrid to, int64_t first, int64_t last,
                        int64_t nodes, struct ht_buffer *const *u);
/* The same to all nodes of plain arrays [field][coefficient][node]; absolute: of magnitudes. */
void ht_injection_add_plain(const struct ht_injection *in, enum ht_subgrid to, bool absolute,
                            int64_t nodes, double *u);

/* ---- samples between steps ---- */
/* Derivatives by time of the state are known where u_t = L u only (htwave/sampler.h). To samples
 * of receivers in reach of a source this adds what they lack; *out: NULL without sources. */
struct ht_source_samples;
HT_ERR ht_source_samples_create(const struct ht_plan *plan, struct ht_source_samples **out);
void ht_source_samples_destroy(struct ht_source_samples *samples);
/* out[i] += that of trace from + i, for the sample at time `at` in steps, which has the weights
 * `by`; NULL allowed. */
void ht_source_samples_add(struct ht_source_samples *samples, double at,
                           const struct ht_resampled *by, int64_t from, int64_t traces,
                           double *out);

/* ---- parts ---- */
/* Lists the nodes of a window; counts alone: without list, shapes and planes. */
HT_ERR ht_injection_list(const struct ht_problem *problem, enum ht_subgrid to,
                         const struct ht_window *window, struct ht_injection_grid *out);
HT_ERR ht_injection_count(const struct ht_problem *problem, enum ht_subgrid to,
                          struct ht_injection_counts *out);
/* g of a source, or of one of its images, a vector over the fields. */
struct ht_source_vector {
    double along[3], field[HT_MAX_FIELDS], material[HT_MAX_MATERIALS];
    int order;
};
/* The slowest of the speeds of waves over the fastest. */
double ht_source_ratio(const struct ht_equations *eq, const double *material);
/* Powers of the Laplacian of g that count within a half step. */
int ht_source_powers_within(const struct ht_problem *problem,
                            const struct ht_source_vector *vector);
/* out[j] += tau^(j+1) L^j g, j <= last, in a field at a distance in cells; its derivative along
 * axis `slope`, if that is not below 0. */
void ht_source_powers(const struct ht_problem *problem, const struct ht_source_vector *vector,
                      const long double distance[3], int field, int slope, int last, double *out);
/* The reach of a form along an axis, in cells, without waves. */
double ht_source_reach(const struct ht_source_form *form, int axis, int order);
