/* Finite differences (docs/developers/differences.md), shared by src/fd/fd_*.c only. One stepper
 * works on arrays of a window; an engine holds the arrays and computes on them: kernels on a
 * device, or plain loops in double precision.
 *
 * The primary grid holds u at t_n, and in place of the dual grid the increment d = u(t_n) -
 * u(t_(n-1)) at the same nodes. */
#pragma once

#include "htwave/gradient.h"
#include "src/solve/columns.h"
#include "src/solve/methods.h"
#include "src/solve/runner.h"

/* ---- passes ---- */
/* A step is made of passes over the nodes; with two terms of the series in time
 *     stage:      w = u + dt^2/12 L u
 *     update:     d = d + dt^2 L w, u = u + d;
 * with one term there is no stage, and L is applied to u.
 * Where sides absorb, a task after each box of an update does what the layers change there. */
enum ht_fd_name { HT_FD_U, HT_FD_D, HT_FD_W, HT_FD_NAMES }; /* of arrays */
enum ht_fd_pass {
    HT_FD_STAGE,
    HT_FD_UPDATE,
    HT_FD_APPLY, /* dt^2 M u into another array, at the own nodes only */
    HT_FD_START  /* d = w + dt^2/6 L w */
};
/* Passes that follow each other, again and again but for the last two; of a pair steps; the rates
 * of group 1, times dt; from the fields at time 0 those of the start, group 0 half a step earlier:
 * group 1 changes and is to be put again. */
enum ht_fd_sequence {
    HT_FD_FORWARDS, /* stage, update */
    HT_FD_MEASURE,  /* stage, apply */
    HT_FD_BEGIN,    /* start */
    HT_FD_SEQUENCES
};
void ht_fd_passes(const struct ht_problem *problem, int sequence, struct ht_passes *out);

/* Values at the nodes of the window are buffers: on a device, or the plain engine's, of the host.
 */
/* Weights of the nodes of a box in sums, as those of struct ht_sum_item. */
struct ht_fd_ends {
    int half[3][2]; /* [axis][lower, upper] */
    int count;
    const double *weights; /* [count] of ends marked by more than 1; NULL: there are none */
};
/* Some of the own nodes, which may be none, and the ends among them. */
struct ht_fd_part {
    struct ht_fd_box box;
    struct ht_fd_ends ends;
};
/* y, e: by fields. */
struct ht_pair_meet_sum {
    const struct ht_pair_stepper *s;
    int group;
    struct ht_buffer *const *y, *const *e;
    struct ht_buffer *sum;
};
struct ht_fd_injection;
struct ht_fd_engine;
struct ht_fd_engine_ops {
    /* As in htwave/fd_kernel.h. */
    enum ht_err (*ghosts)(struct ht_fd_engine *e, const struct ht_fd_box *box,
                          const int sides[3][2], struct ht_buffer *u);
    enum ht_err (*work)(struct ht_fd_engine *e, const struct ht_fd_work *w);
    /* out[plane of the box]. */
    enum ht_err (*sums)(struct ht_fd_engine *e, const struct ht_fd_part *part, struct ht_buffer *x,
                        struct ht_buffer *y, struct ht_buffer *a, double level,
                        struct ht_measure *out);
    /* x, and y unless it is NULL, at nodes [first, last) of the list += the amplitudes
     * of a row of the table. */
    enum ht_err (*inject)(struct ht_fd_engine *e, struct ht_fd_injection *in, int64_t first,
                          int64_t last, int64_t row, struct ht_buffer *x, struct ht_buffer *y);
    /* u goes into a slot of a shell's ring; the planes [first, last) of the window get the sum of
     * such slots in place of u, and d = u - old. */
    enum ht_err (*take)(struct ht_tool *tool, const struct ht_fd_shell_form *form,
                        struct ht_buffer *u, double level, struct ht_buffer *ring, int64_t slot);
    enum ht_err (*put)(struct ht_tool *tool, enum ht_step_part part,
                       const struct ht_fd_shell_form *form, int64_t first, int64_t last,
                       const struct ht_fd_shell_sum *sum, struct ht_buffer *ring,
                       struct ht_buffer *old, struct ht_buffer *u, struct ht_buffer *d);
    /* Of an adjoint run: its sums; to = from, so many numbers, tool: the engine's `products`. */
    enum ht_err (*correlate)(struct ht_fd_engine *e, const struct ht_fd_products *c);
    enum ht_err (*product)(const struct ht_pair_product *p);
    enum ht_err (*copy)(struct ht_tool *tool, int64_t count, struct ht_buffer *from,
                        struct ht_buffer *to);
    enum ht_err (*pair)(struct ht_fd_engine *e, const struct ht_pair_task *t);
    /* What couplings of the group do after a pass or a rate, as ht_pair_meet. */
    enum ht_err (*meet)(struct ht_fd_engine *e, const struct ht_pair_task *t);
    /* Sums of products by the couplings of a group, as ht_pair_meet_add, of own points. */
    enum ht_err (*meet_add)(struct ht_fd_engine *e, const struct ht_pair_meet_sum *m);
};
struct ht_fd_engine {
    const struct ht_fd_engine_ops *ops;
    struct ht_fd_spec spec;
    struct ht_fd_weights weights;
    struct ht_device *device;         /* NULL: plain */
    const struct ht_kernels *kernels; /* on it, while the stepper lives */
    struct ht_tool *products;         /* of an adjoint run, on it; else NULL */
    bool absolute;                    /* plain: of magnitudes, for bounds */
};
/* Zeros. */
HT_ERR ht_fd_array_create(const struct ht_fd_engine *e, int64_t numbers, struct ht_buffer **out);

