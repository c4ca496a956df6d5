/* Gradients of pairs by finite differences (docs/developers/gradients.md), for random derivatives r
 * of chi by what receivers read at each step: <r, p> = <a, da> for the amplitudes of sources,
 * derivatives by C against differences of <r, p>, the same bits from states that were kept and run
 * again. */
#include "gradients.h"

#define PLANE \
    "system=elastic grid={cells=[44,40];upper=[44.0,40.0];} time.end=30 medium.couplings=false "
#define IN_PLANE                                                                                  \
    "sources=({position=[20.4,16.3];frequency=0.07;kind=\"explosion\";},{position=[23.0,21.2];"   \
    "frequency=0.06;amplitude=-2.0;kind=\"force\";direction=[0.6,0.8];},{position=[24.3,23.2];"   \
    "frequency=0.055;kind=\"moment\";moment=[1.0,0.5,0.0,0.7,0.0,0.0];}) "                        \
    "receivers=({type=\"line\";count=2;from=[19.2,15.6];to=[25.0,24.4];fields=[\"v1\",\"v2\"];}," \
    "{position=[22.0,18.4];fields=[\"s11\",\"s22\",\"s12\"];}) "
/* Solid of two kinds, and fluid where a condition is 0. */
#define SOLID_WHERE(condition)                                                             \
    "medium={type=\"expression\";vp=\"1.5-0.4*step(sin(0.5*x1)+cos(0.4*x2))\";"            \
    "vs=\"(0.7-0.2*step(sin(0.5*x1)+cos(0.4*x2)))*step(" condition ")\";rho=\"1+0.5*step(" \
    "cos(0.6*x1+0.3*x2))\";} "
#define SOLID SOLID_WHERE("x2-12.3")
#define LAYERS2 "boundary={x1=\"absorbing\";x2=\"absorbing\";} absorbing={cells=8;mix=0.1;} "

/* Coefficients of a medium at all nodes, and random changes of them, which leave layers and fluids
 * what they are: all coefficients that meet in a fluid's node change by the same part. */
struct other {
    const struct ht_pair_stepper *of;
    double part;
    int64_t plane;
    double *value[HT_MAX_TERMS], *change[HT_MAX_TERMS]; /* [node] */
    struct ht_pair_faces faces;                         /* with values of their own */
};

/* The change of a coupling. */
static double coupling_change(int group, int64_t i) {
    return ht_rng_uniform(50 + (unsigned)group, (uint64_t)i);
}

/* Couplings with random changes. */
static void change_faces(struct other *o) {
    const struct ht_pair_faces *from = o->of->fd.problem.fd.faces;
    o->faces = *from;
    for (int group = 0; group < 2; group++) {
        struct ht_pair_listed *to = &o->faces.listed[group];
        to->value = room(to->count * to->couplings + 1);
        for (int64_t i = 0; i < to->count * to->couplings; i++)
            to->value[i] = from->listed[group].value[i] * (1 + o->part * coupling_change(group, i));
    }
}

/* The sums by couplings times these changes; squares of both are added. */
static double coupling_sum(const struct shot *s, const struct other *o, double *g2, double *m2) {
    const struct ht_pair_faces *faces = o->of->fd.problem.fd.faces;
    double sum = 0;
    for (int group = 0; group < 2; group++) {
        const struct ht_pair_listed *of = &faces->listed[group];
        for (int c = 0; ht_pair_faces_use(faces, group) && c < of->couplings; c++) {
            HT_FREED double *g = sums_of(s, HT_GRADIENT_COEFFICIENT + of->coupling + c);
            for (int64_t plane = 0; plane < ht_grid_planes(faces->grid, HT_PRIMARY); plane++)
                for (int64_t i = of->first[plane]; i < of->first[plane + 1]; i++) {
                    const double change = of->value[i * of->couplings + c] *
                                          coupling_change(group, i * of->couplings + c);
                    const double by = g[plane * o->plane + of->node[i]];
                    sum += by * change;
                    *g2 += by * by;
                    *m2 += change * change;
                }
        }
    }
    return sum;
}

static enum ht_err fill_other(const void *context, int what, int64_t first, int64_t last,
                              double *out) {
    const struct other *o = context;
    for (int64_t n = first * o->plane; n < last * o->plane; n++)
        *out++ = o->value[what][n] + o->part * o->change[what][n];
    return HT_OK;
}

