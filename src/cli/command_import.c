/* dualbragg import: reports the contents of files. */
#include "base/context_internal.h"
#include "base/path.h"
#include "cli/complaint.h"
#include "cli/flag_files.h"
#include "cli/help.h"
#include "cli/import.h"
#include "cli/standard_streams.h"
#include "io/experiments/expt_write.h"

#include <dualbragg/expert/sensor_depth.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct import_options {
    const char *json_file, *expt_file;
    int quiet, help;
} import_options;

#define FLAGS_FILL import_options
static const db_flag flags[] = {
    // clang-format off
    { .name = "-o", .aliases = "-exptfile", .arguments = "FILE", DB_ONE(TEXT), DB_TO(expt_file), .writes = ~0u, .endings = "expt json", .for_terminal = 1,
      .help = "writes beam, detector, rotation and crystal (if there is one) as an experiment list of DIALS (.expt)" },
    { .name = "-json", .arguments = "FILE", DB_ONE(TEXT), DB_TO(json_file), .writes = ~0u, .endings = "json", .for_terminal = 1,
      .help = "all results for programs; - is standard output" },
    { .name = "--quiet", .aliases = "-q", DB_SETS(quiet, 1), .help = "prints nothing but errors" },
    { .name = "--help", .aliases = "-h", DB_SETS(help, 1), .ends = 1, .help = "prints this" },
    // clang-format on
};
static const db_flag_table flag_table = {
    .command = "import", .flags = flags, .count = sizeof flags / sizeof *flags, .takes_words = 1
};

typedef struct import_run {
    import_options options;
    db_context *context;
    const char **path; /* owned list */
    db_imported *file; /* owned */
    size_t count;
    db_import_summary *summary;
} import_run;

static db_status read_options(import_run *run, int argc, char **argv) {
    db_arguments given;
    db_status status = db_arguments_read(&given, &flag_table, argc, argv);
    run->path = calloc(given.count + 1, sizeof *run->path);
    if (status == DB_OK && !run->path) status = db_complain("import", DB_ERROR_MEMORY, "no memory");
    for (size_t i = 0; run->path && i < given.count && status == DB_OK; i++) {
        if (given.argument[i].flag)
            db_argument_store(&given.argument[i], &run->options);
        else
            run->path[run->count++] = db_streams_input_name(given.argument[i].text);
    }
    db_arguments_clear(&given);
    if (status != DB_OK || run->options.help) return status;
    db_flag_files_settle(&flag_table, &run->options);
    if (run->count) return DB_OK;
    return db_complain("import", DB_ERROR_USAGE, "expected files, found none");
}

static db_status check_files(import_run *run) {
    db_named_files named = { 0 };
    for (size_t i = 0; i < run->count; i++)
        db_named_files_add(&named, DB_ROLE_INPUT, "FILE", run->path[i]);
    db_status status = db_flag_files_check(&flag_table, &run->options, &named);
    for (size_t i = 0; i < run->count && status == DB_OK; i++)
        status = db_streams_take_input("import", "FILE", run->path[i]);
    return status == DB_OK ? db_flag_files_take_output(&flag_table, &run->options) : status;
}

/* The crystal of the files, in the frame of the experiment. */
static db_status take_crystal(const import_run *run, db_experiment *e, int *has_crystal) {
    const db_import_summary *const s = run->summary;
    *has_crystal = 0;
    if (s->crystal < 0) {
        memcpy(e->crystal.cell, db_any_cell,
               sizeof db_any_cell); /* experiments have one, lists may not */
        return DB_OK;
    }
    const db_imported *const from = &run->file[s->crystal];
    *has_crystal = 1;
    if (isnan(from->matrix[0])) {
        e->crystal = from->experiment.crystal;
        return DB_OK;
    }
    double a_star[9];
    for (int i = 0; i < 9; i++) a_star[i] = from->matrix[i] / e->beam.wavelength;
    return db_crystal_set_matrix(run->context, &e->crystal, a_star);
}

/* The sensor of a list, or of a file with chains of axes: their experiments have none. */
static void take_sensor(const import_run *run, const db_imported *from, db_experiment *e) {
    const db_expt_content *const c = &from->content;
    db_detector *const detector = &e->detector;
    double depth = c->attenuation_depth;
    if (detector->sensor_thickness > 0 || !db_imported_has_sensor(from)) return;
    if (!(depth > 0) && c->sensor_material &&
        db_sensor_attenuation_depth(run->context, c->sensor_material, e->beam.wavelength, &depth) !=
            DB_OK)
        depth = NAN;
    if (depth > 0) {
        detector->sensor_thickness = c->sensor_thickness;
        detector->sensor_material = c->sensor_material;
        detector->attenuation_depth = depth;
    } else if (!run->options.quiet) {
        db_remark("import", "%s leaves out the sensor of %s, whose absorption is not known",
                  run->options.expt_file, from->path);
    }
}

static void say_notice(void *user, const char *line) {
    (void)user;
    db_remark("import", "%s", line);
}

