/* Files of numbers that other programs write: .npy and SEG-Y. Messages name the file. */
#pragma once

#include "htwave/base.h"

/* The name has one of these endings behind a point, "sgy|segy", in either case. */
bool ht_file_ends(const char *path, const char *endings);

/* How a number is stored: floats of 4 and 8 bytes, integers of 1 to 8, those of IBM of 4. */
struct ht_number {
    enum { HT_NUMBER_FLOAT = 1, HT_NUMBER_SIGNED, HT_NUMBER_UNSIGNED, HT_NUMBER_IBM } kind;
    int bytes;
    bool big; /* the first byte is the highest */
};
double ht_number_at(struct ht_number number, const unsigned char *at);

/* An array as HDF5 and .npy have it: the last index is the fastest in `value`, the reader's own. */
struct ht_array {
    int rank;
    int64_t extent[8], count;
    double *value;
};
/* HT_ENDED(ht_array_end) struct ht_array, zero at first */
static inline void ht_array_end(const struct ht_array *array) {
    free(array->value);
}
/* A whole .npy file, whatever the order of its values is. */
HT_ERR ht_npy_read(const char *path, struct ht_array *out);

/* ---- SEG-Y, revisions 0 and 1 ---- */
enum { SEGY_TEXT = 3200, SEGY_BINARY = 400, SEGY_TRACE = 240, SEGY_LINE = 80 };
struct ht_segy {
    const char *path;
    FILE *file;
    struct ht_number number;
    int64_t begin, traces; /* the first one's place, their number */
    int64_t samples;
    double interval;      /* microseconds */
    unsigned char *trace; /* the last one read, its header first */
};
/* path must outlive it. */
HT_ERR ht_segy_open(const char *path, struct ht_segy *out);
/* HT_ENDED(ht_segy_close) struct ht_segy, zero at first */
void ht_segy_close(const struct ht_segy *segy);
/* Trace i from 0 on, or its header alone. */
HT_ERR ht_segy_trace(const struct ht_segy *segy, int64_t i, bool values);
double ht_segy_value(const struct ht_segy *segy, int64_t sample);
/* An integer of a header: bytes are counted from 1, as in the standard. */
int64_t ht_segy_get(const unsigned char *header, int byte, int bytes);
/* That of the trace's header of 4 bytes, times the scalar at another byte; the scalar alone. */
double ht_segy_scaled(const struct ht_segy *segy, int byte, int bytes, int scalar);
double ht_segy_scalar(const struct ht_segy *segy, int byte);
