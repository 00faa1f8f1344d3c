/* Batches of shots with derivatives by all structure factors: the same bits as shot after shot, and which shot has
 * failed. */
#include "support/unit_test.h"
#include "table_scene.h"

#include <dualbragg/batch.h>
#include <dualbragg/normal.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOTS = 7, PARAMETERS = 2 };
static const db_parameter batch_parameters[PARAMETERS] = { DB_CELL_A, DB_DISTANCE };

/* Shots borrow the lists of one experiment. */
typedef struct {
    db_experiment own[SHOTS];
    const db_experiment *shots[SHOTS];
    double *image[2][SHOTS], *tangent[2][SHOTS], *cotangent[SHOTS];
    double gradient[2][SHOTS][PARAMETERS], chi2[2][SHOTS],
        curvature[2][SHOTS][PARAMETERS * PARAMETERS];
    double *sum[2]; /* [entries + 1] */
} many;

static void make_shots(const table_scene *s, many *m) {
    memset(m, 0, sizeof *m);
    for (int i = 0; i < SHOTS; i++) {
        m->own[i] = s->e;
        m->own[i].crystal.misset[i % 3] += 0.7 * i;
        m->own[i].crystal.cell[0] += 0.1 * i;
        m->own[i].beam.wavelength *= 1 + 0.001 * i;
        m->own[i].beam.scale = 1 + 0.2 * i;
        m->own[i].structure_factors = (db_structure_factors){ 0 }; /* not looked at */
        m->shots[i] = &m->own[i];
        for (int n = 0; n < 2; n++) {
            m->image[n][i] = scene_numbers(s->pixels);
            m->tangent[n][i] = scene_numbers(s->pixels);
        }
        m->cotangent[i] = scene_numbers(s->pixels);
        for (size_t p = 0; p < s->pixels; p++)
            m->cotangent[i][p] = s->cotangent[p] * (i - 2.5) + 0.1;
    }
    for (int n = 0; n < 2; n++) m->sum[n] = scene_numbers(s->entries + 1);
}

static void clear_shots(many *m) {
    for (int i = 0; i < SHOTS; i++) {
        for (int n = 0; n < 2; n++) {
            free(m->image[n][i]);
            free(m->tangent[n][i]);
        }
        free(m->cotangent[i]);
    }
    for (int n = 0; n < 2; n++) free(m->sum[n]);
}

/* One plan, shot after shot: images by all four calls, in turn. */
static void one_by_one(table_scene *s, many *m, const db_plan_vector *directions,
                       db_precision precision) {
    db_plan *plan = scene_plan(s, batch_parameters, PARAMETERS, precision);
    for (int i = 0; i < SHOTS; i++) {
        db_experiment e = m->own[i];
        e.structure_factors = s->e.structure_factors;
        db_plan_vector v = scene_vector(s, s->gradient);
        assert_int_equal(db_plan_update(plan, &e), DB_OK);
        assert_int_equal(db_plan_normal(plan, DB_FLOAT64, m->cotangent[i], NULL, &m->chi2[0][i],
                                        m->gradient[0][i], m->curvature[0][i]),
                         DB_OK);
        v.parameters = m->gradient[0][i];
        assert_int_equal(db_plan_vjp(plan, m->cotangent[i], NULL, &v), DB_OK);
        for (size_t n = 0; n <= s->entries; n++) m->sum[0][n] += s->gradient[n];
        assert_int_equal(db_plan_jvp(plan, &directions[i], m->image[0][i], m->tangent[0][i]),
                         DB_OK);
        assert_int_equal(db_plan_forward(plan, m->image[0][i]), DB_OK);
    }
    db_plan_destroy(&plan);
}

