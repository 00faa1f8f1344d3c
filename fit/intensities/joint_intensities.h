/* Intensities that all shots share, as a refinement finds them. */
#ifndef DB_FIT_INTENSITIES_JOINT_INTENSITIES_H
#define DB_FIT_INTENSITIES_JOINT_INTENSITIES_H

#include "fit/merge/crystal_kinds.h"
#include "fit/merge/indexing.h"
#include "fit/merge/statistics.h"
#include "fit/merge/scaling.h"

/* What the stage of joint intensities leaves. */
struct db_joint_intensities {
    db_asu_list list;
    db_merged merged;
    /* of the shots at the start, and why some were excluded; the last error model */
    db_scaling scaling;
    db_indexing_result indexing;  /* of the shots at the start; no shots: it was not asked for */
    db_crystal_kinds kinds;       /* of the shots at the start */
    db_observations observations; /* what each shot says by itself, given its refined model */
    double *reference; /* [list.count] known intensities, NAN where there is none; NULL */
    db_reference_agreement agreement; /* of the reference with the start; count 0: there is none */
    int passes;                       /* over all shots */
    double wavelength;                /* of the first shot in use (angstrom); 0: none is */
};
typedef struct db_joint_intensities db_joint_intensities;

void db_joint_intensities_destroy(db_joint_intensities **intensities);

#endif
