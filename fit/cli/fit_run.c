/* Runs dualbragg fit, with a configuration that has been read. */
#include "fit/cli/fit_run.h"

#include "base/context_internal.h"
#include "cli/complaint.h"
#include "cli/processes.h"
#include "cli/signals.h"
#include "fit/config/found_cell.h"
#include "fit/config/quantity.h"
#include "fit/lists/shot_list.h"
#include "fit/run.h"
#include "fit/search/starting_model.h"
#include "fit/verdict/verdict_tests.h"
#include "fit/shots/team.h"

#include <dualbragg/expert/fit_configurations.h>
#include <dualbragg/expert/instruction_set.h>
#include <dualbragg/fit_shots.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Processes of MPI as a team. */

static int broadcast_bytes(void *user, void *data, size_t bytes) {
    (void)user;
    return !db_processes_broadcast(data, bytes);
}

static int send_to(void *user, int to, const void *data, size_t bytes) {
    (void)user;
    return !db_processes_put(to, data, bytes);
}

static int receive_from(void *user, int from, void *data, size_t bytes) {
    (void)user;
    return !db_processes_take(from, data, bytes);
}

static int claim_count(void *user, uint64_t add, uint64_t *before) {
    (void)user;
    return !db_processes_claim(add, before);
}

/* Joins the other processes if an MPI launcher started this one; otherwise *team is only this process. Complains
 * in a build without MPI, where all processes would do the same work. */
static db_status mpi_team_join(db_fit_team *team) {
    db_processes all;
    *team = (db_fit_team){ .size = 1 };
    DB_TRY(db_processes_join("fit", &all));
    *team = (db_fit_team){ .rank = all.rank,
                           .size = all.size,
                           .broadcast = broadcast_bytes,
                           .send = send_to,
                           .receive = receive_from,
                           .claim = db_processes_count_together() ? claim_count : NULL };
    return DB_OK;
}

typedef db_fit_run_state fit_run;

db_status db_fit_run_complain(const fit_run *run, db_status status) {
    if (run->team.rank > 0) return status; /* rank 0 speaks for all */
    return db_complain_context("fit", status, run->context);
}

db_status db_fit_run_agree(const fit_run *run, db_status status) {
    return db_team_common_status(&run->team, run->context, status);
}

/* Reports the failure of this process, which others may not have. */
static db_status agree_aloud(const fit_run *run, db_status status) {
    if (status != DB_OK) db_complain_context("fit", status, run->context);
    return db_fit_run_agree(run, status);
}

/* Prints a notice without disturbing the progress bar. */
static void say_notice(void *user, const char *line) {
    fit_run *const run = user;
    db_progress_bar_clear(&run->progress.bar);
    db_fit_say(&run->log, "%s\n", line);
}

/* Says why --device auto means the processor. */
static void say_device_note(fit_run *run) {
    const char *const note = db_context_device_note(run->context);
    if (*note) db_fit_say(&run->log, "device: cpu, because %s\n", note);
}

/* Prints the lattices found on one image, or several found on the frames of a series. */
static void say_lattices(fit_run *run) {
    const size_t count = run->list->lattice_count;
    for (size_t l = 0; l < count && (count > 1 || !*run->config->shot_list); l++) {
        const db_fit_orientation *const found = &run->list->lattice[l].found;
        db_fit_say(
            &run->log, "lattice %zu: %zu of %zu spots%s near its nodes; expected by chance: %.0f\n",
            l + 1, found->indexed, found->spots, l ? " that are left" : "", found->by_chance);
    }
}

static void say_list(fit_run *run) {
    const db_fit_shot_source source = db_fit_shot_list_source(run->list);
    db_fit_say(&run->log, "%zu %s%s of %s", source.count,
               run->list->lattice_count && !*run->config->shot_list ? "lattice" : "shot",
               source.count == 1 ? "" : "s",
               *run->config->shot_list ? run->config->shot_list : source.name(source.user, 0));
    if (run->team.size > 1) db_fit_say(&run->log, ", %d processes", run->team.size);
    if (run->task.tasks) db_fit_say(&run->log, ", task %d of %d", run->task.task, run->task.tasks);
    if (run->merged.count) db_fit_say(&run->log, ", from %zu tasks", run->merged.count);
    db_fit_say(&run->log, "\n");
    say_lattices(run);
}

