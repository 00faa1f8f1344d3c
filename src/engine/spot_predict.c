/* Prediction of spots in closed form, from their components. */
#include "engine/spot_components.h"
#include "engine/plan_create.h"
#include "engine/spot_bounds.h"
#include "engine/spot_search.h"
#include "base/degree.h"
#include "base/given.h"

#include "base/threads.h"

#include <dualbragg/expert/spot_places.h>
#include <stdlib.h>
#include <string.h>

/* The key by which components are sorted: by spot, then by angle and number of the source. */
typedef struct {
    uint64_t spot; /* names it: h, k, l, twice the panel, and whether it leaves the sphere */
    double angle;
    uint32_t source;
    uint32_t number; /* of the component */
} component_key;

/* Orders the components of one spot: by angle, then by source and number. */
static int lower_angle_first(const void *first, const void *second) {
    const component_key *const a = first;
    const component_key *const b = second;
    if (a->angle != b->angle) return a->angle < b->angle ? -1 : 1;
    if (a->source != b->source) return a->source < b->source ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* The integers that name a spot, and their ranges. */
enum { DIGITS = 4 };
typedef struct {
    int64_t least[DIGITS];
    uint64_t range[DIGITS];
} spot_digits;

static void digits_of(const db_spot_component *k, int64_t digit[DIGITS]) {
    for (int i = 0; i < 3; i++) digit[i] = k->spot.hkl[i];
    digit[3] = 2 * (int64_t)k->spot.panel + k->leaves;
}

static component_key key_of(const spot_digits *d, const db_spot_component *k, size_t number) {
    component_key key = { 0, k->spot.angle, (uint32_t)k->spot.source, (uint32_t)number };
    int64_t digit[DIGITS];
    digits_of(k, digit);
    for (int i = 0; i < DIGITS; i++)
        key.spot = key.spot * d->range[i] + (uint64_t)(digit[i] - d->least[i]);
    return key;
}

/* In the exponent: a component this much fainter than another does not count. Factors never differ as much. */
static const double NOTHING = 80;

/* Merges the components of a spot, all of which are seen: the moments of their sum. The best excited component
 * gives the excitation. */
static void merge_parts(const db_plan *plan, int photons, db_spot_component *const *part,
                        size_t count, db_spot *spot) {
    if (count == 1) {
        db_spot_component *const only = part[0];
        db_spot_component_complete(plan, photons, only);
        *spot = only->spot;
        spot->wavelength_width = sqrt(only->wavelength_variance);
        spot->photons = photons ? only->factor * exp(only->exponent) : (double)NAN;
        return;
    }
    db_spot_component sum = *part[0];
    double whole = 0, most = -INFINITY, strongest = 0, nearest = INFINITY;
    double *const to = sum.spot.position;
    double *const v = sum.spot.covariance;
    to[0] = to[1] = v[0] = v[1] = v[2] = sum.spot.recorded = sum.spot.angle = 0;
    sum.spot.wavelength = sum.wavelength_variance = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, part[i]->exponent);
    for (size_t i = 0; i < count; i++) {
        const db_spot *const one = &part[i]->spot;
        if (fabs(one->excitation) < nearest) {
            nearest = fabs(one->excitation);
            sum.spot.excitation = one->excitation;
            sum.spot.turn = one->turn;
            sum.spot.width = one->width;
        }
        if (part[i]->exponent < most - NOTHING) {
            part[i]->factor = 0;
            continue;
        }
        db_spot_component_complete(plan, 1, part[i]);
        const double w = part[i]->factor *= exp(part[i]->exponent - most);
        if (w > strongest) {
            strongest = w;
            sum.spot.source = one->source;
        }
        whole += w;
        for (int a = 0; a < 2; a++) to[a] += w * one->position[a];
        sum.spot.recorded += w * one->recorded;
        sum.spot.angle += w * one->angle;
        sum.spot.wavelength += w * one->wavelength;
    }
    for (int a = 0; a < 2; a++) to[a] /= whole;
    sum.spot.recorded /= whole;
    sum.spot.angle /= whole;
    sum.spot.wavelength /= whole;
    for (size_t i = 0; i < count; i++) {
        const db_spot *const one = &part[i]->spot;
        const double w = part[i]->factor / whole;
        if (w == 0) continue;
        const double other = one->wavelength - sum.spot.wavelength;
        sum.wavelength_variance += w * (part[i]->wavelength_variance + other * other);
        const double off[2] = { one->position[0] - to[0], one->position[1] - to[1] };
        for (int n = 0; n < 3; n++) v[n] += w * (one->covariance[n] + off[n == 1] * off[n != 0]);
    }
    sum.spot.wavelength_width = sqrt(sum.wavelength_variance);
    sum.spot.photons = photons ? exp(most) * whole : (double)NAN;
    *spot = sum.spot;
}

