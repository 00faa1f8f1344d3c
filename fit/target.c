#include "fit/target.h"

#include "core/context_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(_OPENMP)
#include <omp.h>
#endif

enum { CHUNK_PIXELS = 4096 };

/* Rows of one block: what one thread sums up at a time. The sums of a block's chunks are added in
 * order, so that the result does not depend on the number of threads. */
typedef struct chunk {
    size_t block;
    int row_begin, row_end;
    db_varpro_sums sums;
} chunk;

struct db_target_work {
    db_plan *plan;
    db_experiment rendered;                     /* blurred */
    size_t columns;                             /* derivative images */
    db_parameter parameter[DB_PARAMETER_COUNT]; /* of each: the refined ones, then the followers */
    size_t leader[DB_PARAMETER_COUNT];          /* refined parameter that each belongs to */
    float *derivative[DB_PARAMETER_COUNT];
    chunk *chunks;
    size_t chunk_count;
    size_t *first; /* [blocks]: first chunk of each */
    double *sums;  /* arrays of the chunks' sums */
};

db_status db_target_unit_amplitudes(db_context *context, const db_experiment *experiment,
                                    db_experiment *copy) {
    DB_TRY(db_experiment_copy(context, experiment, copy));
    free(copy->structure_factors.amplitude);
    copy->structure_factors = (db_structure_factors){ .default_F = 1 };
    copy->beam.fluence = DB_DEFAULT_FLUENCE;
    copy->beam.scale = 1;
    return DB_OK;
}

static int is_cell_count(db_parameter p) {
    return p == DB_CELLS_A || p == DB_CELLS_B || p == DB_CELLS_C;
}

/* Smaller crystals have wider spots; none is smaller than one cell. */
static void blur_cells(const db_experiment *sharp, double blur, db_experiment *rendered) {
    for (int i = 0; i < 3; i++)
        rendered->crystal.cells[i] = fmax(1, sharp->crystal.cells[i] / blur);
}

static double blur_slope(const db_target *target, db_parameter p) {
    if (!is_cell_count(p)) return 1;
    return db_parameter_get(&target->experiment, p) > target->blur ? 1 / target->blur : 0;
}

static void list_parameters(const unsigned char *active, db_target *target) {
    const db_fit_settings *const settings = target->settings;
    struct db_target_work *const work = target->work;
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        if (p->follows >= 0 || !active[p->parameter]) continue;
        work->parameter[target->count] = p->parameter;
        work->leader[target->count] = target->count;
        target->index[target->count++] = i;
    }
    work->columns = target->count;
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        for (size_t k = 0; k < target->count && p->follows >= 0; k++) {
            if (work->parameter[k] != (db_parameter)p->follows) continue;
            work->leader[work->columns] = k;
            work->parameter[work->columns++] = p->parameter;
            break;
        }
    }
}

static int rows_per_chunk(const db_region *region) {
    const int rows = CHUNK_PIXELS / region->fast_count;
    return rows < 1 ? 1 : rows > region->slow_count ? region->slow_count : rows;
}

static db_status cut_chunks(db_target *target) {
    struct db_target_work *const work = target->work;
    for (size_t b = 0; b < target->blocks.count; b++) {
        const db_region *const r = &target->blocks.region[b];
        const int rows = rows_per_chunk(r);
        work->chunk_count += (size_t)((r->slow_count + rows - 1) / rows);
    }
    const size_t room = db_varpro_sums_room(target->count);
    work->chunks = calloc(work->chunk_count + 1, sizeof *work->chunks);
    work->sums = calloc(work->chunk_count * room + 1, sizeof *work->sums);
    work->first = calloc(target->blocks.count + 1, sizeof *work->first);
    if (!work->chunks || !work->sums || !work->first)
        return db_fail_memory(target->context, "the sums of the target");
    size_t c = 0;
    for (size_t b = 0; b < target->blocks.count; b++) {
        const db_region *const r = &target->blocks.region[b];
        const int rows = rows_per_chunk(r);
        work->first[b] = c;
        for (int row = 0; row < r->slow_count; row += rows, c++) {
            const int end = r->slow_count - row < rows ? r->slow_count : row + rows;
            work->chunks[c] = (chunk){ .block = b, .row_begin = row, .row_end = end };
            db_varpro_sums_init(&work->chunks[c].sums, target->count, work->sums + c * room);
        }
    }
    return DB_OK;
}

