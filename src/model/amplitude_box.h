/* Boxes of structure factors: where a node is in one, and how large they may be. */
#ifndef DB_MODEL_AMPLITUDE_BOX_H
#define DB_MODEL_AMPLITUDE_BOX_H

#include "ad/device_language.h"

#include "model/site_part.h"

#include <dualbragg/experiment.h>

#include <stddef.h>

/* Entry of a node in the box; returns 0 if it is outside. */
AD_PORTABLE_FN int db_amplitude_entry(const db_structure_factors *f, const int node[3],
                                      size_t *entry) {
    size_t at = 0;
    for (int j = 0; j < 3; j++) {
        const int offset = node[j] - f->min[j];
        if (offset < 0 || offset >= f->extent[j]) return 0;
        at = at * (size_t)f->extent[j] + (size_t)offset;
    }
    *entry = at;
    return 1;
}

/* What a node has of structure factors by energy: its place in a table as db_site_kinds.part, with one entry
 * more, for all outside of the box. */
AD_PORTABLE_FN const double *db_site_part_of(const db_structure_factors *f, const double *table,
                                             const int node[3], int kinds) {
    size_t entry;
    if (!db_amplitude_entry(f, node, &entry))
        entry = (size_t)f->extent[0] * (size_t)f->extent[1] * (size_t)f->extent[2];
    return table + entry * db_site_part(kinds);
}

/* Number of entries of a box of extents above 0. DB_ERROR_INPUT, with `source` first in the
 * message, for one that no plan takes, or that does not fit into `memory` bytes together
 * with a plan's copies. */
db_status db_amplitude_box_check(db_context *context, const char *source, const int extent[3],
                                 double memory, size_t *entries);

/* Physical memory of the machine (bytes); INFINITY where it is not known. */
double db_physical_memory(void);

#endif
