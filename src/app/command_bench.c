/* htwave bench: measures the device and the rows and writes them as a table, CSV and JSON. */
#include "app.h"

struct row {
    const struct ht_system *system;
    const struct ht_scheme *scheme;
    struct ht_tuning tuning;
    int dims, order;
    int stages;   /* 0 in a plan: all */
    int64_t side; /* cells along each axis; 0 in a plan: chosen */
    int kernel;   /* results are of this kernel of the variant; -1: of all */
    bool density; /* varies; of finite differences */
    int machine;  /* its number in the list */
    /* ---- results ---- */
    bool done;     /* else skipped, see why */
    char why[160]; /* "" if no error */
    struct ht_shape shape;
    double fields;        /* stored fields, mean of both grids */
    struct ht_rate rate;  /* of a kernel alone: its median, no joules */
    double verified;      /* worst difference over its bound */
    struct ht_cost cost;  /* per cell, of the variant */
    struct ht_cost least; /* per cell, of the method */
    double fraction;      /* of the device's limit */
};

struct machine {
    struct ht_device_info info;
    struct ht_limits limits[2]; /* [double precision] */
    int left_out;               /* number of rows skipped for lack of time */
};

struct bench {
    struct ht_sweep sweep;
    struct ht_device *device; /* the last of the list, while it is measured */
    const struct ht_device_info *info;
    int machines;
    int64_t machine_room;
    struct machine *machine;
    char *cache;             /* of compiled kernels; NULL: none */
    const char *directory;   /* of the results */
    double gib, seconds;     /* largest state; time in all */
    int side;                /* 0: chosen */
    int cells, rows, planes; /* of the shape; 0: chosen */
    int stages;              /* 0: all */
    int count;
    int64_t room;
    struct row *row;
    bool wrong; /* a program disagrees with the reference */
};

static HT_ERR read_whole(const struct ht_args *args, const char *flag, int *out) {
    struct ht_integers given = {1, {0}};
    TRY(ht_args_integers(args, flag, 0, 1 << 24, &given));
    REQUIRE(given.count == 1, HT_ERR_INPUT, "%s: must be one number", flag);
    *out = given.number[0];
    return HT_OK;
}

static struct ht_spec spec_of(const struct row *row, const struct ht_equations *eq,
                              struct ht_part *test) {
    ht_test_problem_plain(eq, row->order, row->stages, row->scheme, test);
    test->problem.fd.density = row->density;
    return ht_problem_spec(&test->problem, &row->tuning, HT_PRIMARY);
}

/* Whether a flag's list has a word; not given: as usual. */
static bool wants(const struct bench *bench, const char *flag, const char *word, bool usual) {
    const bool given = ht_args_value(bench->sweep.args, flag) != NULL;
    return given ? ht_args_listed(bench->sweep.args, flag, word) : usual;
}

/* Plans a row for every variant that applies, by name, as the one that "auto" chooses, else those
 * made for the device. */
static HT_ERR plan_variants(struct bench *bench, struct row row) {
    const struct ht_equations eq = ht_equations_make(row.system, row.dims);
    struct ht_part test;
    const struct ht_spec spec = spec_of(&row, &eq, &test);
    const struct ht_variant *usual = ht_variant_choose("auto", &spec, bench->info);
    for (int v = 0; v < ht_variant_count(); v++) {
        const struct ht_variant *variant = row.tuning.variant = ht_variant_at(v);
        const bool suits = ht_variant_suits(variant, bench->info->gpu);
        if (!wants(bench, "--variants", variant->name, suits) &&
            !(variant == usual && wants(bench, "--variants", "auto", false)))
            continue;
        if (ht_variant_refuses(variant, &spec) != NULL) continue;
        /* A row of a variant; with --each its kernels have rows of their own. */
        const bool each = ht_args_value(bench->sweep.args, "--each") != NULL &&
                          variant->stage[1].kind != HT_STAGE_NONE;
        for (row.kernel = -1; row.kernel < (each ? 2 : 0); row.kernel++) {
            TRY(HT_GROW(bench->row, bench->count + 1, bench->room));
            bench->row[bench->count++] = row;
        }
    }
    return HT_OK;
}

