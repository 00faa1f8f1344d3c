#include "bench/structure_factor_list.h"

#include "base/context_internal.h"

#include <dualbragg/io.h>
#include <stdio.h>
#include <stdlib.h>

/* "-50 -50 -50 150\n" */
enum { LINE = 32 };

db_status db_bench_write_list(db_context *context, const char *path, int largest) {
    const size_t side = 2 * (size_t)largest + 1;
    char *text = malloc(side * side * side * LINE);
    if (!text) return db_fail_memory(context, "a list of structure factors");
    size_t length = 0;
    unsigned state = 1; /* of a linear congruential generator: any F will do */
    for (int h = -largest; h <= largest; h++)
        for (int k = -largest; k <= largest; k++)
            for (int l = -largest; l <= largest; l++) {
                state = 1664525 * state + 1013904223;
                length += (size_t)snprintf(text + length, LINE, "%d %d %d %u\n", h, k, l,
                                           50 + (state >> 16) % 101);
            }
    const db_status status = db_write_text(context, path, text, length);
    free(text);
    return status;
}
