/* Motions of panels and groups of panels. */
#include <dualbragg/expert/panel_motion.h>

#include "base/context_internal.h"
#include "base/degree.h"
#include "base/given.h"
#include "base/vector.h"

#include <math.h>
#include <string.h>

#define LANES 1
#define REAL double
#include "ad/lane.h"
#define DIRS 3
#include "ad/num.h"
typedef vec3 turning_vector;
#undef DIRS
#define DIRS 0
#include "ad/num.h"

static void centre_of(const db_panel *p, double centre[3]) {
    const double half_fast = 0.5 * p->fast_pixels * p->pixel_size[0],
                 half_slow = 0.5 * p->slow_pixels * p->pixel_size[1];
    for (int i = 0; i < 3; i++)
        centre[i] = p->origin[i] + half_fast * p->fast_axis[i] + half_slow * p->slow_axis[i];
}

db_panel_motion db_panel_own_frame(const db_panel *panel) {
    db_panel_motion frame = { 0 };
    centre_of(panel, frame.centre);
    memcpy(frame.axis[0], panel->fast_axis, sizeof frame.axis[0]);
    memcpy(frame.axis[1], panel->slow_axis, sizeof frame.axis[1]);
    memcpy(frame.axis[2], panel->normal, sizeof frame.axis[2]);
    return frame;
}

static db_status check_panels(db_context *context, const db_detector *detector,
                              const size_t *panels, size_t count) {
    if (count < 1)
        return db_fail(context, DB_ERROR_USAGE,
                       "motion of panels: expected at least one, found none");
    DB_TRY(db_need_list(context, "panels to be moved", panels, count));
    DB_TRY(
        db_need_list(context, "panels of the detector", detector->panels, detector->panel_count));
    for (size_t i = 0; i < count; i++)
        if (panels[i] >= detector->panel_count)
            return db_fail(context, DB_ERROR_USAGE,
                           "motion of panels: panel %zu of %zu does not exist", panels[i],
                           detector->panel_count);
    return DB_OK;
}

db_status db_panel_group_frame(db_context *context, const db_detector *detector,
                               const size_t *panels, size_t count, db_panel_motion *frame) {
    DB_TRY(check_panels(context, detector, panels, count));
    *frame = (db_panel_motion){ .axis = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } };
    for (size_t n = 0; n < count; n++) {
        double centre[3];
        centre_of(&detector->panels[panels[n]], centre);
        for (int i = 0; i < 3; i++) frame->centre[i] += centre[i] / (double)count;
    }
    return DB_OK;
}

static db_status check_motion(db_context *context, const db_panel_motion *m) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j <= i; j++)
            if (!(fabs(db_dot(m->axis[i], m->axis[j]) - (i == j)) <= 1e-5))
                return db_fail(context, DB_ERROR_INPUT,
                               "motion of panels: expected unit vectors perpendicular to each "
                               "other for axes, found a product of %g of axes %d and %d",
                               db_dot(m->axis[i], m->axis[j]), j + 1, i + 1);
        if (!isfinite(m->centre[i]) || !isfinite(m->turn[i]) || !isfinite(m->shift[i]))
            return db_fail(context, DB_ERROR_INPUT,
                           "motion of panels: expected finite numbers, found centre %g, turn %g, "
                           "shift %g along axis %d",
                           m->centre[i], m->turn[i], m->shift[i], i + 1);
    }
    return DB_OK;
}

/* The rotation in components along the motion's axes. */
static mat3 turn_of(const db_panel_motion *m) {
    return m3_rotation_xyz(n_constant(DB_DEGREE * m->turn[0]), n_constant(DB_DEGREE * m->turn[1]),
                           n_constant(DB_DEGREE * m->turn[2]));
}

