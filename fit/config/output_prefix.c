/* Names of output files from that of the configuration. */
#include "fit/config/output_prefix.h"

#include "base/context_internal.h"
#include "base/path.h"

#include <stdio.h>
#include <string.h>

db_status db_fit_complete_output_prefix(db_context *context, db_fit_config *config) {
    const size_t used = strlen(config->output_prefix), room = sizeof config->output_prefix - used;
    if (used && config->output_prefix[used - 1] != '/') return DB_OK;
    const char *const name = db_file_name(config->config_file);
    const char *const dot = strrchr(name, '.');
    const size_t length = dot && dot != name ? (size_t)(dot - name) : strlen(name);
    if (snprintf(config->output_prefix + used, room, "%.*s_refined", (int)length, name) < (int)room)
        return DB_OK;
    return db_fail(context, DB_ERROR_USAGE, "%s: the file name is too long", config->config_file);
}
