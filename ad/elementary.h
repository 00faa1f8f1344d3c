/* Elementary functions on lanes, by polynomials: no libm call, no branch. Coefficients are those of
 * the polynomial that interpolates the function at Chebyshev points of the stated interval;
 * truncation errors are below 1e-16 (double) and 1e-8 (float) of the largest value. (The error
 * function's coefficients are chosen otherwise, see there.) Long double, with which the tests
 * compare, uses libm. */

#define AD_PI_DIGITS 3.141592653589793238462643383279502884
#define AD_PI_SQUARED 9.869604401089358618834490999876151135
#define AD_LONG_(digits) digits##L
#define AD_LONG(digits) AD_LONG_(digits)

/* a + t (b + t (c + t (d + t rest))) */
#define AD_C(c) l_set((REAL)(c))
#define AD_H4(t, a, b, c, d, rest)                                                                 \
    l_fma(l_fma(l_fma(l_fma(rest, t, AD_C(d)), t, AD_C(c)), t, AD_C(b)), t, AD_C(a))

/* S(t) = sin(pi sqrt t) / sqrt t for 0 <= t <= 1/4: the sine of a reduced argument without its odd
 * factor. */
AD_INLINE lane l_sinpic(lane t) {
#if AD_SIZE == 4
    return AD_H4(t, 3.1415926400772032517, -5.1677100766683144093, 2.5500773865289118653,
                 -0.5982904112834275349, AD_C(0.077655912276013869413));
#elif AD_SIZE == 8
    return AD_H4(t, 3.1415926535897932378, -5.1677127800499696077, 2.5501640398773004745,
                 -0.59926452931894468132,
                 AD_H4(t, 0.08214588657310289502, -0.0073704305059169434047,
                       0.00046629981618983938014, -0.000021903497074626017191,
                       AD_C(7.6978267682241906454e-7)));
#else
    const lane x = AD_LONG(AD_PI_DIGITS) * l_sqrt(t);
    return x < 1e-6L ? AD_LONG(AD_PI_DIGITS) * (1 - x * x / 6) : sinl(x) / l_sqrt(t);
#endif
}

/* dS/dt. */
AD_INLINE lane l_sinpic_slope(lane t) {
#if AD_SIZE == 4
    return AD_H4(t, -5.1677127800322426374, 5.1003280746484619165, -1.797793349493049833,
                 0.32857947025204605734,
                 l_fma(AD_C(0.0026849705512758128047), t, AD_C(-0.036820616513425267334)));
#elif AD_SIZE == 8
    return AD_H4(t, -5.1677127800499700291, 5.1003280797546907884, -1.7977935879623656391,
                 0.32858354644407781565,
                 AD_H4(t, -0.036852154719616456392, 0.0027978167310376609198,
                       -0.00015340677020661899037, 6.3588520980581555075e-6,
                       AD_C(-2.0055377021983415637e-7)));
#else
    lane sum = 1; /* 1 - x2/(2 5) (1 - x2/(4 7) (1 - ...)): the closed form cancels */
    for (int n = 20; n > 0; n--) sum = 1 - AD_LONG(AD_PI_SQUARED) * t / (2 * n * (2 * n + 3)) * sum;
    return -AD_LONG(AD_PI_DIGITS) * AD_LONG(AD_PI_SQUARED) / 6 * sum;
#endif
}

/* C(t) = cos(pi sqrt t) for 0 <= t <= 1/4, times f. */
#if AD_SIZE == 4
#define AD_COSPI(t, f)                                                                             \
    AD_H4(t, (f)*0.99999999977915403194, (f) * -4.9348021369289456371, (f)*4.0587091547631342538,  \
          (f) * -1.3352119493905503384,                                                            \
          l_fma(AD_C((f) * -0.024395932097550444473), t, AD_C((f)*0.23493706859508651002)))
