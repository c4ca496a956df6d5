/* What is free of the host's memory. */
#include "htwave/base.h"

/* The first number of a file behind a word; infinite: there is none. */
static double number_in(const char *path, const char *word) {
    char line[128];
    double number = INFINITY;
    FILE *file = fopen(path, "r");
    if (file == NULL) return number;
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, word, strlen(word)) == 0 && isinf(number)) {
            char *end;
            const double read = strtod(line + strlen(word), &end);
            if (end != line + strlen(word)) number = read;
        }
    (void)fclose(file);
    return number;
}

/* Of a control group (version 2) the memory of caches counts as used. */
double ht_mem_free(void) {
    const double limit =
        number_in("/sys/fs/cgroup/memory.max", "") - number_in("/sys/fs/cgroup/memory.current", "");
    const double machine = 1024 * number_in("/proc/meminfo", "MemAvailable:");
    return isnan(limit) ? machine : fmax(fmin(machine, limit), 0);
}
