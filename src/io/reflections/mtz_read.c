/* Amplitudes of an MTZ file: which of its columns are taken, and how. gemmi reads the file. */
#include "io/reflections/gemmi_files.h"

#include "base/context_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct mtz {
    db_context *context;
    const char *path;
    db_reflection_columns columns;
} mtz;

/* The columns to read: one, or those of the two Friedel mates; intensities become amplitudes. */
typedef struct choice {
    long plus, minus; /* the same for both mates */
    int squared;
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

/* The first column of a type; with its sigma behind it if that is asked for. */
static long first_of(const mtz *m, char type, int with_sigma) {
    for (long c = 3; c < (long)m->columns.count; c++)
        if (m->columns.column[c].type == type && !is_map(m->columns.column[c].label) &&
            (!with_sigma || m->columns.column[c].with_sigma))
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
        return db_fail(m->context, DB_ERROR_INPUT,
                       "%s: expected a column of amplitudes or intensities, found:%s", m->path,
                       *list ? list : " none");
    return db_fail(m->context, DB_ERROR_INPUT,
                   "%s: columns %s: expected one of amplitudes or intensities, or two of Friedel "
                   "mates with a comma between; there are:%s",
                   m->path, columns, *list ? list : " none");
}

static db_status choose(const mtz *m, const char *columns, choice *taken) {
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

/* 0 if the entry has no value. Negative intensities are zero. */
static int amplitude_at(const mtz *m, size_t reflection, long which, int squared,
                        double *amplitude) {
    const double value = m->columns.value[reflection * m->columns.count + (size_t)which];
    *amplitude = squared ? sqrt(fmax(0, value)) : value;
    return !isnan(value);
}

static db_status take_reflection(const mtz *m, size_t reflection, const choice *taken,
                                 db_reflection_list *list) {
    int index[3], opposite[3];
    double plus = 0, minus = 0;
    for (int i = 0; i < 3; i++) {
        const double value = m->columns.value[reflection * m->columns.count + (size_t)i];
        if (!(fabs(value) <= 1e6) || value != rint(value))
            return db_fail(m->context, DB_ERROR_INPUT,
                           "%s: reflection %zu: expected a whole number as %s, found %g", m->path,
                           reflection + 1, m->columns.column[i].label, value);
        index[i] = (int)value;
        opposite[i] = -index[i];
    }
    const int has_plus = amplitude_at(m, reflection, taken->plus, taken->squared, &plus);
    if (taken->minus == taken->plus)
        return has_plus ? db_reflection_list_add(m->context, list, index, plus) : DB_OK;
    if (amplitude_at(m, reflection, taken->minus, taken->squared, &minus))
        DB_TRY(db_reflection_list_add(m->context, list, opposite, minus));
    return has_plus ? db_reflection_list_add(m->context, list, index, plus) : DB_OK;
}

static db_status take_all(const mtz *m, const char *labels, char *chosen, size_t chosen_size,
                          db_reflection_list *list) {
    choice taken = { -1, -1, 0 };
    DB_TRY(choose(m, labels, &taken));
    const char *const plus = m->columns.column[taken.plus].label;
    const char *const minus = m->columns.column[taken.minus].label;
    const int pair = taken.minus != taken.plus;
    snprintf(chosen, chosen_size, "%s%s%s%s", plus, pair ? ", " : "", pair ? minus : "",
             taken.squared ? " (intensities)" : "");
    for (size_t i = 0; i < m->columns.rows; i++) DB_TRY(take_reflection(m, i, &taken, list));
    if (list->count == 0)
        return db_fail(m->context, DB_ERROR_INPUT, "%s: column %s has no values", m->path, plus);
    list->symmetry = m->columns.symmetry;
    return DB_OK;
}

db_status db_mtz_read(db_context *context, const char *path, const db_file_content *content,
                      const char *labels, char *chosen, size_t chosen_size,
                      db_reflection_list *list) {
    mtz *const m = calloc(1, sizeof *m);
    if (!m) return db_fail_memory(context, path);
    m->context = context;
    m->path = path;
    db_status status = db_gemmi_read_mtz(context, path, content, &m->columns);
    if (status == DB_OK) status = take_all(m, labels, chosen, chosen_size, list);
    free(m->columns.column);
    free(m->columns.value);
    free(m);
    return status;
}
