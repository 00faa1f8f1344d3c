/* Lists of reflections on the way to a box of amplitudes. */
#ifndef DB_IO_REFLECTION_LIST_H
#define DB_IO_REFLECTION_LIST_H

#include "base/text_reader.h"

#include <dualbragg/io.h>
#include <dualbragg/reflections.h>

typedef struct db_listed_reflection {
    int index[3];
    double amplitude;
} db_listed_reflection;

typedef struct db_reflection_list {
    db_listed_reflection *items; /* owned */
    size_t count, capacity;
    db_symmetry symmetry; /* stands for all reflections that its operators make of the items, and
                             their Friedel mates where no item is equivalent to those; without
                             operators: for the items alone */
} db_reflection_list;

db_status db_reflection_list_add(db_context *context, db_reflection_list *list, const int index[3],
                                 double amplitude);
void db_reflection_list_clear(db_reflection_list *list);

/* The smallest box around the list: default_F where nothing is listed; the last of repeated entries
 * wins. path is for messages. */
db_status db_reflection_list_box(db_context *context, const char *path,
                                 const db_reflection_list *list, db_structure_factors *factors);

/* Adds the rotation of an operator (row-major; acts on coordinates); the same one twice is kept once.
 * 0 if it is no rotation of a lattice, or there are too many. */
int db_symmetry_add(db_symmetry *symmetry, const int rotation[9]);

/* Amplitudes of an MTZ file, expanded by its operators. labels of columns, one or two (of Friedel
 * mates) with a comma between; NULL: chosen. chosen: names what was taken. */
db_status db_mtz_read(db_context *context, const char *path, const db_file_content *content,
                      const char *labels, char *chosen, size_t chosen_size,
                      db_reflection_list *list);

#endif
