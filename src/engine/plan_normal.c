/* Normal equations, and products with a cotangent, which are one row of them. A slot sums its tiles in
 * their order, and slots are added pairwise. */
#include "engine/plan_normal.h"

#include "engine/device_plan.h"
#include "engine/execute.h"
#include "engine/plan_background.h"
#include "engine/plan_kinds.h"
#include "engine/spot_slopes.h"

#include <dualbragg/normal.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* MOST_SUM_BYTES of sums allow hundreds of slots for any basis, to divide among threads. BOXES shoeboxes
 * with spots in closed form share a slot, since each is little work. */
enum { MOST_SUM_BYTES = 1 << 21, BOXES = 4 };

struct db_normal {
    db_normal_basis basis;
    size_t slot_count, size; /* size: number of sums of one slot */
    double *sums;            /* [slot_count][size] */
};

void db_normal_destroy(db_normal *normal) {
    if (!normal) return;
    db_normal_basis_clear(&normal->basis);
    free(normal->sums);
    free(normal);
}

static db_status build_normal(const db_plan *plan, db_normal *normal) {
    DB_TRY(db_normal_basis_create(plan, &normal->basis));
    normal->size = db_normal_size(normal->basis.count + 1);
    const size_t most = MOST_SUM_BYTES / (normal->size * sizeof *normal->sums),
                 tiles = plan->spots ? (plan->tiles.count + BOXES - 1) / BOXES : plan->tiles.count;
    normal->slot_count = tiles < most ? tiles : most;
    normal->sums = malloc(normal->slot_count * normal->size * sizeof *normal->sums);
    return normal->sums ? DB_OK : db_fail_memory(plan->context, "normal equations");
}

static db_status prepare_normal(db_plan *plan) {
    DB_TRY(db_plan_prepare_slopes(plan));
    if (!plan->normal) {
        db_normal *made = calloc(1, sizeof *made);
        if (!made) return db_fail_memory(plan->context, "normal equations");
        const db_status status = build_normal(plan, made);
        if (status != DB_OK) {
            db_normal_destroy(made);
            return status;
        }
        plan->normal = made;
    }
    db_normal_basis_fill(plan, &plan->normal->basis);
    return DB_OK;
}

/* Adds all slots into the first; each slot has `size` sums. */
static void add_slots(const db_normal *normal, size_t size) {
    for (size_t step = 1; step < normal->slot_count; step *= 2)
        for (size_t s = 0; s + step < normal->slot_count; s += 2 * step) {
            double *to = normal->sums + s * size;
            const double *from = to + step * size;
            for (size_t i = 0; i < size; i++) to[i] += from[i];
        }
}

static double basis_product(const db_normal *normal, size_t i, size_t j) {
    return normal->sums[i < j ? db_normal_index(j, i) : db_normal_index(i, j)];
}

/* Forms the parameters' chi2, gradient and curvature from products of the basis. */
static void form_parameters(const db_plan *plan, double *chi2, double *gradient,
                            double *curvature) {
    const db_normal *normal = plan->normal;
    const size_t count = normal->basis.count, parameters = plan->parameters.count;
    *chi2 = basis_product(normal, count, count);
    for (size_t k = 0; k < parameters; k++) {
        const double *by_k = normal->basis.combination + k * count;
        double half[DB_NORMAL_MOST_SPOTS + 1]; /* derivative k times each image */
        for (size_t j = 0; j <= count; j++) {
            half[j] = 0;
            for (size_t i = 0; i < count; i++)
                if (by_k[i] != 0) half[j] += by_k[i] * basis_product(normal, i, j);
        }
        gradient[k] = half[count];
        for (size_t l = 0; l <= k; l++) {
            const double *by_l = normal->basis.combination + l * count;
            double sum = 0;
            for (size_t j = 0; j < count; j++) sum += by_l[j] * half[j];
            curvature[k * parameters + l] = curvature[l * parameters + k] = sum;
        }
    }
}

