/* From equations to kernels without a device: operation counts against the tables of the design and
 * against counting by brute force, shapes on made-up devices. What texts hold is judged by
 * kernel/variants_flat. */
#include "test.h"

#include "htwave/kernel.h"
#include "layout.h"

static struct ht_spec make_spec(const struct ht_equations *eq, int order, int degree, bool fp64) {
    return (struct ht_spec){
        .eq = eq, .order = order, .fp64 = fp64, .block = 1, .medium_degree = degree, .trim = true};
}

static struct ht_equations equations(const char *system, int dims) {
    return ht_equations_make(ht_system_find(system), dims);
}

/* ---- counts ---- */

/* Multi-indices a <= j of a total of at most `degree`. */
static int64_t count_factors(const int j[3], int degree) {
    int64_t count = 0;
    for (int a = 0; a < 1000; a++) {
        const int a1 = a % 10, a2 = a / 10 % 10, a3 = a / 100;
        count += a1 <= j[0] && a2 <= j[1] && a3 <= j[2] && a1 + a2 + a3 <= degree;
    }
    return count;
}

/* Products of stages: outputs are the coefficients up to N, and each stage reaches one step up
 * along one axis. A coefficient of its result takes `terms`, and with polynomials of a degree below
 * 10, in `products` of the equations, those with the coefficients up to itself, too. */
static int64_t count_reached(int dims, int order, int stages, int terms, int products, int degree) {
    enum { MOST = 2 * HT_MAX_ORDER + 2 };
    static bool now[MOST * MOST * MOST], next[MOST * MOST * MOST];
    const int t = 2 * order + 2;
    const int cube = dims == 1 ? t : dims == 2 ? t * t : t * t * t;
    int64_t count = 0;
    for (int q = 0; q < cube; q++)
        now[q] = q % t <= order && q / t % t <= order && q / t / t <= order;
    for (int k = 1; k <= stages; k++) {
        memset(next, 0, sizeof next);
        for (int q = 0; q < cube; q++) {
            if (!now[q]) continue;
            count += terms;
            if (products > 0)
                count += products * count_factors((int[]){q % t, q / t % t, q / t / t}, degree);
            for (int step = 1; step < cube; step *= t) {
                if (q / step % t + 1 < t) next[q + step] = true;
                if (q / step % t > 0 && products > 0) next[q - step] = true;
            }
        }
        memcpy(now, next, sizeof now);
    }
    return count;
}

/* With 1/rho constant only one of the four equations has polynomials. */
static void test_products(void) {
    static const int stages[] = {1, 4, 10, 21};
    struct ht_equations eq = equations("acoustic", 3);
    for (int order = 1; order <= 4; order++)
        for (int n = 0; n < 4; n++)
            for (int constant = 0; constant < 2; constant++) {
                const int degree = n < 2 ? 2 : order + 1;
                struct ht_spec spec = make_spec(&eq, order, degree, false);
                spec.constant = constant ? 2u : 0u;
                double got = ht_cost_minimum(&spec, stages[n]).fma - ht_cost_minimum(&spec, 0).fma;
                int64_t expected = count_reached(3, order, stages[n], 6, constant ? 1 : 4, degree);
                TEST_CHECK(
                    got == (double)expected,
                    "3D N=%d, polynomials of degree %d%s, %d stages: %.0f FMA (expected %lld)",
                    order, degree, constant ? " and a constant" : "", stages[n], got,
                    (long long)expected);
            }
}

/* Advection has one field and a term per axis, so its cost beyond that of no stage at all is dims
 * times the stage coefficients (in media that vary: the separable form of uniform ones takes less).
 */
static double counted_coefs(int dims, int order, int stages) {
    struct ht_equations eq = equations("advection", dims);
    struct ht_spec spec = make_spec(&eq, order, 0, false);
    return (ht_cost_minimum(&spec, stages).fma - ht_cost_minimum(&spec, 0).fma) / dims;
}

/* A coefficient j takes part in the stages k with excess(j) <= k-1 <= |j|, excess(j) = sum_k max(0,
 * j_k - N). Summed over the cell in 3-D, where the last coefficient has one stage less than that,
 * these are (2N+2)^3 (1 + 9N/4) - 1. */
