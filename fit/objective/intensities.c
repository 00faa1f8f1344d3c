/* Intensities of reflections from their shoeboxes (docs/theory/refinement.md, Intensities). */
#include "fit/objective/intensities.h"

#include "base/context_internal.h"
#include "loss/eliminate.h"
#include "base/quantile.h"
#include "base/threads.h"
#include "fit/objective/objective.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Misfit of a box beyond noise counts as noise of its own. */
int db_intensity_of(const db_box_measured *m, const db_spot *r, const db_region *region,
                    db_fit_reflection *spot) {
    if (!m->has_light) return 0;
    db_fit_reflection i = { .region = *region,
                            .d_spacing = r->resolution,
                            .partiality = r->recorded,
                            .wavelength = r->wavelength,
                            .wavelength_width = r->wavelength_width,
                            .F = sqrt(fmax(0, m->solution.linear[0])),
                            .square = m->intensity,
                            .background = m->background / m->pixels,
                            .sum = m->sum,
                            .sum_sigma = sqrt(m->sum_variance),
                            .strong = m->strong,
                            .pixels = m->pixels };
    memcpy(i.hkl, r->hkl, sizeof i.hkl);
    memcpy(i.position, r->position, sizeof i.position);
    memcpy(i.observed, m->observed, sizeof i.observed);
    memcpy(i.observed_variance, m->observed_variance, sizeof i.observed_variance);
    const double degrees = fmax(1, i.pixels - DB_LINEAR);
    i.square_sigma = sqrt(m->variance * fmax(1, m->chi2 / degrees));
    i.counts = i.square * m->shape;
    i.counts_sigma = i.square_sigma * m->shape;
    *spot = i;
    return 1;
}

void db_intensities_share(db_fit_reflection *list, size_t count) {
    for (size_t i = 0, end; i < count; i = end) {
        double sum = 0, weights = 0;
        for (end = i; end < count && db_compare_hkl(list[i].hkl, list[end].hkl) == 0; end++) {
            const double weight = 1 / (list[end].square_sigma * list[end].square_sigma);
            /* a negative one counts as it is: a mean of numbers that are cut at 0 would be too large */
            sum += weight * fmin(list[end].square, list[end].F * list[end].F);
            weights += weight;
        }
        for (size_t k = i; k < end && end > i + 1; k++) list[k].F = sqrt(fmax(0, sum) / weights);
    }
}

/* Sums for the intensity that all blocks share. */

static db_status sum_blocks(db_objective *o, double *value) {
    *value = 0;
    DB_TRY(db_objective_run_boxes(o, DB_BOXES_AS_BEFORE, 0, DB_BOXES_LINEAR));
    for (size_t b = 0; b < o->blocks.count; b++) *value += o->work->linear_sums[b].value;
    return DB_OK;
}

/* A step of the intensity, not below 0, and of all planes; returns the promised decrease. */
static double step_blocks(db_objective *o) {
    const double intensity = o->solution[0].linear[0];
    double gradient = 0, curvature = 0, promise = 0;
    for (size_t b = 0; b < o->blocks.count; b++) {
        db_block_sums *const s = &o->work->linear_sums[b];
        promise += db_eliminate(DB_LINEAR, 1, s->gradient, s->normal, DB_LINEAR);
        gradient += s->gradient[0];
        curvature += s->normal[0];
    }
    const double step = curvature > 0 ? fmax(-0.5 * gradient / curvature, -intensity) : 0;
    promise -= step * (gradient + curvature * step);
    for (size_t b = 0; b < o->blocks.count; b++) {
        const db_block_sums *const s = &o->work->linear_sums[b];
        double *const steps = o->work->steps[b];
        steps[0] = step;
        for (size_t k = 1; k < DB_LINEAR; k++)
            steps[k] = db_eliminated_step(s->normal + k * DB_LINEAR, k, s->gradient[k], steps);
        for (size_t k = 0; k < DB_LINEAR; k++) o->solution[b].linear[k] += steps[k];
    }
    return promise;
}

static void step_back(db_objective *o) {
    for (size_t b = 0; b < o->blocks.count; b++)
        for (int k = 0; k < DB_LINEAR; k++) o->solution[b].linear[k] -= o->work->steps[b][k] *= 0.5;
}