static db_status check_pixel(const db_plan *plan, const db_region *r, int fast, int slow, double w,
                             double data) {
    if (w == 0 || (w > 0 && isfinite(w) && isfinite(data))) return DB_OK;
    const int weight_is_bad = !(w > 0) || !isfinite(w);
    return db_fail(
        plan->context, DB_ERROR_INPUT, "%s of pixel (%d, %d) of panel %zu: expected a %s, found %g",
        weight_is_bad ? "weight" : "data", r->fast_start + fast, r->slow_start + slow, r->panel,
        weight_is_bad ? "finite number of at least 0" : "finite number", weight_is_bad ? w : data);
}

static double value_at(db_pixel_type type, const void *pixels, size_t at) {
    return type == DB_FLOAT64 ? ((const double *)pixels)[at] : (double)((const float *)pixels)[at];
}

/* Names the input that made sums not finite. So input need not be checked before the sums. */
static db_status explain_sums(const db_plan *plan, db_pixel_type type, const void *data,
                              const void *weight) {
    for (size_t i = 0; i < plan->tiles.region_count; i++) {
        const db_region *r = &plan->tiles.regions[i];
        for (int slow = 0; slow < r->slow_count; slow++)
            for (int fast = 0; fast < r->fast_count; fast++) {
                const size_t at = r->offset + (size_t)slow * r->stride + (size_t)fast;
                const double w = weight ? value_at(type, weight, at) : 1;
                DB_TRY(check_pixel(plan, r, fast, slow, w, value_at(type, data, at)));
            }
    }
    return db_fail(plan->context, DB_ERROR_INPUT,
                   "sums of squares are not finite: expected image, data and derivatives (times "
                   "the root of the weight) below 1e18%s",
                   plan->precision == DB_PRECISION_MIXED ? "; try double precision" : "");
}

/* Sums into the first slot, on the processor. size: number of sums of one slot. */
static db_status sum_on_processor(db_plan *plan, const db_kernel_job *job, size_t size) {
    const db_normal *normal = plan->normal;
    db_kernel_job own = *job;
    if (plan->spots) {
        DB_TRY(db_spots_fill_slopes(plan));
        own.spots = plan->job.spots;
        own.spots.step = job->spots.step;
        own.spots.by_amplitude = job->spots.by_amplitude;
    }
    const db_execution x = { .plan = plan,
                             .job = &own,
                             .kernel = db_kernel_instance(plan->context->isa, plan->precision,
                                                          db_plan_gradient_kind(plan)),
                             .slots = normal->slot_count,
                             .sums = normal->sums,
                             .sums_size = size };
    DB_TRY(db_execute(&x));
    add_slots(normal, size);
    return DB_OK;
}

/* Sums into the first slot, on the plan's device. */
static db_status sum_products(db_plan *plan, const db_kernel_job *job) {
    if (db_plan_on_device(plan)) {
        int done;
        const db_status status = db_device_normal(plan, job, plan->normal->sums, &done);
        if (done) return status;
    }
    DB_TRY(db_device_check_job(plan, job, 0));
    return sum_on_processor(plan, job, plan->normal->size);
}

/* explain_sums for pixels that may be in a device's memory. */
static db_status explain_on_host(db_plan *plan, db_pixel_type type, const void *data,
                                 const void *weight) {
    void *data_copy = NULL;
    void *weight_copy = NULL;
    db_status status = db_device_bring(plan, type, data, &data_copy);
    if (status == DB_OK && weight) status = db_device_bring(plan, type, weight, &weight_copy);
    if (status == DB_OK)
        status = explain_sums(plan, type, data_copy ? data_copy : data,
                              weight_copy ? weight_copy : weight);
    free(data_copy);
    free(weight_copy);
    return status;
}

static int all_finite(const double *values, size_t count) {
    double sum = 0; /* x * 0 is NaN unless x is finite */
    for (size_t i = 0; i < count; i++) sum += values[i] * 0;
    return sum == 0;
}

