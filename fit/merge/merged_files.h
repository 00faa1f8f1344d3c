/* Files of merged intensities, and of unmerged measurements. */
#ifndef DB_FIT_MERGE_MERGED_FILES_H
#define DB_FIT_MERGE_MERGED_FILES_H

#include "fit/merge/observations.h"
#include "fit/merge/shot_scales.h"

/* Merged MTZ, one row for Bijvoet mates: IMEAN, I(+) and I(-), F, F(+) and F(-) by French and Wilson, with SIG...,
 * multiplicities N, N(+), N(-), and IHALF1, IHALF2 of the two halves of the shots, also for mates. Only rows with
 * an intensity. wavelength: angstrom. */
db_status db_merged_write_mtz(db_context *context, const char *path, const db_asu_list *list,
                              const db_merged *merged, double wavelength);

/* Text with a line for each reflection with an intensity, Bijvoet mates separate: h k l F sigma(F) I sigma(I)
 * multiplicity and I of the halves; needs no library. remark: lines below the head. */
db_status db_merged_write_hkl(db_context *context, const char *path, const db_asu_list *list,
                              const db_merged *merged, const char *remark);

/* Unmerged MTZ: measurements of shots in use, each shot a batch (its number in the list, from 1): I and SIGI on
 * the common scale, FRACTIONCALC (partiality), SCALEUSED (factor on the measurement), FLAG (1: rejected). */
db_status db_unmerged_write_mtz(db_context *context, const char *path, const db_asu_list *list,
                                const db_observations *observations, const db_scaling *scaling,
                                double wavelength);

#endif