static void open_other(const struct shot *s, struct other *o) {
    const struct ht_pair_stepper *of = (const struct ht_pair_stepper *)fd_of(s);
    const struct ht_problem *problem = &of->fd.problem;
    const int64_t planes = ht_grid_planes(problem->grid, HT_PRIMARY);
    int across = -1, own = -1;
    *o = (struct other){.of = of, .plane = ht_grid_plane(problem->grid, HT_PRIMARY)};
    for (int c = 0; c < of->pair.nown; c++) {
        const struct ht_pair_coefficient *at = &of->pair.coefficient[c];
        o->value[c] = room(s->run.nodes);
        o->change[c] = room(s->run.nodes);
        must(problem->fd.fill(problem->fd.medium, c, 0, planes, o->value[c]));
        must(fill_change(&of->fd, 1, 0, planes, o->change[c]));
        if (at->parity == 0 && at->row == at->col) own = c;
        if (at->row != at->col) across = c;
    }
    for (int c = 0; c < of->pair.nown; c++)
        for (int64_t n = 0; n < s->run.nodes; n++) {
            const bool node = of->pair.coefficient[c].parity == 0 && across >= 0;
            const bool fluid = node && fabs(o->value[own][n] - o->value[across][n]) <= 1e-12;
            if (o->change[c][n] != 0)
                o->change[c][n] =
                    o->value[c][n] * ht_rng_uniform(fluid ? 30 : 31 + (unsigned)c, (uint64_t)n);
        }
}

/* <r, p> */
static double other_product(const struct shot *s, struct other *o, double part) {
    struct ht_problem problem = o->of->fd.problem;
    o->part = part;
    problem.fd.fill = fill_other;
    problem.fd.medium = o;
    problem.fd.constant = 0;
    if (problem.fd.faces == NULL) return run_chi(s, &problem);
    change_faces(o);
    problem.fd.faces = &o->faces;
    const double chi = run_chi(s, &problem);
    for (int group = 0; group < 2; group++) free(o->faces.listed[group].value);
    return chi;
}

/* By differences of fourth order against the derivatives by C, over |g| |change|. */
static void judge_pair_medium(const struct shot *s, const char *name, const char *options,
                              double bound) {
    struct shot plain = {.gradient = NULL};
    struct other o;
    double sum = 0, g2 = 0, m2 = 0;
    const double part = 3e-4;
    const bool alone = fd_of(s)->engine.device != NULL;
    if (alone)
        take(&plain, &(struct ht_gradient_choice){.field = HT_GRADIENT_STORE}, DOUBLE PLAIN,
             options);
    open_other(alone ? &plain : s, &o);
    for (int c = 0; c < o.of->pair.nown; c++) {
        HT_FREED double *g = sums_of(s, HT_GRADIENT_COEFFICIENT + c);
        sum += dot(s->run.nodes, g, o.change[c]);
        m2 += dot(s->run.nodes, o.change[c], o.change[c]);
        for (int64_t n = 0; n < s->run.nodes; n++) g2 += o.change[c][n] != 0 ? g[n] * g[n] : 0;
    }
    if (o.of->fd.problem.fd.faces != NULL) sum += coupling_sum(s, &o, &g2, &m2);
    const struct shot *of = alone ? &plain : s;
    const double by = (8 * (other_product(of, &o, part) - other_product(of, &o, -part)) -
                       (other_product(of, &o, 2 * part) - other_product(of, &o, -2 * part))) /
                      (12 * part);
    TEST_BELOW(fabs(sum - by) / sqrt(g2 * m2), bound, "%s: by the medium, change %.6g of %.2g",
               name, by, sqrt(g2 * m2));
    for (int c = 0; c < o.of->pair.nown; c++) {
        free(o.value[c]);
        free(o.change[c]);
    }
    if (alone) finish(&plain);
}

/* |<r, p> - <a, da>| / |r| |p| */
static double pair_product(const struct shot *s) {
    struct ht_pair_stepper *p = (struct ht_pair_stepper *)fd_of(s);
    const struct ht_shots *shots = p->fd.problem.shots;
    const int64_t values = (s->steps + 1) * s->traces;
    double sum = 0;
    for (p->fd.at = 0; p->fd.at < s->steps; p->fd.at++) {
        ht_fd_injections_step(&p->fd, p->fd.injection);
        for (int i = 0; i < shots->count; i++) {
            const struct ht_fd_injection *in = p->fd.injection[shots->shot[i].drive[0].field];
            sum += s->gradient->amplitude[HT_FD_BY_UPDATE][p->fd.at * shots->count + i] *
                   in->table[(p->fd.at - in->first) * in->columns + in->column[i]];
        }
    }
    return fabs(dot(values, s->r, s->p) - sum / s->run.sim->plan->scale) /
           (norm(values, s->r) * norm(values, s->p));
}

