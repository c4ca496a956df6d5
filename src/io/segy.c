/* SEG-Y revision 1 (SEG Technical Standards Committee, 2002): big-endian, IEEE floats, a file per
 * group and field, of one run or of all shots. Positions are whole numbers, of up to four decimals;
 * those of traces.h5 are exact. */
#include "files.h"

static const int MOST = 65535; /* samples, microseconds: two bytes without a sign */

/* The text header names units that do not become metres and seconds. */
double ht_segy_unit(const struct ht_params *params, const char *quantity) {
    const char *unit = ht_units_name(params, quantity);
    if (unit == NULL) return 1;
    if (strcmp(unit, "km") == 0) return 1e3;
    return ht_text_find("ms,us,ns", ',', unit) >= 0 ? 1e-3 : 1;
}

int ht_segy_slot(const struct ht_params *params, int axis) {
    const int down = ht_down_axis(params);
    return axis == down ? 2 : axis - (down >= 0 && axis > down);
}

static double interval(const struct ht_params *params, double every) {
    return 1e6 * ht_segy_unit(params, "time") * every;
}

static HT_ERR check(const struct ht_params *params, const struct ht_receivers *receivers, int n) {
    const struct ht_receiver_group *group = &receivers->group[n];
    const double us = interval(params, group->every > 0 ? group->every : receivers->dt);
    const double late = fabs(us - round(us)) * (double)(group->samples - 1);
    REFUSE(group->samples > MOST, params, "output.traces",
           "\"segy\" holds at most %d samples per trace, \"%s\" has %lld", MOST, group->name,
           (long long)group->samples);
    REFUSE(us < 0.75 || us > MOST + 0.25, params, "output.traces",
           "\"segy\" has sample intervals of 1 to %d microseconds, \"%s\" one of %.9g s: choose "
           "another receivers.%d.every, or read traces.h5",
           MOST, group->name, us / 1e6, n + 1);
    if (late > 1e-3 * us)
        ht_warn("output.traces: \"segy\" has intervals of whole microseconds, \"%s\" one of %.9g: "
                "by the file's %.0f its last sample is off by %.3g of an interval (bytes 3273 to "
                "3280, of revision 2, are exact); choose another receivers.%d.every",
                group->name, us, round(us), late / us, n + 1);
    return HT_OK;
}

/* ---- headers ---- */

/* PUT(header, AT(..), ..): numbers of so many bytes at `byte`, from 1 on as in the standard,
 * big-endian; 0 ends the list. */
#define AT(byte, bytes, value) (byte), (bytes), (int64_t)(value)
#define PUT(header, ...) put((header), (const int64_t[]){__VA_ARGS__, 0})
static void put(unsigned char *header, const int64_t *e) {
    for (; e[0] > 0; e += 3)
        for (int64_t i = 0; i < e[1]; i++)
            header[e[0] - 1 + i] = (unsigned char)((uint64_t)e[2] >> 8 * (e[1] - 1 - i));
}

/* Of the characters from the blank on. */
static const char ebcdic[] =
    "\100\132\177\173\133\154\120\175\115\135\134\116\153\140\113\141\360\361\362\363\364\365\366"
    "\367\370\371\172\136\114\176\156\157\174\301\302\303\304\305\306\307\310\311\321\322\323\324"
    "\325\326\327\330\331\342\343\344\345\346\347\350\351\272\340\273\260\155\171\201\202\203\204"
    "\205\206\207\210\211\221\222\223\224\225\226\227\230\231\242\243\244\245\246\247\250\251\300"
    "\117\320\241";

static void put_line(char *text, int line, const char *words) {
    char whole[SEGY_LINE + 1];
    snprintf(whole, sizeof whole, "C%2d %-76s", line, words);
    for (int i = 0; i < SEGY_LINE; i++) {
        const unsigned char c = (unsigned char)whole[i];
        text[(line - 1) * SEGY_LINE + i] = ebcdic[c >= ' ' && c <= '~' ? c - ' ' : '?' - ' '];
    }
}

struct sheet {
    const struct ht_plan *plan;
    const struct ht_params *params;
    const char *group, *field;
    double every, start;
    int64_t samples;
    int shots;
    FILE *out;
    int64_t written;                   /* traces */
    const struct ht_traced_shot *shot; /* the one that is written */
    const double *source;              /* where it is; NULL: not known */
};

