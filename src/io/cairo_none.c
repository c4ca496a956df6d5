/* A build without cairo (make WITHOUT=cairo). */
#include "htwave/output.h"

const char *ht_picture_cairo(void) {
    return NULL;
}

HT_ERR ht_picture_write(HT_UNUSED const struct ht_picture *picture, const char *path) {
    FAIL(HT_ERR_INTERNAL, "cannot draw %s: this htwave was built without cairo", path);
}
