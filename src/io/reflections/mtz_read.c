/* Amplitudes of an MTZ file: which of its columns are taken, and how. gemmi reads the file. */
#include "io/reflections/gemmi_files.h"

#include "base/context_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct mtz {
    db_amplitude_reading *reading;
    db_reflection_columns columns;
    long symmetry_column; /* M/ISYM of unmerged files; -1: the file is merged */
} mtz;

/* The columns to read: one, or one for each Friedel mate. */
typedef struct choice {
    long plus, minus; /* the same for both mates */
    int squared;      /* they are intensities */
} choice;

static long find_label(const mtz *m, const char *label, size_t length) {
    for (long c = 0; c < (long)m->columns.count; c++)
        if (strlen(m->columns.column[c].label) == length &&
            memcmp(m->columns.column[c].label, label, length) == 0)
            return c;
    return -1;
}

/* Coefficients of maps, and differences of Friedel mates, have the type of amplitudes. */
static int is_map(const char *label) {
    return strstr(label, "WT") || strstr(label, "DELF") || strstr(label, "ANOM") ||
           strstr(label, "DANO");
}

/* The column of its standard deviations, which follows; -1: there is none. */
static long sigma_of(const mtz *m, long c) {
    return c + 1 < (long)m->columns.count && strchr("QLM", m->columns.column[c + 1].type) ? c + 1
                                                                                          : -1;
}

/* The first column of a type; with its sigma if that is asked for. */
static long first_of(const mtz *m, char type, int with_sigma) {
    for (long c = 3; c < (long)m->columns.count; c++)
        if (m->columns.column[c].type == type && !is_map(m->columns.column[c].label) &&
            (!with_sigma || sigma_of(m, c) >= 0))
            return c;
    return -1;
}

/* X(+) and X(-) of a type. */
static int first_pair(const mtz *m, char type, choice *taken) {
    for (long c = 3; c < (long)m->columns.count; c++) {
        char other[DB_COLUMN_LABEL];
        char *const sign = strstr(strcpy(other, m->columns.column[c].label), "(+)");
        if (m->columns.column[c].type != type || !sign) continue;
        sign[1] = '-';
        taken->plus = c;
        taken->minus = find_label(m, other, strlen(other));
        if (taken->minus >= 0) return 1;
    }
    return 0;
}

static int choose_by_type(const mtz *m, choice *taken) {
    *taken = (choice){ -1, -1, 0 };
    long one = first_of(m, 'F', 1);
    if (one < 0 && first_pair(m, 'G', taken)) return 1;
    if (one < 0) one = first_of(m, 'F', 0);
    if (one < 0) {
        taken->squared = 1;
        one = first_of(m, 'J', 0);
        if (one < 0 && first_pair(m, 'K', taken)) return 1;
    }
    taken->plus = taken->minus = one;
    return one >= 0;
}

static db_status fail_columns(const mtz *m, const char *columns) {
    char list[300] = "";
    for (long c = 3; c < (long)m->columns.count && strlen(list) < 240; c++)
        if (strchr("FGJK", m->columns.column[c].type))
            snprintf(list + strlen(list), sizeof list - strlen(list), " %s",
                     m->columns.column[c].label);
    if (!columns)
        return db_fail(m->reading->context, DB_ERROR_INPUT,
                       "%s: expected a column of amplitudes or intensities, found:%s",
                       m->reading->path, *list ? list : " none");
    return db_fail(m->reading->context, DB_ERROR_INPUT,
                   "%s: columns %s: expected one of amplitudes or intensities, or two of Friedel "
                   "mates with a comma between; there are:%s",
                   m->reading->path, columns, *list ? list : " none");
}

static db_status choose_columns(const mtz *m, const char *columns, choice *taken) {
    if (!columns) return choose_by_type(m, taken) ? DB_OK : fail_columns(m, columns);
    const char *const comma = strchr(columns, ',');
    const size_t length = comma ? (size_t)(comma - columns) : strlen(columns);
    taken->plus = find_label(m, columns, length);
    taken->minus = comma ? find_label(m, comma + 1, strlen(comma + 1)) : taken->plus;
    if (taken->plus < 0 || taken->minus < 0) return fail_columns(m, columns);
    const char type = m->columns.column[taken->plus].type;
    if (!strchr("FGJK", type) || m->columns.column[taken->minus].type != type)
        return fail_columns(m, columns);
    taken->squared = type == 'J' || type == 'K';
    return DB_OK;
}

