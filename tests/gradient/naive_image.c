#include "naive_image.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static void cross(const double a[3], const double b[3], double out[3]) {
    const double c[3] = { a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                          a[0] * b[1] - a[1] * b[0] };
    memcpy(out, c, sizeof c);
}
static void unit(double v[3]) {
    const double length = sqrt(dot(v, v));
    for (int i = 0; i < 3; i++) v[i] /= length;
}
static void add(double v[3], double factor, const double w[3]) {
    for (int i = 0; i < 3; i++) v[i] += factor * w[i];
}

/* Right-handed rotation of v about a unit axis (degree). */
static void turn(const double axis[3], double degrees, double v[3]) {
    const double t = degrees * PI / 180, along = dot(axis, v) * (1 - cos(t));
    double across[3];
    cross(axis, v, across);
    for (int i = 0; i < 3; i++) v[i] = axis[i] * along + v[i] * cos(t) + across[i] * sin(t);
}
static void turn_xyz(const double degrees[3], double v[3]) {
    static const double axis[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    for (int i = 0; i < 3; i++) turn(axis[i], degrees[i], v);
}

/* a, b, c from the cell's constants by the reciprocal basis: a* along x, b* in the plane of x and
 * y.
 */
static void cell_vectors(const double cell[6], double real[3][3]) {
    double c[3], s[3], reciprocal[3][3];
    for (int i = 0; i < 3; i++) {
        c[i] = cos(cell[3 + i] * PI / 180);
        s[i] = sin(cell[3 + i] * PI / 180);
    }
    const double volume =
        cell[0] * cell[1] * cell[2] *
        sqrt(1 - c[0] * c[0] - c[1] * c[1] - c[2] * c[2] + 2 * c[0] * c[1] * c[2]);
    const double a = cell[1] * cell[2] * s[0] / volume, b = cell[2] * cell[0] * s[1] / volume,
                 g = cell[0] * cell[1] * s[2] / volume, /* lengths of a*, b*, c* */
        cos_beta = (c[2] * c[0] - c[1]) / (s[2] * s[0]),
                 cos_gamma = (c[0] * c[1] - c[2]) / (s[0] * s[1]),
                 sin_gamma = sqrt(1 - cos_gamma * cos_gamma);
    const double z = 1 / cell[2], x = g * cos_beta, y = -sqrt(fmax(0, g * g - x * x - z * z));
    /* y of c*: its sign is that of cos alpha* - cos beta* cos gamma* */
    const double cos_alpha = (c[1] * c[2] - c[0]) / (s[1] * s[2]);
    const double a_star[3] = { a, 0, 0 }, b_star[3] = { b * cos_gamma, b * sin_gamma, 0 },
                 c_star[3] = { x, cos_alpha - cos_beta * cos_gamma < 0 ? y : -y, z };
    memcpy(reciprocal[0], a_star, sizeof a_star);
    memcpy(reciprocal[1], b_star, sizeof b_star);
    memcpy(reciprocal[2], c_star, sizeof c_star);
    for (int i = 0; i < 3; i++) {
        cross(reciprocal[(i + 1) % 3], reciprocal[(i + 2) % 3], real[i]);
        for (int k = 0; k < 3; k++) real[i][k] *= volume;
    }
}

/* The generator ran1 of Numerical Recipes: minimal standard with a shuffle. */
typedef struct random_state {
    int64_t x, y, table[32];
} random_state;

static void start_random(random_state *r, long seed) {
    const int64_t m = 2147483647;
    r->x = seed < 1 ? 1 : seed;
    for (int i = 0; i < 40; i++) {
        r->x = 16807 * r->x % m;
        if (i >= 8) r->table[39 - i] = r->x;
    }
    r->y = r->table[0];
}
static double next_random(random_state *r) {
    const int j = (int)(r->y / 67108864);
    r->x = 16807 * r->x % 2147483647;
    r->y = r->table[j];
    r->table[j] = r->x;
    const float drawn = (float)((double)r->y * (1.0 / 2147483647)), most = (float)(1 - 1.2e-7);
    return (double)(drawn > most ? most : drawn);
}

/* Axis, and angle in parts of the cap, of mosaic domain number m. */
static double domain_axis(long seed, int m, double axis[3]) {
    random_state r;
    double fraction = 0;
    start_random(&r, seed);
    for (int i = 0; i <= m; i++) {
        const double r1 = 2 * next_random(&r) - 1, r2 = 2 * next_random(&r) - 1,
                     r3 = 2 * next_random(&r) - 1, across = sqrt(1 - r2 * r2);
        axis[0] = across * sin(PI * r1);
        axis[1] = across * cos(PI * r1);
        axis[2] = r2;
        fraction = cbrt(1 - r3 * r3);
    }
    return m == 0 ? 0 : fraction;
}

/* The spindle's axis with its tilts. */
static void spindle(const db_experiment *e, double axis[3]) {
    double u[3], w[3];
    memcpy(axis, e->goniometer.spindle_axis, sizeof u);
    cross(axis, e->beam.direction, u);
    if (dot(u, u) < 1e-12) cross(axis, e->beam.polarization_axis, u);
    unit(u);
    cross(u, axis, w);
    turn(w, e->goniometer.tilt[1], axis);
    turn(u, e->goniometer.tilt[0], axis);
}

/* A vector of the crystal's standard frame, brought into the laboratory at a spindle angle. */
static void mount(const db_experiment *e, double phi, double v[3]) {
    const double *m = e->crystal.orientation;
    const double given[3] = { dot(m, v), dot(m + 3, v), dot(m + 6, v) };
    double axis[3];
    memcpy(v, given, sizeof given);
    turn_xyz(e->crystal.misset, v);
    spindle(e, axis);
    turn(axis, phi, v);
}

/* Lattice vectors (angstrom) of a mosaic domain at a phi step. */
static void sample_vectors(const db_experiment *e, int step, int domain, double lattice[3][3]) {
    const db_crystal *c = &e->crystal;
    const double phi = e->goniometer.phi + step * e->goniometer.phi_step;
    double axis[3], fraction = domain_axis(c->mosaic_seed, domain, axis);
    double degrees = fraction * c->mosaic_spread;
    if (c->mosaic_anisotropic) { /* a cap for each component along a*, c x a* and c */
        double sum[3] = { 0, 0, 0 };
        for (int i = 0; i < 3; i++) {
            double own[3] = { i == 0, i == 1, i == 2 };
            mount(e, phi, own);
            add(sum, fraction * c->mosaic_abc[i] * dot(axis, own), own);
        }
        degrees = sqrt(dot(sum, sum));
        for (int i = 0; i < 3 && degrees > 0; i++) axis[i] = sum[i] / degrees;
    }
    cell_vectors(c->cell, lattice);
    for (int i = 0; i < 3; i++) {
        mount(e, phi, lattice[i]);
        turn(axis, degrees, lattice[i]);
    }
}

/* The amplitude of a row of n cells (n whole: their sum; else the quotient of sines). */
static double row_of_cells(double n, double h) {
    double re = 0, im = 0;
    if (n != floor(n)) return sin(PI * n * h) / sin(PI * h);
    for (int i = 0; i < (int)n; i++) {
        re += cos(2 * PI * i * h);
        im += sin(2 * PI * i * h);
    }
    return sqrt(re * re + im * im);
}

static double lattice_amplitude(const db_crystal *c, const double h[3]) {
    double g = 0, product = 1;
    for (int i = 0; i < 3; i++) {
        const double x = c->cells[i] * (h[i] - ceil(h[i] - 0.5));
        g += c->fudge * x * x;
        product *= c->shape == DB_SHAPE_SQUARE ? row_of_cells(c->cells[i], h[i]) : c->cells[i];
    }
    const double x = PI * sqrt(g);
    switch (c->shape) {
    case DB_SHAPE_SQUARE: break;
    case DB_SHAPE_ROUND:
        /* the series where the quotient loses its digits */
        product *=
            0.723601254558268 * (x < 0.1 ? 1 - x * x / 10 + pow(x, 4) / 280 - pow(x, 6) / 15120
                                         : 3 * (sin(x) - x * cos(x)) / (x * x * x));
        break;
    case DB_SHAPE_GAUSS: product *= exp(-g / 0.63); break;
    case DB_SHAPE_TOPHAT: product *= g < 0.3969; break;
    }
    return product;
}

static double listed(const db_structure_factors *f, const double node[3]) {
    int inside = f->amplitude != NULL, at[3] = { 0, 0, 0 };
    for (int i = 0; i < 3; i++) {
        at[i] = (int)node[i] - f->min[i];
        inside = inside && at[i] >= 0 && at[i] < f->extent[i];
    }
    return inside ? f->amplitude[(at[0] * f->extent[1] + at[1]) * f->extent[2] + at[2]]
                  : f->default_F;
}

/* The cubic through values at 0, 1, 2, 3 (Lagrange's products). */
static double cubic_through(const double place[4], const double value[4], double x) {
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        double term = value[i];
        for (int j = 0; j < 4; j++)
            if (j != i) term *= (x - place[j]) / (place[i] - place[j]);
        sum += term;
    }
    return sum;
}

