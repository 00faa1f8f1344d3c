/* HDF5 files that are written. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#if defined(DB_HAVE_HDF5)
#include "io/hdf5/hdf5_write.h"

#include "base/context_internal.h"
#include "io/hdf5/hdf5_driver.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FILTER_BITSHUFFLE = 32008,
    COMPRESSION_LZ4 = 2,
    VALUES = 5,           /* version (two numbers), element size, block (0: usual), compression */
    COLUMN_CHUNK = 16384, /* bytes, about */
    LARGEST_COLUMN_CHUNK = 1024 /* rows */
};

static hid_t stored_type(db_hdf5_kind kind) {
    switch (kind) {
    case DB_HDF5_DOUBLE: return H5T_IEEE_F64LE;
    case DB_HDF5_FLOAT: return H5T_IEEE_F32LE;
    case DB_HDF5_INT32: return H5T_STD_I32LE;
    case DB_HDF5_UINT32: return H5T_STD_U32LE;
    case DB_HDF5_UINT16: return H5T_STD_U16LE;
    default: return H5T_STD_I64LE;
    }
}

static hid_t own_type(db_hdf5_kind kind) {
    switch (kind) {
    case DB_HDF5_DOUBLE: return H5T_NATIVE_DOUBLE;
    case DB_HDF5_FLOAT: return H5T_NATIVE_FLOAT;
    case DB_HDF5_INT32: return H5T_NATIVE_INT32;
    case DB_HDF5_UINT32: return H5T_NATIVE_UINT32;
    case DB_HDF5_UINT16: return H5T_NATIVE_UINT16;
    default: return H5T_NATIVE_INT64;
    }
}

static size_t stored_width(db_hdf5_kind kind) { return H5Tget_size(stored_type(kind)); }

/* The innermost reason. */
static herr_t first_reason(unsigned n, const H5E_error2_t *error, void *text) {
    if (n == 0 && error->desc) snprintf(text, 160, "%s", error->desc);
    return 0;
}

/* Keeps libhdf5's reason of the first failure only. */
static void fail_hdf5(db_hdf5_output *out) {
    if (out->failed) return;
    out->failed = 1;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, first_reason, out->reason);
}

static hid_t check_id(db_hdf5_output *out, hid_t id) {
    if (id < 0) fail_hdf5(out);
    return id;
}

static void check_result(db_hdf5_output *out, herr_t result) {
    if (result < 0) fail_hdf5(out);
}

db_status db_hdf5_state(db_hdf5_output *out) {
    if (out->error)
        return db_fail(out->context, DB_ERROR_FILE, "%s: cannot write: %s", out->path,
                       strerror(out->error));
    if (!out->failed) return DB_OK;
    return db_fail(out->context, DB_ERROR_FILE, "%s: cannot write: %s", out->path, out->reason);
}

static void open_file(db_hdf5_output *out) {
    const char *const name = out->pending.temporary->path;
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    out->driver = check_id(out, db_hdf5_driver(access, &out->error));
    if (!out->failed)
        out->file =
            check_id(out, out->reopened ? H5Fopen(name, H5F_ACC_RDWR, access)
                                        : H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access));
    H5Pclose(access);
}

/* errno of a failure; 0. */
static int copy_file(const char *from, const char *to) {
    enum { PIECE = 1 << 16 };
    char *const piece = malloc(PIECE);
    FILE *const in = fopen(from, "rb");
    FILE *const out = in ? fopen(to, "wb") : NULL;
    int error = in && out && piece ? 0 : errno;
    while (!error && !feof(in)) {
        const size_t got = fread(piece, 1, PIECE, in);
        if (ferror(in) || fwrite(piece, 1, got, out) != got) error = errno ? errno : EIO;
    }
    if (in) fclose(in);
    if (out && fclose(out) != 0 && !error) error = errno;
    free(piece);
    return error;
}

