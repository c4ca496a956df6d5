/* HDF5 files: datasets of doubles, attributes of the root group.
 *
 * Files that are written go through a small virtual file driver of our own.
 * The reason: HDF5 keeps metadata in a cache until the file is closed, and a
 * file whose metadata cannot be written (disk full) can not be closed: the
 * handle stays half open and the library crashes on it when the process ends
 * (seen with 1.10.8). The driver below remembers the first error of the
 * system, then takes all further writes without doing them, so that HDF5
 * always closes cleanly; the error is reported by us, and the temporary file
 * never gets its name.
 *
 * Invariants: a handle of HDF5 opened in a function is closed there on every
 * path, except the file's; struct ht_h5 of a created file owns the temporary
 * name until commit or discard.
 */
#include "htwave/h5.h"

#define H5_USE_110_API /* later versions keep the types of 1.10 under it */
#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

struct ht_h5 {
    hid_t id, driver;       /* driver: held while the file is open */
    char *path, *temporary; /* temporary: NULL for a file opened to read */
    int error;              /* first errno of the driver */
};

/* ---- the driver ---- */

struct disk {
    H5FD_t base; /* first, filled by HDF5 */
    int fd;
    int *error;       /* in struct ht_h5, which outlives the driver's file */
    haddr_t eoa, eof; /* end of the allocated addresses, of the file */
};

/* The driver's property is the address of ht_h5.error. */
static H5FD_t *disk_open(const char *name, unsigned flags, hid_t fapl,
                         haddr_t maxaddr) {
    (void)flags, (void)maxaddr;
    int *const *error = H5Pget_driver_info(fapl);
    if (!error) return NULL;
    struct disk *disk = calloc(1, sizeof *disk);
    if (!disk) {
        **error = ENOMEM;
        return NULL;
    }
    disk->error = *error;
    disk->fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (disk->fd < 0) {
        **error = errno;
        free(disk);
        return NULL;
    }
    return &disk->base;
}

static herr_t disk_close(H5FD_t *file) {
    struct disk *disk = (struct disk *)file;
    /* network file systems report a full disk here */
    if (close(disk->fd) != 0 && !*disk->error) *disk->error = errno;
    free(disk);
    return 0;
}

static herr_t disk_query(const H5FD_t *file, unsigned long *flags) {
    (void)file;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA |
             H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA |
             H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t disk_get_eoa(const H5FD_t *file, H5FD_mem_t type) {
    (void)type;
    return ((const struct disk *)file)->eoa;
}

static herr_t disk_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t address) {
    (void)type;
    ((struct disk *)file)->eoa = address;
    return 0;
}

static haddr_t disk_get_eof(const H5FD_t *file, H5FD_mem_t type) {
    (void)type;
    return ((const struct disk *)file)->eof;
}

static herr_t disk_read(H5FD_t *file, H5FD_mem_t type, hid_t dxpl,
                        haddr_t address, size_t size, void *buffer) {
    (void)type, (void)dxpl;
    struct disk *disk = (struct disk *)file;
    char *to = buffer;
    while (size > 0) {
        ssize_t n = pread(disk->fd, to, size, (off_t)address);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && !*disk->error) *disk->error = errno;
        if (n <= 0) break;
        to += n;
        address += (haddr_t)n;
        size -= (size_t)n;
    }
    memset(to, 0, size); /* past the end HDF5 expects zeros */
    return 0;
}

static herr_t disk_write(H5FD_t *file, H5FD_mem_t type, hid_t dxpl,
                         haddr_t address, size_t size, const void *buffer) {
    (void)type, (void)dxpl;
    struct disk *disk = (struct disk *)file;
    const char *from = buffer;
    if (address + size > disk->eof) disk->eof = address + size;
    while (size > 0 && !*disk->error) {
        ssize_t n = pwrite(disk->fd, from, size, (off_t)address);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            *disk->error = n < 0 ? errno : ENOSPC;
            break;
        }
        from += n;
        address += (haddr_t)n;
        size -= (size_t)n;
    }
    return 0;
}

