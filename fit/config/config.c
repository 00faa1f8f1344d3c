/* Reads a fit configuration: its sections one by one, and conditions between them. */
#include <dualbragg/expert/fit_configurations.h>
#include <dualbragg/expert/fit_quantities.h>
#include <dualbragg/expert/setup_defaults.h>
#include <dualbragg/expert/setup_fields.h>
#include <dualbragg/expert/symmetry.h>

#include "base/context_internal.h"
#include "base/frame_name.h"
#include "base/photon_energy.h"
#include "base/given.h"
#include "fit/config/former_keys.h"
#include "fit/config/found_cell.h"
#include "fit/config/config_refine.h"
#include "fit/config/crystal_system.h"
#include "fit/config/detector_modules.h"
#include "fit/config/config_move.h"
#include "fit/config/quantity.h"
#include "fit/config/listed_experiment.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void db_fit_config_init(db_fit_config *config) {
    memset(config, 0, sizeof *config);
    db_fit_settings_init(&config->settings);
    config->settings.gain = NAN;
    db_setup *const setup = &config->setup;
    db_setup_init(setup);
    setup->shape = DB_SHAPE_GAUSS;
    setup->spread.spots = DB_SPOTS_CLOSED;
    for (int i = 0; i < 3; i++) setup->Ncells[i] = NAN; /* from the spots */
    /* open, so that the image header can fill them */
    setup->wavelength = setup->distance = setup->pixel_size = setup->polarization =
        setup->twotheta = setup->osc = setup->sensor_thickness = NAN;
    setup->detector_pixels[0] = setup->detector_pixels[1] = 0;
    config->header_geometry = config->group_of_list = 1;
    config->orientation[0] = config->energy = NAN;
    config->trusted[0] = config->trusted[1] = NAN;
    config->hot_sigma = 50;
    config->shot_outlier_sigma = 8;
}

void db_fit_config_clear(db_fit_config *config) {
    db_fit_settings_clear(&config->settings);
    free(config->found_cell);
    config->found_cell = NULL;
}

static const char *name_or_none(const char *name) { return *name ? name : NULL; }

void db_fit_config_lend_names(db_fit_config *config) {
    db_setup *const setup = &config->setup;
    const int known = config->settings.intensity == DB_FIT_KNOWN && *config->hkl_file,
              has_sites = known && *config->sites;
    setup->matrix_file = name_or_none(config->matrix_file);
    setup->spectrum_file = name_or_none(config->spectrum_file);
    setup->hkl_file = known ? config->hkl_file : NULL;
    setup->hkl_columns = name_or_none(config->hkl_columns);
    setup->hkl_space_group = name_or_none(config->hkl_space_group);
    setup->sites = has_sites ? config->sites : NULL;
    setup->site_points = has_sites && db_fit_refines_curves(&config->settings)
                             ? config->settings.curves.points
                             : NULL;
}

db_status db_fit_config_copy(db_context *context, const db_fit_config *config,
                             db_fit_config *copy) {
    *copy = *config;
    copy->found_cell = NULL;
    DB_TRY(db_fit_settings_copy(context, &config->settings, &copy->settings));
    return config->found_cell ? db_found_cell_keep(context, config->found_cell, copy) : DB_OK;
}

int db_fit_config_merges(const db_fit_config *config) {
    return config->settings.joint.wanted ||
           (config->series && config->settings.intensity == DB_FIT_FREE);
}

/* Shared intensities belong to the reflections of a space group, so it must be given. */
static db_status check_joint(const db_config_reader *reader, const db_yaml_node *node,
                             db_fit_config *config) {
    const char *const key = db_config_sections[DB_SECTION_INTENSITY].name;
    if (!*config->symmetry)
        return db_config_fail(reader, node, key, "",
                              "joint needs the space group as model.symmetry (P 1 if no "
                              "reflections are equivalent)");
    snprintf(config->settings.amplitude_group, sizeof config->settings.amplitude_group, "%s",
             config->symmetry);
    return DB_OK;
}

