/* Sizes and operation counts. The least work of a half step is the smallest
 * of four forms: interpolation split by parity and rolled along x3 followed
 * by the trimmed Taylor series; the same followed by two scalar chains (where
 * they apply); dense parity blocks of F^2 (N+1)^(2d) entries (uniform media,
 * systems with parities); and a one-dimensional half step per axis (constant
 * velocity).
 */
#include "counts.h"

#include <math.h>

/* Number of multi-indices of total degree <= degree. */
static int polynomial_coefs(int dims, int degree) {
    int count = 1;
    for (int k = 1; k <= dims; k++) count = count * (degree + k) / k;
    return count;
}

static void number_groups(const struct ht_equations *eq, struct ht_sizes *z) {
    for (int t = 0; t < eq->nterms; t++) {
        const struct ht_term *term = &eq->term[t];
        int g = 0;
        while (g < z->groups && (z->group_row[g] != term->row ||
                                 z->group_material[g] != term->material))
            g++;
        if (g == z->groups) {
            z->group_row[g] = term->row;
            z->group_material[g] = term->material;
            z->groups++;
        }
        z->group[t] = g;
    }
}

static void number_exchanged(const struct ht_equations *eq,
                             struct ht_sizes *z) {
    for (int f = 0; f < eq->nfields; f++) z->slot[f] = -1;
    for (int t = 0; t < eq->nterms; t++) {
        int f = eq->term[t].col;
        if (eq->term[t].axis == 2 || z->slot[f] >= 0) continue;
        z->exchanged_field[z->exchanged] = f;
        z->slot[f] = z->exchanged++;
    }
}

/* A scalar that alone couples all other fields, one partner per axis. */
static void find_chain(const struct ht_equations *eq, struct ht_sizes *z) {
    z->chain = -1;
    if (eq->nfields != eq->dims + 1 || eq->nterms != 2 * eq->dims) return;
    int to[3] = {-1, -1, -1}, from[3] = {-1, -1, -1};
    for (int t = 0; t < eq->nterms; t++) {
        const struct ht_term *term = &eq->term[t];
        if (term->row == 0 && term->col != 0) to[term->axis] = t;
        if (term->col == 0 && term->row != 0) from[term->axis] = t;
    }
    for (int k = 0; k < eq->dims; k++) {
        if (to[k] < 0 || from[k] < 0) return;
        if (eq->term[to[k]].col != eq->term[from[k]].row) return;
        z->partner[k] = eq->term[to[k]].col;
        z->term_of_chain[k] = to[k];
        z->term_of_partner[k] = from[k];
    }
    z->chain = 0;
}

struct ht_sizes ht_sizes_of(const struct ht_spec *spec) {
    struct ht_sizes z = {0};
    int dims = spec->eq->dims, n = spec->order + 1;
    z.n1 = n;
    z.n2 = dims > 1 ? n : 1;
    z.n3 = dims > 2 ? n : 1;
    z.t1 = 2 * n;
    z.t2 = dims > 1 ? 2 * n : 1;
    z.t3 = dims > 2 ? 2 * n : 1;
    z.cube = z.t1 * z.t2 * z.t3;
    z.fields = spec->eq->nfields;
    z.materials = spec->eq->nmaterials;
    z.medium_coefs = spec->medium_degree > 0
                         ? polynomial_coefs(dims, spec->medium_degree)
                         : 0;
    number_groups(spec->eq, &z);
    number_exchanged(spec->eq, &z);
    find_chain(spec->eq, &z);
    return z;
}

/* FMAs per field: lines along each axis times 2 (N+1)^2; with rolling along
 * x3 a face serves two cells. */
static double interpolation_fma(const struct ht_sizes *z, int dims) {
    double line = 2.0 * z->n1 * z->n1, lines;
    if (dims == 1)
        lines = 1;
    else if (dims == 2)
        lines = z->t2 + z->t1;
    else
        lines = (double)z->t2 * z->n3 + (double)z->t1 * z->n3 +
                (double)z->t1 * z->t2;
    return lines * line * z->fields;
}

/* Does a coefficient still reach an output by `lower` derivatives? */
static bool needed(const int *j, int order, int dims, int lower) {
    int excess = 0, total = 0;
    for (int a = 0; a < dims; a++) {
        excess += j[a] > order ? j[a] - order : 0;
        total += j[a];
    }
    return excess <= lower && lower <= total;
}

static double count_needed(const struct ht_sizes *z, int order, int dims,
                           int lower) {
    double count = 0;
    for (int q = 0; q < z->cube; q++) {
        int j[3] = {q % z->t1, q / z->t1 % z->t2, q / (z->t1 * z->t2)};
        if (needed(j, order, dims, lower)) count++;
    }
    return count;
}

/* Coefficients per field that the stages must touch. */
static double stage_coefs(const struct ht_sizes *z, int order, int dims,
                          int stages, bool trimmed) {
    double count = 0;
    for (int k = 1; k <= stages; k++)
        count += trimmed ? count_needed(z, order, dims, k - 1) : z->cube;
    return count;
}

/* The two chains of cl/evolve_chains.cl: per coefficient dims products of
 * Lambda and two of p and e; then the divergence and the gradient. */
static double chains_fma(const struct ht_sizes *z, int order, int dims,
                         int stages) {
    double outputs = (double)z->n1 * z->n2 * z->n3, count = 0;
    for (int m = 0; 2 * m + 1 <= stages; m++)
        count += count_needed(z, order, dims, 2 * m) +
                 count_needed(z, order, dims, 2 * m + 1);
    return count * (dims + 2) + dims * (z->cube + outputs);
}

