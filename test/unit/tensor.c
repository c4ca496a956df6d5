/* The order of operators on tensor cores (src/kernel/propagator_tensor.c),
 * which otherwise only a device of that kind reads:
 * plain host code multiplies the packed operator by random sums, as the fragments of the products
 * lie in it, and the dense blocks by the same sums. Judged is the largest difference over 2^-45
 * times the sum of the magnitudes of all products, for a few hundred roundings: in single precision
 * entries are rounded before (ht_blocks_round), so that splitting them loses nothing; every target
 * must be some result's, once. An operator that is read a k step too far, or without its second
 * halves, must exceed that. */
#include "must.h"

#include "src/kernel/blocks.h"
#include "src/kernel/counts.h"

struct scene {
    const char *variant, *system;
    int order, old_sign;
    bool halves; /* the operator is in two halves, in the order of wgmma */
    bool fp64;
};

struct packed {
    struct ht_equations eq;
    struct ht_spec spec;
    struct ht_shape shape;
    struct ht_operator op;
    struct ht_blocks *blocks;
    struct ht_sizes z;
    int storage[HT_MAX_COEFS], padded, coefs;
    int tiles, parts, pairs, chunks;
    int64_t part_values, infos;
    double *sum; /* [g][source]: a random S_g,s */
};

static const struct ht_device_info device = {
    .name = "toy",
    .gpu = true,
    .fp64 = true,
    .local_memory = (int64_t)48 * 1024,
    .open_memory = (int64_t)227 * 1024,
    .max_group = 1024,
};

/* A definition in the operator's text. */
static int defined(const struct packed *p, const char *name) {
    char line[64];
    snprintf(line, sizeof line, "#define HT_%s ", name);
    const char *at = strstr(p->op.text.data, line);
    return at == NULL ? 0 : (int)strtol(at + strlen(line), NULL, 10);
}

static void set_numbers(struct packed *p, const struct scene *scene) {
    const int entries = p->z.sources * p->padded;
    p->pairs = p->spec.block / 2;
    p->tiles = defined(p, "TILES");
    p->parts = p->shape.parts;
    p->chunks = (entries / p->spec.block + 3) / 4;
    p->part_values = (int64_t)64 * p->chunks * p->pairs * p->tiles * (scene->halves ? 2 : 1);
    p->infos = (int64_t)4 * (p->chunks * p->pairs + p->tiles);
}

static enum ht_err open_scene(const struct scene *scene, struct packed *p) {
    const bool leapfrog = scene->old_sign != 0;
    *p = (struct packed){.eq = ht_equations_make(ht_system_find(scene->system), 3)};
    const struct ht_variant *variant = ht_variant_find(scene->variant, NULL, true);
    p->spec = (struct ht_spec){.eq = &p->eq,
                               .order = scene->order,
                               .fp64 = scene->fp64,
                               .block = scene->fp64 ? 2 : 4,
                               .sorted = true,
                               .medium_degree = -1,
                               .ptx = 90,
                               .ptx_own = true,
                               .src = leapfrog ? 1 : 0,
                               .dst = leapfrog ? 1 : 0,
                               .old_sign = scene->old_sign,
                               .stages = 6};
    for (int t = 0; t < p->eq.nterms; t++) p->spec.scale[t] = 0.3 + 0.02 * t;
    const struct ht_tuning tuning = {.variant = variant};
    TRY(ht_variant_shape(&tuning, &p->spec, &device, &p->shape));
    TRY(ht_operator_make(variant, &p->spec, &p->shape, &p->op));
    TRY(ht_blocks_create(&p->spec, &p->blocks));
    TRY(ht_blocks_round(&p->spec, p->blocks));
    p->z = ht_sizes_of(&p->spec);
    p->padded = ht_storage_order(&p->spec, p->storage);
    p->coefs = p->z.n1 * p->z.n2 * p->z.n3;
    set_numbers(p, scene);
    TRY(HT_ALLOC(p->sum, (int64_t)8 * p->blocks->sources));
    for (int i = 0; i < 8 * p->blocks->sources; i++) p->sum[i] = ht_rng_uniform(7, (uint64_t)i);
    return HT_OK;
}

static void close_scene(struct packed *p) {
    ht_operator_free(&p->op);
    ht_blocks_destroy(p->blocks);
    free(p->sum);
}

/* The entry slot * coefs + i at slot * padded + storage index; -1: padding. */
static int entry_at(const struct packed *p, int at) {
    for (int i = 0; i < p->coefs; i++)
        if (p->storage[i] == at % p->padded) return at / p->padded * p->coefs + i;
    return -1;
}

/* Block and row of a target entry. */
static void find_row(const struct packed *p, int entry, int *g, int *row) {
    for (*g = 0; *g < p->blocks->blocks; ++*g)
        for (*row = 0; *row < p->blocks->rows[*g]; ++*row)
            if (p->blocks->row[*g][*row] == entry) return;
}

/* A place in a part's operator. */
struct place {
    int k, tile, column, t, e;
};

/* Whether a number keeps its value when only 11 bits of it are read. */
static bool fits_half(double x) {
    const float single = (float)x;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return (double)single == x && (bits & 0x1fffu) == 0;
}

