/* Parameters: what is read, what is refused and in which words, what is written and read again. */
#include "config_text.h"

static char *scratch;

static const struct ht_value *medium_value(const struct ht_params *p, const char *name) {
    return &ht_params_medium(p, name)->value;
}

static const char whole_file[] =
    "# every type of option\n"
    "system = \"acoustic\";\n"
    "grid = { cells = [16, 2147483648L]; lower = [-1, 0.5];\n"
    "         upper = (2.5, 3); order = 5L; };\n"
    "time: { end = 2; cfl = 0.25; stages = 7; }\n"
    "boundary = { x1 = [\"rigid\", \"free\"]; x2 = \"periodic\"; };\n"
    "medium = { type = \"file\"; c = [1, 2.5]; rho = 2; format = \"raw\";\n"
    "           shape = [10, 20]; /* [1, */\n"
    "           axes = [\"x3\", \"x1\"]; };\n"
    "initial = { type = \"expression\"; frequency = 1e-3;\n"
    "            values = { p = \"sin(x1) // 1\"; v1 = 0.5; };\n"
    "            returns = TRUE; };\n"
    "output = { maps = ({ frequencies = [1.25]; });\n"
    "           directory = \"a\\\"b\\\\c\\n\\x01\xc3\xa9\"; fields = [];\n"
    "           picture = { pixels = 100; }; };\n";

/* A type on the command line leaves keys of the file's type aside, also in the resolved input; keys
 * beside it there do not. */
static const struct reading readings[] = {
    {"values alone",
     "initial = { values = { p = \"x1\"; }; };",
     {NULL},
     "initial.type = \"expression\""},
    {"sources begin at rest",
     "sources = ( { position = [0.1, 0.1, 0.1]; frequency = 1.0; } );",
     {"initial.frequency=2.0"},
     "initial.type = \"zero\""},
    {"every type",
     whole_file,
     {NULL},
     "grid.cells = [16, 2147483648L]|grid.lower = [-1.0, 0.5, 0.0]|grid.upper = [2.5, 3.0, 1.0]|"
     "grid.order = 5|time.end = 2.0|time.stages = 7.0|boundary.x1 = [\"rigid\", \"free\"]|"
     "boundary.x2 = [\"periodic\", \"periodic\"]|medium.c = [1.0, 2.5]|medium.rho = 2.0|medium.K = "
     "|"
     "medium.axes = [\"x3\", \"x1\"]|medium.shape = [10, 20, 0]|initial.returns = true|"
     "initial.frequency = 0.001|initial.values = { p = \"sin(x1) // 1\"; v1 = \"0.5\"; }|"
     "output.directory = \"a\\\"b\\\\c\\n\\x01\xc3\xa9\"|output.maps = 1"},
    {"values left aside",
     whole_file,
     {"initial={type=\"random\"; seed=99999999999;}", "initial.amplitude=1e-3"},
     "initial.values = { }|initial.seed = 99999999999L|initial.amplitude = 0.001"},
    {"cycles left aside",
     "initial = { type = \"plane\"; cycles = [2, 0, 0]; wave = 2; };",
     {"initial.values={p=\"x1\";}", "initial.type=expression"},
     "initial.cycles = [1, 0, 0]|initial.wave = 1"},
    {"a width left aside",
     "boundary = { x1 = \"absorbing\"; }; absorbing = { width = 0.2; };",
     {"boundary.x1=rigid"},
     "absorbing.width = "},
    {"marks of nothing left aside",
     "receivers = ({ position = [0.5]; }); output = { picture = { marks = true; }; };",
     {"receivers=()"},
     "output.picture.marks = false"},
    {"a group merges, a bare word is a string",
     "grid = { upper = [2.5]; };",
     {"grid={cells=[8]; order=2}", "boundary.x1=rigid"},
     "grid.cells = [8]|grid.order = 2|grid.upper = [2.5, 1.0, 1.0]|"
     "boundary.x1 = [\"rigid\", \"rigid\"]"},
    {"members of a map",
     whole_file,
     {"initial.values.p=x1*2", "initial.values.v2=\"x2\""},
     "initial.values = { p = \"x1*2\"; v1 = \"0.5\"; v2 = \"x2\"; }"},
    {"a map and an array are replaced",
     whole_file,
     {"initial.values={p=\"x1\"}", "grid.lower=[0,0]"},
     "initial.values = { p = \"x1\"; }|grid.lower = [0.0, 0.0, 0.0]"},
    {"strings without quotes",
     "",
     {"device.select=0", "output.directory=/a@b/9x.c"},
     "device.select = \"0\"|output.directory = \"/a@b/9x.c\""},
    {"blanks, an expression",
     "",
     {" time.end = 2", "medium.c=2*x1 + 1"},
     "time.end = 2.0|medium.c = \"2*x1 + 1\""},
    {"defaults of axes that are not there",
     "grid = { cells = [8]; upper = [1, 1.0, 1]; };",
     {"boundary.x2=[\"periodic\",\"periodic\"]"},
     "grid.cells = [8]"},
    {"a step of the command line for a cfl of the file",
     "time = { cfl = 0.5; };",
     {"time.step=0.01"},
     "time.step = 0.01|time.cfl = 0.9"},
    {"lines end as on Windows", "grid = {\r\n order = 4;\r\n};\r\n", {NULL}, "grid.order = 4"},
    {"a mark of UTF-8 is skipped",
     "\xef\xbb\xbfgrid = {\n order = 5; };\n",
     {NULL},
     "grid.order = 5"},
};

