/* A view as PNG: the image in colours, rings of resolution, observed and predicted spots, and what the
 * colours mean. */
#include "fit/report/view.h"

#include "base/context_internal.h"
#include "fit/pixels/geometry.h"
#include "fit/report/letters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LETTER = 2,
    MARGIN = 8,
    LINE = 2 * DB_LETTER_HEIGHT + 10, /* height of a line of text */
    LEAST_WIDTH = 620,                /* for the text below */
    RAMP_WIDTH = 200,
    SPACE = 45, /* pixels between two rings, at least */
    MOST_PIXELS = 100000000
};
static const uint8_t black[3] = { 20, 20, 20 },
                     ring_colours[2][3] = { { 122, 63, 160 }, { 159, 208, 255 } };
static const uint8_t observed_colours[2][3] = { { 11, 114, 196 }, { 102, 208, 255 } };
static const uint8_t predicted_colours[2][3] = { { 213, 94, 0 }, { 255, 176, 59 } };
static const uint8_t kind_colours[4][3] = {
    [DB_VIEW_GAP] = { 198, 216, 235 },
    [DB_VIEW_BAD] = { 214, 39, 140 },
    [DB_VIEW_OVERLOAD] = { 255, 170, 0 },
};

typedef struct canvas {
    uint8_t *rgb;
    int width, height;
    const uint8_t *ink;
} canvas;

static void dot(void *on, int x, int y) {
    const canvas *const c = on;
    if (x >= 0 && x < c->width && y >= 0 && y < c->height)
        memcpy(c->rgb + 3 * ((size_t)y * (size_t)c->width + (size_t)x), c->ink, 3);
}

static void ink(canvas *c, const uint8_t colour[3], int x, int y) {
    c->ink = colour;
    dot(c, x, y);
}

static int text(canvas *c, const uint8_t colour[3], int x, int y, const char *words) {
    c->ink = colour;
    return db_letters_draw(words, x, y, LETTER, dot, c);
}

/* The scale of colours: linear values, or their logarithms from the low end. */
typedef struct scale {
    db_colour_scale colours;
    int logarithmic;
    double low;
} scale;

static float on_scale(const scale *s, float value) {
    return s->logarithmic ? (float)log1p(fmax(0, (double)value - s->low)) : value;
}

static db_status make_scale(db_context *context, const db_view_options *options,
                            const db_view_pixels *p, scale *s) {
    const db_colour_map map = options->colours == DB_VIEW_HEAT ? DB_COLOUR_HEAT : DB_COLOUR_GREY;
    s->logarithmic = options->logarithmic;
    s->low = p->low;
    DB_TRY(db_colour_scale_make(context, map, p->value, 1, (double)on_scale(s, (float)p->low),
                                (double)on_scale(s, (float)p->high), &s->colours));
    for (int i = 0; options->colours == DB_VIEW_INVERTED && i < DB_COLOUR_LEVELS; i++)
        for (int k = 0; k < 3; k++) s->colours.level[i][k] = (uint8_t)~s->colours.level[i][k];
    return DB_OK;
}

static void paint(canvas *c, const db_view_pixels *p, const scale *s) {
    for (int y = 0; y < p->slow; y++)
        for (int x = 0; x < p->fast; x++) {
            const size_t i = (size_t)y * (size_t)p->fast + (size_t)x;
            ink(c,
                p->kind[i] ? kind_colours[p->kind[i]]
                           : db_colour_of(&s->colours, on_scale(s, p->value[i])),
                x, y);
        }
}

/* 1/d^2 at a point of the canvas, on the plane of the first panel. */
static double inverse_square(const db_view *view, const db_fit_geometry *geometry,
                             const db_view_pixels *p, double x, double y) {
    double point[2];
    db_panel_layout_on_first(&view->layout, p->first[0] + x * p->block, p->first[1] + y * p->block,
                             point);
    const double d = db_fit_geometry_resolution(geometry, 0, point[0], point[1]);
    return isfinite(d) && d > 0 ? 1 / (d * d) : 0;
}

