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

/* turned: the rotation followed by these angles. It may be the rotation itself. */
void db_orientation_plus(const double rotation[9], const double angle[3], double turned[9]);

/* The angles from one rotation to another: plus(rotation, minus(turned, rotation)) is always turned;
 * minus(plus(rotation, angle), rotation) is angle, if the middle angle is within 90 degree and the others within
 * 180. */
void db_orientation_minus(const double turned[9], const double rotation[9], double angle[3]);

/* The rotation of a crystal, its misset included. */
void db_orientation_of(const db_crystal *crystal, double rotation[9]);

/* Sets the rotation of a crystal; its misset becomes 0. */
void db_orientation_set(const double rotation[9], db_crystal *crystal);

/* Sets the misset of a crystal to 0, without turning it. */
void db_orientation_fold(db_crystal *crystal);

/* Sets the misset angles of a crystal to the angles from another orientation, without turning it. */
void db_orientation_count_from(const double orientation[9], db_crystal *crystal);

/* Number of a parameter's angle: 0, 1, 2; -1: none. */
int db_orientation_axis(db_parameter parameter);
db_parameter db_orientation_parameter(int axis);

/* Does a refinement keep a rotation? It does if it refines all three angles of each crystal by itself. If not, the
 * angles are ordinary parameters: fixed angles must stay, and shared angles are relative to the orientation that
 * all shots have. */
int db_orientation_is_refined(const db_fit_settings *settings);

/* Rotation of a crystal from the given one, misset included: by this, bounds and priors, which users give for
 * misset angles, have moved. */
void db_orientation_turned(const db_crystal *given, const db_crystal *now, double angle[3]);

/* Reference orientation for the angles of a result: the given one, so that users see their own angles refined;
 * with the misset in it, if the refinement keeps a rotation and the middle angle is so near 90 degree that the
 * other two are hardly determined singly. */
void db_orientation_reference(const db_fit_settings *settings, const db_crystal *given,
                              double reference[9]);

/* Angles of a result for a rotation. */
void db_orientation_angles(const double rotation[9], const double reference[9], double angle[3]);

/* The rotation by which the goniometer has turned a crystal since its angles were about the laboratory's axes. */
void db_orientation_setting(const db_crystal *crystal, double setting[9]);
/* The goniometer has turned a crystal from a rotation to its own. */
void db_orientation_set_from(const double rotation[9], db_crystal *crystal);
/* The rotation back from a crystal's setting to the one that settings are counted from. */
void db_orientation_off_setting(const db_crystal *crystal, double back[9]);
/* The rotation of a crystal on the setting of a configuration, from the one that settings are counted from. */
void db_orientation_on_setting(const double rotation[9], const db_fit_config *config,
                               double turned[9]);
/* Does a configuration name an orientation, of its own or as a matrix? rotation: gets it. */
int db_orientation_given(db_context *context, const db_fit_config *config, double rotation[9]);
/* Does a configuration name a setting? */
int db_orientation_has_setting(const db_fit_config *config);
/* The angle of the turn from one rotation to another (degree). */
double db_orientation_between(const double a[9], const double b[9]);

/* Matrix from a small turn of a crystal about the laboratory's axes to the changes of its angles; 0: they cannot follow it. */
void db_orientation_slopes(const db_crystal *crystal, double to_angles[9]);

/* The model of a configuration has the orientation of a crystal. */
void db_orientation_configure(const db_crystal *crystal, db_fit_config *config);

/* Keys of a model that has a rotation, in place of any other orientation; and the key of a setting that has turned a crystal
 * from one rotation to another. */
enum { DB_ORIENTATION_KEYS = 3, DB_ORIENTATION_KEY_SIZE = 320 };
void db_orientation_setting_key(const double rotation[9], const double turned[9],
                                char key[DB_ORIENTATION_KEY_SIZE]);
void db_orientation_keys(const double rotation[9],
                         char key[DB_ORIENTATION_KEYS][DB_ORIENTATION_KEY_SIZE]);

/* Sets the misset angles of a crystal to the angles of a result, without turning it. */
void db_orientation_report(const db_fit_settings *settings, const db_crystal *given,
                           db_crystal *crystal);

#endif
