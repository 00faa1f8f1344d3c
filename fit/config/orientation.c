/* Orientation of a crystal as a rotation, with plus and minus. */
#include "fit/config/orientation.h"

#include "base/degree.h"
#include "base/vector.h"
#include "fit/config/quantity.h"

#include <dualbragg/expert/mosflm_matrix.h>
#include <dualbragg/expert/experiment_geometry.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double UNTURNED[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };

/* Uses the model's own rotation: the reciprocal axes of a cubic cell of edge 1. */
void db_orientation_plus(const double rotation[9], const double angle[3], double turned[9]) {
    db_crystal cube = { .cell = { 1, 1, 1, 90, 90, 90 } };
    memcpy(cube.orientation, rotation, sizeof cube.orientation);
    memcpy(cube.misset, angle, sizeof cube.misset);
    db_crystal_matrix(&cube, turned);
}

void db_orientation_minus(const double turned[9], const double rotation[9], double angle[3]) {
    db_crystal turn = { .misset = { 0 } };
    double inverse[9];
    db_transpose(rotation, inverse);
    db_multiply(turned, inverse, turn.orientation);
    db_crystal_misset(&turn, angle);
}

void db_orientation_of(const db_crystal *crystal, double rotation[9]) {
    db_crystal cube = { .cell = { 1, 1, 1, 90, 90, 90 } };
    memcpy(cube.orientation, crystal->orientation, sizeof cube.orientation);
    memcpy(cube.misset, crystal->misset, sizeof cube.misset);
    memcpy(cube.misset_frame, crystal->misset_frame, sizeof cube.misset_frame);
    db_crystal_matrix(&cube, rotation);
}

/* A rotation seen from the frame of a crystal's misset. */
static void see_from_frame(const db_crystal *crystal, const double rotation[9], double seen[9]) {
    double back[9];
    const double *const turn = crystal->misset_frame;
    memcpy(seen, rotation, sizeof back);
    if (turn[0] == 0 && turn[1] == 0 && turn[2] == 0) return;
    db_orientation_off_setting(crystal, back);
    db_multiply(back, rotation, seen);
}

void db_orientation_set(const double rotation[9], db_crystal *crystal) {
    memmove(crystal->orientation, rotation, sizeof crystal->orientation);
    memset(crystal->misset, 0, sizeof crystal->misset);
}

void db_orientation_fold(db_crystal *crystal) {
    double rotation[9];
    db_orientation_of(crystal, rotation);
    db_orientation_set(rotation, crystal);
}

void db_orientation_count_from(const double orientation[9], db_crystal *crystal) {
    double rotation[9], now[9], from[9];
    int same = 1;
    for (int i = 0; i < 9; i++) same &= orientation[i] == crystal->orientation[i];
    if (same) return; /* the angles exactly as given */
    db_orientation_of(crystal, rotation);
    see_from_frame(crystal, rotation, now);
    see_from_frame(crystal, orientation, from);
    db_orientation_minus(now, from, crystal->misset);
    memmove(crystal->orientation, orientation, sizeof crystal->orientation);
}

int db_orientation_axis(db_parameter parameter) {
    const int axis = (int)parameter - (int)DB_MISSET_X;
    return axis >= 0 && axis < 3 ? axis : -1;
}

db_parameter db_orientation_parameter(int axis) { return (db_parameter)((int)DB_MISSET_X + axis); }

int db_orientation_is_refined(const db_fit_settings *settings) {
    int angles = 0;
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        angles += p->group < 0 && db_orientation_axis(p->parameter) >= 0 &&
                  !db_fit_parameter_is_shared(p);
    }
    return angles == 3;
}

void db_orientation_turned(const db_crystal *given, const db_crystal *now, double angle[3]) {
    double from[9], to[9];
    db_orientation_of(given, from);
    db_orientation_of(now, to);
    db_orientation_minus(to, from, angle);
    for (int i = 0; i < 3; i++) angle[i] += given->misset[i];
}

void db_orientation_reference(const db_fit_settings *settings, const db_crystal *given,
                              double reference[9]) {
    const int degenerate = fabs(cos(given->misset[1] * DB_DEGREE)) < 0.1;
    memcpy(reference, given->orientation, sizeof given->orientation);
    if (degenerate && db_orientation_is_refined(settings)) db_orientation_of(given, reference);
}

void db_orientation_angles(const double rotation[9], const double reference[9], double angle[3]) {
    db_crystal crystal = { .misset_frame = { 0 } };
    db_orientation_set(rotation, &crystal);
    db_orientation_count_from(reference, &crystal);
    memcpy(angle, crystal.misset, sizeof crystal.misset);
}

