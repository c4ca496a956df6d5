/* Gradients of finite differences (docs/developers/gradients.md), for random derivatives r of chi
 * by what receivers read at each step:
 *   - <r, p> = <a, da>: traces p of amplitudes a of sources, da the derivatives by these, by the
 *     plain engine and by kernels;
 *   - derivatives by the medium at the nodes against a run of its linear change, and chi, a sum of
 *     squares, against central differences, whose error falls as their square;
 *   - an image, W sum q(n) u(n - 1), against this sum;
 *   - the same bits from states that were kept and run again, and nearly the same from the run
 *     backwards. */
#include "gradients.h"

/* Between nodes unless said otherwise; forces and slopes among them. */
#define LINE_OF                                                    \
    "system=acoustic grid={cells=[60];upper=[60.0];} time.end=40 " \
    "medium={type=\"expression\";c=\"1-0.3*step(x1-33)\";} "
#define ON_LINE                                                                                 \
    "sources=({position=[23.4];frequency=0.1;},{position=[37.0];frequency=0.07;amplitude=-2.0;" \
    "kind=\"force\";direction=[1.0];}) "                                                        \
    "receivers=({position=[21.3];},{position=[36.0];fields=[\"p\",\"p_x1\"];}) "
#define FIELD "system=acoustic grid={cells=[48,44];upper=[48.0,44.0];} time.end=30 "
#define IN_FIELD_OF(amplitude)                                                                    \
    "sources=({position=[20.4,16.3];frequency=0.1;},{position=[23.0,21.0];frequency=0.08;"        \
    "amplitude=" amplitude ";},{position=[19.3,23.2];frequency=0.07;kind=\"force\";"              \
    "direction=[0.6,0.8];}) receivers=({type=\"line\";count=3;from=[19.2,14.6];to=[26.0,23.4];}," \
    "{position=[22.0,18.0];fields=[\"p_x1\",\"p_x2\",\"p\"];}) "
#define IN_FIELD IN_FIELD_OF("-2.0")
/* On and beside walls, which waves meet. */
#define ROOM "system=acoustic grid={cells=[24,21];upper=[24.0,21.0];} time.end=40 "
#define IN_ROOM                                                                                  \
    "sources=({position=[0.0,3.3];frequency=0.1;},{position=[5.2,20.6];frequency=0.08;"          \
    "amplitude=-2.0;}) receivers=({position=[0.0,21.0];},{position=[23.4,7.0];fields=[\"p_x1\"," \
    "\"p_x2\",\"p\"];},{position=[9.0,0.7];}) "
#define BOX "system=acoustic grid={cells=[26,25,27];upper=[26.0,25.0,27.0];} time.end=18 "
#define IN_BOX                                                                                    \
    "sources=({position=[12.4,13.3,13.0];frequency=0.1;},{position=[13.0,12.0,14.0];frequency=0." \
    "08;"                                                                                         \
    "amplitude=-2.0;}) "                                                                          \
    "receivers=({type=\"line\";count=2;from=[12.2,11.6,13.4];to=[14.0,13.0,12.0];}) "
#define ROUGH "medium={type=\"expression\";c=\"1-0.4*step(sin(1.3*x1)+cos(1.7*x2))\";rho=1.5;} "
#define DENSE                                                                \
    "medium={type=\"expression\";c=\"1-0.4*step(sin(1.3*x1)+cos(1.7*x2))\";" \
    "rho=\"1+2*step(cos(1.1*x1+0.8*x2))\";} "
#define ABSORBING2 "boundary={x1=\"absorbing\";x2=[\"free\",\"absorbing\"];} "
#define WALLS2 "boundary={x1=[\"rigid\",\"free\"];x2=\"periodic\";} "
/* ---- amplitudes of sources ---- */

