/* The parts of this program: for --version and error reports. */
#include "commands.h"
#include "htwave/device.h"
#include "htwave/h5.h"
#include "htwave/json.h"
#include "htwave/output.h"

/* The Makefile sets it where it knows the commit. */
#ifndef HT_COMMIT
#define HT_COMMIT ""
#endif

struct facts {
    char hdf5[32], mpi[128];
    const char *cairo; /* its version; NULL: not built */
    bool gemm;
};

static struct facts collect(void) {
    struct facts facts = {.gemm = ht_device_no_gemm("opencl") == NULL, .cairo = ht_picture_cairo()};
    ht_h5_version(facts.hdf5, sizeof facts.hdf5);
    ht_comm_library(facts.mpi, sizeof facts.mpi);
    return facts;
}

static void add_text(const struct facts *facts, struct ht_text *text) {
    const char *commit = *HT_COMMIT ? HT_COMMIT : "unknown";
    const char *name;
    ht_text_add(text, "htwave %s\n  commit     %s\n  back ends  ", HT_VERSION, commit);
    for (int i = 0; (name = ht_device_backend(i)) != NULL; i++)
        ht_text_add(text, "%s%s, ", name, ht_device_built(name) ? "" : " (not built)");
    ht_text_add(text, "oracle; CLBlast%s\n", facts->gemm ? "" : " (not built)");
    ht_text_add(text, "  HDF5       %s, %s\n", facts->hdf5,
                ht_h5_parallel() ? "parallel"
                                 : "not parallel: no snapshots of several "
                                   "ranks");
    ht_text_add(text, "  MPI        %s\n", facts->mpi);
    ht_text_add(text, "  pictures   %s%s\n", facts->cairo ? "cairo " : "none",
                facts->cairo ? facts->cairo : ", built without cairo");
}

static void add_json(const struct facts *facts, struct ht_json *json) {
    const char *name;
    ht_json_open(json, NULL, '{');
    ht_json_string(json, "version", HT_VERSION);
    ht_json_string(json, "commit", *HT_COMMIT ? HT_COMMIT : NULL);
    ht_json_open(json, "backends", '[');
    for (int i = 0; (name = ht_device_backend(i)) != NULL; i++)
        if (ht_device_built(name)) ht_json_string(json, NULL, name);
    ht_json_string(json, NULL, "oracle");
    ht_json_close(json, ']');
    ht_json_bool(json, "clblast", facts->gemm);
    ht_json_string(json, "hdf5", facts->hdf5);
    ht_json_bool(json, "hdf5_parallel", ht_h5_parallel());
    ht_json_string(json, "mpi", facts->mpi);
    ht_json_string(json, "cairo", facts->cairo);
    ht_json_close(json, '}');
    ht_json_end(json);
}

enum ht_err ht_version_print(bool as_json) {
    struct facts facts = collect();
    struct ht_json json = {0};
    struct ht_text text = {0};
    if (as_json)
        add_json(&facts, &json);
    else
        add_text(&facts, &text);
    return ht_json_or_text(&json, &text, as_json);
}
