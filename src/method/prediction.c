/* Time of a step in slabs: equations of docs/scaling.md. */
#include "htwave/prediction.h"

#include <math.h>

void ht_load_make(const struct ht_problem *p, const struct ht_spec *spec,
                  bool weak, struct ht_load *out) {
    int place[HT_MAX_COEFS], places = ht_place(spec, place);
    int depth = p->halo.depth > 0 ? p->halo.depth : 1;
    *out = (struct ht_load){.cells = (double)ht_grid_plane(p->grid, HT_DUAL),
                            .planes = p->grid->cells[2],
                            .weak = weak,
                            .depth = depth};
    double most = 0;
    for (int mesh = 0; mesh < 2; mesh++) {
        enum ht_mesh which = (enum ht_mesh)mesh;
        double values = (double)places * ht_problem_stored(p, which) +
                        (double)p->medium_coefs * p->eq->nmaterials;
        double plane = (double)ht_grid_plane(p->grid, which) * values *
                       (spec->fp64 ? 8 : 4);
        out->sent[mesh] = ht_exchange_count(p, spec->fp64, which);
        out->plane_bytes += plane;
        /* planes beyond the slab that its buffers have room for: those that an
           exchange before either half step may bring */
        int beyond = mesh == HT_PRIMARY ? 2 * ((depth + 1) / 2) : depth;
        out->halo_bytes += beyond * plane;
        for (int side = 0; side < 2; side++)
            most = fmax(most, out->sent[mesh].bytes[side]);
    }
    /* on each side room for a message out and, in turns, two in */
    out->halo_bytes += 2 * 3 * most;
}

double ht_rate_expected(const struct ht_machine *machine,
                        const struct ht_spec spec[2]) {
    double seconds = 0; /* of a cell, the mean of both half steps */
    if (machine->device.rate > 0) return machine->device.rate;
    for (int from = 0; from < 2; from++) {
        struct ht_cost least = ht_cost_minimum(&spec[from], spec[from].stages);
        seconds += 0.5 * fmax(least.bytes / machine->device.copy,
                              least.fma / machine->device.fma[spec[from].fp64]);
    }
    return machine->device.fraction / seconds;
}

/* ---- one exchange ---- */

static double seconds_over(const struct ht_machine_link *link, double bytes,
                           double host_copy) {
    double staging = link->staged ? 2 * bytes / host_copy : 0;
    return link->latency_s + bytes / link->bytes_per_s + staging;
}

/* Ranks fill nodes in the order of their slabs, so that only the ends of a
 * node's stretch use the network: one end of it where only one direction has
 * messages, which then has a node's rate for itself. Devices between the ends
 * send both of their messages over their links, the ends one. */
static double transfer(const struct ht_machine *m, const double bytes[2],
                       bool nodes) {
    double both = bytes[0] + bytes[1], most = fmax(bytes[0], bytes[1]);
    bool inner = !nodes || m->device.per_node > 2;
    bool together = m->per_node || m->device.per_node == 1;
    double links = seconds_over(&m->links, inner ? both : most, m->host_copy);
    double network =
        seconds_over(&m->network, together ? both : most, m->host_copy);
    if (!nodes) return links;
    return m->device.per_node > 1 ? fmax(network, links) : network;
}

/* ---- one cycle ---- */

/* Adds the `depth` half steps up to one exchange. With neighbours the planes
 * computed for later half steps are one less in each; the last half step
 * begins with the boundary, the own planes that leave, and messages travel
 * while it goes on with the interior. */
static void add_cycle(const struct ht_load *load, const struct ht_machine *m,
                      double rate, int from, struct ht_prediction *p) {
    const double plane = load->cells / rate, launch = m->device.launch_s;
    const int k = load->depth;
    const double *bytes = load->sent[from].bytes;
    double own = (double)p->planes;
    if (p->ranks == 1) {
        p->interior += k * (own * plane + launch);
        return;
    }
    double leaving = fmin(k, own), again = k * (k - 1) / 2.0;
    double moved = 2 * (bytes[0] + bytes[1]);
    double travel = transfer(m, bytes, p->ranks > m->device.per_node);
    int sides = (bytes[0] > 0) + (bytes[1] > 0);
    p->interior += (k * own - leaving + again) * plane + k * launch;
    p->boundary += leaving * plane * m->device.boundary + sides * launch;
    /* out of the state and into it, each byte read and written */
    p->pack += 2 * moved / m->device.copy + 2 * sides * launch;
    p->transfer += travel;
    p->exposed += fmax(0, travel - (own - leaving) * plane);
}

static const char *find_limit(const struct ht_prediction *p,
                              const struct ht_machine *m) {
    double most =
        fmax(fmax(p->interior, p->boundary), fmax(p->pack, p->exposed));
    if (most == p->interior) return "interior";
    if (most == p->boundary) return "boundary";
    if (most == p->pack) return "packing";
    return p->ranks > m->device.per_node ? "network" : "links";
}

static void add_step(const struct ht_load *load, const struct ht_machine *m,
                     double rate, struct ht_prediction *p) {
    const double per_step = 1.0 / load->depth; /* of two cycles */
    add_cycle(load, m, rate, HT_PRIMARY, p);
    add_cycle(load, m, rate, load->depth % 2 == 0 ? HT_PRIMARY : HT_DUAL, p);
    p->interior *= per_step;
    p->boundary *= per_step;
    p->pack *= per_step;
    p->transfer *= per_step;
    p->exposed *= per_step;
    p->step = p->interior + p->boundary + p->pack + p->exposed;
}

void ht_predict(const struct ht_load *load, const struct ht_machine *machine,
                double rate, int ranks, struct ht_prediction *out) {
    struct ht_prediction alone = {.ranks = 1, .planes = load->planes};
    int64_t least = load->weak ? load->planes : load->planes / ranks;
    *out = (struct ht_prediction){.ranks = ranks};
    if (least < 1 || (ranks > 1 && least < (load->depth + 1) / 2)) return;
    out->planes =
        load->weak ? load->planes : (load->planes + ranks - 1) / ranks;
    out->memory = (double)out->planes * load->plane_bytes +
                  (ranks > 1 ? load->halo_bytes : 0);
    add_step(load, machine, rate, &alone);
    add_step(load, machine, rate, out);
    out->efficiency = alone.step / out->step / (load->weak ? 1 : ranks);
    out->limit = find_limit(out, machine);
}
