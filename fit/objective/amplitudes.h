/* Structure-factor amplitudes as unknowns: one intensity for all equivalent reflections that the
 * shoeboxes of a stage hold, each held to what was given by a restraint. They meet other unknowns
 * in their own boxes only, and one another nowhere (fit/objective/shared_intensities.h). */
#ifndef DB_FIT_OBJECTIVE_AMPLITUDES_H
#define DB_FIT_OBJECTIVE_AMPLITUDES_H

#include "fit/pixels/shoeboxes.h"

/* Reflections of the asymmetric unit, in the order of h, k, l. */
typedef struct db_amplitudes {
    unsigned char *holds; /* [boxes] 0: a box of a reflection without amplitude */
    size_t count;
    int (*hkl)[3];
    double *input; /* intensity F^2 as given (electrons^2), > 0 */
    double *sigma; /* of the restraint, relative to it */
    size_t *first; /* [count + 1] */
    size_t *box;   /* boxes of reflection r: box[first[r]] to box[first[r + 1] - 1] */
} db_amplitudes;

/* Those of the boxes. Equivalent are reflections by the settings' amplitude_group, and Friedel
 * mates whose given amplitudes are equal. */
db_status db_amplitudes_make(db_context *context, const db_experiment *experiment,
                             const db_fit_settings *settings, const db_shoeboxes *boxes,
                             db_amplitudes *amplitudes);
void db_amplitudes_clear(db_amplitudes *amplitudes);

/* Puts the asymmetric unit of all given amplitudes into a result: refined where `factor` and
 * `error` (of refined over given intensity, [count]) say so, else as given, with the restraint's
 * error. */
db_status db_amplitudes_to_result(db_context *context, const db_experiment *experiment,
                                  const db_fit_settings *settings, const db_amplitudes *amplitudes,
                                  const double *factor, const double *error, db_fit_result *result);

#endif
