/* The layers of absorbing sides: which kind a scheme takes, what it takes where the input leaves it
 * open, their limits, the medium in them, and what they send back of the waves of a run: by the
 * equations in them, and no less than what the grid reflects, which is measured. */
#include <complex.h>

#include "plan_parts.h"

/* Reflection of sponges of at least so many cells at 10 points per wavelength and 0, 30, 60
 * degrees, dB, measured (docs/developers/absorbing.md). */
struct usual {
    int64_t cells;
    double db[3];
};
static const struct usual sponges[] = {
    {1, {-1, -1, -1}},     {4, {-7, -6, -4}},     {8, {-25, -19, -8}},  {12, {-44, -36, -13}},
    {16, {-45, -51, -18}}, {24, {-47, -51, -31}}, {32, {-47, -53, -46}}};
enum { SPONGES = sizeof sponges / sizeof *sponges };
/* Thinner matched layers grow beside media that vary. */
enum { least_matched = 6 };

static const double cosines[3] = {1, 0.8660254037844386, 0.5}; /* of 0, 30 and 60 degrees */

/* Of sponges as measured; of a damping that was given in place of the usual one no less than its R
 * at normal incidence, R^cos at others. */
void ht_plan_layer_reflection(const struct ht_plan *plan, double db[3]) {
    const double points = 10;
    for (int i = 0; i < 3; i++) db[i] = -INFINITY;
    for (int n = 0; n < 18; n++) {
        const int axis = n / 6, side = n / 3 % 2, i = n % 3;
        const struct ht_layer *layer = &plan->layers.side[axis][side];
        if (layer->cells == 0) continue;
        const double frequency = layer->speed / (points * plan->grid.h[axis]);
        int last = SPONGES - 1;
        while (sponges[last].cells > layer->cells) last--;
        db[i] =
            fmax(db[i], plan->layers.type == HT_ABSORBING_SPONGE
                            ? fmax(sponges[last].db[i], 20 * log10(layer->reflection) * cosines[i])
                            : 20 * log10(ht_fd_layer_returned(&plan->problem, axis, side, frequency,
                                                              cosines[i])));
    }
}

/* Keys of matched layers that others do not have: of Hermite methods, and of pairs. */
enum { ALPHA = 1, SPONGE = 2, MIX = 4 };
static HT_ERR refuse_keys(const struct ht_params *params, unsigned keys, const char *with) {
    static const char hermite[] = "the perfectly matched layers of Hermite methods";
    const struct {
        const char *key, *of;
        const struct ht_value *value;
    } row[] = {{"absorbing.alpha", hermite, &params->absorbing.alpha},
               {"absorbing.sponge", hermite, &params->absorbing.sponge},
               {"absorbing.mix", "the matched layers of first-order systems by finite differences",
                &params->absorbing.mix}};
    for (int i = 0; i < 3; i++)
        REFUSE(keys >> i & 1 && row[i].value->kind == HT_VALUE_NUMBERS, params, row[i].key,
               "has no meaning with %s: it is for %s", with, row[i].of);
    return HT_OK;
}

static HT_ERR check_sponge(const struct ht_params *params) {
    return refuse_keys(params, ALPHA | SPONGE | MIX, "absorbing.type = \"sponge\"");
}

/* Thinner ones grow (docs/developers/absorbing.md). */
enum { least_cells = 3, least_sponge = 4, least_leapfrog = 6 };

/* ---- of Hermite methods ---- */

/* Stable in the Bloch analysis of test/unit/absorbing.c, as are the others. */
static void usual_sponge(HT_UNUSED enum ht_absorbing_type type, HT_UNUSED int order,
                         struct ht_layer *layer) {
    layer->alpha = 0;
    layer->sponge = 0;
    layer->degree = 2;
    /* most = S c/L: the best where four cells are a wavelength */
    const double most = fmin(1 + 0.75 * (double)layer->cells, 14);
    layer->reflection = exp(-2 * most / (layer->degree + 1));
}

/* Damping that varies about a node may grow as fast as waves are resolved, and needs little of the
 * sponge, which is what reflects most where it is weak. */