#elif AD_SIZE == 8
#define AD_COSPI(t, f)                                                                             \
    AD_H4(t, (f)*1.0, (f) * -4.9348022005446767673, (f)*4.0587121264164969995,                     \
          (f) * -1.3352627688434470934,                                                            \
          AD_H4(t, (f)*0.23533063012953285391, (f) * -0.02580688873700220327,                      \
                (f)*0.0019295562724817131482, (f) * -0.00010456655338748738169,                    \
                AD_C((f)*4.1495643539425855122e-6)))
#else
#define AD_COSPI(t, f) ((f)*cosl(AD_LONG(AD_PI_DIGITS) * l_sqrt(t)))
#endif
AD_INLINE lane l_cospi(lane t) { return AD_COSPI(t, 1); }

/* sin(pi x) for |x| <= 1/2, and its slope, both given t = x^2. */
AD_INLINE lane l_sinpi(lane x, lane t) { return l_mul(x, l_sinpic(t)); }
AD_INLINE lane l_sinpi_slope(lane t) { return AD_COSPI(t, AD_LONG(AD_PI_DIGITS)); }
#undef AD_COSPI

/* exp(x); 0 below the smallest normal number's logarithm. x is assumed <= 88 (float) or 709
 * (double). */
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
    const lane e =
        AD_H4(r, 1.0, 1.0000000377162138425, 0.50000000471177576744, 0.16666415514653275427,
              l_fma(l_fma(AD_C(0.0013941108433972674608), r, AD_C(0.008375126398153335682)), r,
                    AD_C(0.041666352896775156786)));
#else
    const lane high =
        l_fma(l_fma(l_fma(AD_C(2.5110037605963777712e-8), r, AD_C(2.7632639639041029749e-7)), r,
                    AD_C(2.7557240918578969823e-6)),
              r, AD_C(0.000024801485482328492419));
    const lane e = AD_H4(r, 1.0, 1.0, 0.50000000000000183855, 0.16666666666666680806,
                         AD_H4(r, 0.041666666666488095495, 0.0083333333333196006109,
                               0.0013888888952314774652, 0.00019841269890047113707, high));
#endif
    return l_select(tiny, l_set((REAL)0), l_scale2(e, k));
#endif
}

/* Amplitude of a ball: j(u) = 3 (sin x - x cos x)/x^3 with x = pi sqrt u, u >= 0. Polynomial up to
 * u = 1, where the closed form would cancel; beyond, the closed form with sine and cosine of the
 * argument reduced by whole half turns (their common sign is dropped: the caller squares). */
AD_INLINE lane l_sphere(lane u) {
#if AD_SIZE == 16
    const lane x2 = AD_LONG(AD_PI_SQUARED) * u, x = l_sqrt(x2);
    if (!(x < 3)) return 3 * (sinl(x) - x * cosl(x)) / (x2 * x);
    lane sum = 1; /* 1 - x2/(2 5) (1 - x2/(4 7) (1 - ...)) */
    for (int n = 20; n > 0; n--) sum = 1 - x2 / (2 * n * (2 * n + 3)) * sum;
    return sum;
#else
    const lane one = l_set((REAL)1);
    const lane_mask near = l_le(u, one);
    const lane near_u = l_select(near, u, one), far_u = l_select(near, one, u);
#if AD_SIZE == 4
    const lane high =
        l_fma(l_fma(AD_C(0.000025661768334131882706), near_u, AD_C(-0.0005359952956315954143)),
              near_u, AD_C(0.0071275842258239382313));
    const lane series = AD_H4(near_u, 0.99999999986588834143, -0.98696042696154070284,
                              0.34788940011216748921, -0.063582672658253596172, high);
#else
    const lane high =
        l_fma(l_fma(AD_C(2.0281890049265651094e-11), near_u, AD_C(-1.0386032558755769004e-9)),
              near_u, AD_C(3.9960029715060043878e-8));
    const lane series = AD_H4(near_u, 1.0, -0.98696044010893581925, 0.34788961083572128412,
                              -0.063583941374001441511,
                              AD_H4(near_u, 0.0071312312227835259741, -0.00054140331487794059422,
                                    0.000029685755701569906912, -1.2310310862132064811e-6, high));
#endif
    const lane r = l_sqrt(far_u), y = l_reduce(r), y2 = l_mul(y, y);
    const lane sine = l_mul(y, l_sinpic(y2)), x = l_mul(r, AD_C(AD_PI_DIGITS)),
               x2 = l_mul(far_u, AD_C(AD_PI_SQUARED));
    const lane closed = l_div(l_mul(l_set((REAL)3), l_fnma(x, l_cospi(y2), sine)), l_mul(x, x2));
    return l_select(near, series, closed);
#endif
}

