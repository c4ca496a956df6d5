/* The parts of the method that know of slabs, by one or by several ranks (see plan.sh, which
 * compares): plan, medium, start, measures, conserved energy. Rank 0 prints for every case what
 * must not depend on the number of ranks, bit by bit ("same ..."), and sums, which may differ in
 * the last digits ("sum
 * ...").
 *
 *     plan          all cases
 *     plan refuse   a medium that is bad in one slab
 *     plan missing  a file that is missing on the last rank
 *     plan flat     a grid that cannot be cut
 *     plan thin     halos that are deeper than slabs
 */
#include <unistd.h>

#include "io/scratch.h"
#include "slab_cut.h"
#include "test.h"

#include "htwave/energy.h"
#include "htwave/h5.h"
#include "replica.h"

enum { MANY = 25, MOST_OPTIONS = 24, MOST_RANKS = 64, SAMPLES = 23, MESSAGE = 512 };

static struct ht_comm *comm;
static char *directory;

static bool speaks(void) {
    return ht_comm_rank(comm) == 0;
}

static void stop_on(enum ht_err err) {
    if (err == HT_OK) return;
    printf("not ok - rank %d: %s\n", ht_comm_rank(comm), ht_err_message());
    ht_comm_end(comm, ht_comm_agree(comm, err) != HT_OK, 1);
    exit(1);
}

/* ---- cases ---- */

#define BOX                                                            \
    "grid.cells=[5, 4, 11]; grid.upper=[1.0, 1.2, 2.2]; grid.order=1;" \
    "time.end=0.3;"
#define WALLS "boundary.x1=rigid; boundary.x3=[\"rigid\", \"free\"];"
#define BELL "initial.centre=[0.5, 0.6, 0.9]; initial.width=0.3;"
#define TAYLOR "time.scheme=taylor;"
#define LEAPFROG "time.scheme=leapfrog;"

static const struct {
    const char *name, *options; /* %s: the directory */
    bool runs;                  /* with a start, steps and measures */
} cases[] = {
    {"constant", BOX WALLS BELL "medium.c=1.5", true},
    {"wave",
     BOX "system=acoustic; initial.type=plane; initial.cycles=[1, 0, "
         "1]",
     true},
    {"back", BOX LEAPFROG WALLS BELL "medium.c=1.5", true},
    {"back-periodic", BOX LEAPFROG BELL "system=wave; medium.c=1.5", true},
    {"exact", BOX LEAPFROG WALLS "initial.type=standing; initial.modes=[1, 1, 2]", true},
    {"random", BOX LEAPFROG "initial.type=random", true},
    {"layers-x3",
     BOX TAYLOR WALLS BELL "medium.type=layers; medium.axis=x3;"
                           "medium.interfaces=[0.73, 1.4];"
                           "medium.c=[1.0, 2.0, 1.3]",
     false},
    {"layers-x1",
     BOX TAYLOR WALLS BELL "medium.type=layers; medium.axis=x1;"
                           "medium.interfaces=[0.33]; medium.c=[1.0, 2.0]",
     false},
    {"smooth",
     BOX TAYLOR WALLS BELL "medium.type=expression;"
                           "medium.c=\"1 + 0.1*x1 + 0.3*sin(x2*x3)\";"
                           "medium.rho=\"1 + 0.2*x3\"",
     false},
    {"rough",
     BOX TAYLOR "initial.type=random; medium.type=expression; medium.c=\"1 + "
                "0.9*sin(40*x3)\"",
     false},
    {"rough-x1",
     BOX TAYLOR "initial.type=random; medium.type=expression; medium.c=\"1 + "
                "0.9*sin(40*x1)\"",
     false},
    {"file",
     BOX TAYLOR WALLS "medium.type=file; medium.c=\"%s/c.f32\";"
                      "medium.shape=[23, 23]; medium.axes=[\"x3\", \"x1\"];"
                      "medium.spacing=[0.1, 0.05]; initial.type=file;"
                      "initial.file=\"%s/u.h5\"; initial.values={p=\"u\";}",
     false},
    {"late",
     "grid.cells=[100, 100, 101]; grid.order=1; grid.upper=[1.0, 1.0, "
     "1.0];" TAYLOR "medium.type=expression; medium.c=\"1 + 0.5*sin(1e2*x3 + x1 + x2)\"",
     false},
};
enum { CASES = sizeof cases / sizeof cases[0] };

