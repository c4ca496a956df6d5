/* Rules between options that need neither the system nor the device, and the names of groups of
 * receivers and of slices, which become those of files. */
#include "htwave/formats.h"
#include "options.h"

/* ---- axes of the grid, and axes that it does not have ---- */

/* A vector that a group gives has an entry for each axis of the grid: none has a default. */
static HT_ERR check_entries(const struct ht_params *p, const struct ht_option *row,
                            const char *key) {
    const int given = ht_params_entries(p, key);
    REFUSE((row->type == HT_OPT_REAL3 || row->type == HT_OPT_INT3) && given > 0 &&
               given < p->grid.dims,
           p, key, "must have an entry for each of the grid's %d axes (grid.cells)", p->grid.dims);
    return HT_OK;
}

static HT_ERR check_names(const struct ht_params *p, const struct ht_names *names,
                          const char *key) {
    for (int i = 1; i < names->count; i++)
        for (int j = 0; j < i; j++)
            REFUSE(strcmp(names->name[i], names->name[j]) == 0, p, key, "names \"%s\" twice",
                   names->name[i]);
    return HT_OK;
}

/* A group has the keys that it must have. Entries for axes that the grid does not have must be the
 * defaults, as the resolved input has them; samples of files have axes of their own, and directions
 * of sources may be those of fields (H3 in two dimensions: shots.c). */
static HT_ERR check_axes(const struct ht_params *p) {
    struct ht_leaf leaf;
    struct ht_list_key in;
    for (int i = 0; ht_params_leaf(p, i, &leaf); i++) {
        const struct ht_option *option = leaf.option;
        const bool listed = ht_option_in_list(leaf.key, &in);
        if (listed || strncmp(leaf.key, "grid.", 5) == 0) TRY(check_entries(p, option, leaf.key));
        REFUSE(listed && ht_option_needed(option) && !ht_params_source(p, leaf.key), p,
               HT_KEY("%s.%d", in.list->key, in.group), "must give %s", option->key);
        const void *at = (const char *)leaf.base + option->offset;
        if (option->type == HT_OPT_NAMES) TRY(check_names(p, at, leaf.key));
        if (option->type != HT_OPT_REAL3 && option->type != HT_OPT_INT3) continue;
        if (strstr(leaf.key, ".direction") != NULL) continue;
        const char *usual = option->fallback ? option->fallback + 1 : ""; /* "[0.0, 0.5]" */
        for (int k = 0; k < 3; k++) {
            const double entry =
                option->type == HT_OPT_INT3 ? ((const int *)at)[k] : ((const double *)at)[k];
            REFUSE(k >= p->grid.dims && entry != strtod(usual, NULL), p, leaf.key,
                   "has an entry for x%d, but the grid has %d %s (grid.cells)", k + 1, p->grid.dims,
                   p->grid.dims > 1 ? "axes" : "axis");
            usual += strcspn(usual, ",");
            usual += *usual == ',';
        }
    }
    for (int k = p->grid.dims; k < 3; k++) {
        const char *key = HT_KEY("boundary.x%d", k + 1);
        REFUSE(ht_params_is_set(p, key), p, key,
               "x%d is no axis of the grid, which has %d (grid.cells)", k + 1, p->grid.dims);
    }
    return HT_OK;
}

static HT_ERR check_layers(const struct ht_params *p) {
    const struct ht_value *at = &p->medium.interfaces;
    if (p->medium.type != HT_MEDIUM_LAYERS) return HT_OK;
    REFUSE((int)p->medium.axis >= p->grid.dims, p, "medium.axis",
           "must be an axis of the grid, which has %d", p->grid.dims);
    REFUSE(at->kind != HT_VALUE_NUMBERS, p, "medium.interfaces",
           "must be positions when medium.type is \"layers\"");
    for (int i = 1; i < at->count; i++)
        REFUSE(!(at->number[i] > at->number[i - 1]), p, "medium.interfaces",
               "must increase, but %.12g follows %.12g", at->number[i], at->number[i - 1]);
    return HT_OK;
}

