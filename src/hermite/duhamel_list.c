/* Nodes and shapes of sources on one grid. Distances between nodes and points are whole multiples
 * of 2^-32 cells, so that mirror images have exactly the distances that mirrored nodes have, and
 * nodes that lie alike about points of the same kind share a shape. */
#include "duhamel_private.h"
#include "src/solve/columns.h"

/* The shapes of sources: G_r of docs/developers/sources.md with all derivatives at a node. In units
 * of a cell, with the numbers nu_k = c tau/h_k, (c tau)^(2l) lap^l = sum over a + b + c = l of
 *         l!/(a! b! c!) (nu_1 d_1)^(2a) (nu_2 d_2)^(2b) (nu_3 d_3)^(2c),
 * so that for a product of functions of each axis lap^l is a convolution of three sequences. */

/* At most: powers of the Laplacian, derivatives of up to four powers of L of all fields, powers of
 * L; factorials up to j + r + 1. */
enum { MOST_POWERS = 48, MOST_TERMS = 35 * HT_MAX_FIELDS, MOST_J = 2 * (MOST_POWERS + 3) };
enum { FACTORIALS = MOST_J + HT_DUHAMEL_TERMS };

/* Of waves of two speeds, r = c_2^2/c_1^2, the power L^(2l+s) g has (r^l - r)/(1 - r) times lap^l
 * of L^s g and (1 - r^l)/(1 - r) times lap^(l-1) of L^(s+2) g; of one lap^l of L^s g alone. */
enum { ALONE, OWN, MORE, SCALES };

/* factor times the shift-th derivatives of lap^l of the Gaussian, of all l or of 0 alone, for j = 2
 * (l + first) + odd. */
struct term {
    int field, odd, first, shift[3], scale;
    bool single;
    long double factor;
};

/* Adds `term`, to one of its field and shift. */
static void merge(struct term *list, int *count, const struct term *term) {
    int i = 0;
    while (i < *count && (list[i].field != term->field ||
                          memcmp(list[i].shift, term->shift, sizeof term->shift) != 0))
        i++;
    if (i == *count)
        list[(*count)++] = *term;
    else
        list[i].factor += term->factor;
}

/* L of a list of derivatives of the Gaussian. */
static int apply(const struct ht_equations *eq, const double *material, int count,
                 const struct term *list, struct term *out) {
    int made = 0;
    for (int i = 0; i < count; i++)
        HT_EACH(const struct ht_term, by, eq->term, eq->nterms) {
            struct term term = list[i];
            if (by->col != term.field) continue;
            term.field = by->row;
            term.shift[by->axis] += by->derivative;
            term.factor *= by->coef * (by->material < 0 ? 1 : material[by->material]);
            merge(out, &made, &term);
        }
    return made;
}

/* Whether L^2 of a field, in this list, is c^2 times its Laplacian: L^(2l) g is c^(2l) lap^l g. */
static bool is_laplacian(int dims, int count, const struct term *list, int field) {
    const long double *factor = NULL;
    int axes = 0;
    HT_EACH_BY(i, const int, shift, list[i].shift, count) {
        if (list[i].field != field) continue;
        if (shift[0] != 2 && shift[1] != 2 && shift[2] != 2) return false;
        if (factor != NULL && *factor != list[i].factor) return false;
        factor = &list[i].factor;
        axes++;
    }
    return axes == dims;
}

double ht_source_ratio(const struct ht_equations *eq, const double *material) {
    const double k[3] = {1, 0, 0};
    double real[HT_MAX_FIELDS] = {0}, imaginary[HT_MAX_FIELDS] = {0}, omega[2];
    if (eq->second_order.known ||
        !ht_equations_plane(eq, material, k, 1, real, imaginary, &omega[0]) ||
        !ht_equations_plane(eq, material, k, 2, real, imaginary, &omega[1]))
        return 1;
    return omega[1] / omega[0];
}

