#include "cli/report.h"

#include "base/shown_text.h"
#include "cli/amorphous.h"
#include "cli/noise_output.h"
#include "base/cell_constants.h"
#include "base/context_internal.h"
#include "io/images/smv_geometry.h"

#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/pixel_trace.h>
#include <dualbragg/expert/sensor_depth.h>
#include <stdio.h>

static const double CRYSTAL_DENSITY = 1.2e-24; /* g/A^3, of a typical protein crystal */

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

static void report_crystal(db_session *session) {
    const db_experiment *e = &session->experiment;
    const db_crystal *crystal = &e->crystal;
    const int digits = session->settings.digits;
    if (session->settings.setup.matrix_file)
        db_shown_print(stdout, "reading %s\n", session->settings.setup.matrix_file);
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
    if (e->reference.on) { /* its volume may differ from its cell's */
        volume /= e->reference.reciprocal_scale;
        for (int i = 0; i < 3; i++)
            for (int r = 0; r < 3; r++) star[i][r] *= e->reference.reciprocal_scale;
    }
    db_cell_of_edges((const double *)real, cell);
    db_cell_of_edges((const double *)star, cell_star);
    print_cell("Unit Cell", cell, digits);
    print_cell("Recp Cell", cell_star, digits);
    printf("volume = %.*g A^3\n", digits, volume);
    print_vectors("real-space cell vectors (Angstrom):", (const char *const[3]){ "a", "b", "c" },
                  real);
    print_vectors("reciprocal-space cell vectors (Angstrom^-1):",
                  (const char *const[3]){ "a_star", "b_star", "c_star" }, star);
    printf("crystal is %.*g x %.*g x %.*g microns\n", digits, 1e-4 * crystal->Ncells[0] * cell[0],
           digits, 1e-4 * crystal->Ncells[1] * cell[1], digits,
           1e-4 * crystal->Ncells[2] * cell[2]);
    db_notices_print_beginning(&session->notices,
                               (const char *const[]){ "auto-selected", "oversampling", NULL });
    /* the reference takes a brick with the cell's edges */
    printf("approximate MW = %.*g\n", digits,
           CRYSTAL_DENSITY * DB_AVOGADRO *
               (e->reference.on ? cell[0] * cell[1] * cell[2] : volume));
}

static void report_structure_factors(const db_session *session) {
    const db_setup *setup = &session->settings.setup;
    if (setup->hkl_file)
        db_shown_print(stdout, "counting entries in %s\nre-reading %s\n", setup->hkl_file,
                       setup->hkl_file);
    if (setup->cache_file)
        db_shown_print(stdout, "%s %s\n",
                       setup->hkl_file ? "writing dump file for next time:" : "reading Fs from",
                       setup->cache_file);
}

/* Grid of the sources of divergence and dispersion. */
typedef struct source_grid {
    size_t directions, wavelengths; /* their numbers */
    double step[2];                 /* horizontal, vertical divergence (radian); 0: one point */
} source_grid;
/* Distance of the reference's sources (m). */
static const double SOURCE_DISTANCE = 10;

static int same_direction(const db_source *a, const db_source *b) {
    return a->spread[0] == b->spread[0] && a->spread[1] == b->spread[1];
}

/* Sources are sorted by direction, each with the same wavelengths. */
static source_grid source_grid_of(const db_beam *beam) {
    source_grid grid = { 1, 0, { 0, 0 } };
    for (size_t j = 1; j < beam->source_count; j++) {
        const db_source *last = &beam->sources[j - 1];
        const db_source *next = &beam->sources[j];
        if (same_direction(last, next)) continue;
        grid.directions++;
        for (int i = 0; i < 2; i++) {
            const double step =
                1e-3 * beam->divergence[i] * fabs(next->spread[i] - last->spread[i]);
            if (step > 0 && (grid.step[i] == 0 || step < grid.step[i])) grid.step[i] = step;
        }
    }
    grid.wavelengths = beam->source_count / grid.directions;
    return grid;
}

/* Wavelength in metre. */
static double wavelength_of(const db_experiment *experiment, size_t source) {
    return 1e-10 * db_experiment_source_wavelength(experiment, source);
}