/* The groups of a list replace the keys of a single one, which are named like theirs. */
static HT_ERR check_single(const struct ht_params *p, const char *list, int groups) {
    const struct ht_option_list *rows = ht_option_list(ht_option_find(list));
    for (int i = 0; groups > 0 && i < rows->count; i++) {
        const char *key = HT_KEY("%.*s.%s", ht_option_section(list), list, rows->option[i].key);
        REFUSE(ht_params_is_set(p, key), p, key,
               "%s is given too, whose groups have their own: give one of them", list);
    }
    return HT_OK;
}

/* Whether a list of words such as "from to" has it. */
static bool has_word(const char *words, const char *word) {
    return ht_text_find(words, ' ', word) >= 0;
}

/* Group n of a list has the keys of its type, and none of other types': keys[type]: "from to". */
static HT_ERR check_owned(const struct ht_params *params, const char *list, int n, int types,
                          const char *const *keys, int type, const char *word) {
    const struct ht_option_list *rows = ht_option_list(ht_option_find(list));
    const char *group = HT_KEY("%s.%d", list, n);
    HT_EACH_BY(i, const char, name, rows->option[i].key, rows->count) {
        bool owned = false;
        for (int t = 0; t < types; t++) owned = owned || has_word(keys[t], name);
        if (!owned) continue;
        const bool wanted = has_word(keys[type], name);
        const char *key = HT_KEY("%s.%s", group, name);
        REFUSE(wanted && !ht_params_source(params, key), params, group,
               "must give %s: its type is \"%s\"", name, word);
        REFUSE(!wanted && ht_params_is_set(params, key), params, key,
               "does not belong to %s of type \"%s\"", list, word);
    }
    return HT_OK;
}

/* Names of groups can be a part of a file's name, and differ. */
static HT_ERR check_list_names(const struct ht_params *params, const char *list) {
    enum { LONGEST = 40 };
    char name[HT_GROUP_NAME], other[HT_GROUP_NAME];
    for (int n = 1; *ht_params_name(params, list, n, name); n++) {
        const char *key = HT_KEY("%s.%d.name", list, n);
        size_t length = 0;
        while (isalnum((unsigned char)name[length]) || (name[length] && strchr("_-", name[length])))
            length++;
        REFUSE(name[length] || length > LONGEST, params, key,
               "must be at most %d letters, digits, - and _: it becomes a part of file names",
               LONGEST);
        for (int i = 1; i < n; i++)
            REFUSE(strcmp(name, ht_params_name(params, list, i, other)) == 0, params, key,
                   "%s.%d has the name \"%s\", too: names must differ", list, i, name);
    }
    return HT_OK;
}

/* ---- receivers: each type has keys of its own ---- */

static const char *const receiver_keys[] = {[HT_RECEIVER_POINT] = "position",
                                            [HT_RECEIVER_LINE] = "from to count",
                                            [HT_RECEIVER_PLANE] = "from to side count count2",
                                            [HT_RECEIVER_FILE] = "file"};

/* ---- sources: each type has keys of its own ---- */

#define NEEDS "has no meaning without %s: give that, too, or leave this out"
enum { TYPES = 16 }; /* at most */

static const struct ht_shot_given *shot_of(const struct ht_params *p, int group) {
    return (const struct ht_shot_given *)p->shots.group + group - 1;
}

#define SHOT(bad, name, ...) REFUSE(bad, p, HT_KEY("sources.%d.%s", group, name), __VA_ARGS__)
#define GIVEN(name) ht_params_is_set(p, HT_KEY("sources.%d.%s", group, name))

