/* Lists of spots in closed form, made on the device (cuda/spot_search.cu). */
#include "cuda/plan.h"

#include "engine/spot_search.h"

/* The room of a plan's first list. Later lists have the room of those before; a list that was too small gets a
 * quarter more than it needs. */
enum { LEAST_SPOTS = 1 << 10, MOST_SPOTS = 1 << 15, SPOTS_OF_TILE = 16, NUMBERS_OF_SPOT = 4 };

static const char what[] = "the list of spots";

static db_status need(db_context *context, db_device_plan *plan, db_cuda_buffer *buffer,
                      size_t bytes) {
    return db_cuda_need_more(context, plan, buffer, bytes, what);
}

/* Allocates the memory for plan->made.room. */
static db_status make_room(db_context *context, db_device_plan *plan) {
    db_cuda_made *const m = &plan->made;
    const db_cuda_found *const room = &m->room;
    DB_TRY(need(context, plan, &m->found, sizeof(db_cuda_found)));
    DB_TRY(need(context, plan, &m->candidate, room->candidates * sizeof(db_cuda_candidate)));
    DB_TRY(need(context, plan, &m->entry, room->spots * sizeof(db_spot_entry)));
    DB_TRY(need(context, plan, &m->spot, room->spots * sizeof(db_kernel_spot)));
    DB_TRY(need(context, plan, &m->key, room->spots * sizeof(uint64_t)));
    DB_TRY(need(context, plan, &m->first, (2 * plan->region_count + 1) * sizeof(uint32_t)));
    DB_TRY(need(context, plan, &m->number, 2 * room->numbers * sizeof(uint32_t)));
    return db_cuda_need_locked(context, plan->number, &m->host, sizeof(db_cuda_found));
}

static void set_list(db_device_plan *plan, const db_device_work *work, db_cuda_arguments *a) {
    const db_cuda_made *const m = &plan->made;
    a->list = (db_cuda_list){ .found = m->found.memory,
                              .candidate = m->candidate.memory,
                              .entry = m->entry.memory,
                              .spot = m->spot.memory,
                              .key = m->key.memory,
                              .first = m->first.memory,
                              .number = m->number.memory,
                              .candidate_room = m->room.candidates,
                              .spot_room = m->room.spots,
                              .number_room = m->room.numbers,
                              .panels = (uint32_t)db_cuda_panels(work) };
    a->list.at = a->list.first + plan->region_count + 1;
    a->list.loose = a->list.number + m->room.numbers;
}

static db_status start(db_context *context, db_device_plan *plan, const db_cuda_arguments *a,
                       const void *kernel, uint64_t threads, uint32_t block, size_t bytes) {
    const uint64_t blocks = (threads + block - 1) / block;
    if (blocks > INT32_MAX)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "cuda:%d: spots in closed form of too many rows of reflections",
                       plan->number);
    return db_cuda_launch(context, plan, kernel, (uint32_t)blocks, block, bytes, a);
}

/* Threads for all rows h, k of all sources. */
static uint64_t row_threads(const db_device_work *work) {
    const db_spot_search *const search = work->job.spots.search;
    const double rows =
        (2.0 * search->most[0] + 1) * (2.0 * search->most[1] + 1) * (double)work->job.source_count;
    return (uint64_t)fmin(rows * DB_CUDA_ROW_THREADS, 1e18);
}

static db_status start_search(db_context *context, db_device_plan *plan, const db_device_work *work,
                              const db_cuda_arguments *a) {
    const db_cuda_search_kernels *const k = &db_cuda_search;
    const db_cuda_found *const room = &plan->made.room;
    const uint64_t tiles = plan->region_count;
    const size_t model = sizeof(db_interface) + sizeof(db_spot_search);
    DB_TRY(start(context, plan, a, k->clear, tiles + 1, DB_CUDA_SPOT_BLOCK, 0));
    DB_TRY(start(context, plan, a, k->nodes, row_threads(work), DB_CUDA_SPOT_BLOCK, model));
    DB_TRY(start(context, plan, a, k->spots[db_cuda_shape(work)], room->candidates,
                 DB_CUDA_SPOT_BLOCK, model));
    DB_TRY(start(context, plan, a, k->begin, DB_CUDA_BEGIN_BLOCK, DB_CUDA_BEGIN_BLOCK,
                 DB_CUDA_BEGIN_BLOCK * sizeof(uint64_t)));
    DB_TRY(
        start(context, plan, a, k->put, room->spots * DB_CUDA_PUT_THREADS, DB_CUDA_SPOT_BLOCK, 0));
    DB_TRY(start(context, plan, a, k->sort, tiles * DB_CUDA_SORT_BLOCK, DB_CUDA_SORT_BLOCK,
                 DB_CUDA_SORT_BLOCK * sizeof(uint64_t)));
    DB_TRY(db_cuda_copy_back(context, plan, plan->made.host.memory, plan->made.found.memory,
                             sizeof(db_cuda_found), what));
    return db_cuda_status(context, plan->number, cudaStreamSynchronize(plan->stream), what);
}

