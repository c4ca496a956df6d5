/* Couplings of fields at different places: the kernels of cl/pair_faces.cl and their lists. */
#include "tool_args.h"

#include "htwave/fd_kernel.h"
#include "tool.h"

enum { MEET, PART, ADD }; /* entries */

struct meeting {
    struct ht_tool tool;
    int dims, radius, rows, row[HT_MAX_FIELDS], couplings, numbers;
    unsigned sources;
    unsigned partners, media; /* what losses remember; what that needs of those that vary */
    struct ht_fd_weights weights;
};
enum { AT, VALUE, TO, FROM, G, BUFFERS };
struct ht_pair_met {
    struct meeting *meeting;
    struct ht_buffer *buffer[BUFFERS];
};

/* ---- text ---- */

static unsigned apart_of(const struct ht_pair *pair, int group, int field) {
    return pair->parity[field] ^ pair->meets[group];
}

/* Rows and their own terms. */
static void add_rows(const struct ht_pair *pair, int group, struct meeting *m,
                     struct ht_text *out) {
    ht_text_add(out, "#define HT_PAIR_MEET_ROWS(X)");
    for (int i = 0; i < m->rows; i++) {
        const unsigned apart = apart_of(pair, group, m->row[i]);
        ht_text_add(out, " X(%d, f%d, %.17g, %u)", i, m->row[i], 1.0 / (1 << ht_pair_axes(apart)),
                    apart);
    }
    ht_text_add(out, "\n#define HT_PAIR_MEET_MEANS(X)");
    for (int i = 0; i < m->rows; i++)
        HT_EACH(const struct ht_pair_term, term, pair->term, pair->nterms) {
            if (term->row != m->row[i] || term->partner != m->row[i]) continue;
            m->sources |= 1u << term->col;
            ht_text_add(out, " X(%d, f%d, %d, %d, %u, %.17g)", i, term->col, term->axis,
                        ht_pair_up(pair, term->col, term->axis), apart_of(pair, group, term->row),
                        term->factor);
        }
}

static int number_of(const struct meeting *m, int field) {
    int i = 0;
    while (m->row[i] != field) i++;
    return i;
}

/* ", C", or behind another word. */
static void add_value(const struct ht_pair_spec *spec, const char *word, int c, struct meeting *m,
                      struct ht_text *out) {
    const bool number = spec->constant >> c & 1u;
    ht_text_add(out, number ? "%sc.number[%d]" : "%sm%d[at]", word, c);
    m->media |= (unsigned)!number << c;
}

/* Of rows that lose what the medium remembers; what flows for ever is 0 where they meet. */
static void add_kept(const struct ht_pair_spec *spec, struct meeting *m, struct ht_text *out) {
    const struct ht_pair *pair = spec->pair;
    unsigned rows = 0, pressed = 0, pressing = 0; /* rows, losses */
    for (int i = 0; i < m->rows; i++) rows |= 1u << m->row[i];
    ht_text_add(out, "\n#define HT_PAIR_KEPT(X)");
    HT_EACH_AT(l, const struct ht_pair_loss, loss, pair->loss, pair->nlosses) {
        const bool divides = loss->frequency >= 0;
        if (!(rows >> loss->row & 1u) || loss->position < 0) continue;
        pressed |= (unsigned)(loss->bulk >= 0) << loss->row;
        pressing |= (unsigned)(loss->bulk >= 0) << l;
        m->partners |= 1u << loss->position;
        ht_text_add(out, " X(%d, q%d", number_of(m, loss->row), loss->position);
        add_value(spec, divides ? ", HT_PAIR_KEPT_OVER(" : ", ", loss->strength, m, out);
        if (divides) add_value(spec, ", ", loss->frequency, m, out);
        ht_text_add(out, divides ? "))" : ")");
    }
    ht_text_add(out, "\n#define HT_PAIR_KEPT_PRESSURE(X)");
    HT_EACH_BIT(l, pressing) {
        const struct ht_pair_loss *loss = &pair->loss[l];
        ht_text_add(out, " X(%d, q%d", number_of(m, loss->row), loss->position);
        add_value(spec, ", ", loss->bulk, m, out);
        add_value(spec, " - ", loss->strength, m, out);
        ht_text_add(out, ")");
    }
    ht_text_add(out, "\n#define HT_PAIR_KEPT_BLOCK(X)");
    HT_EACH_AT(c, const struct ht_pair_coefficient, of, pair->coefficient, pair->nown) {
        if (!(pressed >> of->row & pressed >> of->col & 1u)) continue;
        ht_text_add(out, " X(%d, %d", number_of(m, of->row), number_of(m, of->col));
        add_value(spec, ", ", c, m, out);
        ht_text_add(out, ")");
    }
    ht_text_add(out, "\n#define HT_PAIR_KEPT_PRESSED %d\n#define HT_PAIR_KEPT_NUMBERS %d",
                pressed != 0, m->numbers);
    ht_text_add(out, "\n#define HT_PAIR_KEPT_MEDIA(X)");
    HT_EACH_BIT(c, m->media) ht_text_add(out, " X(m%d)", c);
    ht_text_add(out, "\n");
}

