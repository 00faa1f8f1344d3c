/* Intensities of reflections: lines of text, and a reflection table of DIALS. */
#include "base/context_internal.h"
#include "base/text_stream.h"
#include "base/vector.h"
#include "fit/config/listed_experiment.h"
#include "fit/verdict/verdict_of_light.h"

#include <dualbragg/fit.h>
#include <dualbragg/reflections.h>
#include <dualbragg/expert/dials_frame.h>
#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/fit_files.h>
#include <dualbragg/expert/reflection_tables.h>

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static db_status check_reflections(db_context *context, const char *path,
                                   const db_fit_result *result) {
    return result->reflections
               ? DB_OK
               : db_fail(context, DB_ERROR_USAGE,
                         "%s: no intensities were fitted; expected intensity: free", path);
}

db_status db_fit_write_intensities(db_context *context, const char *path,
                                   const db_fit_result *result) {
    db_text_stream text;
    DB_TRY(check_reflections(context, path, result));
    DB_TRY(db_text_stream_open(context, &text));
    fprintf(
        text.stream,
        "# dualbragg %s: intensities by fitting the model's spots\n"
        "# h k l F (of the model's image) F^2 sigma(F^2) counts sigma(counts) partiality d panel "
        "fast slow background pixels strong_pixels wavelength wavelength_width\n",
        db_version());
    if (!result->verdict.intensities_usable) fputs(DB_INTENSITIES_UNUSABLE, text.stream);
    for (size_t n = 0; n < result->reflection_count; n++) {
        const db_fit_reflection *const i = &result->reflections[n];
        fprintf(text.stream,
                "%d %d %d %.9g %.6g %.4g %.6g %.4g %.4g %.5g %zu %.2f %.2f %.4g %d %d %.8g %.3g\n",
                i->hkl[0], i->hkl[1], i->hkl[2], i->F, i->square, i->square_sigma, i->counts,
                i->counts_sigma, i->partiality, i->d_spacing, i->region.panel, i->position[0],
                i->position[1], i->background, i->pixels, i->strong, i->wavelength,
                i->wavelength_width);
    }
    return db_text_stream_write(context, &text, DB_OK, path);
}

/* A row of the table, as its columns hold it. */
typedef struct row {
    int32_t hkl[3], experiment, box[6], pixels, imageset;
    uint64_t panel, flags;
    double position[3], position_mm[3], observed[3], observed_variance[3], observed_mm[3],
        observed_mm_variance[3], s1[3], counts, variance, sum, sum_variance, partiality, d_spacing,
        background, wavelength, wavelength_width;
    uint8_t entering;
} row;

/* Flags of DIALS: predicted, observed, indexed, strong, integrated by summation and by profile
 * fitting. */
enum {
    PREDICTED = 1 << 0,
    OBSERVED = 1 << 1,
    INDEXED = 1 << 2,
    STRONG = 1 << 5,
    SUMMED = 1 << 8,
    INTEGRATED = 1 << 9
};

/* The scattered wave's vector, as DIALS has it: in its frame, of length 1/wavelength. */
static void scattered_wave(const db_experiment *experiment, const db_fit_reflection *i,
                           double s1[3]) {
    double frame[3][3];
    double at[3] = { 0, 0, 0 };
    const size_t panel = i->region.panel;
    (void)db_experiment_pixel_position(experiment, panel, i->position[0], i->position[1], at);
    const double length =
        sqrt(at[0] * at[0] + at[1] * at[1] + at[2] * at[2]) * experiment->beam.wavelength;
    db_dials_frame(experiment, frame);
    for (int k = 0; k < 3; k++)
        s1[k] = (frame[k][0] * at[0] + frame[k][1] * at[1] + frame[k][2] * at[2]) / length;
}

/* The image as its list has it: image `number` of a scan that turns from `start` by `width` (degree). */
typedef struct frame {
    int number;
    double start, width;
} frame;

static const double degree = 3.14159265358979323846 / 180;

/* Millimetres on the panel and radians of the spindle, from pixels and the middle of the image. */
static void place_in_mm(const db_experiment *experiment, const frame *f, size_t panel,
                        const double px[2], double mm[3]) {
    db_dials_millimetres(experiment, panel, px, mm);
    mm[2] = (f->start + 0.5 * f->width) * degree;
}

