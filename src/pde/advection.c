/* Advection with a constant velocity, u_t + a . grad u = 0: the model of Vargas, Chan, Hagstrom,
 * Warburton (2016), equation 1, for any a. Such a field has no mirror: all sides are periodic. */
#include "systems.h"

static void materials(const struct ht_jets *jets, HT_UNUSED const int *chosen,
                      const double *const *value, double *const *out) {
    for (int m = 0; m < 3; m++) memcpy(out[m], value[m], (size_t)jets->count * sizeof *out[m]);
}

#define VELOCITY(number, usual)                                                      \
    {                                                                                \
        .names = "velocity" #number, .meanings = "velocity", .units = "length/time", \
        .fallback = (usual), .vector = "velocity", .axis = (number)-1                \
    }

const struct ht_system ht_system_advection = {
    .name = "advection",
    .title = "advection with a constant velocity",
    .equations = "u_t + a1 u_x1 + a2 u_x2 + a3 u_x3 = 0",
    .nfields = 1,
    .field = {{"u", "advected quantity"}},
    .nterms = 3,
    .term = {{0, 0, 0, 1, -1, 0}, {0, 0, 1, 1, -1, 1}, {0, 0, 2, 1, -1, 2}},
    .nmaterials = 3,
    .material = {{"a1", "velocity along x1", false, false, false},
                 {"a2", "velocity along x2", false, false, false},
                 {"a3", "velocity along x3", false, false, false}},
    .nwalls = 0,
    .nparameters = 3,
    .parameter = {VELOCITY(1, 1.0), VELOCITY(2, 0.5), VELOCITY(3, 0.25)},
    .materials = materials,
};
