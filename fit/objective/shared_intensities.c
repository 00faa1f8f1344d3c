/* Intensities that several blocks share. */
#include "fit/objective/shared_intensities.h"

#include "base/context_internal.h"
#include "fit/objective/run_boxes.h"
#include "loss/block.h"
#include "loss/eliminate.h"

#include <math.h>
#include <string.h>

/* Blocks that share an intensity. */
typedef struct sharing {
    const db_objective *objective; /* of the boxes */
    const size_t *box;             /* NULL: all of the objective */
    db_objective *all;             /* the objective, if these are all of its blocks; else NULL */
    size_t count;
    double inverse_variance; /* of the restraint to 1; 0: none */
} sharing;

static sharing boxes_of(const db_objective *objective, size_t r) {
    const db_amplitudes *const a = objective->amplitudes;
    return (sharing){ .objective = objective,
                      .box = a->box + a->first[r],
                      .count = a->first[r + 1] - a->first[r],
                      .inverse_variance = 1 / (a->sigma[r] * a->sigma[r]) };
}

static size_t box_at(const sharing *of, size_t i) { return of->box ? of->box[i] : i; }

static db_linear_solution *solution_at(const sharing *of, size_t i) {
    return &of->objective->solution[box_at(of, i)];
}

static db_block_sums *sums_at(const sharing *of, size_t i) {
    return &of->objective->work->linear_sums[box_at(of, i)];
}

static double *steps_at(const sharing *of, size_t i) {
    return of->objective->work->steps[box_at(of, i)];
}

static double intensity_of(const sharing *of) { return solution_at(of, 0)->linear[0]; }

static db_status sum_boxes(const sharing *of, double *value) {
    const double off = intensity_of(of) - 1;
    *value = off * off * of->inverse_variance;
    if (of->all) DB_TRY(db_objective_run_boxes(of->all, DB_BOXES_AS_BEFORE, 0, DB_BOXES_LINEAR));
    for (size_t i = 0; i < of->count && !of->all; i++) {
        const db_block block = db_objective_block(of->objective, box_at(of, i));
        db_block_sum(&block, solution_at(of, i)->linear, sums_at(of, i));
    }
    for (size_t i = 0; i < of->count; i++) *value += sums_at(of, i)->value;
    return DB_OK;
}

/* A step of the intensity, not below 0, and all planes; returns the decrease that it promises. */
static double step_boxes(const sharing *of, double *variance) {
    const double intensity = intensity_of(of);
    double gradient = 2 * (intensity - 1) * of->inverse_variance;
    double curvature = of->inverse_variance, promise = 0;
    for (size_t i = 0; i < of->count; i++) {
        db_block_sums *const s = sums_at(of, i);
        promise += db_eliminate(DB_LINEAR, 1, s->gradient, s->normal, DB_LINEAR);
        gradient += s->gradient[0];
        curvature += s->normal[0];
    }
    const double step = curvature > 0 ? fmax(-0.5 * gradient / curvature, -intensity) : 0;
    promise -= step * (gradient + curvature * step);
    *variance = 1 / curvature;
    for (size_t i = 0; i < of->count; i++) {
        const db_block_sums *const s = sums_at(of, i);
        double *const steps = steps_at(of, i);
        steps[0] = step;
        for (size_t k = 1; k < DB_LINEAR; k++)
            steps[k] = db_eliminated_step(s->normal + k * DB_LINEAR, k, s->gradient[k], steps);
        for (size_t k = 0; k < DB_LINEAR; k++) solution_at(of, i)->linear[k] += steps[k];
    }
    return promise;
}

static void step_back(const sharing *of) {
    for (size_t i = 0; i < of->count; i++)
        for (int k = 0; k < DB_LINEAR; k++)
            solution_at(of, i)->linear[k] -= steps_at(of, i)[k] *= 0.5;
}

/* The planes by themselves, which also gives each block its loss. */
static db_status solve_planes(const sharing *of) {
    if (of->all) return db_objective_run_boxes(of->all, DB_BOXES_AS_BEFORE, 1, DB_BOXES_NO_SUMS);
    for (size_t i = 0; i < of->count; i++) {
        db_linear_solution *const solution = solution_at(of, i);
        db_block block = db_objective_block(of->objective, box_at(of, i));
        block.used[0] = 0;
        solution->loss = db_block_solve(&block, solution->linear, &solution->variance);
    }
    return DB_OK;
}

/* The shared intensity with its variance, and every plane with it. */
static db_status solve_together(const sharing *of, double *variance) {
    enum { PASSES = 40 };
    double before = INFINITY, value;
    *variance = 0;
    for (int pass = 0; pass < PASSES && of->count; pass++) {
        DB_TRY(sum_boxes(of, &value));
        if (value > before + 1e-9 * fabs(before)) { /* too far: halfway back */
            step_back(of);
            continue;
        }
        before = value;
        const double promise = step_boxes(of, variance);
        if (promise <= 1e-10 * fmax(1, value) || of->objective->loss_of.target == DB_LOSS_WEIGHTED)
            break;
    }
    return solve_planes(of);
}

