/* Gradients by the parameters of a fitted medium; see the header. The averages that coefficients
 * are made of (frame.c), of the form of second order:
 *     1/K = C,     b_k = a/R + (1 - a) I,     a = n_k^2,     n = s/|s|,
 * where C, R and I are the means of 1/K, rho and 1/rho, and s the slope of the mean of rho. */
#include "fit_private.h"

struct ht_medium_gradient_data {
    const struct ht_medium *medium;
    struct ht_fit fit;
    bool whole;
    int64_t shape[3], size;  /* of the lattice: of the samples, or of boxes of layers */
    int quantity[3];         /* of C, R and I; -1: there is none */
    bool turns;              /* n is not the same everywhere */
    int along;               /* else: the axis of n */
    double *sum[3];          /* on the lattice, of quantities in use; which become .. */
    double *wanted[3];       /* .. these, by the parameters */
    bool *held[3];           /* indices along an axis, of 1/K or, from `size` on, of b_k */
    struct ht_samples *mask; /* NULL: none */
    struct ht_pool pool;
};
typedef struct ht_medium_gradient_data data_of;

enum { C, R, I };

/* ---- what is wanted ---- */

static enum ht_err find_parameter(const struct ht_medium *medium, const char *name, const char *key,
                                  int *parameter) {
    const struct ht_medium_source *source = medium->source;
    const struct ht_second_order *form = &medium->eq->second_order;
    const unsigned shown = source->shown[form->modulus] |
                           (form->inverse_density >= 0 ? source->shown[form->inverse_density] : 0);
    HT_FREED_TEXT struct ht_text names = {0};
    *parameter = -1;
    for (int p = 0; p < medium->eq->system->nparameters; p++) {
        if (!(shown >> p & 1u) || source->row[p].of->loss) continue;
        ht_text_add(&names, "%s\"%s\"", names.length ? ", " : "", source->row[p].name);
        if (strcmp(source->row[p].name, name) == 0) *parameter = p;
    }
    TRY(ht_text_status(&names));
    REFUSE(*parameter < 0, source->params, key,
           "\"%s\" is no parameter of this medium: must be among %s", name, names.data);
    return HT_OK;
}

static bool density_shows(const struct ht_medium *medium, int parameter) {
    const int m = medium->eq->second_order.inverse_density;
    return m >= 0 && (medium->source->shown[m] >> parameter & 1u);
}

static enum ht_err add_wanted(struct ht_medium_gradient *g, const char *name, const char *key) {
    const data_of *data = g->data;
    const struct ht_medium *medium = data->medium;
    const struct ht_medium_source *source = medium->source;
    struct ht_medium_wanted *wanted = &g->wanted[g->count];
    TRY(find_parameter(medium, name, key, &wanted->parameter));
    const struct ht_medium_row *row = &source->row[wanted->parameter];
    for (int w = 0; w < g->count; w++)
        REFUSE(g->wanted[w].parameter == wanted->parameter, source->params, key,
               "\"%s\" appears twice", name);
    wanted->key = row->key;
    wanted->name = row->name;
    for (int k = 0; k < 3; k++) {
        const bool along = source->type == HT_MEDIUM_LAYERS && k == source->axis;
        wanted->shape[k] = row->samples ? row->samples->shape[k] : along ? row->count : 1;
        wanted->origin[k] = row->samples ? row->samples->origin[k] : medium->grid->lower[k];
        wanted->spacing[k] = row->samples ? row->samples->spacing[k] : 1;
    }
    wanted->samples = wanted->shape[0] * wanted->shape[1] * wanted->shape[2];
    if (source->shown[medium->eq->second_order.modulus] >> wanted->parameter & 1u)
        g->coefficients |= 1;
    if (density_shows(medium, wanted->parameter))
        g->coefficients |= ((1u << medium->grid->dims) - 1) << 1;
    g->count++;
    return HT_OK;
}

