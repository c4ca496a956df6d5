/* The keys of groups of lists and the members of their structures, as in
 * params_rows.h: ROW(type, structure, member, ..). MEMBER has no key. */

/* A Gaussian: a group of initial.pulses. */
OPEN(ht_pulse)
ROW(REAL3, ht_pulse, centre, NULL, ANY, "length", "Position of the centre.")
ROW(REAL, ht_pulse, width, "0.1", POSITIVE, "length", "Width of the pulse, as initial.width.")
ROW(REAL, ht_pulse, amplitude, "1.0", ANY, "field", "Value of the pulse at the centre.")
ROW(STRING, ht_pulse, field, "\"\"", ANY, "",
    "The field with the pulse; empty means the first of the system.")
CLOSE(ht_pulse)

/* A group of receivers. */
OPEN(ht_receivers_given)
ROW(STRING, ht_receivers_given, name, "\"\"", ANY, "",
    "Name of the group in the outputs; empty means receivers-N, N the group's number.")
ROW(CHOICE(ht_receiver_type, HT_EACH_RECEIVER_TYPE), ht_receivers_given, type, "\"point\"", ANY, "",
    "One point; a line of them; a plane, a lattice with the edges from-to and from-side; or "
    "positions in a file.")
ROW(REAL3, ht_receivers_given, position, "[0.0, 0.0, 0.0]", ANY, "length",
    "Point: where it is, on the grid or off it.")
ROW(REAL3, ht_receivers_given, from, "[0.0, 0.0, 0.0]", ANY, "length",
    "Line and plane: the first receiver.")
ROW(REAL3, ht_receivers_given, to, "[0.0, 0.0, 0.0]", ANY, "length",
    "Line and plane: the last receiver of the first line.")
ROW(REAL3, ht_receivers_given, side, "[0.0, 0.0, 0.0]", ANY, "length",
    "Plane: the first receiver of the last line.")
ROW(INT, ht_receivers_given, count, "1", 1, 100000000, "receivers",
    "Line and plane: receivers from `from` to `to`.")
ROW(INT, ht_receivers_given, count2, "1", 1, 100000000, "lines",
    "Plane: lines from `from` to `side`.")
ROW(FILE, ht_receivers_given, file, "\"\"", ANY, "",
    "File: a line per receiver with its coordinates, one number per axis, separated by blanks or "
    "commas; # begins a comment.")
ROW(NAMES, ht_receivers_given, fields, "[]", ANY, "",
    "Fields, such as p, and derivatives of fields, such as p_x1. Empty: all fields that the "
    "scheme stores at whole steps; of fd p of acoustic, u of wave.")
ROW(ONE("step"), ht_receivers_given, every, "\"step\"", POSITIVE, "time",
    "Time between samples, whatever the time step: values between steps are interpolated. "
    "\"step\": those of each time step.")
ROW(REAL, ht_receivers_given, start, "0.0", NOT_NEGATIVE, "time",
    "Time of the first sample; with every = \"step\" the first step at or after it.")
/* Of a shot whose receivers were moved, in place of the file's. */
MEMBER(int64_t places)
MEMBER(double (*place)[3])
CLOSE(ht_receivers_given)

/* A shot, a source of waves: a group of the list "sources". type and kind are numbers of
 * ht_source_types and ht_source_kinds. */
OPEN(ht_shot_given)
ROW(WORDS(&ht_source_type_words[1]), ht_shot_given, type, "\"point\"", ANY, "",
    &ht_source_type_help[2])
ROW(REAL3, ht_shot_given, position, "[0.0, 0.0, 0.0]", ANY, "length",
    "Point and volume: where it is, anywhere in the box; arrays: their centre. Must be given.")
ROW(REAL3, ht_shot_given, from, "[0.0, 0.0, 0.0]", ANY, "length",
    "Line: its first point. Plane wave: lower corner of its box. The medium is uniform about the "
    "surface of the box.")
ROW(REAL3, ht_shot_given, to, "[0.0, 0.0, 0.0]", ANY, "length",
    "Line: its last point. Plane wave: upper corner of its box, which has no surface along an "
    "axis on which it is as long as the grid; the wave runs normal to such axes, whose sides are "
    "rigid or periodic.")
ROW(INT, ht_shot_given, count, "0", 0, 10000, "points",
    "Line: number of points, 2 or more; each has the amplitude.")
ROW(AXIS, ht_shot_given, axis, "\"x1\"", ANY, "",
    "Plane, must be given: the axis that is normal to it. Linear and curved arrays, must be "
    "given: the axis along which the row lies, made normal to the direction.")
ROW(REAL, ht_shot_given, at, "0.0", ANY, "length",
    "Plane, must be given: its place along the axis, anywhere in the box.")
