/* Restraints of intensities: to a reference, or to the mean at their resolution (docs/theory/joint-intensities.md,
 * Restraints). Reflections that no shot shows have no intensity, and no restraint. */
#ifndef DB_FIT_INTENSITIES_RESTRAINT_H
#define DB_FIT_INTENSITIES_RESTRAINT_H

#include "fit/merge/asymmetric_unit.h"
#include "fit/merge/observations.h"
#include "fit/merge/shells.h"
#include "fit/merge/statistics.h"

#include <dualbragg/fit_settings.h>

typedef struct db_intensity_restraint {
    const double *reference; /* [reflections] NAN if missing; NULL: no reference; borrowed */
    db_reference_scale scale;
    double *strength; /* [reflections] 1/sigma^2, 0: not restrained; NULL: none is */
    double *centre;   /* centre of the restraint */
    double *pull;     /* half of the slope at the best point */
} db_intensity_restraint;

/* Intensities of a reference in the order of a list, NAN where it has none (amplitudes 0 and NAN); the caller
 * frees *intensity. DB_ERROR_INPUT if it has none of the list. */
db_status db_intensity_reference_make(db_context *context, const db_asu_list *list,
                                      const db_structure_factors *factors, double **intensity);

/* Makes room, if settings have a restraint. */
db_status db_intensity_restraint_make(db_context *context, const db_fit_joint *settings,
                                      size_t reflections, const double *reference,
                                      db_intensity_restraint *restraint);
void db_intensity_restraint_clear(db_intensity_restraint *restraint);

/* Sets strengths and centres from merged intensities. */
void db_intensity_restraint_begin(const db_asu_list *list, const db_fit_joint *settings,
                                  const db_merged *merged, db_intensity_restraint *restraint);

/* Scales the reference to intensities with these curvatures (0: no shot shows it; NULL: its scale stays), and
 * updates the pulls. */
void db_intensity_restraint_follow(const db_asu_list *list, const double *intensity,
                                   const double *curvature, db_intensity_restraint *restraint);

/* Drops restraints of reflections whose curvature is 0, because no shot shows them. Returns their part of the
 * loss. */
double db_intensity_restraint_drop(const db_intensity_restraint *restraint, const double *intensity,
                                   const double *curvature, size_t reflections);

/* Adds the restraint to diagonal and right side of the equations (fit/intensities/system.h). */
void db_intensity_restraint_add(const db_intensity_restraint *restraint, size_t reflections,
                                double *diagonal, double *right);

/* Loss of the restraint. */
double db_intensity_restraint_loss(const db_intensity_restraint *restraint, const double *intensity,
                                   size_t reflections);

/* Shells of resolution for means of joint intensities. */
static inline db_shells db_intensity_shells(const db_asu_list *list) {
    return (db_shells){ .count = 20, .low = db_asu_coarsest(list), .high = list->d_min };
}

/* Follows intensities that are all multiplied by a factor. */
void db_intensity_restraint_scale(db_intensity_restraint *restraint, size_t reflections,
                                  double factor);

#endif
