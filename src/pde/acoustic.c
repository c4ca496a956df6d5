/* Linear acoustics in a fluid at rest (Euler's equations linearised; see for instance Pierce,
 * Acoustics, section 1-5):
 *     p_t = -K div v,    v_t = -(1/rho) grad p,    c^2 = K / rho.
 * p is even and v_k odd under reflection of x_k, so that a rigid wall is a mirror with factor +1
 * (v_n = 0), a pressure-release wall one with -1 (p = 0). A part of K may relax (systems.h). */
#include "systems.h"

enum { P, V1, V2, V3 };
enum { MODULUS, INVERSE_DENSITY, STRENGTH, RATE };
enum { PARAMETER_C_OR_K, PARAMETER_RHO, PARAMETER_Q_OR_ABSORPTION };
enum { PARAMETER_FREQUENCY = PARAMETER_Q_OR_ABSORPTION + 1, PARAMETER_POWER, PARAMETERS };

/* K, given or as rho c^2, and 1/rho. */
static void materials(const struct ht_jets *jets, const int *chosen, const double *const *value,
                      double *const *out) {
    const double *first = value[PARAMETER_C_OR_K], *rho = value[PARAMETER_RHO];
    size_t bytes = (size_t)jets->count * sizeof(double);
    if (chosen[PARAMETER_C_OR_K] == 0) {
        ht_jet_multiply(jets, first, first, out[INVERSE_DENSITY]);
        ht_jet_multiply(jets, out[INVERSE_DENSITY], rho, out[MODULUS]);
    } else {
        memcpy(out[MODULUS], first, bytes);
    }
    ht_jet_reciprocal(jets, rho, out[INVERSE_DENSITY]);
    for (int i = 0; i < (jets->degree == 0 ? jets->count : 1); i++) {
        const double frequency = value[PARAMETER_FREQUENCY][i];
        double q = value[PARAMETER_Q_OR_ABSORPTION][i];
        if (chosen[PARAMETER_Q_OR_ABSORPTION] == 1)
            q = ht_absorption_quality(q, sqrt(out[MODULUS][i] * out[INVERSE_DENSITY][i]),
                                      frequency);
        const struct ht_attenuation of = ht_attenuation_of(q, value[PARAMETER_POWER][i], frequency);
        /* jets: of losses that are alike in all of a cell, or refused */
        for (int j = i; j < (jets->degree == 0 ? i + 1 : jets->count); j++)
            out[MODULUS][j] *= of.stiffer;
        out[STRENGTH][i] = of.strength;
        out[RATE][i] = of.rate;
    }
}

static const char *refuse(HT_UNUSED int dims, const double *material) {
    if (HT_RATE_RULE(material[RATE]) != NULL) return HT_RATE_RULE(material[RATE]);
    return material[STRENGTH] >= 0 && material[STRENGTH] <= 2
               ? NULL
               : "too much is lost: q, nearly pi q_frequency/(c absorption), " HT_QUALITY_RULE;
}

/* At a face the velocity is continuous along n and the slope of the pressure across. */
enum { MEAN_COMPLIANCE, MEAN_RHO, MEAN_INVERSE_RHO };

static void scalars(int64_t count, double *const *material, double *const *out) {
    for (int64_t i = 0; i < count; i++) {
        out[MEAN_COMPLIANCE][i] = 1 / material[MODULUS][i];
        out[MEAN_RHO][i] = 1 / material[INVERSE_DENSITY][i];
        out[MEAN_INVERSE_RHO][i] = material[INVERSE_DENSITY][i];
    }
}

static double coefficient(const struct ht_face *at, int r, int q) {
    if (r == P) return 1 / at->mean[MEAN_COMPLIANCE];
    const double along = at->n[r - V1] * at->n[q - V1];
    return along / at->mean[MEAN_RHO] + ((r == q) - along) * at->mean[MEAN_INVERSE_RHO];
}

static void scalars_back(const double *material, const double *by, double *by_material) {
    const double K = material[MODULUS], b = material[INVERSE_DENSITY];
    by_material[MODULUS] = -by[MEAN_COMPLIANCE] / (K * K);
    by_material[INVERSE_DENSITY] = by[MEAN_INVERSE_RHO] - by[MEAN_RHO] / (b * b);
}

static void coefficient_back(const struct ht_face *at, int r, int q, double by,
                             struct ht_face *out) {
    const double b = 1 / at->mean[r == P ? MEAN_COMPLIANCE : MEAN_RHO];
    double by_b = r == P ? by : 0;
    if (r != P)
        ht_entry_back(at->n, r - V1, q - V1, b, at->mean[MEAN_INVERSE_RHO], by, &by_b,
                      &out->mean[MEAN_INVERSE_RHO], out->n);
    out->mean[r == P ? MEAN_COMPLIANCE : MEAN_RHO] -= by_b * b * b;
}

#define VECTOR (1 << MEAN_RHO | 1 << MEAN_INVERSE_RHO)

const struct ht_system ht_system_acoustic = {
    .name = "acoustic",
    .title = "linear acoustics: pressure and particle velocity",
    .equations = "p_t = -K div v,  v_t = -(1/rho) grad p,  c^2 = K/rho",
    .nfields = 4,
    .field = {{"p", "pressure"},
              {"v1", "particle velocity along x1"},
              {"v2", "particle velocity along x2"},
              {"v3", "particle velocity along x3"}},
    .nterms = 6,
    .term = {{P, V1, 0, 1, -1, MODULUS},
             {P, V2, 1, 1, -1, MODULUS},
             {P, V3, 2, 1, -1, MODULUS},
             {V1, P, 0, 1, -1, INVERSE_DENSITY},
             {V2, P, 1, 1, -1, INVERSE_DENSITY},
             {V3, P, 2, 1, -1, INVERSE_DENSITY}},
    .nmaterials = 4,
    .nlost = 2,
    .nlosses = 1,
    .loss = {{.kind = HT_LOSS_ATTENUATES,
              .fields = 1 << P,
              .parameters = 1 << PARAMETER_Q_OR_ABSORPTION,
              .strength = STRENGTH,
              .rate = RATE}},
    .material = {{"K", "bulk modulus, rho c^2", true, true, false},
                 {"1/rho", "inverse density", true, true, false},
                 {"Y_K", "part of K that relaxes, over the rest", true, true, true},
                 {"w", "rate at which it relaxes", true, true, false}},
    .nwalls = 2,
    .wall = {{"rigid", +1, "v_n = 0", .layer = false},
             {"free", -1, "p = 0 (pressure release)", .layer = false}},
    .nparameters = PARAMETERS,
    .parameter =
        {HT_POSITIVE("c|K", "speed of sound|bulk modulus rho c^2", "length/time|pressure"),
         HT_POSITIVE("rho", "density", "mass/length^3"),
         HT_QUALITY("q|absorption",
                    "quality factor near q_frequency|absorption at q_frequency (nepers per length)",
                    "1|1/length"),
         HT_QUALITY_FREQUENCY, HT_ABSORPTION_POWER},
    .speed_name = "c",
    .materials = materials,
    .refuse = refuse,
    .average = {.nscalars = 3,
                .name = {"1/K", "rho", "1/rho"},
                .uses = {1 << MEAN_COMPLIANCE, VECTOR, VECTOR, VECTOR},
                .normal = 1 << MEAN_RHO,
                .scalars = scalars,
                .coefficient = coefficient,
                .scalars_back = scalars_back,
                .coefficient_back = coefficient_back},
};