ROW(REAL, ht_shot_given, width, "0.0", NOT_NEGATIVE, "length",
    "Volume, must be given: w of the Gaussian exp(-|x - x0|^2/(2 w^2)), whose integral is 1; one "
    "spacing or more. Disc and bowl: the diameter.")
ROW(INT, ht_shot_given, elements, "0", 0, 4096, "points",
    "Arrays, must be given: how many points, each with the amplitude; of discs and bowls they "
    "stand for equal areas, in two dimensions in a row.")
ROW(REAL, ht_shot_given, pitch, "0.0", NOT_NEGATIVE, "length",
    "Linear and curved arrays, must be given: distance of elements, on an arc along it.")
ROW(REAL, ht_shot_given, curvature, "0.0", ANY, "length",
    "Curved arrays and bowls, must be given: radius of the arc or sphere, about a point in front "
    "of the array, or behind it where negative (curved arrays).")
ROW(REAL3, ht_shot_given, focus, "[0.0, 0.0, 0.0]", ANY, "length",
    "Arrays: the place at which the waves of all elements arrive together; the first one begins "
    "at `delay`.")
ROW(REAL3, ht_shot_given, steer, "[0.0, 0.0, 0.0]", ANY, "",
    "Arrays without focus: the direction, of any length, in which their waves travel.")
ROW(REAL, ht_shot_given, speed, "0.0", NOT_NEGATIVE, "length/time",
    "Arrays: speed by which delays follow from focus and steer; 0: the medium's at `position`.")
ROW(CHOICE(ht_apodisation, HT_EACH_APODISATION), ht_shot_given, apodisation, "\"none\"", ANY, "",
    "Arrays: factor of the amplitudes, hann: cos^2, 0 at the ends.")
ROW(WORDS(&ht_source_kind_words[1]), ht_shot_given, kind, "\"monopole\"", ANY, "",
    &ht_source_kind_help[1])
ROW(REAL3, ht_shot_given, direction, "[0.0, 0.0, 0.0]", ANY, "",
    "Force: its direction; plane wave: where it travels to; arrays: where they face; of any "
    "length.")
ROW(REAL3, ht_shot_given, polarisation, "[0.0, 0.0, 0.0]", ANY, "",
    "Plane wave of vectors, of any length: the direction of E (maxwell, maxwell_tm), made normal "
    "to that of the wave, or of v (elastic): along that of the wave it is a compressional wave, "
    "else, made normal to it, a shear wave. May be left out where the vector has one component.")
ROW(REAL6, ht_shot_given, moment, "[0.0, 0.0, 0.0, 0.0, 0.0, 0.0]", ANY, "",
    "Moment: the tensor's M11, M22, M33, M12, M13, M23. A fault with normal n that slips along d: "
    "M_ij = n_i d_j + n_j d_i; an explosion: [1.0, 1.0, 1.0, 0.0, 0.0, 0.0].")
ROW(CHOICE(ht_signal_kind, HT_EACH_SIGNAL), ht_shot_given, signal, "\"ricker\"", ANY, "",
    "s(t), of largest value 1 (burst: nearly), with a = pi frequency t: ricker (1 - 2 a^2) "
    "exp(-a^2); gaussian exp(-a^2); gaussian derivative, the rise of the latter; burst, a sine of "
    "`cycles` periods under a Hann window, from t = 0 on; sine, which rises over `cycles` periods "
    "and goes on to the end; file, see there.")
ROW(REAL, ht_shot_given, frequency, "0.0", NOT_NEGATIVE, "1/time",
    "Of the signal (all but files): of a Ricker that of the spectrum's peak, of a burst that of "
    "the sine.")
ROW(REAL, ht_shot_given, cycles, "5.0", 1, 1e6, "periods",
    "Burst and sine: periods, of a sine whole ones.")
ROW(FILE, ht_shot_given, file, "\"\"", ANY, "",
    "Signal \"file\": text with two columns, t and s, between them a cubic spline, outside of "
    "them 0. # begins a comment.")
/* Of signal "file", set by the caller, who keeps them: values from time 0 on, in place of the
 * file's; NULL: none. */
MEMBER(const double *memory)
MEMBER(int64_t values)
MEMBER(double apart)
ROW(ONE("auto"), ht_shot_given, delay, "\"auto\"", ANY, "time",
    "Time of the run at which the signal has t = 0. auto: the signal begins with the run (a "
    "Ricker has its peak at 5 / (pi frequency)); 0 for bursts, sines and files. Of a plane wave: "
    "at the corner of its box that it reaches first.")
ROW(REAL, ht_shot_given, amplitude, "1.0", ANY, "",
    "Factor of the signal: a volume per time (monopole), a force, a moment per time or a current, "
    "of a plane per area, in one and two dimensions per area and per length; of a plane wave its "
    "p (acoustic), u (wave), E (maxwell) or v (elastic).")