static void judge_pair(const struct kind *kind) {
    struct shot s = {.gradient = NULL};
    take(&s, &(struct ht_gradient_choice){.field = HT_GRADIENT_STORE}, kind->engine, kind->options);
    TEST_BELOW(pair_product(&s), kind->bound, "%s: <r, p>, %d steps", kind->name, (int)s.steps);
    judge_pair_medium(&s, kind->name, kind->options, kind->bound < 1e-9 ? 1e-11 : kind->bound);
    finish(&s);
}

#define FREE2 "boundary={x1=\"absorbing\";x2=[\"free\",\"absorbing\"];} absorbing.cells=8 "
#define ON_FREE                                                                                 \
    "sources=({position=[20.4,8.6];frequency=0.06;kind=\"explosion\";},{position=[23.0,0.0];"   \
    "frequency=0.06;amplitude=-2.0;kind=\"force\";direction=[0.6,0.8];},{position=[24.3,9.2];"  \
    "frequency=0.055;kind=\"moment\";moment=[1.0,0.5,0.0,0.7,0.0,0.0];}) "                      \
    "receivers=({type=\"line\";count=2;from=[19.2,0.0];to=[25.0,2.4];fields=[\"v1\",\"v2\"];}," \
    "{position=[22.0,0.4];fields=[\"s11\",\"s22\",\"s12\"];}) "
#define SOLID3                                                                                   \
    "system=elastic grid={cells=[24,14,23];upper=[24.0,14.0,23.0];order=4;} time.end=14 "        \
    "medium={type=\"expression\";couplings=false;vp=\"1.5-0.4*step(sin(0.5*x1)+cos(0.4*x2))\";"  \
    "vs=\"(0.7-0.2*step(sin(0.5*x1)+cos(0.4*x3)))*step(x3-3.3)\";rho=\"1+0.5*step("              \
    "cos(0.6*x1+0.3*x2))\";} "                                                                   \
    "sources=({position=[11.4,6.3,9.8];frequency=0.05;kind=\"explosion\";},{position=[13.0,7.2," \
    "11.0];frequency=0.06;kind=\"force\";direction=[0.6,0.8,-0.4];},{position=[12.3,6.2,11.4];"  \
    "frequency=0.055;kind=\"moment\";moment=[1.0,0.5,0.3,0.7,-0.4,0.2];}) "                      \
    "receivers=({position=[12.3,7.2,10.4];fields=[\"v1\",\"v2\",\"v3\",\"s11\",\"s33\","         \
    "\"s12\",\"s23\"];}) "                                                                       \
    "boundary={x1=\"absorbing\";x2=\"periodic\";x3=[\"free\",\"absorbing\"];} "                  \
    "absorbing={cells=6;mix=0.3;} "
#define LIGHT                                                                                  \
    "system=maxwell grid={cells=[40,38];upper=[40.0,38.0];} time.end=24 "                      \
    "medium={type=\"expression\";couplings=false;eps=\"1+2*step(sin(0.5*x1)+cos(0.4*x2))\";"   \
    "mu=\"1+0.5*step(cos(0.6*x1+0.3*x2))\";} "                                                 \
    "sources=({position=[19.4,16.3];frequency=0.07;kind=\"dipole\";direction=[0.3,0.5,0.0];}," \
    "{position=[21.0,19.2];frequency=0.06;amplitude=-2.0;kind=\"magnetic\";direction=[0.0,"    \
    "0.0,1.0];}) receivers=({position=[20.0,18.4];fields=[\"E1\",\"E2\",\"H3\"];}) "

/* With the electric field across the plane. */
#define ACROSS                                                                                  \
    "system=maxwell_tm grid={cells=[40,38];upper=[40.0,38.0];} time.end=24 "                    \
    "medium={type=\"expression\";couplings=false;eps=\"1+2*step(sin(0.5*x1)+cos(0.4*x2))\";"    \
    "mu=\"1+0.5*step(cos(0.6*x1+0.3*x2))\";} "                                                  \
    "sources=({position=[19.4,16.3];frequency=0.07;kind=\"dipole\";direction=[0.0,0.0,1.0];},"  \
    "{position=[21.0,19.2];frequency=0.06;amplitude=-2.0;kind=\"magnetic\";direction=[0.6,0.8," \
    "0.0];}) receivers=({position=[20.0,18.4];fields=[\"E3\",\"H1\",\"H2\"];}) "
