/* The check of derivatives against extrapolated differences of images. */
#include "engine/check_state.h"
#include "engine/difference_table.h"
#include "engine/exact_image.h"
#include "engine/node_signature.h"

#include <stdlib.h>
#include <string.h>

/* The first step, in units of a sample's shortest length in the parameter: large enough for the digits of long
 * double, small enough for the table to extrapolate. */
static const double FIRST_STEP = 0.03;

enum { MOST_HALVINGS = 20 }; /* of a first step that leaves the range of possible values */
enum { LAST_START = DB_DIFFERENCE_LEVELS - 2 }; /* two steps make the shortest table */

/* One parameter's differences. */
typedef struct {
    db_check *check;
    const db_check_batch *batch;
    const db_check_pixels *pixels;
    size_t k;
    db_experiment moved;
    db_difference_kind kind;
    db_mosaic_direction *directions; /* of the start */
    long double *above, *below;
    double *difference[DB_DIFFERENCE_LEVELS];
    db_node_signer *signer;
    uint64_t *nodes;
    uint64_t *moved_nodes;
    unsigned char *smooth_from; /* number of the first step within which a pixel's nodes stay */
} work;

static void release_differences(work *w) {
    free(w->directions);
    free(w->above);
    free(w->below);
    for (int level = 0; level < DB_DIFFERENCE_LEVELS; level++) free(w->difference[level]);
    free(w->nodes);
    free(w->moved_nodes);
    free(w->smooth_from);
    db_node_signer_destroy(&w->signer);
    db_experiment_clear(&w->moved);
}

static db_status prepare_differences(work *w) {
    db_check *const c = w->check;
    const size_t pixels = w->pixels->pixels;
    int complete = 1;
    DB_TRY(db_experiment_copy(&c->context, c->experiment, &w->moved));
    w->directions = malloc((size_t)w->moved.crystal.mosaic_domains * sizeof *w->directions);
    w->above = calloc(pixels, sizeof *w->above);
    w->below = calloc(pixels, sizeof *w->below);
    for (int level = 0; level < DB_DIFFERENCE_LEVELS; level++) {
        w->difference[level] = calloc(pixels, sizeof **w->difference);
        complete &= w->difference[level] != NULL;
    }
    w->nodes = calloc(pixels, sizeof *w->nodes);
    w->moved_nodes = calloc(pixels, sizeof *w->moved_nodes);
    w->smooth_from = calloc(pixels, sizeof *w->smooth_from);
    if (!complete || !w->directions || !w->above || !w->below || !w->nodes || !w->moved_nodes ||
        !w->smooth_from)
        return db_fail_memory(&c->context, "the images of a check");
    db_mosaic_directions(w->moved.crystal.mosaic_seed, w->moved.crystal.mosaic_spread,
                         w->moved.crystal.mosaic_domains, w->directions);
    return db_node_signer_create(&c->context, c->experiment, &w->signer);
}

static int step_is_possible(db_check *c, db_experiment *e, db_parameter parameter, double value) {
    db_parameter_set(e, parameter, value);
    return db_experiment_check(&c->context, e) == DB_OK;
}

db_status db_check_find_step(db_check *c, size_t k) {
    const db_parameter parameter = c->parameters[k];
    const double typical = db_parameter_describe(parameter)->scale,
                 value = db_parameter_get(c->experiment, parameter);
    db_experiment moved;
    DB_TRY(db_experiment_copy(&c->context, c->experiment, &moved));
    double step = c->slope[k] > 0 ? fmin(typical, FIRST_STEP / c->slope[k]) : typical;
    for (int i = 0; i < MOST_HALVINGS && c->step[k] == 0; i++, step /= 2) {
        const int up = step_is_possible(c, &moved, parameter, value + step),
                  down = step_is_possible(c, &moved, parameter, value - step);
        c->sided[k] = up - down;
        if (up || down) c->step[k] = step;
    }
    db_experiment_clear(&moved);
    return DB_OK;
}

/* Notes for each pixel whether its nodes change between the start and the moved experiment. */
static db_status note_changes(work *w, int level) {
    DB_TRY(db_node_signature(w->signer, &w->moved, w->pixels->strip, w->pixels->strips,
                             w->moved_nodes));
    for (size_t i = 0; i < w->pixels->pixels; i++)
        if (w->moved_nodes[i] != w->nodes[i]) w->smooth_from[i] = (unsigned char)(level + 1);
    return DB_OK;
}

