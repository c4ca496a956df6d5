/* A system of linear wave equations as data. One file per system in src/pde, one name in
 * src/pde/systems.h; kernels, oracle, step size, energy, exact solutions, tests, documentation and
 * help all loop over these tables.
 *
 *     d u[row]/dt = sum over terms of  coef * M[material] * D u[col],
 *     D = 1, d/dx[axis] or d^2/dx[axis]^2
 *
 * The M are the materials of the equations (such as K and 1/rho); users give them through
 * parameters of the medium (such as c and rho). What the terms decide is in struct ht_equations:
 * parities, energy, groups of leapfrog, the form of second order, speeds. */
#pragma once

#include "htwave/num.h"

#define HT_MAX_FIELDS 32 /* bits of an unsigned mask */
#define HT_MAX_TERMS 96
#define HT_MAX_MATERIALS 24 /* 21 moduli, density */
#define HT_MAX_LOSSES 4

/* A plane wall on a grid plane is a mirror. For a wall normal to axis k with factor r = +1 or -1,
 * field f continues behind it with the sign r * (-1)^(bit k of the field's parity). Factor 0 is
 * periodic. Beyond a side of another factor, from HT_WALL_CLOSED on, there is nothing: differences
 * of first-order systems end by closures (struct ht_fd_closure), and src/fd/pair_surface.c says
 * what fields on it do. */
enum { HT_WALL_CLOSED = 2 };
struct ht_wall_kind {
    const char *name; /* as in boundary.x1 = ["name", "name"] */
    int factor;
    const char *meaning;
    bool layer;         /* before it lies an absorbing layer */
    const char *closed; /* of such sides: why finite differences are taken */
};

struct ht_field {
    const char *name, *meaning;
    unsigned parity; /* bit k: odd under reflection of x_(k+1) */
};

struct ht_term {
    int row, col;   /* fields */
    int axis;       /* 0, 1, 2; exists if dims > axis */
    int derivative; /* order of D: 0, 1 or 2 */
    double coef;
    int material; /* -1: none, M = 1 */
};

struct ht_material {
    const char *name, *meaning;
    bool positive; /* must be > 0 and finite everywhere */
    bool varies;   /* may vary in space */
    bool zero;     /* positive: 0 is allowed, too, as of the shear modulus of a fluid */
};

/* Media of finite differences, averaged where faces cross cells. Scalars of the materials are
 * averaged about the point of C_rq (struct ht_pair); it follows from these means and from n, the
 * normal of the face. Where scalars do not vary it must be what the materials say, whatever n. */
enum { HT_MAX_SCALARS = 12 }; /* with the materials of losses */
struct ht_face {
    int dims;
    bool slips; /* part of the cell is fluid */
    double mean[HT_MAX_SCALARS], n[3];
};
struct ht_average {
    int nscalars; /* 0: the system has no such rule */
    const char *name[HT_MAX_SCALARS];
    unsigned uses[HT_MAX_FIELDS]; /* scalars, by field r. C_rq of one scalar does not depend on n */
    unsigned normal;              /* scalars whose gradients show n */
    unsigned any_sign;            /* scalars; the others are positive, or 0 in a fluid */
    unsigned vanishing;           /* a scalar that is 0 in a fluid alone; 0: there are none */
    void (*scalars)(int64_t count, double *const *material, double *const *out);
    /* r, q: fields of the system. */
    double (*coefficient)(const struct ht_face *at, int r, int q);
    /* Transposed derivatives: by_material becomes the derivative of a function by the materials,
     * `by` being that by the scalars; those by means and by n get in addition what they have by a
     * coefficient, the components of n being independent. */
    void (*scalars_back)(const double *material, const double *by, double *by_material);
    void (*coefficient_back)(const struct ht_face *at, int r, int q, double by,
                             struct ht_face *out);
};