/* Settings of a reference need one. Merged intensities of a series are not refined, so nothing restrains or selects them. */
static db_status check_amplitudes(const db_config_reader *reader, const db_yaml_node *amplitudes,
                                  const db_fit_config *config) {
    static const char *const keys[] = { "reference_columns", "reference_restraint" },
                             *const joint[] = { "energies", "restraint", "reference_restraint" };
    if (!db_fit_config_merges(config))
        return db_config_fail(reader, amplitudes, "intensities", "",
                              "is for intensities that many shots share; expected intensity: "
                              "joint, or a series with free ones (shots.series)");
    for (size_t i = 0; i < sizeof joint / sizeof *joint && !config->settings.joint.wanted; i++) {
        const db_yaml_node *const key = db_yaml_find(amplitudes, joint[i]);
        if (key)
            return db_config_fail(
                reader, key, "intensities", joint[i],
                "is for intensities that are refined; free ones of a series are merged: "
                "expected intensity: joint");
    }
    db_fit_settings usual;
    db_fit_settings_init(&usual);
    const int passes = usual.joint.passes; /* refined configurations name it, too */
    db_fit_settings_clear(&usual);
    if (!config->settings.joint.wanted && config->settings.joint.passes != passes)
        return db_config_fail(
            reader, db_yaml_find(amplitudes, "passes"), "intensities", "passes",
            "is for intensities that are refined; free ones of a series are merged: "
            "expected intensity: joint");
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !*config->reference_file; i++) {
        const db_yaml_node *const key = db_yaml_find(amplitudes, keys[i]);
        if (key)
            return db_config_fail(reader, key, "intensities", keys[i],
                                  "expected a reference: a file of known structure factors");
    }
    return DB_OK;
}

/* "intensity: free", "joint", or a map that names the file of known structure factors. */
static db_status take_intensity(const db_config_reader *reader, const db_yaml_node *node,
                                db_fit_config *config) {
    const db_config_section *const section = &db_config_sections[DB_SECTION_INTENSITY];
    const int joint = node->kind == DB_YAML_SCALAR && strcmp(node->text, "joint") == 0;
    if (joint || (node->kind == DB_YAML_SCALAR && strcmp(node->text, "free") == 0)) {
        config->settings.intensity = DB_FIT_FREE;
        config->settings.joint.wanted = joint;
        return joint ? check_joint(reader, node, config) : DB_OK;
    }
    if (node->kind != DB_YAML_MAP)
        return db_config_fail_expected(reader, node, section->name, "",
                                       "free, joint or {hkl: FILE}");
    DB_TRY(db_config_take_section(reader, section->name, section, node, config));
    if (!db_yaml_find(node, "hkl"))
        return db_config_fail(reader, node, section->name, "",
                              "expected the key hkl with a file of h k l F");
    snprintf(config->settings.amplitude_group, sizeof config->settings.amplitude_group, "%s",
             *config->hkl_space_group ? config->hkl_space_group : config->symmetry);
    config->settings.intensity = DB_FIT_KNOWN;
    return DB_OK;
}

/* Knots need a series, a series needs a list of shots. */
static db_status check_series(const db_config_reader *reader, const db_yaml_node *root,
                              const db_fit_config *config) {
    const db_yaml_node *const shots = db_yaml_find(root, "shots");
    if (config->series && !*config->shot_list)
        return db_config_fail(reader, db_yaml_find(shots, "series"), "shots", "series",
                              "needs many shots; expected shots.list, too");
    if (config->series_knots > 0 && !config->series)
        return db_config_fail(reader, db_yaml_find(shots, "knots"), "shots", "knots",
                              "needs a series; expected series: yes, too");
    return DB_OK;
}

/* Spots are in closed form if intensities are free; else they are sampled by default. */
static db_status check_spots(const db_config_reader *reader, const db_yaml_node *model,
                             db_fit_config *config) {
    const db_yaml_node *const spots = model ? db_yaml_find(model, "spots") : NULL;
    db_spot_model *const given = &config->setup.spread.spots;
    if (config->settings.intensity == DB_FIT_KNOWN && !spots) *given = DB_SPOTS_SAMPLED;
    if (config->settings.intensity == DB_FIT_KNOWN || *given == DB_SPOTS_CLOSED) return DB_OK;
    return db_config_fail(reader, spots, "model", "spots",
                          "sampled spots need known structure factors (intensity: {hkl: FILE}); "
                          "expected closed, the default of free intensities");
}

