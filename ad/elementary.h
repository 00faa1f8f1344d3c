/* Elementary functions on lanes, by polynomials: no libm call, no branch. Coefficients are those of the
 * polynomial that interpolates the function at Chebyshev points of the stated interval; truncation errors are below
 * 1e-16 (double) and 1e-8 (float) of the largest value. Long double, the tests' yardstick, asks libm. */

/* a + t (b + t (c + t (d + t rest))) */
#define AD_C(c) l_set((REAL)(c))
#define AD_H4(t, a, b, c, d, rest)                                                                 \
    l_fma(l_fma(l_fma(l_fma(rest, t, AD_C(d)), t, AD_C(c)), t, AD_C(b)), t, AD_C(a))

/* S(t) = sin(pi sqrt t) / sqrt t for 0 <= t <= 1/4: the sine of a reduced argument without its odd factor. */
AD_INLINE lane l_sinpic(lane t) {
#if AD_SIZE == 4
    return AD_H4(t, 3.1415926400772032517, -5.1677100766683144093, 2.5500773865289118653, -0.5982904112834275349, AD_C(0.077655912276013869413));
#elif AD_SIZE == 8
    return AD_H4(t, 3.1415926535897932378, -5.1677127800499696077, 2.5501640398773004745, -0.59926452931894468132, AD_H4(t, 0.08214588657310289502, -0.0073704305059169434047, 0.00046629981618983938014, -0.000021903497074626017191, AD_C(7.6978267682241906454e-7)));
#else
    const lane pi = 3.141592653589793238462643383279502884L, x = pi * l_sqrt(t);
    return x < 1e-6L ? pi * (1 - x * x / 6) : sinl(x) / l_sqrt(t);
#endif
}

/* dS/dt. */
AD_INLINE lane l_sinpic_slope(lane t) {
#if AD_SIZE == 4
    return AD_H4(t, -5.1677127800322426374, 5.1003280746484619165, -1.797793349493049833, 0.32857947025204605734, l_fma(AD_C(0.0026849705512758128047), t, AD_C(-0.036820616513425267334)));
#elif AD_SIZE == 8
    return AD_H4(t, -5.1677127800499700291, 5.1003280797546907884, -1.7977935879623656391, 0.32858354644407781565, AD_H4(t, -0.036852154719616456392, 0.0027978167310376609198, -0.00015340677020661899037, 6.3588520980581555075e-6, AD_C(-2.0055377021983415637e-7)));
#else
    const lane pi = 3.141592653589793238462643383279502884L, x = pi * l_sqrt(t), x2 = x * x;
    if (x < 1e-2L) /* the closed form cancels here */
        return pi * pi * pi * (-1 / 6.0L + x2 * (2 / 120.0L - x2 * (3 / 5040.0L - x2 * (4 / 362880.0L))));
    return pi * pi * pi * (x * cosl(x) - sinl(x)) / (2 * x2 * x);
#endif
}

/* C(t) = cos(pi sqrt t) for 0 <= t <= 1/4. */
AD_INLINE lane l_cospi(lane t) {
#if AD_SIZE == 4
    return AD_H4(t, 0.99999999977915403194, -4.9348021369289456371, 4.0587091547631342538, -1.3352119493905503384, l_fma(AD_C(-0.024395932097550444473), t, AD_C(0.23493706859508651002)));
#elif AD_SIZE == 8
    return AD_H4(t, 1.0, -4.9348022005446767673, 4.0587121264164969995, -1.3352627688434470934, AD_H4(t, 0.23533063012953285391, -0.02580688873700220327, 0.0019295562724817131482, -0.00010456655338748738169, AD_C(4.1495643539425855122e-6)));
#else
    return cosl(3.141592653589793238462643383279502884L * l_sqrt(t));
#endif
}

/* exp(x); 0 below the smallest normal number's logarithm. x is assumed <= 88 (float) or 709 (double). */
AD_INLINE lane l_exp(lane x) {
#if AD_SIZE == 16
    return expl(x);
#else
#if AD_SIZE == 4
    const lane lowest = l_set((REAL)-87.0), ln2_hi = l_set((REAL)0.693359375),
               ln2_lo = l_set((REAL)-2.12194440e-4);
#else
    const lane lowest = l_set((REAL)-708.0), ln2_hi = l_set((REAL)0.693147180369123816490),
               ln2_lo = l_set((REAL)1.90821492927058770002e-10);
#endif
    const lane_mask tiny = l_lt(x, lowest);
    x = l_select(tiny, lowest, x);
    const lane k = l_rint(l_mul(x, l_set((REAL)1.44269504088896340736)));
    const lane r = l_fnma(k, ln2_lo, l_fnma(k, ln2_hi, x));
#if AD_SIZE == 4
    const lane e = AD_H4(r, 1.0, 1.0000000377162138425, 0.50000000471177576744, 0.16666415514653275427,
                         l_fma(l_fma(AD_C(0.0013941108433972674608), r, AD_C(0.008375126398153335682)), r,
                               AD_C(0.041666352896775156786)));
#else
    const lane high = l_fma(l_fma(l_fma(AD_C(2.5110037605963777712e-8), r, AD_C(2.7632639639041029749e-7)), r, AD_C(2.7557240918578969823e-6)), r, AD_C(0.000024801485482328492419));
    const lane e = AD_H4(r, 1.0, 1.0, 0.50000000000000183855, 0.16666666666666680806, AD_H4(r, 0.041666666666488095495, 0.0083333333333196006109, 0.0013888888952314774652, 0.00019841269890047113707, high));
#endif
    return l_select(tiny, l_set((REAL)0), l_scale2(e, k));
#endif
}

