/* First-order systems by staggered finite differences where they are weakest: media that jump at
 * every few cells, with fluid beside solid, between walls of all kinds, near the largest step. The
 * discrete energy stays: by the proof of htwave/system.h it needs neither smoothness nor positive
 * shear moduli. And walls of both factors against Hermite methods. */
#include "scene.h"

/* ---- energy ---- */

static const struct {
    const char *name, *text;
    int steps;
} media[] = {
    {"elastic, solid and fluid",
     "system=elastic grid.cells=[37,41] grid.order=8 medium.axis=x2 "
     "medium.interfaces=[0.21,0.33,0.4,0.63,0.82] medium.vp=[1,3,1.5,1.5,4,2] "
     "medium.vs=[0.5,1.7,0,0,2.2,0] medium.rho=[1,2.5,1,1.1,3,0.9] boundary.x1=roller "
     "boundary.x2=antisymmetric initial.centre=[0.4,0.25]",
     4000},
    {"elastic in 3-D, periodic and walls",
     "system=elastic grid.cells=[13,14,15] grid.order=4 medium.axis=x3 "
     "medium.interfaces=[0.3,0.5,0.6] medium.vp=[1,3,1.5,2] medium.vs=[0.5,1.7,0,1] "
     "medium.rho=[1,2.5,1,2] boundary.x2=roller boundary.x3=antisymmetric "
     "initial.centre=[0.4,0.25,0.15]",
     1000},
    {"maxwell, TE, contrast 12",
     "system=maxwell grid.cells=[40,33] grid.order=12 medium.axis=x1 "
     "medium.interfaces=[0.3,0.35,0.7] medium.eps=[1,12,2,6] medium.mu=[1,1,2,1] "
     "boundary.x1=electric boundary.x2=magnetic initial.centre=[0.4,0.25]",
     4000},
    {"maxwell in 3-D",
     "system=maxwell grid.cells=[12,13,14] grid.order=6 medium.axis=x2 medium.interfaces=[0.3,0.7] "
     "medium.eps=[1,12,2] medium.mu=[1,1,2] boundary.x1=electric boundary.x3=magnetic "
     "initial.centre=[0.4,0.25,0.15]",
     1000},
};
enum { MEDIA = sizeof media / sizeof *media };

/* Rounding of sums over steps; in single precision of each step's, too, as a random walk. */
static void judge_energy(struct scene *scene, int which, bool fp64, int terms) {
    HT_ENDED(scene_close) struct scene_run run;
    const double most = fp64 ? 1e-13 : 1e-6;
    scene_open(scene, &run,
               "%s medium.type=layers medium.fit=point initial.type=gaussian "
               "initial.width=0.05 time.scheme=fd time.end=100 time.stages=%d device.precision=%s",
               media[which].text, terms, fp64 ? "double" : "single");
    const double before = fd_state(&run.of).energy;
    scene_advance(&run, media[which].steps);
    TEST_BELOW(fabs(fd_state(&run.of).energy / before - 1), most,
               "%s, %s, terms %d: relative change of the energy in %d steps at %.2f of the limit",
               media[which].name, fp64 ? "double" : "single", terms, media[which].steps,
               run.plan->cfl / run.plan->cfl_limit);
}

/* ---- the largest step with two terms ---- */

/* Of random data, in which are the waves that limit the step: by the bound 2^(4/3) + 2^(5/3) of
 * dt omega, beyond which they grow by 17 % per step at a part of 1.0005. */
static void judge_limit(struct scene *scene, const char *system, double part, int steps) {
    HT_ENDED(scene_close) struct scene_run run;
    scene->part = part;
    scene_open(scene, &run,
               "system=%s grid.cells=[16,12] grid.order=4 initial.type=random time.scheme=fd "
               "time.stages=2 time.end=100",
               system);
    scene->part = 0;
    const double before = fd_state(&run.of).largest[0];
    scene_advance(&run, steps);
    const double ratio = fd_state(&run.of).largest[0] / before;
    TEST_CHECK(
        part < 1 ? ratio < 10 : ratio > 1e6,
        "%s, two terms: the largest value changes by a factor of %.3g in %d steps at %.4f of "
        "the limit",
        system, ratio, steps, part);
}

/* ---- walls ---- */

static const struct {
    const char *name, *text;
    int field; /* at the nodes */
} boxes[] = {
    {"elastic", "system=elastic medium.vs=0.6 boundary.x1=roller boundary.x2=antisymmetric", 2},
    {"maxwell, TE", "system=maxwell boundary.x1=electric boundary.x2=magnetic", 2},
};
enum { BOXES = sizeof boxes / sizeof *boxes };

static void open_box(struct scene *scene, int which, const char *scheme, struct scene_run *run) {
    scene_open(scene, run,
               "%s %s grid.cells=[40,48] initial.type=gaussian initial.width=0.08 "
               "initial.centre=[0.4,0.25] time.end=0.8",
               boxes[which].text, scheme);
}

/* The field is that of half a step before and after the end: their mean errs by (omega dt)^2/8, and
 * in all by less than what both schemes do to waves of eight points. */
static void judge_walls(struct scene *scene, int which) {
    HT_ENDED(scene_close) struct scene_run fd;
    HT_ENDED(scene_close) struct scene_run hermite;
    const int f = boxes[which].field;
    struct errors e = {0};
    HT_FREED double *before = NULL;
    open_box(scene, which, "time.scheme=fd grid.order=12 time.cfl=0.01", &fd);
    open_box(scene, which, "time.scheme=taylor grid.order=3", &hermite);
    const int64_t nodes = fd.of.nodes;
    must(HT_ALLOC(before, nodes));
    scene_advance(&fd, fd.plan->steps);
    memcpy(before, fd.nodal[f], (size_t)nodes * sizeof *before);
    scene_advance(&fd, 1);
    scene_advance(&hermite, hermite.plan->steps);
    for (int64_t n = 0; n < nodes; n++)
        errors_add(&e, (before[n] + fd.nodal[f][n]) / 2, hermite.nodal[f][n]);
    TEST_BELOW(errors_l2(e), 1e-4, "%s between walls, against Taylor series", boxes[which].name);
}

int main(void) {
    struct scene scene;
    if (!scene_start(&scene)) return test_end("staggered");
    for (int which = 0; which < MEDIA; which++) {
        judge_energy(&scene, which, which % 2 == 0, 1);
        if (test_all()) judge_energy(&scene, which, which % 2 != 0, 1);
        if (test_all() || which % 2 == 0) judge_energy(&scene, which, which != 2, 2);
    }
    for (int i = 0; i < 4; i++)
        judge_limit(&scene, i < 2 ? "elastic" : "maxwell", i % 2 == 0 ? 0.9999 : 1.0005,
                    i % 2 == 0 ? 10000 : 200);
    for (int which = 0; which < BOXES; which++) judge_walls(&scene, which);
    return test_end("staggered");
}
