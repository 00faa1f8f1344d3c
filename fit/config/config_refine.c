/* Reads refined parameters, their bounds, priors and ties, and the stages that refine them. */
#include "fit/config/config_refine.h"

#include "base/context_internal.h"
#include "fit/config/quantity.h"

#include <dualbragg/expert/fit_quantities.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

const db_refine_entry db_refine_default = { NAN, NAN, NAN, NAN, { -1 }, { NAN, NAN }, -1, 0 };
const db_fit_stage db_stage_default = {
    .blur = 1, .target = -1, .tolerance = 1e-4, .step = 0.05, .max_evaluations = 100
};

size_t db_fit_parameter_index(const db_fit_settings *settings, db_fit_quantity quantity) {
    size_t i = 0;
    while (i < settings->parameter_count &&
           db_fit_quantity_of(&settings->parameters[i]).number != quantity.number)
        i++;
    return i;
}

db_fit_parameter *db_fit_settings_find(const db_fit_settings *settings, db_parameter parameter) {
    const size_t i = db_fit_parameter_index(settings, db_fit_quantity_make(parameter, -1));
    return i < settings->parameter_count ? &settings->parameters[i] : NULL;
}

db_status db_fit_settings_need(db_context *context, db_parameter parameter,
                               db_fit_settings *settings, db_fit_parameter **found) {
    const db_fit_parameter p = db_fit_parameter_free(parameter);
    *found = db_fit_settings_find(settings, parameter);
    if (*found) return DB_OK;
    DB_TRY(db_fit_settings_add_parameter(context, settings, &p));
    *found = &settings->parameters[settings->parameter_count - 1];
    return DB_OK;
}

db_status db_fit_refine_scale(db_context *context, int earned, db_fit_settings *settings) {
    db_fit_parameter *scale;
    if (db_fit_settings_find(settings, DB_SCALE)) return DB_OK;
    DB_TRY(db_fit_settings_need(context, DB_SCALE, settings, &scale));
    scale->earned = earned;
    return DB_OK;
}

void db_fit_settings_take_stages(db_fit_settings *settings, const db_fit_settings *from) {
    settings->stage_count = from->stage_count;
    memcpy(settings->stages, from->stages, sizeof settings->stages);
    for (size_t i = 0; i < settings->parameter_count; i++) {
        db_fit_parameter *const p = &settings->parameters[i];
        const size_t k = db_fit_parameter_index(from, db_fit_quantity_of(p));
        p->stages = k < from->parameter_count ? from->parameters[k].stages : 0;
    }
}

db_stage_entry db_stage_entry_of(const db_fit_settings *settings, size_t s) {
    db_stage_entry entry = { .stage = settings->stages[s] };
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        entry.refine[db_fit_quantity_of(p).number] = (unsigned char)db_fit_parameter_in_stage(p, s);
    }
    return entry;
}

static db_status check_bounds(const db_config_reader *reader, const db_yaml_node *node,
                              const char *name, const db_refine_entry *entry) {
    const char *const section = db_refine_section.name;
    const int bounded = !isnan(entry->lower) || !isnan(entry->upper);
    if (!isnan(entry->range) && bounded)
        return db_config_fail(reader, node, section, name,
                              "expected either range or min and max, found both");
    if (entry->lower >= entry->upper)
        return db_config_fail(reader, node, section, name,
                              "bounds cross: min %.10g is not below max %.10g", entry->lower,
                              entry->upper);
    if (!isnan(entry->prior[0]) && !(entry->prior[1] > 0))
        return db_config_fail(reader, node, section, name,
                              "prior: expected [centre, sigma] with sigma greater than 0, found "
                              "sigma %.10g",
                              entry->prior[1]);
    if (entry->follows.number >= 0 &&
        (bounded || !isnan(entry->range) || !isnan(entry->scale) || !isnan(entry->prior[0])))
        return db_config_fail(
            reader, node, section, name,
            "follows another parameter: expected no range, min, max, scale or prior");
    return DB_OK;
}

