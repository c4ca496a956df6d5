#include "axes.h"

#include <math.h>
#include <string.h>

const struct ht_colour ht_chart_ink = {40, 40, 45},
                       ht_chart_grid = {225, 225, 228};

/* Told apart by people of all kinds of colour vision: after M. Okabe and
 * K. Ito, Color Universal Design (2008), the yellow darkened for lines. */
struct ht_colour ht_chart_colour(int index) {
    static const struct ht_colour grey = {120, 120, 125};
    static const struct ht_colour palette[] = {
        {0, 114, 178},  {213, 94, 0},  {0, 158, 115}, {204, 121, 167},
        {86, 180, 233}, {230, 159, 0}, {90, 60, 150}, {150, 130, 20},
        {120, 70, 50},  {60, 60, 65},  {200, 40, 60}, {110, 190, 60},
    };
    const int colours = (int)(sizeof palette / sizeof palette[0]);
    return index < 0 ? grey : palette[index % colours];
}

/* ---- scales ---- */

static bool usable(const struct ht_axis *axis, double value) {
    return isfinite(value) && (!axis->log || value > 0);
}

struct ht_scale ht_scale_make(const struct ht_axis *axis, int64_t count,
                              const double *values) {
    struct ht_scale s = {axis->log, axis->low, axis->high, 0, 1};
    if (axis->low < axis->high) return s;
    s.low = INFINITY;
    s.high = -INFINITY;
    for (int64_t n = 0; n < count; n++) {
        if (!usable(axis, values[n])) continue;
        s.low = fmin(s.low, values[n]);
        s.high = fmax(s.high, values[n]);
    }
    if (s.low > s.high) {
        s.low = 1;
        s.high = 10;
    }
    if (axis->log) { /* a tenth of the height on either side */
        double margin = pow(fmax(s.high / s.low, 3), 0.1);
        s.low /= margin;
        s.high *= margin;
    } else {
        if (s.low > 0) s.low = 0;
        s.high += 0.08 * fmax(s.high - s.low, 1e-300);
    }
    return s;
}

bool ht_scale_shows(const struct ht_scale *scale, double value) {
    return isfinite(value) && (!scale->log || value > 0);
}

double ht_scale_at(const struct ht_scale *s, double value) {
    double part = s->log ? log(value / s->low) / log(s->high / s->low)
                         : (value - s->low) / (s->high - s->low);
    return s->from + part * (s->to - s->from);
}

/* ---- ticks ---- */

enum { TICKS = 64, NUMBER = 24 };

struct ticks {
    int count;
    double value[TICKS];
    bool named[TICKS];
};

static void add_tick(struct ticks *t, const struct ht_scale *s, double value,
                     bool named) {
    /* an end that rounding puts beside a tick shows it */
    const double slack = 1e-9 * fabs(s->to - s->from);
    const double at = ht_scale_at(s, value);
    if (t->count == TICKS || at < fmin(s->from, s->to) - slack ||
        at > fmax(s->from, s->to) + slack)
        return;
    t->value[t->count] = value;
    t->named[t->count++] = named;
}

/* Powers of ten; where these are few also 2 and 5, where they are many every
 * second or third one. */
static void log_ticks(const struct ht_scale *s, struct ticks *t) {
    int first = (int)floor(log10(s->low)), last = (int)ceil(log10(s->high));
    double decades = log10(s->high / s->low);
    int every = decades > 16 ? 3 : decades > 9 ? 2 : 1;
    for (int e = first; e <= last; e++) {
        if (((e % every) + every) % every != 0) continue;
        double power = pow(10, e);
        add_tick(t, s, power, true);
        for (int m = 2; every == 1 && decades < 6 && m < 10; m++)
            add_tick(t, s, m * power,
                     decades < 1.2 ? m == 2 || m == 3 || m == 5
                                   : decades < 2.5 && (m == 2 || m == 5));
    }
}

static void linear_ticks(const struct ht_scale *s, struct ticks *t) {
    double rough = (s->high - s->low) / 6, power = pow(10, floor(log10(rough)));
    double step = rough > 5 * power   ? 10 * power
                  : rough > 2 * power ? 5 * power
                  : rough > power     ? 2 * power
                                      : power;
    double first = floor(s->low / step);
    for (int k = 0; k < TICKS && (first + k - 1) * step <= s->high; k++)
        add_tick(t, s, (first + k) * step, true);
}

static void make_ticks(const struct ht_scale *s, struct ticks *t) {
    t->count = 0;
    if (s->log)
        log_ticks(s, t);
    else
        linear_ticks(s, t);
}

