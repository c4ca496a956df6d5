/* Pairwise covering (test/kernel/cover.h): every pair that some possible row has is in a chosen
 * one, counted here in another way; only possible rows are chosen, the same ones each time, few,
 * and cheap ones where it does not matter. */
#include "kernel/cover.h"
#include "test.h"

static double free_of(const unsigned char *row, void *context) {
    (void)row, (void)context;
    return 1;
}

/* Some levels exclude each other, one is dear. */
static double bound_by(const unsigned char *row, void *context) {
    (void)context;
    if (row[0] == 2 && row[1] > 1) return 0; /* a level that takes few others */
    if (row[2] == 1 && row[3] == 1) return 0;
    return row[1] == 3 ? 10 : 1;
}

/* Pairs that a possible row has and no chosen one. */
static int missing(const struct cover *c) {
    int lost = 0;
    cover_row row = {0};
    do {
        if (c->cost(row, c->context) <= 0) continue;
        for (int a = 0; a < c->factors; a++)
            for (int b = 0; b < c->factors; b++) {
                bool met = false;
                for (int i = 0; i < c->count; i++)
                    met |= c->row[i][a] == row[a] && c->row[i][b] == row[b];
                lost += !met;
            }
    } while (cover_next(c, row));
    return lost;
}

static int unlike(const struct cover *a, const struct cover *b) {
    int count = abs(a->count - b->count);
    for (int i = 0; i < a->count && i < b->count; i++)
        count += memcmp(a->row[i], b->row[i], sizeof a->row[i]) != 0;
    return count;
}

static void judge(const char *name, struct cover c, int least, int most) {
    struct cover again = c;
    int impossible = 0, dear = 0;
    cover_make(&c);
    cover_make(&again);
    for (int i = 0; i < c.count; i++) {
        impossible += c.cost(c.row[i], c.context) <= 0;
        dear += c.cost(c.row[i], c.context) > 1;
    }
    TEST_BELOW(missing(&c), 0, "%s: pairs that are not met", name);
    TEST_BELOW(impossible, 0, "%s: rows that are not possible", name);
    TEST_CHECK(c.count >= least && c.count <= most,
               "%s: %d rows (expected %d to %d), %d of them dear", name, c.count, least, most,
               dear);
    TEST_BELOW(unlike(&c, &again), 0, "%s: rows that differ, chosen again", name);
    free(c.row);
    free(again.row);
}

int main(void) {
    /* At least the product of the two largest factors; the greedy choice takes less than twice that
     * here. */
    judge("two factors", (struct cover){.factors = 2, .levels = {4, 3}, .cost = free_of}, 12, 12);
    judge("ten of two levels",
          (struct cover){.factors = 10, .levels = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2}, .cost = free_of},
          4, 11);
    judge("five factors", (struct cover){.factors = 5, .levels = {5, 4, 3, 2, 4}, .cost = free_of},
          20, 30);
    judge("levels that exclude each other",
          (struct cover){.factors = 6, .levels = {5, 4, 3, 2, 4, 2}, .cost = bound_by}, 18, 30);
    struct cover none = {.factors = 1, .levels = {3}, .cost = free_of};
    cover_make(&none);
    TEST_CHECK(none.count == 0, "one factor has no pairs: %d rows", none.count);
    free(none.row);
    return test_end("unit/cover");
}
