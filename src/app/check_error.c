/* htwave check --error: of all methods those with the least work at the device's limits are planned
 * as runs of the file and timed: the best of each scheme, then the next ones. */
#include "app.h"

enum { CHOICES = 64, SHOWN = 6, KEYS = 400 };

struct choice {
    struct ht_carrier carrier;
    struct ht_resolution grid;
    bool fp64;
    double rounding;
    double work; /* seconds at the device's limits, relative */
    bool shown;
    /* As a run of the file: */
    int64_t cells[3], steps;
    double bytes, seconds; /* NaN: not known */
    char why[200];         /* it is refused; "" else */
};

struct search {
    const struct ht_args *args;
    const struct ht_simulation *sim;              /* of the file */
    double error, frequency, wavelengths, length; /* of the shortest waves */
    const char *source;                           /* of the frequency */
    double contrast;
    bool density;
    struct ht_limits limits[2]; /* [double precision] */
    double least_rounding;      /* in single precision */
    int count;
    struct choice choice[CHOICES];
};

static HT_ERR find_waves(struct search *s) {
    TRY(ht_args_real(s->args, "--error", DBL_MIN, 0.5, &s->error));
    const struct ht_plan *plan = s->sim->plan;
    const double *k = plan->solution->wavenumber;
    if (plan->params->initial.frequency > 0) {
        s->frequency = plan->params->initial.frequency;
        s->source = "initial.frequency";
    } else if (plan->shots != NULL) {
        s->frequency = plan->shots->highest;
        s->source = "the highest of the sources";
    } else if (plan->solution->single_wave) {
        s->frequency = sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]) * plan->medium->fastest /
                       (2 * acos(-1.0));
        s->source = "the initial wave";
    }
    REFUSE(!(s->frequency > 0), plan->params, "initial.frequency",
           "is needed by --error: the highest frequency whose waves must be right");
    REFUSE(!(plan->medium->speed_min > 0), plan->params, "medium", "--error: nothing moves in it");
    s->length = plan->medium->speed_min / s->frequency;
    s->contrast = plan->medium->fastest / plan->medium->speed_min;
    s->density =
        !plan->medium->uniform && (!plan->problem.scheme->nodal || plan->problem.fd.density);
    s->wavelengths = s->sim->params->time.end * s->frequency;
    TRY(ht_args_real(s->args, "--wavelengths", DBL_MIN, 1e6, &s->wavelengths));
    if (s->wavelengths > 0) return HT_OK;
    return ht_params_error(s->sim->params, "time.end",
                           "--error: gives no path; --wavelengths does");
}

/* Adds a method in the precisions in which rounding leaves room. */
static HT_ERR add_method(struct search *s, const struct ht_carrier *carrier) {
    const double part = 0.7; /* of the error, in quadrature */
    struct choice c = {.carrier = *carrier, .bytes = NAN, .seconds = NAN};
    TRY(ht_resolution_find(carrier, s->wavelengths, part * s->error, &c.grid));
    if (!(c.grid.cells > 0)) return HT_OK;
    for (int fp64 = 0; fp64 < 2; fp64++) {
        c.fp64 = fp64;
        c.rounding = ht_resolution_rounding(carrier, c.fp64, &c.grid, s->wavelengths);
        if (!fp64) s->least_rounding = fmin(s->least_rounding, c.rounding);
        if (fp64 && s->sim->device != NULL && !s->sim->info.fp64) continue;
        if (!fp64 && s->sim->oracle) continue; /* which is double */
        if (c.rounding > part * s->error || s->count == CHOICES) continue;
        /* Seconds per wavelength and period at the limits of the device. */
        const struct ht_limits *limits = &s->limits[c.fp64];
        const struct ht_tuning tuning = {.fp64 = c.fp64, .block = 1};
        struct ht_part test;
        ht_test_problem_plain(c.carrier.eq, c.carrier.order, c.carrier.stages, c.carrier.scheme,
                              &test);
        const struct ht_spec spec = ht_problem_spec(&test.problem, &tuning, HT_PRIMARY);
        const struct ht_cost least = ht_cost_minimum(&spec, spec.stages);
        c.work = ht_resolution_updates(&c.carrier, &c.grid) *
                 fmax(least.bytes / limits->bytes_per_s, least.fma / limits->fma_per_s);
        s->choice[s->count++] = c;
    }
    return HT_OK;
}

