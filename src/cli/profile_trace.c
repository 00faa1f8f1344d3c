/* The record in the trace event format: complete events ("X"), times in microseconds. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "cli/profile.h"

#include "base/atomic_file.h"

#include <stdlib.h>

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
