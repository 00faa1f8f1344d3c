/* What plans leave for later ones of their context: stream, events and memory. The driver takes
 * milliseconds to make them anew, a refinement makes thousands of plans. */
#include "cuda/backend.h"
#include "cuda/plan.h"

#include <stdlib.h>

enum { MOST_IDLE = 4 };
static const size_t MOST_BYTES = (size_t)1 << 30; /* of the device, that one of them keeps */

typedef struct pool {
    db_device_plan *idle[MOST_IDLE];
    int count;
} pool;

static size_t bytes_of(const db_device_plan *plan) {
    size_t bytes = plan->regions.bytes + plan->results.bytes + plan->data.bytes + plan->sums.bytes +
                   plan->values.device.bytes + plan->box_images.bytes + plan->box_data.bytes +
                   plan->box_values.bytes;
    for (size_t i = 0; i < plan->values.count; i++) bytes += plan->values.array[i].own.bytes;
    return bytes;
}

db_device_plan *db_cuda_pool_take(db_context *context, int number) {
    pool *const own = context->pool_backend == &db_cuda_backend ? context->device_pool : NULL;
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
        context->pool_backend = &db_cuda_backend;
    }
    pool *const own = context->pool_backend == &db_cuda_backend ? context->device_pool : NULL;
    if (!own || own->count == MOST_IDLE || bytes_of(plan) > MOST_BYTES) return 0;
    own->idle[own->count++] = plan;
    return 1;
}

void db_cuda_pool_destroy(void *memory) {
    pool *const own = memory;
    for (int i = 0; i < own->count; i++) db_cuda_plan_release(own->idle[i]);
    free(own);
}