static void usual_first(HT_UNUSED enum ht_absorbing_type type, int order, struct ht_layer *layer) {
    const double cells = (double)layer->cells;
    layer->alpha = order < 4 ? 0.1 : 0.2;
    layer->sponge = cells < 4 ? 0.05 : 0.0005;
    layer->degree = 4;
    layer->reflection = cells < 4 ? 3e-4 : pow(10, -fmin(3 + cells / 2, 6));
}

/* From N = 2 and 4 cells on steeper, with next to no sponge; from 8 cells on long waves are
 * absorbed, too, at which thinner layers grow. */
static void usual_second(HT_UNUSED enum ht_absorbing_type type, int order, struct ht_layer *layer) {
    const double half = (double)layer->cells / 2;
    const bool weak = order == 1 || layer->cells < 4;
    const bool thick = order > 1 && layer->cells >= 8;
    layer->alpha = thick ? 0.03 : 0.1;
    layer->sponge = weak ? 0.001 : thick ? 0.00003 : 0.0001;
    layer->degree = weak || layer->cells < 6 ? 3 : 4;
    layer->reflection = pow(10, -(weak ? fmin(1 + half, 5) : thick ? 6.5 : 2 + half));
}

/* sigma dt/2 at most: the real axis on which series of 6 stages and more are stable has a length of
 * 3.55 and more; alpha and the sponge need the rest. */
static const double most_damping = 3;
/* Of a sponge, which grows in thin layers where it is stronger. */
static const double most_sponge = 0.9;

void ht_plan_limit_layers(struct ht_plan *plan) {
    const double step = plan->problem.dt / 2, most = plan->layers.most;
    const bool given = ht_params_is_set(plan->params, "absorbing.reflection");
    if (most > 0 && step > 0 && ht_layers_cap(&plan->layers, most / step) > 0 && given)
        ht_note("absorbing.reflection: damping is limited to %g per half step, where it is stable",
                most);
}

static HT_ERR check_thickness(const struct ht_plan *plan, int least) {
    for (int n = 0; n < 6; n++)
        REFUSE(plan->grid.layer[n / 2][n % 2] > 0 && plan->grid.layer[n / 2][n % 2] < least,
               plan->params, ht_layers_key(plan->params),
               "thinner layers of time.scheme = \"%s\" than %d cells grow",
               plan->problem.scheme->name, least);
    return HT_OK;
}

static HT_ERR check_leapfrog(const struct ht_plan *plan) {
    const struct ht_params *params = plan->params;
    const bool one_field = plan->problem.stored[HT_PRIMARY] == plan->problem.stored[HT_DUAL];
    REFUSE(params->absorbing.type != HT_ABSORBING_SPONGE, params, "absorbing.type",
           "time.scheme = \"leapfrog\" has no perfectly matched layers: give \"sponge\", or "
           "time.scheme = \"taylor\" or \"fd\"");
    TRY(check_thickness(plan, least_leapfrog));
    if (one_field ? plan->order % 2 == 1 : plan->order > 1) return HT_OK;
    return ht_params_error(params, "grid.order",
                           "sponges of system = \"%s\" grow by leapfrog at %s: take %s",
                           plan->eq.system->name, one_field ? "even orders" : "order 1",
                           one_field ? "an odd one" : "2 or more");
}

enum ht_err ht_hermite_plan_layers(struct ht_plan *plan) {
    const bool sponge = plan->params->absorbing.type == HT_ABSORBING_SPONGE;
    const bool first = plan->eq.first_order;
    if (plan->problem.scheme->two_level) TRY(check_leapfrog(plan));
    TRY(check_thickness(plan, sponge ? least_sponge : least_cells));
    if (sponge) TRY(check_sponge(plan->params));
    TRY(refuse_keys(plan->params, MIX, "Hermite methods"));
    ht_layers_make(plan->params, &plan->grid, plan->medium->speed,
                   sponge ? HT_ABSORBING_SPONGE : HT_ABSORBING_CPML, plan->order,
                   sponge  ? usual_sponge
                   : first ? usual_first
                           : usual_second,
                   &plan->layers);
    /* Equations of second order have derivatives of psi, too, and so those of the damping about a
     * node; with N = 1 nothing is gained. */
    plan->layers.profile_degree = sponge ? 0 : first || plan->order == 1 ? 2 : HT_PROFILE_DEGREE;
    plan->layers.most = sponge ? most_sponge : most_damping;
    /* The series does not end in matched layers. */
    if (!sponge)
        plan->layers.stages =
            ht_scheme_full_stages(plan->problem.scheme, &plan->eq, plan->order) + 4;
    plan->problem.layers = &plan->layers;
    return HT_OK;
}

