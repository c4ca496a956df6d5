#include "htwave/simulation.h"

struct program {
    uint64_t hash; /* of its file, or of the version where that is unreadable */
    char version[48], command[32];
};

static uint64_t hash_text(uint64_t seed, const char *text) {
    return ht_hash(seed, text, strlen(text) + 1);
}

HT_ERR ht_ranks_check_program(struct ht_comm *comm, const char *command) {
    int ranks = ht_comm_size(comm);
    struct program own;
    if (ranks == 1) return HT_OK;
    memset(&own, 0, sizeof own);
    snprintf(own.version, sizeof own.version, "%s", HT_VERSION);
    snprintf(own.command, sizeof own.command, "%s", command);
    if (ht_file_hash("/proc/self/exe", &own.hash) != HT_OK)
        own.hash = hash_text(HT_HASH_SEED, HT_VERSION);
    HT_ARRAY(struct program, all, ranks);
    TRY(ht_comm_gather(comm, &own, sizeof own, all));
    /* The same result on all ranks. */
    HT_FREED_TEXT struct ht_text others = {0};
    for (int r = 1; r < ranks; r++)
        if (all[r].hash != all[0].hash)
            ht_text_add(&others, "%srank %d (version %s)", others.length > 0 ? ", " : "", r,
                        all[r].version);
    TRY(ht_text_status(&others));
    REQUIRE(others.length == 0, HT_ERR_INPUT,
            "not the program of rank 0 (version %s): %s; all ranks must run the same file",
            all[0].version, others.data);
    for (int r = 1; r < ranks; r++)
        REQUIRE(strcmp(all[r].command, all[0].command) == 0, HT_ERR_INPUT,
                "rank %d has the command \"%s\", rank 0 has \"%s\": all ranks must have the same",
                r, all[r].command, all[0].command);
    return HT_OK;
}

HT_ERR ht_ranks_check_flags(const struct ht_args *args) {
    uint64_t own = args->json + 2u * args->help, rank0;
    if (ht_comm_size(args->comm) == 1) return HT_OK;
    for (int i = 0; i < HT_MAX_FLAGS; i++) {
        bool given = args->value[i] != NULL;
        own = ht_hash(own, &given, sizeof given);
        if (given) own = hash_text(own, args->value[i]);
    }
    rank0 = own;
    TRY(ht_comm_broadcast(args->comm, &rank0, sizeof rank0));
    return ht_comm_agree(
        args->comm,
        own == rank0 ? HT_OK : ht_err_set(HT_ERR_INPUT, "flags differ from those of rank 0"));
}

static HT_ERR compare_params(const char *own, const char *rank0) {
    const int most = 60;
    if (strcmp(own, rank0) == 0) return HT_OK;
    /* The lines in which two texts first differ. */
    const char *x = own, *y = rank0;
    for (; *x != '\0' && *x == *y; x++, y++)
        if (*x == '\n') {
            own = x + 1;
            rank0 = y + 1;
        }
    own += strspn(own, " ");
    rank0 += strspn(rank0, " ");
    const int n = (int)strcspn(own, "\n"), n0 = (int)strcspn(rank0, "\n");
    FAIL(HT_ERR_INPUT,
         "parameters differ from those of rank 0: \"%.*s\", not \"%.*s\"; all ranks must read the "
         "same input",
         n < most ? n : most, own, n0 < most ? n0 : most, rank0);
}

HT_ERR ht_ranks_check_params(struct ht_comm *comm, const struct ht_params *params) {
    HT_FREED_TEXT struct ht_text own = {0};
    HT_FREED char *rank0 = NULL;
    if (ht_comm_size(comm) == 1) return HT_OK;
    enum ht_err err = ht_params_print(params, &own);
    if (err == HT_OK) err = ht_comm_broadcast_text(comm, own.data, &rank0);
    if (err == HT_OK) err = compare_params(own.data, rank0);
    return ht_comm_agree(comm, err);
}

static int machine_of(const struct ht_comm *comm) {
    int rank = 0;
    while (!ht_comm_same_machine(comm, rank)) rank++;
    return rank;
}

/* A launcher may show each process only its own devices: then numbers mean nothing to other ranks.
 * They count where the hardware is not identified. */
