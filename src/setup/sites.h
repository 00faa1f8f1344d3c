/* Kinds of sites of a set-up (db_setup.sites). */
#ifndef DB_SETUP_SITES_H
#define DB_SETUP_SITES_H

#include <dualbragg/expert/amplitude_files.h>
#include <dualbragg/experiment.h>

enum { DB_SITE_CURVE_NAME = 1024 };

typedef struct db_setup_site_kind {
    char sites[DB_SITE_KIND_NAME];
    char curve[DB_SITE_CURVE_NAME];
} db_setup_site_kind;

typedef struct db_setup_sites {
    int count;
    db_setup_site_kind kind[DB_MOST_SITE_KINDS];
    db_site_choice choice[DB_MOST_SITE_KINDS]; /* borrow texts of kind */
} db_setup_sites;

/* DB_ERROR_USAGE for a text that is none of kinds. */
db_status db_setup_read_sites(db_context *context, const char *text, db_setup_sites *sites);

/* Whether a curve is a free atom's, not a file. */
int db_setup_is_table(const char *curve);

/* Gives the kinds that coordinates were read with their curves, on points (db_setup.site_points; NULL: their
 * own); all else of the experiment is known. */
db_status db_setup_site_curves(db_context *context, const db_setup_sites *sites,
                               const double *points, db_experiment *experiment);

#endif
