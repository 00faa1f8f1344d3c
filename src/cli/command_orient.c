#define _POSIX_C_SOURCE 200809L /* getline */
/* dualbragg orient: orientation matrices. */
#include "base/degree.h"
#include "base/vector.h"
#include "cli/complaint.h"
#include "cli/flag_files.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "cli/standard_streams.h"

#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/mosflm_matrix.h>
#include <dualbragg/expert/text_file.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Replaces the crystal by UBtoA's: the component of c* along a* x b* is too large by sin gamma / sin gamma*. */
static db_status ubtoa_lattice(db_context *context, db_crystal *crystal) {
    double a_star[9];
    db_crystal_matrix(crystal, a_star);
    const double a[3] = { a_star[0], a_star[3], a_star[6] },
                 b[3] = { a_star[1], a_star[4], a_star[7] };
    double n[3];
    db_cross(a, b, n);
    const double sin_gamma_star = db_length(n) / (db_length(a) * db_length(b));
    const double factor = sin(DB_DEGREE * crystal->cell[5]) / sin_gamma_star;
    double along = 0; /* of c* along n, in units of |n|^2 */
    for (int i = 0; i < 3; i++) along += a_star[3 * i + 2] * n[i] / (db_length(n) * db_length(n));
    for (int i = 0; i < 3; i++) a_star[3 * i + 2] += (factor - 1) * along * n[i];
    for (int i = 0; i < 3; i++) crystal->misset[i] = 0;
    return db_crystal_set_matrix(context, crystal, a_star);
}

enum { MOST_NUMBERS = 9 };

typedef enum keyword { CELL, WAVE, UMAT, MISSET, RANDOM, MATRIX, KEYWORD_COUNT } keyword;
static const struct {
    const char *name;
    int least, most;
} keywords[KEYWORD_COUNT] = {
    [CELL] = { "CELL", 6, 6 },     [WAVE] = { "WAVE", 1, 1 },     [UMAT] = { "UMAT", 9, 9 },
    [MISSET] = { "MISSET", 3, 3 }, [RANDOM] = { "RANDOM", 0, 2 }, [MATRIX] = { "MATRIX", 9, 9 },
};

/* Lines of keywords as UBtoA takes them, from settings->keyword_file ("-": standard input) into
 * settings->setup:
 *
 *     CELL a b c alpha beta gamma     cell
 *     WAVE wavelength                 (angstrom)
 *     UMAT nine numbers               orientation U, row by row, instead of what it was
 *     MISSET x y z                    U := U R, R the rotation about x, then y, then z (degree)
 *     RANDOM [spread [seed]]          U := U R, R random
 *     MATRIX nine numbers             A* (1/angstrom), row by row, instead of CELL and orientation
 *
 * matrix: A* of MATRIX, with has_matrix 1 if no CELL, UMAT, MISSET or RANDOM follows it. */
typedef struct reader {
    db_context *context;
    db_settings *settings;
    const char *path;
    size_t line_number;
    double *matrix;
    int has_matrix;
} reader;

static const double identity[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };

/* Rotation of misset angles, from the reciprocal vectors of a cube. */
static void rotation_of(const double misset[3], double rotation[9]) {
    db_crystal cube = { .cell = { 1, 1, 1, 90, 90, 90 } };
    memcpy(cube.orientation, identity, sizeof identity);
    memcpy(cube.misset, misset, sizeof cube.misset);
    db_crystal_matrix(&cube, rotation);
}

static db_status random_misset(const reader *in, const double *number, int count,
                               double misset[3]) {
    db_setup setup;
    db_experiment e;
    if (count > 1 && !(number[1] >= 1 && number[1] <= 2147483646 && number[1] == floor(number[1])))
        return db_complain("orient", DB_ERROR_INPUT,
                           "%s:%zu: RANDOM: expected a seed from 1 to 2147483646, found %g",
                           in->path, in->line_number, number[1]);
    if (count > 0 && !(number[0] > 0))
        return db_complain("orient", DB_ERROR_INPUT,
                           "%s:%zu: RANDOM: expected an angle above 0, found %g", in->path,
                           in->line_number, number[0]);
    db_setup_init(&setup);
    setup.cell[0] = 1;
    setup.misset_random = 1;
    setup.misset_seed = count > 1 ? (long)number[1] : in->settings->setup.misset_seed;
    setup.misset_spread = count > 0 ? number[0] : in->settings->setup.misset_spread;
    const db_status status = db_setup_resolve(in->context, &setup, &e, NULL, NULL);
    if (status != DB_OK)
        return db_complain("orient", status, "%s:%zu: RANDOM: %s", in->path, in->line_number,
                           db_context_message(in->context));
    memcpy(misset, e.crystal.misset, sizeof e.crystal.misset);
    db_experiment_clear(&e);
    return DB_OK;
}

static db_status take_keyword(reader *in, keyword word, const double *number, int count) {
    db_setup *const setup = &in->settings->setup;
    double misset[3], rotation[9], turned[9];
    if (word == WAVE) {
        setup->wavelength = number[0];
        return DB_OK;
    }
    in->has_matrix = word == MATRIX;
    switch (word) {
    case CELL: memcpy(setup->cell, number, sizeof setup->cell); return DB_OK;
    case UMAT: memcpy(setup->orientation, number, sizeof setup->orientation); return DB_OK;
    case MATRIX: memcpy(in->matrix, number, 9 * sizeof *number); return DB_OK;
    default: break;
    }
    memcpy(misset, number, sizeof misset);
    if (word == RANDOM) {
        const db_status status = random_misset(in, number, count, misset);
        if (status != DB_OK) return status;
    }
    rotation_of(misset, rotation);
    db_multiply(setup->orientation, rotation, turned);
    memcpy(setup->orientation, turned, sizeof turned);
    return DB_OK;
}

