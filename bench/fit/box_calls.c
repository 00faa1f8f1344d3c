#include "box_calls.h"

#include "parts.h"

#include <dualbragg/expert/boxes.h>
#include <stdlib.h>

enum { MOST = 32, CALLS = 25 };

/* The boxes of a result, packed one behind the other, with arrays of their data and results. */
typedef struct boxes_of {
    size_t count, pixels, parameters;
    db_parameter parameter[MOST];
    db_link link[MOST];
    db_box_links links;
    db_region *region;
    db_box_rule *rule;
    db_box_solution *solution;
    float *value, *weight, *shape_variance;
    double *result;
    db_experiment model;
    db_plan *plan;
    db_boxes *boxes;
} boxes_of;

static void clear_boxes(boxes_of *b) {
    db_boxes_destroy(&b->boxes);
    db_plan_destroy(&b->plan);
    db_experiment_clear(&b->model);
    free(b->region);
    free(b->rule);
    free(b->solution);
    free(b->value);
    free(b->weight);
    free(b->shape_variance);
    free(b->result);
}

static void list_parameters(const db_fit_result *result, boxes_of *b) {
    for (size_t i = 0; i < result->estimates.count && b->parameters < MOST; i++) {
        b->link[b->parameters] = (db_link){ b->parameters, b->parameters, 1 };
        b->parameter[b->parameters++] = result->estimates.list[i].parameter;
    }
    b->links = (db_box_links){ b->link, b->parameters, b->parameters };
}

static db_status allocate(const db_fit_result *result, boxes_of *b) {
    b->count = result->shoebox_count;
    for (size_t i = 0; i < b->count; i++) {
        const db_region *const r = &result->shoeboxes[i].region;
        b->pixels += (size_t)r->fast_count * (size_t)r->slow_count;
    }
    b->region = calloc(b->count, sizeof *b->region);
    b->rule = calloc(b->count, sizeof *b->rule);
    b->solution = calloc(b->count, sizeof *b->solution);
    b->value = calloc(b->pixels, sizeof *b->value);
    b->weight = calloc(b->pixels, sizeof *b->weight);
    b->shape_variance = calloc(b->pixels, sizeof *b->shape_variance);
    b->result = calloc(b->count * db_boxes_room(b->parameters), sizeof *b->result);
    return b->region && b->rule && b->solution && b->value && b->weight && b->shape_variance &&
                   b->result
               ? DB_OK
               : DB_ERROR_MEMORY;
}

static void fill(const db_fit_result *result, boxes_of *b) {
    size_t at = 0;
    for (size_t i = 0; i < b->count; i++) {
        const db_fit_shoebox *const box = &result->shoeboxes[i];
        const size_t pixels = (size_t)box->region.fast_count * (size_t)box->region.slow_count;
        b->region[i] = box->region;
        b->region[i].offset = at;
        b->region[i].stride = (size_t)box->region.fast_count;
        b->rule[i].held_at_zero = 1;
        for (int k = 0; k < DB_LINEAR; k++) b->rule[i].solved[k] = b->rule[i].summed[k] = 1;
        for (size_t k = 0; k < pixels; k++) {
            const float sigma = box->sigma[k];
            b->value[at + k] = box->measured[k];
            b->weight[at + k] = sigma > 0 ? 1 / (sigma * sigma) : 0;
        }
        at += pixels;
    }
}

/* What a stage of a refinement begins with. */
static db_status make(db_context *context, boxes_of *b) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_box_data data = DB_BOX_DATA_INIT;
    options.precision = DB_PRECISION_MIXED;
    options.parameters = b->parameter;
    options.parameter_count = b->parameters;
    options.regions = b->region;
    options.region_count = b->count;
    data.value = b->value;
    data.weight = b->weight;
    data.shape_variance = b->shape_variance;
    db_boxes_destroy(&b->boxes);
    db_plan_destroy(&b->plan);
    db_status status = db_plan_create(context, &b->model, &options, &b->plan);
    if (status == DB_OK) status = db_boxes_create(b->plan, &b->boxes);
    return status == DB_OK ? db_boxes_set_data(b->boxes, &data) : status;
}

static db_status evaluate(boxes_of *b, db_boxes_image image) {
    static const db_loss loss = { .target = DB_LOSS_WEIGHTED, .gain = 1 };
    db_boxes_request request = DB_BOXES_REQUEST_INIT;
    request.loss = &loss;
    request.rule = b->rule;
    request.image = image;
    request.solve = 1;
    request.sums = image == DB_BOXES_IMAGE ? DB_BOXES_NO_SUMS : DB_BOXES_NORMAL;
    request.links = &b->links;
    request.link_lists = 1;
    request.most = b->parameters;
    return db_boxes_evaluate(b->boxes, &request, b->solution, b->result);
}

/* A step that a search might take, and back. */
static db_status change(boxes_of *b, int call) {
    b->model.crystal.misset[0] += call % 2 ? -1e-3 : 1e-3;
    return db_plan_update(b->plan, &b->model);
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static db_status time_calls(boxes_of *b, db_boxes_image image, double *median) {
    double seconds[CALLS];
    for (int i = 0; i < CALLS; i++) {
        const double begin = db_bench_seconds(CLOCK_MONOTONIC);
        db_status status = image == DB_BOXES_AS_BEFORE ? DB_OK : change(b, i);
        if (status == DB_OK) status = evaluate(b, image);
        if (status != DB_OK) return status;
        seconds[i] = db_bench_seconds(CLOCK_MONOTONIC) - begin;
    }
    qsort(seconds, CALLS, sizeof *seconds, ascending);
    *median = seconds[CALLS / 2];
    return DB_OK;
}

static db_status time_making(db_context *context, boxes_of *b, double *seconds) {
    const double begin = db_bench_seconds(CLOCK_MONOTONIC);
    db_status status = make(context, b);
    if (status == DB_OK) status = evaluate(b, DB_BOXES_DERIVATIVES);
    *seconds = db_bench_seconds(CLOCK_MONOTONIC) - begin;
    return status;
}

db_status db_bench_box_calls_time(db_context *context, const db_bench_scene *scene,
                                  const db_fit_result *result, db_bench_box_calls *calls) {
    boxes_of b = { 0 };
    *calls = (db_bench_box_calls){ 0 };
    list_parameters(result, &b);
    db_status status = db_experiment_copy(context, &scene->truth, &b.model);
    if (status == DB_OK) status = allocate(result, &b);
    if (status == DB_OK) {
        fill(result, &b);
        status = time_making(context, &b, &calls->made);
    }
    if (status == DB_OK) status = time_making(context, &b, &calls->made_again);
    if (status == DB_OK) status = time_calls(&b, DB_BOXES_IMAGE, &calls->image);
    if (status == DB_OK) status = time_calls(&b, DB_BOXES_DERIVATIVES, &calls->derivatives);
    if (status == DB_OK) status = time_calls(&b, DB_BOXES_AS_BEFORE, &calls->sums);
    clear_boxes(&b);
    return status;
}
