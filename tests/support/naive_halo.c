#include "support/naive_halo.h"
#include "support/naive_geometry.h"

#include <math.h>

/* Reciprocal vectors of the standard frame, and the volume of the cell. */
static double halo_reciprocal(const db_crystal *c, double star[3][3]) {
    double real[3][3];
    naive_cell_vectors(c->cell, real);
    for (int i = 0; i < 3; i++) naive_cross(real[(i + 1) % 3], real[(i + 2) % 3], star[i]);
    const double volume = naive_dot(real[0], star[0]);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) star[i][k] /= volume;
    return volume;
}

static double halo_number(const db_crystal *c, const double given[3], int axis) {
    return given[c->diffuse_anisotropic ? axis : 0];
}

/* (2 pi)^2 times the squared length, in these units along the axes, of a vector in Miller indices. */
static double halo_length(const db_crystal *c, const double given[3], const double h[3]) {
    double star[3][3], sum = 0;
    halo_reciprocal(c, star);
    for (int k = 0; k < 3; k++) {
        const double along = h[0] * star[0][k] + h[1] * star[1][k] + h[2] * star[2][k];
        sum += pow(2 * NAIVE_PI * halo_number(c, given, k) * along, 2);
    }
    return sum;
}

/* Gauss-Legendre points of -1 to 1: roots of the polynomial by Newton's method. */
static void halo_points(int n, double x[], double w[]) {
    for (int i = 0; i < n; i++) {
        double slope = 1;
        x[i] = cos(NAIVE_PI * (i + 0.75) / (n + 0.5));
        for (int step = 0; step < 30; step++) {
            double before = 1, now = x[i];
            for (int k = 2; k <= n; k++) {
                const double next = ((2 * k - 1) * x[i] * now - (k - 1) * before) / k;
                before = now;
                now = next;
            }
            slope = n * (x[i] * now - before) / (x[i] * x[i] - 1);
            x[i] -= now / slope;
        }
        w[i] = 2 / ((1 - x[i] * x[i]) * slope * slope);
    }
}

double naive_halo_tail(const db_crystal *c) {
    double x[6], w[6], y[4], v[4], sum = 0;
    halo_points(6, x, w);
    halo_points(4, y, v);
    for (int face = 0; face < 6; face++)
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 6; j++) {
                double p[3];
                p[face / 2] = face % 2 ? 1.5 : -1.5;
                p[(face / 2 + 1) % 3] = 1.5 * x[i];
                p[(face / 2 + 2) % 3] = 1.5 * x[j];
                /* points p/s: their volume is that of p by 1/s^4, beside 1.5^3 of the surface */
                for (int k = 0; k < 4; k++) {
                    const double s = (1 + y[k]) / 2,
                                 a = halo_length(c, c->diffuse_gamma, p) / (s * s);
                    sum += w[i] * w[j] * v[k] / 2 * pow(1.5, 3) / pow(s, 4) / pow(1 + a, 2);
                }
            }
    return sum;
}

static double halo_listed(const db_structure_factors *f, const int node[3]) {
    int entry = 0;
    for (int i = 0; i < 3; i++) {
        const int at = node[i] - f->min[i];
        if (!f->amplitude || at < 0 || at >= f->extent[i]) return f->default_F;
        entry = entry * f->extent[i] + at;
    }
    return f->amplitude[entry];
}

double naive_halo(const db_experiment *e, const double h[3]) {
    const db_crystal *c = &e->crystal;
    double star[3][3], sum = 0;
    if (!(c->diffuse_gamma[0] > 0)) return 0;
    const double volume = halo_reciprocal(c, star), share = naive_halo_tail(c) / 27;
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++)
            for (int k = -1; k <= 1; k++) {
                const int node[3] = { (int)ceil(h[0] - 0.5) + i, (int)ceil(h[1] - 0.5) + j,
                                      (int)ceil(h[2] - 0.5) + k };
                const double off[3] = { h[0] - node[0], h[1] - node[1], h[2] - node[2] },
                             f = halo_listed(&e->structure_factors, node),
                             x = halo_length(c, c->diffuse_gamma, off);
                sum += f * f * (1 / ((1 + x) * (1 + x)) + share);
            }
    sum *= halo_length(c, c->diffuse_sigma, h) * 8 * NAIVE_PI / volume;
    for (int i = 0; i < 3; i++) sum *= halo_number(c, c->diffuse_gamma, i) * c->Ncells[i];
    return sum;
}
