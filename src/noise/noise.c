/* Noise and detector: checks, and the loops over pixels. */
#include <dualbragg/expert/noise_check.h>
#include <dualbragg/noise.h>

#include "base/context_internal.h"
#include "base/given.h"
#include "base/threads.h"

#ifdef DB_HAVE_RANDOM123

#include "noise/deviates.h"
#include "noise/device_noise.h"
#include "noise/expected_check.h"
#include "noise/pixel_chain.h"
#include "noise/psf.h"

#include <stdlib.h>
#include <string.h>

/* Checks a number from 0 to 1. */
static db_status check_fraction(db_context *context, const char *name, double value) {
    if (value >= 0 && value <= 1) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT, "%s: expected a fraction from 0 to 1, found %g", name,
                   value);
}

/* Checks a number of 0 or more, or above 0 where `positive`. */
static db_status check_number(db_context *context, const char *name, double value, int positive) {
    if (isfinite(value) && value >= 0 && (value > 0 || !positive)) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT, "%s: expected a finite number %s, found %g", name,
                   positive ? "above 0" : "from 0 on", value);
}

db_status db_noise_check(db_context *context, const db_noise_options *o) {
    if (o->size != sizeof *o)
        return db_fail(context, DB_ERROR_USAGE,
                       "noise options: expected %zu bytes (DB_NOISE_OPTIONS_INIT), found %zu",
                       sizeof *o, o->size);
    DB_TRY(DB_NEED_ZEROS(context, "noise options", o));
    DB_TRY(check_number(context, "scale of the expected image", o->scale, 0));
    DB_TRY(check_fraction(context, "flicker", o->flicker));
    DB_TRY(check_fraction(context, "calibration", o->calibration));
    DB_TRY(check_number(context, "gain", o->gain, 1));
    DB_TRY(check_number(context, "readout noise", o->readout, 0));
    if (!isfinite(o->adc))
        return db_fail(context, DB_ERROR_INPUT, "adc offset: expected a finite number, found %g",
                       o->adc);
    DB_TRY(db_need_choice(context, "point spread function", (int)o->psf, DB_PSF_FIBER));
    if (o->psf != DB_PSF_NONE)
        DB_TRY(check_number(context, "width of the point spread function", o->psf_fwhm, 1));
    if (o->psf_radius < 0)
        return db_fail(context, DB_ERROR_INPUT,
                       "radius of the point spread function: expected 0 or more, found %d",
                       o->psf_radius);
    if (o->bits != 16 && o->bits != 32)
        return db_fail(context, DB_ERROR_INPUT, "bits of a pixel: expected 16 or 32, found %d",
                       o->bits);
    return DB_OK;
}

/* Checks the shape; counts of 0 become the whole panel's. */
static db_status resolve_frame(db_context *context, const db_noise_frame *given,
                               db_noise_frame *frame) {
    *frame = *given;
    if (frame->fast_pixels < 1 || frame->slow_pixels < 1 || !frame->expected)
        return db_fail(context, DB_ERROR_USAGE,
                       "noise: expected an image of at least 1 x 1 pixels, found %s%d x %d",
                       frame->expected ? "" : "none of ", frame->fast_pixels, frame->slow_pixels);
    if (!frame->fast_count && !frame->slow_count && !frame->fast_start && !frame->slow_start) {
        frame->fast_count = frame->fast_pixels;
        frame->slow_count = frame->slow_pixels;
    }
    if (frame->fast_start < 0 || frame->slow_start < 0 || frame->fast_count < 1 ||
        frame->slow_count < 1 || frame->fast_count > frame->fast_pixels - frame->fast_start ||
        frame->slow_count > frame->slow_pixels - frame->slow_start)
        return db_fail(context, DB_ERROR_USAGE,
                       "noise: region of %d x %d pixels from (%d, %d) on does not fit the image of "
                       "%d x %d",
                       frame->fast_count, frame->slow_count, frame->fast_start, frame->slow_start,
                       frame->fast_pixels, frame->slow_pixels);
    return DB_OK;
}

/* Checks the pixels that will be read; finds the brightest, counts the negative ones. */
static db_status check_pixels(db_context *context, const db_noise_frame *f, int whole,
                              double *brightest, size_t *negative) {
    const int left = whole ? 0 : f->fast_start, top = whole ? 0 : f->slow_start,
              right = whole ? f->fast_pixels : f->fast_start + f->fast_count,
              bottom = whole ? f->slow_pixels : f->slow_start + f->slow_count;
    float most = 0;
    *negative = 0;
    for (int slow = top; slow < bottom; slow++) {
        const float *row = f->expected + (size_t)slow * (size_t)f->fast_pixels;
        for (int fast = left; fast < right; fast++) {
            if (!isfinite(row[fast])) return noise_refuse_pixel(context, fast, slow, row[fast]);
            *negative += row[fast] < 0;
            most = row[fast] > most ? row[fast] : most;
        }
    }
    *brightest = (double)most;
    return DB_OK;
}

