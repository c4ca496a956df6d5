/* Host side of cl/warp.cl: how a target's polynomials are shared by work-items
 * of a warp.
 */
#include "local_sizes.h"
#include "variant.h"

enum {
    WARP = 32,
    /* Registers of a work-item for polynomials; more are spilled. */
    MOST_REGISTERS = 192,
    ROOMY = 144, /* of them leave room */
    WARPS = 4    /* of a group */
};

/* Registers for b, w and, with polynomials, parts of a product, where a
 * work-item has so many rows n2. */
static int registers(const struct ht_spec *spec, const struct ht_sizes *z,
                     int rows) {
    const int polynomials = 2 * z->fields + (z->medium_coefs > 0 ? 3 : 0);
    return polynomials * rows * z->t3 * (spec->fp64 ? 2 : 1);
}

/* Rows n2 of a work-item such that most work-items of a warp have a target's;
 * of several the most that leave room in the registers, for fewer exchanges. 0:
 * the polynomials do not fit. */
static int rows_of(const struct ht_spec *spec, const struct ht_sizes *z) {
    int best = 0, most = 0;
    for (int rows = 1; rows <= z->t2; rows++) {
        const int team = z->t1 * z->t2 / rows, held = registers(spec, z, rows);
        if (z->t2 % rows != 0 || team > WARP || held > MOST_REGISTERS) continue;
        const int used = WARP / team * team;
        if (used < most || (used == most && held > ROOMY)) continue;
        most = used;
        best = rows;
    }
    return best;
}

static const char *refuses(const struct ht_spec *spec) {
    const struct ht_sizes z = ht_sizes_of(spec);
    if (spec->eq->dims < 3) return "it is for three dimensions";
    if (rows_of(spec, &z) == 0)
        return "the polynomials of a cell do not fit the registers of a warp";
    return NULL;
}

/* Where it was measured (bench/NOTES.md): with few products of polynomials. */
static bool pays(const struct ht_spec *spec) {
    return spec->order == 3 &&
           (spec->medium_degree <= 0 || spec->constant != 0);
}

/* Values of the kernel's arrays in local memory. */
static int64_t local_values(const struct ht_spec *spec,
                            const struct ht_sizes *z, int cells, int items) {
    int storage[HT_MAX_COEFS];
    const int padded = ht_storage_order(spec, storage);
    const int face = HT_SIZE_FACE(1, z->sources, z->n3, z->t2, z->t1);
    const int64_t team = HT_SIZE_TEAM(face, z->targets * padded, spec->block) +
                         HT_SIZE_LOWER(z->sources, z->n3, z->t2, z->t1);
    const int64_t stripe = (int64_t)rows_of(spec, z) * z->t3;
    const bool shuffles = spec->ptx >= 70;
    const int polynomials = z->fields + (z->medium_coefs > 0);
    return cells * team +
           HT_SIZE_NEIGHBOURS(shuffles, polynomials * stripe, items) +
           HT_SIZE_MEDIUM((int64_t)cells, z->materials, z->medium_coefs) + 1;
}

static enum ht_err choose_shape(const struct ht_tuning *tuning,
                                const struct ht_spec *spec,
                                const struct ht_device_info *info,
                                struct ht_shape *out) {
    const int64_t limit = ht_local_limit(info);
    const struct ht_sizes z = ht_sizes_of(spec);
    const int rows = rows_of(spec, &z);
    const int teams = rows > 0 ? WARP / (z.t1 * z.t2 / rows) : 1;
    const int wanted = tuning->cells > 0 ? tuning->cells : WARPS * teams;
    const int64_t most = info->max_group / WARP * teams;
    REQUIRE(tuning->cells <= most || tuning->cells == 0, HT_ERR_INPUT,
            "device.cells_per_group = %d: %d cells in a warp, and %s allows "
            "%lld work-items per group",
            tuning->cells, teams, info->name, (long long)info->max_group);
    for (int cells = wanted;; cells -= teams) {
        if (cells < 1) return ht_local_too_little(spec, info, 0, limit);
        out->cells = cells;
        out->group_size = (cells + teams - 1) / teams * WARP;
        out->local_bytes = local_values(spec, &z, cells, out->group_size) *
                           (spec->fp64 ? 8 : 4);
        if (out->local_bytes <= limit && cells <= most) break;
        if (tuning->cells > 0)
            return ht_local_too_little(spec, info, cells, limit);
    }
    out->tile = rows;
    return HT_OK;
}

const struct ht_variant ht_variant_warp = {
    .name = "warp",
    .meaning = "a cell by work-items of one warp, in registers, values of "
               "others by shuffles (3-D, N up to 3)",
    .made_for = HT_FOR_GPU,
    .medium = HT_POLYNOMIALS,
    .series = true,
    .layouts = HT_READS_ANY,
    .refuses = refuses,
    .pays = pays,
    .shape = choose_shape,
    .cost = ht_cost_series,
    .files = {"common.cl", "packs.cl", "ptx.cl", "shuffles.cl", "warp.cl"},
    .stage = {{HT_STAGE_STEP, "ht_warp"}}};
