/* Starting model: set-up keys, image header or experiment list, and a search for the orientation. */
#include <dualbragg/expert/fit_configurations.h>
#include <dualbragg/expert/fit_quantities.h>

#include "base/context_internal.h"
#include "base/frame_name.h"
#include "base/measured_pixels.h"
#include "base/rotation.h"
#include "fit/search/starting_model.h"
#include "fit/search/automatic.h"
#include "fit/search/find_orientation.h"
#include "fit/search/search_spots.h"
#include "fit/config/crystal_system.h"
#include "fit/config/detector_modules.h"
#include "fit/config/found_cell.h"
#include "fit/config/listed_experiment.h"
#include "fit/config/orientation.h"
#include "fit/config/config_refine.h"
#include "fit/config/physical_range.h"
#include "fit/config/modes.h"
#include "fit/config/quantity.h"
#include "fit/merge/known_amplitudes.h"

#include <dualbragg/reflections.h>
#include <dualbragg/expert/dials_frame.h>
#include <dualbragg/expert/experiment_list_content.h>
#include <dualbragg/expert/fit_steps.h>
#include <dualbragg/expert/symmetry.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Orientations across an oscillation range from a header: enough for spots broader than a tenth of it. */
enum { HEADER_PHI_STEPS = 10 };

static void fill_open(double *open, double from_header) {
    if (isnan(*open)) *open = from_header;
}

/* Takes the sensor of a header or list, if it is complete. If the user names a material, the file's depth
 * of absorption, which belongs to another material, does not count. */
static void take_sensor(double thickness, double depth, db_sensor_material material,
                        db_setup *setup) {
    if (!setup->sensor_material) {
        if (depth > 0) fill_open(&setup->attenuation_depth, depth);
        setup->sensor_material = material;
    }
    if (setup->sensor_material || !isnan(setup->attenuation_depth))
        fill_open(&setup->sensor_thickness, thickness);
    setup->sensor_stated = 1; /* its layers are not the reference's */
}

static int centre_is_open(const db_setup *setup) {
    return isnan(setup->beam_centre_px[0]) && isnan(setup->beam_centre[0]) &&
           isnan(setup->org[0]) && isnan(setup->close_point[0]) && isnan(setup->origin[0]);
}

db_status db_setup_from_image(db_context *context, const db_measured_image *image,
                              db_setup *setup) {
    fill_open(&setup->wavelength, image->wavelength);
    if (isnan(setup->close_distance)) fill_open(&setup->distance, image->distance);
    if (isnan(setup->pixel_size)) {
        const double *const size = image->pixel_size;
        if (fabs(size[0] - size[1]) > 1e-6 * fabs(size[0]))
            return db_fail(context, DB_ERROR_UNSUPPORTED,
                           "the image's pixels are %g x %g mm; only square ones can be modelled",
                           size[0], size[1]);
        setup->pixel_size = size[0];
    }
    if (setup->detector_pixels[0] == 0 && setup->detector_pixels[1] == 0) {
        setup->detector_pixels[0] = image->fast_pixels;
        setup->detector_pixels[1] = image->slow_pixels;
    }
    fill_open(&setup->polarization, image->polarization);
    fill_open(&setup->twotheta, image->twotheta);
    take_sensor(image->sensor_thickness, image->attenuation_depth, image->sensor_material, setup);
    if (isnan(setup->osc) && db_turns(image->osc_range)) {
        setup->osc = image->osc_range;
        if (setup->phi_steps < 0) setup->phi_steps = HEADER_PHI_STEPS;
    }
    if (centre_is_open(setup))
        memcpy(setup->beam_centre_px, image->beam_centre, sizeof image->beam_centre);
    return DB_OK;
}