/* An image being made. */
typedef struct making {
    noise_chain chain;
    db_noise_frame frame;
    double *light; /* of the whole panel, after the point spread; NULL without one */
    int threads;
    double *row_photons; /* per row of the region */
    size_t overloads, underflows;
} making;

static int in_region(const db_noise_frame *f, int slow) {
    return slow >= f->slow_start && slow < f->slow_start + f->slow_count;
}

/* Photons of a row of the panel into `light`. */
static void expose_row(const making *m, int slow, int first, int count, double *light) {
    const float *expected = m->frame.expected + (size_t)slow * (size_t)m->frame.fast_pixels;
    noise_photons_of_row(&m->chain, first, slow, count, expected + first, light + first);
}

static double sum_of(const double *values, int first, int count) {
    double sum = 0;
    for (int i = first; i < first + count; i++) sum += values[i];
    return sum;
}

/* Reads out some pixels of a row. */
static void read_block(const making *m, int slow, int first, int count, const double *light,
                       size_t *overloads, size_t *underflows) {
    const size_t start = (size_t)slow * (size_t)m->frame.fast_pixels + (size_t)first;
    float *const as_float = m->frame.signal;
    int32_t *const number = m->frame.number;
    double signal[NOISE_BLOCK];
    noise_signals_of_block(&m->chain, first, slow, count, light, signal);
    for (int i = 0; i < count; i++) {
        *overloads += signal[i] > m->chain.limit;
        *underflows += signal[i] < 0;
        if (as_float) as_float[start + (size_t)i] = noise_float(signal[i]);
        if (number) number[start + (size_t)i] = noise_number(&m->chain, signal[i]);
    }
}

/* Reads out a row of the region. */
static void read_row(const making *m, int slow, const double *light, size_t *overloads,
                     size_t *underflows) {
    const int end = m->frame.fast_start + m->frame.fast_count;
    for (int fast = m->frame.fast_start; fast < end; fast += NOISE_BLOCK)
        read_block(m, slow, fast, end - fast < NOISE_BLOCK ? end - fast : NOISE_BLOCK, light + fast,
                   overloads, underflows);
}

static void expose_panel(making *m) {
    const db_noise_frame *f = &m->frame;
#pragma omp parallel for schedule(dynamic, 4) num_threads(m->threads)
    for (int slow = 0; slow < f->slow_pixels; slow++) {
        double *const light = m->light + (size_t)slow * (size_t)f->fast_pixels;
        expose_row(m, slow, 0, f->fast_pixels, light);
        if (in_region(f, slow))
            m->row_photons[slow - f->slow_start] = sum_of(light, f->fast_start, f->fast_count);
    }
}

/* scratch: a row of the panel for each thread; only without a point spread function */
static void read_panel(making *m, double *scratch) {
    const db_noise_frame *f = &m->frame;
    size_t overloads = 0, underflows = 0;
#pragma omp parallel for schedule(dynamic, 4) num_threads(m->threads) reduction(+ : overloads, underflows)
    for (int row = 0; row < f->slow_count; row++) {
        const int slow = f->slow_start + row;
        const size_t thread = (size_t)db_thread_number();
        double *light;
        if (m->light) {
            light = m->light + (size_t)slow * (size_t)f->fast_pixels;
        } else {
            light = scratch + thread * (size_t)f->fast_pixels;
            expose_row(m, slow, f->fast_start, f->fast_count, light);
            m->row_photons[row] = sum_of(light, f->fast_start, f->fast_count);
        }
        read_row(m, slow, light, &overloads, &underflows);
    }
    m->overloads = overloads;
    m->underflows = underflows;
}