static int is_on_panel(const db_plan *plan, const db_spot *spot) {
    const db_panel *panel = &plan->experiment.detector.panels[spot->panel];
    const double *const at = spot->position;
    return at[0] >= 0 && at[0] < panel->fast_pixels && at[1] >= 0 && at[1] < panel->slow_pixels;
}

/* Merges the sorted components of each spot; returns the number of spots. part: room for `count`. */
static size_t merge_all(const db_plan *plan, const db_spot_options *options,
                        const component_key *key, size_t count, db_spot_component *k,
                        db_spot_component **part, db_spot *spot) {
    const double half_turn = 180; /* later passages in the same direction are a whole turn away */
    size_t kept = 0;
    for (size_t i = 0, end; i < count; i = end) {
        int listed = 0;
        for (end = i; end < count; end++) {
            if (key[end].spot != key[i].spot || fabs(key[end].angle - key[i].angle) > half_turn)
                break;
            part[end - i] = &k[key[end].number];
            listed |= part[end - i]->listed;
        }
        if (!listed) continue;
        db_spot *const one = &spot[kept];
        merge_parts(plan, 1, part, end - i, one);
        kept += one->photons >= options->least_photons && is_on_panel(plan, one);
    }
    return kept;
}

static int is_direct_beam(const int hkl[3]) { return !hkl[0] && !hkl[1] && !hkl[2]; }

/* Components of all nodes found, for all tails. */
static void all_components(const db_plan *plan, const db_spot_options *options,
                           const db_spot_list *list, db_spot_component *k) {
    const size_t tails = (size_t)plan->experiment.spread.tails + 1;
    const long count = (long)(list->count * tails),
               blocks = (count + DB_SPOT_NODES - 1) / DB_SPOT_NODES;
#if defined(_OPENMP)
    const int threads = db_threads_for(plan->context, blocks);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
#endif
    for (long b = 0; b < blocks; b++) {
        const long first = b * DB_SPOT_NODES, left = count - first;
        const int own = left < DB_SPOT_NODES ? (int)left : (int)DB_SPOT_NODES;
        db_spot_name name[DB_SPOT_NODES];
        for (int i = 0; i < own; i++) {
            const size_t n = (size_t)(first + i);
            name[i] = list->entry[n / tails].name;
            name[i].tail = (int)(n % tails);
        }
        db_spot_components(plan, options, name, own, k + first);
    }
}

/* Finds the ranges of the integers that name the seen components; returns the number of possible names. */
static uint64_t find_digits(const db_spot_component *k, size_t count, spot_digits *d) {
    int64_t most[DIGITS];
    uint64_t names = 1;
    for (int i = 0; i < DIGITS; i++) {
        d->least[i] = INT64_MAX;
        most[i] = INT64_MIN;
    }
    for (size_t n = 0; n < count; n++) {
        int64_t digit[DIGITS];
        if (!k[n].seen) continue;
        digits_of(&k[n], digit);
        for (int i = 0; i < DIGITS; i++) {
            if (digit[i] < d->least[i]) d->least[i] = digit[i];
            if (digit[i] > most[i]) most[i] = digit[i];
        }
    }
    for (int i = 0; i < DIGITS; i++)
        names *= d->range[i] = most[i] < d->least[i] ? 1 : (uint64_t)(most[i] - d->least[i]) + 1;
    return names;
}

/* Sorts keys by the names of spots, which are below `names`; equal names keep their order. It goes digit by digit,
 * far less work than comparisons. Returns the sorted keys, in key or in room, which is as large. */
