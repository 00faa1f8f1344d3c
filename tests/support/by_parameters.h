/* Products by a plan's parameters alone, in plain arrays. */
#ifndef DB_TESTS_BY_PARAMETERS_H
#define DB_TESTS_BY_PARAMETERS_H

#include <dualbragg/products.h>

static inline db_status vjp_by_parameters(db_plan *plan, const void *cotangent, void *image,
                                          double *gradient) {
    db_plan_vector v = DB_PLAN_VECTOR_INIT;
    v.parameters = gradient;
    return db_plan_vjp(plan, cotangent, image, &v);
}

static inline db_status jvp_by_parameters(db_plan *plan, const double *direction, void *image,
                                          void *tangent) {
    db_plan_vector v = DB_PLAN_VECTOR_INIT;
    v.parameters = (double *)direction;
    return db_plan_jvp(plan, &v, image, tangent);
}

#endif
