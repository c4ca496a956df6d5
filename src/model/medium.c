/* The medium as the methods use it: polynomials of the materials at the nodes of x3 planes, of
 * either grid. medium_node.c computes the polynomials and checks them. */
#include "medium_private.h"

/* From the user's medium.* parameters to the rows of struct ht_medium_source. What a system takes
 * comes from its parameter table; which of "c|K" was given decides the formula of its materials. */

/* "c|K, rho"; vectors: by their own names. */
static HT_ERR list_names(const struct ht_system *system, bool vectors, struct ht_text *out) {
    HT_EACH_AT(p, const struct ht_parameter, row, system->parameter, system->nparameters) {
        if (vectors && row->vector && row->axis > 0) continue;
        ht_text_add(out, "%s%s", p ? ", " : "", vectors && row->vector ? row->vector : row->names);
    }
    return ht_text_status(out);
}

/* A parameter that the system would silently ignore, and no row has taken, is refused. */
static HT_ERR check_unused(const struct ht_medium *medium) {
    const struct ht_params *params = medium->source->params;
    const struct ht_system *system = medium->eq->system;
    HT_EACH_BY(i, const char, key, ht_medium_option_at(i)->key, ht_medium_option_count()) {
        HT_FREED_TEXT struct ht_text names = {0};
        int p = 0;
        while (p < system->nparameters && strcmp(medium->source->row[p].key, key) != 0) p++;
        if (p < system->nparameters || !ht_params_is_set(params, key)) continue;
        TRY(list_names(system, true, &names));
        return ht_params_error(params, key, "the system \"%s\" has no such parameter; it has %s",
                               system->name, names.data);
    }
    return HT_OK;
}

static void name_row(struct ht_medium_row *row, const char *name, const char *option) {
    snprintf(row->name, sizeof row->name, "%s", name);
    snprintf(row->key, sizeof row->key, "medium.%s", option);
}

static HT_ERR row_text(const struct ht_medium *medium, struct ht_medium_row *row,
                       const struct ht_medium_given *given) {
    struct ht_medium_source *source = medium->source;
    const enum ht_medium_type type = source->type;
    const struct ht_params *params = source->params;
    const int dims = medium->grid->dims;
    const char *dataset = *params->medium.dataset ? params->medium.dataset : row->name;
    const char *text = given->value.text;
    REFUSE(type == HT_MEDIUM_MEMORY && given->memory == NULL, params, row->key,
           "has no values: medium.type = \"memory\" is for programs that set them "
           "(docs/library.md); others name a file, with medium.type = \"file\"");
    if (type == HT_MEDIUM_FILE || type == HT_MEDIUM_MEMORY) {
        TRY(ht_params_blame(params, row->key,
                            ht_samples_read(params, text, dataset, given->memory, &row->samples)));
        const int64_t *shape = row->samples->shape;
        for (int k = dims; k < 3; k++)
            REFUSE(shape[k] > 1, params, "medium.axes",
                   "the file varies along x%d, but the grid has %d %s", k + 1, dims,
                   dims > 1 ? "axes" : "axis");
        /* All files have the same lattice: cells average materials sample by sample. */
        if (source->lattice == NULL) source->lattice = row;
        REFUSE(memcmp(source->lattice->samples->shape, shape, 3 * sizeof *shape) != 0, params,
               row->key, "its shape differs from that of %s", source->lattice->key);
        return HT_OK;
    }
    REFUSE(type != HT_MEDIUM_EXPRESSION, params, row->key,
           "text needs medium.type = \"expression\" or \"file\", but the type is \"%s\"",
           HT_WORD(MEDIUM_TYPE, type));
    TRY(ht_params_blame(params, row->key, ht_expr_parse(text, &row->expr)));
    for (int k = dims; k < 3; k++)
        REFUSE(ht_expr_uses(row->expr, k), params, row->key,
               "x%d is no axis of the grid, which has %d (grid.cells)", k + 1, dims);
    return HT_OK;
}

