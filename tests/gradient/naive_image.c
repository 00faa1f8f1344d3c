#include "naive_image.h"
#include "support/naive_geometry.h"
#include "support/naive_halo.h"
#include "support/naive_sites.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
        axis[0] = across * sin(NAIVE_PI * r1);
        axis[1] = across * cos(NAIVE_PI * r1);
        axis[2] = r2;
        fraction = cbrt(1 - r3 * r3);
    }
    return m == 0 ? 0 : fraction;
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
            naive_mount(e, phi, own);
            naive_add(sum, fraction * c->mosaic_abc[i] * naive_dot(axis, own), own);
        }
        degrees = sqrt(naive_dot(sum, sum));
        for (int i = 0; i < 3 && degrees > 0; i++) axis[i] = sum[i] / degrees;
    }
    naive_cell_vectors(c->cell, lattice);
    for (int i = 0; i < 3; i++) {
        naive_mount(e, phi, lattice[i]);
        naive_turn(axis, degrees, lattice[i]);
    }
}

/* The amplitude of a row of n cells (n whole: their sum; else the quotient of sines). */
static double row_of_cells(double n, double h) {
    double re = 0, im = 0;
    if (n != floor(n)) return sin(NAIVE_PI * n * h) / sin(NAIVE_PI * h);
    for (int i = 0; i < (int)n; i++) {
        re += cos(2 * NAIVE_PI * i * h);
        im += sin(2 * NAIVE_PI * i * h);
    }
    return sqrt(re * re + im * im);
}

static double lattice_amplitude(const db_crystal *c, const double h[3]) {
    double g = 0, product = 1;
    for (int i = 0; i < 3; i++) {
        const double x = c->Ncells[i] * (h[i] - ceil(h[i] - 0.5));
        g += c->fudge * x * x;
        product *= c->shape == DB_SHAPE_SQUARE ? row_of_cells(c->Ncells[i], h[i]) : c->Ncells[i];
    }
    const double x = NAIVE_PI * sqrt(g);
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

static double listed(const db_structure_factors *f, const double node[3], double wavelength) {
    int inside = f->amplitude != NULL, at[3] = { 0, 0, 0 };
    for (int i = 0; i < 3; i++) {
        at[i] = (int)node[i] - f->min[i];
        inside = inside && at[i] >= 0 && at[i] < f->extent[i];
    }
    const int entry = (at[0] * f->extent[1] + at[1]) * f->extent[2] + at[2];
    return !inside    ? f->default_F
           : f->sites ? sqrt(naive_site_square(f->sites, entry, wavelength))
                      : f->amplitude[entry];
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

static double structure_factor(const db_structure_factors *f, const double h[3],
                               double wavelength) {
    static const double place[4] = { -1, 0, 1, 2 };
    double node[3], plane[4], line[4], value[4];
    if (!f->amplitude || !f->interpolate) {
        for (int i = 0; i < 3; i++) node[i] = ceil(h[i] - 0.5);
        return listed(f, node, wavelength);
    }
    for (int a = 0; a < 4; a++) {
        for (int b = 0; b < 4; b++) {
            for (int c = 0; c < 4; c++) {
                node[0] = floor(h[0]) + place[a];
                node[1] = floor(h[1]) + place[b];
                node[2] = floor(h[2]) + place[c];
                value[c] = listed(f, node, wavelength);
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

/* Wraps the flat detector around the sample, starting from the direct beam's spot. */
static naive_place wrapped(const db_experiment *e, naive_place flat) {
    const double *b = e->beam.direction, radius = flat.along_normal / naive_dot(b, flat.normal);
    double y[3];
    for (int i = 0; i < 3; i++) y[i] = flat.x[i] - radius * b[i];
    const double length = sqrt(naive_dot(y, y)), angle = length / radius;
    for (int i = 0; i < 3; i++)
        flat.x[i] = radius * (cos(angle) * b[i] + sin(angle) * y[i] / length);
    return flat;
}

/* Of one point of the pixel in one layer: sum over rays, phi steps and domains. */
static double point_intensity(const db_experiment *e, const naive_place *at, double layer_front,
                              double layer_back) {
    const double distance = sqrt(naive_dot(at->x, at->x));
    double d[3], sum = 0;
    for (int i = 0; i < 3; i++) d[i] = at->x[i] / distance;
    const double obliquity = e->detector.curved ? 1 : naive_dot(d, at->normal),
                 mu = 1e6 / e->detector.attenuation_depth;
    const double captured = e->detector.sensor_thickness > 0 ? exp(-layer_front * mu / obliquity) -
                                                                   exp(-layer_back * mu / obliquity)
                                                             : 1;
    for (size_t j = 0; j < e->beam.source_count; j++) {
        const naive_ray r = naive_ray_of(e, j);
        double q[3], crystal = 0;
        for (int i = 0; i < 3; i++) q[i] = (d[i] - r.i[i]) / r.wavelength;
        const double length = sqrt(naive_dot(q, q)), stol = length / 2;
        const int samples = e->goniometer.phi_steps * e->crystal.mosaic_domains;
        for (int s = 0; s < samples; s++) {
            double v[3][3], h[3];
            sample_vectors(e, s / e->crystal.mosaic_domains, s % e->crystal.mosaic_domains, v);
            for (int i = 0; i < 3; i++) h[i] = naive_dot(v[i], q);
            const double amplitude = structure_factor(&e->structure_factors, h, r.wavelength) *
                                     lattice_amplitude(&e->crystal, h);
            crystal += (amplitude * amplitude + naive_halo(e, h)) / samples;
        }
        crystal *= exp(-2 * e->crystal.b_factor * stol * stol);
        if (1 / length < e->dmin) crystal = 0;
        sum += r.weight * naive_polarization(&e->beam, r.i, d) *
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
    const naive_place middle = naive_place_of(e, panel, f, s, (front + back) / 2);
    const double obliquity =
                     naive_dot(middle.x, middle.normal) / sqrt(naive_dot(middle.x, middle.x)),
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
        naive_place at = naive_place_of(e, panel, f, s, depth);
        if (e->detector.curved) at = wrapped(e, at);
        const double square = naive_dot(at.x, at.x),
                     flat = area * at.along_normal / (square * sqrt(square));
        sum += point_intensity(e, &at, layer * step, (layer + 1) * step) *
               (e->point_pixel ? 1 / square : flat) / (n * n);
    }
    return 7.94079248018965e-30 * e->beam.fluence * e->beam.scale * sum;
}
