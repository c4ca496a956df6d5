/* Lists of groups in the input: what is read, printed and read again, changed on the command line,
 * and what is refused in which words. */
#include "config_text.h"

static char *scratch;

static const char three[] = "grid = { cells = [8, 8]; };\n"
                            "initial = {\n"
                            "    pulses = (\n"
                            "        { centre = [0.25, 0.5]; },\n"
                            "        { centre = [0.75, 0.5]; width = 0.05;\n"
                            "          amplitude = -2; field = \"v1\"; },\n"
                            "        { centre = [1, 0]; }\n"
                            "    );\n"
                            "};\n";

static const struct ht_pulse *pulse_at(const struct ht_params *params, int n) {
    return (const struct ht_pulse *)params->initial.pulses.group + n;
}

static bool same_pulse(const struct ht_pulse *a, const struct ht_pulse *b) {
    for (int k = 0; k < 3; k++)
        if (a->centre[k] != b->centre[k]) return false;
    return a->width == b->width && a->amplitude == b->amplitude && strcmp(a->field, b->field) == 0;
}

static void test_read(void) {
    HT_ENDED(ht_params_end)
    struct ht_params *p = params_of(three, NULL, NULL), *none = params_of("", NULL, NULL);
    struct ht_pulse one;
    TEST_CHECK(ht_params_is_set(p, "initial.pulses") &&
                   ht_params_is_set(p, "initial.pulses.2.width") &&
                   !ht_params_is_set(p, "initial.pulses.1.width"),
               "what is set in groups is known");
    TEST_CHECK(ht_params_pulse(p, 2, &one) && one.centre[0] == 1 && !ht_params_pulse(p, 3, &one),
               "three pulses in all");
    ht_params_error(p, "initial.pulses.2.width", "must be 3");
    TEST_CHECK(!strcmp(ht_err_message(), "initial.pulses.2.width = 0.05: must be 3 (x.cfg:5)"),
               "blamed as \"%s\"", ht_err_message());
    TEST_CHECK(!none->initial.pulses.count && ht_params_pulse(none, 0, &one) && one.width == 0.1 &&
                   one.centre[1] == 0.5 && !ht_params_pulse(none, 1, &one) &&
                   !ht_params_is_set(none, "initial.pulses"),
               "without a list there is the pulse of initial.centre");
}

/* The resolved input gives the same parameters and the same text. */
static void test_printed(void) {
    HT_ENDED(ht_params_end) struct ht_params *p = params_of(three, NULL, NULL);
    HT_FREED char *first = printed(p);
    HT_ENDED(ht_params_end) struct ht_params *q = params_of(first, NULL, NULL);
    HT_FREED char *second = printed(q);
    bool same = q->initial.pulses.count == 3;
    for (int i = 0; same && i < 3; i++) same = same_pulse(pulse_at(p, i), pulse_at(q, i));
    TEST_CHECK(same, "printed and read again: the same groups");
    TEST_CHECK(strcmp(first, second) == 0, "printed again: the same text");
}

static const struct reading readings[] = {
    {"groups and their defaults",
     three,
     {NULL},
     "initial.pulses = 3|initial.pulses.1.centre = [0.25, 0.5, 0.0]|initial.pulses.1.width = 0.1|"
     "initial.pulses.1.amplitude = 1.0|initial.pulses.1.field = \"\"|"
     "initial.pulses.2.width = 0.05|initial.pulses.2.amplitude = -2.0|"
     "initial.pulses.2.field = \"v1\""},
    {"overrides of keys in groups leave the others",
     three,
     {"initial.pulses.2.width=0.5", "initial.pulses.3.centre=[0, 1]"},
     "initial.pulses = 3|initial.pulses.2.width = 0.5|initial.pulses.2.amplitude = -2.0|"
     "initial.pulses.3.centre = [0.0, 1.0, 0.0]"},
    {"an override replaces a group, one behind the last is new",
     three,
     {"initial.pulses.2={centre=[0.1, 0.2];}", "initial.pulses.4={centre=[1.0, 1.0];}",
      "initial.pulses.4.width=3"},
     "initial.pulses = 4|initial.pulses.2.width = 0.1|initial.pulses.2.field = \"\"|"
     "initial.pulses.4.width = 3.0|initial.pulses.4.centre = [1.0, 1.0, 0.0]"},
    {"an override replaces the list",
     three,
     {"initial.pulses=({centre=[1.0, 1.0];})", "initial.pulses.1.width=7"},
     "initial.pulses = 1|initial.pulses.1.width = 7.0"},
    {"an empty list is none",
     three,
     {"initial.pulses=()", "initial.width=0.3"},
     "initial.pulses = 0|initial.width = 0.3"},
};

