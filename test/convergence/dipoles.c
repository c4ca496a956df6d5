/* Point sources of elastic waves and of Maxwell's equations by Hermite methods against the
 * solutions of Stokes (a force in a solid; Aki and Richards, Quantitative Seismology, chapter 4, as
 * for moment tensors) and Hertz (a dipole; Jackson, Classical Electrodynamics, section 9.2), in
 * double precision. Those of two dimensions are integrals of these along x3. Lengths are in cells.
 */
#include <math.h>

#include "../io/recorded.h"
#include "errors.h"

/* ---- exact solutions ---- */

#define MOMENT        \
    {                 \
        {0.3, 0.5}, { \
            0.5, -0.2 \
        }             \
    }

struct exact {
    const struct ht_shot *shot;
    double fast, slow, density;
    double along[3]; /* the direction */
    int order;       /* the force changes by this derivative of the signal */
};

/* Velocity of a solid in which a force acts at a distance d. */
static void stokes(const struct exact *e, const double d[3], double time, double out[3]) {
    enum { POINTS = 40 };
    const double r = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    const double first = r / e->fast, last = r / e->slow;
    const double g = (d[0] * e->along[0] + d[1] * e->along[1] + d[2] * e->along[2]) / r;
    const double p = ht_shot_at(e->shot, time - first, e->order) / (e->fast * e->fast * r);
    const double s = ht_shot_at(e->shot, time - last, e->order) / (e->slow * e->slow * r);
    static double x[POINTS], weight[POINTS]; /* made once: they take longer than all else */
    double near = 0;
    if (weight[0] == 0) ht_gauss_points(POINTS, x, weight);
    for (int i = 0; i < POINTS; i++) {
        const double tau = first + (x[i] + 0.5) * (last - first);
        near += weight[i] * (last - first) * tau * ht_shot_at(e->shot, time - tau, e->order);
    }
    for (int k = 0; k < 3; k++) {
        const double normal = g * d[k] / r;
        out[k] = ((3 * normal - e->along[k]) * near / (r * r * r) + normal * p +
                  (e->along[k] - normal) * s) /
                 (4 * HT_PI * e->density);
    }
}

/* Velocity about an explosion, the signal being the rate of its moment. */
static void explode(const struct exact *e, const double d[3], double time, double out[3]) {
    const double r = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), t = time - r / e->fast;
    const double size =
        ht_shot_at(e->shot, t, 0) / (r * r) + ht_shot_at(e->shot, t, 1) / e->fast / r;
    for (int k = 0; k < 3; k++)
        out[k] = size * d[k] / r / (4 * HT_PI * e->density * e->fast * e->fast);
}

/* Velocity about a moment tensor (the equation 4.29 of Aki and Richards): minus the derivatives of
 * that of forces along its rows, whose rate is the signal, by differences of order 4. */
static void burst(const struct exact *e, const double d[3], double time, double out[3]) {
    static const double moment[2][2] = MOMENT;
    const double apart = 0.02, weight[2] = {8 / (12 * apart), -1 / (12 * apart)};
    struct exact force = *e;
    memset(out, 0, 3 * sizeof *out);
    for (int k = 0; k < 2; k++)
        for (int side = -2; side <= 2; side++) {
            double x[3] = {d[0], d[1], d[2]}, part[3];
            if (side == 0) continue;
            x[k] += side * apart;
            memcpy(force.along, (double[]){moment[0][k], moment[1][k], 0}, sizeof force.along);
            stokes(&force, x, time, part);
            for (int i = 0; i < 3; i++)
                out[i] -= (side > 0 ? 1 : -1) * weight[abs(side) - 1] * part[i];
        }
}

/* Electric field of a dipole's current, or the magnetic one of a magnetic one; density: eps, mu. */
static void hertz(const struct exact *e, const double d[3], double time, double out[3]) {
    const double r = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), t = time - r / e->fast;
    const double g = (d[0] * e->along[0] + d[1] * e->along[1] + d[2] * e->along[2]) / r;
    const double near =
        ht_shot_at(e->shot, t, -1) / (r * r * r) + ht_shot_at(e->shot, t, 0) / (e->fast * r * r);
    const double far = ht_shot_at(e->shot, t, 1) / (e->fast * e->fast * r);
    for (int k = 0; k < 3; k++) {
        const double normal = g * d[k] / r;
        out[k] = ((3 * normal - e->along[k]) * near + (normal - e->along[k]) * far) /
                 (4 * HT_PI * e->density);
    }
}

typedef void solution(const struct exact *e, const double d[3], double time, double out[3]);

/* Of sources all along x3. */
static void along_x3(solution *of, const struct exact *e, const double d[3], double time,
                     double out[3]) {
    const double apart = 0.3, end = e->fast * time;
    memset(out, 0, 3 * sizeof *out);
    for (int i = 0; i * apart <= end; i++) {
        double part[3];
        of(e, (const double[3]){d[0], d[1], i * apart}, time, part);
        for (int k = 0; k < 2; k++) out[k] += (i == 0 ? 1 : 2) * apart * part[k];
    }
}