/* Of the centroid; the angle is anywhere within the image's. */
static void take_observed(const db_experiment *experiment, const frame *f,
                          const db_fit_reflection *i, row *w) {
    const db_panel *const panel = &experiment->detector.panels[i->region.panel];
    memcpy(w->observed, i->observed, sizeof i->observed);
    w->observed[2] = w->position[2];
    place_in_mm(experiment, f, i->region.panel, i->observed, w->observed_mm);
    for (int k = 0; k < 2; k++) {
        const double size = panel->pixel_size[k];
        w->observed_variance[k] = i->observed_variance[k];
        w->observed_mm_variance[k] = size * size * i->observed_variance[k];
    }
    w->observed_variance[2] = 1 / 12.0;
    w->observed_mm_variance[2] = f->width * f->width * degree * degree / 12;
    w->flags |= OBSERVED | INDEXED;
}

/* Does the node enter the Ewald sphere, by DIALS' rule: does it come towards the beam's side? */
static uint8_t enters(const db_experiment *experiment, const double s1[3]) {
    double turned[3][3], axis[3], beam[3], s0[3], cross[3];
    db_dials_frame(experiment, turned);
    db_experiment_beam_direction(experiment, beam);
    db_experiment_spindle_axis(experiment, axis);
    for (int k = 0; k < 3; k++) s0[k] = db_dot(turned[k], beam);
    const double spindle[3] = { db_dot(turned[0], axis), db_dot(turned[1], axis),
                                db_dot(turned[2], axis) };
    db_cross(s0, spindle, cross);
    return db_dot(s1, cross) < 0;
}

static row row_of(const db_experiment *experiment, const frame *f, const db_fit_reflection *i) {
    const db_region *const r = &i->region;
    const int fewest_strong = 3;
    row w = { .box = { r->fast_start, r->fast_start + r->fast_count, r->slow_start,
                       r->slow_start + r->slow_count, f->number - 1, f->number },
              .pixels = i->pixels,
              .panel = r->panel,
              .flags = PREDICTED | SUMMED | INTEGRATED,
              .position = { i->position[0], i->position[1], f->number - 0.5 },
              .counts = i->counts,
              .variance = i->counts_sigma * i->counts_sigma,
              .sum = i->sum,
              .sum_variance = i->sum_sigma * i->sum_sigma,
              .partiality = i->partiality,
              .d_spacing = i->d_spacing,
              .background = i->background,
              .wavelength = i->wavelength,
              .wavelength_width = i->wavelength_width };
    memcpy(w.hkl, i->hkl, sizeof w.hkl);
    scattered_wave(experiment, i, w.s1);
    w.entering = enters(experiment, w.s1);
    place_in_mm(experiment, f, r->panel, i->position, w.position_mm);
    if (i->strong >= fewest_strong) w.flags |= STRONG;
    if (isfinite(i->observed[0])) take_observed(experiment, f, i, &w);
    return w;
}

#define COLUMN(title, kind, member)                                                                \
    { .name = title, .type = kind, .size = sizeof((row *)0)->member, .from = offsetof(row, member) }
