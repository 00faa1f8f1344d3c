/* Facts of several files together: conflicts, missing facts, the next command. */
#define _POSIX_C_SOURCE 200809L /* fmemopen */
#include "cli/import.h"

#include "base/shown_text.h"
#include "cli/shell_word.h"

#include <dualbragg/expert/modules.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Relative differences beyond rounding or another shot. */
static const double WAVELENGTH_APART = 1e-3, LENGTH_APART = 2e-3, CELL_APART = 0.015;
static const double ANGLE_APART = 1.5; /* degree */

static void __attribute__((format(printf, 2, 3)))
add_conflict(db_import_summary *s, const char *format, ...) {
    va_list arguments;
    if (s->conflict_count == DB_MOST_CONFLICTS) return;
    va_start(arguments, format);
    db_shown_vformat(s->conflict[s->conflict_count++], DB_FACT_TEXT, format, arguments);
    va_end(arguments);
}

static int differ(double a, double b, double apart) {
    return !isnan(a) && !isnan(b) && fabs(a - b) > apart * fabs(a);
}

static int is_image(const db_imported *file) { return (file->kind.holds & DB_HOLDS_IMAGES) != 0; }

static int is_matrix(const db_imported *file) { return !isnan(file->matrix[0]); }

static int is_list(const db_imported *file) {
    return !is_image(file) && file->found & DB_HOLDS_GEOMETRY;
}

static void compare_number(const db_imported *a, const db_imported *b, const char *what,
                           const double value[2], const char *unit, double apart,
                           db_import_summary *s) {
    if (differ(value[0], value[1], apart))
        add_conflict(s, "%s: %.7g %s in %s, %.7g %s in %s", what, value[0], unit, a->path, value[1],
                     unit, b->path);
}

static void compare_shapes(const db_imported *a, const db_imported *b, db_import_summary *s) {
    if (!a->panels || !b->panels) return;
    const int same = a->shape[0] == b->shape[0] && (a->panels > 1 || a->shape[1] == b->shape[1]);
    if (a->panels != b->panels) /* a list's panels may be parts of the image's one array */
        add_conflict(s, "panels: %zu in %s, %zu in %s", a->panels, a->path, b->panels, b->path);
    else if (!same)
        add_conflict(s, "pixels: panels of %d x %d in %s, %d x %d in %s", a->shape[0], a->shape[1],
                     a->path, b->shape[0], b->shape[1], b->path);
}

static void compare_detectors(const db_imported *a, const db_imported *b, db_import_summary *s) {
    const double wavelength[2] = { a->wavelength, b->wavelength },
                 distance[2] = { a->distance, b->distance },
                 pixel[2] = { a->pixel_size, b->pixel_size };
    const int cut = b->content.layout || db_detector_is_one_array(&b->experiment.detector);
    compare_number(a, b, "wavelength", wavelength, "A", WAVELENGTH_APART, s);
    compare_number(a, b, "distance", distance, "mm", LENGTH_APART, s);
    compare_number(a, b, "pixel size", pixel, "mm", WAVELENGTH_APART, s);
    if (!cut || a->panels == b->panels) compare_shapes(a, b, s);
}

static void compare_cells(const db_imported *a, const db_imported *b, db_import_summary *s) {
    int apart = 0;
    for (int i = 0; i < 6; i++)
        apart |= i < 3 ? differ(a->cell[i], b->cell[i], CELL_APART)
                       : fabs(a->cell[i] - b->cell[i]) > ANGLE_APART;
    if (!apart) return;
    const double *const c = a->cell, *const d = b->cell;
    add_conflict(
        s, "cell: %.5g %.5g %.5g %.4g %.4g %.4g in %s, %.5g %.5g %.5g %.4g %.4g %.4g in %s", c[0],
        c[1], c[2], c[3], c[4], c[5], a->path, d[0], d[1], d[2], d[3], d[4], d[5], b->path);
}

/* Compares the experiment of a list that shows the image with the image's facts. */
static void compare_with_list(db_context *context, const db_imported *image,
                              const db_imported *list, db_import_summary *s) {
    const db_expt_selection selection = { .number = list->count > 1 ? -1 : 0,
                                          .image = image->name };
    db_imported *const shown = calloc(1, sizeof *shown);
    if (!shown) return;
    shown->path = list->path;
    db_status status = db_experiment_init(context, &shown->experiment);
    if (status == DB_OK)
        status = db_read_expt(context, list->path, &selection, &shown->experiment, &shown->content);
    if (status != DB_OK) {
        add_conflict(s, "%.360s (-expt_number, model.expt_number)", db_context_message(context));
        s->several = list->count > 1;
    } else {
        if (*shown->content.other_image)
            add_conflict(s, "%s shows %s, not %s", list->path, shown->content.other_image,
                         image->path);
        db_imported_add_experiment(context, shown);
        compare_detectors(image, shown, s);
    }
    db_imported_clear(shown);
    free(shown);
}

static void compare_spots(const db_imported *spots, const db_imported *detector,
                          db_import_summary *s) {
    if (spots->most_panel >= detector->panels)
        add_conflict(s, "panels: spots of panel %zu in %s, %zu panel%s in %s", spots->most_panel,
                     spots->path, detector->panels, detector->panels == 1 ? "" : "s",
                     detector->path);
}

