#define PART 2
#include "variants_cube.h"
