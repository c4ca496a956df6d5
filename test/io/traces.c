/* Traces of receivers on the serial reference and on the device of test/open_device.h: on nodes the
 * state, off them an exact wave within stated errors, between steps the scheme's oscillation. */
#include "../compiler.h"
#include "htwave/maps.h"
#include "recorded.h"

/* ---- maps ---- */

/* Maps of the nodes 3, 5, 7, 9 of x1 and 2, 4, 6 of x2 are those of the state there: extremes bit
 * by bit, sums but for their rounding. */
static void maps_of_nodes(const struct trial *t, const char *what) {
    enum { MAPS = 7, WIDE = 4, HIGH = 3, ROW = 17 };
    static const char *const name[MAPS] = {"maximum", "minimum",     "largest", "time",
                                           "rms",     "amplitude_1", "phase_1"};
    const double dt = t->sim->plan->problem.dt, turn = 2 * acos(-1.0) * 1.1;
    const int64_t first = (int64_t)ceil(0.1 / dt - 1e-6), every = (int64_t)floor(0.3 / dt);
    HT_FREED char *path = NULL;
    double map[MAPS][HIGH * WIDE], worst = 0;
    int wrong = 0;
    struct ht_h5 *file;
    must(ht_file_path(t->directory, "map_box.h5", &path));
    must(ht_h5_open(path, &file));
    for (int m = 0; m < MAPS; m++) must(ht_h5_read(file, name[m], (int64_t)HIGH * WIDE, map[m]));
    ht_h5_close(file);
    for (int i = 0; i < HIGH * WIDE; i++) {
        const int64_t node = (2 + 2 * (i / WIDE)) * ROW + 3 + 2 * (i % WIDE);
        double most = -INFINITY, least = INFINITY, when = 0, sum[3] = {0, 0, 0}, count = 0;
        for (int64_t n = first; n <= t->sim->plan->steps; n += every) {
            count += 1;
            const double u = t->nodal.value[n * t->nodal.nodes + node], at = (double)n * dt;
            if (fabs(u) > fmax(most, -least)) when = at;
            most = fmax(most, u);
            least = fmin(least, u);
            sum[0] += u * u;
            sum[1] += cos(turn * at) * u;
            sum[2] -= sin(turn * at) * u;
        }
        const double size = 2 / count * hypot(sum[1], sum[2]), rms = sqrt(sum[0] / count);
        wrong += map[0][i] != most || map[1][i] != least || map[2][i] != fmax(most, -least) ||
                 fabs(map[3][i] - when) > 1e-6;
        worst = fmax(worst, fabs(map[4][i] - rms) / rms);
        worst = fmax(worst, fabs(map[5][i] * cos(map[6][i]) - 2 * sum[1] / count) / rms);
        worst = fmax(worst, fabs(map[5][i] * sin(map[6][i]) - 2 * sum[2] / count) / rms);
        worst = fmax(worst, fabs(map[5][i] - size) / rms);
    }
    TEST_CHECK(wrong == 0, "%s: extremes of %d maps' nodes are not those of the state", what,
               wrong);
    TEST_BELOW(worst, t->params->device.precision == HT_DOUBLE ? 1e-13 : 1e-5,
               "%s: rms and waves of maps", what);
}
static const char maps[] =
    "output.maps=({name=\"box\";what=[\"maximum\",\"minimum\",\"time\",\"rms\"];"
    "frequencies=[1.1];stride=2;from=[-0.3,0.7];to=[1.25,1.4];start=0.1;every=0.3;})";

/* A map that steps keep beside: at each node the largest magnitude of all steps is missed by no
 * more than the map says of its samples, and not exceeded but by what lies between two steps. */
