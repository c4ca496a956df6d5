/* From time.scheme to a row of the schemes. What "auto" chooses where no key describes one kind of
 * scheme is in docs/usage.md; leapfrog unless a key asks for what it has not. grid.order is N or an
 * order in space: given alone it must not change its meaning with the medium, and is refused where
 * the medium chose differences. */
#include "plan_parts.h"

static HT_ERR refuse_scheme(const struct ht_plan *plan, const struct ht_scheme *scheme,
                            const char *why) {
    HT_FREED_TEXT struct ht_text names = {0};
    for (int i = 0; i < ht_system_count(); i++) {
        const struct ht_equations eq = ht_equations_make(ht_system_at(i), plan->eq.dims);
        if (ht_scheme_steps(scheme, &eq))
            ht_text_add(&names, "%s%s", names.length > 0 ? ", " : "", eq.system->name);
    }
    TRY(ht_text_status(&names));
    return ht_params_error(plan->params, "time.scheme",
                           "the fields of %s %s, which %s needs; systems with a %s form: %s",
                           plan->eq.system->name, why, scheme->title, scheme->title,
                           names.length > 0 ? names.data : "none");
}

/* ---- keys that describe one kind of scheme ---- */

static bool gives_variant(const struct ht_params *params, bool differences) {
    for (int v = 0; v < ht_variant_count(); v++)
        if (strcmp(ht_variant_at(v)->name, params->device.variant) == 0)
            return ht_variant_at(v)->differences == differences;
    return false;
}

struct kind_key {
    const char *key;
    bool nodal;   /* of finite differences, or of Hermite methods */
    bool given;   /* as a value of the kind */
    bool ignored; /* by the other kind, which refuses the others itself */
    bool chooses;
};
enum { KIND_KEYS = 8 };

static void list_kind_keys(const struct ht_params *params, struct kind_key key[KIND_KEYS]) {
    const struct ht_value *stages = &params->time.stages;
    const bool many = stages->kind == HT_VALUE_NUMBERS && stages->number[0] > 2;
    const struct kind_key all[KIND_KEYS] = {
        {"medium.degree", false, params->medium.degree >= 0, true, true},
        {"medium.fit", true, params->medium.fit != HT_FIT_AUTO, true, true},
        {"time.stages", false, many, false, true},
        {"device.variant", false, gives_variant(params, false), false, true},
        {"device.variant", true, gives_variant(params, true), false, true},
        {"device.layout", false, params->device.layout != HT_LAYOUT_AUTO, true, false},
        {"output.coefficients", false, params->output.coefficients, true, false},
        {"medium.couplings", true, !params->medium.couplings, true, false},
    };
    memcpy(key, all, sizeof all);
}

static const char *kind_name(bool nodal) {
    return nodal ? "finite differences" : "Hermite methods";
}

/* *out: the key that chooses the kind, without a name: none is given. */
static HT_ERR find_kind_key(const struct ht_params *params, struct kind_key *out) {
    struct kind_key key[KIND_KEYS];
    list_kind_keys(params, key);
    *out = (struct kind_key){.key = NULL};
    for (int i = 0; i < KIND_KEYS; i++) {
        if (!key[i].given || !key[i].chooses) continue;
        REFUSE(out->key != NULL && out->nodal != key[i].nodal, params, key[i].key,
               "is for %s, but %s is given too, which is for %s: give one of them",
               kind_name(key[i].nodal), out->key, kind_name(out->nodal));
        if (out->key == NULL) *out = key[i];
    }
    return HT_OK;
}

/* ---- what leapfrog has not ---- */

/* Names that the system has not are refused later, beside all that it has. */
static bool asks_field(const struct ht_plan *plan, unsigned stored, const char *name) {
    const int field = ht_equations_field(&plan->eq, name);
    return name[0] != '\0' && (field < 0 || (stored != 0 && !(stored >> field & 1u)));
}

/* "v1", or of receivers "v1_x2". fluxes: without values but for receivers, as integrals. */
static bool asks_names(const struct ht_plan *plan, unsigned stored, unsigned fluxes,
                       const struct ht_names *names) {
    for (int i = 0; i < names->count; i++) {
        char field[32];
        const int length = (int)strcspn(names->name[i], "_");
        snprintf(field, sizeof field, "%.*s", length, names->name[i]);
        if (asks_field(plan, stored | (names->name[i][length] ? 0 : fluxes), field)) return true;
    }
    return false;
}

