/* Tickets of many threads in one go: what is sent lies behind the lists of pieces and the jobs' arguments in
 * one piece of memory, what comes back behind that. */
#include "cuda/gang.h"
#include "cuda/plan.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 256 };

static size_t aligned(size_t bytes) { return (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1); }

/* Bytes from the beginning of the memory, and how many pieces and jobs there are. */
typedef struct {
    size_t to_spread, to_gather, jobs, sent, fetched, end;
    size_t spread_count, gather_count, job_count;
} layout;

static size_t pieces_of(size_t bytes) {
    return (bytes + DB_CUDA_PART_BYTES - 1) / DB_CUDA_PART_BYTES;
}

static layout layout_of(const db_cuda_submission *s) {
    layout l = { 0 };
    size_t sent = 0, fetched = 0;
    for (const db_cuda_ticket *t = s->first; t; t = t->next) {
        for (size_t i = 0; i < t->sent_count; i++) {
            l.spread_count += pieces_of(t->sent[i].bytes);
            sent += aligned(t->sent[i].bytes);
        }
        for (size_t i = 0; i < t->fetched_count; i++) {
            l.gather_count += pieces_of(t->fetched[i].bytes);
            fetched += aligned(t->fetched[i].bytes);
        }
        l.job_count += t->started_count;
    }
    l.to_gather = l.to_spread + aligned(l.spread_count * sizeof(db_cuda_part));
    l.jobs = l.to_gather + aligned(l.gather_count * sizeof(db_cuda_part));
    l.sent = l.jobs + aligned(l.job_count * sizeof(db_cuda_arguments));
    l.fetched = l.sent + sent;
    l.end = l.fetched + fetched;
    return l;
}

/* Returns how many pieces it is. */
static size_t list_pieces(void *to, const void *from, size_t bytes, db_cuda_part *list) {
    size_t count = 0;
    for (size_t done = 0; done < bytes; done += DB_CUDA_PART_BYTES) {
        const size_t left = bytes - done;
        list[count++] = (db_cuda_part){ (char *)to + done, (const char *)from + done,
                                        left < DB_CUDA_PART_BYTES ? left : DB_CUDA_PART_BYTES };
    }
    return count;
}

/* Everything but the arguments. */
static void pack(db_cuda_submission *s, const layout *l) {
    char *const here = s->host.memory;
    char *const there = s->device.memory;
    db_cuda_part *spread = (db_cuda_part *)(void *)(here + l->to_spread);
    db_cuda_part *gather = (db_cuda_part *)(void *)(here + l->to_gather);
    size_t sent = l->sent, fetched = l->fetched;
    for (db_cuda_ticket *t = s->first; t; t = t->next) {
        for (size_t i = 0; i < t->sent_count; i++) {
            const db_cuda_copied *const c = &t->sent[i];
            memcpy(here + sent, c->from, c->bytes);
            spread += list_pieces(c->to, there + sent, c->bytes, spread);
            sent += aligned(c->bytes);
        }
        for (size_t i = 0; i < t->fetched_count; i++) {
            const db_cuda_copied *const c = &t->fetched[i];
            gather += list_pieces(there + fetched, c->from, c->bytes, gather);
            t->result[i] = here + fetched;
            fetched += aligned(c->bytes);
        }
    }
}

/* A block may have more memory of its own than its job needs. */
static int are_alike(const db_cuda_started *a, const db_cuda_started *b) {
    return a->kernel == b->kernel && a->threads == b->threads;
}

/* The first kernel of a ticket that is still to be started; NULL: there is none. */
static const db_cuda_started *next_of(const db_cuda_ticket *t) {
    return t->begun < t->started_count ? &t->started[t->begun] : NULL;
}

static int comes_later(const db_cuda_ticket *t, const db_cuda_started *kernel) {
    for (size_t i = t->begun + 1; i < t->started_count; i++)
        if (are_alike(&t->started[i], kernel)) return 1;
    return 0;
}

/* The kernel that is started next: one that no ticket has behind others, so that all that are alike go
 * together; else the first there is. NULL: all have been started. */
static const db_cuda_started *choose(const db_cuda_submission *s) {
    const db_cuda_started *first = NULL;
    for (const db_cuda_ticket *t = s->first; t; t = t->next) {
        const db_cuda_started *const kernel = next_of(t);
        int later = 0;
        if (!kernel) continue;
        if (!first) first = kernel;
        for (const db_cuda_ticket *other = s->first; other && !later; other = other->next)
            later = comes_later(other, kernel);
        if (!later) return kernel;
    }
    return first;
}