/* Numbers and samples can be checked before any node is scanned. */
static HT_ERR row_check(const struct ht_medium_source *source, const struct ht_medium_row *row) {
    const struct ht_samples *samples = row->samples;
    const bool positive = row->of->positive, zero = row->of->zero;
    const char *rule = NULL;
    for (int i = 0; i < row->count; i++) {
        rule = ht_medium_wrong(row->number[i], positive, zero);
        REFUSE(rule, source->params, row->key, "%s = %.6g: must be %s", row->name, row->number[i],
               rule);
    }
    if (!samples || !positive) return HT_OK;
    int64_t n1 = samples->shape[0], n2 = samples->shape[1];
    for (int64_t i = 0; i < n1 * n2 * samples->shape[2]; i++) {
        rule = ht_medium_wrong(samples->value[i], positive, zero);
        REFUSE(rule, source->params, row->key,
               "gives %s = %.6g at sample [%lld, %lld, %lld] along x1, x2, x3: must be %s",
               row->name, samples->value[i], (long long)(i % n1), (long long)(i / n1 % n2),
               (long long)(i / n1 / n2), rule);
    }
    return HT_OK;
}

const char *ht_medium_forbids(const struct ht_system *system, const char *name, double value) {
    for (int p = 0; system != NULL && p < system->nparameters; p++) {
        const struct ht_parameter *of = &system->parameter[p];
        if (ht_text_find(of->names, '|', name) >= 0)
            return ht_medium_wrong(value, of->positive, of->zero);
    }
    return NULL;
}

/* Whether a number or sample is 0, or all of them are. */
static bool row_vanishes(const struct ht_medium_row *row, bool all) {
    const struct ht_samples *samples = row->samples;
    const int64_t *n = samples ? samples->shape : NULL, count = n ? n[0] * n[1] * n[2] : row->count;
    const double *values = samples ? samples->value : row->number;
    for (int64_t i = 0; i < count; i++)
        if ((values[i] == 0) != all) return !all;
    return all && count > 0;
}

static bool layers_differ(const struct ht_medium_row *row) {
    for (int i = 1; i < row->count; i++)
        if (row->number[i] != row->number[0]) return true;
    return false;
}

/* By values; an expression changes along the coordinates that it names. */
static bool row_depends(const struct ht_medium_source *source, const struct ht_medium_row *row,
                        int axis) {
    const int64_t *n = row->samples ? row->samples->shape : NULL;
    const int64_t pitch = n == NULL || axis == 0 ? 1 : axis == 1 ? n[0] : n[0] * n[1];
    if (row->expr) return ht_expr_uses(row->expr, axis);
    for (int64_t i = 0; n != NULL && i < n[0] * n[1] * n[2]; i++) {
        const double *value = &row->samples->value[i];
        if (i / pitch % n[axis] > 0 && *value != value[-pitch]) return true;
    }
    return source->type == HT_MEDIUM_LAYERS && axis == source->axis && layers_differ(row);
}

/* ---- what files cover of the box ---- */

/* Of the box, where values reach one spacing beyond their ends; turned: as if the axes of the file
 * were those of the box in the other order. */
static double share(const struct ht_medium *medium, const struct ht_samples *samples, bool turned) {
    const struct ht_params *params = medium->source->params;
    double product = 1;
    for (int k = 0; k < medium->grid->dims; k++) {
        const int axis = turned ? medium->grid->dims - 1 - k : k;
        const double h = samples->spacing[k], first = samples->origin[k] - h;
        const double lower = params->grid.lower[axis], upper = params->grid.upper[axis];
        const double last = first + h * (double)(samples->shape[k] + 1);
        if (samples->shape[k] > 1)
            product *= fmax(fmin(upper, last) - fmax(lower, first), 0) / (upper - lower);
    }
    return product > 1 - 1e-9 ? 1 : product;
}

/* Of the samples [first, last] of each axis. */
static void find_range(const struct ht_samples *samples, const int64_t first[3],
                       const int64_t last[3], double *least, double *most) {
    const int64_t *n = samples->shape;
    *least = INFINITY;
    *most = -INFINITY;
    for (int64_t i3 = first[2]; i3 <= last[2]; i3++)
        for (int64_t i2 = first[1]; i2 <= last[1]; i2++)
            for (int64_t i1 = first[0]; i1 <= last[0]; i1++) {
                const double value = samples->value[(i3 * n[1] + i2) * n[0] + i1];
                *least = fmin(*least, value);
                *most = fmax(*most, value);
            }
}

