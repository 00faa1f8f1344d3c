/* Strips of pixels that represent an image. */
#include "engine/trial_pixels.h"

#include "base/vector.h"
#include "engine/spot_places.h"
#include "engine/plan_create.h"

#include <stdlib.h>

/* A pixel on which a reflection may be, and how bright that would be (in units of its own). */
typedef struct candidate {
    double score;
    size_t region;
    int fast, slow;
} candidate;

double db_pixels_of(const db_region *regions, size_t count) {
    double pixels = 0;
    for (size_t i = 0; i < count; i++)
        pixels += (double)regions[i].fast_count * regions[i].slow_count;
    return pixels;
}

/* Goes through the pixels of all regions in `count` jumps of varying length. */
typedef struct walk {
    const db_region *regions;
    double step, before; /* before: pixels of the regions before this one */
    size_t region;
} walk;

static void walk_to(walk *w, size_t i, candidate *place) {
    const double golden = 0.6180339887498949, x = (double)i * golden;
    const double index = floor(((double)i + (x - floor(x))) * w->step);
    const db_region *r = &w->regions[w->region];
    double here;
    while (index >= w->before + (here = (double)r->fast_count * r->slow_count)) {
        w->before += here;
        r = &w->regions[++w->region];
    }
    const double inside = index - w->before;
    place->region = w->region;
    place->slow = (int)(inside / r->fast_count);
    place->fast = (int)(inside - (double)place->slow * r->fast_count);
    place->score = 0;
}

/* The strip about a pixel of a region. */
static db_region strip_at(const db_region *r, int fast, int slow, size_t number) {
    const int count = r->fast_count < DB_TRIAL_STRIP ? r->fast_count : DB_TRIAL_STRIP;
    int start = fast - count / 2;
    if (start < 0) start = 0;
    if (start > r->fast_count - count) start = r->fast_count - count;
    return (db_region){ .panel = r->panel,
                        .fast_start = r->fast_start + start,
                        .slow_start = r->slow_start + slow,
                        .fast_count = count,
                        .slow_count = 1,
                        .offset = number * DB_TRIAL_STRIP,
                        .stride = DB_TRIAL_STRIP };
}

void db_trial_spread(const db_region *regions, size_t region_count, db_region *strips,
                     size_t strip_count) {
    walk w = { regions, db_pixels_of(regions, region_count) / (double)strip_count, 0, 0 };
    for (size_t i = 0; i < strip_count; i++) {
        candidate place;
        walk_to(&w, i, &place);
        strips[i] = strip_at(&regions[place.region], place.fast, place.slow, i);
    }
}

/* h of the sample for the direction x (any length) from the source. */
static void miller(const db_kernel_sample_double *sample, const db_kernel_source_double *source,
                   const double x[3], double h[3]) {
    const double length = db_length(x);
    double q[3];
    for (int c = 0; c < 3; c++) q[c] = source->kappa * x[c] / length - source->s0[c];
    for (int r = 0; r < 3; r++) h[r] = db_dot(&sample->lattice[3 * r], q);
}

/* The scattering vector of a node: rows of the lattice times q are the node. */
static void node_vector(const double lattice[9], const double node[3], double q[3]) {
    double across[9];
    const double volume = db_cofactors(lattice, across);
    for (int c = 0; c < 3; c++)
        q[c] = (node[0] * across[c] + node[1] * across[3 + c] + node[2] * across[6 + c]) / volume;
}

static double squared_amplitude_of(const db_structure_factors *f, const double node[3]) {
    double amplitude = f->default_F;
    if (f->amplitude) {
        size_t index = 0;
        int inside = 1;
        for (int j = 0; j < 3; j++) {
            const double offset = node[j] - f->min[j];
            inside &= offset >= 0 && offset < f->extent[j];
            if (inside) index = index * (size_t)f->extent[j] + (size_t)offset;
        }
        if (inside) amplitude = f->amplitude[index];
    }
    return amplitude * amplitude;
}

/* Envelope of the interference function: right about the node, and falling off as it does. */
static double envelope(const db_kernel_job *job, const double h[3], const double node[3]) {
    double product = 1;
    for (int j = 0; j < 3; j++) {
        const double x = 3.14159 * job->cells[j] * (h[j] - node[j]);
        product /= 1 + x * x;
    }
    return product;
}

