/* The options: one row each, but those of the medium's parameters (options_medium.c). Rows of one
 * section stand together, a section before the sections inside it: the resolved input has this
 * order. */
#include "options.h"

#define AT(member) offsetof(struct ht_params, member)
/* Of a key that is named as its member. */
#define KEY(member, type) #member, HT_OPT_##type, AT(member)
#define COUNT_MAX 2147483648.0 /* nodes or samples per axis */

static const struct ht_option option[] = {
    {KEY(system, STRING), "\"acoustic\"", ANY, NULL, "",
     "The equations to solve; `htwave describe` lists the systems with their fields, medium "
     "parameters and walls."},

    {KEY(grid.cells, CELLS), "[32, 32, 32]", 1, COUNT_MAX, NULL, "cells",
     "Cells along each axis; one, two or three numbers, as the run has dimensions."},
    {KEY(grid.lower, REAL3), "[0.0, 0.0, 0.0]", ANY, NULL, "length",
     "Lower corner of the box, one number per axis."},
    {KEY(grid.upper, REAL3), "[1.0, 1.0, 1.0]", ANY, NULL, "length",
     "Upper corner of the box; greater than the lower one along every axis."},
    {KEY(grid.spacing, VALUE), NULL, POSITIVE, NULL, "length",
     "Length of a cell, one number or one per axis, instead of cells or of upper: two of the three "
     "give the third. On the command line it replaces the cells of the file."},
    {KEY(grid.order, INT), "0", 0, 16, NULL, "",
     "Hermite methods: N, 1 to 8; every node holds (N+1)^dims derivatives of each field, and "
     "errors fall like h^(2N+1) in a uniform medium. 3 suits single precision, higher orders need "
     "double. fd: the order in space, 2, 4 .. 16; 8 suits most media. 0: N = 3, or order 8 of fd. "
     "With time.scheme = \"auto\" in a medium that varies an order is refused unless another key "
     "tells which of the two it is: name the scheme."},

    {KEY(time.end, REAL), "1.0", NOT_NEGATIVE, NULL, "time",
     "End of the run, which starts at 0. The last step ends there exactly."},
    {KEY(time.cfl, REAL), "0.9", DBL_MIN, 3, NULL, "",
     "Step as a fraction of the time in which the fastest wave crosses a cell. fd: by default the "
     "smaller of 0.9 and 0.95 of the largest stable step, which depends on the medium; with two "
     "terms of staggered fields the latter."},
    {KEY(time.step, REAL), "0.0", NOT_NEGATIVE, NULL, "time",
     "Longest time step, instead of time.cfl; 0 uses time.cfl. An unstable step is refused."},
    {KEY(time.scheme, CHOICE), "\"auto\"", ANY, CHOICES(HT_EACH_SCHEME_WORD), "",
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
     "device.variant choose taylor or leapfrog."},

    {KEY(time.stages, ONE), "\"auto\"", 1, 10000, "auto|full|least", "",
     "Terms of the Taylor series. full: exact for the cell's polynomial in a uniform medium. "
     "least: the fewest that are stable at the step, at least 2N+1, which keep the order. auto: "
     "full in a uniform medium, least in one that varies. fd: 1 or 2 terms in time, order 2 or 4; "
     "auto is 2 where there are two, but 1 of staggered fields (elastic, maxwell), which have two "
     "without layers, losses and sources. Unstable numbers are refused."},
    {KEY(time.dispersion, CHOICE), "\"auto\"", ANY, CHOICES(HT_EACH_DISPERSION), "",
     "fd with one term in time. remove: traces are free of the dispersion of the time steps, "
     "exactly, in any medium, so that only the error in space is left; fields between keep it. The "
     "run takes some steps more after its end and keeps the traces of all steps in memory. auto "
     "removes it where there are receivers and the run begins with sources or data at rest."},

    {"boundary.x1", HT_OPT_SIDES, AT(boundary.side[0]), "[\"periodic\", \"periodic\"]", ANY, NULL,
     "",
     "Lower and upper side along x1: periodic on both, or on each a wall of the system (acoustic, "
     "wave: rigid, free) or \"absorbing\". One name applies to both."},
    {"boundary.x2", HT_OPT_SIDES, AT(boundary.side[1]), "[\"periodic\", \"periodic\"]", ANY, NULL,
     "", "Lower and upper side along x2."},
    {"boundary.x3", HT_OPT_SIDES, AT(boundary.side[2]), "[\"periodic\", \"periodic\"]", ANY, NULL,
     "", "Lower and upper side along x3."},

    {KEY(absorbing.cells, VALUE), "8.0", 0, 10000, NULL, "cells",
     "Thickness of absorbing layers: one number, one per axis, or lower and upper of x1, x2 and x3 "
     "(those of other sides do not matter). 0: a rigid wall. cpml of fd: at least 6 in more than "
     "one dimension. The medium in layers is that of their inner face."},
    {KEY(absorbing.width, VALUE), NULL, NOT_NEGATIVE, NULL, "length",
     "Thickness in place of absorbing.cells, rounded up to whole cells, so that layers stay what "
     "they are on other grids."},
    {KEY(absorbing.place, CHOICE), "\"outside\"", ANY, CHOICES(HT_EACH_PLACE), "",
     "outside: layers are added around the box from grid.lower to grid.upper; outputs are of the "
     "box. inside: they take a part of it."},
    {KEY(absorbing.type, CHOICE), "\"auto\"", ANY, CHOICES(HT_EACH_ABSORBING), "",
     "cpml: a convolutional perfectly matched layer, which lets waves of any direction in. sponge: "
     "damps the fields themselves, for leapfrog and fd with two terms in time, which have no cpml "
     "and are refused without it. auto: cpml."},
    {KEY(absorbing.reflection, ONE), "\"auto\"", 1e-16, 0.5, "auto", "",
     "Reflection R at normal incidence, without the error of the grid: the integral of the damping "
     "over the thickness is -c ln R / 2, c the largest speed. auto: from the thickness; cpml of fd "
     "has 1.4e-20, of first-order systems 1e-5."},
    {KEY(absorbing.speed, ONE), "\"auto\"", POSITIVE, "auto", "length/time",
     "Speed c that layers are made for, such as one for all models of an inversion. auto: the "
     "medium's largest along the normal."},
    {KEY(absorbing.degree, ONE), "\"auto\"", 0, 8, "auto", "",
     "Degree m of the damping, which grows as depth^m from the inner face."},
    {KEY(absorbing.alpha, ONE), "\"auto\"", 0, 10, "auto", "c/h",
     "cpml: frequency below which layers let waves through; keeps long runs stable."},
    {KEY(absorbing.sponge, ONE), "\"auto\"", 0, 1, "auto", "",
     "Hermite methods with cpml: weak damping of all fields, as part of the damping along the "
     "normal; keeps long runs stable."},
    {KEY(absorbing.mix, ONE), "\"auto\"", 0, 1, "auto", "",
     "cpml of first-order systems by fd: damping of the derivatives along the other axes, as part "
     "of that along the normal. It keeps elastic layers from growing and reflects more. auto, for "
     "elastic waves, by the medium in each layer: 0.01 to 1, most in rough media and where fluid "
     "and solid share a layer (the output says which); else 0."},

    {KEY(medium.type, CHOICE), "\"constant\"", ANY, CHOICES(HT_EACH_MEDIUM_TYPE), "",
     "One value everywhere, plane layers, gridded files, arrays in memory (for programs that call "
     "the library), or expressions in x1, x2, x3: each parameter is then a number, one number per "
     "layer, the name of a file, any word for an array, or an expression."},
    {KEY(medium.degree, INT), "-1", -1, 10, NULL, "",
     "Hermite methods: degree g of the polynomials of the medium in each cell; 0: the mean of the "
     "cell. In smooth media the order is the smaller of 2N+1 and g+1 (at constant impedance 2N+1 "
     "from g = N+1 on). -1: N+1, N+2 for N = 4, 6, 8, and means in cells where the medium jumps."},
    {KEY(medium.fit, CHOICE), "\"auto\"", ANY, CHOICES(HT_EACH_FIT), "",
     "fd: how the medium becomes one number per point. sinc: the mean by a windowed sinc, four "
     "points to either side, so that jumps may lie between points; box: the mean over the point's "
     "cell; point: the value there. Means take samples of a file as constant over half a spacing "
     "to either side, point is linear between them. auto: point for smooth expressions, else "
     "sinc."},
    {KEY(medium.couplings, BOOL), "true", ANY, NULL, "",
     "fd of elastic and maxwell: fields at different places are coupled at faces that are oblique "
     "to the grid, unless these are more than a third of all points."},
    {KEY(medium.axis, CHOICE), "\"x3\"", ANY, CHOICES(HT_EACH_AXIS), "",
     "Layers: the axis along which they are stacked."},
    {KEY(medium.interfaces, VALUE), NULL, ANY, NULL, "length",
     "Layers: increasing positions of the interfaces along the axis, one fewer than the layers."},
    {KEY(medium.format, CHOICE), "\"auto\"", ANY, CHOICES(HT_EACH_FORMAT), "",
     "Files: raw, little-endian 32-bit floats without a header; npy; segy (.sgy, .segy), samples "
     "along depth, traces side by side; hdf5 (.h5, .hdf5). auto goes by the file's name, raw where "
     "it has no such ending."},
    {KEY(medium.dataset, STRING), "\"\"", ANY, NULL, "",
     "HDF5 files: name of the dataset; empty means the name of the parameter, such as c, or data."},
    {KEY(medium.shape, INT64_3), "[0, 0, 0]", 0, COUNT_MAX, NULL, "samples",
     "Files: samples along each axis of the file, in the order of medium.axes; needed of raw "
     "files, 0 reads it from others."},
    {KEY(medium.spacing, SAMPLES3), "[1.0, 1.0, 1.0]", POSITIVE, NULL, "length",
     "Files: distance of samples along each axis of the file, in the order of medium.axes. Not "
     "given, it is read from headers of SEG-Y, in metres: the interval of samples in thousandths, "
     "the places of traces at bytes 181, 73 or 81."},
    {KEY(medium.origin, SAMPLES3), "[0.0, 0.0, 0.0]", ANY, NULL, "length",
     "Files: position of the first sample, in the order of medium.axes. Outside the samples the "
     "value of the edge continues."},
    {KEY(medium.axes, NAMES), "[]", ANY, NULL, "",
     "Files: the axis of the box for each axis of the file, the fastest first (of .npy and HDF5 "
     "the last index): [\"x3\", \"x1\"] is a section stored depth first, the same for all x2. "
     "Empty: x1, x2, x3; of SEG-Y the last axis of the grid first."},
    {KEY(medium.scale, REAL), "1.0", ANY, NULL, "",
     "Files: factor of the values, to convert their unit."},

    {KEY(initial.type, CHOICE), "\"gaussian\"", ANY, CHOICES(HT_EACH_DATA), "",
     "A Gaussian pulse, a plane wave along +k, a standing mode between walls, random numbers, "
     "expressions, gridded files, or nothing."},
    {KEY(initial.field, STRING), "\"\"", ANY, NULL, "",
     "Gaussian, file .npy: the field; empty means the first of the system."},
    {KEY(initial.centre, REAL3), "[0.5, 0.5, 0.5]", ANY, NULL, "length",
     "Gaussian: position of the centre."},
    {KEY(initial.width, REAL), "0.1", POSITIVE, NULL, "length",
     "Gaussian: width w of exp(-r^2/(2 w^2)), r the distance from the centre."},
    {KEY(initial.amplitude, REAL), "1.0", ANY, NULL, "field",
     "Gaussian, plane, standing: factor of the wave; random: the values lie between minus and plus "
     "the amplitude."},
    {KEY(initial.pulses, LIST), "()", 0, 64, NULL, "groups",
     "Gaussian: several pulses, instead of centre, width, amplitude and field: ( { centre = [0.3, "
     "0.5]; }, { centre = [0.7, 0.5]; width = 0.05; } )."},
    {KEY(initial.phase, REAL), "0.0", ANY, NULL, "radians",
     "Plane and standing waves: phase at time 0."},
    {KEY(initial.cycles, INT3), "[1, 0, 0]", ANY, NULL, "wavelengths",
     "Plane wave: whole wavelengths across the box along each axis."},
    {KEY(initial.wave, INT), "1", 1, 6, NULL, "",
     "Plane wave: 1 the fastest kind of wave of the system, 2 the next, such as the shear waves of "
     "a solid."},
    {KEY(initial.modes, INT3), "[1, 0, 0]", 0, 1000000000, NULL, "half wavelengths",
     "Standing wave: mode number along each axis."},
    {KEY(initial.seed, INT64), "1", ANY, NULL, "",
     "Random: a different seed gives different numbers."},
    {KEY(initial.values, MAP), NULL, ANY, NULL, "",
     "Expression: field = \"expression in x1, x2, x3\"; omitted fields are zero. File: field = "
     "\"dataset\" for a dataset with another name. Given alone they make initial.type "
     "\"expression\"."},
    {KEY(initial.file, FILE), "\"\"", ANY, NULL, "",
     "HDF5 file with a dataset per field, nodal values on the primary grid or all coefficients as "
     "a run writes them; fields that it lacks are 0, but in snapshots. Or .npy with the nodal "
     "values of initial.field, [x3, x2, x1]. Given alone it makes initial.type \"file\"."},
    {KEY(initial.returns, BOOL), "false", ANY, NULL, "",
     "States that the exact solution at time.end is the initial data, so that the run reports its "
     "error."},
    {KEY(initial.frequency, REAL), "0.0", NOT_NEGATIVE, NULL, "1/time",
     "Highest frequency of interest, for the accuracy estimate before the run; 0 means unknown."},

    {KEY(receivers, LIST), "()", 0, 1000, NULL, "groups",
     "Groups of receivers, which record fields in time at any positions: ( { position = [0.3, "
     "0.5]; }, { name = \"line\"; type = \"line\"; from = [0.1, 0.1]; to = [0.9, 0.1]; count = "
     "101; every = 0.01; } ). Their traces go to traces.h5."},

    {"sources", HT_OPT_LIST, AT(shots), "()", 0, 256, NULL, "groups",
     "Sources of waves: ( { position = [0.3, 0.5]; frequency = 10.0; }, { .. } ). With sources "
     "initial.type is zero unless a key of initial other than frequency is given."},

    {"shots", HT_OPT_LIST, AT(survey), "()", 0, 4096, NULL, "groups",
     "Shots, each a run with some of the sources and receivers, which begins at rest: ( { sources "
     "= [1]; receivers = [\"cable\"]; }, { sources = [2]; } ). `htwave run` takes one after the "
     "other with one preparation, each into its folder shot-NNN of output.directory; a call that "
     "was interrupted goes on with the first one that is not finished. Without the list `htwave "
     "run` is one run with all sources, and `htwave data` takes each group of sources as a shot "
     "with all receivers."},

    {KEY(gradient.parameters, NAMES), "[\"c\"]", ANY, NULL, "",
     "`htwave gradient`: parameters of the medium by which the misfit is differentiated."},
    {KEY(gradient.misfit, CHOICE), "\"l2\"", ANY, CHOICES(HT_EACH_MISFIT), "",
     "How traces p are compared with observed ones d: half the integral of (p - d)^2; 1 less the "
     "normalised correlation; half the integral of the squared difference of envelopes. given: the "
     "files of data hold the derivative of a misfit by each sample."},
    {KEY(gradient.image, CHOICE), "\"gradient\"", ANY, CHOICES(HT_EACH_GRADIENT_IMAGE), "",
     "gradient; or cross, the product of forward and adjoint waves summed over the steps, an image "
     "of what reflects, on the samples of the parameters."},
    {KEY(gradient.field, CHOICE), "\"auto\"", ANY, CHOICES(HT_EACH_GRADIENT_FIELD), "",
     "Where the adjoint run has the forward field from. reverse: it is run backwards, with what "
     "was recorded in front of absorbing layers; checkpoint: parts of it are run again from states "
     "that were kept; store: all steps are kept; auto: by the memory there is."},
    {KEY(gradient.memory, REAL), "0.0", NOT_NEGATIVE, NULL, "bytes",
     "Memory of the device for the forward field; 0: 80 % of what is free."},
    {KEY(gradient.mask, FILE), "\"\"", ANY, NULL, "",
     "File of factors of the gradient, of the shape of the medium's files: 0 where the model is "
     "known."},
    {KEY(gradient.weights, FILE), "\"\"", ANY, NULL, "",
     "File of weights of the samples in the misfit, 0 where they are muted: named and shaped like "
     "observed data, or with one number for each receiver; * stands for the shot's number."},
    {KEY(gradient.nodes, BOOL), "false", ANY, NULL, "",
     "Write the gradient by what the medium is at the nodes, too."},

    {KEY(output.directory, STRING), "\"out\"", ANY, NULL, "",
     "Directory of all output files, relative to the current directory; created if missing, for "
     "one run at a time. Outputs of an earlier run are moved to run-001, run-002, .. inside; files "
     "that the run reads are not moved."},
    {KEY(output.every, REAL), "0.0", NOT_NEGATIVE, NULL, "time",
     "Time between snapshots; 0: the last state only. Up to 5 % more steps are taken if outputs "
     "then fall on steps; else they are at the nearest steps (the banner says it), with their true "
     "times."},
    {KEY(output.fields, NAMES), "[]", ANY, NULL, "", "Fields to write; empty means all."},
    {KEY(output.coefficients, BOOL), "false", ANY, NULL, "",
     "Write all (N+1)^dims derivatives of every node, not only the values."},
    {KEY(output.snapshots, BOOL), "true", ANY, NULL, "",
     "Write snapshots as HDF5 with an XDMF file for ParaView."},
    {KEY(output.checksums, BOOL), "false", ANY, NULL, "",
     "Write checksums of snapshots, by planes, by which initial.file and htwave compare refuse a "
     "damaged one. Checkpoints always have them."},
    {KEY(output.pictures, BOOL), "true", ANY, NULL, "",
     "Draw pictures (PNG) by output.picture. A program built without cairo refuses keys of "
     "output.picture unless this is false."},
    {KEY(output.traces, NAMES), "[]", ANY, NULL, "",
     "Formats of the receivers' traces beside HDF5: csv, a table per group and field of at most 64 "
     "traces; segy, SEG-Y revision 1 with IEEE floats."},
    {KEY(output.series, BOOL), "false", ANY, NULL, "",
     "Write series.csv while the run goes on: time, energy and the largest value of each field, at "
     "each look at the energy."},
    {KEY(output.maps, LIST), "()", 0, 64, NULL, "groups",
     "Maps of fields, kept on the device while the run goes on and written at its end to "
     "map_NAME.h5 and a picture each: ( { field = \"p\"; what = [\"maximum\", \"rms\"]; }, { "
     "frequencies = [1.0e6]; start = 2.0e-5; } )."},
    {KEY(output.units, MAP), NULL, ANY, NULL, "",
     "Names of your units, shown in pictures: of length, time, fields and parameters of the "
     "medium, such as { length = \"km\"; time = \"s\"; p = \"Pa\"; c = \"km/s\"; }. Numbers are "
     "not converted."},
    {KEY(output.down, STRING), "\"auto\"", ANY, "auto|none|x1|x2|x3", "",
     "The axis along which depth grows: drawn downwards by pictures and scripts (attribute `down` "
     "of files), its negative the elevation of SEG-Y. auto: the last axis with a free lower side, "
     "such as the surface of the sea."},
    {KEY(output.checkpoint.seconds, REAL), "0.0", NOT_NEGATIVE, NULL, "s",
     "Time by the clock between checkpoints, from which `htwave continue` goes on; 0: none. They "
     "take at most 2 % of the run: where one takes long the next comes later. With this or "
     "output.checkpoint.every a run that a signal ends (SIGINT, SIGTERM, SIGUSR1, ..) writes one, "
     "too. checkpoint.h5 is the last one, checkpoint-1.h5 the one before."},
    {KEY(output.checkpoint.every, REAL), "0.0", NOT_NEGATIVE, NULL, "time",
     "Time of the run between checkpoints; 0: none."},
    {KEY(output.picture.plane, CHOICE), "\"x3\"", ANY, CHOICES(HT_EACH_AXIS), "",
     "Three dimensions: the axis normal to the slice."},
    {KEY(output.picture.field, STRING), "\"\"", ANY, NULL, "",
     "Field to draw; empty means the first of the system."},
    {KEY(output.picture.position, REAL), "0.5", 0, 1, NULL, "of the box",
     "Position of the slice: 0 is the lower side of the box, 1 the upper side."},
    {KEY(output.picture.every, ONE), "\"auto\"", NOT_NEGATIVE, "auto", "time",
     "Time between pictures, as output.every. auto: ten pictures, at the nearest steps, of a run "
     "with sources, else 0, as of each of several shots."},
    {KEY(output.picture.range, REAL), "0.0", NOT_NEGATIVE, NULL, "field",
     "Colours span -range to range; 0 uses what output.picture.scale says."},
    {KEY(output.picture.scale, CHOICE), "\"picture\"", ANY, CHOICES(HT_EACH_SCALE), "",
     "Range of the colours of a slice without range: the largest value of each picture, or of all "
     "pictures of the slice so far. The picture says which."},
    {KEY(output.picture.pixels, INT), "640", 16, 8192, NULL, "pixels",
     "Minimum length of the picture's longer side."},
    {KEY(output.picture.background, STRING), "\"none\"", ANY, NULL, "",
     "Medium parameter drawn in grey under the wave, such as c; or none."},
    {KEY(output.picture.marks, BOOL), "false", ANY, NULL, "",
     "Draw sources (discs; planes and boxes of plane waves dashed) and receivers (triangles) over "
     "the wave; open where they are not in the slice."},
    {KEY(output.picture.slices, LIST), "()", 0, 64, NULL, "groups",
     "Several slices, instead of plane, position, field and range: ( { plane = \"x1\"; }, { name = "
     "\"top\"; plane = \"x3\"; position = 0.1; } ). Each is drawn as wave_NAME_0000.png."},

    {KEY(device.backend, STRING), "\"auto\"", ANY, "auto|cuda|opencl|oracle", "",
     "Back end: CUDA, OpenCL, auto (the one with the better device), or the serial reference on "
     "the host."},
    {KEY(device.select, STRING), "\"auto\"", ANY, NULL, "",
     "The device: gpu, cpu, its number or a part of its name as `htwave devices` prints them; auto "
     "prefers a GPU; none, for check: no device."},
    {KEY(device.precision, CHOICE), "\"single\"", ANY, CHOICES(HT_EACH_PRECISION), "",
     "32 or 64 bit floating point. In single precision kernels that sum series are refused at high "
     "orders (N = 8; advection N >= 7, in three dimensions N >= 5) for steps with which rounding "
     "grows; the message says how long steps may be."},
    {KEY(device.variant, STRING), "\"auto\"", ANY, NULL, "",
     "Kernel variant by name; auto chooses the best that applies."},
    {KEY(device.layout, CHOICE), "\"auto\"", ANY, CHOICES(HT_EACH_LAYOUT), "",
     "Order of coefficients in memory: one after the other, or some of them innermost."},
    {KEY(device.cache, STRING), "\"auto\"", ANY, NULL, "",
     "Directory of compiled kernels and tuning results; auto is htwave in the user's cache "
     "directory, none disables storage."},
    {KEY(device.tune, CHOICE), "\"auto\"", ANY, CHOICES(HT_EACH_TUNE), "",
     "If variant or layout is auto: use the result of htwave tune. Without one auto times the "
     "kernels for 5 s before runs on a GPU that are expected to take 15 s or more, always before "
     "every run; never ignores results."},
    {KEY(device.cells_per_group, INT), "0", 0, 1024, NULL, "cells",
     "Cells along x1 that one work-group computes; 0 is automatic."},
    {KEY(device.planes_per_group, INT), "0", 0, 1048576, NULL, "planes",
     "Planes along x3 that one work-group computes; 0 is automatic."},
    {KEY(device.threads, INT), "0", 0, 256, NULL, "",
     "Threads of the host that prepare a run; 0: the cores that the process may use, which the "
     "ranks of a machine share. Results do not depend on it."},
    {KEY(device.selfcheck, BOOL), "true", ANY, NULL, "",
     "Compare the kernels with the serial reference on this device before the run, in under a "
     "second."},
    {KEY(device.limits.local_memory, INT), "-1", -1, INT_MAX, NULL, "bytes",
     "For tests: the device acts as one whose groups have at most this local memory; -1: as it "
     "is."},
    {KEY(device.limits.group, INT), "0", 0, 65536, NULL, "work-items",
     "For tests: it takes groups of at most so many; 0: as it is."},
    {KEY(device.limits.fp64, BOOL), "true", ANY, NULL, "",
     "For tests: whether it has double precision, where it has."},
    {KEY(parallel.halo_depth, INT), "1", 1, 64, NULL, "half steps",
     "Half steps, by time.scheme = \"fd\" applications of the operator, between two exchanges of "
     "planes with the neighbours; more than 1 computes some planes twice and changes no result."},
    {KEY(parallel.halo_precision, CHOICE), "\"same\"", ANY, CHOICES(HT_EACH_HALO_PRECISION), "",
     "Precision of the planes in messages to the neighbours: same changes no result, single and "
     "half shorten messages and round."},
    {KEY(parallel.transport, STRING), "\"auto\"", ANY, "auto|peer|staged", "",
     "Transport of messages: peer (from device to device) or staged (MPI messages); auto chooses "
     "the first that works, for every two neighbours."},
    {KEY(parallel.patience, REAL), "1800.0", NOT_NEGATIVE, NULL, "s",
     "A rank that waits for so long, while another one neither comes nor answers, names that rank "
     "and ends the run; 0 waits without end."},
    {KEY(parallel.shots, INT), "0", 0, 1000000, NULL, "groups",
     "Groups of ranks that take shots side by side, shot i by group i mod shots; the ranks of a "
     "group divide its grid. It divides the number of ranks. 0: each rank is a group. Results do "
     "not depend on it."},
};