bool ht_medium_covers(const struct ht_medium *medium, int parameter, struct ht_coverage *out) {
    const struct ht_medium_row *row = &medium->source->row[parameter];
    const struct ht_params *params = medium->source->params;
    const struct ht_samples *samples = row->samples;
    int64_t first[3] = {0}, last[3] = {0};
    if (samples == NULL) return false;
    *out = (struct ht_coverage){.spacings = INFINITY};
    snprintf(out->text, sizeof out->text, "%s: %s", row->name,
             medium->source->type == HT_MEDIUM_FILE ? "file" : "array");
    for (int k = 0; k < medium->grid->dims; k++) {
        const double h = samples->spacing[k], begin = samples->origin[k];
        const double end = (double)samples->shape[k] - 1;
        const double low = fmin(fmax((params->grid.lower[k] - begin) / h, 0), end);
        const double high = fmin(fmax((params->grid.upper[k] - begin) / h, 0), end);
        const size_t length = strlen(out->text);
        first[k] = (int64_t)low;
        last[k] = (int64_t)ceil(high);
        if (end < 1) continue;
        snprintf(out->text + length, sizeof out->text - length, " x%d %.6g..%.6g,", k + 1, begin,
                 begin + end * h);
        out->spacings = fmin(out->spacings, high - low);
        out->part = fmax(out->part, (high - low) / end);
    }
    out->share = share(medium, samples, false);
    find_range(samples, first, last, &out->least, &out->most);
    return true;
}

/* Refuses samples of which the box has none, and warns of those that look like another box's. */
static HT_ERR check_cover(const struct ht_medium *medium, int parameter) {
    const struct ht_medium_row *row = &medium->source->row[parameter];
    const struct ht_params *params = medium->source->params;
    const struct ht_samples *samples = row->samples;
    struct ht_coverage c;
    double least, most;
    char room[160];
    if (row != medium->source->lattice || !ht_medium_covers(medium, parameter, &c)) return HT_OK;
    const int64_t last[3] = {samples->shape[0] - 1, samples->shape[1] - 1, samples->shape[2] - 1};
    const double turned = share(medium, samples, true), spread = 1e-9 * fabs(c.most);
    find_range(samples, (int64_t[3]){0}, last, &least, &most);
    const char *fault = "",
               *box = HT_KEY("from %s to %s", HT_PLACED(medium->grid, params->grid.lower),
                             HT_PLACED(medium->grid, params->grid.upper));
    static const char look[] =
        "look at medium.spacing, medium.origin, medium.shape, medium.axes and their units";
    REFUSE(c.share <= 0, params, row->key, "%s covers nothing of the box, %s: %s", c.text, box,
           look);
    if (turned > 1.5 * c.share)
        fault = ht_text_format(room, sizeof room, ", and %.3g %% with its axes in the other order",
                               100 * turned);
    else if (c.share < 1)
        fault = ", and its values at the ends continue";
    else if (c.spacings < 1)
        fault = ", which lies between two samples along an axis";
    else if (most - least > spread && c.most - c.least <= spread)
        fault = ht_text_format(room, sizeof room, ", where it is uniform, and %g to %g elsewhere",
                               least, most);
    else if (c.part < 0.25)
        fault = ", which is a small part of it along every axis";
    if (*fault)
        ht_warn("medium.%s covers %.3g %% of the box, %s%s: %s", c.text, 100 * c.share, box, fault,
                look);
    return HT_OK;
}

/* ---- rows ---- */

