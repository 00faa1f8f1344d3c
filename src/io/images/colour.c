/* Colour scales of pictures: maps by a few stops, and ends chosen from the pixels. */
#include <dualbragg/expert/colour.h>

#include "base/context_internal.h"
#include "base/quantile.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A colour at a place of the scale; between places colours are interpolated. */
typedef struct colour_stop {
    double place;
    uint8_t rgb[3];
} colour_stop;

/* Colours of each map from 0 to 1, and the colour of pixels without value. */
static const struct colour_definition {
    uint8_t missing[3];
    int stop_count;
    colour_stop stops[5];
} definitions[] = {
    [DB_COLOUR_GREY] = { { 198, 216, 235 }, 2, { { 0, { 255, 255, 255 } }, { 1, { 0, 0, 0 } } } },
    [DB_COLOUR_SIGNED] = { { 190, 190, 190 },
                           5,
                           { { 0, { 10, 40, 110 } },
                             { 0.25, { 90, 150, 205 } },
                             { 0.5, { 255, 255, 255 } },
                             { 0.75, { 225, 110, 90 } },
                             { 1, { 110, 0, 25 } } } },
    [DB_COLOUR_HEAT] = { { 128, 128, 128 },
                         5,
                         { { 0, { 5, 3, 25 } },
                           { 0.3, { 100, 20, 110 } },
                           { 0.6, { 215, 65, 55 } },
                           { 0.85, { 250, 175, 40 } },
                           { 1, { 255, 255, 205 } } } },
};

/* Shares of the pixels below and above the ends of an automatic scale. */
static const double low_share = 0.01, high_share = 0.001;

static void fill_levels(db_colour_map map, db_colour_scale *scale) {
    const struct colour_definition *definition = &definitions[map];
    memcpy(scale->missing, definition->missing, sizeof scale->missing);
    for (int i = 0; i < DB_COLOUR_LEVELS; i++) {
        double place = (double)i / (DB_COLOUR_LEVELS - 1);
        /* A square root, so that weak spots are visible beside strong ones. */
        if (map == DB_COLOUR_GREY) place = sqrt(place);
        int stop = 1;
        while (stop < definition->stop_count - 1 && place > definition->stops[stop].place) stop++;
        const colour_stop *a = &definition->stops[stop - 1];
        const colour_stop *b = &definition->stops[stop];
        const double t = (place - a->place) / (b->place - a->place);
        for (int c = 0; c < 3; c++)
            scale->level[i][c] = (uint8_t)lround((1 - t) * a->rgb[c] + t * b->rgb[c]);
    }
}

/* Both ends of a signed scale lie equally far from 0. */
static db_status signed_ends(db_context *context, const float *pixels, size_t count, double *low,
                             double *high) {
    if (isnan(*low) && isnan(*high)) {
        float low_value, high_value;
        DB_TRY(db_quantiles(context, pixels, count, high_share, 1 - high_share, &low_value,
                            &high_value));
        *low = low_value;
        *high = high_value;
    }
    const double reach = fmax(fabs(*low), fabs(*high)); /* fmax passes over a NAN */
    *low = -reach;
    *high = reach;
    return DB_OK;
}

static db_status open_ends(db_context *context, const float *pixels, size_t count, double *low,
                           double *high) {
    if (!isnan(*low) && !isnan(*high)) return DB_OK;
    float low_value, high_value;
    DB_TRY(
        db_quantiles(context, pixels, count, low_share, 1 - high_share, &low_value, &high_value));
    if (isnan(*low)) *low = isnan(*high) || low_value < *high ? low_value : *high - 1;
    if (isnan(*high)) *high = high_value > *low ? high_value : *low + 1;
    return DB_OK;
}

db_status db_colour_scale_make(db_context *context, db_colour_map map, const float *pixels,
                               size_t count, double low, double high, db_colour_scale *scale) {
    if ((unsigned)map >= sizeof definitions / sizeof *definitions)
        return db_fail(context, DB_ERROR_USAGE, "picture: unknown colour map %d", (int)map);
    if (low >= high || isinf(low) || isinf(high) || fabs(low) > FLT_MAX / 4 ||
        fabs(high) > FLT_MAX / 4)
        return db_fail(
            context, DB_ERROR_USAGE,
            "picture: expected finite ends of the colour scale, the lower first, found %g "
            "and %g",
            low, high);
    DB_TRY(map == DB_COLOUR_SIGNED ? signed_ends(context, pixels, count, &low, &high)
                                   : open_ends(context, pixels, count, &low, &high));
    /* Constant pixels, or ends that a float cannot tell apart. */
    scale->low = (float)low;
    scale->high = (float)high;
    if (!(scale->low < scale->high)) scale->high = nextafterf(scale->low, INFINITY) + 1;
    fill_levels(map, scale);
    return DB_OK;
}

const uint8_t *db_colour_of(const db_colour_scale *scale, float value) {
    if (isnan(value)) return scale->missing;
    const float place = (value - scale->low) / (scale->high - scale->low) * (DB_COLOUR_LEVELS - 1);
    if (!(place > 0)) return scale->level[0];
    if (place >= DB_COLOUR_LEVELS - 1) return scale->level[DB_COLOUR_LEVELS - 1];
    return scale->level[(int)(place + 0.5f)];
}