/* Beside the keys' own ranges. */
static HT_ERR check_shape(const struct ht_params *p, int group) {
    const struct ht_shot_given *shot = shot_of(p, group);
    const struct ht_source_type *type = &ht_source_types[shot->type];
    SHOT(has_word(type->keys, "count") && shot->count < 2, "count", "of a line must be 2 or more");
    SHOT(has_word(type->keys, "axis") && (int)shot->axis >= p->grid.dims, "axis",
         "is none of the %d axes of the box", p->grid.dims);
    SHOT(has_word(type->keys, "width") && !(shot->width > 0), "width", "must be above 0");
    SHOT(ht_source_is_array(type) && shot->elements < 1, "elements", "must be 1 or more");
    SHOT(type->row && !(shot->pitch > 0), "pitch", "must be above 0");
    SHOT(type->bent && shot->curvature == 0, "curvature", "must not be 0");
    SHOT(type->round && type->bent && shot->curvature < shot->width / 2, "curvature",
         "must be half of width, %g, or more", shot->width / 2);
    static const char *const own[] = {"focus", "steer", "speed", "apodisation", "polarisation"};
    for (int i = 0; i < 5; i++)
        SHOT(GIVEN(own[i]) && !(i < 4 ? ht_source_is_array(type) : type->outside != NULL), own[i],
             "is for %s, but the type is \"%s\"", i < 4 ? "arrays" : "plane waves", type->word);
    const bool focus = GIVEN("focus"), steer = GIVEN("steer");
    const double *to = shot->steer;
    SHOT(focus && steer, "steer", "is for arrays without focus, which is given: give one of them");
    SHOT(steer && to[0] == 0 && to[1] == 0 && to[2] == 0, "steer", "must not be zero");
    SHOT(!focus && !steer && GIVEN("speed"), "speed", NEEDS, "focus or steer");
    for (int k = 0; type->outside != NULL && k < p->grid.dims; k++)
        SHOT(!(shot->to[k] > shot->from[k]), "to", "x%d = %g must be above that of from, %g", k + 1,
             shot->to[k], shot->from[k]);
    return HT_OK;
}

/* The kinds that take the key, as "a" or "b". */
static HT_ERR refuse_key(const struct ht_params *p, int group, const char *name) {
    char of[128] = "";
    for (const struct ht_source_kind *kind = ht_source_kinds; kind->word != NULL; kind++)
        if (kind->takes != NULL && strcmp(kind->takes, name) == 0)
            ht_text_append(of, sizeof of, "%s\"%s\"", *of ? " or " : "", kind->word);
    return ht_params_error(p, HT_KEY("sources.%d.%s", group, name),
                           "is for kind %s, but the kind is \"%s\"", of,
                           ht_source_kinds[shot_of(p, group)->kind].word);
}

static HT_ERR check_numbers(const struct ht_params *p, int group) {
    const struct ht_shot_given *shot = shot_of(p, group);
    const struct ht_source_type *type = &ht_source_types[shot->type];
    const struct ht_source_kind *kind = &ht_source_kinds[shot->kind];
    SHOT(type->outside && GIVEN("kind"), "kind", "a %s has no kind", type->word);
    const bool array = ht_source_is_array(type), faces = type->outside || array;
    const char *takes = faces ? "direction" : kind->takes;
    SHOT(array && kind->takes && strcmp(kind->takes, takes) != 0, "kind",
         "arrays are of monopoles or forces");
    REFUSE(takes && (faces ? (shot->direction[0] == 0 && shot->direction[1] == 0 &&
                              shot->direction[2] == 0)
                           : !ht_source_takes(shot, kind)),
           p, HT_KEY(faces ? "sources.%d" : "sources.%d.kind", group),
           "a %s needs a %s that is not zero", faces ? type->word : kind->word, takes);
    for (const struct ht_source_kind *other = ht_source_kinds; other->word != NULL; other++) {
        const char *key = other->takes;
        if (key && ht_source_takes(shot, other) && (!takes || strcmp(key, takes) != 0))
            return refuse_key(p, group, key);
    }
    for (int k = 0; k < 3 && type->flat; k++)
        SHOT(shot->direction[k] != 0 && k != (int)shot->axis, "direction",
             "of a plane must be along its axis");
    return HT_OK;
}

static HT_ERR check_signal(const struct ht_params *p, int group) {
    const struct ht_shot_given *shot = shot_of(p, group);
    const bool file = shot->signal == HT_SIGNAL_FILE;
    const char *word = HT_WORD(SIGNAL, shot->signal);
    SHOT(file && !*shot->file, "file", "must name a file: the signal is \"%s\"", word);
    SHOT(!file && *shot->file, "file", "is for signal \"file\", but the signal is \"%s\"", word);
    SHOT(shot->signal != HT_SIGNAL_BURST && shot->signal != HT_SIGNAL_SINE && GIVEN("cycles"),
         "cycles", "is for the signals \"burst\" and \"sine\", but the signal is \"%s\"", word);
    SHOT(file && shot->frequency > 0, "frequency", "has no meaning for the signal \"%s\"", word);
    SHOT(!file && !(shot->frequency > 0), "frequency", "the signal \"%s\" needs one above 0", word);
    return HT_OK;
}

