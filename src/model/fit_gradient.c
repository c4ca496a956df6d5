/* Gradients by the parameters of a fitted medium; see the header. Gradients by coefficients go back
 * to the averages that frame.c makes them of, with n, and from these to the boxes (fit_average.c),
 * plane by plane for all coefficients of a parity.
 *
 * n, the eigenvector of the largest eigenvalue e_1 of J = sum of rows r r^T, changes by
 *     dn = sum over the other ones v_j, e_j of v_j (v_j dJ n)/(e_1 - e_j),
 * so that with g, the gradient by n, and w = sum of v_j (v_j g)/(e_1 - e_j) that by a row is
 *     (r n) w + (r w) n.
 * Where rows are rounding, or two eigenvalues are nearly equal, n has no derivative and is held. */
#include "fit_private.h"

struct ht_medium_gradient_data {
    const struct ht_medium *medium;
    struct ht_frame frame; /* with a box for each sample, whatever the values are now */
    bool whole;
    int64_t shape[3], size;           /* of the lattice: of the samples, or of boxes of layers */
    double *sum[HT_MAX_SCALARS];      /* on the lattice, of scalars in use; which become .. */
    double *wanted[HT_MAX_MATERIALS]; /* .. these, by the parameters */
    bool half[HT_MAX_MATERIALS];      /* a wanted one decides points half a spacing up */
    bool *held[3]; /* indices along an axis, of points at nodes or, from `size` on, half up */
    struct ht_samples *mask; /* NULL: none */
    struct ht_pool pool;
};
typedef struct ht_medium_gradient_data data_of;

/* ---- what is wanted ---- */

/* That decide a coefficient, some of them by n. */
static unsigned scalars_of(const data_of *data, int c) {
    const struct ht_frame *frame = &data->frame;
    const struct ht_average *rule = frame->fit.average;
    const unsigned uses = rule->uses[frame->field[frame->pair.coefficient[c].row]];
    return (uses & (uses - 1)) != 0 ? uses | rule->normal : uses;
}

static bool shows(const data_of *data, int c, int parameter) {
    bool shown = false;
    HT_EACH_BIT(q, scalars_of(data, c))
        shown = shown || (data->frame.fit.shown[q] >> parameter & 1u);
    return shown;
}

static HT_ERR find_parameter(const data_of *data, const char *name, const char *key,
                             int *parameter) {
    const struct ht_medium_source *source = data->medium->source;
    HT_FREED_TEXT struct ht_text names = {0};
    *parameter = -1;
    for (int p = 0; p < data->medium->eq->system->nparameters; p++) {
        bool shown = false;
        for (int c = 0; c < data->frame.coefficients; c++) shown = shown || shows(data, c, p);
        if (!shown || source->row[p].of->loss) continue;
        ht_text_add(&names, "%s\"%s\"", names.length ? ", " : "", source->row[p].name);
        if (strcmp(source->row[p].name, name) == 0) *parameter = p;
    }
    TRY(ht_text_status(&names));
    REFUSE(*parameter < 0, source->params, key,
           "\"%s\" is no parameter of this medium: must be among %s", name, names.data);
    return HT_OK;
}

static HT_ERR add_wanted(struct ht_medium_gradient *g, const char *name, const char *key) {
    data_of *data = g->data;
    const struct ht_medium *medium = data->medium;
    const struct ht_medium_source *source = medium->source;
    struct ht_medium_wanted *wanted = &g->wanted[g->count];
    TRY(find_parameter(data, name, key, &wanted->parameter));
    const struct ht_medium_row *row = &source->row[wanted->parameter];
    for (int w = 0; w < g->count; w++)
        REFUSE(g->wanted[w].parameter == wanted->parameter, source->params, key,
               "\"%s\" appears twice", name);
    wanted->key = row->key;
    wanted->name = row->name;
    for (int k = 0; k < 3; k++) {
        const bool along = source->type == HT_MEDIUM_LAYERS && k == source->axis;
        wanted->shape[k] = row->samples ? row->samples->shape[k] : along ? row->count : 1;
        wanted->origin[k] =
            row->samples ? row->samples->origin[k] : ht_grid_end(medium->grid, k, 0);
        wanted->spacing[k] = row->samples ? row->samples->spacing[k] : 1;
    }
    wanted->samples = wanted->shape[0] * wanted->shape[1] * wanted->shape[2];
    for (int c = 0; c < data->frame.coefficients; c++) {
        if (!shows(data, c, wanted->parameter)) continue;
        g->coefficients |= 1u << c;
        data->half[g->count] = data->half[g->count] || data->frame.pair.coefficient[c].parity > 0;
    }
    g->count++;
    return HT_OK;
}

