/* The scalar wave equation u_tt = c^2 lap u as the pair
 *     u_t = v,    v_t = c^2 lap u.
 * Both fields are even under reflections: a mirror with factor +1 is a wall with du/dn = 0
 * (Neumann; a rigid wall if u is a pressure), a mirror with -1 a wall with u = 0 (Dirichlet;
 * pressure release).
 *
 * Leapfrog needs only u: the even part of E I (u, v) does not depend on v.
 */
#include <math.h>
#include <string.h>

#include "systems.h"

enum { U, V };
enum { SPEED_SQUARED };

static enum ht_err materials(const struct ht_jets *jets, const int *chosen,
                             const double *const *value, double *const *out) {
    (void)chosen;
    ht_jet_multiply(jets, value[0], value[0], out[SPEED_SQUARED]);
    return HT_OK;
}

static double speed(const double *material, int axis) {
    (void)axis;
    return sqrt(material[SPEED_SQUARED]);
}

static double frequency(const double *material, int dims, const double *k) {
    double sum = 0;
    for (int j = 0; j < dims; j++) sum += k[j] * k[j];
    return sqrt(material[SPEED_SQUARED] * sum);
}

/* u = exp(i(k.x - omega t)), v = u_t. */
static void plane(const double *material, int dims, const double *k, double *real,
                  double *imaginary, double *omega) {
    *omega = frequency(material, dims, k);
    real[U] = 1;
    imaginary[V] = -*omega;
}

/* u = cos(omega t) prod_j phi_j, v = -omega sin(omega t) prod_j phi_j. */
static void standing(const double *material, int dims, const double *k, const int *factor,
                     double *cosine, double *sine, double *omega) {
    (void)factor;
    *omega = frequency(material, dims, k);
    cosine[U] = 1;
    sine[V] = -*omega;
}

const struct ht_system ht_system_wave = {
    .name = "wave",
    .title = "scalar wave equation, as u and its time derivative",
    .equations = "u_tt = c^2 lap u  (u_t = v,  v_t = c^2 lap u)",
    .symbol = HT_SYMBOL_PAIR,
    .nfields = 2,
    .field = {{"u", 0u, 1, "wave field"}, {"v", 0u, 1, "time derivative of u"}},
    .nterms = 4,
    .term = {{U, V, 0, 0, 1, -1},
             {V, U, 0, 2, 1, SPEED_SQUARED},
             {V, U, 1, 2, 1, SPEED_SQUARED},
             {V, U, 2, 2, 1, SPEED_SQUARED}},
    .nmaterials = 1,
    .material = {{"c^2", "square of the wave speed", true, true}},
    .nwalls = 2,
    .wall = {{"rigid", +1, "du/dn = 0 (Neumann)"}, {"free", -1, "u = 0 (Dirichlet)"}},
    .energy = {true, 2, {{V, false, SPEED_SQUARED}, {U, true, -1}}},
    .leapfrog = {{1u << U, 1u << U}, -1},
    .second_order = {.known = true,
                     .field = U,
                     .modulus = SPEED_SQUARED,
                     .inverse_density = -1,
                     .rate = V,
                     .flux = -1,
                     .monopole = {true, false, 0}},
    .first_field = "u",
    .translates = false,
    .nparameters = 1,
    .parameter = {{.names = "c",
                   .meanings = "wave speed",
                   .units = "length/time",
                   .fallback = 1.0,
                   .positive = true}},
    .speed_name = "c",
    .materials = materials,
    .speed = speed,
    .plane = plane,
    .standing = standing,
};