static double structure_factor(const db_structure_factors *f, const double h[3]) {
    static const double place[4] = { -1, 0, 1, 2 };
    double node[3], plane[4], line[4], value[4];
    if (!f->amplitude || !f->interpolate) {
        for (int i = 0; i < 3; i++) node[i] = ceil(h[i] - 0.5);
        return listed(f, node);
    }
    for (int a = 0; a < 4; a++) {
        for (int b = 0; b < 4; b++) {
            for (int c = 0; c < 4; c++) {
                node[0] = floor(h[0]) + place[a];
                node[1] = floor(h[1]) + place[b];
                node[2] = floor(h[2]) + place[c];
                value[c] = listed(f, node);
            }
            line[b] = cubic_through(place, value, h[2] - floor(h[2]));
        }
        plane[a] = cubic_through(place, line, h[1] - floor(h[1]));
    }
    return cubic_through(place, plane, h[0] - floor(h[0]));
}

/* Squared amplitude of what has no lattice, times its number of molecules. */
static double lattice_free(const db_background *b, double stol) {
    const double molecules = pow(b->water_size * 1e-6, 3) * 1e6 * 6.02214179e23 / 18;
    double sum = molecules * 2.57 * 2.57;
    for (size_t i = 1; i + 2 < b->count; i++) {
        if (!(stol >= b->stol[i] && stol < b->stol[i + 1])) continue;
        const double f = cubic_through(b->stol + i - 1, b->amplitude + i - 1, stol),
                     volume = b->thickness * b->area * 1e-9,
                     number = volume * b->density * 1e6 * 6.02214179e23 / b->molecular_weight;
        sum += number * f * fabs(f);
    }
    return sum;
}

