/* Parameters beyond the table have no slope of their own in the full-width duals: a plan's own get
 * the slots after those of the table. */
#ifndef DB_MODEL_PARAMETER_SLOTS_H
#define DB_MODEL_PARAMETER_SLOTS_H

#include <dualbragg/parameters.h>

typedef struct db_parameter_slots {
    int count;
    db_parameter parameter[DB_PARAMETER_SLOTS];
} db_parameter_slots;

/* Number of a parameter's slope in the full-width duals; -1 if it has none. */
static inline int db_parameter_slope(const db_parameter_slots *slots, db_parameter parameter) {
    if ((unsigned)parameter < DB_PARAMETER_COUNT) return (int)parameter;
    for (int i = 0; slots && i < slots->count; i++)
        if (slots->parameter[i] == parameter) return DB_PARAMETER_COUNT + i;
    return -1;
}

/* Miller indices of a structure factor among the parameters. */
void db_parameter_node(db_parameter parameter, int node[3]);

#endif
