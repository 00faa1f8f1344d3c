/* Units as files name them: one table for all readers. */
#ifndef DB_IO_UNITS_H
#define DB_IO_UNITS_H

#include <stddef.h>

typedef enum db_unit_kind {
    DB_UNIT_LENGTH,  /* in mm */
    DB_UNIT_ANGLE,   /* in degree */
    DB_UNIT_ENERGY,  /* in eV */
    DB_UNIT_VOLTAGE, /* in V */
    DB_UNIT_TIME     /* in s */
} db_unit_kind;

/* Factor that turns a number in the named unit into the kind's own unit; 0: the kind has no such unit. The
 * name has `length` bytes; blanks and brackets around it do not count. Symbols ("mm", "keV") and
 * words ("millimetres") in American and British English, in any case where that is not ambiguous. */
double db_unit_in(db_unit_kind kind, const char *name, size_t length);

/* Lengths that are usual for something (mm). */
typedef struct db_length_range {
    double least, most;
} db_length_range;

extern const db_length_range db_usual_pixels, db_usual_distances, db_usual_sensors;

/* The unit of a length that is stated without one: the first of m, mm, um that makes it usual, else m. */
const char *db_unit_guess(double value, db_length_range usual);

/* db_unit_in for a whole text. */
double db_unit_of(db_unit_kind kind, const char *name);

/* Wavelength (A) of a number in a unit of length or of the photons' energy; NAN: it is in neither, or
 * no positive finite number. An empty name is angstrom. */
double db_wavelength_in(double value, const char *unit, size_t length);

#endif
