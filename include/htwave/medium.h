/* The medium: materials of the equations as polynomials about every node of both grids, in xi =
 * (x - x_m)/h, truncated at total degree `degree`: M_a belongs to index[a] of ht_jets_total(dims,
 * degree). Where a material varies too much over a node's cell, or a jump or kink lies in it, all
 * materials of the node have degree 0 and their harmonic means over the cell, as layers and media
 * of degree 0 have everywhere (docs/method.md, section 7).
 */
#ifndef HTWAVE_MEDIUM_H
#define HTWAVE_MEDIUM_H

#include "htwave/grid.h"
#include "htwave/params.h"

struct ht_medium {
    const struct ht_equations *eq;
    const struct ht_grid *grid;
    bool uniform; /* same materials everywhere: `constant` holds them */
    int degree;   /* of the polynomials; 0 = constant per node */
    int coefs;    /* multi-indices of ht_jets_total(dims, degree) */
    double constant[HT_MAX_MATERIALS];
    unsigned constant_materials;     /* bit m: material m follows from parameters
                                        that are uniform, whatever the others are,
                                        so that its polynomials are numbers */
    double speed[3];                 /* largest signal speed along each axis */
    double speed_min;                /* smallest above 0 over axes and nodes, of parameters at
                                        the node, for cells per wavelength; 0 when nothing
                                        moves */
    int64_t flattened;               /* nodes of both grids that were reduced to degree 0.
                                        Final after create up to 2e6 different nodes; beyond,
                                        fills count those of own planes */
    bool rough;                      /* has jumps or kinks, or is not resolved: orders and errors
                                        of smooth media do not hold */
    bool wall_gradient;              /* varies across a wall: order drops there */
    double visited;                  /* part of the different nodes evaluated, 1: all */
    struct ht_medium_source *source; /* private */
};

/* Reads files and parses expressions: then `uniform` is known. A parameter that the system does not
 * have is refused. grid, eq and params must outlive the medium; grid->order need not be known yet.
 */
HT_CHECKED enum ht_err ht_medium_read(const struct ht_params *params, const struct ht_equations *eq,
                                      const struct ht_grid *grid, struct ht_medium **out);
/* Chooses the degree and scans the grid once: every material is finite and, where the system says
 * so, positive over its whole cell. Errors name the key, the value found and the place. Sampled:
 * only some 2e6 nodes, spread evenly, for callers that need only a good guess of the speeds.
 * Collective where the grid is cut: each rank scans its own planes, and all get the same medium. A
 * rank that fails must enter ht_comm_agree. */
HT_CHECKED enum ht_err ht_medium_scan(struct ht_medium *medium, bool sampled);
/* Both, of all nodes. */
HT_CHECKED enum ht_err ht_medium_create(const struct ht_params *params,
                                        const struct ht_equations *eq, const struct ht_grid *grid,
                                        struct ht_medium **out);
void ht_medium_destroy(struct ht_medium *medium);

/* Materials on x3 planes [first, last) of a grid (2-D, 1-D: plane 0):
 * out[material][a][node in those planes], nodes with x1 fastest. At primary nodes on a wall the
 * powers odd in the wall's normal are left out: the mirrored medium is even, so the wall condition
 * holds exactly. Planes of other ranks are allowed. */
HT_CHECKED enum ht_err ht_medium_fill(const struct ht_medium *medium, enum ht_subgrid subgrid,
                                      int64_t first, int64_t last, double *out);
/* All materials at x from the parameters there, checked. */
HT_CHECKED enum ht_err ht_medium_point(const struct ht_medium *medium, const double x[3],
                                       double material[HT_MAX_MATERIALS]);
/* The largest signal speed at x over the axes. */
HT_CHECKED enum ht_err ht_medium_speed(const struct ht_medium *medium, const double x[3],
                                       double *speed);
/* The value at x of one user parameter (such as "c"), of a material ("K", "1/rho"), or of the speed
 * by its name, such as "c" where K was given: for pictures. Files are linear between samples here.
 * HT_ERR_INPUT when the name is unknown. */
HT_CHECKED enum ht_err ht_medium_parameter(const struct ht_medium *medium, const char *name,
                                           const double x[3], double *value);

/* ---- samples.c: values on a regular grid, from a file ---- */
struct ht_samples {
    int64_t shape[3]; /* per axis x1 x2 x3; 1 = extruded along it */
    double origin[3], spacing[3];
    double *value; /* x1 fastest */
};
/* Format of a file. Entries of shape, spacing and origin follow axes, the axes of the file from the
 * fastest on (none: x1, x2, ..); along axes not named the values do not vary. format is raw,
 * little-endian float32 whose size must match the shape exactly, or HDF5, where 0 in shape takes
 * the dataset's extent (which must match otherwise). Values are multiplied by scale and must be
 * finite. */
struct ht_samples_format {
    const char *path, *dataset;
    enum ht_file_format format;
    int64_t shape[3];
    double spacing[3], origin[3], scale;
    const struct ht_names *axes; /* of the file, fastest first */
};
HT_CHECKED enum ht_err ht_samples_read(const struct ht_samples_format *format,
                                       struct ht_samples **out);
void ht_samples_destroy(struct ht_samples *samples);
/* Polynomial about x with scaled coefficients over jets (total or tensor):
 * per axis Lagrange interpolation through degree + 1 samples about x, at the stride max(1, round(h
 * / (2 spacing))); the degree is the largest power of the axis in jets, or less where there are
 * fewer samples. Near the ends the samples are one-sided; at points outside the end's value
 * continues. */
HT_CHECKED enum ht_err ht_samples_jet(const struct ht_samples *samples, const struct ht_jets *jets,
                                      const double x[3], const double h[3], double *out);

#endif
