#include "engine/spot_places.h"

#include "base/vector.h"
#include "engine/node_hash.h"
#include "engine/spots.h"
#include "engine/plan_create.h"

#include <stdlib.h>

/* In z^2: beyond it a spot adds too little for differences to see a kink. */
static const double DARK = 60;

/* |z|^2 (kernel/spot.h) of a spot at the middle of a panel's pixel. For a spot that moves: across its path only,
 * plus its distance from the range. */
static double square_at_pixel(const db_plan *plan, size_t spot, size_t panel, int fast, int slow) {
    const db_kernel_panel *p = &plan->job.panel[panel];
    const db_kernel_spot *s = &plan->job.spots.spot[spot];
    double x[3], z[3];
    for (int c = 0; c < 3; c++)
        x[c] = p->origin[c] + (fast + 0.5) * p->pixel_size[0] * p->fast[c] +
               (slow + 0.5) * p->pixel_size[1] * p->slow[c];
    const double length = db_length(x);
    for (int i = 0; i < 3; i++) z[i] = db_dot(s->white + 3 * i, x) / length + s->offset[i];
    double along = z[2];
    if (s->value_double[DB_SPOT_AT_REST] == 0)
        along =
            fmax(0, fmax(s->value_double[DB_SPOT_FROM] - z[2], z[2] - s->value_double[DB_SPOT_TO]));
    return z[0] * z[0] + z[1] * z[1] + along * along;
}

/* Middle of a spot's box, in a region. */
static int middle(const int32_t box[2], int start, int count) {
    const int at = (box[0] + box[1]) / 2 - start;
    return at < 0 ? 0 : at >= count ? count - 1 : at;
}

static db_spot_place place_of(const db_plan *plan, size_t region, size_t spot) {
    const db_region *r = &plan->tiles.regions[region];
    const db_kernel_spot *s = &plan->job.spots.spot[spot];
    const double *v = s->value_double;
    db_spot_place p = { .region = region, .spot = spot };
    p.fast = middle(s->fast, r->fast_start, r->fast_count);
    p.slow = middle(s->slow, r->slow_start, r->slow_count);
    p.brightness = fabs(v[DB_SPOT_AMPLITUDE]) * fmin(1, 0.4 * (v[DB_SPOT_TO] - v[DB_SPOT_FROM])) *
                   exp(-0.5 * square_at_pixel(plan, spot, r->panel, r->fast_start + p.fast,
                                              r->slow_start + p.slow));
    return p;
}

static int brightest_first(const void *a, const void *b) {
    const db_spot_place *x = a;
    const db_spot_place *y = b;
    if (x->brightness != y->brightness) return x->brightness < y->brightness ? 1 : -1;
    /* the same order with every library */
    if (x->region != y->region) return x->region < y->region ? -1 : 1;
    return (x->spot > y->spot) - (x->spot < y->spot);
}

db_status db_spot_places(db_plan *plan, db_spot_place **list, size_t *count) {
    const db_kernel_spots *spots = &plan->job.spots;
    DB_TRY(db_spots_fill(plan));
    *count = 0;
    *list = malloc((spots->first[plan->tiles.region_count] + (size_t)1) * sizeof **list);
    if (!*list) return db_fail_memory(plan->context, "trial pixels");
    for (size_t r = 0; r < plan->tiles.region_count; r++)
        for (uint32_t i = spots->first[r]; i < spots->first[r + 1]; i++)
            (*list)[(*count)++] = place_of(plan, r, spots->number[i]);
    qsort(*list, *count, sizeof **list, brightest_first);
    return DB_OK;
}

static int shared(const int32_t box[2], int start, int count) {
    const int from = box[0] > start ? box[0] : start,
              to = box[1] < start + count ? box[1] : start + count;
    return to > from ? to - from : 0;
}

static void count_region(const db_plan *plan, size_t region, double *sum, double *pixels) {
    const db_region *r = &plan->tiles.regions[region];
    const db_kernel_spots *spots = &plan->job.spots;
    *pixels += (double)r->fast_count * r->slow_count;
    for (uint32_t i = spots->first[region]; i < spots->first[region + 1]; i++) {
        const db_kernel_spot *s = &spots->spot[spots->number[i]];
        *sum += (double)shared(s->fast, r->fast_start, r->fast_count) *
                shared(s->slow, r->slow_start, r->slow_count);
    }
}

db_status db_spot_pixels_of(db_context *context, const db_experiment *e, const db_region *regions,
                            size_t region_count, double tolerance, double *spots, double *pixels) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan;
    options.regions = regions;
    options.region_count = region_count;
    options.tolerance = tolerance;
    *spots = *pixels = 0;
    DB_TRY(db_plan_create_on_processor(context, e, &options, &plan));
    const db_status status = db_spots_fill(plan);
    for (size_t r = 0; status == DB_OK && r < plan->tiles.region_count; r++)
        count_region(plan, r, spots, pixels);
    db_plan_destroy(&plan);
    return status;
}

/* A hash of a spot's name and of the kinds of angles at which it is expanded. */
static uint64_t spot_hash(const db_spot_name *name) {
    const db_spot_passage *p = &name->passage;
    uint64_t hash = 0;
    for (int j = 0; j < 3; j++) hash = db_mix(hash, name->hkl[j]);
    hash = db_mix(db_mix(hash, (double)name->source), name->tail);
    return db_mix(db_mix(db_mix(hash, p->at_kind), p->from_kind), p->to_kind);
}

/* Adds the hashes of a region's spots to its pixels: a sum, which does not depend on their order. */
static void add_spots(const db_plan *plan, size_t region, uint64_t *signature) {
    const db_region *r = &plan->tiles.regions[region];
    const db_kernel_spots *spots = &plan->job.spots;
    for (uint32_t i = spots->first[region]; i < spots->first[region + 1]; i++) {
        const uint64_t hash = spot_hash(&plan->job.spots.entry[spots->number[i]].name);
        for (int slow = 0; slow < r->slow_count; slow++)
            for (int fast = 0; fast < r->fast_count; fast++)
                if (square_at_pixel(plan, spots->number[i], r->panel, r->fast_start + fast,
                                    r->slow_start + slow) < DARK)
                    signature[r->offset + (size_t)slow * r->stride + (size_t)fast] += hash;
    }
}

db_status db_spots_sign(db_context *context, const db_experiment *e, const db_region *regions,
                        size_t region_count, uint64_t *signature) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan;
    options.regions = regions;
    options.region_count = region_count;
    DB_TRY(db_plan_create_on_processor(context, e, &options, &plan));
    const db_status status = db_spots_fill(plan);
    for (size_t r = 0; status == DB_OK && r < plan->tiles.region_count; r++)
        add_spots(plan, r, signature);
    db_plan_destroy(&plan);
    return status;
}