static HT_ERR check_shots(const struct ht_params *params) {
    const char *keys[TYPES] = {NULL};
    int types = 0;
    for (; ht_source_types[types].word != NULL; types++) keys[types] = ht_source_types[types].keys;
    for (int group = 1; group <= params->shots.count; group++) {
        const struct ht_shot_given *shot = shot_of(params, group);
        const char *word = ht_source_types[shot->type].word;
        TRY(check_owned(params, "sources", group, types, keys, shot->type, word));
        TRY(check_shape(params, group));
        TRY(check_numbers(params, group));
        TRY(check_signal(params, group));
    }
    return HT_OK;
}

/* ---- shots: their groups of sources and receivers ---- */

int ht_params_receivers_find(const struct ht_params *params, const char *name) {
    char own[HT_GROUP_NAME];
    for (int n = 1; n <= params->receivers.count; n++)
        if (strcmp(ht_params_name(params, "receivers", n, own), name) == 0) return n;
    for (int n = 1; n <= params->receivers.count; n++)
        if (strcmp(ht_text_format(own, sizeof own, "%d", n), name) == 0) return n;
    return 0;
}

static HT_ERR refuse_receivers(const struct ht_params *params, const char *key, const char *name) {
    HT_FREED_TEXT struct ht_text names = {0};
    char own[HT_GROUP_NAME];
    for (int n = 1; n <= params->receivers.count; n++)
        ht_text_add(&names, "%s\"%s\"", n > 1 ? ", " : "there are ",
                    ht_params_name(params, "receivers", n, own));
    TRY(names.length > 0 ? ht_text_status(&names) : HT_OK);
    return ht_params_error(params, key, "no group of receivers \"%s\": %s", name,
                           names.length > 0 ? names.data : "there are none");
}

static HT_ERR check_shot_receivers(const struct ht_params *params, const char *key,
                                   const struct ht_names *names) {
    for (int i = 0; i < names->count; i++) {
        const int number = ht_params_receivers_find(params, names->name[i]);
        if (number == 0) return refuse_receivers(params, key, names->name[i]);
        for (int j = 0; j < i; j++)
            REFUSE(ht_params_receivers_find(params, names->name[j]) == number, params, key,
                   "has the group \"%s\" twice", names->name[i]);
    }
    return HT_OK;
}

static HT_ERR check_shot_sources(const struct ht_params *params, const char *key,
                                 const struct ht_value *sources) {
    for (int i = 0; i < sources->count; i++) {
        const double number = sources->number[i];
        REFUSE(number != floor(number) || number > params->shots.count, params, key,
               "no group of sources %g: there are 1 to %d", number, params->shots.count);
        for (int j = 0; j < i; j++)
            REFUSE(sources->number[j] == number, params, key, "has the group %g twice", number);
    }
    return HT_OK;
}

static HT_ERR check_survey(const struct ht_params *params) {
    const struct ht_survey_given *shot = params->survey.group;
    if (params->survey.count == 0) return HT_OK;
    REFUSE(params->shots.count == 0, params, "shots", "need sources, of which there are none");
    REFUSE(params->initial.type != HT_DATA_ZERO, params, "initial.type",
           "shots begin at rest: must be \"zero\", or no key of initial");
    for (int n = 1; n <= params->survey.count; n++, shot++) {
        const int sources =
            shot->sources.kind == HT_VALUE_NONE ? params->shots.count : shot->sources.count;
        TRY(check_shot_sources(params, HT_KEY("shots.%d.sources", n), &shot->sources));
        TRY(check_shot_receivers(params, HT_KEY("shots.%d.receivers", n), &shot->receivers));
        REFUSE(*shot->file && sources != 1, params, HT_KEY("shots.%d.file", n),
               "moves one group of sources, but the shot has %d: name one in sources", sources);
    }
    return HT_OK;
}

/* ---- slices: one of output.picture, or those of a list ---- */

bool ht_params_slice(const struct ht_params *params, int index, struct ht_slice_given *out) {
    const struct ht_groups *list = &params->output.picture.slices;
    const struct ht_slice_given *first =
        list->count > 0 ? list->group : &params->output.picture.single;
    if (index >= ht_most(list->count, 1)) return false;
    *out = first[index];
    return true;
}

