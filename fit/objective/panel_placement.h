/* Placement of panel groups: at the start of the refinement, and moved since. */
#ifndef DB_FIT_OBJECTIVE_PANEL_PLACEMENT_H
#define DB_FIT_OBJECTIVE_PANEL_PLACEMENT_H

#include <dualbragg/fit.h>
#include <dualbragg/expert/panel_motion.h>

typedef struct db_panel_placement {
    const db_fit_panel_groups *groups; /* borrowed */
    size_t panel_count;
    db_panel *start; /* [panel_count] at the start, own motions included; owned */
    /* [groups->count] motions since then, each about its group's centre and axes at the start;
     * owned */
    db_panel_motion *motion;
} db_panel_placement;

/* A placement without motions. *placement is empty without groups. DB_ERROR_INPUT for panels that the detector
 * does not have. */
db_status db_panel_placement_make(db_context *context, const db_detector *detector,
                                  const db_fit_panel_groups *groups, db_panel_placement *placement);
db_status db_panel_placement_copy(db_context *context, const db_panel_placement *from,
                                  db_panel_placement *to);
void db_panel_placement_clear(db_panel_placement *placement);

/* Value of a motion (mm or degree); kind: 0 for DB_PANEL_SHIFT_FAST to 5 for DB_PANEL_TURN_NORMAL.
 */
double *db_panel_placement_value(const db_panel_placement *placement, int group, int kind);

/* Value of a refined quantity: a parameter of the experiment, or a motion. */
double db_fit_value(const db_fit_parameter *quantity, const db_experiment *experiment,
                    const db_panel_placement *placement);

/* Moves a detector's panels to their places; their own motions become 0. Without groups nothing changes. Allocates
 * nothing. */
db_status db_panel_placement_apply(db_context *context, const db_panel_placement *placement,
                                   db_detector *detector);

/* Own motion `kind` of a panel per unit of its group's motion, for both kinds: factors on derivatives by own
 * motions. */
void db_panel_placement_slopes(const db_panel_placement *placement, size_t panel,
                               double slope[DB_FIT_GROUP_MOTIONS][DB_FIT_GROUP_MOTIONS]);

#endif