static db_status write_list(const import_run *run) {
    const db_import_summary *const s = run->summary;
    const db_imported *const from = s->geometry >= 0 ? &run->file[s->geometry] : NULL;
    db_experiment e;
    int has_crystal;
    if (!from)
        return db_complain("import", DB_ERROR_INPUT,
                           "-o %s: expected a file with the detector's geometry; missing: %s",
                           run->options.expt_file, s->sim);
    const db_imported *const shown = s->image >= 0 ? &run->file[s->image] : NULL;
    char *const whole = shown ? db_whole_path(shown->name) : NULL;
    db_expt_image image = { .path = whole ? whole : "",
                            .gain = 1,
                            .space_group = s->crystal < 0 ? NULL : run->file[s->crystal].group };
    if (shown && !whole) image.path = shown->name;
    db_expt_panel *const panel = db_imported_panels(from, shown);
    db_status status = db_experiment_copy(run->context, &from->experiment, &e);
    if (status == DB_OK && from->content.polarization_unknown) {
        e.beam.polarization = 2 * DB_LISTED_POLARIZATION - 1;
        if (!run->options.quiet)
            db_remark(
                "import",
                "%s: the polarization is not stated; %s has the fraction %g, as dxtbx takes it",
                from->path, run->options.expt_file, DB_LISTED_POLARIZATION);
    }
    if (status == DB_OK && !panel) status = db_fail_memory(run->context, "the panels of a list");
    if (status == DB_OK) status = take_crystal(run, &e, &has_crystal);
    if (status == DB_OK) take_sensor(run, from, &e);
    db_context_set_notices(run->context, run->options.quiet ? NULL : say_notice, NULL);
    if (status == DB_OK)
        status =
            db_expt_write(run->context, run->options.expt_file, &e, &image, panel, has_crystal);
    if (status == DB_OK && from->found & DB_HOLDS_IMAGES) /* a list may refer to itself */
        status = db_expt_keep(run->context, run->options.expt_file, from->path, 0, 0);
    db_context_set_notices(run->context, NULL, NULL);
    db_experiment_clear(&e);
    char lost[DB_LEFT_OUT_TEXT];
    if (status == DB_OK && !run->options.quiet && db_imported_left_out(from, lost))
        db_remark("import", "%s leaves out what %s says of: %s", run->options.expt_file, from->path,
                  lost);
    free(whole);
    free(panel);
    return status == DB_OK ? DB_OK : db_complain_context("import", status, run->context);
}

/* Reports files that could not be read; the first failure is the program's. */
static db_status complain_of_import(const import_run *run) {
    db_status first = DB_OK;
    for (size_t i = 0; i < run->count; i++) {
        if (run->file[i].status == DB_OK) continue;
        db_complain("import", run->file[i].status, "%s", run->file[i].failure);
        if (first == DB_OK) first = run->file[i].status;
    }
    return first;
}

/* The first image named by lists; NULL: none. */
static const char *first_image(const import_run *run) {
    for (size_t i = 0; i < run->count; i++) {
        db_file_kind kind;
        if (db_recognize_file(run->context, run->path[i], &kind) == DB_OK &&
            kind.holds & DB_HOLDS_IMAGES)
            return run->path[i];
    }
    return NULL;
}

static db_status import(import_run *run) {
    db_status status = check_files(run);
    if (status != DB_OK) return status;
    run->file = calloc(run->count, sizeof *run->file);
    run->summary = calloc(1, sizeof *run->summary);
    if (!run->file || !run->summary) return db_complain("import", DB_ERROR_MEMORY, "no memory");
    const char *const image = first_image(run);
    for (size_t i = 0; i < run->count; i++)
        db_imported_read(run->context, run->path[i], image, &run->file[i]);
    db_import_sum_up(run->context, run->file, run->count, run->summary);
    if (!run->options.quiet) db_import_print(run->file, run->count, run->summary);
    if (run->options.json_file) {
        status = db_import_write_json(run->context, run->options.json_file, run->file, run->count,
                                      run->summary);
        if (status != DB_OK) return db_complain_context("import", status, run->context);
    }
    status = complain_of_import(run);
    const db_status written = run->options.expt_file ? write_list(run) : DB_OK;
    return status != DB_OK ? status : written;
}

static int run_import(const db_command *command, int argc, char **argv) {
    import_run run = { .count = 0 };
    db_status status = read_options(&run, argc, argv);
    if (status == DB_OK && run.options.help) {
        db_print_help(stdout, command);
    } else if (status == DB_OK) {
        status = db_context_create(&run.context);
        status =
            status == DB_OK ? import(&run) : db_complain_context("import", status, run.context);
    }
    for (size_t i = 0; run.file && i < run.count; i++) db_imported_clear(&run.file[i]);
    free(run.file);
    free(run.summary);
    free(run.path);
    db_context_destroy(&run.context);
    return db_status_exit_code(status);
}

const db_command db_import_command = { "import", db_import_help, &flag_table, run_import };
