/* Flags may stand anywhere after the command, as "--flag value" or "--flag=value"; "--" ends them.
 * All other arguments are operands. */
#include "htwave/args.h"

static const struct ht_flag common_flags[] = {
    {"--json", NULL, "one JSON object on standard output"},
    {"--quiet", NULL, "no messages but warnings and errors"},
    {"--verbose", NULL, "more messages"},
    {"--help", NULL, "this text"},
};
enum { COMMON = sizeof common_flags / sizeof common_flags[0] };

/* Those of the command, then the common ones; NULL: there are no more. */
static const struct ht_flag *flag_at(const struct ht_command *command, int index) {
    int count = 0;
    while (count < HT_MAX_FLAGS && command->flag[count].name != NULL) count++;
    if (index < count) return &command->flag[index];
    index -= count - !command->json;
    return index < COMMON ? &common_flags[index] : NULL;
}

/* *next is moved past the flag's value. */
static HT_ERR read_flag(int argc, char **argv, int *next, struct ht_args *out) {
    const struct ht_command *command = out->command;
    const char *given = argv[*next - 1], *word = strcmp(given, "-h") == 0 ? "--help" : given;
    const char *equals = strchr(word, '='), *known[COMMON + HT_MAX_FLAGS];
    const size_t length = strcspn(word, "=");
    const struct ht_flag *flag;
    int count = 0;
    for (; (flag = flag_at(command, count)) != NULL; count++) {
        known[count] = flag->name;
        if (strlen(flag->name) != length || memcmp(word, flag->name, length) != 0) continue;
        out->value[count] = equals ? equals + 1 : "";
        REQUIRE(flag->value || !equals, HT_ERR_INPUT, "%s takes no value", flag->name);
        if (!flag->value || equals) return HT_OK;
        REQUIRE(*next < argc, HT_ERR_INPUT, "%s needs a value, %s", flag->name, flag->value);
        out->value[count] = argv[(*next)++];
        return HT_OK;
    }
    const char *near = ht_text_nearest(word, known, count);
    FAIL(HT_ERR_INPUT, "%s %s: unknown flag%s%s; htwave %s --help lists them", command->name,
         HT_SHOWN(word), near ? ", nearest is " : "", near ? near : "", command->name);
}

static HT_ERR check_count(const struct ht_args *args) {
    const struct ht_command *command = args->command;
    const char *gap = *command->arguments ? " " : "", *words = command->arguments;
    int least = 0, most = 0;
    for (const char *at = words; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        least += most == least && *at != '[';
        most++;
    }
    REQUIRE(args->count >= least, HT_ERR_INPUT, "%s needs more arguments: htwave %s%s%s",
            command->name, command->name, gap, command->arguments);
    REQUIRE(command->any || strstr(words, "...") != NULL || args->count <= most, HT_ERR_INPUT,
            "%s: one argument too many, \"%s\": htwave %s%s%s", command->name,
            HT_SHOWN(args->operand[most]), command->name, gap, command->arguments);
    return HT_OK;
}

HT_ERR ht_args_read(const struct ht_command *command, int argc, char **argv, struct ht_args *out) {
    bool flags = true;
    *out = (struct ht_args){.command = command, .operand = argv};
    for (int next = 0; next < argc;) {
        char *word = argv[next++];
        if (flags && strcmp(word, "--") == 0)
            flags = false;
        else if (!flags || word[0] != '-' || word[1] == '\0')
            argv[out->count++] = word;
        else
            TRY(read_flag(argc, argv, &next, out));
    }
    out->json = command->json && ht_args_value(out, "--json") != NULL;
    out->help = ht_args_value(out, "--help") != NULL;
    if (ht_args_value(out, "--quiet") != NULL) ht_log_level_set(HT_LOG_QUIET);
    if (ht_args_value(out, "--verbose") != NULL) ht_log_level_set(HT_LOG_VERBOSE);
    return out->help ? HT_OK : check_count(out);
}

const char *ht_args_value(const struct ht_args *args, const char *flag) {
    for (int i = 0; flag_at(args->command, i) != NULL; i++)
        if (strcmp(flag_at(args->command, i)->name, flag) == 0) return args->value[i];
    return NULL;
}

