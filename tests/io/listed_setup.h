/* A set-up in which nothing is at its default or along an axis, as tests of experiment lists ask for. */
#ifndef DB_TESTS_IO_LISTED_SETUP_H
#define DB_TESTS_IO_LISTED_SETUP_H

#include <dualbragg/setup.h>

#include <string.h>

/* osc: degree; 0: a still */
static inline void listed_setup(db_convention convention, double osc, db_setup *setup) {
    db_setup_init(setup);
    const double cell[6] = { 45, 55, 70, 82, 97, 105 }, misset[3] = { 10, 20, 30 },
                 rotation[3] = { 2, -3, 1 };
    memcpy(setup->cell, cell, sizeof cell);
    memcpy(setup->misset, misset, sizeof misset);
    memcpy(setup->rotation, rotation, sizeof rotation);
    setup->default_F = 1;
    setup->wavelength = 0.97934;
    setup->convention = convention;
    setup->pixel_size = 0.1024;
    setup->detector_pixels[0] = 60;
    setup->detector_pixels[1] = 40;
    setup->distance = 123.456;
    setup->twotheta = 12;
    setup->polarization = 0.9;
    setup->phi = 12.5;
    setup->osc = osc;
    setup->phi_steps = 5;
    setup->oversample = 1;
}

#endif
