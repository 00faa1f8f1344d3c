/* Records that are made of what single boxes say, at any point and with any weights, against the sums
 * of the boxes' quadratic models. */

#include "support/unit_test.h"
#include "fit/linear/linearization.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    REFLECTIONS = 9,
    BOXES = 7,
    LOCAL = 3,
    SHARED = 4,
    MEETS = 2, /* shared quantities that a box knows */
    QUANTITIES = LOCAL + SHARED,
    MOST = LOCAL + MEETS,
    OWN = 1 + MOST /* unknowns of a box */
};

static unsigned long drawn = 5;
static double draw(void) {
    drawn = (drawn * 69069 + 1234567) & 0xffffffff;
    return (double)drawn / 4294967296.0 - 0.5;
}

static void *memory[2];
static db_linearization linearization;
static db_reduced_equations record;
static double normal[BOXES][OWN][OWN], gradient[BOXES][OWN]; /* halves; intensities first */
static double intensity[REFLECTIONS], local[LOCAL], shared[SHARED];

static void draw_box(size_t b) {
    const size_t places[MOST] = { 1, LOCAL + b % 2, 0, 2, LOCAL + 2 + b % 2 };
    memset(normal[b], 0, sizeof normal[b]);
    for (int pixel = 0; pixel < 8; pixel++) {
        double row[OWN];
        for (size_t i = 0; i < OWN; i++) row[i] = draw();
        for (size_t i = 0; i < OWN; i++)
            for (size_t j = 0; j < OWN; j++) normal[b][i][j] += row[i] * row[j];
    }
    for (size_t i = 0; i < OWN; i++) gradient[b][i] = draw();
    float *to = linearization.normal + b * (MOST * (MOST + 1) / 2);
    for (size_t i = 0; i < MOST; i++) {
        linearization.place[b * MOST + i] = (uint16_t)places[i];
        linearization.slope[b * MOST + i] = (float)gradient[b][1 + i];
        linearization.mixed[b * MOST + i] = (float)normal[b][0][1 + i];
        for (size_t j = 0; j <= i; j++) *to++ = (float)normal[b][1 + i][1 + j];
    }
    linearization.moved[b] = MOST;
    linearization.reflection[b] = (uint32_t)(b % (REFLECTIONS - 3));
    linearization.intensity[b] = (float)draw();
    linearization.loss[b] = (float)(2 + draw());
    linearization.pull[b] = (float)gradient[b][0];
    linearization.curvature[b] = (float)normal[b][0][0];
    linearization.partiality[b] = (float)(1 + draw());
    linearization.light[b] = (float)(1 + draw());
    for (int i = 0; i < 3; i++) linearization.hkl[b][i] = (int16_t)(10 * (int)b + i);
    record.trust[b] = (float)(0.6 + draw());
}

static int set_up(void **state) {
    (void)state;
    const size_t size[2] = { db_linearization_size(BOXES, LOCAL, SHARED, MOST),
                             db_reduced_size(BOXES, LOCAL, SHARED, MEETS) };
    for (int k = 0; k < 2; k++)
        if (!(memory[k] = calloc(1, size[k]))) return -1;
    linearization = db_linearization_in(BOXES, LOCAL, SHARED, MOST, memory[0]);
    record = db_reduced_in(BOXES, LOCAL, SHARED, MEETS, memory[1]);
    if ((char *)(linearization.hkl + BOXES) > (char *)memory[0] + size[0]) return -1;
    for (size_t b = 0; b < BOXES; b++) draw_box(b);
    *linearization.prior_loss = 0.3;
    for (size_t i = 0; i < QUANTITIES; i++) linearization.at[i] = draw();
    for (size_t i = 0; i < LOCAL; i++) {
        linearization.lower[i] = -9;
        linearization.upper[i] = 9;
        linearization.near[i] = 1e-6;
        linearization.prior_slope[i] = draw();
        linearization.prior_curvature[i] = 0.6 + draw();
    }
    for (size_t h = 0; h < REFLECTIONS; h++) intensity[h] = draw();
    for (size_t i = 0; i < LOCAL; i++) local[i] = linearization.at[i] + 0.1 * draw();
    for (size_t i = 0; i < SHARED; i++) shared[i] = linearization.at[LOCAL + i] + 0.1 * draw();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) free(memory[k]);
    return 0;
}

static double change_of(size_t k) {
    return (k < LOCAL ? local[k] : shared[k - LOCAL]) - linearization.at[k];
}

