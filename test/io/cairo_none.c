/* A build without cairo (make WITHOUT=cairo): a run that asks for pictures is refused by
 * test/config/commands.sh. */
#include "../test.h"

int main(void) {
    TEST_SKIP("pictures: this htwave was built without cairo");
    return test_end("io/cairo_none");
}
