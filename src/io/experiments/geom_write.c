/* Writes geometry files of CrystFEL: the source with new places of its panels. */
#include "io/experiments/geom.h"

#include "base/context_internal.h"
#include "base/text_reader.h"
#include "base/text_stream.h"
#include "base/vector.h"

#include <dualbragg/version.h>
#include <dualbragg/expert/experiment_geometry.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The keys that change when a panel moves. */
enum { FS, SS, CORNER_X, CORNER_Y, COFFSET, KEYS };
static const char *const keys[KEYS] = { "fs", "ss", "corner_x", "corner_y", "coffset" };

/* The new values of a panel's keys, and which of them have been written. */
typedef struct moved_panel {
    double fast[3], slow[3], corner[2], coffset;
    size_t last_line; /* that speaks of it */
    int written[KEYS];
} moved_panel;

/* The turn that takes the beam along -z, where CrystFEL has it. */
static void beam_frame(const db_experiment *experiment, double turn[9]) {
    static const double along[3] = { 0, 0, -1 };
    double beam[3], axis[3];
    for (int i = 0; i < 9; i++) turn[i] = i % 4 == 0;
    db_experiment_beam_direction(experiment, beam);
    db_cross(beam, along, axis);
    const double sine = db_length(axis);
    if (!(sine > 1e-15)) return;
    const double angle = atan2(sine, db_dot(beam, along));
    db_normalize(axis);
    db_turn_columns(axis, angle, turn);
}

static void corner_at(const db_experiment *experiment, const double turn[9], size_t panel,
                      double fast, double slow, double position[3]) {
    (void)db_experiment_pixel_position(experiment, panel, fast, slow, position);
    db_apply(turn, position, position);
    db_geom_turn(position);
}

static db_status move_panel(const db_geom *geom, const db_geom_image *image,
                            const db_experiment *experiment, size_t p, moved_panel *m) {
    const db_geom_panel *const panel = &geom->panel[p];
    const int *const size = geom->layout->panel[p].size;
    const double pixels_per_mm = 1e-3 * panel->res;
    double turn[9], origin[3];
    db_geom_place was;
    DB_TRY(db_geom_place_panel(geom, image, p, &was));
    beam_frame(experiment, turn);
    corner_at(experiment, turn, p, 0, 0, origin);
    corner_at(experiment, turn, p, size[0], 0, m->fast);
    corner_at(experiment, turn, p, 0, size[1], m->slow);
    for (int i = 0; i < 3; i++) {
        m->fast[i] = (m->fast[i] - origin[i]) * pixels_per_mm / size[0];
        m->slow[i] = (m->slow[i] - origin[i]) * pixels_per_mm / size[1];
    }
    /* clen and shifts are unchanged, so that images can still give them. */
    for (int i = 0; i < 2; i++)
        m->corner[i] = panel->corner[i] + (origin[i] - was.origin[i]) * pixels_per_mm;
    m->coffset = panel->coffset + 1e-3 * (origin[2] - was.origin[2]);
    return DB_OK;
}

static void print_value(FILE *stream, const char *name, int key, moved_panel *m) {
    const double *const v = key == FS ? m->fast : m->slow;
    fprintf(stream, "%s/%s = ", name, keys[key]);
    if (key == FS || key == SS)
        fprintf(stream, "%+.10fx %+.10fy %+.10fz", v[0], v[1], v[2]);
    else if (key == COFFSET)
        fprintf(stream, "%.10f", m->coffset);
    else
        fprintf(stream, "%.7f", m->corner[key - CORNER_X]);
    m->written[key] = 1;
}

/* A line of the source: its panel and key. */
typedef struct spoken {
    size_t panel; /* their number: of none */
    int key;      /* KEYS: of none */
} spoken;

