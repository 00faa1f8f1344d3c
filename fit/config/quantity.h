/* Refined quantities: their numbers, for lists with room for all of them. */
#ifndef DB_FIT_CONFIG_QUANTITY_H
#define DB_FIT_CONFIG_QUANTITY_H

#include <dualbragg/fit.h>
#include <dualbragg/expert/fit_quantities.h>
#include <dualbragg/expert/site_curves.h>

/* db_fit_parameter.stages of a parameter that a stage did not earn: it keeps its value. */
#define DB_FIT_NOT_EARNED (1u << 31)

/* Parameters of the table, all motions of all groups of panels, and points of the curves of f' and f''. No refinement
 * has more than DB_FIT_MOST_PARAMETERS of them. */
enum {
    DB_FIT_MOST_GROUPS = 128,
    DB_FIT_MOST_PANELS = 1024,
    DB_FIT_MOST_PARAMETERS = (int)DB_PARAMETER_COUNT + DB_FIT_MOST_GROUPS * DB_FIT_GROUP_MOTIONS,
    DB_FIT_CURVE_POINTS = 200, /* most points of one curve */
    DB_FIT_CURVE_VALUES = 400, /* most values of f' and f'' in all curves */
    DB_FIT_MOST_COLUMNS = (int)DB_PARAMETER_COUNT + DB_FIT_CURVE_VALUES,
    DB_FIT_FIRST_CURVE = DB_FIT_MOST_PARAMETERS, /* numbers of quantities */
    DB_FIT_MOST_QUANTITIES = DB_FIT_FIRST_CURVE + 2 * (int)DB_MOST_SITE_KINDS * DB_FIT_CURVE_POINTS
};

/* Name of all points of all curves in a list of quantities. */
extern const char db_curves_name[];

/* Are f' and f'' refined? */
int db_fit_refines_curves(const db_fit_settings *settings);

/* Is the parameter a point of a curve? */
static inline int db_fit_parameter_is_of_curve(const db_fit_parameter *parameter) {
    int kind, second;
    size_t point;
    return db_parameter_is_site_curve(parameter->parameter, &kind, &second, &point);
}

static inline const db_parameter_facts *db_facts_of(db_parameter parameter) {
    return db_parameter_describe(parameter)->facts;
}

/* Parameter of the table of a quantity, or of its motion. */
static inline db_parameter db_quantity_parameter(db_fit_quantity quantity) {
    db_parameter parameter;
    int group;
    db_fit_quantity_at(quantity, &parameter, &group);
    return parameter;
}

/* Do moments of spots determine the geometry, instead of pixels? True for free intensities and panels at their given
 * places: moments do not depend on motions of groups. */
int db_fit_has_moments(const db_fit_settings *settings);

/* Default stages of one image. */
void db_fit_default_stages(db_fit_settings *settings);

/* Default stages with free intensities, by moments. */
void db_fit_closed_stages(db_fit_settings *settings);

/* Adds the stage of intensities that many shots share (db_fit_settings.joint), unless it is there: it refines all
 * parameters of earlier stages, and also scale and temperature factor, for which free intensities would
 * compensate. DB_ERROR_USAGE: there are too many stages. */
db_status db_fit_add_intensity_stage(db_context *context, db_fit_settings *settings);
static inline int db_fit_is_intensity_stage(const db_fit_settings *settings, int stage) {
    return stage >= 0 && settings->stages[stage].kind == DB_STAGE_INTENSITIES;
}

#endif
