/* The plan of sources of Hermite methods: what is refused, how fine a grid they need. */
#include "bloch.h"
#include "htwave/plan.h"

/* The Gaussians of sources (docs/developers/sources.md, Shape): their radius and order, and by how
 * much a trace errs at most, by what the Gaussian lacks and by what it leaves. */

/* What the waves of a source consist of: wavenumbers in cells, where it is slowest, and their parts
 * of the energy. */
struct source_waves {
    double highest, k[HT_SIGNAL_BANDS], energy[HT_SIGNAL_BANDS];
};

static struct source_waves source_waves(const struct ht_plan *plan, const struct ht_duhamel *d,
                                        int shot) {
    const struct ht_shot *of = &plan->shots->shot[shot];
    struct source_waves waves = {.highest = 0};
    double slowest = INFINITY;
    for (int64_t i = 0; i < d->points; i++)
        if (d->point[i].shot == shot)
            slowest = fmin(slowest, ht_equations_speed(&plan->eq, d->point[i].material, 0, false) *
                                        ht_source_ratio(&plan->eq, d->point[i].material));
    const double cell = 2 * HT_PI * ht_grid_widest(&plan->grid) / slowest;
    waves.highest = cell * of->signal->highest;
    ht_shot_bands(&plan->eq, of, waves.energy);
    for (int b = 0; b < HT_SIGNAL_BANDS; b++) waves.k[b] = cell * ht_shot_band(of, b);
    return waves;
}

static const int orders[] = {4, 8, 16, 24};
enum { ORDERS = sizeof orders / sizeof *orders };

/* The least order that keeps a tenth of the tolerance, else the highest: orders cost nothing but at
 * the edge of what the grid carries. */
static void choose_order(const struct source_waves *waves, double tolerance,
                         struct ht_source_form *form) {
    for (int i = 0; i < ORDERS; i++) {
        form->order = orders[i];
        /* At most: with images behind walls traces have more of high frequencies. */
        const double most = 1.5;
        double sum = 0;
        for (int b = 0; b < HT_SIGNAL_BANDS; b++)
            sum +=
                waves->energy[b] * pow(ht_flat_missing(form->order, waves->k[b] * form->radius), 2);
        form->error = most * sqrt(sum);
        if (form->error <= 0.1 * tolerance) return;
    }
}

/* Relative errors of traces at most, by the order and the radius: twice the largest that were
 * measured of Ricker signals of 2 to 10 cells per wavelength of their peak, in one to three
 * dimensions, from N = 5 on five times those in one and two, less what the Gaussian lacks and what
 * the scheme adds (docs/developers/sources.md). Forces stir vortices, too, which stay; leapfrog
 * damps nothing of it. */