#define LIGHT3                                                                                    \
    "system=maxwell grid={cells=[16,14,26];upper=[16.0,14.0,26.0];order=4;} time.end=9 "          \
    "medium={type=\"expression\";couplings=false;eps=\"1+2*step(sin(0.5*x1)+cos(0.4*x2))\";} "    \
    "sources=({position=[9.4,8.3,12.2];frequency=0.07;kind=\"dipole\";direction=[0.3,0.5,0.8];}," \
    "{position=[8.0,9.2,13.8];frequency=0.06;kind=\"magnetic\";direction=[0.6,0.8,0.3];}) "       \
    "receivers=({position=[9.0,8.4,13.1];fields=[\"E1\",\"E2\",\"E3\",\"H1\",\"H2\",\"H3\"];}) "  \
    "boundary={x1=\"magnetic\";x2=\"periodic\";x3=\"absorbing\";} absorbing.cells=6 "

/* With couplings at oblique faces: a dipping layer over another solid, or fluid beside it. */
#define DIPPING(face, fluid)                                                             \
    "medium={type=\"expression\";vp=\"1.5-0.4*step(" face ")\";vs=\"(0.7-0.2*step(" face \
    "))*step(" fluid ")\";rho=\"1+0.5*step(" face ")\";} "
#define OBLIQUE PLANE "medium.couplings=true " DIPPING("x2+0.37*x1-27.3", "x1-0.3*x2-5.1")
#define WALLS2 "boundary={x1=\"roller\";x2=\"antisymmetric\";} "
/* Where the face meets walls. */
#define AT_WALLS                                                                              \
    "sources=({position=[1.4,26.3];frequency=0.07;kind=\"explosion\";},{position=[0.0,28.2];" \
    "frequency=0.06;kind=\"force\";direction=[0.6,0.8];},{position=[43.3,11.2];"              \
    "frequency=0.055;kind=\"moment\";moment=[1.0,0.5,0.0,0.7,0.0,0.0];}) "                    \
    "receivers=({position=[0.6,27.4];fields=[\"v1\",\"v2\",\"s11\",\"s22\",\"s12\"];},"       \
    "{position=[44.0,10.7];fields=[\"s11\",\"s22\",\"s12\"];}) "
#define OBLIQUE3                                                                                   \
    "system=elastic grid={cells=[24,12,18];upper=[24.0,12.0,18.0];order=4;} time.end=9 " DIPPING(  \
        "x3+0.3*x1-0.2*x2-11.1",                                                                   \
        "1") "sources=({position=[11.4,6.3,9.8];frequency=0.07;kind=\"explosion\";},{position=["   \
             "12.2,1.2,"                                                                           \
             "8.9];frequency=0.06;kind=\"moment\";moment=[1.0,0.5,0.3,0.7,-0.4,0.2];}) "           \
             "receivers=({position=[12.3,7.2,10.4];fields=[\"v1\",\"v3\",\"s11\",\"s33\",\"s12\"," \
             "\"s23\"];},"                                                                         \
             "{position=[11.7,11.6,11.4];fields=[\"s13\",\"s22\"];}) "                             \
             "boundary={x1=\"absorbing\";x2=\"antisymmetric\";x3=\"roller\";} "                    \
             "absorbing={cells=6;mix=0.3;} "
#define OBLIQUE_LIGHT                                                                          \
    "medium={type=\"expression\";couplings=true;eps=\"1+2*step(x2+0.37*x1-26.3)\";mu=\"1+0.5*" \
    "step(x2+0.37*x1-26.3)\";} "
#define OBLIQUE_LIGHT3                                                                           \
    "medium={type=\"expression\";couplings=true;eps=\"1+2*step(x3+0.3*x1-0.2*x2-12.1)\";mu=\"1+" \
    "0.5*step(x3+0.3*x1-0.2*x2-12.1)\";} "

/* ---- couplings by the medium ---- */

/* sum of b times what the faces of the medium with these changes have; b at what is listed without.
 */
