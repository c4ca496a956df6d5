/* What comes back from an absorbing layer of finite differences (docs/developers/absorbing.md):
 * packets against a domain that nothing reaches the end of in time, and as ht_fd_layer_returned has
 * it, to 85 degrees. */

#include "fd_layers_scene.h"

#include "src/solve/methods.h"

/* A packet between walls x2 = 0 and pi/k2 comes to the layer at the upper end of x1; in the longer
 * domain it goes on. Order 8, 0.95 of the largest step. */
struct packet {
    double angle, points; /* of incidence; per wavelength */
    int64_t across;       /* cells between the walls; 0: 1-D */
};

static void fill_packet(const struct scene *s, double k1, double k2, double omega, double group,
                        double centre, double width, double time, double *out) {
    const int64_t n1 = ht_grid_nodes(&s->grid, HT_PRIMARY, 0);
    const int64_t n2 = ht_grid_nodes(&s->grid, HT_PRIMARY, 1);
    for (int64_t m2 = 0; m2 < n2; m2++)
        for (int64_t m1 = 0; m1 < n1; m1++) {
            const double x = (double)m1 - centre;
            const double z = (x - group * time) / width;
            out[m2 * n1 + m1] = exp(-z * z) * cos(k1 * x - omega * time) * cos(k2 * (double)m2);
        }
}

/* u of a packet that reaches `inner` after half of the steps, to be freed. */
static double *run_packet(const struct packet *packet, const struct scene *s, double width,
                          int64_t inner) {
    const double k = 2 * acos(-1.0) / packet->points, dt = s->problem.dt;
    const double k1 = k * cos(packet->angle), k2 = k * sin(packet->angle);
    const struct ht_fd_weights w = ht_fd_weights(8);
    const double symbol = ht_fd_second_symbol(&w, k1) + ht_fd_second_symbol(&w, k2);
    const double omega = 2 / dt * asin(dt * sqrt(symbol) / 2);
    const double group = k1 / omega, centre = (double)inner - 3.4 * width;
    const int64_t nodes = ht_grid_total(&s->grid, HT_PRIMARY);
    double *u = zeros(nodes);
    HT_FREED double *d = zeros(nodes);
    HT_ENDED(ht_stepper_destroy) struct ht_stepper stepper;
    fill_packet(s, k1, k2, omega, group, centre, width, 0, u);
    fill_packet(s, k1, k2, omega, group, centre, width, -dt, d);
    for (int64_t n = 0; n < nodes; n++) d[n] = u[n] - d[n];
    must(ht_oracle_create(&s->problem, &stepper));
    put_u(&s->problem, &stepper, HT_PRIMARY, u);
    put_u(&s->problem, &stepper, HT_DUAL, d);
    step(&stepper, (int)(6.5 * width / group / dt));
    get_u(&s->problem, &stepper, HT_PRIMARY, u);
    return u;
}

/* In dB: the largest of |u - u'| over that of the packet, which is 1. */
static double reflection(const struct packet *packet, int64_t cells, bool sponge) {
    const double k1 = 2 * acos(-1.0) / packet->points * cos(packet->angle);
    const double width = 4 * acos(-1.0) / k1;
    const int64_t inner = (int64_t)(7 * width), longer = (int64_t)(13 * width);
    const int dims = packet->across > 0 ? 2 : 1;
    double *u[2] = {NULL}, most = DBL_MIN;
    int64_t n1[2];
    for (int i = 0; i < 2; i++) {
        const struct given g = {.dims = dims,
                                .name = "",
                                .order = 8,
                                .contrast = 1,
                                .cells = {i ? longer : inner + cells, packet->across},
                                .wall = {{1, 1}, {1, 1}},
                                .layer = {{0, i ? 0 : cells}},
                                .guided = true};
        struct scene s;
        make(&s, &g, dims == 1 ? 0.95 / sqrt(2) : 0.95);
        if (sponge) be_sponge(&s);
        n1[i] = ht_grid_nodes(&s.grid, HT_PRIMARY, 0);
        u[i] = run_packet(packet, &s, width, inner);
    }
    for (int64_t m2 = 0; m2 <= packet->across; m2++)
        for (int64_t m1 = 0; m1 <= inner; m1++)
            most = fmax(most, fabs(u[0][m2 * n1[0] + m1] - u[1][m2 * n1[1] + m1]));
    free(u[0]);
    free(u[1]);
    return 20 * log10(most);
}

/* At 60 degrees 12 points across half a tangential wavelength are 10.4 per wavelength. */
static void test_reflection(void) {
    const double pi = acos(-1.0);
    const struct packet packets[] = {{0, 10, 0}, {pi / 6, 10, 10}, {pi / 3, 12 * sin(pi / 3), 6}};
    static const struct {
        int64_t cells;
        bool sponge;
        double most[3];
    } rows[] = {
        {8, false, {-60, -60, -40}}, {16, false, {-80, -85, -70}}, {32, true, {-46, -44, -40}}};
    for (int r = 0; r < 3; r++)
        for (int p = 0; p < 3; p++) {
            const double db = reflection(&packets[p], rows[r].cells, rows[r].sponge);
            TEST_CHECK(db <= rows[r].most[p],
                       "%s of %lld cells at %g degrees: %.1f dB of at most %g",
                       rows[r].sponge ? "sponge" : "cpml", (long long)rows[r].cells,
                       packets[p].angle * 180 / pi, db, rows[r].most[p]);
        }
}

/* As the scheme's equations have it, for the orders of the packets' and others:
 * 0 to 85 degrees at 10 points per wavelength. */
static void test_returned(void) {
    static const int orders[] = {2, 4, 8, 16};
    static const double angle[] = {0, 30, 60, 80, 85};
    static const double most[][5] = {
        {-60, -60, -57, -42, -32}, {-80, -81, -72, -46, -30}, {-80, -81, -72, -46, -30}};
    static const int64_t cells[] = {8, 16, 300};
    const double pi = acos(-1.0);
    for (int n = 0; n < 60; n++) {
        const struct given g = {"",
                                2,
                                orders[n / 5 % 4],
                                1,
                                {700, 20},
                                {{1, 1}, {1, 1}},
                                .layer = {{0, cells[n / 20]}}};
        struct scene s;
        make(&s, &g, 0.95);
        const double db =
            20 * log10(ht_fd_layer_returned(&s.problem, 0, 1, 0.1, cos(angle[n % 5] * pi / 180)));
        TEST_CHECK(db <= most[n / 20][n % 5],
                   "order %d, %lld cells, %g degrees: %.1f dB of at most %g", g.order,
                   (long long)cells[n / 20], angle[n % 5], db, most[n / 20][n % 5]);
    }
}

int main(void) {
    test_reflection();
    test_returned();
    return test_end("fd_layers_reflection");
}
