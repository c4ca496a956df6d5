/* Sizes and operation counts. The least work of a half step is the smallest count of four forms:
 * interpolation by parity and by faces along x3, followed by the trimmed Taylor series; dense
 * parity blocks of F^2 (N+1)^(2d) entries (uniform media, systems with parities); those of a scalar
 * and its potential; a one-dimensional half step per axis (constant velocity). */
#include "variant.h"

static void number_groups(const struct ht_spec *spec, struct ht_sizes *z) {
    const struct ht_equations *eq = spec->eq;
    HT_EACH_AT(t, const struct ht_term, term, eq->term, eq->nterms) {
        /* In layers of a uniform medium only profiles are multiplied in the kernel. */
        const bool profile = ht_material_layer(eq, term->material) >= 0;
        const int material = spec->medium_degree < 0 && eq->nprofiles > 0 ? -1 : term->material;
        int g = 0;
        z->group[t] = -1;
        if (profile) continue;
        while (g < z->groups && (z->group_row[g] != term->row || z->group_material[g] != material))
            g++;
        if (g == z->groups) {
            z->group_row[g] = term->row;
            z->group_material[g] = material;
            z->groups++;
        }
        z->group[t] = g;
    }
}

/* Fields of a mask in order; 0 stands for all. */
static int list_fields(const struct ht_equations *eq, unsigned mask, int *field) {
    int count = 0;
    for (int f = 0; f < eq->nfields; f++)
        if (mask == 0 || (mask >> f & 1u)) field[count++] = f;
    return count;
}

/* How far k applications of L can lower the total degree of a coefficient of a field that
 * contributes to an output: least and most over all paths of k terms; least > most means that no
 * path has this length. */
struct lowering {
    int least[HT_MAX_FIELDS], most[HT_MAX_FIELDS];
};

/* k = 0, before: NULL: an output contributes to itself only; or from k - 1 to k: one more
 * application at the beginning of the path. */
static struct lowering lower(const struct ht_equations *eq, const struct ht_sizes *z,
                             const struct lowering *before) {
    struct lowering out;
    for (int f = 0; f < HT_MAX_FIELDS; f++) {
        out.least[f] = INT_MAX / 2;
        out.most[f] = INT_MIN / 2;
    }
    for (int i = 0; before == NULL && i < z->targets; i++)
        out.least[z->target_field[i]] = out.most[z->target_field[i]] = 0;
    for (int t = 0; before != NULL && t < eq->nterms; t++) {
        const struct ht_term *term = &eq->term[t];
        int *least = &out.least[term->col], *most = &out.most[term->col];
        *least = (int)ht_least(*least, term->derivative + before->least[term->row]);
        *most = (int)ht_most(*most, term->derivative + before->most[term->row]);
    }
    return out;
}

int ht_spec_slack(const struct ht_spec *spec, const struct ht_sizes *z) {
    int slack = 0;
    struct lowering l = lower(spec->eq, z, NULL);
    for (int k = 1; k <= spec->eq->dims * 2 * z->n1; k++) {
        l = lower(spec->eq, z, &l);
        for (int f = 0; f < z->fields; f++)
            if (l.least[f] <= l.most[f])
                slack = (int)ht_most(slack, ht_most(k - l.least[f], l.most[f] - k));
    }
    return slack;
}

