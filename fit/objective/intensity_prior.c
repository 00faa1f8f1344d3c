/* Sets the prior of each shoebox from the mean intensity of shoeboxes at about its resolution. */
#include "fit/objective/intensity_prior.h"

#include "base/context_internal.h"
#include "base/quantile.h"
#include "base/threads.h"

#include <math.h>
#include <stdlib.h>

static int finer_last(const void *a, const void *b) {
    const db_reflection *const x = *(const db_reflection *const *)a;
    const db_reflection *const y = *(const db_reflection *const *)b;
    if (x->d_spacing != y->d_spacing) return x->d_spacing < y->d_spacing ? 1 : -1;
    return x < y ? -1 : 1;
}

/* The model's largest spots (90th percentile): those on the Ewald sphere. light: is sorted. */
static double full_shape(double *light, size_t count) {
    db_sort_numbers(light, count);
    return light[count * 9 / 10];
}

static double excess_of(const db_shoeboxes *boxes, size_t b) {
    double excess = 0;
    if (boxes->excess) return boxes->excess[b];
    for (size_t i = b * boxes->pixels; i < (b + 1) * boxes->pixels; i++)
        if (boxes->own[i]) excess += (double)boxes->value[i] - (double)boxes->background[i];
    return excess;
}

/* sums: light of each box, then room */
static void ridge_by_resolution(db_shoeboxes *boxes, double limit, int threads,
                                const db_reflection **order, double *sums) {
    enum { NEIGHBOURS = 30 }; /* on either side */
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
    const db_reflection **const order = malloc((boxes->count + 1) * sizeof *order);
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
