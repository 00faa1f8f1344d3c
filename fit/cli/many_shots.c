/* The command "dualbragg fit" for many shots: checks, refinement, outputs, by one or more
 * processes. */
#define _XOPEN_SOURCE 700
#include "fit/cli/many_shots.h"

#include "base/context_internal.h"
#include "base/path.h"
#include "cli/complaint.h"
#include "cli/output.h"
#include "cli/processes.h"
#include "fit/cli/run_files.h"
#include "fit/cli/printout.h"
#include "fit/cli/progress.h"
#include "cli/signals.h"
#include "fit/cli/array_tasks.h"
#include "fit/cli/mpi_team.h"
#include "fit/shots/joint_stages.h"
#include "fit/lists/shot_list.h"
#include "fit/shots/team.h"

#include <dualbragg/expert/amplitude_files.h>
#include <dualbragg/expert/fit_files.h>
#include <dualbragg/expert/instruction_set.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    OUT_YAML,
    OUT_LIST,
    OUT_EXPT,
    OUT_MTZ,
    OUT_HKL,
    OUT_UNMERGED,
    OUT_JSON,
    OUT_HTML,
    OUT_LOG,
    OUT_CHECKPOINT,
    OUTPUT_COUNT
};
static const struct {
    const char *ending;
    const char *what;
} outputs[OUTPUT_COUNT] = {
    [OUT_YAML] = { ".yaml", "configuration with the refined shots" },
    [OUT_LIST] = { "_shots.txt", "list of the refined shots" },
    [OUT_EXPT] = { ".expt", "experiment list of all for DIALS" },
    [OUT_MTZ] = { ".mtz", "intensities and amplitudes that all shots share" },
    [OUT_HKL] = { ".hkl", "the same as text" },
    [OUT_UNMERGED] = { "_unmerged.mtz", "intensities of each shot by itself" },
    [OUT_JSON] = { ".json", "everything, for programs" },
    [OUT_HTML] = { ".html", "report with pictures" },
    [OUT_LOG] = { ".log", "what was printed" },
    [OUT_CHECKPOINT] = { ".checkpoint", "state of an unfinished run" },
};
static const char models[] = "_shots"; /* ending of the folder of single models */
/* Endings there, from ALWAYS on with --model-image. */
static const char *const of_each_shot[] = { ".yaml",           ".expt", "_model.bin",
                                            "_background.bin", ".hkl",  ".refl" };
enum { ALWAYS = 2, FILES = sizeof of_each_shot / sizeof *of_each_shot };

enum { PATH_SIZE = DB_TASK_PREFIX_SIZE + 32 };

typedef struct many {
    db_context *context;
    const db_fit_options *options;
    const db_fit_config *config;
    db_fit_team team;
    db_fit_config *tied; /* config with what symmetry says of the shots' cell */
    db_fit_shot_list *list;
    db_fit_shots_result *result;
    db_fit_log log;
    db_shots_progress progress;
    db_run_lock lock;
    db_array_task task;
    db_array_tasks merged;            /* to go on from */
    db_structure_factors reference;   /* of joint intensities */
    char prefix[DB_TASK_PREFIX_SIZE]; /* of the files of this run */
} many;

static void path_of(const many *m, const char *ending, char path[PATH_SIZE]) {
    snprintf(path, PATH_SIZE, "%s%s", m->prefix, ending);
}

static db_status complain(const many *m, db_status status) {
    if (m->team.rank > 0) return status; /* all say the same */
    return db_complain_context("fit", status, m->context);
}

static int is_of_amplitudes(int output) {
    return output == OUT_MTZ || output == OUT_HKL || output == OUT_UNMERGED;
}

static int wanted(const many *m, int output) {
    if (m->task.tasks) return output == OUT_LOG || output == OUT_CHECKPOINT;
    if (is_of_amplitudes(output)) return m->config->settings.joint.wanted;
    return output != OUT_HTML || !m->options->no_report;
}

