/* What intensities are held to: those of a reference, or the mean of their resolution
 * (docs/theory/joint-intensities.md, Restraints). Reflections that no shot shows are held to nothing,
 * since they have no intensity. */
#ifndef DB_FIT_INTENSITIES_RESTRAINT_H
#define DB_FIT_INTENSITIES_RESTRAINT_H

#include "fit/merge/observations.h"
#include "fit/merge/statistics.h"
#include "fit/merge/asymmetric_unit.h"
#include "fit/merge/shells.h"

#include <dualbragg/fit_settings.h>

typedef struct db_intensity_restraint {
    const double *reference; /* [reflections] NAN where there is none; NULL; borrowed */
    db_reference_scale scale;
    double *strength; /* [reflections] 1/sigma^2, 0: not held; NULL: none is */
    double *centre;   /* what it is held to */
    double *pull;     /* half of the slope at the best point */
} db_intensity_restraint;

/* Intensities of a reference in the order of a list, NAN where it has none (amplitudes 0 and NAN);
 * *intensity is the caller's to free. DB_ERROR_INPUT if it has none of the list. */
db_status db_intensity_reference_make(db_context *context, const db_asu_list *list,
                                      const db_structure_factors *factors, double **intensity);

/* Room, if settings ask for a restraint. */
db_status db_intensity_restraint_make(db_context *context, const db_fit_joint *settings,
                                      size_t reflections, const double *reference,
                                      db_intensity_restraint *restraint);
void db_intensity_restraint_clear(db_intensity_restraint *restraint);

/* Strength and centres from merged intensities. */
void db_intensity_restraint_begin(const db_asu_list *list, const db_fit_joint *settings,
                                  const db_merged *merged, db_intensity_restraint *restraint);

/* The reference is brought anew to the scale of intensities with such curvatures (0: no shot shows
 * it; NULL: it stays on its scale), and their pulls follow. */
void db_intensity_restraint_follow(const db_asu_list *list, const double *intensity,
                                   const double *curvature, db_intensity_restraint *restraint);

/* Lets go of reflections whose curvature is 0: no shot shows them. Returns what they have added to the loss. */
double db_intensity_restraint_drop(const db_intensity_restraint *restraint, const double *intensity,
                                   const double *curvature, size_t reflections);

/* Adds the restraint to diagonal and right side of the equations (fit/intensities/system.h). */
void db_intensity_restraint_add(const db_intensity_restraint *restraint, size_t reflections,
                                double *diagonal, double *right);

/* What the restraint adds to the loss. */
double db_intensity_restraint_loss(const db_intensity_restraint *restraint, const double *intensity,
                                   size_t reflections);

/* Shells of resolution for means of joint intensities. */
static inline db_shells db_intensity_shells(const db_asu_list *list) {
    db_shells shells = { .count = 20, .low = list->d_min, .high = list->d_min };
    for (size_t h = 0; h < list->count; h++)
        if ((double)list->d[h] > shells.low) shells.low = (double)list->d[h];
    return shells;
}

#endif
