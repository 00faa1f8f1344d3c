/* The place of a one-panel experiment's panel, in the numbers of image headers. */
#ifndef DB_IO_SMV_GEOMETRY_H
#define DB_IO_SMV_GEOMETRY_H

#include <dualbragg/experiment.h>

/* Lengths in mm. F and S are coordinates along fast and slow from the outer corner of the first
 * pixel. */
typedef struct db_smv_geometry {
    double close_distance;  /* along the normal */
    double near_point[2];   /* F, S of the point closest to the sample */
    int beam_hits;          /* 0: the direct beam never meets the plane; the next two are then 0 */
    double distance;        /* along the beam */
    double beam_centre[2];  /* F, S of the direct beam */
    double dials_origin[3]; /* outer corner of the first pixel with x along the spindle, z against
                               the beam */
} db_smv_geometry;

/* Computes them from the final place of the panel, all rotations included. With experiment->reference.on it does
 * as the reference program: distance and beam centre leave two-theta out, and the DIALS origin takes the beam
 * along x. */
db_status db_smv_geometry_get(db_context *context, const db_experiment *experiment,
                              db_smv_geometry *geometry);

#endif
