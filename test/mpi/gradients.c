/* Gradients in slabs against one process, bit by bit: sums at the nodes and derivatives by
 * amplitudes of sources, for random derivatives by what receivers read. Sources and receivers stand
 * at the planes where slabs end; terms, density, depth of halos and where the forward field comes
 * from differ.
 *
 *     gradients [CACHE] */
#include "mpi/trial.h"
#include "must.h"
#include "options.h"

#include "src/fd/fd_gradient.h"

struct kind {
    const char *name, *options;
    struct ht_gradient_choice choice;
};

#define BOX                                                                                       \
    "system=acoustic|grid={cells=[24,19,33];upper=[24.0,19.0,33.0];order=4;}|initial.type=zero|"  \
    "time.scheme=fd|time.end=16|device.tune=never|device.selfcheck=false|output.snapshots=false|" \
    "output.pictures=false|sources=({position=[12.0,9.3,16.6];frequency=0.1;},"                   \
    "{position=[13.2,8.0,11.0];frequency=0.08;kind=\"force\";direction=[0.0,0.6,0.8];})|"         \
    "receivers=({type=\"line\";count=5;from=[11.2,8.1,12.4];to=[14.0,9.0,21.0];fields=[\"p\","    \
    "\"p_x3\"];})|"
#define ROUGH "medium={type=\"expression\";c=\"1-0.4*step(sin(1.3*x1)+cos(1.7*x3))\";rho=1.5;}|"
#define DENSE                                                                \
    "medium={type=\"expression\";c=\"1-0.4*step(sin(1.3*x1)+cos(1.7*x3))\";" \
    "rho=\"1+2*step(cos(1.1*x1+0.8*x3))\";}|"
static const struct kind kinds[] = {
    {"density, layers, stored",
     BOX DENSE "boundary={x1=\"absorbing\";x2=\"periodic\";x3=\"periodic\";}|time.stages=1",
     {.field = HT_GRADIENT_STORE}},
    {"2 terms, sponge, checkpoints",
     BOX ROUGH "boundary={x1=\"rigid\";x2=\"free\";x3=\"absorbing\";}|absorbing.type=sponge|"
               "time.stages=2|parallel.halo_depth=2",
     {.field = HT_GRADIENT_CHECKPOINT}},
    {"density, 2 terms, free, backwards",
     BOX DENSE "boundary={x1=\"rigid\";x2=\"periodic\";x3=[\"free\",\"absorbing\"];}|"
               "absorbing.type=sponge|time.stages=2",
     {.field = HT_GRADIENT_REVERSE}},
};

/* A run of a group of ranks, NULL: of this one alone. */
struct shot {
    struct ht_simulation *sim;
    struct ht_gradient *gradient;
};

static void take(struct shot *s, const struct ht_params *params, struct ht_comm *comm,
                 const struct ht_gradient_choice *given) {
    struct ht_gradient_choice choice = *given;
    struct ht_gradient_facts facts;
    *s = (struct shot){.sim = NULL};
    must(ht_simulation_plan(params, comm, NULL, &s->sim));
    must(ht_simulation_compile(s->sim));
    must(ht_simulation_start(s->sim));
    const struct ht_plan *plan = s->sim->plan;
    const struct ht_stepper *stepper = &s->sim->run.stepper;
    const int64_t last = ht_resampling_last(plan);
    const int64_t values = (last + 1) * plan->receivers->traces;
    HT_FREED double *r = NULL;
    must(HT_ALLOC(r, values));
    for (int64_t i = 0; i < values; i++) r[i] = ht_rng_uniform(7, (uint64_t)i);
    if (choice.field == HT_GRADIENT_CHECKPOINT) {
        const struct ht_gradient_choice store = {.field = HT_GRADIENT_STORE};
        must(ht_gradient_create(plan, stepper, &store, &s->gradient));
        ht_gradient_facts(s->gradient, &facts);
        ht_gradient_destroy(s->gradient);
        choice.memory = facts.field_bytes / 2;
    }
    must(ht_gradient_create(plan, stepper, &choice, &s->gradient));
    must(ht_gradient_aim(s->gradient, plan->receivers));
    for (int64_t n = 0; n <= last; n++) {
        if (n > 0) must(ht_stepper_advance(stepper, 1));
        must(ht_gradient_look(s->gradient, n));
    }
    must(ht_gradient_run(s->gradient, r));
}

static void finish(struct shot *s) {
    ht_gradient_destroy(s->gradient);
    ht_simulation_destroy(s->sim);
}

/* Numbers that differ on own planes. */
static double differences(const struct shot *together, const struct shot *alone, double *all) {
    const struct ht_plan *plan = together->sim->plan;
    const struct ht_range own = ht_grid_own(&plan->grid, HT_PRIMARY);
    const int64_t nodes = (own.last - own.first) * ht_grid_plane(&plan->grid, HT_PRIMARY);
    const int64_t amplitudes = (ht_resampling_last(plan)) * plan->shots->count;
    double wrong = 0, *values[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) must(HT_ALLOC(values[i], nodes));
    for (int i = 0; i < HT_GRADIENT_SUMS; i++) {
        const enum ht_gradient_sum sum = (enum ht_gradient_sum)i;
        if (!ht_gradient_has(together->gradient, sum)) continue;
        must(ht_gradient_get(together->gradient, sum, own.first, own.last, values[0]));
        must(ht_gradient_get(alone->gradient, sum, own.first, own.last, values[1]));
        for (int64_t n = 0; n < nodes; n++) {
            wrong += values[0][n] != values[1][n];
            *all += values[0][n] != 0;
        }
    }
    for (int stage = 0; stage < 2; stage++) {
        const double *x = together->gradient->amplitude[stage ? HT_FD_BY_STAGE : HT_FD_BY_UPDATE];
        const double *y = alone->gradient->amplitude[stage ? HT_FD_BY_STAGE : HT_FD_BY_UPDATE];
        for (int64_t i = 0; x != NULL && i < amplitudes; i++) wrong += x[i] != y[i];
    }
    for (int i = 0; i < 2; i++) free(values[i]);
    return wrong;
}

static void judge(const struct scene *scene, const struct kind *kind) {
    HT_ENDED(ht_params_end) struct ht_params *params = NULL;
    struct shot together, alone;
    double numbers[2] = {0};
    must(test_params(NULL, '|', &params, "device.select=%s|device.backend=%s|%s", test_select(),
                     test_backend(), kind->options));
    take(&together, params, scene->comm, &kind->choice);
    take(&alone, params, NULL, &kind->choice);
    numbers[0] = differences(&together, &alone, &numbers[1]);
    must(ht_comm_sum(scene->comm, 2, numbers));
    TEST_CHECK(numbers[0] == 0 && numbers[1] > 0, "%d ranks, %s: %.0f of %.0f numbers differ",
               ht_comm_size(scene->comm), kind->name, numbers[0], numbers[1]);
    finish(&together);
    finish(&alone);
}

int main(int argc, char **argv) {
    struct scene scene;
    const bool here = scene_open(&scene, argc, argv);
    /* in turn by 2 and 3 ranks (test/mpi/gradients.sh) */
    const bool turn = here && ht_comm_size(scene.comm) == 3;
    for (size_t i = 0; here && i < sizeof kinds / sizeof *kinds; i++)
        if (test_all() || (i == 1) == turn) judge(&scene, &kinds[i]);
    return scene_close(&scene, "gradients");
}
