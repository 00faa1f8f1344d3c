/* Neighbours of predicted reflections, by cells. */
#include "fit/pixels/shoeboxes.h"

#include "base/context_internal.h"
#include "base/rounding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t cell_at(const db_reflection_grid *grid, size_t panel, const double position[2]) {
    int column = (int)(position[0] / grid->cell), row = (int)(position[1] / grid->cell);
    column = column < grid->columns ? column : grid->columns - 1;
    row = row < grid->rows ? row : grid->rows - 1;
    return (panel * (size_t)grid->rows + (size_t)row) * (size_t)grid->columns + (size_t)column;
}

static size_t cell_of(const db_reflection_grid *grid, const db_spot *reflection) {
    return cell_at(grid, reflection->panel, reflection->position);
}

db_status db_reflection_grid_make(db_context *context, const db_predicted_spots *prediction,
                                  const db_detector *detector, double cell,
                                  db_reflection_grid *grid) {
    *grid = (db_reflection_grid){ .prediction = prediction, .cell = cell, .panels = 1 };
    for (size_t p = 0; p < detector->panel_count; p++) {
        const db_panel *const panel = &detector->panels[p];
        const int columns = 1 + (int)(panel->fast_pixels / cell);
        const int rows = 1 + (int)(panel->slow_pixels / cell);
        grid->columns = columns > grid->columns ? columns : grid->columns;
        grid->rows = rows > grid->rows ? rows : grid->rows;
    }
    for (size_t i = 0; i < prediction->count; i++)
        if (prediction->spot[i].panel >= grid->panels) grid->panels = prediction->spot[i].panel + 1;
    const size_t cells = grid->panels * (size_t)grid->columns * (size_t)grid->rows;
    grid->start = calloc(cells + 2, sizeof *grid->start);
    grid->entry = malloc((prediction->count + 1) * sizeof *grid->entry);
    grid->position = malloc((prediction->count + 1) * sizeof *grid->position);
    if (!grid->start || !grid->entry || !grid->position) {
        db_reflection_grid_clear(grid);
        return db_fail_memory(context, "the neighbours of the reflections");
    }
    /* Counting sort. Indices are shifted by one, so that filling leaves the starts. */
    for (size_t i = 0; i < prediction->count; i++)
        grid->start[cell_of(grid, &prediction->spot[i]) + 2]++;
    for (size_t c = 2; c < cells + 2; c++) grid->start[c] += grid->start[c - 1];
    for (size_t i = 0; i < prediction->count; i++) {
        const db_spot *const r = &prediction->spot[i];
        const size_t place = grid->start[cell_of(grid, r) + 1]++;
        grid->entry[place] = i;
        memcpy(grid->position[place], r->position, sizeof r->position);
    }
    return DB_OK;
}

void db_reflection_grid_clear(db_reflection_grid *grid) {
    free(grid->start);
    free(grid->entry);
    free(grid->position);
    memset(grid, 0, sizeof *grid);
}

/* Reflections first to end - 1 in the order of the cells. */
typedef struct run {
    size_t first, end;
} run;

/* Reflections in cells around a position, its own included: a run for each row of cells; returns the number of
 * rows. */
static int runs_around(const db_reflection_grid *grid, size_t panel, const double position[2],
                       run runs[3]) {
    const size_t columns = (size_t)grid->columns, rows = (size_t)grid->rows,
                 home = cell_at(grid, panel, position);
    const int column = (int)(home % columns), row = (int)(home / columns % rows);
    const int first = column > 0 ? column - 1 : 0,
              last = column + 1 < grid->columns ? column + 1 : column;
    int count = 0;
    for (int r = row - 1; r <= row + 1; r++) {
        if (r < 0 || r >= grid->rows) continue;
        const size_t *const start = grid->start + (panel * rows + (size_t)r) * columns;
        runs[count++] = (run){ start[first], start[last + 1] };
    }
    return count;
}

/* Rows of a region processed at a time. */
enum { ROWS = 64 };

/* Pixels of a row that are nearest to a reflection: from `low` to `high`. Half planes leave such an interval. */
typedef struct limits {
    double low[ROWS], high[ROWS];
} limits;

/* The least whole number not below a positive one, but at most `most`. */
static int up(double x, int most) { return x >= most ? most : db_ceiling(x); }

/* Outermost pixels of some rows, relative to their reflection. */
typedef struct corners {
    double start, end, top, bottom;
} corners;

/* Removes pixels on the other reflection's side of the perpendicular bisector, in `rows` rows. half: half the
 * squared step to it; along: the largest contribution of the step's first component for any pixel. */
static void cut_off(const double step[2], double half, double along, const corners *c, int count,
                    limits *left) {
    const double top = c->top, start = c->start, inverse = 1 / step[0];
    /* beyond the bisector: across + step x (start + f) > 0 */
    if (step[0] > 0)
        for (int s = 0; s < count; s++) {
            const double across = (top + s) * step[1] - half, edge = -across * inverse - start,
                         high = left->high[s];
            left->high[s] = ((across + along > 0) & (edge < high)) ? edge : high;
        }
    else if (step[0] < 0)
        for (int s = 0; s < count; s++) {
            const double across = (top + s) * step[1] - half, edge = -across * inverse - start,
                         low = left->low[s];
            left->low[s] = ((across + along > 0) & (edge > low)) ? edge : low;
        }
    else
        for (int s = 0; s < count; s++)
            if ((top + s) * step[1] - half + along > 0) left->high[s] = -1;
}

static double larger(double a, double b) { return a > b ? a : b; }

/* Shares rows with neighbours. The reflection itself is among them, and takes nothing away. The bisectors of most
 * others are beyond all corners. */
static void share_rows(const db_reflection_grid *grid, const db_spot *own, const db_region *region,
                       int first, int count, limits *left) {
    const double start = region->fast_start + 0.5 - own->position[0],
                 top = region->slow_start + first + 0.5 - own->position[1];
    const corners c = { start, start + region->fast_count - 1, top, top + count - 1 };
    run runs[3];
    const int rows = runs_around(grid, own->panel, own->position, runs);
    for (int n = 0; n < rows; n++)
        for (size_t k = runs[n].first; k < runs[n].end; k++) {
            const double *const other = grid->position[k];
            const double step[2] = { other[0] - own->position[0], other[1] - own->position[1] };
            const double half = 0.5 * (step[0] * step[0] + step[1] * step[1]);
            const double along = larger(step[0] * c.start, step[0] * c.end),
                         across = larger(step[1] * c.top, step[1] * c.bottom);
            if (along + across > half) cut_off(step, half, along, &c, count, left);
        }
}

void db_reflection_grid_share(const db_reflection_grid *grid, size_t reflection,
                              const db_region *region, uint8_t *own) {
    limits left;
    const int width = region->fast_count;
    for (int first = 0; first < region->slow_count; first += ROWS) {
        const int last = first + ROWS < region->slow_count ? first + ROWS : region->slow_count;
        for (int s = 0; s < last - first; s++) {
            left.low[s] = 0;
            left.high[s] = width;
        }
        share_rows(grid, &grid->prediction->spot[reflection], region, first, last - first, &left);
        for (int s = 0; s < last - first; s++) {
            uint8_t *const line = own + (size_t)(first + s) * (size_t)width;
            const double end = left.high[s];
            const int high = end < 0 ? 0 : end < width ? 1 + (int)end : width;
            memset(line, 0, (size_t)up(left.low[s], width));
            memset(line + high, 0, (size_t)(width - high));
        }
    }
}