/* ---- fields ---- */

bool ht_fields_stored(unsigned stored, int field) {
    return stored == 0 || (stored >> field & 1u);
}

HT_ERR ht_fields_find(const struct ht_params *params, const struct ht_equations *eq,
                      unsigned stored, const char *key, const char *name, int *field) {
    HT_FREED_TEXT struct ht_text known = {0};
    *field = ht_equations_field(eq, name);
    if (*field >= 0 && ht_fields_stored(stored, *field)) return HT_OK;
    /* Names of the fields that can be written. */
    for (int f = 0; f < eq->nfields; f++)
        if (ht_fields_stored(stored, f))
            ht_text_add(&known, "%s%s", known.length > 0 ? ", " : "", eq->field[f].name);
    TRY(ht_text_status(&known));
    REFUSE(*field >= 0, params, key,
           "\"%s\" is not stored at the times and nodes of outputs by time.scheme "
           "= \"%s\", which stores %s there; \"taylor\" stores all fields",
           name, HT_WORD(SCHEME_WORD, params->time.scheme), known.data);
    return ht_params_error(params, key, "no field \"%s\": %s in %d dimension%s has %s", name,
                           eq->system->name, eq->dims, eq->dims == 1 ? "" : "s", known.data);
}

/* ---- keys that other keys leave without a meaning ---- */

/* What keys belong to: a type, something that is there, or one of other keys, which are given; and
 * the keys that choose it. */
enum { KEYS = 4 }; /* at most */
enum { DATA, MEDIUM, SIDES, SOLID, SETS, ONE_FIELD, NAMED_FIELDS };
enum { RECORDED = NAMED_FIELDS + 1, LOSS, RELAXATION, CHARGES, RESONANCE, SURVEY, MARKED };
static const struct {
    const char *const *words; /* of a type; NULL: there is one or none */
    const char *type;         /* NULL: one of the keys is given */
    const char *by[KEYS];
} chooser[] = {
    [DATA] = {(const char *const[]){HT_EACH_DATA(HT_CHOICE_WORD)},
              "initial.type",
              {"initial.type", "initial.file", "initial.values"}},
    [MEDIUM] = {(const char *const[]){HT_EACH_MEDIUM_TYPE(HT_CHOICE_WORD)},
                "medium.type",
                {"medium.type"}},
    [SIDES] = {NULL, "sides that absorb (boundary)", {"boundary"}},
    [SOLID] = {NULL, "grids of three dimensions", {"grid.cells"}},
    [SETS] = {NULL, "HDF5 files of the medium (.h5, .hdf5)", {"medium"}},
    [ONE_FIELD] = {NULL, "files .npy (initial.file)", {"initial.file", "initial.type"}},
    [NAMED_FIELDS] = {NULL, "HDF5 files (initial.file)", {"initial.file", "initial.type"}},
    [RECORDED] = {.by = {"receivers"}},
    [LOSS] = {.by = {"medium.q", "medium.absorption", "medium.qp", "medium.qs"}},
    [RELAXATION] = {.by = {"medium.debye_eps"}},
    [CHARGES] = {.by = {"medium.drude_wp"}},
    [RESONANCE] = {.by = {"medium.lorentz_eps"}},
    [SURVEY] = {.by = {"shots", "sources"}}, /* `htwave data` makes shots of sources */
    [MARKED] = {.by = {"sources", "receivers"}},
};

