/* Reflection tables as HDF5: a group /dials/PROCESS/group_N has a data set per column, and its experiments in the
 * attributes experiment_ids and identifiers. The last process is read; the tables of its groups are appended, each
 * with its own experiments. */
#include "io/reflections/reflection_table.h"

#include "base/context_internal.h"

#if defined(DB_HAVE_HDF5)
#include "base/growth.h"
#include "io/hdf5/hdf5_chunks.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_IDENTIFIERS = 10000000, LONGEST_IDENTIFIER = 4096 /* of fixed length */ };

typedef enum number_kind { INTEGERS, SIZES, REALS } number_kind;

/* A column that is read, with the number of values in each row. */
typedef struct column {
    const char *name;
    number_kind kind;
    int numbers;
    size_t size;   /* of a row in memory (bytes) */
    size_t member; /* of db_reflection_table */
} column;

#define COLUMN(title, is, count, field)                                                            \
    {                                                                                              \
        .name = title, .kind = is, .numbers = count,                                               \
        .size = sizeof *((db_reflection_table *)0)->field,                                         \
        .member = offsetof(db_reflection_table, field)                                             \
    }
static const column columns[] = {
    COLUMN("miller_index", INTEGERS, 3, hkl), COLUMN("xyzobs.px.value", REALS, 3, position),
    COLUMN("bbox", INTEGERS, 6, box),         COLUMN("panel", SIZES, 1, panel),
    COLUMN("id", INTEGERS, 1, experiment),
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static void **table_member(db_reflection_table *table, const column *c) {
    return (void **)((char *)table + c->member);
}

/* A column that is being read. */
typedef struct taking {
    const column *column;
    char *rows;
    int bad; /* 1: a value is not a number of the column's kind */
} taking;

/* The integer at a place; 0 in *good: there is none that fits. */
static long long integer_at(const db_hdf5_format *format, const unsigned char *at, int *good) {
    uint64_t bits = 0;
    if (format->kind == DB_PIXELS_FLOAT) {
        *good = 0;
        return 0;
    }
    memcpy(&bits, at, format->width); /* of a little-endian machine */
    const unsigned unused = 64 - 8 * (unsigned)format->width;
    if (format->kind == DB_PIXELS_SIGNED) return (long long)((int64_t)(bits << unused) >> unused);
    if (bits > INT64_MAX) *good = 0;
    return (long long)bits;
}

static double real_at(const db_hdf5_format *format, const unsigned char *at) {
    float single;
    double real;
    int good = 1;
    if (format->kind != DB_PIXELS_FLOAT) return (double)integer_at(format, at, &good);
    if (format->width == sizeof single) {
        memcpy(&single, at, sizeof single);
        return (double)single;
    }
    memcpy(&real, at, sizeof real);
    return real;
}

static void take_elements(void *user, const db_hdf5_format *format, const unsigned char *elements,
                          size_t count, size_t to) {
    taking *const t = user;
    int good = 1;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *const at = elements + i * format->width;
        if (t->column->kind == REALS) {
            ((double *)t->rows)[to + i] = real_at(format, at);
            continue;
        }
        const long long number = integer_at(format, at, &good);
        if (t->column->kind == SIZES) {
            if (number < 0) good = 0;
            ((size_t *)t->rows)[to + i] = (size_t)number;
        } else {
            if (number < INT_MIN || number > INT_MAX) good = 0;
            ((int *)t->rows)[to + i] = (int)number;
        }
    }
    if (!good) {
#pragma omp atomic write
        t->bad = 1;
    }
}

static db_status bad_column(const db_hdf5_object *data, const char *expected) {
    return db_fail(data->context, DB_ERROR_INPUT, "%s: %s: expected %s", data->file, data->name,
                   expected);
}

