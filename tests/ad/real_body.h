/* All tests of one REAL. */
#include "ad/lane.h"
#include "lane_body.h"

#define DIRS 1
#include "ad/num.h"
#include "table_body.h"
#undef DIRS
#define DIRS 2
#include "ad/num.h"
#include "elementary_body.h"
#undef DIRS
#include "dual_body.h"

#ifndef REAL_TESTS
#define REAL_TESTS(real)                                                                           \
    cmocka_unit_test(test_lane_operations_##real), cmocka_unit_test(test_select_by_bits_##real),   \
        cmocka_unit_test(test_rint_##real), cmocka_unit_test(test_scale2_##real),                  \
        cmocka_unit_test(test_rule_table_##real), cmocka_unit_test(test_elementary_##real),        \
        cmocka_unit_test(test_seeds_##real), cmocka_unit_test(test_widths_agree_##real),           \
        cmocka_unit_test(test_duals_##real)
#endif