static void kept_by_steps(const char *variant, int kind, const char *more) {
    HT_ENDED(finish) struct trial t;
    struct ht_field_map map;
    const char *word = HT_WORD(MAP, kind);
    record(&t, "device", 0,
           "system=acoustic grid={cells=[30,26];lower=[-1,0];upper=[3,2.6];} time.scheme=fd "
           "boundary={x1=\"rigid\";x2=[\"free\",\"rigid\"];} time={end=6;dispersion=\"keep\";} "
           "device.variant=%s "
           "sources=({position=[0.4,1.3];frequency=0.5;}) receivers=({position=[0.0,0.5];}) "
           "output.maps=({name=\"box\";from=[0.0,0.0];},{name=\"all\";what=[\"%s\"];}) %s",
           variant, word, more);
    must(ht_map_find(t.sim->plan, t.sim->tuning.variant, t.sim->tuning.fp64, 1, &map));
    TEST_CHECK(map.shape.window > 0 && map.every > 1, "%s: steps keep the map", variant);
    HT_FREED char *path = NULL;
    double *kept, low = 0, high = 0;
    struct ht_h5 *file;
    must(HT_ALLOC(kept, t.nodal.nodes));
    must(ht_file_path(t.directory, "map_all.h5", &path));
    must(ht_h5_open(path, &file));
    must(ht_h5_read(file, word, t.nodal.nodes, kept));
    ht_h5_close(file);
    for (int64_t i = 0; i < t.nodal.nodes; i++) {
        double most = -INFINITY, swing = 0;
        for (int64_t n = 0; n <= t.sim->plan->steps; n++) {
            const double u = t.nodal.value[n * t.nodal.nodes + i];
            const double here = kind == HT_MAP_LARGEST ? fabs(u) : kind == HT_MAP_MINIMUM ? -u : u;
            most = fmax(most, here);
            swing = fmax(swing, fabs(u));
        }
        const double is = kind == HT_MAP_MINIMUM ? -kept[i] : kept[i];
        if (swing < 1e-6) continue; /* free */
        low = fmax(low, (most - is) / swing);
        high = fmax(high, (is - most) / swing);
    }
    const double turn = acos(-1.0) * t.sim->plan->shots->highest * t.sim->plan->problem.dt;
    TEST_BELOW(low, map.lacks, "%s, %s: what the map lacks", variant, word);
    TEST_BELOW(high, 1 / cos(turn) - 1, "%s, %s: what the map exceeds", variant, word);
    free(kept);
}

/* ---- on nodes ---- */

/* All nodes of a grid of 5 x 4 nodes (9, 7 with rigid sides, in 3-D 4 planes) as a lattice: values
 * are those of the state at each step, bit for bit. */
static void on_nodes(const char *backend, const char *scheme, int field, const char *name,
                     const char *more) {
    HT_ENDED(finish) struct trial t;
    record(&t, backend, field,
           "system=acoustic grid={cells=[16,12];lower=[-1,0.5];upper=[3,2];} "
           "boundary={x1=[\"rigid\",\"rigid\"];x2=\"periodic\";} initial={type=\"random\";seed=3;} "
           "time.end=0.7 time.scheme=%s "
           "receivers=({name=\"all\";type=\"plane\";from=[-1,0.5];to=[3,0.5];side=[-1,1.875];count="
           "17;count2=12;fields=[\"%s\"];}) %s %s",
           scheme, name, more, strcmp(backend, "device") == 0 ? maps : "");
    int64_t extent[8], wrong = 0;
    char set[32];
    snprintf(set, sizeof set, "all/%s", name);
    double *data = read_set(&t, set, extent);
    const int64_t steps = t.sim->plan->steps;
    for (int64_t i = 0; i < extent[0]; i++)
        for (int64_t n = 0; n < extent[1]; n++)
            wrong += data[i * extent[1] + n] != t.nodal.value[n * t.nodal.nodes + i];
    TEST_CHECK(extent[0] == t.nodal.nodes && extent[1] == steps + 1 && wrong == 0,
               "%s, %s of %s at %d nodes, %d steps: %d values are not those of the state", backend,
               name, scheme, (int)extent[0], (int)steps, (int)wrong);
    free(data);
    if (strcmp(backend, "device") == 0) maps_of_nodes(&t, scheme);
}

/* ---- a wave at any position ---- */

/* p = cos(k x - omega t), or its derivative along an axis, over k. */
struct wave {
    double k[3], omega;
};

static double wave_exact(const struct trial *t, const void *context, const double *x, double time,
                         const char *field) {
    const struct wave *w = context;
    const char *slope = strstr(field, "_x");
    double phase = -w->omega * time;
    for (int k = 0; k < t->sim->plan->grid.dims; k++) phase += w->k[k] * x[k];
    return slope == NULL ? cos(phase) : -w->k[slope[2] - '1'] * sin(phase);
}

/* The largest error of a group, of slopes over k. */
static double wave_error(struct trial *t, const char *group, const char *field,
                         const struct wave *w) {
    const char *slope = strstr(field, "_x");
    return set_error(t, group, field, wave_exact, w, NULL) /
           (slope == NULL ? 1 : fabs(w->k[slope[2] - '1']));
}

