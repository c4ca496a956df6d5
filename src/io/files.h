/* What the files of a run share: names of fields and units, the directory, traces, pictures. */
#pragma once

#include "htwave/h5.h"
#include "htwave/output.h"

/* ---- what an input may name of outputs: fields, and units (output.units); names.c ---- */
/* Refuses units of what the equations do not have, and what is no text. */
HT_ERR ht_units_check(const struct ht_params *params, const struct ht_equations *eq);
/* The axis along which depth grows (output.down); -1: none. */
int ht_down_axis(const struct ht_params *params);
/* Attributes of a file: unit_NAME for each that is given, and down. */
HT_ERR ht_units_write(const struct ht_params *params, struct ht_h5 *file);

/* ---- the files in output.directory; output.c ---- */
/* Names of outputs, each with a row in output.c. */
#define HT_SUMMARY_NAME "summary.json"
#define HT_XDMF_NAME "fields.xdmf"
#define HT_SNAPSHOT_NAME "fields_%06d.h5"
#define HT_PICTURE_NAME "wave_%04d.png"
#define HT_SLICE_PICTURE "wave_%s_%04d.png"
#define HT_TRACES_NAME "traces.h5"
#define HT_SERIES_NAME "series.csv"

/* Values at the primary grid's nodes, of the own planes; whole: all coefficients. */
struct ht_h5_values ht_planes_set(const struct ht_grid *grid, const char *name, bool single,
                                  bool whole, const double *data);
/* Ends a file that rank 0 has begun, of others it is NULL: all ranks write their planes of the
 * slowest axis into its datasets of values. err: the first failure so far. Collective. */
HT_ERR ht_planes_end(const struct ht_grid *grid, enum ht_err err, struct ht_h5 *file,
                     const char *path, int count, struct ht_h5_values *set);
/* Its attributes that say where values are: system, corner, spacing, names of units. */
HT_ERR ht_planes_describe(const struct ht_params *params, const struct ht_grid *grid,
                          struct ht_h5 *file);

/* ---- traces.h5, written while the run goes on, and further formats; by rank 0; traces.c ---- */
/* Formats beside HDF5. */
struct ht_trace_format {
    const char *name; /* of output.traces */
    int bytes[2];     /* of a value, about; [double precision] */
    /* Refuses what it cannot hold; n: of the group. */
    enum ht_err (*check)(const struct ht_params *params, const struct ht_receivers *receivers,
                         int n);
    /* As ht_output_shots; what: "traces", of one run, or "shots": files' names begin so. */
    enum ht_err (*write)(const struct ht_plan *plan, const struct ht_params *params, int count,
                         const struct ht_traced_shot *shot, const char *what);
    bool shots; /* it takes those of a survey */
};
extern const struct ht_trace_format ht_trace_segy;
/* Where the sources of a run or shot are, if they are one point; else NULL. */
const double *ht_shots_place(const struct ht_params *params);
/* Metres or seconds of a length or time of the input, as the file has them: those in us and ns
 * stand there as ms, those in other units as metres and seconds. */
double ht_segy_unit(const struct ht_params *params, const char *quantity);
/* Which header has the coordinates of an axis: 0: X, 1: Y, 2: elevation, which is their negative
 * along the axis of depth. */
int ht_segy_slot(const struct ht_params *params, int axis);
/* Points of sources, then receivers; 0, NULL of those that are not there. */
struct ht_places {
    const struct ht_shots *shots; /* they outlive the places */
    int64_t count, sources;
    double (*x)[3];
};
HT_ERR ht_places_make(const struct ht_shots *shots, const struct ht_receivers *receivers,
                      struct ht_places *out);
/* HT_ENDED(ht_places_free) struct ht_places places */
void ht_places_free(struct ht_places *places);
/* Those of a shot that stand anywhere; planes and boxes have none. */
int ht_places_of(const struct ht_shot *shot);
/* [point][axis], where there are some. */
HT_ERR ht_positions_write(struct ht_h5 *file, const char *name, int dims, int64_t count,
                          double (*x)[3]);
/* Of a run: ht_output_traces_begin and what follows it in output.h. */
struct ht_traces {
    const struct ht_output *output;
    const struct ht_plan *plan;
    const struct ht_receivers *receivers; /* of the plan */
    struct ht_h5 *file;
    int64_t *done, *room; /* samples [group]: written, and in the file */
};
/* What is not finished stays as it was written; also of none. */
void ht_traces_end(struct ht_traces *traces);

/* ---- slices of fields over the medium, and of the model; pictures.c ---- */
/* What ht_output_check says of pictures. */
HT_ERR ht_pictures_check(const struct ht_output *output);
/* All but checked. */
HT_ERR ht_pictures_create(struct ht_output *output);
void ht_pictures_destroy(struct ht_output *output);
/* The number of pictures drawn, and what their colours span. */
void ht_pictures_archive(struct ht_output *output, struct ht_archive *archive);

/* The slice of the grid that a picture shows. */
struct ht_slice {
    const struct ht_grid *grid;
    int across, up;        /* axes of the picture */
    int normal;            /* axis cut through; -1 below three dimensions */
    int64_t index;         /* of the node along normal, */
    double at;             /* and its place */
    int64_t width, height; /* height 1: one dimension */
};

/* plane, the normal, counts in three dimensions only. position: fraction of the length along it. */
struct ht_slice ht_slice_make(const struct ht_grid *grid, enum ht_grid_axis plane, double position);
/* Size, box, axes with units, pixels. */
struct ht_picture ht_slice_picture(const struct ht_slice *slice, const struct ht_params *params);

/* ---- what the files of a run know of each other; output.c ---- */
struct ht_output {
    const struct ht_params *params;
    const struct ht_medium *medium;
    struct ht_comm *comm;
    struct ht_grid grid; /* of what is written: of the box */
    struct ht_lock lock;
    int64_t first;   /* number of the first snapshot: behind those that are read */
    unsigned stored; /* bit per field of the primary grid, 0: all */
    int nfields;     /* of snapshots: */
    int field[HT_MAX_FIELDS];
    const char *name[HT_MAX_FIELDS];
    bool single;    /* stored as float32 */
    bool staggered; /* fields have places and times of their own: */
    struct ht_pair pair;
    double dt;
    int64_t count, room; /* snapshots, from number `first` on */
    double *time;        /* [room], of snapshots */
    char *xdmf_path;
    int slices;                   /* of pictures, */
    int64_t drawn;                /* times that they were drawn */
    struct ht_picture_view *view; /* [slice] */
    char *last_picture;           /* NULL: none */
    struct ht_traces traces;      /* on rank 0, while they are written */
    char *traces_path;            /* where */
    bool alone;                   /* there are no other files: */
    double mark;                  /* of the input, for them */
    FILE *series;                 /* on rank 0; NULL: not begun */
};
