/* htwave compare: the largest difference of two outputs, in numbers. */
#include <float.h>

#include "app.h"

static enum ht_err print(const struct ht_difference *d, double eps, bool as_json) {
    struct ht_facts f = ht_facts_open();
    ht_fact(&f, string, "dataset", d->dataset);
    ht_fact(&f, number, "largest", d->largest);
    ht_fact(&f, number, "max_abs", d->max_abs);
    ht_fact(&f, number, "max_relative", d->max_rel);
    ht_fact(&f, number, "l2_relative", d->l2_rel);
    ht_fact(&f, integer, "values", d->values);
    ht_fact(&f, number, "eps", eps);
    ht_fact(&f, bool, "equal", d->max_rel <= eps);
    ht_say(&f,
           "%lld values; largest difference in %s: %.6g for values up to %.6g, relative %.6g; "
           "relative L2 of all %.6g\n",
           (long long)d->values, d->dataset, d->max_abs, d->largest, d->max_rel, d->l2_rel);
    return ht_facts_print(&f, as_json);
}

enum ht_err ht_command_compare(const struct ht_args *args) {
    struct ht_difference difference = {.values = 0};
    double eps = 0;
    TRY(ht_args_real(args, "--eps", -DBL_MAX, DBL_MAX, &eps));
    TRY(ht_compare(args->operand[0], args->operand[1], &difference));
    TRY(print(&difference, eps, args->json));
    /* Written so that NaN is a difference. */
    REQUIRE(difference.max_rel <= eps, HT_ERR_DIFFERENT,
            "%s and %s differ by %.6g relative to the largest value of %s, more than %g",
            args->operand[0], args->operand[1], difference.max_rel, difference.dataset, eps);
    return HT_OK;
}
