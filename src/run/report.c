/* limit_fraction compares the kernels' time with max(bytes_min / bandwidth, fma_min / rate), the
 * least that the method needs on a perfect use of this device, measured in the same run. */
#include "htwave/maps.h"
#include "htwave/sampler.h"
#include "htwave/survey.h"

/* ---- results of several ranks: gathered from all, printed by rank 0 ---- */

/* As members of JSON name them; the kernels' are a member of the run. */
static const char *const part_name[HT_TIMES] = {"kernel", "step", "interior", "boundary",
                                                "ghosts", "pack", "exposed"};

/* Joules that the device used since the start of the steps; NaN: it does not report them. */
static double joules_of(const struct ht_simulation *sim) {
    if (sim->device == NULL || sim->joules_before < 0) return NAN;
    const double now = ht_device_joules(sim->device);
    return now >= sim->joules_before ? now - sim->joules_before : NAN;
}

/* The stepper's timers also have kernels outside the run's steps (of the conserved energy): its
 * seconds are scaled to these steps. */
static struct ht_parallel own_part(const struct ht_simulation *sim,
                                   const struct ht_traffic *traffic) {
    const double done = fmax(0.5 * (double)traffic->half_steps, 1);
    const double scale = (double)sim->run.steps / done;
    const double inner = (traffic->interior_s + traffic->boundary_s + traffic->pack_s) * scale;
    const bool leads = ht_simulation_leads(sim);
    unsigned transports = 0;
    for (int i = 0; ht_transport_name(i) != NULL; i++)
        for (int side = 0; side < 2; side++)
            if (traffic->transport[side] == ht_transport_name(i)) transports |= 1u << i;
    return (struct ht_parallel){.transports = transports,
                                .part = {[HT_TIME_KERNEL].mean = sim->run.kernel_s,
                                         [HT_TIME_STEP].mean = sim->run.step_s,
                                         [HT_TIME_INTERIOR].mean = traffic->interior_s * scale,
                                         [HT_TIME_BOUNDARY].mean = traffic->boundary_s * scale,
                                         [HT_TIME_GHOSTS].mean = traffic->ghosts_s * scale,
                                         [HT_TIME_PACK].mean = traffic->pack_s * scale,
                                         [HT_TIME_EXPOSED].mean = fmax(0, sim->run.step_s - inner)},
                                .exchanges = (double)traffic->exchanges / done,
                                .messages = (double)traffic->messages / done,
                                .bytes = (double)traffic->bytes / done,
                                .limit = leads ? ht_simulation_limit(sim) : 0,
                                .joules = leads ? joules_of(sim) : 0};
}

HT_ERR ht_parallel_gather(const struct ht_simulation *sim, struct ht_parallel *out) {
    const struct ht_stepper *s = &sim->run.stepper;
    struct ht_traffic traffic = {.half_steps = 0};
    if (s->ops->traffic != NULL) s->ops->traffic(s->self, &traffic);
    const struct ht_parallel own = own_part(sim, &traffic);
    HT_ARRAY(struct ht_parallel, all, sim->ranks);
    TRY(ht_comm_gather(sim->comm, &own, sizeof own, all));
    *out = (struct ht_parallel){.exchanges = all->exchanges};
    for (int r = 0; r < sim->ranks; r++) {
        for (int i = 0; i < HT_TIMES; i++) {
            out->part[i].mean += all[r].part[i].mean / sim->ranks;
            out->part[i].worst = fmax(out->part[i].worst, all[r].part[i].mean);
        }
        out->messages += all[r].messages;
        out->bytes += all[r].bytes;
        out->limit += all[r].limit;
        out->joules += all[r].joules;
        out->transports |= all[r].transports;
    }
    HT_EACH_BIT(i, out->transports)
        ht_text_append(out->transport, HT_TRANSPORT_NAMES, "%s%s", *out->transport ? " + " : "",
                       ht_transport_name(i));
    return HT_OK;
}

static void add_ranks(const struct ht_simulation *sim, struct ht_text *text) {
    if (sim->ranks == 1) return;
    ht_text_add(text, "  parallel  ");
    ht_ranks_add_devices(sim->ranks, sim->assignment, text);
    int64_t least = sim->planes[0], most = least;
    for (int r = 1; r < sim->ranks; r++) {
        least = ht_least(least, sim->planes[r]);
        most = ht_most(most, sim->planes[r]);
    }
    ht_text_add(text, "\n  slabs     %lld %s, halo depth %d, halo precision %s\n", (long long)least,
                least < most ? HT_KEY("to %lld planes", (long long)most) : "planes each",
                sim->plan->problem.halo.depth,
                HT_WORD(HALO_PRECISION, sim->plan->problem.halo.precision));
}

static void add_parts(const struct ht_parallel *p, struct ht_facts *f) {
    for (int n = 0; n < 2; n++) {
        const char *between = n ? "            worst rank:" : "  steps     mean of ranks:";
        for (int i = HT_TIME_INTERIOR; i < HT_TIMES; i++) {
            if (i == HT_TIME_GHOSTS) continue;
            ht_say(f, "%s %s %s", between, i == HT_TIME_PACK ? "packing" : part_name[i],
                   HT_SECONDS(n ? p->part[i].worst : p->part[i].mean));
            between = ",";
        }
        ht_say(f, "\n");
    }
}

