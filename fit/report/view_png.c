/* A view as PNG: the image in colours, rings of resolution, observed and predicted spots, and a legend. */
#include "fit/report/view.h"

#include "base/context_internal.h"
#include "fit/report/letters.h"
#include "fit/report/resolution_parts.h"

#include <dualbragg/expert/colour.h>
#include <dualbragg/expert/picture_files.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LETTER = 2,
    MARGIN = 8,
    LINE = 2 * DB_LETTER_HEIGHT + 10, /* height of a line of text */
    RAMP_WIDTH = 200,
    SPACE = 45, /* least distance between two rings, pixels */
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

static void dot_of_canvas(void *on, int x, int y) {
    const canvas *const c = on;
    if (x >= 0 && x < c->width && y >= 0 && y < c->height)
        memcpy(c->rgb + 3 * ((size_t)y * (size_t)c->width + (size_t)x), c->ink, 3);
}

static void ink_pixel(canvas *c, const uint8_t colour[3], int x, int y) {
    c->ink = colour;
    dot_of_canvas(c, x, y);
}

static int draw_words(canvas *c, const uint8_t colour[3], int x, int y, const char *words) {
    c->ink = colour;
    return db_letters_draw(words, x, y, LETTER, dot_of_canvas, c);
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

static void paint_values(canvas *c, const db_view_pixels *p, const scale *s) {
    for (int y = 0; y < p->slow; y++)
        for (int x = 0; x < p->fast; x++) {
            const size_t i = (size_t)y * (size_t)p->fast + (size_t)x;
            ink_pixel(c,
                      p->kind[i] ? kind_colours[p->kind[i]]
                                 : db_colour_of(&s->colours, on_scale(s, p->value[i])),
                      x, y);
        }
}

/* 1/d^2 of each pixel of the canvas, and its part of the picture; -1: none. */
typedef struct resolution_map {
    float *square;
    int *owner;
} resolution_map;

static void fill_part(const db_view *view, const db_fit_geometry *geometry, const db_view_pixels *p,
                      const db_resolution_part *part, int number, const resolution_map *map) {
    double low[2] = { INFINITY, INFINITY }, high[2] = { -INFINITY, -INFINITY };
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 4; k++) {
            const double at =
                part->corner[i] + (k & 1 ? part->side[0][i] : 0) + (k & 2 ? part->side[1][i] : 0);
            low[i] = fmin(low[i], (at - p->first[i]) / p->bin);
            high[i] = fmax(high[i], (at - p->first[i]) / p->bin);
        }
    const int x_end = (int)fmin(p->fast, ceil(high[0])), y_end = (int)fmin(p->slow, ceil(high[1]));
    for (int y = (int)fmax(0, floor(low[1])); y < y_end; y++)
        for (int x = (int)fmax(0, floor(low[0])); x < x_end; x++) {
            const double point[2] = { p->first[0] + (x + 0.5) * p->bin,
                                      p->first[1] + (y + 0.5) * p->bin };
            const size_t i = (size_t)y * (size_t)p->fast + (size_t)x;
            double within[2];
            db_resolution_part_within(part, point, within);
            if (fmin(within[0], within[1]) < 0 || fmax(within[0], within[1]) > 1) continue;
            map->owner[i] = number;
            map->square[i] =
                (float)db_resolution_part_square(geometry, &view->layout, part, within);
        }
}

static db_status fill_map(db_context *context, const db_view *view, const db_view_pixels *p,
                          const resolution_map *map) {
    /* bins at the edges may reach beyond the picture */
    const double rectangle[4] = { p->first[0], p->first[1], (double)p->fast * p->bin,
                                  (double)p->slow * p->bin };
    db_fit_geometry geometry;
    db_resolution_parts parts;
    for (size_t i = 0; i < (size_t)p->fast * (size_t)p->slow; i++) {
        map->owner[i] = -1;
        map->square[i] = 0;
    }
    DB_TRY(db_fit_geometry_of(context, view->experiment, &geometry));
    const db_status status =
        db_resolution_parts_make(context, &geometry, &view->layout, rectangle, &parts);
    for (size_t k = 0; status == DB_OK && k < parts.count; k++)
        fill_part(view, &geometry, p, &parts.part[k], (int)k, map);
    if (status == DB_OK) db_resolution_parts_clear(&parts);
    db_fit_geometry_clear(&geometry);
    return status;
}

