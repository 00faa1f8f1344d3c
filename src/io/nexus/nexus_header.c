/* Reads the experiment of one image from the groups of a NeXus file. */
#if defined(DB_HAVE_HDF5)
#include "io/nexus/nexus_header.h"

#include "base/context_internal.h"
#include "base/degree.h"
#include "base/vector.h"
#include "io/images/placement.h"
#include "io/nexus/kept_mask.h"
#include "io/nexus/nexus.h"
#include "io/nexus/nexus_numbers.h"
#include "io/nexus/nexus_scan.h"

#include <dualbragg/expert/sensor_materials.h>

#include <math.h>
#include <string.h>

typedef db_nexus_header header;

static db_status refuse_spectrum(const db_hdf5_object *beam) {
    static const char *const weights[] = { "incident_wavelength_weights",
                                           "incident_wavelength_weight" };
    for (size_t i = 0; i < 2; i++) {
        db_hdf5_object object;
        DB_TRY(db_hdf5_find(beam, weights[i], &object));
        const int weighted = object.id >= 0;
        db_hdf5_close(&object);
        if (weighted)
            return db_fail(beam->context, DB_ERROR_UNSUPPORTED,
                           "%s: %s: expected one wavelength, found a spectrum (%s); give the "
                           "spectrum in a separate file",
                           beam->file, beam->name, weights[i]);
    }
    return DB_OK;
}

/* Counts the images of a file, unless it had `expected` images when it was last asked for: a list reads a file again for
 * each of its images. numbers: a data set of the file. */
static db_status count_images(const db_nexus_file *file, const db_hdf5_object *numbers,
                              size_t expected, size_t *images) {
    static db_file_state counted;
    db_file_state own;
    const int is_own =
        strcmp(numbers->file, file->path) == 0 && db_file_state_get(numbers, expected, 0, &own);
    *images = expected;
    if (is_own) *own.name = '\0'; /* any data set */
    if (is_own && db_file_state_same(&counted, &own)) return DB_OK;
    DB_TRY(db_nexus_count_frames(file, images));
    if (is_own && *images == expected) counted = own;
    return DB_OK;
}

/* Several numbers are of one image each, else they are a spectrum. Images that are elsewhere cannot be counted. */
static db_status check_count(const header *h, const char *name) {
    const db_hdf5_object *const beam = &h->file->beam;
    db_hdf5_object data;
    hsize_t count = 1;
    size_t images = 0;
    DB_TRY(db_hdf5_find(beam, name, &data));
    const int several = db_hdf5_extents(&data, &count, 1) == 1 && count > 1;
    const db_status status = several ? count_images(h->file, &data, (size_t)count, &images) : DB_OK;
    db_hdf5_close(&data);
    if (status != DB_OK) return status == DB_ERROR_MEMORY ? status : DB_OK;
    return !several || count == images
               ? DB_OK
               : db_fail(beam->context, DB_ERROR_UNSUPPORTED,
                         "%s: %s/%s: expected one wavelength or one for each of %zu images, found "
                         "%llu, as of a spectrum; give a spectrum in a separate file",
                         beam->file, beam->name, name, images, (unsigned long long)count);
}

/* Reads the wavelength; without one it comes from the photon energy, for which Dectris detectors are set up. */
static db_status read_wavelength(header *h) {
    const db_nexus_file *const f = h->file;
    double *const wavelength = &h->image->wavelength;
    double by_energy = NAN;
    if (f->beam.id >= 0) {
        DB_TRY(refuse_spectrum(&f->beam));
        DB_TRY(check_count(h, "incident_wavelength"));
        DB_TRY(check_count(h, "incident_energy"));
        DB_TRY(db_nexus_wavelength(&f->beam, "incident_wavelength", "angstrom", h->number,
                                   wavelength));
        DB_TRY(db_nexus_wavelength(&f->beam, "incident_energy", "eV", h->number, &by_energy));
    }
    if (isnan(by_energy))
        DB_TRY(db_nexus_wavelength(&f->specific, "photon_energy", "eV", 0, &by_energy));
    if (isnan(*wavelength) && !isnan(by_energy)) {
        *wavelength = by_energy;
        db_notice(f->context,
                  "%s: the wavelength is not stated, taken from the photon energy: %g A", f->path,
                  by_energy);
    } else if (fabs(by_energy / *wavelength - 1) > 0.01) {
        db_notice(f->context, "%s: the photon energy means %g A; the wavelength %g A is used",
                  f->path, by_energy, *wavelength);
    }
    return DB_OK;
}

