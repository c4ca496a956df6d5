/* Gradients by the samples of a medium (htwave/medium.h, fit_average.c) of
 *     chi = sum over nodes of w_0/K + w_1 b_1 + ..,
 * w random, against what the fit itself makes of other samples: products, since averages that are
 * not cut are linear, and difference quotients. */
#include "htwave/h5.h"
#include "medium_scene.h"

enum { MOST = 3 };
/* Of a pair: its parameters, values of the first from `base` to that times the contrast. */
struct model {
    const char *system;
    int count;
    const char *name[MOST];
    double base[MOST];
};
static const struct model ACOUSTIC_K = {"acoustic", 2, {"K", "rho"}, {1.5, 2.5}};
static const struct model ACOUSTIC_C = {"acoustic", 2, {"c", "rho"}, {1.5, 2.5}};
static const struct model ELASTIC_V = {"elastic", 3, {"vp", "vs", "rho"}, {2, 0.4, 1.5}};
static const struct model ELASTIC_M = {"elastic", 3, {"lambda", "mu", "rho"}, {1.5, 0.4, 1.5}};
static const struct model MAXWELL = {"maxwell", 2, {"eps", "mu"}, {1.5, 2.5}};
static const struct model MAXWELL_TM = {"maxwell_tm", 2, {"eps", "mu"}, {1.5, 2.5}};
struct case_ {
    const char *title;
    int64_t cells[3];
    int walls;
    int64_t layer[3][2];
    enum ht_fit_kind kind;
    bool whole;
    double samples[3]; /* per cell */
    double before[3];  /* of the box without samples, or samples beside it: part of the box */
    double contrast;
    unsigned depends; /* axes along which the samples vary */
    const struct model *model;
    double fluid; /* part of the samples that are fluid */
    int only;     /* number of the one parameter that is wanted, from 1 on; 0: all are */
};
struct samples {
    int64_t shape[3], count;
    double spacing[3], origin[3];
    double *value[MOST];
    struct ht_pool pool;
};

static void free_samples(struct samples *s) {
    ht_pool_free(&s->pool);
}

/* As many values that are 0. */
static struct samples like(const struct samples *s) {
    struct samples out = *s;
    out.pool = (struct ht_pool){0};
    for (int p = 0; p < MOST; p++) must(HT_TAKE(&out.pool, out.value[p], s->count));
    return out;
}

static uint64_t seed = 1;
static double uniform(void) {
    return (1 + ht_rng_uniform(3, seed++)) / 2;
}

/* ---- files ---- */

static struct samples lay_out(const struct case_ *c) {
    struct samples out = {.count = 1}, *s = &out;
    for (int k = 0; k < 3; k++) {
        const bool exists = c->cells[k] > 0;
        const double part = 1 - c->before[k];
        s->shape[k] = exists ? (int64_t)ceil((double)c->cells[k] * c->samples[k] * part) : 1;
        s->spacing[k] = exists ? 1 / ((double)c->cells[k] * c->samples[k]) : 1;
        s->origin[k] = c->before[k] + s->spacing[k] / 3;
        s->count *= s->shape[k];
    }
    return like(s);
}

/* Values from 1 to the contrast; the same along axes on which they do not depend. */
static void draw(const struct case_ *c, struct samples *s) {
    for (int p = 0; p < c->model->count; p++)
        for (int64_t i = 0; i < s->count; i++) {
            int64_t at[3] = {i % s->shape[0], i / s->shape[0] % s->shape[1],
                             i / s->shape[0] / s->shape[1]};
            for (int k = 0; k < 3; k++)
                if (!(c->depends >> k & 1u)) at[k] = 0;
            const int64_t from = (at[2] * s->shape[1] + at[1]) * s->shape[0] + at[0];
            double most = strchr("cv", c->model->name[p][0]) ? sqrt(c->contrast) : c->contrast;
            if (p > 0 && (c->cells[1] == 0 || c->model == &ELASTIC_V))
                most = fmin(most, 8); /* more is split, or too much for P */
            double value = c->model->base[p] * pow(most, uniform());
            if (strcmp(c->model->name[p], "vs") == 0)
                value = s->value[0][i] * (0.2 + 0.4 * uniform());
            s->value[p][i] = from < i ? s->value[p][from] : value;
            if (p == 1 && c->fluid > 0 && uniform() < c->fluid) s->value[p][i] = 0;
        }
}

