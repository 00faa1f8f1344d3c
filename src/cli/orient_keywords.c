#define _POSIX_C_SOURCE 200809L /* getline */
#include "cli/orient_keywords.h"

#include "cli/complaint.h"
#include "cli/standard_streams.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_NUMBERS = 9 };

typedef enum keyword { CELL, WAVE, UMAT, MISSET, RANDOM, MATRIX, KEYWORD_COUNT } keyword;
static const struct {
    const char *name;
    int least, most;
} keywords[KEYWORD_COUNT] = {
    [CELL] = { "CELL", 6, 6 },     [WAVE] = { "WAVE", 1, 1 },     [UMAT] = { "UMAT", 9, 9 },
    [MISSET] = { "MISSET", 3, 3 }, [RANDOM] = { "RANDOM", 0, 2 }, [MATRIX] = { "MATRIX", 9, 9 },
};

typedef struct reader {
    db_context *context;
    db_settings *settings;
    const char *path;
    size_t line_number;
    double *matrix;
    int has_matrix;
} reader;

static const double identity[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };

/* The rotation of misset angles: what they make of a cube's reciprocal vectors. */
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
    db_setup_init(&setup);
    setup.cell[0] = 1;
    setup.misset_random = 1;
    setup.misset_seed = count > 1 ? (long)number[1] : in->settings->setup.misset_seed;
    setup.misset_spread =
        count > 0 && number[0] > 0 ? number[0] : in->settings->setup.misset_spread;
    const db_status status = db_setup_resolve(in->context, &setup, &e, NULL, NULL);
    if (status != DB_OK)
        return db_complain("orient", status, "%s:%zu: RANDOM: %s", in->path, in->line_number,
                           db_context_message(in->context));
    memcpy(misset, e.crystal.misset, sizeof e.crystal.misset);
    db_experiment_clear(&e);
    return DB_OK;
}

/* U := U R */
static void turn(double u[9], const double r[9]) {
    double product[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            product[3 * i + j] =
                u[3 * i] * r[j] + u[3 * i + 1] * r[3 + j] + u[3 * i + 2] * r[6 + j];
    memcpy(u, product, sizeof product);
}

static db_status take(reader *in, keyword word, const double *number, int count) {
    db_setup *const setup = &in->settings->setup;
    double misset[3], rotation[9];
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
    turn(setup->orientation, rotation);
    return DB_OK;
}

static db_status read_line(reader *in, char *line) {
    double number[MOST_NUMBERS] = { 0 };
    int count = 0, word = 0;
    line[strcspn(line, "#!\r\n")] = 0;
    char *name = strtok(line, " \t");
    if (!name) return DB_OK;
    /* as far as MOSFLM reads them: UMATRIX is UMAT, WAVELENGTH is WAVE */
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
    return take(in, (keyword)word, number, count);
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

db_status db_orient_keywords_read(db_context *context, db_settings *settings, double matrix[9],
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
