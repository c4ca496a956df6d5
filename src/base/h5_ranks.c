/* Files that all ranks of a run write together, by HDF5 over MPI.
 *
 * HDF5 waits for the other ranks inside its collective calls, and a rank whose call has failed does
 * not always reach the point where the others wait: a collective H5Dwrite that fails on one rank
 * leaves the others in MPI_File_set_view; metadata that cannot be written leave them in a barrier
 * (seen in the sources of 1.10). So only opening and closing are collective here. The metadata are
 * complete before the ranks open the file: one process has written them through h5_disk.c. Each
 * rank writes its values by independent transfers. Its part of a dataset is one contiguous piece of
 * the file, or one per coefficient, so independent transfers cost nothing.
 */
#include "h5_private.h"

#include <stdlib.h>
#include <string.h>

enum ht_err ht_h5_share(struct ht_h5 *file, const char **name) {
    ht_h5_shut(file);
    REQUIRE(!file->error, HT_ERR_IO, "cannot write %s: %s", file->path, ht_h5_reason(file->error));
    *name = file->temporary;
    return HT_OK;
}

void ht_h5_version(char *buffer, size_t size) {
    unsigned version[3] = {0};
    (void)H5get_libversion(&version[0], &version[1], &version[2]);
    snprintf(buffer, size, "%u.%u.%u", version[0], version[1], version[2]);
}

#ifdef H5_HAVE_PARALLEL
bool ht_h5_parallel(void) {
    return true;
}

/* Both calls wait for all ranks: the first one duplicates the communicator. */
static hid_t open_together(const struct ht_h5 *file) {
    if (H5Pset_fapl_mpio(file->access, MPI_COMM_WORLD, MPI_INFO_NULL) < 0) return H5I_INVALID_HID;
    return H5Fopen(file->temporary, H5F_ACC_RDWR, file->access);
}
#else
bool ht_h5_parallel(void) {
    return false;
}

static hid_t open_together(const struct ht_h5 *file) {
    (void)file;
    return H5I_INVALID_HID;
}
#endif

static enum ht_err make_ready(const char *name, const char *path, struct ht_h5 *file) {
    file->id = H5I_INVALID_HID;
    REQUIRE(ht_h5_parallel(), HT_ERR_IO,
            "cannot write %s: the HDF5 library was built without MPI, which "
            "files of several ranks need",
            path);
    TRY(ht_text_copy(path, &file->path));
    TRY(ht_text_copy(name, &file->temporary));
    file->access = H5Pcreate(H5P_FILE_ACCESS);
    REQUIRE(file->access > 0, HT_ERR_MEMORY, "cannot write %s: HDF5 has no memory for it", path);
    return HT_OK;
}

static void forget_access(struct ht_h5 *file) {
    if (file->access > 0) H5Pclose(file->access);
    file->access = 0;
}

void ht_h5_unready(struct ht_h5 *file) {
    if (file == NULL) return;
    forget_access(file);
    ht_h5_free(file);
}

enum ht_err ht_h5_ready(const char *name, const char *path, struct ht_h5 **out) {
    ht_h5_quiet();
    *out = NULL;
    struct ht_h5 *file;
    TRY(HT_ALLOC(file, 1));
    enum ht_err err = make_ready(name, path, file);
    return HT_MADE(err, file, ht_h5_unready, out);
}

enum ht_err ht_h5_join(struct ht_h5 *file) {
    file->id = open_together(file);
    forget_access(file);
    REQUIRE(file->id >= 0, HT_ERR_IO, "cannot write %s: the ranks cannot open it together",
            file->path);
    return HT_OK;
}

enum ht_err ht_h5_leave(struct ht_h5 *file) {
    ht_h5_shut(file);
    enum ht_err err = HT_OK;
    if (file->error)
        err = ht_err_set(HT_ERR_IO, "cannot write %s: %s", file->path, ht_h5_reason(file->error));
    /* on each rank: its values may still be in the memory of this machine only
     */
    if (!err) err = ht_file_sync(file->temporary, file->path);
    ht_h5_free(file);
    return err;
}