/* Is this a lattice letter with numbers of axes, as "P 41 21 22", that no space group has? Builds without gemmi do not know. */
static int is_no_group(db_context *context, const char *symmetry) {
    db_space_group group;
    return strchr("PABCIFRH", toupper((unsigned char)*symmetry)) && symmetry[1] &&
           strspn(symmetry + 1, "0123456789 ") == strlen(symmetry + 1) &&
           db_space_group_find(context, symmetry, &group) == DB_ERROR_INPUT;
}

/* Checks a symmetry without regard to the cell. */
static db_status check_symmetry(const db_config_reader *reader, const db_yaml_node *model,
                                const db_fit_config *config) {
    static const double any[6] = { 1, 1, 1, 90, 90, 90 };
    if (!*config->symmetry ||
        (db_cell_ties_of(config->symmetry, any) && !is_no_group(reader->context, config->symmetry)))
        return DB_OK;
    return db_config_fail_expected(reader, db_yaml_find(model, "symmetry"), "model", "symmetry",
                                   "a crystal system (tetragonal), a lattice (tP), the number of a "
                                   "space group (96) or its symbol (P 43 21 2)");
}

/* At most one list may select the reflections that get shoeboxes. */
static db_status check_lists(const db_config_reader *reader, const db_yaml_node *data,
                             db_fit_intensity intensity) {
    static const char *const lists[] = { "reflections", "spots", "boxes" };
    const char *first = NULL;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const db_yaml_node *const list = db_yaml_find(data, lists[i]);
        if (!list) continue;
        if (intensity == DB_FIT_KNOWN)
            return db_config_fail(
                reader, list, "data", lists[i],
                "chooses shoeboxes of free intensities; known structure factors take "
                "those of their brightest reflections (data.pixels: shoeboxes)");
        if (first)
            return db_config_fail(
                reader, list, "data", lists[i],
                "cannot be given beside %s: only one list can choose the reflections for shoeboxes",
                first);
        first = lists[i];
    }
    return DB_OK;
}

static db_status check_data(const db_config_reader *reader, const db_yaml_node *root,
                            const db_fit_config *config) {
    const db_fit_settings *const settings = &config->settings;
    const db_yaml_node *const data = db_yaml_find(root, "data");
    if (!data) return DB_OK;
    if (settings->dmin > 0 && settings->dmax > 0 && settings->dmin >= settings->dmax)
        return db_config_fail(reader, db_yaml_find(data, "dmax"), "data", "dmax",
                              "resolution range is empty: dmin %g is not below dmax %g",
                              settings->dmin, settings->dmax);
    DB_TRY(check_lists(reader, data, settings->intensity));
    if (config->trusted[0] >= config->trusted[1])
        return db_config_fail(reader, db_yaml_find(data, "trusted"), "data", "trusted",
                              "expected the smaller limit first, found [%g, %g]",
                              config->trusted[0], config->trusted[1]);
    const int *const roi = settings->roi;
    if (roi[0] > roi[1] || roi[2] > roi[3])
        return db_config_fail(reader, db_yaml_find(data, "roi"), "data", "roi",
                              "empty: [%d, %d, %d, %d]", roi[0], roi[1], roi[2], roi[3]);
    return DB_OK;
}

/* Own axes are a frame of their own. */
static db_status check_axes(const db_config_reader *reader, const db_yaml_node *root,
                            const db_setup *setup) {
    const db_yaml_node *const model = db_yaml_find(root, "model");
    if (!model || setup->convention == DB_CONVENTION_CUSTOM) return DB_OK;
    for (int id = DB_FIELD_FAST_AXIS; id <= DB_FIELD_TWOTHETA_AXIS; id++) {
        const char *const name = db_setup_fields[id].name;
        const db_yaml_node *const axis = db_yaml_find(model, name);
        if (axis)
            return db_config_fail(reader, axis, "model", name,
                                  "needs 'convention: custom'; %s has its own axes",
                                  db_convention_name(setup->convention));
    }
    return DB_OK;
}