static bool receivers_ask(const struct ht_plan *plan, unsigned stored, unsigned fluxes) {
    const struct ht_receivers_given *receivers = plan->params->receivers.group;
    for (int i = 0; i < plan->params->receivers.count; i++)
        if (asks_names(plan, stored, fluxes, &receivers[i].fields)) return true;
    return false;
}

/* Kernels of the other scheme alone. */
static bool asks_variant(const struct ht_plan *plan, const struct ht_form *form) {
    const struct ht_spec spec = {
        .eq = &plan->eq, .order = plan->order, .block = 1, .medium_degree = HT_UNIFORM};
    const struct ht_variant *variant = ht_variant_find(plan->params->device.variant, &spec, false);
    struct ht_spec half = spec;
    if (variant == NULL || variant->differences) return false;
    half.src = form->stored[HT_PRIMARY];
    half.dst = form->stored[HT_DUAL];
    half.old_sign = form->old_sign;
    return ht_variant_refuses(variant, &half) != NULL && ht_variant_refuses(variant, &spec) == NULL;
}

static bool is_stable(const struct ht_plan *plan, int stages) {
    const double cfl = plan->params->time.step > 0 ? 0 : plan->params->time.cfl;
    const double most = ht_scheme_cfl(&ht_scheme_leapfrog, &plan->eq, plan->order, stages);
    return most > 0 && cfl <= most;
}

/* The first key that asks outputs of the grid for a field that is not stored; NULL: none. */
static const char *output_lacks(const struct ht_plan *plan, unsigned stored) {
    const struct ht_params *params = plan->params;
    const struct ht_map_given *maps = params->output.maps.group;
    struct ht_slice_given slice;
    if (asks_names(plan, stored, 0, &params->output.fields)) return "output.fields";
    for (int i = 0; params->output.pictures && ht_params_slice(params, i, &slice); i++)
        if (slice.field != NULL && asks_field(plan, stored, slice.field))
            return params->output.picture.slices.count == 0 ? "output.picture.field"
                                                            : "output.picture.slices";
    for (int i = 0; i < params->output.maps.count; i++)
        if (asks_field(plan, stored, maps[i].field)) return "output.maps";
    return NULL;
}

/* The first key that asks leapfrog for what it has not; NULL: none. Its series has one term less,
 * others of its numbers of terms are stable, and nothing damps what rounded messages add. */
static const char *leapfrog_lacks(const struct ht_plan *plan, const struct ht_form *form) {
    const struct ht_params *params = plan->params;
    const struct ht_value *stages = &params->time.stages;
    const unsigned stored = form->stored[HT_PRIMARY];
    const int full = ht_scheme_full_stages(&ht_scheme_leapfrog, &plan->eq, plan->order);
    const char *output = output_lacks(plan, stored);
    if (output != NULL) return output;
    if (receivers_ask(plan, stored, 0)) return "receivers.fields";
    if (ht_layers_any(&plan->grid) && params->absorbing.type != HT_ABSORBING_SPONGE)
        return "boundary";
    if (asks_variant(plan, form)) return "device.variant";
    if (stages->kind == HT_VALUE_NUMBERS &&
        (stages->number[0] > full || !is_stable(plan, (int)stages->number[0])))
        return "time.stages";
    if (!is_stable(plan, full)) return "time.cfl";
    return params->parallel.halo_precision != HT_HALO_SAME ? "parallel.halo_precision" : NULL;
}

static void say(struct ht_plan *plan, const char *why, const char *more) {
    const bool automatic = plan->params->time.scheme == HT_SCHEME_AUTO;
    snprintf(plan->chosen_by, sizeof plan->chosen_by, "%s%s%s", automatic ? "auto: " : "", why,
             more);
}

static int order_of(const struct ht_plan *plan, const struct ht_scheme *scheme) {
    const int given = plan->params->grid.order;
    return given > 0 ? given : scheme->usual_order;
}

/* Ranks have fewer planes than stencils of the usual order reach, where density varies. */
static bool is_thin(const struct ht_plan *plan) {
    const int64_t reach = ht_scheme_fd.usual_order - 1;
    const int ranks = ht_comm_size(plan->grid.slab.comm);
    return ranks > 1 && plan->grid.cells[2] / ranks < reach * plan->params->parallel.halo_depth;
}

