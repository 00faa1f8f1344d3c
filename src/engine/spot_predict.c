/* Prediction of spots in closed form: each as a Gaussian on its panel. Derivation:
 * docs/theory/spots.md, Places. */
#include "engine/spots.h"

#include "base/threads.h"
#include "base/vector.h"

#include <dualbragg/spots.h>
#include <stdlib.h>
#include <string.h>

static const double DEGREE = 0.017453292519943295769;
static const double ROOT_TWO_PI = 2.506628274631000502415765;

enum { MOST_LANES = 8 }; /* of kernel/spot_find_instance.c */
_Static_assert(DB_SPOT_NODES % MOST_LANES == 0, "whole vectors");

/* What one source and one Gaussian of the blocks show of a reflection. */
typedef struct {
    db_spot spot;
    double log_photons; /* spot.photons, which may be too small for a number */
    int leaves;         /* the sphere, by the rotation */
    int listed;         /* near enough to the sphere */
    int seen;           /* on its panel's plane */
} component;

/* Weights of the parts of a passage. */
typedef struct {
    double log_whole;      /* of their sum */
    double mean, variance; /* of b */
} passage_moments;

/* A moving spot is the sum of stills about c + b p, b from `from` to `to` (standard deviations of the
 * motion), each as bright as its distance to the sphere says: exp(-(1 - |c + b p|)^2/(2 width^2)).
 * By Gauss and Legendre's four points, over parts of where that is not negligible. */
static passage_moments moments_of_passage(const double c[3], const double p[3], double width,
                                          double from, double to) {
    enum { PARTS = 32 };
    static const double place[4] = { -0.861136311594052575, -0.339981043584856265,
                                     0.339981043584856265, 0.861136311594052575 },
                        weight[4] = { 0.347854845137453857, 0.652145154862546143,
                                      0.652145154862546143, 0.347854845137453857 };
    const double length = db_length(c), along = fabs(db_dot(c, p)) / length,
                 across = db_dot(p, p) - along * along, excess = fabs(1 - length),
                 far = sqrt(excess * excess + 49 * width * width) - excess;
    double half = fmin(along > 0 ? 2 * far / along : INFINITY,
                       across > 0 ? sqrt(2 * far / across) : INFINITY);
    const double low = fmax(from, -half), high = fmin(to, half);
    const double step = (high - low) / PARTS;
    double b[4 * PARTS], exponent[4 * PARTS], most = -INFINITY, sum = 0, mean = 0, square = 0;
    for (int i = 0; i < 4 * PARTS; i++) {
        const int part = i / 4;
        double at[3];
        b[i] = low + step * (part + 0.5 + 0.5 * place[i % 4]);
        for (int k = 0; k < 3; k++) at[k] = c[k] + b[i] * p[k];
        const double distance = (1 - db_length(at)) / width;
        exponent[i] = -0.5 * distance * distance;
        most = fmax(most, exponent[i]);
    }
    for (int i = 0; i < 4 * PARTS; i++) {
        const double w = weight[i % 4] * exp(exponent[i] - most);
        sum += w;
        mean += w * b[i];
    }
    mean /= sum;
    for (int i = 0; i < 4 * PARTS; i++)
        square += weight[i % 4] * exp(exponent[i] - most) * (b[i] - mean) * (b[i] - mean);
    return (passage_moments){ most + log(0.5 * step * sum), mean, square / sum };
}

/* Photons per pixel and unit of a spot's intensity, at a pixel. */
static double pixel_factor(const db_plan *plan, const db_spot_name *name, const double pixel[2]) {
    const db_experiment *e = &plan->experiment;
    const db_source_interface *source = &plan->plain.source[name->source];
    const db_panel *panel = &e->detector.panels[name->panel];
    const site_double_0 s =
        site_at_double_0(e, &plan->plain, name->panel, 0, 1e-3 * panel->pixel_size[0] * pixel[0],
                         1e-3 * panel->pixel_size[1] * pixel[1]);
    const db_number square =
        v3_square_double_0(scattering_vector_double_0(s.d, source->kappa, source->s0));
    return plan->plain.scale.v * e->oversample * e->oversample * s.omega.v * s.capture.v *
           polarization_factor_double_0(s.d, source->polarization).v *
           debye_waller_factor_double_0(square, plan->plain.b_factor).v;
}