/* ---- fd_shots.c: sources ---- */
/* Each field that some shot drives has a list of its own, of one field number 0. Amplitudes of some
 * steps are in its table at a time: of step first + j the row `each` j is what the update adds, of
 * a pair what the step does, and the next one of one field what the stage adds to w. A shot has one
 * column of it, a plane wave many; a trace of an adjoint run one. */
enum { HT_FD_INJECTION_ROWS = 256 }; /* of the table at most */
enum { HT_FD_BY_UPDATE, HT_FD_BY_STAGE, HT_FD_BY };
struct ht_fd_injection {
    const struct ht_shots *shots; /* NULL: of an adjoint run, whose amplitudes are given */
    const double *given;          /* [step][column] of `steps` steps, taken from the last one on */
    int64_t steps;
    double factor; /* they are multiplied by it */
    int columns, each;
    int64_t rows;                   /* of the table */
    int *column;                    /* [shot] the first one; and the end */
    struct ht_inject_list list;     /* in the window; without walls and shapes */
    struct ht_inject_shapes shapes; /* a weight for each entry */
    int64_t *plane;                 /* of the window: its first entry of the list; and the end */
    int64_t first, last;            /* steps in the table: [first, last) */
    double *table;
    bool fresh; /* the device does not have it */
    /* Of one field; else NULL. */
    double *whole; /* [column] sum over the grid of weights / a, half at walls */
    double *size;  /* [shot] norm of the weights, as that of the energy; of a plane wave of what it
                      adds, its values being at most 1 */
    double *push;  /* [step of the table] norm of what it adds */
    double driven; /* sum over the steps of it */
    struct ht_fd_signal {
        int64_t count;
        double *f;
    } * undispersed;              /* [shot] of steps; NULL: as they are */
    int signals;                  /* how many: the list may outlive its shots */
    struct ht_injected *injected; /* on the device; NULL: not yet */
    struct ht_pool pool;          /* of the arrays but signals */
};
struct ht_fd_stepper;
/* What a shot adds to a field that it drives in step n: to one field by the update and by the
 * stage, to one of a pair by the first. undispersed: NULL, or its signal of steps. */
void ht_fd_amplitudes(const struct ht_fd_stepper *s, const struct ht_shot *shot, int field,
                      const struct ht_fd_signal *undispersed, int64_t n, double out[HT_FD_BY]);
/* Its signal of steps, with which traces have no dispersion; out->f is to be freed. */
HT_ERR ht_fd_find_signal(const struct ht_fd_stepper *s, const struct ht_shot *shot, int field,
                         struct ht_fd_signal *out);
/* The sources of s->problem: s->injection and s->incident. */
HT_ERR ht_fd_sources_create(struct ht_fd_stepper *s);
void ht_fd_sources_destroy(struct ht_fd_stepper *s);
/* Lists of a stepper, [field], NULL: of the readings of receivers, spread with the medium, as
 * sources of an adjoint run; else of shots, removes: minus those whose strength is not multiplied
 * by the medium. bare: without the medium, of shots those that are multiplied by it. */
struct ht_fd_driven {
    const struct ht_receivers *receivers;
    bool removes, bare;
};
HT_ERR ht_fd_injections_create(struct ht_fd_stepper *s, const struct ht_fd_driven *by,
                               struct ht_fd_injection *out[HT_MAX_FIELDS]);