/* What overrides replace is not set. */
static void test_replaced(void) {
    HT_ENDED(ht_params_end)
    struct ht_params *whole = params_of(three, "initial.pulses=({centre=[1.0, 1.0];})", NULL),
                     *group = params_of(three, "initial.pulses.2={centre=[0.1, 0.2];}", NULL),
                     *none = params_of(three, "initial.pulses=()", NULL);
    TEST_CHECK(!ht_params_is_set(group, "initial.pulses.2.width") &&
                   !ht_params_is_set(whole, "initial.pulses.2.width") &&
                   !ht_params_is_set(none, "initial.pulses"),
               "what overrides replace is not set");
}

static const char *const wrong_files[][2] = {
    {"initial = { pulses = (\n"
     "  { centre = [0, 0, 0]; },\n"
     "  { centre = [0, 0, 0]; },\n"
     "  { centre = [0, 0, 0];\n"
     "    widht = 1; } ); };",
     "initial.pulses.3.widht: unknown key in group 3 of initial.pulses; did you mean width? "
     "(x.cfg:5)"},
    {"initial = { pulses = ( { centre = [0, 0, 0]; },\n{ colour = 1; } ); };",
     "initial.pulses.2.colour: unknown key in group 2 of initial.pulses, whose groups have the "
     "keys centre, width, amplitude, field (x.cfg:2)"},
    {"initial = { pulses = ( { center = [0, 0, 0]; } ); };",
     "initial.pulses.1.center: unknown key in group 1 of initial.pulses; did you mean centre? "
     "(x.cfg:1)"},
    {"initial = { pulses = ( { sigma = 1.0; } ); };",
     "initial.pulses.1.sigma: unknown key in group 1 of initial.pulses; did you mean width? "
     "(x.cfg:1)"},
    {"initial = { pulses = ( { width = { a = 1; }; } ); };",
     "initial.pulses.1.width = { ... }: must be a number (x.cfg:1)"},
    {"initial = {\n pulses = { centre = [0, 0, 0]; };\n};",
     "initial.pulses = { ... }: must be a list of groups, ( { ... }, { ... } ) (x.cfg:2)"},
    {"initial = { pulses = 3; };",
     "initial.pulses = 3: must be a list of groups, ( { ... }, { ... } ) (x.cfg:1)"},
    {"initial = { pulses = [1, 2]; };",
     "initial.pulses = [1, 2]: must be a list of groups, ( { ... }, { ... } ) (x.cfg:1)"},
    {"initial = { pulses = (\n{ centre = [0, 0, 0]; },\n5 ); };",
     "initial.pulses.2 = 5: group 2 of initial.pulses must be { ... } (x.cfg:3)"},
    {"initial = { pulses = (\n( { centre = [0, 0, 0]; } ) ); };",
     "initial.pulses.1 = ( ... ): group 1 of initial.pulses must be { ... } (x.cfg:2)"},
    {"initial = { pulses = (\n{ centre = [0, 0, 0]; },\n\n{ width = 2.0; } ); };",
     "initial.pulses.2 = { ... }: must give centre (x.cfg:4)"},
    {"initial = { pulses = (\n{ centre = [0, 0]; } ); };",
     "initial.pulses.1.centre = [0, 0]: must have an entry for each of the grid's 3 axes "
     "(grid.cells) (x.cfg:2)"},
    {"grid = { cells = [8]; };\ninitial = { pulses = (\n"
     "{ centre = [0, 1]; } ); };",
     "initial.pulses.1.centre = [0, 1]: has an entry for x2, but the grid has 1 axis (grid.cells) "
     "(x.cfg:3)"},
    {"initial = { pulses = ( { centre = [0, 0, 0]; width = \"a\"; } ); };",
     "initial.pulses.1.width = \"a\": must be a number (x.cfg:1)"},
    {"initial = { pulses = ( { centre = [0, 0, 0];\nwidth = -1; } ); };",
     "initial.pulses.1.width = -1: must be > 0 (x.cfg:2)"},
    {"initial = { pulses = ( { centre = [0, 0, 0]; field = 3; } ); };",
     "initial.pulses.1.field = 3: must be a string (x.cfg:1)"},
    {"initial = { pulses = ( { centre = [0, 0, 1e999]; } ); };",
     "initial.pulses.1.centre = [0, 0, inf]: must be finite (x.cfg:1)"},
    {"initial = { pulse = ( { centre = [0, 0, 0]; } ); };",
     "initial.pulse: unknown key; did you mean initial.pulses? (x.cfg:1)"},
    {"initial = { type = \"zero\";\npulses = ( { centre = [0, 0, 0]; } ); };",
     "initial.pulses = ( ... ): is for initial.type \"gaussian\", but the type is \"zero\" "
     "(x.cfg:2)"},
    {"initial = { width = 0.2;\npulses = ( { centre = [0, 0, 0]; } ); };",
     "initial.width = 0.2: initial.pulses is given too, whose groups have their own: give one of "
     "them (x.cfg:1)"},
};

