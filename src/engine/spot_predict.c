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

/* What one source and one Gaussian of the blocks show of a reflection. */
typedef struct {
    db_spot spot;
    double log_photons; /* spot.photons, which may be too small for a number */
    int leaves;         /* the sphere, by the rotation */
    int listed;         /* near enough to the sphere */
    int seen;           /* on its panel's plane */
} component;

/* A Gaussian of directions d about c, exp(-(d - c).S^-1 (d - c)/2), on the sphere |d| = 1. */
typedef struct {
    double d[3];          /* where it is largest */
    double exponent;      /* there: -(d - c).S^-1 (d - c)/2 */
    double covariance[9]; /* beside d */
} on_sphere;

/* 3 x 3, row-major, of xx, yy, zz, xy, xz, yz. */
static void whole_tensor(const db_number t[6], double s[9]) {
    static const int place[9] = { 0, 3, 4, 3, 1, 5, 4, 5, 2 };
    for (int i = 0; i < 9; i++) s[i] = t[place[i]].v;
}

/* S' = S - S v v^T S/(v.S v): beside v, for given places along it. */
static void beside(const double s[9], const double v[3], double out[9]) {
    double sv[3];
    db_apply(s, v, sv);
    const double along = db_dot(v, sv);
    for (int i = 0; i < 9; i++) out[i] = s[i] - sv[i / 3] * sv[i % 3] / along;
}

/* To first order: the sphere is the plane that touches it at u = c/|c|. */
static on_sphere maximum_on_plane(const double c[3], const double s[9], double *multiplier) {
    on_sphere m;
    const double length = db_length(c);
    double sc[3];
    db_apply(s, c, sc);
    const double along = db_dot(c, sc) / length, l = (1 - length) / along;
    for (int i = 0; i < 3; i++) m.d[i] = c[i] + l * sc[i];
    m.exponent = -0.5 * l * (1 - length) * length;
    db_normalize(m.d);
    beside(s, c, m.covariance);
    *multiplier = l;
    return m;
}

/* At the maximum S^-1 (d - c) = l d, l being Lagrange's multiplier: d = (1 - l S)^-1 c, and |d| = 1
 * is solved for l by Newton's steps. Beside d, the second derivatives are those of S^-1, less l since
 * the sphere curves away: to first order in l S, S' + l S'^2. Where l S is not small, at nodes many
 * standard deviations off the sphere, the plane has to do. */
static on_sphere maximum_on_sphere(const double c[3], const double s[9]) {
    enum { STEPS = 4 };
    const double small = 0.3, trace = s[0] + s[4] + s[8];
    double l, inside[9], inverse[9], difference[3], square[9];
    on_sphere m = maximum_on_plane(c, s, &l);
    if (fabs(l) * trace > small) return m;
    for (int step = 0, last = 0;; step++) {
        double sd[3], slope[3];
        for (int i = 0; i < 9; i++) inside[i] = (i % 4 == 0) - l * s[i];
        if (!db_invert(inside, inverse)) return m;
        db_apply(inverse, c, m.d);
        if (step == STEPS || last) break;
        db_apply(s, m.d, sd);
        db_apply(inverse, sd, slope);
        const double more = 0.5 * (1 - db_dot(m.d, m.d)) / db_dot(m.d, slope);
        l += more;
        last = fabs(more) * trace < 1e-9; /* the next step would be about the square of this one */
    }
    for (int i = 0; i < 3; i++) difference[i] = m.d[i] - c[i];
    m.exponent = -0.5 * l * db_dot(m.d, difference);
    db_normalize(m.d);
    beside(s, m.d, inside);
    db_multiply(inside, inside, square);
    for (int i = 0; i < 9; i++) m.covariance[i] = inside[i] + l * square[i];
    return m;
}

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