/* ---- what they are expected to reflect ---- */

/* Measured (docs/developers/absorbing.md): layers of at least so many cells, N = 1..4, dB. */
struct measured {
    int64_t cells;
    double db[4];
};
static const struct measured first_order[] = {
    {3, {-41, -41, -41, -41}},    {4, {-67, -85, -86, -80}},      {6, {-89, -100, -98, -94}},
    {8, {-103, -109, -107, -96}}, {12, {-115, -118, -119, -104}}, {16, {-121, -123, -123, -117}}};
static const struct measured second_order[] = {
    {3, {-39, -40, -41, -41}},    {4, {-54, -68, -67, -65}},     {6, {-69, -86, -88, -85}},
    {8, {-79, -109, -106, -101}}, {12, {-97, -127, -123, -119}}, {16, {-104, -135, -135, -131}}};
enum { ROWS = sizeof first_order / sizeof *first_order };

/* Of the usual profiles; with another R no less than that. */
double ht_plan_layer_point_reflection(const struct ht_plan *plan) {
    const struct measured *rows = plan->eq.first_order ? first_order : second_order;
    const struct ht_params *params = plan->params;
    double most = NAN;
    if (plan->layers.stages == 0 || plan->order > 4 ||
        params->absorbing.degree.kind == HT_VALUE_NUMBERS ||
        params->absorbing.alpha.kind == HT_VALUE_NUMBERS ||
        params->absorbing.sponge.kind == HT_VALUE_NUMBERS)
        return NAN;
    HT_EACH_LAYER(n, layer, &plan->layers) {
        int row = ROWS - 1;
        while (rows[row].cells > layer->cells) row--;
        most = fmax(most, rows[row].db[plan->order - 1]);
        if (params->absorbing.reflection.kind == HT_VALUE_NUMBERS)
            most = fmax(most, 20 * log10(layer->reflection));
    }
    return most;
}

void ht_plan_sponge_reflection(const struct ht_plan *plan, double wavelengths, double db[3]) {
    for (int i = 0; i < 3; i++) db[i] = -INFINITY;
    HT_EACH_LAYER(n, layer, &plan->layers)
        for (int i = 0; i < 3; i++)
            db[i] = fmax(
                db[i], ht_sponge_reflection(&plan->problem, n / 2, n % 2, wavelengths, cosines[i]));
}

/* ---- the medium in layers of Hermite methods ---- */

/* Planes in layers along x3 come from the nearest in none. Polynomials keep their other
 * coefficients, which layers do not use. */
static HT_ERR fill_continued(const void *context, enum ht_subgrid subgrid, int64_t first,
                             int64_t last, double *out) {
    const struct ht_plan *plan = context;
    const struct ht_grid *grid = &plan->grid;
    const int64_t nodes = ht_grid_plane(grid, subgrid), planes = last - first;
    const int64_t rows = (int64_t)plan->eq.nmaterials * plan->problem.medium_coefs;
    TRY(ht_medium_fill(plan->medium, subgrid, first, last, out));
    HT_ARRAY(double, plane, (rows * nodes));
    for (int64_t m = first, held = -1; m < last; m++) {
        const int64_t from = ht_layers_inside(grid, 2, subgrid == HT_DUAL, m);
        if (from != m && from != held)
            TRY(ht_medium_fill(plan->medium, subgrid, from, from + 1, plane));
        if (from != m) held = from;
        for (int64_t r = 0; r < rows; r++) {
            double *to = out + (r * planes + m - first) * nodes;
            if (from != m) memcpy(to, plane + r * nodes, (size_t)nodes * sizeof *to);
            ht_layers_continue(grid, subgrid, subgrid == HT_DUAL ? 7 : 0, to);
        }
    }
    return HT_OK;
}

