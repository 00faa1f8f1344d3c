#include "bench/convergence.h"

#include "base/context_internal.h"
#include "bench/gaussian_samples.h"
#include "bench/library_calls.h"
#include "bench/workloads.h"

#include <math.h>
#include <stdlib.h>

/* Pixels along each side of the detector and of the crop; where the crop starts. */
enum { DETECTOR = 1024, CROP = 128, FIRST = 640 };
/* Of each half of the reference. */
enum { REFERENCE_DOMAINS = 16384, QUICK_REFERENCE_DOMAINS = 256, REFERENCE_OVERSAMPLE = 8 };
enum { FEWEST_CALLS = 5, MOST_CALLS = 200, QUICK_LIMIT = 1000 };

/* Seconds after which a call is not repeated any more, but for the fewest calls. */
static const double LONG_ENOUGH = 0.2;

static const char CLOSED[] = "closed form", RANDOM[] = "random samples",
                  EVEN[] = "low-discrepancy samples";

static const db_bench_convergence_point points[DB_BENCH_CONVERGENCE_POINTS] = {
    { .method = CLOSED, .oversample = 1 },
    { .method = CLOSED, .oversample = 2 },
    { .method = CLOSED, .oversample = 4 },
    { .method = RANDOM, .domains = 25, .oversample = 2 },
    { .method = RANDOM, .domains = 250, .oversample = 2 },
    { .method = RANDOM, .domains = 1111, .oversample = 3 },
    { .method = RANDOM, .domains = 6250, .oversample = 4 },
    { .method = EVEN, .domains = 25, .oversample = 2 },
    { .method = EVEN, .domains = 250, .oversample = 2 },
    { .method = EVEN, .domains = 1111, .oversample = 3 },
    { .method = EVEN, .domains = 6250, .oversample = 4 },
};

typedef struct {
    db_context *context;
    size_t pixels;
    float *image;
    double *reference, *half[2];
    double peak;
} bench;

/* Cubic cell of 100 A, 5 cells of Gaussian spots, 1 A, 100 mm, mosaic rotations of 0.2 degree rms;
 * turned, so that spots on both sides of the sphere are seen. */
static db_status open_caller(const bench *b, const db_bench_convergence_point *p, int size,
                             db_precision precision, db_bench_caller *caller) {
    const db_bench_load load = { .wavelength = 1, .shape = DB_SHAPE_GAUSS };
    const db_bench_workload workload = { .size = DETECTOR, .load = &load };
    *caller = (db_bench_caller){ .context = b->context, .precision = precision };
    caller->regions = calloc(1, sizeof *caller->regions);
    if (!caller->regions) return db_fail_memory(b->context, "a region");
    *caller->regions = (db_region){ .fast_start = FIRST,
                                    .slow_start = FIRST,
                                    .fast_count = size,
                                    .slow_count = size,
                                    .stride = (size_t)size };
    caller->region_count = 1;
    DB_TRY(db_bench_experiment(b->context, &workload, &caller->experiment));
    db_experiment *e = &caller->experiment;
    e->crystal.misset[1] = 20;
    e->crystal.misset[2] = 30;
    e->oversample = p->oversample;
    e->spread.mosaic = 0.2 * 0.2;
    if (p->domains) {
        const db_spread spread = e->spread;
        e->crystal.mosaic_spread = sqrt(spread.mosaic);
        e->crystal.mosaic_domains = p->domains;
        e->spread.mosaic = 0;
    } else {
        e->spread.spots = DB_SPOTS_CLOSED;
    }
    return db_bench_caller_start(caller);
}

static void use_domains(db_bench_caller *caller, const db_bench_convergence_point *p,
                        unsigned seed) {
    if (p->domains)
        db_bench_gaussian_domains(
            caller->plan, p->method == RANDOM ? DB_BENCH_RANDOM : DB_BENCH_LOW_DISCREPANCY, seed);
}

/* Adds `part` of an image. */
static db_status add_image(bench *b, const db_bench_convergence_point *p, int size, int half,
                           double part) {
    db_bench_caller caller;
    db_status status = open_caller(b, p, size, DB_PRECISION_DOUBLE, &caller);
    if (status == DB_OK) {
        use_domains(&caller, p, 1000 + (unsigned)half);
        status = db_bench_render(&caller, b->image);
    }
    for (size_t i = 0; i < b->pixels && status == DB_OK; i++)
        b->half[half][i] += part * (double)b->image[i];
    db_bench_caller_close(&caller);
    return status;
}

