/* Files that a configuration names. */
#include "fit/config/input_files.h"

#include "base/context_internal.h"
#include "base/frame_name.h"
#include "fit/config/config_keys.h"

#include <stdio.h>
#include <string.h>

void db_fit_input_name(const char *key, const char *path, db_fit_input_function each, void *user) {
    char file[4096];
    if (!*path) return;
    each(user, key, db_frame_split(path, file, sizeof file) ? file : path);
}

typedef struct receiver {
    db_fit_input_function each;
    void *user;
} receiver;

static db_status take_curve_file(void *user, db_context *context, char name[DB_FIT_PATH_SIZE]) {
    const receiver *const to = user;
    (void)context;
    to->each(to->user, "intensity.sites", name);
    return DB_OK;
}

void db_fit_config_each_input(const db_fit_config *config, const db_fit_config *known,
                              db_fit_input_function each, void *user) {
    receiver to = { each, user };
    char sites[DB_FIT_PATH_SIZE];
    if (!known || strcmp(config->config_file, known->config_file) != 0)
        db_fit_input_name("the configuration", config->config_file, each, user);
    for (int s = 0; s < DB_SECTION_COUNT; s++) {
        const db_config_section *const section = &db_config_sections[s];
        for (size_t k = 0; k < section->count; k++) {
            const db_config_key *const key = &section->keys[k];
            const char *const path = db_config_field(key, config);
            char name[128];
            if (key->is->kind != DB_KEY_FILE || path == config->output_prefix ||
                (known && strcmp(path, db_config_field(key, known)) == 0))
                continue;
            snprintf(name, sizeof name, "%s%s%s", section->name, *section->name ? "." : "",
                     key->is->name);
            db_fit_input_name(name, path, each, user);
        }
    }
    if (known && strcmp(config->sites, known->sites) == 0) return;
    memcpy(sites, config->sites, sizeof sites);
    (void)db_fit_each_curve_file(NULL, sites, take_curve_file, &to);
}

_Static_assert((int)DB_SITE_CURVE_NAME == (int)DB_FIT_PATH_SIZE, "a curve is a file's name");

db_status db_fit_write_sites(db_context *context, const db_setup_sites *kinds,
                             char sites[DB_FIT_PATH_SIZE]) {
    size_t used = 0;
    for (int k = 0; k < kinds->count; k++) {
        used += (size_t)snprintf(sites + used, DB_FIT_PATH_SIZE - used, "%s%s=%s", k ? "," : "",
                                 kinds->kind[k].sites, kinds->kind[k].curve);
        if (used >= DB_FIT_PATH_SIZE)
            return db_fail(context, DB_ERROR_USAGE,
                           "sites: expected kinds and names of files of at most %d characters, "
                           "found more",
                           DB_FIT_PATH_SIZE - 1);
    }
    return DB_OK;
}

db_status db_fit_each_curve_file(db_context *context, char sites[DB_FIT_PATH_SIZE],
                                 db_status (*each)(void *user, db_context *context,
                                                   char name[DB_FIT_PATH_SIZE]),
                                 void *user) {
    db_setup_sites kinds;
    if (!*sites) return DB_OK;
    DB_TRY(db_setup_read_sites(context, sites, &kinds));
    for (int k = 0; k < kinds.count; k++)
        if (!db_setup_is_table(kinds.kind[k].curve))
            DB_TRY(each(user, context, kinds.kind[k].curve));
    return db_fit_write_sites(context, &kinds, sites);
}