static double against_amplitudes(const struct shot *s) {
    struct ht_fd_stepper *fd = fd_of(s);
    const struct ht_fd_injection *in = fd->injection[0];
    double sum = 0;
    for (int64_t n = fd->at = 0; n < s->steps; fd->at = ++n) {
        ht_fd_injections_step(fd, fd->injection);
        for (int stage = 0; stage < 2; stage++) {
            const double *d = s->gradient->amplitude[stage ? HT_FD_BY_STAGE : HT_FD_BY_UPDATE];
            const double *row = in->table + (2 * (n - in->first) + stage) * in->columns;
            if (d != NULL) sum += dot(in->columns, d + n * in->columns, row);
        }
    }
    return sum / s->run.sim->plan->scale;
}

static void judge_amplitudes(const struct shot *s, const char *name, double bound) {
    const int64_t values = (s->steps + 1) * s->traces;
    const double a = dot(values, s->r, s->p), b = against_amplitudes(s);
    TEST_BELOW(fabs(a - b) / (norm(values, s->r) * norm(values, s->p)), bound,
               "%s: %d steps, <r, p> = %.6g", name, (int)s->steps, a);
}

/* ---- the linear change of a run by that of the medium ---- */

struct born {
    struct ht_fd_stepper *forward, *change;
    double *m;                         /* [own node] change of 1 / K */
    struct ht_buffer *b[3], *ones, *x; /* of the window; x: scratch */
    double *before[2];                 /* u and d of the forward run before the step, [window] */
};

static void open_born(struct born *b, const struct shot *plain) {
    struct ht_stepper handle;
    struct ht_fd_stepper *f = fd_of(plain);
    const struct ht_fd_problem own = f->problem.fd;
    *b = (struct born){.forward = f};
    must(ht_fd_stepper_create(&f->problem, &f->engine, f, &handle));
    b->change = ht_fd_stepper_of(&handle);
    const struct ht_fd_driven by = {.receivers = plain->run.sim->plan->receivers};
    must(ht_fd_injections_create(b->change, &by, b->change->injection));
    b->m = room(plain->run.nodes);
    must(fill_change(f, 0, 0, ht_grid_planes(f->problem.grid, HT_PRIMARY), b->m));
    for (int i = 0; i < 2; i++) b->before[i] = room(ht_fd_numbers(f));
    for (int k = 0; k < 3; k++) must(ht_fd_array_create(&f->engine, ht_fd_numbers(f), &b->b[k]));
    must(ht_fd_array_create(&f->engine, ht_fd_numbers(f), &b->ones));
    must(ht_fd_array_create(&f->engine, ht_fd_numbers(f), &b->x));
    for (int64_t i = 0; i < ht_fd_numbers(f); i++) b->ones->host[i] = 1;
    f->problem.fd.fill = fill_change;
    f->problem.fd.medium = f;
    for (int k = 0; k < f->engine.spec.dims && own.density; k++)
        must(ht_fd_fill_arrays(f, 1 + k, 2 + k, 1u << k, &b->b[k]));
    f->problem.fd = own;
    must(ht_fd_rest(f));
}

static void close_born(struct born *b) {
    for (int k = 0; k < 3; k++) ht_buffer_destroy(b->b[k]);
    ht_buffer_destroy(b->ones);
    ht_buffer_destroy(b->x);
    for (int i = 0; i < 2; i++) free(b->before[i]);
    free(b->m);
    ht_fd_destroy(b->change);
}

/* What the change of the medium adds where L is applied to u, times 1 / divisor, and u changes by
 * `moved`: K (dt^2 dS u - dm moved). */
static void add_change(struct born *b, double divisor, struct ht_buffer *u, const double *after,
                       const double *moved, struct ht_buffer **to, int count) {
    struct ht_fd_stepper *f = b->forward;
    const double dt = f->problem.dt;
    struct ht_fd_work w = {.operation = HT_FD_STEP,
                           .box = f->box,
                           .law = ht_fd_scaled(&f->law, dt * dt / divisor),
                           .u = u,
                           .d = b->x};
    w.law.a = b->ones;
    must(ht_buffer_clear(b->x));
    for (int k = 0; k < 3; k++) w.law.b[k] = b->b[k];
    must(f->engine.ops->ghosts(&f->engine, &f->box, (const int(*)[2])f->sides, u));
    if (f->engine.spec.density) must(f->engine.ops->work(&f->engine, &w));
    const double *m = b->m;
    for (int64_t m3 = f->box.begin[2]; m3 < f->box.end[2]; m3++)
        for (int64_t m2 = f->box.begin[1]; m2 < f->box.end[1]; m2++)
            for (int64_t m1 = f->box.begin[0]; m1 < f->box.end[0]; m1++, m++) {
                const int64_t at = m3 * f->box.plane + m2 * f->box.row + m1;
                const double more =
                    f->law.a->host[at] * (b->x->host[at] - *m * (after[at] - moved[at]));
                for (int i = 0; i < count; i++) to[i]->host[at] += more;
            }
}

