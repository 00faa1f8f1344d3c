/* Parameters for a configuration without a section refine; sizes and spreads that start from the spots. */
#include "fit/search/automatic.h"

#include "base/context_internal.h"
#include "fit/config/config_refine.h"
#include "fit/config/quantity.h"
#include "fit/pixels/spot_widths.h"

#include <dualbragg/expert/fit_quantities.h>
#include <dualbragg/expert/setup_defaults.h>

#include <math.h>

/* Blocks so large that their size widens no spot: which is what one image can say of it. */
static const double LARGE_BLOCK = 1e4; /* angstrom */
static const double USUAL_BLOCK =
    1e3; /* of sampled spots, or where sizes are refined, on images without spots */
/* Turns of blocks (degree^2): with which orientations that are a little off are found, and the least that
 * spots are measured to; and widths (mm^2) of images without spots. */
static const double MOSAIC = 0.01, LEAST_MOSAIC = 4e-4, FOOTPRINT = 0.01;

static int is_right_angle(double angle) {
    const double near = 1e-3;
    return fabs(angle - 90) < near || fabs(angle - 120) < near;
}

/* A value within the bounds that are known by now, of the parameter if it is refined. */
static double bounded(const db_fit_settings *settings, db_parameter parameter, double value) {
    const size_t i = db_fit_parameter_index(settings, db_fit_quantity_make(parameter, -1));
    if (i == settings->parameter_count) return value;
    const db_fit_parameter *const p = &settings->parameters[i];
    return fmin(fmax(value, p->lower), p->upper);
}

static int is_refined(const db_fit_settings *settings, db_parameter_kind kind) {
    for (size_t i = 0; i < settings->parameter_count; i++)
        if (settings->parameters[i].group < 0 &&
            db_facts_of(settings->parameters[i].parameter)->kind == kind)
            return 1;
    return 0;
}

/* What of the widths of spots nothing says. */
typedef struct open_widths {
    int blocks, finite; /* sizes; 1: blocks are small enough to widen spots */
    int mosaic, footprint;
} open_widths;

static open_widths what_is_open(const db_fit_config *config, const db_experiment *start) {
    const db_fit_settings *const settings = &config->settings;
    const db_spread *const s = &start->spread;
    const db_spread_setup *const given = &config->setup.spread;
    const int closed = s->spots == DB_SPOTS_CLOSED, blocks = isnan(config->setup.Ncells[0]),
              finite = !blocks || !closed || is_refined(settings, DB_KIND_CELLS);
    return (open_widths){ .blocks = blocks,
                          .finite = finite,
                          .mosaic = closed && !(s->mosaic > 0) && isnan(given->mosaic_rms) &&
                                    isnan(given->mosaic_rms_abc[0]) &&
                                    isnan(given->mosaic_tensor[0]) &&
                                    (!finite || is_refined(settings, DB_KIND_MOSAIC_VARIANCE)),
                          .footprint =
                              closed && !(s->footprint[0] > 0) && isnan(given->footprint_rms[0]) &&
                              (!finite || is_refined(settings, DB_KIND_FOOTPRINT_VARIANCE)) };
}

/* Blocks whose nodes alone make spots as wide as they are, or beside a footprint half of that. */
static void start_blocks(const db_fit_settings *settings, const open_widths *open,
                         const db_spot_widths *widths, db_experiment *start) {
    static const db_parameter size[3] = { DB_CELLS_A, DB_CELLS_B, DB_CELLS_C };
    const double share = open->footprint ? 0.5 : 1,
                 width = sqrt(share * widths->alike) * widths->q_per_mm; /* of a node: 0.4/(N a) */
    const double edge = !open->finite ? LARGE_BLOCK : width > 0 ? 0.4 / width : USUAL_BLOCK;
    for (int i = 0; i < 3; i++)
        start->crystal.Ncells[i] =
            bounded(settings, size[i], fmax(1, ceil(edge / start->crystal.cell[i])));
}