static herr_t disk_truncate(H5FD_t *file, hid_t dxpl, hbool_t closing) {
    (void)dxpl, (void)closing;
    struct disk *disk = (struct disk *)file;
    if (disk->eof == disk->eoa) return 0;
    if (!*disk->error && ftruncate(disk->fd, (off_t)disk->eoa) != 0)
        *disk->error = errno;
    disk->eof = disk->eoa;
    return 0;
}

static const H5FD_class_t disk_class = {
#ifdef H5FD_CLASS_VERSION
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)600, /* above the library's own 0..511 */
#endif
    .name = "htwave_disk",
    .maxaddr = ((haddr_t)1 << 62) - 1,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(int *),
    .open = disk_open,
    .close = disk_close,
    .query = disk_query,
    .get_eoa = disk_get_eoa,
    .set_eoa = disk_set_eoa,
    .get_eof = disk_get_eof,
    .read = disk_read,
    .write = disk_write,
    .truncate = disk_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

/* ---- files ---- */

static const char *reason(int error) {
    return error ? strerror(error) : "HDF5 refused it";
}

static void quiet(void) {
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

static void file_free(struct ht_h5 *file) {
    free(file->temporary);
    free(file->path);
    free(file);
}

static void drop_driver(struct ht_h5 *file) {
    if (file->driver > 0) H5FDunregister(file->driver);
    file->driver = 0;
}

static hid_t create_through_disk(struct ht_h5 *file) {
    file->driver = H5FDregister(&disk_class);
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    int *property = &file->error;
    hid_t id = H5I_INVALID_HID;
    if (file->driver > 0 && fapl >= 0 &&
        H5Pset_driver(fapl, file->driver, &property) >= 0)
        id = H5Fcreate(file->temporary, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    if (fapl >= 0) H5Pclose(fapl);
    return id;
}

static enum ht_err create_file(const char *path, struct ht_h5 *file) {
    TRY(ht_text_copy(path, &file->path));
    TRY(ht_file_temporary(path, &file->temporary));
    file->id = create_through_disk(file);
    if (file->id < 0) {
        drop_driver(file);
        unlink(file->temporary);
        FAIL(HT_ERR_IO, "cannot create %s: %s", path, reason(file->error));
    }
    return HT_OK;
}

enum ht_err ht_h5_create(const char *path, struct ht_h5 **out) {
    quiet();
    *out = NULL;
    struct ht_h5 *file;
    TRY(HT_ALLOC(file, 1));
    enum ht_err err = create_file(path, file);
    if (err)
        file_free(file);
    else
        *out = file;
    return err;
}

static void file_close(struct ht_h5 *file) {
    if (H5Fclose(file->id) < 0 && !file->error) file->error = EIO;
    file->id = H5I_INVALID_HID;
    /* not before: HDF5 reads the class of a driver while it closes a file
     * that held the last count of it */
    drop_driver(file);
}

enum ht_err ht_h5_commit(struct ht_h5 *file) {
    file_close(file);
    enum ht_err err = HT_OK;
    if (file->error)
        err = ht_err_set(HT_ERR_IO, "cannot write %s: %s", file->path,
                         reason(file->error));
    if (!err) err = ht_file_commit(file->temporary, file->path);
    if (err) unlink(file->temporary);
    file_free(file);
    return err;
}

void ht_h5_discard(struct ht_h5 *file) {
    if (!file) return;
    /* from here on nothing needs to reach the disk */
    if (!file->error) file->error = ECANCELED;
    file_close(file);
    unlink(file->temporary);
    file_free(file);
}

/* Without locks: reading must work on file systems that have none. */
static hid_t open_unlocked(const char *path) {
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    if (fapl < 0) return fapl;
    hid_t id = H5I_INVALID_HID;
    if (H5Pset_file_locking(fapl, false, true) >= 0 &&
        H5Pset_fclose_degree(fapl, H5F_CLOSE_STRONG) >= 0)
        id = H5Fopen(path, H5F_ACC_RDONLY, fapl);
    H5Pclose(fapl);
    return id;
}

static enum ht_err open_file(const char *path, struct ht_h5 *file) {
    TRY(ht_text_copy(path, &file->path));
    REQUIRE(access(path, R_OK) == 0, HT_ERR_IO, "cannot read %s: %s", path,
            strerror(errno));
    file->id = open_unlocked(path);
    REQUIRE(file->id >= 0, HT_ERR_IO,
            "cannot read %s: it is not an HDF5 file, or it is damaged", path);
    return HT_OK;
}

enum ht_err ht_h5_open(const char *path, struct ht_h5 **out) {
    quiet();
    *out = NULL;
    struct ht_h5 *file;
    TRY(HT_ALLOC(file, 1));
    enum ht_err err = open_file(path, file);
    if (err)
        file_free(file);
    else
        *out = file;
    return err;
}

void ht_h5_close(struct ht_h5 *file) {
    if (!file) return;
    file_close(file);
    file_free(file);
}

/* ---- datasets ---- */

static bool write_values(const struct ht_h5 *file, const char *name,
                         hid_t space, const double *data, bool single) {
    bool ok = false;
    hid_t links = H5Pcreate(H5P_LINK_CREATE);
    if (links < 0) return false;
    if (H5Pset_create_intermediate_group(links, 1) >= 0) {
        hid_t type = single ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
        hid_t set = H5Dcreate2(file->id, name, type, space, links, H5P_DEFAULT,
                               H5P_DEFAULT);
        if (set >= 0) {
            ok = H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                          data) >= 0;
            ok = H5Dclose(set) >= 0 && ok;
        }
    }
    H5Pclose(links);
    return ok;
}

enum ht_err ht_h5_write(struct ht_h5 *file, const char *name, int rank,
                        const int64_t *extent, const double *data,
                        bool single) {
    REQUIRE(rank >= 1 && rank <= 8, HT_ERR_INTERNAL,
            "%s: dataset %s has rank %d, must be 1..8", file->path, name, rank);
    hsize_t size[8];
    for (int i = 0; i < rank; i++) size[i] = (hsize_t)extent[i];
    hid_t space = H5Screate_simple(rank, size, NULL);
    bool ok = space >= 0 && write_values(file, name, space, data, single);
    if (space >= 0) H5Sclose(space);
    REQUIRE(ok && !file->error, HT_ERR_IO, "cannot write dataset %s of %s: %s",
            name, file->path, reason(file->error));
    return HT_OK;
}

/* Opens a dataset and its space; both are the caller's to close. */
static enum ht_err open_set(struct ht_h5 *file, const char *name, hid_t *set,
                            hid_t *space) {
    *set = H5Dopen2(file->id, name, H5P_DEFAULT);
    REQUIRE(*set >= 0, HT_ERR_IO, "%s holds no dataset %s", file->path, name);
    *space = H5Dget_space(*set);
    if (*space < 0) {
        H5Dclose(*set);
        FAIL(HT_ERR_IO, "cannot read dataset %s of %s", name, file->path);
    }
    return HT_OK;
}

enum ht_err ht_h5_extent(struct ht_h5 *file, const char *name, int *rank,
                         int64_t extent[8]) {
    hid_t set, space;
    TRY(open_set(file, name, &set, &space));
    hsize_t size[8];
    int n = H5Sget_simple_extent_ndims(space);
    bool ok =
        n >= 0 && n <= 8 && H5Sget_simple_extent_dims(space, size, NULL) == n;
    H5Sclose(space);
    H5Dclose(set);
    REQUIRE(ok, HT_ERR_IO, "dataset %s of %s has more than 8 dimensions", name,
            file->path);
    for (int i = 0; i < n; i++) extent[i] = (int64_t)size[i];
    *rank = n;
    return HT_OK;
}

static bool is_number(hid_t set) {
    hid_t type = H5Dget_type(set);
    if (type < 0) return false;
    H5T_class_t class = H5Tget_class(type);
    H5Tclose(type);
    return class == H5T_INTEGER || class == H5T_FLOAT;
}

static enum ht_err read_set(const struct ht_h5 *file, const char *name,
                            hid_t set, hid_t space, double *data,
                            int64_t count) {
    int64_t stored = (int64_t)H5Sget_simple_extent_npoints(space);
    REQUIRE(stored == count, HT_ERR_IO,
            "dataset %s of %s holds %lld values, expected %lld", name,
            file->path, (long long)stored, (long long)count);
    REQUIRE(is_number(set), HT_ERR_IO, "dataset %s of %s does not hold numbers",
            name, file->path);
    REQUIRE(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                    data) >= 0,
            HT_ERR_IO, "cannot read dataset %s of %s: the file is damaged",
            name, file->path);
    return HT_OK;
}

