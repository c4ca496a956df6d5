/* Predictions as tables and JSON; the model is in docs/scaling.md. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

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

/* ---- input ---- */

static enum ht_err read_gpus(const struct ht_args *args, struct predict *p) {
    const char *text = ht_args_value(args, "--gpus");
    if (text != NULL) return ht_args_integers("--gpus", text, 1, MOST_GPUS, &p->count, &p->gpus);
    TRY(HT_ALLOC(p->gpus, DEFAULT_GPUS));
    for (; p->count < DEFAULT_GPUS; p->count++) p->gpus[p->count] = 1 << p->count;
    return HT_OK;
}

static enum ht_err read_rate(const struct ht_args *args, struct predict *p) {
    const char *given = ht_args_value(args, "--rate");
    if (given == NULL) return HT_OK;
    TRY(ht_args_real("--rate", given, &p->rate));
    REQUIRE(p->rate > 0, HT_ERR_INPUT, "--rate %s: must be > 0", given);
    return HT_OK;
}

/* Reads and checks all input before the medium, which takes time. */
static enum ht_err read_all(const struct ht_args *args, struct predict *p) {
    TRY(ht_machine_read(ht_args_value(args, "--machine"), &p->machine));
    TRY(read_gpus(args, p));
    TRY(read_rate(args, p));
    if (p->params->grid.dims != 3)
        return ht_params_error(p->params, "grid.cells",
                               "only grids of three dimensions are divided into "
                               "slabs");
    return HT_OK;
}

/* The specs of the half steps on a GPU of this kind. */
static void make_spec(struct predict *p) {
    bool fp64 = p->params->device.precision == HT_DOUBLE;
    const struct ht_tuning tuning = {.fp64 = fp64, .trim = true, .block = fp64 ? 2 : 4};
    for (int from = 0; from < 2; from++)
        p->spec[from] = ht_problem_spec(&p->plan->problem, &tuning, (enum ht_subgrid)from);
}

/* ---- the rate ---- */

static bool differences(const struct predict *p) {
    return p->plan->problem.fd.order > 0;
}

/* Unless it was given (p->rate > 0). */
static void choose_rate(struct predict *p) {
    const bool known = p->machine.device.rate > 0;
    p->rate_from = p->rate > 0 ? "given" : known ? "the machine's" : "a fraction of its limits";
    if (p->rate <= 0) p->rate = ht_rate_expected(&p->machine, p->spec);
}

/* ---- tables ---- */

static void add_prediction(const struct predict *p, const struct ht_prediction *row,
                           struct ht_text *text) {
    char memory[32];
    bool fits = row->memory <= p->machine.device.memory;
    if (row->planes == 0) return;
    ht_text_add(text, "  %6d %7lld %11s %9.4g %9.4g %9.4g %9.4g %9.4g %6.1f%% %s%s\n", row->ranks,
                (long long)row->planes, ht_text_bytes(row->memory, memory), 1e3 * row->step,
                1e3 * row->interior, 1e3 * row->boundary, 1e3 * row->pack, 1e3 * row->exposed,
                100 * row->efficiency, row->limit, fits ? "" : ", does not fit");
}

static void add_table(const struct predict *p, bool weak, struct ht_text *text) {
    struct ht_load load;
    struct ht_prediction row;
    int left_out = 0;
    ht_load_make(&p->plan->problem, &p->spec[0], weak, &load);
    ht_text_add(text, "%s scaling, %s\n", weak ? "weak" : "strong",
                weak ? "these cells on every GPU" : "these cells on all GPUs together");
    ht_text_add(text, "  %6s %7s %11s %9s %9s %9s %9s %9s %7s %s\n", "GPUs", "planes", "memory",
                "ms/step", "interior", "boundary", "pack", "exposed", "eff.", "limited by");
    for (int i = 0; i < p->count; i++) {
        ht_predict(&load, &p->machine, p->rate, p->gpus[i], &row);
        left_out += row.planes == 0;
        add_prediction(p, &row, text);
    }
    if (left_out > 0)
        ht_text_add(text,
                    "  %d more: slabs would be thinner than %lld plane%s, with "
                    "%lld in all\n",
                    left_out, (long long)load.thinnest, load.thinnest > 1 ? "s" : "",
                    (long long)load.planes);
}

static void add_table_json(const struct predict *p, bool weak, struct ht_json *json) {
    struct ht_load load;
    struct ht_prediction row;
    ht_load_make(&p->plan->problem, &p->spec[0], weak, &load);
    ht_json_open(json, weak ? "weak" : "strong", '[');
    for (int i = 0; i < p->count; i++) {
        ht_predict(&load, &p->machine, p->rate, p->gpus[i], &row);
        if (row.planes == 0) continue;
        ht_json_open(json, NULL, '{');
        ht_json_integer(json, "gpus", row.ranks);
        ht_json_integer(json, "planes", row.planes);
        ht_json_number(json, "memory_bytes", row.memory);
        ht_json_bool(json, "fits", row.memory <= p->machine.device.memory);
        ht_json_number(json, "step_s", row.step);
        ht_json_number(json, "interior_s", row.interior);
        ht_json_number(json, "boundary_s", row.boundary);
        ht_json_number(json, "pack_s", row.pack);
        ht_json_number(json, "transfer_s", row.transfer);
        ht_json_number(json, "exposed_s", row.exposed);
        ht_json_number(json, "efficiency", row.efficiency);
        ht_json_string(json, "limit", row.limit);
        ht_json_close(json, '}');
    }
    ht_json_close(json, ']');
}

