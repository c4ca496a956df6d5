/* One and two dimensions, double precision: N = 1..8 down to rounding, standing modes between walls
 * of every kind, unequal cells, reduced stages.
 *
 * Plane waves run at c dt = 0.2 h: far from c dt = h the errors of a step are largest and the modes
 * that initial data excite beside the wave die fastest, so that orders are clean from one
 * wavelength per two cells on. That leaves room above rounding up to N = 8, where errors fall by
 * 1e5 when h is halved. */
#include "scene.h"

/* ---- down to rounding ---- */

/* In one dimension, then in two. */
static const struct {
    const char *system, *text;
} waves[] = {
    {"advection", "medium.velocity=[-1] initial.cycles=[4]"},
    {"acoustic", "initial.cycles=[4]"},
    {"advection", "medium.velocity=[1,-0.75] initial.cycles=[2,1]"},
    {"acoustic", "grid.upper=[1,1.25] initial.cycles=[2,1]"},
};
static const double ends[] = {4, 2};
static const int finest[] = {24, 8}; /* cells where rounding is all */
static const int rungs[2][HT_MAX_ORDER][3] = {
    {{64, 96, 128},
     {24, 32, 48},
     {16, 24, 32},
     {16, 20, 24},
     {16, 20, 24},
     {10, 12, 16},
     {10, 12, 14},
     {9, 10}},
    {{20, 24, 32}, {8, 12, 16}, {6, 8, 12}, {6, 8, 10}, {6, 8, 10}, {4, 5, 6}, {4, 5, 6}, {4, 5}},
};
enum { WAVES = sizeof waves / sizeof *waves };

/* All options of a wave but the cells. Few steps suffice at high orders: they run longer, which
 * takes the errors further above rounding. */
static void write_wave(int wave, int order, char name[SCENE_TEXT], char text[SCENE_TEXT]) {
    const char *system = waves[wave].system;
    snprintf(name, SCENE_TEXT, "%s %dD N=%d", system, 1 + wave / 2, order);
    snprintf(text, SCENE_TEXT,
             "system=%s grid.order=%d initial.type=plane %s time.cfl=0.2 time.end=%g", system,
             order, waves[wave].text, ends[wave / 2] * (order < 7 ? 1 : 5));
}

/* On a CPU each order in one dimension by one system, up to N = 5 in two by the other one. */
static bool taken(int wave, int order) {
    return test_all() || ((wave + wave / 2 + order) % 2 == 0 && (wave < 2 || order <= 5));
}

static void orders(struct scene *scene, int wave, int order) {
    char name[SCENE_TEXT], text[SCENE_TEXT];
    write_wave(wave, order, name, text);
    struct scene_ladder ladder = {.ratio = {1, wave / 2}, .wanted = 2 * order + 0.7};
    memcpy(ladder.cells, rungs[wave / 2][order - 1], sizeof rungs[0][0]);
    scene_ladder(scene, name, &ladder, text);
}

/* At a high order the error on a fine grid is what rounding leaves. */
static void bottom(struct scene *scene, int wave, int order) {
    char name[SCENE_TEXT], text[SCENE_TEXT], cells[32];
    const int n = finest[wave / 2];
    HT_ENDED(scene_close) struct scene_run run;
    write_wave(wave, order, name, text);
    snprintf(cells, sizeof cells, wave / 2 ? "[%d,%d]" : "[%d]", n, n);
    scene_open(scene, &run, "%.900s grid.cells=%s", text, cells);
    TEST_BELOW(scene_finish(&run), fmin(scene_rounding(run.plan), 1e-12),
               "%s on %s cells is rounding", name, cells);
}

/* ---- walls ---- */

