/** @file
 * Verdict on a refined model: may it be used? */
#ifndef DUALBRAGG_FIT_VERDICT_H
#define DUALBRAGG_FIT_VERDICT_H

#include <dualbragg/context.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Tests of a model, with spots that were found without a model, and with intensities. The first tests
 * compare it with rivals; their result is the log likelihood of the spots minus the one with the rival. */
typedef enum db_fit_test_kind {
    DB_FIT_TEST_LATTICE, /**< no lattice: spots at random places */
    DB_FIT_TEST_ROWS,    /**< a lattice with a wrong edge: spots at random places along its rows */
    DB_FIT_TEST_SMALLER, /**< a cell 2 to 4 times smaller, the likeliest */
    DB_FIT_TEST_LARGER,  /**< a cell 2 to 4 times larger, the likeliest */
    DB_FIT_TEST_MOVED,   /**< the model turned, or its image shifted, by more than spot widths */
    DB_FIT_TEST_STRETCHED, /**< the model with other edges, which move spots by more than their widths */
    DB_FIT_TEST_START, /**< the model before refinement */
    /** random places, for the quarter of neighbouring spots with the least margin */
    DB_FIT_TEST_QUARTERS,
    /** random places, for the spots of one half of the detector, by the model fitted to the other half */
    DB_FIT_TEST_HALVES,
    DB_FIT_RIVALS, /**< number of rivals; the following tests have none */
    /** known: agreement in the order of measured and calculated
     * intensities, in standard deviations of chance */
    DB_FIT_TEST_INTENSITIES = DB_FIT_RIVALS,
    DB_FIT_TEST_BRIGHTNESS, /**< known: light of the model / measured light */
    /** free: strong pixels explained by the refined model / by the start */
    DB_FIT_TEST_EXPLAINED,
    /** edges refined, distance held: errors between the held distance and
     * the one that the data ask for, if off by 0.5 % or more; else 0 */
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
    size_t at; /**< spots that are likelier at reflections of the lattice than at random places */
    double position_rms; /**< pixels: distance of these spots from their predicted places */
    size_t intensities;  /**< that were compared with calculated ones */
    char reason[448];    /**< failed test and possible causes; "" */
    /** free intensities: spots of the final data, and the fraction whose brightness
     * in the model is right within a factor of 1.5; NAN: fewer than 20 spots */
    size_t light_spots;
    double light_part;
    int intensities_usable; /**< 0: light_part is below 2/3 */
    /** frame of a rotation series: part of the light of its spots, by squares, that the model
     * explains; NAN: not known */
    double light_explained;
    /** letter of a centring (A, B, C, I, F, R) that nobody has named, if spots are at its reflections
     * only; 0: none. Places are right then, but reflections are predicted that do not exist */
    int centring;
    /** log likelihood of the spots with its reflections minus with all; 0: no centring */
    double centring_gain;
} db_fit_verdict;

/** Name of a test, such as "rows".
 *
 * @param kind the test
 * @return static storage; NULL out of range */
DB_API const char *db_fit_test_name(db_fit_test_kind kind);

/** Meaning of the result of a test.
 *
 * @param kind the test
 * @return static storage; NULL out of range */
DB_API const char *db_fit_test_meaning(db_fit_test_kind kind);

#ifdef __cplusplus
}
#endif
#endif
