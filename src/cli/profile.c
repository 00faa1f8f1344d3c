/* Recording: no locks, a thread writes to its own lane. */
#include "cli/profile.h"

#include "cli/stopwatch.h"

#include <stdlib.h>
#include <string.h>

/* Stages of one name are joined as long as together they take less, with shorter gaps (s). */
static const double LONGEST_JOINED = 1e-3, LONGEST_GAP = 50e-6;

db_profile *db_profile_create(double begin) {
    db_profile *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    const size_t bytes = DB_PROFILE_THREADS * sizeof *made->lane;
    made->begin = begin;
    made->lane = aligned_alloc(_Alignof(db_profile_lane), bytes);
    if (!made->lane) {
        free(made);
        return NULL;
    }
    memset(made->lane, 0, bytes);
    return made;
}

void db_profile_destroy(db_profile **profile) {
    if (!profile || !*profile) return;
    for (size_t i = 0; i < DB_PROFILE_THREADS; i++) free((*profile)->lane[i].event);
    free((*profile)->lane);
    free(*profile);
    *profile = NULL;
}

static db_profile_event *append(db_profile_lane *lane) {
    if (lane->count == lane->capacity) {
        const size_t capacity = lane->capacity ? 2 * lane->capacity : 64;
        db_profile_event *grown = realloc(lane->event, capacity * sizeof *grown);
        if (!grown) return NULL;
        lane->event = grown;
        lane->capacity = capacity;
    }
    db_profile_event *const made = &lane->event[lane->count++];
    memset(made, 0, sizeof *made);
    return made;
}

static void begin_stage(db_profile_lane *lane, const char *name, double now) {
    db_profile_event *const event =
        lane->incomplete || lane->depth == DB_PROFILE_DEEPEST ? NULL : append(lane);
    if (!event) {
        lane->incomplete = 1; /* from here on nothing fits together: stop recording */
        return;
    }
    event->name = name;
    event->begin = now;
    event->depth = lane->depth;
    lane->open[lane->depth++] = lane->count - 1;
}

/* The last stage is made one with its predecessor where both are short, simple and close. */
static void join_last(db_profile_lane *lane) {
    if (lane->count < 2) return;
    const db_profile_event *last = &lane->event[lane->count - 1];
    db_profile_event *const before = &lane->event[lane->count - 2];
    if (before->name != last->name || before->depth != last->depth || last->inner > 0 ||
        before->inner > 0 || last->begin - before->end > LONGEST_GAP ||
        last->end - before->begin > LONGEST_JOINED)
        return;
    before->end = last->end;
    before->busy += last->busy;
    before->pixels += last->pixels;
    before->samples += last->samples;
    lane->count--;
}

static void end_stage(db_profile_lane *lane, const db_stage *stage, double now) {
    if (lane->incomplete || lane->depth == 0) return;
    db_profile_event *const event = &lane->event[lane->open[--lane->depth]];
    event->end = now;
    event->busy = now - event->begin;
    event->pixels = stage->pixels;
    event->samples = stage->samples;
    if (lane->depth > 0) lane->event[lane->open[lane->depth - 1]].inner += event->busy;
    if (event == &lane->event[lane->count - 1]) join_last(lane);
}

void db_profile_stage(void *user, const db_stage *stage) {
    db_profile *const profile = user;
    const double now = db_stopwatch();
    if (stage->thread < 0 || stage->thread >= DB_PROFILE_THREADS) return;
    db_profile_lane *const lane = &profile->lane[stage->thread];
    if (stage->begins)
        begin_stage(lane, stage->name, now);
    else
        end_stage(lane, stage, now);
}

void db_profile_add(db_profile *profile, const char *name, double begin, double end) {
    db_profile_event *const event = append(&profile->lane[0]);
    if (!event) {
        profile->lane[0].incomplete = 1;
        return;
    }
    event->name = name;
    event->begin = begin;
    event->end = end;
    event->busy = end - begin;
}

void db_profile_end(db_profile *profile) { profile->end = db_stopwatch(); }