enum { RADII = 6, ROWS = 7 };
static const double radii[RADII] = {0.5, 0.75, 1, 1.25, 1.5, 1.75};
enum family { MONOPOLE, FORCE, PAIR, FAMILIES };
static const double left[2][FAMILIES][ROWS][RADII] = {
    {/* Taylor */ {{3e0, 2e0, 5e-1, 4e-1, 3e-1, 2e-1},
                   {3e0, 7e-1, 3e-1, 7e-2, 9e-4, 1e-5},
                   {4e0, 2e-1, 4e-2, 4e-3, 4e-4, 1e-5},
                   {2e0, 4e-2, 1e-2, 4e-4, 7e-7, 7e-8},
                   {1e0, 3e-2, 1e-3, 5e-5, 7e-8, 1e-9},
                   {6e-1, 4e-3, 3e-5, 2e-6, 3e-9, 1e-9},
                   {3e-1, 3e-4, 2e-5, 5e-7, 2e-9, 1e-9}},
     {{4e0, 4e0, 2e0, 3e-1, 2e-1, 2e-1},
      {1e1, 9e-1, 5e-1, 7e-2, 2e-4, 1e-5},
      {1e1, 8e-1, 4e-1, 3e-2, 3e-3, 1e-5},
      {1e1, 2e-1, 5e-2, 3e-3, 7e-6, 4e-8},
      {1e1, 4e-2, 9e-3, 3e-4, 5e-7, 1e-9},
      {3e0, 6e-3, 4e-4, 1e-5, 4e-9, 1e-9},
      {8e-1, 6e-4, 2e-5, 6e-7, 2e-9, 1e-9}},
     {{2e0, 2e0, 3e-1, 2e-1, 7e-2, 1e-5},
      {4e0, 3e-1, 9e-2, 1e-5, 1e-5, 1e-5},
      {4e0, 8e-2, 2e-2, 3e-4, 1e-5, 1e-5},
      {2e0, 4e-2, 2e-3, 3e-5, 1e-9, 1e-9},
      {8e-1, 2e-2, 8e-4, 7e-6, 7e-9, 6e-9},
      {3e-1, 3e-3, 3e-5, 4e-7, 3e-9, 2e-9},
      {8e-2, 3e-4, 2e-6, 2e-8, 3e-9, 2e-9}}},
    {/* leapfrog */ {{8e0, 8e0, 3e0, 2e0, 2e0, 2e0},
                     {1e1, 3e0, 3e-1, 2e-1, 3e-2, 1e-5},
                     {1e1, 7e-1, 4e-1, 2e-1, 5e-2, 2e-3},
                     {1e1, 2e-1, 3e-2, 5e-3, 4e-4, 2e-5},
                     {7e0, 6e-2, 7e-4, 7e-4, 2e-4, 5e-6},
                     {2e0, 6e-3, 4e-4, 6e-5, 2e-6, 5e-8},
                     {6e-1, 7e-4, 1e-5, 2e-7, 2e-8, 1e-9}},
     {{1e1, 1e1, 1e1, 2e0, 2e0, 2e0},
      {1e1, 5e0, 3e0, 3e-1, 4e-2, 1e-5},
      {1e1, 3e0, 8e-1, 3e-1, 5e-2, 3e-4},
      {1e1, 2e-1, 8e-2, 5e-3, 5e-4, 2e-5},
      {1e1, 2e-1, 2e-2, 2e-3, 2e-4, 4e-6},
      {1e1, 1e-2, 1e-3, 6e-5, 2e-6, 5e-8},
      {4e0, 2e-3, 7e-6, 2e-6, 2e-8, 1e-9}},
     {{7e-1, 7e-1, 4e-1, 1e-5, 1e-5, 1e-5},
      {3e0, 8e-1, 5e-1, 3e-1, 2e-1, 7e-2},
      {3e0, 2e-1, 7e-2, 6e-3, 7e-4, 1e-5},
      {2e0, 6e-2, 5e-3, 3e-4, 3e-5, 3e-8},
      {8e-1, 3e-2, 2e-3, 4e-5, 5e-8, 2e-9},
      {3e-1, 2e-3, 7e-5, 2e-6, 3e-9, 2e-9},
      {6e-2, 4e-4, 4e-6, 4e-8, 3e-9, 2e-9}}}};

/* One field, its time derivative or none: a pair. */
static const double *rows_of(const struct ht_plan *plan, const struct ht_shot *shot) {
    const struct ht_second_order *form = &plan->eq.second_order;
    const bool vortices = shot->drive[0].field != form->field && ht_shot_dims(shot) > 1;
    const bool pair = form->rate >= 0;
    const int row = plan->order < ROWS ? plan->order - 1 : ROWS - 1;
    return left[!plan->problem.scheme->dissipates][pair ? PAIR : vortices ? FORCE : MONOPOLE][row];
}

void ht_duhamel_destroy(struct ht_duhamel *duhamel) {
    if (duhamel == NULL) return;
    free(duhamel->form);
    free(duhamel->point);
    free(duhamel);
}

double ht_source_reach_most(const struct ht_source_form *form) {
    return fmax(fmax(form->reach[0], form->reach[1]), form->reach[2]);
}

/* Of points, lines and planes. */
static HT_ERR make_flat(const struct ht_plan *plan, int i, struct ht_duhamel *d) {
    const struct ht_shot *shot = &plan->shots->shot[i];
    struct ht_source_form *form = &d->form[i];
    const double least = plan->problem.scheme->dissipates ? 0.25 : plan->order <= 3 ? 1.25 : 0.5;
    const struct source_waves waves = source_waves(plan, d, i);
    REFUSE(shot->radius > 0 && shot->radius < least, plan->params,
           HT_KEY("sources.%d.radius", shot->group),
           "must be %g or more with time.scheme = \"%s\" and grid.order = %d, which damps nothing "
           "of what a narrower source has beyond the waves that the grid carries",
           least, plan->problem.scheme->name, plan->order);
    /* Of the radii in the order of their use, the first that keeps the tolerance, else the best. */
    static const double tried[RADII] = {1.25, 1.5, 1, 1.75, 0.75, 0.5};
    const double *row = rows_of(plan, shot);
    struct ht_source_form best = *form;
    best.error = INFINITY;
    for (int j = 0; j < RADII && best.error > shot->tolerance; j++) {
        form->radius = shot->radius > 0 ? shot->radius : tried[j];
        if (form->radius < least) continue;
        choose_order(&waves, shot->tolerance, form);
        int column = 0;
        while (column + 1 < RADII && radii[column + 1] <= form->radius + 1e-9) column++;
        form->error += row[column];
        if (form->error < best.error) best = *form;
    }
    *form = best;
    if (form->error > shot->tolerance)
        ht_warn("sources.%d: its highest frequency has %.2g cells per wavelength, where a source "
                "of radius %g errs by up to %.1e, above the tolerance of %.1e: %stake more cells",
                shot->group, 2 * HT_PI / waves.highest, form->radius, form->error, shot->tolerance,
                shot->radius > 0 ? "leave radius out, or " : "");
    for (int k = 0; k < plan->grid.dims; k++)
        if (shot->varies[k]) form->along[k] = form->radius;
    return HT_OK;
}

