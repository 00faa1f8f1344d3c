/** @file
 * Groups of panels that move as one rigid body each. */
#ifndef DUALBRAGG_FIT_PANEL_GROUPS_H
#define DUALBRAGG_FIT_PANEL_GROUPS_H

#include <dualbragg/context.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Motions of a group of panels, which is a rigid body, and room for its name. */
enum {
    DB_FIT_GROUP_MOTIONS = 6,
    DB_FIT_GROUP_NAME_SIZE = 48 /**< leaves room for the motion beside it */
};
/** Assignment of panels to groups. */
typedef struct db_fit_panel_groups {
    size_t count;
    char (*name)[DB_FIT_GROUP_NAME_SIZE]; /**< of each group; owned */
    size_t panel_count;                   /**< number of assigned panels */
    short *of_panel; /**< group of each panel; -1: none, the panel does not move; owned */
} db_fit_panel_groups;

/** Group of a panel.
 *
 * @param groups to ask
 * @param panel its number, from 0
 * @return number of the group; -1: in none */
static inline int db_fit_panel_groups_of(const db_fit_panel_groups *groups, size_t panel) {
    return panel < groups->panel_count ? groups->of_panel[panel] : -1;
}

#ifdef __cplusplus
}
#endif
#endif
