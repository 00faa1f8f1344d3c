/* NXmx files: groups of an experiment, and images that are appended. */
#define _POSIX_C_SOURCE 200809L /* strcasecmp */
#include "io/nexus/nexus_write.h"

#include "base/context_internal.h"
#include "base/path.h"

#include <string.h>
#include <strings.h>

int db_names_hdf5(const char *path) {
    static const char *const endings[] = { ".h5", ".hdf5", ".nxs" };
    const char *const dot = path ? strrchr(db_file_name(path), '.') : NULL;
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(dot, endings[i]) == 0) return 1;
    return 0;
}

#if defined(DB_HAVE_HDF5)
#include "base/vector.h"
#include "io/nexus/nexus.h"
#include "io/nexus/nexus_output.h"
#include "model/beam_spectrum.h"

#include <dualbragg/expert/sensor_materials.h>
#include <dualbragg/version.h>
#include <dualbragg/expert/dials_frame.h>
#include <dualbragg/expert/experiment_geometry.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const metre = "m";

/* The axes of NeXus as rows: z along the beam, y up for a horizontal spindle. Those of dxtbx (db_dials_frame) are
 * -x, y, -z. */
static void nexus_frame(const double beam[3], const db_experiment *experiment, double frame[3][3]) {
    double dials[3][3];
    db_dials_frame(experiment, dials);
    memcpy(frame[2], beam, sizeof frame[2]);
    const double along = db_dot(dials[0], beam);
    for (int i = 0; i < 3; i++) frame[0][i] = along * beam[i] - dials[0][i];
    db_normalize(frame[0]);
    db_cross(frame[2], frame[0], frame[1]);
}

void db_nexus_turn(const db_nexus_writer *writer, const double laboratory[3], double turned[3]) {
    double v[3];
    for (int i = 0; i < 3; i++) v[i] = db_dot(writer->frame[i], laboratory);
    memcpy(turned, v, sizeof v);
}

/* Wavelengths and normalized weights of all sources; the mean direction. */
static db_status find_sources(const db_experiment *e, db_nexus_writer *w, double beam[3]) {
    const size_t count = e->beam.source_count;
    db_source_interface *const source = malloc(count * sizeof *source);
    if (!source) return db_fail_memory(w->out.context, "the sources of a beam");
    db_model_sources(e, source);
    memset(beam, 0, 3 * sizeof *beam);
    for (size_t j = 0; j < count; j++) {
        double s0[3];
        db_vector_out(source[j].s0, s0);
        w->wavelength[j] = 1 / source[j].kappa.v;
        w->weight[j] = source[j].weight.v;
        for (int i = 0; i < 3; i++) beam[i] += w->weight[j] * w->wavelength[j] * s0[i];
    }
    free(source);
    db_normalize(beam);
    return DB_OK;
}

static void put_translation(db_hdf5_output *out, hid_t group, const char *name, double value,
                            const double direction[3], const char *depends_on) {
    static const double nowhere[3] = { 0, 0, 0 };
    db_hdf5_put_number(out, group, name, value, metre);
    db_hdf5_note_text(out, group, name, "transformation_type", "translation");
    db_hdf5_note_numbers(out, group, name, "vector", direction, 3);
    db_hdf5_note_numbers(out, group, name, "offset", nowhere, 3);
    db_hdf5_note_text(out, group, name, "offset_units", metre);
    db_hdf5_note_text(out, group, name, "depends_on", depends_on);
}

/* A panel in the frame of NeXus (mm): corner and unit vectors. */
typedef struct placed_panel {
    double origin[3], fast[3], slow[3];
} placed_panel;

