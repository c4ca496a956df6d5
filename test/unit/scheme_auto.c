/* time.scheme = "auto": what the plan chooses for each kind of medium and for keys that describe
 * one kind of scheme, the reason that it gives, and what it refuses. A named scheme stays what it
 * is. */
#include "io/scratch.h"
#include "planned.h"

static char *directory;

/* "key=value; key=value", %s: the directory */
static enum ht_err plan_of(const char *options, struct planned *p) {
    const char *place = strstr(options, "%s");
    const int before = place != NULL ? (int)(place - options) : (int)strlen(options);
    return plan_make(p, ';', "%.*s%s%s", before, options, place ? directory : "",
                     place ? place + 2 : "");
}

/* order: of the plan. */
static void chooses(const char *options, const char *scheme, int order, const char *why) {
    HT_ENDED(planned_end) struct planned p;
    must(plan_of(options, &p));
    const struct ht_plan *plan = p.plan;
    const char *found = plan->problem.scheme->name;
    TEST_CHECK(strcmp(found, scheme) == 0 && plan->order == order &&
                   strcmp(plan->chosen_by, why) == 0,
               "%.90s: %s of order %d, \"%s\" (%s, %d, \"%s\")", options, found, plan->order,
               plan->chosen_by, scheme, order, why);
}

static void refuses(const char *options, const char *message) {
    HT_ENDED(planned_end) struct planned p;
    enum ht_err err = plan_of(options, &p);
    TEST_CHECK(err == HT_ERR_INPUT && p.plan == NULL && strstr(ht_err_message(), message) != NULL &&
                   strstr(ht_err_message(), "(command line)") != NULL,
               "%.60s: %s", options, err ? ht_err_message() : "accepted");
}

#define LINE "grid.cells=[32]; "
#define LAYERS                                                          \
    LINE "medium.type=layers; medium.axis=x1; medium.interfaces=[0.4];" \
         "medium.c=[1.0, 2.0]; "
#define UNIFORM "auto: the medium is uniform"
#define VARIES "auto: the medium varies"

static void write_samples(const char *name, float second) {
    float value[16];
    for (int i = 0; i < 16; i++) value[i] = i == 7 ? second : 1.5f;
    must(ht_file_write_in(directory, name, value, sizeof value));
}

#define FILE_OF(name)                                                    \
    LINE "medium.type=file; medium.shape=[16]; medium.spacing=[0.0625];" \
         "medium.c=%s/" name "; "

static void test_media(void) {
    chooses(LINE, "leapfrog", 3, UNIFORM);
    chooses(LINE "medium.c=2; medium.rho=3; grid.order=5", "leapfrog", 5, UNIFORM);
    chooses(LINE "system=advection", "taylor", 3, UNIFORM);
    chooses(LINE "system=wave", "leapfrog", 3, UNIFORM);
    chooses(LINE "system=wave; medium.type=expression; medium.c=\"2+sin(1)\"", "leapfrog", 3,
            UNIFORM);
    chooses(LAYERS, "fd", 8, VARIES);
    chooses(LAYERS "initial.pulses=({centre=[0.4]},{centre=[0.6]})", "fd", 8, VARIES);
    chooses(LINE "medium.type=layers; medium.axis=x1; medium.interfaces=[0.4];medium.c=[1.5, 1.5]; "
                 "medium.rho=[2.0, 2.0]",
            "leapfrog", 3, UNIFORM);
    chooses(LINE
            "medium.type=layers; medium.axis=x1; medium.interfaces=[0.4];medium.rho=[1.5, 1.0]",
            "fd", 8, VARIES);
    chooses(LINE "medium.type=expression; medium.c=\"1+0.1*sin(2*pi*x1)\"", "fd", 8, VARIES);
    chooses(LINE "system=wave; medium.type=expression;medium.c=\"1+step(x1-0.5)\"", "fd", 8,
            VARIES);
    chooses(FILE_OF("equal.f32"), "leapfrog", 3, UNIFORM);
    chooses(FILE_OF("one.f32"), "fd", 8, VARIES);
}

/* Keys that describe one kind of scheme choose it in any medium. */
static void test_keys(void) {
#define BY_HERMITE " is of Hermite methods"
    chooses(LAYERS "medium.degree=0", "taylor", 3, "auto: medium.degree" BY_HERMITE);
    chooses(LAYERS "medium.degree=0; grid.order=2", "taylor", 2, "auto: medium.degree" BY_HERMITE);
    chooses(LAYERS "time.stages=5; time.cfl=0.3", "taylor", 3, "auto: time.stages" BY_HERMITE);
    chooses(LAYERS "time.stages=2", "fd", 8, VARIES);
    chooses(LAYERS "device.variant=vector; grid.order=4", "taylor", 4,
            "auto: device.variant" BY_HERMITE);
    chooses(LINE "device.variant=fd-plain", "fd", 8, "auto: device.variant is of fd");
    chooses(LAYERS "medium.fit=box; grid.order=4", "fd", 4, "auto: medium.fit is of fd");
    chooses(LINE "medium.fit=point; grid.order=16", "fd", 16, "auto: medium.fit is of fd");
    chooses(LAYERS "grid.order=0", "fd", 8, VARIES);
}

