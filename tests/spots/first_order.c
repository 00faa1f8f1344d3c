#include "first_order.h"
#include "support/naive_geometry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A spot of a single block. */
typedef struct block_spot {
    const naive_spot *spot;
    double inverse[3][3], amplitude, widest; /* of the block alone; largest variance */
} block_spot;

struct first_order {
    naive_list list;
    block_spot *block;                    /* list.count */
    naive_point *point;                   /* sub-pixels of pixels */
    double *factor;                       /* by source and point */
    double normal[3], fast[3], slow[3];   /* per m */
    double axis[2][3], middle[3], radius; /* radian: of the region */
    double *other;                        /* an image */
};

static double determinant3(const double m[3][3]) {
    double c[3];
    naive_cross(m[1], m[2], c);
    return naive_dot(m[0], c);
}

/* The covariance of a block's transform about the node, from Miller indices to directions. */
static block_spot block_of(const db_experiment *e, const naive_spot *spot) {
    const db_crystal *c = &e->crystal;
    const double *x = e->spread.size_correlation;
    const double square = c->shape == DB_SHAPE_GAUSS ? 0.63 / 4 / c->fudge : 0.5 / NAIVE_PI;
    double cell[3][3], vector[3][3], covariance[3][3], total[3][3];
    block_spot out = { .spot = spot };
    naive_cell_vectors(c->cell, cell);
    for (int i = 0; i < 3; i++) { /* reciprocal vectors in the laboratory, times the wavelength */
        double standard[3], across[3];
        naive_cross(cell[(i + 1) % 3], cell[(i + 2) % 3], standard);
        naive_cross(cell[1], cell[2], across);
        for (int k = 0; k < 3; k++) vector[i][k] = 0;
        for (int k = 0; k < 3; k++)
            naive_add(vector[i],
                      spot->wavelength * sqrt(square) / c->Ncells[i] * standard[k] /
                          naive_dot(cell[0], across),
                      spot->turn[k]);
    }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            covariance[i][k] = 0;
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++)
                    covariance[i][k] += vector[a][i] * vector[b][k] * (a == b ? 1 : x[3 - a - b]);
            total[i][k] = (double)spot->covariance[i][k];
        }
    const double det = determinant3(covariance);
    for (int i = 0; i < 3; i++) {
        naive_cross(covariance[(i + 1) % 3], covariance[(i + 2) % 3], out.inverse[i]);
        for (int k = 0; k < 3; k++) out.inverse[i][k] /= det;
        out.widest += covariance[i][i];
    }
    out.amplitude = (double)(spot->amplitude * spot->weight) * sqrt(determinant3(total) / det);
    return out;
}

first_order *first_order_of(const sampler *s, int cap) {
    const db_experiment *e = s->e;
    const naive_region *g = &s->region;
    const db_panel *p = &e->detector.panels[g->panel];
    const int n = e->oversample;
    const size_t points = (size_t)(g->fast_size * g->slow_size * n * n);
    first_order *f = calloc(1, sizeof *f);
    f->list = naive_spot_list(e, *g, NAIVE_ERROR_FUNCTION, 0);
    f->block = malloc((f->list.count + 1) * sizeof *f->block);
    for (size_t k = 0; k < f->list.count; k++) {
        if (!cap) f->list.spot[k].cap = 0;
        f->block[k] = block_of(e, &f->list.spot[k]);
    }
    f->point = malloc(points * sizeof *f->point);
    f->factor = malloc(points * e->beam.source_count * sizeof *f->factor);
    f->other = malloc(points * sizeof *f->other);
    for (size_t i = 0; i < points; i++) {
        const int pixel = (int)i / (n * n), sub = (int)i % (n * n);
        f->point[i] = naive_point_of(
            e, g->panel, (g->fast + pixel % g->fast_size + (sub % n + 0.5) / n) * p->pixel_size[0],
            (g->slow + pixel / g->fast_size + (sub / n + 0.5) / n) * p->pixel_size[1]);
        for (size_t j = 0; j < e->beam.source_count; j++)
            f->factor[j * points + i] = naive_factor(e, j, f->point[i].d) * f->point[i].factor;
    }
    const naive_place corner = naive_place_of(e, g->panel, 0, 0, 0),
                      along = naive_place_of(e, g->panel, 1, 0, 0),
                      down = naive_place_of(e, g->panel, 0, 1, 0);
    for (int i = 0; i < 3; i++) {
        f->fast[i] = 1e3 * (along.x[i] - corner.x[i]);
        f->slow[i] = 1e3 * (down.x[i] - corner.x[i]);
        f->normal[i] = corner.normal[i];
    }
    naive_across_beam(e, f->axis);
    const naive_point middle =
        naive_point_of(e, g->panel, (g->fast + 0.5 * g->fast_size) * p->pixel_size[0],
                       (g->slow + 0.5 * g->slow_size) * p->pixel_size[1]);
    memcpy(f->middle, middle.d, sizeof f->middle);
    for (size_t i = 0; i < points; i++) {
        double off[3];
        for (int k = 0; k < 3; k++) off[k] = f->point[i].d[k] - middle.d[k];
        f->radius = fmax(f->radius, sqrt(naive_dot(off, off)));
    }
    return f;
}

