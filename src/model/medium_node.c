/* The medium at one point: the polynomials of the materials about a node.
 *
 * Parameters become jets (expressions exactly, files by interpolation). The system turns these into
 * jets of its materials. A polynomial is used while it is resolved, that is, while its variation
 * over the cell satisfies
 *     sum over a != 0 of |M_a| 2^-|a|  <  ROUGH * M_0
 * (it is then positive there, and the speed is near the node's, from which the time step comes),
 * and while no jump and no kink of an expression lies in the cell. Otherwise, for layers, and at
 * degree 0, the node gets constants: the harmonic mean of every positive material over the part of
 * the cell in the box, or, on a periodic axis, over the cell continued at the far side. For K and
 * 1/rho these are the harmonic mean of the modulus and the arithmetic mean of the density, the
 * effective medium of Moczo, Kristek, Vavrycuk, Archuleta, Halada (2002), Bull. Seism. Soc. Am.
 * 92(8), 3042-3066. */
#include "medium_private.h"

static const double ROUGH = 0.5;

/* Rules that average an expression over a cell. Where it is smooth, Gauss's rule with four points
 * per axis, three where it depends on all axes of the space: errors near (k h)^8 / 2e9 and (k h)^6
 * / 2e6 for a wave number k of the medium. Where it is not, pairs of points in equal panels, as
 * many as the number of axes allows, which find the volume of a part up to some 0.6 / points.
 * Points from end to end, without weights, detect jumps and kinks; one on the side of the cell
 * counts as outside of it. */
enum { GAUSS_POINTS = 4 };
struct rule {
    int points;
    double place[GAUSS_POINTS], weight[GAUSS_POINTS]; /* in a panel */
};
static const struct rule gauss_four = {
    4,
    {0.06943184420297371, 0.33000947820757187, 0.66999052179242813, 0.93056815579702629},
    {0.17392742256872693, 0.32607257743127307, 0.32607257743127307, 0.17392742256872693}};
static const struct rule gauss_three = {
    3, {0.11270166537925831, 0.5, 0.88729833462074169}, {5. / 18, 8. / 18, 5. / 18}};
static const struct rule pairs = {2, {0.21132486540518712, 0.78867513459481288}, {0.5, 0.5}};
static const struct rule ends = {
    4, {1e-6, 1e-6 + (1 - 2e-6) * (1. / 3), 1e-6 + (1 - 2e-6) * (2. / 3), 1e-6 + (1 - 2e-6)}, {0}};
static const int many_panels[HT_MAX_DIMS + 1] = {1, 32, 8, 4};

/* Materials that differ by more over the points of Gauss's rule are steep. */
static const double STEEP = 1.5;

/* What a cell has along each axis: boxes on which the medium is constant, by their numbers, or
 * points of a rule; weights are parts of the spacing. */
struct ht_medium_cell {
    struct share {
        double weight, x;
        int64_t at;
    } * share[3];
    int64_t count[3], room[3];
};

HT_ERR ht_medium_work_create(const struct ht_medium *medium, int64_t count,
                             struct ht_medium_work *work) {
    const struct ht_system *system = medium->eq->system;
    const int parameters = system->nparameters;
    *work = (struct ht_medium_work){.count = count};
    TRY(HT_ALLOC(work->x1, (1 + parameters + system->nmaterials) * count));
    TRY(HT_ALLOC(work->cell, 1));
    for (int p = 0; p < parameters; p++) {
        work->value[p] = work->x1 + (1 + p) * count;
        for (int64_t i = 0; i < count; i++) work->value[p][i] = system->parameter[p].fallback;
    }
    for (int m = 0; m < system->nmaterials; m++)
        work->material[m] = work->x1 + (1 + parameters + m) * count;
    return HT_OK;
}

void ht_medium_work_destroy(struct ht_medium_work *work) {
    for (int k = 0; work->cell != NULL && k < 3; k++) free(work->cell->share[k]);
    free(work->cell);
    free(work->x1);
    *work = (struct ht_medium_work){0};
}

const char *ht_medium_wrong(double value, bool positive, bool zero) {
    if (isfinite(value) && (!positive || value > 0 || (zero && value == 0))) return NULL;
    return !positive ? "finite" : zero ? "0 or positive, and finite" : "positive and finite";
}