static spoken look_at(const db_geom *geom, const char *line, size_t length) {
    const db_image_layout *const layout = geom->layout;
    spoken s = { layout->panel_count, KEYS };
    const size_t before = strspn(line, DB_WHITE_SPACE);
    const char *const start = line + (before < length ? before : length);
    const size_t text = strcspn(start, ";=\r\n");
    const char *const slash = memchr(start, '/', text);
    if (!slash || start[text] != '=') return s;
    for (s.panel = 0; s.panel < layout->panel_count; s.panel++) {
        const char *const name = layout->panel[s.panel].name;
        if (strlen(name) == (size_t)(slash - start) && strncmp(name, start, strlen(name)) == 0)
            break;
    }
    size_t end = text;
    while (end && strchr(DB_WHITE_SPACE, start[end - 1])) end--;
    const size_t key = (size_t)(start + end - slash - 1);
    for (s.key = 0; s.key < KEYS; s.key++)
        if (strlen(keys[s.key]) == key && memcmp(keys[s.key], slash + 1, key) == 0) break;
    return s;
}

/* Goes through the lines of the source; prints them unless stream is NULL, else notes where each
 * panel is spoken of last. */
static void walk(const db_geom *geom, const char *text, FILE *stream, moved_panel *moved) {
    const db_image_layout *const layout = geom->layout;
    for (size_t number = 1; *text; number++) {
        const size_t length = strcspn(text, "\r\n");
        const spoken s = look_at(geom, text, length);
        const int known = s.panel < layout->panel_count;
        moved_panel *const m = known ? &moved[s.panel] : NULL;
        if (!stream) {
            if (m) m->last_line = number;
        } else if (m && s.key < KEYS) {
            const size_t comment = strcspn(text, ";\r\n");
            print_value(stream, layout->panel[s.panel].name, s.key, m);
            if (comment < length) fprintf(stream, " %.*s", (int)(length - comment), text + comment);
            fputc('\n', stream);
        } else {
            fprintf(stream, "%.*s\n", (int)length, text);
        }
        for (int k = 0; stream && m && number == m->last_line && k < KEYS; k++)
            if (!m->written[k]) {
                print_value(stream, layout->panel[s.panel].name, k, m);
                fputc('\n', stream);
            }
        text += length;
        text += *text == '\r' && text[1] == '\n';
        text += *text != '\0';
    }
}

static db_status check_panels(db_context *context, const char *path, const db_geom *geom,
                              const db_experiment *experiment) {
    const db_detector *const d = &experiment->detector;
    int same = d->panel_count == geom->layout->panel_count && !d->curved;
    for (size_t p = 0; same && p < d->panel_count; p++) {
        const int *const size = geom->layout->panel[p].size;
        same = d->panels[p].fast_pixels == size[0] && d->panels[p].slow_pixels == size[1];
    }
    if (same) return DB_OK;
    return db_fail(context, DB_ERROR_USAGE, "%s: expected the %zu panels of %s", path,
                   geom->layout->panel_count, geom->layout->path);
}

static db_status write_moved(const db_geom *geom, const db_geom_image *image, const char *path,
                             const char *text, const db_experiment *experiment,
                             moved_panel *moved) {
    db_text_stream out;
    for (size_t p = 0; p < geom->layout->panel_count; p++)
        DB_TRY(move_panel(geom, image, experiment, p, &moved[p]));
    DB_TRY(db_text_stream_open(geom->context, &out));
    fprintf(out.stream, "; panels moved by dualbragg %s\n", db_version());
    walk(geom, text, NULL, moved);
    walk(geom, text, out.stream, moved);
    return db_text_stream_write(geom->context, &out, DB_OK, path);
}

/* From a parsed geometry and its text. */
static db_status write_geom_text(const db_geom *geom, const db_geom_image *image, const char *path,
                                 const char *text, const db_experiment *experiment) {
    DB_TRY(check_panels(geom->context, path, geom, experiment));
    moved_panel *const moved = calloc(geom->layout->panel_count, sizeof *moved);
    if (!moved) return db_fail_memory(geom->context, path);
    const db_status status = write_moved(geom, image, path, text, experiment, moved);
    free(moved);
    return status;
}

db_status db_geom_write(db_context *context, const char *path, const char *source,
                        const db_expt_selection *selection, const db_experiment *experiment) {
    const db_geom_image image = { selection->image, NAN, NAN, { 0, 0 } };
    db_file_content content;
    db_geom geom;
    DB_TRY(db_geom_open(context, source, &geom));
    db_status status = db_file_content_read(context, source, &content);
    if (status == DB_OK) status = write_geom_text(&geom, &image, path, content.bytes, experiment);
    db_file_content_clear(&content);
    db_geom_clear(&geom);
    return status;
}