/* Samples plus step times others, by the product of both. */
static void write_samples(const struct case_ *c, const struct samples *s, double step,
                          const struct samples *along, const char *path) {
    const int64_t extent[3] = {s->shape[2], s->shape[1], s->shape[0]};
    struct ht_h5 *file = NULL;
    HT_FREED double *value = NULL;
    must(HT_ALLOC(value, s->count));
    must(ht_h5_create(path, false, &file));
    for (int p = 0; p < c->model->count; p++) {
        for (int64_t i = 0; i < s->count; i++)
            value[i] = s->value[p][i] + (along ? step * along->value[p][i] : 0);
        must(ht_h5_write(file, c->model->name[p], 3, extent, value, false));
    }
    must(ht_h5_commit(file));
}

static void read_medium(const struct case_ *c, const struct samples *s, const char *path,
                        struct scene *scene) {
    *scene = (struct scene){.grid = make_grid(c->cells, 2, c->walls)};
    memcpy(scene->grid.layer, c->layer, sizeof c->layer);
    char files[MOST][160] = {"", "", ""};
    for (int p = 0; p < c->model->count; p++)
        snprintf(files[p], sizeof files[p], "medium.%s=%s; ", c->model->name[p], path);
    must(
        open_scene(scene, c->model->system,
                   "device.precision=double; medium.type=file; %s%s%s"
                   "medium.format=hdf5; medium.scale=0.25; medium.dataset=; medium.spacing=[%.17g, "
                   "%.17g, %.17g]; "
                   "medium.origin=[%.17g, %.17g, %.17g]",
                   files[0], files[1], files[2], s->spacing[0], s->spacing[1], s->spacing[2],
                   s->origin[0], s->origin[1], s->origin[2]));
}

/* ---- chi ---- */

struct weights {
    int64_t count, plane; /* nodes of a coefficient, of a plane */
    int coefficients;
    double *value;
    struct ht_pair room, *pair; /* NULL: of the form of second order */
    const struct ht_field *field;
};

static void free_weights(struct weights *w) {
    free(w->value);
}

static void make_weights(const struct scene *scene, struct weights *w) {
    w->plane = ht_grid_plane(&scene->grid, HT_PRIMARY);
    w->count = ht_grid_total(&scene->grid, HT_PRIMARY);
    w->coefficients = 1 + scene->grid.dims;
    w->pair = NULL;
    w->field = scene->eq.field;
    if (strcmp(scene->eq.system->name, "acoustic") != 0) {
        if (ht_pair_make(&scene->eq, HT_PAIR_APART, &w->room) != NULL) exit(1);
        w->pair = &w->room;
        w->coefficients = w->room.ncoefficients + w->room.ncouplings;
    }
    must(HT_ALLOC(w->value, w->coefficients * w->count));
    for (int64_t i = 0; i < w->coefficients * w->count; i++) w->value[i] = 2 * uniform() - 1;
}

static enum ht_err read_weights(void *data, int coefficient, int64_t first, int64_t last,
                                double *out) {
    const struct weights *w = data;
    memcpy(out, w->value + coefficient * w->count + first * w->plane,
           (size_t)((last - first) * w->plane) * sizeof *out);
    return HT_OK;
}

