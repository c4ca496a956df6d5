/* Slabs in proportion to measured speeds, by one rank or several that share a
 * device (see speed.sh). What the clock says is not judged, only that it says
 * something and that the planes are shared out by it: the last of several ranks
 * has kernels that take several times as long.
 */
#include "open_device.h"
#include "test.h"

#include "htwave/ranks.h"
#include "htwave/rate.h"

enum { PLANES = 37, MOST_RANKS = 64, OPTIONS = 5 };

static struct ht_comm *comm;

static void stop_on(enum ht_err err) {
    if (err == HT_OK) return;
    printf("not ok - rank %d: %s\n", ht_comm_rank(comm), ht_err_message());
    ht_comm_end(comm, ht_comm_agree(comm, err) != HT_OK, 1);
    exit(1);
}

/* Planes for which a kernel takes much longer than its launch. */
static void make_plan(bool gpu, struct ht_params **params,
                      struct ht_plan **plan) {
    const char *const text[OPTIONS] = {
        gpu ? "grid.cells=[512, 512, 37]" : "grid.cells=[6, 5, 37]",
        "grid.order=1", "system=acoustic", "boundary.x3=rigid",
        "time.scheme=leapfrog"};
    char copy[OPTIONS][64], *list[OPTIONS];
    for (int i = 0; i < OPTIONS; i++) {
        snprintf(copy[i], sizeof copy[i], "%s", text[i]);
        list[i] = copy[i];
    }
    stop_on(ht_params_read(NULL, OPTIONS, list, params));
    stop_on(ht_plan_create(*params, comm, plan));
}

static void check_speed(const struct ht_plan *plan, struct ht_device *device,
                        struct ht_kernels *kernels) {
    double speed[MOST_RANKS], own = 0;
    int good = 0, ranks = ht_comm_size(comm);
    double began = ht_clock();
    stop_on(ht_device_speed(&plan->problem, device, kernels, &own));
    double took = ht_clock() - began, later = ht_kernels_seconds(kernels);
    stop_on(ht_comm_gather(comm, &own, sizeof own, speed));
    for (int r = 0; r < ranks; r++) good += isfinite(speed[r]) && speed[r] > 0;
    if (ht_comm_rank(comm) > 0) return;
    TEST_CHECK(good == ranks,
               "%d ranks: %d have a speed, this one %.3g cell half-steps per "
               "second, found in %.2f s",
               ranks, good, own, took);
    TEST_BELOW(later, 0, "%d ranks: device seconds left for the run's account",
               ranks);
}

static void check_cut(struct ht_plan *plan, struct ht_device *device,
                      struct ht_kernels *kernels) {
    const struct ht_grid *grid = &plan->grid;
    int64_t all[MOST_RANKS][2], own[2], end = 0;
    int ranks = ht_comm_size(comm), last = ranks - 1;
    bool joined = true;
    stop_on(ht_speed_cut(plan, device, kernels));
    ht_grid_own(grid, HT_DUAL, &own[0], &own[1]);
    stop_on(ht_comm_gather(comm, own, sizeof own, all));
    if (ht_comm_rank(comm) > 0) return;
    for (int r = 0; r < ranks; r++) {
        joined = joined && all[r][0] == end && all[r][1] > end;
        end = all[r][1];
    }
    TEST_CHECK(joined && end == PLANES, "%d ranks: all %d planes shared out",
               ranks, PLANES);
    int64_t most = 0, least = all[last][1] - all[last][0];
    for (int r = 0; r < last; r++)
        if (all[r][1] - all[r][0] > most) most = all[r][1] - all[r][0];
    if (ranks > 1) /* another may share a device with the slow one */
        TEST_CHECK(2 * least < most,
                   "%d ranks: %d planes for the slow one, up to %d for others",
                   ranks, (int)least, (int)most);
}

/* The variant for this kind of device; on the last of several ranks the plain
 * one in double precision, where there is such. */
static void make_kernels(const struct ht_plan *plan, struct ht_device *device,
                         struct ht_kernels *kernels) {
    const struct ht_device_info *info = ht_device_info(device);
    int ranks = ht_comm_size(comm);
    bool slow = ranks > 1 && ht_comm_rank(comm) == ranks - 1;
    struct ht_tuning tuning = {
        .fp64 = slow && info->fp64, .block = 1, .trim = !slow};
    const struct ht_spec spec =
        ht_problem_spec(&plan->problem, &tuning, HT_PRIMARY);
    tuning.variant =
        ht_variant_find(slow ? "monolithic" : "auto", &spec, info->gpu);
    stop_on(ht_kernels_create(&plan->problem, device, &tuning, NULL, kernels));
}

int main(void) {
    struct ht_device *device = NULL;
    struct ht_params *params = NULL;
    struct ht_plan *plan = NULL;
    struct ht_kernels kernels = {0};
    stop_on(ht_comm_start(&comm));
    bool first = ht_comm_rank(comm) == 0;
    enum ht_err err =
        ht_ranks_open(comm, test_backend(), test_select(), &device);
    if (ht_comm_agree(comm, err) != HT_OK) {
        if (first) TEST_SKIP("no device: %s", ht_err_message());
        ht_comm_end(comm, true, 0);
        return test_end("speed");
    }
    make_plan(ht_device_info(device)->gpu, &params, &plan);
    make_kernels(plan, device, &kernels);
    check_speed(plan, device, &kernels);
    check_cut(plan, device, &kernels);
    ht_kernels_destroy(&kernels);
    ht_plan_destroy(plan);
    ht_params_destroy(params);
    ht_device_close(device);
    ht_comm_end(comm, false, 0);
    return first ? test_end("speed") : 0;
}