/* dj/du, with the same sign dropped beyond u = 1: j j' is right everywhere. */
AD_INLINE lane l_sphere_slope(lane u) {
#if AD_SIZE == 16
    const lane x2 = AD_LONG(AD_PI_SQUARED) * u, x = l_sqrt(x2);
    if (!(x < 3))
        return AD_LONG(AD_PI_SQUARED) * 3 * ((x2 - 3) * sinl(x) + 3 * x * cosl(x)) /
               (2 * x2 * x2 * x);
    lane sum = 1; /* 1 - x2/(2 7) (1 - x2/(4 9) (1 - ...)) */
    for (int n = 20; n > 0; n--) sum = 1 - x2 / (2 * n * (2 * n + 5)) * sum;
    return -AD_LONG(AD_PI_SQUARED) / 10 * sum;
#else
    const lane one = l_set((REAL)1), three = l_set((REAL)3);
    const lane_mask near = l_le(u, one);
    const lane near_u = l_select(near, u, one), far_u = l_select(near, one, u);
#if AD_SIZE == 4
    const lane high =
        l_fma(AD_C(0.00015398393269073177943), near_u, AD_C(-0.0026804826362635663899));
    const lane series = AD_H4(near_u, -0.98696043634475993469, 0.69577895050782019988,
                              -0.1907486519169860636, 0.028511313692364230483, high);
#else
    const lane high =
        l_fma(AD_C(2.0282241280243968123e-10), near_u, AD_C(-9.3476971765728285874e-9));
    const lane series = AD_H4(near_u, -0.98696044010893585413, 0.69577922167144442871,
                              -0.19075182412203299079, 0.028524924891330874449,
                              AD_H4(near_u, -0.0027070165751014950225, 0.00017811453566307053611,
                                    -8.617219289345587465e-6, 3.1968127611173284118e-7, high));
#endif
    const lane r = l_sqrt(far_u), y = l_reduce(r), y2 = l_mul(y, y);
    const lane sine = l_mul(y, l_sinpic(y2)), x = l_mul(r, AD_C(AD_PI_DIGITS)),
               x2 = l_mul(far_u, AD_C(AD_PI_SQUARED));
    const lane top = l_fma(l_sub(x2, three), sine, l_mul(l_mul(three, x), l_cospi(y2)));
    const lane closed = l_div(l_mul(AD_C(1.5 * AD_PI_SQUARED), top), l_mul(l_mul(x2, x2), x));
    return l_select(near, series, closed);
#endif
}

/* Langevin's function L(y) = coth y - 1/y, odd, without a special point. Polynomial for |y| <= 1,
 * where the closed form would cancel. part: L(y)/y there. */
