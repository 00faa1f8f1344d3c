/* The lines of XPARM.XDS files. */
#include "io/experiments/xparm.h"

#include "base/context_internal.h"
#include "base/growth.h"
#include "base/text_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OLD_NUMBERS = 42, OLD_FIRST_LINE = 6, MOST_SEGMENTS = 4096, LARGEST_SIDE = 65535 };

static const char name_in_first_line[] = "XPARM.XDS";

/* Old files begin with numbers alone: six in the first line, 42 in all. */
static int is_old(const db_file_content *content) {
    size_t numbers = 0, in_first = 0;
    const char *cursor = content->bytes;
    const char *const end_of_first = content->bytes + strcspn(content->bytes, "\r\n");
    if (content->size > 4096) return 0;
    for (;;) {
        const db_word word = db_next_word(&cursor, DB_WHITE_SPACE "\r\n");
        double value;
        if (word.length == 0) break;
        if (!db_word_number(word, &value)) return 0;
        numbers++;
        in_first += word.start < end_of_first;
    }
    return numbers == OLD_NUMBERS && in_first == OLD_FIRST_LINE &&
           cursor == content->bytes + content->size;
}

/* The first line of newer files: the name, and a version or nothing behind it. */
static int is_named(const char *text) {
    text += strspn(text, DB_WHITE_SPACE);
    text += *text == 'G';
    const size_t length = sizeof name_in_first_line - 1;
    return strncmp(text, name_in_first_line, length) == 0 && strchr(" \t\r\n", text[length]);
}

int db_is_xparm(const db_file_content *content) {
    return is_named(content->bytes) || is_old(content);
}

typedef struct reading {
    db_context *context;
    db_text text;
    db_xparm *xparm;
} reading;

/* `count` numbers of the next line. what: them, for messages. */
static db_status take_number(reading *r, const char *what, int count, double *number) {
    const db_text *const text = &r->text;
    if (!db_text_next_line(&r->text))
        return db_fail(r->context, DB_ERROR_INPUT, "%s: ends before %s", text->path, what);
    const char *cursor = text->line;
    for (int i = 0; i <= count; i++) {
        const db_word word = db_next_word(&cursor, DB_WHITE_SPACE);
        if (i == count && word.length == 0) break;
        if (i == count || !db_word_number(word, &number[i]))
            return db_fail(r->context, DB_ERROR_INPUT,
                           "%s:%zu: expected %d numbers, %s; found '%.*s' as number %d", text->path,
                           text->line_number, count, what, DB_WORD_ARGUMENTS(word), i + 1);
    }
    return DB_OK;
}

static db_status fail_here(const reading *r, const char *expected) {
    return db_fail(r->context, DB_ERROR_INPUT, "%s:%zu: expected %s, found '%.60s'", r->text.path,
                   r->text.line_number, expected, r->text.line);
}

static int is_whole(double value, double least, double most) {
    return value >= least && value <= most && floor(value) == value;
}

static db_status take_scan(reading *r) {
    double n[6];
    DB_TRY(take_number(r, "first image, its angle, oscillation range, rotation axis", 6, n));
    if (!is_whole(n[0], -1e9, 1e9)) return fail_here(r, "the number of an image first");
    r->xparm->first_image = (long)n[0];
    r->xparm->first_angle = n[1];
    r->xparm->osc_range = n[2];
    memcpy(r->xparm->spindle, n + 3, sizeof r->xparm->spindle);
    return DB_OK;
}

static db_status take_beam(reading *r) {
    double n[4];
    DB_TRY(take_number(r, "wavelength and direction of the beam", 4, n));
    if (!(n[0] > 0)) return fail_here(r, "a wavelength > 0 (A) first");
    r->xparm->wavelength = n[0];
    memcpy(r->xparm->beam, n + 1, sizeof r->xparm->beam);
    return DB_OK;
}

static db_status take_crystal(reading *r) {
    double n[7];
    DB_TRY(take_number(r, "number of the space group and cell", 7, n));
    if (!is_whole(n[0], 0, 230)) return fail_here(r, "the number of a space group first, 0 to 230");
    r->xparm->space_group = (int)n[0];
    memcpy(r->xparm->cell, n + 1, sizeof r->xparm->cell);
    for (int i = 0; i < 3; i++)
        DB_TRY(
            take_number(r, "a vector of the cell at spindle angle 0", 3, r->xparm->real + 3 * i));
    return DB_OK;
}

