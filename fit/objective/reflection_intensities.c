#include "fit/objective/reflection_intensities.h"

#include "fit/objective/eliminate.h"
#include "fit/objective/objective_work.h"

#include <math.h>
#include <string.h>

/* The boxes of a reflection. */
typedef struct boxes_of {
    const size_t *box;
    size_t count;
    double inverse_variance; /* of the restraint */
} boxes_of;

static boxes_of boxes(const db_objective *shot, size_t r) {
    const db_amplitudes *const a = shot->amplitudes;
    return (boxes_of){ a->box + a->first[r], a->first[r + 1] - a->first[r],
                       1 / (a->sigma[r] * a->sigma[r]) };
}

static double intensity_of(const db_objective *shot, const boxes_of *of) {
    return shot->solution[of->box[0]].linear[0];
}

static double sum_boxes(db_objective *shot, const boxes_of *of) {
    const double off = intensity_of(shot, of) - 1;
    double value = off * off * of->inverse_variance;
    for (size_t i = 0; i < of->count; i++) {
        const size_t b = of->box[i];
        const db_block block = db_objective_block(shot, b);
        db_block_sum(&block, shot->solution[b].linear, &shot->work->linear_sums[b]);
        value += shot->work->linear_sums[b].value;
    }
    return value;
}

/* A step of the intensity, not below 0, and all planes; returns the decrease that it promises. */
static double step_boxes(db_objective *shot, const boxes_of *of, double *variance) {
    const double intensity = intensity_of(shot, of);
    double gradient = 2 * (intensity - 1) * of->inverse_variance, curvature = of->inverse_variance,
           promise = 0;
    for (size_t i = 0; i < of->count; i++) {
        db_block_sums *const s = &shot->work->linear_sums[of->box[i]];
        promise += db_eliminate(DB_LINEAR, 1, s->gradient, s->normal, DB_LINEAR);
        gradient += s->gradient[0];
        curvature += s->normal[0];
    }
    const double step = fmax(-0.5 * gradient / curvature, -intensity);
    promise -= step * (gradient + curvature * step);
    *variance = 1 / curvature;
    for (size_t i = 0; i < of->count; i++) {
        const size_t b = of->box[i];
        const db_block_sums *const s = &shot->work->linear_sums[b];
        double *const steps = shot->work->steps[b];
        steps[0] = step;
        for (size_t k = 1; k < DB_LINEAR; k++)
            steps[k] = db_eliminated_step(k, s->gradient, s->normal, DB_LINEAR, steps);
        for (size_t k = 0; k < DB_LINEAR; k++) shot->solution[b].linear[k] += steps[k];
    }
    return promise;
}

static void step_back(db_objective *shot, const boxes_of *of) {
    for (size_t i = 0; i < of->count; i++)
        for (int k = 0; k < DB_LINEAR; k++)
            shot->solution[of->box[i]].linear[k] -= shot->work->steps[of->box[i]][k] *= 0.5;
}

void db_objective_solve_reflection(db_objective *shot, size_t reflection) {
    enum { PASSES = 40 };
    const boxes_of of = boxes(shot, reflection);
    double before = INFINITY, variance = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        const double value = sum_boxes(shot, &of);
        if (value > before + 1e-9 * fabs(before)) { /* too far: halfway back */
            step_back(shot, &of);
            continue;
        }
        before = value;
        const double promise = step_boxes(shot, &of, &variance);
        if (promise <= 1e-10 * fmax(1, value) || shot->loss_of.target == DB_FIT_WEIGHTED) break;
    }
    for (size_t i = 0; i < of.count;
         i++) { /* what is left for each box, so that its loss is told */
        db_linear_solution *const solution = &shot->solution[of.box[i]];
        db_block block = db_objective_block(shot, of.box[i]);
        double unused;
        block.used[0] = 0;
        solution->loss = db_block_solve(&block, solution->linear, &unused);
        solution->variance = variance;
    }
}

double db_objective_restraint_loss(const db_objective *shot) {
    double sum = 0;
    for (size_t r = 0; r < shot->amplitudes->count; r++) {
        const boxes_of of = boxes(shot, r);
        const double off = intensity_of(shot, &of) - 1;
        sum += off * off * of.inverse_variance;
    }
    return sum;
}

