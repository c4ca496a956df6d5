/* Texts about options, and the manual. */
#include "options.h"

enum { RANGE_SIZE = 160 };

/* DBL_MIN, the least positive number, stands for an open bound at 0; DBL_MAX for no bound. */
char *ht_option_range(const struct ht_option *option, char *buffer) {
    const double low = option->low, high = option->high;
    const char *choices = option->choices ? option->choices : "";
    const bool numbers = low <= high;
    ht_text_format(buffer, RANGE_SIZE, strchr(choices, '|') && !numbers ? "one of " : "");
    for (const char *c = choices; *c; c++)
        ht_text_append(buffer, RANGE_SIZE, *c == '|' ? ", " : "%c", *c);
    if (*choices && numbers) ht_text_append(buffer, RANGE_SIZE, " or ");
    if (!numbers) return buffer;
    if (low == DBL_MIN && high == DBL_MAX) return ht_text_append(buffer, RANGE_SIZE, "> 0");
    if (low == DBL_MIN) return ht_text_append(buffer, RANGE_SIZE, "> 0 and <= %.12g", high);
    if (high == DBL_MAX) return ht_text_append(buffer, RANGE_SIZE, ">= %.12g", low);
    return ht_text_append(buffer, RANGE_SIZE, "%.12g..%.12g", low, high);
}

enum ht_err ht_option_unknown(const struct ht_setting *setting, const char *what, const char *near,
                              const char *has, int count, const char *const *names) {
    const char *key = HT_SHOWN(setting->key);
    const char *place = HT_SHOWN_PLACE(setting->place);
    HT_FREED_TEXT struct ht_text known = {0};
    if (near) FAIL(HT_ERR_INPUT, "%s: unknown %s; did you mean %s? (%s)", key, what, near, place);
    ht_text_add(&known, "%s", count > 0 ? has : "");
    for (int i = 0; i < count; i++) ht_text_add(&known, "%s %s", i ? "," : "", names[i]);
    TRY(ht_text_status(&known));
    return ht_err_set(HT_ERR_INPUT, "%s: unknown %s%s (%s)", key, what, known.data, place);
}

enum { HELP_INDENT = 6, HELP_WIDTH = 78, TYPE_SIZE = RANGE_SIZE + 64 };

/* In lines of HELP_WIDTH, indented by HELP_INDENT spaces. */
static void print_text(FILE *out, const char *text) {
    int room = HELP_WIDTH - HELP_INDENT;
    while (*text) {
        int length = (int)strlen(text);
        if (length > room) {
            length = room;
            while (length > 0 && text[length] != ' ') length--;
            if (length == 0) length = room;
        }
        fprintf(out, "%*s%.*s\n", HELP_INDENT, "", length, text);
        text += length;
        while (*text == ' ') text++;
    }
}

/* With its name in the manual (in a list's group list.N.key), and the text for no default. */
static void print_option(FILE *out, bool markdown, const struct ht_option *option, const char *key,
                         const char *none) {
    static const char *const form[2][2] = {{"  %s = (%s)\n", "  %s = %s\n"},
                                           {"- `%s`, %s", "- `%s = %s`"}};
    /* "integer, 0..16 [cells]": type, unless its words and numbers stand there, range and unit. */
    char type[TYPE_SIZE], range[RANGE_SIZE];
    const char *name = ht_option_type_words(option);
    name += strncmp(name, "a ", 2) == 0 ? 2 : strncmp(name, "an ", 3) == 0 ? 3 : 0;
    ht_option_range(option, range);
    const bool any_number = option->type == HT_OPT_ONE && option->low > option->high;
    const bool said = option->choices && !any_number;
    snprintf(type, sizeof type, *option->unit ? "%s%s%s [%s]" : "%s%s%s", said ? "" : name,
             *range && !said ? ", " : "", range, option->unit);
    fprintf(out, form[markdown][option->fallback != NULL], key,
            option->fallback ? option->fallback : none);
    if (markdown) {
        fprintf(out, ": %s. %s\n", type, option->help);
    } else {
        print_text(out, type);
        print_text(out, option->help);
    }
}

void ht_params_help(FILE *out, bool markdown) {
    const char *previous = NULL;
    fputs(markdown
              ? "Every key of an input file: `key = default`: values [what a number measures]. "
                "Meaning."
              : "Options of the input file, as key = default; [..] says what a number measures.",
          out);
    fputs("\nUnits are yours, used consistently. On the command line: key=value; of a list\n"
          "of groups all of it, or a key of group N, from 1. Names of files are relative\n"
          "to the directory of the input file, on the command line to the current one.\n",
          out);
    if (markdown) fputs("\n", out);
    HT_EACH_BY(i, const struct ht_option, option, ht_option_at(i), ht_option_count()) {
        int section = ht_option_section(option->key);
        bool fresh = !previous || ht_option_section(previous) != section ||
                     strncmp(previous, option->key, (size_t)section) != 0;
        const char *title = section ? option->key : "top level";
        int length = section ? section : (int)strlen(title);
        if (fresh && markdown)
            fprintf(out, "%s### %.*s\n\n", i ? "\n" : "", length, title);
        else if (fresh)
            fprintf(out, "\n%.*s\n", length, title);
        const struct ht_option_list *list = ht_option_list(option);
        print_option(out, markdown, option, option->key, "not set");
        for (int k = 0; list && k < list->count; k++) {
            const struct ht_option *row = &list->option[k];
            print_option(out, markdown, row, HT_KEY("%s.N.%s", list->key, row->key),
                         ht_option_needed(row) ? "must be given" : "not set");
        }
        previous = option->key;
    }
    /* The names in expressions, from the parser's table. */
    fprintf(out,
            "\n%sText of medium.type or initial.type \"expression\": numbers, "
            "+ - * / ^,\nparentheses and\n%s",
            markdown ? "### expressions\n\n" : "expressions\n", markdown ? "\n" : "");
    for (int i = 0; ht_expr_word(i); i++) {
        const struct ht_expr_word *word = ht_expr_word(i);
        char name[32];
        snprintf(name, sizeof name, "%s%s", word->name, word->operand);
        fprintf(out, markdown ? "- `%s`: %s%s\n" : "  %-10s %s%s\n", name, word->help,
                word->smooth ? "" : "; not smooth");
    }
    fprintf(out,
            "%sIf a function marked \"not smooth\" jumps or has a kink in the cell of a "
            "node,\nthe medium is constant there, the mean over the cell.\n",
            markdown ? "\n" : "");
}