/* options as "key=value; key=value" */
static enum ht_err read_options(const char *options, struct ht_params **out) {
    char text[1024], *list[MOST_OPTIONS];
    int count = 0;
    snprintf(text, sizeof text, "%s", options);
    for (char *part = text; *part && count < MOST_OPTIONS; count++) {
        int depth = 0;
        part += strspn(part, " ");
        list[count] = part;
        for (; *part && (depth > 0 || *part != ';'); part++)
            depth += *part == '{' ? 1 : *part == '}' ? -1 : 0;
        if (*part) *part++ = '\0';
        part += strspn(part, " ");
    }
    return ht_params_read(NULL, count, list, out);
}

static const char *fill_in(const char *options) {
    static char text[1024];
    size_t n = 0;
    for (const char *at = options; *at && n + 64 < sizeof text; at++) {
        if (at[0] == '%' && at[1] == 's') {
            n += (size_t)snprintf(text + n, sizeof text - n, "%s", directory);
            at++;
        } else {
            text[n++] = *at;
        }
    }
    text[n] = '\0';
    return text;
}

/* Every rank has its own, all alike. */
static void write_files(void) {
    static float c[SAMPLES * SAMPLES];
    static double u[12 * 4 * 6];
    const int64_t extent[3] = {12, 4, 6};
    char path[128];
    struct ht_h5 *file;
    for (int i = 0; i < SAMPLES * SAMPLES; i++)
        c[i] = (float)(1 + 0.3 * ht_rng_uniform(5, (uint64_t)i));
    for (int i = 0; i < 12 * 4 * 6; i++) u[i] = ht_rng_uniform(6, (uint64_t)i);
    snprintf(path, sizeof path, "%s/c.f32", directory);
    stop_on(ht_file_write(path, c, sizeof c));
    snprintf(path, sizeof path, "%s/u.h5", directory);
    stop_on(ht_h5_create(path, &file));
    stop_on(ht_h5_write(file, "u", 3, extent, u, false));
    stop_on(ht_h5_commit(file));
}

static void remove_files(void) {
    static const char *const names[] = {"c.f32", "u.h5", ""};
    char path[128];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        remove(path);
    }
}

/* ---- what must not depend on the ranks ---- */

/* The sum over the ranks of numbers that belong to planes. */
static uint64_t add_up(uint64_t own) {
    uint64_t all[MOST_RANKS], sum = 0;
    stop_on(ht_comm_gather(comm, &own, sizeof own, all));
    for (int r = 0; r < ht_comm_size(comm); r++) sum += all[r];
    return sum;
}

static uint64_t mark(uint64_t seed, int64_t number) {
    return ht_hash(seed, &number, sizeof number);
}

/* Of what a medium has on own planes, in large grids some of them; one plane beyond is filled, too.
 */
static uint64_t medium_hash(const struct ht_plan *plan) {
    const struct ht_problem *p = &plan->problem;
    uint64_t sum = 0;
    for (int m = 0; m < 2 && p->medium_fill; m++) {
        enum ht_subgrid subgrid = m == 0 ? HT_PRIMARY : HT_DUAL;
        int64_t planes = ht_grid_planes(p->grid, subgrid), first, last;
        int64_t size = ht_grid_plane(p->grid, subgrid) * p->medium_coefs * p->eq->nmaterials;
        double *out = NULL;
        stop_on(HT_ALLOC(out, size));
        ht_grid_own(p->grid, subgrid, &first, &last);
        for (int64_t at = first; at < last + 1 && at < planes; at++) {
            bool own = at < last;
            if (own && planes > MANY && at % MANY != 0) continue;
            stop_on(p->medium_fill(p->medium, subgrid, at, at + 1, out));
            uint64_t seed = mark(mark(HT_HASH_SEED, m), at);
            if (own) sum += ht_hash(seed, out, (size_t)size * sizeof *out);
        }
        free(out);
    }
    return add_up(sum);
}