static void walls(struct scene *scene) {
    static const struct {
        const char *name, *text;
    } rooms[] = {
        {"rigid", "boundary.x1=rigid initial.modes=[2]"},
        {"free", "boundary.x1=free initial.modes=[2]"},
        {"rigid, free", "boundary.x1=[\"rigid\",\"free\"] initial.modes=[2]"},
        {"free, rigid", "boundary.x1=[\"free\",\"rigid\"] initial.modes=[3]"},
        {"rigid x free", "boundary.x1=rigid boundary.x2=free initial.modes=[2,1]"},
        {"mixed x mixed",
         "boundary.x1=[\"rigid\",\"free\"] boundary.x2=[\"free\",\"rigid\"] initial.modes=[2,1]"},
        {"periodic x mixed", "boundary.x2=[\"rigid\",\"free\"] initial.modes=[2,1]"},
    };
    static const int cells[4][SCENE_RUNGS] = {{16, 24, 32}, {8, 12, 16}, {8, 10, 12}, {5, 6, 8}};
    for (int r = 0; r < 7; r++)
        for (int order = 1; order <= 4; order++) {
            int dims = r < 4 ? 1 : 2;
            struct scene_ladder ladder = {.ratio = {1, dims - 1}, .wanted = 2 * order + 0.7};
            char name[96], text[SCENE_TEXT];
            memcpy(ladder.cells, cells[order - 1], sizeof ladder.cells);
            snprintf(name, sizeof name, "standing mode %dD N=%d %s", dims, order, rooms[r].name);
            snprintf(text, sizeof text,
                     "system=acoustic initial.type=standing grid.order=%d %s time.end=%s", order,
                     rooms[r].text,
                     dims == 1 ? "1.5 time.cfl=0.5" : "1.5 time.cfl=0.5 grid.upper=[1,1.25]");
            scene_ladder(scene, name, &ladder, text);
        }
}

/* ---- cells and stages ---- */

/* Fewer stages end the Taylor series at dt^q, q >= 2N+1: the order stays. */
static void shapes(struct scene *scene) {
    static const struct {
        const char *name, *text;
        struct scene_ladder ladder;
    } rows[] = {
        {"acoustic 2D N=3 unequal cells",
         "system=acoustic grid.order=3 grid.lower=[-1,2] grid.upper=[1,2.7] initial.type=plane "
         "initial.cycles=[2,1] time.end=1.2 time.cfl=0.7",
         {{3, 1}, {4, 6, 8}, 6.7}},
        {"advection 2D N=2 unequal cells",
         "system=advection grid.order=2 grid.upper=[1,3] medium.velocity=[0.5,2] "
         "initial.type=plane initial.cycles=[1,2] time.end=1.2 time.cfl=0.8",
         {{1, 2}, {6, 8, 12}, 4.7}},
        {"advection 2D N=2 Gaussian",
         "system=advection grid.order=2 medium.velocity=[1,0.5] initial.width=0.15 time.end=1 "
         "time.cfl=0.5",
         {{1, 1}, {16, 24, 32}, 4.7}},
        {"acoustic 2D N=2 stages auto",
         "system=acoustic grid.order=2 grid.upper=[1,1.25] time.stages=least initial.type=plane "
         "initial.cycles=[1,1] time.end=1.8",
         {{1, 1}, {6, 8, 12}, 4.7}},
        {"acoustic 2D N=3 stages auto",
         "system=acoustic grid.order=3 grid.upper=[1,1.25] time.stages=least initial.type=plane "
         "initial.cycles=[1,1] time.end=1.8 time.cfl=0.6",
         {{1, 1}, {6, 8, 10}, 6.7}},
        {"acoustic 2D N=3 stages 8",
         "system=acoustic grid.order=3 grid.upper=[1,1.25] time.stages=8 initial.type=plane "
         "initial.cycles=[1,1] time.end=1.8 time.cfl=0.6",
         {{1, 1}, {6, 8, 10}, 6.7}},
        {"advection 2D N=2 stages 5",
         "system=advection grid.order=2 medium.velocity=[1,0.5] time.stages=5 initial.type=plane "
         "initial.cycles=[1,1] time.end=1.2 time.cfl=0.4",
         {{1, 1}, {6, 8, 12}, 4.7}},
    };
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++)
        scene_ladder(scene, rows[n].name, &rows[n].ladder, rows[n].text);
}

int main(void) {
    struct scene scene;
    if (scene_start_plain(&scene)) {
        for (int w = 0; w < WAVES; w++) {
            for (int order = 1; order <= HT_MAX_ORDER; order++)
                if (taken(w, order)) orders(&scene, w, order);
            for (int order = 7; order <= HT_MAX_ORDER; order++)
                if (taken(w, order)) bottom(&scene, w, order);
        }
        walls(&scene);
        shapes(&scene);
    }
    return test_end("flat");
}
