/* Exact solutions in one dimension, in plane layers: initial data traced back
 * along rays. In a layer with c and Z = rho c,
 *     p = R + L,   v = (R - L)/Z,   R of x - c t, L of x + c t.
 * At an edge a wave that leaves it into layer m is made of two that reach it,
 *     T = 2 Z_m/(Z_q + Z_m) of that from layer q behind the edge, and
 *     r = (Z_q - Z_m)/(Z_q + Z_m) of that from layer m itself,
 * and behind a wall r = +1 (rigid) or -1 (free). So R and L at (x, t) are sums
 * over echoes, the waves that reached an edge a delay before and came from the
 * initial data without meeting another. Echoes with equal delays are merged,
 * so their number grows with time to the power of the layers' number, not
 * exponentially.
 *
 * The origin y of an echo is linear in x, and so coefficient i of the data at y
 * counts with (dy/dx)^i. The system "wave" has K = c^2, rho = 1, and data for u
 * alone; its second field is u_t.
 */
#include "solution_types.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "medium_private.h"

enum { MAX_ECHOES = 100000 };
static const double LEAST_AMPLITUDE = 1e-16;
static const double TINY = 1e-9; /* of the time: delays that are the same */

struct layer {
    double lower, upper, c, Z, time; /* from edge to edge */
};

/* The wave that reaches an edge of `layer` moving along `way` = +1 or -1. */
struct echo {
    double delay, amplitude;
    int layer, way;
};

struct echoes {
    int count, room;
    struct echo *echo;
};

struct stack {
    const struct ht_solution *solution;
    int layers;
    struct layer *layer;
    double time, tiny;
    struct echoes *from[2]; /* of the waves that leave an edge into a layer,
                               to the right (0) and to the left (1) */
};

/* ---- layers ---- */

static enum ht_err make_layer(const struct ht_solution *solution, int i,
                              struct layer *layer) {
    const struct ht_medium *medium = solution->data->medium;
    const struct ht_medium_source *source = medium->source;
    double material[HT_MAX_MATERIALS];
    bool last = i == source->layers - 1;
    layer->lower = i > 0 ? source->interface[i - 1] : solution->grid->lower[0];
    layer->upper = last ? solution->grid->upper[0] : source->interface[i];
    const double x[3] = {(layer->lower + layer->upper) / 2};
    TRY(ht_medium_point(medium, x, material));
    double inverse = solution->eq->nmaterials > 1 ? material[1] : 1;
    layer->c = sqrt(material[0] * inverse);
    layer->Z = layer->c / inverse;
    layer->time = (layer->upper - layer->lower) / layer->c;
    return HT_OK;
}

/* ---- echoes ---- */

static enum ht_err echoes_grow(struct echoes *list) {
    if (list->count < list->room) return HT_OK;
    struct echo *more;
    int room = 2 * list->room + 64;
    TRY(HT_ALLOC(more, room));
    if (list->count > 0)
        memcpy(more, list->echo, (size_t)list->count * sizeof *more);
    free(list->echo);
    list->echo = more;
    list->room = room;
    return HT_OK;
}