/* Of a parameter in polynomials, which do without fluids. */
static bool usable_value(const struct ht_parameter *of, double value) {
    return ht_medium_wrong(value, of->positive, of->loss) == NULL;
}

static HT_ERR check(const struct ht_medium *medium, const char *key, const char *name, double value,
                    bool positive, bool zero, const double x[3]) {
    const char *rule = ht_medium_wrong(value, positive, zero);
    double at[3];
    if (rule != NULL) (void)ht_grid_clamp(medium->grid, x, at);
    REFUSE(rule, medium->source->params, key, "gives %s = %.6g at %s: must be %s", name, value,
           HT_PLACED(medium->grid, at), rule);
    return HT_OK;
}

static HT_ERR check_row(const struct ht_medium *medium, int parameter, double value,
                        const double x[3]) {
    const struct ht_medium_row *row = &medium->source->row[parameter];
    return check(medium, row->key, row->name, value, row->of->positive, row->of->zero, x);
}

/* The key of the parameter that single precision does not hold at x; none: of the first one. */
static const char *beyond_single(const struct ht_medium *medium, const double x[3]) {
    const struct ht_medium_row *row = medium->source->row;
    double value;
    for (int p = 0; p < medium->eq->system->nparameters; p++)
        if (ht_medium_row_value(medium, p, 1, x, &value) == HT_OK && value != 0 &&
            (fabs(value) < FLT_MIN || fabs(value) > FLT_MAX))
            return row[p].key;
    return row->key;
}

/* Materials may overflow where the parameters do not. The device has them in its precision; what
 * may be 0 may be next to 0, where samples of a fluid and of a solid are interpolated. */
HT_ERR ht_medium_check(const struct ht_medium *medium, const double *material, const double x[3]) {
    const struct ht_system *system = medium->eq->system;
    const char *key = medium->source->row[0].key;
    HT_EACH_AT(m, const struct ht_material, of, system->material, medium->eq->nmaterials) {
        TRY(check(medium, key, of->name, material[m], of->positive, of->zero, x));
        const double size = fabs(material[m]);
        REFUSE(size != 0 && ((!of->zero && size < FLT_MIN) || size > FLT_MAX) &&
                   !ht_in_double(medium->source->params),
               medium->source->params, beyond_single(medium, x),
               "gives %s = %.6g at %s: leaves the range of single precision, %.2g to %.2g; take "
               "device.precision = \"double\" or other units",
               of->name, material[m], HT_PLACED(medium->grid, x), FLT_MIN, FLT_MAX);
    }
    const char *reason = system->refuse ? system->refuse(medium->grid->dims, material) : NULL;
    for (int p = 0; reason != NULL && p < system->nparameters; p++) {
        const struct ht_medium_row *row = &medium->source->row[p]; /* the one that it begins with */
        const size_t length = strlen(row->name);
        if (strncmp(reason, row->name, length) == 0 && reason[length] == ' ') key = row->key;
    }
    REFUSE(reason != NULL, medium->source->params, key, "at %s: %s", HT_PLACED(medium->grid, x),
           reason);
    return HT_OK;
}

/* A parameter at x in the box. Samples: of the box with these numbers, or, NULL, by the polynomial
 * of such a degree between those of cells of sizes h; those of a quality by their inverses.
 * branches: as of ht_expr_value. */
static double value_at(const struct ht_medium *medium, int parameter, const double x[3],
                       const int64_t *box, int degree, const double *h, uint64_t *branches) {
    const struct ht_medium_source *source = medium->source;
    const struct ht_medium_row *row = &source->row[parameter];
    const struct ht_samples *samples = row->samples;
    if (row->expr) return ht_expr_value(row->expr, x, branches);
    if (!samples) return row->number[row->count > 1 ? ht_medium_layer(source, x) : 0];
    if (box != NULL)
        return samples->value[(box[2] * samples->shape[1] + box[1]) * samples->shape[0] + box[0]];
    return ht_samples_value(samples, row->of->inverse && source->chosen[parameter] == 0,
                            medium->grid->dims, degree, x, h != NULL ? h : samples->spacing);
}