/* ---- lists of groups ---- */

#define IN_PULSE(member, type) #member, HT_OPT_##type, offsetof(struct ht_pulse, member)

static const struct ht_option pulse_option[] = {
    {IN_PULSE(centre, REAL3), NULL, ANY, NULL, "length", "Position of the centre."},
    {IN_PULSE(width, REAL), "0.1", POSITIVE, NULL, "length",
     "Width of the pulse, as initial.width."},
    {IN_PULSE(amplitude, REAL), "1.0", ANY, NULL, "field", "Value of the pulse at the centre."},
    {IN_PULSE(field, STRING), "\"\"", ANY, NULL, "",
     "The field with the pulse; empty means the first of the system."},
};

#define IN_RECEIVERS(member, type) \
#member, HT_OPT_##type, offsetof(struct ht_receivers_given, member)

static const struct ht_option receivers_option[] = {
    {IN_RECEIVERS(name, STRING), "\"\"", ANY, NULL, "",
     "Name of the group in the outputs; empty means receivers-N, N the group's number."},
    {IN_RECEIVERS(type, CHOICE), "\"point\"", ANY, CHOICES(HT_EACH_RECEIVER_TYPE), "",
     "One point; a line of them; a plane, a lattice with the edges from-to and from-side; or "
     "positions in a file."},
    {IN_RECEIVERS(position, REAL3), "[0.0, 0.0, 0.0]", ANY, NULL, "length",
     "Point: where it is, on the grid or off it."},
    {IN_RECEIVERS(from, REAL3), "[0.0, 0.0, 0.0]", ANY, NULL, "length",
     "Line and plane: the first receiver."},
    {IN_RECEIVERS(to, REAL3), "[0.0, 0.0, 0.0]", ANY, NULL, "length",
     "Line and plane: the last receiver of the first line."},
    {IN_RECEIVERS(side, REAL3), "[0.0, 0.0, 0.0]", ANY, NULL, "length",
     "Plane: the first receiver of the last line."},
    {IN_RECEIVERS(count, INT), "1", 1, 100000000, NULL, "receivers",
     "Line and plane: receivers from `from` to `to`."},
    {IN_RECEIVERS(count2, INT), "1", 1, 100000000, NULL, "lines",
     "Plane: lines from `from` to `side`."},
    {IN_RECEIVERS(file, FILE), "\"\"", ANY, NULL, "",
     "File: a line per receiver with its coordinates, one number per axis, separated by blanks or "
     "commas; # begins a comment."},
    {IN_RECEIVERS(fields, NAMES), "[]", ANY, NULL, "",
     "Fields, such as p, and derivatives of fields, such as p_x1. Empty: all fields that the "
     "scheme stores at whole steps; of fd p of acoustic, u of wave."},
    {IN_RECEIVERS(every, ONE), "\"step\"", POSITIVE, "step", "time",
     "Time between samples, whatever the time step: values between steps are interpolated. "
     "\"step\": those of each time step."},
    {IN_RECEIVERS(start, REAL), "0.0", NOT_NEGATIVE, NULL, "time",
     "Time of the first sample; with every = \"step\" the first step at or after it."},
};

