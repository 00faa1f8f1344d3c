/** @file
 * Prediction: reflections of an image with places, widths and photons. For spots in closed
 * form (db_spread.spots), from the formula that renders them (docs/theory/spots.md). */
#ifndef DUALBRAGG_SPOTS_H
#define DUALBRAGG_SPOTS_H

#include <dualbragg/experiment.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A reflection on a panel. All sources and all Gaussians of heavier tails are one spot. In a
 * rotation a node makes two spots, where it enters the Ewald sphere and where it leaves it. */
typedef struct db_spot {
    int hkl[3];
    size_t panel;
    size_t source;        /**< source of most of the photons */
    double position[2];   /**< of its middle (pixels of the panel: fast, slow); a
                             partial reflection is shifted from the place of its node */
    double covariance[3]; /**< of its photons' places (pixels^2): fast, slow, and of both */
    double photons;       /**< expected, of the whole spot */
    /** distance of the node to the Ewald sphere in standard deviations of the
     * blocks, for the best source; negative inside the sphere. In a rotation: at
     * the recorded angle nearest to the sphere, 0 if the node passes through it. */
    double excitation;
    double turn; /**< rotation of the crystal (degree) that would bring the node to the sphere */
    /** partiality. Still: exp(-excitation^2/2), the brightness relative to a
     * node on the sphere; rotation: recorded fraction of the passage, 0 to 1 */
    double recorded;
    double angle;      /**< at which it is recorded (degree from the start of the rotation) */
    double resolution; /**< d spacing (angstrom) */
    double width;      /**< standard deviation of the blocks' distances as a turn (degree), of a
                             still: turn/excitation */
    /** of its photons (A): mean, and standard deviation. Still: only the part of a source's bandwidth that
     * the reflection selects; rotation: the whole bandwidth. Sampled spots: NAN, unless all sources have one wavelength */
    double wavelength, wavelength_width;
    double reserved[1]; /**< 0: room for new members, see docs/decisions/public-structs.md */
} db_spot;

/** Conditions for listed spots, whose middle must also be on a panel. */
typedef struct db_spot_options {
    size_t size; /**< sizeof(db_spot_options): set by DB_SPOT_OPTIONS_INIT */
    /** largest distance from the Ewald sphere (standard deviations); 0 to 10 */
    double most_excitation;
    /** additional distance (degree, as db_spot.turn, 0
     * to 10), for an uncertain orientation or spreads */
    double most_turn;
    double least_photons; /**< fewest photons of the whole spot */
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

/** Lists the reflections of an image of sampled spots. A reflection gets the photons of all
 * samples next to its node. Photons, position (mean place) and covariance describe the part of
 * the spot on the panel; the photons of all reflections add up to the image. Pixels with
 * samples next to several nodes are divided among these nodes; the faintest pixels, with 1e-3
 * of all photons, by a part of their samples only. Members about the Ewald sphere (excitation,
 * turn, recorded, angle, width) are NAN. The result does not depend on the number of threads.
 *
 * @param context receives the message of a failure
 * @param experiment with sampled spots and flat panels
 * @param image photons of the crystal alone, without water and amorphous matter: all panels one after
 *     the other, as db_plan_forward renders them; 0: the pixel is left out
 * @param options only least_photons is used; 0 or NULL: 1e-4 of the brightest reflection
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