HT_ERR ht_medium_row_value(const struct ht_medium *medium, int parameter, int degree,
                           const double x[3], double *value) {
    double at[3];
    (void)ht_grid_clamp(medium->grid, x, at);
    *value = value_at(medium, parameter, at, NULL, degree, NULL, NULL);
    return check_row(medium, parameter, *value, at);
}

HT_ERR ht_medium_row_line(const struct ht_medium *medium, int parameter, int64_t count,
                          const double *x1, const double x[3], double *out) {
    const struct ht_medium_row *row = &medium->source->row[parameter];
    const bool equal = !row->samples && medium->source->type != HT_MEDIUM_LAYERS;
    double at[3] = {0, x[1], x[2]}, into[3] = {0};
    for (int64_t i = 0; i < count; i++) {
        at[0] = x1[i];
        if (row->expr) (void)ht_grid_clamp(medium->grid, at, into);
        if (row->expr || (equal && i > 0))
            out[i] = row->expr ? into[0] : out[0];
        else
            TRY(ht_medium_row_value(medium, parameter, 1, at, &out[i]));
    }
    if (row->expr) TRY(ht_expr_line(row->expr, count, out, into, out));
    for (int64_t i = 0; i < count && row->expr; i++) {
        at[0] = x1[i];
        TRY(check_row(medium, parameter, out[i], at));
    }
    return HT_OK;
}

static HT_ERR point_materials(const struct ht_medium *medium, const double *values,
                              const double x[3], double *material) {
    const struct ht_jets point = {.dims = 1, .count = 1};
    const double *in[HT_MAX_MATERIALS] = {0};
    double *out[HT_MAX_MATERIALS] = {0};
    for (int i = 0; i < HT_MAX_MATERIALS; i++) {
        in[i] = &values[i];
        out[i] = &material[i];
    }
    medium->eq->system->materials(&point, medium->source->chosen, in, out);
    return ht_medium_check(medium, material, x);
}

static HT_ERR point(const struct ht_medium *medium, int degree, const double x[3],
                    double material[HT_MAX_MATERIALS]) {
    double values[HT_MAX_MATERIALS] = {0};
    for (int p = 0; p < medium->eq->system->nparameters; p++)
        TRY(ht_medium_row_value(medium, p, degree, x, &values[p]));
    return point_materials(medium, values, x, material);
}

HT_ERR ht_medium_point(const struct ht_medium *medium, const double x[3],
                       double material[HT_MAX_MATERIALS]) {
    return point(medium, 1, x, material);
}

/* Materials at a node, without the other coefficients of its polynomials and before any reduction
 * to means (which is made only where the value is not valid). there: those of the point x. */
static HT_ERR ht_medium_estimate(const struct ht_medium *medium, const struct ht_medium_work *work,
                                 const double x[3], const double there[HT_MAX_MATERIALS],
                                 double material[HT_MAX_MATERIALS]) {
    const struct ht_grid *grid = medium->grid;
    const struct ht_system *system = medium->eq->system;
    double values[HT_MAX_MATERIALS] = {0}, at[3];
    bool flattened = false, usable = true;
    if (medium->source->type == HT_MEDIUM_EXPRESSION) {
        memcpy(material, there, HT_MAX_MATERIALS * sizeof *material);
        return HT_OK;
    }
    (void)ht_grid_clamp(grid, x, at);
    for (int p = 0; p < system->nparameters; p++) {
        values[p] = value_at(medium, p, at, NULL, medium->degree, grid->h, NULL);
        usable = usable && usable_value(&system->parameter[p], values[p]);
    }
    if (usable) return point_materials(medium, values, x, material);
    TRY(ht_medium_node(medium, work, x, &flattened));
    for (int m = 0; m < medium->eq->nmaterials; m++) material[m] = work->material[m][0];
    return HT_OK;
}

/* ---- means over a cell ---- */

/* Sums of weight / M (positive materials) or weight * M, and of weights. */
struct mean {
    const struct ht_medium *medium;
    double weight, sum[HT_MAX_MATERIALS];
    double least[HT_MAX_MATERIALS], most[HT_MAX_MATERIALS];
    struct ht_medium_cell *cell;
    const struct rule *rule; /* in each of so many panels of an axis; NULL: boxes */
    int panels;
    bool several;
    uint64_t branches; /* of the expressions, at the first point */
    bool crossed;      /* different at some other point */
};

