/* The list of spots in closed form, made on the device (cuda/spot_lists.c): nodes near the Ewald sphere, their spots, and
 * which of them reach each tile. Formulas are those of the processor's list (engine/spot_search.c, engine/spots.c).
 *
 * Nodes and spots go to their lists as they are found, in any order. What counts is the order of a tile's spots, which
 * is that of their keys. Lists that are too short are counted to their end, so that the host knows how long they
 * should be. */
#define LANES 1
#define REAL double
#define DIRS 0

#include "base/degree.h"
#include "cuda/arguments.h"
#include "cuda/device_code.h"

#include "ad/lane.h"
#include "model/amplitude_box.h"
#include "model/interface.h"
#include "model/site_scattering.h"
#include "kernel/radiometry.h"
#include "kernel/spot_find.h"
#include "kernel/spot.h"
#include "kernel/spot_box.h"
#include "kernel/spot_near.h"
#include "kernel/spot_made.h"
#include "kernel/spot_rows.h"
#include "kernel/spot_tiles.h"

/* Nothing is found yet. */
DB_CUDA_KERNEL(db_cuda_spots_clear_kernel, DB_CUDA_SPOT_BLOCK, 1) {
    const uint32_t i = block_number() * thread_count() + thread_number();
    const db_cuda_found none = { 0, 0, 0, UINT64_MAX };
    if (i == 0) *a->list.found = none;
    if (i <= a->region_count) a->list.first[i] = 0;
}

DB_CUDA_FN db_spot_find find_of(const db_cuda_arguments *a, uint32_t source) {
    const db_kernel_spots *const spots = &a->job.spots;
    db_spot_find find;
    find.experiment = spots->experiment;
    find.search = spots->search;
    find.spread = spots->spread;
    find.panel = spots->panel;
    find.source = spots->source + source * (sizeof(source_interface) / sizeof(double));
    find.before = spots->tiles.before;
    find.number = source;
    return find;
}

/* The part of the model that the block's threads read. */
typedef struct {
    interface_values z;
    db_spot_search search;
} block_model;

DB_CUDA_FN const block_model *bring_model(const db_cuda_arguments *a) {
    enum {
        SEARCH = sizeof(db_spot_search) / sizeof(int),
        SPREAD = offsetof(spread_interface, parts) / sizeof(double)
    };
    const db_kernel_spots *const spots = &a->job.spots;
    block_model *const m = (block_model *)(void *)block_memory();
    for (uint32_t i = thread_number(); i < SPREAD; i += thread_count())
        ((double *)(void *)&m->z.spread)[i] = spots->spread[i];
    for (uint32_t i = thread_number(); i < SEARCH; i += thread_count())
        ((int *)(void *)&m->search)[i] = ((const int *)(const void *)spots->search)[i];
    if (thread_number() == 0) {
        m->z.panel = (panel_interface *)(uintptr_t)spots->panel;
        m->z.source = (source_interface *)(uintptr_t)spots->source;
        m->z.spread.parts = spots->search->parts;
        m->z.layer_step = n_constant(spots->search->layer_step);
        m->z.attenuation = n_constant(spots->search->attenuation);
    }
    block_barrier();
    return m;
}

/* A node at one of its passages. Keys are in the order of sources, h, k, l. */
typedef struct {
    const db_cuda_arguments *a;
    const db_spot_search *search;
    const interface_values *z;
    double thickness;
    uint64_t key;
    double square; /* of the structure factor */
    db_spot_name name;
} node_there;

