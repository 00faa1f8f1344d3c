#include "reference.h"

#include <math.h>

static const long double pi = 3.141592653589793238462643383279502884L;

/* sum over n >= from of weight(n) (-1)^n x2^(n - from) / (2n + odd)!, smallest terms first */
static long double series(long double x2, int from, int odd, long double (*weight)(int n)) {
    enum { TERMS = 24 };
    long double term[TERMS], sum = 0, factor = from % 2 ? -1 : 1;
    for (int i = 2; i <= 2 * from + odd; i++) factor /= i;
    for (int n = from; n < TERMS; n++) {
        term[n] = factor * weight(n);
        factor *= -x2 / ((2 * n + odd + 1) * (2 * n + odd + 2));
    }
    for (int n = TERMS - 1; n >= from; n--) sum += term[n];
    return sum;
}
static long double one(int n) { return n >= 0; }
static long double order(int n) { return n; }
static long double ball(int n) { return 6 * (n + 1); }
static long double ball_order(int n) { return 6 * (n + 1) * n; }

static long double sqr(long double x, int digits) { return (void)digits, x * x; }
static long double sqr_slope(long double x, int digits) { return (void)digits, 2 * x; }
static long double inverse(long double x, int digits) { return (void)digits, 1 / x; }
static long double inverse_slope(long double x, int digits) { return (void)digits, -1 / x / x; }
static long double root(long double x, int digits) { return (void)digits, sqrtl(x); }
static long double root_slope(long double x, int digits) { return (void)digits, 0.5L / sqrtl(x); }
static long double rsqrt(long double x, int digits) { return (void)digits, 1 / sqrtl(x); }
static long double rsqrt_slope(long double x, int digits) {
    return (void)digits, -0.5L / sqrtl(x) / x;
}
static long double sine(long double x, int digits) { return (void)digits, sinl(x); }
static long double sine_slope(long double x, int digits) { return (void)digits, cosl(x); }
static long double cosine(long double x, int digits) { return (void)digits, cosl(x); }
static long double cosine_slope(long double x, int digits) { return (void)digits, -sinl(x); }

/* zero where ad/rules.h says so */
static long double exponential(long double x, int digits) {
    const long double lowest = digits == 24 ? -87 : digits == 53 ? -708 : -11400;
    return x < lowest ? 0 : expl(x);
}

/* S = sin(x)/sqrt t with x = pi sqrt t */
static long double sinpic(long double t, int digits) {
    (void)digits;
    return pi * series(pi * pi * t, 0, 1, one);
}
static long double sinpic_slope(long double t, int digits) {
    (void)digits;
    return pi * pi * pi * series(pi * pi * t, 1, 1, order);
}
static long double cospi(long double t, int digits) {
    (void)digits;
    return series(pi * pi * t, 0, 0, one);
}
static long double cospi_slope(long double t, int digits) { return -pi / 2 * sinpic(t, digits); }

/* j = 3 (sin x - x cos x)/x^3 with x = pi sqrt u */
static long double sphere(long double u, int digits) {
    (void)digits;
    const long double x = pi * sqrtl(u);
    return x < 3 ? series(x * x, 0, 3, ball) : 3 * (sinl(x) / x - cosl(x)) / (x * x);
}
static long double sphere_slope(long double u, int digits) {
    (void)digits;
    const long double x = pi * sqrtl(u);
    if (x < 3) return pi * pi * series(x * x, 1, 3, ball_order);
    return pi * pi * 1.5L / (x * x * x) * (sinl(x) - 3 * (sinl(x) / x - cosl(x)) / x);
}

/* L = coth y - 1/y = sum of 2 y/(y^2 + (n pi)^2): from the series of its numerator and denominator,
 * y cosh y - sinh y and y sinh y, where they would cancel */