static const char panel_groups[] = "panel_groups";

static db_status add_group(const db_config_reader *reader, const db_yaml_node *node,
                           const char *name, db_fit_panel_groups *groups, short *group) {
    if (groups->count == DB_FIT_MOST_GROUPS)
        return db_config_fail(reader, node, panel_groups, "", "expected at most %d groups",
                              DB_FIT_MOST_GROUPS);
    *group = (short)groups->count;
    return db_fit_panel_groups_add(reader->context, groups, name);
}

/* Checks a name of a group, which appears before colons, in comments, and among parameters. */
static db_status check_name(const db_config_reader *reader, const db_yaml_node *node,
                            const char *name) {
    int good = isalpha((unsigned char)*name) && strlen(name) < DB_FIT_GROUP_NAME_SIZE &&
               strcmp(name, panel_groups) != 0;
    for (const char *c = name; *c; c++)
        good &= isalnum((unsigned char)*c) || strchr("_-.", *c) != NULL;
    if (good) return DB_OK;
    return db_config_fail(reader, node, panel_groups, name,
                          "expected a name of a letter and at most %d further letters, digits, _, "
                          "- and ., and not '%s'",
                          DB_FIT_GROUP_NAME_SIZE - 2, panel_groups);
}

/* Reads a range: "3" or "0-15". */
static db_status take_range(const db_config_reader *reader, const db_yaml_node *node, short group,
                            db_fit_panel_groups *groups) {
    const char *const name = groups->name[group];
    const int scalar = node->kind == DB_YAML_SCALAR && isdigit((unsigned char)*node->text);
    char *end = node->text;
    long first = scalar ? strtol(node->text, &end, 10) : 0, last = first;
    if (scalar && *end == '-' && isdigit((unsigned char)end[1])) last = strtol(end + 1, &end, 10);
    if (!scalar || *end || first > last || last >= DB_FIT_MOST_PANELS)
        return db_config_fail_expected(
            reader, node, panel_groups, name,
            "the number of a panel from 0 to %d, or a range such as 0-15", DB_FIT_MOST_PANELS - 1);
    for (long p = first; p <= last; p++) {
        const int other = db_fit_panel_groups_of(groups, (size_t)p);
        if (other >= 0)
            return db_config_fail(reader, node, panel_groups, name,
                                  "panel %ld is in group %s already", p, groups->name[other]);
        DB_TRY(db_fit_panel_groups_put(reader->context, groups, (size_t)p, group));
    }
    return DB_OK;
}

static db_status take_group(const db_config_reader *reader, const char *name,
                            const db_yaml_node *node, db_fit_panel_groups *groups) {
    short group = 0;
    DB_TRY(check_name(reader, node, name));
    DB_TRY(add_group(reader, node, name, groups, &group));
    if (node->kind != DB_YAML_LIST) return take_range(reader, node, group, groups);
    if (node->count == 0)
        return db_config_fail_expected(reader, node, panel_groups, name, "numbers of panels");
    for (size_t i = 0; i < node->count; i++)
        DB_TRY(take_range(reader, node->items[i], group, groups));
    return DB_OK;
}

/* Panels in no group of the level become groups by themselves; with a level below 0 all panels do. */
static db_status take_content(const db_config_reader *reader, const db_yaml_node *node, int level,
                              const db_expt_content *content, size_t count,
                              db_fit_panel_groups *groups) {
    short seen[DB_FIT_MOST_PANELS]; /* number of the list's group; -1: the panel is a group */
    char name[DB_FIT_GROUP_NAME_SIZE];
    if (count > DB_FIT_MOST_PANELS)
        return db_config_fail(reader, node, panel_groups, "",
                              "the list has %zu panels, expected at most "
                              "%d",
                              count, DB_FIT_MOST_PANELS);
    for (size_t p = 0; p < count; p++) {
        const int held = level >= 0 && content->panel[p].level_count > level;
        size_t mate = 0;
        seen[p] = held ? (short)content->panel[p].group[level] : -1;
        while (mate < p && (!held || seen[mate] != seen[p])) mate++;
        short group = (short)db_fit_panel_groups_of(groups, mate);
        snprintf(name, sizeof name, held ? "group_%d" : "panel_%d", held ? (int)seen[p] : (int)p);
        if (mate == p) DB_TRY(add_group(reader, node, name, groups, &group));
        DB_TRY(db_fit_panel_groups_put(reader->context, groups, p, group));
    }
    return DB_OK;
}

