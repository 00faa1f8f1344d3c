/* The loss of several frames as a function of what they share. */
#include "fit/objective/frames.h"

#include "base/context_internal.h"
#include "base/threads.h"
#include "fit/objective/evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int *hkl_of(const db_part *part, const db_frame *frame) {
    return frame[part->frame].reflection[part->block].hkl;
}

/* A part and its reflection, to be sorted. */
typedef struct indexed {
    int hkl[3];
    db_part part;
} indexed;

static int by_reflection(const void *a, const void *b) {
    const indexed *const x = a;
    const indexed *const y = b;
    const int order = db_compare_hkl(x->hkl, y->hkl);
    if (order) return order;
    if (x->part.frame != y->part.frame) return x->part.frame < y->part.frame ? -1 : 1;
    return x->part.block < y->part.block ? -1 : x->part.block > y->part.block;
}

/* Neighbours in time: a crystal that turns far enough shows a reflection twice, as different spots,
 * whose intensities differ by what absorbs and decays. */
static int goes_on(const db_frame *frame, const db_part *last, const db_part *next) {
    return frame[next->frame].number <= frame[last->frame].number + 1;
}

static void sort_in(db_frames *f, const indexed *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        f->part[i] = list[i].part;
        if (i == 0 || db_compare_hkl(list[i].hkl, list[i - 1].hkl) != 0 ||
            !goes_on(f->frame, &list[i - 1].part, &list[i].part))
            f->first[f->reflections++] = i;
    }
    f->first[f->reflections] = count;
}

static db_status find_parts(db_frames *f) {
    size_t count = 0, at = 0;
    for (size_t k = 0; k < f->count; k++) count += f->frame[k].objective->blocks.count;
    indexed *const list = calloc(count + 1, sizeof *list);
    f->part = calloc(count + 1, sizeof *f->part);
    f->first = calloc(count + 1, sizeof *f->first);
    if (list && f->part && f->first) {
        for (size_t k = 0; k < f->count; k++)
            for (size_t b = 0; b < f->frame[k].objective->blocks.count; b++) {
                list[at].part = (db_part){ f->frame[k].objective, b, k };
                memcpy(list[at].hkl, hkl_of(&list[at].part, f->frame), sizeof list[at].hkl);
                at++;
            }
        qsort(list, count, sizeof *list, by_reflection);
        sort_in(f, list, count);
    }
    free(list);
    return f->part && f->first && at == count
               ? DB_OK
               : db_fail_memory(f->context, "the reflections of a series");
}

static db_status allocate(db_frames *f) {
    const size_t n = f->unknowns;
    f->gradient = calloc(n + 1, sizeof *f->gradient);
    f->normal = calloc(n * n + 1, sizeof *f->normal);
    f->scatter = calloc(n * n + 1, sizeof *f->scatter);
    f->frame_scatter = calloc(n * n + 1, sizeof *f->frame_scatter);
    f->work = calloc((f->count + 2) * n + DB_FIT_MOST_PARAMETERS, sizeof *f->work);
    return f->gradient && f->normal && f->scatter && f->frame_scatter && f->work
               ? DB_OK
               : db_fail_memory(f->context, "the sums of a series");
}

db_status db_frames_make(db_context *context, const db_frame *frame, size_t count, size_t unknowns,
                         db_frames *frames) {
    *frames = (db_frames){
        .context = context, .frame = frame, .count = count, .unknowns = unknowns, .fresh = 1
    };
    db_status status = find_parts(frames);
    if (status == DB_OK) status = allocate(frames);
    frames->degrees = -(double)(frames->reflections + unknowns);
    for (size_t k = 0; k < count; k++)
        frames->degrees +=
            frame[k].objective->degrees + (double)frame[k].objective->variables.count;
    if (status != DB_OK) db_frames_clear(frames);
    return status;
}

void db_frames_clear(db_frames *frames) {
    free(frames->first);
    free(frames->part);
    free(frames->gradient);
    free(frames->normal);
    free(frames->scatter);
    free(frames->frame_scatter);
    free(frames->work);
    memset(frames, 0, sizeof *frames);
}

double db_frames_intensities(const db_frames *frames, size_t frame) {
    double sum = 0;
    for (size_t r = 0; r < frames->reflections; r++)
        for (size_t i = frames->first[r]; i < frames->first[r + 1]; i++)
            if (frames->part[i].frame == frame)
                sum += 1 / (double)(frames->first[r + 1] - frames->first[r]);
    return sum;
}

static db_status render(db_frames *f, const double *value) {
    double own[DB_FIT_MOST_PARAMETERS];
    for (size_t k = 0; k < f->count; k++) {
        const db_frame *const frame = &f->frame[k];
        memset(own, 0, frame->objective->variables.count * sizeof *own);
        for (size_t l = 0; l < frame->link_count; l++)
            own[frame->link[l].variable] += frame->link[l].weight * value[frame->link[l].unknown];
        DB_TRY(db_objective_render(frame->objective, own,
                                   f->unknowns ? DB_OBJECTIVE_NORMAL : DB_OBJECTIVE_LOSS));
    }
    return DB_OK;
}

static void solve(db_frames *f) {
    const long count = (long)f->reflections;
#pragma omp parallel for schedule(dynamic, 4) num_threads(db_threads(f->context))
    for (long r = 0; r < count; r++)
        db_parts_solve(f->part + f->first[r], f->first[r + 1] - f->first[r]);
}

