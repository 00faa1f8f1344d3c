#include <dualbragg/fit.h>

#include "base/context_internal.h"
#include "fit/config/config_move.h"
#include "fit/config/config_print.h"
#include "fit/report/refined_config.h"
#include "base/text_stream.h"
#include "fit/report/value_with_error.h"
#include "fit/verdict/verdict_tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void print_heading(const db_fit_config *config, const db_fit_result *result, FILE *stream) {
    fprintf(stream, "# dualbragg %s: model refined from ", db_version());
    db_yaml_print_text(stream, config->config_file);
    fprintf(stream, "\n# %s%s\n#\n", db_verdict_heading(result), result->reason);
    for (size_t i = 0; i < result->parameter_count; i++) {
        const db_parameter_info *const info = db_parameter_describe(result->parameter[i]);
        char start[DB_VALUE_TEXT_SIZE], refined[DB_VALUE_TEXT_SIZE];
        fprintf(stream, "# %-16s %14s -> %-18s %s\n", result->name[i],
                db_value_with_error(start, result->start[i], NAN),
                db_value_with_error(refined, result->refined[i], result->error[i]), info->unit);
    }
    fputc('\n', stream);
}

db_status db_fit_write_yaml(db_context *context, const char *path, const db_fit_config *config,
                            const db_fit_result *result) {
    db_fit_config *const refined = calloc(1, sizeof *refined);
    if (!refined) return db_fail_memory(context, path);
    db_text_stream text;
    db_status status = db_fit_refined_config(context, config, &result->experiment, refined);
    if (status == DB_OK) status = db_fit_config_move(context, path, refined);
    if (status == DB_OK) db_fit_settings_count_from(result->refined, &refined->settings);
    if (status == DB_OK) status = db_text_stream_open(context, &text);
    if (status == DB_OK) {
        print_heading(config, result, text.stream);
        db_fit_config_print(refined, DB_CONFIG_PLAIN, text.stream);
        status = db_text_stream_write(context, &text, DB_OK, path);
    }
    db_fit_config_clear(refined);
    free(refined);
    return status;
}
