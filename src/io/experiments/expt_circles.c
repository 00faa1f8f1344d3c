/* Circles of a goniometer in lists. */
#include "io/experiments/expt_circles.h"

#include "base/context_internal.h"

#if defined(DB_HAVE_JANSSON)
#include "base/json_memory.h"
#include "base/json_reader.h"
#include "base/vector.h"

static json_t *only(const json_t *list, const char *kind) {
    return json_array_get(json_object_get(list, kind), 0);
}

static void put_numbers(json_t *model, const char *name, const double *number, int count) {
    json_t *const array = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(array, json_real(number[i]));
    json_object_set_new(model, name, array);
}

/* Turns a vector of a model by the inverse of rotations, the last one first. */
static void turn_back(json_t *model, const char *name, const double *const rotations[], int count) {
    const json_t *const found = json_object_get(model, name);
    double v[3];
    for (size_t i = 0; i < 3; i++) v[i] = json_number_value(json_array_get(found, i));
    for (int r = 0; r < count; r++) {
        double inverse[9];
        db_transpose(rotations[r], inverse);
        db_apply(inverse, v, v);
    }
    put_numbers(model, name, v, 3);
}

static void put_circle(json_t *list, const db_circles *c) {
    static const char *const axes[] = { "real_space_a", "real_space_b", "real_space_c" };
    const double *const outwards[] = { c->setting, c->fixed };
    json_t *const goniometer = only(list, "goniometer");
    json_t *const crystal = only(list, "crystal");
    turn_back(goniometer, "rotation_axis", outwards, 1);
    put_numbers(goniometer, "fixed_rotation", c->fixed, 9);
    put_numbers(goniometer, "setting_rotation", c->setting, 9);
    for (int i = 0; i < 3 && crystal; i++) turn_back(crystal, axes[i], outwards, 2);
}

db_status db_expt_put_circles(db_context *context, const char *path, const db_circles *circles) {
    json_t *list = NULL;
    db_json at;
    const size_t failures = db_json_failures();
    db_status status = db_json_open(context, path, &list, &at);
    if (status == DB_OK && only(list, "scan") && only(list, "goniometer")) {
        put_circle(list, circles);
        status =
            db_json_write(context, path, list, JSON_INDENT(2) | JSON_REAL_PRECISION(17), failures);
    }
    json_decref(list);
    return status;
}
#else
db_status db_expt_put_circles(db_context *context, const char *path, const db_circles *circles) {
    (void)circles;
    return db_fail(context, DB_ERROR_UNSUPPORTED,
                   "%s: this build has no JSON support (jansson), which experiment lists need",
                   path);
}
#endif
