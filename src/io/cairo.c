/* Pictures, drawn by cairo; the pixels of the map are ours, one to one. All measures follow from
 * the size of the letters, which grows with the map, and margins from the axes, so that the
 * pictures of a run have one size. */
#include <cairo.h>

#include "plot.h"

static const uint32_t ink = 0x232328, faint = 0x69696e, frame = 0x6e6e73, rule = 0xdedee1,
                      curve_colour = 0x025ec3, source_colour = 0xe63c28, paper_colour = 0xffffff;

enum { SMALLEST = 64, LARGEST = 8192, NUMBER = 40 };

/* In heights of a letter. */
static const double pad = 0.8, gap = 0.35, tick = 0.4, line = 1.35, bar_width = 1.3,
                    apart = 4, /* of ticks, at least */
    mark_size = 0.3;
/* Room for the numbers of a colour bar, whose range may change. */
static const char widest_value[] = "-0.000";

/* From values low..high to pixels from..to. */
struct axis {
    double low, high, from, to;
    const struct ht_label *label;
    int exponent; /* numbers are shown over ten to this power */
    double step;  /* from a tick to the next */
};

struct sheet {
    const struct ht_picture *picture;
    bool curve;
    double range, letter;
    int64_t map[2], origin[2], size[2]; /* of the map; of the whole */
    struct axis x, y, bar;
    cairo_t *cr;
};

/* ---- text ---- */

static void set_colour(cairo_t *cr, uint32_t c) {
    cairo_set_source_rgb(cr, (c >> 16) / 255.0, (c >> 8 & 255) / 255.0, (c & 255) / 255.0);
}

static void set_font(cairo_t *cr, double size, bool bold) {
    cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cr, size);
}

static double text_width(cairo_t *cr, const char *text) {
    cairo_text_extents_t extents;
    cairo_text_extents(cr, text, &extents);
    return extents.x_advance;
}

/* align: 0 starts at x, 0.5 is centred on it, 1 ends at it; y: base line. */
static void draw_text(cairo_t *cr, double x, double y, double align, const char *text) {
    cairo_move_to(cr, x - align * text_width(cr, text), y);
    cairo_show_text(cr, text);
}

static double digit_height(cairo_t *cr) {
    cairo_text_extents_t extents;
    cairo_text_extents(cr, "0", &extents);
    return extents.height;
}

/* "p (10^-5 Pa)", the exponent raised, centred on x; angle in radians. */
static void draw_label(const struct sheet *s, double x, double y, double angle,
                       const struct axis *axis) {
    const char *name = axis->label->name, *unit = axis->label->unit;
    const double raised = 0.7, up = 0.4 * s->letter;
    char before[NUMBER], power[NUMBER] = "", after[NUMBER] = "";
    bool ten = axis->exponent != 0;
    if (!name) return;
    if (ten) snprintf(power, sizeof power, "%d", axis->exponent);
    snprintf(before, sizeof before, "%.20s%s", name, ten ? " (10" : unit ? " (" : "");
    snprintf(after, sizeof after, "%s%s%s", ten && unit ? " " : "", unit ? unit : "",
             ten || unit ? ")" : "");
    cairo_t *cr = s->cr;
    cairo_save(cr);
    cairo_translate(cr, x, y);
    cairo_rotate(cr, angle);
    set_font(cr, raised * s->letter, false);
    double small = text_width(cr, power);
    set_font(cr, s->letter, false);
    double first = text_width(cr, before), last = text_width(cr, after);
    double left = -0.5 * (first + small + last);
    draw_text(cr, left, 0, 0, before);
    draw_text(cr, left + first + small, 0, 0, after);
    set_font(cr, raised * s->letter, false);
    draw_text(cr, left + first, -up, 0, power);
    cairo_restore(cr);
}

/* ---- axes ---- */

/* A step of 1, 2 or 5 times a power of ten, at least `room` pixels, but at most half the axis: of a
 * colour bar, its range. */
static void make_ticks(struct axis *axis, double room) {
    double rough = (axis->high - axis->low) * fmin(room / fabs(axis->to - axis->from), 0.2);
    double power = pow(10, floor(log10(rough)));
    int decade = (int)floor(log10(fmax(fabs(axis->low), fabs(axis->high))) + 1e-9);
    axis->step = rough > 5 * power   ? 10 * power
                 : rough > 2 * power ? 5 * power
                 : rough > power     ? 2 * power
                                     : power;
    axis->exponent = decade >= 5 || decade < -2 ? 3 * (int)floor(decade / 3.0) : 0;
}

