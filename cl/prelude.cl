/* Macros for what OpenCL C and CUDA C spell differently. Kernels are written in the common subset
 * of OpenCL C 1.2 and CUDA C; only this file distinguishes the two languages. */
#define HT_JOIN_2(a, b) a##b
#define HT_JOIN(a, b) HT_JOIN_2(a, b)
#ifdef __CUDACC__
#define HT_KERNEL extern "C" __global__
#if HT_MOST_REGISTERS > 0 /* launch bounds would override -maxrregcount */
#define HT_GROUP_SIZE(n)
#else
#define HT_GROUP_SIZE(n) __launch_bounds__(n)
#endif
#define HT_GLOBAL
#define HT_LOCAL
#define HT_LOCAL_ARRAY(type, name, size) __shared__ type name[size]
/* All local memory that the launch gives (open_memory of a variant). */
#define HT_LOCAL_MEMORY(type, name) extern __shared__ __align__(128) type name[]
#define HT_TABLE __constant__
#define HT_INLINE static __device__ __forceinline__
#define HT_RESTRICT __restrict__
/* HT_VECTOR(2) and (4) are types that one instruction reads or writes. HT_VECTOR(HT_WIDTH), spelled
 * exactly so, is a type for arithmetic. */
#define HT_VECTOR(width) HT_VECTOR_##width
#define HT_VECTOR_2 HT_JOIN(HT_REAL, 2)
#define HT_VECTOR_4 HT_JOIN(HT_REAL, 4)
#define HT_VECTOR_HT_WIDTH ht_lanes<HT_WIDTH>
#define HT_LOOSE
#define __asm__ asm
#define HT_AS_UINT(x) __float_as_uint(x)
#define HT_AS_FLOAT(x) __uint_as_float(x)
#define HT_LOCAL_ADDRESS(p) ((unsigned)__cvta_generic_to_shared(p))
/* Half precision in memory, single outside: value i of those at p. */
#define HT_HALF unsigned short
#define HT_STORE_HALF(p, i, x) asm("cvt.rn.f16.f32 %0, %1;" : "=h"((p)[i]) : "f"((float)(x)))
static __device__ __forceinline__ float ht_load_half(unsigned short bits) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
}
#define HT_LOAD_HALF(p, i) ht_load_half((p)[i])
#define HT_PREFETCH(p) (void)(p)
#define HT_BARRIER() __syncthreads()
#define HT_BARRIER_GLOBAL() __syncthreads()
#define HT_ITEM() ((int)threadIdx.x)
#define HT_GROUP_1() ((long)blockIdx.x)
#define HT_GROUP_2() ((long)blockIdx.y)
#define HT_GROUP_3() ((long)blockIdx.z)
#else
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#ifdef HT_BUILTINS
/* The built-in functions of this folder, for a compiler that is kept from reading its declarations
 * of all (src/device/opencl.c); tests run with these alone (tools/small-pocl). */
