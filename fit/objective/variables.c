/* Refined quantities and the parameters that they move. */
#include "fit/objective/variables.h"

#include "base/context_internal.h"
#include "fit/config/orientation.h"
#include "fit/config/quantity.h"

#include <dualbragg/expert/fit_quantities.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_column(db_variables *v, db_parameter parameter, size_t variable, double value) {
    v->links[v->link_count++] = (db_link){ v->columns, variable, 1 };
    v->parameter[v->columns] = parameter;
    v->origin[v->columns++] = value;
}

/* Move of bounds and priors of a parameter with its reference. */
static double moved(db_parameter p, const double *turned) {
    const int axis = db_orientation_axis(p);
    return axis < 0 ? 0 : turned[axis];
}

/* Adds a quantity with the present value `value`. */
static size_t add_quantity(const db_fit_settings *settings, size_t i, double shift, double value,
                           db_variables *v) {
    const db_fit_parameter *const p = &settings->parameters[i];
    const size_t k = v->count++;
    v->index[k] = i;
    v->lower[k] = fmax(db_facts_of(p->parameter)->least, p->lower - shift);
    v->upper[k] = fmin(db_facts_of(p->parameter)->most, p->upper - shift);
    v->start[k] = fmin(fmax(value, v->lower[k]), v->upper[k]);
    v->centre[k] = p->prior[0] - shift;
    v->sigma[k] = p->prior[1];
    return k;
}

static void add_variable(const db_fit_settings *settings, size_t i, const double *turned,
                         const db_experiment *experiment, db_variables *v) {
    const db_parameter p = settings->parameters[i].parameter;
    const size_t k =
        add_quantity(settings, i, moved(p, turned), db_parameter_get(experiment, p), v);
    add_column(v, p, k, v->start[k]);
}

static short *motion_of(db_variables *v, const db_fit_parameter *p) {
    return &v->motion[p->group][(int)p->parameter - (int)DB_PANEL_SHIFT_FAST];
}

/* Is a parameter refined by itself in one of these stages? */
static int is_refined(const db_fit_parameter *p, unsigned stages) {
    return !db_fit_parameter_is_tied(p) && p->stages != DB_FIT_NOT_EARNED &&
           (stages == DB_FIT_ALL_STAGES || (p->stages & stages) != 0);
}

static void add_motions(const db_fit_settings *settings, unsigned stages,
                        const db_panel_placement *placement, db_variables *v) {
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        if (p->group < 0 || !is_refined(p, stages)) continue;
        const int kind = (int)p->parameter - (int)DB_PANEL_SHIFT_FAST;
        const double value = *db_panel_placement_value(placement, p->group, kind);
        *motion_of(v, p) = (short)add_quantity(settings, i, 0, value, v);
    }
}

static void add_followers(const db_fit_settings *settings, db_variables *v) {
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        for (size_t k = 0; k < v->count && db_fit_parameter_is_tied(p); k++) {
            if (db_fit_quantity_of(&settings->parameters[v->index[k]]).number != p->follows.number)
                continue;
            if (p->group < 0)
                add_column(v, p->parameter, k, v->start[k]);
            else
                *motion_of(v, p) = (short)k;
        }
    }
}

/* Adds own motions of panels that make up motions of groups: a group that is only shifted does not turn its
 * panels. */
static void add_own_motions(db_variables *v) {
    int shifts = 0, turns = 0;
    for (int g = 0; g < DB_FIT_MOST_GROUPS; g++) {
        for (int kind = 0; kind < DB_FIT_GROUP_MOTIONS; kind++) {
            if (v->motion[g][kind] < 0) continue;
            shifts = 1;
            turns |= kind >= 3;
        }
    }
    for (int kind = 0; kind < DB_FIT_GROUP_MOTIONS; kind++) {
        v->own_motion[kind] = -1;
        if (!(kind < 3 ? shifts : turns)) continue;
        v->own_motion[kind] = (int)v->columns;
        v->parameter[v->columns] = (db_parameter)((int)DB_PANEL_SHIFT_FAST + kind);
        v->origin[v->columns++] = 0;
    }
}

/* Room for what these settings refine: a parameter is one quantity or follows one, and has at most one column. */
static db_status make_room_for_all(db_context *context, size_t parameters, db_variables *v) {
    const size_t columns = parameters + DB_FIT_GROUP_MOTIONS;
    memset(v, 0, sizeof *v);
    v->index = calloc(columns, sizeof *v->index);
    v->start = calloc(5 * parameters + columns, sizeof *v->start);
    v->parameter = calloc(columns, sizeof *v->parameter);
    v->links = calloc(columns, sizeof *v->links);
    if (!v->index || !v->start || !v->parameter || !v->links) {
        db_variables_clear(v);
        return db_fail_memory(context, "the quantities of a stage");
    }
    v->lower = v->start + parameters;
    v->upper = v->lower + parameters;
    v->centre = v->upper + parameters;
    v->sigma = v->centre + parameters;
    v->origin = v->sigma + parameters;
    return DB_OK;
}

void db_variables_clear(db_variables *variables) {
    free(variables->index);
    free(variables->start);
    free(variables->parameter);
    free(variables->links);
    memset(variables, 0, sizeof *variables);
}

