/* Resolution, in parts: for means of joint intensities. */
#ifndef DB_FIT_INTENSITIES_SHELLS_H
#define DB_FIT_INTENSITIES_SHELLS_H

#include "fit/merge/asymmetric_unit.h"
#include "fit/merge/shells.h"

/* Shells of resolution for means. */
static inline db_shells db_intensity_shells(const db_asu_list *list) {
    db_shells shells = { .count = 20, .low = list->d_min, .high = list->d_min };
    for (size_t h = 0; h < list->count; h++)
        if ((double)list->d[h] > shells.low) shells.low = (double)list->d[h];
    return shells;
}

#endif
