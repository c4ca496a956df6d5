/* Von Neumann stability of the Hermite-Taylor half step: finds the largest
 * stable CFL numbers that src/num/stability_table.h tabulates.
 *
 * With u = U exp(i theta.x/h) on both grids, primary->dual and dual->primary
 * are the same matrix S(theta, cfl, q). Stable means spectral radius of S <=
 * 1 + TOLERANCE for all theta; the limit is the largest cfl below which all
 * are stable. Angles are sampled on the symmetry lines of the cube, on a
 * lattice and around the worst sample.
 *
 * Advection stands for all velocities with |a_k| dt/h_k <= cfl: along the
 * diagonal, and in fewer dimensions, where an axis without velocity only
 * interpolates, which damps. Waves: equal h on all axes.
 *
 * A result line is "kind dims order stages limit"; the limit is before the
 * margin. Workers append whole lines to one file, so that a run can be stopped
 * and continued; --table turns the file into the header.
 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stability_symbol.h"

#define MARGIN 0.01
#define RESOLUTION 0.004 /* of the bisection in cfl */
#define SMALLEST 0.05    /* limits below count as unstable */
#define MAX_STAGES (HT_MAX_DIMS * (2 * HT_MAX_ORDER + 1))
/* Unknowns up to which Arnoldi's method may run to its end, and from which
 * samples are thinned out. */
#define DENSE 300
#define HUGE_SIZE 800

/* What is known of a limit so far. */
struct search {
    const struct scheme *scheme;
    double cfl;      /* no sample yet is unstable here or at levels below */
    double worst[3]; /* the sample that lowered cfl last */
    time_t deadline;
    bool expired;
};

/* One entry of the table; limit < 0: not known. */
struct result {
    enum ht_symbol kind;
    int dims, order, stages;
    double limit;
};

/* The options. */
struct task {
    int jobs, dims[2], order[2], seconds;
    const char *out;
};

/* ---- the largest stable cfl ---- */

static bool unstable(struct search *f, const struct start *start,
                     const double theta[3], double cfl) {
    const struct scheme *s = f->scheme;
    f->expired = f->expired || time(NULL) >= f->deadline;
    if (f->expired) return false;
    return (s->kind == HT_SYMBOL_PAIR
                ? squared_growth(s, theta, cfl)
                : half_step_growth(s, start, theta, cfl)) > tolerance(s);
}

/* A stable cfl below one that is unstable: steps down, then bisection. */
static double stable_below(struct search *f, const struct start *start,
                           const double theta[3], double high) {
    double step = 2 * RESOLUTION, low = high - step;
    while (low > 0 && unstable(f, start, theta, low)) {
        high = low;
        step *= 2;
        low = high - step;
    }
    low = fmax(low, 0);
    while (high - low > RESOLUTION) {
        double mid = (low + high) / 2;
        if (unstable(f, start, theta, mid))
            high = mid;
        else
            low = mid;
    }
    return low;
}

/* Lowers f->cfl until the sample is stable there; with levels also at
 * smaller steps, for the stable steps need not be an interval. */
static void search_sample(struct search *f, const struct start *start,
                          const double theta[3], bool levels) {
    static const double level[] = {1, 0.93, 0.85, 0.75, 0.6, 0.45, 0.3};
    int count = levels ? (int)(sizeof level / sizeof *level) : 1;
    int stride = f->scheme->size > HUGE_SIZE ? 2 : 1;
    for (int i = 0; i < count && f->cfl >= SMALLEST;) {
        double cfl = f->cfl * level[i];
        i += stride;
        if (!unstable(f, start, theta, cfl)) continue;
        f->cfl = stable_below(f, start, theta, cfl);
        memcpy(f->worst, theta, sizeof f->worst);
        i = 0;
    }
}

/* Axes on which theta is 0 or pi. */
static int corner_axes(const struct scheme *s, const double theta[3]) {
    int mask = 0;
    for (int k = 0; k < s->dims; k++)
        mask |= (theta[k] == 0 || theta[k] == PI) << k;
    return mask;
}

