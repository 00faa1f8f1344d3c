/* Which reflections an image of sampled spots shows: each is what samples next to its node add to
 * the pixels (docs/theory/pixel.md, Reflections of an image). In most pixels all samples are next to
 * one node, which bounds of the Miller indices tell; other pixels are divided. */
#include <dualbragg/spots.h>

#include "base/context_internal.h"
#include "base/given.h"
#include "base/growth.h"
#include "base/threads.h"
#include "base/vector.h"
#include "engine/node_samples.h"

#include "model/halo_samples.h"

#include <math.h>
#include <string.h>

/* The faintest mixed pixels, which together hold this part of all photons, are divided by some of
 * their samples. */
static const double PARTLY = 1e-3;
enum { SOME_SAMPLES = 2 };
static const double FAINTEST = 1e-4; /* of the brightest reflection, by default */

enum { BANDS = 32 }; /* for any number of threads */

/* How samples of a pixel differ from its middle: bounds over lattices, sources, places. */
typedef struct differences {
    double lattice[3][3]; /* a, b, c of the middle (angstrom) */
    double by_q[3][3];    /* half widths of their components over phi steps and domains */
    double longest[3];    /* of |a|, |b|, |c| */
    double kappa;         /* middle (1/angstrom), ... */
    double by_kappa;      /* ... half width as part of it, ... */
    double largest_kappa;
    double beam[3], by_beam;  /* direction of the middle, largest distance of another one from it */
    double depth, half_depth; /* of the sensor (m): its middle */
    double half_pixel;        /* m: farthest that a sub-pixel's middle is from the pixel's */
} differences;

typedef struct mixed_pixel {
    size_t panel;
    int fast, slow;
    double photons;
    int guess[3]; /* the node next to the middle */
} mixed_pixel;

/* Some rows of the image, and what was found there. */
typedef struct band {
    db_node_sums sums;
    mixed_pixel *mixed;
    size_t mixed_count, mixed_capacity;
    int failed; /* 1: memory ran out */
    int is_bad; /* 1: the photons of pixel `bad` are no number of photons */
    mixed_pixel bad;
} band;

typedef struct gathering {
    db_context *context;
    const db_experiment *experiment;
    const db_trace *trace;
    const float *image;
    db_matrix *lattice; /* rows a, b, c (angstrom) of each phi step and domain; owned */
    differences *by_panel;
    db_node_sums all;
    double limit; /* mixed pixels of no more photons are divided by some of their samples */
    band band[BANDS];
} gathering;

static void bound_lattice(const gathering *g, size_t count, differences *d) {
    double least[3][3] = { { 0 } }, most[3][3] = { { 0 } };
    for (size_t k = 0; k < count; k++)
        for (int j = 0; j < 3; j++) {
            double row[3];
            db_vector_out(g->lattice[k].r[j], row);
            d->longest[j] = fmax(d->longest[j], db_length(row));
            for (int i = 0; i < 3; i++) {
                least[j][i] = k ? fmin(least[j][i], row[i]) : row[i];
                most[j][i] = k ? fmax(most[j][i], row[i]) : row[i];
            }
        }
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) {
            d->lattice[j][i] = (least[j][i] + most[j][i]) / 2;
            d->by_q[j][i] = (most[j][i] - least[j][i]) / 2;
        }
}

static void bound_beam(const db_experiment *e, const db_interface *m, differences *d) {
    double least = INFINITY;
    for (size_t n = 0; n < e->beam.source_count; n++) {
        double s0[3];
        db_vector_out(m->source[n].s0, s0);
        least = fmin(least, m->source[n].kappa.v);
        d->largest_kappa = fmax(d->largest_kappa, m->source[n].kappa.v);
        for (int i = 0; i < 3; i++)
            d->beam[i] += s0[i] / m->source[n].kappa.v / (double)e->beam.source_count;
    }
    d->kappa = (least + d->largest_kappa) / 2;
    d->by_kappa = (d->largest_kappa - least) / 2 / d->kappa;
    for (size_t n = 0; n < e->beam.source_count; n++) {
        double off[3];
        db_vector_out(m->source[n].s0, off);
        for (int i = 0; i < 3; i++) off[i] = off[i] / m->source[n].kappa.v - d->beam[i];
        d->by_beam = fmax(d->by_beam, db_length(off));
    }
}

static void bound_places(const db_experiment *e, const db_interface *m, const db_panel *p,
                         differences *d) {
    const double inner = 1 - 1.0 / e->oversample;
    if (e->detector.sensor_thickness != 0)
        d->depth = d->half_depth = m->layer_step.v * e->detector.sensor_layers / 2;
    d->half_pixel = 0.5e-3 * inner * hypot(p->pixel_size[0], p->pixel_size[1]);
}