/* A plane wave along the diagonal of the unit square. */
static void wave_at(struct trial *t, const char *fields, int cycles, int cells, const char *more) {
    record(t, "oracle", NONE,
           "system=%s grid={cells=[%d,%d];} initial={type=\"plane\";cycles=[%d,%d];} "
           "receivers=({name=\"line\";type=\"line\";from=[0.013,0.17];to=[0.987,0.771];count=29;"
           "fields=[%s];}) %s",
           strcmp(fields, "\"u\"") == 0 ? "wave" : "acoustic", cells, cells, cycles, cycles, fields,
           more);
}
static const char values_slopes[] = "\"p\",\"p_x1\",\"p_x2\"";

/* Errors of both axes add up, and a slope has that of a value along the other axis: htwave/grid.h.
 * Those of the scheme are known exactly. */
static void sinc_at(int points, double value, double slope) {
    const double k = 6 * acos(-1.0);
    const struct wave wave = {{k, k}, k * sqrt(2)};
    HT_ENDED(finish) struct trial t;
    wave_at(&t, values_slopes, 3, 3 * points,
            "time.scheme=fd time.end=0.05 time.cfl=0.2 grid.order=16");
    const struct ht_fd_weights w = ht_fd_weights(16);
    const double own = ht_fd_error(&w, 2, (double[3]){1, 1}, points / sqrt(2),
                                   t.sim->plan->problem.dt * 3 * points,
                                   t.params->time.end * wave.omega / (2 * acos(-1.0)));
    TEST_BELOW(wave_error(&t, "line", "p", &wave), 2 * value + own,
               "p at %d points per wavelength along each axis", points);
    TEST_BELOW(wave_error(&t, "line", "p_x1", &wave), slope + value + own, "p_x1 there");
    TEST_BELOW(wave_error(&t, "line", "p_x2", &wave), slope + value + own, "p_x2 there");
}

/* A wave along x3, through the planes: one axis errs. */
static void along_planes(const char *backend) {
    const double k = 6 * acos(-1.0);
    const struct wave wave = {{0, 0, k}, k};
    HT_ENDED(finish) struct trial t;
    record(&t, backend, NONE,
           "system=acoustic grid={cells=[6,5,18];order=8;} time.scheme=fd "
           "initial={type=\"plane\";cycles=[0,0,3];} time={end=0.05;cfl=0.2;} "
           "receivers=({name=\"a\";type=\"line\";from=[0.31,0.2,0.003];to=[0.72,0.9,0.997];count="
           "31;fields=[\"p\",\"p_x3\"];})");
    const struct ht_fd_weights w = ht_fd_weights(8);
    const double own =
        ht_fd_error(&w, 2, (double[3]){0, 0, 1}, 6, t.sim->plan->problem.dt * 18, 0.05 * 3);
    TEST_BELOW(wave_error(&t, "a", "p", &wave), 5.9e-4 + own + 1e-6, "%s: p of a wave along x3",
               backend);
    TEST_BELOW(wave_error(&t, "a", "p_x3", &wave), 1.9e-3 + own + 1e-6, "%s: p_x3 of it", backend);
}

/* Polynomials of cells: the order 2N+1 of the scheme, of slopes 2N at least. */
static void polynomials(int order, int coarse) {
    static const char *const field[] = {"p", "p_x2"};
    const double k = 4 * acos(-1.0);
    const struct wave wave = {{k, k}, k * sqrt(2)};
    double error[2][2];
    for (int fine = 0; fine < 2; fine++) {
        HT_ENDED(finish) struct trial t;
        wave_at(
            &t, values_slopes, 2, coarse << fine,
            HT_KEY("time.scheme=taylor time.end=0.4 grid.order=%d device.precision=double", order));
        for (int i = 0; i < 2; i++) error[fine][i] = wave_error(&t, "line", field[i], &wave);
    }
    for (int i = 0; i < 2; i++) {
        const double rate = log2(error[0][i] / error[1][i]), least = 2 * order + 1 - i - 0.5;
        TEST_CHECK(rate > least && error[1][i] < 0.05,
                   "N = %d, %s: errors %.2e %.2e, order %.2f (at least %.1f)", order, field[i],
                   error[0][i], error[1][i], rate, least);
    }
}

/* ---- between steps ---- */

/* Of the two-point polynomial over theta radians of a wave. */
static double hermite_error(int order, double theta) {
    double error = 1;
    for (int n = 1; n <= 2 * order + 2; n++) error *= theta / 2 / n;
    return error;
}

/* turn: omega times the distance of levels; theta: radians per cell along an axis. Taylor: both
 * ends of a step. Leapfrog of data: values and second derivatives at the first six levels, whose
 * weights add up to 4 and to 3; the latter are those of the cell's polynomial along two axes. */
