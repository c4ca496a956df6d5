/* One function per command; the table of them is in main.c. */
#pragma once

#include "htwave/args.h"

HT_CHECKED enum ht_err ht_command_run(const struct ht_args *args);
HT_CHECKED enum ht_err ht_command_check(const struct ht_args *args);
HT_CHECKED enum ht_err ht_command_converge(const struct ht_args *args);
HT_CHECKED enum ht_err ht_command_devices(const struct ht_args *args);
HT_CHECKED enum ht_err ht_command_describe(const struct ht_args *args);
HT_CHECKED enum ht_err ht_command_compare(const struct ht_args *args);
HT_CHECKED enum ht_err ht_command_bench(const struct ht_args *args);
HT_CHECKED enum ht_err ht_command_tune(const struct ht_args *args);
HT_CHECKED enum ht_err ht_command_kernel_text(const struct ht_args *args);

/* version.c: --version, with what the program was built with. */
HT_CHECKED enum ht_err ht_version_print(bool as_json);