/* What is set, by groups, members and parts. */
static void test_set(void) {
    HT_ENDED(ht_params_end)
    struct ht_params *p = params_of(whole_file, "initial.values={p=\"x1\"}", NULL),
                     *q = params_of(whole_file, "initial.type=random", NULL);
    TEST_CHECK(ht_params_is_set(p, "medium.shape") && !ht_params_is_set(p, "medium.scale") &&
                   ht_params_is_set(p, "initial.values.p") &&
                   !ht_params_is_set(p, "initial.values.v1") &&
                   !ht_params_is_set(q, "initial.values"),
               "what is set is known");
}

static void test_round_trip(void) {
    HT_ENDED(ht_params_end)
    struct ht_params *p = params_of(whole_file, "grid.cells=[16, 8]", "initial.type=random");
    /* Numbers that need all their digits. */
    p->grid.lower[0] = -1.0 / 3;
    p->time.end = 0.1;
    p->medium.scale = DBL_MIN;
    p->initial.single.amplitude = -DBL_MAX;
    p->initial.seed = INT64_MIN;
    HT_FREED char *first = printed(p);
    HT_ENDED(ht_params_end) struct ht_params *q = params_of(first ? first : "", NULL, NULL);
    HT_FREED char *second = printed(q);
    TEST_CHECK(first && second && strcmp(first, second) == 0,
               "round trip: %zu characters printed twice alike", first ? strlen(first) : 0);
    TEST_CHECK(q->grid.lower[0] == p->grid.lower[0] && q->medium.scale == DBL_MIN &&
                   q->initial.single.amplitude == -DBL_MAX && q->initial.seed == INT64_MIN &&
                   q->time.end == 0.1,
               "round trip: the extremes are the same bits");
    TEST_CHECK(!strcmp(q->output.directory, p->output.directory) &&
                   medium_value(q, "K")->kind == HT_VALUE_NONE && q->output.maps.count == 1 &&
                   q->grid.dims == 2,
               "round trip: strings, a list, absent values");
}

/* Every option's default must be printed, read back and be in range. */
static void test_table(void) {
    HT_ENDED(ht_params_end) struct ht_params *p = params_of("", NULL, NULL);
    HT_FREED char *first = printed(p);
    HT_ENDED(ht_params_end) struct ht_params *q = params_of(first ? first : "", NULL, NULL);
    HT_FREED char *second = printed(q);
    int good = 0, set = 0;
    for (int i = 0; i < ht_option_count(); i++) {
        const struct ht_option *o = ht_option_at(i);
        size_t length = strlen(o->help);
        bool none = o->type == HT_OPT_VALUE || o->type == HT_OPT_MEDIUM || o->type == HT_OPT_MAP;
        good += o->key && o->unit && length > 20 && (o->fallback || none) &&
                o->offset < sizeof *p && o->help[length - 1] == '.';
        /* So no key counts as set: the defaults are written as values print. */
        if (!ht_params_is_set(q, o->key)) continue;
        printf("     set: %s\n", o->key);
        set++;
    }
    TEST_EQUAL(good, ht_option_count(), "table: complete rows");
    TEST_CHECK(first && second && !strcmp(first, second), "table: the defaults round trip");
    TEST_EQUAL(set, 0, "table: defaults read back that count as set");
}