static int list_terms(const struct ht_problem *p, const struct ht_source_vector *v,
                      struct term *list) {
    const struct ht_equations *eq = p->eq;
    const bool two = ht_source_ratio(eq, v->material) < 1;
    const long double tau = p->dt / 2;
    struct term power[2][MOST_TERMS];
    bool whole[HT_MAX_FIELDS] = {false};
    int count = 0;
    for (int f = 0; f < eq->nfields; f++)
        if (v->field[f] != 0)
            list[count++] = (struct term){.field = f, .single = true, .factor = v->field[f]};
    int made = count;
    memcpy(power[0], list, (size_t)count * sizeof *list);
    for (int j = 1; j <= (two ? 4 : 2); j++) {
        const struct term *term = power[j % 2];
        made = apply(eq, v->material, made, power[(j - 1) % 2], power[j % 2]);
        for (int i = 0; j == 2 && !two && i < count && list[i].single; i++) {
            whole[list[i].field] = is_laplacian(eq->dims, made, term, list[i].field);
            list[i].single = !whole[list[i].field];
        }
        for (int i = 0; i < made; i++, term++) {
            if (term->factor == 0 || (j == 2 && whole[term->field])) continue;
            list[count] = *term;
            list[count].single = false;
            list[count].odd = j % 2;
            list[count].first = j / 2;
            list[count++].scale = !two ? ALONE : j <= 2 ? OWN : MORE;
        }
    }
    HT_EACH(struct term, term, list, count) {
        term->factor *= powl(tau, term->odd + 1 + 2 * term->first);
        for (int k = 0; k < eq->dims; k++)
            term->factor /= powl(p->grid->h[k], (v->along[k] > 0) + term->shift[k]);
    }
    return count;
}

/* ---- numbers ---- */

/* P_j = tau^(j+1) L^j g, with all its derivatives at distances in cells from the centre. */
struct shaper {
    const struct ht_problem *problem;
    const struct ht_source_vector *vector;
    int powers, count, terms; /* count: derivatives per axis */
    struct term list[MOST_TERMS];
    long double travel[3][MOST_POWERS + 1]; /* nu^(2a)/a! */
    long double factorial[FACTORIALS];
    long double scale[SCALES][MOST_POWERS + 1];
    long double place[3][HT_FLAT_DERIVATIVES];    /* derivatives of each axis' factor */
    long double weight[HT_DUHAMEL_TERMS][MOST_J]; /* of P_j in G_r: the integral of P_r over
                                                     tau^(j+1); 0 for j < r */
};

/* Cells that waves travel in half a step. */
static double courant(const struct ht_problem *p, const struct ht_source_vector *v, int axis) {
    const double speed = ht_equations_speed(p->eq, v->material, 0, false);
    return axis < p->eq->dims ? speed * p->dt / 2 / p->grid->h[axis] : 0;
}

/* The least power beyond which a wave of any length adds less than 1e-13 within a half step:
 * (nu k)^(2m)/(2m)! times the spectrum; nu in radii. */
int ht_source_powers_within(const struct ht_problem *p, const struct ht_source_vector *v) {
    enum { WAVES = 63 }; /* k = (i + 1)/4 */
    double part[WAVES], nu = 0, most = INFINITY;
    int m = 0;
    for (int k = 0; k < p->eq->dims; k++)
        if (v->along[k] > 0) nu = fmax(nu, fabs(courant(p, v, k)) / v->along[k]);
    for (int i = 0; i < WAVES; i++)
        part[i] = fmax(1 - ht_flat_missing(v->order, (i + 1) / 4.0), 1e-15);
    while (m < MOST_POWERS && most >= 1e-13) {
        m++;
        most = 0;
        for (int i = 0; i < WAVES; i++) {
            const double x = nu * (i + 1) / 4.0;
            part[i] *= x * x / (2 * m * (2 * m - 1));
            most = fmax(most, part[i]);
        }
    }
    return m;
}

