/* What a run leaves: HDF5 + XDMF snapshots, PNG pictures, the resolved input, the summary. Files
 * are complete or absent. Collective functions end in the same result on all ranks; all write
 * snapshots, rank 0 everything else. */
#pragma once

#include "htwave/archive.h"
#include "htwave/json.h"
#include "htwave/plan.h"

/* ---- cairo.c, plot.c ---- */
/* What numbers along an axis are; either may be NULL. */
struct ht_label {
    const char *name, *unit;
};
/* A place drawn over the map: a disc where a source is, a triangle for a receiver; filled where it
 * is in the slice, else the place that it is in front of or behind. */
struct ht_mark {
    double x, y;
    bool source, inside;
};
/* A dashed box between two corners, or a line: a plane of sources, the box of a plane wave. */
struct ht_outline {
    double x[2], y[2];
};
/* One slice as an image: values[height][width], row 0 at the bottom (largest y on top), by a map
 * that is symmetric about 0, of height 1 by a curve. background (may be NULL) of the same shape is
 * grey relief under the wave, or alone in rising colours. Texts are UTF-8 and may be NULL. Values
 * that are not finite are black. Of marks that would cover one another some are left out. */
struct ht_picture {
    int64_t width, height;
    const double *values, *background;
    double range; /* colours span [-range, range]; 0: from the data */
    double x0, x1, y0, y1;
    bool y_down; /* draw the first row on top (depth) */
    const char *title, *subtitle;
    struct ht_label x, y, value;
    int pixels; /* longest side of the map at least so many pixels */
    struct ht_mark *mark;
    int64_t marks;
    struct ht_outline *outline;
    int outlines;
    bool layered; /* hatched but for a box: absorbing layers around it */
    struct ht_outline inner;
};
HT_ERR ht_picture_write(const struct ht_picture *picture, const char *path);
/* The version of cairo; NULL: this program was built without it, and the function above fails. */
const char *ht_picture_cairo(void);

/* ---- output.c ---- */
/* Files of a run's directory that `htwave continue` reads. */
#define HT_INPUT_NAME "input.cfg"
#define HT_SHOT_NAME "shot-%03d"       /* folder of a shot */
#define HT_FINISHED_NAME "finished"    /* in it: what it is of, at its end */
#define HT_PLACES_NAME "receivers.txt" /* of receivers that were moved, in it */
#define HT_CHECKPOINT_NAME "checkpoint.h5"
#define HT_CHECKPOINT_OLDER "checkpoint-1.h5"
struct ht_output;
/* Whether a run draws pictures. */
bool ht_output_draws(const struct ht_params *params);
/* Time between its pictures; 0: the last alone. */
double ht_output_drawn_every(const struct ht_params *params);
/* What ht_output_create refuses. stored: bit per field that the primary grid stores, 0: all. */
HT_ERR ht_output_check(const struct ht_params *params, const struct ht_medium *medium,
                       unsigned stored);
/* Refuses an output.directory that cannot be written, or that another run writes; for one rank. */
HT_ERR ht_output_idle(const struct ht_params *params);
/* Checks as above, makes output.directory and locks it until ht_output_destroy, moves outputs of an
 * earlier run and writes the resolved input (rules in src/io/output.c). params and medium, with its
 * equations and grid, must outlive the output. Collective. */
HT_ERR ht_output_create(const struct ht_params *params, const struct ht_medium *medium,
                        unsigned stored, struct ht_output **out);
/* Traces alone, in a file, with the mark as attribute "input". Texts must outlive the output. */
HT_ERR ht_output_create_traces(const struct ht_params *params, const struct ht_medium *medium,
                               const char *path, double mark, struct ht_output **out);
void ht_output_destroy(struct ht_output *output); /* writes nothing */
HT_ENDS(ht_output)
/* For one rank: the directory of a survey is locked until ht_lock_release; unless the call goes on
 * with one, outputs there are moved as by ht_output_create, and the input is written. */
HT_ERR ht_output_survey(const struct ht_params *params, bool goes_on, struct ht_lock *lock);
/* The walk (archive.h) into checkpoint.h5; the one before becomes checkpoint-1.h5. Collective. */
HT_ERR ht_output_checkpoint(struct ht_output *output, ht_archive_walk *walk, void *context);
/* What the output knows of its files but traces.h5. A run that goes on removes later ones. */
HT_ERR ht_output_archive(struct ht_output *output, struct ht_archive *archive);

/* Snapshots state where and when the values of staggered fields are: attributes offset_FIELD, from
 * the nodes, and time_FIELD. */