static int by_work(const void *left, const void *right) {
    const struct choice *a = left, *b = right;
    return (a->work > b->work) - (a->work < b->work);
}

/* What the run takes, as on the command line. */
static const char *list_keys(const struct choice *c, char keys[KEYS]) {
    char cells[192];
    return ht_text_format(keys, KEYS,
                          "grid.cells=[%s] grid.order=%d time.scheme=%s time.stages=%s "
                          "time.cfl=%.3g device.precision=%s",
                          ht_text_extents(c->carrier.eq->dims, c->cells, ",", cells),
                          c->carrier.order, c->carrier.scheme->name,
                          c->carrier.stages > 0 ? HT_KEY("%d", c->carrier.stages) : "full",
                          c->grid.cfl, ht_real_name(c->fp64));
}

static HT_ERR plan_and_time(const struct search *s, struct choice *c) {
    const struct ht_args *args = s->args;
    char keys[KEYS];
    HT_FREED char *all = NULL;
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    HT_ENDED(ht_simulation_end) struct ht_simulation *sim = NULL;
    TRY(ht_text_print(&all, "%s%s device.variant=auto device.selfcheck=false", list_keys(c, keys),
                      s->sim->params->time.step > 0 ? " time.step=0" : ""));
    TRY(ht_input_read(args->operand[0], args->count - 1, args->operand + 1, all, &params));
    TRY(ht_simulation_plan(params, NULL, NULL, &sim));
    c->steps = sim->plan->steps;
    c->bytes = (double)sim->budget.total;
    if (c->carrier.undispersed && !sim->plan->problem.fd.undispersed)
        snprintf(c->why, sizeof c->why, "dispersion in time cannot be removed from it");
    if (c->why[0] || sim->no_device != NULL) return HT_OK;
    TRY(ht_simulation_compile(sim));
    TRY(ht_check_seconds(sim, &c->seconds));
    return HT_OK;
}

/* What is refused, as leapfrog beside absorbing sides, is said. */
static HT_ERR try_run(const struct search *s, struct choice *c) {
    const enum ht_log_level level = ht_log_level_get();
    const struct ht_grid box = ht_grid_inner(&s->sim->plan->grid), *grid = &box;
    const double h = s->length / c->grid.cells, rounding = 1e-9;
    const int least = c->carrier.stages > 0 ? c->carrier.order + 1 : 3;
    for (int k = 0; k < grid->dims; k++)
        c->cells[k] = (int64_t)fmax(least, ceil((grid->upper[k] - grid->lower[k]) / h - rounding));
    if (level < HT_LOG_VERBOSE) ht_log_level_set(HT_LOG_SILENT);
    const enum ht_err err = plan_and_time(s, c);
    ht_log_level_set(level);
    if (err == HT_OK || (err != HT_ERR_INPUT && err != HT_ERR_MEMORY && err != HT_ERR_DEVICE))
        return err;
    snprintf(c->why, sizeof c->why, "%s", ht_err_message());
    return HT_OK;
}

/* Refused ones last. */
static int by_seconds(const void *left, const void *right) {
    const struct choice *a = left, *b = right;
    if (a->shown != b->shown) return b->shown - a->shown;
    if ((a->why[0] != 0) != (b->why[0] != 0)) return a->why[0] ? 1 : -1;
    if (isfinite(a->seconds) && isfinite(b->seconds))
        return (a->seconds > b->seconds) - (a->seconds < b->seconds);
    return by_work(left, right);
}

