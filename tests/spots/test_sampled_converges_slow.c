/* Spots in closed form are what samples of the same distributions converge to: more of them. */
#include "support/context.h"
#include "convergence.h"

static void samples_converge_to_the_closed_form(void **state) {
    (void)state;
    for (size_t k = 0; k < spot_scene_count; k++)
        samples_converge(context, &spot_scenes[k], 262144);
}

static void first_order_suffices_for_narrow_spreads(void **state) {
    (void)state;
    for (size_t k = 0; k < spot_scene_count; k++)
        first_order_suffices(context, &spot_scenes[k], 12, 0.4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_converge_to_the_closed_form),
        cmocka_unit_test(first_order_suffices_for_narrow_spreads),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
