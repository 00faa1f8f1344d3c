/* Readers of the library. */
#define _POSIX_C_SOURCE 200809L
#include "fuzz.h"

#include "base/file_content.h"

#include <dualbragg/expert/mosflm_matrix.h>
#include <dualbragg/io.h>
#include <dualbragg/reflections.h>
#include <dualbragg/setup.h>
#include <dualbragg/expert/amplitude_files.h>
#include <dualbragg/expert/beam_files.h>
#include <dualbragg/expert/experiment_list_content.h>
#include <dualbragg/expert/file_kind.h>
#include <dualbragg/expert/image_arrays.h>
#include <dualbragg/expert/listed_shots.h>
#include <dualbragg/expert/reflection_tables.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void read_list(db_context *context, const char *path) {
    db_structure_factors factors = { .default_F = 3 };
    if (fuzz_is_ok(context, path, db_read_hkl(context, path, &factors), "hkl")) {
        const size_t count =
            (size_t)factors.extent[0] * (size_t)factors.extent[1] * (size_t)factors.extent[2];
        fuzz_require(count > 0, "hkl", "empty box");
        fuzz_require(isfinite(factors.amplitude[0]) && isfinite(factors.amplitude[count - 1]),
                     "hkl", "not finite");
    }
    free(factors.amplitude);
}

static void read_amplitudes(db_context *context, const char *path) {
    db_structure_factors factors = { .default_F = 3 };
    if (fuzz_is_ok(context, path, db_read_structure_factors(context, path, NULL, &factors, NULL, 0),
                   "structure factors"))
        fuzz_require(factors.amplitude && factors.listed > 0, "structure factors", "none");
    free(factors.amplitude);
}

static void read_sources(db_context *context, const char *path) {
    db_beam beam = { .direction = { 1, 0, 0 }, .wavelength = 1 };
    if (fuzz_is_ok(context, path, db_read_sources(context, path, &beam), "sources"))
        for (size_t i = 0; i < beam.source_count; i++) {
            const double *d = beam.sources[i].direction;
            fuzz_require(fabs(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] - 1) < 1e-12, "sources",
                         "not a unit vector");
            fuzz_require(beam.sources[i].wavelength_ratio > 0, "sources", "wavelength");
        }
    free(beam.sources);
}

static void read_spectrum(db_context *context, const char *path) {
    db_spectrum s;
    if (fuzz_is_ok(context, path, db_read_spectrum(context, path, &s), "spectrum")) {
        fuzz_require(s.count > 0, "spectrum", "nothing in it");
        for (size_t i = 0; i < s.count; i++)
            fuzz_require(s.wavelength[i] > 0 && isfinite(s.wavelength[i]) && s.weight[i] > 0,
                         "spectrum", "unusable line");
    } else {
        fuzz_require(!s.wavelength && !s.weight && !s.count, "spectrum", "lines after a failure");
    }
    db_spectrum_clear(&s);
}

static void read_curve(db_context *context, const char *path) {
    db_background b = { 0 };
    if (fuzz_is_ok(context, path, db_read_stol(context, path, DB_Q, &b, NULL), "stol")) {
        fuzz_require(b.count >= 2, "stol", "too few points");
        for (size_t i = 0; i < b.count; i++)
            fuzz_require(isfinite(b.amplitude[i]) && b.stol[i] >= 0 &&
                             (i == 0 || b.stol[i] > b.stol[i - 1]),
                         "stol", "unusable point");
    } else {
        fuzz_require(!b.stol && !b.amplitude && !b.count, "stol", "points after a failure");
    }
    free(b.stol);
    free(b.amplitude);
}

static void read_site_curve(db_context *context, const char *path) {
    db_site_kind kind = { .name = "kept" };
    if (fuzz_is_ok(context, path, db_read_site_curve(context, path, &kind), "site_curve")) {
        fuzz_require(kind.count >= 2, "site_curve", "too few points");
        for (size_t i = 0; i < kind.count; i++)
            fuzz_require(isfinite(kind.energy[i]) && isfinite(kind.f_prime[i]) &&
                             isfinite(kind.f_second[i]) &&
                             kind.energy[i] > (i ? kind.energy[i - 1] : 0),
                         "site_curve", "unusable point");
    } else {
        fuzz_require(!kind.energy && !kind.count, "site_curve", "points after a failure");
    }
    free(kind.energy);
}

