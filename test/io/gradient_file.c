/* Sums of a gradient that are kept and taken up again, and gradient.h5 (htwave/gradient_file.h). */
#include "htwave/gradient_file.h"
#include "damage.h"
#include "htwave/h5.h"
#include "unit/medium_scene.h"

enum { N1 = 9, N2 = 7, SAMPLES = N1 * N2, SHOTS = 3 };

/* The file has x2 fastest. */
static void open_model(struct scene *scene) {
    const int64_t cells[3] = {12, 10};
    float value[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) value[i] = (float)(2 + ht_rng_uniform(1, (uint64_t)i));
    write_raw("c.f32", SAMPLES, value);
    *scene = (struct scene){.grid = make_grid(cells, 2, 3)};
    must(open_scene(
        scene, "acoustic",
        "medium.type=file; medium.c=%s; medium.shape=[7, 9]; medium.axes=[\"x2\", \"x1\"]; "
        "medium.spacing=[0.15, 0.12]; medium.origin=[0.01, 0.02]; output.units.length=km",
        path_of("c.f32")));
}

static void add_shot(struct ht_gradient_sums *sums, int shot) {
    const int64_t nodes = ht_grid_own_total(sums->grid, HT_PRIMARY);
    for (int s = 0; s < HT_GRADIENT_SUMS; s++)
        for (int64_t i = 0; i < nodes && sums->sum[s] != NULL; i++)
            sums->sum[s][i] += fabs(ht_rng_uniform(10 * (uint64_t)shot + (uint64_t)s, (uint64_t)i));
    sums->misfit[shot] = 0.1 * (shot + 1);
    sums->done = shot + 1;
}

static void make_sums(const struct scene *scene, const char *mark, int64_t shots,
                      struct ht_gradient_sums *sums) {
    must(ht_gradient_sums_create(&scene->grid, NULL, 1, shots, mark, sums));
}

/* Which goes on from the file. */
static int64_t taken_up(const struct scene *scene, const char *mark, int64_t shots,
                        const char *path, struct ht_gradient_sums *sums) {
    make_sums(scene, mark, shots, sums);
    must(ht_gradient_sums_resume(sums, path));
    return sums->done;
}

static double differences(const struct ht_gradient_sums *a, const struct ht_gradient_sums *b) {
    double count = 0;
    for (int s = 0; s < HT_GRADIENT_SUMS; s++)
        for (int64_t i = 0; a->sum[s] && i < ht_grid_total(a->grid, HT_PRIMARY); i++)
            count += a->sum[s][i] != b->sum[s][i];
    for (int i = 0; i < SHOTS; i++) count += a->misfit[i] != b->misfit[i];
    return count;
}

static void test_kept(const struct scene *scene, struct ht_gradient_sums *all) {
    HT_FREED char *path = scratch_path(scene_directory, "gradient.h5.part");
    HT_ENDED(ht_gradient_sums_destroy) struct ht_gradient_sums sums;
    TEST_CHECK(taken_up(scene, "a", SHOTS, path, all) == 0, "no file: from the first shot on");
    add_shot(all, 0);
    must(ht_gradient_sums_save(all, path));
    add_shot(all, 1);
    must(ht_gradient_sums_save(all, path));
    TEST_CHECK(taken_up(scene, "a", SHOTS, path, &sums) == 2 && differences(all, &sums) == 0,
               "two shots are taken up, bit for bit");
    add_shot(&sums, 2);
    add_shot(all, 2);
    TEST_CHECK(differences(all, &sums) == 0, "and the third one is added to the same sums");
    ht_gradient_sums_destroy(&sums);
    TEST_CHECK(taken_up(scene, "b", SHOTS, path, &sums) == 0, "not those of another input");
    ht_gradient_sums_destroy(&sums);
    TEST_CHECK(taken_up(scene, "a", SHOTS + 1, path, &sums) == 0, "nor of other shots");
    ht_gradient_sums_destroy(&sums);
    TEST_CHECK(scratch_entries(scene_directory) == 2, "no other file is left");
    make_sums(scene, "a", SHOTS, &sums);
    must(truncate(path, 2000) == 0 ? HT_OK : HT_ERR_IO);
    TEST_CHECK(ht_gradient_sums_resume(&sums, path) == HT_ERR_IO && sums.done == 0, "damaged: %s",
               ht_err_message());
}

static double read_differences(struct ht_h5 *file, const char *name, int64_t count,
                               const double *values) {
    double out[1000], differ = 0;
    must(ht_h5_read(file, name, count, out));
    for (int64_t i = 0; i < count; i++) differ += out[i] != values[i];
    return differ;
}

static void test_file(struct scene *scene, struct ht_gradient_sums *sums) {
    char c[] = "c", *name[] = {c}, *path = scratch_path(scene_directory, "gradient.h5");
    const struct ht_names names = {1, name};
    struct ht_medium_gradient *g;
    struct ht_h5 *file;
    double turned[SAMPLES], light[SAMPLES], lattice[2][2], sum[2] = {0};
    const int64_t nodes = ht_grid_total(&scene->grid, HT_PRIMARY);
    must(
        ht_medium_gradient_create(scene->medium, NULL, HT_FIT_AUTO, &names, "medium.c", false, &g));
    must(ht_medium_gradient_find(g, ht_gradient_sums_read, sums));
    must(ht_gradient_write(sums, scene->params, g, true, path));
    for (int i = 0; i < SAMPLES; i++) turned[i] = g->wanted[0].value[i % N2 * N1 + i / N2];
    must(ht_h5_open(path, &file));
    TEST_CHECK(read_differences(file, "gradient/c", SAMPLES, turned) == 0,
               "the gradient, in the order of the model file");
    must(ht_h5_read(file, "illumination/c", SAMPLES, light));
    for (int i = 0; i < SAMPLES; i++) sum[0] += light[i];
    for (int64_t i = 0; i < nodes; i++) sum[1] += sums->sum[HT_GRADIENT_ILLUMINATION][i];
    TEST_BELOW(fabs(sum[0] / sum[1] - 1), 1e-14, "the illumination's sum");
    TEST_CHECK(read_differences(file, "misfit", SHOTS, sums->misfit) == 0, "misfits");
    TEST_CHECK(
        read_differences(file, "gradient_nodes/m", nodes, sums->sum[HT_GRADIENT_COMPLIANCE]) == 0,
        "the sums at nodes");
    must(ht_h5_get_number(file, "model_origin", 2, lattice[0]));
    must(ht_h5_get_number(file, "model_spacing", 2, lattice[1]));
    TEST_CHECK(lattice[0][0] == 0.01 && lattice[0][1] == 0.02 && lattice[1][0] == 0.15 &&
                   lattice[1][1] == 0.12,
               "the lattice in the order of the model file");
    ht_h5_close(file);
    must(ht_gradient_write(sums, scene->params, g, false, path));
    must(ht_h5_open(path, &file));
    TEST_CHECK(!ht_h5_has(file, "gradient_nodes/m"), "without nodes");
    ht_h5_close(file);
    ht_medium_gradient_destroy(g);
    free(path);
}

int main(void) {
    struct scene scene;
    struct ht_gradient_sums sums;
    scene_directory = scratch_make("gradient_file");
    if (!scene_directory) return 1;
    open_model(&scene);
    test_kept(&scene, &sums);
    test_file(&scene, &sums);
    ht_gradient_sums_destroy(&sums);
    close_scene(&scene);
    scratch_remove(scene_directory);
    return test_end("gradient_file");
}
