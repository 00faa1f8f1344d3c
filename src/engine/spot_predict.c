/* Prediction of spots in closed form, from their components. */
#include "engine/spot_components.h"

#include "base/threads.h"

#include <stdlib.h>
#include <string.h>

/* What components are sorted by: those of one spot come one after the other, by angle and number of
 * the source. */
typedef struct {
    int hkl[3];
    uint32_t place; /* twice the panel, and whether the spot leaves the sphere */
    double angle;
    uint32_t source;
    uint32_t number; /* of the component */
} component_key;

static int compare_index(const component_key *a, const component_key *b) {
    for (int i = 0; i < 3; i++)
        if (a->hkl[i] != b->hkl[i]) return a->hkl[i] < b->hkl[i] ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

static int compare(const void *first, const void *second) {
    const component_key *const a = first;
    const component_key *const b = second;
    const int index = compare_index(a, b);
    if (index) return index;
    if (a->angle != b->angle) return a->angle < b->angle ? -1 : 1;
    if (a->source != b->source) return a->source < b->source ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static component_key key_of(const db_spot_component *k, size_t number) {
    const db_spot *const spot = &k->spot;
    return (component_key){ { spot->hkl[0], spot->hkl[1], spot->hkl[2] },
                            2 * (uint32_t)spot->panel + (uint32_t)k->leaves,
                            spot->angle,
                            (uint32_t)spot->source,
                            (uint32_t)number };
}

/* Of log_photons: a component that is so much fainter than another does not count beside it. Before the
 * factors of their pixels are known, which are never so different. */
static const double NOTHING = 80;

/* Of components of one spot, all of which are seen: moments of their sum. The best excited of them says
 * how well it is. */
static db_spot_component merged(const db_plan *plan, int photons, db_spot_component *const *part,
                                size_t count) {
    db_spot_component sum = *part[0];
    if (count == 1) {
        db_spot_component_complete(plan, photons, &sum);
        sum.spot.photons = photons ? exp(sum.log_photons) : (double)NAN;
        return sum;
    }
    double whole = 0, most = -INFINITY, strongest = -INFINITY, nearest = INFINITY;
    for (size_t i = 0; i < count; i++) most = fmax(most, part[i]->log_photons);
    for (size_t i = 0; i < count; i++) {
        db_spot_component *const one = part[i];
        if (one->log_photons < most - NOTHING)
            one->log_photons = -INFINITY;
        else
            db_spot_component_complete(plan, 1, one);
        if (one->log_photons > strongest) {
            strongest = one->log_photons;
            sum.spot.source = one->spot.source;
        }
        if (fabs(one->spot.excitation) < nearest) {
            nearest = fabs(one->spot.excitation);
            sum.spot.excitation = one->spot.excitation;
            sum.spot.turn = one->spot.turn;
            sum.spot.width = one->spot.width;
        }
        sum.listed |= one->listed;
    }
    double *const to = sum.spot.position;
    double *const v = sum.spot.covariance;
    to[0] = to[1] = v[0] = v[1] = v[2] = sum.spot.recorded = sum.spot.angle = 0;
    for (size_t i = 0; i < count; i++) {
        const db_spot *const one = &part[i]->spot;
        const double w = part[i]->weight = exp(part[i]->log_photons - strongest);
        if (w == 0) continue;
        whole += w;
        for (int a = 0; a < 2; a++) to[a] += w * one->position[a];
        sum.spot.recorded += w * one->recorded;
        sum.spot.angle += w * one->angle;
    }
    for (int a = 0; a < 2; a++) to[a] /= whole;
    sum.spot.recorded /= whole;
    sum.spot.angle /= whole;
    for (size_t i = 0; i < count; i++) {
        const db_spot *const one = &part[i]->spot;
        const double w = part[i]->weight / whole;
        if (w == 0) continue;
        const double off[2] = { one->position[0] - to[0], one->position[1] - to[1] };
        for (int n = 0; n < 3; n++) v[n] += w * (one->covariance[n] + off[n == 1] * off[n != 0]);
    }
    sum.spot.photons = photons ? exp(strongest) * whole : (double)NAN;
    return sum;
}

static int is_on_panel(const db_plan *plan, const db_spot *spot) {
    const db_panel *panel = &plan->experiment.detector.panels[spot->panel];
    const double *const at = spot->position;
    return at[0] >= 0 && at[0] < panel->fast_pixels && at[1] >= 0 && at[1] < panel->slow_pixels;
}

/* Merges what is sorted; returns the number of spots. part: room for as many. */
static size_t merge_all(const db_plan *plan, const db_spot_options *options,
                        const component_key *key, size_t count, db_spot_component *k,
                        db_spot_component **part, db_spot *spot) {
    const double half_turn = 180; /* later passages in the same direction are a whole turn away */
    size_t kept = 0;
    for (size_t i = 0, end; i < count; i = end) {
        int listed = 0;
        for (end = i; end < count; end++) {
            if (compare_index(&key[i], &key[end]) != 0 ||
                fabs(key[end].angle - key[i].angle) > half_turn)
                break;
            part[end - i] = &k[key[end].number];
            listed |= part[end - i]->listed;
        }
        if (!listed) continue;
        const db_spot_component one = merged(plan, 1, part, end - i);
        if (one.spot.photons >= options->least_photons && is_on_panel(plan, &one.spot))
            spot[kept++] = one.spot;
    }
    return kept;
}

static int is_direct_beam(const int hkl[3]) { return !hkl[0] && !hkl[1] && !hkl[2]; }

/* All tails of what the search found. */
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
        db_spot_components(plan, options, 1, name, own, k + first);
    }
}