static double value_at(const mtz *m, size_t row, long column) {
    return column < 0 ? NAN : m->columns.value[row * m->columns.count + (size_t)column];
}

static db_status take_index(const mtz *m, size_t row, int index[3]) {
    for (int i = 0; i < 3; i++) {
        const double value = value_at(m, row, i);
        if (!(fabs(value) <= 1e6) || value != rint(value))
            return db_fail(m->reading->context, DB_ERROR_INPUT,
                           "%s: reflection %zu: expected a whole number as %s, found %g",
                           m->reading->path, row + 1, m->columns.column[i].label, value);
        index[i] = (int)value;
    }
    return DB_OK;
}

/* Restores the measured indices' sign from 256 M + ISYM: M > 0 marks a part of a reflection, which is refused; an
 * even ISYM means that the Friedel mate was measured. */
static db_status undo_symmetry(const mtz *m, size_t row, int index[3]) {
    const double value = value_at(m, row, m->symmetry_column);
    if (!(value >= 1 && value <= 1e6)) return DB_OK;
    const int number = (int)value, symmetry = number % 256;
    if (number >= 256)
        return db_fail(m->reading->context, DB_ERROR_INPUT,
                       "%s: observation %zu is a part of a reflection (M/ISYM %d): the mean of "
                       "parts is not the reflection's; merge the file first (aimless)",
                       m->reading->path, row + 1, number);
    for (int i = 0; i < 3 && symmetry > 0 && symmetry % 2 == 0; i++) index[i] = -index[i];
    return DB_OK;
}

static db_status add_reflection(const mtz *m, size_t row, long column, const int index[3],
                                int sign) {
    db_listed_reflection item = { .value = value_at(m, row, column),
                                  .sigma = value_at(m, row, sigma_of(m, column)) };
    for (int i = 0; i < 3; i++) item.index[i] = sign * index[i];
    return isnan(item.value)
               ? DB_OK
               : db_reflection_list_add(m->reading->context, &m->reading->list, &item);
}

static db_status take_reflection(const mtz *m, size_t row, const choice *taken) {
    int index[3];
    DB_TRY(take_index(m, row, index));
    if (m->symmetry_column >= 0) DB_TRY(undo_symmetry(m, row, index));
    if (taken->minus != taken->plus) DB_TRY(add_reflection(m, row, taken->minus, index, -1));
    return add_reflection(m, row, taken->plus, index, 1);
}

static long find_symmetry_column(const mtz *m) {
    for (long c = 3; c < (long)m->columns.count; c++)
        if (m->columns.column[c].type == 'Y') return c;
    return -1;
}

static db_status take_all(mtz *m) {
    db_amplitude_reading *const r = m->reading;
    choice taken = { -1, -1, 0 };
    DB_TRY(choose_columns(m, r->options->columns, &taken));
    const db_reflection_column *const plus = &m->columns.column[taken.plus];
    const char *const minus = m->columns.column[taken.minus].label;
    const int pair = taken.minus != taken.plus;
    snprintf(r->chosen, r->chosen_size, "%s%s%s%s", plus->label, pair ? ", " : "",
             pair ? minus : "", taken.squared ? " (intensities)" : "");
    m->symmetry_column = find_symmetry_column(m);
    for (size_t row = 0; row < m->columns.rows; row++) DB_TRY(take_reflection(m, row, &taken));
    if (r->list.count == 0)
        return db_fail(r->context, DB_ERROR_INPUT, "%s: column %s has no values", r->path,
                       plus->label);
    r->list.squared = taken.squared;
    r->list.group = m->columns.group;
    r->wavelength = plus->wavelength;
    memcpy(r->cell, m->columns.cell, sizeof r->cell);
    return DB_OK;
}

db_status db_mtz_read(db_amplitude_reading *reading, const db_file_content *content) {
    mtz *const m = calloc(1, sizeof *m);
    if (!m) return db_fail_memory(reading->context, reading->path);
    m->reading = reading;
    db_status status = db_gemmi_read_mtz(reading->context, reading->path, content, &m->columns);
    if (status == DB_OK) status = take_all(m);
    free(m->columns.column);
    free(m->columns.value);
    free(m);
    return status;
}