/* I, Q, U, V: Q/I is the factor for a horizontal axis. */
static db_status read_polarization(header *h) {
    static const char *const names[] = { "incident_polarization_stokes",
                                         "incident_polarisation_stokes" };
    const db_nexus_file *const f = h->file;
    for (size_t i = 0; i < 2 && f->beam.id >= 0 && isnan(h->image->polarization); i++) {
        db_hdf5_object data;
        double stokes[4];
        DB_TRY(db_hdf5_find(&f->beam, names[i], &data));
        const int found = db_hdf5_row(&data, h->number, 4, stokes) && stokes[0] > 0;
        db_hdf5_close(&data);
        if (!found) continue;
        const double along = stokes[1] / stokes[0], across = stokes[2] / stokes[0];
        if (!(fabs(along) <= 1 + 1e-9)) continue;
        h->image->polarization = fmin(fmax(along, -1), 1);
        if (fabs(across) > 1e-3)
            db_notice(f->context,
                      "%s: the beam's polarization is inclined by %.3g degree to the horizontal; "
                      "only its horizontal part, %.3g, is used",
                      f->path, 0.5 * DB_RADIAN * atan2(across, along), along);
    }
    return DB_OK;
}

/* Gain and pedestal of our own files; NXmx has no names for them. */
static db_status read_counting(header *h) {
    char creator[64] = "";
    double pedestal = NAN;
    int found;
    db_hdf5_attribute_text(&h->file->root, "creator", creator, sizeof creator);
    h->limits.own = strncmp(creator, "dualbragg", strlen("dualbragg")) == 0;
    if (!h->limits.own) return DB_OK;
    DB_TRY(db_nexus_positive(&h->file->detector, "gain", &h->image->gain));
    DB_TRY(db_hdf5_find_number(&h->file->detector, "pedestal", 0, &pedestal, &found));
    if (isfinite(pedestal)) h->image->pedestal = pedestal;
    return DB_OK;
}

static db_status read_detector(header *h) {
    const db_hdf5_object *const d = &h->file->detector;
    db_measured_image *const image = h->image;
    char material[64] = "";
    double thickness;
    int found;
    if (d->id < 0) return DB_OK;
    DB_TRY(db_nexus_time(d, "count_time", &image->exposure));
    DB_TRY(db_nexus_positive(&h->file->specific, "countrate_correction_count_cutoff",
                             &h->limits.saturation));
    DB_TRY(db_nexus_positive(d, "saturation_value", &h->limits.saturation));
    DB_TRY(db_hdf5_find_number(d, "underload_value", 0, &h->limits.underload, &found));
    DB_TRY(db_nexus_positive(d, "bit_depth_image", &h->limits.bits));
    DB_TRY(db_hdf5_find_text(d, "description", image->detector, sizeof image->detector, &found));
    DB_TRY(db_nexus_length(d, "sensor_thickness", db_usual_sensors, &thickness));
    DB_TRY(db_hdf5_find_text(d, "sensor_material", material, sizeof material, &found));
    if (thickness > 2 * DB_NO_SENSOR && thickness < DB_THICKEST_SENSOR) {
        image->sensor_thickness = 1e3 * thickness;
        image->sensor_material = db_sensor_material_find(material);
    } else if (thickness >= DB_THICKEST_SENSOR) {
        db_notice(d->context, "%s: a sensor of %g mm makes no sense and is not used", d->file,
                  thickness);
    }
    return read_counting(h);
}

/* Turns a vector from the frame of NeXus into this program's: beam, up, fast axis of detectors that face the beam. */
static void to_own_frame(double v[3]) {
    const double x = v[0];
    v[0] = v[2];
    v[2] = -x;
}