/* Cells and upper corner by a spacing. */
static void test_spacing(void) {
    static const struct {
        const char *text, *first, *second;
        int64_t cells[2];
        double upper[2];
    } cases[] = {
        {"cells = [120, 30]; spacing = 0.1;", NULL, NULL, {120, 30}, {12, 3}},
        {"upper = [12.0, 3.0]; spacing = [0.1, 0.2];", NULL, NULL, {120, 15}, {12, 3}},
        {"lower = [2.0, 0.0]; upper = [12.0, 3.0]; spacing = 0.1;", NULL, NULL, {100, 30}, {12, 3}},
        {"cells = [120, 30]; upper = [12.0, 3.0]; spacing = 0.1;", NULL, NULL, {120, 30}, {12, 3}},
        {"cells = [120, 30]; upper = [12.0, 3.0];", "grid.spacing=0.2", NULL, {60, 15}, {12, 3}},
        {"cells = [120, 30]; spacing = 0.1;", "grid.spacing=0.2", NULL, {60, 15}, {12, 3}},
        {"cells = [120, 30]; spacing = 0.1;", "grid.cells=[60,15]", NULL, {60, 15}, {12, 3}},
        {"upper = [12.0, 3.0]; spacing = 0.1;", "grid.cells=[60,15]", NULL, {60, 15}, {12, 3}},
        {"upper = [12.0, 3.0]; spacing = 0.1;", "grid.upper=[6,3]", NULL, {60, 30}, {6, 3}},
        {"order = 3;", "grid.cells=[20,10]", "grid.spacing=0.1", {20, 10}, {2, 1}},
    };
    TEST_EACH(row, cases) {
        const char *text = HT_KEY("grid = { %s };", row->text);
        HT_ENDED(ht_params_end) struct ht_params *p = params_of(text, row->first, row->second);
        bool same = p->grid.dims == 2;
        for (int k = 0; k < 2 && same; k++)
            same = p->grid.cells[k] == row->cells[k] &&
                   fabs(p->grid.upper[k] - row->upper[k]) <= 4 * DBL_EPSILON * 12;
        TEST_CHECK(same, "%s %s: cells and upper corner", text, row->first ? row->first : "");
    }
}

