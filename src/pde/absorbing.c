/* The equations of absorbing layers, a convolutional perfectly matched layer (CPML) unsplit, with
 * its memory variables as fields (Roden and Gedney 2000; Komatitsch and Martin 2007), for any
 * system from its terms. Along an absorbing axis k a derivative is divided by s_k = 1 +
 * sigma_k/(alpha_k + i
 * omega):   d_k u  becomes  D u = d_k u + psi, psi_t = -(sigma_k + alpha_k) psi
 * - sigma_k d_k u, with one psi for each column of a term of first order. A
 * term of second order gets D D u, hence a second psi', of D u: D D u = d_k (d_k u + psi) + psi',
 * psi'_t = -(sigma_k + alpha_k) psi' - sigma_k d_k (d_k u
 * + psi), with sigma_k constant about each node. Reflected along x_k, psi has
 * the other parity than u, psi' the same.
 *
 * A weak sponge keeps long runs stable: u_t gets -rate_k u, for the fields of which an equation has
 * a derivative. (In the pair u_t = v, v_t = c^2 lap u it damps v alone; damping u as well makes the
 * pair grow.)
 */
#include "htwave/system.h"

/* memory[order - 1][col]: the psi of D^order of a column; -1: none yet. */
struct memory {
    int field[2][HT_MAX_FIELDS];
};

/* Terms without a derivative have axis 0, as those of the systems. */
static enum ht_err add_term(struct ht_equations *eq, int row, int col, int axis, int derivative,
                            double coef, int material) {
    REQUIRE(eq->nterms < HT_MAX_TERMS, HT_ERR_INTERNAL,
            "%s: more than %d terms in absorbing layers", eq->system->name, HT_MAX_TERMS);
    eq->term[eq->nterms++] = (struct ht_term){.row = row,
                                              .col = col,
                                              .axis = derivative > 0 ? axis : 0,
                                              .derivative = derivative,
                                              .coef = coef,
                                              .material = material};
    return HT_OK;
}

/* The psi of D^order of a column along an axis, and its equation if it is new. profile: number of
 * the axis's first one. */
static enum ht_err find_memory(struct ht_equations *eq, int axis, int profile, int col, int order,
                               struct memory *m) {
    if (m->field[order - 1][col] >= 0) return HT_OK;
    if (order == 2) TRY(find_memory(eq, axis, profile, col, 1, m));
    REQUIRE(eq->nfields < HT_MAX_FIELDS, HT_ERR_INTERNAL,
            "%s: more than %d fields in absorbing layers", eq->system->name, HT_MAX_FIELDS);
    const int psi = m->field[order - 1][col] = eq->nfields++;
    eq->field[psi] = eq->field[col];
    eq->field[psi].name = "memory";
    eq->field[psi].parity ^= order == 1 ? 1u << axis : 0;
    eq->along[psi] = axis;
    eq->nmemory++;
    TRY(add_term(eq, psi, psi, axis, 0, -1, profile + HT_PROFILE_DECAY));
    TRY(add_term(eq, psi, col, axis, order, -1, profile + HT_PROFILE_SIGMA));
    if (order == 1) return HT_OK;
    return add_term(eq, psi, m->field[0][col], axis, 1, -1, profile + HT_PROFILE_SIGMA);
}

/* Whether a field changes by derivatives of others. */
static bool is_driven(const struct ht_equations *eq, int nterms, int field) {
    for (int t = 0; t < nterms; t++)
        if (eq->term[t].row == field && eq->term[t].derivative > 0) return true;
    return false;
}

static enum ht_err absorb_axis(const struct ht_equations *base, int axis, struct ht_equations *eq) {
    const int profile = eq->nmaterials;
    struct memory m;
    for (int i = 0; i < 2 * HT_MAX_FIELDS; i++) m.field[i / HT_MAX_FIELDS][i % HT_MAX_FIELDS] = -1;
    REQUIRE(eq->nmaterials + HT_LAYER_PROFILES <= HT_MAX_MATERIALS, HT_ERR_INTERNAL,
            "%s: more than %d materials in absorbing layers", eq->system->name, HT_MAX_MATERIALS);
    for (int i = 0; i < HT_LAYER_PROFILES; i++) eq->profile_axis[eq->nmaterials++] = axis;
    eq->nprofiles += HT_LAYER_PROFILES;
    for (int t = 0; t < base->nterms; t++)
        if (base->term[t].axis == axis && base->term[t].derivative > 0) {
            /* What a term of the system gets along an absorbing axis. */
            TRY(find_memory(eq, base->term[t].axis, profile, base->term[t].col,
                            base->term[t].derivative, &m));
            for (int order = 1; order <= base->term[t].derivative; order++)
                TRY(add_term(eq, base->term[t].row, m.field[order - 1][base->term[t].col],
                             base->term[t].axis, base->term[t].derivative - order,
                             base->term[t].coef, base->term[t].material));
        }
    for (int f = 0; f < base->nfields; f++)
        if (is_driven(base, base->nterms, f))
            TRY(add_term(eq, f, f, axis, 0, -1, profile + HT_PROFILE_SPONGE));
    return HT_OK;
}

enum ht_err ht_equations_absorb(const struct ht_equations *eq, unsigned axes,
                                struct ht_equations *out) {
    *out = *eq;
    for (int k = 0; k < eq->dims; k++)
        if (axes >> k & 1u) TRY(absorb_axis(eq, k, out));
    return HT_OK;
}

int ht_field_layer(const struct ht_equations *eq, int field) {
    return field >= eq->nfields - eq->nmemory ? eq->along[field] : -1;
}

bool ht_equations_layer(const struct ht_equations *eq, int axis) {
    bool has = false;
    for (int m = eq->nmaterials - eq->nprofiles; m < eq->nmaterials; m++)
        has = has || eq->profile_axis[m] == axis;
    return has;
}

int ht_material_layer(const struct ht_equations *eq, int material) {
    return material >= 0 && material >= eq->nmaterials - eq->nprofiles ? eq->profile_axis[material]
                                                                       : -1;
}

int ht_term_layer(const struct ht_equations *eq, const struct ht_term *term) {
    const int row = ht_field_layer(eq, term->row);
    const int col = ht_field_layer(eq, term->col);
    if (row >= 0) return row;
    return col >= 0 ? col : ht_material_layer(eq, term->material);
}

int ht_layer_fields(const struct ht_equations *eq, int axis) {
    int count = 0;
    for (int f = 0; f < eq->nfields; f++) count += ht_field_layer(eq, f) == axis;
    return count;
}