static HT_ERR check(const struct ht_medium *medium, const struct ht_pair *pair,
                    enum ht_fit_kind kind, const char *key) {
    const struct ht_medium_source *source = medium->source;
    const struct ht_system *system = medium->eq->system;
    REFUSE(system->average.coefficient_back == NULL ||
               (pair == NULL && !medium->eq->second_order.known),
           source->params, key,
           "the system \"%s\" has no gradients by its medium: must be "
           "\"acoustic\" or \"wave\"",
           system->name);
    REFUSE(
        source->type == HT_MEDIUM_EXPRESSION, source->params, "medium.type",
        "gradients are by numbers, by those of layers or by samples of a file: must be constant, "
        "layers or file");
    REFUSE(kind == HT_FIT_POINT, source->params, "medium.fit",
           "gradients go through averages: must be \"sinc\" or \"box\"");
    REFUSE(medium->losses != 0, source->params, medium->loss_key,
           "gradients are of media that lose nothing: must be 0");
    return HT_OK;
}

/* ---- axes ---- */

static HT_ERR make_axes(data_of *data, const struct ht_pair *pair, enum ht_fit_kind kind) {
    const struct ht_medium *medium = data->medium;
    const struct ht_medium_source *source = medium->source;
    struct ht_medium_boxes boxes[3] = {{0}};
    for (int k = 0; k < 3; k++) {
        const bool layers = source->type == HT_MEDIUM_LAYERS && k == source->axis;
        TRY(ht_medium_find_boxes(medium, k, layers || source->lattice != NULL, &data->pool,
                                 &boxes[k]));
        data->shape[k] = source->lattice ? source->lattice->samples->shape[k] : boxes[k].count;
    }
    data->size = data->shape[0] * data->shape[1] * data->shape[2];
    TRY(ht_frame_make(&data->frame, medium, pair, kind, boxes));
    struct ht_fit now = data->frame.fit; /* as it is without a gradient */
    now.pool = (struct ht_pool){0};
    const enum ht_err err = medium->uniform ? HT_OK : ht_fit_make_axes(&now, source->boxes);
    ht_pool_free(&now.pool);
    TRY(err);
    REFUSE(
        now.split || data->frame.fit.split, source->params, "medium.fit",
        "the medium is split at a jump of the impedance, which has no gradient: must be \"box\"");
    return HT_OK;
}

/* Of samples that points of an inner face or of a layer depend on, along an axis, half: points half
 * a spacing up along it. */
static void find_held(const data_of *data, int k, bool half, bool *held) {
    const struct ht_grid *grid = data->medium->grid;
    const struct ht_fit_axis *axis = &data->frame.fit.axis[k];
    const double touch = 1e-9, window = data->frame.fit.kind == HT_FIT_SINC ? HT_FIT_REACH + 1
                                        : half                              ? 1
                                                                            : 0.5;
    const double reach = (window + 0.5 * half - touch) * axis->h;
    for (int side = 0; k < grid->dims && side < 2; side++) {
        const double face = ht_layers_end(grid, k, side);
        for (int64_t i = 0; grid->layer[k][side] > 0 && i < axis->boxes; i++)
            held[axis->base + i] |=
                side == 0 ? axis->edge[i] < face + reach : axis->edge[i + 1] > face - reach;
    }
}

static bool is_held(const data_of *data, int wanted, int64_t at) {
    const int64_t n1 = data->shape[0], n2 = data->shape[1];
    const int64_t i[3] = {at % n1, at / n1 % n2, at / n1 / n2};
    bool held = false;
    for (int k = 0; k < 3; k++)
        held = held || data->held[k][data->half[wanted] * data->shape[k] + i[k]];
    return held;
}