static void add_choice(const struct choice *c, struct ht_facts *f) {
    const int terms = c->carrier.stages;
    const char *name =
        terms > 0 ? HT_KEY("fd %d, %d term%s", c->carrier.order, terms, terms > 1 ? "s" : "")
                  : HT_KEY("%s, N = %d", c->carrier.scheme->name, c->carrier.order);
    const char *bytes = isfinite(c->bytes) ? HT_BYTES(c->bytes) : "-";
    const char *seconds = isfinite(c->seconds) ? HT_SECONDS(c->seconds) : "-";
    const double error = hypot(c->grid.error, c->rounding);
    ht_say(f, "  %-16s %-9s %6.2f  %-18s", name, ht_real_name(c->fp64), c->grid.cells,
           HT_EXTENTS(c->carrier.eq->dims, c->cells));
    ht_fact(f, HT_OPEN(NULL, '{'), HT_TEXT("scheme", c->carrier.scheme->name),
            HT_INT("order", c->carrier.order));
    if (terms > 0) ht_fact(f, HT_INT("terms", terms));
    ht_fact(f, HT_TEXT("precision", ht_real_name(c->fp64)),
            HT_NUM("cells_per_wavelength", c->grid.cells),
            HT_INTS("cells", c->carrier.eq->dims, c->cells), HT_NUM("cfl", c->grid.cfl),
            HT_NUM("expected_error", error));
    if (c->why[0]) {
        ht_say(f, " refused: %s\n", c->why);
        ht_fact(f, HT_TEXT("refused", c->why));
    } else {
        ht_say(f, " %6.3g %8lld %9.1e %10s %10s\n", c->grid.cfl, (long long)c->steps, error, bytes,
               seconds);
        ht_fact(f, HT_INT("steps", c->steps), HT_NUM("memory_bytes", c->bytes),
                HT_NUM("expected_s", c->seconds));
    }
    ht_fact(f, HT_CLOSE('}'));
}

/* A word of a command line, in quotes where a shell would not take it as it is. */
static void add_word(const char *word, int length, struct ht_text *text) {
    static const char safe[] = "_./=,:+-%@";
    bool plain = length > 0;
    for (int i = 0; i < length; i++)
        plain = plain && (isalnum((unsigned char)word[i]) || strchr(safe, word[i]));
    ht_text_add(text, plain ? " " : " '");
    for (int i = 0; i < length; i++)
        ht_text_add(text, !plain && word[i] == '\'' ? "'\\''" : "%c", word[i]);
    ht_text_add(text, plain ? "" : "'");
}

static void add_best(const struct search *s, struct ht_text *text) {
    char keys[KEYS];
    if (s->count == 0 || s->choice[0].why[0]) {
        ht_text_add(text, "no method reaches it\n");
        return;
    }
    ht_text_add(text, "htwave run");
    for (int i = 0; i < s->args->count; i++)
        add_word(s->args->operand[i], (int)strlen(s->args->operand[i]), text);
    for (const char *key = list_keys(&s->choice[0], keys); *key; key += strspn(key, " ")) {
        const int length = (int)strcspn(key, " ");
        add_word(key, length, text);
        key += length;
    }
    ht_text_add(text, "\n");
}

static HT_ERR report(const struct search *s) {
    struct ht_facts f = ht_facts_open();
    ht_fact(&f, HT_NUM("error", s->error), HT_NUM("wavelengths", s->wavelengths),
            HT_NUM("frequency", s->frequency), HT_NUM("wavelength", s->length),
            HT_TEXT("no_device", s->sim->no_device));
    const struct ht_plan *plan = s->sim->plan;
    ht_say(&f, "error %.3g after %.4g wavelengths of %.4g, those of frequency %.4g (%s)%s\n",
           s->error, s->wavelengths, s->length, s->frequency, s->source,
           s->contrast > 1 ? " where waves are slowest" : "");
    if (!plan->medium->uniform)
        ht_say(&f, "the medium varies: finite differences alone, whose errors are known there%s\n",
               plan->medium->rough ? "; those of jumps, of second order, are not included" : "");
    ht_say(&f, "device %s\n", s->sim->no_device ? "none is available" : s->sim->info.name);
    bool found[2] = {false}; /* [double precision] */
    for (int i = 0; i < s->count; i++) found[s->choice[i].fp64] = true;
    if (!found[0] && isfinite(s->least_rounding) && !s->sim->oracle)
        ht_say(&f, "single precision does not suffice: rounding errs by %.1e or more%s\n",
               s->least_rounding, found[1] ? "" : ", and the device has no double precision");
    if (s->count > 0)
        ht_say(&f, "  %-16s %-9s %6s  %-18s %6s %8s %9s %10s %10s\n", "scheme", "precision", "c/w",
               "cells", "cfl", "steps", "error", "memory", "time");
    ht_fact(&f, HT_OPEN("choices", '['));
    for (int i = 0; i < s->count && s->choice[i].shown; i++) add_choice(&s->choice[i], &f);
    ht_fact(&f, HT_CLOSE(']'));
    if (s->count > 0)
        ht_say(&f, "  c/w: cells per wavelength; error: expected, with rounding; time: of the "
                   "file's steps, as timed here\n");
    add_best(s, &f.text);
    return ht_facts_print(&f, s->args->json);
}

