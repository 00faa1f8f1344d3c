/* Goodness of fit in shells of resolution and regions of the detector; pixels that differ much from the model. */
#include "fit/result/goodness.h"

#include "base/context_internal.h"
#include "base/threads.h"
#include "fit/pixels/geometry.h"
#include "fit/objective/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHELLS = 12,
    LEAST_PIXELS = 200, /* of a shell */
    REGIONS = 8,        /* along the longer side of a single panel */
    FINE = 8192         /* steps of 1/d^2 in which shells are cut */
};

/* Calls visit for every pixel in use, with its block. */
typedef void (*pixel_visitor)(void *user, const db_objective *objective, size_t block, int fast,
                              int slow, size_t element);

static void visit_pixels(const db_objective *objective, pixel_visitor visit, void *user) {
    for (size_t b = 0; b < objective->blocks.count; b++) {
        const db_region *const r = &objective->blocks.region[b];
        for (int s = 0; s < r->slow_count; s++)
            for (int f = 0; f < r->fast_count; f++) {
                const size_t i = r->offset + (size_t)s * r->stride + (size_t)f;
                if (objective->blocks.weight[i] > 0) visit(user, objective, b, f, s, i);
            }
    }
}

/* 1/d^2 at the middle of a block's pixel. */
static double inverse_square(const db_fit_geometry *geometry, const db_region *r, int fast,
                             int slow) {
    const double d = db_fit_geometry_resolution(geometry, r->panel, r->fast_start + fast + 0.5,
                                                r->slow_start + slow + 0.5);
    return 1 / (d * d);
}

typedef struct spectrum {
    double most;    /* 1/d^2 */
    double *square; /* 1/d^2 of each element */
    uint8_t *shell; /* of each element */
    const db_fit_result *result;
    size_t pixels[FINE];
} spectrum;

static void count_pixel(void *user, const db_objective *objective, size_t block, int fast, int slow,
                        size_t element) {
    spectrum *const all = user;
    (void)objective, (void)block, (void)fast, (void)slow;
    all->pixels[(int)fmin(FINE - 1, all->square[element] / all->most * FINE)]++;
}

/* Finds 1/d^2 of all pixels in use. */
static void find_squares(const db_context *context, const db_objective *objective,
                         const db_fit_geometry *geometry, double *square) {
    const db_fit_blocks *const blocks = &objective->blocks;
#if defined(_OPENMP)
    const double pixel_ns = 200;
    const int threads =
        db_threads_worth(context, (long)blocks->count,
                         pixel_ns * (double)objective->pixels_used / (double)blocks->count);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1)
#else
    (void)context;
#endif
    for (size_t b = 0; b < blocks->count; b++) {
        const db_region *const r = &blocks->region[b];
        for (int s = 0; s < r->slow_count; s++)
            for (int f = 0; f < r->fast_count; f++) {
                const size_t i = r->offset + (size_t)s * r->stride + (size_t)f;
                if (blocks->weight[i] > 0) square[i] = inverse_square(geometry, r, f, s);
            }
    }
}

/* Shells of equal numbers of pixels, cut between steps of the spectrum. */
static void cut_shells(const spectrum *all, size_t pixels, db_fit_result *result) {
    const size_t wanted = pixels / LEAST_PIXELS < SHELLS ? pixels / LEAST_PIXELS : SHELLS;
    const size_t count = wanted < 1 ? 1 : wanted;
    size_t sum = 0;
    int begin = -1, last = 0;
    for (int i = 0; i < FINE; i++) {
        if (all->pixels[i] == 0) continue;
        if (begin < 0) begin = i;
        sum += all->pixels[i];
        last = i + 1;
        if (sum * count < pixels * (result->shell_count + 1) && sum < pixels) continue;
        db_fit_shell *const shell = &result->shells[result->shell_count++];
        shell->d_max = sqrt(FINE / (all->most * fmax(begin, 0.5)));
        shell->d_min = sqrt(FINE / (all->most * last));
        begin = last; /* the next one begins where this one ends */
    }
}

static void cut_panel(const db_panel *panel, size_t number, int cut, db_fit_result *result) {
    const int longest =
        panel->fast_pixels > panel->slow_pixels ? panel->fast_pixels : panel->slow_pixels;
    const int side = (longest + cut - 1) / cut;
    const int columns = (panel->fast_pixels + side / 2) / side,
              rows = (panel->slow_pixels + side / 2) / side;
    for (int row = 0; row < (rows > 0 ? rows : 1); row++)
        for (int column = 0; column < (columns > 0 ? columns : 1); column++) {
            db_fit_region *const region = &result->regions[result->region_count++];
            region->panel = number;
            region->fast_start = panel->fast_pixels * column / (columns > 0 ? columns : 1);
            region->slow_start = panel->slow_pixels * row / (rows > 0 ? rows : 1);
            region->fast_count = panel->fast_pixels * (column + 1) / (columns > 0 ? columns : 1) -
                                 region->fast_start;
            region->slow_count =
                panel->slow_pixels * (row + 1) / (rows > 0 ? rows : 1) - region->slow_start;
            region->shift[0] = region->shift[1] = NAN;
        }
}

