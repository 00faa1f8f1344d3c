/* Headers of MTZ, mmCIF and PDB files. Gemmi reads their contents; these few records need no library. */
#include "io/reflections/amplitude_header.h"

#include "base/context_internal.h"
#include "base/file_content.h"
#include "io/cif.h"
#include "io/formats.h"

#include <dualbragg/expert/file_kind.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RECORD = 80 };

/* Numbers of a record behind its keyword. */
static int read_numbers(const char *record, int count, double *number) {
    const char *cursor = record;
    db_next_word(&cursor, DB_WHITE_SPACE);
    for (int i = 0; i < count; i++)
        if (!db_word_number(db_next_word(&cursor, DB_WHITE_SPACE), &number[i])) return 0;
    return 1;
}

static void add_column(const char *record, db_amplitude_header *h) {
    char label[32] = "", type[2] = "";
    const size_t length = strlen(h->columns);
    if (sscanf(record, "COLUMN %30s %1s", label, type) != 2) return;
    snprintf(h->columns + length, sizeof h->columns - length, "%s%s (%s)", length ? ", " : "",
             label, type);
}

/* A record of 80 characters, ended. 0 at the last one. */
static int take_record(const char *record, db_amplitude_header *h) {
    double number[6];
    if (strncmp(record, "END", 3) == 0) return 0;
    if (strncmp(record, "CELL ", 5) == 0 && read_numbers(record, 6, number))
        memcpy(h->cell, number, sizeof h->cell);
    if (strncmp(record, "NCOL ", 5) == 0 && read_numbers(record, 2, number) && number[1] >= 0)
        h->count = (size_t)fmin(fmax(number[1], 0), 1e15);
    if (strncmp(record, "RESO ", 5) == 0 && read_numbers(record, 2, number))
        for (int i = 0; i < 2; i++) h->resolution[i] = number[i] > 0 ? 1 / sqrt(number[i]) : NAN;
    if (strncmp(record, "SYMINF ", 7) == 0) {
        const char *const open = strchr(record, '\'');
        const char *const close = open ? strchr(open + 1, '\'') : NULL;
        if (close) snprintf(h->group, sizeof h->group, "%.*s", (int)(close - open - 1), open + 1);
    }
    if (strncmp(record, "COLUMN ", 7) == 0) add_column(record, h);
    return 1;
}

/* Reads an MTZ file's records, which follow the reflections; their place is counted in words of four bytes. */
static void read_mtz(const db_file_content *content, db_amplitude_header *h) {
    char record[RECORD + 1] = "";
    if (content->size < 20) return;
    const unsigned char *const b = (const unsigned char *)content->bytes;
    const int little = (b[8] >> 4) == 4;
    uint32_t word = 0;
    for (int i = 0; i < 4; i++) word |= (uint32_t)b[4 + (little ? i : 3 - i)] << 8 * i;
    if (word < 1) return;
    for (size_t at = 4 * ((size_t)word - 1); at < content->size && content->size - at >= RECORD;
         at += RECORD) {
        memcpy(record, content->bytes + at, RECORD);
        if (!take_record(record, h)) return;
    }
}

static db_status take_item(db_context *context, const char *path, const db_file_content *content,
                           const char *category, const char *item, db_amplitude_header *h) {
    db_cif_table table;
    DB_TRY(db_cif_table_read(context, path, content->bytes, content->bytes + content->size,
                             category, &table));
    const db_word name = db_cif_value(&table, 0, db_cif_column(&table, item));
    if (!*h->group) snprintf(h->group, sizeof h->group, "%.*s", DB_WORD_ARGUMENTS(name));
    db_cif_table_clear(&table);
    return DB_OK;
}

static db_status count_rows(db_context *context, const char *path, const db_file_content *content,
                            const char *category, size_t *rows) {
    db_cif_table table;
    DB_TRY(db_cif_table_read(context, path, content->bytes, content->bytes + content->size,
                             category, &table));
    *rows = table.rows;
    db_cif_table_clear(&table);
    return DB_OK;
}

