/* The options of an input file and the members of struct ht_params, one row for both: included by
 * params.h and by src/input/options.c with macros of their own. Rows of one section stand together,
 * a section before the sections inside it: the resolved input has this order.
 *
 * ROW(type, section, member, default, range, unit, help): key and member are section member. NAMED
 * has a key in place of the section, of another member; MEMBER a member without a key. */

ROW(STRING, , system, "\"acoustic\"", ANY, "",
    "The equations to solve; `htwave describe` lists the systems with their fields, medium "
    "parameters and walls.")
OPEN(grid)
MEMBER(int dims) /* number of entries of grid.cells */
ROW(CELLS, grid., cells, "[32, 32, 32]", 1, COUNT_MAX, "cells",
    "Cells along each axis; one, two or three numbers, as the run has dimensions.")
ROW(REAL3, grid., lower, "[0.0, 0.0, 0.0]", ANY, "length",
    "Lower corner of the box, one number per axis.")
ROW(REAL3, grid., upper, "[1.0, 1.0, 1.0]", ANY, "length",
    "Upper corner of the box; greater than the lower one along every axis.")
ROW(VALUE, grid., spacing, NULL, POSITIVE, "length",
    "Length of a cell, one number or one per axis, instead of cells or of upper: two of the three "
    "give the third. On the command line it replaces the cells of the file.")
ROW(INT, grid., order, "0", 0, 16, "",
    "Hermite methods: N, 1 to 8; every node holds (N+1)^dims derivatives of each field, and "
    "errors fall like h^(2N+1) in a uniform medium. 3 suits single precision, higher orders need "
    "double. fd: the order in space, 2, 4 .. 16; 8 suits most media. 0: N = 3, or order 8 of fd. "
    "With time.scheme = \"auto\" in a medium that varies an order is refused unless another key "
    "tells which of the two it is: name the scheme.")
CLOSE(grid)
OPEN(time)
ROW(REAL, time., end, "1.0", NOT_NEGATIVE, "time",
    "End of the run, which starts at 0. The last step ends there exactly.")
ROW(REAL, time., cfl, "0.9", DBL_MIN, 3, "",
    "Step as a fraction of the time in which the fastest wave crosses a cell. fd: by default the "
    "smaller of 0.9 and 0.95 of the largest stable step, which depends on the medium; with two "
    "terms of staggered fields the latter.")
ROW(REAL, time., step, "0.0", NOT_NEGATIVE, "time",
    "Longest time step, instead of time.cfl; 0 uses time.cfl. An unstable step is refused.")
ROW(CHOICE(ht_scheme_name, HT_EACH_SCHEME_WORD), time., scheme, "\"auto\"", ANY, "",
    "taylor: a Taylor series in time of each cell's polynomial, which damps waves that the grid "
    "does not resolve. leapfrog: conserves energy and damps nothing, in uniform media (acoustic: "
    "p at whole, v at half steps; wave: u only). fd: finite differences, for all systems but "
    "advection: one value per point of p (acoustic), u (wave), or each field. auto: fd for "
    "`htwave gradient` and where the medium varies, a side absorbs or is free, a plane wave comes "
    "from outside, elastic or maxwell have sources, or, in two or three dimensions, it errs by "
    "some 1 % or less and grid.order and time.cfl are left out; else leapfrog, but taylor for "
    "advection or if output.fields, output.picture.field, receivers.fields, time.stages, time.cfl "
    "or parallel.halo_precision ask for what leapfrog has not. In any medium medium.fit and a "
    "device.variant of fd choose fd; medium.degree, time.stages above 2 and another "
    "device.variant choose taylor or leapfrog.")
ROW(ONE("auto|full|least"), time., stages, "\"auto\"", 1, 10000, "",
    "Terms of the Taylor series. full: exact for the cell's polynomial in a uniform medium. "
    "least: the fewest that are stable at the step, at least 2N+1, which keep the order. auto: "
    "full in a uniform medium, least in one that varies. fd: 1 or 2 terms in time, order 2 or 4; "
    "auto is 2 where there are two, but 1 of staggered fields (elastic, maxwell), which have two "
    "without layers, losses and sources. Unstable numbers are refused.")
