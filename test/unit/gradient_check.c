/* Plans that have no gradient are refused with key and way out; what stands just far enough from
 * layers is not. */
#include "htwave/gradient.h"

#include "planned.h"

#define BOX                                                                           \
    "grid.cells=[60,50]; grid.upper=[60.0,50.0]; initial.type=zero; time.scheme=fd; " \
    "time.end=10.0; boundary.x1=\"absorbing\"; boundary.x2=[\"free\",\"absorbing\"]; "
#define STEP "time.step=0.3; "
#define SOURCE "sources=({position=[30.0,2.5],frequency=0.1}); "
#define RECEIVER "receivers=({position=[31.0,2.5]}); "

static enum ht_err check(const char *options) {
    HT_ENDED(planned_end) struct planned p;
    must(plan_make(&p, ';', "%s", options));
    return ht_gradient_check(p.plan);
}

static void refuse(const char *options, const char *text) {
    TEST_ERROR(check(options), HT_ERR_INPUT, text, "refused");
}

static void accept(const char *what, const char *options) {
    const enum ht_err err = check(options);
    TEST_CHECK(err == HT_OK, "%s: %s", what, err == HT_OK ? "accepted" : ht_err_message());
}

int main(void) {
    accept("beside a free side", BOX STEP SOURCE RECEIVER);
    accept("on nodes, 4 spacings away", BOX STEP "sources=({position=[4.0,46.0],frequency=0.1}); "
                                                 "receivers=({position=[56.0,3.0]}); ");
    refuse(BOX SOURCE RECEIVER, "time.step = 0.0: must be given for a gradient");
    refuse(BOX STEP RECEIVER, "sources");
    refuse(BOX STEP SOURCE, "receivers");
    refuse(BOX STEP SOURCE RECEIVER "initial.type=gaussian; initial.width=3.0",
           "initial.type = \"gaussian\"");
    refuse(BOX STEP SOURCE RECEIVER "system=wave", "system = \"wave\"");
    refuse(BOX "time.step=0.2; receivers=({position=[31.0,20.5]}); system=elastic; "
               "sources=({position=[30.0,20.5],frequency=0.02,kind=\"explosion\"}); "
               "gradient.field=reverse; ",
           "gradient.field = \"reverse\"");
    refuse(BOX "time.scheme=leapfrog; grid.order=3; boundary.x1=\"rigid\"; boundary.x2=\"rigid\"; "
               "time.step=0.3; " SOURCE RECEIVER,
           "time.scheme = \"leapfrog\"");
    refuse(BOX STEP RECEIVER "sources=({position=[3.9,20.0],frequency=0.1}); ",
           "a source at (3.9, 20)");
    refuse(BOX STEP SOURCE "receivers=({position=[31.0,46.1]}); ", "a receiver at (31, 46.1)");
    refuse(BOX STEP SOURCE "grid.order=16; receivers=({position=[55.5,20.0]}); ",
           "a receiver at (55.5, 20)");
    refuse(BOX STEP RECEIVER "sources=({type=\"plane\",axis=\"x2\",at=3.0,frequency=0.1}); ",
           "a source's node at (-7, 3)");
    refuse(BOX STEP RECEIVER
           "boundary.x1=\"rigid\"; boundary.x2=\"rigid\"; sources=({type=\"plane wave\","
           "from=[10.0,10.0],to=[50.0,40.0],direction=[1.0,0.0],frequency=0.05}); ",
           "waves from outside have no gradient");
    return test_end("unit/gradient_check");
}
