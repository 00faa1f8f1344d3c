/* Facts about an experiment. */
#include "cli/import.h"

#include "base/degree.h"
#include "base/path.h"
#include "base/rotation.h"
#include "base/vector.h"
#include "base/photon_energy.h"

#include <dualbragg/expert/sensor_materials.h>
#include <dualbragg/expert/experiment_geometry.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Place where the beam meets a panel's plane: pixels fast, slow and distance (mm). 0: nowhere. */
static int beam_on_panel(const db_experiment *e, size_t p, double place[2], double *distance) {
    double corner[3], fast[3], slow[3], columns[9], rows[9];
    db_experiment_pixel_position(e, p, 0, 0, corner);
    db_experiment_pixel_position(e, p, 1, 0, fast);
    db_experiment_pixel_position(e, p, 0, 1, slow);
    for (int i = 0; i < 3; i++) {
        columns[3 * i] = fast[i] - corner[i];
        columns[3 * i + 1] = slow[i] - corner[i];
        columns[3 * i + 2] = -e->beam.direction[i];
    }
    if (!db_invert(columns, rows)) return 0;
    double found[3]; /* corner + f fast + s slow = t beam */
    db_apply(rows, corner, found);
    place[0] = 0 - found[0];
    place[1] = 0 - found[1];
    *distance = -found[2];
    return *distance > 0;
}

/* Distance in pixels of a place from a panel; 0: it is on the panel. */
static double off_panel(const db_panel *panel, const double place[2]) {
    const double f = fmax(fmax(-place[0], place[0] - panel->fast_pixels), 0);
    const double s = fmax(fmax(-place[1], place[1] - panel->slow_pixels), 0);
    return hypot(f, s);
}

/* Beam centre on the panel that the beam meets, or passes at the least distance. */
static void add_beam_centre(const db_experiment *e, db_imported *file) {
    double best = INFINITY, place[2] = { NAN, NAN };
    size_t panel = 0;
    for (size_t p = 0; p < e->detector.panel_count; p++) {
        double at[2], distance;
        if (!beam_on_panel(e, p, at, &distance)) continue;
        const double off = off_panel(&e->detector.panels[p], at);
        if (off >= best) continue;
        best = off;
        panel = p;
        memcpy(place, at, sizeof place);
        file->distance = distance;
    }
    if (!isfinite(best)) {
        db_imported_add(file, "beam_centre", 0, NULL, "the beam meets no panel's plane");
        return;
    }
    const double values[3] = { place[0], place[1], (double)panel };
    char of[160] = "";
    if (e->detector.panel_count > 1)
        snprintf(of, sizeof of, " of panel %zu%s%s", panel,
                 file->content.panel && *file->content.panel[panel].name ? ", " : "",
                 file->content.panel ? file->content.panel[panel].name : "");
    db_imported_add(file, "distance", 1, &file->distance, "%.6g mm, along the beam",
                    file->distance);
    db_imported_add(file, "beam_centre", 3, values, "%.2f, %.2f pixels (fast, slow)%s%s", place[0],
                    place[1], of, best > 0 ? ", beside it" : "");
}

/* Spacing for scattering to a point (A). */
static double spacing_of(const db_experiment *e, const double position[3]) {
    const double cosine = db_dot(position, e->beam.direction) / db_length(position);
    const double sine = sqrt(fmax(0, (1 - cosine) / 2)); /* of half the angle */
    return e->beam.wavelength / (2 * sine);
}

static void add_resolution(const db_experiment *e, db_imported *file) {
    double finest = INFINITY;
    for (size_t p = 0; p < e->detector.panel_count; p++)
        for (int corner = 0; corner < 4; corner++) {
            const db_panel *const panel = &e->detector.panels[p];
            double at[3];
            db_experiment_pixel_position(e, p, corner & 1 ? panel->fast_pixels : 0,
                                         corner & 2 ? panel->slow_pixels : 0, at);
            finest = fmin(finest, spacing_of(e, at));
        }
    db_imported_add(file, "resolution", 1, &finest, "to %.3g A in the farthest corner", finest);
}

