/* The parts of this program: for --version and error reports. */
#include "app.h"
#include "htwave/device.h"
#include "htwave/h5.h"

/* The Makefile sets it where it knows the commit. */
#ifndef HT_COMMIT
#define HT_COMMIT ""
#endif

enum ht_err ht_version_print(bool as_json) {
    const char *commit = *HT_COMMIT ? HT_COMMIT : NULL, *cairo = ht_picture_cairo(), *name;
    const bool gemm = ht_device_no_gemm("opencl") == NULL, parallel = ht_h5_parallel();
    char hdf5[32], mpi[128];
    struct ht_facts f = ht_facts_open();
    ht_h5_version(hdf5, sizeof hdf5);
    ht_comm_library(mpi, sizeof mpi);
    ht_say(&f, "htwave %s\n  commit     %s\n  back ends  ", HT_VERSION,
           commit ? commit : "unknown");
    ht_fact(&f, string, "version", HT_VERSION);
    ht_fact(&f, string, "commit", commit);
    ht_fact(&f, open, "backends", '[');
    for (int i = 0; (name = ht_device_backend(i)) != NULL; i++) {
        const bool built = ht_device_built(name);
        ht_say(&f, "%s%s, ", name, built ? "" : " (not built)");
        if (built) ht_fact(&f, string, NULL, name);
    }
    ht_fact(&f, string, NULL, "oracle");
    ht_fact(&f, close, ']');
    ht_fact(&f, bool, "clblast", gemm);
    ht_fact(&f, string, "hdf5", hdf5);
    ht_fact(&f, bool, "hdf5_parallel", parallel);
    ht_fact(&f, string, "mpi", mpi);
    ht_fact(&f, string, "cairo", cairo);
    ht_say(&f, "oracle; CLBlast%s\n", gemm ? "" : " (not built)");
    ht_say(&f, "  HDF5       %s, %s\n", hdf5,
           parallel ? "parallel" : "not parallel: no snapshots of several ranks");
    ht_say(&f, "  MPI        %s\n", mpi);
    ht_say(&f, "  pictures   %s%s\n", cairo ? "cairo " : "none",
           cairo ? cairo : ", built without cairo");
    return ht_facts_print(&f, as_json);
}
