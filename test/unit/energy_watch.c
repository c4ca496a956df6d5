/* Runs that grow are seen, runs that are right are not taken for such. The serial reference steps;
 * states are looked at as a run does, twenty times. */
#include "htwave/energy.h"
#include "planned.h"

struct watched {
    enum ht_err err;
    struct ht_energy_watch watch;
    int64_t steps; /* taken */
    char message[400];
};

static enum ht_err step(struct planned *p, struct watched *w) {
    const struct ht_plan *plan = p->plan;
    const int64_t apart = plan->steps / 20 + 1;
    struct ht_state state;
    for (;; w->steps++) {
        const double time = (double)w->steps * plan->problem.dt;
        if (w->steps % apart == 0 || w->steps == plan->steps) {
            TRY(ht_state_measure(plan, &p->stepper, time, &state));
            TRY(ht_energy_watch(plan, time, &state, &w->watch));
        }
        if (w->steps == plan->steps) return HT_OK;
        TRY(ht_stepper_advance(&p->stepper, 1));
    }
}

/* text: pairs key=value, one per space. */
static struct watched watch(const char *text) {
    struct watched w = {.err = HT_OK};
    HT_ENDED(planned_end) struct planned p;
    must(plan_make(&p, ' ', "%s", text));
    must(plan_oracle(&p, true));
    w.err = step(&p, &w);
    if (w.err != HT_OK) snprintf(w.message, sizeof w.message, "%s", ht_err_message());
    return w;
}

#define LINE "grid.cells=[24] grid.upper=[24.0] "
#define SQUARE "grid.cells=[8,8] grid.upper=[8.0,8.0] "
#define JUMPS                                                         \
    "time.scheme=taylor "                                             \
    "medium.type=layers medium.axis=x1 medium.interfaces=[8.0,16.0] " \
    "medium.c=[1.5,2.0,1.5] medium.rho=[1.0,1.8,1.0] "
#define PULSE "initial.type=gaussian initial.centre=[4.3] initial.width=1.2 "
#define SMOOTH                                               \
    "time.scheme=taylor "                                    \
    "medium.type=expression medium.c=1+0.3*sin(2*pi*x1/24) " \
    "medium.rho=1+0.2*cos(2*pi*x1/24) "

/* The source acts until 2143. */
#define BURST                                                           \
    "grid.cells=[160] grid.upper=[160.0] boundary.x1=rigid "            \
    "sources=({position=[40.0];signal=\"burst\";frequency=0.07;cycles=" \
    "150.0;}) "

/* Energy that doubles ends a run, and the medium is named. */
static void test_growing(void) {
    static const char *const text[] = {
        LINE JUMPS PULSE "grid.order=3 time.end=400.0",
        LINE JUMPS PULSE "grid.order=2 time.end=600.0",
        LINE JUMPS PULSE "grid.order=1 time.end=600.0",
        LINE JUMPS "initial.type=random grid.order=3 time.end=60.0",
        /* while a source acts */
        BURST "time.scheme=taylor grid.order=3 time.end=1000.0 medium.degree=0 medium.type=layers "
              "medium.axis=x1 medium.interfaces=[100.3,125.1] medium.c=[1.0,3.0,1.0] "
              "medium.rho=[1.0,3.0,1.0]",
        /* no wavelength is known of it */
        LINE "system=wave time.scheme=taylor medium.type=layers medium.axis=x1 grid.order=4 "
             "medium.interfaces=[12.0,19.2] medium.c=[1.0,3.0,1.0] initial.type=expression "
             "time.end=360.0 initial.values.u=exp(-((x1-6)/1.92)^2)"};
    TEST_EACH(row, text) {
        struct watched w = watch(*row);
        TEST_CHECK(w.err == HT_ERR_NOT_FINITE &&
                       strstr(w.message, "likely cause: the medium") != NULL,
                   "%.60s...: ended after %lld steps: %s", *row, (long long)w.steps, w.message);
    }
    /* Slower growth is seen before it doubles. */
    struct watched w = watch(LINE JUMPS PULSE "grid.order=3 time.end=60.0");
    TEST_CHECK(w.err == HT_OK && w.watch.grows && w.watch.rise > 0.1,
               "layers, N = 3, %lld steps: the energy rose by %g (more than 0.1)",
               (long long)w.steps, w.watch.rise);
}

