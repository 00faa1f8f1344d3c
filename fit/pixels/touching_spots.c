/* Groups of touching strong pixels with several summits, as so many spots.
 *
 * Pixels are taken from the brightest down. One that touches none taken before is a summit; any
 * other goes to the summit of its brightest neighbour. Where two summits meet, the pixel is the
 * highest between them: they are one unless it is much lower than both. */
#include "fit/pixels/observed_spots.h"

#include "base/context_internal.h"
#include "fit/pixels/measured_image.h"

#include <math.h>
#include <stdlib.h>

/* Two equal spots are seen as two if it is darker than this between them (Rayleigh's criterion). */
static const double VALLEY = 0.735;
/* Standard deviations by which a valley must be below the lower summit. */
static const double DEEP = 4;

/* A strong pixel. */
typedef struct peak_pixel {
    double excess; /* counts over the background */
    size_t at;     /* in the image */
    size_t panel;
} peak_pixel;

typedef struct landscape {
    const db_measured_image *image;
    const db_strong_pixels *strong;
    const db_fit_settings *settings;
    peak_pixel *order; /* strong pixels, the brightest first */
    size_t *rank;      /* of each pixel of the image, by order; NONE: not taken */
    size_t *summit;    /* by rank: another pixel of the same spot, or itself at the summit */
    size_t *spot;      /* by rank of summits: number of the spot */
    size_t count;
} landscape;

static const size_t NONE = (size_t)-1;

static int brighter_first(const void *a, const void *b) {
    const peak_pixel *const x = a;
    const peak_pixel *const y = b;
    if (x->excess != y->excess) return x->excess < y->excess ? 1 : -1;
    return (x->at > y->at) - (x->at < y->at);
}

static size_t summit_of(landscape *l, size_t rank) {
    while (l->summit[rank] != rank) rank = l->summit[rank] = l->summit[l->summit[rank]];
    return rank;
}

/* Whether a pixel between two summits is much lower than the lower of them. */
static int are_apart(const landscape *l, size_t lower, size_t between) {
    const size_t at[2] = { l->order[lower].at, l->order[between].at };
    const double top = l->order[lower].excess, pass = l->order[between].excess;
    const double variance = db_pixel_variance(l->settings, (double)l->image->value[at[0]]) +
                            db_pixel_variance(l->settings, (double)l->image->value[at[1]]);
    return pass < VALLEY * top && top - pass > DEEP * sqrt(variance);
}

/* Ranks grow as pixels get fainter: the first of the neighbours is the brightest. */
static void take(landscape *l, size_t rank) {
    const int columns = l->image->fast_pixels;
    const int first_row = db_measured_first_row(l->image, l->order[rank].panel);
    const int rows = db_measured_rows(l->image, l->order[rank].panel);
    const int fast = (int)(l->order[rank].at % (size_t)columns),
              slow = (int)(l->order[rank].at / (size_t)columns);
    size_t touching[8], count = 0, brightest = NONE;
    for (int v = slow - 1; v <= slow + 1; v++)
        for (int u = fast - 1; u <= fast + 1; u++) {
            if (u < 0 || u >= columns || v < first_row || v >= first_row + rows) continue;
            const size_t r = l->rank[(size_t)v * (size_t)columns + (size_t)u];
            if (r == NONE) continue;
            if (r < brightest) brightest = r;
            touching[count++] = r;
        }
    l->rank[l->order[rank].at] = rank;
    l->summit[rank] = count ? brightest : rank;
    for (size_t k = 0; k < count; k++) {
        const size_t a = summit_of(l, touching[k]), b = summit_of(l, rank);
        const size_t higher = a < b ? a : b, lower = a < b ? b : a;
        if (higher != lower && !are_apart(l, lower, rank)) l->summit[lower] = higher;
    }
}

static void add_up(landscape *l, db_observed_spots *spots) {
    const size_t columns = (size_t)l->image->fast_pixels;
    for (size_t r = 0; r < l->count; r++) {
        const peak_pixel *const pixel = &l->order[r];
        const size_t s = summit_of(l, r), row = pixel->at / columns;
        if (s == r) {
            l->spot[r] = spots->count++;
            spots->spot[l->spot[r]] = (db_observed_spot){ .panel = pixel->panel };
        }
        db_observed_spot *const spot = &spots->spot[l->spot[s]];
        const int first = db_measured_first_row(l->image, pixel->panel);
        spot->counts += pixel->excess;
        spot->position[0] += pixel->excess * ((double)(pixel->at % columns) + 0.5);
        spot->position[1] += pixel->excess * ((double)row - first + 0.5);
    }
    for (size_t i = 0; i < spots->count; i++)
        for (int k = 0; k < 2; k++) spots->spot[i].position[k] /= spots->spot[i].counts;
}

static void divide(landscape *l, db_observed_spots *spots) {
    const size_t columns = (size_t)l->image->fast_pixels;
    size_t i = 0;
    for (size_t p = 0; p < db_measured_panels(l->image); p++) {
        const size_t rows =
            (size_t)db_measured_first_row(l->image, p) + (size_t)db_measured_rows(l->image, p);
        for (; i < rows * columns; i++) {
            l->rank[i] = NONE;
            if (!l->strong->strong[i]) continue;
            const double excess = (double)l->image->value[i] - (double)l->strong->background[i];
            l->order[l->count++] = (peak_pixel){ excess, i, p };
        }
    }
    qsort(l->order, l->count, sizeof *l->order, brighter_first);
    for (size_t r = 0; r < l->count; r++) take(l, r);
    add_up(l, spots);
}

db_status db_observed_spots_divide(db_context *context, const db_measured_image *image,
                                   const db_strong_pixels *strong, const db_fit_settings *settings,
                                   db_observed_spots *spots) {
    const size_t pixels = (size_t)image->fast_pixels * (size_t)image->slow_pixels,
                 most = strong->count + 1;
    landscape l = { .image = image,
                    .strong = strong,
                    .settings = settings,
                    .order = malloc(most * sizeof *l.order),
                    .rank = malloc(pixels * sizeof *l.rank),
                    .summit = malloc(most * sizeof *l.summit),
                    .spot = malloc(most * sizeof *l.spot) };
    *spots = (db_observed_spots){ 0, malloc(most * sizeof *spots->spot) };
    const int enough = l.order && l.rank && l.summit && l.spot && spots->spot;
    if (enough) divide(&l, spots);
    free(l.order);
    free(l.rank);
    free(l.summit);
    free(l.spot);
    if (enough) return DB_OK;
    db_observed_spots_clear(spots);
    return db_fail_memory(context, "the spots of the image");
}
