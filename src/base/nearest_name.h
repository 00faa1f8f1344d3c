/* Known name that a misspelt one most likely means. */
#ifndef DB_BASE_NEAREST_NAME_H
#define DB_BASE_NEAREST_NAME_H

#include <dualbragg/status.h>
#include <stddef.h>

/* The known name with the least difference (insertions, deletions, substitutions, swaps of neighbours; differences
 * of case count half; dashes in front do not count); the first of equal ones. NULL if none is near: at most a
 * third of the letters of the longer name may differ, or only case, or the wanted name continues a known one of
 * three letters or more ("-oscillation" is "-osc"). */
DB_API const char *db_nearest_name(const char *wanted, const char *const *names, size_t count);

/* End of a message about an unknown name: "; the nearest known one is 'NAME'", or, if none is near, "; " and
 * `otherwise` (NULL: nothing). */
typedef struct db_name_hint {
    char text[256];
} db_name_hint;
DB_API db_name_hint db_hint_at_names(const char *wanted, const char *const *names, size_t count,
                                     const char *otherwise);

#endif