/* ---- traces ---- */

struct test {
    const char *system, *medium, *kind, *field[2], *scheme;
    solution *of;
    double fast, slow, density;
    int dims, order, cells; /* of the box */
    double frequency, end, bound;
};

static void run(const struct test *of, double finer, struct trial *t) {
    const bool solid = of->dims > 2;
    const int n = 2 * (int)(finer * of->cells / 2);
    const double x = 0.5 * n + 0.3, y = 0.5 * n - 0.2;
    char size[40], above[8];
    snprintf(size, sizeof size, solid ? "%d,%d,%d" : "%d,%d", n, n, n);
    snprintf(above, sizeof above, "%s", solid ? ",7.1" : "");
    record(t, "device", NONE,
           "system=%s %s grid={cells=[%s];upper=[%s];order=%d;} time={scheme=\"%s\";end=%.17g;} "
           "device.precision=double "
           "sources=({position=[%g,%g%s];frequency=%.17g;kind=\"%s\";tolerance=1e-6;%samplitude=1."
           "5;}) receivers=({name=\"r\";position=[%g,%g%s];fields=[\"%s\",\"%s\"];})",
           of->system, of->medium, size, size, of->order, of->scheme, finer * of->end, x, y, above,
           of->frequency / finer, of->kind,
           of->of == explode ? ""
           : of->of == burst ? "moment=[0.3,-0.2,0.0,0.5,0.0,0.0];"
                             : "direction=[0.6,0.8];",
           x + finer * 7.7, y + finer * 3.1, above, of->field[0], of->field[1]);
}

/* Relative error of two components of a trace in L2; finer: as many cells per wavelength. */
static double trace_error(const struct test *of, double finer) {
    HT_ENDED(finish) struct trial t;
    double *got[2];
    struct errors errors = {0};
    int64_t extent[8];
    run(of, finer, &t);
    const struct exact e = {.shot = &t.sim->plan->shots->shot[0],
                            .fast = of->fast,
                            .slow = of->slow,
                            .density = of->density,
                            .along = {0.6, 0.8},
                            .order = of->of == burst ? 0 : 1};
    const double d[3] = {finer * 7.7, finer * 3.1};
    for (int k = 0; k < 2; k++) {
        char name[8];
        snprintf(name, sizeof name, "r/%s", of->field[k]);
        got[k] = read_set(&t, name, extent);
    }
    for (int64_t i = 1; i < extent[1]; i++) {
        const double time = (double)i * t.sim->plan->problem.dt;
        double exact[3];
        if (of->dims > 2)
            of->of(&e, d, time, exact);
        else
            along_x3(of->of, &e, d, time, exact);
        for (int k = 0; k < 2; k++) errors_add(&errors, got[k][i], exact[k]);
    }
    for (int k = 0; k < 2; k++) free(got[k]);
    return errors_l2(errors);
}

#define SOLID "elastic", "medium={vp=1.0;vs=0.6;rho=1.3;}"
#define LIGHT "maxwell", "medium={eps=1.25;mu=0.8;}"
#define LIGHT_TM "maxwell_tm", "medium={eps=1.25;mu=0.8;}"

int main(void) {
    static const struct test tests[] = {
        {SOLID, "moment", {"v1", "v2"}, "taylor", burst, 1, 0.6, 1.3, 2, 3, 40, 0.13, 31, 1.5e-3},
        {LIGHT, "dipole", {"E1", "E2"}, "leapfrog", hertz, 1, 1, 1.25, 2, 4, 40, 0.16, 27, 2e-4},
        /* the others by check-all */
        {SOLID, "force", {"v1", "v2"}, "taylor", stokes, 1, 0.6, 1.3, 2, 3, 40, 0.13, 31, 1.5e-3},
        {SOLID,
         "explosion",
         {"v1", "v2"},
         "taylor",
         explode,
         1,
         0.6,
         1.3,
         2,
         3,
         40,
         0.2,
         31,
         1.3e-2},
        {SOLID, "force", {"v1", "v2"}, "leapfrog", stokes, 1, 0.6, 1.3, 2, 5, 40, 0.13, 31, 4e-4},
        {LIGHT_TM, "magnetic", {"H1", "H2"}, "taylor", hertz, 1, 1, 0.8, 2, 3, 40, 0.16, 27, 3e-4},
        {SOLID, "force", {"v1", "v2"}, "taylor", stokes, 1, 0.6, 1.3, 3, 2, 20, 0.16, 14, 1.4e-2},
    };
    for (size_t i = 0; i < (test_all() ? sizeof tests / sizeof *tests : 2); i++) {
        const struct test *t = &tests[i];
        const double coarse = trace_error(t, 1), fine = trace_error(t, 1.25);
        TEST_BELOW(coarse, t->bound, "%s %s, %d-D, %s, N = %d", t->system, t->kind, t->dims,
                   t->scheme, t->order);
        TEST_BELOW(2 * t->order * log(1.25), log(coarse / fine), "errors fall by the order 2 N");
    }
    return test_end("dipoles");
}
