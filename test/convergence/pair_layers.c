/* Absorbing layers of first-order systems by staggered finite differences:
 *   reflection  a pulse in the middle of a box, 12 cells from the layers, against the same in a
 *               larger box until waves from its walls have come back;
 *   decay       random data in small boxes whose media guide waves along the layers, in both
 *               precisions: what is left falls, and does not grow again;
 *   sponge      takes what comes to it, too;
 *   kernels     meet the reference of self-checks, and all give the same bits.
 * With the argument "all": 1e5 steps; in the periodic boxes, which keep guided waves that no layer
 * takes, a million, in which these do not grow. */
#include <float.h>

#include "differences.h"

enum { NEAR = 12, STEPS_APART = 4 };

struct scene {
    const char *name, *system, *pulse; /* field */
    int dims, cells;
    const char *more;
};

/* Waves of about 15 cells where c is 1. Both runs have one term in time. */
static void open_pulse(struct fd_run *run, const struct scene *s, int end, int beyond) {
    const int width = 2 * (NEAR + s->cells);
    char cells[64], lower[64], upper[64], distance[128] = "", sides[160] = "";
    if (!beyond) snprintf(sides, sizeof sides, "absorbing.cells=%d ", s->cells);
    for (int k = 1; k <= s->dims; k++) {
        snprintf(sides + strlen(sides), sizeof sides - strlen(sides), "boundary.x%d=%s ", k,
                 beyond ? "periodic" : "absorbing");
        snprintf(distance + strlen(distance), sizeof distance - strlen(distance), "%s(x%d-%d)^2",
                 k > 1 ? "+" : "", k, width / 2);
    }
    fd_open(run,
            "system=%s grid.order=8 grid.cells=%s grid.lower=%s grid.upper=%s %s "
            "time.stages=1 time.step=0.4 time.end=%d initial.type=expression "
            "initial.values.%s=exp(-(%s)/12)*(1-(%s)/12) %s",
            s->system, fd_axes(s->dims, width + 2 * beyond, "", cells),
            fd_axes(s->dims, -beyond, ".0", lower), fd_axes(s->dims, width + beyond, ".0", upper),
            sides, end, s->pulse, distance, distance,
            beyond && strstr(s->more, "absorbing") != NULL ? "" : s->more);
}

/* Of the field that has the pulse, in dB. */
static double reflection(const struct scene *s, int end) {
    struct fd_run run[2];
    open_pulse(&run[0], s, end, 0);
    open_pulse(&run[1], s, end, end / 2 + 8);
    return fd_reflection(run, ht_equations_field(&run->sim->plan->eq, s->pulse), NEAR, STEPS_APART);
}

/* Waves of about 15 cells; in three dimensions the box is smaller. */
static void test_reflection(const struct scene *s, int end, double bound) {
    TEST_BELOW(reflection(s, end), bound, "%s: reflection, dB", s->name);
}

static void test_reflections(void) {
    const struct scene maxwell = {"Maxwell, 2-D", "maxwell", "H3", 2, 8, ""};
    const struct scene cube = {"Maxwell, 3-D", "maxwell", "H3", 3, 8, ""};
    const char *solid = "medium.vp=1.0 medium.vs=0.58";
    const struct scene compression = {"elastic, P", "elastic", "s11", 2, 12, solid};
    const struct scene shear = {"elastic, S", "elastic", "s12", 2, 12, solid};
    const struct scene sponge = {"sponge", "maxwell", "H3", 2, 12, "absorbing.type=sponge"};
    test_reflection(&maxwell, 60, -63);
    test_reflection(&compression, 60, -60);
    test_reflection(&shear, 60, -52);
    test_reflection(&sponge, 60, -25);
    if (test_all()) test_reflection(&cube, 44, -60);
}

/* ---- growth ---- */

struct box {
    const char *name, *text;
    double bound;
};

#define BLOCKS_OF(name, value) \
    "medium." name "=" value "*exp(-1.4*step(sin(0.8*x1+2)*sin(0.5*x2+1))) "

