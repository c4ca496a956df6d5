/* Losses at a point (struct ht_loss) by staggered finite differences:
 *   waves     a wave in each kind of medium: what it is after some steps obeys a recurrence, whose
 *             roots are the frequencies of the scheme; one is that of the equations;
 *   energy    of random data in rough media at 99 % of the lossless limit: it never grows, in both
 *             precisions, and decays beside absorbing layers;
 *   time      order 2 in the step, with data, sources, the start half a step back;
 *   mirrors   a half space of plasma, of a resonance, of a conductor reflects by Fresnel's formula;
 *   faces     oblique to the grid, coupled: the energy of random data falls in every step by what
 *             is lost, in solids of any losses and fluid (accuracy: convergence/faces);
 *   kernels   meet the reference of self-checks, and all give the same bits.
 * Waves, time and mirrors are those of the reference, for which nothing is compiled. */
#include <complex.h>
#include <float.h>

#include "differences.h"
#include "src/fd/fd.h"

/* ---- waves ---- */

enum { CELLS = 24, CYCLES = 2, MOST = 8 };

/* Of exp(-i omega t): 0 where omega is that of a wave number k. */
struct medium {
    const char *name, *text, *field, *from;
    int dims, states; /* states of a wave in the scheme */
    double sigma, debye, tau, wp, gamma_d, lorentz, w0, gamma_l; /* Maxwell, eps 1 */
    double c, q, power; /* attenuation, power 0: 1; else c 0 */
};

static double complex index_squared(const struct medium *m, double complex w) {
    const double complex i = I;
    double complex n = 1 + i * m->sigma / w;
    if (m->debye > 0) n += m->debye / (1 - i * w * m->tau);
    if (m->wp > 0) n -= m->wp * m->wp / (w * w + i * m->gamma_d * w);
    if (m->lorentz > 0)
        n += m->lorentz * m->w0 * m->w0 / (m->w0 * m->w0 - w * w - i * m->gamma_l * w);
    return n;
}

/* omega^2/k^2 = M/rho; at the frequency w of the wave Q is q and the phase speed c. */
static double complex dispersion(const struct medium *m, double k, double complex w) {
    if (m->c == 0) return w * w * index_squared(m, w) - k * k;
    const double x = m->power > 0 ? sqrt(2 / m->power - 1) : 1, square = 1 + 1 / (m->q * m->q);
    const double at = m->c * k / x, part = (1 + x * x) / (1 + m->q * x);
    const double stiff = m->c * m->c * (1 + 1 / (m->q * x)) * (1 + sqrt(square)) / (2 * square);
    return w * w - stiff * (1 - part / (1 - I * w / at)) * k * k;
}

static double complex newton(const struct medium *m, double k, double complex w) {
    for (int n = 0; n < 60; n++) {
        const double complex f = dispersion(m, k, w), h = 1e-6;
        w -= f * 2 * h / (dispersion(m, k, w + h) - dispersion(m, k, w - h));
    }
    return w;
}

/* x: of equations, whose right sides are the last column. */
static void solve(int count, double a[MOST][MOST + 1], double *x) {
    double row[MOST + 1];
    for (int p = 0; p < count; p++) {
        int best = p;
        for (int i = p; i < count; i++)
            if (fabs(a[i][p]) > fabs(a[best][p])) best = i;
        memcpy(row, a[best], sizeof row);
        memcpy(a[best], a[p], sizeof row);
        memcpy(a[p], row, sizeof row);
        for (int i = 0; i < count; i++) {
            const double factor = i == p ? 0 : a[i][p] / a[p][p];
            for (int j = p; j <= count; j++) a[i][j] -= factor * a[p][j];
        }
    }
    for (int p = 0; p < count; p++) x[p] = a[p][count] / a[p][p];
}

/* The root z of z^n = sum x_j z^j that is nearest to a number, by Newton's method. */
static double complex near_root(int n, const double *x, double complex z) {
    for (int i = 0; i < 60; i++) {
        double complex f = 1, slope = 0;
        for (int j = n - 1; j >= 0; j--) {
            slope = slope * z + f;
            f = f * z - x[j];
        }
        z -= f / slope;
    }
    return z;
}