ROW(CHOICE(ht_dispersion, HT_EACH_DISPERSION), time., dispersion, "\"auto\"", ANY, "",
    "fd with one term in time. remove: traces are free of the dispersion of the time steps, "
    "exactly, in any medium, so that only the error in space is left; fields between keep it. The "
    "run takes some steps more after its end and keeps the traces of all steps in memory. auto "
    "removes it where there are receivers and the run begins with sources or data at rest.")
CLOSE(time)
OPEN(boundary)
MEMBER(char *side[3][2]) /* [axis][lower, upper] */
NAMED(SIDES, "boundary.x1", boundary.side[0], "[\"periodic\", \"periodic\"]", ANY, "",
      "Lower and upper side along x1: periodic on both, or on each a wall of the system (acoustic, "
      "wave: rigid, free) or \"absorbing\". One name applies to both.")
NAMED(SIDES, "boundary.x2", boundary.side[1], "[\"periodic\", \"periodic\"]", ANY, "",
      "Lower and upper side along x2.")
NAMED(SIDES, "boundary.x3", boundary.side[2], "[\"periodic\", \"periodic\"]", ANY, "",
      "Lower and upper side along x3.")
CLOSE(boundary)
OPEN(absorbing)
ROW(VALUE, absorbing., cells, "8.0", 0, 10000, "cells",
    "Thickness of absorbing layers: one number, one per axis, or lower and upper of x1, x2 and x3 "
    "(those of other sides do not matter). 0: a rigid wall. cpml of fd: at least 6 in more than "
    "one dimension. The medium in layers is that of their inner face.")
ROW(VALUE, absorbing., width, NULL, NOT_NEGATIVE, "length",
    "Thickness in place of absorbing.cells, rounded up to whole cells, so that layers stay what "
    "they are on other grids.")
ROW(CHOICE(ht_absorbing_place, HT_EACH_PLACE), absorbing., place, "\"outside\"", ANY, "",
    "outside: layers are added around the box from grid.lower to grid.upper; outputs are of the "
    "box. inside: they take a part of it.")
ROW(CHOICE(ht_absorbing_type, HT_EACH_ABSORBING), absorbing., type, "\"auto\"", ANY, "",
    "cpml: a convolutional perfectly matched layer, which lets waves of any direction in. sponge: "
    "damps the fields themselves, for leapfrog and fd with two terms in time, which have no cpml "
    "and are refused without it. auto: cpml.")
ROW(ONE("auto"), absorbing., reflection, "\"auto\"", 1e-16, 0.5, "",
    "Reflection R at normal incidence, without the error of the grid: the integral of the damping "
    "over the thickness is -c ln R / 2, c the largest speed. auto: from the thickness; cpml of fd "
    "has 1.4e-20, of first-order systems 1e-5.")
ROW(ONE("auto"), absorbing., speed, "\"auto\"", POSITIVE, "length/time",
    "Speed c that layers are made for, such as one for all models of an inversion. auto: the "
    "medium's largest along the normal.")
ROW(ONE("auto"), absorbing., degree, "\"auto\"", 0, 8, "",
    "Degree m of the damping, which grows as depth^m from the inner face.")
ROW(ONE("auto"), absorbing., alpha, "\"auto\"", 0, 10, "c/h",
    "cpml: frequency below which layers let waves through; keeps long runs stable.")
ROW(ONE("auto"), absorbing., sponge, "\"auto\"", 0, 1, "",
    "Hermite methods with cpml: weak damping of all fields, as part of the damping along the "
    "normal; keeps long runs stable.")
ROW(ONE("auto"), absorbing., mix, "\"auto\"", 0, 1, "",
    "cpml of first-order systems by fd: damping of the derivatives along the other axes, as part "
    "of that along the normal. It keeps elastic layers from growing and reflects more. auto, for "
    "elastic waves, by the medium in each layer: 0.01 to 1, most in rough media and where fluid "
    "and solid share a layer (the output says which); else 0.")
