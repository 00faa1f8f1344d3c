#define _DEFAULT_SOURCE /* _SC_PHYS_PAGES */
/* Limits of the box of structure factors. */
#include "model/amplitude_box.h"

#include "base/context_internal.h"

#include <math.h>
#include <unistd.h>

enum {
    LONGEST = 1000000,
    BYTES_OF_ENTRY = 3 * sizeof(double) /* experiment, plan's copy, squares */
};

static const double MOST_ENTRIES = 2147483648.0, GIB = 1073741824.0;

double db_physical_memory(void) {
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (double)pages * (double)size : (double)INFINITY;
}

db_status db_amplitude_box_check(db_context *context, const char *source, const int extent[3],
                                 double memory, size_t *entries) {
    const double count = (double)extent[0] * extent[1] * extent[2];
    for (int axis = 0; axis < 3; axis++)
        if (extent[axis] > LONGEST)
            return db_fail(context, DB_ERROR_INPUT,
                           "%s: structure factors of %d values of %c, more than the supported %d",
                           source, extent[axis], "hkl"[axis], LONGEST);
    if (count > MOST_ENTRIES)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: a box of %d x %d x %d structure factors, more than the supported 2^31",
                       source, extent[0], extent[1], extent[2]);
    if (count * BYTES_OF_ENTRY > memory)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: a box of %d x %d x %d structure factors takes %.1f GiB with the copies "
                       "for rendering, this machine has %.1f GiB",
                       source, extent[0], extent[1], extent[2], count * BYTES_OF_ENTRY / GIB,
                       memory / GIB);
    *entries = (size_t)extent[0] * (size_t)extent[1] * (size_t)extent[2];
    return DB_OK;
}