void ht_output_stagger(struct ht_output *output, const struct ht_pair *pair, double dt);

/* nodal[field] = values on this rank's planes of the primary grid, [own planes][n2][n1]; coefs,
 * when output.coefficients is set, [field][i][own node], else NULL. Collective. */
HT_ERR ht_output_snapshot(struct ht_output *output, double time, int64_t step,
                          const double *const *nodal, const double *coefs);
/* Sources and receivers for pictures, where output.picture.marks asks for them; or NULL. */
HT_ERR ht_output_mark(struct ht_output *output, const struct ht_shots *shots,
                      const struct ht_receivers *receivers);
/* wave_NNNN.png of each slice, unless the run draws none; nodal as above. Collective. */
HT_ERR ht_output_picture(struct ht_output *output, double time, const double *const *nodal);
/* Refuses formats of output.traces that cannot hold these traces; receivers:
 * NULL: there are none. */
HT_ERR ht_output_check_traces(const struct ht_params *params, const struct ht_receivers *receivers);
/* Bytes of a value in traces.h5 and the formats of output.traces, of texts about. */
int ht_output_trace_bytes(const struct ht_params *params);
/* By rank 0 alone: begins traces.h5; adds samples [first, last) of a group,
 * data[reading][receiver][sample], which follow those before; ends it and writes the formats of
 * output.traces; how: "end", "interrupted", "not finite" or "failed". Without the last traces.h5
 * says "killed" and has the samples so far. The plan must outlive the output. */
HT_ERR ht_output_traces_begin(struct ht_output *output, const struct ht_plan *plan);
HT_ERR ht_output_traces_add(struct ht_output *output, int group, int64_t first, int64_t last,
                            const double *data);
/* traces.h5 is on disk as far as the archive says, or gets its samples from the file there. */
HT_ERR ht_output_traces_archive(struct ht_output *output, struct ht_archive *archive);
HT_ERR ht_output_traces_end(struct ht_output *output, const char *how, double time);
/* The traces of all shots, of their traces.h5, in the formats of output.traces that take shots, one
 * file for each group and field, shots_GROUP_FIELD.sgy, in output.directory; params: of the input,
 * the plan's may be those of a shot. By rank 0 alone. */
struct ht_traced_shot {
    const struct ht_params *params; /* of the shot alone */
    const char *traces;             /* file */
};
HT_ERR ht_output_shots(const struct ht_plan *plan, const struct ht_params *params, int count,
                       const struct ht_traced_shot *shot);
/* By its name: .sgy, .segy. */
bool ht_is_segy(const char *path);
/* Calls `take` with each trace's number and the places in its header, of its source and its
 * receiver, [2 dims]. */
HT_ERR ht_segy_places(const struct ht_params *params, const char *path, ht_file_row *take,
                      void *context);
/* A row of series.csv, where output.series asks for it; energy NaN: not known. By rank 0 alone. */
HT_ERR ht_output_series(struct ht_output *output, double time, double energy,
                        const double *largest);
/* summary.json; json is that of rank 0, not looked at elsewhere. Collective. */
HT_ERR ht_output_summary(struct ht_output *output, const char *json);
/* The files that a run has left. */
void ht_output_report(const struct ht_output *output, struct ht_facts *facts);

/* ---- the model; pictures.c ---- */
/* The model of a run, in a directory that is made if missing: model.h5, the medium's parameters at
 * the nodes of the primary grid and the positions of sources and receivers (either may be NULL),
 * and a picture of each slice. For one rank. */
HT_ERR ht_output_model(const struct ht_params *params, const struct ht_medium *medium,
                       const struct ht_shots *shots, const struct ht_receivers *receivers,
                       const char *directory);

/* ---- compare.c ---- */
struct ht_difference {
    char dataset[128]; /* the one with the largest max_rel; of this one: */
    double largest;    /* magnitude of a value in either file */
    double max_abs;    /* difference of two values */
    double max_rel;    /* max_abs/largest: at most 2 between finite values */
    double l2_rel;     /* of all datasets: norm of the difference over the larger norm */
    int64_t values;    /* compared, in all datasets */
};
/* Two HDF5 files, or output directories: the last snapshot of each, or the traces of all shots,
 * whose datasets are named "shot-001/NAME". A dataset that the other lacks
 * or that has another shape there is HT_ERR_DIFFERENT, but for signals of sources in traces, which
 * are compared where shapes agree. NaN differs from everything, infinitely. */
HT_ERR ht_compare(const char *a, const char *b, struct ht_difference *out);
