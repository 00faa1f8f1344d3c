#include "parts.h"

#include <dualbragg/expert/stages.h>

#include <string.h>

double db_bench_seconds(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double db_bench_spent(const db_bench_clock *clock) {
    double sum = 0;
    for (int i = 0; i < DB_BENCH_PARTS; i++) sum += clock->spent[i];
    return sum;
}

static db_bench_part part_of(const char *name) {
    if (strcmp(name, "sums") == 0) return DB_BENCH_SUMS;
    if (strcmp(name, "spots") == 0) return DB_BENCH_SPOTS;
    if (strcmp(name, "surroundings") == 0) return DB_BENCH_SURROUNDINGS;
    if (strcmp(name, "boxes") == 0) return DB_BENCH_BOXES;
    return DB_BENCH_RENDERING;
}

void db_bench_take_stage(void *user, const db_stage *stage) {
    db_bench_clock *const clock = user;
    if (stage->thread != 0) return;
    if (stage->begins) {
        if (clock->depth++ == 0) clock->begun = db_bench_seconds(clock->id);
        return;
    }
    if (--clock->depth > 0) return;
    clock->spent[part_of(stage->name)] += db_bench_seconds(clock->id) - clock->begun;
}

int db_bench_take_evaluation(void *user, const db_fit_history *entry) {
    db_bench_clock *const clock = user;
    (void)entry;
    clock->last = db_bench_seconds(clock->id);
    clock->until_last = db_bench_spent(clock);
    if (clock->first > 0) return 0;
    clock->first = clock->last;
    clock->until_first = clock->until_last;
    return 0;
}
