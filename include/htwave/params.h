/* Parameters of a run, from one table of options (htwave/params_rows.h). */
#pragma once

#include "htwave/system.h"

/* A value that may be a number, an array of numbers or a string. */
struct ht_value {
    enum ht_value_kind { HT_VALUE_NONE, HT_VALUE_NUMBERS, HT_VALUE_TEXT } kind;
    int count;
    double *number;
    char *text;
};

/* Of one that is a number or a word: the number, or else `usual`. */
static inline double ht_value_or(const struct ht_value *value, double usual) {
    return value->kind == HT_VALUE_NUMBERS ? value->number[0] : usual;
}

/* name = "text" pairs in the order given. */
struct ht_map {
    int count;
    char **name, **text;
};

/* A list of strings. */
struct ht_names {
    int count;
    char **name;
};

/* The groups of a list, sources = ( { ... }, { ... } ): `count` structures, here of the type that
 * the member's comment names. */
struct ht_groups {
    int count;
    void *group;
};

/* ---- choices ---- */
/* Options whose values are words of a fixed list: both stand here once. X(constant, word) */
#define HT_EACH_SCHEME(X)      \
    X(HT_TAYLOR, "taylor")     \
    X(HT_LEAPFROG, "leapfrog") \
    X(HT_DIFFERENCES, "fd")
/* The schemes, and the choice of one by the plan (src/plan/plan_scheme.c). */
#define HT_EACH_SCHEME_WORD(X) HT_EACH_SCHEME(X) X(HT_SCHEME_AUTO, "auto")
/* Layers behind absorbing sides. */
#define HT_EACH_ABSORBING(X)     \
    X(HT_ABSORBING_AUTO, "auto") \
    X(HT_ABSORBING_CPML, "cpml") \
    X(HT_ABSORBING_SPONGE, "sponge")
/* Where these layers lie: around the box or in it. */
#define HT_EACH_PLACE(X) X(HT_OUTSIDE, "outside") X(HT_INSIDE, "inside")
#define HT_EACH_DISPERSION(X)         \
    X(HT_DISPERSION_AUTO, "auto")     \
    X(HT_DISPERSION_REMOVE, "remove") \
    X(HT_DISPERSION_KEEP, "keep")
#define HT_EACH_MEDIUM_TYPE(X)        \
    X(HT_MEDIUM_CONSTANT, "constant") \
    X(HT_MEDIUM_LAYERS, "layers")     \
    X(HT_MEDIUM_FILE, "file")         \
    X(HT_MEDIUM_MEMORY, "memory")     \
    X(HT_MEDIUM_EXPRESSION, "expression")
#define HT_EACH_DATA(X)                 \
    X(HT_DATA_GAUSSIAN, "gaussian")     \
    X(HT_DATA_PLANE, "plane")           \
    X(HT_DATA_STANDING, "standing")     \
    X(HT_DATA_RANDOM, "random")         \
    X(HT_DATA_EXPRESSION, "expression") \
    X(HT_DATA_FILE, "file")             \
    X(HT_DATA_ZERO, "zero")
#define HT_EACH_FIT(X)     \
    X(HT_FIT_AUTO, "auto") \
    X(HT_FIT_SINC, "sinc") \
    X(HT_FIT_BOX, "box")   \
    X(HT_FIT_POINT, "point")
#define HT_EACH_AXIS(X) X(HT_X1, "x1") X(HT_X2, "x2") X(HT_X3, "x3")
#define HT_EACH_FORMAT(X)     \
    X(HT_FORMAT_AUTO, "auto") \
    X(HT_RAW, "raw") X(HT_NPY, "npy") X(HT_SEGY, "segy") X(HT_HDF5, "hdf5")
#define HT_EACH_PRECISION(X) X(HT_SINGLE, "single") X(HT_DOUBLE, "double")
#define HT_EACH_LAYOUT(X)         \
    X(HT_LAYOUT_AUTO, "auto")     \
    X(HT_LAYOUT_TENSOR, "tensor") \
    X(HT_LAYOUT_BLOCKED, "blocked")
