/* The files that dualbragg fit writes. */
#include "base/context_internal.h"
#include "base/measured_pixels.h"
#include "base/path.h"
#include "cli/complaint.h"
#include "cli/output.h"
#include "fit/cli/fit_run.h"
#include "fit/config/input_files.h"
#include "fit/config/listed_experiment.h"
#include "fit/config/quantity.h"
#include "fit/lists/shot_list.h"

#include <dualbragg/expert/amplitude_files.h>
#include <dualbragg/expert/file_kind.h>
#include <dualbragg/expert/fit_files.h>
#include <dualbragg/expert/mosflm_matrix.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef db_fit_run_state fit_run;

const char db_fit_log_ending[] = ".log", db_fit_checkpoint_ending[] = ".checkpoint";
static const char models[] = "_shots"; /* ending of the folder of single models */
static const char list_ending[] = "_shots.txt";
/* Endings there, from ALWAYS on with --model-image. */
static const char *const of_each_shot[] = { ".yaml",           ".expt", "_model.bin",
                                            "_background.bin", ".hkl",  ".refl" };
enum { ALWAYS = 2, FILES = sizeof of_each_shot / sizeof *of_each_shot };

void db_fit_run_path(const fit_run *run, const char *ending, char path[DB_RUN_PATH_SIZE]) {
    snprintf(path, DB_RUN_PATH_SIZE, "%s%s", run->prefix, ending);
}

/* Was the experiment in a file of this format? */
static int came_as(const fit_run *run, const char *label) {
    db_file_kind kind;
    return *run->config->expt_file &&
           db_recognize_file(run->context, run->config->expt_file, &kind) == DB_OK &&
           strcmp(kind.label, label) == 0;
}

/* Is a file wanted? A task of an array writes only its checkpoint. */
static int always(const fit_run *run) { return run != NULL; }
static int of_list(const fit_run *run) { return run->list != NULL; }
static int of_result(const fit_run *run) { return !run->task.tasks; }
static int of_image(const fit_run *run) { return !run->list; }
static int of_shots(const fit_run *run) { return run->list && !run->task.tasks; }
static int on_page(const fit_run *run) { return of_result(run) && !run->options->no_report; }
static int of_joint(const fit_run *run) {
    return of_shots(run) && run->config->settings.joint.wanted &&
           (!run->result || run->result->intensities);
}
static int of_series(const fit_run *run) {
    return of_shots(run) && run->config->series && !run->config->settings.joint.wanted &&
           run->config->settings.intensity == DB_FIT_FREE &&
           (!run->result || run->result->passages);
}
static int of_merged(const fit_run *run) {
    return of_series(run) && (!run->result || run->result->merged);
}
static int of_curves(const fit_run *run) {
    return of_shots(run) && db_fit_refines_curves(&run->config->settings);
}
/* For the curve with this number, from 1. */
#define OF_CURVE(number)                                                                           \
    static int of_curve_##number(const fit_run *run) {                                             \
        db_setup_sites kinds;                                                                      \
        return of_curves(run) && db_setup_read_sites(NULL, run->config->sites, &kinds) == DB_OK && \
               (number) <= kinds.count;                                                            \
    }
OF_CURVE(1)
OF_CURVE(2)
OF_CURVE(3)
OF_CURVE(4)
_Static_assert((int)DB_MOST_SITE_KINDS == 4, "a file of each");
static int as_geom(const fit_run *run) { return of_image(run) && came_as(run, ".geom"); }
static int as_xparm(const fit_run *run) { return of_image(run) && came_as(run, "XPARM.XDS"); }
static int as_picture(const fit_run *run) { return of_image(run) && db_output_has_png(); }
static int of_free(const fit_run *run) {
    return of_image(run) && run->config->settings.intensity == DB_FIT_FREE;
}
static int of_pixels(const fit_run *run) { return of_image(run) && run->options->model_image; }

/* Calls that write it; one: result of one image. */
#define WRITER(name, call)                                                                         \
    static db_status name(const fit_run *run, const char *path) {                                  \
        const db_fit_result *const one = &run->result->shot[0];                                    \
        (void)one;                                                                                 \
        return call;                                                                               \
    }