enum { TICKS = 100 };
struct ticks {
    int count;
    struct {
        double at;
        char text[NUMBER];
    } tick[TICKS];
};

/* Rounding that puts a tick beside an end of the axis leaves it there. */
static struct ticks list_ticks(const struct axis *axis) {
    struct ticks t = {.count = 0};
    const double unit = pow(10, axis->exponent);
    const int digits = (int)fmin(fmax(0, ceil(-log10(axis->step / unit) - 1e-9)), 15);
    const int64_t first = (int64_t)floor(axis->low / axis->step);
    for (int64_t k = first; k < first + TICKS; k++) {
        const double value = (double)k * axis->step;
        const double part = (value - axis->low) / (axis->high - axis->low);
        if (!(part > -1e-9 && part < 1 + 1e-9)) continue;
        t.tick[t.count].at = axis->from + part * (axis->to - axis->from);
        snprintf(t.tick[t.count++].text, NUMBER, "%.*f", digits, value / unit);
    }
    return t;
}

static double widest_number(const struct sheet *s, const struct axis *axis) {
    const struct ticks t = list_ticks(axis);
    double width = 0;
    for (int i = 0; i < t.count; i++) width = fmax(width, text_width(s->cr, t.tick[i].text));
    return width;
}

/* A line along whole pixels. */
static void draw_line(cairo_t *cr, double x0, double y0, double x1, double y1) {
    cairo_move_to(cr, floor(x0) + 0.5, floor(y0) + 0.5);
    cairo_line_to(cr, floor(x1) + 0.5, floor(y1) + 0.5);
    cairo_stroke(cr);
}

/* Along a side of the map at `edge`. Upright: `side` -1 numbers to the left of it, 1 to the right,
 * the label at x = `label`. */
static void draw_axis(const struct sheet *s, const struct axis *axis, bool upright, double edge,
                      int side, double label) {
    const struct ticks t = list_ticks(axis);
    const double length = tick * s->letter, away = length + gap * s->letter;
    const double digit = digit_height(s->cr), middle = 0.5 * (axis->from + axis->to);
    const double low = fmin(axis->from, axis->to), high = fmax(axis->from, axis->to);
    for (int i = 0; i < t.count; i++) {
        const double at = t.tick[i].at, pixel = fmin(fmax(at, low), high - 1);
        set_colour(s->cr, frame);
        if (upright)
            draw_line(s->cr, edge, pixel, edge + side * length, pixel);
        else
            draw_line(s->cr, pixel, edge, pixel, edge + length);
        set_colour(s->cr, ink);
        if (upright)
            draw_text(s->cr, edge + side * away, at + 0.5 * digit, side < 0, t.tick[i].text);
        else
            draw_text(s->cr, at, edge + away + digit, 0.5, t.tick[i].text);
    }
    if (upright)
        draw_label(s, label, middle, -asin(1), axis);
    else
        draw_label(s, middle, edge + away + digit + line * s->letter, 0, axis);
}

/* One pixel wide, just outside. */
static void draw_frame(cairo_t *cr, double x, double y, double width, double height) {
    set_colour(cr, frame);
    cairo_rectangle(cr, x - 0.5, y - 0.5, width + 1, height + 1);
    cairo_stroke(cr);
}

/* ---- the sheet ---- */

/* Width and height of the map: the physical extents' ratio between 1:4 and 4:1, the longest side at
 * least `pixels` and one pixel per node. */
static void map_size(const struct ht_picture *p, bool curve, int64_t map[2]) {
    double ratio = curve ? 2 : (p->x1 - p->x0) / (p->y1 - p->y0);
    if (!isfinite(ratio) || ratio <= 0.0) ratio = 1.0;
    ratio = fmin(fmax(ratio, 0.25), 4.0);
    const int64_t most = ht_most(ratio >= 1.0 ? p->width : p->height, p->pixels);
    const int64_t longest = ht_least(ht_most(most, SMALLEST), LARGEST);
    const double side = (double)longest;
    map[0] = ratio >= 1.0 ? longest : (int64_t)lround(side * ratio);
    map[1] = ratio >= 1.0 ? (int64_t)lround(side / ratio) : longest;
}

