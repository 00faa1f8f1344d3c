/* Intensities of reflections: lines of text, and a reflection table of DIALS. */
#include "base/context_internal.h"
#include "base/degree.h"
#include "base/text_stream.h"
#include "base/json_reader.h"
#include "base/vector.h"
#include "fit/config/listed_experiment.h"
#include "fit/verdict/verdict_of_light.h"

#include <dualbragg/reflections.h>
#include <dualbragg/expert/dials_frame.h>
#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/experiment_list_content.h>
#include <dualbragg/expert/file_kind.h>
#include <dualbragg/expert/fit_files.h>
#include <dualbragg/expert/reflection_tables.h>
#include <dualbragg/expert/symmetry.h>

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
    fprintf(text.stream,
            "# sigma(F^2): noise, and an error of the partiality of %.3g (1 + ln^2 partiality)^1/2 "
            "F^2 by %zu pairs of symmetry mates\n",
            result->mates.error, result->mates.pairs);
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

/* The vector of the scattered wave for DIALS: in its frame, with length 1/wavelength. */
static void scattered_wave(const db_experiment *experiment, const db_fit_reflection *i,
                           double s1[3]) {
    double frame[3][3];
    double at[3] = { 0, 0, 0 };
    const size_t panel = i->region.panel;
    double crystal[3];
    (void)db_experiment_pixel_position(experiment, panel, i->position[0], i->position[1], at);
    db_experiment_crystal_position(experiment, crystal);
    for (int k = 0; k < 3; k++) at[k] -= crystal[k];
    const double length =
        sqrt(at[0] * at[0] + at[1] * at[1] + at[2] * at[2]) * experiment->beam.wavelength;
    db_dials_frame(experiment, frame);
    for (int k = 0; k < 3; k++)
        s1[k] = (frame[k][0] * at[0] + frame[k][1] * at[1] + frame[k][2] * at[2]) / length;
}

/* An image in its list: image `number` of a scan that begins at `start` with steps of `width` (degree). */
typedef struct frame {
    int number;
    double start, width;
} frame;

/* Millimetres on the panel and radians of the spindle, from pixels and the middle of the image. */
static void place_in_mm(const db_experiment *experiment, const frame *f, size_t panel,
                        const double px[2], double mm[3]) {
    db_dials_millimetres(experiment, panel, px, mm);
    mm[2] = (f->start + 0.5 * f->width) * DB_DEGREE;
}

/* Takes the centroid; the angle may be anywhere in the image's range. */
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
    w->observed_mm_variance[2] = f->width * f->width * DB_DEGREE * DB_DEGREE / 12;
    w->flags |= OBSERVED | INDEXED;
}

/* Does the node enter the Ewald sphere, by DIALS' rule: does it move towards the beam's side? */
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

/* Turns rows into columns, one after the other in `bytes`. */
static void transpose(size_t rows, row (*row_at)(const void *of, size_t n), const void *of,
                      unsigned char *bytes, db_table_column table[COLUMNS]) {
    unsigned char *bytes_of[COLUMNS];
    for (size_t c = 0; c < COLUMNS; c++) {
        table[c] = (db_table_column){ columns[c].name, columns[c].type, columns[c].size, bytes };
        bytes_of[c] = bytes;
        bytes += rows * columns[c].size;
    }
    for (size_t n = 0; n < rows; n++) {
        const row r = row_at(of, n);
        for (size_t c = 0; c < COLUMNS; c++)
            memcpy(bytes_of[c] + n * columns[c].size, (const unsigned char *)&r + columns[c].from,
                   columns[c].size);
    }
}

static db_status write_rows(db_context *context, const char *path, db_table_form form, size_t rows,
                            row (*row_at)(const void *of, size_t n), const void *of,
                            const db_table_identifier *identifiers, size_t identifier_count) {
    db_table_column table[COLUMNS];
    unsigned char *const bytes = malloc((rows + 1) * sizeof(row));
    if (!bytes) return db_fail_memory(context, "the reflection table");
    transpose(rows, row_at, of, bytes, table);
    const db_table_content content = { .rows = rows,
                                       .column_count = COLUMNS,
                                       .columns = table,
                                       .identifier_count = identifier_count,
                                       .identifiers = identifiers };
    const db_status status = db_reflection_table_write(context, path, form, &content);
    free(bytes);
    return status;
}

/* The reflections of an image. */
typedef struct image_rows {
    const db_fit_result *result;
    frame frame;
} image_rows;

