/* Derivatives of chi, half the sum of squares of what traces differ by from data, by the samples of
 * a signal in a file, against central differences, which are exact but for rounding: chi is a
 * polynomial of degree 2 of the samples. */
#include "gradients.h"

enum { SAMPLES = 40 };

/* A wavelet about a time, as smooth as the grid carries, with a little noise. */
static double wavelet(int i, double at, unsigned noise) {
    const double t = HT_PI * 0.08 * (0.7 * i - at);
    return (1 - 2 * t * t) * exp(-t * t) + 1e-3 * ht_rng_uniform(noise, (uint64_t)i);
}

/* Changed by a part of `change`. */
static double change(int i) {
    return wavelet(i, 11, 29);
}

static void write_signal(double part) {
    FILE *file = fopen(fd_path("signal.txt"), "w");
    for (int i = 0; i < SAMPLES; i++)
        fprintf(file, "%.17g %.17g\n", 0.7 * i, wavelet(i, 14, 23) + part * change(i));
    fclose(file);
}

/* chi, and by: its derivatives; NULL: not asked for. The source with the signal is the second. */
static double chi_of(const char *options, double part, double *by) {
    const struct ht_gradient_choice choice = {.field = HT_GRADIENT_STORE};
    struct shot s = {.squares = true};
    write_signal(part);
    take(&s, &choice, DOUBLE PLAIN, options);
    const double chi = dot((s.steps + 1) * s.traces, s.r, s.r) / 2;
    if (by != NULL) must(ht_gradient_signal(s.gradient, 1, by));
    finish(&s);
    return chi;
}

/* given: the grid, the medium, the sides, and the receivers; source: its kind. */
static void judge_signal(const char *name, const char *given, const char *source) {
    const double part = 0.1;
    char options[FD_TEXT];
    double by[SAMPLES], changes[SAMPLES];
    snprintf(options, sizeof options,
             "%s sources=({position=[20.4,16.3];frequency=0.06;%s},{position=[19.4,16.8];signal="
             "\"file\";file=\"%s\";amplitude=-3.0;delay=1.3;%s}) ",
             given, source, fd_path("signal.txt"), source);
    const double chi = chi_of(options, 0, by);
    const double difference =
        (chi_of(options, part, NULL) - chi_of(options, -part, NULL)) / (2 * part);
    for (int i = 0; i < SAMPLES; i++) changes[i] = change(i);
    TEST_BELOW(
        fabs(dot(SAMPLES, by, changes) - difference) / (norm(SAMPLES, by) * norm(SAMPLES, changes)),
        1e-12, "%s: by the samples of a signal, chi = %.6g, change %.6g", name, chi, difference);
    unlink(fd_path("signal.txt"));
}

#define GRID "grid={cells=[44,40];upper=[44.0,40.0];} time.end=30 "
#define LAYERS "boundary={x1=\"absorbing\";x2=\"absorbing\";} absorbing.cells=8 "
#define WALLS "boundary={x1=[\"rigid\",\"free\"];x2=\"periodic\";} "
#define FLUID                                                                                   \
    "system=acoustic medium={type=\"expression\";c=\"1-0.4*step(sin(1.3*x1)+cos(1.7*x2))\";rho" \
    "=1.5;} receivers=({position=[23.3,18.4];}) " GRID
#define SOLID                                                                             \
    "system=elastic medium={type=\"expression\";couplings=false;vp=\"1.5-0.4*step(sin("   \
    "0.5*x1)+cos(0.4*x2))\";vs=0.7;rho=\"1+0.5*step(cos(0.6*x1+0.3*x2))\";} receivers=({" \
    "position=[23.3,18.4];fields=[\"v1\",\"v2\",\"s11\",\"s12\"];}) " GRID LAYERS
#define LIGHT(system, fields)                                                       \
    "system=" system " medium={type=\"expression\";couplings=false;eps=\"1+2*step(" \
    "sin(0.5*x1)+cos(0.4*x2))\";} receivers=({position=[23.3,18.4];fields=[" fields \
    "];}) " GRID LAYERS

int main(void) {
    static const struct {
        const char *name, *given, *source;
    } rows[] = {{"acoustic, layers, dispersion removed", FLUID LAYERS "time.stages=1 ", ""},
                {"acoustic, walls, 2 terms", FLUID WALLS "time.stages=2 ", ""},
                {"elastic, force", SOLID, "kind=\"force\";direction=[0.6,0.8];"},
                {"elastic, explosion", SOLID, "kind=\"explosion\";"},
                {"elastic, moment", SOLID, "kind=\"moment\";moment=[1.0,0.5,0.0,0.7,0.0,0.0];"},
                {"maxwell, dipole", LIGHT("maxwell", "\"E1\",\"E2\",\"H3\""),
                 "kind=\"dipole\";direction=[0.3,0.5,0.0];"},
                {"maxwell, magnetic", LIGHT("maxwell", "\"E1\",\"H3\""),
                 "kind=\"magnetic\";direction=[0.0,0.0,1.0];"},
                {"maxwell_tm, dipole", LIGHT("maxwell_tm", "\"E3\",\"H1\""),
                 "kind=\"dipole\";direction=[0.0,0.0,1.0];"}};
    if ((fd_directory = scratch_make("signals")) == NULL) return 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        judge_signal(rows[i].name, rows[i].given, rows[i].source);
    rmdir(fd_directory);
    return test_end("convergence/signals");
}
