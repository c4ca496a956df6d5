/* The program texts that htwave makes for a CUDA device, compiled by NVRTC through the CUDA back
 * end's own code, for the architectures 8.0 and 9.0; no device is needed. Texts without assembly
 * are the same for both, and are compiled for 9.0 alone, unless HTWAVE_COVER=all. Results are kept
 * in htwave's program cache, by text, NVRTC and the back end's code. */
#include "texts.h"

#include "src/device/backend.h"
#include "src/device/nvidia.h"

/* An ELF file for the machine CUDA, which is what a cubin is. */
static bool is_cubin(const unsigned char *code, size_t size) {
    const int machine = 190;
    return size > 20 &&
           memcmp(code,
                  "\x7f"
                  "ELF",
                  4) == 0 &&
           code[18] + 256 * code[19] == machine;
}

static int registers_of(const char *text) {
    const char key[] = "#define HT_MOST_REGISTERS ";
    const char *at = strstr(text, key);
    return at ? (int)strtol(at + sizeof key - 1, NULL, 10) : 0;
}

/* What the result depends on besides the text; no cache without the back end's file, or without
 * XDG_CACHE_HOME. */
static bool find_cache(int architecture, int registers, struct ht_device_info *info,
                       char directory[4096]) {
    const char *home = getenv("XDG_CACHE_HOME");
    HT_FREED char *code = NULL;
    size_t size = 0;
    if (home == NULL || ht_file_read("src/device/cuda_nvrtc.c", &code, &size) != HT_OK)
        return false;
    *info = (struct ht_device_info){.backend = "nvrtc", .ptx = architecture};
    snprintf(info->driver, sizeof info->driver, "%s", ht_nvrtc_version());
    snprintf(info->name, sizeof info->name, "%016llx %d",
             (unsigned long long)ht_hash(HT_HASH_SEED, code, size), registers);
    snprintf(directory, 4096, "%s/nvrtc", home);
    return true;
}

static enum ht_err compile(const char *text, int architecture, void **code, size_t *size) {
    const int registers = registers_of(text);
    struct ht_device_info info;
    char cache[4096];
    const bool keeps = find_cache(architecture, registers, &info, cache);
    if (keeps && ht_cache_load(cache, &info, text, code, size)) return HT_OK;
    TRY(ht_nvrtc_compile(text, architecture, registers, code, size));
    if (keeps) ht_cache_store(cache, &info, text, *code, *size);
    return HT_OK;
}

/* By the row that the name begins with. */
static bool has_assembly(const char *name) {
    static const char *const with[] = {"propagator-tensor", "propagator-planes",
                                       "propagator-warpgroup", "propagator-lanes"};
    for (int i = 0; i < 4; i++)
        if (strncmp(name, with[i], strlen(with[i])) == 0) return true;
    return false;
}

static void compile_text(const struct texts *texts, const char *name, const char *text) {
    HT_FREED void *code = NULL;
    size_t size = 0;
    if (texts->ptx < 90 && !has_assembly(name) && !test_all()) return;
    enum ht_err err = compile(text, texts->ptx, &code, &size);
    TEST_CHECK(err == HT_OK && is_cubin(code, size),
               "%s for sm_%d: %d bytes of machine code %.2000s", name, texts->ptx, (int)size,
               test_said(err));
}

/* For tools/lint: all texts, as OpenCL, into a directory. */
static void write_file(const struct texts *texts, const char *name, const char *text) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.cl", texts->directory, name);
    TEST_CHECK(ht_file_write(path, text, strlen(text)) == HT_OK, "%s", path);
}

/* What only an error shows: the log, and an architecture that is not known. */
static void test_failures(void) {
    HT_FREED void *code = NULL;
    size_t size = 0;
    enum ht_err err = ht_nvrtc_compile("extern \"C\" __global__ void ht_bad(float *x) {\n"
                                       "    x[0] = no_such_thing_here;\n}\n",
                                       90, 0, &code, &size);
    TEST_CHECK(err == HT_ERR_DEVICE && code == NULL &&
                   strstr(ht_err_message(), "no_such_thing_here") &&
                   strstr(ht_err_message(), "(2)"),
               "the compiler's log names place and cause: %s", ht_err_message());
    err = ht_nvrtc_compile("extern \"C\" __global__ void ht_empty() {}\n", 19, 0, &code, &size);
    TEST_CHECK(err == HT_ERR_DEVICE && code == NULL, "architecture 1.9: %s", ht_err_message());
    err = ht_nvrtc_compile("extern \"C\" __global__ void ht_empty() {}\n", 999, 0, &code, &size);
    TEST_CHECK(err == HT_OK && !is_cubin(code, size) && code != NULL && strlen(code) + 1 == size &&
                   strstr(code, ".version"),
               "for architecture 99.9 %d bytes of PTX", (int)size);
}

int main(int argc, char **argv) {
    static const int architectures[] = {80, 90};
    const char *missing = ht_nvrtc_missing(0);
    if (argc > 1) {
        struct texts texts = {.use = write_file, .directory = argv[1]};
        texts_each(&texts);
        return test_end("nvrtc");
    }
    if (missing != NULL) {
        TEST_SKIP("no compiler: %s", missing);
        return test_end("nvrtc");
    }
    printf("NVRTC %s\n", ht_nvrtc_version());
    test_failures();
    for (int i = 0; i < 2; i++) {
        struct texts texts = {.ptx = architectures[i], .use = compile_text};
        texts_each(&texts);
        TEST_CHECK(texts.count > 40, "%d texts for sm_%d", texts.count, texts.ptx);
    }
    return test_end("nvrtc");
}
