/* Where and when values of fields are: of most schemes all at the nodes of the primary grid. */
#include <stdlib.h>
#include <string.h>

#include "methods.h"

struct ht_places_all {
    struct ht_places places;
    struct ht_grid grid[8];
    struct ht_medium medium[8];
};

static enum ht_err add_place(const struct ht_plan *plan, unsigned fields, unsigned parity,
                             double later, struct ht_places_all *all) {
    const int i = all->places.count;
    struct ht_grid *grid = &all->grid[i];
    *grid = plan->grid;
    for (int k = 0; k < 3; k++) grid->shift[k] = parity >> k & 1u ? 0.5 : 0;
    all->medium[i] = *plan->medium;
    all->medium[i].grid = grid;
    all->places.place[i] = (struct ht_place){.fields = fields, .later = later};
    all->places.count++;
    return ht_solution_create(plan->params, &all->medium[i], &all->places.place[i].solution);
}

enum ht_err ht_places_create(const struct ht_plan *plan, struct ht_places **out) {
    struct ht_places_all *all = NULL;
    struct ht_pair pair;
    unsigned left;
    *out = NULL;
    TRY(HT_ALLOC(all, 1));
    *out = &all->places;
    if (plan->problem.fd.pair == HT_PAIR_NONE) {
        all->places.count = 1;
        all->places.place[0] =
            (struct ht_place){.solution = plan->solution, .fields = ~0u, .borrowed = true};
        return HT_OK;
    }
    ht_problem_pair(&plan->problem, &pair);
    left = pair.group[0] | pair.group[1];
    for (int f = 0; f < pair.nfields; f++) {
        const int group = pair.group[1] >> f & 1u;
        unsigned fields = 0;
        for (int g = 0; g < pair.nfields; g++)
            if ((left & pair.group[group]) >> g & 1u && pair.parity[g] == pair.parity[f])
                fields |= 1u << g;
        if (!(left >> f & 1u)) continue;
        left &= ~fields;
        const enum ht_err err =
            add_place(plan, fields, pair.parity[f], group == 0 ? -plan->problem.dt / 2 : 0, all);
        if (err != HT_OK) {
            ht_places_destroy(*out);
            *out = NULL;
            return err;
        }
    }
    return HT_OK;
}

void ht_places_destroy(struct ht_places *places) {
    if (places == NULL) return;
    for (int i = 0; i < places->count; i++)
        if (!places->place[i].borrowed) ht_solution_destroy(places->place[i].solution);
    free(places);
}
