/** @file
 * Prediction: which reflections an image shows, where, how wide and how bright. For spots in closed
 * form (db_spread.spots), from the formula that renders them (docs/theory/spots.md). */
#ifndef DUALBRAGG_SPOTS_H
#define DUALBRAGG_SPOTS_H

#include <dualbragg/experiment.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A reflection on a panel. All sources and all Gaussians of heavier tails are one spot; what a
 * rotation shows where the node enters the Ewald sphere and where it leaves it are two. */
typedef struct db_spot {
    int hkl[3];
    size_t panel;
    size_t source;        /**< the one that gives most of the photons */
    double position[2];   /**< of its middle (pixels of the panel: fast, slow): a partial reflection
                             appears where the blocks that diffract send it, off its node */
    double covariance[3]; /**< of its photons' places (pixels^2): fast, slow, and of both */
    double photons;       /**< expected, of the whole spot */
    /** distance of the node to the Ewald sphere in standard deviations of the blocks, of the best
     * source: negative inside the sphere. Of a rotation: at the recorded angle at which the node is
     * nearest to the sphere, 0 if it passes through it. */
    double excitation;
    double
        turn; /**< the same in degree: of the rotation of the crystal that would bring it there */
    /** of a still: exp(-excitation^2/2), the part of the brightness it would have on the sphere; of a
     * rotation: the part of the passage that is recorded, 0 to 1 */
    double recorded;
    double angle;       /**< at which it is recorded (degree from the start of the rotation) */
    double resolution;  /**< d spacing (angstrom) */
    double width;       /**< standard deviation of the blocks' distances as a turn (degree), of a
                             still: turn/excitation */
    double reserved[3]; /**< 0: room for new members, see docs/decisions/public-structs.md */
} db_spot;

/** Which spots are listed: those for which all of this holds, and whose middle is on a panel. */
typedef struct db_spot_options {
    size_t size; /**< sizeof(db_spot_options): set by DB_SPOT_OPTIONS_INIT */
    /** from the Ewald sphere, at most (standard deviations); 0 to 10 */
    double most_excitation;
    /** ... and so much farther (degree, as db_spot.turn, 0 to 10): for an orientation or spreads that
     * are not known well */
    double most_turn;
    double least_photons; /**< of the whole spot, at least */
    double reserved[8];   /**< 0: room for new members, see docs/decisions/public-structs.md */
} db_spot_options;
/** Spots within three standard deviations, however faint. */
#define DB_SPOT_OPTIONS_INIT                                                                       \
    {                                                                                              \
        sizeof(db_spot_options), 3, 0, 0, { 0 }                                                    \
    }

/** A list of spots. */
typedef struct db_predicted_spots {
    size_t count;
    db_spot *spot; /**< owned; in the order of h, k, l, panel and angle */
} db_predicted_spots;

/** Lists the spots of an experiment. Reflections whose structure factor is 0 have none; 0 0 0 is left
 * out.
 *
 * @param context receives the message of a failure
 * @param experiment with spots in closed form
 * @param options NULL: defaults
 * @param predicted filled, to be cleared by the caller; empty on failure
 * @return DB_OK; DB_ERROR_USAGE for options out of range; DB_ERROR_UNSUPPORTED where spots are
 *     sampled; DB_ERROR_INPUT; DB_ERROR_MEMORY */
DB_API db_status db_spots_predict(db_context *context, const db_experiment *experiment,
                                  const db_spot_options *options, db_predicted_spots *predicted);

/** Lists the reflections that an image of sampled spots shows: to each belongs what samples next to
 * its node add to the pixels. Photons, position (their mean place) and covariance are those of what
 * the image shows, so those of spots at an edge are of the part on the panel, and all photons
 * together are the image's. Pixels whose samples are next to several nodes are divided among these;
 * the faintest, which together hold 1e-3 of all photons, by a part of their samples. What is said of the Ewald sphere
 * (excitation, turn, recorded, angle, width) is NAN. Same result for any number of threads.
 *
 * @param context receives the message of a failure
 * @param experiment with sampled spots and flat panels
 * @param image photons of the crystal alone, without water and amorphous matter: all panels one after
 *     the other, as db_plan_forward renders them; 0 where a pixel does not count
 * @param options of which least_photons counts; 0 or NULL: 1e-4 of the brightest reflection's
 * @param spots filled, in the order of h, k, l and panel, to be cleared by the caller; empty on
 *     failure. 0 0 0 is left out
 * @return DB_OK; DB_ERROR_USAGE for options out of range; DB_ERROR_UNSUPPORTED for spots in closed
 *     form and curved detectors; DB_ERROR_INPUT, naming a pixel whose photons are negative or not
 *     finite; DB_ERROR_MEMORY */
DB_API db_status db_spots_of_image(db_context *context, const db_experiment *experiment,
                                   const float *image, const db_spot_options *options,
                                   db_predicted_spots *spots);

/** Frees the list and zeroes the struct.
 *
 * @param predicted to clear */
DB_API void db_predicted_spots_clear(db_predicted_spots *predicted);

#ifdef __cplusplus
}
#endif
#endif
