/* A gang: who waits, and when what has been handed in goes to the device. */
#define _POSIX_C_SOURCE 200809L
#include "cuda/gang.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One gathers while the other is under way. */
enum { SUBMISSIONS = 2 };

/* s; where for so long nobody has handed in anything or left, tickets wait no longer for threads that work: one of
 * these may wait for an owner of theirs, who holds something. */
enum { PATIENCE = 10 };

struct db_device_gang {
    int number;      /* of the device */
    int cores, jobs; /* that are to be kept busy; that are wanted in a launch */
    pthread_mutex_t lock;
    int running; /* threads that have joined and wait for no ticket */
    int waiting; /* tickets that are not under way */
    db_cuda_ticket *first;
    db_cuda_ticket **end; /* where the next one is hung */
    int under_way;        /* submissions */
    time_t moved;         /* when somebody last handed in something, left, or had it back (s) */
    db_cuda_submission submission[SUBMISSIONS];
};

static time_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

static db_cuda_submission *idle_one(db_device_gang *g) {
    for (int i = 0; i < SUBMISSIONS; i++)
        if (!g->submission[i].users) return &g->submission[i];
    return NULL;
}

/* With as many as are wanted; or, where cores stand still, with as many as there are, if the device stands
 * still, too. */
static int is_due(db_device_gang *g) {
    if (!g->waiting || !idle_one(g)) return 0;
    return g->waiting >= g->jobs || (g->running < g->cores && !g->under_way);
}

/* The owner of the oldest ticket looks again. */
static void wake_first(db_device_gang *g) {
    if (g->first && is_due(g)) pthread_cond_signal(&g->first->turn);
}

static void take_all(db_device_gang *g, db_cuda_submission *s) {
    s->first = g->first;
    s->users = (size_t)g->waiting;
    for (db_cuda_ticket *t = s->first; t; t = t->next) {
        t->submission = s;
        t->state = DB_CUDA_UNDER_WAY;
    }
    g->first = NULL;
    g->end = &g->first;
    g->waiting = 0;
    g->under_way++;
}

static void end_all(db_device_gang *g, db_cuda_submission *s, db_status status, const char *message,
                    const db_cuda_ticket *own) {
    g->under_way--;
    g->moved = now();
    for (db_cuda_ticket *t = s->first, *next; t; t = next) {
        next = t->next; /* of one that is done the owner disposes */
        t->status = status;
        if (status != DB_OK) snprintf(t->message, sizeof t->message, "%s", message);
        t->state = DB_CUDA_DONE;
        g->running++;
        if (t != own) pthread_cond_signal(&t->turn);
    }
    s->first = NULL;
}

/* By the owner of one of the tickets, who holds the lock. */
static void submit_all(db_context *context, db_device_gang *g, const db_cuda_ticket *own) {
    db_cuda_submission *const s = idle_one(g);
    take_all(g, s);
    pthread_mutex_unlock(&g->lock);
    const db_status status = db_cuda_submit(context, g->number, s);
    pthread_mutex_lock(&g->lock);
    end_all(g, s, status, status == DB_OK ? "" : context->message, own);
    wake_first(g);
}

/* 0: the time is over. */
static int wait_for_turn(db_device_gang *g, db_cuda_ticket *ticket, const struct timespec *until) {
    return pthread_cond_timedwait(&ticket->turn, &g->lock, until) == 0;
}

static struct timespec patience_ends(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += PATIENCE;
    return t;
}

db_status db_cuda_hand_in(db_context *context, db_device_gang *g, db_cuda_ticket *ticket) {
    struct timespec until = patience_ends();
    pthread_cond_init(&ticket->turn, NULL);
    ticket->next = NULL;
    ticket->state = DB_CUDA_WAITS;
    pthread_mutex_lock(&g->lock);
    *g->end = ticket;
    g->end = &ticket->next;
    g->waiting++;
    g->running--;
    g->moved = now();
    while (ticket->state != DB_CUDA_DONE) {
        const int waits = ticket->state == DB_CUDA_WAITS;
        if (waits && is_due(g)) {
            submit_all(context, g, ticket);
        } else if (!wait_for_turn(g, ticket, &until)) {
            until = patience_ends();
            if (ticket->state == DB_CUDA_WAITS && idle_one(g) && now() - g->moved >= PATIENCE)
                submit_all(context, g, ticket);
        }
    }
    pthread_mutex_unlock(&g->lock);
    pthread_cond_destroy(&ticket->turn);
    if (ticket->status == DB_OK) return DB_OK;
    const db_status status = ticket->status;
    db_record_message(context, "%s", ticket->message);
    db_cuda_give_back(g, ticket);
    return status;
}

void db_cuda_give_back(db_device_gang *g, db_cuda_ticket *ticket) {
    pthread_mutex_lock(&g->lock);
    ticket->submission->users--;
    wake_first(g);
    pthread_mutex_unlock(&g->lock);
}

void db_cuda_gang_join(db_device_gang *g, int threads) {
    pthread_mutex_lock(&g->lock);
    g->running += threads;
    pthread_mutex_unlock(&g->lock);
}

void db_cuda_gang_leave(db_device_gang *g, int threads) {
    pthread_mutex_lock(&g->lock);
    g->running -= threads;
    g->moved = now();
    wake_first(g);
    pthread_mutex_unlock(&g->lock);
}

static db_status prepare(db_context *context, db_device_gang *g) {
    for (int i = 0; i < SUBMISSIONS; i++) {
        db_cuda_submission *const s = &g->submission[i];
        DB_CUDA_TRY(context, g->number,
                    cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking),
                    "creating a stream");
        /* who waits for it sleeps */
        DB_CUDA_TRY(
            context, g->number,
            cudaEventCreateWithFlags(&s->done, cudaEventBlockingSync | cudaEventDisableTiming),
            "creating an event");
    }
    return DB_OK;
}

static void release(db_device_gang *g) {
    for (int i = 0; i < SUBMISSIONS; i++) {
        db_cuda_submission *const s = &g->submission[i];
        db_cuda_release(&s->device);
        db_cuda_release_locked(&s->host);
        if (s->done) (void)cudaEventDestroy(s->done);
        if (s->stream) (void)cudaStreamDestroy(s->stream);
    }
    (void)cudaGetLastError();
}

void db_cuda_gang_destroy(db_device_gang *g) {
    db_cuda_scope scope;
    const db_status status = db_cuda_enter(NULL, g->number, &scope);
    release(g);
    if (status == DB_OK) db_cuda_leave(&scope);
    pthread_mutex_destroy(&g->lock);
    free(g);
}

db_status db_cuda_gang_create(db_context *context, int number, int cores, int jobs,
                              db_device_gang **gang) {
    db_cuda_scope scope;
    *gang = NULL;
    db_device_gang *const made = calloc(1, sizeof *made);
    if (!made) return db_fail_memory(context, "what threads hand in together");
    made->number = number;
    made->cores = cores;
    made->jobs = jobs;
    made->end = &made->first;
    pthread_mutex_init(&made->lock, NULL);
    db_status status = db_cuda_enter(context, number, &scope);
    if (status == DB_OK) {
        status = prepare(context, made);
        db_cuda_leave(&scope);
    }
    if (status == DB_OK)
        *gang = made;
    else
        db_cuda_gang_destroy(made);
    return status;
}
