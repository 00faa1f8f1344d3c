/* Spots of a plan in closed form: tiles, lists, and the pixel loop's data. */
#include "engine/spots.h"
#include "engine/spot_bounds.h"
#include "engine/spot_search.h"
#include "kernel/spot_tiles.h"

#include "base/growth.h"
#include "base/threads.h"

#include <stdlib.h>
#include <string.h>

enum { CELL_FAST = DB_SPOT_CELL_FAST, CELL_SLOW = DB_SPOT_CELL_SLOW };

struct db_spots {
    db_spot_cells *cells; /* [panels] */
    uint32_t *cell_first; /* [cells + 1] */
    uint32_t *cell_tile;  /* tiles of each cell */
    uint32_t *before;     /* db_spot_tiles.before */
    db_spot_list list;
    uint32_t *first; /* [tiles + 1] */
    uint32_t *number;
    db_spot_part *part; /* part of the tile that the spot `number` reaches */
    size_t number_room, part_room;
    uint32_t *run; /* [threads][tiles]: place in the list for the next spot of a thread */
    size_t run_room;
    void *slope;
    size_t slope_room;
    int begun;   /* 1: the search's input belongs to the experiment's present values */
    int current; /* 1: the lists do, too */
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
    const db_spot_cells *p = &spots->cells[panel];
    return p->first + (size_t)row * (size_t)p->columns + (size_t)column;
}

/* Counts the tiles of each cell (tile NULL), or lists their numbers. */
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

/* Turns the lengths of lists into their beginnings; the sum of all lengths follows after the last. */
static void begin_at(uint32_t *count, size_t length) {
    uint32_t sum = 0;
    for (size_t i = 0; i <= length; i++) {
        const uint32_t here = i < length ? count[i] : 0;
        count[i] = sum;
        sum += here;
    }
}

/* Moves beginnings back: writing a list moved its beginning to its end. */
static void move_back(uint32_t *first, size_t length) {
    memmove(first + 1, first, length * sizeof *first);
    first[0] = 0;
}

/* Counts, for each corner of a cell, the cells with tiles in earlier rows and columns. */
static db_status sum_cells(db_plan *plan, db_spots *spots) {
    const size_t panels = plan->experiment.detector.panel_count;
    size_t room = 0;
    for (size_t p = 0; p < panels; p++) {
        spots->cells[p].before = (uint32_t)room;
        room += ((size_t)spots->cells[p].columns + 1) * ((size_t)spots->cells[p].rows + 1);
    }
    spots->before = calloc(room, sizeof *spots->before);
    if (!spots->before) return db_fail_memory(plan->context, "the tiles of a plan");
    plan->job.spots.tiles.everywhere = 1;
    plan->job.spots.tiles.sums = room;
    for (size_t p = 0; p < panels; p++) {
        const db_spot_cells *const own = &spots->cells[p];
        const size_t row = (size_t)own->columns + 1;
        for (int j = 0; j < own->rows; j++) {
            uint32_t *const above = spots->before + own->before + (size_t)j * row;
            for (int i = 0; i < own->columns; i++) {
                const size_t c = cell_of(spots, p, i, j);
                const uint32_t has = spots->cell_first[c + 1] > spots->cell_first[c];
                above[row + (size_t)i + 1] = above[row + (size_t)i] + above[i + 1] - above[i] + has;
                if (!has) plan->job.spots.tiles.everywhere = 0;
            }
        }
    }
    return DB_OK;
}

/* Is a tile a whole cell, or the part of it that lies on the panel? */
static int is_cell(const db_plan *plan, const db_region *t) {
    const db_panel *panel = &plan->experiment.detector.panels[t->panel];
    const int fast = panel->fast_pixels - t->fast_start, slow = panel->slow_pixels - t->slow_start;
    return t->fast_start % CELL_FAST == 0 && t->slow_start % CELL_SLOW == 0 &&
           t->fast_count == (fast < CELL_FAST ? fast : (int)CELL_FAST) &&
           t->slow_count == (slow < CELL_SLOW ? slow : (int)CELL_SLOW);
}

static db_status make_cells(db_plan *plan, db_spots *spots) {
    const db_detector *d = &plan->experiment.detector;
    size_t count = 0;
    spots->cells = calloc(d->panel_count, sizeof *spots->cells);
    if (!spots->cells) return db_fail_memory(plan->context, "the tiles of a plan");
    for (size_t p = 0; p < d->panel_count; p++) {
        spots->cells[p].columns = (d->panels[p].fast_pixels + CELL_FAST - 1) / CELL_FAST;
        spots->cells[p].rows = (d->panels[p].slow_pixels + CELL_SLOW - 1) / CELL_SLOW;
        spots->cells[p].first = (uint32_t)count;
        count += (size_t)spots->cells[p].columns * (size_t)spots->cells[p].rows;
    }
    spots->cell_first = calloc(count + 1, sizeof *spots->cell_first);
    if (!spots->cell_first) return db_fail_memory(plan->context, "the tiles of a plan");
    put_tiles(plan, spots, spots->cell_first, NULL);
    begin_at(spots->cell_first, count);
    spots->cell_tile = malloc((spots->cell_first[count] + 1) * sizeof *spots->cell_tile);
    if (!spots->cell_tile) return db_fail_memory(plan->context, "the tiles of a plan");
    put_tiles(plan, spots, spots->cell_first, spots->cell_tile);
    move_back(spots->cell_first, count);
    DB_TRY(sum_cells(plan, spots));
    db_spot_tiles *const tiles = &plan->job.spots.tiles;
    tiles->cells = spots->cells;
    tiles->first = spots->cell_first;
    tiles->tile = spots->cell_tile;
    tiles->before = spots->before;
    tiles->cell_count = count;
    tiles->reflection = plan->tiles.reflection ? plan->tiles.reflection[0] : NULL;
    tiles->cells_are_tiles =
        tiles->everywhere && spots->cell_first[count] == count && !tiles->reflection;
    for (size_t t = 0; t < plan->tiles.region_count; t++)
        tiles->cells_are_tiles &= is_cell(plan, &plan->tiles.regions[t]);
    return DB_OK;
}