static void place_detector(const db_nexus_writer *w, const db_experiment *e, size_t index,
                           placed_panel *panel) {
    const db_panel *const p = &e->detector.panels[index];
    double corner[3][3];
    const double at[3][2] = { { 0, 0 }, { p->fast_pixels, 0 }, { 0, p->slow_pixels } };
    for (int c = 0; c < 3; c++) {
        (void)db_experiment_pixel_position(e, index, at[c][0], at[c][1], corner[c]);
        db_nexus_turn(w, corner[c], corner[c]);
    }
    for (int i = 0; i < 3; i++) {
        panel->origin[i] = corner[0][i];
        panel->fast[i] = corner[1][i] - corner[0][i];
        panel->slow[i] = corner[2][i] - corner[0][i];
    }
    db_normalize(panel->fast);
    db_normalize(panel->slow);
}

/* The distance along the beam to a panel's plane (mm); 0: the beam does not meet it downstream of the sample.
 * *close: the plane's distance from the sample. */
static double distance_of(const placed_panel *panel, double *close) {
    double normal[3];
    db_cross(panel->fast, panel->slow, normal);
    const double along = db_dot(panel->origin, normal);
    *close = fabs(along);
    return along / normal[2] > 0 && fabs(normal[2]) > 1e-6 ? along / normal[2] : 0;
}

static void put_module(db_nexus_writer *w, hid_t detector, const db_experiment *e, size_t index,
                       int first_row, double distance) {
    static const char depends_on[] = "/entry/instrument/detector/transformations/distance";
    db_hdf5_output *const out = &w->out;
    const db_panel *const p = &e->detector.panels[index];
    const int origin[2] = { first_row, 0 }, size[2] = { p->slow_pixels, p->fast_pixels };
    placed_panel panel;
    char name[32], path[96];
    place_detector(w, e, index, &panel);
    snprintf(name, sizeof name, "module_%04zu", index); /* readers sort names */
    snprintf(path, sizeof path, "/entry/instrument/detector/%s/module_offset", name);
    const hid_t module = db_hdf5_put_group(out, detector, name, "NXdetector_module");
    db_hdf5_put_integers(out, module, "data_origin", origin, 2);
    db_hdf5_put_integers(out, module, "data_size", size, 2);
    double offset[3] = { panel.origin[0], panel.origin[1], panel.origin[2] - distance };
    const double length = db_length(offset);
    if (!db_normalize(offset)) offset[0] = 1;
    put_translation(out, module, "module_offset", 1e-3 * length, offset, depends_on);
    put_translation(out, module, "fast_pixel_direction", 1e-3 * p->pixel_size[0], panel.fast, path);
    put_translation(out, module, "slow_pixel_direction", 1e-3 * p->pixel_size[1], panel.slow, path);
}

/* Writes the places of modules: the distance along the beam, and each module from there. */
static void put_modules(db_nexus_writer *w, hid_t detector, const db_experiment *e) {
    static const double along_beam[3] = { 0, 0, 1 };
    db_hdf5_output *const out = &w->out;
    const db_panel *const p = &e->detector.panels[0];
    placed_panel panel;
    place_detector(w, e, 0, &panel);
    double close;
    const double distance = distance_of(&panel, &close);
    const double to_beam[3] = { -panel.origin[0], -panel.origin[1], distance - panel.origin[2] };
    db_hdf5_put_number(out, detector, "distance", 1e-3 * (distance > 0 ? distance : close), metre);
    if (e->detector.panel_count == 1 && distance > 0) {
        db_hdf5_put_number(out, detector, "beam_center_x",
                           db_dot(to_beam, panel.fast) / p->pixel_size[0], "pixel");
        db_hdf5_put_number(out, detector, "beam_center_y",
                           db_dot(to_beam, panel.slow) / p->pixel_size[1], "pixel");
    }
    db_hdf5_put_text(out, detector, "depends_on",
                     "/entry/instrument/detector/transformations/distance");
    const hid_t chain = db_hdf5_put_group(out, detector, "transformations", "NXtransformations");
    put_translation(out, chain, "distance", 1e-3 * distance, along_beam, ".");
    int row = 0;
    for (size_t i = 0; i < e->detector.panel_count; i++) {
        put_module(w, detector, e, i, row, distance);
        row += e->detector.panels[i].slow_pixels;
    }
}

