/* Images of sources; see the header. */
#include "duhamel_private.h"

#include <math.h>
#include <string.h>

static const int64_t one = (int64_t)1 << HT_SOURCE_FRACTION;

static int power_of(int factor, int64_t count) {
    return factor < 0 && count % 2 != 0 ? -1 : 1;
}

/* Image number n of a point: a period further each, or 2 j: two mirrors
 * further, 2 j + 1: mirrored at the upper wall, -1: at the lower one. */
static struct ht_source_image image_of(const struct ht_grid *grid, int axis,
                                       int64_t at, int64_t n) {
    const int64_t length = grid->cells[axis] * one;
    const int low = grid->wall[axis][0], high = grid->wall[axis][1];
    if (ht_grid_periodic(grid, axis))
        return (struct ht_source_image){.at = at + n * length, .factor = 1};
    const bool mirrored = n % 2 != 0;
    const int64_t pairs = (n - mirrored) / 2;
    const int64_t upper = n > 0 ? (n + 1) / 2 : -n / 2,
                  lower = n > 0 ? n / 2 : (1 - n) / 2;
    return (struct ht_source_image){
        .at =
            mirrored ? 2 * (pairs + 1) * length - at : 2 * pairs * length + at,
        .factor = power_of(high, upper) * power_of(low, lower),
        .mirrored = mirrored};
}

static int list_images(const struct ht_grid *grid, int axis, int64_t at,
                       int64_t reach,
                       struct ht_source_image out[HT_SOURCE_IMAGES]) {
    const int64_t length = grid->cells[axis] * one;
    const int64_t most = reach / length + 2;
    int count = 0;
    for (int64_t n = -most; n <= most; n++) {
        const struct ht_source_image image = image_of(grid, axis, at, n);
        if (image.at + reach < 0 || image.at - reach > length) continue;
        if (count < HT_SOURCE_IMAGES) out[count++] = image;
    }
    return count;
}

void ht_source_images(const struct ht_problem *problem,
                      const struct ht_source_point *point,
                      const double reach[3], struct ht_source_images *out) {
    const struct ht_grid *grid = problem->grid;
    const struct ht_source_form *form = &problem->duhamel->form[point->shot];
    for (int k = 0; k < 3; k++) {
        out->count[k] = 1;
        out->axis[k][0] = (struct ht_source_image){.factor = 1};
        if (!ht_source_varies(form, k)) continue;
        const double at = (point->x[k] - grid->lower[k]) / grid->h[k];
        out->count[k] = list_images(
            grid, k, llround(ldexp(at, HT_SOURCE_FRACTION)),
            llround(ldexp(reach[k], HT_SOURCE_FRACTION)), out->axis[k]);
    }
}

struct ht_source_vector ht_source_vector(const struct ht_problem *problem,
                                         const struct ht_source_point *point) {
    const struct ht_second_order *form = &problem->eq->system->second_order;
    const struct ht_duhamel *d = problem->duhamel;
    const struct ht_shot *shot = &d->shots->shot[point->shot];
    struct ht_source_vector v = {.order = d->form[point->shot].order};
    memcpy(v.along, d->form[point->shot].along, sizeof v.along);
    memcpy(v.material, point->material, sizeof v.material);
    if (shot->kind == HT_SHOT_MONOPOLE && form->rate >= 0)
        v.field[form->rate] = 1;
    else if (shot->kind == HT_SHOT_MONOPOLE)
        v.field[form->field] = point->material[form->modulus];
    for (int k = 0; shot->kind == HT_SHOT_FORCE && k < problem->grid->dims; k++)
        v.field[form->flux + k] =
            shot->direction[k] * point->material[form->inverse_density];
    return v;
}

struct ht_source_vector
ht_source_vector_image(const struct ht_problem *problem,
                       const struct ht_source_vector *source,
                       const struct ht_source_image *const image[3]) {
    struct ht_source_vector v = *source;
    for (int f = 0; f < problem->eq->nfields; f++)
        for (int k = 0; k < problem->grid->dims; k++) {
            const bool odd = problem->eq->field[f].parity >> k & 1u;
            v.field[f] *= image[k]->factor;
            if (image[k]->mirrored && odd) v.field[f] = -v.field[f];
        }
    return v;
}
