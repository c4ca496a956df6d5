/* What all compiled kernels of a problem have in common. */
#include <stdlib.h>

#include "htwave/stepper.h"

/* For the planes that this rank holds. */
enum ht_err ht_kernels_check_nodes(const struct ht_problem *problem,
                                   const struct ht_variant *variant) {
    const int64_t most = INT32_MAX, most_plane = most / 2;
    if (!variant->counts32) return HT_OK;
    for (int subgrid = 0; subgrid < 2; subgrid++) {
        enum ht_subgrid which = subgrid ? HT_DUAL : HT_PRIMARY;
        const struct ht_window window = ht_problem_window(problem, which);
        int64_t plane = ht_window_plane(&window), planes = window.count[2];
        REQUIRE(plane <= most_plane && planes <= most / plane, HT_ERR_DEVICE,
                "device.variant = \"%s\" uses 32-bit node indices, too few for this grid: use "
                "\"monolithic\"",
                variant->name);
    }
    return HT_OK;
}

static void destroy_layers(struct ht_layer_kernels *k) {
    if (k == NULL) return;
    for (int s = 0; s < HT_LAYER_SETS; s++) ht_kernels_destroy(&k->set[s]);
    for (int axis = 0; axis < 3; axis++) {
        ht_tool_destroy(k->ghosts[axis]);
        ht_tool_destroy(k->packer[axis]);
    }
    free(k);
}

void ht_kernels_destroy(struct ht_kernels *kernels) {
    if (kernels == NULL) return;
    ht_tool_destroy(kernels->fd);
    ht_tool_destroy(kernels->fd_layers);
    if (kernels->step[1] != kernels->step[0]) ht_step_destroy(kernels->step[1]);
    ht_step_destroy(kernels->step[0]);
    ht_tool_destroy(kernels->sums);
    ht_tool_destroy(kernels->injector);
    destroy_layers(kernels->layers);
    ht_tool_destroy(kernels->sponge);
    for (int subgrid = 0; subgrid < 2; subgrid++) {
        ht_tool_destroy(kernels->meeting[subgrid]);
        ht_tool_destroy(kernels->ghosts[subgrid]);
        ht_tool_destroy(kernels->packer[subgrid]);
    }
    *kernels = (struct ht_kernels){0};
}

static void add_layers(struct ht_layer_kernels *k, double seconds[2]) {
    if (k == NULL) return;
    for (int s = 0; s < HT_LAYER_SETS; s++)
        if (k->set[s].step[0] != NULL) ht_step_add_seconds(k->set[s].step[0], seconds);
    for (int axis = 0; axis < 3; axis++) seconds[0] += ht_tool_seconds(k->ghosts[axis]);
}

void ht_kernels_add_seconds(struct ht_kernels *kernels, double seconds[2]) {
    struct ht_tool *const tools[] = {kernels->fd,        kernels->fd_layers, kernels->ghosts[0],
                                     kernels->ghosts[1], kernels->injector,  kernels->sponge};
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        seconds[0] += ht_tool_seconds(tools[i]);
    for (int i = 0; i < 2; i++)
        if (kernels->step[i] != NULL && (i == 0 || kernels->step[1] != kernels->step[0]))
            ht_step_add_seconds(kernels->step[i], seconds);
    add_layers(kernels->layers, seconds);
}

double ht_kernels_seconds(struct ht_kernels *kernels) {
    double seconds[2] = {0};
    ht_kernels_add_seconds(kernels, seconds);
    return seconds[0] + seconds[1];
}

bool ht_kernels_cached(const struct ht_kernels *kernels) {
    if (kernels->fd != NULL) return ht_tool_cached(kernels->fd);
    return ht_step_cached(kernels->step[0]) && ht_step_cached(kernels->step[1]);
}
