/* Writes a small velocity model for params/ownmodel.cfg:
 *
 *     layered_model OUT.f32
 *
 * 401 x 201 raw little-endian float32, depth fastest, 5 m apart, in m/s:
 * water over tilted layers, which a fault shifts by 60 m. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "htwave/base.h"

enum { ACROSS = 401, DOWN = 201, LAYERS = 6 };

static const double spacing = 5; /* metres */

/* Top of layer n below the surface at distance x, in metres. */
static double top(int n, double x) {
    static const double depth[LAYERS] = {0, 150, 300, 430, 600, 790};
    static const double slope[LAYERS] = {0, 0.02, 0.08, -0.05, 0.06, -0.04};
    const double fault = 1150, dip = 0.3, throw = 60;
    double y = depth[n] + slope[n] * (x - 1000);
    bool beyond = n > 1 && x > fault + dip * y;
    return beyond ? y + throw : y;
}

static float speed(double x, double z) {
    static const float value[LAYERS] = {1500, 1800, 2200, 2000, 2800, 3500};
    int n = 0;
    while (n + 1 < LAYERS && z >= top(n + 1, x)) n++;
    return value[n];
}

static void put_little_endian(float value, unsigned char *out) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int byte = 0; byte < 4; byte++) out[byte] = (unsigned char)(bits >> (8 * byte) & 0xffU);
}

static enum ht_err write_model(const char *path) {
    unsigned char *data = NULL;
    TRY(HT_ALLOC(data, ACROSS * DOWN * 4));
    for (int i = 0; i < ACROSS; i++)
        for (int k = 0; k < DOWN; k++)
            put_little_endian(speed(i * spacing, k * spacing),
                              data + (size_t)4 * (size_t)(i * DOWN + k));
    enum ht_err err = ht_file_write(path, data, (size_t)ACROSS * DOWN * 4);
    free(data);
    return err;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: layered_model OUT.f32\n");
        return 2;
    }
    enum ht_err err = write_model(argv[1]);
    if (err != HT_OK) fprintf(stderr, "layered_model: %s\n", ht_err_message());
    return ht_err_exit_code(err);
}