static void say_head(fit_run *run) {
    const db_context *const context = run->context;
    const int given = run->options->threads;
    char threads[32] = "all threads";
    if (given) snprintf(threads, sizeof threads, "%d thread%s", given, given == 1 ? "" : "s");
    const int on_device = strcmp(db_context_device(context), "cpu") != 0,
              each = on_device && context->device.local && run->team.size > 1;
    db_fit_say(&run->log, "dualbragg %s fit (%s precision, %s, %s%s)\n%s\n", db_version(),
               run->config->settings.precision == DB_PRECISION_MIXED ? "mixed" : "double",
               on_device ? db_context_device(context) : db_context_isa(context),
               on_device ? db_context_device_model(context) : threads,
               each ? ", other processes of the machine in turn" : "", run->config->command);
    say_device_note(run);
    for (size_t i = 0; i < run->notices.count; i++)
        db_fit_say(&run->log, "%s\n", run->notices.line[i]);
    if (run->list) say_list(run);
}

/* Reads the shots of a configuration, or finds the lattices of its image. */
static db_status read_list(fit_run *run) {
    const db_fit_options *const o = run->options;
    const int listed = *run->given.shot_list != '\0';
    if (!db_fit_config_has_many(&run->given)) return DB_OK;
    db_status status = agree_aloud(
        run, (listed ? db_fit_shot_list_read : db_fit_shot_list_find)(
                 run->context, &run->given, o->overrides, o->override_count, &run->list));
    if (status == DB_OK && run->list->config.found_cell)
        db_found_cell_say(run->list->config.found_cell, db_notices_add, &run->notices);
    if (status == DB_OK && (!listed || run->given.series)) run->config = &run->list->config;
    return status;
}

/* Checks everything possible before the work begins. */
static db_status begin_run(fit_run *run) {
    db_status status = read_list(run);
    db_array_task_prefix(run->config->output_prefix, run->task, run->prefix);
    for (int others = 0; others < 2 && status == DB_OK && run->options->merge; others++)
        status = db_fit_run_agree(run, (run->team.rank > 0) == others
                                           ? db_array_tasks_find(run->prefix, &run->merged)
                                           : DB_OK); /* rank 0 complains for all */
    if (status == DB_OK) status = db_fit_run_agree(run, db_fit_outputs_distinct(run));
    if (status != DB_OK) return status;
    status = agree_aloud(
        run, db_fit_log_open(run->context, &run->log, run->options->quiet || run->team.rank > 0));
    if (status != DB_OK) return status;
    run->log.verbose = run->options->verbose;
    run->log_open = 1;
    db_fit_progress_start(&run->progress, run->context, &run->log);
    db_context_set_notices(run->context, say_notice, run);
    status = db_fit_run_agree(run, db_fit_outputs_check(run));
    if (status == DB_OK && run->list) {
        status =
            agree_aloud(run, db_fit_shot_list_complete(run->context, run->list, &run->completed));
        run->config = &run->completed;
    }
    if (status == DB_OK) say_head(run);
    return status;
}

static int cancelled(void *user) {
    (void)user;
    return db_interrupt_asked() != 0;
}

/* strong: memory of the image of a single shot; NULL: none. */
static db_status refine_source(fit_run *run, const db_fit_shot_source *source,
                               const db_fit_settings *settings, db_strong_memory *strong,
                               db_fit_shots_options *options) {
    options->progress = db_fit_progress_event;
    options->cancelled = cancelled;
    options->user = &run->progress;
    const db_status status =
        db_fit_run_with(run->context, source, settings, options, strong, &run->result);
    db_fit_progress_finish(&run->progress);
    return run->result ? DB_OK : db_fit_run_complain(run, status);
}

