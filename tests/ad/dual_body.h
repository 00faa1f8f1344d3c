/* Tests of the dual arithmetic of every width. Include once per REAL, after ad/num.h with DIRS 1
 * and 2. */
#define DIRS 0
#include "ad/num.h"
#include "dual_cases.h"
#undef DIRS
#define DIRS 1
#include "dual_cases.h"
#undef DIRS
#define DIRS 2
#include "dual_cases.h"
#undef DIRS
#define DIRS 3
#include "ad/num.h"
#include "dual_cases.h"
#undef DIRS
#define DIRS many
#include "ad/num.h"
#include "dual_cases.h"

enum {
    AD_LANE(CASES) = sizeof AD_NUM(case_functions) / sizeof *AD_NUM(case_functions),
    AD_LANE(WIDE) = (1 + AD_MANY) * LANES,
    AD_LANE(MOST_RESULTS) = MOST_OUTPUTS * AD_LANE(WIDE)
};

static void AD_LANE(draw_inputs)(int which, REAL *x) {
    const dual_case *c = dual_case_list + which;
    for (int i = 0; i < c->inputs * LANES;) {
        x[i] = (REAL)grid_random(c->from, c->to);
        i += fabsl((long double)x[i]) >= 1 / 64.0L; /* else again: see want_select */
    }
}

static long double AD_LANE(largest)(const long double *x, int count) {
    long double most = 1;
    for (int i = 0; i < count; i++) most = fmaxl(most, fabsl(x[i]));
    return most;
}

/* One slope of all outputs of a case, in one lane: column `column` of `results`, which have
 * `columns`, against the sum of the outputs' slopes weighted with the inputs' seeds. */
static void AD_LANE(note_slope)(ulp_worst *worst, const dual_case *c, const long double *jacobian,
                                const REAL *seeds, const REAL *results, int columns) {
    const long double scale = AD_LANE(largest)(jacobian, c->outputs * c->inputs);
    for (int o = 0; o < c->outputs; o++) {
        long double want = 0, weight = 0;
        for (int i = 0; i < c->inputs; i++) {
            want += jacobian[o * c->inputs + i] * (long double)seeds[i];
            weight += (long double)seeds[i] * (long double)seeds[i];
        }
        const long double got = *results,
                          error = ulp_error(got, want, scale * fmaxl(1, sqrtl(weight)), DIGITS);
        ulp_note(worst, error, o, got, want);
        results += (size_t)columns * LANES;
    }
}

/* The results of one lane: of full width (unit seeds) and of width 3 (seeds as given). */
static void AD_LANE(note_case)(ulp_worst worst[2], int which, const long double *in,
                               const REAL *seeds, const REAL *wide, const REAL *narrow) {
    const dual_case *c = dual_case_list + which;
    long double value[MOST_OUTPUTS], jacobian[MOST_OUTPUTS * MOST_INPUTS];
    yardstick_case(which, in, value, jacobian);
    const long double scale = AD_LANE(largest)(value, c->outputs);
    for (int o = 0; o < c->outputs; o++) {
        const long double got = wide[(size_t)o * AD_LANE(WIDE)];
        ulp_note(worst, ulp_error(got, value[o], scale, DIGITS), o, got, value[o]);
    }
    for (int k = 1; k <= AD_MANY; k++) {
        REAL unit[MOST_INPUTS + 1] = { 0 };
        if (k <= c->inputs) unit[k - 1] = 1;
        AD_LANE(note_slope)(worst + 1, c, jacobian, unit, wide + (size_t)k * LANES, 1 + AD_MANY);
    }
    for (int k = 1; k <= 3; k++, seeds += c->inputs)
        AD_LANE(note_slope)(worst + 1, c, jacobian, seeds, narrow + (size_t)k * LANES, 4);
}

/* Full-width duals, and duals of width 3 along directions that mix all inputs, against the
 * yardstick. */
static void AD_LANE(test_duals)(void **state) {
    (void)state;
    static REAL x[MOST_INPUTS * LANES], wide[AD_LANE(MOST_RESULTS)],
        narrow[MOST_OUTPUTS * 4 * LANES];
    for (int which = 0; which < AD_LANE(CASES); which++) {
        const dual_case *c = dual_case_list + which;
        char name[2][40];
        snprintf(name[0], sizeof name[0], "%s", c->name);
        snprintf(name[1], sizeof name[1], "%s slopes", c->name);
        ulp_worst worst[2] = { { .name = name[0] }, { .name = name[1] } };
        for (int draw = 0; draw < 3000; draw += LANES) {
            REAL seeds[3 * MOST_INPUTS];
            for (int i = 0; i < 3 * c->inputs; i++) seeds[i] = (REAL)grid_random(-1, 1);
            AD_LANE(draw_inputs)(which, x);
            AD_PASTE3(run_case, REAL, many)(which, x, 0, NULL, wide);
            AD_PASTE3(run_case, REAL, 3)(which, x, 0, seeds, narrow);
            for (int at = 0; at < LANES; at++) {
                long double in[MOST_INPUTS];
                for (int i = 0; i < c->inputs; i++) in[i] = x[i * LANES + at];
                AD_LANE(note_case)(worst, which, in, seeds, wide + at, narrow + at);
            }
        }
        ulp_assert(worst, REAL_INSTANCE, AD_SIZE == 16 ? LONGDOUBLE_ULP : c->value_ulp);
        ulp_assert(worst + 1, REAL_INSTANCE, AD_SIZE == 16 ? DIFFERENCE_ULP : c->slope_ulp);
    }
}