WRITER(write_yaml, db_fit_write_yaml(run->context, path, run->config, one))
WRITER(write_matrix, db_write_mosflm_matrix(run->context, path, &one->experiment))
WRITER(write_json, db_fit_write_json(run->context, path, run->config, run->result))
WRITER(write_png, db_fit_write_png(run->context, path, run->config, &run->image, one))
WRITER(write_html, db_fit_write_html(run->context, path, run->config, &run->image, run->result))
WRITER(write_intensities, db_fit_write_intensities(run->context, path, one))
WRITER(write_table, db_fit_write_table(run->context, path, run->config, one))
WRITER(write_spots, db_fit_write_spots(run->context, path, one))
WRITER(write_background, db_fit_write_background(run->context, path, one))
WRITER(write_mtz, db_fit_shots_write_mtz(run->context, path, run->result))
WRITER(write_hkl, db_fit_shots_write_hkl(run->context, path, run->result))
WRITER(write_passages, db_fit_shots_write_passages(run->context, path, run->result))
WRITER(write_series_mtz,
       db_fit_shots_write_passage_mtz(run->context, path, run->config, run->result))
/* Curves that the configuration of all shots names are written with it. */
static db_status with_configuration(const fit_run *run, const char *path) {
    (void)run;
    (void)path;
    return DB_OK;
}
WRITER(write_unmerged, db_fit_shots_write_unmerged(run->context, path, run->result))

static db_status write_list(const fit_run *run, const char *path) {
    char *const whole = db_whole_path(run->config->image_file);
    db_expt_image image = { .path = whole ? whole : run->config->image_file,
                            .pedestal = run->image.pedestal,
                            .gain = run->config->settings.gain,
                            .space_group = db_listed_group(run->config) };
    db_trusted_range(&run->image, image.trusted);
    db_status status = db_write_expt(run->context, path, &run->result->shot[0].experiment, &image);
    free(whole);
    if (status == DB_OK) status = db_config_keep_list(run->context, run->config, path);
    return status;
}

/* Writes the experiment in the format of its file, unless the fit has cut its panel into modules. */
static db_status write_like(const fit_run *run, const char *path) {
    const db_expt_selection selection = db_listed_experiment(run->config);
    return db_write_expt_like(run->context, path, run->config->expt_file, &selection,
                              &run->result->shot[0].experiment);
}

static db_status write_all_yaml(const fit_run *run, const char *path) {
    char list[DB_RUN_PATH_SIZE];
    db_fit_run_path(run, list_ending, list);
    return db_fit_shots_write_yaml(run->context, path, list, run->config, run->result);
}

static db_status write_shots(const fit_run *run, const char *path) {
    char folder[DB_RUN_PATH_SIZE];
    db_fit_run_path(run, models, folder);
    return db_fit_shots_write_list(run->context, path, folder, run->result);
}

static db_status write_all_expt(const fit_run *run, const char *path) {
    char folder[DB_RUN_PATH_SIZE];
    db_fit_run_path(run, models, folder);
    DB_TRY(db_fit_shots_write_expt(run->context, path, folder, run->result));
    return db_fit_shots_take_models(run->context, path, run->result);
}

static db_status write_series_table(const fit_run *run, const char *path) {
    char list[DB_RUN_PATH_SIZE];
    db_fit_run_path(run, ".expt", list);
    return db_fit_shots_write_table(run->context, path, list, run->config, run->result);
}

