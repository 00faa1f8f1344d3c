#include "engine/spot_components.h"
#include "engine/spot_search.h"

#include "base/degree.h"
#include "base/vector.h"

#include <string.h>

static const double ROOT_TWO_PI = 2.506628274631000502415765;

/* Weights of the parts of a passage. */
typedef struct {
    double log_whole;      /* of their sum */
    double mean, variance; /* of b */
} passage_moments;

/* Cuts a range about 0 to the part about 0 where a x^2 + 2 b x + c, a > 0, has the sign that c has. */
static void cut_range(double a, double b, double c, double *low, double *high) {
    const double square = b * b - a * c, sum = -b - copysign(sqrt(fmax(0, square)), b);
    if (!(square > 0) || sum == 0) return;
    const double root[2] = { sum / a, c / sum };
    for (int i = 0; i < 2; i++) {
        if (root[i] > 0) *high = fmin(*high, root[i]);
        if (root[i] < 0) *low = fmax(*low, root[i]);
    }
}

/* A moving spot is the sum of stills about c + b p, b from `from` to `to` (standard deviations of the
 * motion), each as bright as its distance to the sphere says: exp(-(1 - |c + b p|)^2/(2 width^2)).
 * By Gauss and Legendre's four points, over parts of where that is not negligible: to 1e-7. */
static passage_moments moments_of_passage(const double c[3], const double p[3], double width,
                                          double from, double to) {
    enum { PARTS = 20 };
    static const double place[4] = { -0.861136311594052575, -0.339981043584856265,
                                     0.339981043584856265, 0.861136311594052575 },
                        weight[4] = { 0.347854845137453857, 0.652145154862546143,
                                      0.652145154862546143, 0.347854845137453857 };
    const double negligible = 40; /* exp(-40) is less than the rounding of the sum */
    const double length = db_length(c), radial = db_dot(c, p), speed = db_dot(p, p),
                 along = fabs(radial) / length, across = speed - along * along,
                 excess = fabs(1 - length), most_off = sqrt(excess * excess + 49 * width * width),
                 far = most_off - excess;
    const double half = fmin(along > 0 ? 2 * far / along : INFINITY,
                             across > 0 ? sqrt(2 * far / across) : INFINITY);
    double low = fmax(from, -half), high = fmin(to, half);
    cut_range(speed, radial, (length - 1 - most_off) * (length + 1 + most_off), &low, &high);
    cut_range(speed, radial, (length - 1 + most_off) * (length + 1 - most_off), &low, &high);
    const double step = (high - low) / PARTS;
    double b[4 * PARTS], part[4 * PARTS], most = -INFINITY, sum = 0, mean = 0, square = 0;
    for (int i = 0; i < 4 * PARTS; i++) {
        double at[3];
        const int interval = i / 4;
        b[i] = low + step * (interval + 0.5 + 0.5 * place[i % 4]);
        for (int k = 0; k < 3; k++) at[k] = c[k] + b[i] * p[k];
        const double distance = (1 - db_length(at)) / width;
        part[i] = -0.5 * distance * distance; /* its logarithm, but for the weight */
        if (part[i] > most) most = part[i];
    }
    for (int i = 0; i < 4 * PARTS; i++) {
        part[i] = part[i] > most - negligible ? weight[i % 4] * exp(part[i] - most) : 0;
        sum += part[i];
        mean += part[i] * b[i];
    }
    mean /= sum;
    for (int i = 0; i < 4 * PARTS; i++) square += part[i] * (b[i] - mean) * (b[i] - mean);
    return (passage_moments){ most + log(0.5 * step * sum), mean, square / sum };
}

/* Photons per pixel and unit of a spot's intensity, where it is. */
static double pixel_factor(const db_plan *plan, const db_spot *spot) {
    const db_experiment *e = &plan->experiment;
    const db_source_interface *source = &plan->values.interface.source[spot->source];
    const db_panel *panel = &e->detector.panels[spot->panel];
    const site_double_0 s = site_at_double_0(e, &plan->values.interface, spot->panel, 0,
                                             1e-3 * panel->pixel_size[0] * spot->position[0],
                                             1e-3 * panel->pixel_size[1] * spot->position[1]);
    const db_number square =
        v3_square_double_0(scattering_vector_double_0(s.d, source->kappa, source->s0));
    return plan->values.interface.scale.v * e->oversample * e->oversample * s.omega.v *
           s.capture.v * polarization_factor_double_0(s.d, source->polarization).v *
           (plan->values.interface.b_factor.v == 0
                ? 1
                : debye_waller_factor_double_0(square, plan->values.interface.b_factor).v);
}

