/* From a point of the detector to Miller indices. Include once per (REAL, DIRS) that needs it,
 * after ad/num.h. Source: model.md 5.5 and 10. */

#define pixel_position AD_NUM(pixel_position)
#define scattering_vector AD_NUM(scattering_vector)
#define nearest_node AD_NUM(nearest_node)

/* Laboratory position (m) of the point (fast, slow, in m from its corner) of a panel. */
AD_INLINE vec3 pixel_position(vec3 origin, vec3 fast_axis, vec3 slow_axis, lane fast, lane slow) {
    return v3_add(
        origin, v3_add(v3_scale(fast_axis, n_passive(fast)), v3_scale(slow_axis, n_passive(slow))));
}

/* q = (d - i)/wavelength (1/angstrom), d the unit vector to the pixel, s0 = i/wavelength, kappa =
 * 1/wavelength. */
AD_INLINE vec3 scattering_vector(vec3 d, num kappa, vec3 s0) {
    return v3_sub(v3_scale(d, kappa), s0);
}

/* The node nearest to a Miller index; a half rounds down: ceil(h - 1/2). */
AD_INLINE lane nearest_node(lane h) {
    const lane node = l_rint(h);
    /* rint takes halves to even: those that went up come back by one */
    return l_sub(node,
                 l_select(l_eq(l_sub(h, node), l_set((REAL)-0.5)), l_set((REAL)1), l_set((REAL)0)));
}
