/* Life cycle of an experiment, and geometry questions about it. */
#include <dualbragg/experiment.h>

#include "base/context_internal.h"
#include "base/given.h"
#include "model/experiment_lists.h"
#include "base/vector.h"
#include "model/model.h"
#include "model/site_kinds.h"

#include <dualbragg/setup.h>
#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/setup_defaults.h>
#include <stdlib.h>
#include <string.h>

static const int MOST_RECOMMENDED = 1000000; /* sub-pixels along a side */

static const double IDENTITY[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };

static void set3(double v[3], double x, double y, double z) {
    v[0] = x;
    v[1] = y;
    v[2] = z;
}

static void crystal_defaults(db_crystal *crystal) {
    memcpy(crystal->orientation, IDENTITY, sizeof IDENTITY);
    for (int i = 0; i < 3; i++) {
        crystal->cell[i + 3] = 90;
        crystal->Ncells[i] = 1;
    }
    crystal->shape = DB_SHAPE_SQUARE;
    crystal->fudge = 1;
    crystal->mosaic_domains = 1;
    crystal->mosaic_seed = 12345678;
}

static void beam_defaults(db_beam *beam) {
    set3(beam->direction, 1, 0, 0);
    set3(beam->polarization_axis, 0, 0, 1);
    beam->wavelength = 1;
    beam->polarized = 1;
    beam->fluence = DB_DEFAULT_FLUENCE;
    beam->scale = 1;
    beam->spectrum_stretch = 1;
    beam->source_count = 1;
    set3(beam->sources[0].direction, 1, 0, 0);
    beam->sources[0].wavelength_ratio = 1;
    beam->sources[0].weight = 1;
}

static void detector_defaults(db_detector *detector) {
    set3(detector->fast_axis, 0, 0, 1);
    set3(detector->slow_axis, 0, -1, 0);
    set3(detector->normal, 1, 0, 0);
    set3(detector->twotheta_axis, 0, 0, -1);
    detector->pivot = DB_PIVOT_BEAM;
    detector->distance = 100;
    detector->centre[0] = detector->centre[1] = 51.3;
    detector->sensor_layers = 1;
    detector->panel_count = 1;
    db_panel *panel = &detector->panels[0];
    panel->fast_axis[0] = panel->slow_axis[1] = panel->normal[2] = 1;
    panel->pixel_size[0] = panel->pixel_size[1] = 0.1;
    panel->fast_pixels = panel->slow_pixels = 1024;
}

static void background_defaults(db_background *background) {
    background->thickness = 0.1;
    background->area = 0.01;
    background->density = 1;
    background->molecular_weight = 18;
}

db_status db_experiment_init(db_context *context, db_experiment *experiment) {
    memset(experiment, 0, sizeof *experiment);
    experiment->beam.sources = calloc(1, sizeof(db_source));
    experiment->detector.panels = calloc(1, sizeof(db_panel));
    if (!experiment->beam.sources || !experiment->detector.panels) {
        db_experiment_clear(experiment);
        return db_fail_memory(context, "an experiment");
    }
    crystal_defaults(&experiment->crystal);
    beam_defaults(&experiment->beam);
    set3(experiment->goniometer.spindle_axis, 0, 0, 1);
    experiment->goniometer.phi_steps = 1;
    background_defaults(&experiment->background);
    experiment->reference.reciprocal_scale = 1;
    detector_defaults(&experiment->detector);
    experiment->oversample = 1;
    return DB_OK;
}

static size_t amplitude_count(const db_structure_factors *factors) {
    return (size_t)factors->extent[0] * (size_t)factors->extent[1] * (size_t)factors->extent[2];
}

static void *duplicate(const void *source, size_t size) {
    void *copy = malloc(size ? size : 1);
    if (copy && size) memcpy(copy, source, size);
    return copy;
}

db_status db_experiment_need_lists(db_context *context, const db_experiment *e) {
    DB_TRY(db_need_list(context, "sources of the beam", e->beam.sources, e->beam.source_count));
    DB_TRY(db_need_list(context, "panels of the detector", e->detector.panels,
                        e->detector.panel_count));
    DB_TRY(db_need_list(context, "sin(theta)/lambda of amorphous amplitudes", e->background.stol,
                        e->background.count));
    return db_need_list(context, "amorphous amplitudes", e->background.amplitude,
                        e->background.count);
}