static void report_spread(const db_session *session) {
    const db_beam *beam = &session->experiment.beam;
    const int digits = session->settings.digits;
    const source_grid grid = source_grid_of(beam);
    for (size_t j = 0; j < beam->source_count; j++)
        if (j == 0 || !same_direction(&beam->sources[j], &beam->sources[j - 1]))
            printf("divergence deviation: %.*g %.*g\n", digits,
                   db_tidy(1e-3 * beam->divergence[0] * beam->sources[j].spread[0], 1), digits,
                   db_tidy(1e-3 * beam->divergence[1] * beam->sources[j].spread[1], 1));
    for (size_t j = 0; j < grid.wavelengths; j++)
        printf("lambda%zu = %.15g\n", j, wavelength_of(&session->experiment, j));
}

/* Places of the sources, at the reference's distance if it makes them itself. */
static db_status report_sources(const db_session *session) {
    const db_beam *beam = &session->experiment.beam;
    const int digits = session->settings.digits,
              from_file = session->settings.setup.source_file != NULL;
    db_trace *trace = NULL;
    const db_status status = db_trace_create(session->context, &session->experiment, &trace);
    if (status != DB_OK) return db_session_complain(session, status);
    printf("  created a total of %zu sources:\n", beam->source_count);
    for (size_t j = 0; j < beam->source_count; j++) {
        double d[3], wavelength, weight;
        db_trace_source(trace, j, d, &wavelength, &weight);
        const double away = from_file ? -1 : -SOURCE_DISTANCE;
        printf("%.*g %.*g %.*g   %.*g %.*g\n", digits, db_tidy(away * d[0], 10), digits,
               db_tidy(away * d[1], 10), digits, db_tidy(away * d[2], 10), digits,
               from_file ? beam->sources[j].weight : weight, digits, 1e-10 * wavelength);
    }
    db_trace_destroy(&trace);
    return DB_OK;
}

static db_status report_samples(const db_session *session) {
    const db_experiment *e = &session->experiment;
    const int digits = session->settings.digits;
    db_detector layer = e->detector; /* the first layer alone, at normal incidence */
    layer.sensor_thickness /= layer.sensor_layers;
    layer.sensor_layers = 1;
    const double depth = 1e3 * db_sensor_depth(&layer, 1);
    for (int i = 0; i < e->detector.sensor_layers; i++)
        printf("thick%d = %.*g um\n", i, digits, i * layer.sensor_thickness + depth);
    for (int i = 0; i < e->goniometer.phi_steps; i++)
        printf("phi%d = %.*g\n", i, digits, e->goniometer.phi + i * e->goniometer.phi_step);
    if (!session->settings.setup.source_file) report_spread(session);
    const db_status status = report_sources(session);
    if (e->spread.spots == DB_SPOTS_SAMPLED)
        printf("  created a total of %d mosaic domains\n", e->crystal.mosaic_domains);
    return status;
}

static void report_crystal_block(const db_session *session) {
    /* the reference has this misspelling */
    static const char *const shapes[] = { "parallelpiped", "ellipsoidal", "gaussian",
                                          "tophat-spot" };
    const db_experiment *e = &session->experiment;
    const int digits = session->settings.digits;
    printf("  %zu initialized hkls (all others =%.*g)\n", e->structure_factors.listed, digits,
           e->structure_factors.default_F);
    printf("  %s xtal: %.*gx%.*gx%.*g cells\n", shapes[e->crystal.shape], digits,
           e->crystal.Ncells[0], digits, e->crystal.Ncells[1], digits, e->crystal.Ncells[2]);
}

static void report_beam_block(const db_session *session) {
    const db_experiment *e = &session->experiment;
    const db_setup *setup = &session->settings.setup;
    const int digits = session->settings.digits;
    printf("  wave=%.*g meters +/- %.*g%% in %zu steps\n", digits, 1e-10 * e->beam.wavelength,
           digits, 100 * e->beam.dispersion,
           setup->source_file ? 1 : source_grid_of(&e->beam).wavelengths);
    if (e->beam.polarized)
        printf("  Kahn polarization factor: %f\n", e->beam.polarization);
    else
        puts("  polarization effect disabled");
    if (e->detector.curved) puts("  curved detector: all pixels same distance from origin");
    if (e->point_pixel) puts("  pixel obliquity effect disabled");
    printf("  incident fluence: %.*g photons/m^2\n", digits, e->beam.fluence);
}

