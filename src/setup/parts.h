/* The parts of db_setup_resolve: each fills its share of the experiment from the user's
 * description. They run in the order in which they stand here. */
#ifndef DB_SETUP_PARTS_H
#define DB_SETUP_PARTS_H

#include <dualbragg/setup.h>
#include <math.h>

/* Where notices go; line may be NULL. */
typedef struct db_setup_notes {
    void (*line)(void *user, const char *text);
    void *user;
} db_setup_notes;

/* Hands one line (printf style, without a line end) to the caller of db_setup_resolve. */
void db_setup_note(const db_setup_notes *notes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Plate, panel, and the axes of beam, polarization and spindle that come with a convention. */
db_status db_setup_detector(db_context *context, const db_setup *setup, db_experiment *experiment,
                            const db_setup_notes *notes);
/* The same, goniometer's axis and crystal's lattice from the setup's experiment list. */
db_status db_setup_expt(db_context *context, const db_setup *setup, db_experiment *experiment,
                        const db_setup_notes *notes);
db_status db_setup_beam(db_context *context, const db_setup *setup, db_experiment *experiment,
                        const db_setup_notes *notes);
/* The plate's sensor, which absorbs as its material does at the beam's wavelength. */
db_status db_setup_sensor(db_context *context, const db_setup *setup, db_experiment *experiment,
                          const db_setup_notes *notes);
db_status db_setup_crystal(db_context *context, const db_setup *setup, db_experiment *experiment,
                           const db_setup_notes *notes);
db_status db_setup_spindle(db_context *context, const db_setup *setup, db_goniometer *goniometer,
                           const db_setup_notes *notes);

/* The amorphous matter; without a file of amplitudes none. */
db_status db_setup_background(db_context *context, const db_setup *setup, db_background *background,
                              const db_setup_notes *notes);

/* 1 if a number that may be left open was given. */
static inline int db_setup_given(double value) { return !isnan(value); }

/* Number of intervals of one size that cover a length; rounding noise in the quotient does not add
 * one. */
static inline double db_setup_intervals(double length, double interval) {
    return ceil(length / interval - 1e-9);
}

#endif