static db_status read_entry(const db_config_reader *reader, const char *name,
                            const db_yaml_node *node, db_refine_entry *entry) {
    char section[DB_FIT_NAME_SIZE + 16];
    *entry = db_refine_default;
    snprintf(section, sizeof section, "%s.%.64s", db_refine_section.name, name);
    const int nothing = node->kind == DB_YAML_SCALAR && *node->text == '\0'; /* "cell_a:" alone */
    if (!nothing) DB_TRY(db_config_take_section(reader, section, &db_refine_section, node, entry));
    return check_bounds(reader, node, name, entry);
}

static db_status add_parameter(db_context *context, db_fit_quantity quantity,
                               const db_refine_entry *entry, int line, db_fit_config *config) {
    db_parameter parameter;
    int group;
    db_fit_quantity_at(quantity, &parameter, &group);
    db_fit_parameter p = db_fit_parameter_free(parameter);
    p.group = group;
    p.shared = entry->shared;
    p.earned = entry->earned;
    if (!isnan(entry->lower)) p.lower = entry->lower;
    if (!isnan(entry->upper)) p.upper = entry->upper;
    p.scale = entry->scale;
    p.follows = entry->follows;
    if (!isnan(entry->prior[0])) memcpy(p.prior, entry->prior, sizeof p.prior);
    p.range = entry->range;
    p.line = line;
    return db_fit_settings_add_parameter(context, &config->settings, &p);
}

static db_status take_parameter(const db_config_reader *reader, const char *name,
                                const db_yaml_node *node, int every, db_fit_config *config) {
    db_refine_entry entry;
    db_fit_quantity quantity = { 0 };
    DB_TRY(db_config_quantity(reader, db_refine_section.name, name, node, name, &quantity));
    if ((quantity.number >= DB_CONFIG_EVERY_GROUP) != every) return DB_OK;
    DB_TRY(read_entry(reader, name, node, &entry));
    const int shown = node->argument ? 0 : node->key_line;
    if (!every) return add_parameter(reader->context, quantity, &entry, shown, config);
    if (entry.follows.number >= 0)
        return db_config_fail(reader, node, db_refine_section.name, name,
                              "cannot follow: this key names several quantities");
    const int kind = quantity.number - DB_CONFIG_EVERY_GROUP;
    for (int g = 0; g < (int)reader->groups->count; g++) {
        const db_fit_quantity one =
            db_fit_quantity_make((db_parameter)((int)DB_PANEL_SHIFT_FAST + kind), g);
        if (db_fit_parameter_index(&config->settings, one) == config->settings.parameter_count)
            DB_TRY(add_parameter(reader->context, one, &entry, shown, config));
    }
    return DB_OK;
}

static const char *unit_of(db_fit_quantity quantity) {
    return db_parameter_describe(db_quantity_parameter(quantity))->unit;
}

/* Ties are between parameters of the table, or between motions of the same unit. */
static db_status check_tie(const db_config_reader *reader, const db_yaml_node *node,
                           const char *name, const db_fit_settings *settings,
                           const db_fit_parameter *p) {
    const char *const section = db_refine_section.name;
    char leader[DB_FIT_NAME_SIZE];
    const db_fit_quantity own = db_fit_quantity_of(p);
    const size_t l = db_fit_parameter_index(settings, p->follows);
    db_fit_quantity_name(&settings->panel_groups, p->follows, leader);
    if (l == settings->parameter_count)
        return db_config_fail(reader, node, section, name,
                              "follows %s, which is not refined; add '%s:' to refine", leader,
                              leader);
    if (own.number == p->follows.number || db_fit_parameter_is_tied(&settings->parameters[l]))
        return db_config_fail(reader, node, section, name, "follows %s, which %s", leader,
                              own.number == p->follows.number ? "is itself"
                                                              : "follows another parameter");
    if ((p->group < 0) != (settings->parameters[l].group < 0) ||
        (p->group >= 0 && strcmp(unit_of(own), unit_of(p->follows)) != 0))
        return db_config_fail(reader, node, section, name,
                              "cannot follow %s: shifts of groups follow shifts of groups, turns "
                              "follow turns, parameters other parameters",
                              leader);
    return DB_OK;
}

