#include "cli/report_beam.h"

#include "cli/report_text.h"

#include <dualbragg/sensor.h>
#include <stdio.h>

/* The reference's sources are this far away (m). */
static const double SOURCE_DISTANCE = 10;

static int same_direction(const db_source *a, const db_source *b) {
    return a->spread[0] == b->spread[0] && a->spread[1] == b->spread[1];
}

/* Sources come direction by direction, each with the same wavelengths. */
db_source_grid db_source_grid_of(const db_beam *beam) {
    db_source_grid grid = { 1, 0, { 0, 0 } };
    for (size_t j = 1; j < beam->source_count; j++) {
        const db_source *last = &beam->sources[j - 1], *next = &beam->sources[j];
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

/* In metre. */
static double wavelength_of(const db_experiment *experiment, size_t source) {
    return 1e-10 * db_experiment_source_wavelength(experiment, source);
}

static void report_spread(const db_session *session) {
    const db_beam *beam = &session->experiment.beam;
    const int digits = session->settings.digits;
    const db_source_grid grid = db_source_grid_of(beam);
    for (size_t j = 0; j < beam->source_count; j++)
        if (j == 0 || !same_direction(&beam->sources[j], &beam->sources[j - 1]))
            printf("divergence deviation: %.*g %.*g\n", digits,
                   db_tidy(1e-3 * beam->divergence[0] * beam->sources[j].spread[0], 1), digits,
                   db_tidy(1e-3 * beam->divergence[1] * beam->sources[j].spread[1], 1));
    for (size_t j = 0; j < grid.wavelengths; j++)
        printf("lambda%zu = %.15g\n", j, wavelength_of(&session->experiment, j));
}

/* The sources' places, at a distance of the reference's for those it makes itself. */
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

db_status db_report_samples(const db_session *session) {
    const db_experiment *e = &session->experiment;
    const int digits = session->settings.digits;
    db_detector layer = e->detector; /* the first one by itself, hit squarely */
    layer.sensor_thickness /= layer.sensor_layers;
    layer.sensor_layers = 1;
    const double depth = 1e3 * db_sensor_depth(&layer, 1);
    for (int i = 0; i < e->detector.sensor_layers; i++)
        printf("thick%d = %.*g um\n", i, digits, i * layer.sensor_thickness + depth);
    for (int i = 0; i < e->goniometer.phi_steps; i++)
        printf("phi%d = %.*g\n", i, digits, e->goniometer.phi + i * e->goniometer.phi_step);
    if (!session->settings.setup.source_file) report_spread(session);
    const db_status status = report_sources(session);
    printf("  created a total of %d mosaic domains\n", e->crystal.mosaic_domains);
    return status;
}