/* Of each coefficient; cut: whether a value was. */
static void find_chi(const struct case_ *c, const struct scene *scene, const struct weights *w,
                     double chi[HT_MAX_TERMS], bool *cut) {
    struct ht_frame *frame;
    HT_FREED double *out = NULL;
    must(HT_ALLOC(out, w->count));
    must(ht_frame_create(scene->medium, w->pair, c->kind, &frame));
    ht_frame_count(frame, true);
    for (int q = 0; q < w->coefficients; q++) {
        must(ht_frame_fill(frame, q, 0, w->count / w->plane, out));
        chi[q] = 0;
        for (int64_t i = 0; i < w->count; i++)
            chi[q] +=
                w->value[q * w->count + i] * (w->pair == NULL && q == 0 ? 1 / out[i] : out[i]);
    }
    *cut = ht_frame_counts(frame).cut > 0;
    ht_frame_destroy(frame);
}

static void chi_of(const struct case_ *c, const struct samples *s, double step,
                   const struct samples *along, const struct weights *w, double chi[HT_MAX_TERMS],
                   bool *cut) {
    HT_ENDED(close_scene) struct scene scene;
    write_samples(c, s, step, along, path_of("changed.h5"));
    read_medium(c, s, path_of("changed.h5"), &scene);
    find_chi(c, &scene, w, chi, cut);
}

/* ---- judgement ---- */

static struct ht_medium_gradient *find(const struct case_ *c, const struct scene *scene,
                                       struct weights *w) {
    struct ht_medium_gradient *g;
    char text[MOST][8], *name[MOST];
    for (int p = 0; p < c->model->count; p++) {
        snprintf(text[p], sizeof text[p], "%s", c->model->name[p]);
        name[p] = text[p];
    }
    const struct ht_names names = {c->only > 0 ? 1 : c->model->count,
                                   c->only > 0 ? name + c->only - 1 : name};
    must(ht_medium_gradient_create(scene->medium, w->pair, c->kind, &names, "medium.type", c->whole,
                                   &g));
    must(ht_medium_gradient_find(g, read_weights, w));
    return g;
}

/* Along random changes of free samples, by differences. */
static void judge_quotient(const struct case_ *c, const struct samples *s, struct weights *w,
                           const struct ht_medium_gradient *g) {
    const double step = 1e-6;
    double chi[2][HT_MAX_TERMS], sum = 0, size = 0, quotient = 0;
    HT_ENDED(free_samples) struct samples along = like(s);
    bool cut;
    for (int p = 0; p < c->model->count; p++) {
        const struct ht_medium_wanted *wanted = &g->wanted[c->only > 0 ? 0 : p];
        if (c->only > 0 && p != c->only - 1) continue;
        for (int64_t i = 0; i < s->count; i++) {
            const double by = wanted->value[i];
            const bool held = wanted->held > 0 && by == 0;
            along.value[p][i] = held ? 0 : (2 * uniform() - 1) * s->value[p][i];
            sum += by * along.value[p][i];
            size += pow(by * along.value[p][i], 2);
        }
    }
    for (int side = 0; side < 2; side++)
        chi_of(c, s, side ? step : -step, &along, w, chi[side], &cut);
    for (int q = 0; q < w->coefficients; q++) quotient += (chi[1][q] - chi[0][q]) / (2 * step);
    TEST_BELOW(fabs(quotient - sum) / sqrt(size), 1e-7,
               "%s: difference quotient %.9g, transpose %.9g; %lld and %lld of %lld held", c->title,
               quotient, sum, (long long)g->wanted[0].held, (long long)g->wanted[c->only == 0].held,
               (long long)s->count);
}

/* 1/K is linear in that of the samples where nothing is cut: of other ones. */
static void judge_product(const struct case_ *c, const struct samples *s, const struct weights *w,
                          const struct ht_medium_gradient *g) {
    HT_ENDED(free_samples) struct samples other = like(s);
    double chi[HT_MAX_TERMS], sum = 0, size = 0;
    bool cut;
    draw(c, &other);
    chi_of(c, &other, 0, NULL, w, chi, &cut);
    for (int64_t i = 0; i < s->count; i++) {
        const double K = s->value[0][i], part = -g->wanted[0].value[i] * K * K / other.value[0][i];
        sum += part;
        size += part * part;
    }
    TEST_BELOW(fabs(sum - chi[0]) / sqrt(size), 1e-13, "%s: product of 1/K", c->title);
    TEST_CHECK(!cut, "%s: nothing is cut", c->title);
}