/* Is a pixel on the other side of the ring from its neighbour of the same part? */
static int crosses(const resolution_map *map, size_t i, size_t next, double level) {
    return map->owner[i] == map->owner[next] &&
           ((double)map->square[i] < level) != ((double)map->square[next] < level);
}

static void draw_ring(canvas *c, const db_view_pixels *p, const resolution_map *map, double d,
                      const uint8_t colour[3]) {
    const double level = 1 / (d * d);
    int top[2] = { -1, -1 };
    char words[24];
    for (int y = 0; y + 1 < p->slow; y++)
        for (int x = 0; x + 1 < p->fast; x++) {
            const size_t i = (size_t)y * (size_t)p->fast + (size_t)x;
            if (map->owner[i] < 0 ||
                (!crosses(map, i, i + 1, level) && !crosses(map, i, i + (size_t)p->fast, level)))
                continue;
            ink_pixel(c, colour, x, y);
            if (top[0] < 0) {
                top[0] = x;
                top[1] = y;
            }
        }
    if (top[0] < 0) return;
    snprintf(words, sizeof words, "%.3g A", d);
    draw_words(c, colour, top[0] + 4, top[1] + 4, words);
}

/* Chooses round resolutions that are far enough from each other in the picture. */
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

static void draw_map(canvas *c, const db_view_options *options, const db_view_pixels *p,
                     const resolution_map *map) {
    double ring[DB_VIEW_MOST_RINGS];
    int count = options->ring_count;
    if (count < 0)
        count = choose_rings(p, map->square, ring);
    else
        memcpy(ring, options->ring, sizeof ring);
    for (int i = 0; i < count; i++)
        draw_ring(c, p, map, ring[i], ring_colours[options->colours != DB_VIEW_GREY]);
}

static db_status draw_rings(db_context *context, canvas *c, const db_view *view,
                            const db_view_options *options, const db_view_pixels *p) {
    const size_t count = (size_t)p->fast * (size_t)p->slow;
    if (!view->experiment || options->ring_count == 0) return DB_OK;
    const resolution_map map = { malloc(count * sizeof *map.square),
                                 malloc(count * sizeof *map.owner) };
    db_status status = map.square && map.owner ? fill_map(context, view, p, &map)
                                               : db_fail_memory(context, "the rings of resolution");
    if (status == DB_OK) draw_map(c, options, p, &map);
    free(map.square);
    free(map.owner);
    return status;
}

static void draw_circle(canvas *c, const uint8_t colour[3], double x, double y, double radius) {
    const int reach = (int)ceil(radius) + 1;
    for (int k = -reach; k <= reach; k++)
        for (int i = -reach; i <= reach; i++)
            if (fabs(hypot(i, k) - radius) < 0.7)
                ink_pixel(c, colour, (int)floor(x) + i, (int)floor(y) + k);
}

static void draw_square(canvas *c, const uint8_t colour[3], double x, double y, double half) {
    const int reach = (int)lround(half);
    for (int i = -reach; i <= reach; i++)
        for (int side = -1; side <= 1; side += 2) {
            ink_pixel(c, colour, (int)floor(x) + i, (int)floor(y) + side * reach);
            ink_pixel(c, colour, (int)floor(x) + side * reach, (int)floor(y) + i);
        }
}

/* Place of a panel's point on the canvas; 0: outside the part of the image. */
static int place_on_canvas(const db_view *view, const db_view_pixels *p, size_t panel,
                           const double at[2], double point[2]) {
    db_panel_layout_point(&view->layout, panel, at[0], at[1], point);
    for (int i = 0; i < 2; i++) point[i] = (point[i] - p->first[i]) / p->bin;
    return point[0] >= 0 && point[1] >= 0 && point[0] < p->fast && point[1] < p->slow;
}