/* Number of the list's panels, or of the modules of its only panel. */
static db_status count_panels(const db_config_reader *reader, const db_fit_config *config,
                              const db_experiment *experiment, size_t *count) {
    db_module_grid grid;
    int found;
    *count = experiment->detector.panel_count;
    DB_TRY(db_fit_find_modules(reader->context, config, experiment, &grid, &found));
    if (found) *count = (size_t)grid.modules[0] * (size_t)grid.modules[1];
    return DB_OK;
}

/* Takes an image whose file places panels as its own experiment list. */
static void take_own_list(db_context *context, db_fit_config *config) {
    const db_expt_selection selection = { .number = -1, .image = config->image_file };
    char file[DB_FIT_PATH_SIZE];
    db_listed listed;
    db_frame_split(config->image_file, file, sizeof file);
    if (!*file || db_listed_select(context, file, &selection, &listed) != DB_OK) return;
    memcpy(config->expt_file, file, sizeof file);
    db_listed_clear(&listed);
}

/* Takes groups of the model's experiment list. */
static db_status take_listed(const db_config_reader *reader, const db_yaml_node *node, int level,
                             db_fit_config *config) {
    db_listed listed;
    if (!*config->expt_file) take_own_list(reader->context, config);
    if (!*config->expt_file)
        return db_config_fail(
            reader, node, panel_groups, "",
            "'%s' needs model.expt, an experiment list (dualbragg import IMAGE -o FILE.expt "
            "makes one); other models have one panel",
            node->text);
    DB_TRY(db_listed_read(reader->context, config, &listed));
    db_status status = DB_OK;
    size_t count = listed.content.panel_count;
    if (level < 0) status = count_panels(reader, config, &listed.experiment, &count);
    if (status == DB_OK)
        status = take_content(reader, node, level, &listed.content, count,
                              &config->settings.panel_groups);
    db_listed_clear(&listed);
    return status;
}

/* Takes panel groups after the model, whose experiment list has panels and their hierarchy. */
static db_status take_panel_groups(const db_config_reader *reader, const db_yaml_node *node,
                                   db_fit_config *config) {
    static const char level[] = "level ";
    const size_t length = strlen(level);
    if (node->kind == DB_YAML_SCALAR && strcmp(node->text, "panels") == 0)
        return take_listed(reader, node, -1, config);
    if (node->kind == DB_YAML_SCALAR && strncmp(node->text, level, length) == 0 &&
        isdigit((unsigned char)node->text[length]) && !node->text[length + 1] &&
        node->text[length] - '0' < DB_EXPT_MOST_LEVELS)
        return take_listed(reader, node, node->text[length] - '0', config);
    if (node->kind != DB_YAML_MAP || node->count == 0)
        return db_config_fail_expected(reader, node, panel_groups, "",
                                       "groups, each as 'name: [0-15]', or panels, or level 0 to "
                                       "level %d of the experiment list",
                                       DB_EXPT_MOST_LEVELS - 1);
    for (size_t i = 0; i < node->count; i++)
        DB_TRY(take_group(reader, node->keys[i], node->items[i], &config->settings.panel_groups));
    return DB_OK;
}

/* Without a section refine, images with free intensities select the parameters that they can determine. */
static db_status leave_open(const db_config_reader *reader, db_fit_config *config) {
    if (config->settings.intensity != DB_FIT_FREE)
        return db_fail(reader->context, DB_ERROR_USAGE,
                       "%s: the section refine is missing; expected parameters to refine (it may "
                       "be missing only without known intensities)",
                       reader->path);
    config->automatic = 1;
    return DB_OK;
}

