/* Orientations as refinement moves them: a rotation, from the standard frame to the laboratory, that a
 * small rotation about the laboratory's axes x, y and z is added to (plus) or read from (minus). The
 * three angles (degree) are turns about x, then y, then z, as the parameters misset_x, misset_y and
 * misset_z have them, whose derivatives at 0 are those by the small rotation. Far from 0 they are turns
 * about axes that have turned themselves, of which two coincide where the middle angle is 90 degree. So
 * a refinement of all three keeps the rotation, with its misset at 0, and each stage refines a small
 * rotation from there. Users see misset angles: how far the crystal has turned from the orientation
 * that they gave. */
#ifndef DB_FIT_CONFIG_ORIENTATION_H
#define DB_FIT_CONFIG_ORIENTATION_H

#include <dualbragg/fit.h>

/* turned: the rotation, then these angles. It may be the rotation itself. */
void db_orientation_plus(const double rotation[9], const double angle[3], double turned[9]);

/* The angles that lead from one rotation to another: plus(rotation, minus(turned, rotation)) is
 * turned, whatever the two are; minus(plus(rotation, angle), rotation) is the angles where the middle
 * one is within 90 degree, and the others within 180. */
void db_orientation_minus(const double turned[9], const double rotation[9], double angle[3]);

/* The rotation of a crystal, its misset included. */
void db_orientation_of(const db_crystal *crystal, double rotation[9]);

/* The crystal gets this rotation; its misset is 0. */
void db_orientation_set(const double rotation[9], db_crystal *crystal);

/* The crystal stays as it is; its misset becomes 0. */
void db_orientation_fold(db_crystal *crystal);

/* The crystal stays as it is; its misset angles become those from another orientation. */
void db_orientation_count_from(const double orientation[9], db_crystal *crystal);

/* Which of the three angles a parameter is: 0, 1, 2; -1: none. */
int db_orientation_axis(db_parameter parameter);
db_parameter db_orientation_parameter(int axis);

/* Does a refinement keep a rotation? It does if it refines all three angles of each crystal by itself.
 * If not, the angles are parameters like others: those that are fixed must stay, and those that shots
 * share count from the orientation that all have. */
int db_orientation_is_refined(const db_fit_settings *settings);

/* How far a crystal has turned from the given one, whose misset counts: what bounds and priors, which
 * users give for misset angles, have moved by. */
void db_orientation_turned(const db_crystal *given, const db_crystal *now, double angle[3]);

/* The orientation that the angles of a result count from: the given one, so that these are what users
 * have given, refined; with the misset in it if the refinement keeps a rotation and the middle angle is
 * so near 90 degree that the others are hardly determined one by one. */
void db_orientation_reference(const db_fit_settings *settings, const db_crystal *given,
                              double reference[9]);

/* The angles of a result for a rotation. */
void db_orientation_angles(const double rotation[9], const double reference[9], double angle[3]);

/* The crystal stays as it is; its misset angles become those of a result. */
void db_orientation_report(const db_fit_settings *settings, const db_crystal *given,
                           db_crystal *crystal);

#endif
