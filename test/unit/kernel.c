/* From equations to program text without a device: operation counts against the tables of the
 * design and against counting by brute force, shapes on made-up devices, the constants in the text,
 * the layout of coefficients. */
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

/* Pairs (stage, coefficient) that an output depends on: outputs are the indices up to N, and each
 * stage reaches one step up along one axis. */
static int64_t count_reached(int dims, int order, int stages) {
    enum { MOST = 2 * HT_MAX_ORDER + 2 };
    static bool now[MOST * MOST * MOST], next[MOST * MOST * MOST];
    const int t = 2 * order + 2;
    int cube = dims == 1 ? t : dims == 2 ? t * t : t * t * t;
    int64_t count = 0;
    for (int q = 0; q < cube; q++)
        now[q] = q % t <= order && q / t % t <= order && q / t / t <= order;
    for (int k = 1; k <= stages; k++) {
        memset(next, 0, sizeof next);
        for (int q = 0; q < cube; q++) {
            count += now[q];
            for (int step = 1; now[q] && step < cube; step *= t)
                if (q / step % t + 1 < t) next[q + step] = true;
        }
        memcpy(now, next, sizeof now);
    }
    return count;
}

/* Multi-indices a <= j of a total of at most `degree`. */
static int64_t count_factors(const int j[3], int degree) {
    int64_t count = 0;
    for (int a = 0; a < 1000; a++) {
        const int a1 = a % 10, a2 = a / 10 % 10, a3 = a / 100;
        count += a1 <= j[0] && a2 <= j[1] && a3 <= j[2] && a1 + a2 + a3 <= degree;
    }
    return count;
}

/* Of acoustics in 3-D with polynomials of a degree below 10: a coefficient of the result of a stage
 * takes products of those up to itself, which take derivatives one step up: 6 terms, and `products`
 * of its 4 equations. */