CLOSE(absorbing)
OPEN(medium)
ROW(CHOICE(ht_medium_type, HT_EACH_MEDIUM_TYPE), medium., type, "\"constant\"", ANY, "",
    "One value everywhere, plane layers, gridded files, arrays in memory (for programs that call "
    "the library), or expressions in x1, x2, x3: each parameter is then a number, one number per "
    "layer, the name of a file, any word for an array, or an expression.")
MEMBER(struct ht_medium_given given[HT_MAX_MEDIUM_OPTIONS]) /* by ht_medium_option_at */
ROW(INT, medium., degree, "-1", -1, 10, "",
    "Hermite methods: degree g of the polynomials of the medium in each cell; 0: the mean of the "
    "cell. In smooth media the order is the smaller of 2N+1 and g+1 (at constant impedance 2N+1 "
    "from g = N+1 on). -1: N+1, N+2 for N = 4, 6, 8, and means in cells where the medium jumps.")
ROW(CHOICE(ht_fit_kind, HT_EACH_FIT), medium., fit, "\"auto\"", ANY, "",
    "fd: how the medium becomes one number per point. sinc: the mean by a windowed sinc, four "
    "points to either side, so that jumps may lie between points; box: the mean over the point's "
    "cell; point: the value there. Means take samples of a file as constant over half a spacing "
    "to either side, point is linear between them. auto: point for smooth expressions, else "
    "sinc.")
ROW(BOOL, medium., couplings, "true", ANY, "",
    "fd of elastic and maxwell: fields at different places are coupled at faces that are oblique "
    "to the grid, unless these are more than a third of all points.")
ROW(AXIS, medium., axis, "\"x3\"", ANY, "", "Layers: the axis along which they are stacked.")
ROW(VALUE, medium., interfaces, NULL, ANY, "length",
    "Layers: increasing positions of the interfaces along the axis, one fewer than the layers.")
ROW(CHOICE(ht_file_format, HT_EACH_FORMAT), medium., format, "\"auto\"", ANY, "",
    "Files: raw, little-endian 32-bit floats without a header; npy; segy (.sgy, .segy), samples "
    "along depth, traces side by side; hdf5 (.h5, .hdf5). auto goes by the file's name, raw where "
    "it has no such ending.")
ROW(STRING, medium., dataset, "\"\"", ANY, "",
    "HDF5 files: name of the dataset; empty means the name of the parameter, such as c, or data.")
ROW(INT64_3, medium., shape, "[0, 0, 0]", 0, COUNT_MAX, "samples",
    "Files: samples along each axis of the file, in the order of medium.axes; needed of raw "
    "files, 0 reads it from others.")
ROW(SAMPLES3, medium., spacing, "[1.0, 1.0, 1.0]", POSITIVE, "length",
    "Files: distance of samples along each axis of the file, in the order of medium.axes. Not "
    "given, it is read from headers of SEG-Y, in metres: the interval of samples in thousandths, "
    "the places of traces at bytes 181, 73 or 81.")
ROW(SAMPLES3, medium., origin, "[0.0, 0.0, 0.0]", ANY, "length",
    "Files: position of the first sample, in the order of medium.axes. Outside the samples the "
    "value of the edge continues.")
ROW(NAMES, medium., axes, "[]", ANY, "",
    "Files: the axis of the box for each axis of the file, the fastest first (of .npy and HDF5 "
    "the last index): [\"x3\", \"x1\"] is a section stored depth first, the same for all x2. "
    "Empty: x1, x2, x3; of SEG-Y the last axis of the grid first.")
