/* Arguments of the kernels of cl/fd_layers.cl, passed by value. Read by the
 * host's compiler and by the device's: only int and long (64 bits on both).
 */
#ifndef HTWAVE_FD_LAYER_ARGS_H
#define HTWAVE_FD_LAYER_ARGS_H

#define HT_FD_MOST_LAYERS 6

/* One layer. Along its axis nodes are counted from its wall, 0, inwards; half
 * point i lies between nodes i and i + 1. Its memory has `cells` entries along
 * the axis; that of node (m1, m2, m3) of the window, whose index along the axis
 * counts from the wall, is number offset + m1 pitch[0] + m2 pitch[1] +
 * m3 pitch[2]. */
struct ht_fd_layer {
    int axis;
    int way; /* inwards along the axis: +1 at its lower end, else -1 */
    long cells;
    long wall; /* index of the wall's nodes in the window */
    long offset, pitch[3];
    long profile; /* in the table of profiles */
};

struct ht_fd_layer_args {
    long row, plane; /* nodes of a row, of a plane of the window */
    long begin[3];   /* targets; along the layer's axis from its wall, where */
    long end[3];     /* there is one layer */
    int layers;      /* that the targets may be in */
    struct ht_fd_layer layer[HT_FD_MOST_LAYERS];
};

#endif
