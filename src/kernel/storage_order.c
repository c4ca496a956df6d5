/* The storage index of each coefficient of a node: in tensor order, or sorted
 * by parity. Sorted means by class, the bits i_k mod 2, and within a class in
 * tensor order. Classes begin at even storage indices, so both of a pair 2 n,
 * 2 n + 1 belong to one class (cl/propagator_tensor.cl reads and writes pairs).
 * At N = 1 each class has one coefficient: tensor order is sorted, and pairs of
 * one class would be half empty.
 */
#include "counts.h"

int ht_parity_of(const struct ht_sizes *z, int i) {
    int i1 = i % z->n1, i2 = i / z->n1 % z->n2, i3 = i / (z->n1 * z->n2);
    return (i1 & 1) | (i2 & 1) << 1 | (i3 & 1) << 2;
}

bool ht_spec_sorts(const struct ht_spec *spec) {
    return spec->sorted && spec->order > 1;
}

int ht_storage_order(const struct ht_spec *spec, int storage[HT_MAX_COEFS]) {
    struct ht_sizes z = ht_sizes_of(spec);
    int coefs = z.n1 * z.n2 * z.n3, count = 0;
    if (!ht_spec_sorts(spec)) {
        for (int i = 0; i < coefs; i++) storage[i] = i;
        count = coefs;
    } else {
        for (int parity = 0; parity < 8; parity++) {
            for (int i = 0; i < coefs; i++)
                if (ht_parity_of(&z, i) == parity) storage[i] = count++;
            count += count % 2;
        }
    }
    return (count + spec->block - 1) / spec->block * spec->block;
}