/* Plans both layouts only if they are selected. */
static HT_ERR plan_layouts(struct bench *bench, struct row row) {
    if (row.scheme->nodal) {
        /* Finite differences have one layout; one and two terms, and uniform and varying density
         * are rows of their own, but for pairs, which have one term here and a uniform medium. */
        const struct ht_equations eq = ht_equations_make(row.system, row.dims);
        const int full = ht_scheme_full_stages(row.scheme, &eq, row.order);
        const int given = row.stages, most = given > 0 ? (int)ht_least(given, full) : full;
        row.tuning.block = 1;
        for (row.stages = given > 0 ? most : 1; row.stages <= most; row.stages++)
            for (int density = 0; density < full; density++) {
                row.density = density;
                TRY(plan_variants(bench, row));
            }
        return HT_OK;
    }
    for (int wide = 0; wide < 2; wide++) {
        row.tuning.block = !wide ? 1 : row.tuning.fp64 ? 2 : 4;
        if (wants(bench, "--layouts", ht_layout_name(row.tuning.block), wide == bench->info->gpu))
            TRY(plan_variants(bench, row));
    }
    return HT_OK;
}

/* By default in single precision alone on a (slow) CPU. */
static HT_ERR plan_rows(void *context, const struct ht_equations *eq,
                        const struct ht_scheme *scheme, int order, bool fp64) {
    struct bench *bench = context;
    const struct row row = {.system = eq->system,
                            .scheme = scheme,
                            .dims = eq->dims,
                            .order = order,
                            .kernel = -1,
                            .machine = bench->machines - 1,
                            .side = bench->side,
                            .stages = bench->stages,
                            .tuning = {.fp64 = fp64,
                                       .trim = bench->info->gpu,
                                       .ptx = bench->info->ptx,
                                       .ptx_own = bench->info->ptx_own,
                                       .cells = bench->cells,
                                       .rows = bench->rows,
                                       .planes = bench->planes}};
    if (fp64 && !wants(bench, "--precisions", "double", bench->info->gpu)) return HT_OK;
    /* Finite differences step one field of either system: those of one are rows. */
    for (int i = 0; scheme->nodal && i < bench->count; i++)
        if (bench->row[i].scheme == scheme && bench->row[i].dims == row.dims &&
            bench->row[i].machine == row.machine && bench->row[i].system != row.system)
            return HT_OK;
    return plan_layouts(bench, row);
}

static double cells_of(const struct row *row) {
    return pow((double)row->side, row->dims);
}

static double rate_of(const struct row *row) {
    return cells_of(row) / row->rate.median;
}

static double unknowns_of(const struct row *row) {
    return row->fields * pow(ht_scheme_degree(row->scheme, row->order) + 1, row->dims);
}

static const char *kernel_of(const struct row *row) {
    static const char *const name[] = {[HT_STAGE_INTERPOLATE_NAIVE] = "naive interpolation",
                                       [HT_STAGE_INTERPOLATE_GEMM] = "interpolation by gemm",
                                       [HT_STAGE_INTERPOLATE_ROLLED] = "rolled interpolation",
                                       [HT_STAGE_EVOLVE] = "evolution"};
    const struct ht_variant *variant = row->tuning.variant;
    const size_t kind = row->kernel < 0 ? 0 : (size_t)variant->stage[row->kernel].kind;
    return kind < sizeof name / sizeof *name && name[kind] ? name[kind] : variant->name;
}

static const char head[] =
    "system    scheme   d  N  q   kernels               prec.  layout    side        ms    cells/s "
    "unknowns/s  GFLOP/s    GB/s % limit   nJ/cell    check\n";

static void print_row(const struct row *row, struct ht_text *text) {
    const double joules = row->rate.joules;
    const char *nano = isfinite(joules) ? HT_KEY("%.4g", 1e9 * joules / cells_of(row)) : "-";
    ht_text_add(text,
                "%-9s %-8s %-2d %-2d %-3d %-21s %-6s %-7s %6lld %9.4g %10.4g %10.4g %8.4g %7.4g "
                "%7.2g %9s %8.2g\n",
                row->system->name, row->scheme->name, row->dims, row->order, row->stages,
                kernel_of(row), ht_real_name(row->tuning.fp64),
                row->density ? "density" : ht_layout_name(row->tuning.block), (long long)row->side,
                1e3 * row->rate.median, rate_of(row), unknowns_of(row) * rate_of(row),
                2e-9 * row->cost.fma * rate_of(row), 1e-9 * row->cost.bytes * rate_of(row),
                100 * row->fraction, nano, row->verified);
}