/* A sample of high symmetry: small matrices in full; large ones in the
 * symmetric sector, which holds the plane waves, and generically. */
static void search_special(struct search *f, const double theta[3]) {
    const struct scheme *s = f->scheme;
    struct start all = {.krylov = s->size > DENSE ? 100 : s->size};
    if (s->size <= DENSE) {
        search_sample(f, &all, theta, true);
        return;
    }
    bool wave = s->kind != HT_SYMBOL_ADVECTION;
    struct start plane = {.symmetric = true, .krylov = 240};
    if (wave) plane.mask = corner_axes(s, theta);
    search_sample(f, &plane, theta, true);
    if (s->size <= HUGE_SIZE || corner_axes(s, theta) == (1 << s->dims) - 1)
        search_sample(f, &all, theta, false);
}

/* Every parity sector of a corner of a large problem. */
static void search_sectors(struct search *f, const double theta[3]) {
    const struct scheme *s = f->scheme;
    if (s->size <= DENSE || s->kind == HT_SYMBOL_ADVECTION) return;
    int mask = (1 << s->dims) - 1;
    for (int parity = 0; parity <= mask; parity++) {
        struct start sector = {.parity = parity, .mask = mask, .krylov = 160};
        search_sample(f, &sector, theta, false);
    }
}

/* The point of a line at t; the line has one sign per axis: 0, p = pi, t =
 * running, m = -t. */
static void line_point(const char *sign, double t, double theta[3]) {
    for (int k = 0; k < 3; k++)
        theta[k] = sign[k] == 'p'   ? PI
                   : sign[k] == 't' ? t
                   : sign[k] == 'm' ? -t
                                    : 0;
}

/* Corners and lines of the cube [0, pi]^dims. */
static void search_lines(struct search *f, int points) {
    static const char *const line[3][7] = {{"000", "p00", "t00"},
                                           {"pp0", "tt0", "pt0", "tm0"},
                                           {"ppp", "ttt", "ppt", "ptt", "ttm"}};
    for (int d = 0; d < f->scheme->dims; d++)
        for (int n = 0; n < 7 && line[d][n]; n++) {
            const char *sign = line[d][n];
            bool runs = strpbrk(sign, "tm"), minus = strchr(sign, 'm');
            if (minus && f->scheme->kind != HT_SYMBOL_ADVECTION) continue;
            for (int i = 1; i < (runs ? points : 2); i++) {
                double theta[3];
                line_point(sign, PI * i / points, theta);
                search_special(f, theta);
                if (!runs) search_sectors(f, theta);
            }
        }
}

/* A lattice over what the symmetries leave: |theta1| >= |theta2| >= |theta3|,
 * for waves all positive, for advection theta1 alone. */
static void search_lattice(struct search *f, int points) {
    const struct scheme *s = f->scheme;
    bool wave = s->kind != HT_SYMBOL_ADVECTION, large = s->size > DENSE;
    struct start all = {.krylov = large ? 80 : s->size};
    bool levels = s->size <= 80 && s->dims < 3;
    for (int a = 0; a <= points; a++) {
        int top_b = s->dims > 1 ? a : 0;
        for (int b = wave ? 0 : -top_b; b <= top_b; b++) {
            int top_c = s->dims > 2 ? abs(b) : 0;
            for (int c = wave ? 0 : -top_c; c <= top_c; c++) {
                double theta[3] = {PI * a / points, PI * b / points,
                                   PI * c / points};
                search_sample(f, &all, theta, levels);
            }
        }
    }
}

/* Walks from the worst sample to worse neighbours, in shrinking steps. */
static void search_refine(struct search *f, double reach) {
    const struct scheme *s = f->scheme;
    struct start all = {.krylov = s->size > DENSE ? 80 : s->size};
    int moves = s->dims == 1 ? 2 : s->dims == 2 ? 8 : 26;
    for (int turn = 0; turn < 3; turn++) {
        double step = ldexp(reach, -turn), centre[3];
        memcpy(centre, f->worst, sizeof centre);
        for (int n = 0; n < moves; n++) {
            int code = n < moves / 2 ? n : n + 1; /* leaves out the centre */
            double theta[3] = {0};
            for (int k = 0; k < s->dims; k++, code /= 3)
                theta[k] = centre[k] + step * (code % 3 - 1);
            search_sample(f, &all, theta, false);
        }
    }
}