static db_status read_cif(db_context *context, const char *path, const db_file_content *content,
                          db_amplitude_header *h) {
    static const char *const items[] = { "length_a",    "length_b",   "length_c",
                                         "angle_alpha", "angle_beta", "angle_gamma" };
    db_cif_table table;
    size_t atoms = 0;
    DB_TRY(db_cif_table_read(context, path, content->bytes, content->bytes + content->size, "cell",
                             &table));
    for (int i = 0; i < 6; i++)
        if (!db_cif_number(&table, 0, db_cif_column(&table, items[i]), &h->cell[i]))
            h->cell[i] = NAN;
    db_cif_table_clear(&table);
    DB_TRY(take_item(context, path, content, "symmetry", "space_group_name_H-M", h));
    DB_TRY(take_item(context, path, content, "space_group", "name_H-M_alt", h));
    DB_TRY(count_rows(context, path, content, "refln", &h->count));
    if (h->count) return DB_OK;
    DB_TRY(count_rows(context, path, content, "atom_site", &atoms));
    h->coordinates = atoms > 0;
    h->count = atoms;
    return DB_OK;
}

/* Columns 7 to 54 of CRYST1 are the cell, 56 to 66 the space group. */
static void read_cryst1(const char *line, size_t length, db_amplitude_header *h) {
    static const struct {
        size_t first, width;
    } field[6] = { { 6, 9 }, { 15, 9 }, { 24, 9 }, { 33, 7 }, { 40, 7 }, { 47, 7 } };
    for (int i = 0; i < 6; i++) {
        char text[16] = "";
        const char *cursor = text;
        if (length < field[i].first + field[i].width) return;
        memcpy(text, line + field[i].first, field[i].width);
        double value;
        if (db_word_number(db_next_word(&cursor, DB_WHITE_SPACE), &value)) h->cell[i] = value;
    }
    if (length > 55) {
        const size_t room = length - 55 < 11 ? length - 55 : 11;
        size_t end = room;
        while (end && line[55 + end - 1] == ' ') end--;
        snprintf(h->group, sizeof h->group, "%.*s", (int)end, line + 55);
    }
}

static void read_pdb(const db_file_content *content, db_amplitude_header *h) {
    h->coordinates = 1;
    for (size_t at = 0; at < content->size;) {
        const char *const line = content->bytes + at;
        const char *const end = memchr(line, '\n', content->size - at);
        const size_t length = end ? (size_t)(end - line) : content->size - at;
        if (length > 6 && memcmp(line, "CRYST1", 6) == 0) read_cryst1(line, length, h);
        if (length > 6 && (memcmp(line, "ATOM  ", 6) == 0 || memcmp(line, "HETATM", 6) == 0))
            h->count++;
        at += length + 1;
    }
}

int db_cell_is_stated(const double cell[6]) {
    for (int i = 0; i < 6; i++)
        if (!(cell[i] > 0)) return 0;
    return 1;
}

db_status db_amplitude_header_read(db_context *context, const char *path,
                                   db_amplitude_header *header) {
    *header = (db_amplitude_header){ .resolution = { NAN, NAN } };
    for (int i = 0; i < 6; i++) header->cell[i] = NAN;
    db_file_content content;
    DB_TRY(db_file_content_read(context, path, &content));
    const db_format *const format = db_format_of_content(path, &content, DB_HOLDS_AMPLITUDES);
    db_status status = DB_OK;
    switch (format ? format->amplitudes : DB_NO_AMPLITUDES) {
    case DB_AMPLITUDES_MTZ: read_mtz(&content, header); break;
    case DB_AMPLITUDES_CIF: status = read_cif(context, path, &content, header); break;
    case DB_AMPLITUDES_PDB: read_pdb(&content, header); break;
    default: break;
    }
    db_file_content_clear(&content);
    return status;
}
