/* The yardstick itself: the rules in long double, against formulas and finite differences that do
 * not use ad/. */
#define INSTANCE "scalar"
#define INSTANCE_ISA ""
#define INSTANCE_SCALAR 1
#define INSTANCE_LONGDOUBLE 1
#include "rules_body.h"
