/* The gradient by samples in slabs (htwave/medium.h, fit_average.c) against that of one process,
 * bit by bit; then a rank that cannot read its planes. */
#include "slab_cut.h"
#include "unit/medium_scene.h"

enum { SAMPLES = 13 * 9 * 21 };

/* By node and coefficient alone. */
static enum ht_err read_nodes(void *data, int coefficient, int64_t first, int64_t last,
                              double *out) {
    const struct ht_grid *grid = data;
    const int64_t plane = ht_grid_plane(grid, HT_PRIMARY);
    const struct ht_range own = ht_grid_own(grid, HT_PRIMARY);
    REQUIRE(own.first <= first && last <= own.last, HT_ERR_INTERNAL, "planes of others");
    for (int64_t i = first * plane; i < last * plane; i++)
        out[i - first * plane] = ht_rng_uniform((uint64_t)coefficient, (uint64_t)i);
    return HT_OK;
}

static enum ht_err fail_to_read(void *data, int coefficient, int64_t first, int64_t last,
                                double *out) {
    const struct ht_grid *grid = data;
    if (coefficient == 1 && ht_comm_rank(grid->slab.comm) == ht_comm_size(grid->slab.comm) - 1)
        FAIL(HT_ERR_IO, "no planes");
    return read_nodes(data, coefficient, first, last, out);
}

/* Acoustic; or elastic, by speeds and density. */
static void open_model(struct scene *scene, struct ht_comm *comm, const char *system) {
    static const double weights[8] = {1, 3, 2, 1, 2, 1, 1, 1};
    const int64_t cells[3] = {11, 8, 23};
    const int rank = ht_comm_rank(comm);
    int64_t start[9];
    *scene = (struct scene){.grid = make_grid(cells, 2, 5)};
    test_slab_cut(cells[2], ht_comm_size(comm), weights, start);
    if (comm) scene->grid.slab = (struct ht_slab){comm, start[rank], start[rank + 1], false};
    scene->grid.layer[2][1] = 3;
    char options[600];
    snprintf(options, sizeof options,
             "medium.type=file; medium.%s=%s; medium.rho=%s; medium.shape=[13, 9, 21]; "
             "medium.spacing=[0.08, 0.12, 0.049]",
             *system == 'e' ? "vs=0.1; medium.vp" : "c", path_of("model.f32"),
             path_of("model.f32"));
    must(open_scene(scene, system, "%s", options));
}

static struct ht_medium_gradient *make(const struct scene *scene) {
    const bool elastic = scene->eq.system->name[0] == 'e';
    char c[] = "c", vp[] = "vp", rho[] = "rho", *name[] = {elastic ? vp : c, rho};
    const struct ht_names names = {2, name};
    struct ht_medium_gradient *g;
    struct ht_pair pair;
    if (ht_pair_make(&scene->eq, HT_PAIR_APART, &pair) != NULL) exit(1);
    must(ht_medium_gradient_create(scene->medium, elastic ? &pair : NULL, HT_FIT_SINC, &names,
                                   "medium.type", false, &g));
    return g;
}

/* last: ranks have failed then. */
static void judge(struct ht_comm *comm, const char *system, bool last) {
    struct scene alone, cut;
    open_model(&alone, NULL, system);
    open_model(&cut, comm, system);
    struct ht_medium_gradient *one = make(&alone), *all = make(&cut);
    must(ht_medium_gradient_find(one, read_nodes, &alone.grid));
    must(ht_medium_gradient_find(all, read_nodes, &cut.grid));
    double different = 0;
    for (int w = 0; w < 2; w++)
        for (int i = 0; i < SAMPLES; i++)
            different += one->wanted[w].value[i] != all->wanted[w].value[i];
    must(ht_comm_sum(comm, 1, &different));
    TEST_CHECK(different == 0, "%s, %d ranks: the bits of one process on all ranks", system,
               ht_comm_size(comm));
    const enum ht_err err = last ? ht_medium_gradient_find(all, fail_to_read, &cut.grid) : HT_OK;
    if (last)
        TEST_CHECK(err == HT_ERR_IO && strstr(ht_err_message(), "no planes"),
                   "all learn of a failure of the last one: %s", ht_err_message());
    ht_medium_gradient_destroy(one);
    ht_medium_gradient_destroy(all);
    close_scene(&alone);
    close_scene(&cut);
}

int main(void) {
    struct ht_comm *comm = NULL;
    float model[SAMPLES];
    must(ht_comm_start(&comm));
    const int rank = ht_comm_rank(comm);
    if (rank > 0 && !freopen("/dev/null", "w", stdout)) return 1;
    scene_directory = scratch_make("fit_transpose");
    if (!scene_directory) return 1;
    for (int i = 0; i < SAMPLES; i++) model[i] = (float)(2 + ht_rng_uniform(9, (uint64_t)i) * 1.8);
    write_raw("model.f32", SAMPLES, model);
    judge(comm, "acoustic", false);
    judge(comm, "elastic", true);
    scratch_remove(scene_directory);
    const int code = test_end("fit_transpose");
    ht_comm_end(comm, false, code);
    return code;
}
