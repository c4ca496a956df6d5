/* HDF5 files: datasets of doubles, attributes of the root group. A created file owns its temporary
 * name until publish, commit or discard. */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "htwave/h5.h"

#define H5_USE_110_API /* later versions keep the types of 1.10 under it */
#include <hdf5.h>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

/* A handle of any kind that is closed at the end of its block. */
#define HID HT_ENDED(end_id) hid_t
static void end_id(const hid_t *id) {
    if (*id >= 0) (void)H5Idec_ref(*id);
}

/* ---- file driver ---- */

/* Why not a driver of the library: HDF5 caches metadata until the file is closed. If they cannot be
 * written (disk full) the handle stays half open and the library crashes when the process ends
 * (seen with 1.10.8). This driver records the first system error and ignores all further writes. */

struct disk {
    H5FD_t base; /* first, filled by HDF5 */
    int fd;
    int error;        /* the first errno of a write */
    haddr_t eoa, eof; /* end of the allocated addresses, of the file */
    haddr_t kept;     /* for which the disk has room */
};

struct ht_h5 {
    struct disk disk;
    hid_t id;               /* H5I_INVALID_HID: shared out, closed */
    hid_t driver;           /* the file driver, held while the file is open */
    char *path, *temporary; /* temporary: NULL if opened to read, or published */
    bool checked;
};

/* The driver's property is the address of ht_h5.disk. */
static H5FD_t *disk_open(const char *name, HT_UNUSED unsigned flags, hid_t fapl,
                         HT_UNUSED haddr_t maxaddr) {
    struct disk *const *property = H5Pget_driver_info(fapl), *disk = *property;
    disk->fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (disk->fd < 0) disk->error = errno;
    return disk->fd < 0 ? NULL : &disk->base;
}

static herr_t disk_close(H5FD_t *file) {
    struct disk *disk = (struct disk *)file;
    /* network file systems report a full disk here */
    if (close(disk->fd) != 0 && !disk->error) disk->error = errno;
    return 0;
}

static herr_t disk_query(HT_UNUSED const H5FD_t *file, unsigned long *flags) {
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t disk_get_eoa(const H5FD_t *file, HT_UNUSED H5FD_mem_t type) {
    return ((const struct disk *)file)->eoa;
}

static herr_t disk_set_eoa(H5FD_t *file, HT_UNUSED H5FD_mem_t type, haddr_t address) {
    ((struct disk *)file)->eoa = address;
    return 0;
}

static haddr_t disk_get_eof(const H5FD_t *file, HT_UNUSED H5FD_mem_t type) {
    return ((const struct disk *)file)->eof;
}

static herr_t disk_read(H5FD_t *file, HT_UNUSED H5FD_mem_t type, HT_UNUSED hid_t dxpl,
                        haddr_t address, size_t size, void *buffer) {
    struct disk *disk = (struct disk *)file;
    char *to = buffer;
    while (size > 0) {
        ssize_t n = pread(disk->fd, to, size, (off_t)address);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && !disk->error) disk->error = errno;
        if (n <= 0) break;
        to += n;
        address += (haddr_t)n;
        size -= (size_t)n;
    }
    memset(to, 0, size); /* past the end HDF5 expects zeros */
    return 0;
}

/* Returns 0 or the system's error. */
static int write_at(int fd, haddr_t address, size_t size, const void *buffer) {
    const char *from = buffer;
    while (size > 0) {
        ssize_t n = pwrite(fd, from, size, (off_t)address);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? errno : ENOSPC;
        from += n;
        address += (haddr_t)n;
        size -= (size_t)n;
    }
    return 0;
}

static herr_t disk_write(H5FD_t *file, HT_UNUSED H5FD_mem_t type, HT_UNUSED hid_t dxpl,
                         haddr_t address, size_t size, const void *buffer) {
    struct disk *disk = (struct disk *)file;
    if (address + size > disk->eof) disk->eof = address + size;
    if (!disk->error) disk->error = write_at(disk->fd, address, size, buffer);
    return 0;
}

