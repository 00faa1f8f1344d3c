/* Batches: many experiments in one call. Each thread has a plan and renders whole shots. One more plan, of all threads
 * together, renders the remaining shots, and all shots on a device. */
#include "engine/device_plan.h"
#include "engine/plan_amplitudes.h"
#include "engine/plan_shown.h"

#include "base/given.h"
#include "base/threads.h"

#include <dualbragg/batch.h>
#include <dualbragg/expert/batch_stream.h>
#include <dualbragg/normal.h>

#include <stdlib.h>
#include <string.h>

typedef struct {
    db_context context; /* of one thread, for its messages */
    db_plan *plan;
} worker;

struct db_plan_batch {
    db_context *context;
    db_plan *plan; /* of all threads */
    worker *workers;
    int worker_count;
    /* gradients by structure factors of the shots of one round, and marks of the entries that a shot has
     * touched; both are 0 between rounds */
    double *room;
    uint64_t *marks;
    size_t room_shots, room_values;
};

/* Gradient of a shot by structure factors; values NULL: sums are not wanted. */
typedef struct shot_room {
    double *values; /* default_F follows the last */
    uint64_t *marks;
} shot_room;

/* One call. */
typedef struct batch_call {
    db_status (*work)(db_plan *plan, const struct batch_call *call, size_t shot,
                      const shot_room *room);
    const db_experiment *const *shots;
    size_t count;
    void *const *images;
    void *const *tangents;
    const void *const *cotangents;
    const void *const *data; /* numbers of `type` */
    const void *const *weights;
    db_pixel_type type;
    const db_plan_vector *vectors;
    const db_plan_vector *sums;
    double *chi2, *gradients, *curvatures;
} batch_call;

/* State that the threads of one call share. */
typedef struct {
    size_t done, failed; /* failed: first shot that failed; count: none */
    db_status status;
    int cancelled;
    char message[DB_MESSAGE_SIZE];
} batch_state;

/* Workers */

static void destroy_workers(db_plan_batch *b) {
    for (int i = 0; i < b->worker_count; i++) {
        db_plan_destroy(&b->workers[i].plan);
    }
    free(b->workers);
    b->workers = NULL;
    b->worker_count = 0;
}

static db_status create_worker(const db_plan_batch *b, worker *w) {
    const db_plan *plan = b->plan;
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    options.precision = plan->precision;
    options.pixel_type = plan->job.pixel_type;
    options.parameters = plan->parameters.list;
    options.parameter_count = plan->parameters.count;
    options.regions = plan->tiles.given;
    options.region_count = plan->tiles.given_count;
    options.tolerance = plan->tolerance;
    w->context = (db_context){ .threads = 1, .isa = b->context->isa, .device = { .name = "cpu" } };
    db_status status = db_plan_create(&w->context, &plan->experiment, &options, &w->plan);
    if (status == DB_OK) status = db_plan_amplitudes_share_as(plan, w->plan);
    if (status == DB_OK) return DB_OK;
    db_plan_destroy(&w->plan);
    db_record_message(b->context, "%s", w->context.message);
    return status;
}

/* Makes at least `count` workers. Contexts never move, because plans point to them. */
static db_status need_workers(db_plan_batch *b, int count) {
    if (count <= b->worker_count && b->workers[0].context.isa == b->context->isa) return DB_OK;
    destroy_workers(b);
    b->workers = calloc((size_t)count, sizeof *b->workers);
    if (!b->workers) return db_fail_memory(b->context, "the plans of a batch");
    for (; b->worker_count < count; b->worker_count++) {
        DB_TRY(create_worker(b, &b->workers[b->worker_count]));
    }
    return DB_OK;
}

/* Shots */

static db_status run_shot(db_plan *plan, const batch_call *call, size_t shot,
                          const shot_room *room) {
    db_experiment given = *call->shots[shot]; /* a copy; lists of the shot stay as they are */
    given.structure_factors = plan->experiment.structure_factors;
    DB_TRY(db_plan_update(plan, &given));
    return call->work(plan, call, shot, room);
}

/* Runs a shot in any thread. Thread 0, which started the work, reports the progress. */
static void run_one(const db_plan_batch *b, const batch_call *call, db_plan *plan, size_t shot,
                    const shot_room *room, batch_state *state) {
    int stop;
#pragma omp atomic read
    stop = state->cancelled;
    if (stop) return;
    const db_status status = run_shot(plan, call, shot, room);
    size_t done;
#pragma omp atomic capture
    done = ++state->done;
    if (status != DB_OK) {
#pragma omp critical(db_batch)
        if (shot < state->failed) {
            state->failed = shot;
            state->status = status;
            memcpy(state->message, plan->context->message, sizeof state->message);
        }
    }
    if (db_thread_number() != 0 || !b->context->progress) return;
    if (b->context->progress(b->context->progress_user, (double)done / (double)call->count)) {
#pragma omp atomic write
        state->cancelled = 1;
    }
}