#define IN_SURVEY(member, type) #member, HT_OPT_##type, offsetof(struct ht_survey_given, member)

static const struct ht_option survey_option[] = {
    {IN_SURVEY(sources, VALUE), NULL, 1, 256, NULL, "",
     "Numbers of the groups of sources that act together, from 1; not given: all."},
    {IN_SURVEY(receivers, NAMES), "[]", ANY, NULL, "",
     "Names or numbers (\"2\") of the groups of receivers that record; empty: all."},
    {IN_SURVEY(file, FILE), "\"\"", ANY, NULL, "",
     "File of places, a shot for each: the one group of `sources` stands there, whatever its own "
     "place. Text with a line per shot and a number per axis; or a line per trace, with the "
     "receiver's place behind the source's: the one group of `receivers` stands at those of the "
     "shot; or SEG-Y (.sgy), by the headers of its traces. # begins a comment."},
    {IN_SURVEY(data, FILE), "\"\"", ANY, NULL, "",
     "File of the shot's traces, which `htwave data` writes and a gradient reads; * stands for the "
     "shot's number. SEG-Y (.sgy), of one shot or several, and .npy are read, too. Empty: "
     "obs/shot-*.h5."},
};

#define IN_MAP(member, type) #member, HT_OPT_##type, offsetof(struct ht_map_given, member)

