/* What a source and a class of blocks show of reflections: components of spots in closed form, each as
 * a Gaussian on its panel. Derivation: docs/theory/spots.md, Places. */
#ifndef DB_ENGINE_SPOT_COMPONENTS_H
#define DB_ENGINE_SPOT_COMPONENTS_H

#include "engine/spots.h"

#include <dualbragg/spots.h>

/* What one source and one Gaussian of the blocks show of a reflection. */
typedef struct {
    db_spot spot;
    /* photons are factor exp(exponent); until db_spot_component_complete, without what depends on the
     * pixel */
    double exponent, factor;
    double wavelength_variance; /* of its photons (A^2) */
    int moves;                  /* by the rotation */
    int leaves;                 /* the sphere, by the rotation */
    int listed;                 /* near enough to the sphere */
    int seen;                   /* on its panel's plane */
    int is_wrong;               /* 1: its spreads are no covariance */
} db_spot_component;

/* Of `count` names, at most DB_SPOT_NODES, without spot.recorded of stills. */
void db_spot_components(const db_plan *plan, const db_spot_options *options,
                        const db_spot_name *name, int count, db_spot_component *component);

/* Completes the factor, if photons are wanted, and sets spot.recorded, of one that is seen. */
void db_spot_component_complete(const db_plan *plan, int photons, db_spot_component *component);

#endif
