/* Small MTZ files for tests. */
#ifndef DB_TEST_MTZ_FOR_TESTS_H
#define DB_TEST_MTZ_FOR_TESTS_H

#include "files_for_tests.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* An MTZ file from its parts. */
typedef struct mtz_parts {
    const char *columns; /* "F:F SIGF:Q ..." behind H K L */
    const char *operators[8];
    int width;         /* columns with H K L */
    const float *rows; /* [count][width] */
    int count;
    int big_endian;
    int all;                /* 1: columns are all there are, nothing stands before them */
    const char *records[4]; /* further ones, such as "CELL 50 60 70 90 90 90" */
} mtz_parts;

static inline void put_word(unsigned char *at, uint32_t word, int big_endian) {
    for (int i = 0; i < 4; i++) at[i] = (unsigned char)(word >> (big_endian ? 24 - 8 * i : 8 * i));
}

static inline void put_record(unsigned char *bytes, size_t *size, const char *text) {
    memset(bytes + *size, ' ', 80);
    memcpy(bytes + *size, text, strlen(text) < 80 ? strlen(text) : 80);
    *size += 80;
}

static inline const char *mtz_file(const char *name, const mtz_parts *p) {
    static unsigned char bytes[20000];
    char text[100], label[32], type;
    size_t size = 80;
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, "MTZ ", 4);
    bytes[8] = p->big_endian ? 0x11 : 0x44;
    bytes[9] = p->big_endian ? 0x11 : 0x41;
    for (int i = 0; i < p->count * p->width; i++, size += 4) {
        uint32_t word;
        memcpy(&word, &p->rows[i], 4);
        put_word(bytes + size, word, p->big_endian);
    }
    put_word(bytes + 4, (uint32_t)(size / 4 + 1), p->big_endian);
    put_record(bytes, &size, "VERS MTZ:V1.1");
    snprintf(text, sizeof text, "NCOL %8d %12d %8d", p->width, p->count, 0);
    put_record(bytes, &size, text);
    for (int i = 0; i < 8 && p->operators[i]; i++) {
        snprintf(text, sizeof text, "SYMM %s", p->operators[i]);
        put_record(bytes, &size, text);
    }
    put_record(bytes, &size, "VALM -999");
    for (int i = 0; i < 4 && p->records[i]; i++) put_record(bytes, &size, p->records[i]);
    for (int i = 0; i < 3 && !p->all; i++) {
        snprintf(text, sizeof text, "COLUMN %c %31c %17d %2d %4d", "HKL"[i], 'H', 0, 9, 1);
        put_record(bytes, &size, text);
    }
    int used = 0;
    for (const char *c = p->columns; sscanf(c, " %31[^:]:%c%n", label, &type, &used) == 2;
         c += used) {
        snprintf(text, sizeof text, "COLUMN %-30s %c %17d %17d %4d", label, type, 0, 9, 1);
        put_record(bytes, &size, text);
    }
    put_record(bytes, &size, "END ");
    return folder_file(name, bytes, size);
}

#endif
