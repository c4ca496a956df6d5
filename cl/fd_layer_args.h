/* Arguments of the kernels of cl/fd_layers.cl, passed by value. Read by the host's compiler and by
 * the device's: only int and long (64 bits on both). */
#ifndef HTWAVE_FD_LAYER_ARGS_H
#define HTWAVE_FD_LAYER_ARGS_H

#define HT_FD_MOST_LAYERS 6
#define HT_FD_ZONES 27

/* One layer. Along its axis nodes are counted from its wall, 0, inwards; half point i lies between
 * nodes i and i + 1. Its memory has `cells` entries along the axis, `pitch` bytes apart, the first
 * of them, for node (m1, m2, m3) of the window, number offset + sum of m_k step[k], where step[k]
 * is 0 along the axis. */
struct ht_fd_layer {
    long offset;
    int step[3];
    int pitch;
    int axis;
    int way;    /* inwards along the axis: +1 at its lower end, else -1 */
    int inward; /* bytes from a node of the window to the next one inwards */
    int cells;
    int wall;    /* index of the wall's nodes in the window */
    int profile; /* of depth 0, in the table of profiles */
};

/* The targets are cut into 3 x 3 x 3 zones, their box along each axis where a layer ends that
 * changes nodes: the nodes of a zone are in the same layers. Zone (i1, i2, i3) has the nodes from
 * cut[k][i_k] to cut[k][i_k + 1] along axis k; it may be empty. Groups are of one zone each, but on
 * CPUs. */
struct ht_fd_layer_args {
    int row, plane; /* nodes of a row, of a plane of the window */
    struct ht_fd_layer layer[HT_FD_MOST_LAYERS];
    int cut[3][4];
    int first[HT_FD_ZONES + 1]; /* number of a zone's first group; of all */
    int layers[3];              /* [axis] bit 8 i_k + i: the zone is in layer i */
    int rows, planes;           /* of a group on CPUs: as in struct ht_fd_args */
    int meeting; /* of a group: nodes along an axis that is the normal of no layer, of others are */
};

#endif
