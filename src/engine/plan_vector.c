/* Products with a cotangent and along a direction, for parameters, structure factors and background together. */
#include "base/given.h"
#include "engine/device_plan.h"
#include "engine/execute.h"
#include "engine/plan_amplitudes.h"
#include "engine/plan_background.h"
#include "engine/plan_normal.h"
#include "engine/plan_shown.h"
#include "engine/plan_tangent.h"

#include <dualbragg/products.h>

#include <math.h>
#include <stdlib.h>

static int has_amplitudes(const db_plan_vector *v) { return v->amplitudes || v->default_F; }

static db_status check_vector(const db_plan *plan, const db_plan_vector *v, const char *what) {
    if (!v)
        return db_fail(plan->context, DB_ERROR_USAGE, "%s: expected a db_plan_vector, found NULL",
                       what);
    if (v->size != sizeof *v)
        return db_fail(plan->context, DB_ERROR_USAGE,
                       "%s: size is %zu, expected %zu (use DB_PLAN_VECTOR_INIT)", what, v->size,
                       sizeof *v);
    DB_TRY(DB_NEED_ZEROS(plan->context, what, v));
    if (!v->parameters && !has_amplitudes(v) && !v->background)
        return db_fail(plan->context, DB_ERROR_USAGE,
                       "%s: expected at least one member, found all NULL", what);
    if (v->parameters) DB_TRY(db_plan_need_parameters(plan));
    if (v->amplitudes && !plan->table.count)
        return db_fail(plan->context, DB_ERROR_USAGE,
                       "%s: amplitudes: the experiment has no list of structure factors, only "
                       "default_F",
                       what);
    if (!has_amplitudes(v)) return DB_OK;
    DB_TRY(db_plan_need_all_reflections(plan, "derivatives by structure factors"));
    if (plan->job.site_kinds)
        return db_fail(plan->context, DB_ERROR_UNSUPPORTED,
                       "%s: structure factors that depend on the photon energy have no derivatives "
                       "by single amplitudes; f' and f'' of kinds of sites are parameters",
                       what);
    if (plan->job.halo.number)
        return db_fail(
            plan->context, DB_ERROR_UNSUPPORTED,
            "%s: derivatives by all structure factors: expected a crystal without a "
            "diffuse halo (diffuse_gamma); those by single ones (F:H:K:L) are parameters",
            what);
    if (plan->experiment.reference.on)
        return db_fail(plan->context, DB_ERROR_UNSUPPORTED,
                       "nanoBragg's arithmetic (compat) has no derivatives by structure factors");
    return DB_OK;
}

/* Closed form: the processor sums parameters and spots in one pass. It also renders the image of a plan on
 * a device, unless the image stays on the device. */
static db_status vjp_of_spots(db_plan *plan, const void *cotangent, void *image,
                              const db_plan_vector *gradient) {
    int apart;
    DB_TRY(db_device_has(plan, image, &apart));
    double *by_spot = NULL;
    double *by_parameter = malloc((plan->parameters.count + 1) * sizeof *by_parameter);
    db_status status = by_parameter ? DB_OK : db_fail_memory(plan->context, "a gradient");
    db_plan_note_processor(plan,
                           "sums by parameters and structure factors of spots in closed form");
    if (status == DB_OK)
        status = db_plan_vjp_sums(plan, cotangent, apart ? NULL : image, by_parameter, &by_spot);
    if (status == DB_OK)
        status = db_plan_amplitudes_vjp(plan, cotangent, by_spot, gradient->amplitudes,
                                        gradient->default_F);
    for (size_t k = 0; status == DB_OK && gradient->parameters && k < plan->parameters.count; k++)
        gradient->parameters[k] = by_parameter[k];
    free(by_spot);
    free(by_parameter);
    return status == DB_OK && apart ? db_plan_forward(plan, image) : status;
}

