/* Chooses the pixels for a check of the derivatives. */
#include "engine/check_state.h"

#include "engine/trial_pixels.h"
#include "engine/plan_create.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_STRIP = 256, FEWEST_STRIPS = 4, CANDIDATES_PER_STRIP = 8, SPREAD_PART = 8 };

static void pack_strips(db_check_pixels *p) {
    p->pixels = 0;
    for (size_t i = 0; i < p->strips; i++) {
        p->strip[i].offset = p->pixels;
        p->strip[i].stride = (size_t)p->strip[i].fast_count;
        p->pixels += p->strip[i].stride;
    }
}

static db_status allocate_pixels(db_context *context, size_t strips, db_check_pixels *p) {
    p->strips = strips;
    p->strip = calloc(strips, sizeof *p->strip);
    return p->strip ? DB_OK : db_fail_memory(context, "the pixels of a check");
}

static size_t strips_in(const db_region *r) {
    return (size_t)r->slow_count * (size_t)((r->fast_count + LONGEST_STRIP - 1) / LONGEST_STRIP);
}

static db_status take_all(db_context *context, const db_region *regions, size_t count,
                          db_check_pixels *p) {
    size_t strips = 0, n = 0;
    for (size_t i = 0; i < count; i++) strips += strips_in(&regions[i]);
    DB_TRY(allocate_pixels(context, strips, p));
    for (size_t i = 0; i < count; i++)
        for (int slow = 0; slow < regions[i].slow_count; slow++)
            for (int fast = 0; fast < regions[i].fast_count; fast += LONGEST_STRIP) {
                const int left = regions[i].fast_count - fast;
                p->strip[n++] =
                    (db_region){ .panel = regions[i].panel,
                                 .fast_start = regions[i].fast_start + fast,
                                 .slow_start = regions[i].slow_start + slow,
                                 .fast_count = left < LONGEST_STRIP ? left : LONGEST_STRIP,
                                 .slow_count = 1 };
            }
    return DB_OK;
}

/* Keeps the middle of a strip. */
static void shorten_region(db_region *r, int longest) {
    const int rest = r->fast_count - longest;
    if (rest <= 0) return;
    r->fast_start += (rest + 1) / 2;
    r->fast_count = longest;
}

/* Moves strips from number `first` on to spots. */
static db_status move_to_spots(db_context *context, const db_experiment *e,
                               const db_region *regions, size_t count, size_t first,
                               db_check_pixels *p) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan = NULL;
    if (e->spread.spots == DB_SPOTS_CLOSED)
        return db_trial_take_spots(context, e, regions, count, p->strip, first, p->strips);
    options.regions = p->strip;
    options.region_count = p->strips;
    DB_TRY(db_plan_create_on_processor(context, e, &options, &plan));
    const db_status status =
        db_trial_move_to_spots(plan, regions, count, first, p->strips * CANDIDATES_PER_STRIP);
    if (status == DB_OK) memcpy(p->strip, plan->tiles.regions, p->strips * sizeof *p->strip);
    db_plan_destroy(&plan);
    return status;
}

static db_status take_some(db_context *context, const db_experiment *e, const db_region *regions,
                           size_t count, double wanted, db_check_pixels *p) {
    const size_t strips = (size_t)fmax(FEWEST_STRIPS, wanted / DB_TRIAL_STRIP);
    const int longest = (int)fmax(1, wanted / (double)strips);
    DB_TRY(allocate_pixels(context, strips, p));
    db_trial_spread(regions, count, p->strip, strips);
    DB_TRY(move_to_spots(context, e, regions, count, (strips + SPREAD_PART - 1) / SPREAD_PART, p));
    for (size_t i = 0; i < strips; i++) shorten_region(&p->strip[i], longest);
    return DB_OK;
}

db_status db_check_pixels_choose(db_context *context, const db_experiment *e,
                                 const db_region *regions, size_t count, double wanted,
                                 db_check_pixels *p) {
    const double all = db_pixels_of(regions, count);
    const db_status status = all <= wanted ? take_all(context, regions, count, p)
                                           : take_some(context, e, regions, count, wanted, p);
    if (status == DB_OK) pack_strips(p);
    return status;
}

db_status db_check_pixels_part(db_context *context, const db_check_pixels *from, size_t first,
                               size_t end, db_check_pixels *part) {
    DB_TRY(allocate_pixels(context, end - first, part));
    memcpy(part->strip, from->strip + first, (end - first) * sizeof *part->strip);
    pack_strips(part);
    return DB_OK;
}

db_status db_check_pixels_thin(db_context *context, const db_check_pixels *from, double wanted,
                               db_check_pixels *p) {
    const double strips = fmin((double)from->strips, fmax(1, floor(wanted)));
    const int longest = wanted < (double)from->pixels ? (int)fmax(1, wanted / strips) : INT_MAX;
    DB_TRY(allocate_pixels(context, (size_t)strips, p));
    p->origin = malloc(p->strips * sizeof *p->origin);
    if (!p->origin) return db_fail_memory(context, "the pixels of a check");
    for (size_t i = 0; i < p->strips; i++) {
        const db_region *const whole = &from->strip[i * from->strips / p->strips];
        p->strip[i] = *whole;
        shorten_region(&p->strip[i], longest);
        p->origin[i] = whole->offset + (size_t)(p->strip[i].fast_start - whole->fast_start);
    }
    pack_strips(p);
    return DB_OK;
}

void db_check_pixels_clear(db_check_pixels *p) {
    free(p->strip);
    free(p->origin);
    *p = (db_check_pixels){ 0 };
}