struct ht_sizes ht_sizes_of(const struct ht_spec *spec) {
    const struct ht_equations *eq = spec->eq;
    const int dims = eq->dims, n = spec->order + 1;
    struct ht_sizes z = {.n1 = n,
                         .n2 = dims > 1 ? n : 1,
                         .n3 = dims > 2 ? n : 1,
                         .t1 = 2 * n,
                         .t2 = dims > 1 ? 2 * n : 1,
                         .t3 = dims > 2 ? 2 * n : 1,
                         .fields = eq->nfields,
                         .materials = eq->nmaterials};
    z.coefs = z.n1 * z.n2 * z.n3;
    z.cube = z.t1 * z.t2 * z.t3;
    z.medium_coefs = spec->medium_degree > 0; /* multi-indices of that total degree or less */
    for (int k = 1; k <= dims; k++) z.medium_coefs = z.medium_coefs * (spec->medium_degree + k) / k;
    z.sources = list_fields(eq, spec->src, z.source_field);
    z.targets = list_fields(eq, spec->dst, z.target_field);
    number_groups(spec, &z);
    for (int f = 0; f < eq->nfields; f++) z.slot[f] = -1;
    for (int t = 0; t < eq->nterms; t++) {
        /* a field of which a term takes coefficients with another n1 or n2 */
        const struct ht_term *term = &eq->term[t];
        const int f = term->col, profile = ht_material_layer(eq, term->material);
        const int axis = profile >= 0 ? profile : term->derivative > 0 ? term->axis : 2;
        if (axis >= 2 || z.slot[f] >= 0) continue;
        z.exchanged_field[z.exchanged] = f;
        z.slot[f] = z.exchanged++;
    }
    return z;
}

/* FMAs per field: number of lines along each axis times 2 (N+1)^2. A march along x3 uses each face
 * for two cells. */
static double interpolation_fma(const struct ht_sizes *z, int dims) {
    double line = 2.0 * z->n1 * z->n1, lines;
    if (dims == 1)
        lines = 1;
    else if (dims == 2)
        lines = z->t2 + z->t1;
    else
        lines = (double)z->t2 * z->n3 + (double)z->t1 * z->n3 + (double)z->t1 * z->t2;
    return lines * line * z->sources;
}

/* Whether coefficient j can reach an output by `least` to `most` further derivatives. */
static bool needed(const int *j, int order, int dims, int least, int most) {
    int excess = 0, total = 0;
    for (int a = 0; a < dims && a < 3; a++) {
        excess += j[a] > order ? j[a] - order : 0;
        total += j[a];
    }
    return excess <= most && least <= total;
}

/* Products M_a g_(j-a) of needed coefficients j: a <= j, at most `degree` in all. */
static double count_products(const struct ht_sizes *z, const struct ht_spec *spec, int degree,
                             int least, int most) {
    double count = 0;
    for (int q = 0; q < z->cube; q++) {
        const int j[3] = {q % z->t1, q / z->t1 % z->t2, q / (z->t1 * z->t2)};
        if (!needed(j, spec->order, spec->eq->dims, least, most)) continue;
        for (int a3 = 0; a3 <= j[2] && a3 <= degree; a3++)
            for (int a2 = 0; a2 <= j[1] && a2 + a3 <= degree; a2++)
                count += 1 + (j[0] < degree - a2 - a3 ? j[0] : degree - a2 - a3);
    }
    return count;
}

/* Products of all stages: per needed coefficient of a field the terms of its equation and, in
 * polynomial media, the products of its groups, which raise degrees: nothing is too low there. */
static double stages_fma(const struct ht_spec *spec, const struct ht_sizes *z, int stages) {
    const struct ht_equations *eq = spec->eq;
    struct lowering l = lower(eq, z, NULL);
    double sum = 0;
    for (int k = 1; k <= stages; k++, l = lower(eq, z, &l)) {
        double coefs[HT_MAX_FIELDS] = {0};
        for (int f = 0; f < eq->nfields; f++)
            if (l.least[f] <= l.most[f])
                coefs[f] = count_products(
                    z, spec, 0, spec->medium_degree > 0 ? INT_MIN : l.least[f], l.most[f]);
        for (int t = 0; t < eq->nterms; t++) sum += coefs[eq->term[t].row];
        for (int g = 0; g < z->groups; g++)
            if (spec->medium_degree > 0 && z->group_material[g] >= 0 &&
                !ht_spec_constant(spec, z->group_material[g]) &&
                l.least[z->group_row[g]] <= l.most[z->group_row[g]])
                sum +=
                    count_products(z, spec, spec->medium_degree, INT_MIN, l.most[z->group_row[g]]);
    }
    return sum;
}

/* A one-dimensional half step of (N+1) x (2N+2) along the lines of each axis, with faces reused
 * along x3 as in interpolation_fma. */