/* name: of the image, in the file. */
static void read_named(db_context *context, const char *path, const char *name) {
    db_measured_image image;
    if (fuzz_is_ok(context, path, db_read_image(context, name, &image), "image")) {
        const size_t count = (size_t)image.fast_pixels * (size_t)image.slow_pixels;
        size_t masked = 0;
        for (size_t i = 0; i < count; i++) {
            masked += image.mask[i] != 0;
            fuzz_require(isfinite(image.value[i]) || image.mask[i], "image",
                         "trusted pixel without value");
        }
        fuzz_require(masked == image.masked && count > 0, "image", "masked pixels");
    } else {
        fuzz_require(!image.value && !image.mask, "image", "pixels after a failure");
    }
    db_measured_image_clear(&image);
}

static void read_image(db_context *context, const char *path) { read_named(context, path, path); }

/* The second image of a file that holds many. */
static void read_frame(db_context *context, const char *path) {
    char name[300];
    snprintf(name, sizeof name, "%.280s#2", path);
    read_named(context, path, name);
}

static void read_header(db_context *context, const char *path) {
    for (int variant = 0; variant < 4; variant++) {
        db_setup setup;
        db_setup_init(&setup);
        setup.compat = variant & 1;
        const db_header_role role = variant & 2 ? DB_HEADER_OF_MASK : DB_HEADER_OF_IMAGE;
        if (!fuzz_is_ok(context, path,
                        db_setup_read_header(context, path, role, &setup, NULL, NULL), "header"))
            continue;
        fuzz_require(setup.detector_pixels[0] >= 0 && setup.detector_pixels[1] >= 0, "header",
                     "shape");
        fuzz_require((unsigned)setup.convention < DB_CONVENTION_COUNT, "header", "convention");
        fuzz_require(variant & 1 || (setup.pixel_size > 0 && setup.wavelength > 0), "header",
                     "numbers");
    }
}

static void read_experiments(db_context *context, const char *path) {
    const db_expt_selection selection = { .number = -1, .image = "image_0001.cbf" };
    db_experiment e;
    db_expt_content content;
    fuzz_require(db_experiment_init(context, &e) == DB_OK, "experiment", "not created");
    const db_status status = db_read_expt(context, path, &selection, &e, &content);
    if (status == DB_ERROR_UNSUPPORTED || fuzz_is_ok(context, path, status, "expt")) {
        fuzz_require(status != DB_OK || e.detector.panel_count == content.panel_count, "expt",
                     "panels");
        fuzz_require(status != DB_OK || e.beam.wavelength > 0, "expt", "wavelength");
    }
    db_expt_content_clear(&content);
    db_experiment_clear(&e);
}

static void read_shots(db_context *context, const char *path) {
    db_listed_shots shots;
    const db_status status = db_list_shots(context, path, &shots);
    if (status == DB_ERROR_UNSUPPORTED || fuzz_is_ok(context, path, status, "shots"))
        for (size_t i = 0; i < shots.count; i++)
            fuzz_require(shots.shot[i].image && shots.shot[i].number >= -1, "shots", "image");
    else
        fuzz_require(!shots.shot && !shots.count, "shots", "some after a failure");
    db_listed_shots_clear(&shots);
}

static void read_peaks(db_context *context, const char *path) {
    static const db_expt_selection selections[] = { { .number = 0 },
                                                    { .number = -1, .image = "run.h5#1" } };
    for (size_t i = 0; i < sizeof selections / sizeof *selections; i++) {
        db_reflection_table table;
        const db_status status = db_read_stream_spots(context, path, &selections[i], &table);
        if (fuzz_is_ok(context, path, status, "peaks"))
            for (size_t k = 0; k < table.count; k++)
                fuzz_require(isfinite(table.position[k][0]) && isfinite(table.position[k][1]) &&
                                 table.panel[k] < 1000000,
                             "peaks", "place");
        else
            fuzz_require(!table.position && !table.panel, "peaks", "some after a failure");
        db_reflection_table_clear(&table);
    }
}

static void read_reflections(db_context *context, const char *path) {
    db_file_content content;
    db_reflection_table table;
    if (db_file_content_read(context, path, &content) != DB_OK) return;
    const db_status status =
        db_reflection_table_read(context, path, content.bytes, content.size, &table);
    if (status == DB_ERROR_UNSUPPORTED || fuzz_is_ok(context, path, status, "reflections"))
        fuzz_require(!table.hkl || table.count <= content.size / 12 || *content.bytes != '\x93',
                     "reflections", "rows from nowhere"); /* those of HDF5 may be compressed */
    else
        fuzz_require(!table.hkl && !table.position && !table.box && !table.panel &&
                         !table.experiment && !table.identifier,
                     "reflections", "columns after a failure");
    db_reflection_table_clear(&table);
    db_file_content_clear(&content);
}