/* seen: the cotangent in memory that the host can read */
static db_status vjp_of_members(db_plan *plan, const void *cotangent, const void *seen, void *image,
                                const db_plan_vector *gradient) {
    if (gradient->background) {
        DB_TRY(db_plan_check_cotangent(plan, seen));
        DB_TRY(db_plan_list_elements(plan));
        DB_TRY(db_plan_add_image(plan, 1, cotangent, gradient->background));
    }
    if (has_amplitudes(gradient) && plan->spots) return vjp_of_spots(plan, seen, image, gradient);
    if (gradient->parameters)
        DB_TRY(db_plan_vjp_sums(plan, cotangent, image, gradient->parameters, NULL));
    else {
        DB_TRY(db_plan_check_cotangent(plan, seen));
        if (image) DB_TRY(db_plan_forward(plan, image));
    }
    if (!has_amplitudes(gradient)) return DB_OK;
    db_plan_note_processor(plan, "sums by structure factors");
    return db_plan_amplitudes_vjp(plan, seen, NULL, gradient->amplitudes, gradient->default_F);
}

db_status db_plan_vjp(db_plan *plan, const void *cotangent, void *image,
                      const db_plan_vector *gradient) {
    void *brought = NULL;
    plan->device.note = NULL;
    DB_TRY(check_vector(plan, gradient, "gradient"));
    if (gradient->background || has_amplitudes(gradient))
        DB_TRY(db_device_bring(plan, plan->job.pixel_type, cotangent, &brought));
    const db_status status =
        vjp_of_members(plan, cotangent, brought ? brought : cotangent, image, gradient);
    free(brought);
    return status;
}

static db_status check_amplitudes(const db_plan *plan, const db_plan_vector *direction) {
    const size_t count = direction->amplitudes ? db_plan_amplitude_values(plan) : 0;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(direction->amplitudes[i]))
            return db_fail(plan->context, DB_ERROR_INPUT,
                           "direction of structure factor %zu: expected a finite number, found %g",
                           i, direction->amplitudes[i]);
    if (!direction->default_F || isfinite(*direction->default_F)) return DB_OK;
    return db_fail(plan->context, DB_ERROR_INPUT,
                   "direction of default_F: expected a finite number, found %g",
                   *direction->default_F);
}

/* Adds the part of the structure factors to the tangent. */
static db_status add_amplitudes(db_plan *plan, const db_plan_vector *direction, void *tangent) {
    const size_t each = plan->job.pixel_type == DB_FLOAT64 ? sizeof(double) : sizeof(float);
    void *const second = malloc(plan->tiles.pixels * each);
    if (!second) return db_fail_memory(plan->context, "a derivative along a direction");
    db_status status =
        db_plan_amplitudes_jvp(plan, direction->amplitudes, direction->default_F, second);
    if (status == DB_OK) status = db_plan_add_image(plan, 0, second, tangent);
    free(second);
    return status;
}

static db_status check_direction_of_background(db_plan *plan, const void *background) {
    void *brought;
    DB_TRY(db_device_bring(plan, plan->job.pixel_type, background, &brought));
    const db_status status =
        db_plan_check_background(plan, "direction: background", brought ? brought : background);
    free(brought);
    return status;
}

db_status db_plan_jvp(db_plan *plan, const db_plan_vector *direction, void *image, void *tangent) {
    plan->device.note = NULL;
    DB_TRY(check_vector(plan, direction, "direction"));
    if (!image || !tangent)
        return db_fail(plan->context, DB_ERROR_USAGE,
                       "derivative along a direction: expected room for image and tangent, found "
                       "NULL for the %s",
                       !image ? "image" : "tangent");
    DB_TRY(check_amplitudes(plan, direction));
    if (direction->background || (direction->parameters && has_amplitudes(direction)))
        DB_TRY(db_plan_list_elements(plan));
    if (direction->background) DB_TRY(check_direction_of_background(plan, direction->background));
    if (direction->parameters)
        DB_TRY(db_plan_tangent(plan, direction->parameters, image, tangent));
    else
        DB_TRY(db_plan_forward(plan, image));
    if (has_amplitudes(direction) && direction->parameters)
        DB_TRY(add_amplitudes(plan, direction, tangent));
    else if (has_amplitudes(direction))
        DB_TRY(db_plan_amplitudes_jvp(plan, direction->amplitudes, direction->default_F, tangent));
    if (!direction->background) return DB_OK;
    return db_plan_add_image(plan, !direction->parameters && !has_amplitudes(direction),
                             direction->background, tangent);
}
