/* The recipe of a variant's program: numbers, lists and tables, then the files of cl/ that the
 * variant names. The host generates data only; all control flow is in cl/. */
#include "blocks.h"
#include "tool.h"
#include "variant.h"

/* HT_EACH_name(X): X(slot, field). */
static void add_fields(const char *name, int count, const int *field, struct ht_text *out) {
    ht_text_add(out, "\n#define HT_EACH_%s(X)", name);
    for (int i = 0; i < count; i++) ht_text_add(out, " X(%d, %d)", i, field[i]);
}

/* Terms with profiles, or all others. */
static void add_terms(const struct ht_spec *spec, const struct ht_sizes *z, bool profiles,
                      struct ht_text *out) {
    HT_EACH_AT(t, const struct ht_term, term, spec->eq->term, spec->eq->nterms) {
        const int axis = ht_material_layer(spec->eq, term->material);
        if ((axis >= 0) != profiles) continue;
        ht_text_add(out, " X(%d, %d, %d, %d, %d, %d, %d)", t, term->row, term->col,
                    profiles ? axis : term->axis, term->derivative,
                    profiles ? term->material : z->group[t],
                    z->slot[term->col] < 0 ? 0 : z->slot[term->col]);
    }
}

void ht_text_table(struct ht_text *out, const char *name, const double *values, int count,
                   bool fp64) {
    ht_text_add(out, "HT_TABLE const real ht_%s[%d] = {", name, count);
    for (int i = 0; i < count; i++)
        ht_text_add(out, "%s%.17e%s", i ? ", " : "", values[i], fp64 ? "" : "f");
    ht_text_add(out, "};\n");
}

void ht_text_ints(struct ht_text *out, const char *name, const int *values, int count) {
    ht_text_add(out, "HT_TABLE const int ht_%s[%d] = {", name, count);
    for (int i = 0; i < count; i++) ht_text_add(out, "%d,%s", values[i], i % 16 == 15 ? "\n" : " ");
    ht_text_add(out, "};\n");
}

/* The number among the equations' layers of the one that a field belongs to, -1 for none. */
static int layer_of(const struct ht_equations *eq, int field) {
    const int axis = ht_field_layer(eq, field);
    int number = 0;
    if (axis < 0) return -1;
    for (int k = 0; k < axis; k++) number += ht_layer_fields(eq, k) > 0;
    return number;
}

/* The layers of stored memory variables by slot, the axes of profiles; -1 for all others. */
static void add_layers(const struct ht_spec *spec, const struct ht_sizes *z, struct ht_text *out) {
    const struct ht_equations *eq = spec->eq;
    int src[HT_MAX_FIELDS], dst[HT_MAX_FIELDS], axis[HT_MAX_MATERIALS];
    if (eq->nprofiles == 0) return;
    for (int s = 0; s < z->sources; s++) src[s] = layer_of(eq, z->source_field[s]);
    for (int s = 0; s < z->targets; s++) dst[s] = layer_of(eq, z->target_field[s]);
    for (int m = 0; m < eq->nmaterials; m++) axis[m] = ht_material_layer(eq, m);
    ht_text_ints(out, "src_layer", src, z->sources);
    ht_text_ints(out, "dst_layer", dst, z->targets);
    ht_text_ints(out, "profile_axis", axis, eq->nmaterials);
}

static void add_tables(const struct ht_spec *spec, const struct ht_sizes *z, struct ht_text *out) {
    enum { MOST = 2 * HT_MAX_ORDER + 2, MOST_STAGES = 3 * MOST };
    double inverse[MOST_STAGES + 1];
    double even[MOST * MOST / 4], odd[MOST * MOST / 4], matrix[MOST * MOST];
    int n = spec->order + 1;
    ht_hermite_matrix(spec->order, matrix);
    ht_hermite_parity(spec->order, even, odd);
    ht_text_table(out, "even", even, n * n, spec->fp64);
    ht_text_table(out, "odd", odd, n * n, spec->fp64);
    for (int i = 0; i <= MOST_STAGES; i++) inverse[i] = i > 0 ? 1.0 / i : 0;
    ht_text_table(out, "inverse", inverse, MOST_STAGES + 1, spec->fp64);
    ht_text_table(out, "matrix", matrix, 4 * n * n, spec->fp64);
    int excess[MOST], parity[HT_MAX_FIELDS];
    for (int i = 0; i < 2 * n; i++) excess[i] = i < n ? 0 : i - n + 1;
    ht_text_ints(out, "excess", excess, 2 * n); /* max(0, n - N) */
    if (ht_spec_sorts(spec)) {
        int storage[HT_MAX_COEFS];
        (void)ht_storage_order(spec, storage);
        ht_text_ints(out, "storage_index", storage, z->coefs);
    }
    add_layers(spec, z, out);
    /* of the fields stored on the source grid, by slot */
    for (int i = 0; i < HT_MAX_FIELDS; i++)
        parity[i] = i < z->sources ? (int)spec->eq->field[z->source_field[i]].parity : 0;
    ht_text_ints(out, "parity", parity, HT_MAX_FIELDS);
}

void ht_operator_free(struct ht_operator *op) {
    free(op->value);
    ht_text_free(&op->text);
    *op = (struct ht_operator){0};
}

