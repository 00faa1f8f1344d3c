/* The rules of ad/ in long double, one lane: the yardstick of the other instances. It is itself
 * compared with reference.h, by test_rules_longdouble. */
#ifndef TESTS_AD_LONGDOUBLE_H
#define TESTS_AD_LONGDOUBLE_H

/* Case `which` of dual_case_list.h, with its slopes, jacobian[output * inputs + input], by one dual
 * number of full width. */
void longdouble_case(int which, const long double *x, long double *value, long double *jacobian);

#endif
