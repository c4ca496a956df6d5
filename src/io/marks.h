/* Sources and receivers as marks of a picture. */
#ifndef HTWAVE_IO_MARKS_H
#define HTWAVE_IO_MARKS_H

#include "slice.h"

/* Points of sources, then receivers. */
struct ht_places {
    const struct ht_shots *shots; /* NULL: none */
    int64_t count, sources;
    double (*x)[3];
};
/* Either may be NULL; shots must outlive the places. Free them in any case. */
HT_CHECKED enum ht_err ht_places_make(const struct ht_shots *shots,
                                      const struct ht_receivers *receivers, struct ht_places *out);
void ht_places_free(struct ht_places *places);

/* Of a slice. */
struct ht_marks {
    int64_t marks;
    struct ht_mark *mark;
    int outlines;
    struct ht_outline *outline;
};
/* Free them in any case. */
HT_CHECKED enum ht_err ht_marks_make(const struct ht_places *places, const struct ht_slice *slice,
                                     struct ht_marks *out);
void ht_marks_free(struct ht_marks *marks);
/* In the picture, which they must outlive. */
void ht_marks_show(const struct ht_marks *marks, struct ht_picture *picture);

#endif