/* Called when a file is flushed or closed. Values that are written later (traces, slabs) find room
 * on the disk; file systems that cannot promise it say so by the first two errors. */
static herr_t disk_truncate(H5FD_t *file, HT_UNUSED hid_t dxpl, HT_UNUSED hbool_t closing) {
    struct disk *disk = (struct disk *)file;
    int error = 0;
    if (disk->eoa > disk->kept)
        error = posix_fallocate(disk->fd, (off_t)disk->kept, (off_t)(disk->eoa - disk->kept));
    if (error == EOPNOTSUPP || error == EINVAL) error = 0;
    if (error == 0 && disk->eof != disk->eoa && ftruncate(disk->fd, (off_t)disk->eoa) != 0)
        error = errno;
    if (!disk->error) disk->error = error;
    disk->eof = disk->kept = disk->eoa;
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
    .fapl_size = sizeof(struct disk *),
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

/* Creates file->temporary; negative when that failed. The groups of checked files would have times,
 * but equal runs write equal files. */
static hid_t disk_create(struct ht_h5 *file) {
    file->driver = H5FDregister(&disk_class);
    HID fapl = H5Pcreate(H5P_FILE_ACCESS), root = H5Pcreate(H5P_FILE_CREATE);
    HID sums = H5Pcreate(H5P_GROUP_CREATE);
    struct disk *property = &file->disk;
    if (file->driver <= 0 || fapl < 0 || H5Pset_driver(fapl, file->driver, &property) < 0)
        return H5I_INVALID_HID;
    if (!file->checked) return H5Fcreate(file->temporary, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    if (H5Pset_libver_bounds(fapl, H5F_LIBVER_V18, H5F_LIBVER_V18) < 0 ||
        H5Pset_obj_track_times(root, false) < 0 || H5Pset_obj_track_times(sums, false) < 0)
        return H5I_INVALID_HID;
    const hid_t id = H5Fcreate(file->temporary, H5F_ACC_TRUNC, root, fapl);
    HID group = id < 0 ? id : H5Gcreate2(id, "sums", H5P_DEFAULT, sums, H5P_DEFAULT);
    if (group < 0 && file->disk.error == 0) file->disk.error = EIO;
    return id;
}

/* ---- damaged files ---- */

/* HDF5 follows addresses in some damaged files to where there is no memory (1.10.8, found by
 * unit/fuzz). There is no way back from there: the file is named, and the process ends. */
static const char *volatile reading; /* the file; NULL: other code runs */
static struct sigaction before;

static void crashed(HT_UNUSED int number) {
    static const char head[] = "htwave: cannot read ",
                      tail[] = ": HDF5 crashes on it, so that it must be damaged\n";
    const char *const file = reading;
    if (file != NULL)
        _exit(write(STDERR_FILENO, head, sizeof head - 1) < 0 ||
              write(STDERR_FILENO, file, strlen(file)) < 0 ||
              write(STDERR_FILENO, tail, sizeof tail - 1) < 0 || 1);
    (void)sigaction(SIGSEGV, &before, NULL); /* where the process goes on it fails again */
}

void ht_h5_name_crashes(void) {
    struct sigaction own = {.sa_handler = crashed};
    (void)sigaction(SIGSEGV, &own, &before);
}

/* At the begin of a function that reads: to its end. */
#define GUARD(file)                                          \
    HT_ENDED(end_guard) HT_UNUSED const char *was = reading; \
    reading = (file)->path
static void end_guard(const char *const *was) {
    reading = *was;
}

/* ---- files ---- */

/* Text of a system error, or of HDF5's where error is 0. */
static const char *reason(int error) {
    return error ? strerror(error) : "HDF5 refused it";
}

static HT_ERR set_written(bool ok, const char *name, const char *path, int error) {
    REQUIRE(ok && !error, HT_ERR_IO, "cannot write dataset %s of %s: %s", name, path,
            reason(error));
    return HT_OK;
}

/* Closes what is open; a failure is recorded in file->disk.error. The driver ends last: HDF5 uses
 * its class while it closes a file that held the last reference to it. */
static void shut(struct ht_h5 *file) {
    if (file->id >= 0 && H5Fclose(file->id) < 0 && !file->disk.error) file->disk.error = EIO;
    file->id = H5I_INVALID_HID;
    if (file->driver > 0) H5FDunregister(file->driver);
    file->driver = 0;
}

static void free_file(struct ht_h5 *file) {
    free(file->temporary);
    free(file->path);
    free(file);
}

static HT_ERR create_file(const char *path, bool checked, struct ht_h5 *file) {
    TRY(ht_text_copy(path, &file->path));
    TRY(ht_file_temporary(path, &file->temporary));
    file->checked = checked;
    file->id = disk_create(file);
    if (file->id >= 0) return HT_OK;
    shut(file);
    unlink(file->temporary);
    FAIL(HT_ERR_IO, "cannot create %s: %s", path, reason(file->disk.error));
}

HT_ERR ht_h5_create(const char *path, bool checked, struct ht_h5 **out) {
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* HDF5's own messages are off */
    HT_CREATE(out, create_file(path, checked, *out), free_file);
}

static HT_ERR check_written(const struct ht_h5 *file) {
    REQUIRE(!file->disk.error, HT_ERR_IO, "cannot write %s: %s", file->path,
            reason(file->disk.error));
    return HT_OK;
}

HT_ERR ht_h5_publish(struct ht_h5 *file) {
    if (H5Fflush(file->id, H5F_SCOPE_LOCAL) < 0 && !file->disk.error) file->disk.error = EIO;
    TRY(check_written(file));
    if (file->temporary) TRY(ht_file_commit(file->temporary, file->path));
    free(file->temporary);
    file->temporary = NULL;
    return HT_OK;
}

HT_ERR ht_h5_commit(struct ht_h5 *file) {
    const char *name = file->temporary;
    shut(file);
    enum ht_err err = check_written(file);
    if (!err) err = name ? ht_file_commit(name, file->path) : ht_file_sync(file->path, file->path);
    if (err && name) unlink(name);
    free_file(file);
    return err;
}

void ht_h5_close(struct ht_h5 *file) {
    if (!file) return;
    GUARD(file);
    /* nothing needs to be written to disk from here on */
    if (!file->disk.error) file->disk.error = ECANCELED;
    shut(file);
    if (file->temporary) unlink(file->temporary);
    free_file(file);
}

/* Opens without locks: some file systems have none, and reading must work. */
static hid_t open_unlocked(const char *path) {
    HID fapl = H5Pcreate(H5P_FILE_ACCESS);
    if (fapl < 0 || H5Pset_file_locking(fapl, false, true) < 0 ||
        H5Pset_fclose_degree(fapl, H5F_CLOSE_STRONG) < 0)
        return H5I_INVALID_HID;
    return H5Fopen(path, H5F_ACC_RDONLY, fapl);
}

static HT_ERR open_file(const char *path, struct ht_h5 *file) {
    int64_t size = 0;
    TRY(ht_text_copy(path, &file->path));
    TRY(ht_file_size(path, &size)); /* HDF5 would wait for a named pipe */
    GUARD(file);
    file->id = open_unlocked(path);
    REQUIRE(file->id >= 0, HT_ERR_IO, "cannot read %s: it is not an HDF5 file, or it is damaged",
            path);
    return HT_OK;
}

HT_ERR ht_h5_open(const char *path, struct ht_h5 **out) {
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    HT_CREATE(out, open_file(path, *out), free_file);
}

/* ---- datasets ---- */

/* Creates a dataset with space for all values but writes none; a disk that is too small is detected
 * when values are written. No times are stored, so that equal runs write equal files. chunks: else
 * the values stand together. */
HT_ERR ht_h5_reserve(struct ht_h5 *file, const char *name, int rank, const int64_t *extent,
                     bool chunks, bool single) {
    hsize_t size[8] = {0}, chunk[8] = {0};
    for (int i = 0; i < rank; i++) size[i] = (hsize_t)extent[i];
    for (int i = 0; i < rank; i++) chunk[i] = (hsize_t)ht_least(extent[i], 128);
    HID space = H5Screate_simple(rank, size, NULL);
    HID links = H5Pcreate(H5P_LINK_CREATE), made = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t type = single ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE; /* of ht_h5_fill, too */
    const bool ok = space >= 0 && links >= 0 && made >= 0 &&
                    H5Pset_alloc_time(made, H5D_ALLOC_TIME_EARLY) >= 0 &&
                    H5Pset_fill_time(made, H5D_FILL_TIME_NEVER) >= 0 &&
                    H5Pset_obj_track_times(made, false) >= 0 &&
                    (!chunks || H5Pset_chunk(made, rank, chunk) >= 0) &&
                    H5Pset_create_intermediate_group(links, 1) >= 0;
    HID set = ok ? H5Dcreate2(file->id, name, type, space, links, made, H5P_DEFAULT) : -1;
    return set_written(set >= 0, name, file->path, file->disk.error);
}

HT_ERR ht_h5_write_text(struct ht_h5 *file, const char *name, const char *text) {
    HID space = H5Screate(H5S_SCALAR), made = H5Pcreate(H5P_DATASET_CREATE);
    HID type = H5Tcopy(H5T_C_S1);
    const bool ok = space >= 0 && made >= 0 && type >= 0 &&
                    H5Tset_size(type, strlen(text) + 1) >= 0 &&
                    H5Pset_obj_track_times(made, false) >= 0;
    HID set = ok ? H5Dcreate2(file->id, name, type, space, H5P_DEFAULT, made, H5P_DEFAULT) : -1;
    const bool written = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
    return set_written(written, name, file->path, file->disk.error);
}

static HT_ERR add_name(const char *name, void *text) {
    struct ht_text *names = text;
    if (names->length < 200) ht_text_add(names, "%s%s", names->length ? ", " : "", name);
    return HT_OK;
}

HT_ERR ht_h5_lacks(struct ht_h5 *file, const char *what) {
    HT_FREED_TEXT struct ht_text names = {0};
    TRY(ht_h5_each(file, add_name, &names));
    FAIL(HT_ERR_IO, "%s holds no %s; it has %s", file->path, what,
         names.length ? names.data : "no datasets");
}

/* Opens a dataset and its space; the caller closes both. */
static HT_ERR open_set(struct ht_h5 *file, const char *name, hid_t *set, hid_t *space) {
    *set = H5Dopen2(file->id, name, H5P_DEFAULT);
    if (*set < 0) return ht_h5_lacks(file, HT_KEY("dataset %s", name));
    *space = H5Dget_space(*set);
    REQUIRE(*space >= 0, HT_ERR_IO, "cannot read dataset %s of %s", name, file->path);
    return HT_OK;
}

/* Selects [first, last) along an axis; *part: a space of as many values. */
static bool select_planes(hid_t space, int axis, int64_t first, int64_t last, hid_t *part) {
    hsize_t size[8], start[8] = {0};
    int rank = H5Sget_simple_extent_dims(space, size, NULL);
    if (rank == 0) *part = H5Screate(H5S_SCALAR); /* one value */
    if (rank == 0) return *part >= 0;
    if (axis >= rank || first < 0 || last <= first || (hsize_t)last > size[axis]) return false;
    start[axis] = (hsize_t)first;
    size[axis] = (hsize_t)(last - first);
    *part = H5Screate_simple(rank, size, NULL);
    return *part >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL) >= 0;
}

/* ---- sums of planes, in checked files ---- */

#define SUMS(name) HT_KEY("sums/%s", name)

/* 0 of zeros, which a file has where nothing was written; below 2^53. Each step is a bijection of
 * the sum, and of the value. */
static uint64_t add_to_sum(uint64_t sum, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    sum = (sum ^ bits) * 0x9e3779b97f4a7c15ULL;
    return sum ^ sum >> 29;
}

/* Values [group][plane][value], of which single ones are rounded to be stored. */
struct rows {
    int64_t groups, planes, plane;
    bool single;
    const double *value;
    double *sum; /* [group][plane] */
};

static HT_ERR sum_rows(void *data, int64_t begin, int64_t end) {
    const struct rows *rows = data;
    for (int64_t i = begin; i < end; i++) {
        const double *value = rows->value + i * rows->plane;
        uint64_t sum = 0;
        for (int64_t n = 0; n < rows->plane; n++)
            sum = add_to_sum(sum, rows->single ? (double)(float)value[n] : value[n]);
        rows->sum[i] = (double)(sum >> 11);
    }
    return HT_OK;
}

/* sum[plane]: of the sums of the groups. */
static HT_ERR find_sums(struct rows *rows, double *sum) {
    HT_ARRAY(double, own, rows->groups * rows->planes);
    rows->sum = own;
    TRY(ht_threads_share(rows->groups * rows->planes, ht_most(1, (1 << 16) / rows->plane), sum_rows,
                         rows));
    for (int64_t m = 0; m < rows->planes; m++) {
        uint64_t all = 0;
        for (int64_t g = 0; g < rows->groups; g++) all = add_to_sum(all, own[g * rows->planes + m]);
        sum[m] = (double)(all >> 11);
    }
    return HT_OK;
}

/* Of the values [first, last) along an axis that were read: all, or planes of the axis of the sums,
 * the last of theirs. */
static HT_ERR check_sums(const struct ht_h5 *file, const char *name, hid_t space, int axis,
                         int64_t first, int64_t last, const double *data) {
    hsize_t size[8];
    if (H5Lexists(file->id, "sums", H5P_DEFAULT) <= 0 ||
        H5Lexists(file->id, SUMS(name), H5P_DEFAULT) <= 0)
        return HT_OK;
    HID set = H5Dopen2(file->id, SUMS(name), H5P_DEFAULT);
    HID all = H5Dget_space(set), part = H5I_INVALID_HID;
    const int rank = H5Sget_simple_extent_dims(space, size, NULL);
    const int own = H5Sget_simple_extent_ndims(all) - 1;
    struct rows rows = {1, 0, 1, false, data, NULL};
    REQUIRE(own >= 0 && own < rank, HT_ERR_IO, "%s is damaged: it has no sums of %s", file->path,
            name);
    if (first == 0 && (hsize_t)last == size[axis]) {
        axis = own;
        last = (int64_t)size[own];
    }
    if (axis != own) return HT_OK;
    rows.planes = last - first;
    for (int i = 0; i < own; i++) rows.groups *= (int64_t)size[i];
    for (int i = own + 1; i < rank; i++) rows.plane *= (int64_t)size[i];
    HT_ARRAY(double, stored, rows.planes);
    HT_ARRAY(double, found, rows.planes);
    TRY(find_sums(&rows, found));
    REQUIRE(select_planes(all, own, first, last, &part) &&
                H5Dread(set, H5T_NATIVE_DOUBLE, part, all, H5P_DEFAULT, stored) >= 0 &&
                memcmp(found, stored, (size_t)rows.planes * sizeof *stored) == 0,
            HT_ERR_IO, "%s is damaged: %s is not as it was stored", file->path, name);
    return HT_OK;
}

HT_ERR ht_h5_check_single(const char *name, const char *path, int64_t count, const double *data) {
    for (int64_t i = 0; i < count; i++)
        REQUIRE(!isfinite(data[i]) || fabs(data[i]) <= FLT_MAX, HT_ERR_IO,
                "cannot write dataset %s of %s: it would hold %.6g, beyond single precision, up to "
                "%.3g: take smaller amplitudes or other units",
                name, path, data[i], (double)FLT_MAX);
    return HT_OK;
}

HT_ERR ht_h5_write_planes(struct ht_h5 *file, const char *name, int axis, int64_t first,
                          int64_t last, const double *data) {
    HID set = H5I_INVALID_HID, space = H5I_INVALID_HID, part = H5I_INVALID_HID;
    TRY(open_set(file, name, &set, &space));
    HID type = H5Dget_type(set);
    bool ok = type >= 0 && select_planes(space, axis, first, last, &part);
    if (ok && H5Tget_size(type) == sizeof(float))
        TRY(ht_h5_check_single(name, file->path, H5Sget_simple_extent_npoints(part), data));
    errno = 0; /* HDF5 does not pass on the system's errno */
    ok = ok && H5Dwrite(set, H5T_NATIVE_DOUBLE, part, space, H5P_DEFAULT, data) >= 0;
    return set_written(ok, name, file->path, file->disk.error || ok ? file->disk.error : errno);
}

HT_ERR ht_h5_write(struct ht_h5 *file, const char *name, int rank, const int64_t *extent,
                   const double *data, bool single) {
    int64_t plane = 1;
    TRY(ht_h5_reserve(file, name, rank, extent, false, single));
    TRY(ht_h5_write_planes(file, name, 0, 0, extent[0], data));
    if (!file->checked) return HT_OK;
    for (int i = 1; i < rank; i++) plane *= extent[i];
    HT_ARRAY(double, sum, extent[0]);
    TRY(find_sums(&(struct rows){1, extent[0], plane, single, data, NULL}, sum));
    TRY(ht_h5_reserve(file, SUMS(name), 1, extent, false, false));
    return ht_h5_write_planes(file, SUMS(name), 0, 0, extent[0], sum);
}

bool ht_h5_has(struct ht_h5 *file, const char *name) {
    GUARD(file);
    HID set = H5Dopen2(file->id, name, H5P_DEFAULT);
    return set >= 0;
}

HT_ERR ht_h5_extent(struct ht_h5 *file, const char *name, int *rank, int64_t extent[8]) {
    GUARD(file);
    HID set = H5I_INVALID_HID, space = H5I_INVALID_HID;
    TRY(open_set(file, name, &set, &space));
    hsize_t size[8];
    int n = H5Sget_simple_extent_ndims(space);
    REQUIRE(n >= 0 && n <= 8 && H5Sget_simple_extent_dims(space, size, NULL) == n, HT_ERR_IO,
            "dataset %s of %s has more than 8 dimensions", name, file->path);
    for (int i = 0; i < n; i++) extent[i] = (int64_t)size[i];
    *rank = n;
    return HT_OK;
}

HT_ERR ht_h5_read(struct ht_h5 *file, const char *name, int64_t count, double *data) {
    int64_t extent[8] = {1}, stored = 1;
    int rank;
    TRY(ht_h5_extent(file, name, &rank, extent));
    for (int i = 0; i < rank; i++) stored *= extent[i];
    REQUIRE(stored == count, HT_ERR_IO, "dataset %s of %s holds %lld values, expected %lld", name,
            file->path, (long long)stored, (long long)count);
    return count > 0 ? ht_h5_read_planes(file, name, 0, 0, extent[0], data) : HT_OK;
}

HT_ERR ht_h5_array(struct ht_h5 *file, const char *name, struct ht_array *out) {
    TRY(ht_h5_extent(file, name, &out->rank, out->extent));
    out->count = 1;
    for (int k = 0; k < out->rank; k++) out->count *= out->extent[k];
    TRY(HT_ALLOC(out->value, out->count));
    return ht_h5_read(file, name, out->count, out->value);
}

HT_ERR ht_h5_read_planes(struct ht_h5 *file, const char *name, int axis, int64_t first,
                         int64_t last, double *data) {
    GUARD(file);
    HID set = H5I_INVALID_HID, space = H5I_INVALID_HID, part = H5I_INVALID_HID;
    TRY(open_set(file, name, &set, &space));
    REQUIRE(select_planes(space, axis, first, last, &part), HT_ERR_IO,
            "dataset %s of %s holds no values %lld to %lld", name, file->path, (long long)first,
            (long long)last);
    HID type = H5Dget_type(set);
    const H5T_class_t class = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    REQUIRE(class == H5T_INTEGER || class == H5T_FLOAT, HT_ERR_IO,
            "dataset %s of %s does not hold numbers", name, file->path);
    REQUIRE(H5Dread(set, H5T_NATIVE_DOUBLE, part, space, H5P_DEFAULT, data) >= 0, HT_ERR_IO,
            "cannot read dataset %s of %s: the file is damaged", name, file->path);
    return check_sums(file, name, space, axis, first, last, data);
}

static HT_ERR set_attribute(const struct ht_h5 *file, const char *name, hid_t stored, hid_t space,
                            hid_t memory, const void *value) {
    /* Another value of the same type takes its place in the file. */
    HID id = H5Aexists(file->id, name) > 0
                 ? H5Aopen(file->id, name, H5P_DEFAULT)
                 : H5Acreate2(file->id, name, stored, space, H5P_DEFAULT, H5P_DEFAULT);
    REQUIRE(id >= 0 && H5Awrite(id, memory, value) >= 0 && !file->disk.error, HT_ERR_IO,
            "cannot write attribute %s of %s: %s", name, file->path, reason(file->disk.error));
    return HT_OK;
}

HT_ERR ht_h5_set_number(struct ht_h5 *file, const char *name, int count, const double *values) {
    hsize_t size = (hsize_t)count;
    HID space = count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &size, NULL);
    return set_attribute(file, name, H5T_IEEE_F64LE, space, H5T_NATIVE_DOUBLE, values);
}

