/* Labels of simulated images. */
#include "io/nexus/nexus_labels.h"

#include "base/context_internal.h"

#if defined(DB_HAVE_HDF5)
#include "base/vector.h"
#include "io/experiments/dxtbx.h"
#include "io/nexus/nexus_output.h"

#include <dualbragg/expert/experiment_geometry.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct db_nexus_labels {
    db_nexus_writer *writer;
    int with_spots;
    db_hdf5_column number, orientation, quaternion, ub_matrix, misset, cell, wavelength, fluence,
        photons, noise_seed, flicker;
    db_hdf5_column first, count, shot, hkl, panel, position, spot_photons, resolution,
        spot_wavelength, spot_width;
};

static void put_label(db_nexus_labels *l, hid_t group, const char *name, db_hdf5_kind kind,
                      int dimensions, const hsize_t *shape, const char *units,
                      db_hdf5_column *column) {
    db_hdf5_put_column(&l->writer->out, group, name, kind, dimensions, shape, units, column);
}

static void put_spots(db_nexus_labels *l, hid_t shots) {
    static const hsize_t two = 2, three = 3;
    const hid_t group = db_hdf5_put_group(&l->writer->out, shots, "reflections", "NXcollection");
    put_label(l, group, "first", DB_HDF5_INT64, 0, NULL, NULL, &l->first);
    put_label(l, group, "count", DB_HDF5_INT64, 0, NULL, NULL, &l->count);
    put_label(l, group, "shot", DB_HDF5_INT64, 0, NULL, NULL, &l->shot);
    put_label(l, group, "hkl", DB_HDF5_INT32, 1, &three, NULL, &l->hkl);
    put_label(l, group, "panel", DB_HDF5_INT32, 0, NULL, NULL, &l->panel);
    put_label(l, group, "position", DB_HDF5_DOUBLE, 1, &two, "pixel", &l->position);
    put_label(l, group, "photons", DB_HDF5_DOUBLE, 0, NULL, NULL, &l->spot_photons);
    put_label(l, group, "resolution", DB_HDF5_DOUBLE, 0, NULL, "angstrom", &l->resolution);
    put_label(l, group, "wavelength", DB_HDF5_DOUBLE, 0, NULL, "angstrom", &l->spot_wavelength);
    put_label(l, group, "wavelength_width", DB_HDF5_DOUBLE, 0, NULL, "angstrom", &l->spot_width);
}

static db_status put_columns(db_nexus_labels *l) {
    static const hsize_t three[2] = { 3, 3 }, four = 4, six = 6;
    db_nexus_writer *const w = l->writer;
    const hid_t group = db_hdf5_put_group(&w->out, w->entry, "shots", "NXcollection");
    put_label(l, group, "number", DB_HDF5_INT64, 0, NULL, NULL, &l->number);
    put_label(l, group, "orientation", DB_HDF5_DOUBLE, 2, three, NULL, &l->orientation);
    put_label(l, group, "quaternion", DB_HDF5_DOUBLE, 1, &four, NULL, &l->quaternion);
    put_label(l, group, "ub_matrix", DB_HDF5_DOUBLE, 2, three, "1/angstrom", &l->ub_matrix);
    put_label(l, group, "misset", DB_HDF5_DOUBLE, 1, three, "deg", &l->misset);
    put_label(l, group, "cell", DB_HDF5_DOUBLE, 1, &six, NULL, &l->cell);
    put_label(l, group, "wavelength", DB_HDF5_DOUBLE, 0, NULL, "angstrom", &l->wavelength);
    put_label(l, group, "fluence", DB_HDF5_DOUBLE, 0, NULL, "1/m^2", &l->fluence);
    put_label(l, group, "photons", DB_HDF5_DOUBLE, 0, NULL, NULL, &l->photons);
    put_label(l, group, "noise_seed", DB_HDF5_UINT32, 0, NULL, NULL, &l->noise_seed);
    put_label(l, group, "flicker", DB_HDF5_DOUBLE, 0, NULL, NULL, &l->flicker);
    if (l->with_spots) put_spots(l, group);
    return db_hdf5_state(&w->out);
}

db_status db_nexus_labels_create(db_nexus_writer *writer, int with_spots,
                                 db_nexus_labels **labels) {
    db_hdf5_guard guard;
    db_nexus_labels *const l = *labels = calloc(1, sizeof *l);
    if (!l) return db_fail_memory(writer->out.context, "the labels of images");
    l->writer = writer;
    l->with_spots = with_spots;
    db_hdf5_enter(&guard);
    const db_status status = put_columns(l);
    db_hdf5_leave(&guard);
    return status;
}

/* ub: columns a*, b*, c* at the spindle's first angle, in the frame of NeXus; orientation: the rotation of a
 * crystal from its standard setting to there. */
static void orient_label(const db_nexus_writer *w, const db_experiment *e, double ub[9],
                         double orientation[9]) {
    db_crystal standard = e->crystal;
    double axis[3], b[9], inverse[9];
    db_crystal_matrix(&e->crystal, ub);
    db_experiment_spindle_axis(e, axis);
    for (int k = 0; k < 3; k++) {
        double v[3] = { ub[k], ub[3 + k], ub[6 + k] };
        db_turn_by_degrees(axis, e->goniometer.phi, v);
        db_nexus_turn(w, v, v);
        for (int i = 0; i < 3; i++) ub[3 * i + k] = v[i];
    }
    for (int i = 0; i < 9; i++) standard.orientation[i] = i % 4 == 0;
    memset(standard.misset, 0, sizeof standard.misset);
    db_crystal_matrix(&standard, b);
    db_invert(b, inverse);
    db_multiply(ub, inverse, orientation);
}

