/* Facts about one file: images, spots, matrices; import_experiment.c and import_amplitudes.c have the others. */
#define _POSIX_C_SOURCE 200809L
#include "cli/import.h"

#include "base/context_internal.h"
#include "base/file_content.h"
#include "base/frame_name.h"
#include "base/measured_pixels.h"
#include "base/rotation.h"
#include "base/shown_text.h"
#include "base/text_reader.h"
#include "io/formats.h"
#include "io/images/image_geometry.h"

#include <dualbragg/expert/modules.h>
#include <dualbragg/expert/mosflm_matrix.h>
#include <dualbragg/expert/sensor_materials.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void db_imported_add(db_imported *file, const char *key, int count, const double *number,
                     const char *format, ...) {
    if (file->fact_count == DB_MOST_FACTS) return;
    db_fact *const fact = &file->fact[file->fact_count++];
    va_list arguments;
    snprintf(fact->key, sizeof fact->key, "%s", key);
    fact->count = count;
    for (int i = 0; i < count; i++) fact->number[i] = number[i];
    va_start(arguments, format);
    db_shown_vformat(fact->text, sizeof fact->text, format, arguments);
    va_end(arguments);
}

static void add_number(db_imported *file, const char *key, double number, const char *unit) {
    if (isnan(number)) return;
    db_imported_add(file, key, 1, &number, "%.10g%s%s", number, *unit ? " " : "", unit);
}

/* Numbers of pixels by kind. */
static void add_pixels(const db_measured_image *image, db_imported *file) {
    const size_t count = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
    double kinds[3] = { 0, 0, 0 }; /* gaps, overloads, bad */
    double sum = 0, used = 0, range[3] = { INFINITY, -INFINITY, NAN };
    for (size_t i = 0; i < count; i++) {
        const uint8_t mask = image->mask[i];
        const double value = (double)image->value[i];
        if (mask)
            kinds[mask & DB_MASK_GAP ? 0 : mask & DB_MASK_BAD ? 2 : 1]++;
        else if (isfinite(value)) {
            used++;
            sum += value;
            range[0] = fmin(range[0], value);
            range[1] = fmax(range[1], value);
        }
    }
    db_trusted_range(image, file->trusted);
    if (used > 0) {
        range[2] = sum / used;
        db_imported_add(file, "counts", 3, range, "%.10g to %.10g, mean %.5g", range[0], range[1],
                        range[2]);
    } else {
        db_imported_add(file, "counts", 0, NULL, "no trusted pixel");
    }
    db_imported_add(file, "masked", 3, kinds, "%.0f in gaps, %.0f overloaded, %.0f bad (%.3g %%)",
                    kinds[0], kinds[1], kinds[2],
                    100 * (kinds[0] + kinds[1] + kinds[2]) / (double)count);
}

static void add_image(const db_measured_image *image, db_imported *file) {
    const double shape[2] = { image->fast_pixels, image->slow_pixels };
    file->shape[0] = image->fast_pixels;
    file->shape[1] = image->slow_pixels;
    file->panels = image->panel_count > 1 ? image->panel_count : 1;
    db_imported_add(file, "format", 0, NULL, "%s", image->format);
    if (*image->detector) db_imported_add(file, "detector", 0, NULL, "%s", image->detector);
    if (file->panels > 1) {
        const double panels[3] = { (double)file->panels, shape[0], image->panels[0].slow_pixels };
        db_imported_add(file, "panels", 3, panels, "%zu, the first of %d x %d pixels", file->panels,
                        image->fast_pixels, image->panels[0].slow_pixels);
    } else {
        db_imported_add(file, "pixels", 2, shape, "%.0f x %.0f (fast, slow)", shape[0], shape[1]);
    }
    add_pixels(image, file);
    if (isfinite(image->overload)) add_number(file, "saturation", image->overload, "counts");
    file->pedestal = image->pedestal;
    file->gain = image->gain;
    if (image->pedestal != 0) add_number(file, "pedestal", image->pedestal, "counts, taken off");
    if (image->gain != 1) add_number(file, "gain", image->gain, "counts per photon");
    add_number(file, "exposure", image->exposure, "s");
    add_number(file, "polarization", image->polarization, "(Kahn factor)");
}