/* Of a passage: moves the centre to where its middle is, adds what the rotation spreads it by, and
 * returns the logarithm of what replaces the exponent of a spot at rest. */
static double pass(const db_spot_name *name, const db_spot_values *value, db_vector u, double width,
                   double c[3], double moved[3], component *k) {
    const double p[3] = { value->root.r[0].z.v, value->root.r[1].z.v, value->root.r[2].z.v };
    double direction[3], su[3];
    db_vector_out(u, direction);
    db_vector_out(v3_symmetric_double_0(value->covariance, u), su);
    const double along = db_dot(direction, p), per_angle = (value->to.v - value->from.v) /
                                                           (name->passage.to - name->passage.from);
    const passage_moments m = moments_of_passage(c, p, width, value->from.v, value->to.v);
    for (int i = 0; i < 3; i++) {
        c[i] += m.mean * p[i];
        moved[i] = sqrt(m.variance) * (p[i] - su[i] * along / (width * width));
    }
    k->spot.angle += m.mean / per_angle / DEGREE;
    k->spot.recorded = fmin(1, exp(m.log_whole) * fabs(along) / (width * ROOT_TWO_PI));
    k->leaves = along > 0;
    return m.log_whole - log(ROOT_TWO_PI);
}

/* What is known of a component on its panel. */
typedef struct {
    double distance, width;               /* see db_spot_values */
    double rho, arm;                      /* |r| wavelength; see kernel/spot_place.h */
    double pixel[2], still[3], obliquity; /* still: without what the rotation adds */
    double bright, exponent;              /* see db_placed_spots */
    double moved[2], angle, recorded;     /* by the rotation */
    int leaves;
} spot_facts;

static component component_of(const db_plan *plan, const db_spot_options *options, int photons,
                              const db_spot_name *name, const spot_facts *f) {
    const double wavelength = 1 / plan->plain.source[name->source].kappa.v;
    const int crosses = name->passage.moves && name->passage.at_kind == SPOT_CROSSING;
    const double distance = crosses ? 0 : f->distance;
    component k = { .spot = { .panel = name->panel, .source = name->source }, .leaves = f->leaves };
    db_spot *const spot = &k.spot;
    memcpy(spot->hkl, name->hkl, sizeof spot->hkl);
    spot->resolution = wavelength / f->rho;
    spot->excitation = distance / f->width;
    spot->turn = distance / fmax(f->arm, 1e-9) / DEGREE;
    spot->width = f->width / fmax(f->arm, 1e-9) / DEGREE;
    spot->recorded =
        name->passage.moves ? f->recorded : exp(-0.5 * spot->excitation * spot->excitation);
    spot->angle = name->passage.at / DEGREE + f->angle;
    k.listed = fabs(distance) <=
               options->most_excitation * f->width + options->most_turn * DEGREE * f->arm;
    if (f->bright == 0 || !(f->obliquity > 0)) return k;
    /* the spot holds the square of a sub-pixel, 1/12 of its area; pixels are larger */
    const double parts = plan->experiment.oversample,
                 beyond_sub_pixel = (1 - 1 / (parts * parts)) / 12;
    for (int n = 0; n < 3; n++) {
        spot->covariance[n] = f->still[n] + f->moved[n == 1] * f->moved[n != 0];
        if (n < 2) {
            spot->covariance[n] += beyond_sub_pixel;
            spot->position[n] = f->pixel[n];
        }
    }
    k.seen = 1;
    if (photons)
        k.log_photons = log(fabs(f->bright) * pixel_factor(plan, name, spot->position)) +
                        0.5 * log(f->still[0] * f->still[1] - f->still[2] * f->still[2]) +
                        log(ROOT_TWO_PI) * 2 + f->exponent;
    return k;
}

