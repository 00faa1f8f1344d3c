/* Slots: the parameters by which wide dual numbers have slopes. The model computes all slopes of a number, used or
 * not. So there are few slots, and parameters take turns. */
#ifndef DB_MODEL_PARAMETER_SLOTS_H
#define DB_MODEL_PARAMETER_SLOTS_H

#include <dualbragg/parameters.h>

enum { DB_SLOPES_AT_ONCE = 16 };

typedef struct db_parameter_slots {
    int count;
    db_parameter parameter[DB_SLOPES_AT_ONCE];
} db_parameter_slots;

/* Index of the slope by a parameter; -1 if there is none. */
static inline int db_parameter_slope(const db_parameter_slots *slots, db_parameter parameter) {
    for (int i = 0; i < slots->count; i++)
        if (slots->parameter[i] == parameter) return i;
    return -1;
}

/* Groups of interface values that a parameter moves in this experiment (DB_MOVES_*). A parameter of the
 * orientation also moves all groups that depend on the orientation. */
unsigned db_parameter_moves(const db_experiment *experiment, db_parameter parameter);

/* Miller indices of a structure factor among the parameters. */
void db_parameter_node(db_parameter parameter, int node[3]);

#endif