static void compare_batch(table_scene *s, many *m, const db_plan_vector *directions,
                          db_plan_batch *batch) {
    db_plan_vector gradients[SHOTS], sums = scene_vector(s, m->sum[1]);
    const size_t bytes = s->pixels * sizeof(double);
    double normal[SHOTS][PARAMETERS];
    assert_int_equal(db_plan_batch_normal(batch, m->shots, SHOTS, DB_FLOAT64,
                                          (const void *const *)m->cotangent, NULL, m->chi2[1],
                                          normal[0], m->curvature[1][0]),
                     DB_OK);
    assert_memory_equal(m->chi2[0], m->chi2[1], sizeof m->chi2[0]);
    assert_memory_equal(m->curvature[0], m->curvature[1], sizeof m->curvature[0]);
    for (int i = 0; i < SHOTS; i++) {
        gradients[i] = (db_plan_vector)DB_PLAN_VECTOR_INIT;
        gradients[i].parameters = m->gradient[1][i];
    }
    assert_int_equal(db_plan_batch_vjp(batch, m->shots, SHOTS, (const void *const *)m->cotangent,
                                       NULL, gradients, &sums),
                     DB_OK);
    assert_memory_equal(m->gradient[0], m->gradient[1], sizeof m->gradient[0]);
    assert_memory_equal(m->sum[0], m->sum[1], (s->entries + 1) * sizeof(double));
    assert_int_equal(db_plan_batch_jvp(batch, m->shots, SHOTS, directions,
                                       (void *const *)m->image[1], (void *const *)m->tangent[1]),
                     DB_OK);
    for (int i = 0; i < SHOTS; i++) assert_memory_equal(m->tangent[0][i], m->tangent[1][i], bytes);
    assert_int_equal(db_plan_batch_forward(batch, m->shots, SHOTS, (void *const *)m->image[1]),
                     DB_OK);
    for (int i = 0; i < SHOTS; i++) assert_memory_equal(m->image[0][i], m->image[1][i], bytes);
}

static db_plan_batch *batch_of(table_scene *s, db_precision precision) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan_batch *batch;
    options.precision = precision;
    options.pixel_type = DB_FLOAT64;
    options.parameters = batch_parameters;
    options.parameter_count = PARAMETERS;
    assert_int_equal(db_plan_batch_create(s->context, &s->e, &options, &batch), DB_OK);
    assert_int_equal(db_plan_describe(db_plan_batch_plan(batch)).parameter_count, PARAMETERS);
    return batch;
}

/* Other structure factors, for the experiment, the batch and what is expected of it. */
static void change_list(table_scene *s, many *m, const db_plan_vector *directions,
                        db_precision precision, db_plan_batch *batch) {
    db_structure_factors *f = &s->e.structure_factors;
    for (size_t i = 0; i < s->entries; i++) f->amplitude[i] += 0.5 * (double)(i % 5);
    f->default_F += 1;
    assert_int_equal(db_plan_batch_update(batch, &s->e), DB_OK);
    memset(m->sum[0], 0, (s->entries + 1) * sizeof *m->sum[0]);
    one_by_one(s, m, directions, precision);
}

static void a_batch_equals_its_shots(void **state) {
    const configuration *which = *state;
    table_scene s = { 0 };
    scene_arrange(which, &s);
    for (int precision = 0; precision < 2; precision++) {
        double step[PARAMETERS] = { 0.2, -0.1 };
        many m;
        make_shots(&s, &m);
        db_plan_vector directions[SHOTS];
        for (int i = 0; i < SHOTS; i++) {
            directions[i] = scene_vector(&s, s.direction);
            directions[i].parameters = step;
        }
        db_context_set_threads(s.context, 1);
        one_by_one(&s, &m, directions, (db_precision)precision);
        db_plan_batch *batch = batch_of(&s, (db_precision)precision);
        for (int threads = 1; threads <= 4; threads++) {
            db_context_set_threads(s.context, threads);
            if (threads == 3) change_list(&s, &m, directions, (db_precision)precision, batch);
            compare_batch(&s, &m, directions, batch);
        }
        clear_shots(&m);
        db_plan_batch_destroy(&batch);
        assert_null(batch);
    }
    scene_clear(&s);
}

static int stop_at_half(void *user, double fraction) {
    *(int *)user += 1;
    return fraction > 0.5;
}