/* Slow layers of a few cells, 4 and 5 cells from absorbing ones. */
static const struct box boxes[] = {
    {"Maxwell, slab of eps 4",
     "system=maxwell absorbing.cells=8 grid.cells=[16,32] grid.upper=[16.0,32.0] "
     "medium.type=layers medium.axis=x2 medium.interfaces=[12.0,19.0] medium.eps=[1.0,4.0,1.0]",
     0.5},
    {"Maxwell, slab of eps 9 with ends in layers",
     "system=maxwell absorbing.cells=8 grid.cells=[30,32] grid.upper=[30.0,32.0] "
     "boundary.x1=absorbing medium.type=layers medium.axis=x2 medium.interfaces=[13.0,18.0] "
     "medium.eps=[1.0,9.0,1.0]",
     0.1},
    {"elastic, vp/vs 5",
     "system=elastic absorbing.cells=12 grid.cells=[34,32] grid.upper=[34.0,32.0] "
     "boundary.x1=absorbing medium.vp=1.0 medium.vs=0.2",
     0.1},
    {"elastic, slow over fast",
     "system=elastic absorbing.cells=12 grid.cells=[16,40] grid.upper=[16.0,40.0] "
     "medium.type=layers medium.axis=x2 medium.interfaces=[20.0] medium.vp=[0.5,1.0] "
     "medium.vs=[0.15,0.58] medium.rho=[0.8,1.0]",
     0.5},
    {"elastic, slow over fast with ends in layers",
     "system=elastic absorbing.cells=12 grid.cells=[34,40] grid.upper=[34.0,40.0] "
     "boundary.x1=absorbing medium.type=layers medium.axis=x2 medium.interfaces=[20.0] "
     "medium.vp=[0.5,1.0] medium.vs=[0.15,0.58] medium.rho=[0.8,1.0]",
     0.1},
    /* Random shear stress in a fluid is no state of it. */
    {"elastic, fluid over solid",
     "system=elastic absorbing.cells=12 grid.cells=[34,40] grid.upper=[34.0,40.0] "
     "boundary.x1=absorbing medium.type=layers medium.axis=x2 medium.interfaces=[20.0] "
     "medium.vp=[0.6,1.0] medium.vs=[0.0,0.5] medium.rho=[0.6,1.0] initial.type=expression "
     "initial.values.v1=exp(-((x1-17.3)^2+(x2-20.2)^2)/0.7) "
     "initial.values.v2=exp(-((x1-4.3)^2+(x2-20.2)^2)/0.7)",
     0.5},
    /* Grows a hundredfold in 250 steps with a mixing of 0.05; it has 0.2. */
    {"elastic, blocks",
     "system=elastic absorbing.cells=12 grid.cells=[40,40] grid.upper=[40.0,40.0] "
     "boundary.x1=absorbing medium.type=expression " BLOCKS_OF("vp", "2") BLOCKS_OF("vs", "1.17")
         BLOCKS_OF("rho", "1"),
     1},
    /* these in make check-all alone */
    {"Maxwell, four losses with ends in layers",
     "system=maxwell absorbing.cells=8 grid.cells=[30,32] grid.upper=[30.0,32.0] "
     "boundary.x1=absorbing medium.type=layers medium.axis=x2 medium.interfaces=[13.0,18.0] "
     "medium.eps=[1.0,4.0,1.0] medium.sigma=[0.0,0.02,0.0] medium.debye_eps=[1.0,2.0,0.0] "
     "medium.debye_tau=3.0 medium.lorentz_eps=[0.0,2.0,1.0] medium.lorentz_w0=0.5 "
     "medium.lorentz_gamma=0.01 medium.drude_wp=[0.3,0.0,0.1] medium.drude_gamma=0.01",
     0.1},
    {"elastic, attenuating, slow over fast with ends in layers",
     "system=elastic absorbing.cells=12 grid.cells=[34,40] grid.upper=[34.0,40.0] "
     "boundary.x1=absorbing medium.type=layers medium.axis=x2 medium.interfaces=[20.0] "
     "medium.vp=[0.5,1.0] medium.vs=[0.15,0.58] medium.rho=[0.8,1.0] medium.qp=[30.0,100.0] "
     "medium.qs=[10.0,60.0] medium.q_frequency=0.05",
     0.1},
    /* What is trapped between blocks leaves slowly. */
    {"elastic, rough",
     "system=elastic absorbing.cells=12 grid.cells=[60,46] grid.upper=[60.0,46.0] "
     "boundary.x1=absorbing medium.type=expression "
     "medium.vp=exp(0.7*step(sin(0.6*x1+0.4*x2)*cos(0.5*x2-0.3*x1))) "
     "medium.vs=exp(0.7*step(sin(0.6*x1+0.4*x2)*cos(0.5*x2-0.3*x1)))/3",
     0.5},
};
enum { BY_NIGHT = 3 };