db_status db_objective_solve_common(db_objective *o) {
    enum { PASSES = 40 };
    double before = INFINITY, value;
    for (int pass = 0; pass < PASSES && o->blocks.count; pass++) {
        DB_TRY(sum_blocks(o, &value));
        if (value > before + 1e-9 * fabs(before)) { /* too far: go halfway back */
            step_back(o);
            continue;
        }
        before = value;
        const double promise = step_blocks(o);
        if (promise <= 1e-10 * fmax(1, value) || o->loss_of.target == DB_LOSS_WEIGHTED) break;
    }
    /* solve for planes alone, which also gives each block its loss */
    return db_objective_run_boxes(o, DB_BOXES_AS_BEFORE, 1, DB_BOXES_NO_SUMS);
}

/* Sets the prior of each shoebox from the mean intensity of shoeboxes at similar resolution. */

static int finer_last(const void *a, const void *b) {
    const db_spot *const x = *(const db_spot *const *)a;
    const db_spot *const y = *(const db_spot *const *)b;
    if (x->resolution != y->resolution) return x->resolution < y->resolution ? 1 : -1;
    return x < y ? -1 : 1;
}

/* Largest spots of the model (90th percentile), which are on the Ewald sphere. light is ordered anew. */
static double full_shape(double *light, size_t count) {
    return db_ranked(light, count, count * 9 / 10);
}

static double excess_of(const db_shoeboxes *boxes, size_t b) {
    double excess = 0;
    if (boxes->excess) return boxes->excess[b];
    for (size_t i = b * boxes->pixels; i < (b + 1) * boxes->pixels; i++)
        if (boxes->own[i]) excess += (double)boxes->value[i] - (double)boxes->background[i];
    return excess;
}

/* sums: light of each box, then room. */
static void ridge_by_resolution(db_shoeboxes *boxes, double limit, int threads,
                                const db_spot **order, double *sums) {
    enum { NEIGHBOURS = 30 }; /* shoeboxes on either side */
    const size_t count = boxes->count;
    const double full = full_shape(sums, count);
    for (size_t b = 0; b < count; b++) order[b] = &boxes->reflection[b];
    qsort(order, count, sizeof *order, finer_last);
#pragma omp parallel for num_threads(threads)
    for (long k = 0; k < (long)count; k++)
        sums[k] = excess_of(boxes, (size_t)(order[k] - boxes->reflection));
    for (size_t k = 0; k < count; k++) {
        const size_t first = k > NEIGHBOURS ? k - NEIGHBOURS : 0;
        const size_t end = k + NEIGHBOURS + 1 < count ? k + NEIGHBOURS + 1 : count;
        double mean = 0;
        for (size_t i = first; i < end; i++) mean += sums[i];
        mean = fmax(1, mean / (double)(end - first));
        const double sigma = limit * mean / full;
        boxes->ridge[order[k] - boxes->reflection] =
            limit > 0 && full > 0 ? 1 / (sigma * sigma) : 0;
    }
}

db_status db_intensity_prior_set(db_context *context, db_shoeboxes *boxes, double *light,
                                 double limit) {
    const db_spot **const order = malloc((boxes->count + 1) * sizeof *order);
    if (!order) return db_fail_memory(context, "the mean intensities of the shoeboxes");
    if (boxes->count) ridge_by_resolution(boxes, limit, db_threads(context), order, light);
    free(order);
    return DB_OK;
}

static void sum_image(const db_shoeboxes *boxes, const float *shape, int threads, double *light) {
    const long count = (long)boxes->count;
#pragma omp parallel for num_threads(threads)
    for (long b = 0; b < count; b++) {
        double sum = 0;
        for (size_t i = 0; i < boxes->pixels; i++)
            sum += (double)shape[(size_t)b * boxes->pixels + i];
        light[b] = sum;
    }
}

db_status db_intensity_prior_of_image(db_context *context, db_shoeboxes *boxes, const float *shape,
                                      double limit) {
    double *const light = malloc((boxes->count + 1) * sizeof *light);
    if (!light) return db_fail_memory(context, "the light in the shoeboxes");
    sum_image(boxes, shape, db_threads(context), light);
    const db_status status = db_intensity_prior_set(context, boxes, light, limit);
    free(light);
    return status;
}
