/* Inputs made at random from the table of options, and files of which some bytes are others: each
 * is refused with a key and its place (or the file), or makes a plan, and a resolved input that
 * reads back as itself; none takes long, crashes or, with address checks, leaks. HTWAVE_FUZZ: how
 * many, from a seed of HTWAVE_SEED on. */
#include "io/damage.h"
#include "io/scratch.h"
#include "test.h"

#include "htwave/h5.h"
#include "htwave/simulation.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 14, LENGTH = 400 };

static char given[MOST][LENGTH];
static int count;
static uint64_t seed, drawn;

static uint64_t draw(uint64_t below) {
    return ht_rng_bits(seed, drawn++) % below;
}

static const char *one_of(const char *const *list, int n) {
    return list[draw((uint64_t)n)];
}
#define ONE_OF(list) one_of(list, (int)(sizeof(list) / sizeof *(list)))

/* Small runs to begin from. */
static const char *const bases[] = {
    "",
    "time.scheme=fd;medium.type=expression;medium.c=1+0.3*sin(6*x1);medium.rho=1+0.2*x2",
    "system=wave;time.scheme=leapfrog;sources=({position=[0.4,0.5];frequency=2.0})",
    "system=elastic;time.scheme=fd;boundary.x2=[\"free\",\"absorbing\"];absorbing.cells=3",
    "system=maxwell_tm;medium.eps=2.0;medium.sigma=0.3;receivers=({position=[0.3,0.4]})",
    "system=advection;medium.velocity=[1.0,0.5,0.2];grid.cells=[6,5,4]",
    "medium.type=layers;medium.c=[1.0,2.0];medium.axis=x1;medium.interfaces=[0.5]",
    "boundary.x1=absorbing;sources=({type=line;from=[0,0.5];to=[1,0.5];count=5;frequency=1.0})",
};
static const char *const numbers[] = {
    "0",     "1", "-1", "2",   "3", "0.5", "-0.25", "1.5", "1e-12",      "1e-300",
    "1e300", "7", "64", "0.1", "8", "1e9", "-1e9",  "255", "2147483647", "16"};
static const char *const words[] = {
    "\"\"",           "acoustic",  "elastic",   "maxwell", "rigid",    "absorbing",
    "free",           "p",         "v1",        "x1",      "none",     "auto",
    "\"a b\"",        "s12",       "gaussian",  "line",    "plane",    "E1",
    "mean",           "K",         "\"\\xff\"", "roller",  "periodic", "\"1+x1\"",
    "\"sin(x1*x9)\"", "nan",       "zero",      "burst",   "ricker",   "\"/\"",
    "force",          "explosion", "moment",    "dipole",  "file",     "layers"};

static void add(char *to, const char *text) {
    const size_t length = strlen(to);
    snprintf(to + length, LENGTH - length, "%s", text);
}

static void add_scalar(char *to, const struct ht_option *option) {
    char text[64];
    if (option->choices != NULL && draw(3) > 0) {
        int choices = 1;
        for (const char *c = option->choices; *c != '\0'; c++) choices += *c == '|';
        const char *at = option->choices;
        for (uint64_t n = draw((uint64_t)choices); n > 0; n--) at = strchr(at, '|') + 1;
        snprintf(text, sizeof text, "\"%.*s\"", (int)strcspn(at, "|"), at);
        add(to, text);
    } else if (option->low <= option->high && draw(4) == 0) {
        snprintf(text, sizeof text, "%.17g", draw(2) ? option->low : option->high);
        add(to, text);
    } else if (option->fallback != NULL && draw(2) == 0) {
        add(to, option->fallback);
    } else if (option->type == HT_OPT_BOOL && draw(4) > 0) {
        add(to, draw(2) ? "true" : "false");
    } else {
        add(to, draw(3) ? ONE_OF(numbers) : ONE_OF(words));
    }
}

static void add_value(char *to, const struct ht_option *option);

static void add_groups(char *to, const struct ht_option_list *list) {
    add(to, "(");
    for (uint64_t groups = draw(3), g = 0; g <= groups; g++) {
        add(to, g > 0 ? ",{" : "{");
        for (uint64_t keys = 1 + draw(4); keys > 0; keys--) {
            const struct ht_option *row = &list->option[draw((uint64_t)list->count)];
            add(to, row->key);
            add(to, "=");
            add_value(to, row);
            add(to, ";");
        }
        add(to, "}");
    }
    add(to, ")");
}

static void add_value(char *to, const struct ht_option *option) {
    const struct ht_option_list *list = ht_option_list(option);
    if (list != NULL && draw(5) > 0) {
        add_groups(to, list);
    } else if (option->type == HT_OPT_CELLS) {
        static const char *const cells[] = {"8", "[6, 5]", "[9]", "[4, 5, 3]", "[12, 1]", "[0, 4]"};
        add(to, draw(8) ? ONE_OF(cells) : ONE_OF(numbers));
    } else if (option->type == HT_OPT_MAP) {
        add(to, "{p=\"x1\";length=\"m\";}");
    } else if (draw(3) == 0) {
        add(to, "[");
        for (uint64_t n = draw(4), i = 0; i <= n; i++) {
            if (i > 0) add(to, ",");
            add_scalar(to, option);
        }
        add(to, "]");
    } else {
        add_scalar(to, option);
    }
}

