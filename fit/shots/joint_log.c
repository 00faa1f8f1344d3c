#include "base/context_internal.h"
#include "fit/shots/checkpoint.h"

#include <stdlib.h>
#include <string.h>

size_t db_joint_point_size(const db_arrow_order *order) {
    return order->local + db_arrow_tail_size(order);
}

void db_joint_log_begin(db_joint_log *log, int stage, const db_arrow_order *order) {
    db_joint_log_clear(log);
    log->stage = stage;
    log->shared = order->shared;
    log->sums_size = db_arrow_sums_size(order->shared);
    log->point = db_joint_point_size(order);
}

static int grow(db_joint_log *log) {
    const size_t room = log->room ? 2 * log->room : 16;
    double *const at = realloc(log->at, (room * log->shared + 1) * sizeof *at);
    if (at) log->at = at;
    double *const sums = realloc(log->sums, room * log->sums_size * sizeof *sums);
    if (sums) log->sums = sums;
    int *const lost = realloc(log->lost, room * sizeof *lost);
    if (lost) log->lost = lost;
    if (at && sums && lost) log->room = room;
    return at && sums && lost;
}

db_status db_joint_log_add(db_context *context, db_joint_log *log, const double *at,
                           const double *sums, int lost) {
    if (log->count == log->room && !grow(log))
        return db_fail_memory(context, "what a joint stage has evaluated");
    memcpy(log->at + log->count * log->shared, at, log->shared * sizeof *at);
    memcpy(log->sums + log->count * log->sums_size, sums, log->sums_size * sizeof *sums);
    log->lost[log->count++] = lost;
    return DB_OK;
}

void db_joint_log_clear(db_joint_log *log) {
    free(log->at);
    free(log->sums);
    free(log->lost);
    free(log->points);
    *log = (db_joint_log){ .stage = -1 };
}