/* A heap: an entry's delay is not above those of entries 2 i + 1, 2 i + 2. */
static enum ht_err heap_push(struct echoes *heap, struct echo echo) {
    TRY(echoes_grow(heap));
    int i = heap->count++;
    while (i > 0 && heap->echo[(i - 1) / 2].delay > echo.delay) {
        heap->echo[i] = heap->echo[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap->echo[i] = echo;
    return HT_OK;
}

static struct echo heap_pop(struct echoes *heap) {
    struct echo least = heap->echo[0], last = heap->echo[--heap->count];
    int i = 0;
    for (int next = 1; next < heap->count; next = 2 * i + 1) {
        if (next + 1 < heap->count &&
            heap->echo[next + 1].delay < heap->echo[next].delay)
            next++;
        if (heap->echo[next].delay >= last.delay) break;
        heap->echo[i] = heap->echo[next];
        i = next;
    }
    if (heap->count > 0) heap->echo[i] = last;
    return least;
}

/* What a wave that leaves an edge into a layer along `way` is made of. */
static enum ht_err push_parts(const struct stack *stack, struct echoes *heap,
                              int layer, int way, double delay,
                              double amplitude) {
    const struct ht_grid *grid = stack->solution->grid;
    int behind = layer - way, n = stack->layers;
    struct echo back = {delay, amplitude, layer, -way};
    if (delay > stack->time + stack->tiny) return HT_OK;
    if ((behind < 0 || behind >= n) && !ht_grid_periodic(grid, 0)) {
        back.amplitude *= grid->wall[0][way > 0 ? 0 : 1];
        return heap_push(heap, back);
    }
    behind = (behind + n) % n;
    double Z = stack->layer[layer].Z, other = stack->layer[behind].Z;
    struct echo through = {delay, amplitude * 2 * Z / (other + Z), behind, way};
    back.amplitude *= (other - Z) / (other + Z);
    TRY(heap_push(heap, through));
    return back.amplitude == 0 ? HT_OK : heap_push(heap, back);
}

/* Takes all of the earliest delay off the heap into sum[layer][way < 0]. */
static double take_equal(const struct stack *stack, struct echoes *heap,
                         double (*sum)[2]) {
    double delay = heap->echo[0].delay;
    while (heap->count > 0 && heap->echo[0].delay <= delay + stack->tiny) {
        struct echo echo = heap_pop(heap);
        sum[echo.layer][echo.way < 0] += echo.amplitude;
    }
    return delay;
}

static enum ht_err trace_all(const struct stack *stack, struct echoes *heap,
                             double (*sum)[2], struct echoes *out) {
    while (heap->count > 0 && out->count < MAX_ECHOES) {
        double delay = take_equal(stack, heap, sum);
        for (int i = 0; i < 2 * stack->layers; i++) {
            int layer = i / 2, way = i % 2 ? -1 : 1;
            double amplitude = sum[layer][i % 2];
            sum[layer][i % 2] = 0;
            if (fabs(amplitude) < LEAST_AMPLITUDE) continue;
            TRY(echoes_grow(out));
            out->echo[out->count++] =
                (struct echo){delay, amplitude, layer, way};
            TRY(push_parts(stack, heap, layer, way,
                           delay + stack->layer[layer].time, amplitude));
        }
    }
    return HT_OK;
}

/* Echoes of the wave that leaves an edge into a layer. */
static enum ht_err trace(const struct stack *stack, int layer, int way,
                         struct echoes *out) {
    struct echoes heap = {0};
    double(*sum)[2];
    TRY(HT_ALLOC(sum, stack->layers));
    enum ht_err err = push_parts(stack, &heap, layer, way, 0, 1);
    if (err == HT_OK) err = trace_all(stack, &heap, sum, out);
    free(heap.echo);
    free(sum);
    return err;
}

static void stack_clear(struct stack *stack) {
    for (int s = 0; s < 2; s++) {
        for (int m = 0; stack->from[s] && m < stack->layers; m++)
            free(stack->from[s][m].echo);
        free(stack->from[s]);
    }
    free(stack->layer);
}

/* many: there are more echoes than are kept. */
static enum ht_err stack_fill(struct stack *stack, bool *many) {
    *many = false;
    TRY(HT_ALLOC(stack->layer, stack->layers));
    TRY(HT_ALLOC(stack->from[0], stack->layers));
    TRY(HT_ALLOC(stack->from[1], stack->layers));
    for (int m = 0; m < stack->layers; m++)
        TRY(make_layer(stack->solution, m, &stack->layer[m]));
    for (int m = 0; m < 2 * stack->layers && !*many; m++) {
        struct echoes *out = &stack->from[m % 2][m / 2];
        TRY(trace(stack, m / 2, m % 2 ? -1 : 1, out));
        *many = out->count >= MAX_ECHOES;
    }
    return HT_OK;
}

static struct stack stack_of(const struct ht_solution *solution, double time) {
    return (struct stack){.solution = solution,
                          .layers = solution->data->medium->source->layers,
                          .time = time,
                          .tiny = TINY * time};
}

/* ---- values ---- */

/* Adds amplitude times R (way +1) or L of the initial data of a layer at y,
 * coefficient i times slope^i. */
static enum ht_err add_initial(const struct stack *stack, int layer, int way,
                               double y, double slope, double amplitude,
                               int count, double *out) {
    const struct ht_solution *solution = stack->solution;
    const struct layer *of = &stack->layer[layer];
    double factor[2] = {amplitude / 2, amplitude / 2 * way * of->Z};
    bool wave = solution->eq->nmaterials == 1; /* data for u alone */
    y = fmin(fmax(y, of->lower), of->upper);
    for (int f = 0; f < (wave ? 1 : 2); f++) {
        double jet[HT_MAX_ORDER + 2] = {0}, power = factor[f];
        TRY(solution->data->type->initial(solution, f, y, count, jet));
        for (int i = 0; i < count; i++) {
            out[i] += power * jet[i];
            power *= slope;
        }
    }
    return HT_OK;
}

/* The wave along `way` at x in a layer. */
static enum ht_err add_wave(const struct stack *stack, int m, int way, double x,
                            int count, double *out) {
    const struct layer *layer = &stack->layer[m];
    const struct echoes *list = &stack->from[way < 0][m];
    double edge = way > 0 ? layer->lower : layer->upper;
    double left = stack->time - way * (x - edge) / layer->c;
    if (left < -stack->tiny)
        return add_initial(stack, m, way, x - way * layer->c * stack->time, 1,
                           1, count, out);
    for (int i = 0; i < list->count; i++) {
        const struct echo *echo = &list->echo[i];
        const struct layer *of = &stack->layer[echo->layer];
        double age = left - echo->delay;
        if (age < -stack->tiny) break;
        if (age >= of->time - stack->tiny) continue;
        double from = echo->way > 0 ? of->upper : of->lower;
        TRY(add_initial(
            stack, echo->layer, echo->way, from - echo->way * of->c * age,
            way * echo->way * of->c / layer->c, echo->amplitude, count, out));
    }
    return HT_OK;
}

/* Both fields at x: jet[field][i]. */
static enum ht_err point(const struct stack *stack, double x,
                         double jet[2][HT_MAX_ORDER + 2]) {
    const struct ht_solution *solution = stack->solution;
    int count = solution->grid->order + 1, m = 0;
    bool wave = solution->eq->nmaterials == 1;
    while (m < stack->layers - 1 && x >= stack->layer[m].upper) m++;
    const struct layer *layer = &stack->layer[m];
    memset(jet[0], 0, sizeof jet[0]);
    memset(jet[1], 0, sizeof jet[1]);
    for (int way = -1; way <= 1; way += 2) {
        double part[HT_MAX_ORDER + 2] = {0};
        TRY(add_wave(stack, m, way, x, count + wave, part));
        for (int i = 0; i < count; i++) {
            jet[0][i] += part[i];
            jet[1][i] += wave ? -way * layer->c * (i + 1) * part[i + 1] /
                                    solution->grid->h[0]
                              : way * part[i] / layer->Z;
        }
    }
    return HT_OK;
}

static enum ht_err fill(const struct stack *stack,
                        const struct ht_solution_range *range, double *out) {
    const struct ht_solution *solution = stack->solution;
    const struct ht_grid *grid = solution->grid;
    int count = grid->order + 1;
    bool walls = range->subgrid == HT_PRIMARY && !ht_grid_periodic(grid, 0);
    for (int64_t m = 0; m < range->nodes; m++) {
        double jet[2][HT_MAX_ORDER + 2];
        TRY(point(stack, ht_grid_x(grid, range->subgrid, 0, m), jet));
        for (int f = 0; f < 2; f++) {
            if (walls && m == 0)
                ht_solution_clear_wall(solution, f, 0, 0, jet[f]);
            if (walls && m == range->nodes - 1)
                ht_solution_clear_wall(solution, f, 0, 1, jet[f]);
            for (int i = 0; i < count; i++)
                out[((int64_t)f * count + i) * range->nodes + m] = jet[f][i];
        }
    }
    return HT_OK;
}

enum ht_err ht_solution_fill_layered(const struct ht_solution *solution,
                                     const struct ht_solution_range *range,
                                     double *out) {
    struct stack stack = stack_of(solution, range->time);
    bool many = false;
    enum ht_err err = stack_fill(&stack, &many);
    if (err == HT_OK && many)
        err = ht_err_set(HT_ERR_INPUT,
                         "more than %d echoes up to time %g: no exact solution",
                         (int)MAX_ECHOES, range->time);
    if (err == HT_OK) err = fill(&stack, range, out);
    stack_clear(&stack);
    return err;
}

/* ---- whether it applies ---- */

static bool applies(const struct ht_solution *solution) {
    const struct ht_medium *medium = solution->data->medium;
    const struct ht_system *system = solution->eq->system;
    const struct ht_medium_source *source = medium->source;
    if (!solution->data->type->initial || !source) return false;
    if (source->type != HT_MEDIUM_LAYERS || solution->grid->dims != 1)
        return false;
    return system == ht_system_find("acoustic") ||
           (system == ht_system_find("wave") &&
            !solution->data->type->occurs(solution, 1));
}

enum ht_err ht_solution_find_layered(struct ht_solution *solution) {
    if (!applies(solution)) return HT_OK;
    struct stack stack = stack_of(solution, solution->data->params->time.end);
    bool many = false;
    enum ht_err err = stack_fill(&stack, &many);
    stack_clear(&stack);
    solution->data->layered = err == HT_OK && !many;
    if (solution->data->layered) solution->exact = true;
    return err;
}