/* Lets the node wait for its spot on each panel that it may reach. */
DB_CUDA_FN void add_candidates(const node_there *n, vec3 r, uint64_t key) {
    const db_kernel_spots *const spots = &n->a->job.spots;
    const db_cuda_list *const list = &n->a->list;
    const db_spot_passage *const p = &n->name.passage;
    const near_passage passage = { p->at, p->from, p->to };
    const near_sphere near = near_sphere_of(n->search, &n->z->source[n->name.source], r,
                                            n->search->turns ? &passage : NULL);
    if (!near.counts) return;
    const db_spot_find find = find_of(n->a, (uint32_t)n->name.source);
    for (uint32_t panel = 0; panel < list->panels; panel++) {
        const db_spot_window *const window = &spots->window[panel];
        const near_panel there = near_panel_of(window, n->thickness, near.ray, near.across);
        if (!there.front || !(there.few ? there.meets : there.inside)) continue;
        if (!window->everywhere && there.few && !has_tile(&find, window, there.place, there.margin))
            continue;
        const uint64_t place = atomic_add_64(&list->found->candidates, 1);
        if (place >= list->candidate_room) continue;
        db_cuda_candidate *const c = &list->candidate[place];
        c->name = n->name;
        c->name.panel = panel;
        c->key = (key * list->panels + panel) * (DB_SPREAD_TAILS + 1);
        c->square = n->square;
    }
}

DB_CUDA_FN void add_passages(node_there *n, const double hkl[3]) {
    const double range = n->a->job.spots.experiment->goniometer.phi_step * DB_DEGREE;
    const vec3 start = spot_node_of(n->z, hkl, NULL).r;
    if (!n->search->turns) {
        add_candidates(n, start, n->key);
        return;
    }
    const spot_circle k = spot_circle_of(n->z->spread.spindle, start);
    db_spot_passage passage[DB_SPOT_MOST_PASSAGES];
    const int count = passages_of(&k, n->z->source[n->name.source].s0, range, passage);
    for (int i = 0; i < count; i++) {
        const num c = n_constant(cos(passage[i].at)), s = n_constant(sin(passage[i].at));
        n->name.passage = passage[i];
        add_candidates(n, v3_add(k.along, v3_add(v3_scale(k.across, c), v3_scale(k.side, s))),
                       n->key * DB_SPOT_MOST_PASSAGES + (uint64_t)i);
    }
}

/* F^2 of a node at the energy of a source. */
DB_CUDA_FN double square_of(const db_kernel_job *job, size_t source, const int hkl[3]) {
    const db_kernel_spots *const spots = &job->spots;
    const db_structure_factors *const f = &spots->experiment->structure_factors;
    const int kinds = job->site_kinds;
    size_t entry;
    if (kinds)
        return site_square(kinds, db_site_part_of(f, job->site_part, hkl, kinds),
                           (const num *)(const void *)job->site_curve + 2 * (size_t)kinds * source)
            .v;
    const double amplitude = spots->amplitude && db_amplitude_entry(f, hkl, &entry)
                                 ? spots->amplitude[entry]
                                 : f->default_F;
    return amplitude * amplitude;
}

DB_CUDA_FN void add_node(node_there *n, const int hkl[3]) {
    const double node[3] = { (double)hkl[0], (double)hkl[1], (double)hkl[2] };
    n->square = square_of(&n->a->job, n->name.source, hkl);
    if (n->square == 0 && !amplitude_wanted(n->search, hkl)) return;
    for (int c = 0; c < 3; c++) n->name.hkl[c] = hkl[c];
    add_passages(n, node);
}

/* Finds the nodes of each source's rows h, k; DB_CUDA_ROW_THREADS threads share a row. */
DB_CUDA_KERNEL(db_cuda_spots_nodes_kernel, DB_CUDA_SPOT_BLOCK, 1) {
    const db_kernel_spots *const spots = &a->job.spots;
    const block_model *const m = bring_model(a);
    const db_spot_search *const search = &m->search;
    const uint64_t thread = (uint64_t)block_number() * thread_count() + thread_number(),
                   row = thread / DB_CUDA_ROW_THREADS;
    const uint32_t columns = 2 * (uint32_t)search->most[1] + 1,
                   rows = 2 * (uint32_t)search->most[0] + 1;
    const uint64_t source = row / ((uint64_t)rows * columns);
    if (source >= a->job.source_count) return;
    const int h = (int)(row / columns % rows) - search->most[0],
              k = (int)(row % columns) - search->most[1];
    if (row_is_empty(&spots->experiment->structure_factors, search, h, &k)) return;
    db_spot_run run[DB_SPOT_MOST_RUNS];
    const int runs = runs_of_row(search, &spots->group[spots->group_of[source]], h, k, run);
    node_there n;
    n.a = a;
    n.search = search;
    n.z = &m->z;
    n.thickness = spots->experiment->detector.sensor_thickness;
    n.name.source = source;
    n.name.tail = 0;
    n.name.passage.at = n.name.passage.from = n.name.passage.to = 0;
    n.name.passage.at_kind = n.name.passage.from_kind = n.name.passage.to_kind = SPOT_FIXED;
    n.name.passage.moves = 0;
    for (int i = 0; i < runs; i++)
        for (int l = run[i].from + (int)(thread % DB_CUDA_ROW_THREADS); l <= run[i].to;
             l += DB_CUDA_ROW_THREADS) {
            const int hkl[3] = { h, k, l };
            n.key = row * (2 * (uint64_t)search->most[2] + 1) + (uint64_t)(l + search->most[2]);
            add_node(&n, hkl);
        }
}

