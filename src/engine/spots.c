/* Spots of a plan in closed form: tiles, lists, and what the pixel loop reads. */
#include "engine/spots.h"
#include "engine/spot_bounds.h"
#include "engine/spot_search.h"

#include "base/growth.h"
#include "base/threads.h"

#include <stdlib.h>
#include <string.h>

enum { CELL_FAST = DB_SPOT_CELL_FAST, CELL_SLOW = DB_SPOT_CELL_SLOW };

/* Tiles by cells, rectangles of a panel's pixels, so that a spot finds those that it reaches. */
typedef struct {
    int columns, rows;
    size_t first;  /* number of the panel's first cell */
    size_t before; /* where its db_spot_cells begin */
} panel_cells;

struct db_spots {
    panel_cells *panel; /* [panels] */
    size_t cell_count;
    uint32_t *cell_first; /* [cells + 1] */
    uint32_t *cell_tile;  /* tiles of each cell */
    uint32_t *before;     /* db_spot_cells of all panels */
    int everywhere;       /* 1: all cells have tiles */
    int cells_are_tiles;  /* 1: each cell is a tile of its own */
    db_spot_list list;
    uint32_t *first; /* [tiles + 1] */
    uint32_t *number;
    db_spot_part *part; /* likewise */
    size_t number_room, part_room;
    uint32_t *run; /* [threads][tiles]: where the next of a thread's spots goes */
    size_t run_room;
    void *slope;
    size_t slope_room;
    int current; /* 1: lists belong to the experiment's present values */
};

void db_spots_one_of_each(db_experiment *e) {
    if (e->spread.spots != DB_SPOTS_CLOSED) return;
    e->goniometer.phi_step *= e->goniometer.phi_steps;
    e->goniometer.phi_steps = 1;
    e->crystal.mosaic_domains = 1;
    e->detector.sensor_layers = 1;
}

static void tile_ends(const db_region *r, int32_t fast[2], int32_t slow[2]) {
    fast[0] = r->fast_start;
    fast[1] = r->fast_start + r->fast_count;
    slow[0] = r->slow_start;
    slow[1] = r->slow_start + r->slow_count;
}

static size_t cell_of(const db_spots *spots, size_t panel, int column, int row) {
    const panel_cells *p = &spots->panel[panel];
    return p->first + (size_t)row * (size_t)p->columns + (size_t)column;
}

/* Counts the tiles of each cell, or writes down which they are. */
static void put_tiles(const db_plan *plan, db_spots *spots, uint32_t *at, uint32_t *tile) {
    for (size_t t = 0; t < plan->tiles.region_count; t++) {
        int32_t fast[2], slow[2];
        tile_ends(&plan->tiles.regions[t], fast, slow);
        for (int row = slow[0] / CELL_SLOW; row <= (slow[1] - 1) / CELL_SLOW; row++)
            for (int column = fast[0] / CELL_FAST; column <= (fast[1] - 1) / CELL_FAST; column++) {
                const size_t c = cell_of(spots, plan->tiles.regions[t].panel, column, row);
                if (tile)
                    tile[at[c]++] = (uint32_t)t;
                else
                    at[c]++;
            }
    }
}

/* From counts at [0 .. count - 1] to the places where they begin, their sum behind them. */
static void begin_at(uint32_t *count, size_t length) {
    uint32_t sum = 0;
    for (size_t i = 0; i <= length; i++) {
        const uint32_t here = i < length ? count[i] : 0;
        count[i] = sum;
        sum += here;
    }
}

/* Lists were written by moving their beginnings to their ends. */
static void move_back(uint32_t *first, size_t length) {
    memmove(first + 1, first, length * sizeof *first);
    first[0] = 0;
}

/* Sums over the cells that have tiles. */
static db_status sum_cells(db_plan *plan, db_spots *spots) {
    const size_t panels = plan->experiment.detector.panel_count;
    size_t room = 0;
    for (size_t p = 0; p < panels; p++) {
        spots->panel[p].before = room;
        room += ((size_t)spots->panel[p].columns + 1) * ((size_t)spots->panel[p].rows + 1);
    }
    spots->before = calloc(room, sizeof *spots->before);
    if (!spots->before) return db_fail_memory(plan->context, "the tiles of a plan");
    spots->everywhere = 1;
    for (size_t p = 0; p < panels; p++) {
        const panel_cells *const own = &spots->panel[p];
        const size_t row = (size_t)own->columns + 1;
        for (int j = 0; j < own->rows; j++) {
            uint32_t *const above = spots->before + own->before + (size_t)j * row;
            for (int i = 0; i < own->columns; i++) {
                const size_t c = cell_of(spots, p, i, j);
                const uint32_t has = spots->cell_first[c + 1] > spots->cell_first[c];
                above[row + (size_t)i + 1] = above[row + (size_t)i] + above[i + 1] - above[i] + has;
                if (!has) spots->everywhere = 0;
            }
        }
    }
    return DB_OK;
}

