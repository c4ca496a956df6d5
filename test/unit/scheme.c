/* The rows of time-stepping schemes: names, forms of every system, and half steps of the reference:
 * those with -dt lead back to the start, but not by a scheme that dissipates. */

#include "kernel/problem.h"

enum { CELLS = 3, STEPS = 4, MOST = 1 << 13 };

/* ---- names ---- */

static void test_names(void) {
    for (int i = 0; i < ht_scheme_count(); i++) {
        const struct ht_scheme *scheme = ht_scheme_at(i);
        const char *word = HT_WORD(SCHEME_WORD, i);
        TEST_CHECK(strcmp(scheme->name, word) == 0, "row %d is %s, the word %s", i, scheme->name,
                   word);
        TEST_CHECK(strcmp(ht_scheme_mark(scheme), i ? word : "") == 0, "%s in titles: \"%s\"", word,
                   ht_scheme_mark(scheme));
    }
}

static void test_properties(const struct ht_scheme *s) {
    TEST_CHECK((s->two_level && !s->nodal) == (s->starter != NULL), "%s: %s level, starts %s",
               s->name, s->two_level ? "two" : "one",
               s->starter ? s->starter->name : "from one grid");
    TEST_CHECK(s->dissipates || s->most_growth > 1, "%s: a run ends at growth %g", s->name,
               s->most_growth);
    for (int i = 0; s->starter != NULL && i < ht_system_count(); i++) {
        const struct ht_equations eq = ht_equations_make(ht_system_at(i), 3);
        TEST_CHECK(!s->starter->two_level && ht_scheme_steps(s->starter, &eq), "%s starts %s by %s",
                   s->name, eq.system->name, s->starter->name);
    }
}

/* ---- forms ---- */

struct trial {
    const struct ht_scheme *scheme;
    struct ht_equations eq;
    struct ht_grid grid;
    struct ht_problem problem;
    char name[80];
};

/* The groups of a form: all fields; two that only change each other, without a field in both; or
 * one twice. */
static bool form_is_sound(const struct trial *t) {
    const unsigned all = (1u << t->eq.nfields) - 1;
    const struct ht_problem *p = &t->problem;
    const unsigned a = p->stored[0], b = p->stored[1];
    if (!t->scheme->two_level) return p->old_sign == 0 && a == 0 && b == 0;
    if (a == 0 || b == 0 || ((a | b) & ~all)) return false;
    if (p->old_sign < 0) return p->old_sign == -1 && a == b;
    for (int i = 0; i < t->eq.nterms; i++)
        if ((a >> t->eq.term[i].row & 1) == (a >> t->eq.term[i].col & 1)) return false;
    return p->old_sign == 1 && (a & b) == 0 && (a | b) == all;
}

static void test_refusal(const struct trial *t) {
    struct ht_problem p = t->problem;
    const char *why = ht_problem_set_scheme(&p, t->scheme);
    TEST_CHECK(why != NULL && why[0] != '\0' && p.scheme == NULL && p.old_sign == 0 &&
                   p.stored[0] == 0,
               "%s: refused, the fields %s", t->name, why);
}

/* ---- against the reference ---- */

/* x2 between walls, which advection does not know. */
static void begin(struct trial *t, const struct ht_scheme *scheme, const struct ht_system *system,
                  int dims) {
    static const int wall[3][2] = {{0, 0}, {1, -1}, {0, 0}};
    *t = (struct trial){.scheme = scheme, .eq = ht_equations_make(system, dims)};
    t->grid = hand_grid(dims, dims < 3 ? 2 : 1, (const int64_t[]){CELLS, CELLS + 1, CELLS + 2},
                        system->nwalls ? wall : NULL);
    for (int k = 0; k < 3; k++) {
        t->grid.h[k] = 1;
        t->grid.upper[k] = (double)t->grid.cells[k];
    }
    t->problem =
        (struct ht_problem){.eq = &t->eq, .grid = &t->grid, .medium_degree = -1, .dt = 0.4};
    for (int m = 0; m < HT_MAX_MATERIALS; m++) t->problem.uniform[m] = 0.75 + 0.125 * m;
    snprintf(t->name, sizeof t->name, "%s %s %d-D", scheme->name, system->name, dims);
}

typedef double state[2][MOST]; /* [subgrid][field][i][node] */

static int64_t values_of(const struct trial *t, int subgrid) {
    return ht_grid_total(&t->grid, (enum ht_subgrid)subgrid) * ht_grid_coefs(&t->grid);
}

static void fill_random(const struct trial *t, uint64_t seed, state u) {
    for (int subgrid = 0; subgrid < 2; subgrid++)
        for (int64_t n = 0; n < values_of(t, subgrid) * t->eq.nfields; n++)
            u[subgrid][n] = ht_rng_uniform(seed + (uint64_t)subgrid, (uint64_t)n);
}

