/* From equations to callable step kernels: program text, the table of
 * variants, their shapes on a device, their costs, and the device's limits.
 */
#ifndef HTWAVE_KERNEL_H
#define HTWAVE_KERNEL_H

#include "htwave/device.h"
#include "htwave/params.h"
#include "htwave/window.h"

struct ht_step_args; /* cl/args.h */
struct ht_blocks;    /* src/kernel/blocks.h */

/* What one half step must compute. There are two: from the primary grid and
 * from the dual one. E is the evolution, I the interpolation. */
struct ht_spec {
    const struct ht_equations *eq;
    int order;
    bool fp64;
    int block;         /* coefficients kept together: 1, 2 or 4 (cl/layout.h) */
    int medium_degree; /* -1 uniform, 0 per node, > 0 cell polynomials */
    bool trim;         /* skip what cannot reach an output coefficient */
    bool sorted; /* coefficients lie sorted by parity (ht_storage_order), in
                    blocks of 16 bytes */
    int ptx;     /* architecture whose PTX a kernel may use; 0: none */
    unsigned src, dst; /* bit f: field f is stored on the source, on the target
                          grid; 0: all fields are */
    int old_sign;      /* 0: dst = E I src (Taylor). +1, -1 (leapfrog):
                      dst = keep dst + 2 E I src, where fields that are not
                      stored on the source are 0 */
    int stages;
    double scale[HT_MAX_TERMS]; /* per term (dt/2) coef / h_axis^derivative,
                                   times the material where the medium is
                                   uniform: with stages all that E depends on
                                   there */
};

/* How a problem is computed on a device. */
struct ht_tuning {
    const struct ht_variant *variant;
    bool fp64, trim;
    bool sorted;             /* as in ht_spec, also where the variant reads the
                                plain order */
    int block, ptx;          /* as in ht_spec */
    int cells, rows, planes; /* per group: targets along x1, x2 rows, x3
                                planes; 0: chosen */
};

/* Most coefficients of a field at a node. */
#define HT_MAX_COEFS \
    ((HT_MAX_ORDER + 1) * (HT_MAX_ORDER + 1) * (HT_MAX_ORDER + 1))
/* storage[i]: where coefficient i of a field lies among those of its node; the
 * number of padded_coefs, padded to whole blocks. */
int ht_storage_order(const struct ht_spec *spec, int storage[HT_MAX_COEFS]);

/* How a variant runs on a device: compile-time numbers. */
struct ht_shape {
    int cells;       /* targets along x1 per group */
    int rows;        /* x2 rows of targets per group */
    int slabs;       /* values of n3 exchanged between two barriers */
    int face_fields; /* fields interpolated in the plane at a time */
    int planes;      /* x3 planes per group; 0: chosen at each launch */
    bool roll;       /* keeps what neighbouring x3 planes share */
    int chunk;       /* source entries of parity blocks at a time */
    int tile;        /* rows of a parity block at a time; results along
                        x1 of a separable half step */
    int parts;       /* groups that share the same targets; 0: 1 */
    int group_size, naive_group_size; /* per group */
    int registers;       /* most per lane; 0: the compiler's choice */
    int64_t local_bytes; /* local memory of the hungriest kernel */
};

/* Work of one cell half step by counting; see docs/method.md. */
struct ht_cost {
    double fma, bytes;
};

enum ht_stage_kind {
    HT_STAGE_NONE,
    HT_STAGE_STEP,
    HT_STAGE_INTERPOLATE_NAIVE,
    HT_STAGE_INTERPOLATE_ROLLED,
    HT_STAGE_INTERPOLATE_GEMM, /* the kernel gathers, products follow */
    HT_STAGE_EVOLVE,
    HT_STAGE_OPERATOR /* (args, operator, stored src.., stored dst..) */
};

/* A half step's operator in a variant's own order: values for the buffer that
 * its kernel gets in place of `scale`, and definitions that stand in front of
 * its files; either may be empty. */
struct ht_operator {
    int64_t count;
    double *value;
    struct ht_text text;
};

/* Kinds of media as the highest degree of their polynomials. */
enum { HT_UNIFORM = -1, HT_PER_NODE = 0, HT_POLYNOMIALS = 1 << 20 };