typedef struct ray {
    double i[3], wavelength, weight;
} ray;

static ray ray_of(const db_experiment *e, size_t number) {
    const db_beam *b = &e->beam;
    const db_source *s = &b->sources[number];
    double vertical[3], mean = 0, total = 0;
    ray r;
    cross(b->direction, b->polarization_axis, vertical);
    unit(vertical);
    memcpy(r.i, s->direction, sizeof r.i);
    turn(b->polarization_axis, 0.18 / PI * b->divergence[1] * s->spread[1], r.i);
    turn(vertical, 0.18 / PI * b->divergence[0] * s->spread[0], r.i);
    turn(b->polarization_axis, 0.18 / PI * b->tilt[1], r.i);
    turn(vertical, 0.18 / PI * b->tilt[0], r.i);
    for (size_t j = 0; j < b->source_count; j++) {
        total += b->sources[j].weight;
        mean += b->sources[j].weight * b->sources[j].wavelength_ratio;
    }
    mean /= total;
    r.weight = s->weight / total;
    r.wavelength = b->wavelength * (mean + b->spectrum_stretch * (s->wavelength_ratio - mean)) *
                   (1 + s->spread[2] * b->dispersion);
    return r;
}

/* Kahn's factor by the angle between the scattering plane and the field. */
static double polarization(const db_beam *b, const double i[3], const double d[3]) {
    const double c = dot(d, i);
    double magnetic[3], electric[3], psi = 0;
    if (!b->polarized) return 1;
    cross(b->polarization_axis, i, magnetic);
    unit(magnetic);
    cross(i, magnetic, electric);
    psi = -atan2(dot(d, magnetic), dot(d, electric));
    return 0.5 * (1 + c * c - b->polarization * cos(2 * psi) * (1 - c * c));
}