static row row_of_image(const void *of, size_t n) {
    const image_rows *const image = of;
    return row_of(&image->result->experiment, &image->frame, &image->result->reflections[n]);
}

static frame frame_of(const db_experiment *experiment, int number) {
    const db_goniometer *const g = &experiment->goniometer;
    const double width = g->phi_step * g->phi_steps;
    return (frame){ number, width < 0 ? -g->phi : g->phi, fabs(width) }; /* as in the list */
}

/* The form of the tables that the configuration names for its reflections, spots or boxes. */
static db_table_form form_of(db_context *context, const db_fit_config *config) {
    const char *const lists[] = { config->reflection_file, config->spot_file, config->box_file };
    db_file_kind kind;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (*lists[i] && db_recognize_file(context, lists[i], &kind) == DB_OK &&
            strcmp(kind.label, "HDF5") == 0)
            return DB_TABLE_HDF5;
    return DB_TABLE_MSGPACK;
}

db_status db_fit_write_table(db_context *context, const char *path, const db_fit_config *config,
                             const db_fit_result *result) {
    db_listed_name name = { -1, -1, 0, "" };
    image_rows image = { result, frame_of(&result->experiment, 1) };
    DB_TRY(check_reflections(context, path, result));
    if (config) DB_TRY(db_config_experiment(context, config, &name));
    if (config && image.frame.width > 0)
        DB_TRY(db_dials_image_number(context, config->image_file, &image.frame.number));
    else if (name.frame >= 0)
        image.frame.number = (int)name.frame;
    const db_table_identifier identifier = { 0, name.identifier };
    return write_rows(context, path, config ? form_of(context, config) : DB_TABLE_MSGPACK,
                      result->reflection_count, row_of_image, &image, &identifier,
                      *name.identifier ? 1 : 0);
}

/* ---- reflections of a rotation series, once for each passage: text, a table, MTZ */

static db_status check_passages(db_context *context, const char *path,
                                const db_fit_shots_result *result) {
    return result->passages
               ? DB_OK
               : db_fail(context, DB_ERROR_USAGE,
                         "%s: expected a rotation series with free intensities, found none", path);
}

