/* Light of several crystals on one image. */
#include "fit/objective/model_image.h"

#include "base/context_internal.h"
#include "fit/objective/evaluate.h"
#include "fit/objective/stage_data.h"
#include "fit/pixels/measured_image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Pixels of a crystal, and their coefficients. */
typedef struct crystal {
    db_stage_data taken;
    db_objective objective;
    float *light; /* borrowed */
} crystal;

typedef struct image_light {
    const db_fit_data *data;
    float *total; /* sum over all crystals */
    size_t count;
    crystal *of; /* the crystals */
} image_light;

/* Opens a crystal: every predicted reflection with strong pixels, of any crystal. Its light is that of the likelihood of
 * photons: with variances of measured counts, narrower spots than the model's on a dark background would lose theirs. */
static db_status open_crystal(db_context *context, const db_experiment *experiment,
                              const db_fit_data *data, crystal *c) {
    const db_objective_options request = { .target = DB_FIT_POISSON };
    DB_TRY(db_stage_data_take(context, experiment, data, 0, 1, DB_SHOEBOXES_LIGHT, &c->taken));
    if (c->taken.blocks.count == 0) return DB_OK;
    DB_TRY(db_stage_data_objective(context, experiment, data, &c->taken, &request, &c->objective));
    return data->settings->intensity == DB_FIT_FREE
               ? db_stage_data_adapt(&c->taken, data, &c->objective, NULL, DB_OBJECTIVE_LOSS)
               : db_objective_render(&c->objective, NULL, DB_OBJECTIVE_LOSS);
}

static void close_crystal(crystal *c) {
    if (c->taken.blocks.count) db_objective_destroy(&c->objective);
    db_stage_data_clear(&c->taken);
}

/* Does a pixel of a block show this spot of the crystal, and not another of its spots? */
static int is_own(const crystal *c, size_t element) {
    return c->taken.boxes.count == 0 || c->taken.boxes.own[element];
}

/* Makes the light of the other crystals part of a block's background. */
static void set_background(const image_light *all, const crystal *c, size_t b) {
    const db_fit_blocks *const blocks = &c->objective.blocks;
    const db_region *const r = &blocks->region[b];
    for (int s = 0; s < r->slow_count; s++) {
        for (int f = 0; f < r->fast_count; f++) {
            const size_t i = r->offset + (size_t)s * r->stride + (size_t)f;
            const size_t at = db_measured_index(all->data->image, r, f, s);
            blocks->background[i] =
                all->data->strong->background[at] + (all->total[at] - c->light[at]);
        }
    }
}

/* Puts a block's spot into the image; returns the change. */
static double paint(const image_light *all, const crystal *c, size_t b, double *light) {
    const db_region *const r = &c->objective.blocks.region[b];
    const double intensity = c->objective.solution[b].linear[0];
    double change = 0;
    for (int s = 0; s < r->slow_count; s++) {
        for (int f = 0; f < r->fast_count; f++) {
            const size_t i = r->offset + (size_t)s * r->stride + (size_t)f;
            const size_t at = db_measured_index(all->data->image, r, f, s);
            if (!is_own(c, i)) continue;
            const float now = (float)(intensity * (double)c->objective.shape[i]);
            const float step = now - c->light[at];
            change += fabs((double)step);
            *light += (double)now;
            c->light[at] = now;
            all->total[at] += step;
        }
    }
    return change;
}

/* Finds each crystal's intensities beside the others', and the relative change of the light. */
static db_status sweep(const image_light *all, double *relative) {
    double change = 0, light = 0;
    for (size_t n = 0; n < all->count; n++) {
        crystal *const c = &all->of[n];
        const size_t blocks = c->taken.blocks.count;
        for (size_t b = 0; b < blocks; b++) set_background(all, c, b);
        if (!blocks) continue;
        db_objective_data_changed(&c->objective);
        DB_TRY(db_objective_solve(&c->objective));
        for (size_t b = 0; b < blocks; b++) change += paint(all, c, b, &light);
    }
    *relative = light > 0 ? change / light : 0;
    return DB_OK;
}

static db_status find(db_context *context, const db_experiment *crystals, image_light *all) {
    enum { SWEEPS = 30 };
    static const double enough = 1e-4; /* relative change of the light */
    for (size_t n = 0; n < all->count; n++) {
        crystal *const c = &all->of[n];
        DB_TRY(open_crystal(context, &crystals[n], all->data, c));
        c->objective.blocks.holds_light = 1;
        if (c->taken.blocks.count) db_objective_restart(&c->objective);
    }
    double change = INFINITY;
    for (int i = 0; i < SWEEPS && change > enough; i++) DB_TRY(sweep(all, &change));
    return DB_OK;
}

db_status db_lattice_light(db_context *context, const db_experiment *crystals, size_t count,
                           const db_fit_data *data, float *const *light) {
    const size_t pixels = (size_t)data->image->fast_pixels * (size_t)data->image->slow_pixels;
    image_light all = { .data = data,
                        .total = calloc(pixels + 1, sizeof *all.total),
                        .count = count,
                        .of = calloc(count + 1, sizeof *all.of) };
    db_status status =
        db_need_memory(context, all.total && all.of, "the light of several crystals");
    for (size_t n = 0; n < count && status == DB_OK; n++) {
        all.of[n].light = light[n];
        memset(light[n], 0, pixels * sizeof *light[n]);
    }
    if (status == DB_OK) status = find(context, crystals, &all);
    for (size_t n = 0; n < count && all.of; n++) close_crystal(&all.of[n]);
    free(all.of);
    free(all.total);
    return status;
}