enum { HT_MAX_FILES = 12 };

/* A variant is one file in src/kernel with its row, which owns all that is said
 * about it, and its files in cl/; src/kernel/variants.c lists the rows. */
struct ht_variant {
    const char *name, *meaning;
    enum { HT_FOR_ANY, HT_FOR_CPU, HT_FOR_GPU } made_for; /* by "auto" */
    int medium;  /* the widest kind of medium: HT_UNIFORM .. */
    bool blocks; /* needs the half step as parity blocks (blocks.h) */
    /* Orders of coefficients in which it reads a state and writes it. */
    enum { HT_READS_PLAIN = 1, HT_READS_SORTED = 2, HT_READS_ANY = 3 } layouts;
    bool counts32; /* counts nodes with 32 bits */
    /* Least architecture of an NVIDIA device, for double precision; 0: any. */
    int ptx, ptx_double;
    /* Why it does not compute a spec whose medium and device it takes; the
     * function NULL: it computes all. */
    const char *(*refuses)(const struct ht_spec *spec);
    /* What it needs and a device lacks, or NULL; the function NULL: nothing. */
    const char *(*lacks)(const struct ht_device_info *info);
    /* Shape of a spec that the variant does not refuse, as ht_variant_shape;
     * out comes with one row, one lane and the planes of the tuning. */
    enum ht_err (*shape)(const struct ht_tuning *tuning,
                         const struct ht_spec *spec,
                         const struct ht_device_info *info,
                         struct ht_shape *out);
    /* Work of kernel 0 or 1, which is there; bytes count values. */
    struct ht_cost (*cost)(const struct ht_variant *variant,
                           const struct ht_spec *spec, int kernel);
    /* Lays the operator out for the kernel; NULL: the kernel has none. blocks:
     * NULL unless the variant needs them. out is zero before, freed by the
     * caller also after an error. */
    enum ht_err (*pack)(const struct ht_blocks *blocks,
                        const struct ht_spec *spec,
                        const struct ht_shape *shape, struct ht_operator *out);
    const char *files[HT_MAX_FILES]; /* of cl/, in order, then NULL */
    struct ht_variant_stage {
        enum ht_stage_kind kind;
        const char *entry;
    } stage[2];
};

int ht_variant_count(void);
const struct ht_variant *ht_variant_at(int index);
/* By name; "auto": the one expected to be fastest, on a GPU or a CPU, among
 * those that apply. NULL: unknown. */
const struct ht_variant *ht_variant_find(const char *name,
                                         const struct ht_spec *spec, bool gpu);
/* Why a variant does not apply to a spec; NULL when it does. */
const char *ht_variant_refuses(const struct ht_variant *variant,
                               const struct ht_spec *spec);
/* What a variant needs and a device lacks; NULL: nothing. */
const char *ht_variant_lacks(const struct ht_variant *variant,
                             const struct ht_device_info *info);
/* Whether a variant is expected to do well on a GPU or a CPU. */
bool ht_variant_suits(const struct ht_variant *variant, bool gpu);
/* Adds the names of the variants that apply, as "a", "b" or "c". */
void ht_variant_list(const struct ht_spec *spec, struct ht_text *out);
/* Shape on a device. A variant that does not apply or cells that a group
 * cannot hold: HT_ERR_INPUT, naming the variants that apply or the limit. An
 * order or precision beyond the device, or a variant that it lacks something
 * for: HT_ERR_DEVICE. */
HT_CHECKED enum ht_err ht_variant_shape(const struct ht_tuning *tuning,
                                        const struct ht_spec *spec,
                                        const struct ht_device_info *info,
                                        struct ht_shape *out);
/* Bytes of interpolants per target and field that a variant keeps between
 * its kernels; 0 for one kernel. */
int64_t ht_variant_poly_bytes(const struct ht_variant *variant,
                              const struct ht_spec *spec);
/* Whether it needs one more buffer of a field's interpolants for its own use,
 * and none of more than 2^31 values. */
bool ht_variant_needs_work(const struct ht_variant *variant);
/* Least work of the method itself: what limit_fraction is judged by. */
struct ht_cost ht_cost_minimum(const struct ht_spec *spec, int stages);