/* For so many powers of the Laplacian; of so many G_r. */
static void make_shaper(const struct ht_problem *p, const struct ht_source_vector *v, int powers,
                        int count, struct shaper *s) {
    s->problem = p;
    s->vector = v;
    s->powers = powers;
    s->count = p->grid->order + 2 * powers + 5;
    s->terms = list_terms(p, v, s->list);
    s->factorial[0] = 1;
    for (int n = 1; n < FACTORIALS; n++) s->factorial[n] = n * s->factorial[n - 1];
    const long double *f = s->factorial, ratio = ht_source_ratio(p->eq, v->material);
    const long double square = ratio * ratio;
    for (int l = 0; l <= powers; l++) {
        s->scale[ALONE][l] = 1;
        s->scale[OWN][l] = square < 1 ? (powl(square, l) - square) / (1 - square) : 0;
        s->scale[MORE][l] = square < 1 ? (1 - powl(square, l + 1)) / (1 - square) : 0;
    }
    for (int r = 0; r < count; r++)
        for (int j = 0; j < MOST_J; j++)
            s->weight[r][j] = j < r ? 0 : (r % 2 ? -1 : 1) * f[j] / (f[j - r] * f[j + r + 1]);
    for (int k = 0; k < 3; k++) {
        const long double nu = courant(p, v, k);
        s->travel[k][0] = 1;
        for (int a = 1; a <= powers; a++) s->travel[k][a] = s->travel[k][a - 1] * nu * nu / a;
    }
}

static void set_place(struct shaper *s, const long double distance[3]) {
    const struct ht_source_vector *v = s->vector;
    memset(s->place, 0, sizeof s->place);
    for (int k = 0; k < 3; k++) {
        const double radius = v->along[k];
        long double *out = s->place[k], power = 1;
        out[0] = 1;
        if (!(radius > 0)) continue;
        ht_flat_derivatives(v->order, distance[k] / radius, s->count, out);
        for (int n = 0; n < s->count; n++) {
            power /= radius;
            out[n] *= power;
        }
    }
}

/* The sequence of an axis over a, of the i-th coefficient. */
static void find_sequence(const struct shaper *s, const struct term *term, int axis, int i,
                          long double *out) {
    const long double *derivative = s->place[axis] + i + term->shift[axis];
    for (int a = 0; a <= (term->single ? 0 : s->powers); a++)
        out[a] = s->travel[axis][a] * derivative[(ptrdiff_t)2 * a] / s->factorial[i];
}

static void convolve(int powers, const long double *a, const long double *b, long double *out) {
    for (int l = 0; l <= powers; l++) {
        long double sum = 0;
        for (int m = 0; m <= l; m++) sum += a[m] * b[l - m];
        out[l] = sum;
    }
}

/* Of P_j of a field the derivative number i along each axis, over i!: out[i1 < count][j]. */
static void find_powers(const struct shaper *s, int field, int count, int i2, int i3,
                        long double out[][MOST_J]) {
    memset(out, 0, (size_t)count * sizeof *out);
    for (const struct term *term = s->list; term < s->list + s->terms; term++) {
        const int powers = term->single ? 0 : s->powers;
        long double a[3][MOST_POWERS + 1], lower[MOST_POWERS + 1], all[MOST_POWERS + 1];
        if (term->field != field) continue;
        find_sequence(s, term, 1, i2, a[1]);
        find_sequence(s, term, 2, i3, a[2]);
        convolve(powers, a[1], a[2], lower);
        for (int i1 = 0; i1 < count; i1++) {
            find_sequence(s, term, 0, i1, a[0]);
            convolve(powers, a[0], lower, all);
            for (int l = 0; l <= powers; l++)
                out[i1][2 * (l + term->first) + term->odd] +=
                    term->factor * s->factorial[l] * s->scale[term->scale][l] * all[l];
        }
    }
}

void ht_source_powers(const struct ht_problem *problem, const struct ht_source_vector *vector,
                      const long double distance[3], int field, int slope, int last, double *out) {
    long double power[2][MOST_J];
    struct shaper s;
    make_shaper(problem, vector, (int)ht_least(last / 2, MOST_POWERS), 0, &s);
    set_place(&s, distance);
    find_powers(&s, field, 2, slope == 1, slope == 2, power);
    for (int j = 0; j <= last && j < MOST_J; j++)
        out[j] += (double)(power[slope == 0][j] / (slope < 0 ? 1 : problem->grid->h[slope]));
}