static HT_ERR row_read(const struct ht_medium *medium, int parameter) {
    struct ht_medium_source *source = medium->source;
    struct ht_medium_row *row = &source->row[parameter];
    const struct ht_medium_given *chosen = NULL;
    char name[HT_MEDIUM_NAME];
    row->of = &medium->eq->system->parameter[parameter];
    for (int i = 0; !row->of->vector && ht_alternative(row->of->names, i, name, sizeof name); i++) {
        const struct ht_medium_given *given = ht_params_medium(source->params, name);
        if (!given || given->value.kind == HT_VALUE_NONE) continue;
        REFUSE(chosen, source->params, HT_KEY("medium.%s", name),
               "medium.%s is given too: give one of them", row->name);
        chosen = given;
        source->chosen[parameter] = i;
        name_row(row, name, name);
    }
    if (chosen == NULL) {
        /* The component of a vector; else the fallback, as the first alternative. */
        const char *vector = row->of->vector;
        const struct ht_medium_given *given =
            vector ? ht_params_medium(source->params, vector) : NULL;
        ht_alternative(row->of->names, 0, name, sizeof name);
        name_row(row, name, vector ? vector : name);
        row->single = given ? given->vector[row->of->axis] : row->of->fallback;
        row->number = &row->single;
        row->count = 1;
    } else if (chosen->value.kind == HT_VALUE_NUMBERS) {
        const int count = chosen->value.count, layers = source->layers;
        REFUSE(source->type == HT_MEDIUM_LAYERS && count != 1 && count != layers, source->params,
               row->key, "there are %d layers: give one number or %d", layers, layers);
        REFUSE(source->type != HT_MEDIUM_LAYERS && count != 1, source->params, row->key,
               "must be one number with medium.type = \"%s\"", HT_WORD(MEDIUM_TYPE, source->type));
        row->number = chosen->value.number;
        row->count = count;
    } else {
        TRY(row_text(medium, row, chosen));
    }
    for (int k = 0; k < medium->grid->dims; k++) {
        row->depends[k] = row_depends(source, row, k);
        source->depends[k] |= row->depends[k];
    }
    TRY(check_cover(medium, parameter));
    return row_check(source, row);
}

/* ht_params_read has checked that interfaces are given. */
static HT_ERR read_layers(const struct ht_medium *medium) {
    struct ht_medium_source *source = medium->source;
    const struct ht_params *params = source->params;
    const struct ht_grid *grid = medium->grid;
    const struct ht_value *at = &params->medium.interfaces;
    source->axis = (int)params->medium.axis;
    REFUSE(source->axis >= grid->dims, params, "medium.axis",
           "must be an axis of the grid, x1 to x%d", grid->dims);
    double low = ht_grid_end(grid, source->axis, 0), high = ht_grid_end(grid, source->axis, 1);
    for (int i = 0; i < at->count; i++) {
        double before = i > 0 ? at->number[i - 1] : low;
        REFUSE(!(at->number[i] > before && at->number[i] < high), params, "medium.interfaces",
               "must increase inside the box, between %g and %g along x%d", low, high,
               source->axis + 1);
    }
    source->interface = at->number;
    source->layers = at->count + 1;
    return HT_OK;
}

static HT_ERR read_type(const struct ht_medium *medium) {
    struct ht_medium_source *source = medium->source;
    const struct ht_params *params = source->params;
    const struct ht_system *system = medium->eq->system;
    source->type = params->medium.type;
    for (int m = 0; m < system->nmaterials; m++)
        REFUSE(source->type != HT_MEDIUM_CONSTANT && !system->material[m].varies, params,
               "medium.type",
               "the system \"%s\" needs a medium that does not vary: must be constant",
               system->name);
    if (source->type == HT_MEDIUM_LAYERS) return read_layers(medium);
    return HT_OK;
}

