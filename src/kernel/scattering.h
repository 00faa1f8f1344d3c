/* From a point of the detector to the scattering vector and Miller indices. Include once per (REAL,
 * DIRS) that needs it, after ad/num.h. Source: docs/theory/detector.md, Pixel positions;
 * docs/theory/pixel.md, Scattering vector. */

#define pixel_position AD_NUM(pixel_position)
#define scattering_vector AD_NUM(scattering_vector)
#define curved_position AD_NUM(curved_position)
#define curved_place AD_NUM(curved_place)
#define row_square AD_NUM(row_square)
#define row_index AD_NUM(row_index)
#define nearest_node AD_NUM(nearest_node)

/* Laboratory position (m) of the point (fast, slow, in m from its corner) of a panel. */
AD_INLINE vec3 pixel_position(vec3 origin, vec3 fast_axis, vec3 slow_axis, lane fast, lane slow) {
    return v3_add(
        origin, v3_add(v3_scale(fast_axis, n_passive(fast)), v3_scale(slow_axis, n_passive(slow))));
}

/* Position on a curved detector: the point (fast, slow) of the flat panel, wrapped around the
 * sphere along the great circle that leaves the direct beam's spot in its direction. The angle is
 * |y|/D, y = (fast, slow) - spot, at most half a circle. Source: docs/theory/detector.md, Curved
 * panel. */
typedef struct {
    vec3 x;                     /* m */
    num along_fast, along_slow; /* x = D cos(angle) beam + along_fast fast + along_slow slow */
} curved_place;

AD_INLINE curved_place curved_position(num radius, num beam_fast, num beam_slow, vec3 beam,
                                       vec3 fast_axis, vec3 slow_axis, lane fast, lane slow) {
    const num y1 = n_shift(n_neg(beam_fast), fast), y2 = n_shift(n_neg(beam_slow), slow);
    /* angle = pi sqrt t; sine and cosine are smooth functions of t, computed from those of half and a quarter of
     * the angle, whose series are valid that far */
    const num t =
        n_div(n_add(n_sqr(y1), n_sqr(y2)),
              n_scale(n_sqr(radius), l_set((REAL)9.869604401089358618834490999876151135)));
    const num half_sine = n_sinpic(n_scale(t, l_set((REAL)0.25))), /* sin(angle/2)/sqrt(t/4) */
        quarter_sine = n_sinpic(n_scale(t, l_set((REAL)0.0625)));
    const num cosine =
                  n_shift(n_scale(n_mul(n_sqr(half_sine), t), l_set((REAL)-0.5)), l_set((REAL)1)),
              half_cosine = n_shift(n_scale(n_mul(n_sqr(quarter_sine), t), l_set((REAL)-0.125)),
                                    l_set((REAL)1));
    const num stretch = n_scale(n_mul(half_sine, half_cosine),
                                l_set((REAL)(1 / 3.141592653589793238462643383279502884)));
    curved_place p;
    p.along_fast = n_mul(stretch, y1);
    p.along_slow = n_mul(stretch, y2);
    p.x = v3_add(v3_scale(beam, n_mul(radius, cosine)),
                 v3_add(v3_scale(fast_axis, p.along_fast), v3_scale(slow_axis, p.along_slow)));
    return p;
}

/* q = (d - i)/wavelength (1/angstrom), d the unit vector to the pixel, s0 = i/wavelength, kappa =
 * 1/wavelength. */
AD_INLINE vec3 scattering_vector(vec3 d, num kappa, vec3 s0) {
    return v3_sub(v3_scale(d, kappa), s0);
}

/* Along a row of a flat panel, x = x0 + f fast_axis: |x|^2 is a parabola in f, given by the
 * coefficients of its powers; and since x is linear in f, so is a.x, and the Miller index by the
 * lattice vector a is kappa (a.x)/|x| - a.s0. linear: kappa a.x as coefficients of powers of f;
 * constant: -a.s0, to which something may have been added. */
AD_INLINE lane row_square(const lane power[3], lane f) {
    return l_fma(l_fma(power[2], f, power[1]), f, power[0]);
}
AD_INLINE lane row_index(const lane linear[2], lane constant, lane f, lane inverse_distance) {
    return l_fma(l_fma(linear[1], f, linear[0]), inverse_distance, constant);
}

/* The node nearest to a Miller index; a half rounds down: ceil(h - 1/2). */
AD_INLINE lane nearest_node(lane h) {
    const lane node = l_rint(h);
    /* rint rounds halves to even; this moves those that were rounded up down by one */
    return l_sub(node,
                 l_select(l_eq(l_sub(h, node), l_set((REAL)-0.5)), l_set((REAL)1), l_set((REAL)0)));
}
