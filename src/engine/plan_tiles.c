/* Regions and tiles of a plan. */
#include "engine/plan_tiles.h"

#include "base/context_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TILE_WORK = 1 << 15, /* samples of a tile, roughly: a fraction of a millisecond */
    TILE_PIXELS =
        1 << 12, /* most pixels of a tile, roughly: so small images can use many threads */
    TILE_FAST = DB_SPOT_TILE_FAST,
    TILE_SLOW = DB_SPOT_TILE_SLOW
};

static const double MOST_PIXELS = 1e15; /* bytes of all derivative images then fit into 64 bits */

static db_status check_region(db_context *context, const db_experiment *e, const db_region *r,
                              size_t i) {
    if (r->panel >= e->detector.panel_count)
        return db_fail(context, DB_ERROR_USAGE, "region %zu: panel %zu of %zu does not exist", i,
                       r->panel, e->detector.panel_count);
    const db_panel *panel = &e->detector.panels[r->panel];
    if (r->fast_start < 0 || r->slow_start < 0 || r->fast_count < 1 || r->slow_count < 1 ||
        r->fast_count > panel->fast_pixels - r->fast_start ||
        r->slow_count > panel->slow_pixels - r->slow_start || r->stride < (size_t)r->fast_count)
        return db_fail(context, DB_ERROR_USAGE,
                       "region %zu: start (%d, %d), size %d x %d, stride %zu does not fit the "
                       "panel of %d x %d pixels",
                       i, r->fast_start, r->slow_start, r->fast_count, r->slow_count, r->stride,
                       panel->fast_pixels, panel->slow_pixels);
    const double end = (double)r->offset + (double)r->slow_count * (double)r->stride;
    if (end > MOST_PIXELS)
        return db_fail(
            context, DB_ERROR_USAGE,
            "region %zu: offset %zu and stride %zu of %d rows end at pixel %g, more than "
            "the supported %g",
            i, r->offset, r->stride, r->slow_count, end, MOST_PIXELS);
    return DB_OK;
}

db_status db_regions_check(db_context *context, const db_experiment *experiment,
                           const db_region *regions, size_t count) {
    if (count < 1)
        return db_fail(context, DB_ERROR_USAGE, "regions: expected at least one, found none");
    for (size_t i = 0; i < count; i++) DB_TRY(check_region(context, experiment, &regions[i], i));
    return DB_OK;
}

db_region *db_whole_panels(const db_detector *d) {
    db_region *regions = calloc(d->panel_count, sizeof *regions);
    size_t offset = 0;
    for (size_t p = 0; regions && p < d->panel_count; p++) {
        db_region *r = &regions[p];
        r->panel = p;
        r->fast_count = d->panels[p].fast_pixels;
        r->slow_count = d->panels[p].slow_pixels;
        r->offset = offset;
        r->stride = (size_t)r->fast_count;
        offset += (size_t)r->fast_count * (size_t)r->slow_count;
    }
    return regions;
}

static db_region *copy_of(const db_region *regions, size_t count) {
    db_region *const copy = malloc(count * sizeof *copy);
    if (copy) memcpy(copy, regions, count * sizeof *copy);
    return copy;
}

static db_status take_regions(db_context *context, const db_experiment *experiment,
                              const db_plan_options *options, db_plan_tiles *tiles) {
    const db_detector *const detector = &experiment->detector;
    if (options->regions)
        DB_TRY(db_regions_check(context, experiment, options->regions, options->region_count));
    tiles->region_count = options->regions ? options->region_count : detector->panel_count;
    tiles->regions = options->regions ? copy_of(options->regions, tiles->region_count)
                                      : db_whole_panels(detector);
    if (!tiles->regions) return db_fail_memory(context, "the regions of a plan");
    for (size_t i = 0; i < tiles->region_count; i++) {
        const db_region *r = &tiles->regions[i];
        const size_t end =
            r->offset + (size_t)(r->slow_count - 1) * r->stride + (size_t)r->fast_count;
        if (end > tiles->pixels) tiles->pixels = end;
    }
    tiles->given_count = tiles->region_count;
    tiles->given = copy_of(tiles->regions, tiles->given_count);
    return tiles->given ? DB_OK : db_fail_memory(context, "the regions of a plan");
}

/* Checks plans with one reflection per region */

static db_status check_reflections(db_context *context, const db_experiment *experiment,
                                   const db_plan_options *options) {
    const char *const what = "reflections of regions";
    if (!options->regions)
        return db_fail(context, DB_ERROR_USAGE, "%s: expected regions, found none", what);
    if (options->parameter_count)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "%s: expected a plan without parameters, found %zu", what,
                       options->parameter_count);
    if (experiment->structure_factors.amplitude && experiment->structure_factors.interpolate)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "%s: expected structure factors of nearest nodes, found interpolated ones",
                       what);
    if (experiment->reference.on)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "%s: nanoBragg's arithmetic (compat) shows all", what);
    return DB_OK;
}