void ht_plan_continue_medium(struct ht_plan *plan) {
    if (plan->layers.stages == 0) return;
    plan->problem.medium_fill = fill_continued;
    plan->problem.medium = plan;
}

/* Of finite differences: what all of them have. */
static HT_ERR plan_nodal(struct ht_plan *plan, ht_layer_usual *usual) {
    const struct ht_params *params = plan->params;
    enum ht_absorbing_type type = params->absorbing.type;
    TRY(refuse_keys(params, SPONGE, "time.scheme = \"fd\""));
    if (type == HT_ABSORBING_AUTO) type = HT_ABSORBING_CPML;
    if (type == HT_ABSORBING_SPONGE) TRY(check_sponge(params));
    ht_layers_make(params, &plan->grid, plan->medium->speed, type, plan->order, usual,
                   &plan->layers);
    /* Behind matched layers of fields of second order waves are 0: the tails of guided waves, which
     * a rigid wall feeds, are damped, and no constant is left over. Fields of a pair are 0 on the
     * one kind of wall or on the other: with one of each at the ends of an axis none of them has a
     * constant. */
    if (type == HT_ABSORBING_CPML) {
        for (int k = 0; k < plan->grid.dims; k++)
            REFUSE(plan->grid.layer[k][0] * plan->grid.layer[k][1] > 0 &&
                       plan->grid.cells[k] - plan->grid.layer[k][0] - plan->grid.layer[k][1] <
                           plan->order / 2,
                   plan->params, ht_layers_key(plan->params),
                   "the layers leave less than %d of the %lld cells along x%d, half of the stencil "
                   "of order %d",
                   plan->order / 2, (long long)plan->grid.cells[k], k + 1, plan->order);
        for (int n = 0; n < 6; n++) {
            const int64_t cells = plan->grid.layer[n / 2][n % 2];
            if (cells == 0) continue;
            REFUSE(plan->grid.dims > 1 && cells < least_matched, plan->params,
                   ht_layers_key(plan->params),
                   "%lld cells: perfectly matched layers of time.scheme = \"fd\" with less than %d "
                   "points grow beside media that vary; take more, or absorbing.type = \"sponge\"",
                   (long long)cells, least_matched);
            plan->grid.wall[n / 2][n % 2] = plan->problem.early != 0 && n % 2 == 0 ? 1 : -1;
        }
    }
    REFUSE(type == HT_ABSORBING_CPML && params->parallel.halo_depth > 1, params,
           "parallel.halo_depth", "must be 1 with absorbing sides (cpml)");
    plan->problem.layers = &plan->layers;
    return HT_OK;
}

enum ht_err ht_differences_plan_layers(struct ht_plan *plan) {
    TRY(refuse_keys(plan->params, MIX, "a system that is stepped as one field"));
    return plan_nodal(plan, plan->grid.dims > 1 ? ht_layers_usual : ht_layers_usual_line);
}

/* alpha and the loss keep tails of guided waves, which stand in the layers, from growing. */
static void usual_pair(enum ht_absorbing_type type, int order, struct ht_layer *layer) {
    ht_layers_usual_line(type, order, layer);
    if (type == HT_ABSORBING_SPONGE) return;
    layer->reflection = 1e-5;
    layer->alpha = 0.1;
    layer->loss = 1e-3;
}

/* ---- mixing, by what lies in a layer: the medium at its inner face ---- */

/* Nodes of a face, [first, end) of each axis, one along the normal; of large faces not all. */
struct face {
    const struct ht_plan *plan;
    int axis;
    int64_t first[3], count[3], every[3], nodes;
    int kinds;     /* materials that are not negative, without losses */
    double *value; /* [kind][node] */
};

/* The node of a line that n is the image of: behind a seam, a wall or, in layers, the nearest. */
static int64_t image(const struct face *face, int axis, int64_t n) {
    const struct ht_grid *grid = &face->plan->grid;
    const int64_t last = face->count[axis] - 1;
    if (n >= 0 && n <= last) return n;
    if (ht_grid_periodic(grid, axis)) return (n + last) % last;
    if (grid->layer[axis][n > 0] > 0) return n > 0 ? last : 0;
    return ht_most(ht_least(n > 0 ? 2 * last - n : -n, last), 0);
}

