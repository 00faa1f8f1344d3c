/* Tiles that a spot reaches. */
#ifndef DB_KERNEL_SPOT_TILES_H
#define DB_KERNEL_SPOT_TILES_H

#include "ad/device_language.h"
#include "kernel/job.h"

/* A walk through the tiles that a spot reaches, each once: in that cell which holds the first of the pixels
 * that both have. */
typedef struct db_tile_walk {
    const db_spot_tiles *tiles;
    const db_region *region;
    const db_spot_entry *spot;
    int column, columns, row, rows, step; /* of the cells that the spot reaches */
    int aside, below;                     /* of the present one, from the first */
    uint32_t next, end;                   /* of its tiles */
    uint32_t tile;
    db_spot_part part;
} db_tile_walk;

/* Starts a walk through the tiles in every `step`-th of the cells that the spot reaches, from number `first` on. */
AD_PORTABLE_FN db_tile_walk db_walk_tiles(const db_spot_tiles *tiles, const db_region *region,
                                          const db_spot_entry *spot, int first, int step) {
    db_tile_walk w;
    w.tiles = tiles;
    w.region = region;
    w.spot = spot;
    w.column = spot->fast[0] / DB_SPOT_CELL_FAST;
    w.columns = (spot->fast[1] - 1) / DB_SPOT_CELL_FAST - w.column + 1;
    w.row = spot->slow[0] / DB_SPOT_CELL_SLOW;
    w.rows = (spot->slow[1] - 1) / DB_SPOT_CELL_SLOW - w.row + 1;
    w.step = step;
    w.aside = first - step;
    w.below = 0;
    w.next = w.end = w.tile = 0;
    return w;
}

/* The part of a tile that the spot reaches. */
AD_PORTABLE_FN db_spot_part db_part_of_tile(const db_spot_entry *e, const int fast[2],
                                            const int slow[2]) {
    db_spot_part part;
    part.fast[0] = (uint8_t)(e->fast[0] > fast[0] ? e->fast[0] - fast[0] : 0);
    part.fast[1] = (uint8_t)((e->fast[1] < fast[1] ? e->fast[1] : fast[1]) - fast[0]);
    part.slow[0] = (uint8_t)(e->slow[0] > slow[0] ? e->slow[0] - slow[0] : 0);
    part.slow[1] = (uint8_t)((e->slow[1] < slow[1] ? e->slow[1] : slow[1]) - slow[0]);
    return part;
}

/* 1 if the tile shows the spot, and the first pixel that they share is in this cell. */
AD_PORTABLE_FN int db_enter_tile(db_tile_walk *w) {
    const db_region *const r = &w->region[w->tile];
    const db_spot_entry *const e = w->spot;
    const int *const only = w->tiles->reflection ? w->tiles->reflection + 3 * (size_t)w->tile : 0;
    const int fast[2] = { r->fast_start, r->fast_start + r->fast_count },
              slow[2] = { r->slow_start, r->slow_start + r->slow_count };
    const int left = e->fast[0] > fast[0] ? e->fast[0] : fast[0],
              top = e->slow[0] > slow[0] ? e->slow[0] : slow[0];
    if (left >= fast[1] || left >= e->fast[1] || top >= slow[1] || top >= e->slow[1] ||
        left / DB_SPOT_CELL_FAST != w->column + w->aside ||
        top / DB_SPOT_CELL_SLOW != w->row + w->below)
        return 0;
    if (only &&
        (only[0] != e->name.hkl[0] || only[1] != e->name.hkl[1] || only[2] != e->name.hkl[2]))
        return 0;
    w->part = db_part_of_tile(e, fast, slow);
    return 1;
}

/* The next cell; 0: there is none. */
AD_PORTABLE_FN int db_next_cell(db_tile_walk *w, uint32_t *cell) {
    const db_spot_cells *const cells = &w->tiles->cells[w->spot->name.panel];
    for (w->aside += w->step; w->aside >= w->columns; w->aside -= w->columns) w->below++;
    if (w->below >= w->rows) return 0;
    *cell = cells->first + (uint32_t)((w->row + w->below) * cells->columns + w->column + w->aside);
    return 1;
}

/* The next one: its number is w->tile, w->part the part of it; 0: there is none. */
AD_PORTABLE_FN int db_next_tile(db_tile_walk *w) {
    const db_spot_tiles *const t = w->tiles;
    uint32_t cell;
    if (t->cells_are_tiles) {
        if (!db_next_cell(w, &cell)) return 0;
        const int column = w->column + w->aside, row = w->row + w->below;
        const int fast[2] = { column * DB_SPOT_CELL_FAST, (column + 1) * DB_SPOT_CELL_FAST },
                  slow[2] = { row * DB_SPOT_CELL_SLOW, (row + 1) * DB_SPOT_CELL_SLOW };
        w->tile = t->tile[cell];
        w->part = db_part_of_tile(w->spot, fast, slow);
        return 1;
    }
    do {
        while (w->next == w->end) {
            if (!db_next_cell(w, &cell)) return 0;
            w->next = t->first[cell];
            w->end = t->first[cell + 1];
        }
        w->tile = t->tile[w->next++];
    } while (!db_enter_tile(w));
    return 1;
}

/* 1 if a spot that has pixels of the panel reaches any tile. */
AD_PORTABLE_FN int db_reaches_tiles(const db_spot_tiles *tiles, const db_region *region,
                                    const db_spot_entry *spot) {
    if (tiles->everywhere && !tiles->reflection) return 1;
    db_tile_walk walk = db_walk_tiles(tiles, region, spot, 0, 1);
    return db_next_tile(&walk);
}

#endif
