/* Maxwell's equations in a medium without charges (see for instance Jackson, Classical
 * Electrodynamics, chapters 6 and 7; permittivities with losses: docs/developers/differences.md):
 *     eps E_t = curl H - J,    mu H_t = -curl E,    J = sigma E + J_Debye + J_Drude + J_Lorentz.
 * In two dimensions E1, E2 and H3 exist here (transverse electric), E3, H1 and H2 in another system
 * (transverse magnetic). E_t = 0 and H_n = 0 at an electric wall, a mirror with factor +1. */
#include "systems.h"

enum { INVERSE_EPS, INVERSE_MU, SIGMA, DEBYE, DEBYE_RATE, DRUDE, DRUDE_RATE };
enum { LORENTZ = DRUDE_RATE + 1, LORENTZ_FREQUENCY, LORENTZ_RATE, MATERIALS };
enum { OF_EPS, OF_MU, OF_SIGMA, OF_DEBYE_EPS, OF_DEBYE_TAU, OF_DRUDE_WP, OF_DRUDE_GAMMA };
enum { OF_LORENTZ_EPS = OF_DRUDE_GAMMA + 1, OF_LORENTZ_W0, OF_LORENTZ_GAMMA };

static void materials(const struct ht_jets *jets, HT_UNUSED const int *chosen,
                      const double *const *value, double *const *out) {
    ht_jet_reciprocal(jets, value[OF_EPS], out[INVERSE_EPS]);
    ht_jet_reciprocal(jets, value[OF_MU], out[INVERSE_MU]);
    for (int i = 0; i < (jets->degree == 0 ? jets->count : 1); i++) {
        const double wp = value[OF_DRUDE_WP][i], w0 = value[OF_LORENTZ_W0][i];
        out[SIGMA][i] = value[OF_SIGMA][i];
        out[DEBYE][i] = value[OF_DEBYE_EPS][i];
        out[DEBYE_RATE][i] = 1 / value[OF_DEBYE_TAU][i];
        out[DRUDE][i] = value[OF_EPS][i] * wp * wp;
        out[DRUDE_RATE][i] = value[OF_DRUDE_GAMMA][i];
        out[LORENTZ][i] = value[OF_LORENTZ_EPS][i] * w0 * w0;
        out[LORENTZ_FREQUENCY][i] = w0;
        out[LORENTZ_RATE][i] = value[OF_LORENTZ_GAMMA][i];
    }
}

/* At a face the flux density is continuous along n and the field across: 1/eps has there the means
 * of 1/eps and the inverse of those of eps. */
enum { MEAN_EPS, MEAN_INVERSE_EPS, MEAN_MU, MEAN_INVERSE_MU };
enum { ELECTRIC = 1 << MEAN_EPS | 1 << MEAN_INVERSE_EPS };
enum { MAGNETIC = 1 << MEAN_MU | 1 << MEAN_INVERSE_MU };

static void scalars(int64_t count, double *const *material, double *const *out) {
    for (int64_t i = 0; i < count; i++) {
        out[MEAN_EPS][i] = 1 / material[INVERSE_EPS][i];
        out[MEAN_INVERSE_EPS][i] = material[INVERSE_EPS][i];
        out[MEAN_MU][i] = 1 / material[INVERSE_MU][i];
        out[MEAN_INVERSE_MU][i] = material[INVERSE_MU][i];
    }
}

static void scalars_back(const double *material, const double *by, double *by_material) {
    const double eps = 1 / material[INVERSE_EPS], mu = 1 / material[INVERSE_MU];
    by_material[INVERSE_EPS] = by[MEAN_INVERSE_EPS] - by[MEAN_EPS] * eps * eps;
    by_material[INVERSE_MU] = by[MEAN_INVERSE_MU] - by[MEAN_MU] * mu * mu;
}

#define AVERAGE                                                                                    \
    .nscalars = 4, .name = {"eps", "1/eps", "mu", "1/mu"}, .normal = 1 << MEAN_EPS | 1 << MEAN_MU, \
    .scalars = scalars, .scalars_back = scalars_back