/* The limit up to bound; -1 when the time is up. */
static double scheme_limit(const struct scheme *s, double bound,
                           time_t deadline) {
    struct search f = {.scheme = s, .cfl = bound, .deadline = deadline};
    int lattice = s->dims == 1 ? 96 : s->dims == 2 ? 12 : 6, line = 2 * lattice;
    if (s->size > 100) line = 12;
    if (s->size > DENSE) lattice = 3, line = 6;
    if (s->size > HUGE_SIZE) line = 4;
    search_lines(&f, line);
    search_lattice(&f, lattice);
    search_refine(&f, PI / imax(lattice, 4) / 2);
    if (f.expired) return -1;
    return f.cfl < SMALLEST ? 0 : f.cfl;
}

/* ---- results ---- */

static const char *const kind_name[] = {"advection", "wave"};

/* The limits known, [kind][dims-1][order-1][stages]; -1: not known. */
typedef double limits[2][HT_MAX_DIMS][HT_MAX_ORDER][MAX_STAGES + 1];

static bool parse_result(const char *line, struct result *r) {
    size_t length = strcspn(line, " ");
    const char *wave = kind_name[HT_SYMBOL_WAVE];
    char *at = NULL, *last = NULL;
    r->kind = length == strlen(wave) && strncmp(line, wave, length) == 0
                  ? HT_SYMBOL_WAVE
                  : HT_SYMBOL_ADVECTION;
    r->dims = (int)strtol(line + length, &at, 10);
    r->order = (int)strtol(at, &at, 10);
    r->stages = (int)strtol(at, &at, 10);
    r->limit = strtod(at, &last);
    return last > at && r->dims >= 1 && r->dims <= HT_MAX_DIMS &&
           r->order >= 1 && r->order <= HT_MAX_ORDER && r->stages >= 1 &&
           r->stages <= MAX_STAGES;
}

static void read_results(const char *path, limits out) {
    double *all = &out[0][0][0][0];
    for (size_t i = 0; i < sizeof(limits) / sizeof *all; i++) all[i] = -1;
    FILE *file = fopen(path, "r");
    if (!file) return;
    char line[128];
    struct result r;
    while (fgets(line, sizeof line, file))
        if (parse_result(line, &r))
            out[r.kind][r.dims - 1][r.order - 1][r.stages] = r.limit;
    fclose(file);
}

/* Fewer dimensions bound the limit from above: a wave along an axis is
 * among the waves, a velocity along an axis among the velocities. */
static double bound_from_below(limits known, const struct result *r) {
    double bound = 1;
    for (int d = 1; d < r->dims; d++) {
        double limit = r->stages >= d * (2 * r->order + 1)
                           ? 1
                           : known[r->kind][d - 1][r->order - 1][r->stages];
        if (limit >= 0) bound = fmin(bound, limit);
    }
    return bound;
}

/* ---- several processes ---- */

/* Takes entries from the queue until it is empty or the time is up. Reads
 * and writes of this size on pipes and appended files are not split. */
static void work(int queue, const struct task *task, time_t deadline) {
    static limits known;
    struct result r;
    while (time(NULL) < deadline &&
           read(queue, &r, sizeof r) == (ssize_t)sizeof r) {
        read_results(task->out, known);
        double bound = bound_from_below(known, &r);
        if (bound > 0) {
            struct scheme *s = scheme_create(r.kind, r.dims, r.order, r.stages);
            r.limit = scheme_limit(s, bound, deadline);
            scheme_destroy(s);
        } else {
            r.limit = 0;
        }
        if (r.limit < 0) continue;
        char line[64];
        int length =
            snprintf(line, sizeof line, "%s %d %d %d %.4f\n", kind_name[r.kind],
                     r.dims, r.order, r.stages, r.limit);
        int out = open(task->out, O_WRONLY | O_APPEND | O_CREAT, 0666);
        if (out < 0 || write(out, line, (size_t)length) != length) _exit(1);
        close(out);
    }
}