static void test_refused_files(void) {
    TEST_EACH(row, wrong_files) expect_refused((*row)[0], NULL, (*row)[1]);
}

static const char *const wrong_overrides[][2] = {
    {"initial.pulses.3.frequency=1",
     "initial.pulses.3.frequency: unknown key in group 3 of initial.pulses, whose groups have the "
     "keys centre, width, amplitude, field (command line)"},
    {"initial.pulses.4.width=1", "initial.pulses.4.width = 1: initial.pulses has no such group; it "
                                 "has 3, counted from 1 (command line)"},
    {"initial.pulses.99999999999.width=1",
     "initial.pulses.99999999999.width = 1: initial.pulses has no such group; it has 3, counted "
     "from 1 (command line)"},
    {"initial.pulses.5={width=1.0;}", "initial.pulses.5 = { ... }: initial.pulses has no such "
                                      "group; it has 3, counted from 1 (command line)"},
    {"initial.pulses.0={width=1.0;}",
     "initial.pulses.0: initial.pulses is a list of groups, counted from 1: give "
     "initial.pulses.1.centre, or the whole list (command line)"},
    {"initial.pulses.width=1",
     "initial.pulses.width: initial.pulses is a list of groups, counted from 1: give "
     "initial.pulses.1.width, or the whole list (command line)"},
    {"initial.pulses.2=5",
     "initial.pulses.2 = 5: group 2 of initial.pulses must be { ... } (command line)"},
    {"initial.pulses.4={width=1.0;}",
     "initial.pulses.4 = { ... }: must give centre (command line)"},
};

static void test_refused_overrides(void) {
    TEST_EACH(row, wrong_overrides) expect_refused(three, (*row)[0], (*row)[1]);
}

/* One group more than there may be. */
static void test_many(void) {
    for (int most = 64; most <= 65; most++) {
        HT_FREED_TEXT struct ht_text text = {0};
        ht_text_add(&text, "grid = { cells = [8]; };\ninitial = { pulses = (");
        for (int i = 0; i < most; i++) ht_text_add(&text, "%s{ centre = [0.5]; }", i ? ",\n" : "");
        ht_text_add(&text, "); };");
        if (most > 64) {
            expect_refused(text.data, NULL,
                           "initial.pulses = ( ... ): must have at most 64 groups (x.cfg:2)");
            continue;
        }
        HT_ENDED(ht_params_end) struct ht_params *p = params_of(text.data, NULL, NULL);
        TEST_EQUAL(p->initial.pulses.count, 64, "most groups");
    }
}

/* What the reader relies on. */
static void test_tables(void) {
    int lists = 0, wrong = 0;
    for (int i = 0; i < ht_option_count(); i++) {
        const struct ht_option *option = ht_option_at(i);
        const struct ht_option_list *list = ht_option_list(option);
        wrong += (list != NULL) != (option->type == HT_OPT_LIST);
        if (!list) continue;
        lists++;
        wrong += list->count < 1 || list->count > 32 || list->size == 0;
        wrong += strlen(option->key) > 64 || !(option->high >= 1);
        for (int k = 0; k < list->count; k++) {
            const struct ht_option *row = &list->option[k];
            wrong += row->type == HT_OPT_CELLS || row->type == HT_OPT_MAP ||
                     row->type == HT_OPT_LIST || row->type == HT_OPT_MEDIUM;
            wrong += strchr(row->key, '.') != NULL || strlen(row->key) > 16;
            wrong += row->offset >= list->size;
        }
    }
    TEST_CHECK(lists > 0 && wrong == 0, "%d lists, %d wrong entries", lists, wrong);
}

int main(void) {
    if ((scratch = scratch_make("lists")) == NULL || chdir(scratch) != 0) return 1;
    test_read();
    test_printed();
    TEST_EACH(row, readings) expect_reading(row);
    test_replaced();
    test_refused_files();
    test_refused_overrides();
    test_many();
    test_tables();
    remove("x.cfg");
    TEST_CHECK(rmdir(scratch) == 0, "nothing else was left in %s", scratch);
    return test_end("lists");
}