static const struct {
    const char *name, *type;
    size_t size, from;
} columns[] = {
    COLUMN("miller_index", "cctbx::miller::index<>", hkl),
    COLUMN("id", "int", experiment),
    COLUMN("panel", "std::size_t", panel),
    COLUMN("flags", "std::size_t", flags),
    COLUMN("bbox", "int6", box),
    COLUMN("xyzcal.px", "vec3<double>", position),
    COLUMN("xyzcal.mm", "vec3<double>", position_mm),
    COLUMN("xyzobs.px.value", "vec3<double>", observed),
    COLUMN("xyzobs.px.variance", "vec3<double>", observed_variance),
    COLUMN("xyzobs.mm.value", "vec3<double>", observed_mm),
    COLUMN("xyzobs.mm.variance", "vec3<double>", observed_mm_variance),
    COLUMN("s1", "vec3<double>", s1),
    COLUMN("intensity.prf.value", "double", counts),
    COLUMN("intensity.prf.variance", "double", variance),
    COLUMN("intensity.sum.value", "double", sum),
    COLUMN("intensity.sum.variance", "double", sum_variance),
    COLUMN("partiality", "double", partiality),
    COLUMN("d", "double", d_spacing),
    COLUMN("background.mean", "double", background),
    COLUMN("wavelength_cal", "double", wavelength),
    COLUMN("wavelength_width", "double", wavelength_width),
    COLUMN("num_pixels.foreground", "int", pixels),
    COLUMN("imageset_id", "int", imageset),
    COLUMN("entering", "bool", entering),
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

/* Rows become columns, one after the other in `bytes`. */
static void transpose(const db_fit_result *result, const frame *f, unsigned char *bytes,
                      db_table_column table[COLUMNS]) {
    const size_t rows = result->reflection_count;
    unsigned char *bytes_of[COLUMNS];
    for (size_t c = 0; c < COLUMNS; c++) {
        table[c] = (db_table_column){ columns[c].name, columns[c].type, columns[c].size, bytes };
        bytes_of[c] = bytes;
        bytes += rows * columns[c].size;
    }
    for (size_t n = 0; n < rows; n++) {
        const row r = row_of(&result->experiment, f, &result->reflections[n]);
        for (size_t c = 0; c < COLUMNS; c++)
            memcpy(bytes_of[c] + n * columns[c].size, (const unsigned char *)&r + columns[c].from,
                   columns[c].size);
    }
}

/* Is the table that the configuration names for its reflections, spots or boxes an HDF5 file? */
static int names_hdf5(const db_fit_config *config) {
    const char *const lists[] = { config->reflection_file, config->spot_file, config->box_file };
    static const unsigned char signature[8] = { 0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n' };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        unsigned char start[sizeof signature] = { 0 };
        FILE *const file = *lists[i] ? fopen(lists[i], "rb") : NULL;
        if (!file) continue;
        const size_t got = fread(start, 1, sizeof start, file);
        fclose(file);
        if (got == sizeof start && memcmp(start, signature, sizeof start) == 0) return 1;
    }
    return 0;
}

db_status db_fit_write_table(db_context *context, const char *path, const db_fit_config *config,
                             const db_fit_result *result) {
    db_table_column table[COLUMNS];
    db_listed_name name = { -1, -1, 0, "" };
    const db_goniometer *const g = &result->experiment.goniometer;
    const double width = g->phi_step * g->phi_steps;
    frame f = { 1, width < 0 ? -g->phi : g->phi, fabs(width) }; /* as in the list */
    DB_TRY(check_reflections(context, path, result));
    if (config) DB_TRY(db_config_experiment(context, config, &name));
    if (config && f.width > 0)
        DB_TRY(db_dials_image_number(context, config->image_file, &f.number));
    else if (name.frame >= 0)
        f.number = (int)name.frame;
    unsigned char *const bytes = malloc((result->reflection_count + 1) * sizeof(row));
    if (!bytes) return db_fail_memory(context, "the reflection table");
    transpose(result, &f, bytes, table);
    const db_table_identifier identifier = { 0, name.identifier };
    const db_table_content content = { .rows = result->reflection_count,
                                       .column_count = COLUMNS,
                                       .columns = table,
                                       .identifier_count = *name.identifier ? 1 : 0,
                                       .identifiers = &identifier };
    const db_table_form form = config && names_hdf5(config) ? DB_TABLE_HDF5 : DB_TABLE_MSGPACK;
    const db_status status = db_reflection_table_write(context, path, form, &content);
    free(bytes);
    return status;
}

/* Reflections of a rotation series: lines of text. */

db_status db_fit_shots_write_passages(db_context *context, const char *path,
                                      const db_fit_shots_result *result) {
    db_text_stream text;
    if (!result->passages)
        return db_fail(context, DB_ERROR_USAGE,
                       "%s: expected a rotation series with free intensities, found none", path);
    DB_TRY(db_text_stream_open(context, &text));
    fprintf(text.stream,
            "# dualbragg %s: intensities of a rotation series, by fitting the model's spots\n"
            "# h k l F^2 sigma(F^2) partiality counts sigma(counts) counts(model) chi2/pixel "
            "first_frame "
            "last_frame frame panel fast slow pixels strong_pixels\n",
            db_version());
    if (!result->intensities_usable) fputs(DB_INTENSITIES_UNUSABLE, text.stream);
    for (size_t n = 0; n < result->passage_count; n++) {
        const db_fit_passage *const p = &result->passages[n];
        fprintf(text.stream,
                "%d %d %d %.6g %.4g %.4f %.6g %.4g %.6g %.3g %zu %zu %.3f %zu %.2f %.2f %zu %zu\n",
                p->hkl[0], p->hkl[1], p->hkl[2], p->square, p->square_sigma, p->recorded, p->light,
                p->light_sigma, p->model, p->pixels ? p->chi2 / (double)p->pixels : 0, p->first + 1,
                p->last + 1, p->position[2], p->panel, p->position[0], p->position[1], p->pixels,
                p->strong);
    }
    return db_text_stream_write(context, &text, DB_OK, path);
}
