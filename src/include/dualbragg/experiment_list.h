/** @file
 * Experiment lists of DIALS, and similar files: XPARM.XDS, geometries of CrystFEL. */
#ifndef DUALBRAGG_EXPERIMENT_LIST_H
#define DUALBRAGG_EXPERIMENT_LIST_H

#include <dualbragg/context.h>
#include <dualbragg/experiment.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The image of an experiment list. */
typedef struct db_expt_image {
    const char *path;      /**< name in the list: absolute, or relative to the list's folder */
    double pedestal, gain; /**< stored counts = pedestal + gain * photons */
    /** least and largest trusted count, pedestal subtracted; both 0: limits of 16-bit images */
    double trusted[2];
    /** of the crystal: number, Hermann-Mauguin symbol, or Hall symbol that begins with a space or "-"; NULL,
     * or one that gemmi does not know or the cell cannot have: the list says P 1 */
    const char *space_group;
} db_expt_image;

/** Writes a DIALS experiment list (.expt, JSON): beam, panels with exact origin and axes,
 * goniometer, crystal, a scan if the goniometer moves, and the image (may be NULL; that of a
 * scan is left out with a notice if its name has no number). A still crystal is described as
 * it is in the beam, a rotating one as it is at phi = 0, in the frame of dxtbx: x along the
 * spindle, z against the beam. DB_ERROR_UNSUPPORTED for a curved detector, and without
 * jansson.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param experiment to write
 * @param image named in the list; may be NULL
 * @return DB_OK; DB_ERROR_UNSUPPORTED; DB_ERROR_FILE or DB_ERROR_MEMORY */
DB_API db_status db_write_expt(db_context *context, const char *path,
                               const db_experiment *experiment, const db_expt_image *image);

#ifdef __cplusplus
}
#endif
#endif