HT_ERR ht_h5_set_text(struct ht_h5 *file, const char *name, const char *value) {
    /* room for another short text in its place */
    const size_t size = strlen(value) / 16 * 16 + 16;
    HID space = H5Screate(H5S_SCALAR), type = H5Tcopy(H5T_C_S1);
    HT_ARRAY(char, padded, size);
    (void)H5Tset_size(type, size);
    snprintf(padded, size, "%s", value);
    return set_attribute(file, name, type, space, type, padded);
}

HT_ERR ht_h5_get_number(struct ht_h5 *file, const char *name, int count, double *values) {
    GUARD(file);
    HID id = H5Aexists(file->id, name) > 0 ? H5Aopen(file->id, name, H5P_DEFAULT) : H5I_INVALID_HID;
    REQUIRE(id >= 0, HT_ERR_IO, "%s has no attribute %s", file->path, name);
    HID space = H5Aget_space(id);
    REQUIRE(space >= 0 && H5Sget_simple_extent_npoints(space) == count &&
                H5Aread(id, H5T_NATIVE_DOUBLE, values) >= 0,
            HT_ERR_IO, "attribute %s of %s does not hold %d numbers", name, file->path, count);
    return HT_OK;
}

struct visitor {
    enum ht_err (*visit)(const char *name, void *context);
    void *context;
    enum ht_err err;
};