void ht_args_help(const struct ht_command *command, FILE *out) {
    fprintf(out, "htwave %s%s%s\n%s\n\n", command->name, *command->arguments ? " " : "",
            command->arguments, command->help);
    const struct ht_flag *flag;
    for (int i = 0; (flag = flag_at(command, i)) != NULL; i++) {
        const char *value = flag->value ? flag->value : "";
        fprintf(out, "  %-20s %s\n", HT_KEY("%s%s%s", flag->name, *value ? " " : "", value),
                flag->help);
    }
    if (command->more) fprintf(out, "\n%s\n", command->more);
    if (command->ranks)
        fprintf(out, "\nmpiexec -n RANKS htwave %s shares the work among processes.\n",
                command->name);
}

HT_ERR ht_args_integers(const struct ht_args *args, const char *flag, long least, long most,
                        struct ht_integers *out) {
    const char *text = ht_args_value(args, flag);
    if (text != NULL) out->count = 0;
    for (const char *c = text; c != NULL;) {
        char *end = NULL;
        errno = 0;
        const long value = strtol(c, &end, 10);
        REQUIRE(end != c && strchr(",", *end) && errno == 0 && value >= least && value <= most,
                HT_ERR_INPUT, "%s %s: must be integers %ld..%ld with commas", flag, HT_SHOWN(text),
                least, most);
        REQUIRE(out->count < HT_MAX_INTEGERS, HT_ERR_INPUT, "%s %s: has more than %d numbers", flag,
                HT_SHOWN(text), HT_MAX_INTEGERS);
        out->number[out->count++] = (int)value;
        c = *end ? end + 1 : NULL;
    }
    return HT_OK;
}

bool ht_args_listed(const struct ht_args *args, const char *flag, const char *word) {
    const char *list = ht_args_value(args, flag);
    return list == NULL || ht_text_find(list, ',', word) >= 0;
}

HT_ERR ht_args_names(const struct ht_args *args, const char *flag, int count,
                     const char *const *names) {
    HT_FREED_TEXT struct ht_text known = {0};
    for (int i = 0; i < count; i++) ht_text_add(&known, "%s%s", i ? ", " : "", names[i]);
    TRY(ht_text_status(&known));
    for (const char *at = ht_args_value(args, flag); at != NULL;) {
        const size_t length = strcspn(at, ",");
        REQUIRE(ht_text_find(known.data, ',', HT_KEY("%.*s", (int)length, at)) >= 0, HT_ERR_INPUT,
                "%s %.*s: must be of %s", flag, (int)length, at, known.data);
        at = at[length] ? at + length + 1 : NULL;
    }
    return HT_OK;
}

HT_ERR ht_args_real(const struct ht_args *args, const char *flag, double least, double most,
                    double *out) {
    const char *text = ht_args_value(args, flag);
    char *end = NULL, low[32] = "above 0", high[32] = "";
    if (text == NULL) return HT_OK;
    const double value = strtod(text, &end);
    REQUIRE(end != text && *end == '\0' && isfinite(value), HT_ERR_INPUT, "%s %s: must be a number",
            flag, HT_SHOWN(text));
    if (least > DBL_MIN || least <= 0) snprintf(low, sizeof low, "at least %g", least);
    if (most < DBL_MAX) snprintf(high, sizeof high, " and at most %g", most);
    REQUIRE(value >= least && value <= most, HT_ERR_INPUT, "%s %s: must be %s%s", flag, text, low,
            high);
    *out = value;
    return HT_OK;
}

HT_ERR ht_args_print(const struct ht_text *text) {
    TRY(ht_text_status(text));
    bool good = text->length == 0 || fwrite(text->data, 1, text->length, stdout) == text->length;
    good = fflush(stdout) == 0 && !ferror(stdout) && good;
    good = good || errno == EPIPE; /* the reader has seen enough */
    REQUIRE(good, HT_ERR_IO, "cannot write to standard output: %s", strerror(errno));
    return HT_OK;
}
