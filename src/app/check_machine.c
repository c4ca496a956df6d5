/* Predictions as tables and JSON; the model is in docs/scaling.md. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"

enum { MOST_GPUS = 1 << 20, DEFAULT_GPUS = 13 };

struct predict {
    const struct ht_params *params;
    struct ht_plan *plan;
    struct ht_machine machine;
    struct ht_spec spec[2]; /* half step from [subgrid] */
    int count, *gpus;
    double rate;
    const char *rate_from;
};

static void end_predict(struct predict *p) {
    free(p->gpus);
    ht_plan_destroy(p->plan);
}

/* ---- tables ---- */

static void add_prediction(const struct predict *p, const struct ht_prediction *row,
                           struct ht_facts *f) {
    bool fits = row->memory <= p->machine.device.memory;
    ht_say(f, "  %6d %7lld %11s %9.4g %9.4g %9.4g %9.4g %9.4g %6.1f%% %s%s\n", row->ranks,
           (long long)row->planes, HT_BYTES(row->memory), 1e3 * row->step, 1e3 * row->interior,
           1e3 * row->boundary, 1e3 * row->pack, 1e3 * row->exposed, 100 * row->efficiency,
           row->limit, fits ? "" : ", does not fit");
    ht_fact(f, open, NULL, '{');
    ht_fact(f, integer, "gpus", row->ranks);
    ht_fact(f, integer, "planes", row->planes);
    ht_fact(f, number, "memory_bytes", row->memory);
    ht_fact(f, bool, "fits", fits);
    ht_fact(f, number, "step_s", row->step);
    ht_fact(f, number, "interior_s", row->interior);
    ht_fact(f, number, "boundary_s", row->boundary);
    ht_fact(f, number, "pack_s", row->pack);
    ht_fact(f, number, "transfer_s", row->transfer);
    ht_fact(f, number, "exposed_s", row->exposed);
    ht_fact(f, number, "efficiency", row->efficiency);
    ht_fact(f, string, "limit", row->limit);
    ht_fact(f, close, '}');
}

static void add_table(const struct predict *p, bool weak, struct ht_facts *f) {
    struct ht_load load;
    struct ht_prediction row;
    int left_out = 0;
    ht_load_make(&p->plan->problem, &p->spec[0], weak, &load);
    ht_say(f, "%s scaling, %s\n", weak ? "weak" : "strong",
           weak ? "these cells on every GPU" : "these cells on all GPUs together");
    ht_say(f, "  %6s %7s %11s %9s %9s %9s %9s %9s %7s %s\n", "GPUs", "planes", "memory", "ms/step",
           "interior", "boundary", "pack", "exposed", "eff.", "limited by");
    ht_fact(f, open, weak ? "weak" : "strong", '[');
    for (int i = 0; i < p->count; i++) {
        ht_predict(&load, &p->machine, p->rate, p->gpus[i], &row);
        if (row.planes > 0)
            add_prediction(p, &row, f);
        else
            left_out++;
    }
    ht_fact(f, close, ']');
    if (left_out > 0)
        ht_say(f, "  %d more: slabs would be thinner than %lld plane%s, with %lld in all\n",
               left_out, (long long)load.thinnest, load.thinnest > 1 ? "s" : "",
               (long long)load.planes);
}

/* ---- messages ---- */

/* Text that comes after the tables; the members come before them. */
static void add_sent(const struct predict *p, struct ht_json *json, struct ht_text *text) {
    const struct ht_problem *problem = &p->plan->problem;
    const double cfl = p->plan->cfl, visited = p->plan->medium->visited;
    const struct ht_sent sent = ht_sent_here(problem, p->spec[0].fp64);
    ht_text_add(text, "a slab sends %.3g messages, %s per step", sent.messages,
                HT_BYTES(sent.bytes));
    ht_json_open(json, "messages", '{');
    ht_json_number(json, "per_step", sent.messages);
    ht_json_number(json, "bytes_per_step", sent.bytes);
    if (!p->plan->problem.scheme->nodal) {
        const struct ht_sent dg = ht_sent_dg(problem, p->spec[0].fp64);
        const double steps = cfl > 0 ? cfl / ht_dg_step(p->plan->grid.order) : NAN; /* for one */
        ht_text_add(text, "; a nodal dG method of degree %d would send %.0f, %s",
                    2 * p->plan->grid.order + 1, dg.messages, HT_BYTES(dg.bytes));
        if (isfinite(steps))
            ht_text_add(text, ", and take %.3g steps for one: %.3g times the bytes", steps,
                        dg.bytes * steps / sent.bytes);
        ht_json_number(json, "dg_per_step", dg.messages);
        ht_json_number(json, "dg_bytes_per_step", dg.bytes);
        ht_json_number(json, "dg_steps_for_one", steps);
    }
    ht_json_close(json, '}');
    ht_text_add(text, "\n");
    if (visited < 1) {
        ht_text_add(text,
                    "the medium's speeds are from 1 of %.0f of its nodes, spaced evenly; values "
                    "between them are unknown\n",
                    1 / visited);
        ht_json_number(json, "medium_sampled", visited);
    }
}