/* The parts of a text, between semicolons outside of groups. */
static void give(const char *text) {
    char parts[LENGTH];
    snprintf(parts, sizeof parts, "%s", text);
    for (char *part = strtok(parts, ";"); part != NULL; part = strtok(NULL, ";")) {
        const char *last = count > 0 ? strchr(given[count - 1], '(') : NULL;
        if (last != NULL && strchr(last, ')') == NULL) {
            add(given[count - 1], ";");
            add(given[count - 1], part);
        } else {
            snprintf(given[count++], LENGTH, "%s", part);
        }
    }
}

/* A base, some keys, and what keeps the run small. */
static void make_input(void) {
    count = 0;
    give("grid.cells=[8,6]");
    give(ONE_OF(bases));
    for (uint64_t keys = 1 + draw(5); keys > 0; keys--) {
        const struct ht_option *option = ht_option_at((int)draw((uint64_t)ht_option_count()));
        char *to = given[count++];
        snprintf(to, LENGTH, "%s=", option->key);
        add_value(to, option);
    }
    give("device.backend=oracle");
}

/* ---- damaged files ---- */

static const struct {
    const char *name, *keys; /* an input that reads it */
} files[] = {
    {"input.cfg", ""},
    {"model.h5", "medium.type=file;medium.format=hdf5;medium.c=model.h5"},
    {"model.bin", "medium.type=file;medium.c=model.bin;medium.format=raw;medium.shape=[9,7];medium."
                  "spacing=0.12"},
    {"state.h5", "initial.type=file;initial.file=state.h5;time.scheme=fd"},
    {"places.txt", "receivers=({type=\"file\";file=\"places.txt\"})"},
    {"signal.txt", "sources=({position=[0.4,0.5];signal=\"file\";file=\"signal.txt\"})"},
};
enum { FILES = sizeof files / sizeof *files };
static char *whole[FILES];
static size_t sizes[FILES];

static enum ht_err write_whole(void) {
    const int64_t model[2] = {7, 9}, field[2] = {6, 8};
    static const char input[] =
        "system = \"acoustic\"; # waves\ngrid = { cells = [8, 6]; order = 2; };\nsources = ( { "
        "position = [0.4, 0.5]; frequency = 2.0; } );\n",
                      places[] = "# two\n0.25 0.5\n0.75, 0.5\n",
                      signal[] = "0 0\n2 0.2\n4 1\n6 -1\n8 -0.2\n10 0\n";
    static const char *const fields[] = {"p", "v1", "v2"};
    double values[63];
    float single[63];
    struct ht_h5 *file = NULL;
    for (int i = 0; i < 63; i++) single[i] = (float)(values[i] = 1 + 0.01 * i);
    TRY(ht_file_write("input.cfg", input, sizeof input - 1));
    TRY(ht_file_write("model.bin", single, sizeof single));
    TRY(ht_file_write("places.txt", places, sizeof places - 1));
    TRY(ht_file_write("signal.txt", signal, sizeof signal - 1));
    TRY(ht_h5_create("model.h5", false, &file));
    TRY(ht_h5_write(file, "data", 2, model, values, false));
    TRY(ht_h5_commit(file));
    TRY(ht_h5_create("state.h5", false, &file));
    for (int f = 0; f < 3; f++) TRY(ht_h5_write(file, fields[f], 2, field, values, false));
    return ht_h5_commit(file);
}

static enum ht_err keep_whole(void) {
    TRY(write_whole());
    for (int i = 0; i < FILES; i++) TRY(ht_file_read(files[i].name, &whole[i], &sizes[i]));
    return HT_OK;
}

/* Some bytes changed, cut off, or once more. */
static enum ht_err damage(int f) {
    static const char *const texts[] = {"nan",      "-1e400", "\"", "{", ";",
                                        "\xff\xfe", "\n",     "0x", "/*"};
    size_t size = sizes[f];
    HT_ARRAY(char, data, 2 * size + 64);
    memcpy(data, whole[f], size);
    for (uint64_t changes = 1 + draw(3); changes > 0 && size > 0; changes--) {
        const size_t at = draw(size);
        const char *text = ONE_OF(texts);
        const uint64_t way = draw(5);
        if (way == 0) {
            size = at;
        } else if (way == 1) {
            for (size_t i = 0; text[i] != '\0'; i++) data[at + i] = text[i]; /* there is room */
        } else if (way == 2 && size + at <= 2 * sizes[f]) {
            memcpy(data + size, data, at);
            size += at;
        } else {
            data[at] = (char)(data[at] ^ 1 << draw(8));
        }
    }
    FILE *file = fopen(files[f].name, "w"); /* no need to wait for the disk */
    REQUIRE(file != NULL, HT_ERR_IO, "%s", strerror(errno));
    const bool done = fwrite(data, 1, size, file) == size;
    return fclose(file) == 0 && done ? HT_OK : HT_ERR_IO;
}