/* w, x, y, z with w >= 0, from the largest of the four. */
static void to_quaternion(const double m[9], double q[4]) {
    const double square[4] = { 1 + m[0] + m[4] + m[8], 1 + m[0] - m[4] - m[8],
                               1 - m[0] + m[4] - m[8], 1 - m[0] - m[4] + m[8] };
    const double product[4][4] = {
        { square[0], m[7] - m[5], m[2] - m[6], m[3] - m[1] },
        { m[7] - m[5], square[1], m[1] + m[3], m[2] + m[6] },
        { m[2] - m[6], m[1] + m[3], square[2], m[5] + m[7] },
        { m[3] - m[1], m[2] + m[6], m[5] + m[7], square[3] },
    };
    int k = 0;
    for (int i = 1; i < 4; i++)
        if (square[i] > square[k]) k = i;
    const double sign = product[k][0] < 0 ? -1 : 1;
    for (int i = 0; i < 4; i++) q[i] = sign * product[k][i] / (2 * sqrt(square[k]));
}

static void append_spots(db_nexus_labels *l, int64_t row, const db_predicted_spots *list) {
    db_hdf5_output *const out = &l->writer->out;
    const int64_t first = (int64_t)l->shot.extent[0], count = (int64_t)list->count;
    db_hdf5_append(out, &l->first, &first, 1);
    db_hdf5_append(out, &l->count, &count, 1);
    enum { AT_ONCE = 256 };
    for (size_t at = 0; at < list->count; at += AT_ONCE) {
        int64_t shot[AT_ONCE];
        int32_t hkl[AT_ONCE][3], panel[AT_ONCE];
        double position[AT_ONCE][2], photons[AT_ONCE], resolution[AT_ONCE], wavelength[AT_ONCE],
            width[AT_ONCE];
        const size_t n = list->count - at < AT_ONCE ? list->count - at : AT_ONCE;
        for (size_t i = 0; i < n; i++) {
            const db_spot *const spot = &list->spot[at + i];
            shot[i] = row;
            for (int d = 0; d < 3; d++) hkl[i][d] = spot->hkl[d];
            panel[i] = (int32_t)spot->panel;
            memcpy(position[i], spot->position, sizeof position[i]);
            photons[i] = spot->photons;
            resolution[i] = spot->resolution;
            wavelength[i] = spot->wavelength;
            width[i] = spot->wavelength_width;
        }
        db_hdf5_append(out, &l->shot, shot, n);
        db_hdf5_append(out, &l->hkl, hkl, n);
        db_hdf5_append(out, &l->panel, panel, n);
        db_hdf5_append(out, &l->position, position, n);
        db_hdf5_append(out, &l->spot_photons, photons, n);
        db_hdf5_append(out, &l->resolution, resolution, n);
        db_hdf5_append(out, &l->spot_wavelength, wavelength, n);
        db_hdf5_append(out, &l->spot_width, width, n);
    }
}

static db_status append_label(db_nexus_labels *l, const db_experiment *e,
                              const db_shot_label *label) {
    db_hdf5_output *const out = &l->writer->out;
    double ub[9], orientation[9], quaternion[4];
    orient_label(l->writer, e, ub, orientation);
    to_quaternion(orientation, quaternion);
    const int64_t row = (int64_t)l->number.extent[0];
    const double fluence = e->beam.fluence * e->beam.scale;
    db_hdf5_append(out, &l->number, &label->number, 1);
    db_hdf5_append(out, &l->orientation, orientation, 1);
    db_hdf5_append(out, &l->quaternion, quaternion, 1);
    db_hdf5_append(out, &l->ub_matrix, ub, 1);
    db_hdf5_append(out, &l->misset, label->misset, 1);
    db_hdf5_append(out, &l->cell, e->crystal.cell, 1);
    db_hdf5_append(out, &l->wavelength, &e->beam.wavelength, 1);
    db_hdf5_append(out, &l->fluence, &fluence, 1);
    db_hdf5_append(out, &l->photons, &label->photons, 1);
    db_hdf5_append(out, &l->noise_seed, &label->noise_seed, 1);
    db_hdf5_append(out, &l->flicker, &label->flicker, 1);
    if (l->with_spots && label->spots) append_spots(l, row, label->spots);
    return db_hdf5_state(out);
}

db_status db_nexus_labels_append(db_nexus_labels *labels, const db_experiment *experiment,
                                 const db_shot_label *label) {
    db_hdf5_guard guard;
    db_hdf5_enter(&guard);
    const db_status status = append_label(labels, experiment, label);
    db_hdf5_leave(&guard);
    return status;
}

void db_nexus_labels_destroy(db_nexus_labels **labels) {
    free(*labels);
    *labels = NULL;
}
#else
db_status db_nexus_labels_create(db_nexus_writer *writer, int with_spots,
                                 db_nexus_labels **labels) {
    (void)writer;
    (void)with_spots;
    *labels = NULL;
    return DB_ERROR_UNSUPPORTED;
}

db_status db_nexus_labels_append(db_nexus_labels *labels, const db_experiment *experiment,
                                 const db_shot_label *label) {
    (void)labels;
    (void)experiment;
    (void)label;
    return DB_ERROR_UNSUPPORTED;
}

void db_nexus_labels_destroy(db_nexus_labels **labels) { *labels = NULL; }
#endif
