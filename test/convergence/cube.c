/* Three dimensions, periodic, constant medium, double precision, c dt = 0.9 h:
 * order of at least 2N + 0.7 for N = 1..4, both systems, every variant; on a CPU unless
 * HTWAVE_COVER=all up to N = 3 and one variant each: compiling takes most of the time, and variants
 * are compared with the reference elsewhere. Both layouts take turns.
 *
 * Advection moves by (1, 1/2, 1/4); acoustics is a plane wave along the diagonal of the index space
 * in a box with sides 1 : 5/4 : 3/2. In a cube with the wave on its diagonal the three axes are
 * one, and near five cells per wavelength a weakly damped mode of the scheme has the speed of the
 * wave:
 * it blurs orders over any affordable time. Times are multiples of all the steps 0.9 h, so that
 * every rung has the same CFL number. */
#include "scene.h"

static const struct scene_ladder ladders[] = {
    {{1, 1, 1}, {8, 10, 12}, 2.7},
    {{1, 1, 1}, {4, 5, 6}, 4.7},
    {{1, 1, 1}, {3, 4, 5}, 6.7},
    {{1, 1, 1}, {3, 4, 5}, 8.7},
};
enum { ORDERS = sizeof ladders / sizeof *ladders };

static bool applies(const struct ht_device *device, const struct ht_variant *variant,
                    const char *system, int order) {
    struct ht_equations eq = ht_equations_make(ht_system_find(system), 3);
    struct ht_spec spec = {.eq = &eq, .order = order, .fp64 = true, .medium_degree = -1};
    return ht_variant_suits(variant, ht_device_info(device)->gpu) &&
           ht_variant_refuses(variant, &spec) == NULL &&
           ht_variant_lacks(variant, ht_device_info(device)) == NULL;
}

/* turn: which of the variants that apply has its turn at N = 1. */
static void periodic(struct scene *scene, const char *system, const char *options, int order,
                     int turn) {
    int count = 0, next = 0;
    for (int v = 0; v < ht_variant_count(); v++)
        count += applies(scene->device, ht_variant_at(v), system, order);
    const int chosen = count > 0 ? (order - 1 + turn) % count : 0;
    for (int v = 0; v < ht_variant_count(); v++) {
        const char *variant = ht_variant_at(v)->name;
        const char *layout = (order / 2 + v) % 2 ? "tensor" : "blocked";
        char name[96], text[SCENE_TEXT];
        if (!applies(scene->device, ht_variant_at(v), system, order)) continue;
        if (!test_all() && next++ != chosen) continue;
        snprintf(name, sizeof name, "%s 3D N=%d %s %s", system, order, variant, layout);
        snprintf(text, sizeof text,
                 "system=%s %s grid.order=%d device.variant=%s "
                 "device.layout=%s",
                 system, options, order, variant, layout);
        scene_ladder(scene, name, &ladders[order - 1], text);
    }
}

/* Between walls of all kinds, one kernel: walls are its arguments. */
static void walls(struct scene *scene) {
    static const struct scene_ladder ladder = {{1, 1, 1}, {4, 6, 8}, 4.7};
    scene_ladder(scene, "standing mode 3D N=2 rigid, free, mixed walls", &ladder,
                 "system=acoustic grid.order=2 grid.upper=[1,1.25,1.5] time.end=1.8 "
                 "boundary.x1=rigid boundary.x2=free boundary.x3=[\"rigid\",\"free\"] "
                 "initial.type=standing initial.modes=[1,2,1] "
                 "device.variant=monolithic device.layout=blocked");
}

int main(void) {
    struct scene scene;
    if (scene_start(&scene)) {
        for (int order = 1; order <= (test_all() ? ORDERS : 3); order++) {
            periodic(&scene, "advection",
                     "medium.velocity=[1,0.5,0.25] initial.type=plane "
                     "initial.cycles=[1,1,1] time.end=1.8",
                     order, 0);
            periodic(&scene, "acoustic",
                     "grid.upper=[1,1.25,1.5] initial.type=plane "
                     "initial.cycles=[1,1,1] time.end=1.8",
                     order, 1);
        }
        walls(&scene);
        scene_end(&scene);
    }
    return test_end("cube");
}