/* A unit that is not that of the standard. */
static const char *named(const struct sheet *s, const char *quantity, const char *standard) {
    const char *unit = ht_units_name(s->params, quantity);
    if (unit == NULL || strcmp(unit, "km") == 0 || strcmp(unit, "ms") == 0) return standard;
    return unit;
}

static void write_text(const struct sheet *s) {
    static const char *const where[] = {"source at byte 73, receiver at 81",
                                        "source at byte 77, receiver at 85",
                                        "source at byte 45 (less 49), receiver at 41"};
    const struct ht_grid box = ht_grid_inner(&s->plan->grid), *grid = &box;
    const struct ht_medium *medium = s->plan->medium;
    const int down = ht_down_axis(s->params);
    char text[SEGY_TEXT], axis[3][SEGY_LINE] = {{0}};
    for (int k = 0; k < grid->dims; k++)
        snprintf(axis[k], SEGY_LINE, "  x%d: %s%s", k + 1, where[ht_segy_slot(s->params, k)],
                 k == down ? ": elevations, -x" : "");
    const char *const words[] = {
        HT_KEY("htwave %s: group %s, field %s", HT_VERSION, s->group, s->field),
        HT_KEY("%s by %s, order %d, %d shot%s", s->params->system, s->plan->problem.scheme->name,
               s->plan->order, s->shots, s->shots == 1 ? "" : "s"),
        HT_KEY("medium %s, speeds %.6g to %.6g",
               medium->uniform ? "uniform" : HT_WORD(MEDIUM_TYPE, s->params->medium.type),
               medium->speed_min, medium->fastest),
        HT_KEY("box, in the units of the input, from %s", HT_PLACED(grid, grid->lower)),
        HT_KEY("  to %s, cells %s", HT_PLACED(grid, grid->upper),
               HT_EXTENTS(grid->dims, grid->cells)),
        HT_KEY("time step %.9g", s->plan->problem.dt),
        HT_KEY("%lld samples every %.9g, the first at %.9g", (long long)s->samples, s->every,
               s->start),
        "",
        HT_KEY("positions below in %s, times in %s:", named(s, "length", "m"),
               named(s, "time", "s")),
        axis[0],
        axis[1],
        axis[2],
        "scalars at 71 (73 to 88) and 69 (41 to 52); midpoint at 181, 185",
        "offset at 37, of 73 to 88 alone, with the sign of the first of them",
        "shot number at 9 and 17, trace of the shot at 13",
        "a position that is 0 in all headers was not known"};
    for (int line = 1; line <= SEGY_TEXT / SEGY_LINE; line++)
        put_line(text, line,
                 line <= (int)(sizeof words / sizeof *words) ? words[line - 1]
                 : line == 39                                ? "SEG Y REV1"
                 : line == 40                                ? "END TEXTUAL HEADER"
                                                             : "");
    fwrite(text, 1, SEGY_TEXT, s->out);
}

/* By bytes of the file from 3201 on: traces of a shot, microseconds and samples, twice, 5: IEEE
 * floats, 1: fold, 1: as recorded, 1: metres or 2: feet, microseconds in full as of revision 2,
 * revision, 1: all traces have as many samples. */
static void write_binary(const struct sheet *s, int64_t traces) {
    unsigned char header[SEGY_BINARY] = {0};
    const double exact = interval(s->params, s->every);
    const int64_t us = llround(exact);
    const char *unit = named(s, "length", "m");
    int64_t bits;
    memcpy(&bits, &exact, sizeof bits);
    const int64_t system = strcmp(unit, "m") == 0 ? 1 : strcmp(unit, "ft") == 0 ? 2 : 0;
    PUT(header, AT(13, 2, traces > MOST ? 0 : traces), AT(17, 2, us), AT(19, 2, us),
        AT(21, 2, s->samples), AT(23, 2, s->samples), AT(25, 2, 5), AT(27, 2, 1), AT(29, 2, 1),
        AT(55, 2, system), AT(73, 8, bits), AT(301, 2, 0x0100), AT(303, 2, 1));
    fwrite(header, 1, sizeof header, s->out);
}