static void test_stage_coefs(void) {
    static const int trimmed[] = {0, 207, 1187, 3967, 9999, 21167};
    for (int order = 1; order <= 5; order++) {
        int stages = 3 * (2 * order + 1);
        double got = counted_coefs(3, order, stages);
        TEST_CHECK(got == trimmed[order], "3D N=%d: %g stage coefficients (expected %d)", order,
                   got, trimmed[order]);
    }
    for (int dims = 1; dims <= 3; dims++) {
        int wrong = 0, cases = 0;
        for (int order = 1; order <= (dims == 3 ? 4 : HT_MAX_ORDER); order++)
            for (int q = 1; q <= dims * (2 * order + 1); q++, cases++)
                wrong +=
                    counted_coefs(dims, order, q) != (double)count_reached(dims, order, q, 1, 0, 0);
        TEST_CHECK(wrong == 0, "%dD: %d of %d counts differ from what is reached", dims, wrong,
                   cases);
    }
}

/* Interpolation by parity, rolled: 16 (N+1)^4 per field in 3-D. Advection with a constant velocity
 * takes a one-dimensional half step per axis, 8 (N+1)^4. Acoustics take the least of 6 of them, of
 * dense parity blocks of 16 (N+1)^6, and of those of p and its potential: with c = (N+1)^3
 * coefficients 2 c (2 c + 3 c/(N+1)) from p and the divergence, 3 c^2 to interpolate, and 2 N + 1
 * in each of 3 8 c/(N+1) lines of the divergence. */
static void test_costs(void) {
    static const double acoustic[] = {0, 448 + 192 + 288, 4374 + 2187 + 1080, 22528 + 12288 + 2688};
    static const double advection[] = {0, 128, 648, 2048};
    static const double bytes[] = {0, 256, 864, 2048};
    struct ht_equations four = equations("acoustic", 3);
    struct ht_equations one = equations("advection", 3);
    for (int order = 1; order <= 3; order++) {
        int stages = 3 * (2 * order + 1);
        double quartic = 16 * pow(order + 1, 4);
        struct ht_spec a = make_spec(&four, order, -1, false);
        struct ht_spec b = make_spec(&one, order, -1, false);
        struct ht_spec d = make_spec(&four, order, -1, true);
        struct ht_cost ca = ht_cost_minimum(&a, stages);
        struct ht_cost cb = ht_cost_minimum(&b, stages);
        TEST_CHECK(ca.fma == acoustic[order] && ca.bytes == bytes[order],
                   "acoustic N=%d: %g FMA, %g bytes (expected %g, %g)", order, ca.fma, ca.bytes,
                   acoustic[order], bytes[order]);
        TEST_CHECK(cb.fma == advection[order] && cb.bytes == bytes[order] / 4,
                   "advection N=%d: %g FMA, %g bytes (expected %g, %g)", order, cb.fma, cb.bytes,
                   advection[order], bytes[order] / 4);
        TEST_CHECK(ht_cost_minimum(&d, stages).bytes == 2 * bytes[order],
                   "acoustic N=%d double: %g bytes (expected %g)", order,
                   ht_cost_minimum(&d, stages).bytes, 2 * bytes[order]);
        b.medium_degree = 0;
        TEST_CHECK(ht_cost_minimum(&b, 0).fma == quartic,
                   "N=%d: interpolation of a field %g FMA (expected %g)", order,
                   ht_cost_minimum(&b, 0).fma, quartic);
        a.medium_degree = 0;
        TEST_CHECK(ht_cost_minimum(&a, 0).bytes == bytes[order] + 2 * 4,
                   "N=%d: two materials per node add 8 bytes", order);
        a.medium_degree = 2;
        TEST_CHECK(ht_cost_minimum(&a, 0).bytes == bytes[order] + 2 * 10 * 4,
                   "N=%d: two quadratics per node add 80 bytes", order);
    }
}

/* Leapfrog in parity blocks: sources times targets of (N+1)^(2d) products; it reads sources and
 * targets, and writes targets. The half step of acoustics to v takes 8 (8 + 3 4) products by the
 * potential, that to p 3 64 by dense blocks, of which the divergence alone would take 288. */
static void test_leapfrog_costs(void) {
    static const char *const systems[] = {"wave", "acoustic"};
    static const double fma[2][2] = {{64, 64}, {160, 3 * 64}};
    static const double bytes[2][2] = {{3 * 8 * 4, 3 * 8 * 4}, {7 * 8 * 4, 5 * 8 * 4}};
    for (int s = 0; s < 2; s++)
        for (int from = 0; from < 2; from++) {
            struct ht_equations eq = equations(systems[s], 3);
            struct ht_spec spec = make_spec(&eq, 1, -1, false);
            spec.old_sign = eq.leapfrog.old_sign;
            spec.src = eq.leapfrog.stored[from];
            spec.dst = eq.leapfrog.stored[1 - from];
            struct ht_cost cost = ht_cost_minimum(&spec, 7);
            TEST_CHECK(cost.fma == fma[s][from] && cost.bytes == bytes[s][from],
                       "%s leapfrog from mesh %d, N=1: %g FMA, %g bytes (expected %g, %g)",
                       systems[s], from, cost.fma, cost.bytes, fma[s][from], bytes[s][from]);
        }
}

