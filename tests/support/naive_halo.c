#include "support/naive_halo.h"
#include "support/naive_geometry.h"

#include <math.h>
#include <string.h>

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

/* Integral of t^((dimensions - 1)/2) exp(-t y) over t from `from` to `to`, by points along sqrt(t). */
static double halo_integral(int dimensions, double y, double from, double to) {
    enum { POINTS = 48 };
    static double x[POINTS], w[POINTS];
    double sum = 0;
    if (w[0] == 0) halo_points(POINTS, x, w);
    for (int i = 0; i < POINTS; i++) {
        const double half = (sqrt(to) - sqrt(from)) / 2, u = sqrt(from) + half * (1 + x[i]);
        sum += w[i] * half * 2 * pow(u, dimensions) * exp(-u * u * y);
    }
    return sum;
}

/* Mean of 1/x with the weights 1/x^4. */
static double halo_softest(const double *x, int count) {
    double above = 0, below = 0;
    for (int i = 0; i < count; i++) {
        above += pow(x[i], -5);
        below += pow(x[i], -4);
    }
    return above / below;
}

/* A basis of the nodes, softest axis first, the form of offsets in it, and the limits. */
typedef struct {
    double basis[3][3];   /* rows in Miller indices */
    double form[3][3][3]; /* [k]: with the k softest axes left out */
    double until[3];
} halo_layers;

/* Shortens the basis by small multiples of its other vectors, to 0.8 of a square or less each time. */
static void halo_short_basis(const db_crystal *c, double basis[3][3]) {
    enum { MOST = 4 };
    double best = 0, shorter[3];
    while (best < 0.8) {
        int which = 0;
        best = 0.8;
        for (int i = 0; i < 3; i++)
            for (int p = -MOST; p <= MOST; p++)
                for (int q = -MOST; q <= MOST; q++) {
                    double v[3];
                    for (int x = 0; x < 3; x++)
                        v[x] = basis[i][x] + p * basis[(i + 1) % 3][x] + q * basis[(i + 2) % 3][x];
                    const double part = halo_length(c, c->diffuse_gamma, v) /
                                        halo_length(c, c->diffuse_gamma, basis[i]);
                    if (part < best) {
                        best = 0.999 * part;
                        which = i;
                        memcpy(shorter, v, sizeof v);
                    }
                }
        if (best < 0.8) memcpy(basis[which], shorter, sizeof shorter);
    }
}

static void halo_swap(double a[3], double b[3]) {
    for (int x = 0; x < 3; x++) {
        const double of_a = a[x];
        a[x] = b[x];
        b[x] = of_a;
    }
}

static void halo_form_of(const db_crystal *c, double basis[3][3], double form[3][3]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double sum[3], apart[3];
            for (int x = 0; x < 3; x++) {
                sum[x] = basis[i][x] + basis[j][x];
                apart[x] = basis[i][x] - basis[j][x];
            }
            form[i][j] =
                (halo_length(c, c->diffuse_gamma, sum) - halo_length(c, c->diffuse_gamma, apart)) /
                4;
        }
}

/* What is left of a form if this axis is where it is least. */
static void halo_without(double form[3][3], int axis, double left[3][3]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            left[i][j] = form[i][j] - form[axis][i] * form[axis][j] / form[axis][axis];
}

static halo_layers layers_of(const db_crystal *c) {
    static const double wide[3] = { 2, 2.2, 2.4 };
    halo_layers l = { .basis = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } };
    halo_short_basis(c, l.basis);
    for (int i = 1; i < 3; i++)
        if (halo_length(c, c->diffuse_gamma, l.basis[i]) <
            halo_length(c, c->diffuse_gamma, l.basis[0]))
            halo_swap(l.basis[0], l.basis[i]);
    halo_form_of(c, l.basis, l.form[0]);
    halo_without(l.form[0], 0, l.form[1]);
    if (l.form[1][2][2] < l.form[1][1][1]) halo_swap(l.basis[1], l.basis[2]);
    halo_form_of(c, l.basis, l.form[0]);
    halo_without(l.form[0], 0, l.form[1]);
    halo_without(l.form[1], 1, l.form[2]);
    for (int k = 0; k < 3; k++) {
        double x[3];
        for (int i = k; i < 3; i++) x[i - k] = l.form[k][i][i];
        l.until[k] = wide[k] * halo_softest(x, 3 - k);
        if (k > 0) l.until[k] = fmin(l.until[k], l.until[k - 1]);
    }
    return l;
}

static double halo_y(const halo_layers *l, int k, const double off[3]) {
    double y = 1;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) y += off[i] * l->form[k][i][j] * off[j];
    return y;
}

/* Beyond the 27 nodes around the nearest one, for equal structure factors. off: from the nearest. */
static double halo_rest(const halo_layers *l, const double off[3]) {
    const double soft = l->form[0][0][0], area = soft * l->form[1][1][1],
                 volume = area * l->form[2][2][2];
    double sum = pow(NAIVE_PI, 1.5) / sqrt(volume) * halo_integral(0, 1, 0, l->until[2]);
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++)
            for (int k = -1; k <= 1; k++) {
                const double o[3] = { off[0] - i, off[1] - j, off[2] - k };
                sum -= halo_integral(3, halo_y(l, 0, o), 0, l->until[0]);
                if (i == 0)
                    sum += sqrt(NAIVE_PI / soft) *
                           halo_integral(2, halo_y(l, 1, o), l->until[1], l->until[0]);
                if (i == 0 && j == 0)
                    sum += NAIVE_PI / sqrt(area) *
                           halo_integral(1, halo_y(l, 2, o), l->until[2], l->until[1]);
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
    double star[3][3], middle[3], off[3], sum = 0;
    if (!(c->diffuse_gamma[0] > 0)) return 0;
    const double volume = halo_reciprocal(c, star);
    const halo_layers l = layers_of(c);
    for (int i = 0; i < 3; i++) { /* Cramer's rule; the determinant is 1 or -1 */
        double across[3];
        naive_cross(l.basis[(i + 1) % 3], l.basis[(i + 2) % 3], across);
        const double at = naive_dot(across, h) * naive_dot(across, l.basis[i]);
        middle[i] = ceil(at - 0.5);
        off[i] = at - middle[i];
    }
    const double share = halo_rest(&l, off) / 27;
    for (int n = 0; n < 27; n++) {
        const int step[3] = { n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1 };
        const double o[3] = { off[0] - step[0], off[1] - step[1], off[2] - step[2] };
        int node[3];
        for (int x = 0; x < 3; x++) {
            double at = 0;
            for (int i = 0; i < 3; i++) at += (middle[i] + step[i]) * l.basis[i][x];
            node[x] = (int)lround(at);
        }
        const double f = halo_listed(&e->structure_factors, node);
        sum += f * f * (pow(halo_y(&l, 0, o), -2) + share);
    }
    sum *= halo_length(c, c->diffuse_sigma, h) * 8 * NAIVE_PI / volume;
    for (int i = 0; i < 3; i++) sum *= halo_number(c, c->diffuse_gamma, i) * c->Ncells[i];
    return sum;
}
