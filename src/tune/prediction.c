/* Predicted time of a step in slabs: equations of docs/scaling.md. */
#include "htwave/tune.h"

#include <math.h>

/* Both grids, and the planes beyond the slab that an exchange before either half step brings. */
static void load_grids(const struct ht_problem *p, const struct ht_spec *spec,
                       struct ht_load *out) {
    int storage[HT_MAX_COEFS], padded_coefs = ht_storage_order(spec, storage);
    const int depth = out->depth;
    for (int subgrid = 0; subgrid < 2; subgrid++) {
        enum ht_subgrid which = (enum ht_subgrid)subgrid;
        double values =
            (double)padded_coefs * ht_message_values(p, subgrid) +
            (double)p->medium_coefs * p->eq->nmaterials * (double)ht_grid_plane(p->grid, which);
        double plane = values * ht_real_size(spec->fp64);
        out->plane_bytes += plane;
        int beyond = subgrid == HT_PRIMARY ? 2 * ((depth + 1) / 2) : depth;
        out->halo_bytes += beyond * plane;
    }
}

/* The arrays of finite differences with their ghosts. */
static void load_arrays(const struct ht_problem *p, const struct ht_spec *spec,
                        struct ht_load *out) {
    const struct ht_grid whole = ht_grid_whole(p->grid);
    const struct ht_tuning tuning = {.fp64 = spec->fp64, .block = 1};
    const struct ht_device_info info = {.memory = 0};
    const int64_t ghosts = 2 * out->passes.pass[0].reach[0];
    struct ht_problem alone = *p;
    alone.grid = &whole;
    const struct ht_budget budget = ht_stepper_budget(&alone, &tuning, &info);
    out->plane_bytes = (double)budget.total / (double)(ht_grid_planes(&whole, HT_PRIMARY) + ghosts);
    out->halo_bytes = 2 * (double)out->thinnest * out->plane_bytes;
}

void ht_load_make(const struct ht_problem *p, const struct ht_spec *spec, bool weak,
                  struct ht_load *out) {
    double most = 0;
    *out = (struct ht_load){.cells = (double)ht_grid_plane(p->grid, HT_DUAL),
                            .planes = p->grid->cells[2],
                            .weak = weak,
                            .depth = ht_halo_depth(p)};
    ht_schedule_passes(p, &out->passes);
    ht_message_planes(p, spec->fp64, out->sent_bytes);
    out->thinnest = ht_planes_needed(&out->passes, out->depth);
    (p->fd.order > 0 ? load_arrays : load_grids)(p, spec, out);
    for (int i = 0; i < out->passes.count; i++) {
        const struct ht_planes planes = ht_exchange_planes(&out->passes, out->depth, i);
        const struct ht_exchange sent = ht_exchange_bytes(&planes, out->sent_bytes);
        most = fmax(most, fmax(sent.bytes[0], sent.bytes[1]));
    }
    out->halo_bytes += 2 * HT_LINK_BUFFERS * most;
}

double ht_rate_expected(const struct ht_machine *machine, const struct ht_spec spec[2]) {
    double seconds = 0; /* per cell, mean of both half steps */
    if (machine->device.rate > 0) return machine->device.rate;
    for (int from = 0; from < 2; from++) {
        struct ht_cost least = ht_cost_minimum(&spec[from], spec[from].stages);
        seconds += 0.5 * fmax(least.bytes / machine->device.copy,
                              least.fma / machine->device.fma[spec[from].fp64]);
    }
    return machine->device.fraction / seconds;
}

/* ---- one exchange ---- */

static double seconds_over(const struct ht_machine_link *link, double bytes, double host_copy) {
    double staging = link->staged ? 2 * bytes / host_copy : 0;
    return link->latency_s + bytes / link->bytes_per_s + staging;
}

/* Consecutive slabs share a machine node, so only the first and the last slab of a node use the
 * network. If only one direction has messages, only one of these two sends and has the node's whole
 * rate. Devices in between send both of their messages over their links, the first and the last
 * device one. */
static double transfer(const struct ht_machine *m, const double bytes[2], bool nodes) {
    double both = bytes[0] + bytes[1], most = fmax(bytes[0], bytes[1]);
    bool inner = !nodes || m->device.per_node > 2;
    bool together = m->per_node || m->device.per_node == 1;
    double links = seconds_over(&m->links, inner ? both : most, m->host_copy);
    double network = seconds_over(&m->network, together ? both : most, m->host_copy);
    if (!nodes) return links;
    return m->device.per_node > 1 ? fmax(network, links) : network;
}

/* ---- a step ---- */

