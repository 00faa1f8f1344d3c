/* A list of shots as a source of shots: their configurations, images and starting models. */
#include "fit/lists/shot_list.h"

#include "base/context_internal.h"
#include "base/measured_pixels.h"
#include "base/frame_name.h"
#include "base/path.h"
#include "fit/config/config_keys.h"
#include "fit/config/config_refine.h"
#include "fit/config/input_files.h"
#include "fit/config/quantity.h"
#include "fit/lists/identity.h"

#include <dualbragg/expert/fit_configurations.h>
#include <dualbragg/expert/fit_quantities.h>
#include <dualbragg/expert/fit_steps.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void db_fit_shot_list_destroy(db_fit_shot_list **list) {
    if (!list || !*list) return;
    db_fit_shot_list *const l = *list;
    for (size_t i = 0; i < l->count; i++) {
        for (size_t k = 0; k < l->entry[i].count; k++) free(l->entry[i].override[k]);
        free(l->entry[i].override);
        free(l->entry[i].name);
        db_fit_spots_clear(&l->entry[i].spots);
        free(l->entry[i].setup);
    }
    for (size_t i = 0; i < l->override_count && l->override; i++) free(l->override[i]);
    free(l->override);
    free(l->entry);
    free(l->reference.amplitude);
    db_fit_config_clear(&l->config);
    free(l);
    *list = NULL;
}

/* Reads the configuration of a shot with the overrides of all shots and its own. */
static db_status read_entry(db_context *context, const db_fit_shot_list *list,
                            const db_shot_entry *entry, db_fit_config *config) {
    const size_t common = entry->is_config ? 0 : list->override_count;
    const size_t count = common + entry->count;
    const char **const overrides = malloc((count + 1) * sizeof *overrides);
    if (!overrides) return db_fail_memory(context, entry->name);
    for (size_t i = 0; i < common; i++) overrides[i] = list->override[i];
    for (size_t i = 0; i < entry->count; i++) overrides[common + i] = entry->override[i];
    const char *const file = entry->is_config ? entry->name : list->config.config_file;
    const int is_image = !entry->is_config && strcmp(file, entry->name) == 0; /* without a file */
    const db_status status =
        *file && !is_image ? db_fit_config_read(context, file, overrides, count, config)
                           : db_fit_config_make(context, entry->name, overrides, count, config);
    free(overrides);
    return status;
}

/* Gives the list the symmetry of a shot's configuration. */
static db_status share_symmetry(db_context *context, const db_shot_entry *from,
                                const char *symmetry, const char **first, db_fit_shot_list *list) {
    db_fit_config *const all = &list->config;
    if (!*first) {
        *first = from->name;
        snprintf(all->symmetry, sizeof all->symmetry, "%s", symmetry);
        if (!*all->settings.amplitude_group)
            snprintf(all->settings.amplitude_group, sizeof all->settings.amplitude_group, "%s",
                     symmetry);
        db_notice(context,
                  "symmetry: %s, as %s says; the cells of all shots keep it (model.symmetry "
                  "replaces it; triclinic: no symmetry)",
                  symmetry, *first);
    } else if (strcmp(all->symmetry, symmetry) != 0) {
        return db_fail(
            context, DB_ERROR_INPUT,
            "%s:%d: model.symmetry of %s is '%s', that of %s '%s'; expected one symmetry of "
            "all shots, in the configuration that names the list",
            all->shot_list, from->line, from->name, symmetry, *first, all->symmetry);
    }
    return DB_OK;
}

db_status db_shot_list_take_symmetry(db_context *context, db_fit_shot_list *list) {
    const char *first = NULL;
    db_status status = DB_OK;
    if (*list->config.symmetry) return DB_OK;
    for (size_t i = 0; i < list->count && status == DB_OK; i++) {
        db_fit_config own = { .image_file = "" };
        if (!list->entry[i].is_config) continue;
        status = read_entry(context, list, &list->entry[i], &own);
        if (status == DB_OK && *own.symmetry)
            status = share_symmetry(context, &list->entry[i], own.symmetry, &first, list);
        else if (status != DB_ERROR_MEMORY)
            status = DB_OK; /* what cannot be read is excluded later, with the reason */
        db_fit_config_clear(&own);
    }
    return status;
}

