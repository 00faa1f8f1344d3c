/* Where the time of a refinement goes: what a device does or could do, and the rest. */
#ifndef DB_BENCH_FIT_PARTS_H
#define DB_BENCH_FIT_PARTS_H

#include <dualbragg/expert/stages.h>
#include <dualbragg/fit.h>
#include <time.h>

/* RENDERING: on the processor, or on a device, there with the sums over shoeboxes that it makes. BOXES:
 * intensities of all predicted reflections. */
typedef enum db_bench_part {
    DB_BENCH_RENDERING,
    DB_BENCH_SPOTS,
    DB_BENCH_SUMS,
    DB_BENCH_SURROUNDINGS,
    DB_BENCH_BOXES,
    DB_BENCH_PARTS
} db_bench_part;

/* All zeros but for the clock: nothing has happened. Times in seconds, of the thread that calls the
 * library; what others do for it is within its own stages. */
typedef struct db_bench_clock {
    clockid_t id; /* CLOCK_MONOTONIC, or CLOCK_PROCESS_CPUTIME_ID: of all threads together */
    int depth;    /* of the stages that have begun */
    double begun, spent[DB_BENCH_PARTS];
    double first, last;             /* when the first evaluation ended, and the last */
    double until_first, until_last; /* spent in all parts until then */
} db_bench_clock;

double db_bench_seconds(clockid_t id);

/* In all parts. */
double db_bench_spent(const db_bench_clock *clock);

/* To be given to db_context_set_stages and db_fit_run, with the clock as their user. */
void db_bench_take_stage(void *clock, const db_stage *stage);
int db_bench_take_evaluation(void *clock, const db_fit_history *entry);

#endif