/* Adds the shots of the list, which are inputs, and the files of their models. */
static void add_shots(const many *m, db_named_files *files) {
    const db_fit_shot_source source = db_fit_shot_list_source(m->list);
    char name[DB_FIT_PATH_SIZE], path[PATH_SIZE + DB_FIT_PATH_SIZE + 24];
    for (size_t s = 0; s < source.count; s++) {
        const char *const shot = source.name(source.user, s);
        db_named_files_add(files, DB_ROLE_INPUT, "shots.list", shot);
        db_shots_model_name(shot, s, source.count, name);
        for (int i = 0; i < (m->options->model_image ? FILES : ALWAYS) && !m->task.tasks; i++) {
            snprintf(path, sizeof path, "%s%s/%s%s", m->prefix, models, name, of_each_shot[i]);
            db_named_files_add(files, DB_ROLE_OUTPUT, "output", path);
        }
    }
}

/* Checked once the list is known: no output is an input. */
static db_status check_distinct(const many *m) {
    char path[PATH_SIZE];
    db_named_files files = { 0 };
    if (m->team.rank > 0) return DB_OK;
    db_fit_files_add_inputs(m->config, &files);
    for (int o = 0; o < OUTPUT_COUNT; o++) {
        path_of(m, outputs[o].ending, path);
        if (wanted(m, o)) db_named_files_add(&files, DB_ROLE_OUTPUT, "output", path);
    }
    add_shots(m, &files);
    return db_named_files_check("fit", &files);
}

/* The refined list names models by the prefix, so the prefix must be a name that a list can
 * hold. */
static db_status check_prefix(const many *m) {
    const char *const prefix = m->config->output_prefix;
    const char *const name = db_file_name(prefix);
    if (name[strcspn(name, "#\"\n\r")] == '\0') return DB_OK;
    return db_complain(
        "fit", DB_ERROR_USAGE,
        "output %s: expected a name without '#', '\"' and line breaks, which lists of "
        "shots cannot have",
        prefix);
}

static db_status check_outputs(many *m) {
    char path[PATH_SIZE];
    if (m->team.rank > 0) return DB_OK;
    const db_status nameable = check_prefix(m);
    if (nameable != DB_OK) return nameable;
    for (int o = 0; o < OUTPUT_COUNT; o++) {
        path_of(m, outputs[o].ending, path);
        const db_status status = wanted(m, o) ? db_output_check("fit", "output", path) : DB_OK;
        if (status != DB_OK) return status;
    }
    const db_status locked = db_run_lock_take(&m->lock, m->prefix);
    if (locked != DB_OK || m->task.tasks) return locked;
    path_of(m, models, path);
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return db_complain("fit", DB_ERROR_FILE, "%s: cannot be created: %s", path,
                           strerror(errno));
    return DB_OK;
}

/* The first failure of all processes, in each of them. */
static db_status agree(const many *m, db_status status) {
    return db_team_common_status(&m->team, m->context, status);
}

/* The lattices that have been found on one image. */
static void say_lattices(many *m) {
    const db_fit_shot_list *const list = m->list;
    for (size_t l = 0; l < list->lattice_count; l++) {
        const db_fit_orientation *const found = &list->lattice[l].found;
        db_fit_say(
            &m->log,
            "lattice %zu: %zu of %zu spots%s near its nodes, where chance would bring %.0f\n",
            l + 1, found->indexed, found->spots, l ? " that are left" : "", found->by_chance);
    }
}

static void say_head(many *m, const db_fit_shot_source *source) {
    const db_context *const context = m->context;
    const int on_device = strcmp(db_context_device(context), "cpu") != 0,
              each = on_device && context->device.local && m->team.size > 1;
    db_fit_say(&m->log, "dualbragg %s fit (%s precision, %s%s%s%s)\n%s\n", db_version(),
               m->config->settings.precision == DB_PRECISION_MIXED ? "mixed" : "double",
               on_device ? db_context_device(context) : db_context_isa(context),
               on_device ? ", " : "", db_context_device_model(context),
               each ? ", other processes of the machine in turn" : "", m->config->command);
    if (*db_context_device_note(context) && !on_device)
        db_fit_say(&m->log, "device: cpu, because %s\n", db_context_device_note(context));
    const int one = m->list->lattice_count > 0;
    db_fit_say(&m->log, "%zu %s of %s", source->count, one ? "lattices" : "shots",
               one ? source->name(source->user, 0) : m->config->shot_list);
    if (m->team.size > 1) db_fit_say(&m->log, ", %d processes", m->team.size);
    if (m->task.tasks) db_fit_say(&m->log, ", task %d of %d", m->task.task, m->task.tasks);
    if (m->merged.count) db_fit_say(&m->log, ", from %zu tasks", m->merged.count);
    db_fit_say(&m->log, "\n");
    say_lattices(m);
}

