/* Ranks whose devices differ in kind refuse to measure scaling together, in one
 * message, before a file exists: rank 1 gets the description of another kind of
 * device.
 *
 *     unlike DIR    DIR is where results would go
 */
#include "htwave/bench.h"
#include "htwave/comm.h"
#include "htwave/ranks.h"
#include "open_device.h"
#include "test.h"

static struct ht_comm *comm;

/* A kind of device, and flags that leave less to it. */
struct kind {
    const char *name;
    bool other_gpu, other_fp64;
    int64_t side;
    const char *variants, *layouts, *precisions;
};

static const struct kind kinds[] = {
    {.name = "a GPU beside a CPU", .other_gpu = true},
    {.name = "a GPU beside a CPU, all chosen by flags",
     .other_gpu = true,
     .side = 4,
     .variants = "monolithic",
     .layouts = "tensor",
     .precisions = "single"},
    {.name = "no double precision beside some",
     .other_fp64 = true,
     .side = 4,
     .precisions = "single,double"},
};

static enum ht_err measure(const struct kind *kind, struct ht_device *device,
                           const char *directory) {
    struct ht_device_info info = *ht_device_info(device);
    if (ht_comm_rank(comm) == 1 && kind->other_gpu) info.gpu = !info.gpu;
    if (ht_comm_rank(comm) == 1 && kind->other_fp64) info.fp64 = !info.fp64;
    struct ht_bench bench = {.sweep = {.variants = kind->variants,
                                       .layouts = kind->layouts,
                                       .precisions = kind->precisions,
                                       .norders = 1,
                                       .orders = {1}},
                             .device = device,
                             .info = &info,
                             .directory = directory,
                             .side = kind->side,
                             .gib = 0.001,
                             .seconds = 60,
                             .csv = true,
                             .comm = comm,
                             .halo = {.depth = 1}};
    enum ht_err err = ht_bench_scaling(&bench, 0, 0);
    free(bench.row);
    return err;
}

static void judge(const struct kind *kind, struct ht_device *device,
                  const char *directory) {
    const char *words = "bench scaling: rank 1 has another kind of ";
    enum ht_err err = measure(kind, device, directory);
    double unlike = err != HT_ERR_INPUT ||
                    strncmp(ht_err_message(), words, strlen(words)) != 0;
    char told[160];
    snprintf(told, sizeof told, "%s", err == HT_OK ? "" : ht_err_message());
    if (ht_comm_max(comm, 1, &unlike) != HT_OK) unlike = 1;
    if (ht_comm_rank(comm) > 0) return;
    TEST_CHECK(unlike == 0, "%s: %s", kind->name, told);
    TEST_CHECK(!ht_file_exists(directory), "%s: nothing is left", kind->name);
}

int main(int argc, char **argv) {
    struct ht_device *device = NULL;
    enum ht_err err = ht_comm_start(&comm);
    if (err != HT_OK || argc < 2 || ht_comm_size(comm) < 2) return 2;
    bool first = ht_comm_rank(comm) == 0;
    err = ht_ranks_open(comm, test_backend(), test_select(), &device);
    if (ht_comm_agree(comm, err) != HT_OK) {
        if (first) TEST_SKIP("no device: %s", ht_err_message());
        if (first) test_plan();
        ht_comm_end(comm, true, 0);
        return 0;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        judge(&kinds[i], device, argv[1]);
    ht_device_close(device);
    ht_comm_end(comm, false, 0);
    if (first) test_plan();
    return test_failed > 0;
}
