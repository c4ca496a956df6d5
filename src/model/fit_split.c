/* Jumps of the impedance, at which the averages split the medium.
 *
 * Where 1/K and rho both jump, each up on its own side, averages put some of the larger 1/K among
 * points of the larger rho. Together these are a resonator, slower than both sides by the root of
 *     q = max(1/K) max(rho) / max(rho/K),
 * and from q about 16 on it answers to waves of 20 points per wavelength (bench/NOTES.md, "Fitted
 * medium"). Beyond that, going from the larger rho to the larger 1/K, there is a point of K and one
 * of rho half a spacing on with the geometric means of both sides; points before have the values of
 * the one side, and points behind those of the other one, but for the last rho before and the first
 * 1/K behind, which keep the sums over points. Jumps are judged where the medium depends on one
 * axis.
 */
#include <math.h>
#include <stdlib.h>

#include "fit_private.h"

static const double RESONANT = 16;
/* Jumps by more than KEPT that are nearer than APART spacings have a point in common, and none of
 * them is split. */
static const double KEPT = 1.5, APART = 2;

/* 1/K and rho of the boxes along the axis on which they depend. */
struct line {
    struct ht_fit_axis *axis;
    double *value[2];
};

static enum ht_err line_read(const struct ht_fit *fit, int k, enum ht_fit_quantity quantity,
                             double *value) {
    const struct ht_fit_axis *axis = &fit->axis[k];
    const int64_t lines = k == 1 ? axis->boxes : 1;
    int64_t p = 0; /* where pieces are the boxes in their order */
    while (axis->box[p] != 0 || axis->box[p + 1] != 1) p++;
    for (int64_t i = 0; i < (k == 2 ? axis->boxes : 1); i++) {
        double *out[HT_MAX_SCALARS] = {NULL};
        out[quantity] = value + i;
        TRY(ht_fit_source(fit, k == 2 ? p + i : 0, k == 1 ? p : 0, (k == 1 ? p : 0) + lines, 1,
                          out));
    }
    return HT_OK;
}

/* Factor by which a quantity jumps at the end of piece p, up if above 1. */
static double jump(const struct line *line, int quantity, int64_t p) {
    const int64_t *box = line->axis->box + p;
    return line->value[quantity][box[1]] / line->value[quantity][box[0]];
}

/* q at the end of piece p. */
static double resonance(const struct line *line, int64_t p) {
    const double C = jump(line, 0, p), rho = jump(line, 1, p);
    return fmax(C, 1) * fmax(rho, 1) / fmax(C * rho, 1);
}

static bool considerable(const struct line *line, int64_t p) {
    for (int i = 0; i < 2; i++)
        if (fabs(log(jump(line, i, p))) > log(KEPT)) return true;
    return false;
}

/* Beside the split at the end of piece p the sinc of other jumps would reach to its other side:
 * they are averaged by boxes. */
static void settle(const struct line *line, int64_t p) {
    struct ht_fit_axis *axis = line->axis;
    bool alone = true;
    for (int step = -1; step <= 1; step += 2)
        for (int64_t e = p + step; e >= 0 && e < axis->pieces - 1; e += step) {
            double far = fabs(axis->place[e + 1] - axis->place[p + 1]);
            if (far > (HT_FIT_REACH + 1) * axis->h) break;
            if (axis->end[e] == HT_FIT_END_SINC) axis->end[e] = HT_FIT_END_BOX;
            if (far < APART * axis->h && considerable(line, e)) alone = false;
        }
    if (!alone) axis->end[p] = HT_FIT_END_BOX;
}

static enum ht_err judge(const struct ht_fit *fit, int k, struct line *line) {
    struct ht_fit_axis *axis = line->axis;
    for (int i = 0; i < 2; i++) {
        TRY(HT_ALLOC(line->value[i], axis->boxes));
        TRY(line_read(fit, k, i ? HT_FIT_DENSITY : HT_FIT_COMPLIANCE, line->value[i]));
    }
    for (int64_t p = 0; p < axis->pieces - 1; p++)
        if (resonance(line, p) > RESONANT) {
            axis->end[p] = HT_FIT_END_SPLIT;
            for (int i = 0; i < 2; i++) axis->jump[i][p] = jump(line, i, p);
        }
    for (int64_t p = 0; p < axis->pieces - 1; p++)
        if (resonance(line, p) > RESONANT) settle(line, p);
    return HT_OK;
}

enum ht_err ht_fit_split(struct ht_fit *fit) {
    int axes = 0, along = 0;
    for (int k = 0; k < 3; k++)
        if (fit->axis[k].boxes > 1) axes++, along = k;
    if (axes != 1 || fit->kind != HT_FIT_SINC || fit->density_uniform) return HT_OK;
    struct line line = {.axis = &fit->axis[along]};
    enum ht_err err = judge(fit, along, &line);
    free(line.value[0]);
    free(line.value[1]);
    return err;
}

/* 1/K is larger above; the quantity itself by the factor `up`. */
static double part_below(double z, double x, double up, bool own) {
    const double mean = sqrt(up) / (1 + sqrt(up)); /* of a, b: root of ab */
    const double m = floor(z + 0.25);              /* the points of the mean: m, m + 1/2 */
    const double at = own ? m + 0.5 : m, rest = own ? m - 0.5 : m + 1;
    if (x == at) return mean;
    if (x == rest) return z - fmin(at, rest) + 0.5 - mean;
    return x < at;
}

double ht_fit_split_part(const struct ht_fit_axis *axis, int64_t p, double x, bool own) {
    const double z = (axis->place[p + 1] - axis->lower) / axis->h;
    const double up = axis->jump[own ? 1 : 0][p];
    return axis->jump[0][p] > 1 ? part_below(z, x, up, own) : 1 - part_below(-z, -x, 1 / up, own);
}
