/* The scalar wave equation u_tt = c^2 lap u as the pair
 *     u_t = v,    v_t = c^2 lap u.
 * Both fields are even under reflections: a mirror with factor +1 is a wall with du/dn = 0
 * (Neumann; a rigid wall if u is a pressure), a mirror with -1 a wall with u = 0 (Dirichlet;
 * pressure release).
 *
 * Leapfrog needs only u: the even part of E I (u, v) does not depend on v. */
#include "systems.h"

enum { U, V };
enum { SPEED_SQUARED };

static void materials(const struct ht_jets *jets, HT_UNUSED const int *chosen,
                      const double *const *value, double *const *out) {
    ht_jet_multiply(jets, value[0], value[0], out[SPEED_SQUARED]);
}

static void scalars(int64_t count, double *const *material, double *const *out) {
    for (int64_t i = 0; i < count; i++) out[0][i] = 1 / material[SPEED_SQUARED][i];
}

static double coefficient(const struct ht_face *at, HT_UNUSED int r, HT_UNUSED int q) {
    return 1 / at->mean[0];
}

static void scalars_back(const double *material, const double *by, double *by_material) {
    by_material[0] = -by[0] / (material[0] * material[0]);
}

static void coefficient_back(const struct ht_face *at, HT_UNUSED int r, HT_UNUSED int q, double by,
                             struct ht_face *out) {
    out->mean[0] -= by / (at->mean[0] * at->mean[0]);
}

const struct ht_system ht_system_wave = {
    .name = "wave",
    .title = "scalar wave equation, as u and its time derivative",
    .equations = "u_tt = c^2 lap u  (u_t = v,  v_t = c^2 lap u)",
    .nfields = 2,
    .field = {{"u", "wave field"}, {"v", "time derivative of u"}},
    .nterms = 4,
    .term = {{U, V, 0, 0, 1, -1},
             {V, U, 0, 2, 1, SPEED_SQUARED},
             {V, U, 1, 2, 1, SPEED_SQUARED},
             {V, U, 2, 2, 1, SPEED_SQUARED}},
    .nmaterials = 1,
    .material = {{"c^2", "square of the wave speed", true, true, false}},
    .nwalls = 2,
    .wall = {{"rigid", +1, "du/dn = 0 (Neumann)", .layer = false},
             {"free", -1, "u = 0 (Dirichlet)", .layer = false}},
    .nparameters = 1,
    .parameter = {HT_POSITIVE("c", "wave speed", "length/time")},
    .speed_name = "c",
    .average = {.nscalars = 1,
                .name = {"1/c^2"},
                .uses = {1},
                .scalars = scalars,
                .coefficient = coefficient,
                .scalars_back = scalars_back,
                .coefficient_back = coefficient_back},
    .materials = materials,
};
