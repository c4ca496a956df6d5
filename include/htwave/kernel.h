/* Texts of kernels and what runs them: half steps, ghosts, packing, sums. */
#pragma once

#include "htwave/device.h"
#include "htwave/grid.h"

/* The text of every file in cl/. tools/embed.c includes it in the program at build time, so that a
 * run needs no other files. */

struct ht_kernel_source {
    const char *name; /* of the file in cl/ without folder: "prelude.cl" */
    const char *text; /* the whole file; printable ASCII and line ends */
};

/* In order of names; the entry after the last has the name NULL. */
extern const struct ht_kernel_source ht_kernel_sources[];

/* From equations to callable step kernels: program text, the table of variants, their shapes on a
 * device, their costs, and the device's limits. */

struct ht_step_args; /* cl/args.h */
struct ht_blocks;    /* src/kernel/blocks.h */

/* What a half step computes. A run has two specs: from the primary to the dual grid and back. E is
 * the evolution, I the interpolation. */
struct ht_spec {
    const struct ht_equations *eq;
    int order;
    bool fp64;
    int block;              /* contiguous coefficients: 1, 2 or 4 (cl/layout.h) */
    int medium_degree;      /* -1 uniform, 0 per node, > 0 cell polynomials */
    unsigned constant;      /* bit m: polynomials of material m have degree 0 in
                               every cell; 0 where medium_degree <= 0. Of pairs: coefficient m is a
                          number */
    bool trim;              /* skip coefficients that cannot reach an output */
    bool sorted;            /* coefficients are sorted by parity (ht_storage_order), in
                               blocks of 16 bytes */
    int ptx;                /* architecture whose PTX a kernel may use; 0: none */
    bool ptx_own;           /* also that of this architecture alone */
    unsigned src, dst;      /* field masks of the source and the target grid: bit f
                               is set if field f is stored; 0: all fields */
    int differences;        /* order in space of finite differences; 0: Hermite */
    bool density;           /* of finite differences: 1/rho varies */
    bool wide;              /* of them: ghosts are a node deeper */
    enum ht_pair_kind pair; /* of finite differences: by a pair of groups of fields */
    int old_sign;           /* 0: dst = E I src (Taylor). +1, -1 (leapfrog):
                               dst = old_sign dst + 2 E I src, where fields that are
                               not stored on the source are 0 */
    int stages;
    double scale[HT_MAX_TERMS]; /* per term (dt/2) coef / h_axis^derivative,
                                   times the material in a uniform medium;
                                   there E depends on scale and stages only */
    double noise;               /* the unit roundoff times what the series amplifies it by;
                                   0: not known. Kernels do not depend on it. */
};

/* Whether noise is more than that with which runs stay stable, 2 x 4^(d-1): see
 * src/solve/scale.c. */
bool ht_noise_grows(double noise, int dims);

/* Whether the kernels read a material from a buffer: of a medium that varies, and profiles of
 * layers, which have one value per index along their axis. */
bool ht_spec_reads(const struct ht_spec *spec, int material);
/* Whether a material is a number in each cell, among polynomials. */
bool ht_spec_constant(const struct ht_spec *spec, int material);

/* How a problem is computed on a device. */
struct ht_tuning {
    const struct ht_variant *variant;
    bool fp64, trim;
    bool sorted;             /* as in ht_spec, also if the variant reads the
                                plain order */
    int block, ptx;          /* as in ht_spec */
    bool ptx_own;            /* likewise */
    int cells, rows, planes; /* per group: targets along x1, x2 rows, x3
                                planes; 0: chosen */
};

/* Most coefficients of a field at a node. */
#define HT_MAX_COEFS ((HT_MAX_ORDER + 1) * (HT_MAX_ORDER + 1) * (HT_MAX_ORDER + 1))
/* Whether coefficients of this spec, which says `sorted`, are in another order than that of the
 * tensor: from N = 2 on. */
bool ht_spec_sorts(const struct ht_spec *spec);
/* storage[i]: storage index of coefficient i of a field. Returns the number of coefficients that a
 * field stores per node, padded to whole blocks. */
int ht_storage_order(const struct ht_spec *spec, int storage[HT_MAX_COEFS]);

