/* The program texts that htwave makes for a CUDA device, compiled by NVRTC
 * through the CUDA back end's own code, for the architectures 8.0 and 9.0; no
 * device is needed. Texts without assembly, which are the same for both, are
 * compiled for 9.0 alone unless HTWAVE_COVER=all. Results are kept in htwave's
 * program cache, by text, NVRTC and the back end's code.
 */
#include "io/scratch.h"
#include "test.h"

#include "htwave/base.h"
#include "src/app/commands.h"
#include "src/device/cache.h"
#include "src/device/cuda_nvrtc.h"

/* A name's place in the order of the directory. */
static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names of the files in a directory, sorted; *out and they are the caller's. */
static int list_names(const char *directory, char ***out) {
    int count = 0, room = scratch_entries(directory);
    DIR *stream = opendir(directory);
    *out = calloc(room > 0 ? (size_t)room : 1, sizeof **out);
    if (*out == NULL) exit(1);
    for (struct dirent *e; stream && (e = readdir(stream)) != NULL;)
        if (e->d_name[0] != '.' && count < room) {
            if (ht_text_copy(e->d_name, &(*out)[count]) != HT_OK) exit(1);
            count++;
        }
    if (stream) closedir(stream);
    qsort(*out, (size_t)count, sizeof **out, by_name);
    return count;
}

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
    const char key[] = "#define HT_MOST_REGISTERS (";
    const char *at = strstr(text, key);
    return at ? (int)strtol(at + sizeof key - 1, NULL, 10) : 0;
}

/* What the result depends on besides the text; no cache without the back end's
 * file, or without XDG_CACHE_HOME. */
static bool find_cache(int architecture, int registers,
                       struct ht_device_info *info, char directory[4096]) {
    const char *home = getenv("XDG_CACHE_HOME");
    char *code = NULL;
    size_t size = 0;
    if (home == NULL ||
        ht_file_read("src/device/cuda_nvrtc.c", &code, &size) != HT_OK)
        return false;
    *info = (struct ht_device_info){.backend = "nvrtc", .ptx = architecture};
    snprintf(info->driver, sizeof info->driver, "%s", ht_nvrtc_version());
    snprintf(info->name, sizeof info->name, "%016llx %d",
             (unsigned long long)ht_hash(HT_HASH_SEED, code, size), registers);
    snprintf(directory, 4096, "%s/nvrtc", home);
    free(code);
    return true;
}

static enum ht_err compile(const char *text, int architecture, void **code,
                           size_t *size) {
    const int registers = registers_of(text);
    struct ht_device_info info;
    char cache[4096];
    const bool keeps = find_cache(architecture, registers, &info, cache);
    if (keeps && ht_cache_load(cache, &info, text, code, size)) return HT_OK;
    TRY(ht_nvrtc_compile(text, architecture, registers, code, size));
    if (keeps) ht_cache_store(cache, &info, text, *code, *size);
    return HT_OK;
}

static void compile_file(const char *directory, const char *name,
                         int architecture) {
    char *path = scratch_path(directory, name), *text = NULL;
    void *code = NULL;
    size_t length = 0, size = 0;
    enum ht_err err = ht_file_read(path, &text, &length);
    if (err == HT_OK) err = compile(text, architecture, &code, &size);
    TEST_CHECK(err == HT_OK && is_cubin(code, size),
               "%s for sm_%d: %d bytes of machine code %.2000s", name,
               architecture, (int)size, err ? ht_err_message() : "");
    free(code);
    free(text);
    free(path);
}

/* As htwave kernel-text --all DIRECTORY --ptx ARCHITECTURE. */
static enum ht_err write_texts(const char *directory, const char *ptx) {
    static const struct ht_command command = {
        .flag = {{"--all", "DIR", ""}, {"--ptx", "ARCH", ""}}};
    const struct ht_args args = {.command = &command,
                                 .value = {directory, ptx}};
    return ht_command_kernel_text(&args);
}

/* By the variant that the name begins with. */
static bool has_assembly(const char *name) {
    static const char *const with[] = {"propagator-tensor", "propagator-planes",
                                       "propagator-warpgroup",
                                       "propagator-lanes"};
    for (int i = 0; i < 4; i++)
        if (strncmp(name, with[i], strlen(with[i])) == 0) return true;
    return false;
}

static void compile_texts(const char *directory, int architecture) {
    char **names, ptx[16];
    int tensor = 0;
    snprintf(ptx, sizeof ptx, "%d", architecture);
    enum ht_err err = write_texts(directory, ptx);
    int count = list_names(directory, &names);
    TEST_CHECK(err == HT_OK && count > 90, "%d texts for sm_%s%s", count, ptx,
               err ? ht_err_message() : "");
    for (int i = 0; i < count; i++) {
        tensor += strncmp(names[i], "propagator-tensor", 17) == 0;
        if (architecture == 90 || test_all() || has_assembly(names[i]))
            compile_file(directory, names[i], architecture);
    }
    for (int i = 0; i < count; i++) free(names[i]);
    free(names);
    TEST_CHECK(tensor > 0, "%d of them use tensor cores", tensor);
}

/* What only an error shows: the log, and an architecture that is not known. */
static void test_failures(void) {
    void *code = NULL;
    size_t size = 0;
    enum ht_err err =
        ht_nvrtc_compile("extern \"C\" __global__ void ht_bad(float *x) {\n"
                         "    x[0] = no_such_thing_here;\n}\n",
                         90, 0, &code, &size);
    TEST_CHECK(err == HT_ERR_DEVICE && code == NULL &&
                   strstr(ht_err_message(), "no_such_thing_here") &&
                   strstr(ht_err_message(), "(2)"),
               "the compiler's log names place and cause: %s",
               ht_err_message());
    err = ht_nvrtc_compile("extern \"C\" __global__ void ht_empty() {}\n", 19,
                           0, &code, &size);
    TEST_CHECK(err == HT_ERR_DEVICE && code == NULL, "architecture 1.9: %s",
               ht_err_message());
    err = ht_nvrtc_compile("extern \"C\" __global__ void ht_empty() {}\n", 999,
                           0, &code, &size);
    TEST_CHECK(err == HT_OK && !is_cubin(code, size) && code != NULL &&
                   strlen(code) + 1 == size && strstr(code, ".version"),
               "for architecture 99.9 %d bytes of PTX", (int)size);
    free(code);
}

int main(void) {
    static const int architectures[] = {80, 90};
    const char *missing = ht_nvrtc_missing(0);
    char *directory;
    if (missing != NULL) {
        TEST_SKIP("no compiler: %s", missing);
        return test_end("nvrtc");
    }
    printf("NVRTC %s\n", ht_nvrtc_version());
    test_failures();
    for (int i = 0; i < 2; i++) {
        if ((directory = scratch_make("nvrtc")) == NULL) return 1;
        compile_texts(directory, architectures[i]);
        scratch_remove(directory);
    }
    return test_end("nvrtc");
}