/* Appends the numbers of a column's rows, as stored, to the table's own. */
static db_status take_column(const db_hdf5_object *data, const column *c, size_t rows,
                             const db_hdf5_pieces *pieces, db_reflection_table *table) {
    void **const own = table_member(table, c);
    char *const grown = realloc(*own, (table->count + rows) * c->size + 1);
    if (!grown) return db_fail_memory(data->context, data->file);
    *own = grown;
    taking t = { c, grown + table->count * c->size, 0 };
    DB_TRY(db_hdf5_unpack(data->context, data->file, pieces, take_elements, &t));
    if (!t.bad) return DB_OK;
    return bad_column(data, c->kind == SIZES ? "numbers from 0, found others"
                                             : "integers of 32 bits, found others");
}

static db_status read_column(const db_hdf5_object *data, const column *c, size_t rows,
                             db_reflection_table *table) {
    const hsize_t start[2] = { 0, 0 }, extent[2] = { rows, (hsize_t)c->numbers };
    const int rank = c->numbers > 1 ? 2 : 1;
    db_hdf5_pieces pieces = { 0 };
    db_status status = DB_OK;
    if (rows > 0)
        status = db_hdf5_gather(data, rank, start, extent, 0, (size_t)c->numbers, &pieces);
    if (status == DB_OK && pieces.covered != rows * (size_t)c->numbers)
        status = bad_column(data, "all of its rows, found a part of them");
    if (status == DB_OK) status = take_column(data, c, rows, &pieces, table);
    db_hdf5_pieces_clear(&pieces);
    return status;
}

/* Rows of a column; the number of numbers in each must be right. */
static db_status count_rows(const db_hdf5_object *data, const column *c, size_t *rows) {
    hsize_t extent[2] = { 0, 1 };
    const int rank = db_hdf5_extents(data, extent, 2);
    if (rank != (c->numbers > 1 ? 2 : 1) || extent[1] != (hsize_t)c->numbers)
        return db_fail(data->context, DB_ERROR_INPUT,
                       "%s: %s: expected a list of rows with %d number%s each", data->file,
                       data->name, c->numbers, c->numbers > 1 ? "s" : "");
    if (extent[0] > DB_MOST_TABLE_ROWS)
        return db_fail(data->context, DB_ERROR_INPUT,
                       "%s: %s: expected at most 1e9 rows, found %llu", data->file, data->name,
                       (unsigned long long)extent[0]);
    *rows = (size_t)extent[0];
    return DB_OK;
}

static db_status open_columns(const db_hdf5_object *group, db_hdf5_object data[COLUMNS],
                              size_t *rows, int *found) {
    *found = 0;
    for (int c = 0; c < COLUMNS; c++) data[c].id = -1;
    for (int c = 0; c < COLUMNS; c++) {
        size_t own = 0;
        DB_TRY(db_hdf5_find(group, columns[c].name, &data[c]));
        if (data[c].id < 0) continue;
        DB_TRY(count_rows(&data[c], &columns[c], &own));
        if (*found && own != *rows)
            return db_fail(data[c].context, DB_ERROR_INPUT,
                           "%s: %s: %zu rows, but other columns have %zu", data[c].file,
                           data[c].name, own, *rows);
        *rows = own;
        *found = 1;
    }
    return DB_OK;
}

