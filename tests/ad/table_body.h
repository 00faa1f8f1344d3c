/* Tests of every row of ad/rules.h. Include once per REAL, with DIRS = 1. */
#include "ad/rules.h"

#define RULE_FN(name) static num AD_NUM(rule_##name)(num a, num b)
RULE_FN(sqr) { return (void)b, n_sqr(a); }
RULE_FN(mul) { return n_mul(a, b); }
RULE_FN(div) { return n_div(a, b); }
RULE_FN(sqrt) { return (void)b, n_sqrt(a); }
RULE_FN(rsqrt) { return (void)b, n_rsqrt(a); }
RULE_FN(exp) { return (void)b, n_exp(a); }
RULE_FN(sinpic) { return (void)b, n_sinpic(a); }
RULE_FN(cospic) { return (void)b, n_cospic(a); }
RULE_FN(sphere) { return (void)b, n_sphere(a); }
RULE_FN(langevin) { return (void)b, n_langevin(a); }
RULE_FN(erf) { return (void)b, n_erf(a); }
RULE_FN(erfc_tail) { return (void)b, n_erfc_tail(a); }
/* a unless it is NaN */
RULE_FN(select) { return n_select(l_eq(a.v, a.v), a, b); }
RULE_FN(unit) { return v3_unit(v3_make(a, b, n_constant(0))).x; }
RULE_FN(rint) { return (void)b, n_passive(l_rint(a.v)); }
#undef RULE_FN

typedef struct {
    const char *rule;
    num (*function)(num a, num b);
    long double point[4], value, slope;
    const char *reason;
} AD_LANE(rule_row);

/* The row's point in one lane, ordinary points in the others: neither may disturb the other. */
static void AD_LANE(check_row)(const AD_LANE(rule_row) * row, int where) {
    REAL in[4][LANES], ordinary[2][LANES], value[LANES], slope[LANES];
    num a, b;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < LANES; i++)
            for (int k = 0; k < 4; k++)
                in[k][i] =
                    (REAL)(pass && i == where ? row->point[k] : 0.125L + (5 * i + 3 * k) / 512.0L);
        a.v = l_load(in[0]);
        a.d[0] = l_load(in[1]);
        b.v = l_load(in[2]);
        b.d[0] = l_load(in[3]);
        const num y = row->function(a, b);
        l_store(pass ? value : ordinary[0], y.v);
        l_store(pass ? slope : ordinary[1], y.d[0]);
    }
    /* A ball's dark ring, a cosine's zero, or an inverse length, is hit but to rounding: judged
     * against the largest value. */
    const long double scale = strcmp(row->rule, "sphere") == 0 ||
                              strcmp(row->rule, "cospic") == 0 || strcmp(row->rule, "unit") == 0;
    for (int i = 0; i < LANES; i++) {
        if (i == where && (ulp_error(value[i], row->value, scale, DIGITS) > 4 ||
                           ulp_error(slope[i], row->slope, scale, DIGITS) > 4))
            fail_msg("%s, lane %d: %s at (%Lg, %Lg; %Lg, %Lg) gives %.20Lg, %.20Lg, not %.20Lg, "
                     "%.20Lg (%s)",
                     REAL_INSTANCE, i, row->rule, row->point[0], row->point[1], row->point[2],
                     row->point[3], (long double)value[i], (long double)slope[i], row->value,
                     row->slope, row->reason);
        if (i != where &&
            !(AD_LANE(same)(value[i], ordinary[0][i]) && AD_LANE(same)(slope[i], ordinary[1][i])))
            fail_msg("%s: %s in lane %d disturbs lane %d (%s)", REAL_INSTANCE, row->rule, where, i,
                     row->reason);
    }
}

static void AD_LANE(test_rule_table)(void **state) {
    (void)state;
    const AD_LANE(rule_row) rows[] = {
#define ROW(rule, point, value, slope, reason)                                                     \
    { #rule, AD_NUM(rule_##rule), point, value, slope, reason },
        AD_RULE_LIST(ROW)
#undef ROW
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int where = 0; where < LANES; where++) AD_LANE(check_row)(rows + r, where);
}
