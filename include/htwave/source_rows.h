/* The keys of a group of the list "sources" and the members of struct ht_shot_given, as in
 * params_rows.h. `type` and `kind` are numbers of ht_source_types and ht_source_kinds. */

ROW(WORDS(&(EACH_TYPE(ENTRY))[1]), , type, "\"point\"", ANY, "", &(EACH_TYPE(HELP_TYPE) ".")[2])
ROW(REAL3, , position, "[0.0, 0.0, 0.0]", ANY, "length",
    "Point and volume: where it is, anywhere in the box; arrays: their centre. Must be given.")
ROW(REAL3, , from, "[0.0, 0.0, 0.0]", ANY, "length",
    "Line: its first point. Plane wave: lower corner of its box. The medium is uniform about the "
    "surface of the box.")
ROW(REAL3, , to, "[0.0, 0.0, 0.0]", ANY, "length",
    "Line: its last point. Plane wave: upper corner of its box, which has no surface along an "
    "axis on which it is as long as the grid; the wave runs normal to such axes, whose sides are "
    "rigid or periodic.")
ROW(INT, , count, "0", 0, 10000, "points",
    "Line: number of points, 2 or more; each has the amplitude.")
ROW(AXIS, , axis, "\"x1\"", ANY, "",
    "Plane, must be given: the axis that is normal to it. Linear and curved arrays, must be "
    "given: the axis along which the row lies, made normal to the direction.")
ROW(REAL, , at, "0.0", ANY, "length",
    "Plane, must be given: its place along the axis, anywhere in the box.")
ROW(REAL, , width, "0.0", NOT_NEGATIVE, "length",
    "Volume, must be given: w of the Gaussian exp(-|x - x0|^2/(2 w^2)), whose integral is 1; one "
    "spacing or more. Disc and bowl: the diameter.")
ROW(INT, , elements, "0", 0, 4096, "points",
    "Arrays, must be given: how many points, each with the amplitude; of discs and bowls they "
    "stand for equal areas, in two dimensions in a row.")
ROW(REAL, , pitch, "0.0", NOT_NEGATIVE, "length",
    "Linear and curved arrays, must be given: distance of elements, on an arc along it.")
ROW(REAL, , curvature, "0.0", ANY, "length",
    "Curved arrays and bowls, must be given: radius of the arc or sphere, about a point in front "
    "of the array, or behind it where negative (curved arrays).")
ROW(REAL3, , focus, "[0.0, 0.0, 0.0]", ANY, "length",
    "Arrays: the place at which the waves of all elements arrive together; the first one begins "
    "at `delay`.")
ROW(REAL3, , steer, "[0.0, 0.0, 0.0]", ANY, "",
    "Arrays without focus: the direction, of any length, in which their waves travel.")
ROW(REAL, , speed, "0.0", NOT_NEGATIVE, "length/time",
    "Arrays: speed by which delays follow from focus and steer; 0: the medium's at `position`.")
ROW(CHOICE(ht_apodisation, HT_EACH_APODISATION), , apodisation, "\"none\"", ANY, "",
    "Arrays: factor of the amplitudes, hann: cos^2, 0 at the ends.")
ROW(WORDS(&(EACH_KIND(ENTRY))[1]), , kind, "\"monopole\"", ANY, "",
    &(EACH_KIND(
        HELP_KIND) " The delta of a line is the sum over its points, that of a plane delta(x_k - "
                   "at), that of a volume its Gaussian. A force of a volume gives all its points "
                   "the acceleration that the density at its centre makes; that of a plane is "
                   "normal to it. Plane waves have no kind.")[1])
ROW(REAL3, , direction, "[0.0, 0.0, 0.0]", ANY, "",
    "Force: its direction; plane wave: where it travels to; arrays: where they face; of any "
    "length.")
ROW(REAL3, , polarisation, "[0.0, 0.0, 0.0]", ANY, "",
    "Plane wave of vectors, of any length: the direction of E (maxwell, maxwell_tm), made normal "
    "to that of the wave, or of v (elastic): along that of the wave it is a compressional wave, "
    "else, made normal to it, a shear wave. May be left out where the vector has one component.")
ROW(REAL6, , moment, "[0.0, 0.0, 0.0, 0.0, 0.0, 0.0]", ANY, "",
    "Moment: the tensor's M11, M22, M33, M12, M13, M23. A fault with normal n that slips along d: "
    "M_ij = n_i d_j + n_j d_i; an explosion: [1.0, 1.0, 1.0, 0.0, 0.0, 0.0].")
ROW(CHOICE(ht_signal_kind, HT_EACH_SIGNAL), , signal, "\"ricker\"", ANY, "",
    "s(t), of largest value 1 (burst: nearly), with a = pi frequency t: ricker (1 - 2 a^2) "
    "exp(-a^2); gaussian exp(-a^2); gaussian derivative, the rise of the latter; burst, a sine of "
    "`cycles` periods under a Hann window, from t = 0 on; sine, which rises over `cycles` periods "
    "and goes on to the end; file, see there.")
ROW(REAL, , frequency, "0.0", NOT_NEGATIVE, "1/time",
    "Of the signal (all but files): of a Ricker that of the spectrum's peak, of a burst that of "
    "the sine.")
ROW(REAL, , cycles, "5.0", 1, 1e6, "periods", "Burst and sine: periods, of a sine whole ones.")
ROW(FILE, , file, "\"\"", ANY, "",
    "Signal \"file\": text with two columns, t and s, between them a cubic spline, outside of "
    "them 0. # begins a comment.")
/* Of signal "file", set by the caller, who keeps them: values from time 0 on, in place of the
 * file's; NULL: none. */
MEMBER(const double *memory)
MEMBER(int64_t values)
MEMBER(double apart)
ROW(ONE("auto"), , delay, "\"auto\"", ANY, "time",
    "Time of the run at which the signal has t = 0. auto: the signal begins with the run (a "
    "Ricker has its peak at 5 / (pi frequency)); 0 for bursts, sines and files. Of a plane wave: "
    "at the corner of its box that it reaches first.")
ROW(REAL, , amplitude, "1.0", ANY, "",
    "Factor of the signal: a volume per time (monopole), a force, a moment per time or a current, "
    "of a plane per area, in one and two dimensions per area and per length; of a plane wave its "
    "p (acoustic), u (wave), E (maxwell) or v (elastic).")
MEMBER(double until) /* of its own time: a sine is whole up to there; set by the caller */
ROW(ONE("auto"), , radius, "\"auto\"", 0.25, 4, "cells",
    "Hermite methods: of the Gaussian with a flat spectrum that stands for the point. auto: 1.25, "
    "with grid.order 3 or less 1.5 (leapfrog of pressure and velocity 1.75), or less where that "
    "errs less.")
ROW(REAL, , tolerance, "0.0002", 1e-9, 0.1, "",
    "Hermite methods: error of traces, relative in L2, that the Gaussian may add; the banner "
    "shows what it adds.")

#undef MEMBER
#undef ROW