static const struct ht_option map_option[] = {
    {IN_MAP(name, STRING), "\"\"", ANY, NULL, "",
     "Name in those of the files; empty means map-N, N the group's number."},
    {IN_MAP(field, STRING), "\"\"", ANY, NULL, "",
     "The field; empty means the first of the system."},
    {IN_MAP(what, NAMES), "[]", ANY, NULL, "",
     "Of maximum, minimum, largest (of the magnitude), time (when that was) and rms. Empty means "
     "maximum, or with frequencies none of them."},
    {IN_MAP(frequencies, VALUE), NULL, POSITIVE, NULL, "1/time",
     "Frequencies f, at most 16, of running Fourier transforms: maps amplitude_N and phase_N, the "
     "field being amplitude cos(2 pi f t + phase) from `start` to the end. T/2 times the amplitude "
     "is the magnitude of the transform, T the attribute `lasts`."},
    {IN_MAP(from, REAL3), "[0.0, 0.0, 0.0]", ANY, NULL, "length",
     "Lower corner of the box of nodes that are kept; not given: that of the grid."},
    {IN_MAP(to, REAL3), "[0.0, 0.0, 0.0]", ANY, NULL, "length",
     "Upper corner; between the same two nodes as `from` along an axis: the nearer node alone."},
    {IN_MAP(stride, INT), "1", 1, 1000, NULL, "nodes",
     "Every so many-th node along each axis is kept; 2 takes a quarter of the time in three "
     "dimensions."},
    {IN_MAP(every, ONE), "\"auto\"", POSITIVE, "auto|step", "time",
     "Time between samples, whole steps. auto: 8 per period of the shortest waves (sources, "
     "initial.frequency), of which extremes lack 7.6 % at most; 5 for rms and frequencies alone; "
     "for one extreme on the whole grid by fd 4 to 6, with waves between them, of which 3 to 9 % "
     "lack (the banner says it). step, and auto where no period is known: each step."},
    {IN_MAP(start, REAL), "0.0", NOT_NEGATIVE, NULL, "time", "Time of the first sample."},
};

