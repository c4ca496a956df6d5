/* Elastic waves in an isotropic solid (see for instance Aki and Richards, Quantitative Seismology,
 * chapter 2), velocity and stress:
 *     rho v_i,t = d_j s_ij,    s_ij,t = lambda delta_ij div v + mu (d_i v_j + d_j v_i),
 *     vp^2 = (lambda + 2 mu)/rho,  vs^2 = mu/rho.
 * In two dimensions v1, v2, s11, s22 and s12 exist (P and SV waves); SH waves are `acoustic` with
 * K = 1/rho and 1/rho = mu. A wall with factor +1 lets the solid slip along it. Parts of the moduli
 * may relax (systems.h), those of lambda + 2 mu/dims and of mu. */
#include "systems.h"

enum { V1, V2, V3, S11, S22, S33, S12, S13, S23 };
enum { INVERSE_RHO, P_MODULUS, LAMBDA, MU, BULK, SHEAR = BULK + 3, RATE, MATERIALS };
enum { PARAMETER_VP_OR_LAMBDA, PARAMETER_VS_OR_MU, PARAMETER_RHO, PARAMETER_QP, PARAMETER_QS };
enum { PARAMETER_FREQUENCY = PARAMETER_QS + 1, PARAMETER_POWER, PARAMETERS };

/* modulus = rho speed^2; work: jets of any values. */
static void modulus_of(const struct ht_jets *jets, const double *rho, const double *speed,
                       double *work, double *modulus) {
    ht_jet_multiply(jets, speed, speed, work);
    ht_jet_multiply(jets, work, rho, modulus);
}

/* Of the bulk modulus P - s mu, s = 2 (dims - 1)/dims, so much relaxes, over the rest, that P and
 * mu have their parts. */
static double bulk_strength(int dims, double P, double mu, double part_p, double part_s) {
    const double rounding = 1e-14, s = 2.0 * (dims - 1) / dims;
    const double relaxes = part_p * P - s * part_s * mu;
    return fabs(relaxes) <= rounding * P ? 0 : relaxes / (P - s * mu - relaxes);
}

/* Speeds and moduli are those at the frequency of the quality factors. */
static void attenuate(const struct ht_jets *jets, const double *const *value, double *const *out) {
    const double *qp = value[PARAMETER_QP], *qs = value[PARAMETER_QS];
    for (int i = 0; i < (jets->degree == 0 ? jets->count : 1); i++) {
        const double power = value[PARAMETER_POWER][i], frequency = value[PARAMETER_FREQUENCY][i];
        const struct ht_attenuation p = ht_attenuation_of(qp[i], power, frequency);
        const struct ht_attenuation s = ht_attenuation_of(qs[i], power, frequency);
        for (int j = i; j < (jets->degree == 0 ? i + 1 : jets->count); j++) {
            out[P_MODULUS][j] *= p.stiffer;
            out[MU][j] *= s.stiffer;
            if (qp[i] > 0 || qs[i] > 0) out[LAMBDA][j] = out[P_MODULUS][j] - 2 * out[MU][j];
        }
        for (int dims = 1; dims <= 3; dims++)
            out[BULK + dims - 1][i] =
                bulk_strength(dims, out[P_MODULUS][i], out[MU][i], p.strength / (1 + p.strength),
                              s.strength / (1 + s.strength));
        out[SHEAR][i] = s.strength;
        out[RATE][i] = fmin(p.rate, s.rate);
    }
}

static void materials(const struct ht_jets *jets, const int *chosen, const double *const *value,
                      double *const *out) {
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
    attenuate(jets, value, out);
    ht_jet_reciprocal(jets, rho, out[INVERSE_RHO]);
}

