/* Shots that are lattices of one image. */
#include "fit/shots/lattices.h"

#include "base/context_internal.h"
#include "fit/objective/model_image.h"
#include "fit/shots/joint_stages.h"
#include "fit/shots/team.h"
#include "fit/shots/workers.h"

#include <stdlib.h>
#include <string.h>

/* Does a shot begin another crystal of a series? Its frames come in the order of their images, of which the first shots are
 * numbered. */
static int begins_crystal(const db_shots *all, size_t shot) {
    return all->image && all->options->series && all->image[shot] <= all->image[shot - 1];
}

static db_status find_crystals(db_shots *all) {
    all->frames.crystals = 1;
    for (size_t i = 1; i < all->count; i++) all->frames.crystals += (size_t)begins_crystal(all, i);
    all->frames.crystal = calloc(all->frames.crystals, sizeof *all->frames.crystal);
    if (!all->frames.crystal) return db_fail_memory(all->context, "the crystals of a series");
    db_series_crystal *crystal = all->frames.crystal;
    for (size_t i = 0; i < all->count; i++) {
        if (i > 0 && begins_crystal(all, i)) (++crystal)->first = i;
        crystal->count++;
    }
    return DB_OK;
}

static db_status find_images(db_shots *all) {
    const db_fit_shot_source *const source = all->source;
    int shared = 0;
    if (!source->image || all->count == 0) return DB_OK;
    all->image = malloc(all->count * sizeof *all->image);
    if (!all->image) return db_fail_memory(all->context, "the images of the shots");
    for (size_t i = 0; i < all->count; i++) {
        all->image[i] = source->image(source->user, i);
        shared |= all->image[i] != i;
    }
    if (shared) return DB_OK;
    free(all->image);
    all->image = NULL;
    return DB_OK;
}

/* Several crystals stand otherwise on each setting of the goniometer. */
static void number_by_crystal(const db_shots *all, size_t *number, size_t *count) {
    const size_t settings = *count;
    if (settings < 2) return;
    for (size_t k = 0; k < all->count; k++) number[k] += settings * db_shots_crystal(all, k);
    *count = settings * all->frames.crystals;
}

/* Takes the numbers of the frames' settings from the source of a series. */
static db_status find_settings(db_shots *all) {
    const db_fit_shot_source *const source = all->source;
    for (int s = 0; s < DB_FIT_SETTINGS && all->options->series && source->setting; s++) {
        size_t *const number = malloc((all->count + 1) * sizeof *number), count = 1;
        all->frames.setting[s] = number;
        if (!number) return db_fail_memory(all->context, "the settings of a series");
        for (size_t k = 0; k < all->count; k++) {
            number[k] = source->setting(source->user, k, (db_fit_setting)s);
            if (number[k] >= count) count = number[k] + 1;
        }
        if (s == DB_FIT_SETTING_CRYSTAL) number_by_crystal(all, number, &count);
        all->frames.setting_count[s] = count;
    }
    return DB_OK;
}

db_status db_lattices_find(db_shots *all) {
    DB_TRY(find_images(all));
    DB_TRY(find_crystals(all));
    return find_settings(all);
}

/* Lattices of an image that are in use. */
typedef struct group {
    size_t count;
    size_t *shot;
    db_shot_model *model;
    db_experiment *experiment; /* of the models; borrowed */
    float **light;             /* an image each */
    float *others;             /* room for one more image */
} group;

static void clear_group(group *g) {
    for (size_t i = 0; i < g->count; i++) {
        if (g->model) db_shot_model_clear(&g->model[i]);
        if (g->light) free(g->light[i]);
    }
    free(g->shot);
    free(g->model);
    free(g->experiment);
    free(g->light);
    free(g->others);
}

/* Does a lattice give light? By the models at the start of a segment, also if a run continues within it, or the
 * lattice was excluded since. A crystal of a series shines on frames that were excluded, too. */
static int gives_light(const db_shots *all, size_t shot, int segment) {
    const db_shot_summary *const summary = &all->summary[shot];
    return summary->used || summary->lit == segment ||
           (summary->readable && all->frames.crystal[db_shots_crystal(all, shot)].in_use);
}

/* Which crystals of a series have frames in use? Rank 0 knows. */
static db_status tell_crystals_in_use(db_shots *all) {
    for (size_t c = 0; c < all->frames.crystals && all->frames.crystals > 1; c++) {
        db_series_crystal *const one = &all->frames.crystal[c];
        one->in_use = 0;
        for (size_t i = one->first; i < one->first + one->count; i++)
            one->in_use |= all->summary[i].used;
    }
    return db_team_broadcast(&all->team, all->context, all->frames.crystal,
                             all->frames.crystals * sizeof *all->frames.crystal);
}

static db_status make_model(const db_shots *all, db_context *context, size_t shot, int segment,
                            db_shot_model *model) {
    db_shot_summary *const summary = &all->summary[shot];
    double *const value = db_shots_values(all, shot).lit;
    if (summary->lit != segment) {
        summary->lit = segment;
        memcpy(summary->lit_orientation, summary->orientation, sizeof summary->orientation);
        memcpy(value, db_shots_value(all, shot), all->parameters * sizeof *value);
    }
    return db_shot_model_at(all, context, shot, summary->lit_orientation, value, model);
}

