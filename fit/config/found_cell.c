/* Makes a found cell the cell of the model. */
#include "fit/config/found_cell.h"

#include "base/context_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int db_cell_is_sought(const db_fit_config *config) {
    int given = *config->matrix_file || !isnan(config->orientation[0]);
    for (int i = 0; i < 6; i++) given |= !isnan(config->setup.cell[i]);
    return !given && (config->find_orientation || config->automatic);
}

db_status db_found_cell_keep(db_context *context, const db_fit_found_cell *cell,
                             db_fit_config *config) {
    db_fit_found_cell *const kept = malloc(sizeof *kept);
    if (!kept) return db_fail_memory(context, "the cell that was found");
    *kept = *cell;
    free(config->found_cell);
    config->found_cell = kept;
    return DB_OK;
}

db_status db_found_cell_take(db_context *context, const db_fit_found_cell *cell,
                             db_fit_config *config) {
    const db_fit_bravais *const b = &cell->lattice[cell->chosen];
    memcpy(config->setup.cell, b->cell, sizeof b->cell);
    if (!*config->symmetry) snprintf(config->symmetry, sizeof config->symmetry, "%s", b->symbol);
    if (!*config->settings.amplitude_group && !config->series &&
        config->settings.intensity == DB_FIT_FREE) /* mates tell errors */
        snprintf(config->settings.amplitude_group, sizeof config->settings.amplitude_group, "%s",
                 config->symmetry);
    return db_found_cell_keep(context, cell, config);
}

void db_found_cell_say(const db_fit_found_cell *cell, db_notice_function notices, void *user) {
    const double *const r = cell->reduced;
    char line[400];
    if (!notices) return;
    snprintf(line, sizeof line,
             "cell found: %zu of %zu spots near nodes of the lattice; expected by chance: "
             "%.1f; reduced "
             "cell %.5g %.5g %.5g %.4g %.4g %.4g",
             cell->found.indexed, cell->found.spots, cell->found.by_chance, r[0], r[1], r[2], r[3],
             r[4], r[5]);
    notices(user, line);
    if (cell->searches > 1)
        snprintf(line, sizeof line,
                 "%zu of %zu searches, each of an image or a sweep, have found this cell",
                 cell->agreeing, cell->images);
    else
        snprintf(line, sizeof line, "the spots of %zu images were searched together", cell->images);
    if (cell->images > 1) notices(user, line);
    for (int i = 0; i < cell->count; i++) {
        const db_fit_bravais *const b = &cell->lattice[i];
        const int length = snprintf(
            line, sizeof line, "%s %s %.5g %.5g %.5g %.4g %.4g %.4g: changed by %.1f %%, %zu spots",
            i == cell->chosen ? "chosen:"
            : b->fits         ? "possible:"
                              : "excluded:",
            b->symbol, b->cell[0], b->cell[1], b->cell[2], b->cell[3], b->cell[4], b->cell[5],
            100 * b->strain, b->indexed);
        if (isfinite(b->misfit) && length < (int)sizeof line)
            snprintf(line + length, sizeof line - (size_t)length,
                     ", misfit %.2f relative to the triclinic cell", b->misfit);
        notices(user, line);
    }
    if (fabs(cell->distance) > 0.003) {
        snprintf(line, sizeof line, "the spots fit a detector that is %.1f %% %s",
                 100 * fabs(cell->distance), cell->distance > 0 ? "farther" : "nearer");
        notices(user, line);
    }
}
