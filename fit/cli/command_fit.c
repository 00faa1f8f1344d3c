/* The command "dualbragg fit": reads the configuration and starts the run. */
#define _XOPEN_SOURCE 700
#include "base/context_internal.h"
#include "cli/complaint.h"
#include "cli/help.h"
#include "cli/shell_word.h"
#include "fit/config/quantity.h"
#include "fit/cli/fit_run.h"
#include "fit/config/config_print.h"
#include "fit/config/orientation.h"
#include "fit/config/config_move.h"
#include "fit/document.h"

#include <dualbragg/expert/fit_configurations.h>
#include <dualbragg/fit_shots.h>
#include <dualbragg/expert/file_kind.h>
#include <dualbragg/expert/fit_files.h>
#include <dualbragg/expert/instruction_set.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef db_fit_run_state fit_run;

/* Prints the configuration of --show-defaults: a typical choice of parameters, which can be used unchanged. */
static db_status show_defaults(const fit_run *run) {
    const struct {
        db_parameter parameter;
        double range;
        int follows;
    } typical[] = {
        { db_orientation_parameter(0), 0.5, -1 },
        { db_orientation_parameter(1), 0.5, -1 },
        { db_orientation_parameter(2), 0.5, -1 },
        { DB_CELL_A, 1, -1 },
        { DB_CELL_B, NAN, DB_CELL_A },
        { DB_CELL_C, 1, -1 },
        { DB_BEAM_FAST, 0.5, -1 },
        { DB_BEAM_SLOW, 0.5, -1 },
    };
    db_fit_config *const config = malloc(sizeof *config);
    if (!config) return db_complain("fit", DB_ERROR_MEMORY, "out of memory for the configuration");
    db_fit_config_init(config);
    db_fit_settings *const settings = &config->settings;
    db_status status = DB_OK;
    for (size_t i = 0; i < sizeof typical / sizeof typical[0] && status == DB_OK; i++) {
        db_fit_parameter p = db_fit_parameter_free(typical[i].parameter);
        p.follows.number = typical[i].follows;
        p.range = typical[i].range;
        status = db_fit_settings_add_parameter(run->context, settings, &p);
    }
    db_fit_default_stages(settings);
    db_text_stream text;
    if (status == DB_OK) status = db_text_stream_open(run->context, &text);
    if (status == DB_OK) {
        fputs("# dualbragg fit: every key with its default. Lines that begin with '# key:' are "
              "open; their value here is an "
              "example.\n",
              text.stream);
        db_fit_config_print(config, DB_CONFIG_EXPLAINED, text.stream);
        status = db_text_stream_finish(run->context, &text);
    }
    if (status == DB_OK) {
        fputs(text.bytes, stdout);
        db_text_stream_free(&text);
    }
    db_fit_config_clear(config);
    free(config);
    return status == DB_OK ? DB_OK : db_fit_run_complain(run, status);
}

/* Records argv as one line that a shell would read as the same arguments; a line that is too long
 * is cut. */
static void record_command(db_fit_config *config, int argc, char **argv) {
    FILE *const stream = fmemopen(config->command, sizeof config->command, "w");
    if (!stream) return;
    fputs("dualbragg", stream);
    for (int i = 0; i < argc; i++) db_print_shell_word(stream, argv[i]);
    fclose(stream);
    config->command[sizeof config->command - 1] = '\0';
}

static db_status copy_path(const char *flag, const char *given, char path[DB_FIT_PATH_SIZE]) {
    if (!given) return DB_OK;
    if (strlen(given) >= DB_FIT_PATH_SIZE)
        return db_complain("fit", DB_ERROR_USAGE, "%s: the name is longer than %d characters", flag,
                           DB_FIT_PATH_SIZE - 1);
    snprintf(path, DB_FIT_PATH_SIZE, "%s", given);
    return DB_OK;
}

static db_status read_precision(const char *given, db_precision *precision) {
    if (!given) return DB_OK;
    const int mixed = strcmp(given, "mixed") == 0;
    if (!mixed && strcmp(given, "double") != 0)
        return db_complain("fit", DB_ERROR_USAGE,
                           "--precision: expected double or mixed, found '%s'", given);
    *precision = mixed ? DB_PRECISION_MIXED : DB_PRECISION_DOUBLE;
    return DB_OK;
}

/* Reads the configuration, or makes that of an image, with the prefix of the outputs. */
static db_status read_configuration(fit_run *run) {
    const db_fit_options *const options = run->options;
    db_fit_config *const config = &run->given;
    db_status status = options->config
                           ? db_fit_config_read(run->context, options->config, options->overrides,
                                                options->override_count, config)
                           : db_fit_config_make(run->context, options->image, options->overrides,
                                                options->override_count, config);
    if (status != DB_OK) return db_fit_run_complain(run, status);
    status = copy_path("--output", options->output, config->output_prefix);
    if (status == DB_OK && db_fit_complete_output_prefix(run->context, config) != DB_OK)
        status = db_fit_run_complain(run, DB_ERROR_USAGE);
    return status;
}