static double faces_product(struct other *o, double part, const struct ht_pair_faces *base) {
    struct ht_problem problem = o->of->fd.problem;
    struct ht_pair_faces *faces;
    double sum = 0;
    o->part = part;
    problem.fd.fill = fill_other;
    problem.fd.medium = o;
    must(ht_pair_faces_find(&problem, &base->pair, 0, &faces));
    for (int group = 0; group < 2; group++) {
        const struct ht_pair_listed *of = &faces->listed[group];
        for (int64_t plane = 0; plane < ht_grid_planes(faces->grid, HT_PRIMARY); plane++)
            for (int64_t i = of->first[plane]; i < of->first[plane + 1]; i++)
                for (int c = 0; c < of->couplings; c++)
                    sum += ht_rng_uniform(70 + (unsigned)(of->coupling + c),
                                          (uint64_t)(plane * o->plane + of->node[i])) *
                           of->value[i * of->couplings + c];
    }
    ht_pair_faces_destroy(faces);
    return sum;
}

/* Of each entry that is listed; how many of them theta has cut. */
static int draw_sums(const struct ht_pair_faces *faces, const struct other *o, double *const *sum) {
    int cut = 0;
    for (int group = 0; group < 2; group++) {
        const struct ht_pair_listed *of = &faces->listed[group];
        for (int64_t plane = 0; plane < ht_grid_planes(faces->grid, HT_PRIMARY); plane++)
            for (int64_t i = of->first[plane]; i < of->first[plane + 1]; i++)
                for (int c = 0; c < of->couplings; c++) {
                    const int64_t n = plane * o->plane + of->node[i];
                    sum[of->coupling + c][n] =
                        ht_rng_uniform(70 + (unsigned)(of->coupling + c), (uint64_t)n);
                    cut += fabs(of->value[i * of->couplings + c]) <
                           0.999999 * fabs(o->value[of->coupling + c][n]);
                }
    }
    return cut;
}

/* Random sums by what faces take, through theta, against differences of fourth order. */
static void judge_faces(const char *name, const char *options, bool cuts) {
    struct shot s = {.gradient = NULL};
    struct other o;
    struct ht_frame *frame;
    double *sum[HT_MAX_TERMS], by = 0, g2 = 0, m2 = 0;
    const double part = 1e-5;
    fd_open(&s.run, "initial.type=zero %s %s", options, DOUBLE PLAIN);
    const struct ht_plan *plan = s.run.sim->plan;
    const struct ht_pair_faces *faces = plan->problem.fd.faces;
    const int all = faces->pair.ncoefficients + faces->pair.ncouplings;
    open_other(&s, &o);
    must(ht_frame_create(plan->medium, &faces->pair, HT_FIT_AUTO, &frame));
    for (int c = 0; c < all; c++) {
        sum[c] = room(s.run.nodes);
        if (c < o.of->pair.nown) continue;
        o.value[c] = room(s.run.nodes);
        o.change[c] = room(s.run.nodes);
        must(ht_frame_fill(frame, c, 0, ht_grid_planes(&plan->grid, HT_PRIMARY), o.value[c]));
        for (int64_t n = 0; n < s.run.nodes; n++)
            o.change[c][n] = o.value[c][n] * ht_rng_uniform(31 + (unsigned)c, (uint64_t)n);
    }
    ht_frame_destroy(frame);
    const int cut = draw_sums(faces, &o, sum);
    must(ht_gradient_couple(plan, sum));
    for (int c = 0; c < all; c++) {
        by += dot(s.run.nodes, sum[c], o.change[c]);
        m2 += dot(s.run.nodes, o.change[c], o.change[c]);
        for (int64_t n = 0; n < s.run.nodes; n++)
            g2 += o.change[c][n] != 0 ? sum[c][n] * sum[c][n] : 0;
    }
    const double quotient =
        (8 * (faces_product(&o, part, faces) - faces_product(&o, -part, faces)) -
         (faces_product(&o, 2 * part, faces) - faces_product(&o, -2 * part, faces))) /
        (12 * part);
    TEST_CHECK(!cuts || cut > 0, "%s: %d couplings are cut", name, cut);
    TEST_BELOW(fabs(by - quotient) / sqrt(g2 * m2), 1e-11, "%s: couplings by the medium, %.6g",
               name, quotient);
    for (int c = 0; c < all; c++) {
        free(sum[c]);
        free(o.value[c]);
        free(o.change[c]);
    }
    fd_close(&s.run);
}