static uint64_t hash_device(const struct ht_comm *comm, const struct ht_device_info *info) {
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    const bool known = info->id[0] != '\0';
    const int place[2] = {machine_of(comm), known ? 0 : info->index};
    uint64_t hash = ht_hash(HT_HASH_SEED, place, sizeof place);
    hash = hash_text(hash_text(hash_text(hash, info->backend), info->name), info->id);
    return visible != NULL && info->gpu && !known ? hash_text(hash, visible) : hash;
}

HT_ERR ht_ranks_sharer(struct ht_comm *comm, int count, const struct ht_device_info *infos,
                       int *out) {
    const int place[2] = {machine_of(comm), count};
    uint64_t own = ht_hash(HT_HASH_SEED, place, sizeof place);
    *out = 0;
    for (int i = 0; i < count; i++) {
        const uint64_t device = hash_device(comm, &infos[i]);
        own = ht_hash(own, &device, sizeof device);
    }
    HT_ARRAY(uint64_t, all, ht_comm_size(comm));
    TRY(ht_comm_gather(comm, &own, sizeof own, all));
    for (int r = 0; r < ht_comm_rank(comm); r++) *out += all[r] == own;
    return HT_OK;
}

HT_ERR ht_ranks_open(struct ht_comm *comm, const char *backend, const char *select,
                     struct ht_device **out) {
    HT_FREED struct ht_device_info *infos = NULL;
    int count = 0, sharer = 0;
    /* A rank without a list still takes part: the others wait for it. */
    enum ht_err listed = ht_device_list(&count, &infos);
    if (listed != HT_OK) count = 0;
    TRY(ht_ranks_sharer(comm, count, infos, &sharer));
    TRY(listed);
    return ht_device_open(backend, select, sharer, out);
}

HT_ERR ht_ranks_assignments(struct ht_comm *comm, const struct ht_device_info *info,
                            struct ht_assignment **out) {
    const int ranks = ht_comm_size(comm);
    struct ht_assignment own = {.machine = machine_of(comm)};
    if (info != NULL) own.device = hash_device(comm, info);
    if (info != NULL) snprintf(own.name, sizeof own.name, "%s", info->name);
    HT_ARRAY(struct ht_assignment, all, ranks);
    TRY(ht_comm_gather(comm, &own, sizeof own, all));
    for (int r = 0; r < ranks; r++) {
        all[r].first = all[r].device == 0 ? -1 : 0;
        while (all[r].first >= 0 && all[all[r].first].device != all[r].device) all[r].first++;
    }
    *out = all;
    all = NULL;
    return HT_OK;
}

int ht_ranks_devices(int ranks, const struct ht_assignment *assignment) {
    int count = 0;
    for (int r = 0; r < ranks; r++) count += assignment[r].first == r;
    return count;
}

int ht_ranks_machines(int ranks, const struct ht_assignment *assignment) {
    int count = 0;
    for (int r = 0; r < ranks; r++) count += assignment[r].machine == r;
    return count;
}

/* Number of devices with the name of rank r's; 0 when a lower rank has it. */
static int count_name(int ranks, const struct ht_assignment *assignment, int r) {
    int count = 0;
    for (int other = 0; other < ranks; other++) {
        if (assignment[other].first != other) continue;
        if (strcmp(assignment[other].name, assignment[r].name) != 0) continue;
        if (other < r) return 0;
        count++;
    }
    return count;
}

void ht_ranks_add_devices(int ranks, const struct ht_assignment *assignment, struct ht_text *text) {
    bool more = false;
    ht_text_add(text, "%d ranks%s", ranks,
                ht_ranks_devices(ranks, assignment) > 0 ? " on " : ", no device");
    for (int r = 0; r < ranks; r++) {
        int count = assignment[r].first == r ? count_name(ranks, assignment, r) : 0;
        if (count == 0) continue;
        ht_text_add(text, "%s%d x %s", more ? ", " : "", count, assignment[r].name);
        more = true;
    }
    int machines = ht_ranks_machines(ranks, assignment);
    if (machines > 1) ht_text_add(text, " of %d machines", machines);
}