/* Memory of the shot at a place of a round. */
static shot_room room_of(const db_plan_batch *b, const batch_call *call, size_t place) {
    const size_t values = b->room_values;
    if (!call->sums) return (shot_room){ NULL, NULL };
    return (shot_room){ b->room + place * (values + 1),
                        b->marks + place * db_amplitude_mark_words(values) };
}

/* Adds the gradients of a round's shots to the sums, and clears them. */
static void add_sums(const db_plan_batch *b, const batch_call *call, size_t shots) {
    for (size_t s = 0; call->sums && s < shots; s++) {
        const shot_room from = room_of(b, call, s);
        double *const by_default = &from.values[b->room_values];
        for (size_t word = 0; word < db_amplitude_mark_words(b->room_values); word++)
            while (from.marks[word]) {
                const size_t i = db_amplitude_take_mark(from.marks, word);
                call->sums->amplitudes[i] += from.values[i];
                from.values[i] = 0;
            }
        if (call->sums->default_F) *call->sums->default_F += *by_default;
        *by_default = 0;
    }
}

/* Runs shots [first, end); each thread takes one at a time. */
static void run_round(db_plan_batch *b, const batch_call *call, size_t first, size_t end,
                      int threads, batch_state *state) {
    const long begin = (long)first, stop = (long)end;
#if defined(_OPENMP)
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
#else
    (void)threads;
#endif
    for (long i = begin; i < stop; i++) {
        const shot_room room = room_of(b, call, (size_t)(i - begin));
        run_one(b, call, b->workers[db_thread_number()].plan, (size_t)i, &room, state);
    }
}

/* Runs a shot with all threads. It does not report its own progress, since progress counts shots. */
static void run_together(const db_plan_batch *b, const batch_call *call, size_t shot,
                         batch_state *state) {
    const db_progress_function progress = b->context->progress;
    b->context->progress = NULL;
    const shot_room room = room_of(b, call, 0);
    const db_status status = run_shot(b->plan, call, shot, &room);
    b->context->progress = progress;
    state->done++;
    if (status != DB_OK && shot < state->failed) {
        state->failed = shot;
        state->status = status;
        memcpy(state->message, b->context->message, sizeof state->message);
    }
    if (progress && progress(b->context->progress_user, (double)state->done / (double)call->count))
        state->cancelled = 1;
}

/* Frees the memory of sums; the next call allocates new memory, which is 0. */
static void forget_room(db_plan_batch *b) {
    free(b->room);
    free(b->marks);
    b->room = NULL;
    b->marks = NULL;
    b->room_shots = 0;
}

static db_status make_room(db_plan_batch *b, const batch_call *call, size_t shots) {
    const size_t values = db_plan_amplitude_values(b->plan);
    if (!call->sums || (shots <= b->room_shots && values == b->room_values)) return DB_OK;
    forget_room(b);
    b->room = calloc(shots * (values + 1), sizeof *b->room);
    b->marks = calloc(shots * db_amplitude_mark_words(values) + 1, sizeof *b->marks);
    if (!b->room || !b->marks) {
        forget_room(b);
        return db_fail_memory(b->context, "the gradients of a batch");
    }
    b->room_shots = shots;
    b->room_values = values;
    return DB_OK;
}

static void clear_sums(const db_plan_batch *b, const batch_call *call) {
    if (!call->sums) return;
    if (call->sums->amplitudes)
        memset(call->sums->amplitudes, 0,
               db_plan_amplitude_values(b->plan) * sizeof *call->sums->amplitudes);
    if (call->sums->default_F) *call->sums->default_F = 0;
}

/* Checks the caller's memory on behalf of the workers, whose plans have no device. */
static db_status check_memory(const db_plan_batch *b, const batch_call *call) {
    const void *const *const lists[] = { (const void *const *)call->images,
                                         (const void *const *)call->tangents, call->cotangents,
                                         call->data, call->weights };
    const db_device *const device = &b->plan->device.chosen;
    if (!device->left) return DB_OK;
    for (size_t s = 0; s < call->count; s++) {
        for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
            if (lists[i]) DB_TRY(db_device_check_left(b->context, device, lists[i][s]));
        if (call->vectors)
            DB_TRY(db_device_check_left(b->context, device, call->vectors[s].background));
    }
    return DB_OK;
}