AD_INLINE lane l_langevin_part(lane square) {
#if AD_SIZE == 4
    return AD_H4(square, 0.33333333002171139493, -0.022222055663056622101, 0.0021150606604845173085,
                 -0.00020779530700706662625, AD_C(0.00001674943682390876977));
#elif AD_SIZE == 8
    const lane high =
        l_fma(AD_C(-1.3993785242810649833e-10), square, AD_C(2.0808261914726904714e-9));
    return AD_H4(square, 0.33333333333333330629, -0.022222222222216810755, 0.0021164021162230801030,
                 -0.00021164020933742503666,
                 AD_H4(square, 0.000021377784072054078602, -2.1643473117728229461e-6,
                       2.1912770463761210928e-7, -2.2024024129433061986e-8, high));
#else
    lane below = 63; /* 1/(3 + y^2/(5 + y^2/(7 + ...))) */
    for (int n = 61; n > 1; n -= 2) below = n + square / below;
    return 1 / below;
#endif
}
AD_INLINE lane l_langevin(lane y) {
    const lane one = l_set((REAL)1), square = l_mul(y, y);
    const lane_mask near = l_le(square, one);
    const lane size = l_select(near, one, l_abs(y)), rest = l_exp(l_mul(l_set((REAL)-2), size));
    const lane closed = l_sub(l_div(l_add(one, rest), l_sub(one, rest)), l_div(one, size));
    return l_select(near, l_mul(y, l_langevin_part(l_select(near, square, one))),
                    l_select(l_lt(y, l_set((REAL)0)), l_neg(closed), closed));
}

/* dL/dy = 1 - L^2 - 2 L/y = 1/y^2 - 1/sinh^2 y. */
AD_INLINE lane l_langevin_slope(lane y) {
    const lane one = l_set((REAL)1), square = l_mul(y, y);
    const lane_mask near = l_le(square, one);
    const lane near_square = l_select(near, square, one), size = l_select(near, one, l_abs(y)),
               rest = l_exp(l_mul(l_set((REAL)-2), size));
    const lane part = l_langevin_part(near_square), left = l_sub(one, rest),
               inverse = l_div(one, size);
    const lane series = l_fnma(l_mul(near_square, part), part, l_fnma(l_set((REAL)2), part, one));
    const lane closed =
        l_sub(l_mul(inverse, inverse), l_div(l_mul(l_set((REAL)4), rest), l_mul(left, left)));
    return l_select(near, series, closed);
}

/* Error function, odd. Up to |x| = 1 a polynomial in x^2; beyond, 1 - erfc(|x|), with erfc a power
 * of a polynomial: no exponential, no division. Each polynomial is in a variable that is small
 * where rounding would count most, and its coefficients minimize the largest truncation error of
 * erf: below 4e-9 (float) and 2e-17 (double). part: erf(x)/x - 1 for |x| <= 1, given u = x^2 - 1/2.
 */
#if AD_SIZE != 16
AD_INLINE lane l_erf_part(lane u) {
#if AD_SIZE == 4
    return AD_H4(u, -0.034531261389701138, -0.281072194554758151, 0.0794099935415438897,
                 -0.0182833566889615095,
                 l_fma(l_fma(AD_C(0.0000789085425040937814), u, AD_C(-0.000565409162143206375)), u,
                       AD_C(0.00348016129523617184)));
#else
    const lane high =
        l_fma(l_fma(l_fma(AD_C(-7.80122676038035965e-10), u, AD_C(9.43233235672632141e-9)), u,
                    AD_C(-1.04203510556534731e-7)),
              u, AD_C(1.05363237649899154e-6));
    return AD_H4(u, -0.0345312613301326987, -0.281072178045434236, 0.0794099867559368788,
                 -0.0182838844891531252,
                 AD_H4(u, 0.00348027449657000744, -0.000561189422111012684, 0.000078296496885462856,
                       -9.61480873262297163e-6, high));
#endif
}
/* sqrt(erfc(-y)) for -4 <= y <= -1 (float) or -6 <= y <= -1 (double). */
AD_INLINE lane l_erfc_root(lane y) {
#if AD_SIZE == 4
    const lane s = l_add(y, AD_C(1.125));
    const lane high =
        l_fma(l_fma(l_fma(AD_C(-6.32542185702148942e-6), s, AD_C(-0.0000872312177907219369)), s,
                    AD_C(-0.000451160924886426881)),
              s, AD_C(-0.000817374311666770633));
    return AD_H4(s, 0.334083476264701359, 0.476338947547155828, 0.196296994190165384,
                 -0.0367497302842560584,
                 AD_H4(s, -0.0471172790168593518, -0.00292957940095100767, 0.00670125823721766668,
                       0.00134041012853893493, high));
#else
    const lane s = l_add(y, AD_C(1.25));
    const lane high =
        AD_H4(s, -1.40155692013622581e-7, -9.0418485450800861e-9, 5.19900760114308354e-9,
              2.37953737689452733e-10,
              AD_H4(s, -3.82639557594142017e-10, -1.06737220815587871e-10, -1.34711658406965945e-11,
                    -8.72627225220263075e-13, AD_C(-2.35927553701818873e-14)));
    const lane fourth_root = AD_H4(
        s, 0.526942726096512831, 0.40412870418368192, 0.0402526422270863681, -0.0440568523097233453,
        AD_H4(s, -0.0093253834517824505, 0.00344497499311194189, 0.00115713161977026756,
              -0.000134958448808840168,
              AD_H4(s, -0.0000841801927361158391, 2.20932382110919536e-8, 3.75921479637632566e-6,
                    1.67491037533174599e-7, high)));
    return l_mul(fourth_root, fourth_root);
#endif
}
#endif
AD_INLINE lane l_erf(lane x) {
#if AD_SIZE == 16
    return erfl(x);
#else
    /* -|x|, but no farther out than where erf rounds to 1: nothing overflows */
    const lane one = l_set((REAL)1),
               y = l_max(l_set((REAL)(AD_SIZE == 4 ? -4 : -6)), l_neg(l_abs(x)));
    const lane near = l_fma(y, l_erf_part(l_fma(y, y, l_set((REAL)-0.5))), y),
               root = l_erfc_root(y), far = l_fma(root, root, l_neg(one)),
               value = l_select(l_le(l_neg(one), y), near, far);
    return l_select(l_lt(x, l_set((REAL)0)), value, l_neg(value));
#endif
}

