#include "naive_spots.h"
#include "support/naive_geometry.h"
#include "support/naive_sites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef long double real;

static const real RADIAN = 3.14159265358979323846264338328L / 180;

static void zero(real m[3][3]) { memset(m, 0, 9 * sizeof(real)); }

/* m += factor a b^T, made symmetric. */
static void add_product(real m[3][3], const double a[3], const double b[3], real factor) {
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) m[i][k] += factor * (a[i] * b[k] + b[i] * a[k]) / 2;
}

/* m' = v m v^T; columns of v: images of the axes. */
static void turned(const double v[3][3], real m[3][3]) {
    real out[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            out[i][k] = 0;
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++) out[i][k] += v[a][i] * m[a][b] * v[b][k];
        }
    memcpy(m, out, sizeof out);
}

static real determinant(real m[3][3]) {
    real sum = 0;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        sum += m[0][i] * (m[1][j] * m[2][k] - m[1][k] * m[2][j]);
    }
    return sum;
}
static void inverted(real m[3][3], real out[3][3]) {
    const real d = determinant(m);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
            out[k][i] = (m[i1][k1] * m[i2][k2] - m[i1][k2] * m[i2][k1]) / d;
        }
}
static real dot(const real a[3], const real b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static real form(real m[3][3], const real a[3], const real b[3]) {
    real sum = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) sum += a[i] * m[i][k] * b[k];
    return sum;
}

/* The crystal in its standard frame. */
typedef struct crystal {
    double reciprocal[3][3]; /* rows a*, b*, c* (1/angstrom) */
    real size[3][3];         /* covariance of a block's transform (1/angstrom^2) */
    real photons;            /* its integral over reciprocal space less (2 pi)^(3/2) */
} crystal;

static crystal crystal_of(const db_experiment *e) {
    const db_crystal *c = &e->crystal;
    const double *correlation = e->spread.size_correlation;
    double cell[3][3];
    crystal out;
    naive_cell_vectors(c->cell, cell);
    naive_cross(cell[1], cell[2], out.reciprocal[0]);
    const double volume = naive_dot(cell[0], out.reciprocal[0]);
    for (int i = 0; i < 3; i++) {
        naive_cross(cell[(i + 1) % 3], cell[(i + 2) % 3], out.reciprocal[i]);
        for (int k = 0; k < 3; k++) out.reciprocal[i][k] /= volume;
    }
    const real w2 = c->shape == DB_SHAPE_GAUSS ? 0.63L / 4 / c->fudge : 1 / (360 * RADIAN);
    zero(out.size);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            add_product(out.size, out.reciprocal[i], out.reciprocal[k],
                        w2 / c->Ncells[i] / c->Ncells[k] * (i == k ? 1 : correlation[3 - i - k]));
    /* so many cells that Darwin's integral of the intensity is theirs, as is the transform's */
    real unit[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) unit[i][k] = i == k ? 1 : correlation[3 - i - k];
    const real cells = c->Ncells[0] * c->Ncells[1] * c->Ncells[2] / sqrtl(determinant(unit));
    out.photons = cells * cells * sqrtl(determinant(out.size));
    return out;
}

