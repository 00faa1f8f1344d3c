/* Predicts the time of a plan's call, for "auto". If device and processor are about as fast, either will do.
 * Samples are predicted to a factor of 2. Spots in closed form took 0.06 to 2.7 times the prediction
 * (bench/README.md, "spots in closed form"): it cannot know how many overlap, or how much of a detector has none. */
#include "engine/device_plan.h"

#include "base/threads.h"

/* Times (s) of one thread with AVX-512, in double and mixed precision: bench/README.md, "Realistic loads", which
 * has times of two threads. derivative_of_sample: a derivative image's time as a fraction of a sample's, with 16
 * derivatives; derivative: the time to form and store its pixel. */
static const struct {
    double sample, pixel, derivative_of_sample, derivative;
} pace[2] = { { 1.05e-9, 3e-9, 0.09, 1e-9 }, { 0.5e-9, 2e-9, 0.08, 0.6e-9 } };

/* More of general jobs, where layers of a sensor are samples of few (s), and its part by derivative. */
static const double GENERAL_SAMPLE = 5e-9, GENERAL_DERIVATIVE = 0.1;

/* Spots in closed form, in shoeboxes: of a pixel and of each of its derivatives. */
static const double CLOSED_PIXEL = 8e-9, CLOSED_DERIVATIVE = 2e-9;

/* Sums of boxes, with any vectors: of a pixel in all rounds of the search for its box's coefficients, and
 * of each product of its derivatives. */
static const double BOX_PIXEL = 20e-9, BOX_PRODUCT = 0.25e-9;

/* Factors for narrower vectors: the baseline (SSE2, NEON), AVX2, AVX-512. */
static const double narrower[] = { 4, 2, 1 };

db_device_load db_device_load_of(const db_plan *plan) {
    const double each = plan->job.pixel_type == DB_FLOAT32 ? sizeof(float) : sizeof(double);
    db_device_load load = { .derivatives = (double)plan->parameters.count,
                            .mixed = plan->precision == DB_PRECISION_MIXED,
                            .closed = plan->spots != NULL,
                            .general = plan->job.general,
                            .threads = db_threads(plan->context) };
    for (size_t i = 0; i < plan->tiles.region_count; i++)
        load.pixels +=
            (double)plan->tiles.regions[i].fast_count * plan->tiles.regions[i].slow_count;
    load.samples = load.pixels * db_samples_per_pixel(&plan->experiment);
    load.bytes = load.pixels * (1 + load.derivatives) * each;
    return load;
}

db_device_load db_device_load_of_boxes(const db_plan *plan) {
    const double n = (double)plan->parameters.count,
                 sums = n + DB_LINEAR + 0.5 * n * (n + 1); /* gradient and triangle */
    db_device_load load = db_device_load_of(plan);
    load.boxes = (double)plan->tiles.given_count;
    load.bytes = load.boxes * ((double)sizeof(db_box_solution) + sums * (double)sizeof(double));
    return load;
}

static double sampled_seconds(const db_device_load *load) {
    const double n = load->derivatives, samples = load->samples * pace[load->mixed].sample,
                 pixels =
                     load->pixels * (pace[load->mixed].pixel + pace[load->mixed].derivative * n);
    return samples * (1 + pace[load->mixed].derivative_of_sample * n) + pixels +
           (load->general ? load->samples * GENERAL_SAMPLE * (1 + GENERAL_DERIVATIVE * n) : 0);
}

static double box_seconds(const db_device_load *load) {
    const double all = load->derivatives + DB_LINEAR;
    return load->boxes > 0 ? load->pixels * (BOX_PIXEL + BOX_PRODUCT * 0.5 * all * (all + 1)) : 0;
}

double db_device_processor_seconds(const db_plan *plan, const db_device_load *load) {
    const double seconds =
        load->closed ? load->samples * (CLOSED_PIXEL + CLOSED_DERIVATIVE * load->derivatives)
                     : sampled_seconds(load);
    return (seconds * narrower[plan->context->isa] + box_seconds(load)) / db_threads(plan->context);
}