static long double langevin(long double y, int digits) {
    (void)digits;
    const long double y2 = y * y;
    if (y2 < 9) return y / 3 * series(-y2, 0, 3, ball) / series(-y2, 0, 1, one);
    return (y < 0 ? -1 : 1) * (1 + 2 / expm1l(2 * fabsl(y))) - 1 / y;
}
/* 1/y^2 - 1/sinh^2 y */
static long double langevin_slope(long double y, int digits) {
    (void)digits;
    const long double part = y == 0 ? 1 / 3.0L : langevin(y, 64) / y;
    if (y * y < 2) return 1 - part * (2 + y * y * part);
    return 1 / y / y - 1 / sinhl(y) / sinhl(y);
}

static long double error_function(long double x, int digits) { return (void)digits, erfl(x); }
static long double error_function_slope(long double x, int digits) {
    (void)digits;
    return 2 / sqrtl(pi) * expl(-x * x);
}

static long double relative(long double x) { return x * 0; }
static long double unity(long double x) { return x * 0 + 1; }
/* The ball's amplitude oscillates about zero within an envelope; rounding sqrt u turns its phase x
 * by an error proportional to x. */
static long double envelope(long double u) {
    const long double x = pi * sqrtl(u);
    return u <= 1 ? 0 : 3 * sqrtl(1 + x * x) / (x * x * x) * (1 + x);
}
static long double slope_envelope(long double u) {
    const long double x = pi * sqrtl(u), x2 = x * x;
    return u <= 1 ? 0
                  : pi * pi * 1.5L * sqrtl((x2 - 3) * (x2 - 3) + 9 * x2) / (x2 * x2 * x) * (1 + x);
}

/* The exponent -x^2 is rounded, and values below the exponential's lowest are zero. */
static long double bell(long double x) {
    return (1 + x * x) * error_function_slope(x, 64) + 1e-30L;
}

static long double complement(long double x, int digits) { return (void)digits, erfcl(x); }
static long double complement_slope(long double x, int digits) {
    return -error_function_slope(x, digits);
}
/* the square of x is rounded */
static long double complement_scale(long double x) { return (1 + x * x) * erfcl(x) + 1e-30L; }

static void positive(grid *g, int digits) {
    const int most = digits == 24 ? 127 : digits == 53 ? 1023 : 16383;
    grid_geometric(g, scalbnl(1, 2 - most - digits), scalbnl(0.99L, most),
                   most > 1023 ? 2.8L : 1.19L);
    grid_linear(g, 0.5L, 4.5L, 20000);
    grid_near(g, 1, digits);
    grid_near(g, 4, digits);
}
static void both_signs(grid *g, int digits) {
    positive(g, digits);
    const size_t half = g->count;
    for (size_t i = 0; i < half; i++) grid_add(g, -g->at[i]);
}
static void around_one(grid *g, int digits) {
    grid_linear(g, -40, 40, 20001);
    grid_near(g, 1, digits);
    grid_near(g, -1, digits);
    grid_geometric(g, 1e-30L, 1e15L, 1.5L);
    const size_t half = g->count;
    for (size_t i = 0; i < half; i++) grid_add(g, -g->at[i]);
}
static void errors(grid *g, int digits) {
    both_signs(g, digits);
    grid_linear(g, -12, 12, 40001);
    for (int i = -6; i <= 6; i++) grid_near(g, i, digits);
}
static void tail(grid *g, int digits) {
    grid_linear(g, 1.4L, digits == 24 ? 9.5L : 27, 20001);
    for (int i = 2; i <= 6; i++) grid_near(g, i, digits);
    grid_geometric(g, 1.4L, 1e15L, 1.5L);
}
static void angles(grid *g, int digits) {
    grid_linear(g, -7, 7, 20001);
    for (int i = -4; i <= 4; i++) grid_near(g, i * pi / 2, digits);
    grid_geometric(g, 1e-300L, 1, 3);
}
static void exponents(grid *g, int digits) {
    const long double lowest = digits == 24 ? -87 : digits == 53 ? -708 : -11000;
    const long double highest = digits == 24 ? 88 : digits == 53 ? 709 : 11000;
    grid_linear(g, -30, 30, 20001);
    grid_linear(g, 1.6L * lowest, highest, 10001);
    grid_near(g, lowest, digits);
    grid_near(g, highest, digits);
    for (int i = -40; i <= 40; i++)
        grid_near(g, (i + 0.5L) * logl(2), digits); /* where the reduction changes over */
    grid_geometric(g, 1e-300L, 1, 3);
    for (size_t i = g->count, n = 0; n < 600; n++) grid_add(g, -g->at[i - 1 - n]);
    for (size_t i = 0; i < g->count; i++) g->at[i] = fminl(g->at[i], highest);
}
static void quarter(grid *g, int digits) {
    grid_add(g, 0);
    grid_add(g, 0.25L);
    grid_linear(g, 0, 0.25L, 30001);
    grid_geometric(g, scalbnl(1, digits == 24 ? -149 : -1074), 0.25L, 1.5L);
    for (int i = 1; i <= 16; i++) grid_add(g, 0.25L - (long double)i * scalbnl(1, -2 - digits));
}
static void reach(grid *g, int digits) {
    quarter(g, digits);
    grid_linear(g, 0.25L, 40, 40001);
    grid_near(g, 1, digits);
    grid_geometric(g, 0.25L, 1e6L, 1.001L);
    long double x = 4.493409457909064175307880927280322082L;
    for (int ring = 1; ring <= 50; ring++) {
        grid_near(g, x * x / (pi * pi), digits);             /* dark rings: tan x = x */
        grid_near(g, (ring + 0.5L) * (ring + 0.5L), digits); /* where the reduction changes over */
        for (int i = 0; i < 60; i++) x = (ring + 1.5L) * pi - atanl(1 / x);
    }
}