HT_ERR ht_medium_find_boxes(const struct ht_medium *medium, int k, bool depends,
                            struct ht_pool *pool, struct ht_medium_boxes *boxes) {
    enum { BOXES_PER_SPACING = 4 }; /* of expressions */
    const double tiny = 1e-9, lower = medium->grid->lower[k], upper = medium->grid->upper[k];
    const struct ht_medium_source *source = medium->source;
    const bool equal = depends && source->type == HT_MEDIUM_EXPRESSION;
    const bool file = source->lattice != NULL && depends;
    const struct ht_samples *samples = file ? source->lattice->samples : NULL;
    double first = 0;
    boxes->count = source->type == HT_MEDIUM_LAYERS && depends ? source->layers : 1;
    if (equal) boxes->count = medium->grid->cells[k] * BOXES_PER_SPACING;
    if (samples != NULL) {
        const double end = (double)samples->shape[k] - 1, spacing = samples->spacing[k];
        const double low = ht_grid_end(medium->grid, k, 0), high = ht_grid_end(medium->grid, k, 1);
        first = floor((low - samples->origin[k]) / spacing + 0.5 + tiny);
        double last = ceil((high - samples->origin[k]) / spacing - 0.5 - tiny);
        first = fmin(fmax(first, 0), end);
        last = fmin(fmax(last, first), end);
        boxes->base = (int64_t)first;
        boxes->count = (int64_t)(last - first) + 1;
    }
    TRY(HT_TAKE(pool, boxes->edge, boxes->count + 1));
    for (int64_t i = 1; i < boxes->count; i++)
        boxes->edge[i] = equal ? lower + (upper - lower) * ((double)i / (double)boxes->count)
                         : samples
                             ? samples->origin[k] + (first + (double)i - 0.5) * samples->spacing[k]
                             : source->interface[i - 1];
    boxes->edge[0] = lower;
    boxes->edge[boxes->count] = upper;
    return HT_OK;
}

void ht_medium_find_shown(const struct ht_medium *medium, const struct ht_average *rule, int count,
                          unsigned *shown) {
    const struct ht_jets points = {.dims = 1, .count = 2};
    const struct ht_system *system = medium->eq->system;
    double value[HT_MAX_MATERIALS][2], material[HT_MAX_MATERIALS][2];
    double result[2][HT_MAX_MATERIALS][2] = {{{0}}};
    const double *in[HT_MAX_MATERIALS];
    double *out[HT_MAX_MATERIALS], *to[HT_MAX_MATERIALS];
    for (int p = -1; p < system->nparameters; p++) {
        for (int i = 0; i < HT_MAX_MATERIALS; i++) {
            for (int j = 0; j < 2; j++) value[i][j] = 1.3 + 0.7 * i + 0.9 * j + (i == p ? 0.1 : 0);
            in[i] = value[i];
            to[i] = result[p >= 0][i];
            out[i] = rule != NULL ? material[i] : to[i];
        }
        system->materials(&points, medium->source->chosen, in, out);
        if (rule != NULL) rule->scalars(2, out, to);
        for (int r = 0; p >= 0 && r < count; r++)
            if (to[r][0] != result[0][r][0] || to[r][1] != result[0][r][1]) shown[r] |= 1u << p;
    }
}

/* Roughness that is known before nodes are scanned; the materials that have no polynomials then. */
static void look_at_rows(struct ht_medium *medium) {
    struct ht_medium_source *source = medium->source;
    const struct ht_system *system = medium->eq->system;
    unsigned varying = 0;
    HT_EACH_AT(p, const struct ht_medium_row, row, source->row, system->nparameters) {
        if (row->expr && !ht_expr_smooth(row->expr)) source->kinks = true;
        if ((row->samples && medium->degree == 0) || layers_differ(row)) medium->rough = true;
        if (row->depends[0] || row->depends[1] || row->depends[2]) varying |= 1u << p;
    }
    medium->rough = (medium->rough || source->kinks) && !medium->uniform;
    ht_medium_find_shown(medium, NULL, system->nmaterials, source->shown);
    for (int m = 0; m < medium->eq->nmaterials; m++)
        if ((source->shown[m] & varying) == 0) medium->constant_materials |= 1u << m;
}