static HT_ERR measure_row(const struct bench *bench, struct row *row) {
    const struct ht_limits *all = bench->machine[row->machine].limits;
    const struct ht_equations eq = ht_equations_make(row->system, row->dims);
    struct ht_part plain, test;
    HT_ENDED(ht_kernels_destroy) struct ht_kernels kernels = {0};
    const struct ht_spec spec = spec_of(row, &eq, &plain);
    row->rate.joules = row->verified = NAN;
    row->stages = spec.stages;
    /* Cells per axis such that a half step is short enough at 2 % of the device's rate, the rate of
     * slow kernels. */
    static const int64_t usual[] = {1 << 20, 2048, 128};
    const double efficiency = 0.02, patience_s = bench->info->gpu ? 2 : 0.25;
    double fma = all[row->tuning.fp64].fma_per_s * efficiency * patience_s;
    int64_t most = usual[row->dims - 1];
    const bool one = plain.problem.grid->order == 0; /* value per node */
    if (row->dims == 3 && one) most = bench->info->gpu ? 512 : 256;
    if (row->side > 0) most = row->side;
    if (row->side > 0 || one) fma = INFINITY;
    row->side = ht_test_problem_cells(&plain.problem, &row->tuning, most, bench->gib * 0x1p30, fma);
    const int64_t cells[3] = {row->side, row->side, row->side};
    ht_test_problem(&plain.problem, cells, &test);
    row->fields = 0.5 * (ht_problem_stored(&test.problem, HT_PRIMARY) +
                         ht_problem_stored(&test.problem, HT_DUAL));
    TRY(ht_kernels_create(&test.problem, bench->device, &row->tuning, &kernels));
    row->shape = kernels.shape[0];
    const bool gpu = bench->info->gpu;
    struct ht_effort effort = {.warm = gpu ? 2 : 1,
                               .least = gpu ? 7 : 3,
                               .seconds = gpu ? 0.1 : 0.3,
                               .joules_of = gpu ? 0.5 : 0};
    TRY(ht_selfcheck(&test.problem, bench->device, &kernels, &row->verified));
    TRY(ht_rate_measure(&test, bench->device, &kernels, &effort, &row->rate));
    if (row->kernel >= 0) {
        row->rate.median = row->rate.best = row->rate.kernel[row->kernel];
        row->rate.joules = NAN;
    }
    const struct ht_limits *limits = &all[spec.fp64];
    row->cost = ht_variant_cost(row->tuning.variant, &spec, row->kernel);
    row->least = ht_cost_minimum(&spec, spec.stages);
    if (row->kernel >= 0) row->least = row->cost;
    row->fraction = rate_of(row) * fmax(row->least.bytes / limits->bytes_per_s,
                                        row->least.fma / limits->fma_per_s);
    row->done = true;
    return HT_OK;
}

static HT_ERR measure_rows(struct bench *bench, int first) {
    HT_ENDED(ht_progress_end) struct ht_progress progress;
    const double began = ht_clock();
    const struct ht_args *args = bench->sweep.args;
    const bool table = !args->json && ht_args_value(args, "--csv") == NULL;
    ht_progress_start(&progress, "rates", bench->count - first, "rows", 1);
    if (table) fputs(head, stdout);
    (void)fflush(stdout); /* a row takes long */
    for (int i = first; i < bench->count; i++) {
        HT_FREED_TEXT struct ht_text text = {0};
        struct row *row = &bench->row[i];
        if (ht_stop_wanted() || ht_clock() - began > bench->seconds) {
            snprintf(row->why, sizeof row->why, "no time left");
            bench->machine[row->machine].left_out++;
            continue;
        }
        /* Measures a row. If it fails, the reason is reported and the other rows continue. */
        if (measure_row(bench, row) != HT_OK) {
            snprintf(row->why, sizeof row->why, "%s", ht_err_message());
            ht_warn("rates, %s, N = %d, %s, %s: %s", row->system->name, row->order,
                    row->tuning.variant->name, ht_real_name(row->tuning.fp64), row->why);
            if (row->verified > 1) bench->wrong = true;
        }
        if (row->done) print_row(row, &text);
        if (table) TRY(ht_args_print(&text));
        ht_progress_update(&progress, i + 1 - first);
    }
    return HT_OK;
}

enum { COLUMNS = 36 };

