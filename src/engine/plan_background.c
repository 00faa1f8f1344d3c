#include "engine/plan_background.h"

#include "engine/device_plan.h"

#include <dualbragg/products.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Elements from first to the one before end. */
typedef struct {
    size_t first, end;
} element_run;

struct db_plan_background {
    element_run *run; /* elements of all regions: ascending runs that do not overlap */
    size_t run_count;
    void *pixels; /* of the plan's pixel type; NULL: none */
};

void db_plan_background_destroy(db_plan_background *own) {
    if (!own) return;
    free(own->run);
    free(own->pixels);
    free(own);
}

static int by_first(const void *a, const void *b) {
    const size_t x = ((const element_run *)a)->first, y = ((const element_run *)b)->first;
    return (x > y) - (x < y);
}

static size_t rows_of(const db_plan *plan) {
    size_t rows = 0;
    for (size_t i = 0; i < plan->tiles.given_count; i++)
        rows += (size_t)plan->tiles.given[i].slow_count;
    return rows;
}

/* Joins runs that overlap or touch; returns their new number. */
static size_t join_runs(element_run *run, size_t count) {
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        if (left == 0 || run[i].first > run[left - 1].end)
            run[left++] = run[i];
        else if (run[i].end > run[left - 1].end)
            run[left - 1].end = run[i].end;
    }
    return left;
}

db_status db_plan_list_elements(db_plan *plan) {
    if (plan->background) return DB_OK;
    db_plan_background *made = calloc(1, sizeof *made);
    if (made) made->run = malloc(rows_of(plan) * sizeof *made->run);
    if (!made || !made->run) {
        db_plan_background_destroy(made);
        return db_fail_memory(plan->context, "the elements of a plan's images");
    }
    size_t count = 0;
    for (size_t i = 0; i < plan->tiles.given_count; i++) {
        const db_region *r = &plan->tiles.given[i];
        for (int slow = 0; slow < r->slow_count; slow++) {
            const size_t first = r->offset + (size_t)slow * r->stride;
            made->run[count++] = (element_run){ first, first + (size_t)r->fast_count };
        }
    }
    qsort(made->run, count, sizeof *made->run, by_first);
    made->run_count = join_runs(made->run, count);
    plan->background = made;
    return DB_OK;
}

static void add_on_host(const db_plan *plan, int copy, const void *from, void *to) {
    const int wide = plan->job.pixel_type == DB_FLOAT64;
    const size_t each = wide ? sizeof(double) : sizeof(float);
    for (size_t i = 0; i < plan->background->run_count; i++) {
        const element_run run = plan->background->run[i];
        if (copy) {
            memcpy((char *)to + run.first * each, (const char *)from + run.first * each,
                   (run.end - run.first) * each);
            continue;
        }
        for (size_t at = run.first; wide && at < run.end; at++)
            ((double *)to)[at] += ((const double *)from)[at];
        for (size_t at = run.first; !wide && at < run.end; at++)
            ((float *)to)[at] += ((const float *)from)[at];
    }
}

db_status db_plan_add_image(db_plan *plan, int copy, const void *from, void *to) {
    void *brought;
    int there;
    DB_TRY(db_device_has(plan, to, &there));
    if (there) return db_device_add(plan, copy, from, 0, to);
    DB_TRY(db_device_bring(plan, plan->job.pixel_type, from, &brought));
    add_on_host(plan, copy, brought ? brought : from, to);
    free(brought);
    return DB_OK;
}

const void *db_plan_background_pixels(const db_plan *plan) {
    return plan->background ? plan->background->pixels : NULL;
}

db_status db_plan_add_background(db_plan *plan, void *image) {
    const void *const background = db_plan_background_pixels(plan);
    int there;
    if (!background || !image) return DB_OK;
    DB_TRY(db_device_has(plan, image, &there));
    if (there) return db_device_add(plan, 0, background, plan->versions.background, image);
    add_on_host(plan, 0, background, image);
    return DB_OK;
}

db_status db_plan_check_background(const db_plan *plan, const char *what, const void *background) {
    const int wide = plan->job.pixel_type == DB_FLOAT64;
    for (size_t i = 0; i < plan->background->run_count; i++)
        for (size_t at = plan->background->run[i].first; at < plan->background->run[i].end; at++) {
            const double value =
                wide ? ((const double *)background)[at] : (double)((const float *)background)[at];
            if (!isfinite(value))
                return db_fail(plan->context, DB_ERROR_INPUT,
                               "%s: element %zu: expected a finite number, found %g", what, at,
                               value);
        }
    return DB_OK;
}

/* Keeps a copy of the background that the host can read; DB_ERROR_INPUT if a pixel is not finite. */
static db_status keep_background(db_plan *plan, const void *background) {
    db_plan_background *own = plan->background;
    DB_TRY(db_plan_check_background(plan, "background", background));
    if (!own->pixels)
        own->pixels = calloc(plan->tiles.pixels,
                             plan->job.pixel_type == DB_FLOAT64 ? sizeof(double) : sizeof(float));
    if (!own->pixels) return db_fail_memory(plan->context, "the background of a plan");
    add_on_host(plan, 1, background, own->pixels);
    plan->versions.background++;
    return DB_OK;
}

db_status db_plan_set_background(db_plan *plan, const void *background) {
    DB_TRY(db_plan_list_elements(plan));
    db_plan_background *own = plan->background;
    if (!background) {
        free(own->pixels);
        own->pixels = NULL;
        return DB_OK;
    }
    void *brought;
    DB_TRY(db_device_bring(plan, plan->job.pixel_type, background, &brought));
    const db_status status = keep_background(plan, brought ? brought : background);
    free(brought);
    return status;
}
