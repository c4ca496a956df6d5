/* Kernel variants against the oracle in three dimensions: part 1 of 4. */
#include "variants.h"

int main(int argc, char **argv) {
    part = 0;
    parts = 4;
    return run_dimensions(3, 3, argc, argv);
}
