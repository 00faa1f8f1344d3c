/* A table is an HDF5 file (reflection_table_hdf5.c) or a MessagePack document: [name, version,
 * {nrows, identifiers, data}], where data has for each column [type, [rows, bytes]], the bytes as
 * little-endian machines hold them. */
#include "io/reflections/reflection_table.h"

#include "base/context_internal.h"
#include "base/file_content.h"
#include "base/growth.h"
#include "io/reflections/message_pack.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char name_of_tables[] = "dials::af::reflection_table";

/* Also behind a block of the user. */
static int begins_as_hdf5(const void *bytes, size_t size) {
    static const unsigned char signature[8] = "\x89HDF\r\n\x1a\n";
    const unsigned char *const start = bytes;
    for (size_t at = 0; at + sizeof signature <= size; at = at ? 2 * at : 512)
        if (memcmp(start + at, signature, sizeof signature) == 0) return 1;
    return 0;
}

int db_is_reflection_table(const void *bytes, size_t size) {
    /* an array of three, and a string of 27 bytes: 0xa0 + length in one byte, as short ones are */
    const size_t length = sizeof name_of_tables - 1;
    const unsigned char *const start = bytes;
    if (begins_as_hdf5(bytes, size)) return 1;
    return size > length + 2 && start[0] == 0x93 && start[1] == 0xa0 + length &&
           memcmp(start + 2, name_of_tables, length) == 0;
}

#if defined(DB_HAVE_MSGPACK)
#include <msgpack.h>

typedef struct reading {
    db_context *context;
    const char *path;
    const msgpack_object *data; /* the map of columns */
    size_t rows;
} reading;

static int is_text(const msgpack_object *o, const char *text) {
    return o->type == MSGPACK_OBJECT_STR && o->via.str.size == strlen(text) &&
           memcmp(o->via.str.ptr, text, o->via.str.size) == 0;
}

/* Value of a key; NULL if the map has none. */
static const msgpack_object *member(const msgpack_object *map, const char *key) {
    for (uint32_t i = 0; i < map->via.map.size; i++)
        if (is_text(&map->via.map.ptr[i].key, key)) return &map->via.map.ptr[i].val;
    return NULL;
}

/* Finds the bytes of a column with `row` bytes per row; *bytes NULL: there is none. */
static db_status find_column(const reading *r, const char *name, const char *type, size_t row,
                             const char **bytes) {
    const msgpack_object *const column = member(r->data, name);
    *bytes = NULL;
    if (!column) return DB_OK;
    const msgpack_object *const part = column->via.array.ptr;
    if (column->type != MSGPACK_OBJECT_ARRAY || column->via.array.size != 2 ||
        part[1].type != MSGPACK_OBJECT_ARRAY || part[1].via.array.size != 2 ||
        part[1].via.array.ptr[0].type != MSGPACK_OBJECT_POSITIVE_INTEGER ||
        part[1].via.array.ptr[1].type != MSGPACK_OBJECT_BIN)
        return db_fail(r->context, DB_ERROR_INPUT,
                       "%s: column %s: expected a type, a number of rows and their bytes", r->path,
                       name);
    if (!is_text(&part[0], type))
        return db_fail(r->context, DB_ERROR_INPUT, "%s: column %s: expected %s, found '%.*s'",
                       r->path, name, type,
                       part[0].type == MSGPACK_OBJECT_STR && part[0].via.str.size < 60
                           ? (int)part[0].via.str.size
                           : 0,
                       part[0].via.str.ptr);
    const msgpack_object *const rows = part[1].via.array.ptr;
    if (rows[0].via.u64 != r->rows || rows[1].via.bin.size != r->rows * row)
        return db_fail(r->context, DB_ERROR_INPUT,
                       "%s: column %s: expected %zu rows of %zu bytes, found %llu rows and %zu "
                       "bytes in all",
                       r->path, name, r->rows, row, (unsigned long long)rows[0].via.u64,
                       (size_t)rows[1].via.bin.size);
    *bytes = rows[1].via.bin.ptr;
    return DB_OK;
}

/* Copies a column whose elements have the same size in the file and in memory. */
static db_status copy_column(const reading *r, const char *name, const char *type, size_t row,
                             void **out) {
    const char *bytes;
    DB_TRY(find_column(r, name, type, row, &bytes));
    if (!bytes) return DB_OK;
    *out = malloc(r->rows * row + 1);
    if (!*out) return db_fail_memory(r->context, r->path);
    memcpy(*out, bytes, r->rows * row);
    return DB_OK;
}

static db_status read_columns(const reading *r, db_reflection_table *table) {
    void *hkl = NULL;
    void *position = NULL;
    void *box = NULL;
    void *experiment = NULL;
    const char *panels;
    db_status status = copy_column(r, "miller_index", "cctbx::miller::index<>", 12, &hkl);
    if (status == DB_OK) status = copy_column(r, "xyzobs.px.value", "vec3<double>", 24, &position);
    if (status == DB_OK) status = copy_column(r, "bbox", "int6", 24, &box);
    if (status == DB_OK) status = copy_column(r, "id", "int", 4, &experiment);
    table->hkl = hkl;
    table->position = position;
    table->box = box;
    table->experiment = experiment;
    if (status != DB_OK) return status;
    DB_TRY(find_column(r, "panel", "std::size_t", 8, &panels));
    if (!panels) return DB_OK;
    table->panel = malloc((r->rows + 1) * sizeof *table->panel);
    if (!table->panel) return db_fail_memory(r->context, r->path);
    for (size_t i = 0; i < r->rows; i++) {
        uint64_t panel;
        memcpy(&panel, panels + 8 * i, sizeof panel);
        table->panel[i] = (size_t)panel;
    }
    return DB_OK;
}