/* NAN: a half has too many bits. */
static double packed_value(const struct packed *p, bool halves, int part, const struct place *at) {
    const double *op = p->op.value + part * p->part_values;
    const int64_t tiles = p->tiles;
    if (!halves)
        return op[((at->k * tiles + at->tile) * 32 + (int64_t)4 * at->column + at->t) * 2 + at->e];
    const int lane = (at->e * 8 + at->column) * 4 + at->t;
    op += (2 * tiles * at->k + at->tile) * 64 + lane;
    return fits_half(op[0]) && fits_half(op[tiles * 64]) ? op[0] + op[tiles * 64] : NAN;
}

/* What a column of a tile computes for block g; *right: parities and zeros are as they must be.
 * late: of another k step, which must be found. */
static double product(const struct packed *p, bool halves, int part, int tile, int column, int g,
                      int late, bool *right) {
    const struct ht_blocks *blocks = p->blocks;
    const double *parity = p->op.value + p->parts * p->part_values + part * p->infos;
    const int steps = p->pairs * p->chunks;
    double sum = 0;
    for (int k = 0; k < steps; k++)
        for (int n = 0; n < 8; n++) {
            struct place at = {k, tile, column, n / 2, n % 2};
            const int chunk = k / p->pairs;
            const int pair = p->pairs == 2 ? k % 2 ^ (at.t & 1) : 0;
            const int block = chunk * 4 + at.t;
            const int from = (block * p->pairs + pair) * 2 + at.e;
            const int source = from < p->z.sources * p->padded ? entry_at(p, from) : -1;
            at.k = (k + late) % steps;
            const double value = packed_value(p, halves, part, &at);
            if (source < 0) {
                *right = *right && (value == 0 || late != 0);
                continue;
            }
            const int bits = (int)parity[(chunk * 4 + at.t) * p->pairs + pair];
            *right = *right && bits == blocks->parity[source];
            sum += value * p->sum[g * blocks->sources + source];
        }
    return sum;
}

/* The same by the dense blocks; *whole: the sum of the magnitudes. */
static double expected(const struct packed *p, int g, int row, double *whole) {
    const struct ht_blocks *b = p->blocks;
    const double *entry = b->entry[g] + (int64_t)row * b->sources;
    double sum = 0;
    *whole = 0;
    for (int s = 0; s < b->sources; s++) {
        const double x = entry[s] * p->sum[g * b->sources + s];
        sum += x;
        *whole += fabs(x);
    }
    return sum;
}

/* The largest difference of all results over the bound; *targets: how many entries of targets they
 * are. */
static double compare(const struct packed *p, bool halves, int late, int *targets, bool *right) {
    double worst = 0;
    *targets = 0;
    *right = true;
    for (int part = 0; part < p->parts; part++)
        for (int n = 0; n < p->tiles * 8; n++) {
            const double *where = p->op.value + p->parts * p->part_values + part * p->infos +
                                  (int64_t)4 * p->pairs * p->chunks;
            const int at = (int)where[n / 8 * 4 + n % 8 / 2];
            const int entry = at < 0 ? -1 : entry_at(p, at + n % 2);
            int g = 0, row = 0;
            double whole;
            if (entry < 0) continue;
            ++*targets;
            find_row(p, entry, &g, &row);
            const double exact = expected(p, g, row, &whole);
            const double got = product(p, halves, part, n / 8, n % 8, g, late, right);
            if (isnan(got)) return NAN;
            const double bound = ldexp(whole, -45);
            worst = fmax(worst, fabs(got - exact) / bound);
        }
    return worst;
}

static void test_scene(const struct scene *scene) {
    HT_ENDED(close_scene) struct packed p;
    int targets = 0;
    bool right = false;
    must(open_scene(scene, &p));
    const int all = p.z.targets * p.coefs;
    const double worst = compare(&p, scene->halves, 0, &targets, &right);
    TEST_BELOW(worst, 1, "%s, %s, N = %d, %s, %d parts", scene->variant, scene->system,
               scene->order, scene->fp64 ? "double" : "single", p.parts);
    TEST_CHECK(targets == all && right, "%d results of %d, parities and zeros in their places",
               targets, all);
    const double late = compare(&p, scene->halves, 1, &targets, &right);
    TEST_CHECK(late > 1, "read a k step too far: %.3g of the bound", late);
}

int main(void) {
    static const struct scene scenes[] = {
        {"propagator-tensor", "acoustic", 2, 0, false, false},
        {"propagator-tensor", "wave", 3, 0, false, true},
        {"propagator-tensor", "maxwell", 6, 0, false, true}, /* whose blocks are shared */
        {"propagator-planes", "wave", 4, -1, false, false},
        {"propagator-planes", "wave", 5, -1, false, true},
        {"propagator-planes", "acoustic", 2, 0, false, true},
        {"propagator-warpgroup", "acoustic", 2, 0, true, false},
        {"propagator-warpgroup", "acoustic", 3, 0, true, false},
        {"propagator-warpgroup", "acoustic", 4, 0, true, false},
        {"propagator-warpgroup", "wave", 5, -1, true, false},
    };
    TEST_EACH(row, scenes) test_scene(row);
    return test_end("tensor");
}
