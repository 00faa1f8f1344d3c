/* Parameters for a configuration without a section refine; sizes and spreads of the start, from the widths of
 * spots. */
#include "fit/search/automatic.h"

#include "base/context_internal.h"
#include "base/degree.h"
#include "base/quantile.h"
#include "base/vector.h"
#include "fit/config/config_refine.h"
#include "fit/config/crystal_system.h"
#include "fit/config/quantity.h"
#include "fit/pixels/geometry.h"
#include "fit/pixels/observed_spots.h"

#include <dualbragg/expert/fit_quantities.h>
#include <dualbragg/expert/setup_defaults.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Widths of the spots of an image, found without a model: a line through their variances along circles about the
 * beam. Blocks turned about the beam move a spot along its circle, farther on larger circles; everything else
 * widens spots equally on the whole detector. */
typedef struct spot_widths {
    size_t count;    /* spots in use; 0: the other members are 0, too */
    double alike;    /* mm^2: variance along a circle, without turned blocks */
    double turned;   /* degree^2: variance of turns of blocks about the beam */
    double q_per_mm; /* 1/angstrom: difference of the scattering vectors of spots a mm apart */
} spot_widths;

enum {
    MOST = 600,  /* strongest spots, whose faint ends are visible */
    FEWEST = 12, /* fewest spots: a third is enough for a median */
    PIXELS = 4   /* fewest of a spot */
};

/* A spot as a point of the line. */
typedef struct spot_width {
    double reach;     /* pixels^2 per degree^2: squared move by a turn about the beam */
    double variance;  /* pixels^2 */
    double per_pixel; /* 1/angstrom */
} spot_width;

static int nearer_first(const void *a, const void *b) {
    const double x = ((const spot_width *)a)->reach, y = ((const spot_width *)b)->reach;
    return (x > y) - (x < y);
}

static int look_at(const db_fit_geometry *g, const db_observed_spot *spot, spot_width *w) {
    const double *const c = spot->covariance;
    double s1[3], q[3], beside[3], here[2], moved[2];
    if (spot->pixels < PIXELS) return 0;
    db_fit_geometry_scattering(g, spot->panel, spot->position, q);
    for (int i = 0; i < 3; i++) s1[i] = q[i] + g->s0[i];
    if (!db_fit_geometry_on_panel(g, spot->panel, s1, here)) return 0;
    db_turn(g->direction, DB_DEGREE, s1);
    if (!db_fit_geometry_on_panel(g, spot->panel, s1, moved)) return 0;
    const double u[2] = { moved[0] - here[0], moved[1] - here[1] },
                 reach = u[0] * u[0] + u[1] * u[1], length = sqrt(reach);
    if (!(reach > 0)) return 0;
    const double next[2] = { spot->position[0] + u[0] / length, spot->position[1] + u[1] / length };
    db_fit_geometry_scattering(g, spot->panel, next, beside);
    for (int i = 0; i < 3; i++) beside[i] -= q[i];
    *w = (spot_width){ reach,
                       (c[0] * u[0] * u[0] + c[1] * u[1] * u[1] + 2 * c[2] * u[0] * u[1]) / reach,
                       db_length(beside) };
    return 1;
}

/* Medians of a part of the points. */
static spot_width middle_of(const spot_width *w, size_t count, double *room) {
    spot_width m;
    for (size_t i = 0; i < count; i++) room[i] = w[i].reach;
    m.reach = db_median(room, count);
    for (size_t i = 0; i < count; i++) room[i] = w[i].variance;
    m.variance = db_median(room, count);
    for (size_t i = 0; i < count; i++) room[i] = w[i].per_pixel;
    m.per_pixel = db_median(room, count);
    return m;
}

/* A line through the medians of the nearest and of the farthest third. */
static void fit_line(spot_width *w, size_t count, double pixel, double *room, spot_widths *widths) {
    const size_t third = count / 3;
    qsort(w, count, sizeof *w, nearer_first);
    const spot_width near = middle_of(w, third, room),
                     far = middle_of(w + count - third, third, room),
                     all = middle_of(w, count, room);
    const double slope = far.reach > 1.2 * near.reach
                             ? (far.variance - near.variance) / (far.reach - near.reach)
                             : 0;
    const double turned = fmax(0, slope), least = 1 / 12.0; /* of a pixel */
    *widths =
        (spot_widths){ .count = count,
                       .alike = fmax(least, all.variance - turned * all.reach) * pixel * pixel,
                       .turned = turned,
                       .q_per_mm = all.per_pixel / pixel };
}