void ht_fd_injections_destroy(struct ht_fd_injection *list[HT_MAX_FIELDS]);
/* The members of these names, of receivers. */
void ht_fd_injections_give(struct ht_fd_injection *const list[HT_MAX_FIELDS], const double *given,
                           int64_t steps, double factor);
/* The amplitudes of step s->at are in the tables. */
void ht_fd_injections_step(struct ht_fd_stepper *s,
                           struct ht_fd_injection *const list[HT_MAX_FIELDS]);
/* What a row of this step of lists of `fields` holds on planes [begin, end) of the window is added
 * to these arrays, and to `also` unless it is NULL. */
HT_ERR ht_fd_inject(struct ht_fd_stepper *s, struct ht_fd_injection *const list[HT_MAX_FIELDS],
                    unsigned fields, int64_t begin, int64_t end, int row,
                    struct ht_buffer *const *to, struct ht_buffer *also);

/* ---- fd_incidence.c: plane waves from outside ---- */
/* Columns that a place between them takes, and the order of its error. */
enum { HT_FD_SPLINE = 12 };
/* Places are in half spacings: 2 m of node m, 2 m + 1 half a spacing above. */
struct ht_fd_surface {
    const struct ht_grid *grid;
    const struct ht_shot *shot;
    double material[HT_MAX_MATERIALS]; /* at the box's corner */
    bool closed[3];                    /* the box has faces along the axis */
    int64_t lower[3], upper[3];        /* places inside: lower <= place <= upper */
    /* Differences along an axis: weight (u(place + offset) + below u(place - offset)). */
    struct ht_fd_star {
        int count, offset[2 * HT_FD_RADIUS];
        double weight[2 * HT_FD_RADIUS], below;
    } star;
    double apart, first; /* xi of columns: first + n apart */
    int columns;
};
/* The tables of second order, of u and w; those of pairs have the numbers of the fields. */
enum { HT_FD_INCIDENT_U, HT_FD_INCIDENT_W };
struct ht_fd_incidence {
    struct ht_fd_surface surface;
    struct ht_fd_weights weights;
    int64_t steps;                /* of the tables, from step 0 on */
    double *table[HT_MAX_FIELDS]; /* [step][column]; NULL: there is none */
    double *values;               /* scratch: [column] */
    struct ht_pool pool;          /* of both */
};
HT_ERR ht_fd_incidence_create(const struct ht_problem *problem, const struct ht_shot *shot,
                              struct ht_fd_incidence **out);
void ht_fd_incidence_destroy(struct ht_fd_incidence *in); /* NULL allowed */
/* The difference along an axis, times a factor. */
struct ht_fd_crossing {
    int axis;
    double factor;
};
/* Adds what the places of a parity take on an x3 plane of the grid of the columns of one table,
 * which are those from `column` on. */
HT_ERR ht_fd_incidence_entries(const struct ht_fd_incidence *in, unsigned parity, int count,
                               const struct ht_fd_crossing *crossing, int64_t plane, int column,
                               struct ht_columns *out);
/* out[column] of a step: factor times a table. */
void ht_fd_incidence_row(const struct ht_fd_incidence *in, int part, int64_t step, double factor,
                         double *out);
/* No more than: columns of a table, nodes and entries of places of a parity on so many planes. */
struct ht_fd_incidence_most {
    int64_t columns, nodes, entries;
    int64_t host; /* bytes of the host's tables */
};
HT_ERR ht_fd_incidence_count(const struct ht_problem *problem, const struct ht_shot *shot,
                             int64_t planes, struct ht_fd_incidence_most *out);
/* Refuses plane waves whose surface the grid cannot hold, or about which the medium varies or loses
 * energy. A rank looks at its own planes: one that fails must enter ht_comm_agree. */
HT_ERR ht_fd_surface_check(const struct ht_plan *plan);