/* The other losses' iterations start where chi2 with weights from the data is least. */
static void solve_first(db_frames *f) {
    const db_loss_target target = f->frame[0].objective->loss_of.target;
    f->fresh = 0;
    if (target == DB_LOSS_WEIGHTED) return;
    for (size_t k = 0; k < f->count; k++) f->frame[k].objective->loss_of.target = DB_LOSS_WEIGHTED;
    solve(f);
    for (size_t k = 0; k < f->count; k++) f->frame[k].objective->loss_of.target = target;
}

/* Adds a frame's sums over its blocks. */
static void add_frame(db_frames *f, const db_frame *frame) {
    const db_objective *const o = frame->objective;
    const size_t n = f->unknowns, m = o->variables.count;
    f->loss += o->loss;
    for (size_t a = 0; a < frame->link_count; a++) {
        const db_frame_link *const x = &frame->link[a];
        f->gradient[x->unknown] += x->weight * o->gradient[x->variable];
        for (size_t b = 0; b < frame->link_count; b++) {
            const db_frame_link *const y = &frame->link[b];
            f->normal[x->unknown * n + y->unknown] +=
                x->weight * y->weight * o->normal[x->variable * m + y->variable];
        }
    }
}

/* Adds numbers by the variables of a part's block to those by the unknowns. */
static void add_by_unknown(const db_frames *f, const db_part *part, const double *by_place,
                           double *by_variable, double *sum) {
    const db_frame *const frame = &f->frame[part->frame];
    size_t list[DB_BLOCK_MOST];
    const size_t n = db_objective_block_variables(part->objective, part->block, list);
    memset(by_variable, 0, part->objective->variables.count * sizeof *by_variable);
    for (size_t k = 0; k < n; k++) by_variable[list[k]] = by_place[k];
    for (size_t l = 0; l < frame->link_count; l++)
        sum[frame->link[l].unknown] += frame->link[l].weight * by_variable[frame->link[l].variable];
}

/* Eliminates the intensity of a reflection. own: half of what is left of its gradient. */
static void eliminate(db_frames *f, size_t r, double *cross, double *own, double *by_variable) {
    const size_t n = f->unknowns;
    double gradient = 0, normal = 0;
    memset(cross, 0, n * sizeof *cross);
    memset(own, 0, n * sizeof *own);
    for (size_t i = f->first[r]; i < f->first[r + 1]; i++) {
        const db_part *const part = &f->part[i];
        size_t list[DB_BLOCK_MOST];
        const size_t m = db_objective_block_variables(part->objective, part->block, list);
        const double *const slope = db_objective_block_gradient(part->objective, part->block);
        const double *const row =
            db_objective_block_normal(part->objective, part->block) + m * (m + DB_LINEAR);
        gradient += slope[m];
        normal += row[m];
        add_by_unknown(f, part, row, by_variable, cross);
        add_by_unknown(f, part, slope, by_variable, own);
    }
    const db_part *const any = &f->part[f->first[r]];
    const int is_free = any->objective->solution[any->block].linear[0] > 0 && normal > 0;
    for (size_t k = 0; k < n && is_free; k++) {
        const double part = cross[k] / normal;
        own[k] -= part * gradient;
        f->gradient[k] -= part * gradient;
        for (size_t l = 0; l < n && fabs(part) > 0; l++) f->normal[k * n + l] -= part * cross[l];
    }
    if (is_free) f->loss -= 0.25 * gradient * gradient / normal;
    for (size_t k = 0; k < n; k++) own[k] *= 0.5;
}

static void add_products(const double *pull, size_t n, double *sum) {
    for (size_t k = 0; k < n; k++)
        for (size_t l = 0; l < n && fabs(pull[k]) > 0; l++) sum[k * n + l] += pull[k] * pull[l];
}

static void add_up(db_frames *f) {
    const size_t n = f->unknowns, matrix = n * n * sizeof *f->normal;
    double *const cross = f->work;
    double *const own = cross + n;
    double *const of_frame = own + n; /* [count][n] */
    double *const by_variable = of_frame + f->count * n;
    f->loss = 0;
    memset(f->gradient, 0, n * sizeof *f->gradient);
    memset(f->normal, 0, matrix);
    memset(f->scatter, 0, matrix);
    memset(f->frame_scatter, 0, matrix);
    memset(of_frame, 0, f->count * n * sizeof *of_frame);
    for (size_t k = 0; k < f->count; k++) add_frame(f, &f->frame[k]);
    for (size_t r = 0; r < f->reflections; r++) {
        eliminate(f, r, cross, own, by_variable);
        add_products(own, n, f->scatter);
        double *const sum = of_frame + f->part[f->first[r]].frame * n;
        for (size_t k = 0; k < n; k++) sum[k] += own[k];
    }
    for (size_t k = 0; k < f->count; k++) add_products(of_frame + k * n, n, f->frame_scatter);
}

db_status db_frames_evaluate(db_frames *frames, const double *value) {
    DB_TRY(render(frames, value));
    if (frames->fresh) solve_first(frames);
    solve(frames);
    for (size_t k = 0; k < frames->count && frames->unknowns; k++)
        DB_TRY(db_objective_derive(frames->frame[k].objective));
    if (frames->unknowns) add_up(frames);
    return DB_OK;
}
