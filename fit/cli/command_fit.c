/* The command "dualbragg fit" for one image: inputs, refinement, outputs. */
#define _XOPEN_SOURCE 700
#include "cli/complaint.h"
#include "cli/help.h"
#include "cli/output.h"
#include "cli/shell_word.h"
#include "fit/pixels/experiment_name.h"
#include "fit/cli/run_files.h"
#include "fit/cli/printout.h"
#include "fit/cli/fit_options.h"
#include "fit/cli/progress.h"
#include "fit/cli/many_shots.h"
#include "fit/config/config_print.h"
#include "fit/config/orientation.h"
#include "fit/config/output_prefix.h"
#include "fit/config/listed_experiment.h"
#include "fit/lists/shot_list.h"
#include "fit/shots_document.h"

#include <dualbragg/fit_shots.h>
#include <dualbragg/expert/file_kind.h>
#include <dualbragg/expert/fit_files.h>
#include <dualbragg/expert/instruction_set.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The state of a run; run_clear frees it, whatever has been reached. */
typedef struct fit_run {
    db_fit_options options;
    db_context *context;
    db_fit_config config;
    db_measured_image image;
    db_fit_spots spots;
    db_experiment start;
    db_fit_result *result;
    db_fit_log log;
    int log_open;
    db_fit_progress_state progress;
    db_run_lock lock;
} fit_run;

static db_status complain(const fit_run *run, db_status status) {
    return db_complain_context("fit", status, run->context);
}

/* The configuration that --show-defaults prints: a typical choice of parameters, so that it can be
 * used as it is. */
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
    db_fit_settings_default_stages(settings);
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
    return status == DB_OK ? DB_OK : complain(run, status);
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

typedef struct output_file {
    const char *ending; /* after PREFIX */
    const char *what;
} output_file;
enum { LONGEST_ENDING = 16 };
enum {
    OUT_YAML,
    OUT_LIST,
    OUT_GEOM,
    OUT_XPARM,
    OUT_MATRIX,
    OUT_JSON,
    OUT_PNG,
    OUT_HTML,
    OUT_AMPLITUDES,
    OUT_INTENSITIES,
    OUT_REFLECTIONS,
    OUT_SPOTS,
    OUT_BACKGROUND,
    OUT_LOG,
    OUTPUT_COUNT
};
static const output_file outputs[OUTPUT_COUNT] = {
    [OUT_YAML] = { ".yaml", "refined model, a configuration again" },
    [OUT_LIST] = { ".expt", "experiment list for DIALS" },
    [OUT_GEOM] = { ".geom", "geometry for CrystFEL" },
    [OUT_XPARM] = { "_XPARM.XDS", "parameters for XDS" },
    [OUT_MATRIX] = { ".mat", "MOSFLM orientation matrix" },
    [OUT_JSON] = { ".json", "everything, for programs" },
    [OUT_PNG] = { ".png", "measured and refined image" },
    [OUT_HTML] = { ".html", "report with pictures" },
    [OUT_AMPLITUDES] = { ".hkl", "refined amplitudes" },
    [OUT_INTENSITIES] = { ".hkl", "intensities of reflections" },
    [OUT_REFLECTIONS] = { ".refl", "the same for DIALS" },
    [OUT_SPOTS] = { "_model.bin", "the model's spots on the whole image, 32-bit floats" },
    [OUT_BACKGROUND] = { "_background.bin", "the background beneath them" },
    [OUT_LOG] = { ".log", "what was printed" },
};

/* Did the experiment come in a file of that format? */
static int came_as(const fit_run *run, const char *label) {
    db_file_kind kind;
    return *run->config.expt_file &&
           db_recognize_file(run->context, run->config.expt_file, &kind) == DB_OK &&
           strcmp(kind.label, label) == 0;
}

static int output_wanted(const fit_run *run, int output) {
    switch (output) {
    case OUT_GEOM: return came_as(run, ".geom");
    case OUT_XPARM: return came_as(run, "XPARM.XDS");
    case OUT_HTML: return !run->options.no_report;
    case OUT_PNG: return db_output_has_png();
    case OUT_AMPLITUDES: return !isnan(run->config.settings.amplitude_sigma);
    case OUT_INTENSITIES:
    case OUT_REFLECTIONS: return run->config.settings.intensity == DB_FIT_FREE;
    case OUT_SPOTS:
    case OUT_BACKGROUND: return run->options.model_image;
    default: return 1;
    }
}