/* If no shot can be read nothing is tied; the refinement reports the error. */
static void tie(many *m) {
    if (db_fit_config_copy(m->context, m->config, m->tied) == DB_OK &&
        db_fit_shot_list_tie(m->context, m->list, m->tied) == DB_OK)
        m->config = m->tied;
}

static int cancelled(void *user) {
    (void)user;
    return db_interrupt_asked() != 0;
}

static db_status refine(many *m) {
    char checkpoint[PATH_SIZE], scratch[PATH_SIZE];
    db_fit_shot_source source = db_fit_shot_list_source(m->list);
    source.configuration = m->config;
    db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
    db_shots_progress *const progress = &m->progress;
    db_fit_settings settings;
    if (db_fit_settings_copy(m->context, &m->config->settings, &settings) != DB_OK)
        return complain(m, DB_ERROR_MEMORY);
    const int closed = m->config->setup.spread.spots == DB_SPOTS_CLOSED;
    if (settings.stage_count == 0) db_stages_default(m->context, closed, &settings);
    if (m->reference.amplitude) settings.joint.reference = &m->reference;
    if (!(settings.gain > 0)) settings.gain = 1; /* for images that do not say */
    path_of(m, outputs[OUT_CHECKPOINT].ending, checkpoint);
    path_of(m, "", scratch);
    char *const slash = strrchr(scratch, '/');
    if (slash) slash[slash == scratch] = '\0';
    say_head(m, &source);
    if (m->options->resume && !m->options->merge && access(checkpoint, F_OK) != 0)
        db_fit_say(&m->log, "%s: there is no checkpoint to go on from; the run begins anew\n",
                   checkpoint);
    db_shots_progress_start(progress, &m->log, &settings);
    db_fit_interrupt_install();
    options.team = &m->team;
    options.checkpoint = checkpoint;
    options.resume = m->options->resume;
    options.array_task = m->task.task;
    options.array_tasks = m->task.tasks;
    options.merge = (const char *const *)m->merged.path;
    options.merge_count = m->merged.count;
    options.scratch = slash ? scratch : NULL;
    options.outlier_sigma = m->config->shot_outlier_sigma;
    options.series = m->config->series;
    options.knots = m->config->series_knots;
    options.progress = db_shots_progress_event;
    options.cancelled = cancelled;
    options.user = progress;
    const db_status status = db_fit_shots_run(m->context, &source, &settings, &options, &m->result);
    db_progress_bar_clear(&progress->bar);
    db_fit_settings_clear(&settings);
    return m->result ? DB_OK : complain(m, status);
}

/* Each process writes the models that it has. */
static db_status write_models(const many *m) {
    char folder[PATH_SIZE];
    db_status status = DB_OK;
    path_of(m, models, folder);
    for (size_t s = 0; s < m->result->shot_count && status == DB_OK; s++) {
        const db_fit_shot_result *const shot = &m->result->shot[s];
        if (shot->used && shot->model.oversample > 0)
            status = db_fit_shots_write_model(m->context, folder, m->list, m->result, s);
        if (shot->used && shot->model.oversample > 0 && status == DB_OK && m->options->model_image)
            status = db_fit_shots_write_images(m->context, folder, m->list, m->result, s);
    }
    if (status != DB_OK) db_complain_context("fit", status, m->context);
    return agree(m, status);
}

