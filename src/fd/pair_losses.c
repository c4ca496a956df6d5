/* Losses of pairs at a point (struct ht_loss) by the trapezoidal rule
 * (docs/developers/differences.md): means are solved for, with m that of f, as the mean of what
 * each loss lets flow is linear in m. With dt < 0, half a step, the start goes back. */
#include "fd.h"

/* One loss at a node: f takes - conducts m - k q, q = a (J + k m/2 - w P/2); P takes w q, J becomes
 * 2 q - J. What relaxes has w = 1 and no J. */
struct flow {
    double conducts, k, a, w, P, J, q;
};

double ht_pair_coefficient_at(const struct ht_pair_stepper *s, int c, int64_t at) {
    if (c < 0) return 0;
    return s->constant >> c & 1u ? s->on.number[c] : s->on.coefficient[c]->host[at];
}

static struct flow find_flow(const struct ht_pair_stepper *s, const struct ht_pair_loss *loss,
                             int strength, int64_t at) {
    const double dt = s->on.lossy_dt, k = ht_pair_coefficient_at(s, strength, at);
    const double rate = ht_pair_coefficient_at(s, loss->rate, at) * dt;
    struct flow flow = {.k = k, .w = 1};
    switch (loss->kind) {
    case HT_LOSS_CONDUCTS:
        return (struct flow){.conducts = dt * k};
    case HT_LOSS_RELAXES:
        flow.a = 2 * rate / (1 + rate / 2);
        break;
    case HT_LOSS_ATTENUATES:
        flow.a = 2 * rate / (1 + k * k + rate / 2);
        break;
    case HT_LOSS_OSCILLATES:
        flow.k *= dt;
        flow.w = dt * ht_pair_coefficient_at(s, loss->frequency, at);
        flow.a = 1 / (1 + rate / 2 + flow.w * flow.w / 4);
        break;
    }
    return flow;
}

static double sign_of(const struct ht_pair_stepper *s) {
    return s->fd.engine.absolute ? 1 : -1;
}

/* The losses of a row. *sum: the change of f, without them, then with them. */
static void lose(const struct ht_pair_stepper *s, int count, struct flow *flow, double f,
                 double *sum) {
    const double sign = sign_of(s);
    double slower = 0, rest = 2 * f + *sum;
    for (int i = 0; i < count; i++) {
        slower += flow[i].conducts / 2 + flow[i].a * flow[i].k * flow[i].k / 4;
        rest += sign * flow[i].k * flow[i].a * (flow[i].J + sign * flow[i].w / 2 * flow[i].P);
    }
    const double mean = rest / (2 + 2 * slower);
    for (int i = 0; i < count; i++) {
        flow[i].q =
            flow[i].a * (flow[i].J + flow[i].k / 2 * mean + sign * flow[i].w / 2 * flow[i].P);
        *sum += sign * (flow[i].conducts * mean + flow[i].k * flow[i].q);
    }
}

static void keep(const struct ht_pair_stepper *s, const struct ht_pair_loss *loss,
                 const struct flow *flow, bool whole, int64_t at) {
    const double sign = sign_of(s);
    double *P = loss->position < 0 ? NULL : &s->on.partner[loss->position]->host[at];
    double *J = loss->current < 0 ? NULL : &s->on.partner[loss->current]->host[at];
    if (P != NULL) *P = (whole ? flow->P : *P) + flow->w * flow->q;
    if (J != NULL) *J = (whole ? 0 : *J) + 2 * flow->q + sign * flow->J;
}

static double size_of(const struct ht_pair_stepper *s, double x) {
    return s->fd.engine.absolute ? fabs(x) : x;
}

/* The losses of fields that C couples, one each; the pressure's are those of their sum. On free
 * sides, where C has another one, it relaxes as shear does. */
struct block {
    int count, row[HT_MAX_FIELDS];
    const struct ht_pair_loss *loss[HT_MAX_FIELDS];
    struct flow flow[HT_MAX_FIELDS];
    double f, sum, P;                 /* of the pressure */
    double after, taken;              /* sums of what the fields take, and their P */
    double share[HT_MAX_FIELDS], all; /* C 1, 1 C 1 */
};

static void find_shares(const struct ht_pair_stepper *s, int64_t at, struct block *b) {
    for (int t = 0; t < s->pair.nterms; t++)
        for (int i = 0; i < b->count; i++) {
            const struct ht_pair_term *term = &s->pair.term[t];
            if (term->row != b->row[i]) continue;
            const double c = ht_pair_coefficient_at(s, term->coefficient, at);
            b->share[i] += c;
            b->all += c;
        }
}