static int64_t count_products(int order, int degree, int stages, int products) {
    enum { MOST = 2 * 4 + 2 };
    static bool now[MOST][MOST][MOST], next[MOST][MOST][MOST];
    const int t = 2 * order + 2;
    int64_t count = 0;
    memset(now, 0, sizeof now);
    for (int q = 0; q < t * t * t; q++)
        now[q % t][q / t % t][q / t / t] =
            q % t <= order && q / t % t <= order && q / t / t <= order;
    for (int k = 1; k <= stages; k++) {
        memset(next, 0, sizeof next);
        for (int q = 0; q < t * t * t; q++) {
            const int j[3] = {q % t, q / t % t, q / t / t};
            if (!now[j[0]][j[1]][j[2]]) continue;
            count += 6 + products * count_factors(j, degree);
            for (int axis = 0; axis < 3; axis++) {
                int up[3] = {j[0], j[1], j[2]};
                if (++up[axis] < t) next[up[0]][up[1]][up[2]] = true;
            }
            for (int axis = 0; axis < 3; axis++) {
                int low[3] = {j[0], j[1], j[2]};
                if (--low[axis] >= 0) next[low[0]][low[1]][low[2]] = true;
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
                int64_t expected = count_products(order, degree, stages[n], constant ? 1 : 4);
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
                wrong += counted_coefs(dims, order, q) != (double)count_reached(dims, order, q);
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

static void refuse(const char *variant, const struct ht_spec *spec,
                   const struct ht_device_info *info, int cells, enum ht_err code,
                   const char *text) {
    const struct ht_tuning tuning = {.variant = ht_variant_find(variant, spec, true),
                                     .cells = cells};
    struct ht_shape shape;
    enum ht_err err = ht_variant_shape(&tuning, spec, info, &shape);
    TEST_CHECK(err == code && strstr(ht_err_message(), text),
               "refused with code %d (expected %d): %s", err, code, err ? ht_err_message() : "no");
}

/* The variant that "auto" takes for acoustics on a GPU. */
static void choose(int dims, int order, int degree, bool fp64, int ptx, const char *expected) {
    struct ht_equations eq = equations("acoustic", dims);
    struct ht_spec spec = make_spec(&eq, order, degree, fp64);
    spec.ptx = ptx;
    const char *name = ht_variant_find("auto", &spec, true)->name;
    TEST_CHECK(strcmp(name, expected) == 0, "auto, %d-D, N = %d, %s, %s, ptx %d: %s", dims, order,
               degree < 0 ? "uniform" : "per node", fp64 ? "double" : "single", ptx, name);
}

/* The same on a device with this many bytes of local memory. */
static void choose_on(int order, bool fp64, int ptx, int64_t local_memory, const char *expected) {
    struct ht_equations eq = equations("acoustic", 3);
    struct ht_spec spec = make_spec(&eq, order, -1, fp64);
    const struct ht_device_info info = {
        .name = "toy", .gpu = true, .fp64 = true, .max_group = 1024, .local_memory = local_memory};
    spec.ptx = ptx;
    spec.block = fp64 ? 2 : 4;
    const struct ht_variant *variant = ht_variant_choose("auto", &spec, &info);
    TEST_CHECK(variant != NULL && strcmp(variant->name, expected) == 0,
               "auto, N = %d, %s, ptx %d, %d bytes of local memory: %s", order,
               fp64 ? "double" : "single", ptx, (int)local_memory,
               variant ? variant->name : "none");
}

/* Uniform, ptx 90, of a half step of leapfrog: of acoustics p from v1 to v3; of `wave` u from u
 * (`fields` is 1), or both fields by Taylor series (0). */
static void choose_half(const char *system, int dims, int order, bool fp64, int fields,
                        const char *expected) {
    struct ht_equations eq = equations(system, dims);
    struct ht_spec spec = make_spec(&eq, order, -1, fp64);
    const bool acoustic = strcmp(system, "acoustic") == 0;
    spec.ptx = 90;
    spec.dst = acoustic || fields == 1 ? 1 : 0;
    spec.src = acoustic ? (2u << dims) - 2 : spec.dst;
    spec.old_sign = spec.dst != 0 ? 1 : 0;
    const char *name = ht_variant_find("auto", &spec, true)->name;
    TEST_CHECK(strcmp(name, expected) == 0, "auto, %s, %d-D, N = %d, %s: %s", system, dims, order,
               fp64 ? "double" : "single", name);
}

static void test_auto(void) {
    choose(3, 1, -1, false, 90, "propagator-lanes");
    choose(3, 2, -1, false, 90, "propagator-planes");
    choose(3, 3, -1, false, 90, "propagator-planes");
    choose(3, 3, -1, false, 0, "propagator-local");
    choose(3, 3, 0, false, 0, "monolithic");
    choose(3, 4, -1, false, 90, "propagator-planes");
    choose(3, 4, 0, false, 90, "monolithic");
    choose(3, 4, -1, true, 90, "propagator-planes");
    choose(3, 7, -1, true, 90, "propagator-planes");
    choose(3, 2, -1, true, 90, "propagator-planes");
    choose(3, 2, -1, true, 80, "propagator-local");
    choose(3, 3, 0, true, 90, "monolithic");
    choose(1, 3, -1, false, 90, "monolithic");
    choose(2, 3, -1, false, 90, "propagator-lanes");
    choose(2, 2, -1, true, 90, "propagator-lanes");
    choose(2, 3, -1, true, 90, "propagator-tensor");
    choose(2, 3, -1, true, 0, "propagator-lanes");
    choose_on(7, true, 90, 48 << 10, "propagator-tensor");
    choose_on(8, false, 0, 32 << 10, "propagator-local");
    choose_on(8, false, 0, 1 << 10, "propagator-local"); /* none fits */
    choose_half("acoustic", 3, 2, false, 0, "propagator-planes");
    choose_half("acoustic", 3, 1, true, 0, "propagator-lanes");
    choose_half("acoustic", 2, 5, false, 0, "propagator-lanes");
    choose_half("wave", 3, 2, false, 1, "propagator-lanes");
    choose_half("wave", 3, 2, true, 1, "propagator-planes");
    choose_half("wave", 2, 6, false, 1, "propagator-tensor");
    choose_half("wave", 3, 2, false, 0, "propagator-planes");
}

/* By what architecture 9.0 has through CUDA. */
static void choose_own(const char *system, int order, int fields, const char *expected) {
    struct ht_equations eq = equations(system, 3);
    struct ht_spec spec = make_spec(&eq, order, -1, false);
    spec.ptx = 90;
    spec.ptx_own = true;
    spec.src = spec.dst = fields == 1 ? 1 : 0;
    spec.old_sign = fields == 1;
    const char *name = ht_variant_find("auto", &spec, true)->name;
    TEST_CHECK(strcmp(name, expected) == 0, "auto, %s, N = %d, 9.0a: %s", system, order, name);
}

static void test_own(void) {
    choose_own("acoustic", 1, 0, "propagator-lanes");
    choose_own("acoustic", 2, 0, "propagator-warpgroup");
    choose_own("acoustic", 3, 0, "propagator-warpgroup");
    choose_own("acoustic", 4, 0, "propagator-warpgroup");
    choose_own("wave", 3, 1, "propagator-planes");
    choose_own("wave", 5, 1, "propagator-warpgroup");
    choose_own("wave", 2, 0, "propagator-planes");
    choose_own("wave", 3, 0, "propagator-warpgroup");
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
               "marches of %s over 1, 2, 7, 8 planes: %s %s", name, marches,
               err ? ht_err_message() : "");
}

static void test_refusals(void) {
    const struct ht_device_info plain = {
        .name = "toy", .gpu = true, .local_memory = 32768, .max_group = 256};
    struct ht_device_info tight = plain;
    struct ht_equations eq = equations("acoustic", 3);
    struct ht_equations one = equations("advection", 3);
    struct ht_spec spec = make_spec(&eq, 3, -1, true);
    tight.local_memory = 2048;
    refuse("monolithic", &spec, &plain, 0, HT_ERR_DEVICE,
           "device.precision = \"double\": toy has no double precision");
    spec.fp64 = false;
    refuse("monolithic", &spec, &plain, 5, HT_ERR_INPUT,
           "64 work-items per cell, and toy allows 256");
    refuse("monolithic", &spec, &tight, 0, HT_ERR_DEVICE,
           "more local memory than the 1024 bytes of toy");
    refuse("monolithic", &spec, &tight, 2, HT_ERR_DEVICE,
           "order 3 with 2 cells per group needs more local memory");
    spec.order = 8;
    refuse("two-naive", &spec, &plain, 0, HT_ERR_DEVICE,
           "order 8 in 3 dimensions needs groups of 324 work-items; toy allows 256: choose a lower "
           "grid.order");
    spec = make_spec(&eq, 2, 0, false);
    refuse("propagator", &spec, &plain, 0, HT_ERR_INPUT,
           "device.variant = \"propagator\" does not apply: it needs a uniform medium; use \"");
    spec = make_spec(&one, 2, -1, false);
    refuse("propagator", &spec, &plain, 0, HT_ERR_INPUT, "\"monolithic\", ");
    spec = make_spec(&eq, 0, -1, false);
    spec.differences = 8;
    spec.density = true;
    refuse("fd-vectors", &spec, &tight, 0, HT_ERR_DEVICE, "of local memory where density varies");
    refuse("fd-march", &spec, &tight, 0, HT_ERR_DEVICE, "fd-march of order 8 needs groups of");
    TEST_CHECK(ht_variant_choose("auto", &spec, &tight) == ht_variant_find("fd-plain", NULL, true),
               "too little local memory for finite differences: fd-plain");
    TEST_CHECK(ht_variant_find("none of these", &spec, true) == NULL,
               "no variant of an unknown name");
}

/* ---- text ---- */

/* Entries of the table `name` in the text that differ from `values`, or that are not written with
 * 17 digits or more; count when there is no table. */
static int table_wrong(const char *text, const char *name, const double *values, int count,
                       bool fp64) {
    char head[64];
    int wrong = 0;
    snprintf(head, sizeof head, "const real ht_%s[%d] = {", name, count);
    const char *at = strstr(text, head);
    if (at == NULL) return count;
    at += strlen(head);
    for (int i = 0; i < count; i++) {
        char *end = NULL;
        double value = strtod(at, &end);
        wrong += value != values[i] || strcspn(at, "e") < 18;
        if (!fp64) wrong += *end++ != 'f' || (double)(float)value != values[i];
        wrong += strncmp(end, i + 1 < count ? ", " : "};", 2) != 0;
        at = end + 2;
    }
    return wrong;
}

static int tables_wrong(const char *text, int order, bool fp64) {
    enum { N = HT_MAX_ORDER + 1 };
    double even[N * N], odd[N * N], matrix[4 * N * N];
    int n = (order + 1) * (order + 1);
    ht_hermite_parity(order, even, odd);
    ht_hermite_matrix(order, matrix);
    return table_wrong(text, "even", even, n, fp64) + table_wrong(text, "odd", odd, n, fp64) +
           table_wrong(text, "matrix", matrix, 4 * n, fp64);
}

static int count_of(const char *text, const char *part) {
    int count = 0;
    while ((text = strstr(text, part)) != NULL) {
        count++;
        text += strlen(part);
    }
    return count;
}

/* The text holds each number once, the tables exactly, the entry points. */
static bool text_wrong(const struct ht_variant *variant, const struct ht_spec *spec,
                       const char *text) {
    char order[64], dims[64];
    snprintf(order, sizeof order, "#define HT_ORDER (%d)\n", spec->order);
    snprintf(dims, sizeof dims, "#define HT_DIMS (%d)\n", spec->eq->dims);
    bool wrong = tables_wrong(text, spec->order, spec->fp64) > 0 || count_of(text, order) != 1 ||
                 count_of(text, dims) != 1 || count_of(text, "#define HT_ORDER ") != 1 ||
                 count_of(text, "struct ht_step_args {") != 1 ||
                 count_of(text, "#define HT_LAYOUT_AT(") != 1;
    for (int s = 0; s < 2 && variant->stage[s].kind != HT_STAGE_NONE; s++)
        wrong = wrong || count_of(text, variant->stage[s].entry) != 1;
    return wrong;
}

static void test_text(void) {
    const struct ht_device_info info = {.name = "toy",
                                        .fp64 = true,
                                        .local_memory = 1 << 22,
                                        .open_memory = 227 << 10,
                                        .max_group = 1024};
    for (int order = 1; order <= HT_MAX_ORDER; order++) {
        int wrong = 0, texts = 0;
        for (int n = 0; n < 2 * ht_variant_count(); n++) {
            const int most = order > 4 && !test_all() ? 2 : 3; /* operators take seconds */
            struct ht_equations eq = equations("acoustic", 1 + n % most);
            struct ht_spec spec = make_spec(&eq, order, -1, n % 2);
            const struct ht_variant *variant = ht_variant_at(n / 2);
            const struct ht_tuning tuning = {.variant = variant};
            struct ht_shape shape;
            HT_ENDED(ht_text_free) struct ht_text text = {0};
            if (ht_variant_refuses(variant, &spec) != NULL) continue;
            enum ht_err err = ht_variant_shape(&tuning, &spec, &info, &shape);
            if (err == HT_OK) err = ht_kernel_text(variant, &spec, &shape, &text);
            wrong += err != HT_OK || text_wrong(variant, &spec, text.data);
            texts++;
        }
        TEST_CHECK(wrong == 0, "N=%d: %d of %d texts without exact tables", order, wrong, texts);
    }
}

/* ---- layout ---- */

/* Coefficients and nodes go to different places inside the buffer, and those of one block and node
 * lie together. */
static int layout_wrong(int block, int coefs, long nodes) {
    enum { MOST = 4096 };
    bool taken[MOST] = {false};
    long size = HT_LAYOUT_SIZE(block, coefs, nodes);
    int wrong = size > MOST || size < coefs * nodes || size - coefs * nodes >= block * nodes;
    for (int i = 0; i < coefs && !wrong; i++)
        for (long node = 0; node < nodes; node++) {
            long at = HT_LAYOUT_AT(block, i, node, nodes);
            if (at < 0 || at >= size || taken[at]) return wrong + 1;
            taken[at] = true;
            wrong += i % block > 0 && at != HT_LAYOUT_AT(block, i - 1, node, nodes) + 1;
        }
    return wrong;
}

static void test_layout(void) {
    for (int block = 1; block <= 4; block *= 2) {
        int wrong = 0, cases = 0;
        for (int coefs = 1; coefs <= 30; coefs++)
            for (long nodes = 1; nodes <= 45; nodes += 4, cases++)
                wrong += layout_wrong(block, coefs, nodes) > 0;
        TEST_CHECK(wrong == 0, "block %d: %d of %d layouts are no bijection", block, wrong, cases);
    }
    long far = HT_LAYOUT_AT(4, 511, 3000000000L, 4000000000L);
    TEST_CHECK(far == (127 * 4000000000L + 3000000000L) * 4 + 3,
               "4e9 nodes are counted in 64 bits: %ld", far);
}

int main(void) {
    test_stage_coefs();
    test_products();
    test_costs();
    test_leapfrog_costs();
    test_shapes();
    test_auto();
    test_own();
    test_march("propagator-tensor", "1 2 7 8");
    test_march("propagator-planes", "2 2 8 8");
    test_march("propagator-warpgroup", "2 2 8 8");
    test_refusals();
    test_text();
    test_layout();
    return test_end("kernel");
}