/* Cut or not, coefficients of stresses are of degree 1 in the moduli, all others of degree -1 in
 * what they depend on (1/K, which counts in place of K, too). */
static void judge_degrees(const struct case_ *c, const struct samples *s, const struct weights *w,
                          const double chi[HT_MAX_TERMS], const struct ht_medium_gradient *g) {
    const bool elastic = c->model == &ELASTIC_M;
    double sum[2] = {0}, size[2] = {0};
    for (int p = 0; p < c->model->count; p++)
        for (int64_t i = 0; i < s->count; i++) {
            const double part = g->wanted[p].value[i] * s->value[p][i];
            const int set = p > elastic;
            sum[set] += elastic && set == 0 ? part : -part;
            size[set] += part * part;
        }
    for (int q = 0; q < w->coefficients; q++) {
        const int row = w->pair ? w->pair->coefficient[q].row : q;
        const char first = w->pair ? w->field[row].name[0] : q > 0 ? 'v' : 'p';
        sum[first == 'v' || first == 'H'] -= chi[q];
    }
    for (int set = 0; set < 2; set++)
        TEST_BELOW(fabs(sum[set]) / sqrt(size[set]), 1e-12, "%s: degree, %s", c->title,
                   c->model->name[set + (elastic && set)]);
}

/* The same bits by any number of threads. */
static void judge_threads(const struct case_ *c, const struct scene *scene, struct weights *w,
                          const struct ht_medium_gradient *g) {
    bool same = true;
    ht_threads_set(3);
    struct ht_medium_gradient *other = find(c, scene, w);
    ht_threads_set(1);
    for (int p = 0; p < g->count; p++)
        same = same && memcmp(g->wanted[p].value, other->wanted[p].value,
                              (size_t)g->wanted[p].samples * sizeof(double)) == 0;
    TEST_CHECK(same, "%s: the same bits by 3 threads", c->title);
    ht_medium_gradient_destroy(other);
}

static void judge(struct case_ c) {
    HT_ENDED(free_samples) struct samples s = lay_out(&c);
    HT_ENDED(close_scene) struct scene scene;
    HT_ENDED(free_weights) struct weights w;
    double chi[HT_MAX_TERMS] = {0};
    bool cut;
    draw(&c, &s);
    write_samples(&c, &s, 0, NULL, path_of("model.h5"));
    read_medium(&c, &s, path_of("model.h5"), &scene);
    make_weights(&scene, &w);
    find_chi(&c, &scene, &w, chi, &cut);
    struct ht_medium_gradient *g = find(&c, &scene, &w);
    const bool speeds = c.model == &ACOUSTIC_C || c.model == &ELASTIC_V;
    if (c.whole && !speeds && c.only == 0) judge_degrees(&c, &s, &w, chi, g);
    if (c.whole && c.model == &ACOUSTIC_K && c.contrast <= 1.5) judge_product(&c, &s, &w, g);
    if (c.contrast > 100 && c.depends == 7 && c.fluid == 0)
        TEST_CHECK(cut == (c.kind == HT_FIT_SINC), "%s: cut or not", c.title);
    judge_quotient(&c, &s, &w, g);
    if (c.cells[1] > 0) judge_threads(&c, &scene, &w, g);
    ht_medium_gradient_destroy(g);
}

static void of_contrasts(struct case_ c) {
    static const double contrast[] = {1.5, 2, 16, 300};
    char title[100];
    for (int i = 0; i < 4; i++) {
        struct case_ one = c;
        snprintf(title, sizeof title, "%s, contrast %g", c.title, contrast[i]);
        one.title = title;
        one.contrast = contrast[i];
        judge(one);
    }
}

/* ---- numbers, masks, parts of cells, refusals ---- */

static void make_scene(struct scene *scene, const int64_t *cells, const char *options) {
    *scene = (struct scene){.grid = make_grid(cells, 2, 3)};
    must(open_scene(scene, "acoustic", "%s", options));
}

