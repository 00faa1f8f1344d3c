/* The derivative along a direction. Each derivative is a linear combination of columns, and so is their sum along a
 * direction: the kernels compute one combination instead of one for each parameter. */
#include "engine/plan_tangent.h"

#include "engine/execute.h"
#include "engine/plan_background.h"
#include "engine/device_plan.h"
#include "engine/plan_kinds.h"
#include "engine/spot_slopes.h"

#include <math.h>
#include <stdlib.h>

/* Pieces of a combination: runs of at most DB_LONGEST_RUN columns, which a kernel takes. A run has at least one column. */
enum { MOST_PIECES = DB_COLUMN_COUNT };

typedef struct {
    double coefficient[DB_COLUMN_COUNT];
    int used[DB_COLUMN_COUNT]; /* 1: kernels compute the column */
} combination;

static combination combine(const db_plan *plan, size_t panel, const double *direction) {
    combination sum = { 0 };
    for (size_t k = 0; k < plan->parameters.count; k++) {
        const db_kernel_contraction *by_k = db_slopes_contraction(&plan->slopes, panel, k);
        for (int c = 0; c < by_k->columns && direction[k] != 0; c++) {
            sum.coefficient[by_k->first_column + c] += direction[k] * by_k->coefficient_double[c];
            sum.used[by_k->first_column + c] = 1;
        }
    }
    return sum;
}

/* Cuts a combination into runs of columns; returns their number. */
static size_t cut_pieces(const combination *sum, db_kernel_contraction piece[MOST_PIECES]) {
    size_t count = 0;
    for (int c = 0; c < DB_COLUMN_COUNT; c++) {
        if (!sum->used[c]) continue;
        if (count == 0 || piece[count - 1].columns == DB_LONGEST_RUN ||
            piece[count - 1].first_column + piece[count - 1].columns != c)
            piece[count++] = (db_kernel_contraction){ .first_column = c };
        db_kernel_contraction *last = &piece[count - 1];
        last->coefficient_double[last->columns] = sum->coefficient[c];
        last->coefficient_float[last->columns++] = (float)sum->coefficient[c];
    }
    return count;
}

/* Combines the columns. All panels have equally many pieces, at least one. */
static db_status combine_columns(const db_plan *plan, const double *direction, db_kernel_job *job,
                                 db_kernel_contraction **made) {
    const size_t panels = plan->experiment.detector.panel_count;
    db_kernel_contraction piece[MOST_PIECES];
    size_t most = 1;
    for (size_t panel = 0; panel < panels; panel++) {
        const combination sum = combine(plan, panel, direction);
        const size_t count = cut_pieces(&sum, piece);
        if (count > most) most = count;
    }
    *made = calloc(panels * most, sizeof **made);
    if (!*made) return db_fail_memory(plan->context, "a derivative along a direction");
    for (size_t panel = 0; panel < panels; panel++) {
        const combination sum = combine(plan, panel, direction);
        const size_t count = cut_pieces(&sum, piece);
        for (size_t i = 0; i < count; i++) (*made)[panel * most + i] = piece[i];
    }
    job->contraction = *made;
    job->parameter_count = most;
    return DB_OK;
}

static double spot_slope(const db_kernel_spots *spots, size_t i) {
    return spots->slope_double ? spots->slope_double[i] : (double)spots->slope_float[i];
}

/* Components of the direction for the parameters that move spots, in the order of the job. */
static db_status order_direction(const db_plan *plan, const double *direction, db_kernel_job *job,
                                 double **made) {
    *made = calloc(job->spots.parameters + 1, sizeof **made);
    if (!*made) return db_fail_memory(plan->context, "slopes of spots along a direction");
    for (size_t k = 0; k < plan->parameters.count; k++)
        if (plan->slopes.position[k] < job->spots.parameters)
            (*made)[plan->slopes.position[k]] = direction[k];
    job->spots.direction = *made;
    return DB_OK;
}

/* Combines the slopes of each spot by the parameters into one slope along the direction. */
static db_status combine_spots(db_plan *plan, db_kernel_job *job, void **made) {
    db_kernel_spots *spots = &job->spots;
    const size_t columns = (size_t)(spots->moving ? DB_SPOT_COLUMNS_MOVING : DB_SPOT_COLUMNS);
    const double *const direction = spots->direction;
    DB_TRY(db_spots_fill_slopes(plan));
    *spots = plan->job.spots;
    if (spots->parameters == 0) return DB_OK;
    *made = calloc(spots->count * columns + 1, sizeof(double));
    if (!*made) return db_fail_memory(plan->context, "slopes of spots along a direction");
    for (size_t s = 0; s < spots->count; s++) {
        double sum[DB_SPOT_COLUMNS_MOVING] = { 0 };
        for (size_t i = 0; i < spots->each; i++) {
            const uint16_t *const which = spot_parameters(spots, s);
            const size_t k = which ? which[i] : i, from = (s * spots->each + i) * columns;
            for (size_t c = 0; c < columns && direction[k] != 0; c++)
                sum[c] += direction[k] * spot_slope(spots, from + c);
        }
        for (size_t c = 0; c < columns; c++)
            if (spots->slope_double)
                ((double *)*made)[s * columns + c] = sum[c];
            else
                ((float *)*made)[s * columns + c] = (float)sum[c];
    }
    spots->parameters = spots->each = 1;
    spots->which = NULL;
    if (spots->slope_double)
        spots->slope_double = *made;
    else
        spots->slope_float = *made;
    return DB_OK;
}

static db_status check_direction(const db_plan *plan, const double *direction) {
    for (size_t k = 0; k < plan->parameters.count; k++) {
        char name[64];
        if (isfinite(direction[k])) continue;
        db_parameter_name(plan->parameters.list[k], name, sizeof name);
        return db_fail(plan->context, DB_ERROR_INPUT,
                       "direction of %s: expected a finite number, found %g", name, direction[k]);
    }
    return DB_OK;
}

static db_status render_on_processor(db_plan *plan, db_kernel_job *job) {
    void *slopes = NULL;
    DB_TRY(db_device_check_job(plan, job, 1));
    const db_execution x = { .plan = plan,
                             .job = job,
                             .kernel = db_kernel_instance(plan->context->isa, plan->precision,
                                                          db_plan_gradient_kind(plan)),
                             .slots = plan->tiles.count };
    db_status status = plan->spots ? combine_spots(plan, job, &slopes) : DB_OK;
    if (status == DB_OK) status = db_execute(&x);
    free(slopes);
    return status;
}

static db_status render_tangent(db_plan *plan, db_kernel_job *job) {
    if (db_plan_on_device(plan)) {
        int done;
        const db_status status = db_device_tangent(plan, job, &done);
        if (done) return status;
    }
    return render_on_processor(plan, job);
}

db_status db_plan_tangent(db_plan *plan, const double *direction, void *image, void *tangent) {
    DB_TRY(check_direction(plan, direction));
    DB_TRY(db_plan_prepare_slopes(plan));
    db_kernel_job job = plan->job;
    db_kernel_contraction *columns = NULL;
    double *ordered = NULL;
    job.image = image;
    job.derivative = &tangent;
    job.tangent = 1;
    job.lattice_wanted = job.single_wanted = 0;
    db_status status = combine_columns(plan, direction, &job, &columns);
    if (status == DB_OK && plan->spots) status = order_direction(plan, direction, &job, &ordered);
    if (status == DB_OK) status = render_tangent(plan, &job);
    if (status == DB_OK) status = db_plan_add_background(plan, image);
    free(columns);
    free(ordered);
    return status;
}
