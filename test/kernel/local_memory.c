/* The host chooses shapes by what it thinks the kernels take of local memory
 * (ht_shape.local_bytes). Here the device says what they take: the sizes of all local arrays in a
 * program's text are evaluated by one more kernel. The host may count a value too many, never too
 * few. */

#include "compiler.h"
#include "htwave/kernel.h"

#include "open_device.h"
#include "test.h"

/* The text behind a word that a text begins with, or NULL. */
static const char *behind(const char *at, const char *word) {
    return strncmp(at, word, strlen(word)) == 0 ? at + strlen(word) : NULL;
}

/* Appends a kernel that stores the size of every local array of the text, a negative entry before
 * those of each kernel; returns the entries. */
static int append_sizes(struct ht_text *text) {
    HT_ENDED(ht_text_free) struct ht_text body = {0};
    const char *at = strstr(text->data, "struct ht_step_args {");
    int count = 0;
    while (at != NULL && *at != '\0') {
        const char *type = behind(at, "HT_LOCAL_ARRAY(");
        if (behind(at, "HT_KERNEL") != NULL || behind(at, "HT_TOOL_KERNEL") != NULL) {
            ht_text_add(&body, "    to[%d] = -1;\n", count++);
        } else if (type != NULL) {
            const char *size = strchr(strchr(type, ',') + 1, ',') + 1;
            ht_text_add(&body, "    to[%d] = (int)(sizeof(%.*s) / sizeof(real)) * (%.*s;\n",
                        count++, (int)strcspn(type, ","), type, (int)strcspn(size, ";"), size);
        }
        at++;
    }
    ht_text_add(text, "HT_KERNEL void ht_sizes(HT_GLOBAL int *to) {\n%s}\n",
                body.data ? body.data : "");
    return count;
}

enum { MOST = 16 };

/* Runs ht_sizes of a program and gives the largest sum of a kernel. */
static enum ht_err read_sizes(struct ht_device *device, const char *text, int count, int *largest) {
    struct ht_program *program = NULL;
    struct ht_kernel *kernel = NULL;
    struct ht_buffer *buffer = NULL;
    int sizes[MOST] = {0}, sum = 0;
    const struct ht_span span = {.width = sizeof sizes, .pitch = sizeof sizes, .rows = 1};
    const int64_t groups[3] = {1, 1, 1};
    enum ht_err err = ht_program_build(device, text, &program);
    if (err == HT_OK) err = ht_kernel_create(program, "ht_sizes", &kernel);
    if (err == HT_OK) err = ht_buffer_create(device, span.width, &buffer);
    const struct ht_arg args[1] = {{.buffer = buffer}};
    if (err == HT_OK) err = ht_kernel_launch(kernel, 1, args, groups, 1);
    if (err == HT_OK) err = ht_device_finish(device);
    if (err == HT_OK) err = ht_buffer_read(buffer, span, sizes);
    ht_kernel_destroy(kernel);
    ht_buffer_destroy(buffer);
    ht_program_destroy(program);
    *largest = 0;
    for (int i = 0; i < count; i++) {
        sum = sizes[i] < 0 ? 0 : sum + sizes[i];
        if (sum > *largest) *largest = sum;
    }
    return err;
}

static void check(struct ht_device *device, const struct ht_variant *variant,
                  const struct ht_spec *spec, int64_t local_memory) {
    struct ht_device_info info = *ht_device_info(device);
    const struct ht_tuning tuning = {.variant = variant};
    struct ht_shape shape;
    struct ht_text text = {0};
    int element_size = ht_real_size(spec->fp64), largest = 0, count = 0;
    info.local_memory = local_memory;
    enum ht_err err = ht_variant_shape(&tuning, spec, &info, &shape);
    if (err == HT_OK) err = ht_kernel_text(variant, spec, &shape, &text);
    if (err == HT_OK) count = append_sizes(&text);
    if (err == HT_OK && count > 1 && count <= MOST)
        err = read_sizes(device, text.data, count, &largest);
    ht_text_free(&text);
    int spare = (int)(shape.local_bytes / element_size) - largest;
    TEST_CHECK(err == HT_OK && largest > 0 && spare >= 0 && spare <= 1,
               "%s %s %dD N=%d medium %d, %d cells, %d slabs, %d fields of a face: %d values too "
               "many (bound 0 to 1) in %d bytes of %d%s%s",
               variant->name, spec->eq->system->name, spec->eq->dims, spec->order,
               spec->medium_degree, shape.cells, shape.slabs, shape.face_fields, spare,
               (int)shape.local_bytes, (int)local_memory, err ? ": " : "", test_said(err));
}

static void judge(struct ht_device *device) {
    static const int degrees[] = {-1, 0, 3};
    static const int orders[] = {8, 5, 3}; /* by dims */
    for (int v = 0; v < ht_variant_count(); v++)
        for (int n = 0; n < 9; n++) {
            const struct ht_variant *variant = ht_variant_at(v);
            struct ht_equations eq = ht_equations_make(ht_system_find("acoustic"), n % 3 + 1);
            struct ht_spec spec = {.eq = &eq,
                                   .order = orders[n % 3],
                                   .fp64 = false,
                                   .block = 4,
                                   .medium_degree = degrees[n / 3],
                                   .trim = true};
            if (ht_variant_refuses(variant, &spec) != NULL ||
                ht_variant_lacks(variant, ht_device_info(device)) != NULL)
                continue;
            /* Vector kernels for all media hold whole polynomials. */
            bool little = n % 2 && (variant->made_for != HT_FOR_CPU || variant->blocks);
            check(device, variant, &spec, little ? 9216 : 49152);
        }
}

int main(void) {
    test_optimise(false);
    return test_on_device("local_memory", judge);
}
