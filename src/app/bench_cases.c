/* The table of cases. */
#include "bench.h"

static enum ht_err plan_rates(struct ht_bench *bench,
                              const struct ht_bench_case *self) {
    return ht_bench_plan_sweep(bench, self, bench->info->gpu ? 5 : 3);
}

static enum ht_err finish_rates(struct ht_bench *bench, int first, int last) {
    TRY(ht_bench_roofline(bench, "roofline.png", first, last));
    return ht_bench_bars(bench, "bars.png", first, last);
}

static const struct ht_bench_case cases[] = {
    {"rates", "variants x orders x precisions x systems (default)", plan_rates,
     finish_rates},
};

int ht_bench_case_count(void) {
    return (int)(sizeof cases / sizeof cases[0]);
}

const struct ht_bench_case *ht_bench_case_at(int index) {
    return &cases[index];
}