/* On lines along an axis: by which factor a value lies above, or below, others to both sides within
 * the layer's thickness, as in a guide of waves. 0 is of fluid: no value. */
static double guide_of(const struct face *face, int axis, int64_t apart, int64_t n,
                       const double *value) {
    const struct ht_layer *layer = face->plan->layers.side[face->axis];
    const int64_t cells = ht_most(layer[0].cells, layer[1].cells) / face->every[axis];
    const int64_t reach = ht_least(cells, face->count[axis] - 1);
    const double here = value[n * apart];
    double most[2] = {here, here}, least[2] = {here, here};
    if (!(here > 0)) return 1;
    for (int64_t i = 1; i <= 2 * reach; i++) {
        const double there = value[image(face, axis, i > reach ? n + i - reach : n - i) * apart];
        if (!(there > 0)) continue;
        most[i > reach] = fmax(most[i > reach], there);
        least[i > reach] = fmin(least[i > reach], there);
    }
    return fmax(fmin(most[0], most[1]) / here, here / fmax(least[0], least[1]));
}

static void look_at(const struct face *face, struct ht_layer *layer) {
    const double *value = face->value;
    int64_t zeros = 0;
    for (int m = 0; m < face->kinds; m++, value += face->nodes) {
        int64_t apart = 1;
        for (int k = 0; k < 3; apart *= face->count[k++])
            for (int64_t n = 0; face->count[k] > 1 && n < face->nodes; n++) {
                const int64_t on = n / apart % face->count[k];
                layer->guide =
                    fmax(layer->guide, guide_of(face, k, apart, on, value + n - on * apart));
            }
        for (int64_t n = 0; n < face->nodes; n++) zeros += value[n] == 0;
    }
    layer->fluid = layer->fluid || (zeros > 0 && zeros < face->nodes);
}

/* Every rank sees the whole face: all find the same. */
static HT_ERR fill_face(const struct face *face, double normal) {
    const struct ht_medium *medium = face->plan->medium;
    const struct ht_system *system = medium->eq->system;
    for (int64_t n = 0; n < face->nodes; n++) {
        double x[3], material[HT_MAX_MATERIALS];
        int64_t rest = n;
        int kind = 0;
        for (int k = 0; k < 3; rest /= face->count[k++])
            x[k] = ht_grid_x(medium->grid, HT_PRIMARY, k,
                             face->first[k] + rest % face->count[k] * face->every[k]);
        x[face->axis] = normal;
        TRY(ht_medium_point(medium, x, material));
        for (int m = 0; m < system->nmaterials - system->nlost; m++)
            if (system->material[m].positive) face->value[kind++ * face->nodes + n] = material[m];
    }
    return HT_OK;
}

/* Looks at the face and half a spacing in front of it, from where the layer's medium comes. */
static HT_ERR find_contents(const struct ht_plan *plan, int axis, int side,
                            struct ht_layer *layer) {
    enum { MOST = 512 }; /* nodes along an axis of a face of two */
    const struct ht_grid *grid = &plan->grid;
    const struct ht_system *system = plan->eq.system;
    struct face face = {.plan = plan, .axis = axis, .nodes = 1};
    for (int m = 0; m < system->nmaterials - system->nlost; m++)
        face.kinds += system->material[m].positive;
    for (int k = 0; k < 3; k++) {
        const int64_t cells = k < grid->dims ? grid->cells[k] : 0;
        const int64_t inner = cells - grid->layer[k][0] - grid->layer[k][1];
        face.first[k] = grid->layer[k][0];
        face.every[k] = grid->dims > 2 ? (inner + MOST - 1) / MOST : 1;
        face.count[k] = k == axis || inner == 0 ? 1 : inner / face.every[k] + 1;
        face.nodes *= face.count[k];
    }
    HT_ARRAY(double, value, face.kinds *face.nodes);
    face.value = value;
    for (int half = 0; half < 2; half++) {
        const double in = (side == 0 ? 0.5 : -0.5) * grid->h[axis] * half;
        TRY(fill_face(&face, ht_layers_end(grid, axis, side) + in));
        look_at(&face, layer);
    }
    return HT_OK;
}