/* Middle of a pixel in the laboratory (m). */
static void middle_of(const gathering *g, const differences *d, size_t panel, int fast, int slow,
                      double x[3]) {
    const db_panel_interface *const z = &g->trace->model.panel[panel];
    const db_panel *const p = &g->experiment->detector.panels[panel];
    const double f = 1e-3 * p->pixel_size[0] * (fast + 0.5),
                 s = 1e-3 * p->pixel_size[1] * (slow + 0.5);
    x[0] = z->origin.x.v + f * z->fast.x.v + s * z->slow.x.v + d->depth * z->normal.x.v;
    x[1] = z->origin.y.v + f * z->fast.y.v + s * z->slow.y.v + d->depth * z->normal.y.v;
    x[2] = z->origin.z.v + f * z->fast.z.v + s * z->slow.z.v + d->depth * z->normal.z.v;
}

/* The node next to the middle of a pixel; 1: it is the one next to all samples. With a, q, kappa, s
 * those of a sample, a q - a0 q0 = (a - a0) q0 + a (q - q0), and q - q0 = kappa (directions'
 * differences) + (kappa - kappa0)/kappa0 q0. */
static int node_of(const differences *d, const double x[3], int node[3]) {
    const double inverse = 1 / db_length(x), place = (d->half_pixel + d->half_depth) * inverse,
                 /* unit vectors: |x/|x| - y/|y|| <= 2 |x - y|/(|x| + |y|) */
        turned = d->largest_kappa * (2 * place / (2 - place) + d->by_beam);
    double q[3];
    int pure = place < 1;
    for (int i = 0; i < 3; i++) q[i] = d->kappa * (x[i] * inverse - d->beam[i]);
    for (int j = 0; j < 3; j++) {
        const double h = db_dot(d->lattice[j], q), nearest = rint(h);
        const double lattice =
            d->by_q[j][0] * fabs(q[0]) + d->by_q[j][1] * fabs(q[1]) + d->by_q[j][2] * fabs(q[2]);
        const double off = fabs(h - nearest) + lattice + d->by_kappa * (fabs(h) + lattice) +
                           d->longest[j] * turned;
        node[j] = (int)nearest;
        pure = pure && off < 0.5 - 1e-9;
    }
    return pure;
}

static int add_node(db_node_sums *sums, const int node[3], size_t panel, int fast, int slow,
                    double photons) {
    db_node_sum *const s = db_node_sums_find(sums, node, panel);
    const double at[2] = { fast + 0.5, slow + 0.5 };
    if (!s) return 0;
    s->photons += photons;
    for (int i = 0; i < 2; i++) {
        s->first[i] += photons * at[i];
        s->second[i] += photons * at[i] * at[i];
    }
    s->second[2] += photons * at[0] * at[1];
    return 1;
}

static int keep_mixed(band *b, const mixed_pixel *pixel) {
    mixed_pixel *const grown =
        db_grown(b->mixed, &b->mixed_capacity, b->mixed_count + 1, sizeof *grown);
    if (!grown) return 0;
    b->mixed = grown;
    b->mixed[b->mixed_count++] = *pixel;
    return 1;
}

static int gather_row(const gathering *g, band *b, size_t panel, int slow, const float *row) {
    const differences *const d = &g->by_panel[panel];
    const int width = g->experiment->detector.panels[panel].fast_pixels;
    for (int fast = 0; fast < width; fast++) {
        const double photons = (double)row[fast];
        mixed_pixel pixel = { .panel = panel, .fast = fast, .slow = slow, .photons = photons };
        double x[3];
        if (photons == 0) continue;
        if (!(photons > 0) || isinf(photons)) {
            b->is_bad = 1;
            b->bad = pixel;
            return 0;
        }
        middle_of(g, d, panel, fast, slow, x);
        if (!(node_of(d, x, pixel.guess)
                  ? add_node(&b->sums, pixel.guess, panel, fast, slow, photons)
                  : keep_mixed(b, &pixel)))
            return 0;
    }
    return 1;
}

/* Every 32nd row of all panels. */
static void gather_band(gathering *g, int number) {
    const db_detector *const detector = &g->experiment->detector;
    band *const b = &g->band[number];
    const float *row = g->image;
    int at = 0;
    for (size_t p = 0; p < detector->panel_count && !b->failed; p++)
        for (int slow = 0; slow < detector->panels[p].slow_pixels && !b->failed; slow++, at++) {
            if (at % BANDS == number) b->failed = !gather_row(g, b, p, slow, row);
            row += detector->panels[p].fast_pixels;
        }
}

/* Adds up the bands' sums, one after the other, so that threads do not matter; the bands are empty
 * then. */
