/* Shots whose cells, which are their own, are longer or shorter than the others' (docs/theory/refinement.md, Many shots). */
#ifndef DB_FIT_VERDICT_OTHER_CELLS_H
#define DB_FIT_VERDICT_OTHER_CELLS_H

#include <dualbragg/fit_shots.h>

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
