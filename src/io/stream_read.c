/* Streams of CrystFEL: a geometry, then chunks, one for each image, with the crystals found on it. */
#define _POSIX_C_SOURCE 200809L
#include "io/geom.h"

#include "base/context_internal.h"
#include "base/path.h"
#include "base/text_reader.h"
#include "base/vector.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 4096, LARGEST_GEOMETRY = 1 << 24 };

/* What the chunk and the crystal at hand say. */
typedef struct crystal {
    long number; /* among all of the stream, from 0 */
    char file[LINE], event[256];
    db_geom_image image;
    double reciprocal[9]; /* rows a*, b*, c* (1/nm), in the frame of CrystFEL */
    int axes;             /* bits: which of them were read */
} crystal;

/* A stream is read line by line, since it may be larger than the memory. */
typedef struct reading {
    db_context *context;
    const char *path;
    FILE *file;
    char line[LINE];
    size_t number;
    char *geometry; /* owned until it is parsed */
    size_t geometry_line;
} reading;

static int next_line(reading *r) {
    if (!fgets(r->line, sizeof r->line, r->file)) return 0;
    const size_t length = strcspn(r->line, "\r\n");
    for (int c = 0; !r->line[length] && c != EOF && c != '\n';) c = fgetc(r->file); /* too long */
    r->line[length] = '\0';
    r->number++;
    return 1;
}

static db_status fail(const reading *r, const char *expected) {
    return db_fail(r->context, DB_ERROR_INPUT, "%s:%zu: expected %s, found '%.60s'", r->path,
                   r->number, expected, r->line);
}

/* What is behind a beginning of the line; NULL: it begins otherwise. */
static const char *behind(const reading *r, const char *start) {
    const size_t length = strlen(start);
    return strncmp(r->line, start, length) == 0 ? r->line + length : NULL;
}

static db_status read_geometry(reading *r) {
    size_t size = 0, room = 0;
    while (next_line(r))
        if (behind(r, "----- Begin geometry file")) break;
    r->geometry_line = r->number + 1;
    while (next_line(r)) {
        const size_t length = strlen(r->line);
        if (behind(r, "----- End geometry file")) return DB_OK;
        if (size + length + 2 > room) {
            room = 2 * (size + length + 2);
            char *const grown = room <= LARGEST_GEOMETRY ? realloc(r->geometry, room) : NULL;
            if (!grown) return db_fail_memory(r->context, "the geometry of a stream");
            r->geometry = grown;
        }
        memcpy(r->geometry + size, r->line, length);
        size += length;
        r->geometry[size++] = '\n';
        r->geometry[size] = '\0';
    }
    return db_fail(r->context, DB_ERROR_INPUT,
                   "%s: expected a geometry (----- Begin geometry file ----- to ----- End geometry "
                   "file -----), found none that ends",
                   r->path);
}

static int read_numbers(const char *text, double *value, int count) {
    for (int i = 0; i < count; i++)
        if (!db_word_number(db_next_word(&text, DB_WHITE_SPACE), &value[i])) return 0;
    return 1;
}

/* Lines of a crystal; others are passed over. */
static db_status read_crystal_line(reading *r, crystal *c) {
    static const char *const axes[] = { "astar = ", "bstar = ", "cstar = " };
    for (int i = 0; i < 3; i++) {
        const char *const text = behind(r, axes[i]);
        if (!text) continue;
        c->axes |= 1 << i;
        return read_numbers(text, c->reciprocal + 3 * i, 3) ? DB_OK : fail(r, "three numbers");
    }
    const char *const shift = behind(r, "predict_refine/det_shift x = ");
    const char *const y = shift ? strstr(shift, "y = ") : NULL;
    if (!shift) return DB_OK;
    if (!y || !read_numbers(shift, &c->image.shift[0], 1) ||
        !read_numbers(y + 4, &c->image.shift[1], 1))
        return fail(r, "x = NUMBER y = NUMBER mm");
    for (int i = 0; i < 2; i++) c->image.shift[i] *= 1e-3;
    return DB_OK;
}

static db_status read_chunk_line(reading *r, crystal *c) {
    const char *text;
    if ((text = behind(r, "Image filename: "))) {
        snprintf(c->file, sizeof c->file, "%.4000s", text);
    } else if ((text = behind(r, "Event: "))) {
        snprintf(c->event, sizeof c->event, "%.255s", text);
    } else if ((text = behind(r, "photon_energy_eV = "))) {
        if (!read_numbers(text, &c->image.photon_energy, 1) || !(c->image.photon_energy > 0))
            return fail(r, "an energy > 0 (eV)");
    } else if ((text = behind(r, "average_camera_length = "))) {
        if (!read_numbers(text, &c->image.camera_length, 1)) return fail(r, "a length (m)");
    }
    return DB_OK;
}