static component_key *sort_by_spot(component_key *key, component_key *room, size_t count,
                                   uint64_t names) {
    enum { BITS = 11, VALUES = 1 << BITS };
    for (int shift = 0; shift < 64 && (names - 1) >> shift > 0; shift += BITS) {
        size_t next[VALUES + 1] = { 0 };
        for (size_t i = 0; i < count; i++) next[(key[i].spot >> shift) % VALUES + 1]++;
        for (size_t v = 0; v < VALUES; v++) next[v + 1] += next[v];
        for (size_t i = 0; i < count; i++) room[next[(key[i].spot >> shift) % VALUES]++] = key[i];
        component_key *const sorted = room;
        room = key;
        key = sorted;
    }
    return key;
}

/* Sorted keys of the components that are seen. room: for 2 * count keys. Returns the keys. */
static component_key *sort_components(const db_spot_component *k, size_t count, component_key *room,
                                      size_t *seen) {
    spot_digits digits;
    const uint64_t names = find_digits(k, count, &digits);
    *seen = 0;
    for (size_t i = 0; i < count; i++)
        if (k[i].seen && !is_direct_beam(k[i].spot.hkl))
            room[(*seen)++] = key_of(&digits, &k[i], i);
    component_key *const key = sort_by_spot(room, room + count, *seen, names);
    for (size_t i = 0, end; i < *seen; i = end) {
        int sorted = 1;
        for (end = i + 1; end < *seen && key[end].spot == key[i].spot; end++)
            sorted &= lower_angle_first(&key[end - 1], &key[end]) < 0;
        if (!sorted) qsort(key + i, end - i, sizeof *key, lower_angle_first);
    }
    return key;
}

static db_status check_components(const db_plan *plan, const db_spot_component *k, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (k[i].is_wrong) return db_spots_refuse_covariance(plan->context, k[i].spot.hkl);
    return DB_OK;
}

static db_status take_spots(db_plan *plan, const db_spot_options *options, const db_spot_list *list,
                            db_predicted_spots *predicted) {
    const size_t count = list->count * ((size_t)plan->experiment.spread.tails + 1);
    db_spot_component *const k = malloc((count + 1) * sizeof *k);
    db_spot_component **const part = malloc((count + 1) * sizeof(db_spot_component *));
    component_key *const room = malloc((2 * count + 1) * sizeof *room);
    db_status status =
        k && part && room ? DB_OK : db_fail_memory(plan->context, "the predicted spots");
    if (status == DB_OK) {
        all_components(plan, options, list, k);
        status = check_components(plan, k, count);
    }
    if (status == DB_OK) {
        size_t seen;
        const component_key *const key = sort_components(k, count, room, &seen);
        db_spot *const spot = malloc((seen + 1) * sizeof *spot);
        if (!spot) status = db_fail_memory(plan->context, "the predicted spots");
        if (spot) predicted->count = merge_all(plan, options, key, seen, k, part, spot);
        predicted->spot = spot;
    }
    free(k);
    free(part);
    free(room);
    return status;
}

static db_status check_options(db_context *context, const db_spot_options *o) {
    if (o->size != sizeof *o)
        return db_fail(context, DB_ERROR_USAGE,
                       "spot options: size is %zu, expected %zu (use DB_SPOT_OPTIONS_INIT)",
                       o->size, sizeof *o);
    DB_TRY(DB_NEED_ZEROS(context, "spot options", o));
    if (!(o->most_excitation >= 0 && o->most_excitation <= 10))
        return db_fail(context, DB_ERROR_USAGE,
                       "most_excitation: expected 0 to 10 standard deviations, found %g",
                       o->most_excitation);
    if (!(o->most_turn >= 0 && o->most_turn <= 10))
        return db_fail(context, DB_ERROR_USAGE, "most_turn: expected 0 to 10 degree, found %g",
                       o->most_turn);
    if (!isfinite(o->least_photons))
        return db_fail(context, DB_ERROR_USAGE, "least_photons: expected a finite number, found %g",
                       o->least_photons);
    return DB_OK;
}

/* Finds the nodes whose spots may be listed. */
static db_status search_spots(const db_plan *plan, const db_spot_options *options,
                              db_spot_list *list) {
    db_spot_bounds bounds = db_spot_bounds_of(plan);
    bounds.largest = options->most_excitation * options->most_excitation + 1;
    bounds.turn = options->most_turn * DB_DEGREE;
    return db_spots_search_names(plan, &bounds, list);
}