/* What fields lose at a point, and what the medium remembers there. A field f of the rate f_t = ..
 * - L with C its own coefficient C_ff and materials s (strength), w (frequency), g (rate):
 * - conducts: L = C s f
 * - relaxes: L = k P_t, P_t = g (k f - P), k^2 = C s
 * - attenuates: L = k P_t, P_t = (g/(1 + k^2)) (k f - P), k^2 = s
 * - oscillates: L = k J, J_t = k f - w P - g J, P_t = w J, k^2 = C s; w 0: no P
 *
 * In all of them f^2 + P^2 + J^2, over C, can only fall. Where C couples fields that attenuate, the
 * part C 1 (1 f)/(1 C 1) of them, a pressure, has the strength number dims - 1 of `bulk`; so has a
 * field at the nodes that is alone there. */
enum ht_loss_kind { HT_LOSS_CONDUCTS, HT_LOSS_RELAXES, HT_LOSS_ATTENUATES, HT_LOSS_OSCILLATES };
struct ht_loss {
    enum ht_loss_kind kind;
    unsigned fields;
    unsigned parameters;                 /* where these are 0 everywhere, there is no such loss */
    int strength, bulk, frequency, rate; /* materials; 0: none */
};

struct ht_system {
    const char *name, *title, *equations; /* equations: text, for describe */
    int max_dims;                         /* 0: 3 */
    int nfields, nterms, nmaterials, nwalls;
    int nlosses, nlost; /* nlost: of the materials, the last ones, which losses have and no term */
    struct ht_loss loss[HT_MAX_LOSSES];
    struct {
        const char *name, *meaning;
    } field[HT_MAX_FIELDS]; /* the first is the default one of a Gaussian */
    unsigned parity;        /* of the first field; the others' follow */
    struct ht_term term[HT_MAX_TERMS];
    struct ht_material material[HT_MAX_MATERIALS];
    struct ht_wall_kind wall[4]; /* without those of all systems, src/pde/systems.c */

    /* The medium's parameters, from which the materials are computed. The options medium.NAME,
     * their help and their checks are made from these rows. Alternatives share a row; names,
     * meanings and units are then lists of equal length, separated by '|': "c|K". */
    int nparameters;
    struct ht_parameter {
        const char *names;
        const char *meanings;
        const char *units; /* "length/time|pressure" */
        double fallback;   /* default value of the first name */
        bool positive;     /* must be > 0 */
        bool zero;         /* positive: 0 is allowed, too */
        bool loss;         /* of losses alone: 0 is no fluid */
        bool inverse;      /* by its first name 0 stands for infinity, as a quality factor does */
        /* Set for a component of a vector: the option medium.VECTOR is an array with the values of
         * three rows, one per axis, constant in space. */
        const char *vector; /* NULL: none */
        int axis;
    } parameter[HT_MAX_MATERIALS];
    /* Name of the speed along x1 where it is no parameter that was given; NULL: none. */
    const char *speed_name;
    /* Materials as jets from parameter jets. chosen[p]: number of the given alternative of
     * parameter p. value[p] and out[m] are jets over `jets`. */
    void (*materials)(const struct ht_jets *jets, const int *chosen, const double *const *value,
                      double *const *out);
    /* What materials that may each be so are to be together, where they are not, such as "vs must
     * be below vp"; NULL: nothing. No function: all may. */
    const char *(*refuse)(int dims, const double *material);
    struct ht_average average;
};

/* The systems of src/pde/systems.h. */
int ht_system_count(void);
const struct ht_system *ht_system_at(int index);
/* Entry `index` of a list such as "c|K", cut to `size` bytes; false, and "": it is shorter. */
bool ht_alternative(const char *list, int index, char *out, size_t size);
/* The system with this name, or NULL. */
const struct ht_system *ht_system_find(const char *name);

/* The most dimensions that it may have. */
int ht_system_largest(const struct ht_system *system);
/* Checks a row: its entries, and that its terms have an energy and its walls mirrors. The message
 * of HT_ERR_INTERNAL names what contradicts the terms. */
