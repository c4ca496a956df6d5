/* The loop over the time steps: which observer looks at which step, what it is given, how a run
 * ends. The serial reference steps, behind a stepper that counts calls, may sleep, and may fail. */
#include <signal.h>
#include <time.h>

#include "planned.h"

#include "src/app/app.h"

enum { MOST_STEPS = 64, MOST_BATCHES = 64 };

/* ---- a run ---- */

struct trial {
    struct planned of;
    struct ht_run run;
    int nodal_reads, coef_reads; /* of one field */
    int half_steps, fail_at;     /* half step that fails; 0: none */
    double pause;                /* seconds before a half step */
    int batches;
    int64_t batch_end[MOST_BATCHES]; /* step */
};

static enum ht_err counting_get(void *self, enum ht_subgrid subgrid, int field, int count,
                                int64_t first, int64_t last, double *out) {
    struct trial *t = self;
    *(count == 1 ? &t->nodal_reads : &t->coef_reads) += 1;
    return t->of.stepper.ops->get(t->of.stepper.self, subgrid, field, count, first, last, out);
}

static enum ht_err counting_half_step(void *self, enum ht_subgrid from) {
    struct trial *t = self;
    struct timespec pause = {.tv_nsec = (long)(1e9 * t->pause)};
    if (t->pause > 0) nanosleep(&pause, NULL);
    t->half_steps++;
    REQUIRE(t->half_steps != t->fail_at, HT_ERR_DEVICE, "the stepper fails");
    return t->of.stepper.ops->half_step(t->of.stepper.self, from);
}

static enum ht_err counting_finish(void *self) {
    struct trial *t = self;
    t->batch_end[t->batches++] = t->half_steps / 2;
    return t->of.stepper.ops->finish(t->of.stepper.self);
}

static const struct ht_stepper_ops counting_ops = {
    .get = counting_get, .half_step = counting_half_step, .finish = counting_finish};

/* Steps of 0.1 to the end. */
static void open_trial(struct trial *t, const char *end) {
    *t = (struct trial){0};
    must(plan_make(&t->of, ' ',
                   "system=acoustic time.scheme=taylor grid.cells=[8] output.every=0.0 "
                   "output.pictures=false grid.order=2 time.step=0.1 time.end=%s "
                   "initial.type=random",
                   end));
    must(plan_oracle(&t->of, true));
    t->run = (struct ht_run){.plan = t->of.plan, .stepper = {.ops = &counting_ops, .self = t}};
}

static void close_trial(struct trial *t) {
    planned_end(&t->of);
}

/* ---- observers ---- */

/* When to look, what to do wrong, and what was seen. */
struct record {
    struct trial *trial;
    int64_t steps_apart; /* looks at multiples; 0: not so */
    double every;        /* looks at multiples of a time; 0: not so */
    bool fails_to_begin;
    int64_t fails_at, stops_at; /* step, -1: none */
    const struct record *after; /* looks at the same steps before it */
    /* ---- seen ---- */
    int begun, looks, last_looks, ended;
    int64_t step[MOST_STEPS];
    double when[MOST_STEPS]; /* by the clock */
    bool wrong_time, wrong_values, wrong_order;
    const double *nodal, *coefs; /* of the last look */
};

static enum ht_err record_begin(void *context, struct ht_run *run) {
    struct record *r = context;
    r->begun++;
    r->wrong_time = run != &r->trial->run;
    REQUIRE(!r->fails_to_begin, HT_ERR_IO, "an observer fails to begin");
    return HT_OK;
}

static int64_t record_next(void *context, const struct ht_run *run, int64_t from) {
    const struct record *r = context;
    if (r->every > 0) return ht_run_multiple(run, r->every, from);
    if (r->steps_apart == 0) return INT64_MAX;
    return (from + r->steps_apart - 1) / r->steps_apart * r->steps_apart;
}

/* Whether the first field's coefficients are those of the state now. */
static bool values_differ(const struct trial *t, int count, const double *values) {
    double now[16 * 8];
    const int64_t nodes = ht_grid_total(&t->of.plan->grid, HT_PRIMARY);
    if (t->of.stepper.ops->get(t->of.stepper.self, HT_PRIMARY, 0, count, 0, 1, now) != HT_OK)
        return true;
    return memcmp(now, values, (size_t)(count * nodes) * sizeof *now) != 0;
}

