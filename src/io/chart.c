/* Points and lines over two axes, with a legend to the right. */
#include <math.h>
#include <stdlib.h>

#include "axes.h"

enum { PLOT_WIDTH = 860, PLOT_HEIGHT = 620, LEFT = 100, TOP = 112, BELOW = 72 };

/* Places that labels must not cover, and lines that they had better not. */
struct taken {
    int count, room;
    struct spot {
        struct ht_box box;
        bool line;
    } * spot;
};

struct sheet {
    const struct ht_chart *chart;
    struct ht_scale x, y;
    struct ht_box plot;
    struct ht_canvas canvas;
    struct taken taken;
};

static int points_of(const struct ht_chart *chart) {
    int count = 0;
    for (int s = 0; s < chart->nseries; s++) count += chart->series[s].count;
    return count;
}

static enum ht_err make_scales(struct sheet *s) {
    const struct ht_chart *chart = s->chart;
    double *all = NULL;
    int count = points_of(chart), n = 0;
    TRY(HT_ALLOC(all, 2 * count + 1));
    for (int i = 0; i < chart->nseries; i++)
        for (int p = 0; p < chart->series[i].count; p++, n++) {
            all[n] = chart->series[i].x[p];
            all[count + n] = chart->series[i].y[p];
        }
    s->x = ht_scale_make(&chart->x, count, all);
    s->y = ht_scale_make(&chart->y, count, all + count);
    free(all);
    s->x.from = (double)s->plot.x[0];
    s->x.to = (double)s->plot.x[1];
    s->y.from = (double)s->plot.y[1];
    s->y.to = (double)s->plot.y[0];
    return HT_OK;
}

static double legend_width(const struct ht_chart *chart) {
    double width = 0;
    for (int i = 0; i < chart->nseries; i++)
        if (chart->series[i].name != NULL)
            width = fmax(width, ht_canvas_text_width(HT_CHART_DOT,
                                                     chart->series[i].name));
    return width > 0 ? width + HT_CHART_KEY + 2 * HT_CHART_PAD : HT_CHART_PAD;
}

static int64_t legend_height(const struct ht_chart *chart) {
    int64_t lines = 0;
    for (int i = 0; i < chart->nseries; i++)
        lines += chart->series[i].name != NULL;
    return lines * HT_CHART_LINE;
}

/* ---- lines ---- */

/* The part of a piece that lies inside the plot (Liang and Barsky 1984);
 * false: none. */
static bool clip(const struct ht_box *box, double a[2], double b[2]) {
    double t0 = 0, t1 = 1, d[2] = {b[0] - a[0], b[1] - a[1]}, from[2];
    const int64_t *side[2] = {box->x, box->y};
    for (int k = 0; k < 2; k++) {
        from[k] = a[k];
        for (int end = 0; end < 2; end++) {
            double step = end ? d[k] : -d[k];
            double room =
                end ? (double)side[k][1] - a[k] : a[k] - (double)side[k][0];
            if (step == 0 && room < 0) return false;
            if (step > 0) t1 = fmin(t1, room / step);
            if (step < 0) t0 = fmax(t0, room / step);
        }
    }
    for (int k = 0; k < 2; k++) {
        a[k] = from[k] + t0 * d[k];
        b[k] = from[k] + t1 * d[k];
    }
    return t0 <= t1;
}

static enum ht_err draw_piece(struct ht_canvas *canvas, const double a[2],
                              const double b[2],
                              const struct ht_series *series) {
    const double dash = 9, gap = 7, width = 2;
    double length = hypot(b[0] - a[0], b[1] - a[1]);
    double step = series->dashed ? dash + gap : length;
    int pieces = length > 0 ? (int)ceil(length / step) : 0;
    struct ht_colour colour = ht_chart_colour(series->colour);
    for (int n = 0; n < pieces; n++) {
        double at = n * step / length;
        double end = series->dashed ? fmin(at + dash / length, 1) : 1;
        const double line[2][2] = {
            {a[0] + (b[0] - a[0]) * at, a[1] + (b[1] - a[1]) * at},
            {a[0] + (b[0] - a[0]) * end, a[1] + (b[1] - a[1]) * end}};
        TRY(ht_canvas_line(canvas, 2, line, width, colour));
    }
    return HT_OK;
}