static const struct belonging {
    const char *section, *names;
    int to;
    unsigned types; /* bits */
} belonging[] = {
#define DATA_OF(type) (1u << HT_DATA_##type)
    {"initial", "centre width pulses", DATA, DATA_OF(GAUSSIAN)},
    {"initial", "field", DATA, DATA_OF(GAUSSIAN) | DATA_OF(FILE)},
    {"initial", "amplitude", DATA,
     DATA_OF(GAUSSIAN) | DATA_OF(PLANE) | DATA_OF(STANDING) | DATA_OF(RANDOM)},
    {"initial", "phase", DATA, DATA_OF(PLANE) | DATA_OF(STANDING)},
    {"initial", "cycles wave", DATA, DATA_OF(PLANE)},
    {"initial", "modes", DATA, DATA_OF(STANDING)},
    {"initial", "seed", DATA, DATA_OF(RANDOM)},
    {"initial", "values", DATA, DATA_OF(EXPRESSION) | DATA_OF(FILE)},
    {"initial", "file", DATA, DATA_OF(FILE)},
    {"initial", "returns", DATA, DATA_OF(ZERO) - 1},
    {"medium", "axis interfaces", MEDIUM, 1u << HT_MEDIUM_LAYERS},
    {"medium", "format dataset shape", MEDIUM, 1u << HT_MEDIUM_FILE | 1u << HT_MEDIUM_MEMORY},
    /* a constant medium may get arrays later, from a program that calls the library */
    {"medium", "spacing origin axes scale", MEDIUM,
     1u << HT_MEDIUM_FILE | 1u << HT_MEDIUM_MEMORY | 1u << HT_MEDIUM_CONSTANT},
    {"absorbing", "cells width place type reflection speed degree alpha sponge mix", SIDES, 2},
    {"output.picture", "plane position", SOLID, 2},
    {"output.picture.slices", "plane position", SOLID, 2},
    {"medium", "dataset", SETS, 2},
    {"initial", "field", ONE_FIELD, 2},
    {"initial", "values", NAMED_FIELDS, 2},
    {"output", "traces", RECORDED, 2},
    {"medium", "q_frequency absorption_power", LOSS, 2},
    {"medium", "debye_tau", RELAXATION, 2},
    {"medium", "drude_gamma", CHARGES, 2},
    {"medium", "lorentz_w0 lorentz_gamma", RESONANCE, 2},
    {"parallel", "shots", SURVEY, 2},
    {"output.picture", "marks", MARKED, 2},
};

/* Whether a file of the medium is HDF5, or comes from the program that calls the library. */
static bool has_sets(const struct ht_params *p) {
    bool any = p->medium.type != HT_MEDIUM_FILE || p->medium.format == HT_HDF5;
    for (int i = 0; i < ht_medium_option_count() && p->medium.format == HT_FORMAT_AUTO; i++) {
        const struct ht_value *value = &p->medium.given[i].value;
        any = any || (value->kind == HT_VALUE_TEXT && ht_file_ends(value->text, "h5|hdf5"));
    }
    return any;
}

static int chosen(const struct ht_params *p, int to) {
    const bool data = p->initial.type == HT_DATA_FILE, npy = ht_file_ends(p->initial.file, "npy");
    bool absorbs = false, given = false;
    for (int n = 0; n < 6; n++)
        absorbs = absorbs || strcmp(p->boundary.side[n / 2][n % 2], "absorbing") == 0;
    for (int k = 0; k < KEYS && chooser[to].by[k] != NULL; k++)
        given = given || ht_params_is_set(p, chooser[to].by[k]);
    const int now[] = {
        [DATA] = (int)p->initial.type, [MEDIUM] = (int)p->medium.type, [SIDES] = absorbs,
        [SOLID] = p->grid.dims == 3,   [SETS] = has_sets(p),           [ONE_FIELD] = !data || npy,
        [NAMED_FIELDS] = !data || !npy};
    return to < RECORDED ? now[to] : given;
}

static HT_ERR refuse_belonging(const struct ht_params *p, const struct belonging *row,
                               const char *key) {
    const char *const *words = chooser[row->to].words, *type = chooser[row->to].type;
    HT_FREED_TEXT struct ht_text of = {0};
    REFUSE(!words && type, p, key, "is for %s, of which there are none", type);
    for (int t = 0; words && row->types >> t > 0; t++)
        if (row->types >> t & 1) ht_text_add(&of, "%s\"%s\"", of.length ? " or " : "", words[t]);
    for (int k = 0; !words && k < KEYS && chooser[row->to].by[k] != NULL; k++)
        ht_text_add(&of, "%s%s", k > 0 ? " or " : "", chooser[row->to].by[k]);
    TRY(ht_text_status(&of));
    REFUSE(!words, p, key, NEEDS, of.data);
    return ht_params_error(p, key, "is for %s %s, but the type is \"%s\"", type, of.data,
                           words[chosen(p, row->to)]);
}