int main(void) {
    static const struct kind kinds[] = {
        {"P-SV, layers, beside fluid", PLANE IN_PLANE SOLID LAYERS2, DOUBLE PLAIN, 1e-13, true},
        {"P-SV, couplings, layers", OBLIQUE IN_PLANE LAYERS2, DOUBLE PLAIN, 1e-13, true},
        {"P-SV order 4, free side, sponge",
         PLANE ON_FREE SOLID_WHERE("20.3-x2") FREE2 "absorbing.type=sponge grid.order=4 ",
         DOUBLE PLAIN, 1e-13, true},
        {"Maxwell, layers",
         LIGHT "boundary={x1=\"absorbing\";x2=[\"electric\",\"absorbing\"];} absorbing.cells=6 ",
         DOUBLE PLAIN, 1e-13, true},
        {"Maxwell across the plane, layers",
         ACROSS "boundary={x1=\"absorbing\";x2=[\"magnetic\",\"absorbing\"];} absorbing.cells=6 ",
         DOUBLE PLAIN, 1e-13, true},
        {"P-SV, free sides",
         PLANE ON_FREE SOLID_WHERE("20.3-x2") "boundary={x1=\"free\";x2=\"free\";} ", DOUBLE PLAIN,
         1e-13, true},
        {"P-SV, walls", PLANE IN_PLANE SOLID "boundary={x1=\"roller\";x2=\"antisymmetric\";} ",
         DOUBLE PLAIN, 1e-13, true},
        {"elastic, 3-D", SOLID3, DOUBLE PLAIN, 1e-13, true},
        {"Maxwell, 3-D", LIGHT3, DOUBLE PLAIN, 1e-13, true},
        {"P-SV, couplings, walls", OBLIQUE AT_WALLS WALLS2, DOUBLE PLAIN, 1e-13, true},
        {"P-SV, couplings, periodic",
         PLANE "medium.couplings=true " DIPPING("x2+0.37*x1-27.3", "1") AT_WALLS
         "boundary={x1=\"periodic\";x2=\"periodic\";} ",
         DOUBLE PLAIN, 1e-13, true},
        {"P-SV, couplings, free", OBLIQUE ON_FREE FREE2, DOUBLE PLAIN, 1e-13, true},
        {"elastic, 3-D, couplings", OBLIQUE3, DOUBLE PLAIN, 1e-13, true},
        {"Maxwell, couplings", LIGHT OBLIQUE_LIGHT "boundary={x1=\"electric\";x2=\"magnetic\";} ",
         DOUBLE PLAIN, 1e-13, true},
        {"Maxwell, 3-D, couplings", LIGHT3 OBLIQUE_LIGHT3, DOUBLE PLAIN, 1e-13, true},
    };
    static const struct kind kernels[] = {
        {"kernels P-SV order 4, free side, layers",
         PLANE ON_FREE SOLID_WHERE("20.3-x2") FREE2 "absorbing.mix=0 grid.order=4 ", SINGLE, 1e-5,
         true},
        {"kernels P-SV, couplings", OBLIQUE IN_PLANE LAYERS2, SINGLE, 1e-5, true},
        {"kernels Maxwell across the plane, electric walls",
         ACROSS "boundary={x1=\"electric\";x2=\"periodic\";} ", SINGLE, 1e-5, true},
        {"kernels Maxwell, 3-D", LIGHT3, DOUBLE, 1e-13, true},
        {"kernels elastic, 3-D", SOLID3, SINGLE, 1e-5, true},
        {"kernels Maxwell, couplings, 3-D", LIGHT3 OBLIQUE_LIGHT3, DOUBLE, 1e-13, true},
        {"kernels elastic, couplings, 3-D", OBLIQUE3, SINGLE, 1e-5, true}};
    for (size_t i = 0; i < (test_all() ? sizeof kinds / sizeof *kinds : 5); i++)
        judge_pair(&kinds[i]);
    for (size_t i = 0; i < (!test_have_double() ? 0
                            : test_all()        ? sizeof kernels / sizeof *kernels
                                                : 3);
         i++)
        judge_pair(&kernels[i]);
    judge_faces("P-SV", OBLIQUE IN_PLANE LAYERS2, true);
    if (test_all()) judge_faces("elastic, 3-D", OBLIQUE3, false);
    if (test_all()) judge_faces("Maxwell, 3-D", LIGHT3 OBLIQUE_LIGHT3, false);
    if (test_have_double()) {
        HT_ENDED(finish) struct shot whole;
        judge_segments(kernels[1].name, 3, HT_GRADIENT_AUTO, SINGLE, kernels[1].options, &whole);
    }
    return test_end("convergence/pair_gradients");
}
