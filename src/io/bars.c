/* Bars in groups: panels one below the other, one legend under the titles. */
#include <math.h>
#include <stdlib.h>

#include "axes.h"

enum {
    WIDTH = 1000,
    PANEL = 210,
    LEFT = 100,
    RIGHT = 24,
    TOP = 72,
    ABOVE = 46, /* of a panel, for its title */
    BELOW = 34  /* for the names of the groups */
};

struct sheet {
    const struct ht_bars *bars;
    struct ht_scale y;
    int64_t legend_lines;
    struct ht_canvas canvas;
};

/* Logarithmic scales begin at a power of ten, so that bars have a foot. */
static enum ht_err make_scale(struct sheet *s) {
    const struct ht_bars *bars = s->bars;
    const struct ht_axis axis = {.log = bars->log};
    double *all = NULL;
    int64_t count = 0, n = 0;
    for (int p = 0; p < bars->npanels; p++)
        count += (int64_t)bars->panel[p].ngroups * bars->nbars;
    TRY(HT_ALLOC(all, count + 1));
    for (int p = 0; p < bars->npanels; p++)
        for (int i = 0; i < bars->panel[p].ngroups * bars->nbars; i++)
            all[n++] = bars->panel[p].value[i];
    s->y = ht_scale_make(&axis, count, all);
    free(all);
    if (bars->log) s->y.low = pow(10, floor(log10(s->y.low)));
    return HT_OK;
}

/* Draws the legend, or only counts its lines (canvas without pixels). */
static int64_t draw_legend(struct sheet *s) {
    const struct ht_bars *bars = s->bars;
    double x = LEFT;
    int64_t line = 0;
    for (int b = 0; b < bars->nbars; b++) {
        double width =
            HT_CHART_LINE + ht_canvas_text_width(HT_CHART_DOT, bars->bar[b]);
        if (x + width > WIDTH - RIGHT && x > LEFT) {
            x = LEFT;
            line++;
        }
        int64_t top = TOP + line * HT_CHART_LINE, left = (int64_t)x;
        const int64_t across[2] = {left, left + HT_CHART_CAP};
        const int64_t down[2] = {top, top + HT_CHART_CAP};
        if (s->canvas.pixel != NULL) {
            ht_canvas_fill(&s->canvas, across, down, ht_chart_colour(b));
            ht_chart_text(&s->canvas, x + 22, (double)down[1], 0, bars->bar[b]);
        }
        x += width + HT_CHART_LINE;
    }
    return line + 1;
}

static void draw_group(struct sheet *s, const struct ht_box *box,
                       const struct ht_bars_panel *panel, int group) {
    const struct ht_bars *bars = s->bars;
    double each = (double)(box->x[1] - box->x[0]) / panel->ngroups;
    double left = (double)box->x[0] + group * each;
    double width = fmin(0.84 * each / bars->nbars, 60);
    double first = left + 0.5 * (each - width * bars->nbars);
    for (int b = 0; b < bars->nbars; b++) {
        double value = panel->value[group * bars->nbars + b];
        if (!isfinite(value) || value <= 0) continue;
        const int64_t x[2] = {(int64_t)(first + b * width),
                              (int64_t)(first + (b + 1) * width) - 1};
        const int64_t y[2] = {(int64_t)ht_scale_at(&s->y, value), box->y[1]};
        ht_canvas_fill(&s->canvas, x, y, ht_chart_colour(b));
    }
    ht_chart_text(&s->canvas, left + 0.5 * each,
                  (double)box->y[1] + 8 + HT_CHART_CAP, 0.5,
                  panel->group[group]);
}

static void draw_panel(struct sheet *s, int index) {
    const struct ht_bars_panel *panel = &s->bars->panel[index];
    int64_t top = TOP + s->legend_lines * HT_CHART_LINE + ABOVE +
                  (int64_t)index * (PANEL + ABOVE + BELOW);
    struct ht_box box = {{LEFT, WIDTH - RIGHT}, {top, top + PANEL}};
    s->y.from = (double)box.y[1];
    s->y.to = (double)box.y[0];
    ht_chart_text(&s->canvas, LEFT, (double)top - 12, 0, panel->title);
    ht_chart_text(&s->canvas, WIDTH - RIGHT, (double)top - 12, 1,
                  s->bars->label);
    ht_scale_draw_y(&s->canvas, &box, &s->y);
    for (int g = 0; g < panel->ngroups; g++) draw_group(s, &box, panel, g);
    ht_canvas_frame(&s->canvas, box.x, box.y, ht_chart_colour(-1));
}

enum ht_err ht_bars_write(const struct ht_bars *bars, const char *path) {
    struct sheet s = {.bars = bars};
    TRY(make_scale(&s));
    s.legend_lines = draw_legend(&s);
    int64_t height = TOP + s.legend_lines * HT_CHART_LINE +
                     (int64_t)bars->npanels * (PANEL + ABOVE + BELOW) +
                     HT_CHART_PAD;
    TRY(ht_canvas_create(WIDTH, height, &s.canvas));
    ht_chart_titles(&s.canvas, bars->title, bars->subtitle);
    (void)draw_legend(&s);
    for (int p = 0; p < bars->npanels; p++) draw_panel(&s, p);
    enum ht_err err = ht_png_write(&s.canvas, path);
    ht_canvas_destroy(&s.canvas);
    return err;
}