static void report_roi(const db_session *session) {
    const db_region *r = &session->region;
    const db_panel *panel = &session->sheet;
    const int whole = session->settings.roi[0] < 0;
    printf("  roi: %d < x < %d && %d < y < %d\n", r->fast_start,
           whole ? panel->fast_pixels : r->fast_start + r->fast_count - 1, r->slow_start,
           whole ? panel->slow_pixels : r->slow_start + r->slow_count - 1);
}

static void report_mosaic(const db_crystal *crystal, int digits) {
    printf("  %d mosaic domains over mosaic spread of ", crystal->mosaic_domains);
    if (crystal->mosaic_anisotropic)
        printf("%.*g, %.*g and %.*g degrees about a*, c x a* and c\n", digits,
               crystal->mosaic_abc[0], digits, crystal->mosaic_abc[1], digits,
               crystal->mosaic_abc[2]);
    else
        printf("%.*g degrees\n", digits, crystal->mosaic_spread);
}

static void report_samples_of_crystal(const db_session *session) {
    const db_goniometer *const g = &session->experiment.goniometer;
    const int digits = session->settings.digits;
    report_mosaic(&session->experiment.crystal, digits);
    printf("  %d phi steps from %.*g to %.*g degrees\n", g->phi_steps, digits, g->phi, digits,
           g->phi + db_session_sweep(session));
}

static void report_counts(const db_session *session) {
    const db_experiment *e = &session->experiment;
    const db_setup *setup = &session->settings.setup;
    const int digits = session->settings.digits;
    const source_grid grid = source_grid_of(&e->beam);
    printf("  hdivrange=%.*g hdivstep=%.*g  radians\n", digits, 1e-3 * e->beam.divergence[0],
           digits, grid.step[0]);
    printf("  vdivrange=%.*g vdivstep=%.*g  radians\n", digits, 1e-3 * e->beam.divergence[1],
           digits, grid.step[1]);
    if (setup->source_file && setup->compat)
        puts("  -1 divergence steps"); /* not set */
    else
        printf("  %zu divergence steps\n",
               setup->source_file ? e->beam.source_count : grid.directions);
    printf("  %zu sources\n", e->beam.source_count);
    if (e->spread.spots == DB_SPOTS_CLOSED)
        db_report_closed_spots(e, digits);
    else
        report_samples_of_crystal(session);
    printf("  %dx%d pixel oversample steps\n", e->oversample, e->oversample);
}

static db_status report_all(db_session *session) {
    static const char *const interpolation[] = { "auto-selected tricubic",
                                                 "auto-selected no interpolation", NULL };
    static const char *const placed[] = { "auto-selected", "oversampling", "random orientation",
                                          "misset seed", NULL };
    const db_settings *const s = &session->settings;
    const int crystal = !db_amorphous_alone(s);
    /* with -compat the report has only the reference's lines */
    if (!s->setup.compat) printf("dualbragg %s %s\n", db_version(), s->command);
    db_notices_print_others(&session->notices, placed);
    db_status status = db_report_frame(session);
    db_notices_print_beginning(&session->notices, interpolation);
    if (crystal) {
        report_crystal(session);
        report_structure_factors(session);
    }
    db_notices_print_rest(&session->notices);
    db_amorphous_report(s, &session->experiment.background);
    if (status == DB_OK) status = report_samples(session);
    if (crystal) report_crystal_block(session);
    report_beam_block(session);
    if (status == DB_OK) status = db_report_detector(session);
    report_roi(session);
    report_counts(session);
    db_noise_report(session);
    return status;
}

db_status db_report_experiment(db_session *session) {
    if (session->settings.quiet) return DB_OK;
    db_enter_stage(session->context, "report");
    const db_status status = report_all(session);
    fflush(stdout);
    db_leave_stage(session->context, "report");
    return status;
}

static const double SPHERE = 12.566370614359172954; /* steradian */

/* Solid angle of the rectangle between the near point and (x, y) on a plane at distance z. */
static double corner_angle(double x, double y, double z) {
    return atan2(x * y, z * sqrt(x * x + y * y + z * z));
}

/* Solid angle of the pixels [fast, fast + width) x [slow, slow + height). */
static double rectangle_angle(const db_smv_geometry *g, const double pixel[2], int fast, int slow,
                              int width, int height) {
    const double z = g->close_distance;
    const double x1 = fast * pixel[0] - g->near_point[0], x2 = x1 + width * pixel[0];
    const double y1 = slow * pixel[1] - g->near_point[1], y2 = y1 + height * pixel[1];
    return corner_angle(x2, y2, z) - corner_angle(x1, y2, z) - corner_angle(x2, y1, z) +
           corner_angle(x1, y1, z);
}