enum ht_err ht_h5_read(struct ht_h5 *file, const char *name, int64_t count,
                       double *data) {
    hid_t set, space;
    TRY(open_set(file, name, &set, &space));
    enum ht_err err = read_set(file, name, set, space, data, count);
    H5Sclose(space);
    H5Dclose(set);
    return err;
}

/* ---- attributes ---- */

static enum ht_err set_attribute(const struct ht_h5 *file, const char *name,
                                 hid_t stored, hid_t space, hid_t memory,
                                 const void *value) {
    bool ok = false;
    if (H5Aexists(file->id, name) <= 0 || H5Adelete(file->id, name) >= 0) {
        hid_t id =
            H5Acreate2(file->id, name, stored, space, H5P_DEFAULT, H5P_DEFAULT);
        if (id >= 0) {
            ok = H5Awrite(id, memory, value) >= 0;
            ok = H5Aclose(id) >= 0 && ok;
        }
    }
    REQUIRE(ok && !file->error, HT_ERR_IO,
            "cannot write attribute %s of %s: %s", name, file->path,
            reason(file->error));
    return HT_OK;
}

enum ht_err ht_h5_set_number(struct ht_h5 *file, const char *name, int count,
                             const double *values) {
    hsize_t size = (hsize_t)count;
    hid_t space =
        count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &size, NULL);
    REQUIRE(space >= 0, HT_ERR_IO, "cannot write attribute %s of %s", name,
            file->path);
    enum ht_err err = set_attribute(file, name, H5T_IEEE_F64LE, space,
                                    H5T_NATIVE_DOUBLE, values);
    H5Sclose(space);
    return err;
}

