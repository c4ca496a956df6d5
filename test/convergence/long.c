/* Long runs, the energy of nodal values, single precision.
 *
 * Errors after a hundred periods are what the plan expects, along axes and diagonals, between walls
 * too. */
#include "scene.h"

/* ---- a hundred periods ---- */

struct journey {
    const char *name, *text;
};

/* The box has length 1 and waves speed 1: 108 crossings, in steps that 0.9 h fits a whole number of
 * times, are 108 periods or more. */
static const struct journey journeys[] = {
    {"acoustic 1D N=1", "system=acoustic grid.order=1 grid.cells=[48] initial.type=plane"},
    {"acoustic 1D N=2", "system=acoustic grid.order=2 grid.cells=[12] initial.type=plane"},
    {"acoustic 1D N=3", "system=acoustic grid.order=3 grid.cells=[6] initial.type=plane"},
    {"acoustic 1D N=4", "system=acoustic grid.order=4 grid.cells=[5] initial.type=plane"},
    {"acoustic 1D N=6", "system=acoustic grid.order=6 grid.cells=[4] initial.type=plane"},
    {"standing mode 1D N=3",
     "system=acoustic grid.order=3 grid.cells=[6] boundary.x1=rigid initial.type=standing "
     "initial.modes=[2]"},
    {"acoustic 2D N=3 diagonal",
     "system=acoustic grid.order=3 grid.cells=[6,6] initial.type=plane initial.cycles=[1,1]"},
    {"acoustic 3D N=2 diagonal",
     "system=acoustic grid.order=2 grid.cells=[5,5,5] initial.type=plane initial.cycles=[1,1,1]"},
    {"advection 2D N=3 diagonal",
     "system=advection grid.order=3 grid.cells=[6,6] medium.velocity=[1,1] initial.type=plane "
     "initial.cycles=[1,1]"},
    {"advection 2D N=4 diagonal",
     "system=advection grid.order=4 grid.cells=[5,5] medium.velocity=[1,-1] initial.type=plane "
     "initial.cycles=[1,-1]"},
    {"advection 3D N=2 diagonal",
     "system=advection grid.order=2 grid.cells=[6,6,6] medium.velocity=[1,1,1] initial.type=plane "
     "initial.cycles=[1,1,1]"},
};

/* The energy of nodal values can change by no more than the error: a state that is wrong by e has
 * an energy wrong by 2 e + e^2. */
static void judge(const struct journey *j, const struct scene_run *run, double error,
                  double drift) {
    const struct ht_plan *plan = run->plan;
    double expected = plan->expected.error;
    double slack = 0.05; /* of the first order in the error, and of starting */
    TEST_BELOW(fabs(error / expected - 1), slack,
               "%s: error after %lld steps %.3g, expected %.3g; relative difference", j->name,
               (long long)run->done, error, expected);
    TEST_BELOW(fabs(drift), 2 * expected * (1 + slack + expected), "%s: drift of the energy",
               j->name);
    TEST_BELOW(drift, 0, "%s: which decays", j->name);
}

static void travels(struct scene *scene) {
    TEST_EACH(j, journeys) {
        HT_ENDED(scene_close) struct scene_run run;
        scene_open(scene, &run, "%s time.end=108", j->text);
        const double start = fd_state(&run.of).energy, error = scene_finish(&run);
        judge(j, &run, error, fd_state(&run.of).energy / start - 1);
    }
}

/* ---- single precision ---- */

static void single(struct scene *scene) {
    static const char *const rows[] = {
        "system=acoustic grid.order=3 initial.type=plane grid.cells=[8]",
        "system=acoustic grid.order=3 initial.type=plane grid.cells=[24]",
        "system=acoustic grid.order=2 initial.type=plane grid.cells=[48]",
        "system=acoustic grid.order=5 initial.type=plane grid.cells=[12]",
        "system=acoustic grid.order=4 initial.type=plane grid.cells=[9,9,9] initial.cycles=[0,0,3]",
        "system=acoustic grid.order=3 initial.type=plane grid.cells=[12,12] initial.cycles=[1,1]",
        ("system=advection grid.order=3 initial.type=plane grid.cells=[12,12] "
         "initial.cycles=[1,1] device.layout=blocked"),
    };
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
        const double floor = 1e-5; /* that the method is known for */
        if (strstr(rows[n], "[9,9,9]") && !test_all()) continue;
        HT_ENDED(scene_close) struct scene_run run;
        HT_ENDED(scene_close) struct scene_run exact;
        scene_open(scene, &run, "%s time.end=9 device.precision=single", rows[n]);
        scene_open(scene, &exact, "%s time.end=9", rows[n]);
        const double error = scene_finish(&exact);
        TEST_BELOW(scene_finish(&run), error + fmin(scene_rounding(run.plan), floor),
                   "single precision, %s: error, %.1e in double", rows[n], error);
    }
}

int main(void) {
    struct scene scene;
    if (scene_start_plain(&scene)) {
        travels(&scene);
        single(&scene);
    }
    return test_end("long");
}