static void keep(struct born *b) {
    const size_t bytes = (size_t)ht_fd_numbers(b->forward) * sizeof **b->before;
    memcpy(b->before[0], b->forward->values[HT_FD_U]->host, bytes);
    memcpy(b->before[1], b->forward->values[HT_FD_D]->host, bytes);
}

static void step_born(struct born *b) {
    struct ht_fd_stepper *f = b->forward, *c = b->change;
    struct ht_runner *r = &c->r;
    const bool two = r->passes.count > 1;
    keep(b);
    must(ht_runner_half_step(f, HT_PRIMARY));
    must(r->ops->before(r, HT_PRIMARY));
    struct ht_buffer before = {.host = b->before[0]};
    if (two) {
        must(ht_runner_run(r, &r->passes, 0, 1));
        add_change(b, 12, &before, f->values[HT_FD_W]->host, b->before[0], &c->values[HT_FD_W], 1);
    }
    must(ht_runner_run(r, &r->passes, two, r->passes.count));
    add_change(b, 1, two ? f->values[HT_FD_W] : &before, f->values[HT_FD_D]->host, b->before[1],
               (struct ht_buffer *[]){c->values[HT_FD_D], c->values[HT_FD_U]}, 2);
    r->ops->after(r, 1);
}

/* The change of <r, p>, and |dm| of all. */
static double born_change(const struct shot *plain, struct born *b) {
    const struct ht_plan *plan = plain->run.sim->plan;
    struct ht_stepper handle = {.ops = &ht_fd_ops, .self = b->change};
    struct ht_sampler *sampler;
    double sum = 0;
    int64_t some;
    HT_FREED double *p = room(plain->traces);
    must(ht_sampler_create(plan, &handle, &sampler));
    for (int64_t n = 0; n <= plain->steps; n++) {
        if (n > 0) step_born(b);
        if (n > 0) must(ht_sampler_take(sampler));
        must(ht_sampler_collect(sampler, &some, p));
        sum += dot(plain->traces, p, plain->r + n * plain->traces);
    }
    ht_sampler_destroy(sampler);
    return sum;
}

/* ---- chi of other media ---- */

/* The medium of a run, which changes by a part of what fill_change says. */
struct bent {
    const struct ht_fd_stepper *of;
    double part;
};

static enum ht_err fill_bent(const void *context, int what, int64_t first, int64_t last,
                             double *out) {
    const struct bent *b = context;
    const struct ht_fd_problem *fd = &b->of->problem.fd;
    const int64_t count = (last - first) * ht_grid_plane(b->of->problem.grid, HT_PRIMARY);
    HT_ARRAY(double, change, count);
    TRY(fd->fill(fd->medium, what, first, last, out));
    TRY(fill_change(b->of, what, first, last, change));
    for (int64_t n = 0; n < count; n++)
        out[n] = what == 0 ? 1 / (1 / out[n] + b->part * change[n]) : out[n] + b->part * change[n];
    return HT_OK;
}

static double chi_of(const struct shot *s, double part) {
    const struct bent bent = {fd_of(s), part};
    struct ht_problem problem = fd_of(s)->problem;
    problem.fd.fill = fill_bent;
    problem.fd.medium = &bent;
    return run_chi(s, &problem);
}

