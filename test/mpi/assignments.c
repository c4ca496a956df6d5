/* Which ranks share a device and which device each takes, from lists of devices as ranks may see
 * them (see assignments.sh). The ranks share this machine. */
#include "test.h"

#include "htwave/simulation.h"

static struct ht_comm *comm;
static int rank, ranks;

enum { MOST_RANKS = 16 };

static struct ht_device_info gpu(int index, const char *id) {
    struct ht_device_info info = {.index = index, .backend = "cuda", .name = "G", .gpu = true};
    snprintf(info.id, sizeof info.id, "%s", id);
    return info;
}

/* On rank 0 alone, of a count over all. */
static void judge(int wrong, const char *what) {
    double all = wrong;
    if (ht_comm_sum(comm, 1, &all) != HT_OK) exit(1);
    if (rank == 0) TEST_CHECK(all == 0, "%d ranks: %s: %g wrong", ranks, what, all);
}

static void judge_assignments(const struct ht_device_info *info, const int first[MOST_RANKS],
                              const char *what) {
    struct ht_assignment *assignment = NULL;
    int wrong = 0;
    if (ht_ranks_assignments(comm, info, &assignment) != HT_OK) exit(1);
    for (int r = 0; r < ranks; r++) wrong += assignment[r].first != first[r];
    free(assignment);
    judge(wrong, what);
}

static void test_assignments(void) {
    const int own[MOST_RANKS] = {0, 1, 2, 3}, shared[MOST_RANKS] = {0},
              none[MOST_RANKS] = {-1, -1, -1, -1}, pairs[MOST_RANKS] = {0, 1, 0, 1};
    char id[40];
    snprintf(id, sizeof id, "%d", rank);
    struct ht_device_info info = gpu(0, id);
    judge_assignments(&info, own, "each has its own GPU, all call it number 0");
    info = gpu(rank, "alike");
    judge_assignments(&info, shared, "one GPU with a different number per rank");
    info = gpu(rank % 2, "");
    judge_assignments(&info, pairs, "GPUs of unknown identity, by their numbers");
    judge_assignments(NULL, none, "no device");
}

static void judge_sharer(int count, const struct ht_device_info *infos, int expected,
                         const char *what) {
    int sharer = -1;
    if (ht_ranks_sharer(comm, count, infos, &sharer) != HT_OK) exit(1);
    judge(sharer != expected, what);
}

static void test_sharers(void) {
    const struct ht_device_info all[] = {gpu(0, "a"), gpu(1, "b"), gpu(0, "c"), gpu(1, "d")};
    judge_sharer(4, all, rank, "all see the same");
    judge_sharer(2, rank % 2 ? &all[2] : all, rank / 2, "two sets, in turn");
    judge_sharer(rank % 2, all, rank / 2, "every other sees none");
    judge_sharer(1 + rank, all, 0, "each sees one more");
}

static void test_text(void) {
    struct ht_assignment assignment[MOST_RANKS];
    struct ht_text text = {0};
    for (int r = 0; r < 3; r++) {
        assignment[r] = (struct ht_assignment){.machine = 0, .first = r % 2};
        snprintf(assignment[r].name, sizeof assignment[r].name, "G");
    }
    ht_ranks_add_devices(3, assignment, &text);
    TEST_CHECK(strcmp(text.data, "3 ranks on 2 x G") == 0, "\"%s\"", text.data);
    ht_text_free(&text);
    for (int r = 0; r < 3; r++) assignment[r].first = -1;
    ht_ranks_add_devices(3, assignment, &text);
    TEST_CHECK(strcmp(text.data, "3 ranks, no device") == 0, "\"%s\"", text.data);
    ht_text_free(&text);
}

int main(void) {
    if (ht_comm_start(&comm) != HT_OK) return 1;
    rank = ht_comm_rank(comm);
    ranks = ht_comm_size(comm);
    if (ranks > 4) return 1; /* what is expected is written down for four */
    test_assignments();
    test_sharers();
    if (rank == 0) test_text();
    ht_comm_end(comm, false, 0);
    return rank == 0 ? test_end("assignments") : 0;
}