static void add_modules(const double pixel_size[2], db_imported *file) {
    db_module_grid grid;
    if (file->panels != 1 || !db_module_grid_find(file->shape, pixel_size, &grid)) return;
    const double modules[4] = { grid.modules[0], grid.modules[1], grid.pixels[0], grid.pixels[1] };
    db_imported_add(file, "modules", 4, modules, "%d x %d of %d x %d pixels (%s)", grid.modules[0],
                    grid.modules[1], grid.pixels[0], grid.pixels[1], grid.name);
}

static void keep_failure(const db_context *context, db_status status, db_imported *file) {
    if (file->status != DB_OK) return;
    file->status = status;
    snprintf(file->failure, sizeof file->failure, "%s", db_context_message(context));
}

const double db_any_cell[6] = { 100, 100, 100, 90, 90, 90 };

/* Spindle angle in the middle of an image; start and width are NAN where they are not stated. */
static double middle_of(double start, double width) {
    return (isfinite(start) ? start : 0) + (isfinite(width) ? width / 2 : 0);
}

/* The experiment of a header with all necessary facts. */
static db_status place_by_header(db_context *context, const db_image_geometry *g,
                                 db_imported *file) {
    db_setup setup;
    db_setup_init(&setup);
    DB_TRY(db_setup_read_header(context, file->name, DB_HEADER_OF_IMAGE, &setup, NULL, NULL));
    memcpy(setup.cell, db_any_cell, sizeof db_any_cell);
    const int turns = db_turns(setup.osc);
    file->turned = middle_of(setup.phi, turns ? setup.osc : 0);
    if (!turns) setup.phi = 0; /* a crystal is described as on a still */
    db_experiment_clear(&file->experiment);
    memset(&file->experiment, 0, sizeof file->experiment);
    DB_TRY(db_setup_resolve(context, &setup, &file->experiment, NULL, NULL));
    file->content.osc_range = turns ? setup.osc : isnan(g->phi) ? 0 : g->osc_range;
    file->content.phi = turns ? setup.phi : isnan(g->phi) ? 0 : g->phi;
    file->content.polarization_unknown = isnan(g->polarization);
    file->content.sensor_thickness = setup.sensor_thickness;
    file->content.attenuation_depth = setup.attenuation_depth;
    file->content.sensor_material = setup.sensor_material;
    file->placed = 1;
    return DB_OK;
}

/* Facts of a header that is not enough for an experiment. */
static void add_header(const db_image_geometry *g, db_imported *file) {
    file->wavelength = g->wavelength;
    file->distance = isnan(g->distance) ? g->close_distance : g->distance;
    file->pixel_size = g->pixel_size;
    add_number(file, "wavelength", file->wavelength, "A");
    add_number(file, "distance", file->distance, "mm");
    add_number(file, "pixel_size", file->pixel_size, "mm");
    if (!isnan(g->beam_centre[0]) && g->pixel_size > 0) {
        const double centre[2] = { g->beam_centre[0] / g->pixel_size,
                                   g->beam_centre[1] / g->pixel_size };
        db_imported_add(file, "beam_centre", 2, centre, "%.2f, %.2f pixels (fast, slow)", centre[0],
                        centre[1]);
    }
    if (g->sensor_thickness > 0)
        db_imported_add(file, "sensor", 1, &g->sensor_thickness, "%g um %s", g->sensor_thickness,
                        db_sensor_material_name(g->sensor_material));
}

static void place_image(db_context *context, db_imported *file) {
    db_image_geometry g;
    if (db_image_geometry_read(context, file->name, &g) != DB_OK) {
        if (file->panels > 1) file->lacks = DB_LACKS_PANELS | DB_LACKS_WAVELENGTH;
        return;
    }
    if (file->shape[0] == 0) {
        file->shape[0] = g.fast_pixels;
        file->shape[1] = g.slow_pixels;
        file->panels = 1;
    }
    file->lacks = 0;
    if (isnan(g.wavelength)) file->lacks |= DB_LACKS_WAVELENGTH;
    if (isnan(g.distance) && isnan(g.close_distance)) file->lacks |= DB_LACKS_DISTANCE;
    if (isnan(g.pixel_size)) file->lacks |= DB_LACKS_PIXEL_SIZE;
    if (isnan(g.beam_centre[0]) && isnan(g.near_point[0])) file->lacks |= DB_LACKS_BEAM_CENTRE;
    if (file->panels > 1) file->lacks = (file->lacks & DB_LACKS_WAVELENGTH) | DB_LACKS_PANELS;
    if (!file->lacks && place_by_header(context, &g, file) == DB_OK) return;
    add_header(&g, file);
}