/* Regions: parts of a single panel, or the panels if there are several. */
static db_status cut_regions(db_context *context, db_fit_result *result) {
    const db_detector *const detector = &result->experiment.detector;
    const size_t panels = detector->panel_count;
    const int cut = panels == 1 ? REGIONS : 1;
    result->regions = calloc(panels * (size_t)(cut * cut) + 1, sizeof *result->regions);
    if (!result->regions) return db_fail_memory(context, "the regions of the detector");
    for (size_t p = 0; p < panels; p++) cut_panel(&detector->panels[p], p, cut, result);
    return DB_OK;
}

static size_t shell_of(const db_fit_result *result, double inverse_square) {
    size_t s = 0;
    while (s + 1 < result->shell_count &&
           inverse_square * result->shells[s].d_min * result->shells[s].d_min >= 1)
        s++;
    return s;
}

static void find_shell(void *user, const db_objective *objective, size_t block, int fast, int slow,
                       size_t element) {
    const spectrum *const all = user;
    (void)objective, (void)block, (void)fast, (void)slow;
    all->shell[element] = (uint8_t)shell_of(all->result, all->square[element]);
}

/* One more than the last element of the blocks' arrays. */
static size_t elements_of(const db_fit_blocks *blocks) {
    size_t most = 0;
    for (size_t b = 0; b < blocks->count; b++) {
        const db_region *const r = &blocks->region[b];
        const size_t end = r->offset + (size_t)r->slow_count * r->stride;
        most = end > most ? end : most;
    }
    return most;
}

db_status db_goodness_prepare(db_context *context, const db_objective *objective,
                              db_fit_result *result, uint8_t **shell) {
    const size_t elements = elements_of(&objective->blocks);
    db_fit_geometry geometry;
    DB_TRY(cut_regions(context, result));
    DB_TRY(db_fit_geometry_of(context, &result->experiment, &geometry));
    result->shells = calloc(SHELLS + 1, sizeof *result->shells);
    *shell = malloc(elements + 1);
    spectrum *const all = calloc(1, sizeof *all);
    double *const square = malloc((elements + 1) * sizeof *square);
    const int enough = result->shells && *shell && all && square;
    if (enough) {
        const double finest = db_fit_geometry_finest(&geometry);
        all->most = 1 / (finest * finest);
        all->square = square;
        all->shell = *shell;
        all->result = result;
        find_squares(context, objective, &geometry, square);
        visit_pixels(objective, count_pixel, all);
        cut_shells(all, objective->pixels_used, result);
        visit_pixels(objective, find_shell, all);
    }
    free(all);
    free(square);
    db_fit_geometry_clear(&geometry);
    return db_need_memory(context, enough, "the shells of resolution");
}

typedef struct sums {
    const uint8_t *shell_of; /* each element */
    const db_fit_result *result;
    size_t last;                                 /* region of the pixel before */
    db_residual_sums shell[SHELLS + 1], *region; /* region: one more than the result has */
} sums;

static int is_in(const db_fit_region *region, size_t panel, double fast, double slow) {
    return region->panel == panel && fast >= region->fast_start && slow >= region->slow_start &&
           fast < region->fast_start + region->fast_count &&
           slow < region->slow_start + region->slow_count;
}

/* Region of a pixel; near: region to try first. Regions do not overlap. */
static size_t region_of(const db_fit_result *result, size_t near, size_t panel, double fast,
                        double slow) {
    if (near < result->region_count && is_in(&result->regions[near], panel, fast, slow))
        return near;
    size_t a = 0;
    while (a < result->region_count && !is_in(&result->regions[a], panel, fast, slow)) a++;
    return a;
}

static void add_pixel(void *user, const db_objective *objective, size_t block, int fast, int slow,
                      size_t element) {
    sums *const all = user;
    const db_region *const r = &objective->blocks.region[block];
    const db_block all_of = db_objective_block(objective, block);
    const db_pixel_report pixel =
        db_block_pixel(&all_of, objective->solution[block].linear, fast, slow);
    const double bragg = pixel.spot, weight = pixel.trust / pixel.variance;
    const double excess = (double)objective->blocks.value[element] - (pixel.expected - bragg);
    const size_t shell = all->shell_of[element];
    const size_t region = all->last =
        region_of(all->result, all->last, r->panel, r->fast_start + fast, r->slow_start + slow);
    db_residual_add(&all->shell[shell], weight, excess, bragg);
    db_residual_add(&all->region[region], weight, excess, bragg);
}