static enum ht_err record_look(void *context, const struct ht_view *view) {
    struct record *r = context;
    const int64_t step = view->run->steps;
    const int coefs = ht_grid_coefs(&r->trial->of.plan->grid);
    r->step[r->looks] = step;
    r->when[r->looks++] = ht_clock();
    r->last_looks += view->last;
    r->wrong_time |= fabs(view->time - 0.1 * (double)step) > 1e-14;
    r->nodal = view->nodal != NULL ? view->nodal[0] : NULL;
    r->coefs = view->coefs;
    if (r->nodal != NULL) r->wrong_values |= values_differ(r->trial, 1, r->nodal);
    if (r->coefs != NULL) r->wrong_values |= values_differ(r->trial, coefs, r->coefs);
    if (r->after != NULL) r->wrong_order |= r->after->step[r->after->looks - 1] != step;
    if (step == r->stops_at) raise(SIGUSR1);
    REQUIRE(step != r->fails_at, HT_ERR_IO, "an observer fails at step %lld", (long long)step);
    return HT_OK;
}

static void record_end(void *context) {
    ((struct record *)context)->ended++;
}

static struct record make_record(struct trial *trial, int64_t steps_apart, double every) {
    return (struct record){
        .trial = trial, .steps_apart = steps_apart, .every = every, .fails_at = -1, .stops_at = -1};
}

static struct ht_observer observe(struct record *record, unsigned needs) {
    return (struct ht_observer){.name = "record",
                                .context = record,
                                .needs = needs,
                                .begin = record_begin,
                                .next = record_next,
                                .look = record_look,
                                .end = record_end};
}

/* ---- steps ---- */

static void check_steps(const char *what, const struct record *r, const char *expected) {
    char text[256] = "";
    for (int i = 0; i < r->looks && strlen(text) < 250; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%lld", i ? " " : "",
                 (long long)r->step[i]);
    TEST_CHECK(strcmp(text, expected) == 0 && r->begun == 1 && r->ended == 1 &&
                   r->last_looks == 1 && !r->wrong_time,
               "%s: looks at %s (expected %s), %d of them the last", what, text, expected,
               r->last_looks);
}

static void test_steps(void) {
    HT_ENDED(close_trial) struct trial t;
    open_trial(&t, "2.3");
    struct record third = make_record(&t, 3, 0), each = make_record(&t, 1, 0),
                  quarter = make_record(&t, 0, 0.25), dense = make_record(&t, 0, 0.01),
                  late = make_record(&t, 0, 100), end = make_record(&t, 0, 0);
    struct ht_observer o[] = {observe(&third, 0), observe(&each, 0), observe(&quarter, 0),
                              observe(&dense, 0), observe(&late, 0), observe(&end, 0)};
    o[5].next = NULL;
    enum ht_err err = ht_run_execute(&t.run, 6, o);
    const char *all = "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23";
    check_steps("every third step", &third, "0 3 6 9 12 15 18 21 23");
    check_steps("each step", &each, all);
    check_steps("every 0.25, two and a half steps", &quarter, "0 3 5 8 10 13 15 18 20 23");
    check_steps("every 0.01, a tenth of a step", &dense, all);
    check_steps("every 100, beyond the end", &late, "0 23");
    check_steps("without `next`", &end, "23");
    TEST_CHECK(err == HT_OK && t.run.steps == 23 && !t.run.interrupted && t.half_steps == 46,
               "the run ends after %lld of 23 steps, %d half steps", (long long)t.run.steps,
               t.half_steps);
}

/* Whether a step is nearest to a multiple of a time, `apart` steps apart. */
static bool is_nearest(int64_t step, double apart) {
    double off = remainder((double)step, apart); /* to the nearest multiple */
    return fabs(off) < 0.5 && (double)step - off >= 0;
}

static void test_multiples(void) {
    static const double every[] = {0.07, 0.1, 0.133, 0.371, 0.71, 1.9};
    HT_ENDED(close_trial) struct trial t;
    open_trial(&t, "2.3");
    TEST_EACH(row, every) {
        int wrong = 0;
        for (int64_t from = 0; from <= 23; from++) {
            int64_t step = from;
            while (step < 23 && !is_nearest(step, *row / 0.1)) step++;
            wrong += ht_run_multiple(&t.run, *row, from) != step;
        }
        TEST_CHECK(wrong == 0, "multiples of %g: %d of 24 steps are wrong", *row, wrong);
    }
    TEST_CHECK(ht_run_multiple(&t.run, 0, 0) == 23, "time 0: the last step");
}

/* ---- values ---- */

