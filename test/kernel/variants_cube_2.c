#define PART 1
#include "variants_cube.h"
