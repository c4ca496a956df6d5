/* The command line. */
#pragma once

#include "htwave/base.h"

enum { HT_MAX_FLAGS = 28 };

/* "--cells", the name of its value ("LIST") or NULL, and one line of help. */
struct ht_flag {
    const char *name, *value, *help;
};

struct ht_args;
struct ht_command {
    const char *name, *help;
    const char *arguments;             /* "FILE [key=value ...]": their number is checked, too */
    struct ht_flag flag[HT_MAX_FLAGS]; /* of this command; ends at name NULL */
    bool any;                          /* takes more arguments, to refuse them itself */
    bool json;                         /* knows --json */
    bool ranks;                        /* may run it together */
    bool hidden;                       /* left out of the list */
    const char *more;                  /* text after the flags, or NULL */
    enum ht_err (*run)(const struct ht_args *args);
};

struct ht_args {
    const struct ht_command *command;
    struct ht_comm *comm; /* NULL: a single rank */
    bool json, help;
    int count;                           /* operands: arguments that are no flags */
    char **operand;                      /* inside argv */
    const char *value[HT_MAX_FLAGS + 4]; /* of its flags, the common ones; NULL: not given; or "" */
};

/* Reads the arguments after the command's name; sets the log level. argv is reordered: the operands
 * come first. */
HT_ERR ht_args_read(const struct ht_command *command, int argc, char **argv, struct ht_args *out);
/* The value of a flag of the command, NULL when it was not given. */
const char *ht_args_value(const struct ht_args *args, const char *flag);
void ht_args_help(const struct ht_command *command, FILE *out);

/* A flag's "4,6,8" as integers from least on; not given: *out stays. */
enum { HT_MAX_INTEGERS = 64 };
struct ht_integers {
    int count, number[HT_MAX_INTEGERS];
};
HT_ERR ht_args_integers(const struct ht_args *args, const char *flag, long least, long most,
                        struct ht_integers *out);
/* Whether word is an entry of a flag's list "a,b"; not given: all words are. */
bool ht_args_listed(const struct ht_args *args, const char *flag, const char *word);
/* Refuses a list with an entry that is not among the names. */
HT_ERR ht_args_names(const struct ht_args *args, const char *flag, int count,
                     const char *const *names);
/* A flag's number from least (DBL_MIN: above 0) to most; not given: *out stays. */
HT_ERR ht_args_real(const struct ht_args *args, const char *flag, double least, double most,
                    double *out);

/* All of text to standard output; a full disk or a closed pipe is an error. */
HT_ERR ht_args_print(const struct ht_text *text);
