/* A box of structure factors that look random. */
#ifndef DB_TESTS_ENGINE_DRAWN_AMPLITUDES_H
#define DB_TESTS_ENGINE_DRAWN_AMPLITUDES_H

#include "support/draws.h"
#include "support/unit_test.h"

#include <dualbragg/experiment.h>

#include <stdlib.h>

static inline void drawn_amplitudes(db_structure_factors *f) {
    const size_t side = 21, count = side * side * side;
    f->amplitude = malloc(count * sizeof *f->amplitude);
    assert_non_null(f->amplitude);
    for (int k = 0; k < 3; k++) {
        f->min[k] = -(int)side / 2;
        f->extent[k] = (int)side;
    }
    f->listed = count;
    for (size_t i = 0; i < count; i++) f->amplitude[i] = scaled(1, 1000) * (once_in(3) ? -1 : 1);
    f->interpolate = once_in(2);
}

#endif
