/* Compares the scatter of neighbouring pixels, square by square, with the scatter of photons. */
#include "fit/pixels/dark_levels.h"

#include "base/context_internal.h"
#include "base/quantile.h"
#include "fit/pixels/measured_image.h"

#include <math.h>
#include <stdlib.h>

enum { SQUARE = DB_NOISE_SQUARE, APART = DB_NOISE_APART, PAIRS = SQUARE * (SQUARE - APART) };
enum { ENOUGH = DB_NOISE_ENOUGH, PLENTY = 1000 }; /* squares */
enum { FEWEST_STEPS = 100 }; /* fewest pixels with photons to determine the step of counts */
static const double MORE = DB_NOISE_MORE;

/* Differences of pairs of trusted pixels of a square; returns their number, 0 if there are too few. */
static size_t pairs_of(const db_measured_image *panel, int fast, int slow, double apart[PAIRS],
                       double *mean) {
    double sum = 0;
    size_t count = 0;
    for (int row = slow; row < slow + SQUARE; row++) {
        const size_t first = (size_t)row * (size_t)panel->fast_pixels + (size_t)fast;
        const float *const value = panel->value + first;
        const uint8_t *const mask = panel->mask + first;
        for (int i = 0; i < SQUARE - APART; i++) {
            const int both = (mask[i] == DB_MASK_TRUSTED) & (mask[i + APART] == DB_MASK_TRUSTED);
            apart[count] = fabs((double)value[i] - (double)value[i + APART]);
            sum += both ? (double)value[i] : 0;
            count += (size_t)both;
        }
    }
    *mean = sum / (double)count;
    return count < PAIRS / 4 ? 0 : count;
}

/* Indices in the sorted list of differences: before the largest hundredth, and in the middle. */
static size_t last_of(size_t count) { return count - 1 - count / 100; }
static size_t middle_of(size_t count) { return count / 2; }

/* Differences of a normal distribution at these places, in standard deviations. */
static const double BEYOND = 2.5758293035489, HALF = 0.6744897501961;

/* Does a square scatter by more than photons explain? Compares the difference that one in a hundred exceeds,
 * because noise of heavy tails must not become spots, and the middle one, on which spots have no influence.
 * Counting is far less work than sorting. known: set to 0 if pixels are too few, or all equal. */
static int scatters_more(const db_fit_settings *settings, const db_measured_image *panel, int fast,
                         int slow, int *known) {
    double apart[PAIRS], mean;
    const size_t count = pairs_of(panel, fast, slow, apart, &mean);
    *known = 0;
    if (!count) return 0;
    const double rms = sqrt(2 * MORE * db_pixel_variance(settings, mean));
    size_t alike = 0, within = 0, half = 0;
    for (size_t i = 0; i < count; i++) {
        alike += apart[i] <= 0;
        within += apart[i] <= BEYOND * rms;
        half += apart[i] <= HALF * rms;
    }
    *known = alike <= last_of(count);
    return within <= last_of(count) && half <= middle_of(count);
}

/* Does a square scatter as photons of this gain that overlap? Compares the middle difference with the middle count:
 * pixels that stand out have no influence on either. known: set to 0 if pixels are too few. */
static int scatters_alike(const db_fit_settings *settings, const db_measured_image *panel, int fast,
                          int slow, int *known) {
    double apart[PAIRS], counts[PAIRS], mean;
    const size_t count = pairs_of(panel, fast, slow, apart, &mean);
    size_t number = 0;
    *known = count > 0;
    if (!count) return 0;
    for (int i = 0; i < SQUARE * SQUARE && number < count; i++) {
        const size_t at =
            (size_t)(slow + i / SQUARE) * (size_t)panel->fast_pixels + (size_t)(fast + i % SQUARE);
        if (panel->mask[at] == DB_MASK_TRUSTED) counts[number++] = (double)panel->value[at];
    }
    const double usual = db_ranked(counts, number, number / 2),
                 middle = db_ranked(apart, count, middle_of(count)) / HALF,
                 ratio = middle * middle / (2 * db_pixel_variance(settings, usual));
    return usual >= settings->gain && ratio < MORE && ratio * MORE > 1;
}

typedef int square_test(const db_fit_settings *settings, const db_measured_image *panel, int fast,
                        int slow, int *known);

