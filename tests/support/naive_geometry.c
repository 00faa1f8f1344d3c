#include "support/naive_geometry.h"

/* By the reciprocal basis: a* along x, b* in the plane of x and y. */
void naive_cell_vectors(const double cell[6], double real[3][3]) {
    double c[3], s[3], reciprocal[3][3];
    for (int i = 0; i < 3; i++) {
        c[i] = cos(cell[3 + i] * NAIVE_PI / 180);
        s[i] = sin(cell[3 + i] * NAIVE_PI / 180);
    }
    const double volume =
        cell[0] * cell[1] * cell[2] *
        sqrt(1 - c[0] * c[0] - c[1] * c[1] - c[2] * c[2] + 2 * c[0] * c[1] * c[2]);
    const double a = cell[1] * cell[2] * s[0] / volume, b = cell[2] * cell[0] * s[1] / volume,
                 g = cell[0] * cell[1] * s[2] / volume, /* lengths of a*, b*, c* */
        cos_beta = (c[2] * c[0] - c[1]) / (s[2] * s[0]),
                 cos_gamma = (c[0] * c[1] - c[2]) / (s[0] * s[1]),
                 sin_gamma = sqrt(1 - cos_gamma * cos_gamma);
    const double cos_alpha = (c[1] * c[2] - c[0]) / (s[1] * s[2]);
    const double a_star[3] = { a, 0, 0 }, b_star[3] = { b * cos_gamma, b * sin_gamma, 0 },
                 c_star[3] = { g * cos_beta, g * (cos_alpha - cos_beta * cos_gamma) / sin_gamma,
                               1 / cell[2] };
    memcpy(reciprocal[0], a_star, sizeof a_star);
    memcpy(reciprocal[1], b_star, sizeof b_star);
    memcpy(reciprocal[2], c_star, sizeof c_star);
    for (int i = 0; i < 3; i++) {
        naive_cross(reciprocal[(i + 1) % 3], reciprocal[(i + 2) % 3], real[i]);
        for (int k = 0; k < 3; k++) real[i][k] *= volume;
    }
}

void naive_spindle(const db_experiment *e, double axis[3]) {
    double u[3], w[3];
    memcpy(axis, e->goniometer.spindle_axis, sizeof u);
    naive_cross(axis, e->beam.direction, u);
    if (naive_dot(u, u) < 1e-12) naive_cross(axis, e->beam.polarization_axis, u);
    naive_unit(u);
    naive_cross(u, axis, w);
    naive_turn(w, e->goniometer.tilt[1], axis);
    naive_turn(u, e->goniometer.tilt[0], axis);
}

void naive_mount(const db_experiment *e, double phi, double v[3]) {
    const double *m = e->crystal.orientation;
    const double given[3] = { naive_dot(m, v), naive_dot(m + 3, v), naive_dot(m + 6, v) };
    double axis[3];
    memcpy(v, given, sizeof given);
    for (int i = 2; i >= 0; i--) { /* back out of the frame of the misset */
        const double edge[3] = { i == 0, i == 1, i == 2 };
        naive_turn(edge, -e->crystal.misset_frame[i], v);
    }
    naive_turn_xyz(e->crystal.misset, v);
    naive_turn_xyz(e->crystal.misset_frame, v);
    naive_spindle(e, axis);
    naive_turn(axis, phi, v);
}

