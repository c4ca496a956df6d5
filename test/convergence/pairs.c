/* Kinds of sources between kinds of sides by each scheme, in one dimension:
 * traces between nodes and steps against exact solutions, sums over image sources. Lengths are in
 * cells, the speed is 1. */
#include "../io/recorded.h"

static const double rho = 1.3, length = 56;

static const struct source {
    const char *name, *keys;
} sources[] = {{"monopole", "position=[17.37]"},
               {"force", "kind=\"force\";direction=[2.0];position=[17.37]"},
               {"volume", "type=\"volume\";width=1.7;position=[17.37]"}};
enum { MONOPOLE, FORCE, VOLUME, SOURCES };

/* turn: of p at a wall; 0: no wave comes back, or from the other side. */
static const struct sides {
    const char *name, *boundary, *more;
    int turn;
} sides[] = {{"periodic", "periodic", "", 0},
             {"rigid", "rigid", "", 1},
             {"free", "free", "", -1},
             {"absorbing", "absorbing", "", 0},
             {"sponge", "absorbing", "absorbing.type=sponge absorbing.cells=14", 0}};
enum { PERIODIC, ABSORBING = 3, SPONGE, SIDES };

static const struct scheme {
    const char *name, *keys;
    double cells; /* per wavelength of a Ricker's peak */
    const char *receivers;
} schemes[] = {
    {"taylor", "time.scheme=taylor grid.order=3", 8, "from=[27.03];to=[40.9];count=9"},
    {"leapfrog", "time.scheme=leapfrog grid.order=5", 8, "from=[27.03];to=[40.9];count=9"},
    {"fd", "time.scheme=fd time.stages=1 grid.order=16", 12, "from=[29.0];to=[37.0];count=5"}};
enum { TAYLOR, LEAPFROG, FD, SCHEMES };

/* ---- exact solutions ---- */

/* Of one source or image at a distance x. */
static double wave_from(const struct ht_shot *shot, bool pair, double x, double time,
                        bool velocity) {
    const bool force = shot->direction[0] != 0;
    const double s = ht_shot_at(shot, time - fabs(x), pair ? -1 : 0) / 2;
    const double way = force != velocity && x < 0 ? -1 : 1;
    if (pair) return s;
    return way * s * (force ? 1 : rho) / (velocity ? rho : 1);
}

/* A volume is the mean over its Gaussian. */
static double source_at(const struct ht_shot *shot, bool pair, double x, double time,
                        bool velocity) {
    const double apart = 0.2;
    double sum = 0, whole = 0;
    if (!(shot->width > 0)) return wave_from(shot, pair, x, time, velocity);
    for (int n = -30; n <= 30; n++) {
        const double q = n * apart;
        const double weight = exp(-q * q / 2);
        whole += weight;
        sum += weight * wave_from(shot, pair, x - q * shot->width, time, velocity);
    }
    return sum / whole;
}

static double exact_at(const struct ht_shot *shot, const struct sides *side, bool pair, double x,
                       double time, bool velocity) {
    const double at = shot->first[0];
    double sum = 0;
    for (int n = -2; n <= 2; n++)
        if (n == 0 || strcmp(side->boundary, "absorbing") != 0)
            sum +=
                source_at(shot, pair, x - at - n * (side->turn ? 2 : 1) * length, time, velocity);
    for (int n = -1; n <= 2 && side->turn != 0; n++)
        sum += side->turn * (shot->direction[0] != 0 ? -1 : 1) *
               source_at(shot, pair, x + at - 2 * n * length, time, velocity);
    return sum;
}

/* ---- runs ---- */

static double exact_of(const struct trial *t, const void *side, const double *x, double time,
                       const char *field) {
    return exact_at(&t->sim->plan->shots->shot[0], side, *field == 'u', *x, time, *field == 'v');
}

/* What the plan expects of the source, of the scheme over the way and of the layers, each within a
 * factor of 3. */
static double bound_of(const struct ht_plan *plan, const struct scheme *scheme, double way) {
    double bound = 1e-3, db[2];
    if (plan->duhamel != NULL)
        bound += 3 * (plan->duhamel->form[0].error +
                      plan->duhamel->form[0].travel * way / 10 / scheme->cells);
    if (ht_plan_layer_shots_db(plan, db)) bound += 3 * pow(10, db[0] / 20);
    return bound;
}

