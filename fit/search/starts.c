/* Several starts: trials on a thread each, then all stages from the best. */
#include "fit/search/starts.h"

#include "base/context_internal.h"
#include "fit/search/moment_stage.h"
#include "fit/config/orientation.h"
#include "fit/objective/model_image.h"
#include "fit/objective/statistics.h"
#include "base/threads.h"
#include "fit/config/worker_context.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double ENOUGH = 0.5; /* of the strong pixels explained: later starts are left out */

static double fraction(double x) { return x - floor(x); }

void db_starts_turn(const db_fit_starts *starts, int number, double turn[3]) {
    static const double step[3] = { 0.81917251339616444, 0.67104360670378919, 0.54970047790197028 };
    static const double shift[3] = { 0.61803398874989485, 0.75487766624669276,
                                     0.56984029099805327 };
    double u[3];
    turn[0] = turn[1] = turn[2] = 0;
    if (number == 0) return;
    for (int i = 0; i < 3; i++) u[i] = fraction(starts->seed * shift[i] + number * step[i]);
    const double radius = starts->turn * cbrt(u[0]), z = 2 * u[1] - 1;
    const double across = sqrt(fmax(0, 1 - z * z)), angle = 2 * 3.14159265358979323846 * u[2];
    turn[0] = radius * across * cos(angle);
    turn[1] = radius * across * sin(angle);
    turn[2] = radius * z;
}

static db_status explained_by(db_refinement *r, double *explained) {
    const db_experiment *const model = &r->result->experiment;
    size_t strong, count;
    DB_TRY(db_statistics_strong_pixels(r->context, model, &r->data, &strong));
    DB_TRY(db_model_image(r->context, model, &r->data, &count, NULL));
    *explained = strong ? (double)count / (double)strong : 0;
    return DB_OK;
}

/* Parts that all trials share. */
typedef struct trials {
    const db_fit_data *data; /* with shortened stages */
    const db_experiment *start;
    const db_fit_course *course; /* history of the refinement, whose listener may cancel */
    db_foreign_search *find_foreign;
    db_fit_start *list;
    db_status *status;
    char (*message)[DB_FIT_WARNING_SIZE];
    size_t done;
    int cancelled;
} trials;

static int is_cancelled(void *user, const db_fit_history *entry) {
    const db_fit_course *const course = user;
    (void)entry; /* trials report nothing */
    return db_fit_course_tell(course, NULL);
}

static db_status try_start(db_refinement *r, const db_experiment *start, db_fit_start *trial) {
    db_stage_result end;
    DB_TRY(db_refinement_begin_apart(r, start));
    db_crystal *const crystal = &r->result->experiment.crystal;
    db_orientation_plus(crystal->orientation, trial->turn, crystal->orientation);
    DB_TRY(db_refinement_refuse_blank(r));
    DB_TRY(db_stage_run(r, 0, 1, &end));
    if (end.end == DB_STAGE_CANCELLED)
        return db_fail(r->context, DB_ERROR_CANCELLED, "%s", end.reason);
    trial->evaluations = (int)r->course.count;
    for (size_t i = 0; i < r->course.count; i++)
        trial->target = fmin(trial->target, r->course.history[i].target);
    return explained_by(r, &trial->explained);
}

static void run_trial(trials *all, db_context *context, size_t i) {
    db_refinement r = { .context = context,
                        .data = *all->data,
                        .find_foreign = all->find_foreign,
                        .course = { .progress = is_cancelled,
                                    .user = (void *)(uintptr_t)all->course } };
    all->status[i] = try_start(&r, all->start, &all->list[i]);
    if (all->status[i] == DB_ERROR_CANCELLED) {
#pragma omp atomic write
        all->cancelled = 1;
    }
    if (all->status[i] != DB_OK)
        snprintf(all->message[i], sizeof all->message[i], "%s", db_context_message(context));
    db_refinement_clear_apart(&r);
}

/* A start that predicts none of the observed spots counts as bad; this is an error only if all starts are bad. */
static db_status first_error(db_context *context, const trials *all, size_t count) {
    size_t good = 0;
    for (size_t i = 0; i < count; i++) {
        good += all->status[i] == DB_OK;
        if (all->status[i] != DB_OK && all->status[i] != DB_ERROR_INPUT)
            return db_fail(context, all->status[i], "start %zu: %s", i + 1, all->message[i]);
    }
    if (good) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT, "none of %zu starts is of any use; the given one: %s",
                   count, all->message[0]);
}

/* Counts a finished trial. The thread that started the work reports it, and the listener may cancel. */
static void report_trial(const db_context *context, trials *all, size_t count) {
    size_t done;
#pragma omp atomic capture
    done = ++all->done;
    if (!context->progress || db_thread_number() != 0) return;
    if (!context->progress(context->progress_user, (double)done / (double)count)) return;
#pragma omp atomic write
    all->cancelled = 1;
}

static db_status run_trials(db_context *context, trials *all, size_t count) {
    const int threads = db_threads_for(context, (long)count);
    db_context **worker;
    db_status status = db_worker_contexts_create(context, threads, 1, &worker);
    if (status == DB_OK) {
#pragma omp parallel for schedule(dynamic) num_threads(threads)
        for (long i = 0; i < (long)count; i++) {
            int stop;
#pragma omp atomic read
            stop = all->cancelled;
            if (stop) continue;
            run_trial(all, worker[db_thread_number()], (size_t)i);
            report_trial(context, all, count);
        }
        status = all->cancelled
                     ? db_fail(context, DB_ERROR_CANCELLED,
                               "cancelled while starts were tried: there is no model yet")
                     : first_error(context, all, count);
    }
    db_worker_contexts_destroy(&worker, threads);
    return status;
}