static HT_ERR make_data(struct ht_medium_gradient *g) {
    data_of *data = g->data;
    unsigned scalars = 0;
    int used = 0;
    HT_EACH_BIT(c, g->coefficients) scalars |= scalars_of(data, c);
    HT_EACH_BIT(q, scalars) {
        TRY(HT_TAKE(&data->pool, data->sum[q], data->size));
        data->wanted[used++] = data->sum[q];
    }
    for (; used < g->count; used++) TRY(HT_TAKE(&data->pool, data->wanted[used], data->size));
    HT_EACH_AT(w, struct ht_medium_wanted, wanted, g->wanted, g->count) {
        wanted->value = data->wanted[w];
        if (wanted->samples != data->size)
            TRY(HT_TAKE(&data->pool, wanted->value, wanted->samples));
    }
    for (int k = 0; k < 3; k++) {
        TRY(HT_TAKE(&data->pool, data->held[k], 2 * data->shape[k]));
        for (int half = 0; half < 2 && !data->whole; half++)
            find_held(data, k, half, data->held[k] + half * data->shape[k]);
    }
    /* A number is held where any part of the medium that has it is. */
    HT_EACH_AT(w, struct ht_medium_wanted, wanted, g->wanted, g->count) {
        for (int64_t at = 0; at < data->size; at++) wanted->held += is_held(data, w, at);
        wanted->held = ht_least(wanted->held, wanted->samples);
        REFUSE(wanted->held == wanted->samples, data->medium->source->params, wanted->key,
               "all of it reaches absorbing sides, where it is held: gradients need samples along "
               "the axes of these sides, away from them");
    }
    return HT_OK;
}

/* ---- samples ---- */

/* By the scalars -> by the parameters, through the materials. */
struct chain {
    struct ht_medium_gradient *gradient;
    struct ht_jets *slope;
    double value[HT_MAX_MATERIALS][2], material[HT_MAX_MATERIALS][2];
};

/* The materials and their derivatives by a parameter that changes at such a rate; 0: by none. */
static void find_materials(struct chain *chain, int parameter, double rate) {
    const struct ht_medium *medium = chain->gradient->data->medium;
    const double *in[HT_MAX_MATERIALS];
    double *out[HT_MAX_MATERIALS];
    for (int i = 0; i < HT_MAX_MATERIALS; i++) in[i] = chain->value[i], out[i] = chain->material[i];
    chain->value[parameter][1] = rate;
    medium->eq->system->materials(chain->slope, medium->source->chosen, in, out);
    chain->value[parameter][1] = 0;
}

static bool is_density(const struct ht_medium *medium, int parameter) {
    const int material = medium->eq->second_order.inverse_density;
    return material >= 0 && (medium->source->shown[material] >> parameter & 1u);
}

static HT_ERR chain_samples(void *context, int64_t begin, int64_t end) {
    struct chain own = *(const struct chain *)context, *chain = &own;
    const struct ht_medium_gradient *g = own.gradient;
    const data_of *data = g->data;
    const struct ht_medium *medium = data->medium;
    const struct ht_medium_source *source = medium->source;
    for (int64_t at = begin; at < end; at++) {
        double by[HT_MAX_SCALARS] = {0}, material[HT_MAX_MATERIALS], by_material[HT_MAX_MATERIALS];
        for (int q = 0; q < HT_MAX_SCALARS; q++) by[q] = data->sum[q] ? data->sum[q][at] : 0;
        HT_EACH_AT(p, const struct ht_medium_row, row, source->row, medium->eq->system->nparameters)
            chain->value[p][0] =
                row->samples ? row->samples->value[at] : row->number[row->count > 1 ? at : 0];
        find_materials(chain, 0, 0);
        for (int m = 0; m < medium->eq->nmaterials; m++) material[m] = chain->material[m][0];
        medium->eq->system->average.scalars_back(material, by, by_material);
        for (int w = 0; w < g->count; w++) {
            const int p = g->wanted[w].parameter;
            const bool fluid =
                source->row[p].of->zero && !(chain->value[p][0] > 0); /* it stays one */
            double sum = 0;
            find_materials(chain, p,
                           source->row[p].samples != NULL ? source->params->medium.scale : 1);
            for (int m = 0; m < medium->eq->nmaterials; m++)
                sum += by_material[m] * chain->material[m][1];
            if (g->at_places != NULL && is_density(medium, p)) sum += g->at_places[at];
            data->wanted[w][at] = fluid || is_held(data, w, at) ? 0 : sum;
        }
    }
    return HT_OK;
}