void ht_parallel_add_json(const struct ht_simulation *sim, const struct ht_parallel *p,
                          struct ht_json *json) {
    if (sim->ranks == 1) return;
    ht_json_add(
        json, HT_OPEN("parallel", '{'), HT_INT("ranks", sim->ranks),
        HT_INT("devices", ht_ranks_devices(sim->ranks, sim->assignment)),
        HT_INT("machines", ht_ranks_machines(sim->ranks, sim->assignment)),
        HT_INTS("planes", sim->ranks, sim->planes),
        HT_INT("halo_depth", sim->plan->problem.halo.depth),
        HT_TEXT("halo_precision", HT_WORD(HALO_PRECISION, sim->plan->problem.halo.precision)));
    if (p != NULL) {
        ht_json_add(json, HT_TEXT("transport", p->transport),
                    HT_NUM("exchanges_per_step", p->exchanges),
                    HT_NUM("messages_per_step", p->messages), HT_NUM("bytes_per_step", p->bytes));
        for (int i = HT_TIME_STEP; i < HT_TIMES; i++)
            ht_json_add(json, HT_NUM(HT_KEY("%s_s", part_name[i]), p->part[i].mean),
                        HT_NUM(HT_KEY("%s_worst_s", part_name[i]), p->part[i].worst));
    }
    ht_json_add(json, HT_CLOSE('}'));
}

/* ---- before the run ---- */

static void add_unknowns(const struct ht_simulation *sim, struct ht_facts *f) {
    const struct ht_plan *plan = sim->plan;
    const int fields = ht_problem_stored(&plan->problem, HT_PRIMARY);
    const long long nodes = ht_grid_total(&plan->grid, HT_PRIMARY);
    const double unknowns = (double)nodes * ht_grid_coefs(&plan->grid) * fields;
    const char *number = HT_PREFIXED(unknowns);
    if (plan->problem.early != 0)
        ht_say(f, "  unknowns  %s: %d fields, staggered, at %lld points each\n", number, fields,
               nodes);
    else if (plan->problem.second != NULL)
        ht_say(f, "  unknowns  %s: %s at as many points\n", number,
               plan->eq.field[plan->problem.second->field].name);
    else
        ht_say(f, "  unknowns  %s: %d field%s with %d derivatives at %lld nodes\n", number, fields,
               fields > 1 ? "s" : "", ht_grid_coefs(&plan->grid), nodes);
    ht_fact(f, HT_NUM("unknowns", unknowns));
}

/* What errors are proportional to in smooth media: docs/developers/method.md, section 7. */
static void add_order(const struct ht_simulation *sim, struct ht_text *text) {
    const struct ht_medium *medium = sim->plan->medium;
    const int full = ht_plan_full_order(sim->plan), degree = medium->degree;
    const bool cells = sim->plan->grid.order > 0 && !medium->uniform; /* polynomials */
    if (medium->rough || (cells && degree == 0))
        ht_text_add(text, "; errors ~ h to h^2%s\n", degree > 0 || !cells ? " where it jumps" : "");
    else
        ht_text_add(text, "; errors ~ h^%d\n", cells ? (int)ht_least(degree + 1, full) : full);
}

/* Of the group with more of them. */
static void add_faces(const struct ht_plan *plan, struct ht_facts *f) {
    const double share =
        fmax(ht_pair_faces_share(plan->faces, 0), ht_pair_faces_share(plan->faces, 1));
    if (share > 1 / 3.0)
        ht_say(f, ", oblique faces at %.0f %% of the points: not coupled", 100 * share);
    else if (share > 0)
        ht_say(f, ", coupled at oblique faces%s, %.2g %% of the points",
               plan->eq.losses != 0 ? " by what does not relax" : "", 100 * share);
    ht_fact(f, HT_NUM("oblique_points", share));
}

static void add_medium(const struct ht_simulation *sim, struct ht_facts *f) {
    const struct ht_medium *medium = sim->plan->medium;
    const double least = medium->speed_min, fastest = medium->fastest;
    ht_say(f, "  medium    %s",
           medium->uniform ? "uniform" : HT_WORD(MEDIUM_TYPE, sim->params->medium.type));
    if (sim->plan->frame != NULL) {
        const struct ht_fit_counts fitted = ht_frame_counts(sim->plan->frame);
        const char *fit = HT_WORD(FIT, ht_frame_kind(medium, sim->params->medium.fit));
        ht_say(f, ", fitted: %s%s", fit, sim->plan->problem.fd.density ? ", density varies" : "");
        ht_fact(f, HT_TEXT("medium_fit", fit));
        if (fitted.values > 0)
            ht_fact(f, HT_INT("fitted_values", fitted.values), HT_INT("cut_values", fitted.cut));
    } else if (!medium->uniform && medium->degree == 0)
        ht_say(f, ", constant per node");
    else if (!medium->uniform)
        ht_say(f, ", cell polynomials of degree %d", medium->degree);
    if (sim->plan->faces != NULL) add_faces(sim->plan, f);
    if (least < fastest)
        ht_say(f, ", speeds %.4g to %.4g", least, fastest);
    else
        ht_say(f, ", speeds up to %.4g", fastest);
    add_order(sim, &f->text);
    ht_fact(f, HT_INT("medium_degree", sim->plan->problem.medium_degree));
    double share = NAN; /* the same of all files */
    struct ht_coverage c;
    for (int p = 0; p < medium->eq->system->nparameters; p++) {
        if (!ht_medium_covers(medium, p, &c)) continue;
        share = c.share;
        ht_say(f, "            %s covers %.3g %% of the box, %.4g to %.4g\n", c.text, 100 * share,
               c.least, c.most);
    }
    ht_fact(f, HT_NUM("medium_covers", share));
}