/* Columns of a row for CSV and JSON. */
static int columns_of(const struct row *r, struct ht_member *v) {
    const double known = r->done ? 1 : NAN, rate = known * rate_of(r);
    const struct ht_equations eq = ht_equations_make(r->system, r->dims);
    const struct ht_member all[] = {
        HT_TEXT("case", "rates"),
        HT_TEXT("system", r->system->name),
        HT_TEXT("scheme", r->scheme->name),
        HT_NUM("dimensions", r->dims),
        HT_NUM("order", r->order),
        HT_NUM("stages", r->stages),
        HT_TEXT("variant", r->tuning.variant->name),
        HT_TEXT("kernels", kernel_of(r)),
        HT_TEXT("precision", ht_real_name(r->tuning.fp64)),
        HT_TEXT("medium", r->density ? "density" : "uniform"),
        HT_TEXT("layout", ht_layout_name(r->tuning.block)),
        HT_NUM("cells_per_group", r->shape.cells),
        HT_NUM("planes_per_group", r->shape.planes),
        HT_NUM("lanes", r->shape.group_size),
        HT_NUM("side", (double)r->side),
        HT_NUM("ms", 1e3 * known * r->rate.median),
        HT_NUM("ms_best", 1e3 * known * r->rate.best),
        HT_NUM("steps_timed", r->rate.timed),
        HT_NUM("cell_half_steps_per_s", rate),
        HT_NUM("unknowns_per_s", unknowns_of(r) * rate),
        HT_NUM("fma_per_cell", r->cost.fma),
        HT_NUM("bytes_per_cell", r->cost.bytes),
        HT_NUM("gflops", 2e-9 * r->cost.fma * rate),
        HT_NUM("gbytes_per_s", 1e-9 * r->cost.bytes * rate),
        HT_NUM("limit_fraction", known * r->fraction),
        HT_NUM("joules_per_half_step", known * r->rate.joules),
        HT_NUM("verified_ratio", known * r->verified),
        HT_NUM("largest_cfl", known * ht_scheme_cfl(r->scheme, &eq, r->order, r->stages)),
        HT_TEXT("note", r->why[0] ? r->why : NULL)};
    memcpy(v, all, sizeof all);
    return sizeof all / sizeof *all;
}

/* A line of CSV, or the line of its heads: JSON has the device and the like once for all rows. */
static void add_csv(const struct bench *bench, const struct row *r, bool heads,
                    struct ht_text *csv) {
    const struct machine *m = &bench->machine[r->machine];
    const struct ht_limits *limits = &m->limits[r->tuning.fp64];
    struct ht_member v[COLUMNS];
    const int n = columns_of(r, v);
    const struct ht_member more[] = {HT_NUM("limit_gflops", 2e-9 * limits->fma_per_s),
                                     HT_NUM("limit_gbytes_per_s", 1e-9 * limits->bytes_per_s),
                                     HT_TEXT("device", m->info.name),
                                     HT_TEXT("backend", m->info.backend),
                                     HT_TEXT("driver", m->info.driver),
                                     HT_TEXT("version", HT_VERSION)};
    const int all = n + (int)(sizeof more / sizeof *more);
    memcpy(v + n, more, sizeof more);
    for (int k = 0; k < all; k++) {
        const char *text = heads ? v[k].name : v[k].text;
        if (text != NULL && strpbrk(text, ",\"\n") != NULL)
            ht_text_add_quoted(csv, text, true);
        else if (text != NULL)
            ht_text_add(csv, "%s", text);
        else if (v[k].kind == HT_JSON_NUMBER && isfinite(v[k].number))
            ht_text_add(csv, "%.9g", v[k].number);
        ht_text_add(csv, "%s", k + 1 < all ? "," : "\n");
    }
}

static void add_machine(const struct bench *bench, int machine, struct ht_json *json) {
    const struct machine *m = &bench->machine[machine];
    ht_json_add(json, HT_TEXT("device", m->info.name), HT_TEXT("driver", m->info.driver),
                HT_TEXT("platform", m->info.platform), HT_TEXT("backend", m->info.backend),
                HT_OPEN("limits", '{'), HT_LIMIT_FACTS(m->limits), HT_CLOSE('}'),
                HT_INT("left_out", m->left_out), HT_OPEN("rows", '['));
    for (int i = 0; i < bench->count; i++) {
        struct ht_member v[COLUMNS] = {{0}}; /* the rest: HT_JSON_END */
        if (bench->row[i].machine != machine) continue;
        (void)columns_of(&bench->row[i], v);
        ht_json_add(json, HT_OPEN(NULL, '{'));
        ht_json_list(json, v);
        ht_json_add(json, HT_CLOSE('}'));
    }
    ht_json_add(json, HT_CLOSE(']'));
}