/* ---- messages ---- */

/* Counts per step; steps of dG per step of this method, NaN: unknown. */
struct sent {
    struct ht_sent here, dg;
    double steps;
};

static struct sent count_sent(const struct predict *p) {
    const struct ht_problem *problem = &p->plan->problem;
    const double cfl = p->plan->cfl;
    if (differences(p)) return (struct sent){.here = ht_sent_here(problem, p->spec[0].fp64)};
    return (struct sent){.here = ht_sent_here(problem, p->spec[0].fp64),
                         .dg = ht_sent_dg(problem, p->spec[0].fp64),
                         .steps = cfl > 0 ? cfl / ht_dg_step(p->plan->grid.order) : NAN};
}

static void add_sent(const struct predict *p, struct ht_text *text) {
    const struct sent s = count_sent(p);
    char here[32], dg[32];
    ht_text_add(text, "a slab sends %.3g messages, %s per step", s.here.messages,
                ht_text_bytes(s.here.bytes, here));
    if (!differences(p))
        ht_text_add(text, "; a nodal dG method of degree %d would send %.0f, %s",
                    2 * p->plan->grid.order + 1, s.dg.messages, ht_text_bytes(s.dg.bytes, dg));
    if (!differences(p) && isfinite(s.steps))
        ht_text_add(text, ", and take %.3g steps for one: %.3g times the bytes", s.steps,
                    s.dg.bytes * s.steps / s.here.bytes);
    ht_text_add(text, "\n");
    if (p->plan->medium->visited < 1)
        ht_text_add(text,
                    "the medium's speeds are from 1 of %.0f of its nodes, "
                    "spaced evenly; values between them are unknown\n",
                    1 / p->plan->medium->visited);
}

static void add_sent_json(const struct predict *p, struct ht_json *json) {
    const struct sent s = count_sent(p);
    ht_json_open(json, "messages", '{');
    ht_json_number(json, "per_step", s.here.messages);
    ht_json_number(json, "bytes_per_step", s.here.bytes);
    if (!differences(p)) {
        ht_json_number(json, "dg_per_step", s.dg.messages);
        ht_json_number(json, "dg_bytes_per_step", s.dg.bytes);
        ht_json_number(json, "dg_steps_for_one", s.steps);
    }
    ht_json_close(json, '}');
    if (p->plan->medium->visited < 1)
        ht_json_number(json, "medium_sampled", p->plan->medium->visited);
}

/* ---- the command ---- */

static void add_head(const struct predict *p, struct ht_text *text) {
    const struct ht_params *params = p->params;
    const int depth = p->plan->problem.halo.depth;
    ht_text_add(text,
                "prediction for %s, %d GPUs per node\n%s, %s, %s %d, %s, %lld "
                "x %lld x %lld cells; halo of %d %s%s, precision %s\n"
                "%.4g cell half-steps/s per GPU: %s\n",
                p->machine.name, p->machine.device.per_node, params->system,
                p->plan->problem.scheme->name, differences(p) ? "order" : "N =", p->plan->order,
                ht_precision_word(params->device.precision), (long long)params->grid.cells[0],
                (long long)params->grid.cells[1], (long long)params->grid.cells[2], depth,
                differences(p) ? "pass" : "half step",
                depth == 1       ? ""
                : differences(p) ? "es"
                                 : "s",
                ht_halo_precision_word(params->parallel.halo_precision), p->rate, p->rate_from);
}

static enum ht_err report(const struct predict *p, bool as_json) {
    struct ht_json json = {0};
    struct ht_text text = {0};
    ht_json_open(&json, NULL, '{');
    ht_json_string(&json, "machine", p->machine.name);
    ht_json_string(&json, "system", p->plan->eq.system->name);
    ht_json_number(&json, "rate", p->rate);
    ht_json_string(&json, "rate_from", p->rate_from);
    add_sent_json(p, &json);
    add_head(p, &text);
    for (int weak = 0; weak < 2; weak++) {
        add_table(p, weak, &text);
        add_table_json(p, weak, &json);
    }
    add_sent(p, &text);
    ht_json_close(&json, '}');
    ht_json_end(&json);
    return ht_json_or_text(&json, &text, as_json);
}

enum ht_err ht_check_machine(const struct ht_args *args, const struct ht_params *params) {
    struct predict p = {.params = params};
    enum ht_err err = read_all(args, &p);
    if (err == HT_OK) err = ht_plan_sketch(params, &p.plan);
    if (err == HT_OK) {
        make_spec(&p);
        choose_rate(&p);
        err = report(&p, args->json);
    }
    free(p.gpus);
    ht_plan_destroy(p.plan);
    return err;
}
