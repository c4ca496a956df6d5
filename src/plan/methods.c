/* The table of discretisations. Rows of schemes point to it. */
#include "src/solve/methods.h"

const struct ht_method ht_method_hermite = HT_METHOD_ROW(hermite);
const struct ht_method ht_method_differences = HT_METHOD_ROW(differences);