static uint64_t state_hash(const struct ht_plan *plan, const struct ht_stepper *stepper) {
    const struct ht_grid *grid = &plan->grid;
    int coefs = ht_grid_coefs(grid);
    int64_t most = coefs * ht_grid_plane(grid, HT_PRIMARY);
    uint64_t sum = 0;
    double *out = NULL;
    stop_on(HT_ALLOC(out, most));
    for (int m = 0; m < 2; m++)
        for (int f = 0; f < plan->eq.nfields; f++) {
            enum ht_subgrid subgrid = m == 0 ? HT_PRIMARY : HT_DUAL;
            size_t size = (size_t)(coefs * ht_grid_plane(grid, subgrid));
            int64_t first, last;
            if (!ht_problem_stores(&plan->problem, subgrid, f)) continue;
            ht_grid_own(grid, subgrid, &first, &last);
            for (int64_t at = first; at < last; at++) {
                stop_on(stepper->ops->get(stepper->self, subgrid, f, coefs, at, at + 1, out));
                uint64_t seed = mark(mark(mark(HT_HASH_SEED, m), f), at);
                sum += ht_hash(seed, out, size * sizeof *out);
            }
        }
    free(out);
    return add_up(sum);
}

static void say_plan(const char *name, const struct ht_plan *plan) {
    const struct ht_medium *m = plan->medium;
    int64_t flattened = m->flattened;
    uint64_t hash = medium_hash(plan);
    /* by the fills just made */
    flattened += (int64_t)add_up((uint64_t)(m->flattened - flattened));
    if (!speaks()) return;
    printf("same %s: dt %a steps %lld cfl %a speeds %a %a %a least %a "
           "gradient %d\n",
           name, plan->problem.dt, (long long)plan->steps, plan->cfl, m->speed[0], m->speed[1],
           m->speed[2], m->speed_min, m->wall_gradient);
    printf("same %s: flattened %lld medium %016llx\n", name, (long long)flattened,
           (unsigned long long)hash);
}

/* ---- states ---- */

static void say_hash(const char *name, const char *when, uint64_t hash) {
    if (speaks()) printf("same %s: %s %016llx\n", name, when, (unsigned long long)hash);
}

static void say_measures(const char *name, const struct ht_plan *plan,
                         const struct ht_stepper *stepper, double time) {
    struct ht_state state;
    double conserved = 0, error = 0, *nodal[HT_MAX_FIELDS] = {0};
    int64_t own = ht_grid_own_total(&plan->grid, HT_PRIMARY);
    stop_on(ht_state_measure(plan, stepper, time, &state));
    if (ht_conserves_energy(plan)) stop_on(ht_conserved_energy(plan, stepper, &conserved));
    for (int f = 0; f < plan->eq.nfields; f++)
        if (ht_problem_stores(&plan->problem, HT_PRIMARY, f)) stop_on(HT_ALLOC(nodal[f], own));
    stop_on(ht_nodal_read(plan, stepper, nodal));
    stop_on(ht_nodal_error(plan, (const double *const *)nodal, time, &error));
    for (int f = 0; f < plan->eq.nfields; f++) free(nodal[f]);
    if (!speaks()) return;
    printf("sum %s energy %.17g\nsum %s conserved %.17g\nsum %s error %.17g\n", name, state.energy,
           name, conserved, name, error);
    for (int f = 0; f < plan->eq.nfields; f++)
        printf("same %s: largest %d %a\n", name, f, state.largest[f]);
}