static db_status read_line(reader *in, char *line) {
    double number[MOST_NUMBERS] = { 0 };
    int count = 0, word = 0;
    line[strcspn(line, "#!\r\n")] = 0;
    char *name = strtok(line, " \t");
    if (!name) return DB_OK;
    /* by their letters in MOSFLM: UMATRIX is UMAT, WAVELENGTH is WAVE */
    while (word < KEYWORD_COUNT &&
           strncasecmp(name, keywords[word].name, strlen(keywords[word].name)) != 0)
        word++;
    if (word == KEYWORD_COUNT)
        return db_complain(
            "orient", DB_ERROR_INPUT,
            "%s:%zu: expected CELL, WAVE, UMAT, MISSET, RANDOM or MATRIX, found '%s'", in->path,
            in->line_number, name);
    for (char *text; (text = strtok(NULL, " \t")); count++) {
        char *end;
        if (count == keywords[word].most) {
            count++; /* one too many */
            break;
        }
        number[count] = strtod(text, &end);
        if (end == text || *end || !isfinite(number[count]))
            return db_complain("orient", DB_ERROR_INPUT,
                               "%s:%zu: %s: expected a finite number, found '%s'", in->path,
                               in->line_number, keywords[word].name, text);
    }
    if (count < keywords[word].least || count > keywords[word].most)
        return db_complain("orient", DB_ERROR_INPUT, "%s:%zu: %s: expected %d numbers, found %s",
                           in->path, in->line_number, keywords[word].name, keywords[word].most,
                           count < keywords[word].least ? "fewer" : "more");
    return take_keyword(in, (keyword)word, number, count);
}

static db_status read_lines(reader *in, FILE *file) {
    char *line = NULL;
    size_t size = 0;
    db_status status = DB_OK;
    while (status == DB_OK && getline(&line, &size, file) >= 0) {
        in->line_number++;
        status = read_line(in, line);
    }
    free(line);
    if (status == DB_OK && ferror(file))
        status = db_complain("orient", DB_ERROR_FILE, "%s: cannot read", in->path);
    return status;
}

static db_status read_keyword_file(db_context *context, db_settings *settings, double matrix[9],
                                   int *has_matrix) {
    const int standard = strcmp(settings->keyword_file, DB_STANDARD_INPUT) == 0;
    reader in = { .context = context,
                  .settings = settings,
                  .path = standard ? "standard input" : settings->keyword_file,
                  .matrix = matrix };
    FILE *const file = standard ? stdin : fopen(settings->keyword_file, "r");
    if (!file)
        return db_complain("orient", DB_ERROR_FILE, "%s: cannot open", settings->keyword_file);
    if (isnan(settings->setup.orientation[0]))
        memcpy(settings->setup.orientation, identity, sizeof identity);
    const db_status status = read_lines(&in, file);
    if (!standard) fclose(file);
    *has_matrix = in.has_matrix;
    return status;
}

static db_status read_keywords(db_context *context, db_settings *settings, double matrix[9],
                               int *has_matrix) {
    const db_setup *const setup = &settings->setup;
    if (!settings->keyword_file) return DB_OK;
    if (setup->matrix_file || setup->misset_random)
        return db_complain("orient", DB_ERROR_USAGE,
                           "-keywords: expected orientations either there or from -mat and -misset "
                           "random, found both");
    return read_keyword_file(context, settings, matrix, has_matrix);
}

/* The crystal that flags and keywords describe. */
static db_status resolve_orientation(db_context *context, db_settings *settings,
                                     db_experiment *experiment) {
    db_setup *const setup = &settings->setup;
    double matrix[9];
    int has_matrix = 0;
    const int compat = setup->compat;
    setup->compat = 0; /* UBtoA has other habits */
    if (compat && isnan(setup->misset_spread) && (setup->misset_random || settings->keyword_file))
        setup->misset_spread = 90;
    db_status status = read_keywords(context, settings, matrix, &has_matrix);
    if (status != DB_OK) return status;
    if (!setup->misset_random) setup->misset_spread = NAN;
    if (has_matrix) {
        setup->cell[0] = 1; /* until the cell is set */
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
    if (status == DB_OK && settings->output_file)
        status = db_write_text(context, settings->output_file, text, strlen(text));
    if (status != DB_OK) return db_complain_context("orient", status, context);
    if (settings->quiet) return DB_OK;
    if (settings->print_as)
        print_flags(experiment);
    else
        fputs(text, stdout);
    return DB_OK;
}

static db_status orient_by_spots(db_settings *settings) {
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
    if (status == DB_OK) status = resolve_orientation(context, settings, &experiment);
    if (status == DB_OK) status = write_results(context, settings, &experiment);
    db_experiment_clear(&experiment);
    db_context_destroy(&context);
    return status;
}

static int run_orient(const db_command *command, int argc, char **argv) {
    db_settings settings;
    db_arguments given;
    db_settings_init(&settings, command->flags);
    db_status status = db_arguments_read(&given, command->flags, argc, argv);
    if (status == DB_OK) {
        db_settings_apply(&settings, &given);
        if (settings.help)
            db_print_help(stdout, command);
        else {
            db_settings_remark(&settings, &given);
            status = orient_by_spots(&settings);
        }
    }
    db_arguments_clear(&given);
    return db_status_exit_code(status);
}

const db_command db_orient_command = { "orient", db_orient_help, &db_orient_flags, run_orient };
