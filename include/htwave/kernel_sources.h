/* The text of every file in cl/, put into the program by tools/embed.c when
 * it is built, so that a run needs no files beside the program.
 */
#ifndef HTWAVE_KERNEL_SOURCES_H
#define HTWAVE_KERNEL_SOURCES_H

#include "htwave/base.h"

struct ht_kernel_source {
    const char *name; /* of the file in cl/, "prelude.cl", without folder */
    const char *text; /* the whole file; printable ASCII and line ends */
};

/* In order of name; the entry after the last has the name NULL. */
extern const struct ht_kernel_source ht_kernel_sources[];

/* Appends a file; HT_ERR_INTERNAL when there is none of the name. */
HT_CHECKED enum ht_err ht_kernel_add_source(const char *name,
                                            struct ht_text *out);

#endif