static const struct {
    const char *text, *message;
} refused_values[] = {
    {"grid = {\n  order = -2; };", "grid.order = -2: must be 0..16 (x.cfg:2)"},
    {"grid = { order = 17; };", "grid.order = 17: must be 0..16 (x.cfg:1)"},
    {"grid = { order = 2.7; };", "grid.order = 2.7: must be an integer (x.cfg:1)"},
    {"grid = { order = 3.0; };", "grid.order = 3.0: must be an integer (x.cfg:1)"},
    {"grid = { order = 4294967299; };", "grid.order = 4294967299: must be 0..16 (x.cfg:1)"},
    {"grid = { order = \"3\"; };", "grid.order = \"3\": must be an integer (x.cfg:1)"},
    {"grid = { order = [3]; };", "grid.order = [3]: must be an integer (x.cfg:1)"},
    {"grid = { order = { n = 3; }; };", "grid.order = { ... }: must be an integer (x.cfg:1)"},
    {"grid = { cells = [8, 0]; };", "grid.cells = [8, 0]: must be 1..2147483648 (x.cfg:1)"},
    {"grid = { cells = []; };", "grid.cells = []: must be 1 to 3 integers (x.cfg:1)"},
    {"grid = { cells = [1, 2, 3, 4]; };",
     "grid.cells = [1, 2, 3, 4]: must be 1 to 3 integers (x.cfg:1)"},
    {"grid = { cells = [8, 8.5]; };", "grid.cells = [8, 8.5]: must be 1 to 3 integers (x.cfg:1)"},
    {"grid = { cells = ( [8], 8 ); };", "grid.cells = ( ... ): must be 1 to 3 integers (x.cfg:1)"},
    {"initial = { cycles = [3000000000]; };",
     "initial.cycles = [3000000000]: must fit into 32 bits (x.cfg:1)"},
    {"time = { end = -1; };", "time.end = -1: must be >= 0 (x.cfg:1)"},
    {"time = { end = 1e999; };", "time.end = inf: must be finite (x.cfg:1)"},
    {"time = { cfl = 0; };", "time.cfl = 0: must be > 0 and <= 3 (x.cfg:1)"},
    {"time = { cfl = true; };", "time.cfl = true: must be a number (x.cfg:1)"},
    {"time = { scheme = \"euler\"; };",
     "time.scheme = \"euler\": must be one of taylor, leapfrog, fd, auto (x.cfg:1)"},
    {"time = { stages = \"some\"; };",
     "time.stages = \"some\": must be auto, full, least or 1..10000 (x.cfg:1)"},
    {"time = { stages = 0; };", "time.stages = 0: must be auto, full, least or 1..10000 (x.cfg:1)"},
    {"time = { stages = 2.5; };",
     "time.stages = 2.5: must be \"auto\", \"full\", \"least\" or a whole number (x.cfg:1)"},
    {"medium = { c = [1, -2]; };", "medium.c = [1, -2]: must be > 0 (x.cfg:1)"},
    {"medium = { c = []; };",
     "medium.c = []: must be a number, a list of numbers or a string (x.cfg:1)"},
    {"initial = { width = 0.0; };", "initial.width = 0.0: must be > 0 (x.cfg:1)"},
    {"initial = { values = { p = true; }; };",
     "initial.values.p = true: must be a string (x.cfg:1)"},
    {"initial = { values = 3; };", "initial.values = 3: must be a group of strings (x.cfg:1)"},
    {"initial = { returns = 1; };", "initial.returns = 1: must be true or false (x.cfg:1)"},
    {"output = { fields = [\"p\", 1]; };",
     "output.fields = [\"p\", 1]: must be a list of strings (x.cfg:1)"},
    {"boundary = { x1 = [\"rigid\", \"rigid\", \"rigid\"]; };",
     "boundary.x1 = [\"rigid\", \"rigid\", \"rigid\"]: must be one or two strings (x.cfg:1)"},
    {"device = { select = 0; };", "device.select = 0: must be a string (x.cfg:1)"},
    {"device = { precision = \"half\"; };",
     "device.precision = \"half\": must be one of single, double (x.cfg:1)"},
};

static void test_refused_values(void) {
    TEST_EACH(row, refused_values) expect_refused(row->text, NULL, row->message);
}

