/* Facts about files of structure factors. */
#include "cli/import.h"

#include "base/context_internal.h"
#include "io/reflections/amplitude_header.h"

#include <dualbragg/expert/amplitude_files.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void add_header(const db_amplitude_header *h, db_imported *file) {
    const double count = (double)h->count;
    snprintf(file->group, sizeof file->group, "%s", h->group);
    if (db_cell_is_stated(h->cell)) db_imported_add_cell(file, h->cell);
    if (*h->group) db_imported_add(file, "group", 0, NULL, "%s", h->group);
    if (h->coordinates)
        db_imported_add(file, "atoms", 1, &count,
                        "%zu: coordinates, from which they are calculated", h->count);
    else if (h->count)
        db_imported_add(file, "reflections", 1, &count, "%zu", h->count);
    if (!isnan(h->resolution[0]))
        db_imported_add(file, "resolution", 2, h->resolution, "%.4g to %.4g A", h->resolution[0],
                        h->resolution[1]);
    if (*h->columns) db_imported_add(file, "columns", 0, NULL, "%s", h->columns);
}

static void add_list(const db_structure_factors *list, const char *chosen, db_imported *file) {
    const double listed = (double)list->listed;
    double range[6];
    for (int i = 0; i < 3; i++) {
        range[2 * i] = list->min[i];
        range[2 * i + 1] = list->min[i] + list->extent[i] - 1;
    }
    if (*chosen) db_imported_add(file, "taken", 0, NULL, "%s", chosen);
    db_imported_add(file, "listed", 1, &listed, "%zu amplitudes, symmetry applied", list->listed);
    db_imported_add(file, "indices", 6, range, "h %.0f to %.0f, k %.0f to %.0f, l %.0f to %.0f",
                    range[0], range[1], range[2], range[3], range[4], range[5]);
}

/* Reads coordinates to see that it is possible, to a resolution that takes no time. */
db_status db_imported_amplitudes(db_context *context, db_imported *file) {
    db_amplitude_header header;
    db_structure_factors list = { .default_F = 0 };
    char chosen[DB_FACT_TEXT] = "";
    DB_TRY(db_amplitude_header_read(context, file->path, &header));
    add_header(&header, file);
    const db_structure_factor_options options = { .dmin = header.coordinates ? 6 : 0,
                                                  .k_sol = 0.35,
                                                  .b_sol = 46 };
    DB_TRY(db_read_structure_factors(context, file->path, &options, &list, chosen, sizeof chosen));
    file->found |= DB_HOLDS_AMPLITUDES;
    if (!header.coordinates) add_list(&list, chosen, file);
    free(list.amplitude);
    return DB_OK;
}
