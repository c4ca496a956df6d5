#include "htwave/simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- gathering ---- */

/* As members of JSON name them; the kernels' are a member of the run. */
static const char *const part_name[HT_TIMES] = {"kernel", "step", "interior", "boundary",
                                                "ghosts", "pack", "exposed"};

struct share {
    double seconds[HT_TIMES];
    double exchanges, messages, bytes; /* per step */
    double limit, joules;              /* of a device that the rank leads */
};

/* The transports of all pairs of ranks, each once, the fastest first: "peer + staged"; "" without
 * neighbours. */
static enum ht_err find_transport(struct ht_comm *comm, const struct ht_traffic *own,
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
static struct share own_share(const struct ht_simulation *sim, const struct ht_traffic *traffic) {
    const double done = fmax(0.5 * (double)traffic->half_steps, 1);
    const double scale = (double)sim->run.steps / done;
    const bool leads = ht_simulation_leads(sim);
    struct share own = {.seconds = {[HT_TIME_KERNEL] = sim->run.kernel_s,
                                    [HT_TIME_STEP] = sim->run.step_s,
                                    [HT_TIME_INTERIOR] = traffic->interior_s * scale,
                                    [HT_TIME_BOUNDARY] = traffic->boundary_s * scale,
                                    [HT_TIME_GHOSTS] = traffic->ghosts_s * scale,
                                    [HT_TIME_PACK] = traffic->pack_s * scale},
                        .exchanges = (double)traffic->exchanges / done,
                        .messages = (double)traffic->messages / done,
                        .bytes = (double)traffic->bytes / done,
                        .limit = leads ? ht_simulation_limit(sim) : 0,
                        .joules = leads ? ht_simulation_joules(sim) : 0};
    const double *s = own.seconds;
    own.seconds[HT_TIME_EXPOSED] =
        fmax(0, s[HT_TIME_STEP] - s[HT_TIME_INTERIOR] - s[HT_TIME_BOUNDARY] - s[HT_TIME_PACK]);
    return own;
}

static void combine(int ranks, const struct share *all, struct ht_parallel *out) {
    *out = (struct ht_parallel){.exchanges = all->exchanges};
    for (int r = 0; r < ranks; r++) {
        for (int i = 0; i < HT_TIMES; i++) {
            out->part[i].mean += all[r].seconds[i] / ranks;
            out->part[i].worst = fmax(out->part[i].worst, all[r].seconds[i]);
        }
        out->messages += all[r].messages;
        out->bytes += all[r].bytes;
        out->limit += all[r].limit;
        out->joules += all[r].joules;
    }
}

enum ht_err ht_parallel_gather(const struct ht_simulation *sim, struct ht_parallel *out) {
    const struct ht_stepper *s = &sim->run.stepper;
    struct ht_traffic traffic = {.half_steps = 0};
    struct share own, *all = NULL;
    if (s->ops->traffic != NULL) s->ops->traffic(s->self, &traffic);
    own = own_share(sim, &traffic);
    TRY(HT_ALLOC(all, sim->ranks));
    enum ht_err err = ht_comm_gather(sim->comm, &own, sizeof own, all);
    if (err == HT_OK) combine(sim->ranks, all, out);
    free(all);
    TRY(err);
    return find_transport(sim->comm, &traffic, out->transport);
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

static void add_parts(const char *whose, const struct ht_parallel *p, bool worst,
                      struct ht_text *text) {
    ht_text_add(text, "%s", whose);
    for (int i = HT_TIME_INTERIOR; i < HT_TIMES; i++) {
        if (i == HT_TIME_GHOSTS) continue;
        ht_text_add(text, "%s %s %s", i == HT_TIME_INTERIOR ? "" : ",",
                    i == HT_TIME_PACK ? "packing" : part_name[i],
                    HT_SECONDS(worst ? p->part[i].worst : p->part[i].mean));
    }
    ht_text_add(text, "\n");
}

void ht_parallel_add_times(const struct ht_simulation *sim, const struct ht_parallel *p,
                           struct ht_text *text) {
    if (sim->ranks == 1) return;
    ht_text_add(text, "  exchange  %s: %.4g messages and %s per step\n", p->transport, p->messages,
                HT_BYTES(p->bytes));
    add_parts("  steps     mean of ranks:", p, false, text);
    add_parts("            worst rank:", p, true, text);
}

/* ---- JSON ---- */

void ht_parallel_add_json(const struct ht_simulation *sim, const struct ht_parallel *p,
                          struct ht_json *json) {
    if (sim->ranks == 1) return;
    ht_json_open(json, "parallel", '{');
    ht_json_integer(json, "ranks", sim->ranks);
    ht_json_integer(json, "devices", ht_ranks_devices(sim->ranks, sim->assignment));
    ht_json_integer(json, "machines", ht_ranks_machines(sim->ranks, sim->assignment));
    ht_json_integers(json, "planes", sim->ranks, sim->planes);
    ht_json_integer(json, "halo_depth", sim->plan->problem.halo.depth);
    ht_json_string(json, "halo_precision", precision_of(sim));
    if (p != NULL) {
        char key[40];
        ht_json_string(json, "transport", p->transport);
        ht_json_number(json, "exchanges_per_step", p->exchanges);
        ht_json_number(json, "messages_per_step", p->messages);
        ht_json_number(json, "bytes_per_step", p->bytes);
        for (int i = HT_TIME_STEP; i < HT_TIMES; i++) {
            snprintf(key, sizeof key, "%s_s", part_name[i]);
            ht_json_number(json, key, p->part[i].mean);
            snprintf(key, sizeof key, "%s_worst_s", part_name[i]);
            ht_json_number(json, key, p->part[i].worst);
        }
    }
    ht_json_close(json, '}');
}
