#define _POSIX_C_SOURCE 200809L
#include "fuzz_readers.h"
#include "io/reflection_table.h"

#include <dualbragg/io.h>
#include <dualbragg/setup.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void require(int condition, const char *what, const char *detail) {
    if (condition) return;
    fprintf(stderr, "broken promise: %s: %s\n", what, detail);
    abort();
}

/* A failure explains itself and names the file. */
static int check_status(const db_context *context, const char *path, db_status status,
                        const char *reader) {
    if (status == DB_OK) return 1;
    require(strstr(db_context_message(context), path) != NULL || status == DB_ERROR_MEMORY, reader,
            db_context_message(context));
    return 0;
}

static void read_list(db_context *context, const char *path) {
    db_structure_factors factors = { .default_F = 3 };
    if (check_status(context, path, db_read_hkl(context, path, &factors), "hkl")) {
        const size_t count =
            (size_t)factors.extent[0] * (size_t)factors.extent[1] * (size_t)factors.extent[2];
        require(count > 0, "hkl", "empty box");
        require(isfinite(factors.amplitude[0]) && isfinite(factors.amplitude[count - 1]), "hkl",
                "not finite");
    }
    free(factors.amplitude);
}

static void read_amplitudes(db_context *context, const char *path) {
    db_structure_factors factors = { .default_F = 3 };
    if (check_status(context, path,
                     db_read_structure_factors(context, path, NULL, &factors, NULL, 0),
                     "structure factors"))
        require(factors.amplitude && factors.listed > 0, "structure factors", "none");
    free(factors.amplitude);
}

static void read_sources(db_context *context, const char *path) {
    db_beam beam = { .direction = { 1, 0, 0 }, .wavelength = 1 };
    if (check_status(context, path, db_read_sources(context, path, &beam), "sources"))
        for (size_t i = 0; i < beam.source_count; i++) {
            const double *d = beam.sources[i].direction;
            require(fabs(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] - 1) < 1e-12, "sources",
                    "not a unit vector");
            require(beam.sources[i].wavelength_ratio > 0, "sources", "wavelength");
        }
    free(beam.sources);
}

static void read_spectrum(db_context *context, const char *path) {
    db_spectrum s;
    if (check_status(context, path, db_read_spectrum(context, path, &s), "spectrum")) {
        require(s.count > 0, "spectrum", "nothing in it");
        for (size_t i = 0; i < s.count; i++)
            require(s.wavelength[i] > 0 && isfinite(s.wavelength[i]) && s.weight[i] > 0, "spectrum",
                    "unusable line");
    } else {
        require(!s.wavelength && !s.weight && !s.count, "spectrum", "lines after a failure");
    }
    db_spectrum_clear(&s);
}

static void read_curve(db_context *context, const char *path) {
    db_background b = { 0 };
    if (check_status(context, path, db_read_stol(context, path, DB_Q, &b, NULL), "stol")) {
        require(b.count >= 2, "stol", "too few points");
        for (size_t i = 0; i < b.count; i++)
            require(isfinite(b.amplitude[i]) && b.stol[i] >= 0 &&
                        (i == 0 || b.stol[i] > b.stol[i - 1]),
                    "stol", "unusable point");
    } else {
        require(!b.stol && !b.amplitude && !b.count, "stol", "points after a failure");
    }
    free(b.stol);
    free(b.amplitude);
}

static void read_image(db_context *context, const char *path) {
    db_measured_image image;
    if (check_status(context, path, db_read_image(context, path, &image), "image")) {
        const size_t count = (size_t)image.fast_pixels * (size_t)image.slow_pixels;
        size_t masked = 0;
        for (size_t i = 0; i < count; i++) {
            masked += image.mask[i] != 0;
            require(isfinite(image.value[i]) || image.mask[i], "image",
                    "trusted pixel without value");
        }
        require(masked == image.masked && count > 0, "image", "masked pixels");
    } else {
        require(!image.value && !image.mask, "image", "pixels after a failure");
    }
    db_measured_image_clear(&image);
}

static void read_header(db_context *context, const char *path) {
    for (int variant = 0; variant < 4; variant++) {
        db_setup setup;
        db_setup_init(&setup);
        setup.compat = variant & 1;
        const db_header_role role = variant & 2 ? DB_HEADER_OF_MASK : DB_HEADER_OF_IMAGE;
        if (!check_status(context, path,
                          db_setup_read_header(context, path, role, &setup, NULL, NULL), "header"))
            continue;
        require(setup.detector_pixels[0] >= 0 && setup.detector_pixels[1] >= 0, "header", "shape");
        require((unsigned)setup.convention < DB_CONVENTION_COUNT, "header", "convention");
        require(variant & 1 || (setup.pixel_size > 0 && setup.wavelength > 0), "header", "numbers");
    }
}

static void read_experiments(db_context *context, const char *path) {
    const db_expt_selection selection = { -1, "image_0001.cbf" };
    db_experiment e;
    db_expt_content content;
    require(db_experiment_init(context, &e) == DB_OK, "experiment", "not created");
    const db_status status = db_read_expt(context, path, &selection, &e, &content);
    if (status == DB_ERROR_UNSUPPORTED || check_status(context, path, status, "expt")) {
        require(status != DB_OK || e.detector.panel_count == content.panel_count, "expt", "panels");
        require(status != DB_OK || e.beam.wavelength > 0, "expt", "wavelength");
    }
    db_expt_content_clear(&content);
    db_experiment_clear(&e);
}

static void read_reflections(db_context *context, const char *path) {
    db_file_content content;
    db_reflection_table table;
    if (db_file_content_read(context, path, &content) != DB_OK) return;
    const db_status status = db_reflection_table_read(context, path, &content, &table);
    if (status == DB_ERROR_UNSUPPORTED || check_status(context, path, status, "reflections"))
        require(!table.hkl || table.count <= content.size / 12, "reflections", "rows from nowhere");
    else
        require(!table.hkl && !table.position && !table.box && !table.panel && !table.experiment,
                "reflections", "columns after a failure");
    db_reflection_table_clear(&table);
    db_file_content_clear(&content);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static db_context *context;
    static char path[64];
    if (!context) {
        require(db_context_create(&context) == DB_OK, "context", "not created");
        snprintf(path, sizeof path, "fuzz-input-%ld", (long)getpid());
    }
    FILE *file = fopen(path, "wb");
    require(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, "input file", path);
    double matrix[9];
    float pixels[4];
    uint8_t mask[4];
    read_list(context, path);
    read_amplitudes(context, path);
    read_sources(context, path);
    read_spectrum(context, path);
    read_curve(context, path);
    read_image(context, path);
    read_header(context, path);
    read_experiments(context, path);
    read_reflections(context, path);
    check_status(context, path, db_read_mask(context, path, 2, 2, mask), "mask");
    check_status(context, path, db_read_mosflm_matrix(context, path, matrix), "matrix");
    check_status(context, path, db_read_float_image(context, path, 2, 2, pixels), "float image");
    unlink(path);
    return 0;
}