static void add_lists(const struct ht_pair_spec *spec, int group, struct meeting *m,
                      struct ht_text *out) {
    const struct ht_pair_coefficient *of = spec->pair->coefficient;
    int first = 0;
    m->couplings = ht_pair_couplings(spec->pair, group, &first);
    add_rows(spec->pair, group, m, out);
    ht_text_add(out, "\n#define HT_PAIR_MEET_SOURCES(X)");
    HT_EACH_BIT(f, m->sources) ht_text_add(out, " X(f%d)", f);
    ht_text_add(out, "\n#define HT_PAIR_MEET_COUPLINGS(X)");
    for (int i = 0; i < m->couplings; i++)
        ht_text_add(out, " X(%d, %d, %d)", number_of(m, of[first + i].row),
                    number_of(m, of[first + i].col), i);
    add_kept(spec, m, out);
}

HT_ERR ht_pair_meeting_create(struct ht_device *device, const struct ht_pair_spec *spec, int group,
                              struct ht_tool **out) {
    struct meeting lists = {.dims = spec->pair->dims,
                            .radius = spec->radius,
                            .numbers = spec->pair->ncoefficients,
                            .weights = ht_fd_weights(2 * spec->radius)};
    HT_FREED_TEXT struct ht_text text = {0};
    *out = NULL;
    lists.rows = ht_pair_rows(spec->pair, group, lists.row);
    add_lists(spec, group, &lists, &text);
    const struct ht_recipe recipe = {
        .what = "kernels of couplings",
        .fp64 = spec->fp64,
        .items = 128,
        .number = {{"DIMS", lists.dims},
                   {"FD_R", lists.radius},
                   {"PAIR_MEETS", (int)spec->pair->meets[group]},
                   {"PAIR_MEET_COUNT", lists.rows},
                   {"PAIR_MEET_NUMBERS", lists.couplings},
                   {"PAIR_CORNERS", ht_pair_corners(spec->pair, group)}},
        .definitions = text.data,
        .file = {"tool_args.h", "pair_faces.cl"},
        .entry = {"ht_pair_meet", "ht_pair_part", "ht_pair_meet_add"},
        .parts = true};
    TRY(ht_text_status(&text));
    return ht_tool_create(device, &recipe, &lists, sizeof lists, out);
}

/* ---- lists ---- */

int64_t ht_pair_met_bytes(const struct ht_pair *pair, int group, bool fp64, int64_t points) {
    int first, row[HT_MAX_FIELDS], targets = 0;
    const int rows = ht_pair_rows(pair, group, row);
    const int couplings = ht_pair_couplings(pair, group, &first);
    for (int i = 0; i < rows; i++) targets += 1 << ht_pair_axes(apart_of(pair, group, row[i]));
    return points * (8 + ht_real_size(fp64) * (rows + couplings) +
                     targets * (8 + 4 * ht_pair_corners(pair, group)));
}

void ht_pair_met_destroy(struct ht_pair_met *met) {
    if (met == NULL) return;
    for (int i = 0; i < BUFFERS; i++) ht_buffer_destroy(met->buffer[i]);
    free(met);
}

static HT_ERR store(struct ht_pair_met *met, const struct ht_pair_meets *meets) {
    const struct ht_tool *tool = &met->meeting->tool;
    struct ht_buffer **b = met->buffer;
    TRY(ht_tool_store(tool, 8 * meets->points, meets->at, &b[AT]));
    TRY(ht_tool_store_reals(tool, meets->points * met->meeting->couplings, meets->value,
                            &b[VALUE]));
    TRY(ht_tool_store(tool, 8 * meets->targets, meets->to, &b[TO]));
    TRY(ht_tool_store(tool, 4 * meets->targets * meets->corners, meets->from, &b[FROM]));
    return ht_tool_store_reals(tool, meets->points * met->meeting->rows, NULL, &b[G]);
}

