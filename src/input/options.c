/* The options, but those of the medium's parameters (options_medium.c), and lists of groups. */
#include "options.h"

#define COUNT_MAX 2147483648.0 /* nodes or samples per axis */

static const struct ht_option option[] = {
#define OPEN(name)
#define CLOSE(name)
#define MEMBER(...)
#define ROW(type, section, member, ...) \
    {HT_MEMBER_OF(ht_params, type, #section #member, section member), __VA_ARGS__},
#define NAMED(type, name, member, ...) {HT_MEMBER_OF(ht_params, type, name, member), __VA_ARGS__},
#include "htwave/params_rows.h"
};

/* ---- lists of groups ---- */

#define IN_PULSE(type, member) HT_MEMBER_OF(ht_pulse, type, #member, member)

static const struct ht_option pulse_option[] = {
    {IN_PULSE(REAL3, centre), NULL, ANY, "length", "Position of the centre."},
    {IN_PULSE(REAL, width), "0.1", POSITIVE, "length", "Width of the pulse, as initial.width."},
    {IN_PULSE(REAL, amplitude), "1.0", ANY, "field", "Value of the pulse at the centre."},
    {IN_PULSE(STRING, field), "\"\"", ANY, "",
     "The field with the pulse; empty means the first of the system."},
};

#define IN_RECEIVERS(type, member) HT_MEMBER_OF(ht_receivers_given, type, #member, member)

static const struct ht_option receivers_option[] = {
    {IN_RECEIVERS(STRING, name), "\"\"", ANY, "",
     "Name of the group in the outputs; empty means receivers-N, N the group's number."},
    {IN_RECEIVERS(CHOICE(, HT_EACH_RECEIVER_TYPE), type), "\"point\"", ANY, "",
     "One point; a line of them; a plane, a lattice with the edges from-to and from-side; or "
     "positions in a file."},
    {IN_RECEIVERS(REAL3, position), "[0.0, 0.0, 0.0]", ANY, "length",
     "Point: where it is, on the grid or off it."},
    {IN_RECEIVERS(REAL3, from), "[0.0, 0.0, 0.0]", ANY, "length",
     "Line and plane: the first receiver."},
    {IN_RECEIVERS(REAL3, to), "[0.0, 0.0, 0.0]", ANY, "length",
     "Line and plane: the last receiver of the first line."},
    {IN_RECEIVERS(REAL3, side), "[0.0, 0.0, 0.0]", ANY, "length",
     "Plane: the first receiver of the last line."},
    {IN_RECEIVERS(INT, count), "1", 1, 100000000, "receivers",
     "Line and plane: receivers from `from` to `to`."},
    {IN_RECEIVERS(INT, count2), "1", 1, 100000000, "lines", "Plane: lines from `from` to `side`."},
    {IN_RECEIVERS(FILE, file), "\"\"", ANY, "",
     "File: a line per receiver with its coordinates, one number per axis, separated by blanks or "
     "commas; # begins a comment."},
    {IN_RECEIVERS(NAMES, fields), "[]", ANY, "",
     "Fields, such as p, and derivatives of fields, such as p_x1. Empty: all fields that the "
     "scheme stores at whole steps; of fd p of acoustic, u of wave."},
    {IN_RECEIVERS(ONE("step"), every), "\"step\"", POSITIVE, "time",
     "Time between samples, whatever the time step: values between steps are interpolated. "
     "\"step\": those of each time step."},
    {IN_RECEIVERS(REAL, start), "0.0", NOT_NEGATIVE, "time",
     "Time of the first sample; with every = \"step\" the first step at or after it."},
};

#define IN_SURVEY(type, member) HT_MEMBER_OF(ht_survey_given, type, #member, member)

static const struct ht_option survey_option[] = {
    {IN_SURVEY(VALUE, sources), NULL, 1, 256, "",
     "Numbers of the groups of sources that act together, from 1; not given: all."},
    {IN_SURVEY(NAMES, receivers), "[]", ANY, "",
     "Names or numbers (\"2\") of the groups of receivers that record; empty: all."},
    {IN_SURVEY(FILE, file), "\"\"", ANY, "",
     "File of places, a shot for each: the one group of `sources` stands there, whatever its own "
     "place. Text with a line per shot and a number per axis; or a line per trace, with the "
     "receiver's place behind the source's: the one group of `receivers` stands at those of the "
     "shot; or SEG-Y (.sgy), by the headers of its traces. # begins a comment."},
    {IN_SURVEY(FILE, data), "\"\"", ANY, "",
     "File of the shot's traces, which `htwave data` writes and a gradient reads; * stands for the "
     "shot's number. SEG-Y (.sgy), of one shot or several, and .npy are read, too. Empty: "
     "obs/shot-*.h5."},
};

#define IN_MAP(type, member) HT_MEMBER_OF(ht_map_given, type, #member, member)

static const struct ht_option map_option[] = {
    {IN_MAP(STRING, name), "\"\"", ANY, "",
     "Name in those of the files; empty means map-N, N the group's number."},
    {IN_MAP(STRING, field), "\"\"", ANY, "", "The field; empty means the first of the system."},
    {IN_MAP(NAMES, what), "[]", ANY, "",
     "Of maximum, minimum, largest (of the magnitude), time (when that was) and rms. Empty means "
     "maximum, or with frequencies none of them."},
    {IN_MAP(VALUE, frequencies), NULL, POSITIVE, "1/time",
     "Frequencies f, at most 16, of running Fourier transforms: maps amplitude_N and phase_N, the "
     "field being amplitude cos(2 pi f t + phase) from `start` to the end. T/2 times the amplitude "
     "is the magnitude of the transform, T the attribute `lasts`."},
    {IN_MAP(REAL3, from), "[0.0, 0.0, 0.0]", ANY, "length",
     "Lower corner of the box of nodes that are kept; not given: that of the grid."},
    {IN_MAP(REAL3, to), "[0.0, 0.0, 0.0]", ANY, "length",
     "Upper corner; between the same two nodes as `from` along an axis: the nearer node alone."},
    {IN_MAP(INT, stride), "1", 1, 1000, "nodes",
     "Every so many-th node along each axis is kept; 2 takes a quarter of the time in three "
     "dimensions."},
    {IN_MAP(ONE("auto|step"), every), "\"auto\"", POSITIVE, "time",
     "Time between samples, whole steps. auto: 8 per period of the shortest waves (sources, "
     "initial.frequency), of which extremes lack 7.6 % at most; 5 for rms and frequencies alone; "
     "for one extreme on the whole grid by fd 4 to 6, with waves between them, of which 3 to 9 % "
     "lack (the banner says it). step, and auto where no period is known: each step."},
    {IN_MAP(REAL, start), "0.0", NOT_NEGATIVE, "time", "Time of the first sample."},
};

#define IN_SLICE(type, member) HT_MEMBER_OF(ht_slice_given, type, #member, member)

static const struct ht_option slice_option[] = {
    {IN_SLICE(STRING, name), "\"\"", ANY, "",
     "Name in those of the pictures; empty means slice-N, N the group's number."},
    {IN_SLICE(CHOICE(, HT_EACH_AXIS), plane), "\"x3\"", ANY, "",
     "Three dimensions: the axis normal to the slice."},
    {IN_SLICE(REAL, position), "0.5", 0, 1, "of the box", "As output.picture.position."},
    {IN_SLICE(STRING, field), "\"\"", ANY, "",
     "Field to draw; empty means the first of the system."},
    {IN_SLICE(REAL, range), "0.0", NOT_NEGATIVE, "field", "As output.picture.range."},
};

#define LIST(key, type, rows)                                             \
    &(const struct ht_option_list) {                                      \
        (key), sizeof(struct type), sizeof(rows) / sizeof *(rows), (rows) \
    }
static const struct ht_option_list *const lists[] = {
    LIST("receivers", ht_receivers_given, receivers_option),
    LIST("initial.pulses", ht_pulse, pulse_option),
    &ht_source_list,
    LIST("output.maps", ht_map_given, map_option),
    LIST("output.picture.slices", ht_slice_given, slice_option),
    LIST("shots", ht_survey_given, survey_option)};

enum { ROWS = sizeof option / sizeof *option };

int ht_option_count(void) {
    return ROWS + ht_medium_option_count();
}

const struct ht_option *ht_option_at(int index) {
    /* Number of rows up to and including medium.type, once found; the rows of the medium's
     * parameters follow it. */
    static int rows;
    while (strcmp(option[rows].key, "medium.type") != 0) rows++;
    int before = rows + 1, made = ht_medium_option_count();
    if (index < before) return &option[index];
    if (index < before + made) return ht_medium_option_at(index - before);
    return &option[index - made];
}

bool ht_option_needed(const struct ht_option *row) {
    return !row->fallback && row->type != HT_OPT_VALUE && row->type != HT_OPT_MEDIUM;
}

const struct ht_option_list *ht_option_list(const struct ht_option *row) {
    for (size_t i = 0; row->type == HT_OPT_LIST && i < sizeof lists / sizeof *lists; i++)
        if (strcmp(lists[i]->key, row->key) == 0) return lists[i];
    return NULL;
}

bool ht_option_in_list(const char *key, struct ht_list_key *out) {
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        size_t length = strlen(lists[i]->key);
        if (strncmp(key, lists[i]->key, length) != 0 || key[length] != '.') continue;
        const struct ht_option_list *list = lists[i];
        const char *text = key + length + 1; /* the number of a group and the key after it */
        const size_t digits = strspn(text, "0123456789");
        *out =
            (struct ht_list_key){.list = list, .option = ht_option_find(list->key), .name = text};
        if (digits == 0 || *text == '0' || (text[digits] && text[digits] != '.')) return true;
        out->group = digits < 9 ? (int)strtol(text, NULL, 10) : 999999999;
        out->name = text + digits + (text[digits] == '.');
        for (int n = 0; n < list->count; n++)
            if (strcmp(list->option[n].key, out->name) == 0) out->row = &list->option[n];
        return true;
    }
    return false;
}

const struct ht_option *ht_option_find(const char *key) {
    struct ht_list_key in = {0};
    for (int i = 0; i < ht_option_count(); i++)
        if (strcmp(ht_option_at(i)->key, key) == 0) return ht_option_at(i);
    return ht_option_in_list(key, &in) ? in.row : NULL;
}

int ht_option_section(const char *key) {
    const char *dot = strrchr(key, '.');
    return dot ? (int)(dot - key) : 0;
}

const char *ht_option_name(const char *key) {
    const char *dot = strrchr(key, '.');
    return dot ? dot + 1 : key;
}