/* <g, change>; *size: |g| |change|, where there is one. */
static double along_change(const struct shot *s, const struct ht_fd_stepper *of, double *size) {
    double sum = 0, g2 = 0, m2 = 0;
    for (int i = 0; i < HT_GRADIENT_SUMS; i++) {
        if (i == HT_GRADIENT_ILLUMINATION || !ht_gradient_has(s->gradient, (enum ht_gradient_sum)i))
            continue;
        HT_FREED double *g = sums_of(s, i), *m = room(s->run.nodes);
        const int what = i == 0 ? 0 : 1 + i - HT_GRADIENT_INVERSE_DENSITY;
        must(fill_change(of, what, 0, ht_grid_planes(of->problem.grid, HT_PRIMARY), m));
        for (int64_t n = 0; n < s->run.nodes; n++) {
            sum += g[n] * m[n];
            if (m[n] != 0) g2 += g[n] * g[n];
            m2 += m[n] * m[n];
        }
    }
    *size = sqrt(g2 * m2);
    return sum;
}

static void judge_quotients(const char *name, const char *options) {
    struct shot s = {.squares = true};
    double size, error[2], part[2] = {1e-3, 1e-4};
    take(&s, &(struct ht_gradient_choice){.field = HT_GRADIENT_STORE}, DOUBLE PLAIN, options);
    const double g = along_change(&s, fd_of(&s), &size);
    for (int i = 0; i < 2; i++)
        error[i] = fabs((chi_of(&s, part[i]) - chi_of(&s, -part[i])) / (2 * part[i]) - g) / size;
    TEST_BELOW(error[1], 1e-7, "%s: chi %.6g, by central differences", name, chi_of(&s, 0));
    TEST_BELOW(fabs(error[0] / error[1] - 100), 5,
               "%s: a hundred times that at ten times the change", name);
    finish(&s);
}

static void judge_born(const struct shot *s, const char *name, const char *options, double bound) {
    struct shot plain = {.gradient = NULL};
    struct born b;
    double size;
    take(&plain, &(struct ht_gradient_choice){.field = HT_GRADIENT_STORE}, DOUBLE PLAIN, options);
    open_born(&b, &plain);
    const double change = born_change(&plain, &b);
    const double sum = along_change(s, b.forward, &size);
    TEST_BELOW(fabs(sum - change) / size, bound, "%s: by the medium, change %.6g of %.2g", name,
               change, size);
    close_born(&b);
    finish(&plain);
}

static void judge(const struct kind *kind) {
    struct shot s = {.gradient = NULL};
    take(&s, &(struct ht_gradient_choice){.field = HT_GRADIENT_STORE}, kind->engine, kind->options);
    judge_amplitudes(&s, kind->name, kind->bound);
    if (kind->born) judge_born(&s, kind->name, kind->options, kind->bound);
    finish(&s);
}

static const char *const terms[] = {"time.stages=1 ", "time.stages=2 "};

static void test_plain(void) {
    const double bound = 1e-13;
    const char *sides[] = {WALLS2, ABSORBING2 "absorbing.type=sponge ", ABSORBING2};
    for (int n = 0; n < 30; n++) {
        const int order = (int[]){2, 8, 16}[n / 10], t = n % 10 < 6 ? 0 : 1, density = n % 2;
        const int side = n % 10 / 2 - 3 * t;
        char options[FD_TEXT], name[96];
        snprintf(name, sizeof name, "2-D order %d, %d term(s), %s, %s", order, t + 1,
                 side == 0   ? "walls"
                 : side == 1 ? "sponge"
                             : "layers",
                 density ? "density" : "modulus");
        snprintf(options, sizeof options, FIELD IN_FIELD "%s%s%sgrid.order=%d ",
                 density ? DENSE : ROUGH, sides[side], terms[t], order);
        judge(&(struct kind){name, options, DOUBLE PLAIN, bound, order == 8 || test_all()});
    }
    judge(&(struct kind){"2-D order 8, 2 terms, on walls",
                         ROOM IN_ROOM DENSE "boundary={x1=\"rigid\";x2=[\"free\",\"rigid\"];} "
                                            "time.stages=2",
                         DOUBLE PLAIN, bound, true});
    judge(&(struct kind){"1-D order 4, layers",
                         LINE_OF ON_LINE "boundary.x1=\"absorbing\" grid.order=4 time.stages=1",
                         DOUBLE PLAIN, bound, true});
    judge(&(struct kind){"1-D order 16, periodic",
                         LINE_OF ON_LINE "boundary.x1=\"periodic\" grid.order=16 time.stages=2",
                         DOUBLE PLAIN, bound, true});
    judge(&(struct kind){"3-D order 4, layers, density",
                         BOX IN_BOX DENSE "boundary={x1=\"absorbing\";x2=\"periodic\";x3=[\"free\","
                                          "\"absorbing\"];} grid.order=4 time.stages=1",
                         DOUBLE PLAIN, bound, true});
}