/* Compares all facts with the first file that has them. */
static void compare_all(db_context *context, const db_imported *files, size_t count,
                        db_import_summary *s) {
    int first_image = -1, first_list = -1, first_cell = -1;
    for (size_t i = 0; i < count; i++) {
        const db_imported *const f = &files[i];
        if (is_image(f) && f->panels && first_image < 0) first_image = (int)i;
        if (is_list(f) && first_list < 0) first_list = (int)i;
    }
    for (size_t i = 0; i < count; i++) {
        const db_imported *const f = &files[i];
        if (is_image(f) && (int)i != first_image && first_image >= 0)
            compare_detectors(&files[first_image], f, s);
        if (is_list(f) && first_image >= 0)
            compare_with_list(context, &files[first_image], f, s);
        else if (is_list(f) && (int)i != first_list)
            compare_detectors(&files[first_list], f, s);
        if (f->found & DB_HOLDS_SPOTS && s->geometry >= 0) compare_spots(f, &files[s->geometry], s);
        if (!isnan(f->cell[0]) && first_cell < 0) first_cell = (int)i;
        if (!isnan(f->cell[0])) compare_cells(&files[first_cell], f, s);
    }
}

/* A matrix gives a cell if the wavelength is known. */
static void complete_matrices(db_context *context, db_imported *files, size_t count) {
    double wavelength = NAN;
    for (size_t i = 0; i < count && isnan(wavelength); i++) wavelength = files[i].wavelength;
    for (size_t i = 0; i < count && !isnan(wavelength); i++) {
        db_imported *const f = &files[i];
        double a_star[9];
        db_crystal crystal = f->experiment.crystal;
        if (isnan(f->matrix[0])) continue;
        for (int k = 0; k < 9; k++) a_star[k] = f->matrix[k] / wavelength;
        if (db_crystal_set_matrix(context, &crystal, a_star) == DB_OK)
            db_imported_add_cell(f, crystal.cell);
    }
}

static int first_with(const db_imported *files, size_t count, unsigned holds, unsigned lacks) {
    for (size_t i = 0; i < count; i++)
        if (files[i].found && (files[i].found & holds) == holds && !(files[i].found & lacks))
            return (int)i;
    return -1;
}

static void choose_advice(const db_imported *files, size_t count, db_import_summary *s) {
    s->image = first_with(files, count, DB_HOLDS_IMAGES, 0);
    s->crystal = first_with(files, count, DB_HOLDS_CRYSTALS, 0);
    s->geometry = first_with(files, count, DB_HOLDS_GEOMETRY | DB_HOLDS_CRYSTALS, DB_HOLDS_IMAGES);
    if (s->geometry < 0) s->geometry = first_with(files, count, DB_HOLDS_GEOMETRY, DB_HOLDS_IMAGES);
    if (s->geometry < 0) s->geometry = first_with(files, count, DB_HOLDS_GEOMETRY, 0);
    s->amplitudes = first_with(files, count, DB_HOLDS_AMPLITUDES, 0);
    s->spots = first_with(files, count, DB_HOLDS_SPOTS, 0);
}

static void lack(char text[DB_FACT_TEXT], const char *what) {
    const size_t length = strlen(text);
    snprintf(text + length, DB_FACT_TEXT - length, "%s%s", length ? "; " : "", what);
}

static const double *known_cell(const db_imported *files, const db_import_summary *s) {
    if (s->crystal >= 0 && !isnan(files[s->crystal].cell[0])) return files[s->crystal].cell;
    if (s->amplitudes >= 0 && !isnan(files[s->amplitudes].cell[0]))
        return files[s->amplitudes].cell;
    return NULL;
}

/* Tries by spots whether the orientation is the one of the crystal on the image. */
static void try_orientation(db_context *context, const db_imported *files, db_import_summary *s) {
    double a_star[9];
    size_t spots[2];
    if (s->image < 0 || s->crystal < 0 || s->geometry < 0 || !files[s->geometry].placed) return;
    const db_imported *const from = &files[s->crystal], *const at = &files[s->geometry];
    const double wavelength = at->experiment.beam.wavelength;
    if (is_matrix(from))
        for (int i = 0; i < 9; i++) a_star[i] = from->matrix[i] / wavelength;
    else if (from->content.has_crystal)
        db_crystal_matrix(&from->experiment.crystal, a_star);
    else
        return;
    s->other_way = !db_imported_try_orientation(context, files[s->image].name, at, a_star, spots);
    if (s->other_way)
        add_conflict(
            s,
            "orientation: of %zu strong spots of %s only %zu lie near nodes of the lattice of %s, "
            "as by chance: this orientation belongs to another image or to other axes",
            spots[0], files[s->image].path, spots[1], from->path);
}

