/* Shared by src/model/signal.c and signal_file.c. */
#pragma once

#include <complex.h>

#include "htwave/shots.h"

/* A sample of a file: value, second derivative of the spline, and the integrals up to here. */
struct ht_knot {
    double t, s, bend, area, moment;
};
struct ht_signal {
    struct ht_signal_given given;
    struct ht_signal_traits traits;
    double band[HT_SIGNAL_BANDS];
    int64_t samples; /* of a file */
    struct ht_knot *knot;
};

/* ---- signal_file.c ---- */
HT_CHECKED enum ht_err ht_spline_read(struct ht_signal *s);
double ht_spline_at(const struct ht_signal *s, double t, int order);
void ht_spline_extent(const struct ht_signal *s, double extent[2]);