static HT_ERR chain_all(struct ht_medium_gradient *g) {
    struct chain chain = {.gradient = g};
    TRY(ht_jets_make(1, 1, true, &chain.slope));
    const enum ht_err err = ht_threads_share(g->data->size, 1 << 12, chain_samples, &chain);
    ht_jets_destroy(chain.slope);
    return err;
}

/* From the lattice to a number, if it is one. */
static void reduce(const data_of *data, const struct ht_medium_wanted *wanted, const double *from,
                   double *to) {
    if (wanted->samples == data->size && from == to) return;
    memset(to, 0, (size_t)wanted->samples * sizeof *to);
    for (int64_t at = 0; at < data->size; at++) to[wanted->samples > 1 ? at : 0] += from[at];
}

/* ---- planes of nodes ---- */

/* Of the coefficients of a parity, of all ranks. */
struct pull {
    const struct ht_medium_gradient *gradient;
    ht_medium_gradient_read *read;
    void *data;
    int count, coefficient[HT_MAX_TERMS];
    struct ht_frame_means means;
    struct ht_range *own;           /* of each rank */
    int64_t next;                   /* plane */
    double *plane, *more;           /* [coefficient]; one */
    const struct ht_fit_done *done; /* of the plane that is turned */
    double *const *to;
};
enum { TAG = 64 }; /* no other's */

/* Plane m of a coefficient, by rank 0. */
static HT_ERR pull_plane(const struct pull *pull, int coefficient, int64_t m, double *out) {
    const struct ht_grid *grid = pull->gradient->data->medium->grid;
    int rank = 0;
    while (m >= pull->own[rank].last) rank++;
    if (rank == 0) return pull->read(pull->data, coefficient, m, m + 1, out);
    return ht_message_pass(grid->slab.comm, rank, TAG, false, out,
                           ht_grid_plane(grid, HT_PRIMARY) * (int64_t)sizeof *out);
}

/* The planes of another rank. */
static HT_ERR push_planes(struct pull *pull) {
    const struct ht_grid *grid = pull->gradient->data->medium->grid;
    const struct ht_range own = ht_grid_own(grid, HT_PRIMARY);
    for (int64_t i = 0; i < (own.last - own.first) * pull->count; i++) {
        const int64_t m = own.first + i / pull->count;
        TRY(pull->read(pull->data, pull->coefficient[i % pull->count], m, m + 1, pull->plane));
        TRY(ht_message_pass(grid->slab.comm, 0, TAG, true, pull->plane,
                            ht_grid_plane(grid, HT_PRIMARY) * (int64_t)sizeof *pull->plane));
    }
    return HT_OK;
}

/* Points in layers have the medium of the nearest one outside, which gets their gradients. */
static void leave_layers(const struct pull *pull, double *plane) {
    const struct ht_grid *grid = pull->gradient->data->medium->grid;
    const int64_t n1 = ht_grid_nodes(grid, HT_PRIMARY, 0);
    for (int64_t n = 0; n < ht_grid_plane(grid, HT_PRIMARY); n++) {
        const int64_t m1 = ht_layers_inside(grid, 0, pull->means.parity & 1u, n % n1);
        const int64_t m2 = ht_layers_inside(grid, 1, pull->means.parity >> 1 & 1u, n / n1);
        if (m2 * n1 + m1 == n) continue;
        if (pull->gradient->data->whole) plane[m2 * n1 + m1] += plane[n];
        plane[n] = 0;
    }
}