/* By Hermite methods of the case that docs/developers/absorbing.md measures. */
static void add_reflection(const struct ht_plan *plan, struct ht_facts *f) {
    const double point = ht_plan_layer_point_reflection(plan);
    double db[3];
    ht_fact_said(f, "absorbing_point_source_db", point,
                 "            expected reflection about %.0f dB of a point source, 6 cells from "
                 "the layers, 5 cells per wavelength\n",
                 point);
    if (plan->problem.second == NULL) return;
    ht_plan_layer_reflection(plan, db);
    ht_say(f,
           "            expected reflection %.0f, %.0f, %.0f dB at 0, 30, 60 degrees, 10 points "
           "per wavelength\n",
           db[0], db[1], db[2]);
    ht_fact(f, HT_NUMS("absorbing_reflection_db", 3, db));
}

/* "cpml of 8 cells at x1 lower and upper, x2 upper": of each number of cells the sides. */
static void add_thicknesses(const struct ht_layers *layers, struct ht_text *text) {
    int64_t done[6], kinds = 0;
    HT_EACH_LAYER(n, layer, layers) {
        const int64_t cells = layer->cells;
        bool said = false;
        for (int i = 0; i < kinds; i++) said = said || done[i] == cells;
        if (said) continue;
        ht_text_add(text, "%s of %lld cells at", kinds > 0 ? ";" : "", (long long)cells);
        done[kinds++] = cells;
        for (int k = n / 2; k < layers->dims; k++) {
            const bool low = layers->side[k][0].cells == cells;
            const bool high = layers->side[k][1].cells == cells;
            if (low || high)
                ht_text_add(text, "%s x%d%s%s%s", k > n / 2 ? "," : "", k + 1, low ? " lower" : "",
                            low && high ? " and" : "", high ? " upper" : "");
        }
    }
}

/* Words per point and step: of the update in the interior u, d, the modulus and both results; of
 * each layer at a point u, the modulus, d, two memories, and the results of these and u; of a
 * sponge u and d, read and written. */
static double layer_share(const struct ht_plan *plan) {
    const double inner = 5, words = plan->layers.type == HT_ABSORBING_SPONGE ? 4 : 9;
    double layers = 0;
    HT_EACH_LAYER(n, layer, &plan->layers)
        layers += (double)layer->cells / (double)ht_grid_nodes(&plan->grid, HT_PRIMARY, n / 2);
    return words * layers / (inner + words * layers);
}

/* A line for each mixing: where it is, why, and what is left of waves of 15 cells. */
static void add_mixing(const struct ht_plan *plan, struct ht_facts *f) {
    const struct ht_layers *layers = &plan->layers;
    double mix[6] = {0}, db[2];
    if (!(layers->mix > 0) || layers->type != HT_ABSORBING_CPML) return;
    for (int n = 0; n < 2 * layers->dims; n++) mix[n] = layers->side[n / 2][n % 2].mix;
    ht_fact(f, HT_NUMS("absorbing_mix", 2 * layers->dims, mix));
    for (int first = 0; first < 6; first++) { /* of each mixing */
        const double next = mix[first];
        double guide = 0;
        bool fluid = false, said = next == 0 || layers->side[first / 2][first % 2].cells == 0;
        for (int n = 0; n < first; n++) said = said || mix[n] == next;
        if (said) continue;
        ht_say(f, "            mixing %g at", next);
        for (int n = first; n < 6; n++) {
            const struct ht_layer *layer = &layers->side[n / 2][n % 2];
            if (layer->cells == 0 || mix[n] != next) continue;
            ht_say(f, " x%d %s,", n / 2 + 1, n % 2 ? "upper" : "lower");
            guide = fmax(guide, layer->guide);
            fluid = fluid || layer->fluid;
        }
        if (fluid) ht_say(f, " with fluid beside solid;");
        if (guide > 1.2) ht_say(f, " moduli and density up to %.3g times those around;", guide);
        if (ht_plan_layer_mixed_db(plan, next, db))
            ht_say(f, " about %.0f dB of P, %.0f dB of S waves come back", db[0], db[1]);
        ht_say(f, "\n");
    }
    if (ht_plan_layer_mixed_db(plan, layers->mix, db))
        ht_fact(f, HT_NUMS("absorbing_mix_db", 2, db));
}

static void add_layers(const struct ht_simulation *sim, struct ht_facts *f) {
    const struct ht_layers *layers = sim->plan->problem.layers;
    if (layers == NULL) return;
    const char *type = HT_WORD(ABSORBING, layers->type);
    ht_fact(f, HT_TEXT("absorbing", type), HT_INT("absorbing_bytes", sim->budget.layers));
    ht_say(f, "  absorbing %s", type);
    add_thicknesses(layers, &f->text);
    if (layers->type == HT_ABSORBING_CPML && layers->profile_degree != 0)
        ht_say(f, "; %s about a node", layers->profile_degree == 2 ? "quadratic" : "cubic");
    if (sim->plan->grid.order == 0 || layers->type == HT_ABSORBING_CPML)
        ht_say(f, "; the medium is constant along their normals");
    ht_say(f, "\n");
    add_reflection(sim->plan, f);
    add_mixing(sim->plan, f);
    const double part = 0.01, longest = ht_plan_layer_longest(sim->plan, part);
    double db[2];
    if (ht_plan_layer_shots_db(sim->plan, db)) {
        ht_say(
            f,
            "            expected of the sources' own waves %.0f dB at 0, %.0f dB at 60 degrees\n",
            db[0], db[1]);
        ht_fact(f, HT_NUMS("absorbing_sources_db", 2, db));
    }
    if (isfinite(longest))
        ht_say(f, "            %g %% and more come back of waves longer than %.3g\n", 100 * part,
               longest);
    if (sim->plan->grid.order > 0 && layers->type == HT_ABSORBING_SPONGE) {
        double whole[3], half[3];
        ht_plan_sponge_reflection(sim->plan, 1, whole);
        ht_plan_sponge_reflection(sim->plan, 2, half);
        ht_say(
            f,
            "            expected reflection %.0f, %.0f, %.0f dB at 0, 30, 60 degrees of wavelets "
            "as long as the layer is thick,\n"
            "            %.0f, %.0f, %.0f dB of half the length\n",
            whole[0], whole[1], whole[2], half[0], half[1], half[2]);
        ht_fact(f, HT_NUMS("absorbing_reflection_of_thickness_db", 3, whole));
        return;
    }
    ht_say(f, "            %s of memory", HT_BYTES(sim->budget.layers));
    if (sim->plan->problem.second != NULL)
        ht_say(f, ", %.2g %% of the memory traffic", 100 * layer_share(sim->plan));
    ht_say(f, "\n");
}