/* Keys of those that are seen, sorted; returns how many. */
static size_t sort_components(const db_spot_component *k, size_t count, component_key *key) {
    size_t seen = 0;
    for (size_t i = 0; i < count; i++)
        if (k[i].seen && !is_direct_beam(k[i].spot.hkl)) key[seen++] = key_of(&k[i], i);
    qsort(key, seen, sizeof *key, compare);
    return seen;
}

static db_status check_components(const db_plan *plan, const db_spot_component *k, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (k[i].is_wrong) return db_spots_refuse_covariance(plan->context, k[i].spot.hkl);
    return DB_OK;
}

static db_status take(db_plan *plan, const db_spot_options *options, const db_spot_list *list,
                      db_predicted_spots *predicted) {
    const size_t count = list->count * ((size_t)plan->experiment.spread.tails + 1);
    db_spot_component *const k = malloc((count + 1) * sizeof *k);
    db_spot_component **const part = malloc((count + 1) * sizeof(db_spot_component *));
    component_key *const key = malloc((count + 1) * sizeof *key);
    db_status status =
        k && part && key ? DB_OK : db_fail_memory(plan->context, "the predicted spots");
    if (status == DB_OK) {
        all_components(plan, options, list, k);
        status = check_components(plan, k, count);
    }
    if (status == DB_OK) {
        const size_t seen = sort_components(k, count, key);
        db_spot *const spot = malloc((seen + 1) * sizeof *spot);
        if (!spot) status = db_fail_memory(plan->context, "the predicted spots");
        if (spot) predicted->count = merge_all(plan, options, key, seen, k, part, spot);
        predicted->spot = spot;
    }
    free(k);
    free(part);
    free(key);
    return status;
}