/* The amplitude of cos(k x1) at each of 2 n samples, some steps apart, gives the recurrence. */
static double complex measure(const struct medium *m, double complex exact) {
    static const char *const cells[] = {"[24]", "[24,12]", "[12,12,12]"};
    static const char *const upper[] = {"[24.0]", "[24.0,12.0]", "[12.0,12.0,12.0]"};
    const int apart = 3, n = m->states, cycles = m->dims < 3 ? CYCLES : CYCLES / 2;
    const int row = m->dims < 3 ? CELLS : CELLS / 2;
    double sample[2 * MOST] = {0}, a[MOST][MOST + 1] = {{0}}, x[MOST] = {0};
    struct fd_run run;
    fd_open(
        &run,
        "device.backend=oracle system=%s grid.order=8 grid.cells=%s grid.upper=%s time.step=0.1 "
        "time.end=1e4 initial.type=expression initial.values.%s=cos(2*pi*%d*x1/%d) %s",
        m->from, cells[m->dims - 1], upper[m->dims - 1], m->field, cycles, row, m->text);
    for (int i = 0; i < 2 * n; i++) {
        double *u = fd_named(&run, m->field);
        const bool half = strncmp(m->field, "v", 1) == 0 && m->field[1] == '1';
        sample[i] = 0;
        for (int j = 0; j < row; j++)
            sample[i] += u[j] * cos(2 * HT_PI * cycles * (j + (half ? 0.5 : 0)) / row);
        free(u);
        fd_advance(&run, apart);
    }
    const double dt = run.sim->plan->problem.dt;
    fd_close(&run);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= n; j++) a[i][j] = sample[i + j];
    solve(n, a, x);
    return I * clog(near_root(n, x, cexp(-I * exact * apart * dt))) / (apart * dt);
}

static const struct medium damped[] = {
    {.name = "Lorentz",
     .text = "medium.lorentz_eps=1.2 medium.lorentz_w0=0.8 medium.lorentz_gamma=0.1",
     .states = 4,
     .lorentz = 1.2,
     .w0 = 0.8,
     .gamma_l = 0.1},
    {.name = "conductor, Debye, Drude",
     .text = "medium.sigma=0.1 medium.debye_eps=0.5 medium.debye_tau=2.0 medium.drude_wp=0.4 "
             "medium.drude_gamma=0.2",
     .states = 4,
     .sigma = 0.1,
     .debye = 0.5,
     .tau = 2,
     .wp = 0.4,
     .gamma_d = 0.2},
    {.name = "sound",
     .from = "acoustic",
     .field = "p",
     .dims = 1,
     .states = 3,
     .c = 1.2,
     .q = 20,
     .text = "medium.c=1.2 medium.q=20.0 medium.q_frequency=0.1"},
    {.name = "absorption as f^1.5",
     .from = "acoustic",
     .field = "p",
     .dims = 1,
     .states = 3,
     .c = 1.2,
     .q = 20,
     .power = 1.5,
     .text = "medium.c=1.2 medium.absorption=0.01308179836968 medium.absorption_power=1.5 "
             "medium.q_frequency=0.1"},
    {.name = "P, 2-D",
     .from = "elastic",
     .field = "v1",
     .dims = 2,
     .states = 3,
     .c = 1,
     .q = 30,
     .text = "medium.vp=1.0 medium.vs=0.6 medium.qp=30.0 medium.qs=20.0 "
             "medium.q_frequency=0.083333333333333"},
    {.name = "S, 2-D",
     .from = "elastic",
     .field = "v2",
     .dims = 2,
     .states = 3,
     .c = 0.6,
     .q = 20,
     .text = "medium.vp=1.0 medium.vs=0.6 medium.qp=30.0 medium.qs=20.0 medium.q_frequency=0.05"},
    {.name = "P, 3-D",
     .from = "elastic",
     .field = "v1",
     .dims = 3,
     .states = 3,
     .c = 1,
     .q = 30,
     .text = "medium.vp=1.0 medium.vs=0.6 medium.qp=30.0 medium.qs=20.0 "
             "medium.q_frequency=0.083333333333333"},
};