/* Loss of a box for changes of all that it depends on; half its slopes there. */
static double box_at(size_t b, double slope[OWN]) {
    double x[OWN], loss = (double)linearization.loss[b];
    x[0] = intensity[linearization.reflection[b]] - (double)linearization.intensity[b];
    for (size_t i = 0; i < MOST; i++) x[1 + i] = change_of(linearization.place[b * MOST + i]);
    for (size_t i = 0; i < OWN; i++) {
        slope[i] = gradient[b][i];
        for (size_t j = 0; j < OWN; j++) slope[i] += normal[b][i][j] * x[j];
        loss += x[i] * (gradient[b][i] + slope[i]);
    }
    return loss;
}

static void near(double found, double expected) {
    if (!(fabs(found - expected) < 1e-5 * (1 + fabs(expected))))
        fail_msg("%.9g, expected %.9g", found, expected);
}

static void make_record(void) {
    const db_linearization_point here = { intensity, local, shared };
    double *const room = malloc(db_linearization_room(&linearization) * sizeof *room);
    assert_non_null(room);
    db_linearization_reduce(&linearization, &here, room, &record);
    free(room);
}

/* Loss, slopes and curvatures of the boxes and of all. */
static void record_is_that_of_the_boxes(void **state) {
    (void)state;
    double all = *linearization.prior_loss, sum[QUANTITIES] = { 0 };
    static double matrix[QUANTITIES * QUANTITIES];
    const unsigned char held[LOCAL] = { 0 };
    const db_linearization_point here = { intensity, local, shared };
    make_record();
    for (size_t b = 0; b < BOXES; b++) {
        const double trust = (double)record.trust[b];
        double slope[OWN];
        const double loss = box_at(b, slope);
        near((double)record.pull[b], trust * slope[0]);
        near((double)record.curvature[b], trust * normal[b][0][0]);
        near(db_linearization_own(&linearization, b, &here),
             intensity[linearization.reflection[b]] - slope[0] / normal[b][0][0]);
        all += trust * loss;
        for (size_t i = 0; i < MOST; i++) {
            const size_t k = linearization.place[b * MOST + i];
            sum[k] += trust * slope[1 + i];
            for (size_t j = 0; j < MOST; j++)
                matrix[k * QUANTITIES + linearization.place[b * MOST + j]] +=
                    trust * normal[b][1 + i][1 + j];
        }
        assert_int_equal(record.reflection[b], linearization.reflection[b]);
        assert_memory_equal(record.hkl[b], linearization.hkl[b], sizeof record.hkl[b]);
    }
    for (size_t i = 0; i < LOCAL; i++) {
        const double z = change_of(i), slope = linearization.prior_slope[i],
                     bend = linearization.prior_curvature[i];
        all += z * (2 * slope + bend * z);
        sum[i] += slope + bend * z;
        matrix[i * (QUANTITIES + 1)] += bend;
    }
    near(*record.loss, all);
    /* the elimination has a test of its own */
    void *const other = calloc(1, db_reduced_size(BOXES, LOCAL, SHARED, MEETS));
    assert_non_null(other);
    db_reduced_equations expected = db_reduced_in(BOXES, LOCAL, SHARED, MEETS, other);
    db_reduced_eliminate(&(db_normal_equations){ sum, matrix, held }, &expected);
    for (size_t i = 0; i < LOCAL * LOCAL; i++) near(record.factor[i], expected.factor[i]);
    for (size_t i = 0; i < LOCAL; i++) near(record.own[i], expected.own[i]);
    for (size_t i = 0; i < SHARED; i++) near(record.slope[i], expected.slope[i]);
    for (size_t i = 0; i < SHARED * SHARED; i++) near(record.normal[i], expected.normal[i]);
    for (size_t b = 0; b < BOXES; b++) {
        double mixed[QUANTITIES] = { 0 }, room[LOCAL];
        for (size_t i = 0; i < MOST; i++)
            mixed[linearization.place[b * MOST + i]] =
                (double)record.trust[b] * normal[b][0][1 + i];
        db_reduced_box(&expected, b, mixed, room);
        for (size_t i = 0; i < LOCAL; i++)
            near((double)record.tail[b * LOCAL + i], (double)expected.tail[b * LOCAL + i]);
        for (size_t i = 0; i < MEETS; i++) {
            const size_t k = LOCAL + record.place[b * MEETS + i];
            near((double)record.by_shared[b * MEETS + i], mixed[k]);
            mixed[k] = NAN; /* each comes once */
        }
    }
    free(other);
}

