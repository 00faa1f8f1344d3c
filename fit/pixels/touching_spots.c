/* Pixels are taken from the brightest down. One that touches none taken before is a summit; any
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

typedef struct peak_pixel {
    double excess;
    size_t at; /* in the sheet */
} peak_pixel;

typedef struct landscape {
    const db_measured_image *image;
    const db_strong_pixels *strong;
    const db_fit_settings *settings;
    peak_pixel *order; /* strong pixels, the brightest first */
    size_t *rank;      /* of each pixel of the sheet, by order; NONE: not taken */
    size_t *summit;    /* by rank: another pixel of the same spot, or itself at the summit */
    size_t *spot;      /* by rank of summits: number of the spot */
    size_t count;
} landscape;

static const size_t NONE = (size_t)-1;

static double excess_at(const landscape *l, size_t i) {
    return (double)l->image->value[i] - (double)l->strong->background[i];
}

static int brighter_first(const void *a, const void *b) {
    const peak_pixel *const x = a, *const y = b;
    if (x->excess != y->excess) return x->excess < y->excess ? 1 : -1;
    return (x->at > y->at) - (x->at < y->at);
}

static size_t summit_of(landscape *l, size_t rank) {
    while (l->summit[rank] != rank) rank = l->summit[rank] = l->summit[l->summit[rank]];
    return rank;
}

static int are_apart(const landscape *l, size_t lower, size_t between) {
    const size_t at[2] = { l->order[lower].at, l->order[between].at };
    const double top = l->order[lower].excess, pass = l->order[between].excess;
    const double variance = db_pixel_variance(l->settings, (double)l->image->value[at[0]]) +
                            db_pixel_variance(l->settings, (double)l->image->value[at[1]]);
    return pass < VALLEY * top && top - pass > DEEP * sqrt(variance);
}

/* Ranks grow as pixels get fainter: the first of the neighbours is the brightest. */
static void take(landscape *l, size_t rank, int first_row, int rows) {
    const int columns = l->image->fast_pixels;
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

static void panel_of(const landscape *l, size_t at, size_t *panel, int *first_row, int *rows) {
    const int row = (int)(at / (size_t)l->image->fast_pixels);
    *panel = 0;
    while (*panel + 1 < db_measured_panels(l->image) &&
           row >= db_measured_first_row(l->image, *panel) + db_measured_rows(l->image, *panel))
        ++*panel;
    *first_row = db_measured_first_row(l->image, *panel);
    *rows = db_measured_rows(l->image, *panel);
}

static void add_up(landscape *l, db_observed_spots *spots) {
    const size_t columns = (size_t)l->image->fast_pixels;
    for (size_t r = 0; r < l->count; r++) {
        const size_t s = summit_of(l, r), at = l->order[r].at;
        const size_t row = at / columns;
        size_t panel;
        int first, rows;
        panel_of(l, at, &panel, &first, &rows);
        if (s == r) {
            l->spot[r] = spots->count++;
            spots->spot[l->spot[r]] = (db_observed_spot){ .panel = panel };
        }
        db_observed_spot *const spot = &spots->spot[l->spot[s]];
        spot->counts += l->order[r].excess;
        spot->position[0] += l->order[r].excess * ((double)(at % columns) + 0.5);
        spot->position[1] += l->order[r].excess * ((double)row - first + 0.5);
    }
    for (size_t i = 0; i < spots->count; i++)
        for (int k = 0; k < 2; k++) spots->spot[i].position[k] /= spots->spot[i].counts;
}

static void divide(landscape *l, db_observed_spots *spots) {
    const size_t pixels = (size_t)l->image->fast_pixels * (size_t)l->image->slow_pixels;
    for (size_t i = 0; i < pixels; i++) {
        l->rank[i] = NONE;
        if (l->strong->strong[i]) l->order[l->count++] = (peak_pixel){ excess_at(l, i), i };
    }
    qsort(l->order, l->count, sizeof *l->order, brighter_first);
    for (size_t r = 0; r < l->count; r++) {
        size_t panel;
        int first, rows;
        panel_of(l, l->order[r].at, &panel, &first, &rows);
        take(l, r, first, rows);
    }
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
