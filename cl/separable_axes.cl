/* The one-dimensional operators of a half step of advection: along an axis one interpolates between
 * two neighbours and shifts the interpolant. HT_AXIS_AT(k, side, r, i) multiplies derivative i at
 * the neighbour on `side` of axis k in derivative r. */
#define HT_AXIS_AT(k, side, r, i) ht_axis[(((k)*2 + (side)) * HT_N1 + (r)) * HT_N1 + (i)]
