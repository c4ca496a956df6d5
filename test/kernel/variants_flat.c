/* Kernel variants against the oracle in one and two dimensions. */
#include "variants.h"

int main(int argc, char **argv) {
    return run_dimensions(1, 2, argc, argv);
}