ROW(REAL, medium., scale, "1.0", ANY, "", "Files: factor of the values, to convert their unit.")
CLOSE(medium)
OPEN(initial)
MEMBER(struct ht_pulse single)
ROW(CHOICE(ht_data_type, HT_EACH_DATA), initial., type, "\"gaussian\"", ANY, "",
    "A Gaussian pulse, a plane wave along +k, a standing mode between walls, random numbers, "
    "expressions, gridded files, or nothing.")
NAMED(STRING, "initial.field", initial.single.field, "\"\"", ANY, "",
      "Gaussian, file .npy: the field; empty means the first of the system.")
NAMED(REAL3, "initial.centre", initial.single.centre, "[0.5, 0.5, 0.5]", ANY, "length",
      "Gaussian: position of the centre.")
NAMED(REAL, "initial.width", initial.single.width, "0.1", POSITIVE, "length",
      "Gaussian: width w of exp(-r^2/(2 w^2)), r the distance from the centre.")
NAMED(
    REAL, "initial.amplitude", initial.single.amplitude, "1.0", ANY, "field",
    "Gaussian, plane, standing: factor of the wave; random: the values lie between minus and plus "
    "the amplitude.")
ROW(LIST, initial., pulses, "()", 0, 64, "groups",
    "Gaussian: several pulses, instead of centre, width, amplitude and field: ( { centre = [0.3, "
    "0.5]; }, { centre = [0.7, 0.5]; width = 0.05; } ).")
ROW(REAL, initial., phase, "0.0", ANY, "radians", "Plane and standing waves: phase at time 0.")
ROW(INT3, initial., cycles, "[1, 0, 0]", ANY, "wavelengths",
    "Plane wave: whole wavelengths across the box along each axis.")
ROW(INT, initial., wave, "1", 1, 6, "",
    "Plane wave: 1 the fastest kind of wave of the system, 2 the next, such as the shear waves of "
    "a solid.")
ROW(INT3, initial., modes, "[1, 0, 0]", 0, 1000000000, "half wavelengths",
    "Standing wave: mode number along each axis.")
ROW(INT64, initial., seed, "1", ANY, "", "Random: a different seed gives different numbers.")
ROW(MAP, initial., values, NULL, ANY, "",
    "Expression: field = \"expression in x1, x2, x3\"; omitted fields are zero. File: field = "
    "\"dataset\" for a dataset with another name. Given alone they make initial.type "
    "\"expression\".")
ROW(FILE, initial., file, "\"\"", ANY, "",
    "HDF5 file with a dataset per field, nodal values on the primary grid or all coefficients as "
    "a run writes them; fields that it lacks are 0, but in snapshots. Or .npy with the nodal "
    "values of initial.field, [x3, x2, x1]. Given alone it makes initial.type \"file\".")
ROW(BOOL, initial., returns, "false", ANY, "",
    "States that the exact solution at time.end is the initial data, so that the run reports its "
    "error.")
ROW(REAL, initial., frequency, "0.0", NOT_NEGATIVE, "1/time",
    "Highest frequency of interest, for the accuracy estimate before the run; 0 means unknown.")
CLOSE(initial)
ROW(LIST, , receivers, "()", 0, 1000, "groups",
    "Groups of receivers, which record fields in time at any positions: ( { position = [0.3, "
    "0.5]; }, { name = \"line\"; type = \"line\"; from = [0.1, 0.1]; to = [0.9, 0.1]; count = "
    "101; every = 0.01; } ). Their traces go to traces.h5.")
MEMBER(struct ht_groups shots)
NAMED(LIST, "sources", shots, "()", 0, 256, "groups",
      "Sources of waves: ( { position = [0.3, 0.5]; frequency = 10.0; }, { .. } ). With sources "
      "initial.type is zero unless a key of initial other than frequency is given.")
MEMBER(struct ht_groups survey)
NAMED(LIST, "shots", survey, "()", 0, 4096, "groups",
      "Shots, each a run with some of the sources and receivers, which begins at rest: ( { sources "
      "= [1]; receivers = [\"cable\"]; }, { sources = [2]; } ). `htwave run` takes one after the "
      "other with one preparation, each into its folder shot-NNN of output.directory; a call that "
      "was interrupted goes on with the first one that is not finished. Without the list `htwave "
      "run` is one run with all sources, and `htwave data` takes each group of sources as a shot "
      "with all receivers.")