db_status db_experiment_copy(db_context *context, const db_experiment *experiment,
                             db_experiment *copy) {
    memset(copy, 0, sizeof *copy);
    DB_TRY(db_experiment_need_lists(context, experiment));
    *copy = *experiment;
    copy->structure_factors.sites = NULL;
    copy->structure_factors.amplitude = copy->background.stol = copy->background.amplitude = NULL;
    copy->beam.sources =
        duplicate(experiment->beam.sources, experiment->beam.source_count * sizeof(db_source));
    copy->detector.panels =
        duplicate(experiment->detector.panels, experiment->detector.panel_count * sizeof(db_panel));
    if (experiment->structure_factors.amplitude)
        copy->structure_factors.amplitude =
            duplicate(experiment->structure_factors.amplitude,
                      amplitude_count(&experiment->structure_factors) * sizeof(double));
    if (experiment->structure_factors.sites)
        copy->structure_factors.sites = db_site_kinds_copy(
            experiment->structure_factors.sites, amplitude_count(&experiment->structure_factors));
    if (experiment->background.count) {
        const size_t size = experiment->background.count * sizeof(double);
        copy->background.stol = duplicate(experiment->background.stol, size);
        copy->background.amplitude = duplicate(experiment->background.amplitude, size);
    }
    if (!copy->beam.sources || !copy->detector.panels ||
        (experiment->background.count && (!copy->background.stol || !copy->background.amplitude)) ||
        (experiment->structure_factors.sites && !copy->structure_factors.sites) ||
        (experiment->structure_factors.amplitude && !copy->structure_factors.amplitude)) {
        db_experiment_clear(copy);
        return db_fail_memory(context, "a copy of an experiment");
    }
    return DB_OK;
}

void db_experiment_clear(db_experiment *experiment) {
    free(experiment->beam.sources);
    free(experiment->detector.panels);
    free(experiment->structure_factors.amplitude);
    free(experiment->structure_factors.sites);
    free(experiment->background.stol);
    free(experiment->background.amplitude);
    memset(experiment, 0, sizeof *experiment);
}

db_status db_experiment_set_sources(db_context *context, db_experiment *experiment,
                                    const db_source *sources, size_t count) {
    if (count < 1) return db_fail(context, DB_ERROR_USAGE, "sources: expected 1 or more");
    db_source *const copy = duplicate(sources, count * sizeof *copy);
    if (!copy) return db_fail_memory(context, "the sources");
    free(experiment->beam.sources);
    experiment->beam.sources = copy;
    experiment->beam.source_count = count;
    return DB_OK;
}

db_status db_experiment_set_panels(db_context *context, db_experiment *experiment,
                                   const db_panel *panels, size_t count) {
    if (count < 1) return db_fail(context, DB_ERROR_USAGE, "panels: expected 1 or more");
    db_panel *const copy = duplicate(panels, count * sizeof *copy);
    if (!copy) return db_fail_memory(context, "the panels");
    free(experiment->detector.panels);
    experiment->detector.panels = copy;
    experiment->detector.panel_count = count;
    return DB_OK;
}

db_status db_experiment_set_amplitudes(db_context *context, db_experiment *experiment,
                                       const int min[3], const int extent[3],
                                       const double *amplitude) {
    db_structure_factors *const own = &experiment->structure_factors;
    db_structure_factors factors = *own;
    for (int i = 0; i < 3; i++) {
        factors.min[i] = amplitude ? min[i] : 0;
        factors.extent[i] = amplitude ? extent[i] : 0;
        if (amplitude && extent[i] < 1)
            return db_fail(context, DB_ERROR_USAGE,
                           "structure factors: expected an extent of 1 or more, found %d",
                           extent[i]);
    }
    factors.listed = amplitude ? amplitude_count(&factors) : 0;
    factors.amplitude = NULL;
    if (amplitude) {
        factors.amplitude = duplicate(amplitude, factors.listed * sizeof *amplitude);
        if (!factors.amplitude) return db_fail_memory(context, "the structure factors");
    }
    free(own->amplitude);
    free(own->sites);
    factors.sites = NULL;
    *own = factors;
    return DB_OK;
}

db_status db_experiment_set_amorphous(db_context *context, db_experiment *experiment,
                                      const double *stol, const double *amplitude, size_t count) {
    db_background *const own = &experiment->background;
    double *const copy[2] = { count ? duplicate(stol, count * sizeof *stol) : NULL,
                              count ? duplicate(amplitude, count * sizeof *amplitude) : NULL };
    if (count && (!copy[0] || !copy[1])) {
        free(copy[0]);
        free(copy[1]);
        return db_fail_memory(context, "the amplitudes of amorphous matter");
    }
    free(own->stol);
    free(own->amplitude);
    own->stol = copy[0];
    own->amplitude = copy[1];
    own->count = count;
    return DB_OK;
}

size_t db_experiment_pixels(const db_experiment *experiment) {
    size_t pixels = 0;
    for (size_t p = 0; p < experiment->detector.panel_count; p++)
        pixels += (size_t)experiment->detector.panels[p].fast_pixels *
                  (size_t)experiment->detector.panels[p].slow_pixels;
    return pixels;
}