db_status db_objective_solve_common(db_objective *objective) {
    const sharing all = { .objective = objective,
                          .all = objective,
                          .count = objective->blocks.count };
    double variance;
    return solve_together(&all, &variance);
}

void db_objective_solve_reflection(db_objective *objective, size_t reflection) {
    const sharing of = boxes_of(objective, reflection);
    double variance;
    (void)solve_together(&of, &variance); /* does not fail here */
    for (size_t i = 0; i < of.count; i++) solution_at(&of, i)->variance = variance;
}

double db_objective_restraint_loss(const db_objective *objective) {
    double sum = 0;
    for (size_t r = 0; r < objective->amplitudes->count; r++) {
        const sharing of = boxes_of(objective, r);
        const double off = intensity_of(&of) - 1;
        sum += off * off * of.inverse_variance;
    }
    return sum;
}

void db_objective_reflection_sums(const db_objective *objective, size_t reflection,
                                  double *gradient, double *normal, double *cross) {
    const sharing of = boxes_of(objective, reflection);
    size_t list[DB_BLOCK_MOST];
    *gradient = *normal = 0;
    memset(cross, 0, objective->variables.count * sizeof *cross);
    for (size_t i = 0; i < of.count; i++) {
        const size_t b = box_at(&of, i), n = db_objective_block_variables(objective, b, list),
                     all = n + DB_LINEAR;
        const double *const row = db_objective_block_normal(objective, b) + n * all;
        *gradient += db_objective_block_gradient(objective, b)[n];
        *normal += row[n];
        for (size_t k = 0; k < n; k++) cross[list[k]] += row[k];
    }
}

/* Adds the restraint to slope and half second derivative by the intensity; returns 0 if that is
 * held at 0. */
static int add_restraint(const db_objective *objective, size_t r, double *gradient,
                         double *normal) {
    const sharing of = boxes_of(objective, r);
    const double intensity = intensity_of(&of);
    *gradient += 2 * (intensity - 1) * of.inverse_variance;
    *normal += of.inverse_variance;
    return intensity > 0;
}

/* Sum of the gradients of a reflection's boxes. */
static void gradient_of_boxes(const db_objective *objective, size_t r, double *sum) {
    const sharing of = boxes_of(objective, r);
    size_t list[DB_BLOCK_MOST];
    memset(sum, 0, objective->variables.count * sizeof *sum);
    for (size_t i = 0; i < of.count; i++) {
        const size_t n = db_objective_block_variables(objective, box_at(&of, i), list);
        const double *const gradient = db_objective_block_gradient(objective, box_at(&of, i));
        for (size_t k = 0; k < n; k++) sum[list[k]] += gradient[k];
    }
}

static void add_pull(db_objective *objective, const double *gradient) {
    const size_t n = objective->variables.count, rows = n + 1;
    for (size_t k = 0; k < n; k++)
        for (size_t l = 0; l <= k && fabs(gradient[k]) > 0; l++)
            objective->work->pulls[k * rows + l] += 0.25 * gradient[k] * gradient[l];
}

/* Without the mixed derivatives, which come with NORMAL, nothing is lost: where the intensity is
 * best its slope is 0. */
void db_objective_eliminate_reflections(db_objective *objective, db_objective_depth depth) {
    const size_t n = objective->variables.count, rows = n + 1;
    double *const total = objective->work->total;
    double *const totals = total + rows;
    double *const cross = objective->work->cross;
    double *const own = cross + n;
    for (size_t r = 0; r < objective->amplitudes->count && depth == DB_OBJECTIVE_NORMAL; r++) {
        double gradient, normal;
        db_objective_reflection_sums(objective, r, &gradient, &normal, cross);
        gradient_of_boxes(objective, r, own);
        const int is_free = add_restraint(objective, r, &gradient, &normal);
        for (size_t k = 0; k < n && is_free; k++) {
            const double part = cross[k] / normal;
            own[k] -= part * gradient;
            total[k] -= part * gradient;
            for (size_t l = 0; l <= k && fabs(part) > 0; l++)
                totals[k * rows + l] -= part * cross[l];
        }
        if (is_free) objective->loss -= 0.25 * gradient * gradient / normal;
        add_pull(objective, own);
    }
}

void db_objective_reflection_errors(const db_objective *objective, const double *error,
                                    double *const *correlation, double *own) {
    const size_t n = objective->variables.count;
    double *const cross = objective->work->cross;
    for (size_t r = 0; r < objective->amplitudes->count; r++) {
        double gradient, normal, variance = 0;
        db_objective_reflection_sums(objective, r, &gradient, &normal, cross);
        (void)add_restraint(objective, r, &gradient, &normal);
        for (size_t k = 0; k < n; k++) {
            const double left = isfinite(error[k]) ? cross[k] * error[k] / normal : 0;
            for (size_t l = 0; l < n; l++)
                if (isfinite(error[l]))
                    variance += left * correlation[k][l] * cross[l] * error[l] / normal;
        }
        own[r] = sqrt(1 / normal + fmax(0, variance));
    }
}
