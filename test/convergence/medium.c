/* Media that vary smoothly with constant impedance Z = 1,
 *     c = 1 + 0.3 cos(2 pi s),  K = Z c,  1/rho = c/Z,
 * s = x1 in one dimension: p = Z v = f moves by s_t = c and, periodic, is back exactly after T =
 * integral of ds/c = 1/sqrt(1 - 0.09). With s a sum of d coordinates, p = Z |v| moves at sqrt(d) c
 * and is back after T / sqrt(d): a medium whose polynomials have mixed powers.
 *
 * Full order, less 0.5, is asked of the default degree of the cell polynomials for N = 1..4. Where
 * a polynomial of degree g ends, an error of order 2 [g/2] + 2 remains; it is what is seen at small
 * g. CFL numbers are such that every rung takes a whole number of steps of the same relative size
 * (the cosine has its maximum, and so the step, on a node of every grid). */
#include "scene.h"

#define LINE_END "1.0482848367219182" /* 1/sqrt(0.91) */
#define PLANE_END "0.74124931716105"  /* that over sqrt(2) */
#define BOX_END "0.60522752823636"    /* over sqrt(3) */

/* p = v = cos(cycles 2 pi s), v along the sum of `dims` unit vectors. */
static void write_case(const char *s, int cycles, const char *fields, char text[SCENE_TEXT]) {
    int used = snprintf(
        text, SCENE_TEXT,
        "system=acoustic time.scheme=taylor medium.type=expression "
        "medium.c=\"1+0.3*cos(2*pi*(%s))\" medium.rho=\"1/(1+0.3*cos(2*pi*(%s)))\" "
        "initial.type=expression initial.returns=true initial.values.p=\"cos(%d*pi*(%s))\"",
        s, s, 2 * cycles, s);
    for (const char *f = fields; *f; f++)
        used += snprintf(text + used, SCENE_TEXT - (size_t)used,
                         " initial.values.v%c=\"cos(%d*pi*(%s))/sqrt(%d)\"", *f, 2 * cycles, s,
                         (int)strlen(fields));
}

/* Then degrees below the default one at N = 3; at N = 4 the default, 5, has a part of order 6 that
 * takes over below 1e-11, and 6 keeps the order. In three dimensions coarse, for the sake of time.
 */
static void constant(struct scene *scene) {
    static const struct {
        int dims, cycles, order, degree; /* -1: the default */
        struct scene_ladder ladder;
    } rows[] = {
        {1, 2, 1, -1, {{1}, {24, 32, 48, 64}, 2.5}}, {1, 2, 2, -1, {{1}, {16, 24, 32, 48}, 4.5}},
        {1, 2, 3, -1, {{1}, {24, 32, 48}, 6.5}},     {1, 2, 4, -1, {{1}, {20, 24, 32}, 8.5}},
        {1, 1, 3, 0, {{1}, {24, 32, 48}, 1.9}},      {1, 1, 3, 1, {{1}, {24, 32, 48}, 1.9}},
        {1, 1, 3, 2, {{1}, {24, 32, 48}, 3.9}},      {1, 1, 3, 3, {{1}, {24, 32, 48}, 3.9}},
        {1, 1, 4, 6, {{1}, {24, 32, 48}, 8.5}},      {2, 1, 1, -1, {{1, 1}, {16, 24, 32}, 2.5}},
        {2, 1, 2, -1, {{1, 1}, {12, 16, 24}, 4.5}},  {2, 1, 3, -1, {{1, 1}, {8, 12, 16}, 6.5}},
        {3, 1, 2, -1, {{1, 1, 1}, {12, 16}, 4.5}},
    };
    static const char *const sum[] = {"x1", "x1+x2", "x1+x2+x3"}, *const fields[] = {"1", "12",
                                                                                     "123"};
    static const char *const end[] = {LINE_END, PLANE_END, BOX_END};
    static const char *const cfl[] = {"0.90851352515899577", "0.770899289847", "0.7868"};
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
        const int dims = rows[n].dims, degree = rows[n].degree;
        char name[64], text[SCENE_TEXT];
        snprintf(name, sizeof name, "constant impedance %dD N=%d degree %d", dims, rows[n].order,
                 degree);
        write_case(sum[dims - 1], rows[n].cycles, fields[dims - 1], text);
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 " grid.order=%d medium.degree=%d time.end=%s time.cfl=%s", rows[n].order, degree,
                 end[dims - 1], cfl[dims - 1]);
        scene_ladder(scene, name, &rows[n].ladder, text);
    }
}

