/* A spectrum as it was before a spectrometer of known resolution blurred it. */
#ifndef DB_SETUP_SPECTROMETER_H
#define DB_SETUP_SPECTROMETER_H

#include <dualbragg/expert/beam_files.h>

/* Replaces a measured spectrum, whose channels have one width, by the most likely one that a Gaussian of this full width at half
 * maximum (eV) blurred (docs/theory/beam.md, Resolution of a spectrometer). Stays as it is after a failure. */
db_status db_spectrometer_undo(db_context *context, double resolution, db_spectrum *spectrum);

#endif