static void make_axes(struct sheet *s) {
    const struct ht_picture *p = s->picture;
    double edge = s->range / HT_PLOT_HEADROOM, d = s->letter;
    double width = (double)s->map[0], height = (double)s->map[1];
    double span[2] = {-s->range, s->range};
    if (!p->values) ht_plot_span(p, span);
    s->x = (struct axis){.low = p->x0, .high = p->x1, .to = width, .label = &p->x};
    s->y = (struct axis){.low = p->y0, .high = p->y1, .label = &p->y};
    *(p->y_down ? &s->y.to : &s->y.from) = height;
    if (s->curve) s->y = (struct axis){-edge, edge, height, 0, &p->value, 0, 0};
    s->bar = (struct axis){span[0], span[1], height, 0, &p->value, 0, 0};
    make_ticks(&s->x, apart * d);
    make_ticks(&s->y, apart * d);
    make_ticks(&s->bar, apart * d);
}

static void move_axis(struct axis *axis, int64_t by) {
    axis->from += (double)by;
    axis->to += (double)by;
}

/* Letters small enough for the line to end inside. */
static void draw_title(const struct sheet *s, double y, double size, bool bold, const char *text) {
    if (!text) return;
    double room = (double)(s->size[0] - s->origin[0]) - gap * s->letter;
    set_font(s->cr, size, bold);
    double width = text_width(s->cr, text);
    if (width > room) set_font(s->cr, size * room / width, bold);
    draw_text(s->cr, (double)s->origin[0], y, 0, text);
}

static void draw_bar(const struct sheet *s) {
    double d = s->letter, width = floor(bar_width * d);
    double x = (double)(s->origin[0] + s->map[0]) + ceil(pad * d);
    for (int64_t j = 0; j < s->map[1]; j++) {
        double part = 1.0 - ((double)j + 0.5) / (double)s->map[1];
        set_colour(s->cr,
                   s->picture->values ? ht_colour_signed(2 * part - 1) : ht_colour_rising(part));
        cairo_rectangle(s->cr, x, (double)(s->origin[1] + j), width, 1);
        cairo_fill(s->cr);
    }
    draw_frame(s->cr, x, (double)s->origin[1], width, (double)s->map[1]);
    draw_axis(s, &s->bar, true, x + width, 1, (double)s->size[0] - pad * d);
}

