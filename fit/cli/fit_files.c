#include "fit/cli/fit_files.h"

#include "fit/config/config_keys.h"

#include <stdio.h>

void db_fit_files_add_inputs(const db_fit_config *config, db_named_files *files) {
    db_named_files_add(files, DB_ROLE_INPUT, "the configuration", config->config_file);
    for (int s = 0; s < DB_SECTION_COUNT; s++) {
        const db_config_section *const section = &db_config_sections[s];
        for (size_t k = 0; k < section->count; k++) {
            const db_config_key *const key = &section->keys[k];
            const char *const path = (const char *)config + key->offset;
            if (key->type != DB_KEY_FILE || path == config->output_prefix) continue;
            char name[128];
            snprintf(name, sizeof name, "%s%s%s", section->name, *section->name ? "." : "",
                     key->name);
            db_named_files_add(files, DB_ROLE_INPUT, name, path);
        }
    }
}