static struct mean mean_begin(const struct ht_medium *medium, struct ht_medium_cell *cell,
                              const struct rule *rule, int panels) {
    struct mean mean = {.medium = medium, .cell = cell, .rule = rule, .panels = panels};
    for (int m = 0; m < HT_MAX_MATERIALS; m++) {
        mean.least[m] = INFINITY;
        mean.most[m] = -INFINITY;
    }
    return mean;
}

/* The cell about x in the box along one axis. On a periodic axis the part outside is replaced by
 * that at the far side. Returns the number of parts. */
static int axis_parts(const struct ht_grid *grid, int axis, double x, double low[2],
                      double high[2]) {
    double half = grid->h[axis] / 2, tiny = 1e-9 * grid->h[axis];
    double lower = grid->lower[axis], upper = grid->upper[axis];
    low[0] = x - half;
    high[0] = x + half;
    if (axis >= grid->dims) return 1;
    bool below = low[0]<lower - tiny, above = high[0]> upper + tiny;
    low[1] = below ? low[0] + (upper - lower) : lower;
    high[1] = below ? upper : high[0] - (upper - lower);
    low[0] = fmax(low[0], lower);
    high[0] = fmin(high[0], upper);
    return (below || above) && ht_grid_periodic(grid, axis) ? 2 : 1;
}

static HT_ERR add_share(struct ht_medium_cell *cell, int k, double weight, double x, int64_t at) {
    TRY(HT_GROW(cell->share[k], cell->count[k] + 1, cell->room[k]));
    cell->share[k][cell->count[k]++] = (struct share){weight, x, at};
    return HT_OK;
}

static HT_ERR add_points(const struct mean *mean, int k, double low, double high) {
    const struct rule *rule = mean->rule;
    const double part = (high - low) / mean->medium->grid->h[k];
    for (int i = 0; i < rule->points * mean->panels; i++) {
        const int panel = i / rule->points, n = i % rule->points;
        const double place = (panel + rule->place[n]) / mean->panels;
        TRY(add_share(mean->cell, k, part * rule->weight[n] / mean->panels,
                      low + (high - low) * place, 0));
    }
    return HT_OK;
}

/* The boxes between low and high, exactly; the first and the last one have no end. */
static HT_ERR add_boxes(const struct mean *mean, int k, double low, double high) {
    const struct ht_medium_boxes *boxes = &mean->medium->source->boxes[k];
    int64_t i = 0, end = boxes->count - 1;
    while (i < end) { /* the last one that begins at low or below */
        const int64_t middle = (i + end + 1) / 2;
        *(boxes->edge[middle] <= low ? &i : &end) =
            boxes->edge[middle] <= low ? middle : middle - 1;
    }
    for (double from = low; from < high; i++) {
        const double to = i < boxes->count - 1 ? fmin(boxes->edge[i + 1], high) : high;
        TRY(add_share(mean->cell, k, (to - from) / mean->medium->grid->h[k], (from + to) / 2,
                      boxes->base + i));
        from = to;
    }
    return HT_OK;
}

/* The parameters at a point or in a box, and the sides that their expressions took. */
static HT_ERR find_values(struct mean *mean, const double x[3], const int64_t at[3],
                          double *values) {
    uint64_t branches = HT_HASH_SEED;
    double into[3];
    (void)ht_grid_clamp(mean->medium->grid, x, into);
    for (int p = 0; p < mean->medium->eq->system->nparameters; p++) {
        values[p] = value_at(mean->medium, p, into, at, 0, NULL, &branches);
        TRY(check_row(mean->medium, p, values[p], into));
    }
    if (mean->several && branches != mean->branches) mean->crossed = true;
    mean->branches = branches;
    mean->several = true;
    return HT_OK;
}