/* Reads the image with its masks and the list of reflections, and makes the start. */
static db_status read_image(fit_run *run) {
    db_fit_config *const config = &run->given;
    db_fit_progress_work(&run->progress, "reading the image", 0);
    DB_TRY(db_fit_config_read_image(run->context, config, &run->image, say_notice, run));
    DB_TRY(db_fit_config_read_spots(run->context, config, &run->spots));
    if (run->spots.count) config->settings.spots = &run->spots;
    db_progress_bar_clear(&run->progress.bar);
    db_fit_interrupt_install();
    db_fit_progress_work(&run->progress,
                         config->find_orientation
                             ? "looking for the orientation (less if it is found early)"
                             : "reading the starting model",
                         1);
    return db_start_make(run->context, config, &run->image, &run->start, NULL, &run->strong,
                         say_notice, run);
}

static db_status refine_image(fit_run *run) {
    const db_fit_still still = { &run->start, &run->image, run->given.image_file };
    const db_fit_shot_source source = db_fit_still_source(&still);
    db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
    const db_status status = read_image(run);
    db_progress_bar_clear(&run->progress.bar);
    if (status != DB_OK) return db_fit_run_complain(run, status);
    db_fit_say_start(&run->log, run->config, &run->image, &run->start);
    db_fit_progress_stages(&run->progress, &run->config->settings, 0);
    return refine_source(run, &source, &run->config->settings, &run->strong, &options);
}

static db_status refine_list(fit_run *run) {
    char checkpoint[DB_RUN_PATH_SIZE], scratch[DB_RUN_PATH_SIZE];
    db_fit_shot_source source = db_fit_shot_list_source(run->list);
    source.configuration = run->config;
    db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
    db_fit_settings settings = run->config->settings; /* borrows its lists */
    if (!(settings.gain > 0)) settings.gain = 1;      /* for images without a gain */
    db_fit_run_path(run, db_fit_checkpoint_ending, checkpoint);
    db_fit_run_path(run, "", scratch);
    char *const slash = strrchr(scratch, '/');
    if (slash) slash[slash == scratch] = '\0';
    if (run->options->resume && !run->options->merge && access(checkpoint, F_OK) != 0)
        db_fit_say(&run->log, "%s: there is no checkpoint to continue from; the run starts again\n",
                   checkpoint);
    db_fit_interrupt_install();
    db_fit_progress_stages(&run->progress, &settings, 1);
    options.team = &run->team;
    options.checkpoint = checkpoint;
    options.resume = run->options->resume;
    options.array_task = run->task.task;
    options.array_tasks = run->task.tasks;
    options.merge = (const char *const *)run->merged.path;
    options.merge_count = run->merged.count;
    options.scratch = slash ? scratch : NULL;
    options.outlier_sigma = run->config->shot_outlier_sigma;
    options.series = run->config->series;
    options.knots = run->config->series_knots;
    return refine_source(run, &source, &settings, NULL, &options);
}

/* Names the checkpoint that a task of an array leaves. */
static void say_task(fit_run *run) {
    char path[DB_RUN_PATH_SIZE];
    db_fit_run_path(run, db_fit_checkpoint_ending, path);
    db_fit_say(&run->log, "\n%s\n%s: for dualbragg fit --merge\n", run->result->reason, path);
}

static db_status tell_result(fit_run *run) {
    if (run->task.tasks) {
        say_task(run);
        return DB_OK;
    }
    db_fit_say_result(&run->log, run->config, run->result);
    return db_fit_outputs_write(run);
}

/* Writes the log last, because it names the other files; a run cancelled before there was a model writes only the
 * log. */
static db_status close_log(fit_run *run, db_status status) {
    char path[DB_RUN_PATH_SIZE];
    const int keep = (status == DB_OK || status == DB_ERROR_CANCELLED) && run->team.rank == 0;
    if (status == DB_ERROR_CANCELLED)
        db_fit_say(&run->log, "\n%s\n", db_context_message(run->context));
    db_fit_run_path(run, db_fit_log_ending, path);
    run->log_open = 0;
    const db_status closed = db_fit_log_close(run->context, &run->log, keep ? path : NULL);
    return status == DB_OK && closed != DB_OK ? db_fit_run_complain(run, closed) : status;
}