static bool place(const struct sheet *s, const struct ht_series *series, int p,
                  double at[2]) {
    if (!ht_scale_shows(&s->x, series->x[p]) ||
        !ht_scale_shows(&s->y, series->y[p]))
        return false;
    at[0] = ht_scale_at(&s->x, series->x[p]);
    at[1] = ht_scale_at(&s->y, series->y[p]);
    return true;
}

static enum ht_err take(struct taken *taken, struct ht_box box, bool line) {
    if (taken->count == taken->room) {
        size_t room = 2 * (size_t)taken->room + 64;
        struct spot *more = realloc(taken->spot, room * sizeof *more);
        REQUIRE(more != NULL, HT_ERR_MEMORY, "out of memory");
        taken->spot = more;
        taken->room = (int)room;
    }
    taken->spot[taken->count++] = (struct spot){box, line};
    return HT_OK;
}

static enum ht_err take_line(struct taken *taken, const double a[2],
                             const double b[2]) {
    const double apart = 6;
    double length = hypot(b[0] - a[0], b[1] - a[1]);
    for (int n = 0; n * apart <= length; n++) {
        double at = n * apart / fmax(length, 1);
        int64_t x = (int64_t)(a[0] + (b[0] - a[0]) * at);
        int64_t y = (int64_t)(a[1] + (b[1] - a[1]) * at);
        struct ht_box box = {{x - 1, x + 2}, {y - 1, y + 2}};
        TRY(take(taken, box, true));
    }
    return HT_OK;
}

static enum ht_err draw_lines(struct sheet *s) {
    for (int i = 0; i < s->chart->nseries; i++) {
        const struct ht_series *series = &s->chart->series[i];
        for (int p = 0; series->line && p + 1 < series->count; p++) {
            double a[2], b[2];
            if (!place(s, series, p, a) || !place(s, series, p + 1, b) ||
                !clip(&s->plot, a, b))
                continue;
            TRY(draw_piece(&s->canvas, a, b, series));
            TRY(take_line(&s->taken, a, b));
        }
    }
    return HT_OK;
}

/* ---- marks and labels ---- */

static bool inside(const struct ht_box *box, const double at[2]) {
    return at[0] >= (double)box->x[0] && at[0] <= (double)box->x[1] &&
           at[1] >= (double)box->y[0] && at[1] <= (double)box->y[1];
}

static enum ht_err draw_marks(struct sheet *s) {
    const double radius = 6;
    for (int i = 0; i < s->chart->nseries; i++)
        for (int p = 0; p < s->chart->series[i].count; p++) {
            const struct ht_series *series = &s->chart->series[i];
            double at[2];
            if (series->marker == HT_MARKER_NONE || !place(s, series, p, at) ||
                !inside(&s->plot, at))
                continue;
            ht_marker_draw(&s->canvas, at, radius, series);
            int64_t x = (int64_t)at[0], y = (int64_t)at[1];
            struct ht_box box = {{x - 7, x + 7}, {y - 7, y + 7}};
            TRY(take(&s->taken, box, false));
        }
    return HT_OK;
}

static bool is_free(const struct sheet *s, const struct ht_box *box,
                    bool lines_too) {
    if (box->x[0] < s->plot.x[0] || box->x[1] > s->plot.x[1] ||
        box->y[0] < s->plot.y[0] || box->y[1] > s->plot.y[1])
        return false;
    for (int i = 0; i < s->taken.count; i++) {
        const struct ht_box *other = &s->taken.spot[i].box;
        if (s->taken.spot[i].line && !lines_too) continue;
        if (box->x[0] < other->x[1] && other->x[0] < box->x[1] &&
            box->y[0] < other->y[1] && other->y[0] < box->y[1])
            return false;
    }
    return true;
}

struct label {
    double x, y; /* left end of the base line */
    struct ht_box box;
};

