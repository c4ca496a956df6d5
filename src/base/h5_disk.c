/* The HDF5 file driver of files that one process writes.
 *
 * Why not a driver of the library: HDF5 caches metadata until the file is closed. If they cannot be
 * written (disk full) the file cannot be closed: the handle stays half open and the library crashes
 * when the process ends (seen with 1.10.8). This driver records the first system error and ignores
 * all further writes, so that HDF5 always closes cleanly. Then htwave reports the error, and the
 * temporary file is not renamed.
 */
#include "h5_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

struct disk {
    H5FD_t base; /* first, filled by HDF5 */
    int fd;
    int *error;       /* in struct ht_h5, which outlives the driver's file */
    haddr_t eoa, eof; /* end of the allocated addresses, of the file */
};

/* The driver's property is the address of ht_h5.error. */
static H5FD_t *disk_open(const char *name, unsigned flags, hid_t fapl, haddr_t maxaddr) {
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
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
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

static herr_t disk_read(H5FD_t *file, H5FD_mem_t type, hid_t dxpl, haddr_t address, size_t size,
                        void *buffer) {
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

static herr_t disk_write(H5FD_t *file, H5FD_mem_t type, hid_t dxpl, haddr_t address, size_t size,
                         const void *buffer) {
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
    if (!*disk->error && ftruncate(disk->fd, (off_t)disk->eoa) != 0) *disk->error = errno;
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

/* ---- creation ---- */

hid_t ht_h5_disk_create(struct ht_h5 *file) {
    file->driver = H5FDregister(&disk_class);
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    int *property = &file->error;
    hid_t id = H5I_INVALID_HID;
    if (file->driver > 0 && fapl >= 0 && H5Pset_driver(fapl, file->driver, &property) >= 0)
        id = H5Fcreate(file->temporary, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    if (fapl >= 0) H5Pclose(fapl);
    return id;
}

void ht_h5_disk_drop(struct ht_h5 *file) {
    if (file->driver > 0) H5FDunregister(file->driver);
    file->driver = 0;
}
