/* The check of derivatives: which pixels, in which order, and the verdict. */
#include "engine/gradient_check.h"

#include "base/photon_energy.h"
#include "engine/check_state.h"
#include "engine/node_signature.h"
#include "engine/plan_state.h"
#include "engine/plan_oracle.h"
#include "engine/spot_places.h"
#include "engine/trial_pixels.h"
#include "engine/plan_create.h"
#include "model/site_kinds.h"

#include <dualbragg/expert/experiment_geometry.h>

#include <stdlib.h>
#include <string.h>

static const double NEGLIGIBLE = 1e-6; /* of a derivative's natural size */

/* Rounding of a result, in units of the value's own rounding: each step before and after the Miller index adds
 * half a unit in the last place. */
static const double ROUNDINGS = 16;
static const double DOUBLE_ROUNDING = 0x1p-53, FLOAT_ROUNDING = 0x1p-24;
static const double OFFSET_ROUNDING = 0x1p-32; /* of Miller indices in mixed precision (job.h) */

/* Relative to the largest value: larger than the errors of mixed precision, unless crystals are very large or
 * pixels next to the direct beam (docs/reference/precision.md); smaller than those of a wrong kernel. */
static const double MIXED_IMAGE = 1e-5, MIXED_DERIVATIVE = 1e-3;

/* Samples that the oracle and differences of images are asked for, together a second or two of two
 * processors; fewer by these factors where factors are interpolated, or kinks have to be looked for.
 */
static const double ORACLE_SAMPLES = 1.2e5, DIFFERENCE_SAMPLES = 1.2e5, DEAR = 4, KINKS = 2;

enum { BATCH = 32768 };  /* pixels held at once */
enum { SCANNED = 1024 }; /* pixels in which the steepest slope is looked for */

/* For jobs with very many samples per pixel. */
enum { FEWEST_PIXELS = 4, FEWEST_PARAMETERS = 6 };

/* The least number of pixels compared with differences of images; below it some parameters are left out. */
enum { ENOUGH_PIXELS = 16 };

/* The pixels and parameters that the check covers. */
typedef struct {
    db_context *context; /* the caller's, for progress */
    db_check *check;
    db_check_pixels pixels;
    double differenced;                  /* pixels, of all batches together */
    unsigned char wanted[DB_CHECK_MOST]; /* parameters compared with differences of images */
    size_t wanted_count;
    double dear;       /* see find_dearness */
    double done, work; /* for progress */
} extent;

/* The wanted regions, laid out as images of their own. */
static db_region *regions_of(const db_check *c, size_t *count) {
    const db_gradient_check_options *o = c->options;
    *count = o->regions ? o->region_count : c->experiment->detector.panel_count;
    if (!o->regions) return db_whole_panels(&c->experiment->detector);
    db_region *r = calloc(*count ? *count : 1, sizeof *r);
    for (size_t i = 0; r && i < *count; i++) {
        r[i] = o->regions[i];
        r[i].stride = r[i].fast_count > 0 ? (size_t)r[i].fast_count : 0;
    }
    return r;
}

/* The cost of a pixel, in samples. */
static db_status find_dearness(extent *x) {
    const db_check *c = x->check;
    const db_experiment *e = c->experiment;
    const int interpolated = e->structure_factors.amplitude && e->structure_factors.interpolate;
    x->dear = db_samples_per_pixel(e) * (interpolated || e->background.count ? DEAR : 1);
    if (e->spread.spots != DB_SPOTS_CLOSED) return DB_OK;
    double spots, pixels;
    size_t count;
    db_region *regions = regions_of(c, &count);
    if (!regions) return db_fail_memory(&x->check->context, "the regions of a check");
    const db_status status =
        db_spot_pixels_of(&x->check->context, e, regions, count, 0, &spots, &pixels);
    free(regions);
    if (status != DB_OK) return status;
    x->dear *= 2 * fmax(1, spots / pixels);
    return DB_OK;
}

/* Pixels that the oracle and its probes have time for. */
static double oracle_pixels(const extent *x) {
    const db_check *c = x->check;
    const double turns = ceil((double)c->count / DB_SLOPES_AT_ONCE);
    return c->options->all ? INFINITY : fmax(FEWEST_PIXELS, ORACLE_SAMPLES / (x->dear * turns));
}