static void test_waves(void) {
    for (size_t i = 0; i < sizeof damped / sizeof *damped; i++) {
        struct medium m = damped[i];
        if (m.from == NULL) m.from = "maxwell", m.field = "E2", m.dims = 1;
        const double k = 2 * HT_PI * CYCLES / CELLS;
        const double complex exact = newton(&m, k, (m.c > 0 ? m.c : 1) * k * (1 - 0.05 * I));
        const double complex got = measure(&m, exact);
        TEST_BELOW(fabs(creal(got - exact)) / creal(exact), 1.5e-3, "%s: frequency %.5f", m.name,
                   creal(exact));
        TEST_BELOW(fabs(cimag(got - exact) / cimag(exact)), 5e-3, "%s: decay %.5f", m.name,
                   -cimag(exact));
    }
}

/* ---- energy ---- */

#define ROUGH(least, most) #least "+" #most "*(0.5+0.5*sin(97*x1+31*x2^2))"
/* clang-format off */
static const char *const lossy[] = {
    "system=maxwell medium.eps=" ROUGH(1, 7) " medium.sigma=" ROUGH(0, 30)
    " medium.debye_eps=" ROUGH(0, 3) " medium.debye_tau=" ROUGH(0.01, 9)
    " medium.drude_wp=" ROUGH(0, 2) " medium.drude_gamma=" ROUGH(0, 1)
    " medium.lorentz_eps=" ROUGH(0, 3) " medium.lorentz_w0=" ROUGH(0.1, 5)
    " medium.lorentz_gamma=" ROUGH(0, 1),
    "system=elastic medium.vp=" ROUGH(2, 5) " medium.vs=" ROUGH(0.1, 1.2)
    " medium.qp=" ROUGH(5, 6) " medium.qs=" ROUGH(4, 60) " medium.q_frequency=" ROUGH(0.01, 1),
    "system=acoustic medium.c=" ROUGH(1, 4) " medium.rho=" ROUGH(0.3, 3) " medium.q=" ROUGH(2, 100)
    " medium.q_frequency=0.1"};
/* clang-format on */

/* Random data: the energy after some steps, over the least before, but for rounding. */
static void test_energy(const char *text, const char *precision, const char *more) {
    struct fd_run run;
    double least = INFINITY, worst = 0, first = 0;
    fd_open(&run,
            "grid.order=4 grid.cells=[19,16] grid.upper=[19.0,16.0] time.end=1e6 time.cfl=0.6 "
            "initial.type=random medium.type=expression medium.fit=point device.precision=%s %s %s",
            precision, text, more);
    for (int i = 0; i < 40; i++) {
        const double energy = fd_state(&run).energy;
        if (i == 0) first = energy;
        if (i > 0) worst = fmax(worst, (energy - least) / first);
        least = fmin(least, energy);
        fd_advance(&run, i < 20 ? 1 : test_all() ? 500 : 50);
    }
    fd_close(&run);
    const double unit = precision[0] == 'd' ? DBL_EPSILON : FLT_EPSILON;
    TEST_BELOW(worst, 32 * unit, "%.16s, %s: energy grows", text, precision);
    TEST_BELOW(least / first, 1, "%.16s, %s: energy left", text, precision);
}

/* ---- order in time ---- */

/* The field in the middle at a time, with steps of 1/count. */
static double at_end(const char *text, const char *field, int count) {
    HT_ENDED(fd_close) struct fd_run run;
    fd_open(&run,
            "device.backend=oracle grid.order=4 grid.cells=[16,16] grid.upper=[16.0,16.0] "
            "time.step=%.17g time.end=8 %s",
            0.2 / count, text);
    fd_advance(&run, (int64_t)40 * count);
    HT_FREED double *u = fd_named(&run, field);
    const double value = u[6 * 17 + 7];
    return value;
}

static void test_order(const char *name, const char *field, const char *text) {
    const double u[3] = {at_end(text, field, 1), at_end(text, field, 2), at_end(text, field, 4)};
    TEST_BELOW(fabs((u[0] - u[1]) / (u[1] - u[2]) / 4 - 1), 0.08, "%s: order in time", name);
}

static void test_orders(void) {
    test_order(
        "dipole in Maxwell's equations", "E1",
        "system=maxwell medium.sigma=0.5 medium.debye_eps=1.0 medium.lorentz_eps=0.5 "
        "sources=({kind=\"dipole\";direction=[1.0,0.5,0.0];position=[8.3,7.6];frequency=0.06;})");
    test_order(
        "elastic, data", "v1",
        "system=elastic medium.qp=20.0 medium.qs=10.0 medium.q_frequency=0.2 initial.type=gaussian "
        "initial.field=s11 initial.centre=[8.0,7.0] initial.width=2.0");
}