/* Entries to compute, cheap and most useful first: q >= 2N+1, then fewer
 * stages, which cost accuracy. */
static int list_entries(const struct task *task, struct result *list) {
    static limits known;
    read_results(task->out, known);
    int count = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int d = task->dims[0]; d <= task->dims[1]; d++)
            for (int n = task->order[0]; n <= task->order[1]; n++)
                for (int kind = 1; kind >= 0; kind--) {
                    int exact = 2 * n + 1;
                    int first = pass ? 1 : exact;
                    int last = pass ? exact - 1 : d * exact - 1;
                    for (int q = first; q <= last; q++)
                        if (known[kind][d - 1][n - 1][q] < 0)
                            list[count++] = (struct result){
                                (enum ht_symbol)kind, d, n, q, -1};
                }
    return count;
}

static int compute(const struct task *task) {
    static struct result list[2 * HT_MAX_DIMS * HT_MAX_ORDER * MAX_STAGES];
    int queue[2], count = list_entries(task, list);
    time_t deadline = time(NULL) + task->seconds;
    if (pipe(queue)) return 1;
    for (int i = 0; i < task->jobs; i++) {
        pid_t pid = fork();
        if (pid < 0) return 1;
        if (pid > 0) continue;
        close(queue[1]);
        work(queue[0], task, deadline);
        _exit(0);
    }
    close(queue[0]);
    int status, failed = 0;
    for (int i = 0; i < count; i++)
        if (write(queue[1], &list[i], sizeof list[i]) < 0) break;
    close(queue[1]);
    while (wait(&status) > 0) failed |= status != 0;
    return failed;
}

/* ---- the header ---- */

/* In hundredths, the margin taken off. */
static int percent(limits known, const struct result *r) {
    double limit = known[r->kind][r->dims - 1][r->order - 1][r->stages];
    if (r->stages >= r->dims * (2 * r->order + 1)) return 100;
    limit = fmin(limit, bound_from_below(known, r));
    int value = (int)floor(100 * (limit - MARGIN) + 1e-9);
    return value < 100 * SMALLEST ? 0 : value;
}

static void print_row(limits known, struct result r) {
    int last = r.dims * (2 * r.order + 1) - 1;
    printf("        /* %d-D, N = %d */\n        {", r.dims, r.order);
    for (r.stages = 1; r.stages <= last; r.stages++) {
        if (r.stages > 1) printf(r.stages % 16 == 1 ? ",\n         " : ", ");
        printf("%d", percent(known, &r));
    }
    printf("},\n");
}

static int print_table(const char *path) {
    static limits known;
    read_results(path, known);
    printf("/* Generated by tools/stability --table: do not edit.\n"
           " * Largest stable CFL numbers in hundredths, margin taken off,\n"
           " * [kind][dims-1][order-1][stages-1]; 0: unstable or not known.\n"
           " */\n"
           "#ifndef HTWAVE_NUM_STABILITY_TABLE_H\n"
           "#define HTWAVE_NUM_STABILITY_TABLE_H\n\n"
           "/* clang-format off */\n"
           "static const unsigned char ht_stability_percent[2][%d][%d][%d] = {"
           "\n",
           HT_MAX_DIMS, HT_MAX_ORDER, MAX_STAGES - 1);
    for (int kind = 0; kind < 2; kind++) {
        printf("    /* %s */\n    {\n", kind_name[kind]);
        for (int d = 1; d <= HT_MAX_DIMS; d++) {
            printf("     {\n");
            for (int n = 1; n <= HT_MAX_ORDER; n++)
                print_row(known,
                          (struct result){(enum ht_symbol)kind, d, n, 0, 0});
            printf("     },\n");
        }
        printf("    },\n");
    }
    printf("};\n/* clang-format on */\n\n#endif\n");
    return 0;
}