/* Three numbers, of layers or the first of all and the third of rho. */
static void judge_numbers(const char *title, const char *form) {
    const int64_t cells[3] = {9, 14};
    const double number[4] = {1.4, 2.2, 1.7, 3}, step = 1e-5;
    const struct case_ c = {.kind = HT_FIT_SINC};
    char options[400], first[] = "c", rho[] = "rho", *name[] = {rho, first};
    const struct ht_names names = {2, name};
    HT_ENDED(close_scene) struct scene scene;
    HT_ENDED(free_weights) struct weights w;
    struct ht_medium_gradient *g;
    double worst = 0;
    snprintf(options, sizeof options, form, number[3], number[0], number[1], number[2]);
    make_scene(&scene, cells, options);
    make_weights(&scene, &w);
    must(ht_medium_gradient_create(scene.medium, NULL, HT_FIT_AUTO, &names, "medium.type", false,
                                   &g));
    must(ht_medium_gradient_find(g, read_weights, &w));
    const int64_t layers = g->wanted[1].samples;
    for (int i = 0; i < 4; i++) {
        double chi[2][HT_MAX_TERMS] = {{0}}, quotient = 0;
        const double by = i == 3 ? *g->wanted[0].value : i < layers ? g->wanted[1].value[i] : 0;
        for (int side = 0; side < 2; side++) {
            HT_ENDED(close_scene) struct scene other;
            double x[4];
            bool cut;
            for (int j = 0; j < 4; j++) x[j] = number[j] * (1 + (i == j) * (side ? step : -step));
            snprintf(options, sizeof options, form, x[3], x[0], x[1], x[2]);
            make_scene(&other, cells, options);
            find_chi(&c, &other, &w, chi[side], &cut);
        }
        for (int q = 0; q < 3; q++) quotient += (chi[1][q] - chi[0][q]) / (2 * step * number[i]);
        worst = fmax(worst, fabs(quotient / by - 1) * (i == 3 || i < layers));
    }
    TEST_BELOW(worst, 1e-7, "%s: %lld and %lld numbers, relative", title,
               (long long)g->wanted[0].samples, (long long)layers);
    ht_medium_gradient_destroy(g);
}

/* Sums over all samples and nodes are equal; a mask is a factor. */
static void judge_share(void) {
    const struct case_ c = {"share", {11, 8}, 1, {{0}},       HT_FIT_SINC, true, {1.7, 0.6},
                            {-0.2},  2,       7, &ACOUSTIC_C, 0,           0};
    char first[] = "c", *name[] = {first};
    const struct ht_names names = {1, name};
    HT_ENDED(free_samples) struct samples s = lay_out(&c);
    HT_ENDED(close_scene) struct scene scene;
    HT_ENDED(free_weights) struct weights w;
    struct ht_medium_gradient *g;
    double sum[2] = {0}, worst = 0;
    draw(&c, &s);
    write_samples(&c, &s, 0, NULL, path_of("model.h5"));
    read_medium(&c, &s, path_of("model.h5"), &scene);
    make_weights(&scene, &w);
    must(ht_medium_gradient_create(scene.medium, NULL, c.kind, &names, "medium.type", true, &g));
    HT_FREED double *out = NULL, *before = NULL;
    must(HT_ALLOC(out, s.count));
    must(HT_ALLOC(before, s.count));
    for (int64_t i = 0; i < w.count; i++) w.value[i] = fabs(w.value[i]);
    must(ht_medium_gradient_share(g, 0, 0, read_weights, &w, out));
    for (int64_t i = 0; i < s.count; i++) sum[0] += out[i], worst = fmin(worst, out[i]);
    for (int64_t i = 0; i < w.count; i++) sum[1] += w.value[i];
    TEST_BELOW(fabs(sum[0] / sum[1] - 1), 1e-14, "shares of nodes: their sum");
    TEST_BELOW(-worst, 1e-14, "none is negative");
    must(ht_medium_gradient_find(g, read_weights, &w));
    memcpy(before, g->wanted[0].value, (size_t)s.count * sizeof *before);
    must(ht_medium_gradient_mask(g, path_of("model.h5"), "rho", "medium.c"));
    must(ht_medium_gradient_find(g, read_weights, &w));
    for (int64_t i = 0; i < s.count; i++)
        worst = fmax(worst, fabs(g->wanted[0].value[i] - before[i] * s.value[1][i]));
    TEST_BELOW(worst, 0, "a mask of samples is a factor");
    s.count /= s.shape[1];
    s.shape[1] = 1;
    write_samples(&c, &s, 0, NULL, path_of("short.h5"));
    TEST_ERROR(ht_medium_gradient_mask(g, path_of("short.h5"), "rho", "medium.c"), HT_ERR_INPUT,
               "must be the same", "refused");
    ht_medium_gradient_destroy(g);
}

