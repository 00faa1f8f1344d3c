/* Writes reflection tables as MessagePack (layout: reflection_table_read.c), of which only a few kinds of values
 * are needed. HDF5: reflection_table_write_hdf5.c. */
#include "io/reflections/reflection_table.h"

#include "base/atomic_file.h"
#include "base/context_internal.h"
#include "base/given.h"
#include "base/file_content.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 64, HEAD_SIZE = 160, NAME_SIZE = 64 };

/* Bytes of a document, in memory. */
typedef struct {
    unsigned char bytes[HEAD_SIZE];
    size_t size;
} head;

static void put_head(head *h, const void *bytes, size_t size) {
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
    put_head(h, text, length);
}

enum { ARRAY = 0x90, MAP = 0x80 }; /* with up to 15 values; their number is added */

static void begin_table(head *h, size_t identifiers) {
    put_byte(h, ARRAY + 3);
    put_text(h, "dials::af::reflection_table");
    put_byte(h, 1); /* version */
    put_byte(h, MAP + 3);
    put_text(h, "identifiers");
    put_number(h, 0xdf, identifiers, 4);
}

/* Writes the part between identifiers and columns. */
static void begin_columns(head *h, const db_table_content *content) {
    put_text(h, "nrows");
    put_whole(h, content->rows);
    put_text(h, "data");
    put_number(h, 0xde, content->column_count, 2);
}

/* Numbers and texts of the identifiers, to be freed; *size: their bytes. NULL: no memory. */
static unsigned char *pack_identifiers(const db_table_content *content, size_t *size) {
    size_t room = 1;
    *size = 0;
    for (size_t i = 0; i < content->identifier_count; i++)
        room += sizeof((head *)0)->bytes + strlen(content->identifiers[i].text);
    unsigned char *const packed = malloc(room);
    for (size_t i = 0; i < content->identifier_count && packed; i++) {
        const db_table_identifier *const one = &content->identifiers[i];
        const size_t length = strlen(one->text);
        head h = { .size = 0 };
        put_number(&h, 0xce, (uint64_t)one->id, 4);
        put_number(&h, 0xdb, length, 4);
        memcpy(packed + *size, h.bytes, h.size);
        memcpy(packed + *size + h.size, one->text, length);
        *size += h.size + length;
    }
    return packed;
}

static void begin_column(head *h, const db_table_column *column, size_t rows) {
    put_text(h, column->name);
    put_byte(h, ARRAY + 2);
    put_text(h, column->type);
    put_byte(h, ARRAY + 2);
    put_whole(h, rows);
    put_number(h, 0xc6, rows * column->size, 4);
}

static db_status write_msgpack(db_context *context, const char *path,
                               const db_table_content *content) {
    const size_t count = content->column_count;
    head first = { .size = 0 }, second = { .size = 0 }, heads[MOST_COLUMNS];
    db_file_part parts[2 * MOST_COLUMNS + 3];
    size_t size;
    unsigned char *const identifiers = pack_identifiers(content, &size);
    if (!identifiers) return db_fail_memory(context, path);
    begin_table(&first, content->identifier_count);
    begin_columns(&second, content);
    parts[0] = (db_file_part){ first.bytes, first.size };
    parts[1] = (db_file_part){ identifiers, size };
    parts[2] = (db_file_part){ second.bytes, second.size };
    for (size_t c = 0; c < count; c++) {
        const db_table_column *const column = &content->columns[c];
        heads[c].size = 0;
        begin_column(&heads[c], column, content->rows);
        parts[2 * c + 3] = (db_file_part){ heads[c].bytes, heads[c].size };
        parts[2 * c + 4] = (db_file_part){ column->bytes, content->rows * column->size };
    }
    const db_status status = db_write_atomically(context, path, parts, 2 * count + 3);
    free(identifiers);
    return status;
}

static db_status check_content(db_context *context, const char *path,
                               const db_table_content *content) {
    if (db_machine_is_big_endian())
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "%s: reflection tables are for little-endian machines", path);
    DB_TRY(db_need_list(context, "columns of a reflection table", content->columns,
                        content->column_count));
    DB_TRY(db_need_list(context, "identifiers of a reflection table", content->identifiers,
                        content->identifier_count));
    if (content->column_count > MOST_COLUMNS)
        return db_fail(context, DB_ERROR_USAGE, "%s: expected at most %d columns, found %zu", path,
                       MOST_COLUMNS, content->column_count);
    for (size_t c = 0; c < content->column_count; c++) {
        const db_table_column *const column = &content->columns[c];
        DB_TRY(db_need_list(context, column->name, column->bytes, content->rows));
        if (strlen(column->name) >= NAME_SIZE || strlen(column->type) >= NAME_SIZE ||
            content->rows * column->size > UINT32_MAX)
            return db_fail(context, DB_ERROR_USAGE,
                           "%s: column %s: expected names of fewer than %d characters and less "
                           "than 4 GB",
                           path, column->name, NAME_SIZE);
    }
    return DB_OK;
}

db_status db_reflection_table_write(db_context *context, const char *path, db_table_form form,
                                    const db_table_content *content) {
    DB_TRY(db_need_choice(context, "form of a reflection table", (int)form, DB_TABLE_HDF5));
    DB_TRY(check_content(context, path, content));
    return form == DB_TABLE_HDF5 ? db_table_write_hdf5(context, path, content)
                                 : write_msgpack(context, path, content);
}
