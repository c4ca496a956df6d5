/* The colours of signed fields and of models. */
#ifndef HTWAVE_IO_COLOUR_H
#define HTWAVE_IO_COLOUR_H

struct ht_colour {
    unsigned char red, green, blue;
};

/* Diverging map: -1 deep blue, 0 neutral, +1 deep red; values beyond are clamped. */
struct ht_colour ht_colour_signed(double value);
/* Rising map: 0 dark violet to 1 light yellow, lightness even to the eye; values beyond are
 * clamped. */
struct ht_colour ht_colour_rising(double value);
/* a + t (b - a), 0 <= t <= 1. */
struct ht_colour ht_colour_mix(struct ht_colour a, struct ht_colour b, double t);

#endif