/* The mean over the cell about x; by `ends` only until a change of sides. */
static HT_ERR add_cell(struct mean *mean, const double about[3]) {
    const struct ht_medium *medium = mean->medium;
    const struct ht_medium_cell *cell = mean->cell;
    const bool looks = mean->rule == &ends;
    for (int k = 0; k < 3; k++) {
        double low[2], high[2];
        const int parts = axis_parts(medium->grid, k, about[k], low, high);
        const bool points = mean->rule != NULL && medium->source->depends[k];
        mean->cell->count[k] = 0;
        for (int i = 0; i < parts; i++)
            if (high[i] > low[i])
                TRY(points ? add_points(mean, k, low[i], high[i])
                           : add_boxes(mean, k, low[i], high[i]));
    }
    for (int64_t n = 0; n < cell->count[0] * cell->count[1] * cell->count[2]; n++) {
        const int64_t i[3] = {n % cell->count[0], n / cell->count[0] % cell->count[1],
                              n / cell->count[0] / cell->count[1]};
        double x[3], values[HT_MAX_MATERIALS] = {0}, weight = 1;
        int64_t at[3];
        HT_EACH_BY(k, const struct share, share, &cell->share[k][i[k]], 3) {
            weight *= share->weight;
            x[k] = share->x;
            at[k] = share->at;
        }
        if (looks && mean->crossed) return HT_OK;
        TRY(find_values(mean, x, at, values));
        if (looks) continue;
        double material[HT_MAX_MATERIALS];
        TRY(point_materials(medium, values, x, material));
        mean->weight += weight;
        for (int m = 0; m < medium->eq->nmaterials; m++) {
            mean->sum[m] += medium->eq->system->material[m].positive ? weight / material[m]
                                                                     : weight * material[m];
            mean->least[m] = fmin(mean->least[m], material[m]);
            mean->most[m] = fmax(mean->most[m], material[m]);
        }
    }
    return HT_OK;
}

/* Whether a jump or kink of an expression lies in the cell about x. */
static HT_ERR cell_crossed(const struct ht_medium *medium, const struct ht_medium_work *work,
                           const double x[3], bool *crossed) {
    struct mean mean = mean_begin(medium, work->cell, &ends, 1);
    const int64_t none[3] = {0};
    double values[HT_MAX_MATERIALS];
    *crossed = false;
    if (!medium->source->kinks) return HT_OK;
    TRY(find_values(&mean, x, none, values)); /* whose polynomial may be taken */
    TRY(add_cell(&mean, x));
    *crossed = mean.crossed;
    return HT_OK;
}

/* work->material = constants, the means over the cell about x; crossed: as above. */
static HT_ERR cell_mean(const struct ht_medium *medium, const struct ht_medium_work *work,
                        const double x[3], bool crossed) {
    const bool *depends = medium->source->depends;
    const int axes = depends[0] + depends[1] + depends[2];
    const bool expression = medium->source->type == HT_MEDIUM_EXPRESSION;
    const struct rule *rule = axes < 3 ? &gauss_four : &gauss_three;
    struct mean mean = mean_begin(medium, work->cell, expression ? rule : NULL, 1);
    bool steep = false;
    if (!crossed) TRY(add_cell(&mean, x));
    for (int m = 0; m < medium->eq->nmaterials; m++)
        steep |= medium->eq->system->material[m].positive && mean.most[m] > STEEP * mean.least[m];
    if (crossed || (expression && (mean.crossed || steep))) {
        mean = mean_begin(medium, work->cell, &pairs, many_panels[axes]);
        TRY(add_cell(&mean, x));
    }
    HT_EACH_BY(m, double, out, work->material[m], medium->eq->nmaterials) {
        memset(out, 0, (size_t)medium->coefs * sizeof *out);
        out[0] = medium->eq->system->material[m].positive ? mean.weight / mean.sum[m]
                                                          : mean.sum[m] / mean.weight;
    }
    return HT_OK;
}

/* ---- polynomials ---- */

bool ht_medium_drops(const struct ht_medium *medium, enum ht_subgrid subgrid,
                     const int64_t index[3], const int *power) {
    bool drops = false;
    for (int k = 0; k < HT_MAX_DIMS && subgrid == HT_PRIMARY; k++) {
        const bool end = index[k] == 0 || index[k] == ht_grid_nodes(medium->grid, subgrid, k) - 1;
        drops |= end && power[k] % 2 != 0 && !ht_grid_periodic(medium->grid, k);
    }
    return drops;
}