/* Rows, type and dependence from the parameters. */
static HT_ERR read_source(const struct ht_params *params, const struct ht_equations *eq,
                          const struct ht_grid *grid, struct ht_medium *medium) {
    const struct ht_system *system = eq->system;
    medium->eq = eq;
    medium->grid = grid;
    TRY(HT_ALLOC(medium->source, 1));
    struct ht_medium_source *source = medium->source;
    source->params = params;
    TRY(read_type(medium));
    HT_EACH_AT(p, const struct ht_parameter, of, system->parameter, system->nparameters) {
        TRY(row_read(medium, p));
        if (of->zero && !of->loss && row_vanishes(&source->row[p], false)) medium->vanishes = true;
    }
    TRY(check_unused(medium));
    REFUSE(source->type == HT_MEDIUM_FILE && !source->lattice, source->params, "medium.type",
           "no parameter of the medium names a file");
    /* Parameters that are not 0 everywhere, as far as that is known without the nodes. */
    for (int l = 0; l < system->nlosses; l++)
        HT_EACH_AT(p, const struct ht_medium_row, row, source->row, system->nparameters) {
            if (!(system->loss[l].parameters >> p & 1u)) continue;
            if (row->samples == NULL && row_vanishes(row, true)) continue;
            medium->losses |= 1u << l;
            medium->loss_key = row->key;
        }
    medium->flat = source->depends[0] + source->depends[1] + source->depends[2] < 2;
    medium->uniform = !source->depends[0] && !source->depends[1] && !source->depends[2];
    return HT_OK;
}

HT_ERR ht_medium_read(const struct ht_params *params, const struct ht_equations *eq,
                      const struct ht_grid *grid, struct ht_medium **out) {
    HT_CREATE(out, read_source(params, eq, grid, *out), ht_medium_destroy);
}

HT_ERR ht_medium_scan(struct ht_medium *medium, bool sampled) {
    struct ht_medium_source *source = medium->source;
    const bool layers = source->type == HT_MEDIUM_LAYERS;
    const int degree = source->params->medium.degree, order = medium->grid->order;
    source->sampled = sampled;
    /* A medium of degree g leaves an error of order 2 floor(g/2) + 2, observed: N + 1 suffices for
     * 2N + 1 while N is odd or small; at N = 4 the order falls with degree 5 once errors are below
     * 1e-11 and holds with 6. */
    const int sufficient = order >= 4 && order % 2 == 0 ? order + 2 : order + 1;
    REFUSE(layers && degree > 0, source->params, "medium.degree",
           "layers are averaged over the cell of each node: must be 0 or left out");
    medium->degree = medium->uniform || layers ? 0 : degree < 0 ? sufficient : degree;
    TRY(ht_jets_make(medium->grid->dims, medium->degree, true, &source->jets));
    medium->coefs = source->jets->count;
    for (int k = 0; k < 3; k++)
        TRY(ht_medium_find_boxes(medium, k, source->depends[k], &source->pool, &source->boxes[k]));
    look_at_rows(medium);
    return ht_medium_visit(medium);
}

void ht_medium_destroy(struct ht_medium *medium) {
    struct ht_medium_source *source = medium ? medium->source : NULL;
    for (int p = 0; source && p < HT_MAX_MATERIALS; p++) {
        ht_expr_destroy(source->row[p].expr);
        ht_samples_destroy(source->row[p].samples);
    }
    if (source) ht_jets_destroy(source->jets);
    if (source) ht_pool_free(&source->pool);
    free(source);
    free(medium);
}

/* Lines of planes by threads; of axes on which nothing depends the first node. */
struct fill {
    const struct ht_medium *medium;
    enum ht_subgrid subgrid;
    int64_t nodes[3], count, first, visit[2];
    double *out; /* [(material * coefs + a) * count + node] */
};

static HT_ERR fill_lines(void *data, int64_t begin, int64_t end) {
    const struct fill *fill = data;
    const struct ht_medium *medium = fill->medium;
    HT_ENDED(ht_medium_work_destroy) struct ht_medium_work work;
    TRY(ht_medium_work_create(medium, medium->coefs, &work));
    for (int64_t i = begin * fill->visit[0]; i < end * fill->visit[0]; i++) {
        const int64_t line = i / fill->visit[0], plane = line / fill->visit[1];
        const int64_t index[3] = {i % fill->visit[0], line % fill->visit[1], fill->first + plane};
        double x[3],
            *out = fill->out + index[0] + (plane * fill->nodes[1] + index[1]) * fill->nodes[0];
        bool flat = false;
        for (int k = 0; k < 3; k++) x[k] = ht_grid_x(medium->grid, fill->subgrid, k, index[k]);
        TRY(ht_medium_node(medium, &work, x, &flat));
        for (int m = 0; m < medium->eq->nmaterials; m++)
            for (int a = 0; a < medium->coefs; a++, out += fill->count)
                *out = ht_medium_drops(medium, fill->subgrid, index, medium->source->jets->index[a])
                           ? 0
                           : work.material[m][a];
    }
    return HT_OK;
}

