#include "fit/config/config_panel_groups.h"

#include "base/context_internal.h"
#include "fit/config/quantity.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char section[] = "panel_groups";

static db_status add_group(const db_config_reader *reader, const db_yaml_node *node,
                           const char *name, db_fit_panel_groups *groups, short *group) {
    if (groups->count == DB_FIT_MOST_GROUPS)
        return db_config_fail(reader, node, section, "", "expected at most %d groups",
                              DB_FIT_MOST_GROUPS);
    *group = (short)groups->count;
    return db_fit_panel_groups_add(reader->context, groups, name);
}

/* Names stand before a colon, in comments, and among parameters. */
static db_status check_name(const db_config_reader *reader, const db_yaml_node *node,
                            const char *name) {
    int good = isalpha((unsigned char)*name) && strlen(name) < DB_FIT_GROUP_NAME_SIZE &&
               strcmp(name, section) != 0;
    for (const char *c = name; *c; c++)
        good &= isalnum((unsigned char)*c) || strchr("_-.", *c) != NULL;
    if (good) return DB_OK;
    return db_config_fail(reader, node, section, name,
                          "expected a name of a letter and at most %d further letters, digits, _, "
                          "- and ., and not '%s'",
                          DB_FIT_GROUP_NAME_SIZE - 2, section);
}

/* "3" or "0-15". */
static db_status take_range(const db_config_reader *reader, const db_yaml_node *node, short group,
                            db_fit_panel_groups *groups) {
    const char *const name = groups->name[group];
    const int scalar = node->kind == DB_YAML_SCALAR && isdigit((unsigned char)*node->text);
    char *end = node->text;
    long first = scalar ? strtol(node->text, &end, 10) : 0, last = first;
    if (scalar && *end == '-' && isdigit((unsigned char)end[1])) last = strtol(end + 1, &end, 10);
    if (!scalar || *end || first > last || last >= DB_FIT_MOST_PANELS)
        return db_config_fail(reader, node, section, name,
                              "expected the number of a panel from 0 to %d, or a range such as "
                              "0-15, found '%.40s'",
                              DB_FIT_MOST_PANELS - 1,
                              node->kind == DB_YAML_SCALAR ? node->text : "a list or map");
    for (long p = first; p <= last; p++) {
        const int other = db_fit_panel_groups_of(groups, (size_t)p);
        if (other >= 0)
            return db_config_fail(reader, node, section, name, "panel %ld is in group %s already",
                                  p, groups->name[other]);
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
        return db_config_fail(reader, node, section, name,
                              "expected numbers of panels, found an empty list");
    for (size_t i = 0; i < node->count; i++)
        DB_TRY(take_range(reader, node->items[i], group, groups));
    return DB_OK;
}

/* Panels that no group of the level holds are groups by themselves; so are all where level < 0. */
static db_status take_content(const db_config_reader *reader, const db_yaml_node *node, int level,
                              const db_expt_content *content, db_fit_panel_groups *groups) {
    short seen[DB_FIT_MOST_PANELS]; /* number of the list's group, -1: a panel by itself */
    char name[DB_FIT_GROUP_NAME_SIZE];
    if (content->panel_count > DB_FIT_MOST_PANELS)
        return db_config_fail(reader, node, section, "",
                              "the list has %zu panels, expected at most "
                              "%d",
                              content->panel_count, DB_FIT_MOST_PANELS);
    for (size_t p = 0; p < content->panel_count; p++) {
        const db_expt_panel *const panel = &content->panel[p];
        const int held = level >= 0 && panel->level_count > level;
        size_t mate = 0;
        seen[p] = held ? (short)panel->group[level] : -1;
        while (mate < p && (!held || seen[mate] != seen[p])) mate++;
        short group = (short)db_fit_panel_groups_of(groups, mate);
        snprintf(name, sizeof name, held ? "group_%d" : "panel_%d", held ? (int)seen[p] : (int)p);
        if (mate == p) DB_TRY(add_group(reader, node, name, groups, &group));
        DB_TRY(db_fit_panel_groups_put(reader->context, groups, p, group));
    }
    return DB_OK;
}

/* Groups of the model's experiment list. */
static db_status take_listed(const db_config_reader *reader, const db_yaml_node *node, int level,
                             db_fit_config *config) {
    const char *const image = *config->image_file ? config->image_file : NULL;
    const db_expt_selection selection = { config->setup.expt_number, image };
    db_experiment experiment;
    db_expt_content content;
    if (!*config->expt_file)
        return db_config_fail(reader, node, section, "",
                              "'%s' needs model.expt; other models have one panel", node->text);
    DB_TRY(db_experiment_init(reader->context, &experiment));
    db_status status =
        db_read_expt(reader->context, config->expt_file, &selection, &experiment, &content);
    if (status == DB_OK)
        status = take_content(reader, node, level, &content, &config->settings.panel_groups);
    db_expt_content_clear(&content);
    db_experiment_clear(&experiment);
    return status;
}

db_status db_config_take_panel_groups(const db_config_reader *reader, const db_yaml_node *node,
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
        return db_config_fail(reader, node, section, "",
                              "expected groups, each as 'name: [0-15]', or panels, or level 0 to "
                              "level %d of the experiment list",
                              DB_EXPT_MOST_LEVELS - 1);
    for (size_t i = 0; i < node->count; i++)
        DB_TRY(take_group(reader, node->keys[i], node->items[i], &config->settings.panel_groups));
    return DB_OK;
}
