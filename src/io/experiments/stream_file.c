#define _POSIX_C_SOURCE 200809L /* ftello */
/* Lines, chunks and crystals of a stream. */
#include "io/experiments/stream_file.h"

#include "base/context_internal.h"
#include "base/growth.h"
#include "base/text_reader.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_GEOMETRY_MIB = 16 };

db_status db_stream_open(db_context *context, const char *path, db_stream *stream) {
    *stream = (db_stream){ .context = context, .path = path, .file = fopen(path, "r") };
    return stream->file
               ? DB_OK
               : db_fail(context, DB_ERROR_FILE, "%s: cannot open: %s", path, strerror(errno));
}

void db_stream_close(db_stream *stream) {
    free(stream->geometry);
    if (stream->file) fclose(stream->file);
    *stream = (db_stream){ .file = NULL };
}

int db_stream_next_line(db_stream *s) {
    if (!fgets(s->line, sizeof s->line, s->file)) return 0;
    const size_t length = strcspn(s->line, "\r\n");
    for (int c = 0; !s->line[length] && c != EOF && c != '\n';) c = fgetc(s->file); /* too long */
    s->line[length] = '\0';
    s->number++;
    return 1;
}

db_status db_stream_fail(const db_stream *s, const char *expected) {
    return db_fail(s->context, DB_ERROR_INPUT, "%s:%zu: expected %s, found '%.60s'", s->path,
                   s->number, expected, s->line);
}

const char *db_stream_behind(const db_stream *s, const char *start) {
    const size_t length = strlen(start);
    return strncmp(s->line, start, length) == 0 ? s->line + length : NULL;
}

/* Adds the line and its end. */
static db_status keep_line(db_stream *s, size_t *size, size_t *room) {
    const size_t length = strlen(s->line), end = *size + length + 1;
    if (end > (size_t)LARGEST_GEOMETRY_MIB << 20)
        return db_fail(s->context, DB_ERROR_INPUT,
                       "%s:%zu: the geometry of the stream is larger than %d MiB", s->path,
                       s->number, LARGEST_GEOMETRY_MIB);
    DB_GROW(s->context, s->geometry, *room, end + 1, s->path);
    memcpy(s->geometry + *size, s->line, length);
    s->geometry[end - 1] = '\n';
    s->geometry[end] = '\0';
    *size = end;
    return DB_OK;
}

db_status db_stream_geometry(db_stream *s) {
    size_t size = 0, room = 0;
    while (db_stream_next_line(s))
        if (db_stream_behind(s, "----- Begin geometry file")) break;
    s->geometry_line = s->number + 1;
    while (db_stream_next_line(s)) {
        if (!db_stream_behind(s, "----- End geometry file"))
            DB_TRY(keep_line(s, &size, &room));
        else if (size)
            return DB_OK;
        else
            return db_fail(s->context, DB_ERROR_INPUT,
                           "%s:%zu: the geometry of the stream is empty", s->path, s->number);
    }
    return db_fail(s->context, DB_ERROR_INPUT,
                   "%s: expected a geometry (----- Begin geometry file ----- to ----- End geometry "
                   "file -----), found none that ends",
                   s->path);
}

/* 0: they are none. */
static int stream_numbers(const char *text, double *value, int count) {
    for (int i = 0; i < count; i++)
        if (!db_word_number(db_next_word(&text, DB_WHITE_SPACE), &value[i])) return 0;
    return 1;
}

/* Lines of a crystal; others are passed over. */
static db_status read_crystal_line(db_stream *s, db_stream_crystal *c) {
    static const char *const axes[] = { "astar = ", "bstar = ", "cstar = " };
    for (int i = 0; i < 3; i++) {
        const char *const text = db_stream_behind(s, axes[i]);
        if (!text) continue;
        c->axes |= 1 << i;
        return stream_numbers(text, c->reciprocal + 3 * i, 3) ? DB_OK
                                                              : db_stream_fail(s, "three numbers");
    }
    const char *const shift = db_stream_behind(s, "predict_refine/det_shift x = ");
    const char *const y = shift ? strstr(shift, "y = ") : NULL;
    if (!shift) return DB_OK;
    if (!y || !stream_numbers(shift, &c->image.shift[0], 1) ||
        !stream_numbers(y + 4, &c->image.shift[1], 1))
        return db_stream_fail(s, "x = NUMBER y = NUMBER mm");
    for (int i = 0; i < 2; i++) c->image.shift[i] *= 1e-3;
    return DB_OK;
}