static db_status check_model(db_context *context, const db_experiment *experiment) {
    if (experiment->spread.spots != DB_SPOTS_CLOSED)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "prediction of spots: these are sampled; expected spots in closed form");
    return db_experiment_check(context, experiment);
}

db_status db_spots_predict(db_context *context, const db_experiment *experiment,
                           const db_spot_options *options, db_predicted_spots *predicted) {
    const db_spot_options defaults = DB_SPOT_OPTIONS_INIT;
    db_spot_list list = { 0 };
    db_plan *plan = NULL;
    *predicted = (db_predicted_spots){ 0 };
    if (!options) options = &defaults;
    DB_TRY(check_options(context, options));
    DB_TRY(check_model(context, experiment));
    db_status status = db_plan_create_to_place(context, experiment, &plan);
    if (status == DB_OK) status = search_spots(plan, options, &list);
    if (status == DB_OK) status = take_spots(plan, options, &list, predicted);
    db_spot_list_clear(&list);
    db_plan_destroy(&plan);
    return status;
}

/* The number of spots that are placed at a time: enough to fill vectors, source by source. */
enum { PLACE_BLOCK = 64, PLACE_ROOM = 4096 };
static const double COMPONENT_NS = 130; /* by AVX2 */

/* A thread's memory for the components of a block of spots. */
typedef struct {
    db_spot_name *name;
    db_spot_component *k;
    db_spot_component **part; /* the same, spot by spot */
    uint32_t *owner;          /* of each: which of the spots */
} place_room;

/* Names the components of `count` spots, source by source; returns their number. */
static int name_components(const db_plan *plan, const db_spot *spot, const uint32_t *order,
                           size_t count, const place_room *room) {
    const db_experiment *e = &plan->experiment;
    int names = 0;
    for (size_t source = 0; source < e->beam.source_count; source++)
        for (size_t i = 0; i < count; i++) {
            const db_spot *const one = &spot[order[i]];
            db_spot_name name = { .source = source, .panel = one->panel };
            db_spot_passage passage[DB_SPOT_MOST_PASSAGES];
            memcpy(name.hkl, one->hkl, sizeof name.hkl);
            const int passages =
                db_spot_passages(e, &plan->values.interface, source, name.hkl, passage);
            for (int k = 0; k < passages; k++) {
                name.passage = passage[k];
                for (name.tail = 0; name.tail <= e->spread.tails; name.tail++) {
                    room->owner[names] = (uint32_t)i;
                    room->name[names++] = name;
                }
            }
        }
    return names;
}

/* Lists the components that are seen, spot by spot; first: the start of each spot's. */
static void list_parts(const place_room *room, int components, size_t count, size_t *first) {
    memset(first, 0, (count + 1) * sizeof *first);
    for (int k = 0; k < components; k++) first[room->owner[k] + 1] += (size_t)room->k[k].seen;
    for (size_t i = 0; i < count; i++) first[i + 1] += first[i];
    for (int k = 0; k < components; k++)
        if (room->k[k].seen) room->part[first[room->owner[k]]++] = &room->k[k];
    memmove(first + 1, first, count * sizeof *first);
    first[0] = 0;
}

/* Places a block of spots, whose components fit in the room. */
static void place_component(const db_plan *plan, int photons, db_spot *spot, const uint32_t *order,
                            size_t count, const place_room *room) {
    const db_spot_options any = DB_SPOT_OPTIONS_INIT;
    size_t first[PLACE_BLOCK + 1];
    const int components = name_components(plan, spot, order, count, room);
    for (int from = 0; from < components; from += DB_SPOT_NODES) {
        const int left = components - from;
        db_spot_components(plan, &any, room->name + from,
                           left < DB_SPOT_NODES ? left : (int)DB_SPOT_NODES, room->k + from);
    }
    list_parts(room, components, count, first);
    for (size_t i = 0; i < count; i++) {
        db_spot *const one = &spot[order[i]];
        const size_t seen = first[i + 1] - first[i];
        one->photons = 0;
        one->position[0] = one->position[1] = NAN;
        if (seen) merge_parts(plan, photons, room->part + first[i], seen, one);
    }
}