static void draw_ring(canvas *c, const db_view_pixels *p, const float *squares, double d,
                      const uint8_t colour[3]) {
    const double level = 1 / (d * d);
    int top[2] = { -1, -1 };
    char words[24];
    for (int y = 0; y + 1 < p->slow; y++)
        for (int x = 0; x + 1 < p->fast; x++) {
            const size_t i = (size_t)y * (size_t)p->fast + (size_t)x;
            const int inside = (double)squares[i] < level;
            if (inside == ((double)squares[i + 1] < level) &&
                inside == ((double)squares[i + (size_t)p->fast] < level))
                continue;
            ink(c, colour, x, y);
            if (top[0] < 0) {
                top[0] = x;
                top[1] = y;
            }
        }
    if (top[0] < 0) return;
    snprintf(words, sizeof words, "%.3g A", d);
    text(c, colour, top[0] + 4, top[1] + 4, words);
}

/* Round resolutions that are far enough from one another in the picture. */
static int choose_rings(const db_view_pixels *p, const float *squares,
                        double ring[DB_VIEW_MOST_RINGS]) {
    static const double round[] = { 50,  30, 20,  15,  10,  8,   7,   6,   5,   4, 3.5, 3,   2.5,
                                    2.2, 2,  1.8, 1.6, 1.5, 1.4, 1.3, 1.2, 1.1, 1, 0.9, 0.8, 0.7 };
    const size_t count = (size_t)p->fast * (size_t)p->slow;
    float most = 0;
    for (size_t i = 0; i < count; i++) most = fmaxf(most, squares[i]);
    const double longest = hypot(p->fast, p->slow), finest = sqrt((double)most);
    double last = 0;
    int chosen = 0;
    for (size_t i = 0; i < sizeof round / sizeof *round && chosen < DB_VIEW_MOST_RINGS; i++) {
        const double s = 1 / round[i]; /* nearly proportional to the radius */
        if (s > finest || (s - last) / finest * longest < 2 * SPACE) continue;
        ring[chosen++] = round[i];
        last = s;
    }
    return chosen;
}

static db_status draw_rings(db_context *context, canvas *c, const db_view *view,
                            const db_view_options *options, const db_view_pixels *p) {
    db_fit_geometry geometry;
    double ring[DB_VIEW_MOST_RINGS];
    if (!view->experiment || options->ring_count == 0) return DB_OK;
    float *const squares = malloc((size_t)p->fast * (size_t)p->slow * sizeof *squares);
    if (!squares) return db_fail_memory(context, "the rings of resolution");
    const db_status status = db_fit_geometry_of(context, view->experiment, &geometry);
    if (status == DB_OK) {
        for (int y = 0; y < p->slow; y++)
            for (int x = 0; x < p->fast; x++)
                squares[(size_t)y * (size_t)p->fast + (size_t)x] =
                    (float)inverse_square(view, &geometry, p, x + 0.5, y + 0.5);
        int count = options->ring_count;
        if (count < 0)
            count = choose_rings(p, squares, ring);
        else
            memcpy(ring, options->ring, sizeof ring);
        for (int i = 0; i < count; i++)
            draw_ring(c, p, squares, ring[i], ring_colours[options->colours != DB_VIEW_GREY]);
        db_fit_geometry_clear(&geometry);
    }
    free(squares);
    return status;
}

static void draw_circle(canvas *c, const uint8_t colour[3], double x, double y, double radius) {
    const int reach = (int)ceil(radius) + 1;
    for (int k = -reach; k <= reach; k++)
        for (int i = -reach; i <= reach; i++)
            if (fabs(hypot(i, k) - radius) < 0.7)
                ink(c, colour, (int)floor(x) + i, (int)floor(y) + k);
}

static void draw_square(canvas *c, const uint8_t colour[3], double x, double y, double half) {
    const int reach = (int)lround(half);
    for (int i = -reach; i <= reach; i++)
        for (int side = -1; side <= 1; side += 2) {
            ink(c, colour, (int)floor(x) + i, (int)floor(y) + side * reach);
            ink(c, colour, (int)floor(x) + side * reach, (int)floor(y) + i);
        }
}

/* A place of a panel on the canvas; 0: it is beside the image's part. */
static int place(const db_view *view, const db_view_pixels *p, size_t panel, const double at[2],
                 double point[2]) {
    db_panel_layout_point(&view->layout, panel, at[0], at[1], point);
    for (int i = 0; i < 2; i++) point[i] = (point[i] - p->first[i]) / p->block;
    return point[0] >= 0 && point[1] >= 0 && point[0] < p->fast && point[1] < p->slow;
}

