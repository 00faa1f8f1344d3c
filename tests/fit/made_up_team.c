#define _POSIX_C_SOURCE 200809L
#include "fit/made_up_team.h"

#include <pthread.h>
#include <string.h>

/* One message at a time from each member to each other one: the sender waits until it is taken. */
typedef struct channel {
    const void *data; /* NULL: there is no message */
    size_t bytes;
} channel;

typedef struct table {
    int size;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    channel from_to[MOST_MEMBERS][MOST_MEMBERS];
    pthread_barrier_t barrier;
    uint64_t counter;
    int claims;
    void *data;
    void (*work)(void *user, const db_fit_team *team);
    void *user;
} table;

typedef struct member {
    table *at;
    int rank;
    team_traffic traffic;
} member;

static int send_to(void *user, int to, const void *data, size_t bytes) {
    member *const m = user;
    channel *const c = &m->at->from_to[m->rank][to];
    static const char nothing;
    pthread_mutex_lock(&m->at->mutex);
    *c = (channel){ data ? data : &nothing, bytes };
    pthread_cond_broadcast(&m->at->changed);
    while (c->data) pthread_cond_wait(&m->at->changed, &m->at->mutex);
    pthread_mutex_unlock(&m->at->mutex);
    m->traffic.messages++;
    m->traffic.bytes += bytes;
    return 0;
}

static int receive_from(void *user, int from, void *data, size_t bytes) {
    member *const m = user;
    channel *const c = &m->at->from_to[from][m->rank];
    pthread_mutex_lock(&m->at->mutex);
    while (!c->data) pthread_cond_wait(&m->at->changed, &m->at->mutex);
    const int fits = c->bytes == bytes;
    if (fits) memcpy(data, c->data, bytes);
    c->data = NULL;
    pthread_cond_broadcast(&m->at->changed);
    pthread_mutex_unlock(&m->at->mutex);
    m->traffic.received += bytes;
    return !fits;
}

static int claim(void *user, uint64_t add, uint64_t *before) {
    table *const t = ((member *)user)->at;
    pthread_mutex_lock(&t->mutex);
    *before = t->counter;
    t->counter += add;
    pthread_mutex_unlock(&t->mutex);
    return 0;
}

static int broadcast(void *user, void *data, size_t bytes) {
    const member *const m = user;
    table *const t = m->at;
    if (m->rank == 0) t->data = data;
    pthread_barrier_wait(&t->barrier);
    if (m->rank > 0) memcpy(data, t->data, bytes);
    pthread_barrier_wait(&t->barrier);
    return 0;
}

static void *run(void *user) {
    member *const m = user;
    const db_fit_team team = { .rank = m->rank,
                               .size = m->at->size,
                               .user = m,
                               .broadcast = broadcast,
                               .send = send_to,
                               .receive = receive_from,
                               .claim = m->at->claims ? claim : NULL };
    m->at->work(m->at->user, &team);
    return NULL;
}

void made_up_team_run(int size, int claims, void (*work)(void *user, const db_fit_team *team),
                      void *user, team_traffic *traffic) {
    table t = { .size = size, .claims = claims, .work = work, .user = user };
    pthread_t thread[MOST_MEMBERS];
    member list[MOST_MEMBERS];
    /* LLVM's OpenMP 14 under a tool's eyes takes the first thread that uses it for one that stays */
#pragma omp parallel num_threads(1)
    t.data = NULL;
    pthread_mutex_init(&t.mutex, NULL);
    pthread_cond_init(&t.changed, NULL);
    pthread_barrier_init(&t.barrier, NULL, (unsigned)size);
    for (int r = 0; r < size; r++) {
        list[r] = (member){ .at = &t, .rank = r };
        pthread_create(&thread[r], NULL, run, &list[r]);
    }
    for (int r = 0; r < size; r++) {
        pthread_join(thread[r], NULL);
        if (traffic) traffic[r] = list[r].traffic;
    }
    pthread_barrier_destroy(&t.barrier);
    pthread_cond_destroy(&t.changed);
    pthread_mutex_destroy(&t.mutex);
}
