/* The surface between total and scattered fields of a plane wave that comes
 * from outside, for src/fd/fd_*.c (fd_incidence.c says what it is for).
 */
#ifndef HTWAVE_FD_FD_SURFACE_H
#define HTWAVE_FD_FD_SURFACE_H

#include "fd.h"
#include "htwave/plan.h"

enum { HT_FD_MOST_REACH = 2 * HT_FD_RADIUS, HT_FD_SPLINE = 6 };

/* Of the box and its star. */
struct ht_fd_surface {
    const struct ht_grid *grid;
    bool closed[3];               /* the box has faces along the axis */
    int64_t lower[3], upper[3];   /* nodes inside: lower <= m <= upper */
    int reach;                    /* of the star */
    double arm[HT_FD_MOST_REACH]; /* a_j, times h^2 */
    double rate[3];               /* K / (rho h^2) */
    double modulus;               /* K */
    double direction[3], corner;  /* as of the shot */
    double apart, first;          /* xi of columns: first + n apart */
    int columns;
};
HT_CHECKED enum ht_err ht_fd_surface_make(const struct ht_problem *problem,
                                          const struct ht_shot *shot,
                                          struct ht_fd_surface *out);
bool ht_fd_surface_holds(const struct ht_fd_surface *s, int axis, int64_t m);
/* Whether the star of a node crosses a face normal to an axis. */
bool ht_fd_surface_crosses(const struct ht_fd_surface *s, const int64_t m[3],
                           int axis);
/* Refuses plane waves whose surface the grid cannot hold, or about which the
 * medium varies. A rank looks at its own planes: one that fails must enter
 * ht_comm_agree. */
HT_CHECKED enum ht_err ht_fd_surface_check(const struct ht_plan *plan);

#endif
