/* Point spread functions applied to a panel. */
#include "noise/psf.h"

#include "base/context_internal.h"
#include "noise/fourier.h"
#include "noise/psf_kernel.h"

#include <stdlib.h>
#include <string.h>

static double lost_fraction(db_psf_type type, int radius, double fwhm) {
    return type == DB_PSF_GAUSS ? noise_psf_gauss_lost(radius, fwhm)
                                : noise_psf_fiber_lost(radius, fwhm);
}

noise_psf noise_psf_of(db_psf_type type, double fwhm, int wanted_radius, double most, int longest) {
    noise_psf psf = { type, fwhm, wanted_radius, 0 };
    if (psf.radius <= 0 || psf.radius >= longest) psf.radius = longest - 1;
    if (wanted_radius <= 0) {
        const double bearable = 0.1 / sqrt(most > 1 ? most : 1);
        int least = 0; /* bisection: the fraction falls with the radius */
        while (least < psf.radius) {
            const int middle = least + (psf.radius - least) / 2;
            if (lost_fraction(type, middle, fwhm) <= bearable)
                psf.radius = middle;
            else
                least = middle + 1;
        }
    }
    psf.lost = lost_fraction(type, psf.radius, fwhm);
    return psf;
}

/* to[i] += weight * (from[i + distance] + from[i - distance]), 0 beyond the ends. */
static void add_neighbours(double *to, const double *from, int count, int distance, double weight) {
    for (int i = 0; i + distance < count; i++) to[i] += weight * from[i + distance];
    for (int i = distance; i < count; i++) to[i] += weight * from[i - distance];
}

static void spread_along_row(double *row, double *copy, int count, const double *share,
                             int radius) {
    memcpy(copy, row, (size_t)count * sizeof *row);
    for (int i = 0; i < count; i++) row[i] = share[0] * copy[i];
    for (int d = 1; d <= radius && d < count; d++) add_neighbours(row, copy, count, d, share[d]);
}

/* One row of the result from the rows around it. */
static void gather_rows(double *to, const double *image, int slow, int fast_pixels, int slow_pixels,
                        const double *share, int radius) {
    const int first = slow - radius > 0 ? slow - radius : 0,
              last = slow + radius < slow_pixels ? slow + radius : slow_pixels - 1;
    memset(to, 0, (size_t)fast_pixels * sizeof *to);
    for (int y = first; y <= last; y++) {
        const double weight = share[y < slow ? slow - y : y - slow];
        const double *from = image + (size_t)y * (size_t)fast_pixels;
        for (int x = 0; x < fast_pixels; x++) to[x] += weight * from[x];
    }
}

/* The Gaussian is the product of one along each axis. between: as large as the image; share: radius + 1 elements. */
static void spread_gauss(int threads, const noise_psf *psf, int fast_pixels, int slow_pixels,
                         double *image, double *between, double *share) {
    for (int d = 0; d <= psf->radius; d++) share[d] = noise_psf_gauss(d, psf->fwhm);
    const size_t width = (size_t)fast_pixels;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int y = 0; y < slow_pixels; y++)
        spread_along_row(image + (size_t)y * width, between + (size_t)y * width, fast_pixels, share,
                         psf->radius);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int y = 0; y < slow_pixels; y++)
        gather_rows(between + (size_t)y * width, image, y, fast_pixels, slow_pixels, share,
                    psf->radius);
    memcpy(image, between, width * (size_t)slow_pixels * sizeof *image);
    (void)threads;
}

static db_status apply_gauss(db_context *context, int threads, const noise_psf *psf,
                             int fast_pixels, int slow_pixels, double *image) {
    double *between = malloc((size_t)fast_pixels * (size_t)slow_pixels * sizeof *between);
    double *share = malloc(((size_t)psf->radius + 1) * sizeof *share);
    db_status status = DB_OK;
    if (between && share)
        spread_gauss(threads, psf, fast_pixels, slow_pixels, image, between, share);
    else
        status = db_fail_memory(context, "the point spread function");
    free(between);
    free(share);
    return status;
}

/* Fractions for the pixels of one quadrant. */
static void fill_fiber_quarter(int threads, const noise_psf *psf, double *quarter) {
    const double g = noise_psf_fiber_g(psf->fwhm);
    const int side = psf->radius + 1;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int y = 0; y < side; y++) {
        double below = -noise_psf_fiber_corner(0.5, y - 0.5, g); /* at -0.5, y - 0.5 */
        double above = -noise_psf_fiber_corner(0.5, y + 0.5, g);
        for (int x = 0; x < side; x++) {
            const double next_below = noise_psf_fiber_corner(x + 0.5, y - 0.5, g),
                         next_above = noise_psf_fiber_corner(x + 0.5, y + 0.5, g);
            quarter[(size_t)y * (size_t)side + (size_t)x] =
                (next_above - above) - (next_below - below);
            below = next_below;
            above = next_above;
        }
    }
    (void)threads;
}

static db_status apply_fiber(db_context *context, int threads, const noise_psf *psf,
                             int fast_pixels, int slow_pixels, double *image) {
    const size_t side = (size_t)psf->radius + 1;
    double *quarter = malloc(side * side * sizeof *quarter);
    if (!quarter) return db_fail_memory(context, "the point spread function");
    fill_fiber_quarter(threads, psf, quarter);
    const db_status status =
        noise_convolve(context, threads, fast_pixels, slow_pixels, image, quarter, psf->radius);
    free(quarter);
    return status;
}

db_status noise_psf_apply(db_context *context, int threads, const noise_psf *psf, int fast_pixels,
                          int slow_pixels, double *image) {
    const size_t count = (size_t)fast_pixels * (size_t)slow_pixels;
    double light = 0; /* one thread: the sum depends on the order */
    for (size_t i = 0; i < count; i++) light += image[i];
    if (psf->type == DB_PSF_GAUSS)
        DB_TRY(apply_gauss(context, threads, psf, fast_pixels, slow_pixels, image));
    else
        DB_TRY(apply_fiber(context, threads, psf, fast_pixels, slow_pixels, image));
    const double given_back = light * psf->lost / (double)count;
    for (size_t i = 0; i < count; i++) image[i] += given_back;
    return DB_OK;
}