#define HT_EACH_TUNE(X)       \
    X(HT_TUNE_AUTO, "auto")   \
    X(HT_TUNE_NEVER, "never") \
    X(HT_TUNE_ALWAYS, "always")
/* Where the receivers of a group stand. */
#define HT_EACH_RECEIVER_TYPE(X)  \
    X(HT_RECEIVER_POINT, "point") \
    X(HT_RECEIVER_LINE, "line")   \
    X(HT_RECEIVER_PLANE, "plane") \
    X(HT_RECEIVER_FILE, "file")
/* What planes are rounded to on their way between slabs. */
#define HT_EACH_HALO_PRECISION(X) \
    X(HT_HALO_SAME, "same")       \
    X(HT_HALO_SINGLE, "single")   \
    X(HT_HALO_HALF, "half")
/* What the colours of a picture without a given range span. */
#define HT_EACH_SCALE(X)           \
    X(HT_SCALE_PICTURE, "picture") \
    X(HT_SCALE_RUN, "run")
/* Signals of sources. */
#define HT_EACH_SIGNAL(X)                          \
    X(HT_SIGNAL_RICKER, "ricker")                  \
    X(HT_SIGNAL_GAUSSIAN, "gaussian")              \
    X(HT_SIGNAL_DERIVATIVE, "gaussian derivative") \
    X(HT_SIGNAL_BURST, "burst")                    \
    X(HT_SIGNAL_SINE, "sine")                      \
    X(HT_SIGNAL_FILE, "file")
/* Weights of an array's elements. */
#define HT_EACH_APODISATION(X) X(HT_APODISE_NONE, "none") X(HT_APODISE_HANN, "hann")
/* How traces are compared with observed ones (htwave/misfit.h). */
#define HT_EACH_MISFIT(X)                   \
    X(HT_MISFIT_L2, "l2")                   \
    X(HT_MISFIT_CORRELATION, "correlation") \
    X(HT_MISFIT_ENVELOPE, "envelope")       \
    X(HT_MISFIT_GIVEN, "given")

/* What the sums of an adjoint run are (htwave/gradient.h). */
#define HT_EACH_GRADIENT_IMAGE(X)    \
    X(HT_IMAGE_GRADIENT, "gradient") \
    X(HT_IMAGE_CROSS, "cross")

/* What a map holds of a field (htwave/maps.h), before the waves of its frequencies. */
#define HT_EACH_MAP(X)           \
    X(HT_MAP_MAXIMUM, "maximum") \
    X(HT_MAP_MINIMUM, "minimum") \
    X(HT_MAP_LARGEST, "largest") \
    X(HT_MAP_TIME, "time")       \
    X(HT_MAP_RMS, "rms")

/* Where a gradient takes the forward field from (htwave/gradient.h). */
#define HT_EACH_GRADIENT_FIELD(X)           \
    X(HT_GRADIENT_AUTO, "auto")             \
    X(HT_GRADIENT_REVERSE, "reverse")       \
    X(HT_GRADIENT_CHECKPOINT, "checkpoint") \
    X(HT_GRADIENT_STORE, "store")

#define HT_CHOICE_CONSTANT(constant, word) constant,
enum ht_grid_axis { HT_EACH_AXIS(HT_CHOICE_CONSTANT) };
enum ht_map_kind { HT_EACH_MAP(HT_CHOICE_CONSTANT) HT_MAP_KINDS };

/* The word, for messages and results: HT_WORD(FIT, kind). */
#define HT_CHOICE_WORD(constant, word) word,
#define HT_WORD(each, value) ((const char *const[]){HT_EACH_##each(HT_CHOICE_WORD)}[value])

/* ---- types of options ---- */
/* X(type, in C, array, scalars, fewest, most of them, words), or for types with a function in
 * src/input/types.c BY(type, in C, scalars, function, words). REAL takes integers, too; of
 * arrays of three the default's stand for missing numbers. */