/* Covariance of (E r) for a node r in the standard frame. */
static void lattice_spread(const db_spread *s, const double r[3], real out[3][3]) {
    static const int first[6] = { 0, 1, 2, 1, 2, 0 }, second[6] = { 0, 1, 2, 2, 0, 1 };
    zero(out);
    for (int n = 0; n < 6; n++) { /* rotations: w x r */
        double axis[2][3] = { { 0, 0, 0 }, { 0, 0, 0 } }, shift[2][3];
        axis[0][first[n]] = axis[1][second[n]] = 1;
        for (int k = 0; k < 2; k++) naive_cross(axis[k], r, shift[k]);
        const real variance = s->mosaic_tensor[n] + (n < 3 ? s->mosaic : 0);
        add_product(out, shift[0], shift[1], variance * RADIAN * RADIAN * (n < 3 ? 1 : 2));
    }
    add_product(out, r, r, s->strain * 1e-6L);
    for (int n = 0; n < 6; n++) { /* strains */
        double shift[3] = { 0, 0, 0 };
        shift[first[n]] += r[second[n]];
        if (n >= 3) shift[second[n]] += r[first[n]];
        if (n == 0 && s->strain_ties != DB_STRAIN_FREE) shift[1] = r[1];
        if (n == 0 && s->strain_ties == DB_STRAIN_ISOTROPIC) shift[2] = r[2];
        if (n == 1 && s->strain_ties != DB_STRAIN_FREE) continue;
        if (n == 2 && s->strain_ties == DB_STRAIN_ISOTROPIC) continue;
        add_product(out, shift, shift, s->strain_tensor[n] * 1e-6L);
    }
    for (int n = 0; n < DB_SPREAD_MODES; n++) {
        double shift[3];
        for (int i = 0; i < 3; i++) shift[i] = 1e-3 * naive_dot(s->mode[n] + 3 * i, r);
        add_product(out, shift, shift, 1);
    }
}

/* A panel, and what widens spots on it (m^2). */
typedef struct surface {
    double fast[3], slow[3], normal[3], along_normal;
    real widening[3][3]; /* less the sensor */
} surface;

void naive_across_beam(const db_experiment *e, double axis[2][3]) {
    const db_beam *b = &e->beam;
    double across[3];
    naive_cross(b->direction, b->polarization_axis, across);
    naive_unit(across);
    naive_cross(across, b->direction, axis[0]);
    for (int i = 0; i < 3; i++) axis[1][i] = -across[i];
    for (int k = 0; k < 2; k++) { /* the tilt of the beam, by its rays' rule */
        naive_turn(b->polarization_axis, 0.18 / NAIVE_PI * b->tilt[1], axis[k]);
        naive_turn(across, 0.18 / NAIVE_PI * b->tilt[0], axis[k]);
    }
}

static void across_beam(const db_experiment *e, const double variance[3], real factor,
                        real out[3][3]) {
    double axis[2][3];
    naive_across_beam(e, axis);
    add_product(out, axis[0], axis[0], factor * variance[0]);
    add_product(out, axis[1], axis[1], factor * variance[1]);
    add_product(out, axis[0], axis[1], 2 * factor * variance[2]);
}

static surface surface_of(const db_experiment *e, size_t panel) {
    const db_panel *p = &e->detector.panels[panel];
    const naive_place corner = naive_place_of(e, panel, 0, 0, 0),
                      along[2] = { naive_place_of(e, panel, 1, 0, 0),
                                   naive_place_of(e, panel, 0, 1, 0) };
    surface out;
    for (int i = 0; i < 3; i++) {
        out.fast[i] = 1e3 * (along[0].x[i] - corner.x[i]);
        out.slow[i] = 1e3 * (along[1].x[i] - corner.x[i]);
        out.normal[i] = corner.normal[i];
    }
    naive_unit(out.fast);
    naive_unit(out.slow);
    out.along_normal = corner.along_normal;
    const double *spread = e->spread.point_spread, sub = e->oversample;
    zero(out.widening);
    add_product(out.widening, out.fast, out.fast,
                1e-6L * (spread[0] + powl(p->pixel_size[0] / sub, 2) / 12));
    add_product(out.widening, out.slow, out.slow,
                1e-6L * (spread[1] + powl(p->pixel_size[1] / sub, 2) / 12));
    add_product(out.widening, out.fast, out.slow, 2e-6L * spread[2]);
    across_beam(e, e->spread.footprint, 1e-6L, out.widening);
    return out;
}

/* Where a ray's photons are absorbed in the sensor, by Simpson's rule: part, mean depth and its
 * variance (m, m^2). */
typedef struct absorption {
    real part, mean, variance;
} absorption;