static HT_ERR pull_inside(struct pull *pull, int64_t m) {
    const struct ht_grid *grid = pull->gradient->data->medium->grid;
    const int64_t size = ht_grid_plane(grid, HT_PRIMARY), planes = ht_grid_planes(grid, HT_PRIMARY);
    const bool half = pull->means.parity >> 2 & 1u;
    memset(pull->plane, 0, (size_t)(pull->count * size) * sizeof *pull->plane);
    for (; pull->next < planes && ht_layers_inside(grid, 2, half, pull->next) <= m; pull->next++) {
        const bool counts = pull->gradient->data->whole || pull->next == m;
        for (int c = 0; c < pull->count; c++) {
            TRY(pull_plane(pull, pull->coefficient[c], pull->next, pull->more));
            for (int64_t i = 0; i < size && counts; i++) pull->plane[c * size + i] += pull->more[i];
        }
    }
    for (int c = 0; c < pull->count && ht_layers_any(grid); c++)
        leave_layers(pull, pull->plane + c * size);
    return HT_OK;
}

/* ---- coefficients ---- */

/* w, by rows and the gradient by n; false: n has no derivative. */
static bool find_weights(const struct ht_frame_point *point, double h, const double by_n[3],
                         double w[3]) {
    const double none = 1e-8; /* of a mean, over a spacing: such slopes are rounding */
    double J[3][3], V[3][3];
    const int most = ht_frame_axes(point, J, V);
    const double largest = J[most][most];
    bool known = sqrt(largest) * h > none;
    for (int k = 0; k < 3; k++) w[k] = 0;
    for (int j = 0; j < 3; j++) {
        const double apart = largest - J[j][j],
                     part = V[0][j] * by_n[0] + V[1][j] * by_n[1] + V[2][j] * by_n[2];
        if (j == most) continue;
        known = known && apart > none * largest;
        for (int k = 0; k < 3; k++) w[k] += V[k][j] * part / apart;
    }
    return known;
}

static void turn_normal(const struct pull *pull, int64_t i, const struct ht_frame_point *point,
                        const double by_n[3]) {
    const struct ht_fit *fit = &pull->gradient->data->frame.fit;
    double w[3];
    if (!find_weights(point, fit->axis[0].h, by_n, w)) return;
    for (int r = 0; r < point->rows; r++) {
        const double *row = point->row[r], *n = point->face.n;
        const int q = point->scalar[r], whole = pull->means.whole[q];
        const double mean = pull->done[whole].value[i];
        const double along = row[0] * n[0] + row[1] * n[1] + row[2] * n[2];
        const double across = row[0] * w[0] + row[1] * w[1] + row[2] * w[2];
        for (int k = 0; k < 3; k++) {
            const double by_row = along * w[k] + across * n[k];
            pull->to[whole][i] -= by_row * row[k] / mean;
            if (pull->means.slope[q][k] >= 0)
                pull->to[pull->means.slope[q][k]][i] = by_row / (mean * fit->axis[k].h);
        }
    }
}

static HT_ERR turn_points(void *data, int64_t begin, int64_t end) {
    const struct pull *pull = data;
    const struct ht_frame *frame = &pull->gradient->data->frame;
    const struct ht_grid *grid = pull->gradient->data->medium->grid;
    const int64_t size = ht_grid_plane(grid, HT_PRIMARY), n1 = ht_grid_nodes(grid, HT_PRIMARY, 0);
    for (int64_t n = begin; n < end; n++) {
        const int64_t i = n / n1 * pull->done->row + n % n1;
        struct ht_face by_face = {0};
        struct ht_frame_point point;
        ht_frame_at(frame, &pull->means, pull->done, i, &point);
        for (int c = 0; c < pull->count; c++) {
            const struct ht_pair_coefficient *of = &frame->pair.coefficient[pull->coefficient[c]];
            const double by = pull->plane[c * size + n];
            if (frame->second_order && pull->coefficient[c] == 0) /* 1/K is the mean */
                by_face.mean[ht_fit_scalar(&frame->fit, of->row)] += by;
            else
                frame->fit.average->coefficient_back(&point.face, frame->field[of->row],
                                                     frame->field[of->col], by, &by_face);
        }
        for (int c = 0; c < pull->means.nchannels; c++) pull->to[c][i] = 0;
        for (int q = 0; q < frame->fit.average->nscalars; q++)
            if (point.from[q] >= 0) pull->to[point.from[q]][i] += by_face.mean[q];
        if (point.rows > 0) turn_normal(pull, i, &point, by_face.n);
    }
    return HT_OK;
}