static db_status read_inputs(fit_run *run, int argc, char **argv) {
    const db_fit_options *const options = run->options;
    db_fit_config *const config = &run->given;
    db_status status = read_configuration(run);
    if (status != DB_OK) return status;
    record_command(config, argc, argv);
    status = copy_path("--image", options->image, config->image_file);
    if (status == DB_OK) status = read_precision(options->precision, &config->settings.precision);
    if (status != DB_OK) return status;
    if (*config->shot_list && *config->image_file)
        return db_complain("fit", DB_ERROR_USAGE, "%s: expected an image or shots.list, found both",
                           config->config_file);
    if (*config->shot_list || *config->image_file) return DB_OK;
    return db_complain("fit", DB_ERROR_USAGE,
                       "%s: no image; expected 'image: FILE' or 'shots: {list: FILE}' there, or "
                       "--image FILE",
                       config->config_file);
}

static db_status run_fit(fit_run *run, int argc, char **argv) {
    db_status status = db_context_create(&run->context);
    if (status == DB_OK) status = db_context_set_threads(run->context, run->options->threads);
    if (status == DB_OK && run->options->isa)
        status = db_context_set_isa(run->context, run->options->isa);
    if (status == DB_OK && run->options->device)
        status = db_context_set_device(run->context, run->options->device);
    if (status != DB_OK) return db_fit_run_complain(run, status);
    if (run->options->show_defaults) return show_defaults(run);
    if (run->options->show_json) {
        db_show_json_fields(stdout);
        return DB_OK;
    }
    db_context_set_notices(run->context, db_notices_add, &run->notices);
    status = read_inputs(run, argc, argv);
    return status == DB_OK ? db_fit_run_all(run) : status;
}

static db_status run_one(const db_fit_options *options, int argc, char **argv) {
    fit_run *const all = calloc(1, sizeof *all);
    if (!all) return db_complain("fit", DB_ERROR_MEMORY, "out of memory");
    all->options = options;
    const db_status status = run_fit(all, argc, argv);
    db_fit_run_clear(all);
    free(all);
    return status;
}

/* Complains if the outputs of an image would have the prefix of an image before it. prefix[i]: receives that of image
 * i; owned by the caller. */
static db_status compare_prefixes(db_fit_options *options, fit_run *any, char **prefix) {
    for (size_t i = 0; i < options->image_count; i++) {
        options->image = options->images[i];
        DB_TRY(read_configuration(any));
        prefix[i] = strdup(any->given.output_prefix);
        if (!prefix[i]) return db_complain("fit", DB_ERROR_MEMORY, "out of memory");
        for (size_t k = 0; k < i; k++)
            if (strcmp(prefix[k], prefix[i]) == 0)
                return db_complain("fit", DB_ERROR_USAGE,
                                   "%s and %s: the output files of both would be %s.*; refine them "
                                   "one by one, each with its own --output",
                                   options->images[k], options->images[i], prefix[i]);
    }
    return DB_OK;
}

static db_status check_prefixes(db_fit_options *options) {
    fit_run *const any = calloc(1, sizeof *any);
    char **const prefix = calloc(options->image_count, sizeof *prefix);
    db_status status = any && prefix ? DB_OK : db_complain("fit", DB_ERROR_MEMORY, "out of memory");
    if (status == DB_OK) {
        any->options = options;
        status = db_context_create(&any->context);
        status = status == DB_OK ? compare_prefixes(options, any, prefix)
                                 : db_fit_run_complain(any, status);
        db_fit_run_clear(any);
    }
    for (size_t i = 0; i < options->image_count && prefix; i++) free(prefix[i]);
    free(prefix);
    free(any);
    return status;
}

/* Refines images without a configuration, one after the other; returns the first failure. */
static db_status run_images(db_fit_options *options, int argc, char **argv) {
    const char *const output = options->output;
    db_status first = DB_OK;
    if (options->image_count > 1 && output && output[strlen(output) - 1] != '/')
        return db_complain("fit", DB_ERROR_USAGE,
                           "--output: expected a folder (FOLDER/) for several images, found '%s'",
                           output);
    if (options->image_count > 1) DB_TRY(check_prefixes(options));
    for (size_t i = 0; i < options->image_count && first != DB_ERROR_CANCELLED; i++) {
        options->image = options->images[i];
        const db_status status = run_one(options, argc, argv);
        if (first == DB_OK || status == DB_ERROR_CANCELLED) first = status;
    }
    return first;
}

static int run_fit_command(const db_command *command, int argc, char **argv) {
    db_fit_options options;
    db_status status = db_fit_options_read(&options, argc, argv);
    if (status == DB_OK && options.help)
        db_print_help(stdout, command);
    else if (status == DB_OK)
        status =
            options.image_count ? run_images(&options, argc, argv) : run_one(&options, argc, argv);
    db_fit_options_clear(&options);
    return db_status_exit_code(status);
}

extern const char db_fit_help[]; /* fit/cli/help/fit.txt */
const db_command db_fit_command = { "fit", db_fit_help, &db_fit_flags, run_fit_command };
