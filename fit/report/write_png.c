/* PREFIX.png: measured and model image side by side, with their names and the scale of greys. */
#include <dualbragg/expert/colour.h>
#include <dualbragg/expert/fit_files.h>
#include <dualbragg/expert/picture_files.h>

#include "base/context_internal.h"
#include "base/threads.h"
#include "fit/report/letters.h"
#include "fit/report/pixel_frames.h"
#include "fit/report/grey_ends.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LONGEST_SIDE = 860, /* pixels of each image */
    SEAM = 8,           /* between them */
    LETTER = 2,         /* pixels per dot of a letter */
    ADVANCE = DB_LETTER_ADVANCE,
    STRIP = 28,   /* above and below, for names and scale */
    TEXT_TOP = 7, /* from the top of a strip to its text */
    RAMP_WIDTH = 256,
    RAMP_HEIGHT = 14
};

/* Pictures whose pixels are bins of bin x bin pixels of the image. */
typedef struct pictures {
    int fast, slow, bin;
    float *measured;  /* maximum of the bin, so that spots survive; NAN: none has a value */
    float *model;     /* maximum of the model in the bin */
    double low, high; /* ends of a grey scale for both */
} pictures;

/* fmaxf in line: the larger number; NAN if none is one. */
static inline float larger_of(float a, float b) { return b > a || isnan(a) ? b : a; }

static void reduce_bin(const db_pixel_frames *in, int fast, int slow, const pictures *out) {
    float measured = NAN, model = NAN;
    for (int s = slow * out->bin; s < (slow + 1) * out->bin && s < in->slow; s++)
        for (int f = fast * out->bin; f < (fast + 1) * out->bin && f < in->fast; f++) {
            const size_t i = (size_t)s * (size_t)in->fast + (size_t)f;
            measured = larger_of(measured, in->measured[i]);
            model = larger_of(model, in->model[i]);
        }
    const size_t o = (size_t)slow * (size_t)out->fast + (size_t)fast;
    out->measured[o] = measured;
    out->model[o] = model;
}

static void free_pictures(pictures *p) {
    free(p->measured);
    free(p->model);
}

static db_status make_pictures(db_context *context, const db_pixel_frames *pixels, pictures *p) {
    const int longer = pixels->fast > pixels->slow ? pixels->fast : pixels->slow;
    p->bin = (longer + LONGEST_SIDE - 1) / LONGEST_SIDE;
    p->fast = (pixels->fast + p->bin - 1) / p->bin;
    p->slow = (pixels->slow + p->bin - 1) / p->bin;
    const size_t count = (size_t)p->fast * (size_t)p->slow;
    p->measured = malloc(count * sizeof *p->measured);
    p->model = malloc(count * sizeof *p->model);
    if (!p->measured || !p->model) return db_fail_memory(context, "the pictures of the image");
#if defined(_OPENMP)
    const int threads = db_threads_for(context, p->slow);
#pragma omp parallel for num_threads(threads) if (threads > 1)
#endif
    for (int s = 0; s < p->slow; s++)
        for (int f = 0; f < p->fast; f++) reduce_bin(pixels, f, s, p);
    return db_grey_ends(context, p->measured, count, &p->low, &p->high);
}

/* A canvas of values for the grey scale; low is white, high is black. */
typedef struct canvas {
    float *value;
    int width, height;
    double low, high;
} canvas;

static void dot_grey(const canvas *c, int x, int y, double value) {
    if (x >= 0 && x < c->width && y >= 0 && y < c->height)
        c->value[(size_t)y * (size_t)c->width + (size_t)x] = (float)value;
}

static void ink_black(void *on, int x, int y) {
    const canvas *const c = on;
    dot_grey(c, x, y, c->high);
}

/* Draws a text; returns its end. */
static int draw_text(const canvas *c, int x, int y, const char *text) {
    canvas on = *c;
    return db_letters_draw(text, x, y, LETTER, ink_black, &on);
}

/* Draws the greys from low to high, with their counts. */
static void draw_scale(const canvas *c, int x, int y) {
    char text[32];
    snprintf(text, sizeof text, "%.4g", c->low);
    x = draw_text(c, x, y, text) + ADVANCE;
    for (int i = 0; i < RAMP_WIDTH; i++)
        for (int k = 0; k < RAMP_HEIGHT; k++) {
            const int edge = i == 0 || k == 0 || i == RAMP_WIDTH - 1 || k == RAMP_HEIGHT - 1;
            const double part = edge ? 1 : (double)i / (RAMP_WIDTH - 1);
            dot_grey(c, x + i, y + k, c->low + part * (c->high - c->low));
        }
    snprintf(text, sizeof text, "%.4g counts", c->high);
    draw_text(c, x + RAMP_WIDTH + ADVANCE * LETTER, y, text);
}

static void place_picture(const canvas *c, const pictures *p, const float *picture, int left) {
    for (int s = 0; s < p->slow; s++)
        memcpy(c->value + (size_t)(STRIP + s) * (size_t)c->width + (size_t)left,
               picture + (size_t)s * (size_t)p->fast, (size_t)p->fast * sizeof *picture);
}

static db_status draw_both(db_context *context, const char *path, const pictures *p) {
    canvas both = { NULL, 2 * p->fast + SEAM, p->slow + 2 * STRIP, p->low, p->high };
    const size_t count = (size_t)both.width * (size_t)both.height;
    both.value = malloc(count * sizeof *both.value);
    if (!both.value) return db_fail_memory(context, path);
    for (size_t i = 0; i < count; i++) both.value[i] = (float)p->low;
    place_picture(&both, p, p->measured, 0);
    place_picture(&both, p, p->model, p->fast + SEAM);
    draw_text(&both, ADVANCE, TEXT_TOP, "measured");
    draw_text(&both, p->fast + SEAM + ADVANCE, TEXT_TOP, "model");
    draw_scale(&both, ADVANCE, STRIP + p->slow + TEXT_TOP);
    const db_status status = db_write_png(context, path, both.value, both.width, both.height,
                                          DB_COLOUR_GREY, p->low, p->high);
    free(both.value);
    return status;
}

db_status db_fit_write_png(db_context *context, const char *path, const db_fit_config *config,
                           const db_measured_image *image, const db_fit_result *result) {
    (void)config;
    db_pixel_frames pixels;
    db_panel_layout layout;
    DB_TRY(db_panel_layout_make(context, &result->experiment, image, &layout));
    db_status status = db_pixel_frames_make(context, NULL, image, result, &layout, &pixels);
    db_panel_layout_clear(&layout);
    if (status != DB_OK) return status;
    pictures p = { 0 };
    status = make_pictures(context, &pixels, &p);
    db_pixel_frames_clear(&pixels);
    if (status == DB_OK) status = draw_both(context, path, &p);
    free_pictures(&p);
    return status;
}