static absorption absorbed(const db_experiment *e, real obliquity) {
    enum { INTERVALS = 2000 };
    const real thickness = 1e-6L * e->detector.sensor_thickness,
               rate = 1e6L / e->detector.attenuation_depth / obliquity;
    absorption out = { 1, 0, 0 };
    if (!(thickness > 0)) return out;
    real sum[3] = { 0, 0, 0 };
    for (int i = 0; i <= INTERVALS; i++) {
        const real depth = thickness * i / INTERVALS, weight = i % INTERVALS == 0 ? 1
                                                               : i % 2            ? 4
                                                                                  : 2;
        real term = weight * expl(-rate * depth);
        for (int k = 0; k < 3; k++, term *= depth) sum[k] += term;
    }
    out.part = sum[0] * rate * thickness / (3 * INTERVALS);
    out.mean = sum[1] / sum[0];
    out.variance = sum[2] / sum[0] - out.mean * out.mean;
    return out;
}

typedef struct scene {
    const db_experiment *e;
    crystal crystal;
    surface surface;
    naive_ray ray;
    size_t source;
    double turn[3][3]; /* where the standard frame's axes point at the start */
    double spindle[3];
    double middle[3], reach; /* of the region */
    naive_list *list;
} scene;

static real listed(const db_structure_factors *f, const int h[3], double wavelength) {
    int at[3];
    for (int i = 0; i < 3; i++) at[i] = h[i] - f->min[i];
    for (int i = 0; i < 3; i++)
        if (!f->amplitude || at[i] < 0 || at[i] >= f->extent[i]) return f->default_F;
    const int entry = (at[0] * f->extent[1] + at[1]) * f->extent[2] + at[2];
    return f->sites ? sqrt(naive_site_square(f->sites, entry, wavelength)) : f->amplitude[entry];
}

/* Where a node points at a spindle angle (radian from the start). */
static void node_at(const scene *s, const double node[3], double angle, naive_spot *out) {
    memcpy(out->turn, s->turn, sizeof out->turn);
    memcpy(out->node, node, sizeof out->node);
    out->source = s->source;
    out->wavelength = s->ray.wavelength;
    out->angle = angle;
    if (angle != 0)
        for (int i = 0; i < 3; i++) naive_turn(s->spindle, (double)(angle / RADIAN), out->turn[i]);
    for (int i = 0; i < 3; i++) {
        out->r[i] =
            node[0] * out->turn[0][i] + node[1] * out->turn[1][i] + node[2] * out->turn[2][i];
        out->c[i] = s->ray.i[i] + (real)s->ray.wavelength * out->r[i];
    }
    double motion[3];
    naive_cross(s->spindle, out->r, motion);
    for (int i = 0; i < 3; i++) out->v[i] = (real)s->ray.wavelength * motion[i];
}

/* The covariance of all spreads, and the peak, of amplitude F. */
static void widen(const scene *s, real amplitude, naive_spot *out) {
    const db_experiment *e = s->e;
    const real wavelength = out->wavelength;
    real lattice[3][3], part = 1, places[3][3];
    double u[3], across[3][3];
    for (int i = 0; i < 3; i++) u[i] = (double)out->c[i];
    naive_unit(u);
    const real obliquity = naive_dot(u, s->surface.normal);
    lattice_spread(&e->spread, out->node, lattice);
    for (int i = 0; i < e->spread.tails; i++) part -= e->spread.tail_fraction[i];
    if (out->tail > 0) part = e->spread.tail_fraction[out->tail - 1];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            if (out->tail > 0) lattice[i][k] *= powl(e->spread.tail_width[out->tail - 1], 2);
            lattice[i][k] += s->crystal.size[i][k];
        }
    turned(out->turn, lattice);
    add_product(lattice, out->r, out->r, 1e-6L * e->spread.bandwidth);
    const absorption depth = absorbed(e, obliquity);
    out->distance = (double)((s->surface.along_normal + depth.mean) / obliquity);
    out->depth_variance = (double)depth.variance;
    memcpy(places, s->surface.widening, sizeof places);
    add_product(places, s->surface.normal, s->surface.normal, depth.variance);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) across[i][k] = (i == k) - u[i] * u[k];
    turned(across, places);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            out->covariance[i][k] = lattice[i][k] * wavelength * wavelength +
                                    places[i][k] / ((real)out->distance * out->distance);
    across_beam(e, e->spread.divergence, 1e-6L, out->covariance);
    out->amplitude = part * s->ray.weight * amplitude * amplitude * s->crystal.photons *
                     powl(wavelength, 3) / sqrtl(determinant(out->covariance));
}