static void draw_spots(canvas *c, const db_view *view, const db_view_options *options,
                       const db_view_pixels *p) {
    const int bright = options->colours != DB_VIEW_GREY;
    const double size = fmax(5, 4.0 / p->block);
    double at[2];
    for (size_t i = 0; view->predicted && i < view->predicted->count; i++) {
        const db_spot *const s = &view->predicted->spot[i];
        if (place(view, p, s->panel, s->position, at))
            draw_square(c, predicted_colours[bright], at[0], at[1], size);
    }
    for (size_t i = 0; view->observed && i < view->observed->count; i++) {
        const db_observed_spot *const s = &view->observed->spot[i];
        if (place(view, p, s->panel, s->position, at))
            draw_circle(c, observed_colours[bright], at[0], at[1], size);
    }
}

/* Below the image: the colours and their counts, and what the marks are. */
static void draw_legend(canvas *c, const db_view *view, const db_view_pixels *p, const scale *s) {
    char words[48];
    int y = p->slow + MARGIN;
    snprintf(words, sizeof words, "%.4g", p->low);
    int x = text(c, black, MARGIN, y, words) + MARGIN;
    for (int i = 0; i < RAMP_WIDTH; i++)
        for (int k = 0; k < 2 * DB_LETTER_HEIGHT; k++)
            ink(c, s->colours.level[i * (DB_COLOUR_LEVELS - 1) / (RAMP_WIDTH - 1)], x + i, y + k);
    snprintf(words, sizeof words, "%.4g counts", p->high);
    x = text(c, black, x + RAMP_WIDTH + MARGIN, y, words) + 3 * MARGIN;
    static const char *const names[] = { "", "gap", "bad", "overload" };
    for (int kind = 1; kind < 4; kind++) {
        for (int i = 0; i < 14; i++)
            for (int k = 0; k < 14; k++) ink(c, kind_colours[kind], x + i, y + k);
        x = text(c, black, x + 14 + MARGIN, y, names[kind]) + MARGIN;
    }
    y += LINE;
    x = MARGIN;
    if (view->observed) {
        draw_circle(c, observed_colours[0], x + 6, y + 7, 5);
        snprintf(words, sizeof words, "%zu observed", view->observed->count);
        x = text(c, black, x + 20, y, words) + 3 * MARGIN;
    }
    if (view->predicted) {
        draw_square(c, predicted_colours[0], x + 6, y + 7, 5);
        snprintf(words, sizeof words, "%zu predicted", view->predicted->count);
        text(c, black, x + 20, y, words);
    }
}

static db_status draw(db_context *context, const char *path, const db_view *view,
                      const db_view_options *options, const db_view_pixels *p) {
    scale s;
    canvas c = { .width = p->fast > LEAST_WIDTH ? p->fast : LEAST_WIDTH,
                 .height = p->slow + 2 * MARGIN + 2 * LINE };
    DB_TRY(make_scale(context, options, p, &s));
    const size_t bytes = 3 * (size_t)c.width * (size_t)c.height;
    c.rgb = malloc(bytes);
    if (!c.rgb) return db_fail_memory(context, path);
    memset(c.rgb, 255, bytes);
    paint(&c, p, &s);
    db_status status = draw_rings(context, &c, view, options, p);
    draw_spots(&c, view, options, p);
    for (int y = p->slow; y < c.height; y++) /* marks may reach beyond the image */
        for (int x = 0; x < c.width; x++) ink(&c, (const uint8_t[3]){ 255, 255, 255 }, x, y);
    draw_legend(&c, view, p, &s);
    if (status == DB_OK) status = db_write_png_rgb(context, path, c.rgb, c.width, c.height);
    free(c.rgb);
    return status;
}

db_status db_view_write_png(db_context *context, const char *path, const db_view *view,
                            const db_view_options *options) {
    db_view_pixels p;
    DB_TRY(db_view_pixels_make(context, view, options, options->size, MOST_PIXELS, &p));
    const db_status status = draw(context, path, view, options, &p);
    db_view_pixels_clear(&p);
    return status;
}
