/* Puts the text of kernel files into a C table (see include/htwave/kernel.h):
 *
 *     embed OUT.c FILE...
 *
 * Texts become arrays of character codes, since a string literal may be no longer than 4095
 * characters in C11. OUT.c is complete or absent: make must not take half a table for a whole one.
 */
#include <stdio.h>
#include <string.h>

enum { CODES_PER_LINE = 18, LONGEST_PATH = 4096 };

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Kernel text must mean the same to every compiler: printable ASCII. */
static int is_portable(int code) {
    return code == '\n' || code == '\t' || (code >= ' ' && code <= '~');
}

static int write_text(FILE *out, const char *path, int number) {
    FILE *in = fopen(path, "rb");
    if (!in) {
        perror(path);
        return 1;
    }
    int wrong = 0, line = 1, code = 0;
    long length = 0;
    fprintf(out, "static const char text_%d[] = {", number);
    while ((code = getc(in)) != EOF) {
        if (!is_portable(code)) {
            fprintf(stderr, "%s:%d: byte %d is not printable ASCII\n", path, line, code);
            wrong = 1;
        }
        line += code == '\n';
        fprintf(out, "%s%d,", length % CODES_PER_LINE ? "" : "\n    ", code);
        length++;
    }
    fprintf(out, "0};\n");
    if (ferror(in)) {
        perror(path);
        wrong = 1;
    }
    fclose(in);
    return wrong;
}

static int write_table(FILE *out, char *const *paths, int count) {
    int wrong = 0;
    fprintf(out, "#include \"htwave/kernel.h\"\n\n#include "
                 "<stddef.h>\n\n");
    for (int i = 0; i < count; i++) wrong |= write_text(out, paths[i], i);
    fprintf(out, "\nconst struct ht_kernel_source ht_kernel_sources[] = {\n");
    for (int i = 0; i < count; i++)
        fprintf(out, "    {\"%s\", text_%d},\n", base_name(paths[i]), i);
    fprintf(out, "    {NULL, NULL}};\n");
    return wrong;
}

int main(int argc, char **argv) {
    if (argc < 2 || strlen(argv[1]) + sizeof ".part" > LONGEST_PATH) {
        fprintf(stderr, "usage: embed OUT.c FILE...\n");
        return 2;
    }
    char part[LONGEST_PATH];
    snprintf(part, sizeof part, "%s.part", argv[1]);
    FILE *out = fopen(part, "wb");
    if (!out) {
        perror(part);
        return 1;
    }
    int wrong = write_table(out, argv + 2, argc - 2);
    wrong |= ferror(out);
    wrong |= fclose(out);
    if (!wrong && rename(part, argv[1]) == 0) return 0;
    if (!wrong) perror(argv[1]);
    remove(part);
    return 1;
}