/* Of the change in a step, in which what is static, such as most of random data, has no part. */
static double change_of(struct fd_run *run) {
    const int count = run->sim->plan->eq.nfields;
    double *before[HT_MAX_FIELDS], sum = 0;
    for (int f = 0; f < count; f++) before[f] = fd_field(run, HT_PRIMARY, f);
    fd_advance(run, 1);
    for (int f = 0; f < count; f++) {
        double *after = fd_field(run, HT_PRIMARY, f);
        for (int64_t n = 0; n < run->nodes; n++) sum += pow(after[n] - before[f][n], 2);
        free(after);
        free(before[f]);
    }
    return sum;
}

/* The largest change in the last tenth of the steps over that after the first hundredth. */
static void test_decay(const struct box *box, const char *precision, int steps) {
    struct fd_run run;
    double late = 0;
    fd_open(&run,
            "grid.order=8 boundary.x2=absorbing time.end=1e6 initial.type=random "
            "device.precision=%s %s",
            precision, box->text);
    fd_advance(&run, steps / 100);
    const double early = change_of(&run);
    fd_advance(&run, steps - steps / 10 - steps / 100);
    for (int i = 0; i < 10; i++) {
        fd_advance(&run, steps / 100);
        late = fmax(late, change_of(&run));
    }
    fd_close(&run);
    TEST_BELOW(late / early, box->bound, "%s, %s: squares of changes after %d steps", box->name,
               precision, steps);
}

/* The largest change of a step at some looks among so many steps. */
static double largest_change(struct fd_run *run, int steps) {
    enum { LOOKS = 50 };
    double most = 0;
    for (int i = 0; i < LOOKS; i++) {
        fd_advance(run, steps / LOOKS - 1);
        most = fmax(most, change_of(run));
    }
    return most;
}

/* What is guided along a periodic axis falls to its own energy, which no layer takes: from then on
 * it does not grow. Looks at beats find the largest change to some per cent. */
static void test_guided(const struct box *box, const char *precision) {
    const int steps = 1000000, part = steps / 10;
    struct fd_run run;
    fd_open(&run,
            "grid.order=8 boundary.x2=absorbing time.end=1e7 initial.type=random "
            "device.precision=%s %s",
            precision, box->text);
    fd_advance(&run, steps / 100);
    const double early = largest_change(&run, part);
    fd_advance(&run, steps - steps / 100 - 2 * part);
    const double late = largest_change(&run, part);
    fd_close(&run);
    TEST_BELOW(late / early, 1.1,
               "%s, %s: squares of changes after %d steps over those of the first", box->name,
               precision, steps);
}

int main(int argc, char **argv) {
    const bool all = argc > 1 && strcmp(argv[1], "all") == 0;
    const int steps = all ? 100000 : test_all() ? 10000 : 2000;
    const int count = (int)(sizeof boxes / sizeof *boxes) - (test_all() || all ? 0 : BY_NIGHT);
    if (!test_have_double()) return test_end("pair_layers");
    const char *cube =
        "boundary.x3=absorbing grid.order=4 grid.cells=[19,17,15] grid.upper=[19.0,17.0,15.0]";
    /* the programs of the boxes */
    const char *square = "grid.order=8 grid.cells=[19,17] grid.upper=[19.0,17.0]";
    fd_judge_kernels("system=elastic", cube, false);
    fd_judge_kernels("system=maxwell", test_all() ? cube : square, false);
    fd_judge_kernels("system=elastic absorbing.type=sponge", test_all() ? cube : square, false);
    test_reflections();
    for (int i = 0; i < count; i++)
        for (int p = 0; p < (test_all() || all ? 2 : 1); p++)
            if (all && strstr(boxes[i].text, "boundary.x1") == NULL)
                test_guided(&boxes[i], p ? "double" : "single");
            else
                test_decay(&boxes[i], p ? "double" : "single", steps);
    return test_end("pair_layers");
}
