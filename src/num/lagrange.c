#include "htwave/num.h"

/* Barycentric form (Berrut and Trefethen, SIAM Review 46, 2004, eq. 4.2). */
void ht_lagrange_weights(int count, double at, double *weight) {
    double sum = 0, binomial = 1;
    for (int j = 0; j < count; j++) weight[j] = 0;
    for (int j = 0; j < count; j++) {
        if (at == j) {
            for (int i = 0; i < count; i++) weight[i] = i == j;
            return;
        }
        weight[j] = (j % 2 ? -binomial : binomial) / (at - j);
        sum += weight[j];
        binomial *= (double)(count - 1 - j) / (j + 1);
    }
    for (int j = 0; j < count; j++) weight[j] /= sum;
}

/* The rule of products, factor by factor: no place is special. */
void ht_lagrange_slopes(int count, double at, double *weight) {
    for (int i = 0; i < count; i++) {
        double value = 1, slope = 0;
        for (int j = 0; j < count; j++) {
            if (j == i) continue;
            slope = (slope * (at - j) + value) / (i - j);
            value *= (at - j) / (i - j);
        }
        weight[i] = slope;
    }
}