/* Sources are of every scheme but plane waves from outside. */
static void test_sources(void) {
#define SOURCE "sources=({position=[0.5],frequency=2.0}); "
    chooses(LINE SOURCE, "leapfrog", 3, UNIFORM);
    chooses(LINE SOURCE "system=wave", "leapfrog", 3, UNIFORM);
    chooses(LAYERS SOURCE, "fd", 8, VARIES);
    chooses(LINE "sources=({type=\"plane\",axis=\"x1\",at=0.5,frequency=2.0})", "leapfrog", 3,
            UNIFORM);
    chooses(LINE SOURCE "receivers=({position=[0.5],every=0.01})", "leapfrog", 3, UNIFORM);
    chooses(LINE
            "sources=({type=\"plane wave\",from=[0.3],to=[0.6],direction=[1.0],frequency=2.0})",
            "fd", 8, "auto: a plane wave comes from outside");
}

/* What leapfrog has not. */
static void test_lacks(void) {
#define LACKS UNIFORM "; leapfrog has no such "
    chooses(LINE "system=wave; output.fields=[\"u\"]", "leapfrog", 3, UNIFORM);
    chooses(LINE "system=wave; output.fields=[\"u\", \"v\"]", "taylor", 3, LACKS "output.fields");
    chooses(LINE "system=wave; output.picture.field=v", "taylor", 3, LACKS "output.picture.field");
    chooses(LINE "system=wave; output.picture.field=v; output.pictures=false", "leapfrog", 3,
            UNIFORM);
    chooses(LINE "system=wave; parallel.halo_precision=single", "taylor", 3,
            LACKS "parallel.halo_precision");
    chooses(LINE "output.fields=[\"p\"]", "leapfrog", 3, UNIFORM);
    chooses(LINE "time.stages=4; time.cfl=0.3", "taylor", 3, "auto: time.stages" BY_HERMITE);
    chooses(LINE "time.cfl=1.0", "taylor", 3, LACKS "time.cfl");
    chooses(LINE "output.fields=[\"v1\"]", "taylor", 3, LACKS "output.fields");
    chooses(LINE "receivers=({position=[0.5],fields=[\"p\", \"p_x1\"]})", "leapfrog", 3, UNIFORM);
    chooses(LINE "receivers=({position=[0.5],fields=[\"p\", \"v1_x1\"]})", "taylor", 3,
            LACKS "receivers.fields");
    chooses(LINE "device.variant=monolithic", "leapfrog", 3, "auto: device.variant" BY_HERMITE);
    chooses(LINE "device.variant=monolithic; boundary.x1=absorbing", "taylor", 3,
            "auto: device.variant" BY_HERMITE);
}

/* Where fd errs by at most 1 % over the run, by the waves of which the signal consists, and a cell
 * of N = 3 has more than ten values. */