/* A piece of line per run of finite values. */
static void draw_curve(const struct sheet *s) {
    const struct ticks t = list_ticks(&s->y);
    double left = (double)s->origin[0];
    double middle = 0.5 * (s->y.from + s->y.to);
    double half = 0.5 * (double)s->map[1] * HT_PLOT_HEADROOM;
    set_colour(s->cr, rule);
    for (int i = 0; i < t.count; i++)
        draw_line(s->cr, left, t.tick[i].at, left + (double)s->map[0] - 1, t.tick[i].at);
    set_colour(s->cr, curve_colour);
    cairo_set_line_join(s->cr, CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_width(s->cr, 0.15 * s->letter);
    for (int64_t i = 0; i < s->map[0]; i++) {
        double value = ht_plot_curve(s->picture, s->range, i, s->map[0]);
        if (isnan(value))
            cairo_new_sub_path(s->cr);
        else
            cairo_line_to(s->cr, left + (double)i + 0.5, middle - half * value);
    }
    cairo_stroke(s->cr);
    cairo_set_line_width(s->cr, 1);
}

static double pixel_of(const struct axis *axis, double x) {
    return axis->from + (x - axis->low) / (axis->high - axis->low) * (axis->to - axis->from);
}

/* White with a dark edge shows on every colour; outside of the slice the edge alone. */
static void draw_mark(const struct sheet *s, const struct ht_mark *mark, double x, double y) {
    const double r = mark_size * s->letter;
    cairo_new_path(s->cr);
    if (mark->source) {
        cairo_arc(s->cr, x, y, r, 0, 4 * acos(0));
    } else {
        cairo_move_to(s->cr, x, y);
        cairo_rel_line_to(s->cr, -r, -1.6 * r);
        cairo_rel_line_to(s->cr, 2 * r, 0);
    }
    cairo_close_path(s->cr);
    set_colour(s->cr, mark->source ? source_colour : paper_colour);
    if (mark->inside) cairo_fill_preserve(s->cr);
    set_colour(s->cr, mark->inside ? ink : paper_colour);
    cairo_stroke(s->cr);
}

/* Receivers first, and what is in the slice last: none is covered by one that says less. Of a kind
 * one in each square, and of a line those that are three radii apart. */
static HT_ERR draw_marks(const struct sheet *s) {
    const struct ht_picture *p = s->picture;
    const double r = mark_size * s->letter;
    const int64_t columns = (int64_t)((double)s->size[0] / (2 * r)) + 1;
    for (int kind = 0; kind < 4; kind++) {
        HT_ARRAY(bool, taken, columns *((int64_t)((double)s->size[1] / (2 * r)) + 1));
        double last[2] = {-INFINITY, -INFINITY};
        HT_EACH(const struct ht_mark, mark, p->mark, p->marks) {
            const double x = pixel_of(&s->x, mark->x), y = pixel_of(&s->y, mark->y);
            if (mark->source != kind / 2 || mark->inside != kind % 2) continue;
            if (!(x >= 0 && y >= 0 && x < (double)s->size[0] && y < (double)s->size[1])) continue;
            bool *there = &taken[(int64_t)(y / (2 * r)) * columns + (int64_t)(x / (2 * r))];
            if (*there || hypot(x - last[0], y - last[1]) < 3 * r) continue;
            draw_mark(s, mark, x, y);
            *there = true;
            last[0] = x;
            last[1] = y;
        }
    }
    return HT_OK;
}

static void draw_layers(const struct sheet *s) {
    const struct ht_outline *in = &s->picture->inner;
    const double left = (double)s->origin[0], width = (double)s->map[0];
    const double top = (double)s->origin[1], height = (double)s->map[1];
    const double x = pixel_of(&s->x, in->x[0]), end = pixel_of(&s->x, in->x[1]);
    const double y = s->curve ? top : pixel_of(&s->y, in->y[0]);
    const double up = s->curve ? top + height : pixel_of(&s->y, in->y[1]);
    cairo_save(s->cr);
    cairo_rectangle(s->cr, left, top, width, height);
    cairo_rectangle(s->cr, x, y, end - x, up - y);
    cairo_set_fill_rule(s->cr, CAIRO_FILL_RULE_EVEN_ODD);
    cairo_clip(s->cr);
    set_colour(s->cr, frame);
    const double between = 0.6 * s->letter;
    for (int i = 0; i < (int)((width + height) / between); i++) {
        cairo_move_to(s->cr, left - height + i * between, top + height);
        cairo_rel_line_to(s->cr, height, -height);
    }
    cairo_stroke(s->cr);
    cairo_restore(s->cr);
}

static HT_ERR draw(const struct sheet *s) {
    cairo_surface_t *surface = cairo_get_target(s->cr);
    double left = (double)s->origin[0], top = (double)s->origin[1];
    int64_t stride = cairo_image_surface_get_stride(surface) / 4;
    cairo_set_source_rgb(s->cr, 1, 1, 1);
    cairo_paint(s->cr);
    cairo_surface_flush(surface);
    /* cairo aligns rows to words */
    uint32_t *pixel = (void *)cairo_image_surface_get_data(surface);
    ht_plot_map(s->picture, s->range, s->map, stride, pixel + s->origin[1] * stride + s->origin[0]);
    cairo_surface_mark_dirty(surface);
    cairo_set_line_width(s->cr, 1);
    if (s->curve) draw_curve(s);
    const struct ht_picture *p = s->picture;
    if (p->layered) draw_layers(s);
    const double dash = 0.5 * s->letter;
    cairo_set_dash(s->cr, &dash, 1, 0);
    cairo_set_line_width(s->cr, 0.15 * s->letter);
    set_colour(s->cr, source_colour);
    HT_EACH(const struct ht_outline, o, p->outline, p->outlines) {
        double x = pixel_of(&s->x, o->x[0]), y = pixel_of(&s->y, o->y[0]);
        cairo_rectangle(s->cr, x, y, pixel_of(&s->x, o->x[1]) - x, pixel_of(&s->y, o->y[1]) - y);
        cairo_stroke(s->cr);
    }
    cairo_set_dash(s->cr, NULL, 0, 0);
    cairo_set_line_width(s->cr, 1);
    TRY(draw_marks(s));
    double d = s->letter, first = (pad + 0.8) * d;
    set_colour(s->cr, ink);
    draw_title(s, first, 1.15 * d, true, s->picture->title);
    set_colour(s->cr, faint);
    draw_title(s, first + line * d, 0.9 * d, false, s->picture->subtitle);
    set_font(s->cr, d, false);
    draw_frame(s->cr, left, top, (double)s->map[0], (double)s->map[1]);
    draw_axis(s, &s->x, false, top + (double)s->map[1], 0, 0);
    draw_axis(s, &s->y, true, left - 1, -1, (pad + 0.6) * s->letter);
    if (!s->curve) draw_bar(s);
    return HT_OK;
}

static void end_cairo(cairo_t **cr) {
    cairo_destroy(*cr);
}

/* Grey edges and no hints: letters depend on the font alone. */
static cairo_t *make_paper(const int64_t size[2]) {
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_surface_t *surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)size[0], (int)size[1]);
    cairo_t *cr = cairo_create(surface);
    cairo_surface_destroy(surface); /* cr holds it */
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_set_font_options(cr, options);
    cairo_font_options_destroy(options);
    return cr;
}