/* What a number of sub-pixels leaves out falls as one over its square: half as many tell how much. */
static db_status render_half(bench *b, db_bench_convergence_point many, int size, int half) {
    DB_TRY(add_image(b, &many, size, half, 4.0 / 3));
    many.oversample /= 2;
    return add_image(b, &many, size, half, -1.0 / 3);
}

static db_status make_reference(bench *b, int quick, db_bench_convergence *r) {
    const db_bench_convergence_point many = { .method = EVEN,
                                              .domains = quick ? QUICK_REFERENCE_DOMAINS
                                                               : REFERENCE_DOMAINS,
                                              .oversample = REFERENCE_OVERSAMPLE };
    double squares = 0, most = 0;
    r->reference_domains = 2 * many.domains;
    r->reference_oversample = many.oversample;
    for (int half = 0; half < 2; half++) DB_TRY(render_half(b, many, r->size, half));
    for (size_t i = 0; i < b->pixels; i++) {
        const double off = (b->half[0][i] - b->half[1][i]) / 2;
        b->reference[i] = (b->half[0][i] + b->half[1][i]) / 2;
        b->peak = fmax(b->peak, b->reference[i]);
        most = fmax(most, fabs(off));
        squares += off * off;
    }
    r->reference_rms = sqrt(squares / (double)b->pixels) / b->peak;
    r->reference_largest = most / b->peak;
    return DB_OK;
}

/* Errors: the mean square over a few sets of samples. */
static db_status measure_errors(bench *b, db_bench_caller *caller, db_bench_convergence_point *p) {
    const int sets = p->domains ? 4 : 1;
    double squares = 0, largest = 0;
    for (int set = 0; set < sets; set++) {
        use_domains(caller, p, (unsigned)set);
        DB_TRY(db_bench_render(caller, b->image));
        double most = 0;
        for (size_t i = 0; i < b->pixels; i++) {
            const double off = (double)b->image[i] - b->reference[i];
            squares += off * off;
            most = fmax(most, fabs(off));
        }
        largest += most * most;
    }
    p->rms = sqrt(squares / (double)b->pixels / sets) / b->peak;
    p->largest = sqrt(largest / sets) / b->peak;
    return DB_OK;
}

static db_status measure_point(bench *b, int size, db_bench_convergence_point *p) {
    const db_bench_images images = { .image = b->image };
    db_bench_caller caller;
    db_status status = open_caller(b, p, size, DB_PRECISION_MIXED, &caller);
    if (status == DB_OK) status = measure_errors(b, &caller, p);
    const double first = db_bench_seconds();
    p->seconds = INFINITY;
    for (int i = 0; i < MOST_CALLS && status == DB_OK; i++) {
        const double begin = db_bench_seconds();
        if (i >= FEWEST_CALLS && begin - first > LONG_ENOUGH) break;
        status = db_bench_call_warm(&caller, DB_BENCH_IMAGE, &images);
        p->seconds = fmin(p->seconds, db_bench_seconds() - begin);
    }
    db_bench_caller_close(&caller);
    return status;
}

static db_status measure(bench *b, int quick, db_bench_convergence *r) {
    DB_TRY(make_reference(b, quick, r));
    for (int i = 0; i < DB_BENCH_CONVERGENCE_POINTS; i++) {
        db_bench_convergence_point *p = &r->point[r->count];
        if (quick && points[i].domains * points[i].oversample > QUICK_LIMIT) continue;
        *p = points[i];
        DB_TRY(measure_point(b, r->size, p));
        r->count++;
    }
    return DB_OK;
}

db_status db_bench_converge(db_context *context, const db_bench_options *options,
                            db_bench_convergence *r) {
    bench b = { .context = context };
    r->size = options->quick ? CROP / 4 : CROP;
    b.pixels = (size_t)r->size * (size_t)r->size;
    b.image = malloc(b.pixels * sizeof *b.image);
    b.reference = calloc(3 * b.pixels, sizeof *b.reference);
    db_status status = b.image && b.reference ? DB_OK : db_fail_memory(context, "images");
    for (int half = 0; half < 2 && status == DB_OK; half++)
        b.half[half] = b.reference + (size_t)(1 + half) * b.pixels;
    if (status == DB_OK) status = measure(&b, options->quick, r);
    free(b.image);
    free(b.reference);
    return status;
}