/* Of a passage: moves the centre to where its middle is, adds what the rotation spreads it by, and
 * returns the logarithm of what replaces the exponent of a spot at rest. */
static double pass_passages(const db_spot_name *name, const db_spot_values *value, db_vector u,
                            double width, double c[3], double moved[3], db_spot_component *k) {
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
    k->spot.angle += m.mean / per_angle / DB_DEGREE;
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

/* Of the wavelengths 1 + b of a source, b of a variance, blocks at rest select those that bring the node to the
 * sphere: with the direction moved by b rho along the ray, b and the distance are one Gaussian, of which the distance
 * is known (docs/theory/spots.md, Wavelength of a spot). */
static void select_wavelengths(double wavelength, double bandwidth, const spot_facts *f,
                               db_spot_component *k) {
    const double length = 1 + f->distance,
                 along = (length * length - 1 + f->rho * f->rho) / (2 * length),
                 by_distance = k->moves ? 0 : bandwidth * along / (f->width * f->width);
    k->spot.wavelength = wavelength * (1 - by_distance * f->distance);
    k->wavelength_variance =
        wavelength * wavelength * fmax(0, bandwidth * (1 - by_distance * along));
}

/* Is it on its panel's plane? */
static int is_seen(const spot_facts *f) { return f->bright != 0 && f->obliquity > 0; }

/* distance: from the sphere. */
static void fill_distance(double wavelength, const spot_facts *f, double distance, db_spot *spot) {
    spot->resolution = wavelength / f->rho;
    spot->excitation = distance / f->width;
    spot->turn = distance / fmax(f->arm, 1e-9) / DB_DEGREE;
    spot->width = f->width / fmax(f->arm, 1e-9) / DB_DEGREE;
}

static void fill_place(const db_plan *plan, const spot_facts *f, db_spot *spot) {
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
}

static double wavelength_of(const db_plan *plan, size_t source) {
    return 1 / plan->values.interface.source[source].kappa.v;
}

static void fill_component(const db_plan *plan, const db_spot_options *options,
                           const db_spot_name *name, const spot_facts *f, db_spot_component *k) {
    const double wavelength = wavelength_of(plan, name->source);
    const int crosses = name->passage.moves && name->passage.at_kind == SPOT_CROSSING;
    const double distance = crosses ? 0 : f->distance;
    db_spot *const spot = &k->spot;
    memset(k, 0, sizeof *k);
    spot->panel = name->panel;
    spot->source = name->source;
    k->moves = name->passage.moves;
    k->leaves = f->leaves;
    memcpy(spot->hkl, name->hkl, sizeof spot->hkl);
    fill_distance(wavelength, f, distance, spot);
    spot->recorded = f->recorded;
    spot->angle = name->passage.at / DB_DEGREE + f->angle;
    k->listed = fabs(distance) <=
                options->most_excitation * f->width + options->most_turn * DB_DEGREE * f->arm;
    select_wavelengths(wavelength, plan->values.interface.spread.bandwidth.v, f, k);
    if (!is_seen(f)) return;
    fill_place(plan, f, spot);
    k->seen = 1;
    k->is_wrong = isnan(f->bright) != 0;
    k->exponent = f->exponent;
    k->factor = fabs(f->bright) * ROOT_TWO_PI * ROOT_TWO_PI *
                sqrt(fmax(0, f->still[0] * f->still[1] - f->still[2] * f->still[2]));
}

void db_spot_component_complete(const db_plan *plan, int photons, db_spot_component *k) {
    db_spot *const spot = &k->spot;
    if (!k->moves) spot->recorded = exp(-0.5 * spot->excitation * spot->excitation);
    if (photons) k->factor *= pixel_factor(plan, spot);
}

/* Of a spot that moves, or whose node is at an angle of the rotation. */
static spot_facts facts_of(const db_plan *plan, const db_spot_name *name, db_spot_component *k) {
    const db_spot_values value =
        spot_at_double_0(&plan->experiment, &plan->values.interface, NULL, name);
    const db_number wavelength = { 1 / plan->values.interface.source[name->source].kappa.v };
    const db_vector rho =
        v3_scale_double_0(spot_turn_of_double_0(&plan->values.interface, name).r, wavelength);
    const db_vector u = v3_unit_double_0(value.centre); /* of the cap, see kernel/spot.h */
    const double width = sqrt(v3_dot_double_0(u, v3_symmetric_double_0(value.covariance, u)).v);
    double c[3], moved[3] = { 0 };
    db_vector_out(value.centre, c);
    const int moves = name->passage.moves;
    const double passed = moves ? pass_passages(name, &value, u, width, c, moved, k) : 0;
    const spot_top_double_0 top =
        spot_top_of_double_0(v3_passive_double_0(c[0], c[1], c[2]), value.covariance);
    const spot_on_panel_double_0 at = spot_meet_double_0(
        &plan->experiment, &plan->values.interface, &plan->values.interface.panel[name->panel],
        plan->experiment.detector.panels[name->panel].pixel_size, top.d);
    spot_facts f = { .distance = value.distance,
                     .width = value.width,
                     .rho = sqrt(v3_square_double_0(rho).v),
                     .arm = spot_arm_double_0(&value, rho),
                     .obliquity = at.obliquity,
                     .bright = value.amplitude.v,
                     .exponent = moves ? passed : top.exponent.v,
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

/* Not at the start of the rotation. */
static int node_turns(const db_spot_name *name) {
    return name->passage.moves || name->passage.at != 0;
}

static int same_place(const db_spot_name *a, const db_spot_name *b) {
    return !node_turns(a) && !node_turns(b) && a->source == b->source && a->panel == b->panel &&
           a->tail == b->tail;
}

static void add_node(const db_plan *plan, size_t source, const int hkl[3], db_placed_spots *p) {
    const double node[3] = { hkl[0], hkl[1], hkl[2] };
    for (int c = 0; c < 3; c++) p->hkl[c][p->count] = node[c];
    p->square[p->count++] = node_square_double_0(&plan->experiment.structure_factors, NULL,
                                                 plan->values.interface.site_curve, source, node)
                                .v;
}

static void find_places(const db_plan *plan, size_t source, size_t panel, int tail,
                        db_placed_spots *p) {
    const db_spot_search search = db_spot_search_of(plan, NULL);
    const db_spot_find find = db_spot_find_of(plan, &search, source);
    const db_spot_window window = db_spot_window_of(plan, panel, NULL);
    db_spot_finder_instance(plan->context->isa)->places(&find, &window, tail, p);
}

static spot_facts facts_at_rest(const db_placed_spots *p, int j) {
    return (spot_facts){ .distance = p->distance[j],
                         .width = p->width[j],
                         .rho = p->rho[j],
                         .arm = p->arm[j],
                         .pixel = { p->pixel[0][j], p->pixel[1][j] },
                         .still = { p->covariance[0][j], p->covariance[1][j], p->covariance[2][j] },
                         .obliquity = p->obliquity[j],
                         .bright = p->bright[j],
                         .exponent = p->exponent[j] };
}

void db_spot_components(const db_plan *plan, const db_spot_options *options,
                        const db_spot_name *name, int count, db_spot_component *k) {
    unsigned char done[DB_SPOT_NODES] = { 0 };
    int number[DB_SPOT_NODES];
    db_placed_spots p;
    for (int i = 0; i < count; i++) {
        if (done[i]) continue;
        if (node_turns(&name[i])) {
            db_spot_component own = { 0 };
            const spot_facts f = facts_of(plan, &name[i], &own);
            fill_component(plan, options, &name[i], &f, &k[i]);
            continue;
        }
        p.count = 0;
        for (int j = i; j < count; j++) {
            if (j > i && !same_place(&name[i], &name[j])) continue;
            done[j] = 1;
            number[p.count] = j;
            add_node(plan, name[j].source, name[j].hkl, &p);
        }
        find_places(plan, name[i].source, name[i].panel, name[i].tail, &p);
        for (int j = 0; j < p.count; j++) {
            const spot_facts f = facts_at_rest(&p, j);
            fill_component(plan, options, &name[number[j]], &f, &k[number[j]]);
        }
    }
}

void db_spots_at_rest(const db_plan *plan, const uint32_t *number, int count, db_spot *spot) {
    const double wavelength = wavelength_of(plan, 0);
    db_placed_spots p;
    p.count = 0;
    for (int j = 0; j < count; j++) add_node(plan, 0, spot[number[j]].hkl, &p);
    find_places(plan, 0, spot[number[0]].panel, 0, &p);
    for (int j = 0; j < count; j++) {
        const spot_facts f = facts_at_rest(&p, j);
        db_spot *const one = &spot[number[j]];
        one->photons = is_seen(&f) ? (double)NAN : 0;
        one->position[0] = one->position[1] = NAN;
        if (!is_seen(&f)) continue;
        fill_distance(wavelength, &f, f.distance, one);
        fill_place(plan, &f, one);
        one->source = 0;
        one->angle = 0;
        one->recorded = one->wavelength = one->wavelength_width = NAN;
    }
}
