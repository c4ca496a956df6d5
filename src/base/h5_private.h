/* Shared by the files that use HDF5: src/base/h5*.c. */
#ifndef HTWAVE_BASE_H5_PRIVATE_H
#define HTWAVE_BASE_H5_PRIVATE_H

#include "htwave/h5.h"

#define H5_USE_110_API /* later versions keep the types of 1.10 under it */
#include <hdf5.h>

struct ht_h5 {
    hid_t id;               /* H5I_INVALID_HID: shared out, open elsewhere */
    hid_t driver;           /* of h5_disk.c, held while the file is open */
    hid_t access;           /* of h5_ranks.c, from ready to joined; else 0 */
    char *path, *temporary; /* temporary: NULL for a file opened to read, or
                               published */
    int error;              /* the first errno of a write */
};

/* Turns HDF5's own messages off. */
void ht_h5_quiet(void);
/* Text of a system error, or of HDF5's where error is 0. */
const char *ht_h5_reason(int error);
/* Closes what is open; a failure is recorded in file->error. */
void ht_h5_shut(struct ht_h5 *file);
/* Frees the record of a closed file. */
void ht_h5_free(struct ht_h5 *file);

/* h5_disk.c: creates file->temporary; negative when that failed. */
hid_t ht_h5_disk_create(struct ht_h5 *file);
/* Not before the file is closed: HDF5 uses the class of a driver while it closes a file that held
 * the last reference to it. NULL driver allowed. */
void ht_h5_disk_drop(struct ht_h5 *file);

#endif