/* ---- absorption ---- */

/* Nepers per length of a real frequency, from the materials. */
static double absorption_at(const double *material, double omega) {
    const double strength = material[2], rate = material[3];
    const double complex K = material[0] * (1 - strength / (1 + strength) / (1 + I * omega / rate));
    return fabs(cimag(omega / csqrt(K * material[1])));
}

/* As given at the frequency, and near it: by the power to 2/Q, within 8 % over half an octave to
 * either side and within 24 % over an octave (docs/developers/differences.md, Losses). */
static void test_absorption(double power) {
    const double f = 0.7, given = 0.005, near = 2 * 1.5 * given / (HT_PI * f); /* 2/Q */
    struct fd_run run;
    fd_open(&run,
            "device.backend=oracle system=acoustic grid.order=2 grid.cells=[16] time.end=1 "
            "medium.c=1.5 medium.absorption=%g medium.absorption_power=%g medium.q_frequency=%g "
            "initial.type=zero",
            given, power, f);
    const double *material = run.sim->plan->problem.uniform;
    double off[3] = {0};
    for (int n = 0; n < 3; n++)
        for (int side = -1; side <= 1; side += 2) {
            const double ratio = pow(2, side * n / 2.0);
            const double at = absorption_at(material, 2 * HT_PI * f * ratio);
            off[n] = fmax(off[n], fabs(at / given / pow(ratio, power) - 1));
        }
    const double h = 1e-4, lower = absorption_at(material, 2 * HT_PI * f * (1 - h));
    const double slope = log(absorption_at(material, 2 * HT_PI * f * (1 + h)) / lower) / (2 * h);
    fd_close(&run);
    TEST_CHECK(off[0] < 1e-12 && fabs(slope - power) < near && off[1] < 0.08 && off[2] < 0.24,
               "absorption as f^%g: grows as f^%.4f (within %.4f), off by %.1e at f, %.3f over "
               "half an octave (0.08), %.3f over one (0.24)",
               power, slope, near, off[0], off[1], off[2]);
}

/* ---- mirrors ---- */

/* A pulse meets a half space: the amplitude of a frequency in what comes back over that in what
 * came, by E2 at one place, with the half space and without. */
static double complex reflect(const struct medium *m, double w, double face, double complex *came) {
    const int cells = 480, length = cells / 2, at = 220, steps = 1120;
    const double dt = 0.25, k = 2 / dt * sin(w * dt / 2); /* of the scheme, order 8 in space */
    double complex sum[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        HT_ENDED(fd_close) struct fd_run run;
        fd_open(&run,
                "device.backend=oracle system=maxwell grid.order=8 grid.cells=[%d] "
                "grid.upper=[%d.0] time.step=%g time.end=1e4 boundary.x1=absorbing "
                "absorbing.place=inside "
                "initial.type=expression initial.values.E2=exp(-((x1-70)/6)^2)*cos(%g*(x1-70)) "
                "initial.values.H3=exp(-((x1-70)/6)^2)*cos(%g*(x1-70)) medium.type=layers "
                "medium.axis=x1 medium.interfaces=[%g] %s",
                cells, length, dt, w, w, face, i == 0 ? "medium.eps=[1.0,1.0]" : m->text);
        for (int n = 0; n < steps; n++) {
            double *u = fd_named(&run, "E2");
            sum[i] += u[at] * cexp(I * w * n * dt);
            free(u);
            fd_advance(&run, 1);
        }
    }
    *came = sum[0] * cexp(I * k * (2 * (face - (at + 0.5) / 2)));
    return sum[1] - sum[0];
}