db_status db_hdf5_create(db_context *context, const char *path, int reopen, db_hdf5_output *out) {
    *out = (db_hdf5_output){ .context = context, .file = -1, .driver = -1, .reopened = reopen };
    DB_TRY(db_pending_begin(context, path, &out->pending));
    out->path = strdup(path);
    if (!out->path) return db_hdf5_finish(out, db_fail_memory(context, path));
    const int error = reopen ? copy_file(out->pending.target, out->pending.temporary->path) : 0;
    if (error)
        return db_hdf5_finish(out,
                              db_fail(context, DB_ERROR_FILE, "%s: cannot copy it to continue: %s",
                                      path, strerror(error)));
    open_file(out);
    const db_status status = db_hdf5_state(out);
    return status == DB_OK ? DB_OK : db_hdf5_finish(out, status);
}

db_status db_hdf5_finish(db_hdf5_output *out, db_status status) {
    if (out->file >= 0) check_result(out, H5Fclose(out->file));
    out->file = -1;
    if (out->driver >= 0) H5FDunregister(out->driver);
    out->driver = -1;
    if (status == DB_OK) status = db_hdf5_state(out);
    status = db_pending_end(out->context, out->path, &out->pending, status);
    free(out->path);
    out->path = NULL;
    return status;
}

hid_t db_hdf5_put_group(db_hdf5_output *out, hid_t parent, const char *name, const char *class) {
    if (out->failed) return -1;
    const hid_t group = check_id(
        out, out->reopened ? H5Gopen2(parent, name, H5P_DEFAULT)
                           : H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    db_hdf5_note_text(out, group, ".", "NX_class", class);
    return group;
}

static hid_t text_type(const char *text) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    const size_t length = strlen(text);
    H5Tset_size(type, length ? length : 1);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    return type;
}

/* Creation properties of data sets: without times. */
static hid_t timeless(void) {
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(creation, 0);
    return creation;
}

static void disagree(db_hdf5_output *out, const char *name) {
    if (out->failed) return;
    out->failed = 1;
    snprintf(out->reason, sizeof out->reason, "%s differs from the new data", name);
}

/* Fails unless the reopened file has the same numbers. */
static void compare_data(db_hdf5_output *out, hid_t parent, const char *name, hid_t own,
                         hid_t space, const void *data) {
    const size_t size = (size_t)H5Sget_simple_extent_npoints(space) * H5Tget_size(own);
    const hid_t id = check_id(out, H5Dopen2(parent, name, H5P_DEFAULT));
    char *const found = id >= 0 ? malloc(size) : NULL;
    if (id < 0) return;
    const hid_t extent = H5Dget_space(id);
    if (!found || H5Sextent_equal(extent, space) <= 0 ||
        H5Dread(id, own, H5S_ALL, H5S_ALL, H5P_DEFAULT, found) < 0 ||
        memcmp(found, data, size) != 0)
        disagree(out, name);
    H5Sclose(extent);
    H5Dclose(id);
    free(found);
}