/* ---- the stepper ---- */
/* What steppers of one field and of pairs differ in. */
enum { HT_FD_MOST_ARRAYS = 5 * HT_MAX_FIELDS + HT_MAX_TERMS, HT_FD_MOST_STATE = 16 };
enum ht_fd_use { /* what an array is */
                 HT_FD_SCRATCH,
                 HT_FD_STATE = 1, /* later steps depend on it */
                 HT_FD_LAYER = 2,
                 HT_FD_MEDIUM = 4
};
struct ht_fd_list {
    int count;
    struct ht_fd_array {
        struct ht_buffer **at;
        int64_t numbers;
        unsigned use;
    } row[HT_FD_MOST_ARRAYS];
};
/* One more, unless it has no numbers. */
void ht_fd_list_add(struct ht_fd_list *list, struct ht_buffer **at, int64_t numbers, unsigned use);
struct ht_fd_kind {
    size_t size;
    enum ht_err (*task[HT_TASK_KINDS])(void *self, const struct ht_task *task);
    void (*archive)(void *self, struct ht_archive *archive);
    /* The members that need no memory. */
    void (*plan)(const struct ht_problem *problem, const struct ht_fd_engine *engine, void *out);
    void (*passes)(const struct ht_problem *problem, int sequence, struct ht_passes *out);
    /* All arrays, those of the window `beyond` numbers longer: from this list they are counted,
     * created and destroyed. HT_FD_MOST_STATE of the state at most come first, then what is no
     * medium. */
    int64_t beyond;
    void (*list)(void *self, struct ht_fd_list *out);
    /* Number i of those that messages of an array of the schedule have; NULL: there are no more. */
    struct ht_buffer **(*sent)(void *self, int array, int i);
    /* Of a field: u, on the dual grid d. */
    struct ht_buffer *(*array)(const void *self, enum ht_subgrid subgrid, int field);
    /* What steps have left beside the arrays: new data come. */
    enum ht_err (*forget)(void *self);
    enum ht_err (*fill)(void *self); /* what arrays hold, and the rest but for sources */
    void (*release)(void *self);     /* but for arrays and sources */
};
struct ht_fd_stepper {
    struct ht_runner r;
    struct ht_runner_ops runs;
    const struct ht_fd_kind *kind;
    struct ht_problem problem;
    struct ht_fd_engine engine;
    struct ht_fd_box box; /* the own nodes in the window */
    struct ht_range own;  /* x3 planes */
    int sides[3][2];      /* of ht_fd_ghosts_fill */
    struct ht_fd_ends ends;
    struct ht_fd_operator law;                 /* scale: 1 / h^2, times the uniform 1/rho */
    struct ht_buffer *values[HT_FD_NAMES], *z; /* z: for measures */
    struct ht_buffer *sequence_u;              /* where u is when a recorded sequence begins */
    double apply_divisor;                      /* of pass HT_FD_APPLY, and where it adds */
    struct ht_buffer *apply_to;
    bool closed;   /* nothing fixes the mean of u, in single precision */
    double mass;   /* sum of 1/a over the nodes */
    double mean;   /* of d, which the scheme keeps; NaN: not known yet */
    double level;  /* what is kept of u beside the array; 0 unless closed */
    int64_t since; /* steps since the mean was looked at */
    struct ht_fd_injection *injection[HT_MAX_FIELDS]; /* NULL: no source drives the field */
    struct ht_fd_incidence **incident;                /* [shot] NULL: no plane wave */
    struct ht_fd_layers layers;
    int64_t at; /* steps from the start, backwards less */
    /* Whose medium it shares, and without sources of its own; NULL: none. */
    struct ht_fd_stepper *beside;
    struct ht_fd_shell *shell; /* that steps record, or put back; NULL: none */
    bool back;                 /* steps go backwards */
    struct ht_fd_keep keep;    /* by the next step; map NULL: none */
    bool trails;               /* w holds u - d, where matched layers are */
};
/* What the engine must compute for a problem. */
struct ht_fd_spec ht_fd_spec_of(const struct ht_problem *problem, bool fp64);
extern const struct ht_fd_kind ht_fd_kind, ht_pair_kind;
extern const struct ht_stepper_ops ht_fd_ops;
void ht_fd_destroy(void *self);
/* Of the kind that the problem asks for. beside: of the same problem, at rest, with the medium of
 * another one, which must outlive it: both may work at the same time, and its injection is set by
 * others; NULL: by itself. */
HT_ERR ht_fd_stepper_create(const struct ht_problem *problem, const struct ht_fd_engine *engine,
                            struct ht_fd_stepper *beside, struct ht_stepper *out);
/* The stepper of differences behind a stepper, that of a pair; NULL: it is another one. */
struct ht_fd_stepper *ht_fd_stepper_of(const struct ht_stepper *stepper);
struct ht_pair_stepper *ht_pair_stepper_of(const struct ht_stepper *stepper);
static inline void ht_fd_swap(struct ht_buffer **a, struct ht_buffer **b) {
    struct ht_buffer *const first = *a;
    *a = *b;
    *b = first;
}
/* Runs a sequence of passes once. */
HT_ERR ht_fd_run_sequence(struct ht_fd_stepper *s, int sequence);
/* At rest, at time 0. */
HT_ERR ht_fd_rest(struct ht_fd_stepper *s);
/* ---- checkpoints ---- */
/* An array's values at the own nodes. */
void ht_fd_archive_nodes(struct ht_fd_stepper *s, struct ht_archive *archive, const char *name,
                         struct ht_buffer *values);