/* Turns a vector, by adding its change through the rotation. */
static void turn_difference(const db_panel_motion *m, const mat3 *turn, double v[3]) {
    const vec3 own = v3_make(n_constant(db_dot(m->axis[0], v)), n_constant(db_dot(m->axis[1], v)),
                             n_constant(db_dot(m->axis[2], v)));
    const vec3 added = v3_sub(m3_apply(*turn, own), own);
    for (int i = 0; i < 3; i++)
        v[i] += added.x.v * m->axis[0][i] + added.y.v * m->axis[1][i] + added.z.v * m->axis[2][i];
}

static void move_panel(const db_panel_motion *m, const mat3 *turn, db_panel *panel) {
    double arm[3];
    for (int i = 0; i < 3; i++) arm[i] = panel->origin[i] - m->centre[i];
    turn_difference(m, turn, arm);
    turn_difference(m, turn, panel->fast_axis);
    turn_difference(m, turn, panel->slow_axis);
    turn_difference(m, turn, panel->normal);
    for (int i = 0; i < 3; i++) {
        panel->origin[i] = m->centre[i] + arm[i];
        for (int k = 0; k < 3; k++) panel->origin[i] += m->shift[k] * m->axis[k][i];
    }
}

db_status db_panels_move(db_context *context, db_detector *detector, const size_t *panels,
                         size_t count, const db_panel_motion *motion) {
    DB_TRY(check_panels(context, detector, panels, count));
    DB_TRY(check_motion(context, motion));
    const mat3 turn = turn_of(motion);
    for (size_t n = 0; n < count; n++) move_panel(motion, &turn, &detector->panels[panels[n]]);
    return DB_OK;
}

void db_panels_take_own_motion(db_detector *detector) {
    for (size_t p = 0; p < detector->panel_count; p++) {
        db_panel_motion motion = db_panel_own_frame(&detector->panels[p]);
        memcpy(motion.turn, detector->panel_turn, sizeof motion.turn);
        memcpy(motion.shift, detector->panel_shift, sizeof motion.shift);
        const mat3 turn = turn_of(&motion);
        move_panel(&motion, &turn, &detector->panels[p]);
    }
    for (int i = 0; i < 3; i++) detector->panel_turn[i] = detector->panel_shift[i] = 0;
}

#undef DIRS
#define DIRS 3
/* A vector turned by the group's motion, with its slopes by the three rotations (degree), in
 * components of its axes. */
static turning_vector turning(const db_panel_motion *group, const double v[3]) {
    const mat3 turn = m3_rotation_xyz(n_scale(n_seed(group->turn[0], 0), DB_DEGREE),
                                      n_scale(n_seed(group->turn[1], 1), DB_DEGREE),
                                      n_scale(n_seed(group->turn[2], 2), DB_DEGREE));
    return m3_apply(turn, v3_passive(db_dot(group->axis[0], v), db_dot(group->axis[1], v),
                                     db_dot(group->axis[2], v)));
}

/* The slope of v by rotation j, along a turned direction. */
static double slope_along(turning_vector v, int j, turning_vector direction) {
    return v.x.d[j] * direction.x.v + v.y.d[j] * direction.y.v + v.z.d[j] * direction.z.v;
}

void db_panel_motion_parts(const db_panel *panel, const db_panel_motion *group, double part[6][6]) {
    const db_panel_motion own = db_panel_own_frame(panel);
    double arm[3];
    turning_vector axis[3];
    for (int i = 0; i < 3; i++) {
        arm[i] = own.centre[i] - group->centre[i];
        axis[i] = turning(group, own.axis[i]);
    }
    const turning_vector centre = turning(group, arm);
    for (int i = 0; i < 3; i++) {
        const double along[3] = { axis[i].x.v, axis[i].y.v, axis[i].z.v };
        for (int j = 0; j < 3; j++) {
            /* own rotation i takes the next axis towards the last one */
            part[i][j] = slope_along(axis[(i + 1) % 3], j, axis[(i + 2) % 3]) / DB_DEGREE;
            part[3 + i][j] = slope_along(centre, j, axis[i]);
            part[i][3 + j] = 0;
            part[3 + i][3 + j] = along[j];
        }
    }
}
