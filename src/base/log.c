/* Messages and progress, on standard error unless somebody takes them. On a terminal a progress
 * line stays open, so every message clears the line first. */
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "htwave/base.h"

#define CLEAR_LINE "\r\033[K"

static _Thread_local enum ht_log_level current = HT_LOG_NORMAL;

static _Thread_local struct {
    ht_log_take *take; /* NULL: standard error */
    void *context;
} taken;

void ht_log_to(ht_log_take *take, void *context) {
    taken.take = take;
    taken.context = context;
}

void ht_log_level_set(enum ht_log_level level) {
    current = level;
}

enum ht_log_level ht_log_level_get(void) {
    return current;
}

/* Differences are wall time even if the date is changed. */
double ht_clock(void) {
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool on_terminal(void) {
    return isatty(STDERR_FILENO) == 1;
}

/* A file name may contain terminal control sequences. */
static void print(const char *head, const char *text) {
    char shown[2048];
    flockfile(stderr);
    fprintf(stderr, "%s%s", on_terminal() ? CLEAR_LINE : "", head);
    while (*text) {
        text = ht_text_show_lines(text, 1024, shown, sizeof shown);
        fputs(shown, stderr);
    }
    fputc('\n', stderr);
    fflush(stderr);
    funlockfile(stderr);
}

static _Thread_local int warnings;
int ht_log_warnings(void) {
    return warnings;
}

static void say(const char *head, const char *fmt, va_list args) {
    HT_FREED_TEXT struct ht_text whole = {0};
    warnings += *head == 'w';
    ht_text_add_list(&whole, fmt, args);
    const char *text = whole.failed ? "(out of memory for a message)" : whole.data;
    if (taken.take != NULL)
        taken.take(taken.context, head, text);
    else
        print(head, text);
}

#define SAY(name, level, head)         \
    void name(const char *fmt, ...) {  \
        va_list args;                  \
        if (current < (level)) return; \
        va_start(args, fmt);           \
        say(head, fmt, args);          \
        va_end(args);                  \
    }
SAY(ht_log, HT_LOG_NORMAL, "")
SAY(ht_note, HT_LOG_NORMAL, "note: ")
SAY(ht_warn, HT_LOG_QUIET, "warning: ")

static const double silent_seconds = 2, terminal_seconds = 0.1, log_seconds = 10, log_pause = 1,
                    log_fraction = 0.1;

void ht_progress_start(struct ht_progress *p, const char *what, double total, const char *unit,
                       double units_per_item) {
    *p = (struct ht_progress){.what = what,
                              .unit = unit,
                              .total = total,
                              .units_per_item = units_per_item,
                              .started = ht_clock()};
    p->shown_at = p->started;
}

enum { LINE_WIDTH = 79, BAR_MAX = 30, BAR_MIN = 8 };

static void show(const struct ht_progress *p, double done, double elapsed) {
    char head[96], tail[160], rate[32], time[32], bar[64];
    double fraction = p->total > 0 ? fmin(fmax(done / p->total, 0), 1) : 1;
    bool complete = done >= p->total;
    snprintf(head, sizeof head, "%s %3.0f %% ", p->what, floor(fraction * 100));
    const double own = done - p->begun;
    ht_text_prefixed(own * p->units_per_item / fmax(elapsed, 1e-9), true, rate);
    ht_text_seconds(complete ? elapsed : elapsed * (p->total - done) / own, time);
    snprintf(tail, sizeof tail, "%s%s%s/s, %s %s", rate, strchr(rate, ' ') ? "" : " ", p->unit,
             time, complete ? "in all" : "left");
    if (on_terminal()) {
        /* The bar takes what the text leaves of the line. */
        int room = LINE_WIDTH - 3 - (int)(strlen(head) + strlen(tail));
        int width = room > BAR_MAX ? BAR_MAX : room;
        const int full = (int)(fraction * (width - 2));
        snprintf(bar, sizeof bar, "[%.*s%.*s] ", full, "############################",
                 width - 2 - full, "............................");
        if (width < BAR_MIN) bar[0] = '\0';
        fprintf(stderr, CLEAR_LINE "%s%s%s", head, bar, tail);
        fflush(stderr);
    } else {
        fprintf(stderr, "%s%s\n", head, tail);
    }
}

void ht_progress_update(struct ht_progress *p, double done) {
    double now = ht_clock(), since = now - p->shown_at;
    bool complete = done >= p->total, due = false;
    if (current < HT_LOG_NORMAL || taken.take != NULL || now - p->started < silent_seconds) return;
    if (done <= p->begun || (p->shown && p->shown_done >= p->total)) return;
    if (on_terminal())
        due = since >= terminal_seconds;
    else
        due = since >= log_seconds ||
              (since >= log_pause && done - p->shown_done >= log_fraction * p->total);
    if (!due && !(complete && p->shown)) return;
    show(p, done, now - p->started);
    p->shown = true;
    p->shown_at = now;
    p->shown_done = done;
}

void ht_progress_add(struct ht_progress *p, int64_t items) {
    const int64_t done = atomic_fetch_add(&p->added, items) + items;
    if (ht_threads_worker() == 0) ht_progress_update(p, (double)done);
}

void ht_progress_end(struct ht_progress *p) {
    if (p->shown && on_terminal()) fputc('\n', stderr);
    p->shown = false;
}
