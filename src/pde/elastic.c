/* Elastic waves in an isotropic solid (see for instance Aki and Richards, Quantitative Seismology,
 * chapter 2), velocity and stress:
 *     rho v_i,t = d_j s_ij,    s_ij,t = lambda delta_ij div v + mu (d_i v_j + d_j v_i),
 *     vp^2 = (lambda + 2 mu)/rho,  vs^2 = mu/rho.
 * In two dimensions v1, v2, s11, s22 and s12 exist (P and SV waves); SH waves are `acoustic` with
 * K = 1/rho and 1/rho = mu. A wall with factor +1 lets the solid slip along it.
 */
#include "systems.h"

enum { V1, V2, V3, S11, S22, S33, S12, S13, S23 };
enum { INVERSE_RHO, P_MODULUS, LAMBDA, MU };
enum { PARAMETER_VP_OR_LAMBDA, PARAMETER_VS_OR_MU, PARAMETER_RHO };

/* modulus = rho speed^2; work: jets of any values. */
static void modulus_of(const struct ht_jets *jets, const double *rho, const double *speed,
                       double *work, double *modulus) {
    ht_jet_multiply(jets, speed, speed, work);
    ht_jet_multiply(jets, work, rho, modulus);
}

static enum ht_err materials(const struct ht_jets *jets, const int *chosen,
                             const double *const *value, double *const *out) {
    const double *rho = value[PARAMETER_RHO], *first = value[PARAMETER_VP_OR_LAMBDA];
    const double *second = value[PARAMETER_VS_OR_MU];
    const bool lambda = chosen[PARAMETER_VP_OR_LAMBDA] == 1;
    const bool mu = chosen[PARAMETER_VS_OR_MU] == 1;
    if (!mu) modulus_of(jets, rho, second, out[INVERSE_RHO], out[MU]);
    if (!lambda) modulus_of(jets, rho, first, out[INVERSE_RHO], out[P_MODULUS]);
    for (int i = 0; i < jets->count; i++) {
        if (mu) out[MU][i] = second[i];
        if (lambda) out[P_MODULUS][i] = first[i] + 2 * out[MU][i];
        out[LAMBDA][i] = lambda ? first[i] : out[P_MODULUS][i] - 2 * out[MU][i];
    }
    ht_jet_reciprocal(jets, rho, out[INVERSE_RHO]);
    return HT_OK;
}

/* The work of any strain is positive. */
static const char *refuse(int dims, const double *material) {
    static const char *const must[] = {
        "lambda + 2 mu must be positive", "lambda + mu must be positive, vs less than vp",
        "3 lambda + 2 mu must be positive, vs less than vp sqrt(3)/2 = 0.866 vp"};
    return dims * material[LAMBDA] + 2 * material[MU] > 0 ? NULL : must[dims - 1];
}

const struct ht_system ht_system_elastic = {
    .name = "elastic",
    .title = "elastic waves in an isotropic solid: velocity and stress",
    .equations = "rho v_t = div s,  s_t = lambda (div v) I + mu (grad v + grad v^T)",
    .nfields = 9,
    .field = {{"v1", "velocity along x1"},
              {"v2", "velocity along x2"},
              {"v3", "velocity along x3"},
              {"s11", "normal stress along x1"},
              {"s22", "normal stress along x2"},
              {"s33", "normal stress along x3"},
              {"s12", "shear stress"},
              {"s13", "shear stress"},
              {"s23", "shear stress"}},
    .parity = 1, /* of v1 */
    .nterms = 24,
    .term = {{V1, S11, 0, 1, 1, INVERSE_RHO}, {V1, S12, 1, 1, 1, INVERSE_RHO},
             {V1, S13, 2, 1, 1, INVERSE_RHO}, {V2, S12, 0, 1, 1, INVERSE_RHO},
             {V2, S22, 1, 1, 1, INVERSE_RHO}, {V2, S23, 2, 1, 1, INVERSE_RHO},
             {V3, S13, 0, 1, 1, INVERSE_RHO}, {V3, S23, 1, 1, 1, INVERSE_RHO},
             {V3, S33, 2, 1, 1, INVERSE_RHO}, {S11, V1, 0, 1, 1, P_MODULUS},
             {S11, V2, 1, 1, 1, LAMBDA},      {S11, V3, 2, 1, 1, LAMBDA},
             {S22, V1, 0, 1, 1, LAMBDA},      {S22, V2, 1, 1, 1, P_MODULUS},
             {S22, V3, 2, 1, 1, LAMBDA},      {S33, V1, 0, 1, 1, LAMBDA},
             {S33, V2, 1, 1, 1, LAMBDA},      {S33, V3, 2, 1, 1, P_MODULUS},
             {S12, V1, 1, 1, 1, MU},          {S12, V2, 0, 1, 1, MU},
             {S13, V1, 2, 1, 1, MU},          {S13, V3, 0, 1, 1, MU},
             {S23, V2, 2, 1, 1, MU},          {S23, V3, 1, 1, 1, MU}},
    .nmaterials = 4,
    .material = {{"1/rho", "inverse density", true, true, false},
                 {"P", "lambda + 2 mu", true, true, false},
                 {"lambda", "first Lame modulus", false, true, false},
                 {"mu", "shear modulus", true, true, true}},
    .nwalls = 2,
    .wall = {{"roller", +1, "v_n = 0, s_nt = 0"}, {"antisymmetric", -1, "v_t = 0, s_nn = 0"}},
    .nparameters = 3,
    .parameter = {{.names = "vp|lambda",
                   .meanings = "speed of compressional waves|first Lame modulus",
                   .units = "length/time|pressure",
                   .fallback = 1.0,
                   .positive = true},
                  {.names = "vs|mu",
                   .meanings = "speed of shear waves|shear modulus",
                   .units = "length/time|pressure",
                   .fallback = 0.5,
                   .positive = true,
                   .zero = true},
                  {.names = "rho",
                   .meanings = "density",
                   .units = "mass/length^3",
                   .fallback = 1.0,
                   .positive = true}},
    .materials = materials,
    .refuse = refuse,
};