/* Lists the shots with the same image as a shot. */
static db_status list_group(const db_shots *all, db_context *context, size_t shot, int segment,
                            group *g) {
    const size_t first = all->image[shot];
    size_t count = 0;
    for (size_t i = first; i < all->count; i++)
        count += all->image[i] == all->image[shot] && gives_light(all, i, segment);
    g->shot = calloc(count + 1, sizeof *g->shot);
    g->model = calloc(count + 1, sizeof *g->model);
    g->experiment = calloc(count + 1, sizeof *g->experiment);
    g->light = calloc(count + 1, sizeof *g->light);
    if (!g->shot || !g->model || !g->experiment || !g->light)
        return db_fail_memory(context, "the lattices of an image");
    for (size_t i = first; i < all->count; i++)
        if (all->image[i] == all->image[shot] && gives_light(all, i, segment))
            g->shot[g->count++] = i;
    return DB_OK;
}

static db_status find_light(db_shots *all, db_context *context, const db_measured_image *image,
                            const group *g) {
    db_fit_settings settings;
    db_strong_pixels strong;
    DB_TRY(db_shots_settings(all, context, g->shot[0], &settings));
    settings.dmin = settings.dmax = 0; /* spots shine on others across the rim of the data, too */
    db_status status = db_shoebox_size_choose(context, &g->experiment[0], &settings);
    if (status == DB_OK) status = db_strong_pixels_find(context, image, &settings, &strong);
    if (status == DB_OK) {
        const db_fit_data data = { image, &strong, &settings };
        status = db_lattice_light(context, g->experiment, g->count, &data, g->light);
        db_strong_pixels_clear(&strong);
    }
    db_fit_settings_clear(&settings);
    return status;
}

/* Writes the light of the other lattices for each lattice into the store. */
static db_status keep_light(db_shots *all, db_context *context, size_t pixels, const group *g) {
    for (size_t i = 0; i < g->count; i++) {
        memset(g->others, 0, pixels * sizeof *g->others);
        for (size_t k = 0; k < g->count; k++)
            for (size_t p = 0; p < pixels && k != i; p++) g->others[p] += g->light[k][p];
        DB_TRY(db_store_put(context, &all->store, g->others, pixels * sizeof *g->others,
                            &all->state[g->shot[i]].light));
    }
    return DB_OK;
}

/* Loads a group: shots with a readable starting model, and their common image. */
static db_status load_group(db_shots *all, db_context *context, int segment, group *g,
                            db_measured_image *image) {
    size_t kept = 0;
    for (size_t i = 0; i < g->count; i++) {
        db_measured_image own;
        DB_TRY(db_shots_load(all, context, g->shot[i], &own));
        if (!own.value) continue;
        if (kept)
            db_shots_release(all, &own);
        else
            *image = own;
        g->shot[kept++] = g->shot[i];
    }
    g->count = kept;
    for (size_t i = 0; i < kept; i++) {
        DB_TRY(make_model(all, context, g->shot[i], segment, &g->model[i]));
        g->experiment[i] = g->model[i].experiment;
    }
    return DB_OK;
}

static db_status share_light(db_shots *all, db_context *context, int segment, group *g,
                             db_measured_image *image) {
    DB_TRY(load_group(all, context, segment, g, image));
    if (g->count < 2) return DB_OK;
    const size_t pixels = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
    g->others = malloc(pixels * sizeof *g->others);
    int missing = !g->others;
    for (size_t i = 0; i < g->count; i++) {
        g->light[i] = malloc(pixels * sizeof *g->light[i]);
        missing |= !g->light[i];
    }
    if (missing) return db_fail_memory(context, "the light of an image's lattices");
    DB_TRY(find_light(all, context, image, g));
    return keep_light(all, context, pixels, g);
}

/* Shares the light of an image, for the first shot in use that shows it. */
static db_status share(db_shots *all, db_context *context, size_t shot, void *user, double *sum) {
    group g = { 0 };
    db_measured_image image = { 0 };
    const int segment = *(const int *)user;
    (void)sum;
    for (size_t i = all->image[shot]; i < shot; i++)
        if (all->image[i] == all->image[shot] && all->summary[i].used) return DB_OK;
    db_status status = list_group(all, context, shot, segment, &g);
    if (status == DB_OK && g.count > 1) status = share_light(all, context, segment, &g, &image);
    clear_group(&g);
    db_shots_release(all, &image);
    return status;
}

db_status db_lattices_share(db_shots *all, int stage) {
    int segment = db_segment_from(all, stage).to + 2;
    if (!all->image) return DB_OK;
    DB_TRY(tell_crystals_in_use(all));
    for (size_t i = 0; i < all->count; i++) all->state[i].light = -1;
    return db_workers_each(all, "light of other lattices", stage, share, &segment);
}

db_status db_lattices_add_light(const db_shots *all, db_context *context, size_t shot,
                                const db_measured_image *image, db_strong_pixels *strong) {
    const size_t pixels = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
    if (!all->image || all->state[shot].light < 0) return DB_OK;
    float *const light = malloc(pixels * sizeof *light);
    if (!light) return db_fail_memory(context, "the light of other lattices");
    const db_status status =
        db_store_get(context, &all->store, all->state[shot].light, light, pixels * sizeof *light);
    if (status == DB_OK) db_strong_pixels_add_light(image, light, strong);
    free(light);
    return status;
}