static void refuse(const char *system, enum ht_fit_kind kind, int64_t layer, const char *name,
                   const char *options, const char *part) {
    const int64_t cells[3] = {40, 9};
    HT_ENDED(close_scene) struct scene scene = {.grid = make_grid(cells, 2, 1)};
    struct ht_medium_gradient *g = NULL;
    char word[8], *names[] = {word};
    const struct ht_names list = {1, names};
    snprintf(word, sizeof word, "%s", name);
    scene.grid.layer[0][0] = layer;
    must(open_scene(&scene, system, "%s", options));
    const enum ht_err err =
        ht_medium_gradient_create(scene.medium, NULL, kind, &list, "medium.type", false, &g);
    TEST_CHECK(err == HT_ERR_INPUT && g == NULL && strstr(ht_err_message(), part), "refused: %s",
               err ? ht_err_message() : options);
}

static void test_refusals(void) {
    const enum ht_fit_kind any = HT_FIT_AUTO;
    refuse("acoustic", any, 0, "K", "",
           "is no parameter of this medium: must be among \"c\", \"rho\"");
    refuse("acoustic", any, 0, "c", "medium.q=70; medium.q_frequency=1", "medium.q");
    refuse("acoustic", any, 0, "c", "medium.type=expression; medium.c=1+x1", "medium.type");
    refuse("acoustic", HT_FIT_POINT, 0, "c",
           "medium.type=layers; medium.axis=x1; medium.interfaces=[0.5]; medium.c=[1.0, 2.0]",
           "must be \"sinc\" or \"box\"");
    refuse("acoustic", any, 0, "c",
           "medium.type=layers; medium.axis=x1; medium.interfaces=[0.5]; medium.rho=[1.0, 100.0]",
           "must be \"box\"");
    refuse("acoustic", any, 4, "c", "", "all of it reaches absorbing sides");
    refuse("maxwell", any, 0, "eps", "", "must be \"acoustic\" or \"wave\"");
}

static void test_pairs(const struct case_ line) {
    static const struct model *const model[] = {&ELASTIC_M, &ELASTIC_V, &MAXWELL, &MAXWELL_TM};
    static const double contrast[] = {1.5, 16, 300};
    char title[100];
    for (int i = 0; i < 4; i++) {
        const char *system = model[i]->system;
        struct case_ c = line;
        c.title = title, c.model = model[i];
        c.cells[0] = 13, c.cells[1] = 11, c.walls = i;
        for (int j = 0; j < 3; j++) {
            c.contrast = contrast[j];
            snprintf(title, sizeof title, "%s by %s, contrast %g", system, c.model->name[0],
                     c.contrast);
            judge(c);
        }
        c.contrast = 16, c.kind = HT_FIT_BOX;
        snprintf(title, sizeof title, "%s by %s, box", system, c.model->name[0]);
        judge(c);
        c.fluid = i < 2 ? 0.1 : 0, c.kind = i % 2 ? HT_FIT_BOX : HT_FIT_SINC;
        snprintf(title, sizeof title, "%s by %s, fluid", system, c.model->name[0]);
        if (i < 2) judge(c);
        c.fluid = 0, c.kind = HT_FIT_SINC, c.cells[0] = 23, c.cells[1] = 20;
        c.layer[0][0] = 6, c.layer[0][1] = 4, c.walls = 1, c.whole = false;
        snprintf(title, sizeof title, "%s by %s, layers, held", system, c.model->name[0]);
        judge(c);
        c = line;
        c.title = title, c.model = model[i], c.contrast = 16, c.fluid = i == 0 ? 0.02 : 0;
        c.cells[0] = 7, c.cells[1] = 6, c.cells[2] = 8, c.walls = 5;
        snprintf(title, sizeof title, "%s by %s, cube", system, c.model->name[0]);
        if (i < 3) judge(c);
        c.fluid = 0, c.cells[0] = 13, c.cells[1] = 11, c.cells[2] = 0, c.walls = 1;
        for (c.only = 1; c.only <= c.model->count; c.only++) {
            snprintf(title, sizeof title, "%s, %s alone", system, c.model->name[c.only - 1]);
            judge(c);
        }
    }
}

