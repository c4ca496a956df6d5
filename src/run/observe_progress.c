/* The progress line of a run. */
#include "htwave/run.h"

static enum ht_err progress_begin(void *context, struct ht_run *run) {
    double cells = (double)ht_grid_total(&run->plan->grid, HT_DUAL);
    ht_progress_start(context, "run", (double)run->plan->steps, "cell half-steps", 2 * cells);
    return HT_OK;
}

static enum ht_err progress_look(void *context, const struct ht_view *view) {
    ht_progress_update(context, (double)view->run->steps);
    return HT_OK;
}

static void progress_end(void *context) {
    ht_progress_end(context);
}

struct ht_observer ht_observe_progress(struct ht_progress *progress) {
    return (struct ht_observer){.name = "progress",
                                .context = progress,
                                .seconds = 0.1,
                                .begin = progress_begin,
                                .look = progress_look,
                                .end = progress_end};
}