MEMBER(double until) /* of its own time: a sine is whole up to there; set by the caller */
ROW(ONE("auto"), ht_shot_given, radius, "\"auto\"", 0.25, 4, "cells",
    "Hermite methods: of the Gaussian with a flat spectrum that stands for the point. auto: 1.25, "
    "with grid.order 3 or less 1.5 (leapfrog of pressure and velocity 1.75), or less where that "
    "errs less.")
ROW(REAL, ht_shot_given, tolerance, "0.0002", 1e-9, 0.1, "",
    "Hermite methods: error of traces, relative in L2, that the Gaussian may add; the banner "
    "shows what it adds.")
CLOSE(ht_shot_given)

/* A shot of a survey: a group of the list "shots". */
OPEN(ht_survey_given)
ROW(VALUE, ht_survey_given, sources, NULL, 1, 256, "",
    "Numbers of the groups of sources that act together, from 1; not given: all.")
ROW(NAMES, ht_survey_given, receivers, "[]", ANY, "",
    "Names or numbers (\"2\") of the groups of receivers that record; empty: all.")
ROW(FILE, ht_survey_given, file, "\"\"", ANY, "",
    "File of places, a shot for each: the one group of `sources` stands there, whatever its own "
    "place. Text with a line per shot and a number per axis; or a line per trace, with the "
    "receiver's place behind the source's: the one group of `receivers` stands at those of the "
    "shot; or SEG-Y (.sgy), by the headers of its traces. # begins a comment.")
ROW(FILE, ht_survey_given, data, "\"\"", ANY, "",
    "File of the shot's traces, which `htwave data` writes and a gradient reads; * stands for the "
    "shot's number. SEG-Y (.sgy), of one shot or several, and .npy are read, too. Empty: "
    "obs/shot-*.h5.")
CLOSE(ht_survey_given)

/* Maps of a field: a group of output.maps. */
OPEN(ht_map_given)
ROW(STRING, ht_map_given, name, "\"\"", ANY, "",
    "Name in those of the files; empty means map-N, N the group's number.")
ROW(STRING, ht_map_given, field, "\"\"", ANY, "", "The field; empty means the first of the system.")
ROW(NAMES, ht_map_given, what, "[]", ANY, "",
    "Of maximum, minimum, largest (of the magnitude), time (when that was) and rms. Empty means "
    "maximum, or with frequencies none of them.")
ROW(VALUE, ht_map_given, frequencies, NULL, POSITIVE, "1/time",
    "Frequencies f, at most 16, of running Fourier transforms: maps amplitude_N and phase_N, the "
    "field being amplitude cos(2 pi f t + phase) from `start` to the end. T/2 times the amplitude "
    "is the magnitude of the transform, T the attribute `lasts`.")
ROW(REAL3, ht_map_given, from, "[0.0, 0.0, 0.0]", ANY, "length",
    "Lower corner of the box of nodes that are kept; not given: that of the grid.")
ROW(REAL3, ht_map_given, to, "[0.0, 0.0, 0.0]", ANY, "length",
    "Upper corner; between the same two nodes as `from` along an axis: the nearer node alone.")
ROW(INT, ht_map_given, stride, "1", 1, 1000, "nodes",
    "Every so many-th node along each axis is kept; 2 takes a quarter of the time in three "
    "dimensions.")
ROW(ONE("auto|step"), ht_map_given, every, "\"auto\"", POSITIVE, "time",
    "Time between samples, whole steps. auto: 8 per period of the shortest waves (sources, "
    "initial.frequency), of which extremes lack 7.6 % at most; 5 for rms and frequencies alone; "
    "for one extreme on the whole grid by fd 4 to 6, with waves between them, of which 3 to 9 % "
    "lack (the banner says it). step, and auto where no period is known: each step.")
ROW(REAL, ht_map_given, start, "0.0", NOT_NEGATIVE, "time", "Time of the first sample.")
CLOSE(ht_map_given)

/* A slice that pictures show: a group of output.picture.slices. */
OPEN(ht_slice_given)
ROW(STRING, ht_slice_given, name, "\"\"", ANY, "",
    "Name in those of the pictures; empty means slice-N, N the group's number.")
ROW(AXIS, ht_slice_given, plane, "\"x3\"", ANY, "",
    "Three dimensions: the axis normal to the slice.")
ROW(REAL, ht_slice_given, position, "0.5", 0, 1, "of the box", "As output.picture.position.")
ROW(STRING, ht_slice_given, field, "\"\"", ANY, "",
    "Field to draw; empty means the first of the system.")
ROW(REAL, ht_slice_given, range, "0.0", NOT_NEGATIVE, "field", "As output.picture.range.")
CLOSE(ht_slice_given)

#undef OPEN
#undef CLOSE
#undef MEMBER
#undef ROW