/* Sets bit 0 of NXmx (no detector) for pixels that do not count. Returns how many. */
static size_t fill_mask(const db_nexus_writer *w, const db_nexus_format *format, uint32_t *bits) {
    const db_region *const r = format->region;
    const size_t width = (size_t)w->shape[1], count = (size_t)w->shape[0] * width;
    size_t masked = 0;
    for (size_t i = 0; i < count; i++) {
        const int fast = (int)(i % width), slow = (int)(i / width);
        const int outside = r && (fast < r->fast_start || fast >= r->fast_start + r->fast_count ||
                                  slow < r->slow_start || slow >= r->slow_start + r->slow_count);
        bits[i] = outside || (format->mask && !format->mask[i]);
        masked += bits[i];
    }
    return masked;
}

static db_status put_mask(db_nexus_writer *w, hid_t detector, const db_nexus_format *format) {
    const size_t count = (size_t)(w->shape[0] * w->shape[1]);
    if (!format->mask && !format->region) return DB_OK;
    uint32_t *const bits = malloc(count * sizeof *bits);
    if (!bits) return db_fail_memory(w->out.context, "a mask");
    db_packed packed = { NULL, 0 };
    db_hdf5_column column;
    db_status status = DB_OK;
    if (fill_mask(w, format, bits))
        status =
            db_pack_bitshuffle(w->out.context, w->out.path, bits, count, sizeof *bits, &packed);
    free(bits);
    if (status != DB_OK || !packed.bytes) return status;
    db_hdf5_put_images(&w->out, detector, "pixel_mask", DB_HDF5_UINT32, 2, w->shape, &column);
    if (!w->out.reopened) db_hdf5_append_image(&w->out, &column, packed.bytes, packed.size);
    db_packed_clear(&packed);
    return DB_OK;
}

static db_status put_detector(db_nexus_writer *w, hid_t instrument, const db_experiment *e,
                              const db_nexus_format *format) {
    db_hdf5_output *const out = &w->out;
    const db_detector *const d = &e->detector;
    const int sensor = d->sensor_thickness > 0;
    const hid_t group = db_hdf5_put_group(out, instrument, "detector", "NXdetector");
    db_hdf5_put_text(out, group, "description", "simulated by dualbragg");
    db_hdf5_put_text(out, group, "type", "Pixel");
    db_hdf5_put_number(out, group, "x_pixel_size", 1e-3 * d->panels[0].pixel_size[0], metre);
    db_hdf5_put_number(out, group, "y_pixel_size", 1e-3 * d->panels[0].pixel_size[1], metre);
    /* dxtbx wants a material that it knows, too */
    db_hdf5_put_text(out, group, "sensor_material",
                     sensor ? db_sensor_material_name(d->sensor_material) : "Si");
    db_hdf5_put_number(out, group, "sensor_thickness",
                       sensor ? 1e-6 * d->sensor_thickness : 1e-3 * DB_NO_SENSOR, metre);
    if (format->exposure > 0) {
        db_hdf5_put_number(out, group, "count_time", format->exposure, "s");
        db_hdf5_put_number(out, group, "frame_time", format->exposure, "s");
    }
    if (format->pixels != DB_NEXUS_FLOATS) {
        db_hdf5_put_number(out, group, "saturation_value",
                           format->pixels == DB_NEXUS_16_BIT ? 65534 : 2147483646.0, NULL);
        db_hdf5_put_number(out, group, "underload_value", 0, NULL);
    }
    db_hdf5_put_number(out, group, "gain", format->gain, NULL);
    db_hdf5_put_number(out, group, "pedestal", format->pedestal, NULL);
    put_modules(w, group, e);
    return put_mask(w, group, format);
}

