/* The blur of a spectrometer is undone by the rounds of Richardson (1972) and Lucy (1974), which lead to the spectrum that most
 * likely gave counts of photons in the channels; weights stay positive, and their sum. */
#include "setup/spectrometer.h"

#include "base/context_internal.h"
#include "base/photon_energy.h"
#include "base/quantile.h"
#include "model/beam_spectrum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rounds: blurred spectra of 1 % with spikes, channels of half the resolution and noise up to 3 % have settled after 15. */
enum { ROUNDS = 20, MOST_CELLS = 100000 };

/* Parts of the largest weight that are not kept: channels cost time. */
static const double faint_channel = 1e-4;

/* Part of the channels' width by which distances of channels may differ from it: as of even steps of the wavelength. */
static const double most_uneven = 0.2;

/* A resolution below this part of the channels' width moves at most 1 % of a channel's light. It looks like keV if the same number
 * of keV is below this many channels; no spectrometer has channels much narrower than it resolves. */
static const double narrowest = 0.03, widest = 15;

typedef struct channel {
    double energy, weight;
} channel;

typedef struct blur {
    size_t channels, cells, parts; /* parts: cells of a channel */
    size_t margin;                 /* channels beyond each end */
    double first, width;           /* eV: middle of the first channel; of a channel */
    double sigma;                  /* eV */
    channel *measured;             /* [channels], by energy */
    double *cell;                  /* [cells] light of each */
    double *factor;                /* [cells] of a round */
} blur;

static int by_energy(const void *a, const void *b) {
    const double x = ((const channel *)a)->energy, y = ((const channel *)b)->energy;
    return (x > y) - (x < y);
}

static double cell_energy(const blur *b, size_t j) {
    const double h = b->width / (double)b->parts, begin = b->first - 0.5 * b->width;
    return begin - (double)b->margin * b->width + ((double)j + 0.5) * h;
}

/* Part of the light of a cell that a channel gets. */
static double response(const blur *b, double energy, size_t j) {
    const double away = energy - cell_energy(b, j), unit = b->sigma * sqrt(2);
    return 0.5 * (erf((away + 0.5 * b->width) / unit) - erf((away - 0.5 * b->width) / unit));
}

/* Cells from..to-1 that give a channel light: others are six standard deviations away. */
static void cells_of_channel(const blur *b, double energy, size_t *from, size_t *to) {
    const double h = b->width / (double)b->parts, reach = 6 * b->sigma + 0.5 * b->width,
                 middle = energy - cell_energy(b, 0), most = (double)b->cells;
    *from = (size_t)fmin(fmax(ceil((middle - reach) / h), 0), most);
    *to = (size_t)fmin(fmax(floor((middle + reach) / h) + 1, 0), most);
}

/* One round: each cell is multiplied by the mean of what its channels have over what they should have. A channel that the file
 * leaves out has no light. */
static void run_round(const blur *b) {
    memset(b->factor, 0, b->cells * sizeof *b->factor);
    for (size_t k = 0; k < b->channels; k++) {
        const channel *const m = &b->measured[k];
        double expected = 0;
        size_t from, to;
        cells_of_channel(b, m->energy, &from, &to);
        for (size_t j = from; j < to; j++) expected += response(b, m->energy, j) * b->cell[j];
        for (size_t j = from; j < to && expected > 0; j++)
            b->factor[j] += response(b, m->energy, j) * m->weight / expected;
    }
    for (size_t j = 0; j < b->cells; j++) b->cell[j] *= b->factor[j];
}

/* Is a distance of channels a multiple of their width, up to what may be uneven? Channels without light are left out. */
static int is_even_step(const blur *b, double distance) {
    const double steps = distance / b->width, whole = fmax(1, rint(steps));
    return fabs(steps - whole) <= most_uneven * whole;
}

/* Sorts the channels, and finds their width: the median distance, since channels without light may be left out. */
static db_status sort_channels(db_context *context, const db_spectrum *s, blur *b) {
    for (size_t k = 0; k < s->count; k++)
        b->measured[k] = (channel){ DB_EV_ANGSTROM / s->wavelength[k], s->weight[k] };
    qsort(b->measured, s->count, sizeof *b->measured, by_energy);
    for (size_t k = 0; k + 1 < s->count; k++)
        b->cell[k] = b->measured[k + 1].energy - b->measured[k].energy;
    b->width = s->count > 1 ? db_median(b->cell, s->count - 1) : 0;
    b->first = b->measured[0].energy;
    if (!(b->width > 0))
        return db_fail(context, DB_ERROR_INPUT,
                       "spectrum resolution: expected a spectrum of several channels of one width, "
                       "found %zu lines",
                       s->count);
    for (size_t k = 0; k + 1 < s->count; k++) {
        const double distance = b->measured[k + 1].energy - b->measured[k].energy;
        if (!is_even_step(b, distance))
            return db_fail(context, DB_ERROR_INPUT,
                           "spectrum resolution: expected channels of one width, found channels "
                           "%g eV apart at %g eV, and a median of %g eV",
                           distance, b->measured[k].energy, b->width);
    }
    return DB_OK;
}

