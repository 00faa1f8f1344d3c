/* Pixels of shoeboxes that the model of another reflection reaches. A shoebox knows one intensity:
 * light of a neighbour, whose intensity is another, would pull at the parameters. */
#ifndef DB_FIT_PIXELS_OVERLAP_H
#define DB_FIT_PIXELS_OVERLAP_H

#include "fit/pixels/shoeboxes.h"

/* Takes away pixels where all other reflections together, were they as strong as the box's own, are
 * above a thousandth of its own highest pixel, and boxes whose pixels left hold less than half of
 * their own spot or are too few. Where fewer than `fewest` boxes would be left, all stay as they
 * are. Own and foreign light are those of the experiment, so that the choice does not depend on
 * what was counted. */
db_status db_overlap_exclude(db_context *context, const db_experiment *experiment,
                             const db_fit_settings *settings, size_t fewest, db_shoeboxes *boxes);

#endif