static double separable_fma(const struct ht_sizes *z, int dims) {
    const int lines = dims == 1 ? 1 : dims == 2 ? 3 : 4;
    return 2.0 * lines * z->n1 * z->n1 * z->n2 * z->n3 * z->fields;
}

static double medium_values(const struct ht_spec *spec, const struct ht_sizes *z) {
    double values = 0;
    for (int m = 0; spec->medium_degree >= 0 && m < z->materials; m++)
        values += z->medium_coefs > 0 && !ht_spec_constant(spec, m) ? z->medium_coefs : 1;
    return values;
}

/* Whether field 0 is a scalar p that couples with a partner v_k per axis, and nothing else does. */
static bool has_potential(const struct ht_equations *eq) {
    unsigned to = 0, from = 0, all = (1u << eq->dims) - 1;
    HT_EACH(const struct ht_term, term, eq->term, eq->nterms) {
        if (term->derivative != 1) return false;
        if (term->row == 0 && term->col == term->axis + 1) to |= 1u << term->axis;
        if (term->col == 0 && term->row == term->axis + 1) from |= 1u << term->axis;
    }
    return eq->nfields == eq->dims + 1 && eq->nterms == 2 * eq->dims && to == all && from == all;
}

/* Dense parity blocks of one scalar p with a partner v_k per axis by p and its potential, the
 * integral of p over the half step, whose derivatives are the changes of v: from p and the
 * divergence of v to the (N+1)^d coefficients of p and N + 2 along one axis of the potential; the
 * interpolants of v_k. */
static double potential_fma(const struct ht_spec *spec, const struct ht_sizes *z) {
    const bool p_from = spec->src == 0 || (spec->src & 1u);
    const bool v_from = spec->src == 0 || spec->src > 1;
    const bool p_to = spec->dst == 0 || (spec->dst & 1u);
    const bool v_to = spec->dst == 0 || spec->dst > 1;
    const double dims = spec->eq->dims, coefs = z->coefs;
    const double rows = p_to * coefs + v_to * coefs * (1 + dims / z->n1);
    const double lines = coefs / z->n1 * (1 << spec->eq->dims);
    return (p_from + v_from) * coefs * rows + v_from * v_to * dims * coefs * coefs +
           v_from * dims * lines * (2 * z->n1 - 1);
}

struct ht_cost ht_cost_minimum(const struct ht_spec *spec, int stages) {
    if (spec->differences > 0) {
        struct ht_cost cost = ht_cost_differences(NULL, spec, 0);
        cost.bytes *= ht_real_size(spec->fp64);
        return cost;
    }
    struct ht_sizes z = ht_sizes_of(spec);
    int dims = spec->eq->dims, element_size = ht_real_size(spec->fp64);
    bool uniform = spec->medium_degree < 0;
    double coefs = z.coefs;
    double fma = interpolation_fma(&z, dims) + stages_fma(spec, &z, stages);
    double dense = (double)z.sources * z.targets * coefs * coefs;
    if (uniform && has_potential(spec->eq)) fma = fmin(fma, potential_fma(spec, &z));
    if (uniform) fma = fmin(fma, spec->eq->translates ? separable_fma(&z, dims) : dense);
    double medium = medium_values(spec, &z);
    double read = spec->old_sign != 0 ? z.sources + z.targets : z.sources;
    return (struct ht_cost){.fma = fma,
                            .bytes = ((read + z.targets) * coefs + medium) * element_size};
}

/* Products of the series, without the coefficients that the variant trims. */
static double series_fma(const struct ht_spec *spec, const struct ht_sizes *z) {
    double all = spec->eq->nterms;
    if (spec->trim) return stages_fma(spec, z, spec->stages);
    for (int t = 0; t < spec->eq->nterms; t++)
        if (ht_material_layer(spec->eq, spec->eq->term[t].material) >= 0)
            all += spec->eq->profile_degree;
    for (int g = 0; g < z->groups; g++)
        if (z->group_material[g] >= 0)
            all += ht_spec_constant(spec, z->group_material[g]) ? 1 : z->medium_coefs;
    return all * z->cube * spec->stages;
}