typedef struct place {
    double x[3], normal[3], along_normal; /* m; of the point's plane */
} place;

/* Rotations of the whole detector. */
static void swing(const db_detector *d, double v[3]) {
    turn_xyz(d->rotation, v);
    turn(d->twotheta_axis, d->twotheta, v);
}

/* The point (mm from the panel's corner, depth m) in the laboratory. */
static place place_of(const db_experiment *e, size_t number, double fast, double slow,
                      double depth) {
    const db_detector *d = &e->detector;
    const db_panel *p = &d->panels[number];
    double axis[3][3], unswung[3], origin[3] = { 0, 0, 0 }, in_plate[3], centre[3];
    place at;
    memcpy(axis[0], d->fast_axis, sizeof axis[0]);
    memcpy(axis[1], d->slow_axis, sizeof axis[1]);
    memcpy(axis[2], d->normal, sizeof axis[2]);
    memcpy(unswung, d->normal, sizeof unswung);
    turn_xyz(d->rotation, unswung);
    for (int i = 0; i < 3; i++) swing(d, axis[i]);
    const double ratio = dot(e->beam.direction, unswung);
    if (d->pivot == DB_PIVOT_BEAM)
        add(origin, d->distance_is_close ? d->distance / ratio : d->distance, e->beam.direction);
    else
        add(origin, d->distance_is_close ? d->distance : d->distance * ratio, axis[2]);
    add(origin, -d->centre[0], axis[0]);
    add(origin, -d->centre[1], axis[1]);
    /* in the plate's frame, turned about the panel's own centre, then shifted */
    const double half[2] = { 0.5 * p->fast_pixels * p->pixel_size[0],
                             0.5 * p->slow_pixels * p->pixel_size[1] };
    memcpy(centre, p->origin, sizeof centre);
    add(centre, half[0], p->fast_axis);
    add(centre, half[1], p->slow_axis);
    for (int i = 0; i < 3; i++) {
        in_plate[i] = (fast - half[0]) * p->fast_axis[i] + (slow - half[1]) * p->slow_axis[i];
        at.normal[i] = p->normal[i];
    }
    const double *const own[3] = { p->fast_axis, p->slow_axis, p->normal };
    for (int i = 0; i < 3; i++) {
        turn(own[i], d->panel_turn[i], in_plate);
        turn(own[i], d->panel_turn[i], at.normal);
    }
    for (int i = 0; i < 3; i++) add(in_plate, d->panel_shift[i], own[i]);
    add(in_plate, 1, centre);
    add(in_plate, 1e3 * depth, at.normal);
    double normal[3] = { 0, 0, 0 };
    for (int i = 0; i < 3; i++) {
        add(origin, in_plate[i], axis[i]);
        add(normal, at.normal[i], axis[i]);
    }
    for (int i = 0; i < 3; i++) at.x[i] = 1e-3 * origin[i];
    memcpy(at.normal, normal, sizeof normal);
    at.along_normal = dot(at.x, normal);
    return at;
}

/* Wraps the flat detector around the sample, starting from the direct beam's spot. */
static place wrapped(const db_experiment *e, place flat) {
    const double *b = e->beam.direction, radius = flat.along_normal / dot(b, flat.normal);
    double y[3];
    for (int i = 0; i < 3; i++) y[i] = flat.x[i] - radius * b[i];
    const double length = sqrt(dot(y, y)), angle = length / radius;
    for (int i = 0; i < 3; i++)
        flat.x[i] = radius * (cos(angle) * b[i] + sin(angle) * y[i] / length);
    return flat;
}

