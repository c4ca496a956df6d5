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