static db_fit_goodness goodness_of(const db_objective *objective, const db_residual_sums *m) {
    const double share = objective->degrees / (double)objective->pixels_used;
    db_fit_goodness g = { m->pixels, NAN, NAN, NAN };
    if (m->pixels == 0) return g;
    g.chi2_reduced = m->chi2 / ((double)m->pixels * share);
    g.residual = m->absolute_excess > 0 ? m->absolute / m->absolute_excess : (double)NAN;
    g.correlation = db_residual_correlation(m);
    return g;
}

db_status db_goodness_measure(db_context *context, const db_objective *objective,
                              const uint8_t *shell, db_goodness_time time, db_fit_result *result) {
    sums all = { .shell_of = shell, .result = result };
    all.region = calloc(result->region_count + 1, sizeof *all.region);
    if (!all.region) return db_fail_memory(context, "the statistics of the regions");
    visit_pixels(objective, add_pixel, &all);
    for (size_t s = 0; s < result->shell_count; s++) {
        const db_fit_goodness g = goodness_of(objective, &all.shell[s]);
        *(time == DB_GOODNESS_BEFORE ? &result->shells[s].before : &result->shells[s].after) = g;
    }
    for (size_t a = 0; a < result->region_count; a++) {
        const db_fit_goodness g = goodness_of(objective, &all.region[a]);
        *(time == DB_GOODNESS_BEFORE ? &result->regions[a].before : &result->regions[a].after) = g;
    }
    free(all.region);
    return DB_OK;
}

void db_goodness_shifts(db_fit_result *result) {
    for (size_t b = 0; b < result->shoebox_count; b++) {
        const db_fit_shoebox *const box = &result->shoeboxes[b];
        const size_t a =
            region_of(result, 0, box->region.panel, box->predicted[0], box->predicted[1]);
        if (a == result->region_count || !isfinite(box->centroid_offset[0])) continue;
        db_fit_region *const region = &result->regions[a];
        for (int i = 0; i < 2; i++)
            region->shift[i] = (region->spots ? region->shift[i] : 0) + box->centroid_offset[i];
        region->spots++;
    }
    for (size_t a = 0; a < result->region_count; a++)
        for (int i = 0; i < 2; i++)
            if (result->regions[a].spots)
                result->regions[a].shift[i] /= (double)result->regions[a].spots;
}

void db_goodness_free(db_fit_result *result) {
    free(result->shells);
    free(result->regions);
    result->shells = NULL;
    result->regions = NULL;
    result->shell_count = result->region_count = 0;
}

enum { MOST_LISTED = 100 };
/* Standard deviations. Normal noise exceeds them in one pixel of two million. */
static const double FAR_OFF = 5;

/* Least trusted first; equals in the order of the detector. */
static int least_trusted_first(const void *a, const void *b) {
    const db_fit_pixel *const x = a;
    const db_fit_pixel *const y = b;
    if (x->trust != y->trust) return x->trust < y->trust ? -1 : 1;
    if (x->panel != y->panel) return x->panel < y->panel ? -1 : 1;
    return x->slow != y->slow ? x->slow - y->slow : x->fast - y->fast;
}

/* Pixels beyond this limit. */
typedef struct far_pixels {
    db_fit_pixel *list; /* NULL: only counted */
    size_t count;
} far_pixels;

static void add_if_far(void *user, const db_objective *objective, size_t b, int fast, int slow,
                       size_t element) {
    far_pixels *const far = user;
    const db_region *const r = &objective->blocks.region[b];
    const db_block block = db_objective_block(objective, b);
    const db_pixel_report report =
        db_block_pixel(&block, objective->solution[b].linear, fast, slow);
    const double counts = (double)objective->blocks.value[element];
    const double z = (counts - report.expected) / sqrt(report.variance);
    if (!(fabs(z) > FAR_OFF)) return;
    if (far->list)
        far->list[far->count] = (db_fit_pixel){ .panel = r->panel,
                                                .fast = r->fast_start + fast,
                                                .slow = r->slow_start + slow,
                                                .counts = counts,
                                                .model = report.expected,
                                                .z = z,
                                                .trust = report.trust };
    far->count++;
}

db_status db_distrusted_pixels_find(db_context *context, const db_objective *objective,
                                    db_fit_result *result) {
    const db_loss_target target = objective->loss_of.target;
    if (target != DB_LOSS_HUBER && target != DB_LOSS_STUDENT) return DB_OK;
    far_pixels far = { NULL, 0 };
    visit_pixels(objective, add_if_far, &far);
    far.list = malloc((far.count + 1) * sizeof *far.list);
    if (!far.list) return db_fail_memory(context, "the distrusted pixels");
    far.count = 0;
    visit_pixels(objective, add_if_far, &far);
    qsort(far.list, far.count, sizeof *far.list, least_trusted_first);
    result->distrusted_count = far.count;
    result->distrusted_listed = far.count < MOST_LISTED ? far.count : MOST_LISTED;
    result->distrusted = far.list;
    return DB_OK;
}
