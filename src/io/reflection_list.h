/* Lists of reflections on the way to a box of amplitudes. */
#ifndef DB_IO_REFLECTION_LIST_H
#define DB_IO_REFLECTION_LIST_H

#include "io/symmetry.h"

#include <dualbragg/io.h>

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

/* Lines "h k l F"; at least one. */
db_status db_hkl_parse(db_context *context, db_text *text, db_reflection_list *list);

#endif
