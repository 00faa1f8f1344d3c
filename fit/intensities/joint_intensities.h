/* Joint intensities: one for each reflection, shared by all shots. */
#ifndef DB_FIT_INTENSITIES_JOINT_INTENSITIES_H
#define DB_FIT_INTENSITIES_JOINT_INTENSITIES_H

#include "fit/merge/asymmetric_unit.h"
#include "fit/merge/crystal_kinds.h"
#include "fit/merge/indexing.h"
#include "fit/merge/scaling.h"
#include "fit/merge/smooth_scales.h"
#include "fit/merge/statistics.h"
#include "fit/pixels/shoeboxes.h"
#include "fit/shots/first_frame.h"
#include "fit/shots/shots.h"

/* Results of the stage of joint intensities; or, without passes, merged passages of a series. */
struct db_joint_intensities {
    db_asu_list list;
    db_merged merged;
    /* of the shots at the start, and why some were excluded; the last error model */
    db_scaling scaling;
    /* of the shots at the start; no shots: indexing was not resolved */
    db_indexing_result indexing;
    db_crystal_kinds kinds;       /* of the shots at the start */
    db_observations observations; /* measurements of each shot by itself, with its refined model */
    double *reference; /* [list.count] known intensities, NAN if missing; NULL: no reference */
    /* agreement of the reference with the start; count 0: no reference */
    db_reference_agreement agreement;
    db_smooth_scales smooth; /* of a series; else without sweeps */
    int passes;              /* over all shots */
    /* of the first shot in use (angstrom); 0: no shot is in use */
    double wavelength;
};
typedef struct db_joint_intensities db_joint_intensities;

/* As db_indexing_resolve; frames of a series that show one crystal have one way, unless its orientation was found on a setting
 * of the goniometer by itself. */
db_status db_joint_indexing_resolve(const db_shots *all, const db_asu_list *list,
                                    const double *reference, db_observations *observations,
                                    db_scaling *scaling, db_indexing_result *result,
                                    db_crystal_kinds *kinds);

/* Fails if the merged passages of a series agree better without some of the group's rotations. */
db_status db_joint_symmetry_check(const db_shots *all, const db_joint_intensities *merged);

void db_joint_intensities_destroy(db_joint_intensities **intensities);

/* The stage of joint intensities, which are refined together with shared quantities and the shots' own
 * (docs/theory/joint-intensities.md): minimizes over all shots, whose pixels are in the store. Afterwards their models are at
 * the minimum. result: receives the intensities, and statistics of shots. */
db_status db_intensity_stage_run(db_shots *all, int stage, db_stage_result *end,
                                 db_fit_shots_result *result);

/* Merges passages of equivalent reflections of a rotation series, of all sweeps, on one scale (docs/theory/merging.md, Frames
 * of a series): fills result->merged from result->passages, in rank 0. */
db_status db_series_merge(const db_shots *all, const db_first_frame *first,
                          db_fit_shots_result *result);

/* The finest resolution (angstrom) at which half of the rays around the beam meet a panel. */
db_status db_intensity_rim(db_context *context, const db_experiment *experiment, double *dmin);

/* Does an image show enough of a reflection's light, relative to its light exactly on the Ewald sphere? turns: 1: a
 * rotation takes it through the sphere. */
int db_intensity_is_shown(const db_spot *reflection, int turns);

/* Boxes of all listed reflections that are bright enough in the model. Measured counts must not select them, or
 * intensities would come out too large. Weights have no error of shape, because the scatter between shots gives
 * it. */
db_status db_intensity_boxes_take(db_context *context, const db_experiment *experiment,
                                  const db_fit_data *data, const db_asu_list *list,
                                  db_shoeboxes *boxes);

#endif
