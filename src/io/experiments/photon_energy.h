/* Photon energies of files as wavelengths. The command line's -energy has the factor of nanoBragg,
 * 12398.42. */
#ifndef DB_IO_PHOTON_ENERGY_H
#define DB_IO_PHOTON_ENERGY_H

/* Planck's constant times the speed of light (eV angstrom; exact in the SI of 2019). */
#define DB_EV_ANGSTROM 12398.419843320026

#endif