db_status db_fit_start_widths(db_context *context, const db_fit_config *config,
                              const db_measured_image *image, db_experiment *start) {
    const db_fit_settings *const settings = &config->settings;
    const open_widths open = what_is_open(config, start);
    db_spread *const s = &start->spread;
    db_spot_widths widths = { 0 };
    if (!open.blocks && !open.mosaic && !open.footprint) return DB_OK;
    if (image->value) DB_TRY(db_spot_widths_measure(context, start, image, settings, &widths));
    if (open.blocks) start_blocks(settings, &open, &widths, start);
    if (open.blocks && !config->setup.oversample)
        start->oversample = db_recommended_oversample(start);
    if (open.mosaic) {
        const int searched = is_refined(settings, DB_KIND_MOSAIC_VARIANCE) || !widths.count;
        s->mosaic = bounded(settings, DB_MOSAIC_VARIANCE,
                            fmax(searched ? MOSAIC : LEAST_MOSAIC, widths.turned));
    }
    const double share = open.blocks && open.finite ? 0.5 : 1,
                 wide = widths.count ? share * widths.alike : FOOTPRINT;
    if (open.footprint) {
        s->footprint[0] = bounded(settings, DB_FOOTPRINT_HH, wide);
        s->footprint[1] = bounded(settings, DB_FOOTPRINT_VV, wide);
    }
    return DB_OK;
}

int db_turns_about_beam(const db_experiment *start, db_parameter parameter) {
    const double *const beam = start->beam.direction;
    int along = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(beam[i]) > fabs(beam[along])) along = i;
    return (int)parameter == (int)DB_DETECTOR_ROTX + along;
}

/* A turn of the detector about the beam would be one of the crystal; an angle of the cell that is right stays so. */
static int is_needless(const db_experiment *start, db_parameter parameter) {
    return db_turns_about_beam(start, parameter) ||
           (db_facts_of(parameter)->kind == DB_KIND_CELL_ANGLE &&
            is_right_angle(db_parameter_get(start, parameter)));
}

/* What many images have in common beside the detector, though a single one may have its own. */
static int is_common(const db_parameter_facts *facts) {
    return facts->kind == DB_KIND_FOOTPRINT_VARIANCE ||
           facts->kind == DB_KIND_DIVERGENCE_VARIANCE || facts->kind == DB_KIND_BANDWIDTH_VARIANCE;
}

/* A series tells more than a still: how large blocks are, since they widen spots across the Ewald sphere, too, and how
 * the spindle stands, but not beside an orientation that varies. Modes are earned by single images. */
static db_choosing choosing_of(const db_fit_config *config, const db_parameter_facts *facts) {
    if (!config->series) return facts->choosing;
    switch (facts->kind) {
    case DB_KIND_CELLS: return DB_CHOOSING_CHOSEN;
    case DB_KIND_SPINDLE_TILT:
        return config->series_knots > 0 ? DB_CHOOSING_ASKED : DB_CHOOSING_CHOSEN;
    case DB_KIND_MODE: return DB_CHOOSING_ASKED;
    default: return facts->choosing;
    }
}

/* In the order in which stages take them up. */
db_status db_fit_choose_parameters(db_context *context, db_fit_config *config,
                                   const db_experiment *start) {
    for (int choosing = DB_CHOOSING_CHOSEN; choosing <= (int)DB_CHOOSING_EARNED; choosing++)
        for (int settling = 0; settling <= (int)DB_SETTLING_SHAPE; settling++)
            for (int k = 0; k < DB_PARAMETER_COUNT; k++) {
                const db_parameter_facts *const facts = db_facts_of((db_parameter)k);
                db_fit_parameter p = db_fit_parameter_free((db_parameter)k);
                if ((int)choosing_of(config, facts) != choosing ||
                    (int)facts->settling != settling || is_needless(start, p.parameter))
                    continue;
                p.earned = choosing == DB_CHOOSING_EARNED;
                if (is_common(facts)) p.shared = 1;
                DB_TRY(db_fit_settings_add_parameter(context, &config->settings, &p));
            }
    return config->series || config->settings.joint.wanted
               ? db_fit_refine_scale(context, &config->settings)
               : DB_OK;
}