/* Measured (docs/developers/absorbing.md): waves of two speeds, whose fields share coefficients,
 * grow without mixing; those that fluid beside solid guides, or solids with slow shear waves, and
 * rough media need more of it, less where faces are flat. With 1 all differences in a layer are
 * damped alike, by which energy falls in any medium. */
static double usual_mix(const struct ht_plan *plan, const struct ht_layer *layer) {
    const struct ht_medium *medium = plan->medium;
    const bool slow = medium->vanishes || medium->speed_min > 3 * medium->slowest;
    const bool hard = slow || plan->params->medium.type != HT_MEDIUM_LAYERS;
    const bool rough = layer->guide > (medium->flat ? 6 : 1.2);
    if (medium->uniform) return 0.01;
    if (layer->fluid && (rough || !medium->flat)) return 1;
    return rough ? 0.2 : hard ? 0.05 : 0.01;
}

enum ht_err ht_staggered_plan_layers(struct ht_plan *plan) {
    const struct ht_value *given = &plan->params->absorbing.mix;
    struct ht_pair pair;
    const bool two_speeds =
        ht_pair_make(&plan->eq, HT_PAIR_TOGETHER, &pair) == NULL && ht_pair_coupled(&pair) != 0;
    TRY(plan_nodal(plan, usual_pair));
    const bool looks = two_speeds && given->kind != HT_VALUE_NUMBERS && !plan->medium->uniform &&
                       plan->layers.type == HT_ABSORBING_CPML;
    HT_EACH_BY(n, struct ht_layer, layer, &plan->layers.side[n / 2][n % 2], 6) {
        if (layer->cells == 0 || plan->grid.dims == 1) continue;
        if (looks) TRY(find_contents(plan, n / 2, n % 2, layer));
        layer->mix = ht_value_or(given, two_speeds ? usual_mix(plan, layer) : 0);
        plan->layers.mix = fmax(plan->layers.mix, layer->mix);
    }
    return HT_OK;
}

/* Measured (docs/developers/absorbing.md): of P and S waves of 15 cells, vp/vs 1.7, dB. */
bool ht_plan_layer_mixed_db(const struct ht_plan *plan, double mix, double db[2]) {
    enum { THICKNESSES = 4, MIXES = 4 };
    static const int64_t cells[THICKNESSES] = {6, 8, 12, 16};
    static const double mixes[MIXES] = {0.01, 0.05, 0.2, 1};
    static const double measured[THICKNESSES][MIXES][2] = {
        {{-52, -40}, {-47, -39}, {-39, -32}, {-29, -24}},
        {{-66, -60}, {-54, -48}, {-44, -37}, {-34, -28}},
        {{-77, -70}, {-64, -57}, {-54, -46}, {-44, -36}},
        {{-84, -77}, {-72, -65}, {-61, -54}, {-51, -43}}};
    const struct ht_params *params = plan->params;
    int row = THICKNESSES - 1, at = 0;
    HT_EACH_LAYER(n, layer, &plan->layers)
        while (layer->mix == mix && row > 0 && cells[row] > layer->cells) row--;
    while (at < MIXES - 1 && mixes[at] < mix) at++;
    for (int i = 0; i < 2; i++) db[i] = measured[row][at][i];
    return params->absorbing.reflection.kind != HT_VALUE_NUMBERS &&
           params->absorbing.alpha.kind != HT_VALUE_NUMBERS &&
           params->absorbing.degree.kind != HT_VALUE_NUMBERS;
}

/* ---- what their equations send back: slices of constant damping, a rigid wall behind ---- */

/* What is damped: p and v alike, u of a second-order equation, or of it the derivative by time (of
 * p and v: p) alone. */
enum damped { PAIR, SINGLE, FIRST };

static enum damped damped_by(const struct ht_problem *problem) {
    const bool pair = problem->eq->first_order;
    if (problem->early != 0) return PAIR;
    if (problem->second != NULL) return SINGLE;
    if (problem->layers->type == HT_ABSORBING_CPML) return pair ? PAIR : FIRST;
    if (ht_sponge_rate(problem, HT_DUAL) == 0) return FIRST;
    return pair ? PAIR : SINGLE;
}