/* Rows of a block as an argument of the sums; coordinates count from the block's centre. */
static db_varpro_pixels rows_of(const db_target *target, const chunk *c) {
    const db_region *const r = &target->blocks.region[c->block];
    return (db_varpro_pixels){ .value = target->blocks.value,
                               .weight = target->blocks.weight,
                               .shape = target->shape,
                               .derivative = target->work->derivative,
                               .offset = r->offset + (size_t)c->row_begin * r->stride,
                               .stride = r->stride,
                               .fast_count = r->fast_count,
                               .slow_count = c->row_end - c->row_begin,
                               .fast_start = -0.5 * (r->fast_count - 1),
                               .slow_start = c->row_begin - 0.5 * (r->slow_count - 1) };
}

static void count_degrees(db_target *target) {
    const db_fit_blocks *const blocks = &target->blocks;
    for (size_t b = 0; b < blocks->count; b++) {
        const db_region *const r = &blocks->region[b];
        for (int s = 0; s < r->slow_count; s++)
            for (int f = 0; f < r->fast_count; f++)
                target->pixels_used +=
                    blocks->weight[r->offset + (size_t)s * r->stride + (size_t)f] > 0;
    }
    const size_t each = target->rule == DB_INTENSITY_EACH ? DB_LINEAR : DB_LINEAR - 1;
    target->degrees = (double)target->pixels_used - (double)(each * blocks->count) -
                      (target->rule == DB_INTENSITY_SHARED) - (double)target->count;
}

static db_status make_plan(db_target *target) {
    struct db_target_work *const work = target->work;
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    options.precision = target->settings->precision;
    options.parameters = work->parameter;
    options.parameter_count = work->columns;
    options.regions = target->blocks.region;
    options.region_count = target->blocks.count;
    DB_TRY(db_plan_create(target->context, &work->rendered, &options, &work->plan));
    const size_t pixels = db_plan_pixels(work->plan);
    target->shape = calloc(pixels + 1, sizeof *target->shape);
    target->solution = calloc(target->blocks.count + 1, sizeof *target->solution);
    target->normal = calloc(target->count * target->count + 1, sizeof *target->normal);
    if (!target->shape || !target->solution || !target->normal)
        return db_fail_memory(target->context, "the image of the target");
    for (size_t k = 0; k < work->columns; k++) {
        work->derivative[k] = calloc(pixels + 1, sizeof *work->derivative[k]);
        if (!work->derivative[k])
            return db_fail_memory(target->context, "the derivative images of the target");
    }
    return DB_OK;
}

static db_status build(db_target *target, const db_experiment *experiment,
                       const unsigned char *active) {
    target->work = calloc(1, sizeof *target->work);
    if (!target->work) return db_fail_memory(target->context, "the target");
    DB_TRY(target->settings->intensity == DB_FIT_FREE
               ? db_target_unit_amplitudes(target->context, experiment, &target->experiment)
               : db_experiment_copy(target->context, experiment, &target->experiment));
    DB_TRY(db_experiment_copy(target->context, &target->experiment, &target->work->rendered));
    blur_cells(&target->experiment, target->blur, &target->work->rendered);
    list_parameters(active, target);
    count_degrees(target);
    DB_TRY(make_plan(target));
    return cut_chunks(target);
}

static int refines_scale(const db_fit_settings *settings) {
    for (size_t i = 0; i < settings->parameter_count; i++)
        if (settings->parameters[i].parameter == DB_SCALE) return 1;
    return 0;
}

db_status db_target_create(db_context *context, const db_experiment *experiment,
                           const db_fit_settings *settings, const db_fit_blocks *blocks,
                           const unsigned char *active, double blur, db_target *target) {
    memset(target, 0, sizeof *target);
    target->context = context;
    target->settings = settings;
    target->blocks = *blocks;
    target->blur = blur;
    target->rule = settings->intensity == DB_FIT_FREE ? DB_INTENSITY_EACH
                   : refines_scale(settings)          ? DB_INTENSITY_ONE
                                                      : DB_INTENSITY_SHARED;
    const db_status status = build(target, experiment, active);
    if (status != DB_OK) db_target_destroy(target);
    return status;
}

void db_target_destroy(db_target *target) {
    struct db_target_work *const work = target->work;
    if (work) {
        db_plan_destroy(&work->plan);
        db_experiment_clear(&work->rendered);
        for (size_t k = 0; k < work->columns; k++) free(work->derivative[k]);
        free(work->chunks);
        free(work->first);
        free(work->sums);
        free(work);
    }
    db_experiment_clear(&target->experiment);
    free(target->shape);
    free(target->solution);
    free(target->normal);
    memset(target, 0, sizeof *target);
}

void db_target_set(const db_target *target, const double *values, db_experiment *experiment) {
    for (size_t k = 0; k < target->work->columns; k++)
        db_parameter_set(experiment, target->work->parameter[k], values[target->work->leader[k]]);
}

/* Adds followers' derivative images to their leaders', and applies the chain rule of the blur,
 * within the rows of a chunk. */