static void add_json(const struct bench *bench, struct ht_json *json) {
    ht_json_stamp(json);
    if (bench->machines == 1) add_machine(bench, 0, json);
    if (bench->machines > 1) ht_json_add(json, HT_OPEN("devices", '['));
    for (int m = 0; bench->machines > 1 && m < bench->machines; m++) {
        ht_json_add(json, HT_OPEN(NULL, '{'));
        add_machine(bench, m, json);
        ht_json_add(json, HT_CLOSE('}'));
    }
    if (bench->machines > 1) ht_json_add(json, HT_CLOSE(']'));
    ht_json_add(json, HT_CLOSE('}'));
}

static bool of_one_problem(const struct row *a, const struct row *b) {
    return a->system == b->system && a->scheme == b->scheme && a->dims == b->dims &&
           a->order == b->order && a->stages == b->stages && a->density == b->density &&
           a->tuning.fp64 == b->tuning.fp64;
}

/* The fastest row of a problem on a machine; NULL: it has none. */
static const struct row *fastest(const struct bench *bench, const struct row *like, int machine) {
    const struct row *best = NULL;
    for (const struct row *r = bench->row; r < bench->row + bench->count; r++)
        if (r->done && r->kernel < 0 && r->machine == machine && of_one_problem(r, like) &&
            (best == NULL || rate_of(r) > rate_of(best)))
            best = r;
    return best;
}

/* A line for each problem, with the rate of the fastest kernels on each device. */
static HT_ERR print_beside(const struct bench *bench) {
    HT_FREED_TEXT struct ht_text text = {0};
    ht_text_add(&text, "\n");
    for (int m = 0; m < bench->machines; m++)
        ht_text_add(&text, "%d: %s, %s\n", bench->machine[m].info.index,
                    bench->machine[m].info.name, bench->machine[m].info.backend);
    ht_text_add(&text, "system    scheme   d  N  q   prec.  medium ");
    for (int m = 0; m < bench->machines; m++)
        ht_text_add(&text, "  %10s %d %-16s", "cells/s of", bench->machine[m].info.index, "by");
    HT_EACH_AT(i, const struct row, row, bench->row, bench->count) {
        int before = 0;
        while (before < i && !(bench->row[before].done && of_one_problem(&bench->row[before], row)))
            before++;
        if (before < i || !row->done) continue;
        ht_text_add(&text, "\n%-9s %-8s %-2d %-2d %-3d %-6s %-7s", row->system->name,
                    row->scheme->name, row->dims, row->order, row->stages,
                    ht_real_name(row->tuning.fp64), row->density ? "density" : "uniform");
        for (int m = 0; m < bench->machines; m++) {
            const struct row *best = fastest(bench, row, m);
            ht_text_add(&text, "  %12s %-16s", best ? HT_KEY("%.4g", rate_of(best)) : "-",
                        best ? best->tuning.variant->name : "");
        }
    }
    ht_text_add(&text, "\n");
    return ht_args_print(&text);
}

/* ---- the command ---- */

static HT_ERR measure(struct bench *bench, const struct ht_args *args) {
    const struct ht_device_info *info = bench->info = ht_device_info(bench->device);
    const int first = bench->count;
    TRY(HT_GROW(bench->machine, bench->machines + 1, bench->machine_room));
    struct machine *m = &bench->machine[bench->machines++];
    *m = (struct machine){.info = *info};
    TRY(ht_both_limits(bench->device, true, m->limits));
    ht_log("%s, %s, driver %s: copies %.4g GB/s, single %.4g GFMA/s, double %.4g GFMA/s%s",
           info->name, info->backend, info->driver, 1e-9 * ht_copied(m->limits),
           1e-9 * m->limits[0].fma_per_s, 1e-9 * m->limits[1].fma_per_s,
           ht_device_joules(bench->device) >= 0 ? "" : ", energy not reported");
    if (!info->gpu)
        ht_note("a CPU: small grids, single precision and low orders unless flags say otherwise, "
                "so that a case takes about a minute");
    if (ht_args_value(args, "--seconds") == NULL) bench->seconds = info->gpu ? 600 : 60;
    TRY(ht_sweep_each(&bench->sweep, info, info->gpu ? 5 : 3, plan_rows, bench));
    TRY(measure_rows(bench, first));
    if (m->left_out > 0)
        ht_note("%d row%s left out by the time limit (--seconds %g)", m->left_out,
                m->left_out == 1 ? "" : "s", bench->seconds);
    return HT_OK;
}

