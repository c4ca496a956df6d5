/* Linear acoustics in a fluid at rest (Euler's equations linearised; see for instance Pierce,
 * Acoustics, section 1-5):
 *     p_t = -K div v,    v_t = -(1/rho) grad p,    c^2 = K / rho.
 * p is even and v_k odd under reflection of x_k: a rigid wall is a mirror with factor +1 (v_n = 0),
 * a pressure-release wall one with -1 (p = 0).
 */
#include <math.h>
#include <string.h>

#include "systems.h"

enum { P, V1, V2, V3 };
enum { MODULUS, INVERSE_DENSITY };
enum { PARAMETER_C_OR_K, PARAMETER_RHO };

/* K, given or as rho c^2, and 1/rho. */
static enum ht_err materials(const struct ht_jets *jets, const int *chosen,
                             const double *const *value, double *const *out) {
    const double *first = value[PARAMETER_C_OR_K], *rho = value[PARAMETER_RHO];
    size_t bytes = (size_t)jets->count * sizeof(double);
    if (chosen[PARAMETER_C_OR_K] == 0) {
        ht_jet_multiply(jets, first, first, out[INVERSE_DENSITY]);
        ht_jet_multiply(jets, out[INVERSE_DENSITY], rho, out[MODULUS]);
    } else {
        memcpy(out[MODULUS], first, bytes);
    }
    ht_jet_reciprocal(jets, rho, out[INVERSE_DENSITY]);
    return HT_OK;
}

static double speed(const double *material, int axis) {
    (void)axis;
    return sqrt(material[MODULUS] * material[INVERSE_DENSITY]);
}

static double norm(const double *k, int dims) {
    double sum = 0;
    for (int j = 0; j < dims; j++) sum += k[j] * k[j];
    return sqrt(sum);
}

/* p = 1, v = k / (|k| Z) with the impedance Z = sqrt(K rho). */
static void plane(const double *material, int dims, const double *k, double *real,
                  double *imaginary, double *omega) {
    double length = norm(k, dims);
    double admittance = sqrt(material[INVERSE_DENSITY] / material[MODULUS]);
    *omega = speed(material, 0) * length;
    real[P] = 1;
    imaginary[P] = 0;
    for (int j = 0; j < dims; j++) real[V1 + j] = length > 0 ? admittance * k[j] / length : 0;
}

/* p = cos(omega t) prod_j phi_j; v_j from v_t = -(1/rho) dp/dx_j, where phi_j' is -k_j times the
 * odd function of an even mirror (cos -> -k sin) and +k_j times that of an odd one (sin -> k cos).
 */
static void standing(const double *material, int dims, const double *k, const int *factor,
                     double *cosine, double *sine, double *omega) {
    *omega = speed(material, 0) * norm(k, dims);
    cosine[P] = 1;
    sine[P] = 0;
    for (int j = 0; j < dims; j++) {
        double slope = factor[j] < 0 ? k[j] : -k[j];
        cosine[V1 + j] = 0;
        sine[V1 + j] = *omega > 0 ? -material[INVERSE_DENSITY] * slope / *omega : 0;
    }
}

const struct ht_system ht_system_acoustic = {
    .name = "acoustic",
    .title = "linear acoustics: pressure and particle velocity",
    .equations = "p_t = -K div v,  v_t = -(1/rho) grad p,  c^2 = K/rho",
    .symbol = HT_SYMBOL_WAVE,
    .nfields = 4,
    .field = {{"p", 0u, 1, "pressure"},
              {"v1", 1u, 1, "particle velocity along x1"},
              {"v2", 2u, 2, "particle velocity along x2"},
              {"v3", 4u, 3, "particle velocity along x3"}},
    .nterms = 6,
    .term = {{P, V1, 0, 1, -1, MODULUS},
             {P, V2, 1, 1, -1, MODULUS},
             {P, V3, 2, 1, -1, MODULUS},
             {V1, P, 0, 1, -1, INVERSE_DENSITY},
             {V2, P, 1, 1, -1, INVERSE_DENSITY},
             {V3, P, 2, 1, -1, INVERSE_DENSITY}},
    .nmaterials = 2,
    .material = {{"K", "bulk modulus, rho c^2", true, true},
                 {"1/rho", "inverse density", true, true}},
    .nwalls = 2,
    .wall = {{"rigid", +1, "v_n = 0"}, {"free", -1, "p = 0 (pressure release)"}},
    .energy = {true,
               4,
               {{P, false, MODULUS},
                {V1, false, INVERSE_DENSITY},
                {V2, false, INVERSE_DENSITY},
                {V3, false, INVERSE_DENSITY}}},
    .leapfrog = {{1u << P, 1u << V1 | 1u << V2 | 1u << V3}, +1},
    .second_order = {.known = true,
                     .field = P,
                     .modulus = MODULUS,
                     .inverse_density = INVERSE_DENSITY,
                     .rate = -1,
                     .flux = V1,
                     .monopole = {true, true, 1},
                     .force = {true, true, 0}},
    .first_field = "p",
    .translates = false,
    .nparameters = 2,
    .parameter = {{.names = "c|K",
                   .meanings = "speed of sound|bulk modulus rho c^2",
                   .units = "length/time|pressure",
                   .fallback = 1.0,
                   .positive = true},
                  {.names = "rho",
                   .meanings = "density",
                   .units = "mass/length^3",
                   .fallback = 1.0,
                   .positive = true}},
    .speed_name = "c",
    .materials = materials,
    .speed = speed,
    .plane = plane,
    .standing = standing,
};
