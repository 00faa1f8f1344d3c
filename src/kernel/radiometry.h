/* Solid angle, polarization factor, and absorption in the sensor. Include once per (REAL, DIRS)
 * that needs it, after ad/num.h. Source: docs/theory/pixel.md, Solid angle. */

#define solid_angle AD_NUM(solid_angle)
#define point_solid_angle AD_NUM(point_solid_angle)
#define polarization_of_form AD_NUM(polarization_of_form)
#define polarization_factor AD_NUM(polarization_factor)
#define capture_fraction AD_NUM(capture_fraction)
#define absorption_depth AD_NUM(absorption_depth)
#define absorption_variance AD_NUM(absorption_variance)
#define row_polarization AD_NUM(row_polarization)

/* Solid angle of a flat pixel of `area` (m^2), on a plane at distance z along its normal; inverse:
 * 1/R, R its own distance (m). */
AD_INLINE num solid_angle(num inverse, num z, lane area) {
    return n_mul(n_scale(z, area), n_mul(inverse, n_sqr(inverse)));
}

/* Point pixel: 1/R^2 (1/m^2), without the size of the pixel and its obliquity. */
AD_INLINE num point_solid_angle(num inverse) { return n_sqr(inverse); }

/* Polarization factor (1 + d.W d)/2; tensor W: xx, yy, zz, xy, xz, yz. */
AD_INLINE num polarization_of_form(num form) {
    return n_scale(n_shift(form, l_set((REAL)1)), l_set((REAL)0.5));
}
AD_INLINE num polarization_factor(vec3 d, const num w[6]) {
    return polarization_of_form(v3_dot(d, v3_symmetric(w, d)));
}

/* The polarization factor along a row of a flat panel, where x.W x is a parabola in f, given by the
 * coefficients of its powers. */
AD_INLINE lane row_polarization(const lane power[3], lane f, lane inverse_square) {
    const lane form = l_fma(l_fma(power[2], f, power[1]), f, power[0]);
    const lane half = l_set((REAL)0.5);
    return l_fma(l_mul(form, inverse_square), half, half);
}

/* Part of the photons that layer number `layer` (from 0) of the sensor absorbs: those left at its
 * front less those left at its back. obliquity: cosine between the ray and the panel's normal;
 * step: thickness of a layer (m); attenuation (1/m). Source: docs/theory/detector.md, Sensor. */
AD_INLINE num capture_fraction(num obliquity, num step, num attenuation, lane layer) {
    const num depth = n_neg(n_div(n_mul(step, attenuation), obliquity));
    const lane next = l_add(layer, l_set((REAL)1));
    return n_sub(n_exp(n_scale(depth, layer)), n_exp(n_scale(depth, next)));
}

/* Depth (m, along the panel's normal) at which that layer absorbs on average. Between the depths
 * t = n s and (n + 1) s of layer n absorption falls as exp(-a t/o), so that with x = a s/o
 *
 *   <t> = n s + s (integral of u e^(-x u))/(integral of e^(-x u)),  u from 0 to 1
 *       = n s + s (1/x - 1/(e^x - 1))
 *       = s (n + (1 - L(x/2))/2),
 *
 * L being Langevin's function: the middle of a thin layer, o/a behind the front of a thick one. */
AD_INLINE num absorption_depth(num obliquity, num step, num attenuation, lane layer) {
    const num half = n_scale(n_div(n_mul(step, attenuation), obliquity), l_set((REAL)0.5));
    return n_mul(step,
                 n_affine(n_langevin(half), l_set((REAL)-0.5), l_add(layer, l_set((REAL)0.5))));
}

/* Variance (m^2, along the panel's normal) of the depth at which a layer absorbs: with x = a s/o and
 * y = x/2 as above s^2 (1/x^2 - e^x/(e^x - 1)^2) = (s/2)^2 (1/y^2 - 1/sinh^2 y), and the bracket is
 * the slope of Langevin's function, 1 - L^2 - 2 L/y. */
AD_INLINE num absorption_variance(num obliquity, num step, num attenuation) {
    const num y = n_scale(n_div(n_mul(step, attenuation), obliquity), l_set((REAL)0.5));
    const num l = n_langevin(y);
    const num slope =
        n_shift(n_neg(n_add(n_sqr(l), n_scale(n_div(l, y), l_set((REAL)2)))), l_set((REAL)1));
    return n_mul(n_scale(n_sqr(step), l_set((REAL)0.25)), slope);
}
