/* Every instruction set that this build and this processor have, in turn. */
#ifndef DB_TESTS_SUPPORT_INSTRUCTION_SETS_H
#define DB_TESTS_SUPPORT_INSTRUCTION_SETS_H

#include <dualbragg/expert/instruction_set.h>

/* Sets the context's next one; 0 behind the last. *tried: 0 before the first. */
static inline int use_next_instruction_set(db_context *context, size_t *tried) {
    static const char *const sets[] = { "sse2", "neon", "generic", "avx2", "avx512" };
    while (*tried < sizeof sets / sizeof *sets)
        if (db_context_set_isa(context, sets[(*tried)++]) == DB_OK) return 1;
    return 0;
}

#endif