static db_status read_chunk_line(db_stream *s, db_stream_crystal *c) {
    const char *text;
    if ((text = db_stream_behind(s, "Image filename: "))) {
        snprintf(c->file, sizeof c->file, "%.4000s", text);
    } else if ((text = db_stream_behind(s, "Event: "))) {
        snprintf(c->event, sizeof c->event, "%.255s", text);
    } else if ((text = db_stream_behind(s, "photon_energy_eV = "))) {
        if (!stream_numbers(text, &c->image.photon_energy, 1) || !(c->image.photon_energy > 0))
            return db_stream_fail(s, "an energy > 0 (eV)");
    } else if ((text = db_stream_behind(s, "beam_divergence = "))) {
        if (!stream_numbers(text, &c->divergence, 1)) c->divergence = 0;
    } else if ((text = db_stream_behind(s, "beam_bandwidth = "))) {
        if (!stream_numbers(text, &c->bandwidth, 1)) c->bandwidth = 0;
    } else if ((text = db_stream_behind(s, "average_camera_length = "))) {
        if (!stream_numbers(text, &c->image.camera_length, 1))
            return db_stream_fail(s, "a length (m)");
    }
    return DB_OK;
}

void db_stream_begin(long number, db_stream_crystal *c) {
    memset(c, 0, sizeof *c);
    c->number = number;
    c->image = (db_geom_image){ NULL, NAN, NAN, { 0, 0 } };
}

db_status db_stream_next(db_stream *s, db_stream_crystal *c, db_stream_event *event) {
    int within = 0;
    while (db_stream_next_line(s)) {
        if (db_stream_behind(s, "----- Begin chunk")) {
            *event = DB_STREAM_CHUNK;
            return within ? db_stream_fail(s, "the end of a crystal") : DB_OK;
        }
        if (db_stream_behind(s, "--- Begin crystal")) {
            within = 1;
            c->axes = 0;
            c->image.shift[0] = c->image.shift[1] = 0;
        } else if (within && db_stream_behind(s, "--- End crystal")) {
            c->number++;
            *event = DB_STREAM_CRYSTAL;
            return c->axes == 7 ? DB_OK : db_stream_fail(s, "astar, bstar and cstar before it");
        } else if (!within && db_stream_behind(s, "Peaks from peak search")) {
            *event = DB_STREAM_PEAKS;
            return DB_OK;
        } else {
            DB_TRY(within ? read_crystal_line(s, c) : read_chunk_line(s, c));
        }
    }
    *event = DB_STREAM_ENDS;
    if (ferror(s->file))
        return db_fail(s->context, DB_ERROR_FILE, "%s: cannot read: %s", s->path, strerror(errno));
    return within ? db_stream_fail(s, "the end of a crystal") : DB_OK;
}

static db_status go_to(db_stream *s, const db_stream_chunk *chunk) {
    s->number = chunk->line;
    return fseeko(s->file, (off_t)chunk->offset, SEEK_SET) == 0
               ? DB_OK
               : db_fail(s->context, DB_ERROR_FILE, "%s: cannot read: %s", s->path,
                         strerror(errno));
}

/* CrystFEL writes a bandwidth of 1e-8 where nobody has said one. */
static void tell_unused(const db_stream *s, const db_stream_crystal *c) {
    static const double nothing = 1e-6;
    if (fabs(c->divergence) > nothing)
        db_notice(s->context,
                  "%s: beam_divergence, %g rad, is not used: the beam's divergence is given",
                  s->path, c->divergence);
    if (fabs(c->bandwidth) > nothing)
        db_notice(s->context, "%s: beam_bandwidth, %g, is not used: the beam's dispersion is given",
                  s->path, c->bandwidth);
}

db_status db_stream_read_chunk(db_stream *s, const db_stream_chunk *chunk, long number,
                               db_stream_crystal *crystal) {
    db_stream_event event;
    db_stream_begin(chunk->first - 1, crystal);
    DB_TRY(go_to(s, chunk));
    do DB_TRY(db_stream_next(s, crystal, &event));
    while (event == DB_STREAM_PEAKS ? number >= 0
                                    : event == DB_STREAM_CRYSTAL && crystal->number != number);
    if (number < 0 || event == DB_STREAM_CRYSTAL) {
        tell_unused(s, crystal);
        return DB_OK;
    }
    return db_fail(s->context, DB_ERROR_INPUT,
                   "%s: crystal %ld: not found where it was; the file has changed", s->path,
                   number);
}
