/* Mean wavelength of each pixel's photons. An image is linear in the weights of the sources, so an image with weights
 * times wavelengths is the sum of photons times wavelengths. */
#include "base/given.h"
#include "engine/device_plan.h"
#include "engine/plan_background.h"
#include "engine/plan_state.h"

#include <dualbragg/plan.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The plan's experiment with fixed wavelengths of the sources with any weights, and each source's place
 * between the shortest and the longest wavelength. */
typedef struct wavelength_view {
    db_experiment experiment; /* borrows everything but the sources */
    db_source *before;        /* [sources]: the plan's sources */
    double *way;              /* [sources]: 0 at the shortest wavelength, 1 at the longest */
    double shortest, longest; /* wavelengths of sources whose weight is not 0 (A) */
    double share;             /* mean of way, weighted */
} wavelength_view;

static void close_view(wavelength_view *v) {
    free(v->experiment.beam.sources);
    free(v->before);
    free(v->way);
}

static void find_ways(const db_plan *plan, wavelength_view *v) {
    db_beam *const beam = &v->experiment.beam;
    double whole = 0;
    for (size_t j = 0; j < beam->source_count; j++) {
        const double wavelength = 1 / plan->values.interface.source[j].kappa.v;
        v->way[j] = wavelength;
        beam->sources[j].wavelength_ratio = wavelength / beam->wavelength;
        if (v->before[j].weight == 0) continue;
        v->shortest = fmin(v->shortest, wavelength);
        v->longest = fmax(v->longest, wavelength);
    }
    const double range = v->longest - v->shortest;
    for (size_t j = 0; j < beam->source_count; j++) {
        const double weight = v->before[j].weight;
        v->way[j] = weight != 0 && range > 0 ? (v->way[j] - v->shortest) / range : 0;
        v->share += weight * v->way[j];
        whole += weight;
    }
    v->share /= whole;
}

static db_status open_view(const db_plan *plan, wavelength_view *v) {
    const size_t count = plan->experiment.beam.source_count;
    *v = (wavelength_view){ .experiment = plan->experiment, .shortest = INFINITY };
    db_beam *const beam = &v->experiment.beam;
    beam->sources = malloc(count * sizeof *beam->sources);
    v->before = malloc(count * sizeof *v->before);
    v->way = malloc(count * sizeof *v->way);
    if (!beam->sources || !v->before || !v->way)
        return db_fail_memory(plan->context, "mean wavelengths");
    memcpy(beam->sources, plan->experiment.beam.sources, count * sizeof *beam->sources);
    memcpy(v->before, beam->sources, count * sizeof *v->before);
    beam->spectrum_stretch = 1;
    beam->dispersion = 0;
    find_ways(plan, v);
    return DB_OK;
}

/* Renders two images: with the sources' weights, and with weights times way. The plan is restored. */
static db_status render_both(db_plan *plan, wavelength_view *v, void *photons, void *weighted) {
    db_experiment before = plan->experiment; /* borrows everything */
    db_source *const source = v->experiment.beam.sources;
    before.beam.sources = v->before;
    DB_TRY(db_plan_forward(plan, photons));
    if (!(v->share > 0)) return DB_OK;
    for (size_t j = 0; j < v->experiment.beam.source_count; j++)
        source[j].weight = v->before[j].weight * v->way[j];
    db_status status = db_plan_update(plan, &v->experiment);
    if (status == DB_OK) status = db_plan_forward(plan, weighted);
    const db_status back = db_plan_update(plan, &before);
    return status == DB_OK ? back : status;
}

static double image_element(const void *image, db_pixel_type type, size_t i) {
    return type == DB_FLOAT64 ? ((const double *)image)[i] : (double)((const float *)image)[i];
}

/* Divides the images. Elements outside the regions stay unchanged; a pixel whose photons are NAN becomes NAN. Each
 * image lacks some photons within the plan's tolerance, so the mean of very few photons could be any number: it is
 * limited to the wavelengths of the sources. */
static void divide_images(const db_plan *plan, const wavelength_view *v, const void *photons,
                          const void *weighted, void *image) {
    const db_pixel_type type = plan->job.pixel_type;
    const double range = (v->longest - v->shortest) * v->share;
    for (size_t i = 0; i < plan->tiles.pixels; i++) {
        const double all = image_element(photons, type, i);
        if (isnan(all)) continue;
        const double part = range > 0 && all != 0 ? image_element(weighted, type, i) / all : 0,
                     mean = all == 0
                                ? 0
                                : fmin(v->longest, fmax(v->shortest, v->shortest + range * part));
        if (type == DB_FLOAT64)
            ((double *)image)[i] = mean;
        else
            ((float *)image)[i] = (float)mean;
    }
}

static void *empty_image(const db_plan *plan) {
    const size_t count = plan->tiles.pixels,
                 each = plan->job.pixel_type == DB_FLOAT64 ? sizeof(double) : sizeof(float);
    void *const image = malloc((count + 1) * each);
    for (size_t i = 0; image && i < count; i++)
        if (plan->job.pixel_type == DB_FLOAT64)
            ((double *)image)[i] = NAN;
        else
            ((float *)image)[i] = NAN;
    return image;
}

static db_status check_plan(db_plan *plan, const void *image) {
    const int lit = db_plan_background_pixels(plan) != NULL;
    int there;
    DB_TRY(db_need_list(plan->context, "image of mean wavelengths", image, 1));
    if (lit || plan->experiment.reference.on)
        return db_fail(plan->context, DB_ERROR_UNSUPPORTED,
                       "mean wavelengths: expected a plan without %s",
                       lit ? "a background image, whose photons have none"
                           : "nanoBragg's arithmetic (compat)");
    DB_TRY(db_device_has(plan, image, &there));
    return !there ? DB_OK
                  : db_fail(plan->context, DB_ERROR_UNSUPPORTED,
                            "mean wavelengths: expected an image in the host's memory");
}

db_status db_plan_mean_wavelength(db_plan *plan, void *image) {
    wavelength_view view;
    DB_TRY(check_plan(plan, image));
    db_status status = open_view(plan, &view);
    void *const photons = empty_image(plan);
    void *const weighted = empty_image(plan);
    if (status == DB_OK && (!photons || !weighted))
        status = db_fail_memory(plan->context, "mean wavelengths");
    if (status == DB_OK) status = render_both(plan, &view, photons, weighted);
    if (status == DB_OK) divide_images(plan, &view, photons, weighted, image);
    free(photons);
    free(weighted);
    close_view(&view);
    return status;
}