static db_status take_spots(db_context *context, const db_experiment *experiment,
                            const db_observed_spots *spots, spot_widths *widths) {
    db_fit_geometry geometry;
    spot_width w[MOST];
    double room[MOST];
    size_t count = 0;
    DB_TRY(db_fit_geometry_of(context, experiment, &geometry));
    for (size_t i = 0; i < spots->count && count < MOST; i++)
        count += (size_t)look_at(&geometry, &spots->spot[i], &w[count]);
    db_fit_geometry_clear(&geometry);
    if (count >= FEWEST)
        fit_line(w, count, experiment->detector.panels[0].pixel_size[0], room, widths);
    return DB_OK;
}

/* Measures widths of spots with the geometry of the experiment; its crystal does not matter. */
static db_status spot_widths_measure(db_context *context, const db_experiment *experiment,
                                     const db_fit_settings *settings, db_image_spots *spots,
                                     spot_widths *widths) {
    DB_TRY(db_image_spots_need(context, settings, spots));
    return take_spots(context, experiment, &spots->seen, widths);
}

/* Blocks so large that their size widens no spot: one image cannot distinguish larger ones. */
static const double LARGE_BLOCK = 1e4; /* angstrom */
static const double USUAL_BLOCK =
    1e3; /* cells of sampled spots, or if sizes are refined, on images without spots */
/* Turns of blocks (degree^2), with which slightly wrong orientations are found; the least that spots determine;
 * and widths (mm^2) for images without spots. */
static const double MOSAIC = 0.01, LEAST_MOSAIC = 4e-4, FOOTPRINT = 0.01;

static int is_right_angle(double angle) {
    const double near = 1e-3;
    return fabs(angle - 90) < near || fabs(angle - 120) < near;
}

/* A value within the present bounds of the parameter, if it is refined. */
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

/* Hexagonal axes: a = b with 120 degree between them. */
static int has_hexagonal_axes(const db_crystal *crystal) {
    const double near = 1e-3, *const cell = crystal->cell; /* degree; part of an edge */
    return fabs(cell[5] - 120) < near && fabs(cell[1] / cell[0] - 1) < near;
}

/* Of blocks with Na = Nb in hexagonal axes, those with this correlation of a and b have the lattice's threefold axis. Blocks
 * of another shape are different in each of three equivalent orientations of a crystal. */
static const double HEXAGONAL_CORRELATION = -0.5;

/* Widths of spots that neither file nor user gives. */
typedef struct open_widths {
    int blocks,
        finite,    /* blocks: sizes are open; finite: 1: blocks are small enough to widen spots */
        hexagonal; /* 1: so is the shape of blocks in hexagonal axes */
    int mosaic, footprint;
} open_widths;

static open_widths what_is_open(const db_fit_config *config, const db_experiment *start) {
    const db_fit_settings *const settings = &config->settings;
    const db_spread *const s = &start->spread;
    const db_spread_setup *const given = &config->setup.spread;
    /* stills begin with large blocks: their own stages refine no sizes */
    const int sized =
        is_refined(settings, DB_KIND_CELLS) && (config->series || !settings->joint.wanted);
    const int closed = s->spots == DB_SPOTS_CLOSED, blocks = isnan(config->setup.Ncells[0]),
              finite = !blocks || !closed || sized;
    return (open_widths){ .blocks = blocks,
                          .finite = finite,
                          .hexagonal = blocks && closed && isnan(given->size_correlation[0]) &&
                                       has_hexagonal_axes(&start->crystal),
                          .mosaic = closed && !(s->mosaic > 0) && isnan(given->mosaic_rms) &&
                                    isnan(given->mosaic_rms_abc[0]) &&
                                    isnan(given->mosaic_tensor[0]) &&
                                    (!finite || is_refined(settings, DB_KIND_MOSAIC_VARIANCE)),
                          .footprint =
                              closed && !(s->footprint[0] > 0) && isnan(given->footprint_rms[0]) &&
                              (!finite || is_refined(settings, DB_KIND_FOOTPRINT_VARIANCE)) };
}

/* Starts with blocks whose nodes alone explain the widths of spots, or half of the variance beside a footprint. */
static void start_blocks(const db_fit_settings *settings, const open_widths *open,
                         const spot_widths *widths, db_experiment *start) {
    static const db_parameter size[3] = { DB_CELLS_A, DB_CELLS_B, DB_CELLS_C };
    const double share = open->footprint ? 0.5 : 1,
                 width = sqrt(share * widths->alike) * widths->q_per_mm; /* of a node: 0.4/(N a) */
    const double edge = !open->finite ? LARGE_BLOCK : width > 0 ? 0.4 / width : USUAL_BLOCK;
    for (int i = 0; i < 3; i++)
        start->crystal.Ncells[i] =
            bounded(settings, size[i], fmax(1, ceil(edge / start->crystal.cell[i])));
    if (open->hexagonal)
        start->spread.size_correlation[2] = bounded(settings, DB_SIZE_AB, HEXAGONAL_CORRELATION);
}