/* How a variant runs on a device: compile-time numbers. */
struct ht_shape {
    int cells;           /* targets along x1 per group */
    int rows;            /* x2 rows of targets per group */
    int slabs;           /* values of n3 exchanged between two barriers */
    int face_fields;     /* fields interpolated in the plane at a time */
    int planes;          /* x3 planes per group; 0: chosen at each launch */
    int depth;           /* of them computed at a time */
    bool roll;           /* stores sums that neighbouring x3 planes share */
    int chunk;           /* source entries of parity blocks at a time */
    int tile;            /* rows of a parity block at a time; results along
                            x1 of a separable half step */
    int parts;           /* groups that share the same targets; 0 means 1 */
    int group_size;      /* work-items per group */
    int registers;       /* most per work-item; 0: the compiler's choice */
    bool halves;         /* an operator in two parts, of 11 bits and the rest */
    int64_t local_bytes; /* largest local memory of a kernel */
};

/* Counted work of a half step per target; see docs/developers/method.md. */
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

/* A half step's operator in the order of a variant: values for the buffer in place of `scale`, and
 * definitions before the variant's files in the program; either may be empty. */
struct ht_operator {
    int64_t count;
    double *value;
    struct ht_text text;
};

/* Degrees of media that have no polynomials. */
enum { HT_UNIFORM = -1, HT_PER_NODE = 0 };

enum { HT_MAX_FILES = 14 };

/* A variant consists of a file in src/kernel with its table row and its files in cl/. The row holds
 * all facts about the variant; src/kernel/variants.c lists the rows. */
struct ht_variant {
    const char *name, *meaning;
    /* Devices for which "auto" selects it. */
    enum { HT_FOR_ANY, HT_FOR_CPU, HT_FOR_GPU } made_for;
    bool differences; /* of finite differences (fd_kernel.h), else Hermite */
    bool uniform;     /* computes uniform media only */
    int dims, order;  /* the least that it computes */
    bool blocks;      /* needs the half step as parity blocks (blocks.h) */
    bool series;      /* sums the Taylor series term by term on the device */
    bool sorted;      /* its state's coefficients are sorted by parity */
    bool any_order;   /* computes such states, too */
    bool counts32;    /* uses 32-bit node indices */
    /* On GPUs: the most planes that a group takes by equal groups (ht_step_launch), where a march
     * for many groups would be shorter. */
    int even_planes;
    bool layers; /* computes absorbing layers, with memory variables */
    /* Least architecture of an NVIDIA device, in general and for double precision; 0: any. */
    int ptx, ptx_double;
    /* Needs what architecture `ptx` alone has. */
    bool ptx_own;
    /* Its local memory, shape.local_bytes, comes with the launch. */
    bool open_memory;
    /* Why it cannot compute a spec whose medium and device it supports, or NULL. A NULL function:
     * it computes all of them. */
    const char *(*refuses)(const struct ht_spec *spec);
    /* Where "auto" takes it; NULL: wherever it applies. */
    bool (*pays)(const struct ht_spec *spec);
    /* Shape for a spec that the variant does not refuse, as ht_variant_shape, which judges its
     * local memory. On entry out has one row, one work-item and the planes of the tuning. */
    enum ht_err (*shape)(const struct ht_tuning *tuning, const struct ht_spec *spec,
                         const struct ht_device_info *info, struct ht_shape *out);
    /* Work of kernel 0 or 1, which must exist; `bytes` is a number of values. */
    struct ht_cost (*cost)(const struct ht_variant *variant, const struct ht_spec *spec,
                           int kernel);
    /* Orders the operator for the kernel; a NULL function: the kernel has none. blocks: NULL unless
     * the variant needs them. On entry out is zero; the caller frees out, also after an error. */
    enum ht_err (*pack)(const struct ht_blocks *blocks, const struct ht_spec *spec,
                        const struct ht_shape *shape, struct ht_operator *out);
    const char *files[HT_MAX_FILES]; /* of cl/, in order, then NULL */
    /* Of finite differences, where density varies. */
    const char *density_files[HT_MAX_FILES];
    struct ht_variant_stage {
        enum ht_stage_kind kind;
        const char *entry;
    } stage[2];
};

int ht_variant_count(void);
const struct ht_variant *ht_variant_at(int index);
/* The variant with this name, or NULL. "auto": the one that is expected to be fastest on a GPU or a
 * CPU among those that apply. */
