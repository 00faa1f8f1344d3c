/* Discrete Fourier transforms of rows, and convolution of images.  Written here because images exceed the range of
 * single precision, the only one of packaged KissFFT, and because FFTW's licence would become the licence of
 * libdualbragg. */
#ifndef DB_NOISE_FOURIER_H
#define DB_NOISE_FOURIER_H

#include <dualbragg/context.h>

typedef struct noise_complex {
    double re, im;
} noise_complex;

typedef struct noise_fourier {
    int n;                  /* length: a product of 2, 3 and 5 */
    noise_complex *twiddle; /* exp(-2 pi i j/n), j < n */
} noise_fourier;

/* The smallest length >= n that is a product of 2, 3 and 5. */
int noise_fourier_length(int n);

/* DB_ERROR_MEMORY, or success; clear it then. */
db_status noise_fourier_init(db_context *context, int n, noise_fourier *fourier);
void noise_fourier_clear(noise_fourier *fourier);

/* data[k] = sum over j of data[j] exp(-2 pi i j k/n). scratch: n elements. Thread-safe. The inverse
 * is the transform of the conjugate, conjugated and divided by n. */
void noise_fourier_transform(const noise_fourier *fourier, noise_complex *data,
                             noise_complex *scratch);

/* Convolves an image (fast_pixels * slow_pixels, 0 outside) in place with the kernel quarter[|dslow| * (radius+1)
 * + |dfast|], for distances up to radius along both axes. Negative results, which only rounding can give for
 * images and kernels without any, become 0. */
db_status noise_convolve(db_context *context, int threads, int fast_pixels, int slow_pixels,
                         double *image, const double *quarter, int radius);

#endif