/* A half step of u with step dt from a grid: 0 primary, 1 dual. absolute: as ht_oracle_absolute. */
static void take(const struct trial *t, const struct ht_scheme *scheme, double dt, bool absolute,
                 int from, state u) {
    struct ht_problem p = t->problem;
    HT_ENDED(ht_stepper_destroy) struct ht_stepper s = {0};
    p.dt = dt;
    if (ht_problem_set_scheme(&p, scheme) != NULL) exit(1);
    must(ht_oracle_create(&p, &s));
    if (absolute) ht_oracle_absolute(&s);
    for (int i = 0; i < 2; i++) {
        const enum ht_subgrid subgrid = i ? HT_DUAL : HT_PRIMARY;
        must(s.ops->put(s.self, subgrid, 0, ht_grid_planes(&t->grid, subgrid), u[i]));
    }
    must(s.ops->half_step(s.self, (enum ht_subgrid)from));
    for (int m = 0; m < 2 * t->eq.nfields; m++) {
        const enum ht_subgrid subgrid = m % 2 ? HT_DUAL : HT_PRIMARY;
        must(s.ops->get(s.self, subgrid, m / 2, ht_grid_coefs(&t->grid), 0,
                        ht_grid_planes(&t->grid, subgrid), u[m % 2] + m / 2 * values_of(t, m % 2)));
    }
}

/* Over the fields stored on a grid; b NULL: of a alone. */
static double farthest(const struct trial *t, int subgrid, const double *a, const double *b) {
    int64_t values = values_of(t, subgrid);
    double worst = 0;
    for (int64_t n = 0; n < values * t->eq.nfields; n++)
        if (ht_problem_stores(&t->problem, (enum ht_subgrid)subgrid, (int)(n / values)))
            worst = fmax(worst, fabs(a[n] - (b != NULL ? b[n] : 0)));
    return worst;
}

/* What one half step from data of at most 1 may be off by rounding. */
static double rounding(const struct trial *t, int from) {
    static state u;
    for (int subgrid = 0; subgrid < 2; subgrid++)
        for (int n = 0; n < MOST; n++) u[subgrid][n] = 1;
    take(t, t->scheme, t->problem.dt, true, from, u);
    return ht_oracle_roundings(&t->problem) * DBL_EPSILON / 2 *
           farthest(t, 1 - from, u[1 - from], NULL);
}

/* Forwards and backwards: n half steps, each off by rounding of the largest values on the way,
 * which later ones carry on at most n-fold. */
static void test_return(const struct trial *t) {
    enum { HALVES = 2 * STEPS };
    static state start, u;
    const bool two = t->scheme->two_level;
    double off = 0, largest = 0;
    fill_random(t, 5, start);
    memcpy(u, start, sizeof u);
    for (int n = 0; n < 2 * HALVES; n++) {
        const bool back = n >= HALVES;
        const int from = back && two ? 1 - n % 2 : n % 2;
        double dt = back ? -t->problem.dt : t->problem.dt;
        take(t, t->scheme, dt, false, from, u);
        for (int subgrid = 0; subgrid < 2; subgrid++)
            largest = fmax(largest, farthest(t, subgrid, u[subgrid], NULL));
    }
    for (int subgrid = 0; subgrid < (two ? 2 : 1); subgrid++)
        off = fmax(off, farthest(t, subgrid, u[subgrid], start[subgrid]));
    if (t->scheme->dissipates) {
        TEST_CHECK(off > 1e-2, "%s: does not return, off by %.2g", t->name, off);
        return;
    }
    double each = fmax(rounding(t, 0), rounding(t, 1)) * fmax(largest, 1);
    TEST_BELOW(off, 4.0 * HALVES * HALVES * each, "%s: returns after %d steps, values up to %.2g",
               t->name, STEPS, largest);
}

static void test_trial(const struct ht_scheme *scheme, const struct ht_system *system, int dims) {
    static struct trial t;
    begin(&t, scheme, system, dims);
    if (!ht_scheme_steps(scheme, &t.eq)) {
        test_refusal(&t);
        return;
    }
    TEST_CHECK(ht_problem_set_scheme(&t.problem, scheme) == NULL && t.problem.scheme == scheme &&
                   form_is_sound(&t),
               "%s: stores %x and %x, old_sign %d", t.name, t.problem.stored[0],
               t.problem.stored[1], t.problem.old_sign);
    t.problem.stages = ht_scheme_full_stages(scheme, &t.eq, t.grid.order);
    test_return(&t);
}

int main(void) {
    test_names();
    for (int i = 0; i < ht_scheme_count(); i++) {
        test_properties(ht_scheme_at(i));
        if (ht_scheme_at(i)->nodal) continue; /* differences.c */
        for (int s = 0; s < ht_system_count(); s++)
            for (int dims = 1; dims <= HT_MAX_DIMS; dims++)
                test_trial(ht_scheme_at(i), ht_system_at(s), dims);
    }
    return test_end("scheme");
}