static db_status check_options(db_context *context, const db_spot_options *o) {
    if (o->size != sizeof *o)
        return db_fail(context, DB_ERROR_USAGE,
                       "spot options: size is %zu, expected %zu (use DB_SPOT_OPTIONS_INIT)",
                       o->size, sizeof *o);
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

/* A plan that renders next to nothing. */
static db_status plan_of_a_pixel(db_context *context, const db_experiment *experiment,
                                 db_plan **plan) {
    const db_region corner = { .fast_count = 1, .slow_count = 1, .stride = 1 };
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    options.regions = &corner;
    options.region_count = 1;
    return db_plan_create_on_processor(context, experiment, &options, plan);
}

/* What may be listed. */
static db_status search(const db_plan *plan, const db_spot_options *options, db_spot_list *list) {
    db_spot_bounds bounds = db_spot_bounds_of(plan);
    bounds.largest = options->most_excitation * options->most_excitation + 1;
    bounds.turn = options->most_turn * 0.017453292519943295769;
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
    db_status status = plan_of_a_pixel(context, experiment, &plan);
    if (status == DB_OK) status = search(plan, options, &list);
    if (status == DB_OK) status = take(plan, options, &list, predicted);
    db_spot_list_clear(&list);
    db_plan_destroy(&plan);
    return status;
}

/* Of a thread that places spots. */
typedef struct {
    db_spot_name *name; /* components of a block of spots */
    db_spot_component *k;
    db_spot_component **part; /* of one spot */
} place_room;

/* Names the components of a spot; returns how many. */
static int name_components(const db_plan *plan, const db_spot *spot, db_spot_name *out) {
    const db_experiment *e = &plan->experiment;
    int count = 0;
    db_spot_name name = { .panel = spot->panel };
    memcpy(name.hkl, spot->hkl, sizeof name.hkl);
    for (name.source = 0; name.source < e->beam.source_count; name.source++) {
        db_spot_passage passage[DB_SPOT_MOST_PASSAGES];
        const int passages = db_spot_passages(e, &plan->plain, name.source, name.hkl, passage);
        for (int i = 0; i < passages; i++) {
            name.passage = passage[i];
            for (name.tail = 0; name.tail <= e->spread.tails; name.tail++) out[count++] = name;
        }
    }
    return count;
}

/* Of a block of spots, whose components the room holds. */
static void place(const db_plan *plan, int photons, db_spot *spot, size_t count,
                  const place_room *room) {
    const db_spot_options any = DB_SPOT_OPTIONS_INIT;
    int first[DB_SPOT_NODES + 1] = { 0 };
    for (size_t i = 0; i < count; i++)
        first[i + 1] = first[i] + name_components(plan, &spot[i], room->name + first[i]);
    for (int from = 0; from < first[count]; from += DB_SPOT_NODES) {
        const int left = first[count] - from;
        db_spot_components(plan, &any, photons || first[count] > (int)count, room->name + from,
                           left < DB_SPOT_NODES ? left : (int)DB_SPOT_NODES, room->k + from);
    }
    for (size_t i = 0; i < count; i++) {
        size_t seen = 0;
        for (int j = first[i]; j < first[i + 1]; j++)
            if (room->k[j].seen) room->part[seen++] = &room->k[j];
        spot[i].photons = 0;
        spot[i].position[0] = spot[i].position[1] = NAN;
        if (seen) spot[i] = merged(plan, photons, room->part, seen).spot;
    }
}

static db_status place_all(const db_plan *plan, int photons, db_spot *spot, size_t count) {
    const db_experiment *e = &plan->experiment;
    const size_t turning = e->goniometer.phi_step != 0 ? DB_SPOT_MOST_PASSAGES : 1,
                 each = e->beam.source_count * turning * ((size_t)e->spread.tails + 1),
                 block = each < DB_SPOT_NODES ? DB_SPOT_NODES / each : 1,
                 length = each > DB_SPOT_NODES ? each : (size_t)DB_SPOT_NODES,
                 blocks = (count + block - 1) / block;
    const int threads = db_threads_for(plan->context, (long)blocks);
    db_spot_name *const name = malloc((size_t)threads * length * sizeof *name);
    db_spot_component *const k = malloc((size_t)threads * length * sizeof *k);
    db_spot_component **const part = malloc((size_t)threads * each * sizeof(db_spot_component *));
    if (name && k && part) {
#if defined(_OPENMP)
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
#endif
        for (long b = 0; b < (long)blocks; b++) {
            const size_t thread = (size_t)db_thread_number(), first = (size_t)b * block,
                         left = count - first;
            const place_room room = { name + thread * length, k + thread * length,
                                      part + thread * each };
            place(plan, photons, spot + first, left < block ? left : block, &room);
        }
    }
    const int failed = !name || !k || !part;
    free(name);
    free(k);
    free(part);
    return failed ? db_fail_memory(plan->context, "the places of spots") : DB_OK;
}

db_status db_spots_place(db_context *context, const db_experiment *experiment, int photons,
                         db_spot *spot, size_t count) {
    db_plan *plan = NULL;
    DB_TRY(check_model(context, experiment));
    for (size_t i = 0; i < count; i++)
        if (spot[i].panel >= experiment->detector.panel_count)
            return db_fail(context, DB_ERROR_USAGE, "spot %zu: there is no panel %zu", i,
                           spot[i].panel);
    db_status status = plan_of_a_pixel(context, experiment, &plan);
    if (status == DB_OK) status = place_all(plan, photons, spot, count);
    db_plan_destroy(&plan);
    return status;
}

void db_predicted_spots_clear(db_predicted_spots *predicted) {
    free(predicted->spot);
    *predicted = (db_predicted_spots){ 0 };
}