void db_objective_reflection_sums(const db_objective *shot, size_t reflection, double *gradient,
                                  double *normal, double *cross) {
    const boxes_of of = boxes(shot, reflection);
    size_t list[DB_BLOCK_MOST];
    *gradient = *normal = 0;
    memset(cross, 0, shot->variables.count * sizeof *cross);
    for (size_t i = 0; i < of.count; i++) {
        const size_t b = of.box[i], n = db_objective_block_variables(shot, b, list),
                     all = n + DB_LINEAR;
        const double *const row = db_objective_block_normal(shot, b) + n * all;
        *gradient += db_objective_block_gradient(shot, b)[n];
        *normal += row[n];
        for (size_t k = 0; k < n; k++) cross[list[k]] += row[k];
    }
}

/* Half the slope and half the curvature by the intensity, restraint included; 0: it is held. */
static int add_restraint(const db_objective *shot, size_t r, double *gradient, double *normal) {
    const boxes_of of = boxes(shot, r);
    const double intensity = intensity_of(shot, &of);
    *gradient += 2 * (intensity - 1) * of.inverse_variance;
    *normal += of.inverse_variance;
    return intensity > 0;
}

/* Sum of the gradients of a reflection's boxes. */
static void gradient_of_boxes(const db_objective *shot, size_t r, double *sum) {
    const boxes_of of = boxes(shot, r);
    size_t list[DB_BLOCK_MOST];
    memset(sum, 0, shot->variables.count * sizeof *sum);
    for (size_t i = 0; i < of.count; i++) {
        const size_t n = db_objective_block_variables(shot, of.box[i], list);
        const double *const gradient = db_objective_block_gradient(shot, of.box[i]);
        for (size_t k = 0; k < n; k++) sum[list[k]] += gradient[k];
    }
}

static void add_pull(db_objective *shot, const double *gradient) {
    const size_t n = shot->variables.count, rows = n + 1;
    for (size_t k = 0; k < n; k++)
        for (size_t l = 0; l <= k && fabs(gradient[k]) > 0; l++)
            shot->work->pulls[k * rows + l] += 0.25 * gradient[k] * gradient[l];
}

/* Without the mixed derivatives, which come with NORMAL, nothing is lost: where the intensity is
 * best its slope is 0. */
void db_objective_eliminate_reflections(db_objective *shot, db_objective_depth depth) {
    const size_t n = shot->variables.count, rows = n + 1;
    double *const total = shot->work->total, *const totals = total + rows;
    double *const cross = shot->work->cross, *const own = cross + n;
    for (size_t r = 0; r < shot->amplitudes->count && depth == DB_OBJECTIVE_NORMAL; r++) {
        double gradient, normal;
        db_objective_reflection_sums(shot, r, &gradient, &normal, cross);
        gradient_of_boxes(shot, r, own);
        const int is_free = add_restraint(shot, r, &gradient, &normal);
        for (size_t k = 0; k < n && is_free; k++) {
            const double part = cross[k] / normal;
            own[k] -= part * gradient;
            total[k] -= part * gradient;
            for (size_t l = 0; l <= k && fabs(part) > 0; l++)
                totals[k * rows + l] -= part * cross[l];
        }
        if (is_free) shot->loss -= 0.25 * gradient * gradient / normal;
        add_pull(shot, own);
    }
}

void db_objective_reflection_errors(const db_objective *shot, const double *error,
                                    double *const *correlation, double *own) {
    const size_t n = shot->variables.count;
    double *const cross = shot->work->cross;
    for (size_t r = 0; r < shot->amplitudes->count; r++) {
        double gradient, normal, variance = 0;
        db_objective_reflection_sums(shot, r, &gradient, &normal, cross);
        (void)add_restraint(shot, r, &gradient, &normal);
        for (size_t k = 0; k < n; k++) {
            const double left = isfinite(error[k]) ? cross[k] * error[k] / normal : 0;
            for (size_t l = 0; l < n; l++)
                if (isfinite(error[l]))
                    variance += left * correlation[k][l] * cross[l] * error[l] / normal;
        }
        own[r] = sqrt(1 / normal + fmax(0, variance));
    }
}
