/* Writes reflection tables (their layout: reflection_table.c) as MessagePack, of which a few kinds of
 * values are all that is needed. */
#include <dualbragg/reflections.h>

#include "base/atomic_file.h"
#include "base/context_internal.h"
#include "base/file_content.h"

#include <stdint.h>
#include <string.h>

enum { MOST_COLUMNS = 64, HEAD_SIZE = 160, NAME_SIZE = 64 };

/* Bytes of a document, in memory. */
typedef struct {
    unsigned char bytes[HEAD_SIZE];
    size_t size;
} head;

static void put(head *h, const void *bytes, size_t size) {
    memcpy(h->bytes + h->size, bytes, size);
    h->size += size;
}

static void put_byte(head *h, unsigned value) { h->bytes[h->size++] = (unsigned char)value; }

/* A kind of value, then a number of `bytes` bytes, the highest first. */
static void put_number(head *h, unsigned kind, uint64_t value, int bytes) {
    put_byte(h, kind);
    while (bytes-- > 0) put_byte(h, (unsigned)(value >> 8 * bytes) & 0xff);
}

static void put_whole(head *h, uint64_t value) { put_number(h, 0xcf, value, 8); }

static void put_text(head *h, const char *text) {
    const size_t length = strlen(text);
    if (length < 32)
        put_byte(h, 0xa0 | (unsigned)length);
    else
        put_number(h, 0xd9, length, 1);
    put(h, text, length);
}

enum { ARRAY = 0x90, MAP = 0x80 }; /* of up to 15 values, whose number is added */

static void begin(head *h, size_t rows, size_t columns) {
    put_byte(h, ARRAY + 3);
    put_text(h, "dials::af::reflection_table");
    put_byte(h, 1); /* version */
    put_byte(h, MAP + 3);
    put_text(h, "identifiers");
    put_byte(h, MAP);
    put_text(h, "nrows");
    put_whole(h, rows);
    put_text(h, "data");
    put_number(h, 0xde, columns, 2);
}

static void begin_column(head *h, const db_table_column *column, size_t rows) {
    put_text(h, column->name);
    put_byte(h, ARRAY + 2);
    put_text(h, column->type);
    put_byte(h, ARRAY + 2);
    put_whole(h, rows);
    put_number(h, 0xc6, rows * column->size, 4);
}

db_status db_reflection_table_write(db_context *context, const char *path, size_t rows,
                                    const db_table_column *columns, size_t count) {
    head heads[MOST_COLUMNS + 1];
    db_file_part parts[2 * MOST_COLUMNS + 1];
    if (db_machine_is_big_endian())
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "%s: reflection tables are for little-endian machines", path);
    if (count > MOST_COLUMNS)
        return db_fail(context, DB_ERROR_USAGE, "%s: expected at most %d columns, found %zu", path,
                       MOST_COLUMNS, count);
    heads[0].size = 0;
    begin(&heads[0], rows, count);
    parts[0] = (db_file_part){ heads[0].bytes, heads[0].size };
    for (size_t c = 0; c < count; c++) {
        head *const h = &heads[c + 1];
        h->size = 0;
        if (strlen(columns[c].name) >= NAME_SIZE || strlen(columns[c].type) >= NAME_SIZE ||
            rows * columns[c].size > UINT32_MAX)
            return db_fail(context, DB_ERROR_USAGE,
                           "%s: column %s: expected names of fewer than %d characters and less "
                           "than 4 GB",
                           path, columns[c].name, NAME_SIZE);
        begin_column(h, &columns[c], rows);
        parts[2 * c + 1] = (db_file_part){ h->bytes, h->size };
        parts[2 * c + 2] = (db_file_part){ columns[c].bytes, rows * columns[c].size };
    }
    return db_write_atomically(context, path, parts, 2 * count + 1);
}