naive_ray naive_ray_of(const db_experiment *e, size_t number) {
    const db_beam *b = &e->beam;
    const db_source *s = &b->sources[number];
    double vertical[3], mean = 0, total = 0;
    naive_ray r;
    naive_cross(b->direction, b->polarization_axis, vertical);
    naive_unit(vertical);
    memcpy(r.i, s->direction, sizeof r.i);
    naive_turn(b->polarization_axis, 0.18 / NAIVE_PI * b->divergence[1] * s->spread[1], r.i);
    naive_turn(vertical, 0.18 / NAIVE_PI * b->divergence[0] * s->spread[0], r.i);
    naive_turn(b->polarization_axis, 0.18 / NAIVE_PI * b->tilt[1], r.i);
    naive_turn(vertical, 0.18 / NAIVE_PI * b->tilt[0], r.i);
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

double naive_polarization(const db_beam *b, const double i[3], const double d[3]) {
    const double c = naive_dot(d, i);
    double magnetic[3], electric[3], psi = 0;
    if (!b->polarized) return 1;
    naive_cross(b->polarization_axis, i, magnetic);
    naive_unit(magnetic);
    naive_cross(i, magnetic, electric);
    psi = -atan2(naive_dot(d, magnetic), naive_dot(d, electric));
    return 0.5 * (1 + c * c - b->polarization * cos(2 * psi) * (1 - c * c));
}

/* Rotations of the whole detector. */
static void swing(const db_detector *d, double v[3]) {
    naive_turn_xyz(d->rotation, v);
    naive_turn(d->twotheta_axis, d->twotheta, v);
}

/* The crystal (mm) in the middle of the exposure: steps of sampled spots end before the next step would begin. */
static void crystal_in_the_middle(const db_experiment *e, double at[3]) {
    const db_goniometer *g = &e->goniometer;
    const double last =
        g->phi + (g->phi_steps - (e->spread.spots != DB_SPOTS_CLOSED)) * g->phi_step;
    double axis[3];
    memcpy(at, e->crystal.position, 3 * sizeof *at);
    naive_turn_xyz(e->crystal.misset_frame, at);
    naive_spindle(e, axis);
    naive_turn(axis, (g->phi + last) / 2, at);
}

naive_place naive_place_of(const db_experiment *e, size_t number, double fast, double slow,
                           double depth) {
    const db_detector *d = &e->detector;
    const db_panel *p = &d->panels[number];
    double axis[3][3], unswung[3], origin[3] = { 0, 0, 0 }, in_plate[3], centre[3];
    naive_place at;
    memcpy(axis[0], d->fast_axis, sizeof axis[0]);
    memcpy(axis[1], d->slow_axis, sizeof axis[1]);
    memcpy(axis[2], d->normal, sizeof axis[2]);
    memcpy(unswung, d->normal, sizeof unswung);
    naive_turn_xyz(d->rotation, unswung);
    for (int i = 0; i < 3; i++) swing(d, axis[i]);
    const double ratio = naive_dot(e->beam.direction, unswung);
    if (d->pivot == DB_PIVOT_BEAM)
        naive_add(origin, d->distance_is_close ? d->distance / ratio : d->distance,
                  e->beam.direction);
    else
        naive_add(origin, d->distance_is_close ? d->distance : d->distance * ratio, axis[2]);
    naive_add(origin, -d->centre[0], axis[0]);
    naive_add(origin, -d->centre[1], axis[1]);
    /* in the plate's frame, turned about the panel's own centre, then shifted */
    const double half[2] = { 0.5 * p->fast_pixels * p->pixel_size[0],
                             0.5 * p->slow_pixels * p->pixel_size[1] };
    memcpy(centre, p->origin, sizeof centre);
    naive_add(centre, half[0], p->fast_axis);
    naive_add(centre, half[1], p->slow_axis);
    for (int i = 0; i < 3; i++) {
        in_plate[i] = (fast - half[0]) * p->fast_axis[i] + (slow - half[1]) * p->slow_axis[i];
        at.normal[i] = p->normal[i];
    }
    const double *const own[3] = { p->fast_axis, p->slow_axis, p->normal };
    for (int i = 0; i < 3; i++) {
        naive_turn(own[i], d->panel_turn[i], in_plate);
        naive_turn(own[i], d->panel_turn[i], at.normal);
    }
    for (int i = 0; i < 3; i++) naive_add(in_plate, d->panel_shift[i], own[i]);
    naive_add(in_plate, 1, centre);
    naive_add(in_plate, 1e3 * depth, at.normal);
    double normal[3] = { 0, 0, 0 };
    for (int i = 0; i < 3; i++) {
        naive_add(origin, in_plate[i], axis[i]);
        naive_add(normal, at.normal[i], axis[i]);
    }
    double crystal[3];
    crystal_in_the_middle(e, crystal);
    for (int i = 0; i < 3; i++) at.x[i] = 1e-3 * (origin[i] - crystal[i]);
    memcpy(at.normal, normal, sizeof normal);
    at.along_normal = naive_dot(at.x, normal);
    return at;
}