/* Angle between the beam and the normal of a flat detector. */
static void add_two_theta(const db_experiment *e, db_imported *file) {
    static const double LEAST = 0.01; /* degree: less is rounding */
    double sum[3] = { 0, 0, 0 };
    for (size_t p = 0; p < e->detector.panel_count; p++) {
        double corner[3], fast[3], slow[3], normal[3];
        db_experiment_pixel_position(e, p, 0, 0, corner);
        db_experiment_pixel_position(e, p, 1, 0, fast);
        db_experiment_pixel_position(e, p, 0, 1, slow);
        for (int i = 0; i < 3; i++) {
            fast[i] -= corner[i];
            slow[i] -= corner[i];
        }
        db_cross(fast, slow, normal);
        const double length = db_length(normal);
        for (int i = 0; i < 3; i++) sum[i] += normal[i] / length;
    }
    const double flat = db_length(sum) / (double)e->detector.panel_count;
    const double cosine = fabs(db_dot(sum, e->beam.direction)) / db_length(sum);
    const double angle = DB_RADIAN * acos(fmin(cosine, 1));
    if (flat > 0.9999 && angle > LEAST)
        db_imported_add(file, "two_theta", 1, &angle,
                        "%.4g degree, between the beam and the detector's normal", angle);
}

static void add_panels(const db_experiment *e, db_imported *file) {
    const db_panel *const panel = &e->detector.panels[0];
    const double size[2] = { panel->pixel_size[0], panel->pixel_size[1] };
    const double shape[3] = { (double)e->detector.panel_count, panel->fast_pixels,
                              panel->slow_pixels };
    file->pixel_size = size[0];
    if (!(file->found & DB_HOLDS_IMAGES)) {
        file->panels = e->detector.panel_count;
        file->shape[0] = panel->fast_pixels;
        file->shape[1] = panel->slow_pixels;
    }
    if (!(file->found & DB_HOLDS_IMAGES) || e->detector.panel_count != file->panels)
        db_imported_add(file, "panels", 3, shape, "%zu%s %d x %d pixels (fast, slow)",
                        e->detector.panel_count,
                        e->detector.panel_count > 1 ? ", the first of" : " of", panel->fast_pixels,
                        panel->slow_pixels);
    db_imported_add(file, "pixel_size", 2, size, "%.6g x %.6g mm", size[0], size[1]);
}

int db_imported_has_sensor(const db_imported *file) {
    return file->content.sensor_thickness > 1e-2; /* this value means none */
}

static void add_sensor(db_imported *file) {
    const db_expt_content *const c = &file->content;
    char of[64] = "";
    if (!db_imported_has_sensor(file)) return;
    if (c->sensor_material)
        snprintf(of, sizeof of, " %s", db_sensor_material_name(c->sensor_material));
    else if (c->attenuation_depth > 0)
        snprintf(of, sizeof of, ", attenuation depth %.5g um", c->attenuation_depth);
    db_imported_add(file, "sensor", 1, &c->sensor_thickness, "%.6g um%s", c->sensor_thickness, of);
}

static void add_rotation(const db_experiment *e, db_imported *file) {
    double axis[3];
    db_experiment_spindle_axis(e, axis);
    db_imported_add(file, "rotation_axis", 3, axis, "%.4g %.4g %.4g (x, y, z of its frame)",
                    axis[0] + 0., axis[1] + 0., axis[2] + 0.);
    const double scan[2] = { file->content.phi, file->content.osc_range };
    if (db_turns(scan[1]))
        db_imported_add(file, "scan", 2, scan, "%.6g to %.6g degree", scan[0], scan[0] + scan[1]);
    else if (isnan(scan[1]))
        db_imported_add(file, "scan", 2, scan, "at %.6g degree; how far it turns is not stated",
                        scan[0]);
    else
        db_imported_add(file, "scan", 2, scan, "a still");
}

void db_imported_add_cell(db_imported *file, const double cell[6]) {
    memcpy(file->cell, cell, sizeof file->cell);
    db_imported_add(file, "cell", 6, cell, "%.6g %.6g %.6g A, %.5g %.5g %.5g degree", cell[0],
                    cell[1], cell[2], cell[3], cell[4], cell[5]);
}