/* Thin layers normal to n, of which each is isotropic (Backus, 1962, J. Geophys. Res. 67(11),
 * 4427-4440): traction and the strain along the face are the same in all of them. With the means of
 *     a = 1/P,  b = lambda/P,  d = 4 mu (lambda + mu)/P,  g = 1/mu,  m = mu
 * of a strain e, e_nn = n e n, P the projection on the face and e_t the trace of P e P, the work is
 *     2 W = e_nn^2/a + 2 b/a e_nn e_t + (d + b^2/a - 2 m) e_t^2 + 2 m |P e P|^2 + 4/g |P e n|^2.
 * It is not negative where a > 0 and d >= m >= 0; in the plane of two dimensions m has no part. */
enum { MEAN_A, MEAN_B, MEAN_D, MEAN_G, MEAN_M, MEAN_RHO };
enum { MODULI = 1 << MEAN_A | 1 << MEAN_B | 1 << MEAN_D | 1 << MEAN_G | 1 << MEAN_M };

static void scalars(int64_t count, double *const *material, double *const *out) {
    for (int64_t i = 0; i < count; i++) {
        const double P = material[P_MODULUS][i], lambda = material[LAMBDA][i];
        const double mu = material[MU][i];
        out[MEAN_A][i] = 1 / P;
        out[MEAN_B][i] = lambda / P;
        out[MEAN_D][i] = 4 * mu * (lambda + mu) / P;
        out[MEAN_G][i] = mu > 0 ? 1 / mu : 0;
        out[MEAN_M][i] = mu;
        out[MEAN_RHO][i] = 1 / material[INVERSE_RHO][i];
    }
}

static void scalars_back(const double *material, const double *by, double *by_material) {
    const double P = material[P_MODULUS], lambda = material[LAMBDA], mu = material[MU];
    const double b = material[INVERSE_RHO];
    const double quotient = by[MEAN_A] + by[MEAN_B] * lambda + by[MEAN_D] * 4 * mu * (lambda + mu);
    by_material[P_MODULUS] = -quotient / (P * P);
    by_material[LAMBDA] = (by[MEAN_B] + by[MEAN_D] * 4 * mu) / P;
    by_material[MU] = by[MEAN_D] * 4 * (lambda + 2 * mu) / P + by[MEAN_M];
    if (mu > 0) by_material[MU] -= by[MEAN_G] / (mu * mu);
    by_material[INVERSE_RHO] = -by[MEAN_RHO] / (b * b);
}

static const int axes_of[][2] = {
    [S11] = {0, 0}, [S22] = {1, 1}, [S33] = {2, 2}, [S12] = {0, 1}, [S13] = {0, 2}, [S23] = {1, 2}};

/* Of the stresses ij and kl: half of the second derivative of 2 W, e_ij and e_ji being one. */
static double coefficient(const struct ht_face *at, int r, int q) {
    const double *mean = at->mean, *n = at->n;
    if (r < S11) return 1 / mean[MEAN_RHO];
    const int i = axes_of[r][0], j = axes_of[r][1], k = axes_of[q][0], l = axes_of[q][1];
    const double m = mean[MEAN_M], G = at->slips ? 0 : 1 / mean[MEAN_G];
    const double d = at->dims == 3 && mean[MEAN_D] < m ? m : mean[MEAN_D];
    const double nn = 1 / mean[MEAN_A], nt = mean[MEAN_B] * nn;
    if (at->slips && mean[MEAN_D] == 0) return i == j && k == l ? nn : 0; /* all is fluid */
    const double tt = d + mean[MEAN_B] * nt - 2 * m;
    double P[3][3];
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) P[a][b] = (a == b) - n[a] * n[b];
    const double value = nn * n[i] * n[j] * n[k] * n[l] +
                         nt * (n[i] * n[j] * P[k][l] + P[i][j] * n[k] * n[l]) +
                         tt * P[i][j] * P[k][l] + m * (P[i][k] * P[j][l] + P[i][l] * P[j][k]) +
                         G * (P[i][k] * n[j] * n[l] + P[i][l] * n[j] * n[k] +
                              P[j][k] * n[i] * n[l] + P[j][l] * n[i] * n[k]);
    return r == q && value < 0 ? 0 : value; /* by rounding */
}

