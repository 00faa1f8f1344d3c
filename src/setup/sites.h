/* Curves of the kinds of sites of a set-up. */
#ifndef DB_SETUP_SITES_H
#define DB_SETUP_SITES_H

#include <dualbragg/expert/site_curves.h>
#include <dualbragg/experiment.h>
#include <dualbragg/setup.h>

/* Gives the kinds that coordinates were read with their curves, by site_points and site_reach of the set-up; all else of the
 * experiment is known. */
db_status db_setup_site_curves(db_context *context, const db_setup_sites *sites,
                               const db_setup *setup, db_experiment *experiment);

#endif
