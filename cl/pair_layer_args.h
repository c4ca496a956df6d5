/* Arguments of the kernels of cl/pair_layers.cl, passed by value. Read by the host's compiler and
 * by the device's: only int and long (64 bits on both). */
#ifndef HTWAVE_PAIR_LAYER_ARGS_H
#define HTWAVE_PAIR_LAYER_ARGS_H

#define HT_PAIR_ZONES 27

/* Layers in a window, number 2 axis + side. What the layer remembers of node (i1, i2, i3) of its
 * own, from `begin` on, is number memory + (i3 n[1] + i2) n[0] + i1 of each of its differences;
 * profile: its first number in the table.
 *
 * The targets are cut into 3 x 3 x 3 zones, along each axis into what is in the lower layer, in
 * none, in the upper one: zone i1 + 3 i2 + 9 i3 has the nodes from cut[k][i_k] to cut[k][i_k + 1]
 * along axis k. */
struct ht_pair_layer_args {
    long row, plane;   /* of the window */
    long rows, planes; /* as those of struct ht_fd_args, on CPUs */
    struct {
        long memory;
        int begin[3], n[3];
        int profile;
        int unused;
    } layer[6];
    int cut[3][4];
    int first[HT_PAIR_ZONES + 1]; /* on GPUs: number of a zone's first group; of all */
};

#endif