static void test_mirrors(void) {
    static const struct medium media[] = {
        {.name = "plasma",
         .text = "medium.drude_wp=[0.0,0.5] medium.drude_gamma=[0.0,0.05]",
         .wp = 0.5,
         .gamma_d = 0.05},
        {.name = "resonance",
         .text =
             "medium.lorentz_eps=[0.0,1.5] medium.lorentz_w0=0.5 medium.lorentz_gamma=[0.0,0.1]",
         .lorentz = 1.5,
         .w0 = 0.5,
         .gamma_l = 0.1},
        {.name = "conductor", .text = "medium.sigma=[0.0,2.0]", .sigma = 2}};
    const struct medium metal = {.name = "metal", .text = "medium.sigma=[0.0,1e4]", .sigma = 1e4};
    for (size_t i = 0; i < sizeof media / sizeof *media; i++) {
        const double w = 0.4;
        double complex came = 0;
        const double complex back = reflect(&media[i], w, 150.25, &came);
        const double complex index = csqrt(index_squared(&media[i], w));
        TEST_BELOW(cabs(back / came - (1 - index) / (1 + index)), 0.025,
                   "half space, %s: Fresnel's reflection, %.3f", media[i].name,
                   cabs((1 - index) / (1 + index)));
    }
    /* A quarter of a spacing off a point of E2; its place errs by half a spacing. */
    double complex came = 0;
    const double w = 0.4, within = 0.25;
    const double complex back = reflect(&metal, w, 150.125, &came);
    TEST_BELOW(cabs(back / came + 1), 2 * w * within, "metal: Fresnel's reflection, 1");
}

/* ---- couplings at oblique faces ---- */

/* In two dimensions, of strains e since the start: with what is at rest of the stress, s_r,
 *     E = <e, s_r> + <s - s_r, C_m^-1 (s - s_r)> + <v(n-1), rho v(n)>,   C_m = C - C_r,
 * falls in a step by 2 dt times the second part of the mean of the stresses before and after it,
 * multiplied by the rate of relaxation. */
enum { V1, V2, S11, S22, S12, FIELDS };
enum { BEFORE, NOW, MEAN, TIMES }; /* of the last step, and their mean */
struct values {
    double *field[FIELDS], *kept[FIELDS];
};
struct balance {
    struct ht_pair_stepper *s;
    int row[FIELDS];
    int64_t n[2], nodes;
    struct values at[TIMES];
    double *strain[FIELDS];
    double *C[FIELDS][FIELDS], *strength[FIELDS], *rate[FIELDS], *bulk;
    struct ht_pool pool;
};

static void balance_end(struct balance *b) {
    ht_pool_free(&b->pool);
}

static double *fill_coefficient(struct balance *b, int c) {
    double *out = NULL;
    must(HT_TAKE(&b->pool, out, b->nodes));
    must(ht_pair_fill(b->s, c, 0, ht_grid_planes(b->s->fd.problem.grid, HT_PRIMARY), out));
    return out;
}

static int field_of(const struct balance *b, int row) {
    for (int f = 0; f < FIELDS; f++)
        if (b->row[f] == row) return f;
    return -1;
}

static void balance_begin(const struct fd_run *run, struct balance *b) {
    static const char *const names[] = {"v1", "v2", "s11", "s22", "s12"};
    const struct ht_plan *plan = run->sim->plan;
    *b = (struct balance){.s = ht_pair_stepper_of(fd_stepper(run)), .nodes = run->nodes};
    const struct ht_pair *pair = &b->s->pair;
    for (int k = 0; k < 2; k++) b->n[k] = ht_grid_nodes(&plan->grid, HT_PRIMARY, k);
    for (int f = 0; f < FIELDS; f++) {
        b->row[f] = ht_equations_field(&plan->eq, names[f]);
        must(HT_TAKE(&b->pool, b->strain[f], b->nodes));
        for (int t = 0; t < TIMES; t++) {
            must(HT_TAKE(&b->pool, b->at[t].field[f], b->nodes));
            must(HT_TAKE(&b->pool, b->at[t].kept[f], b->nodes));
        }
    }
    for (int c = 0; c < pair->nown; c++) {
        const int i = field_of(b, pair->coefficient[c].row);
        const int j = field_of(b, pair->coefficient[c].col);
        b->C[i][j] = b->C[j][i] = fill_coefficient(b, c);
    }
    for (int l = 0; l < pair->nlosses; l++) {
        const struct ht_pair_loss *loss = &pair->loss[l];
        b->strength[field_of(b, loss->row)] = fill_coefficient(b, loss->strength);
        b->rate[field_of(b, loss->row)] = fill_coefficient(b, loss->rate);
        if (loss->bulk >= 0 && b->bulk == NULL) b->bulk = fill_coefficient(b, loss->bulk);
    }
}

static void read_array(const struct balance *b, struct ht_buffer *array, double *out) {
    const int64_t planes = ht_grid_planes(b->s->fd.problem.grid, HT_PRIMARY);
    must(ht_fd_move_planes(&b->s->fd, array, 0, planes, NULL, out));
}