/* Copies the settings that are the same for all shots. */
static db_status apply_common(db_context *context, const db_fit_config *common,
                              db_fit_config *config) {
    const double gain = config->settings.gain, readout_noise = config->settings.readout_noise;
    db_fit_settings_clear(&config->settings);
    DB_TRY(db_fit_settings_copy(context, &common->settings, &config->settings));
    if (!(common->settings.gain > 0)) config->settings.gain = gain;
    if (!(common->settings.readout_noise > 0)) config->settings.readout_noise = readout_noise;
    memcpy(config->symmetry, common->symmetry, sizeof config->symmetry);
    memcpy(config->hkl_file, common->hkl_file, sizeof config->hkl_file);
    memcpy(config->hkl_columns, common->hkl_columns, sizeof config->hkl_columns);
    memcpy(config->hkl_space_group, common->hkl_space_group, sizeof config->hkl_space_group);
    config->setup.default_F = common->setup.default_F;
    config->setup.k_sol = common->setup.k_sol;
    config->setup.b_sol = common->setup.b_sol;
    config->setup.model_resolution = common->setup.model_resolution;
    config->setup.anomalous = common->setup.anomalous;
    memcpy(config->sites, common->sites, sizeof config->sites);
    db_fit_config_lend_names(config);
    return DB_OK;
}

db_status db_fit_shot_list_config(db_context *context, const db_fit_shot_list *list, size_t shot,
                                  db_fit_config *config) {
    if (shot >= list->count)
        return db_fail(context, DB_ERROR_USAGE, "%s: has %zu shots, number %zu is not among them",
                       list->config.shot_list, list->count, shot + 1);
    const db_shot_entry *const entry = &list->entry[shot];
    db_status status = read_entry(context, list, entry, config);
    if (status == DB_OK && !entry->is_config &&
        snprintf(config->image_file, sizeof config->image_file, "%s", entry->name) >=
            DB_FIT_PATH_SIZE)
        status = db_fail(context, DB_ERROR_USAGE, "%.80s...: the name has more than %d characters",
                         entry->name, DB_FIT_PATH_SIZE - 1);
    if (status == DB_OK && !*config->image_file)
        status = db_fail(context, DB_ERROR_USAGE, "%s: names no image", entry->name);
    if (status != DB_OK)
        return *list->config.shot_list
                   ? db_fail(context, status, "%s:%d: %s", list->config.shot_list, entry->line,
                             db_context_message(context))
                   : status;
    if (entry->is_config) DB_TRY(apply_common(context, &list->config, config));
    config->shot_list[0] = '\0';
    config->series_frames = list->fewest_frames;
    config->listed = list->count;
    config->group_of_list = 0; /* all shots have one symmetry */
    return DB_OK;
}

db_status db_fit_shot_list_inputs(db_context *context, const db_fit_shot_list *list,
                                  db_fit_input_function each, void *user) {
    const db_notice_function notice = context->notice;
    db_status status = DB_OK;
    context->notice = NULL; /* the refinement reads these configurations again, with notices */
    db_fit_config_each_input(&list->config, NULL, each, user);
    for (size_t s = 0; s < list->count && status != DB_ERROR_MEMORY; s++) {
        const db_shot_entry *const entry = &list->entry[s];
        db_fit_config own = { .image_file = "" };
        db_fit_input_name("shots.list", entry->name, each, user);
        if (!entry->is_config && !entry->count) continue; /* no other files than the list's */
        status = db_fit_shot_list_config(context, list, s, &own);
        if (status == DB_OK) db_fit_config_each_input(&own, &list->config, each, user);
        db_fit_config_clear(&own);
    }
    context->notice = notice;
    return status == DB_ERROR_MEMORY ? status : DB_OK;
}

static db_status read_spots(db_context *context, const db_fit_config *config,
                            db_shot_entry *entry) {
    if ((!*config->spot_file && !*config->reflection_file && !*config->box_file) ||
        entry->has_spots)
        return DB_OK;
    DB_TRY(db_fit_config_read_spots(context, config, &entry->spots));
    entry->has_spots = 1;
    return DB_OK;
}