/* Moves to the next crystal; *found 0: there are no more. */
static db_status next_crystal(reading *r, crystal *c, int *found) {
    int within = 0;
    *found = 0;
    while (next_line(r)) {
        if (behind(r, "----- Begin chunk")) {
            const long number = c->number;
            *c = (crystal){ .number = number, .image = { NULL, NAN, NAN, { 0, 0 } } };
        } else if (behind(r, "--- Begin crystal")) {
            within = 1;
            c->axes = 0;
            c->image.shift[0] = c->image.shift[1] = 0;
        } else if (within && behind(r, "--- End crystal")) {
            c->number++;
            *found = 1;
            return c->axes == 7 ? DB_OK : fail(r, "astar, bstar and cstar before it");
        } else {
            DB_TRY(within ? read_crystal_line(r, c) : read_chunk_line(r, c));
        }
    }
    if (ferror(r->file))
        return db_fail(r->context, DB_ERROR_FILE, "%s: cannot read: %s", r->path, strerror(errno));
    return within ? fail(r, "the end of a crystal") : DB_OK;
}

/* Is the chunk of that image? */
static int shows(const crystal *c, const char *image) {
    db_event_name wanted, own;
    const int has_event = db_event_read(c->event, &own) && (*own.path || own.index_count > 0);
    if (!image) return 1;
    if (!db_event_name_read(image, &wanted) ||
        strcmp(db_file_name(wanted.file), db_file_name(c->file)) != 0)
        return 0;
    if (!has_event) return wanted.number <= 1 && wanted.index_count <= 0;
    if (wanted.index_count < 0)
        return !*own.path && own.index_count == 1 && wanted.number == own.index[0] + 1;
    return strcmp(wanted.path, own.path) == 0 && wanted.index_count == own.index_count &&
           memcmp(wanted.index, own.index, (size_t)own.index_count * sizeof *own.index) == 0;
}

/* The crystal of a selection. */
static db_status select_one(reading *r, const db_expt_selection *selection, crystal *chosen) {
    crystal c = { .number = -1, .image = { NULL, NAN, NAN, { 0, 0 } } };
    size_t fitting = 0;
    long second = 0;
    int found;
    for (;;) {
        DB_TRY(next_crystal(r, &c, &found));
        if (!found) break;
        const int fits =
            selection->number >= 0 ? c.number == selection->number : shows(&c, selection->image);
        if (!fits) continue;
        if (fitting == 1) second = c.number;
        if (fitting++ == 0) *chosen = c;
        if (selection->number >= 0) break;
    }
    if (fitting == 1) return DB_OK;
    if (fitting > 1)
        return db_fail(r->context, DB_ERROR_INPUT,
                       "%s: %zu crystals%s%s, the first ones number %ld and %ld (from 0); expected "
                       "the number of one",
                       r->path, fitting, selection->image ? " on " : "",
                       selection->image ? selection->image : "", chosen->number, second);
    if (selection->number >= 0)
        return db_fail(r->context, DB_ERROR_INPUT, "%s: crystal %ld: expected a number below %ld",
                       r->path, selection->number, c.number + 1);
    return db_fail(r->context, DB_ERROR_INPUT, "%s: none of the %ld crystals is on %s", r->path,
                   c.number + 1, selection->image ? selection->image : "any image");
}

static db_status set_crystal(const reading *r, crystal *c, db_experiment *experiment,
                             db_expt_content *content) {
    double a_star[9];
    for (int i = 0; i < 3; i++) db_geom_turn(c->reciprocal + 3 * i);
    for (int i = 0; i < 9; i++) c->reciprocal[i] *= 0.1; /* 1/A */
    db_transpose(c->reciprocal, a_star);
    if (db_crystal_set_matrix(NULL, &experiment->crystal, a_star) != DB_OK)
        return db_fail(r->context, DB_ERROR_INPUT,
                       "%s: crystal %ld: expected a right-handed basis astar, bstar, cstar",
                       r->path, c->number);
    content->has_crystal = 1;
    content->number = c->number;
    return DB_OK;
}

static db_status read_stream(reading *r, const db_expt_selection *selection, crystal *c,
                             db_experiment *experiment, db_expt_content *content) {
    db_geom geom;
    DB_TRY(read_geometry(r));
    DB_TRY(select_one(r, selection, c));
    char *const text = r->geometry;
    r->geometry = NULL;
    db_status status = db_geom_parse(r->context, r->path, text, r->geometry_line, &geom);
    c->image.name = selection->image;
    if (status == DB_OK) status = db_geom_experiment(&geom, &c->image, experiment, content);
    db_geom_clear(&geom);
    return status == DB_OK ? set_crystal(r, c, experiment, content) : status;
}

db_status db_stream_read(db_context *context, const char *path, const db_expt_selection *selection,
                         db_experiment *experiment, db_expt_content *content) {
    crystal c;
    reading r = { .context = context, .path = path, .file = fopen(path, "r") };
    if (!r.file)
        return db_fail(context, DB_ERROR_FILE, "%s: cannot open: %s", path, strerror(errno));
    const db_status status = read_stream(&r, selection, &c, experiment, content);
    free(r.geometry);
    fclose(r.file);
    return status;
}

/* Crystals, each of which is an experiment. */
db_status db_stream_count(db_context *context, const char *path, size_t *count) {
    crystal c = { .number = -1 };
    reading r = { .context = context, .path = path, .file = fopen(path, "r") };
    *count = 0;
    if (!r.file)
        return db_fail(context, DB_ERROR_FILE, "%s: cannot open: %s", path, strerror(errno));
    db_status status = read_geometry(&r);
    for (int found = 1; status == DB_OK && found;) {
        status = next_crystal(&r, &c, &found);
        *count += status == DB_OK && found;
    }
    free(r.geometry);
    fclose(r.file);
    return status;
}