static void put_data(db_hdf5_output *out, hid_t parent, const char *name, hid_t stored, hid_t own,
                     hid_t space, const void *data) {
    if (out->failed) return;
    if (out->reopened) {
        compare_data(out, parent, name, own, space, data);
        return;
    }
    const hid_t creation = timeless();
    const hid_t id =
        check_id(out, H5Dcreate2(parent, name, stored, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    if (id >= 0) {
        check_result(out, H5Dwrite(id, own, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
        check_result(out, H5Dclose(id));
    }
    H5Pclose(creation);
}

void db_hdf5_put_text(db_hdf5_output *out, hid_t parent, const char *name, const char *text) {
    const hid_t type = text_type(text), space = H5Screate(H5S_SCALAR);
    put_data(out, parent, name, type, type, space, text);
    H5Sclose(space);
    H5Tclose(type);
}

void db_hdf5_put_number(db_hdf5_output *out, hid_t parent, const char *name, double number,
                        const char *units) {
    const hid_t space = H5Screate(H5S_SCALAR);
    put_data(out, parent, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, space, &number);
    H5Sclose(space);
    if (units) db_hdf5_note_text(out, parent, name, "units", units);
}

void db_hdf5_put_integers(db_hdf5_output *out, hid_t parent, const char *name, const int *number,
                          int count) {
    const hsize_t extent = (hsize_t)count;
    const hid_t space = H5Screate_simple(1, &extent, NULL);
    put_data(out, parent, name, H5T_STD_I32LE, H5T_NATIVE_INT, space, number);
    H5Sclose(space);
}

static void note_failure(db_hdf5_output *out, hid_t parent, const char *name, const char *attribute,
                         hid_t stored, hid_t own, hid_t space, const void *data) {
    if (out->failed || out->reopened) return;
    const hid_t id = check_id(out, H5Acreate_by_name(parent, name, attribute, stored, space,
                                                     H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    if (id < 0) return;
    check_result(out, H5Awrite(id, own, data));
    check_result(out, H5Aclose(id));
}

void db_hdf5_note_text(db_hdf5_output *out, hid_t parent, const char *name, const char *attribute,
                       const char *text) {
    const hid_t type = text_type(text), space = H5Screate(H5S_SCALAR);
    note_failure(out, parent, name, attribute, type, type, space, text);
    H5Sclose(space);
    H5Tclose(type);
}

void db_hdf5_note_numbers(db_hdf5_output *out, hid_t parent, const char *name,
                          const char *attribute, const double *number, int count) {
    const hsize_t extent = (hsize_t)count;
    const hid_t space = H5Screate_simple(1, &extent, NULL);
    note_failure(out, parent, name, attribute, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, space, number);
    H5Sclose(space);
}

/* Opens a data set with its rows. */
static void open_rows(db_hdf5_output *out, hid_t parent, const char *name, db_hdf5_column *column) {
    hsize_t extent[4] = { 0 };
    if (!out->failed) column->id = check_id(out, H5Dopen2(parent, name, H5P_DEFAULT));
    if (out->failed) return;
    const hid_t space = H5Dget_space(column->id), type = H5Dget_type(column->id);
    int same = H5Sget_simple_extent_ndims(space) == column->rank &&
               H5Tequal(type, stored_type(column->kind)) > 0;
    if (same) H5Sget_simple_extent_dims(space, extent, NULL);
    for (int d = 1; d < column->rank; d++) same = same && extent[d] == column->extent[d];
    column->extent[0] = extent[0];
    if (!same) disagree(out, name);
    H5Tclose(type);
    H5Sclose(space);
}

/* Creates a data set of no rows yet. chunk: rows of one. creation: more of how; is closed. */
static void put_rows(db_hdf5_output *out, hid_t parent, const char *name, hsize_t chunk_rows,
                     hid_t creation, db_hdf5_column *column) {
    hsize_t most[4], chunk[4];
    column->id = -1;
    for (int d = 0; d < column->rank; d++) most[d] = chunk[d] = column->extent[d];
    if (chunk_rows) {
        most[0] = H5S_UNLIMITED;
        chunk[0] = chunk_rows;
    }
    const hid_t space = H5Screate_simple(column->rank, column->extent, most);
    if (out->reopened) {
        open_rows(out, parent, name, column);
    } else if (!out->failed) {
        check_result(out, H5Pset_chunk(creation, column->rank, chunk));
        column->id = check_id(out, H5Dcreate2(parent, name, stored_type(column->kind), space,
                                              H5P_DEFAULT, creation, H5P_DEFAULT));
    }
    H5Sclose(space);
    H5Pclose(creation);
}

void db_hdf5_put_column(db_hdf5_output *out, hid_t parent, const char *name, db_hdf5_kind kind,
                        int dimensions, const hsize_t *shape, const char *units,
                        db_hdf5_column *column) {
    hsize_t bytes = stored_width(kind);
    *column = (db_hdf5_column){ .id = -1, .kind = kind, .rank = dimensions + 1 };
    for (int d = 0; d < dimensions; d++) {
        column->extent[d + 1] = shape[d];
        bytes *= shape[d];
    }
    const hsize_t rows = bytes < COLUMN_CHUNK ? COLUMN_CHUNK / bytes : 1;
    put_rows(out, parent, name, rows < LARGEST_COLUMN_CHUNK ? rows : LARGEST_COLUMN_CHUNK,
             timeless(), column);
    if (units) db_hdf5_note_text(out, parent, name, "units", units);
}

void db_hdf5_append(db_hdf5_output *out, db_hdf5_column *column, const void *rows, size_t count) {
    hsize_t start[4] = { column->extent[0] }, size[4] = { count };
    if (out->failed || count == 0) return;
    for (int d = 1; d < column->rank; d++) size[d] = column->extent[d];
    column->extent[0] += count;
    check_result(out, H5Dset_extent(column->id, column->extent));
    const hid_t space = H5Dget_space(column->id),
                memory = H5Screate_simple(column->rank, size, NULL);
    if (!out->failed) {
        check_result(out, H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL));
        check_result(
            out, H5Dwrite(column->id, own_type(column->kind), memory, space, H5P_DEFAULT, rows));
    }
    H5Sclose(memory);
    H5Sclose(space);
}

/* The filter is named, and not looked for: chunks come packed. Where a program that shares libhdf5
 * has loaded its plugin, that completes the values by itself. */
static void name_filter(db_hdf5_output *out, hid_t creation, size_t width) {
    const unsigned whole[VALUES] = { 0, 3, (unsigned)width, 0, COMPRESSION_LZ4 };
    unsigned plugins = 0;
    H5PLget_loading_state(&plugins);
    H5PLset_loading_state(0);
    const int there = H5Zfilter_avail(FILTER_BITSHUFFLE) > 0;
    check_result(out, H5Pset_filter(creation, FILTER_BITSHUFFLE, H5Z_FLAG_OPTIONAL,
                                    there ? 2 : VALUES, there ? whole + 3 : whole));
    H5PLset_loading_state(plugins);
    H5Eclear2(H5E_DEFAULT);
}

void db_hdf5_put_images(db_hdf5_output *out, hid_t parent, const char *name, db_hdf5_kind kind,
                        int rank, const hsize_t shape[2], db_hdf5_column *images) {
    const hid_t creation = timeless();
    *images = (db_hdf5_column){ .id = -1, .kind = kind, .rank = rank };
    for (int d = 0; d < 2; d++) images->extent[rank - 2 + d] = shape[d];
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    name_filter(out, creation, stored_width(kind));
    put_rows(out, parent, name, rank == 3, creation, images);
}

void db_hdf5_append_image(db_hdf5_output *out, db_hdf5_column *images, const void *chunk,
                          size_t size) {
    const int grows = images->rank == 3;
    const hsize_t start[4] = { grows ? images->extent[0] : 0 };
    if (out->failed) return;
    if (grows) {
        images->extent[0]++;
        check_result(out, H5Dset_extent(images->id, images->extent));
    }
    if (!out->failed)
        check_result(out, H5Dwrite_chunk(images->id, H5P_DEFAULT, 0, start, size, chunk));
}

int db_hdf5_is_last_image(db_hdf5_output *out, const db_hdf5_column *images, const void *chunk,
                          size_t size) {
    const hsize_t last[4] = { images->extent[0] - 1 };
    hsize_t stored = 0;
    uint32_t filters = 0;
    if (out->failed || images->extent[0] == 0) return 0;
    if (H5Dget_chunk_storage_size(images->id, last, &stored) < 0 || stored != size) return 0;
    char *const found = malloc(size);
    const int same = found && H5Dread_chunk(images->id, H5P_DEFAULT, last, &filters, found) >= 0 &&
                     memcmp(found, chunk, size) == 0;
    free(found);
    return same;
}
#else
typedef int db_without_hdf5_write;
#endif