/* Takes values from the list that the configuration lacks, and none from the image header. */
static db_status take_list(db_context *context, db_fit_config *config, db_notice_function notices,
                           void *user) {
    db_setup *const setup = &config->setup;
    const char *const image = *config->image_file ? config->image_file : NULL;
    db_setup listed;
    db_setup_init(&listed);
    listed.expt_frame = setup->expt_frame;
    DB_TRY(db_setup_read_expt(context, config->expt_file, setup->expt_number, image, &listed,
                              notices, user));
    if (!isnan(setup->beam_centre_px[0]))
        return db_fail(context, DB_ERROR_USAGE,
                       "%s: model.beam_centre_px: cannot be given beside the experiment list %s, "
                       "which places the detector in its own frame",
                       config->config_file, config->expt_file);
    fill_open(&setup->wavelength, listed.wavelength);
    fill_open(&setup->polarization, listed.polarization);
    if (isnan(setup->osc) && !isnan(listed.osc)) {
        setup->osc = listed.osc;
        if (setup->phi_steps < 0) setup->phi_steps = HEADER_PHI_STEPS;
    }
    if (fabs(setup->phi) <= 0) setup->phi = listed.phi;
    take_sensor(listed.sensor_thickness, listed.attenuation_depth, listed.sensor_material, setup);
    fill_open(&setup->sensor_thickness, 0);
    setup->detector_size[0] = setup->detector_size[1] = NAN;
    if (setup->convention == DB_CONVENTION_MOSFLM) setup->convention = listed.convention;
    if (isnan(setup->twotheta)) setup->twotheta = 0;
    setup->expt_file = config->expt_file;
    setup->expt_number = listed.expt_number;
    setup->expt_image = image;
    memcpy(setup->stated.space_group, listed.stated.space_group, sizeof listed.stated.space_group);
    return DB_OK;
}

/* Files written about the model stay in the list's frame only if it is the usual one. */
static db_status check_frame(db_context *context, const db_fit_config *config,
                             const db_experiment *start) {
    double frame[3][3];
    if (!*config->expt_file) return DB_OK;
    db_dials_frame(start, frame);
    if (frame[0][0] == 1 && frame[1][1] == 1 && frame[2][2] == 1) return DB_OK;
    return db_fail(context, DB_ERROR_UNSUPPORTED,
                   "%s: expected a beam that travels along -z to within 10 degree, found direction "
                   "%g %g %g",
                   config->expt_file, start->beam.direction[0], start->beam.direction[1],
                   start->beam.direction[2]);
}

static db_status missing(db_context *context, const db_fit_config *config, const char *key) {
    return db_fail(
        context, DB_ERROR_USAGE, "%s: model.%s is not given, and %s", config->config_file, key,
        config->header_geometry ? "the image header does not have it"
                                : "with geometry: given it is not taken from the image header");
}

/* Uses an image as its own experiment list if its file places detector and spindle by axes, which numbers of
 * headers cannot express, unless the configuration places the detector. */
static void take_own_axes(db_context *context, const db_measured_image *image,
                          db_fit_config *config) {
    const db_setup *const setup = &config->setup;
    const db_expt_selection selection = { .number = -1, .image = config->image_file };
    db_listed listed;
    char file[DB_FIT_PATH_SIZE];
    if (*config->expt_file || !config->header_geometry || !isnan(image->distance) ||
        !isnan(image->beam_centre[0]) || !isnan(setup->distance) || !isnan(setup->close_distance) ||
        !centre_is_open(setup))
        return;
    db_frame_split(config->image_file, file, sizeof file);
    if (db_listed_select(context, file, &selection, &listed) != DB_OK) return;
    memcpy(config->expt_file, file, sizeof file);
    db_listed_clear(&listed);
}

static db_status complete_setup(db_context *context, db_fit_config *config,
                                const db_measured_image *image, db_notice_function notices,
                                void *user) {
    db_setup *const setup = &config->setup;
    setup->layers_at_front = 0;
    if (setup->sensor_layers == 0)
        setup->sensor_layers = 1; /* for the place of spots, in a short time */
    take_own_axes(context, image, config);
    if (*config->expt_file) return take_list(context, config, notices, user);
    if (config->header_geometry) DB_TRY(db_setup_from_image(context, image, setup));
    if (config->series && !config->phi_given && !isnan(image->phi)) setup->phi = image->phi;
    fill_open(&setup->sensor_thickness, 0);
    if (setup->spectrum_file) fill_open(&setup->wavelength, 1); /* its mean replaces it */
    if (isnan(setup->wavelength)) return missing(context, config, "wavelength");
    if (isnan(setup->distance) && isnan(setup->close_distance))
        return missing(context, config, "distance");
    if (isnan(setup->pixel_size)) return missing(context, config, "pixel_size");
    if (setup->detector_pixels[0] == 0) return missing(context, config, "detector_pixels");
    if (centre_is_open(setup)) return missing(context, config, "beam_centre_px");
    if (isnan(setup->twotheta)) setup->twotheta = 0;
    if (isnan(setup->polarization)) {
        setup->polarization = 0;
        if (notices)
            notices(user, "polarization: not in the image header, taken as 0 (unpolarized)");
    }
    if (setup->detector_pixels[0] != image->fast_pixels ||
        setup->detector_pixels[1] != image->slow_pixels)
        return db_fail(context, DB_ERROR_INPUT,
                       "model.detector_pixels: %d x %d, but the image has %d x %d",
                       setup->detector_pixels[0], setup->detector_pixels[1], image->fast_pixels,
                       image->slow_pixels);
    return DB_OK;
}

