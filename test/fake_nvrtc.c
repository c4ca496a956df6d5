/* A compiler's library for the driver of fake_cuda.c, which knows its kernels by their names: it
 * makes the same code of any text. */
#include <string.h>

static const char code[] = "\x7f"
                           "ELF, which nobody runs";

int nvrtcVersion(int *major, int *minor) {
    *major = 13;
    *minor = 0;
    return 0;
}

const char *nvrtcGetErrorString(int result) {
    return result ? "an error" : "no error";
}

int nvrtcGetNumSupportedArchs(int *count) {
    *count = 1;
    return 0;
}

int nvrtcGetSupportedArchs(int *list) {
    *list = 90;
    return 0;
}

int nvrtcCreateProgram(const char **program, const char *text) {
    *program = text;
    return 0;
}

int nvrtcDestroyProgram(const char **program) {
    *program = NULL;
    return 0;
}

int nvrtcCompileProgram(const char *program) {
    return program == NULL;
}

int nvrtcGetCUBINSize(const char *program, size_t *size) {
    *size = sizeof code;
    return program == NULL;
}

int nvrtcGetCUBIN(const char *program, char *out) {
    memcpy(out, code, sizeof code);
    return program == NULL;
}

/* Not asked for: the code is for the device's architecture, and all compiles. */
int nvrtcGetPTXSize(void) {
    return 1;
}

int nvrtcGetPTX(void) {
    return 1;
}

int nvrtcGetProgramLogSize(void) {
    return 1;
}

int nvrtcGetProgramLog(void) {
    return 1;
}