/* ---- shapes ---- */

/* Of variants with a shape of their own: what every kernel must respect. */
static bool own_shape_wrong(const struct ht_device_info *info, int cells,
                            const struct ht_shape *s) {
    return s->local_bytes > info->local_memory || s->local_bytes <= 0 || s->group_size < 1 ||
           s->group_size > info->max_group || s->cells < 1 || (cells > 0 && s->cells > cells) ||
           s->rows < 1;
}

/* 48128: 47 KiB, the most that is asked of any device. */
static bool shape_wrong(const struct ht_spec *spec, const struct ht_device_info *info, int cells,
                        const struct ht_shape *s) {
    int dims = spec->eq->dims, t = 2 * spec->order + 2;
    int column = dims > 1 ? t * t : t;
    return s->local_bytes > info->local_memory || s->local_bytes > 48128 || s->local_bytes <= 0 ||
           s->group_size > info->max_group || s->group_size != s->cells * column || s->cells < 1 ||
           (cells > 0 && s->cells != cells) || s->slabs < 1 || s->slabs > (dims > 2 ? t : 1) ||
           s->face_fields < 1 || s->face_fields > spec->eq->nfields;
}

struct tally {
    int fit, refused, wrong, wordless;
};

static void try_shape(const struct ht_spec *spec, const struct ht_device_info *info,
                      struct tally *tally) {
    for (int v = 0; v < ht_variant_count(); v++)
        for (int cells = 0; cells <= 4; cells++) {
            struct ht_shape shape = {0};
            const struct ht_variant *variant = ht_variant_at(v);
            if (ht_variant_refuses(variant, spec) != NULL) continue;
            const struct ht_tuning tuning = {.variant = variant, .cells = cells};
            enum ht_err err = ht_variant_shape(&tuning, spec, info, &shape);
            tally->fit += err == HT_OK;
            tally->refused += err != HT_OK;
            bool wrong = variant->shape != NULL ? own_shape_wrong(info, cells, &shape)
                                                : shape_wrong(spec, info, cells, &shape);
            tally->wrong += err == HT_OK && wrong;
            tally->wordless += err != HT_OK && !strstr(ht_err_message(), "toy");
        }
}

/* Every spec on devices from mean to generous: what is given fits, what does not fit is refused by
 * name. */
static void test_shapes(void) {
    static const int64_t memory[] = {512, 8192, 32768, 49152, 232448};
    static const int64_t group[] = {64, 256, 1024, 4096};
    struct tally tally = {0};
    for (int s = 0; s < ht_system_count(); s++)
        for (int n = 0; n < 3 * HT_MAX_ORDER * 3 * 2; n++) {
            static const int degrees[] = {-1, 0, 3};
            struct ht_equations eq = ht_equations_make(ht_system_at(s), n % 3 + 1);
            struct ht_spec spec =
                make_spec(&eq, n / 3 % HT_MAX_ORDER + 1, degrees[n / 3 / HT_MAX_ORDER % 3],
                          n / 9 / HT_MAX_ORDER > 0);
            for (int d = 0; d < 20; d++) {
                struct ht_device_info info = {.name = "toy", .fp64 = true};
                info.local_memory = memory[d % 5];
                info.max_group = group[d / 5];
                try_shape(&spec, &info, &tally);
            }
        }
    TEST_CHECK(tally.wrong == 0 && tally.fit > 0, "%d of %d shapes exceed the device", tally.wrong,
               tally.fit);
    TEST_CHECK(tally.wordless == 0 && tally.refused > 0, "%d of %d refusals do not name the device",
               tally.wordless, tally.refused);
}

/* The variant that "auto" takes on a GPU: dimensions, order, degree of the medium (-1: uniform),
 * precision, architecture of PTX, fields of the half step: 0: all, by Taylor series; of leapfrog 1:
 * u of `wave` from u, 2: p of acoustics from v. own: what architecture 9.0 has through CUDA. local:
 * bytes of local memory of the device, where it decides. */