/* Not finite at two nodes, perhaps of two ranks: all name the lower one. */
static void say_not_finite(const char *name, const struct ht_plan *plan,
                           const struct ht_stepper *stepper) {
    const struct ht_grid *grid = &plan->grid;
    int64_t size = ht_grid_plane(grid, HT_PRIMARY) * ht_grid_coefs(grid) * plan->eq.nfields;
    double *coefs = NULL;
    struct ht_state state;
    char text[MESSAGE] = "", all[MOST_RANKS][MESSAGE];
    int64_t first, last;
    bool alike = true;
    stop_on(HT_ALLOC(coefs, size));
    coefs[3] = NAN;
    ht_grid_own(grid, HT_PRIMARY, &first, &last);
    for (int64_t at = 3; at < 10; at += 5)
        if (at >= first && at < last)
            stop_on(stepper->ops->put(stepper->self, HT_PRIMARY, at, at + 1, coefs));
    free(coefs);
    bool refused = ht_state_measure(plan, stepper, 0.25, &state) == HT_ERR_NOT_FINITE;
    snprintf(text, sizeof text, "%.500s", refused ? ht_err_message() : "none");
    stop_on(ht_comm_gather(comm, text, sizeof text, all));
    for (int r = 0; r < ht_comm_size(comm); r++) alike = alike && strcmp(all[r], text) == 0;
    if (!speaks()) return;
    TEST_CHECK(refused && alike, "%s: all of %d ranks say so", name, ht_comm_size(comm));
    printf("same %s: %s\n", name, text);
}

static void run(const char *name, const struct ht_plan *plan) {
    const struct ht_tuning tuning = {.fp64 = true, .block = 1};
    struct ht_stepper stepper = {0};
    bool small = plan->grid.cells[2] <= MANY;
    if (!small) return;
    stop_on(replica_create(&plan->problem, &stepper));
    stop_on(ht_start(plan, NULL, &tuning, &stepper));
    say_hash(name, "start", state_hash(plan, &stepper));
    if (plan->problem.medium_degree < 0) {
        say_measures(name, plan, &stepper, 0);
        say_hash(name, "measured", state_hash(plan, &stepper));
        for (int n = 0; n < 2; n++)
            stop_on(stepper.ops->half_step(stepper.self, n == 0 ? HT_PRIMARY : HT_DUAL));
        say_hash(name, "stepped", state_hash(plan, &stepper));
        say_measures(name, plan, &stepper, plan->solution->exact ? plan->problem.dt : 0);
        say_not_finite(name, plan, &stepper);
    }
    ht_stepper_destroy(&stepper);
}

/* Cuts that are as unequal as they may be change nothing. */
static void recut(struct ht_plan *plan) {
    const int ranks = ht_comm_size(comm), rank = ht_comm_rank(comm);
    struct ht_slab *slab = &plan->grid.slab;
    double weights[MOST_RANKS];
    int64_t start[MOST_RANKS + 1];
    for (int r = 0; r < ranks; r++) weights[r] = r == 1 ? 1e9 : 1;
    if (ranks == 1) return;
    test_slab_cut(plan->grid.cells[2], ranks, weights, start);
    slab->first = start[rank];
    slab->last = start[rank + 1];
}

static void try_case(int number) {
    struct ht_params *params = NULL;
    struct ht_plan *plan = NULL;
    const char *name = cases[number].name;
    stop_on(read_options(fill_in(cases[number].options), &params));
    stop_on(ht_plan_create(params, comm, &plan));
    say_plan(name, plan);
    run(name, plan);
    recut(plan);
    if (cases[number].runs) run(name, plan);
    ht_plan_destroy(plan);
    ht_params_destroy(params);
}

/* ---- ownership ---- */

