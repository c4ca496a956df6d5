/* Lists of the nodes of sources; see the header. */
#include "columns.h"

HT_ERR ht_columns_add(struct ht_columns *columns, struct ht_column_entry entry) {
    REQUIRE(columns->count < INT32_MAX - 1, HT_ERR_MEMORY, "sources have too many nodes");
    TRY(HT_GROW(columns->entry, columns->count + 1, columns->room));
    entry.number = (int)columns->count;
    columns->entry[columns->count++] = entry;
    return HT_OK;
}

static int by_node(const void *a, const void *b) {
    const struct ht_column_entry *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

HT_ERR ht_columns_list(struct ht_columns *columns, int64_t planes, int64_t nodes,
                       struct ht_pool *pool, struct ht_inject_list *list, int64_t **plane,
                       double **weight) {
    const int64_t count = columns->count;
    if (count > 0) qsort(columns->entry, (size_t)count, sizeof *columns->entry, by_node);
    TRY(HT_TAKE(pool, list->at, count));
    TRY(HT_TAKE(pool, list->begin, count + 1));
    TRY(HT_TAKE(pool, list->column, count));
    TRY(HT_TAKE(pool, *plane, planes + 1));
    if (weight != NULL) TRY(HT_TAKE(pool, *weight, count));
    if (weight == NULL) TRY(HT_TAKE(pool, list->wall, count));
    if (weight == NULL) TRY(HT_TAKE(pool, list->shape, count));
    for (int64_t i = 0; i < count; i++) {
        const struct ht_column_entry *entry = &columns->entry[i];
        if (i == 0 || entry->at != entry[-1].at) {
            list->begin[list->count] = (int)i;
            if (weight == NULL) list->wall[list->count] = entry->wall;
            list->at[list->count++] = entry->at;
        }
        list->column[i] = entry->column;
        if (weight != NULL)
            (*weight)[i] = entry->weight;
        else
            list->shape[i] = entry->shape;
    }
    list->begin[list->count] = (int)count;
    for (int64_t m = 0, n = 0; m <= planes; m++) {
        while (n < list->count && list->at[n] < m * nodes) n++;
        (*plane)[m] = n;
    }
    return HT_OK;
}