const elementary_rule elementary_rules[] = {
    { "sqr", sqr, sqr_slope, relative, relative, both_signs, { 0.51, 0 }, { 0.51, 0 }, { 1, 1 } },
    { "inverse",
      inverse,
      inverse_slope,
      relative,
      relative,
      both_signs,
      { 0.51, 4 },
      { 0.51, 4 },
      { 1, 2 } },
    { "sqrt", root, root_slope, relative, relative, positive, { 0.51, 3 }, { 0.51, 3 }, { 1, 1 } },
    { "rsqrt", rsqrt, rsqrt_slope, relative, relative, positive, { 3, 10 }, { 3, 10 }, { 1, 8 } },
    { "exp",
      exponential,
      exponential,
      relative,
      relative,
      exponents,
      { 2.5, 2.5 },
      { 2.5, 2.5 },
      { 1, 1 } },
    { "sinpic",
      sinpic,
      sinpic_slope,
      relative,
      relative,
      quarter,
      { 2.5, 2 },
      { 2.5, 2 },
      { 4, 4 } },
    { "cospi", cospi, cospi_slope, unity, relative, quarter, { 2.5, 5 }, { 2.5, 5 }, { 3, 6 } },
    { "sphere",
      sphere,
      sphere_slope,
      envelope,
      slope_envelope,
      reach,
      { 6, 7 },
      { 6, 7 },
      { 12, 12 } },
    { "langevin",
      langevin,
      langevin_slope,
      relative,
      relative,
      around_one,
      { 10, 20 },
      { 10, 20 },
      { 10, 20 } },
    { "erf",
      error_function,
      error_function_slope,
      relative,
      bell,
      errors,
      { 2, 3.5 },
      { 2.5, 3 },
      { 1, 1 } },
    { "erfc_tail",
      complement,
      complement_slope,
      complement_scale,
      bell,
      tail,
      { 2, 3.5 },
      { 2.5, 3 },
      { 1, 1 } },
    { "sin", sine, sine_slope, relative, relative, angles, { 0, 0 }, { 1.1, 1.1 }, { 1, 1 } },
    { "cos", cosine, cosine_slope, relative, relative, angles, { 0, 0 }, { 1.1, 1.1 }, { 1, 1 } },
};

const double *elementary_allowed(const elementary_rule *rule, int digits) {
    return digits == 24 ? rule->float_ulp : digits == 53 ? rule->double_ulp : rule->longdouble_ulp;
}