static db_status run_batch(db_plan_batch *b, const batch_call *call) {
    const int threads = db_plan_on_device(b->plan) ? 1 : db_threads(b->context);
    const size_t at_once = (size_t)threads,
                 whole = threads == 1 ? 0 : call->count / at_once * at_once,
                 round = call->sums ? at_once : whole;
    batch_state state = { .failed = call->count };
    for (size_t i = 0; i < call->count; i++)
        if (!call->shots || !call->shots[i])
            return db_fail(b->context, DB_ERROR_USAGE,
                           "shot %zu: expected an experiment, found NULL", i);
    DB_TRY(check_memory(b, call));
    DB_TRY(make_room(b, call, whole ? at_once : 1));
    if (whole) DB_TRY(need_workers(b, threads));
    clear_sums(b, call);
    for (size_t first = 0; first < whole && state.failed == call->count && !state.cancelled;
         first += round) {
        run_round(b, call, first, first + round, threads, &state);
        add_sums(b, call, round);
    }
    for (size_t i = whole; i < call->count && state.failed == call->count && !state.cancelled;
         i++) {
        run_together(b, call, i, &state);
        add_sums(b, call, 1);
    }
    if (state.failed < call->count || state.cancelled) forget_room(b);
    if (state.failed < call->count)
        return db_fail(b->context, state.status, "shot %zu: %s", state.failed, state.message);
    if (state.cancelled && state.done < call->count)
        return db_fail(b->context, DB_ERROR_CANCELLED, "cancelled by the progress callback");
    return DB_OK;
}

/* Calls */

static db_status need_shots(const db_plan_batch *b, size_t count, const void *list,
                            const char *what) {
    if (list || count == 0) return DB_OK;
    return db_fail(b->context, DB_ERROR_USAGE, "batch: expected %s, found NULL", what);
}

static db_status need_images(const db_plan_batch *b, size_t count, const void *const *list,
                             const char *what) {
    DB_TRY(need_shots(b, count, list, what));
    for (size_t i = 0; i < count; i++)
        if (!list[i])
            return db_fail(b->context, DB_ERROR_USAGE, "shot %zu: expected %s, found NULL", i,
                           what);
    return DB_OK;
}

static db_status forward(db_plan *plan, const batch_call *call, size_t shot,
                         const shot_room *room) {
    (void)room;
    return db_plan_forward(plan, call->images[shot]);
}

db_status db_plan_batch_forward(db_plan_batch *b, const db_experiment *const *shots, size_t count,
                                void *const *images) {
    DB_TRY(need_images(b, count, (const void *const *)images, "room for an image"));
    const batch_call call = { .work = forward, .shots = shots, .count = count, .images = images };
    return run_batch(b, &call);
}

/* Copies the shot's own gradient into the sums' memory and marks all entries. */
static void mark_all(const shot_room *room, const double *amplitudes, size_t values) {
    memcpy(room->values, amplitudes, values * sizeof *room->values);
    for (size_t i = 0; i < values; i++) room->marks[i / 64] |= (uint64_t)1 << i % 64;
}

/* Gradients of a shot. If the caller wants this shot's gradient by structure factors, a copy of it is summed. */
static db_status vjp_of_shot(db_plan *plan, const batch_call *call, size_t shot,
                             const shot_room *room) {
    static const db_plan_vector nothing = DB_PLAN_VECTOR_INIT;
    db_plan_vector v = call->vectors ? call->vectors[shot] : nothing;
    const size_t values = db_plan_amplitude_values(plan);
    const int add = call->sums && call->sums->amplitudes,
              add_default = call->sums && call->sums->default_F, few = add && !v.amplitudes;
    if (few) {
        v.amplitudes = room->values;
        DB_TRY(db_plan_amplitudes_mark(plan, room->marks));
    }
    if (add_default && !v.default_F) v.default_F = room->values + values;
    const db_status status =
        db_plan_vjp(plan, call->cotangents[shot], call->images ? call->images[shot] : NULL, &v);
    if (few) DB_TRY(db_plan_amplitudes_mark(plan, NULL));
    DB_TRY(status);
    if (add && !few) mark_all(room, v.amplitudes, values);
    if (add_default) room->values[values] = *v.default_F;
    return DB_OK;
}

db_status db_plan_batch_vjp(db_plan_batch *b, const db_experiment *const *shots, size_t count,
                            const void *const *cotangents, void *const *images,
                            const db_plan_vector *gradients, const db_plan_vector *sums) {
    DB_TRY(need_images(b, count, cotangents, "a cotangent"));
    if (!gradients && !sums)
        return db_fail(b->context, DB_ERROR_USAGE,
                       "batch: expected room for gradients or for sums, found NULL for both");
    if (sums && sums->size != sizeof *sums)
        return db_fail(b->context, DB_ERROR_USAGE,
                       "sums: size is %zu, expected %zu (use DB_PLAN_VECTOR_INIT)", sums->size,
                       sizeof *sums);
    if (sums) DB_TRY(DB_NEED_ZEROS(b->context, "sums", sums));
    if (sums && (sums->parameters || sums->background))
        return db_fail(b->context, DB_ERROR_USAGE,
                       "sums: %s are each shot's own; expected NULL, and room in its gradients",
                       sums->parameters ? "parameters" : "backgrounds");
    const batch_call call = { .work = vjp_of_shot,
                              .shots = shots,
                              .count = count,
                              .cotangents = cotangents,
                              .images = images,
                              .vectors = gradients,
                              .sums = sums };
    return run_batch(b, &call);
}