static double time_error(const char *scheme, int order, double turn, double theta) {
    double second = 1;
    if (strcmp(scheme, "taylor") == 0) return 2 * hermite_error(order, turn);
    for (int n = 1; n <= 2 * order; n++) second *= theta / 2 / n;
    return 4e-6 * pow(turn, 12) + 3 * turn * turn * second / 2;
}

/* By leapfrog from rest: the sinc over 32 levels (src/solve/resampler.c). */
static double sinc_error(double turn) {
    return turn < 2.2 ? 1e-6 : turn < 2.4 ? 2e-4 : 1;
}

/* Samples between steps of a plane wave err no more than those on steps and one interpolation, and
 * converge with the order of the scheme. */
static void hermite_wave(const char *scheme, const char *field, int order, int coarse) {
    const double k = 4 * acos(-1.0);
    const struct wave wave = {{k, k}, k * sqrt(2)};
    double error[2][2], step[2];
    for (int i = 0; i < 4; i++) {
        const int fine = i / 2, between = i % 2;
        HT_ENDED(finish) struct trial t;
        char more[200];
        snprintf(more, sizeof more,
                 "time.scheme=%s time.end=1.2 grid.order=%d device.precision=double %s", scheme,
                 order, between ? "receivers.1.every=0.00371 receivers.1.start=0.0013" : "");
        wave_at(&t, HT_KEY("\"%s\"", field), 2, coarse << fine, more);
        step[fine] = t.sim->plan->problem.dt;
        error[fine][between] = wave_error(&t, "line", field, &wave);
    }
    for (int fine = 0; fine < 2; fine++)
        TEST_BELOW(
            error[fine][1],
            1.02 * error[fine][0] + time_error(scheme, order,
                                               step[fine] * wave.omega * (*field == 'u' ? 0.5 : 1),
                                               k / (coarse << fine)),
            "%s, %s, N = %d, %d cells per wavelength: worst sample between steps (%.2e on steps)",
            scheme, field, order, (coarse << fine) / 2, error[fine][0]);
    const double rate = log2(error[0][1] / error[1][1]);
    TEST_CHECK(rate > 2 * order + 0.5, "order %.2f (at least %.1f)", rate, 2 * order + 0.5);
}

/* Leapfrog of `wave`: cells of the dual grid reach beyond walls. A standing mode at both walls of
 * either axis, and between. */
static const double mode[2] = {2 * HT_PI, 1.5 * HT_PI};

static double mode_exact(HT_UNUSED const struct trial *t, HT_UNUSED const void *context,
                         const double *x, double time, HT_UNUSED const char *field) {
    return cos(mode[0] * x[0]) * sin(mode[1] * x[1]) * cos(hypot(mode[0], mode[1]) * time);
}

static void hermite_mirrors(void) {
    double error[2] = {0, 0}, turn = 0;
    for (int between = 0; between < 2; between++) {
        HT_ENDED(finish) struct trial t;
        record(&t, "oracle", NONE,
               "system=wave grid={cells=[8,8];order=3;} time={end=1.2;scheme=\"leapfrog\";} "
               "boundary={x1=\"rigid\";x2=[\"free\",\"rigid\"];} "
               "initial={type=\"standing\";modes=[2,2];} device.precision=double "
               "receivers=({name=\"a\";type=\"line\";from=[0,0.0];to=[1,1];count=17;},{name=\"b\";"
               "type=\"line\";from=[0.02,0.97];to=[0.99,0.06];count=9;}) %s",
               between ? "receivers.1.every=0.0071 receivers.2.every=0.0071" : "");
        turn = hypot(mode[0], mode[1]) * t.sim->plan->problem.dt / 2;
        error[between] = test_worse(set_error(&t, "a", "u", mode_exact, NULL, NULL),
                                    set_error(&t, "b", "u", mode_exact, NULL, NULL));
    }
    TEST_BELOW(error[1], 1.02 * error[0] + time_error("leapfrog", 3, turn, mode[1] / 8),
               "leapfrog, u, at walls between steps (%.2e on steps)", error[0]);
}

/* Between steps: the samples of group 2 against the polynomial through twelve steps of group 1, at
 * the same places; the largest of all fields, relative, from six steps after the start to six
 * before the end. */