const struct ht_variant *ht_variant_find(const char *name, const struct ht_spec *spec, bool gpu);
/* The same; "auto": of those whose shapes the device can run, if there is one. */
const struct ht_variant *ht_variant_choose(const char *name, const struct ht_spec *spec,
                                           const struct ht_device_info *info);
/* Why a variant does not apply to a spec; NULL if it applies. */
const char *ht_variant_refuses(const struct ht_variant *variant, const struct ht_spec *spec);
/* What it needs and a device lacks, or NULL. */
const char *ht_variant_lacks(const struct ht_variant *variant, const struct ht_device_info *info);
bool ht_variant_suits(const struct ht_variant *variant, bool gpu);
/* Appends the names of the variants that apply, as "a", "b" or "c". */
void ht_variant_list(const struct ht_spec *spec, struct ht_text *out);
/* Shape on a device. HT_ERR_INPUT: the variant does not apply (the message names those that do) or
 * the cells exceed a group's limit (the message names the limit). HT_ERR_DEVICE: the device cannot
 * run the order, the precision or the variant. */
HT_ERR ht_variant_shape(const struct ht_tuning *tuning, const struct ht_spec *spec,
                        const struct ht_device_info *info, struct ht_shape *out);
/* x3 planes of a group's march: the least multiple of the planes that it computes at a time, or its
 * last ones would be thrown away. */
long ht_shape_march(const struct ht_shape *shape, long planes);
/* Bytes of interpolants per target and field that a variant stores between its kernels; 0 for
 * variants with one kernel. */
int64_t ht_variant_poly_bytes(const struct ht_variant *variant, const struct ht_spec *spec);
/* Whether it needs a buffer of a field's interpolants; then no buffer may exceed 2^31 values. */
bool ht_variant_needs_work(const struct ht_variant *variant);
/* Least work of the method, the reference of limit_fraction. */
struct ht_cost ht_cost_minimum(const struct ht_spec *spec, int stages);

/* Least work of a variant's kernel 0 or 1 (-1: of all kernels): every value that a kernel reads or
 * writes is transferred once between it and memory. For a variant without a cost function it is the
 * least work of the method. */
struct ht_cost ht_variant_cost(const struct ht_variant *variant, const struct ht_spec *spec,
                               int kernel);

/* The operator of a variant that has one; empty for others. */
HT_ERR ht_operator_make(const struct ht_variant *variant, const struct ht_spec *spec,
                        const struct ht_shape *shape, struct ht_operator *out);
void ht_operator_free(struct ht_operator *op);
HT_ERR ht_kernel_text(const struct ht_variant *variant, const struct ht_spec *spec,
                      const struct ht_shape *shape, struct ht_text *out);

/* A tool (htwave/tool.h). */
struct ht_tool;
HT_ERR ht_step_create(struct ht_device *device, const struct ht_variant *variant,
                      const struct ht_spec *spec, const struct ht_shape *shape,
                      struct ht_tool **out);

/* Buffers of a half step. src, dst: coefficients per field (NULL if the grid does not store the
 * field). poly: interpolants of the fields that the source grid stores, without gaps, for
 * poly_planes planes of targets (variants with two kernels). medium: per material [a][node] of the
 * target grid, per profile [index along its axis]. scale: per term. */
struct ht_step_buffers {
    struct ht_buffer *src[HT_MAX_FIELDS], *dst[HT_MAX_FIELDS];
    struct ht_buffer *poly[HT_MAX_FIELDS];
    struct ht_buffer *medium[HT_MAX_MATERIALS];
    struct ht_buffer *work; /* of the size of poly[0]; ht_variant_needs_work */
    struct ht_buffer *scale;
    int64_t poly_planes;
};
/* Which timer a launch is charged to. */
enum ht_step_part { HT_PART_INTERIOR, HT_PART_BOUNDARY };
/* Enqueues the half step for the targets [args->begin, args->end). With args->march 0 the function
 * chooses the march. The ghosts of the sources must have been filled. */
HT_ERR ht_step_launch(struct ht_tool *step, enum ht_step_part part, const struct ht_step_args *args,
                      const struct ht_step_buffers *buffers);

/* The device's limits: copy bandwidth (bytes read + written per second) and fused multiply-adds per
 * second in the precision asked for. Measured, and kept in its cache; anew: not from there. */
struct ht_limits {
    double bytes_per_s, fma_per_s;
};
HT_ERR ht_limits_measure(struct ht_device *device, bool fp64, bool anew, struct ht_limits *out);
