/* How wide the spots of an image are, found without a model: where spreads of a crystal start. */
#ifndef DB_FIT_PIXELS_SPOT_WIDTHS_H
#define DB_FIT_PIXELS_SPOT_WIDTHS_H

#include <dualbragg/fit.h>

/* Blocks that are turned about the beam move a spot along its circle, the farther the larger that is; all
 * else that widens spots does so alike on the whole detector. */
typedef struct db_spot_widths {
    size_t count;    /* spots that tell; 0: the rest is 0, too */
    double alike;    /* mm^2: variance along a circle, without that of turned blocks */
    double turned;   /* degree^2: variance of turns of blocks about the beam */
    double q_per_mm; /* 1/angstrom: how far scattering vectors of spots are that lie a mm apart */
} db_spot_widths;

/* The experiment says where beam and detector are; the crystal does not count. */
db_status db_spot_widths_measure(db_context *context, const db_experiment *experiment,
                                 const db_measured_image *image, const db_fit_settings *settings,
                                 db_spot_widths *widths);

#endif