static const struct choice {
    int dims, order, degree, ptx, fields;
    bool fp64, wave, own;
    int64_t local;
    const char *expected;
} choices[] = {
    {3, 1, -1, 90, .expected = "propagator-lanes"},
    {3, 2, -1, 90, .expected = "propagator-planes"},
    {3, 3, -1, 90, .expected = "propagator-planes"},
    {3, 3, -1, 0, .expected = "propagator-local"},
    {3, 3, 0, 0, .expected = "monolithic"},
    {3, 4, -1, 90, .expected = "propagator-planes"},
    {3, 4, 0, 90, .expected = "monolithic"},
    {3, 4, -1, 90, .fp64 = true, .expected = "propagator-planes"},
    {3, 7, -1, 90, .fp64 = true, .expected = "propagator-planes"},
    {3, 2, -1, 90, .fp64 = true, .expected = "propagator-planes"},
    {3, 2, -1, 80, .fp64 = true, .expected = "propagator-local"},
    {3, 3, 0, 90, .fp64 = true, .expected = "monolithic"},
    {1, 3, -1, 90, .expected = "monolithic"},
    {2, 3, -1, 90, .expected = "propagator-lanes"},
    {2, 2, -1, 90, .fp64 = true, .expected = "propagator-lanes"},
    {2, 3, -1, 90, .fp64 = true, .expected = "propagator-tensor"},
    {2, 3, -1, 0, .fp64 = true, .expected = "propagator-lanes"},
    {3, 7, -1, 90, .fp64 = true, .local = 48 << 10, .expected = "propagator-tensor"},
    {3, 8, -1, 0, .local = 32 << 10, .expected = "propagator-local"},
    {3, 8, -1, 0, .local = 1 << 10, .expected = "propagator-local"}, /* none fits */
    {3, 2, -1, 90, 2, .expected = "propagator-planes"},
    {3, 1, -1, 90, 2, .fp64 = true, .expected = "propagator-lanes"},
    {2, 5, -1, 90, 2, .expected = "propagator-lanes"},
    {3, 2, -1, 90, 1, .wave = true, .expected = "propagator-lanes"},
    {3, 2, -1, 90, 1, .wave = true, .fp64 = true, .expected = "propagator-planes"},
    {2, 6, -1, 90, 1, .wave = true, .expected = "propagator-tensor"},
    {3, 2, -1, 90, 0, .wave = true, .expected = "propagator-planes"},
    {3, 1, -1, 90, .own = true, .expected = "propagator-lanes"},
    {3, 2, -1, 90, .own = true, .expected = "propagator-warpgroup"},
    {3, 3, -1, 90, .own = true, .expected = "propagator-warpgroup"},
    {3, 4, -1, 90, .own = true, .expected = "propagator-warpgroup"},
    {3, 3, -1, 90, 1, .wave = true, .own = true, .expected = "propagator-planes"},
    {3, 5, -1, 90, 1, .wave = true, .own = true, .expected = "propagator-warpgroup"},
    {3, 2, -1, 90, 0, .wave = true, .own = true, .expected = "propagator-planes"},
    {3, 3, -1, 90, 0, .wave = true, .own = true, .expected = "propagator-warpgroup"},
};

static void test_auto(void) {
    TEST_EACH(c, choices) {
        const char *system = c->wave ? "wave" : "acoustic";
        struct ht_equations eq = equations(system, c->dims);
        struct ht_spec spec = make_spec(&eq, c->order, c->degree, c->fp64);
        const struct ht_device_info info = {
            .name = "toy", .gpu = true, .fp64 = true, .max_group = 1024, .local_memory = c->local};
        spec.ptx = c->ptx;
        spec.ptx_own = c->own;
        spec.dst = c->fields != 0;
        spec.src = c->fields == 2 ? (2u << c->dims) - 2 : spec.dst;
        spec.old_sign = c->fields != 0;
        if (c->local > 0) spec.block = c->fp64 ? 2 : 4;
        const struct ht_variant *variant = c->local > 0 ? ht_variant_choose("auto", &spec, &info)
                                                        : ht_variant_find("auto", &spec, true);
        TEST_CHECK(variant != NULL && strcmp(variant->name, c->expected) == 0,
                   "auto, %s, %d-D, N = %d, %s, %s, ptx %d%s, fields %d, %d bytes: %s", system,
                   c->dims, c->order, c->degree < 0 ? "uniform" : "per node",
                   c->fp64 ? "double" : "single", c->ptx, c->own ? " (9.0a)" : "", c->fields,
                   (int)c->local, variant ? variant->name : "none");
    }
}

