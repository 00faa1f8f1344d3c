/* Images of a refined model: only its spots, and its background. */
#include <dualbragg/expert/image_arrays.h>

#include "base/context_internal.h"

#include <dualbragg/plan.h>
#include <dualbragg/expert/fit_files.h>
#include <math.h>
#include <stdlib.h>

/* The smallest box of indices around the intensities. */
static db_status box_of(db_context *context, const db_fit_result *result,
                        db_structure_factors *list) {
    double entries = 1;
    *list = (db_structure_factors){ .default_F = 0 };
    for (int i = 0; i < 3 && result->reflection_count; i++) {
        int most = list->min[i] = result->reflections[0].hkl[i];
        for (size_t n = 0; n < result->reflection_count; n++) {
            const int index = result->reflections[n].hkl[i];
            if (index < list->min[i]) list->min[i] = index;
            if (index > most) most = index;
        }
        list->extent[i] = most - list->min[i] + 1;
        entries *= list->extent[i];
    }
    list->amplitude = entries < 1e9 ? calloc((size_t)entries, sizeof *list->amplitude) : NULL;
    return db_need_memory(context, list->amplitude, "the list of intensities");
}

static void fill_box(const db_fit_result *result, db_structure_factors *list) {
    for (size_t n = 0; n < result->reflection_count; n++) {
        const db_fit_reflection *const r = &result->reflections[n];
        size_t at = 0;
        for (int i = 0; i < 3; i++)
            at = at * (size_t)list->extent[i] + (size_t)(r->hkl[i] - list->min[i]);
        list->amplitude[at] = r->F;
    }
    list->listed = result->reflection_count;
}

static db_status render(db_context *context, const db_experiment *model, float *image) {
    db_plan *plan;
    DB_TRY(db_plan_create(context, model, NULL, &plan));
    const db_status status = db_plan_forward(plan, image);
    db_plan_destroy(&plan);
    return status;
}

db_status db_fit_render_spots(db_context *context, const db_fit_result *result, float *image) {
    db_experiment model = result->experiment; /* borrows its lists */
    if (!result->reflections) {
        model.beam.scale *= result->image_scale;
        return render(context, &model, image);
    }
    model.beam.fluence = DB_DEFAULT_FLUENCE;
    model.beam.scale = 1;
    DB_TRY(box_of(context, result, &model.structure_factors));
    fill_box(result, &model.structure_factors);
    const db_status status = render(context, &model, image);
    free(model.structure_factors.amplitude);
    return status;
}

static db_status write_floats(db_context *context, const char *path, const db_fit_result *result,
                              const float *image) {
    return db_write_float_image(context, path, image,
                                (size_t)result->fast_pixels * (size_t)result->slow_pixels);
}

db_status db_fit_write_spots(db_context *context, const char *path, const db_fit_result *result) {
    float *const image =
        malloc((size_t)result->fast_pixels * (size_t)result->slow_pixels * sizeof *image);
    if (!image) return db_fail_memory(context, path);
    db_status status = db_fit_render_spots(context, result, image);
    if (status == DB_OK) status = write_floats(context, path, result, image);
    free(image);
    return status;
}

db_status db_fit_write_background(db_context *context, const char *path,
                                  const db_fit_result *result) {
    return write_floats(context, path, result, result->background_image);
}