static HT_ERR make_form(const struct ht_plan *plan, int i, struct ht_duhamel *d) {
    struct ht_source_form *form = &d->form[i];
    const struct ht_shot *shot = &plan->shots->shot[i];
    form->cut = 1e-2 * shot->tolerance;
    if (shot->width > 0) {
        /* A plain Gaussian, as it is given. */
        REFUSE(shot->radius > 0, plan->params, HT_KEY("sources.%d.radius", shot->group),
               "does not belong to sources of type \"volume\"");
        form->order = 1;
        form->radius = shot->width / ht_grid_widest(&plan->grid);
        for (int k = 0; k < plan->grid.dims; k++) form->along[k] = shot->width / plan->grid.h[k];
    } else
        TRY(make_flat(plan, i, d));
    for (int k = 0; k < plan->grid.dims; k++)
        if (ht_source_varies(form, k))
            form->reach[k] = ht_source_reach(form, k, plan->order) + plan->cfl / 2;
    return HT_OK;
}

/* ---- the medium about a point ---- */

bool ht_source_reaches(const struct ht_problem *problem, const struct ht_source_point *point,
                       int axis, double x) {
    const struct ht_grid *grid = problem->grid;
    const struct ht_source_form *form = &problem->duhamel->form[point->shot];
    double apart = x - point->x[axis];
    if (!ht_source_varies(form, axis)) return true;
    if (ht_grid_periodic(grid, axis))
        apart = remainder(apart, grid->upper[axis] - grid->lower[axis]);
    return fabs(apart) <= (form->reach[axis] + 1) * grid->h[axis];
}

static bool in_reach(const struct ht_problem *problem, const struct ht_source_point *point,
                     enum ht_subgrid subgrid, int axis, int64_t m) {
    return ht_source_reaches(problem, point, axis, ht_grid_x(problem->grid, subgrid, axis, m));
}

/* values: of one plane, [material][a][node]. */
static bool same_at(const struct ht_plan *plan, int64_t nodes, int64_t node,
                    const struct ht_source_point *point, const double *values) {
    const double close = 1e-9;
    const int coefs = plan->medium->coefs;
    bool same = true;
    for (int m = 0; m < plan->eq.nmaterials; m++)
        for (int a = 0; a < coefs; a++) {
            const double wanted = a == 0 ? point->material[m] : 0;
            same = same && fabs(values[(m * coefs + a) * nodes + node] - wanted) <=
                               close * fabs(point->material[m]);
        }
    return same;
}

static HT_ERR refuse_medium(const struct ht_plan *plan, const struct ht_duhamel *d,
                            const struct ht_source_point *point) {
    const struct ht_source_form *form = &d->form[point->shot];
    const struct ht_shot *shot = &plan->shots->shot[point->shot];
    char place[96];
    int length = 0;
    for (int k = 0; k < plan->grid.dims; k++)
        if (ht_source_varies(form, k))
            length += snprintf(place + length, sizeof place - (size_t)length, "%s%g",
                               length ? ", " : "", point->x[k]);
    return ht_params_error(
        plan->params, HT_KEY("sources.%d.%s", shot->group, shot->type->place[0]),
        "the medium varies within %.3g cells of the source at %s, where a Hermite method needs a "
        "uniform one: move it, or give time.scheme = \"fd\"",
        ht_source_reach_most(form), place);
}