int main(void) {
    scene_directory = scratch_make("fit_transpose");
    if (!scene_directory) return 1;
    ht_threads_set(1);
    const struct case_ line = {"line", {21}, 1, {{0}},       HT_FIT_SINC, true, {1.7, 1.7, 1.7},
                               {0},    2,    7, &ACOUSTIC_K, 0,           0};
    struct case_ c = line;
    of_contrasts(c);
    c.title = "line, periodic, coarse samples", c.samples[0] = 0.43, c.walls = 0;
    judge(c);
    c = line;
    c.title = "line, layers", c.cells[0] = 33, c.layer[0][0] = 5, c.layer[0][1] = 3;
    judge(c);
    c.title = "line, layers, held", c.whole = false;
    judge(c);
    c = line;
    c.title = "square", c.cells[0] = 17, c.cells[1] = 13;
    of_contrasts(c);
    c.title = "square, box", c.kind = HT_FIT_BOX;
    of_contrasts(c);
    c = line;
    c.title = "square, periodic along x2, c, fine and coarse", c.model = &ACOUSTIC_C,
    c.contrast = 30;
    c.cells[0] = 17, c.cells[1] = 14, c.samples[0] = 2.6, c.samples[1] = 0.37, c.walls = 1;
    judge(c);
    c.title = "square, samples of a part", c.before[0] = 0.4, c.before[1] = -0.3;
    judge(c);
    c = line;
    c.title = "square, layers", c.cells[0] = 27, c.cells[1] = 24, c.walls = 3, c.contrast = 16;
    c.layer[0][0] = 6, c.layer[0][1] = 3, c.layer[1][0] = 5;
    judge(c);
    c.title = "square, layers, held", c.whole = false;
    judge(c);
    c.title = "square, uniform yet", c.depends = 0, c.model = &ACOUSTIC_C;
    judge(c);
    c.title = "square, varies along x2 yet", c.depends = 2, c.contrast = 2, c.walls = 1,
    c.layer[1][0] = 0;
    judge(c);
    c = line;
    c.title = "cube", c.cells[0] = 9, c.cells[1] = 7, c.cells[2] = 11, c.walls = 5, c.contrast = 16;
    judge(c);
    c.title = "cube, layers along x3", c.layer[2][0] = 3, c.layer[2][1] = 2, c.model = &ACOUSTIC_C;
    judge(c);
    c.title = "cube, layers along x3, held", c.cells[2] = 19, c.whole = false;
    judge(c);
    test_pairs(line);
    judge_numbers("constant", "medium.rho=%.17g; medium.c=%.17g");
    judge_numbers("layers", "medium.type=layers; medium.axis=x2; medium.interfaces=[0.31, 0.74]; "
                            "medium.rho=%.17g; medium.c=[%.17g, %.17g, %.17g]");
    judge_share();
    test_refusals();
    scratch_remove(scene_directory);
    return test_end("fit_transpose");
}
