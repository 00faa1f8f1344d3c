#include "longdouble.h"
#include "dual_case_list.h"

#define REAL longdouble
#define LANES 1
#define AD_MANY 18
#include "ad/lane.h"

#define DIRS many
#include "ad/num.h"
#include "dual_cases.h"

void longdouble_case(int which, const long double *x, long double *value, long double *jacobian) {
    const int inputs = dual_case_list[which].inputs, outputs = dual_case_list[which].outputs;
    long double y[MOST_OUTPUTS * (1 + AD_MANY)];
    AD_NUM(run_case)(which, x, 0, 0, y);
    const long double *result = y;
    for (int o = 0; o < outputs; o++) {
        *value++ = *result++;
        for (int i = 0; i < AD_MANY; i++, result++)
            if (i < inputs) *jacobian++ = *result;
    }
}
