/* Point spread functions integrated over pixels. Lengths in pixels. */
#ifndef DB_NOISE_PSF_KERNEL_H
#define DB_NOISE_PSF_KERNEL_H

#include "ad/portable_math.h"

/* Share of a Gaussian (full width at half maximum fwhm) that falls into the pixels at distance d
 * along one axis; the share of a pixel is the product of both axes'. */
AD_PORTABLE_FN double noise_psf_gauss(int d, double fwhm) {
    const double s = 1.6651092223153955127 / fwhm; /* sqrt(ln 16) */
    if (d < 0) d = -d;
    if (d == 0) return erf(0.5 * s);
    return 0.5 * (erfc(s * (d - 0.5)) - erfc(s * (d + 0.5)));
}

/* g of the fibre's density g/(2 pi) (g^2+r^2)^(-3/2). */
AD_PORTABLE_FN double noise_psf_fiber_g(double fwhm) { return 0.652383013252053 * fwhm; }

/* Integral of that density over the rectangle from the centre to (x, y). */
AD_PORTABLE_FN double noise_psf_fiber_corner(double x, double y, double g) {
    return atan(x * y / (g * sqrt(g * g + x * x + y * y))) / 6.283185307179586477;
}

/* Fractions outside the square of (2 radius + 1)^2 pixels. */
AD_PORTABLE_FN double noise_psf_gauss_lost(int radius, double fwhm) {
    const double outside = erfc(1.6651092223153955127 / fwhm * (radius + 0.5));
    return outside * (2 - outside);
}

AD_PORTABLE_FN double noise_psf_fiber_lost(int radius, double fwhm) {
    /* the rest of the right angle, which the corner's arc tangent leaves */
    const double g = noise_psf_fiber_g(fwhm), x = radius + 0.5;
    return atan(g * sqrt(g * g + 2 * x * x) / (x * x)) * 4 / 6.283185307179586477;
}

#endif