/* What is right, though nodal values at the start show little or no energy. */
static void test_right(void) {
    static const char *const text[] = {
        /* leapfrog: no pressure at time 0 */
        LINE "time.scheme=leapfrog boundary.x1=rigid initial.type=standing initial.modes=[6] "
             "initial.phase=1.5707963267948966 time.end=40.0",
        /* two cells per wavelength: slopes vanish at the nodes */
        LINE "system=wave time.scheme=leapfrog initial.type=plane initial.cycles=[12] "
             "time.end=40.0 grid.order=4",
        LINE "system=wave time.scheme=leapfrog boundary.x1=rigid grid.order=4 "
             "initial.type=standing initial.modes=[24] time.end=40.0",
        LINE "system=wave time.scheme=taylor grid.order=1 initial.type=standing boundary.x1=rigid "
             "initial.modes=[24] time.end=40.0",
        /* a pulse between the nodes */
        LINE "time.scheme=leapfrog initial.type=gaussian initial.centre=[3.5] initial.width=0.12 "
             "time.end=40.0",
        SQUARE "time.scheme=leapfrog initial.type=gaussian system=wave initial.centre=[3.5,3.5] "
               "initial.width=0.12 time.end=20.0",
        SQUARE "initial.type=gaussian initial.centre=[3.5,3.5] initial.width=0.12 time.end=20.0",
        /* sources at a wall, that of leapfrog beside data without pressure */
        BURST "time.scheme=taylor sources.1.position=[0.0] time.end=160.0",
        BURST "time.scheme=leapfrog initial.type=standing initial.modes=[6] "
              "initial.phase=1.5707963267948966 time.end=160.0",
        BURST "time.scheme=fd sources.1.kind=force sources.1.direction=[1.0] time.end=160.0 "
              "initial.type=standing initial.modes=[6] initial.phase=1.5707963267948966",
        LINE "initial.type=random grid.order=6 time.end=40.0",
        LINE "initial.type=random time.scheme=fd grid.order=2 boundary.x1=rigid time.end=200.0",
        LINE "initial.type=random system=wave time.scheme=taylor grid.order=2 time.end=40.0",
        LINE SMOOTH PULSE "grid.order=3 time.end=200.0",
        LINE SMOOTH "initial.type=random grid.order=4 time.end=60.0",
        LINE "system=wave time.scheme=taylor medium.type=expression grid.order=3 "
             "medium.c=1+0.3*sin(2*pi*x1/24) initial.type=random time.end=40.0",
        LINE "system=wave time.scheme=taylor medium.type=expression grid.order=3 "
             "medium.c=1+0.3*sin(2*pi*x1/24) initial.type=expression "
             "initial.values.u=exp(-((x1-8)/1.5)^2) time.end=40.0"};
    TEST_EACH(row, text) {
        struct watched w = watch(*row);
        TEST_CHECK(w.err == HT_OK && !w.watch.grows && w.steps > 10,
                   "%.70s...: %lld steps, rise %g%s%s", *row, (long long)w.steps, w.watch.rise,
                   w.err ? ": " : "", w.message);
    }
}

/* States that no stable run has. */
static void test_states(void) {
    static const struct {
        const char *scheme, *says;
        struct ht_state state[2];
    } rows[] = {
        {"fd",
         "the energy is -1",
         {{.energy = 1, .content = 1}, {.energy = -1, .content = -1, .rounding = 0.1}}},
        {"fd",
         "the energy of p, 3 at time 1, is more than",
         {{.energy = 1, .content = 1, .held = 1, .of_rate = true},
          {.energy = 1, .content = 1, .held = 3, .of_rate = true}}},
        {"taylor",
         "the energy overflows",
         {{.energy = (double)INFINITY, .content = 1}, {.energy = 1}}},
        {"leapfrog",
         "the energy overflows",
         {{.energy = 1, .content = 1}, {.energy = 1, .content = NAN}}},
        {"fd",
         "",
         {{.energy = 1, .content = 1, .held = 1, .of_rate = true},
          {.energy = -0.05, .content = -0.05, .rounding = 0.1, .held = 1, .of_rate = true}}}};
    TEST_EACH(row, rows) {
        struct ht_energy_watch watch = {.given = 0};
        HT_ENDED(planned_end) struct planned p;
        enum ht_err err = HT_OK;
        must(plan_make(&p, ' ', "grid.cells=[24] time.scheme=%s initial.width=0.2", row->scheme));
        for (int j = 0; err == HT_OK && j < 2; j++)
            err = ht_energy_watch(p.plan, j, &row->state[j], &watch);
        TEST_CHECK(row->says[0] == '\0'
                       ? err == HT_OK
                       : err == HT_ERR_NOT_FINITE && strstr(ht_err_message(), row->says) != NULL,
                   "%s: \"%s\": %s", row->scheme, row->says,
                   err == HT_OK ? "good" : ht_err_message());
    }
}

int main(void) {
    test_states();
    test_growing();
    test_right();
    return test_end("energy_watch");
}