/* Wings hold points near both ends of the curves. One that is far below the distance of points holds the ends alone, and one
 * beyond all points is none: both are in another unit. */
static db_status check_wings(const db_config_reader *reader, const db_yaml_node *map,
                             const db_fit_settings *settings) {
    const double narrowest = 0.1; /* of the distance of points */
    const double *const points = settings->curves.points, *const wings = settings->curves.wings,
                        range = points[1] - points[0], apart = range / (points[2] - 1);
    const char *const section = db_config_sections[DB_SECTION_CURVES].name;
    const db_yaml_node *const node = db_yaml_find(map, "wings");
    if ((wings[0] > 0) != (wings[1] > 0))
        return db_config_fail(reader, node, section, "wings",
                              "expected how near to the ends (eV) and a standard deviation "
                              "(electrons), both above 0, or 0, 0 for none, found %g, %g",
                              wings[0], wings[1]);
    if (wings[0] > 0 && wings[0] < narrowest * apart)
        return db_config_fail(
            reader, node, section, "wings",
            "expected at least a tenth of the distance of points, %g eV, found %g "
            "eV; if it is in keV, give %g",
            apart, wings[0], 1000 * wings[0]);
    if (wings[0] > range)
        return db_config_fail(reader, node, section, "wings",
                              "expected at most the range of all points, %g eV, found %g eV", range,
                              wings[0]);
    return DB_OK;
}

/* Refuses a range of photon energies that is in another unit than eV. */
static db_status check_unit(const db_config_reader *reader, const db_yaml_node *energies,
                            const char *section, const double range[2]) {
    if (range[1] >= DB_LEAST_X_RAY_EV) return DB_OK;
    return db_config_fail(reader, energies, section, "energies",
                          "%g to %g look like %s: energies are in eV", range[0], range[1],
                          range[1] < DB_LEAST_EITHER  ? "wavelengths in A"
                          : range[1] < DB_MOST_EITHER ? "keV, or wavelengths in A"
                                                      : "keV");
}

/* Energies of reflections that joint intensities take. */
static db_status check_joint_energies(const db_config_reader *reader, const db_yaml_node *map,
                                      const db_fit_settings *settings) {
    const char *const section = db_config_sections[DB_SECTION_AMPLITUDES].name;
    const double *const range = settings->joint.energies;
    const db_yaml_node *const node = db_yaml_find(map, "energies");
    if (!node) return DB_OK;
    DB_TRY(check_unit(reader, node, section, range));
    return range[0] < range[1]
               ? DB_OK
               : db_config_fail(reader, node, section, "energies",
                                "expected least < largest (eV), found %g, %g", range[0], range[1]);
}

/* Adds f' and f'' at all points of all kinds. */
static db_status add_curves(const db_config_reader *reader, const db_yaml_node *map,
                            db_fit_config *config) {
    const char *const section = db_config_sections[DB_SECTION_CURVES].name;
    db_fit_settings *const settings = &config->settings;
    const double *const points = settings->curves.points;
    const db_yaml_node *const energies = db_yaml_find(map, "energies");
    db_setup_sites sites;
    if (!*config->sites)
        return db_config_fail(reader, map, section, "",
                              "expected kinds of sites as intensity.sites, too");
    if (!energies)
        return db_config_fail(reader, map, section, "",
                              "expected the key energies: first and last (eV), number of points");
    DB_TRY(db_setup_read_sites(reader->context, config->sites, &sites));
    const int kinds = sites.count;
    DB_TRY(check_unit(reader, energies, section, points));
    if (!(points[0] > 0 && points[0] < points[1]) || points[2] != floor(points[2]) ||
        points[2] < 3 || points[2] > DB_FIT_CURVE_POINTS ||
        2 * kinds * points[2] > DB_FIT_CURVE_VALUES)
        return db_config_fail(reader, energies, section, "energies",
                              "expected first < last (eV) and 3 to %d points (kinds of sites: %d), "
                              "found %g, %g, %g",
                              DB_FIT_CURVE_VALUES / 2 / kinds, kinds, points[0], points[1],
                              points[2]);
    if (!*config->shot_list)
        return db_config_fail(reader, energies, section, "energies",
                              "many shots share these curves: expected shots.list");
    DB_TRY(check_wings(reader, map, settings));
    for (int k = 0; k < kinds; k++)
        for (int second = 0; second < 2; second++)
            for (size_t i = 0; i < (size_t)points[2]; i++) {
                const db_fit_parameter p =
                    db_fit_parameter_free(db_parameter_site_curve(k, second, i));
                DB_TRY(db_fit_settings_add_parameter(reader->context, settings, &p));
            }
    return DB_OK;
}