/* n: pixels along x and y, sizes of one. */
static db_status take_pixels(reading *r, const double n[4]) {
    for (int i = 0; i < 2; i++) {
        if (!is_whole(n[i], 1, LARGEST_SIDE))
            return fail_here(r, "1 to 65535 pixels along x and y");
        if (!(n[2 + i] > 0)) return fail_here(r, "pixels of a size > 0 (mm)");
        r->xparm->pixels[i] = (int)n[i];
        r->xparm->pixel_size[i] = n[2 + i];
    }
    return DB_OK;
}

static db_status take_axes(reading *r) {
    for (int i = 0; i < 3; i++)
        DB_TRY(take_number(r, "an axis of the detector", 3, r->xparm->axis[i]));
    return DB_OK;
}

static db_status take_segment(reading *r, db_xparm_segment *segment) {
    const db_xparm *const x = r->xparm;
    double n[9];
    DB_TRY(take_number(r, "a segment's number, first and last pixel along x and y", 5, n));
    for (int i = 0; i < 4; i++) {
        const int most = x->pixels[i / 2];
        if (!is_whole(n[1 + i], 1, most))
            return fail_here(r, "pixels of the detector, counted from 1");
        segment->range[i] = (int)n[1 + i];
    }
    if (segment->range[0] > segment->range[1] || segment->range[2] > segment->range[3])
        return fail_here(r, "the first pixel before the last");
    DB_TRY(take_number(r, "a segment's ORGXS, ORGYS, FS and axes of x and y", 9, n));
    memcpy(segment->origin, n, sizeof segment->origin);
    segment->distance = n[2];
    memcpy(segment->axis, n + 3, sizeof segment->axis);
    return DB_OK;
}

static db_status take_segments(reading *r, size_t count) {
    db_xparm *const x = r->xparm;
    x->segment = calloc(count, sizeof *x->segment);
    if (!x->segment) return db_fail_memory(r->context, r->text.path);
    x->segment_count = count;
    for (size_t i = 0; i < count; i++) DB_TRY(take_segment(r, &x->segment[i]));
    return DB_OK;
}

static db_status take_new(reading *r) {
    db_xparm *const x = r->xparm;
    double n[5];
    db_text_next_line(&r->text);
    DB_TRY(take_scan(r));
    DB_TRY(take_beam(r));
    DB_TRY(take_crystal(r));
    DB_TRY(take_number(r, "number of segments, pixels along x and y, their sizes", 5, n));
    if (!is_whole(n[0], 0, MOST_SEGMENTS)) return fail_here(r, "0 to 4096 segments first");
    const size_t segments = (size_t)n[0];
    DB_TRY(take_pixels(r, n + 1));
    DB_TRY(take_number(r, "ORGX, ORGY and distance", 3, n));
    memcpy(x->origin, n, sizeof x->origin);
    x->distance = n[2];
    DB_TRY(take_axes(r));
    return segments ? take_segments(r, segments) : DB_OK;
}

static db_status take_old(reading *r) {
    db_xparm *const x = r->xparm;
    double n[4];
    DB_TRY(take_scan(r));
    DB_TRY(take_beam(r));
    DB_TRY(take_number(r, "pixels along x and y, their sizes", 4, n));
    DB_TRY(take_pixels(r, n));
    DB_TRY(take_number(r, "distance, ORGX and ORGY", 3, n));
    x->distance = n[0];
    memcpy(x->origin, n + 1, sizeof x->origin);
    DB_TRY(take_axes(r));
    return take_crystal(r);
}

db_status db_xparm_parse(db_context *context, const char *path, db_xparm *xparm) {
    reading r = { .context = context, .xparm = xparm };
    memset(xparm, 0, sizeof *xparm);
    DB_TRY(db_text_open(context, path, &r.text));
    const db_status status = is_named(r.text.next) ? take_new(&r) : take_old(&r);
    db_text_close(&r.text);
    return status;
}

void db_xparm_clear(db_xparm *xparm) {
    free(xparm->segment);
    memset(xparm, 0, sizeof *xparm);
}