static double between_error(struct trial *t, const char *field) {
    int64_t steps[8], samples[8];
    double worst = 0, largest = 0;
    HT_FREED double *at = read_set(t, "between/time", NULL);
    HT_FREED double *u = read_set(t, HT_KEY("steps/%s", field), steps);
    HT_FREED double *v = read_set(t, HT_KEY("between/%s", field), samples);
    const double dt = t->sim->plan->problem.dt;
    for (int64_t i = 0; i < samples[0] * samples[1]; i++) {
        const double s = at[i % samples[1]] / dt, *row;
        const int64_t low = (int64_t)floor(s) - 5;
        double weight[12], sum = 0;
        if (low < 0 || low + 12 > steps[1]) continue;
        ht_lagrange_weights(12, s - (double)low, weight);
        row = u + i / samples[1] * steps[1] + low;
        for (int j = 0; j < 12; j++) sum += weight[j] * row[j];
        worst = fmax(worst, fabs(sum - v[i]));
        largest = fmax(largest, fabs(v[i]));
    }
    return worst / largest;
}

/* Several fields at walls, corners, vertices and inside; the derivatives by time are those of the
 * equations, the steps know nothing of them. omega, k:
 * of the fastest wave that matters; k along an axis. The polynomial through twelve steps errs by
 * 5.6e-5 (omega dt)^12. */
static void hermite_between(const char *title, int order, double omega, double k,
                            const char *fields, const char *line, const char *more) {
    HT_ENDED(finish) struct trial t;
    char text[32], *field = text, *comma;
    record(
        &t, "oracle", NONE,
        "grid.order=%d %s "
        "receivers=({name=\"steps\";type=\"line\";%s;fields=[%s];},{name=\"between\";type=\"line\";"
        "%s;fields=[%s];every=0.00713;start=0.0021;}) device.precision=double time.scheme=taylor",
        order, more, line, fields, line, fields);
    const struct ht_plan *plan = t.sim->plan;
    const double turn = omega * plan->problem.dt;
    const double bound = 6e-5 * pow(turn, 12) + 2 * hermite_error(order, turn) +
                         2 * hermite_error(order, k * plan->grid.h[0]);
    snprintf(text, sizeof text, "%s", fields);
    do {
        char name[8];
        comma = strchr(field, ',');
        sscanf(field, "\"%7[^\"]", name);
        TEST_BELOW(between_error(&t, name), bound, "%s, N = %d: %s between steps", title, order,
                   name);
        field = comma + 1;
    } while (comma != NULL);
}

static void test_hermite_times(void) {
    const double pi = acos(-1.0);
    static const char in_2d[] = "from=[0,0.0];to=[1,0.75];count=13";
    hermite_wave("taylor", "p", 1, 20);
    hermite_wave("taylor", "p", 2, 10);
    hermite_wave("taylor", "p", 3, 8);
    hermite_wave("leapfrog", "p", 2, 10);
    hermite_wave("leapfrog", "p", 3, 8);
    hermite_wave("leapfrog", "u", 2, 10);
    hermite_wave("leapfrog", "u", 3, 8);
    hermite_mirrors();
    /* modes of walls at both ends of each axis: k = pi / length */
    hermite_between("walls", 2, 1.5 * sqrt(3) * pi, 1.5 * pi, "\"p\",\"v2\",\"p_x3\"",
                    "from=[0,0.0,0.0];to=[1,0.75,1.0];count=13",
                    "system=acoustic grid={cells=[4,4,5];upper=[1,1,1];} "
                    "initial={type=\"standing\";modes=[1,1,1];} "
                    "boundary={x1=\"rigid\";x2=\"free\";x3=\"rigid\";} time={end=1.9;step=0.1;}");
    hermite_between(
        "periodic", 4, 2 * pi, 2 * pi, "\"p\",\"v1\"", in_2d,
        "system=acoustic grid.cells=[8,8] initial={type=\"plane\";cycles=[1,0];} time.end=1.9 ");
    hermite_between("a medium that varies", 3, 1.5 * 3 * pi, 3 * pi, "\"p\",\"v2\"", in_2d,
                    "system=acoustic grid.cells=[10,10] "
                    "initial={type=\"expression\";values={p=\"cos(3*pi*x1)*cos(2*pi*x2)\";};} "
                    "boundary={x1=\"rigid\";x2=\"rigid\";} "
                    "medium={type=\"expression\";c=\"1+0.2*cos(pi*x1)\";rho=\"1+0.3*cos(pi*x2)\";} "
                    "time.end=1.5");
}

/* A standing mode from rest is cos(w t) at the steps exactly, with the scheme's own w: u(2) +
 * u(0) = 2 cos(w dt) u(1). Returns w dt; *error: of samples at 0.0013 + 0.0371 k, *inside: of those
 * with six steps to either side. */