static const struct ht_scheme *choose_hermite(struct ht_plan *plan) {
    struct ht_form form;
    plan->order = order_of(plan, &ht_scheme_leapfrog);
    if (!plan->medium->uniform) {
        say(plan, "the medium varies, but no finite differences for ",
            is_thin(plan) ? "slabs as thin" : plan->eq.system->name);
        return &ht_scheme_taylor;
    }
    say(plan, "the medium is uniform", "");
    if (plan->order > HT_MAX_ORDER) return &ht_scheme_taylor; /* refused */
    if (ht_scheme_leapfrog.form(&plan->eq, &form) != NULL) return &ht_scheme_taylor;
    const char *lacks = leapfrog_lacks(plan, &form);
    if (lacks == NULL) return &ht_scheme_leapfrog;
    say(plan, "the medium is uniform; leapfrog has no such ", lacks);
    return &ht_scheme_taylor;
}

/* ---- where finite differences serve in a uniform medium, in a small part of the time ---- */

/* Whether keys of finite differences mean what they do for Hermite methods. */
static bool may_differ(const struct ht_params *params) {
    bool may = params->shots.count > 0 && params->initial.type == HT_DATA_ZERO &&
               params->grid.order == 0 && !params->output.coefficients &&
               !ht_params_is_set(params, "time.cfl") &&
               params->parallel.halo_precision == HT_HALO_SAME;
    for (int k = 0; k < params->grid.dims; k++)
        may = may && params->grid.cells[k] / 2 >= ht_scheme_fd.usual_order;
    for (int i = 1; i <= params->shots.count; i++)
        may = may && !ht_params_is_set(params, HT_KEY("sources.%d.radius", i)) &&
              !ht_params_is_set(params, HT_KEY("sources.%d.tolerance", i));
    return may;
}

/* How finite differences would run. */
struct instead {
    int terms;  /* in time */
    bool exact; /* without dispersion in time */
    double speed, nu;
};

/* false: they have not the fields, or not the terms, that keys ask for, or the step is stable with
 * Hermite methods alone. */
static bool plan_instead(const struct ht_plan *plan, const struct ht_scheme *hermite,
                         struct instead *out) {
    const struct ht_params *params = plan->params;
    const struct ht_second_order *second = &plan->eq.second_order;
    const double terms = ht_value_or(&params->time.stages, 2);
    const unsigned held = 1u << second->field;
    const char *lacks = output_lacks(plan, held);
    const bool pair = lacks != NULL;
    const unsigned fluxes = second->rate < 0 ? ((1u << plan->eq.nfields) - 1) & ~held : 0;
    struct ht_form form;
    double least = INFINITY;
    for (int k = 0; k < plan->grid.dims; k++) least = fmin(least, plan->grid.h[k]);
    if (pair &&
        (ht_scheme_fd.otherwise->form(&plan->eq, &form) != NULL || output_lacks(plan, 0) != NULL))
        return false;
    if (receivers_ask(plan, pair ? 0 : held, pair ? 0 : fluxes)) return false;
    if (pair && params->time.stages.kind == HT_VALUE_NUMBERS && terms > 1) return false;
    out->terms = pair ? 1 : (int)terms;
    /* A picture may have what is removed from traces, not other outputs of the field. */
    out->exact = out->terms == 1 && params->receivers.count > 0 &&
                 params->time.dispersion != HT_DISPERSION_KEEP &&
                 (!pair || strncmp(lacks, "output.picture", 14) == 0);
    const int full = ht_scheme_full_stages(hermite, &plan->eq, plan->order);
    const double given = out->speed * params->time.step / least;
    const double stable =
        ht_scheme_cfl(&ht_scheme_fd, &plan->eq, ht_scheme_fd.usual_order, out->terms);
    out->nu = fmin(0.9, ht_scheme_fd.usual_part * stable);
    if (given > 0 && given <= stable) out->nu = given;
    return given <= stable || given > ht_scheme_cfl(hermite, &plan->eq, plan->order, full);
}

/* What order 8 adds to the waves of a source, which grows like the time: the root mean square over
 * the run. */