static void read_state(struct balance *b) {
    const struct ht_pair *pair = &b->s->pair;
    const struct values before = b->at[BEFORE], *now = &b->at[NOW], *mean = &b->at[MEAN];
    b->at[BEFORE] = *now;
    b->at[NOW] = before;
    for (int f = 0; f < FIELDS; f++) read_array(b, b->s->on.field[b->row[f]], now->field[f]);
    for (int l = 0; l < pair->nlosses; l++)
        read_array(b, b->s->on.partner[pair->loss[l].position],
                   now->kept[field_of(b, pair->loss[l].row)]);
    for (int64_t i = 0; i < FIELDS * b->nodes; i++) {
        const int64_t f = i / b->nodes, m = i % b->nodes;
        mean->field[f][m] = (b->at[BEFORE].field[f][m] + now->field[f][m]) / 2;
        mean->kept[f][m] = (b->at[BEFORE].kept[f][m] + now->kept[f][m]) / 2;
    }
}

/* Of a periodic field, upwards or downwards. */
static double difference(const struct balance *b, const double *f, int axis, int up, int64_t m) {
    const struct ht_fd_weights w = ht_fd_weights(b->s->fd.problem.fd.order);
    const int64_t n = b->n[axis], stride = axis == 0 ? 1 : b->n[0], i = m / stride % n;
    double sum = 0;
    for (int j = 0; j < w.radius; j++)
        sum += w.first[j] * (f[m + ((i + up + j) % n - i) * stride] -
                             f[m + ((i + n + up - 1 - j) % n - i) * stride]);
    return sum * b->s->fd.problem.dt / b->s->fd.problem.grid->h[axis];
}

static void add_strains(const struct balance *b) {
    const double *v1 = b->at[BEFORE].field[V1], *v2 = b->at[BEFORE].field[V2];
    for (int64_t m = 0; m < b->nodes; m++) {
        b->strain[S11][m] += difference(b, v1, 0, 0, m);
        b->strain[S22][m] += difference(b, v2, 1, 0, m);
        b->strain[S12][m] += difference(b, v1, 1, 1, m);
        b->strain[S12][m] += difference(b, v2, 0, 1, m);
    }
}

/* s_r of s and P; and the second part, by C. */
static double at_rest(double k, double s, double P) {
    return (s + k * P) / (1 + k * k);
}

static double moving(double k, double s, double P, double C) {
    return C > 0 ? pow(k * s - P, 2) / (1 + k * k) / C : 0;
}

/* The pressure of s11 and s22, and what is left, which is as large in both. */
struct normal {
    double all, share, press, shear;
};
static struct normal normal_of(const struct balance *b, double *const *f, int64_t m) {
    const double c11 = b->C[S11][S11][m], c12 = b->C[S11][S22][m], c22 = b->C[S22][S22][m];
    const double all = c11 + 2 * c12 + c22, share = (c11 + c12) / all, sum = f[S11][m] + f[S22][m];
    return (struct normal){all, share, sum, f[S11][m] - share * sum};
}

static double moving_at(const struct balance *b, const struct values *v, int64_t m, bool rates) {
    const struct normal s = normal_of(b, v->field, m), P = normal_of(b, v->kept, m);
    const double stiff =
        (b->C[S11][S11][m] * b->C[S22][S22][m] - pow(b->C[S11][S22][m], 2)) / s.all;
    const double normal =
        moving(b->bulk[m], s.press, P.press, s.all) +
        moving(b->strength[S11][m], s.shear, P.shear, stiff > 1e-12 * s.all ? stiff : 0);
    const double shear =
        moving(b->strength[S12][m], v->field[S12][m], v->kept[S12][m], b->C[S12][S12][m]);
    return rates ? b->rate[S11][m] * normal + b->rate[S12][m] * shear : normal + shear;
}

