#ifndef HTWAVE_NUM_STABILITY_PAIR_H
#define HTWAVE_NUM_STABILITY_PAIR_H

/* The pair u_t = v, v_t = c^2 lap u with full stages, [dims-1][order-1]. */
static const unsigned char ht_stability_pair[3][8] = {
    {100, 80, 72, 80, 80, 80, 80, 80},
    {90, 80, 72, 80, 80, 80, 80, 80},
    {90, 80, 72, 80, 80, 80, 80, 80},
};

#endif
