/* Spots of a measured image as groups of touching strong pixels. */
#include "fit/pixels/observed_spots.h"

#include "base/context_internal.h"
#include "fit/pixels/measured_image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

db_status db_observed_spots_of_image(db_context *context, const db_measured_image *image,
                                     const db_fit_settings *settings, db_observed_spots *spots) {
    db_strong_pixels strong;
    DB_TRY(db_strong_pixels_find(context, image, settings, &strong));
    const db_status status = db_observed_spots_find(context, image, &strong, settings, spots);
    db_strong_pixels_clear(&strong);
    return status;
}

db_status db_image_spots_need(db_context *context, const db_fit_settings *settings,
                              db_image_spots *spots) {
    if (spots->known) return DB_OK;
    if (!spots->strong.background)
        DB_TRY(db_strong_pixels_find(context, spots->image, settings, &spots->strong));
    DB_TRY(db_observed_spots_find(context, spots->image, &spots->strong, settings, &spots->seen));
    db_observed_spots_sort(&spots->seen);
    spots->known = 1;
    return DB_OK;
}

void db_image_spots_clear(db_image_spots *spots) {
    db_observed_spots_clear(&spots->seen);
    db_strong_pixels_clear(&spots->strong);
}

static int stronger_first(const void *a, const void *b) {
    const double x = ((const db_observed_spot *)a)->counts,
                 y = ((const db_observed_spot *)b)->counts;
    return (x < y) - (x > y);
}

void db_observed_spots_sort(db_observed_spots *spots) {
    qsort(spots->spot, spots->count, sizeof *spots->spot, stronger_first);
}

void db_observed_spots_clear(db_observed_spots *spots) {
    free(spots->spot);
    *spots = (db_observed_spots){ 0, NULL };
}

/* Divides groups of touching strong pixels with several summits: each summit becomes a spot.  It takes pixels of a
 * group from the brightest down. A pixel that touches none taken before is a summit; any other belongs to the
 * summit of its brightest neighbour. If two summits meet at a pixel, it is the highest point between them: they
 * are one spot unless it is much lower than both. */

/* Two equal spots are two if the pixel between them is below this fraction (Rayleigh's criterion). */
static const double VALLEY = 0.735;
/* Standard deviations by which a valley must be below the lower summit. */
static const double DEEP = 4;

/* A strong pixel. */
typedef struct peak_pixel {
    double excess; /* counts over the background */
    size_t at;     /* in the panel */
} peak_pixel;

/* A spot and its summit, at its place in the image. */
typedef struct summit_spot {
    peak_pixel summit;
    db_observed_spot spot;
} summit_spot;

typedef struct landscape {
    const db_fit_settings *settings;
    db_measured_image panel; /* the present panel, borrowed */
    const float *background;
    const db_strong_pixels *strong; /* of the image */
    int row;                        /* of the image: the panel's first */
    size_t number, first;           /* of the panel; its first pixel in the image */
    /* a group of touching pixels */
    size_t count;
    size_t *list;      /* places in the panel */
    peak_pixel *order; /* the brightest first */
    /* in this order: another pixel of the same spot, or the pixel itself at a summit */
    size_t *summit;
    size_t *spot; /* number of the spot of a summit */
    /* [rows][columns] place in this order, NONE for pixels not taken yet; with a ring of others around */
    size_t *grid;
    size_t room; /* of the grid */
    int corner[2], columns, rows;
    /* found spots */
    summit_spot *found;
    size_t spots;
} landscape;

static const size_t NONE = (size_t)-1;

static int brighter_first(const void *a, const void *b) {
    const peak_pixel *const x = a;
    const peak_pixel *const y = b;
    if (x->excess != y->excess) return x->excess < y->excess ? 1 : -1;
    return (x->at > y->at) - (x->at < y->at);
}

static int brighter_summit_first(const void *a, const void *b) {
    return brighter_first(&((const summit_spot *)a)->summit, &((const summit_spot *)b)->summit);
}

static size_t summit_of(landscape *l, size_t rank) {
    while (l->summit[rank] != rank) rank = l->summit[rank] = l->summit[l->summit[rank]];
    return rank;
}