static void recognize(db_context *context, const char *path) {
    db_file_kind kind;
    if (fuzz_is_ok(context, path, db_recognize_file(context, path, &kind), "kind"))
        fuzz_require(*kind.label || (!kind.holds && !*kind.name), "kind", "without a label");
}

static void read_mask(db_context *context, const char *path) {
    uint8_t mask[4];
    fuzz_is_ok(context, path, db_read_mask(context, path, 2, 2, mask), "mask");
}

/* Values of the pixels of an image of 4 x 3, as an experiment list names them. */
static void read_pixel_map(db_context *context, const char *path) {
    float value[12];
    char name[4096];
    snprintf(name, sizeof name, "%s", path);
    const db_expt_content content = { .map = { [DB_EXPT_GAIN] = name } };
    const db_measured_image image = { .fast_pixels = 4, .slow_pixels = 3 };
    const db_status status = db_read_listed_map(context, &content, DB_EXPT_GAIN, &image, value);
    if (status != DB_ERROR_UNSUPPORTED) fuzz_is_ok(context, path, status, "values of pixels");
}

static void read_matrix(db_context *context, const char *path) {
    double matrix[9];
    fuzz_is_ok(context, path, db_read_mosflm_matrix(context, path, matrix), "matrix");
}

static void read_floats(db_context *context, const char *path) {
    float pixels[4];
    fuzz_is_ok(context, path, db_read_float_image(context, path, 2, 2, pixels), "float image");
}

/* Fdump. */
static void read_cache(db_context *context, const char *path) {
    db_structure_factors factors = { .default_F = 3 };
    if (fuzz_is_ok(context, path, db_read_structure_factor_cache(context, path, &factors),
                   "cache")) {
        const size_t count =
            (size_t)factors.extent[0] * (size_t)factors.extent[1] * (size_t)factors.extent[2];
        fuzz_require(count > 0 && count == factors.listed, "cache", "empty box");
        for (size_t i = 0; i < count; i++)
            fuzz_require(isfinite(factors.amplitude[i]), "cache", "not finite");
    } else {
        fuzz_require(!factors.amplitude, "cache", "amplitudes after a failure");
    }
    free(factors.amplitude);
}

/* The file as a list to be expanded by a space group whose operators make any index larger. */
static void read_asymmetric_unit(db_context *context, const char *path) {
    const db_structure_factor_options options = { .space_group = "P 3" };
    db_structure_factors factors = { .default_F = 3 };
    const db_status status = db_read_structure_factors(context, path, &options, &factors, NULL, 0);
    if (status != DB_ERROR_UNSUPPORTED && fuzz_is_ok(context, path, status, "asymmetric unit")) {
        const double count =
            (double)factors.extent[0] * (double)factors.extent[1] * (double)factors.extent[2];
        fuzz_require(factors.amplitude && count >= 1 && count * 8 < 17e9, "asymmetric unit", "box");
    }
    free(factors.amplitude);
}

/* The file as coordinates, to a spacing of a few cells at most. */
static void read_model(db_context *context, const char *path) {
    const db_structure_factor_options options = {
        .dmin = 25, .wavelength = 1.2, .k_sol = 0.35, .b_sol = 46
    };
    db_structure_factors factors = { .default_F = 3 };
    char told[100];
    const db_status status =
        db_read_structure_factors(context, path, &options, &factors, told, sizeof told);
    if (status != DB_ERROR_UNSUPPORTED && fuzz_is_ok(context, path, status, "model")) {
        const int *const n = factors.extent;
        const size_t count = (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
        fuzz_require(factors.amplitude && count >= 1, "model", "box");
        if (strncmp(told, "F of ", 5) == 0)
            for (size_t i = 0; i < count; i++)
                fuzz_require(isfinite(factors.amplitude[i]), "model", "not finite");
    } else {
        fuzz_require(!factors.amplitude, "model", "amplitudes after a failure");
    }
    free(factors.amplitude);
}

const fuzz_reader fuzz_file_readers[] = {
    { "hkl", read_list },
    { "amplitudes", read_amplitudes },
    { "asymmetric_unit", read_asymmetric_unit },
    { "cache", read_cache },
    { "model", read_model },
    { "sources", read_sources },
    { "spectrum", read_spectrum },
    { "curve", read_curve },
    { "site_curve", read_site_curve },
    { "image", read_image },
    { "frame", read_frame },
    { "header", read_header },
    { "experiments", read_experiments },
    { "shots", read_shots },
    { "peaks", read_peaks },
    { "reflections", read_reflections },
    { "kind", recognize },
    { "mask", read_mask },
    { "pixel_map", read_pixel_map },
    { "matrix", read_matrix },
    { "floats", read_floats },
    { NULL, NULL },
};
