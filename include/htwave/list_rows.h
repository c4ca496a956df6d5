/* The keys of groups of lists but "sources" and the members of their structures, as in
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