static bool exists(int scheme, int side, int source, bool pair) {
    if (pair && source == FORCE) return false;
    return scheme != LEAPFROG || side != ABSORBING;
}

static void test_pair(int scheme, int side, int source, bool pair) {
    const double cells = schemes[scheme].cells, end = 3.2 * cells + 56;
    const char *fields = pair ? "\"u\"" : scheme == LEAPFROG ? "\"p\"" : "\"p\",\"v1\"";
    const int count = pair || scheme == LEAPFROG ? 1 : 2;
    struct trial t;
    if (!exists(scheme, side, source, pair)) return;
    record(&t, "oracle", NONE,
           "system=%s grid={cells=[56];upper=[56];} %s time.end=%g boundary.x1=%s "
           "device.precision=double %s %s sources=({%s;frequency=%.17g;}) "
           "receivers=({name=\"a\";type=\"line\";%s;every=0.93;fields=[%s];})",
           pair ? "wave" : "acoustic", schemes[scheme].keys, end, sides[side].boundary,
           pair ? "" : "medium.rho=1.3", sides[side].more, sources[source].keys, 1 / cells,
           schemes[scheme].receivers, fields);
    for (int i = 0; i < count; i++) {
        const char *field = pair ? "u" : i ? "v1" : "p";
        const double bound = bound_of(t.sim->plan, &schemes[scheme], 2 * length);
        TEST_BELOW(group_error(&t, "a", field, exact_of, &sides[side]), bound,
                   "%s of %s, %s, sides %s", field, sources[source].name, schemes[scheme].name,
                   sides[side].name);
    }
    finish(&t);
}

/* ---- waves longer than layers ---- */

/* What comes back of a burst from the layers at either side of x = 30, seen at x = 20: the two
 * parts are 20 apart. */
static void test_long(const char *name, double wavelength, int cycles, const char *more) {
    static const struct sides open = {.boundary = "absorbing"};
    const char *field = strstr(name, "wave") ? "u" : "p";
    HT_ENDED(finish) struct trial t;
    record(
        &t, "oracle", NONE,
        "grid={cells=[60];upper=[60];order=3;} boundary.x1=\"absorbing\" device.precision=double "
        "time.end=%g %s sources=({position=[30.0];signal=\"burst\";cycles=%d.0;frequency=%.17g;}) "
        "receivers=({name=\"a\";position=[20.0];every=%g;fields=[\"%s\"];})",
        (cycles + 1) * wavelength, more, cycles, 1 / wavelength, wavelength / 40, field);
    const double seen = group_error(&t, "a", field, exact_of, &open);
    const double part = ht_layer_returned(&t.sim->plan->problem, 0, 0, 1 / wavelength, 1);
    const double expected = 2 * part * fabs(cos(acos(-1.0) * 20 / wavelength));
    TEST_BELOW(fabs(seen / expected - 1), 0.25,
               "%s: %.2g comes back of waves of %g cells, %.2g is expected", name, seen, wavelength,
               expected);
}

int main(void) {
    ht_log_level_set(HT_LOG_QUIET);
    for (int scheme = 0; scheme < SCHEMES; scheme++)
        for (int side = 0; side < SIDES; side++)
            for (int source = 0; source < SOURCES; source++)
                for (int pair = 0; pair < 2; pair++) test_pair(scheme, side, source, pair);
    test_long("layers", 62, 4, "medium.rho=1.3 time.scheme=taylor absorbing.alpha=0.4");
    test_long("wave", 250, 8, "time.scheme=taylor system=wave absorbing.alpha=0.12");
    test_long("sponge", 100, 8, "medium.rho=1.3 time.scheme=taylor absorbing.type=\"sponge\"");
    test_long("sponge of wave", 20, 12,
              "time.scheme=leapfrog system=wave absorbing.type=\"sponge\"");
    test_long("sponge by leapfrog", 20, 12,
              "medium.rho=1.3 time.scheme=leapfrog absorbing.type=\"sponge\"");
    return test_end("pairs");
}
