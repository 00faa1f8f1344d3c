/* The pixels of a view: values and masks of all panels at their places, in bins. */
#include "fit/report/view.h"

#include "base/context_internal.h"
#include "base/measured_pixels.h"
#include "base/quantile.h"
#include "fit/report/grey_ends.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void db_view_pixels_clear(db_view_pixels *p) {
    free(p->value);
    free(p->kind);
    memset(p, 0, sizeof *p);
}

static float kind_of(uint8_t mask, float value) {
    if (mask & DB_MASK_BAD) return DB_VIEW_BAD;
    if (mask & DB_MASK_GAP) return DB_VIEW_GAP;
    if (mask & DB_MASK_OVERLOAD) return DB_VIEW_OVERLOAD;
    return isfinite(value) ? DB_VIEW_TRUSTED : DB_VIEW_BAD;
}

/* Values and kinds of all panels at their places. */
typedef struct pictures {
    int fast, slow;
    float *value, *kind; /* NAN: no panel */
} pictures;

static void clear_pictures(pictures *all) {
    free(all->value);
    free(all->kind);
}

static db_status compose_pictures(db_context *context, const db_view *view, pictures *all) {
    const db_measured_image *const image = view->image;
    const size_t count = (size_t)view->layout.fast * (size_t)view->layout.slow,
                 pixels = db_measured_pixels(image);
    float *const kinds = malloc(pixels * sizeof *kinds);
    *all = (pictures){ view->layout.fast, view->layout.slow, malloc(count * sizeof *all->value),
                       malloc(count * sizeof *all->kind) };
    if (kinds && all->value && all->kind) {
        for (size_t i = 0; i < pixels; i++) kinds[i] = kind_of(image->mask[i], image->value[i]);
        db_panel_layout_compose(&view->layout, image->value, all->value);
        db_panel_layout_compose(&view->layout, kinds, all->kind);
        free(kinds);
        return DB_OK;
    }
    free(kinds);
    clear_pictures(all);
    return db_fail_memory(context, "the picture of the image");
}

static void reduce_bin(const pictures *all, const db_view_pixels *p, int fast, int slow) {
    const size_t o = (size_t)slow * (size_t)p->fast + (size_t)fast;
    const int f0 = p->first[0] + fast * p->bin, s0 = p->first[1] + slow * p->bin;
    float trusted = NAN, any = NAN;
    uint8_t kind = DB_VIEW_TRUSTED;
    for (int s = s0; s < s0 + p->bin && s < all->slow; s++)
        for (int f = f0; f < f0 + p->bin && f < all->fast; f++) {
            const size_t i = (size_t)s * (size_t)all->fast + (size_t)f;
            const uint8_t of = isnan(all->kind[i]) ? DB_VIEW_GAP : (uint8_t)all->kind[i];
            if (of > kind) kind = of;
            any = fmaxf(any, all->value[i]);
            if (of == DB_VIEW_TRUSTED) trusted = fmaxf(trusted, all->value[i]);
        }
    p->kind[o] = isnan(trusted) || kind == DB_VIEW_OVERLOAD ? kind : DB_VIEW_TRUSTED;
    p->value[o] = p->kind[o] == DB_VIEW_TRUSTED ? trusted : any;
}

static db_status choose_part(db_context *context, const db_view *view,
                             const db_view_options *options, int most, double most_count,
                             db_view_pixels *p) {
    const int all[2] = { view->layout.fast, view->layout.slow };
    int count[2] = { all[0], all[1] };
    p->first[0] = p->first[1] = 0;
    for (int i = 0; i < 2 && options->part[2] > 0; i++) {
        p->first[i] = options->part[i];
        count[i] = options->part[2 + i];
        if (p->first[i] >= all[i])
            return db_fail(context, DB_ERROR_USAGE,
                           "-roi: expected a first pixel below %d along %s, found %d", all[i],
                           i ? "slow" : "fast", p->first[i]);
        if (count[i] > all[i] - p->first[i]) count[i] = all[i] - p->first[i];
    }
    const int longer = count[0] > count[1] ? count[0] : count[1];
    p->bin = options->bin > 0 ? options->bin : most > 0 ? (longer + most - 1) / most : 1;
    if (p->bin < 1) p->bin = 1;
    while ((double)count[0] * count[1] / p->bin / p->bin > most_count) p->bin++;
    p->fast = (count[0] + p->bin - 1) / p->bin;
    p->slow = (count[1] + p->bin - 1) / p->bin;
    return DB_OK;
}

static db_status choose_ends(db_context *context, const db_view_options *options,
                             db_view_pixels *p) {
    const size_t count = (size_t)p->fast * (size_t)p->slow;
    float *const trusted = malloc((count + 1) * sizeof *trusted);
    float low = 0, high = 0;
    if (!trusted) return db_fail_memory(context, "the scale of a picture");
    for (size_t i = 0; i < count; i++)
        trusted[i] = p->kind[i] == DB_VIEW_TRUSTED ? p->value[i] : NAN;
    db_status status = db_grey_ends(context, trusted, count, &p->low, &p->high);
    if (status == DB_OK && (options->logarithmic || !isnan(options->percentile[0]))) {
        const int given = !isnan(options->percentile[0]);
        status = db_quantiles(context, trusted, count, given ? options->percentile[0] / 100 : 0.01,
                              given ? options->percentile[1] / 100 : 1, &low, &high);
        p->low = (double)low;
        p->high = (double)high;
    }
    free(trusted);
    if (!isnan(options->counts[0])) {
        p->low = options->counts[0];
        p->high = options->counts[1];
    }
    if (!(p->high > p->low)) p->high = p->low + 1;
    return status;
}

db_status db_view_pixels_make(db_context *context, const db_view *view,
                              const db_view_options *options, int most, double most_count,
                              db_view_pixels *p) {
    pictures all;
    memset(p, 0, sizeof *p);
    DB_TRY(choose_part(context, view, options, most, most_count, p));
    DB_TRY(compose_pictures(context, view, &all));
    const size_t count = (size_t)p->fast * (size_t)p->slow;
    p->value = malloc(count * sizeof *p->value);
    p->kind = malloc(count);
    db_status status = db_need_memory(context, p->value && p->kind, "the picture");
    for (int s = 0; s < p->slow && status == DB_OK; s++)
        for (int f = 0; f < p->fast; f++) reduce_bin(&all, p, f, s);
    clear_pictures(&all);
    if (status == DB_OK) status = choose_ends(context, options, p);
    if (status != DB_OK) db_view_pixels_clear(p);
    return status;
}