static int by_number(const void *a, const void *b) {
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Experiments of a group behind the first one are counted on from those before, in the order of
 * their numbers, as DIALS does. */
static db_status renumber(db_context *context, const char *path, db_reflection_table *table,
                          size_t first_row, size_t first_identifier, int *next) {
    const size_t rows = table->count - first_row;
    if (!table->experiment) return DB_OK;
    int *const id = malloc((rows + 1) * sizeof *id);
    if (!id) return db_fail_memory(context, path);
    memcpy(id, table->experiment + first_row, rows * sizeof *id);
    qsort(id, rows, sizeof *id, by_number);
    size_t count = 0;
    for (size_t i = 0; i < rows; i++)
        if (id[i] >= 0 && (count == 0 || id[count - 1] != id[i])) id[count++] = id[i];
    for (size_t i = first_row; i < table->count; i++) {
        const int *const at = bsearch(&table->experiment[i], id, count, sizeof *id, by_number);
        if (at) table->experiment[i] = *next + (int)(at - id);
    }
    for (size_t i = first_identifier; i < table->identifier_count; i++) {
        const int *const at = bsearch(&table->identifier[i].id, id, count, sizeof *id, by_number);
        table->identifier[i].id = at ? *next + (int)(at - id) : -1;
    }
    *next += (int)count;
    free(id);
    return DB_OK;
}

/* Texts of an attribute, which are to be freed with H5free_memory; 0: they cannot be read. */
static int read_variable(hid_t attribute, hid_t type, char **texts) {
    const hid_t memory = H5Tcopy(H5T_C_S1);
    H5Tset_size(memory, H5T_VARIABLE);
    H5Tset_cset(memory, H5Tget_cset(type));
    const int good = H5Aread(attribute, memory, texts) >= 0;
    H5Tclose(memory);
    return good;
}

static int read_fixed(hid_t attribute, hid_t type, size_t count, char **texts) {
    const size_t length = H5Tget_size(type);
    char *const all = length <= LONGEST_IDENTIFIER ? calloc(count + 1, length) : NULL;
    int good = all && H5Aread(attribute, type, all) >= 0;
    for (size_t i = 0; i < count && good; i++) {
        texts[i] = H5allocate_memory(length + 1, 1);
        good = texts[i] != NULL;
        if (good) memcpy(texts[i], all + i * length, length);
    }
    free(all);
    return good;
}

static int read_texts(hid_t attribute, size_t count, char **texts) {
    const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    int good =
        H5Tget_class(type) == H5T_STRING && H5Sget_simple_extent_npoints(space) == (hssize_t)count;
    if (good && H5Tis_variable_str(type) > 0)
        good = read_variable(attribute, type, texts);
    else if (good)
        good = read_fixed(attribute, type, count, texts);
    H5Sclose(space);
    H5Tclose(type);
    return good;
}

static db_status take_identifiers(const db_hdf5_object *group, hid_t ids, hid_t texts, size_t count,
                                  db_reflection_table *table) {
    long long *const number = calloc(count + 1, sizeof *number);
    char **const text = calloc(count + 1, sizeof *text);
    db_status status = number && text ? DB_OK : db_fail_memory(group->context, group->file);
    if (status == DB_OK &&
        (!read_texts(texts, count, text) || H5Aread(ids, H5T_NATIVE_LLONG, number) < 0))
        status = bad_column(group, "as many texts in its attribute identifiers as numbers in its "
                                   "attribute experiment_ids");
    for (size_t i = 0; i < count && status == DB_OK; i++)
        status =
            db_table_add_identifier(group->context, group->file, number[i], text[i] ? text[i] : "",
                                    text[i] ? strlen(text[i]) : 0, table);
    for (size_t i = 0; text && i < count; i++) H5free_memory(text[i]);
    free(text);
    free(number);
    return status;
}

/* The attributes that every table has; their lists may be empty. */
static db_status read_identifiers(const db_hdf5_object *group, db_reflection_table *table) {
    if (H5Aexists(group->id, "experiment_ids") <= 0 || H5Aexists(group->id, "identifiers") <= 0)
        return bad_column(group, "the attributes experiment_ids and identifiers of a reflection "
                                 "table");
    const hid_t ids = H5Aopen(group->id, "experiment_ids", H5P_DEFAULT),
                texts = H5Aopen(group->id, "identifiers", H5P_DEFAULT);
    const hid_t space = ids >= 0 ? H5Aget_space(ids) : -1, type = ids >= 0 ? H5Aget_type(ids) : -1;
    const hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    db_status status = DB_OK;
    if (texts < 0 || count < 0 || count > MOST_IDENTIFIERS)
        status = bad_column(group, "attributes that can be read");
    else if (count > 0 && H5Tget_class(type) != H5T_INTEGER)
        status = bad_column(group, "integers in its attribute experiment_ids");
    else if (count > 0)
        status = take_identifiers(group, ids, texts, (size_t)count, table);
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
    if (ids >= 0) H5Aclose(ids);
    if (texts >= 0) H5Aclose(texts);
    return status;
}

/* Appends a group's rows. A column counts only if all groups with rows have it. */
static db_status read_group(const db_hdf5_object *group, db_reflection_table *table, int *next) {
    db_hdf5_object data[COLUMNS];
    size_t rows = 0;
    int found;
    const size_t first_row = table->count, first_identifier = table->identifier_count;
    db_status status = db_hdf5_is_group(group)
                           ? open_columns(group, data, &rows, &found)
                           : bad_column(group, "a group with the columns of a reflection table");
    if (!db_hdf5_is_group(group)) return status;
    if (status == DB_OK && first_row + rows > DB_MOST_TABLE_ROWS)
        status = bad_column(group, "at most 1e9 rows in all groups");
    for (int c = 0; c < COLUMNS && status == DB_OK; c++) {
        void **const own = table_member(table, &columns[c]);
        if (data[c].id >= 0 && (*own || first_row == 0)) {
            status = read_column(&data[c], &columns[c], rows, table);
        } else if (rows > 0) {
            free(*own);
            *own = NULL;
        }
    }
    for (int c = 0; c < COLUMNS; c++) db_hdf5_close(&data[c]);
    if (status == DB_OK) status = read_identifiers(group, table);
    if (status != DB_OK) return status;
    table->count += rows;
    return next ? renumber(group->context, group->file, table, first_row, first_identifier, next)
                : DB_OK;
}

static db_status read_groups(const db_hdf5_object *process, db_reflection_table *table) {
    db_hdf5_names names;
    int next = 0;
    db_status status = db_hdf5_names_of(process, 1, &names);
    for (size_t n = 0; n < names.count && status == DB_OK; n++) {
        db_hdf5_object group;
        status = db_hdf5_need(process, names.name[n], &group);
        if (status != DB_OK) break;
        status = read_group(&group, table, names.count > 1 ? &next : NULL);
        db_hdf5_close(&group);
    }
    if (status == DB_OK && names.count == 0)
        status = bad_column(process, "a reflection table, found none");
    db_hdf5_names_clear(&names);
    return status;
}

/* The process created last. */
static db_status find_process(const db_hdf5_object *dials, db_hdf5_object *process) {
    db_hdf5_names names = { NULL, 0, 0 };
    db_status status = db_hdf5_is_group(dials) ? db_hdf5_names_of(dials, 1, &names) : DB_OK;
    if (status == DB_OK && names.count == 0)
        status = db_fail(dials->context, DB_ERROR_INPUT,
                         "%s: expected a reflection table of DIALS, found an HDF5 file without a "
                         "group /dials that has one",
                         dials->file);
    if (status == DB_OK) status = db_hdf5_need(dials, names.name[names.count - 1], process);
    db_hdf5_names_clear(&names);
    return status;
}

static db_status read_root(const db_hdf5_object *root, db_reflection_table *table) {
    db_hdf5_object dials, process;
    DB_TRY(db_hdf5_find(root, "dials", &dials));
    db_status status = find_process(&dials, &process);
    db_hdf5_close(&dials);
    DB_TRY(status);
    status = db_hdf5_is_group(&process) ? read_groups(&process, table)
                                        : bad_column(&process, "a group with reflection tables");
    db_hdf5_close(&process);
    return status;
}

db_status db_table_read_hdf5(db_context *context, const char *path, db_reflection_table *table) {
    db_hdf5_guard guard;
    db_hdf5_object root;
    db_hdf5_enter(&guard);
    db_status status = db_hdf5_open(context, path, &root);
    if (status == DB_OK) status = read_root(&root, table);
    db_hdf5_close(&root);
    db_hdf5_leave(&guard);
    return status;
}
#else
db_status db_table_read_hdf5(db_context *context, const char *path, db_reflection_table *table) {
    (void)table;
    return db_fail(context, DB_ERROR_UNSUPPORTED,
                   "%s: a reflection table as HDF5, which this build does not read (Debian: "
                   "libhdf5-dev, liblz4-dev, libzstd-dev)",
                   path);
}
#endif