static void output_path(const fit_run *run, int output,
                        char path[DB_FIT_PATH_SIZE + LONGEST_ENDING]) {
    snprintf(path, DB_FIT_PATH_SIZE + LONGEST_ENDING, "%s%s", run->config.output_prefix,
             outputs[output].ending);
}

/* Checked before hours of work: results can be written, and replace no input. */
static db_status check_outputs(const fit_run *run) {
    char path[DB_FIT_PATH_SIZE + LONGEST_ENDING];
    db_named_files files = { 0 };
    db_fit_files_add_inputs(&run->config, &files);
    for (int o = 0; o < OUTPUT_COUNT; o++) {
        output_path(run, o, path);
        if (output_wanted(run, o)) db_named_files_add(&files, DB_ROLE_OUTPUT, "output", path);
    }
    db_status status = db_named_files_check("fit", &files);
    for (int o = 0; o < OUTPUT_COUNT && status == DB_OK; o++) {
        output_path(run, o, path);
        if (output_wanted(run, o)) status = db_output_check("fit", "output", path);
    }
    return status;
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

static db_status read_inputs(fit_run *run, int argc, char **argv) {
    const db_fit_options *const options = &run->options;
    db_fit_config *const config = &run->config;
    db_status status = options->config
                           ? db_fit_config_read(run->context, options->config, options->overrides,
                                                options->override_count, config)
                           : db_fit_config_make(run->context, options->image, options->overrides,
                                                options->override_count, config);
    if (status != DB_OK) return complain(run, status);
    record_command(config, argc, argv);
    status = copy_path("--image", options->image, config->image_file);
    if (status == DB_OK) status = copy_path("--output", options->output, config->output_prefix);
    if (status == DB_OK && db_fit_complete_output_prefix(run->context, config) != DB_OK)
        status = complain(run, DB_ERROR_USAGE);
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

/* Prints a notice without disturbing the progress bar. */
static void say_notice(void *user, const char *line) {
    fit_run *const run = user;
    db_progress_bar_clear(&run->progress.bar);
    db_fit_say(&run->log, "%s\n", line);
}

/* The image with its masks, and the list of reflections to use. */
static db_status read_data(fit_run *run) {
    db_fit_config *const config = &run->config;
    db_fit_progress_work(&run->progress, "reading the image", 0);
    db_status status = db_fit_config_read_image(run->context, config, &run->image, say_notice, run);
    if (status == DB_OK) status = db_fit_config_read_spots(run->context, config, &run->spots);
    if (run->spots.count) config->settings.spots = &run->spots;
    db_progress_bar_clear(&run->progress.bar);
    return status == DB_OK ? DB_OK : complain(run, status);
}

/* Says why --device auto means the processor. */
static void say_device_note(fit_run *run) {
    const char *const note = db_context_device_note(run->context);
    if (*note) db_fit_say(&run->log, "device: cpu, because %s\n", note);
}

static void say_head(fit_run *run) {
    char threads[32] = "all threads";
    if (run->options.threads)
        snprintf(threads, sizeof threads, "%d thread%s", run->options.threads,
                 run->options.threads == 1 ? "" : "s");
    const int on_device = strcmp(db_context_device(run->context), "cpu") != 0;
    db_fit_say(&run->log, "dualbragg %s fit (%s precision, %s, %s)\n%s\n", db_version(),
               run->config.settings.precision == DB_PRECISION_MIXED ? "mixed" : "double",
               on_device ? db_context_device(run->context) : db_context_isa(run->context),
               on_device ? db_context_device_model(run->context) : threads, run->config.command);
    say_device_note(run);
}

static db_status refine(fit_run *run) {
    db_fit_progress_state *const progress = &run->progress;
    db_fit_interrupt_install();
    db_fit_progress_work(progress,
                         run->config.find_orientation
                             ? "looking for the orientation (less if it is found early)"
                             : "reading the starting model",
                         1);
    db_status status =
        db_fit_config_start(run->context, &run->config, &run->image, &run->start, say_notice, run);
    db_progress_bar_clear(&progress->bar);
    if (status != DB_OK) return complain(run, status);
    db_fit_say_start(&run->log, &run->config, &run->image, &run->start);
    db_fit_progress_stages(progress, &run->config.settings);
    status = db_fit_run(run->context, &run->start, &run->image, &run->config.settings,
                        db_fit_progress_entry, progress, &run->result);
    db_fit_progress_finish(progress);
    return run->result ? DB_OK : complain(run, status);
}

static db_status write_list(const fit_run *run, const char *path) {
    char *const whole = realpath(run->config.image_file, NULL);
    db_expt_image image = { .path = whole ? whole : run->config.image_file,
                            .pedestal = run->image.pedestal,
                            .gain = run->config.settings.gain };
    db_trusted_range(&run->image, image.trusted);
    db_status status = db_write_expt(run->context, path, &run->result->experiment, &image);
    free(whole);
    if (status == DB_OK) status = db_config_keep_list(run->context, &run->config, path);
    return status;
}

/* In the form that the experiment came in, unless the fit has cut its panel into modules. */
static db_status write_like(const fit_run *run, const char *path) {
    const db_fit_config *const config = &run->config;
    const db_expt_selection selection = db_listed_experiment(config);
    return db_write_expt_like(run->context, path, config->expt_file, &selection,
                              &run->result->experiment);
}

static db_status write_output(const fit_run *run, int output, const char *path) {
    db_context *const context = run->context;
    switch (output) {
    case OUT_GEOM:
    case OUT_XPARM: return write_like(run, path);
    case OUT_YAML: return db_fit_write_yaml(context, path, &run->config, run->result);
    case OUT_LIST: return write_list(run, path);
    case OUT_MATRIX: return db_write_mosflm_matrix(context, path, &run->result->experiment);
    case OUT_JSON: return db_fit_write_json(context, path, &run->config, run->result);
    case OUT_AMPLITUDES: return db_fit_write_amplitudes(context, path, &run->config, run->result);
    case OUT_INTENSITIES: return db_fit_write_intensities(context, path, run->result);
    case OUT_REFLECTIONS: return db_fit_write_table(context, path, &run->config, run->result);
    case OUT_SPOTS: return db_fit_write_spots(context, path, run->result);
    case OUT_BACKGROUND: return db_fit_write_background(context, path, run->result);
    case OUT_PNG: return db_fit_write_png(context, path, &run->config, &run->image, run->result);
    default: return db_fit_write_html(context, path, &run->config, &run->image, run->result);
    }
}

/* The log is written last, so that it names the others. */
static db_status write_outputs(fit_run *run) {
    char path[DB_FIT_PATH_SIZE + LONGEST_ENDING];
    db_fit_say(&run->log, "\n");
    for (int o = 0; o < OUTPUT_COUNT; o++) {
        if (!output_wanted(run, o)) continue;
        output_path(run, o, path);
        if (o != OUT_LOG) {
            db_progress_bar_say(&run->progress.bar, "writing %s", path);
            const db_status status = write_output(run, o, path);
            db_progress_bar_clear(&run->progress.bar);
            if (status == DB_ERROR_USAGE && (o == OUT_GEOM || o == OUT_XPARM)) {
                db_fit_say(&run->log, "not written: %s\n", db_context_message(run->context));
                continue;
            }
            if (status != DB_OK) return complain(run, status);
        }
        db_fit_say(&run->log, "%s: %s\n", path, outputs[o].what);
    }
    db_fit_say_cell(&run->log, &run->config, run->result);
    run->log_open = 0;
    output_path(run, OUT_LOG, path);
    const db_status status = db_fit_log_close(run->context, &run->log, path);
    return status == DB_OK ? DB_OK : complain(run, status);
}

/* Cancelled before there was a model: only the log is written. */
static void leave_log(fit_run *run) {
    char path[DB_FIT_PATH_SIZE + LONGEST_ENDING];
    db_fit_say(&run->log, "\n%s\n", db_context_message(run->context));
    run->log_open = 0;
    output_path(run, OUT_LOG, path);
    if (db_fit_log_close(run->context, &run->log, path) != DB_OK) complain(run, DB_ERROR_FILE);
}

static db_status run_fit(fit_run *run, int argc, char **argv) {
    db_status status = db_context_create(&run->context);
    if (status == DB_OK) status = db_context_set_threads(run->context, run->options.threads);
    if (status == DB_OK && run->options.isa)
        status = db_context_set_isa(run->context, run->options.isa);
    if (status == DB_OK && run->options.device)
        status = db_context_set_device(run->context, run->options.device);
    if (status != DB_OK) return complain(run, status);
    if (run->options.show_defaults) return show_defaults(run);
    if (run->options.show_json) {
        db_show_json_fields(stdout);
        return DB_OK;
    }
    status = read_inputs(run, argc, argv);
    if (status != DB_OK) return status;
    const int many = *run->config.shot_list || run->config.find_orientation > 1;
    if (many && run->options.model_image && run->config.settings.intensity == DB_FIT_KNOWN)
        return db_complain("fit", DB_ERROR_USAGE,
                           "--model-image: expected intensity: free for many shots, found known");
    if (!*run->config.shot_list && (run->options.array || run->options.merge))
        return db_complain("fit", DB_ERROR_USAGE, "--%s: expected a list of shots (shots.list)",
                           run->options.array ? "array" : "merge");
    if (many) return db_fit_many_shots(run->context, &run->options, &run->config);
    status = check_outputs(run);
    if (status == DB_OK) status = db_run_lock_take(&run->lock, run->config.output_prefix);
    if (status != DB_OK) return status;
    status = db_fit_log_open(run->context, &run->log, run->options.quiet);
    if (status != DB_OK) return complain(run, status);
    run->log.verbose = run->options.verbose;
    run->log_open = 1;
    db_fit_progress_start(&run->progress, run->context, &run->log);
    say_head(run);
    const int noted = *db_context_device_note(run->context) != 0;
    db_context_set_notices(run->context, say_notice, run);
    status = read_data(run);
    if (status == DB_OK) status = refine(run);
    db_context_set_notices(run->context, NULL, NULL);
    if (status == DB_ERROR_CANCELLED) leave_log(run);
    if (status != DB_OK) return status;
    if (!noted) say_device_note(run);
    db_fit_say_result(&run->log, &run->config, run->result);
    status = write_outputs(run);
    if (status != DB_OK) return status;
    if (run->result->status != DB_OK)
        db_complain("fit", run->result->status, "%s%s",
                    run->result->status == DB_ERROR_CANCELLED ? ""
                    : run->result->verdict.usable             ? "not converged: "
                                                              : "not to be used: ",
                    run->result->reason);
    return run->result->status;
}

static void run_clear(fit_run *run) {
    db_fit_progress_finish(&run->progress);
    if (run->log_open) db_fit_log_close(run->context, &run->log, NULL);
    db_run_lock_release(&run->lock);
    db_fit_result_destroy(&run->result);
    db_experiment_clear(&run->start);
    db_measured_image_clear(&run->image);
    db_fit_spots_clear(&run->spots);
    db_fit_config_clear(&run->config);
    db_context_destroy(&run->context);
}

static db_status run_one(const db_fit_options *options, int argc, char **argv) {
    fit_run *const all = calloc(1, sizeof *all);
    if (!all) return db_complain("fit", DB_ERROR_MEMORY, "out of memory");
    all->options = *options;
    const db_status status = run_fit(all, argc, argv);
    run_clear(all);
    free(all);
    return status;
}

/* Images without a configuration, one after the other; the first failure is the run's. */
static db_status run_images(db_fit_options *options, int argc, char **argv) {
    const char *const output = options->output;
    db_status first = DB_OK;
    if (options->image_count > 1 && output && output[strlen(output) - 1] != '/')
        return db_complain("fit", DB_ERROR_USAGE,
                           "--output: expected a folder (FOLDER/) for several images, found '%s'",
                           output);
    for (size_t i = 0; i < options->image_count && first != DB_ERROR_CANCELLED; i++) {
        options->image = options->images[i];
        const db_status status = run_one(options, argc, argv);
        if (first == DB_OK || status == DB_ERROR_CANCELLED) first = status;
    }
    return first;
}

static int run(const db_command *command, int argc, char **argv) {
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
const db_command db_fit_command = { "fit", db_fit_help, &db_fit_flags, run };