/* Limits the parameters and pixels that are compared with differences of images. */
static void limit_differences(const db_check *c, extent *x) {
    const double dear = x->dear * (db_node_signature_matters(c->experiment) ? KINKS : 1);
    const double most = c->options->all ? INFINITY : DIFFERENCE_SAMPLES / dear;
    x->wanted_count = c->count;
    x->differenced = most / (double)c->count;
    if (x->differenced < ENOUGH_PIXELS) {
        const double fewest = c->count < FEWEST_PARAMETERS ? (double)c->count : FEWEST_PARAMETERS;
        x->wanted_count = (size_t)fmin((double)c->count, fmax(fewest, most / ENOUGH_PIXELS));
        x->differenced = fmax(1, most / (double)x->wanted_count);
    }
    for (size_t i = 0; i < x->wanted_count; i++) x->wanted[i * c->count / x->wanted_count] = 1;
}

static db_status choose_pixels(db_check *c, extent *x) {
    size_t count;
    db_region *regions = regions_of(c, &count);
    if (!regions) return db_fail_memory(&c->context, "the regions of a check");
    db_status status = db_regions_check(&c->context, c->experiment, regions, count);
    if (status == DB_OK)
        status = db_check_pixels_choose(&c->context, c->experiment, regions, count,
                                        oracle_pixels(x), &x->pixels);
    free(regions);
    return status;
}

/* The end of the batch of strips that begins with `first`. */
static size_t batch_end(const db_check_pixels *p, size_t first) {
    size_t end = first, pixels = 0;
    while (end < p->strips && (end == first || pixels + p->strip[end].stride <= BATCH))
        pixels += p->strip[end++].stride;
    return end;
}

static db_status advance_check(extent *x, double work) {
    x->done += work;
    if (!x->context->progress ||
        !x->context->progress(x->context->progress_user, fmin(1, x->done / x->work)))
        return DB_OK;
    return db_fail(&x->check->context, DB_ERROR_CANCELLED, "cancelled by the progress callback");
}

static db_status scan_all(extent *x) {
    for (size_t first = 0, end; first < x->pixels.strips; first = end) {
        db_check_pixels part = { 0 };
        end = batch_end(&x->pixels, first);
        db_status status = db_check_pixels_part(&x->check->context, &x->pixels, first, end, &part);
        if (status == DB_OK)
            status = db_check_scan(x->check, &part,
                                   SCANNED * (double)part.pixels / (double)x->pixels.pixels);
        if (status == DB_OK) status = advance_check(x, (double)part.pixels);
        db_check_pixels_clear(&part);
        DB_TRY(status);
    }
    return DB_OK;
}

/* Sets the tolerance, the scales and the steps from the largest values and slopes. */
static db_status resolve_check(extent *x) {
    db_check *const c = x->check;
    const double brightest = c->largest[c->count];
    c->cut = c->options->tolerance > 0 ? c->options->tolerance : 1e-3 * brightest;
    for (size_t k = 0; k <= c->count; k++) {
        c->natural[k] = k < c->count ? brightest * c->slope[k] : brightest;
        c->unit[k] = c->largest[k];
        db_check_keep_worst(&c->unit[k], NEGLIGIBLE * c->natural[k]);
        if (c->unit[k] == 0) c->unit[k] = 1;
        for (int set = 0; set < DB_CHECK_SETS; set++)
            for (int way = 0; way < DB_CHECK_WAYS; way++) c->worst[set][way][k] = -INFINITY;
        if (k < c->count && x->wanted[k]) DB_TRY(db_check_find_step(c, k));
    }
    return DB_OK;
}

static db_status allocate_check(db_check *c, db_check_batch *b) {
    const size_t pixels = b->pixels->pixels;
    b->jumps = calloc(pixels, sizeof *b->jumps);
    int complete = b->jumps != NULL;
    for (size_t k = 0; k <= c->count; k++) {
        b->oracle[k] = calloc(pixels, sizeof **b->oracle);
        b->slope[k] = calloc(pixels, sizeof **b->slope);
        complete &= b->oracle[k] && b->slope[k];
    }
    return complete ? DB_OK : db_fail_memory(&c->context, "the images of a check");
}

static void release_check(const db_check *c, db_check_batch *b) {
    free(b->jumps);
    for (size_t k = 0; k <= c->count; k++) {
        free(b->oracle[k]);
        free(b->slope[k]);
    }
}

