/* Writes HDF5 files, under a temporary name until they are complete. The first failure is kept, later calls do
 * nothing, and db_hdf5_finish reports it. Call all functions between db_hdf5_enter and db_hdf5_leave
 * (hdf5_file.h). Files contain no times, so the same input makes the same bytes. */
#ifndef DB_IO_HDF5_WRITE_H
#define DB_IO_HDF5_WRITE_H

#include "base/atomic_file.h"
#include "io/hdf5/hdf5_file.h"

typedef struct db_hdf5_output {
    db_context *context;
    char *path; /* as named; owned */
    db_pending_file pending;
    hid_t file, driver;
    int reopened; /* 1: see db_hdf5_create */
    int failed;
    int error; /* errno of the first write that failed; 0 */
    char reason[160];
} db_hdf5_output;

/* reopen: 1: continues a file that was written before, on a copy that replaces it at the end. Putting an object that
 * exists opens it, a group or a column with its rows; it is a failure if existing numbers differ. */
db_status db_hdf5_create(db_context *context, const char *path, int reopen, db_hdf5_output *out);

/* Closes the file and gives it its name if nothing failed and status is DB_OK; else removes it. */
db_status db_hdf5_finish(db_hdf5_output *out, db_status status);

/* DB_OK, or the failure so far with its message. */
db_status db_hdf5_state(db_hdf5_output *out);

/* A new group of a NeXus class. The id lives until the file ends; -1 after a failure, which all
 * functions here take. */
hid_t db_hdf5_put_group(db_hdf5_output *out, hid_t parent, const char *name, const char *class);

void db_hdf5_put_text(db_hdf5_output *out, hid_t parent, const char *name, const char *text);
void db_hdf5_put_number(db_hdf5_output *out, hid_t parent, const char *name, double number,
                        const char *units);
void db_hdf5_put_integers(db_hdf5_output *out, hid_t parent, const char *name, const int *number,
                          int count);

/* Attributes, of an object in a group ("." for the group itself). */
void db_hdf5_note_text(db_hdf5_output *out, hid_t parent, const char *name, const char *attribute,
                       const char *text);
void db_hdf5_note_numbers(db_hdf5_output *out, hid_t parent, const char *name,
                          const char *attribute, const double *number, int count);

typedef enum db_hdf5_kind {
    DB_HDF5_DOUBLE,
    DB_HDF5_FLOAT,
    DB_HDF5_INT32,
    DB_HDF5_UINT32,
    DB_HDF5_UINT16,
    DB_HDF5_INT64
} db_hdf5_kind;

/* A data set to which rows are appended, all of one shape. */
typedef struct db_hdf5_column {
    hid_t id;
    db_hdf5_kind kind;
    int rank;          /* rows included */
    hsize_t extent[4]; /* [0]: rows so far */
} db_hdf5_column;

/* shape: `dimensions` numbers of the shape of a row; 0: a row is one number. units: NULL: none. */
void db_hdf5_put_column(db_hdf5_output *out, hid_t parent, const char *name, db_hdf5_kind kind,
                        int dimensions, const hsize_t *shape, const char *units,
                        db_hdf5_column *column);
void db_hdf5_append(db_hdf5_output *out, db_hdf5_column *column, const void *rows, size_t count);

/* A data set of images, one chunk each, bitshuffled with LZ4 (io/hdf5/bitshuffle_write.h packs them). A
 * rank of 2 has one image for good, of rank 3 images are appended. shape: slow, fast. */
void db_hdf5_put_images(db_hdf5_output *out, hid_t parent, const char *name, db_hdf5_kind kind,
                        int rank, const hsize_t shape[2], db_hdf5_column *images);
void db_hdf5_append_image(db_hdf5_output *out, db_hdf5_column *images, const void *chunk,
                          size_t size);

/* 1 if this was the last image appended. */
int db_hdf5_is_last_image(db_hdf5_output *out, const db_hdf5_column *images, const void *chunk,
                          size_t size);

#endif