static bool parse_range(const char *text, int limit, int range[2]) {
    char *end = NULL;
    range[0] = range[1] = (int)strtol(text, &end, 10);
    if (strncmp(end, "..", 2) == 0) range[1] = (int)strtol(end + 2, &end, 10);
    return *end == '\0' && range[0] >= 1 && range[0] <= range[1] &&
           range[1] <= limit;
}

/* ---- the pair (u, u_t), full stages ---- */

/* In hundredths, the margin taken off. Where the time is not enough, the bound
 * from fewer dimensions less a guess: in three dimensions limits were found at
 * most 0.01 below those in two. */
static int pair_percent(int dims, int order, double bound, int seconds) {
    const double guess = 0.05;
    int stages = ht_stability_full(HT_SYMBOL_PAIR, dims, order);
    struct scheme *s = scheme_create(HT_SYMBOL_PAIR, dims, order, stages);
    double limit = scheme_limit(s, bound, time(NULL) + seconds);
    scheme_destroy(s);
    if (limit < 0) limit = bound - guess;
    return (int)floor(100 * (limit - MARGIN) + 1e-9);
}

/* Fewer dimensions bound the limit from above. */
static int print_pairs(const struct task *task) {
    int value[HT_MAX_DIMS][HT_MAX_ORDER];
    printf("/* Generated by tools/stability --pair header: do not edit.\n"
           " * Largest stable CFL numbers of the pair u_t = v, v_t = c^2 lap u "
           "with full\n * stages, in hundredths, margin taken off, "
           "[dims-1][order-1].\n * In 3-D guessed from 2-D where the analysis "
           "takes too long: N >= 5.\n */\n"
           "#ifndef HTWAVE_NUM_STABILITY_PAIR_H\n"
           "#define HTWAVE_NUM_STABILITY_PAIR_H\n\n"
           "/* clang-format off */\n"
           "static const unsigned char ht_stability_pair[%d][%d] = {\n",
           HT_MAX_DIMS, HT_MAX_ORDER);
    for (int d = 0; d < HT_MAX_DIMS; d++) {
        printf("    {");
        for (int n = 0; n < HT_MAX_ORDER; n++) {
            double bound = d == 0 ? 1 : value[d - 1][n] / 100.0 + MARGIN;
            value[d][n] = pair_percent(d + 1, n + 1, bound, task->seconds);
            printf("%s%d", n ? ", " : "", value[d][n]);
            fflush(stdout);
        }
        printf("},\n");
    }
    printf("};\n/* clang-format on */\n\n#endif\n");
    return 0;
}

static int usage(void) {
    fprintf(
        stderr,
        "usage: stability [--jobs P] [--dims A..B] [--order A..B] "
        "[--seconds S] [--out results.txt]\n"
        "       stability --table results.txt > stability_table.h\n"
        "       stability [--seconds S] --pair header > stability_pair.h\n");
    return 2;
}

int main(int argc, char **argv) {
    struct task task = {1, {1, 2}, {1, HT_MAX_ORDER}, 600, "results.txt"};
    for (int i = 1; i < argc; i += 2) {
        const char *key = argv[i], *value = argv[i + 1];
        bool good = value != NULL;
        if (!good) return usage();
        if (!strcmp(key, "--table")) return print_table(value);
        if (!strcmp(key, "--pair")) return print_pairs(&task);
        if (!strcmp(key, "--jobs"))
            good = (task.jobs = (int)strtol(value, NULL, 10)) >= 1;
        else if (!strcmp(key, "--seconds"))
            good = (task.seconds = (int)strtol(value, NULL, 10)) >= 1;
        else if (!strcmp(key, "--dims"))
            good = parse_range(value, HT_MAX_DIMS, task.dims);
        else if (!strcmp(key, "--order"))
            good = parse_range(value, HT_MAX_ORDER, task.order);
        else if (!strcmp(key, "--out"))
            task.out = value;
        else
            good = false;
        if (!good) return usage();
    }
    return compute(&task);
}