#define HT_EACH_OPTION_TYPE(X, BY)                                                      \
    X(INT, int, , INT, 1, 1, "an integer")                                              \
    X(INT64, int64_t, , INT, 1, 1, "an integer")                                        \
    X(REAL, double, , REAL, 1, 1, "a number")                                           \
    X(BOOL, bool, , BOOL, 1, 1, "true or false")                                        \
    X(STRING, char *, , STRING, 1, 1, "a string")                                       \
    /* the name of a file */                                                            \
    X(FILE, char *, , STRING, 1, 1, "a string")                                         \
    /* an enumeration in the order of `choices` */                                      \
    X(CHOICE, int, , STRING, 1, 1, "a string")                                          \
    /* also sets grid.dims */                                                           \
    X(CELLS, int64_t, [3], INT, 1, 3, "1 to 3 integers")                                \
    X(INT3, int, [3], INT, 1, 3, "1 to 3 integers")                                     \
    X(INT64_3, int64_t, [3], INT, 1, 3, "1 to 3 integers")                              \
    X(REAL3, double, [3], REAL, 1, 3, "1 to 3 numbers")                                 \
    X(REAL6, double, [6], REAL, 6, 6, "6 numbers")                                      \
    /* for the axes of a file, not of the grid */                                       \
    X(SAMPLES3, double, [3], REAL, 1, 3, "1 to 3 numbers")                              \
    /* one name for both sides or two */                                                \
    X(SIDES, char *, [2], STRING, 1, 2, "one or two strings")                           \
    BY(NAMES, struct ht_names, STRING, names, "a list of strings")                      \
    BY(VALUE, struct ht_value, REAL, value, "a number or a list of numbers")            \
    /* one number, or a word */                                                         \
    BY(ONE, struct ht_value, REAL, value, "one number or a word")                       \
    /* of a medium: text may be the name of a file */                                   \
    BY(MEDIUM, struct ht_value, REAL, value, "a number, a list of numbers or a string") \
    BY(MAP, struct ht_map, STRING, map, "a group of strings")                           \
    /* low..high of them */                                                             \
    BY(LIST, struct ht_groups, INT, groups, "a list of groups, ( { ... }, { ... } )")
#define HT_OPTION_TYPE(type, ...) HT_OPT_##type,
enum ht_option_type { HT_EACH_OPTION_TYPE(HT_OPTION_TYPE, HT_OPTION_TYPE) };
/* What a member is: ht_member_REAL3, and where a row has words, too: */
#define HT_MEMBER(type, in_c, array, ...) typedef in_c ht_member_##type array;
#define HT_MEMBER_BY(type, in_c, ...) typedef in_c ht_member_##type;
HT_EACH_OPTION_TYPE(HT_MEMBER, HT_MEMBER_BY)
#define ht_member_CHOICE(of, each) enum of { each(HT_CHOICE_CONSTANT) }
#define ht_member_AXIS enum ht_grid_axis
#define ht_member_WORDS(words) int
#define ht_member_ONE_OF(words) char *
#define ht_member_ONE(words) struct ht_value

/* A parameter of the medium, such as c: of type HT_OPT_MEDIUM or, of a vector, HT_OPT_REAL3. */
struct ht_medium_given {
    struct ht_value value;
    double vector[3];
    const double *memory; /* type "memory", where value is text: samples as a file has them, set by
                             the caller, who keeps them; NULL: none yet */
};
#define OPEN(of) struct of {
#define CLOSE(of) \
    }             \
    ;
#define MEMBER(...) __VA_ARGS__;
#define ROW(type, of, member, ...) ht_member_##type member;
#include "htwave/list_rows.h"

/* ---- sources.c ---- */
enum { HT_MAX_DRIVES = 6 };
/* A type of source: where it acts. */
struct ht_source_type {
    const char *word, *help;
    const char *keys;      /* of its own, each of which must be given: "from to count" */
    const char *place[2];  /* the keys of its first and its last point */
    bool flat;             /* a plane: it does not vary but along its axis */
    bool row, round, bent; /* arrays of points: a line, or a disc; curved */
    /* It comes from outside, into the box between its first and last point, along a direction, by
     * finite differences; it has no kind. NULL, or why. */
    const char *outside;
};
/* A kind of source: what it does. */
struct ht_source_kind {
    const char *word, *help;
    const char *takes; /* the key that it needs; NULL: none */
    size_t numbers;    /* those of the key: their place in struct ht_shot_given */
    bool unit;         /* they are a direction, taken as of length 1 */
    /* Fields that it drives, each by its number of those of the key (without one 1) times the sign,
     * divided by what the field has in the energy where `own`; none: the scalar of the form of
     * second order, or its rate. */
    const char *field[HT_MAX_DRIVES];
    double sign;
    bool own;
    bool pressure; /* the amplitude is that of waves of a surface */
    bool stays;    /* what it adds to the mean stays in a closed box */
};
static inline bool ht_source_is_array(const struct ht_source_type *type) {
    return type->row || type->round;
}
/* By number; without a word behind the last. */
extern const struct ht_source_type ht_source_types[];
extern const struct ht_source_kind ht_source_kinds[];

