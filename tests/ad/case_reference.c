#include "reference.h"
#include "dual_case_list.h"

#include <math.h>
#include <string.h>

typedef const long double *in;
typedef long double *out;

static void want_add(in x, out y) { *y = x[0] + x[1]; }
static void want_sub(in x, out y) { *y = x[0] - x[1]; }
static void want_neg(in x, out y) { *y = -x[0]; }
static void want_scale(in x, out y) { *y = -1.75L * x[0]; }
static void want_shift(in x, out y) { *y = x[0] + 0.625L; }
static void want_mul(in x, out y) { *y = x[0] * x[1]; }
static void want_fma(in x, out y) { *y = x[0] * x[1] + 0.625L; }
static void want_fnma(in x, out y) { *y = 0.625L - x[0] * x[1]; }
static void want_affine(in x, out y) { *y = -1.75L * x[0] + 0.625L; }
static void want_div(in x, out y) { *y = x[0] / x[1]; }
static void want_sqr(in x, out y) { *y = x[0] * x[0]; }
static void want_chain(in x, out y) { *y = x[0] * x[0] * x[0]; }
static void want_sqrt(in x, out y) { *y = sqrtl(x[0]); }
static void want_rsqrt(in x, out y) { *y = 1 / sqrtl(x[0]); }
static void want_exp(in x, out y) { *y = expl(x[0]); }
static void want_sinpic(in x, out y) { *y = elementary_rules[ELEMENTARY_sinpic].value(x[0], 64); }
static void want_cospic(in x, out y) { *y = elementary_rules[ELEMENTARY_cospi].value(x[0], 64); }
static void want_sinpi(in x, out y) { *y = sinl(acosl(-1) * x[0]); }
static void want_sphere_squared(in x, out y) {
    const long double j = elementary_rules[ELEMENTARY_sphere].value(x[0], 64);
    *y = j * j;
}
static void want_langevin(in x, out y) {
    *y = elementary_rules[ELEMENTARY_langevin].value(x[0], 64);
}
static void want_erf(in x, out y) { *y = erfl(x[0]); }
static void want_erfc_tail(in x, out y) { *y = erfcl(x[0]); }
static void want_sin(in x, out y) { *y = sinl(x[0]); }
static void want_cos(in x, out y) { *y = cosl(x[0]); }
/* Changes over at x[2] = 0: inputs keep away from it, for the sake of finite differences. */
static void want_select(in x, out y) { *y = x[2] < 0 ? x[0] : x[1] * x[2]; }

