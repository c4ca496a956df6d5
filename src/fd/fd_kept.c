/* The forward field from what the run kept on the device. The run is cut into segments of equal
 * length: where a segment begins, its state is kept, and of each step of one segment the increments
 * and what the step began with. They are those of the last segment at first; each other one is run
 * again from its state when it is needed. One segment stores all steps. */
#include "fd_gradient.h"

/* What later steps depend on. */
struct state {
    struct ht_buffer *array[HT_FD_MOST_STATE];
    double level, mean;
    int64_t since;
    bool start;
};
struct kept {
    struct ht_fd_past past;
    int64_t segments, length;
    struct state *state; /* [segment]; of the first and the last one nothing */
    struct ht_buffer *(*step)[HT_FD_MOST_STATE]; /* [step of the segment] */
    int64_t shown;                               /* segment */
    struct ht_buffer *own[HT_FD_MOST_STATE];     /* the stepper's while it has a step's */
    bool lent;
    struct ht_pool pool;
};

/* Array i of the stepper's state, in which a step's own may be. */
static struct ht_buffer **array_of(const struct ht_fd_past *past, int i) {
    struct ht_fd_list list = {.count = 0};
    past->forward->kind->list(past->forward, &list);
    return list.row[i].at;
}

/* back: to the stepper. */
static HT_ERR move_state(struct ht_fd_stepper *s, struct state *of, bool back) {
    struct ht_fd_list list = {.count = 0};
    s->kind->list(s, &list);
    for (int i = 0; i < list.count && (list.row[i].use & HT_FD_STATE); i++) {
        struct ht_buffer *const own = *list.row[i].at, *const kept = of->array[i];
        TRY(s->engine.ops->copy(s->engine.products, list.row[i].numbers, back ? kept : own,
                                back ? own : kept));
    }
    if (!back) {
        of->level = s->level;
        of->mean = s->mean;
        of->since = s->since;
        of->start = s->layers.start;
        return HT_OK;
    }
    s->level = of->level;
    s->mean = of->mean;
    s->since = of->since;
    s->layers.start = of->start;
    for (int a = 0; a < HT_FD_NAMES; a++) ht_halo_overwritten(&s->r.state, a);
    return HT_OK;
}

/* ---- steps ---- */

static int64_t end_of(const struct kept *k, int64_t segment) {
    return ht_least((segment + 1) * k->length, k->past.steps);
}

/* After step n, or before the first one, of the segment that is shown. */
static HT_ERR keep_step(struct kept *k, int64_t n) {
    struct ht_fd_stepper *s = k->past.forward;
    const int64_t i = n - k->shown * k->length, numbers = ht_fd_numbers(s);
    HT_EACH_BIT(a, i > 0 ? k->past.increments : 0)
        TRY(s->engine.ops->copy(s->engine.products, numbers, *array_of(&k->past, a),
                                k->step[i - 1][a]));
    if (n == end_of(k, k->shown)) return HT_OK;
    if (k->past.slopes) TRY(ht_runner_complete(&s->r));
    HT_EACH_BIT(a, k->past.values)
        TRY(s->engine.ops->copy(s->engine.products, numbers, *array_of(&k->past, a),
                                k->step[i][a]));
    return HT_OK;
}

static void give_back(struct ht_fd_past *past) {
    struct kept *k = (struct kept *)past;
    HT_EACH_BIT(a, k->lent ? past->values | past->increments : 0) *array_of(past, a) = k->own[a];
    k->lent = false;
}

/* ---- functions of struct ht_fd_past_ops ---- */

static HT_ERR begin(struct ht_fd_past *past) {
    struct kept *k = (struct kept *)past;
    k->shown = k->segments - 1;
    return HT_OK;
}

static HT_ERR look(struct ht_fd_past *past, int64_t step) {
    struct kept *k = (struct kept *)past;
    const int64_t segment = step / k->length;
    if (segment >= k->segments - 1) return keep_step(k, step);
    if (segment == 0 || step % k->length > 0) return HT_OK;
    return move_state(past->forward, &k->state[segment], false);
}

static HT_ERR show(struct ht_fd_past *past, int64_t n) {
    struct kept *k = (struct kept *)past;
    struct ht_fd_stepper *s = past->forward;
    const int64_t segment = (n - 1) / k->length;
    if (segment != k->shown) { /* it is run again */
        const int64_t first = segment * k->length;
        give_back(past);
        k->shown = segment;
        TRY(segment == 0 ? ht_fd_rest(s) : move_state(s, &k->state[segment], true));
        s->at = first;
        TRY(keep_step(k, first));
        for (int64_t i = first + 1; i <= end_of(k, segment); i++) {
            TRY(ht_runner_half_step(s, HT_PRIMARY));
            TRY(keep_step(k, i));
        }
        TRY(ht_runner_complete(&s->r));
    }
    if (!k->lent) TRY(ht_runner_complete(&s->r));
    const int64_t at = n - 1 - segment * k->length;
    HT_EACH_BIT(a, past->values | past->increments) {
        struct ht_buffer **array = array_of(past, a);
        if (!k->lent) k->own[a] = *array;
        *array = k->step[at][a];
        past->after[a] = n == end_of(k, segment) ? k->own[a] : k->step[at + 1][a];
    }
    k->lent = true;
    ht_halo_overwritten(&s->r.state, HT_FD_U);
    s->at = n - 1;
    return HT_OK;
}