static const struct {
    const char *text, *message;
} refused_keys[] = {
    {"grid = {\n\n ordr = 3; };", "grid.ordr: unknown key; did you mean grid.order? (x.cfg:3)"},
    {"order = 3;", "order: unknown key; did you mean grid.order? (x.cfg:1)"},
    {"sistem = \"acoustic\";", "sistem: unknown key; did you mean system? (x.cfg:1)"},
    {"time = { zzz = 1.0; };", "time.zzz: unknown key; time has the keys end, cfl, step, scheme, "
                               "stages, dispersion (x.cfg:1)"},
    {"time = { dt = 1.0; };", "time.dt: unknown key; did you mean time.step? (x.cfg:1)"},
    {"center = [0.5];", "center: unknown key; did you mean initial.centre? (x.cfg:1)"},
    {"grid = { NX = 4; };", "grid.NX: unknown key; did you mean grid.cells? (x.cfg:1)"},
    {"initial = { sigma = 0.1; };",
     "initial.sigma: unknown key; did you mean initial.width? (x.cfg:1)"},
    {"frequency = 3.0;", "frequency: unknown key; did you mean initial.frequency? (x.cfg:1)"},
    {"ordr = 3;", "ordr: unknown key; did you mean grid.order? (x.cfg:1)"},
    {"boundaries = { };", "boundaries: unknown group; did you mean boundary? (x.cfg:1)"},
    {"mesh = { };", "mesh: unknown group; did you mean grid? (x.cfg:1)"},
    {"output = { picture = { plan = \"x1\"; }; };",
     "output.picture.plan: unknown key; did you mean output.picture.plane? (x.cfg:1)"},
    {"zzz = 3;", "zzz: unknown key (x.cfg:1)"},
    {"gird = { order = 3; };", "gird: unknown group; did you mean grid? (x.cfg:1)"},
    {"source = { };", "source: unknown group; did you mean sources? (x.cfg:1)"},
    {"receiver = { };", "receiver: unknown group; did you mean receivers? (x.cfg:1)"},
    {"zzz = { };",
     "zzz: unknown group; there are grid, time, boundary, absorbing, medium, initial, gradient, "
     "output, output.checkpoint, output.picture, device, device.limits, parallel (x.cfg:1)"},
    {"grid = 3;", "grid = 3: must be a group of keys, grid = { ... }; (x.cfg:1)"},
    {"output = { picture = \"x3\"; };",
     "output.picture = \"x3\": must be a group of keys, output.picture = { ... }; (x.cfg:1)"},
    {"system = { name = \"acoustic\"; };", "system = { ... }: must be a string (x.cfg:1)"},
    {"grid = {\n order = 3\n cells = [8, };\n", "} where ] must close [8, }; (x.cfg:3)"},
    {"grid = { cells = [8); };", ") where ] must close [8); }; (x.cfg:1)"},
    {"grid = {\n order = 3;\n", "this { is not closed (x.cfg:1)"},
    {"grid = { }; };", "nothing is open that } closes (x.cfg:1)"},
    {"\nsystem = \"acoustic;\n", "the string that begins here does not end in its line (x.cfg:2)"},
    {"system = acoustic;",
     "syntax error: words need quotes, \"..\", in this line or before it: system "
     "= acoustic; (x.cfg:1)"},
    {"grid = { cells = [3 4]; };",
     "syntax error: numbers of a list need commas between them, in this "
     "line or before it: grid = { cells = [3 4]; }; (x.cfg:1)"},
    {"sources = ( { position = [1.0]; }\n { position = [2.0]; } );",
     "groups of a list need commas between them (x.cfg:2)"},
    {"system \"acoustic\";", "syntax error: a key needs = and a value, in this line or before it: "
                             "system \"acoustic\"; (x.cfg:1)"},
    {"grid { cells = [3, 4]; };", "syntax error: a key needs = and a value, in this line or before "
                                  "it: grid { cells = [3, 4]; }; (x.cfg:1)"},
    {"pml = { cells = 3; };", "pml: unknown group; did you mean absorbing? (x.cfg:1)"},
    {"system = \"a\";\nsystem = \"b\";",
     "duplicate setting name, in this line or before it: system = \"b\"; (x.cfg:2)"},
    {"\n@include \".\"\n",
     "@include is not supported: keep a run in one file, and give changes as key=value (x.cfg:2)"},
    {"\ninitial = { seed = 99999999999999999999; };", "an integer beyond 64 bits (x.cfg:2)"},
};

static void test_refused_keys(void) {
    TEST_EACH(row, refused_keys) expect_refused(row->text, NULL, row->message);
}

