/* NVRTC, loaded at run time: building needs only the toolkit's header. A driver may refuse code of
 * a newer compiler: libraries are tried from its version downwards, then newer ones. */
#include "nvidia.h"

#include <nvrtc.h>

#define FUNCTIONS(X)             \
    X(nvrtcVersion)              \
    X(nvrtcGetErrorString)       \
    X(nvrtcGetNumSupportedArchs) \
    X(nvrtcGetSupportedArchs)    \
    X(nvrtcCreateProgram)        \
    X(nvrtcDestroyProgram)       \
    X(nvrtcCompileProgram)       \
    X(nvrtcGetPTXSize)           \
    X(nvrtcGetPTX)               \
    X(nvrtcGetCUBINSize)         \
    X(nvrtcGetCUBIN)             \
    X(nvrtcGetProgramLogSize)    \
    X(nvrtcGetProgramLog)

static struct {
    bool tried;
    int major;
    char version[24], missing[160];
#define POINTER(name) __typeof__(name) *(name);
    FUNCTIONS(POINTER)
} nvrtc;

/* Tries the linker's search path, then the usual directories of toolkits. */
static void *open_name(const char *name) {
    const char *const folders[] = {getenv("CUDA_HOME"), "/usr/local/cuda"};
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    for (int i = 0; library == NULL && i < 2; i++) {
        char path[512];
        if (folders[i] == NULL) continue;
        snprintf(path, sizeof path, "%s/lib64/%s", folders[i], name);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return library;
}

static void *open_major(int major) {
    /* all of 11.2 to 11.8 */
    return open_name(HT_KEY("libnvrtc.so.%d%s", major, major == 11 ? ".2" : ""));
}

static void *open_library(int driver) {
    enum { FIRST = 11, LAST = 20 };
    int own = driver > 0 ? driver / 1000 : LAST;
    void *library = NULL;
    for (int major = own; library == NULL && major >= FIRST; major--) library = open_major(major);
    if (library == NULL) library = open_name("libnvrtc.so");
    for (int major = own + 1; library == NULL && major <= LAST; major++)
        library = open_major(major);
    return library;
}

static bool find(void *library, const char *name, void *function) {
    if (ht_library_find(library, name, function)) return true;
    snprintf(nvrtc.missing, sizeof nvrtc.missing,
             "libnvrtc.so has no function %s: is the CUDA toolkit older than 11.2?", name);
    return false;
}

static void load(int driver) {
    void *library = open_library(driver);
    int major = 0, minor = 0;
    if (library == NULL) {
        snprintf(nvrtc.missing, sizeof nvrtc.missing, "%s",
                 "the compiler libnvrtc.so of the CUDA toolkit was not found");
        return;
    }
#define FIND(name) &&find(library, #name, &nvrtc.name)
    bool all = true FUNCTIONS(FIND);
    if (!all) {
        (void)dlclose(library);
        return;
    }
    (void)nvrtc.nvrtcVersion(&major, &minor);
    nvrtc.major = major;
    snprintf(nvrtc.version, sizeof nvrtc.version, "%d.%d", major, minor);
}

const char *ht_nvrtc_missing(int driver) {
    if (!nvrtc.tried) load(driver);
    nvrtc.tried = true;
    return nvrtc.missing[0] != '\0' ? nvrtc.missing : NULL;
}

const char *ht_nvrtc_version(void) {
    return nvrtc.version;
}

/* The first version that knows sm_90a. */
enum { OWN_VERSION = 12, OWN_ARCHITECTURE = 90 };

bool ht_nvrtc_own(int architecture) {
    return architecture == OWN_ARCHITECTURE && nvrtc.major >= OWN_VERSION;
}

static HT_ERR check(nvrtcResult code, const char *what) {
    REQUIRE(code == NVRTC_SUCCESS, HT_ERR_DEVICE, "%s: %s", what, nvrtc.nvrtcGetErrorString(code));
    return HT_OK;
}

/* The newest architecture that the compiler supports and the device runs. */
static HT_ERR nearest(int architecture, int *out) {
    int count = 0;
    *out = 0;
    TRY(check(nvrtc.nvrtcGetNumSupportedArchs(&count), "architectures of NVRTC"));
    HT_ARRAY(int, list, count);
    TRY(check(nvrtc.nvrtcGetSupportedArchs(list), "architectures of NVRTC"));
    for (int i = 0; i < count; i++)
        if (list[i] <= architecture && list[i] > *out) *out = list[i];
    REQUIRE(*out > 0, HT_ERR_DEVICE,
            "NVRTC %s does not support architecture %d.%d any more: use an "
            "older CUDA toolkit or device.backend = \"opencl\"",
            nvrtc.version, architecture / 10, architecture % 10);
    return HT_OK;
}

static HT_ERR compile_failed(nvrtcProgram program, nvrtcResult code) {
    size_t size = 0;
    if (nvrtc.nvrtcGetProgramLogSize(program, &size) != NVRTC_SUCCESS) size = 0;
    HT_ARRAY(char, log, size + 1);
    if (size > 0) (void)nvrtc.nvrtcGetProgramLog(program, log);
    FAIL(HT_ERR_DEVICE, "the kernel does not compile (%s); compiler log:\n%s",
         nvrtc.nvrtcGetErrorString(code), log);
}

/* As OpenCL's -cl-denorms-are-zero. Products and sums are fused by default, as in OpenCL. */
static HT_ERR compile(nvrtcProgram program, int architecture, int registers, void **code,
                      size_t *size) {
    char target[40], most[32];
    const char *options[] = {target, "--ftz=true", "--std=c++17", "--disable-warnings", most};
    int known = 0;
    TRY(nearest(architecture, &known));
    bool cubin = known == architecture;
    snprintf(target, sizeof target, "--gpu-architecture=%s_%d%s", cubin ? "sm" : "compute", known,
             cubin && ht_nvrtc_own(known) ? "a" : "");
    snprintf(most, sizeof most, "--maxrregcount=%d", registers);
    nvrtcResult result = nvrtc.nvrtcCompileProgram(program, registers > 0 ? 5 : 4, options);
    if (result != NVRTC_SUCCESS) return compile_failed(program, result);
    char *bytes = NULL;
    TRY(check(cubin ? nvrtc.nvrtcGetCUBINSize(program, size) : nvrtc.nvrtcGetPTXSize(program, size),
              "the size of compiled code"));
    REQUIRE(*size > 0, HT_ERR_DEVICE, "NVRTC returned no code");
    TRY(HT_ALLOC(bytes, *size));
    enum ht_err err =
        check(cubin ? nvrtc.nvrtcGetCUBIN(program, bytes) : nvrtc.nvrtcGetPTX(program, bytes),
              "compiled code");
    return HT_MADE(err, bytes, free, code);
}

HT_ERR ht_nvrtc_compile(const char *text, int architecture, int registers, void **code,
                        size_t *size) {
    nvrtcProgram program = NULL;
    const char *missing = ht_nvrtc_missing(0);
    *code = NULL;
    REQUIRE(missing == NULL, HT_ERR_DEVICE, "%s", missing);
    TRY(check(nvrtc.nvrtcCreateProgram(&program, text, "program", 0, NULL, NULL),
              "creating a program"));
    enum ht_err err = compile(program, architecture, registers, code, size);
    (void)nvrtc.nvrtcDestroyProgram(&program);
    return err;
}
