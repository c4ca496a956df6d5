/* What a test cannot go on without. */
#pragma once

#include "test.h"

#include "htwave/base.h"

static inline void must(enum ht_err err) {
    if (err == HT_OK) return;
    TEST_CHECK(false, "set-up: %s", ht_err_message());
    exit(test_end("a test that breaks off"));
}