static db_status compare_differences(extent *x, const db_check_batch *b) {
    db_check *const c = x->check;
    db_check_pixels some = { 0 };
    const double share = (double)b->pixels->pixels / (double)x->pixels.pixels;
    db_status status = db_check_pixels_thin(&c->context, b->pixels, x->differenced * share, &some);
    for (size_t k = 0; k <= c->count && status == DB_OK; k++) {
        if (k < c->count && !x->wanted[k]) continue;
        status = db_check_differences(c, b, &some, k);
        if (status == DB_OK) status = advance_check(x, (double)b->pixels->pixels);
    }
    db_check_pixels_clear(&some);
    return status;
}

static db_status compare_all(extent *x) {
    db_check *const c = x->check;
    for (size_t first = 0, end; first < x->pixels.strips; first = end) {
        db_check_pixels part = { 0 };
        db_check_batch b = { .pixels = &part };
        end = batch_end(&x->pixels, first);
        db_status status = db_check_pixels_part(&c->context, &x->pixels, first, end, &part);
        if (status == DB_OK) status = allocate_check(c, &b);
        if (status == DB_OK) status = db_check_kernels(c, &b);
        if (status == DB_OK) status = advance_check(x, (double)part.pixels * (double)c->count);
        if (status == DB_OK) status = compare_differences(x, &b);
        release_check(c, &b);
        db_check_pixels_clear(&part);
        DB_TRY(status);
    }
    return DB_OK;
}

static const char *kernel_name(int set, int way) {
    static const char *const names[DB_CHECK_WAYS][DB_CHECK_SETS] = {
        { "kernel in double", "kernel of plain parameters in double",
          "kernel without N in double" },
        { "mixed kernel", "mixed kernel of plain parameters", "mixed kernel without N" },
        { "kernel in double, with a tolerance",
          "kernel of plain parameters in double, with a tolerance",
          "kernel without N in double, with a tolerance" },
        { "mixed kernel, with a tolerance", "mixed kernel of plain parameters, with a tolerance",
          "mixed kernel without N, with a tolerance" },
    };
    return names[way][set];
}

static int is_mixed(int way) { return way == DB_CHECK_MIXED || way == DB_CHECK_MIXED_CUT; }

/* Rounding errors of the samples of a pixel, which do not cancel where the samples do: relative to
 * a derivative's natural size. */
static double own_errors(const db_check *c, double precision) {
    const double *n = c->experiment->crystal.Ncells;
    const double most = fmax(n[0], fmax(n[1], n[2]));
    const double samples = db_samples_per_pixel(c->experiment);
    const double phase = samples > 1 ? 3 * most * c->largest_index * DOUBLE_ROUNDING : 0;
    return phase + ROUNDINGS * sqrt(samples) * precision;
}

/* The largest allowed error of image k. */
static double bound_of(const db_check *c, size_t k, int way) {
    const double probed = c->probed[k] / DB_PROBE_CHANGE,
                 in_double = c->options->contraction_tolerance * c->unit[k] +
                             ROUNDINGS * DOUBLE_ROUNDING * probed +
                             own_errors(c, DOUBLE_ROUNDING) * c->natural[k];
    if (!is_mixed(way)) return in_double;
    return in_double + (k < c->count ? MIXED_DERIVATIVE : MIXED_IMAGE) * c->unit[k] +
           ROUNDINGS * FLOAT_ROUNDING * c->probed_fine[k] / DB_PROBE_CHANGE +
           own_errors(c, FLOAT_ROUNDING) * c->natural[k] +
           2 * OFFSET_ROUNDING / c->largest_index * probed;
}

static void judge_kernels(const db_check *c, size_t k, db_gradient_check_row *row) {
    row->contraction = row->mixed = 0;
    for (int set = 0; set < DB_CHECK_SETS; set++)
        for (int way = 0; way < DB_CHECK_WAYS; way++) {
            const double worst = c->worst[set][way][k];
            if (!(worst <= bound_of(c, k, way)) && row->verdict == DB_CHECK_OK) {
                row->verdict = DB_CHECK_DIFFERS;
                row->failed = kernel_name(set, way);
            }
            if (way == DB_CHECK_DOUBLE) db_check_keep_worst(&row->contraction, worst);
            if (way == DB_CHECK_MIXED) db_check_keep_worst(&row->mixed, worst);
        }
    if (!c->used[DB_CHECK_ALL][DB_CHECK_MIXED]) row->mixed = NAN;
}