static db_status make_image(db_context *context, making *m, const noise_psf *psf) {
    const db_noise_frame *f = &m->frame;
    const size_t count = (size_t)f->fast_pixels * (size_t)f->slow_pixels;
    if (f->signal) memset(f->signal, 0, count * sizeof *f->signal);
    if (f->number) memset(f->number, 0, count * sizeof *f->number);
    if (psf->type == DB_PSF_NONE) {
        double *scratch = malloc((size_t)m->threads * (size_t)f->fast_pixels * sizeof *scratch);
        if (!scratch) return db_fail_memory(context, "the noise image");
        read_panel(m, scratch);
        free(scratch);
        return DB_OK;
    }
    m->light = malloc(count * sizeof *m->light);
    if (!m->light) return db_fail_memory(context, "the noise image");
    expose_panel(m);
    /* without noise a negative mean may remain; no light spreads from it */
    if (!m->chain.noisy)
        for (size_t i = 0; i < count; i++) m->light[i] = fmax(0, m->light[i]);
    db_enter_stage(context, "point spread");
    const db_status status =
        noise_psf_apply(context, m->threads, psf, f->fast_pixels, f->slow_pixels, m->light);
    db_leave_stage(context, "point spread");
    if (status == DB_OK) read_panel(m, NULL);
    free(m->light);
    return status;
}

static noise_chain chain_of(const db_noise_options *o, uint32_t panel, double flicker) {
    return (noise_chain){ .seed = o->seed,
                          .calibration_seed = o->calibration_seed,
                          .panel = panel,
                          .noisy = o->noisy,
                          .truncate = o->truncate,
                          .beam = o->scale * flicker,
                          .calibration = o->calibration,
                          .gain = o->gain,
                          .adc = o->adc,
                          .readout = o->readout,
                          .limit = o->bits == 16 ? 65535 : 2147483647 };
}

static db_status apply_here(db_context *context, const db_noise_options *options,
                            const noise_chain *chain, const db_noise_frame *frame,
                            db_noise_summary *s) {
    double brightest = 0;
    making m = { .chain = *chain,
                 .frame = *frame,
                 .threads = db_threads_for(context, frame->slow_pixels) };
    DB_TRY(check_pixels(context, frame, options->psf != DB_PSF_NONE, &brightest, &s->negative));
    DB_TRY(noise_check_brightest(context, options->scale, brightest));
    noise_psf psf = { .type = DB_PSF_NONE };
    if (options->psf != DB_PSF_NONE) {
        const int longest =
            frame->fast_pixels > frame->slow_pixels ? frame->fast_pixels : frame->slow_pixels;
        psf = noise_psf_of(options->psf, options->psf_fwhm, options->psf_radius,
                           brightest * options->scale, longest);
        s->psf_radius = psf.radius;
        s->psf_lost = psf.lost;
    }
    m.row_photons = calloc((size_t)frame->slow_count, sizeof *m.row_photons);
    if (!m.row_photons) return db_fail_memory(context, "the noise image");
    db_enter_stage(context, "noise");
    const db_status status = make_image(context, &m, &psf);
    db_leave_stage(context, "noise");
    s->photons = sum_of(m.row_photons, 0, frame->slow_count);
    s->overloads = m.overloads;
    s->underflows = m.underflows;
    free(m.row_photons);
    return status;
}

/* Makes an image by the processor; the frame may be in any memory. */
static db_status apply_by_processor(db_context *context, const db_noise_options *options,
                                    const noise_chain *chain, const db_noise_frame *frame,
                                    db_noise_summary *s) {
    db_noise_frame here = *frame;
    noise_copies copies;
    DB_TRY(noise_bring(context, &here, &copies));
    return noise_return(context, apply_here(context, options, chain, &here, s), &copies);
}

db_status db_noise_apply(db_context *context, const db_noise_options *options,
                         const db_noise_frame *frame, db_noise_summary *summary) {
    db_noise_summary s = { .flicker = 1 };
    db_noise_frame resolved;
    int done = 0;
    DB_TRY(db_noise_check(context, options));
    DB_TRY(resolve_frame(context, frame, &resolved));
    if (options->noisy) s.flicker = noise_flicker_factor(options->seed, options->flicker);
    const noise_chain chain = chain_of(options, resolved.panel, s.flicker);
    db_status status = DB_OK;
    if (options->psf == DB_PSF_NONE)
        status = noise_on_device(context, options->scale, &chain, &resolved, &s, &done);
    if (!done) status = apply_by_processor(context, options, &chain, &resolved, &s);
    if (summary) *summary = s;
    return status;
}

#else

db_status db_noise_check(db_context *context, const db_noise_options *options) {
    return db_noise_apply(context, options, NULL, NULL);
}

db_status db_noise_apply(db_context *context, const db_noise_options *options,
                         const db_noise_frame *frame, db_noise_summary *summary) {
    (void)options;
    (void)frame;
    (void)summary;
    return db_fail(context, DB_ERROR_UNSUPPORTED,
                   "this build has no photon noise (it needs Random123 when it is configured)");
}

#endif
