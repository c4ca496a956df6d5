/* htwave converge: the same run on several grids and orders, and the order
 *     log(e_1 / e_2) / log(h_1 / h_2)
 * observed between one grid and the next. What is called rounding: docs/developers/method.md,
 * section 11. */
#include "app.h"

struct row {
    int order; /* grid.order */
    int full;  /* expected of errors */
    int dims;
    int64_t cells[3], steps;
    double h, error, observed; /* observed: NaN where there is no row before */
    double bound;              /* of rounding errors */
    bool rounding;             /* the error is one */
    double seconds;
};

struct table {
    struct row *row;
    int count;
    struct ht_integers orders, cells;
    bool single; /* precision */
};

static HT_ERR read_lists(const struct ht_args *args, const struct ht_params *params,
                         struct table *t) {
    struct ht_integers *cells = &t->cells;
    TRY(ht_args_integers(args, "--cells", 1, 1000000, cells));
    /* Half to double of the file's own. */
    static const double factor[] = {0.5, 0.75, 1, 1.5, 2};
    const bool given = cells->count > 0;
    for (int i = 0, n, last = 0; i < 5 && !given; i++, last = n) {
        n = (int)lround(factor[i] * (double)params->grid.cells[0]);
        if (n > last) cells->number[cells->count++] = n;
    }
    t->orders = (struct ht_integers){1, {params->grid.order}};
    return ht_args_integers(args, "--order", 1, 16, &t->orders);
}

/* The file's parameters with other cells and another order. Kernels depend on the order only, so
 * they are checked on the first grid of each. */
static HT_ERR read_params(const struct ht_args *args, const struct ht_params *base, int order,
                          int cells, bool check, struct ht_params **out) {
    char list[192];
    int64_t scaled[3];
    HT_FREED char *keys = NULL;
    for (int k = 0; k < base->grid.dims; k++)
        scaled[k] = llround(
            fmax(1, round((double)base->grid.cells[k] / (double)base->grid.cells[0] * cells)));
    /* Nothing is written: times of outputs must not change the steps. */
    TRY(ht_text_print(&keys,
                      "grid.cells=[%s] grid.order=%d output.every=0.0 output.pictures=false%s",
                      ht_text_extents(base->grid.dims, scaled, ",", list), order,
                      check ? "" : " device.selfcheck=false"));
    return ht_input_read(args->operand[0], args->count - 1, args->operand + 1, keys, out);
}

static HT_ERR run(struct ht_simulation *sim, struct row *row) {
    const struct ht_plan *plan = sim->plan;
    struct ht_energies energies = {.series = NULL};
    double began = ht_clock();
    REFUSE(!plan->solution->exact && !plan->solution->returns, sim->params, "initial.type",
           "its solution at time.end is not known: converge needs a plane wave, a standing mode, "
           "an advected Gaussian, or initial.returns = true");
    TRY(ht_simulation_compile(sim));
    TRY(ht_simulation_start(sim));
    const struct ht_observer observers[] = {ht_observe_energy(&energies),
                                            ht_observe_error(plan, &row->error)};
    TRY(ht_run_execute(&sim->run, 2, observers));
    const double unit = (sim->tuning.fp64 ? DBL_EPSILON : FLT_EPSILON) / 2;
    const double n = 2 * (double)plan->steps + 1;
    const double changes = plan->problem.scheme->two_level ? n * sqrt(n) : n;
    const double lost = pow(4, plan->grid.order) / 16; /* none at order 0 */
    *row = (struct row){.order = plan->order,
                        .full = ht_plan_full_order(plan),
                        .dims = plan->grid.dims,
                        .steps = plan->steps,
                        .h = plan->grid.h[0],
                        .error = row->error,
                        .bound = 4 * unit * (changes + lost),
                        .seconds = ht_clock() - began};
    memcpy(row->cells, plan->params->grid.cells, sizeof row->cells);
    return HT_OK;
}

static void add_row(const struct row *row, struct ht_facts *f) {
    ht_say(f, "%2d  %-20s %10.4g %8lld %12.4e", row->order, HT_EXTENTS(row->dims, row->cells),
           row->h, (long long)row->steps, row->error);
    ht_fact(f, HT_OPEN(NULL, '{'), HT_INT("grid_order", row->order),
            HT_INTS("cells", row->dims, row->cells), HT_NUM("h", row->h),
            HT_INT("steps", row->steps), HT_NUM("error_l2_relative", row->error));
    ht_fact_said(f, "order", row->observed, " %7.2f", row->observed);
    ht_fact(f, HT_NUM("rounding_bound", row->bound), HT_BOOL("rounding", row->rounding),
            HT_NUM("wall_s", row->seconds), HT_CLOSE('}'));
    ht_say(f, "%s\n", row->rounding ? "  rounding" : "");
}