/* The same as a sum of products of entries of N = n n^T and of P = 1 - N, numbers of i, j, k, l. */
enum { NN, NT, TT, MM, GG, FACTORS };
static const struct product {
    int factor;
    struct entry {
        bool across; /* of P */
        int row, col;
    } entry[2];
} products[] = {{NN, {{0, 0, 1}, {0, 2, 3}}}, {NT, {{0, 0, 1}, {1, 2, 3}}},
                {NT, {{1, 0, 1}, {0, 2, 3}}}, {TT, {{1, 0, 1}, {1, 2, 3}}},
                {MM, {{1, 0, 2}, {1, 1, 3}}}, {MM, {{1, 0, 3}, {1, 1, 2}}},
                {GG, {{1, 0, 2}, {0, 1, 3}}}, {GG, {{1, 0, 3}, {0, 1, 2}}},
                {GG, {{1, 1, 2}, {0, 0, 3}}}, {GG, {{1, 1, 3}, {0, 0, 2}}}};

static void products_back(const double n[3], int r, int q, double by, const double factor[FACTORS],
                          double by_factor[FACTORS], double by_n[3]) {
    const int axis[4] = {axes_of[r][0], axes_of[r][1], axes_of[q][0], axes_of[q][1]};
    for (size_t t = 0; t < sizeof products / sizeof *products; t++) {
        const struct product *p = &products[t];
        double value[2];
        for (int x = 0; x < 2; x++) {
            const int a = axis[p->entry[x].row], b = axis[p->entry[x].col];
            value[x] = p->entry[x].across ? (a == b) - n[a] * n[b] : n[a] * n[b];
        }
        by_factor[p->factor] += by * value[0] * value[1];
        for (int x = 0; x < 2; x++) {
            const int a = axis[p->entry[x].row], b = axis[p->entry[x].col];
            const double part = (p->entry[x].across ? -by : by) * factor[p->factor] * value[1 - x];
            by_n[a] += part * n[b];
            by_n[b] += part * n[a];
        }
    }
}

static void coefficient_back(const struct ht_face *at, int r, int q, double by,
                             struct ht_face *out) {
    const double *mean = at->mean;
    double *by_mean = out->mean;
    const double a = mean[MEAN_A], b = mean[MEAN_B], m = mean[MEAN_M], g = mean[MEAN_G];
    const bool raised = at->dims == 3 && mean[MEAN_D] < m;
    const bool fluid = at->slips && mean[MEAN_D] == 0;
    const double d = raised ? m : mean[MEAN_D];
    const double factor[FACTORS] = {1 / a, b / a, d + b * b / a - 2 * m, m, at->slips ? 0 : 1 / g};
    double by_factor[FACTORS] = {0};
    if (r < S11) by_mean[MEAN_RHO] -= by / (mean[MEAN_RHO] * mean[MEAN_RHO]);
    if (fluid && r <= S33 && q <= S33) by_mean[MEAN_A] -= by / (a * a);
    if (r < S11 || fluid) return;
    products_back(at->n, r, q, by, factor, by_factor, out->n);
    by_mean[MEAN_A] -= (by_factor[NN] + by_factor[NT] * b + by_factor[TT] * b * b) / (a * a);
    by_mean[MEAN_B] += (by_factor[NT] + by_factor[TT] * 2 * b) / a;
    by_mean[raised ? MEAN_M : MEAN_D] += by_factor[TT];
    by_mean[MEAN_M] += by_factor[MM] - 2 * by_factor[TT];
    if (!at->slips) by_mean[MEAN_G] -= by_factor[GG] / (g * g);
}