static HT_ERR turn_plane(struct ht_fit_job *job, const struct ht_fit_done *done,
                         double *const *to) {
    struct pull *pull = job->data;
    const struct ht_grid *grid = pull->gradient->data->medium->grid;
    const int64_t size = ht_grid_plane(grid, HT_PRIMARY), n1 = ht_grid_nodes(grid, HT_PRIMARY, 0);
    TRY(pull_inside(pull, job->at3));
    pull->done = done;
    pull->to = to;
    for (int64_t i = 0; i < size && !pull->means.turned; i++) /* to the samples as they are */
        to[0][i / n1 * done->row + i % n1] = pull->plane[i];
    return !pull->means.turned ? HT_OK : ht_threads_share(size, 1 << 12, turn_points, pull);
}

/* ---- all ---- */

/* Rank 0 turns, others hand over their planes. */
static HT_ERR turn_all(struct pull *pull, struct ht_fit_job *turn) {
    const data_of *data = pull->gradient->data;
    const struct ht_grid *grid = data->medium->grid;
    const int64_t size = ht_grid_plane(grid, HT_PRIMARY);
    const bool half = pull->means.parity >> 2 & 1u;
    HT_ARRAY(double, planes, (pull->count + 1) * size);
    pull->more = planes;
    pull->plane = planes + size;
    if (ht_comm_rank(grid->slab.comm) > 0) return push_planes(pull);
    turn->fit = &data->frame.fit;
    turn->shift = pull->means.parity;
    turn->nchannels = pull->means.nchannels;
    turn->channel = pull->means.channel;
    turn->emit = turn_plane;
    turn->first[2] = ht_layers_inside(grid, 2, half, 0);
    turn->last[2] = ht_layers_inside(grid, 2, half, ht_grid_planes(grid, HT_PRIMARY) - 1) + 1;
    turn->shape = data->shape;
    return ht_fit_average(turn);
}

/* Collective. */
static HT_ERR turn_parity(struct pull *pull, struct ht_fit_job *turn) {
    const struct ht_grid *grid = pull->gradient->data->medium->grid;
    const struct ht_range own = ht_grid_own(grid, HT_PRIMARY);
    HT_ARRAY(struct ht_range, all, ht_comm_size(grid->slab.comm));
    TRY(ht_comm_gather(grid->slab.comm, &own, sizeof own, all));
    pull->own = all;
    return ht_comm_agree(grid->slab.comm, turn_all(pull, turn));
}

HT_ERR ht_medium_gradient_find(struct ht_medium_gradient *g, ht_medium_gradient_read *read,
                               void *context) {
    const data_of *data = g->data;
    struct ht_comm *comm = data->medium->grid->slab.comm;
    for (int q = 0; q < HT_MAX_SCALARS; q++)
        if (data->sum[q]) memset(data->sum[q], 0, (size_t)data->size * sizeof *data->sum[q]);
    for (unsigned parity = 0; parity < 8; parity++) {
        struct pull pull = {.gradient = g, .read = read, .data = context};
        struct ht_fit_job turn = {.data = &pull};
        pull.means = (struct ht_frame_means){.parity = parity, .turned = true};
        HT_EACH_BIT(c, g->coefficients) {
            if (data->frame.pair.coefficient[c].parity != parity) continue;
            pull.means.wanted[c] = true;
            pull.coefficient[pull.count++] = c;
        }
        if (pull.count == 0) continue;
        ht_frame_find_means(&data->frame, &pull.means);
        memcpy(turn.sum, data->sum, sizeof turn.sum);
        TRY(turn_parity(&pull, &turn));
    }
    TRY(HT_BY_FIRST(comm, chain_all(g)));
    HT_EACH_AT(w, struct ht_medium_wanted, wanted, g->wanted, g->count) {
        reduce(data, wanted, data->wanted[w], wanted->value);
        for (int64_t i = 0; i < wanted->samples && data->mask; i++)
            wanted->value[i] *= data->mask->value[i];
        TRY(ht_comm_broadcast(comm, wanted->value, (size_t)wanted->samples * sizeof(double)));
    }
    return HT_OK;
}