static void add_kernels(const struct ht_simulation *sim, struct ht_facts *f) {
    const int cells = sim->kernels.shape[0].cells; /* 0: whole rows */
    const char *layout = sim->tuning.variant->sorted ? "sorted"
                         : sim->tuning.block > 1     ? "blocked"
                                                     : "tensor";
    ht_say(f, "  kernels   %s, %s, %s layout", sim->tuning.variant->name,
           ht_real_name(sim->tuning.fp64), layout);
    if (cells > 0) ht_say(f, ", %d cell%s per group", cells, cells > 1 ? "s" : "");
    ht_say(f, "%s\n", sim->tuned ? " (tuned)" : "");
    ht_fact(f, HT_TEXT("variant", sim->tuning.variant->name), HT_TEXT("layout", layout),
            HT_INT("cells_per_group", cells));
    if (sim->kernels.step[0] == NULL) return;
    ht_fact(f, HT_NUM("compile_s", sim->compile_s),
            HT_BOOL("compile_cached", ht_kernels_cached(&sim->kernels)));
}

static void add_device(const struct ht_simulation *sim, struct ht_facts *f) {
    const struct ht_device_info *info = &sim->info;
    ht_fact(f, HT_TEXT("precision", ht_real_name(sim->tuning.fp64)));
    if (sim->device == NULL && !sim->oracle) {
        ht_say(f, "  device    none: %s\n", sim->no_device);
        return;
    }
    ht_say(f, "  device    %s (%s, driver %s, %s)\n", info->name, info->backend, info->driver,
           HT_BYTES(info->memory));
    ht_fact(f, HT_TEXT("device", info->name), HT_TEXT("driver", info->driver),
            HT_TEXT("backend", info->backend), HT_INT("device_memory_bytes", info->memory));
    if (sim->oracle)
        ht_say(f, "  kernels   none: double, one core\n");
    else
        add_kernels(sim, f);
}

/* One number where it is sure within a factor of 3. */
static void add_accuracy_text(const struct ht_plan *plan, struct ht_text *text) {
    const struct ht_expected *e = &plan->expected;
    if (!(plan->cells_per_wavelength > 0)) {
        if (!plan->solution->rest && plan->steps > 0)
            ht_text_add(
                text, "  accuracy  unknown: initial.frequency, the data's highest, is not given\n");
        return;
    }
    ht_text_add(text, "  accuracy  %.3g cells per wavelength", plan->cells_per_wavelength);
    if (e->error == 0)
        ht_text_add(text, "\n");
    else if (e->error > 1)
        ht_text_add(text, ": not resolved\n");
    else if (e->varies && e->limited && !e->jumps)
        ht_text_add(text,
                    ": expected error up to %.1e at the end, without the medium's own, ~ h^%d\n",
                    e->high, plan->medium->degree + 1);
    else if (e->varies)
        ht_text_add(text, ": expected error up to %.1e at the end, %s\n", e->high,
                    !e->jumps ? "where the medium is smooth"
                    : plan->frame == NULL
                        ? "in smooth parts of the medium only"
                        : "and what its jumps add, which is not known beforehand");
    else if (e->low == 0)
        ht_text_add(text, ": expected error up to %.1e at the end\n", e->high);
    else if (e->error > e->high / 3 && e->error < 3 * e->low)
        ht_text_add(text, ": expected error %.1e at the end\n", e->error);
    else
        ht_text_add(text, ": expected error %.1e to %.1e at the end\n", e->low, e->high);
}

static void add_accuracy(const struct ht_plan *plan, struct ht_facts *f) {
    const struct ht_expected *e = &plan->expected;
    add_accuracy_text(plan, &f->text);
    ht_fact(f, HT_KNOWN("cells_per_wavelength", plan->cells_per_wavelength));
    if (!(e->error > 0)) return;
    const char *where = !e->varies   ? NULL
                        : e->jumps   ? "smooth parts"
                        : e->limited ? "without the medium's own"
                                     : "smooth medium";
    ht_fact(f, HT_NUM("expected_error", e->error), HT_NUM("expected_error_low", e->low),
            HT_NUM("expected_error_high", e->high), HT_TEXT("expected_error_where", where));
}