/* The plan's job for sums over the basis. */
static db_kernel_job basis_job(const db_plan *plan) {
    const db_normal_basis *basis = &plan->normal->basis;
    db_kernel_job job = plan->job;
    job.image = NULL;
    job.derivative = NULL;
    job.streaming = 0;
    job.parameter_count = basis->count;
    if (!plan->spots) job.contraction = basis->image;
    job.spots.step = plan->spots ? basis->step : NULL;
    job.lattice_wanted = basis->lattice_wanted;
    job.single_wanted = basis->single_wanted;
    return job;
}

static db_status check_normal(const db_plan *plan, db_pixel_type type, const void *data,
                              const double *chi2, const double *gradient, const double *curvature) {
    DB_TRY(db_plan_need_parameters(plan));
    if (!data || !chi2 || !gradient || !curvature)
        return db_fail(plan->context, DB_ERROR_USAGE,
                       "normal equations: expected data and room for chi2, gradient and "
                       "curvature, found NULL for %s",
                       !data       ? "data"
                       : !chi2     ? "chi2"
                       : !gradient ? "gradient"
                                   : "curvature");
    if (type != DB_FLOAT32 && type != DB_FLOAT64)
        return db_fail(plan->context, DB_ERROR_USAGE,
                       "normal equations: expected data of type DB_FLOAT32 or DB_FLOAT64, found "
                       "type %d",
                       (int)type);
    return DB_OK;
}

db_status db_plan_normal(db_plan *plan, db_pixel_type type, const void *data, const void *weight,
                         double *chi2, double *gradient, double *curvature) {
    DB_TRY(check_normal(plan, type, data, chi2, gradient, curvature));
    DB_TRY(prepare_normal(plan));
    const db_normal *normal = plan->normal;
    db_kernel_job job = basis_job(plan);
    job.data = data;
    job.weight = weight;
    job.data_type = type;
    job.background = db_plan_background_pixels(plan);
    DB_TRY(sum_products(plan, &job));
    if (!all_finite(normal->sums, normal->size)) return explain_on_host(plan, type, data, weight);
    form_parameters(plan, chi2, gradient, curvature);
    return DB_OK;
}

/* Products with a cotangent */

/* 1 if all pixels of a run are finite. Compilers vectorize these loops. */
static int row_is_finite(db_pixel_type type, const void *pixels, size_t first, int count) {
    int bad = 0;
    if (type == DB_FLOAT64) {
        const double *const value = (const double *)pixels + first;
        for (int i = 0; i < count; i++) bad |= !(fabs(value[i]) <= DBL_MAX);
    } else {
        const float *const value = (const float *)pixels + first;
        for (int i = 0; i < count; i++) bad |= !(fabsf(value[i]) <= FLT_MAX);
    }
    return !bad;
}

static db_status explain_cotangent(const db_plan *plan, const db_region *r, int slow,
                                   const void *cotangent) {
    const size_t first = r->offset + (size_t)slow * r->stride;
    int fast = 0;
    while (isfinite(value_at(plan->job.pixel_type, cotangent, first + (size_t)fast))) fast++;
    return db_fail(plan->context, DB_ERROR_INPUT,
                   "cotangent of pixel (%d, %d) of panel %zu: expected a finite number, found %g",
                   r->fast_start + fast, r->slow_start + slow, r->panel,
                   value_at(plan->job.pixel_type, cotangent, first + (size_t)fast));
}

/* Checked before the sums: a pixel of the cotangent where the image is dark leaves no trace in them. */
db_status db_plan_check_cotangent(const db_plan *plan, const void *cotangent) {
    if (!cotangent)
        return db_fail(plan->context, DB_ERROR_USAGE,
                       "product with a cotangent: expected one, found NULL for the cotangent");
    for (size_t i = 0; i < plan->tiles.region_count; i++) {
        const db_region *const r = &plan->tiles.regions[i];
        for (int slow = 0; slow < r->slow_count; slow++)
            if (!row_is_finite(plan->job.pixel_type, cotangent,
                               r->offset + (size_t)slow * r->stride, r->fast_count))
                return explain_cotangent(plan, r, slow, cotangent);
    }
    return DB_OK;
}