db_status db_variables_make(db_context *context, const db_fit_settings *settings, unsigned stages,
                            const db_crystal *given, const db_experiment *experiment,
                            const db_panel_placement *placement, db_variables *variables) {
    db_variables *const v = variables;
    double turned[3] = { 0 };
    DB_TRY(make_room_for_all(context, settings->parameter_count, v));
    v->turns = given && db_orientation_is_refined(settings);
    if (v->turns) db_orientation_turned(given, &experiment->crystal, turned);
    for (int g = 0; g < DB_FIT_MOST_GROUPS; g++)
        for (int kind = 0; kind < DB_FIT_GROUP_MOTIONS; kind++) v->motion[g][kind] = -1;
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        if (p->group < 0 && is_refined(p, stages)) add_variable(settings, i, turned, experiment, v);
    }
    v->table_count = v->count;
    add_motions(settings, stages, placement, v);
    add_followers(settings, v);
    add_own_motions(v);
    return DB_OK;
}

void db_variables_place(const db_variables *variables, const double *values,
                        db_panel_placement *placement) {
    if (!placement->start) return;
    for (size_t g = 0; g < placement->groups->count; g++) {
        for (int kind = 0; kind < DB_FIT_GROUP_MOTIONS; kind++) {
            const short k = variables->motion[g][kind];
            if (k >= 0) *db_panel_placement_value(placement, (int)g, kind) = values[k];
        }
    }
}

size_t db_variables_of_group(const db_variables *variables, int group, size_t *list) {
    size_t count = 0;
    for (; count < variables->table_count; count++) list[count] = count;
    for (int kind = 0; kind < DB_FIT_GROUP_MOTIONS && group >= 0; kind++) {
        const short k = variables->motion[group][kind];
        if (k < 0) continue;
        size_t at = count; /* sorted in, unless another motion of the group moves it, too */
        while (at > variables->table_count && list[at - 1] > (size_t)k) at--;
        if (at > variables->table_count && list[at - 1] == (size_t)k) continue;
        memmove(&list[at + 1], &list[at], (count - at) * sizeof *list);
        list[at] = (size_t)k;
        count++;
    }
    return count;
}

static size_t place_in(const size_t *list, size_t count, size_t quantity) {
    size_t place = 0;
    while (place < count && list[place] != quantity) place++;
    return place;
}

size_t db_variables_links(const db_variables *variables, const db_link *table,
                          const db_panel_placement *placement, size_t panel, const size_t *list,
                          size_t list_count, db_link *links) {
    double slope[DB_FIT_GROUP_MOTIONS][DB_FIT_GROUP_MOTIONS];
    size_t count = variables->link_count;
    memcpy(links, table, count * sizeof *links);
    if (list_count == variables->table_count) return count;
    const short *const motion = variables->motion[db_fit_panel_groups_of(placement->groups, panel)];
    db_panel_placement_slopes(placement, panel, slope);
    for (int kind = 0; kind < DB_FIT_GROUP_MOTIONS; kind++) {
        if (motion[kind] < 0) continue;
        const size_t place = place_in(list, list_count, (size_t)motion[kind]);
        for (int own = 0; own < DB_FIT_GROUP_MOTIONS; own++)
            if (variables->own_motion[own] >= 0 && fabs(slope[own][kind]) > 0)
                links[count++] =
                    (db_link){ (size_t)variables->own_motion[own], place, slope[own][kind] };
    }
    return count;
}

void db_variables_set(const db_variables *variables, const double *values,
                      db_experiment *experiment) {
    double value[DB_FIT_MOST_COLUMNS];
    memcpy(value, variables->origin, variables->columns * sizeof *value);
    for (size_t l = 0; l < variables->link_count; l++) {
        const db_link *const link = &variables->links[l];
        value[link->column] +=
            link->slope * (values[link->variable] - variables->start[link->variable]);
    }
    for (size_t c = 0; c < variables->columns; c++)
        db_parameter_set(experiment, variables->parameter[c], value[c]);
}

void db_variables_store(const db_variables *variables, const double *values,
                        db_experiment *experiment) {
    db_variables_set(variables, values, experiment);
    if (variables->turns) db_orientation_fold(&experiment->crystal);
}

db_prior_pull db_prior_at(double value, double centre, double sigma) {
    if (!(sigma < INFINITY)) return (db_prior_pull){ 0 };
    const double off = (value - centre) / sigma;
    return (db_prior_pull){ off * off, 2 * off / sigma, 1 / (sigma * sigma) };
}

void db_add_priors(size_t count, const double *centre, const double *sigma, const double *values,
                   double *loss, double *gradient, double *normal) {
    for (size_t k = 0; k < count; k++) {
        const db_prior_pull pull = db_prior_at(values[k], centre[k], sigma[k]);
        *loss += pull.loss;
        if (gradient) gradient[k] += pull.slope;
        if (normal) normal[k * count + k] += pull.curvature;
    }
}

void db_variables_add_priors(const db_variables *v, const double *values, double *loss,
                             double *gradient, double *normal) {
    db_add_priors(v->count, v->centre, v->sigma, values, loss, gradient, normal);
}