/* The Gaussians of Hermite methods; in JSON the largest of all groups. */
static void add_forms(const struct ht_duhamel *d, struct ht_facts *f) {
    const int most = 8;
    double error = 0, radius = 0, travel = 0;
    HT_EACH_AT(i, const struct ht_source_form, form, d->form, d->shots->count) {
        error = fmax(error, form->error);
        radius = fmax(radius, form->radius);
        travel = fmax(travel, form->travel);
        if (i < most && form->radius > 0)
            ht_say(f,
                   "            group %d: radius %g cells, order %d, reach %.2g, errs by at most "
                   "%.1e; the scheme by about %.1e ten wavelengths away\n",
                   i + 1, form->radius, 2 * form->order, ht_source_reach_most(form), form->error,
                   form->travel);
    }
    if (d->shots->count > most) ht_say(f, "            and %d more\n", d->shots->count - most);
    ht_fact(f, HT_NUM("sources_radius", radius), HT_NUM("sources_error", error),
            HT_NUM("sources_travel_error", travel));
}

static void add_shots(const struct ht_simulation *sim, struct ht_facts *f) {
    const struct ht_plan *plan = sim->plan;
    const struct ht_shots *shots = plan->shots;
    struct ht_shot_bytes bytes;
    int points = 0, other[32] = {0}; /* of types that are not made of points */
    if (shots == NULL) return;
    HT_EACH_SHOT(shot, shots) {
        if (shot->points > 0 && !shot->type->flat && !(shot->width > 0))
            points += shot->points;
        else
            other[shot->type - ht_source_types]++;
    }
    ht_say(f, "  sources   %d", shots->count);
    if (points > 0) ht_say(f, " at %d point%s", points, points > 1 ? "s" : "");
    for (int t = 0; ht_source_types[t].word != NULL; t++)
        if (other[t] > 0) ht_say(f, ", %d of type %s", other[t], ht_source_types[t].word);
    ht_say(f, ", until %.4g; frequencies up to %.4g, %.3g %s per wavelength there of %.2g needed",
           shots->end, shots->highest, ht_plan_shot_points(plan),
           plan->duhamel != NULL ? "cells" : "points", ht_plan_needed_points(plan));
    if (ht_plan_shot_bytes(plan, sim->tuning.fp64, &bytes) == HT_OK && bytes.device > 0)
        ht_say(f, "; at most %s on the device", HT_BYTES(bytes.device));
    ht_say(f, "\n");
    ht_fact(f, HT_INT("sources", shots->count), HT_NUM("sources_highest_frequency", shots->highest),
            HT_NUM("sources_points_per_wavelength", ht_plan_shot_points(plan)));
    struct ht_quality_band band;
    if (ht_plan_quality(plan, &band) == HT_OK && band.group > 0) {
        ht_say(f, "            quality factors at frequency %.4g, sources.%d of %.3g in the mean\n",
               band.frequency, band.group, band.mean);
        ht_fact(f, HT_NUM("q_frequency", band.frequency),
                HT_NUM("sources_mean_frequency", band.mean));
    }
    if (plan->duhamel != NULL) add_forms(plan->duhamel, f);
}

/* Before the run: sources and receivers are those of all. */
static void add_survey(const struct ht_simulation *sim, struct ht_facts *f) {
    const struct ht_survey *survey = sim->survey;
    if (survey == NULL || survey->at >= 0) return;
    ht_say(f, "  shots     %d", survey->count);
    if (survey->groups > 1)
        ht_say(f, ", %d at a time by groups of %d rank%s", survey->groups, sim->ranks,
               sim->ranks > 1 ? "s" : "");
    ht_say(f, "; memory is that of the largest\n");
    ht_fact(f, HT_INT("shots", survey->count), HT_INT("shot_groups", survey->groups));
}

static void add_steps(const struct ht_simulation *sim, struct ht_facts *f) {
    const struct ht_plan *plan = sim->plan;
    const char *mark = ht_scheme_mark(plan->problem.scheme);
    const char *terms = plan->grid.order > 0       ? "Taylor stages"
                        : plan->problem.stages > 1 ? "terms in time"
                        : plan->problem.layers == NULL || plan->layers.type == HT_ABSORBING_SPONGE
                            ? "term in time"
                            : "term in time, as absorbing layers take";
    ht_say(f, "  time      %lld steps of %.6g to %.6g: cfl %.3g of at most %.3g, %s%s%d %s\n",
           (long long)plan->steps, plan->problem.dt, sim->params->time.end, plan->cfl,
           plan->cfl_limit, mark, mark[0] ? ", " : "", plan->problem.stages, terms);
    ht_fact(f, HT_INT("steps", plan->steps), HT_NUM("dt", plan->problem.dt),
            HT_NUM("time_end", sim->params->time.end), HT_NUM("cfl", plan->cfl),
            HT_NUM("cfl_limit", plan->cfl_limit), HT_INT("stages", plan->problem.stages));
    add_accuracy(plan, f);
}

static void add_outputs(const struct ht_plan *plan, struct ht_facts *f) {
    const bool snapshots = plan->snapshots_off, pictures = plan->pictures_off;
    if (snapshots || pictures)
        ht_say(f,
               "  outputs   %s%s%s at the steps nearest to their times, up to half a step (%.2g) "
               "off\n",
               snapshots ? "snapshots" : "", snapshots && pictures ? " and " : "",
               pictures ? "pictures" : "", plan->problem.dt / 2);
}

