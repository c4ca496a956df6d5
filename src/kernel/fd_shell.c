/* Host side of cl/fd_shell.cl. */
#include "tool.h"
#include "tool_args.h"

#include "htwave/fd_kernel.h"

_Static_assert(HT_FD_SHELL_BOXES == HT_SHELL_BOXES && HT_FD_SHELL_RECORDS == HT_SHELL_RECORDS,
               "boxes and records of cl/tool_args.h");

enum { TAKE, PUT };                            /* entries */
enum { ITEMS = 64, LANES = 16 };               /* of a group, of a block */
enum { ALIGNED = 128, CODED = 2, FACTOR = 4 }; /* bytes */

void ht_fd_shell_add(struct ht_fd_shell_form *form, const struct ht_fd_box *box) {
    int64_t n[3];
    for (int k = 0; k < 3; k++) n[k] = box->end[k] - box->begin[k];
    if (n[0] <= 0 || n[1] <= 0 || n[2] <= 0) return;
    const int64_t blocks = ht_divide_up(n[0] * n[1], HT_FD_SHELL_BLOCK);
    form->box[form->count++] = (struct ht_fd_shell_box){*box, form->blocks, blocks};
    form->blocks += blocks * n[2];
    form->factors =
        form->blocks * HT_FD_SHELL_BLOCK * (form->coded ? CODED : ht_real_size(form->fp64));
    const int64_t bytes = form->factors + (form->coded ? form->blocks * FACTOR : 0);
    form->bytes = ht_divide_up(bytes, ALIGNED) * ALIGNED;
}

HT_ERR ht_fd_shell_kernels_create(struct ht_device *device, bool fp64, bool coded,
                                  struct ht_tool **out) {
    int lanes = LANES;
    while (lanes > ht_tool_info(device)->max_group) lanes /= 2;
    const struct ht_recipe recipe = {.what = "kernels of shells",
                                     .fp64 = fp64,
                                     .items = ITEMS,
                                     .number = {{"SHELL_BLOCK", HT_FD_SHELL_BLOCK},
                                                {"SHELL_LANES", lanes},
                                                {"SHELL_CODED", coded}},
                                     .file = {"tool_args.h", "fd_shell.cl"},
                                     .entry = {"ht_shell_take", "ht_shell_put"},
                                     .parts = true,
                                     .now = true};
    return ht_tool_create(device, &recipe, &(struct ht_tool){.device = NULL},
                          sizeof(struct ht_tool), out);
}

/* Of the planes [first, last); returns the blocks. */
static int64_t args_of(const struct ht_fd_shell_form *form, int64_t first, int64_t last,
                       struct ht_shell_args *out) {
    int64_t all = 0;
    *out = (struct ht_shell_args){.bytes = (long)form->bytes, .factors = (long)form->factors};
    HT_EACH_BY(i, const struct ht_fd_box, box, &form->box[i].box, HT_FD_SHELL_BOXES) {
        out->blocks[i] = 1;
        if (i < form->count) {
            const int64_t low = ht_most(first, box->begin[2]);
            const int64_t planes = ht_most(ht_least(last, box->end[2]) - low, 0);
            out->row = (long)box->row;
            out->plane = (long)box->plane;
            out->node[i] = (long)(low * box->plane + box->begin[1] * box->row + box->begin[0]);
            out->block[i] =
                (long)(form->box[i].first + (low - box->begin[2]) * form->box[i].blocks);
            out->blocks[i] = (int)form->box[i].blocks;
            out->wide[i] = (int)(box->end[0] - box->begin[0]);
            out->count[i] = (int)(box->end[1] - box->begin[1]) * out->wide[i];
            all += planes * form->box[i].blocks;
        }
        out->begin[i + 1] = (int)all;
    }
    return all;
}

static HT_ERR launch(struct ht_tool *tool, enum ht_step_part part, int entry, int64_t blocks,
                     int count, const struct ht_arg *arg) {
    const int each = tool->recipe.items / (int)ht_least(tool->recipe.items, LANES);
    const int64_t groups[3] = {ht_divide_up(blocks, each), 1, 1};
    REQUIRE(blocks <= INT32_MAX, HT_ERR_DEVICE,
            "a shell of %lld blocks: kernels count up to %d; more ranks have smaller ones",
            (long long)blocks, INT32_MAX);
    return blocks == 0 ? HT_OK : ht_tool_launch(tool, part, entry, groups, count, arg);
}

HT_ERR ht_fd_shell_take(struct ht_tool *tool, const struct ht_fd_shell_form *form,
                        struct ht_buffer *u, double level, struct ht_buffer *ring, int64_t slot) {
    struct ht_shell_args args;
    const int64_t blocks = args_of(form, 0, INT64_MAX, &args);
    args.slot[0] = (long)slot;
    return launch(tool, HT_PART_INTERIOR, TAKE, blocks,
                  HT_ARGS(HT_VALUE(args), ht_tool_reals(tool, 1, &level), HT_BUFFER(u),
                          HT_BUFFER(ring), HT_BUFFER(ring)));
}

HT_ERR ht_fd_shell_put(struct ht_tool *tool, enum ht_step_part part,
                       const struct ht_fd_shell_form *form, int64_t first, int64_t last,
                       const struct ht_fd_shell_sum *sum, struct ht_buffer *ring,
                       struct ht_buffer *old, struct ht_buffer *u, struct ht_buffer *d) {
    struct ht_shell_args args;
    double weight[HT_FD_SHELL_RECORDS];
    const int64_t blocks = args_of(form, first, last, &args);
    args.records = sum->count;
    for (int j = 0; j < sum->count; j++) args.slot[j] = (long)sum->record[j];
    memcpy(weight, sum->weight, sizeof weight);
    return launch(tool, part, PUT, blocks,
                  HT_ARGS(HT_VALUE(args), ht_tool_reals(tool, HT_FD_SHELL_RECORDS, weight),
                          HT_BUFFER(ring), HT_BUFFER(ring), HT_BUFFER(old), HT_BUFFER(u),
                          HT_BUFFER(d)));
}