static db_status fail_bound(db_context *context, const db_fit_config *config, size_t i,
                            const char *what, double value, const char *relation, double limit) {
    char line[24] = "", name[DB_FIT_NAME_SIZE];
    db_fit_quantity_name(&config->settings.panel_groups,
                         db_fit_quantity_of(&config->settings.parameters[i]), name);
    if (config->settings.parameters[i].line)
        snprintf(line, sizeof line, ":%d", config->settings.parameters[i].line);
    return db_fail(context, DB_ERROR_USAGE, "%s%s: refine.%s: the %s %.10g is %s %.10g",
                   config->config_file, line, name, what, value, relation, limit);
}

static db_status check_groups(db_context *context, const db_fit_config *config,
                              const db_experiment *start) {
    const db_fit_panel_groups *const groups = &config->settings.panel_groups;
    const size_t count = start->detector.panel_count;
    for (size_t p = count; p < groups->panel_count; p++)
        if (groups->of_panel[p] >= 0)
            return db_fail(context, DB_ERROR_USAGE,
                           "%s: panel_groups.%s: there is no panel %zu; the model has %zu panel%s",
                           config->config_file, groups->name[groups->of_panel[p]], p, count,
                           count == 1 ? "" : "s");
    return DB_OK;
}

static void start_ties(const db_fit_settings *settings, db_experiment *start,
                       db_notice_function notices, void *user) {
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        if (!db_fit_parameter_is_tied(p) || p->group >= 0) continue;
        const db_parameter leader = db_quantity_parameter(p->follows);
        const double own = db_parameter_get(start, p->parameter),
                     value = db_parameter_get(start, leader);
        db_parameter_set(start, p->parameter, value);
        if (!notices || fabs(own - value) <= 1e-6 * fabs(value)) continue;
        char line[160];
        snprintf(line, sizeof line,
                 "%s: starts at %.10g, the value of %s, which it follows, instead of %.10g",
                 db_parameter_describe(p->parameter)->name, value,
                 db_parameter_describe(leader)->name, own);
        notices(user, line);
    }
}

/* Completes bounds of a parameter, absolute and physically possible; the start must be between them. */
static db_status complete_bound(db_context *context, const db_fit_config *config, size_t i,
                                const db_experiment *start, db_fit_parameter *p) {
    const double value = p->group < 0 ? db_parameter_get(start, p->parameter) : 0;
    const double least = db_facts_of(p->parameter)->least, most = db_facts_of(p->parameter)->most;
    if (db_facts_of(p->parameter)->moves & DB_MOVES_HALO &&
        !db_parameter_exists(start, p->parameter))
        return DB_OK; /* db_fit_check says which kind of halo the model has */
    if (isfinite(p->lower) && p->lower < least)
        return fail_bound(context, config, i, "bound min", p->lower, "below the possible", least);
    if (isfinite(p->upper) && p->upper > most)
        return fail_bound(context, config, i, "bound max", p->upper, "above the possible", most);
    if (!isnan(p->range)) {
        p->lower = value - p->range;
        p->upper = value + p->range;
    }
    db_limit_bounds(start, &config->settings.starts, p);
    p->lower = fmax(p->lower, least);
    p->upper = fmin(p->upper, most);
    if (value < p->lower)
        return fail_bound(context, config, i, "start", value, "below min", p->lower);
    if (value > p->upper)
        return fail_bound(context, config, i, "start", value, "above max", p->upper);
    return DB_OK;
}

/* Completes bounds of all parameters that are not tied; kept: 0: only checks them. */
static db_status complete_bounds(db_context *context, db_fit_config *config,
                                 const db_experiment *start, int kept) {
    for (size_t i = 0; i < config->settings.parameter_count; i++) {
        db_fit_parameter p = config->settings.parameters[i];
        if (!db_fit_parameter_is_tied(&p)) DB_TRY(complete_bound(context, config, i, start, &p));
        if (kept) config->settings.parameters[i] = p;
    }
    return DB_OK;
}

