#include "commands.h"
enum ht_err ht_command_bench(const struct ht_args *args) {
    (void)args;
    return HT_OK;
}
