#include "fit/objective/every_box.h"

#include "base/context_internal.h"
#include "base/large_memory.h"
#include "base/threads.h"
#include "fit/objective/intensities.h"
#include "fit/objective/intensity_prior.h"
#include "fit/objective/panel_placement.h"
#include "fit/objective/statistics.h"
#include "fit/pixels/box_window.h"
#include "fit/pixels/rendering.h"

#include <stdlib.h>
#include <string.h>

/* Groups of panels stand where an objective puts them. */
static db_status place_panels(db_context *context, const db_fit_settings *settings,
                              db_detector *detector) {
    db_panel_placement placement;
    DB_TRY(db_panel_placement_make(context, detector, &settings->panel_groups, &placement));
    const db_status status = db_panel_placement_apply(context, &placement, detector);
    db_panel_placement_clear(&placement);
    return status;
}

static db_status render(db_context *context, const db_experiment *experiment,
                        const db_fit_settings *settings, db_every_box *all) {
    const db_fit_blocks *const blocks = &all->taken.blocks;
    db_experiment unit;
    all->shape =
        db_allocate_large((blocks->count * all->taken.boxes.pixels + 1) * sizeof *all->shape);
    if (!all->shape) return db_fail_memory(context, "the images of boxes");
    DB_TRY(db_experiment_unit_amplitudes(context, experiment, &unit));
    if (blocks->oversample > 0) unit.oversample = blocks->oversample;
    db_experiment_blur(experiment, all->taken.blur, &unit);
    db_status status = place_panels(context, settings, &unit.detector);
    if (status == DB_OK)
        status = db_render_regions(context, &unit, settings, blocks->region, blocks->count, NULL,
                                   blocks->tolerance, all->shape);
    db_experiment_clear(&unit);
    return status;
}

/* Strong pixels in use that the model explains. */
static size_t explained_in(const db_block *block, double intensity, const db_shoeboxes *box) {
    const uint8_t *const begin = box->strong, *const end = begin + box->pixels;
    size_t count = 0;
    for (const uint8_t *next = begin;
         next < end && (next = memchr(next, 1, (size_t)(end - next))) != NULL; next++) {
        const size_t i = (size_t)(next - begin);
        if (box->weight[i] > 0)
            count += (size_t)db_pixel_explained(intensity * (double)block->shape[i],
                                                (double)box->value[i], (double)box->background[i]);
    }
    return count;
}

typedef struct pass {
    const db_fit_data *data;
    db_loss loss;
    db_every_box *all;
    uint8_t *has_light;    /* [boxes] */
    db_box_window *window; /* [threads] */
    int threads;
} pass;

/* Returns how many strong pixels the model explains. */
static size_t fit_box(const pass *p, size_t b, db_box_window *window) {
    const db_fit_settings *const settings = p->data->settings;
    db_every_box *const all = p->all;
    const db_shoeboxes *const boxes = &all->taken.boxes;
    db_box_window_show(p->data, all->taken.model_error, boxes, b, window);
    const db_fit_blocks one = db_shoeboxes_blocks(&window->box);
    const db_block block =
        db_free_block(settings, &p->loss, &one, 0, all->shape + b * boxes->pixels);
    db_linear_solution solution = db_free_block_start(settings, &one, 0);
    db_block_solve(&block, solution.linear, &solution.variance);
    all->intensity[b] = solution.linear[0];
    if (all->reflection)
        p->has_light[b] = (uint8_t)db_intensity_measure(&block, solution.linear, &window->box,
                                                        &all->reflection[b]);
    return explained_in(&block, solution.linear[0], &window->box);
}

static void fit_boxes(const pass *p) {
    db_every_box *const all = p->all;
    const long count = (long)all->taken.boxes.count;
    size_t explained = 0;
#pragma omp parallel for schedule(dynamic, 16) num_threads(p->threads) reduction(+ : explained)
    for (long k = 0; k < count; k++)
        explained += fit_box(p, all->taken.boxes.by_place[k], &p->window[db_thread_number()]);
    all->explained = explained;
    for (size_t b = 0; b < all->taken.boxes.count && all->reflection; b++)
        if (p->has_light[b]) all->reflection[all->reflection_count++] = all->reflection[b];
    if (all->reflection) db_intensities_share(all->reflection, all->reflection_count);
}

static db_status fit(db_context *context, const db_fit_data *data, db_every_box *all) {
    const int threads = db_threads(context);
    pass p = { .data = data,
               .loss = db_loss_make(data->settings, DB_FIT_WEIGHTED),
               .all = all,
               .has_light = malloc(all->taken.boxes.count + 1),
               .window = calloc((size_t)threads, sizeof *p.window),
               .threads = threads };
    db_status status =
        p.has_light && p.window ? DB_OK : db_fail_memory(context, "the fit of boxes");
    for (int t = 0; t < threads && status == DB_OK; t++)
        status = db_box_window_make(context, &all->taken.boxes, &p.window[t]);
    if (status == DB_OK) fit_boxes(&p);
    for (int t = 0; t < threads && p.window; t++) db_box_window_clear(&p.window[t]);
    free(p.has_light);
    free(p.window);
    return status;
}

static db_status work(db_context *context, const db_experiment *experiment, const db_fit_data *data,
                      int with_reflections, db_every_box *all) {
    const size_t count = all->taken.boxes.count;
    all->intensity = malloc((count + 1) * sizeof *all->intensity);
    if (with_reflections) all->reflection = malloc((count + 1) * sizeof *all->reflection);
    if (!all->intensity || (with_reflections && !all->reflection))
        return db_fail_memory(context, "the intensities");
    if (count == 0) return DB_OK;
    DB_TRY(render(context, experiment, data->settings, all));
    DB_TRY(db_intensity_prior_set(context, &all->taken.boxes, all->shape,
                                  db_stage_data_limit(&all->taken, data->settings)));
    return fit(context, data, all);
}

db_status db_every_box_fit(db_context *context, const db_experiment *experiment,
                           const db_fit_data *data, db_shoebox_choice choice, int with_reflections,
                           db_every_box *all) {
    memset(all, 0, sizeof *all);
    DB_TRY(db_stage_data_take_bare(context, experiment, data, choice, &all->taken));
    const db_status status = work(context, experiment, data, with_reflections, all);
    if (status != DB_OK) db_every_box_clear(all);
    return status;
}

void db_every_box_clear(db_every_box *all) {
    db_stage_data_clear(&all->taken);
    free(all->shape);
    free(all->intensity);
    free(all->reflection);
    memset(all, 0, sizeof *all);
}