static void lose_pressure(const struct ht_pair_stepper *s, int64_t at, struct block *b,
                          double sum[HT_MAX_FIELDS]) {
    struct flow flow = find_flow(s, b->loss[0], b->loss[0]->bulk, at);
    const double sign = sign_of(s);
    flow.P = b->P;
    lose(s, 1, &flow, b->f, &b->sum);
    find_shares(s, at, b);
    for (int i = 0; i < b->count; i++) {
        sum[b->row[i]] += b->share[i] / b->all * (b->sum + sign * b->after);
        b->flow[i].q += b->share[i] / b->all * (flow.q + sign * b->taken);
    }
}

static void lose_row(const struct ht_pair_stepper *s, int row, bool whole, int64_t at, double *sum,
                     struct block *b) {
    struct flow flow[HT_MAX_LOSSES];
    const struct ht_pair_loss *loss[HT_MAX_LOSSES];
    const double f = whole ? size_of(s, s->on.field[row]->host[at]) : 0;
    int count = 0;
    HT_EACH(const struct ht_pair_loss, of, s->pair.loss, s->pair.nlosses) {
        if (of->row != row) continue;
        struct flow *to = &flow[count];
        *to = find_flow(s, of, of->strength, at);
        if (whole && of->position >= 0) to->P = size_of(s, s->on.partner[of->position]->host[at]);
        if (whole && of->current >= 0) to->J = size_of(s, s->on.partner[of->current]->host[at]);
        loss[count++] = of;
    }
    if (count == 0) return;
    const bool coupled = loss[0]->bulk >= 0;
    b->f += coupled ? f : 0;
    b->sum += coupled ? *sum : 0;
    lose(s, count, flow, f, sum);
    if (!coupled) {
        for (int i = 0; i < count; i++) keep(s, loss[i], &flow[i], whole, at);
        return;
    }
    b->P += flow[0].P;
    b->after += *sum;
    b->taken += flow[0].q;
    b->row[b->count] = row;
    b->loss[b->count] = loss[0];
    b->flow[b->count++] = flow[0];
}

void ht_pair_lose(const struct ht_pair_task *t, bool whole, const int64_t m[3], int64_t at,
                  double sum[HT_MAX_FIELDS]) {
    const struct ht_pair_stepper *s = t->s;
    struct block b = {.count = 0};
    HT_EACH_BIT(f, s->pair.group[t->group]) lose_row(s, f, whole, at, &sum[f], &b);
    if (b.count > 0 && ht_pair_surface_at(s, m) == 0) lose_pressure(s, at, &b, sum);
    for (int i = 0; i < b.count; i++) keep(s, b.loss[i], &b.flow[i], whole, at);
}

/* At rest J = 0, P = k f, of what oscillates k/w f; of a pressure by its strength. */
void ht_pair_rest(const struct ht_pair_stepper *s, int row, int64_t at, double change) {
    struct block b = {.count = 0};
    bool presses = false;
    for (int l = 0; l < s->pair.nlosses && change != 0; l++) {
        const struct ht_pair_loss *loss = &s->pair.loss[l];
        double part = ht_pair_coefficient_at(s, loss->strength, at);
        if (loss->bulk >= 0) {
            b.row[b.count] = loss->row;
            b.loss[b.count++] = loss;
        }
        if (loss->row != row || loss->position < 0) continue;
        presses = loss->bulk >= 0;
        if (part > 0 && loss->frequency >= 0)
            part /= ht_pair_coefficient_at(s, loss->frequency, at);
        s->on.partner[loss->position]->host[at] += part * change;
    }
    find_shares(s, at, &b);
    for (int i = 0; presses && i < b.count; i++) {
        const double more = ht_pair_coefficient_at(s, b.loss[i]->bulk, at) -
                            ht_pair_coefficient_at(s, b.loss[i]->strength, at);
        s->on.partner[b.loss[i]->position]->host[at] +=
            size_of(s, more) * b.share[i] / b.all * change;
    }
}

bool ht_pair_loses(const struct ht_pair *pair, int group) {
    for (int l = 0; l < pair->nlosses; l++)
        if (pair->group[group] >> pair->loss[l].row & 1u) return true;
    return false;
}