double db_samples_per_pixel(const db_experiment *e) {
    if (e->spread.spots == DB_SPOTS_CLOSED) return (double)e->oversample * e->oversample;
    const int layers = e->detector.sensor_thickness != 0 ? e->detector.sensor_layers : 1;
    return (double)e->oversample * e->oversample * layers * (double)e->beam.source_count *
           e->goniometer.phi_steps * e->crystal.mosaic_domains;
}

/* Places a panel as the pixel loop does. */
static db_panel_interface place_panel(const db_experiment *experiment, size_t panel) {
    db_experiment one = *experiment;
    db_panel_interface placed;
    one.detector.panels += panel;
    one.detector.panel_count = 1;
    db_model_panels(&one, &placed);
    return placed;
}

db_status db_experiment_pixel_position(const db_experiment *experiment, size_t panel, double fast,
                                       double slow, double position[3]) {
    if (panel >= experiment->detector.panel_count) return DB_ERROR_USAGE;
    const db_panel_interface placed = place_panel(experiment, panel);
    const double f = fast * experiment->detector.panels[panel].pixel_size[0];
    const double s = slow * experiment->detector.panels[panel].pixel_size[1];
    position[0] = 1e3 * placed.origin.x.v + f * placed.fast.x.v + s * placed.slow.x.v;
    position[1] = 1e3 * placed.origin.y.v + f * placed.fast.y.v + s * placed.slow.y.v;
    position[2] = 1e3 * placed.origin.z.v + f * placed.fast.z.v + s * placed.slow.z.v;
    return DB_OK;
}

/* The coordinate in [from, from + length] that is nearest to `wanted`. */
static double nearest_in(double from, double length, double wanted) {
    return fmin(fmax(wanted, fmin(from, from + length)), fmax(from, from + length));
}

/* The largest angle (radian) of an edge of length `edge`, seen from the sample, anywhere on a rectangle. A pixel
 * at (along, across) in its plane, from the foot of the sample, which is `height` away, sees the edge under edge
 * sqrt(t^2)/(along^2 + t^2), t^2 = height^2 + across^2. This is largest for the smallest `along` and the t nearest
 * to it. */
static double widest_edge(double edge, double height, double along, double along_length,
                          double across, double across_length) {
    const double least = fabs(nearest_in(along, along_length, 0)),
                 near = hypot(height, nearest_in(across, across_length, 0)),
                 far = hypot(height, fmax(fabs(across), fabs(across + across_length))),
                 t = fmin(fmax(least, near), far);
    return edge * t / (least * least + t * t);
}

/* Largest angle (radian) of a pixel's edge on a panel. A curved one is everywhere as far from the
 * sample as where the beam meets it. */
static double widest_pixel(const db_experiment *experiment, size_t panel) {
    const db_panel *const p = &experiment->detector.panels[panel];
    const double edge[2] = { 1e-3 * p->pixel_size[0], 1e-3 * p->pixel_size[1] };
    if (experiment->reference.on) return fmax(edge[0], edge[1]) / experiment->reference.distance;
    const db_panel_interface placed = place_panel(experiment, panel);
    double f[3], s[3], r[3], n[3];
    db_vector_out(placed.fast, f);
    db_vector_out(placed.slow, s);
    db_vector_out(placed.origin, r);
    db_cross(f, s, n);
    const double height = fabs(db_dot(r, n)) / db_length(n);
    if (experiment->detector.curved) return fmax(edge[0], edge[1]) / fabs(placed.radius.v);
    const double at[2] = { db_dot(r, f), db_dot(r, s) },
                 length[2] = { p->fast_pixels * edge[0], p->slow_pixels * edge[1] };
    return fmax(widest_edge(edge[0], height, at[0], length[0], at[1], length[1]),
                widest_edge(edge[1], height, at[1], length[1], at[0], length[0]));
}

/* The sub-pixels that are needed to resolve the spots' fringes (docs/theory/pixel.md, Number of sub-pixels). */
int db_recommended_oversample(const db_experiment *experiment) {
    /* in closed form a pixel counts by its covariance; the program has a look at the spots */
    if (experiment->spread.spots == DB_SPOTS_CLOSED) return 1;
    const db_crystal *crystal = &experiment->crystal;
    double largest = 0, recommended = 1;
    for (int i = 0; i < 3; i++) largest = fmax(largest, crystal->Ncells[i] * crystal->cell[i]);
    for (size_t p = 0; p < experiment->detector.panel_count; p++) {
        const double needed =
            3 * largest * widest_pixel(experiment, p) / experiment->beam.wavelength;
        recommended = fmax(recommended, ceil(needed - 1e-9));
    }
    return recommended < MOST_RECOMMENDED ? (int)recommended : MOST_RECOMMENDED;
}