static db_status merge_spots(gathering *g) {
    for (int i = 0; i < BANDS; i++) {
        db_node_sums *const own = &g->band[i].sums;
        for (size_t k = 0; k < own->count; k++) {
            const db_node_sum *const from = &own->sum[k];
            db_node_sum *const to = db_node_sums_find(&g->all, from->hkl, from->panel);
            if (!to) return db_fail_memory(g->context, "the reflections of an image");
            to->photons += from->photons;
            for (int n = 0; n < 2; n++) to->first[n] += from->first[n];
            for (int n = 0; n < 3; n++) to->second[n] += from->second[n];
        }
        if (g->band[i].failed) return db_fail_memory(g->context, "the reflections of an image");
        db_node_sums_clear(own);
    }
    return DB_OK;
}

static int compare_numbers(const void *first, const void *second) {
    const double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

static db_status choose_limit(gathering *g) {
    size_t count = 0, at = 0;
    double all = 0, sum = 0;
    for (size_t k = 0; k < g->all.count; k++) all += g->all.sum[k].photons;
    for (int i = 0; i < BANDS; i++) count += g->band[i].mixed_count;
    double *const photons = malloc((count + 1) * sizeof *photons);
    if (!photons) return db_fail_memory(g->context, "pixels of several reflections");
    for (int i = 0; i < BANDS; i++)
        for (size_t k = 0; k < g->band[i].mixed_count; k++)
            all += photons[at++] = g->band[i].mixed[k].photons;
    qsort(photons, count, sizeof *photons, compare_numbers);
    for (size_t k = 0; k < count && (sum += photons[k]) <= PARTLY * all; k++) g->limit = photons[k];
    free(photons);
    return DB_OK;
}

/* The pixel's photons, parted as its samples are. */
static void part_mixed(const gathering *g, band *b, const mixed_pixel *m, db_node_sums *nodes) {
    for (size_t i = 0; i < nodes->count; i++) nodes->sum[i].photons = 0;
    b->failed |= !db_node_samples(g->trace, g->lattice, m->panel, m->fast, m->slow,
                                  m->photons > g->limit ? 0 : SOME_SAMPLES, nodes);
    double whole = 0;
    for (size_t i = 0; i < nodes->count; i++) whole += nodes->sum[i].photons;
    if (!(whole > 0)) {
        b->failed |= !add_node(&b->sums, m->guess, m->panel, m->fast, m->slow, m->photons);
        return;
    }
    for (size_t i = 0; i < nodes->count; i++) {
        const double part = nodes->sum[i].photons / whole * m->photons;
        if (part != 0)
            b->failed |= !add_node(&b->sums, nodes->sum[i].hkl, m->panel, m->fast, m->slow, part);
    }
}

static void part_band(const gathering *g, band *b) {
    enum { MOST_NODES = 64 }; /* are kept from pixel to pixel */
    db_node_sums nodes = { 0 };
    for (size_t i = 0; i < b->mixed_count && !b->failed; i++) {
        if (nodes.count > MOST_NODES) db_node_sums_clear(&nodes);
        part_mixed(g, b, &b->mixed[i], &nodes);
    }
    db_node_sums_clear(&nodes);
}

static db_status check_pixels(const gathering *g) {
    for (int i = 0; i < BANDS; i++)
        if (g->band[i].is_bad) {
            const mixed_pixel *const bad = &g->band[i].bad;
            return db_fail(g->context, DB_ERROR_INPUT,
                           "reflections of an image: pixel (%d, %d) of panel %zu: expected photons "
                           "of at least 0, found %g",
                           bad->fast, bad->slow, bad->panel, bad->photons);
        }
    return DB_OK;
}

static db_status gather_spots(gathering *g) {
    const int threads = db_threads_for(g->context, BANDS);
    (void)threads; /* without OpenMP */
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1)
    for (int i = 0; i < BANDS; i++) gather_band(g, i);
    DB_TRY(check_pixels(g));
    DB_TRY(merge_spots(g));
    DB_TRY(choose_limit(g));
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1)
    for (int i = 0; i < BANDS; i++) part_band(g, &g->band[i]);
    return merge_spots(g);
}

static int compare_nodes(const void *first, const void *second) {
    const db_node_sum *const a = first;
    const db_node_sum *const b = second;
    for (int i = 0; i < 3; i++)
        if (a->hkl[i] != b->hkl[i]) return a->hkl[i] < b->hkl[i] ? -1 : 1;
    return (a->panel > b->panel) - (a->panel < b->panel);
}