/* A cell without given directions, for example beside an experiment list without a crystal. */
static int has_no_directions(const db_fit_config *config, const db_crystal *crystal) {
    int standard = config->automatic && !*config->matrix_file && isnan(config->orientation[0]);
    double rotation[9];
    db_orientation_of(crystal, rotation);
    for (int i = 0; i < 9; i++) standard &= fabs(rotation[i] - (i % 4 == 0)) < 1e-12;
    return standard;
}

/* Values that a search corrects. */
typedef struct roughly {
    double edge[3], centre[2]; /* angstrom, mm */
} roughly;

static roughly what_is_known(const db_experiment *e) {
    const double *const cell = e->crystal.cell, *const centre = e->detector.centre;
    return (roughly){ { cell[0], cell[1], cell[2] }, { centre[0], centre[1] } };
}

/* Notes by how much the beam centre has moved. */
static void note_moved(const roughly *given, const db_experiment *start,
                       db_fit_settings *settings) {
    for (int d = 0; d < 2; d++) {
        db_fit_parameter *const beam =
            db_fit_settings_find(settings, d ? DB_BEAM_SLOW : DB_BEAM_FAST);
        if (beam) beam->moved = start->detector.centre[d] - given->centre[d];
    }
}

static void say_corrected(const roughly *given, const db_experiment *start,
                          db_notice_function notices, void *user) {
    const double *const pixel = start->detector.panels[0].pixel_size;
    const roughly found = what_is_known(start);
    char line[300], edges[80];
    double longer[3];
    for (int i = 0; i < 3; i++) longer[i] = 100 * (found.edge[i] / given->edge[i] - 1);
    const int one = fabs(longer[1] - longer[0]) < 1e-9 && fabs(longer[2] - longer[0]) < 1e-9;
    if (one && longer[0] == 0 && found.centre[0] == given->centre[0] &&
        found.centre[1] == given->centre[1])
        return;
    if (one)
        snprintf(edges, sizeof edges, "edges %+.2f %% longer", longer[0]);
    else
        snprintf(edges, sizeof edges, "edges %+.2f, %+.2f, %+.2f %% longer", longer[0], longer[1],
                 longer[2]);
    snprintf(line, sizeof line,
             "orientation found with %s and the beam centre shifted by %+.1f, %+.1f pixels along "
             "fast, slow: the given cell%s wrong by these percentages",
             edges, (found.centre[0] - given->centre[0]) / pixel[0],
             (found.centre[1] - given->centre[1]) / pixel[1],
             one ? ", distance or wavelength is" : " is");
    notices(user, line);
}

static db_status find_orientation(db_context *context, db_fit_config *config, db_image_spots *spots,
                                  db_experiment *start, db_notice_function notices, void *user) {
    db_fit_orientation found;
    char line[240];
    const roughly given = what_is_known(start);
    db_orientation_fold(&start->crystal);
    DB_TRY(complete_bounds(context, config, start,
                           0)); /* before the search: refuse what it need not search for */
    DB_TRY(db_find_orientation_of_spots(context, &config->settings, spots, start, &found));
    note_moved(&given, start, &config->settings);
    snprintf(
        line, sizeof line,
        "orientation found: %zu of %zu spots near nodes of the lattice; expected by chance: %.0f",
        found.indexed, found.spots, found.by_chance);
    if (!notices) return DB_OK;
    notices(user, line);
    say_corrected(&given, start, notices, user);
    notices(user,
            "the hand was not tested: if an axis of the detector or of the beam points the other "
            "way than it should, the mirrored lattice is found as well");
    return DB_OK;
}

static void start_modes(const db_fit_settings *settings, db_experiment *start,
                        db_notice_function notices, void *user) {
    const unsigned moved = db_modes_leave_zero(settings, start);
    for (int k = 0; k < DB_SPREAD_MODES && notices; k++) {
        char line[120];
        if (!(moved >> k & 1u)) continue;
        snprintf(
            line, sizeof line,
            "mode%d: its refined components start slightly off 0, because the derivative at 0 is 0",
            k + 1);
        notices(user, line);
    }
}

static void take_noise(const db_measured_image *image, db_fit_settings *settings) {
    if (!isnan(settings->gain)) return;
    settings->gain = isnan(image->gain) ? 1 : image->gain;
    if (!(settings->readout_noise > 0)) settings->readout_noise = image->readout_noise;
}