/* G_r: out[field that the grid stores][r][coefficient]. */
static void find_shape(const struct shaper *s, enum ht_subgrid to, double *out) {
    const struct ht_problem *p = s->problem;
    const int n = p->grid->order + 1, coefs = (int)ht_grid_coefs(p->grid);
    HT_EACH_STORED(f, p, to) {
        for (int c = 0; c < coefs; c += n) {
            long double power[HT_MAX_ORDER + 1][MOST_J];
            find_powers(s, f, n, c / n % n, c / n / n, power);
            for (int i = 0; i < n * p->duhamel->terms; i++) {
                const int r = i / n;
                long double sum = 0;
                for (int j = r; j < 2 * (s->powers + 3); j++)
                    sum += s->weight[r][j] * power[i % n][j];
                out[r * coefs + c + i % n] = (double)sum;
            }
        }
        out += (int64_t)p->duhamel->terms * coefs;
    }
}

static const int64_t one = (int64_t)1 << HT_SOURCE_FRACTION;

/* ---- images behind walls ---- */

/* Image number n of a point: a period further each, or 2 j: two mirrors further, 2 j + 1: mirrored
 * at the upper wall, -1: at the lower one. */
static struct ht_source_mirror mirror_of(const struct ht_grid *grid, int axis, int64_t at,
                                         int64_t n) {
    const int64_t length = grid->cells[axis] * one;
    const int low = grid->wall[axis][0], high = grid->wall[axis][1];
    const bool mirrored = !ht_grid_periodic(grid, axis) && n % 2 != 0;
    const int64_t upper = n > 0 ? (n + 1) / 2 : -n / 2, lower = n > 0 ? n / 2 : (1 - n) / 2;
    return (struct ht_source_mirror){.at = mirrored ? (n + 1) * length - at : n * length + at,
                                     .factor = (high < 0 && upper % 2 != 0 ? -1 : 1) *
                                               (low < 0 && lower % 2 != 0 ? -1 : 1),
                                     .mirrored = mirrored};
}

void ht_source_images(const struct ht_problem *problem, const struct ht_source_point *point,
                      struct ht_source_images *out) {
    const struct ht_grid *grid = problem->grid;
    const struct ht_source_form *form = &problem->duhamel->form[point->shot];
    out->problem = problem;
    out->vector = ht_source_vector(problem, point);
    for (int k = 0; k < 3; k++) {
        out->count[k] = 1;
        out->axis[k][0] = (struct ht_source_mirror){.factor = 1};
        if (!ht_source_varies(form, k)) continue;
        const double x = (point->x[k] - grid->lower[k]) / grid->h[k];
        const int64_t at = llround(ldexp(x, HT_SOURCE_FRACTION)), length = grid->cells[k] * one;
        const int64_t far = llround(ldexp(form->reach[k] + 1, HT_SOURCE_FRACTION));
        const int64_t most = far / length + 2;
        out->count[k] = 0;
        for (int64_t n = -most; n <= most && out->count[k] < HT_SOURCE_IMAGES; n++) {
            const struct ht_source_mirror image = mirror_of(grid, k, at, n);
            if (image.at + far >= 0 && image.at - far <= length)
                out->axis[k][out->count[k]++] = image;
        }
    }
}

bool ht_source_image(const struct ht_source_images *all, int64_t n, int64_t at[3],
                     struct ht_source_vector *out) {
    const struct ht_equations *eq = all->problem->eq;
    *out = all->vector;
    for (int k = 0; k < 3; n /= all->count[k], k++) {
        const struct ht_source_mirror *m = &all->axis[k][n % all->count[k]];
        at[k] = m->at;
        for (int f = 0; f < eq->nfields; f++)
            out->field[f] *=
                m->mirrored && (eq->field[f].parity >> k & 1u) ? -m->factor : m->factor;
    }
    return n == 0;
}

struct ht_source_vector ht_source_vector(const struct ht_problem *problem,
                                         const struct ht_source_point *point) {
    const struct ht_duhamel *d = problem->duhamel;
    const struct ht_shot *shot = &d->shots->shot[point->shot];
    struct ht_source_vector v = {.order = d->form[point->shot].order};
    memcpy(v.along, d->form[point->shot].along, sizeof v.along);
    memcpy(v.material, point->material, sizeof v.material);
    HT_EACH(const struct ht_drive, drive, shot->drive, shot->drives)
        v.field[drive->field] =
            drive->weight * (drive->material < 0 ? 1 : point->material[drive->material]);
    return v;
}