/* Beyond the box along an axis the medium does not change along it. */
static HT_ERR parameter_jets(const struct ht_medium *medium, const struct ht_medium_work *work,
                             const double x[3]) {
    const struct ht_medium_source *source = medium->source;
    const double *h = medium->grid->h;
    double at[3];
    const unsigned beyond = ht_grid_clamp(medium->grid, x, at);
    HT_EACH_AT(p, const struct ht_medium_row, row, source->row, medium->eq->system->nparameters) {
        double *out = work->value[p];
        if (row->samples) {
            ht_samples_jet(row->samples, source->jets, at, h, out);
        } else if (row->expr) {
            TRY(ht_expr_jet(row->expr, source->jets, at, h, out));
            TRY(check_row(medium, p, out[0], at));
        } else {
            memset(out, 0, (size_t)medium->coefs * sizeof *out);
            out[0] = row->number[0];
        }
        for (int a = 1; beyond != 0 && a < source->jets->count; a++)
            for (int k = 0; k < 3; k++)
                if (beyond >> k & 1u && source->jets->index[a][k] > 0) out[a] = 0;
    }
    return HT_OK;
}

/* A NaN anywhere makes the comparison false: not resolved. */
static bool resolved(const struct ht_medium *medium, const struct ht_medium_work *work) {
    const struct ht_system *system = medium->eq->system;
    const struct ht_jets *jets = medium->source->jets;
    for (int p = 0; p < system->nparameters; p++)
        if (!usable_value(&system->parameter[p], work->value[p][0])) return false;
    HT_EACH_BY(m, const double, material, work->material[m], medium->eq->nmaterials) {
        double variation = 0;
        for (int a = 1; a < jets->count; a++) {
            const int *i = jets->index[a];
            variation += fabs(material[a]) / (double)(1u << (i[0] + i[1] + i[2]));
        }
        double bound = system->material[m].positive ? ROUGH * material[0] : INFINITY;
        if (!isfinite(material[0]) || !(variation < bound)) return false;
    }
    return true;
}

HT_ERR ht_medium_node(const struct ht_medium *medium, const struct ht_medium_work *work,
                      const double x[3], bool *flattened) {
    const struct ht_medium_source *source = medium->source;
    const double *const *value = (const double *const *)work->value;
    bool crossed = false;
    *flattened = false;
    if (medium->degree > 0) {
        TRY(parameter_jets(medium, work, x));
        medium->eq->system->materials(source->jets, source->chosen, value, work->material);
    }
    TRY(cell_crossed(medium, work, x, &crossed));
    if (medium->degree > 0 && !crossed && resolved(medium, work)) return HT_OK;
    *flattened = medium->degree > 0;
    return cell_mean(medium, work, x, crossed);
}

/* One scan of the nodes of both grids before the run: the signal speeds that set the time step,
 * every check of values, and the number of nodes that are too rough for a polynomial. Along axes on
 * which the medium does not depend one node is scanned. Ranks scan the planes that they own and
 * combine their results, largest and smallest values and sums of integers, so that the result is
 * bit for bit that of one rank. A sampled medium is scanned at nodes spread evenly. */

/* The scan computes whole polynomials of so many nodes, spread evenly, and values at the others. A
 * sampled medium is scanned at about so many. */
static const double FULL_SCAN_NODES = 2e6;

/* Odd powers below this fraction of the value count as no gradient. */
static const double FLAT = 1e-10;

/* What is found, for the members of struct ht_medium of these names: the most along each axis,
 * minus the least above 0, and 1 where something is so. */
enum { SPEED, SPEED_MIN = SPEED + 3, SLOWEST, VANISHES, WALL_GRADIENT, FOUND };
struct found {
    double most[FOUND];
    int64_t flattened;
};
static const struct found nothing = {.most = {[SPEED_MIN] = -INFINITY, [SLOWEST] = -INFINITY}};

static void note(struct found *found, int what, double value) {
    found->most[what] = fmax(found->most[what], value);
}

/* used: what the scheme has at a node; there: of the parameters at the node; near: of the samples
 * nearest to it, since between a fluid and a solid no wave is as slow as what lies between. Where
 * the density jumps inside a cell the mean of K over it and that of 1/rho belong to different
 * places, and their speed is less than any in the medium. A zero speed along an axis (an advected
 * field that does not move there) does not count: speed_min is the smallest other one. */