static HT_ERR measure_one(void *context, const struct ht_device_info *info) {
    struct bench *bench = context;
    ht_device_close(bench->device);
    bench->device = NULL;
    TRY(ht_device_open("auto", HT_KEY("%d", info->index), 0, &bench->device));
    ht_device_cache(bench->device, bench->cache);
    return ht_stop_wanted() ? HT_OK : measure(bench, bench->sweep.args);
}

static HT_ERR write_results(const struct bench *bench, const struct ht_args *args) {
    HT_FREED_TEXT struct ht_text csv = {0};
    HT_ENDED(ht_facts_free) struct ht_facts f = ht_facts_open();
    const struct ht_text *json = &f.json.text;
    const bool shown = ht_args_value(args, "--csv") != NULL;
    REQUIRE(bench->count > 0, HT_ERR_INPUT, "bench: the flags exclude all rows");
    for (int i = -1; i < bench->count; i++) add_csv(bench, &bench->row[i < 0 ? 0 : i], i < 0, &csv);
    add_json(bench, &f.json);
    TRY(ht_text_status(json));
    TRY(ht_text_status(&csv));
    TRY(ht_file_write_in(bench->directory, "bench.json", json->data, json->length));
    TRY(ht_file_write_in(bench->directory, "bench.csv", csv.data, csv.length));
    if (shown) TRY(ht_args_print(&csv));
    if (args->json) TRY(ht_args_print(json));
    if (bench->machines > 1 && !shown && !args->json) TRY(print_beside(bench));
    ht_log("results in %s; tools/plot.py %s/*.csv draws them", bench->directory, bench->directory);
    REQUIRE(!bench->wrong, HT_ERR_DEVICE, "at least one program does not agree with the reference");
    REQUIRE(!ht_stop_wanted(), HT_ERR_INTERRUPTED, "interrupted");
    return HT_OK;
}

static HT_ERR run(struct bench *bench, const struct ht_args *args) {
    const char *device = ht_args_value(args, "--device");
    for (int i = 0; i < args->count; i++)
        REQUIRE(strcmp(args->operand[i], "rates") == 0, HT_ERR_INPUT,
                "bench %s: no such case; must be rates (others are scripts in bench/)",
                args->operand[i]);
    TRY(ht_file_make_directory(bench->directory));
    if (device != NULL && strcmp(device, "all") == 0) {
        TRY(ht_cache_of(&bench->sweep, &bench->cache));
        TRY(ht_each_device(device, ht_args_value(args, "--backend"), measure_one, bench));
    } else {
        TRY(ht_sweep_open(&bench->sweep, &bench->cache, &bench->device));
        TRY(measure(bench, args));
    }
    return write_results(bench, args);
}

enum ht_err ht_command_bench(const struct ht_args *args) {
    struct bench bench = {.gib = 6};
    const char *directory = ht_args_value(args, "--out");
    bench.directory = directory != NULL ? directory : "bench-out";
    REQUIRE(!args->json || ht_args_value(args, "--csv") == NULL, HT_ERR_INPUT,
            "--csv and --json both write to standard output: choose one");
    TRY(ht_sweep_read(args, true, &bench.sweep));
    TRY(read_whole(args, "--cells", &bench.side));
    TRY(read_whole(args, "--group", &bench.cells));
    TRY(read_whole(args, "--rows", &bench.rows));
    TRY(read_whole(args, "--planes", &bench.planes));
    TRY(read_whole(args, "--stages", &bench.stages));
    TRY(ht_args_real(args, "--gib", 0.001, DBL_MAX, &bench.gib));
    TRY(ht_args_real(args, "--seconds", 0, DBL_MAX, &bench.seconds));
    const enum ht_err err = HT_STOPPABLE(ht_comm_agree(args->comm, run(&bench, args)));
    ht_device_close(bench.device);
    free(bench.row);
    free(bench.machine);
    free(bench.cache);
    return err;
}
