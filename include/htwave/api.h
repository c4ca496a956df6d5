/* The library of htwave for programs: waves through a model that the program holds
 * (docs/library.md).
 *
 * A handle is a run described as in an input file (docs/options.md), whose model and signals the
 * program may replace between calls. Several handles may exist; each is used by one thread at a
 * time. Nothing is printed, no signal is taken, no file is written but the cache of compiled
 * kernels.
 *
 * All functions return 0 or a code; ht_api_error then has the message of this thread's last
 * failure, which names key, value and rule. A handle may be used on or closed after that. */
#ifndef HTWAVE_API_H
#define HTWAVE_API_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HT_API __attribute__((visibility("default")))

/* Grows with functions that are added; what changes otherwise gives the library another soname. */
enum { HT_API_VERSION = 1 };

enum {
    HT_API_OK = 0,
    HT_API_INPUT = 1,       /* the input, or an argument, breaks a stated rule */
    HT_API_MEMORY = 2,      /* of the host */
    HT_API_DEVICE = 3,      /* device, driver, kernels, device memory */
    HT_API_IO = 4,          /* files */
    HT_API_NOT_FINITE = 5,  /* the waves have grown without bound */
    HT_API_INTERRUPTED = 7, /* by ht_api_stop's function, or that of ht_api_snapshots */
    HT_API_INTERNAL = 10    /* a bug of htwave; so are codes not listed */
};

typedef struct ht_api ht_api;

HT_API int ht_api_version(void);         /* HT_API_VERSION of the library that is loaded */
HT_API const char *ht_api_release(void); /* "0.1.0" */
/* Never NULL; valid until this thread's next call. */
HT_API const char *ht_api_error(void);

/* input: the name of an input file; the text of one, which has a line break; or NULL: all keys have
 * their defaults. key: `keys` settings "grid.order=4", as on the command line, which come after it.
 * Model files are read here; no device is touched. */
HT_API int ht_api_open(const char *input, int keys, const char *const *key, ht_api **out);
HT_API void ht_api_close(ht_api *api); /* NULL allowed */

/* Asked between batches of steps, about five times per second, in the thread of the call: other
 * than 0 ends it with HT_API_INTERRUPTED. NULL: nothing ends it. */
HT_API void ht_api_stop(ht_api *api, int (*stop)(void *context), void *context);
/* Gets notes and warnings ("warning: .."), else lost; of the first model's plan alone. */
HT_API void ht_api_messages(ht_api *api, void (*take)(void *context, const char *text),
                            void *context);

/* ---- the model: parameters given as files or, with medium.type = "memory", as any word ---- */

/* Of array number `index`, from 0 on; HT_API_INPUT behind the last. */
HT_API int ht_api_model_name(ht_api *api, int index, char name[64]);
/* *rank, and the extents of its array, slowest axis first, as numpy and HDF5 have them; the last
 * one is along x1, unless medium.axes says otherwise. */
HT_API int ht_api_model_shape(ht_api *api, const char *parameter, int *rank, int64_t shape[3]);
/* Values in this order, in the file's units (before medium.scale). Copied; HT_API_INPUT where they
 * are not finite or the medium forbids one, as a speed below 0. */
HT_API int ht_api_model_get(ht_api *api, const char *parameter, double *values);
HT_API int ht_api_model_set(ht_api *api, const char *parameter, const double *values);

/* The signal of source `source` of the list "sources", from 0 on: values of equal distance from
 * time 0 on, at least 4, between them a cubic spline, 0 elsewhere. Copied; all is planned anew. */
HT_API int ht_api_signal_set(ht_api *api, int source, int64_t count, double apart,
                             const double *values);

/* ---- shots, from 0 on ---- */
HT_API int ht_api_shots(ht_api *api, int *count);
HT_API int ht_api_time(ht_api *api, double *step, int64_t *steps, double *end);

/* What the receivers of one group of the list "receivers" record in a shot: `receivers` times
 * `readings` traces. */
struct ht_api_group {
    char name[64];
    int64_t receivers, readings;
    int64_t samples;
    double start, every; /* times start + every i */
};
HT_API int ht_api_groups(ht_api *api, int shot, int *count);
HT_API int ht_api_group(ht_api *api, int shot, int group, struct ht_api_group *out);
/* x[receiver][3]; axes that the grid does not have are 0. */
HT_API int ht_api_positions(ht_api *api, int shot, int group, double *x);
/* "p", of reading 0 .. readings - 1. */
HT_API int ht_api_reading(ht_api *api, int shot, int group, int reading, char name[64]);

/* ---- runs ---- */

/* Gets the fields between steps, at the steps nearest to multiples of `every` (0: none) and at the
 * end, until the next call of ht_api_snapshots: values[shape[0]][shape[1]][shape[2]] of a field, x1
 * fastest, which live as long as the call. Other than 0 ends the run with HT_API_INTERRUPTED. */
struct ht_api_snapshot {
    const char *field;
    int64_t step;
    double time;
    int rank;
    int64_t shape[3];
    double lower[3], spacing[3]; /* along x1, x2, x3 */
    const double *values;
};
typedef int ht_api_snapshot_take(void *context, const struct ht_api_snapshot *snapshot);
HT_API int ht_api_snapshots(ht_api *api, double every, ht_api_snapshot_take *take, void *context);

/* Traces of a shot: groups one after the other, each [reading][receiver][sample]. record: for
 * ht_api_backward, without snapshots; else 0. */
HT_API int ht_api_forward(ht_api *api, int shot, int record, double *traces);

/* ---- gradients (docs/gradients.md) by arrays of the model, at these values ---- */

/* The parameters, gradient[i] below; at first all arrays. */
HT_API int ht_api_parameters(ht_api *api, int count, const char *const *parameter);
/* Of the last gradient, on the array of parameter i: how much of the sources' waves each sample
 * has seen, by which a gradient may be divided. */
HT_API int ht_api_illumination(ht_api *api, int parameter, double *illumination);
/* residual: the derivative of a number by the traces of the last ht_api_forward, which was with
 * `record` and of this model; gradient[i]: its derivative by array i, like ht_api_model_get. NULL:
 * not wanted. Once for each record. */
HT_API int ht_api_backward(ht_api *api, const double *residual, double *const *gradient);
/* Directly after it: the derivative of the same number by each of the *count values of the signal
 * (ht_api_signal_set, or a file) of a source of the shot, which are numbered from 0 on in the
 * shot's order. NULL: not wanted. */
HT_API int ht_api_backward_signal(ht_api *api, int source, int64_t *count, double *gradient);
/* The misfits of all shots to data, the traces of the shots one after the other: chi[shot]. type:
 * "l2", "correlation" or "envelope"; weights like data, or NULL. Data of a shot that are all 0 are
 * refused. gradient: of their sum; NULL: not wanted. */
HT_API int ht_api_misfit(ht_api *api, const char *type, const double *data, const double *weights,
                         double *chi, double *const *gradient);

#ifdef __cplusplus
}
#endif
#endif