static void fill_image(const double a_star[9], double wavelength, const db_node_sum *from,
                       db_spot *spot) {
    double node[3];
    *spot = (db_spot){ .panel = from->panel,
                       .photons = from->photons,
                       .excitation = NAN,
                       .turn = NAN,
                       .recorded = NAN,
                       .angle = NAN,
                       .width = NAN,
                       .wavelength = wavelength,
                       .wavelength_width = 0 * wavelength };
    memcpy(spot->hkl, from->hkl, sizeof spot->hkl);
    for (int i = 0; i < 2; i++) spot->position[i] = from->first[i] / from->photons;
    for (int n = 0; n < 3; n++)
        spot->covariance[n] =
            from->second[n] / from->photons - spot->position[n == 1] * spot->position[n != 0];
    for (int i = 0; i < 3; i++)
        node[i] = a_star[3 * i] * from->hkl[0] + a_star[3 * i + 1] * from->hkl[1] +
                  a_star[3 * i + 2] * from->hkl[2];
    spot->resolution = 1 / db_length(node);
}

static int is_direct_beam(const int hkl[3]) { return !hkl[0] && !hkl[1] && !hkl[2]; }

static db_status list(gathering *g, double least, db_predicted_spots *spots) {
    db_node_sums *const all = &g->all;
    double a_star[9], brightest = 0, range[2];
    db_model_wavelengths(g->experiment, range);
    const double wavelength = range[0] == range[1] ? range[0] : (double)NAN;
    for (size_t i = 0; i < all->count; i++)
        if (!is_direct_beam(all->sum[i].hkl)) brightest = fmax(brightest, all->sum[i].photons);
    if (!(least > 0)) least = FAINTEST * brightest;
    spots->spot = malloc((all->count + 1) * sizeof *spots->spot);
    if (!spots->spot) return db_fail_memory(g->context, "the reflections of an image");
    db_crystal_matrix(&g->experiment->crystal, a_star);
    if (all->count) qsort(all->sum, all->count, sizeof *all->sum, compare_nodes);
    for (size_t i = 0; i < all->count; i++)
        if (all->sum[i].photons > 0 && all->sum[i].photons >= least &&
            !is_direct_beam(all->sum[i].hkl))
            fill_image(a_star, wavelength, &all->sum[i], &spots->spot[spots->count++]);
    return DB_OK;
}

static db_status bound(gathering *g) {
    const db_experiment *const e = g->experiment;
    const db_interface *const m = &g->trace->model;
    const size_t count = db_sample_count(e);
    differences all = { .depth = 0 };
    g->by_panel = malloc(e->detector.panel_count * sizeof *g->by_panel);
    g->lattice = malloc(count * sizeof *g->lattice);
    if (!g->by_panel || !g->lattice)
        return db_fail_memory(g->context, "the reflections of an image");
    db_node_lattices(g->trace, g->lattice);
    bound_lattice(g, count, &all);
    bound_beam(e, m, &all);
    for (size_t p = 0; p < e->detector.panel_count; p++) {
        g->by_panel[p] = all;
        bound_places(e, m, &e->detector.panels[p], &g->by_panel[p]);
    }
    return DB_OK;
}

static db_status check_image(db_context *context, const db_experiment *e,
                             const db_spot_options *o) {
    if (o && (o->size != sizeof *o || !isfinite(o->least_photons)))
        return db_fail(
            context, DB_ERROR_USAGE,
            "spot options: expected DB_SPOT_OPTIONS_INIT and a finite number of photons");
    if (o) DB_TRY(DB_NEED_ZEROS(context, "spot options", o));
    if (e->spread.spots == DB_SPOTS_CLOSED)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "reflections of an image: its spots are in closed form, expected sampled "
                       "ones; db_spots_predict lists those");
    if (e->detector.curved)
        return db_fail(context, DB_ERROR_UNSUPPORTED,
                       "reflections of an image: expected flat panels, found a curved detector");
    return DB_OK;
}

db_status db_spots_of_image(db_context *context, const db_experiment *experiment,
                            const float *image, const db_spot_options *options,
                            db_predicted_spots *spots) {
    db_trace *trace = NULL;
    *spots = (db_predicted_spots){ 0 };
    DB_TRY(check_image(context, experiment, options));
    DB_TRY(db_need_list(context, "image whose reflections are listed", image, 1));
    gathering *const g = calloc(1, sizeof *g);
    if (!g) return db_fail_memory(context, "the reflections of an image");
    g->context = context;
    g->experiment = experiment;
    g->image = image;
    db_status status = db_trace_borrow(context, experiment, &trace);
    g->trace = trace;
    if (status == DB_OK) status = bound(g);
    if (status == DB_OK) status = gather_spots(g);
    if (status == DB_OK) status = list(g, options ? options->least_photons : 0, spots);
    for (int i = 0; i < BANDS; i++) {
        db_node_sums_clear(&g->band[i].sums);
        free(g->band[i].mixed);
    }
    db_node_sums_clear(&g->all);
    free(g->by_panel);
    free(g->lattice);
    free(g);
    db_trace_destroy(&trace);
    return status;
}