/* Of a spot that moves. */
static spot_facts facts_of(const db_plan *plan, const db_spot_name *name, component *k) {
    const db_spot_values value = spot_at_double_0(&plan->experiment, &plan->plain, NULL, name);
    const db_number wavelength = { 1 / plan->plain.source[name->source].kappa.v };
    const db_vector rho =
        v3_scale_double_0(spot_turn_of_double_0(&plan->plain, name).r, wavelength);
    const db_vector u = v3_unit_double_0(value.centre); /* of the cap, see kernel/spot.h */
    const double width = sqrt(v3_dot_double_0(u, v3_symmetric_double_0(value.covariance, u)).v);
    double c[3], moved[3];
    db_vector_out(value.centre, c);
    const double passed = pass(name, &value, u, width, c, moved, k);
    const spot_top_double_0 top =
        spot_top_of_double_0(v3_passive_double_0(c[0], c[1], c[2]), value.covariance);
    const spot_on_panel_double_0 at =
        spot_meet_double_0(&plan->experiment, &plan->plain, &plan->plain.panel[name->panel],
                           plan->experiment.detector.panels[name->panel].pixel_size, top.d);
    spot_facts f = { .distance = value.distance,
                     .width = value.width,
                     .rho = sqrt(v3_square_double_0(rho).v),
                     .arm = spot_arm_double_0(&value, rho),
                     .obliquity = at.obliquity,
                     .bright = value.amplitude.v,
                     .exponent = passed,
                     .angle = k->spot.angle,
                     .recorded = k->spot.recorded,
                     .leaves = k->leaves };
    for (int n = 0; n < 3; n++)
        f.still[n] = v3_dot_double_0(at.slope[n == 1],
                                     v3_symmetric_double_0(top.covariance, at.slope[n != 0]))
                         .v;
    for (int a = 0; a < 2; a++) {
        double slope[3];
        db_vector_out(at.slope[a], slope);
        f.pixel[a] = at.pixel[a].v;
        f.moved[a] = db_dot(slope, moved);
    }
    return f;
}

static int same_place(const db_spot_name *a, const db_spot_name *b) {
    return !a->passage.moves && !b->passage.moves && a->source == b->source &&
           a->panel == b->panel && a->tail == b->tail;
}

/* At most DB_SPOT_NODES components. */
static void components_of(const db_plan *plan, const db_spot_options *options, int photons,
                          const db_spot_name *name, int count, component *k) {
    const db_structure_factors *factors = &plan->experiment.structure_factors;
    unsigned char done[DB_SPOT_NODES] = { 0 };
    int number[DB_SPOT_NODES];
    db_placed_spots p;
    for (int i = 0; i < count; i++) {
        if (done[i]) continue;
        if (name[i].passage.moves) {
            component own = { 0 };
            const spot_facts f = facts_of(plan, &name[i], &own);
            k[i] = component_of(plan, options, photons, &name[i], &f);
            continue;
        }
        p.count = 0;
        for (int j = i; j < count; j++) {
            if (!same_place(&name[i], &name[j])) continue;
            const double node[3] = { name[j].hkl[0], name[j].hkl[1], name[j].hkl[2] };
            for (int c = 0; c < 3; c++) p.hkl[c][p.count] = node[c];
            p.amplitude[p.count] = node_amplitude_double_0(factors, NULL, node).v;
            done[j] = 1;
            number[p.count++] = j;
        }
        for (int j = p.count; j % MOST_LANES; j++) { /* fills the last vector */
            for (int c = 0; c < 3; c++) p.hkl[c][j] = p.hkl[c][0];
            p.amplitude[j] = p.amplitude[0];
        }
        const db_spot_find find = db_spot_find_of(plan, NULL, name[i].source);
        const db_spot_window window = db_spot_window_of(plan, name[i].panel, NULL);
        db_spot_finder_instance(plan->context->isa)->places(&find, &window, name[i].tail, &p);
        for (int j = 0; j < p.count; j++) {
            const spot_facts f = { .distance = p.distance[j],
                                   .width = p.width[j],
                                   .rho = p.rho[j],
                                   .arm = p.arm[j],
                                   .pixel = { p.pixel[0][j], p.pixel[1][j] },
                                   .still = { p.covariance[0][j], p.covariance[1][j],
                                              p.covariance[2][j] },
                                   .obliquity = p.obliquity[j],
                                   .bright = p.bright[j],
                                   .exponent = p.exponent[j] };
            k[number[j]] = component_of(plan, options, photons, &name[number[j]], &f);
        }
    }
}

