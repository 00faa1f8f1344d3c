/** @file
 * Images as files: raw floats, and SMV. */
#ifndef DUALBRAGG_IMAGE_FILES_H
#define DUALBRAGG_IMAGE_FILES_H

#include <dualbragg/context.h>
#include <dualbragg/experiment.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Options of an SMV image besides scale and offset. All 0 (or no style at all): counts are
 * rounded, and no convention is stated. */
typedef struct db_smv_style {
    /** name of the laboratory frame's convention, for
     * readers who set up this experiment again; NULL */
    const char *convention;
    /** the reference's header only: X, Y of the direct beam in that convention's meaning (mm), see
     * db_setup_beam_centre */
    double beam_centre[2];
    int truncate; /**< 1: counts are truncated instead of rounded */
} db_smv_style;

/** Writes an SMV image: unsigned 16-bit, value = floor(x*scale + adc + 0.5) clipped to 0..65535;
 * scale <= 0: 55000/max. Pixels that are NAN (outside the region of interest) become 0. For a
 * detector of one flat panel with square pixels. The header grows in blocks of 512 bytes;
 * BEAM_CENTER_X/Y are along slow and fast, in mm from the outer corner of the
 * first pixel, and all values describe the final position of the detector. With
 * experiment->reference.on the header is the reference's. style may be NULL.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param experiment for the header
 * @param pixels photons, fast index fastest
 * @param scale counts per photon; 0 or less: chosen
 * @param adc counts added
 * @param style NULL: none
 * @return DB_OK; DB_ERROR_UNSUPPORTED for other detectors; DB_ERROR_FILE or DB_ERROR_MEMORY */
DB_API db_status db_write_smv(db_context *context, const char *path,
                              const db_experiment *experiment, const float *pixels, double scale,
                              double adc, const db_smv_style *style);

#ifdef __cplusplus
}
#endif
#endif
