#include "cli/report_crystal.h"

#include "base/vector.h"

#include <stdio.h>

static const double DEGREES = 57.295779513082320877; /* per radian */
static const double CRYSTAL_DENSITY = 1.2e-24;       /* g/A^3, of a typical protein crystal */

/* Lengths and angles (degree) of three vectors. */
static void cell_constants(double v[3][3], double cell[6]) {
    for (int i = 0; i < 3; i++) cell[i] = sqrt(db_dot(v[i], v[i]));
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        cell[3 + i] = DEGREES * acos(db_dot(v[j], v[k]) / (cell[j] * cell[k]));
    }
}

static void print_cell(const char *name, const double cell[6], int digits) {
    printf("%s:", name);
    for (int i = 0; i < 6; i++) printf(" %.*g", digits, cell[i]);
    fputc('\n', stdout);
}

static void print_vectors(const char *title, const char *const names[3], double v[3][3]) {
    printf("%s\n     %-12s%-12s%-10s\n", title, names[0], names[1], names[2]);
    for (int r = 0; r < 3; r++)
        printf("%c: %11.8f %11.8f %11.8f\n", "XYZ"[r], v[0][r], v[1][r], v[2][r]);
}

void db_report_crystal(db_session *session) {
    const db_experiment *e = &session->experiment;
    const db_crystal *crystal = &e->crystal;
    const int digits = session->settings.digits;
    if (session->settings.setup.matrix_file)
        printf("reading %s\n", session->settings.setup.matrix_file);
    db_notices_print_beginning(&session->notices,
                               (const char *const[]){ "random orientation", "misset seed", NULL });
    double a_star[9], star[3][3], real[3][3], cell[6], cell_star[6];
    db_crystal_matrix(crystal, a_star);
    for (int i = 0; i < 3; i++)
        for (int r = 0; r < 3; r++) star[i][r] = a_star[3 * r + i];
    for (int i = 0; i < 3; i++) db_cross(star[(i + 1) % 3], star[(i + 2) % 3], real[i]);
    double volume = 1 / db_dot(star[0], real[0]);
    for (int i = 0; i < 3; i++)
        for (int r = 0; r < 3; r++) real[i][r] *= volume;
    if (e->reference.on) { /* its volume is not always that of its cell */
        volume /= e->reference.reciprocal_scale;
        for (int i = 0; i < 3; i++)
            for (int r = 0; r < 3; r++) star[i][r] *= e->reference.reciprocal_scale;
    }
    cell_constants(real, cell);
    cell_constants(star, cell_star);
    print_cell("Unit Cell", cell, digits);
    print_cell("Recp Cell", cell_star, digits);
    printf("volume = %.*g A^3\n", digits, volume);
    print_vectors("real-space cell vectors (Angstrom):", (const char *const[3]){ "a", "b", "c" },
                  real);
    print_vectors("reciprocal-space cell vectors (Angstrom^-1):",
                  (const char *const[3]){ "a_star", "b_star", "c_star" }, star);
    printf("crystal is %.*g x %.*g x %.*g microns\n", digits, 1e-4 * crystal->cells[0] * cell[0],
           digits, 1e-4 * crystal->cells[1] * cell[1], digits, 1e-4 * crystal->cells[2] * cell[2]);
    db_notices_print_beginning(&session->notices,
                               (const char *const[]){ "auto-selected", "oversampling", NULL });
    /* the reference takes a brick with the cell's edges */
    printf("approximate MW = %.*g\n", digits,
           CRYSTAL_DENSITY * DB_AVOGADRO *
               (e->reference.on ? cell[0] * cell[1] * cell[2] : volume));
}

void db_report_structure_factors(const db_session *session) {
    const db_setup *setup = &session->settings.setup;
    if (setup->hkl_file)
        printf("counting entries in %s\nre-reading %s\n", setup->hkl_file, setup->hkl_file);
    if (setup->cache_file)
        printf("%s %s\n", setup->hkl_file ? "writing dump file for next time:" : "reading Fs from",
               setup->cache_file);
}