static const struct {
    const char *ending; /* after the prefix */
    const char *what;
    int (*wanted)(const fit_run *run);
    db_status (*write)(const fit_run *run, const char *path); /* NULL: not in this build */
    db_status may_lack; /* status with which a file is left out, with a remark */
} outputs[] = {
    { ".yaml", "refined model, a configuration again", of_image, write_yaml, DB_OK },
    { ".yaml", "configuration with the refined shots", of_shots, write_all_yaml, DB_OK },
    { list_ending, "list of the refined shots", of_shots, write_shots, DB_OK },
    { ".expt", "experiment list for DIALS", of_image, write_list, DB_OK },
    { ".expt", "experiment list of all for DIALS", of_shots, write_all_expt, DB_OK },
    { ".geom", "geometry for CrystFEL", as_geom, write_like, DB_ERROR_USAGE },
    { "_XPARM.XDS", "parameters for XDS", as_xparm, write_like, DB_ERROR_USAGE },
    { ".mat", "MOSFLM orientation matrix", of_image, write_matrix, DB_OK },
    { ".mtz", "intensities and amplitudes that all shots share", of_joint, write_mtz,
      DB_ERROR_UNSUPPORTED }, /* PREFIX.hkl is written */
    { ".hkl", "the same as text", of_joint, write_hkl, DB_OK },
    { "_unmerged.mtz", "intensities from each shot alone", of_joint, write_unmerged,
      DB_ERROR_UNSUPPORTED },
    { ".hkl", "intensities of reflections, of all frames together", of_series, write_passages,
      DB_OK },
    { ".refl", "the same for DIALS", of_series, write_series_table, DB_OK },
    { ".mtz", "the same, unmerged", of_series, write_series_mtz, DB_ERROR_UNSUPPORTED },
    { "_merged.mtz", "intensities and amplitudes of all sweeps, scaled and merged", of_merged,
      write_mtz, DB_ERROR_UNSUPPORTED },
    { "_merged.hkl", "the same as text", of_merged, write_hkl, DB_OK },
    { "_curve1.tsv", "refined f' and f'' of the first kind of sites", of_curve_1,
      with_configuration, DB_OK },
    { "_curve2.tsv", "refined f' and f'' of the second kind of sites", of_curve_2,
      with_configuration, DB_OK },
    { "_curve3.tsv", "refined f' and f'' of the third kind of sites", of_curve_3,
      with_configuration, DB_OK },
    { "_curve4.tsv", "refined f' and f'' of the fourth kind of sites", of_curve_4,
      with_configuration, DB_OK },
    { ".json", "everything, for programs", of_result, write_json, DB_OK },
    { ".png", "measured and refined image", as_picture, write_png, DB_OK },
    { ".html", "report with pictures", on_page, write_html, DB_OK },
    { ".hkl", "intensities of reflections", of_free, write_intensities, DB_OK },
    { ".refl", "the same for DIALS", of_free, write_table, DB_OK },
    { "_model.bin", "the model's spots on the whole image, 32-bit floats", of_pixels, write_spots,
      DB_OK },
    { "_background.bin", "the background beneath them", of_pixels, write_background, DB_OK },
    { db_fit_log_ending, "what was printed", always, NULL, DB_OK },
    { db_fit_checkpoint_ending, "state of an unfinished run", of_list, NULL, DB_OK },
};
enum { OUTPUT_COUNT = sizeof outputs / sizeof *outputs };

static void add_input(void *user, const char *key, const char *file) {
    db_named_files_add(user, DB_ROLE_INPUT, key, file);
}

/* Adds the files of the models of shots. */
static void add_models(const fit_run *run, db_named_files *files) {
    const db_fit_shot_source source = db_fit_shot_list_source(run->list);
    char name[DB_FIT_PATH_SIZE], path[DB_RUN_PATH_SIZE + DB_FIT_PATH_SIZE + 24];
    for (size_t s = 0; s < source.count; s++) {
        db_shots_model_name(source.name(source.user, s), s, source.count, name);
        for (int i = 0; i < (run->options->model_image ? FILES : ALWAYS); i++) {
            snprintf(path, sizeof path, "%s%s/%s%s", run->prefix, models, name, of_each_shot[i]);
            db_named_files_add(files, DB_ROLE_OUTPUT, "output", path);
        }
    }
}

db_status db_fit_outputs_distinct(const fit_run *run) {
    char path[DB_RUN_PATH_SIZE];
    db_named_files files = { 0 };
    if (run->team.rank > 0) return DB_OK;
    if (!run->list)
        db_fit_config_each_input(run->config, NULL, add_input, &files);
    else if (db_fit_shot_list_inputs(run->context, run->list, add_input, &files) != DB_OK)
        files.incomplete = 1;
    for (int o = 0; o < OUTPUT_COUNT; o++) {
        db_fit_run_path(run, outputs[o].ending, path);
        if (outputs[o].wanted(run)) db_named_files_add(&files, DB_ROLE_OUTPUT, "output", path);
    }
    if (of_shots(run)) add_models(run, &files);
    return db_named_files_check("fit", &files);
}