/* Is a pixel between two summits much lower than the lower summit? */
static int are_apart(const landscape *l, size_t lower, size_t between) {
    const size_t at[2] = { l->order[lower].at, l->order[between].at };
    const double top = l->order[lower].excess, pass = l->order[between].excess;
    const double variance = db_pixel_variance(l->settings, (double)l->panel.value[at[0]]) +
                            db_pixel_variance(l->settings, (double)l->panel.value[at[1]]);
    return pass < VALLEY * top && top - pass > DEEP * sqrt(variance);
}

static size_t grid_place(const landscape *l, size_t at) {
    const size_t columns = (size_t)l->panel.fast_pixels;
    return (at / columns - (size_t)l->corner[1] + 1) * (size_t)l->columns + at % columns -
           (size_t)l->corner[0] + 1;
}

/* Takes a pixel. Ranks grow as pixels get fainter, so the first of its neighbours is the brightest. */
static void take_pixel(landscape *l, size_t rank) {
    size_t *const own = l->grid + grid_place(l, l->order[rank].at);
    size_t touching[8], count = 0, brightest = NONE;
    for (int v = -1; v <= 1; v++)
        for (int u = -1; u <= 1; u++) {
            const size_t r = own[v * l->columns + u];
            if (r == NONE) continue;
            if (r < brightest) brightest = r;
            touching[count++] = r;
        }
    *own = rank;
    l->summit[rank] = count ? brightest : rank;
    for (size_t k = 0; k < count; k++) {
        const size_t a = summit_of(l, touching[k]), b = summit_of(l, rank);
        const size_t higher = a < b ? a : b, lower = a < b ? b : a;
        if (higher != lower && !are_apart(l, lower, rank)) l->summit[lower] = higher;
    }
}

/* Does a pixel touch one that was strong when found, and is not since light of other crystals was added? */
static int is_beside_cut(const landscape *l, size_t at) {
    const int columns = l->panel.fast_pixels, column = (int)(at % (size_t)columns),
              row = (int)(at / (size_t)columns);
    int cut = 0;
    for (int s = row > 0 ? row - 1 : row; s <= row + 1 && s < l->panel.slow_pixels; s++)
        for (int f = column > 0 ? column - 1 : column; f <= column + 1 && f < columns; f++)
            cut |= !l->strong->strong[l->first + (size_t)s * (size_t)columns + (size_t)f] &&
                   db_strong_bits(l->strong, l->row + s, f, 1);
    return cut;
}

static void add_up(landscape *l) {
    const size_t columns = (size_t)l->panel.fast_pixels, before = l->spots;
    for (size_t r = 0; r < l->count; r++) {
        const peak_pixel *const pixel = &l->order[r];
        const size_t s = summit_of(l, r), row = pixel->at / columns;
        if (s == r) {
            l->spot[r] = l->spots++;
            l->found[l->spot[r]] =
                (summit_spot){ { pixel->excess, l->first + pixel->at }, { .panel = l->number } };
        }
        db_observed_spot *const spot = &l->found[l->spot[s]].spot;
        const double at[2] = { (double)(pixel->at % columns) + 0.5, (double)row + 0.5 };
        spot->counts += pixel->excess;
        spot->pixels++;
        if (l->strong->holds_light) spot->is_cut |= is_beside_cut(l, pixel->at);
        for (int k = 0; k < 2; k++) spot->position[k] += pixel->excess * at[k];
        for (int k = 0; k < 3; k++) spot->covariance[k] += pixel->excess * at[k == 1] * at[k > 0];
    }
    for (size_t i = before; i < l->spots; i++) {
        db_observed_spot *const spot = &l->found[i].spot;
        double *const mean = spot->position;
        for (int k = 0; k < 2; k++) mean[k] /= spot->counts;
        for (int k = 0; k < 3; k++)
            spot->covariance[k] = spot->covariance[k] / spot->counts - mean[k == 1] * mean[k > 0];
    }
}

/* Makes an empty grid around the pixels of the list. 0: no memory. */
static int make_grid(landscape *l) {
    const size_t columns = (size_t)l->panel.fast_pixels;
    int end[2] = { 0, 0 };
    l->corner[0] = l->panel.fast_pixels;
    l->corner[1] = l->panel.slow_pixels;
    for (size_t k = 0; k < l->count; k++) {
        const int at[2] = { (int)(l->list[k] % columns), (int)(l->list[k] / columns) };
        for (int i = 0; i < 2; i++) {
            l->corner[i] = at[i] < l->corner[i] ? at[i] : l->corner[i];
            end[i] = at[i] >= end[i] ? at[i] + 1 : end[i];
        }
    }
    l->columns = end[0] - l->corner[0] + 2;
    l->rows = end[1] - l->corner[1] + 2;
    const size_t all = (size_t)l->columns * (size_t)l->rows;
    if (all > l->room) {
        free(l->grid);
        l->grid = malloc(all * sizeof *l->grid);
        l->room = l->grid ? all : 0;
    }
    for (size_t i = 0; i < all && l->grid; i++) l->grid[i] = NONE;
    return l->grid != NULL;
}