/* 0.01 .. 999 as they are, "20 k", "1 M" above, "1e-5" below. */
static void print_number(char *out, double value) {
    static const char *const prefix[] = {"", " k", " M", " G", " T", " P"};
    int n = 0;
    double v = value;
    while (fabs(v) >= 999.5 && n < 5) {
        v /= 1000;
        n++;
    }
    if (v != 0 && fabs(v) < 0.00995) {
        int e = (int)floor(log10(fabs(v)) + 1e-9);
        snprintf(out, NUMBER, "%.3ge%d", v / pow(10, e), e);
    } else {
        snprintf(out, NUMBER, "%.4g%s", v, prefix[n]);
    }
}

void ht_scale_draw_x(struct ht_canvas *canvas, const struct ht_box *box,
                     const struct ht_scale *scale) {
    struct ticks t;
    char number[NUMBER];
    make_ticks(scale, &t);
    for (int i = 0; i < t.count; i++) {
        double at = ht_scale_at(scale, t.value[i]);
        int64_t column = (int64_t)at;
        const int64_t line[2] = {column, column + 1};
        const int64_t stub[2] = {box->y[1] - 5, box->y[1]};
        ht_canvas_fill(canvas, line, t.named[i] ? box->y : stub, ht_chart_grid);
        if (!t.named[i]) continue;
        print_number(number, t.value[i]);
        ht_chart_text(canvas, at, (double)box->y[1] + 8 + HT_CHART_CAP, 0.5,
                      number);
    }
}

void ht_scale_draw_y(struct ht_canvas *canvas, const struct ht_box *box,
                     const struct ht_scale *scale) {
    struct ticks t;
    char number[NUMBER];
    make_ticks(scale, &t);
    for (int i = 0; i < t.count; i++) {
        double at = ht_scale_at(scale, t.value[i]);
        int64_t row = (int64_t)at;
        const int64_t line[2] = {row, row + 1};
        const int64_t stub[2] = {box->x[0], box->x[0] + 5};
        ht_canvas_fill(canvas, t.named[i] ? box->x : stub, line, ht_chart_grid);
        if (!t.named[i]) continue;
        print_number(number, t.value[i]);
        ht_chart_text(canvas, (double)box->x[0] - 8, at + 0.5 * HT_CHART_CAP, 1,
                      number);
    }
}

/* ---- texts ---- */

void ht_chart_text(struct ht_canvas *canvas, double x, double y, double align,
                   const char *text) {
    const struct ht_letters letters = {HT_CHART_DOT, align, ht_chart_ink};
    ht_canvas_text(canvas, x, y, &letters, text);
}

void ht_chart_titles(struct ht_canvas *canvas, const char *title,
                     const char *subtitle) {
    const struct ht_letters large = {2.5, 0, ht_chart_ink};
    const struct ht_letters small = {1.75, 0, ht_chart_colour(-1)};
    ht_canvas_text(canvas, HT_CHART_PAD, HT_CHART_PAD + 18, &large, title);
    if (subtitle != NULL)
        ht_canvas_text(canvas, HT_CHART_PAD, HT_CHART_PAD + 42, &small,
                       subtitle);
}

/* ---- marks ---- */

/* Signed distance from the edge, negative inside. */
static double edge_distance(enum ht_marker marker, double x, double y,
                            double r) {
    switch (marker) {
    case HT_MARKER_SQUARE:
        return fmax(fabs(x), fabs(y)) - 0.88 * r;
    case HT_MARKER_DIAMOND:
        return (fabs(x) + fabs(y)) * sqrt(0.5) - 0.85 * r;
    case HT_MARKER_TRIANGLE:
        return fmax(y - 0.6 * r, (fabs(x) * sqrt(3) - y) / 2 - 0.6 * r);
    default:
        return hypot(x, y) - r;
    }
}

void ht_marker_draw(struct ht_canvas *canvas, const double at[2], double radius,
                    const struct ht_series *series) {
    static const struct ht_colour white = {255, 255, 255};
    struct ht_colour colour = ht_chart_colour(series->colour);
    if (series->marker == HT_MARKER_NONE) return;
    int64_t reach = (int64_t)radius + 3;
    for (int64_t j = (int64_t)at[1] - reach; j <= (int64_t)at[1] + reach; j++)
        for (int64_t i = (int64_t)at[0] - reach; i <= (int64_t)at[0] + reach;
             i++) {
            if (i < 0 || j < 0 || i >= canvas->width || j >= canvas->height)
                continue;
            double d = edge_distance(series->marker, (double)i + 0.5 - at[0],
                                     (double)j + 0.5 - at[1], radius);
            struct ht_colour *pixel = &canvas->pixel[j * canvas->width + i];
            /* a white rim keeps marks apart from lines and each other */
            double rim = fmin(fmax(2.0 - d, 0), 1);
            double body = fmin(fmax(0.5 - d, 0), 1);
            double hole = series->hollow ? fmin(fmax(-1.5 - d, 0), 1) : 0;
            *pixel = ht_colour_mix(*pixel, white, rim);
            *pixel = ht_colour_mix(*pixel, colour, body);
            *pixel = ht_colour_mix(*pixel, white, hole);
        }
}
