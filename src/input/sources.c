/* Sources of waves: rows of types and kinds, which nothing else knows by their names, and the
 * options of their groups. */
#include "options.h"

/* X(word, help, members of the row) */
#define EACH_TYPE(X)                                                                              \
    X("point", "", .keys = "position", .place = {"position", "position"})                         \
    X("line", ", of `count` equal points from `from` to `to`, both included",                     \
      .keys = "from to count", .place = {"from", "to"})                                           \
    X("plane", ", all of the box at `at` along `axis`", .keys = "axis at", .place = {"at", "at"}, \
      .flat = true)                                                                               \
    X("volume", ", a Gaussian", .keys = "position width", .place = {"position", "position"})      \
    X("plane wave",                                                                               \
      ", which comes from outside, by finite differences: inside the box `from` .. `to` the "     \
      "fields are the total ones, outside of it what is scattered alone",                         \
      .keys = "from to", .place = {"from", "to"}, .outside = "a plane wave comes from outside")   \
    X("linear array", ", of points in a row", .keys = "position axis elements pitch",             \
      .place = {"position", "position"}, .row = true)                                             \
    X("curved array", ", of points on an arc", .keys = "position axis elements pitch curvature",  \
      .place = {"position", "position"}, .row = true, .bent = true)                               \
    X("disc", ", of points on a disc", .keys = "position elements width",                         \
      .place = {"position", "position"}, .round = true)                                           \
    X("bowl", ", of points on a part of a sphere", .keys = "position elements width curvature",   \
      .place = {"position", "position"}, .round = true, .bent = true)

#define IN_SHOT(member) offsetof(struct ht_shot_given, member)
#define DIRECTION .takes = "direction", .numbers = IN_SHOT(direction), .unit = true

#define EACH_KIND(X)                                                                           \
    X("monopole",                                                                              \
      ": acoustic p_t = -K div v + K s(t) delta(x - x0), with s the volume per time; wave "    \
      "u_tt = c^2 lap u + s(t) delta(x - x0)",                                                 \
      .stays = true)                                                                           \
    X("pressure",                                                                              \
      ", of planes, discs, bowls and, in two dimensions, arrays (acoustic): a monopole whose " \
      "waves leave its surface with the pressure s(t), on a rigid side with twice that",       \
      .stays = true, .pressure = true)                                                         \
    X("force", " (acoustic, elastic): rho v_t = .. + direction s(t) delta(x - x0)", DIRECTION, \
      .field = {"v1", "v2", "v3"}, .sign = 1, .own = true)                                     \
    X("explosion", " (elastic): s_ii,t = .. - s(t) delta(x - x0), s the rate of its moment",   \
      .field = {"s11", "s22", "s33"}, .sign = -1)                                              \
    X("moment", ", a tensor (elastic): s_ij,t = .. - M_ij s(t) delta(x - x0), s the rate",     \
      .takes = "moment", .numbers = IN_SHOT(moment), .sign = -1,                               \
      .field = {"s11", "s22", "s33", "s12", "s13", "s23"})                                     \
    X("dipole", " (maxwell): eps E_t = curl H - direction s(t) delta(x - x0), s the current",  \
      DIRECTION, .field = {"E1", "E2", "E3"}, .sign = -1, .own = true)                         \
    X("magnetic", ", a dipole (maxwell): mu H_t = -curl E - direction s(t) delta(x - x0)",     \
      DIRECTION, .field = {"H1", "H2", "H3"}, .sign = -1, .own = true)

#define ROW(word, help, ...) {word, help, __VA_ARGS__},
#define ENTRY(word, ...) "|" word
#define HELP_TYPE(word, help, ...) "; " word help
#define HELP_KIND(word, help, ...) " " word help "."

