/* Sources of staggered finite differences against those of acoustics by Taylor series, whose traces
 * are tested against exact solutions: an explosion in a solid is a monopole of p = -s_ii for v and
 * moves with the speed of compressional waves, a magnetic dipole normal to the plane a monopole of
 * p = H3 with K = 1/mu, 1/rho = 1/eps, a force in a fluid is one. A moment tensor is compared with
 * that by Taylor series, which dipoles.c tests. */
#include "../io/recorded.h"
#include "errors.h"

static const struct {
    const char *name, *pair, *acoustic;
    const char *field[2], *as[2];
} cases[] = {
    {"explosion in a solid",
     "system=elastic medium.vp=2 medium.vs=1 medium.rho=1.3 boundary.x1=roller "
     "sources=({kind=\"explosion\";%s})",
     "system=acoustic medium.c=2 medium.rho=1.3 boundary.x1=rigid "
     "sources=({amplitude=0.192307692307692;%s})",
     {"v1", "v2"},
     {"v1", "v2"}},
    {"force in a fluid",
     "system=elastic medium.vp=2 medium.vs=0 medium.rho=1.3 boundary.x2=antisymmetric "
     "sources=({kind=\"force\";direction=[1.0,0.5];%s})",
     "system=acoustic medium.c=2 medium.rho=1.3 boundary.x2=free "
     "sources=({kind=\"force\";direction=[1.0,0.5];%s})",
     {"v1", "v2"},
     {"v1", "v2"}},
    {"magnetic dipole",
     "system=maxwell medium.eps=0.8 medium.mu=0.3125 boundary.x2=electric "
     "sources=({kind=\"magnetic\";direction=[0.0,0.0,-1.0];%s})",
     "system=acoustic medium.K=3.2 medium.rho=0.8 boundary.x2=rigid sources=({%s})",
     {"H3", NULL},
     {"p", NULL}},
    {"moment tensor",
     "system=elastic medium.vp=2 medium.vs=1.5 medium.rho=1.3 boundary.x1=roller "
     "sources=({kind=\"moment\";moment=[0.3,-0.2,0.0,0.5,0.0,0.0];%s})",
     "system=elastic medium.vp=2 medium.vs=1.5 medium.rho=1.3 boundary.x1=roller "
     "sources=({kind=\"moment\";moment=[0.3,-0.2,0.0,0.5,0.0,0.0];%s})",
     {"v1", "v2"},
     {"v1", "v2"}},
};
enum { CASES = sizeof cases / sizeof *cases };

/* 26 points per wavelength at the peak, 10 at 2.5 times it, beyond which a Ricker has little: order
 * 16 errs by 1e-7 in space there. Near walls, so that the images count, too. The dispersion of the
 * steps is removed. */
static void run(struct trial *t, const char *system, const char *scheme) {
    static const char source[] = "position=[0.507,0.433];frequency=6.0;";
    char text[TEXT];
    snprintf(text, sizeof text, system, source);
    record(
        t, "device", NONE,
        "%s %s grid.cells=[96,80] grid.upper=[1.2,1.0] time.end=0.5 device.precision=double "
        "receivers=({name=\"a\";type=\"line\";from=[0.8,0.05];to=[0.83,0.97];count=5;every=0.02;})",
        text, scheme);
}

static void judge(int i) {
    struct trial pair, acoustic;
    run(&pair, cases[i].pair, "time.scheme=fd grid.order=16");
    run(&acoustic, cases[i].acoustic, "time.scheme=taylor grid.order=4");
    for (int f = 0; f < 2 && cases[i].field[f] != NULL; f++) {
        int64_t extent[8];
        HT_FREED double *got = read_set(&pair, HT_KEY("a/%s", cases[i].field[f]), extent);
        HT_FREED double *exact = read_set(&acoustic, HT_KEY("a/%s", cases[i].as[f]), NULL);
        TEST_BELOW(errors_most(errors_of(extent[0] * extent[1], got, exact)), 5e-7, "%s, %s",
                   cases[i].name, cases[i].field[f]);
    }
    finish(&pair);
    finish(&acoustic);
}

/* ---- a solid between fluids ---- */

/* Rows of shear stress are `off` spacings beside the faces. */
static void run_between(struct trial *t, int n, double off) {
    const double lower = 0.25 - (0.25 * n + 0.5 + off) / n;
    record(
        t, "device", NONE,
        "system=elastic time.scheme=fd grid.order=8 grid.cells=[%d,%d] grid.lower=[0,%.17g] "
        "grid.upper=[1,%.17g] time.end=1.0 device.precision=double "
        "medium={type=\"layers\";axis=\"x2\";interfaces=[0.25,0.75];vp=[1.5,2.0,1.5];vs=[0.0,1.1,0."
        "0];rho=[1.0,1.3,1.0];} sources=({kind=\"explosion\";position=[0.5,0.6];frequency=3.0;}) "
        "receivers=({name=\"a\";type=\"line\";from=[0.1,0.82];to=[0.9,0.82];count=5;every=0.01;})",
        n, n, lower, lower + 1);
}

/* Of v2 in the fluid, relative in L2. */
static double between_error(int n, double off, struct trial *reference) {
    HT_ENDED(finish) struct trial t;
    int64_t extent[8];
    run_between(&t, n, off);
    HT_FREED double *got = read_set(&t, "a/v2", extent), *exact = read_set(reference, "a/v2", NULL);
    return errors_l2(errors_of(extent[0] * extent[1], got, exact));
}

/* Errors are of first order, and less where the tangential velocities of both sides are on rows of
 * their own. */
static void judge_between(void) {
    struct trial reference;
    run_between(&reference, 96, 0);
    const double on = between_error(24, 0, &reference), off = between_error(24, 0.25, &reference);
    finish(&reference);
    TEST_BELOW(on, 0.06, "a face of a fluid on a row of shear stress: error");
    TEST_BELOW(3 * on, off, "it is less than a third of that a quarter of a spacing beside it");
}

int main(void) {
    for (int i = 0; i < CASES; i++) judge(i);
    judge_between();
    return test_end("staggered_shots");
}
