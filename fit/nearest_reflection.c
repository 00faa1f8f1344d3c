#include "fit/nearest_reflection.h"

#include "core/context_internal.h"

#include <stdlib.h>
#include <string.h>

static size_t cell_of(const db_reflection_grid *grid, const db_reflection *reflection) {
    const double *const position = reflection->position;
    int column = (int)(position[0] / grid->cell), row = (int)(position[1] / grid->cell);
    column = column < grid->columns ? column : grid->columns - 1;
    row = row < grid->rows ? row : grid->rows - 1;
    return (reflection->panel * (size_t)grid->rows + (size_t)row) * (size_t)grid->columns +
           (size_t)column;
}

db_status db_reflection_grid_make(db_context *context, const db_prediction *prediction,
                                  const int pixels[2], double cell, db_reflection_grid *grid) {
    *grid = (db_reflection_grid){
        prediction, cell, 1 + (int)(pixels[0] / cell), 1 + (int)(pixels[1] / cell), NULL, NULL
    };
    size_t panels = 1;
    for (size_t i = 0; i < prediction->count; i++)
        if (prediction->reflection[i].panel >= panels) panels = prediction->reflection[i].panel + 1;
    const size_t cells = panels * (size_t)grid->columns * (size_t)grid->rows;
    grid->start = calloc(cells + 2, sizeof *grid->start);
    grid->entry = malloc((prediction->count + 1) * sizeof *grid->entry);
    if (!grid->start || !grid->entry) {
        db_reflection_grid_clear(grid);
        return db_fail_memory(context, "the neighbours of the reflections");
    }
    /* Counting sort. Positions are shifted by one, so that filling leaves the starts behind. */
    for (size_t i = 0; i < prediction->count; i++)
        grid->start[cell_of(grid, &prediction->reflection[i]) + 2]++;
    for (size_t c = 2; c < cells + 2; c++) grid->start[c] += grid->start[c - 1];
    for (size_t i = 0; i < prediction->count; i++)
        grid->entry[grid->start[cell_of(grid, &prediction->reflection[i]) + 1]++] = i;
    return DB_OK;
}

void db_reflection_grid_clear(db_reflection_grid *grid) {
    free(grid->start);
    free(grid->entry);
    memset(grid, 0, sizeof *grid);
}

/* Clears the pixels on the other reflection's side of the perpendicular bisector. */
static void cede(const double mine[2], const double other[2], const db_region *region,
                 uint8_t *own) {
    const double step[2] = { other[0] - mine[0], other[1] - mine[1] };
    const double half = 0.5 * (step[0] * step[0] + step[1] * step[1]);
    /* How far along the box's farthest corner is. */
    const double fast_end = step[0] > 0 ? region->fast_start + region->fast_count - 0.5
                                        : region->fast_start + 0.5,
                 slow_end = step[1] > 0 ? region->slow_start + region->slow_count - 0.5
                                        : region->slow_start + 0.5;
    if ((fast_end - mine[0]) * step[0] + (slow_end - mine[1]) * step[1] <= half) return;
    for (int s = 0; s < region->slow_count; s++) {
        for (int f = 0; f < region->fast_count; f++) {
            const double along = (region->fast_start + f + 0.5 - mine[0]) * step[0] +
                                 (region->slow_start + s + 0.5 - mine[1]) * step[1];
            if (along > half) own[s * region->fast_count + f] = 0;
        }
    }
}

void db_reflection_grid_share(const db_reflection_grid *grid, size_t reflection,
                              const db_region *region, uint8_t *own) {
    const db_reflection *const self = &grid->prediction->reflection[reflection];
    const double *const mine = self->position;
    const size_t columns = (size_t)grid->columns, rows = (size_t)grid->rows,
                 home = cell_of(grid, self);
    const int column = (int)(home % columns), row = (int)(home / columns % rows);
    for (int r = row - 1; r <= row + 1; r++) {
        for (int c = column - 1; c <= column + 1; c++) {
            if (r < 0 || c < 0 || r >= grid->rows || c >= grid->columns) continue;
            const size_t cell = (self->panel * rows + (size_t)r) * columns + (size_t)c;
            for (size_t k = grid->start[cell]; k < grid->start[cell + 1]; k++)
                if (grid->entry[k] != reflection)
                    cede(mine, grid->prediction->reflection[grid->entry[k]].position, region, own);
        }
    }
}