static db_status take_reflections(db_context *context, const db_experiment *experiment,
                                  const db_plan_options *options, db_plan_tiles *tiles) {
    if (!options->reflections) return DB_OK;
    DB_TRY(check_reflections(context, experiment, options));
    tiles->reflection = malloc(tiles->given_count * sizeof *tiles->reflection);
    tiles->region_node = malloc(tiles->given_count * 3 * sizeof *tiles->region_node);
    if (!tiles->reflection || !tiles->region_node)
        return db_fail_memory(context, "the reflections of regions");
    memcpy(tiles->reflection, options->reflections, tiles->given_count * sizeof *tiles->reflection);
    for (size_t i = 0; i < tiles->given_count; i++)
        for (size_t j = 0; j < 3; j++) tiles->region_node[3 * i + j] = tiles->reflection[i][j];
    return DB_OK;
}

static size_t pieces_of(int pixels, int piece) {
    return ((size_t)pixels + (size_t)piece - 1) / (size_t)piece;
}

/* Rows of a tile in closed form. Shoeboxes are not cut, so that the numbers of their spots are computed once. */
static int tile_rows(const db_region *r) {
    return r->fast_count > TILE_FAST / 2 ? (int)TILE_SLOW : 2 * (int)TILE_SLOW;
}

/* Closed form: makes each tile a region. */
static db_status cut_regions(db_context *context, db_plan_tiles *tiles) {
    size_t count = 0, n = 0;
    for (size_t i = 0; i < tiles->region_count; i++)
        count += pieces_of(tiles->regions[i].fast_count, TILE_FAST) *
                 pieces_of(tiles->regions[i].slow_count, tile_rows(&tiles->regions[i]));
    db_region *cut = malloc(count * sizeof *cut);
    int(*reflection)[3] = tiles->reflection ? malloc(count * sizeof *reflection) : NULL;
    if (!cut || (tiles->reflection && !reflection)) {
        free(cut);
        free(reflection);
        return db_fail_memory(context, "the tiles of a plan");
    }
    for (size_t i = 0; i < tiles->region_count; i++) {
        const db_region *r = &tiles->regions[i];
        const int rows = tile_rows(r);
        for (int slow = 0; slow < r->slow_count; slow += rows)
            for (int fast = 0; fast < r->fast_count; fast += TILE_FAST) {
                if (reflection) memcpy(reflection[n], tiles->reflection[i], sizeof reflection[n]);
                db_region *t = &cut[n++];
                *t = *r;
                t->fast_start += fast;
                t->slow_start += slow;
                t->fast_count = r->fast_count - fast < TILE_FAST ? r->fast_count - fast : TILE_FAST;
                t->slow_count = r->slow_count - slow < rows ? r->slow_count - slow : rows;
                t->offset += (size_t)slow * r->stride + (size_t)fast;
            }
    }
    free(tiles->regions);
    free(tiles->reflection);
    tiles->regions = cut;
    tiles->reflection = reflection;
    tiles->region_count = count;
    return DB_OK;
}

/* Rows of a tile: a region is cut into tiles of about the same size. A small region is not cut, since each tile has
 * some overhead. */
static int rows_per_tile(const db_experiment *experiment, const db_region *region) {
    if (experiment->spread.spots == DB_SPOTS_CLOSED) return region->slow_count;
    const double samples = (double)experiment->goniometer.phi_steps *
                           (double)experiment->crystal.mosaic_domains *
                           (double)experiment->beam.source_count * experiment->oversample *
                           experiment->oversample * experiment->detector.sensor_layers;
    const double tiles = rint(fmax(samples / TILE_WORK, 1.0 / TILE_PIXELS) * region->fast_count *
                              region->slow_count);
    if (tiles < 2) return region->slow_count;
    return tiles > region->slow_count ? 1 : (int)ceil(region->slow_count / tiles);
}

static db_status cut_tiles(db_context *context, const db_experiment *experiment,
                           db_plan_tiles *tiles) {
    for (int pass = 0; pass < 2; pass++) {
        tiles->count = 0;
        for (size_t i = 0; i < tiles->region_count; i++) {
            const db_region *r = &tiles->regions[i];
            const int rows = rows_per_tile(experiment, r);
            for (int row = 0; row < r->slow_count; row += rows) {
                if (pass == 1) {
                    const int end = r->slow_count - row < rows ? r->slow_count : row + rows;
                    tiles->list[tiles->count] = (db_tile){ i, row, end };
                }
                tiles->count++;
            }
        }
        if (pass == 0) {
            tiles->list = malloc(tiles->count * sizeof *tiles->list);
            if (!tiles->list) return db_fail_memory(context, "the tiles of a plan");
        }
    }
    return DB_OK;
}

db_status db_plan_tiles_create(db_context *context, const db_experiment *experiment,
                               const db_plan_options *options, db_plan_tiles *tiles) {
    DB_TRY(take_regions(context, experiment, options, tiles));
    DB_TRY(take_reflections(context, experiment, options, tiles));
    if (experiment->spread.spots == DB_SPOTS_CLOSED) DB_TRY(cut_regions(context, tiles));
    return cut_tiles(context, experiment, tiles);
}

void db_plan_tiles_clear(db_plan_tiles *tiles) {
    void *const owned[] = { tiles->given, tiles->regions, tiles->reflection, tiles->region_node,
                            tiles->list };
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
}