/* A slab with this number of planes of one node each, between two others or alone. */
static void make_slab(const struct ht_load *load, bool alone, int64_t planes,
                      struct ht_targets targets[2], struct ht_partition *out) {
    const int64_t beyond = alone ? 0 : ht_planes_needed(&load->passes, load->depth);
    const int64_t count = planes + 2 * beyond;
    *out =
        (struct ht_partition){.cut = !alone, .neighbour = {!alone, !alone}, .depth = load->depth};
    for (int subgrid = 0; subgrid < 2; subgrid++) {
        struct ht_window *window = &out->window[subgrid];
        *window = (struct ht_window){.count = {1, 1, count},
                                     .own = {{0, 0, beyond}, {1, 1, beyond + planes}},
                                     .held = {{0, 0, 0}, {1, 1, count}}};
        targets[subgrid] = (struct ht_targets){.box = window->held};
        out->targets[subgrid] = &targets[subgrid];
        out->count[subgrid] = 1;
    }
}

/* Seconds of packing and unpacking; each byte is read and written. */
static double pack_seconds(const struct ht_machine *m, const double bytes[2]) {
    const int sides = (bytes[0] > 0) + (bytes[1] > 0);
    return 2 * 2 * (bytes[0] + bytes[1]) / m->device.copy + 2 * sides * m->device.launch_s;
}

static const char *find_limit(const struct ht_prediction *p, const struct ht_machine *m) {
    double most = fmax(fmax(p->interior, p->boundary), fmax(p->pack, p->exposed));
    if (most == p->interior) return "interior";
    if (most == p->boundary) return "boundary";
    if (most == p->pack) return "packing";
    return p->ranks > m->device.per_node ? "network" : "links";
}

/* Mean over `depth` steps, the period of the schedule, after as many steps that are not counted. */
static void add_step(const struct ht_load *load, const struct ht_machine *m, double rate,
                     struct ht_prediction *p) {
    const double per_step = 1.0 / load->depth;
    /* 2 `depth` steps, of which those of the second half count. */
    struct ht_task tasks[HT_MOST_TASKS(HT_PASSES, 1)];
    struct ht_schedule schedule = {.task = tasks};
    struct ht_halo_state state = {.open = false};
    struct ht_targets targets[2];
    struct ht_partition slab;
    make_slab(load, p->ranks == 1, p->planes, targets, &slab);
    for (int n = 0; n < 2 * load->depth; n++) {
        ht_schedule_make(&slab, &load->passes, 0, load->passes.count, &state, &schedule);
        /* Adds the seconds of a step's tasks. Messages overlap with the steps between the task that
         * sends them and the one that receives them. */
        if (n >= load->depth) {
            double travel = 0;
            for (int i = 0; i < schedule.count; i++) {
                const struct ht_task *task = &schedule.task[i];
                /* Half steps that a pass over the nodes counts for: rates are in half steps. */
                const double seconds = (double)ht_box_nodes(&task->targets.box) * load->cells *
                                       (2.0 / load->passes.count) / rate;
                if (task->kind == HT_TASK_SEND) {
                    const struct ht_exchange sent =
                        ht_exchange_bytes(&task->planes, load->sent_bytes);
                    travel = transfer(m, sent.bytes, p->ranks > m->device.per_node);
                    p->transfer += travel;
                    p->pack += pack_seconds(m, sent.bytes);
                } else if (task->kind == HT_TASK_STEP && task->part == HT_PART_BOUNDARY) {
                    p->boundary += seconds * m->device.boundary + m->device.launch_s;
                } else if (task->kind == HT_TASK_STEP) {
                    p->interior += seconds + m->device.launch_s;
                    travel = fmax(0, travel - seconds);
                } else if (task->kind == HT_TASK_RECEIVE) {
                    p->exposed += travel;
                    travel = 0;
                }
            }
            p->exposed += travel;
        }
    }
    p->interior *= per_step;
    p->boundary *= per_step;
    p->pack *= per_step;
    p->transfer *= per_step;
    p->exposed *= per_step;
    p->step = p->interior + p->boundary + p->pack + p->exposed;
}

void ht_predict(const struct ht_load *load, const struct ht_machine *machine, double rate,
                int ranks, struct ht_prediction *out) {
    struct ht_prediction alone = {.ranks = 1, .planes = load->planes};
    int64_t least = load->weak ? load->planes : load->planes / ranks;
    *out = (struct ht_prediction){.ranks = ranks};
    if (least < 1 || (ranks > 1 && least < load->thinnest)) return;
    out->planes = load->weak ? load->planes : (load->planes + ranks - 1) / ranks;
    out->memory = (double)out->planes * load->plane_bytes + (ranks > 1 ? load->halo_bytes : 0);
    add_step(load, machine, rate, &alone);
    add_step(load, machine, rate, out);
    out->efficiency = alone.step / out->step / (load->weak ? 1 : ranks);
    out->limit = find_limit(out, machine);
}