/* The refined list names models by the prefix, so a list must be able to contain it. */
static db_status check_prefix(const fit_run *run) {
    const char *const prefix = run->config->output_prefix;
    const char *const name = db_file_name(prefix);
    if (of_curves(run) && strchr(name, ','))
        return db_complain("fit", DB_ERROR_USAGE,
                           "output %s: expected a name without ',', which names of curves cannot "
                           "have",
                           prefix);
    if (!run->list || name[strcspn(name, "#\"\n\r")] == '\0') return DB_OK;
    return db_complain(
        "fit", DB_ERROR_USAGE,
        "output %s: expected a name without '#', '\"' and line breaks, which lists of "
        "shots cannot have",
        prefix);
}

db_status db_fit_outputs_check(fit_run *run) {
    char path[DB_RUN_PATH_SIZE];
    if (run->team.rank > 0) return DB_OK;
    db_status status = check_prefix(run);
    for (int o = 0; o < OUTPUT_COUNT && status == DB_OK; o++) {
        db_fit_run_path(run, outputs[o].ending, path);
        if (outputs[o].wanted(run)) status = db_output_check("fit", "output", path);
    }
    if (status == DB_OK) status = db_run_lock_take(&run->lock, run->prefix);
    if (status != DB_OK || !of_shots(run)) return status;
    db_fit_run_path(run, models, path);
    run->made_folder = mkdir(path, 0777) == 0;
    if (!run->made_folder && errno != EEXIST)
        return db_complain("fit", DB_ERROR_FILE, "%s: cannot be created: %s", path,
                           strerror(errno));
    return DB_OK;
}

void db_fit_outputs_abandon(const fit_run *run) {
    char path[DB_RUN_PATH_SIZE];
    if (!run->made_folder) return;
    db_fit_run_path(run, models, path);
    (void)rmdir(path); /* fails if there are models */
}

/* Writes the models of this process. */
static db_status write_models(fit_run *run) {
    char folder[DB_RUN_PATH_SIZE];
    db_status status = DB_OK;
    db_fit_run_path(run, models, folder);
    for (size_t s = 0; s < run->result->shot_count && status == DB_OK; s++) {
        const db_fit_result *const shot = &run->result->shot[s];
        if (!shot->used || !(shot->experiment.oversample > 0)) continue;
        status = db_fit_shots_write_model(run->context, folder, run->list, run->result, s);
        if (status == DB_OK && run->options->model_image)
            status = db_fit_shots_write_images(run->context, folder, run->list, run->result, s);
    }
    if (status != DB_OK) db_complain_context("fit", status, run->context);
    DB_TRY(db_fit_run_agree(run, status));
    if (run->team.rank == 0)
        db_fit_say(&run->log,
                   "\n%s: refined model of each shot, a configuration and a list again\n", folder);
    return DB_OK;
}

db_status db_fit_outputs_write(fit_run *run) {
    char path[DB_RUN_PATH_SIZE];
    if (run->list)
        DB_TRY(write_models(run));
    else
        db_fit_say(&run->log, "\n");
    for (int o = 0; o < OUTPUT_COUNT && run->team.rank == 0; o++) {
        db_status status = DB_OK;
        if (!outputs[o].wanted(run) || outputs[o].ending == db_fit_checkpoint_ending) continue;
        db_fit_run_path(run, outputs[o].ending, path);
        if (outputs[o].write) {
            db_progress_bar_say(&run->progress.bar, "writing %s", path);
            status = outputs[o].write(run, path);
            db_progress_bar_clear(&run->progress.bar);
        }
        if (status == DB_OK)
            db_fit_say(&run->log, "%s: %s\n", path, outputs[o].what);
        else if (status == outputs[o].may_lack)
            db_fit_say(&run->log, "not written: %s\n", db_context_message(run->context));
        else
            return db_fit_run_complain(run, status);
    }
    if (!run->list) db_fit_say_cell(&run->log, run->config, &run->result->shot[0]);
    return DB_OK;
}