static void note_speed(const struct ht_medium *medium, const double *used, const double *there,
                       const double *near, struct found *found) {
    for (int k = 0; k < medium->grid->dims; k++) {
        const double slow = ht_equations_speed(medium->eq, there, k, false);
        const double slowest = ht_equations_speed(medium->eq, near, k, true);
        note(found, SPEED + k, ht_equations_speed(medium->eq, used, k, false));
        if (slow > 0) note(found, SPEED_MIN, -slow);
        if (slowest > 0) note(found, SLOWEST, -slowest);
    }
}

/* Nodes to scan per axis, of the whole grid: the given fraction of those along which the medium
 * changes, and both ends; *same: nodes that each represents. */
static void visits(const struct ht_medium *medium, enum ht_subgrid subgrid, double part,
                   int64_t count[3], int64_t *same) {
    *same = 1;
    for (int k = 0; k < 3; k++) {
        int64_t nodes = ht_grid_nodes(medium->grid, subgrid, k);
        int64_t some = (int64_t)ceil((double)nodes * part);
        if (some < 2 && nodes > 1) some = 2;
        count[k] = medium->source->depends[k] ? some : 1;
        if (!medium->source->depends[k]) *same *= nodes;
    }
}

/* Node p of `points` spread evenly over an axis, from end to end. */
static int64_t spread(int64_t p, int64_t points, int64_t nodes) {
    return points > 1 ? p * (nodes - 1) / (points - 1) : 0;
}

/* Lines of nodes that this rank visits, those of its planes one after the other. */
struct scan {
    const struct ht_medium *medium;
    enum ht_subgrid subgrid;
    int64_t points[3], nodes[3], same;
    int64_t plane;       /* the first point along x3 whose plane is its own */
    struct found *found; /* of each thread */
    struct ht_progress progress;
};

static HT_ERR scan_node(const struct scan *scan, const struct ht_medium_work *work,
                        const int64_t i[3], struct found *found) {
    const struct ht_medium *medium = scan->medium;
    const struct ht_system *system = medium->eq->system;
    const int64_t every = medium->source->every;
    double material[HT_MAX_MATERIALS] = {0}, there[HT_MAX_MATERIALS], near[HT_MAX_MATERIALS], x[3];
    for (int k = 0; k < 3; k++) x[k] = ht_grid_x(medium->grid, scan->subgrid, k, i[k]);
    TRY(ht_medium_point(medium, x, there));
    TRY(point(medium, 0, x, near));
    if (medium->source->sampled && medium->source->kinks) { /* rough: known, and fitted later */
        memcpy(material, there, sizeof material);
    } else if (every > 0 && (i[0] + i[1] + i[2]) % every == 0) {
        bool flattened = false;
        TRY(ht_medium_node(medium, work, x, &flattened));
        if (flattened) found->flattened += scan->same * every;
        for (int m = 0; m < medium->eq->nmaterials; m++) material[m] = work->material[m][0];
        for (int n = 0; n < medium->eq->nmaterials * medium->coefs; n++) {
            const int m = n / medium->coefs, a = n % medium->coefs;
            if (fabs(work->material[m][a]) > FLAT * fabs(material[m]) &&
                ht_medium_drops(medium, scan->subgrid, i, medium->source->jets->index[a]))
                note(found, WALL_GRADIENT, 1);
        }
    } else {
        TRY(ht_medium_estimate(medium, work, x, there, material));
    }
    for (int m = 0; m < system->nmaterials - system->nlost; m++)
        if (system->material[m].zero && there[m] == 0) note(found, VANISHES, 1);
    note_speed(medium, material, there, near, found);
    return HT_OK;
}

static HT_ERR scan_lines(void *data, int64_t begin, int64_t end) {
    struct scan *scan = data;
    HT_ENDED(ht_medium_work_destroy) struct ht_medium_work work;
    TRY(ht_medium_work_create(scan->medium, scan->medium->coefs, &work));
    for (int64_t line = begin; line < end; line++) {
        const int64_t n2 = scan->points[1], p[2] = {line % n2, scan->plane + line / n2};
        int64_t i[3];
        for (int k = 1; k < 3; k++) i[k] = spread(p[k - 1], scan->points[k], scan->nodes[k]);
        for (int64_t p1 = 0; p1 < scan->points[0]; p1++) {
            i[0] = spread(p1, scan->points[0], scan->nodes[0]);
            TRY(scan_node(scan, &work, i, &scan->found[ht_threads_worker()]));
        }
        ht_progress_add(&scan->progress, 1);
    }
    return HT_OK;
}

