/* Parts of ht_plan_create for finite differences. */
#ifndef HTWAVE_FD_FD_PLAN_H
#define HTWAVE_FD_FD_PLAN_H

#include "htwave/fd_kernel.h"
#include "htwave/plan.h"

/* grid.order is one of theirs. */
HT_CHECKED enum ht_err ht_fd_check_order(const struct ht_plan *plan);
/* Fits the medium: sets problem.fd and plan->fd_rate. Collective. */
HT_CHECKED enum ht_err ht_fd_plan_medium(struct ht_plan *plan);
HT_CHECKED enum ht_err ht_fd_check_points(const struct ht_plan *plan);
/* Ranks send planes that they own, as many as the stencil reaches over, before each pass. */
HT_CHECKED enum ht_err ht_fd_check_slabs(const struct ht_plan *plan, int ranks, int64_t thinnest);
/* The first and the last slab hold the layers at the ends of x3; rank r has cells [start[r],
 * start[r + 1]) along it. */
HT_CHECKED enum ht_err ht_fd_check_layer_slabs(const struct ht_plan *plan, const int64_t *start);
/* Refuses sources whose waves the grid does not carry, warns of those that it carries badly.
 * Nothing without sources. */
HT_CHECKED enum ht_err ht_fd_check_shots(const struct ht_plan *plan);
/* Of one wave with the wavenumbers k where the medium is slowest: its relative error at the end by
 * dispersion; where the medium varies, an upper bound in its smooth parts. What rounding adds. */
double ht_fd_wave_error(const struct ht_plan *plan, const double k[3]);
void ht_fd_expect_rounding(const struct ht_plan *plan, bool fp64, struct ht_expected *expected);
/* Largest stable fd_rate dt. */
double ht_fd_plan_cfl(const struct ht_plan *plan, int stages);

/* Refuses plane waves whose surface the grid cannot hold, or about which the medium varies. A rank
 * looks at its own planes: one that fails must enter ht_comm_agree. */
HT_CHECKED enum ht_err ht_fd_surface_check(const struct ht_plan *plan);

#endif
