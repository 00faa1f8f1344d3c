/* The parameters to which the slopes of wide dual numbers belong. The model's cost is that of all slopes of a
 * number, used or not: so there are few slots, and parameters take turns. */
#ifndef DB_MODEL_PARAMETER_SLOTS_H
#define DB_MODEL_PARAMETER_SLOTS_H

#include <dualbragg/parameters.h>

enum { DB_SLOPES_AT_ONCE = 16 };

typedef struct db_parameter_slots {
    int count;
    db_parameter parameter[DB_SLOPES_AT_ONCE];
} db_parameter_slots;

/* Number of a parameter's slope; -1 if it has none. */
static inline int db_parameter_slope(const db_parameter_slots *slots, db_parameter parameter) {
    for (int i = 0; i < slots->count; i++)
        if (slots->parameter[i] == parameter) return i;
    return -1;
}

/* The groups of interface values that a parameter moves in this experiment (DB_MOVES_*). A parameter that moves
 * the orientation counts as moving all that depends on it. */
unsigned db_parameter_moves(const db_experiment *experiment, db_parameter parameter);

/* Miller indices of a structure factor among the parameters. */
void db_parameter_node(db_parameter parameter, int node[3]);

#endif
