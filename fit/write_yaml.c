#define _XOPEN_SOURCE 700
#include <dualbragg/fit.h>

#include "core/context_internal.h"
#include "fit/config_print.h"
#include "fit/refined_config.h"
#include "fit/text_stream.h"
#include "fit/value_with_error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t folder_length(const char *path) {
    const char *const slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* A file name as the written file must give it: names in a configuration are relative to its
 * folder. */
static db_status rename_from(db_context *context, const char *yaml_path,
                             char name[DB_FIT_PATH_SIZE]) {
    if (!*name || *name == '/') return DB_OK;
    const size_t folder = folder_length(yaml_path), own = folder_length(name);
    if (folder == own && memcmp(yaml_path, name, folder) == 0) {
        memmove(name, name + own, strlen(name + own) + 1);
        return DB_OK;
    }
    char *const whole = realpath(name, NULL);
    const int fits = whole && strlen(whole) < DB_FIT_PATH_SIZE;
    if (fits) memcpy(name, whole, strlen(whole) + 1);
    free(whole);
    if (!fits) return db_fail(context, DB_ERROR_FILE, "%s: cannot be found any more", name);
    return DB_OK;
}

/* "PREFIX.expt" for "PREFIX.yaml". */
static db_status name_list(db_context *context, const char *yaml_path,
                           char name[DB_FIT_PATH_SIZE]) {
    const size_t length = strlen(yaml_path), folder = folder_length(yaml_path);
    const size_t stem =
        length > 5 && strcmp(yaml_path + length - 5, ".yaml") == 0 ? length - 5 : length;
    const int size =
        snprintf(name, DB_FIT_PATH_SIZE, "%.*s.expt", (int)(stem - folder), yaml_path + folder);
    return size < DB_FIT_PATH_SIZE
               ? DB_OK
               : db_fail(context, DB_ERROR_USAGE, "%s: the name is too long", yaml_path);
}

static db_status rename_all(db_context *context, const char *path, db_fit_config *refined) {
    char *const names[] = { refined->image_file,     refined->hkl_file,
                            refined->spectrum_file,  refined->mask_file,
                            refined->hot_pixel_file, refined->spot_file,
                            refined->reflection_file };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        DB_TRY(rename_from(context, path, names[i]));
    return *refined->expt_file ? name_list(context, path, refined->expt_file) : DB_OK;
}

/* The written model has the panels where they were moved to: motions count from there. */
static void count_from_there(const db_fit_result *result, db_fit_settings *settings) {
    for (size_t i = 0; i < result->parameter_count; i++) {
        db_fit_parameter *const p = &settings->parameters[i];
        if (p->group < 0) continue;
        p->lower -= result->refined[i];
        p->upper -= result->refined[i];
        p->prior[0] -= result->refined[i];
    }
}

static void print_heading(const db_fit_config *config, const db_fit_result *result, FILE *stream) {
    fprintf(stream, "# dualbragg %s: model refined from ", db_version());
    db_yaml_print_text(stream, config->config_file);
    fprintf(stream, "\n# %s%s\n#\n",
            result->status == DB_OK ? "" : "NOT CONVERGED: ", result->reason);
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
    db_fit_config *const refined = malloc(sizeof *refined);
    if (!refined) return db_fail_memory(context, path);
    db_text_stream text;
    db_status status = db_fit_refined_config(context, config, &result->experiment, refined);
    if (status == DB_OK) status = rename_all(context, path, refined);
    if (status == DB_OK) count_from_there(result, &refined->settings);
    if (status == DB_OK) status = db_text_stream_open(context, &text);
    if (status == DB_OK) {
        print_heading(config, result, text.stream);
        db_fit_config_print(refined, DB_CONFIG_PLAIN, text.stream);
        status = db_text_stream_write(context, &text, DB_OK, path);
    }
    free(refined);
    return status;
}
