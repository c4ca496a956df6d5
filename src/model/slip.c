/* Where fluid meets solid along a flat face; see the header. */
#include "medium_private.h"

/* LINES: through the box along an axis. MOST: faces that are known. HALVES: of a gap of samples. */
enum { LINES = 5, MOST = 16, HALVES = 40 };

struct look {
    const struct ht_medium *medium;
    const char *material; /* that is 0 in a fluid */
    int axis;
    double x[3];
};

static enum ht_err is_fluid(struct look *l, double at, bool *out) {
    double value;
    l->x[l->axis] = at;
    TRY(ht_medium_parameter(l->medium, l->material, l->x, &value));
    *out = value == 0;
    return HT_OK;
}

/* Between two places, one of which is in the fluid. */
static enum ht_err find_face(struct look *l, double low, double high, bool fluid, double *out) {
    for (int i = 0; i < HALVES; i++) {
        const double middle = (low + high) / 2;
        bool same;
        TRY(is_fluid(l, middle, &same));
        if (same == fluid)
            low = middle;
        else
            high = middle;
    }
    *out = (low + high) / 2;
    return HT_OK;
}

/* Faces on a line, from samples half a spacing apart. */
static enum ht_err list_faces(struct look *l, int *count, double face[MOST]) {
    const struct ht_grid *grid = l->medium->grid;
    const double half = grid->h[l->axis] / 2;
    bool before, now;
    *count = 0;
    TRY(is_fluid(l, grid->lower[l->axis], &before));
    for (int64_t i = 1; i <= 2 * grid->cells[l->axis] && *count < MOST; i++) {
        const double at = grid->lower[l->axis] + (double)i * half;
        TRY(is_fluid(l, at, &now));
        if (now != before) TRY(find_face(l, at - half, at, before, &face[(*count)++]));
        before = now;
    }
    return HT_OK;
}

enum ht_err ht_medium_slip(const struct ht_medium *medium, int axis, bool *found, double *at) {
    const struct ht_grid *grid = medium->grid;
    struct look l = {.medium = medium, .axis = axis};
    double face[LINES][MOST];
    int count[LINES];
    *found = false;
    const struct ht_system *system = medium->eq->system;
    for (int m = 0; m < system->nmaterials - system->nlost; m++)
        if (system->material[m].zero) l.material = system->material[m].name;
    if (l.material == NULL || !medium->source->depends[axis]) return HT_OK;
    for (int i = 0; i < LINES; i++) {
        for (int k = 0; k < 3; k++) {
            const double part = fmod(0.31 + 0.618 * i + 0.27 * k, 1);
            l.x[k] = grid->lower[k] + part * (grid->upper[k] - grid->lower[k]);
        }
        TRY(list_faces(&l, &count[i], face[i]));
    }
    for (int j = 0; j < count[0]; j++) {
        int lines = 1;
        for (int i = 1; i < LINES; i++)
            for (int n = 0; n < count[i]; n++)
                if (fabs(face[i][n] - face[0][j]) < 1e-6 * grid->h[axis]) {
                    lines++;
                    break;
                }
        if (lines < LINES) continue;
        *found = true;
        *at = face[0][j];
        return HT_OK;
    }
    return HT_OK;
}