/* Forms the gradient from sums over the basis. */
static db_status form_gradient(const db_plan *plan, const double *sums, double sign,
                               double *gradient) {
    const db_normal_basis *basis = &plan->normal->basis;
    if (!all_finite(sums, basis->count))
        return db_fail(plan->context, DB_ERROR_INPUT,
                       "products with the cotangent are not finite: expected cotangent times "
                       "derivatives below 1e38%s",
                       plan->precision == DB_PRECISION_MIXED ? "; try double precision" : "");
    for (size_t k = 0; k < plan->parameters.count; k++) {
        gradient[k] = 0;
        for (size_t i = 0; i < basis->count; i++)
            gradient[k] += sign * basis->combination[k * basis->count + i] * sums[i];
    }
    return DB_OK;
}

/* Checks a cotangent that may be in a device's memory. */
static db_status check_cotangent_there(db_plan *plan, const void *cotangent) {
    void *copy;
    DB_TRY(db_device_bring(plan, plan->job.pixel_type, cotangent, &copy));
    const db_status status = db_plan_check_cotangent(plan, copy ? copy : cotangent);
    free(copy);
    return status;
}

/* On a device all products of the normal equations are summed, with -cotangent as the residual. */
static db_status vjp_on_device(db_plan *plan, const void *cotangent, void *image, double *gradient,
                               int *done) {
    const db_normal *normal = plan->normal;
    db_kernel_job job = basis_job(plan);
    double by_image[DB_NORMAL_MOST_SPOTS] = { 0 };
    job.image = image;
    job.data = cotangent;
    job.data_type = job.pixel_type;
    job.residual_scale = 0;
    *done = 1;
    if (!cotangent) return db_plan_check_cotangent(plan, NULL);
    DB_TRY(db_device_normal(plan, &job, normal->sums, done));
    if (!*done) return DB_OK;
    if (!isfinite(basis_product(normal, normal->basis.count, normal->basis.count)))
        DB_TRY(check_cotangent_there(plan, cotangent));
    for (size_t i = 0; i < normal->basis.count; i++)
        by_image[i] = basis_product(normal, i, normal->basis.count);
    DB_TRY(form_gradient(plan, by_image, -1, gradient));
    return image ? db_plan_forward(plan, image) : DB_OK;
}

/* Allocates the products with each spot of each tile, all 0. */
static db_status spot_products_create(const db_plan *plan, double **products) {
    *products = calloc(plan->job.spots.first[plan->tiles.region_count] + 1, sizeof **products);
    return *products ? DB_OK : db_fail_memory(plan->context, "the gradient by structure factors");
}

db_status db_plan_vjp_sums(db_plan *plan, const void *cotangent, void *image, double *gradient,
                           double **by_spot) {
    DB_TRY(prepare_normal(plan));
    if (db_plan_on_device(plan) && !by_spot) {
        int done;
        const db_status status = vjp_on_device(plan, cotangent, image, gradient, &done);
        if (done) return status;
    }
    const db_normal *normal = plan->normal;
    if (plan->spots) DB_TRY(db_spots_fill_slopes(plan));
    db_kernel_job job = basis_job(plan);
    job.image = image;
    job.cotangent = cotangent;
    DB_TRY(db_device_check_job(plan, &job, 0));
    DB_TRY(db_plan_check_cotangent(plan, cotangent));
    if (by_spot) {
        DB_TRY(spot_products_create(plan, by_spot));
        job.spots.by_amplitude = *by_spot;
    }
    DB_TRY(sum_on_processor(plan, &job, normal->basis.count));
    DB_TRY(db_plan_add_background(plan, image));
    return form_gradient(plan, normal->sums, 1, gradient);
}
