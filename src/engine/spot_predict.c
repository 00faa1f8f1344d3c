/* Prediction of spots in closed form, from their components. */
#include "engine/spot_components.h"

#include "base/threads.h"

#include <stdlib.h>
#include <string.h>

static int compare_index(const db_spot_component *a, const db_spot_component *b) {
    for (int i = 0; i < 3; i++)
        if (a->spot.hkl[i] != b->spot.hkl[i]) return a->spot.hkl[i] < b->spot.hkl[i] ? -1 : 1;
    if (a->spot.panel != b->spot.panel) return a->spot.panel < b->spot.panel ? -1 : 1;
    return a->leaves - b->leaves;
}

/* Those of one spot one after the other, by angle and number of the source. */
static int compare(const void *first, const void *second) {
    const db_spot_component *const a = first;
    const db_spot_component *const b = second;
    const int index = compare_index(a, b);
    if (index) return index;
    if (a->spot.angle != b->spot.angle) return a->spot.angle < b->spot.angle ? -1 : 1;
    if (a->spot.source != b->spot.source) return a->spot.source < b->spot.source ? -1 : 1;
    return a->log_photons > b->log_photons ? -1 : a->log_photons < b->log_photons;
}

/* Of components of one spot: moments of their sum. The best excited of them says how well it is. */
static db_spot_component merged(const db_spot_component *part, size_t count) {
    db_spot_component sum = part[0];
    if (count == 1) {
        sum.spot.photons = exp(sum.log_photons);
        return sum;
    }
    double whole = 0, strongest = -INFINITY, nearest = INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (part[i].log_photons > strongest) {
            strongest = part[i].log_photons;
            sum.spot.source = part[i].spot.source;
        }
        if (fabs(part[i].spot.excitation) < nearest) {
            nearest = fabs(part[i].spot.excitation);
            sum.spot.excitation = part[i].spot.excitation;
            sum.spot.turn = part[i].spot.turn;
            sum.spot.width = part[i].spot.width;
        }
        sum.listed |= part[i].listed;
    }
    double *const to = sum.spot.position;
    double *const v = sum.spot.covariance;
    to[0] = to[1] = v[0] = v[1] = v[2] = sum.spot.recorded = sum.spot.angle = 0;
    for (size_t i = 0; i < count; i++) {
        const double w = exp(part[i].log_photons - strongest);
        const db_spot *const one = &part[i].spot;
        whole += w;
        for (int a = 0; a < 2; a++) to[a] += w * one->position[a];
        sum.spot.recorded += w * one->recorded;
        sum.spot.angle += w * one->angle;
    }
    for (int a = 0; a < 2; a++) to[a] /= whole;
    sum.spot.recorded /= whole;
    sum.spot.angle /= whole;
    for (size_t i = 0; i < count; i++) {
        const double w = exp(part[i].log_photons - strongest) / whole;
        const db_spot *const one = &part[i].spot;
        const double off[2] = { one->position[0] - to[0], one->position[1] - to[1] };
        for (int n = 0; n < 3; n++) v[n] += w * (one->covariance[n] + off[n == 1] * off[n != 0]);
    }
    sum.spot.photons = exp(strongest) * whole;
    return sum;
}

static int is_wanted(const db_plan *plan, const db_spot_options *options,
                     const db_spot_component *k) {
    const db_panel *panel = &plan->experiment.detector.panels[k->spot.panel];
    const double *const at = k->spot.position;
    return k->listed && k->spot.photons >= options->least_photons && at[0] >= 0 &&
           at[0] < panel->fast_pixels && at[1] >= 0 && at[1] < panel->slow_pixels;
}

/* Merges what is sorted; returns the number of spots, which take the places of the first. */
static size_t merge_all(const db_plan *plan, const db_spot_options *options, db_spot_component *k,
                        size_t count) {
    const double half_turn = 180; /* later passages in the same direction are a whole turn away */
    size_t kept = 0;
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count; end++)
            if (compare_index(&k[i], &k[end]) != 0 ||
                fabs(k[end].spot.angle - k[i].spot.angle) > half_turn)
                break;
        const db_spot_component one = merged(k + i, end - i);
        if (is_wanted(plan, options, &one)) k[kept++] = one;
    }
    return kept;
}