db_status db_fit_start_widths(db_context *context, const db_fit_config *config,
                              db_image_spots *spots, db_experiment *start) {
    const db_fit_settings *const settings = &config->settings;
    const open_widths open = what_is_open(config, start);
    db_spread *const s = &start->spread;
    spot_widths widths = { 0 };
    if (!open.blocks && !open.mosaic && !open.footprint) return DB_OK;
    if (spots->image->value) DB_TRY(spot_widths_measure(context, start, settings, spots, &widths));
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

/* Is a parameter needless? A turn of the detector about the beam is a turn of the crystal; a right angle of the
 * cell stays right unless a named symmetry leaves it free (db_fit_tie_cell drops those that it fixes). */
static int is_needless(const db_fit_config *config, const db_experiment *start,
                       db_parameter parameter) {
    return db_turns_about_beam(start, parameter) ||
           (db_facts_of(parameter)->kind == DB_KIND_SPINDLE_TILT &&
            !db_parameter_exists(start, parameter)) ||
           (db_facts_of(parameter)->kind == DB_KIND_CELL_ANGLE && !*config->symmetry &&
            is_right_angle(db_parameter_get(start, parameter))) ||
           (db_facts_of(parameter)->kind == DB_KIND_SIZE_CORRELATION &&
            (parameter != DB_SIZE_AB || !has_hexagonal_axes(&start->crystal)));
}

static void place_corner(const db_fit_geometry *geometry, size_t panel, const double corner[2],
                         double at[3]) {
    const double *const m = geometry->panel[panel].position;
    for (int i = 0; i < 3; i++)
        at[i] = m[3 * i] * corner[0] + m[3 * i + 1] * corner[1] + m[3 * i + 2];
}

/* Distance (mm) of a corner of a panel from the beam. */
static double beside_beam(const db_fit_geometry *geometry, size_t panel, const double corner[2]) {
    double at[3];
    place_corner(geometry, panel, corner, at);
    const double along = db_dot(at, geometry->direction);
    for (int i = 0; i < 3; i++) at[i] -= along * geometry->direction[i];
    return db_length(at);
}

/* By how much (mm) a spot at a corner of a panel moves, if the distance grows by a part, and the cell with it: by
 * D (tan 2theta - 2 tan theta / cos^2 2theta) for a part of 1. */
static double beside_cell(const db_fit_geometry *geometry, size_t panel, const double corner[2]) {
    double at[3];
    place_corner(geometry, panel, corner, at);
    const double distance = db_dot(at, geometry->direction), cosine = distance / db_length(at);
    if (!(cosine > 0)) return INFINITY;
    const double angle = acos(fmin(1, cosine));
    return distance * fabs(tan(angle) - 2 * tan(angle / 2) / (cosine * cosine));
}

/* The largest of such moves (pixels) at corners of panels. */
static db_status most_at_corners(db_context *context, const db_experiment *start,
                                 double (*move)(const db_fit_geometry *geometry, size_t panel,
                                                const double corner[2]),
                                 double *most) {
    db_fit_geometry geometry;
    *most = 0;
    DB_TRY(db_fit_geometry_of(context, start, &geometry));
    for (size_t p = 0; p < geometry.panel_count; p++) {
        const double *const m = geometry.panel[p].position;
        const double pixel[3] = { m[0], m[3], m[6] };
        for (int k = 0; k < 4; k++) {
            const double corner[2] = { k % 2 ? geometry.panel[p].pixels[0] : 0,
                                       k / 2 ? geometry.panel[p].pixels[1] : 0 };
            *most = fmax(*most, move(&geometry, p, corner) / db_length(pixel));
        }
    }
    db_fit_geometry_clear(&geometry);
    return DB_OK;
}

/* As of electrons: lenses make their distance and hold the image upright, and what distorts it or the turn of the crystal
 * would drive these quantities far off. */
db_status db_fit_sphere_is_flat(db_context *context, const db_experiment *start, int *is_flat) {
    const double change = 0.01,
                 least = 0.05; /* of the distance; pixels: spots are placed this well */
    double most;
    DB_TRY(most_at_corners(context, start, beside_cell, &most));
    *is_flat = change * most < least;
    return DB_OK;
}

/* Is the sweep so short that a large tilt of the spindle, which turns the crystal at both ends by the tilt times half the
 * sweep, moves no spot away from its shoebox? */
static db_status is_brief(db_context *context, const db_fit_config *config,
                          const db_experiment *start, int *brief) {
    const double tilt = 1 * DB_DEGREE, near = 1; /* pixels: stages by pixels still see the spot */
    const double half = 0.5 * (double)config->series_frames * fabs(start->goniometer.phi_step) *
                        start->goniometer.phi_steps * DB_DEGREE;
    double most;
    DB_TRY(most_at_corners(context, start, beside_beam, &most));
    *brief = tilt * fmin(half, 1) * most < near;
    return DB_OK;
}

/* Is a parameter common to many images, apart from the detector's, though a single image may have its own value? Sizes of
 * blocks are chosen for many images only. */
static int is_common(const db_parameter_facts *facts) {
    return facts->kind == DB_KIND_CELLS || facts->kind == DB_KIND_FOOTPRINT_VARIANCE ||
           facts->kind == DB_KIND_DIVERGENCE_VARIANCE || facts->kind == DB_KIND_BANDWIDTH_VARIANCE;
}

/* A series, and intensities that many shots share, determine more than a still: sizes of blocks, which widen spots across the
 * Ewald sphere, too. A series shows the spindle, but not beside an orientation that varies, or on a flat sphere. Modes are
 * earned by single images only. */
static db_choosing choosing_of(const db_fit_config *config, const db_parameter_facts *facts,
                               int is_flat) {
    if (config->settings.joint.wanted && config->listed > 1 && facts->kind == DB_KIND_CELLS)
        return DB_CHOOSING_CHOSEN;
    if (!config->series) return facts->choosing;
    switch (facts->kind) {
    case DB_KIND_CELLS:
    case DB_KIND_SIZE_CORRELATION: return DB_CHOOSING_CHOSEN;
    case DB_KIND_SPINDLE_TILT:
        return config->series_knots > 0 || is_flat ? DB_CHOOSING_ASKED : DB_CHOOSING_CHOSEN;
    case DB_KIND_DISTANCE:
    case DB_KIND_DETECTOR_TURN: return is_flat ? DB_CHOOSING_ASKED : facts->choosing;
    case DB_KIND_MOSAIC_TENSOR:
    case DB_KIND_MOSAIC_COVARIANCE:
        return config->settings.joint.wanted ? DB_CHOOSING_ASKED : DB_CHOOSING_EARNED;
    case DB_KIND_MODE: return DB_CHOOSING_ASKED;
    default: return facts->choosing;
    }
}

/* Blocks of many crystals have the symmetry of the lattice on average, because their edges a and b are named by chance where
 * the symmetry exchanges them: their sizes follow each other as the edges do. (A series has one crystal, of any shape.) */
static void tie_sizes(db_fit_config *config, const db_experiment *start) {
    static const db_parameter size[3] = { DB_CELLS_A, DB_CELLS_B, DB_CELLS_C };
    const double *const given = config->setup.Ncells;
    const db_cell_ties *const ties =
        *config->symmetry ? db_cell_ties_of(config->symmetry, start->crystal.cell) : NULL;
    for (int i = 1; i < 3 && ties && !config->series; i++) {
        const int leader = ties->follows[i];
        const size_t k =
            db_fit_parameter_index(&config->settings, db_fit_quantity_make(size[i], -1));
        if (leader < 0 || k == config->settings.parameter_count ||
            (!isnan(given[0]) && given[i] != given[leader]))
            continue;
        config->settings.parameters[k].follows = db_fit_quantity_make(size[leader], -1);
    }
}

/* Adds parameters in the order of the stages that take them up. */
db_status db_fit_choose_parameters(db_context *context, db_fit_config *config,
                                   const db_experiment *start) {
    int is_flat = 0, brief = 0;
    if (config->series) DB_TRY(db_fit_sphere_is_flat(context, start, &is_flat));
    if (config->series) DB_TRY(is_brief(context, config, start, &brief));
    for (int choosing = DB_CHOOSING_CHOSEN; choosing <= (int)DB_CHOOSING_EARNED; choosing++)
        for (int settling = 0; settling <= (int)DB_SETTLING_SHAPE; settling++)
            for (int k = 0; k < DB_PARAMETER_COUNT; k++) {
                const db_parameter_facts *const facts = db_facts_of((db_parameter)k);
                db_fit_parameter p = db_fit_parameter_free((db_parameter)k);
                if ((int)choosing_of(config, facts, is_flat) != choosing ||
                    (int)facts->settling != settling || is_needless(config, start, p.parameter))
                    continue;
                p.earned = choosing == DB_CHOOSING_EARNED ||
                           (brief && facts->kind == DB_KIND_SPINDLE_TILT);
                if (is_common(facts)) p.shared = 1;
                DB_TRY(db_fit_settings_add_parameter(context, &config->settings, &p));
            }
    tie_sizes(config, start);
    if (config->settings.joint.wanted) return db_fit_refine_scale(context, 0, &config->settings);
    /* scales that grow from frame to frame shift the rocking curves of reflections, as a turn about the spindle does, which
     * on a flat sphere all cross alike */
    return config->series && !is_flat ? db_fit_refine_scale(context, 1, &config->settings) : DB_OK;
}