HT_ERR ht_system_check(const struct ht_system *system);

/* Energy = 1/2 integral of sum over terms of u_f^2 / M[material] or, with a gradient, |grad u_f|^2
 * / M[material]. Fields that are coupled, such as the normal stresses of a solid, have terms with
 * another field: entries, on and above the diagonal, of the symmetric matrix C of u^T C^-1 u. */
struct ht_energy_term {
    int field;
    bool gradient;
    int material; /* -1: none, M = 1 */
    int other;    /* field, or the column of C */
};

/* Leapfrog applies to systems whose fields form two groups that only change each other. The primary
 * grid stores one group at integer times, the dual grid the other group at half-integer times:
 *     dst(t + dt/2) = old_sign dst(t - dt/2) + 2 (part of E I src),
 * where the part has the odd powers of dt for old_sign +1 (the groups differ), the even powers for
 * -1 (the groups are equal, and the other fields are not needed). */
struct ht_leapfrog {
    unsigned stored[2]; /* field masks of the primary and the dual grid */
    int old_sign;       /* 0: the system has no such form */
};

/* A system whose field u obeys
 *     u_tt = M[modulus] div(M[inverse_density] grad u)
 * can be stepped by finite differences, which keep u alone: as
 *     u_t = v,  v_t = M[modulus] lap u,   or with the signs s_k
 *     u_t = sum s_k M[modulus] d_k f_k,  f_k,t = s_k M[inverse_density] d_k u. */
struct ht_second_order {
    bool known;
    int field;
    int modulus, inverse_density; /* materials; -1: 1 */
    int rate;                     /* field v; -1: fluxes */
    int flux[3], sign[3];         /* fields f_k, s_k along the axes that exist; -1, 0 */
};

/* A system in dims dimensions: the fields and terms that exist there, with fields renumbered. A
 * field exists if another one changes by it and it is coupled to the first one that exists. Plain
 * value, no ownership.
 *
 * In absorbing layers (ht_equations_absorb) memory variables follow the fields, and profiles, which
 * depend on the position along one axis alone, follow the materials. */
struct ht_equations {
    const struct ht_system *system;
    int dims, nfields, nterms, nmaterials; /* nmaterials: of terms */
    int nmemory, nprofiles;                /* the last fields, the last materials */
    int along[HT_MAX_FIELDS];              /* axis of a memory variable */
    int profile_axis[HT_MAX_MATERIALS];    /* of a profile */
    int profile_degree;                    /* of profiles about a node, at most
                                              HT_PROFILE_DEGREE; 0: constants */
    struct ht_field field[HT_MAX_FIELDS];
    struct ht_term term[HT_MAX_TERMS];
    bool mirrors;    /* every term turns the parity by its derivative: there may be walls */
    unsigned losses; /* of the system that the medium has, bit l: number l */
    bool translates; /* u(x,t) = u0(x - a t), one field and one material a_k per axis: advection */
    enum ht_symbol symbol;
    bool first_order; /* no term has second derivatives */
    bool measured;    /* the energy is a sum over the fields */
    int nenergy;      /* 0: the terms have no energy */
    struct ht_energy_term energy[HT_MAX_FIELDS];
    struct ht_leapfrog leapfrog;
    struct ht_second_order second_order;
};
struct ht_equations ht_equations_make(const struct ht_system *system, int dims);
int ht_equations_field(const struct ht_equations *eq, const char *name);
/* The largest eigenvalue of a matrix that has a full set of them, none below 0: the limit of the
 * size of its powers. The matrix becomes one that leads to its eigenvectors. */
double ht_largest_eigenvalue(int n, double a[HT_MAX_FIELDS][HT_MAX_FIELDS]);
/* Largest signal speed along an axis for materials M: of the waves exp(i k x) of the terms;
 * slowest: the least above 0, as of shear waves; where the axis couples fields the largest. */
double ht_equations_speed(const struct ht_equations *eq, const double *material, int axis,
                          bool slowest);