/* Removes the checkpoint, and those of array tasks, after all other files have been written. */
static void remove_checkpoint(const fit_run *run) {
    char path[DB_RUN_PATH_SIZE];
    db_fit_run_path(run, db_fit_checkpoint_ending, path);
    if (run->team.rank > 0 || !run->list) return;
    (void)db_fit_checkpoint_remove(run->context, path);
    for (size_t t = 0; t < run->merged.count; t++)
        (void)db_fit_checkpoint_remove(run->context, run->merged.path[t]);
}

static db_status end_run(const fit_run *run) {
    const db_fit_shots_result *const r = run->result;
    const int ended = r->status != DB_ERROR_CANCELLED, usable = db_verdict_of_all(r);
    if (ended && !run->task.tasks) remove_checkpoint(run);
    if (run->team.rank == 0 && r->status != DB_OK)
        db_complain("fit", r->status, "%s%s%s",
                    !ended   ? ""
                    : usable ? "not converged: "
                             : "not to be used: ",
                    r->reason, ended || !run->list ? "" : " (--resume goes on)");
    return r->status;
}

static db_status run_all(fit_run *run) {
    db_status status = begin_run(run);
    if (status != DB_OK) return status;
    const int noted = *db_context_device_note(run->context) != 0;
    status = db_fit_run_agree(run, run->list ? refine_list(run) : refine_image(run));
    db_context_set_notices(run->context, NULL, NULL);
    if (!noted) say_device_note(run);
    if (status == DB_OK) status = tell_result(run);
    status = close_log(run, status);
    return status == DB_OK ? end_run(run) : status;
}

/* Distributes the GPUs of a machine over its processes. */
static db_status choose_device(const fit_run *run) {
    const db_processes all = { run->team.rank, run->team.size };
    const db_status own = db_device_choose_local(run->context),
                    worst = db_processes_agree(&all, own);
    if (worst == DB_OK) return DB_OK;
    if (own == DB_OK) return worst; /* another process has reported it */
    return db_complain_context("fit", own, run->context);
}

db_status db_fit_run_all(fit_run *run) {
    const db_fit_options *const o = run->options;
    const int listed = *run->given.shot_list != '\0', many = db_fit_config_has_many(&run->given);
    run->config = &run->given;
    run->team.size = 1;
    if (o->model_image && db_fit_refines_curves(&run->given.settings))
        return db_complain("fit", DB_ERROR_USAGE,
                           "--model-image: expected known curves of f' and f'', found refined ones "
                           "(curves.energies)");
    if ((!listed && (o->array || o->merge)) || (!many && o->resume))
        return db_complain("fit", DB_ERROR_USAGE, "--%s: expected a list of shots (shots.list)",
                           o->array   ? "array"
                           : o->merge ? "merge"
                                      : "resume");
    if (o->array && o->merge)
        return db_complain("fit", DB_ERROR_USAGE, "--array and --merge: expected one of them");
    DB_TRY(db_array_task_read(o->array, &run->task));
    if (!many) return run_all(run);
    db_status status = mpi_team_join(&run->team);
    if (status == DB_OK) status = choose_device(run);
    if (status == DB_OK) status = run_all(run);
    if (status != DB_OK) db_fit_outputs_abandon(run);
    db_run_lock_release(&run->lock);
    db_processes_leave();
    return status;
}

void db_fit_run_clear(fit_run *run) {
    db_fit_progress_finish(&run->progress);
    if (run->log_open) db_fit_log_close(run->context, &run->log, NULL);
    db_run_lock_release(&run->lock);
    db_fit_shots_result_destroy(&run->result);
    db_array_tasks_clear(&run->merged);
    db_experiment_clear(&run->start);
    db_measured_image_clear(&run->image);
    db_strong_memory_clear(&run->strong);
    db_fit_spots_clear(&run->spots);
    db_fit_config_clear(&run->completed);
    db_fit_shot_list_destroy(&run->list);
    db_fit_config_clear(&run->given);
    db_notices_clear(&run->notices);
    db_context_destroy(&run->context);
}
