/* Rates of the finite-difference kernels in three dimensions beside what memory
 * allows: every value that a pass reads or writes moves once.
 */
#include <stdlib.h>

#include "htwave/bench.h"
#include "htwave/fd_kernel.h"
#include "htwave/oracle.h"

/* Values per point. An update that follows on no stage reads u, d, a and writes
 * d, out; a stage reads u, a and writes w, the update after it
 * reads p, too. Where density varies each pass reads three more. */
static double values_of(int passes, bool density) {
    return (passes == 1 ? 5 : 3 + 6) + (density ? 3.0 * passes : 0);
}

static void add_line(const struct ht_bench *bench,
                     const struct ht_fd_spec *spec,
                     const struct ht_fd_variant *variant, int passes,
                     double rate, struct ht_text *text) {
    const double bytes =
        values_of(passes, spec->density) * (spec->fp64 ? 8 : 4);
    const double limit = bench->limits[spec->fp64].bytes_per_s;
    ht_text_add(text, "%-10s %-6s %5d %-8s %6d %10.4g %8.4g %7.3g\n",
                variant->name, spec->fp64 ? "double" : "single",
                2 * spec->radius, spec->density ? "varies" : "uniform", passes,
                1e-9 * rate, 1e-9 * rate * bytes, 100 * rate * bytes / limit);
}

static enum ht_err measure(const struct ht_bench *bench,
                           const struct ht_fd_spec *spec,
                           const struct ht_fd_variant *variant, int passes,
                           struct ht_text *text) {
    const struct ht_fd_shape shape = {
        .packs = bench->cells, .rows = bench->rows, .planes = bench->planes};
    const int64_t usual = bench->info->gpu ? 512 : 256;
    const int64_t side = bench->side > 0 ? bench->side : usual;
    double rate = 0;
    TRY(ht_fd_verify(bench->device, spec, passes, variant->name, bench->cache));
    TRY(ht_fd_measure(bench->device, spec, variant, &shape, passes, side,
                      bench->cache, &rate));
    add_line(bench, spec, variant, passes, rate, text);
    return HT_OK;
}

/* Double precision where it is asked for. */
static bool wants_precision(const struct ht_bench *bench, bool fp64) {
    if (fp64 && (!bench->info->fp64 || bench->sweep.precisions == NULL))
        return false;
    return ht_sweep_precision(&bench->sweep, fp64);
}

static enum ht_err measure_all(const struct ht_bench *bench,
                               struct ht_text *text) {
    static const int radii[] = {2, 4, 8};
    const struct ht_fd_variant *usual =
        ht_fd_variant_find("auto", bench->info->gpu);
    for (int fp64 = 0; fp64 < 2; fp64++)
        for (int density = 0; density < 2; density++)
            for (int r = 0; wants_precision(bench, fp64) && r < 3; r++) {
                const struct ht_fd_spec spec = {.dims = 3,
                                                .radius = radii[r],
                                                .fp64 = fp64,
                                                .density = density};
                TRY(measure(bench, &spec, usual, 1, text));
                TRY(measure(bench, &spec, usual, 2, text));
            }
    return HT_OK;
}

enum ht_err ht_bench_fd(struct ht_bench *bench, int first, int last) {
    struct ht_text text = {0};
    (void)first; /* it has no rows */
    (void)last;
    ht_text_add(&text, "%-10s %-6s %5s %-8s %6s %10s %8s %7s\n", "kernels",
                "prec.", "order", "density", "passes", "Gpoints/s", "GB/s",
                "% limit");
    enum ht_err err = measure_all(bench, &text);
    if (err == HT_OK && !bench->csv && !bench->json) err = ht_args_print(&text);
    ht_text_free(&text);
    return err;
}