static int compare_index(const component *a, const component *b) {
    for (int i = 0; i < 3; i++)
        if (a->spot.hkl[i] != b->spot.hkl[i]) return a->spot.hkl[i] < b->spot.hkl[i] ? -1 : 1;
    if (a->spot.panel != b->spot.panel) return a->spot.panel < b->spot.panel ? -1 : 1;
    return a->leaves - b->leaves;
}

/* Those of one spot one after the other, by angle and number of the source. */
static int compare(const void *first, const void *second) {
    const component *const a = first;
    const component *const b = second;
    const int index = compare_index(a, b);
    if (index) return index;
    if (a->spot.angle != b->spot.angle) return a->spot.angle < b->spot.angle ? -1 : 1;
    if (a->spot.source != b->spot.source) return a->spot.source < b->spot.source ? -1 : 1;
    return a->log_photons > b->log_photons ? -1 : a->log_photons < b->log_photons;
}

/* Of components of one spot: moments of their sum. The best excited of them says how well it is. */
static component merged(const component *part, size_t count) {
    component sum = part[0];
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

static int is_wanted(const db_plan *plan, const db_spot_options *options, const component *k) {
    const db_panel *panel = &plan->experiment.detector.panels[k->spot.panel];
    const double *const at = k->spot.position;
    return k->listed && k->spot.photons >= options->least_photons && at[0] >= 0 &&
           at[0] < panel->fast_pixels && at[1] >= 0 && at[1] < panel->slow_pixels;
}

/* Merges what is sorted; returns the number of spots, which take the places of the first. */
static size_t merge_all(const db_plan *plan, const db_spot_options *options, component *k,
                        size_t count) {
    const double half_turn = 180; /* later passages in the same direction are a whole turn away */
    size_t kept = 0;
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count; end++)
            if (compare_index(&k[i], &k[end]) != 0 ||
                fabs(k[end].spot.angle - k[i].spot.angle) > half_turn)
                break;
        const component one = merged(k + i, end - i);
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
                             db_spot_list *list, component *k) {
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
        components_of(plan, options, 1, name, own, k + first);
    }
    for (size_t i = 0; i < (size_t)count; i++)
        if (k[i].seen) k[seen++] = k[i];
    return seen;
}

static db_status take(db_plan *plan, const db_spot_options *options, db_spot_list *list,
                      db_predicted_spots *predicted) {
    const size_t most = list->count * ((size_t)plan->experiment.spread.tails + 1);
    component *const k = malloc((most + 1) * sizeof *k);
    if (!k) return db_fail_memory(plan->context, "the predicted spots");
    size_t count = all_components(plan, options, list, k);
    qsort(k, count, sizeof *k, compare);
    count = merge_all(plan, options, k, count);
    predicted->spot = malloc((count + 1) * sizeof *predicted->spot);
    if (predicted->spot) predicted->count = count;
    for (size_t i = 0; i < predicted->count; i++) predicted->spot[i] = k[i].spot;
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
    component *k;
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
        components_of(plan, &any, photons || first[count] > (int)count, room->name + from,
                      left < DB_SPOT_NODES ? left : (int)DB_SPOT_NODES, room->k + from);
    }
    for (size_t i = 0; i < count; i++) {
        component *const own = room->k + first[i];
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
    component *const k = malloc((size_t)threads * length * sizeof *k);
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
