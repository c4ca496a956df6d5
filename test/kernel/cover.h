/* Pairwise covering. A case of a test is a row: one level of each factor, say order 3, double
 * precision, layout 0. From all rows that are possible a few are chosen such that every pair of
 * levels of two factors that occurs in a possible row occurs in a chosen one. A fault that shows
 * for one level, or only where two meet, is then found; some hundred rows stand for many thousands.
 *
 * The choice is greedy: next comes the row with most new pairs for its cost, the first of several.
 * So the same rows are chosen every time. */
#pragma once

#include "htwave/kernel.h"

enum { COVER_FACTORS = 12, COVER_LEVELS = 32 };

typedef unsigned char cover_row[COVER_FACTORS];

struct cover {
    int factors, levels[COVER_FACTORS];
    /* What a row costs; 0: it is not possible. */
    double (*cost)(const unsigned char *row, void *context);
    void *context;
    int count; /* chosen */
    cover_row *row;
};

/* Pairs of levels that are still to be met. */
struct cover_pairs {
    bool open[COVER_FACTORS][COVER_LEVELS][COVER_FACTORS][COVER_LEVELS];
};

struct cover_candidate {
    cover_row row;
    double cost, worth; /* worth: new pairs by cost, when last counted */
};

/* Open pairs in the row. */
static inline int cover_count(const struct cover *c, struct cover_pairs *pairs,
                              const unsigned char *row) {
    int count = 0;
    for (int a = 0; a < c->factors; a++)
        for (int b = a + 1; b < c->factors; b++) count += pairs->open[a][row[a]][b][row[b]];
    return count;
}

static inline void cover_set(const struct cover *c, struct cover_pairs *pairs,
                             const unsigned char *row, bool open) {
    for (int a = 0; a < c->factors; a++)
        for (int b = a + 1; b < c->factors; b++) pairs->open[a][row[a]][b][row[b]] = open;
}

/* The next row of the full product; false after the last. */
static inline bool cover_next(const struct cover *c, unsigned char *row) {
    for (int f = c->factors - 1; f >= 0; f--) {
        if (++row[f] < c->levels[f]) return true;
        row[f] = 0;
    }
    return false;
}

/* All possible rows, whose pairs are opened. */
static inline size_t cover_candidates(const struct cover *c, struct cover_pairs *pairs,
                                      struct cover_candidate **out) {
    size_t count = 0, room = 0;
    cover_row row = {0};
    do {
        double cost = c->cost(row, c->context);
        if (!(cost > 0)) continue;
        if (count == room) {
            room = 2 * room + 1024;
            *out = realloc(*out, room * sizeof **out);
            if (*out == NULL) abort();
        }
        (*out)[count].cost = cost;
        (*out)[count].worth = 1e300;
        memcpy((*out)[count++].row, row, sizeof row);
        cover_set(c, pairs, row, true);
    } while (cover_next(c, row));
    return count;
}

/* The row of most worth. What a row is worth only falls while others are chosen, so an old count is
 * a bound. NULL: nothing is open. */
static inline struct cover_candidate *cover_best(const struct cover *c, struct cover_pairs *pairs,
                                                 struct cover_candidate *list, size_t count) {
    struct cover_candidate *best = NULL;
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        if (list[i].worth <= most) continue;
        list[i].worth = cover_count(c, pairs, list[i].row) / list[i].cost;
        if (list[i].worth <= most) continue;
        most = list[i].worth;
        best = &list[i];
    }
    return best;
}

/* Sets count and row, to be freed; all else is given. */
static inline void cover_make(struct cover *c) {
    HT_FREED struct cover_pairs *pairs = calloc(1, sizeof *pairs);
    struct cover_candidate *list = NULL, *best;
    if (pairs == NULL) abort();
    size_t count = cover_candidates(c, pairs, &list);
    c->count = 0;
    c->row = NULL;
    while ((best = cover_best(c, pairs, list, count)) != NULL) {
        cover_set(c, pairs, best->row, false);
        c->row = realloc(c->row, ((size_t)c->count + 1) * sizeof *c->row);
        if (c->row == NULL) abort();
        memcpy(c->row[c->count++], best->row, sizeof *c->row);
    }
    free(list);
}