/* Plane wave exp(i(k.x - omega t)), the wave that travels along +k: amplitude per field, real[f] +
 * i imaginary[f] (zero on entry), and omega. wave: 1 the fastest kind, 2 the next, such as the
 * shear waves of a solid. False: none is known. */
bool ht_equations_plane(const struct ht_equations *eq, const double *material, const double *k,
                        int wave, double *real, double *imaginary, double *omega);
/* Standing mode between walls: field f is (cosine[f] cos(omega t) + sine[f] sin(omega t)) * product
 * over axes of cos(k_j (x_j - lower_j)) if f is even at the lower wall, sin if it is odd. factor[j]
 * is the wall factor at the lower side (periodic: +1). False: none is known. */
bool ht_equations_standing(const struct ht_equations *eq, const double *material, const double *k,
                           const int *factor, double *cosine, double *sine, double *omega);

/* The profiles of each absorbing axis, in this order: the layer's sigma, its sum with alpha, and
 * the rate of the sponge. */
enum ht_layer_profile { HT_PROFILE_SIGMA, HT_PROFILE_DECAY, HT_PROFILE_SPONGE, HT_LAYER_PROFILES };
/* The highest degree in xi, along their axis, of profiles about a node. */
enum { HT_PROFILE_DEGREE = 3 };
/* The equations where the layers of these axes (bit k: axis k) overlap, from the terms of the
 * system: src/pde/terms.c. HT_ERR_INTERNAL if they have more than equations hold. */
HT_ERR ht_equations_absorb(const struct ht_equations *eq, unsigned axes, struct ht_equations *out);
/* The axis of the layer to which a term belongs, -1: to none. */
int ht_term_layer(const struct ht_equations *eq, const struct ht_term *term);
/* The axis of a memory variable, -1: no such. */
int ht_field_layer(const struct ht_equations *eq, int field);
/* Number of memory variables of an axis; 0: the equations do not have its layer. */
int ht_layer_fields(const struct ht_equations *eq, int axis);
/* The axis of a profile, -1: a material of the medium, or none. */
int ht_material_layer(const struct ht_equations *eq, int material);

/* Sign with which field f continues behind a wall normal to axis k; 0: it does not. */
int ht_wall_sign(const struct ht_equations *eq, int field, int axis, int factor);
/* The sides that the system may have, for index 0, 1, ..: its walls and those of all systems. NULL:
 * there are no more. The one of this name, or NULL; the first of a factor that some have. */
const struct ht_wall_kind *ht_wall_at(const struct ht_system *system, int index);
const struct ht_wall_kind *ht_wall_find(const struct ht_system *system, const char *name);
const struct ht_wall_kind *ht_wall_of(const struct ht_system *system, int factor);

/* ---- pair.c ---- */
/* The staggered form of a first-order system: two groups of fields that change each other only,
 *
 *     a += dt A b   (group 0),     b += dt B a   (group 1),
 *
 * leapfrogged, group 0 at times n - 1/2, group 1 at n. A field lies half a spacing up along axis k
 * where bit k of its parity is set. A term turns bit `axis` of the parity alone and leads from one
 * group to the other; its derivative, by the staggered weights of htwave/num.h, goes up (node to
 * half point) where the row's bit is set, else down.
 *
 * A = C A0, B = D B0: A0 and B0 = -A0^T have factors alone, C and D are symmetric. The coefficient
 * of a term is C_rq at the row's point, where q is the field by which the term's column changes
 * along its axis: of the stress s_11 and the slope d_2 v_2, q = s_22. Such steps keep an energy,
 * whatever the medium, since A0 and B0 are adjoint (docs/developers/differences.md). */

/* C_rq, row <= col, where both lie; behind those of terms those of losses: a material, times C_rr
 * where `own` names its material, or the square root of it. */