OPEN(gradient)
MEMBER(bool wanted) /* the run is one of those that make gradients */
MEMBER(bool alone)  /* they are all that is made */
ROW(NAMES, gradient., parameters, "[\"c\"]", ANY, "",
    "`htwave gradient`: parameters of the medium by which the misfit is differentiated.")
ROW(CHOICE(ht_misfit_type, HT_EACH_MISFIT), gradient., misfit, "\"l2\"", ANY, "",
    "How traces p are compared with observed ones d: half the integral of (p - d)^2; 1 less the "
    "normalised correlation; half the integral of the squared difference of envelopes. given: the "
    "files of data hold the derivative of a misfit by each sample.")
ROW(CHOICE(ht_gradient_image, HT_EACH_GRADIENT_IMAGE), gradient., image, "\"gradient\"", ANY, "",
    "gradient; or cross, the product of forward and adjoint waves summed over the steps, an image "
    "of what reflects, on the samples of the parameters.")
ROW(CHOICE(ht_gradient_field, HT_EACH_GRADIENT_FIELD), gradient., field, "\"auto\"", ANY, "",
    "Where the adjoint run has the forward field from. reverse: it is run backwards, with what "
    "was recorded in front of absorbing layers; checkpoint: parts of it are run again from states "
    "that were kept; store: all steps are kept; auto: by the memory there is.")
ROW(REAL, gradient., memory, "0.0", NOT_NEGATIVE, "bytes",
    "Memory of the device for the forward field; 0: 80 % of what is free.")
ROW(FILE, gradient., mask, "\"\"", ANY, "",
    "File of factors of the gradient, of the shape of the medium's files: 0 where the model is "
    "known.")
ROW(FILE, gradient., weights, "\"\"", ANY, "",
    "File of weights of the samples in the misfit, 0 where they are muted: named and shaped like "
    "observed data, or with one number for each receiver; * stands for the shot's number.")
ROW(BOOL, gradient., nodes, "false", ANY, "",
    "Write the gradient by what the medium is at the nodes, too.")
CLOSE(gradient)
OPEN(output)
ROW(STRING, output., directory, "\"out\"", ANY, "",
    "Directory of all output files, relative to the current directory; created if missing, for "
    "one run at a time. Outputs of an earlier run are moved to run-001, run-002, .. inside; files "
    "that the run reads are not moved.")
ROW(REAL, output., every, "0.0", NOT_NEGATIVE, "time",
    "Time between snapshots; 0: the last state only. Up to 5 % more steps are taken if outputs "
    "then fall on steps; else they are at the nearest steps (the banner says it), with their true "
    "times.")
ROW(NAMES, output., fields, "[]", ANY, "", "Fields to write; empty means all.")
ROW(BOOL, output., coefficients, "false", ANY, "",
    "Write all (N+1)^dims derivatives of every node, not only the values.")
ROW(BOOL, output., snapshots, "true", ANY, "",
    "Write snapshots as HDF5 with an XDMF file for ParaView.")
ROW(BOOL, output., checksums, "false", ANY, "",
    "Write checksums of snapshots, by planes, by which initial.file and htwave compare refuse a "
    "damaged one. Checkpoints always have them.")
ROW(BOOL, output., pictures, "true", ANY, "",
    "Draw pictures (PNG) by output.picture. A program built without cairo refuses keys of "
    "output.picture unless this is false.")
ROW(NAMES, output., traces, "[]", ANY, "",
    "Formats of the receivers' traces beside HDF5: csv, a table per group and field of at most 64 "
    "traces; segy, SEG-Y revision 1 with IEEE floats.")
ROW(BOOL, output., series, "false", ANY, "",
    "Write series.csv while the run goes on: time, energy and the largest value of each field, at "
    "each look at the energy.")