/* Do most squares pass a test? Uses little more than PLENTY squares. */
static int most_squares(const db_measured_image *image, const db_fit_settings *settings,
                        square_test *test) {
    const int apart = db_noise_squares_apart(image, PLENTY);
    size_t count = 0, more = 0;
    for (size_t p = 0; p < db_measured_panels(image); p++) {
        const db_measured_image panel = db_measured_panel(image, p);
        for (int slow = 0; slow + SQUARE <= panel.slow_pixels; slow += apart)
            for (int fast = 0; fast + SQUARE <= panel.fast_pixels; fast += apart) {
                int known;
                more += (size_t)test(settings, &panel, fast, slow, &known);
                count += (size_t)known;
            }
    }
    return count >= ENOUGH && 2 * more > count;
}

/* A count whose multiples others are. */
typedef struct count_steps {
    double step;      /* 0: none yet */
    size_t dark, lit; /* trusted pixels without counts, and with some */
    size_t beside;    /* of these, those with no multiple of the step */
    size_t below;     /* and those below 0 */
    int broken;       /* 1: a count is not whole */
} count_steps;

static void count_multiples(const db_measured_image *image, count_steps *c) {
    const size_t pixels = db_measured_pixels(image);
    for (size_t i = 0; i < pixels; i++) {
        const double count = fabs((double)image->value[i]);
        if (image->mask[i] != DB_MASK_TRUSTED) continue;
        if (count == 0) {
            c->dark++;
            continue;
        }
        c->lit++;
        c->below += image->value[i] < 0;
        c->beside += c->step > 0 && fmod(count, c->step) != 0;
        c->broken |= floor(count) != count;
        if (2 * c->lit > pixels) return; /* not dark */
    }
}

/* The commonest count, which is one photon where most pixels have none. */
static db_status commonest_count(db_context *context, const db_measured_image *image,
                                 double *count) {
    enum { MOST = 1 << 12 }; /* counts of a photon */
    const size_t pixels = db_measured_pixels(image);
    size_t *const number = calloc(MOST, sizeof *number);
    size_t most = 0;
    if (!number) return db_fail_memory(context, "the steps of an image's counts");
    for (size_t i = 0; i < pixels; i++) {
        const double value = fabs((double)image->value[i]);
        if (image->mask[i] != DB_MASK_TRUSTED || !(value < MOST)) continue;
        number[(size_t)value] += value > 0;
    }
    for (size_t k = 1; k < MOST; k++)
        if (number[k] > number[most]) most = k;
    free(number);
    *count = (double)most;
    return DB_OK;
}

/* Step of counts: what almost all are multiples of, if they are whole and at least half of the trusted pixels are 0.
 * A photon is then one step, because less is not seen. A few pixels may have the mean of their neighbours in place of
 * counts. Steps of 1 below 0, too, are readout noise that was rounded. 0: no step. */
static db_status step_of(db_context *context, const db_measured_image *image, double *step) {
    const double replaced = 0.01; /* of the pixels with counts */
    count_steps c = { 0 };
    *step = 0;
    count_multiples(image, &c);
    if (c.broken || c.dark < c.lit || c.lit < FEWEST_STEPS) return DB_OK;
    c = (count_steps){ 0 };
    DB_TRY(commonest_count(context, image, &c.step));
    count_multiples(image, &c);
    const int rounded = c.step <= 1 && c.below >= FEWEST_STEPS;
    if ((double)c.beside <= replaced * (double)c.lit && !rounded) *step = c.step;
    return DB_OK;
}

/* Uses the image's gain and no readout noise: data.gain of a detector with more noise must not hide that noise. */
db_status db_image_noise_estimate(db_context *context, db_measured_image *image,
                                  db_fit_settings *settings, db_image_noise *noise) {
    db_fit_settings photons = *settings; /* borrows */
    *noise = (db_image_noise){ .measured = isnan(settings->gain) };
    photons.gain = isnan(image->gain) ? 1 : image->gain;
    if (!noise->measured) photons.readout_noise = 0;
    if (noise->measured) settings->gain = photons.gain;
    double step = 0;
    if (noise->measured && !(photons.gain > 1)) DB_TRY(step_of(context, image, &step));
    if (step > photons.gain && !(image->stated_gain > 0)) {
        settings->gain = step;
        noise->by_steps = 1;
        return DB_OK;
    }
    if (step > 0) { /* a photon is one count */
        noise->measured = 0;
        return DB_OK;
    }
    db_photon_step photon;
    DB_TRY(db_photon_step_find(context, image, &photon));
    const int noisy =
        most_squares(image, &photons, scatters_more) ||
        (photon.counts > MORE * photons.gain && !most_squares(image, &photons, scatters_alike));
    if (noisy) return db_dark_levels_find(context, image, &photon, settings, noise);
    noise->measured = 0;
    return DB_OK;
}