/* What a source of amplitude 1 adds to u_t of a field: delta times weight, times the material (-1:
 * 1) at its place. Of what comes from outside the scalar, or along each axis the part of the vector
 * field that the polarisation has; the material is what its square is divided by in the energy. */
struct ht_drive {
    int field, material;
    double weight;
    int axis; /* of a vector; -1: a scalar */
};
/* The number of drives, 0: the system has no such sources. *missing: a field that the source has a
 * number for and the system has not, of which it has others; else NULL. */
int ht_source_drives(const struct ht_shot_given *given, const struct ht_equations *eq,
                     struct ht_drive drive[HT_MAX_DRIVES], const char **missing);
/* Whether a group has a number other than 0 for what a kind takes. */
bool ht_source_takes(const struct ht_shot_given *given, const struct ht_source_kind *kind);

enum { HT_MAP_WAVES = 16 }; /* frequencies of a group at most */

enum { HT_MAX_MEDIUM_OPTIONS = 64 };

#define OPEN(name) struct {
#define CLOSE(...) \
    }              \
    __VA_ARGS__;
#define MEMBER(...) __VA_ARGS__;
#define ROW(type, section, member, ...) ht_member_##type member;
#define NAMED(...)
struct ht_params {
#include "htwave/params_rows.h"
    struct ht_sources *sources; /* where each key was set; private */
    struct ht_pool pool;        /* of what members point to, but resume.from */
    struct {
        char *from;    /* a checkpoint; NULL: the run begins at 0 */
        int64_t steps; /* of the whole run */
        double left;   /* part of them that is to come */
    } resume;          /* of `htwave continue`; no keys */
    /* Of a shot's parameters (htwave/survey.h), whose groups are some of the input's: their numbers
     * there, for messages; NULL: the same. Its own, from 1 on; 0: no survey. */
    struct {
        const int *source, *receivers;
        int shot;
    } number;
};

/* Reads a libconfig file (path NULL: all defaults; with a line break: its text) and `key=value`
 * overrides, whose values follow libconfig syntax (bare words are strings). */
HT_ERR ht_params_read(const char *path, int noverrides, char *const *overrides,
                      struct ht_params **out);
/* An override after that, of which ht_params_read's rules between keys are not checked again. */
HT_ERR ht_params_set(struct ht_params *params, const char *text);
void ht_params_destroy(struct ht_params *params);
HT_ENDS(ht_params)

/* HT_ERR_INPUT with the message "key = value: rule (file:line)"; the rule is what is formatted. */
HT_PRINTF(3, 4)
enum ht_err ht_params_error(const struct ht_params *params, const char *key, const char *fmt, ...);
/* REFUSE(bad, params, key, rule, ..): ends the function so where a value breaks a rule. */
#define REFUSE(bad, ...)                              \
    do {                                              \
        if (bad) return ht_params_error(__VA_ARGS__); \
    } while (0)
/* What to use instead of a key, or of its value (NULL: of any), that is gone; NULL: neither is. */
const char *ht_params_gone(const char *key, const char *value);
/* What a lower layer has recorded (HT_ERR_INPUT, HT_ERR_IO) is the rule that the key breaks. */
HT_ERR ht_params_blame(const struct ht_params *params, const char *key, enum ht_err err);
/* Set by the file or the command line, to something else than its default: so a resolved input,
 * which states every key, reads back as what it came from. */
bool ht_params_is_set(const struct ht_params *params, const char *key);
/* Numbers of an array that was given; 0: it was not. */
int ht_params_entries(const struct ht_params *params, const char *key);