HT_ERR ht_medium_gradient_share(const struct ht_medium_gradient *g, int wanted, int coefficient,
                                ht_medium_gradient_read *read, void *context, double *out) {
    const data_of *data = g->data;
    const struct ht_medium_wanted *of = &g->wanted[wanted];
    struct pull pull = {.gradient = g, .read = read, .data = context, .count = 1};
    struct ht_fit_job turn = {.data = &pull};
    pull.coefficient[0] = coefficient;
    HT_ARRAY(double, sum, data->size);
    pull.means.nchannels = 1;
    for (int k = 0; k < 3; k++) pull.means.channel[0].window[k] = HT_FIT_BY_BOX;
    turn.sum[0] = sum;
    TRY(turn_parity(&pull, &turn));
    reduce(data, of, sum, out);
    return ht_comm_broadcast(data->medium->grid->slab.comm, out, (size_t)of->samples * sizeof *out);
}

void ht_medium_gradient_spread(const struct ht_medium_gradient *g, const double x[3], double by,
                               double *out) {
    const struct ht_medium *medium = g->data->medium;
    const struct ht_medium_source *source = medium->source;
    HT_EACH_BY(w, const struct ht_medium_row, row, &source->row[g->wanted[w].parameter], g->count) {
        if (!is_density(medium, g->wanted[w].parameter)) continue;
        if (row->samples != NULL)
            ht_samples_spread(row->samples, medium->grid->dims, x,
                              by * source->params->medium.scale, out);
        else
            out[ht_medium_layer(source, x)] += by;
    }
}

/* ---- the object ---- */

static HT_ERR make(struct ht_medium_gradient *g, const struct ht_medium *medium,
                   const struct ht_pair *pair, enum ht_fit_kind kind, const struct ht_names *names,
                   const char *key, bool whole) {
    const bool any = kind == HT_FIT_AUTO || medium->source->type == HT_MEDIUM_CONSTANT;
    TRY(HT_ALLOC(g->data, 1));
    data_of *data = g->data;
    REFUSE(names->count == 0 || names->count > HT_MAX_MATERIALS, medium->source->params, key,
           "must name parameters of the medium, one or more");
    if (any) kind = HT_FIT_SINC;
    data->medium = medium;
    data->whole = whole;
    TRY(check(medium, pair, kind, key));
    TRY(make_axes(data, pair, kind));
    g->places = data->size;
    for (int i = 0; i < names->count; i++) TRY(add_wanted(g, names->name[i], key));
    return make_data(g);
}

HT_ERR ht_medium_gradient_create(const struct ht_medium *medium, const struct ht_pair *pair,
                                 enum ht_fit_kind kind, const struct ht_names *names,
                                 const char *key, bool whole, struct ht_medium_gradient **out) {
    HT_CREATE(out, make(*out, medium, pair, kind, names, key, whole), ht_medium_gradient_destroy);
}

void ht_medium_gradient_destroy(struct ht_medium_gradient *g) {
    if (g == NULL) return;
    if (g->data != NULL) {
        ht_samples_destroy(g->data->mask);
        ht_pool_free(&g->data->frame.fit.pool);
        ht_pool_free(&g->data->pool);
    }
    free(g->data);
    free(g);
}

HT_ERR ht_medium_gradient_mask(struct ht_medium_gradient *g, const char *path, const char *dataset,
                               const char *key) {
    data_of *data = g->data;
    const struct ht_params *params = data->medium->source->params;
    if (*dataset == '\0') dataset = *params->medium.dataset ? params->medium.dataset : "mask";
    ht_samples_destroy(data->mask);
    data->mask = NULL;
    TRY(ht_params_blame(params, key, ht_samples_read(params, path, dataset, NULL, &data->mask)));
    for (int w = 0; w < g->count; w++)
        REFUSE(memcmp(data->mask->shape, g->wanted[w].shape, sizeof data->mask->shape) != 0, params,
               key, "the file has %s samples, %s has %s: must be the same",
               HT_EXTENTS(3, data->mask->shape), g->wanted[w].key,
               HT_EXTENTS(3, g->wanted[w].shape));
    for (int64_t i = 0; i < g->wanted[0].samples; i++) data->mask->value[i] /= params->medium.scale;
    return HT_OK;
}
