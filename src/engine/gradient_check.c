#include "engine/gradient_check.h"

#include "core/context_internal.h"
#include "engine/difference_table.h"
#include "engine/node_signature.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double FIRST_STEP =
    0.1; /* of the change that would alter the brightest pixel by itself */
static const double NEGLIGIBLE = 1e-6; /* of brightest pixel / typical step */
static const double ROUNDING = 1e-15;  /* likewise: what is left of slopes that cancel each other */
enum { MOST_HALVINGS = 20 }; /* of a first step that leaves the range of possible values */
enum { LAST_START = DB_DIFFERENCE_LEVELS - 2 }; /* two steps make the shortest table */

/* Everything that one check allocates. */
typedef struct check {
    db_context *context;
    const db_gradient_check_options *options;
    const db_parameter *parameters;
    size_t parameter_count;
    db_experiment start, moved;
    db_region *regions;
    size_t region_count, pixels;
    db_plan *plan;
    db_node_signer *signer;
    double *image, **gradient, **oracle;
    double *difference[DB_DIFFERENCE_LEVELS], *minus;
    uint64_t *nodes, *moved_nodes;
    unsigned char *smooth_from; /* number of the first step within which a pixel's nodes stay */
} check;

/* The wanted regions one behind the other, so that each element of an image is a pixel. */
static db_status pack_regions(check *c) {
    const db_detector *d = &c->start.detector;
    const db_gradient_check_options *o = c->options;
    c->region_count = o->regions ? o->region_count : d->panel_count;
    c->regions = calloc(c->region_count ? c->region_count : 1, sizeof *c->regions);
    if (!c->regions) return db_fail_memory(c->context, "the regions of a check");
    for (size_t i = 0; i < c->region_count; i++) {
        db_region *r = &c->regions[i];
        if (o->regions)
            *r = o->regions[i];
        else
            *r = (db_region){ .panel = i,
                              .fast_count = d->panels[i].fast_pixels,
                              .slow_count = d->panels[i].slow_pixels };
        r->offset = c->pixels;
        r->stride = (size_t)r->fast_count;
        c->pixels += (size_t)r->fast_count * (size_t)r->slow_count;
    }
    return DB_OK;
}

static double **image_stack(size_t count, size_t pixels) {
    double **stack = calloc(count, sizeof *stack);
    for (size_t k = 0; stack && k < count; k++) stack[k] = calloc(pixels, sizeof **stack);
    return stack;
}

static int stack_complete(double **stack, size_t count) {
    for (size_t k = 0; stack && k < count; k++)
        if (!stack[k]) return 0;
    return stack != NULL;
}

static void free_stack(double **stack, size_t count) {
    for (size_t k = 0; stack && k < count; k++) free(stack[k]);
    free(stack);
}

static db_status allocate(check *c) {
    int complete = 1;
    c->image = calloc(c->pixels, sizeof *c->image);
    c->minus = calloc(c->pixels, sizeof *c->minus);
    c->gradient = image_stack(c->parameter_count, c->pixels);
    c->oracle = image_stack(c->parameter_count, c->pixels);
    for (int level = 0; level < DB_DIFFERENCE_LEVELS; level++) {
        c->difference[level] = calloc(c->pixels, sizeof **c->difference);
        complete &= c->difference[level] != NULL;
    }
    c->nodes = calloc(c->pixels, sizeof *c->nodes);
    c->moved_nodes = calloc(c->pixels, sizeof *c->moved_nodes);
    c->smooth_from = calloc(c->pixels, sizeof *c->smooth_from);
    if (complete && c->image && c->minus && stack_complete(c->gradient, c->parameter_count) &&
        stack_complete(c->oracle, c->parameter_count) && c->nodes && c->moved_nodes &&
        c->smooth_from)
        return DB_OK;
    return db_fail_memory(c->context, "the images of a check");
}

static void release(check *c) {
    db_plan_destroy(&c->plan);
    db_node_signer_destroy(&c->signer);
    free(c->regions);
    free(c->image);
    free(c->minus);
    free_stack(c->gradient, c->parameter_count);
    free_stack(c->oracle, c->parameter_count);
    for (int level = 0; level < DB_DIFFERENCE_LEVELS; level++) free(c->difference[level]);
    free(c->nodes);
    free(c->moved_nodes);
    free(c->smooth_from);
    db_experiment_clear(&c->start);
    db_experiment_clear(&c->moved);
}

/* Keeps the larger one; a NaN is the worst of all and stays. */
static void keep_worst(double *worst, double value) {
    if (!isnan(*worst) && !(value <= *worst)) *worst = value;
}

static double largest_magnitude(const double *image, size_t pixels) {
    double largest = 0;
    for (size_t i = 0; i < pixels; i++) keep_worst(&largest, fabs(image[i]));
    return largest;
}

/* A step at which the brightest pixel changes by about FIRST_STEP of itself, at most the typical
 * one. */
static double first_step(const check *c, db_parameter parameter, double largest) {
    const double typical = db_parameter_describe(parameter)->scale;
    const double step = FIRST_STEP * largest_magnitude(c->image, c->pixels) / largest;
    return step < typical ? step : typical;
}

static db_status move(check *c, db_parameter parameter, double value) {
    db_parameter_set(&c->moved, parameter, value);
    return db_plan_update(c->plan, &c->moved);
}