static db_status read_identifiers(const reading *r, const msgpack_object *map,
                                  db_reflection_table *table) {
    if (!map) return DB_OK;
    for (uint32_t i = 0; map->type == MSGPACK_OBJECT_MAP && i < map->via.map.size; i++) {
        const msgpack_object_kv *const one = &map->via.map.ptr[i];
        if (one->key.type == MSGPACK_OBJECT_NEGATIVE_INTEGER) continue; /* of no experiment */
        if (one->key.type != MSGPACK_OBJECT_POSITIVE_INTEGER || one->key.via.u64 > INT_MAX ||
            one->val.type != MSGPACK_OBJECT_STR)
            return db_fail(r->context, DB_ERROR_INPUT,
                           "%s: identifiers: expected texts, by the numbers of experiments",
                           r->path);
        DB_TRY(db_table_add_identifier(r->context, r->path, (long long)one->key.via.u64,
                                       one->val.via.str.ptr, one->val.via.str.size, table));
    }
    return DB_OK;
}

static db_status read_document(db_context *context, const char *path, const msgpack_object *root,
                               db_reflection_table *table) {
    reading r = { context, path, NULL, 0 };
    const msgpack_object *const part = root->via.array.ptr;
    if (root->type != MSGPACK_OBJECT_ARRAY || root->via.array.size != 3 ||
        part[1].type != MSGPACK_OBJECT_POSITIVE_INTEGER || part[2].type != MSGPACK_OBJECT_MAP)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected a name, a version and a map, as reflection tables have", path);
    if (part[1].via.u64 != 1 && part[1].via.u64 != 2)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "%s: reflection table of version %llu, expected 1 or 2", path,
                       (unsigned long long)part[1].via.u64);
    const msgpack_object *const rows = member(&part[2], "nrows");
    r.data = member(&part[2], "data");
    if (!rows || rows->type != MSGPACK_OBJECT_POSITIVE_INTEGER || !r.data ||
        r.data->type != MSGPACK_OBJECT_MAP)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected a number nrows and a map of columns, data", path);
    if (rows->via.u64 > DB_MOST_TABLE_ROWS)
        return db_fail(context, DB_ERROR_INPUT, "%s: expected at most 1e9 rows, found %llu", path,
                       (unsigned long long)rows->via.u64);
    table->count = r.rows = (size_t)rows->via.u64;
    DB_TRY(read_columns(&r, table));
    return read_identifiers(&r, member(&part[2], "identifiers"), table);
}

static db_status read_table(db_context *context, const char *path, const void *bytes, size_t size,
                            db_reflection_table *table) {
    msgpack_unpacked document;
    size_t offset = 0;
    const db_message_pack whole = db_message_pack_check(bytes, size);
    if (whole != DB_PACK_WHOLE)
        return db_fail(context, DB_ERROR_INPUT, "%s: %s", path,
                       whole == DB_PACK_CUT ? "ends in the middle of a reflection table"
                                            : "not MessagePack, as its beginning says");
    msgpack_unpacked_init(&document);
    const msgpack_unpack_return found = msgpack_unpack_next(&document, bytes, size, &offset);
    const db_status status =
        found == MSGPACK_UNPACK_SUCCESS || found == MSGPACK_UNPACK_EXTRA_BYTES
            ? read_document(context, path, &document.data, table)
        : found == MSGPACK_UNPACK_NOMEM_ERROR
            ? db_fail(context, DB_ERROR_INPUT, "%s: larger than the memory, or not MessagePack",
                      path)
            : db_fail(context, DB_ERROR_INPUT, "%s: not MessagePack, as its beginning says", path);
    msgpack_unpacked_destroy(&document);
    return status;
}
#else
static db_status read_table(db_context *context, const char *path, const void *bytes, size_t size,
                            db_reflection_table *table) {
    (void)bytes, (void)size, (void)table;
    return db_fail(context, DB_ERROR_UNSUPPORTED,
                   "%s: this build reads no reflection tables of DIALS in MessagePack (Debian: "
                   "libmsgpack-c-dev or libmsgpack-dev); expected HDF5, or lines of text",
                   path);
}
#endif

db_status db_reflection_table_read(db_context *context, const char *path, const void *bytes,
                                   size_t size, db_reflection_table *table) {
    memset(table, 0, sizeof *table);
    const db_status status =
        db_machine_is_big_endian()
            ? db_fail(context, DB_ERROR_UNSUPPORTED,
                      "%s: reflection tables are for little-endian machines", path)
        : begins_as_hdf5(bytes, size) ? db_table_read_hdf5(context, path, table)
                                      : read_table(context, path, bytes, size, table);
    if (status != DB_OK) db_reflection_table_clear(table);
    return status;
}
