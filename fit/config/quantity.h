/* How many quantities can be refined, for lists with room for all of them. */
#ifndef DB_FIT_CONFIG_QUANTITY_H
#define DB_FIT_CONFIG_QUANTITY_H

#include <dualbragg/fit.h>

/* Parameters of the table, and all motions of all groups of panels. */
enum {
    DB_FIT_MOST_GROUPS = 128,
    DB_FIT_MOST_PANELS = 1024,
    DB_FIT_MOST_PARAMETERS = (int)DB_PARAMETER_COUNT + DB_FIT_MOST_GROUPS * DB_FIT_GROUP_MOTIONS
};

/* The parameter of the table that a quantity is, or that its motion is of. */
static inline db_parameter db_quantity_parameter(db_fit_quantity quantity) {
    db_parameter parameter;
    int group;
    db_fit_quantity_at(quantity, &parameter, &group);
    return parameter;
}

#endif
