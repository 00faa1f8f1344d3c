/** @file
 * Verdict on a refined model: may it be used? */
#ifndef DUALBRAGG_FIT_VERDICT_H
#define DUALBRAGG_FIT_VERDICT_H

#include <dualbragg/context.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Tests of a model, on spots that were found without any model and on intensities. The first ones compare it with
 * rivals: what is found is by how much ln of the likelihood of the spots is above that with the rival. */
typedef enum db_fit_test_kind {
    DB_FIT_TEST_LATTICE, /**< over no lattice: spots lie anywhere */
    DB_FIT_TEST_ROWS,    /**< over a lattice with a wrong edge: spots lie anywhere along its rows */
    DB_FIT_TEST_SMALLER, /**< added to a cell 2 to 4 times smaller, the likeliest */
    DB_FIT_TEST_LARGER,  /**< over a cell 2 to 4 times larger, the likeliest */
    DB_FIT_TEST_MOVED, /**< over the model turned, its image shifted, by more than spots are wide */
    DB_FIT_TEST_START, /**< over the model before refinement */
    /** over spots anywhere, in the quarter of them, all neighbours, where it is least */
    DB_FIT_TEST_QUARTERS,
    DB_FIT_RIVALS, /**< number of those; the following are none of them */
    /** known: order of measured intensities is that of calculated ones, in standard deviations by
     * chance */
    DB_FIT_TEST_INTENSITIES = DB_FIT_RIVALS,
    DB_FIT_TEST_BRIGHTNESS, /**< known: light of the model / measured light */
    /** free: strong pixels that the refined model explains / that the start did */
    DB_FIT_TEST_EXPLAINED,
    /** edges refined, distance held: by how many errors the data ask for another one, if off by 0.5 % or
     * more; else 0 */
    DB_FIT_TEST_DISTANCE,
    DB_FIT_TESTS
} db_fit_test_kind;

/** A test of a model. */
typedef struct db_fit_test {
    double found;       /**< NAN: the test could not be made */
    double least, most; /**< passed if found is between them */
    int passed;         /**< 1, also if the test could not be made */
} db_fit_test;

/** Verdict on a model: may it be used? */
typedef struct db_fit_verdict {
    int usable; /**< 1: all tests are passed; orientation and cell may be used */
    db_fit_test test[DB_FIT_TESTS];
    size_t spots; /**< of the image, in the resolution range; the strongest 1000 at most */
    size_t at;    /**< of them, those that are likelier to be of the lattice than to lie anywhere */
    double position_rms; /**< pixels: of those of the lattice, from their places */
    size_t intensities;  /**< that were compared with calculated ones */
    char reason[448];    /**< which test failed, and what may be wrong; "" */
    /** free intensities: spots of the final data, and the part of them whose light in the model is that
     * measured within a factor of 1.5; NAN: they are fewer than 20 */
    size_t light_spots;
    double light_part;
    int intensities_usable; /**< 0: light_part is below 2/3 */
} db_fit_verdict;

/** Name of a test, such as "places".
 *
 * @param kind the test
 * @return static storage; NULL out of range */
DB_API const char *db_fit_test_name(db_fit_test_kind kind);

/** What the figure of a test is, in words.
 *
 * @param kind the test
 * @return static storage; NULL out of range */
DB_API const char *db_fit_test_meaning(db_fit_test_kind kind);

#ifdef __cplusplus
}
#endif
#endif