static void tie_derivatives(const db_target *target, const chunk *c) {
    const struct db_target_work *const work = target->work;
    const db_region *const r = &target->blocks.region[c->block];
    for (size_t k = 0; k < work->columns; k++) {
        const float slope = (float)blur_slope(target, work->parameter[k]);
        float *const from = work->derivative[k], *const to = work->derivative[work->leader[k]];
        if (from == to && slope == 1.0F) continue;
        for (int s = c->row_begin; s < c->row_end; s++) {
            const size_t row = r->offset + (size_t)s * r->stride;
            for (size_t i = row; i < row + (size_t)r->fast_count; i++)
                to[i] = (from == to ? 0 : to[i]) + slope * from[i];
        }
    }
}

static int thread_count(const db_target *target) {
#if defined(_OPENMP)
    const int wanted = db_context_threads(target->context);
    return wanted > 0 ? wanted : omp_get_max_threads();
#else
    (void)target;
    return 1;
#endif
}

/* Sums of a chunk with n parameters (0: value only). */
static void sum_chunk(const db_target *target, chunk *c, size_t parameters, int with_normal) {
    c->sums.parameters = parameters;
    db_varpro_sums_zero(&c->sums);
    if (parameters) tie_derivatives(target, c);
    const db_varpro_pixels pixels = rows_of(target, c);
    db_varpro_accumulate(&c->sums, &pixels, with_normal);
}

static void sum_chunks(db_target *target, db_target_depth depth) {
    struct db_target_work *const work = target->work;
    const long count = (long)work->chunk_count;
    const size_t parameters = depth == DB_TARGET_VALUE ? 0 : target->count;
    const int threads = thread_count(target);
    (void)threads;
#if defined(_OPENMP)
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads)
#endif
    for (long c = 0; c < count; c++)
        sum_chunk(target, &work->chunks[c], parameters, depth == DB_TARGET_NORMAL);
}

/* Sums of a whole block, in its first chunk. */
static db_varpro_sums *sums_of_block(db_target *target, size_t block) {
    return &target->work->chunks[target->work->first[block]].sums;
}

static void add_up_blocks(db_target *target) {
    struct db_target_work *const work = target->work;
    for (size_t b = 0; b < target->blocks.count; b++)
        for (size_t c = work->first[b] + 1; c < work->chunk_count && work->chunks[c].block == b;
             c++)
            db_varpro_sums_add(sums_of_block(target, b), &work->chunks[c].sums);
}

/* Eliminates the linear coefficients of every block, in order. */
static void eliminate(db_target *target, db_target_depth depth) {
    const db_fit_blocks *const blocks = &target->blocks;
    double *const gradient = depth == DB_TARGET_VALUE ? NULL : target->gradient;
    double *const normal = depth == DB_TARGET_NORMAL ? target->normal : NULL;
    db_varpro_shared shared = { 0 };
    double intensity = 1;
    target->chi2 = 0;
    memset(target->gradient, 0, sizeof target->gradient);
    memset(target->normal, 0, target->count * target->count * sizeof *target->normal);
    if (target->rule == DB_INTENSITY_SHARED) {
        for (size_t b = 0; b < blocks->count; b++)
            db_varpro_share(sums_of_block(target, b), &shared);
        intensity = shared.denominator > 0 ? fmax(0, shared.numerator / shared.denominator) : 0;
    }
    for (size_t b = 0; b < blocks->count; b++) {
        if (target->rule == DB_INTENSITY_EACH)
            db_varpro_solve(sums_of_block(target, b), blocks->ridge ? blocks->ridge[b] : 0,
                            &target->solution[b], gradient, normal);
        else
            db_varpro_solve_plane(sums_of_block(target, b), intensity, &target->solution[b],
                                  gradient, normal);
        target->chi2 += target->solution[b].target;
    }
    if (normal && target->rule == DB_INTENSITY_SHARED)
        db_varpro_project_shared(&shared, intensity, target->count, normal);
}

db_status db_target_evaluate(db_target *target, const double *values, db_target_depth depth) {
    struct db_target_work *const work = target->work;
    db_target_set(target, values, &target->experiment);
    db_target_set(target, values, &work->rendered);
    blur_cells(&target->experiment, target->blur, &work->rendered);
    DB_TRY(db_plan_update(work->plan, &work->rendered));
    if (depth == DB_TARGET_VALUE || target->count == 0)
        DB_TRY(db_plan_forward(work->plan, target->shape));
    else
        DB_TRY(db_plan_gradient(work->plan, target->shape, (void *const *)work->derivative));
    sum_chunks(target, depth);
    add_up_blocks(target);
    eliminate(target, depth);
    return DB_OK;
}