static void add_receivers(const struct ht_simulation *sim, struct ht_facts *f) {
    const struct ht_receivers *all = sim->plan->receivers;
    const int most = 8;
    if (all == NULL) return;
    ht_say(f, "  receivers %lld trace%s of %d group%s: %s in traces.h5, at most %s on the device\n",
           (long long)all->traces, all->traces == 1 ? "" : "s", all->count,
           all->count == 1 ? "" : "s", HT_BYTES(all->bytes),
           HT_BYTES(ht_sampler_bytes(sim->plan, sim->tuning.fp64)));
    for (int n = 0; n < all->count && n < most; n++) {
        const struct ht_receiver_group *group = &all->group[n];
        ht_say(f, "            %s: %lld of", group->name, (long long)group->count);
        for (int r = 0; r < group->readings; r++) ht_say(f, " %s", group->reading[r].name);
        ht_say(f, ", %lld samples ", (long long)group->samples);
        if (group->every > 0)
            ht_say(f, "%.6g apart from %.6g on\n", group->every, group->start);
        else
            ht_say(f, "at the steps, %.6g apart\n", all->dt);
    }
    if (all->count > most) ht_say(f, "            and %d more\n", all->count - most);
    ht_fact(f, HT_INT("traces", all->traces), HT_INT("trace_bytes", all->bytes));
}

static void add_maps(const struct ht_simulation *sim, struct ht_facts *f) {
    const struct ht_plan *plan = sim->plan;
    const int count = plan->params->output.maps.count;
    const bool fp64 = sim->tuning.fp64;
    const struct ht_variant *variant = sim->tuning.variant;
    const struct ht_spec spec = ht_problem_spec(&plan->problem, &sim->tuning, HT_PRIMARY);
    struct ht_field_map map;
    if (count > 0)
        ht_say(f, "  maps      of the device: %s\n",
               HT_BYTES(ht_maps_bytes(plan, variant, fp64, false)));
    for (int n = 0; n < count && ht_map_find(plan, variant, fp64, n, &map) == HT_OK; n++) {
        const char *between = ": ";
        ht_say(f, "            %s", map.name);
        HT_EACH_BIT(kind, map.shape.what) {
            ht_say(f, "%s%s", between, HT_WORD(MAP, kind));
            between = ", ";
        }
        if (map.shape.waves > 0)
            ht_say(f, "%s%d frequenc%s", between, map.shape.waves,
                   map.shape.waves > 1 ? "ies" : "y");
        ht_say(f, " of %s at %s nodes, each %.3g", plan->eq.field[map.field].name,
               HT_EXTENTS(plan->grid.dims, map.count), (double)map.every * plan->problem.dt);
        ht_say(f, "%s; about %.2g %% of the steps' memory traffic\n",
               map.shape.window > 0 ? ", by the steps themselves" : "",
               100 * map.moved / (2 * ht_cost_minimum(&spec, spec.stages).bytes));
        if (map.lacks > 0)
            ht_say(f, "            extremes lack up to %.2g %% of the shortest waves",
                   100 * map.lacks);
        if (map.lacks > 0 && map.of_pulse > 0)
            ht_say(f, ", %.2g %% of a pulse of the sources' frequencies", 100 * map.of_pulse);
        if (map.lacks > 0) ht_say(f, "\n");
    }
}

void ht_report_plan(const struct ht_simulation *sim, struct ht_facts *f) {
    const struct ht_plan *plan = sim->plan;
    const struct ht_grid *grid = &plan->grid, box = ht_grid_inner(grid);
    const struct ht_system *system = plan->eq.system;
    const char *name = plan->problem.scheme->name;
    const char *why = plan->chosen_by[0] != '\0' ? plan->chosen_by : NULL;
    ht_say(f, "htwave %s\n  system    %s: %s\n  scheme    %s", HT_VERSION, system->name,
           system->title, name);
    if (grid->order == 0)
        ht_say(f, " of order %d in space, %d in time%s", plan->order, 2 * plan->problem.stages,
               plan->problem.fd.undispersed ? ", dispersion in time removed from traces" : "");
    else
        ht_say(f, ", N = %d", plan->order);
    if (why) ht_say(f, " (%s)", why);
    ht_say(f, "\n  grid      %s cells of ", HT_EXTENTS(grid->dims, box.cells));
    for (int k = 0; k < grid->dims; k++) ht_say(f, "%s%.4g", k ? " x " : "", grid->h[k]);
    if (memcmp(box.cells, grid->cells, sizeof box.cells) != 0)
        ht_say(f, ", with layers %s", HT_EXTENTS(grid->dims, grid->cells));
    ht_say(f, "\n");
    ht_fact(f, HT_TEXT("system", system->name), HT_TEXT("scheme", name),
            HT_TEXT("scheme_chosen_by", why), HT_INT("order", plan->order),
            HT_INT("dimensions", grid->dims), HT_INTS("cells", grid->dims, box.cells),
            HT_INTS("cells_with_layers", grid->dims, grid->cells));
    add_unknowns(sim, f);
    add_medium(sim, f);
    add_layers(sim, f);
    add_ranks(sim, &f->text);
    add_device(sim, f);
    const struct ht_budget *b = &sim->budget;
    ht_say(f, "  memory    %s%s: state %s, medium %s, interpolants %s", HT_BYTES(b->total),
           sim->ranks > 1 ? " of rank 0" : "", HT_BYTES(b->state), HT_BYTES(b->medium),
           HT_BYTES(b->interpolants));
    if (sim->info.memory > 0)
        ht_say(f, "; %.2g %% of the device", 100.0 * (double)b->total / (double)sim->info.memory);
    ht_say(f, "\n");
    ht_fact(f, HT_INT("memory_bytes", b->total));
    add_steps(sim, f);
    add_survey(sim, f);
    add_shots(sim, f);
    add_outputs(plan, f);
    add_receivers(sim, f);
    add_maps(sim, f);
}

/* ---- notes ---- */

static void note_fit(const struct ht_plan *plan) {
    if (plan->frame == NULL) return;
    const struct ht_fit_counts c = ht_frame_counts(plan->frame);
    if (c.cut > 0)
        ht_note("the fit of the medium cut %lld of %lld values at half the least near them, the "
                "first near %s: thin layers or large contrasts; more cells fit them better",
                (long long)c.cut, (long long)c.values, HT_PLACED(&plan->grid, c.place));
}

