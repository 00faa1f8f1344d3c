/* Tests of the lane operations themselves, against the plain operation of every lane. Include once
 * per REAL. */
#if AD_SIZE == 4
#define PLAIN(function) function##f
#elif AD_SIZE == 8
#define PLAIN(function) function
#else
#define PLAIN(function) function##l
#endif
/* Vectors fuse where the instruction set can; the plain number never does on this side. */
#if LANES > 1 && (defined(__FMA__) || defined(__aarch64__))
#define LANE_FMA(a, b, c) PLAIN(fma)(a, b, c)
#define LANE_FNMA(a, b, c) PLAIN(fma)(-(a), b, c)
#else
#define LANE_FMA(a, b, c) ((a) * (b) + (c))
#define LANE_FNMA(a, b, c) ((c) - (a) * (b))
#endif

/* Numbers that are awkward, and a few that are not. */
static size_t AD_LANE(awkward)(const REAL **all) {
    static const REAL numbers[] = { 0,
                                    (REAL)-0.0L,
                                    1,
                                    -1,
                                    (REAL)0.5L,
                                    (REAL)1.5L,
                                    (REAL)-2.5L,
                                    (REAL)0.1L,
                                    (REAL)-3e5L,
                                    (REAL)1e-30L,
                                    AD_LEAST,
                                    -AD_LEAST,
                                    AD_MOST,
                                    -AD_MOST,
                                    INFINITY,
                                    -INFINITY,
                                    NAN,
                                    3,
                                    7,
                                    (REAL)1e20L,
                                    (REAL)(1 / 3.0L),
                                    -3,
                                    4,
                                    5 };
    *all = numbers;
    return sizeof numbers / sizeof *numbers;
}

/* the same number, zeros of different sign being different; or both not a number */
static int AD_LANE(same)(REAL a, REAL b) {
    return isnan(a) ? isnan(b) : a == b && !signbit(a) == !signbit(b);
}

#define EXPECT(what, got, want)                                                                    \
    do {                                                                                           \
        REAL lanes_[LANES];                                                                        \
        l_store(lanes_, got);                                                                      \
        for (int i = 0; i < LANES; i++)                                                            \
            if (!AD_LANE(same)(lanes_[i], want))                                                   \
                fail_msg("%s: %s in lane %d gives %.20Lg, not %.20Lg", REAL_INSTANCE, what, i,     \
                         (long double)lanes_[i], (long double)(want));                             \
    } while (0)

static void AD_LANE(check_comparisons)(const REAL *a, const REAL *b) {
    const lane one = l_set(1), two = l_set(2), x = l_load(a), y = l_load(b);
    EXPECT("lt", l_select(l_lt(x, y), one, two), (REAL)(a[i] < b[i] ? 1 : 2));
    EXPECT("le", l_select(l_le(x, y), one, two), (REAL)(a[i] <= b[i] ? 1 : 2));
    EXPECT("eq", l_select(l_eq(x, y), one, two), (REAL)(a[i] == b[i] ? 1 : 2));
    EXPECT("and", l_select(l_and(l_le(x, y), l_lt(x, one)), one, two),
           (REAL)(a[i] <= b[i] && a[i] < 1 ? 1 : 2));
    EXPECT("keep", l_keep(l_lt(x, y), x), a[i] < b[i] ? a[i] : 0);
    EXPECT("max", l_max(x, y), a[i] > b[i] ? a[i] : b[i]);
    unsigned bits = 0;
    for (int i = 0; i < LANES; i++) bits |= (a[i] < b[i] ? 1U : 0) << i;
    assert_true(l_bitmask(l_lt(x, y)) == bits);
    assert_true((l_any(l_lt(x, y)) != 0) == (bits != 0));
    EXPECT("select", l_select(l_lt(x, y), x, y), a[i] < b[i] ? a[i] : b[i]);
}

