/* Numbers of a NeXus file in the units of this program. Zeros stand for "not known" there, and numbers that
 * make no sense are told of and not used. Between db_hdf5_enter and _leave. */
#ifndef DB_IO_NEXUS_NUMBERS_H
#define DB_IO_NEXUS_NUMBERS_H

#include "io/hdf5/hdf5_file.h"

/* What a length is, to see in which unit it is where none is stated (mm). */
typedef struct db_length_range {
    double least, most;
} db_length_range;

/* A length > 0 (mm); NAN: not known. Without units it is in metres, as NeXus has it, unless only mm or um make it
 * fall within the range. Units of something else are an error. */
db_status db_nexus_length(const db_hdf5_object *from, const char *path, db_length_range usual,
                          double *length);

/* A number > 0, finite; *value stays where there is none. */
db_status db_nexus_positive(const db_hdf5_object *from, const char *path, double *value);

/* A time (s); NAN: not known. */
db_status db_nexus_time(const db_hdf5_object *from, const char *path, double *time);

/* Wavelength (A) of a number in a unit of length or energy, without units in those named; NAN: not
 * known. index: of the image, where there is a number for each. */
db_status db_nexus_wavelength(const db_hdf5_object *from, const char *path, const char *units,
                              size_t index, double *wavelength);

/* Position of the direct beam (pixels); NAN: not known. pixel_size: mm, NAN. */
db_status db_nexus_beam_centre(const db_hdf5_object *from, const double pixel_size[2],
                               double centre[2]);

#endif
