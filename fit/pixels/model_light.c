#include "fit/pixels/model_light.h"

#include "base/context_internal.h"
#include "fit/pixels/measured_image.h"

#include <math.h>
#include <stdlib.h>

enum { HALF = 2, WIDTH = 2 * HALF + 1 };

/* Regions of those within their panels; number: which reflections they are of. */
static size_t place(const db_fit_data *data, const db_prediction *prediction, db_region *regions,
                    size_t *number) {
    size_t count = 0;
    for (size_t i = 0; i < prediction->count; i++) {
        const db_reflection *const r = &prediction->reflection[i];
        const int fast = (int)floor(r->position[0]) - HALF,
                  slow = (int)floor(r->position[1]) - HALF;
        if (fast < 0 || slow < 0 || fast + WIDTH > data->image->fast_pixels ||
            slow + WIDTH > db_sheet_rows(data->image, r->panel))
            continue;
        regions[count] =
            (db_region){ r->panel, fast, slow, WIDTH, WIDTH, count * WIDTH * WIDTH, WIDTH };
        number[count++] = i;
    }
    return count;
}

static db_status render(db_context *context, const db_experiment *experiment,
                        const db_fit_data *data, const db_region *regions, size_t count,
                        float *image) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan;
    options.precision = data->settings->precision;
    options.regions = regions;
    options.region_count = count;
    DB_TRY(db_plan_create(context, experiment, &options, &plan));
    const db_status status = db_plan_forward(plan, image);
    db_plan_destroy(&plan);
    return status;
}

db_status db_model_light(db_context *context, const db_experiment *experiment,
                         const db_fit_data *data, const db_prediction *prediction, double *light) {
    db_region *const regions = malloc((prediction->count + 1) * sizeof *regions);
    size_t *const number = malloc((prediction->count + 1) * sizeof *number);
    const size_t count = regions && number ? place(data, prediction, regions, number) : 0;
    float *const image = malloc((count * WIDTH * WIDTH + 1) * sizeof *image);
    db_status status = regions && number && image
                           ? DB_OK
                           : db_fail_memory(context, "the light of predicted reflections");
    for (size_t i = 0; i < prediction->count; i++) light[i] = 0;
    if (status == DB_OK && count > 0)
        status = render(context, experiment, data, regions, count, image);
    for (size_t n = 0; n < count && status == DB_OK; n++)
        for (size_t i = 0; i < WIDTH * WIDTH; i++)
            light[number[n]] += (double)image[n * WIDTH * WIDTH + i];
    free(regions);
    free(number);
    free(image);
    return status;
}