static void put_beam(db_nexus_writer *w, hid_t instrument, const db_experiment *e) {
    static const char spectrum[] = "incident_wavelength_1Dspectrum";
    db_hdf5_output *const out = &w->out;
    const hid_t beam = db_hdf5_put_group(out, instrument, "beam", "NXbeam");
    db_hdf5_put_column(out, beam, "incident_wavelength", DB_HDF5_DOUBLE, 0, NULL, "angstrom",
                       &w->mean_wavelength);
    double electric[3];
    db_nexus_turn(w, e->beam.polarization_axis, electric);
    const double twice = 2 * atan2(electric[1], electric[0]),
                 k = e->beam.polarized ? e->beam.polarization : 0,
                 stokes[4] = { 1, k * cos(twice), k * sin(twice), 0 };
    const hsize_t four = 4;
    db_hdf5_column column;
    db_hdf5_put_column(out, beam, "incident_polarization_stokes", DB_HDF5_DOUBLE, 1, &four, NULL,
                       &column);
    if (!out->reopened) db_hdf5_append(out, &column, stokes, 1);
    if (!db_beam_has_wavelengths(&e->beam)) return;
    const hsize_t sources = w->sources;
    db_hdf5_note_text(out, beam, "incident_wavelength", "variant", spectrum);
    db_hdf5_put_column(out, beam, spectrum, DB_HDF5_DOUBLE, 1, &sources, "angstrom", &w->spectrum);
    db_hdf5_put_column(out, beam, "incident_wavelength_1Dspectrum_weights", DB_HDF5_DOUBLE, 1,
                       &sources, NULL, &w->weights);
}

static int scan_turns(const db_experiment *e) {
    return e->goniometer.phi_step * e->goniometer.phi_steps != 0;
}

static void put_angles(db_nexus_writer *w, hid_t chain, const char *name, const double axis[3],
                       db_hdf5_column *column) {
    db_hdf5_put_column(&w->out, chain, name, DB_HDF5_DOUBLE, 0, NULL, "deg", column);
    db_hdf5_note_text(&w->out, chain, name, "transformation_type", "rotation");
    db_hdf5_note_numbers(&w->out, chain, name, "vector", axis, 3);
    db_hdf5_note_text(&w->out, chain, name, "depends_on", ".");
}

static void put_sample(db_nexus_writer *w, const db_experiment *e) {
    db_hdf5_output *const out = &w->out;
    double axis[3];
    const hid_t sample = db_hdf5_put_group(out, w->entry, "sample", "NXsample");
    const hid_t chain = db_hdf5_put_group(out, sample, "transformations", "NXtransformations");
    db_hdf5_put_text(out, sample, "name", "simulated crystal");
    db_hdf5_put_text(out, sample, "depends_on", "/entry/sample/transformations/phi");
    db_experiment_spindle_axis(e, axis);
    db_nexus_turn(w, axis, axis);
    put_angles(w, chain, "phi", axis, &w->phi);
    if (scan_turns(e)) put_angles(w, chain, "phi_end", axis, &w->phi_end);
}

static db_status put_groups(db_nexus_writer *w, const db_experiment *e,
                            const db_nexus_format *format) {
    db_hdf5_output *const out = &w->out;
    static const db_hdf5_kind kinds[] = { DB_HDF5_FLOAT, DB_HDF5_UINT16, DB_HDF5_INT32 };
    db_hdf5_note_text(out, out->file, ".", "NX_class", "NXroot");
    db_hdf5_note_text(out, out->file, ".", "default", "entry");
    db_hdf5_note_text(out, out->file, ".", "creator", "dualbragg " DB_VERSION_STRING);
    w->entry = db_hdf5_put_group(out, out->file, "entry", "NXentry");
    db_hdf5_note_text(out, w->entry, ".", "default", "data");
    db_hdf5_put_text(out, w->entry, "definition", "NXmx");
    const hid_t data = db_hdf5_put_group(out, w->entry, "data", "NXdata");
    db_hdf5_note_text(out, data, ".", "signal", "data");
    db_hdf5_put_images(out, data, "data", kinds[format->pixels], 3, w->shape, &w->images);
    const hid_t source = db_hdf5_put_group(out, w->entry, "source", "NXsource");
    db_hdf5_put_text(out, source, "name", "simulation");
    const hid_t instrument = db_hdf5_put_group(out, w->entry, "instrument", "NXinstrument");
    db_hdf5_put_text(out, instrument, "name", "dualbragg");
    put_beam(w, instrument, e);
    DB_TRY(put_detector(w, instrument, e, format));
    put_sample(w, e);
    return db_hdf5_state(out);
}

