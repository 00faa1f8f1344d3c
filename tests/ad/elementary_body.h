/* Tests of the functions of one argument: values and slopes on grids, in every lane. Include once
 * per REAL, with DIRS = 2. */
#include "elementary_cases.h"

/* Beyond u = 1 the ball's amplitude and slope drop their common sign (not in long double). */
static inline long double AD_LANE(dropped_sign)(long double u, long double value, long double slope,
                                                long double got_value, long double got_slope) {
    if (AD_SIZE == 16 || u <= 1) return 1;
    const long double kept = fabsl(got_value - value) + fabsl(got_slope - slope),
                      dropped = fabsl(got_value + value) + fabsl(got_slope + slope);
    return dropped < kept ? -1 : 1;
}

/* Values and slopes at g's arguments, each set of LANES turned by `turn` lanes before, and back
 * afterwards. */
static void AD_LANE(elementary_pass)(int which, const grid *g, int turn, REAL *values,
                                     REAL *slopes) {
    REAL in[LANES], value[LANES], slope[LANES], twice[LANES];
    for (size_t set = 0; set < g->count; set += LANES) {
        for (int i = 0; i < LANES; i++) in[(i + turn) % LANES] = (REAL)g->at[set + (size_t)i];
        num a = n_seed(l_load(in), 0);
        a.d[1] = l_set((REAL)-2);
        const num y = AD_NUM(apply_functions)[which](a);
        l_store(value, y.v);
        l_store(slope, y.d[0]);
        l_store(twice, y.d[1]);
        for (int i = 0; i < LANES; i++) {
            const int from = (i + turn) % LANES;
            values[set + (size_t)i] = value[from];
            slopes[set + (size_t)i] = slope[from];
            /* a subnormal slope may round the other way */
            if (!(twice[from] == -2 * slope[from]) &&
                !(fabsl(2 * (long double)slope[from] + twice[from]) <= 2 * AD_LEAST))
                fail_msg("%s: slopes not in proportion at %.20Lg", elementary_rules[which].name,
                         (long double)in[from]);
        }
    }
}

static void AD_LANE(elementary_check)(int which, const grid *g, const REAL *values,
                                      const REAL *slopes) {
    const elementary_rule *rule = elementary_rules + which;
    const double *allowed = elementary_allowed(rule, DIGITS);
    char name[2][40];
    snprintf(name[0], sizeof name[0], "%s", rule->name);
    snprintf(name[1], sizeof name[1], "%s slope", rule->name);
    ulp_worst value_worst = { .name = name[0] }, slope_worst = { .name = name[1] };
    for (size_t i = 0; i < g->count; i++) {
        const long double at = (REAL)g->at[i];
        long double value = rule->value(at, DIGITS), slope = rule->slope(at, DIGITS);
        if (which == ELEMENTARY_sphere) {
            const long double sign = AD_LANE(dropped_sign)(at, value, slope, values[i], slopes[i]);
            value *= sign;
            slope *= sign;
        }
        ulp_note(&value_worst, ulp_error(values[i], value, rule->value_scale(at), DIGITS), at,
                 values[i], value);
        ulp_note(&slope_worst, ulp_error(slopes[i], slope, rule->slope_scale(at), DIGITS), at,
                 slopes[i], slope);
    }
    ulp_assert(&value_worst, REAL_INSTANCE, allowed[0]);
    ulp_assert(&slope_worst, REAL_INSTANCE, allowed[1]);
}

static void AD_LANE(test_elementary)(void **state) {
    (void)state;
    const int count = sizeof AD_NUM(apply_functions) / sizeof *AD_NUM(apply_functions);
    for (int which = 0; which < count; which++) {
        grid g = { 0 };
        elementary_rules[which].arguments(&g, DIGITS);
        grid_shuffle(&g, LANES);
        REAL *results = test_malloc(4 * g.count * sizeof *results);
        REAL *values = results, *slopes = results + g.count, *again = results + 2 * g.count;
        AD_LANE(elementary_pass)(which, &g, 0, values, slopes);
        AD_LANE(elementary_check)(which, &g, values, slopes);
        /* the same from every lane */
        for (int turn = 1; turn < LANES; turn++) {
            AD_LANE(elementary_pass)(which, &g, turn, again, again + g.count);
            for (size_t i = 0; i < 2 * g.count; i++)
                if (!AD_LANE(same)(results[i], again[i]))
                    fail_msg("%s: another result in another lane, at %.20Lg",
                             elementary_rules[which].name, g.at[i % g.count]);
        }
        test_free(results);
        grid_free(&g);
    }
}