static void find_missing(const db_imported *files, db_import_summary *s) {
    static const struct {
        unsigned bit;
        const char *sim, *fit;
    } geometry[] = {
        { DB_LACKS_WAVELENGTH, "wavelength (-lambda ANGSTROM)",
          "wavelength (model.wavelength=ANGSTROM)" },
        { DB_LACKS_DISTANCE, "distance (-distance MM)", "distance (model.distance=MM)" },
        { DB_LACKS_PIXEL_SIZE, "pixel size (-pixel MM)", "pixel size (model.pixel_size=MM)" },
        { DB_LACKS_BEAM_CENTRE, "beam centre (-Xbeam MM -Ybeam MM)",
          "beam centre (model.beam_centre_px=[FAST,SLOW])" },
        { DB_LACKS_PANELS, "geometry of the panels (-expt FILE)",
          "geometry of the panels (--expt FILE)" },
    };
    const unsigned lacks = s->image >= 0 && s->geometry < 0 ? files[s->image].lacks : 0;
    const int has_cell = known_cell(files, s) || s->crystal >= 0;
    if (s->image < 0) lack(s->fit, "an image");
    for (size_t i = 0; i < sizeof geometry / sizeof *geometry; i++)
        if (lacks & geometry[i].bit) {
            lack(s->sim, geometry[i].sim);
            lack(s->fit, geometry[i].fit);
        }
    if (s->image < 0 && s->geometry < 0)
        lack(s->sim, "beam and detector (-expt or -img FILE, else the defaults: 1 A, 100 mm)");
    if (!has_cell) lack(s->sim, "a crystal (-cell A B C ALPHA BETA GAMMA, -mat or -expt FILE)");
    if (s->amplitudes < 0) lack(s->sim, "structure factors (-hkl FILE, or -default_F F for all)");
}

static void print_cell(FILE *out, const char *flag, const double cell[6], char between) {
    fprintf(out, " %s %.6g%c%.6g%c%.6g%c%.6g%c%.6g%c%.6g", flag, cell[0], between, cell[1], between,
            cell[2], between, cell[3], between, cell[4], between, cell[5]);
}

static void print_file(FILE *out, const char *flag, const char *path) {
    fprintf(out, " %s", flag);
    db_print_shell_word(out, path);
}

static void print_fit(FILE *out, const db_imported *files, const db_import_summary *s) {
    const double *const cell = known_cell(files, s);
    const db_imported *const image = &files[s->image];
    const int listed = s->geometry >= 0 && (s->geometry != s->image || image->panels > 1);
    fputs("dualbragg fit", out);
    db_print_shell_word(out, image->name);
    if (listed) print_file(out, "--expt", files[s->geometry].path);
    if (listed && s->several)
        fprintf(out, " model.expt_number=%ld", files[s->geometry].content.number);
    if (s->crystal >= 0 && is_matrix(&files[s->crystal]) && !s->other_way)
        print_file(out, "--matrix", files[s->crystal].path);
    else if (cell && (!(listed && files[s->geometry].content.has_crystal) || s->other_way))
        print_cell(out, "--cell", cell, ',');
    if (listed && s->other_way) fputs(" model.find_orientation=yes", out);
}

static void print_sim(FILE *out, const db_imported *files, const db_import_summary *s) {
    const double *const cell = known_cell(files, s);
    fputs("dualbragg sim", out);
    if (s->geometry >= 0) {
        const db_imported *const geometry = &files[s->geometry];
        const int image = (geometry->found & DB_HOLDS_IMAGES) && geometry->panels == 1;
        print_file(out, image ? "-img" : "-expt", image ? geometry->name : geometry->path);
        if (!image && geometry->count > 1 && !(geometry->found & DB_HOLDS_IMAGES))
            fprintf(out, " -expt_number %ld", geometry->content.number);
    }
    if (s->crystal >= 0 && is_matrix(&files[s->crystal]))
        print_file(out, "-mat", files[s->crystal].path);
    else if (cell && !(s->geometry >= 0 && files[s->geometry].content.has_crystal))
        print_cell(out, "-cell", cell, ' ');
    if (s->amplitudes >= 0)
        print_file(out, "-hkl", files[s->amplitudes].path);
    else
        fputs(" -default_F 100", out);
    fputs(" -N 20 -spots closed -mosaic_rms 0.05 -pngfile image.png", out);
}

static void advise_next(const db_imported *files, db_import_summary *s) {
    FILE *const out = fmemopen(s->next, sizeof s->next, "w");
    if (!out) return;
    const int crystal = s->crystal >= 0 || known_cell(files, s);
    if (s->image >= 0 && crystal && !*s->fit)
        print_fit(out, files, s);
    else if (s->image >= 0) {
        fputs("dualbragg view", out);
        db_print_shell_word(out, files[s->image].name);
        fputs(" -o image.html", out);
    } else if (crystal)
        print_sim(out, files, s);
    fclose(out);
    s->next[sizeof s->next - 1] = '\0';
}

void db_import_sum_up(db_context *context, db_imported *files, size_t count,
                      db_import_summary *summary) {
    memset(summary, 0, sizeof *summary);
    complete_matrices(context, files, count);
    choose_advice(files, count, summary);
    compare_all(context, files, count, summary);
    if (first_with(files, count, 0, 0) < 0) return;
    try_orientation(context, files, summary);
    find_missing(files, summary);
    advise_next(files, summary);
}
