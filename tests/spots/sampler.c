#include "sampler.h"
#include "support/naive_geometry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Places of the uniform numbers. */
enum {
    ROTATION = 0, /* 3 */
    STRAIN = 3,   /* 1, and 6 of the tensor */
    MODE = 10,    /* 3 */
    BANDWIDTH = 13,
    DIVERGENCE = 14,   /* 2 */
    FOOTPRINT = 16,    /* 2 */
    POINT_SPREAD = 18, /* 2 */
    PIXEL = 20,        /* 2 */
    DEPTH = 22,
    ANGLE = 23
};

static double range_of(const db_experiment *e) {
    return e->goniometer.phi_steps * e->goniometer.phi_step;
}

sampler sampler_of(const db_experiment *e, naive_region region) {
    const db_spread *s = &e->spread;
    sampler out = { .e = e, .region = region };
    double counts[SAMPLER_NUMBERS] = { 0 };
    for (int i = 0; i < 3; i++) {
        counts[ROTATION + i] = s->mosaic;
        for (int k = 0; k < 6; k++) counts[ROTATION + i] += fabs(s->mosaic_tensor[k]);
        for (int k = 0; k < 9; k++) counts[MODE + i] += fabs(s->mode[i][k]);
    }
    counts[STRAIN] = s->strain;
    for (int i = 0; i < 6; i++) counts[STRAIN + 1 + i] = s->strain_tensor[i];
    counts[BANDWIDTH] = s->bandwidth;
    for (int i = 0; i < 2; i++) {
        counts[DIVERGENCE + i] = s->divergence[0] + s->divergence[1];
        counts[FOOTPRINT + i] = s->footprint[0] + s->footprint[1];
        counts[POINT_SPREAD + i] = s->point_spread[0] + s->point_spread[1];
        counts[PIXEL + i] = 1;
    }
    counts[DEPTH] = e->detector.sensor_thickness;
    counts[ANGLE] = range_of(e);
    for (int i = 0; i < SAMPLER_NUMBERS; i++)
        out.number[i] = counts[i] != 0 ? out.dimensions++ : -1;
    return out;
}