/* A local quantity at its bound, pushed against it, stays there; pushed inward it moves. */
static void bounds_hold(void **state) {
    (void)state;
    make_record();
    const int down = record.own[0] > 0; /* half the slope by the first quantity, scaled */
    assert_true(record.factor[0] > 0);
    *(down ? &linearization.lower[0] : &linearization.upper[0]) = local[0];
    make_record();
    assert_true(record.factor[0] <= 0);
    *(down ? &linearization.lower[0] : &linearization.upper[0]) = down ? -9 : 9;
    *(down ? &linearization.upper[0] : &linearization.lower[0]) = local[0];
    make_record();
    assert_true(record.factor[0] > 0);
    *(down ? &linearization.upper[0] : &linearization.lower[0]) = down ? 9 : -9;
}

static void loss_of_other_weights(void **state) {
    (void)state;
    const float trust[BOXES] = { 0.5f, 0, 1, 1, 0, 0, 2 };
    double sum = *linearization.prior_loss;
    for (size_t b = 0; b < BOXES; b++) sum += (double)trust[b] * (double)linearization.loss[b];
    near(db_linearization_loss(&linearization, trust), sum);
}

/* With the light held, a change of quantities alone is one of them and of the intensity, which falls as the light grows. */
static void light_is_held(void **state) {
    (void)state;
    const size_t bytes = db_linearization_size(BOXES, LOCAL, SHARED, MOST);
    const double growth[QUANTITIES] = { 0, 0, 0, 0.3, -0.2, 0, 0.7 };
    double kept[REFLECTIONS], expected[BOXES], slope[OWN];
    void *const copy = malloc(bytes);
    assert_non_null(copy);
    memcpy(copy, memory[0], bytes);
    memcpy(kept, intensity, sizeof kept);
    for (size_t b = 0; b < BOXES; b++) {
        double *const of = &intensity[linearization.reflection[b]], grown = 0;
        for (size_t k = 0; k < QUANTITIES; k++)
            for (size_t i = 0; i < MOST; i++)
                if (linearization.place[b * MOST + i] == k) grown += growth[k] * change_of(k);
        *of = kept[linearization.reflection[b]] - (double)linearization.intensity[b] * grown;
        expected[b] = box_at(b, slope);
        *of = kept[linearization.reflection[b]];
    }
    db_linearization_hold_light(&linearization, growth);
    for (size_t b = 0; b < BOXES; b++) {
        float trust[BOXES];
        memcpy(trust, record.trust, sizeof trust);
        for (size_t k = 0; k < BOXES; k++) record.trust[k] = k == b;
        *linearization.prior_loss = 0;
        memset(linearization.prior_slope, 0, LOCAL * sizeof(double));
        memset(linearization.prior_curvature, 0, LOCAL * sizeof(double));
        make_record();
        near(*record.loss, expected[b]);
        memcpy(record.trust, trust, sizeof trust);
    }
    memcpy(memory[0], copy, bytes);
    free(copy);
}

static int is_sound(void) { return db_linearization_is_sound(&linearization, REFLECTIONS, MEETS); }

/* A number that is used as a place is beyond the list for a while. */
#define BEYOND(number, end, sound)                                                                 \
    do {                                                                                           \
        const __typeof__(number) kept = number;                                                    \
        (number) = (__typeof__(number))((end)-1);                                                  \
        assert_true(sound);                                                                        \
        (number) = (__typeof__(number))(end);                                                      \
        assert_false(sound);                                                                       \
        (number) = kept;                                                                           \
    } while (0)

/* What comes from a file may be anything. */
static void places_beyond_lists_are_noticed(void **state) {
    (void)state;
    const size_t last = BOXES - 1;
    make_record();
    assert_true(is_sound() && db_reduced_is_sound(&record, REFLECTIONS));
    BEYOND(linearization.reflection[last], REFLECTIONS, is_sound());
    BEYOND(linearization.moved[last], MOST + 1, is_sound());
    BEYOND(linearization.place[last * MOST + MOST - 1], QUANTITIES, is_sound());
    BEYOND(record.reflection[last], REFLECTIONS, db_reduced_is_sound(&record, REFLECTIONS));
    BEYOND(record.place[last * MEETS], SHARED, db_reduced_is_sound(&record, REFLECTIONS));
    linearization.place[last * MOST] =
        LOCAL; /* more shared quantities than a record has room for */
    assert_false(is_sound());
    linearization.place[last * MOST] = 1;
    assert_true(is_sound());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(record_is_that_of_the_boxes),
        cmocka_unit_test(places_beyond_lists_are_noticed),
        cmocka_unit_test(bounds_hold),
        cmocka_unit_test(loss_of_other_weights),
        cmocka_unit_test(light_is_held),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