static double oscillate(double cfl, double *error, double *inside) {
    HT_ENDED(finish) struct trial t;
    record(&t, "oracle", NONE,
           "system=acoustic grid={cells=[24];order=8;} boundary.x1=rigid "
           "initial={type=\"standing\";modes=[8];} time={scheme=\"fd\";cfl=%g;end=2.0;} "
           "device.precision=double "
           "receivers=({name=\"steps\";position=[0.0];},{name=\"between\";position=[0.0];every=0."
           "0371;start=0.0013;})",
           cfl);
    HT_FREED double *step = read_set(&t, "steps/p", NULL), *time = NULL;
    int64_t extent[8];
    HT_FREED double *between = read_set(&t, "between/p", extent);
    time = read_set(&t, "between/time", NULL);
    const double dt = t.sim->plan->problem.dt;
    const double turn = acos((step[2] + step[0]) / (2 * step[1]));
    *error = *inside = 0;
    for (int64_t n = 0; n < extent[1]; n++) {
        const double at = time[n] / dt;
        const double off = fabs(between[n] - step[0] * cos(turn * at)) / step[0];
        *error = fmax(*error, off);
        if (at > 6 && at < (double)t.sim->plan->steps - 6) *inside = fmax(*inside, off);
    }
    TEST_CHECK(extent[1] == 54 && fabs(time[53] - 1.9676) < 1e-12,
               "%d samples (54), the last at %.5g (1.9676)", (int)extent[1], time[53]);
    return turn;
}

static void between_steps(void) {
    for (int i = 0; i < 3; i++) {
        const double cfl[] = {0.8, 0.5, 0.25};
        double error, inside;
        const double turn = oscillate(cfl[i], &error, &inside);
        TEST_BELOW(error, 9.4e-3 * pow(turn, 12) + 1e-11,
                   "omega dt = %.3g: worst sample between steps", turn);
        TEST_BELOW(inside, 5.6e-5 * pow(turn, 12) + 1e-11,
                   "omega dt = %.3g: with six steps to either side", turn);
    }
}

/* ---- velocities of finite differences ---- */

/* Of a wave along x1 (plane: from v = p/Z on; standing between free walls: from v = 0), at walls,
 * on nodes and between, at steps and between them. With two terms, or one term without its
 * dispersion. k h = 2 pi/6, where slopes err by 1.9e-3 of their size, values by 5.9e-4; the
 * integral of slopes by as much at either end, where they are not 0 there. */
struct flow {
    bool plane;
    double k;
};

static double flow_exact(HT_UNUSED const struct trial *t, const void *context, const double *x,
                         double time, const char *field) {
    const struct flow *f = context;
    if (strcmp(field, "v2") == 0) return 0;
    return (f->plane ? cos(f->k * (*x - time)) : -cos(f->k * *x) * sin(f->k * time)) / 2;
}

static void velocities(const char *backend, bool plane, int terms) {
    const double pi = acos(-1.0), rho = 2, h = plane ? 1.0 / 18 : 1.0 / 15;
    const struct flow flow = {plane, plane ? 6 * pi : 5 * pi};
    HT_ENDED(finish) struct trial t;
    record(&t, backend, NONE,
           "system=acoustic grid={cells=[%d,20];order=16;} medium={c=1;rho=%g;} %s "
           "time={scheme=\"fd\";stages=%d;end=2.0;%s} device.precision=double "
           "receivers=({name=\"a\";type=\"line\";from=[0,0.05];to=[1,0.71];count=14;fields=[\"p\","
           "\"v1\",\"v2\"];},{name=\"b\";type=\"line\";from=[0,0.05];to=[1,0.71];count=14;fields=["
           "\"v1\",\"p_x1\"];every=0.0173;start=0.0031;})",
           plane ? 18 : 15, rho,
           plane ? "initial={type=\"plane\";cycles=[3,0];}"
                 : "initial={type=\"standing\";modes=[5,0];} boundary.x1=\"free\"",
           terms, terms > 1 ? "cfl=0.2;" : "");
    const struct ht_fd_weights w = ht_fd_weights(16);
    const double own =
        ht_fd_error(&w, 2, (double[3]){1, 0, 0}, 2 * pi / (flow.k * h),
                    terms > 1 ? t.sim->plan->problem.dt / h : 1e-3, 2 * flow.k / (2 * pi));
    for (int i = 0; i < 2; i++)
        TEST_BELOW(rho * set_error(&t, i ? "b" : "a", "v1", flow_exact, &flow, NULL),
                   (plane ? 2 : 1) * 1.9e-3 + 5.9e-4 + own + 1e-6, "%s, %d terms, %s wave: %s",
                   backend, terms, plane ? "plane" : "standing", i ? "b" : "a");
    TEST_BELOW(set_error(&t, "a", "v2", flow_exact, &flow, NULL), 1e-12, "none across the wave");
}

