/* The parameters of a plan. */
#include "engine/plan_parameters.h"

#include "base/context_internal.h"
#include "kernel/job.h"
#include "model/crystal_position.h"

#include <stdlib.h>

_Static_assert((int)DB_MAX_AMPLITUDE_SLOPES == DB_PARAMETER_SLOTS, "columns for all of them");

static const char *what_is_missing(const db_experiment *experiment, db_parameter parameter,
                                   unsigned moves) {
    const int closed = experiment->spread.spots == DB_SPOTS_CLOSED;
    const db_parameter_kind kind = db_parameter_describe(parameter)->facts->kind;
    return kind == DB_KIND_CRYSTAL_POSITION ? "flat detector, but a curved one around the crystal"
           : db_turns_spindle(kind)
               ? "crystal at the origin, but one off it, which the spindle carries along: expected "
                 "spots in closed form without a halo"
           : parameter == DB_SPECTRUM_STRETCH ? "sources of several wavelengths"
           : parameter == DB_MOSAIC_SPREAD && closed
               ? "mosaic domains, but spots in closed form: expected mosaic_variance"
           : parameter == DB_MOSAIC_SPREAD ? "mosaic spread of all axes, but one about each: "
                                             "expected mosaic_a, mosaic_b, mosaic_c"
           : parameter == DB_DIFFUSE_SIGMA || parameter == DB_DIFFUSE_GAMMA
               ? "diffuse halo with one number for all axes: where sigma or gamma has three, "
                 "expected parameters of both for each axis (diffuse_sigma_a)"
           : moves & DB_MOVES_HALO      ? "diffuse halo with a number for each axis"
           : moves & DB_MOVES_SPREAD    ? "spots in closed form"
           : moves & DB_MOVES_ROTATIONS ? "anisotropic mosaic spread"
           : moves & DB_MOVES_SENSOR
               ? "sensor, and without one the image does not depend on it smoothly"
           : moves & DB_MOVES_BACKGROUND ? "such background"
           : moves & DB_MOVES_CURVES     ? "such kind of sites, or no such point of its curve"
           : moves & DB_MOVES_SOURCES    ? "such source"
                                         : "such reflection in its list with one structure "
                                           "factor for all photon energies";
}

/* Adds a parameter to the list. */
static db_status take_parameter(db_context *context, db_parameter p,
                                db_plan_parameters *parameters) {
    const db_parameter_info *info = db_parameter_describe(p);
    char name[64];
    if (!info)
        return db_fail(context, DB_ERROR_USAGE, "parameter number %d does not exist", (int)p);
    db_parameter_name(p, name, sizeof name);
    for (size_t i = 0; i < parameters->count; i++)
        if (parameters->list[i] == p)
            return db_fail(context, DB_ERROR_USAGE, "parameter %s: expected once, found twice",
                           name);
    if (!db_parameter_exists(parameters->experiment, p))
        return db_fail(context, DB_ERROR_USAGE, "parameter %s: the experiment has no %s", name,
                       what_is_missing(parameters->experiment, p, info->facts->moves));
    parameters->list[parameters->count++] = p;
    const int closed = parameters->experiment->spread.spots == DB_SPOTS_CLOSED;
    if ((unsigned)p < DB_PARAMETER_COUNT || (closed && info->facts->moves & DB_MOVES_CURVES))
        return DB_OK;
    if (parameters->beyond_table == DB_PARAMETER_SLOTS)
        return db_fail(
            context, DB_ERROR_USAGE,
            "parameter %s: at most %d source weights, f', f'' and structure factors fit one "
            "plan",
            name, DB_PARAMETER_SLOTS);
    parameters->beyond_table++;
    return DB_OK;
}

db_status db_plan_parameters_create(db_context *context, const db_experiment *experiment,
                                    const db_plan_options *options,
                                    db_plan_parameters *parameters) {
    parameters->experiment = experiment;
    parameters->list = calloc(options->parameter_count + 1, sizeof *parameters->list);
    if (!parameters->list) return db_fail_memory(context, "the parameters of a plan");
    for (size_t k = 0; k < options->parameter_count; k++)
        DB_TRY(take_parameter(context, options->parameters[k], parameters));
    return DB_OK;
}

void db_plan_parameters_clear(db_plan_parameters *parameters) { free(parameters->list); }

int db_parameter_moves_any(const db_plan_parameters *parameters, size_t k, unsigned what) {
    return (db_parameter_moves(parameters->experiment, parameters->list[k]) & what) != 0;
}

int db_parameters_moving(const db_plan_parameters *parameters, unsigned what) {
    int count = 0;
    for (size_t k = 0; k < parameters->count; k++)
        count += db_parameter_moves_any(parameters, k, what);
    return count;
}

int db_parameter_has_source_column(const db_plan_parameters *parameters, size_t k) {
    const int closed = parameters->experiment->spread.spots == DB_SPOTS_CLOSED;
    return db_parameter_moves_any(parameters, k,
                                  DB_MOVES_SOURCES | (closed ? 0U : (unsigned)DB_MOVES_CURVES));
}

int db_parameter_has_rotation_column(const db_plan_parameters *parameters, size_t k) {
    const db_experiment *const e = parameters->experiment;
    return (e->spread.spots != DB_SPOTS_CLOSED || db_has_halo(&e->crystal)) &&
           db_parameter_moves_any(parameters, k, DB_MOVES_ROTATIONS | DB_MOVES_HALO);
}

int db_parameters_with_rotation_column(const db_plan_parameters *parameters) {
    int count = 0;
    for (size_t k = 0; k < parameters->count; k++)
        count += db_parameter_has_rotation_column(parameters, k);
    return count;
}

int db_parameters_with_source_column(const db_plan_parameters *parameters) {
    int count = 0;
    for (size_t k = 0; k < parameters->count; k++)
        count += db_parameter_has_source_column(parameters, k);
    return count;
}

db_parameter_slots db_parameters_at_once(const db_plan_parameters *parameters, size_t first) {
    db_parameter_slots slots = { 0 };
    for (size_t k = first; k < parameters->count && slots.count < DB_SLOPES_AT_ONCE; k++)
        slots.parameter[slots.count++] = parameters->list[k];
    return slots;
}

/* In closed form the first kind has all parameters that move spots, and the second kind is empty. */
db_wanted_kind db_parameter_wanted_kind(const db_plan_parameters *parameters, size_t k) {
    const unsigned elsewhere =
        DB_MOVES_SCALE | DB_MOVES_BACKGROUND | DB_MOVES_DEBYE_WALLER | DB_MOVES_HALO;
    if (parameters->experiment->spread.spots == DB_SPOTS_CLOSED)
        return db_parameter_moves_any(parameters, k, elsewhere) ? DB_WANTED_OTHER
                                                                : DB_WANTED_LATTICE;
    const unsigned single = DB_MOVES_CELLS | DB_MOVES_ROTATIONS | DB_MOVES_HALO | DB_MOVES_SOURCES |
                            DB_MOVES_CURVES | DB_MOVES_SCALE | DB_MOVES_AMPLITUDE |
                            DB_MOVES_DEBYE_WALLER;
    return db_parameter_moves_any(parameters, k, DB_MOVES_LATTICE) ? DB_WANTED_LATTICE
           : db_parameter_moves_any(parameters, k, single)         ? DB_WANTED_SINGLE
                                                                   : DB_WANTED_OTHER;
}