static void judge_differences(const db_check *c, size_t k, db_gradient_check_row *row) {
    const double rounding = ROUNDINGS * DOUBLE_ROUNDING * c->probed[k] / DB_PROBE_CHANGE;
    const size_t pixels = row->compared + row->excluded;
    if (row->verdict != DB_CHECK_OK) return;
    if (2 * row->compared < pixels || pixels == 0) {
        row->verdict = DB_CHECK_NOT_COMPARED;
        row->failed = pixels ? "most pixels are at kinks" : "no step is possible";
    } else if (!(c->difference[k] <= c->options->difference_tolerance * c->unit[k] + rounding)) {
        row->verdict =
            c->difference[k] <= 3 * c->difference_error[k] ? DB_CHECK_TOO_ROUGH : DB_CHECK_DIFFERS;
        row->failed = k < c->count ? "differences of images" : "image in long double";
    }
}

static void fill_row(const extent *x, size_t k, db_gradient_check_row *row) {
    const db_check *c = x->check;
    const double unit = c->unit[k];
    const int differenced = k == c->count || x->wanted[k];
    memset(row, 0, sizeof *row);
    row->parameter = k < c->count ? c->parameters[k] : DB_PARAMETER_COUNT;
    row->largest = c->largest[k];
    row->compared = c->compared[k];
    row->excluded = c->excluded[k];
    row->step = c->step[k];
    judge_kernels(c, k, row);
    if (2 * c->jumping > c->tried) {
        row->verdict = DB_CHECK_NOT_COMPARED;
        row->failed = "most pixels are at kinks";
    }
    if (differenced) judge_differences(c, k, row);
    row->contraction /= unit;
    row->mixed /= unit;
    row->rounding = bound_of(c, k, DB_CHECK_DOUBLE) / unit;
    row->difference = differenced ? c->difference[k] / unit : NAN;
    row->difference_error = differenced ? c->difference_error[k] / unit : NAN;
}

static void fill_extent(const extent *x, db_gradient_check_extent *out) {
    const db_check *c = x->check;
    const db_gradient_check_options *o = c->options;
    *out = (db_gradient_check_extent){
        .pixels = o->regions ? db_pixels_of(o->regions, o->region_count)
                             : (double)db_experiment_pixels(c->experiment),
        .tried = (double)x->pixels.pixels,
        .differenced = (double)c->compared[c->count],
        .parameters_differenced = x->wanted_count,
        .lacking = c->lacking,
        .tolerance = c->cut,
    };
    for (int set = 0; set < DB_CHECK_SETS; set++)
        out->without_samples |= c->used[set][DB_CHECK_DOUBLE_CUT];
}

static db_status run_gradient_check(extent *x) {
    db_check *const c = x->check;
    DB_TRY(db_experiment_check(&c->context, c->experiment));
    DB_TRY(find_dearness(x));
    limit_differences(c, x);
    DB_TRY(choose_pixels(c, x));
    x->work = (double)x->pixels.pixels * (double)(c->count + x->wanted_count + 2);
    DB_TRY(scan_all(x));
    DB_TRY(resolve_check(x));
    return compare_all(x);
}

/* A check, for which only its first members are given. */
static db_check *start_check(db_context *context, const db_experiment *experiment,
                             const db_gradient_check_options *options) {
    db_check *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    /* the progress of the check's many plans is not reported */
    c->context = *context;
    c->context.progress = NULL;
    c->experiment = experiment;
    c->options = options;
    return c;
}

db_status db_gradient_check(db_context *context, const db_experiment *experiment,
                            const db_parameter *parameters, size_t parameter_count,
                            const db_gradient_check_options *options, db_gradient_check_row *rows,
                            db_gradient_check_extent *out) {
    if (parameter_count < 1 || parameter_count >= DB_CHECK_MOST)
        return db_fail(context, DB_ERROR_USAGE, "a check: expected 1 to %d parameters, found %zu",
                       DB_CHECK_MOST - 1, parameter_count);
    db_check *const c = start_check(context, experiment, options);
    if (!c) return db_fail_memory(context, "a check");
    c->parameters = parameters;
    c->count = parameter_count;
    extent x = { .context = context, .check = c };
    const db_status status = run_gradient_check(&x);
    if (status == DB_OK) {
        for (size_t k = 0; k <= parameter_count; k++) fill_row(&x, k, &rows[k]);
        fill_extent(&x, out);
    } else
        db_record_message(context, "%s", c->context.message);
    db_check_pixels_clear(&x.pixels);
    free(c);
    return status;
}

enum { SOME_SOURCES = 3, SOME_REFLECTIONS = 4 };