/* Least work of a variant's way, of its kernel 0 or 1 (-1: of all): every
 * value that a kernel reads or writes passes once between it and memory. What
 * is not known counts as the least of the method. */
struct ht_cost ht_variant_cost(const struct ht_variant *variant,
                               const struct ht_spec *spec, int kernel);

/* The operator of a variant that has parity blocks; empty for others. */
HT_CHECKED enum ht_err ht_operator_make(const struct ht_variant *variant,
                                        const struct ht_spec *spec,
                                        const struct ht_shape *shape,
                                        struct ht_operator *out);
void ht_operator_free(struct ht_operator *op);
/* The whole program of a variant. */
HT_CHECKED enum ht_err ht_kernel_text(const struct ht_variant *variant,
                                      const struct ht_spec *spec,
                                      const struct ht_shape *shape,
                                      struct ht_text *out);

/* A variant compiled for a device. */
struct ht_step;
HT_CHECKED enum ht_err ht_step_create(struct ht_device *device,
                                      const struct ht_variant *variant,
                                      const struct ht_spec *spec,
                                      const struct ht_shape *shape,
                                      const char *cache, struct ht_step **out);
void ht_step_destroy(struct ht_step *step); /* NULL allowed */
bool ht_step_cached(const struct ht_step *step);

/* Buffers of one half step: src and dst node coefficients per field (NULL
 * where the grid does not store it), poly interpolants of the fields that the
 * source grid stores, without gaps (two-kernel variants; room for poly_planes
 * planes of targets), per material medium [a][node] of the target grid, scale
 * per term. */
struct ht_step_buffers {
    struct ht_buffer *src[HT_MAX_FIELDS], *dst[HT_MAX_FIELDS];
    struct ht_buffer *poly[HT_MAX_FIELDS];
    struct ht_buffer *medium[HT_MAX_MATERIALS];
    struct ht_buffer *work; /* like one of poly; of variants that need it */
    struct ht_buffer *scale;
    int64_t poly_planes;
};
/* Whose account a launch goes to. */
enum ht_step_part { HT_PART_INTERIOR, HT_PART_BOUNDARY };
/* Enqueues the half step for the targets [args->begin, args->end). march 0 in
 * args: chosen here. The sources' ghosts have been filled. */
HT_CHECKED enum ht_err ht_step_launch(struct ht_step *step,
                                      enum ht_step_part part,
                                      const struct ht_step_args *args,
                                      const struct ht_step_buffers *buffers);
/* Device seconds since the last call, added to those of each kernel of the
 * variant. */
void ht_step_add_seconds(struct ht_step *step, double seconds[2]);
/* Device seconds of all launches of a part so far; step NULL: 0. */
double ht_step_total(const struct ht_step *step, enum ht_step_part part);

/* ---- ghosts.c: the ghosts of a window ---- */
struct ht_ghosts;
/* For the fields that a spec's source grid stores. Compiled by ht_ghosts_build,
 * or at the first use. */
HT_CHECKED enum ht_err ht_ghosts_create(struct ht_device *device,
                                        const struct ht_spec *spec,
                                        const char *cache,
                                        struct ht_ghosts **out);
void ht_ghosts_destroy(struct ht_ghosts *ghosts); /* NULL allowed */
HT_CHECKED enum ht_err ht_ghosts_build(struct ht_ghosts *ghosts);
/* Its program, for groups of so many lanes. */
HT_CHECKED enum ht_err ht_ghosts_text(const struct ht_spec *spec, int fields,
                                      int padded_coefs, int group_size,
                                      struct ht_text *out);
/* Enqueued among the work. args: of ht_window_ghosts; u: the buffers of the
 * fields, without gaps. */
HT_CHECKED enum ht_err ht_ghosts_fill(struct ht_ghosts *ghosts,
                                      const struct ht_ghost_args *args,
                                      struct ht_buffer *const *u);
/* Device seconds since the last call, and of all launches so far; NULL: 0. */
double ht_ghosts_seconds(struct ht_ghosts *ghosts);
double ht_ghosts_total(const struct ht_ghosts *ghosts);