/* Beside the point: right, left, above, below, then the corners. */
static struct label label_at(const double at[2], const char *text, double dot,
                             int k) {
    static const double side[8][2] = {{1, 0}, {-1, 0}, {0, -1},  {0, 1},
                                      {1, 1}, {1, -1}, {-1, -1}, {-1, 1}};
    const double height = 13;
    double width = ht_canvas_text_width(dot, text);
    double left = at[0] + side[k][0] * (width / 2 + 11) - width / 2;
    double top = at[1] + side[k][1] * (height / 2 + 9) - height / 2;
    return (struct label){left,
                          top + height - 1,
                          {{(int64_t)left - 2, (int64_t)(left + width) + 2},
                           {(int64_t)top, (int64_t)(top + height)}}};
}

static enum ht_err draw_label(struct sheet *s, const double at[2],
                              const struct ht_series *series,
                              const char *text) {
    const struct ht_letters letters = {1.6, 0, ht_chart_colour(series->colour)};
    for (int k = 0; k < 16; k++) { /* first off the lines, then on them */
        struct label label = label_at(at, text, letters.dot, k % 8);
        if (!is_free(s, &label.box, k < 8)) continue;
        ht_canvas_text(&s->canvas, label.x, label.y, &letters, text);
        return take(&s->taken, label.box, false);
    }
    return HT_OK;
}

static enum ht_err draw_labels(struct sheet *s) {
    for (int i = 0; i < s->chart->nseries; i++) {
        const struct ht_series *series = &s->chart->series[i];
        for (int p = 0; series->label != NULL && p < series->count; p++) {
            double at[2];
            if (series->label[p] != NULL && place(s, series, p, at) &&
                inside(&s->plot, at))
                TRY(draw_label(s, at, series, series->label[p]));
        }
    }
    return HT_OK;
}

static enum ht_err draw_legend(struct sheet *s) {
    double x = (double)s->plot.x[1] + HT_CHART_PAD;
    double y = (double)s->plot.y[0] + 0.5 * HT_CHART_LINE;
    for (int i = 0; i < s->chart->nseries; i++) {
        const struct ht_series *series = &s->chart->series[i];
        if (series->name == NULL) continue;
        const double a[2] = {x, y}, b[2] = {x + HT_CHART_KEY - 12, y};
        const double middle[2] = {0.5 * (a[0] + b[0]), y};
        if (series->line) TRY(draw_piece(&s->canvas, a, b, series));
        ht_marker_draw(&s->canvas, middle, 6, series);
        ht_chart_text(&s->canvas, x + HT_CHART_KEY, y + 0.5 * HT_CHART_CAP, 0,
                      series->name);
        y += HT_CHART_LINE;
    }
    return HT_OK;
}

/* ---- the sheet ---- */

static enum ht_err draw(struct sheet *s) {
    const struct ht_chart *chart = s->chart;
    ht_chart_titles(&s->canvas, chart->title, chart->subtitle);
    ht_chart_text(&s->canvas, (double)s->plot.x[0], (double)s->plot.y[0] - 10,
                  0, chart->y.label);
    ht_chart_text(&s->canvas, 0.5 * (s->x.from + s->x.to),
                  (double)s->plot.y[1] + 54, 0.5, chart->x.label);
    ht_scale_draw_x(&s->canvas, &s->plot, &s->x);
    ht_scale_draw_y(&s->canvas, &s->plot, &s->y);
    ht_canvas_frame(&s->canvas, s->plot.x, s->plot.y, ht_chart_colour(-1));
    TRY(draw_lines(s));
    TRY(draw_marks(s));
    TRY(draw_labels(s));
    return draw_legend(s);
}

enum ht_err ht_chart_write(const struct ht_chart *chart, const char *path) {
    int64_t height = PLOT_HEIGHT;
    if (legend_height(chart) > height) height = legend_height(chart);
    struct sheet s = {.chart = chart,
                      .plot = {{LEFT, LEFT + PLOT_WIDTH}, {TOP, TOP + height}}};
    TRY(make_scales(&s));
    enum ht_err err =
        ht_canvas_create(s.plot.x[1] + (int64_t)legend_width(chart),
                         s.plot.y[1] + BELOW, &s.canvas);
    if (err == HT_OK) err = draw(&s);
    if (err == HT_OK) err = ht_png_write(&s.canvas, path);
    ht_canvas_destroy(&s.canvas);
    free(s.taken.spot);
    return err;
}