/* A narrow width's results against the columns of the full width from `first` on: the same. */
static void AD_LANE(check_width)(int which, int width, int first, const REAL *narrow,
                                 const REAL *wide) {
    const dual_case *c = dual_case_list + which;
    for (int o = 0; o < c->outputs; o++, wide += AD_LANE(WIDE))
        for (int column = 0; column <= width; column++, narrow += LANES)
            for (int i = 0; i < LANES; i++) {
                const REAL want = wide[(column ? first + column : 0) * LANES + i];
                if (!AD_LANE(same)(narrow[i], want))
                    fail_msg("%s, %s: width %d, direction %d differs from full width",
                             REAL_INSTANCE, c->name, width, first + column - 1);
            }
}

static void AD_LANE(test_widths_agree)(void **state) {
    (void)state;
    static REAL x[MOST_INPUTS * LANES], wide[AD_LANE(MOST_RESULTS)],
        narrow[MOST_OUTPUTS * 4 * LANES];
    for (int which = 0; which < AD_LANE(CASES); which++)
        for (int draw = 0; draw < 50; draw++) {
            AD_LANE(draw_inputs)(which, x);
            AD_PASTE3(run_case, REAL, many)(which, x, 0, NULL, wide);
            AD_PASTE3(run_case, REAL, 0)(which, x, 0, NULL, narrow);
            AD_LANE(check_width)(which, 0, 0, narrow, wide);
            for (int first = 0; first + 3 <= AD_MANY; first++) {
                AD_PASTE3(run_case, REAL, 1)(which, x, first, NULL, narrow);
                AD_LANE(check_width)(which, 1, first, narrow, wide);
                AD_PASTE3(run_case, REAL, 2)(which, x, first, NULL, narrow);
                AD_LANE(check_width)(which, 2, first, narrow, wide);
                AD_PASTE3(run_case, REAL, 3)(which, x, first, NULL, narrow);
                AD_LANE(check_width)(which, 3, first, narrow, wide);
            }
        }
}

/* Value and slopes, the same in every lane. */
static void AD_LANE(check_number)(const num *x, const REAL *want) {
    REAL got[LANES];
    for (int column = 0; column <= AD_MANY; column++) {
        l_store(got, column ? x->d[column - 1] : x->v);
        for (int i = 0; i < LANES; i++) assert_true(got[i] == want[column]);
    }
}

/* Seeds and constants, with the full width current. */
static void AD_LANE(test_seeds)(void **state) {
    (void)state;
    enum { PLAIN = 1 + AD_MANY };
    for (int direction = -1; direction <= AD_MANY; direction++) {
        const num x = n_seed(l_set((REAL)-2.5), direction);
        REAL want[PLAIN] = { (REAL)-2.5 };
        if (direction >= 0 && direction < AD_MANY) want[1 + direction] = 1;
        AD_LANE(check_number)(&x, want);
    }
    const num constant = n_constant((REAL)3.25), passive = n_passive(l_set((REAL)3.25));
    AD_LANE(check_number)(&constant, (const REAL[PLAIN]){ (REAL)3.25 });
    AD_LANE(check_number)(&passive, (const REAL[PLAIN]){ (REAL)3.25 });

    const vec3 v = v3_seed(l_set(5), l_set(6), l_set(7), 4);
    AD_LANE(check_number)(&v.x, (const REAL[PLAIN]){ [0] = 5, [5] = 1 });
    AD_LANE(check_number)(&v.y, (const REAL[PLAIN]){ [0] = 6, [6] = 1 });
    AD_LANE(check_number)(&v.z, (const REAL[PLAIN]){ [0] = 7, [7] = 1 });
    const vec3 p = v3_passive(l_set(5), l_set(6), l_set(7));
    AD_LANE(check_number)(&p.z, (const REAL[PLAIN]){ 7 });

    const REAL nine[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    const mat3 m = m3_passive(nine), one = m3_identity();
    for (int row = 0; row < 3; row++) {
        const vec3 r = m.r[row], e = one.r[row];
        const REAL first = (REAL)(3 * row + 1);
        AD_LANE(check_number)(&r.x, (const REAL[PLAIN]){ first });
        AD_LANE(check_number)(&r.y, (const REAL[PLAIN]){ first + 1 });
        AD_LANE(check_number)(&r.z, (const REAL[PLAIN]){ first + 2 });
        AD_LANE(check_number)(&e.x, (const REAL[PLAIN]){ row == 0 });
        AD_LANE(check_number)(&e.y, (const REAL[PLAIN]){ row == 1 });
        AD_LANE(check_number)(&e.z, (const REAL[PLAIN]){ row == 2 });
    }
}
#undef DIRS