/* The rational approximation of P. J. Acklam, made exact by one of Halley's steps. */
double sampler_normal(double p) {
    static const double a[6] = { -3.969683028665376e+01, 2.209460984245205e+02,
                                 -2.759285104469687e+02, 1.383577518672690e+02,
                                 -3.066479806614716e+01, 2.506628277459239e+00 },
                        b[5] = { -5.447609879822406e+01, 1.615858368580409e+02,
                                 -1.556989798598866e+02, 6.680131188771972e+01,
                                 -1.328068155288572e+01 },
                        c[6] = { -7.784894002430293e-03, -3.223964580411365e-01,
                                 -2.400758277161838e+00, -2.549732539343734e+00,
                                 4.374664141464968e+00,  2.938163982698783e+00 },
                        d[4] = { 7.784695709041462e-03, 3.224671290700398e-01,
                                 2.445134137142996e+00, 3.754408661907416e+00 };
    const double low = 0.02425, tail = p < 0.5 ? p : 1 - p;
    double x;
    if (tail < low) {
        const double q = sqrt(-2 * log(tail));
        x = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
            ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
        if (p > 0.5) x = -x;
    } else {
        const double q = p - 0.5, r = q * q;
        x = (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
            (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
    }
    const double error = 0.5 * erfc(-x * sqrt(0.5)) - p,
                 step = error * sqrt(2 * NAIVE_PI) * exp(x * x / 2);
    return x - step / (1 + x * step / 2);
}

static double deviate(const sampler *s, const double uniform[], int place) {
    return s->number[place] < 0 ? 0 : sampler_normal(uniform[s->number[place]]);
}

/* Two correlated deviates. */
static void pair(const sampler *s, const double uniform[], int place, const double variance[3],
                 double unit, double out[2]) {
    const double a = deviate(s, uniform, place), b = deviate(s, uniform, place + 1),
                 first = sqrt(variance[0]), mixed = first > 0 ? variance[2] / first : 0;
    out[0] = unit * first * a;
    out[1] = unit * (mixed * a + sqrt(fmax(0, variance[1] - mixed * mixed)) * b);
}

/* E of one block. */
static void block_lattice(const sampler *s, const double uniform[], double out[3][3]) {
    static const int first[6] = { 0, 1, 2, 1, 2, 0 }, second[6] = { 0, 1, 2, 2, 0, 1 };
    const db_spread *p = &s->e->spread;
    double covariance[3][3], root[3][3] = { { 0 } }, w[3];
    memset(out, 0, 9 * sizeof(double));
    for (int n = 0; n < 6; n++)
        covariance[first[n]][second[n]] = covariance[second[n]][first[n]] =
            p->mosaic_tensor[n] + (n < 3 ? p->mosaic : 0);
    for (int i = 0; i < 3; i++) { /* Cholesky's factor */
        for (int k = 0; k <= i; k++) {
            double sum = covariance[i][k];
            for (int j = 0; j < k; j++) sum -= root[i][j] * root[k][j];
            if (i == k)
                root[i][i] = sqrt(fmax(0, sum));
            else
                root[i][k] = root[k][k] > 1e-12 ? sum / root[k][k] : 0;
        }
        w[i] = 0;
        for (int k = 0; k <= i; k++) w[i] += root[i][k] * deviate(s, uniform, ROTATION + k);
        w[i] *= NAIVE_PI / 180;
    }
    for (int i = 0; i < 3; i++) { /* w x */
        out[(i + 2) % 3][(i + 1) % 3] += w[i];
        out[(i + 1) % 3][(i + 2) % 3] -= w[i];
    }
    const double along_all = 1e-3 * sqrt(p->strain) * deviate(s, uniform, STRAIN);
    for (int i = 0; i < 3; i++) out[i][i] += along_all;
    const db_strain_ties ties = p->strain_ties;
    for (int n = 0; n < 6; n++) {
        const double strain =
            1e-3 * sqrt(p->strain_tensor[n]) * deviate(s, uniform, STRAIN + 1 + n);
        if ((n == 1 && ties != DB_STRAIN_FREE) || (n == 2 && ties == DB_STRAIN_ISOTROPIC)) continue;
        out[first[n]][second[n]] += strain;
        if (n >= 3) out[second[n]][first[n]] += strain;
        if (n == 0 && ties != DB_STRAIN_FREE) out[1][1] += strain;
        if (n == 0 && ties == DB_STRAIN_ISOTROPIC) out[2][2] += strain;
    }
    for (int m = 0; m < DB_SPREAD_MODES; m++) {
        const double amount = 1e-3 * deviate(s, uniform, MODE + m);
        for (int i = 0; i < 9; i++) out[i / 3][i % 3] += amount * p->mode[m][i];
    }
}

static void multiply(const double a[3][3], const double b[3][3], double out[3][3]) {
    double product[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            product[i][k] = a[i][0] * b[0][k] + a[i][1] * b[1][k] + a[i][2] * b[2][k];
    memcpy(out, product, sizeof product);
}

/* exp(factor m): a series, the terms of which fall fast for what crystals do. */
static void exponential(const double m[3][3], double factor, double out[3][3]) {
    double term[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    memcpy(out, term, sizeof term);
    for (int n = 1; n < 12; n++) {
        multiply(term, m, term);
        for (int i = 0; i < 9; i++) {
            term[i / 3][i % 3] *= factor / n;
            out[i / 3][i % 3] += term[i / 3][i % 3];
        }
    }
}

/* The inverse of a block's covariance in Miller indices, and its squared amplitude at a node. */
static double block_shape(const db_experiment *e, double inverse[3][3]) {
    const db_crystal *c = &e->crystal;
    const double *x = e->spread.size_correlation, *n = c->Ncells;
    const double square = c->shape == DB_SHAPE_GAUSS ? 0.63 / 4 / c->fudge : 0.5 / NAIVE_PI;
    const double det = 1 + 2 * x[0] * x[1] * x[2] - x[0] * x[0] - x[1] * x[1] - x[2] * x[2];
    const double adjugate[3][3] = {
        { 1 - x[0] * x[0], x[0] * x[1] - x[2], x[0] * x[2] - x[1] },
        { x[0] * x[1] - x[2], 1 - x[1] * x[1], x[1] * x[2] - x[0] },
        { x[0] * x[2] - x[1], x[1] * x[2] - x[0], 1 - x[2] * x[2] },
    };
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) inverse[i][k] = adjugate[i][k] / det * n[i] * n[k] / square;
    return pow(n[0] * n[1] * n[2], 2) / det;
}

static double squared_amplitude(const db_structure_factors *f, const double node[3]) {
    size_t at = 0;
    for (int i = 0; i < 3; i++) {
        const int j = (int)node[i] - f->min[i];
        if (!f->amplitude || j < 0 || j >= f->extent[i]) return f->default_F * f->default_F;
        at = at * (size_t)f->extent[i] + (size_t)j;
    }
    return f->amplitude[at] * f->amplitude[at];
}

/* One ray of a draw, and the blocks of each tail that it meets. */
typedef struct ray {
    naive_ray ray;
    double to_index[DB_SPREAD_TAILS + 1][3][3]; /* Miller indices of a scattering vector */
    double part[DB_SPREAD_TAILS + 1];
    double inverse[3][3], peak;
} ray;

/* The Gaussians of the nodes around a place in the lattice: of all that are within reach. */
static double around(const db_experiment *e, const ray *r, const double h[3]) {
    double sum = 0;
    for (int n = 0; n < 8; n++) {
        double node[3], from[3], exponent = 0;
        for (int i = 0; i < 3; i++) {
            node[i] = floor(h[i]) + (n >> i & 1);
            from[i] = h[i] - node[i];
        }
        for (int i = 0; i < 3; i++) exponent += from[i] * naive_dot(r->inverse[i], from);
        if (exponent < 80)
            sum += squared_amplitude(&e->structure_factors, node) * exp(-exponent / 2);
    }
    return sum;
}

/* Intensity in a direction, without the solid angle. */
static double intensity(const db_experiment *e, const ray *r, const double d[3]) {
    double q[3], h[3], sum = 0;
    for (int i = 0; i < 3; i++) q[i] = (d[i] - r->ray.i[i]) / r->ray.wavelength;
    for (int t = 0; t <= e->spread.tails; t++) {
        for (int i = 0; i < 3; i++) h[i] = naive_dot(r->to_index[t][i], q);
        sum += r->part[t] * around(e, r, h);
    }
    if (sum == 0) return 0;
    return sum * r->peak * r->ray.weight * exp(-e->crystal.b_factor * naive_dot(q, q) / 2) *
           naive_polarization(&e->beam, r->ray.i, d);
}

/* Where photons of a draw stop. */
typedef struct places {
    naive_place corner;
    double fast[3], slow[3]; /* per pixel (m) */
    double first[2];         /* pixels to be added to a pixel's number */
    double scattered[3];     /* m */
    double depth;            /* uniform */
} places;

static double pixel_value(const sampler *s, const places *at, const ray *rays, int fast, int slow) {
    const db_experiment *e = s->e;
    const db_panel *p = &e->detector.panels[s->region.panel];
    double x[3], captured = 1, sum = 0;
    for (int i = 0; i < 3; i++)
        x[i] = at->corner.x[i] + (fast + at->first[0]) * at->fast[i] +
               (slow + at->first[1]) * at->slow[i] - at->scattered[i];
    if (e->detector.sensor_thickness > 0) {
        const double thickness = 1e-6 * e->detector.sensor_thickness,
                     slant = naive_dot(x, at->corner.normal) / sqrt(naive_dot(x, x)),
                     depth = 1e-6 * e->detector.attenuation_depth * slant;
        captured = 1 - exp(-thickness / depth);
        naive_add(x, -depth * log(1 - at->depth * captured), at->corner.normal);
    }
    const double square = naive_dot(x, x), distance = sqrt(square);
    double d[3];
    for (int i = 0; i < 3; i++) d[i] = x[i] / distance;
    for (size_t j = 0; j < e->beam.source_count; j++) sum += intensity(e, &rays[j], d);
    if (sum == 0) return 0;
    return sum * captured *
           (e->point_pixel ? 1 / square
                           : 1e-6 * p->pixel_size[0] * p->pixel_size[1] *
                                 naive_dot(x, at->corner.normal) / (square * distance));
}

sampler_numbers sampler_draw(const sampler *s, const double uniform[]) {
    const db_spread *spread = &s->e->spread;
    sampler_numbers out;
    block_lattice(s, uniform, out.block);
    out.longer = 1e-3 * sqrt(spread->bandwidth) * deviate(s, uniform, BANDWIDTH);
    pair(s, uniform, DIVERGENCE, spread->divergence, 1e-3, out.divergence);
    pair(s, uniform, FOOTPRINT, spread->footprint, 1e-3, out.footprint);
    pair(s, uniform, POINT_SPREAD, spread->point_spread, 1e-3, out.point_spread);
    for (int i = 0; i < 2; i++) out.within[i] = uniform[s->number[PIXEL + i]];
    out.depth = s->number[DEPTH] < 0 ? 0.5 : uniform[s->number[DEPTH]];
    out.angle =
        s->number[ANGLE] < 0 ? 0 : uniform[s->number[ANGLE]] * range_of(s->e) * NAIVE_PI / 180;
    return out;
}

static places places_of(const sampler *s, const sampler_numbers *n, const double axis[2][3]) {
    const db_experiment *e = s->e;
    const double *pixel = e->detector.panels[s->region.panel].pixel_size;
    const size_t panel = s->region.panel;
    places at = { .corner = naive_place_of(e, panel, 0, 0, 0), .depth = n->depth };
    const naive_place along[2] = { naive_place_of(e, panel, pixel[0], 0, 0),
                                   naive_place_of(e, panel, 0, pixel[1], 0) };
    for (int i = 0; i < 3; i++) {
        at.fast[i] = along[0].x[i] - at.corner.x[i];
        at.slow[i] = along[1].x[i] - at.corner.x[i];
        at.scattered[i] = n->footprint[0] * axis[0][i] + n->footprint[1] * axis[1][i];
    }
    for (int i = 0; i < 2; i++) at.first[i] = n->within[i] - n->point_spread[i] / (1e-3 * pixel[i]);
    return at;
}

/* A source's ray, and the blocks of this draw. */
static ray ray_of(const sampler *s, const sampler_numbers *n, const double axis[2][3],
                  size_t source) {
    const db_experiment *e = s->e;
    double turn[3][3], cell[3][3];
    ray r;
    r.ray = naive_ray_of(e, source);
    r.ray.wavelength *= 1 + n->longer;
    for (int k = 0; k < 2; k++) naive_add(r.ray.i, n->divergence[k], axis[k]);
    naive_unit(r.ray.i);
    r.peak = block_shape(e, r.inverse);
    r.part[0] = 1;
    naive_cell_vectors(e->crystal.cell, cell);
    for (int i = 0; i < 3; i++) { /* row i: where the standard frame's axis i points */
        for (int k = 0; k < 3; k++) turn[i][k] = i == k;
        naive_mount(e, e->goniometer.phi + n->angle * 180 / NAIVE_PI, turn[i]);
    }
    for (int t = 0; t <= e->spread.tails; t++) {
        double back[3][3];
        exponential(n->block, t == 0 ? -1 : -e->spread.tail_width[t - 1], back);
        multiply(cell, back, back);
        multiply(back, turn, r.to_index[t]);
        if (t > 0) {
            r.part[t] = e->spread.tail_fraction[t - 1];
            r.part[0] -= r.part[t];
        }
    }
    return r;
}

void sampler_image(const sampler *s, const double uniform[], double *image) {
    const db_experiment *e = s->e;
    const naive_region *g = &s->region;
    const sampler_numbers n = sampler_draw(s, uniform);
    double axis[2][3];
    naive_across_beam(e, axis);
    const places at = places_of(s, &n, axis);
    ray *rays = malloc(e->beam.source_count * sizeof *rays);
    for (size_t j = 0; j < e->beam.source_count; j++) rays[j] = ray_of(s, &n, axis, j);
    const double scale = 7.94079248018965e-30 * e->beam.fluence * e->beam.scale;
    for (int i = 0; i < g->fast_size * g->slow_size; i++)
        image[i] = scale * pixel_value(s, &at, rays, g->fast + i % g->fast_size,
                                       g->slow + i / g->fast_size);
    free(rays);
}

void sampler_exact(const sampler *s, void *own, const double uniform[], double *image) {
    (void)own;
    sampler_image(s, uniform, image);
}

/* The generator splitmix64. */
static double random_uniform(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

/* Mean and variance so far, one image more. */
static void one_more(size_t pixels, size_t before, const double *image, double *mean,
                     double *squares) {
    for (size_t i = 0; i < pixels; i++) {
        const double off = image[i] - mean[i];
        mean[i] += off / (double)(before + 1);
        squares[i] += off * (image[i] - mean[i]);
    }
}

static size_t pixels_of(const sampler *s) {
    return (size_t)s->region.fast_size * (size_t)s->region.slow_size;
}

void sampler_random(const sampler *s, size_t draws, uint64_t seed, double *mean, double *variance) {
    const size_t pixels = pixels_of(s);
    double *image = malloc(pixels * sizeof *image), uniform[SAMPLER_NUMBERS];
    memset(mean, 0, pixels * sizeof *mean);
    memset(variance, 0, pixels * sizeof *variance);
    for (size_t n = 0; n < draws; n++) {
        for (int k = 0; k < s->dimensions; k++) uniform[k] = random_uniform(&seed);
        sampler_image(s, uniform, image);
        one_more(pixels, n, image, mean, variance);
    }
    for (size_t i = 0; i < pixels; i++) variance[i] /= (double)(draws - 1);
    free(image);
}

/* Generating vector of an extensible lattice of up to 2^20 points (F. Y. Kuo's lattice-32001). */
static const uint64_t generator[SAMPLER_NUMBERS] = {
    1,      182667, 469891, 498753, 110745, 446247, 250185, 118627, 245333, 283199, 408519, 391023,
    246327, 126539, 399185, 461527, 300343, 69681,  516695, 436179, 106383, 238523, 413283, 70841
};

void sampler_lattice(const sampler *s, sampler_function *image_of, void *own, int log2_points,
                     int shifts, uint64_t seed, double *mean, double *error) {
    const size_t pixels = pixels_of(s), points = (size_t)1 << log2_points;
    double *image = malloc(2 * pixels * sizeof *image), *sum = image + pixels;
    memset(mean, 0, pixels * sizeof *mean);
    memset(error, 0, pixels * sizeof *error);
    for (int shift = 0; shift < shifts; shift++) {
        double by[SAMPLER_NUMBERS], uniform[SAMPLER_NUMBERS];
        for (int k = 0; k < s->dimensions; k++) by[k] = random_uniform(&seed);
        memset(sum, 0, pixels * sizeof *sum);
        for (size_t n = 0; n < points; n++) {
            for (int k = 0; k < s->dimensions; k++) {
                const double x = by[k] + (double)(n * generator[k] % points) / (double)points;
                uniform[k] = fmin(fmax(x - floor(x), 1e-15), 1 - 1e-15);
            }
            image_of(s, own, uniform, image);
            for (size_t i = 0; i < pixels; i++) sum[i] += image[i] / (double)points;
        }
        one_more(pixels, (size_t)shift, sum, mean, error);
    }
    for (size_t i = 0; i < pixels; i++) error[i] = sqrt(error[i] / (shifts - 1) / shifts);
    free(image);
}