/* Of the electric fields. Strengths of oscillations are eps wp^2 and eps_Lorentz w0^2. */
#define LOSSES(electric)                                       \
    .nlosses = 4, .loss = {{.kind = HT_LOSS_CONDUCTS,          \
                            .fields = (electric),              \
                            .parameters = 1 << OF_SIGMA,       \
                            .strength = SIGMA},                \
                           {.kind = HT_LOSS_RELAXES,           \
                            .fields = (electric),              \
                            .parameters = 1 << OF_DEBYE_EPS,   \
                            .strength = DEBYE,                 \
                            .rate = DEBYE_RATE},               \
                           {.kind = HT_LOSS_OSCILLATES,        \
                            .fields = (electric),              \
                            .parameters = 1 << OF_DRUDE_WP,    \
                            .strength = DRUDE,                 \
                            .rate = DRUDE_RATE},               \
                           {.kind = HT_LOSS_OSCILLATES,        \
                            .fields = (electric),              \
                            .parameters = 1 << OF_LORENTZ_EPS, \
                            .strength = LORENTZ,               \
                            .frequency = LORENTZ_FREQUENCY,    \
                            .rate = LORENTZ_RATE}}

#define LOSS(symbol, text, unit, usual)                                              \
    {                                                                                \
        .names = (symbol), .meanings = (text), .units = (unit), .fallback = (usual), \
        .positive = true, .zero = (usual) == 0, .loss = true                         \
    }

#define MEDIUM                                                                                 \
    .nmaterials = MATERIALS, .nlost = MATERIALS - SIGMA,                                       \
    .material = {{"1/eps", "inverse permittivity", true, true, false},                         \
                 {"1/mu", "inverse permeability", true, true, false},                          \
                 {"sigma", "conductivity", true, true, true},                                  \
                 {"eps_Debye", "permittivity of a relaxation", true, true, true},              \
                 {"1/tau", "rate of a relaxation", true, true, true},                          \
                 {"eps wp^2", "strength of free charges", true, true, true},                   \
                 {"gamma_Drude", "rate of collisions", true, true, true},                      \
                 {"eps_Lorentz w0^2", "strength of a resonance", true, true, true},            \
                 {"w0", "frequency of a resonance", true, true, true},                         \
                 {"gamma_Lorentz", "damping of a resonance", true, true, true}},               \
    .nwalls = 2,                                                                               \
    .wall = {{"electric", +1, "E_t = 0 (perfect electric conductor)", .layer = false},         \
             {"magnetic", -1, "H_t = 0 (perfect magnetic conductor)", .layer = false}},        \
    .nparameters = OF_LORENTZ_GAMMA + 1,                                                       \
    .parameter = {HT_POSITIVE("eps", "permittivity, at infinite frequency", "permittivity"),   \
                  HT_POSITIVE("mu", "permeability", "permeability"),                           \
                  LOSS("sigma", "conductivity", "permittivity/time", 0.0),                     \
                  LOSS("debye_eps", "permittivity of a relaxation", "permittivity", 0.0),      \
                  LOSS("debye_tau", "time of the relaxation", "time", 1.0),                    \
                  LOSS("drude_wp", "plasma frequency, at which eps is 0", "radian/time", 0.0), \
                  LOSS("drude_gamma", "rate of collisions", "1/time", 0.0),                    \
                  LOSS("lorentz_eps", "permittivity of a resonance", "permittivity", 0.0),     \
                  LOSS("lorentz_w0", "frequency of the resonance", "radian/time", 1.0),        \
                  LOSS("lorentz_gamma", "damping of the resonance", "1/time", 0.0)},           \
    .speed_name = "c", .materials = materials

enum { E1, E2, E3, H1, H2, H3 };

/* The means of eps or mu, and of its inverse, of which a field takes one; its first component. */
static int means_of(int r, int *first) {
    *first = r < H1 ? E1 : H1;
    return r < H1 ? MEAN_EPS : MEAN_MU;
}