static void draw_spots(canvas *c, const db_view *view, const db_view_options *options,
                       const db_view_pixels *p) {
    const int bright = options->colours != DB_VIEW_GREY;
    const double size = fmax(5, 4.0 / p->bin);
    double at[2];
    for (size_t i = 0; view->predicted && i < view->predicted->count; i++) {
        const db_spot *const s = &view->predicted->spot[i];
        if (place_on_canvas(view, p, s->panel, s->position, at))
            draw_square(c, predicted_colours[bright], at[0], at[1], size);
    }
    for (size_t i = 0; view->observed && i < view->observed->count; i++) {
        const db_observed_spot *const s = &view->observed->spot[i];
        if (place_on_canvas(view, p, s->panel, s->position, at))
            draw_circle(c, observed_colours[bright], at[0], at[1], size);
    }
}

/* Draws the legend below the image: colours with their counts, and marks. Returns the end of the longer line. */
static int draw_legend(canvas *c, const db_view *view, const db_view_pixels *p, const scale *s) {
    char words[48];
    int y = p->slow + MARGIN;
    snprintf(words, sizeof words, "%.4g", p->low);
    int x = draw_words(c, black, MARGIN, y, words) + MARGIN;
    for (int i = 0; i < RAMP_WIDTH; i++)
        for (int k = 0; k < 2 * DB_LETTER_HEIGHT; k++)
            ink_pixel(c, s->colours.level[i * (DB_COLOUR_LEVELS - 1) / (RAMP_WIDTH - 1)], x + i,
                      y + k);
    snprintf(words, sizeof words, "%.4g counts", p->high);
    x = draw_words(c, black, x + RAMP_WIDTH + MARGIN, y, words) + 3 * MARGIN;
    static const char *const names[] = { "", "gap", "bad", "overload" };
    for (int kind = 1; kind < 4; kind++) {
        for (int i = 0; i < 14; i++)
            for (int k = 0; k < 14; k++) ink_pixel(c, kind_colours[kind], x + i, y + k);
        x = draw_words(c, black, x + 14 + MARGIN, y, names[kind]) + MARGIN;
    }
    const int first_line = x;
    y += LINE;
    x = MARGIN;
    if (view->observed) {
        draw_circle(c, observed_colours[0], x + 6, y + 7, 5);
        snprintf(words, sizeof words, "%zu observed", view->observed->count);
        x = draw_words(c, black, x + 20, y, words) + 3 * MARGIN;
    }
    if (view->predicted) {
        draw_square(c, predicted_colours[0], x + 6, y + 7, 5);
        snprintf(words, sizeof words, "%zu predicted", view->predicted->count);
        x = draw_words(c, black, x + 20, y, words);
    }
    return x > first_line ? x : first_line;
}

static db_status draw_view(db_context *context, const char *path, const db_view *view,
                           const db_view_options *options, const db_view_pixels *p) {
    scale s;
    canvas c = { .width = 0 }; /* nothing is drawn yet: only measures the text */
    DB_TRY(make_scale(context, options, p, &s));
    const int needed = draw_legend(&c, view, p, &s) + MARGIN;
    c.width = p->fast > needed ? p->fast : needed;
    c.height = p->slow + 2 * MARGIN + 2 * LINE;
    const size_t bytes = 3 * (size_t)c.width * (size_t)c.height;
    c.rgb = malloc(bytes);
    if (!c.rgb) return db_fail_memory(context, path);
    memset(c.rgb, 255, bytes);
    paint_values(&c, p, &s);
    db_status status = draw_rings(context, &c, view, options, p);
    draw_spots(&c, view, options, p);
    for (int y = 0; y < c.height; y++) /* marks may reach beyond the image */
        for (int x = y < p->slow ? p->fast : 0; x < c.width; x++)
            ink_pixel(&c, (const uint8_t[3]){ 255, 255, 255 }, x, y);
    draw_legend(&c, view, p, &s);
    if (status == DB_OK) status = db_write_png_rgb(context, path, c.rgb, c.width, c.height);
    free(c.rgb);
    return status;
}

db_status db_view_write_png(db_context *context, const char *path, const db_view *view,
                            const db_view_options *options) {
    db_view_pixels p;
    DB_TRY(db_view_pixels_make(context, view, options, options->size, MOST_PIXELS, &p));
    const db_status status = draw_view(context, path, view, options, &p);
    db_view_pixels_clear(&p);
    return status;
}