/* ---- packer.c: boxes of a window into messages and out of them ---- */
struct ht_pack_format {
    bool fp64;        /* of the fields */
    int block;        /* as in ht_spec */
    int fields;       /* so many buffers, packed one after the other */
    int padded_coefs; /* of ht_storage_order */
    enum ht_halo_precision precision;
};
/* A box of the window that the buffers hold, and the part of a message buffer
 * that begins at byte `at`, a multiple of 16. */
struct ht_pack_range {
    const struct ht_window *window;
    struct ht_box box;
    int64_t at;
};
struct ht_packer;
HT_CHECKED enum ht_err ht_packer_create(struct ht_device *device,
                                        const struct ht_pack_format *format,
                                        const char *cache,
                                        struct ht_packer **out);
void ht_packer_destroy(struct ht_packer *packer); /* NULL allowed */
/* Their program for groups of so many lanes, a power of two. */
HT_CHECKED enum ht_err ht_packer_text(const struct ht_pack_format *format,
                                      int group_size, struct ht_text *out);
/* Bytes that so many nodes take in a message, a multiple of 16. */
int64_t ht_packer_bytes(const struct ht_pack_format *format, int64_t nodes);
/* Enqueued among the work; u[fields]. */
HT_CHECKED enum ht_err ht_packer_pack(struct ht_packer *packer,
                                      struct ht_buffer *const *u,
                                      const struct ht_pack_range *range,
                                      struct ht_buffer *message);
HT_CHECKED enum ht_err ht_packer_unpack(struct ht_packer *packer,
                                        struct ht_buffer *const *u,
                                        const struct ht_pack_range *range,
                                        struct ht_buffer *message);
/* Device seconds of all launches so far. */
double ht_packer_total(const struct ht_packer *packer);

/* ---- reduce.c: sums and maxima over a grid, on the device ---- */
/* Of a field over the nodes of a grid. Coefficients that are not finite are
 * counted and left out of sum and largest. */
struct ht_measure {
    double sum;     /* of value^2 / M over nodes and points */
    double largest; /* |u|; 0 when there is none */
    int64_t bad;    /* values that are not finite */
    int64_t first;  /* node of the first of them; -1: none */
};
/* A field's buffer in the reduction's precision and layout. Nodes weigh 1, half
 * of it at each marked end that they lie on. */
struct ht_reduce_item {
    struct ht_buffer *u;      /* NULL: not stored, measures as no values */
    struct ht_buffer *medium; /* M = first value per node; NULL: 1 */
    int coef;                 /* storage index */
    /* [point][coefs]: values sum_c weights[c] u[coef + c]; NULL: u[coef] */
    const double *weights;
    int coefs, points;
    int64_t nodes[3];
    /* The box of these nodes in a window; NULL: all that the buffer holds. */
    const struct ht_window *window;
    struct ht_box box;
    bool half[3][2]; /* [axis][lower, upper] */
};
/* Kernels for fields of one precision and layout. wide: partial sums in double
 * (the device must have it), else in single; both compensated, in an order
 * that depends on the number of nodes alone. Of the spec it takes fp64 and
 * block. Compiled at the first run. */
struct ht_reduction;
HT_CHECKED enum ht_err ht_reduction_create(struct ht_device *device,
                                           const struct ht_spec *spec,
                                           bool wide, const char *cache,
                                           struct ht_reduction **out);
void ht_reduction_destroy(struct ht_reduction *reduction); /* NULL allowed */
/* Their program for groups of so many lanes, a power of two. */
HT_CHECKED enum ht_err ht_reduction_text(const struct ht_spec *spec, bool wide,
                                         int group_size, struct ht_text *out);
/* Measures `count` items after all work enqueued so far; out[i] belongs to
 * items[i]. One read of a few bytes per item. Without wide the squares must
 * stay within single precision's range (|u| < 1e19), else sum is infinite. */
HT_CHECKED enum ht_err ht_reduction_run(struct ht_reduction *reduction,
                                        int count,
                                        const struct ht_reduce_item *items,
                                        struct ht_measure *out);

/* The device's limits, measured: copy bandwidth (bytes read + written per
 * second) and fused multiply-adds per second in the precision asked for. */
struct ht_limits {
    double bytes_per_s, fma_per_s;
};
HT_CHECKED enum ht_err ht_limits_measure(struct ht_device *device, bool fp64,
                                         const char *cache,
                                         struct ht_limits *out);

#endif