/* The first shot that fails is named, whichever thread renders it. */
static void a_batch_names_the_shot(void **state) {
    const configuration *which = *state;
    table_scene s = { 0 };
    scene_arrange(which, &s);
    many m;
    make_shots(&s, &m);
    db_plan_batch *batch = batch_of(&s, DB_PRECISION_MIXED);
    db_plan_vector sums = scene_vector(&s, m.sum[0]);
    const double kept = m.own[3].crystal.cell[1];
    int calls = 0;
    uint32_t *value = calloc(s.entries + 1, sizeof *value);
    assert_non_null(value);
    for (int threads = 1; threads <= 3; threads++) {
        db_context_set_threads(s.context, threads);
        m.own[3].crystal.cell[1] = m.own[5].crystal.cell[1] = -1;
#define FORWARD db_plan_batch_forward(batch, m.shots, SHOTS, (void *const *)m.image[1])
        scene_refuses(&s, FORWARD, DB_ERROR_INPUT, "shot 3: ");
        m.own[3].crystal.cell[1] = m.own[5].crystal.cell[1] = kept;
        m.own[6].oversample += 1;
        scene_refuses(&s, FORWARD, DB_ERROR_USAGE, "shot 6: plan update");
        m.own[6].oversample -= 1;
        m.shots[2] = NULL;
        scene_refuses(&s, FORWARD, DB_ERROR_USAGE, "shot 2: expected an experiment");
        m.shots[2] = &m.own[2];
        assert_int_equal(FORWARD, DB_OK);
        db_context_set_progress(s.context, stop_at_half, &calls);
        if (threads == 1) /* of several the first one tells, now and then */
            scene_refuses(&s, FORWARD, DB_ERROR_CANCELLED, "progress");
        else
            (void)FORWARD;
        db_context_set_progress(s.context, NULL, NULL);
    }
    assert_true(calls > 3);
#define VJP(gradients, sums)                                                                       \
    db_plan_batch_vjp(batch, m.shots, SHOTS, (const void *const *)m.cotangent, NULL, gradients,    \
                      sums)
    scene_refuses(&s, VJP(NULL, NULL), DB_ERROR_USAGE, "NULL for both");
    sums.parameters = m.gradient[0][0];
    scene_refuses(&s, VJP(NULL, &sums), DB_ERROR_USAGE, "each shot's own");
    sums.parameters = NULL;
    m.cotangent[4][0] = 0;
    assert_int_equal(VJP(NULL, &sums), DB_OK);
    memcpy(m.sum[1], m.sum[0], (s.entries + 1) * sizeof(double));
    static const double bad[] = { NAN, 1e300 };
    static const char *const words[] = { "shot 4: cotangent of pixel (0, 0)", "shot 4: gradient" };
    for (int i = 0; i < 2; i++) { /* nothing of it is left in later sums */
        m.cotangent[4][0] = bad[i];
        scene_refuses(&s, VJP(NULL, &sums), DB_ERROR_INPUT, words[i]);
        m.cotangent[4][0] = 0;
        assert_int_equal(VJP(NULL, &sums), DB_OK);
        assert_memory_equal(m.sum[0], m.sum[1], (s.entries + 1) * sizeof(double));
    }
    /* a shot's own gradient, too */
    db_plan_vector gradients[SHOTS];
    for (int i = 0; i < SHOTS; i++) gradients[i] = (db_plan_vector)DB_PLAN_VECTOR_INIT;
    for (int i = 0; i < SHOTS; i++) gradients[i].parameters = m.gradient[1][i];
    gradients[1].amplitudes = s.gradient;
    assert_int_equal(VJP(gradients, &sums), DB_OK);
    assert_memory_equal(m.sum[0], m.sum[1], (s.entries + 1) * sizeof(double));
    /* all entries share one value: its gradient is the sum */
    assert_int_equal(VJP(NULL, &sums), DB_OK);
    double all = 0, shared = 0, largest_one = 0;
    for (size_t i = 0; i < s.entries; i++) {
        all += m.sum[0][i];
        largest_one = fmax(largest_one, fabs(m.sum[0][i]));
    }
    assert_int_equal(db_plan_batch_share_amplitudes(batch, value, 1), DB_OK);
    sums.amplitudes = &shared;
    assert_int_equal(VJP(NULL, &sums), DB_OK);
    assert_true(largest_one > 0 && fabs(shared - all) < 1e-10 * largest_one);
    assert_int_equal(db_plan_batch_forward(batch, NULL, 0, NULL), DB_OK);
#undef VJP
#undef FORWARD
    free(value);
    clear_shots(&m);
    db_plan_batch_destroy(&batch);
    scene_clear(&s);
}

int main(void) {
    static const struct {
        const char *name, *scene;
        CMUnitTestFunction test;
    } all[] = {
        { "sampled", "structure factor list", a_batch_equals_its_shots },
        { "closed", "closed: structure factors", a_batch_equals_its_shots },
        { "errors", "structure factor list", a_batch_names_the_shot },
    };
    enum { COUNT = sizeof all / sizeof all[0] };
    struct CMUnitTest tests[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        tests[i] = (struct CMUnitTest){ all[i].name, all[i].test, NULL, NULL,
                                        (void *)(uintptr_t)configuration_named(all[i].scene) };
    return _cmocka_run_group_tests("batches", tests, COUNT, NULL, NULL);
}
