/* Lists of shots of which several are lattices of one image. */
#ifndef DB_FIT_SHOTS_LATTICE_LIST_H
#define DB_FIT_SHOTS_LATTICE_LIST_H

#include "fit/shots/shot_entries.h"

/* Finds out which entries have the same image. */
db_status db_shot_images_find(db_context *context, db_fit_shot_list *list);

/* Looks for the lattices of the image that the list's configuration names, and lists them. */
db_status db_shot_lattices_find(db_context *context, db_fit_shot_list *list);

#endif