/* Sample times that fall on steps take the values there. */
static void multiples(void) {
    HT_ENDED(finish) struct trial t;
    int64_t extent[8], steps[8], wrong = 0;
    record(&t, "oracle", NONE,
           "system=wave grid={cells=[12];} time={scheme=\"fd\";end=0.6;step=0.02;} "
           "initial={type=\"random\";} "
           "receivers=({name=\"a\";position=[0.31];},{name=\"b\";position=[0.31];every=0.06;start="
           "0.12;},{name=\"c\";position=[0.31];start=0.1001;})");
    HT_FREED double *a = read_set(&t, "a/u", steps), *b = read_set(&t, "b/u", extent);
    for (int64_t n = 0; n < extent[1]; n++) wrong += b[n] != a[6 + 3 * n];
    TEST_CHECK(steps[1] == 31 && extent[1] == 9 && wrong == 0,
               "%d samples on steps (9): %d are not those of the step", (int)extent[1], (int)wrong);
    HT_FREED double *c = read_set(&t, "c/u", extent), *time = read_set(&t, "c/time", 0);
    TEST_CHECK(extent[1] == 25 && c[0] == a[6] && fabs(time[0] - 0.12) < 1e-12,
               "each step from 0.1001 on: %d samples (25) from %.4g (0.12)", (int)extent[1],
               time[0]);
}

/* ---- near sources ---- */

/* In one dimension, speed 1, before waves come back from the sides: over the distance from the
 * receiver, the source's Gaussian on both sides of it. */
static double near_exact(const struct trial *t, HT_UNUSED const void *context, const double *x,
                         double time, const char *field) {
    enum { POINTS = 8 };
    const struct ht_source_form *form = &t->sim->plan->duhamel->form[0];
    const struct ht_shot *shot = &t->sim->plan->shots->shot[0];
    const bool force = shot->direction[0] != 0, flips = force != (*field == 'v');
    const double rho = 1.3, at = (*x - shot->first[0]) / form->radius;
    double sum = 0, place[POINTS], weight[POINTS];
    ht_gauss_points(POINTS, place, weight);
    for (int i = 0; i < POINTS * (int)ceil(fabs(at) + 6); i++) {
        const int panel = i / POINTS;
        const double r = panel + 0.5 + place[i % POINTS];
        long double below, above;
        ht_flat_derivatives(form->order, at - r, 1, &below);
        ht_flat_derivatives(form->order, at + r, 1, &above);
        sum += weight[i % POINTS] * (double)(flips ? below - above : below + above) *
               ht_shot_at(shot, time - r * form->radius, 0) / 2;
    }
    return sum * (!force && !flips ? rho : force && !flips ? 1 / rho : 1);
}

/* From the source on to beyond its reach: samples between steps err no more than those on steps and
 * one interpolation of the highest frequency. */
static void near_line(const char *scheme, int order, double cells, const char *field,
                      const char *more) {
    const double theta = 2.55 * 2 * acos(-1.0) / cells;
    HT_ENDED(finish) struct trial t;
    char line[200];
    snprintf(line, sizeof line, "type=\"line\";from=[28.37];to=[39.37];count=12;fields=[\"%s\"];",
             field);
    record(
        &t, "oracle", NONE,
        "system=acoustic grid={cells=[60];upper=[60];order=%d;} medium.rho=1.3 time.scheme=%s "
        "time.end=%.17g boundary.x1=\"free\" sources=({position=[30.37];frequency=%.17g;%s}) "
        "receivers=({name=\"steps\";%s},{name=\"between\";every=0.273;%s}) device.precision=double",
        order, scheme, 3.5 * cells + 12, 1 / cells, more, line, line);
    const double on = group_error(&t, "steps", field, near_exact, NULL);
    const double turn = theta * t.sim->plan->problem.dt;
    TEST_BELOW(group_error(&t, "between", field, near_exact, NULL),
               1.1 * on + (strcmp(scheme, "leapfrog") == 0
                               ? sinc_error(turn)
                               : time_error(scheme, order, turn, theta)),
               "%s N = %d, %g cells, %s near a source %s, between steps (%.2e on steps)", scheme,
               order, cells, field, more, on);
}

