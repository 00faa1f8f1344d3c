/* Points to check before a result is used, in words. */
#ifndef DB_FIT_VERDICT_WARNINGS_H
#define DB_FIT_VERDICT_WARNINGS_H

#include <dualbragg/fit_shots.h>

/* Fills the result's warnings, replacing those it has. */
db_status db_fit_warnings_make(db_context *context, db_fit_result *result);

/* Fills the warnings of a rotation series. distance: of its first frame in use (mm) */
db_status db_fit_series_warnings_make(db_context *context, double distance,
                                      db_fit_shots_result *result);

/* Adds warnings of shared quantities, unless a series has them, and of quantities of single shots that the data do not
 * determine, and of misfit beyond noise. In the process that knows all shots. */
db_status db_fit_undetermined_warnings_add(db_context *context, db_fit_shots_result *result);

/* Adds a warning of settings or crystals of a series that show fewer spots than `fewest`, which `dark` lists; "": none. In the
 * process that knows all shots. */
db_status db_fit_dark_warning_add(db_context *context, const char *dark, size_t fewest,
                                  db_fit_shots_result *result);

/* Adds a warning of a centring that nobody has named. In the process that knows all shots. */
db_status db_fit_centring_warning_add(db_context *context, db_fit_shots_result *result);

/* Adds a warning of shots whose cells are longer or shorter than the others'. In the process that knows all shots. */
db_status db_fit_cells_warning_add(db_context *context, db_fit_shots_result *result);

enum { DB_DIRECTION_TEXT_SIZE = 256 };

/* Names the parameters of a direction, the largest component first: "distance +0.71 with cell_a
 * +0.70". Components below a fifth are left out. Returns text. */
const char *db_direction_text(char text[DB_DIRECTION_TEXT_SIZE], const db_fit_estimates *found,
                              const db_fit_direction *direction);

/* Shots whose cells, which are their own, are longer or shorter than the others' (docs/theory/refinement.md, Many shots). */

/* Lengths of a list, such as the mean ln of a cell's edges. */
typedef struct db_length {
    double value, error;
    size_t shot;
    int is_other; /* gets 1: it is none of the crowd's */
} db_length;

/* Finds the crowd, to which more than half of the lengths belong, and marks those that are none of it: by chance one list in a
 * thousand has any. Puts them in order of their values. Too few to tell: none is marked. */
void db_other_lengths_mark(db_length *list, size_t count);

enum { DB_OTHER_CELLS_NAMED = 3 };

/* Shots with other cells. */
typedef struct db_other_cells {
    size_t compared, count;
    double scatter;                    /* of the crowd's edges, as a part of them */
    size_t shot[DB_OTHER_CELLS_NAMED]; /* the first ones of the list */
    size_t edges;
    const char *name[3]; /* of edges that are the shots' own */
    double change[3];    /* of the first shot, from the crowd's mean, as a part of it */
} db_other_cells;

/* Compares the cells of a list's shots, as far as their edges are their own. */
db_status db_other_cells_find(db_context *context, const db_fit_shots_result *result,
                              db_other_cells *found);

#endif