static void test_values(void) {
    HT_ENDED(close_trial) struct trial t;
    open_trial(&t, "2.3");
    struct record a = make_record(&t, 3, 0), b = make_record(&t, 6, 0),
                  coefs = make_record(&t, 6, 0), none = make_record(&t, 1, 0);
    const struct ht_observer o[] = {observe(&none, 0), observe(&a, HT_NEED_NODAL),
                                    observe(&b, HT_NEED_NODAL),
                                    observe(&coefs, HT_NEED_NODAL | HT_NEED_COEFS)};
    enum ht_err err = ht_run_execute(&t.run, 4, o);
    const int fields = t.of.plan->eq.nfields; /* all are stored */
    must(err);
    TEST_EQUAL(t.nodal_reads, fields * 9, "nodal values for three observers at 9 steps: reads");
    TEST_EQUAL(t.coef_reads, fields * 5, "coefficients for one at 5 steps: reads");
    TEST_CHECK(a.nodal != NULL && a.nodal == b.nodal && coefs.coefs != NULL,
               "observers share the values");
    TEST_CHECK(!a.wrong_values && !b.wrong_values && !coefs.wrong_values,
               "values are those of the step");
    TEST_CHECK(none.nodal == NULL && none.coefs == NULL && a.coefs == NULL,
               "who does not need values gets none");
}

/* ---- judges ---- */

static void test_judges(void) {
    HT_ENDED(close_trial) struct trial t;
    open_trial(&t, "2.3");
    struct record judge = make_record(&t, 10, 0), user = make_record(&t, 6, 0),
                  other = make_record(&t, 4, 0);
    user.after = &judge;
    struct ht_observer o[] = {observe(&judge, 0), observe(&user, HT_NEED_JUDGED | HT_NEED_NODAL),
                              observe(&other, HT_NEED_NODAL)};
    o[0].judges = true;
    enum ht_err err = ht_run_execute(&t.run, 3, o);
    check_steps("a judge, also for another observer", &judge, "0 6 10 12 18 20 23");
    TEST_CHECK(err == HT_OK && !user.wrong_order,
               "the state is judged before the look of the one who needs it");
    close_trial(&t);

    open_trial(&t, "2.3");
    judge = make_record(&t, 10, 0);
    user = make_record(&t, 6, 0);
    judge.fails_at = 12;
    err = ht_run_execute(&t.run, 2, o);
    TEST_CHECK(err == HT_ERR_IO && t.run.steps == 12 && user.looks == 2 && user.step[1] == 6,
               "a state refused at step %lld is not used: %d looks before", (long long)t.run.steps,
               user.looks);
}

/* ---- failures ---- */

/* A run of three observers, the second of which fails to begin or at a step, or of which a half
 * step does. */
struct failing {
    struct trial t;
    struct record record[3];
    enum ht_err err;
};

static void close_failing(struct failing *f) {
    close_trial(&f->t);
}

static void run_failing(bool begins, int64_t fails_at, int half_step, struct failing *f) {
    struct ht_observer o[3];
    open_trial(&f->t, "2.3");
    for (int i = 0; i < 3; i++) {
        f->record[i] = make_record(&f->t, (int[]){3, 2, 4}[i], 0);
        o[i] = observe(&f->record[i], 0);
    }
    f->record[1].fails_to_begin = !begins;
    f->record[1].fails_at = fails_at;
    f->t.fail_at = half_step;
    f->err = ht_run_execute(&f->t.run, 3, o);
}

static void test_failures(void) {
    HT_ENDED(close_failing) struct failing look, begin, step;
    const struct record *r = look.record;
    run_failing(true, 8, 0, &look);
    TEST_CHECK(look.err == HT_ERR_IO && look.t.run.steps == 8 && r[1].step[4] == 8 &&
                   strcmp(ht_err_message(), "an observer fails at step 8") == 0,
               "a look that fails ends the run: step %lld, %s", (long long)look.t.run.steps,
               ht_err_message());
    TEST_CHECK(r[2].looks == 2 && r[2].last_looks == 0, "nobody looks after it: %d looks before",
               r[2].looks);
    TEST_CHECK(r[0].ended == 1 && r[1].ended == 1 && r[2].ended == 1,
               "every `end` is called once: %d %d %d", r[0].ended, r[1].ended, r[2].ended);
    r = begin.record;
    run_failing(false, -1, 0, &begin);
    TEST_CHECK(begin.err == HT_ERR_IO && begin.t.half_steps == 0 &&
                   r[0].looks + r[1].looks + r[2].looks == 0,
               "a failure to begin: no step, no look: %s", ht_err_message());
    TEST_CHECK(r[0].ended == 1 && r[1].ended == 1 && r[2].begun == 0 && r[2].ended == 0,
               "`end` is called of those that have begun: %d %d %d", r[0].ended, r[1].ended,
               r[2].ended);
    r = step.record;
    run_failing(true, -1, 15, &step);
    TEST_CHECK(step.err == HT_ERR_DEVICE && r[0].ended == 1 && r[0].looks == 3,
               "a step that fails ends the run after %d looks (expected 3): %s", r[0].looks,
               ht_err_message());
}

