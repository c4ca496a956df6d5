/* Cases of the kernels: variant, law (system and scheme), dimension, order, precision, layout,
 * medium, trimming, cells and planes per group.
 *
 * The whole product would compile thousands of programs, and on a CPU compiling takes most of the
 * time. So `cases_choose` takes rows of a pairwise covering (cover.h) in which the variant is one
 * factor, and order, precision and layout together are one: each variant meets each
 * law, each kind of numbers, each medium, each dimension (the third by each scheme) and all other
 * options; and any two levels of these meet by some variant. */
#pragma once

#include "compiler.h"
#include "cover.h"
#include "law.h"
#include "open_device.h"
#include "problem.h"

struct kind {
    const struct ht_variant *variant;
    struct ht_equations eq;
    struct ht_spec spec;
    int cells, planes; /* per group; 0: chosen */
    bool leapfrog, rows /* long ones, too */, plain /* not optimised */;
    double different; /* values in regions */
};

static inline struct ht_grid case_grid(int dims, int order, const int wall[3][2]) {
    return hand_grid(dims, order, (const int64_t[]){dims == 1 ? 7 : 3, 2, 3}, wall);
}

static inline struct ht_problem case_problem(const struct kind *kind, const struct ht_grid *grid) {
    /* Stages are loops in program text, but not of operators. */
    const bool reduced = grid->order > 3 && kind->variant->pack == NULL;
    struct ht_problem p = hand_problem(&kind->eq, grid, kind->leapfrog ? HT_LEAPFROG : HT_TAYLOR,
                                       kind->spec.medium_degree, 0.4,
                                       reduced ? 6 : grid->dims * (2 * grid->order + 1));
    /* Material 1 is constant beside polynomials of degree 2. */
    p.constant = p.medium_degree == 2 ? 2u : 0u;
    return p;
}

static inline struct ht_tuning case_tuning(const struct kind *kind) {
    return (struct ht_tuning){.variant = kind->variant,
                              .fp64 = kind->spec.fp64,
                              .ptx = kind->spec.ptx,
                              .ptx_own = kind->spec.ptx_own,
                              .trim = kind->spec.trim,
                              .block = kind->spec.block,
                              .cells = kind->cells,
                              .planes = kind->planes};
}

static inline void case_name(const struct kind *kind, char *out, size_t size) {
    snprintf(out, size, "%s %s %s %dD N=%d %s block %d medium %d%s cells %d planes %d%s%s",
             kind->variant->name, kind->eq.system->name, kind->leapfrog ? "leapfrog" : "taylor",
             kind->eq.dims, kind->spec.order, kind->spec.fp64 ? "double" : "single",
             kind->spec.block, kind->spec.medium_degree, kind->spec.trim ? " trimmed" : "",
             kind->cells, kind->planes, kind->rows ? " long rows" : "",
             kind->plain ? " not optimised" : "");
}

/* ---- a covering ---- */

enum { VARIANT, LAW, SPACE, NUMBERS, MEDIUM, TRIM, CELLS, PLANES, ROWS, FACTORS };
/* One dimension, two, and three: those where the parts of a block differ most, N = 2 in blocks, in
 * double precision by Taylor series and in single precision by leapfrog if the system has it; and
 * others by what is made for CPUs. */
enum { LINE, SQUARE, CUBE, CUBE_SINGLE, CUBE_OTHER, SPACES };

/* Coefficients at odd N + 1 do not fill blocks. */
static const struct {
    int order;
    bool fp64, blocked;
} number_kinds[] = {
    {1, false, false}, {1, true, true},  {2, true, false}, {2, false, true},
    {2, true, true},   {3, true, false}, {3, false, true}, {4, true, false},
    {5, false, false}, {6, true, true},  {7, false, true}, {8, true, false},
};
enum { LOW = 3, KINDS_OF_NUMBERS = sizeof number_kinds / sizeof *number_kinds };

struct chooser {
    const struct ht_device_info *info;
    bool cube; /* no other rows than those in three dimensions */
};

static inline struct kind case_of(const struct chooser *chooser, const unsigned char *row) {
    struct kind kind = {.variant = ht_variant_at(row[VARIANT])};
    const int dims = row[SPACE] < CUBE ? 1 + row[SPACE] : 3;
    const int order = number_kinds[row[NUMBERS]].order;
    const int degrees[4] = {-1, 0, 2, order + 1};
    kind.eq = law_at(row[LAW], dims, &kind.leapfrog);
    kind.spec.order = order;
    kind.spec.fp64 = number_kinds[row[NUMBERS]].fp64;
    kind.spec.block = !number_kinds[row[NUMBERS]].blocked ? 1 : kind.spec.fp64 ? 2 : 4;
    kind.spec.medium_degree = degrees[row[MEDIUM]];
    kind.spec.trim = row[TRIM];
    kind.spec.ptx = chooser->info->ptx;
    kind.spec.ptx_own = chooser->info->ptx_own;
    kind.cells = row[CELLS] == 2 ? 3 : row[CELLS];
    /* Left to itself a group takes one plane of so few; on real grids it walks through many, and
     * keeps what neighbouring planes share. */
    kind.planes = row[PLANES] ? 3 : 0;
    kind.rows = row[ROWS];
    return kind;
}