/* ---- traces ---- */

/* The factor of a time in milliseconds that makes two bytes of it, and its scalar. */
static double time_scale(double ms) {
    double scale = 1;
    while (scale < 1e4 && fabs(ms) * scale * 10 < 32767 &&
           fabs(ms * scale - round(ms * scale)) > 1e-6)
        scale *= 10;
    return scale;
}

/* With as many decimals as fit for all coordinates of the box in 31 bits. */
static double place_scale(const struct sheet *s) {
    double most = 0, scale = 1e4;
    for (int k = 0; k < s->plan->grid.dims; k++)
        most = fmax(most, fmax(fabs(s->plan->grid.lower[k]), fabs(s->plan->grid.upper[k])));
    while (scale > 1 && most * ht_segy_unit(s->params, "length") * scale > INT32_MAX) scale /= 10;
    return scale;
}

/* Of receiver i of the shot, at x. from, to, middle: [slot]; depth: below the side above it. */
static void write_header(struct sheet *s, int64_t i, const double *x) {
    unsigned char header[SEGY_TRACE] = {0};
    const double unit = ht_segy_unit(s->params, "length"), scale = place_scale(s);
    const double ms = 1e3 * ht_segy_unit(s->params, "time") * s->start, scale_t = time_scale(ms);
    const int64_t us = llround(interval(s->params, s->every));
    const int64_t scalar = scale > 1 ? -llround(scale) : 1, number = ++s->written;
    const int down = ht_down_axis(s->params);
    const int64_t shot = ht_most(s->shot->params->number.shot, 1);
    int64_t from[3] = {0}, to[3] = {0}, middle[3] = {0}, depth = 0;
    double offset = 0, side = 1;
    for (int k = 0; k < s->plan->grid.dims; k++) {
        const int slot = ht_segy_slot(s->params, k);
        const double by = unit * scale * (k == down ? -1 : 1);
        to[slot] = llround(x[k] * by);
        if (s->source == NULL) continue;
        const double source = s->source[k];
        from[slot] = llround(source * by);
        middle[slot] = llround((x[k] + source) / 2 * by);
        if (k == down) depth = llround(s->plan->grid.lower[k] * by) - from[slot];
        if (slot < 2) offset = hypot(offset, (x[k] - source) * unit);
        if (slot == 0 && x[k] < source) side = -1;
    }
    /* 29: seismic data, 35: production, 89: lengths */
    PUT(header, AT(1, 4, number), AT(5, 4, number), AT(9, 4, shot), AT(13, 4, i + 1),
        AT(17, 4, shot), AT(25, 4, i + 1), AT(29, 2, 1), AT(35, 2, 1),
        AT(37, 4, llround(side * offset)), AT(41, 4, to[2]), AT(45, 4, from[2] + depth),
        AT(49, 4, depth), AT(69, 2, scalar), AT(71, 2, scalar), AT(73, 4, from[0]),
        AT(77, 4, from[1]), AT(81, 4, to[0]), AT(85, 4, to[1]), AT(89, 2, 1),
        AT(109, 2, llround(ms * scale_t)), AT(115, 2, s->samples), AT(117, 2, us),
        AT(181, 4, middle[0]), AT(185, 4, middle[1]),
        AT(215, 2, scale_t > 1 ? -llround(scale_t) : 1));
    fwrite(header, 1, sizeof header, s->out);
}

const double *ht_shots_place(const struct ht_params *params) {
    const struct ht_shot_given *given = params->shots.group;
    if (params->shots.count != 1) return NULL;
    return strcmp(ht_source_types[given->type].place[0], "position") == 0 ? given->position : NULL;
}

/* ---- all shots, of their traces.h5 ---- */

struct fields {
    const char *group;
    int count;
    char name[HT_MAX_READINGS][HT_READING_NAME];
};

static HT_ERR add_field(const char *name, void *context) {
    struct fields *to = context;
    const size_t length = strlen(to->group);
    if (strncmp(name, to->group, length) != 0 || name[length] != '/') return HT_OK;
    name += length + 1;
    if (ht_text_find("time|position", '|', name) >= 0) return HT_OK;
    for (int i = 0; i < to->count; i++)
        if (strcmp(to->name[i], name) == 0) return HT_OK;
    if (to->count < HT_MAX_READINGS) snprintf(to->name[to->count++], HT_READING_NAME, "%s", name);
    return HT_OK;
}

