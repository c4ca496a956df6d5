/* For test/config/faults.sh: a program that is linked with this file has calls of the functions
 * below counted, and one of them fails (-Wl,--wrap=NAME; the library's own calls, not those inside
 * other libraries). HTWAVE_FAULT is its number, from 1 on; HTWAVE_FAULT_KINDS some of the letters a
 * (memory), f (files), h (HDF5), c (OpenCL), m (MPI), else all; HTWAVE_FAULT_COUNT a file that gets
 * the number of calls at the end. Under mpiexec only calls of rank HTWAVE_FAULT_RANK count. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_long calls;
static long wanted;
static const char *kinds;
static int asked;

/* No function that is wrapped is called here. */
static void ask(void) {
    const char *number = getenv("HTWAVE_FAULT"), *rank = getenv("HTWAVE_FAULT_RANK");
    const char *own = getenv("PMI_RANK");
    kinds = getenv("HTWAVE_FAULT_KINDS");
    wanted = number != NULL ? strtol(number, NULL, 10) : 0;
    asked = rank != NULL && (own == NULL || strcmp(rank, own) != 0) ? -1 : 1;
}

__attribute__((used)) int fault_due(int kind);
int fault_due(int kind) {
    if (asked == 0) ask();
    if (asked < 0 || (kinds != NULL && strchr(kinds, kind) == NULL)) return 0;
    if (atomic_fetch_add(&calls, 1) + 1 != wanted) return 0;
    errno = kind == 'a' ? ENOMEM : ENOSPC;
    return 1;
}

__attribute__((destructor)) static void tell(void) {
    const char *path = getenv("HTWAVE_FAULT_COUNT");
    FILE *file = path != NULL && asked > 0 ? fopen(path, "w") : NULL;
    if (file == NULL) return;
    fprintf(file, "%ld\n", atomic_load(&calls));
    fclose(file);
}

/* Any prototype: the arguments stay where the caller has put them (System V ABI, x86-64). */
#define FAULT(name, kind, value)                                                                  \
    __asm__(".text\n.globl __wrap_" #name "\n.type __wrap_" #name ", @function\n__wrap_" #name    \
            ":\n push %rdi\n push %rsi\n push %rdx\n push %rcx\n push %r8\n push %r9\n push %rax" \
            "\n sub $128, %rsp\n movups %xmm0, (%rsp)\n movups %xmm1, 16(%rsp)\n"                 \
            " movups %xmm2, 32(%rsp)\n movups %xmm3, 48(%rsp)\n movups %xmm4, 64(%rsp)\n"         \
            " movups %xmm5, 80(%rsp)\n movups %xmm6, 96(%rsp)\n movups %xmm7, 112(%rsp)\n"        \
            " mov $" kind ", %edi\n call fault_due\n mov %eax, %r11d\n movups (%rsp), %xmm0\n"    \
            " movups 16(%rsp), %xmm1\n movups 32(%rsp), %xmm2\n movups 48(%rsp), %xmm3\n"         \
            " movups 64(%rsp), %xmm4\n movups 80(%rsp), %xmm5\n movups 96(%rsp), %xmm6\n"         \
            " movups 112(%rsp), %xmm7\n add $128, %rsp\n pop %rax\n pop %r9\n pop %r8\n pop %rcx" \
            "\n pop %rdx\n pop %rsi\n pop %rdi\n test %r11d, %r11d\n jne 1f\n jmp __real_" #name  \
            "@PLT\n1: mov $" value ", %rax\n ret\n")
#define MEMORY "0x61" /* 'a' */
#define FILES "0x66"
#define HDF5 "0x68"
#define OPENCL "0x63"
#define MPI "0x6d"

/* The Makefile reads the names here. */
FAULT(malloc, MEMORY, "0");
FAULT(calloc, MEMORY, "0");
FAULT(realloc, MEMORY, "0");
FAULT(fopen, FILES, "0");
FAULT(opendir, FILES, "0");
FAULT(open, FILES, "-1");
FAULT(write, FILES, "-1");
FAULT(pwrite, FILES, "-1");
FAULT(pread, FILES, "-1");
FAULT(fsync, FILES, "-1");
FAULT(close, FILES, "-1");
FAULT(rename, FILES, "-1");
FAULT(ftruncate, FILES, "-1");
FAULT(posix_fallocate, FILES, "28");
FAULT(mkdir, FILES, "-1");
FAULT(fflush, FILES, "-1");
FAULT(fclose, FILES, "-1");
FAULT(H5Fcreate, HDF5, "-1");
FAULT(H5Fopen, HDF5, "-1");
FAULT(H5Fflush, HDF5, "-1");
FAULT(H5Pcreate, HDF5, "-1");
FAULT(H5Screate, HDF5, "-1");
FAULT(H5Screate_simple, HDF5, "-1");
FAULT(H5Sselect_hyperslab, HDF5, "-1");
FAULT(H5Gcreate2, HDF5, "-1");
FAULT(H5Dcreate2, HDF5, "-1");
FAULT(H5Dopen2, HDF5, "-1");
FAULT(H5Dget_space, HDF5, "-1");
FAULT(H5Dget_offset, HDF5, "-1");
FAULT(H5Dset_extent, HDF5, "-1");
FAULT(H5Dwrite, HDF5, "-1");
FAULT(H5Dread, HDF5, "-1");
FAULT(H5Acreate2, HDF5, "-1");
FAULT(H5Awrite, HDF5, "-1");
FAULT(clBuildProgram, OPENCL, "-6");
FAULT(clSetKernelArg, OPENCL, "-6");
FAULT(clEnqueueNDRangeKernel, OPENCL, "-5");
FAULT(clEnqueueFillBuffer, OPENCL, "-5");
FAULT(clEnqueueReadBuffer, OPENCL, "-5");
FAULT(clEnqueueReadBufferRect, OPENCL, "-5");
FAULT(clEnqueueWriteBuffer, OPENCL, "-5");
FAULT(clEnqueueWriteBufferRect, OPENCL, "-5");
FAULT(clFinish, OPENCL, "-5");
FAULT(MPI_Isend, MPI, "15");
FAULT(MPI_Irecv, MPI, "15");
FAULT(MPI_Iallgather, MPI, "15");
FAULT(MPI_Ibcast, MPI, "15");