db_status db_fit_shots_write_passages(db_context *context, const char *path,
                                      const db_fit_shots_result *result) {
    db_text_stream text;
    DB_TRY(check_passages(context, path, result));
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

/* Place of a shot in the experiment list of all. */
typedef struct listed_shot {
    int experiment, imageset, number;
} listed_shot;

/* Shots in the experiment list of all, while it is open. */
typedef struct series_rows {
    const db_fit_shots_result *result;
    listed_shot *shot; /* [shot_count]; of those in use */
    db_table_identifier *identifiers;
    size_t count; /* of these */
    json_t *document;
} series_rows;

/* Shot at a place along the series; shots in use are at both ends of it. */
static size_t shot_at(const db_fit_passage *p) {
    const size_t at = (size_t)fmax(0, p->position[2]);
    return at < p->first ? p->first : at > p->last ? p->last : at;
}

static double spacing_of(const db_crystal *crystal, const int hkl[3]) {
    const double index[3] = { hkl[0], hkl[1], hkl[2] };
    double a_star[9], q[3];
    db_crystal_matrix(crystal, a_star);
    db_apply(a_star, index, q);
    return 1 / db_length(q);
}

/* A passage as if one image had recorded all of it. */
static db_fit_reflection as_reflection(const db_fit_passage *p, const db_experiment *experiment) {
    db_fit_reflection i = { .d_spacing = spacing_of(&experiment->crystal, p->hkl),
                            .counts = p->model,
                            .counts_sigma = fabs(p->square) > 0
                                                ? p->model * p->square_sigma / p->square
                                                : p->light_sigma,
                            .sum = p->light,
                            .sum_sigma = p->light_sigma,
                            .partiality = p->recorded,
                            .background = p->background,
                            .pixels = (int)p->pixels,
                            .strong = (int)p->strong,
                            .wavelength = experiment->beam.wavelength };
    memcpy(i.hkl, p->hkl, sizeof i.hkl);
    i.region = (db_region){ .panel = p->panel,
                            .fast_start = p->box[0],
                            .slow_start = p->box[1],
                            .fast_count = p->box[2] - p->box[0],
                            .slow_count = p->box[3] - p->box[1] };
    for (int k = 0; k < 2; k++) {
        i.position[k] = p->position[k];
        i.observed[k] = p->observed[k];
        i.observed_variance[k] = p->observed_variance[k];
    }
    return i;
}

static row row_of_series(const void *of, size_t n) {
    const series_rows *const series = of;
    const db_fit_passage *const p = &series->result->passages[n];
    const size_t k = shot_at(p);
    const listed_shot *const listed = &series->shot[k];
    const db_experiment *const experiment = &series->result->shot[k].experiment;
    const frame f = frame_of(experiment, listed->number);
    const db_fit_reflection i = as_reflection(p, experiment);
    row w = row_of(experiment, &f, &i);
    const double first = listed->number - 1 - (double)k, /* in the frames of the list */
        turn = f.width * DB_DEGREE, start = f.start * DB_DEGREE - turn * (double)k;
    w.experiment = listed->experiment;
    w.imageset = listed->imageset;
    w.box[4] = (int32_t)(first + (double)p->first);
    w.box[5] = (int32_t)(first + (double)p->last + 1);
    w.position[2] = first + p->position[2];
    w.position_mm[2] = start + turn * p->position[2];
    w.observed[2] = first + p->observed[2];
    w.observed_mm[2] = start + turn * p->observed[2];
    w.observed_variance[2] = p->observed_variance[2];
    w.observed_mm_variance[2] = turn * turn * p->observed_variance[2];
    if (isfinite(p->observed[0])) return w;
    for (int c = 0; c < 3; c++)
        w.observed[c] = w.observed_mm[c] = w.observed_variance[c] = w.observed_mm_variance[c] = 0;
    return w;
}

/* Finds the places of shots: those in use are in the list in their order, with frames of a scan as one experiment. */
static db_status place_shots(const db_json *list, series_rows *series) {
    const db_json experiments = db_json_member(list, "experiment"),
                  scans = db_json_member(list, "scan");
    const db_fit_shots_result *const result = series->result;
    size_t s = 0;
    for (size_t e = 0;; e++) {
        const db_json experiment = db_json_element(&experiments, e);
        if (!experiment.value) break;
        double scan = -1, imageset = 0;
        int range[2] = { 1, 1 };
        DB_TRY(db_json_optional_number(&experiment, "scan", &scan));
        DB_TRY(db_json_optional_number(&experiment, "imageset", &imageset));
        const db_json of = db_json_element(&scans, (size_t)fmax(0, scan)),
                      images = db_json_member(&of, "image_range");
        if (scan >= 0) DB_TRY(db_json_integers(&images, range, 2));
        const char *const identifier = db_json_text(&experiment, "identifier");
        if (identifier && *identifier)
            series->identifiers[series->count++] = (db_table_identifier){ (int)e, identifier };
        for (int number = range[0]; number <= range[1]; number++, s++) {
            while (s < result->shot_count && !result->shot[s].used) s++;
            if (s >= result->shot_count)
                return db_json_fail(&images, "as many images as shots are in use");
            series->shot[s] = (listed_shot){ (int)e, (int)imageset, number };
        }
    }
    while (s < result->shot_count && !result->shot[s].used) s++;
    return s == result->shot_count
               ? DB_OK
               : db_json_fail(&experiments, "as many images as shots are in use");
}

static void close_series(series_rows *series) {
    free(series->identifiers);
    free(series->shot);
    json_decref(series->document);
}

/* Opens the experiment list of all shots; to be closed if this succeeds. */
static db_status open_series(db_context *context, const char *list,
                             const db_fit_shots_result *result, series_rows *series) {
    const size_t room = result->shot_count + 1;
    db_json root;
    *series = (series_rows){ .result = result };
    DB_TRY(db_json_open(context, list, &series->document, &root));
    series->identifiers = malloc(room * sizeof *series->identifiers);
    series->shot = calloc(room, sizeof *series->shot);
    const db_status status = series->identifiers && series->shot
                                 ? place_shots(&root, series)
                                 : db_fail_memory(context, "the list of the shots");
    if (status != DB_OK) close_series(series);
    return status;
}

static db_status take_model(db_context *context, const char *list, const listed_shot *listed,
                            db_experiment *experiment) {
    const db_expt_selection selection = { .number = listed->experiment, .frame = listed->number };
    db_expt_content content;
    DB_TRY(db_experiment_init(context, experiment));
    const db_status status = db_read_expt(context, list, &selection, experiment, &content);
    db_expt_content_clear(&content);
    return status;
}

db_status db_fit_shots_take_models(db_context *context, const char *list,
                                   db_fit_shots_result *result) {
    series_rows series;
    size_t missing = 0;
    for (size_t k = 0; k < result->shot_count && result->passages; k++)
        missing += result->shot[k].used && !result->shot[k].experiment.detector.panels;
    if (!missing) return DB_OK;
    DB_TRY(open_series(context, list, result, &series));
    db_status status = DB_OK;
    for (size_t k = 0; k < result->shot_count && status == DB_OK; k++)
        if (result->shot[k].used && !result->shot[k].experiment.detector.panels)
            status = take_model(context, list, &series.shot[k], &result->shot[k].experiment);
    close_series(&series);
    return status;
}

db_status db_fit_shots_write_table(db_context *context, const char *path, const char *list,
                                   const db_fit_config *config, const db_fit_shots_result *result) {
    series_rows series;
    DB_TRY(check_passages(context, path, result));
    DB_TRY(open_series(context, list, result, &series));
    const db_status status =
        write_rows(context, path, form_of(context, config), result->passage_count, row_of_series,
                   &series, series.identifiers, series.count);
    close_series(&series);
    return status;
}

enum { SQUARE, SQUARE_SIGMA, RECORDED, FAST, SLOW, TURN, MTZ_COLUMNS };
static const db_mtz_column passage_columns[MTZ_COLUMNS] = {
    { "I", 'J', -1 },    { "SIGI", 'Q', -1 }, { "FRACTIONCALC", 'R', -1 },
    { "XDET", 'R', -1 }, { "YDET", 'R', -1 }, { "ROT", 'R', -1 },
};

static db_status write_passage_rows(db_context *context, const char *path, const char *group,
                                    const db_fit_shots_result *result, int (*hkl)[3],
                                    float (*value)[MTZ_COLUMNS], uint32_t *batch) {
    const db_experiment *const first = &result->shot[shot_at(&result->passages[0])].experiment;
    db_mtz_content content = { .title = "intensities of a rotation series",
                               .group = group,
                               .wavelength = first->beam.wavelength,
                               .column_count = MTZ_COLUMNS,
                               .columns = passage_columns,
                               .rows = result->passage_count,
                               .hkl = (const int(*)[3])hkl,
                               .values = value[0],
                               .batch = batch,
                               .batches = (uint32_t)result->shot_count };
    memcpy(content.cell, first->crystal.cell, sizeof content.cell);
    for (size_t n = 0; n < result->passage_count; n++) {
        const db_fit_passage *const p = &result->passages[n];
        const size_t k = shot_at(p);
        const db_goniometer *const g = &result->shot[k].experiment.goniometer;
        memcpy(hkl[n], p->hkl, sizeof *hkl);
        batch[n] = (uint32_t)k + 1;
        value[n][SQUARE] = (float)p->square;
        value[n][SQUARE_SIGMA] = isfinite(p->square_sigma) ? (float)p->square_sigma : NAN;
        value[n][RECORDED] = (float)p->recorded;
        value[n][FAST] = (float)p->position[0];
        value[n][SLOW] = (float)p->position[1];
        value[n][TURN] =
            (float)(g->phi + (p->position[2] - (double)k) * g->phi_step * g->phi_steps);
    }
    return db_mtz_write(context, path, &content);
}

db_status db_fit_shots_write_passage_mtz(db_context *context, const char *path,
                                         const db_fit_config *config,
                                         const db_fit_shots_result *result) {
    const size_t n = result->passage_count + 1;
    db_space_group group = { .name = "" };
    DB_TRY(check_passages(context, path, result));
    const db_experiment *const first =
        result->passage_count ? &result->shot[shot_at(&result->passages[0])].experiment : NULL;
    const int named = first && db_space_group_of_cell(context, config->symmetry,
                                                      first->crystal.cell, &group) == DB_OK;
    int(*const hkl)[3] = malloc(n * sizeof *hkl);
    float(*const value)[MTZ_COLUMNS] = malloc(n * sizeof *value);
    uint32_t *const batch = malloc(n * sizeof *batch);
    const db_status status =
        !hkl || !value || !batch ? db_fail_memory(context, "the MTZ file")
        : result->passage_count == 0
            ? db_fail(context, DB_ERROR_UNSUPPORTED, "%s: there are no reflections to write", path)
            : write_passage_rows(context, path, named ? group.name : "", result, hkl, value, batch);
    free(hkl);
    free(value);
    free(batch);
    return status;
}