HT_ERR ht_operator_make(const struct ht_variant *variant, const struct ht_spec *spec,
                        const struct ht_shape *shape, struct ht_operator *out) {
    struct ht_blocks *blocks = NULL;
    *out = (struct ht_operator){0};
    if (variant->pack == NULL) return HT_OK;
    if (variant->blocks) TRY(ht_blocks_create(spec, &blocks));
    enum ht_err err = blocks != NULL ? ht_blocks_round(spec, blocks) : HT_OK;
    if (err == HT_OK) err = variant->pack(blocks, spec, shape, out);
    if (err == HT_OK) err = ht_text_status(&out->text);
    ht_blocks_destroy(blocks);
    if (err != HT_OK) ht_operator_free(out);
    return err;
}

/* The X macros of cl/common.cl: X once per entry. */
static void add_lists(const struct ht_spec *spec, const struct ht_sizes *z, struct ht_text *out) {
    add_fields("SRC", z->sources, z->source_field, out);
    add_fields("DST", z->targets, z->target_field, out);
    add_fields("EXCHANGED", z->exchanged, z->exchanged_field, out);
    ht_text_add(out, "\n#define HT_EACH_MATERIAL(X)");
    for (int m = 0; m < spec->eq->nmaterials; m++)
        if (ht_spec_reads(spec, m)) ht_text_add(out, " X(%d)", m);
    for (int constant = 0; constant < 2; constant++) {
        ht_text_add(out, "\n#define HT_EACH_%sGROUP(X)", constant ? "CONSTANT_" : "");
        for (int g = 0; g < z->groups; g++)
            if (z->group_material[g] >= 0 &&
                ht_spec_constant(spec, z->group_material[g]) == constant)
                ht_text_add(out, " X(%d, %d, %d)", g, z->group_row[g], z->group_material[g]);
    }
    ht_text_add(out, "\n#define HT_EACH_PLAIN_GROUP(X)");
    for (int g = 0; g < z->groups; g++)
        if (z->group_material[g] < 0) ht_text_add(out, " X(%d, %d)", g, z->group_row[g]);
    ht_text_add(out, "\n#define HT_EACH_TERM(X)");
    add_terms(spec, z, false, out);
    ht_text_add(out, "\n#define HT_EACH_PROFILE_TERM(X)");
    add_terms(spec, z, true, out);
    ht_text_add(out, "\n");
}

HT_ERR ht_step_recipe(const struct ht_variant *variant, const struct ht_spec *spec,
                      const struct ht_shape *shape, const struct ht_operator *op,
                      struct ht_text *definitions, struct ht_recipe *out) {
    const struct ht_sizes z = ht_sizes_of(spec);
    const struct ht_equations *eq = spec->eq;
    *out = (struct ht_recipe){
        .fp64 = spec->fp64,
        .items = shape->group_size,
        .number = {{"DIMS", eq->dims},
                   {"ORDER", spec->order},
                   {"FIELDS", z.fields},
                   {"SOURCES", z.sources},
                   {"OLD_SIGN", spec->old_sign},
                   {"SLACK", ht_spec_slack(spec, &z)},
                   {"MATERIALS", z.materials},
                   {"BLOCK", spec->block},
                   {"TRIM", spec->trim},
                   /* profiles are values at the nodes */
                   {"MEDIUM_DEGREE",
                    spec->medium_degree < 0 && eq->nprofiles > 0 ? 0 : spec->medium_degree},
                   {"PROFILES", eq->nprofiles},
                   {"PROFILE_DEGREE", eq->profile_degree},
                   {"MEMORY", eq->nmemory},
                   {"MEDIUM_COEFS", z.medium_coefs},
                   {"CONSTANT_MATERIALS", (int)spec->constant},
                   {"GROUPS", z.groups},
                   {"EXCHANGED", z.exchanged},
                   {"CELLS", shape->cells},
                   {"WIDTH", shape->cells},
                   {"SLABS", shape->slabs},
                   {"FACE_FIELDS", shape->face_fields},
                   {"ROWS", shape->rows},
                   {"DEPTH", shape->depth},
                   {"ROLL", shape->roll},
                   {"CHUNK", shape->chunk},
                   {"TILE", shape->tile},
                   {"MOST_REGISTERS", shape->registers},
                   {"PADDED_COEFS", ht_storage_order(spec, NULL)},
                   {"PTX", spec->ptx},
                   {"SORTED", ht_spec_sorts(spec)}},
        .file = {"args.h", "layout.h", "common.cl"},
        .entry = {variant->stage[0].entry, variant->stage[1].entry},
        .parts = true};
    for (int i = 0; variant->files[i] != NULL; i++) out->file[3 + i] = variant->files[i];
    add_lists(spec, &z, definitions);
    add_tables(spec, &z, definitions);
    if (op->text.data != NULL) ht_text_add(definitions, "%s", op->text.data);
    out->definitions = definitions->data;
    return ht_text_status(definitions);
}

HT_ERR ht_kernel_text(const struct ht_variant *variant, const struct ht_spec *spec,
                      const struct ht_shape *shape, struct ht_text *out) {
    HT_ENDED(ht_operator_free) struct ht_operator op = {0};
    HT_FREED_TEXT struct ht_text definitions = {0};
    struct ht_recipe recipe;
    if (variant->differences) return ht_fd_variant_text(variant, spec, shape, out);
    TRY(ht_operator_make(variant, spec, shape, &op));
    TRY(ht_step_recipe(variant, spec, shape, &op, &definitions, &recipe));
    return ht_recipe_write(&recipe, out);
}
