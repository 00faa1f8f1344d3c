/** @file
 * Refined quantities: parameters of the table, and motions of groups of panels. */
#ifndef DUALBRAGG_FIT_PARAMETER_H
#define DUALBRAGG_FIT_PARAMETER_H

#include <dualbragg/fit_panel_groups.h>
#include <dualbragg/parameters.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DB_FIT_MAX_STAGES = 16, DB_FIT_NAME_SIZE = 64 };

/** Number of a refinable quantity: a parameter of the table, or the motion of a group of panels
 * (db_fit_quantity_make). It is a separate type, to prevent confusion with an index of parameters. */
typedef struct db_fit_quantity {
    int number; /**< -1: none */
} db_fit_quantity;

enum { DB_FIT_SHARED_BY_SETTING = 2 }; /**< db_fit_parameter.shared */

/** One refined (or tied) quantity: a parameter of the table, or the motion of a group of panels.
 * The value of a motion is relative to the start of the refinement. */
typedef struct db_fit_parameter {
    db_parameter parameter;
    double lower; /**< bound in the parameter's unit, absolute; -INFINITY: open */
    double upper; /**< bound in the parameter's unit, absolute; INFINITY: open */
    /** unit of the optimizer's coordinate, in the parameter's unit; NAN: chosen from the curvature
     * of the target at the start of a stage */
    double scale;
    /** none: it is refined; else it keeps the value of this quantity (a tie such as b = a) */
    db_fit_quantity follows;
    /** centre, sigma in the parameter's unit: adds ((value - centre)/sigma)^2 to the target; sigma
     * INFINITY: none */
    double prior[2];
    /** -1: the table's parameter; else a group of the settings' panel_groups: parameter is one of
     * DB_PANEL_SHIFT_FAST to DB_PANEL_TURN_NORMAL and means the motion of this group along or about
     * the axes of its frame (db_panel_group_frame) */
    int group;
    /** several images: 1 all share one value, 0 each has its own, 2 frames of a series share one that were taken with one
     * setting of the goniometer (angles of the crystal), on one spindle (its tilts), or with the detector at one place
     * (distance, beam centre, turns, two-theta), and all share others, -1 as db_fit_parameter_is_shared says */
    int shared;
    /** stages that refine it (if tied: follow it): bit s
     * for stage number s; default DB_FIT_ALL_STAGES */
    unsigned stages;
    /** of a configuration: db_fit_config_start makes the bounds
     * start - range and start + range; NAN: not given */
    double range;
    int line; /**< of the configuration's file, for messages; 0: none */
    /** 1: the usual stages of spots in closed form refine it only from the stage
     * `detector` on, and only if this describes held-out spots better */
    int earned;
    /** by how much a search has moved the start from the given value; 0: none has. Beam centres: spots may tell
     * several of them apart hardly, and the one nearer to the given value is then likelier */
    double moved;
    double reserved[3]; /**< 0: room for new members, see docs/decisions/public-structs.md */
} db_fit_parameter;

/** db_fit_parameter.stages of a parameter that all stages refine. */
#define DB_FIT_ALL_STAGES (~0u)

/** Whether a parameter follows another quantity instead of being refined.
 *
 * @param parameter one of the settings
 * @return 1 or 0 */
static inline int db_fit_parameter_is_tied(const db_fit_parameter *parameter) {
    return parameter->follows.number >= 0;
}

/** Whether a parameter is refined in stage number `stage`.
 *
 * @param parameter one of the settings
 * @param stage from 0
 * @return 1 or 0 */
static inline int db_fit_parameter_in_stage(const db_fit_parameter *parameter, size_t stage) {
    return (int)(parameter->stages >> stage & 1);
}

/** Sets whether stage number `stage` refines a parameter.
 *
 * @param parameter to change
 * @param stage from 0, below DB_FIT_MAX_STAGES
 * @param refined 1 or 0 */
static inline void db_fit_parameter_set_stage(db_fit_parameter *parameter, size_t stage,
                                              int refined) {
    parameter->stages = (parameter->stages & ~(1u << stage)) | (refined ? 1u << stage : 0);
}

/** A refined parameter of the table with default options.
 *
 * @param parameter of the table
 * @return the parameter: no bounds, no prior, not tied, refined in all stages */
DB_API db_fit_parameter db_fit_parameter_free(db_parameter parameter);

#ifdef __cplusplus
}
#endif
#endif
