/* Measures of a state on the primary grid: nodal values, energies, error. */
#pragma once

#include "htwave/stepper.h"

/* Nodal values are those of the own planes, the first one first.
 * Collective functions give all ranks the same numbers; the last digits of sums depend on the
 * number of ranks. A rank that fails alone must enter ht_comm_agree. */

/* out[field][coefficient][node], so many coefficients from the first, the values, on, of the nodes
 * of ht_grid_inner; room for ht_grid_own_total nodes of the grid. NULL for fields that the primary
 * grid does not store. */
HT_ERR ht_fields_read(const struct ht_plan *plan, const struct ht_stepper *stepper, int count,
                      double *const *out);
struct ht_state {
    double energy;                 /* from nodal values: docs/developers/method.md 9 */
    double content;                /* energy from the nodes' Taylor polynomials at h/4 to
                                      either side, on all grids of the scheme's state */
    double slope;                  /* energy of gradients if fields changed by their own
                                      magnitude from node to node */
    double largest[HT_MAX_FIELDS]; /* |u| at the nodes */
    /* Energy of gradients in absorbing layers, which the others leave out: as steep as the layer is
     * thin, however long the waves. Hermite methods only. */
    double steep;
    /* Sources have raised the root of the energy by no more than this since the start; 0: there are
     * none, or it is not known. */
    double driven;
    /* Finite differences: of which an energy below 0 may be; half of the field's squares over the
     * modulus, without the field's mean. */
    double rounding, held;
    /* Finite differences of acoustics: the energies are those of the pressure's rate; of what data
     * and sources bring the state has `held`. */
    bool of_rate;
    /* Layers get energy with the first step that this state has not: the rate at which they damp
     * data. What may grow is watched from the next look on. */
    bool partial;
    /* Finite differences: what the nodes in each absorbing layer have of the energy. */
    double layer[3][2];
};
/* Measures a state on the device, without transfers of coefficients. If a coefficient is not
 * finite: HT_ERR_NOT_FINITE naming field, position and time, the same on all ranks. Collective. */
HT_ERR ht_state_measure(const struct ht_plan *plan, const struct ht_stepper *stepper, double time,
                        struct ht_state *out);
/* The quadratic form that the plan's scheme conserves (docs/developers/method.md, section 13), from
 * all coefficients of both grids and a half step that is undone, so that the state does not change.
 * Zero for data that do not vary along all axes. ht_conserves_energy: whether the plan has such a
 * form and one host's memory suffices, whatever the number of ranks. Collective. */
bool ht_conserves_energy(const struct ht_plan *plan);
HT_ERR ht_conserved_energy(const struct ht_plan *plan, const struct ht_stepper *stepper,
                           double *energy);
/* Whether that of a state is known, which is watched then. */
bool ht_energy_measured(const struct ht_plan *plan);
/* The energy of docs/developers/method.md, section 9, of a measured state (ht_state_measure); NaN:
 * not known. By leapfrog from all coefficients, as ht_conserved_energy. Collective. */
HT_ERR ht_physical_energy(const struct ht_plan *plan, const struct ht_stepper *stepper,
                          const struct ht_state *state, double *energy);
/* Of initial data in fields that no grid stores, such as v of finite differences. Collective. */
HT_ERR ht_data_hidden(const struct ht_plan *plan, double *out);
/* Sets `norm` of the plan's shots. */
HT_ERR ht_plan_weigh_shots(struct ht_plan *plan);
/* Energies of a run's states so far; initially zero. */
struct ht_energy_watch {
    double first_energy, first_content; /* first values; 0: none above 0 yet */
    double energy, content;             /* lowest values */
    double slope;                       /* largest value */
    double rise;                        /* dissipative schemes: largest rise of the energy above its
                                           earlier minimum, relative, if the data are resolved */
    bool grows;                         /* the rise exceeds the errors of the measures: 1 %, or 20 %
                                           if a state was not resolved */
    bool rough;                         /* a state so far was not resolved by the grid */
    bool began_rough;
    double given;         /* root of the energy before sources act */
    bool looked, partial; /* the last state was */
    double time;          /* of the last look */
    double brought;       /* by data and sources: a root */
    double largest;       /* energy */
    /* Absorbing layers, of the looks so far: the least that is no less than the energy now, and
     * state.driven at the last one. */
    double began, held, driven; /* began: the energy at the first look */
};
/* Adds the state at a time. HT_ERR_NOT_FINITE if the energy overflows, is below 0, or more than
 * data and sources can have brought; if an absorbing layer holds more than twice what was there and
 * sources have brought; from the end of the sources on, if the energy of a conserving system has
 * doubled since its minimum, or grown a hundredfold or 10^4-fold if it is known only roughly: an
 * instability before overflow. Collective at the first look; numbers are the same on all ranks. */
HT_ERR ht_energy_watch(const struct ht_plan *plan, double time, const struct ht_state *state,
                       struct ht_energy_watch *watch);
const char *ht_growth_cause(const struct ht_plan *plan);
/* Relative L2 error of the nodal values of all fields stored on the primary grid at a time for
 * which the solution is known. Collective. */
HT_ERR ht_nodal_error(const struct ht_plan *plan, const double *const *nodal, double time,
                      double *error);
