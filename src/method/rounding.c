/* What rounding adds to the error at the end: a model of measurements, not a
 * bound. With u the unit roundoff and W wavelengths travelled,
 *
 *     r = u A(scheme, N) W^a,    between r/b and r c.
 *
 * A, b and c are from plane waves on an H100 (variant "monolithic"): N
 * = 1..7, 1.5 to 6 cells per wavelength, 20 and 100 wavelengths, along an axis,
 * (1,1) and (1,2,2), in single precision where rounding exceeds the error of
 * the scheme; double precision has the same factors where it shows. They depend
 * little on the cells per wavelength (up to 48 tried in 1-D). N = 8 is
 * extrapolated, as are orders of which no such row was found. Leapfrog damps
 * nothing, what it gathers is erratic: hence its wide brackets. `wave` by
 * Taylor series was measured in 1-D only.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "expect.h"

struct rounding_row {
    double power, below, above;  /* a, b, c */
    double factor[HT_MAX_ORDER]; /* A */
};

static const struct rounding_row rounding_rows[] = {
    [HT_SYMBOL_ADVECTION] = {0.75, 15, 12, {6, 6, 8, 8, 12, 28, 70, 180}},
    [HT_SYMBOL_WAVE] = {0.75, 15, 12, {6, 6, 8, 8, 12, 28, 70, 180}},
    [HT_SYMBOL_PAIR] = {0.75, 20, 20, {20, 20, 20, 40, 80, 350, 1600, 7000}},
    [HT_SYMBOL_LEAPFROG_EVEN] = {0.6,
                                 80,
                                 30,
                                 {100, 100, 150, 150, 150, 200, 1000, 3000}},
    [HT_SYMBOL_LEAPFROG_ODD] = {0.6,
                                25,
                                20,
                                {20, 20, 30, 30, 65, 170, 650, 2000}},
};

static bool in_double(const struct ht_params *params) {
    return params->device.precision == HT_DOUBLE ||
           strcmp(params->device.backend, "oracle") == 0;
}

/* Rounding and the scheme's error add like vectors. The scheme's error was
 * itself computed in double precision, with an error below 20 u A W. In double
 * precision one run of a thousand ended 20 times further off, at 1e-10. */
void ht_expect_rounding(const struct ht_plan *plan, double wavelengths,
                        struct ht_expected *expected) {
    const bool fp64 = in_double(plan->params);
    const struct rounding_row *row = &rounding_rows[plan->symbol];
    const double factor = row->factor[plan->grid.order - 1];
    const double w = fmax(wavelengths, 1);
    double r = (fp64 ? DBL_EPSILON : FLT_EPSILON) / 2 * factor;
    r *= pow(w, row->power);
    double most = r * row->above * (fp64 ? 20 : 1);
    double computed = 20 * DBL_EPSILON / 2 * factor * w;
    expected->error = hypot(expected->error, r);
    expected->low = fmax(expected->low - most - computed, r / row->below);
    expected->high += most;
}
