/* Weights, symbols and dispersion of central finite differences. */
#include "htwave/num.h"

struct ht_fd_weights ht_fd_weights(int order) {
    struct ht_fd_weights w = {.radius = order / 2};
    const int r = w.radius;
    double ratio = 1; /* R!^2/((R-k)! (R+k)!) */
    for (int k = 1; k <= r; k++) {
        ratio *= (double)(r - k + 1) / (r + k);
        w.second[k] = (k % 2 ? 2 : -2) * ratio / (k * k);
        w.second[0] -= 2 * w.second[k];
    }
    /* s_0 = 2 (2R-1)!!/(2R)!! (2R-1)!!/(2R-2)!!; each further weight follows from the one before,
     * so that no factorial is needed. */
    double weight = 1; /* s_j without sign and 1/(2j+1)^2 */
    for (int m = 1; m <= r; m++) weight *= (2.0 * m - 1) / (2 * m);
    for (int m = 1; m < r; m++) weight *= (2.0 * m + 1) / (2 * m);
    weight *= 2;
    for (int j = 0; j < r; j++) {
        w.first[j] = (j % 2 ? -weight : weight) / ((2 * j + 1) * (2 * j + 1));
        weight *= (double)(r - 1 - j) / (r + j + 1);
    }
    return w;
}

double ht_fd_second_symbol(const struct ht_fd_weights *w, double theta) {
    double sum = 0;
    for (int k = 1; k <= w->radius; k++) {
        double s = sin(k * theta / 2);
        sum += 4 * w->second[k] * s * s;
    }
    return sum;
}

double ht_fd_first_symbol(const struct ht_fd_weights *w, double theta) {
    double sum = 0;
    for (int j = 0; j < w->radius; j++) sum += 2 * w->first[j] * sin((j + 0.5) * theta);
    return sum;
}

double ht_fd_symbol(const struct ht_fd_weights *w, bool density, double theta) {
    const double first = ht_fd_first_symbol(w, theta);
    return density ? first * first : ht_fd_second_symbol(w, theta);
}

/* cos(omega dt) = 1 - x/2 [+ x^2/24 [- x^3/1152]]: in [-1, 1] up to x = 4 [12 [32.4]]. Half the
 * angle is found from its sine: a cosine near 1 would lose the phase. */
double ht_fd_turn(int terms, double x) {
    const double more[] = {[1] = 0, [2] = x * x / 48, [HT_FD_PAIR] = x * x / 48 * (1 - x / 48)};
    const double square = x / 4 - more[terms];
    return square >= 0 && square <= 1 ? 2 * asin(sqrt(square)) : INFINITY;
}

double ht_fd_phase_error(double phase) {
    return fabs(phase) >= HT_PI ? 2 : 2 * fabs(sin(phase / 2));
}

double ht_fd_stable(const struct ht_fd_weights *w, bool density, int terms, int dims) {
    return sqrt((terms > 1 ? 12 : 4) / (dims * ht_fd_symbol(w, density, HT_PI)));
}

double ht_fd_error(const struct ht_fd_weights *w, int terms, const double k[3], double points,
                   double nu, double wavelengths) {
    double length = sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
    double theta = 2 * HT_PI / points, x = 0;
    for (int j = 0; j < 3; j++) x += nu * nu * ht_fd_second_symbol(w, theta * k[j] / length);
    double shift = ht_fd_turn(terms, x) / (theta * nu) - 1;
    return isinf(shift) ? INFINITY : ht_fd_phase_error(2 * HT_PI * wavelengths * shift);
}