/* The wavelength of a photon energy. */
static db_status take_energy(const db_config_reader *reader, const db_yaml_node *model,
                             db_fit_config *config) {
    const double least = 100, energy = config->energy; /* eV: no crystal diffracts 124 A */
    const double wavelength = DB_EV_ANGSTROM / energy;
    if (isnan(energy)) return DB_OK;
    const db_yaml_node *const node = db_yaml_find(model, "energy");
    if (!isnan(config->setup.wavelength))
        return db_config_fail(reader, node, "model", "energy",
                              "expected either energy or wavelength, found both: %g eV are %.6g A, "
                              "and the wavelength is %.6g A",
                              energy, wavelength, config->setup.wavelength);
    if (energy < least)
        return db_config_fail(reader, node, "model", "energy",
                              "expected eV, found %g; if these are keV, give %g", energy,
                              1000 * energy);
    if (wavelength < DB_SHORTEST_X_RAY)
        return db_config_fail(reader, node, "model", "energy",
                              "expected photons of at most %g eV, found %g; give the wavelength of "
                              "electrons",
                              DB_EV_ANGSTROM / DB_SHORTEST_X_RAY, energy);
    config->setup.wavelength = wavelength;
    config->energy = NAN;
    return DB_OK;
}

static db_status take_sections(const db_config_reader *reader, const db_yaml_node *root,
                               db_fit_config *config) {
    enum { OTHER_SECTIONS = 10 };
    static const char *const sections[OTHER_SECTIONS] = { "model",  "panel_groups", "intensity",
                                                          "refine", "starts",       "stages",
                                                          "data",   "shots",        "intensities",
                                                          "curves" };
    const db_config_section *const top = &db_config_sections[DB_SECTION_TOP];
    for (size_t i = 0; i < root->count; i++) {
        const char *const name = root->keys[i];
        const db_config_key *const key = db_config_key_find(top, name);
        const char *known[OTHER_SECTIONS + 16];
        size_t count = 0, section = 0;
        while (section < OTHER_SECTIONS && strcmp(sections[section], name) != 0) section++;
        if (key) DB_TRY(db_config_take(reader, "", key, root->items[i], config));
        if (key || section < OTHER_SECTIONS) continue;
        for (; count < OTHER_SECTIONS; count++) known[count] = sections[count];
        for (size_t k = 0; k < top->count; k++) known[count++] = top->keys[k].is->name;
        return db_config_fail_unknown(reader, root->items[i], "", name, known, count);
    }
    static const int tables[] = { DB_SECTION_MODEL, DB_SECTION_DATA,       DB_SECTION_STARTS,
                                  DB_SECTION_SHOTS, DB_SECTION_AMPLITUDES, DB_SECTION_CURVES };
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        const db_config_section *const section = &db_config_sections[tables[t]];
        const db_yaml_node *const map = db_yaml_find(root, section->name);
        if (map) DB_TRY(db_config_take_section(reader, section->name, section, map, config));
    }
    const db_yaml_node *const model = db_yaml_find(root, "model");
    config->phi_given = model && db_yaml_find(model, "phi") != NULL;
    DB_TRY(take_energy(reader, model, config));
    config->setup.wavelength_given = !isnan(config->setup.wavelength);
    DB_TRY(check_symmetry(reader, model, config));
    DB_TRY(check_axes(reader, root, &config->setup));
    DB_TRY(check_series(reader, root, config));
    if (!*config->settings.amplitude_group) /* of merged intensities, and of mates on an image */
        snprintf(config->settings.amplitude_group, sizeof config->settings.amplitude_group, "%s",
                 config->symmetry);
    const db_yaml_node *const intensity = db_yaml_find(root, "intensity");
    if (intensity) DB_TRY(take_intensity(reader, intensity, config));
    DB_TRY(check_data(reader, root, config));
    DB_TRY(check_spots(reader, model, config));
    const db_yaml_node *const amplitudes = db_yaml_find(root, "intensities");
    if (amplitudes) DB_TRY(check_amplitudes(reader, amplitudes, config));
    if (amplitudes) DB_TRY(check_joint_energies(reader, amplitudes, &config->settings));
    const db_yaml_node *const groups = db_yaml_find(root, "panel_groups");
    if (groups) DB_TRY(take_panel_groups(reader, groups, config));
    const db_yaml_node *const refine = db_yaml_find(root, "refine");
    if (!refine)
        DB_TRY(leave_open(reader, config));
    else
        DB_TRY(db_config_take_refine(reader, refine, config));
    if (refine && config->settings.joint.wanted)
        DB_TRY(db_fit_refine_scale(reader->context, 0, &config->settings));
    const db_yaml_node *const curves = db_yaml_find(root, "curves");
    if (curves) DB_TRY(add_curves(reader, curves, config));
    const db_yaml_node *const stages = db_yaml_find(root, "stages");
    if (stages) DB_TRY(db_config_take_stages(reader, stages, config));
    if (stages && config->settings.joint.wanted)
        DB_TRY(db_fit_add_intensity_stage(reader->context, &config->settings));
    return DB_OK;
}

