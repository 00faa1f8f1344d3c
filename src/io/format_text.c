/* Texts, told by how they begin. */
#include "io/format_text.h"

#include "base/text_reader.h"
#include "io/images/cbf.h"
#include "io/reflections/reflection_list.h"

#include <math.h>
#include <string.h>

/* The first character that is neither white space nor of a line that begins with the mark. */
static const char *skip_comments(const char *p, char mark) {
    for (;;) {
        p += strspn(p, " \t\r\n");
        if (*p != mark) return p;
        p += strcspn(p, "\n");
    }
}

int db_is_json_object(const db_file_head *head) {
    const char *p = head->start.bytes + strspn(head->start.bytes, " \t\r\n");
    if (*p != '{') return 0;
    p += 1 + strspn(p + 1, " \t\r\n");
    return *p == '"' || *p == '}';
}

int db_is_experiment_list(const db_file_head *head) {
    const char *const start = head->start.bytes;
    return db_is_json_object(head) &&
           (strstr(start, "\"ExperimentList\"") || strstr(start, "\"imageset\""));
}

int db_is_cif(const db_file_head *head) {
    return !db_is_cbf(&head->start) &&
           strncmp(skip_comments(head->start.bytes, '#'), "data_", 5) == 0;
}

int db_is_pdb(const db_file_head *head) {
    static const char *const records[] = {
        "HEADER", "OBSLTE", "TITLE ", "SPLIT ", "CAVEAT", "COMPND", "SOURCE", "KEYWDS",
        "EXPDTA", "AUTHOR", "REVDAT", "SPRSDE", "JRNL  ", "REMARK", "USER  ", "DBREF ",
        "SEQRES", "MODRES", "HET   ", "HELIX ", "SHEET ", "SSBOND", "LINK  ", "CISPEP",
        "CRYST1", "ORIGX1", "SCALE1", "MTRIX1", "MODEL ", "ATOM  ", "HETATM"
    };
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        if (strncmp(head->start.bytes, records[i], 6) == 0) return 1;
    return 0;
}

/* Six whole numbers, a line end, a form feed. */
int db_is_amplitude_cache(const db_file_head *head) {
    const char *p = head->start.bytes;
    for (int i = 0; i < 6; i++) {
        p += *p == '-';
        const size_t digits = strspn(p, "0123456789");
        p += digits;
        if (!digits || *p != (i < 5 ? ' ' : '\n')) return 0;
        p++;
    }
    return *p == '\f';
}

/* Numbers at the start of a line, at most `most`; -1: it begins with something else. */
static int numbers_of(const char *line, size_t length, int most, double *value) {
    char copy[256];
    const char *cursor = copy;
    if (length >= sizeof copy) length = sizeof copy - 1;
    memcpy(copy, line, length);
    copy[length] = '\0';
    copy[strcspn(copy, "#\r")] = '\0';
    for (int count = 0;; count++) {
        const db_word word = db_next_word(&cursor, DB_WHITE_SPACE ",;");
        if (word.length == 0 || count == most) return count;
        if (!db_word_number(word, &value[count])) return count ? count : -1;
    }
}

/* Numbers in each of the first lines that have something in them; how many such lines there are.
 * -1: a line begins with something else. */
static int numbers_in_lines(const db_file_head *head, int lines, int most, int *counts,
                            double *values) {
    const char *p = head->start.bytes;
    int found = 0;
    while (*p && found < lines) {
        const size_t length = strcspn(p, "\n");
        const int count = numbers_of(p, length, most, values);
        if (count < 0) return -1;
        if (count > 0) {
            counts[found++] = count;
            values += most;
        }
        p += length + (p[length] == '\n');
    }
    return found;
}

int db_is_matrix(const db_file_head *head) {
    int counts[3];
    double values[12];
    return numbers_in_lines(head, 3, 4, counts, values) == 3 && counts[0] == 3 && counts[1] == 3 &&
           counts[2] == 3;
}

int db_is_reflection_lines(const db_file_head *head) {
    int count;
    double v[4];
    if (db_is_shelx_list(head->start.bytes)) return 1;
    return numbers_in_lines(head, 1, 4, &count, v) == 1 && count == 4 && v[0] == rint(v[0]) &&
           v[1] == rint(v[1]) && v[2] == rint(v[2]);
}

int db_is_columns(const db_file_head *head) {
    int count;
    double v[4];
    return numbers_in_lines(head, 1, 4, &count, v) == 1 && count >= 2;
}
