/* Geometry from first principles, of numbers and libm alone: unit cell, spindle, rays and panels in
 * their textbook form. It shares no code with the project. */
#ifndef DB_TESTS_SUPPORT_NAIVE_GEOMETRY_H
#define DB_TESTS_SUPPORT_NAIVE_GEOMETRY_H

#include <dualbragg/experiment.h>

#include <math.h>
#include <string.h>

static const double NAIVE_PI = 3.14159265358979323846;

static inline double naive_dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static inline void naive_cross(const double a[3], const double b[3], double out[3]) {
    const double c[3] = { a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                          a[0] * b[1] - a[1] * b[0] };
    memcpy(out, c, sizeof c);
}
static inline void naive_unit(double v[3]) {
    const double length = sqrt(naive_dot(v, v));
    for (int i = 0; i < 3; i++) v[i] /= length;
}
static inline void naive_add(double v[3], double factor, const double w[3]) {
    for (int i = 0; i < 3; i++) v[i] += factor * w[i];
}

/* Right-handed rotation of v about a unit axis (degree). */
static inline void naive_turn(const double axis[3], double degrees, double v[3]) {
    const double t = degrees * NAIVE_PI / 180, along = naive_dot(axis, v) * (1 - cos(t));
    double across[3];
    naive_cross(axis, v, across);
    for (int i = 0; i < 3; i++) v[i] = axis[i] * along + v[i] * cos(t) + across[i] * sin(t);
}
static inline void naive_turn_xyz(const double degrees[3], double v[3]) {
    static const double axis[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    for (int i = 0; i < 3; i++) naive_turn(axis[i], degrees[i], v);
}

/* a, b, c (angstrom) of the standard frame from the cell's constants: c along z, b in the plane of
 * y and z. */
void naive_cell_vectors(const double cell[6], double real[3][3]);

/* The spindle's axis with its tilts. */
void naive_spindle(const db_experiment *e, double axis[3]);

/* Brings a vector of the crystal's standard frame into the laboratory at a spindle angle. */
void naive_mount(const db_experiment *e, double phi, double v[3]);

typedef struct naive_ray {
    double i[3], wavelength, weight;
} naive_ray;
naive_ray naive_ray_of(const db_experiment *e, size_t number);

/* Kahn's factor by the angle between the scattering plane and the field. */
double naive_polarization(const db_beam *b, const double i[3], const double d[3]);

typedef struct naive_place {
    double x[3], normal[3], along_normal; /* m; of the point's plane */
} naive_place;

/* The point (mm from the panel's corner, depth m), from the crystal, in the laboratory's axes. */
naive_place naive_place_of(const db_experiment *e, size_t number, double fast, double slow,
                           double depth);

#endif