static db_status check_detector(db_context *context, const char *path, const db_detector *d) {
    if (d->curved)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "%s: an NXmx file holds flat panels, the detector is curved", path);
    for (size_t p = 1; p < d->panel_count; p++)
        if (d->panels[p].fast_pixels != d->panels[0].fast_pixels)
            return db_fail(context, DB_ERROR_UNSUPPORTED,
                           "%s: expected panels of one width, found %d and %d pixels", path,
                           d->panels[0].fast_pixels, d->panels[p].fast_pixels);
    return DB_OK;
}

static db_status begin_master(db_nexus_writer *w, const db_experiment *e,
                              const db_nexus_format *format) {
    double beam[3];
    DB_TRY(find_sources(e, w, beam));
    nexus_frame(beam, e, w->frame);
    return put_groups(w, e, format);
}

static db_status allocate_frame(db_context *context, const db_experiment *e,
                                db_nexus_writer **writer) {
    const size_t sources = e->beam.source_count;
    db_nexus_writer *const w = calloc(1, sizeof *w);
    *writer = w;
    if (!w) return db_fail_memory(context, "a file of images");
    w->wavelength = malloc(2 * sources * sizeof *w->wavelength);
    if (!w->wavelength) return db_fail_memory(context, "a file of images");
    w->sources = sources;
    w->weight = w->wavelength + sources;
    w->shape[1] = (hsize_t)e->detector.panels[0].fast_pixels;
    for (size_t p = 0; p < e->detector.panel_count; p++)
        w->shape[0] += (hsize_t)e->detector.panels[p].slow_pixels;
    return DB_OK;
}

static void release_writer(db_nexus_writer **writer) {
    if (*writer) free((*writer)->wavelength);
    free(*writer);
    *writer = NULL;
}

static db_status open_writer(db_context *context, const char *path, const db_experiment *experiment,
                             const db_nexus_format *format, int resume, db_nexus_writer **writer) {
    db_hdf5_guard guard;
    *writer = NULL;
    DB_TRY(db_experiment_check(context, experiment));
    DB_TRY(check_detector(context, path, &experiment->detector));
    db_status status = allocate_frame(context, experiment, writer);
    db_hdf5_enter(&guard);
    if (status == DB_OK) status = db_hdf5_create(context, path, resume, &(*writer)->out);
    if (status == DB_OK) {
        status = begin_master(*writer, experiment, format);
        if (status != DB_OK) db_hdf5_finish(&(*writer)->out, status);
    }
    db_hdf5_leave(&guard);
    if (status != DB_OK) release_writer(writer);
    return status;
}

db_status db_nexus_create(db_context *context, const char *path, const db_experiment *experiment,
                          const db_nexus_format *format, db_nexus_writer **writer) {
    return open_writer(context, path, experiment, format, 0, writer);
}

db_status db_nexus_resume(db_context *context, const char *path, const db_experiment *experiment,
                          const db_nexus_format *format, db_nexus_writer **writer) {
    return open_writer(context, path, experiment, format, 1, writer);
}

static db_status count_images(const db_hdf5_object *root, size_t *count) {
    db_hdf5_object data;
    hsize_t extent[3];
    DB_TRY(db_hdf5_need(root, "/entry/data/data", &data));
    const int rank = db_hdf5_extents(&data, extent, 3);
    db_hdf5_close(&data);
    if (rank != 3)
        return db_fail(root->context, DB_ERROR_INPUT,
                       "%s: /entry/data/data: expected images x slow x fast, found %d dimensions",
                       root->file, rank);
    *count = (size_t)extent[0];
    return DB_OK;
}

