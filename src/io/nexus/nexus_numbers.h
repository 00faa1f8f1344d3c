/* Numbers of a NeXus file in the units of this program. Zero means "not known"; absurd numbers get a notice and
 * are not used. Call between db_hdf5_enter and _leave. */
#ifndef DB_IO_NEXUS_NUMBERS_H
#define DB_IO_NEXUS_NUMBERS_H

#include "io/hdf5/hdf5_file.h"
#include "io/units.h"

/* A length > 0 (mm); NAN: not known. Without units it is in metres, as NeXus has it, unless only mm or um make it
 * fall within the range. Units of something else are an error. */
db_status db_nexus_length(const db_hdf5_object *from, const char *path, db_length_range usual,
                          double *length);

/* A finite number > 0; without one *value is unchanged. */
db_status db_nexus_positive(const db_hdf5_object *from, const char *path, double *value);

/* A time (s); NAN: not known. */
db_status db_nexus_time(const db_hdf5_object *from, const char *path, double *time);

/* Wavelength (A) from a length or an energy; `units`: those of a number without units; NAN: not known. index: of
 * the image, if there is a number for each. */
db_status db_nexus_wavelength(const db_hdf5_object *from, const char *path, const char *units,
                              size_t index, double *wavelength);

/* Position of the direct beam (pixels); NAN: not known. pixel_size: mm, NAN. */
db_status db_nexus_beam_centre(const db_hdf5_object *from, const double pixel_size[2],
                               double centre[2]);

#endif
