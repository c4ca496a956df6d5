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
#define CHOICE(word, ...) "|" word
#define HELP_TYPE(word, help, ...) "; " word help
#define HELP_KIND(word, help, ...) " " word help "."

const struct ht_source_type ht_source_types[] = {EACH_TYPE(ROW){.word = NULL}};
const struct ht_source_kind ht_source_kinds[] = {EACH_KIND(ROW){.word = NULL}};

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

#define KEY(member, type) #member, HT_OPT_##type, IN_SHOT(member)

static const struct ht_option option[] = {
    {KEY(type, CHOICE), "\"point\"", ANY, &(EACH_TYPE(CHOICE))[1], "",
     &(EACH_TYPE(HELP_TYPE) ".")[2]},
    {KEY(position, REAL3), "[0.0, 0.0, 0.0]", ANY, NULL, "length",
     "Point and volume: where it is, anywhere in the box; arrays: their centre. Must be given."},
    {KEY(from, REAL3), "[0.0, 0.0, 0.0]", ANY, NULL, "length",
     "Line: its first point. Plane wave: lower corner of its box. The medium is uniform about the "
     "surface of the box."},
    {KEY(to, REAL3), "[0.0, 0.0, 0.0]", ANY, NULL, "length",
     "Line: its last point. Plane wave: upper corner of its box, which has no surface along an "
     "axis on which it is as long as the grid; the wave runs normal to such axes, whose sides are "
     "rigid or periodic."},
    {KEY(count, INT), "0", 0, 10000, NULL, "points",
     "Line: number of points, 2 or more; each has the amplitude."},
    {KEY(axis, CHOICE), "\"x1\"", ANY, CHOICES(HT_EACH_AXIS), "",
     "Plane, must be given: the axis that is normal to it. Linear and curved arrays, must be "
     "given: the axis along which the row lies, made normal to the direction."},
    {KEY(at, REAL), "0.0", ANY, NULL, "length",
     "Plane, must be given: its place along the axis, anywhere in the box."},
    {KEY(width, REAL), "0.0", NOT_NEGATIVE, NULL, "length",
     "Volume, must be given: w of the Gaussian exp(-|x - x0|^2/(2 w^2)), whose integral is 1; one "
     "spacing or more. Disc and bowl: the diameter."},
    {KEY(elements, INT), "0", 0, 4096, NULL, "points",
     "Arrays, must be given: how many points, each with the amplitude; of discs and bowls they "
     "stand for equal areas, in two dimensions in a row."},
    {KEY(pitch, REAL), "0.0", NOT_NEGATIVE, NULL, "length",
     "Linear and curved arrays, must be given: distance of elements, on an arc along it."},
    {KEY(curvature, REAL), "0.0", ANY, NULL, "length",
     "Curved arrays and bowls, must be given: radius of the arc or sphere, about a point in front "
     "of the array, or behind it where negative (curved arrays)."},
    {KEY(focus, REAL3), "[0.0, 0.0, 0.0]", ANY, NULL, "length",
     "Arrays: the place at which the waves of all elements arrive together; the first one begins "
     "at `delay`."},
    {KEY(steer, REAL3), "[0.0, 0.0, 0.0]", ANY, NULL, "",
     "Arrays without focus: the direction, of any length, in which their waves travel."},
    {KEY(speed, REAL), "0.0", NOT_NEGATIVE, NULL, "length/time",
     "Arrays: speed by which delays follow from focus and steer; 0: the medium's at `position`."},
    {KEY(apodisation, CHOICE), "\"none\"", ANY, CHOICES(HT_EACH_APODISATION), "",
     "Arrays: factor of the amplitudes, hann: cos^2, 0 at the ends."},
    {KEY(kind, CHOICE), "\"monopole\"", ANY, &(EACH_KIND(CHOICE))[1], "",
     &(EACH_KIND(
         HELP_KIND) " The delta of a line is the sum over its points, that of a plane delta(x_k - "
                    "at), that of a volume its Gaussian. A force of a volume gives all its points "
                    "the acceleration that the density at its centre makes; that of a plane is "
                    "normal to it. Plane waves have no kind.")[1]},
    {KEY(direction, REAL3), "[0.0, 0.0, 0.0]", ANY, NULL, "",
     "Force: its direction; plane wave: where it travels to; arrays: where they face; of any "
     "length."},
    {KEY(polarisation, REAL3), "[0.0, 0.0, 0.0]", ANY, NULL, "",
     "Plane wave of vectors, of any length: the direction of E (maxwell, maxwell_tm), made normal "
     "to that of the wave, or of v (elastic): along that of the wave it is a compressional wave, "
     "else, made normal to it, a shear wave. May be left out where the vector has one component."},
    {KEY(moment, REAL6), "[0.0, 0.0, 0.0, 0.0, 0.0, 0.0]", ANY, NULL, "",
     "Moment: the tensor's M11, M22, M33, M12, M13, M23. A fault with normal n that slips along d: "
     "M_ij = n_i d_j + n_j d_i; an explosion: [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]."},
    {KEY(signal, CHOICE), "\"ricker\"", ANY, CHOICES(HT_EACH_SIGNAL), "",
     "s(t), of largest value 1 (burst: nearly), with a = pi frequency t: ricker (1 - 2 a^2) "
     "exp(-a^2); gaussian exp(-a^2); gaussian derivative, the rise of the latter; burst, a sine of "
     "`cycles` periods under a Hann window, from t = 0 on; sine, which rises over `cycles` periods "
     "and goes on to the end; file, see there."},
    {KEY(frequency, REAL), "0.0", NOT_NEGATIVE, NULL, "1/time",
     "Of the signal (all but files): of a Ricker that of the spectrum's peak, of a burst that of "
     "the sine."},
    {KEY(cycles, REAL), "5.0", 1, 1e6, NULL, "periods",
     "Burst and sine: periods, of a sine whole ones."},
    {KEY(file, FILE), "\"\"", ANY, NULL, "",
     "Signal \"file\": text with two columns, t and s, between them a cubic spline, outside of "
     "them 0. # begins a comment."},
    {KEY(delay, ONE), "\"auto\"", ANY, "auto", "time",
     "Time of the run at which the signal has t = 0. auto: the signal begins with the run (a "
     "Ricker has its peak at 5 / (pi frequency)); 0 for bursts, sines and files. Of a plane wave: "
     "at the corner of its box that it reaches first."},
    {KEY(amplitude, REAL), "1.0", ANY, NULL, "",
     "Factor of the signal: a volume per time (monopole), a force, a moment per time or a current, "
     "of a plane per area, in one and two dimensions per area and per length; of a plane wave its "
     "p (acoustic), u (wave), E (maxwell) or v (elastic)."},
    {KEY(radius, ONE), "\"auto\"", 0.25, 4, "auto", "cells",
     "Hermite methods: of the Gaussian with a flat spectrum that stands for the point. auto: 1.25, "
     "with grid.order 3 or less 1.5 (leapfrog of pressure and velocity 1.75), or less where that "
     "errs less."},
    {KEY(tolerance, REAL), "0.0002", 1e-9, 0.1, NULL, "",
     "Hermite methods: error of traces, relative in L2, that the Gaussian may add; the banner "
     "shows what it adds."},
};

const struct ht_option_list ht_source_list = {"sources", sizeof(struct ht_shot_given),
                                              sizeof option / sizeof *option, option};
