/* Writes the program of a variant: numbers and tables first, then the files of cl/ that the variant
 * names. The host generates data only; all control flow is in cl/. */
#include "blocks.h"
#include "variant.h"

enum ht_err ht_kernel_add_source(const char *name, struct ht_text *out) {
    for (int i = 0; ht_kernel_sources[i].name != NULL; i++)
        if (strcmp(ht_kernel_sources[i].name, name) == 0) {
            ht_text_add(out, "%s", ht_kernel_sources[i].text);
            return HT_OK;
        }
    FAIL(HT_ERR_INTERNAL, "no kernel file %s", name);
}

static void add_numbers(const struct ht_spec *spec, const struct ht_shape *shape,
                        const struct ht_sizes *z, struct ht_text *out) {
    int storage[HT_MAX_COEFS], padded_coefs = ht_storage_order(spec, storage);
    const struct {
        const char *name;
        int value;
    } numbers[] = {
        {"DOUBLE", spec->fp64},
        {"DIMS", spec->eq->dims},
        {"ORDER", spec->order},
        {"FIELDS", z->fields},
        {"SOURCES", z->sources},
        {"OLD_SIGN", spec->old_sign},
        {"SLACK", ht_spec_slack(spec, z)},
        {"MATERIALS", z->materials},
        {"BLOCK", spec->block},
        {"TRIM", spec->trim},
        /* profiles are values at the nodes */
        {"MEDIUM_DEGREE",
         spec->medium_degree < 0 && spec->eq->nprofiles > 0 ? 0 : spec->medium_degree},
        {"PROFILES", spec->eq->nprofiles},
        {"PROFILE_DEGREE", spec->eq->profile_degree},
        {"MEMORY", spec->eq->nmemory},
        {"MEDIUM_COEFS", z->medium_coefs},
        {"CONSTANT_MATERIALS", (int)spec->constant},
        {"GROUPS", z->groups},
        {"EXCHANGED", z->exchanged},
        {"CELLS", shape->cells},
        {"SLABS", shape->slabs},
        {"FACE_FIELDS", shape->face_fields},
        {"NAIVE_ITEMS", z->t1 * z->t2},
        {"ROWS", shape->rows},
        {"ROLL", shape->roll},
        {"CHUNK", shape->chunk},
        {"TILE", shape->tile},
        {"GROUP_ITEMS", shape->group_size},
        {"MOST_REGISTERS", shape->registers},
        {"PADDED_COEFS", padded_coefs},
        {"PTX", spec->ptx},
        {"SORTED", ht_spec_sorts(spec)},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        ht_text_add(out, "#define HT_%s (%d)\n", numbers[i].name, numbers[i].value);
    /* HT_CELLS without parentheses, part of a vector type's name. */
    ht_text_add(out, "#define HT_WIDTH %d\n", shape->cells);
}

static void add_fields(const char *head, int count, const int *field, struct ht_text *out) {
    ht_text_add(out, "%s", head);
    for (int i = 0; i < count; i++) ht_text_add(out, " X(%d, %d)", i, field[i]);
}

/* Terms with profiles, or all others. */
static void add_terms(const struct ht_spec *spec, const struct ht_sizes *z, bool profiles,
                      struct ht_text *out) {
    for (int t = 0; t < spec->eq->nterms; t++) {
        const struct ht_term *term = &spec->eq->term[t];
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

enum ht_err ht_operator_make(const struct ht_variant *variant, const struct ht_spec *spec,
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

enum ht_err ht_kernel_text_of(const struct ht_variant *variant, const struct ht_spec *spec,
                              const struct ht_shape *shape, const struct ht_operator *op,
                              struct ht_text *out) {
    struct ht_sizes z = ht_sizes_of(spec);
    add_numbers(spec, shape, &z, out);
    /* The X macros of the kernels: X once per entry. */
    const struct ht_equations *eq = spec->eq;
    add_fields("/* X(slot, field): stored on the source grid */\n"
               "#define HT_EACH_SRC(X)",
               z.sources, z.source_field, out);
    add_fields("\n/* X(slot, field): stored on the target grid */\n"
               "#define HT_EACH_DST(X)",
               z.targets, z.target_field, out);
    ht_text_add(out, "\n#define HT_EACH_MATERIAL(X)");
    for (int m = 0; m < eq->nmaterials; m++)
        if (ht_spec_reads(spec, m)) ht_text_add(out, " X(%d)", m);
    ht_text_add(out, "\n/* X(slot, field) */\n#define HT_EACH_EXCHANGED(X)");
    for (int s = 0; s < z.exchanged; s++) ht_text_add(out, " X(%d, %d)", s, z.exchanged_field[s]);
    for (int constant = 0; constant < 2; constant++) {
        ht_text_add(out, constant ? "\n/* polynomials of degree 0 */\n"
                                    "#define HT_EACH_CONSTANT_GROUP(X)"
                                  : "\n/* X(group, row, material) */\n"
                                    "#define HT_EACH_GROUP(X)");
        for (int g = 0; g < z.groups; g++)
            if (z.group_material[g] >= 0 && ht_spec_constant(spec, z.group_material[g]) == constant)
                ht_text_add(out, " X(%d, %d, %d)", g, z.group_row[g], z.group_material[g]);
    }
    ht_text_add(out, "\n/* X(group, row): without a material */\n"
                     "#define HT_EACH_PLAIN_GROUP(X)");
    for (int g = 0; g < z.groups; g++)
        if (z.group_material[g] < 0) ht_text_add(out, " X(%d, %d)", g, z.group_row[g]);
    ht_text_add(
        out,
        "\n/* X(term, row, col, axis, derivative, group, slot of col) */\n#define HT_EACH_TERM(X)");
    add_terms(spec, &z, false, out);
    ht_text_add(out, "\n/* with a profile: X(term, row, col, its axis, "
                     "derivative, material, slot) */\n"
                     "#define HT_EACH_PROFILE_TERM(X)");
    add_terms(spec, &z, true, out);
    ht_text_add(out, "\n");
    TRY(ht_kernel_add_source("prelude.cl", out));
    add_tables(spec, &z, out);
    if (op->text.data != NULL) ht_text_add(out, "%s", op->text.data);
    TRY(ht_kernel_add_source("args.h", out));
    TRY(ht_kernel_add_source("layout.h", out));
    TRY(ht_kernel_add_source("local_sizes.h", out));
    for (int i = 0; i < HT_MAX_FILES && variant->files[i] != NULL; i++)
        TRY(ht_kernel_add_source(variant->files[i], out));
    return ht_text_status(out);
}

enum ht_err ht_kernel_text(const struct ht_variant *variant, const struct ht_spec *spec,
                           const struct ht_shape *shape, struct ht_text *out) {
    HT_ENDED(ht_operator_free) struct ht_operator op = {0};
    if (variant->differences) return ht_fd_variant_text(variant, spec, shape, out);
    TRY(ht_operator_make(variant, spec, shape, &op));
    return ht_kernel_text_of(variant, spec, shape, &op, out);
}