#define IN_SLICE(member, type) #member, HT_OPT_##type, offsetof(struct ht_slice_given, member)

static const struct ht_option slice_option[] = {
    {IN_SLICE(name, STRING), "\"\"", ANY, NULL, "",
     "Name in those of the pictures; empty means slice-N, N the group's number."},
    {IN_SLICE(plane, CHOICE), "\"x3\"", ANY, CHOICES(HT_EACH_AXIS), "",
     "Three dimensions: the axis normal to the slice."},
    {IN_SLICE(position, REAL), "0.5", 0, 1, NULL, "of the box", "As output.picture.position."},
    {IN_SLICE(field, STRING), "\"\"", ANY, NULL, "",
     "Field to draw; empty means the first of the system."},
    {IN_SLICE(range, REAL), "0.0", NOT_NEGATIVE, NULL, "field", "As output.picture.range."},
};

#define LIST(key, type, rows)                                             \
    &(const struct ht_option_list) {                                      \
        (key), sizeof(struct type), sizeof(rows) / sizeof *(rows), (rows) \
    }
static const struct ht_option_list *const lists[] = {
    LIST("receivers", ht_receivers_given, receivers_option),
    LIST("initial.pulses", ht_pulse, pulse_option),
    &ht_source_list,
    LIST("output.maps", ht_map_given, map_option),
    LIST("output.picture.slices", ht_slice_given, slice_option),
    LIST("shots", ht_survey_given, survey_option)};

