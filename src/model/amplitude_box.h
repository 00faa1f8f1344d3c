/* Boxes of structure factors: the entry of a node, and the largest box. */
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

/* A node's structure factors by energy in a table of db_site_kinds.part, whose last entry is for all nodes outside
 * the box. */
AD_PORTABLE_FN const double *db_site_part_of(const db_structure_factors *f, const double *table,
                                             const int node[3], int kinds) {
    size_t entry;
    if (!db_amplitude_entry(f, node, &entry))
        entry = (size_t)f->extent[0] * (size_t)f->extent[1] * (size_t)f->extent[2];
    return table + entry * db_site_part(kinds);
}

/* The number of entries of a box with extents above 0. DB_ERROR_INPUT, with `source` first in the message, if no
 * plan takes such a box, or if the box and a plan's copies need more than `memory` bytes. */
db_status db_amplitude_box_check(db_context *context, const char *source, const int extent[3],
                                 double memory, size_t *entries);

/* Physical memory of the machine (bytes); INFINITY: unknown. */
double db_physical_memory(void);

#endif