static HT_ERR find_error(const struct ht_plan *plan, const struct instead *as, int i, double *out) {
    HT_ENDED(ht_signal_end) struct ht_signal *signal = NULL;
    const struct ht_fd_weights w = ht_fd_weights(ht_scheme_fd.usual_order);
    const double axis[3] = {1, 0, 0}, end = plan->params->time.end;
    const struct ht_shot_given *group = plan->params->shots.group;
    struct ht_shot_given given = group[i];
    double energy[HT_SIGNAL_BANDS], sum = 0;
    given.until = end;
    TRY(ht_params_blame(plan->params, HT_KEY("sources.%d.file", i + 1),
                        ht_signal_create(&given, &signal)));
    struct ht_shot shot = {.type = &ht_source_types[given.type], .signal = signal};
    for (int k = 0; k < plan->grid.dims; k++) shot.varies[k] = true;
    ht_shot_bands(&plan->eq, &shot, energy);
    for (int b = 0; b < HT_SIGNAL_BANDS; b++) {
        const double f = ht_shot_band(&shot, b);
        const double points = as->speed / (f * ht_grid_widest(&plan->grid));
        const double nu = as->nu * (as->exact ? 0.01 : 1);
        const double error = points > 2 ? ht_fd_error(&w, as->terms, axis, points, nu, end * f) : 2;
        sum += energy[b] * pow(fmin(error, 2), 2);
    }
    *out = sqrt(sum / 3);
    return HT_OK;
}

/* A cell of Hermite methods has (N + 1)^dims values of a field, each the sum of more. */
static HT_ERR suits_differences(const struct ht_plan *plan, const struct ht_scheme *hermite,
                                bool *out) {
    const double many = 10, most = 0.01;
    double material[HT_MAX_MATERIALS] = {0}, error = 0;
    struct instead as = {.nu = 0};
    *out = false;
    if (!plan->eq.second_order.known || is_thin(plan) || !may_differ(plan->params) ||
        pow(plan->order + 1, plan->grid.dims) < many)
        return HT_OK;
    TRY(ht_medium_point(plan->medium, plan->grid.lower, material));
    as.speed = ht_equations_speed(&plan->eq, material, 0, true);
    *out = plan_instead(plan, hermite, &as);
    for (int i = 0; i < plan->params->shots.count && *out; i++) {
        TRY(find_error(plan, &as, i, &error));
        *out = error <= most;
    }
    return HT_OK;
}

/* The row of a side with nothing beyond it; NULL: there is none. */
static const struct ht_wall_kind *find_closed(const struct ht_plan *plan) {
    for (int n = 0; n < 6; n++)
        if (ht_grid_closed(&plan->grid, n / 2, n % 2))
            return ht_wall_of(plan->eq.system, plan->grid.wall[n / 2][n % 2]);
    return NULL;
}

/* NULL: nothing asks for finite differences. */
static const char *why_differences(const struct ht_plan *plan) {
    const struct ht_shot_given *shots = plan->params->shots.group;
    if (plan->params->gradient.alone) return "a gradient is made";
    if (find_closed(plan) != NULL) return find_closed(plan)->closed;
    if (plan->eq.losses != 0) return "the medium loses energy";
    for (int i = 0; i < plan->params->shots.count; i++)
        if (ht_source_types[shots[i].type].outside) return ht_source_types[shots[i].type].outside;
    const bool second = plan->eq.second_order.known, sources = plan->params->shots.count > 0;
    if (is_thin(plan) && (!sources || (second && plan->medium->uniform))) return NULL;
    if (!plan->medium->uniform) return "the medium varies";
    if (ht_layers_any(&plan->grid)) return "sides absorb";
    return sources && !second ? "this system has sources" : NULL;
}

/* Of "auto", which took differences for that reason; names what this problem can take. */
static HT_ERR refuse_order(const struct ht_plan *plan, const char *why) {
    const struct ht_shot_given *shots = plan->params->shots.group;
    const struct ht_wall_kind *closed = find_closed(plan);
    bool hermite = closed == NULL && plan->eq.losses == 0 && !plan->params->gradient.alone &&
                   (plan->params->shots.count == 0 || plan->eq.second_order.known);
    int most = 2 * HT_FD_RADIUS;
    while (closed != NULL && ht_fd_closure(most, false).nodes == 0) most -= 2;
    for (int i = 0; i < plan->params->shots.count; i++)
        hermite = hermite && !ht_source_types[shots[i].type].outside;
    return ht_params_error(
        plan->params, "grid.order",
        "%s, where time.scheme = \"auto\" takes finite differences, whose order is not N: give "
        "time.scheme = \"fd\" with it (order in space%s: 2, 4 .. %d)%s, or leave it out (fd of "
        "order %d)",
        why, closed != NULL ? HT_KEY(" beside %s sides", closed->name) : "", most,
        hermite ? HT_KEY(" or \"taylor\" (N: 1 to %d)", HT_MAX_ORDER) : "",
        ht_scheme_fd.usual_order);
}

