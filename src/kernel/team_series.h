/* Tables of the two scalar series by teams of work-items, cl/team_series.cl,
 * and what their variants have in common.
 */
#ifndef HTWAVE_KERNEL_TEAM_SERIES_H
#define HTWAVE_KERNEL_TEAM_SERIES_H

#include "variant.h"

enum {
    HT_TEAM_CLASSES = 8,
    HT_TEAM_ORDERS = HT_MAX_ORDER + 1 /* N + 1 at most */
};

/* HT_OWN, HT_FAST, HT_SLOW: axes of positions of members and in planes. */
struct ht_team_axes {
    int own, fast, slow;
};

/* The numbers of the series, as in cl/team_series.cl: alpha_k, beta_k, lambda
 * sigma, r_k; the tables as far as they are filled. */
struct ht_team_series {
    const struct ht_spec *spec;
    struct ht_team_axes axes;
    int n1, h, reach;
    int wide;     /* values of 16 bytes */
    double least; /* of the precision */
    long double alpha[3], beta[3], lambda, ratio[3];
    double even[HT_TEAM_ORDERS * HT_TEAM_ORDERS];
    double odd[HT_TEAM_ORDERS * HT_TEAM_ORDERS];
    int count;
    double *value; /* owned */
};

/* Why a spec has no such series, or NULL. */
const char *ht_team_refuses(const struct ht_spec *spec);

/* HT_H and HT_REACH: positions of results along an axis, and of S. */
int ht_team_results(const struct ht_spec *spec);
int ht_team_reach(const struct ht_spec *spec);
/* HT_PADDED_LINE: values of a line of a matrix in a table. */
int ht_team_line(const struct ht_spec *spec);
/* HT_AT_OWN_TABLES: values of the tables that kernels have in common. */
int ht_team_tables(const struct ht_spec *spec);
/* HT_ROW with so many planes. */
int64_t ht_team_row(const struct ht_spec *spec, int planes);

/* Fills the common tables; behind them are `own` values of the kernel's. */
HT_CHECKED enum ht_err ht_team_start(const struct ht_spec *spec,
                                     struct ht_team_axes axes, int own,
                                     struct ht_team_series *s);
/* Values below those of the precision are 0. */
void ht_team_put(struct ht_team_series *s, long double value);
/* Fills up a vector with 0. */
void ht_team_pad(struct ht_team_series *s);
/* What makes the position of an index of a coefficient, 2 a + odd. */
long double ht_team_scale(const struct ht_team_series *s, int axis, int odd,
                          int a);
/* The interpolation along an axis, N + 1 sums of derivatives to positions, in
 * single precision rounded by ht_lines_round. */
void ht_team_put_lines(struct ht_team_series *s, int axis, int odd);
/* The derivative of order N + 1, times N + 1, at the upper end of what sums of
 * derivatives interpolate; the factors of the others (both by alpha). */
void ht_team_put_top(struct ht_team_series *s, int axis, int odd);
void ht_team_put_next(struct ht_team_series *s, int axis);
/* Makes what was put from value `begin` on a table of the text. */
void ht_team_take(struct ht_team_series *s, int begin, const char *name,
                  struct ht_text *out);
/* The text of tables, which are full, of the shares of work-items and of the
 * numbers that cl/team_series.cl names; frees. planes: in a row. */
void ht_team_finish(struct ht_team_series *s, int planes, struct ht_text *out);

/* Bytes of local memory of a group with the cells of a shape. */
typedef int64_t ht_team_bytes(const struct ht_spec *spec,
                              const struct ht_shape *shape);
/* Local memory that a group may have, with what launches by CUDA give. */
int64_t ht_team_limit(const struct ht_device_info *info);
/* The largest number of cells of 4, 2, 1 whose groups the device can run;
 * fails where it can run none. */
HT_CHECKED enum ht_err ht_team_shape(const struct ht_tuning *tuning,
                                     const struct ht_spec *spec,
                                     const struct ht_device_info *info,
                                     ht_team_bytes *bytes,
                                     struct ht_shape *out);

#endif