ROW(LIST, output., maps, "()", 0, 64, "groups",
    "Maps of fields, kept on the device while the run goes on and written at its end to "
    "map_NAME.h5 and a picture each: ( { field = \"p\"; what = [\"maximum\", \"rms\"]; }, { "
    "frequencies = [1.0e6]; start = 2.0e-5; } ).")
ROW(MAP, output., units, NULL, ANY, "",
    "Names of your units, shown in pictures: of length, time, fields and parameters of the "
    "medium, such as { length = \"km\"; time = \"s\"; p = \"Pa\"; c = \"km/s\"; }. Numbers are "
    "not converted.")
ROW(ONE_OF("auto|none|x1|x2|x3"), output., down, "\"auto\"", ANY, "",
    "The axis along which depth grows: drawn downwards by pictures and scripts (attribute `down` "
    "of files), its negative the elevation of SEG-Y. auto: the last axis with a free lower side, "
    "such as the surface of the sea.")
OPEN(checkpoint)
ROW(REAL, output.checkpoint., seconds, "0.0", NOT_NEGATIVE, "s",
    "Time by the clock between checkpoints, from which `htwave continue` goes on; 0: none. They "
    "take at most 2 % of the run: where one takes long the next comes later. With this or "
    "output.checkpoint.every a run that a signal ends (SIGINT, SIGTERM, SIGUSR1, ..) writes one, "
    "too. checkpoint.h5 is the last one, checkpoint-1.h5 the one before.")
ROW(REAL, output.checkpoint., every, "0.0", NOT_NEGATIVE, "time",
    "Time of the run between checkpoints; 0: none.")
CLOSE(checkpoint)
OPEN(picture)
MEMBER(struct ht_slice_given single)
NAMED(AXIS, "output.picture.plane", output.picture.single.plane, "\"x3\"", ANY, "",
      "Three dimensions: the axis normal to the slice.")
NAMED(STRING, "output.picture.field", output.picture.single.field, "\"\"", ANY, "",
      "Field to draw; empty means the first of the system.")
NAMED(REAL, "output.picture.position", output.picture.single.position, "0.5", 0, 1, "of the box",
      "Position of the slice: 0 is the lower side of the box, 1 the upper side.")
ROW(ONE("auto"), output.picture., every, "\"auto\"", NOT_NEGATIVE, "time",
    "Time between pictures, as output.every. auto: ten pictures, at the nearest steps, of a run "
    "with sources, else 0, as of each of several shots.")
NAMED(REAL, "output.picture.range", output.picture.single.range, "0.0", NOT_NEGATIVE, "field",
      "Colours span -range to range; 0 uses what output.picture.scale says.")
ROW(CHOICE(ht_scale, HT_EACH_SCALE), output.picture., scale, "\"picture\"", ANY, "",
    "Range of the colours of a slice without range: the largest value of each picture, or of all "
    "pictures of the slice so far. The picture says which.")
ROW(INT, output.picture., pixels, "640", 16, 8192, "pixels",
    "Minimum length of the picture's longer side.")
ROW(STRING, output.picture., background, "\"none\"", ANY, "",
    "Medium parameter drawn in grey under the wave, such as c; or none.")
ROW(BOOL, output.picture., marks, "false", ANY, "",
    "Draw sources (discs; planes and boxes of plane waves dashed) and receivers (triangles) over "
    "the wave; open where they are not in the slice.")
ROW(LIST, output.picture., slices, "()", 0, 64, "groups",
    "Several slices, instead of plane, position, field and range: ( { plane = \"x1\"; }, { name = "
    "\"top\"; plane = \"x3\"; position = 0.1; } ). Each is drawn as wave_NAME_0000.png.")
CLOSE(picture)
CLOSE(output)
OPEN(device)
ROW(ONE_OF("auto|cuda|opencl|oracle"), device., backend, "\"auto\"", ANY, "",
    "Back end: CUDA, OpenCL, auto (the one with the better device), or the serial reference on "
    "the host.")