/* Of kernels that compute two x3 planes at a time even. */
static void test_march(const char *name, const char *expected) {
    struct ht_equations eq = equations("wave", 3);
    struct ht_spec spec = make_spec(&eq, 4, -1, false);
    static const struct ht_device_info info = {.name = "toy",
                                               .gpu = true,
                                               .max_group = 1024,
                                               .local_memory = 48 << 10,
                                               .open_memory = 227 << 10};
    const struct ht_tuning tuning = {.variant = ht_variant_find(name, NULL, true)};
    struct ht_shape shape = {0};
    char marches[32];
    spec.ptx = 90;
    spec.ptx_own = spec.sorted = true;
    spec.block = 4;
    const enum ht_err err = ht_variant_shape(&tuning, &spec, &info, &shape);
    snprintf(marches, sizeof marches, "%ld %ld %ld %ld", ht_shape_march(&shape, 1),
             ht_shape_march(&shape, 2), ht_shape_march(&shape, 7), ht_shape_march(&shape, 8));
    TEST_CHECK(err == HT_OK && strcmp(marches, expected) == 0,
               "marches of %s over 1, 2, 7, 8 planes: %s %s", name, marches, test_said(err));
}

static const struct refusal {
    const char *variant, *text;
    enum ht_err code;
    int order, degree, cells;
    bool fp64, tight, advection, differences;
} refusals[] = {
    {"monolithic", "device.precision = \"double\": toy has no double precision", HT_ERR_DEVICE, 3,
     -1, .fp64 = true},
    {"monolithic", "64 work-items per cell, and toy allows 256", HT_ERR_INPUT, 3, -1, 5,
     .tight = false},
    {"monolithic", "more local memory than the 1024 bytes of toy", HT_ERR_DEVICE, 3, -1,
     .tight = true},
    {"monolithic", "order 3 with 2 cells per group needs more local memory", HT_ERR_DEVICE, 3, -1,
     2, .tight = true},
    {"two-naive",
     "order 8 in 3 dimensions needs groups of 324 work-items; toy allows 256: choose a lower "
     "grid.order",
     HT_ERR_DEVICE, 8, -1, .cells = 0},
    {"propagator",
     "device.variant = \"propagator\" does not apply: it needs a uniform medium; use \"",
     HT_ERR_INPUT, 2, 0, .cells = 0},
    {"propagator", "\"monolithic\", ", HT_ERR_INPUT, 2, -1, .advection = true},
    {"fd-vectors", "of local memory where density varies", HT_ERR_DEVICE, 0, -1, .tight = true,
     .differences = true},
    {"fd-march", "fd-march of order 8 needs groups of", HT_ERR_DEVICE, 0, -1, .tight = true,
     .differences = true},
};

static void test_refusals(void) {
    struct ht_device_info info = {.name = "toy", .gpu = true, .max_group = 256};
    struct ht_spec spec;
    TEST_EACH(r, refusals) {
        static struct ht_equations eq;
        struct ht_shape shape;
        eq = equations(r->advection ? "advection" : "acoustic", 3);
        spec = make_spec(&eq, r->order, r->degree, r->fp64);
        spec.differences = r->differences ? 8 : 0;
        spec.density = r->differences;
        info.local_memory = r->tight ? 2048 : 32768;
        const struct ht_tuning tuning = {.variant = ht_variant_find(r->variant, &spec, true),
                                         .cells = r->cells};
        const enum ht_err err = ht_variant_shape(&tuning, &spec, &info, &shape);
        TEST_CHECK(err == r->code && strstr(ht_err_message(), r->text),
                   "refused with code %d (expected %d): %s", err, r->code,
                   err ? ht_err_message() : "no");
    }
    TEST_CHECK(ht_variant_choose("auto", &spec, &info) == ht_variant_find("fd-plain", NULL, true),
               "too little local memory for finite differences: fd-plain");
    TEST_CHECK(ht_variant_find("none of these", &spec, true) == NULL,
               "no variant of an unknown name");
}

int main(void) {
    test_stage_coefs();
    test_products();
    test_costs();
    test_leapfrog_costs();
    test_shapes();
    test_auto();
    test_march("propagator-tensor", "1 2 7 8");
    test_march("propagator-planes", "2 2 8 8");
    test_march("propagator-warpgroup", "2 2 8 8");
    test_refusals();
    const long far = HT_LAYOUT_AT(4, 511, 3000000000L, 4000000000L);
    TEST_EQUAL(far, (127 * 4000000000L + 3000000000L) * 4 + 3, "4e9 nodes are counted in 64 bits");
    return test_end("kernel");
}