/* erfc(x) = 1 - erf(x) for x >= 1.4, to its own size, however small it is: exp(-x^2) s P(s), s =
 * 1/(x + c). P minimizes the largest relative error as far as exp(-x^2) is not 0: 2e-9 (float), 6e-17
 * (double). What x^2 loses by rounding counts x^2 times. */
AD_INLINE lane l_erfc_tail(lane x) {
#if AD_SIZE == 16
    return erfcl(x);
#else
    const lane s = l_div(l_set((REAL)1), l_add(x, l_set((REAL)(AD_SIZE == 4 ? 2 : 2.5)))),
               u = l_sub(s, l_set((REAL)0.1875));
#if AD_SIZE == 4
    const lane p = AD_H4(u, 0.866613126020562952, 2.22183627490268648, 3.92393076176977381,
                         3.39748885242587783,
                         AD_H4(u, -2.85083185468831281, -9.70104584256303272, 2.41277596453203531,
                               27.0619922120828537, AD_C(0)));
#else
    const lane high = AD_H4(u, -1180.36603111300103, 199.792269614981898, 5509.47995424857349,
                            -5317.86325289941228,
                            AD_H4(u, -25850.9141166482112, 83316.9139833264288, 340006.370809425283,
                                  301521.787563603232, AD_C(0)));
    const lane p = AD_H4(
        u, 1.00547281285074326, 3.74945562393621445, 10.5622157756831239, 20.4820788049544458,
        AD_H4(u, 19.1868930574259926, -20.4989456747137164, -77.0821015403872543,
              6.48785904600849399,
              l_fma(l_fma(high, u, AD_C(29.7198046305684618)), u, AD_C(279.317967535120103))));
#endif
    return l_mul(l_mul(s, p), l_exp(l_neg(l_mul(x, x))));
#endif
}

/* derf/dx = 2/sqrt(pi) exp(-x^2). */
AD_INLINE lane l_erf_slope(lane x) {
    return l_mul(AD_C(1.128379167095512573896158903121545172L), l_exp(l_neg(l_mul(x, x))));
}

#undef AD_C
#undef AD_PI_DIGITS
#undef AD_PI_SQUARED
#undef AD_LONG
#undef AD_LONG_
#undef AD_H4
