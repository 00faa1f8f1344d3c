#include "fit/config/config_motion.h"

#include "base/context_internal.h"
#include "base/nearest_name.h"
#include "fit/config/quantity.h"

#include <ctype.h>
#include <string.h>

static const char every_group[] = "panel_groups";

/* Others end with numbers, such as "F:1:2:3". */
int db_config_names_motion(const char *name) {
    const char *const colon = strrchr(name, ':');
    return colon && isalpha((unsigned char)colon[1]);
}

/* "shift_fast" of the parameter "panel_shift_fast". */
static const char *motion_name(int kind) {
    return db_parameter_describe((db_parameter)((int)DB_PANEL_SHIFT_FAST + kind))->name +
           strlen("panel_");
}

static db_status find_motion(const db_config_reader *reader, const char *section, const char *key,
                             const db_yaml_node *node, const char *name, int *kind) {
    const char *known[DB_FIT_GROUP_MOTIONS];
    for (*kind = 0; *kind < DB_FIT_GROUP_MOTIONS; (*kind)++) {
        known[*kind] = motion_name(*kind);
        if (strcmp(known[*kind], name) == 0) return DB_OK;
    }
    return db_config_fail(reader, node, section, key, "groups have no motion '%s'%s", name,
                          db_hint_at_names(name, known, DB_FIT_GROUP_MOTIONS,
                                           "dualbragg grad --list-params lists them as panel_*")
                              .text);
}

static db_status find_group(const db_config_reader *reader, const char *section, const char *key,
                            const db_yaml_node *node, const char *name, int *group) {
    const db_fit_panel_groups *const groups = reader->groups;
    const char *known[DB_FIT_MOST_GROUPS + 1];
    for (size_t g = 0; g < groups->count; g++) {
        known[g] = groups->name[g];
        *group = (int)g;
        if (strcmp(known[g], name) == 0) return DB_OK;
    }
    known[groups->count] = every_group;
    *group = -1;
    if (strcmp(every_group, name) == 0) return DB_OK;
    return db_config_fail(reader, node, section, key, "there is no group '%s'%s", name,
                          db_hint_at_names(name, known, groups->count + 1, NULL).text);
}

db_status db_config_motion(const db_config_reader *reader, const char *section, const char *key,
                           const db_yaml_node *node, const char *name, int *quantity) {
    const char *const colon = strrchr(name, ':');
    char group_name[DB_FIT_NAME_SIZE];
    int kind, group;
    if (reader->groups->count == 0)
        return db_config_fail(reader, node, section, key,
                              "'%s' is the motion of a group of panels; the section panel_groups "
                              "with groups is missing",
                              name);
    const int length =
        (int)(colon - name) < DB_FIT_NAME_SIZE - 1 ? (int)(colon - name) : DB_FIT_NAME_SIZE - 1;
    memcpy(group_name, name, (size_t)length);
    group_name[length] = '\0';
    DB_TRY(find_group(reader, section, key, node, group_name, &group));
    DB_TRY(find_motion(reader, section, key, node, colon + 1, &kind));
    *quantity = group < 0 ? DB_CONFIG_EVERY_GROUP + kind
                          : db_fit_quantity((db_parameter)((int)DB_PANEL_SHIFT_FAST + kind), group);
    return DB_OK;
}
