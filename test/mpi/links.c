/* Messages between device buffers of neighbours, without kernels (see links.sh): the ways that
 * links choose, and that patterns arrive.
 *
 *     links WISH        prints "ways BELOW ABOVE", those of rank 0
 *     links WISH lose   then the made driver loses what it copies, into buffers
 *                       that still hold what has come before */
#include "test.h"

#include "htwave/simulation.h"
#include "open_device.h"
#include "src/solve/halo.h"

static struct ht_comm *comm;

static void judge(const char *wish, const bool sound[2], bool expected, const char *when) {
    double wrong = (sound[0] != expected) + (sound[1] != expected);
    if (ht_comm_max(comm, 1, &wrong) != HT_OK) wrong = 2;
    if (ht_comm_rank(comm) == 0)
        TEST_CHECK(wrong == 0, "%d ranks, \"%s\": messages arrive%s, %s", ht_comm_size(comm), wish,
                   expected ? "" : " not", when);
}

/* A ring; the room of a message is more than the pattern fills. */
static enum ht_err carry(struct ht_device *device, const char *wish, bool lose) {
    const int rank = ht_comm_rank(comm), ranks = ht_comm_size(comm);
    struct ht_link link[2] = {{.neighbour = (rank + ranks - 1) % ranks},
                              {.neighbour = (rank + 1) % ranks}};
    bool sound[2] = {false, false};
    for (int side = 0; side < 2; side++) link[side].room = 100000 + 16;
    enum ht_err err = ht_links_create(comm, device, wish, link);
    if (err == HT_OK) err = ht_links_try(link, sound);
    if (err == HT_OK) judge(wish, sound, true, "as before");
    if (err == HT_OK && lose && setenv("FAKE_LOST", "1", 1) != 0) exit(1);
    if (err == HT_OK) err = ht_links_try(link, sound);
    if (err == HT_OK) judge(wish, sound, !lose, "once more");
    if (err == HT_OK && rank == 0) printf("ways %s %s\n", link[0].transport, link[1].transport);
    ht_links_destroy(link);
    return err;
}

int main(int argc, char **argv) {
    struct ht_device *device = NULL;
    enum ht_err err = ht_comm_start(&comm);
    if (err != HT_OK || argc < 2 || ht_comm_size(comm) < 2) return 2;
    err = ht_ranks_open(comm, test_backend(), test_select(), &device);
    err = ht_comm_agree(comm, err);
    if (err == HT_OK) err = ht_comm_agree(comm, carry(device, argv[1], argc > 2));
    if (err != HT_OK && ht_comm_rank(comm) == 0) printf("refused: %s\n", ht_err_message());
    if (ht_comm_rank(comm) == 0) test_plan();
    ht_device_close(device);
    ht_comm_end(comm, err != HT_OK, 1);
    return test_failed > 0;
}