static void test_quotients(void) {
    judge_quotients("layers, density",
                    FIELD IN_FIELD DENSE ABSORBING2 "grid.order=4 time.stages=1");
    judge_quotients("walls, 2 terms", FIELD IN_FIELD ROUGH WALLS2 "time.stages=2");
}

/* Few programs: the others by night. */
static void test_kernels(void) {
    static const struct kind kinds[] = {
        {"kernels 2-D order 8, layers", FIELD IN_FIELD_OF("-2e27") ROUGH ABSORBING2 "time.stages=1",
         SINGLE, 1e-6, true},
        {"kernels 2-D order 4, walls, density, 2 terms",
         FIELD IN_FIELD DENSE WALLS2 "grid.order=4 time.stages=2", DOUBLE, 1e-13, true},
        /* The mean is corrected every 100 steps. */
        {"kernels 2-D order 8, closed",
         ROOM IN_ROOM ROUGH "boundary={x1=\"rigid\";x2=\"rigid\";} time.stages=1 time.end=60",
         SINGLE, 1e-6, true},
        {"kernels 3-D order 4, layers, density",
         BOX IN_BOX DENSE "boundary={x1=\"absorbing\";x2=\"absorbing\";x3=\"absorbing\";} "
                          "grid.order=4 time.stages=1",
         SINGLE, 1e-6, true},
        {"kernels 3-D order 8, walls, 2 terms",
         BOX IN_BOX ROUGH "boundary={x1=\"rigid\";x2=\"periodic\";x3=[\"free\",\"rigid\"];} "
                          "time.stages=2",
         SINGLE, 1e-6, true},
        {"kernels 1-D order 16", LINE_OF ON_LINE "boundary.x1=\"rigid\" grid.order=16", DOUBLE,
         1e-13, true},
    };
    for (size_t i = 0; i < (test_all() ? 6 : 3); i++) judge(&kinds[i]);
}

/* ---- states that are kept ---- */

static void judge_kept(const char *name, const char *engine, const char *options) {
    HT_ENDED(finish) struct shot whole;
    judge_segments(name, 2, HT_GRADIENT_CHECKPOINT, engine, options, &whole);
    judge_amplitudes(&whole, name, whole.run.sim->tuning.fp64 ? 1e-13 : 1e-6);
}

static void test_segments(void) {
    judge_kept("plain, layers, density", DOUBLE PLAIN,
               FIELD IN_FIELD DENSE ABSORBING2 "grid.order=4 time.stages=1");
    judge_kept("plain, sponge, 2 terms", DOUBLE PLAIN,
               FIELD IN_FIELD ROUGH ABSORBING2
               "absorbing.type=sponge time.stages=2 time.end=140.0");
    /* The mean is corrected every 100 steps. */
    judge_kept("single, closed", SINGLE,
               FIELD IN_FIELD ROUGH "boundary={x1=\"rigid\";x2=\"periodic\";} time.stages=1 "
                                    "time.end=100.0");
}