static int in_sequence(const db_fit_start *x, const db_fit_start *y) {
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Free intensities: each start has its own shoeboxes, so their targets cannot be compared. Equal
 * starts keep the order of the sequence. */
static int more_explained_first(const void *a, const void *b) {
    const db_fit_start *const x = a;
    const db_fit_start *const y = b;
    if (x->explained != y->explained) return x->explained < y->explained ? 1 : -1;
    return in_sequence(x, y);
}

/* Known intensities: all starts use the same pixels. (With too large a scale a start would explain
 * all strong pixels.) */
static int lower_target_first(const void *a, const void *b) {
    const db_fit_start *const x = a;
    const db_fit_start *const y = b;
    if (x->target != y->target) return x->target < y->target ? -1 : 1;
    return in_sequence(x, y);
}

static db_status try_all(db_refinement *r, const db_experiment *start) {
    const db_fit_starts *const starts = &r->data.settings->starts;
    const size_t count = (size_t)starts->count;
    db_fit_result *const result = r->result;
    db_fit_settings *const brief = malloc(sizeof *brief);
    trials all = { .start = start,
                   .course = &r->course,
                   .find_foreign = r->find_foreign,
                   .list = calloc(count, sizeof *all.list),
                   .status = calloc(count, sizeof *all.status),
                   .message = calloc(count, sizeof *all.message) };
    result->starts = all.list;
    db_status status =
        db_need_memory(r->context, brief && all.list && all.status && all.message, "the starts");
    if (status == DB_OK) {
        *brief = *r->data.settings;
        if (brief->stages[0].max_evaluations > starts->evaluations)
            brief->stages[0].max_evaluations = starts->evaluations;
        const db_fit_data data = { r->data.image, r->data.strong, brief };
        all.data = &data;
        for (size_t i = 0; i < count; i++) {
            db_starts_turn(starts, (int)i, all.list[i].turn);
            all.list[i].number = (int)i;
            all.list[i].target = INFINITY;
            all.list[i].refined_explained = NAN;
        }
        status = run_trials(r->context, &all, count);
        qsort(all.list, count, sizeof *all.list,
              brief->intensity == DB_FIT_KNOWN ? lower_target_first : more_explained_first);
        result->start_count = count;
    }
    free(brief);
    free(all.status);
    free(all.message);
    return status;
}

static db_status begin_again(db_refinement *r, const db_experiment *start) {
    db_experiment_clear(&r->result->experiment);
    db_panel_placement_clear(&r->placement);
    r->course.count = 0;
    r->result->trial_count = 0;
    return db_refinement_begin(r, start);
}

db_status db_stages_run(db_refinement *r, int from, int to, db_stage_result *end) {
    for (int s = from; s < to; s++) {
        DB_TRY(db_stage_run(r, s, to, end));
        if (end->end == DB_STAGE_DIVERGED || end->end == DB_STAGE_CANCELLED ||
            end->end == DB_STAGE_REFUSED)
            break;
    }
    return DB_OK;
}

/* asked: stages of each parameter as the settings ask for them; those before may not have earned some. */
static db_status run_from(db_refinement *r, const db_experiment *start, const db_fit_start *from,
                          const unsigned *asked, int stages, db_stage_result *end) {
    db_crystal *const crystal = &r->result->experiment.crystal;
    for (size_t i = 0; i < r->own->parameter_count; i++) r->own->parameters[i].stages = asked[i];
    DB_TRY(begin_again(r, start));
    db_orientation_plus(crystal->orientation, from->turn, crystal->orientation);
    return db_stages_run(r, 0, stages, end);
}

/* Runs the stages from the best starts, one after the other. */
static db_status run_best(db_refinement *r, const db_experiment *start, const unsigned *asked,
                          int stages, db_stage_result *end) {
    db_fit_result *const result = r->result;
    const size_t keep = (size_t)r->data.settings->starts.keep;
    size_t best = 0, last = 0;
    double most = -1;
    for (size_t i = 0; i < result->start_count && i < keep; i++) {
        db_fit_start *const from = &result->starts[i];
        const db_status status = run_from(r, start, from, asked, stages, end);
        last = i;
        if (status == DB_ERROR_INPUT) continue; /* the model predicts none of the spots any more */
        DB_TRY(status);
        DB_TRY(explained_by(r, &from->refined_explained));
        if (result->status == DB_ERROR_CANCELLED) {
            from->chosen = 1;
            return DB_OK;
        }
        const double explained = from->refined_explained - (result->status == DB_OK ? 0 : 1);
        if (explained > most) {
            most = explained;
            best = i;
        }
        if (explained >= ENOUGH) break;
    }
    result->starts[best].chosen = 1;
    return last == best && most > -1
               ? DB_OK
               : run_from(r, start, &result->starts[best], asked, stages, end);
}

db_status db_starts_run(db_refinement *r, const db_experiment *start, const unsigned *asked,
                        int stages, db_stage_result *end) {
    DB_TRY(try_all(r, start));
    return run_best(r, start, asked, stages, end);
}
