/* Predictions as tables and JSON; the model is in docs/scaling.md. */
#include "htwave/predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "htwave/scaling.h"

enum { MOST_GPUS = 1 << 20, DEFAULT_GPUS = 13 };

struct predict {
    const struct ht_params *params;
    struct ht_plan *plan;
    struct ht_machine machine;
    struct ht_spec spec[2]; /* half step from [subgrid] */
    int count, *gpus;
    double rate;
    char rate_from[4 * HT_SCALING_WORD];
    struct ht_scaling measured;
};

/* ---- input ---- */

static enum ht_err read_gpus(const struct ht_args *args, struct predict *p) {
    const char *text = ht_args_value(args, "--gpus");
    if (text != NULL)
        return ht_args_integers("--gpus", text, 1, MOST_GPUS, &p->count,
                                &p->gpus);
    TRY(HT_ALLOC(p->gpus, DEFAULT_GPUS));
    for (; p->count < DEFAULT_GPUS; p->count++)
        p->gpus[p->count] = 1 << p->count;
    return HT_OK;
}

static enum ht_err read_measured(const struct ht_args *args,
                                 struct predict *p) {
    const char *path = ht_args_value(args, "--measured");
    if (path == NULL) return HT_OK;
    REQUIRE(ht_file_exists(path), HT_ERR_INPUT, "%s: no such file", path);
    return ht_scaling_read(path, &p->measured);
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
    TRY(read_measured(args, p));
    if (p->params->grid.dims != 3)
        return ht_params_error(
            p->params, "grid.cells",
            "only grids of three dimensions are divided into "
            "slabs");
    return HT_OK;
}

/* The specs of the half steps on a GPU of this kind. */
static void make_spec(struct predict *p) {
    bool fp64 = p->params->device.precision == HT_DOUBLE;
    const struct ht_tuning tuning = {
        .fp64 = fp64, .trim = true, .block = fp64 ? 2 : 4};
    for (int from = 0; from < 2; from++)
        p->spec[from] =
            ht_problem_spec(&p->plan->problem, &tuning, (enum ht_subgrid)from);
}

/* ---- the rate ---- */

static bool differences(const struct predict *p) {
    return p->plan->problem.fd.order > 0;
}

/* Kernels of finite differences take the same time where K alone varies. */
static bool varies(const struct predict *p) {
    return differences(p) ? p->plan->problem.fd.density
                          : p->spec[0].medium_degree >= 0;
}

/* Whether a measured row has this kind of problem; all rows have uniform
 * media. */
static bool matches(const struct predict *p, const struct ht_scaling_row *row) {
    const struct ht_problem *problem = &p->plan->problem;
    const struct ht_scheme *scheme = ht_problem_scheme(problem);
    return !varies(p) && strcmp(row->system, p->plan->eq.system->name) == 0 &&
           strcmp(row->precision, p->spec[0].fp64 ? "double" : "single") == 0 &&
           strcmp(row->scheme, scheme->name) == 0 &&
           row->order == p->plan->order && row->stages == problem->stages;
}

/* Whether the row gives the rate of one rank; the last one of equal rows does.
 */
static bool gives_rate(const struct predict *p,
                       const struct ht_scaling_row *row) {
    return row->ranks == 1 && matches(p, row) &&
           ht_scaling_alone(&p->measured, row) == row;
}

/* Ratio (>= 1) of the sides of the row's and the run's planes. */
static double side_ratio(const struct predict *p,
                         const struct ht_scaling_row *row) {
    const int64_t *cells = p->plan->grid.cells;
    double side = sqrt((double)cells[0] * (double)cells[1]);
    return fmax(row->side, side) / fmin(row->side, side);
}

/* The row of one rank with planes nearest in size to the run's, of several the
 * fastest; NULL: none. *alike: all such rows have the same size, device and
 * back end. */
static const struct ht_scaling_row *nearest_row(const struct predict *p,
                                                bool *alike) {
    const struct ht_scaling_row *best = NULL;
    *alike = true;
    for (int i = 0; i < p->measured.count; i++) {
        const struct ht_scaling_row *row = &p->measured.row[i];
        if (!gives_rate(p, row)) continue;
        if (best == NULL) {
            best = row;
            continue;
        }
        if (row->side != best->side || strcmp(row->device, best->device) != 0 ||
            strcmp(row->backend, best->backend) != 0)
            *alike = false;
        double off = side_ratio(p, row), least = side_ratio(p, best);
        if (off < least ||
            (off == least && ht_scaling_rate(row) > ht_scaling_rate(best)))
            best = row;
    }
    return best;
}