/* ---- the end by a signal ---- */

static void test_stop(void) {
    HT_ENDED(close_trial) struct trial t;
    open_trial(&t, "6.0");
    struct record a = make_record(&t, 4, 0), b = make_record(&t, 0, 0);
    const struct ht_observer o[] = {observe(&a, 0), observe(&b, 0)};
    a.stops_at = 8;
    ht_stop_watch();
    enum ht_err err = ht_run_execute(&t.run, 2, o);
    (void)ht_stop_unwatch(HT_OK);
    int64_t end = t.run.steps;
    TEST_CHECK(err == HT_OK && t.run.interrupted && end > 8 && end <= 12 && t.batches >= 2 &&
                   t.batch_end[t.batches - 1] == end && t.batch_end[t.batches - 2] == 8,
               "a signal at step 8 ends the run after one batch, at step %lld", (long long)end);
    TEST_CHECK(a.step[a.looks - 1] == end && a.last_looks == 1 && b.looks == 1 &&
                   b.step[0] == end && b.last_looks == 1,
               "all look there for the last time: %d, %d", a.last_looks, b.last_looks);
    TEST_CHECK(a.ended == 1 && b.ended == 1, "and end: %d, %d", a.ended, b.ended);
    err = ht_run_execute(&t.run, 2, o);
    TEST_CHECK(err == HT_OK && !t.run.interrupted && t.run.steps == 60 && t.half_steps == 120,
               "the remaining steps follow: %lld of 60, %d half steps", (long long)t.run.steps,
               t.half_steps);
}

static void test_stop_before(void) {
    HT_ENDED(close_trial) struct trial t;
    open_trial(&t, "2.3");
    struct record a = make_record(&t, 0, 0);
    const struct ht_observer o[] = {observe(&a, 0)};
    ht_stop_watch();
    raise(SIGUSR1);
    enum ht_err err = ht_run_execute(&t.run, 1, o);
    (void)ht_stop_unwatch(HT_OK);
    TEST_CHECK(
        err == HT_OK && t.run.interrupted && t.half_steps == 0 && a.looks == 1 && a.last_looks == 1,
        "a signal before the first step: %d half steps, %d last looks", t.half_steps, a.last_looks);
}

/* ---- by the clock ---- */

static void test_clock(void) {
    const double pause = 0.01, apart = 0.3;
    HT_ENDED(close_trial) struct trial t;
    open_trial(&t, "6.0");
    struct record often = make_record(&t, 0, 0), some = make_record(&t, 0, 0),
                  rare = make_record(&t, 0, 0);
    struct ht_observer o[] = {observe(&often, 0), observe(&some, 0), observe(&rare, 0)};
    o[0].seconds = 1e-9;
    o[1].seconds = apart;
    o[2].seconds = 1000;
    t.pause = pause;
    enum ht_err err = ht_run_execute(&t.run, 3, o);
    int wrong = 0, before = often.step[0] == 0; /* the first batch */
    for (int i = 0; i < t.batches; i++) wrong += often.step[before + i] != t.batch_end[i];
    TEST_CHECK(err == HT_OK && wrong == 0 && t.batches > 3 && often.looks == before + t.batches,
               "every 1e-9 s: %d looks after the first step, %d batches", often.looks - before,
               t.batches);
    double least = INFINITY;
    for (int i = 1; i + 1 < some.looks; i++) least = fmin(least, some.when[i] - some.when[i - 1]);
    TEST_CHECK(some.looks >= 2 && least > 0.9 * apart,
               "every %g s: %d looks at the ends of %d batches, at least %.2f s apart", apart,
               some.looks, t.batches, least);
    TEST_CHECK(rare.looks == 1 && rare.last_looks == 1, "every 1000 s: %d look, at the end",
               rare.looks);
    /* 0.2 s per batch; a step takes two pauses at least. */
    int64_t longest = 0;
    for (int i = 1; i < t.batches; i++)
        if (t.batch_end[i] - t.batch_end[i - 1] > longest)
            longest = t.batch_end[i] - t.batch_end[i - 1];
    TEST_BELOW((double)longest, 0.2 / (2 * pause), "steps of the longest batch");
}

int main(void) {
    test_steps();
    test_multiples();
    test_values();
    test_judges();
    test_failures();
    test_stop();
    test_stop_before();
    test_clock();
    return test_end("run");
}