/* The rotations' part of the lattice's variance along a line of the standard frame. */
static real rotation_variance(const db_spread *s, const double r[3], const double line[3]) {
    db_spread turned_only = { .mosaic = s->mosaic };
    memcpy(turned_only.mosaic_tensor, s->mosaic_tensor, sizeof turned_only.mosaic_tensor);
    real spread[3][3], along[3] = { line[0], line[1], line[2] };
    lattice_spread(&turned_only, r, spread);
    return form(spread, along, along);
}

/* f/|rho|^2: f is the square of the part that rotations have in the variance across the plane of
 * scattering. */
static real cap_of(const scene *s, naive_spot *spot) {
    const real wavelength = spot->wavelength;
    double rho[3], across[3], line[3];
    for (int i = 0; i < 3; i++) rho[i] = (double)(wavelength * spot->r[i]);
    const double square = naive_dot(rho, rho);
    naive_cross(s->ray.i, rho, across);
    if (!(naive_dot(across, across) > 1e-10 * square)) return 0;
    for (int k = 0; k < 3; k++) line[k] = naive_dot(across, spot->turn[k]);
    const real width = spot->tail > 0 ? s->e->spread.tail_width[spot->tail - 1] : 1;
    const real turns = width * width * wavelength * wavelength *
                       rotation_variance(&s->e->spread, spot->node, line);
    const real side[3] = { across[0], across[1], across[2] };
    return powl(turns / form(spot->covariance, side, side), 2) / square;
}

/* Rotations keep |r|: as far as the spread across the plane of scattering is theirs, the distance to
 * the cap of nodes takes the place of that to its tangent plane, so that d - c becomes d - c - f
 * (rho/|rho|^2) ((|c|^2 - 1)/2 + c.(d - c)). Its linear part goes into the covariance, its constant
 * into c. */
static void bend(naive_spot *out) {
    real excess = -1, beam = 0, motion = 0, c[3], rho[3], back[3][3], forth[3][3];
    for (int i = 0; i < 3; i++) {
        c[i] = out->c[i];
        rho[i] = (real)out->wavelength * out->r[i];
        beam += rho[i] * c[i];
        excess += c[i] * c[i];
        motion += c[i] * out->v[i];
    }
    /* where the node is farther than its cap from the sphere, this would have no inverse */
    const real cap = out->cap * beam > 0.75L ? 0.75L / beam : out->cap;
    const real shrink = 1 - cap * beam, g = cap / shrink;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) back[i][k] = (i == k) + g * rho[i] * c[k];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            forth[i][k] = 0;
            for (int m = 0; m < 3; m++)
                for (int n = 0; n < 3; n++)
                    forth[i][k] += back[i][m] * out->covariance[m][n] * back[k][n];
        }
    memcpy(out->covariance, forth, sizeof forth);
    for (int i = 0; i < 3; i++) {
        out->c[i] += g * rho[i] * excess / 2;
        out->v[i] += g * rho[i] * motion; /* as B d moves, d being where it is */
    }
}

/* Adds the spots of a node that points as `at` says, one for each tail, unless it does not reach the
 * panel's plane or lies out of reach. */
