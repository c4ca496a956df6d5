#include <stdlib.h>

#include "htwave/num.h"

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double ht_median(int count, double *values) {
    qsort(values, (size_t)count, sizeof *values, ascending);
    return values[count / 2];
}