static int same_but_tail(const db_spot_name *a, const db_spot_name *b) {
    return memcmp(a->hkl, b->hkl, sizeof a->hkl) == 0 && a->source == b->source &&
           a->panel == b->panel && a->passage.at == b->passage.at &&
           a->passage.from == b->passage.from;
}

static int is_direct_beam(const int hkl[3]) { return !hkl[0] && !hkl[1] && !hkl[2]; }

/* All tails of what the search found of any; returns the number of those that are seen. */
static size_t all_components(const db_plan *plan, const db_spot_options *options,
                             db_spot_list *list, db_spot_component *k) {
    const size_t tails = (size_t)plan->experiment.spread.tails + 1;
    size_t names = 0, seen = 0;
    for (size_t i = 0; i < list->count; i++)
        if (!is_direct_beam(list->entry[i].name.hkl) &&
            (!names || !same_but_tail(&list->entry[names - 1].name, &list->entry[i].name)))
            list->entry[names++] = list->entry[i];
    const long count = (long)(names * tails), blocks = (count + DB_SPOT_NODES - 1) / DB_SPOT_NODES;
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
    for (size_t i = 0; i < (size_t)count; i++)
        if (k[i].seen) k[seen++] = k[i];
    return seen;
}

static db_status take(db_plan *plan, const db_spot_options *options, db_spot_list *list,
                      db_predicted_spots *predicted) {
    const size_t most = list->count * ((size_t)plan->experiment.spread.tails + 1);
    db_spot_component *const k = malloc((most + 1) * sizeof *k);
    if (!k) return db_fail_memory(plan->context, "the predicted spots");
    size_t count = all_components(plan, options, list, k);
    qsort(k, count, sizeof *k, compare);
    count = merge_all(plan, options, k, count);
    predicted->spot = malloc((count + 1) * sizeof *predicted->spot);
    if (predicted->spot) {
        predicted->count = count;
        for (size_t i = 0; i < count; i++) predicted->spot[i] = k[i].spot;
    }
    free(k);
    return predicted->spot ? DB_OK : db_fail_memory(plan->context, "the predicted spots");
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

/* The search knows distances in standard deviations alone: with a mosaic that is wider by the turn,
 * s^2 + t^2 instead of s^2, x s + t <= sqrt(x^2 + 1) sqrt(s^2 + t^2). */
static db_status search_widely(db_context *context, const db_experiment *experiment,
                               const db_spot_options *options, db_plan **plan, db_spot_list *list) {
    db_experiment wide = *experiment; /* borrows its lists */
    wide.spread.mosaic += options->most_turn * options->most_turn;
    DB_TRY(plan_of_a_pixel(context, &wide, plan));
    db_spot_bounds bounds = db_spot_bounds_of(*plan);
    bounds.largest = options->most_excitation * options->most_excitation + 1;
    return db_spots_search(*plan, &bounds, NULL, list);
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
    db_status status = search_widely(context, experiment, options, &plan, &list);
    if (status == DB_OK) status = db_plan_update(plan, experiment);
    if (status == DB_OK) status = take(plan, options, &list, predicted);
    db_spot_list_clear(&list);
    db_plan_destroy(&plan);
    return status;
}

/* Of a thread that places spots. */
typedef struct {
    db_spot_name *name; /* components of a block of spots */
    db_spot_component *k;
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
        db_spot_component *const own = room->k + first[i];
        size_t seen = 0;
        for (int j = 0; j < first[i + 1] - first[i]; j++)
            if (own[j].seen) own[seen++] = own[j];
        spot[i].photons = 0;
        spot[i].position[0] = spot[i].position[1] = NAN;
        if (seen) spot[i] = merged(own, seen).spot;
        if (seen && !photons) spot[i].photons = NAN;
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
    if (name && k) {
#if defined(_OPENMP)
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
#endif
        for (long b = 0; b < (long)blocks; b++) {
            const size_t thread = (size_t)db_thread_number(), first = (size_t)b * block,
                         left = count - first;
            const place_room room = { name + thread * length, k + thread * length };
            place(plan, photons, spot + first, left < block ? left : block, &room);
        }
    }
    const int failed = !name || !k;
    free(name);
    free(k);
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