static HT_ERR scan_subgrid(const struct ht_medium *medium, enum ht_subgrid subgrid, double part,
                           struct found *all) {
    struct scan scan = {.medium = medium, .subgrid = subgrid};
    HT_ARRAY(struct found, found, ht_threads_count());
    visits(medium, subgrid, part, scan.points, &scan.same);
    for (int k = 0; k < 3; k++) scan.nodes[k] = ht_grid_nodes(medium->grid, subgrid, k);
    /* The points along x3 on own planes. */
    struct ht_range own = {0, 1};
    int64_t planes = 0;
    if (medium->source->depends[2]) own = ht_grid_own(medium->grid, subgrid);
    for (int64_t p = scan.points[2] - 1; p >= 0; p--) {
        const int64_t at = spread(p, scan.points[2], scan.nodes[2]);
        if (at < own.first || at >= own.last) continue;
        scan.plane = p;
        planes++;
    }
    const int64_t lines = planes * scan.points[1];
    scan.found = found;
    for (int t = 0; t < ht_threads_count(); t++) found[t] = nothing;
    ht_progress_start(&scan.progress, "scanning the medium", (double)lines, "nodes",
                      (double)scan.points[0]);
    enum ht_err err = ht_threads_share(lines, LEAST_NODES / scan.points[0], scan_lines, &scan);
    ht_progress_end(&scan.progress);
    for (int t = 0; t < ht_threads_count(); t++) {
        for (int i = 0; i < FOUND; i++) note(all, i, found[t].most[i]);
        all->flattened += found[t].flattened;
    }
    return err;
}

static HT_ERR scan_varying(const struct ht_medium *medium, struct found *found) {
    struct ht_medium_source *source = medium->source;
    double total = 0, part = 1;
    int axes = source->depends[0] + source->depends[1] + source->depends[2];
    for (int subgrid = HT_PRIMARY; subgrid <= HT_DUAL; subgrid++) {
        int64_t count[3], same;
        visits(medium, (enum ht_subgrid)subgrid, 1, count, &same);
        total += (double)count[0] * (double)count[1] * (double)count[2];
    }
    if (source->sampled && total > FULL_SCAN_NODES) part = pow(FULL_SCAN_NODES / total, 1.0 / axes);
    source->every = medium->degree == 0 ? 1 : (int64_t)ceil(total / FULL_SCAN_NODES);
    if (source->sampled && source->every > 1) source->every = 0;
    TRY(scan_subgrid(medium, HT_PRIMARY, part, found));
    return scan_subgrid(medium, HT_DUAL, part, found);
}

/* Results of the ranks are combined. Where nothing depends on x3 each has counted the flattened
 * nodes of all planes. */
HT_ERR ht_medium_visit(struct ht_medium *medium) {
    struct ht_comm *comm = medium->grid->slab.comm;
    struct found found = nothing;
    const double *most = found.most;
    if (medium->uniform) {
        TRY(ht_medium_point(medium, medium->grid->lower, medium->constant));
        note_speed(medium, medium->constant, medium->constant, medium->constant, &found);
    } else {
        TRY(scan_varying(medium, &found));
        double flattened = (double)found.flattened;
        TRY(ht_comm_max(comm, FOUND, found.most));
        if (medium->source->depends[2]) TRY(ht_comm_sum(comm, 1, &flattened));
        found.flattened = (int64_t)flattened;
    }
    memcpy(medium->speed, &most[SPEED], sizeof medium->speed);
    medium->fastest = fmax(fmax(most[SPEED], most[SPEED + 1]), most[SPEED + 2]);
    medium->speed_min = isfinite(most[SPEED_MIN]) ? -most[SPEED_MIN] : 0;
    medium->slowest = isfinite(most[SLOWEST]) ? -most[SLOWEST] : 0;
    medium->wall_gradient = most[WALL_GRADIENT] > 0;
    medium->vanishes = medium->vanishes || most[VANISHES] > 0;
    medium->flattened = found.flattened;
    medium->rough = medium->rough || found.flattened > 0;
    return HT_OK;
}