static db_status check_region(db_context *context, const db_fit_settings *settings,
                              const db_measured_image *image) {
    if (settings->roi[1] < image->fast_pixels && settings->roi[3] < image->slow_pixels)
        return DB_OK;
    return db_fail(context, DB_ERROR_USAGE,
                   "data.roi: [%d, %d, %d, %d] reaches beyond the image of %d x %d pixels",
                   settings->roi[0], settings->roi[1], settings->roi[2], settings->roi[3],
                   image->fast_pixels, image->slow_pixels);
}

static void say_group(const db_fit_config *config, db_notice_function notices, void *user,
                      const char *group) {
    char line[DB_FIT_PATH_SIZE + 200];
    if (!notices) return;
    snprintf(line, sizeof line,
             "symmetry: %s, as %s says; the cell keeps it (model.symmetry replaces it; triclinic: "
             "no symmetry)",
             group, config->expt_file);
    notices(user, line);
}

/* Name of a space group that a cell can have (NULL: any cell); "" for P 1, which demands nothing of a cell. */
static db_status name_group(db_context *context, const char *hall, const double cell[6],
                            char name[DB_FIT_NAME_SIZE]) {
    db_space_group *const group = malloc(sizeof *group);
    *name = '\0';
    if (!group) return db_fail_memory(context, "the list's space group");
    db_status status = db_space_group_of_list(context, hall, group);
    if (status == DB_OK && group->number != 1) {
        snprintf(name, DB_FIT_NAME_SIZE, "%s", group->name);
        if (cell) status = db_space_group_of_cell(context, name, cell, group);
    }
    free(group);
    return status;
}

/* Centring of the lattice that a symmetry names: by a symbol, "oC", or a number in its usual setting, if a cell can have that
 * (NULL: any cell); 0: none. */
static int centring_of(db_context *context, const char *symmetry, const double cell[6]) {
    char name[DB_FIT_NAME_SIZE];
    const char *const s = symmetry + strspn(symmetry, " ");
    if (!isdigit((unsigned char)*s)) return db_lattice_letter(s);
    return name_group(context, s, cell, name) == DB_OK ? name[0] : 0;
}

/* Takes the space group of an experiment list, if no other symmetry is given and the cell allows it. */
static db_status take_group(db_context *context, db_fit_config *config, const db_experiment *start,
                            db_notice_function notices, void *user) {
    const char *const hall = config->setup.stated.space_group;
    char name[DB_FIT_NAME_SIZE];
    if (*config->symmetry || !*config->expt_file || !*hall) return DB_OK;
    const db_status status = name_group(context, hall, start->crystal.cell, name);
    if (status == DB_ERROR_MEMORY) return status;
    if (status != DB_OK) {
        db_notice(context, "%s: its space group '%s' is not used: %s", config->expt_file, hall,
                  db_context_message(context));
    } else if (*name && !config->group_of_list) {
        db_notice(context, "%s: its space group %s is not used; model.symmetry can name it",
                  config->expt_file, name);
    } else if (*name) {
        say_group(config, notices, user, name);
        snprintf(config->symmetry, sizeof config->symmetry, "%s", name);
        if (!*config->settings.amplitude_group)
            snprintf(config->settings.amplitude_group, sizeof config->settings.amplitude_group,
                     "%s", name);
    }
    return DB_OK;
}

/* Group of known or shared amplitudes, in the setting of the cell. A name that is no group is left to functions
 * that need one. */
static db_status resolve_group(db_context *context, const db_experiment *start,
                               db_fit_settings *settings) {
    const int uses = settings->intensity == DB_FIT_KNOWN || settings->joint.wanted;
    if (!*settings->amplitude_group || !uses) return DB_OK;
    db_space_group *const group = malloc(sizeof *group);
    if (!group) return db_fail_memory(context, "the space group");
    db_status status = db_space_group_find(context, settings->amplitude_group, group);
    const int is_group = status == DB_OK;
    if (is_group)
        status =
            db_space_group_of_cell(context, settings->amplitude_group, start->crystal.cell, group);
    if (status == DB_OK)
        snprintf(settings->amplitude_group, sizeof settings->amplitude_group, "%s", group->name);
    free(group);
    return is_group || status == DB_ERROR_MEMORY ? status : DB_OK;
}