static void near_sources(void) {
    near_line("taylor", 3, 5, "p", "");
    near_line("taylor", 3, 5, "v1", "");
    near_line("taylor", 5, 4, "p", "kind=\"force\";direction=[1.0];");
    near_line("taylor", 5, 8, "p", "signal=\"burst\";cycles=1.0;");
    near_line("leapfrog", 3, 8, "p", "");
    near_line("leapfrog", 5, 9, "p", "kind=\"force\";direction=[1.0];");
    /* images, slopes, two sources, whose spectra end at k r = 8 */
    const double k = 8 / 0.15;
    hermite_between(
        "near sources", 4, k, k, "\"p\",\"v2\",\"p_x1\"", "from=[0,0.3];to=[0.4,0.3];count=9",
        "system=acoustic grid={cells=[8,7];upper=[0.4,0.35];} medium.rho=1.3 "
        "boundary={x1=[\"free\",\"rigid\"];x2=\"rigid\";} time={end=1.5;step=0.01;} "
        "sources=({position=[0.06,0.31];frequency=1;radius=3;tolerance=1e-9;},{kind=\"force\";"
        "direction=[1,2];position=[0.33,0.02];frequency=0.8;radius=3;tolerance=1e-9;})");
}

/* ---- kernels against the plain engine ---- */

/* The same run in double on both: they differ by rounding, eps times the number of roundings of all
 * steps and of a sum of 8^3 products. */
static void twins(void) {
    double *value[2], largest = 0, worst = 0;
    int64_t extent[2][8], steps = 0;
    for (int i = 0; i < 2; i++) {
        HT_ENDED(finish) struct trial t;
        record(&t, i ? "device" : "oracle", NONE,
               "system=acoustic grid={cells=[12,9,11];upper=[1.2,0.9,1.1];} "
               "boundary={x1=\"rigid\";x2=[\"free\",\"rigid\"];} "
               "initial={type=\"gaussian\";centre=[0.5,0.4,0.6];width=0.2;} "
               "medium={type=\"expression\";c=\"1+0.5*x1\";rho=\"2-x2\";} time.end=0.3 "
               "time.scheme=fd device.precision=double "
               "receivers=({name=\"a\";type=\"line\";from=[0.01,0.0,0.02];to=[1.2,0.9,1.09];count="
               "23;fields=[\"p\",\"p_x1\",\"p_x2\",\"p_x3\"];every=0.01;})");
        value[i] = read_set(&t, "a/p_x3", extent[i]);
        steps = t.sim->plan->steps;
    }
    const int64_t samples = extent[0][0] * extent[0][1];
    for (int64_t n = 0; n < samples; n++) {
        largest = fmax(largest, fabs(value[0][n]));
        worst = test_worse(worst, fabs(value[0][n] - value[1][n]));
    }
    for (int i = 0; i < 2; i++) free(value[i]);
    TEST_BELOW(worst / largest, 2.3e-16 * (double)(512 + 100 * steps),
               "p_x3 in 3-D by kernels and by plain loops, %d samples", (int)samples);
}

int main(void) {
    ht_log_level_set(HT_LOG_QUIET);
    test_optimise(false); /* few steps of many programs */
    const char *fp64 = "device.precision=double grid.order=2";
    on_nodes("oracle", "fd", 0, "p", fp64);
    on_nodes("oracle", "taylor", 0, "p", fp64);
    on_nodes("oracle", "taylor", 2, "v2", fp64);
    sinc_at(4, 1.3e-3, 1.6e-2);
    sinc_at(6, 5.9e-4, 1.9e-3);
    along_planes("oracle");
    polynomials(1, 20);
    polynomials(2, 12);
    between_steps();
    test_hermite_times();
    near_sources();
    multiples();
    velocities("oracle", true, 2);
    velocities("oracle", false, 2);
    velocities("oracle", false, 1);
    if (!test_have_double()) return test_end("traces");
    on_nodes("device", "fd", 0, "p", "");
    on_nodes("device", "fd", 0, "p", "device.precision=double");
    on_nodes("device", "leapfrog", 0, "p", "grid.order=2");
    kept_by_steps("fd-vectors", HT_MAP_LARGEST, "time.stages=1");
    kept_by_steps("fd-march", HT_MAP_MAXIMUM, "time.stages=1");
    kept_by_steps("fd-march", HT_MAP_MINIMUM, "time.stages=2 boundary.x2=\"periodic\"");
    kept_by_steps("fd-plain", HT_MAP_MAXIMUM, "time.stages=1 grid.cells=[40,35]");
    kept_by_steps("fd-vectors", HT_MAP_LARGEST,
                  "time.stages=2 device.precision=double medium={type=\"expression\";c=1;"
                  "rho=\"1+0.2*sin(x1)\";}");
    along_planes("device");
    velocities("device", true, 2);
    twins();
    return test_end("traces");
}