/* The best of each family, then the next best. */
static void show_best(struct search *s) {
    int shown = 0;
    qsort(s->choice, (size_t)s->count, sizeof *s->choice, by_work);
    for (int i = 0; i < s->count; i++) {
        bool first = true;
        for (int k = 0; k < i; k++)
            first &= !(s->choice[k].carrier.scheme == s->choice[i].carrier.scheme &&
                       s->choice[k].carrier.stages == s->choice[i].carrier.stages);
        s->choice[i].shown = first;
        shown += first;
    }
    for (int i = 0; i < s->count && shown < SHOWN; i++) {
        shown += !s->choice[i].shown;
        s->choice[i].shown = true;
    }
}

static HT_ERR search(struct search *s) {
    TRY(find_waves(s));
    /* Without a device its limits are those of no particular one. */
    s->limits[0] = s->limits[1] = (struct ht_limits){.bytes_per_s = 1e11, .fma_per_s = 5e11};
    if (s->sim->device != NULL) TRY(ht_both_limits(s->sim->device, false, s->limits));
    /* Errors of Hermite methods are known in a uniform medium. */
    const struct ht_plan *plan = s->sim->plan;
    const enum ht_dispersion given = plan->params->time.dispersion;
    const bool removed =
        given == HT_DISPERSION_REMOVE || (given == HT_DISPERSION_AUTO && plan->receivers != NULL);
    HT_EACH_BY(i, const struct ht_scheme, scheme, ht_scheme_at(i), ht_scheme_count()) {
        const bool fd = scheme->nodal;
        if (!ht_scheme_steps(scheme, &plan->eq)) continue;
        if (!fd && !plan->medium->uniform) continue;
        /* of pairs one term alone */
        const bool pair = fd && ht_scheme_full_stages(scheme, &plan->eq, 2) == 1;
        for (int n = 0; n < 2 * HT_MAX_ORDER && scheme->orders[n / 2] > 0; n++) {
            if ((pair || !fd) && n % 2 == 1) continue;
            const struct ht_carrier carrier = {.eq = &plan->eq,
                                               .scheme = scheme,
                                               .order = scheme->orders[n / 2],
                                               .stages = fd ? 1 + n % 2 : 0,
                                               .density = fd && (s->density || pair),
                                               .undispersed = fd && n % 2 == 0 && removed,
                                               .contrast = fd ? s->contrast : 1};
            TRY(add_method(s, &carrier));
        }
    }
    show_best(s);
    for (int i = 0; i < s->count; i++)
        if (s->choice[i].shown) TRY(try_run(s, &s->choice[i]));
    qsort(s->choice, (size_t)s->count, sizeof *s->choice, by_seconds);
    return report(s);
}

HT_ERR ht_check_error(const struct ht_args *args, const struct ht_params *params) {
    HT_ENDED(ht_simulation_end) struct ht_simulation *sim = NULL;
    REQUIRE(ht_comm_size(args->comm) == 1, HT_ERR_INPUT, "--error: not on several ranks");
    TRY(ht_simulation_plan(params, args->comm, NULL, &sim));
    HT_ARRAY(struct search, s, 1);
    s->args = args;
    s->sim = sim;
    s->least_rounding = INFINITY;
    return search(s);
}
