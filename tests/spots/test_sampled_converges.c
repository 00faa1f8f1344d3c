/* Spots in closed form are what samples of the same distributions converge to. (test_sampled_converges_slow.c takes more of
 * them, and looks at what first order lacks.) */
#include "support/context.h"
#include "convergence.h"

static void samples_converge_to_the_closed_form(void **state) {
    (void)state;
    for (size_t k = 0; k < spot_scene_count; k++) samples_converge(context, &spot_scenes[k], 8192);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(samples_converge_to_the_closed_form) };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