static void take_rate(const struct ht_scaling_row *row, bool alike,
                      struct predict *p) {
    p->rate = ht_scaling_rate(row);
    if (alike)
        snprintf(p->rate_from, sizeof p->rate_from, "measured on one rank");
    else
        snprintf(p->rate_from, sizeof p->rate_from,
                 "measured on one rank: %s, %s, %.0f^2 x %.0f cells",
                 row->device, row->backend, row->side, row->planes);
}

/* Chooses the rate unless it was given (p->rate > 0). */
static void choose_rate(struct predict *p) {
    bool alike = true;
    const struct ht_scaling_row *row = nearest_row(p, &alike);
    if (varies(p) && p->measured.count > 0)
        ht_note(
            "--measured: its rows are of uniform media, but this %s varies: "
            "they are not used",
            differences(p) ? "density" : "medium");
    if (p->rate > 0) {
        snprintf(p->rate_from, sizeof p->rate_from, "given");
        return;
    }
    if (row != NULL) {
        take_rate(row, alike, p);
        return;
    }
    p->rate = ht_rate_expected(&p->machine, p->spec);
    snprintf(p->rate_from, sizeof p->rate_from, "%s",
             p->machine.device.rate > 0 ? "the machine's"
                                        : "a fraction of its limits");
}

/* ---- tables ---- */

static void add_prediction(const struct predict *p,
                           const struct ht_prediction *row,
                           struct ht_text *text) {
    char memory[32];
    bool fits = row->memory <= p->machine.device.memory;
    if (row->planes == 0) return;
    ht_text_add(
        text, "  %6d %7lld %11s %9.4g %9.4g %9.4g %9.4g %9.4g %6.1f%% %s%s\n",
        row->ranks, (long long)row->planes, ht_text_bytes(row->memory, memory),
        1e3 * row->step, 1e3 * row->interior, 1e3 * row->boundary,
        1e3 * row->pack, 1e3 * row->exposed, 100 * row->efficiency, row->limit,
        fits ? "" : ", does not fit");
}

static void add_table(const struct predict *p, bool weak,
                      struct ht_text *text) {
    struct ht_load load;
    struct ht_prediction row;
    int left_out = 0;
    ht_load_make(&p->plan->problem, &p->spec[0], weak, &load);
    ht_text_add(text, "%s scaling, %s\n", weak ? "weak" : "strong",
                weak ? "these cells on every GPU"
                     : "these cells on all GPUs together");
    ht_text_add(text, "  %6s %7s %11s %9s %9s %9s %9s %9s %7s %s\n", "GPUs",
                "planes", "memory", "ms/step", "interior", "boundary", "pack",
                "exposed", "eff.", "limited by");
    for (int i = 0; i < p->count; i++) {
        ht_predict(&load, &p->machine, p->rate, p->gpus[i], &row);
        left_out += row.planes == 0;
        add_prediction(p, &row, text);
    }
    if (left_out > 0)
        ht_text_add(text,
                    "  %d more: slabs would be thinner than %lld plane%s, with "
                    "%lld in all\n",
                    left_out, (long long)load.thinnest,
                    load.thinnest > 1 ? "s" : "", (long long)load.planes);
}

static void add_table_json(const struct predict *p, bool weak,
                           struct ht_json *json) {
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
    if (differences(p))
        return (struct sent){.here = ht_sent_here(problem, p->spec[0].fp64)};
    return (struct sent){
        .here = ht_sent_here(problem, p->spec[0].fp64),
        .dg = ht_sent_dg(problem, p->spec[0].fp64),
        .steps = cfl > 0 ? cfl / ht_dg_step(p->plan->grid.order) : NAN};
}

