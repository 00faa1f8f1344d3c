/* Entry points of the model: interface values without slopes, and with slopes by some parameters.
 */
#ifndef DB_MODEL_MODEL_H
#define DB_MODEL_MODEL_H

#include "model/mosaic_directions.h"
#include "model/parameter_slots.h"

#include <dualbragg/parameters.h>

#ifndef LANES
#define LANES 1
#endif
#define AD_MANY DB_SLOPES_AT_ONCE
#define REAL double
#include "ad/lane.h"
#define DIRS 0
#include "model/interface.h"
typedef interface_values db_interface;
typedef panel_interface db_panel_interface;
typedef source_interface db_source_interface;
typedef spread_interface db_spread_interface;
typedef num db_number;
typedef vec3 db_vector;
typedef mat3 db_matrix;
#undef DIRS
#define DIRS many
#include "model/interface.h"
typedef interface_values db_dual_interface;
typedef panel_interface db_dual_panel_interface;
typedef source_interface db_dual_source_interface;
typedef spread_interface db_dual_spread_interface;
typedef num db_dual;
typedef vec3 db_dual_vector;
typedef mat3 db_dual_matrix;
#undef DIRS
#undef REAL

/* Sub-pixels of a pixel along each side. */
enum { DB_MOST_OVERSAMPLE = 1000 };

/* Fills the interface; the arrays in it are the caller's: panel [panel_count], source
 * [source_count], rotation [phi_steps * mosaic_domains], site_curve as interface.h has it. directions: those of the crystal's mosaic
 * seed. slots: the parameters that get slopes. The experiment must have passed
 * db_experiment_check. Thread-safe. */
void db_model_plain(const db_experiment *experiment, const db_mosaic_direction *directions,
                    db_interface *out);
void db_model_dual(const db_experiment *experiment, const db_mosaic_direction *directions,
                   const db_parameter_slots *slots, db_dual_interface *out);

/* Lattice vectors a, b, c (angstrom, rows) at phi = 0, misset included. */
void db_model_lattice(const db_experiment *experiment, double rows[9]);

/* Only the panels (all of them), without slopes: in the laboratory, and as the crystal sees them. */
void db_model_panels(const db_experiment *experiment, db_panel_interface *panels);
void db_model_panels_from_crystal(const db_experiment *experiment, db_panel_interface *panels);

/* Only the sources (all of them), without slopes. */
void db_model_sources(const db_experiment *experiment, db_source_interface *sources);

/* Shortest and longest wavelength of all sources (A). */
void db_model_wavelengths(const db_experiment *experiment, double range[2]);

/* f' and f'' of each kind of sites at a wavelength (A). */
void db_model_site_curves(const db_experiment *experiment, double wavelength, double *curve);

static inline void db_vector_out(db_vector v, double out[3]) {
    out[0] = v.x.v;
    out[1] = v.y.v;
    out[2] = v.z.v;
}

/* Sub-pixel x layer x source x phi step x domain. */
double db_samples_per_pixel(const db_experiment *experiment);

#endif