/* Divides channels and their surroundings into cells that are narrow beside the resolution. */
static db_status divide_channels(db_context *context, double resolution, blur *b) {
    enum { CELLS_OF_WIDTH = 10, MOST_PARTS = 5 };
    if (resolution < narrowest * b->width && 1000 * resolution < widest * b->width)
        return db_fail(context, DB_ERROR_INPUT,
                       "spectrum resolution: expected at least %g of the channels' width, which is "
                       "%g eV, since less changes nothing, found %g eV; if it is in keV, give %g",
                       narrowest, b->width, resolution, 1000 * resolution);
    const double reach = b->measured[b->channels - 1].energy - b->first;
    const double parts = ceil(CELLS_OF_WIDTH * b->width / resolution - 1e-9);
    b->parts = parts < MOST_PARTS ? (size_t)fmax(parts, 1) : MOST_PARTS;
    const double margin = ceil(resolution / b->width),
                 cells = (rint(reach / b->width) + 1 + 2 * margin) * (double)b->parts;
    if (!(cells <= MOST_CELLS))
        return db_fail(context, DB_ERROR_INPUT,
                       "spectrum resolution %g eV: expected at most %d cells, found %.4g, for a "
                       "spectrum %g eV wide in channels of %g eV",
                       resolution, MOST_CELLS, cells, reach, b->width);
    if (!(b->first - (margin + 0.5) * b->width > 0))
        return db_fail(context, DB_ERROR_INPUT,
                       "spectrum resolution: expected less than the photon energy, found %g eV for "
                       "a spectrum that begins at %g eV in channels of %g eV",
                       resolution, b->first, b->width);
    b->margin = (size_t)margin;
    b->cells = (size_t)cells;
    const double h = b->width / (double)b->parts;
    b->sigma = sqrt(pow(resolution / DB_WIDTH_IN_SIGMA, 2) + h * h / 12);
    free(b->cell);
    b->cell = malloc(2 * b->cells * sizeof *b->cell);
    if (!b->cell) return db_fail_memory(context, "a spectrum");
    b->factor = b->cell + b->cells;
    for (size_t j = 0; j < b->cells; j++) b->cell[j] = 1;
    return DB_OK;
}

/* Sums cells to channels of the measured width. */
static db_status take_sharp(db_context *context, const blur *b, db_spectrum *s) {
    const size_t count = b->cells / b->parts;
    double most = 0;
    db_spectrum to = { .wavelength = malloc(count * sizeof *to.wavelength),
                       .weight = calloc(count, sizeof *to.weight) };
    if (!to.wavelength || !to.weight) {
        db_spectrum_clear(&to);
        return db_fail_memory(context, "a spectrum");
    }
    for (size_t j = 0; j < b->cells; j++) to.weight[j / b->parts] += b->cell[j];
    for (size_t k = 0; k < count; k++) most = fmax(most, to.weight[k]);
    for (size_t k = 0; k < count; k++) {
        if (!(to.weight[k] > faint_channel * most)) continue;
        to.wavelength[to.count] =
            DB_EV_ANGSTROM / (b->first + ((double)k - (double)b->margin) * b->width);
        to.weight[to.count++] = to.weight[k];
    }
    db_spectrum_clear(s);
    *s = to;
    return DB_OK;
}

db_status db_spectrometer_undo(db_context *context, double resolution, db_spectrum *spectrum) {
    blur b = { .channels = spectrum->count,
               .measured = malloc(spectrum->count * sizeof *b.measured),
               .cell = malloc(spectrum->count * sizeof *b.cell) };
    db_status status = b.measured && b.cell ? DB_OK : db_fail_memory(context, "a spectrum");
    if (status == DB_OK) status = sort_channels(context, spectrum, &b);
    if (status == DB_OK) status = divide_channels(context, resolution, &b);
    for (int i = 0; i < ROUNDS && status == DB_OK; i++) run_round(&b);
    if (status == DB_OK) status = take_sharp(context, &b, spectrum);
    free(b.measured);
    free(b.cell);
    return status;
}
