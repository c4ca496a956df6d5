/* Room on disk. The numbers are those of the plan: samples, times of outputs; what HDF5 adds is
 * counted of snapshots, which may be many and small. */
#include "htwave/maps.h"
#include "htwave/simulation.h"

#include <sys/statvfs.h>

/* Times of an output, that of the end among them; every 0: it alone. */
static double count_times(const struct ht_plan *plan, double every) {
    const double rounding = 1e-9, apart = plan->params->time.end / every;
    if (!(every > 0)) return 1;
    const double whole = floor(apart * (1 + rounding));
    return fmin(1 + whole + (apart > whole * (1 + rounding)), (double)plan->steps + 1);
}

/* A run that goes on has a part of snapshots and pictures, and copies traces.h5. Pictures take
 * about half a byte per pixel. Checkpoints are two, of the fields' values, without layers'. */
void ht_disk_need(const struct ht_plan *plan, double part[HT_DISK_PARTS]) {
    const struct ht_params *params = plan->params;
    const struct ht_problem *p = &plan->problem;
    const struct ht_grid grid = ht_grid_inner(&plan->grid);
    const double left = params->resume.from != NULL ? params->resume.left : 1;
    const double value = ht_output_trace_bytes(params), side = params->output.picture.pixels;
    const int slices = params->output.picture.slices.count;
    double values = params->output.fields.count, state = ht_problem_stored(p, HT_PRIMARY);
    memset(part, 0, HT_DISK_PARTS * sizeof *part);
    for (int n = 0; plan->receivers != NULL && n < plan->receivers->count; n++) {
        const struct ht_receiver_group *group = &plan->receivers->group[n];
        part[0] += (double)group->samples * (8 + value * (double)(group->count * group->readings));
    }
    if (values == 0) values = state;
    if (params->output.coefficients) values *= 1 + ht_grid_coefs(&grid);
    for (int k = 0; k < grid.dims; k++) values *= (double)ht_grid_nodes(&grid, HT_PRIMARY, k);
    const double header = 4480, block = 4096; /* of a snapshot, and of the disk */
    values *= params->device.precision == HT_DOUBLE ? 8 : 4;
    if (params->output.snapshots)
        part[1] = ceil((values + header) / block) * block *
                  count_times(plan, params->output.every) * left;
    if (ht_output_draws(params))
        part[2] = side * side / 2 * (slices > 0 ? slices : 1) *
                  count_times(plan, ht_output_drawn_every(params)) * left;
    if (p->scheme->two_level) state += ht_problem_stored(p, HT_DUAL);
    if (ht_checkpoints_wanted(params))
        part[3] = 2 * state * ht_grid_coefs(p->grid) * (double)ht_grid_total(p->grid, HT_PRIMARY) *
                  ht_real_size(ht_in_double(params));
    part[4] = (double)ht_maps_bytes(plan, NULL, ht_in_double(params), true);
}

/* Infinite where the system does not say it. */
static double free_bytes(const char *directory) {
    struct statvfs room;
    HT_FREED char *above = NULL;
    double bytes = INFINITY;
    if (ht_file_above(directory, &above) != HT_OK) return bytes;
    if (statvfs(above, &room) == 0 && room.f_blocks > 0)
        bytes = (double)room.f_bavail * (double)room.f_frsize;
    return bytes;
}

double ht_disk_sum(const struct ht_simulation *sim) {
    double sum = 0;
    for (int i = 0; i < HT_DISK_PARTS; i++) sum += sim->disk[i];
    return sum;
}

void ht_disk_describe(const struct ht_simulation *sim, struct ht_text *text) {
    const double room = free_bytes(sim->params->output.directory), *part = sim->disk;
    static const char *const what[HT_DISK_PARTS] = {"traces", "snapshots", "pictures about",
                                                    "checkpoints about", "maps"};
    const char *between = ": ";
    ht_text_add(text, "%s to write", HT_BYTES(ht_disk_sum(sim)));
    for (int i = 0; i < HT_DISK_PARTS; i++) {
        if (!(part[i] > 0)) continue;
        ht_text_add(text, "%s%s %s", between, what[i], HT_BYTES(part[i]));
        between = ", ";
    }
    if (isfinite(room)) ht_text_add(text, "; %s free", HT_BYTES(room));
}

HT_ERR ht_disk_check(const struct ht_simulation *sim) {
    HT_FREED_TEXT struct ht_text text = {0};
    if (ht_disk_sum(sim) <= free_bytes(sim->params->output.directory)) return HT_OK;
    ht_disk_describe(sim, &text);
    TRY(ht_text_status(&text));
    return ht_params_error(
        sim->params, "output.directory",
        "lacks room, %s: take fewer receivers, samples or snapshots, or another folder", text.data);
}