static int divide_group(landscape *l) {
    if (!make_grid(l)) return 0;
    for (size_t k = 0; k < l->count; k++) {
        const size_t at = l->list[k];
        l->order[k] = (peak_pixel){ (double)l->panel.value[at] - (double)l->background[at], at };
    }
    qsort(l->order, l->count, sizeof *l->order, brighter_first);
    for (size_t r = 0; r < l->count; r++) take_pixel(l, r);
    add_up(l);
    return 1;
}

/* Divides the groups of a panel. left: its strong pixels, which become 2. 0: no memory. */
static int divide_panel(landscape *l, uint8_t *left) {
    const uint8_t *const end = left + db_measured_pixels(&l->panel);
    for (const uint8_t *next = left;
         next < end && (next = memchr(next, 1, (size_t)(end - next))) != NULL;) {
        l->count = db_collect_touching(left, l->panel.fast_pixels, l->panel.slow_pixels,
                                       (size_t)(next - left), l->list);
        if (!divide_group(l)) return 0;
    }
    return 1;
}

static int divide(landscape *l, const db_measured_image *image, const db_strong_pixels *strong,
                  uint8_t *left) {
    memcpy(left, strong->strong, db_measured_pixels(image));
    for (size_t p = 0; p < db_measured_panels(image); p++) {
        l->panel = db_measured_panel(image, p);
        l->number = p;
        l->first = (size_t)(l->panel.value - image->value);
        l->row = db_measured_first_row(image, p);
        l->background = strong->background + l->first;
        if (!divide_panel(l, left + l->first)) return 0;
    }
    qsort(l->found, l->spots, sizeof *l->found, brighter_summit_first);
    return 1;
}

static int hand_over(const landscape *l, db_observed_spots *spots) {
    spots->spot = malloc((l->spots + 1) * sizeof *spots->spot);
    if (!spots->spot) return 0;
    for (; spots->count < l->spots; spots->count++)
        spots->spot[spots->count] = l->found[spots->count].spot;
    return 1;
}

static db_status find_spots(db_context *context, const db_measured_image *image,
                            const db_strong_pixels *strong, const db_fit_settings *settings,
                            db_observed_spots *spots) {
    const size_t pixels = db_measured_pixels(image), most = strong->count + 1;
    landscape l = { .settings = settings,
                    .strong = strong,
                    .list = malloc(most * sizeof *l.list),
                    .order = malloc(most * sizeof *l.order),
                    .summit = malloc(most * sizeof *l.summit),
                    .spot = malloc(most * sizeof *l.spot),
                    .found = malloc(most * sizeof *l.found) };
    uint8_t *const left = malloc(pixels);
    const int enough = l.list && l.order && l.summit && l.spot && l.found && left &&
                       divide(&l, image, strong, left) && hand_over(&l, spots);
    free(l.list);
    free(l.order);
    free(l.summit);
    free(l.spot);
    free(l.grid);
    free(l.found);
    free(left);
    return db_need_memory(context, enough, "the spots of the image");
}

db_status db_observed_spots_find(db_context *context, const db_measured_image *image,
                                 const db_strong_pixels *strong, const db_fit_settings *settings,
                                 db_observed_spots *spots) {
    const db_observed_spots *const seen = strong->seen;
    db_status status = DB_OK;
    *spots = (db_observed_spots){ 0, NULL };
#if defined(_OPENMP)
#pragma omp critical(db_observed_spots) /* starts that are tried at the same time ask, too */
#endif
    if (!seen->spot) status = find_spots(context, image, strong, settings, strong->seen);
    DB_TRY(status);
    spots->spot = malloc((seen->count + 1) * sizeof *spots->spot);
    if (!spots->spot) return db_fail_memory(context, "the spots of the image");
    memcpy(spots->spot, seen->spot, seen->count * sizeof *spots->spot);
    spots->count = seen->count;
    return DB_OK;
}
