/* Signs of mixes (src/kernel/blocks.h). The layer at the upper side of an axis
 * is the mirror image of one at the lower side: along the axes of op_mirror the
 * parts of an operator that change the parity change their sign. Without mixes
 * nothing is multiplied.
 */
#if HT_MIXES > 1
HT_INLINE real ht_mix_sign(const struct ht_step_args *a, const int mix) {
    int odd = ht_mix[mix] & a->op_mirror;
    odd ^= odd >> 2;
    odd ^= odd >> 1;
    return odd & 1 ? (real)-1 : (real)1;
}
#define HT_ADD_SIGNED(sum, sign, x) (sum) = fma(sign, x, sum)
#else
#define ht_mix_sign(a, mix) ((real)1)
#define HT_ADD_SIGNED(sum, sign, x) ((void)(sign), (sum) += (x))
#endif
