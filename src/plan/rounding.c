/* The contribution of rounding to the error at the end: a model fitted to
 * measurements, not a bound. With u the unit roundoff and W wavelengths
 * travelled,
 *
 *     r = u A(scheme, N) W^a,    between r/b and r c.
 *
 * A, b and c are from plane waves on an H100 (variant "monolithic"): N
 * = 1..7, 1.5 to 6 cells per wavelength, 20 and 100 wavelengths, along an axis,
 * (1,1) and (1,2,2), in single precision where rounding exceeds the error of
 * the scheme; double precision has the same factors where rounding is visible.
 * The factors depend little on the cells per wavelength (up to 48 in 1-D). N =
 * 8 and orders without such measurements are extrapolated. The numbers are in
 * the schemes' files.
 */
#include <float.h>
#include <math.h>

#include "expect.h"
#include "src/fd/fd_plan.h"

/* The errors of rounding and of the scheme add as orthogonal vectors. The
 * scheme's error is computed in double precision, with an error below 20 u A W.
 * In double precision one run of a thousand had an error 20 times larger,
 * 1e-10. */
void ht_expect_rounding(const struct ht_plan *plan, double wavelengths,
                        struct ht_expected *expected) {
    const bool fp64 = ht_in_double(plan->params);
    const struct ht_rounding *row =
        ht_problem_scheme(&plan->problem)->rounding(&plan->eq);
    if (row == NULL) {
        ht_fd_expect_rounding(plan, fp64, expected);
        return;
    }
    const double wide = fp64 && row->wide > 0 ? row->wide : 1;
    const double factor = row->factor[plan->grid.order - 1] * wide;
    const double w = fmax(wavelengths, 1);
    double r = (fp64 ? DBL_EPSILON : FLT_EPSILON) / 2 * factor;
    r *= pow(w, row->power);
    double most = r * row->above * (fp64 ? 20 : 1);
    double computed = 20 * DBL_EPSILON / 2 * factor * w;
    expected->error = hypot(expected->error, r);
    expected->low = fmax(expected->low - most - computed, r / row->below);
    expected->high += most;
}