static db_status write_output(const many *m, int output, const char *path) {
    char folder[PATH_SIZE], list[PATH_SIZE];
    path_of(m, models, folder);
    path_of(m, outputs[OUT_LIST].ending, list);
    switch (output) {
    case OUT_YAML: return db_fit_shots_write_yaml(m->context, path, list, m->config, m->result);
    case OUT_LIST: return db_fit_shots_write_list(m->context, path, folder, m->result);
    case OUT_EXPT: return db_fit_shots_write_expt(m->context, path, folder, m->result);
    case OUT_MTZ: return db_fit_shots_write_mtz(m->context, path, m->result);
    case OUT_HKL: return db_fit_shots_write_hkl(m->context, path, m->result);
    case OUT_UNMERGED: return db_fit_shots_write_unmerged(m->context, path, m->result);
    case OUT_JSON: return db_fit_shots_write_json(m->context, path, m->config, m->result);
    default: return db_fit_shots_write_html(m->context, path, m->config, m->result);
    }
}

static db_status write_outputs(many *m) {
    char path[PATH_SIZE];
    db_status status = write_models(m);
    if (status != DB_OK || m->team.rank > 0) return status;
    path_of(m, models, path);
    db_fit_say(&m->log, "\n%s: refined model of each shot, a configuration and a list again\n",
               path);
    for (int o = 0; o < OUT_CHECKPOINT; o++) {
        path_of(m, outputs[o].ending, path);
        if (!wanted(m, o) || (is_of_amplitudes(o) && !m->result->amplitudes)) continue;
        if (o != OUT_LOG) {
            db_progress_bar_say(&m->progress.bar, "writing %s", path);
            status = write_output(m, o, path);
            db_progress_bar_clear(&m->progress.bar);
        }
        if (status == DB_ERROR_UNSUPPORTED && is_of_amplitudes(o)) { /* PREFIX.hkl is there */
            db_fit_say(&m->log, "%s\n", db_context_message(m->context));
            status = DB_OK;
            continue;
        }
        if (status != DB_OK) return complain(m, status);
        db_fit_say(&m->log, "%s: %s\n", path, outputs[o].what);
    }
    return DB_OK;
}

/* Reports the failure of this process, which others may not have. */
static db_status agree_aloud(const many *m, db_status status) {
    if (status != DB_OK) db_complain_context("fit", status, m->context);
    return agree(m, status);
}

/* Amplitudes that joint intensities are compared with, or held to. */
static db_status read_reference(many *m) {
    const db_fit_config *const c = m->config;
    const db_structure_factor_options options = { .columns = *c->reference_columns
                                                                 ? c->reference_columns
                                                                 : NULL };
    if (!*c->reference_file) return DB_OK;
    m->reference.default_F = (double)NAN;
    return db_read_structure_factors(m->context, c->reference_file, &options, &m->reference, NULL,
                                     0);
}

/* Prints a notice without disturbing the progress bar. */
static void say_notice(void *user, const char *line) {
    many *const m = user;
    db_progress_bar_clear(&m->progress.bar);
    db_fit_say(&m->log, "%s\n", line);
}

/* Checks everything that can be checked before the work begins. */
static db_status begin(many *m) {
    const int listed = *m->config->shot_list != '\0';
    db_status status = agree_aloud(
        m, (listed ? db_fit_shot_list_read : db_fit_shot_list_find)(
               m->context, m->config, m->options->overrides, m->options->override_count, &m->list));
    if (status == DB_OK && (!listed || m->config->series)) m->config = &m->list->config;
    db_array_task_prefix(m->config->output_prefix, m->task, m->prefix);
    if (status == DB_OK && m->task.tasks && m->config->series)
        status =
            m->team.rank > 0
                ? DB_ERROR_USAGE
                : db_complain("fit", DB_ERROR_USAGE,
                              "--array: frames of a series are refined together (shots.series)");
    for (int others = 0; others < 2 && status == DB_OK && m->options->merge; others++)
        status = agree(m, (m->team.rank > 0) == others ? db_array_tasks_find(m->prefix, &m->merged)
                                                       : DB_OK); /* rank 0 complains for all */
    if (status == DB_OK) status = agree(m, check_distinct(m));
    if (status != DB_OK) return status;
    status =
        agree_aloud(m, db_fit_log_open(m->context, &m->log, m->options->quiet || m->team.rank > 0));
    if (status != DB_OK) return status;
    db_context_set_notices(m->context, say_notice, m);
    status = agree_aloud(m, read_reference(m));
    if (status == DB_OK) status = agree(m, check_outputs(m));
    if (status != DB_OK) db_fit_log_close(m->context, &m->log, NULL);
    return status;
}

