/* Lists of reflections on the way to a box of amplitudes. */
#ifndef DB_IO_REFLECTION_LIST_H
#define DB_IO_REFLECTION_LIST_H

#include "base/text_reader.h"

#include <dualbragg/io.h>
#include <dualbragg/reflections.h>
#include <dualbragg/expert/amplitude_files.h>

typedef struct db_listed_reflection {
    int index[3];
    double value; /* amplitude, or intensity where the list is of those */
    double sigma; /* its standard deviation; NAN: not known */
} db_listed_reflection;

typedef struct db_reflection_list {
    db_listed_reflection *items; /* owned */
    size_t count, capacity;
    int squared;          /* 1: values are intensities */
    db_space_group group; /* stands for all reflections that its operators make of the items, and
                             their Friedel mates where no item is equivalent to those; without
                             operators: for the items alone */
} db_reflection_list;

db_status db_reflection_list_add(db_context *context, db_reflection_list *list,
                                 const db_listed_reflection *item);
void db_reflection_list_clear(db_reflection_list *list);

/* Merges equivalent items: the mean, with weights 1/sigma^2 if all of them have a sigma; systematic absences are
 * dropped. Notices give the numbers of both. path is for messages. */
db_status db_reflection_list_merge(db_context *context, const char *path, db_reflection_list *list);

/* The smallest box of amplitudes around the list: default_F where nothing is listed, 0 for systematic absences and
 * negative intensities; of repeated entries the last one counts. path is for messages. */
db_status db_reflection_list_box(db_context *context, const char *path,
                                 const db_reflection_list *list, db_structure_factors *factors);

/* Adds an operator: a rotation (row-major; of coordinates) and the translation after it (cell / 24). A rotation
 * that exists with another translation adds a centring. Returns 0 if it is no rotation of a lattice, or there are
 * too many. */
int db_space_group_add(db_space_group *group, const int rotation[9], const int shift[3]);

/* The largest changes that a group's operators would make to the edges (as a part) and angles (degree)
 * of a cell: 0 for a cell that has the symmetry. */
void db_space_group_strain(const db_space_group *group, const double cell[6], double *edge,
                           double *angle);

/* Are they so small that the cell can have the symmetry? */
int db_space_group_fits(const db_space_group *group, const double cell[6]);

/* A file of amplitudes on its way to a list. */
typedef struct db_amplitude_reading {
    db_context *context;
    const char *path;
    const db_structure_factor_options *options;
    char *chosen; /* receives what was taken */
    size_t chosen_size;
    db_reflection_list list;
    /* the crystal and beam that the file states; NAN: not stated */
    double cell[6];    /* A, degree */
    double wavelength; /* A */
} db_amplitude_reading;

/* Reads lines of h k l F, or a list of SHELX. options->columns: "F", or "I" for intensities; NULL: decided by the
 * content, else an error. */
db_status db_text_list_read(db_amplitude_reading *reading);

/* 1 if a text begins with a line in SHELX's columns: 3 indices of 4 characters, F squared and its sigma of 8, a
 * batch number of 4. */
int db_is_shelx_list(const char *text);

/* A table _refln of a CIF file, in the names of mmCIF or of the core dictionary. options->columns: an
 * item, or two of Friedel mates with a comma between; "BLOCK/" before it names the data block. */
db_status db_cif_list_read(db_amplitude_reading *reading, const db_file_content *content);

/* Columns of an MTZ file. options->columns: labels, one or two of Friedel mates with a comma
 * between. */
db_status db_mtz_read(db_amplitude_reading *reading, const db_file_content *content);

/* Gives the list the group that the user named. */
db_status db_amplitude_reading_take_group(db_amplitude_reading *reading);

#endif
