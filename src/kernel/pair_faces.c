/* Couplings of fields at different places: the kernels of cl/pair_faces.cl and their lists. */
#include "tool_args.h"

#include "htwave/fd_kernel.h"
#include "tool.h"

enum { MEET, PART, ADD }; /* entries */

struct meeting {
    struct ht_tool tool;
    int dims, radius, rows, row[HT_MAX_FIELDS], couplings;
    unsigned sources;
    int numbers, kept, partner[HT_MAX_FIELDS]; /* what losses remember */
    bool medium[HT_MAX_TERMS];                 /* that it needs, of coefficients that vary */
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

/* Rows and their own terms; returns the most points around a node. */
static int add_rows(const struct ht_pair *pair, int group, struct meeting *m, struct ht_text *out) {
    int corners = 1;
    ht_text_add(out, "#define HT_PAIR_MEET_ROWS(X)");
    for (int i = 0; i < m->rows; i++) {
        const int around = 1 << ht_pair_axes(apart_of(pair, group, m->row[i]));
        ht_text_add(out, " X(%d, f%d, %.17g, %u)", i, m->row[i], 1.0 / around,
                    apart_of(pair, group, m->row[i]));
        corners = around > corners ? around : corners;
    }
    ht_text_add(out, "\n#define HT_PAIR_MEET_MEANS(X)");
    for (int i = 0; i < m->rows; i++)
        for (int t = 0; t < pair->nterms; t++) {
            const struct ht_pair_term *term = &pair->term[t];
            if (term->row != m->row[i] || term->partner != m->row[i]) continue;
            m->sources |= 1u << term->col;
            ht_text_add(out, " X(%d, f%d, %d, %d, %u, %.17g)", i, term->col, term->axis,
                        ht_pair_up(pair, term->col, term->axis), apart_of(pair, group, term->row),
                        term->factor);
        }
    return corners;
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
    m->medium[c] = m->medium[c] || !number;
}

/* Of rows that lose what the medium remembers; what flows for ever is 0 where they meet. */
static void add_kept(const struct ht_pair_spec *spec, struct meeting *m, struct ht_text *out) {
    const struct ht_pair *pair = spec->pair;
    unsigned rows = 0, pressed = 0;
    for (int i = 0; i < m->rows; i++) rows |= 1u << m->row[i];
    ht_text_add(out, "#define HT_PAIR_KEPT(X)");
    for (int l = 0; l < pair->nlosses; l++) {
        const struct ht_pair_loss *loss = &pair->loss[l];
        if (!(rows >> loss->row & 1u) || loss->position < 0) continue;
        if (loss->bulk >= 0) pressed |= 1u << loss->row;
        ht_text_add(out, " X(%d, q%d", number_of(m, loss->row), loss->position);
        add_value(spec, loss->frequency < 0 ? ", " : ", HT_PAIR_KEPT_OVER(", loss->strength, m,
                  out);
        if (loss->frequency >= 0) add_value(spec, ", ", loss->frequency, m, out);
        ht_text_add(out, loss->frequency < 0 ? ")" : "))");
        m->partner[m->kept++] = loss->position;
    }
    ht_text_add(out, "\n#define HT_PAIR_KEPT_PRESSURE(X)");
    for (int l = 0; l < pair->nlosses; l++) {
        const struct ht_pair_loss *loss = &pair->loss[l];
        if (!(pressed >> loss->row & 1u)) continue;
        ht_text_add(out, " X(%d, q%d", number_of(m, loss->row), loss->position);
        add_value(spec, ", ", loss->bulk, m, out);
        add_value(spec, " - ", loss->strength, m, out);
        ht_text_add(out, ")");
    }
    ht_text_add(out, "\n#define HT_PAIR_KEPT_BLOCK(X)");
    for (int c = 0; c < pair->nown; c++) {
        const struct ht_pair_coefficient *of = &pair->coefficient[c];
        if (!(pressed >> of->row & pressed >> of->col & 1u)) continue;
        ht_text_add(out, " X(%d, %d", number_of(m, of->row), number_of(m, of->col));
        add_value(spec, ", ", c, m, out);
        ht_text_add(out, ")");
    }
    m->numbers = pair->ncoefficients;
    ht_text_add(out, "\n#define HT_PAIR_KEPT_PRESSED %d", pressed != 0);
    ht_text_add(out, "\n#define HT_PAIR_KEPT_NUMBERS %d\n#define HT_PAIR_KEPT_MEDIA(X)",
                m->numbers);
    for (int c = 0; c < m->numbers; c++)
        if (m->medium[c]) ht_text_add(out, " X(m%d)", c);
    ht_text_add(out, "\n");
}

/* Returns the most points around a node. */
static int add_lists(const struct ht_pair_spec *spec, int group, struct meeting *m,
                     struct ht_text *out) {
    const struct ht_pair *pair = spec->pair;
    int first = 0;
    m->rows = ht_pair_rows(pair, group, m->row);
    m->couplings = ht_pair_couplings(pair, group, &first);
    const int corners = add_rows(pair, group, m, out);
    ht_text_add(out, "\n#define HT_PAIR_MEET_SOURCES(X)");
    for (int f = 0; f < pair->nfields; f++)
        if (m->sources >> f & 1u) ht_text_add(out, " X(f%d)", f);
    ht_text_add(out, "\n#define HT_PAIR_MEET_COUPLINGS(X)");
    for (int i = 0; i < m->couplings; i++)
        ht_text_add(out, " X(%d, %d, %d)", number_of(m, pair->coefficient[first + i].row),
                    number_of(m, pair->coefficient[first + i].col), i);
    ht_text_add(out, "\n");
    add_kept(spec, m, out);
    return corners;
}

enum ht_err ht_pair_meeting_create(struct ht_device *device, const struct ht_pair_spec *spec,
                                   int group, struct ht_tool **out) {
    struct meeting lists = {.rows = 0}, *made;
    struct ht_text text = {0};
    *out = NULL;
    const int corners = add_lists(spec, group, &lists, &text);
    const struct ht_recipe recipe = {.what = "kernels of couplings",
                                     .fp64 = spec->fp64,
                                     .items = 128,
                                     .number = {{"DIMS", spec->pair->dims},
                                                {"FD_R", spec->radius},
                                                {"PAIR_MEETS", (int)spec->pair->meets[group]},
                                                {"PAIR_MEET_COUNT", lists.rows},
                                                {"PAIR_MEET_NUMBERS", lists.couplings},
                                                {"PAIR_CORNERS", corners}},
                                     .definitions = text.data,
                                     .file = {"tool_args.h", "pair_faces.cl"},
                                     .entry = {"ht_pair_meet", "ht_pair_part", "ht_pair_meet_add"},
                                     .parts = true};
    enum ht_err err = ht_text_status(&text);
    if (err == HT_OK) err = ht_tool_create(device, &recipe, sizeof *made, &made);
    ht_text_free(&text);
    TRY(err);
    lists.tool = made->tool;
    lists.dims = spec->pair->dims;
    lists.radius = spec->radius;
    lists.weights = ht_fd_weights(2 * spec->radius);
    *made = lists;
    *out = &made->tool;
    return HT_OK;
}

/* ---- lists ---- */

int64_t ht_pair_met_bytes(const struct ht_pair *pair, int group, bool fp64, int64_t points) {
    int first, row[HT_MAX_FIELDS], corners = 1, targets = 0;
    const int rows = ht_pair_rows(pair, group, row);
    const int couplings = ht_pair_couplings(pair, group, &first);
    for (int i = 0; i < rows; i++) {
        const int around = 1 << ht_pair_axes(apart_of(pair, group, row[i]));
        corners = around > corners ? around : corners;
        targets += around;
    }
    return points * (8 + ht_real_size(fp64) * (rows + couplings) + targets * (8 + 4 * corners));
}

void ht_pair_met_destroy(struct ht_pair_met *met) {
    if (met == NULL) return;
    for (int i = 0; i < BUFFERS; i++) ht_buffer_destroy(met->buffer[i]);
    free(met);
}

static enum ht_err store(struct ht_pair_met *met, const struct ht_pair_meets *meets) {
    const struct ht_tool *tool = &met->meeting->tool;
    struct ht_buffer **b = met->buffer;
    TRY(ht_tool_store(tool, 8 * meets->points, meets->at, &b[AT]));
    TRY(ht_tool_store_reals(tool, meets->points * met->meeting->couplings, meets->value,
                            &b[VALUE]));
    TRY(ht_tool_store(tool, 8 * meets->targets, meets->to, &b[TO]));
    TRY(ht_tool_store(tool, 4 * meets->targets * meets->corners, meets->from, &b[FROM]));
    return ht_tool_store_reals(tool, meets->points * met->meeting->rows, NULL, &b[G]);
}

enum ht_err ht_pair_met_create(struct ht_tool *meeting, const struct ht_pair_meets *meets,
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

static enum ht_err launch(struct ht_pair_met *met, enum ht_step_part part, int entry,
                          const int64_t range[2], int count, const struct ht_arg *arg) {
    struct ht_tool *tool = &met->meeting->tool;
    const int64_t groups[3] = {ht_divide_up(range[1] - range[0], tool->recipe.items), 1, 1};
    return range[0] < range[1] ? ht_tool_launch(tool, part, entry, groups, count, arg) : HT_OK;
}

/* Of the kernel that adds to targets: what it needs for what losses remember; returns how many. */
static int add_kept_arguments(const struct meeting *m, const struct ht_pair_arrays *arrays,
                              double numbers[HT_MAX_TERMS], struct ht_arg *arg) {
    int n = 0;
    memcpy(numbers, arrays->number, HT_MAX_TERMS * sizeof *numbers);
    arg[n++] = ht_tool_reals(&m->tool, m->numbers, numbers);
    for (int c = 0; c < m->numbers; c++)
        if (m->medium[c]) arg[n++] = (struct ht_arg){.buffer = arrays->coefficient[c]};
    for (int i = 0; i < m->kept; i++)
        arg[n++] = (struct ht_arg){.buffer = arrays->partner[m->partner[i]]};
    return n;
}

enum ht_err ht_pair_meet(struct ht_pair_met *met, enum ht_step_part part,
                         const struct ht_fd_box *box, const int64_t point_range[2],
                         const int64_t target_range[2], const double scale[3],
                         const struct ht_pair_arrays *arrays, struct ht_buffer *const *target,
                         bool keeps) {
    const struct meeting *m = met->meeting;
    const struct ht_pair_meet_args points = {.first = (long)point_range[0],
                                             .end = (long)point_range[1],
                                             .row = (long)box->row,
                                             .plane = (long)box->plane};
    const struct ht_pair_meet_args targets = {
        .first = (long)target_range[0], .end = (long)target_range[1], .keeps = keeps};
    double coefs[3 * HT_FD_RADIUS];
    const int count = m->dims * m->radius;
    for (int i = 0; i < count; i++)
        coefs[i] = scale[i / m->radius] * m->weights.first[i % m->radius];
    struct ht_arg arg[5 + HT_MAX_FIELDS] = {{.value = &points, .size = sizeof points},
                                            ht_tool_reals(&m->tool, count, coefs),
                                            {.buffer = met->buffer[AT]},
                                            {.buffer = met->buffer[VALUE]},
                                            {.buffer = met->buffer[G]}};
    int n = 5;
    for (int f = 0; f < HT_MAX_FIELDS; f++)
        if (m->sources >> f & 1u) arg[n++] = (struct ht_arg){.buffer = arrays->field[f]};
    TRY(launch(met, part, MEET, point_range, n, arg));
    double numbers[HT_MAX_TERMS];
    struct ht_arg other[HT_MAX_ARGS] = {{.value = &targets, .size = sizeof targets},
                                        {.buffer = met->buffer[TO]},
                                        {.buffer = met->buffer[FROM]},
                                        {.buffer = met->buffer[G]}};
    for (int i = 0; i < m->rows; i++) other[4 + i] = (struct ht_arg){.buffer = target[m->row[i]]};
    n = 4 + m->rows;
    n += add_kept_arguments(m, arrays, numbers, other + n);
    return launch(met, part, PART, target_range, n, other);
}

enum ht_err ht_pair_meet_add(struct ht_pair_met *met, const struct ht_fd_box *box,
                             const int64_t range[2], struct ht_buffer *const *y,
                             struct ht_buffer *const *e, struct ht_buffer *sum) {
    const struct meeting *m = met->meeting;
    const struct ht_pair_meet_args points = {.first = (long)range[0],
                                             .end = (long)range[1],
                                             .row = (long)box->row,
                                             .plane = (long)box->plane};
    struct ht_arg arg[3 + 2 * HT_MAX_FIELDS] = {
        {.value = &points, .size = sizeof points}, {.buffer = met->buffer[AT]}, {.buffer = sum}};
    for (int i = 0; i < m->rows; i++) {
        arg[3 + 2 * i] = (struct ht_arg){.buffer = y[m->row[i]]};
        arg[4 + 2 * i] = (struct ht_arg){.buffer = e[m->row[i]]};
    }
    return launch(met, HT_PART_INTERIOR, ADD, range, 3 + 2 * m->rows, arg);
}