/* Chains of axes in a file contain more than headers have room for. */
static int place_by_chains(db_context *context, const db_format *format, const char *path,
                           db_imported *file) {
    const db_expt_selection selection = { .image = file->name };
    if (!format->geometry) return 0;
    file->placed =
        db_read_expt(context, path, &selection, &file->experiment, &file->content) == DB_OK;
    if (!file->placed) db_expt_content_clear(&file->content);
    file->turned = middle_of(file->content.phi, file->content.osc_range);
    return file->placed;
}

/* Start and width of an image's rotation; 0: none. */
static int rotation_of(db_context *context, const char *path, size_t number, double scan[2]) {
    char name[4096 + 32];
    const db_expt_selection selection = { .image = name };
    db_experiment e;
    db_expt_content content;
    db_image_geometry g = { .osc_range = 0 };
    snprintf(name, sizeof name, "%s#%zu", path, number);
    if (db_experiment_init(context, &e) != DB_OK) return 0;
    if (db_read_expt(context, path, &selection, &e, &content) == DB_OK) {
        g.phi = content.phi;
        g.osc_range = content.osc_range;
    } else if (db_image_geometry_read(context, name, &g) != DB_OK) {
        g.osc_range = 0;
    }
    db_expt_content_clear(&content);
    db_experiment_clear(&e);
    scan[0] = g.phi;
    scan[1] = g.osc_range;
    return db_turns(g.osc_range) && !isnan(g.phi);
}

/* Rotation from the first image to the end of the last, if the images are evenly spaced (up to whole turns);
 * otherwise the file has several sweeps, or gaps. */
static void add_sweep(db_context *context, const char *path, db_imported *file) {
    double first[2], last[2];
    if (file->count < 2 || !rotation_of(context, path, 1, first) ||
        !rotation_of(context, path, file->count, last))
        return;
    const double stated = last[0] + last[1], expected = first[0] + (double)file->count * first[1],
                 end = stated + 360 * round((expected - stated) / 360),
                 steps = (end - first[0]) / first[1];
    const double sweep[2] = { first[0], end - first[0] };
    if (fabs(steps - (double)file->count) < 0.5 + 0.02 * (double)file->count)
        db_imported_add(file, "sweep", 2, sweep, "%.6g to %.6g degree, all images", first[0], end);
    else
        db_imported_add(file, "sweep", 0, NULL,
                        "not one: %zu images of %.6g degree, the first from %.6g, the last to %.6g",
                        file->count, fabs(first[1]), first[0], stated);
}

static void read_image(db_context *context, const db_format *format, const char *path, long frame,
                       db_imported *file) {
    db_measured_image image;
    db_status status = db_file_count(context, path, &file->count);
    const int open_frame = format->frame && frame == 0 && file->count != 1;
    snprintf(file->name, sizeof file->name, "%s%s", file->path, open_frame ? "#1" : "");
    if (status == DB_OK) status = db_read_image(context, file->name, &image);
    if (status == DB_OK) {
        const double count = (double)file->count;
        if (file->count > 1)
            db_imported_add(file, "images", 1, &count, "%zu: %s#1 to #%zu", file->count, path,
                            file->count);
        add_image(&image, file);
        file->found |= DB_HOLDS_IMAGES;
        db_measured_image_clear(&image);
    } else {
        keep_failure(context, status, file);
    }
    if (!place_by_chains(context, format, path, file)) place_image(context, file);
    if (!file->placed) return;
    file->found |= DB_HOLDS_GEOMETRY;
    db_imported_add_experiment(context, file);
    add_sweep(context, path, file);
    add_modules(file->experiment.detector.panels[0].pixel_size, file);
}

