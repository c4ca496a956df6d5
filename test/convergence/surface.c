/* Free sides of solids: the discrete energy in rough media with fluid and with free sides that
 * meet, near the largest step; kernels against plain loops; the speed of Rayleigh waves; sources
 * and receivers on and near such sides may change places. */
#include "scene.h"

#include <complex.h>

/* ---- energy, and kernels ---- */

static const struct {
    const char *name, *text;
    int steps; /* 0: kernels alone */
    bool both; /* precisions, or double alone */
} media[] = {
    {"four free sides, solid and fluid, order 8",
     "grid.cells=[37,41] grid.order=8 medium.axis=x2 medium.interfaces=[0.21,0.33,0.4,0.63,0.82] "
     "medium.vp=[1,3,1.5,1.5,4,2] medium.vs=[0.5,1.7,0,0,2.2,0] medium.rho=[1,2.5,1,1.1,3,0.9] "
     "boundary.x1=free boundary.x2=free initial.centre=[0.4,0.25]",
     4000, true},
    {"fluid on a free side, order 4, beside a mirror",
     "grid.cells=[23,29] grid.order=4 medium.axis=x1 medium.interfaces=[0.21,0.3,0.6,0.8] "
     "medium.vp=[1,3,1.5,1.5,4] medium.vs=[0,1.7,0,0.2,2.2] medium.rho=[1,2.5,1,1.1,3] "
     "boundary.x1=[\"free\",\"roller\"] boundary.x2=[\"antisymmetric\",\"free\"] "
     "initial.centre=[0.4,0.25]",
     4000, false},
    {"a rod, order 6",
     "grid.cells=[31] grid.order=6 medium.axis=x1 medium.interfaces=[0.21,0.3,0.6] "
     "medium.vp=[1,3,1.5,2] medium.vs=[0.5,0,0,0.2] medium.rho=[1,2.5,1,1.1] boundary.x1=free "
     "initial.centre=[0.4]",
     4000, false},
    {"corners in 3-D, order 2",
     "grid.cells=[9,8,11] grid.order=2 medium.axis=x3 medium.interfaces=[0.3,0.5,0.6] "
     "medium.vp=[1,3,1.5,2] medium.vs=[0.5,1.7,0,1] medium.rho=[1,2.5,1,2] boundary.x1=free "
     "boundary.x2=[\"roller\",\"free\"] boundary.x3=free initial.centre=[0.4,0.25,0.15] "
     "initial.width=0.2",
     4000, false},
    {"layers beside free sides",
     "grid.cells=[40,35] grid.order=6 medium.axis=x2 medium.interfaces=[0.33,0.63] "
     "medium.vp=[1,3,1.5] medium.vs=[0,1.7,0.9] medium.rho=[1,2.5,1] boundary.x1=absorbing "
     "boundary.x2=[\"free\",\"absorbing\"] initial.centre=[0.4,0.25]",
     0, false},
};
enum { MEDIA = sizeof media / sizeof *media };

static void judge_medium(struct scene *scene, int which, bool fp64) {
    const char *precision = fp64 ? "double" : "single";
    HT_ENDED(scene_close) struct scene_run run;
    scene_open(scene, &run,
               "system=elastic medium.type=layers medium.fit=point initial.type=gaussian "
               "initial.width=0.05 time.scheme=fd time.end=100 device.selfcheck=true "
               "device.precision=%s %s",
               precision, media[which].text);
    const double before = fd_state(&run.of).energy;
    scene_advance(&run, media[which].steps);
    TEST_BELOW(run.of.sim->selfcheck_ratio, 1, "%s, %s: kernels against plain loops",
               media[which].name, precision);
    if (media[which].steps > 0)
        TEST_BELOW(fabs(fd_state(&run.of).energy / before - 1), fp64 ? 1e-13 : 1e-6,
                   "%s, %s: relative change of the energy in %d steps at %.2f of the limit",
                   media[which].name, precision, media[which].steps,
                   run.plan->cfl / run.plan->cfl_limit);
}

/* ---- Rayleigh waves ---- */

static const double vp = 1.7; /* vs = rho = h = 1 */

static double rayleigh_speed(void) {
    double low = 0.5, high = 1 - 1e-12;
    for (int i = 0; i < 80; i++) {
        const double c = (low + high) / 2;
        const double f = pow(2 - c * c, 2) - 4 * sqrt(1 - c * c / vp / vp) * sqrt(1 - c * c);
        *(f < 0 ? &low : &high) = c;
    }
    return low;
}

