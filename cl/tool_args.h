/* Arguments of the small kernels (htwave/tool.h), passed by value. Read by the host's compiler and
 * by the device's: only int and long (64 bits on both). */
#ifndef HTWAVE_TOOL_ARGS_H
#define HTWAVE_TOOL_ARGS_H

/* cl/ghosts.cl. Ghosts are numbered in the order x3 planes, x2 rows of the other planes, x1 nodes
 * of the other rows; the lower ones of an axis come first. */
struct ht_ghost_args {
    long first; /* number in the window of the node of indices 0 */
    long row;   /* of the window */
    long plane;
    long nodes;   /* of the whole window */
    int count[3]; /* nodes along each axis */
    int begin[3]; /* nodes [begin, end) of an axis are no ghosts */
    int end[3];
    /* At [2 * axis + side] a ghost of index i along the axis has its source at index from + way i:
     * way -1 behind a wall, which multiplies by factor, way 1 where the axis is periodic. */
    int from[6], way[6], factor[6];
    int planes; /* ghosts in x3 planes */
    int rows;   /* ghosts in x3 planes and x2 rows */
    int ghosts; /* all ghosts */
    int blocks; /* of coefficients; ht_ghosts_fill sets it */
};

/* cl/inject.cl */
struct ht_inject_args {
    long first, count; /* nodes of the list */
    long nodes;        /* of the window */
    long row;          /* of the table: the field's first amplitude */
    long size;         /* values of a shape, */
    long field;        /* and of the fields before this one */
    long odd;          /* those of the field before its first coefficient */
    int coefs;         /* of a node, with gaps */
    int terms;
    int both; /* adds to v, too */
};

/* cl/pair_faces.cl */
struct ht_pair_meet_args {
    long first, end; /* of a list */
    long row, plane; /* of the window */
    long keeps;      /* of ht_pair_part */
};

/* cl/pack.cl */
struct ht_pack_args {
    long total;    /* nodes of a field's window */
    long row;      /* stride of the window along x2, in nodes */
    long plane;    /* stride of the window along x3, in nodes */
    long first;    /* node of the window at which the packed box begins */
    long count[2]; /* nodes of the box along x1 and x2 */
    long nodes;    /* nodes of the box */
    long at;       /* start of the box in the message, in units of 16 bytes */
    int blocks;    /* blocks of coefficients of a node */
};

/* cl/maps.cl */
struct ht_map_args {
    long begin, stride;   /* index of the first node in the window; nodes between those of a row */
    long row, plane;      /* nodes of the window between rows and planes that are kept, */
    long nodes;           /* and in all */
    long count[2], total; /* nodes of a row, rows of a plane; nodes that are kept */
    long to, to_row, to_plane; /* where the first one's number stands, those of rows and planes */
    int begins;                /* nothing was taken yet */
};

/* cl/rows.cl */
struct ht_rows_args {
    long first; /* rows [first, last) */
    long last;
    long rows;  /* of all launches */
    long nodes; /* of the window */
    long slot;  /* of the ring */
};

/* cl/fd_shell.cl */
#define HT_SHELL_BOXES 6
#define HT_SHELL_RECORDS 8
struct ht_shell_args {
    long row, plane;                                 /* of the window */
    long bytes, factors;                             /* of a record; its first factor's byte */
    long slot[HT_SHELL_RECORDS];                     /* of the ring */
    long node[HT_SHELL_BOXES];                       /* of a box's first plane */
    long block[HT_SHELL_BOXES];                      /* its first one in a record */
    int begin[HT_SHELL_BOXES + 1];                   /* in a launch: its first block; the end */
    int blocks[HT_SHELL_BOXES];                      /* of a plane, */
    int count[HT_SHELL_BOXES], wide[HT_SHELL_BOXES]; /* and its nodes, in all and along x1 */
    int records;
};

/* cl/sponge.cl. Of the nodes along the layers' axis those of index i < low are begin + i, the
 * others begin + i + skip: a layer at either end. */
struct ht_sponge_args {
    long row; /* of the window */
    long plane;
    long nodes;    /* of the whole window */
    long begin[3]; /* in the window */
    long count[3]; /* nodes along each axis */
    long low, skip;
    long length; /* of the window along the layers' axis */
    int axis;
};

/* cl/sums.cl */
/* Points about a node of a Hermite method; points that are not used have weights of 0. */
#define HT_MEASURE_POINTS 8
/* Nodes of a row that a group takes before the next piece. */
#define HT_SUM_PIECE 4096
#define HT_SUM_ENDS 16

struct ht_sum_args {
    long begin; /* index of the box's first node in the window */
    long row;   /* nodes of a row, of a plane, of all of the window */
    long plane;
    long total;
    long count[3]; /* nodes of the box */
    long groups;   /* of a plane */
    long slot;     /* the first group's result */
    long weights;  /* index of the first weight, [coefficient][point] */
    int coef;      /* storage index of the first coefficient */
    int coefs;     /* number of coefficients, at consecutive storage indices */
    int divide;    /* 1: by a at the node */
    int ends[6];   /* [2 * axis + side]: half of struct ht_sum_item */
};

#endif
