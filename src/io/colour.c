/* Two colour maps that are even to the eye.
 *
 * The diverging one: two paths in CIELAB leave the neutral colour (L = 97): one through blue (hue
 * 265 to 290 degrees), one through red (52 to 32), both down to L = 30 linearly, with a chroma that
 * rises and falls off as the screen's gamut wants. Each is cut into eight pieces of equal length in
 * CIELAB, so that equal steps of the field look equal (neighbours in the table are 12.9 +- 0.7
 * apart) and the two signs have the same lightness.
 *
 * The rising one: every eighth part of viridis (S. van der Walt, N. Smith 2015, CC0), whose
 * lightness is linear.
 */
#include "colour.h"

#include <math.h>

enum { LAST = 16 };

static const struct ht_colour anchors[LAST + 1] = {
    {1, 66, 155},    {2, 94, 195},    {41, 125, 228},  {85, 155, 248},  {123, 177, 255},
    {157, 196, 255}, {189, 215, 255}, {218, 233, 254}, {246, 246, 246}, {254, 226, 215},
    {255, 204, 184}, {253, 181, 153}, {246, 154, 123}, {233, 124, 93},  {211, 89, 65},
    {179, 52, 42},   {141, 19, 26},
};

static unsigned char mix(unsigned char a, unsigned char b, double t) {
    return (unsigned char)lround(a + t * (b - a));
}

struct ht_colour ht_colour_mix(struct ht_colour a, struct ht_colour b, double t) {
    return (struct ht_colour){mix(a.red, b.red, t), mix(a.green, b.green, t),
                              mix(a.blue, b.blue, t)};
}

struct ht_colour ht_colour_signed(double value) {
    double at = (fmin(fmax(value, -1.0), 1.0) + 1.0) * (0.5 * LAST);
    int i = (int)fmin(floor(at), LAST - 1);
    return ht_colour_mix(anchors[i], anchors[i + 1], at - i);
}

struct ht_colour ht_colour_rising(double value) {
    static const struct ht_colour part[] = {{68, 1, 84},    {71, 45, 123},  {59, 82, 139},
                                            {44, 114, 142}, {33, 145, 140}, {40, 174, 128},
                                            {94, 201, 98},  {173, 220, 48}, {253, 231, 37}};
    enum { PARTS = sizeof part / sizeof part[0] - 1 };
    double at = fmin(fmax(value, 0.0), 1.0) * PARTS;
    int i = (int)fmin(floor(at), PARTS - 1);
    return ht_colour_mix(part[i], part[i + 1], at - i);
}
