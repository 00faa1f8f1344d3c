/* Writes reflection tables as HDF5, in the layout that reflection_table_hdf5.c reads. The file comes
 * into being in memory, so that it is written as a whole or not at all. */
#include "io/reflections/reflection_table.h"

#include "base/context_internal.h"

#if defined(DB_HAVE_HDF5)
#include "base/atomic_file.h"
#include "io/hdf5/hdf5_file.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* DIALS' types of elements: numbers per row, and their kind. */
static const struct {
    const char *name;
    int numbers;
    enum { INT_32, SIZE_64, REAL_64, TRUTH } kind;
} types[] = {
    { "bool", 1, TRUTH },
    { "int", 1, INT_32 },
    { "std::size_t", 1, SIZE_64 },
    { "double", 1, REAL_64 },
    { "vec2<double>", 2, REAL_64 },
    { "vec3<double>", 3, REAL_64 },
    { "cctbx::miller::index<>", 3, INT_32 },
    { "int6", 6, INT_32 },
};
enum { TYPES = sizeof types / sizeof *types };

/* The boolean type as h5py writes numpy's bool; to be closed. */
static hid_t truth_type(void) {
    const hid_t type = H5Tenum_create(H5T_STD_I8LE);
    const int8_t no = 0, yes = 1;
    H5Tenum_insert(type, "FALSE", &no);
    H5Tenum_insert(type, "TRUE", &yes);
    return type;
}

static int write_column(hid_t group, const db_table_column *column, size_t rows) {
    int t = 0;
    while (t < TYPES && strcmp(types[t].name, column->type) != 0) t++;
    if (t == TYPES) return 0;
    const hsize_t extent[2] = { rows, (hsize_t)types[t].numbers };
    const hid_t truth = truth_type(), type = types[t].kind == INT_32    ? H5T_STD_I32LE
                                             : types[t].kind == SIZE_64 ? H5T_STD_U64LE
                                             : types[t].kind == REAL_64 ? H5T_IEEE_F64LE
                                                                        : truth;
    const hid_t space = H5Screate_simple(types[t].numbers > 1 ? 2 : 1, extent, NULL),
                creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(creation, 0);
    const hid_t data =
        H5Dcreate2(group, column->name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    const int good = data >= 0 && (rows == 0 || H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                                                         column->bytes) >= 0);
    if (data >= 0) H5Dclose(data);
    H5Pclose(creation);
    H5Sclose(space);
    H5Tclose(truth);
    return good;
}

static int write_attribute(hid_t group, const char *name, hid_t type, size_t count,
                           const void *values) {
    const hsize_t extent = count;
    const hid_t space = H5Screate_simple(1, &extent, NULL),
                attribute = H5Acreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const int good = attribute >= 0 && (count == 0 || H5Awrite(attribute, type, values) >= 0);
    if (attribute >= 0) H5Aclose(attribute);
    H5Sclose(space);
    return good;
}

static int write_identifiers(hid_t group, const db_table_content *content) {
    const size_t count = content->identifier_count;
    uint64_t *const id = calloc(count + 1, sizeof *id);
    const char **const text = calloc(count + 1, sizeof *text);
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    for (size_t i = 0; i < count && id && text; i++) {
        id[i] = (uint64_t)content->identifiers[i].id;
        text[i] = content->identifiers[i].text;
    }
    const int good = id && text &&
                     write_attribute(group, "experiment_ids", H5T_STD_U64LE, count, id) &&
                     write_attribute(group, "identifiers", type, count, text);
    H5Tclose(type);
    free(text);
    free(id);
    return good;
}

/* Creates a group, and its parents, that keeps the order of its members. */
static hid_t create_group(hid_t file, const char *path) {
    const hid_t creation = H5Pcreate(H5P_GROUP_CREATE);
    H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    H5Pset_obj_track_times(creation, 0);
    const hid_t group = H5Gcreate2(file, path, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Pclose(creation);
    return group;
}

static int write_table(hid_t file, const db_table_content *content) {
    const hid_t dials = create_group(file, "dials"),
                process = create_group(file, "dials/processing"),
                group = create_group(file, "dials/processing/group_0");
    int good = group >= 0 && write_identifiers(group, content);
    for (size_t c = 0; c < content->column_count && good; c++)
        good = write_column(group, &content->columns[c], content->rows);
    if (group >= 0) H5Gclose(group);
    if (process >= 0) H5Gclose(process);
    if (dials >= 0) H5Gclose(dials);
    return good;
}

static db_status write_image(db_context *context, const char *path, hid_t file) {
    const ssize_t size =
        H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0 ? H5Fget_file_image(file, NULL, 0) : 0;
    void *const bytes = size > 0 ? malloc((size_t)size) : NULL;
    if (!bytes || H5Fget_file_image(file, bytes, (size_t)size) != size) {
        free(bytes);
        return db_fail_memory(context, path);
    }
    const db_file_part part = { bytes, (size_t)size };
    const db_status status = db_write_atomically(context, path, &part, 1);
    free(bytes);
    return status;
}

db_status db_table_write_hdf5(db_context *context, const char *path,
                              const db_table_content *content) {
    enum { STEP = 1 << 20 }; /* bytes by which the file grows in memory */
    db_hdf5_guard guard;
    db_hdf5_enter(&guard);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, STEP, 0);
    const hid_t file = H5Fcreate("reflections", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    db_status status = DB_OK;
    if (file < 0 || !write_table(file, content))
        status = db_fail(context, DB_ERROR_MEMORY,
                         "%s: libhdf5 cannot make the table (out of memory?)", path);
    if (status == DB_OK) status = write_image(context, path, file);
    if (file >= 0) H5Fclose(file);
    db_hdf5_leave(&guard);
    return status;
}
#else
db_status db_table_write_hdf5(db_context *context, const char *path,
                              const db_table_content *content) {
    (void)content;
    return db_fail(context, DB_ERROR_UNSUPPORTED,
                   "%s: this build writes no reflection tables as HDF5 (Debian: libhdf5-dev, "
                   "liblz4-dev, libzstd-dev)",
                   path);
}
#endif