static db_status render_steps(work *w, double value, int level, long double *image) {
    db_check *const c = w->check;
    db_parameter_set(&w->moved, c->parameters[w->k], value);
    if (db_node_signature_matters(c->experiment)) DB_TRY(note_changes(w, level));
    return db_exact_image(&c->context, &w->moved, w->directions, w->pixels->strip,
                          w->pixels->strips, image);
}

static db_status difference_images(work *w) {
    db_check *const c = w->check;
    const double value = db_parameter_get(c->experiment, c->parameters[w->k]);
    const int side = c->sided[w->k];
    double step = c->step[w->k];
    w->kind = side ? DB_DIFFERENCE_ONE_SIDED : DB_DIFFERENCE_CENTRAL;
    if (db_node_signature_matters(c->experiment))
        DB_TRY(db_node_signature(w->signer, c->experiment, w->pixels->strip, w->pixels->strips,
                                 w->nodes));
    if (side) DB_TRY(render_steps(w, value, 0, w->below));
    for (int level = 0; level < DB_DIFFERENCE_LEVELS; level++, step /= DB_DIFFERENCE_RATIO) {
        const double above = value + (side ? side * step : step),
                     below = side ? value : value - step;
        DB_TRY(render_steps(w, above, level, w->above));
        if (!side) DB_TRY(render_steps(w, below, level, w->below));
        for (size_t i = 0; i < w->pixels->pixels; i++)
            w->difference[level][i] = (double)((w->above[i] - w->below[i]) / (above - below));
    }
    return DB_OK;
}

/* The oracle's value of the nth pixel of strip s. */
static double oracle_at(const work *w, size_t s, size_t n) {
    const size_t origin = w->pixels->origin ? w->pixels->origin[s] : w->pixels->strip[s].offset;
    return w->batch->oracle[w->k][origin + n];
}

static void compare_pixel(work *w, const db_table_entry entry[LAST_START + 1], size_t i,
                          double oracle) {
    db_check *const c = w->check;
    double own[DB_DIFFERENCE_LEVELS], error;
    if (w->smooth_from[i] > LAST_START) {
        c->excluded[w->k]++;
        return;
    }
    for (int level = 0; level < DB_DIFFERENCE_LEVELS; level++) own[level] = w->difference[level][i];
    const double slope = db_difference_extrapolate(w->kind, own, entry[w->smooth_from[i]], &error);
    c->compared[w->k]++;
    db_check_keep_worst(&c->difference[w->k], fabs(oracle - slope));
    db_check_keep_worst(&c->difference_error[w->k], error);
}

static void compare_with_differences(work *w) {
    db_table_entry entry[LAST_START + 1];
    for (int first = 0; first <= LAST_START; first++)
        entry[first] = db_difference_best_entry(w->kind, w->difference, w->smooth_from,
                                                w->pixels->pixels, first);
    for (size_t s = 0; s < w->pixels->strips; s++)
        for (size_t n = 0; n < w->pixels->strip[s].stride; n++)
            compare_pixel(w, entry, w->pixels->strip[s].offset + n, oracle_at(w, s, n));
}

/* The image itself. */
static db_status compare_image(work *w) {
    db_check *const c = w->check;
    DB_TRY(db_exact_image(&c->context, c->experiment, w->directions, w->pixels->strip,
                          w->pixels->strips, w->above));
    for (size_t s = 0; s < w->pixels->strips; s++)
        for (size_t n = 0; n < w->pixels->strip[s].stride; n++) {
            const long double exact = w->above[w->pixels->strip[s].offset + n];
            db_check_keep_worst(&c->difference[w->k], (double)fabsl(oracle_at(w, s, n) - exact));
            c->compared[w->k]++;
        }
    return DB_OK;
}

db_status db_check_differences(db_check *c, const db_check_batch *batch,
                               const db_check_pixels *pixels, size_t k) {
    work w = { .check = c, .batch = batch, .pixels = pixels, .k = k };
    if (k < c->count && c->step[k] == 0) return DB_OK;
    db_status status = prepare_differences(&w);
    if (status == DB_OK && k == c->count)
        status = compare_image(&w);
    else if (status == DB_OK) {
        status = difference_images(&w);
        if (status == DB_OK) compare_with_differences(&w);
    }
    release_differences(&w);
    return status;
}