static db_status remember(db_context *context, const db_fit_config *config,
                          const db_measured_image *image, db_shot_entry *entry) {
    if (!entry->setup) entry->setup = malloc(sizeof *entry->setup);
    if (!entry->setup) return db_fail_memory(context, entry->name);
    *entry->setup = config->setup;
    entry->gain = config->settings.gain;
    entry->readout_noise = config->settings.readout_noise;
    entry->centring = config->settings.centring;
    entry->pedestal = image->pedestal;
    db_trusted_range(image, entry->trusted);
    return DB_OK;
}

db_status db_shot_list_completed(db_context *context, const db_fit_shot_list *list, size_t shot,
                                 db_fit_config *config) {
    DB_TRY(db_fit_shot_list_config(context, list, shot, config));
    const db_shot_entry *const entry = &list->entry[shot];
    if (!entry->setup)
        return db_fail(context, DB_ERROR_USAGE, "%s: has not been read", entry->name);
    config->setup = *entry->setup;
    db_fit_config_lend_names(config);
    if (!*config->expt_file && entry->setup->expt_file) /* an image that is its own list */
        db_frame_split(config->image_file, config->expt_file, sizeof config->expt_file);
    config->setup.expt_file = *config->expt_file ? config->expt_file : NULL;
    config->setup.expt_image = *config->image_file ? config->image_file : NULL;
    config->settings.gain = entry->gain;
    config->settings.readout_noise = entry->readout_noise;
    config->settings.centring = entry->centring;
    return DB_OK;
}

/* A parameter of a shot for all shots: bounds are the shot's own. */
static db_fit_parameter in_any_shot(const db_fit_parameter *p) {
    db_fit_parameter common = *p;
    common.lower = -INFINITY;
    common.upper = INFINITY;
    return common;
}

/* Takes the parameters chosen by the first shot for all shots. */
static db_status take_parameters(db_context *context, const db_fit_settings *chosen,
                                 db_fit_settings *settings) {
    db_status status = DB_OK;
    for (size_t i = 0; i < chosen->parameter_count && status == DB_OK; i++) {
        const db_fit_parameter p = in_any_shot(&chosen->parameters[i]);
        status = db_fit_settings_add_parameter(context, settings, &p);
    }
    return status;
}

static db_status load_shot(void *user, db_context *context, size_t shot, db_measured_image *image,
                           db_experiment *start, db_fit_settings *settings) {
    db_fit_shot_list *const list = user;
    db_fit_config config = { .image_file = "" };
    db_status status = db_fit_shot_list_config(context, list, shot, &config);
    if (status == DB_OK) status = db_fit_config_read_image(context, &config, image, NULL, NULL);
    if (status == DB_OK && start) {
        if (config.automatic && !config.settings.parameter_count)
            status = take_parameters(context, settings, &config.settings);
        db_fit_settings_take_stages(&config.settings, settings); /* known already */
        if (status == DB_OK)
            status = db_fit_config_start(context, &config, image, start, NULL, NULL);
        if (status == DB_OK) status = read_spots(context, &config, &list->entry[shot]);
        if (status == DB_OK) status = remember(context, &config, image, &list->entry[shot]);
        if (status == DB_OK) {
            const db_fit_settings given = *settings;
            *settings = config.settings;
            config.settings = given; /* freed later */
            settings->spots = list->entry[shot].has_spots ? &list->entry[shot].spots : NULL;
        } else {
            db_measured_image_clear(image);
            db_experiment_clear(start);
        }
    }
    db_fit_config_clear(&config);
    return status;
}

static const char *name_of(void *user, size_t shot) {
    const db_fit_shot_list *const list = user;
    return list->entry[shot].name;
}

static db_status identify_shot(void *user, db_context *context, size_t shot,
                               db_fit_shot_identity *identity) {
    const db_fit_shot_list *const list = user;
    db_fit_config config = { .image_file = "" };
    db_status status = db_fit_shot_list_config(context, list, shot, &config);
    if (status == DB_OK) status = db_identity_of_shot(context, &config, &list->config, identity);
    db_fit_config_clear(&config);
    return status;
}

static size_t image_of(void *user, size_t shot) {
    const db_fit_shot_list *const list = user;
    return list->entry[shot].image;
}

static size_t setting_of(void *user, size_t shot, db_fit_setting of) {
    const db_fit_shot_list *const list = user;
    return list->entry[shot].setting[of];
}

