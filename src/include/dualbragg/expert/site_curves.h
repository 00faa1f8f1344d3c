/** @file
 * Curves of f' and f'': the text that names them, f' by the relation of Kramers and Kronig, and points among the
 * parameters. */
#ifndef DUALBRAGG_EXPERT_SITE_CURVES_H
#define DUALBRAGG_EXPERT_SITE_CURVES_H

#include <dualbragg/context.h>
#include <dualbragg/expert/amplitude_files.h>
#include <dualbragg/parameters.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DB_SITE_CURVE_NAME = 1024 }; /**< characters of a curve's name, the final 0 included */

/** A kind of sites in a text. */
typedef struct db_setup_site_kind {
    char sites[DB_SITE_KIND_NAME];  /**< which atoms they are */
    char curve[DB_SITE_CURVE_NAME]; /**< a file, or table[:SHIFT] */
} db_setup_site_kind;

/** Kinds of sites in a text. */
typedef struct db_setup_sites {
    int count;                                   /**< of kinds */
    db_setup_site_kind kind[DB_MOST_SITE_KINDS]; /**< in their order */
    db_site_choice
        choice[DB_MOST_SITE_KINDS]; /**< for readers of coordinates; borrow texts of kind */
} db_setup_sites;

/** Reads a text of kinds of sites, SITES=CURVE[,SITES=CURVE...] (db_setup.sites).
 *
 * @param context receives the message of a failure; may be NULL
 * @param text the text
 * @param sites receives the kinds
 * @return DB_ERROR_USAGE: the text is none of at most DB_MOST_SITE_KINDS kinds with a curve each */
DB_API db_status db_setup_read_sites(db_context *context, const char *text, db_setup_sites *sites);

/** Whether a curve is a free atom's, not a file.
 *
 * @param curve as in db_setup_site_kind
 * @return 1, or 0: a file */
DB_API int db_setup_is_table(const char *curve);

/** The part of f' at an energy that belongs to f'' on a range of energies (docs/theory/anomalous.md, Kramers and Kronig):
 * (2/pi) times the principal value of the integral of E' f''(E')/(E^2 - E'^2), where f'' follows straight lines
 * between points and is 0 beyond the ends. Where the energy is an end at which f'' is not 0, the integral is infinite;
 * that logarithm is left out.
 *
 * @param energy [count] eV, above 0, ascending
 * @param f_second [count] f'' (electrons) at each
 * @param count number of points
 * @param at the energy (eV), above 0
 * @return f' (electrons) */
DB_API double db_kramers_kronig(const double *energy, const double *f_second, size_t count,
                                double at);

/** The energy of a point of a curve whose points are equally far apart.
 *
 * @param points first and last energy (eV), number of points
 * @param point its number, from 0; others lie beyond the ends
 * @return eV */
static inline double db_site_curve_energy(const double points[3], long point) {
    return points[0] + (points[1] - points[0]) * (double)point / (points[2] - 1);
}

/** Whether a parameter is one of db_parameter_site_curve, and which.
 *
 * @param parameter any
 * @param kind receives its number, from 0
 * @param second receives 0 for f', 1 for f''
 * @param point receives the number of the point, from 0
 * @return 1, or 0: nothing is received */
DB_API int db_parameter_is_site_curve(db_parameter parameter, int *kind, int *second,
                                      size_t *point);

#ifdef __cplusplus
}
#endif
#endif
