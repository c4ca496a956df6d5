/* XDMF 3: a temporal collection of uniform rectilinear grids whose values stay in the HDF5 files
 * beside it.
 *
 * XDMF names axes slowest first, as HDF5 does: dimensions, origin and spacing are x3 x2 x1. The
 * grid always has three dimensions, with one node along axes that the run lacks: VTK's reader puts
 * a two-dimensional grid into the y-z plane, this one into x-y. The grid is that of the stored
 * nodes: the node behind a periodic seam is not repeated.
 */
#include "xdmf.h"

#include <stdlib.h>

#include "directory.h"

enum ht_err ht_xdmf_add(struct ht_xdmf *xdmf, double time) {
    TRY(HT_GROW(xdmf->time, xdmf->count + 1, xdmf->room));
    xdmf->time[xdmf->count++] = time;
    return HT_OK;
}

/* "n3 n2 n1" */
static void add_dimensions(const struct ht_grid *grid, struct ht_text *text) {
    for (int axis = 2; axis >= 0; axis--)
        ht_text_add(text, "%lld%s", (long long)ht_grid_nodes(grid, HT_PRIMARY, axis),
                    axis ? " " : "");
}

static void add_numbers(const double value[3], struct ht_text *text) {
    ht_text_add(text,
                "     <DataItem Format=\"XML\" NumberType=\"Float\" "
                "Precision=\"8\" Dimensions=\"3\">%.17g %.17g %.17g"
                "</DataItem>\n",
                value[2], value[1], value[0]);
}

static void add_subgrid(const struct ht_grid *grid, struct ht_text *text) {
    ht_text_add(text, "    <Topology TopologyType=\"3DCoRectMesh\" "
                      "Dimensions=\"");
    add_dimensions(grid, text);
    ht_text_add(text, "\"/>\n    <Geometry GeometryType=\"ORIGIN_DXDYDZ\">\n");
    add_numbers(grid->lower, text);
    add_numbers(grid->h, text);
    ht_text_add(text, "    </Geometry>\n");
}

static void add_snapshot(const struct ht_xdmf *xdmf, int index, struct ht_text *text) {
    ht_text_add(text,
                "   <Grid Name=\"snapshot %d\" GridType=\"Uniform\">\n"
                "    <Time Value=\"%.17g\"/>\n",
                xdmf->first + index, xdmf->time[index]);
    add_subgrid(xdmf->grid, text);
    for (int f = 0; f < xdmf->nfields; f++) {
        ht_text_add(text,
                    "    <Attribute Name=\"%s\" AttributeType=\"Scalar\" "
                    "Center=\"Node\">\n"
                    "     <DataItem Format=\"HDF\" NumberType=\"Float\" "
                    "Precision=\"%d\" Dimensions=\"",
                    xdmf->field[f], xdmf->single ? 4 : 8);
        add_dimensions(xdmf->grid, text);
        ht_text_add(text,
                    "\">" HT_SNAPSHOT_NAME ":/%s</DataItem>\n"
                    "    </Attribute>\n",
                    xdmf->first + index, xdmf->field[f]);
    }
    ht_text_add(text, "   </Grid>\n");
}

enum ht_err ht_xdmf_write(const struct ht_xdmf *xdmf, const char *path) {
    struct ht_text text = {0};
    ht_text_add(&text, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
                       "<Xdmf Version=\"3.0\">\n"
                       " <Domain>\n"
                       "  <Grid Name=\"htwave\" GridType=\"Collection\" "
                       "CollectionType=\"Temporal\">\n");
    for (int i = 0; i < xdmf->count; i++) add_snapshot(xdmf, i, &text);
    ht_text_add(&text, "  </Grid>\n </Domain>\n</Xdmf>\n");
    enum ht_err err = ht_text_status(&text);
    if (!err) err = ht_file_write(path, text.data, text.length);
    ht_text_free(&text);
    return err;
}