/* Has each spot of an experiment one component, which does not move? */
static int is_lone(const db_experiment *e) {
    return e->beam.source_count == 1 && e->spread.tails == 0 && e->goniometer.phi_step == 0;
}

/* Places a block of spots with a component each. */
static void place_at_rest(const db_plan *plan, db_spot *spot, const uint32_t *order, size_t count) {
    for (size_t from = 0, end; from < count; from = end) {
        for (end = from + 1; end < count && spot[order[end]].panel == spot[order[from]].panel;)
            end++;
        db_spots_at_rest(plan, order + from, (int)(end - from), spot);
    }
}

/* Numbers of spots in the order of their panels. */
static db_status order_by_panel(const db_plan *plan, const db_spot *spot, size_t count,
                                uint32_t **order) {
    const size_t panels = plan->experiment.detector.panel_count;
    size_t *const next = calloc(panels + 1, sizeof *next);
    *order = malloc((count + 1) * sizeof **order);
    if (next && *order) {
        for (size_t i = 0; i < count; i++) next[spot[i].panel + 1]++;
        for (size_t p = 0; p < panels; p++) next[p + 1] += next[p];
        for (size_t i = 0; i < count; i++) (*order)[next[spot[i].panel]++] = (uint32_t)i;
    }
    const int failed = !next || !*order;
    free(next);
    return failed ? db_fail_memory(plan->context, "the places of spots") : DB_OK;
}

static db_status place_all(const db_plan *plan, int photons, db_spot *spot, size_t count) {
    const db_experiment *e = &plan->experiment;
    const size_t turning = e->goniometer.phi_step != 0 ? DB_SPOT_MOST_PASSAGES : 1,
                 each = e->beam.source_count * turning * ((size_t)e->spread.tails + 1),
                 fitting = PLACE_ROOM / each + 1,
                 block = fitting < PLACE_BLOCK ? fitting : (size_t)PLACE_BLOCK,
                 length = block * each, blocks = (count + block - 1) / block;
    const int threads =
        db_threads_worth(plan->context, (long)blocks, COMPONENT_NS * (double)length);
    const size_t all = (size_t)threads * length;
    uint32_t *order = NULL;
    const place_room rooms = { malloc(all * sizeof *rooms.name), malloc(all * sizeof *rooms.k),
                               malloc(all * sizeof(db_spot_component *)),
                               malloc(all * sizeof *rooms.owner) };
    db_status status = rooms.name && rooms.k && rooms.part && rooms.owner
                           ? order_by_panel(plan, spot, count, &order)
                           : db_fail_memory(plan->context, "the places of spots");
    if (status == DB_OK) {
#if defined(_OPENMP)
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
#endif
        for (long b = 0; b < (long)blocks; b++) {
            const size_t own = (size_t)db_thread_number() * length, first = (size_t)b * block,
                         left = count - first;
            const place_room room = { rooms.name + own, rooms.k + own, rooms.part + own,
                                      rooms.owner + own };
            if (is_lone(e) && !photons)
                place_at_rest(plan, spot, order + first, left < block ? left : block);
            else
                place_component(plan, photons, spot, order + first, left < block ? left : block,
                                &room);
        }
    }
    free(order);
    free(rooms.name);
    free(rooms.k);
    free(rooms.part);
    free(rooms.owner);
    return status;
}

db_status db_spots_place(db_context *context, const db_experiment *experiment, int photons,
                         db_spot *spot, size_t count) {
    db_plan *plan = NULL;
    DB_TRY(check_model(context, experiment));
    DB_TRY(db_need_list(context, "spots to be placed", spot, count));
    for (size_t i = 0; i < count; i++)
        if (spot[i].panel >= experiment->detector.panel_count)
            return db_fail(context, DB_ERROR_USAGE, "spot %zu: there is no panel %zu", i,
                           spot[i].panel);
    db_status status = db_plan_create_to_place(context, experiment, &plan);
    if (status == DB_OK) status = place_all(plan, photons, spot, count);
    db_plan_destroy(&plan);
    return status;
}

void db_predicted_spots_clear(db_predicted_spots *predicted) {
    free(predicted->spot);
    *predicted = (db_predicted_spots){ 0 };
}