/* What comes back of a wave exp(i w t) that goes into the layer at an angle with this cosine:
 * (d/stretch)^2 p = -k^2 p,
 *     k^2 = z^2 - s^2, z = w - i rate,   or, the derivative alone, w z - s^2,
 * s = w sin of the angle, in units of the layer's thickness and c. Between slices p'/stretch is
 * continuous, of the pair p'/(stretch z). */
static double complex reflected(const struct ht_problem *problem, const struct ht_layer *layer,
                                double w, double cosine) {
    enum { SLICES = 100 };
    const enum damped what = damped_by(problem);
    const bool matching = problem->layers->type == HT_ABSORBING_CPML;
    const double whole = -(layer->degree + 1) * log(layer->reflection) / 2;
    const double unit = layer->most > 0 ? whole / layer->most : 0;
    const double dx = 1.0 / SLICES, s2 = w * w * (1 - cosine * cosine);
    double complex p = 1, q = 0; /* p' over what makes it continuous */
    for (int n = SLICES - 1; n >= 0; n--) {
        const double depth = (n + 0.5) * dx, sigma = whole * pow(depth, layer->degree);
        const double alpha = layer->alpha * unit, loss = layer->loss * unit * depth * depth;
        const double complex stretch = matching ? 1 + sigma / (alpha + I * w) : 1;
        const double rate = matching        ? sigma * layer->sponge + loss
                            : what == FIRST ? 2 * sigma
                                            : sigma;
        const double complex z = w - I * rate;
        const double complex k = csqrt((what == FIRST ? w * z : z * z) - s2);
        const double complex scale = what == PAIR ? k / z : k;
        const double complex turn = k * stretch * dx;
        const double complex c = ccos(turn), turned = csin(turn);
        const double complex before = c * p - turned / scale * q;
        q = scale * turned * p + c * q;
        p = before;
    }
    q *= I / (what == PAIR ? cosine : w * cosine);
    return (p - q) / (p + q);
}

double ht_layer_returned(const struct ht_problem *problem, int axis, int side, double frequency,
                         double cosine) {
    const struct ht_layer *layer = &problem->layers->side[axis][side];
    if (layer->cells == 0) return 0;
    if (problem->second != NULL && problem->layers->type == HT_ABSORBING_CPML)
        return ht_fd_layer_returned(problem, axis, side, frequency, cosine);
    /* w = omega L/c, from sigma L/c at the wall */
    const double whole = -(layer->degree + 1) * log(layer->reflection) / 2;
    const double w = 2 * HT_PI * frequency * whole / layer->most;
    return w > 0 ? cabs(reflected(problem, layer, w, cosine)) : 1;
}

double ht_sponge_reflection(const struct ht_problem *problem, int axis, int side,
                            double wavelengths, double cosine) {
    enum { WAVES = 25, TIMES = 400 };
    const struct ht_layer *layer = &problem->layers->side[axis][side];
    const double apart = 0.1;
    double complex back[WAVES];
    double most = 0, all = 0;
    for (int n = 0; n < WAVES; n++) {
        const double f = apart * (n + 1), weight = f * f * exp(-f * f);
        back[n] = weight * reflected(problem, layer, 2 * HT_PI * wavelengths * f, cosine);
        all += weight;
    }
    for (int m = 0; m < TIMES; m++) {
        double sum = 0;
        for (int n = 0; n < WAVES; n++)
            sum += creal(back[n] * cexp(2 * HT_PI * I * (n + 1) * m / TIMES));
        most = fmax(most, fabs(sum));
    }
    return 20 * log10(most / all);
}

static double returned(const struct ht_plan *plan, double frequency, double cosine) {
    double most = 0;
    for (int n = 0; n < 6; n++)
        most = fmax(most, ht_layer_returned(&plan->problem, n / 2, n % 2, frequency, cosine));
    return most;
}

