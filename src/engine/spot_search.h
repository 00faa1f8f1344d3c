/* Finds the reflections that have spots on the panels. */
#ifndef DB_ENGINE_SPOT_SEARCH_H
#define DB_ENGINE_SPOT_SEARCH_H

#include "engine/plan_state.h"
#include "engine/spot_physics.h"

/* Nodes of equal h. */
typedef struct {
    db_spot_run *run;
    size_t count, room;
    int failed; /* 1: memory ran out */
} db_spot_layer;

/* Spots that a search found, in the order of sources, rows of nodes, panels, nodes, passages and
 * classes of blocks (runs of nodes are done panel by panel). */
typedef struct db_spot_list {
    db_spot_entry *entry;
    db_kernel_spot *spot; /* [count] */
    size_t count, room;
    struct db_spot_list
        *part;           /* of the search's pieces of work: their room stays for the next one */
    size_t parts, first; /* first: where a part's spots go in the whole list */
    db_status status;    /* of a part, with the reflection whose spread is no covariance */
    int wrong[3];
    db_spot_search search;
    db_spot_group *group;
    size_t group_count;
    uint32_t *group_of; /* of each source */
    db_spot_layer *layer;
    db_spot_window *window;
    size_t groups, sources, layers, windows; /* room */
} db_spot_list;

void db_spot_list_clear(db_spot_list *list);

/* Passages of a node through the rotation range, for one source: at most `most` of them. */
int db_spot_passages(const db_experiment *e, const db_interface *z, size_t source, const int hkl[3],
                     db_spot_passage passage[DB_SPOT_MOST_PASSAGES]);

/* The input of kernel/spot_finder.h: for all, for a source, and for a panel; tiles NULL: the whole panel. */
db_spot_search db_spot_search_of(const db_plan *plan, const db_spot_bounds *bounds);
db_spot_find db_spot_find_of(const db_plan *plan, const db_spot_search *search, size_t source);
db_spot_window db_spot_window_of(const db_plan *plan, size_t panel, const db_spot_tiles *tiles);

/* Fills the list's search, groups of sources and windows, before its spots are searched. */
db_status db_spots_search_begin(const db_plan *plan, const db_spot_bounds *bounds,
                                const db_spot_tiles *tiles, db_spot_list *list);

/* Finds the spots that reach some of the tiles, after db_spots_search_begin. */
db_status db_spots_search(const db_plan *plan, const db_spot_tiles *tiles, db_spot_list *list);

/* Finds the names of spots that may be on the panels, of class 0 of the blocks only; list->spot stays NULL. */
db_status db_spots_search_names(const db_plan *plan, const db_spot_bounds *bounds,
                                db_spot_list *list);

/* Fails: the spread of this reflection is no covariance. */
db_status db_spots_refuse_covariance(db_context *context, const int hkl[3]);

#endif
