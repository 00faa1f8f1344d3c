/* Normal equations. A slot's sums are made in the order of its tiles, and slots are added
 * pairwise. */
#include "engine/device_plan.h"
#include "engine/execute.h"
#include "engine/normal_basis.h"

#include <dualbragg/normal.h>

#include <math.h>
#include <stdlib.h>

/* of sums: hundreds of slots for any basis, to divide among threads; of shoeboxes that have spots in
 * closed form some share a slot, since each is little work */
enum { MOST_SUM_BYTES = 1 << 21, BOXES = 4 };

typedef struct db_normal {
    db_normal_basis basis;
    size_t slot_count, size; /* of the sums of one slot */
    double *sums;            /* [slot_count][size] */
} db_normal;

void db_normal_destroy(db_normal *normal) {
    if (!normal) return;
    db_normal_basis_clear(&normal->basis);
    free(normal->sums);
    free(normal);
}

static db_status build(const db_plan *plan, db_normal *normal) {
    DB_TRY(db_normal_basis_create(plan, &normal->basis));
    normal->size = db_normal_size(normal->basis.count + 1);
    const size_t most = MOST_SUM_BYTES / (normal->size * sizeof *normal->sums),
                 tiles = plan->spots ? (plan->tile_count + BOXES - 1) / BOXES : plan->tile_count;
    normal->slot_count = tiles < most ? tiles : most;
    normal->sums = malloc(normal->slot_count * normal->size * sizeof *normal->sums);
    return normal->sums ? DB_OK : db_fail_memory(plan->context, "normal equations");
}

static db_status prepare(db_plan *plan) {
    DB_TRY(db_plan_prepare_slopes(plan));
    if (!plan->normal) {
        db_normal *made = calloc(1, sizeof *made);
        if (!made) return db_fail_memory(plan->context, "normal equations");
        const db_status status = build(plan, made);
        if (status != DB_OK) {
            db_normal_destroy(made);
            return status;
        }
        plan->normal = made;
    }
    db_normal_basis_fill(plan, &plan->normal->basis);
    return DB_OK;
}

/* Into the first slot. */
static void add_slots(const db_normal *normal) {
    for (size_t step = 1; step < normal->slot_count; step *= 2)
        for (size_t s = 0; s + step < normal->slot_count; s += 2 * step) {
            double *to = normal->sums + s * normal->size;
            const double *from = to + step * normal->size;
            for (size_t i = 0; i < normal->size; i++) to[i] += from[i];
        }
}

static double product(const db_normal *normal, size_t i, size_t j) {
    return normal->sums[i < j ? db_normal_index(j, i) : db_normal_index(i, j)];
}

/* From products of the basis to those of the parameters. */
static void form_parameters(const db_plan *plan, double *chi2, double *gradient,
                            double *curvature) {
    const db_normal *normal = plan->normal;
    const size_t count = normal->basis.count, parameters = plan->parameter_count;
    *chi2 = product(normal, count, count);
    for (size_t k = 0; k < parameters; k++) {
        const double *by_k = normal->basis.combination + k * count;
        double half[DB_NORMAL_MOST_SPOTS + 1]; /* derivative k times each image */
        for (size_t j = 0; j <= count; j++) {
            half[j] = 0;
            for (size_t i = 0; i < count; i++)
                if (by_k[i] != 0) half[j] += by_k[i] * product(normal, i, j);
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

/* Bad input shows in sums that are not finite, so it need not be checked before. */
static db_status explain(const db_plan *plan, const float *data, const float *weight) {
    for (size_t i = 0; i < plan->region_count; i++) {
        const db_region *r = &plan->regions[i];
        for (int slow = 0; slow < r->slow_count; slow++)
            for (int fast = 0; fast < r->fast_count; fast++) {
                const size_t at = r->offset + (size_t)slow * r->stride + (size_t)fast;
                const double w = weight ? (double)weight[at] : 1;
                DB_TRY(check_pixel(plan, r, fast, slow, w, (double)data[at]));
            }
    }
    return db_fail(plan->context, DB_ERROR_INPUT,
                   "sums of squares are not finite: expected image, data and derivatives (times "
                   "the root of the weight) below 1e18%s",
                   plan->precision == DB_PRECISION_MIXED ? "; try double precision" : "");
}

/* Into the first slot, on the plan's device. */
static db_status sum_products(db_plan *plan, const db_kernel_job *job) {
    const db_normal *normal = plan->normal;
    if (db_plan_on_device(plan)) {
        int done;
        const db_status status = db_device_normal(plan, job, normal->sums, &done);
        if (done) return status;
    }
    const db_execution x = { plan,
                             job,
                             db_kernel_instance(plan->context->isa, plan->precision,
                                                db_plan_gradient_kind(plan)),
                             normal->slot_count,
                             normal->sums,
                             normal->size };
    DB_TRY(db_execute(&x));
    add_slots(normal);
    return DB_OK;
}

/* The same for pixels that may be in a device's memory. */
static db_status explain_on_host(db_plan *plan, const float *data, const float *weight) {
    float *data_copy = NULL;
    float *weight_copy = NULL;
    db_status status = db_device_bring(plan, data, &data_copy);
    if (status == DB_OK && weight) status = db_device_bring(plan, weight, &weight_copy);
    if (status == DB_OK)
        status = explain(plan, data_copy ? data_copy : data, weight_copy ? weight_copy : weight);
    free(data_copy);
    free(weight_copy);
    return status;
}

static int all_finite(const db_normal *normal) {
    double sum = 0; /* of x * 0: NaN for one that is not */
    for (size_t i = 0; i < normal->size; i++) sum += normal->sums[i] * 0;
    return sum == 0;
}

db_status db_plan_normal(db_plan *plan, const float *data, const float *weight, double *chi2,
                         double *gradient, double *curvature) {
    DB_TRY(db_plan_need_parameters(plan));
    if (!data || !chi2 || !gradient || !curvature)
        return db_fail(plan->context, DB_ERROR_USAGE,
                       "normal equations: expected data and room for chi2, gradient and "
                       "curvature, found NULL for %s",
                       !data       ? "data"
                       : !chi2     ? "chi2"
                       : !gradient ? "gradient"
                                   : "curvature");
    DB_TRY(prepare(plan));
    const db_normal *normal = plan->normal;
    db_kernel_job job = plan->job;
    job.data = data;
    job.weight = weight;
    job.streaming = 0;
    job.parameter_count = normal->basis.count;
    if (!plan->spots) job.contraction = normal->basis.image;
    job.spots.step = normal->basis.step;
    job.lattice_wanted = normal->basis.lattice_wanted;
    job.single_wanted = normal->basis.single_wanted;
    DB_TRY(sum_products(plan, &job));
    if (!all_finite(normal)) return explain_on_host(plan, data, weight);
    form_parameters(plan, chi2, gradient, curvature);
    return DB_OK;
}