db_status db_nexus_count_images(db_context *context, const char *path, size_t *count) {
    db_hdf5_guard guard;
    db_hdf5_object root;
    *count = 0;
    if (access(path, F_OK) != 0) return DB_OK;
    db_hdf5_enter(&guard);
    db_status status = db_hdf5_open(context, path, &root);
    if (status == DB_OK) {
        status = count_images(&root, count);
        db_hdf5_close(&root);
    }
    db_hdf5_leave(&guard);
    return status;
}

db_status db_nexus_expect_last(db_nexus_writer *writer, const db_packed *packed) {
    db_hdf5_guard guard;
    db_hdf5_enter(&guard);
    const int same =
        db_hdf5_is_last_image(&writer->out, &writer->images, packed->bytes, packed->size);
    db_hdf5_leave(&guard);
    if (same) return DB_OK;
    return db_fail(writer->out.context, DB_ERROR_INPUT,
                   "%s: its last image is not the one that these flags make", writer->out.path);
}

db_status db_nexus_pack(db_context *context, const db_nexus_writer *writer, const void *pixels,
                        db_packed *packed) {
    return db_pack_bitshuffle(context, writer->out.path, pixels,
                              (size_t)(writer->shape[0] * writer->shape[1]),
                              writer->images.kind == DB_HDF5_UINT16 ? 2 : 4, packed);
}

static db_status append_frame(db_nexus_writer *w, const db_experiment *e, const db_packed *packed) {
    db_hdf5_output *const out = &w->out;
    const db_goniometer *const g = &e->goniometer;
    const double end = g->phi + g->phi_step * g->phi_steps;
    double beam[3];
    if (w->spectrum.id <= 0 && db_beam_has_wavelengths(&e->beam))
        return db_fail(
            out->context, DB_ERROR_INPUT,
            "%s: expected one wavelength, as of the first image, found a spectrum of %zu",
            out->path, e->beam.source_count);
    if (w->spectrum.id > 0) {
        if (e->beam.source_count != w->sources)
            return db_fail(out->context, DB_ERROR_INPUT,
                           "%s: expected spectra of %zu wavelengths, as of the first image, found "
                           "%zu",
                           out->path, w->sources, e->beam.source_count);
        DB_TRY(find_sources(e, w, beam));
        db_hdf5_append(out, &w->spectrum, w->wavelength, 1);
        db_hdf5_append(out, &w->weights, w->weight, 1);
    }
    db_hdf5_append_image(out, &w->images, packed->bytes, packed->size);
    db_hdf5_append(out, &w->mean_wavelength, &e->beam.wavelength, 1);
    db_hdf5_append(out, &w->phi, &g->phi, 1);
    if (w->phi_end.id > 0) db_hdf5_append(out, &w->phi_end, &end, 1);
    return db_hdf5_state(out);
}

db_status db_nexus_append(db_nexus_writer *writer, const db_experiment *experiment,
                          const db_packed *packed) {
    db_hdf5_guard guard;
    db_hdf5_enter(&guard);
    const db_status status = append_frame(writer, experiment, packed);
    db_hdf5_leave(&guard);
    return status;
}

db_status db_nexus_finish(db_nexus_writer **writer, db_status status) {
    db_hdf5_guard guard;
    if (!*writer) return status;
    db_hdf5_enter(&guard);
    status = db_hdf5_finish(&(*writer)->out, status);
    db_hdf5_leave(&guard);
    release_writer(writer);
    return status;
}
#endif

db_status db_nexus_write(db_context *context, const char *path, const db_experiment *experiment,
                         const db_nexus_format *format, const void *pixels) {
    db_nexus_writer *writer;
    db_packed packed = { NULL, 0 };
    db_status status = db_nexus_create(context, path, experiment, format, &writer);
    if (status != DB_OK) return status;
    status = db_nexus_pack(context, writer, pixels, &packed);
    if (status == DB_OK) status = db_nexus_append(writer, experiment, &packed);
    db_packed_clear(&packed);
    return db_nexus_finish(&writer, status);
}
