/* The spots of an image by which a model is judged. */
#ifndef DB_FIT_VERDICT_JUDGED_SPOTS_H
#define DB_FIT_VERDICT_JUDGED_SPOTS_H

#include "fit/verdict/spot_pattern.h"

enum {
    DB_MOST_JUDGED = 400
}; /* strongest spots, which count, as in the search for the orientation */

/* Those of an image in the resolution range, the strongest first. To be cleared, unless it fails. */
db_status db_judged_spots_find(db_context *context, const db_experiment *model,
                               const db_fit_data *data, db_observed_spots *spots);

/* The strongest of them. */
db_spot_choice db_strongest_spots(const db_observed_spots *spots);

/* What a model is judged by. */
typedef struct db_judged_spots {
    db_observed_spots seen;    /* as above */
    db_spot_pattern predicted; /* all reflections that the settings' excitation_angle excites */
} db_judged_spots;

/* To be cleared, unless it fails. */
db_status db_judged_spots_look(db_context *context, const db_experiment *model,
                               const db_fit_data *data, db_judged_spots *judged);
void db_judged_spots_clear(db_judged_spots *judged);

#endif
