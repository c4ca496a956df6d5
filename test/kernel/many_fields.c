/* A system at the limits of HT_MAX_FIELDS, HT_MAX_TERMS and HT_MAX_MATERIALS:
 * lists of arguments, masks of fields and tables hold as many, and the kernels agree with the
 * oracle; so they do for a scalar that is odd under reflections. The system has sets s of eight
 * fields, one of each parity q,
 *     d u_(s,q)/dt = sum over axes k of a_k M du_(s',q xor bit k)/dx_k,
 * in three dimensions, s' the next set along x3 where q is odd, so that all fields are coupled.
 * Fields with an even and an odd number of odd axes change each other only: so there is a leapfrog
 * form, too. */
#include "compiler.h"
#include "open_device.h"
#include "problem.h"

enum { PARITIES = 8, SETS = HT_MAX_FIELDS / PARITIES };

static struct ht_system many;
static char names[HT_MAX_FIELDS][8];

static unsigned odd_axes(unsigned parity) {
    return (parity & 1u) + (parity >> 1 & 1u) + (parity >> 2 & 1u);
}

static void make_system(void) {
    many = (struct ht_system){.name = "many", .nfields = HT_MAX_FIELDS};
    for (int f = 0; f < HT_MAX_FIELDS; f++) {
        unsigned parity = (unsigned)(f % PARITIES);
        snprintf(names[f], sizeof names[f], "u%d", f);
        many.field[f].name = names[f];
        many.field[f].meaning = "";
        for (int k = 0; k < 3; k++) {
            int t = many.nterms++, partner = (int)(parity ^ (1u << k));
            const int set = (f / PARITIES + (k == 2 && parity % 2 != 0)) % SETS;
            many.term[t] = (struct ht_term){.row = f,
                                            .col = set * PARITIES + partner,
                                            .axis = k,
                                            .derivative = 1,
                                            .coef = (t % 2 ? -1 : 1) * (0.5 + 0.25 * k),
                                            .material = t % HT_MAX_MATERIALS};
        }
    }
    many.nmaterials = HT_MAX_MATERIALS;
    for (int m = 0; m < HT_MAX_MATERIALS; m++)
        many.material[m] = (struct ht_material){"M", "", true, true, false};
}

static void test_equations(void) {
    struct ht_equations eq = ht_equations_make(&many, 3);
    unsigned even = 0;
    int same = 0;
    for (int f = 0; f < eq.nfields; f++) {
        same += ht_equations_field(&eq, names[f]) == f && eq.field[f].parity == (unsigned)f % 8;
        even |= odd_axes((unsigned)f % 8) % 2 == 0 ? 1u << f : 0;
    }
    TEST_CHECK(SETS * PARITIES == HT_MAX_FIELDS && many.nterms == HT_MAX_TERMS &&
                   eq.nterms == HT_MAX_TERMS,
               "%d fields, %d terms, %d materials", eq.nfields, eq.nterms, eq.nmaterials);
    TEST_CHECK(same == HT_MAX_FIELDS, "%d fields found by name, with their parities", same);
    TEST_CHECK(
        eq.leapfrog.stored[0] == even && (eq.leapfrog.stored[0] ^ eq.leapfrog.stored[1]) == ~0u,
        "masks %x and %x of fields hold all of them", eq.leapfrog.stored[0], eq.leapfrog.stored[1]);
}

struct many_case {
    const char *variant;
    int degree; /* of the medium */
    bool leapfrog, walls;
};

static void test_case(const struct many_case *c, struct ht_device *device) {
    static const int wall[3][2] = {{-1, 1}, {-1, 1}, {-1, 1}};
    const struct ht_equations eq = ht_equations_make(&many, 3);
    const struct ht_grid grid = hand_grid(3, 1, (const int64_t[]){3, 2, 2}, c->walls ? wall : NULL);
    struct ht_problem problem =
        hand_problem(&eq, &grid, c->leapfrog ? HT_LEAPFROG : HT_TAYLOR, c->degree, 0.3, 4);
    const struct ht_tuning tuning = {.variant = ht_variant_find(c->variant, NULL, true),
                                     .block = 1};
    for (int m = 0; m < HT_MAX_MATERIALS; m++) problem.uniform[m] = 0.75 + 0.0625 * m;
    problem.medium = &problem;
    judge_kernels(&problem, device, &tuning, "%s, %s, %s, %s", c->variant,
                  c->degree < 0 ? "uniform" : "per node", c->leapfrog ? "leapfrog" : "taylor",
                  c->walls ? "walls" : "periodic");
}

/* A scalar that is odd under reflections, with an even partner. */
static void test_odd_scalar(struct ht_device *device) {
    static const int wall[3][2] = {{1, -1}};
    struct ht_system odd = *ht_system_find("acoustic");
    odd.parity = 1;
    const struct ht_equations eq = ht_equations_make(&odd, 1);
    const struct ht_grid grid = hand_grid(1, 1, (const int64_t[]){5, 1, 1}, wall);
    const struct ht_problem problem = hand_problem(&eq, &grid, HT_TAYLOR, HT_UNIFORM, 0.3, 3);
    const struct ht_tuning tuning = {.variant = ht_variant_find("propagator", NULL, true),
                                     .block = 1};
    judge_kernels(&problem, device, &tuning, "an odd scalar");
}

/* By one kernel, whose arguments are all buffers at once, and by two. */
static void judge(struct ht_device *device) {
    static const struct many_case cases[] = {
        {"monolithic", HT_PER_NODE, false, true},
        {"two-rolled", HT_PER_NODE, false, false},
        {"monolithic", HT_UNIFORM, true, true},
    };
    test_odd_scalar(device);
    TEST_EACH(c, cases) test_case(c, device);
}

int main(void) {
    make_system();
    test_optimise(false);
    test_equations();
    return test_on_device("many_fields", judge);
}
