/* The point spread function applied to an image. */
#ifndef DB_NOISE_PSF_H
#define DB_NOISE_PSF_H

#include <dualbragg/noise.h>

/* Spreading of light, and its largest distance. */
typedef struct noise_psf {
    db_psf_type type; /* not DB_PSF_NONE */
    double fwhm;      /* pixels */
    int radius;       /* pixels along fast and slow; light beyond is lost */
    double lost;      /* fraction of lost light */
} noise_psf;

/* wanted_radius 0: chosen so that the lost light of the brightest pixel, `most` photons, is at most a tenth of its
 * standard deviation. No radius is larger than the image, whose sides have at most `longest` pixels. */
noise_psf noise_psf_of(db_psf_type type, double fwhm, int wanted_radius, double most, int longest);

/* Spreads the light of an image (fast_pixels * slow_pixels, values >= 0) in place. The lost fraction of all light
 * is distributed evenly over all pixels; light beside the image is gone. */
db_status noise_psf_apply(db_context *context, int threads, const noise_psf *psf, int fast_pixels,
                          int slow_pixels, double *image);

#endif