/* Adds a spot, if it reaches any tile, and counts it for its tiles. */
DB_CUDA_FN void add_spot(const db_cuda_arguments *a, const db_spot_entry *entry,
                         const db_kernel_spot *spot, uint64_t key) {
    const db_cuda_list *const list = &a->list;
    if (!db_reaches_tiles(&a->job.spots.tiles, a->job.region, entry)) return;
    const uint64_t place = atomic_add_64(&list->found->spots, 1);
    if (place >= list->spot_room) return;
    list->entry[place] = *entry;
    list->spot[place] = *spot;
    list->key[place] = key;
    db_tile_walk walk = db_walk_tiles(&a->job.spots.tiles, a->job.region, entry, 0, 1);
    while (db_next_tile(&walk)) atomic_add_32(&list->first[walk.tile], 1);
}

/* The spots of a node that waits, of all classes of blocks. */
DB_CUDA_FN void make_candidate(const db_cuda_arguments *a, const block_model *m,
                               const db_cuda_candidate *c, int moves) {
    const db_kernel_spots *const spots = &a->job.spots;
    const db_experiment *const e = spots->experiment;
    const db_spot_window *const window = &spots->window[c->name.panel];
    const db_spot_passage *const p = &c->name.passage;
    const double hkl[3] = { (double)c->name.hkl[0], (double)c->name.hkl[1],
                            (double)c->name.hkl[2] };
    const spot_view view =
        spot_view_of(&m->z.panel[c->name.panel], window->pixel_size, e->detector.sensor_thickness);
    spot_angles angles;
    angles.at = n_constant(p->at);
    angles.from = n_constant(p->from);
    angles.to = n_constant(p->to);
    angles.cosine = n_constant(cos(p->at));
    angles.sine = n_constant(sin(p->at));
    const spot_node node = spot_node_of(&m->z, hkl, m->search.turns ? &angles : NULL);
    db_spot_entry entry;
    entry.name = c->name;
    entry.name.passage.moves = moves;
    for (int tail = 0; tail <= e->spread.tails; tail++) {
        spot_vector v;
        db_kernel_spot spot;
        entry.name.tail = tail;
        make_spots(e, &m->search, &m->z, &view, &entry.name, &node, n_constant(c->square), &v);
        if (v.wrong) {
            atomic_min_64(&a->list.found->wrong, c->key);
            return;
        }
        if (!spot_of_lane(&m->search, window, &v, 0, moves, &spot)) continue;
        spot.source = (uint32_t)c->name.source;
        entry.cut = spot.value_double[DB_SPOT_CUT];
        for (int i = 0; i < 2; i++) {
            entry.fast[i] = spot.fast[i];
            entry.slow[i] = spot.slow[i];
        }
        add_spot(a, &entry, &spot, c->key + (uint64_t)tail);
    }
}

DB_CUDA_FN uint64_t least_of(uint64_t x, uint64_t y) { return x < y ? x : y; }