const struct ht_source_type ht_source_types[] = {EACH_TYPE(ROW){.word = NULL}};
const struct ht_source_kind ht_source_kinds[] = {EACH_KIND(ROW){.word = NULL}};
const char ht_source_type_words[] = EACH_TYPE(ENTRY);
const char ht_source_type_help[] = EACH_TYPE(HELP_TYPE) ".";
const char ht_source_kind_words[] = EACH_KIND(ENTRY);
const char ht_source_kind_help[] = EACH_KIND(
    HELP_KIND) " The delta of a line is the sum over its points, that of a plane delta(x_k - "
               "at), that of a volume its Gaussian. A force of a volume gives all its points "
               "the acceleration that the density at its centre makes; that of a plane is "
               "normal to it. Plane waves have no kind.";

/* ---- what they drive ---- */

/* What the square of a field is divided by in the energy. */
static int material_of(const struct ht_equations *eq, int field) {
    for (int i = 0; i < eq->nenergy; i++)
        if (eq->energy[i].field == field && eq->energy[i].other == field)
            return eq->energy[i].material;
    return -1;
}

static int drive_scalar(const struct ht_equations *eq, struct ht_drive *drive) {
    const struct ht_second_order *form = &eq->second_order;
    *drive = form->rate >= 0 ? (struct ht_drive){form->rate, -1, 1, -1}
                             : (struct ht_drive){form->field, form->modulus, 1, -1};
    return form->known ? 1 : 0;
}

/* Of a wave of a scalar, or along the axes of the fields of the first kind with a direction that
 * drives some of the equations: their vector. */
static int drive_wave(const struct ht_shot_given *given, const struct ht_equations *eq,
                      struct ht_drive *drive, const char **missing) {
    const double *p = given->polarisation, length = hypot(hypot(p[0], p[1]), p[2]);
    const struct ht_source_kind *vector = NULL;
    int count = 0;
    if (eq->second_order.known) return drive_scalar(eq, drive);
    for (const struct ht_source_kind *kind = ht_source_kinds; kind->word != NULL; kind++)
        for (int k = 0; k < 3 && kind->unit && !vector; k++)
            if (ht_equations_field(eq, kind->field[k]) >= 0) vector = kind;
    for (int k = 0; k < 3 && vector != NULL; k++) {
        const int field = ht_equations_field(eq, vector->field[k]);
        if (field < 0 && p[k] != 0) *missing = vector->field[k];
        if (field >= 0)
            drive[count++] =
                (struct ht_drive){field, material_of(eq, field), length > 0 ? p[k] / length : 0, k};
    }
    if (count == 1 && !(length > 0)) drive->weight = 1;
    return count;
}

bool ht_source_takes(const struct ht_shot_given *given, const struct ht_source_kind *kind) {
    const double *number = (const double *)((const char *)given + kind->numbers);
    bool any = false;
    for (int i = 0; kind->takes && i < HT_MAX_DRIVES && kind->field[i] != NULL; i++)
        any = any || number[i] != 0;
    return any;
}

int ht_source_drives(const struct ht_shot_given *given, const struct ht_equations *eq,
                     struct ht_drive drive[HT_MAX_DRIVES], const char **missing) {
    const struct ht_source_kind *kind = &ht_source_kinds[given->kind];
    int count = 0;
    bool any = false;
    *missing = NULL;
    if (ht_source_types[given->type].outside) return drive_wave(given, eq, drive, missing);
    if (kind->field[0] == NULL) return drive_scalar(eq, drive);
    for (int i = 0; i < HT_MAX_DRIVES && kind->field[i] != NULL; i++) {
        const int field = ht_equations_field(eq, kind->field[i]);
        const double *all = (const double *)((const char *)given + kind->numbers);
        const double size = kind->unit ? hypot(hypot(all[0], all[1]), all[2]) : 1;
        const double number = kind->takes == NULL ? 1 : all[i] / size;
        any = any || field >= 0;
        if (field < 0 && kind->takes != NULL && number != 0) *missing = kind->field[i];
        if (field >= 0 && number != 0)
            drive[count++] = (struct ht_drive){field, kind->own ? material_of(eq, field) : -1,
                                               kind->sign * number, i};
    }
    if (!any) *missing = NULL;
    return count;
}