/* The node nearest to the middle of a strip, for its first source and sample. */
static void node_at(const db_plan *plan, const db_region *strip, int node[3]) {
    const db_kernel_panel *panel = &plan->job.panel[strip->panel];
    const db_kernel_source_double *source = plan->job.source_double;
    const int middle = strip->fast_start + strip->fast_count / 2;
    const double fast = (middle + 0.5) * panel->pixel_size[0],
                 slow = (strip->slow_start + 0.5) * panel->pixel_size[1];
    double x[3], square = 0;
    for (int c = 0; c < 3; c++) {
        x[c] = panel->origin[c] + fast * panel->fast[c] + slow * panel->slow[c];
        square += x[c] * x[c];
    }
    for (int r = 0; r < 3; r++) {
        double h = 0;
        for (int c = 0; c < 3; c++)
            h += plan->job.sample_double[0].lattice[3 * r + c] *
                 (source->kappa * x[c] / sqrt(square) - source->s0[c]);
        node[r] = (int)rint(h);
    }
}

static void add_once(const db_experiment *e, db_parameter parameter, db_parameter *list,
                     size_t *count) {
    for (size_t i = 0; i < *count; i++)
        if (list[i] == parameter) return;
    if (db_parameter_exists(e, parameter)) list[(*count)++] = parameter;
}

/* Adds the parameters of the brightest spots in closed form. */
static db_status add_spots(db_plan *plan, const db_experiment *e, size_t most, db_parameter *list,
                           size_t *count) {
    db_spot_place *places;
    size_t found;
    DB_TRY(db_spot_places(plan, &places, &found));
    for (size_t i = 0; i < found && *count < most; i++) {
        const int *hkl = plan->job.spots.entry[places[i].spot].name.hkl;
        add_once(e, db_parameter_amplitude(hkl[0], hkl[1], hkl[2]), list, count);
    }
    free(places);
    return DB_OK;
}

static db_status add_reflections(db_check *c, const db_check_pixels *spots, db_parameter *list,
                                 size_t *count) {
    const size_t most = *count + SOME_REFLECTIONS;
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan;
    options.regions = spots->strip;
    options.region_count = spots->strips;
    DB_TRY(db_plan_create_on_processor(&c->context, c->experiment, &options, &plan));
    db_status status = DB_OK;
    if (plan->spots) status = add_spots(plan, c->experiment, most, list, count);
    /* the spots come last, the brightest first */
    for (size_t i = spots->strips / 8; !plan->spots && i < spots->strips && *count < most; i++) {
        int node[3];
        node_at(plan, &spots->strip[i], node);
        add_once(c->experiment, db_parameter_amplitude(node[0], node[1], node[2]), list, count);
    }
    db_plan_destroy(&plan);
    return status;
}

/* f' and f'' next to the beam's energy. */
static void add_curves(const db_experiment *e, db_parameter *list, size_t *count) {
    const db_site_kinds *const sites = e->structure_factors.sites;
    const int most = SOME_REFLECTIONS / 2; /* in place of reflections, which then are none */
    for (int k = 0; k < db_site_count(&e->structure_factors) && k < most; k++) {
        const db_site_kind *const kind = &sites->kind[k];
        size_t point = 0;
        while (point + 2 < kind->count &&
               kind->energy[point + 1] <= DB_EV_ANGSTROM / e->beam.wavelength)
            point++;
        add_once(e, db_parameter_site_curve(k, 0, point), list, count);
        add_once(e, db_parameter_site_curve(k, 1, point + 1), list, count);
    }
}

db_status db_gradient_check_beyond_table(db_context *context, const db_experiment *e,
                                         const db_gradient_check_options *options,
                                         db_parameter *list, size_t *count) {
    const size_t sources = e->beam.source_count;
    *count = 0;
    for (size_t i = 0; sources > 1 && i < SOME_SOURCES; i++)
        add_once(e, db_parameter_source_weight(i * (sources - 1) / (SOME_SOURCES - 1)), list,
                 count);
    add_curves(e, list, count);
    if (!e->structure_factors.amplitude || e->structure_factors.sites) return DB_OK;
    db_check *const c = start_check(context, e, options);
    if (!c) return db_fail_memory(context, "a check");
    extent x = { .context = context, .check = c };
    c->count = 1;
    db_status status = db_experiment_check(&c->context, e);
    if (status == DB_OK) status = find_dearness(&x);
    if (status == DB_OK) status = choose_pixels(c, &x);
    if (status == DB_OK) status = add_reflections(c, &x.pixels, list, count);
    if (status != DB_OK) db_record_message(context, "%s", c->context.message);
    db_check_pixels_clear(&x.pixels);
    free(c);
    return status;
}