static herr_t visit_object(hid_t group, const char *name, const H5O_info_t *info, void *data) {
    struct visitor *visitor = data;
    if (info->type != H5O_TYPE_DATASET || strncmp(name, "sums/", 5) == 0) return 0;
    HID set = H5Dopen2(group, name, H5P_DEFAULT), type = set >= 0 ? H5Dget_type(set) : set;
    if (type >= 0 && H5Tget_class(type) == H5T_STRING) return 0;
    visitor->err = visitor->visit(name, visitor->context);
    return visitor->err ? 1 : 0; /* 1 stops the iteration without an HDF5 error */
}

HT_ERR ht_h5_each(struct ht_h5 *file, enum ht_err (*visit)(const char *name, void *context),
                  void *context) {
    struct visitor visitor = {visit, context, HT_OK};
    GUARD(file);
    herr_t result =
        H5Ovisit2(file->id, H5_INDEX_NAME, H5_ITER_INC, visit_object, &visitor, H5O_INFO_BASIC);
    REQUIRE(result >= 0, HT_ERR_IO, "cannot list the datasets of %s", file->path);
    return visitor.err;
}

/* ---- values that processes write by themselves ---- */

/* Why not HDF5 over MPI: it waits for the other ranks inside its collective calls, and a rank whose
 * call has failed does not always reach the point where the others wait. The values of a dataset
 * stand together in the file, so that every process writes its part by itself. */

