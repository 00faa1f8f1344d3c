/* A plan's calls by way of its context's gang: what they would copy and start is kept in a ticket, which is
 * handed in where they would wait. */
#include "cuda/plan.h"

#include "base/gang.h"
#include "cuda/backend.h"
#include "cuda/gang.h"

#include <stdlib.h>
#include <string.h>

/* Larger pieces are copied on the plan's own stream. */
static const size_t MOST_PIECE_BYTES = (size_t)2 << 20;

static void empty(db_cuda_ticket *t) { t->sent_count = t->started_count = t->fetched_count = 0; }

static int is_empty(const db_cuda_ticket *t) {
    return !t->sent_count && !t->started_count && !t->fetched_count;
}

/* The context's, where it is one of this device; NULL: none. */
static db_device_gang *gang_of(const db_context *context, const db_device_plan *plan) {
    const db_gang *const g = context ? context->gang : NULL;
    const int own = g && g->backend == &db_cuda_backend && g->number == plan->number;
    return own && plan->stream == plan->own_stream && !plan->asynchronous ? g->own : NULL;
}

int db_cuda_has_gang(const db_context *context, const db_device_plan *plan) {
    return gang_of(context, plan) != NULL;
}

db_status db_cuda_open_ticket(db_context *context, db_device_plan *plan, int suits) {
    plan->gang = suits ? gang_of(context, plan) : NULL;
    if (plan->gang && !plan->ticket) plan->ticket = calloc(1, sizeof *plan->ticket);
    if (!plan->ticket) plan->gang = NULL;
    if (plan->gang) empty(plan->ticket);
    if (!plan->new_region_bytes) return DB_OK;
    DB_TRY(db_cuda_copy_there(context, plan, plan->regions.memory, plan->new_regions,
                              plan->new_region_bytes, "copying regions"));
    if (!plan->gang) plan->new_region_bytes = 0;
    return DB_OK;
}

static void keep(db_cuda_copied *list, size_t *count, void *to, const void *from, size_t bytes) {
    list[(*count)++] = (db_cuda_copied){ to, from, bytes };
}

static db_status copy(db_context *context, db_device_plan *plan, void *to, const void *from,
                      size_t bytes, int there, const char *what) {
    plan->apart = 1;
    return db_cuda_status(context, plan->number,
                          cudaMemcpyAsync(to, from, bytes,
                                          there ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost,
                                          plan->stream),
                          what);
}

db_status db_cuda_copy_there(db_context *context, db_device_plan *plan, void *to, const void *from,
                             size_t bytes, const char *what) {
    db_cuda_ticket *const t = plan->ticket;
    if (!plan->gang || bytes > MOST_PIECE_BYTES || t->sent_count == DB_CUDA_MOST_SENT)
        return copy(context, plan, to, from, bytes, 1, what);
    keep(t->sent, &t->sent_count, to, from, bytes);
    return DB_OK;
}

/* From now on the call works on the plan's own stream, beginning with what is in its ticket. */
static db_status go_alone(db_context *context, db_device_plan *plan) {
    db_cuda_ticket *const t = plan->ticket;
    plan->gang = NULL;
    for (size_t i = 0; i < t->sent_count; i++)
        DB_TRY(copy(context, plan, t->sent[i].to, t->sent[i].from, t->sent[i].bytes, 1,
                    "copying parameters"));
    for (size_t i = 0; i < t->started_count; i++) {
        db_cuda_started *const s = &t->started[i];
        DB_TRY(db_cuda_start(context, plan->number, plan->stream, s->kernel, s->arguments.blocks,
                             s->threads, s->bytes, &s->arguments));
    }
    for (size_t i = 0; i < t->fetched_count; i++)
        DB_TRY(copy(context, plan, t->fetched[i].to, t->fetched[i].from, t->fetched[i].bytes, 0,
                    "copying results"));
    empty(t);
    return DB_OK;
}

db_status db_cuda_launch(db_context *context, db_device_plan *plan, const void *kernel,
                         uint32_t blocks, uint32_t threads, size_t bytes,
                         const db_cuda_arguments *a) {
    db_cuda_ticket *const t = plan->ticket;
    if (plan->gang && (!db_cuda_kernel_of_many(kernel) || t->started_count == DB_CUDA_MOST_STARTED))
        DB_TRY(go_alone(context, plan));
    if (!plan->gang)
        return db_cuda_start(context, plan->number, plan->stream, kernel, blocks, threads, bytes,
                             a);
    db_cuda_started *const s = &t->started[t->started_count++];
    *s = (db_cuda_started){ kernel, threads, bytes, *a };
    s->arguments.blocks = blocks;
    return DB_OK;
}

db_status db_cuda_copy_back(db_context *context, db_device_plan *plan, void *to, const void *from,
                            size_t bytes, const char *what) {
    db_cuda_ticket *const t = plan->ticket;
    if (plan->gang && t->fetched_count == DB_CUDA_MOST_FETCHED) DB_TRY(go_alone(context, plan));
    if (!plan->gang) return copy(context, plan, to, from, bytes, 0, what);
    keep(t->fetched, &t->fetched_count, to, from, bytes);
    return DB_OK;
}

/* What was copied on the plan's own stream comes first. */
static db_status wait_for_own(db_context *context, db_device_plan *plan) {
    if (!plan->apart) return DB_OK;
    DB_CUDA_TRY(context, plan->number, cudaStreamSynchronize(plan->stream), "copying parameters");
    plan->apart = 0;
    return DB_OK;
}

db_status db_cuda_run_ticket(db_context *context, db_device_plan *plan) {
    db_cuda_ticket *const t = plan->ticket;
    DB_TRY(wait_for_own(context, plan));
    if (is_empty(t)) return DB_OK;
    DB_TRY(db_cuda_hand_in(context, plan->gang, t));
    for (size_t i = 0; i < t->fetched_count; i++)
        if (t->fetched[i].to) memcpy(t->fetched[i].to, t->result[i], t->fetched[i].bytes);
    plan->new_region_bytes = 0;
    return DB_OK;
}

void db_cuda_end_ticket(db_device_plan *plan) {
    if (!is_empty(plan->ticket)) db_cuda_give_back(plan->gang, plan->ticket);
    empty(plan->ticket);
}

void db_cuda_forget_ticket(db_device_plan *plan) {
    if (!plan->gang) return;
    empty(plan->ticket);
    for (size_t i = 0; i < plan->values.count; i++) plan->values.array[i].bytes = 0;
    plan->box_version = 0;
}

const void *db_cuda_result(const db_device_plan *plan, size_t number) {
    return plan->ticket->result[number];
}