static const struct {
    const char *text, *override, *message;
} refused_rules[] = {
    {"grid = { cells = [8, 8]; lower = [-1]; };", NULL,
     "grid.lower = [-1]: must have an entry for each of the grid's 2 axes "
     "(grid.cells) (x.cfg:1)"},
    {"grid = { cells = [8, 8]; upper = [1, -1]; };", NULL,
     "grid.upper = [1, -1]: must be above grid.lower along every axis, but x2 has -1 "
     "and 0 (x.cfg:1)"},
    {"grid = { cells = [8]; lower = [1.0]; };", NULL,
     "grid.lower = [1.0]: must be below grid.upper along every axis, but x1 has 1 "
     "and 1 (x.cfg:1)"},
    {"grid = { cells = [8, 8]; }; medium = { type = \"layers\"; };", NULL,
     "medium.axis = \"x3\": must be an axis of the grid, which has 2 (default)"},
    {"medium = { type = \"layers\"; };", NULL,
     "medium.interfaces: must be positions when medium.type is \"layers\" (not set)"},
    {"medium = { type = \"layers\"; interfaces = [1, 1.0]; };", NULL,
     "medium.interfaces = [1, 1.0]: must increase, but 1 follows 1 (x.cfg:1)"},
    {"initial = { type = \"expression\"; };", NULL,
     "initial.values: must give a field, such as { p = \"x1\"; }, when initial.type "
     "is \"expression\" (not set)"},
    {"initial = { type = \"file\"; };", NULL,
     "initial.file = \"\": must name a file when initial.type is \"file\" (default)"},
    {"grid = { cells = [8, 8]; upper = [2, 2, 2]; };", NULL,
     "grid.upper = [2, 2, 2]: has an entry for x3, but the grid has 2 axes "
     "(grid.cells) (x.cfg:1)"},
    {"grid = { cells = [8]; lower = [0, -1]; };", NULL,
     "grid.lower = [0, -1]: has an entry for x2, but the grid has 1 axis "
     "(grid.cells) (x.cfg:1)"},
    {"grid = { cells = [8]; }; initial = { type = \"plane\"; };", "initial.cycles=[1, 1]",
     "initial.cycles = [1, 1]: has an entry for x2, but the grid has 1 axis "
     "(grid.cells) (command line)"},
    {"grid = { cells = [8, 8]; };", "boundary.x3=rigid",
     "boundary.x3 = \"rigid\": x3 is no axis of the grid, which has 2 (grid.cells) "
     "(command line)"},
    {"medium = { q_frequency = 3.0; };", NULL,
     "medium.q_frequency = 3.0: has no meaning without medium.q or medium.absorption or medium.qp "
     "or medium.qs: give that, too, or leave this out (x.cfg:1)"},
    {"medium = { absorption_power = 1.5; };", NULL,
     "medium.absorption_power = 1.5: has no meaning without medium.q or medium.absorption or "
     "medium.qp or medium.qs: give that, too, or leave this out (x.cfg:1)"},
    {"medium = { debye_tau = 3.0; };", NULL,
     "medium.debye_tau = 3.0: has no meaning without medium.debye_eps: give that, too, or leave "
     "this out (x.cfg:1)"},
    {"medium = { drude_gamma = 3.0; };", NULL,
     "medium.drude_gamma = 3.0: has no meaning without medium.drude_wp: give that, too, or leave "
     "this out (x.cfg:1)"},
    {"medium = { lorentz_w0 = 3.0; };", NULL,
     "medium.lorentz_w0 = 3.0: has no meaning without medium.lorentz_eps: give that, too, or leave "
     "this out (x.cfg:1)"},
    {"medium = { lorentz_gamma = 3.0; };", NULL,
     "medium.lorentz_gamma = 3.0: has no meaning without medium.lorentz_eps: give that, too, or "
     "leave this out (x.cfg:1)"},
    {"output = { fields = [\"p\", \"v1\", \"p\"]; };", NULL,
     "output.fields = [\"p\", \"v1\", \"p\"]: names \"p\" twice (x.cfg:1)"},
    {"parallel = { shots = 2; };", NULL,
     "parallel.shots = 2: has no meaning without shots or sources: give that, too, or leave this "
     "out (x.cfg:1)"},
    {"output = { picture = { marks = true; }; };", NULL,
     "output.picture.marks = true: has no meaning without sources or receivers: give that, too, or "
     "leave this out (x.cfg:1)"},
    {"medium = { type = \"file\"; c = \"c.npy\"; dataset = \"vp\"; };", NULL,
     "medium.dataset = \"vp\": is for HDF5 files of the medium (.h5, .hdf5), of which there are "
     "none (x.cfg:1)"},
    {"initial = { file = \"p.h5\"; field = \"p\"; };", NULL,
     "initial.field = \"p\": is for files .npy (initial.file), of which there are none (x.cfg:1)"},
    {"initial = { type = \"file\"; file = \"p.npy\"; values = { p = \"p\"; }; };", NULL,
     "initial.values = { ... }: is for HDF5 files (initial.file), of which there are none "
     "(x.cfg:1)"},
};

static void test_refused_rules(void) {
    TEST_EACH(row, refused_rules) expect_refused(row->text, row->override, row->message);
}