static void add_sent(const struct predict *p, struct ht_text *text) {
    const struct sent s = count_sent(p);
    char here[32], dg[32];
    ht_text_add(text, "a slab sends %.3g messages, %s per step",
                s.here.messages, ht_text_bytes(s.here.bytes, here));
    if (!differences(p))
        ht_text_add(text,
                    "; a nodal dG method of degree %d would send %.0f, %s",
                    2 * p->plan->grid.order + 1, s.dg.messages,
                    ht_text_bytes(s.dg.bytes, dg));
    if (!differences(p) && isfinite(s.steps))
        ht_text_add(text, ", and take %.3g steps for one: %.3g times the bytes",
                    s.steps, s.dg.bytes * s.steps / s.here.bytes);
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

/* ---- comparison with measured rows ---- */

/* Prediction for a measured row's problem, at the rate of one rank in its
 * table. */
static enum ht_err predict_row(const struct predict *p,
                               const struct ht_scaling_row *row,
                               struct ht_prediction *out) {
    const struct ht_scaling_row *alone = ht_scaling_alone(&p->measured, row);
    bool weak = strcmp(row->kind, "weak") == 0;
    struct ht_part test;
    struct ht_load load;
    TRY(ht_scaling_problem(row, &p->plan->eq, &test));
    ht_load_make(&test.problem, &p->spec[0], weak, &load);
    if (weak) load.planes = (int64_t)(row->planes / row->ranks);
    ht_predict(&load, &p->machine, alone ? ht_scaling_rate(alone) : p->rate,
               (int)row->ranks, out);
    return HT_OK;
}

static enum ht_err add_measured(const struct predict *p, struct ht_text *text) {
    struct ht_prediction row;
    int left_out = 0;
    if (p->measured.count == 0) return HT_OK;
    ht_text_add(text,
                "measured beside the prediction at the rate of one rank, "
                "ms/step\n  %-6s %5s %15s %5s %9s %9s %8s %9s %9s\n",
                "kind", "ranks", "cells", "depth", "measured", "predicted",
                "ratio", "exposed", "predicted");
    for (int i = 0; i < p->measured.count; i++) {
        const struct ht_scaling_row *m = &p->measured.row[i];
        char cells[48];
        if (!matches(p, m)) {
            left_out++;
            continue;
        }
        TRY(predict_row(p, m, &row));
        snprintf(cells, sizeof cells, "%.0f^2 x %.0f", m->side, m->planes);
        ht_text_add(text,
                    "  %-6s %5.0f %15s %5.0f %9.4g %9.4g %8.3f %9.4g %9.4g"
                    "%s\n",
                    m->kind, m->ranks, cells, m->depth, m->ms, 1e3 * row.step,
                    m->ms / (1e3 * row.step), m->exposed_ms, 1e3 * row.exposed,
                    ht_scaling_alone(&p->measured, m) ? ""
                                                      : "  at the rate above");
    }
    if (left_out > 0)
        ht_text_add(text, "  %d rows of other kinds of problems omitted\n",
                    left_out);
    return HT_OK;
}

static enum ht_err add_measured_json(const struct predict *p,
                                     struct ht_json *json) {
    struct ht_prediction row;
    if (p->measured.count == 0) return HT_OK;
    ht_json_open(json, "measured", '[');
    for (int i = 0; i < p->measured.count; i++) {
        const struct ht_scaling_row *m = &p->measured.row[i];
        if (!matches(p, m)) continue;
        TRY(predict_row(p, m, &row));
        ht_json_open(json, NULL, '{');
        ht_json_string(json, "kind", m->kind);
        ht_json_number(json, "gpus", m->ranks);
        ht_json_number(json, "side", m->side);
        ht_json_number(json, "planes", m->planes);
        ht_json_number(json, "depth", m->depth);
        ht_json_number(json, "step_s", 1e-3 * m->ms);
        ht_json_number(json, "predicted_step_s", row.step);
        ht_json_number(json, "exposed_s", 1e-3 * m->exposed_ms);
        ht_json_number(json, "predicted_exposed_s", row.exposed);
        ht_json_close(json, '}');
    }
    ht_json_close(json, ']');
    return HT_OK;
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
                ht_problem_scheme(&p->plan->problem)->name,
                differences(p) ? "order" : "N =", p->plan->order,
                ht_precision_word(params->device.precision),
                (long long)params->grid.cells[0],
                (long long)params->grid.cells[1],
                (long long)params->grid.cells[2], depth,
                differences(p) ? "pass" : "half step",
                depth == 1       ? ""
                : differences(p) ? "es"
                                 : "s",
                ht_halo_precision_word(params->parallel.halo_precision),
                p->rate, p->rate_from);
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
    enum ht_err err = add_measured(p, &text);
    if (err == HT_OK) err = add_measured_json(p, &json);
    ht_json_close(&json, '}');
    ht_json_end(&json);
    if (err == HT_OK) return ht_json_or_text(&json, &text, as_json);
    ht_text_free(&json.text);
    ht_text_free(&text);
    return err;
}

enum ht_err ht_predict_run(const struct ht_args *args,
                           const struct ht_params *params) {
    struct predict p = {.params = params};
    enum ht_err err = read_all(args, &p);
    if (err == HT_OK) err = ht_plan_sketch(params, &p.plan);
    if (err == HT_OK) {
        make_spec(&p);
        choose_rate(&p);
        err = report(&p, args->json);
    }
    ht_scaling_free(&p.measured);
    free(p.gpus);
    ht_plan_destroy(p.plan);
    return err;
}