static void AD_LANE(test_lane_operations)(void **state) {
    (void)state;
    const REAL *all;
    const size_t count = AD_LANE(awkward)(&all);
    for (size_t n = 0; n < count * count * 3; n++) {
        REAL a[LANES], b[LANES], c[LANES];
        for (size_t i = 0; i < LANES; i++) {
            a[i] = all[(n + i) % count];
            b[i] = all[(n / count + 5 * i) % count];
            c[i] = all[(n / 7 + 11 * i) % count];
        }
        const lane x = l_load(a), y = l_load(b), z = l_load(c);
        EXPECT("load and store", x, a[i]);
        EXPECT("set", l_set(a[0]), a[0]);
        EXPECT("add", l_add(x, y), a[i] + b[i]);
        EXPECT("sub", l_sub(x, y), a[i] - b[i]);
        EXPECT("mul", l_mul(x, y), a[i] * b[i]);
        EXPECT("div", l_div(x, y), a[i] / b[i]);
        EXPECT("neg", l_neg(x), -a[i]);
        EXPECT("abs", l_abs(x), PLAIN(fabs)(a[i]));
        EXPECT("sqrt", l_sqrt(x), PLAIN(sqrt)(a[i]));
        EXPECT("fma", l_fma(x, y, z), LANE_FMA(a[i], b[i], c[i]));
        EXPECT("fnma", l_fnma(x, y, z), LANE_FNMA(a[i], b[i], c[i]));
        AD_LANE(check_comparisons)(a, b);
    }
    EXPECT("iota", l_iota(), (REAL)i);
}

/* Both ways of a choice keep every bit, those of a NaN's payload too. */
static void AD_LANE(test_select_by_bits)(void **state) {
    (void)state;
    REAL a[LANES], b[LANES], got[LANES];
    for (int turn = 0; turn < 2 * LANES; turn++) {
        REAL choice[LANES];
        for (int i = 0; i < LANES; i++) {
            choice[i] = (REAL)((i + turn) % 3 == 0);
            a[i] = PLAIN(nan)(turn % 2 ? "1234" : "77");
            b[i] = (REAL)(i - turn);
        }
        l_store(got, l_select(l_eq(l_load(choice), l_set(1)), l_load(a), l_load(b)));
        for (int i = 0; i < LANES; i++)
            assert_memory_equal(got + i, choice[i] == 1 ? a + i : b + i, AD_BYTES);
        l_store(got, l_select(l_eq(l_load(choice), l_set(1)), l_load(b), l_load(a)));
        for (int i = 0; i < LANES; i++)
            assert_memory_equal(got + i, choice[i] == 1 ? b + i : a + i, AD_BYTES);
    }
}

/* Nearest integer, halves to even, within 2^22 (float) or 2^51 (double); a zero's sign is not
 * specified; and what rounding takes away, exactly. */
static void AD_LANE(test_rint)(void **state) {
    (void)state;
    const long double range = AD_SIZE == 4 ? 0x1p22L : 0x1p51L;
    grid g = { 0 };
    for (int i = -300; i <= 300; i++) {
        grid_near(&g, i + 0.5L, DIGITS);
        grid_near(&g, i, DIGITS);
    }
    grid_geometric(&g, 1e-40L, 0.9L * range, 1.3L);
    for (int i = 1; i < 40; i++) {
        grid_add(&g, range - (long double)i / 2);
        grid_add(&g, (long double)i / 2 - range);
    }
    grid_add(&g, -0.0L);
    grid_shuffle(&g, LANES);
    for (size_t set = 0; set < g.count; set += LANES) {
        REAL x[LANES], got[LANES], rest[LANES];
        for (int i = 0; i < LANES; i++) x[i] = (REAL)g.at[set + (size_t)i];
        l_store(got, l_rint(l_load(x)));
        l_store(rest, l_reduce(l_load(x)));
        for (int i = 0; i < LANES; i++)
            if (got[i] != PLAIN(rint)(x[i]) || rest[i] != x[i] - PLAIN(rint)(x[i]))
                fail_msg("%s: rint(%.20Lg) = %.20Lg, rest %.20Lg", REAL_INSTANCE, (long double)x[i],
                         (long double)got[i], (long double)rest[i]);
    }
    grid_free(&g);
}

static void AD_LANE(test_scale2)(void **state) {
    (void)state;
    const int most = AD_SIZE == 4 ? 126 : AD_SIZE == 8 ? 1022 : 16000;
    for (int k = -most; k <= most; k++) {
        REAL a[LANES], by[LANES];
        for (int i = 0; i < LANES; i++) {
            a[i] = 1 + (REAL)i / 16;
            by[i] = (REAL)((k + most + 37 * i) % (2 * most + 1) - most);
        }
        EXPECT("scale2", l_scale2(l_load(a), l_load(by)), PLAIN(ldexp)(a[i], (int)by[i]));
    }
}
#undef EXPECT
#undef LANE_FMA
#undef LANE_FNMA
#undef PLAIN
