/* A signal of a file with columns t and s: a cubic spline between the samples, natural at its ends,
 * 0 outside.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "signal_private.h"

/* ---- reading ---- */

static const char *next_line(const char *at) {
    at += strcspn(at, "\n");
    return *at ? at + 1 : NULL;
}

/* Lines without data. */
static bool is_comment(const char *line) {
    line += strspn(line, " \t\r");
    return *line == '#' || *line == '\n' || *line == '\0';
}

/* Two numbers and no more. */
static bool read_pair(const char *line, double pair[2]) {
    for (int i = 0; i < 2; i++) {
        char *end;
        line += strspn(line, " \t,");
        if (*line == '\n') return false;
        pair[i] = strtod(line, &end);
        if (end == line) return false;
        line = end;
    }
    line += strspn(line, " \t\r");
    return *line == '\n' || *line == '\0';
}

static enum ht_err read_line(struct ht_signal *s, const char *line, int64_t number) {
    double pair[2];
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)strcspn(line, "\r\n"), line);
    REQUIRE(read_pair(line, pair), HT_ERR_INPUT, "line %lld, \"%s\": must be two numbers, t and s",
            (long long)number, HT_SHOWN(text));
    REQUIRE(isfinite(pair[0]) && isfinite(pair[1]), HT_ERR_INPUT,
            "line %lld, \"%s\": t and s must be finite", (long long)number, HT_SHOWN(text));
    struct ht_knot *knot = &s->knot[s->samples];
    REQUIRE(s->samples == 0 || pair[0] > knot[-1].t, HT_ERR_INPUT,
            "line %lld: times must increase, but %.9g follows %.9g", (long long)number, pair[0],
            s->samples > 0 ? knot[-1].t : 0);
    *knot = (struct ht_knot){.t = pair[0], .s = pair[1]};
    s->samples++;
    return HT_OK;
}

static enum ht_err read_lines(struct ht_signal *s, const char *text) {
    int64_t lines = 0, number = 0;
    for (const char *at = text; at != NULL; at = next_line(at)) lines++;
    TRY(HT_ALLOC(s->knot, lines));
    for (const char *at = text; at != NULL; at = next_line(at)) {
        number++;
        if (!is_comment(at)) TRY(read_line(s, at, number));
    }
    REQUIRE(s->samples >= 4, HT_ERR_INPUT, "has %lld samples, but a signal needs 4",
            (long long)s->samples);
    return HT_OK;
}

static enum ht_err check_gaps(const struct ht_signal *s) {
    const int64_t n = s->samples - 1;
    const double most = 10;
    double *apart = NULL;
    TRY(HT_ALLOC(apart, n));
    for (int64_t i = 0; i < n; i++) apart[i] = s->knot[i + 1].t - s->knot[i].t;
    const double median = ht_median((int)n, apart);
    free(apart);
    for (int64_t i = 0; i < n; i++)
        REQUIRE(s->knot[i + 1].t - s->knot[i].t <= most * median, HT_ERR_INPUT,
                "has a gap from t = %.9g to %.9g, where the median interval is "
                "%.3g",
                s->knot[i].t, s->knot[i + 1].t, median);
    return HT_OK;
}

/* ---- the spline ---- */

/* Second derivatives from a tridiagonal system by elimination; area is scratch until integrals are
 * known. */
static void find_bends(int64_t n, struct ht_knot *k) {
    k[0].bend = k[0].area = 0;
    for (int64_t i = 1; i < n - 1; i++) {
        const double below = k[i].t - k[i - 1].t, above = k[i + 1].t - k[i].t;
        const double jump = (k[i + 1].s - k[i].s) / above - (k[i].s - k[i - 1].s) / below;
        const double pivot = 2 * (below + above) + below * k[i - 1].area;
        k[i].area = -above / pivot;
        k[i].bend = (6 * jump - below * k[i - 1].bend) / pivot;
    }
    k[n - 1].bend = 0;
    for (int64_t i = n - 2; i > 0; i--) k[i].bend += k[i].area * k[i + 1].bend;
}

/* Of the cubic from a knot on, its derivative, and its integrals added to those up to the knot. */
static double cubic(const struct ht_knot *k, double x, int order) {
    const double h = k[1].t - k[0].t;
    const double c[4] = {k[0].s, (k[1].s - k[0].s) / h - h * (2 * k[0].bend + k[1].bend) / 6,
                         k[0].bend / 2, (k[1].bend - k[0].bend) / (6 * h)};
    switch (order) {
    case 1:
        return c[1] + x * (2 * c[2] + x * 3 * c[3]);
    case 0:
        return c[0] + x * (c[1] + x * (c[2] + x * c[3]));
    case -1:
        return k->area + x * (c[0] + x * (c[1] / 2 + x * (c[2] / 3 + x * c[3] / 4)));
    default:
        return k->moment +
               x * (k->area + x * (c[0] / 2 + x * (c[1] / 6 + x * (c[2] / 12 + x * c[3] / 20))));
    }
}

enum ht_err ht_spline_read(struct ht_signal *s) {
    char *text = NULL;
    size_t size;
    TRY(ht_file_read(s->given.file, &text, &size));
    enum ht_err err =
        strlen(text) == size ? read_lines(s, text) : ht_err_set(HT_ERR_INPUT, "is no text file");
    free(text);
    if (err == HT_OK) err = check_gaps(s);
    TRY(err);
    find_bends(s->samples, s->knot);
    s->knot[0].area = s->knot[0].moment = 0;
    for (int64_t i = 0; i + 1 < s->samples; i++) {
        const double h = s->knot[i + 1].t - s->knot[i].t;
        s->knot[i + 1].area = cubic(&s->knot[i], h, -1);
        s->knot[i + 1].moment = cubic(&s->knot[i], h, -2);
    }
    return HT_OK;
}

/* The last knot at or before t, which is not the last of all. */
static int64_t knot_before(const struct ht_signal *s, double t) {
    int64_t low = 0, high = s->samples - 1;
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (s->knot[middle].t <= t)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double ht_spline_at(const struct ht_signal *s, double t, int order) {
    const struct ht_knot *last = &s->knot[s->samples - 1];
    if (t < s->knot[0].t) return 0;
    if (t > last->t)
        return order >= 0    ? 0
               : order == -1 ? last->area
                             : last->moment + (t - last->t) * last->area;
    const int64_t i = knot_before(s, t);
    return cubic(&s->knot[i], t - s->knot[i].t, order);
}

void ht_spline_extent(const struct ht_signal *s, double extent[2]) {
    extent[0] = s->knot[0].t;
    extent[1] = s->knot[s->samples - 1].t;
}
