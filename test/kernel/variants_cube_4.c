#define PART 3
#include "variants_cube.h"