/* 0: it is nowhere. */
static int place_panels(header *h, db_nexus_panel *panel) {
    db_image_geometry *const g = &h->geometry;
    to_own_frame(panel->origin);
    to_own_frame(panel->fast);
    to_own_frame(panel->slow);
    memcpy(g->fast_axis, panel->fast, sizeof g->fast_axis);
    memcpy(g->slow_axis, panel->slow, sizeof g->slow_axis);
    memcpy(h->image->pixel_size, panel->pixel_size, sizeof panel->pixel_size);
    if (db_image_geometry_place(panel->origin, g)) return 1;
    g->fast_axis[0] = g->slow_axis[0] = NAN;
    db_notice(h->file->context,
              "%s: the detector's chain of depends_on places it at the sample, so that is not used",
              h->file->path);
    return 0;
}

/* The place of a Dectris detector without a chain: a panel that faces the beam, at 2 theta. */
static db_status place_plainly(header *h) {
    const db_hdf5_object *const d = &h->file->detector;
    db_image_geometry *const g = &h->geometry;
    db_measured_image *const image = h->image;
    double *const size = image->pixel_size;
    db_nexus_axis twotheta;
    int found;
    if (d->id < 0) return DB_OK;
    DB_TRY(db_nexus_length(d, "x_pixel_size", db_usual_pixels, &size[0]));
    DB_TRY(db_nexus_length(d, "y_pixel_size", db_usual_pixels, &size[1]));
    DB_TRY(db_nexus_length(d, "detector_distance", db_usual_distances, &image->distance));
    if (isnan(image->distance))
        DB_TRY(db_nexus_length(d, "distance", db_usual_distances, &image->distance));
    DB_TRY(db_nexus_beam_centre(d, size, image->beam_centre));
    DB_TRY(db_nexus_axis_at(h->file, d, "goniometer/two_theta", h->number, &twotheta, &found));
    if (!found)
        DB_TRY(db_nexus_axis_at(h->file, d, "transformations/two_theta", h->number, &twotheta,
                                &found));
    if (found && isfinite(twotheta.start))
        db_image_swing(h->file->context, h->file->path, twotheta.start, 0, image);
    g->twotheta = image->twotheta;
    g->distance = image->distance;
    for (int i = 0; i < 2; i++) g->beam_centre[i] = image->beam_centre[i] * size[i];
    return DB_OK;
}

static db_status read_placement(header *h) {
    db_nexus_panel panel;
    int found;
    DB_TRY(db_nexus_module(h->file, h->number, &panel, &found));
    h->by_chain = found && place_panels(h, &panel);
    return h->by_chain ? DB_OK : place_plainly(h);
}

static db_status read_scan(header *h) {
    db_nexus_scan scan;
    int found;
    DB_TRY(db_nexus_scan_find(h->file, h->number, &scan, &found));
    if (!found) return DB_OK;
    to_own_frame(scan.axis);
    memcpy(h->geometry.spindle_axis, scan.axis, sizeof scan.axis);
    h->image->phi = scan.over.start;
    h->image->osc_range = scan.over.width;
    return DB_OK;
}

/* Removes the axes if they are the default ones. */
static void resolve_axes(header *h) {
    db_image_geometry *const g = &h->geometry;
    h->faces_beam = db_image_geometry_faces_beam(g);
    h->usual_spindle = db_image_geometry_usual_spindle(g);
    if (!h->faces_beam || !h->usual_spindle) return;
    g->fast_axis[0] = g->slow_axis[0] = g->spindle_axis[0] = NAN;
}

db_status db_nexus_header_read(db_nexus_header *h) {
    h->geometry = db_image_geometry_unknown;
    h->limits = (db_nexus_limits){ NAN, NAN, NAN, 0 };
    DB_TRY(read_wavelength(h));
    DB_TRY(read_polarization(h));
    DB_TRY(read_detector(h));
    DB_TRY(read_placement(h));
    DB_TRY(read_scan(h));
    resolve_axes(h);
    return DB_OK;
}
#else
typedef int db_without_nexus_header;
#endif
