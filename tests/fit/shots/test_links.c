/* Unknowns of quantities of a series: of each crystal, and between the knots of its frames. */
#include "support/unit_test.h"
#include "fit/shots/links.h"

#include <math.h>

enum { FIRST = 5, SECOND = 3, FRAMES = FIRST + SECOND, KNOTS = 3, SHARED = 1 };

/* Linked quantities: one of all frames, one at knots, one of each crystal, one of each frame. */
enum { OF_ALL, AT_KNOTS, BY_CRYSTAL, OF_FRAME, QUANTITIES };

static const db_series_crystal crystal[2] = { { .first = 0, .count = FIRST },
                                              { .first = FIRST, .count = SECOND } };

static db_joint_links links_of_two(void) {
    static const size_t values[QUANTITIES] = { 1, 2 * KNOTS, 2, FRAMES };
    static const unsigned char varies[QUANTITIES] = { DB_VARIES_NOT, DB_VARIES_AT_KNOTS,
                                                      DB_VARIES_BY_CRYSTAL, DB_VARIES_NOT };
    db_joint_links links = { .shots = FRAMES, .crystals = 2, .crystal = crystal, .shared = SHARED };
    links.order.shared = QUANTITIES;
    for (size_t l = 0; l < QUANTITIES; l++) {
        links.first[l] = links.unknowns;
        links.values[l] = values[l];
        links.varies[l] = varies[l];
        links.unknowns += values[l];
    }
    return links;
}

/* Quantity of a frame that is linear in its number within its crystal comes back, and knots of one crystal do not move
 * another. */
static void knots_are_each_crystals_own(void **state) {
    (void)state;
    const db_joint_links links = links_of_two();
    double unknown[1 + 2 * KNOTS + 2 + FRAMES] = { 0 }, value[QUANTITIES];
    unknown[0] = 7;
    for (size_t k = 0; k < KNOTS; k++) {
        unknown[1 + k] = 10 + (double)k;         /* from 10 to 12 on the frames of the first */
        unknown[1 + KNOTS + k] = -4 * (double)k; /* from 0 to -8 */
    }
    unknown[1 + 2 * KNOTS] = 100;
    unknown[2 + 2 * KNOTS] = 200;
    for (size_t k = 0; k < FRAMES; k++) unknown[3 + 2 * KNOTS + k] = 1000 + (double)k;
    for (size_t shot = 0; shot < FRAMES; shot++) {
        const int second = shot >= FIRST;
        db_joint_links_values(&links, shot, unknown, value);
        assert_true(value[OF_ALL] == 7);
        assert_true(value[BY_CRYSTAL] == (second ? 200 : 100));
        assert_true(value[OF_FRAME] == 1000 + (double)shot);
        assert_true(fabs(value[AT_KNOTS] -
                         (second ? -4 * (double)(shot - FIRST) : 10 + 0.5 * (double)shot)) < 1e-12);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(knots_are_each_crystals_own) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