static HT_ERR place(struct ht_h5 *file, const char *name, int rank, const int64_t *extent,
                    bool single, int64_t *out) {
    HID id = H5I_INVALID_HID, space = H5I_INVALID_HID;
    TRY(ht_h5_reserve(file, name, rank, extent, false, single));
    TRY(open_set(file, name, &id, &space));
    const haddr_t offset = H5Dget_offset(id);
    *out = (int64_t)offset;
    return set_written(offset != HADDR_UNDEF, name, file->path, 0);
}

HT_ERR ht_h5_place(struct ht_h5 *file, const int64_t *extent, int axis, struct ht_h5_values *set) {
    int64_t sums[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    TRY(place(file, set->name, set->rank, extent, set->single, &set->offset));
    if (!file->checked) return HT_OK;
    sums[axis] = extent[axis];
    return place(file, SUMS(set->name), axis + 1, sums, false, &set->sums);
}

HT_ERR ht_h5_share(struct ht_h5 *file, const char **name) {
    shut(file);
    *name = file->temporary;
    return check_written(file);
}

/* What ht_h5_fill writes of a dataset. */
struct part {
    int fd;
    const char *path;
    const struct ht_h5_values *set;
    int64_t first, last;
};

/* Of the planes of all groups, one after the other. */
static HT_ERR put_planes(void *data, int64_t begin, int64_t end) {
    const struct part *p = data;
    const struct ht_h5_values *set = p->set;
    const int64_t bytes = set->plane * (set->single ? 4 : 8), count = p->last - p->first;
    HT_ARRAY(float, single, set->single ? set->plane : 0);
    for (int64_t i = begin; i < end; i++) {
        const int64_t plane = i / count * set->planes + p->first + i % count;
        const double *values = set->data + i * set->plane;
        if (set->single) TRY(ht_h5_check_single(set->name, p->path, set->plane, values));
        for (int64_t j = 0; set->single && j < set->plane; j++) single[j] = (float)values[j];
        const void *from = set->single ? (const void *)single : values;
        TRY(set_written(
            true, set->name, p->path,
            write_at(p->fd, (haddr_t)(set->offset + plane * bytes), (size_t)bytes, from)));
    }
    return HT_OK;
}

static HT_ERR put_sums(struct part *p) {
    const struct ht_h5_values *set = p->set;
    struct rows rows = {set->groups, p->last - p->first, set->plane, set->single, set->data, NULL};
    HT_ARRAY(double, sum, rows.planes);
    TRY(find_sums(&rows, sum));
    return set_written(
        true, SUMS(set->name), p->path,
        write_at(p->fd, (haddr_t)(set->sums + p->first * 8), (size_t)rows.planes * 8, sum));
}

HT_ERR ht_h5_fill(const char *name, const char *path, int count, const struct ht_h5_values *set,
                  int64_t first, int64_t last) {
    const int fd = open(name, O_WRONLY | O_CLOEXEC);
    REQUIRE(fd >= 0, HT_ERR_IO, "cannot write %s: %s", path, strerror(errno));
    enum ht_err err = HT_OK;
    for (int n = 0; n < count && err == HT_OK; n++) {
        struct part part = {fd, path, &set[n], first, last};
        err = ht_threads_share(set[n].groups * (last - first), ht_most(1, (1 << 16) / set[n].plane),
                               put_planes, &part);
        if (err == HT_OK && set[n].sums > 0) err = put_sums(&part);
    }
    /* network file systems report a full disk here */
    if (close(fd) != 0 && err == HT_OK)
        err = ht_err_set(HT_ERR_IO, "cannot write %s: %s", path, strerror(errno));
    return err;
}

void ht_h5_version(char *buffer, size_t size) {
    unsigned version[3] = {0};
    (void)H5get_libversion(&version[0], &version[1], &version[2]);
    snprintf(buffer, size, "%u.%u.%u", version[0], version[1], version[2]);
}
