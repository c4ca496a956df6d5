#define PART 0
#include "variants_cube.h"
