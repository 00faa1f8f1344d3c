/* Spectra of a beam: more than one wavelength. */
#ifndef DB_MODEL_BEAM_SPECTRUM_H
#define DB_MODEL_BEAM_SPECTRUM_H

#include <dualbragg/experiment.h>

/* Full width at half maximum of a Gaussian, in standard deviations. */
#define DB_WIDTH_IN_SIGMA 2.3548200450309493

/* Sources that differ in wavelength by more than the beam's dispersion makes them. */
static inline int db_beam_has_spectrum(const db_beam *beam) {
    for (size_t j = 1; j < beam->source_count; j++)
        if (beam->sources[j].wavelength_ratio != beam->sources[0].wavelength_ratio) return 1;
    return 0;
}

/* 1 if sources differ in wavelength for any reason. */
static inline int db_beam_has_wavelengths(const db_beam *beam) {
    for (size_t j = 1; beam->dispersion != 0 && j < beam->source_count; j++)
        if (beam->sources[j].spread[2] != beam->sources[0].spread[2]) return 1;
    return db_beam_has_spectrum(beam);
}

#endif