static HT_ERR check_plane(const struct ht_plan *plan, const struct ht_problem *problem,
                          enum ht_subgrid subgrid, int64_t m3, double *values) {
    const struct ht_duhamel *d = problem->duhamel;
    const int64_t n1 = ht_grid_nodes(&plan->grid, subgrid, 0);
    const int64_t n2 = ht_grid_nodes(&plan->grid, subgrid, 1);
    bool filled = false;
    HT_EACH(const struct ht_source_point, p, d->point, d->points) {
        if (!in_reach(problem, p, subgrid, 2, m3)) continue;
        if (!filled) TRY(ht_medium_fill(plan->medium, subgrid, m3, m3 + 1, values));
        filled = true;
        for (int64_t m2 = 0; m2 < n2; m2++) {
            if (!in_reach(problem, p, subgrid, 1, m2)) continue;
            for (int64_t m1 = 0; m1 < n1; m1++)
                if (in_reach(problem, p, subgrid, 0, m1) &&
                    !same_at(plan, n1 * n2, m2 * n1 + m1, p, values))
                    return refuse_medium(plan, d, p);
        }
    }
    return HT_OK;
}

static HT_ERR check_medium(const struct ht_plan *plan, const struct ht_problem *problem) {
    if (plan->medium->uniform) return HT_OK;
    for (enum ht_subgrid i = 0; i < 2; i++) {
        HT_ARRAY(double, values,
                 ht_grid_plane(&plan->grid, i) * plan->eq.nmaterials * plan->medium->coefs);
        for (int64_t m3 = 0; m3 < ht_grid_planes(&plan->grid, i); m3++)
            TRY(check_plane(plan, problem, i, m3, values));
    }
    return HT_OK;
}

/* ---- cells per wavelength ---- */

/* The error of a wave of so many cells along an axis after a distance in cells, by the scheme in
 * one dimension. */
static HT_ERR wave_error(const struct ht_plan *plan, const struct ht_duhamel *d, double cells,
                         double distance, double *error) {
    const double *material = d->point[0].material;
    const double speed = ht_equations_speed(&plan->eq, material, 0, false);
    struct ht_grid grid = plan->grid;
    struct ht_problem problem = plan->problem;
    grid.h[0] = ht_grid_widest(&plan->grid);
    problem.grid = &grid;
    memcpy(problem.uniform, material, sizeof problem.uniform);
    return ht_bloch_error(&problem, 1, cells, ceil(distance * grid.h[0] / (speed * problem.dt)),
                          error);
}

/* What the scheme adds to a trace of a shot ten wavelengths of its strongest band away. */
static HT_ERR find_travel(const struct ht_plan *plan, const struct ht_duhamel *d, int i,
                          double *travel) {
    const struct source_waves waves = source_waves(plan, d, i);
    const struct ht_shot *shot = &plan->shots->shot[i];
    const double small = 1e-9;
    double sum = 0;
    int strongest = 0;
    if (i > 0) *travel = d->form[i - 1].travel; /* often all are alike */
    if (i > 0 && shot->signal == shot[-1].signal && ht_shot_dims(shot) == ht_shot_dims(&shot[-1]) &&
        waves.highest == source_waves(plan, d, i - 1).highest)
        return HT_OK;
    for (int b = 0; b < HT_SIGNAL_BANDS; b++)
        if (waves.energy[b] > waves.energy[strongest]) strongest = b;
    for (int b = 0; b < HT_SIGNAL_BANDS; b++) {
        double error = 0;
        if (waves.energy[b] <= small) continue;
        TRY(wave_error(plan, d, 2 * HT_PI / waves.k[b], 20 * HT_PI / waves.k[strongest], &error));
        sum += waves.energy[b] * pow(fmin(error, 2), 2);
    }
    *travel = sqrt(sum);
    return HT_OK;
}

/* Two values per wavelength are N + 1 times as many cells. */
static HT_ERR check_cells(const struct ht_plan *plan, const struct ht_duhamel *d) {
    const double carried = 2.1 / (plan->order + 1), many = 5;
    const double cells = ht_plan_shot_points(plan);
    REFUSE(cells < carried, plan->params, "sources",
           "have frequencies up to %.3g, of which the grid has %.2g cells per wavelength where "
           "waves travel at %.3g: it carries none with less than %.2g, and %.2g are needed",
           plan->shots->highest, cells, plan->medium->slowest, carried, d->needed);
    if (cells < d->needed)
        ht_warn("sources have frequencies up to %.3g, of which the grid has %.2g cells per "
                "wavelength where waves travel at %.3g: N = %d needs %.2g for errors below 10 %% "
                "over ten wavelengths",
                plan->shots->highest, cells, plan->medium->slowest, plan->order, d->needed);
    else if (cells >= many && plan->params->time.scheme == HT_SCHEME_AUTO)
        ht_note("the grid has %.2g cells per wavelength of the sources, of which %s, N = %d, needs "
                "%.2g: fewer cells take less time (htwave check FILE --error 1e-2)",
                cells, plan->problem.scheme->name, plan->order, d->needed);
    return HT_OK;
}

