/* Charts as PNG files: points and lines over two axes, and bars in groups.
 * Files are complete or absent. Texts are printable ASCII.
 */
#ifndef HTWAVE_CHART_H
#define HTWAVE_CHART_H

#include "htwave/base.h"

enum ht_marker {
    HT_MARKER_NONE,
    HT_MARKER_DISC,
    HT_MARKER_SQUARE,
    HT_MARKER_DIAMOND,
    HT_MARKER_TRIANGLE,
    HT_MARKER_KINDS
};

/* Points (x, y) in the order of a line; those that are not finite (or not
 * positive on a logarithmic axis) are left out and end a piece of line. */
struct ht_series {
    const char *name; /* in the legend; NULL: not listed */
    int count;
    const double *x, *y;
    const char *const *label; /* [count], beside the points; NULL: none */
    int colour;               /* of a palette, any number; -1: grey */
    enum ht_marker marker;
    bool hollow, line, dashed;
};

/* low = high: from the data. */
struct ht_axis {
    const char *label;
    bool log;
    double low, high;
};

struct ht_chart {
    const char *title, *subtitle; /* subtitle may be NULL */
    struct ht_axis x, y;
    int nseries;
    const struct ht_series *series;
};
/* A label is left out where it would cover a point or another label. */
HT_CHECKED enum ht_err ht_chart_write(const struct ht_chart *chart,
                                      const char *path);

/* Bars in groups, on one or more panels with a common scale. A value that is
 * not finite or not positive is no bar. */
struct ht_bars_panel {
    const char *title;
    int ngroups;
    const char *const *group; /* names, [ngroups] */
    const double *value;      /* [ngroups][nbars] */
};
struct ht_bars {
    const char *title, *subtitle; /* subtitle may be NULL */
    const char *label;            /* of the values */
    bool log;
    int nbars;
    const char *const *bar; /* names, [nbars] */
    int npanels;
    const struct ht_bars_panel *panel;
};
HT_CHECKED enum ht_err ht_bars_write(const struct ht_bars *bars,
                                     const char *path);

#endif
