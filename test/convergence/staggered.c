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
    struct ht_state before, after;
    const double most = fp64 ? 1e-13 : 1e-6;
    enum ht_err err = scene_open(
        scene, &run,
        "%s medium.type=layers medium.fit=point initial.type=gaussian "
        "initial.width=0.05 time.scheme=fd time.end=100 time.stages=%d device.precision=%s",
        media[which].text, terms, fp64 ? "double" : "single");
    if (err == HT_OK) err = ht_state_measure(run.plan, &run.stepper, 0, &before);
    if (err == HT_OK) err = scene_advance(&run, media[which].steps);
    if (err == HT_OK) err = ht_state_measure(run.plan, &run.stepper, 1, &after);
    if (err != HT_OK)
        TEST_CHECK(false, "%s: %s", media[which].name, ht_err_message());
    else
        TEST_BELOW(
            fabs(after.energy / before.energy - 1), most,
            "%s, %s, terms %d: relative change of the energy in %d steps at %.2f of the limit",
            media[which].name, fp64 ? "double" : "single", terms, media[which].steps,
            run.plan->cfl / run.plan->cfl_limit);
}

/* ---- the largest step with two terms ---- */

/* Of random data, in which are the waves that limit the step: by the bound 2^(4/3) + 2^(5/3) of
 * dt omega, beyond which they grow by 17 % per step at a part of 1.0005. */
static void judge_limit(struct scene *scene, const char *system, double part, int steps) {
    HT_ENDED(scene_close) struct scene_run run;
    struct ht_state before, after;
    scene->part = part;
    enum ht_err err = scene_open(scene, &run,
                                 "system=%s grid.cells=[16,12] grid.order=4 initial.type=random "
                                 "time.scheme=fd time.stages=2 time.end=100",
                                 system);
    scene->part = 0;
    if (err == HT_OK) err = ht_state_measure(run.plan, &run.stepper, 0, &before);
    if (err == HT_OK) err = scene_advance(&run, steps);
    if (err == HT_OK) err = ht_state_measure(run.plan, &run.stepper, 1, &after);
    if (err != HT_OK) {
        TEST_CHECK(false, "%s: %s", system, ht_err_message());
        return;
    }
    const double ratio = after.largest[0] / before.largest[0];
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

static enum ht_err open_box(struct scene *scene, int which, const char *scheme,
                            struct scene_run *run) {
    return scene_open(scene, run,
                      "%s %s grid.cells=[40,48] initial.type=gaussian initial.width=0.08 "
                      "initial.centre=[0.4,0.25] time.end=0.8",
                      boxes[which].text, scheme);
}

/* The field is that of half a step before and after the end: their mean errs by (omega dt)^2/8, and
 * in all by less than what both schemes do to waves of eight points. */
static void judge_walls(struct scene *scene, int which) {
    struct scene_run fd, hermite;
    const int f = boxes[which].field;
    double *before = NULL, difference = 0, whole = 0;
    enum ht_err err = open_box(scene, which, "time.scheme=fd grid.order=12 time.cfl=0.01", &fd);
    const int64_t nodes = err == HT_OK ? ht_grid_total(&fd.plan->grid, HT_PRIMARY) : 0;
    if (err == HT_OK) err = HT_ALLOC(before, nodes);
    if (err == HT_OK) err = scene_advance(&fd, fd.plan->steps);
    if (err == HT_OK) memcpy(before, fd.nodal[f], (size_t)nodes * sizeof *before);
    if (err == HT_OK) err = scene_advance(&fd, 1);
    if (err == HT_OK) err = open_box(scene, which, "time.scheme=taylor grid.order=3", &hermite);
    if (err == HT_OK) {
        err = scene_advance(&hermite, hermite.plan->steps);
        for (int64_t n = 0; err == HT_OK && n < nodes; n++) {
            const double exact = hermite.nodal[f][n];
            difference += pow((before[n] + fd.nodal[f][n]) / 2 - exact, 2);
            whole += exact * exact;
        }
        scene_close(&hermite);
    }
    if (err != HT_OK)
        TEST_CHECK(false, "%s: %s", boxes[which].name, ht_err_message());
    else
        TEST_BELOW(sqrt(difference / whole), 1e-4, "%s between walls, against Taylor series",
                   boxes[which].name);
    free(before);
    scene_close(&fd);
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
    scene_end(&scene);
    return test_end("staggered");
}