static double coefficient(const struct ht_face *at, int r, int q) {
    int first;
    const double *m = at->mean + means_of(r, &first);
    const double along = at->n[r - first] * at->n[q - first];
    return along * m[1] + ((r == q) - along) / m[0];
}

static void coefficient_back(const struct ht_face *at, int r, int q, double by,
                             struct ht_face *out) {
    int first;
    const int of = means_of(r, &first);
    const double *m = at->mean + of;
    double *to = out->mean + of, by_b = 0;
    ht_entry_back(at->n, r - first, q - first, m[1], 1 / m[0], by, &to[1], &by_b, out->n);
    to[0] -= by_b / (m[0] * m[0]);
}

const struct ht_system ht_system_maxwell = {
    .name = "maxwell",
    .title = "Maxwell's equations: electric and magnetic field",
    .equations = "eps E_t = curl H - J,  mu H_t = -curl E",
    .nfields = 6,
    .field = {{"E1", "electric field along x1"},
              {"E2", "electric field along x2"},
              {"E3", "electric field along x3"},
              {"H1", "magnetic field along x1"},
              {"H2", "magnetic field along x2"},
              {"H3", "magnetic field along x3"}},
    .parity = 6, /* of E1: it is odd at electric walls normal to x2 and x3 */
    .nterms = 12,
    .term = {{E1, H3, 1, 1, +1, INVERSE_EPS},
             {E1, H2, 2, 1, -1, INVERSE_EPS},
             {E2, H1, 2, 1, +1, INVERSE_EPS},
             {E2, H3, 0, 1, -1, INVERSE_EPS},
             {E3, H2, 0, 1, +1, INVERSE_EPS},
             {E3, H1, 1, 1, -1, INVERSE_EPS},
             {H1, E3, 1, 1, -1, INVERSE_MU},
             {H1, E2, 2, 1, +1, INVERSE_MU},
             {H2, E1, 2, 1, -1, INVERSE_MU},
             {H2, E3, 0, 1, +1, INVERSE_MU},
             {H3, E2, 0, 1, -1, INVERSE_MU},
             {H3, E1, 1, 1, +1, INVERSE_MU}},
    .average = {AVERAGE, .coefficient = coefficient, .coefficient_back = coefficient_back,
                .uses = {ELECTRIC, ELECTRIC, ELECTRIC, MAGNETIC, MAGNETIC, MAGNETIC}},
    LOSSES(1 << E1 | 1 << E2 | 1 << E3),
    MEDIUM};

enum { TM_E3, TM_H1, TM_H2 };
static const int tm_field[] = {E3, H1, H2};

static double tm_coefficient(const struct ht_face *at, int r, int q) {
    return coefficient(at, tm_field[r], tm_field[q]);
}

static void tm_coefficient_back(const struct ht_face *at, int r, int q, double by,
                                struct ht_face *out) {
    coefficient_back(at, tm_field[r], tm_field[q], by, out);
}

const struct ht_system ht_system_maxwell_tm = {
    .name = "maxwell_tm",
    .title = "Maxwell's equations in two dimensions, transverse magnetic: E3, H1, H2",
    .equations = "eps E3_t = d1 H2 - d2 H1 - J3,  mu H1_t = -d2 E3,  mu H2_t = d1 E3",
    .max_dims = 2,
    .nfields = 3,
    .field = {{"E3", "electric field along x3"},
              {"H1", "magnetic field along x1"},
              {"H2", "magnetic field along x2"}},
    .parity = 3,
    .nterms = 4,
    .term = {{TM_E3, TM_H2, 0, 1, +1, INVERSE_EPS},
             {TM_E3, TM_H1, 1, 1, -1, INVERSE_EPS},
             {TM_H1, TM_E3, 1, 1, -1, INVERSE_MU},
             {TM_H2, TM_E3, 0, 1, +1, INVERSE_MU}},
    .average = {AVERAGE, .coefficient = tm_coefficient, .coefficient_back = tm_coefficient_back,
                .uses = {ELECTRIC, MAGNETIC, MAGNETIC}},
    LOSSES(1 << TM_E3),
    MEDIUM};