static db_status take_tree(db_context *context, db_yaml_node *root, const char *const *overrides,
                           size_t override_count, db_fit_config *config) {
    db_status status =
        db_need_list(context, "overrides of a configuration", overrides, override_count);
    if (status == DB_OK) status = db_former_keys_rename(context, config->config_file, root);
    for (size_t i = 0; i < override_count && status == DB_OK; i++)
        status = db_yaml_override(context, root, overrides[i], db_former_key_now);
    const db_config_reader reader = { context, config->config_file,
                                      &config->settings.panel_groups };
    if (status == DB_OK) status = db_former_keys_rename(context, config->config_file, root);
    if (status == DB_OK) status = take_sections(&reader, root, config);
    if (status == DB_OK) status = db_fit_complete_output_prefix(context, config);
    if (status == DB_OK) db_fit_config_lend_names(config);
    return status;
}

/* Begins a configuration: everything but the tree. name: of the file, for messages and outputs. */
static db_status begin_config(db_context *context, const char *name, db_fit_config *config) {
    db_fit_config_clear(config);
    db_fit_config_init(config);
    if (strlen(name) >= DB_FIT_PATH_SIZE)
        return db_fail(context, DB_ERROR_USAGE, "the file name is longer than %d characters",
                       DB_FIT_PATH_SIZE - 1);
    snprintf(config->config_file, sizeof config->config_file, "%s", name);
    return DB_OK;
}

db_status db_fit_config_make(db_context *context, const char *image, const char *const *overrides,
                             size_t override_count, db_fit_config *config) {
    db_yaml_node *root = NULL;
    DB_TRY(begin_config(context, image, config));
    snprintf(config->image_file, sizeof config->image_file, "%s", image);
    DB_TRY(db_yaml_empty_map(context, &root));
    const db_status status = take_tree(context, root, overrides, override_count, config);
    db_yaml_free(&root);
    return status;
}

db_status db_fit_config_read(db_context *context, const char *path, const char *const *overrides,
                             size_t override_count, db_fit_config *config) {
    db_yaml_node *root = NULL;
    DB_TRY(begin_config(context, path, config));
    DB_TRY(db_yaml_read(context, path, &root));
    const db_status status = take_tree(context, root, overrides, override_count, config);
    db_yaml_free(&root);
    return status;
}
