/* dualbragg orient: orientation matrices. */
#include "base/vector.h"
#include "cli/complaint.h"
#include "cli/flag_files.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "cli/orient_keywords.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double RADIAN = 0.017453292519943295769; /* per degree */

/* Puts the crystal that UBtoA makes of a cell in place of the right one: the component of c* along
 * a* x b* is too large by sin gamma / sin gamma*. */
static db_status ubtoa_lattice(db_context *context, db_crystal *crystal) {
    double a_star[9];
    db_crystal_matrix(crystal, a_star);
    const double a[3] = { a_star[0], a_star[3], a_star[6] },
                 b[3] = { a_star[1], a_star[4], a_star[7] };
    double n[3];
    db_cross(a, b, n);
    const double sin_gamma_star = db_length(n) / (db_length(a) * db_length(b));
    const double factor = sin(RADIAN * crystal->cell[5]) / sin_gamma_star;
    double along = 0; /* of c* along n, in units of |n|^2 */
    for (int i = 0; i < 3; i++) along += a_star[3 * i + 2] * n[i] / (db_length(n) * db_length(n));
    for (int i = 0; i < 3; i++) a_star[3 * i + 2] += (factor - 1) * along * n[i];
    for (int i = 0; i < 3; i++) crystal->misset[i] = 0;
    return db_crystal_set_matrix(context, crystal, a_star);
}

static db_status read_keywords(db_context *context, db_settings *settings, double matrix[9],
                               int *has_matrix) {
    const db_setup *const setup = &settings->setup;
    if (!settings->keyword_file) return DB_OK;
    if (setup->matrix_file || setup->misset_random)
        return db_complain("orient", DB_ERROR_USAGE,
                           "-keywords: expected orientations either there or from -mat and -misset "
                           "random, found both");
    return db_orient_keywords_read(context, settings, matrix, has_matrix);
}

/* The crystal that flags and keywords describe. */
static db_status resolve(db_context *context, db_settings *settings, db_experiment *experiment) {
    db_setup *const setup = &settings->setup;
    double matrix[9];
    int has_matrix = 0;
    const int compat = setup->compat;
    setup->compat = 0; /* UBtoA's habits are other ones */
    if (compat && isnan(setup->misset_spread) && (setup->misset_random || settings->keyword_file))
        setup->misset_spread = 90;
    db_status status = read_keywords(context, settings, matrix, &has_matrix);
    if (status != DB_OK) return status;
    if (!setup->misset_random) setup->misset_spread = NAN;
    if (has_matrix) {
        setup->cell[0] = 1; /* for the moment */
        memset(setup->misset, 0, sizeof setup->misset);
    }
    status = db_setup_resolve(context, setup, experiment, NULL, NULL);
    if (status == DB_OK && has_matrix)
        status = db_crystal_set_matrix(context, &experiment->crystal, matrix);
    else if (status == DB_OK && compat && !setup->matrix_file)
        status = ubtoa_lattice(context, &experiment->crystal);
    return status == DB_OK ? DB_OK : db_complain_context("orient", status, context);
}

static void print_flags(const db_experiment *experiment) {
    const double *const cell = experiment->crystal.cell;
    double misset[3];
    db_crystal_misset(&experiment->crystal, misset);
    printf("-cell %.10g %.10g %.10g %.10g %.10g %.10g -misset %.10g %.10g %.10g -lambda %.10g\n",
           cell[0], cell[1], cell[2], cell[3], cell[4], cell[5], misset[0], misset[1], misset[2],
           experiment->beam.wavelength);
}

static db_status write_results(db_context *context, const db_settings *settings,
                               const db_experiment *experiment) {
    char text[DB_MATRIX_TEXT_SIZE];
    db_status status = db_format_mosflm_matrix(context, experiment, text, sizeof text);
    if (status == DB_OK && settings->matrix_output)
        status = db_write_text(context, settings->matrix_output, text, strlen(text));
    if (status != DB_OK) return db_complain_context("orient", status, context);
    if (settings->quiet) return DB_OK;
    if (settings->print_as)
        print_flags(experiment);
    else
        fputs(text, stdout);
    return DB_OK;
}

static db_status orient(db_settings *settings) {
    db_context *context = NULL;
    db_experiment experiment = { 0 };
    db_named_files files = { 0 };
    db_status status = db_flag_files_check(settings->flags, settings, &files);
    if (status == DB_OK) status = db_flag_files_take_input(settings->flags, settings);
    if (status == DB_OK) status = db_flag_files_take_output(settings->flags, settings);
    if (status == DB_OK) {
        status = db_context_create(&context);
        if (status != DB_OK) db_complain_context("orient", status, context);
    }
    if (status == DB_OK) status = resolve(context, settings, &experiment);
    if (status == DB_OK) status = write_results(context, settings, &experiment);
    db_experiment_clear(&experiment);
    db_context_destroy(&context);
    return status;
}

static int run(const db_command *command, int argc, char **argv) {
    db_settings settings;
    db_arguments given;
    db_settings_init(&settings, command->flags);
    db_status status = db_arguments_read(&given, command->flags, argc, argv);
    if (status == DB_OK) {
        db_settings_apply(&settings, &given);
        if (settings.help)
            db_print_help(stdout, command);
        else
            status = orient(&settings);
    }
    db_arguments_clear(&given);
    return db_status_exit_code(status);
}

const db_command db_orient_command = { "orient", db_orient_help, &db_orient_flags, run };
