/* Kernel variants against the oracle in three dimensions. */
#include "variants.h"

int main(int argc, char **argv) {
    return run_dimensions(3, 3, argc, argv);
}
