/* Waves through a model that this program holds, by libhtwave:
 *
 *     cc api.c $(pkg-config --cflags --libs htwave) -lm -o api && ./api [key=value ...]
 *
 * prints the largest value of each of five traces in a uniform medium and with a slow disc. */
#include <htwave/api.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N1 = 60, N2 = 50, TRACES = 5 };

static const char *const settings[] = {
    "system=acoustic",
    "grid.cells=[60,50]",
    "grid.upper=[0.6,0.5]",
    "time={ end=1.0; scheme=\"fd\"; step=0.004; }",
    "boundary={ x1=\"absorbing\"; x2=[\"absorbing\",\"absorbing\"]; }",
    "medium={ type=\"memory\"; c=\"array\"; shape=[60,50]; spacing=[0.01,0.01]; "
    "origin=[0.005,0.005]; }",
    "sources=({ position=[0.15,0.25]; frequency=6.0; })",
    "receivers=({ type=\"line\"; from=[0.45,0.1]; to=[0.45,0.4]; count=5; every=0.01; })",
    "device.precision=double",
};
enum { SETTINGS = sizeof settings / sizeof *settings };

static void must(int code) {
    if (code == 0) return;
    fprintf(stderr, "api: %s\n", ht_api_error());
    exit(1);
}

int main(int argc, char **argv) {
    const char *key[SETTINGS + 64];
    static double c[N2][N1]; /* x1 is the fast axis */
    struct ht_api_group group;
    ht_api *api = NULL;
    int keys = 0;
    while (keys < SETTINGS) key[keys] = settings[keys], keys++;
    for (int i = 1; i < argc && i < 64; i++) key[keys++] = argv[i];
    must(ht_api_open(NULL, keys, key, &api));
    for (int slow = 0; slow < 2; slow++) {
        for (int j = 0; j < N2; j++)
            for (int i = 0; i < N1; i++)
                c[j][i] = slow && hypot(i - 29.5, j - 24.5) < 10 ? 0.7 : 1.0;
        must(ht_api_model_set(api, "c", &c[0][0]));
        must(ht_api_group(api, 0, 0, &group));
        double *traces = calloc((size_t)(group.receivers * group.samples), sizeof *traces);
        if (traces == NULL) return 1;
        must(ht_api_forward(api, 0, 0, traces));
        printf("%s:", slow ? "disc" : "uniform");
        for (int t = 0; t < TRACES; t++) {
            double most = 0;
            for (int64_t i = 0; i < group.samples; i++)
                most = fmax(most, fabs(traces[t * group.samples + i]));
            printf(" %.6f", most);
        }
        printf("\n");
        free(traces);
    }
    ht_api_close(api);
    return 0;
}
