/* Where the crystal is while it is exposed (docs/theory/detector.md, A crystal off the origin). */
#ifndef DB_MODEL_CRYSTAL_POSITION_H
#define DB_MODEL_CRYSTAL_POSITION_H

#include "model/halo_samples.h"

#include <dualbragg/parameters.h>

/* Spindle angle from the first step to the middle of the range (degree). Sampled spots have orientations at
 * the steps; spots in closed form, also between them. */
static inline double db_to_middle_of_exposure(const db_experiment *experiment) {
    const db_goniometer *const g = &experiment->goniometer;
    const int steps = experiment->spread.spots == DB_SPOTS_CLOSED ? g->phi_steps : g->phi_steps - 1;
    return 0.5 * steps * g->phi_step;
}

static inline int db_is_off_origin(const db_crystal *crystal) {
    return crystal->position[0] != 0 || crystal->position[1] != 0 || crystal->position[2] != 0;
}

/* Do parameters of a kind turn the spindle, and with it a crystal off the origin? */
static inline int db_turns_spindle(db_parameter_kind kind) {
    return kind == DB_KIND_PHI || kind == DB_KIND_SPINDLE_TILT;
}

/* Has the spindle derivatives if it carries a crystal off the origin? They need columns of lattice and panels, which
 * only spots in closed form do without. */
static inline int db_spindle_may_carry(const db_experiment *experiment) {
    return experiment->spread.spots == DB_SPOTS_CLOSED && !db_has_halo(&experiment->crystal);
}

#endif
