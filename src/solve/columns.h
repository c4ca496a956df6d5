/* Sources as sparse columns: what of them acts at which nodes, for the kernel of tool.h. */
#pragma once

#include "htwave/tool.h"

/* A node takes the amplitudes of a column times a shape; where shapes are one number, times a
 * weight. number: in what order entries of one column are added at a node. */
struct ht_column_entry {
    int64_t at;
    int number, column, shape, wall;
    double weight;
};
struct ht_columns {
    int64_t count, room;
    struct ht_column_entry *entry;
};
static inline void ht_columns_free(struct ht_columns *columns) {
    free(columns->entry);
}
/* Adds one, whose number is set. */
HT_ERR ht_columns_add(struct ht_columns *columns, struct ht_column_entry entry);
/* Sorts the entries and lists their nodes, in a window of so many planes of `nodes` nodes;
 * plane[m]: the first of plane m in the list; weight[entry] NULL: shapes and walls instead. All
 * from the pool. */
HT_ERR ht_columns_list(struct ht_columns *columns, int64_t planes, int64_t nodes,
                       struct ht_pool *pool, struct ht_inject_list *list, int64_t **plane,
                       double **weight);