/* ---- the command ---- */

static void add_head(const struct predict *p, struct ht_text *text) {
    const struct ht_params *params = p->params;
    const int depth = p->plan->problem.halo.depth;
    ht_text_add(text,
                "prediction for %s, %d GPUs per node\n%s, %s, %s %d, %s, %lld x %lld x %lld cells; "
                "halo of %d %s%s, precision %s\n"
                "%.4g cell half-steps/s per GPU: %s\n",
                p->machine.name, p->machine.device.per_node, params->system,
                p->plan->problem.scheme->name,
                p->plan->problem.scheme->nodal ? "order" : "N =", p->plan->order,
                ht_precision_word(params->device.precision), (long long)params->grid.cells[0],
                (long long)params->grid.cells[1], (long long)params->grid.cells[2], depth,
                p->plan->problem.scheme->nodal ? "pass" : "half step",
                depth == 1                       ? ""
                : p->plan->problem.scheme->nodal ? "es"
                                                 : "s",
                ht_halo_precision_word(params->parallel.halo_precision), p->rate, p->rate_from);
}

enum ht_err ht_check_machine(const struct ht_args *args, const struct ht_params *params) {
    HT_ENDED(end_predict) struct predict p = {.params = params};
    /* Reads and checks all input before the medium, which takes time. */
    TRY(ht_machine_read(ht_args_value(args, "--machine"), &p.machine));
    TRY(ht_args_integers(args, "--gpus", 1, MOST_GPUS, &p.count, &p.gpus));
    if (p.count == 0) {
        TRY(HT_ALLOC(p.gpus, DEFAULT_GPUS));
        for (; p.count < DEFAULT_GPUS; p.count++) p.gpus[p.count] = 1 << p.count;
    }
    TRY(ht_args_real(args, "--rate", DBL_MIN, DBL_MAX, &p.rate));
    REFUSE(p.params->grid.dims != 3, p.params, "grid.cells",
           "only grids of three dimensions are divided into slabs");
    TRY(ht_plan_sketch(params, &p.plan));
    /* The specs of the half steps on a GPU of this kind. */
    bool fp64 = p.params->device.precision == HT_DOUBLE;
    const struct ht_tuning tuning = {.fp64 = fp64, .trim = true, .block = fp64 ? 2 : 4};
    for (int from = 0; from < 2; from++)
        p.spec[from] = ht_problem_spec(&p.plan->problem, &tuning, (enum ht_subgrid)from);
    /* The rate, unless it was given. */
    const bool known = p.machine.device.rate > 0;
    p.rate_from = p.rate > 0 ? "given" : known ? "the machine's" : "a fraction of its limits";
    if (p.rate <= 0) p.rate = ht_rate_expected(&p.machine, p.spec);
    struct ht_facts f = ht_facts_open();
    HT_FREED_TEXT struct ht_text sent = {0};
    ht_fact(&f, string, "machine", p.machine.name);
    ht_fact(&f, string, "system", p.plan->eq.system->name);
    ht_fact(&f, number, "rate", p.rate);
    ht_fact(&f, string, "rate_from", p.rate_from);
    add_sent(&p, &f.json, &sent);
    add_head(&p, &f.text);
    for (int weak = 0; weak < 2; weak++) add_table(&p, weak, &f);
    if (sent.data != NULL) ht_say(&f, "%s", sent.data);
    return ht_facts_print(&f, args->json);
}