/* Parts of an array that stand plane after plane from number `base` on, the groups `apart`; first,
 * last: own planes of all, none: equal. */
struct ht_fd_stored {
    struct ht_fd_engine *engine;
    struct ht_fd_stepper *nodes; /* whose own nodes the array has; NULL: other numbers */
    struct ht_buffer *array;
    int64_t groups, planes, plane, first, last, base, apart;
};
void ht_fd_archive_memory(struct ht_archive *archive, const char *name, struct ht_fd_stored *of);
/* The numbers of an array of the window; of all but the medium. */
int64_t ht_fd_numbers(const struct ht_fd_stepper *s);
int64_t ht_fd_own_numbers(struct ht_fd_stepper *s, unsigned use);
/* The weight of a node of the grid in integrals, of a cell's volume (fd_shots.c). */
double ht_fd_weight(const struct ht_grid *grid, const int64_t m[3]);
/* The law with its scales multiplied. */
struct ht_fd_operator ht_fd_scaled(const struct ht_fd_operator *law, double factor);
/* Sums over a part, NULL: over the whole grid, the same on all ranks and whatever their number;
 * first: node of the grid; largest: of x and its level. Collective. */
HT_ERR ht_fd_total(struct ht_fd_stepper *s, const struct ht_fd_part *part, struct ht_buffer *x,
                   struct ht_buffer *y, struct ht_measure *out);
/* HT_ERR_NOT_FINITE, of sums over the grid of a field that is not. */
HT_ERR ht_fd_not_finite(const struct ht_fd_stepper *s, int field, double time,
                        const struct ht_measure *sums);
/* The nodes of the layer at side n % 2 of axis n / 2, false: all, as there is none; those in no
 * layer (fd_run.c). */
bool ht_fd_part_layer(const struct ht_fd_stepper *s, int n, struct ht_fd_part *out);
struct ht_fd_part ht_fd_part_open(const struct ht_fd_stepper *s);
/* The box of a task. */
struct ht_fd_box ht_fd_task_box(const struct ht_fd_stepper *s, const struct ht_task *task);
/* Own planes between an array and plain values [plane][n2][n1], read or written. */
HT_ERR ht_fd_move_planes(struct ht_fd_stepper *s, struct ht_buffer *array, int64_t first,
                         int64_t last, const double *from, double *to);
/* p += factor d at the own nodes; -1 and p itself: 0. */
HT_ERR ht_fd_advance_own(struct ht_fd_stepper *s, double factor, struct ht_buffer *d,
                         struct ht_buffer *p);
/* u(N) and d(N) become u(N-1) and -d(N), with u(N) in w's place; the next steps go back. */
HT_ERR ht_fd_reverse(struct ht_fd_stepper *s);

/* ---- the forward run in the reverse order of time, of gradients (docs/developers/gradients.md)
 * ---- */
/* A way to have it: a row of functions, and the first member of what they work on. */
struct ht_fd_past {
    const struct ht_fd_past_ops *ops;
    struct ht_fd_stepper *forward;
    int64_t steps; /* N */
    double sign;   /* of the increments that are shown */
    /* Bits of arrays of the state: those whose values before a step are needed, and such
     * as hold increments, which are needed after it. */
    unsigned values, increments;
    bool slopes; /* planes beyond the slab are needed, too */
    /* Of `values`: after the step that is shown, of `store` and `checkpoint`. */
    struct ht_buffer *after[HT_FD_MOST_STATE];
    struct ht_gradient_facts facts;
};
struct ht_fd_past_ops {
    /* The forward run begins: its stepper is at rest. */
    enum ht_err (*begin)(struct ht_fd_past *past);
    /* As ht_gradient_look; NULL: steps keep what is needed. */
    enum ht_err (*look)(struct ht_fd_past *past, int64_t step);
    /* For n = N, N - 1 .. 1: the forward stepper has its values of n - 1, the increments sign (u(n)
     * - u(n - 1)) and the number of steps n - 1, as before step n. */
    enum ht_err (*show)(struct ht_fd_past *past, int64_t n);
    /* After the last one that is shown, also where that failed; NULL: nothing. */
    void (*end)(struct ht_fd_past *past);
    void (*destroy)(struct ht_fd_past *past);
};