static enum ht_err check(const struct ht_medium *medium, enum ht_fit_kind kind, const char *key) {
    const struct ht_medium_source *source = medium->source;
    const struct ht_system *system = medium->eq->system;
    const struct ht_second_order *form = &medium->eq->second_order;
    REFUSE(!form->known || system->average.nscalars == 0 ||
               (form->inverse_density >= 0 && system->average.nscalars != 3),
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

/* As those of the frame, but every sample has a box, whatever the values are now. */
static enum ht_err make_axes(data_of *data) {
    const struct ht_medium *medium = data->medium;
    const struct ht_medium_source *source = medium->source;
    struct ht_fit now = data->fit; /* as it is without a gradient */
    struct ht_medium_boxes boxes[3] = {{0}};
    enum ht_err err = medium->uniform ? HT_OK : ht_fit_make_axes(&now, source->boxes);
    ht_pool_free(&now.pool);
    TRY(err);
    for (int k = 0; k < 3; k++) {
        const bool layers = source->type == HT_MEDIUM_LAYERS && k == source->axis;
        TRY(ht_medium_find_boxes(medium, k, layers || source->lattice != NULL, &data->pool,
                                 &boxes[k]));
        data->shape[k] = source->lattice ? source->lattice->samples->shape[k] : boxes[k].count;
    }
    data->size = data->shape[0] * data->shape[1] * data->shape[2];
    TRY(ht_fit_make_axes(&data->fit, boxes));
    REFUSE(
        now.split || data->fit.split, source->params, "medium.fit",
        "the medium is split at a jump of the impedance, which has no gradient: must be \"box\"");
    return HT_OK;
}

/* Of samples that points of an inner face or of a layer depend on, along an axis, half: points half
 * a spacing up along it. */
static void find_held(const data_of *data, int k, bool half, bool *held) {
    const struct ht_grid *grid = data->medium->grid;
    const struct ht_fit_axis *axis = &data->fit.axis[k];
    const double touch = 1e-9, window = data->fit.kind == HT_FIT_SINC ? HT_FIT_REACH + 1
                                        : half                        ? 1
                                                                      : 0.5;
    const double reach = (window + 0.5 * half - touch) * axis->h;
    for (int side = 0; k < grid->dims && side < 2; side++) {
        const double face = ht_layers_end(grid, k, side);
        for (int64_t i = 0; grid->layer[k][side] > 0 && i < axis->boxes; i++)
            held[axis->base + i] |=
                side == 0 ? axis->edge[i] < face + reach : axis->edge[i + 1] > face - reach;
    }
}

static bool is_held(const data_of *data, const struct ht_medium_wanted *wanted, int64_t at) {
    const int64_t n1 = data->shape[0], n2 = data->shape[1];
    const int64_t i[3] = {at % n1, at / n1 % n2, at / n1 / n2};
    const bool half = density_shows(data->medium, wanted->parameter);
    bool held = false;
    for (int k = 0; k < 3; k++) held = held || data->held[k][half * data->shape[k] + i[k]];
    return held;
}

/* A number is held where any part of the medium that has it is. */
static enum ht_err count_held(struct ht_medium_gradient *g) {
    const data_of *data = g->data;
    for (int w = 0; w < g->count; w++) {
        struct ht_medium_wanted *wanted = &g->wanted[w];
        for (int64_t at = 0; at < data->size; at++) wanted->held += is_held(data, wanted, at);
        wanted->held = ht_least(wanted->held, wanted->samples);
        REFUSE(wanted->held == wanted->samples, data->medium->source->params, wanted->key,
               "all of it reaches absorbing sides, where it is held: gradients need samples along "
               "the axes of these sides, away from them");
    }
    return HT_OK;
}

static enum ht_err make_data(struct ht_medium_gradient *g) {
    data_of *data = g->data;
    const struct ht_medium *medium = data->medium;
    const struct ht_second_order *form = &medium->eq->second_order;
    const bool *depends = medium->source->depends;
    int used = 0;
    for (int q = C; q <= I; q++) data->quantity[q] = -1;
    if (g->coefficients & 1u) data->quantity[C] = ht_fit_scalar(&data->fit, form->field);
    if (g->coefficients & ~1u) {
        data->quantity[R] = ht_fit_scalar(&data->fit, form->flux[0]);
        data->quantity[I] = data->quantity[R] + 1;
    }
    for (int q = C; q <= I; q++)
        if (data->quantity[q] >= 0) {
            TRY(HT_TAKE(&data->pool, data->sum[q], data->size));
            data->wanted[used++] = data->sum[q];
        }
    while (data->along < 2 && !depends[data->along]) data->along++;
    for (int p = 0; p < medium->eq->system->nparameters; p++)
        data->turns |= density_shows(medium, p) && ht_medium_row_varies(medium, p) &&
                       depends[0] + depends[1] + depends[2] > 1;
    for (int w = 0; w < g->count; w++) {
        struct ht_medium_wanted *wanted = &g->wanted[w];
        wanted->value = data->wanted[w];
        if (wanted->samples != data->size)
            TRY(HT_TAKE(&data->pool, wanted->value, wanted->samples));
    }
    for (int k = 0; k < 3; k++) {
        TRY(HT_TAKE(&data->pool, data->held[k], 2 * data->shape[k]));
        for (int half = 0; half < 2 && !data->whole; half++)
            find_held(data, k, half, data->held[k] + half * data->shape[k]);
    }
    return count_held(g);
}

/* ---- samples ---- */

/* By the quantities -> by the parameters, through the materials: C = 1/K, R = rho, I = 1/rho. */
struct chain {
    struct ht_medium_gradient *gradient;
    struct ht_jets *slope;
};
static enum ht_err chain_samples(void *context, int64_t begin, int64_t end) {
    const struct chain *chain = context;
    const struct ht_medium_gradient *g = chain->gradient;
    const data_of *data = g->data;
    const struct ht_medium *medium = data->medium;
    const struct ht_medium_source *source = medium->source;
    const struct ht_second_order *form = &medium->eq->second_order;
    double value[HT_MAX_MATERIALS][2], material[HT_MAX_MATERIALS][2] = {{0}};
    const double *in[HT_MAX_MATERIALS];
    double *out[HT_MAX_MATERIALS];
    for (int i = 0; i < HT_MAX_MATERIALS; i++) in[i] = value[i], out[i] = material[i];
    for (int64_t at = begin; at < end; at++) {
        double by[3] = {0}, by_wanted[HT_MAX_MATERIALS];
        for (int q = C; q <= I; q++) by[q] = data->sum[q] ? data->sum[q][at] : 0;
        for (int p = 0; p < medium->eq->system->nparameters; p++) {
            const struct ht_medium_row *row = &source->row[p];
            value[p][0] =
                row->samples ? row->samples->value[at] : row->number[row->count > 1 ? at : 0];
            value[p][1] = 0;
        }
        for (int w = 0; w < g->count; w++) {
            const bool sampled = source->row[g->wanted[w].parameter].samples != NULL;
            value[g->wanted[w].parameter][1] = sampled ? source->params->medium.scale : 1;
            medium->eq->system->materials(chain->slope, source->chosen, in, out);
            value[g->wanted[w].parameter][1] = 0;
            const double *K = material[form->modulus];
            by_wanted[w] = -by[C] * K[1] / (K[0] * K[0]);
            if (form->inverse_density < 0) continue;
            const double *b = material[form->inverse_density];
            by_wanted[w] += (by[I] - by[R] / (b[0] * b[0])) * b[1];
        }
        for (int w = 0; w < g->count; w++)
            data->wanted[w][at] = is_held(data, &g->wanted[w], at) ? 0 : by_wanted[w];
    }
    return HT_OK;
}

static enum ht_err chain_all(struct ht_medium_gradient *g) {
    const data_of *data = g->data;
    struct chain chain = {.gradient = g};
    TRY(ht_jets_total(1, 1, &chain.slope));
    const enum ht_err err = ht_threads_share(data->size, 1 << 12, chain_samples, &chain);
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

/* Of one coefficient, of all ranks. */
struct pull {
    const struct ht_medium_gradient *gradient;
    ht_medium_gradient_read *read;
    void *data;
    int coefficient;
    unsigned half;        /* axes along which points lie half a spacing up */
    struct ht_range *own; /* of each rank */
    int64_t next;         /* plane */
    double *plane, *more;
    int slopes, slope[3];             /* channels of slopes, and their axes */
    double *const *value, *const *to; /* of the plane that is turned */
};
enum { TAG = 64 }; /* no other's */

/* The next plane, by rank 0. */
static enum ht_err pull_plane(struct pull *pull, double *out) {
    const struct ht_grid *grid = pull->gradient->data->medium->grid;
    const int64_t m = pull->next++;
    int rank = 0;
    while (m >= pull->own[rank].last) rank++;
    if (rank == 0) return pull->read(pull->data, pull->coefficient, m, m + 1, out);
    struct ht_message *message = NULL;
    TRY(ht_message_receive(grid->slab.comm, rank, TAG, out,
                           ht_grid_plane(grid, HT_PRIMARY) * (int64_t)sizeof *out, &message));
    const enum ht_err err = ht_message_wait(&message);
    ht_message_abandon(message);
    return err;
}

/* The planes of another rank. */
static enum ht_err push_planes(struct pull *pull) {
    const struct ht_grid *grid = pull->gradient->data->medium->grid;
    const struct ht_range own = ht_grid_own(grid, HT_PRIMARY);
    for (int64_t m = own.first; m < own.last; m++) {
        struct ht_message *message = NULL;
        TRY(pull->read(pull->data, pull->coefficient, m, m + 1, pull->plane));
        TRY(ht_message_send(grid->slab.comm, 0, TAG, pull->plane,
                            ht_grid_plane(grid, HT_PRIMARY) * (int64_t)sizeof *pull->plane,
                            &message));
        const enum ht_err err = ht_message_wait(&message);
        ht_message_abandon(message);
        TRY(err);
    }
    return HT_OK;
}

/* Points in layers have the medium of the nearest one outside, which gets their gradients. */
static void leave_layers(const struct pull *pull, double *plane) {
    const struct ht_grid *grid = pull->gradient->data->medium->grid;
    const int64_t n1 = ht_grid_nodes(grid, HT_PRIMARY, 0);
    for (int64_t n = 0; n < ht_grid_plane(grid, HT_PRIMARY); n++) {
        const int64_t m1 = ht_layers_inside(grid, 0, pull->half & 1u, n % n1);
        const int64_t m2 = ht_layers_inside(grid, 1, pull->half >> 1 & 1u, n / n1);
        if (m2 * n1 + m1 == n) continue;
        if (pull->gradient->data->whole) plane[m2 * n1 + m1] += plane[n];
        plane[n] = 0;
    }
}

static enum ht_err pull_inside(struct pull *pull, int64_t m) {
    const struct ht_grid *grid = pull->gradient->data->medium->grid;
    const int64_t size = ht_grid_plane(grid, HT_PRIMARY), planes = ht_grid_planes(grid, HT_PRIMARY);
    const bool half = pull->half >> 2 & 1u;
    memset(pull->plane, 0, (size_t)size * sizeof *pull->plane);
    while (pull->next < planes && ht_layers_inside(grid, 2, half, pull->next) <= m) {
        const bool counts = pull->gradient->data->whole || pull->next == m;
        TRY(pull_plane(pull, pull->more));
        for (int64_t i = 0; i < size && counts; i++) pull->plane[i] += pull->more[i];
    }
    if (ht_layers_any(grid)) leave_layers(pull, pull->plane);
    return HT_OK;
}

/* ---- coefficients ---- */

/* By b_k = a/R + (1 - a) I at a point. */
static void turn_point(const struct pull *pull, int64_t i) {
    const double none = 1e-8; /* of the mean, over a spacing: such slopes are rounding */
    const data_of *data = pull->gradient->data;
    const int own = pull->coefficient - 1;
    const double mean = pull->value[0][i], by_b = pull->plane[i];
    const double by_part = by_b * (1 / mean - pull->value[1][i]);
    double slope[3] = {0}, all = 0, h[3];
    for (int s = 0; s < pull->slopes; s++) {
        const int k = pull->slope[s];
        h[k] = data->fit.axis[k].h;
        slope[k] = pull->value[2 + s][i] / h[k];
        all += slope[k] * slope[k];
    }
    const double part = all > 0       ? slope[own] * slope[own] / all
                        : data->turns ? own == 0
                                      : own == data->along;
    const bool flat = !(sqrt(all) * data->fit.axis[own].h > none * mean);
    pull->to[0][i] = -part / (mean * mean) * by_b;
    pull->to[1][i] = (1 - part) * by_b;
    for (int s = 0; s < pull->slopes; s++) {
        const int k = pull->slope[s];
        const double by_slope = 2 * ((k == own) * slope[k] - part * slope[k]) / all;
        pull->to[2 + s][i] = flat ? 0 : by_part * by_slope / h[k];
    }
}

static enum ht_err turn_points(void *data, int64_t begin, int64_t end) {
    const struct pull *pull = data;
    for (int64_t i = begin; i < end; i++) turn_point(pull, i);
    return HT_OK;
}

static enum ht_err turn_plane(void *data, int64_t m, double *const *value, double *const *to) {
    struct pull *pull = data;
    const int64_t size = ht_grid_plane(pull->gradient->data->medium->grid, HT_PRIMARY);
    TRY(pull_inside(pull, m));
    pull->value = value;
    pull->to = to;
    if (pull->coefficient > 0) return ht_threads_share(size, 1 << 13, turn_points, pull);
    memcpy(to[0], pull->plane, (size_t)size * sizeof *to[0]);
    return HT_OK;
}

static void add_channel(struct ht_fit_turn *turn, int quantity, enum ht_fit_window by, bool track,
                        int k, enum ht_fit_window other) {
    struct ht_fit_channel *channel = &turn->channel[turn->nchannels++];
    *channel = (struct ht_fit_channel){
        .quantity = quantity, .shift = turn->shift, .window = {by, by, by}, .track = track};
    if (k >= 0) channel->window[k] = other;
}

static void add_channels(const data_of *data, struct pull *pull, struct ht_fit_turn *turn) {
    const bool sinc = data->fit.kind == HT_FIT_SINC;
    const enum ht_fit_window by = sinc ? HT_FIT_BY_SINC : HT_FIT_BY_BOX;
    const int first = pull->coefficient == 0 ? C : R, last = pull->coefficient == 0 ? C : I;
    for (int q = first; q <= last; q++) add_channel(turn, data->quantity[q], by, sinc, -1, by);
    for (int k = 0; pull->coefficient > 0 && data->turns && k < 3; k++) {
        if (!data->medium->source->depends[k]) continue;
        pull->slope[pull->slopes++] = k;
        add_channel(turn, data->quantity[R], sinc ? HT_FIT_BY_COSINE : by, false, k,
                    sinc ? HT_FIT_COSINE_SLOPE : HT_FIT_BOX_SLOPE);
    }
}

/* ---- all ---- */

/* Rank 0 turns, others hand over their planes. */
static enum ht_err turn_all(struct pull *pull, struct ht_fit_turn *turn) {
    const data_of *data = pull->gradient->data;
    const struct ht_grid *grid = data->medium->grid;
    const int64_t size = ht_grid_plane(grid, HT_PRIMARY);
    const bool half = pull->half >> 2 & 1u;
    HT_ARRAY(double, planes, 2 * size);
    pull->plane = planes;
    pull->more = planes + size;
    if (ht_comm_rank(grid->slab.comm) > 0) return push_planes(pull);
    turn->fit = &data->fit;
    turn->at = turn_plane;
    turn->data = pull;
    turn->first = ht_layers_inside(grid, 2, half, 0);
    turn->last = ht_layers_inside(grid, 2, half, ht_grid_planes(grid, HT_PRIMARY) - 1) + 1;
    memcpy(turn->shape, data->shape, sizeof turn->shape);
    return ht_fit_turn(turn);
}

/* Collective. */
static enum ht_err turn_coefficient(struct pull *pull, struct ht_fit_turn *turn) {
    const struct ht_grid *grid = pull->gradient->data->medium->grid;
    const struct ht_range own = ht_grid_own(grid, HT_PRIMARY);
    HT_ARRAY(struct ht_range, all, ht_comm_size(grid->slab.comm));
    TRY(ht_comm_gather(grid->slab.comm, &own, sizeof own, all));
    pull->own = all;
    return ht_comm_agree(grid->slab.comm, turn_all(pull, turn));
}

enum ht_err ht_medium_gradient_find(struct ht_medium_gradient *g, ht_medium_gradient_read *read,
                                    void *context) {
    const data_of *data = g->data;
    struct ht_comm *comm = data->medium->grid->slab.comm;
    for (int q = C; q <= I; q++)
        if (data->sum[q]) memset(data->sum[q], 0, (size_t)data->size * sizeof *data->sum[q]);
    HT_EACH_BIT(c, g->coefficients) {
        const unsigned half = c > 0 ? 1u << (c - 1) : 0;
        struct pull pull = {
            .gradient = g, .read = read, .data = context, .coefficient = c, .half = half};
        struct ht_fit_turn turn = {.shift = half};
        add_channels(data, &pull, &turn);
        for (int q = C; q <= I; q++)
            if (data->sum[q]) turn.sum[data->quantity[q]] = data->sum[q];
        TRY(turn_coefficient(&pull, &turn));
    }
    TRY(HT_BY_FIRST(comm, chain_all(g)));
    for (int w = 0; w < g->count; w++) {
        struct ht_medium_wanted *wanted = &g->wanted[w];
        reduce(data, wanted, data->wanted[w], wanted->value);
        for (int64_t i = 0; i < wanted->samples && data->mask; i++)
            wanted->value[i] *= data->mask->value[i];
        TRY(ht_comm_broadcast(comm, wanted->value, (size_t)wanted->samples * sizeof(double)));
    }
    return HT_OK;
}

enum ht_err ht_medium_gradient_share(const struct ht_medium_gradient *g, int wanted,
                                     ht_medium_gradient_read *read, void *context, double *out) {
    const data_of *data = g->data;
    const struct ht_medium_wanted *of = &g->wanted[wanted];
    struct pull pull = {.gradient = g, .read = read, .data = context};
    struct ht_fit_turn turn = {0};
    HT_ARRAY(double, sum, data->size);
    add_channel(&turn, 0, HT_FIT_BY_BOX, false, -1, HT_FIT_BY_BOX);
    turn.sum[0] = sum;
    TRY(turn_coefficient(&pull, &turn));
    reduce(data, of, sum, out);
    return ht_comm_broadcast(data->medium->grid->slab.comm, out, (size_t)of->samples * sizeof *out);
}

/* ---- the object ---- */

static enum ht_err make(struct ht_medium_gradient *g, const struct ht_names *names,
                        const char *key) {
    data_of *data = g->data;
    const struct ht_medium *medium = data->medium;
    const struct ht_params *params = medium->source->params;
    REFUSE(names->count == 0 || names->count > HT_MAX_MATERIALS, params, key,
           "must name parameters of the medium, one or more");
    TRY(check(medium, data->fit.kind, key));
    for (int i = 0; i < names->count; i++) TRY(add_wanted(g, names->name[i], key));
    TRY(make_axes(data));
    return make_data(g);
}

enum ht_err ht_medium_gradient_create(const struct ht_medium *medium, enum ht_fit_kind kind,
                                      const struct ht_names *names, const char *key, bool whole,
                                      struct ht_medium_gradient **out) {
    struct ht_medium_gradient *g = NULL;
    *out = NULL;
    TRY(HT_ALLOC(g, 1));
    enum ht_err err = HT_ALLOC(g->data, 1);
    if (err == HT_OK) {
        g->data->medium = medium;
        g->data->whole = whole;
        const bool any = kind == HT_FIT_AUTO || medium->source->type == HT_MEDIUM_CONSTANT;
        g->data->fit = (struct ht_fit){.medium = medium,
                                       .average = &medium->eq->system->average,
                                       .kind = any ? HT_FIT_SINC : kind,
                                       .parameters = ~0u};
        err = make(g, names, key);
    }
    return HT_MADE(err, g, ht_medium_gradient_destroy, out);
}

void ht_medium_gradient_destroy(struct ht_medium_gradient *g) {
    if (g == NULL) return;
    if (g->data != NULL) {
        ht_samples_destroy(g->data->mask);
        ht_pool_free(&g->data->fit.pool);
        ht_pool_free(&g->data->pool);
    }
    free(g->data);
    free(g);
}

enum ht_err ht_medium_gradient_mask(struct ht_medium_gradient *g, const char *path,
                                    const char *dataset, const char *key) {
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