static db_spot_cells cells_of(const db_plan *plan, size_t panel) {
    const db_spots *spots = plan->spots;
    const panel_cells *const own = &spots->panel[panel];
    return (db_spot_cells){ spots->everywhere ? NULL : spots->before + own->before, own->columns,
                            own->rows };
}

/* Whether a tile is all of a cell, as far as the panel has it. */
static int is_cell(const db_plan *plan, const db_region *t) {
    const db_panel *panel = &plan->experiment.detector.panels[t->panel];
    const int fast = panel->fast_pixels - t->fast_start, slow = panel->slow_pixels - t->slow_start;
    return t->fast_start % CELL_FAST == 0 && t->slow_start % CELL_SLOW == 0 &&
           t->fast_count == (fast < CELL_FAST ? fast : (int)CELL_FAST) &&
           t->slow_count == (slow < CELL_SLOW ? slow : (int)CELL_SLOW);
}

static db_status make_cells(db_plan *plan, db_spots *spots) {
    const db_detector *d = &plan->experiment.detector;
    spots->panel = calloc(d->panel_count, sizeof *spots->panel);
    if (!spots->panel) return db_fail_memory(plan->context, "the tiles of a plan");
    for (size_t p = 0; p < d->panel_count; p++) {
        spots->panel[p].columns = (d->panels[p].fast_pixels + CELL_FAST - 1) / CELL_FAST;
        spots->panel[p].rows = (d->panels[p].slow_pixels + CELL_SLOW - 1) / CELL_SLOW;
        spots->panel[p].first = spots->cell_count;
        spots->cell_count += (size_t)spots->panel[p].columns * (size_t)spots->panel[p].rows;
    }
    spots->cell_first = calloc(spots->cell_count + 1, sizeof *spots->cell_first);
    if (!spots->cell_first) return db_fail_memory(plan->context, "the tiles of a plan");
    put_tiles(plan, spots, spots->cell_first, NULL);
    begin_at(spots->cell_first, spots->cell_count);
    const size_t total = spots->cell_first[spots->cell_count];
    spots->cell_tile = malloc((total + 1) * sizeof *spots->cell_tile);
    if (!spots->cell_tile) return db_fail_memory(plan->context, "the tiles of a plan");
    put_tiles(plan, spots, spots->cell_first, spots->cell_tile);
    move_back(spots->cell_first, spots->cell_count);
    DB_TRY(sum_cells(plan, spots));
    spots->cells_are_tiles =
        spots->everywhere && total == spots->cell_count && !plan->tiles.reflection;
    for (size_t t = 0; t < plan->tiles.region_count; t++)
        if (!is_cell(plan, &plan->tiles.regions[t])) spots->cells_are_tiles = 0;
    return DB_OK;
}

/* Which part of a tile a spot reaches. */
static db_spot_part part_of(const db_spot_entry *e, const int32_t fast[2], const int32_t slow[2]) {
    const db_spot_part part = {
        { (uint8_t)(e->fast[0] > fast[0] ? e->fast[0] - fast[0] : 0),
          (uint8_t)((e->fast[1] < fast[1] ? e->fast[1] : fast[1]) - fast[0]) },
        { (uint8_t)(e->slow[0] > slow[0] ? e->slow[0] - slow[0] : 0),
          (uint8_t)((e->slow[1] < slow[1] ? e->slow[1] : slow[1]) - slow[0]) }
    };
    return part;
}

