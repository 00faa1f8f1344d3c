/* Values for each pixel that an experiment list names beside its images: masks, gains, pedestals. */
#include "io/experiments/flex_pickle.h"

#include "base/context_internal.h"
#include "base/measured_pixels.h"

#include <dualbragg/io.h>
#include <dualbragg/expert/experiment_list_content.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static db_status read_pickle(db_context *context, const char *path, const db_file_content *content,
                             const db_measured_image *image, float *value) {
    const size_t panels = db_measured_panels(image);
    int(*const shape)[2] = calloc(panels, sizeof *shape);
    if (!shape) return db_fail_memory(context, path);
    for (size_t p = 0; p < panels; p++) {
        shape[p][0] = image->fast_pixels;
        shape[p][1] = db_measured_rows(image, p);
    }
    const db_status status =
        db_flex_pickle_read(context, path, content, panels, (const int(*)[2])shape, value);
    free(shape);
    return status;
}

static db_status copy_image(db_context *context, const char *path, const db_measured_image *map,
                            const db_measured_image *image, float *value) {
    const size_t count = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
    if (map->fast_pixels != image->fast_pixels || map->slow_pixels != image->slow_pixels)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected the image's %d x %d pixels, found %d x %d", path,
                       image->fast_pixels, image->slow_pixels, map->fast_pixels, map->slow_pixels);
    for (size_t i = 0; i < count; i++)
        value[i] = map->mask[i] & (DB_MASK_GAP | DB_MASK_BAD) ? NAN : map->value[i];
    return DB_OK;
}

static db_status read_image_of_values(db_context *context, const char *path,
                                      const db_measured_image *image, float *value) {
    db_measured_image map;
    DB_TRY(db_read_image(context, path, &map));
    const db_status status = copy_image(context, path, &map, image, value);
    db_measured_image_clear(&map);
    return status;
}

db_status db_read_listed_map(db_context *context, const db_expt_content *content, db_expt_map map,
                             const db_measured_image *image, float *value) {
    const char *const path =
        content && map < DB_EXPT_MAP_COUNT ? content->map[map] : (const char *)NULL;
    if (!path || !image || !value)
        return db_fail(context, DB_ERROR_USAGE,
                       "values of pixels: expected a file that the list names, an image and room "
                       "for its pixels, found none");
    db_file_content bytes;
    DB_TRY(db_file_content_read(context, path, &bytes));
    const int pickled = db_is_pickle(&bytes);
    db_status status = pickled ? read_pickle(context, path, &bytes, image, value) : DB_OK;
    db_file_content_clear(&bytes);
    return pickled ? status : read_image_of_values(context, path, image, value);
}