/* Traces of one term in time that keep its dispersion, without being asked to:
 * a wave omega has the frequency (2/dt) asin(omega dt/2). */
static void note_dispersion(const struct ht_plan *plan) {
    const double dt = plan->problem.dt, whole = 2 * acos(-1.0);
    /* Radians per time of the fastest wave that is known; 0: none is. */
    double square = 0;
    char size[160] = "";
    if (plan->problem.stages > 1 || plan->problem.fd.undispersed || plan->receivers == NULL ||
        !(dt > 0) || plan->params->time.dispersion == HT_DISPERSION_KEEP)
        return;
    for (int k = 0; k < plan->grid.dims; k++) square += pow(plan->solution->wavenumber[k], 2);
    const double speed = plan->medium->fastest;
    const double omega = fmax(speed * sqrt(square), plan->shots ? whole * plan->shots->highest : 0);
    const double faster = 2 * asin(fmin(omega * dt / 2, 1)) - omega * dt;
    if (omega > 0)
        snprintf(size, sizeof size,
                 ": the highest frequency, %.3g, is %.2g %% too high, at the end by %.2g periods",
                 omega / whole, 100 * faster / (omega * dt), faster * (double)plan->steps / whole);
    ht_note("traces keep the dispersion of one term in time, since the run begins with waves that "
            "move or has plane waves from outside%s; %s errs less",
            size, plan->problem.second == NULL ? "a smaller time.cfl" : "time.stages = 2");
}

/* Of what initial.values leaves out. */
static void note_left_out(const struct ht_plan *plan) {
    char names[96] = "";
    const enum ht_data_type type = plan->params->initial.type;
    if (plan->params->initial.values.count == 0) return;
    if (type != HT_DATA_FILE && type != HT_DATA_EXPRESSION) return;
    for (int f = 0; f < plan->eq.nfields; f++)
        if (!ht_solution_occurs(plan->solution, f))
            ht_text_append(names, sizeof names, "%s%s", *names ? ", " : "", plan->eq.field[f].name);
    if (*names) ht_note("initial.values leaves out %s: 0 at the start", names);
}

void ht_report_notes(const struct ht_simulation *sim) {
    const struct ht_plan *plan = sim->plan;
    const struct ht_medium *medium = plan->medium;
    const struct ht_receivers *all = plan->receivers;
    const struct ht_params *params = sim->params;
    /* The default data are made for a box of size 1. */
    if (plan->shots == NULL && !ht_params_gives(params, "initial"))
        ht_note("neither sources nor initial data are given: a Gaussian pulse of width %g about "
                "(0.5, ..)",
                params->initial.single.width);
    if (plan->expected.error > 0.05 ||
        (plan->cells_per_wavelength > 0 && plan->cells_per_wavelength < 1 &&
         !plan->solution->single_wave))
        ht_note("the shortest wave is hardly resolved: take more cells or a higher grid.order");
    note_left_out(plan);
    if (params->output.pictures && !ht_output_draws(params))
        ht_note("no pictures are drawn: this htwave was built without cairo");
    /* Of a wave of four points per wavelength, where it is slowest. */
    const double points = 4, period = points * ht_grid_widest(&plan->grid) / medium->speed_min;
    for (int n = 0; all != NULL && n < all->count; n++)
        if (all->group[n].every > period / 2)
            ht_note("receivers.%d.every = %.6g is more than half a period of the shortest wave "
                    "that the grid carries, %.6g at %g points per wavelength: such waves are "
                    "recorded as slower ones",
                    n + 1, all->group[n].every, period, points);
    if (plan->grid.order == 0) {
        if (params->output.series && plan->eq.first_order && plan->problem.second != NULL &&
            (plan->shots != NULL || plan->problem.layers != NULL))
            ht_note("the energy in series.csv is not known: finite differences compute p alone, "
                    "and sources or absorbing sides change it");
        note_fit(plan);
        note_dispersion(plan);
        return;
    }
    if (medium->flattened > 0 && medium->degree > 0)
        ht_note("the medium is too rough for polynomials at about %lld nodes of both grids; it is "
                "constant about these",
                (long long)medium->flattened);
    if (medium->rough)
        ht_note("where the medium jumps, runs of every order can grow; the energy is watched, and "
                "a run that grows ends with exit code 3");
    if (medium->wall_gradient)
        ht_note("the medium varies across a wall: the order drops to about 2 near it");
}

/* ---- after the run ---- */

static double half_steps(const struct ht_simulation *sim) {
    return 2.0 * (double)sim->run.steps * ht_simulation_cells(sim);
}

static double drift(double initial, double final) {
    return initial > 0 ? final / initial - 1 : NAN;
}

