/** @file
 * Rigid motions of single panels or groups about any centre. A refinement
 * finds increments from derivatives by the panels' own motions
 * (DB_PANEL_SHIFT_FAST to DB_PANEL_TURN_NORMAL), and then moves the panels. */
#ifndef DUALBRAGG_EXPERT_PANEL_MOTION_H
#define DUALBRAGG_EXPERT_PANEL_MOTION_H

#include <dualbragg/experiment.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A rotation about three axes through a centre (the first axis first, with axes as before the
 * motion), then a shift along these axes. Positive angles take the second axis towards the third, the
 * third towards the first, the first towards the second. In the plate's frame, like panels. */
typedef struct db_panel_motion {
    double centre[3];  /**< mm */
    double axis[3][3]; /**< unit vectors, perpendicular to each other */
    double turn[3];    /**< degree */
    double shift[3];   /**< mm */
} db_panel_motion;

/** No motion, with the centre of the panel and its fast axis, slow axis and normal for axes.
 *
 * @param panel to stand on
 * @return the motion */
DB_API db_panel_motion db_panel_own_frame(const db_panel *panel);

/** No motion, with the mean of the centres of some panels (numbers, `count` >= 1 of them) and the
 * plate's axes. DB_ERROR_USAGE for a panel that does not exist.
 *
 * @param context receives the message of a failure
 * @param detector with the panels
 * @param panels their numbers, `count` of them
 * @param count 1 or more
 * @param frame filled
 * @return DB_OK; DB_ERROR_USAGE */
DB_API db_status db_panel_group_frame(db_context *context, const db_detector *detector,
                                      const size_t *panels, size_t count, db_panel_motion *frame);

/** Moves panels as one rigid body. The detector's panel_turn and panel_shift stay, now
 * in the frames of the moved panels. DB_ERROR_USAGE for a panel that does not exist,
 * DB_ERROR_INPUT for axes that are no frame or numbers that are not finite; then nothing moves.
 *
 * @param context receives the message of a failure
 * @param detector to change
 * @param panels their numbers, `count` of them
 * @param count their number
 * @param motion of all of them
 * @return DB_OK; DB_ERROR_USAGE or DB_ERROR_INPUT */
DB_API db_status db_panels_move(db_context *context, db_detector *detector, const size_t *panels,
                                size_t count, const db_panel_motion *motion);

/** Moves every panel by the detector's panel_turn and panel_shift, which become 0: pixels stay
 * where they are.
 *
 * @param detector to change */
DB_API void db_panels_take_own_motion(db_detector *detector);

/** Expresses a small change of a group's motion by own motions of a panel: own[i] per unit of the
 * group's motion j (turns 0 to 2, then shifts 3 to 5; degree and mm) is part[i][j]. The panel is
 * given in its place before the group's motion, of any size, without an own motion. The derivative
 * of an image of the moved panels by the group's motion j is the sum over their pixels of
 * part[i][j] times the derivative by their own motion i.
 *
 * @param panel as it stands before the motion
 * @param group motion of its group
 * @param part receives them */
DB_API void db_panel_motion_parts(const db_panel *panel, const db_panel_motion *group,
                                  double part[6][6]);

#ifdef __cplusplus
}
#endif
#endif
