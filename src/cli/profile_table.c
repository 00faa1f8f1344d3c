/* Where the time went, as a table. */
#include "cli/profile.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 64 };

typedef struct row {
    const char *name;
    double own;             /* s of the calling thread, without stages inside */
    double busy;            /* s of all threads, with them */
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

static size_t collect(const db_profile *profile, row *rows) {
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
    const size_t count = collect(profile, rows), threads = threads_of(profile);
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