/* Of all waves of a source the root of their energy, of the source that has the most. */
static double returned_shots(const struct ht_plan *plan, double cosine,
                             const struct ht_shot **worst) {
    double most = 0, energy[HT_SIGNAL_BANDS] = {0};
    *worst = plan->shots->shot;
    HT_EACH_SHOT(at, plan->shots) {
        double before[HT_SIGNAL_BANDS], sum = 0;
        memcpy(before, energy, sizeof before);
        ht_shot_bands(&plan->eq, at, energy);
        bool again = at > plan->shots->shot && ht_shot_band(at, 0) == ht_shot_band(at - 1, 0);
        for (int b = 0; b < HT_SIGNAL_BANDS; b++) again = again && energy[b] == before[b];
        if (again) continue; /* as elements of an array, or points with one signal */
        for (int b = 0; b < HT_SIGNAL_BANDS; b++)
            sum += energy[b] * pow(returned(plan, ht_shot_band(at, b), cosine), 2);
        if (sqrt(sum) > most) *worst = at;
        most = fmax(most, sqrt(sum));
    }
    return most;
}

/* What the grid reflects is measured, and in what matched layers of finite differences send back; a
 * point's waves come at all angles. */
bool ht_plan_layer_shots_db(const struct ht_plan *plan, double db[2]) {
    double grid[3] = {-INFINITY, -INFINITY, -INFINITY};
    const struct ht_shot *shot;
    if (plan->problem.layers == NULL || plan->shots == NULL || plan->problem.early) return false;
    if (plan->problem.second == NULL)
        grid[0] = grid[2] = ht_plan_layer_point_reflection(plan);
    else if (plan->layers.type == HT_ABSORBING_SPONGE)
        ht_plan_layer_reflection(plan, grid);
    for (int i = 0; i < 2; i++)
        db[i] = fmax(20 * log10(returned_shots(plan, i ? 0.5 : 1, &shot)), grid[i ? 2 : 0]);
    return true;
}

/* Between factors of two, then by halving. */
double ht_plan_layer_longest(const struct ht_plan *plan, double part) {
    const double speed = plan->medium->fastest;
    const double resolved = plan->grid.order > 0 ? 1 : 8; /* cells */
    double low = resolved * plan->grid.h[0], high = low;
    for (int n = 0; n < 40 && returned(plan, speed / high, 1) < part; n++) {
        low = high;
        high *= 2;
    }
    if (returned(plan, speed / high, 1) < part) return INFINITY;
    for (int n = 0; n < 20; n++) {
        const double middle = sqrt(low * high);
        *(returned(plan, speed / middle, 1) >= part ? &high : &low) = middle;
    }
    return high;
}

/* The memories of matched layers begin at 0, which is that of waves that come from outside. */
static void warn_data(const struct ht_plan *plan) {
    const int pulses = plan->params->initial.pulses.count;
    struct ht_pulse pulse;
    int axis;
    for (int i = 0; ht_params_pulse(plan->params, i, &pulse); i++)
        if (ht_layers_hold(&plan->grid, pulse.centre, &axis))
            ht_warn("%s: %s lies in the absorbing layers of x%d, which take waves from outside of "
                    "them alone: what begins there grows; move it, or take absorbing.type = "
                    "\"sponge\"",
                    pulses > 0 ? HT_KEY("initial.pulses.%d.centre", i + 1) : "initial.centre",
                    HT_PLACED(&plan->grid, pulse.centre), axis + 1);
}

void ht_plan_warn_layers(const struct ht_plan *plan) {
    const double most = 0.03;
    const struct ht_shot *shot;
    if (plan->problem.layers == NULL) return;
    if (plan->params->initial.type == HT_DATA_GAUSSIAN && plan->layers.type == HT_ABSORBING_CPML)
        warn_data(plan);
    if (plan->shots == NULL) return;
    const double part = returned_shots(plan, 1, &shot);
    if (part > most)
        ht_warn("absorbing: of the waves of sources.%d %.3g %% come back from the layers, which "
                "absorb no waves longer than %.3g well: take %s",
                shot->group, 100 * part, ht_plan_layer_longest(plan, most),
                plan->layers.stages > 0 ? "a smaller absorbing.alpha, or larger cells"
                                        : "thicker ones (absorbing.cells)");
}