struct ht_pair_coefficient {
    unsigned parity;
    int row, col;
    int material; /* that the terms name; -1: 1 */
    bool loss, root;
    int own; /* of a loss; -1: not multiplied */
};
/* A loss of one field (struct ht_loss). Numbers of coefficients and partners, -1: none. */
struct ht_pair_loss {
    enum ht_loss_kind kind;
    int row, strength, bulk, frequency, rate;
    int position, current; /* partners: P, J */
};
struct ht_pair_term {
    int row, col, axis, partner; /* partner: q of C_rq */
    double factor;
    int coefficient;
};
/* Where coefficients are averages, fields of a group at different places are coupled, too, where a
 * face is oblique to the grid: C and D have N_r^T C_rq N_q beside, N_r the mean of the 2^|X| points
 * of field r around a point of parity `meets`, from which r's differs in the axes X
 * (src/fd/pair_faces.c). */
struct ht_pair {
    int dims, nfields, nterms, ncoefficients;
    unsigned parity[HT_MAX_FIELDS];
    unsigned group[2]; /* masks of fields; the first group changes first */
    struct ht_pair_term term[HT_MAX_TERMS];
    /* Behind those of terms ncouplings C_rq of fields at different places. */
    struct ht_pair_coefficient coefficient[HT_MAX_TERMS];
    int nown; /* coefficients of terms */
    int nlosses, npartners;
    struct ht_pair_loss loss[HT_MAX_FIELDS];
    int owner[HT_MAX_FIELDS]; /* the field of each partner */
    int ncouplings;
    unsigned meets[2]; /* parity, of each group */
};
enum ht_pair_kind { HT_PAIR_NONE, HT_PAIR_TOGETHER, HT_PAIR_APART };
/* Why equations have no such form, to follow "the fields of SYSTEM"; NULL: they have it. APART:
 * coefficients of different entries C_rq are different ones; TOGETHER: those of one material at one
 * parity are the same, as in isotropic media without averages. */
const char *ht_pair_make(const struct ht_equations *eq, enum ht_pair_kind kind,
                         struct ht_pair *out);
/* The field by which field `col` changes along an axis, *coef: of that term; -1: not by one. */
int ht_equations_partner(const struct ht_equations *eq, int col, int axis, double *coef);
/* The field of the system that is field f of the equations. */
int ht_equations_system_field(const struct ht_equations *eq, int field);
/* The fields whose rows share coefficients with others: C couples them. */
unsigned ht_pair_coupled(const struct ht_pair *pair);
/* The number of axes in a parity. */
int ht_pair_axes(unsigned parity);
/* The couplings of a group: how many, their first number; the fields that they couple: how many. */
int ht_pair_couplings(const struct ht_pair *pair, int group, int *first);
int ht_pair_rows(const struct ht_pair *pair, int group, int row[HT_MAX_FIELDS]);
/* The most points around a field's place. */
int ht_pair_corners(const struct ht_pair *pair, int group);
/* y = C^+ x, C symmetric and not negative, x in its range; both change. */
void ht_pair_invert(int count, double (*c)[HT_MAX_FIELDS], double *x, double *y);
/* The group of stresses, some of which lie at nodes; the other one has velocities. */
int ht_pair_stresses(const struct ht_pair *pair);
/* The field, a normal stress, that is 0 on a free side normal to an axis. */
int ht_pair_normal(const struct ht_pair *pair, int axis);
/* x = C e where C is that of `count` rows, for e as before but in `fixed` rows, where it becomes
 * such that x is 0. c changes. absolute: of magnitudes. */
void ht_pair_release(int count, unsigned fixed, bool absolute, double (*c)[HT_MAX_FIELDS],
                     double *x);
/* The value of a coefficient by that of its material and, of a loss, that of C_rr. */
double ht_pair_value(const struct ht_pair_coefficient *coefficient, double material, double own);
/* Whether a difference of field `col` along an axis goes up. */
static inline bool ht_pair_up(const struct ht_pair *pair, int col, int axis) {
    return !(pair->parity[col] >> axis & 1u);
}