static void test_fine(void) {
#define POINT "sources=({position=[0.5,0.5],frequency=2.0}); time.end=3; "
#define FINE "grid.cells=[40,40]; " POINT
#define CHEAP "auto: fd errs by some 1 % or less in a small part of the time of "
    chooses("grid.cells=[26,26]; " POINT, "leapfrog", 3, UNIFORM);
    chooses(FINE, "fd", 8, CHEAP "leapfrog");
    chooses(FINE "system=wave", "fd", 8, CHEAP "leapfrog");
    chooses(FINE "time.end=1000", "leapfrog", 3, UNIFORM);
    chooses(FINE "medium.c=0.5", "leapfrog", 3, UNIFORM);
    chooses("grid.cells=[80]; " SOURCE, "leapfrog", 3, UNIFORM);
    chooses(FINE "grid.order=3", "leapfrog", 3, UNIFORM);
    chooses(FINE "time.cfl=0.8", "leapfrog", 3, UNIFORM);
    chooses(FINE "initial.type=gaussian; initial.width=0.2", "leapfrog", 3, UNIFORM);
    chooses(FINE "sources.1.tolerance=1e-3", "leapfrog", 3, UNIFORM);
    chooses(FINE "output.coefficients=true", "leapfrog", 3, UNIFORM);
    chooses(FINE "parallel.halo_precision=single", "taylor", 3, LACKS "parallel.halo_precision");
    /* Fields: receivers integrate v, pictures and other outputs need the staggered form, whose
     * dispersion in time stays in them. */
#define RECEIVE(names) FINE "receivers=({position=[0.3,0.2],fields=[" names "]}); "
    chooses(RECEIVE("\"p\",\"v1\""), "fd", 8, CHEAP "taylor");
    chooses(RECEIVE("\"v1_x1\""), "taylor", 3, LACKS "receivers.fields");
    chooses(RECEIVE("\"p\"") "output.picture.field=v1", "fd", 8,
            "auto: all fields, for output.picture.field");
    chooses(FINE "output.picture.field=v1", "taylor", 3, LACKS "output.picture.field");
    chooses(FINE "output.fields=[\"v1\"]", "taylor", 3, LACKS "output.fields");
    chooses("grid.cells=[160,160]; " POINT "output.fields=[\"v1\"]", "fd", 8,
            "auto: all fields, for output.fields");
    chooses(FINE "system=wave; output.fields=[\"v\"]", "taylor", 3, LACKS "output.fields");
    /* A step: fd's where it has it, or neither. */
    chooses(FINE "time.step=0.001", "fd", 8, CHEAP "leapfrog");
    chooses(FINE "time.step=0.0245", "leapfrog", 3, UNIFORM);
    refuses(FINE "time.step=1", "time.step = 1: unstable: with 2 stages at order 8 at most");
}

static void test_named(void) {
    chooses(LAYERS "time.scheme=taylor", "taylor", 3, "");
    chooses(LAYERS "time.scheme=taylor; grid.order=2", "taylor", 2, "");
    chooses(LAYERS "time.scheme=fd", "fd", 8, "");
    chooses(LINE "time.scheme=fd; grid.order=6", "fd", 6, "");
    chooses(LINE "system=wave; time.scheme=taylor", "taylor", 3, "");
    chooses(LINE "time.scheme=leapfrog", "leapfrog", 3, "");
}

static void test_refusals(void) {
    /* An order must not change its meaning with the medium. */
    refuses(LAYERS "grid.order=4",
            "grid.order = 4: the medium varies, where time.scheme = \"auto\" takes finite "
            "differences, whose order is not N: give time.scheme = \"fd\" with it (order in space: "
            "2, 4 .. 16) or \"taylor\" (N: 1 to 8), or leave it out (fd of order 8)");
    refuses(LAYERS "grid.order=3", "grid.order = 3: the medium varies");
    /* What a free side or sources of this system exclude is not named. */
    refuses(
        "system=elastic; grid.cells=[32,32]; boundary.x2=free; grid.order=12",
        "grid.order = 12: a side is free, where time.scheme = \"auto\" takes finite differences, "
        "whose order is not N: give time.scheme = \"fd\" with it (order in space beside free "
        "sides: 2, 4 .. 8), or leave it out (fd of order 8)");
    refuses("system=elastic; grid.cells=[32,32]; grid.order=12; "
            "sources=({position=[0.5,0.5],kind=\"explosion\",frequency=2.0})",
            "order in space: 2, 4 .. 16), or leave it out (fd of order 8)");
    refuses(LAYERS "medium.fit=box; grid.order=3",
            "grid.order = 3: is the order in space of finite differences");
    refuses(LAYERS "medium.degree=0; grid.order=12",
            "grid.order = 12: is N of Hermite methods (time.scheme = \"taylor\", auto: "
            "medium.degree is of Hermite methods): must be 1 to 8");
    refuses(LINE "system=wave; grid.order=12", "grid.order = 12: is N of Hermite methods");
    refuses(LAYERS "medium.degree=0; medium.fit=box",
            "medium.fit = \"box\": is for finite differences, but medium.degree is given too, "
            "which is for Hermite methods");
    refuses(
        LINE "device.variant=fd-plain; time.stages=7",
        "device.variant = \"fd-plain\": is for finite differences, but time.stages is given too");
    refuses(LINE "system=advection; medium.fit=box",
            "medium.fit = \"box\": is for finite differences, which advection has no form for");
    refuses(LAYERS "time.scheme=leapfrog",
            "time.scheme = \"leapfrog\": the medium varies, and leapfrog grows");
}

int main(void) {
    if ((directory = scratch_make("auto")) == NULL) return 1;
    write_samples("equal.f32", 1.5f);
    write_samples("one.f32", 1.6f);
    test_media();
    test_keys();
    test_sources();
    test_lacks();
    test_fine();
    test_named();
    test_refusals();
    scratch_remove(directory);
    return test_end("scheme_auto");
}