/* ---- fd_shell.c: by the run backwards ---- */
struct ht_fd_shell_choice {
    int64_t steps;      /* of the forward run */
    int bits;           /* 16, or 0: those of the precision, or 16 of single precision: -1 */
    int every;          /* of the steps that are recorded; 0: chosen */
    const char *folder; /* of the file; NULL: in memory */
};
/* A shell of what steps change, before the layers: `inner` nodes are stepped back (of two terms the
 * stage is computed at `wide`), those of the boxes of `form` put back. */
struct ht_fd_shell {
    struct ht_fd_past past; /* of gradients alone */
    struct ht_fd_stepper *s;
    struct ht_fd_shell_choice choice;
    struct ht_fd_shell_form form;
    struct ht_fd_box inner, wide;  /* in the window; perhaps beyond it */
    struct ht_fd_records *records; /* NULL: there are none */
    struct ht_buffer *ring;        /* of slots, one for some of the records each */
    struct ht_tool *tool;          /* NULL: plain */
    /* Of the stepper while it goes forwards. */
    struct ht_passes passes;
    int depth;
    bool closed;
};
/* The members that need no memory, of a planned stepper. Refuses grids without inner nodes. */
HT_ERR ht_fd_shell_plan(struct ht_fd_stepper *s, const struct ht_fd_shell_choice *choice,
                        struct ht_fd_shell *out);
/* Bytes of memory of a planned shell; of all records, in memory or in a file. */
struct ht_fd_shell_bytes {
    int64_t host, device, records;
};
void ht_fd_shell_size(const struct ht_fd_shell *shell, struct ht_fd_shell_bytes *out);
HT_ERR ht_fd_shell_create(struct ht_fd_stepper *s, const struct ht_fd_shell_choice *choice,
                          struct ht_fd_shell **out);
void ht_fd_shell_destroy(struct ht_fd_shell *shell); /* NULL allowed; the stepper goes forwards */
/* The tasks HT_TASK_RECORD and HT_TASK_RESTORE; what a step back needs, before it. */
enum ht_err ht_fd_shell_take_step(void *stepper, const struct ht_task *task);
enum ht_err ht_fd_shell_put_step(void *stepper, const struct ht_task *task);
HT_ERR ht_fd_shell_need(struct ht_fd_shell *shell, int64_t step);
/* From the present state on, that of step 0, steps are recorded. */
HT_ERR ht_fd_shell_record(struct ht_fd_shell *shell);
/* After the last step N: the state becomes u(N-1) and -d(N); time steps lead back from u(n) and
 * -d(n+1) to u(n-1) and -d(n), outside of layers, as long as n > 0. Collective. */
HT_ERR ht_fd_shell_back(struct ht_fd_shell *shell);
/* The stepper goes forwards, from a state that is put next, and records nothing. */
void ht_fd_shell_leave(struct ht_fd_shell *shell);

/* ---- fd_layers.c: absorbing layers ---- */
/* The members of s->layers that need no memory. */
void ht_fd_layers_plan(struct ht_fd_stepper *s);
HT_ERR ht_fd_layers_create(struct ht_fd_stepper *s);
void ht_fd_layers_archive(struct ht_fd_stepper *s, struct ht_archive *archive);
/* They forget what steps have left, and wait for data. */
HT_ERR ht_fd_layers_clear(void *stepper);
/* Data of own plane m for layers along an axis, of its nodes and of the half points above them, as
 * in cl/fd_layers.cl. */
HT_ERR ht_fd_layers_put(struct ht_fd_stepper *s, int axis, int64_t m, const double *node,
                        const double *half);

/* ---- window, arrays, medium ---- */
/* The members that need no memory, of one field all. */
void ht_fd_stepper_plan(const struct ht_problem *problem, const struct ht_fd_engine *engine,
                        void *stepper);
/* The node of the grid whose value node m of an axis takes, for values that lie half a spacing up
 * along the axes of a parity: behind a wall the mirror image. */
int64_t ht_fd_inside(const struct ht_grid *grid, unsigned parity, int axis, int64_t m);
/* Planes [first, last) along x3 of ht_fd_problem.fill `what` so continued; neighbours are filled
 * together. */
HT_ERR ht_fd_fill_planes(const struct ht_problem *problem, int what, unsigned parity, int64_t first,
                         int64_t last, double *out);