static db_status read_one(db_context *context, const char *path, const char *image,
                          db_imported *file) {
    const db_expt_selection first = { .number = 0 }, shown = { .number = -1, .image = image };
    if (image && db_read_expt(context, path, &shown, &file->experiment, &file->content) == DB_OK)
        return DB_OK;
    db_expt_content_clear(&file->content);
    return db_read_expt(context, path, &first, &file->experiment, &file->content);
}

static void read_list(db_context *context, const char *path, const char *image, db_imported *file) {
    db_status status = db_file_count(context, path, &file->count);
    if (status == DB_OK) status = read_one(context, path, image, file);
    if (status != DB_OK) {
        keep_failure(context, status, file);
        return;
    }
    const double count[2] = { (double)file->count, (double)file->content.number };
    if (file->count > 1)
        db_imported_add(file, "experiments", 2, count, "%zu, of which this is number %ld (from 0)",
                        file->count, file->content.number);
    file->placed = 1;
    file->turned = middle_of(file->content.phi, file->content.osc_range);
    file->found |= DB_HOLDS_GEOMETRY;
    db_imported_add_experiment(context, file);
}

static void read_matrix(db_context *context, const char *path, db_imported *file) {
    const db_status status = db_read_mosflm_matrix(context, path, file->matrix);
    db_crystal crystal = file->experiment.crystal;
    if (status != DB_OK || db_crystal_set_matrix(context, &crystal, file->matrix) != DB_OK) {
        keep_failure(context, DB_ERROR_INPUT, file);
        return;
    }
    const double *const c = crystal.cell;
    file->found |= DB_HOLDS_CRYSTALS;
    db_imported_add(file, "matrix", 9, file->matrix, "A* times the wavelength");
    db_imported_add(file, "cell_over_wavelength", 6, c, "%.5g %.5g %.5g %.4f %.4f %.4f", c[0], c[1],
                    c[2], c[3], c[4], c[5]);
}

static void add_table(const db_reflection_table *t, db_imported *file) {
    const double count = (double)t->count;
    double indexed = 0, most = 0;
    char columns[DB_FACT_TEXT];
    for (size_t i = 0; i < t->count; i++) {
        if (t->hkl) indexed += t->hkl[i][0] || t->hkl[i][1] || t->hkl[i][2];
        if (t->panel) most = fmax(most, (double)t->panel[i]);
    }
    file->most_panel = (size_t)most;
    file->found |= DB_HOLDS_SPOTS;
    db_imported_add(file, "spots", 1, &count, "%zu", t->count);
    if (t->hkl) db_imported_add(file, "indexed", 1, &indexed, "%.0f", indexed);
    snprintf(columns, sizeof columns, "%s%s%s%s%s", t->hkl ? "miller_index " : "",
             t->position ? "xyzobs.px.value " : "", t->box ? "bbox " : "", t->panel ? "panel " : "",
             t->experiment ? "id " : "");
    db_imported_add(file, "columns", 0, NULL, "%s", *columns ? columns : "none that is used");
    if (t->identifier_count) {
        const double experiments = (double)t->identifier_count;
        db_imported_add(file, "experiments", 1, &experiments, "%zu", t->identifier_count);
    }
}

static db_status read_table(db_context *context, const char *path, db_imported *file) {
    db_file_content content;
    db_reflection_table table;
    DB_TRY(db_file_content_read(context, path, &content));
    const db_status status =
        db_reflection_table_read(context, path, content.bytes, content.size, &table);
    if (status == DB_OK) add_table(&table, file);
    db_reflection_table_clear(&table);
    db_file_content_clear(&content);
    return status;
}

/* Columns of numbers may be spots; the file does not say so. */
static db_status count_lines(db_context *context, const char *path, db_imported *file) {
    db_text text;
    double shape[2] = { 0, 0 };
    DB_TRY(db_text_open(context, path, &text));
    while (db_text_next_line(&text)) {
        const char *cursor = text.line;
        if (shape[0]++ == 0)
            while (db_next_word(&cursor, DB_WHITE_SPACE ",;").length) shape[1]++;
    }
    db_text_close(&text);
    file->found |= DB_HOLDS_SPOTS;
    db_imported_add(file, "columns", 2, shape, "%.0f lines of %.0f numbers", shape[0], shape[1]);
    return DB_OK;
}