enum ht_err ht_h5_set_text(struct ht_h5 *file, const char *name,
                           const char *value) {
    enum ht_err err = HT_ERR_IO;
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t type = H5Tcopy(H5T_C_S1);
    if (space >= 0 && type >= 0 && H5Tset_size(type, strlen(value) + 1) >= 0)
        err = set_attribute(file, name, type, space, type, value);
    else
        ht_err_set(err, "cannot write attribute %s of %s", name, file->path);
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
    return err;
}

static bool read_attribute(hid_t id, int count, double *values) {
    hid_t space = H5Aget_space(id);
    if (space < 0) return false;
    bool ok = H5Sget_simple_extent_npoints(space) == count &&
              H5Aread(id, H5T_NATIVE_DOUBLE, values) >= 0;
    H5Sclose(space);
    return ok;
}

enum ht_err ht_h5_get_number(struct ht_h5 *file, const char *name, int count,
                             double *values) {
    hid_t id = H5Aexists(file->id, name) > 0
                   ? H5Aopen(file->id, name, H5P_DEFAULT)
                   : H5I_INVALID_HID;
    REQUIRE(id >= 0, HT_ERR_IO, "%s has no attribute %s", file->path, name);
    bool ok = read_attribute(id, count, values);
    H5Aclose(id);
    REQUIRE(ok, HT_ERR_IO, "attribute %s of %s does not hold %d numbers", name,
            file->path, count);
    return HT_OK;
}

/* ---- visiting ---- */

struct visitor {
    enum ht_err (*visit)(const char *name, void *context);
    void *context;
    enum ht_err err;
};

static herr_t visit_object(hid_t group, const char *name,
                           const H5O_info_t *info, void *data) {
    (void)group;
    struct visitor *visitor = data;
    if (info->type != H5O_TYPE_DATASET) return 0;
    visitor->err = visitor->visit(name, visitor->context);
    return visitor->err ? 1 : 0; /* 1 stops without being an error of HDF5 */
}

enum ht_err ht_h5_each(struct ht_h5 *file,
                       enum ht_err (*visit)(const char *name, void *context),
                       void *context) {
    struct visitor visitor = {visit, context, HT_OK};
    herr_t result = H5Ovisit2(file->id, H5_INDEX_NAME, H5_ITER_INC,
                              visit_object, &visitor, H5O_INFO_BASIC);
    REQUIRE(result >= 0, HT_ERR_IO, "cannot list the datasets of %s",
            file->path);
    return visitor.err;
}
