/* A search with data that jump from evaluation to evaluation: without them it goes on from its best point. */

#include "support/unit_test.h"
#include "fit/search/driver.h"

#include <dualbragg/expert/fit_steps.h>
#include <math.h>

static const double least = 3; /* mm: minimum of the data that do not jump */

/* Data with a minimum, and data whose loss has nothing to do with its slope. */
typedef struct jumping {
    int jumps, evaluations, asked;
    double best, last;
} jumping;

static db_status evaluate_jumping(void *user, const double *x, db_evaluation *at) {
    jumping *const j = user;
    const double away = x[0] - least, jump = 4000 * ((7 * j->evaluations++) % 5);
    at->loss = 1000 + 100 * away * away + (j->jumps ? jump : 0);
    at->gradient[0] = 200 * away + (j->jumps ? 500 : 0);
    at->normal[0] = 100;
    at->degrees = 1000;
    j->last = at->loss;
    return DB_OK;
}

static db_status keep_jumping(void *user) {
    jumping *const j = user;
    j->best = j->last;
    return DB_OK;
}

static db_status leave_out_jumping(void *user, int *is_of_another) {
    jumping *const j = user;
    assert_true(j->last >= j->best);
    j->asked++;
    *is_of_another = j->jumps;
    j->jumps = 0;
    return DB_OK;
}

static void search_goes_on_without_data_that_jump(void **state) {
    (void)state;
    static db_fit_settings settings;
    db_context *context;
    size_t index = 0;
    assert_int_equal(db_context_create(&context), DB_OK);
    db_fit_settings_init(&settings);
    const db_fit_parameter p = db_fit_parameter_free(DB_DISTANCE);
    assert_int_equal(db_fit_settings_add_parameter(context, &settings, &p), DB_OK);
    const db_fit_stage stage = { .name = "all",
                                 .kind = DB_STAGE_PIXELS,
                                 .tolerance = 1e-9,
                                 .step = 0.01,
                                 .max_evaluations = 100 };
    for (int doubts = 0; doubts < 2; doubts++) {
        jumping data = { .jumps = 1 };
        db_search search = { .context = context,
                             .problem = { .evaluate = evaluate_jumping,
                                          .keep = keep_jumping,
                                          .doubt = doubts ? leave_out_jumping : NULL,
                                          .user = &data },
                             .stage = &stage,
                             .degrees = 1000 };
        db_stage_result end;
        double value = 10;
        int at_bound;
        assert_int_equal(db_unknowns_make(context, &settings, &index, 1, &search.unknowns), DB_OK);
        assert_int_equal(db_search_prepare(&search), DB_OK);
        assert_int_equal(db_search_run(&search, &value, &at_bound, &end), DB_OK);
        if (doubts) {
            assert_int_equal(data.asked, 1);
            assert_int_equal(end.end, DB_STAGE_CONVERGED);
            if (!(fabs(value - least) < 1e-2)) fail_msg("%g instead of %g", value, least);
            assert_true(search.evaluations < 12);
        } else {
            assert_int_not_equal(end.end, DB_STAGE_CONVERGED);
        }
        db_search_clear(&search);
    }
    db_fit_settings_clear(&settings);
    db_context_destroy(&context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(search_goes_on_without_data_that_jump),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
