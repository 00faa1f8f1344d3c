/* One call alone, to be looked at by a profiler. */
#ifndef DB_BENCH_SINGLE_CALL_H
#define DB_BENCH_SINGLE_CALL_H

#include "bench/options.h"

/* Does what --once says, by one db_plan_forward or db_plan_gradient. */
db_status db_bench_single_call(db_context *context, const db_bench_options *options);

#endif