/* Outside of layers, the worst of all sums: |g - stored| / |stored|. */
static double distance(const struct shot *a, const struct shot *stored) {
    const struct ht_grid *grid = &a->run.sim->plan->grid;
    double worst = 0;
    for (int i = 0; i < HT_GRADIENT_SUMS; i++) {
        struct errors e = {0};
        if (!ht_gradient_has(a->gradient, (enum ht_gradient_sum)i)) continue;
        HT_FREED double *x = sums_of(a, i), *y = sums_of(stored, i);
        for (int64_t n = 0; n < a->run.nodes; n++) {
            double at[3];
            int axis;
            ht_grid_position(grid, HT_PRIMARY, n, at);
            if (i >= HT_GRADIENT_INVERSE_DENSITY)
                at[i - HT_GRADIENT_INVERSE_DENSITY] += grid->h[i - HT_GRADIENT_INVERSE_DENSITY] / 2;
            if (ht_layers_hold(grid, at, &axis)) continue;
            errors_add(&e, x[n], y[n]);
        }
        worst = test_worse(errors_l2(e), worst);
    }
    return worst;
}

/* Rounding is that of a few hundred steps; what 16 bits do to u, docs/developers/gradients.md. */
static void judge_reverse(const char *name, const char *engine, const char *options, int bits,
                          double bound) {
    struct shot stored = {.gradient = NULL}, s = {.gradient = NULL};
    struct ht_gradient_facts facts;
    take(&stored, &(struct ht_gradient_choice){.field = HT_GRADIENT_STORE}, engine, options);
    take(&s, &(struct ht_gradient_choice){.field = HT_GRADIENT_REVERSE, .bits = bits}, engine,
         options);
    ht_gradient_facts(s.gradient, &facts);
    TEST_BELOW(distance(&s, &stored), bound, "%s: backwards, %lld bytes of the host, as stored",
               name, (long long)facts.host);
    finish(&s);
    finish(&stored);
}

/* What is chosen where there is little memory of the device, of the host, of both. */
static void test_choice(void) {
    static const struct {
        int64_t memory, host; /* of the device as a part of all increments, in percent; 0: any */
        enum ht_gradient_field field;
        bool file;
    } rows[] = {{0, 0, HT_GRADIENT_STORE, false},
                {300, 0, HT_GRADIENT_REVERSE, false},
                {50, 1, HT_GRADIENT_CHECKPOINT, false},
                {1, 1, HT_GRADIENT_REVERSE, true}};
    struct shot stored = {.gradient = NULL};
    struct ht_gradient_facts all;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct shot s = {.gradient = NULL};
        struct ht_gradient_facts facts;
        const struct ht_gradient_choice choice = {
            .memory = i > 0 ? all.field_bytes * rows[i].memory / 100 : 0,
            .host = rows[i].host,
            .folder = "/tmp"};
        take(&s, &choice, DOUBLE PLAIN, FIELD IN_FIELD ROUGH ABSORBING2 "time.stages=1");
        ht_gradient_facts(s.gradient, &facts);
        if (i == 0) stored = s, all = facts;
        const double error = distance(&s, &stored);
        TEST_CHECK(
            facts.field == rows[i].field && (facts.file > 0) == rows[i].file && error <= 1e-12,
            "%d %% of what is stored, %lld bytes of the host: field %d, %lld bytes of a file, "
            "as stored but for %.1e",
            (int)rows[i].memory, (long long)rows[i].host, (int)facts.field, (long long)facts.file,
            error);
        if (i > 0) finish(&s);
    }
    finish(&stored);
}

static void test_reverse(void) {
    judge_reverse("plain, layers, density", DOUBLE PLAIN,
                  FIELD IN_FIELD DENSE ABSORBING2 "grid.order=4 time.stages=1", HT_GRADIENT_WHOLE,
                  1e-12);
    judge_reverse("plain, sponge, density, 2 terms", DOUBLE PLAIN,
                  FIELD IN_FIELD DENSE ABSORBING2
                  "absorbing.type=sponge grid.order=8 time.stages=2 time.end=140.0",
                  HT_GRADIENT_WHOLE, 1e-12);
    const char *single = FIELD IN_FIELD ROUGH ABSORBING2 "time.stages=1 time.end=24.0";
    judge_reverse("single, layers", SINGLE, single, HT_GRADIENT_WHOLE, 5e-6);
    judge_reverse("single, layers, 16 bits", SINGLE, single, 16, 2e-5);
}

/* ---- an image ---- */