#define HT_BUILTIN __attribute__((overloadable, const))
#define HT_BUILTIN_REAL(type)         \
    HT_BUILTIN_FMA(type)              \
    HT_BUILTIN_FMA(type##2)           \
    HT_BUILTIN_FMA(type##4)           \
    HT_BUILTIN_FMA(type##8)           \
    HT_BUILTIN_FMA(type##16)          \
    HT_BUILTIN type fabs(type x);     \
    HT_BUILTIN type sqrt(type x);     \
    HT_BUILTIN type fmax(type, type); \
    HT_BUILTIN type ldexp(type, int); \
    HT_BUILTIN int ilogb(type);       \
    HT_BUILTIN int isfinite(type);
#define HT_BUILTIN_FMA(type) HT_BUILTIN type fma(type, type, type);
HT_BUILTIN_REAL(float)
#ifdef cl_khr_fp64
HT_BUILTIN_REAL(double)
#endif
HT_BUILTIN size_t get_global_id(uint);
HT_BUILTIN size_t get_group_id(uint);
HT_BUILTIN size_t get_local_id(uint);
__attribute__((overloadable, pure)) float vload_half(size_t, const __global half *);
__attribute__((overloadable)) void vstore_half(float, size_t, __global half *);
__attribute__((overloadable, convergent)) void barrier(cl_mem_fence_flags);
#endif
#define HT_KERNEL __kernel
#define HT_GROUP_SIZE(n) __attribute__((reqd_work_group_size(n, 1, 1)))
#define HT_GLOBAL __global
#define HT_LOCAL __local
#define HT_LOCAL_ARRAY(type, name, size) __local type name[size]
#define HT_TABLE __constant
/* PoCL 3.1 miscompiles function calls that are not inlined in kernels with local arrays. Compilers
 * for GPUs inline all of them. */
#define HT_INLINE __attribute__((always_inline)) inline
#ifndef HT_RESTRICT /* -DHT_RESTRICT= for tools without this keyword */
#define HT_RESTRICT restrict
#endif
/* Vectors of 2, 4, 8 or 16 reals. HT_LOOSE gives a vector the alignment of a real. */
#define HT_VECTOR(width) HT_JOIN(HT_REAL, width)
#define HT_LOOSE __attribute__((aligned(HT_DOUBLE ? 8 : 4)))
#define HT_AS_UINT(x) as_uint(x)
#define HT_AS_FLOAT(x) as_float(x)
#define HT_LOCAL_ADDRESS(p) ((unsigned)(size_t)(p))
/* Half precision in memory, single outside: value i of those at p. */
#define HT_HALF half
#define HT_STORE_HALF(p, i, x) vstore_half((float)(x), (size_t)(i), p)
#define HT_LOAD_HALF(p, i) vload_half((size_t)(i), p)
/* Begins to read what lies at a global address into a near cache: PoCL's own does nothing, and
 * others may not know this one. */
#ifdef POCL_DEVICE_ADDRESS_BITS
#define HT_PREFETCH(p) __builtin_prefetch((const void *)(size_t)(p))
#else
#define HT_PREFETCH(p) (void)(p)
#endif
#define HT_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define HT_BARRIER_GLOBAL() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define HT_ITEM() ((int)get_local_id(0))
#define HT_GROUP_1() ((long)get_group_id(0))
#define HT_GROUP_2() ((long)get_group_id(1))
#define HT_GROUP_3() ((long)get_group_id(2))
#endif

/* What one argument alone points to: read only, or written, too. */
#define HT_INPUT(type) HT_GLOBAL const type *HT_RESTRICT
#define HT_OUTPUT(type) HT_GLOBAL type *HT_RESTRICT
#define HT_TOOL_KERNEL HT_KERNEL HT_GROUP_SIZE(HT_TOOL_ITEMS) void

#if HT_DOUBLE
#define HT_REAL double
#else
#define HT_REAL float
#endif
typedef HT_REAL real;

/* For loops over private arrays of a work-item: the compiler places the arrays in registers only if
 * the loops are unrolled. */
#define HT_UNROLL _Pragma("unroll")
#define HT_UNROLLED(i, n) HT_UNROLLED_FROM(i, 0, n)
#define HT_UNROLLED_FROM(i, first, end) HT_UNROLL for (int i = (first); i < (end); i++)
#define HT_ROLLED _Pragma("unroll 1")
#define HT_UNROLL_BY(n) HT_PRAGMA(unroll n)
#define HT_PRAGMA(text) _Pragma(#text)

#ifdef __CUDACC__
/* Vector for arithmetic with the alignment of a real. A number converts to a vector whose lanes all
 * have its value. */
#define HT_LANES_OPERATOR(head, value)                \
    friend __device__ __forceinline__ ht_lanes head { \
        ht_lanes result;                              \
        HT_UNROLLED(i, width) result.lane[i] = value; \
        return result;                                \
    }
template <int width> struct ht_lanes {
    real lane[width];
    ht_lanes() = default;
    __device__ __forceinline__ ht_lanes(real all) {
        HT_UNROLLED(i, width) lane[i] = all;
    }
    HT_LANES_OPERATOR(operator-(ht_lanes a), -a.lane[i])
    HT_LANES_OPERATOR(operator+(ht_lanes a, ht_lanes b), a.lane[i] + b.lane[i])
    HT_LANES_OPERATOR(operator-(ht_lanes a, ht_lanes b), a.lane[i] - b.lane[i])
    HT_LANES_OPERATOR(operator*(ht_lanes a, ht_lanes b), a.lane[i] * b.lane[i])
    HT_LANES_OPERATOR(operator/(ht_lanes a, ht_lanes b), a.lane[i] / b.lane[i])
    HT_LANES_OPERATOR(fma(ht_lanes a, ht_lanes b, ht_lanes c), fma(a.lane[i], b.lane[i], c.lane[i]))
    __device__ __forceinline__ void operator+=(ht_lanes b) { *this = *this + b; }
    __device__ __forceinline__ void operator-=(ht_lanes b) { *this = *this - b; }
    __device__ __forceinline__ void operator*=(ht_lanes b) { *this = *this * b; }
};
#endif
