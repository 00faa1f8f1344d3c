/* Components of spots in closed form: the Gaussian on a panel that one source and one class of blocks make of a
 * reflection. Derivation: docs/theory/spots.md, Places. */
#ifndef DB_ENGINE_SPOT_COMPONENTS_H
#define DB_ENGINE_SPOT_COMPONENTS_H

#include "engine/spots.h"

#include <dualbragg/spots.h>

/* The component of a reflection for one source and one Gaussian of the blocks. */
typedef struct {
    db_spot spot;
    /* photons are factor exp(exponent); before db_spot_component_complete without the pixel's factors */
    double exponent, factor;
    double wavelength_variance; /* of its photons (A^2) */
    int moves;                  /* by the rotation */
    int leaves;                 /* the sphere, by the rotation */
    int listed;                 /* near enough to the sphere */
    int seen;                   /* on its panel's plane */
    int is_wrong;               /* 1: its spreads are no covariance */
} db_spot_component;

/* Computes the components of `count` names, at most DB_SPOT_NODES; for stills without spot.recorded. */
void db_spot_components(const db_plan *plan, const db_spot_options *options,
                        const db_spot_name *name, int count, db_spot_component *component);

/* Places listed spots of one panel, at most DB_SPOT_NODES, of a still of one source and one class of blocks, without their
 * components, photons, recorded parts and wavelengths. */
void db_spots_at_rest(const db_plan *plan, const uint32_t *number, int count, db_spot *spot);

/* Completes a component that is seen: its factor, if photons are wanted, and spot.recorded. */
void db_spot_component_complete(const db_plan *plan, int photons, db_spot_component *component);

#endif
