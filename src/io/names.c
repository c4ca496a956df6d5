#include "files.h"

enum { LONGEST = 24 }; /* bytes of a unit's name */

HT_ERR ht_units_check(const struct ht_params *params, const struct ht_equations *eq) {
    const struct ht_map *units = &params->output.units;
    HT_FREED_TEXT struct ht_text list = {0};
    char name[32];
    REFUSE(ht_down_axis(params) >= eq->dims, params, "output.down", "the grid has %d ax%s",
           eq->dims, eq->dims > 1 ? "es" : "is");
    /* What may have a unit: "length, time, p, v1, c, K, rho". */
    ht_text_add(&list, "length, time");
    for (int f = 0; f < eq->nfields; f++) ht_text_add(&list, ", %s", eq->field[f].name);
    for (int p = 0; p < eq->system->nparameters; p++)
        for (int i = 0; ht_alternative(eq->system->parameter[p].names, i, name, sizeof name); i++)
            ht_text_add(&list, ", %s", name);
    TRY(ht_text_status(&list));
    for (int i = 0; i < units->count; i++) {
        HT_FREED char *key = NULL;
        TRY(ht_text_print(&key, "output.units.%s", units->name[i]));
        REFUSE(ht_text_find(list.data, ',', units->name[i]) < 0, params, key,
               "must be the unit of one of %s", list.data);
        /* A control character, or bytes that are no UTF-8, cannot be drawn. */
        REFUSE(!(strlen(units->text[i]) <= LONGEST && !strchr(units->text[i], '\t') &&
                 strcmp(HT_SHOWN(units->text[i]), units->text[i]) == 0),
               params, key, "must be text in UTF-8 of at most %d bytes", LONGEST);
    }
    return HT_OK;
}

int ht_down_axis(const struct ht_params *params) {
    if (strcmp(params->output.down, "auto") != 0)
        return ht_text_find("x1|x2|x3", '|', params->output.down);
    for (int axis = params->grid.dims - 1; axis >= 0; axis--)
        if (strcmp(params->boundary.side[axis][0], "free") == 0) return axis;
    return -1;
}

HT_ERR ht_units_write(const struct ht_params *params, struct ht_h5 *file) {
    const struct ht_map *units = &params->output.units;
    const int down = ht_down_axis(params);
    if (down >= 0) TRY(ht_h5_set_text(file, "down", HT_KEY("x%d", down + 1)));
    for (int i = 0; i < units->count; i++)
        if (*units->text[i])
            TRY(ht_h5_set_text(file, HT_KEY("unit_%s", units->name[i]), units->text[i]));
    return HT_OK;
}

/* ---- places of sources and receivers ---- */

int ht_places_of(const struct ht_shot *shot) {
    return shot->type->flat ? 0 : shot->points;
}

HT_ERR ht_places_make(const struct ht_shots *shots, const struct ht_receivers *receivers,
                      struct ht_places *out) {
    *out = (struct ht_places){.shots = shots};
    for (int i = 0; shots && i < shots->count; i++) out->sources += ht_places_of(&shots->shot[i]);
    out->count = out->sources;
    for (int n = 0; receivers && n < receivers->count; n++) out->count += receivers->group[n].count;
    TRY(HT_ALLOC(out->x, out->count));
    double(*x)[3] = out->x;
    for (int i = 0; shots && i < shots->count; i++)
        for (int k = 0; k < ht_places_of(&shots->shot[i]); k++)
            ht_shot_position(&shots->shot[i], k, *x++);
    for (int n = 0; receivers && n < receivers->count; n++)
        for (int64_t k = 0; k < receivers->group[n].count; k++)
            memcpy(*x++, receivers->group[n].x[k], sizeof *x);
    return HT_OK;
}

void ht_places_free(struct ht_places *places) {
    free(places->x);
}
