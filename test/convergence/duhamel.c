/* Sources of Hermite methods against exact solutions, in double precision,
 * sources and receivers between nodes. Lengths are in cells, the speed is 1.
 */
#include <stdarg.h>

#include "exact_shots.h"
#include "htwave/sampler.h"
#include "htwave/simulation.h"
#include "open_device.h"
#include "test.h"

static void must(enum ht_err err) {
    if (err == HT_OK) return;
    TEST_CHECK(false, "%s", ht_err_message());
    exit(test_end("duhamel"));
}

enum { MOST_OVERRIDES = 40, LENGTH = 320 };

struct options {
    char text[MOST_OVERRIDES][LENGTH], *list[MOST_OVERRIDES];
    int count;
};

static void add(struct options *o, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void add(struct options *o, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    vsnprintf(o->text[o->count], LENGTH, fmt, args);
    va_end(args);
    o->list[o->count] = o->text[o->count];
    o->count++;
}

/* ---- runs ---- */

struct scene {
    struct ht_params *params;
    struct ht_simulation *sim;
    struct ht_sampler *sampler;
};

static void open_scene(struct scene *s, struct options *o) {
    *s = (struct scene){.params = NULL};
    add(o, "output.snapshots=false");
    add(o, "output.pictures=false");
    add(o, "device.precision=double");
    add(o, "device.selfcheck=false");
    add(o, "device.tune=never");
    add(o, "device.select=%s", test_select());
    add(o, "device.backend=%s", test_backend());
    must(ht_params_read(NULL, o->count, o->list, &s->params));
    must(ht_simulation_plan(s->params, NULL, &s->sim));
    must(ht_simulation_compile(s->sim));
    must(ht_simulation_start(s->sim));
    if (s->sim->plan->receivers == NULL) return;
    double first;
    int64_t steps;
    must(ht_sampler_create(s->sim->plan, &s->sim->run.stepper, NULL,
                           &s->sampler));
    must(ht_sampler_collect(s->sampler, &steps, &first));
}

static void close_scene(struct scene *s) {
    ht_sampler_destroy(s->sampler);
    ht_simulation_destroy(s->sim);
    ht_params_destroy(s->params);
}

/* ---- traces ---- */

struct kind {
    const char *scheme;
    int order;
    double cfl;
    const char *more; /* keys of the source */
};

static void describe(const struct exact *e, const struct kind *kind, double end,
                     struct options *o) {
    const char *sides[] = {"[\"free\", \"rigid\"]", "\"periodic\"",
                           "\"rigid\""};
    char cells[60] = "", upper[80] = "", source[100] = "", to[100] = "";
    for (int k = 0; k < e->dims; k++) {
        const char *comma = k ? ", " : "";
        char *end_of = cells + strlen(cells);
        snprintf(end_of, 20, "%s%d", comma, (int)e->size[k]);
        end_of = upper + strlen(upper);
        snprintf(end_of, 20, "%s%.1f", comma, e->size[k]);
        end_of = source + strlen(source);
        snprintf(end_of, 30, "%s%.17g", comma, e->source[k]);
        end_of = to + strlen(to);
        snprintf(end_of, 30, "%s%.17g", comma, e->receiver[k]);
        add(o, "boundary.x%d=%s", k + 1,
            sides[(k > 0 && e->wall < 0 ? RIGID : e->wall) + 1]);
    }
    add(o, "system=%s", e->wave ? "wave" : "acoustic");
    add(o, "grid.cells=[%s]", cells);
    add(o, "grid.upper=[%s]", upper);
    add(o, "grid.order=%d", kind->order);
    add(o, "time.scheme=%s", kind->scheme);
    add(o, "time.end=%.17g", end);
    add(o, "time.cfl=%g", kind->cfl);
    if (!e->wave) add(o, "medium.rho=%g", e->density);
    add(o,
        "sources=({ position = [%s]; frequency = %.17g; kind = \"%s\"; %s %s })",
        source, e->frequency, e->force ? "force" : "monopole",
        !e->force     ? ""
        : e->dims > 2 ? "direction = [2.0, 0.0, 0.0];"
        : e->dims > 1 ? "direction = [2.0, 0.0];"
                      : "direction = [2.0];",
        kind->more ? kind->more : "");
    add(o, "receivers=({ name = \"r\"; position = [%s]; every = \"step\"; "
        "fields = [\"%s\"]; })", to, e->wave ? "u" : "p");
}

/* The trace of the scheme against the exact one: relative error in L2. */
static double trace_error(const struct exact *given, const struct kind *kind,
                          double end) {
    struct options o = {.count = 0};
    struct exact e = *given;
    struct scene s;
    describe(&e, kind, end, &o);
    open_scene(&s, &o);
    const struct ht_plan *plan = s.sim->plan;
    e.signal = plan->shots->shot[0].signal;
    e.delay = plan->shots->shot[0].delay;
    double difference = 0, whole = 0;
    for (int64_t i = 1; i <= plan->steps; i++) {
        double got;
        int64_t steps;
        must(ht_run_advance(&s.sim->run, 1));
        must(ht_sampler_collect(s.sampler, &steps, &got));
        const double exact = exact_at(&e, (double)i * plan->problem.dt);
        difference += (got - exact) * (got - exact);
        whole += exact * exact;
    }
    if (getenv("SHOW"))
        printf("# r %g Q %d reach %.3g error %.2g terms %d shapes %lld needed %.2g\n",
               plan->duhamel->form[0].radius, plan->duhamel->form[0].order,
               plan->duhamel->form[0].reach, plan->duhamel->form[0].error,
               plan->duhamel->terms, (long long)plan->duhamel->most[0].shapes, plan->duhamel->needed);
    close_scene(&s);
    return sqrt(difference / whole);
}

int main(int argc, char **argv) {
    /* dims wall scheme N cpw cfl wavelengths force wave more */
    if (argc > 9) {
        const double cells = atof(argv[5]), f = 1 / cells, far = atof(argv[7]);
        struct exact e = {.dims = atoi(argv[1]), .wall = atoi(argv[2]),
            .source = {12.37, 11.71, 10.18}, .density = atoi(argv[9]) ? 1 : 1.3, .frequency = f,
            .force = atoi(argv[8]), .wave = atoi(argv[9])};
        struct kind kind = {argv[3], atoi(argv[4]), atof(argv[6]), argc > 10 ? argv[10] : ""};
        for (int k = 0; k < 3; k++) {
            e.size[k] = k == 0 ? ceil((far + 1.5) * cells) + 12 : 24 + 2 * k;
            if (e.wall == 0 && e.dims > 1) e.size[k] = ceil((far + 4) * cells);
            e.receiver[k] = e.source[k] + (k == 0 ? far * cells : 0.1 * cells + 0.29);
        }
        printf("%g\n", trace_error(&e, &kind, (far + 2.5) * cells));
        return 0;
    }
    return test_end("duhamel");
}