/* Visits the tiles that a spot reaches: counts at at[tile], or writes there the spot's number and the part of
 * the tile that it reaches. */
static void put_spot(const db_plan *plan, uint32_t number, uint32_t *at, int write) {
    const db_spots *const spots = plan->spots;
    db_tile_walk walk = db_walk_tiles(&plan->job.spots.tiles, plan->tiles.regions,
                                      &spots->list.entry[number], 0, 1);
    while (db_next_tile(&walk)) {
        const uint32_t place = at[walk.tile]++;
        if (!write) continue;
        spots->part[place] = walk.part;
        spots->number[place] = number;
    }
}

/* Lists the spots of each tile. Each thread has a run of the spots; the first thread's spots come first in a tile. */
static db_status fill_tiles(db_plan *plan) {
    db_spots *spots = plan->spots;
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
            put_spot(plan, (uint32_t)i, spots->run + k * tiles, 0);
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
            put_spot(plan, (uint32_t)i, spots->run + k * tiles, 1);
    plan->job.spots.most = (uint32_t)most;
    return DB_OK;
}

/* Do all sources have the same factors of a pixel? They need equal directions, hence polarization, and no other
 * factor that depends on q. */
static int one_beam(const db_plan *plan) {
    const db_kernel_job *job = &plan->job;
    const db_beam *beam = &plan->experiment.beam;
    if (beam->source_count == 1) return 1;
    if (job->debye_waller || job->water != 0 || job->amorphous.bins > 0 || job->halo.number)
        return 0;
    for (size_t j = 1; j < beam->source_count; j++) {
        const db_source *a = &beam->sources[0];
        const db_source *b = &beam->sources[j];
        if (a->direction[0] != b->direction[0] || a->direction[1] != b->direction[1] ||
            a->direction[2] != b->direction[2] ||
            (beam->divergence[0] != 0 && a->spread[0] != b->spread[0]) ||
            (beam->divergence[1] != 0 && a->spread[1] != b->spread[1]) ||
            db_parameters_with_source_column(&plan->parameters) > 0)
            return 0;
    }
    return 1;
}

db_status db_spots_begin(db_plan *plan) {
    db_spots *const spots = plan->spots;
    db_kernel_spots *const job = &plan->job.spots;
    if (spots->begun) return DB_OK;
    const db_spot_bounds bounds = db_spot_bounds_of(plan);
    DB_TRY(db_spots_search_begin(plan, &bounds, &job->tiles, &spots->list));
    const db_interface *const z = &plan->values.interface;
    job->search = &spots->list.search;
    job->window = spots->list.window;
    job->group = spots->list.group;
    job->groups = (uint32_t)spots->list.group_count;
    job->group_of = spots->list.group_of;
    job->spread = (const double *)(const void *)&z->spread;
    job->panel = (const double *)(const void *)z->panel;
    job->source = (const double *)(const void *)z->source;
    job->amplitude = plan->experiment.structure_factors.amplitude;
    job->moving = plan->experiment.goniometer.phi_step != 0;
    job->one_beam = one_beam(plan);
    spots->begun = 1;
    return DB_OK;
}

static db_status fill_lists(db_plan *plan) {
    db_spots *spots = plan->spots;
    db_kernel_spots *job = &plan->job.spots;
    DB_TRY(db_spots_begin(plan));
    DB_TRY(db_spots_search(plan, &job->tiles, &spots->list));
    if (spots->list.count >= UINT32_MAX)
        return db_fail(plan->context, DB_ERROR_UNSUPPORTED,
                       "spots in closed form: %zu of them are too many", spots->list.count);
    DB_TRY(fill_tiles(plan));
    job->spot = spots->list.spot;
    job->entry = spots->list.entry;
    job->count = spots->list.count;
    job->first = spots->first;
    job->number = spots->number;
    job->part = spots->part;
    spots->current = 1;
    return DB_OK;
}

db_status db_spots_fill(db_plan *plan) {
    if (plan->spots->current) return DB_OK;
    db_enter_stage(plan->context, "spots");
    const db_status status = fill_lists(plan);
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
    if (!plan->spots) return;
    plan->spots->begun = plan->spots->current = 0;
    plan->versions.spots++;
}

void db_spots_destroy(db_spots *spots) {
    if (!spots) return;
    db_spot_list_clear(&spots->list);
    void *const owned[] = { spots->cells, spots->before, spots->cell_first, spots->cell_tile,
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