/* Whether the options of a case go together. */
static inline bool case_possible(const struct chooser *chooser, const struct kind *kind) {
    const struct ht_variant *variant = kind->variant;
    const int dims = kind->eq.dims, order = kind->spec.order, degree = kind->spec.medium_degree;
    struct ht_shape shape;
    if (kind->spec.fp64 && !chooser->info->fp64) return false;
    if (kind->spec.trim && !variant->series) return false; /* operators are whole */
    if (kind->planes > 0 && dims < 3) return false;
    if (degree >= 0 && (!kind->eq.system->material[0].varies || variant->uniform)) return false;
    if (kind->cells > 0 && (dims == 3 || variant->ptx > 0)) return false;
    if (kind->rows && (kind->cells > 0 || dims * order > 4)) return false;
    if (order > LOW && dims == 3) return false;
    /* Products of many terms take a minute; their rules are those of fewer dimensions. */
    if (dims == 3 && degree > 2) return false;
    const struct ht_tuning tuning = case_tuning(kind);
    const struct ht_grid grid = case_grid(dims, order, NULL);
    const struct ht_problem problem = case_problem(kind, &grid);
    const struct ht_spec spec = ht_problem_spec(&problem, &tuning, HT_PRIMARY);
    return ht_variant_refuses(variant, &spec) == NULL &&
           ht_variant_shape(&tuning, &spec, chooser->info, &shape) == HT_OK;
}

static inline bool case_in_cube(const struct kind *kind, int space) {
    const bool blocks = kind->spec.order == 2 && kind->spec.block > 1;
    if (space == CUBE) return blocks && kind->spec.fp64 && !kind->leapfrog;
    if (space == CUBE_SINGLE)
        return blocks && !kind->spec.fp64 && (kind->leapfrog || kind->eq.leapfrog.old_sign == 0);
    return !blocks && kind->variant->made_for == HT_FOR_CPU;
}

/* Compiling takes seconds in three dimensions and at high orders in two, else tenths. */
static inline double case_cost(const unsigned char *row, void *context) {
    const struct chooser *chooser = context;
    uint64_t hash = 0;
    for (int f = 0; f < FACTORS; f++) hash = 32 * hash + row[f];
    if (row[SPACE] < CUBE && chooser->cube) return 0;
    if (ht_variant_lacks(ht_variant_at(row[VARIANT]), chooser->info) != NULL) return 0;
    const struct kind kind = case_of(chooser, row);
    if (row[SPACE] >= CUBE && !case_in_cube(&kind, row[SPACE])) return 0;
    if (!case_possible(chooser, &kind)) return 0;
    double cost = kind.eq.dims == 3                            ? 4 + kind.spec.medium_degree
                  : kind.eq.dims == 2 && kind.spec.order > LOW ? 2
                                                               : 1;
    /* Of rows that cost the same any. */
    return cost + 1e-3 * (double)(ht_rng_bits(31, hash) % 64);
}

/* Variants that CPUs run. Others are compiled for CPUs by tests alone, and most of `gemm` is
 * CLBlast's, 20 s of the compiler's time. */
static inline bool case_for_cpu(const struct ht_variant *variant) {
    return variant->made_for != HT_FOR_GPU && strcmp(variant->name, "gemm") != 0;
}

/* *out: cases, to be freed. Of what CPUs run, optimised is the first in each dimension, so that
 * compilers' faults are found; optimised cases come first (test_optimise). */
static inline int cases_choose(const struct ht_device_info *info, bool cube, struct kind **out) {
    struct chooser chooser = {.info = info, .cube = cube};
    struct cover cover = {
        .factors = FACTORS,
        .levels = {ht_variant_count(), law_count(), SPACES, KINDS_OF_NUMBERS, 4, 2, 3, 2, 2},
        .cost = case_cost,
        .context = &chooser};
    bool optimised[COVER_LEVELS][4] = {{false}};
    int first = 0, last;
    cover_make(&cover);
    struct kind *kind = calloc((size_t)cover.count + 1, sizeof *kind);
    if (kind == NULL) abort();
    last = cover.count;
    for (int i = 0; i < cover.count; i++) {
        struct kind next = case_of(&chooser, cover.row[i]);
        bool *done = &optimised[cover.row[i][VARIANT]][next.eq.dims];
        next.plain = *done || next.spec.order > LOW || !case_for_cpu(next.variant);
        *done = *done || !next.plain;
        kind[next.plain ? --last : first++] = next;
    }
    free(cover.row);
    *out = kind;
    return cover.count;
}