static void test_refused_overrides(void) {
    static const struct {
        const char *override, *message;
    } row[] = {
        {"grid.order=17", "grid.order = 17: must be 0..16 (command line)"},
        {"grid.order=3x", "grid.order = \"3x\": must be an integer (command line)"},
        {"grid.order=", "grid.order = \"\": must be an integer (command line)"},
        {"grid.ordr=3", "grid.ordr: unknown key; did you mean grid.order? (command line)"},
        {"gird.order=3", "gird.order: unknown key; did you mean grid.order? (command line)"},
        {"grid.order.x=3", "grid.order.x: unknown key; did you mean grid.order? (command line)"},
        {"grid.cells=[8,8", "grid.cells = [8,8: not a value in libconfig's syntax, in which text "
                            "has quotes (command line)"},
        {"initial.seed=99999999999999999999",
         "initial.seed = 99999999999999999999: an integer beyond 64 bits (command line)"},
        {"grid.order=3; time.end=4",
         "grid.order = \"3; time.end=4\": must be an integer (command line)"},
        {"time.end=nan", "time.end = \"nan\": must be a number (command line)"},
        {"grid={ordr=3}", "grid.ordr: unknown key; did you mean grid.order? (command line)"},
        {"initial.values.p.q=x1",
         "initial.values.p.q = \"x1\": the name must be letters and digits (command line)"},
        {"grid.order",
         "grid.order: an option on the command line is key=value, such as grid.order=4"},
        {"=3", "=3: an option on the command line is key=value, such as grid.order=4"},
    };
    TEST_EACH(r, row) expect_refused("grid = { order = 2; };", r->override, r->message);
}

static void test_files(void) {
    enum { DEEP = 100000 };
    static char deep[DEEP + 1];
    struct ht_params *p = NULL;
    TEST_ERROR(ht_params_read("none.cfg", 0, NULL, &p), HT_ERR_INPUT,
               "cannot read none.cfg: No such file or directory", "files");
    TEST_ERROR(ht_params_read(scratch, 0, NULL, &p), HT_ERR_INPUT, "Is a directory", "files");
    must(ht_file_write("binary", "system\0= 3;", 11));
    TEST_ERROR(ht_params_read("binary", 0, NULL, &p), HT_ERR_INPUT, "binary is not a text file",
               "files");
    /* A hundred thousand brackets must end in a message. */
    memset(deep, '(', DEEP);
    for (int i = 0; i < 3; i++) deep[i] = "a ="[i];
    TEST_CHECK(read_text(deep, NULL, &p) == HT_ERR_INPUT && p == NULL,
               "files: deep nesting refused: %.40s", ht_err_message());
}

static bool is_text(const char *text, const char *wanted) {
    if (text && strcmp(text, wanted) == 0) return true;
    printf("     expected: %s\n", wanted);
    return false;
}

/* Names in the file are meant from its folder, those on the command line from the current one;
 * printed they hold everywhere. */
static void test_paths(void) {
    static const char text[] = "medium = { c = \"m.f32\"; rho = \"/r.f32\"; };initial = { type = "
                               "\"file\"; file = \"u.h5\"; };output = { directory = \"out\"; };";
    char type[] = "medium.type=file", file[] = "initial.file=v.h5";
    char *overrides[] = {type, file};
    char here[256], wanted[512];
    HT_ENDED(ht_params_end) struct ht_params *p = NULL, *q = NULL;
    const char *key, *path;
    must(ht_file_make_directory("sub"));
    must(ht_file_write("sub/x.cfg", text, strlen(text)));
    must(ht_params_read("sub/x.cfg", 1, overrides, &p));
    must(ht_params_read("sub/x.cfg", 2, overrides, &q));
    if (!getcwd(here, sizeof here)) exit(1);
    TEST_CHECK(is_text(medium_value(p, "c")->text, "sub/m.f32") &&
                   is_text(p->initial.file, "sub/u.h5"),
               "paths: %s and %s from the file", medium_value(p, "c")->text, p->initial.file);
    TEST_CHECK(is_text(medium_value(p, "rho")->text, "/r.f32") &&
                   is_text(q->initial.file, "v.h5") && is_text(p->output.directory, "out"),
               "paths: absolute, of the command line, of outputs: %s, %s, %s",
               medium_value(p, "rho")->text, q->initial.file, p->output.directory);
    HT_FREED char *whole = printed(p);
    snprintf(wanted, sizeof wanted, "c = \"%s/sub/m.f32\";", here);
    TEST_CHECK(whole && strstr(whole, wanted), "paths: printed as %s", wanted);
    int count = 0;
    while (ht_params_reads(p, count, &key, &path)) count++;
    TEST_CHECK(count == 4 && ht_params_reads(p, 2, &key, &path) && is_text(key, "medium.rho") &&
                   is_text(path, "/r.f32") && ht_params_reads(p, 3, &key, &path) &&
                   is_text(key, "initial.file") && is_text(path, "sub/u.h5"),
               "paths: %d files are read", count);
    remove("sub/x.cfg");
    remove("sub");
}