static void want_v3_add(in x, out y) {
    for (int i = 0; i < 3; i++) y[i] = x[i] + x[3 + i];
}
static void want_v3_sub(in x, out y) {
    for (int i = 0; i < 3; i++) y[i] = x[i] - x[3 + i];
}
static void want_v3_neg(in x, out y) {
    for (int i = 0; i < 3; i++) y[i] = -x[i];
}
static void want_v3_scale(in x, out y) {
    for (int i = 0; i < 3; i++) y[i] = x[i] * x[3];
}
static void want_v3_dot(in x, out y) { *y = x[0] * x[3] + x[1] * x[4] + x[2] * x[5]; }
static void want_v3_cross(in x, out y) {
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        y[i] = x[j] * x[3 + k] - x[k] * x[3 + j];
    }
}
static void want_v3_square(in x, out y) { *y = x[0] * x[0] + x[1] * x[1] + x[2] * x[2]; }
static void want_v3_unit(in x, out y) {
    const long double length = sqrtl(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    for (int i = 0; i < 3; i++) y[i] = x[i] / length;
}

static void want_v3_inverse_length(in x, out y) {
    *y = 1 / sqrtl(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}
static void want_v3_unit_back(in x, out y) {
    *y = (2 * x[0] - x[1] + 3 * x[2] + 0.5L) / sqrtl(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}
static void want_v3_symmetric(in x, out y) {
    in w = x + 3;
    y[0] = w[0] * x[0] + w[3] * x[1] + w[4] * x[2];
    y[1] = w[3] * x[0] + w[1] * x[1] + w[5] * x[2];
    y[2] = w[4] * x[0] + w[5] * x[1] + w[2] * x[2];
}
static void want_v3_form_back(in x, out y) {
    long double turned[3];
    want_v3_symmetric((long double[]){ x[0], x[1], x[2], 1, -2, 0.5L, 0.25L, 1.5L, -0.75L },
                      turned);
    *y = 1.5L * (x[0] * turned[0] + x[1] * turned[1] + x[2] * turned[2]);
}

static void want_m3_apply(in x, out y) {
    in v = x + 9;
    for (in row = x; row < v; row += 3)
        want_v3_dot((long double[]){ row[0], row[1], row[2], v[0], v[1], v[2] }, y++);
}
static void want_m3_transpose(in x, out y) {
    for (int i = 0; i < 9; i++) y[i] = x[i % 3 * 3 + i / 3];
}
static void want_m3_apply_transposed(in x, out y) {
    long double t[12];
    want_m3_transpose(x, t);
    memcpy(t + 9, x + 9, 3 * sizeof *t);
    want_m3_apply(t, y);
}
static void want_m3_multiply(in x, out y) {
    for (int i = 0; i < 9; i++) {
        y[i] = 0;
        for (int k = 0; k < 3; k++) y[i] += x[i / 3 * 3 + k] * x[9 + 3 * k + i % 3];
    }
}
/* determinant of three rows */
static void want_triple_product(in x, out y) {
    *y = 0;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        *y += x[i] * (x[3 + j] * x[6 + k] - x[3 + k] * x[6 + j]);
    }
}
static void want_gaussian_of_ratio(in x, out y) {
    const long double ratio =
        (x[0] * x[3] + x[1] * x[4] + x[2] * x[5]) / (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    *y = expl(-ratio * ratio);
}

/* exp of the cross product matrix: its power series. */
static void want_m3_rotation_vector(in x, out y) {
    const long double a = x[0], b = x[1], c = x[2];
    long double product[18] = { 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, -c, b, c, 0, -a, -b, a, 0 };
    for (int i = 0; i < 9; i++) y[i] = product[i];
    for (int n = 1; n < 40; n++) {
        long double power[9];
        want_m3_multiply(product, power);
        for (int i = 0; i < 9; i++) {
            product[i] = power[i] / n;
            y[i] += product[i];
        }
    }
}
/* The angle times the axis, brought to length 1. */
static void want_m3_rotation(in x, out y) {
    const long double length = sqrtl(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    const long double w[3] = { x[3] * x[0] / length, x[3] * x[1] / length, x[3] * x[2] / length };
    want_m3_rotation_vector(w, y);
}
static void want_m3_rotation_xyz(in x, out y) {
    long double p[18], q[18];
    want_m3_rotation((long double[]){ 0, 0, 1, x[2] }, p);
    want_m3_rotation((long double[]){ 0, 1, 0, x[1] }, q);
    want_m3_rotation((long double[]){ 1, 0, 0, x[0] }, q + 9);
    want_m3_multiply(q, p + 9);
    want_m3_multiply(p, y);
}

static void (*const wanted[])(in x, out y) = {
#define CASE(name, ...) want_##name,
    DUAL_CASES(CASE) DUAL_HOST_CASES(CASE)
#undef CASE
};

const dual_case dual_case_list[] = {
#define CASE(name, ...) { #name, __VA_ARGS__ },
    DUAL_CASES(CASE) DUAL_HOST_CASES(CASE)
#undef CASE
};

void reference_case(int which, const long double *x, long double *y) { wanted[which](x, y); }

void reference_jacobian(int which, const long double *x, long double *jacobian) {
    enum { LEVELS = 4 };
    const int inputs = dual_case_list[which].inputs, outputs = dual_case_list[which].outputs;
    for (int i = 0; i < inputs; i++) {
        long double estimate[LEVELS][MOST_OUTPUTS], step = 0x1p-7L;
        for (int level = 0; level < LEVELS; level++, step /= 2) {
            long double moved[MOST_INPUTS], ahead[MOST_OUTPUTS], behind[MOST_OUTPUTS];
            memcpy(moved, x, (size_t)inputs * sizeof *x);
            moved[i] = x[i] + step;
            wanted[which](moved, ahead);
            moved[i] = x[i] - step;
            wanted[which](moved, behind);
            for (int o = 0; o < outputs; o++)
                estimate[level][o] = (ahead[o] - behind[o]) / (2 * step);
        }
        /* each round removes the leading power of the step squared */
        for (int round = 1; round < LEVELS; round++)
            for (int level = LEVELS - 1; level >= round; level--)
                for (int o = 0; o < outputs; o++)
                    estimate[level][o] += (estimate[level][o] - estimate[level - 1][o]) /
                                          (long double)((1 << 2 * round) - 1);
        for (int o = 0; o < outputs; o++) jacobian[o * inputs + i] = estimate[LEVELS - 1][o];
    }
}