static HT_ERR check_type(const struct ht_plan *plan, int i) {
    const struct ht_shot *shot = &plan->shots->shot[i];
    REFUSE(shot->type->outside, plan->params, HT_KEY("sources.%d.type", shot->group),
           "needs finite differences: Hermite methods, here %s, have no plane waves from outside; "
           "give time.scheme = \"fd\"",
           plan->problem.scheme->name);
    /* A plane's field does not vary along a free side, which makes it 0. */
    for (int n = 0; shot->type->flat && n < 2 * plan->grid.dims; n++)
        REFUSE(n / 2 != shot->axis && plan->grid.wall[n / 2][n % 2] < 0, plan->params,
               HT_KEY("sources.%d.axis", shot->group),
               "a plane ends at a free side of x%d, where it is no plane wave: Hermite methods "
               "need rigid or periodic ones, or give time.scheme = \"fd\"",
               n / 2 + 1);
    /* Wider volumes have more nodes than fit. */
    double most = INFINITY;
    for (int k = 0; k < plan->grid.dims; k++) most = fmin(most, HT_SOURCE_WIDEST * plan->grid.h[k]);
    REFUSE(shot->width > most, plan->params, HT_KEY("sources.%d.width", shot->group),
           "Hermite methods have volumes of up to %d cells, here %g: take fewer cells, or "
           "time.scheme = \"fd\"",
           HT_SOURCE_WIDEST, most);
    return HT_OK;
}

static HT_ERR make(const struct ht_plan *plan, struct ht_duhamel *d) {
    struct ht_problem problem = plan->problem;
    problem.duhamel = d;
    d->shots = plan->shots;
    for (int i = 0; i < plan->shots->count; i++) TRY(check_type(plan, i));
    TRY(HT_ALLOC(d->form, d->shots->count));
    for (int i = 0; i < d->shots->count; i++) d->points += d->shots->shot[i].points;
    TRY(HT_ALLOC(d->point, d->points));
    struct ht_source_point *point = d->point;
    for (int i = 0; i < d->shots->count; i++)
        for (int n = 0; n < d->shots->shot[i].points; n++, point++) {
            point->shot = i;
            ht_shot_position(&d->shots->shot[i], n, point->x);
            TRY(ht_medium_point(plan->medium, point->x, point->material));
        }
    const double most = 0.1;
    double error = INFINITY;
    for (int tenths = 7; tenths < 1000 && error > most; tenths++) {
        d->needed = tenths / 10.0;
        TRY(wave_error(plan, d, d->needed, 10 * d->needed, &error));
    }
    TRY(check_cells(plan, d));
    for (int i = 0; i < d->shots->count; i++) {
        TRY(make_form(plan, i, d));
        TRY(find_travel(plan, d, i, &d->form[i].travel));
    }
    TRY(check_medium(plan, &problem));
    /* Coefficients of exp(i omega t) in Legendre's polynomials over half a step, (2 r + 1) j_r(z)
     * <= z^r/(2 r - 1)!!, z = omega tau/2, for 1.5 times the highest frequency. */
    const double z = 0.75 * HT_PI * plan->shots->highest * plan->problem.dt;
    double size = 1, least = 1e-3;
    for (int i = 0; i < plan->shots->count; i++)
        least = fmin(least, plan->shots->shot[i].tolerance);
    d->terms = 1;
    while (d->terms < HT_DUHAMEL_TERMS && (size > 1e-2 * least || d->terms < 3))
        size *= z / (2 * d->terms++ - 1);
    for (enum ht_subgrid i = 0; i < 2; i++) TRY(ht_injection_count(&problem, i, &d->most[i]));
    return HT_OK;
}

HT_ERR ht_duhamel_create(const struct ht_plan *plan, struct ht_duhamel **out) {
    *out = NULL;
    if (plan->shots == NULL || !(plan->problem.dt > 0)) return HT_OK;
    HT_CREATE(out, make(plan, *out), ht_duhamel_destroy);
}