/* ---- impedance that varies ---- */

enum { COARSE = 24, FINE = 48 };

static void pressure(struct scene *scene, int cells, int order, int degree, double *p) {
    HT_ENDED(scene_close) struct scene_run run;
    scene_open(
        scene, &run,
        "system=acoustic time.scheme=taylor grid.cells=[%d] grid.order=%d medium.degree=%d "
        "medium.type=expression medium.c=\"1+0.3*cos(2*pi*x1)\" medium.rho=\"1+0.4*sin(2*pi*x1)\" "
        "initial.type=expression initial.values.p=\"exp(cos(2*pi*x1))\" time.end=1 time.cfl=0.5",
        cells, order, degree);
    scene_advance(&run, run.plan->steps);
    memcpy(p, run.nodal[0], (size_t)cells * sizeof *p);
}

/* What leaving out powers above the degree changes, against all that matter. */
static double left_out(struct scene *scene, int cells, int order, int degree) {
    double some[FINE], all[FINE], sum = 0;
    pressure(scene, cells, order, degree, some);
    pressure(scene, cells, order, 2 * order, all);
    for (int n = 0; n < cells; n++) sum += (some[n] - all[n]) * (some[n] - all[n]);
    return sqrt(sum / cells);
}

/* Where K and rho both vary, degree g leaves an error of order g + 1: no less, and no more, so that
 * an order of 2N + 1 may not be promised. */
static void general(struct scene *scene) {
    static const struct { int order, degree; } rows[] = {{2, 0}, {2, 1}, {2, 2}, {3, 2}};
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
        int order = rows[n].order, degree = rows[n].degree;
        double coarse = left_out(scene, COARSE, order, degree);
        double fine = left_out(scene, FINE, order, degree);
        TEST_BELOW(
            fabs(log2(coarse / fine) - (degree + 1)), 0.5,
            "K and rho vary, N=%d degree %d: errors %.2e, %.2e, order %.2f, expected %d; off by",
            order, degree, coarse, fine, log2(coarse / fine), degree + 1);
    }
}

static double error_of(struct scene *scene, const char *s, const char *fields, const char *text,
                       double *rounding) {
    char wave[SCENE_TEXT];
    HT_ENDED(scene_close) struct scene_run run;
    write_case(s, 1, fields, wave);
    scene_open(scene, &run, "%s %s", wave, text);
    *rounding = scene_rounding(run.plan);
    return scene_finish(&run);
}

/* No axis is special: renaming axes changes nothing but rounding. */
static void symmetry(struct scene *scene) {
    static const struct {
        const char *text;
        const char *s[3], *fields[3];
    } rows[] = {
        {"grid.order=2 grid.cells=[8,8] time.end=" LINE_END, {"x1", "x2"}, {"1", "2"}},
        {"grid.order=2 grid.cells=[4,4,4] time.end=" LINE_END, {"x1", "x2", "x3"}, {"1", "2", "3"}},
        {"grid.order=2 grid.cells=[4,4,4] time.end=" PLANE_END,
         {"x1+x2", "x2+x3", "x1+x3"},
         {"12", "23", "13"}},
    };
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
        double first = 0, rounding = 0;
        for (int k = 0; k < 3 && rows[n].s[k] != NULL; k++) {
            const double error =
                error_of(scene, rows[n].s[k], rows[n].fields[k], rows[n].text, &rounding);
            if (k == 0)
                first = error;
            else
                TEST_BELOW(fabs(error - first), rounding, "medium along %s as along %s: error %.9e",
                           rows[n].s[k], rows[n].s[0], error);
        }
    }
}

int main(void) {
    struct scene scene;
    if (scene_start_plain(&scene)) {
        constant(&scene);
        general(&scene);
        symmetry(&scene);
    }
    return test_end("medium");
}