/* Tries an HDF5 reflection table. */
static void try_table(db_context *context, const char *path, db_imported *file) {
    const size_t length = strlen(file->failure);
    if (read_table(context, path, file) == DB_OK)
        file->status = DB_OK;
    else
        snprintf(file->failure + length, sizeof file->failure - length,
                 "; nor is it a reflection table: %s", db_context_message(context));
}

static void read_known(db_context *context, const db_format *format, const char *path, long frame,
                       const char *image, db_imported *file) {
    db_status status = DB_OK;
    if (format->image || format->frame) {
        read_image(context, format, path, frame, file);
        if (!file->found && format->frame && strstr(file->failure, "NXentry"))
            try_table(context, path, file);
    } else if (format->geometry) {
        read_list(context, path, image, file);
    } else if (format->matrix) {
        read_matrix(context, path, file);
    } else if (format->amplitudes) {
        status = db_imported_amplitudes(context, file);
    } else if (format->holds & DB_HOLDS_SPOTS) {
        status = (format->uncertain ? count_lines : read_table)(context, path, file);
    } else {
        const int packed = strcmp(format->label, "compressed") == 0;
        status = db_fail(context, DB_ERROR_INPUT, "%s: found %s, which is not read%s", path,
                         format->name,
                         packed ? "; unpack it first (gunzip, bunzip2, unxz, unzstd)" : "");
    }
    if (status != DB_OK) keep_failure(context, status, file);
}

static db_status recognize(db_context *context, const char *path, const db_format **format,
                           db_imported *file) {
    struct stat info;
    if (stat(path, &info) == 0 &&
        !S_ISREG(info.st_mode)) /* a pipe's content is gone once it is read */
        return db_fail(context, DB_ERROR_FILE, "%s: expected a file, found a %s", path,
                       S_ISDIR(info.st_mode) ? "directory" : "pipe or device");
    FILE *const there = fopen(path, "rb");
    if (!there)
        return db_fail(context, DB_ERROR_FILE, "%s: cannot open: %s", path, strerror(errno));
    const int first = fgetc(there);
    fclose(there);
    if (first == EOF)
        return db_fail(context, DB_ERROR_INPUT, "%s: the file is empty or cannot be read", path);
    DB_TRY(db_recognize_file(context, file->path, &file->kind));
    DB_TRY(db_format_of_file(context, path, 0, format));
    if (*format) return DB_OK;
    return db_fail(
        context, DB_ERROR_INPUT,
        "%s: expected a file of a known format, found none; import cannot recognize raw floats: "
        "give them to a command, as in -floatfile FILE",
        path);
}

/* Keeps a notice without the file's name, which is shown anyway. */
static void keep_notice(void *user, const char *line) {
    db_imported *const file = user;
    const size_t length = strlen(file->path);
    if (file->notice_count == DB_MOST_NOTICES) return;
    if (strncmp(line, file->path, length) == 0 && strncmp(line + length, ": ", 2) == 0)
        line += length + 2;
    snprintf(file->notice[file->notice_count++], sizeof file->notice[0], "%s", line);
}

void db_imported_read(db_context *context, const char *path, const char *image, db_imported *file) {
    const db_format *format = NULL;
    char plain[4096];
    *file = (db_imported){ .path = path,
                           .wavelength = NAN,
                           .distance = NAN,
                           .pixel_size = NAN,
                           .gain = 1,
                           .matrix = { NAN },
                           .cell = { NAN } };
    const long frame = db_frame_split(path, plain, sizeof plain);
    db_context_set_notices(context, keep_notice, file);
    db_status status = db_experiment_init(context, &file->experiment);
    if (status == DB_OK) status = recognize(context, plain, &format, file);
    if (status != DB_OK)
        keep_failure(context, status, file);
    else
        read_known(context, format, plain, frame, image, file);
    db_context_set_notices(context, NULL, NULL);
}

void db_imported_clear(db_imported *file) {
    db_experiment_clear(&file->experiment);
    db_expt_content_clear(&file->content);
}