/* reach_tiles where cells are tiles. */
static void reach_cells(const db_spots *spots, const db_spot_entry *e, uint32_t *at, int write,
                        uint32_t own) {
    for (int row = e->slow[0] / CELL_SLOW; row <= (e->slow[1] - 1) / CELL_SLOW; row++)
        for (int column = e->fast[0] / CELL_FAST; column <= (e->fast[1] - 1) / CELL_FAST;
             column++) {
            const uint32_t tile = spots->cell_tile[cell_of(spots, e->name.panel, column, row)];
            if (write) {
                const int32_t fast[2] = { column * CELL_FAST, (column + 1) * CELL_FAST },
                              slow[2] = { row * CELL_SLOW, (row + 1) * CELL_SLOW };
                spots->part[at[tile]] = part_of(e, fast, slow);
                spots->number[at[tile]] = own;
            }
            at[tile]++;
        }
}

static int tile_shows(const db_plan *plan, uint32_t tile, const db_spot_entry *e) {
    const int *const only = plan->tiles.reflection ? plan->tiles.reflection[tile] : e->name.hkl;
    return memcmp(only, e->name.hkl, sizeof e->name.hkl) == 0;
}

/* Tiles that a spot reaches, each once: in that cell which holds the first of the pixels that
 * both have. Counts them at at[tile], or writes the spot's number there and which part of the tile it
 * reaches; at NULL: stops at the first. */
static int reach_tiles(const db_plan *plan, const db_spot_entry *e, uint32_t *at, int write,
                       uint32_t own) {
    const db_spots *spots = plan->spots;
    const size_t panel = e->name.panel;
    if (spots->cells_are_tiles) {
        reach_cells(spots, e, at, write, own);
        return 1;
    }
    for (int row = e->slow[0] / CELL_SLOW; row <= (e->slow[1] - 1) / CELL_SLOW; row++)
        for (int column = e->fast[0] / CELL_FAST; column <= (e->fast[1] - 1) / CELL_FAST;
             column++) {
            const size_t c = cell_of(spots, panel, column, row);
            for (uint32_t i = spots->cell_first[c]; i < spots->cell_first[c + 1]; i++) {
                const uint32_t tile = spots->cell_tile[i];
                int32_t fast[2], slow[2];
                tile_ends(&plan->tiles.regions[tile], fast, slow);
                const int32_t left = e->fast[0] > fast[0] ? e->fast[0] : fast[0],
                              top = e->slow[0] > slow[0] ? e->slow[0] : slow[0];
                if (left >= fast[1] || left >= e->fast[1] || top >= slow[1] || top >= e->slow[1] ||
                    left / CELL_FAST != column || top / CELL_SLOW != row ||
                    !tile_shows(plan, tile, e))
                    continue;
                if (!at) return 1;
                if (write) {
                    spots->part[at[tile]] = part_of(e, fast, slow);
                    spots->number[at[tile]] = own;
                }
                at[tile]++;
            }
        }
    return 0;
}

static int reaches_plan(const db_plan *plan, const db_spot_entry *entry) {
    return (plan->spots->everywhere && !plan->tiles.reflection) ||
           reach_tiles(plan, entry, NULL, 0, 0);
}

/* Each thread has a run of the list; for each tile those of the first thread come first. */
static db_status fill_tiles(db_plan *plan) {
    db_spots *spots = plan->spots;
    const db_spot_entry *entry = spots->list.entry;
    const size_t tiles = plan->tiles.region_count, count = spots->list.count;
    const int threads = db_threads_for(plan->context, (long)(count / 1024 + 1));
    const size_t runs = (size_t)threads;
    DB_GROW(plan->context, spots->run, spots->run_room, runs * tiles, "the spots of an image");
    memset(spots->run, 0, runs * tiles * sizeof *spots->run);
#if defined(_OPENMP)
#pragma omp parallel for num_threads(threads) if (threads > 1)
#endif
    for (size_t k = 0; k < runs; k++)
        for (size_t i = count * k / runs; i < count * (k + 1) / runs; i++)
            reach_tiles(plan, &entry[i], spots->run + k * tiles, 0, 0);
    size_t most = 0, total = 0;
    for (size_t t = 0; t < tiles; t++) {
        const size_t first = total;
        spots->first[t] = (uint32_t)first;
        for (size_t k = 0; k < runs; k++) {
            const uint32_t here = spots->run[k * tiles + t];
            spots->run[k * tiles + t] = (uint32_t)total;
            total += here;
        }
        if (total - first > most) most = total - first;
    }
    if (total >= UINT32_MAX)
        return db_fail(plan->context, DB_ERROR_UNSUPPORTED,
                       "spots in closed form: %zu of them on all tiles are too many", total);
    spots->first[tiles] = (uint32_t)total;
    DB_GROW(plan->context, spots->number, spots->number_room, total + 1, "the spots of an image");
    DB_GROW(plan->context, spots->part, spots->part_room, total + 1, "the spots of an image");
#if defined(_OPENMP)
#pragma omp parallel for num_threads(threads) if (threads > 1)
#endif
    for (size_t k = 0; k < runs; k++)
        for (size_t i = count * k / runs; i < count * (k + 1) / runs; i++)
            reach_tiles(plan, &entry[i], spots->run + k * tiles, 1, (uint32_t)i);
    plan->job.spots.most = most;
    return DB_OK;
}

