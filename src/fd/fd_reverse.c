/* The forward field from the run backwards (fd_shell.c). */
#include "fd_gradient.h"

struct reverse {
    struct ht_fd_past past;
    struct ht_fd_shell *shell;
};

static enum ht_err begin(struct ht_fd_past *past) {
    struct reverse *r = (struct reverse *)past;
    ht_fd_shell_leave(r->shell);
    return ht_fd_shell_record(r->shell);
}

/* The stage of the step back was made for the sums of n + 1. */
static enum ht_err show(struct ht_fd_past *past, int64_t n) {
    struct ht_runner *r = &past->forward->r;
    if (n == past->steps) return ht_fd_shell_back(((struct reverse *)past)->shell);
    TRY(r->ops->before(r, HT_PRIMARY));
    TRY(ht_runner_run(r, &r->passes, r->passes.count - 1, r->passes.count));
    r->ops->after(r, 1);
    return HT_OK;
}

static void end(struct ht_fd_past *past) {
    ht_fd_shell_leave(((struct reverse *)past)->shell);
}

static void destroy(struct ht_fd_past *past) {
    ht_fd_shell_destroy(((struct reverse *)past)->shell);
    free(past);
}

static const struct ht_fd_past_ops ops = {
    .begin = begin, .show = show, .end = end, .destroy = destroy};

enum ht_err ht_fd_reverse_create(const struct ht_fd_past *of,
                                 const struct ht_fd_shell_choice *choice, struct ht_fd_past **out) {
    struct ht_fd_shell_bytes bytes;
    struct reverse *r = NULL;
    enum ht_err err = HT_ALLOC(r, 1);
    if (err == HT_OK) err = ht_fd_shell_create(of->forward, choice, &r->shell);
    err = ht_comm_agree(of->forward->problem.grid->slab.comm, err);
    *out = NULL;
    if (err != HT_OK) {
        free(r);
        return err;
    }
    ht_fd_shell_size(r->shell, &bytes);
    r->past = *of;
    r->past.ops = &ops;
    r->past.sign = -1;
    r->past.facts = (struct ht_gradient_facts){.field = HT_GRADIENT_REVERSE,
                                               .segments = 1,
                                               .field_bytes = bytes.device,
                                               .host = bytes.host,
                                               .file = choice->folder != NULL ? bytes.records : 0};
    *out = &r->past;
    return HT_OK;
}
