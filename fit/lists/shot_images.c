/* Images and intensities of a shot's refined model, beside the light of other lattices on its image. */
#include "base/context_internal.h"
#include "base/measured_pixels.h"
#include "fit/pixels/dark_levels.h"
#include "fit/objective/model_image.h"
#include "fit/lists/shot_list.h"

#include <dualbragg/expert/fit_configurations.h>
#include <dualbragg/expert/fit_files.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adds the light of the other lattices in use of the shot's image to the background. */
static db_status add_others(db_context *context, const db_fit_shot_source *source,
                            const db_fit_shots_result *result, size_t shot,
                            const db_structure_factors *known, const db_fit_data *data,
                            db_strong_pixels *strong) {
    const size_t pixels = db_measured_pixels(data->image);
    db_experiment *const model = calloc(result->shot_count, sizeof *model); /* borrow */
    float **const light = calloc(result->shot_count, sizeof *light);
    size_t count = 0, own = 0;
    int complete = model && light;
    for (size_t s = 0; s < result->shot_count && complete; s++) {
        const int same = source->image(source->user, s) == source->image(source->user, shot);
        if (!same || !result->shot[s].used) continue;
        if (s == shot) own = count;
        model[count] = result->shot[s].experiment;
        model[count].structure_factors = *known;
        light[count] = malloc(pixels * sizeof **light);
        complete = light[count++] != NULL;
    }
    db_status status = !complete   ? db_fail_memory(context, "the light of an image's lattices")
                       : count > 1 ? db_lattice_light(context, model, count, data, light)
                                   : DB_OK;
    for (size_t k = 0; k < count; k++) {
        if (status == DB_OK && k != own) db_strong_pixels_add_light(data->image, light[k], strong);
        free(light[k]);
    }
    free(light);
    free(model);
    return status;
}

/* Known structure factors leave no intensities to be written. */
static db_status write_files(db_context *context, const char *folder,
                             const db_fit_shots_result *shots, size_t shot,
                             const db_fit_config *config, const db_fit_result *result) {
    enum { PICTURES = 2 };
    const int is_free = config->settings.intensity == DB_FIT_FREE;
    typedef db_status (*writer)(db_context *, const char *, const db_fit_result *);
    static const struct {
        const char *ending;
        writer write;
    } files[] = { { "_model.bin", db_fit_write_spots },
                  { "_background.bin", db_fit_write_background },
                  { ".hkl", db_fit_write_intensities } };
    char path[DB_FIT_PATH_SIZE];
    for (size_t i = 0; i < (is_free ? sizeof files / sizeof *files : PICTURES); i++) {
        DB_TRY(db_shots_path(context, folder, shots, shot, files[i].ending, path));
        DB_TRY(files[i].write(context, path, result));
    }
    if (!is_free) return DB_OK;
    DB_TRY(db_shots_path(context, folder, shots, shot, ".refl", path));
    return db_fit_write_table(context, path, config, result);
}

/* Given intensities of reflections that a frame of a series shows, from all frames; passages are in order. An image has no
 * light below 0. */
static size_t list_given(const db_fit_shots_result *shots, size_t shot, db_given_intensity *given) {
    size_t count = 0;
    for (size_t n = 0; n < shots->passage_count; n++) {
        const db_fit_passage *const p = &shots->passages[n];
        if (shot < p->first || shot > p->last) continue;
        memcpy(given[count].hkl, p->hkl, sizeof given->hkl);
        given[count++].intensity = fmax(0, p->square);
    }
    return count;
}

/* result: with room for the images. */
static db_status fit_intensities(db_context *context, const db_fit_data *data,
                                 const db_fit_shots_result *shots, size_t shot,
                                 db_fit_result *result) {
    size_t explained;
    db_given_intensity *const given =
        shots->passages ? malloc((shots->passage_count + 1) * sizeof *given) : NULL;
    db_model_images images = { .whole = result->model_image,
                               .background = result->background_image,
                               .given = given };
    if (shots->passages && !given) return db_fail_memory(context, "the intensities of a frame");
    if (given) images.given_count = list_given(shots, shot, given);
    const db_status status =
        db_model_image(context, &result->experiment, data, &explained, &images);
    free(given);
    if (status == DB_OK) db_dark_levels_add(data->image, result->background_image);
    result->image_scale = images.scale;
    result->reflections = images.reflection;
    result->reflection_count = images.reflection_count;
    result->mates = images.mates;
    return status;
}

static db_status make(db_context *context, const char *folder, const db_fit_shot_source *source,
                      const db_fit_shots_result *shots, size_t shot,
                      const db_structure_factors *known, const db_fit_config *config,
                      const db_fit_data *data, db_strong_pixels *strong) {
    db_fit_result *const result = calloc(1, sizeof *result);
    const size_t pixels = db_measured_pixels(data->image);
    if (!result) return db_fail_memory(context, "the images of a shot");
    result->experiment = shots->shot[shot].experiment; /* borrows */
    result->experiment.structure_factors = *known;
    result->verdict.intensities_usable = shots->intensities_usable;
    result->fast_pixels = data->image->fast_pixels;
    result->slow_pixels = data->image->slow_pixels;
    result->model_image = malloc(pixels * sizeof *result->model_image);
    result->background_image = malloc(pixels * sizeof *result->background_image);
    db_status status = result->model_image && result->background_image
                           ? add_others(context, source, shots, shot, known, data, strong)
                           : db_fail_memory(context, "the images of a shot");
    if (status == DB_OK) status = fit_intensities(context, data, shots, shot, result);
    if (status == DB_OK) status = write_files(context, folder, shots, shot, config, result);
    free(result->reflections);
    free(result->model_image);
    free(result->background_image);
    free(result);
    return status;
}

static db_status find_and_make(db_context *context, const char *folder,
                               const db_fit_shot_source *source, const db_fit_shots_result *result,
                               size_t shot, const db_structure_factors *known,
                               const db_measured_image *image, db_fit_config *config) {
    db_fit_settings *const settings = &config->settings;
    db_strong_pixels strong;
    DB_TRY(db_shoebox_size_choose(context, &result->shot[shot].experiment, settings));
    DB_TRY(db_strong_pixels_find(context, image, settings, &strong));
    const db_fit_data data = { image, &strong, settings };
    const db_status status =
        make(context, folder, source, result, shot, known, config, &data, &strong);
    db_strong_pixels_clear(&strong);
    return status;
}

db_status db_fit_shots_write_images(db_context *context, const char *folder, db_fit_shot_list *list,
                                    const db_fit_shots_result *result, size_t shot) {
    const db_fit_shot_source source = db_fit_shot_list_source(list);
    db_measured_image image;
    db_experiment start = { 0 }; /* results lack its structure factors */
    db_fit_config config = { .image_file = "" };
    db_status status = db_shot_list_completed(context, list, shot, &config);
    const int known = config.settings.intensity == DB_FIT_KNOWN;
    db_fit_settings own = { 0 };
    if (status == DB_OK) status = db_fit_settings_copy(context, &config.settings, &own);
    if (status == DB_OK)
        status = source.load(source.user, context, shot, &image, known ? &start : NULL, &own);
    db_fit_settings_clear(&own);
    if (status == DB_OK) {
        if (list->entry[shot].has_spots) config.settings.spots = &list->entry[shot].spots;
        status = find_and_make(context, folder, &source, result, shot, &start.structure_factors,
                               &image, &config);
        db_measured_image_clear(&image);
        db_experiment_clear(&start);
    }
    db_fit_config_clear(&config);
    return status;
}