/* The work of any strain is positive. */
static const char *refuse(int dims, const double *material) {
    static const char *const must[] = {
        "lambda + 2 mu must be positive", "lambda + mu must be positive, vs less than vp",
        "3 lambda + 2 mu must be positive, vs less than vp sqrt(3)/2 = 0.866 vp"};
    const double strength = dims > 1 ? material[SHEAR] : material[BULK];
    if (!(dims * material[LAMBDA] + 2 * material[MU] > 0)) return must[dims - 1];
    if (HT_RATE_RULE(material[RATE]) != NULL) return HT_RATE_RULE(material[RATE]);
    if (!(strength >= 0 && strength <= 2)) return "qp and qs " HT_QUALITY_RULE;
    if (material[BULK + dims - 1] >= 0 && material[BULK + dims - 1] < INFINITY) return NULL;
    return "qp must be 2 or more and, with qs, at most about 0.75 (vp/vs)^2 qs (in 2-D (vp/vs)^2 "
           "qs): else the bulk modulus would gain energy";
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
    .nmaterials = MATERIALS,
    .nlost = MATERIALS - BULK,
    .nlosses = 1,
    .loss = {{.kind = HT_LOSS_ATTENUATES,
              .fields = 1 << S11 | 1 << S22 | 1 << S33 | 1 << S12 | 1 << S13 | 1 << S23,
              .parameters = 1 << PARAMETER_QP | 1 << PARAMETER_QS,
              .strength = SHEAR,
              .bulk = BULK,
              .rate = RATE}},
    .material = {{"1/rho", "inverse density", true, true, false},
                 {"P", "lambda + 2 mu", true, true, false},
                 {"lambda", "first Lame modulus", false, true, false},
                 {"mu", "shear modulus", true, true, true},
                 {"Y_1", "part of lambda + 2 mu that relaxes, over the rest", true, true, true},
                 {"Y_2", "of lambda + mu, in two dimensions", true, true, true},
                 {"Y_3", "of lambda + 2/3 mu, in three", true, true, true},
                 {"Y_mu", "of mu", true, true, true},
                 {"w", "rate at which they relax", true, true, false}},
    .nwalls = 3,
    .wall = {{"roller", +1, "v_n = 0, s_nt = 0", .layer = false},
             {"antisymmetric", -1, "v_t = 0, s_nn = 0", .layer = false},
             {"free", HT_WALL_CLOSED, "no traction: s_nn = 0, s_nt = 0 (orders 2 to 8 of fd)",
              .closed = "a side is free"}},
    .nparameters = PARAMETERS,
    .parameter = {HT_POSITIVE("vp|lambda", "speed of compressional waves|first Lame modulus",
                              "length/time|pressure"),
                  {.names = "vs|mu",
                   .meanings = "speed of shear waves|shear modulus",
                   .units = "length/time|pressure",
                   .fallback = 0.5,
                   .positive = true,
                   .zero = true},
                  HT_POSITIVE("rho", "density", "mass/length^3"),
                  HT_QUALITY("qp", "quality factor of compressional waves near q_frequency", "1"),
                  HT_QUALITY("qs", "quality factor of shear waves near q_frequency", "1"),
                  HT_QUALITY_FREQUENCY,
                  HT_ABSORPTION_POWER},
    .materials = materials,
    .refuse = refuse,
    .average = {.nscalars = 6,
                .name = {"1/(lambda + 2 mu)", "lambda/(lambda + 2 mu)",
                         "4 mu (lambda + mu)/(lambda + 2 mu)", "1/mu", "mu", "rho"},
                .uses = {[V1] = 1 << MEAN_RHO,
                         [V2] = 1 << MEAN_RHO,
                         [V3] = 1 << MEAN_RHO,
                         [S11] = MODULI,
                         [S22] = MODULI,
                         [S33] = MODULI,
                         [S12] = MODULI,
                         [S13] = MODULI,
                         [S23] = MODULI},
                .normal = 1 << MEAN_A | 1 << MEAN_D | 1 << MEAN_RHO,
                .any_sign = 1 << MEAN_B,
                .vanishing = 1 << MEAN_M,
                .scalars = scalars,
                .coefficient = coefficient,
                .scalars_back = scalars_back,
                .coefficient_back = coefficient_back},
};
