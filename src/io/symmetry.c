/* Operators of space groups: as text, and from CCP4's table. */
#include "io/reflection_list.h"

#include "base/context_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One of the three parts, as "x-y+1/3": coefficients of x, y, z. Translations are passed over. */
static int parse_row(const char *p, const char *end, int row[3]) {
    int any = 0, terms = 0;
    row[0] = row[1] = row[2] = 0;
    while (p < end) {
        int sign = 1, signs = 0;
        while (p < end &&
               (isspace((unsigned char)*p) || ((*p == '+' || *p == '-') && signs == 0))) {
            if (*p == '-') sign = -1;
            signs += *p == '+' || *p == '-';
            p++;
        }
        if (p == end) return any && !signs;
        if (terms++ > 0 && signs == 0) return 0;
        const int letter = tolower((unsigned char)*p);
        if (letter >= 'x' && letter <= 'z') {
            row[letter - 'x'] += sign;
            any = 1;
            p++;
            continue;
        }
        const char *const number = p;
        while (p < end && (isdigit((unsigned char)*p) || *p == '/' || *p == '.')) p++;
        if (p == number) return 0;
    }
    return any;
}

int db_symmetry_add(db_symmetry *symmetry, db_word text) {
    int rotation[9];
    const char *p = text.start;
    const char *const end = text.start + text.length;
    for (int i = 0; i < 3; i++) {
        const char *const comma = i < 2 ? memchr(p, ',', (size_t)(end - p)) : end;
        if (!comma || !parse_row(p, comma, rotation + 3 * i)) return 0;
        p = comma + 1;
    }
    for (int i = 0; i < 9; i++)
        if (rotation[i] < -1 || rotation[i] > 1) return 0;
    const int *const r = rotation;
    const int determinant = r[0] * (r[4] * r[8] - r[5] * r[7]) -
                            r[1] * (r[3] * r[8] - r[5] * r[6]) + r[2] * (r[3] * r[7] - r[4] * r[6]);
    if (determinant != 1 && determinant != -1) return 0;
    for (int i = 0; i < symmetry->count; i++)
        if (memcmp(symmetry->rotation[i], rotation, sizeof rotation) == 0) return 1;
    if (symmetry->count == DB_MOST_OPERATORS) return 0;
    memcpy(symmetry->rotation[symmetry->count++], rotation, sizeof rotation);
    return 1;
}

void db_symmetry_turn(const db_symmetry *symmetry, int operator_index, const int hkl[3],
                      int turned[3]) {
    const int *const r = symmetry->rotation[operator_index];
    for (int i = 0; i < 3; i++) turned[i] = hkl[0] * r[i] + hkl[1] * r[3 + i] + hkl[2] * r[6 + i];
}

enum { PATH_SIZE = 1024 };

/* path receives the name of the table; the text refers to it. */
static db_status open_table(db_context *context, const char *group, char path[PATH_SIZE],
                            db_text *text) {
    const char *const file = getenv("SYMINFO");
    const char *const folder = getenv("CLIBD");
    if (file)
        snprintf(path, PATH_SIZE, "%s", file);
    else
        snprintf(path, PATH_SIZE, "%s/syminfo.lib", folder ? folder : "/usr/share/ccp4");
    if (db_text_open(context, path, text) == DB_OK) return DB_OK;
    return db_fail(context, DB_ERROR_UNSUPPORTED,
                   "space group %s: its operators are in CCP4's table syminfo.lib (Debian: "
                   "libccp4-data), which is not in %s; set SYMINFO to its name",
                   group, path);
}

/* Letters and digits without white space, quotes and case: "P 61 2 2" is "p6122". */
static void simplify(const char *text, size_t length, char out[64]) {
    size_t n = 0;
    for (size_t i = 0; i < length && n < 63; i++)
        if (!isspace((unsigned char)text[i]) && text[i] != '\'')
            out[n++] = (char)tolower((unsigned char)text[i]);
    out[n] = '\0';
}

/* Does a line "number 178", "symbol xHM 'P 61 2 2'" or "symbol old 'P 61 2 2'" name the group? */
static int names_group(const char *line, const char *wanted) {
    const char *cursor = line;
    const db_word key = db_next_word(&cursor, DB_WHITE_SPACE);
    int names = key.length == 6 && memcmp(key.start, "number", 6) == 0;
    if (key.length == 6 && memcmp(key.start, "symbol", 6) == 0) {
        const db_word kind = db_next_word(&cursor, DB_WHITE_SPACE);
        names = kind.length == 3 &&
                (memcmp(kind.start, "xHM", 3) == 0 || memcmp(kind.start, "old", 3) == 0);
    }
    char found[64];
    simplify(cursor, strlen(cursor), found);
    return names && strcmp(found, wanted) == 0;
}

static int begins_with(const char *line, const char *word) {
    return strncmp(line + strspn(line, DB_WHITE_SPACE), word, strlen(word)) == 0;
}

static db_status search(db_context *context, db_text *text, const char *group,
                        db_symmetry *symmetry) {
    char wanted[64];
    int found = 0;
    simplify(group, strlen(group), wanted);
    while (db_text_next_line(text)) {
        if (begins_with(text->line, "begin_spacegroup")) found = 0;
        if (!found) found = names_group(text->line, wanted);
        if (found && begins_with(text->line, "end_spacegroup")) return DB_OK;
        if (!found || !begins_with(text->line, "symop")) continue;
        const char *const operation = strstr(text->line, "symop") + 5;
        if (!db_symmetry_add(symmetry, (db_word){ operation, strlen(operation) }))
            return db_fail(context, DB_ERROR_INPUT, "%s:%zu: expected an operator, found '%.40s'",
                           text->path, text->line_number, operation);
    }
    return db_fail(context, DB_ERROR_INPUT, "space group %s: not in the table %s", group,
                   text->path);
}

db_status db_symmetry_of_group(db_context *context, const char *group, db_symmetry *symmetry) {
    char path[PATH_SIZE];
    db_text text;
    memset(symmetry, 0, sizeof *symmetry);
    DB_TRY(open_table(context, group, path, &text));
    const db_status status = search(context, &text, group, symmetry);
    db_text_close(&text);
    return status;
}