/* Halves a step that would leave the range of possible values. */
static db_status possible_step(check *c, db_parameter parameter, double *step) {
    const double value = db_parameter_get(&c->start, parameter);
    db_status status = DB_OK;
    for (int i = 0; i < MOST_HALVINGS; i++) {
        status = move(c, parameter, value - *step);
        if (status == DB_OK) status = move(c, parameter, value + *step);
        if (status == DB_OK) return DB_OK;
        *step /= 2;
    }
    return status;
}

/* Notes for each pixel whether its nodes change between the start and the moved experiment. */
static void note_changes(check *c, int level) {
    db_node_signature(c->signer, &c->moved, c->regions, c->region_count, c->moved_nodes);
    for (size_t i = 0; i < c->pixels; i++)
        if (c->moved_nodes[i] != c->nodes[i]) c->smooth_from[i] = (unsigned char)(level + 1);
}

static db_status difference_images(check *c, db_parameter parameter, double step) {
    const double value = db_parameter_get(&c->start, parameter);
    const int kinks = db_node_signature_matters(&c->start);
    memset(c->smooth_from, 0, c->pixels);
    for (int level = 0; level < DB_DIFFERENCE_LEVELS; level++, step /= DB_DIFFERENCE_RATIO) {
        const double above = value + step, below = value - step;
        DB_TRY(move(c, parameter, above));
        DB_TRY(db_plan_forward(c->plan, c->difference[level]));
        if (kinks) note_changes(c, level);
        DB_TRY(move(c, parameter, below));
        DB_TRY(db_plan_forward(c->plan, c->minus));
        if (kinks) note_changes(c, level);
        for (size_t i = 0; i < c->pixels; i++)
            c->difference[level][i] = (c->difference[level][i] - c->minus[i]) / (above - below);
    }
    return move(c, parameter, value);
}

static void compare(check *c, size_t k, db_gradient_check_row *row) {
    const double brightest = largest_magnitude(c->image, c->pixels);
    const double negligible = NEGLIGIBLE * brightest / db_parameter_describe(row->parameter)->scale;
    const double unit = row->largest > negligible ? row->largest : negligible > 0 ? negligible : 1;
    const double rounding = ROUNDING * brightest / db_parameter_describe(row->parameter)->scale;
    double beyond_rounding = 0;
    db_table_entry entry[LAST_START + 1];
    for (int first = 0; first <= LAST_START; first++)
        entry[first] = db_difference_best_entry(c->difference, c->smooth_from, c->pixels, first);
    for (size_t i = 0; i < c->pixels; i++) {
        const double contraction = fabs(c->gradient[k][i] - c->oracle[k][i]);
        keep_worst(&row->contraction, contraction / unit);
        if (!(contraction <= rounding)) keep_worst(&beyond_rounding, contraction / unit);
        if (c->smooth_from[i] > LAST_START) {
            row->excluded++;
            continue;
        }
        double own[DB_DIFFERENCE_LEVELS], error;
        for (int level = 0; level < DB_DIFFERENCE_LEVELS; level++)
            own[level] = c->difference[level][i];
        const double slope = db_difference_extrapolate(own, entry[c->smooth_from[i]], &error);
        row->compared++;
        keep_worst(&row->difference, fabs(c->oracle[k][i] - slope) / unit);
        keep_worst(&row->difference_error, error / unit);
    }
    row->passed = row->compared > 0 && beyond_rounding <= c->options->contraction_tolerance &&
                  row->difference <= c->options->difference_tolerance;
}

static db_status check_parameter(check *c, size_t k, db_gradient_check_row *row) {
    memset(row, 0, sizeof *row);
    row->parameter = c->parameters[k];
    row->largest = largest_magnitude(c->oracle[k], c->pixels);
    row->step = first_step(c, row->parameter, row->largest);
    DB_TRY(possible_step(c, row->parameter, &row->step));
    DB_TRY(difference_images(c, row->parameter, row->step));
    compare(c, k, row);
    return DB_OK;
}

static db_status run(check *c, db_gradient_check_row *rows) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    DB_TRY(pack_regions(c));
    options.pixel_type = DB_FLOAT64;
    options.parameters = c->parameters;
    options.parameter_count = c->parameter_count;
    options.regions = c->regions;
    options.region_count = c->region_count;
    DB_TRY(db_plan_create(c->context, &c->start, &options, &c->plan));
    DB_TRY(allocate(c));
    DB_TRY(db_plan_gradient(c->plan, c->image, (void *const *)c->gradient));
    DB_TRY(db_plan_oracle(c->plan, c->image, c->oracle));
    DB_TRY(db_node_signer_create(c->context, &c->start, &c->signer));
    if (db_node_signature_matters(&c->start))
        db_node_signature(c->signer, &c->start, c->regions, c->region_count, c->nodes);
    for (size_t k = 0; k < c->parameter_count; k++) DB_TRY(check_parameter(c, k, &rows[k]));
    return DB_OK;
}

db_status db_gradient_check(db_context *context, const db_experiment *experiment,
                            const db_parameter *parameters, size_t parameter_count,
                            const db_gradient_check_options *options, db_gradient_check_row *rows) {
    check c = { .context = context,
                .options = options,
                .parameters = parameters,
                .parameter_count = parameter_count };
    db_status status = db_experiment_copy(context, experiment, &c.start);
    if (status == DB_OK) status = db_experiment_copy(context, experiment, &c.moved);
    if (status == DB_OK) status = run(&c, rows);
    release(&c);
    return status;
}