static void add_spots(const scene *s, real amplitude, naive_spot at) {
    double off[3], c[3];
    for (int i = 0; i < 3; i++) {
        c[i] = (double)at.c[i];
        off[i] = c[i] - s->middle[i];
    }
    if (s->reach > 0 && naive_dot(off, off) > s->reach * s->reach) return;
    if (!(naive_dot(c, s->surface.normal) > 0)) return;
    for (at.tail = 0; at.tail <= s->e->spread.tails; at.tail++) {
        naive_list *list = s->list;
        if (list->count == list->room) {
            list->room = 2 * list->room + 64;
            list->spot = realloc(list->spot, list->room * sizeof *list->spot);
        }
        widen(s, amplitude, &at);
        const real wide = at.covariance[0][0] + at.covariance[1][1] + at.covariance[2][2];
        const int still = at.low == at.high;
        if (s->reach > 0 && still && powl(sqrtl(dot(at.c, at.c)) - 1, 2) > 150 * wide) continue;
        at.cap = cap_of(s, &at);
        list->spot[list->count++] = at;
    }
}

/* A node in a rotation: between two extreme distances from the sphere its motion is that at the
 * angle where it is nearest. */
static void add_rotated(const scene *s, const double node[3], real amplitude, real range) {
    naive_spot start;
    node_at(s, node, 0, &start);
    const double *const r = start.r;
    const double *const i = s->ray.i;
    double motion[3], level[3];
    naive_cross(s->spindle, r, motion);
    for (int k = 0; k < 3; k++) level[k] = s->spindle[k] * naive_dot(s->spindle, r);
    const real cosine = naive_dot(i, r) - naive_dot(i, level), sine = naive_dot(i, motion),
               swing = sqrtl(cosine * cosine + sine * sine), first = atan2l(sine, cosine);
    real wanted = -(s->ray.wavelength * naive_dot(r, r) / 2 + naive_dot(i, level)) / swing;
    if (!(wanted > -1)) wanted = -1;
    if (!(wanted < 1)) wanted = 1;
    const real half = 180 * RADIAN;
    if (swing == 0) { /* the direct beam's node stays where it is: its shape half way */
        naive_spot stays;
        node_at(s, node, (double)(range / 2), &stays);
        stays.low = stays.high = 0;
        stays.weight = 1;
        add_spots(s, amplitude, stays);
        return;
    }
    for (long k = lroundl(floorl(-first / half)); first + k * half < range; k++) {
        const real low = fmaxl(0, first + k * half), high = fminl(range, first + (k + 1) * half);
        if (!(low < high)) continue;
        const real crossing =
            k % 2 == 0 ? first + k * half + acosl(wanted) : first + (k + 1) * half - acosl(wanted);
        const real at = fminl(fmaxl(crossing, low), high);
        naive_spot spot;
        node_at(s, node, (double)at, &spot);
        spot.low = low - at;
        spot.high = high - at;
        spot.weight = 1;
        add_spots(s, amplitude, spot);
    }
}

static real range_of(const db_experiment *e) {
    return e->goniometer.phi_steps * fabs(e->goniometer.phi_step) * RADIAN;
}

/* All spots of a node. */
static void add_node(const scene *s, const double node[3], real amplitude, naive_rotation how,
                     int intervals) {
    const real range = range_of(s->e);
    naive_spot still;
    if (range > 0 && how != NAIVE_TRUE_ROTATION) {
        add_rotated(s, node, amplitude, range);
        return;
    }
    const int last = range > 0 ? intervals : 0;
    for (int n = 0; n <= last; n++) {
        node_at(s, node, last == 0 ? 0 : (double)(range * n / last), &still);
        still.low = still.high = 0;
        still.weight = last == 0             ? 1
                       : n == 0 || n == last ? 1.0L / (3 * last)
                                             : (n % 2 ? 4.0L : 2.0L) / (3 * last);
        add_spots(s, amplitude, still);
    }
}