/* Marks of byte order; the second line is the second one. */
static void test_marks(void) {
    expect_refused("\xef\xbb\xbf"
                   "grid = {\n ordr = 5; };\n",
                   NULL, "grid.ordr: unknown key; did you mean grid.order? (x.cfg:2)");
    static const char *const wide[] = {"\xff\xfeg", "\xfe\xff"};
    for (int i = 0; i < 2; i++)
        expect_refused(wide[i], NULL, "x.cfg is text in UTF-16: save it as UTF-8 or ASCII");
}

/* What the user gave is cut and cannot reach a terminal's controls. */
static void test_shown(void) {
    static char text[6000], value[5001];
    memset(value, 'v', sizeof value - 1);
    snprintf(text, sizeof text, "time = { scheme = \"%s\"; };", value);
    struct ht_params *p = NULL;
    enum ht_err err = read_text(text, NULL, &p);
    TEST_BELOW(err ? (double)strlen(ht_err_message()) : NAN, 400,
               "a value of 5000 letters: length of the message");
    TEST_CHECK(strstr(ht_err_message(), "vvv...vvv") &&
                   strstr(ht_err_message(), "must be one of") &&
                   strstr(ht_err_message(), "(x.cfg:1)"),
               "%s", ht_err_message());
    memcpy(text + snprintf(text, sizeof text, "grid = { %s", value), "=1;};", 6);
    err = read_text(text, NULL, &p);
    TEST_CHECK(err && strlen(ht_err_message()) < 400 && strstr(ht_err_message(), "unknown key"),
               "a key of 5000 letters: %s", ht_err_message());
    expect_refused("", "a\033[31m\nb=1", "a\\x1b[31m\\nb: unknown key (command line)");
    expect_refused("", "grid.order=\033[31m\x9b",
                   "grid.order = \"\\x1b[31m\\x9b\": must be an integer (command line)");
    err = ht_params_read("no\033[31m.cfg", 0, NULL, &p);
    TEST_CHECK(err && strstr(ht_err_message(), "no\\x1b[31m.cfg"), "%s", ht_err_message());
    err = ht_params_read(value, 0, NULL, &p);
    TEST_BELOW(err ? (double)strlen(ht_err_message()) : NAN, 820,
               "a file name of 5000 letters: length of the message");
}

/* The manual names every option in both forms. */
static void test_help(void) {
    for (int markdown = 0; markdown < 2; markdown++) {
        HT_FREED char *text = NULL;
        size_t size = 0;
        int named = 0, longest = 0;
        FILE *out = fopen("help", "w");
        if (!out) exit(1);
        ht_params_help(out, markdown != 0);
        fclose(out);
        must(ht_file_read("help", &text, &size));
        for (int i = 0; i < ht_option_count(); i++)
            named += strstr(text, ht_option_at(i)->key) != NULL;
        for (const char *c = text; *c; c += strspn(c, "\n")) {
            int length = (int)strcspn(c, "\n");
            longest = length > longest ? length : longest;
            c += length;
        }
        TEST_CHECK(named == ht_option_count(), "help: %d of %d options named", named,
                   ht_option_count());
        if (!markdown) TEST_BELOW(longest, 80, "help: longest line");
    }
}

int main(void) {
    static const char *const left[] = {"x.cfg", "binary", "help"};
    if ((scratch = scratch_make("params")) == NULL || chdir(scratch) != 0) return 1;
    TEST_EACH(row, readings) expect_reading(row);
    test_set();
    test_round_trip();
    test_table();
    test_spacing();
    test_refused_values();
    test_refused_keys();
    test_refused_rules();
    test_refused_overrides();
    test_files();
    test_paths();
    test_marks();
    test_shown();
    test_help();
    for (int i = 0; i < 3; i++) remove(left[i]);
    TEST_CHECK(rmdir(scratch) == 0, "nothing else was left in %s", scratch);
    return test_end("params");
}