/* ht_fd_problem.fill of `first` to `last` - 1, so continued, in the window. */
HT_ERR ht_fd_fill_arrays(struct ht_fd_stepper *s, int first, int last, unsigned parity,
                         struct ht_buffer *const *to);
/* ht_fd_problem.fill of a plan's frame, medium: the plan; of problem->fd.number, medium: the
 * problem. */
HT_ERR ht_fd_fill_frame(const void *medium, int what, int64_t first, int64_t last, double *out);
HT_ERR ht_fd_fill_numbers(const void *medium, int what, int64_t first, int64_t last, double *out);
/* Planes to fill at once: averages along x3 begin anew with each fill. */
int64_t ht_fd_block_planes(const struct ht_grid *grid);

struct ht_pack_format ht_fd_format(const struct ht_problem *problem, bool fp64);

/* ---- pair.c: first-order systems by a pair of groups of fields (struct ht_pair) ---- */
/* Group 0 is at times n - 1/2, group 1 at n; a field's value number m is that at its place in the
 * cell of node m. Where walls end an axis, the last value between nodes is the image of the one
 * before: it is stepped as the others are, and to the same bits. */
struct ht_pair_stepper {
    struct ht_fd_stepper fd; /* window, engine, sums: its arrays and its law have no memory */
    struct ht_pair pair;
    unsigned coupled;  /* fields that share coefficients with others */
    unsigned constant; /* bit i: coefficient i is number[i] everywhere */
    struct ht_pair_arrays on;
    /* spare[i] is rate[f] of the fields of group 1, with two terms in time of all, and on.solved[f]
     * of coupled ones; group 0's have the same as group 1's. */
    int spares;
    struct ht_buffer *spare[2 * HT_MAX_FIELDS];
    int sides[HT_MAX_FIELDS][3][2];  /* of ht_fd_ghosts_fill */
    struct ht_fd_closure closure[2]; /* of each group; without nodes where no side is closed */
    enum ht_pair_damping damping;
    struct ht_pair_layers layers;
    bool remembers;                /* memories and partners are not 0 */
    struct ht_pair_meets meets[2]; /* of each group: no points, no couplings */
    struct ht_pair_met *met[2];    /* on a device */
};
/* ---- pair_faces.c: couplings of fields at different places ---- */
/* What is listed on some planes of the grid: of each entry its node of the plane, what raises the
 * step's bound, and its couplings. */
struct ht_pair_faces {
    const struct ht_grid *grid;
    struct ht_pair pair;
    struct ht_pair_listed {
        bool used;
        double share;                   /* of the grid's points */
        int couplings, coupling;        /* how many, number of the first */
        int64_t count, room[3], *first; /* [plane] the first entry there; and the end */
        int *node;
        double *excess, *value; /* [entry], [entry][coupling] */
    } listed[2];                /* of each group */
};
/* On own planes and `more` beyond to either side; problem->fd.fill has the couplings, too. A group
 * with more than a third of the points listed has none. Collective. */
HT_ERR ht_pair_faces_find(const struct ht_problem *problem, const struct ht_pair *pair,
                          int64_t more, struct ht_pair_faces **out);
/* Whether a group has couplings. NULL: no. */
bool ht_pair_faces_use(const struct ht_pair_faces *faces, int group);
/* Multiplies values of coefficient `what` on planes of the grid as the step's bound needs them. */
HT_ERR ht_pair_faces_raise(const struct ht_pair_faces *faces, int what, int64_t first, int64_t last,
                           double *out);
/* In a box of field `to`, n[k] points from low[k] on: += what the couplings of the medium make
 * there of so much of field `from` at a node. Beyond a wall there is nothing; a periodic axis goes
 * on. */
struct ht_pair_spread {
    const struct ht_pair_faces *faces;
    const struct ht_equations *eq;
    int from, to;
    const int64_t *low, *n;
    double *sum;
};
void ht_pair_faces_spread(const struct ht_pair_spread *spread, const int64_t node[3],
                          double weight);
/* The lists of a planned stepper; nothing where the group has no couplings. */
HT_ERR ht_pair_meets_make(const struct ht_pair_stepper *s, int group, struct ht_pair_meets *out);
void ht_pair_meets_free(struct ht_pair_meets *meets);
/* What of them the targets of a task need. */
void ht_pair_meets_range(const struct ht_pair_task *t, int64_t point[2], int64_t target[2]);
/* Planes of the medium that the bound of the step reads beyond own ones. */
int64_t ht_pair_bound_planes(const struct ht_problem *problem);
/* Numbers of some fields among themselves, and C between them, of coefficients `apart` numbers from
 * each other; returns how many they are (pair_surface.c). */