/* Prepares the refined parameters and their bounds, once there is a starting model. */
static db_status prepare_start(db_context *context, db_fit_config *config, db_image_spots *spots,
                               db_experiment *start, int *open, db_notice_function notices,
                               void *user) {
    db_fit_settings *const settings = &config->settings;
    settings->choose_oversample = !config->setup.oversample;
    if (config->automatic && !settings->parameter_count)
        DB_TRY(db_fit_choose_parameters(context, config, start));
    DB_TRY(db_fit_tie_cell(context, config, start, notices, user));
    DB_TRY(db_fit_start_widths(context, config, spots, start));
    settings->centring = centring_of(context, config->symmetry, start->crystal.cell);
    start_ties(settings, start, notices, user);
    DB_TRY(db_experiment_check(context, start));
    DB_TRY(check_frame(context, config, start));
    DB_TRY(check_groups(context, config, start));
    if (start->structure_factors.listed &&
        db_centring_of_cell(settings->centring, start->crystal.cell) == 'R')
        DB_TRY(db_refuse_reverse_list(context, config->hkl_file, &start->structure_factors,
                                      config->symmetry));
    const int is_open = config->find_orientation || has_no_directions(config, &start->crystal);
    if (open)
        *open = is_open;
    else if (is_open)
        DB_TRY(find_orientation(context, config, spots, start, notices, user));
    settings->orientation_found = is_open;
    DB_TRY(complete_bounds(context, config, start, 1));
    /* a series has one orientation for many frames, of which one may have too few spots */
    if (!open && !is_open && !config->series)
        DB_TRY(db_allow_given_indices(context, settings, config->image_file, spots, start));
    if (settings->stage_count == 0) db_fit_default_stages(settings);
    start_modes(settings, start, notices, user);
    return DB_OK;
}

static void take_model(const db_fit_config *config, db_experiment *start) {
    if (!isnan(config->orientation[0]))
        for (int i = 0; i < 9; i++) start->crystal.orientation[i] = config->orientation[i];
}

static int has_no_cell(const db_setup *setup) {
    int none = !setup->matrix_file && !setup->expt_file;
    for (int i = 0; i < 6; i++) none &= isnan(setup->cell[i]) != 0;
    return none;
}

/* Resolves the set-up; open sizes of the crystal stay open. */
static db_status resolve_setup(db_context *context, db_setup *setup, db_experiment *start,
                               db_notice_function notices, void *user) {
    const int open = isnan(setup->Ncells[0]);
    if (has_no_cell(setup))
        return db_fail(
            context, DB_ERROR_INPUT,
            "model: expected cell, matrix or expt, or find_orientation: yes, which on strong "
            "stills finds the cell, too; found none of them");
    for (int i = 0; i < 3 && open; i++) setup->Ncells[i] = 1;
    const db_status status = db_setup_resolve(context, setup, start, notices, user);
    for (int i = 0; i < 3 && open; i++) setup->Ncells[i] = NAN;
    return status;
}

/* The experiment with any cell in place of its own. *listed: 1: the experiment list has a crystal, whose cell need
 * not be found. */
static db_status start_without_cell(db_context *context, const db_fit_config *config,
                                    db_experiment *experiment, int *listed) {
    db_setup setup = config->setup;
    int cut;
    *listed = *config->expt_file && resolve_setup(context, &setup, experiment, NULL, NULL) == DB_OK;
    if (*listed) return DB_OK;
    for (int i = 0; i < 6; i++) setup.cell[i] = i < 3 ? 50 : 90;
    DB_TRY(resolve_setup(context, &setup, experiment, NULL, NULL));
    const db_status status = db_fit_cut_detector(context, config, experiment, NULL, &cut);
    if (status != DB_OK) db_experiment_clear(experiment);
    return status;
}

/* As db_fit_config_cell_spots. own: spots of the image. */
static db_status add_cell_spots(db_context *context, db_fit_config *config, db_image_spots *own,
                                db_fit_cell_spots **spots) {
    db_experiment experiment;
    int listed;
    if (!db_cell_is_sought(config)) return DB_OK;
    take_noise(own->image, &config->settings);
    DB_TRY(check_region(context, &config->settings, own->image));
    DB_TRY(complete_setup(context, config, own->image, NULL, NULL));
    DB_TRY(start_without_cell(context, config, &experiment, &listed));
    db_status status = DB_OK;
    if (!listed) status = db_cell_spots_add(context, &config->settings, &experiment, own, spots);
    db_experiment_clear(&experiment);
    return status;
}

