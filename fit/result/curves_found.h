/* Refined curves of f' and f'', from the estimates of their points: names, errors, edges. */
#ifndef DB_FIT_RESULT_CURVES_FOUND_H
#define DB_FIT_RESULT_CURVES_FOUND_H

#include <dualbragg/fit.h>

/* Largest distance of the true edge from the edge of the start (eV): oxidation states differ by less. */
#define DB_EDGE_REACH 10.0

typedef struct db_curve_point {
    double energy;                 /* eV */
    double f_prime, f_prime_error; /* electrons */
    double f_second, f_second_error;
} db_curve_point;

typedef struct db_found_curve {
    char name[DB_SITE_KIND_NAME]; /* name of the kind's sites */
    size_t count;
    db_curve_point *point; /* owned */
    /* Rise of f'' from the level below its edge to the one above (electrons), and standard error */
    double rise, rise_error;
    /* Energy (eV) at the steepest rise of f'' through the mean of both levels, and standard error; NAN: f'' does not rise
     * by more than twice its error */
    double edge, edge_error;
    /* How far f'' lies above that of the first kind in energy (eV), and standard error: the area between both about their edges, divided
     * by the step. NAN: the first kind, or no rise */
    double shift, shift_error;
} db_found_curve;

typedef struct db_found_curves {
    size_t count; /* kinds of sites; 0: no curve was refined */
    db_found_curve kind[DB_MOST_SITE_KINDS];
} db_found_curves;

/* sites: db_setup.sites. Clear *found after a failure, too. */
db_status db_curves_found(db_context *context, const char *sites, const db_fit_settings *settings,
                          const db_fit_estimates *estimates, db_found_curves *found);
void db_found_curves_clear(db_found_curves *found);

#endif
