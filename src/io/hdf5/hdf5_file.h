/* HDF5 files that are read: objects by their paths, with every link followed here and not by
 * libhdf5, so that links in circles or out of the folder are refused with a message. Numbers and
 * texts of small data sets and attributes.
 *
 * libhdf5 must not be entered by two threads: all that follows is called between db_hdf5_enter and
 * db_hdf5_leave. */
#ifndef DB_IO_HDF5_FILE_H
#define DB_IO_HDF5_FILE_H

#include <dualbragg/context.h>

#include <hdf5.h>
#include <stddef.h>

enum { DB_HDF5_PATH = 1024 };

/* How libhdf5 prints errors, to be restored: the user may use libhdf5, too. */
typedef struct db_hdf5_guard {
    H5E_auto2_t print;
    void *data;
} db_hdf5_guard;

void db_hdf5_enter(db_hdf5_guard *guard);
void db_hdf5_leave(const db_hdf5_guard *guard);

/* An object and the file that it is in, which may be another than the one named. */
typedef struct db_hdf5_object {
    db_context *context;
    hid_t id;                /* -1: none */
    char file[DB_HDF5_PATH]; /* path of its file, for links and messages */
    char name[DB_HDF5_PATH]; /* of the object, for messages and for paths relative to it */
} db_hdf5_object;

/* Opens a file's root. */
db_status db_hdf5_open(db_context *context, const char *path, db_hdf5_object *root);
void db_hdf5_close(db_hdf5_object *object);

/* Opens the object at `path` from a group, or from the file's root if path begins with a slash. found->id is -1
 * (with DB_OK) if a name does not exist. It is an error if a link leaves its file's folder, leads in a circle or
 * to a missing file. found must not be `from`. */
db_status db_hdf5_find(const db_hdf5_object *from, const char *path, db_hdf5_object *found);

/* As db_hdf5_find, but a missing name is an error. */
db_status db_hdf5_need(const db_hdf5_object *from, const char *path, db_hdf5_object *found);

/* Opens an object of another file, named as in links; ".": the object's own file. An error if it is missing. */
db_status db_hdf5_find_beside(const db_hdf5_object *from, const char *file, const char *path,
                              db_hdf5_object *found);

/* Names in a group, without those too long for a path. */
typedef struct db_hdf5_names {
    char **name; /* owned */
    size_t count, capacity;
} db_hdf5_names;

/* The names in alphabetical order, or in order of creation if by_creation is 1 and the file knows it. Clear names
 * in any case. */
db_status db_hdf5_names_of(const db_hdf5_object *group, int by_creation, db_hdf5_names *names);
void db_hdf5_names_clear(db_hdf5_names *names);

int db_hdf5_is_group(const db_hdf5_object *object);
/* Are its values in this very file? */
int db_hdf5_is_in_file(const db_hdf5_object *data);

/* Extents of a data set, at most `most`; the rank, or -1 if it has more or is no data set. */
int db_hdf5_extents(const db_hdf5_object *object, hsize_t *extent, int most);

/* Number `index` of a data set with real numbers in one dimension or none; of one with a single
 * number that. 0: it is no such thing, or cannot be read; *value is then untouched. */
int db_hdf5_number(const db_hdf5_object *object, size_t index, double *value);

/* `count` numbers of such a data set, from number `first` on; 0 as above. */
int db_hdf5_numbers(const db_hdf5_object *object, size_t first, size_t count, double *value);

/* The `count` numbers of one row of a data set with two dimensions or, if it has one row or one dimension,
 * those; 0 as above. */
int db_hdf5_row(const db_hdf5_object *object, size_t row, size_t count, double *value);

/* `count` numbers of an attribute; 0 as above. */
int db_hdf5_attribute_numbers(const db_hdf5_object *object, const char *name, double *value,
                              size_t count);

/* Text of a data set or attribute, cut to the room; 0: it is none. */
int db_hdf5_attribute_text(const db_hdf5_object *object, const char *name, char *text, size_t size);

/* Number or text that a path leads to from a group; 0: missing. Failures of links are errors. */
db_status db_hdf5_find_number(const db_hdf5_object *from, const char *path, size_t index,
                              double *value, int *found);
db_status db_hdf5_find_text(const db_hdf5_object *from, const char *path, char *text, size_t size,
                            int *found);

#endif