ROW(STRING, device., select, "\"auto\"", ANY, "",
    "The device: gpu, cpu, its number or a part of its name as `htwave devices` prints them; auto "
    "prefers a GPU; none, for check: no device.")
ROW(CHOICE(ht_precision, HT_EACH_PRECISION), device., precision, "\"single\"", ANY, "",
    "32 or 64 bit floating point. In single precision kernels that sum series are refused at high "
    "orders (N = 8; advection N >= 7, in three dimensions N >= 5) for steps with which rounding "
    "grows; the message says how long steps may be.")
ROW(STRING, device., variant, "\"auto\"", ANY, "",
    "Kernel variant by name; auto chooses the best that applies.")
ROW(CHOICE(ht_layout_choice, HT_EACH_LAYOUT), device., layout, "\"auto\"", ANY, "",
    "Order of coefficients in memory: one after the other, or some of them innermost.")
ROW(STRING, device., cache, "\"auto\"", ANY, "",
    "Directory of compiled kernels and tuning results; auto is htwave in the user's cache "
    "directory, none disables storage.")
ROW(CHOICE(ht_tune_when, HT_EACH_TUNE), device., tune, "\"auto\"", ANY, "",
    "If variant or layout is auto: use the result of htwave tune. Without one auto times the "
    "kernels for 5 s before runs on a GPU that are expected to take 15 s or more, always before "
    "every run; never ignores results.")
ROW(INT, device., cells_per_group, "0", 0, 1024, "cells",
    "Cells along x1 that one work-group computes; 0 is automatic.")
ROW(INT, device., planes_per_group, "0", 0, 1048576, "planes",
    "Planes along x3 that one work-group computes; 0 is automatic.")
ROW(INT, device., threads, "0", 0, 256, "",
    "Threads of the host that prepare a run; 0: the cores that the process may use, which the "
    "ranks of a machine share. Results do not depend on it.")
ROW(BOOL, device., selfcheck, "true", ANY, "",
    "Compare the kernels with the serial reference on this device before the run, in under a "
    "second.")
OPEN(limits)
ROW(INT, device.limits., local_memory, "-1", -1, INT_MAX, "bytes",
    "For tests: the device acts as one whose groups have at most this local memory; -1: as it "
    "is.")
ROW(INT, device.limits., group, "0", 0, 65536, "work-items",
    "For tests: it takes groups of at most so many; 0: as it is.")
ROW(BOOL, device.limits., fp64, "true", ANY, "",
    "For tests: whether it has double precision, where it has.")
CLOSE(limits)
CLOSE(device)
OPEN(parallel)
ROW(INT, parallel., halo_depth, "1", 1, 64, "half steps",
    "Half steps, by time.scheme = \"fd\" applications of the operator, between two exchanges of "
    "planes with the neighbours; more than 1 computes some planes twice and changes no result.")
ROW(CHOICE(ht_halo_precision, HT_EACH_HALO_PRECISION), parallel., halo_precision, "\"same\"", ANY,
    "",
    "Precision of the planes in messages to the neighbours: same changes no result, single and "
    "half shorten messages and round.")
ROW(ONE_OF("auto|peer|staged"), parallel., transport, "\"auto\"", ANY, "",
    "Transport of messages: peer (from device to device) or staged (MPI messages); auto chooses "
    "the first that works, for every two neighbours.")
ROW(REAL, parallel., patience, "1800.0", NOT_NEGATIVE, "s",
    "A rank that waits for so long, while another one neither comes nor answers, names that rank "
    "and ends the run; 0 waits without end.")
ROW(INT, parallel., shots, "0", 0, 1000000, "groups",
    "Groups of ranks that take shots side by side, shot i by group i mod shots; the ranks of a "
    "group divide its grid. It divides the number of ranks. 0: each rank is a group. Results do "
    "not depend on it.")
CLOSE(parallel)

#undef OPEN
#undef CLOSE
#undef MEMBER
#undef ROW
#undef NAMED
