/* Images of a frame with other mosaic spreads: would these share the light of reflections among frames any better
 * (docs/theory/verdict.md, Light of a series)? Of a spread that is refined none would. */
#include "fit/shots/series_state.h"

#include "fit/config/quantity.h"
#include "fit/objective/evaluate.h"
#include "base/context_internal.h"
#include "fit/shots/shot_fit.h"

#include <string.h>

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

static db_status note_spread(db_context *context, const db_open_shot *open,
                             const db_experiment *model, int rival, db_part_light *part) {
    const db_objective_options options = { .blur = 1,
                                           .target = (db_fit_target)open->objective.loss_of.target,
                                           .is_given = 1 };
    db_objective other;
    db_status status = db_objective_create(context, model, &open->settings, &open->pixels.blocks,
                                           &options, &other);
    if (status == DB_OK) {
        status = db_objective_render(&other, NULL, DB_OBJECTIVE_LOSS);
        for (size_t b = 0; b < open->pixels.blocks.count && status == DB_OK; b++)
            part[b].of_spread[rival] = db_box_shape(&other, b);
        db_objective_destroy(&other);
    }
    return status == DB_ERROR_INPUT ? DB_OK : status; /* such a spread is impossible */
}

db_status db_series_note_spreads(const db_shots *all, db_context *context, const db_open_shot *open,
                                 db_part_light *part) {
    static const double factor[DB_RIVAL_SPREADS] = { 0.5, 2 };
    for (int k = 0; k < DB_RIVAL_SPREADS && !refines_spread(all); k++) {
        db_experiment model = open->objective.experiment; /* borrows */
        if (!widen_spread(factor[k], &model.spread)) return DB_OK;
        DB_TRY(note_spread(context, open, &model, k, part));
    }
    return DB_OK;
}
