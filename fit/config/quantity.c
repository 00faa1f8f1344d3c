/* Refined quantities: their numbers and names. */
#include "fit/config/quantity.h"

#include <dualbragg/expert/fit_quantities.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

_Static_assert((int)DB_PANEL_TURN_NORMAL - (int)DB_PANEL_SHIFT_FAST + 1 ==
                   (int)DB_FIT_GROUP_MOTIONS,
               "the motions of panels stand side by side in the table");

const char db_curves_name[] = "curves";

int db_fit_refines_curves(const db_fit_settings *settings) {
    return settings->curves.points[2] > 0;
}

db_fit_parameter db_fit_parameter_free(db_parameter parameter) {
    return (db_fit_parameter){ .parameter = parameter,
                               .lower = -INFINITY,
                               .upper = INFINITY,
                               .scale = NAN,
                               .follows = { -1 },
                               .prior = { 0, INFINITY },
                               .group = -1,
                               .shared = -1,
                               .stages = DB_FIT_ALL_STAGES,
                               .range = NAN };
}

int db_fit_parameter_is_shared(const db_fit_parameter *parameter) {
    return parameter->shared >= 0
               ? parameter->shared != 0
               : db_parameter_describe(parameter->parameter)->facts->owner == DB_OWNER_SETUP;
}

db_fit_quantity db_fit_quantity_make(db_parameter parameter, int group) {
    int kind, second;
    size_t point;
    if (db_parameter_is_site_curve(parameter, &kind, &second, &point))
        return (db_fit_quantity){ point < DB_FIT_CURVE_POINTS
                                      ? DB_FIT_FIRST_CURVE +
                                            (2 * kind + second) * DB_FIT_CURVE_POINTS + (int)point
                                      : -1 };
    return (db_fit_quantity){ group < 0 ? (int)parameter
                                        : (int)DB_PARAMETER_COUNT + group * DB_FIT_GROUP_MOTIONS +
                                              (int)parameter - (int)DB_PANEL_SHIFT_FAST };
}

db_fit_quantity db_fit_quantity_of(const db_fit_parameter *parameter) {
    return db_fit_quantity_make(parameter->parameter, parameter->group);
}

void db_fit_quantity_at(db_fit_quantity quantity, db_parameter *parameter, int *group) {
    const int motion = quantity.number - (int)DB_PARAMETER_COUNT,
              value = quantity.number - DB_FIT_FIRST_CURVE, curve = value / DB_FIT_CURVE_POINTS;
    if (value >= 0) {
        *group = -1;
        *parameter =
            db_parameter_site_curve(curve / 2, curve % 2, (size_t)(value % DB_FIT_CURVE_POINTS));
        return;
    }
    *group = motion < 0 ? -1 : motion / DB_FIT_GROUP_MOTIONS;
    *parameter =
        (db_parameter)(motion < 0 ? quantity.number
                                  : (int)DB_PANEL_SHIFT_FAST + motion % DB_FIT_GROUP_MOTIONS);
}

const char *db_fit_quantity_name(const db_fit_panel_groups *groups, db_fit_quantity quantity,
                                 char name[DB_FIT_NAME_SIZE]) {
    db_parameter parameter;
    int group;
    db_fit_quantity_at(quantity, &parameter, &group);
    if (group < 0)
        db_parameter_name(parameter, name, DB_FIT_NAME_SIZE);
    else
        snprintf(name, DB_FIT_NAME_SIZE, "%.*s:%s", DB_FIT_GROUP_NAME_SIZE - 1, groups->name[group],
                 db_parameter_describe(parameter)->name + strlen("panel_"));
    return name;
}