void first_order_destroy(first_order *f) {
    free(f->list.spot);
    free(f->block);
    free(f->point);
    free(f->factor);
    free(f->other);
    free(f);
}

/* Where the Gaussian of a draw's block appears. along: what moves a photon on the detector (m). */
static void place_of_draw(const first_order *f, const sampler_numbers *n, const naive_spot *spot,
                          double tail, const double along[3], double c[3]) {
    double moved[3], u[3], across;
    for (int i = 0; i < 3; i++) c[i] = u[i] = (double)spot->c[i];
    naive_unit(u);
    for (int i = 0; i < 3; i++)
        moved[i] = along[i] + sqrt(spot->depth_variance) * sampler_normal(n->depth) * f->normal[i];
    across = naive_dot(moved, u);
    for (int i = 0; i < 3; i++) c[i] -= (moved[i] - across * u[i]) / spot->distance;
    for (int i = 0; i < 3; i++) {
        c[i] += spot->wavelength * n->longer * spot->r[i] +
                (double)spot->v[i] * (n->angle - spot->angle);
        naive_add(c, tail * spot->wavelength * naive_dot(n->block[i], spot->node), spot->turn[i]);
    }
    for (int k = 0; k < 2; k++) naive_add(c, n->divergence[k], f->axis[k]);
}

/* How far the cap is from its tangent plane in a direction, in parts of the node's vector. */
static double cap_height(const naive_spot *spot, const double d[3]) {
    double height = -0.5; /* (|c|^2 - 1)/2 + c.(d - c) */
    for (int i = 0; i < 3; i++) {
        const double c = (double)spot->c[i];
        height += c * (d[i] - c / 2);
    }
    return (double)spot->cap * spot->wavelength * height;
}

void first_order_image(const sampler *s, void *own, const double uniform[], double *image) {
    const db_experiment *e = s->e;
    first_order *f = own;
    const sampler_numbers n = sampler_draw(s, uniform);
    const double *pixel = e->detector.panels[s->region.panel].pixel_size;
    const int over = e->oversample, pixels = s->region.fast_size * s->region.slow_size;
    double along[3] = { 0, 0, 0 };
    int sub[2];
    memset(image, 0, (size_t)pixels * sizeof *image);
    for (int i = 0; i < 2; i++) { /* the sub-pixel, and a Gaussian of its width */
        sub[i] = (int)fmin(over - 1, floor(n.within[i] * over));
        const double part = fmin(fmax(n.within[i] * over - sub[i], 1e-15), 1 - 1e-15);
        naive_add(along,
                  1e-3 * pixel[i] / over * sqrt(1.0 / 12) * sampler_normal(part) -
                      n.point_spread[i],
                  i == 0 ? f->fast : f->slow);
        naive_add(along, -n.footprint[i], f->axis[i]);
    }
    for (size_t k = 0; k < f->list.count; k++) {
        const block_spot *b = &f->block[k];
        const naive_spot *spot = b->spot;
        const double from = n.angle - spot->angle;
        double c[3], off[3];
        if (spot->low < spot->high && !(from >= spot->low && from < spot->high)) continue;
        place_of_draw(f, &n, spot, spot->tail == 0 ? 1 : e->spread.tail_width[spot->tail - 1],
                      along, c);
        for (int i = 0; i < 3; i++) off[i] = c[i] - f->middle[i];
        if (sqrt(naive_dot(off, off)) > f->radius + 9 * sqrt(b->widest)) continue;
        for (int i = 0; i < pixels; i++) {
            const int at = i * over * over + sub[1] * over + sub[0];
            double delta[3], exponent = 0;
            for (int a = 0; a < 3; a++) delta[a] = f->point[at].d[a] - c[a];
            naive_add(delta, -cap_height(spot, f->point[at].d), spot->r);
            for (int a = 0; a < 3; a++) exponent += delta[a] * naive_dot(b->inverse[a], delta);
            if (exponent < 80)
                image[i] += b->amplitude * exp(-exponent / 2) *
                            f->factor[(int)spot->source * pixels * over * over + at];
        }
    }
}

void first_order_missing(const sampler *s, void *own, const double uniform[], double *image) {
    first_order *f = own;
    sampler_image(s, uniform, image);
    first_order_image(s, own, uniform, f->other);
    for (int i = 0; i < s->region.fast_size * s->region.slow_size; i++) image[i] -= f->other[i];
}
