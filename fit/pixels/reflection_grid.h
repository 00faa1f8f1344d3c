/* Sharing of pixels by neighbouring reflections. */
#ifndef DB_FIT_PIXELS_REFLECTION_GRID_H
#define DB_FIT_PIXELS_REFLECTION_GRID_H

#include "fit/pixels/predict.h"

/* Predicted reflections sorted into square cells of the panels. */
typedef struct db_reflection_grid {
    const db_predicted_spots *prediction;
    double cell;       /* pixels */
    int columns, rows; /* of one panel */
    size_t panels;
    size_t *start;         /* [panels * columns * rows + 1]: first entry of each cell in `entry` */
    size_t *entry;         /* [count]: indices of reflections, cell by cell */
    double (*position)[2]; /* [count]: their positions, in the same order */
} db_reflection_grid;

/* cell: pixels; at least the largest distance at which reflections share pixels. */
db_status db_reflection_grid_make(db_context *context, const db_predicted_spots *prediction,
                                  const db_detector *detector, double cell,
                                  db_reflection_grid *grid);
void db_reflection_grid_clear(db_reflection_grid *grid);

/* Clears own[] at pixels of a square region (fast index fastest) that are nearer to another reflection than to
 * number `reflection`. */
void db_reflection_grid_share(const db_reflection_grid *grid, size_t reflection,
                              const db_region *region, uint8_t *own);

#endif