/* Moves a candidate to where the node nearest to it scatters most, if that is in its region. */
static void seek_spot(const db_plan *plan, const db_region *r, size_t number, candidate *place) {
    const db_kernel_job *job = &plan->job;
    const db_kernel_panel *panel = &job->panel[r->panel];
    const db_kernel_sample_double *sample = &job->sample_double[number % job->sample_count];
    const db_kernel_source_double *source = &job->source_double[number % job->source_count];
    double x[3], h[3], node[3], q[3], normal[3], toward[3];
    const double fast = (r->fast_start + place->fast + 0.5) * panel->pixel_size[0],
                 slow = (r->slow_start + place->slow + 0.5) * panel->pixel_size[1];
    for (int c = 0; c < 3; c++)
        x[c] = panel->origin[c] + fast * panel->fast[c] + slow * panel->slow[c];
    miller(sample, source, x, h);
    for (int j = 0; j < 3; j++) node[j] = rint(h[j]);
    node_vector(sample->lattice, node, q);
    for (int c = 0; c < 3; c++) toward[c] = q[c] + source->s0[c];
    db_cross(panel->fast, panel->slow, normal);
    const double t = db_dot(panel->origin, normal) / db_dot(toward, normal);
    if (!(t > 0)) return;
    for (int c = 0; c < 3; c++) x[c] = t * toward[c] - panel->origin[c];
    const double f = floor(db_dot(x, panel->fast) / panel->pixel_size[0]) - r->fast_start,
                 s = floor(db_dot(x, panel->slow) / panel->pixel_size[1]) - r->slow_start;
    if (!(f >= 0 && f < r->fast_count && s >= 0 && s < r->slow_count)) return;
    place->fast = (int)f;
    place->slow = (int)s;
    miller(sample, source, toward, h);
    place->score =
        squared_amplitude_of(&plan->experiment.structure_factors, node) * envelope(job, h, node);
}

static int best_first(const void *a, const void *b) {
    const candidate *x = a;
    const candidate *y = b;
    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    /* the same order with every library */
    if (x->region != y->region) return x->region < y->region ? -1 : 1;
    if (x->slow != y->slow) return x->slow < y->slow ? -1 : 1;
    return (x->fast > y->fast) - (x->fast < y->fast);
}

db_status db_trial_move_to_spots(db_plan *plan, const db_region *regions, size_t region_count,
                                 size_t first, size_t candidates) {
    candidate *all = malloc(candidates * sizeof *all);
    if (!all) return db_fail_memory(plan->context, "trial pixels");
    walk w = { regions, db_pixels_of(regions, region_count) / (double)candidates, 0, 0 };
    for (size_t i = 0; i < candidates; i++) {
        walk_to(&w, i, &all[i]);
        seek_spot(plan, &regions[all[i].region], i, &all[i]);
    }
    qsort(all, candidates, sizeof *all, best_first);
    size_t next = first;
    for (size_t i = 0; i < candidates && next < plan->tiles.region_count; i++) {
        const candidate *c = &all[i];
        if (i > 0 && c->region == c[-1].region && c->fast == c[-1].fast && c->slow == c[-1].slow)
            continue;
        plan->tiles.regions[next] = strip_at(&regions[c->region], c->fast, c->slow, next);
        next++;
    }
    free(all);
    return DB_OK;
}

db_status db_trial_take_spots(db_context *context, const db_experiment *e, const db_region *regions,
                              size_t region_count, db_region *strips, size_t first,
                              size_t strip_count) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_spot_place *places = NULL;
    db_plan *plan;
    size_t count = 0;
    options.regions = regions;
    options.region_count = region_count;
    DB_TRY(db_plan_create_on_processor(context, e, &options, &plan));
    const db_status status = db_spot_places(plan, &places, &count);
    for (size_t i = first; i < strip_count && i - first < count; i++) {
        const db_spot_place *p = &places[i - first];
        strips[i] = strip_at(&plan->tiles.regions[p->region], p->fast, p->slow, i);
    }
    free(places);
    db_plan_destroy(&plan);
    return status;
}