/* *lost: by the last step. */
static double balance_of(const struct balance *b, double *lost) {
    const struct values *now = &b->at[NOW];
    double sum = 0;
    *lost = 0;
    for (int64_t m = 0; m < b->nodes; m++) {
        const struct normal s = normal_of(b, now->field, m), P = normal_of(b, now->kept, m);
        const double press = at_rest(b->bulk[m], s.press, P.press);
        const double shear = at_rest(b->strength[S11][m], s.shear, P.shear);
        sum +=
            b->strain[S11][m] * (s.share * press + shear) +
            b->strain[S22][m] * ((1 - s.share) * press - shear) +
            b->strain[S12][m] * at_rest(b->strength[S12][m], now->field[S12][m], now->kept[S12][m]);
        sum += moving_at(b, now, m, false);
        for (int f = 0; f < 2; f++)
            sum += b->at[BEFORE].field[f][m] * now->field[f][m] / b->C[f][f][m];
        *lost += 2 * b->s->fd.problem.dt * moving_at(b, &b->at[MEAN], m, true);
    }
    return sum;
}

/* Random velocities, solids of any loss and fluid: E falls in every step. */
static void test_balance(const char *precision) {
    static const char ball[] = "step(0.06-(x1-0.52)^2-(x2-0.47)^2)";
    static const char water[] = "step(0.1-abs(x1-2*x2+1.1))", left[] = "step(0.6-x1-0.3*x2)";
    HT_ENDED(fd_close) struct fd_run run;
    HT_ENDED(balance_end) struct balance b;
    fd_open(&run,
            "system=elastic grid.order=4 grid.cells=[40,32] grid.upper=[1.0,0.8] time.end=1e6 "
            "initial.type=zero medium.type=expression medium.vp=\"1.6+1.6*%s\" "
            "medium.vs=\"(0.9+%s)*(1-%s)\" medium.rho=\"1+0.4*%s\" medium.qp=\"10+30*%s\" "
            "medium.qs=\"4+20*%s\" medium.q_frequency=\"3+20*%s\" device.precision=%s",
            ball, ball, water, ball, left, left, left, precision);
    const struct ht_plan *plan = run.sim->plan;
    const double unit = precision[0] == 'd' ? DBL_EPSILON : FLT_EPSILON;
    const int steps = test_all() ? 12000 : 1500;
    double first = 0, last = 0, off = 0, growth = -INFINITY, lost;
    HT_FREED double *values = NULL;
    must(HT_ALLOC(values, run.nodes * plan->eq.nfields));
    balance_begin(&run, &b);
    for (int f = 0; f < 2; f++)
        for (int64_t m = 0; m < run.nodes; m++)
            values[b.row[f] * run.nodes + m] = ht_rng_uniform(11, (uint64_t)(m + f * run.nodes));
    struct ht_stepper *s = fd_stepper(&run);
    must(s->ops->put(s->self, HT_PRIMARY, 0, ht_grid_planes(&plan->grid, HT_PRIMARY), values));
    read_state(&b);
    for (int i = 0; i < steps; i++) {
        fd_advance(&run, 1);
        read_state(&b);
        add_strains(&b);
        const double now = balance_of(&b, &lost);
        if (i == 0) first = now;
        if (i > 0) off = fmax(off, fabs(now - last + lost));
        if (i > 0) growth = fmax(growth, now - last);
        last = now;
    }
    TEST_CHECK(ht_pair_faces_use(plan->faces, 0), "faces are coupled, %.2f",
               ht_pair_faces_share(plan->faces, 0));
    TEST_BELOW(growth / first, 8 * unit, "coupled faces, %s, %d steps: energy grows in one",
               precision, steps);
    /* Of the sums, in double precision; of values, by chance. */
    TEST_BELOW(off / first, fmax(64 * DBL_EPSILON, 0.25 * unit),
               "coupled faces, %s: energy but for what is lost", precision);
    TEST_BELOW(last / first, 0.5, "coupled faces, %s: energy left", precision);
}

int main(void) {
    const char *box = "grid.order=4 grid.cells=[19,17,15] grid.upper=[19.0,17.0,15.0] "
                      "medium.type=expression";
    if (!test_have_double()) return test_end("losses");
    test_waves();
    for (int i = 0; i < 3; i++)
        for (int p = 0; p < 2; p++)
            if (p == 0 || i == 1 || test_all())
                test_energy(lossy[i], p ? "double" : "single", i == 1 ? "boundary.x2=free" : "");
    test_orders();
    test_absorption(1);
    test_absorption(1.5);
    test_mirrors();
    for (int p = 0; p < 2; p++) test_balance(p ? "double" : "single");
    fd_judge_kernels(lossy[0], box, true);
    if (test_all()) fd_judge_kernels(lossy[1], box, true);
    return test_end("losses");
}