/* Of time.step and time.cfl one. */
static HT_ERR choose_length(struct ht_params *params) {
    bool left = false;
    if (!(params->time.step > 0) || !ht_params_is_set(params, "time.cfl")) return HT_OK;
    TRY(ht_params_replace(params, "time.step", "time.cfl", &left));
    if (!left) TRY(ht_params_replace(params, "time.cfl", "time.step", &left));
    REFUSE(!left, params, "time.step", "is given instead of time.cfl, which is given, too");
    return HT_OK;
}

/* The length of the part of a key that is one of the row's, in a section or in a group of a list;
 * 0: it is none. */
static int belongs(const struct belonging *row, const char *key) {
    const size_t length = strlen(row->section);
    if (strncmp(key, row->section, length) != 0 || key[length] != '.') return 0;
    const char *name = key + length + 1;
    const size_t digits = strspn(name, "0123456789");
    if (name[digits] == '.') name += digits + 1;
    const int letters = (int)strcspn(name, ".");
    return has_word(row->names, HT_KEY("%.*s", letters, name)) ? (int)(name - key) + letters : 0;
}

HT_ERR ht_params_leave_aside(struct ht_params *params) {
    for (size_t r = 0; r < sizeof belonging / sizeof *belonging; r++) {
        const struct belonging *row = &belonging[r];
        if (row->types >> chosen(params, row->to) & 1) continue;
        for (int i = 0; i < params->sources->count; i++) {
            const char *given = params->sources->source[i].key;
            const char *key = HT_KEY("%.*s", belongs(row, given), given);
            bool left = false;
            if (!*key || !ht_params_is_set(params, key)) continue;
            for (int k = 0; k < KEYS && chooser[row->to].by[k] != NULL && !left; k++)
                TRY(ht_params_replace(params, chooser[row->to].by[k], key, &left));
            if (!left) return refuse_belonging(params, row, key);
            i = -1; /* sources have moved */
        }
    }
    return choose_length(params);
}

HT_ERR ht_params_check(const struct ht_params *params) {
    TRY(check_axes(params));
    for (int axis = 0; axis < params->grid.dims; axis++) {
        double lower = params->grid.lower[axis], upper = params->grid.upper[axis];
        bool blame_lower = !ht_params_is_set(params, "grid.upper");
        if (isfinite(upper - lower) && upper - lower > 0) continue;
        return ht_params_error(params, blame_lower ? "grid.lower" : "grid.upper",
                               "must be %s along every axis, but x%d has %g and %g",
                               blame_lower ? "below grid.upper" : "above grid.lower", axis + 1,
                               blame_lower ? lower : upper, blame_lower ? upper : lower);
    }
    const double stages = ht_value_or(&params->time.stages, 0);
    REFUSE(stages != floor(stages), params, "time.stages",
           "must be \"auto\", \"full\", \"least\" or a whole number");
    TRY(check_layers(params));
    const struct ht_receivers_given *group = params->receivers.group;
    for (int n = 1; n <= params->receivers.count; n++) {
        const enum ht_receiver_type type = group[n - 1].type;
        TRY(check_owned(params, "receivers", n, HT_RECEIVER_FILE + 1, receiver_keys, (int)type,
                        HT_WORD(RECEIVER_TYPE, type)));
        REFUSE(type == HT_RECEIVER_FILE && !*group[n - 1].file, params,
               HT_KEY("receivers.%d.file", n), "must name a file of positions");
        REFUSE(strcmp(group[n - 1].name, "sources") == 0, params, HT_KEY("receivers.%d.name", n),
               "has another meaning in traces.h5: choose another name");
    }
    TRY(check_list_names(params, "receivers"));
    TRY(check_list_names(params, "output.maps"));
    TRY(check_single(params, "output.picture.slices", params->output.picture.slices.count));
    TRY(check_list_names(params, "output.picture.slices"));
    TRY(check_shots(params));
    TRY(check_survey(params));
    TRY(check_single(params, "initial.pulses", params->initial.pulses.count));
    REFUSE(params->initial.type == HT_DATA_EXPRESSION && params->initial.values.count == 0, params,
           "initial.values",
           "must give a field, such as { p = \"x1\"; }, when initial.type is \"expression\"");
    REFUSE(params->initial.type == HT_DATA_FILE && !*params->initial.file, params, "initial.file",
           "must name a file when initial.type is \"file\"");
    return HT_OK;
}