enum { STEPS_PER_CELL = 16 };

/* By distance in steps of 1/16 cell the largest derivative there and beyond, over that of all. */
struct envelope {
    int count;
    double value[64 * STEPS_PER_CELL];
};

static void make_envelope(const struct ht_source_form *form, int axis, int order,
                          struct envelope *e) {
    enum { MOST = sizeof e->value / sizeof *e->value };
    const double radius = form->along[axis];
    double largest[HT_MAX_ORDER + 2] = {0}, size[HT_MAX_ORDER + 2][MOST];
    long double at[HT_MAX_ORDER + 2];
    memset(e, 0, sizeof *e);
    for (int i = 0; i < MOST; i++) {
        ht_flat_derivatives(form->order, (long double)i / STEPS_PER_CELL / radius, order + 2, at);
        for (int n = 0; n < order + 2; n++) {
            size[n][i] = fabs((double)at[n]);
            largest[n] = fmax(largest[n], size[n][i]);
        }
    }
    for (int n = 0; n < order + 2; n++)
        for (int i = 0; i < MOST; i++) e->value[i] = fmax(e->value[i], size[n][i] / largest[n]);
    for (int i = MOST - 2; i >= 0; i--) e->value[i] = fmax(e->value[i], e->value[i + 1]);
    while (e->count < MOST && e->value[e->count] >= form->cut) e->count++;
}

double ht_source_reach(const struct ht_source_form *form, int axis, int order) {
    struct envelope e;
    make_envelope(form, axis, order, &e);
    return (double)e.count / STEPS_PER_CELL;
}

struct axis_nodes {
    int64_t count;
    struct axis_node {
        int64_t index;    /* in the window */
        int64_t distance; /* from the image */
        double size;      /* envelope */
        int wall;
    } * node;
};

struct listing {
    const struct ht_problem *problem;
    const struct ht_grid *grid;
    enum ht_subgrid to;
    const struct ht_window *window;
    struct envelope *envelope; /* [shot][axis]; where it varies */
    struct axis_nodes axis[3];
    struct ht_pool pool; /* of both */
    bool counts;         /* alone */
    int64_t entries;
    struct ht_columns columns;
    int vectors;
    int64_t vector_room;
    struct ht_source_vector *vector;
    int64_t shapes, key_room;
    struct key {
        int64_t vector, distance[3];
    } * key;
    int64_t slots; /* a power of two */
    int *slot;     /* hash table of the keys: 0: empty, else number + 1 */
};

/* The walls on which a node lies, as in htwave/tool.h. */
static int wall_of(const struct ht_grid *grid, enum ht_subgrid to, int axis, int64_t m) {
    int bits = 0;
    for (int side = 0; side < 2; side++) {
        const int64_t end = side == 0 ? 0 : ht_grid_nodes(grid, to, axis) - 1;
        const int factor = grid->wall[axis][side];
        if (to == HT_PRIMARY && m == end && factor != 0) bits |= 1 << (axis + (factor < 0 ? 3 : 0));
    }
    return bits;
}

/* e: NULL along an axis on which the source is constant; nu: cells that waves go in a half step. */
static void list_nodes(struct listing *l, int axis, int64_t at, const struct envelope *e,
                       double nu) {
    struct axis_nodes *list = &l->axis[axis];
    const struct ht_box *held = &l->window->held;
    const int64_t nodes = ht_grid_nodes(l->grid, l->to, axis);
    list->count = 0;
    for (int64_t i = held->begin[axis]; i < held->end[axis]; i++) {
        int64_t m = l->window->origin[axis] + i; /* the node of the grid */
        if (ht_grid_periodic(l->grid, axis)) m = (m % nodes + nodes) % nodes;
        struct axis_node node = {.index = i, .size = 1, .wall = wall_of(l->grid, l->to, axis, m)};
        if (e != NULL) {
            node.distance = m * one + (l->to == HT_DUAL ? one / 2 : 0) - at;
            const double beyond =
                fmax(0, fabs(ldexp((double)node.distance, -HT_SOURCE_FRACTION)) - nu);
            if (beyond * STEPS_PER_CELL >= e->count) continue;
            node.size = e->value[(int)(beyond * STEPS_PER_CELL)];
        }
        list->node[list->count++] = node;
    }
}