db_status db_fit_config_cell_spots(db_context *context, db_fit_config *config,
                                   const db_measured_image *image, db_fit_cell_spots **spots) {
    db_image_spots own = { .image = image };
    const db_status status = add_cell_spots(context, config, &own, spots);
    db_image_spots_clear(&own);
    return status;
}

db_status db_fit_config_cell_of_spots(db_context *context, const db_fit_config *config,
                                      const db_fit_cell_spots *spots, db_fit_found_cell *cell) {
    return db_fit_find_cell_of_spots(context, &config->settings, spots, config->symmetry,
                                     centring_of(context, config->symmetry, NULL), cell);
}

/* As db_fit_config_find_cell. own: spots of the image. */
static db_status cell_of_image(db_context *context, db_fit_config *config, db_image_spots *own,
                               db_fit_found_cell *cell) {
    db_fit_cell_spots *spots = NULL;
    memset(cell, 0, sizeof *cell);
    db_status status = add_cell_spots(context, config, own, &spots);
    if (status == DB_OK && spots)
        status = db_fit_config_cell_of_spots(context, config, spots, cell);
    db_fit_cell_spots_destroy(&spots);
    return status;
}

db_status db_fit_config_find_cell(db_context *context, db_fit_config *config,
                                  const db_measured_image *image, db_fit_found_cell *cell) {
    db_image_spots own = { .image = image };
    const db_status status = cell_of_image(context, config, &own, cell);
    db_image_spots_clear(&own);
    return status;
}

static db_status find_cell(db_context *context, db_fit_config *config, db_image_spots *spots,
                           db_notice_function notices, void *user) {
    db_fit_found_cell cell;
    DB_TRY(cell_of_image(context, config, spots, &cell));
    if (!cell.count) return DB_OK;
    db_found_cell_say(&cell, notices, user);
    return db_found_cell_take(context, &cell, config);
}

/* As db_start_make. spots: those of the image. */
static db_status make_start(db_context *context, db_fit_config *config, db_image_spots *spots,
                            db_experiment *start, int *open, db_notice_function notices,
                            void *user) {
    int cut;
    DB_TRY(db_need_panels(context, spots->image));
    take_noise(spots->image, &config->settings);
    DB_TRY(check_region(context, &config->settings, spots->image));
    DB_TRY(complete_setup(context, config, spots->image, notices, user));
    DB_TRY(find_cell(context, config, spots, notices, user));
    DB_TRY(resolve_setup(context, &config->setup, start, notices, user));
    take_model(config, start);
    db_status status = db_fit_cut_detector(context, config, start, NULL, &cut);
    if (status == DB_OK) status = take_group(context, config, start, notices, user);
    if (status == DB_OK) status = resolve_group(context, start, &config->settings);
    if (status == DB_OK) status = prepare_start(context, config, spots, start, open, notices, user);
    if (status != DB_OK) db_experiment_clear(start);
    return status;
}

db_status db_start_make(db_context *context, db_fit_config *config, const db_measured_image *image,
                        db_experiment *start, int *open, db_strong_memory *strong,
                        db_notice_function notices, void *user) {
    db_image_spots spots = { .image = image };
    const db_status status = make_start(context, config, &spots, start, open, notices, user);
    if (status == DB_OK && strong && spots.known)
        db_strong_pixels_leave(image, &config->settings, &spots.strong, strong);
    db_image_spots_clear(&spots);
    return status;
}

db_status db_fit_config_start(db_context *context, db_fit_config *config,
                              const db_measured_image *image, db_experiment *start,
                              db_notice_function notices, void *user) {
    return db_start_make(context, config, image, start, NULL, NULL, notices, user);
}

db_status db_fit_config_start_at(db_context *context, db_fit_config *config,
                                 const db_measured_image *image, db_experiment *start,
                                 db_notice_function notices, void *user) {
    DB_TRY(db_need_panels(context, image));
    take_noise(image, &config->settings);
    DB_TRY(check_region(context, &config->settings, image));
    if (!config->automatic) /* the model gives their size */
        memcpy(config->setup.Ncells, start->crystal.Ncells, sizeof config->setup.Ncells);
    db_image_spots spots = { .image = image };
    const db_status status = prepare_start(context, config, &spots, start, NULL, notices, user);
    db_image_spots_clear(&spots);
    return status;
}
