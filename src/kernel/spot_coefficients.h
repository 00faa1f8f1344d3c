/* Coefficients of a spot's columns (kernel/spot_lanes.h) by a direction, from its dual numbers. Include
 * once per (REAL, DIRS) that needs it, after kernel/spot.h. */

#define spot_component AD_NUM(spot_component)
#define spot_shift AD_NUM(spot_shift)
#define spot_rest_coefficients AD_NUM(spot_rest_coefficients)
#define spot_move_coefficients AD_NUM(spot_move_coefficients)

AD_INLINE num spot_component(const vec3 *v, int i) { return i == 0 ? v->x : i == 1 ? v->y : v->z; }

/* z = W (d - c): dz = G z + b with G = dW W^-1 and b = -W dc, by direction k. Of spots at rest W and
 * its inverse are lower triangles. */
AD_INLINE void spot_shift(int moving, const spot_values *s, int k, lane g[9], lane b[3]) {
    for (int i = 0; i < 3; i++) {
        b[i] = l_set(0);
        for (int j = 0; j < 3; j++) {
            lane sum = l_set(0);
            for (int m = moving ? 0 : j; m < (moving ? 3 : i + 1); m++)
                sum = l_fma(spot_component(&s->white.r[i], m).d[k],
                            spot_component(&s->root.r[m], j).v, sum);
            g[3 * i + j] = sum;
            if (moving || j <= i)
                b[i] = l_fnma(spot_component(&s->white.r[i], j).v,
                              spot_component(&s->centre, j).d[k], b[i]);
        }
    }
}

/* d(amplitude) - amplitude (z.G z + z.b) with z = o + y; G is a lower triangle, as W is. */
AD_INLINE void spot_rest_coefficients(const spot_values *s, const lane o[3], int k,
                                      lane column[DB_SPOT_COLUMNS]) {
    const lane a = l_neg(s->amplitude.v);
    lane g[9], b[3];
    spot_shift(0, s, k, g, b);
    int c = 4;
    column[0] = s->amplitude.d[k];
    for (int i = 0; i < 3; i++) {
        lane at_o = b[i];
        for (int j = 0; j <= i; j++) {
            column[c++] = l_mul(a, g[3 * i + j]);
            at_o = l_fma(g[3 * i + j], o[j], at_o);
        }
        lane by_y = at_o;
        for (int j = i; j < 3; j++) by_y = l_fma(g[3 * j + i], o[j], by_y);
        column[0] = l_fma(l_mul(a, o[i]), at_o, column[0]);
        column[1 + i] = l_mul(a, by_y);
    }
}

AD_INLINE void spot_move_coefficients(const spot_values *s, int k,
                                      lane column[DB_SPOT_COLUMNS_MOVING]) {
    lane g[9], b[3];
    spot_shift(1, s, k, g, b);
    column[0] = s->amplitude.d[k];
    for (int i = 0; i < 3; i++) column[1 + i] = b[i];
    column[4] = g[0];
    column[5] = l_add(g[1], g[3]);
    column[6] = g[4];
    column[7] = g[2];
    column[8] = g[5];
    for (int j = 0; j < 3; j++) column[9 + j] = g[6 + j];
    column[12] = s->to.d[k];
    column[13] = s->from.d[k];
}
