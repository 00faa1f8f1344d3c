/* Wavelengths of photon energies in files. The command line's -energy has the factor of nanoBragg, 12398.42. */
#ifndef DB_BASE_PHOTON_ENERGY_H
#define DB_BASE_PHOTON_ENERGY_H

#include <math.h>

/* Planck's constant times the speed of light (eV angstrom; exact in the SI of 2019). */
#define DB_EV_ANGSTROM 12398.419843320026

/* The energy of an electron at rest (eV). */
#define DB_ELECTRON_REST_EV 510998.95

/* Beams with shorter waves (A) are electrons: photons would have 250 keV. */
#define DB_SHORTEST_X_RAY 0.05

/* No crystal diffracts photons of less (eV): they have waves of 124 A. Numbers below are in keV. */
#define DB_LEAST_X_RAY_EV 100

/* A number of X-rays below this is a wavelength (A), one above that an energy (keV): these are X-rays of 2 and 6.2 keV, between
 * which it may be both. */
#define DB_LEAST_EITHER 2.
#define DB_MOST_EITHER 6.2

/* The factor that brings an energy into a range; 1: it lies there. */
static inline double db_factor_to_range(double energy, double first, double last) {
    return fmax(1, fmax(first / energy, energy / last));
}

/* Kinetic energy (eV) of electrons with a wavelength (A), from their momentum h / wavelength. */
static inline double db_electron_energy(double wavelength) {
    const double momentum = DB_EV_ANGSTROM / wavelength; /* times the speed of light, eV */
    return momentum * momentum /
           (sqrt(momentum * momentum + DB_ELECTRON_REST_EV * DB_ELECTRON_REST_EV) +
            DB_ELECTRON_REST_EV);
}

/* Wavelength (A) of electrons with a kinetic energy (eV). */
static inline double db_electron_wavelength(double energy) {
    return DB_EV_ANGSTROM / sqrt(energy * (energy + 2 * DB_ELECTRON_REST_EV));
}

#endif