/* Also of a signal handler. */
static void show(void) {
    bool all = true;
    for (int i = 0; i < count; i++)
        all = write(STDOUT_FILENO, "#   ", 4) > 0 &&
              write(STDOUT_FILENO, given[i], strlen(given[i])) > 0 &&
              write(STDOUT_FILENO, "\n", 1) > 0 && all;
    if (!all) _exit(2);
}

static void too_long(HT_UNUSED int number) {
    static const char text[] = "not ok - an input takes more than 20 s\n";
    show();
    _exit(write(STDOUT_FILENO, text, sizeof text - 1) < 0 ? 2 : 1);
}

static bool reads_back(const struct ht_params *params) {
    HT_FREED_TEXT struct ht_text first = {0}, second = {0};
    HT_ENDED(ht_params_end) struct ht_params *again = NULL;
    const char *path = "fuzz.cfg";
    if (ht_params_print(params, &first) != HT_OK) return false;
    FILE *file = fopen(path, "w");
    if (file == NULL || fputs(first.data, file) < 0 || fclose(file) != 0) return false;
    const bool same = ht_params_read(path, 0, NULL, &again) == HT_OK &&
                      ht_params_print(again, &second) == HT_OK &&
                      strcmp(first.data, second.data) == 0;
    if (!same) printf("# reads back as another: %s\n", again ? "" : ht_err_message());
    return same;
}

/* What a refusal must have: a place behind its rule, or the file. */
static bool is_placed(enum ht_err err, const char *file) {
    const char *said = ht_err_message();
    if (file != NULL && strstr(said, file) != NULL) return true;
    return err != HT_ERR_INPUT || strstr(said, "(command line)") != NULL ||
           strstr(said, "(default)") != NULL || strstr(said, "(not set)") != NULL;
}

/* 1: a plan, 0: refused, -1: wrong. file: what is damaged, or NULL. */
static int try_input(const char *file) {
    char *overrides[MOST];
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    HT_ENDED(ht_simulation_end) struct ht_simulation *sim = NULL;
    const char *input = file != NULL && strstr(file, ".cfg") != NULL ? file : NULL;
    for (int i = 0; i < count; i++) overrides[i] = given[i];
    enum ht_err err = ht_params_read(input, count, overrides, &params);
    if (err == HT_OK && !reads_back(params)) return -1;
    if (err == HT_OK) err = ht_simulation_plan(params, NULL, NULL, &sim);
    if (err == HT_OK && file != NULL) err = ht_simulation_start(sim);
    if (err == HT_OK) return 1;
    if (is_placed(err, file) && err != HT_ERR_INTERNAL) return 0;
    printf("# %s\n", ht_err_message());
    return -1;
}

/* In a process of its own: HDF5 may crash, which ends it with a message and exit code 1. */
static int try_h5(int f) {
    enum { REFUSED = 1, FOUND = 10 };
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const int found = try_input(files[f].name);
        fflush(NULL);
        _exit(FOUND + found);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
    return WEXITSTATUS(status) == REFUSED ? 0 : WEXITSTATUS(status) - FOUND;
}

static int try_file(int f) {
    count = 0;
    give("grid.cells=[8,6];output.snapshots=false;device.backend=oracle");
    give(files[f].keys);
    if (damage(f) != HT_OK) return -1;
    return strstr(files[f].name, ".h5") != NULL ? try_h5(f) : try_input(files[f].name);
}

int main(void) {
    const char *many = getenv("HTWAVE_FUZZ"), *from = getenv("HTWAVE_SEED");
    const uint64_t first = from != NULL ? strtoull(from, NULL, 10) : 1;
    const uint64_t inputs = many != NULL ? strtoull(many, NULL, 10) : test_all() ? 1000000 : 1000;
    uint64_t plans = 0, wrong = 0;
    ht_log_level_set(HT_LOG_SILENT);
    signal(SIGALRM, too_long);
    ht_h5_name_crashes();
    char *folder = scratch_make("fuzz");
    if (folder == NULL || chdir(folder) != 0 || keep_whole() != HT_OK) return 2;
    for (seed = first; seed < first + inputs; seed++) {
        drawn = 0;
        alarm(20);
        const int f = (int)draw(UINT64_C(4) * FILES); /* a quarter of all are files */
        if (f >= FILES) make_input();
        const int found = f < FILES ? try_file(f) : try_input(NULL);
        plans += found > 0;
        if (found >= 0) continue;
        if (wrong++ > 20) continue;
        printf("# seed %llu:\n", (unsigned long long)seed);
        fflush(stdout);
        show();
    }
    scratch_remove(folder);
    for (int f = 0; f < FILES; f++) free(whole[f]);
    TEST_CHECK(wrong == 0 && plans > inputs / 20 && plans < inputs,
               "%llu inputs: %llu make a plan, the others are refused with their place, but %llu",
               (unsigned long long)inputs, (unsigned long long)plans, (unsigned long long)wrong);
    return test_end("fuzz");
}