/* Of a still's indices those that may lie within reach. */
static void around_middle(const scene *s, const double cell[3][3], int least[3], int most[3]) {
    for (int i = 0; i < 3; i++) {
        double lattice[3] = { 0, 0, 0 }, q[3];
        for (int k = 0; k < 3; k++) naive_add(lattice, cell[i][k], s->turn[k]);
        for (int k = 0; k < 3; k++) q[k] = (s->middle[k] - s->ray.i[k]) / s->ray.wavelength;
        const double index = naive_dot(lattice, q),
                     half = sqrt(naive_dot(lattice, lattice)) * s->reach / s->ray.wavelength;
        least[i] = (int)fmax(least[i], floor(index - half));
        most[i] = (int)fmin(most[i], ceil(index + half));
    }
}

static void add_nodes(const scene *s, naive_rotation how, int intervals) {
    const db_experiment *e = s->e;
    double longest = 2.1 / s->ray.wavelength; /* what reaches the sphere, and some more */
    double cell[3][3];
    int least[3], most[3], h[3];
    if (e->dmin > 0) longest = fmin(longest, 1 / e->dmin);
    naive_cell_vectors(e->crystal.cell, cell);
    for (int i = 0; i < 3; i++) {
        most[i] = (int)(longest * sqrt(naive_dot(cell[i], cell[i])));
        least[i] = -most[i];
    }
    if (s->reach > 0 && !(range_of(e) > 0)) around_middle(s, cell, least, most);
    for (h[0] = least[0]; h[0] <= most[0]; h[0]++)
        for (h[1] = least[1]; h[1] <= most[1]; h[1]++)
            for (h[2] = least[2]; h[2] <= most[2]; h[2]++) {
                double node[3] = { 0, 0, 0 };
                for (int i = 0; i < 3; i++) naive_add(node, h[i], s->crystal.reciprocal[i]);
                const real amplitude = listed(&e->structure_factors, h, s->ray.wavelength);
                if (amplitude != 0 && naive_dot(node, node) <= longest * longest)
                    add_node(s, node, amplitude, how, intervals);
            }
}

naive_list naive_spot_list(const db_experiment *e, naive_region region, naive_rotation how,
                           int intervals) {
    naive_list list = { NULL, 0, 0 };
    scene s = {
        .e = e, .crystal = crystal_of(e), .surface = surface_of(e, region.panel), .list = &list
    };
    const double *size = e->detector.panels[region.panel].pixel_size;
    const naive_point middle =
        naive_point_of(e, region.panel, (region.fast + 0.5 * region.fast_size) * size[0],
                       (region.slow + 0.5 * region.slow_size) * size[1]);
    memcpy(s.middle, middle.d, sizeof s.middle);
    s.reach = region.reach;
    naive_spindle(e, s.spindle);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) s.turn[i][k] = i == k;
        const double back = fmin(0, e->goniometer.phi_steps * e->goniometer.phi_step);
        naive_mount(e, e->goniometer.phi + back, s.turn[i]);
    }
    for (s.source = 0; s.source < e->beam.source_count; s.source++) {
        s.ray = naive_ray_of(e, s.source);
        add_nodes(&s, how, intervals);
    }
    return list;
}

naive_point naive_point_of(const db_experiment *e, size_t panel, double fast, double slow) {
    const db_panel *p = &e->detector.panels[panel];
    const naive_place middle =
        naive_place_of(e, panel, fast, slow, 0.5e-6 * e->detector.sensor_thickness);
    const double slant = naive_dot(middle.x, middle.normal) / sqrt(naive_dot(middle.x, middle.x));
    const naive_place at = naive_place_of(e, panel, fast, slow, (double)absorbed(e, slant).mean);
    const double square = naive_dot(at.x, at.x), distance = sqrt(square);
    naive_point out;
    for (int i = 0; i < 3; i++) out.d[i] = at.x[i] / distance;
    out.factor = e->point_pixel ? 1 / square
                                : 1e-6 * p->pixel_size[0] * p->pixel_size[1] * at.along_normal /
                                      (square * distance);
    out.factor *= (double)absorbed(e, naive_dot(out.d, at.normal)).part;
    out.factor *= 7.94079248018965e-30 * e->beam.fluence * e->beam.scale;
    return out;
}

