/* Kernel variants against the oracle in three dimensions, by four programs. */
#pragma once

#include "variants.h"

int main(int argc, char **argv) {
    part = PART;
    parts = 4;
    return run_dimensions(3, 3, argc, argv);
}