/* ---- shapes ---- */

static bool same_vector(const struct ht_source_vector *a, const struct ht_source_vector *b) {
    bool same = a->order == b->order;
    for (int k = 0; k < 3; k++) same = same && a->along[k] == b->along[k];
    for (int f = 0; f < HT_MAX_FIELDS; f++) same = same && a->field[f] == b->field[f];
    for (int m = 0; m < HT_MAX_MATERIALS; m++) same = same && a->material[m] == b->material[m];
    return same;
}

static HT_ERR find_vector(struct listing *l, const struct ht_source_vector *v, int *out) {
    int i = l->vectors - 1;
    while (i >= 0 && !same_vector(&l->vector[i], v)) i--;
    *out = i >= 0 ? i : l->vectors;
    if (i >= 0) return HT_OK;
    TRY(HT_GROW(l->vector, l->vectors + 1, l->vector_room));
    l->vector[l->vectors++] = *v;
    return HT_OK;
}

static int *slot_of(const struct listing *l, const struct key *key) {
    int64_t i = (int64_t)(ht_hash(HT_HASH_SEED, key, sizeof *key) & (uint64_t)(l->slots - 1));
    while (l->slot[i] != 0 && memcmp(&l->key[l->slot[i] - 1], key, sizeof *key) != 0)
        i = (i + 1) & (l->slots - 1);
    return &l->slot[i];
}

static HT_ERR number_shape(struct listing *l, const struct key *key, int *out) {
    if (2 * l->shapes >= l->slots) {
        free(l->slot);
        l->slot = NULL;
        l->slots = ht_most(1024, 2 * l->slots);
        TRY(HT_ALLOC(l->slot, l->slots));
        for (int i = 0; i < l->shapes; i++) *slot_of(l, &l->key[i]) = i + 1;
    }
    int *slot = slot_of(l, key);
    if (*slot == 0) {
        REQUIRE(l->shapes < INT32_MAX - 1, HT_ERR_MEMORY, "sources have too many nodes");
        TRY(HT_GROW(l->key, l->shapes + 1, l->key_room));
        l->key[l->shapes] = *key;
        *slot = (int)++l->shapes;
    }
    *out = *slot - 1;
    return HT_OK;
}

static HT_ERR add_image(struct listing *l, const struct ht_source_point *point,
                        const struct ht_source_vector *v, const int64_t at[3]) {
    const struct ht_source_form *form = &l->problem->duhamel->form[point->shot];
    int vector;
    TRY(find_vector(l, v, &vector));
    for (int k = 0; k < 3; k++)
        list_nodes(l, k, at[k],
                   ht_source_varies(form, k) ? &l->envelope[3 * point->shot + k] : NULL,
                   fabs(courant(l->problem, v, k)));
    /* The nodes of the axes' lists of which the product of envelopes counts. */
    const struct axis_nodes *a = l->axis;
    for (int64_t i3 = 0; i3 < a[2].count; i3++)
        for (int64_t i2 = 0; i2 < a[1].count; i2++)
            for (int64_t i1 = 0; i1 < a[0].count; i1++) {
                const struct axis_node *n[3] = {&a[0].node[i1], &a[1].node[i2], &a[2].node[i3]};
                struct ht_column_entry entry = {
                    .at = ht_window_at(l->window, n[0]->index, n[1]->index, n[2]->index),
                    .column = point->shot,
                    .wall = n[0]->wall | n[1]->wall | n[2]->wall};
                const struct key key = {
                    .vector = vector, .distance = {n[0]->distance, n[1]->distance, n[2]->distance}};
                if (n[0]->size * n[1]->size * n[2]->size < form->cut) continue;
                TRY(number_shape(l, &key, &entry.shape));
                l->entries++;
                if (!l->counts) TRY(ht_columns_add(&l->columns, entry));
            }
    return HT_OK;
}

