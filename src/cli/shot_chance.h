/* What is random in a training set: each number is a function of seed, shot and purpose alone, so
 * that a shot is the same in whatever range, file and thread it is made. */
#ifndef DB_CLI_SHOT_CHANCE_H
#define DB_CLI_SHOT_CHANCE_H

#include <dualbragg/experiment.h>
#include <stdint.h>

typedef enum db_chance {
    DB_CHANCE_ORIENTATION,
    DB_CHANCE_NOISE,
    DB_CHANCE_CELL,
    DB_CHANCE_FLUENCE,
    DB_CHANCE_WAVELENGTH,
    DB_CHANCE_SPECTRUM
} db_chance;

/* 64 random bits; shot from 0. */
uint64_t db_chance_bits(long seed, size_t shot, db_chance purpose, uint64_t index);

/* A seed for others: 1 to 2147483646. */
long db_chance_seed(long seed, size_t shot, db_chance purpose);

/* A normal deviate. */
double db_chance_normal(long seed, size_t shot, db_chance purpose, uint64_t index);

/* The spectrum of one pulse of a free-electron laser: spikes of a relative width (half of the
 * maximum) below a Gaussian of another; replaces the sources of a beam, whose first one's direction
 * they have. */
db_status db_sase_spectrum(db_context *context, db_experiment *experiment, double width,
                           double spike, long seed, size_t shot);

#endif