/* Amplitude of a ball: j(u) = 3 (sin x - x cos x)/x^3 with x = pi sqrt u, u >= 0. Polynomial up to u = 1/4, beyond it
 * the closed form with sine and cosine of the argument reduced by whole half turns (their common sign is dropped:
 * the caller squares). */
AD_INLINE lane l_sphere(lane u) {
#if AD_SIZE == 16
    const lane x = 3.141592653589793238462643383279502884L * l_sqrt(u), x2 = x * x;
    if (x < 0.1L)
        return 1 - x2 / 10 * (1 - x2 / 28 * (1 - x2 / 54 * (1 - x2 / 88 * (1 - x2 / 130))));
    return 3 * (sinl(x) - x * cosl(x)) / (x2 * x);
#else
    const lane quarter = l_set((REAL)0.25);
    const lane_mask near = l_le(u, quarter);
    const lane near_u = l_select(near, u, quarter), far_u = l_select(near, quarter, u);
#if AD_SIZE == 4
    const lane series = AD_H4(near_u, 0.9999999990021535942, -0.98696024048448193415, 0.34788321358187148088, -0.063512062177698219683, AD_C(0.0068002873881731106093));
#else
    const lane series = AD_H4(near_u, 1.0, -0.98696044010893584267, 0.34788961083572094057, -0.063583941373943875465, AD_H4(near_u, 0.0071312312212638312611, -0.00054140329583305653092, 0.000029685622389628163304, -1.230496424376872502e-6, AD_C(3.880900095571775749e-8)));
#endif
    const lane r = l_sqrt(far_u), y = l_sub(r, l_rint(r)), y2 = l_mul(y, y);
    const lane sine = l_mul(y, l_sinpic(y2)), x = l_mul(r, l_set((REAL)3.14159265358979323846));
    const lane closed = l_div(l_mul(l_set((REAL)3), l_fnma(x, l_cospi(y2), sine)), l_mul(x, l_mul(x, x)));
    return l_select(near, series, closed);
#endif
}

/* dj/du, with the same sign dropped beyond u = 1/4: j j' is right everywhere. */
AD_INLINE lane l_sphere_slope(lane u) {
#if AD_SIZE == 16
    const lane pi = 3.141592653589793238462643383279502884L, x = pi * l_sqrt(u), x2 = x * x;
    if (x < 0.3L)
        return -pi * pi / 10 *
               (1 - x2 / 14 * (1 - x2 / 36 * (1 - x2 / 66 * (1 - x2 / 104 * (1 - x2 / 150)))));
    return pi * pi * 3 * ((x2 - 3) * sinl(x) + 3 * x * cosl(x)) / (2 * x2 * x2 * x);
#else
    const lane quarter = l_set((REAL)0.25), pi = l_set((REAL)3.14159265358979323846);
    const lane_mask near = l_le(u, quarter);
    const lane near_u = l_select(near, u, quarter), far_u = l_select(near, quarter, u);
#if AD_SIZE == 4
    const lane series = AD_H4(near_u, -0.98696043977932856166, 0.69577915573392646441, -0.19074971142286968797, 0.028501195740319285166, AD_C(-0.0025978558807429435515));
#else
    const lane series = AD_H4(near_u, -0.98696044010893586188, 0.69577922167144597613, -0.19075182412208377311, 0.028524924891968956135, AD_H4(near_u, -0.0027070165789996037661, 0.00017811454732960069123, -8.6172264244246981686e-6, 3.1961666832304054492e-7, AD_C(-9.1431247895291435319e-9)));
#endif
    const lane r = l_sqrt(far_u), y = l_sub(r, l_rint(r)), y2 = l_mul(y, y);
    const lane sine = l_mul(y, l_sinpic(y2)), x = l_mul(r, pi), x2 = l_mul(x, x);
    const lane top = l_fma(l_sub(x2, l_set((REAL)3)), sine, l_mul(l_mul(l_set((REAL)3), x), l_cospi(y2)));
    const lane closed = l_div(l_mul(l_mul(l_set((REAL)1.5), l_mul(pi, pi)), top), l_mul(l_mul(x2, x2), x));
    return l_select(near, series, closed);
#endif
}

#undef AD_C
#undef AD_H4