static db_status jvp(db_plan *plan, const batch_call *call, size_t shot, const shot_room *room) {
    (void)room;
    return db_plan_jvp(plan, &call->vectors[shot], call->images[shot], call->tangents[shot]);
}

db_status db_plan_batch_jvp(db_plan_batch *b, const db_experiment *const *shots, size_t count,
                            const db_plan_vector *directions, void *const *images,
                            void *const *tangents) {
    DB_TRY(need_shots(b, count, directions, "directions"));
    DB_TRY(need_images(b, count, (const void *const *)images, "room for an image"));
    DB_TRY(need_images(b, count, (const void *const *)tangents, "room for a tangent"));
    const batch_call call = { .work = jvp,
                              .shots = shots,
                              .count = count,
                              .images = images,
                              .tangents = tangents,
                              .vectors = directions };
    return run_batch(b, &call);
}

static db_status normal_of_shot(db_plan *plan, const batch_call *call, size_t shot,
                                const shot_room *room) {
    const size_t parameters = plan->parameters.count;
    (void)room;
    return db_plan_normal(plan, call->type, call->data[shot],
                          call->weights ? call->weights[shot] : NULL, call->chi2 + shot,
                          call->gradients + shot * parameters,
                          call->curvatures + shot * parameters * parameters);
}

db_status db_plan_batch_normal(db_plan_batch *b, const db_experiment *const *shots, size_t count,
                               db_pixel_type type, const void *const *data,
                               const void *const *weights, double *chi2, double *gradients,
                               double *curvatures) {
    DB_TRY(need_images(b, count, data, "data"));
    DB_TRY(need_shots(b, count, chi2, "room for chi2"));
    DB_TRY(need_shots(b, count, gradients, "room for gradients"));
    DB_TRY(need_shots(b, count, curvatures, "room for curvatures"));
    const batch_call call = { .work = normal_of_shot,
                              .shots = shots,
                              .count = count,
                              .data = data,
                              .weights = weights,
                              .type = type,
                              .chi2 = chi2,
                              .gradients = gradients,
                              .curvatures = curvatures };
    return run_batch(b, &call);
}

/* The batch */

db_status db_plan_batch_create(db_context *context, const db_experiment *experiment,
                               const db_plan_options *options, db_plan_batch **batch) {
    *batch = NULL;
    db_plan_batch *made = calloc(1, sizeof *made);
    if (!made) return db_fail_memory(context, "a batch");
    made->context = context;
    db_status status = db_plan_create(context, experiment, options, &made->plan);
    if (status == DB_OK) {
        status = db_plan_need_all_reflections(made->plan, "a batch");
        if (status != DB_OK) db_plan_destroy(&made->plan);
    }
    if (status == DB_OK)
        *batch = made;
    else
        free(made);
    return status;
}

const db_plan *db_plan_batch_plan(const db_plan_batch *batch) { return batch->plan; }

db_status db_plan_batch_share_amplitudes(db_plan_batch *batch, const uint32_t *value,
                                         size_t count) {
    destroy_workers(batch);
    return db_plan_share_amplitudes(batch->plan, value, count);
}

db_status db_plan_batch_update(db_plan_batch *batch, const db_experiment *experiment) {
    DB_TRY(db_plan_update(batch->plan, experiment));
    for (int i = 0; i < batch->worker_count; i++) {
        worker *const own = &batch->workers[i];
        const db_status status = db_plan_update(own->plan, experiment);
        if (status != DB_OK) return db_fail(batch->context, status, "%s", own->context.message);
    }
    return DB_OK;
}

db_status db_plan_batch_set_stream(db_plan_batch *batch, db_stream_use use, void *stream) {
    return db_plan_set_stream(batch->plan, use, stream);
}

db_status db_plan_batch_wait(db_plan_batch *batch) { return db_plan_wait(batch->plan); }

void db_plan_batch_destroy(db_plan_batch **batch) {
    if (!batch || !*batch) return;
    destroy_workers(*batch);
    db_plan_destroy(&(*batch)->plan);
    forget_room(*batch);
    free(*batch);
    *batch = NULL;
}