static void add_crystal(db_context *context, db_imported *file) {
    double a_star[9];
    db_crystal plain = file->experiment.crystal;
    const db_expt_content *const c = &file->content;
    db_crystal_matrix(&plain, a_star);
    if (db_crystal_set_matrix(context, &plain, a_star) != DB_OK) return;
    snprintf(file->group, sizeof file->group, "%s", c->space_group);
    file->found |= DB_HOLDS_CRYSTALS;
    db_imported_add_cell(file, plain.cell);
    if (*c->space_group)
        db_imported_add(file, "group", 0, NULL, "%s%s", c->space_group,
                        c->space_group[strspn(c->space_group, "0123456789")] ? " (Hall)" : "");
    db_imported_add(file, "reciprocal_axes", 9, a_star,
                    "a* %.5f %.5f %.5f, b* %.5f %.5f %.5f, c* %.5f %.5f %.5f 1/A", a_star[0],
                    a_star[3], a_star[6], a_star[1], a_star[4], a_star[7], a_star[2], a_star[5],
                    a_star[8]);
    if (!isnan(c->mosaicity))
        db_imported_add(file, "mosaicity", 1, &c->mosaicity, "%.4g degree, full width",
                        c->mosaicity);
    if (!isnan(c->domain_size))
        db_imported_add(file, "domain_size", 1, &c->domain_size, "%.5g A", c->domain_size);
}

/* A number of each panel, if it is not the default. */
static void add_panel_numbers(db_imported *file, const char *key, size_t member, double usual,
                              const char *unit) {
    double range[2] = { INFINITY, -INFINITY };
    for (size_t p = 0; p < file->content.panel_count; p++) {
        double own;
        memcpy(&own, (const char *)&file->content.panel[p] + member, sizeof own);
        range[0] = fmin(range[0], own);
        range[1] = fmax(range[1], own);
    }
    if (range[0] < range[1])
        db_imported_add(file, key, 2, range, "%.6g to %.6g %s, by panel", range[0], range[1], unit);
    else if (range[0] != usual)
        db_imported_add(file, key, 1, range, "%.6g %s", range[0], unit);
}

/* Files with a value for each pixel, by their names. */
static void add_maps(db_imported *file) {
    char text[200] = "";
    for (int k = 0; k < DB_EXPT_MAP_COUNT; k++) {
        const char *const path = file->content.map[k];
        const size_t length = strlen(text);
        if (path)
            snprintf(text + length, sizeof text - length, "%s%s %.60s%s", length ? ", " : "",
                     db_expt_map_name((db_expt_map)k), db_file_name(path),
                     k == DB_EXPT_DX || k == DB_EXPT_DY ? " (not used)" : "");
    }
    if (*text) db_imported_add(file, "pixel_maps", 0, NULL, "%s", text);
}

/* Facts of a list about pixels: trusted range, gain, excluded rectangles. */
static void add_trust(db_imported *file) {
    const db_expt_content *const c = &file->content;
    size_t masks = 0;
    if (c->panel_count == 0) return;
    for (size_t p = 0; p < c->panel_count; p++) masks += c->panel[p].mask_count;
    const double *const trusted = c->panel[0].trusted;
    if (isfinite(trusted[0]) && isfinite(trusted[1]))
        db_imported_add(file, "trusted", 2, trusted, "%.10g to %.10g counts", trusted[0],
                        trusted[1]);
    else if (isfinite(trusted[1]))
        db_imported_add(file, "trusted", 2, trusted, "up to %.10g counts", trusted[1]);
    else if (isfinite(trusted[0]))
        db_imported_add(file, "trusted", 2, trusted, "from %.10g counts", trusted[0]);
    add_panel_numbers(file, "gain", offsetof(db_expt_panel, gain), 1, "counts per photon");
    add_panel_numbers(file, "pedestal", offsetof(db_expt_panel, pedestal), 0,
                      "counts, to be taken off");
    add_maps(file);
    const double count = (double)masks;
    if (masks) db_imported_add(file, "masks", 1, &count, "%zu rectangles are left out", masks);
    if (c->layout)
        db_imported_add(file, "arrays", 0, NULL, "says which parts of a file's arrays are panels");
}

void db_imported_add_experiment(db_context *context, db_imported *file) {
    const db_experiment *const e = &file->experiment;
    file->wavelength = e->beam.wavelength;
    add_panels(e, file);
    if (file->wavelength < DB_SHORTEST_X_RAY)
        db_imported_add(file, "wavelength", 1, &file->wavelength, "%.7g A (electrons of %.1f keV)",
                        file->wavelength, 1e-3 * db_electron_energy(file->wavelength));
    else
        db_imported_add(file, "wavelength", 1, &file->wavelength, "%.7g A (%.1f eV)",
                        file->wavelength, DB_EV_ANGSTROM / file->wavelength);
    add_beam_centre(e, file);
    add_two_theta(e, file);
    add_resolution(e, file);
    add_sensor(file);
    add_rotation(e, file);
    add_trust(file);
    if (file->content.has_crystal) add_crystal(context, file);
}
