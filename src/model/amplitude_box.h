/* How large a box of structure factors may be. */
#ifndef DB_MODEL_AMPLITUDE_BOX_H
#define DB_MODEL_AMPLITUDE_BOX_H

#include <dualbragg/context.h>

#include <stddef.h>

/* Number of entries of a box of extents above 0. DB_ERROR_INPUT, with `source` first in the
 * message, for one that no plan takes, or that does not fit into so many bytes of memory together
 * with a plan's copies. */
db_status db_amplitude_box_check(db_context *context, const char *source, const int extent[3],
                                 double memory, size_t *entries);

/* Physical memory of the machine (bytes); INFINITY where it is not known. */
double db_physical_memory(void);

#endif
