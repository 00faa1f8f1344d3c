/* Tiles of a region of interest. */
#include "fit/pixels/image_tiles.h"

#include "base/context_internal.h"
#include "base/growth.h"
#include "fit/pixels/geometry.h"
#include "fit/pixels/measured_image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double usable = 0.3; /* least fraction of usable pixels of a tile */

static db_region region_of_interest(const db_fit_data *data) {
    const int *const roi = data->settings->roi;
    const int fast_end = roi[1] >= 0 ? roi[1] : data->image->fast_pixels - 1;
    const int slow_end = roi[3] >= 0 ? roi[3] : data->image->slow_pixels - 1;
    db_region r = { .fast_start = roi[0] >= 0 ? roi[0] : 0,
                    .slow_start = roi[2] >= 0 ? roi[2] : 0 };
    r.fast_count = fast_end - r.fast_start + 1;
    r.slow_count = slow_end - r.slow_start + 1;
    r.stride = (size_t)r.fast_count;
    return r;
}

/* Number of pieces of about the wanted length. */
static int pieces(int length, int wanted) {
    const int count = (length + wanted / 2) / wanted;
    return count < 1 ? 1 : count;
}

/* Adds the tiles of rows `start` to `end` - 1 of the image, which are on one panel. */
static void cut_rows(const db_region *region, int wanted, size_t panel, int first_row, int start,
                     int end, db_fit_blocks *tiles) {
    const int across = pieces(region->fast_count, wanted), down = pieces(end - start, wanted);
    for (int i = 0; i < across * down; i++) {
        const int column = i % across, row = i / across;
        const int fast = (int)((long)region->fast_count * column / across);
        const int fast_end = (int)((long)region->fast_count * (column + 1) / across);
        const int slow = start + (int)((long)(end - start) * row / down);
        const int slow_end = start + (int)((long)(end - start) * (row + 1) / down);
        tiles->region[tiles->count++] = (db_region){
            .panel = panel,
            .fast_start = region->fast_start + fast,
            .slow_start = slow - first_row,
            .fast_count = fast_end - fast,
            .slow_count = slow_end - slow,
            .offset = (size_t)(slow - region->slow_start) * region->stride + (size_t)fast,
            .stride = region->stride,
        };
    }
}

/* Cuts tiles panel by panel. */
static db_status cut_panels(db_context *context, const db_region *region, int wanted,
                            const db_measured_image *image, db_fit_blocks *tiles) {
    size_t room = 0;
    for (size_t p = 0; p < db_measured_panels(image); p++) {
        const int first = db_measured_first_row(image, p);
        const int behind = first + db_measured_rows(image, p);
        const int region_end = region->slow_start + region->slow_count;
        const int start = region->slow_start > first ? region->slow_start : first;
        const int end = region_end < behind ? region_end : behind;
        if (end <= start) continue;
        const int most = pieces(region->fast_count, wanted) * pieces(end - start, wanted);
        DB_GROW(context, tiles->region, room, tiles->count + (size_t)most,
                "the tiles of the refinement");
        cut_rows(region, wanted, p, first, start, end, tiles);
    }
    return DB_OK;
}

/* Fills value, and weight: 1 for usable pixels, 0 for all if they are too few. */
static void fill_tile(const db_fit_data *data, const db_fit_geometry *geometry, double dmin,
                      const db_region *tile, db_fit_blocks *tiles) {
    const double dmax = data->settings->dmax > 0 ? data->settings->dmax : INFINITY;
    int count = 0;
    for (int s = 0; s < tile->slow_count; s++) {
        for (int f = 0; f < tile->fast_count; f++) {
            const size_t i = tile->offset + (size_t)s * tile->stride + (size_t)f;
            const size_t at = db_measured_index(data->image, tile, f, s);
            const double d = db_fit_geometry_resolution(
                geometry, tile->panel, tile->fast_start + f + 0.5, tile->slow_start + s + 0.5);
            const int used = data->image->mask[at] == DB_MASK_TRUSTED && d >= dmin && d <= dmax;
            tiles->value[i] = data->image->value[at];
            tiles->background[i] = data->strong->background[at];
            tiles->weight[i] = (float)used;
            count += used;
        }
    }
    if (count >= usable * tile->fast_count * tile->slow_count) return;
    for (int s = 0; s < tile->slow_count; s++)
        memset(tiles->weight + tile->offset + (size_t)s * tile->stride, 0,
               (size_t)tile->fast_count * sizeof *tiles->weight);
}

static db_status take_tiles(db_context *context, const db_experiment *experiment,
                            const db_fit_data *data, double dmin, db_fit_blocks *tiles) {
    db_fit_geometry geometry;
    const db_region region = region_of_interest(data);
    const size_t pixels = region.stride * (size_t)region.slow_count;
    DB_TRY(cut_panels(context, &region, data->settings->background_tile, data->image, tiles));
    tiles->holds_light = data->strong->holds_light;
    tiles->value = malloc(pixels * sizeof *tiles->value);
    tiles->weight = malloc(pixels * sizeof *tiles->weight);
    tiles->background = malloc(pixels * sizeof *tiles->background);
    tiles->shape_variance = calloc(pixels + 1, sizeof *tiles->shape_variance);
    if (!tiles->value || !tiles->weight || !tiles->background || !tiles->shape_variance)
        return db_fail_memory(context, "the pixels of the refinement");
    DB_TRY(db_fit_geometry_of(context, experiment, &geometry));
    for (size_t t = 0; t < tiles->count; t++)
        fill_tile(data, &geometry, fmax(dmin, data->settings->dmin), &tiles->region[t], tiles);
    db_fit_geometry_clear(&geometry);
    return DB_OK;
}

db_status db_tiles_take(db_context *context, const db_experiment *experiment,
                        const db_fit_data *data, double dmin, db_fit_blocks *tiles) {
    memset(tiles, 0, sizeof *tiles);
    const db_status status = take_tiles(context, experiment, data, dmin, tiles);
    if (status != DB_OK) db_tiles_clear(tiles);
    return status;
}

void db_tiles_clear(db_fit_blocks *tiles) {
    free(tiles->region);
    free(tiles->value);
    free(tiles->weight);
    free(tiles->background);
    free(tiles->shape_variance);
    memset(tiles, 0, sizeof *tiles);
}