double naive_factor(const db_experiment *e, size_t source, const double d[3]) {
    const naive_ray ray = naive_ray_of(e, source);
    double q[3];
    for (int i = 0; i < 3; i++) q[i] = (d[i] - ray.i[i]) / ray.wavelength;
    return exp(-e->crystal.b_factor * naive_dot(q, q) / 2) * naive_polarization(&e->beam, ray.i, d);
}

/* Of a spot in a direction: its mean over its range of angles, of all of `range`. */
static real spot_value(const naive_spot *s, real inverse[3][3], const double d[3],
                       naive_rotation how, int intervals, real range) {
    real delta[3];
    for (int i = 0; i < 3; i++) delta[i] = d[i] - s->c[i];
    if (s->low == s->high) return expl(-form(inverse, delta, delta) / 2);
    if (how == NAIVE_SIMPSON) {
        real sum = 0;
        for (int n = 0; n <= intervals; n++) {
            const real angle = s->low + (s->high - s->low) * n / intervals;
            real from[3];
            for (int i = 0; i < 3; i++) from[i] = delta[i] - s->v[i] * angle;
            sum += (n % intervals == 0 ? 1 : n % 2 ? 4 : 2) * expl(-form(inverse, from, from) / 2);
        }
        return sum * (s->high - s->low) / (3 * intervals) / range;
    }
    const real vv = form(inverse, s->v, s->v), vd = form(inverse, s->v, delta),
               dd = form(inverse, delta, delta);
    const real width = sqrtl(vv);
    if (width * (s->high - s->low) < 1e-9L) return expl(-dd / 2) * (s->high - s->low) / range;
    const real root = sqrtl(0.5L), low = (width * s->low - vd / width) * root,
               high = (width * s->high - vd / width) * root;
    const real both = low > 0    ? erfcl(low) - erfcl(high)
                      : high < 0 ? erfcl(-high) - erfcl(-low)
                                 : erfl(high) - erfl(low);
    return expl(-(dd - vd * vd / vv) / 2) * both * sqrtl(90 * RADIAN) / (width * range);
}

/* Points of pixels, those of one pixel after another. */
static naive_point *points_of(const db_experiment *e, naive_region region) {
    const int n = e->oversample;
    const db_panel *p = &e->detector.panels[region.panel];
    const size_t count = (size_t)(region.fast_size * region.slow_size * n * n);
    naive_point *points = malloc(count * sizeof *points);
    for (int i = 0; i < region.fast_size * region.slow_size; i++)
        for (int k = 0; k < n * n; k++) {
            const double fast = region.fast + i % region.fast_size + (k % n + 0.5) / n,
                         slow = region.slow + i / region.fast_size + (k / n + 0.5) / n;
            points[i * n * n + k] =
                naive_point_of(e, region.panel, fast * p->pixel_size[0], slow * p->pixel_size[1]);
        }
    return points;
}

void naive_spots(const db_experiment *e, naive_region region, naive_rotation how, int intervals,
                 double *image) {
    naive_list list = naive_spot_list(e, region, how, intervals);
    naive_point *points = points_of(e, region);
    const int n = e->oversample * e->oversample;
    for (size_t k = 0; k < list.count; k++) {
        naive_spot *spot = &list.spot[k];
        real inverse[3][3];
        bend(spot);
        inverted(spot->covariance, inverse);
        for (int i = 0; i < region.fast_size * region.slow_size * n; i++) {
            const real value = spot_value(spot, inverse, points[i].d, how, intervals, range_of(e));
            if (value != 0)
                image[i / n] +=
                    (double)(value * spot->weight * spot->amplitude / n * points[i].factor) *
                    naive_factor(e, spot->source, points[i].d);
        }
    }
    free(points);
    free(list.spot);
}