enum { ROWS = sizeof option / sizeof *option };

int ht_option_count(void) {
    return ROWS + ht_medium_option_count();
}

const struct ht_option *ht_option_at(int index) {
    /* Number of rows up to and including medium.type, once found; the rows of the medium's
     * parameters follow it. */
    static int rows;
    while (strcmp(option[rows].key, "medium.type") != 0) rows++;
    int before = rows + 1, made = ht_medium_option_count();
    if (index < before) return &option[index];
    if (index < before + made) return ht_medium_option_at(index - before);
    return &option[index - made];
}

bool ht_option_needed(const struct ht_option *row) {
    return !row->fallback && row->type != HT_OPT_VALUE && row->type != HT_OPT_MEDIUM;
}

const struct ht_option_list *ht_option_list(const struct ht_option *row) {
    for (size_t i = 0; row->type == HT_OPT_LIST && i < sizeof lists / sizeof *lists; i++)
        if (strcmp(lists[i]->key, row->key) == 0) return lists[i];
    return NULL;
}

bool ht_option_in_list(const char *key, struct ht_list_key *out) {
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        size_t length = strlen(lists[i]->key);
        if (strncmp(key, lists[i]->key, length) != 0 || key[length] != '.') continue;
        const struct ht_option_list *list = lists[i];
        const char *text = key + length + 1; /* the number of a group and the key after it */
        const size_t digits = strspn(text, "0123456789");
        *out =
            (struct ht_list_key){.list = list, .option = ht_option_find(list->key), .name = text};
        if (digits == 0 || *text == '0' || (text[digits] && text[digits] != '.')) return true;
        out->group = digits < 9 ? (int)strtol(text, NULL, 10) : 999999999;
        out->name = text + digits + (text[digits] == '.');
        for (int n = 0; n < list->count; n++)
            if (strcmp(list->option[n].key, out->name) == 0) out->row = &list->option[n];
        return true;
    }
    return false;
}

const struct ht_option *ht_option_find(const char *key) {
    struct ht_list_key in = {0};
    for (int i = 0; i < ht_option_count(); i++)
        if (strcmp(ht_option_at(i)->key, key) == 0) return ht_option_at(i);
    return ht_option_in_list(key, &in) ? in.row : NULL;
}

int ht_option_section(const char *key) {
    const char *dot = strrchr(key, '.');
    return dot ? (int)(dot - key) : 0;
}

const char *ht_option_name(const char *key) {
    const char *dot = strrchr(key, '.');
    return dot ? dot + 1 : key;
}
