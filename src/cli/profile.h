/* Times of one run: stages of the program and of the library, thread by thread. */
#ifndef DB_CLI_PROFILE_H
#define DB_CLI_PROFILE_H

#include <dualbragg/dualbragg.h>
#include <dualbragg/expert/stages.h>

#include <stdio.h>

/* A stage of one thread, or several short ones of one name in close succession. */
typedef struct db_profile_event {
    const char *name;  /* static storage */
    double begin, end; /* db_stopwatch */
    double busy;       /* s within stages: less than end - begin if several were joined */
    double inner;      /* s within inner stages */
    double pixels, samples;
    int depth; /* number of outer stages */
} db_profile_event;

enum { DB_PROFILE_DEEPEST = 16, DB_PROFILE_THREADS = 4096 };

/* Written only by its own thread; on separate cache lines. */
typedef struct db_profile_lane {
    _Alignas(64) db_profile_event *event;
    size_t count, capacity;
    size_t open[DB_PROFILE_DEEPEST]; /* open stages, outermost first */
    int depth;
    int incomplete; /* memory ran out, or stages were nested too deeply */
} db_profile_lane;

typedef struct db_profile {
    double begin, end;     /* start of the process; end of the record */
    db_profile_lane *lane; /* [DB_PROFILE_THREADS]; 0: the calling thread */
} db_profile;

/* NULL without memory. begin: db_stopwatch at the start of the process. */
db_profile *db_profile_create(double begin);
void db_profile_destroy(db_profile **profile);

/* A db_stage_function; user: the profile. */
void db_profile_stage(void *user, const db_stage *stage);

/* Adds a finished stage of the calling thread. */
void db_profile_add(db_profile *profile, const char *name, double begin, double end);

/* Writes the record as events for chrome://tracing and Perfetto. */
db_status db_profile_write_trace(const db_profile *profile, db_context *context, const char *path);

/* Prints the times of the calling thread until profile->end, the longest first. */
void db_profile_print_table(const db_profile *profile, FILE *out);

#endif