/* A node each thread. */
DB_CUDA_FN void make_candidates(const db_cuda_arguments *a, int turns) {
    const block_model *const m = bring_model(a);
    const uint64_t count = least_of(a->list.found->candidates, a->list.candidate_room),
                   i = (uint64_t)block_number() * thread_count() + thread_number();
    if (i >= count) return;
    const db_cuda_candidate *const c = &a->list.candidate[i];
    if (turns && c->name.passage.moves)
        make_candidate(a, m, c, 1);
    else
        make_candidate(a, m, c, 0);
}

DB_CUDA_KERNEL(db_cuda_spots_rest_kernel, DB_CUDA_SPOT_BLOCK, 1) { make_candidates(a, 0); }
DB_CUDA_KERNEL(db_cuda_spots_move_kernel, DB_CUDA_SPOT_BLOCK, 1) { make_candidates(a, 1); }

/* Computes from the tiles' numbers of spots where each tile's list begins. One block; each thread has a run of
 * tiles. */
DB_CUDA_KERNEL(db_cuda_spots_begin_kernel, DB_CUDA_BEGIN_BLOCK, 1) {
    uint64_t *const sum = (uint64_t *)(void *)block_memory();
    const uint64_t tiles = a->region_count;
    const uint32_t thread = thread_number(), threads = thread_count();
    const uint64_t begin = tiles * thread / threads, end = tiles * (thread + 1) / threads;
    uint64_t own = 0;
    for (uint64_t t = begin; t < end; t++) own += a->list.first[t];
    sum[thread] = own;
    for (uint32_t step = 1; step < threads; step *= 2) {
        block_barrier();
        const uint64_t before = thread >= step ? sum[thread - step] : 0;
        block_barrier();
        sum[thread] += before;
    }
    own = sum[thread] - own;
    for (uint64_t t = begin; t < end; t++) {
        const uint32_t here = a->list.first[t];
        a->list.first[t] = a->list.at[t] = (uint32_t)own;
        own += here;
    }
    if (thread == threads - 1) {
        a->list.first[tiles] = (uint32_t)own;
        a->list.found->numbers = own;
    }
}

/* Enters spots in the lists of their tiles; DB_CUDA_PUT_THREADS threads share a spot. */
DB_CUDA_KERNEL(db_cuda_spots_put_kernel, DB_CUDA_SPOT_BLOCK, 1) {
    const db_cuda_list *const list = &a->list;
    const uint64_t thread = (uint64_t)block_number() * thread_count() + thread_number(),
                   number = thread / DB_CUDA_PUT_THREADS;
    if (number >= least_of(list->found->spots, list->spot_room)) return;
    db_tile_walk walk = db_walk_tiles(&a->job.spots.tiles, a->job.region, &list->entry[number],
                                      (int)(thread % DB_CUDA_PUT_THREADS), DB_CUDA_PUT_THREADS);
    while (db_next_tile(&walk)) {
        const uint32_t place = atomic_add_32(&list->at[walk.tile], 1);
        if (place < list->number_room) list->loose[place] = (uint32_t)number;
    }
}

/* Sorts a tile's spots by their keys: a block each. */
DB_CUDA_KERNEL(db_cuda_spots_sort_kernel, DB_CUDA_SORT_BLOCK, 1) {
    const db_cuda_list *const list = &a->list;
    uint64_t *const key = (uint64_t *)(void *)block_memory();
    const uint32_t first = list->first[block_number()], end = list->first[block_number() + 1],
                   threads = thread_count();
    if (list->found->numbers > list->number_room) return;
    for (uint32_t own = first; own < end; own += threads) {
        const uint32_t i = own + thread_number(), number = i < end ? list->loose[i] : 0;
        const uint64_t mine = i < end ? list->key[number] : 0;
        uint32_t before = 0;
        for (uint32_t from = first; from < end; from += threads) {
            const uint32_t count = end - from < threads ? end - from : threads;
            block_barrier();
            if (thread_number() < count)
                key[thread_number()] = list->key[list->loose[from + thread_number()]];
            block_barrier();
            for (uint32_t j = 0; j < count; j++) before += key[j] < mine;
        }
        if (i < end) list->number[first + before] = number;
    }
}
