/* Groups of panels, moved. */
#include "fit/objective/panel_placement.h"

#include "base/context_internal.h"
#include "fit/config/quantity.h"

#include <stdlib.h>
#include <string.h>

/* Number of a motion: parameters list shifts first, motions list turns first. */
static size_t part_of(int kind) { return (size_t)(kind + 3) % DB_FIT_GROUP_MOTIONS; }

static size_t panels_of(const db_panel_placement *placement, size_t group,
                        size_t list[DB_FIT_MOST_PANELS]) {
    size_t count = 0;
    for (size_t p = 0; p < placement->panel_count; p++)
        if (db_fit_panel_groups_of(placement->groups, p) == (int)group) list[count++] = p;
    return count;
}

static db_status check_groups(db_context *context, const db_detector *detector,
                              const db_fit_panel_groups *groups) {
    if (detector->panel_count > DB_FIT_MOST_PANELS)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "groups of panels: the detector has %zu panels, expected at most %d",
                       detector->panel_count, DB_FIT_MOST_PANELS);
    for (size_t p = 0; p < groups->panel_count; p++) {
        const short group = groups->of_panel[p];
        if (group < 0) continue;
        if ((size_t)group >= groups->count)
            return db_fail(context, DB_ERROR_USAGE,
                           "groups of panels: panel %zu is of group %d, but there are %zu", p,
                           (int)group, groups->count);
        if (p >= detector->panel_count)
            return db_fail(context, DB_ERROR_INPUT,
                           "group %s: expected panels 0 to %zu, which the detector has, found %zu",
                           groups->name[group], detector->panel_count - 1, p);
    }
    return DB_OK;
}

static db_status allocate_placement(db_context *context, db_panel_placement *placement) {
    placement->start = calloc(placement->panel_count, sizeof *placement->start);
    placement->motion = calloc(placement->groups->count, sizeof *placement->motion);
    return db_need_memory(context, placement->start && placement->motion, "the places of panels");
}

/* Fills panels in the frame of the plate, and frames of the groups. */
static db_status fill_placement(db_context *context, const db_detector *detector,
                                db_panel_placement *placement) {
    size_t list[DB_FIT_MOST_PANELS];
    db_detector standing = *detector;
    standing.panels = placement->start;
    memcpy(placement->start, detector->panels, placement->panel_count * sizeof *placement->start);
    db_panels_take_own_motion(&standing);
    for (size_t g = 0; g < placement->groups->count; g++) {
        const size_t count = panels_of(placement, g, list);
        if (count == 0)
            return db_fail(context, DB_ERROR_USAGE, "group %s has no panels",
                           placement->groups->name[g]);
        DB_TRY(db_panel_group_frame(context, &standing, list, count, &placement->motion[g]));
    }
    return DB_OK;
}

db_status db_panel_placement_make(db_context *context, const db_detector *detector,
                                  const db_fit_panel_groups *groups,
                                  db_panel_placement *placement) {
    *placement = (db_panel_placement){ .groups = groups, .panel_count = detector->panel_count };
    if (groups->count == 0) return DB_OK;
    db_status status = check_groups(context, detector, groups);
    if (status == DB_OK) status = allocate_placement(context, placement);
    if (status == DB_OK) status = fill_placement(context, detector, placement);
    if (status != DB_OK) db_panel_placement_clear(placement);
    return status;
}

db_status db_panel_placement_copy(db_context *context, const db_panel_placement *from,
                                  db_panel_placement *to) {
    *to = (db_panel_placement){ .groups = from->groups, .panel_count = from->panel_count };
    if (!from->start) return DB_OK;
    const db_status status = allocate_placement(context, to);
    if (status != DB_OK) {
        db_panel_placement_clear(to);
        return status;
    }
    memcpy(to->start, from->start, from->panel_count * sizeof *to->start);
    memcpy(to->motion, from->motion, from->groups->count * sizeof *to->motion);
    return DB_OK;
}

void db_panel_placement_clear(db_panel_placement *placement) {
    free(placement->start);
    free(placement->motion);
    memset(placement, 0, sizeof *placement);
}

double *db_panel_placement_value(const db_panel_placement *placement, int group, int kind) {
    db_panel_motion *const motion = &placement->motion[group];
    return kind < 3 ? &motion->shift[kind] : &motion->turn[kind - 3];
}

double db_fit_value(const db_fit_parameter *quantity, const db_experiment *experiment,
                    const db_panel_placement *placement) {
    if (quantity->group < 0) return db_parameter_get(experiment, quantity->parameter);
    return *db_panel_placement_value(placement, quantity->group,
                                     (int)quantity->parameter - (int)DB_PANEL_SHIFT_FAST);
}

db_status db_panel_placement_apply(db_context *context, const db_panel_placement *placement,
                                   db_detector *detector) {
    size_t list[DB_FIT_MOST_PANELS];
    if (!placement->start) return DB_OK;
    memcpy(detector->panels, placement->start, placement->panel_count * sizeof *placement->start);
    for (int i = 0; i < 3; i++) detector->panel_turn[i] = detector->panel_shift[i] = 0;
    for (size_t g = 0; g < placement->groups->count; g++) {
        const size_t count = panels_of(placement, g, list);
        DB_TRY(db_panels_move(context, detector, list, count, &placement->motion[g]));
    }
    return DB_OK;
}

void db_panel_placement_slopes(const db_panel_placement *placement, size_t panel,
                               double slope[DB_FIT_GROUP_MOTIONS][DB_FIT_GROUP_MOTIONS]) {
    double part[DB_FIT_GROUP_MOTIONS][DB_FIT_GROUP_MOTIONS];
    db_panel_motion_parts(&placement->start[panel],
                          &placement->motion[db_fit_panel_groups_of(placement->groups, panel)],
                          part);
    for (int own = 0; own < DB_FIT_GROUP_MOTIONS; own++)
        for (int kind = 0; kind < DB_FIT_GROUP_MOTIONS; kind++)
            slope[own][kind] = part[part_of(own)][part_of(kind)];
}
