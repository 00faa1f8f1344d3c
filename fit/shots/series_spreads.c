/* Light of a frame in the boxes of reflections, at the minimum of a series, and with other mosaic spreads and widths. */
#include "fit/shots/series.h"
#include "fit/shots/series_state.h"

#include "base/context_internal.h"
#include "fit/objective/evaluate.h"

#include <math.h>
#include <stdlib.h>

/* Images of a frame with other mosaic spreads: would these share the light of reflections among frames any better
 * (docs/theory/verdict.md, Light of a series)? Of a spread that is refined none would. */

static int is_spread(db_parameter p) {
    return p == DB_MOSAIC_VARIANCE || (p >= DB_MOSAIC_XX && p <= DB_MOSAIC_XY);
}

static int refines_spread(const db_shots *all) {
    int refines = 0;
    for (size_t i = 0; i < all->parameters; i++)
        refines |=
            is_spread(all->settings.parameters[i].parameter) &&
            db_fit_parameter_in_stage(&all->settings.parameters[i], (size_t)all->series->stage);
    return refines;
}

/* Widens the rotations of blocks; 0: there are none. */
static int widen_spread(double factor, db_spread *spread) {
    int any = spread->mosaic > 0;
    spread->mosaic *= factor * factor;
    for (int i = 0; i < 6; i++) {
        any |= spread->mosaic_tensor[i] > 0;
        spread->mosaic_tensor[i] *= factor * factor;
    }
    return any;
}

static db_status note_rival(const db_shots *all, db_context *context, const db_open_shot *open,
                            const db_experiment *model, int rival, db_part_light *part) {
    db_objective other;
    db_status status = db_shot_objective_of(all, context, open, model, &other);
    if (status == DB_OK) {
        status = db_objective_render(&other, NULL, DB_OBJECTIVE_LOSS);
        for (size_t b = 0; b < open->pixels.blocks.count && status == DB_OK; b++)
            part[b].of_rival[rival] = db_box_shape(&other, b);
        db_objective_destroy(&other);
    }
    return status == DB_ERROR_INPUT ? DB_OK : status; /* such a rival is impossible */
}

static db_status note_spreads(const db_shots *all, db_context *context, const db_open_shot *open,
                              db_part_light *part) {
    static const double factor[DB_RIVAL_SPREADS] = { 0.5, 2 };
    for (int k = 0; k < DB_RIVAL_SPREADS && !refines_spread(all); k++) {
        db_experiment model = open->objective.experiment; /* borrows */
        if (!widen_spread(factor[k], &model.spread)) return DB_OK;
        DB_TRY(note_rival(all, context, open, &model, k, part));
    }
    return DB_OK;
}

/* The model, wider by a factor, with the same middle. */
static db_status note_width(const db_shots *all, db_context *context, const db_open_shot *open,
                            double factor, int rival, db_part_light *part) {
    db_experiment model = open->objective.experiment; /* borrows */
    db_goniometer *const g = &model.goniometer;
    g->phi += 0.5 * (1 - factor) * g->phi_step * g->phi_steps;
    g->phi_step *= factor;
    return note_rival(all, context, open, &model, rival, part);
}

/* Of a frame that is not as wide as the step to the next one: as wide as this, and with a wider mosaic spread, which makes up
 * for a part of a wrong width; of another frame: narrower. */
static db_status note_widths(const db_shots *all, db_context *context, size_t shot,
                             const db_open_shot *open, db_part_light *part) {
    const double alike = 0.01, wider = 1.25;          /* angles of headers are rounded */
    db_experiment model = open->objective.experiment; /* borrows */
    const db_goniometer *const g = &model.goniometer;
    const double width = g->phi_step * g->phi_steps,
                 step = all->frames.step ? copysign(all->frames.step[shot], width) : 0;
    if (step == 0 || width == 0) return DB_OK;
    if (fabs(width / step - 1) < alike)
        return note_width(all, context, open, DB_NARROWER, DB_RIVAL_NARROWER, part);
    DB_TRY(note_width(all, context, open, step / width, DB_RIVAL_MEETING, part));
    return widen_spread(wider, &model.spread)
               ? note_rival(all, context, open, &model, DB_RIVAL_WIDER, part)
               : DB_OK;
}

db_status db_series_note_light(const db_shots *all, db_context *context, size_t shot,
                               db_open_shot *open) {
    db_series *const s = all->series;
    db_part_light *const part = calloc(s->boxes[shot] + 1, sizeof *part);
    free(s->light[shot]);
    s->light[shot] = part;
    if (!part) return db_fail_memory(context, "the light of a frame");
    s->light_bytes[shot] = s->boxes[shot] * sizeof *part;
    DB_TRY(db_open_shot_predict(context, open));
    for (size_t b = 0; b < s->boxes[shot]; b++)
        part[b] = db_part_light_of(&open->objective, &open->pixels, b);
    DB_TRY(note_spreads(all, context, open, part));
    return note_widths(all, context, shot, open, part);
}
