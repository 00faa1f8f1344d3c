/* Streams, events and memory that plans leave for later plans of their context. The driver needs milliseconds to
 * make them, and a refinement makes thousands of plans. */
#include "cuda/plan.h"

#include <stdlib.h>

enum { MOST_IDLE = 4 };
/* the most device memory that an idle plan keeps */
static const size_t MOST_BYTES = (size_t)1 << 30;

typedef struct pool {
    db_device_plan *idle[MOST_IDLE];
    int count;
} pool;

static void release_memory(db_device_plan *plan) {
    db_cuda_values_release(&plan->values);
    db_cuda_spots_release(&plan->made);
    db_cuda_release(&plan->regions);
    db_cuda_release(&plan->results);
    db_cuda_release(&plan->data);
    db_cuda_release(&plan->sums);
    db_cuda_release(&plan->slopes);
    db_cuda_release(&plan->tangent);
    db_cuda_release(&plan->box_images);
    db_cuda_release(&plan->box_data);
    db_cuda_release(&plan->box_values);
    db_cuda_release_locked(&plan->host_box_values);
    db_cuda_release_locked(&plan->staging);
    db_cuda_release_locked(&plan->host_sums);
}

/* Releases the memory of captured calls; it is freed when the GPU no longer uses it. */
static void release_graphs(db_device_plan *plan) {
    while (plan->of_graphs) {
        db_device_plan *const first = plan->of_graphs;
        plan->of_graphs = first->of_graphs;
        release_memory(first);
        free(first);
    }
}

static void release_plan(db_device_plan *plan) {
    if (plan->stream) (void)cudaStreamSynchronize(plan->stream);
    release_graphs(plan);
    release_memory(plan);
    for (int i = 0; i < 2; i++)
        if (plan->copied[i]) (void)cudaEventDestroy(plan->copied[i]);
    if (plan->turned) (void)cudaEventDestroy(plan->turned);
    for (int i = 0; i < DB_CUDA_BOXES; i++) {
        db_cuda_release_locked(&plan->box[i].memory);
        if (plan->box[i].sent) (void)cudaEventDestroy(plan->box[i].sent);
    }
    if (plan->own_stream) (void)cudaStreamDestroy(plan->own_stream);
    (void)cudaGetLastError();
    free(plan->span);
    free(plan);
}

void db_cuda_plan_release(db_device_plan *plan) {
    db_cuda_scope scope;
    const db_status status = db_cuda_enter(NULL, plan->number, &scope);
    release_plan(plan);
    if (status == DB_OK) db_cuda_leave(&scope);
}

static size_t bytes_of_plan(const db_device_plan *plan) {
    size_t bytes = plan->regions.bytes + plan->results.bytes + plan->data.bytes + plan->sums.bytes +
                   plan->values.device.bytes + plan->box_images.bytes + plan->box_data.bytes +
                   plan->box_values.bytes + plan->slopes.bytes + plan->tangent.bytes +
                   db_cuda_spots_bytes(&plan->made);
    for (size_t i = 0; i < plan->values.count; i++) bytes += plan->values.array[i].own.bytes;
    return bytes;
}

static void destroy_pool(void *memory) {
    pool *const own = memory;
    for (int i = 0; i < own->count; i++) db_cuda_plan_release(own->idle[i]);
    free(own);
}

/* The context's pool; NULL: there is none, or it belongs to another backend. */
static pool *pool_of(const db_context *context) {
    return context->pool_destroy == destroy_pool ? context->device_pool : NULL;
}

db_device_plan *db_cuda_pool_take(db_context *context, int number) {
    pool *const own = pool_of(context);
    for (int i = own ? own->count : 0; i-- > 0;) {
        db_device_plan *const plan = own->idle[i];
        if (plan->number != number) continue;
        own->idle[i] = own->idle[--own->count];
        return plan;
    }
    return NULL;
}

int db_cuda_pool_give(db_context *context, db_device_plan *plan) {
    if (!context->device_pool) {
        context->device_pool = calloc(1, sizeof(pool));
        context->pool_destroy = destroy_pool;
    }
    pool *const own = pool_of(context);
    if (!own || own->count == MOST_IDLE || plan->of_graphs || bytes_of_plan(plan) > MOST_BYTES)
        return 0;
    own->idle[own->count++] = plan;
    return 1;
}