/* The last row of the n-th order that can be judged: one within the bound of rounding can show that
 * the wanted order is reached, not that it is missed. NULL: none, as of one grid, or where all
 * errors are rounding. */
static const struct row *judged(const struct table *t, int n, double wanted) {
    for (int i = t->cells.count - 1; i > 0; i--) {
        const struct row *row = &t->row[n * t->cells.count + i];
        if (isfinite(row->observed) && (row->error > row->bound || row->observed >= wanted))
            return row;
    }
    return NULL;
}

static HT_ERR check_order(const struct table *t, double wanted) {
    for (int n = 0; n < t->orders.count; n++) {
        const struct row *first = t->row + (ptrdiff_t)n * t->cells.count;
        const struct row *row = judged(t, n, wanted);
        REQUIRE(row != NULL, HT_ERR_DIFFERENT,
                "grid.order = %d: --min-order %g is not shown: no grid has an error above what "
                "rounding can be (%.2g on %lld cells along x1) and another grid before it; take "
                "coarser grids%s",
                first->order, wanted, first->bound, (long long)first->cells[0],
                t->single ? " or device.precision = \"double\"" : "");
        REQUIRE(
            row->observed >= wanted, HT_ERR_DIFFERENT,
            "grid.order = %d: observed order %.3f on %lld cells along x1 is below --min-order %g",
            row->order, row->observed, (long long)row->cells[0], wanted);
    }
    return HT_OK;
}

enum ht_err ht_command_converge(const struct ht_args *args) {
    HT_ENDED(ht_params_end) struct ht_params *base = NULL;
    struct table table = {.count = 0}, *t = &table;
    TRY(ht_params_read(args->operand[0], args->count - 1, args->operand + 1, &base));
    const char *text = ht_args_value(args, "--min-order");
    double wanted = 0;
    TRY(ht_args_real(args, "--min-order", -DBL_MAX, DBL_MAX, &wanted));
    TRY(read_lists(args, base, t));
    REQUIRE(text == NULL || t->cells.count > 1, HT_ERR_INPUT,
            "--min-order needs --cells with two numbers or more: an order is observed between two "
            "grids");
    for (int i = 1; text != NULL && i < t->cells.count; i++)
        REQUIRE(t->cells.number[i] != t->cells.number[i - 1], HT_ERR_INPUT,
                "--cells %s: --min-order needs other cells from one grid to the next",
                ht_args_value(args, "--cells"));
    HT_ENDED(ht_progress_end) struct ht_progress progress;
    int total = t->orders.count * t->cells.count;
    ht_progress_start(&progress, "converge", total, "grids", 1);
    HT_ARRAY(struct row, rows, total);
    t->row = rows;
    for (int i = 0; i < total; i++) {
        HT_ENDED(ht_params_end) struct ht_params *params = NULL;
        HT_ENDED(ht_simulation_end) struct ht_simulation *sim = NULL;
        struct row *row = &t->row[t->count];
        bool first = t->count % t->cells.count == 0;
        TRY(read_params(args, base, t->orders.number[i / t->cells.count],
                        t->cells.number[i % t->cells.count], first && base->device.selfcheck,
                        &params));
        enum ht_err err = ht_simulation_plan(params, args->comm, NULL, &sim);
        if (err == HT_OK) err = run(sim, row);
        if (err == HT_OK) {
            t->single = !sim->tuning.fp64;
            row->observed = NAN;
            if (!first) row->observed = log(row[-1].error / row->error) / log(row[-1].h / row->h);
            row->rounding = row->error <= row->bound && row->observed < 0.5 * row->full;
            t->count++;
        }
        TRY(ht_comm_agree(args->comm, err));
        ht_progress_update(&progress, i + 1);
    }
    struct ht_facts f = ht_facts_open();
    ht_fact(&f, HT_OPEN("rows", '['));
    ht_say(&f, " N  cells                         h    steps     error L2   order\n");
    for (int i = 0; i < t->count; i++) add_row(&t->row[i], &f);
    ht_fact(&f, HT_CLOSE(']'));
    TRY(ht_facts_print(&f, args->json));
    return text ? check_order(t, wanted) : HT_OK;
}