/* W sum q(n) u(n - 1) by two steppers of their own, all u kept. */
static double *image_of(const struct shot *s, const char *engine, const char *options) {
    struct fd_run run;
    struct ht_stepper adjoint;
    fd_open(&run, "initial.type=zero %s %s", options, engine);
    const struct ht_grid *grid = &run.sim->plan->grid;
    double **u = NULL, *sum = room(run.nodes);
    HT_FREED double *q = room(run.nodes);
    must(HT_ALLOC(u, s->steps));
    struct ht_fd_stepper *f = ht_fd_stepper_of(fd_stepper(&run));
    must(ht_fd_stepper_create(&f->problem, &f->engine, f, &adjoint));
    struct ht_fd_stepper *fd = ht_fd_stepper_of(&adjoint);
    const struct ht_fd_driven by = {.receivers = run.sim->plan->receivers};
    must(ht_fd_injections_create(fd, &by, fd->injection));
    ht_fd_injections_give(fd->injection, s->r, s->steps + 1, 1);
    must(ht_fd_rest(fd));
    for (int64_t n = 0; n < s->steps; n++) {
        u[n] = fd_values(&run, HT_PRIMARY);
        must(ht_stepper_advance(fd_stepper(&run), 1));
    }
    for (int64_t n = s->steps; n > 0; n--) {
        must(ht_stepper_advance(&adjoint, 1));
        must(adjoint.ops->get(adjoint.self, HT_PRIMARY, 0, 1, 0, ht_grid_planes(grid, HT_PRIMARY),
                              q));
        for (int64_t i = 0; i < run.nodes; i++) {
            const int64_t n1 = ht_grid_nodes(grid, HT_PRIMARY, 0);
            const int64_t n2 = ht_grid_nodes(grid, HT_PRIMARY, 1);
            const int64_t m[3] = {i % n1, i / n1 % n2, i / (n1 * n2)};
            sum[i] += ht_grid_volume(grid) * ht_fd_weight(grid, m) * q[i] * u[n - 1][i] /
                      run.sim->plan->scale;
        }
        free(u[n - 1]);
    }
    free(u);
    ht_stepper_destroy(&adjoint);
    fd_close(&run);
    return sum;
}

static void judge_image(const char *name, enum ht_gradient_field field, const char *engine,
                        const char *options, double bound) {
    struct shot s = {.gradient = NULL};
    double off = 0, all = 0;
    take(&s, &(struct ht_gradient_choice){.image = HT_IMAGE_CROSS, .field = field}, engine,
         options);
    HT_FREED double *got = sums_of(&s, HT_GRADIENT_COMPLIANCE);
    HT_FREED double *expected = image_of(&s, engine, options);
    for (int64_t n = 0; n < s.run.nodes; n++) {
        double x[3];
        int axis;
        ht_grid_position(&s.run.sim->plan->grid, HT_PRIMARY, n, x);
        if (ht_layers_hold(&s.run.sim->plan->grid, x, &axis)) continue;
        off += pow(got[n] - expected[n], 2);
        all += pow(expected[n], 2);
    }
    TEST_BELOW(sqrt(off / all), bound, "image, %s: of %.3g, as its sum", name, sqrt(all));
    finish(&s);
}

static void test_image(void) {
    judge_image("layers, density, backwards", HT_GRADIENT_REVERSE, DOUBLE PLAIN,
                FIELD IN_FIELD DENSE ABSORBING2 "grid.order=4 time.stages=1", 1e-12);
    judge_image("walls, 2 terms", HT_GRADIENT_CHECKPOINT, DOUBLE PLAIN,
                FIELD IN_FIELD ROUGH WALLS2 "time.stages=2", 1e-13);
    if (test_have_double())
        judge_image("kernels, closed", HT_GRADIENT_STORE, SINGLE,
                    ROOM IN_ROOM ROUGH
                    "boundary={x1=\"rigid\";x2=\"rigid\";} time.stages=1 time.end=60",
                    1e-5);
}

int main(void) {
    test_plain();
    test_choice();
    test_quotients();
    test_image();
    if (test_have_double()) {
        test_kernels();
        test_segments();
        test_reverse();
    }
    return test_end("convergence/gradients");
}