#define SET(sheet, what) HT_KEY("%s/%s", (sheet)->group, (what))

/* Of the first shot with these traces. */
static HT_ERR begin_sheet(struct sheet *s, struct ht_h5 *file, int64_t traces) {
    HT_ENDED(ht_array_end) struct ht_array time = {.rank = 0};
    TRY(ht_h5_array(file, SET(s, "time"), &time));
    const int64_t last = time.count - 1;
    s->samples = time.count;
    s->start = time.value[0];
    s->every = last > 0 ? (time.value[last] - s->start) / (double)last : s->plan->receivers->dt;
    write_text(s);
    write_binary(s, traces);
    return HT_OK;
}

/* If the shot has such traces. */
static HT_ERR add_shot(struct sheet *s) {
    const int dims = s->plan->grid.dims;
    HT_ENDED(ht_h5_end) struct ht_h5 *file = NULL;
    TRY(ht_h5_open(s->shot->traces, &file));
    HT_ENDED(ht_array_end) struct ht_array traces = {.rank = 0};
    const int64_t *extent = traces.extent;
    if (!ht_h5_has(file, SET(s, s->field))) return HT_OK;
    TRY(ht_h5_array(file, SET(s, s->field), &traces));
    TRY(ht_h5_check_single(SET(s, s->field), "SEG-Y", traces.count, traces.value));
    if (s->written == 0) TRY(begin_sheet(s, file, extent[0]));
    REQUIRE(extent[1] == s->samples, HT_ERR_INPUT,
            "%s: %lld samples of %s, where other shots have %lld", s->shot->traces,
            (long long)extent[1], SET(s, s->field), (long long)s->samples);
    HT_ARRAY(double, x, extent[0] * dims);
    TRY(ht_h5_read(file, SET(s, "position"), extent[0] * dims, x));
    s->source = ht_shots_place(s->shot->params);
    for (int64_t i = 0; i < extent[0]; i++) {
        write_header(s, i, x + i * dims);
        for (int64_t n = 0; n < s->samples; n++) {
            const float single = (float)traces.value[i * s->samples + n];
            unsigned char bytes[4];
            uint32_t bits;
            memcpy(&bits, &single, sizeof bits);
            PUT(bytes, AT(1, 4, bits));
            fwrite(bytes, 1, sizeof bytes, s->out);
        }
    }
    return HT_OK;
}

static HT_ERR write_sheet(struct sheet *s, const char *what, const struct ht_traced_shot *shot) {
    struct ht_stream stream;
    TRY(ht_stream_open(s->params->output.directory,
                       HT_KEY("%s_%s_%s.sgy", what, s->group, s->field), &stream));
    s->out = stream.file;
    enum ht_err err = HT_OK;
    for (s->shot = shot; err == HT_OK && s->shot < shot + s->shots; s->shot++) err = add_shot(s);
    return ht_stream_close(&stream, err);
}

static HT_ERR write_segy(const struct ht_plan *plan, const struct ht_params *params, int count,
                         const struct ht_traced_shot *shot, const char *what) {
    char name[HT_GROUP_NAME];
    for (int n = 1; n <= params->receivers.count; n++) {
        struct fields fields = {.group = ht_params_name(params, "receivers", n, name)};
        for (int i = 0; i < count; i++) {
            HT_ENDED(ht_h5_end) struct ht_h5 *file = NULL;
            TRY(ht_h5_open(shot[i].traces, &file));
            TRY(ht_h5_each(file, add_field, &fields));
        }
        for (int r = 0; r < fields.count; r++) {
            struct sheet sheet = {.plan = plan,
                                  .params = params,
                                  .shots = count,
                                  .group = name,
                                  .field = fields.name[r]};
            TRY(write_sheet(&sheet, what, shot));
        }
    }
    return HT_OK;
}

const struct ht_trace_format ht_trace_segy = {
    .name = "segy", .bytes = {4, 4}, .check = check, .write = write_segy, .shots = true};