static HT_ERR make_shapes(const struct listing *l, struct ht_injection_grid *out) {
    struct ht_inject_shapes *s = &out->shapes;
    const struct ht_duhamel *d = l->problem->duhamel;
    *s = (struct ht_inject_shapes){.fields = ht_problem_stored(l->problem, l->to),
                                   .terms = d->terms,
                                   .coefs = ht_grid_coefs(l->grid),
                                   .columns = d->shots->count,
                                   .count = l->shapes};
    const int64_t size = (int64_t)s->fields * s->terms * s->coefs;
    TRY(HT_ALLOC(s->value, s->count * size));
    TRY(HT_TAKE(&out->pool, s->odd, (int64_t)s->fields * s->coefs));
    /* odd[stored field][coefficient] of htwave/tool.h. */
    int *odd = s->odd;
    const struct ht_equations *eq = l->problem->eq;
    const int n = l->problem->grid->order + 1;
    HT_EACH_STORED(f, l->problem, l->to) {
        for (int i = 0; i < s->coefs; i++) {
            const int j[3] = {i % n, i / n % n, i / n / n};
            *odd++ = (int)eq->field[f].parity ^ ((j[0] & 1) | (j[1] & 1) << 1 | (j[2] & 1) << 2);
        }
    }
    /* In the order of their numbers, in which few neighbours differ in the vector. */
    HT_ARRAY(struct shaper, shaper, 1);
    for (int64_t i = 0; i < l->shapes; i++) {
        const struct key *key = &l->key[i];
        const struct ht_source_vector *v = &l->vector[key->vector];
        long double distance[3];
        for (int k = 0; k < 3; k++) distance[k] = (long double)key->distance[k] / (long double)one;
        if (i == 0 || key->vector != key[-1].vector)
            make_shaper(l->problem, v, ht_source_powers_within(l->problem, v), d->terms, shaper);
        set_place(shaper, distance);
        find_shape(shaper, l->to, s->value + i * size);
    }
    return HT_OK;
}

/* ---- for a window ---- */

static void free_listing(struct listing *l) {
    ht_pool_free(&l->pool);
    free(l->columns.entry);
    free(l->vector);
    free(l->key);
    free(l->slot);
}

static HT_ERR walk(struct listing *l) {
    const struct ht_duhamel *d = l->problem->duhamel;
    TRY(HT_TAKE(&l->pool, l->envelope, 3 * (int64_t)d->shots->count));
    for (int i = 0; i < d->shots->count; i++)
        for (int k = 0; k < 3; k++)
            if (ht_source_varies(&d->form[i], k))
                make_envelope(&d->form[i], k, l->grid->order, &l->envelope[3 * i + k]);
    for (int k = 0; k < 3; k++) TRY(HT_TAKE(&l->pool, l->axis[k].node, l->window->count[k]));
    for (int64_t i = 0; i < d->points; i++) {
        struct ht_source_images images;
        struct ht_source_vector vector;
        int64_t at[3];
        ht_source_images(l->problem, &d->point[i], &images);
        for (int64_t n = 0; ht_source_image(&images, n, at, &vector); n++)
            TRY(add_image(l, &d->point[i], &vector, at));
    }
    return HT_OK;
}

HT_ERR ht_injection_list(const struct ht_problem *problem, enum ht_subgrid to,
                         const struct ht_window *window, struct ht_injection_grid *out) {
    HT_ENDED(free_listing)
    struct listing l = {.problem = problem, .grid = problem->grid, .to = to, .window = window};
    TRY(walk(&l));
    TRY(ht_columns_list(&l.columns, window->count[2], ht_window_plane(window), &out->pool,
                        &out->list, &out->plane, NULL));
    return make_shapes(&l, out);
}

HT_ERR ht_injection_count(const struct ht_problem *problem, enum ht_subgrid to,
                          struct ht_injection_counts *out) {
    const struct ht_grid whole = ht_grid_whole(problem->grid);
    const struct ht_window window = ht_window_make(&whole, to, 0, 0);
    HT_ENDED(free_listing)
    struct listing l = {
        .problem = problem, .grid = &whole, .to = to, .window = &window, .counts = true};
    TRY(walk(&l));
    *out = (struct ht_injection_counts){.nodes = ht_least(l.entries, ht_grid_total(&whole, to)),
                                        .entries = l.entries,
                                        .shapes = l.shapes};
    return HT_OK;
}