/* A launch: jobs whose arguments are one behind the other. */
typedef struct {
    const db_cuda_started *kernel;
    size_t first, bytes; /* bytes: as much as any job's blocks need */
    uint32_t jobs, blocks;
} launch;

/* Puts the arguments of all jobs that start with this kernel into their places. */
static launch gather_jobs(db_cuda_submission *s, const db_cuda_started *kernel, size_t first,
                          db_cuda_arguments *arguments) {
    launch found = { kernel, first, 0, 0, 0 };
    for (db_cuda_ticket *t = s->first; t; t = t->next) {
        const db_cuda_started *const own = next_of(t);
        if (!own || !are_alike(own, kernel)) continue;
        arguments[first + found.jobs++] = own->arguments;
        if (own->arguments.blocks > found.blocks) found.blocks = own->arguments.blocks;
        if (own->bytes > found.bytes) found.bytes = own->bytes;
        t->begun++;
    }
    return found;
}

static db_status start_many(db_context *context, int number, const db_cuda_submission *s,
                            const layout *l, const launch *own) {
    const db_cuda_arguments *jobs =
        (const db_cuda_arguments *)(const void *)((const char *)s->device.memory + l->jobs) +
        own->first;
    void *parameters[] = { (void *)&jobs };
    const dim3 grid = { own->blocks, own->jobs, 1 }, block = { own->kernel->threads, 1, 1 };
    return db_cuda_status(context, number,
                          cudaLaunchKernel(db_cuda_kernel_of_many(own->kernel->kernel), grid, block,
                                           parameters, own->bytes, s->stream),
                          "starting a kernel");
}

static db_status copy_parts(db_context *context, int number, const db_cuda_submission *s,
                            size_t list, size_t count) {
    db_cuda_arguments a = {
        .part_of_block = (const db_cuda_part *)(const void *)((const char *)s->device.memory + list)
    };
    if (!count) return DB_OK;
    return db_cuda_start(context, number, s->stream, db_cuda_copy_parts, (uint32_t)count,
                         DB_CUDA_COPY_BLOCK, 0, &a);
}

/* Launches are listed before anything is copied, for their arguments go with the copy. */
static size_t list_launches(db_cuda_submission *s, const layout *l, launch *list) {
    db_cuda_arguments *const arguments =
        (db_cuda_arguments *)(void *)((char *)s->host.memory + l->jobs);
    const db_cuda_started *kernel;
    size_t count = 0, first = 0;
    while ((kernel = choose(s))) {
        list[count] = gather_jobs(s, kernel, first, arguments);
        first += list[count++].jobs;
    }
    return count;
}

static db_status go(db_context *context, int number, db_cuda_submission *s, launch *list) {
    const layout l = layout_of(s);
    char *const here = s->host.memory;
    char *const there = s->device.memory;
    pack(s, &l);
    const size_t launches = list_launches(s, &l, list);
    DB_CUDA_TRY(context, number,
                cudaMemcpyAsync(there, here, l.fetched, cudaMemcpyHostToDevice, s->stream),
                "copying parameters");
    DB_TRY(copy_parts(context, number, s, l.to_spread, l.spread_count));
    for (size_t i = 0; i < launches; i++) DB_TRY(start_many(context, number, s, &l, &list[i]));
    DB_TRY(copy_parts(context, number, s, l.to_gather, l.gather_count));
    if (l.end > l.fetched)
        DB_CUDA_TRY(context, number,
                    cudaMemcpyAsync(here + l.fetched, there + l.fetched, l.end - l.fetched,
                                    cudaMemcpyDeviceToHost, s->stream),
                    "copying results");
    DB_CUDA_TRY(context, number, cudaEventRecord(s->done, s->stream), "rendering");
    return db_cuda_status(context, number, cudaEventSynchronize(s->done), "rendering");
}

static db_status submit(db_context *context, int number, db_cuda_submission *s) {
    const layout l = layout_of(s);
    DB_TRY(db_cuda_need(context, number, &s->device, l.end, "what threads have handed in"));
    DB_TRY(db_cuda_need_locked(context, number, &s->host, l.end));
    launch *const list = malloc((l.job_count + 1) * sizeof *list);
    if (!list) return db_fail_memory(context, "launches of many jobs");
    const db_status status = go(context, number, s, list);
    free(list);
    return status;
}

db_status db_cuda_submit(db_context *context, int number, db_cuda_submission *s) {
    for (db_cuda_ticket *t = s->first; t; t = t->next) t->begun = 0;
    const db_status status = submit(context, number, s);
    if (status != DB_OK) {
        (void)cudaStreamSynchronize(s->stream);
        (void)cudaGetLastError();
    }
    return status;
}
