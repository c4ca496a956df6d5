/* Memory that runs out: the allocations of a run by the serial reference fail in turn, the first
 * two of each place of the program that makes some: the call and its callers. The run ends with
 * that message, and what was made until then is destroyed, objects with missing parts, too; what is
 * lost or used after its end is found with address checks. */
#include "../io/scratch.h"
#include "test.h"

#include "htwave/simulation.h"

#include <execinfo.h>

static const char message[] = "there is no memory for this one";
enum { MOST = 4096, CALLERS = 5 };
static int64_t allocated, fails_at;
static bool marking;         /* in a run of which no allocation fails */
static uint64_t place[MOST]; /* of allocation number n */

static uint64_t here(void) {
    void *caller[CALLERS];
    const int count = backtrace(caller, CALLERS);
    return ht_hash(0, caller, (size_t)count * sizeof *caller);
}

/* In place of the library's. */
enum ht_err ht_mem_alloc(size_t count, size_t size, void *out) {
    REQUIRE(++allocated != fails_at, HT_ERR_MEMORY, "%s", message);
    if (marking && allocated < MOST) place[allocated] = here();
    void *fresh = calloc(count > 0 ? count : 1, size > 0 ? size : 1);
    REQUIRE(fresh != NULL, HT_ERR_MEMORY, "out of memory");
    memcpy(out, &fresh, sizeof fresh);
    return HT_OK;
}

struct trial {
    struct ht_params *params;
    struct ht_simulation *sim;
    struct ht_output *output;
};

static enum ht_err simulate(struct trial *t, const char *input, char *into) {
    char device[] = "device={backend=\"oracle\";threads=1;}";
    char *options[] = {into, device};
    TRY(ht_params_read(input, 2, options, &t->params));
    TRY(ht_simulation_plan(t->params, NULL, NULL, &t->sim));
    TRY(ht_simulation_compile(t->sim));
    TRY(ht_simulation_start(t->sim));
    TRY(ht_output_create(t->params, t->sim->plan->medium, 0, &t->output));
    struct ht_recording recording = {.output = t->output};
    const struct ht_observer receivers = ht_observe_receivers(&recording);
    return ht_run_execute(&t->sim->run, 1, &receivers);
}

/* Allocation number n fails. */
static enum ht_err run_trial(int64_t n, const char *text) {
    struct trial t = {.params = NULL};
    char into[160], *directory = scratch_make("memory");
    if (directory == NULL) exit(1);
    HT_FREED char *input = scratch_path(directory, "run.cfg");
    snprintf(into, sizeof into, "output={directory=\"%s\";snapshots=false;pictures=false;}",
             directory);
    enum ht_err err = ht_file_write(input, text, strlen(text));
    allocated = 0;
    fails_at = n;
    marking = n == 0;
    if (err == HT_OK) err = simulate(&t, input, into);
    marking = false;
    fails_at = 0;
    ht_output_destroy(t.output);
    ht_simulation_destroy(t.sim);
    ht_params_destroy(t.params);
    scratch_remove(directory);
    return err;
}

static bool is_repeated(int64_t n) {
    int before = 0;
    for (int64_t i = 1; i < n; i++) before += place[i] == place[n];
    return before > 1;
}

static void test_all_fail(const char *what, const char *text) {
    int64_t n = 0, runs = 0, wrong = 0;
    const enum ht_err whole = run_trial(0, text);
    const int64_t all = allocated;
    TEST_CHECK(whole == HT_OK, "%s: a run, %d allocations %s", what, (int)all,
               whole == HT_OK ? "" : ht_err_message());
    while (++n <= all && n < MOST) {
        if (is_repeated(n)) continue;
        runs++;
        const enum ht_err err = run_trial(n, text);
        if (err == HT_ERR_MEMORY && strcmp(ht_err_message(), message) == 0) continue;
        wrong++;
        printf("# %d: %d %s\n", (int)n, (int)err, ht_err_message());
    }
    TEST_CHECK(wrong == 0 && runs > 50, "%s: of %d runs without memory %d say something else", what,
               (int)runs, (int)wrong);
}

int main(void) {
    ht_log_level_set(HT_LOG_SILENT);
    test_all_fail(
        "fd",
        "system=\"acoustic\";grid={cells=[16,8];};time={end=0.1;scheme=\"fd\";};boundary={x1=["
        "\"absorbing\",\"free\"];x2=\"rigid\";};absorbing={cells=6;};medium={type=\"layers\";axis="
        "\"x2\";interfaces=[0.5];c=[1.0,2.0];rho=[1.0,2.0];};sources=({position=[0.6,0.4];"
        "frequency=0.5;},{type=\"line\";from=[0.4,0.2];to=[0.8,0.2];count=5;frequency=0.5;kind="
        "\"force\";direction=[1,0];});receivers=({type=\"plane\";from=[0.4,0];to=[1,0];side=[0.4,0."
        "9];count=2;count2=2;fields=[\"p\",\"v1\"];},{position=[0.5,0.5];every=0.013;});");
    test_all_fail("taylor", "system=\"acoustic\";grid={cells=[16];order=1;upper=[1.6];};time={end="
                            "0.1;scheme=\"taylor\";};sources=({position=[0.6];frequency=0.4;});"
                            "receivers=({position=[0.5];every=0.013;});");
    test_all_fail("leapfrog",
                  "system=\"wave\";grid={cells=[6,5];order=2;};time={end=0.1;scheme=\"leapfrog\";};"
                  "receivers=({type=\"line\";from=[0,0];to=[1,1];count=3;every=0.013;});");
    return test_end("memory");
}
