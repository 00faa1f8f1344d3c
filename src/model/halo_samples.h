/* Which experiments have a diffuse halo, and for how many orientations of the crystal a pixel is worked
 * out. */
#ifndef DB_MODEL_HALO_SAMPLES_H
#define DB_MODEL_HALO_SAMPLES_H

#include <dualbragg/experiment.h>

/* Orientations in which the halo of a crystal that turns is seen where spots are in closed form:
 * docs/theory/halo.md, Sampling. */
enum { DB_HALO_TURNS = 8 };

static inline int db_has_halo(const db_crystal *crystal) { return crystal->diffuse_gamma[0] > 0; }

/* Combinations of phi step and mosaic domain. With spots in closed form only a halo needs them, that of
 * the crystal without spread in equal steps of its rotation. */
static inline size_t db_sample_count(const db_experiment *e) {
    if (e->spread.spots == DB_SPOTS_SAMPLED)
        return (size_t)e->goniometer.phi_steps * (size_t)e->crystal.mosaic_domains;
    return db_has_halo(&e->crystal) && e->goniometer.phi_step != 0 ? DB_HALO_TURNS : 1;
}

#endif