/* Along a ray: pixels of a panel's front, and their slopes by the direction; 0 behind the panel. */
static int meet(const db_plan *plan, size_t p, const double d[3], double pixel[2],
                double slope[2][3]) {
    const db_experiment *e = &plan->experiment;
    const db_panel_interface *panel = &plan->plain.panel[p];
    double axis[2][3], normal[3], origin[3];
    db_vector_out(panel->fast, axis[0]);
    db_vector_out(panel->slow, axis[1]);
    db_vector_out(panel->normal, normal);
    db_vector_out(panel->origin, origin);
    const double obliquity = db_dot(d, normal);
    if (!(obliquity > 0)) return 0;
    double distance = panel->z.v;
    if (e->detector.sensor_thickness != 0 && !e->detector.layers_at_front)
        distance += absorption_depth_double_0(n_constant_double_0(obliquity),
                                              plan->plain.layer_step, plan->plain.attenuation, 0)
                        .v;
    for (int a = 0; a < 2; a++) {
        const double size = 1e-3 * e->detector.panels[p].pixel_size[a], along = db_dot(d, axis[a]);
        pixel[a] = (along / obliquity * distance - db_dot(origin, axis[a])) / size;
        for (int i = 0; i < 3; i++)
            slope[a][i] = distance / size * (axis[a][i] * obliquity - normal[i] * along) /
                          (obliquity * obliquity);
    }
    return 1;
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

/* v.T w of a 3 x 3 tensor. */
static double form(const double t[9], const double v[3], const double w[3]) {
    double tw[3];
    db_apply(t, w, tw);
    return db_dot(v, tw);
}

/* Of a passage: moves the centre to where its middle is, adds what the rotation spreads it by, and
 * returns the logarithm of what replaces the exponent of a spot at rest. */
static double pass(const db_spot_name *name, const db_spot_values *value, const double s[9],
                   const double u[3], double width, double c[3], double moved[3], component *k) {
    const double p[3] = { value->root.r[0].z.v, value->root.r[1].z.v, value->root.r[2].z.v };
    const double along = db_dot(u, p), per_angle = (value->to.v - value->from.v) /
                                                   (name->passage.to - name->passage.from);
    const passage_moments m = moments_of_passage(c, p, width, value->from.v, value->to.v);
    double su[3];
    db_apply(s, u, su);
    for (int i = 0; i < 3; i++) {
        c[i] += m.mean * p[i];
        moved[i] = sqrt(m.variance) * (p[i] - su[i] * along / (width * width));
    }
    k->spot.angle += m.mean / per_angle / DEGREE;
    k->spot.recorded = fmin(1, exp(m.log_whole) * fabs(along) / (width * ROOT_TWO_PI));
    k->leaves = along > 0;
    return m.log_whole - log(ROOT_TWO_PI);
}

static component component_of(const db_plan *plan, const db_spot_options *options,
                              const db_spot_name *name) {
    const db_spot_values value = spot_at_double_0(&plan->experiment, &plan->plain, NULL, name);
    const db_source_interface *source = &plan->plain.source[name->source];
    component k = { .spot = { .panel = name->panel, .source = name->source } };
    db_spot *const spot = &k.spot;
    double c[3], s[9], u[3], s0[3], r[3], lever[3], moved[3] = { 0 }, slope[2][3], passed = 0;
    memcpy(spot->hkl, name->hkl, sizeof spot->hkl);
    db_vector_out(value.centre, c);
    db_vector_out(source->s0, s0);
    whole_tensor(value.covariance, s);
    db_vector_out(spot_turn_of_double_0(&plan->plain, name).r, r);
    const int crosses = name->passage.moves && name->passage.at_kind == SPOT_CROSSING;
    const double wavelength = 1 / source->kappa.v, width = value.width,
                 distance = crosses ? 0 : value.distance;
    for (int i = 0; i < 3; i++) {
        r[i] *= wavelength;
        u[i] = (s0[i] * wavelength + r[i]) / (1 + value.distance);
    }
    db_cross(u, r, lever);
    const double arm = db_length(lever);
    spot->resolution = wavelength / db_length(r);
    spot->excitation = distance / width;
    spot->turn = distance / fmax(arm, 1e-9) / DEGREE;
    spot->width = width / fmax(arm, 1e-9) / DEGREE;
    spot->recorded = exp(-0.5 * spot->excitation * spot->excitation);
    spot->angle = name->passage.at / DEGREE;
    k.listed =
        fabs(distance) <= options->most_excitation * width + options->most_turn * DEGREE * arm;
    const double length = db_length(c); /* of the cap, see kernel/spot.h */
    for (int i = 0; i < 3; i++) u[i] = c[i] / length;
    if (name->passage.moves) passed = pass(name, &value, s, u, sqrt(form(s, u, u)), c, moved, &k);
    const on_sphere at = maximum_on_sphere(c, s);
    if (value.amplitude.v == 0 || !meet(plan, name->panel, at.d, spot->position, slope)) return k;
    /* the spot holds the square of a sub-pixel, 1/12 of its area; pixels are larger */
    const double parts = plan->experiment.oversample,
                 beyond_sub_pixel = (1 - 1 / (parts * parts)) / 12;
    double still[3];
    for (int n = 0; n < 3; n++) {
        const double *const a = slope[n == 1];
        const double *const b = slope[n != 0];
        still[n] = form(at.covariance, a, b);
        spot->covariance[n] = still[n] + db_dot(a, moved) * db_dot(b, moved);
        if (n < 2) spot->covariance[n] += beyond_sub_pixel;
    }
    k.seen = 1;
    k.log_photons = log(fabs(value.amplitude.v) * pixel_factor(plan, name, spot->position)) +
                    0.5 * log(still[0] * still[1] - still[2] * still[2]) + log(ROOT_TWO_PI) * 2 +
                    (name->passage.moves ? passed : at.exponent);
    return k;
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
    const long count = (long)(names * tails);
#if defined(_OPENMP)
    const int threads = db_threads_for(plan->context, count);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
#endif
    for (long i = 0; i < count; i++) {
        db_spot_name name = list->entry[(size_t)i / tails].name;
        name.tail = (int)((size_t)i % tails);
        k[i] = component_of(plan, options, &name);
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

/* room: for the components of a spot. */
static void place(const db_plan *plan, db_spot *spot, component *room) {
    const db_spot_options any = DB_SPOT_OPTIONS_INIT;
    const db_experiment *e = &plan->experiment;
    size_t count = 0;
    db_spot_name name = { .panel = spot->panel };
    memcpy(name.hkl, spot->hkl, sizeof name.hkl);
    for (name.source = 0; name.source < e->beam.source_count; name.source++) {
        db_spot_passage passage[DB_SPOT_MOST_PASSAGES];
        const int passages = db_spot_passages(e, &plan->plain, name.source, name.hkl, passage);
        for (int i = 0; i < passages; i++) {
            name.passage = passage[i];
            for (name.tail = 0; name.tail <= e->spread.tails; name.tail++) {
                room[count] = component_of(plan, &any, &name);
                count += room[count].seen != 0;
            }
        }
    }
    spot->photons = 0;
    spot->position[0] = spot->position[1] = NAN;
    if (count) *spot = merged(room, count).spot;
}

static db_status place_all(const db_plan *plan, db_spot *spot, size_t count) {
    const db_experiment *e = &plan->experiment;
    const size_t each =
        e->beam.source_count * DB_SPOT_MOST_PASSAGES * ((size_t)e->spread.tails + 1);
    const int threads = db_threads_for(plan->context, (long)count);
    component *const room = malloc((size_t)threads * each * sizeof *room);
    if (!room) return db_fail_memory(plan->context, "the places of spots");
#if defined(_OPENMP)
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
#endif
    for (long i = 0; i < (long)count; i++)
        place(plan, &spot[i], room + (size_t)db_thread_number() * each);
    free(room);
    return DB_OK;
}

db_status db_spots_place(db_context *context, const db_experiment *experiment, db_spot *spot,
                         size_t count) {
    db_plan *plan = NULL;
    DB_TRY(check_model(context, experiment));
    for (size_t i = 0; i < count; i++)
        if (spot[i].panel >= experiment->detector.panel_count)
            return db_fail(context, DB_ERROR_USAGE, "spot %zu: there is no panel %zu", i,
                           spot[i].panel);
    db_status status = plan_of_a_pixel(context, experiment, &plan);
    if (status == DB_OK) status = place_all(plan, spot, count);
    db_plan_destroy(&plan);
    return status;
}

void db_predicted_spots_clear(db_predicted_spots *predicted) {
    free(predicted->spot);
    *predicted = (db_predicted_spots){ 0 };
}