/* A one-dimensional half step of (N+1) x (2N+2) along the lines of each axis,
 * with faces reused along x3 as above. */
static double separable_fma(const struct ht_sizes *z, int dims) {
    static const int lines[] = {1, 3, 4};
    return 2.0 * lines[dims - 1] * z->n1 * z->n1 * z->n2 * z->n3 * z->fields;
}

struct ht_cost ht_cost_minimum(const struct ht_spec *spec, int stages) {
    struct ht_sizes z = ht_sizes_of(spec);
    int dims = spec->eq->dims, word = spec->fp64 ? 8 : 4;
    bool uniform = spec->medium_degree < 0;
    double coefs = (double)z.n1 * z.n2 * z.n3;
    double per_coef = spec->eq->nterms;
    if (z.medium_coefs > 0) per_coef += (double)z.groups * z.medium_coefs;
    double fma = interpolation_fma(&z, dims) +
                 per_coef * stage_coefs(&z, spec->order, dims, stages,
                                        spec->medium_degree <= 0);
    double dense = (double)z.fields * z.fields * coefs * coefs;
    if (uniform && z.chain >= 0)
        fma = fmin(fma, interpolation_fma(&z, dims) +
                            chains_fma(&z, spec->order, dims, stages));
    if (uniform)
        fma = fmin(fma, spec->eq->system->translates ? separable_fma(&z, dims)
                                                     : dense);
    double medium = uniform ? 0
                            : (double)z.materials *
                                  (z.medium_coefs > 0 ? z.medium_coefs : 1);
    return (struct ht_cost){.fma = fma,
                            .bytes = (2 * z.fields * coefs + medium) * word};
}

/* ---- the ways of the variants ---- */

static double evolution_fma(const struct ht_variant *variant,
                            const struct ht_spec *spec,
                            const struct ht_sizes *z) {
    int dims = spec->eq->dims;
    double per_coef = spec->eq->nterms;
    if (variant->chains) return chains_fma(z, spec->order, dims, spec->stages);
    if (z->medium_coefs > 0) per_coef += (double)z->groups * z->medium_coefs;
    return per_coef * stage_coefs(z, spec->order, dims, spec->stages,
                                  spec->trim && spec->medium_degree <= 0);
}

static double medium_values(const struct ht_spec *spec,
                            const struct ht_sizes *z) {
    if (spec->medium_degree < 0) return 0;
    return (double)z->materials * (z->medium_coefs > 0 ? z->medium_coefs : 1);
}

static int stored(unsigned mask, int all) {
    int count = 0;
    for (; mask != 0; mask &= mask - 1) count++;
    return count > 0 ? count : all;
}

/* An operator of the whole half step: dense blocks, or one per axis. */
static struct ht_cost operator_cost(const struct ht_variant *variant,
                                    const struct ht_spec *spec,
                                    const struct ht_sizes *z) {
    double coefs = (double)z->n1 * z->n2 * z->n3;
    double from = coefs * stored(spec->src, z->fields);
    double to = coefs * stored(spec->dst, z->fields);
    double fma =
        variant->separable ? separable_fma(z, spec->eq->dims) : from * to;
    return (struct ht_cost){fma, from + to * (spec->keep != 0 ? 2 : 1)};
}

/* bytes: values so far. Kinds that are not listed do all at once. */
static struct ht_cost kernel_cost(const struct ht_variant *variant,
                                  const struct ht_spec *spec, int kernel) {
    struct ht_sizes z = ht_sizes_of(spec);
    int dims = spec->eq->dims;
    double node = (double)z.fields * z.n1 * z.n2 * z.n3;
    double poly = (double)z.fields * z.cube, medium = medium_values(spec, &z);
    double rolled = interpolation_fma(&z, dims);
    double evolve = evolution_fma(variant, spec, &z);
    struct ht_cost least = ht_cost_minimum(spec, spec->stages);
    switch (variant->stage[kernel].kind) {
    case HT_STAGE_NONE:
        return (struct ht_cost){0};
    case HT_STAGE_INTERPOLATE_NAIVE: /* the full matrix along every line */
        return (struct ht_cost){dims * poly * z.t1, node + poly};
    case HT_STAGE_INTERPOLATE_ROLLED:
        return (struct ht_cost){rolled, node + poly};
    case HT_STAGE_EVOLVE:
        return (struct ht_cost){evolve, poly + node + medium};
    case HT_STAGE_STEP:
        return (struct ht_cost){rolled + evolve, 2 * node + medium};
    case HT_STAGE_OPERATOR:
        return operator_cost(variant, spec, &z);
    default:
        return (struct ht_cost){least.fma, least.bytes / (spec->fp64 ? 8 : 4)};
    }
}

struct ht_cost ht_variant_cost(const struct ht_variant *variant,
                               const struct ht_spec *spec, int kernel) {
    struct ht_cost sum = {0};
    if (variant->pack == NULL && spec->keep != 0)
        return ht_cost_minimum(spec, spec->stages);
    for (int i = 0; i < 2; i++) {
        if (kernel >= 0 && kernel != i) continue;
        struct ht_cost c = kernel_cost(variant, spec, i);
        sum.fma += c.fma;
        sum.bytes += c.bytes * (spec->fp64 ? 8 : 4);
    }
    return sum;
}