/* Fails with the indices of the reflection: keys count sources, h, k, l, passages, panels and classes of blocks. */
static db_status refuse_key(db_context *context, const db_device_work *work, uint64_t key) {
    const db_spot_search *const s = work->job.spots.search;
    const uint64_t each = (uint64_t)(DB_SPREAD_TAILS + 1) * db_cuda_panels(work) *
                          (s->turns ? DB_SPOT_MOST_PASSAGES : 1),
                   extent[3] = { 2 * (uint64_t)s->most[0] + 1, 2 * (uint64_t)s->most[1] + 1,
                                 2 * (uint64_t)s->most[2] + 1 };
    int hkl[3];
    key /= each;
    for (int i = 3; i-- > 0; key /= extent[i]) hkl[i] = (int)(key % extent[i]) - s->most[i];
    return db_spots_refuse_covariance(context, hkl);
}

static int widen_room(uint64_t *room, uint64_t wanted) {
    if (wanted <= *room) return 0;
    *room = wanted + wanted / 4;
    return 1;
}

static void first_room(db_device_plan *plan) {
    db_cuda_found *const room = &plan->made.room;
    uint64_t spots = SPOTS_OF_TILE * (uint64_t)plan->region_count;
    if (spots < LEAST_SPOTS) spots = LEAST_SPOTS;
    if (spots > MOST_SPOTS) spots = MOST_SPOTS;
    if (room->spots) return;
    *room = (db_cuda_found){ spots, spots, NUMBERS_OF_SPOT * spots, 0 };
}

/* Makes the list; repeats it with more room if there was too little. */
static db_status make_list(db_context *context, db_device_plan *plan, const db_device_work *work,
                           db_cuda_arguments *a) {
    db_cuda_found *const room = &plan->made.room;
    int again = 1;
    first_room(plan);
    while (again) {
        DB_TRY(make_room(context, plan));
        set_list(plan, work, a);
        DB_TRY(start_search(context, plan, work, a));
        const db_cuda_found *const found = plan->made.host.memory;
        again = widen_room(&room->candidates, found->candidates) |
                widen_room(&room->spots, found->spots) | widen_room(&room->numbers, found->numbers);
        if (found->wrong != UINT64_MAX) return refuse_key(context, work, found->wrong);
        if (found->numbers >= UINT32_MAX || found->spots >= UINT32_MAX)
            return db_fail(context, DB_ERROR_UNSUPPORTED,
                           "spots in closed form: %llu of them on all tiles are too many",
                           (unsigned long long)found->numbers);
        plan->made.count = (size_t)found->spots;
    }
    return DB_OK;
}

db_status db_cuda_spots_bring(db_context *context, db_device_plan *plan, const db_device_work *work,
                              db_cuda_arguments *a) {
    db_cuda_made *const m = &plan->made;
    if (!work->spots_version) return DB_OK;
    if (m->version != work->spots_version) {
        m->version = 0;
        plan->slopes_version = 0; /* spots are in another order now */
        DB_TRY(make_list(context, plan, work, a));
        m->version = work->spots_version;
    } else {
        set_list(plan, work, a);
    }
    a->job.spots.spot = a->list.spot;
    a->job.spots.entry = a->list.entry;
    a->job.spots.first = a->list.first;
    a->job.spots.number = a->list.number;
    a->job.spots.count = m->count;
    return DB_OK;
}

void db_cuda_spots_release(db_cuda_made *m) {
    db_cuda_buffer *const own[] = { &m->found, &m->candidate, &m->entry, &m->spot,
                                    &m->key,   &m->first,     &m->number };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) db_cuda_release(own[i]);
    db_cuda_release_locked(&m->host);
}

size_t db_cuda_spots_bytes(const db_cuda_made *m) {
    return m->found.bytes + m->candidate.bytes + m->entry.bytes + m->spot.bytes + m->key.bytes +
           m->first.bytes + m->number.bytes;
}