/* Of one point of the pixel in one layer: sum over rays, phi steps and domains. */
static double point_intensity(const db_experiment *e, const place *at, double layer_front,
                              double layer_back) {
    const double distance = sqrt(dot(at->x, at->x));
    double d[3], sum = 0;
    for (int i = 0; i < 3; i++) d[i] = at->x[i] / distance;
    const double obliquity = e->detector.curved ? 1 : dot(d, at->normal),
                 mu = 1e6 / e->detector.attenuation_depth;
    const double captured = e->detector.sensor_thickness > 0 ? exp(-layer_front * mu / obliquity) -
                                                                   exp(-layer_back * mu / obliquity)
                                                             : 1;
    for (size_t j = 0; j < e->beam.source_count; j++) {
        const ray r = ray_of(e, j);
        double q[3], crystal = 0;
        for (int i = 0; i < 3; i++) q[i] = (d[i] - r.i[i]) / r.wavelength;
        const double length = sqrt(dot(q, q)), stol = length / 2;
        const int samples = e->goniometer.phi_steps * e->crystal.mosaic_domains;
        for (int s = 0; s < samples; s++) {
            double v[3][3], h[3];
            sample_vectors(e, s / e->crystal.mosaic_domains, s % e->crystal.mosaic_domains, v);
            for (int i = 0; i < 3; i++) h[i] = dot(v[i], q);
            const double amplitude =
                structure_factor(&e->structure_factors, h) * lattice_amplitude(&e->crystal, h);
            crystal += amplitude * amplitude / samples;
        }
        crystal *= exp(-2 * e->crystal.b_factor * stol * stol);
        if (1 / length < e->d_min) crystal = 0;
        sum += r.weight * polarization(&e->beam, r.i, d) *
               (crystal + lattice_free(&e->background, stol));
    }
    return sum * captured;
}

/* Where a layer's photons are absorbed on average, by Simpson's rule along the ray through its
 * middle. */
static double layer_depth(const db_experiment *e, size_t panel, double f, double s, double front,
                          double back) {
    enum { INTERVALS = 1000 };
    if (e->detector.layers_at_front || !(back > front)) return front;
    const place middle = place_of(e, panel, f, s, (front + back) / 2);
    const double obliquity = dot(middle.x, middle.normal) / sqrt(dot(middle.x, middle.x)),
                 mu = 1e6 / e->detector.attenuation_depth;
    double sum = 0, total = 0;
    for (int i = 0; i <= INTERVALS; i++) {
        const double depth = front + (back - front) * i / INTERVALS;
        const double absorbed = exp(-mu * depth / obliquity) * (i % INTERVALS == 0 ? 1
                                                                : i % 2            ? 4
                                                                                   : 2);
        sum += absorbed * depth;
        total += absorbed;
    }
    return sum / total;
}

double naive_pixel(const db_experiment *e, size_t panel, int fast, int slow) {
    const db_panel *p = &e->detector.panels[panel];
    const int n = e->oversample, sensor = e->detector.sensor_thickness > 0,
              layers = sensor ? e->detector.sensor_layers : 1;
    const double step = sensor ? 1e-6 * e->detector.sensor_thickness / layers : 0,
                 area = 1e-6 * p->pixel_size[0] * p->pixel_size[1];
    double sum = 0;
    for (int i = 0; i < n * n * layers; i++) {
        const int layer = i / (n * n);
        const double f = (fast + (i % n + 0.5) / n) * p->pixel_size[0],
                     s = (slow + (i / n % n + 0.5) / n) * p->pixel_size[1];
        const double depth =
            e->detector.curved ? 0 : layer_depth(e, panel, f, s, layer * step, (layer + 1) * step);
        place at = place_of(e, panel, f, s, depth);
        if (e->detector.curved) at = wrapped(e, at);
        const double square = dot(at.x, at.x),
                     flat = area * at.along_normal / (square * sqrt(square));
        sum += point_intensity(e, &at, layer * step, (layer + 1) * step) *
               (e->point_pixel ? 1 / square : flat) / (n * n);
    }
    return 7.94079248018965e-30 * e->beam.fluence * e->beam.scale * sum;
}