static void destroy(struct ht_fd_past *past) {
    struct kept *k = (struct kept *)past;
    give_back(past);
    for (int64_t i = 0; k->step != NULL && i < k->length; i++)
        for (int j = 0; j < HT_FD_MOST_STATE; j++) ht_buffer_destroy(k->step[i][j]);
    for (int64_t i = 0; k->state != NULL && i < k->segments; i++)
        for (int j = 0; j < HT_FD_MOST_STATE; j++) ht_buffer_destroy(k->state[i].array[j]);
    ht_pool_free(&k->pool);
    free(k);
}

static const struct ht_fd_past_ops ops = {
    .begin = begin, .look = look, .show = show, .end = give_back, .destroy = destroy};

/* ---- making ---- */

/* The longest segments that fit; bytes of a step and of a state. */
static HT_ERR choose(struct kept *k, bool store, double memory, const double bytes[2]) {
    const int64_t steps = k->past.steps;
    double least = INFINITY;
    for (int64_t wanted = 1; wanted <= (store ? 1 : ht_most(steps, 1)); wanted++) {
        k->length = ht_most(ht_divide_up(steps, wanted), 1);
        k->segments = ht_most(ht_divide_up(steps, k->length), 1);
        const double states = (double)ht_most(k->segments - 2, 0);
        const double all = (double)k->length * bytes[0] + states * bytes[1];
        k->past.facts.field_bytes = (int64_t)all;
        k->past.facts.segments = k->segments;
        if (all <= memory) return HT_OK;
        least = fmin(least, all);
    }
    /* Pairs have no run backwards. */
    FAIL(HT_ERR_DEVICE,
         "gradient.memory: the forward field takes %s of the device%s, and may take %s: take more "
         "of it,%s%s fewer steps or cells, or more ranks",
         HT_BYTES(least), store ? "" : " at least", HT_BYTES(memory),
         store ? " gradient.field = \"checkpoint\"," : "",
         k->past.forward->problem.fd.pair == HT_PAIR_NONE ? " gradient.field = \"reverse\"," : "");
}

HT_ERR ht_fd_kept_bytes(const struct ht_fd_past *of, double bytes[2]) {
    struct ht_fd_stepper *s = of->forward;
    const double word = (double)ht_real_size(s->engine.spec.fp64);
    bytes[0] = 0;
    bytes[1] = word * (double)ht_fd_own_numbers(s, HT_FD_STATE);
    HT_EACH_BIT(a, of->values | of->increments) bytes[0] += word * (double)ht_fd_numbers(s);
    return ht_comm_max(s->problem.grid->slab.comm, 2, bytes);
}

static HT_ERR make(struct kept *k, bool store, double memory) {
    struct ht_fd_stepper *s = k->past.forward;
    struct ht_fd_engine *e = &s->engine;
    struct ht_fd_list list = {.count = 0};
    double bytes[2];
    s->kind->list(s, &list);
    TRY(ht_fd_kept_bytes(&k->past, bytes));
    TRY(choose(k, store, memory, bytes));
    k->past.facts.field = k->segments > 1 ? HT_GRADIENT_CHECKPOINT : HT_GRADIENT_STORE;
    TRY(HT_TAKE(&k->pool, k->step, k->length));
    TRY(HT_TAKE(&k->pool, k->state, k->segments));
    for (int64_t i = 0; i < k->length; i++)
        HT_EACH_BIT(a, k->past.values | k->past.increments)
            TRY(ht_fd_array_create(e, ht_fd_numbers(s), &k->step[i][a]));
    for (int64_t i = 1; i < k->segments - 1; i++)
        for (int j = 0; j < list.count && (list.row[j].use & HT_FD_STATE); j++)
            TRY(ht_fd_array_create(e, list.row[j].numbers, &k->state[i].array[j]));
    return HT_OK;
}

HT_ERR ht_fd_kept_create(const struct ht_fd_past *of, bool store, double memory,
                         struct ht_fd_past **out) {
    struct kept *k = NULL;
    enum ht_err err = HT_ALLOC(k, 1);
    if (err == HT_OK) {
        k->past = *of;
        k->past.ops = &ops;
        k->past.sign = 1;
        err = make(k, store, memory);
    }
    err = ht_comm_agree(of->forward->problem.grid->slab.comm, err);
    if (err != HT_OK && k != NULL) destroy(&k->past);
    *out = err == HT_OK ? &k->past : NULL;
    return err;
}