HT_ERR ht_pair_met_create(struct ht_tool *meeting, const struct ht_pair_meets *meets,
                          struct ht_pair_met **out) {
    struct ht_pair_met *met = NULL;
    *out = NULL;
    TRY(ht_tool_build(meeting));
    TRY(HT_ALLOC(met, 1));
    met->meeting = (struct meeting *)meeting;
    const enum ht_err err = store(met, meets);
    return HT_MADE(err, met, ht_pair_met_destroy, out);
}

/* ---- launches ---- */

static struct ht_pair_meet_args args_of(const int64_t range[2], const struct ht_fd_box *box,
                                        bool keeps) {
    return (struct ht_pair_meet_args){.first = (long)range[0],
                                      .end = (long)range[1],
                                      .row = (long)box->row,
                                      .plane = (long)box->plane,
                                      .keeps = keeps};
}

static HT_ERR launch(struct ht_pair_met *met, enum ht_step_part part, int entry,
                     const int64_t range[2], int count, const struct ht_arg *arg) {
    struct ht_tool *tool = &met->meeting->tool;
    const int64_t groups[3] = {ht_divide_up(range[1] - range[0], tool->recipe.items), 1, 1};
    return range[0] < range[1] ? ht_tool_launch(tool, part, entry, groups, count, arg) : HT_OK;
}

HT_ERR ht_pair_meet(struct ht_pair_met *met, const struct ht_pair_task *t,
                    const int64_t point_range[2], const int64_t target_range[2],
                    const struct ht_pair_arrays *arrays) {
    const struct meeting *m = met->meeting;
    const struct ht_pair_meet_args points = args_of(point_range, &t->box, false);
    const struct ht_pair_meet_args targets = args_of(target_range, &t->box, t->keeps);
    double coefs[3 * HT_FD_RADIUS], numbers[HT_MAX_TERMS];
    const int count = m->dims * m->radius;
    for (int i = 0; i < count; i++)
        coefs[i] = t->scale[i / m->radius] * m->weights.first[i % m->radius];
    struct ht_arg arg[5 + HT_MAX_FIELDS] = {
        HT_VALUE(points), ht_tool_reals(&m->tool, count, coefs), HT_BUFFER(met->buffer[AT]),
        HT_BUFFER(met->buffer[VALUE]), HT_BUFFER(met->buffer[G])};
    TRY(launch(met, t->part, MEET, point_range, ht_tool_buffers(m->sources, arrays->field, arg, 5),
               arg));
    struct ht_arg other[HT_MAX_ARGS] = {HT_VALUE(targets), HT_BUFFER(met->buffer[TO]),
                                        HT_BUFFER(met->buffer[FROM]), HT_BUFFER(met->buffer[G])};
    struct ht_buffer *const *target = t->work == HT_PAIR_STEP ? arrays->field : arrays->rate;
    int n = 4;
    for (int i = 0; i < m->rows; i++) other[n++].buffer = target[m->row[i]];
    memcpy(numbers, arrays->number, sizeof numbers);
    other[n++] = ht_tool_reals(&m->tool, m->numbers, numbers);
    n = ht_tool_buffers(m->media, arrays->coefficient, other, n);
    n = ht_tool_buffers(m->partners, arrays->partner, other, n);
    return launch(met, t->part, PART, target_range, n, other);
}

HT_ERR ht_pair_meet_add(struct ht_pair_met *met, const struct ht_fd_box *box,
                        const int64_t range[2], struct ht_buffer *const *y,
                        struct ht_buffer *const *e, struct ht_buffer *sum) {
    const struct meeting *m = met->meeting;
    const struct ht_pair_meet_args points = args_of(range, box, false);
    struct ht_arg arg[3 + 2 * HT_MAX_FIELDS] = {
        {.value = &points, .size = sizeof points}, {.buffer = met->buffer[AT]}, {.buffer = sum}};
    for (int i = 0; i < m->rows; i++) {
        arg[3 + 2 * i].buffer = y[m->row[i]];
        arg[4 + 2 * i].buffer = e[m->row[i]];
    }
    return launch(met, HT_PART_INTERIOR, ADD, range, 3 + 2 * m->rows, arg);
}