struct ht_cost ht_cost_series(const struct ht_variant *variant, const struct ht_spec *spec,
                              int kernel) {
    struct ht_sizes z = ht_sizes_of(spec);
    /* Cost of a kernel of this kind whose evolution takes `series` products. */
    const double evolve = series_fma(spec, &z);
    int dims = spec->eq->dims;
    double coefs = z.coefs;
    double medium = medium_values(spec, &z);
    double from = coefs * z.sources, poly = (double)z.cube * z.sources;
    double to = coefs * z.targets * (spec->old_sign != 0 ? 2 : 1);
    double rolled = interpolation_fma(&z, dims);
    switch (variant->stage[kernel].kind) {
    case HT_STAGE_INTERPOLATE_NAIVE: /* the full matrix along every line */
        return (struct ht_cost){dims * poly * z.t1, from + poly};
    case HT_STAGE_INTERPOLATE_GEMM: /* gathered, then a product per axis */
        return (struct ht_cost){dims * poly * z.t1, from + poly + 2 * dims * poly};
    case HT_STAGE_INTERPOLATE_ROLLED:
        return (struct ht_cost){rolled, from + poly};
    case HT_STAGE_EVOLVE:
        return (struct ht_cost){evolve, poly + to + medium};
    case HT_STAGE_STEP:
    case HT_STAGE_OPERATOR: /* a series whose factors are in the program */
        return (struct ht_cost){rolled + evolve, from + to + medium};
    case HT_STAGE_NONE:
        break;
    }
    return (struct ht_cost){0};
}

struct ht_cost ht_cost_operator(const struct ht_variant *variant, const struct ht_spec *spec,
                                HT_UNUSED int kernel) {
    const struct ht_sizes z = ht_sizes_of(spec);
    const double from = (double)z.coefs * z.sources, to = (double)z.coefs * z.targets;
    return (struct ht_cost){.fma = variant->blocks ? from * to : separable_fma(&z, spec->eq->dims),
                            .bytes = from + to * (spec->old_sign != 0 ? 2 : 1)};
}

/* Of half a time step per node. One pass reads the field, the increment and the medium and writes
 * the first two; a second term of the series adds one that reads two values and writes one, and one
 * value more to read. */
struct ht_cost ht_cost_differences(HT_UNUSED const struct ht_variant *variant,
                                   const struct ht_spec *spec, HT_UNUSED int kernel) {
    if (spec->pair != HT_PAIR_NONE) {
        /* Of half a time step of a pair per node: each group is read twice and written once,
         * coefficients that vary are read; a difference is used by all terms that take it. */
        struct ht_pair pair;
        (void)ht_pair_make(spec->eq, spec->pair, &pair);
        int differences = 0;
        for (int t = 0; t < pair.nterms; t++) {
            bool known = false;
            for (int i = 0; i < t; i++)
                known = known || (pair.term[i].col == pair.term[t].col &&
                                  pair.term[i].axis == pair.term[t].axis);
            differences += !known;
        }
        int media = 0;
        for (int c = 0; c < pair.ncoefficients; c++)
            if (spec->medium_degree >= 0 && !(spec->constant >> c & 1u)) media++;
        /* With two terms rates are written, and read with fields into others, before. */
        const int passes = spec->stages > 1 ? 3 : 1, values = passes > 1 ? 8 : 3;
        return (struct ht_cost){
            .fma = passes * (differences * spec->differences + pair.nterms) / 2.0,
            .bytes = (values * pair.nfields + 2 * pair.npartners + passes * media) / 2.0};
    }
    const int passes = spec->stages > 1 ? 2 : 1;
    const bool density = spec->density;
    const double taps = density ? 2.0 * spec->differences : spec->differences / 2.0 + 1;
    const double medium = density ? 1 + spec->eq->dims : 1;
    const double values = (passes > 1 ? 2 + 5 : 4) + passes * medium;
    return (struct ht_cost){.fma = passes * (spec->eq->dims * taps + 2) / 2, .bytes = values / 2};
}