/* Solid angle of a whole pixel. */
typedef double (*pixel_angle)(const db_experiment *e, const void *data, int fast, int slow);

static double flat_pixel(const db_experiment *e, const void *data, int fast, int slow) {
    return rectangle_angle(data, e->detector.panels[0].pixel_size, fast, slow, 1, 1);
}

/* Solid angle of a pixel of a sphere; all are equal. */
static double curved_pixel(const db_experiment *e, const void *data, int fast, int slow) {
    const db_smv_geometry *g = data;
    const double ratio = e->detector.panels[0].pixel_size[0] / g->distance;
    (void)fast;
    (void)slow;
    return ratio * ratio;
}

/* Solid angle in the reference: of the first sub-pixel. */
static double sampled_pixel(const db_experiment *e, const void *data, int fast, int slow) {
    const double first = 0.5 / e->oversample;
    return db_trace_solid_angle(data, 0, fast + first, slow + first);
}

static double sum_of_pixels(const db_session *session, pixel_angle angle, const void *data,
                            const unsigned char *mask) {
    const db_region *r = &session->region;
    double sum = 0;
    for (int slow = 0; slow < r->slow_count; slow++)
        for (int fast = 0; fast < r->fast_count; fast++)
            if (!mask || mask[r->offset + (size_t)slow * r->stride + (size_t)fast])
                sum +=
                    angle(&session->experiment, data, r->fast_start + fast, r->slow_start + slow);
    return sum;
}

static db_status right_angle(const db_session *session, const unsigned char *mask, double *angle) {
    const db_experiment *e = &session->experiment;
    const db_region *r = &session->region;
    db_smv_geometry geometry;
    const db_status status = db_smv_geometry_get(session->context, e, &geometry);
    if (status != DB_OK) return status;
    if (e->detector.curved || mask)
        *angle =
            sum_of_pixels(session, e->detector.curved ? curved_pixel : flat_pixel, &geometry, mask);
    else
        *angle = rectangle_angle(&geometry, e->detector.panels[0].pixel_size, r->fast_start,
                                 r->slow_start, r->fast_count, r->slow_count);
    return DB_OK;
}

/* The reference sums all layers and divides by all steps, not by those of one direction. */
static db_status reference_angle(const db_session *session, const unsigned char *mask,
                                 double *angle) {
    const db_experiment *e = &session->experiment;
    db_trace *trace = NULL;
    const db_status status = db_trace_create(session->context, e, &trace);
    if (status != DB_OK) return status;
    *angle = sum_of_pixels(session, sampled_pixel, trace, mask) * e->detector.sensor_layers /
             ((double)e->beam.source_count * e->goniometer.phi_steps * e->crystal.mosaic_domains);
    db_trace_destroy(&trace);
    return DB_OK;
}

db_status db_report_solid_angle(const db_session *session, const unsigned char *mask) {
    const db_experiment *e = &session->experiment;
    const int digits = session->settings.digits, compat = session->settings.setup.compat;
    double angle = 0;
    if (session->settings.quiet || (e->point_pixel && !compat)) return DB_OK;
    if (e->detector.panel_count > 1) return DB_OK;
    const db_status status =
        compat ? reference_angle(session, mask, &angle) : right_angle(session, mask, &angle);
    if (status != DB_OK) return status;
    printf("\nsolid angle subtended by detector = %.*g steradian ( %.*g%% sphere)\n", digits, angle,
           digits, 100 * angle / SPHERE);
    return DB_OK;
}

void db_report_statistics(const db_session *session, const db_image_statistics *s) {
    if (session->settings.quiet) return;
    const int digits = session->settings.digits, sub = session->experiment.oversample;
    const double *const pixel = session->experiment.detector.panels[0].pixel_size;
    /* the last sub-pixel's place, as in the reference */
    const double last = (sub - 0.5) / sub;
    const int found = s->fast >= 0;
    printf("max_I = %.*g  at %.*g %.*g\n", digits, s->largest, digits,
           found ? 1e-3 * (s->fast + last) * pixel[0] : 0, digits,
           found ? 1e-3 * (s->slow + last) * pixel[1] : 0);
    printf("mean= %.*g rms= %.*g rmsd= %.*g\n", digits, s->mean, digits, s->rms, digits, s->rmsd);
}