/* Field f at (x, depth), time t: potentials exp(-q z) and B exp(-s z). */
static double wave_at(int f, double k, double x, double z, double t) {
    const double w = rayleigh_speed() * k, q = sqrt(k * k - w * w / vp / vp),
                 s = sqrt(k * k - w * w);
    const double lambda = vp * vp - 2;
    const double _Complex B = 2 * I * k * q / (s * s + k * k), P = exp(-q * z), S = B * exp(-s * z);
    const double _Complex u1 = I * k * P - s * S, u2 = -q * P - I * k * S;
    const double _Complex e11 = I * k * u1, e22 = q * q * P + I * k * s * S;
    const double _Complex e12 = -2 * I * k * q * P + (s * s + k * k) * S; /* twice */
    const double _Complex value[] = {-I * w * u1, -I * w * u2, lambda * (e11 + e22) + 2 * e11,
                                     lambda * (e11 + e22) + 2 * e22, e12};
    return creal(value[f] * cexp(I * (k * x - w * t)));
}

static void put_wave(const struct scene_run *run, double k) {
    const struct ht_stepper *s = fd_stepper(&run->of);
    const int64_t n1 = ht_grid_nodes(&run->plan->grid, HT_PRIMARY, 0);
    const int64_t nodes = run->of.nodes;
    HT_FREED double *data = NULL;
    must(HT_ALLOC(data, 5 * nodes));
    for (int f = 0; f < 5; f++)
        for (int64_t n = 0; n < nodes; n++) {
            const unsigned parity = run->plan->eq.field[f].parity;
            const int64_t row = n / n1;
            const double x = (double)(n % n1) + 0.5 * (parity & 1u);
            const double z = (double)row + 0.5 * (parity >> 1 & 1u);
            data[f * nodes + n] = wave_at(f, k, x, z, f < 2 ? 0 : -run->plan->problem.dt / 2);
        }
    must(s->ops->put(s->self, HT_PRIMARY, 0, 1, data));
}

/* What the frequency of v1 on the surface lacks of w: from the phases of two windows of time. Steps
 * make of a frequency W of the differences (2/dt) asin(W dt/2). */
static double measure(struct scene_run *run, double k) {
    enum { STEPS = 3000, HALF = STEPS / 2 };
    const double dt = run->plan->problem.dt, w = rayleigh_speed() * k;
    const int64_t n1 = ht_grid_nodes(&run->plan->grid, HT_PRIMARY, 0);
    double _Complex sum[2] = {0};
    for (int n = 0; n < STEPS; n++) {
        const int half = n / HALF;
        const double t = n * dt, place = (n % HALF + 0.5) / HALF;
        for (int64_t m = 0; m < n1; m++)
            sum[half] += pow(sin(HT_PI * place), 4) * run->nodal[0][m] *
                         cexp(I * (w * t - k * ((double)m + 0.5)));
        scene_advance(run, 1);
    }
    const double got = w - carg(sum[1] / sum[0]) / (HALF * dt);
    return 2 / dt * sin(got * dt / 2) / w - 1;
}

/* waves on so many cells; errors of the eigenvalues of the differences. */
static const struct {
    int order, cells, waves;
    double error;
} rayleigh[] = {
    {8, 11, 2, -1.1410e-4},
};
enum { RAYLEIGH = sizeof rayleigh / sizeof *rayleigh };

static void judge_rayleigh(struct scene *scene, int which) {
    const int cells = rayleigh[which].cells, depth = 6 * cells / rayleigh[which].waves;
    const double k = 2 * HT_PI * rayleigh[which].waves / cells;
    HT_ENDED(scene_close) struct scene_run run;
    scene_open(scene, &run,
               "system=elastic grid.cells=[%d,%d] grid.upper=[%d,%d] grid.order=%d medium.vp=%g "
               "medium.vs=1 initial.type=zero time.scheme=fd time.end=2000 "
               "boundary.x2=[\"free\",\"roller\"]",
               cells, depth, cells, depth, rayleigh[which].order, vp);
    put_wave(&run, k);
    scene_advance(&run, 0);
    const double error = measure(&run, k);
    TEST_BELOW(fabs(error / rayleigh[which].error - 1), 0.02,
               "order %d, Rayleigh waves of %.2f points per shear wavelength err by %.3e",
               rayleigh[which].order, cells / rayleigh_speed() / rayleigh[which].waves, error);
}

int main(void) {
    struct scene scene;
    if (!scene_start(&scene)) return test_end("surface");
    for (int which = 0; which < MEDIA; which++)
        for (int fp64 = !media[which].both; fp64 < 2; fp64++) judge_medium(&scene, which, fp64);
    for (int which = 0; which < RAYLEIGH; which++) judge_rayleigh(&scene, which);
    return test_end("surface");
}