static HT_ERR check(cairo_t *cr, const char *path) {
    cairo_status_t status = cairo_status(cr);
    if (status == CAIRO_STATUS_SUCCESS) return HT_OK;
    FAIL(status == CAIRO_STATUS_NO_MEMORY ? HT_ERR_MEMORY : HT_ERR_INTERNAL, "cannot draw %s: %s",
         path, cairo_status_to_string(status));
}

static cairo_status_t write_some(void *data, const unsigned char *bytes, unsigned length) {
    struct ht_stream *stream = data;
    if (fwrite(bytes, 1, length, stream->file) == length) return CAIRO_STATUS_SUCCESS;
    stream->error = errno; /* which cairo does not pass on */
    return CAIRO_STATUS_WRITE_ERROR;
}

HT_ERR ht_picture_write(const struct ht_picture *p, const char *path) {
    const int64_t smallest[2] = {1, 1};
    struct sheet s = {.picture = p, .curve = p->height == 1, .range = p->range};
    if (p->values && !(s.range > 0)) s.range = ht_plot_largest(p);
    if (p->values && !(s.range > 0)) s.range = 1;
    map_size(p, s.curve, s.map);
    const double d = s.letter = fmin(fmax((double)ht_most(s.map[0], s.map[1]) / 46, 11), 90);
    make_axes(&s);
    HT_ENDED(end_cairo) cairo_t *letters = make_paper(smallest); /* to measure them */
    s.cr = letters;
    /* Where the map is, and the size of the whole; needs a font. */
    set_font(s.cr, d, false);
    make_ticks(&s.x, fmax(widest_number(&s, &s.x) + d, apart * d));
    double numbers = s.curve ? text_width(s.cr, widest_value) : widest_number(&s, &s.y);
    double label = (s.curve ? p->value.name : p->y.name) ? line * d : 0;
    double right = fmax(pad * d, 0.5 * widest_number(&s, &s.x) + gap * d);
    if (!s.curve)
        right = (2 * pad + bar_width + tick + gap) * d + text_width(s.cr, widest_value) +
                (p->value.name ? line * d : 0);
    double below = (tick + gap + pad) * d + digit_height(s.cr) + (p->x.name ? line * d : 0);
    s.origin[0] = (int64_t)ceil((pad + gap + tick) * d + label + numbers);
    s.origin[1] = (int64_t)ceil((pad + line + gap + (p->subtitle ? line : 0)) * d);
    s.size[0] = s.origin[0] + s.map[0] + (int64_t)ceil(right);
    s.size[1] = s.origin[1] + s.map[1] + (int64_t)ceil(below);
    move_axis(&s.x, s.origin[0]);
    move_axis(&s.y, s.origin[1]);
    move_axis(&s.bar, s.origin[1]);
    TRY(check(s.cr, path));
    HT_ENDED(end_cairo) cairo_t *paper = make_paper(s.size);
    s.cr = paper;
    TRY(check(s.cr, path));
    TRY(draw(&s));
    TRY(check(s.cr, path));
    struct ht_stream stream;
    TRY(ht_stream_open(NULL, path, &stream));
    cairo_status_t status =
        cairo_surface_write_to_png_stream(cairo_get_target(paper), write_some, &stream);
    enum ht_err err = HT_OK;
    if (status != CAIRO_STATUS_SUCCESS && stream.error == 0)
        err = ht_err_set(HT_ERR_IO, "cannot write %s: %s", path, cairo_status_to_string(status));
    return ht_stream_close(&stream, err);
}

const char *ht_picture_cairo(void) {
    return cairo_version_string();
}