static db_status check_ties(const db_config_reader *reader, const db_yaml_node *map,
                            const db_fit_settings *settings) {
    size_t own = 0;
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        char name[DB_FIT_NAME_SIZE];
        own += !db_fit_parameter_is_tied(p);
        if (!db_fit_parameter_is_tied(p)) continue;
        db_fit_quantity_name(&settings->panel_groups, db_fit_quantity_of(p), name);
        DB_TRY(check_tie(reader, db_yaml_find(map, name), name, settings, p));
    }
    if (own > 0) return DB_OK;
    return db_config_fail(reader, map, db_refine_section.name, "",
                          "nothing to refine: every parameter follows");
}

db_status db_config_take_refine(const db_config_reader *reader, const db_yaml_node *map,
                                db_fit_config *config) {
    if (map->kind != DB_YAML_MAP || map->count == 0)
        return db_config_fail_expected(reader, map, db_refine_section.name, "",
                                       "parameters, each as 'name: {range: 0.5}' or 'name:' alone");
    /* settings of every group apply to groups without their own */
    for (int every = 0; every < 2; every++)
        for (size_t i = 0; i < map->count; i++)
            DB_TRY(take_parameter(reader, map->keys[i], map->items[i], every, config));
    return check_ties(reader, map, &config->settings);
}

/* Checks the parameters of a stage: they are in refine; tied ones go with the parameters that they follow. */
static db_status check_stage_parameters(const db_config_reader *reader, const db_yaml_node *node,
                                        const char *section, db_fit_settings *settings,
                                        size_t stage, const unsigned char *refine) {
    for (int p = 0; p < DB_FIT_MOST_QUANTITIES; p++) {
        char name[DB_FIT_NAME_SIZE], leader[DB_FIT_NAME_SIZE];
        const int named = refine[p] == 1;
        const db_fit_quantity q = { p };
        const size_t i = db_fit_parameter_index(settings, q);
        if (named) db_fit_quantity_name(&settings->panel_groups, q, name);
        const int refined = i < settings->parameter_count;
        const db_fit_quantity follows =
            refined ? settings->parameters[i].follows : (db_fit_quantity){ -1 };
        if (named && !refined)
            return db_config_fail(reader, node, section, "refine",
                                  "%s is not among the parameters of refine", name);
        if (named && follows.number >= 0 && !refine[follows.number])
            return db_config_fail(reader, node, section, "refine",
                                  "%s follows %s, which this stage does not refine", name,
                                  db_fit_quantity_name(&settings->panel_groups, follows, leader));
        if (refined) db_fit_parameter_set_stage(&settings->parameters[i], stage, refine[p] != 0);
    }
    return DB_OK;
}

static db_status take_stage(const db_config_reader *reader, const db_yaml_node *node, size_t number,
                            db_fit_config *config) {
    db_fit_settings *const settings = &config->settings;
    db_stage_entry entry = { .stage = db_stage_default };
    memset(entry.refine, 2, sizeof entry.refine);
    snprintf(entry.stage.name, sizeof entry.stage.name, "no. %zu", number);
    char section[32];
    snprintf(section, sizeof section, "%s.%zu", db_stage_section.name, number);
    DB_TRY(db_config_take_section(reader, section, &db_stage_section, node, &entry));
    DB_TRY(check_stage_parameters(reader, db_yaml_find(node, "refine"), section, settings,
                                  settings->stage_count, entry.refine));
    settings->stages[settings->stage_count++] = entry.stage;
    return DB_OK;
}

db_status db_config_take_stages(const db_config_reader *reader, const db_yaml_node *list,
                                db_fit_config *config) {
    if (list->kind != DB_YAML_LIST || list->count == 0 || list->count > DB_FIT_MAX_STAGES)
        return db_config_fail_expected(reader, list, db_stage_section.name, "",
                                       "a list of 1 to %d stages", DB_FIT_MAX_STAGES);
    for (size_t i = 0; i < list->count; i++)
        DB_TRY(take_stage(reader, list->items[i], i + 1, config));
    return DB_OK;
}