int ht_pair_block(const struct ht_pair *pair, unsigned fields, const double *coefficient,
                  int64_t apart, int number[HT_MAX_FIELDS], double c[HT_MAX_FIELDS][HT_MAX_FIELDS]);
/* Coefficient c, an array or a number, on planes of the grid. */
HT_ERR ht_pair_fill(const struct ht_pair_stepper *s, int c, int64_t first, int64_t last,
                    double *out);
/* Of the plain engine, at a node of the window; c -1: 0. */
double ht_pair_coefficient_at(const struct ht_pair_stepper *s, int c, int64_t at);
/* Into cleared members (pair_run.c). */
HT_ERR ht_pair_find_energy(struct ht_pair_stepper *s, double time, struct ht_state *out);
/* pair_surface.c: what lies on sides with nothing beyond them (HT_WALL_CLOSED), of which free ones
 * are the only kind. */
/* The side's node of its axis; of others HT_PAIR_FAR beyond them. */
int64_t ht_pair_surface(const struct ht_grid *grid, int axis, int side);
/* The members that need no memory. */
void ht_pair_surface_plan(struct ht_pair_stepper *s);
/* Ends that are marked and lie on free sides get the weights of a field's places. */
void ht_pair_surface_weigh(const struct ht_pair_stepper *s, int field, struct ht_fd_ends *ends);
/* Bit k: node m of the window is on a free side normal to axis k. */
unsigned ht_pair_surface_at(const struct ht_pair_stepper *s, const int64_t m[3]);
/* The same of a value of a parity at node m of the grid, which only one at nodes is on. */
unsigned ht_pair_surface_on(const struct ht_pair_stepper *s, unsigned parity, const int64_t m[3]);
/* Changes of a group, [field], become those with which normal stresses on these sides do not
 * change; coefficient: [coefficient], at the node. */
void ht_pair_surface_release(const struct ht_pair_stepper *s, unsigned sides, bool absolute,
                             const double *coefficient, double *change);
/* Coefficients of a parity, [coefficient][node] of planes [first, last) of the grid. */
HT_ERR ht_pair_read(const struct ht_pair_stepper *s, unsigned parity, int64_t first, int64_t last,
                    double *out);
/* The fields that take what drives a field, and how much of 1 each takes at a node of the grid: of
 * coupled ones on free sides stresses become those with which normal stresses do not change. own:
 * of what drives it times the medium there, C of coupled ones. coefficient: those of the field's
 * parity on the node's plane, as read; of more than the field itself alone they are needed. */
unsigned ht_pair_takers(const struct ht_pair_stepper *s, int from, bool own);
void ht_pair_shares(const struct ht_pair_stepper *s, const int64_t m[3], int from, bool own,
                    const double *coefficient, double out[HT_MAX_FIELDS]);
/* Data of some fields, [field][node] of such planes, become those of a solid with free sides: 0
 * beyond them, and on them as ht_pair_surface_release says. All coupled fields are among them, or
 * none. */
HT_ERR ht_pair_surface_meet(const struct ht_pair_stepper *s, unsigned fields, int64_t first,
                            int64_t last, double *values);
/* The ghosts of a box of some fields' arrays; edges: with those where ghosts of two axes, or of one
 * and planes of a neighbour meet. */
HT_ERR ht_pair_ghosts(struct ht_pair_stepper *s, unsigned fields, const struct ht_fd_box *box,
                      bool edges, struct ht_buffer *const *array);
/* pair_losses.c: losses at a point. Those that a group has, by plain loops: sum[f], what a field f
 * is to change at node m of the window, number at, before them. whole: in a step, with the fields
 * and what they remember; else they are of a further change alone, and add to what is remembered.
 */
void ht_pair_lose(const struct ht_pair_task *t, bool whole, const int64_t m[3], int64_t at,
                  double sum[HT_MAX_FIELDS]);
/* What is remembered at a node takes what is at rest with a change of a field by couplings. */
void ht_pair_rest(const struct ht_pair_stepper *s, int row, int64_t at, double change);
/* Whether a group has any. */
bool ht_pair_loses(const struct ht_pair *pair, int group);
enum ht_pair_damping ht_pair_damping_of(const struct ht_problem *problem);
/* Refuses fewer cells than the stencil reaches over. */
HT_ERR ht_fd_check_points(const struct ht_plan *plan);
extern const struct ht_fd_engine_ops ht_fd_device_ops, ht_fd_plain_ops;