/* With what the tasks of an array have left. */
static void remove_checkpoint(const many *m) {
    char path[PATH_SIZE];
    path_of(m, outputs[OUT_CHECKPOINT].ending, path);
    if (m->team.rank > 0) return;
    db_fit_checkpoint_remove(path);
    for (size_t t = 0; t < m->merged.count; t++) db_fit_checkpoint_remove(m->merged.path[t]);
}

/* What a task of an array leaves is its checkpoint. */
static void say_task(many *m) {
    char path[PATH_SIZE];
    path_of(m, outputs[OUT_CHECKPOINT].ending, path);
    db_fit_say(&m->log, "\n%s\n%s: for dualbragg fit --merge\n", m->result->reason, path);
}

static db_status run(many *m) {
    char path[PATH_SIZE];
    db_status status = begin(m);
    if (status != DB_OK) return status;
    tie(m);
    status = agree(m, refine(m));
    db_context_set_notices(m->context, NULL, NULL);
    if (status == DB_OK && m->task.tasks) say_task(m);
    if (status == DB_OK && !m->task.tasks) {
        db_fit_say_shots(&m->log, m->result);
        status = write_outputs(m);
    }
    path_of(m, outputs[OUT_LOG].ending, path);
    const int keep = (status == DB_OK || status == DB_ERROR_CANCELLED) && m->team.rank == 0;
    const db_status closed = db_fit_log_close(m->context, &m->log, keep ? path : NULL);
    if (closed != DB_OK && status == DB_OK) status = complain(m, closed);
    if (status != DB_OK) return status;
    const int ended = m->result->status != DB_ERROR_CANCELLED;
    if (ended && !m->task.tasks) remove_checkpoint(m); /* after all other files have been written */
    if (m->team.rank == 0 && m->result->status != DB_OK)
        db_complain("fit", m->result->status, "%s%s%s", ended ? "not converged: " : "",
                    m->result->reason, ended ? "" : " (--resume goes on)");
    return m->result->status;
}

/* The processes of a machine take its GPUs in turn. */
static db_status choose_device(const many *m) {
    const db_processes all = { m->team.rank, m->team.size };
    const db_status own = db_device_choose_local(m->context), worst = db_processes_agree(&all, own);
    if (worst == DB_OK) return DB_OK;
    if (own == DB_OK) return worst; /* another one has said so */
    return db_complain_context("fit", own, m->context);
}

db_status db_fit_many_shots(db_context *context, const db_fit_options *options,
                            const db_fit_config *config) {
    many m = { .context = context, .options = options, .config = config };
    if (options->array && options->merge)
        return db_complain("fit", DB_ERROR_USAGE, "--array and --merge: expected one of them");
    const db_status given = db_array_task_read(options->array, &m.task);
    if (given != DB_OK) return given;
    m.tied = calloc(1, sizeof *m.tied);
    if (!m.tied) return db_complain("fit", DB_ERROR_MEMORY, "out of memory for the configuration");
    db_status status = db_mpi_team_join(&m.team);
    if (status == DB_OK) status = choose_device(&m);
    if (status == DB_OK) status = run(&m);
    db_run_lock_release(&m.lock);
    db_fit_shots_result_destroy(&m.result);
    db_fit_shot_list_destroy(&m.list);
    db_array_tasks_clear(&m.merged);
    free(m.reference.amplitude);
    db_mpi_team_leave();
    db_fit_config_clear(m.tied);
    free(m.tied);
    return status;
}
