#include "htwave/simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- gathering ---- */

struct part {
    double step, kernel, interior, boundary, ghosts, pack, exposed;
    double exchanges, messages, bytes; /* per step */
    double limit, joules;              /* of a device that the rank leads */
};

enum ht_err ht_parallel_transport(struct ht_comm *comm, const struct ht_traffic *own,
                                  char out[HT_TRANSPORT_NAMES]) {
    const char *name;
    *out = '\0';
    for (int i = 0; (name = ht_transport_name(i)) != NULL; i++) {
        double used = 0;
        for (int side = 0; side < 2; side++)
            if (own->transport[side] != NULL && strcmp(own->transport[side], name) == 0) used = 1;
        TRY(ht_comm_max(comm, 1, &used));
        size_t length = strlen(out);
        if (used > 0)
            snprintf(out + length, HT_TRANSPORT_NAMES - length, "%s%s", length > 0 ? " + " : "",
                     name);
    }
    return HT_OK;
}

/* The stepper's timers also have kernels outside the run's steps (of the conserved energy): its
 * seconds are scaled to these steps. */
static void fill_traffic(const struct ht_simulation *sim, const struct ht_traffic *traffic,
                         struct part *out) {
    double done = fmax(0.5 * (double)traffic->half_steps, 1);
    double scale = (double)sim->run.steps / done;
    out->interior = traffic->interior_s * scale;
    out->boundary = traffic->boundary_s * scale;
    out->ghosts = traffic->ghosts_s * scale;
    out->pack = traffic->pack_s * scale;
    out->exposed = fmax(0, out->step - out->interior - out->boundary - out->pack);
    out->exchanges = (double)traffic->exchanges / done;
    out->messages = (double)traffic->messages / done;
    out->bytes = (double)traffic->bytes / done;
}

static void fill_part(const struct ht_simulation *sim, const struct ht_traffic *traffic,
                      struct part *out) {
    memset(out, 0, sizeof *out);
    out->step = sim->run.step_s;
    out->kernel = sim->run.kernel_s;
    fill_traffic(sim, traffic, out);
    if (!ht_simulation_leads(sim)) return;
    out->limit = ht_simulation_limit(sim);
    out->joules = ht_simulation_joules(sim);
}

/* Mean and largest value of a member, at an offset, of all parts. */
static struct ht_spread spread(int ranks, const struct part *all, size_t offset) {
    struct ht_spread s = {.mean = 0};
    for (int r = 0; r < ranks; r++) {
        double value;
        memcpy(&value, (const char *)&all[r] + offset, sizeof value);
        s.mean += value / ranks;
        s.worst = fmax(s.worst, value);
    }
    return s;
}

static void combine(int ranks, const struct part *all, struct ht_parallel *out) {
    *out = (struct ht_parallel){
        .step = spread(ranks, all, offsetof(struct part, step)),
        .kernel = spread(ranks, all, offsetof(struct part, kernel)),
        .interior = spread(ranks, all, offsetof(struct part, interior)),
        .boundary = spread(ranks, all, offsetof(struct part, boundary)),
        .ghosts = spread(ranks, all, offsetof(struct part, ghosts)),
        .pack = spread(ranks, all, offsetof(struct part, pack)),
        .exposed = spread(ranks, all, offsetof(struct part, exposed)),
        .exchanges = all->exchanges,
    };
    for (int r = 0; r < ranks; r++) {
        out->messages += all[r].messages;
        out->bytes += all[r].bytes;
        out->limit += all[r].limit;
        out->joules += all[r].joules;
    }
}

enum ht_err ht_parallel_gather(const struct ht_simulation *sim, struct ht_parallel *out) {
    const struct ht_stepper *s = &sim->run.stepper;
    struct ht_traffic traffic = {.half_steps = 0};
    struct part own, *all = NULL;
    if (s->ops->traffic != NULL) s->ops->traffic(s->self, &traffic);
    fill_part(sim, &traffic, &own);
    TRY(HT_ALLOC(all, sim->ranks));
    enum ht_err err = ht_comm_gather(sim->comm, &own, sizeof own, all);
    if (err == HT_OK) combine(sim->ranks, all, out);
    free(all);
    TRY(err);
    return ht_parallel_transport(sim->comm, &traffic, out->transport);
}