void db_orientation_setting(const db_crystal *crystal, double setting[9]) {
    db_orientation_plus(UNTURNED, crystal->misset_frame, setting);
}

void db_orientation_set_from(const double rotation[9], db_crystal *crystal) {
    db_orientation_minus(crystal->orientation, rotation, crystal->misset_frame);
}

double db_orientation_between(const double a[9], const double b[9]) {
    double trace = 0;
    for (int i = 0; i < 9; i++) trace += a[i] * b[i];
    return acos(fmin(fmax(0.5 * (trace - 1), -1), 1)) / DB_DEGREE;
}

void db_orientation_off_setting(const db_crystal *crystal, double back[9]) {
    double setting[9];
    db_orientation_setting(crystal, setting);
    db_transpose(setting, back);
}

void db_orientation_on_setting(const double rotation[9], const db_fit_config *config,
                               double turned[9]) {
    db_orientation_plus(rotation, config->setup.misset_frame, turned);
}

int db_orientation_given(db_context *context, const db_fit_config *config, double rotation[9]) {
    db_crystal crystal = { .cell = { 1, 1, 1, 90, 90, 90 } };
    double matrix[9];
    if (!isnan(config->orientation[0]))
        memcpy(crystal.orientation, config->orientation, sizeof crystal.orientation);
    else if (!*config->matrix_file ||
             db_read_mosflm_matrix(context, config->matrix_file, matrix) != DB_OK ||
             db_crystal_set_matrix(context, &crystal, matrix) != DB_OK)
        return 0;
    memcpy(crystal.misset, config->setup.misset, sizeof crystal.misset);
    memcpy(crystal.misset_frame, config->setup.misset_frame, sizeof crystal.misset_frame);
    db_orientation_of(&crystal, rotation);
    return 1;
}

int db_orientation_has_setting(const db_fit_config *config) {
    const double *const setting = config->setup.misset_frame;
    return fabs(setting[0]) > 0 || fabs(setting[1]) > 0 || fabs(setting[2]) > 0;
}

/* The angles turn about x, then y, then z, about the axes of the setting. */
void db_orientation_slopes(const db_crystal *crystal, double to_angles[9]) {
    const double *const angle = crystal->misset;
    double back[9], of_z[9], of_y[9], slopes[9], inverse[9];
    db_orientation_off_setting(crystal, back);
    db_orientation_plus(UNTURNED, (double[3]){ 0, 0, angle[2] }, of_z);
    db_orientation_plus(UNTURNED, (double[3]){ 0, angle[1], angle[2] }, of_y);
    for (int i = 0; i < 3; i++) {
        slopes[3 * i] = of_y[3 * i];
        slopes[3 * i + 1] = of_z[3 * i + 1];
        slopes[3 * i + 2] = i == 2;
    }
    memset(to_angles, 0, 9 * sizeof *to_angles);
    if (db_invert(slopes, inverse)) db_multiply(inverse, back, to_angles);
}

void db_orientation_configure(const db_crystal *crystal, db_fit_config *config) {
    memcpy(config->orientation, crystal->orientation, sizeof config->orientation);
    memcpy(config->setup.misset, crystal->misset, sizeof crystal->misset);
    memcpy(config->setup.misset_frame, crystal->misset_frame, sizeof crystal->misset_frame);
    config->find_orientation = 0;
}

void db_orientation_keys(const double rotation[9],
                         char key[DB_ORIENTATION_KEYS][DB_ORIENTATION_KEY_SIZE]) {
    const double *const o = rotation;
    snprintf(key[0], sizeof key[0], "model.find_orientation=no");
    snprintf(key[1], sizeof key[1], "model.misset=[0, 0, 0]");
    snprintf(key[2], sizeof key[2],
             "model.orientation=[%.17g, %.17g, %.17g, %.17g, %.17g, %.17g, %.17g, %.17g, %.17g]",
             o[0], o[1], o[2], o[3], o[4], o[5], o[6], o[7], o[8]);
}

void db_orientation_setting_key(const double rotation[9], const double turned[9],
                                char key[DB_ORIENTATION_KEY_SIZE]) {
    double angle[3];
    db_orientation_minus(turned, rotation, angle);
    snprintf(key, DB_ORIENTATION_KEY_SIZE, "model.misset_frame=[%.17g, %.17g, %.17g]", angle[0],
             angle[1], angle[2]);
}

void db_orientation_report(const db_fit_settings *settings, const db_crystal *given,
                           db_crystal *crystal) {
    double reference[9];
    db_orientation_reference(settings, given, reference);
    db_orientation_count_from(reference, crystal);
}
