/* Entries of powers of matrices against their closed form: rotations of the
 * plane in a basis that mixes them. A x = R_phi x_1 + ... has eigenvalues
 * exp(+- i phi), so its power turns by n phi.
 */
#include "htwave/krylov.h"

#include "test.h"

#define PI 3.14159265358979323846

enum { MODES = 60 };

/* Q D Q with the reflection Q = 1 - 2 q q^T/|q|^2 and D diagonal. */
struct turns {
    double angle[MODES], decay[MODES], q[MODES], square;
};

static void reflect(const struct turns *t, double complex *x) {
    double complex sum = 0;
    for (int i = 0; i < MODES; i++) sum += t->q[i] * x[i];
    for (int i = 0; i < MODES; i++) x[i] -= 2 * sum / t->square * t->q[i];
}

static void turn(void *self, const double complex *x, double complex *y) {
    const struct turns *t = self;
    memcpy(y, x, MODES * sizeof *y);
    reflect(t, y);
    for (int i = 0; i < MODES; i++) y[i] *= t->decay[i] * cexp(I * t->angle[i]);
    reflect(t, y);
}

/* Mode 0, and `rest` of each of the next `others`; angles spread evenly. */
static struct turns make(int others, double rest, double decay,
                         double complex *start) {
    struct turns t = {.square = 0};
    for (int i = 0; i < MODES; i++) {
        t.angle[i] = 0.3 + 6.28 * i / MODES;
        t.decay[i] = i == 0 ? 1 : decay;
        t.q[i] = cos(1.7 * i) + 0.1;
        t.square += t.q[i] * t.q[i];
        start[i] = i == 0 ? 1 : i <= others ? rest : 0;
    }
    reflect(&t, start);
    return t;
}

static double complex exact(const struct turns *t, int others, double rest,
                            double n, int entry) {
    double complex x[MODES] = {1};
    for (int i = 0; i < MODES; i++) {
        if (i > 0) x[i] = i <= others ? rest : 0;
        x[i] *= pow(t->decay[i], n) * cexp(I * fmod(n * t->angle[i], 2 * PI));
    }
    reflect(t, x);
    return x[entry];
}

static struct ht_power_result power_of(struct turns *t,
                                       const double complex *start, double n,
                                       double direct, int most) {
    const struct ht_linear_map map = {MODES, t, turn};
    const struct ht_power power = {.steps = n,
                                   .guess = cexp(I * (t->angle[0] + 1e-3)),
                                   .conservative = true,
                                   .direct = direct,
                                   .most = most,
                                   .watched = 1,
                                   .watch = {7}};
    struct ht_power_result out;
    if (ht_krylov_power(&map, start, &power, &out) != HT_OK)
        TEST_CHECK(false, "power: %s", ht_err_message());
    return out;
}

/* All steps, fewer than products, more than these, and with all vectors. */
static void test_exact(void) {
    double complex start[MODES];
    struct turns t = make(5, 0.1, 1, start);
    static const struct {
        const char *name;
        double steps, direct;
        int most;
    } rows[] = {{"all steps", 1000, 1000, 1},
                {"fewer steps than products", 20, 0, 24},
                {"as many products as vectors", 1e5, 0, MODES}};
    for (int i = 0; i < 3; i++) {
        struct ht_power_result r =
            power_of(&t, start, rows[i].steps, rows[i].direct, rows[i].most);
        double complex e = exact(&t, 5, 0.1, rows[i].steps, 7);
        TEST_BELOW(cabs(r.value[0] - e), 1e-15 * rows[i].steps + 1e-13,
                   "%s, power %g: difference", rows[i].name, rows[i].steps);
        TEST_CHECK(r.rest[0] == 0, "%s: nothing left out", rows[i].name);
    }
}

/* The eigenvalue's part and the size of the rest: of all others by a thousandth
 * each, entry 7 is off by at most the sum. */
static void test_estimate(void) {
    const double rest = 1e-3, n = 12345;
    const int others = MODES - 1;
    double complex start[MODES];
    struct turns t = make(others, rest, 1, start);
    struct ht_power_result r = power_of(&t, start, n, 0, 30);
    double difference = cabs(r.value[0] - exact(&t, 0, 0, n, 7));
    TEST_BELOW(difference, r.rest[0],
               "one eigenvector of %d, 30 products: difference, below the rest",
               MODES);
    double sum = 0;
    for (int j = 0; j < 200; j++) {
        double complex z = exact(&t, others, rest, n + j, 7);
        sum += pow(cabs(z - exact(&t, 0, 0, n + j, 7)), 2) / 200;
    }
    TEST_CHECK(r.rest[0] > sqrt(sum) / 3 && r.rest[0] < 3 * sqrt(sum),
               "its rest %.3g, mean over later steps %.3g (within 3)",
               r.rest[0], sqrt(sum));
}

/* What decays is gone from the rest. */
static void test_decay(void) {
    double complex start[MODES];
    struct turns t = make(MODES - 1, 1e-3, 0.5, start);
    struct ht_power_result r = power_of(&t, start, 1e6, 0, 40);
    TEST_BELOW(r.rest[0], 1e-8, "rest of what halves with each step");
    TEST_BELOW(cabs(r.value[0] - exact(&t, 0, 0, 1e6, 7)), 1e-8,
               "what stays after 1e6 steps: difference");
}

static void test_refusal(void) {
    double complex start[MODES] = {1};
    struct turns t = make(0, 0, 1, start);
    const struct ht_linear_map map = {MODES, &t, turn};
    const struct ht_power power = {.steps = 10, .most = 65, .watched = 1};
    struct ht_power_result out;
    TEST_CHECK(ht_krylov_power(&map, start, &power, &out) == HT_ERR_INTERNAL,
               "65 products: %s", ht_err_message());
}

int main(void) {
    test_exact();
    test_estimate();
    test_decay();
    test_refusal();
    return test_end("krylov");
}