/* ---- text ---- */

static const char *precision_of(const struct ht_simulation *sim) {
    return ht_halo_precision_word(sim->params->parallel.halo_precision);
}

void ht_parallel_add_ranks(const struct ht_simulation *sim, struct ht_text *text) {
    if (sim->ranks == 1) return;
    ht_text_add(text, "  parallel  ");
    ht_ranks_add_devices(sim->ranks, sim->assignment, text);
    int64_t least = sim->planes[0], most = least;
    for (int r = 1; r < sim->ranks; r++) {
        if (sim->planes[r] < least) least = sim->planes[r];
        if (sim->planes[r] > most) most = sim->planes[r];
    }
    ht_text_add(text, "\n  slabs     ");
    if (least == most)
        ht_text_add(text, "%lld planes each", (long long)least);
    else
        ht_text_add(text, "%lld to %lld planes", (long long)least, (long long)most);
    ht_text_add(text, ", halo depth %d, halo precision %s\n", sim->plan->problem.halo.depth,
                precision_of(sim));
}

static void add_seconds(const char *what, double seconds, struct ht_text *text) {
    char number[32];
    ht_text_add(text, "%s%s", what, ht_text_seconds(seconds, number));
}

void ht_parallel_add_times(const struct ht_simulation *sim, const struct ht_parallel *p,
                           struct ht_text *text) {
    char bytes[32];
    if (sim->ranks == 1) return;
    ht_text_add(text, "  exchange  %s: %.4g messages and %s per step\n", p->transport, p->messages,
                ht_text_bytes(p->bytes, bytes));
    add_seconds("  steps     mean of ranks: interior ", p->interior.mean, text);
    add_seconds(", boundary ", p->boundary.mean, text);
    add_seconds(", packing ", p->pack.mean, text);
    add_seconds(", exposed ", p->exposed.mean, text);
    add_seconds("\n            worst rank: interior ", p->interior.worst, text);
    add_seconds(", boundary ", p->boundary.worst, text);
    add_seconds(", packing ", p->pack.worst, text);
    add_seconds(", exposed ", p->exposed.worst, text);
    ht_text_add(text, "\n");
}

/* ---- JSON ---- */

static void add_spread(const char *name, struct ht_spread s, struct ht_json *json) {
    char key[40];
    snprintf(key, sizeof key, "%s_s", name);
    ht_json_number(json, key, s.mean);
    snprintf(key, sizeof key, "%s_worst_s", name);
    ht_json_number(json, key, s.worst);
}

static void add_results(const struct ht_parallel *p, struct ht_json *json) {
    ht_json_string(json, "transport", p->transport);
    ht_json_number(json, "exchanges_per_step", p->exchanges);
    ht_json_number(json, "messages_per_step", p->messages);
    ht_json_number(json, "bytes_per_step", p->bytes);
    add_spread("step", p->step, json);
    add_spread("interior", p->interior, json);
    add_spread("boundary", p->boundary, json);
    add_spread("ghosts", p->ghosts, json);
    add_spread("pack", p->pack, json);
    add_spread("exposed", p->exposed, json);
}

void ht_parallel_add_json(const struct ht_simulation *sim, const struct ht_parallel *p,
                          struct ht_json *json) {
    if (sim->ranks == 1) return;
    ht_json_open(json, "parallel", '{');
    ht_json_integer(json, "ranks", sim->ranks);
    ht_json_integer(json, "devices", ht_ranks_devices(sim->ranks, sim->assignment));
    ht_json_integer(json, "machines", ht_ranks_machines(sim->ranks, sim->assignment));
    ht_json_open(json, "planes", '[');
    for (int r = 0; r < sim->ranks; r++) ht_json_integer(json, NULL, sim->planes[r]);
    ht_json_close(json, ']');
    ht_json_integer(json, "halo_depth", sim->plan->problem.halo.depth);
    ht_json_string(json, "halo_precision", precision_of(sim));
    if (p != NULL) add_results(p, json);
    ht_json_close(json, '}');
}
