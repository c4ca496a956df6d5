#include "app.h"

static enum ht_err read_integers(const struct ht_args *args, const char *flag, int most, int room,
                                 int *count, int *out) {
    int n = 0;
    HT_FREED int *list = NULL;
    TRY(ht_args_integers(args, flag, 1, most, &n, &list));
    if (n == 0) return HT_OK;
    *count = n < room ? n : room;
    memcpy(out, list, (size_t)*count * sizeof *out);
    return HT_OK;
}

enum ht_err ht_sweep_read(const struct ht_args *args, bool differences, struct ht_sweep *out) {
    const int most = differences ? 2 * HT_FD_RADIUS : HT_MAX_ORDER;
    *out = (struct ht_sweep){.systems = ht_args_value(args, "--systems"),
                             .schemes = ht_args_value(args, "--schemes"),
                             .precisions = ht_args_value(args, "--precisions"),
                             .variants = ht_args_value(args, "--variants"),
                             .layouts = ht_args_value(args, "--layouts"),
                             .backend = ht_args_value(args, "--backend"),
                             .device = ht_args_value(args, "--device"),
                             .cache = ht_args_value(args, "--cache"),
                             .ndims = 1,
                             .dims = {3},
                             .differences = differences};
    out->dims_given = ht_args_value(args, "--dims") != NULL;
    if (out->backend == NULL) out->backend = "auto";
    if (out->device == NULL) out->device = "auto";
    if (out->cache == NULL) out->cache = "auto";
    TRY(read_integers(args, "--orders", most, HT_SWEEP_ORDERS, &out->norders, out->orders));
    TRY(read_integers(args, "--dims", 3, HT_SWEEP_DIMS, &out->ndims, out->dims));
    for (int n = 0; n < out->norders; n++)
        REQUIRE(out->orders[n] <= HT_MAX_ORDER || out->orders[n] % 2 == 0, HT_ERR_INPUT,
                "--orders %d: N must be 1..%d, orders of fd 2, 4 .. %d", out->orders[n],
                HT_MAX_ORDER, 2 * HT_FD_RADIUS);
    enum { MOST = 64 };
    static const char *const precisions[] = {"single", "double"};
    static const char *const layouts[] = {"tensor", "blocked"};
    static const char *const backends[] = {"auto", "cuda", "opencl"};
    const char *name[MOST];
    int count = 0;
    for (; count < ht_system_count() && count < MOST; count++)
        name[count] = ht_system_at(count)->name;
    TRY(ht_args_names("--systems", out->systems, count, name));
    for (count = 0; count < ht_variant_count() && count < MOST; count++)
        name[count] = ht_variant_at(count)->name;
    if (out->differences) name[count++] = "auto";
    TRY(ht_args_names("--variants", out->variants, count, name));
    count = 0;
    for (int i = 0; i < ht_scheme_count() && count < MOST; i++)
        if (!ht_scheme_at(i)->nodal || out->differences) name[count++] = ht_scheme_at(i)->name;
    TRY(ht_args_names("--schemes", out->schemes, count, name));
    TRY(ht_args_names("--backend", out->backend, 3, backends));
    TRY(ht_args_names("--precisions", out->precisions, 2, precisions));
    return ht_args_names("--layouts", out->layouts, 2, layouts);
}

bool ht_sweep_block(const struct ht_sweep *sweep, int block) {
    return ht_args_listed(sweep->layouts, block > 1 ? "blocked" : "tensor");
}

bool ht_sweep_scheme(const struct ht_sweep *sweep, const struct ht_scheme *scheme) {
    if (scheme->nodal && !sweep->differences) return false;
    return ht_args_listed(sweep->schemes, scheme->name);
}

bool ht_sweep_precision(const struct ht_sweep *sweep, bool fp64) {
    return ht_args_listed(sweep->precisions, fp64 ? "double" : "single");
}
