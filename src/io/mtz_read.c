/* MTZ reflection files: a table of 32-bit floats, and behind it a header of 80-character records
 * (CCP4's library manual, "MTZ format").
 *
 * Read here and not by libccp4, because files come from anywhere: that library prints, ends the
 * program at what it calls fatal, and trusts what the header says of sizes. */
#include "io/reflection_list.h"

#include "base/context_internal.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD = 80, FIRST_WORD = 20, MOST_COLUMNS = 1000, LABEL = 32 };

typedef struct column {
    char label[LABEL];
    char type;
} column;

typedef struct mtz {
    db_context *context;
    const char *path;
    const db_file_content *content;
    int swapped;
    long columns, reflections;
    double missing; /* value that stands for none, beside NAN */
    column *column; /* [columns]; owned */
    long described; /* columns with a record so far */
    db_symmetry symmetry;
} mtz;

int db_is_mtz(const db_file_content *content) {
    return content->size > FIRST_WORD * 4 && memcmp(content->bytes, "MTZ ", 4) == 0;
}

static uint32_t word_at(const mtz *m, size_t byte) {
    unsigned char b[4];
    memcpy(b, m->content->bytes + byte, 4);
    return m->swapped ? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]
                      : (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
}

static double float_at(const mtz *m, size_t reflection, size_t which) {
    const uint32_t bits = word_at(m, 4 * (FIRST_WORD + reflection * (size_t)m->columns + which));
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static int is(db_word word, const char *text) {
    return word.length == strlen(text) && memcmp(word.start, text, word.length) == 0;
}

static db_status fail_record(const mtz *m, const char *record, const char *expected) {
    char shown[64];
    snprintf(shown, sizeof shown, "%.*s", 60, record);
    return db_fail(m->context, DB_ERROR_INPUT, "%s: expected %s in the header, found '%s'", m->path,
                   expected, shown);
}

static db_status read_counts(mtz *m, const char *record, const char *cursor) {
    double numbers[2] = { 0, 0 };
    for (int i = 0; i < 2; i++)
        if (!db_word_number(db_next_word(&cursor, DB_WHITE_SPACE), &numbers[i]) ||
            numbers[i] != floor(numbers[i]) || numbers[i] < 1 || numbers[i] > 1e9)
            return fail_record(m, record, "numbers of columns and reflections");
    if (m->column) return fail_record(m, record, "one record NCOL");
    m->columns = (long)numbers[0];
    m->reflections = (long)numbers[1];
    if (m->columns > MOST_COLUMNS ||
        (double)m->columns * (double)m->reflections * 4 + FIRST_WORD * 4 > (double)m->content->size)
        return db_fail(m->context, DB_ERROR_INPUT,
                       "%s: truncated: %ld reflections of %ld columns do not fit into %zu bytes",
                       m->path, m->reflections, m->columns, m->content->size);
    m->column = calloc((size_t)m->columns, sizeof *m->column);
    return m->column ? DB_OK : db_fail_memory(m->context, m->path);
}

static db_status read_column(mtz *m, const char *record, const char *cursor) {
    const db_word label = db_next_word(&cursor, DB_WHITE_SPACE),
                  type = db_next_word(&cursor, DB_WHITE_SPACE);
    if (m->described >= m->columns || type.length != 1 || label.length >= LABEL)
        return fail_record(m, record, "as many columns as NCOL says, each with label and type");
    column *const c = &m->column[m->described++];
    memcpy(c->label, label.start, label.length);
    c->type = *type.start;
    return DB_OK;
}

static db_status read_record(mtz *m, const char *record) {
    const char *cursor = record;
    const db_word key = db_next_word(&cursor, DB_WHITE_SPACE);
    if (is(key, "NCOL")) return read_counts(m, record, cursor);
    if (is(key, "COLUMN")) return read_column(m, record, cursor);
    if (is(key, "VALM")) {
        double value;
        if (db_word_number(db_next_word(&cursor, DB_WHITE_SPACE), &value)) m->missing = value;
    }
    if (is(key, "SYMM") && !db_symmetry_add(&m->symmetry, (db_word){ cursor, strlen(cursor) }))
        return fail_record(m, record, "an operator of the space group");
    return DB_OK;
}

static db_status read_header(mtz *m) {
    const size_t size = m->content->size;
    m->swapped = (m->content->bytes[8] & 0xf0) == 0x10; /* machine stamp: big-endian floats */
    const uint64_t start = 4 * ((uint64_t)word_at(m, 4) - 1);
    if (start < FIRST_WORD * 4 || start > size)
        return db_fail(m->context, DB_ERROR_INPUT,
                       "%s: truncated: expected the header at byte %llu of %zu", m->path,
                       (unsigned long long)start, size);
    for (size_t at = (size_t)start; at + RECORD <= size; at += RECORD) {
        char record[RECORD + 1];
        memcpy(record, m->content->bytes + at, RECORD);
        record[RECORD] = '\0';
        if (strncmp(record, "END", 3) == 0 && (record[3] == ' ' || record[3] == '\0')) break;
        DB_TRY(read_record(m, record));
    }
    if (!m->column || m->described != m->columns || m->columns < 4 || m->symmetry.count == 0)
        return db_fail(m->context, DB_ERROR_INPUT,
                       "%s: expected a header with NCOL, SYMM and as many COLUMN, found %ld "
                       "columns, %ld described, %d operators",
                       m->path, m->columns, m->described, m->symmetry.count);
    for (int i = 0; i < 3; i++)
        if (m->column[i].type != 'H')
            return db_fail(m->context, DB_ERROR_INPUT,
                           "%s: expected H, K, L as the first columns, found %s of type %c",
                           m->path, m->column[i].label, m->column[i].type);
    return DB_OK;
}

/* The columns to read: one, or those of the two Friedel mates; intensities become amplitudes. */
typedef struct choice {
    long plus, minus; /* the same for both mates */
    int squared;
} choice;

static long find_label(const mtz *m, const char *label, size_t length) {
    for (long c = 0; c < m->columns; c++)
        if (strlen(m->column[c].label) == length && memcmp(m->column[c].label, label, length) == 0)
            return c;
    return -1;
}

static int is_map(const char *label) {
    return strstr(label, "WT") != NULL || strstr(label, "DELF") != NULL;
}

/* The first column of a type; with its sigma behind it if that is asked for. */
static long first_of(const mtz *m, char type, int with_sigma) {
    for (long c = 3; c < m->columns; c++)
        if (m->column[c].type == type && !is_map(m->column[c].label) &&
            (!with_sigma || (c + 1 < m->columns && m->column[c + 1].type == 'Q')))
            return c;
    return -1;
}

/* X(+) and X(-) of a type. */
static int first_pair(const mtz *m, char type, choice *taken) {
    for (long c = 3; c < m->columns; c++) {
        char other[LABEL];
        char *const sign = strstr(strcpy(other, m->column[c].label), "(+)");
        if (m->column[c].type != type || !sign) continue;
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
    if (one < 0) one = first_of(m, 'F', 0);
    if (one < 0 && first_pair(m, 'G', taken)) return 1;
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
    for (long c = 3; c < m->columns && strlen(list) < 240; c++)
        if (strchr("FGJK", m->column[c].type))
            snprintf(list + strlen(list), sizeof list - strlen(list), " %s", m->column[c].label);
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
    const char type = m->column[taken->plus].type;
    if (!strchr("FGJK", type) || m->column[taken->minus].type != type)
        return fail_columns(m, columns);
    taken->squared = type == 'J' || type == 'K';
    return DB_OK;
}

/* 0 if the entry has no value. Negative intensities are zero. */
static int amplitude_at(const mtz *m, size_t reflection, long which, int squared,
                        double *amplitude) {
    const double value = float_at(m, reflection, (size_t)which);
    if (!isfinite(value) || value == m->missing) return 0;
    *amplitude = squared ? sqrt(fmax(0, value)) : value;
    return 1;
}

static db_status take_reflection(const mtz *m, size_t reflection, const choice *taken,
                                 db_reflection_list *list) {
    int index[3], opposite[3];
    double plus = 0, minus = 0;
    for (int i = 0; i < 3; i++) {
        const double value = float_at(m, reflection, (size_t)i);
        if (!(fabs(value) <= 1e6) || value != rint(value))
            return db_fail(m->context, DB_ERROR_INPUT,
                           "%s: reflection %zu: expected a whole number as %s, found %g", m->path,
                           reflection + 1, m->column[i].label, value);
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

static db_status read_all(mtz *m, const char *columns, char *chosen, size_t chosen_size,
                          db_reflection_list *list) {
    choice taken = { -1, -1, 0 };
    DB_TRY(read_header(m));
    DB_TRY(choose(m, columns, &taken));
    const char *const plus = m->column[taken.plus].label;
    const char *const minus = m->column[taken.minus].label;
    const int pair = taken.minus != taken.plus;
    snprintf(chosen, chosen_size, "%s%s%s%s", plus, pair ? ", " : "", pair ? minus : "",
             taken.squared ? " (intensities)" : "");
    for (long i = 0; i < m->reflections; i++) DB_TRY(take_reflection(m, (size_t)i, &taken, list));
    if (list->count == 0)
        return db_fail(m->context, DB_ERROR_INPUT, "%s: column %s has no values", m->path, plus);
    list->symmetry = m->symmetry;
    return DB_OK;
}

db_status db_mtz_read(db_context *context, const char *path, const db_file_content *content,
                      const char *columns, char *chosen, size_t chosen_size,
                      db_reflection_list *list) {
    mtz *const m = calloc(1, sizeof *m);
    if (!m) return db_fail_memory(context, path);
    m->context = context;
    m->path = path;
    m->content = content;
    m->missing = NAN;
    const db_status status = read_all(m, columns, chosen, chosen_size, list);
    free(m->column);
    free(m);
    return status;
}
