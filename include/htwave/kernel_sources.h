/* The text of every file in cl/. tools/embed.c includes it in the program at build time, so that a
 * run needs no other files.
 */
#ifndef HTWAVE_KERNEL_SOURCES_H
#define HTWAVE_KERNEL_SOURCES_H

#include "htwave/base.h"

struct ht_kernel_source {
    const char *name; /* of the file in cl/ without folder: "prelude.cl" */
    const char *text; /* the whole file; printable ASCII and line ends */
};

/* In order of names; the entry after the last has the name NULL. */
extern const struct ht_kernel_source ht_kernel_sources[];

/* Appends a file; HT_ERR_INTERNAL if no file has this name. */
HT_CHECKED enum ht_err ht_kernel_add_source(const char *name, struct ht_text *out);

#endif