/* Counted over the ranks every node has one owner, and neighbours are each other's. */
static void check_owners(bool periodic) {
    struct ht_params *params = NULL;
    struct ht_plan *plan = NULL;
    int size = ht_comm_size(comm), rank = ht_comm_rank(comm), sides[2];
    int all[MOST_RANKS][2];
    bool mutual = true;
    stop_on(read_options(periodic ? BOX : BOX WALLS, &params));
    stop_on(ht_plan_create(params, comm, &plan));
    const struct ht_grid *grid = &plan->grid;
    uint64_t owned = 0, halves = 0;
    for (int m = 0; m < 2; m++) owned += (uint64_t)ht_grid_own_total(grid, (enum ht_subgrid)m);
    for (int side = 0; side < 2; side++) {
        sides[side] = ht_grid_neighbour(grid, side);
        halves += ht_measure_half(grid, HT_PRIMARY, 2, side);
    }
    stop_on(ht_comm_gather(comm, sides, sizeof sides, all));
    for (int r = 0; r < size; r++)
        for (int side = 0; side < 2; side++)
            if (all[r][side] >= 0) mutual = mutual && all[all[r][side]][1 - side] == r;
    int missing = (all[0][0] < 0) + (all[size - 1][1] < 0);
    mutual = mutual && missing == (periodic && size > 1 ? 0 : 2);
    owned = add_up(owned);
    halves = add_up(halves);
    int64_t nodes = ht_grid_total(grid, HT_PRIMARY) + ht_grid_total(grid, HT_DUAL);
    if (rank == 0) {
        TEST_CHECK(owned == (uint64_t)nodes, "%d ranks, periodic %d: %llu owners of %lld nodes",
                   size, periodic, (unsigned long long)owned, (long long)nodes);
        TEST_CHECK(mutual, "%d ranks, periodic %d: neighbours are mutual", size, periodic);
        TEST_CHECK(halves == (periodic ? 0 : 2), "%d ranks, periodic %d: %llu ends weigh half",
                   size, periodic, (unsigned long long)halves);
    }
    ht_plan_destroy(plan);
    ht_params_destroy(params);
}

/* ---- refusals ---- */

/* Every rank prints its error message. */
static void refuse(const char *options) {
    struct ht_params *params = NULL;
    struct ht_plan *plan = NULL;
    enum ht_err err = read_options(fill_in(options), &params);
    if (err == HT_OK) err = ht_plan_create(params, comm, &plan);
    printf("rank %d is told %d: %s\n", ht_comm_rank(comm), (int)err,
           err == HT_OK ? "nothing" : ht_err_message());
    fflush(stdout);
    ht_plan_destroy(plan);
    ht_params_destroy(params);
}

static bool try_refusal(const char *what) {
    const char *const late =
        BOX TAYLOR "medium.type=expression; medium.c=\"1 - 2*step(x3 - 1.35)*step(1.45 - "
                   "x3)\"";
    if (strcmp(what, "refuse") == 0) {
        refuse(late);
    } else if (strcmp(what, "missing") == 0) {
        bool last = ht_comm_rank(comm) == ht_comm_size(comm) - 1;
        refuse(last ? BOX WALLS "initial.type=file; "
                                "initial.file=\"%s/none.h5\""
                    : BOX WALLS "initial.type=file; initial.file=\"%s/u.h5\";"
                                "initial.values={p=\"u\";}");
    } else if (strcmp(what, "flat") == 0) {
        refuse("grid.cells=[8, 8]");
    } else if (strcmp(what, "thin") == 0) {
        refuse(BOX "parallel.halo_depth=64");
    } else {
        return false;
    }
    return true;
}

int main(int count, char **list) {
    stop_on(ht_comm_start(&comm));
    if ((directory = scratch_make("mpi-plan")) == NULL) return 1;
    write_files();
    if (count > 1) {
        bool known = try_refusal(list[1]);
        remove_files();
        ht_comm_end(comm, true, known ? 0 : 1);
        return known ? 0 : 1;
    }
    for (int n = 0; n < CASES; n++) try_case(n);
    check_owners(false);
    check_owners(true);
    remove_files();
    bool first = speaks();
    ht_comm_end(comm, false, 0);
    return first ? test_end("plan") : 0;
}