db_fit_shot_source db_fit_shot_list_source(db_fit_shot_list *list) {
    return (db_fit_shot_source){ .count = list->count,
                                 .user = list,
                                 .load = load_shot,
                                 .name = name_of,
                                 .identify = identify_shot,
                                 .configuration = &list->config,
                                 .image = image_of,
                                 .setting = setting_of };
}

/* Takes the parameters of a tied configuration into the common one, with their settings. Bounds in the tied one
 * belong to its shot. */
static db_status tie_parameters(db_context *context, const db_fit_settings *tied,
                                db_fit_config *common) {
    db_fit_settings made = common->settings; /* with other parameters */
    made.parameters = NULL;
    made.parameter_count = 0;
    db_status status = DB_OK;
    for (size_t i = 0; i < tied->parameter_count && status == DB_OK; i++) {
        const db_fit_parameter *const p = &tied->parameters[i];
        const size_t k = db_fit_parameter_index(&common->settings, db_fit_quantity_of(p));
        db_fit_parameter own =
            k < common->settings.parameter_count ? common->settings.parameters[k] : in_any_shot(p);
        own.follows = p->follows;
        own.earned = p->earned;
        own.shared = common->automatic ? p->shared : own.shared;
        own.stages = p->stages;
        status = db_fit_settings_add_parameter(context, &made, &own);
    }
    free(status == DB_OK ? common->settings.parameters : made.parameters);
    if (status == DB_OK) common->settings = made;
    return status;
}

static db_status tie_by(db_context *context, const db_fit_shot_list *list, size_t shot,
                        db_fit_config *own, db_fit_config *config) {
    db_measured_image image;
    db_experiment start;
    DB_TRY(db_fit_shot_list_config(context, list, shot, own));
    db_fit_settings_take_stages(&own->settings, &config->settings);
    DB_TRY(db_fit_config_read_image(context, own, &image, NULL, NULL));
    const db_status status = db_fit_config_start(context, own, &image, &start, NULL, NULL);
    db_measured_image_clear(&image);
    DB_TRY(status);
    db_experiment_clear(&start);
    return tie_parameters(context, &own->settings, config);
}

static int is_of_crystal(db_parameter p) { return db_facts_of(p)->owner == DB_OWNER_CRYSTAL; }

static int is_scale(db_parameter p) { return p == DB_SCALE; }

void db_shot_list_share(const db_fit_shot_list *list, db_fit_settings *settings) {
    int (*const is_local)(db_parameter) = list->config.series   ? is_scale
                                          : list->lattice_count ? is_of_crystal
                                                                : NULL;
    for (size_t i = 0; i < settings->parameter_count && is_local; i++) {
        db_fit_parameter *const p = &settings->parameters[i];
        if (p->shared >= 0) continue;
        p->shared = p->group >= 0 || !is_local(p->parameter);
        if (p->shared && list->sets_anew) p->shared = DB_FIT_SHARED_BY_SETTING;
    }
}

db_status db_shot_list_tie(db_context *context, const db_fit_shot_list *list,
                           db_fit_config *config) {
    if (!*config->symmetry && !config->automatic) return DB_OK;
    db_fit_config own = { .image_file = "" };
    const db_notice_function notice = context->notice;
    db_status status = DB_ERROR_INPUT;
    context->notice = NULL; /* the refinement reads these shots again, with notices */
    for (size_t s = 0; s < list->count && status != DB_OK; s++)
        status = tie_by(context, list, s, &own, config);
    if (config->automatic) db_shot_list_share(list, &config->settings);
    context->notice = notice;
    db_fit_config_clear(&own);
    return status;
}

void db_shots_model_name(const char *whole, size_t shot, size_t count,
                         char name[DB_FIT_PATH_SIZE]) {
    const char *const last = db_file_name(whole);
    const char *const dot = strrchr(last, '.');
    const size_t length = dot && dot != last ? (size_t)(dot - last) : strlen(last);
    int digits = 4;
    for (size_t n = count; n >= 10000; n /= 10) digits++;
    snprintf(name, DB_FIT_PATH_SIZE, "%0*zu_%.*s", digits, shot + 1,
             (int)(length < 200 ? length : 200), last);
    /* These characters have a meaning in lists of shots. */
    for (char *c = name; (c = strpbrk(c, " \t\r\n#=[]{}'\"")) != NULL;) *c = '_';
}
