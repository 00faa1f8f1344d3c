#include "cli/report.h"

#include "cli/amorphous.h"
#include "cli/report_detector.h"

#include <math.h>
#include <stdio.h>

static const double DEGREES = 57.295779513082320877; /* per radian */

static double dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double *a, const double *b, double *r) {
    r[0] = a[1] * b[2] - a[2] * b[1];
    r[1] = a[2] * b[0] - a[0] * b[2];
    r[2] = a[0] * b[1] - a[1] * b[0];
}

/* Lengths and angles (degree) of three vectors. */
static void cell_constants(double v[3][3], double cell[6]) {
    for (int i = 0; i < 3; i++) cell[i] = sqrt(dot(v[i], v[i]));
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        cell[3 + i] = DEGREES * acos(dot(v[j], v[k]) / (cell[j] * cell[k]));
    }
}

static void print_vectors(const char *names, double v[3][3]) {
    printf("%s\n", names);
    for (int r = 0; r < 3; r++)
        printf("%c: %11.8f %11.8f %11.8f\n", "XYZ"[r], v[0][r], v[1][r], v[2][r]);
}

static void print_cell(const char *name, const double cell[6], int digits) {
    printf("%s:", name);
    for (int i = 0; i < 6; i++) printf(" %.*g", digits, cell[i]);
    fputc('\n', stdout);
}

static void report_crystal(const db_session *session) {
    const db_crystal *crystal = &session->experiment.crystal;
    const int digits = session->settings.digits;
    if (session->settings.setup.matrix_file)
        printf("reading %s\n", session->settings.setup.matrix_file);
    double a_star[9], star[3][3], real[3][3], cell[6], cell_star[6];
    db_crystal_matrix(crystal, a_star);
    for (int i = 0; i < 3; i++)
        for (int r = 0; r < 3; r++) star[i][r] = a_star[3 * r + i];
    for (int i = 0; i < 3; i++) cross(star[(i + 1) % 3], star[(i + 2) % 3], real[i]);
    const double volume = 1 / dot(star[0], real[0]);
    for (int i = 0; i < 3; i++)
        for (int r = 0; r < 3; r++) real[i][r] *= volume;
    cell_constants(real, cell);
    cell_constants(star, cell_star);
    print_cell("Unit Cell", cell, digits);
    print_cell("Recp Cell", cell_star, digits);
    printf("volume = %.*g A^3\n", digits, volume);
    print_vectors("real-space cell vectors (Angstrom):", real);
    print_vectors("reciprocal-space cell vectors (Angstrom^-1):", star);
    printf("crystal is %.*g x %.*g x %.*g microns\n", digits, 1e-4 * crystal->cells[0] * cell[0],
           digits, 1e-4 * crystal->cells[1] * cell[1], digits, 1e-4 * crystal->cells[2] * cell[2]);
}

static void report_sources(const db_session *session) {
    const db_experiment *e = &session->experiment;
    const int digits = session->settings.digits;
    for (int i = 0; i < e->goniometer.phi_steps; i++)
        printf("phi%d = %.*g\n", i, digits, e->goniometer.phi + i * e->goniometer.phi_step);
    /* sources come direction by direction, each with the same wavelengths; those of a file are all
     * their own */
    int directions = 0;
    for (size_t j = 0; j < e->beam.source_count; j++) {
        const db_source *s = &e->beam.sources[j], *last = &e->beam.sources[j ? j - 1 : 0];
        const int turned =
            j == 0 || s->spread[0] != last->spread[0] || s->spread[1] != last->spread[1];
        if (turned && !session->settings.setup.source_file)
            printf("divergence deviation: %.*g %.*g\n", digits,
                   1e-3 * e->beam.divergence[0] * s->spread[0], digits,
                   1e-3 * e->beam.divergence[1] * s->spread[1]);
        directions += turned;
        if (directions == 1 || session->settings.setup.source_file)
            printf("lambda%zu = %.15g\n", j,
                   1e-10 * e->beam.wavelength * s->wavelength_ratio *
                       (1 + s->spread[2] * e->beam.dispersion));
    }
    printf("created a total of %zu sources\n", e->beam.source_count);
    printf("created a total of %d mosaic domains\n", e->crystal.mosaic_domains);
}

static size_t listed_amplitudes(const db_structure_factors *f) {
    size_t count = 0;
    if (!f->amplitude) return 0;
    const size_t entries = (size_t)f->extent[0] * (size_t)f->extent[1] * (size_t)f->extent[2];
    for (size_t i = 0; i < entries; i++) count += f->amplitude[i] != f->default_F;
    return count;
}

static void report_parameters(const db_session *session) {
    static const char *const shapes[] = { "parallelepiped", "ellipsoid", "gaussian", "tophat" };
    const db_experiment *e = &session->experiment;
    const int digits = session->settings.digits;
    printf("%zu initialized hkls (all others =%.*g)\n", listed_amplitudes(&e->structure_factors),
           digits, e->structure_factors.default_F);
    printf("%s xtal: %.*gx%.*gx%.*g cells\n", shapes[e->crystal.shape], digits, e->crystal.cells[0],
           digits, e->crystal.cells[1], digits, e->crystal.cells[2]);
    printf("wave=%.*g meters +/- %.*g%%\n", digits, 1e-10 * e->beam.wavelength, digits,
           100 * session->settings.setup.dispersion);
    if (e->beam.polarized)
        printf("Kahn polarization factor: %.*g\n", digits, e->beam.polarization);
    else
        puts("polarization effect disabled");
    printf("incident fluence: %.*g photons/m^2\n", digits, e->beam.fluence);
    db_report_detector(session);
    const db_region *roi = &session->region;
    printf("roi: %d < x < %d && %d < y < %d\n", roi->fast_start, roi->fast_start + roi->fast_count,
           roi->slow_start, roi->slow_start + roi->slow_count);
    printf("%zu sources, %d mosaic domains over mosaic spread of %.*g degree, %d phi steps, %dx%d "
           "sub-pixels\n",
           e->beam.source_count, e->crystal.mosaic_domains, digits, e->crystal.mosaic_spread,
           e->goniometer.phi_steps, e->oversample, e->oversample);
}

void db_report_experiment(const db_session *session) {
    if (session->settings.quiet) return;
    db_report_frame(session);
    if (!db_amorphous_alone(&session->settings)) report_crystal(session);
    db_amorphous_report(&session->settings, &session->experiment.background);
    report_sources(session);
    report_parameters(session);
    fflush(stdout);
}

void db_report_statistics(const db_session *session, const db_image_statistics *s) {
    if (session->settings.quiet) return;
    const int digits = session->settings.digits, sub = session->experiment.oversample;
    const double pixel = 1e-3 * session->experiment.detector.panels[0].pixel_size[0];
    /* the last sub-pixel's place, as the reference has it */
    const double last = (sub - 0.5) / sub;
    printf("max_I = %.*g  at %.*g %.*g\n", digits, s->largest, digits, (s->fast + last) * pixel,
           digits, (s->slow + last) * pixel);
    printf("mean= %.*g rms= %.*g rmsd= %.*g\n", digits, s->mean, digits, s->rms, digits, s->rmsd);
}
