/* Rounding of parity blocks' entries (src/kernel/blocks.c): what the errors of a row give for
 * resolved plane waves is compared with that of entries rounded each for itself. Waves are drawn at
 * random, not those that the rounding knows. A row has more entries than resolved waves set
 * conditions, and they fall by powers of ten, so that most of the errors cancel: measured 6 to 23
 * times less than without (one dimension has too few entries). In proportion to the largest of its
 * column an entry may change by some hundred times the 2^-24 of an ordinary rounding. Bounds are
 * 1.5 to 5 times what is measured; sizes left out give changes of 1e-4 to 31. */
#include "must.h"

#include "src/kernel/blocks.h"
#include "src/kernel/counts.h"

enum { WAVES = 50 };

struct row {
    const char *system;
    int dims, order, old_sign;
    unsigned src, dst;
    double less; /* error at most, of that of nearest entries */
};

static struct ht_spec spec_of(const struct row *row, const struct ht_equations *eq) {
    struct ht_spec spec = {.eq = eq,
                           .order = row->order,
                           .medium_degree = -1,
                           .stages = row->dims * (2 * row->order + 1),
                           .old_sign = row->old_sign,
                           .src = row->src,
                           .dst = row->dst};
    for (int t = 0; t < eq->nterms; t++)
        spec.scale[t] = (0.4 - 0.05 * eq->term[t].axis) * eq->term[t].coef *
                        (eq->term[t].derivative == 2 ? 0.4 : 1);
    return spec;
}

/* Coefficient i of exp(i kappa x) at the sum of both sides, with the signs of block g for that
 * source; real but for a factor that a field's sums share. */
static double sum_of(const struct ht_spec *spec, const double kappa[3], int i, unsigned signs) {
    const int n1 = spec->order + 1;
    double value = 1;
    int turns = 0;
    for (int k = 0; k < spec->eq->dims; k++) {
        const int index = i % n1;
        const unsigned difference = signs >> k & 1u;
        for (int j = 1; j <= index; j++) value *= kappa[k] / j;
        value *= difference ? sin(kappa[k] / 2) : cos(kappa[k] / 2);
        turns += index + (int)difference;
        i /= n1;
    }
    return turns / 2 % 2 ? -value : value;
}

struct errors {
    double nearest, rounded; /* sums of squares over waves, rows, fields */
    double change;           /* largest, over the column's largest */
    bool halves;             /* all entries are two numbers of 11 bits */
};

/* Column s of a block. */
static void look(const struct ht_blocks *exact, const struct ht_blocks *rounded, int g, int s,
                 struct errors *e) {
    double largest = 0, change = 0;
    for (int r = 0; r < exact->rows[g]; r++) {
        const int64_t at = (int64_t)r * exact->sources + s;
        const double value = rounded->entry[g][at];
        const double rest = value - ht_first_half(value);
        largest = fmax(largest, fabs(exact->entry[g][at]));
        change = fmax(change, fabs(value - exact->entry[g][at]));
        if (ht_first_half(rest) != rest) e->halves = false;
    }
    if (largest > 0) e->change = fmax(e->change, change / largest);
}

static void add_wave(const struct ht_spec *spec, const struct ht_blocks *exact,
                     const struct ht_blocks *rounded, int g, const double kappa[3],
                     struct errors *e) {
    const struct ht_sizes z = ht_sizes_of(spec);
    const int coefs = z.n1 * z.n2 * z.n3;
    for (int r = 0; r < exact->rows[g]; r++)
        for (int first = 0; first < exact->sources; first += coefs) {
            double of_nearest = 0, of_rounded = 0, size = 0;
            for (int s = first; s < first + coefs; s++) {
                const int64_t at = (int64_t)r * exact->sources + s;
                const double b = exact->entry[g][at];
                const double sum = sum_of(spec, kappa, s - first, (unsigned)(g ^ exact->parity[s]));
                of_nearest += ((double)(float)b - b) * sum;
                of_rounded += (rounded->entry[g][at] - b) * sum;
                size = fmax(size, fabs(b));
            }
            if (size < 1e-10) continue; /* nothing of this field */
            e->nearest += of_nearest * of_nearest / (size * size);
            e->rounded += of_rounded * of_rounded / (size * size);
        }
}

static void compare(const struct row *row, struct errors *e) {
    const struct ht_equations eq = ht_equations_make(ht_system_find(row->system), row->dims);
    const struct ht_spec spec = spec_of(row, &eq);
    struct ht_blocks *exact = NULL, *rounded = NULL;
    *e = (struct errors){.halves = true};
    must(ht_blocks_create(&spec, &exact));
    must(ht_blocks_create(&spec, &rounded));
    must(ht_blocks_round(&spec, rounded));
    for (int g = 0; g < exact->blocks; g++) {
        for (int s = 0; s < exact->sources; s++) look(exact, rounded, g, s, e);
        for (int n = 0; n < WAVES; n++) {
            double kappa[3];
            for (int k = 0; k < 3; k++)
                kappa[k] =
                    0.3 * row->order * (1 + ht_rng_uniform(9, (uint64_t)n * 3 + (uint64_t)k));
            add_wave(&spec, exact, rounded, g, kappa, e);
        }
    }
    ht_blocks_destroy(exact);
    ht_blocks_destroy(rounded);
}

int main(void) {
    static const struct row rows[] = {
        {"wave", 2, 2, -1, 1, 1, 0.15},    {"wave", 2, 6, -1, 1, 1, 0.1},
        {"wave", 3, 3, -1, 1, 1, 0.2},     {"wave", 3, 4, -1, 1, 1, 0.15},
        {"wave", 3, 5, -1, 1, 1, 0.1},     {"wave", 3, 3, 0, 0, 0, 0.2},
        {"acoustic", 3, 3, 0, 0, 0, 0.2},  {"acoustic", 3, 3, -1, 1, 14, 0.15},
        {"acoustic", 2, 4, 0, 0, 0, 0.25},
    };
    TEST_EACH(row, rows) {
        struct errors e;
        compare(row, &e);
        TEST_CHECK(e.halves, "%s %d-D N=%d: entries are sums of two numbers of 11 bits",
                   row->system, row->dims, row->order);
        TEST_BELOW(sqrt(e.rounded / e.nearest), row->less,
                   "%s %d-D N=%d, fields %#x to %#x: errors of resolved waves over those of "
                   "entries each to the nearest",
                   row->system, row->dims, row->order, row->src, row->dst);
        TEST_BELOW(e.change, 1e-5, "largest change over that of its column");
    }
    return test_end("blocks_round");
}