/* What decides what is computed, "KEY = VALUE" lines: all keys but those of outputs (maps stay),
 * devices, ranks and time.end, and hashes of files that are read, some seconds per GB. */
HT_ERR ht_params_physics(const struct ht_params *params, struct ht_text *out);
/* A hash of that and the keys of outputs and time.end: what decides what is written. */
HT_ERR ht_params_identity(const struct ht_params *params, char out[17]);
/* Where a key, or one of a group such as "initial", was set, to whatever value; NULL: nowhere. */
const struct ht_source *ht_params_gives(const struct ht_params *params, const char *key);
/* Whether the run computes in double precision. */
bool ht_in_double(const struct ht_params *params);
/* What was given as medium.NAME; NULL when no system has such a parameter. */
const struct ht_medium_given *ht_params_medium(const struct ht_params *params, const char *name);

/* The Gaussians of the initial data, for index 0, 1, ..: initial.pulses or, where it is empty, the
 * one of initial.centre and so on; false: there are no more. Texts belong to params. */
bool ht_params_pulse(const struct ht_params *params, int index, struct ht_pulse *out);

/* The slices that pictures show, likewise: output.picture.slices, or the one of output.picture. */
bool ht_params_slice(const struct ht_params *params, int index, struct ht_slice_given *out);
/* The name of group n, from 1, of a list with this key: the given one, or "receivers-N", "map-N",
 * "slice-N"; "": there is no such group. Returns name. */
enum { HT_GROUP_NAME = 48 };
char *ht_params_name(const struct ht_params *params, const char *list, int n,
                     char name[HT_GROUP_NAME]);
/* The number of the group of receivers with a name, or of this number as text; 0: none. */
int ht_params_receivers_find(const struct ht_params *params, const char *name);

/* stored: bit per field of the primary grid, 0: all. */
bool ht_fields_stored(unsigned stored, int field);
/* The field of this name; refuses, naming the key, one that is not there, or not stored. */
HT_ERR ht_fields_find(const struct ht_params *params, const struct ht_equations *eq,
                      unsigned stored, const char *key, const char *name, int *field);

/* The unit of "length", "time", a field or a parameter of the medium; NULL: not given, or empty. */
const char *ht_units_name(const struct ht_params *params, const char *quantity);

/* A name relative to the folder of the input file. */
HT_ERR ht_params_beside(const struct ht_params *params, const char *name, char **out);
/* Files that the run reads, for index 0, 1, ..: false when there are no more. *key: the option that
 * names it, NULL for the input file itself. Paths in params are relative to the current directory
 * or absolute, wherever they were set. */
bool ht_params_reads(const struct ht_params *params, int index, const char **key,
                     const char **path);

/* The resolved input, which reads back to the same parameters in any directory. */
HT_ERR ht_params_print(const struct ht_params *params, struct ht_text *out);

/* ---- the option table ---- */
struct ht_option {
    const char *key; /* "grid.order" */
    enum ht_option_type type;
    const char *choices;  /* "a|b|c" or NULL; of HT_OPT_CHOICE, and texts of ONE and STRING */
    size_t offset;        /* in struct ht_params */
    const char *fallback; /* libconfig text of the default */
    double low, high;     /* inclusive range of numbers; low > high: none */
    const char *unit, *help;
};
/* The rows of params_rows.h and, among them, those of the medium's parameters, made from the
 * rows of all systems. */
int ht_option_count(void);
const struct ht_option *ht_option_at(int index);
/* What the groups of a list hold: rows whose key is the name inside the group and whose offset is
 * in the group's structure; without a fallback the key must be given. No CELLS, MAP or LIST. */
struct ht_option_list {
    const char *key;
    size_t size; /* of the group's structure */
    int count;
    const struct ht_option *option;
};
/* NULL when the option is no list. */
const struct ht_option_list *ht_option_list(const struct ht_option *row);
int ht_medium_option_count(void);
const struct ht_option *ht_medium_option_at(int index);
/* Manual of all options, for --help-config; markdown: as a table. */
void ht_params_help(FILE *out, bool markdown);
