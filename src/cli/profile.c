#define _POSIX_C_SOURCE 200809L /* open_memstream */
/* Recording: no locks, a thread writes to its own lane. */
#include "cli/profile.h"

#include "cli/stopwatch.h"
#include "base/atomic_file.h"
#include "base/growth.h"

#include <dualbragg/expert/stages.h>

#include <stdlib.h>
#include <string.h>

/* Consecutive stages of one name are joined while their time and gaps are below these (s). */
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

static db_profile_event *append_event(db_profile_lane *lane) {
    db_profile_event *const grown =
        db_grown(lane->event, &lane->capacity, lane->count + 1, sizeof *grown);
    if (!grown) return NULL;
    lane->event = grown;
    db_profile_event *const made = &lane->event[lane->count++];
    memset(made, 0, sizeof *made);
    return made;
}

static void begin_stage(db_profile_lane *lane, const char *name, double now) {
    db_profile_event *const event =
        lane->incomplete || lane->depth == DB_PROFILE_DEEPEST ? NULL : append_event(lane);
    if (!event) {
        lane->incomplete = 1; /* nesting is lost: stop recording */
        return;
    }
    event->name = name;
    event->begin = now;
    event->depth = lane->depth;
    lane->open[lane->depth++] = lane->count - 1;
}

/* Joins the last stage to the one before if both are short, simple and close. */
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
    db_profile_event *const event = append_event(&profile->lane[0]);
    if (!event) {
        profile->lane[0].incomplete = 1;
        return;
    }
    event->name = name;
    event->begin = begin;
    event->end = end;
    event->busy = end - begin;
}

/* In the trace event format: complete events ("X"), times in microseconds. */
static void print_event(FILE *out, size_t thread, const db_profile *profile,
                        const db_profile_event *e) {
    fprintf(out, ",\n{\"name\":\"%s\",\"ph\":\"X\",\"pid\":1,\"tid\":%zu,\"ts\":%.3f,\"dur\":%.3f",
            e->name, thread, 1e6 * (e->begin - profile->begin), 1e6 * (e->end - e->begin));
    if (e->pixels > 0)
        fprintf(out, ",\"args\":{\"pixels\":%.0f,\"samples\":%.0f,\"busy_us\":%.3f}", e->pixels,
                e->samples, 1e6 * e->busy);
    fputc('}', out);
}

static void print_lane(FILE *out, size_t thread, const db_profile *profile) {
    const db_profile_lane *lane = &profile->lane[thread];
    if (lane->count)
        fprintf(out,
                ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":%zu,"
                "\"args\":{\"name\":\"thread %zu\"}}",
                thread, thread);
    for (size_t i = 0; i < lane->count; i++)
        if (lane->event[i].end > 0) print_event(out, thread, profile, &lane->event[i]);
}

static void print_trace(FILE *out, const db_profile *profile) {
    fprintf(out,
            "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"program\":\"dualbragg %s\"},\n"
            "\"traceEvents\":[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"tid\":0,"
            "\"args\":{\"name\":\"dualbragg\"}}",
            db_version());
    for (size_t t = 0; t < DB_PROFILE_THREADS; t++) print_lane(out, t, profile);
    fputs("\n]}\n", out);
}

db_status db_profile_write_trace(const db_profile *profile, db_context *context, const char *path) {
    char *text = NULL;
    size_t length = 0;
    FILE *const memory = open_memstream(&text, &length);
    if (!memory) return DB_ERROR_MEMORY;
    print_trace(memory, profile);
    const int complete = !ferror(memory);
    if (fclose(memory) != 0 || !complete) {
        free(text);
        return DB_ERROR_MEMORY;
    }
    const db_file_part part = { text, length };
    const db_status status = db_write_atomically(context, path, &part, 1);
    free(text);
    return status;
}

enum { MOST_NAMES = 64 };

typedef struct row {
    const char *name;
    double own;             /* s of the calling thread, without inner stages */
    double busy;            /* s of all threads, with inner stages */
    double pixels, samples; /* of all threads */
    size_t count;
} row;

static row *row_of(row *rows, size_t *count, const char *name) {
    for (size_t i = 0; i < *count; i++)
        if (strcmp(rows[i].name, name) == 0) return &rows[i];
    if (*count == MOST_NAMES) return NULL;
    rows[*count] = (row){ .name = name };
    return &rows[(*count)++];
}

static size_t collect_rows(const db_profile *profile, row *rows) {
    size_t count = 0;
    for (size_t t = 0; t < DB_PROFILE_THREADS; t++)
        for (size_t i = 0; i < profile->lane[t].count; i++) {
            const db_profile_event *e = &profile->lane[t].event[i];
            row *const r = row_of(rows, &count, e->name);
            if (!r || !(e->end > 0)) continue;
            if (t == 0) r->own += e->busy - e->inner;
            r->busy += e->busy;
            r->pixels += e->pixels;
            r->samples += e->samples;
            r->count++;
        }
    return count;
}

static int most_first(const void *a, const void *b) {
    const double x = ((const row *)a)->own, y = ((const row *)b)->own;
    return (x < y) - (x > y);
}

static size_t threads_of(const db_profile *profile) {
    size_t threads = 0;
    for (size_t t = 0; t < DB_PROFILE_THREADS; t++) threads += profile->lane[t].count > 0;
    return threads;
}

void db_profile_print_table(const db_profile *profile, FILE *out) {
    row rows[MOST_NAMES];
    const size_t count = collect_rows(profile, rows), threads = threads_of(profile);
    const double all = profile->end - profile->begin;
    double known = 0;
    int incomplete = 0;
    qsort(rows, count, sizeof *rows, most_first);
    for (size_t t = 0; t < DB_PROFILE_THREADS; t++) incomplete |= profile->lane[t].incomplete;
    fprintf(out, "%-20s %12s %8s %12s %12s\n", "stage", "time (ms)", "percent", "Mpixel/s",
            "Msample/s");
    for (size_t i = 0; i < count; i++) {
        const row *r = &rows[i];
        known += r->own;
        fprintf(out, "%-20s %12.3f %8.1f", r->name, 1e3 * r->own, 100 * r->own / all);
        if (r->pixels > 0 && r->busy > 0)
            fprintf(out, " %12.1f %12.1f", 1e-6 * r->pixels / r->busy, 1e-6 * r->samples / r->busy);
        fputc('\n', out);
    }
    fprintf(out, "%-20s %12.3f %8.1f\n", "other", 1e3 * (all - known), 100 * (all - known) / all);
    fprintf(
        out,
        "%-20s %12.3f %8.1f   times of the first of %zu thread%s; rates of kernel: per thread\n",
        "total", 1e3 * all, 100.0, threads, threads == 1 ? "" : "s");
    if (incomplete) fputs("the record is incomplete: memory ran out\n", out);
}