HT_ERR ht_medium_fill(const void *of, enum ht_subgrid subgrid, int64_t first, int64_t last,
                      double *out) {
    const struct ht_medium *medium = of;
    const bool *depends = medium->source->depends;
    const int64_t planes = depends[2] ? last - first : 1;
    struct fill fill = {.medium = medium, .subgrid = subgrid, .first = first, .out = out};
    for (int k = 0; k < 3; k++) fill.nodes[k] = ht_grid_nodes(medium->grid, subgrid, k);
    for (int k = 0; k < 2; k++) fill.visit[k] = depends[k] ? fill.nodes[k] : 1;
    fill.count = (last - first) * ht_grid_plane(medium->grid, subgrid);
    for (int64_t i = 0; medium->uniform && i < medium->eq->nmaterials * fill.count; i++)
        out[i] = medium->constant[i / fill.count];
    if (medium->uniform || first == last) return HT_OK;
    TRY(ht_threads_share(planes * fill.visit[1], LEAST_NODES / fill.visit[0], fill_lines, &fill));
    /* Nodes that are like those visited, of every material and power. */
    const int64_t n1 = fill.nodes[0], n2 = fill.nodes[1], rows = fill.count / n1;
    for (int64_t n = 0; n < (int64_t)medium->eq->nmaterials * medium->coefs * rows; n++) {
        const int64_t row = n % rows, from2 = ht_least(row % n2, fill.visit[1] - 1);
        const int64_t from = ht_least(row / n2, planes - 1) * n2 + from2;
        double *to = out + n * n1;
        if (row != from) memcpy(to, to + (from - row) * n1, (size_t)n1 * sizeof *to);
        for (int64_t i1 = fill.visit[0]; i1 < n1; i1++) to[i1] = to[0];
    }
    return HT_OK;
}

HT_ERR ht_medium_speed(const struct ht_medium *medium, const double x[3], double *speed) {
    double material[HT_MAX_MATERIALS];
    *speed = 0;
    TRY(ht_medium_point(medium, x, material));
    for (int k = 0; k < medium->grid->dims; k++)
        *speed = fmax(*speed, ht_equations_speed(medium->eq, material, k, false));
    return HT_OK;
}

bool ht_medium_decides(const struct ht_medium *medium, const struct ht_names *names, int material) {
    const struct ht_medium_source *source = medium->source;
    for (int i = 0; i < names->count; i++)
        for (int p = 0; p < medium->eq->system->nparameters; p++)
            if ((source->shown[material] >> p & 1u) &&
                strcmp(source->row[p].name, names->name[i]) == 0)
                return true;
    return false;
}

HT_ERR ht_medium_parameter(const struct ht_medium *medium, const char *name, const double x[3],
                           double *value) {
    const struct ht_system *system = medium->eq->system;
    double material[HT_MAX_MATERIALS];
    bool derived_speed = system->speed_name && strcmp(name, system->speed_name) == 0;
    for (int p = 0; p < system->nparameters; p++)
        if (strcmp(medium->source->row[p].name, name) == 0)
            return ht_medium_row_value(medium, p, 1, x, value);
    int m = 0;
    while (m < system->nmaterials && strcmp(system->material[m].name, name) != 0) m++;
    if (!derived_speed && m == system->nmaterials) {
        HT_FREED_TEXT struct ht_text names = {0};
        TRY(list_names(system, false, &names));
        FAIL(HT_ERR_INPUT, "\"%s\" is no parameter of the medium: must be among %s", name,
             names.data);
    }
    TRY(ht_medium_point(medium, x, material));
    *value = derived_speed ? ht_equations_speed(medium->eq, material, 0, false) : material[m];
    return HT_OK;
}
