/* Jumps of the medium near shots. A shot takes the medium of each node that it is spread over;
 * where it jumps between these nodes the waves err by more than the grid's dispersion.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "htwave/shots.h"

/* Between points half a spacing apart a smooth medium changes by less. */
static const double JUMP = 0.1;
/* Places of a plane along an axis that are looked at. */
enum { MOST_PLACES = 64 };

struct jump {
    int64_t places, found;
    double shot[3], jump[3]; /* of the first: of the shot, of the jump */
};

/* Along one axis, `reach` to either side of x. */
static enum ht_err find_jump(const struct ht_medium *medium, int material, const double x[3],
                             int axis, double reach, bool *found, double place[3]) {
    const char *name = medium->eq->system->material[material].name;
    const double apart = medium->grid->h[axis] / 2;
    double at[3], before = 0, value;
    memcpy(at, x, sizeof at);
    for (int i = 0; !*found && i * apart <= 2 * reach; i++) {
        at[axis] = x[axis] - reach + i * apart;
        if (at[axis] < medium->grid->lower[axis] || at[axis] > medium->grid->upper[axis]) continue;
        TRY(ht_medium_parameter(medium, name, at, &value));
        *found = before > 0 && fabs(value - before) > JUMP * fmin(value, before);
        if (*found) memcpy(place, at, sizeof at);
        before = value;
    }
    return HT_OK;
}

/* About a point, at places along the axes on which the shot does not vary. */
static enum ht_err look_along(const struct ht_medium *medium, const struct ht_shot *shot, int point,
                              struct jump *jump) {
    const struct ht_grid *grid = medium->grid;
    int count[3];
    double x[3];
    ht_shot_position(shot, point, x);
    for (int k = 0; k < 3; k++)
        count[k] =
            k < grid->dims && !shot->varies[k] ? (int)ht_least(grid->cells[k] + 1, MOST_PLACES) : 1;
    for (int i = 0; i < count[0] * count[1] * count[2]; i++) {
        const int at[3] = {i % count[0], i / count[0] % count[1], i / count[0] / count[1]};
        for (int k = 0; k < 3; k++)
            if (count[k] > 1)
                x[k] = grid->lower[k] + (grid->upper[k] - grid->lower[k]) * at[k] / (count[k] - 1);
        /* Of a plane along its axis only: the medium may vary over it. */
        const struct ht_second_order *form = &medium->eq->second_order;
        const int material[2] = {form->modulus, form->inverse_density};
        double place[3] = {0};
        bool found = false;
        for (int k = 0; k < medium->grid->dims; k++) {
            const double reach = shot->width > 0
                                     ? HT_POINT_WIDEST * shot->width
                                     : ht_point_reach(medium->grid) * medium->grid->h[k];
            if (!shot->varies[k]) continue;
            for (int j = 0; j < 2; j++)
                if (material[j] >= 0)
                    TRY(find_jump(medium, material[j], x, k, reach, &found, place));
        }
        jump->places++;
        if (found && jump->found++ == 0) {
            memcpy(jump->shot, x, sizeof jump->shot);
            memcpy(jump->jump, place, sizeof jump->jump);
        }
    }
    return HT_OK;
}

enum ht_err ht_shots_warn_jumps(const struct ht_shots *shots) {
    const struct ht_medium *medium = shots->medium;
    for (int n = 0; n < shots->count && !medium->uniform; n++) {
        const struct ht_shot *shot = &shots->shot[n];
        struct jump jump = {.places = 0};
        for (int i = 0; i < shot->points; i++) TRY(look_along(medium, shot, i, &jump));
        if (jump.found > 0) {
            char where[HT_PLACE], what[HT_PLACE], which[192];
            ht_grid_place(medium->grid, jump.shot, where);
            if (jump.places > 1)
                snprintf(which, sizeof which, ": %lld of %lld places, the first at %s, are",
                         (long long)jump.found, (long long)jump.places, where);
            else
                snprintf(which, sizeof which, " at %s is", where);
            ht_warn("sources.%d%s spread over nodes on both sides of a jump of the medium near %s: "
                    "waves err there by more than the dispersion of the grid; move it %g %s away",
                    n + 1, which, ht_grid_place(medium->grid, jump.jump, what),
                    shot->width > 0 ? 7 : ht_point_reach(medium->grid),
                    shot->width > 0 ? "widths" : "spacings");
        }
    }
    return HT_OK;
}
