/* The known name a misspelt one most likely means. */
#ifndef DB_CORE_NEAREST_NAME_H
#define DB_CORE_NEAREST_NAME_H

#include <dualbragg/status.h>
#include <stddef.h>

/* Index of the name with the smallest edit distance (insertions, deletions, substitutions, swaps of
 * neighbours; case differences count half); the first of equals. count >= 1. */
DB_API size_t db_nearest_name(const char *wanted, const char *const *names, size_t count);

#endif