static HT_ERR choose(struct ht_plan *plan, const struct ht_scheme **scheme) {
    struct kind_key key;
    TRY(find_kind_key(plan->params, &key));
    const bool steps = ht_scheme_steps(&ht_scheme_fd, &plan->eq);
    const char *why = why_differences(plan);
    bool differences = why != NULL && steps;
    if (key.given) differences = key.nodal;
    REFUSE(differences && !steps, plan->params, key.key,
           "is for finite differences, which %s has no form for", plan->eq.system->name);
    *scheme = differences ? &ht_scheme_fd : choose_hermite(plan);
    bool fine = false;
    if (!key.given && !differences && steps) TRY(suits_differences(plan, *scheme, &fine));
    if (fine) {
        say(plan, "fd errs by some 1 % or less in a small part of the time of ", (*scheme)->name);
        *scheme = &ht_scheme_fd;
    }
    if (key.given)
        say(plan, key.key, differences ? " is of fd" : " is of Hermite methods");
    else if (differences)
        say(plan, why, "");
    if (key.given || !differences || plan->params->grid.order == 0) return HT_OK;
    return refuse_order(plan, why);
}

/* Sides with nothing beyond them are for differences with closures. */
static HT_ERR check_closed(const struct ht_plan *plan) {
    const struct ht_fd_closure closure = ht_fd_closure(plan->order, false);
    const struct ht_wall_kind *closed = find_closed(plan);
    for (int k = 0; closed != NULL && k < plan->grid.dims; k++) {
        const int sides = ht_grid_closed(&plan->grid, k, 0) + ht_grid_closed(&plan->grid, k, 1);
        if (sides == 0) continue;
        REFUSE(plan->problem.scheme->closed != NULL, plan->params, HT_KEY("boundary.x%d", k + 1),
               "a %s side needs time.scheme = \"fd\": %s", closed->name,
               plan->problem.scheme->closed);
        REFUSE(closure.nodes == 0, plan->params, "grid.order",
               "beside the %s side of x%d differences end at orders 2, 4, 6 and 8 alone",
               closed->name, k + 1);
        REFUSE(plan->grid.cells[k] + 1 < (int64_t)sides * closure.nodes, plan->params, "grid.cells",
               "%lld along x%d: with %d %s side%s order %d needs %d",
               (long long)plan->grid.cells[k], k + 1, sides, closed->name, sides > 1 ? "s" : "",
               plan->order, sides * closure.nodes - 1);
    }
    return HT_OK;
}

HT_ERR ht_plan_choose_scheme(struct ht_plan *plan) {
    const struct ht_params *params = plan->params;
    const struct ht_scheme *scheme = &ht_scheme_taylor;
    plan->problem.eq = &plan->eq;
    plan->eq.losses = plan->medium->losses;
    if (params->time.scheme == HT_SCHEME_AUTO)
        TRY(choose(plan, &scheme));
    else
        scheme = ht_scheme_at((int)params->time.scheme);
    REFUSE(plan->eq.losses != 0 && scheme->losses != NULL, params, plan->medium->loss_key,
           "losses at a point are for %s: time.scheme = \"%s\" has none; must be 0, or take "
           "\"fd\"",
           scheme->losses, scheme->name);
    const char *why = ht_problem_set_scheme(&plan->problem, scheme);
    if (why != NULL) return refuse_scheme(plan, scheme, why);
    /* Fields that finite differences of second order have not, those of first order have. */
    const char *lacks = output_lacks(plan, plan->problem.stored[HT_PRIMARY]);
    if (lacks != NULL && plan->problem.second != NULL && scheme->otherwise != NULL &&
        ht_problem_set_scheme(&plan->problem, scheme->otherwise) == NULL)
        say(plan, "all fields, for ", lacks);
    struct kind_key key[KIND_KEYS];
    list_kind_keys(params, key);
    for (int i = 0; i < KIND_KEYS; i++)
        REFUSE(key[i].nodal != scheme->nodal && key[i].ignored && key[i].given, params, key[i].key,
               "has no meaning with time.scheme = \"%s\": it is for %s", scheme->name,
               kind_name(key[i].nodal));
    struct ht_pair pair = {.ncouplings = 0};
    if (plan->problem.early != 0) (void)ht_pair_make(&plan->eq, HT_PAIR_APART, &pair);
    REFUSE(!params->medium.couplings && pair.ncouplings == 0, params, "medium.couplings",
           "%s by finite differences has no fields here that could be coupled",
           plan->eq.system->name);
    REFUSE(scheme->varying != NULL && !plan->medium->uniform, params, "time.scheme",
           "the medium varies, and %s", scheme->varying);
    plan->order = order_of(plan, scheme);
    return check_closed(plan);
}
