/** @file
 * Noise and response of a real detector, applied to an expected image: photon (Poisson) noise,
 * flicker of the beam, pixels of unequal sensitivity, point spread function, gain, readout noise,
 * digitization.
 *
 *     mean     = expected * scale * (1 + flicker N) * (1 + calibration N(pixel))
 *     photons  = Poisson(mean)
 *     light    = photons spread by the point spread function
 *     signal   = light * gain + adc (+ readout N)                          ADU
 *     number   = signal rounded, between 0 and 65535 (16 bit) or 2147483647 (32 bit)
 *
 * N are normal deviates: one for the whole image (flicker), one per pixel that repeats from image
 * to image (calibration, from a seed of its own), one per pixel and image (readout).
 *
 * Each random number is a function of seed, purpose, panel and pixel alone. So an image
 * has the same bits for any number of threads and on any machine, and a region of interest
 * has the pixels of the whole image. (Point spread functions use libm, whose last bits
 * differ between machines: images with them have the same bits on one machine only.) */
#ifndef DUALBRAGG_NOISE_H
#define DUALBRAGG_NOISE_H

#include <dualbragg/context.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Shape of the point spread function. */
typedef enum db_psf_type {
    DB_PSF_NONE,
    DB_PSF_GAUSS, /**< density (ln 16/pi)/w^2 exp(-ln 16 r^2/w^2), w: full width at half maximum */
    DB_PSF_FIBER  /**< fibre-optic taper: density g/(2 pi) (g^2+r^2)^(-3/2), g = 0.652383 w */
} db_psf_type;

/** Effects of the detector on the expected image. */
typedef struct db_noise_options {
    size_t size;   /**< sizeof(db_noise_options): set by DB_NOISE_OPTIONS_INIT */
    uint32_t seed; /**< of photons, flicker and readout */
    /** 1; 0: no random effects: flicker, calibration, photon noise and readout
     * noise are off; point spread function, gain and digitization stay */
    int noisy;
    double scale;              /**< photons per unit of the expected image, >= 0; 1 */
    double flicker;            /**< relative standard deviation of the beam's intensity; 0 */
    double calibration;        /**< relative standard deviation of the pixels' sensitivity; 0 */
    uint32_t calibration_seed; /**< the detector's; 123456789 */
    db_psf_type psf;           /**< DB_PSF_NONE */
    double psf_fwhm;           /**< full width at half maximum (pixels), > 0 */
    /** radius (pixels): light farther away along fast or slow is spread
     * evenly over all pixels; 0: chosen so that this light is at most a
     * tenth of the standard deviation of the brightest pixel's photons */
    int psf_radius;
    double gain;        /**< ADU per photon, > 0; 1 */
    double adc;         /**< offset (ADU); 40 */
    double readout;     /**< standard deviation (ADU); 0 */
    int bits;           /**< 16 or 32: largest number 65535 or 2147483647 */
    int truncate;       /**< 1: numbers are truncated instead of rounded, as the reference does;
                             0 */
    double reserved[8]; /**< 0: room for new members, see docs/decisions/public-structs.md */
} db_noise_options;
#define DB_NOISE_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(db_noise_options), 1, 1, 1, 0, 0, 123456789, DB_PSF_NONE, 0, 0, 1, 40, 0, 16, 0, {  \
            0                                                                                      \
        }                                                                                          \
    }

/** One panel's image; index of a pixel: slow * fast_pixels + fast. */
typedef struct db_noise_frame {
    uint32_t panel; /**< number of the panel, 0 for the first: panels have their own deviates */
    int fast_pixels, slow_pixels;
    /** fast_pixels * slow_pixels: the noise-free image (photons times 1/options.scale), finite;
     * negative values yield no photons. Outside the region it is read only with a point spread
     * function. */
    const float *expected;
    /** Region of interest; counts 0: the whole panel. Results outside it are 0. */
    int fast_start, slow_start, fast_count, slow_count;
    float *signal;   /**< result (ADU), neither rounded nor limited; may be NULL */
    int32_t *number; /**< result; may be NULL */
} db_noise_frame;

/** Summary of one image. */
typedef struct db_noise_summary {
    /** photons in the region: sum of the photon numbers before the point spread */
    double photons;
    size_t overloads;  /**< pixels whose signal exceeds the largest number */
    size_t underflows; /**< pixels whose signal is below 0, which becomes 0 */
    size_t negative;   /**< expected pixels below 0 */
    double flicker;    /**< factor on the beam's intensity in this image */
    int psf_radius;    /**< the one in use (pixels) */
    double psf_lost;   /**< fraction of the light that is spread evenly over all pixels */
} db_noise_summary;

/** Makes one image. summary may be NULL. Threads are the context's. If the
 * context has chosen a GPU (dualbragg/device.h), the GPU makes the image with
 * the same bits; expected, signal and number may then be in its memory and are
 * not copied. Images of asynchronous plans must be finished (db_plan_wait).
 * The processor applies point spread functions, and copies images for this. A
 * point spread function needs 8 to 100 bytes per pixel during the call.
 * DB_ERROR_USAGE or DB_ERROR_INPUT, with a message naming the option or pixel, if one is out of
 * range; DB_ERROR_UNSUPPORTED in builds without Random123. Results are then undefined.
 *
 * @param context receives the message of a failure
 * @param options properties of the detector
 * @param frame the image and room for results
 * @param summary filled; may be NULL */
DB_API db_status db_noise_apply(db_context *context, const db_noise_options *options,
                                const db_noise_frame *frame, db_noise_summary *summary);

#ifdef __cplusplus
}
#endif
#endif