/* All sources have the same factors of a pixel: directions, hence polarization, and nothing else
 * that depends on q. */
static int one_beam(const db_plan *plan) {
    const db_kernel_job *job = &plan->job;
    const db_beam *beam = &plan->experiment.beam;
    if (beam->source_count == 1) return 1;
    if (job->debye_waller || job->water != 0 || job->amorphous.bins > 0) return 0;
    for (size_t j = 1; j < beam->source_count; j++) {
        const db_source *a = &beam->sources[0];
        const db_source *b = &beam->sources[j];
        if (a->direction[0] != b->direction[0] || a->direction[1] != b->direction[1] ||
            a->direction[2] != b->direction[2] ||
            (beam->divergence[0] != 0 && a->spread[0] != b->spread[0]) ||
            (beam->divergence[1] != 0 && a->spread[1] != b->spread[1]) ||
            db_parameters_moving(&plan->parameters, DB_MOVES_SOURCES) > 0)
            return 0;
    }
    return 1;
}

db_status db_spots_fill(db_plan *plan) {
    db_spots *spots = plan->spots;
    if (spots->current) return DB_OK;
    db_enter_stage(plan->context, "spots");
    const db_spot_bounds bounds = db_spot_bounds_of(plan);
    const db_spot_filter tiles = { cells_of, reaches_plan };
    db_status status = db_spots_search(plan, &bounds, &tiles, &spots->list);
    const size_t count = spots->list.count;
    if (status == DB_OK && count >= UINT32_MAX)
        status = db_fail(plan->context, DB_ERROR_UNSUPPORTED,
                         "spots in closed form: %zu of them are too many", count);
    if (status == DB_OK) status = fill_tiles(plan);
    if (status == DB_OK) {
        db_kernel_spots *job = &plan->job.spots;
        job->spot = spots->list.spot;
        job->entry = spots->list.entry;
        job->count = count;
        job->first = spots->first;
        job->number = spots->number;
        job->part = spots->part;
        job->moving = plan->experiment.goniometer.phi_step != 0;
        job->one_beam = one_beam(plan);
        spots->current = 1;
        plan->versions.spots++;
    }
    db_leave_stage(plan->context, "spots");
    return status;
}

db_status db_spots_create(db_plan *plan) {
    db_spots *spots = calloc(1, sizeof *spots);
    if (!spots) return db_fail_memory(plan->context, "a plan");
    plan->spots = spots;
    plan->job.spots.experiment = &plan->experiment;
    spots->first = calloc(plan->tiles.region_count + 1, sizeof *spots->first);
    if (!spots->first) return db_fail_memory(plan->context, "a plan");
    return make_cells(plan, spots);
}

void db_spots_outdate(db_plan *plan) {
    if (plan->spots) plan->spots->current = 0;
}

void db_spots_destroy(db_spots *spots) {
    if (!spots) return;
    db_spot_list_clear(&spots->list);
    void *const owned[] = { spots->panel, spots->before, spots->cell_first, spots->cell_tile,
                            spots->first, spots->number, spots->slope,      spots->run,
                            spots->part,  spots };
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
}

void *db_spots_slope_room(db_plan *plan, size_t size) {
    db_spots *spots = plan->spots;
    if (size + 1 > spots->slope_room) {
        free(spots->slope);
        spots->slope_room = size + size / 4 + 1;
        spots->slope =
            malloc(spots->slope_room *
                   (plan->precision == DB_PRECISION_MIXED ? sizeof(float) : sizeof(double)));
        if (!spots->slope) spots->slope_room = 0;
    }
    return spots->slope;
}