static void add_rate(const struct ht_simulation *sim, const struct ht_result *result,
                     struct ht_facts *f) {
    /* Alone by the device's clock; of several ranks by the slowest host's, so that waiting for each
     * other counts. */
    const double seconds =
        sim->ranks > 1 ? result->parallel.part[HT_TIME_STEP].worst : sim->run.kernel_s;
    const double per_s =
        seconds > 0 && sim->run.steps > 0 ? half_steps(sim) / seconds : (double)NAN;
    const double part = per_s / result->parallel.limit;
    /* Above 1 where other work slowed the device down while its limit was measured. */
    const double fraction = part <= 1 ? part : (double)NAN;
    const struct ht_limits *limits = &sim->limits;
    ht_fact(f, HT_NUM("cell_half_steps_per_s", per_s), HT_NUM("limit_fraction", fraction),
            HT_KNOWN("limit_bytes_per_s", limits->bytes_per_s),
            HT_KNOWN("limit_fma_per_s", limits->fma_per_s));
    if (!isfinite(per_s)) return;
    ht_say(f, "  rate      %s cell half-steps/s", HT_PREFIXED(per_s));
    if (isfinite(fraction))
        ht_say(f, ", %.2g %% of the %s limit (%s copies %sB/s and does %sFMA/s)", 100 * fraction,
               sim->ranks > 1 ? "devices'" : "device's", sim->ranks > 1 ? "that of rank 0" : "it",
               HT_PREFIXED(limits->bytes_per_s), HT_PREFIXED(limits->fma_per_s));
    struct ht_limits later; /* of further runs */
    if (part > 1 && sim->device != NULL &&
        ht_limits_measure(sim->device, sim->tuning.fp64, true, &later) == HT_OK)
        ht_say(f, ", above the device's limit as it was measured, when it had other work");
    ht_say(f, "\n");
}

static void add_energy(const struct ht_simulation *sim, const struct ht_result *result,
                       struct ht_facts *f) {
    const double *kept = result->conserved.energy;
    const double moved = drift(result->energy.initial, result->energy.final);
    /* In single precision the changes of Hermite leapfrog's form, of derivatives of order N + 1,
     * may be those of rounding alone: there the physical energy tells. */
    const struct ht_problem *p = &sim->plan->problem;
    const bool rounds = !sim->tuning.fp64 && p->layers == NULL && p->scheme->invariant != NULL &&
                        p->scheme->invariant->physical != NULL;
    const double lost = rounds ? NAN : drift(kept[0], kept[1]);
    const char *since = sim->plan->shots ? "after the sources" : "at the start";
    ht_fact(f, HT_NUM("energy_initial", result->energy.initial),
            HT_NUM("energy_rise", result->energy.rise), HT_NUM("energy_drift", moved));
    if (isfinite(moved) && !(isfinite(lost) && p->layers != NULL))
        ht_say(f, "  energy    %.6g at the start, changed by %+.2e%s\n", result->energy.initial,
               moved, result->energy.watch.grows ? "; it rose, see above" : "");
    if (isfinite(lost) && p->layers != NULL)
        ht_say(f, "  energy    %.6g %s, %.2g of it left\n", kept[0], since, 1 + lost);
    else if (isfinite(lost))
        ht_say(f, "  conserved %.6g %s, changed by %+.2e\n", kept[0], since, lost);
    ht_fact(f, HT_NUM("conserved_energy_initial", kept[0]), HT_NUM("conserved_energy_drift", lost));
}

void ht_report_result(const struct ht_simulation *sim, const struct ht_result *result,
                      const struct ht_output *output, struct ht_facts *f) {
    const double joules = result->parallel.joules;
    bool alone = sim->ranks == 1;
    const struct ht_run *run = &sim->run;
    double steps = alone ? run->kernel_s : run->step_s;
    double setup = sim->tune_s + sim->compile_s + sim->selfcheck_s + sim->measure_s + sim->start_s;
    double rest = result->wall_s - setup - steps - run->look_s;
    ht_say(f, "%s step %lld of %lld, time %.6g, in %s\n",
           run->interrupted ? "interrupted at" : "done:", (long long)run->steps,
           (long long)sim->plan->steps, ht_run_time(run), HT_SECONDS(result->wall_s));
    ht_say(f, "  wall time %s %s, output %s, setup %s, rest %s\n", alone ? "kernels" : "steps",
           HT_SECONDS(steps), HT_SECONDS(run->look_s), HT_SECONDS(setup),
           HT_SECONDS(fmax(rest, 0)));
    if (!sim->oracle)
        ht_say(f, "  setup     compile %s%s, self-check %s, measuring the device %s, start %s\n",
               HT_SECONDS(sim->compile_s), ht_kernels_cached(&sim->kernels) ? " (cached)" : "",
               HT_SECONDS(sim->selfcheck_s), HT_SECONDS(sim->measure_s), HT_SECONDS(sim->start_s));
    ht_fact(f, HT_BOOL("interrupted", run->interrupted), HT_INT("steps_done", run->steps),
            HT_NUM("wall_s", result->wall_s), HT_NUM("setup_s", setup),
            HT_NUM("step_s", result->parallel.part[HT_TIME_STEP].mean),
            HT_NUM("kernel_s", result->parallel.part[HT_TIME_KERNEL].mean),
            HT_NUM("output_s", run->look_s), HT_NUM("selfcheck_ratio", sim->selfcheck_ratio),
            HT_BOOL("tuned", sim->tuned));
    add_rate(sim, result, f);
    if (sim->ranks != 1) {
        ht_say(f, "  exchange  %s: %.4g messages and %s per step\n", result->parallel.transport,
               result->parallel.messages, HT_BYTES(result->parallel.bytes));
        add_parts(&result->parallel, f);
    }
    ht_fact_said(f, "joules", joules,
                 "  power     %.4g J of the device%s, %.3g nJ per cell half-step\n", joules,
                 sim->ranks > 1 ? "s" : "", 1e9 * joules / half_steps(sim));
    add_energy(sim, result, f);
    ht_fact_said(f, "error_l2_relative", result->error, "  error     %.3e, relative L2 of %s\n",
                 result->error,
                 sim->plan->problem.scheme->two_level ? "the fields on the primary grid"
                                                      : "all fields");
    ht_output_report(output, f);
    ht_parallel_add_json(sim, &result->parallel, &f->json);
}
