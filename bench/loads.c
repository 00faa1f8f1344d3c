#include "bench/loads.h"

#include <string.h>

/* 25 domains within 1 degree, 4 steps of the spindle. Sweeps do not start at 0 degree: at an angle
 * of exactly 0 some programs that understand these flags repeat the orientation of another step. */
#define HUNDRED_SAMPLES                                                                            \
    .mosaic_domains = 25, .mosaic_spread = 1, .phi_steps = 4, .phi = 0.1, .osc = 1
#define SHAPE(key_, name_, shape_, cells_)                                                         \
    { .key = key_, .name = name_, .size = 256, .shape = shape_, .cells = cells_, HUNDRED_SAMPLES }

const db_bench_load db_bench_loads[DB_BENCH_LOADS] = {
    { .key = "still", .name = "a perfect crystal, a still" },
    { .key = "mosaic", .name = "25 mosaic domains, 4 phi steps", HUNDRED_SAMPLES },
    { .key = "sources",
      .name = "2000 sources: 10 x 10 directions, 20 wavelengths",
      .size = 128,
      .divergence_steps = 10,
      .dispersion_steps = 20 },
    { .key = "domains",
      .name = "100 mosaic domains",
      .size = 512,
      .mosaic_domains = 100,
      .mosaic_spread = 1 },
    { .key = "oversample", .name = "4 x 4 sub-pixels", .size = 1024, .oversample = 4 },
    { .key = "phi", .name = "100 phi steps", .size = 512, .phi_steps = 100, .phi = 0.1, .osc = 1 },
    { .key = "list",
      .name = "list of a million structure factors, 100 phi steps over 90 degrees",
      .size = 256,
      .phi_steps = 100,
      .phi = 0.1,
      .osc = 90,
      .wavelength = 0.7,
      .table = 50 },
    { .key = "interpolate",
      .name = "the same list interpolated, 10 phi steps",
      .size = 256,
      .phi_steps = 10,
      .phi = 0.1,
      .osc = 90,
      .wavelength = 0.7,
      .table = 50,
      .interpolate = 1 },
    SHAPE("square30", "square crystal, N = 30, 100 samples", DB_SHAPE_SQUARE, 30),
    SHAPE("square200", "square crystal, N = 200, 100 samples", DB_SHAPE_SQUARE, 200),
    SHAPE("round5", "round crystal, N = 5, 100 samples", DB_SHAPE_ROUND, 5),
    SHAPE("round30", "round crystal, N = 30, 100 samples", DB_SHAPE_ROUND, 30),
    SHAPE("round200", "round crystal, N = 200, 100 samples", DB_SHAPE_ROUND, 200),
    SHAPE("gauss5", "Gaussian crystal, N = 5, 100 samples", DB_SHAPE_GAUSS, 5),
    SHAPE("gauss30", "Gaussian crystal, N = 30, 100 samples", DB_SHAPE_GAUSS, 30),
    SHAPE("gauss200", "Gaussian crystal, N = 200, 100 samples", DB_SHAPE_GAUSS, 200),
    { .key = "large",
      .name = "cell of 250 A, N = 100, wavelength 0.9 A, 100 samples",
      .size = 256,
      .cell = 250,
      .cells = 100,
      .wavelength = 0.9,
      HUNDRED_SAMPLES },
    { .key = "layers", .name = "sensor with 3 layers", .size = 1024, .sensor_layers = 3 },
    { .key = "curved", .name = "curved detector", .size = 1024, .curved = 1 },
    { .key = "water", .name = "water behind the crystal", .size = 1024, .water = 20 },
    { .key = "everything",
      .name = "100 samples, sensor, water: a scene with 32 parameters",
      .size = 256,
      HUNDRED_SAMPLES,
      .sensor_layers = 1,
      .water = 20 },
    { .key = "boxes",
      .name = "200 shoeboxes of 20 x 20 pixels, 100 samples",
      .size = 1024,
      HUNDRED_SAMPLES,
      .boxes = 200,
      .box_fast = 20,
      .box_slow = 20 },
    { .key = "block",
      .name = "one block of 400 x 200 pixels, 100 samples",
      .size = 1024,
      HUNDRED_SAMPLES,
      .boxes = 1,
      .box_fast = 400,
      .box_slow = 200 },
};

const db_bench_load *db_bench_find_load(const char *key, size_t length) {
    for (int i = 0; i < DB_BENCH_LOADS; i++) {
        const char *own = db_bench_loads[i].key;
        if (strlen(own) == length && memcmp(own, key, length) == 0) return &db_bench_loads[i];
    }
    return NULL;
}

static double at_least_one(int count) { return count > 1 ? count : 1; }

double db_bench_load_samples(const db_bench_load *load) {
    const double divergence = at_least_one(load->divergence_steps),
                 sub_pixels = at_least_one(load->oversample);
    return divergence * divergence * at_least_one(load->dispersion_steps) *
           at_least_one(load->mosaic_domains) * at_least_one(load->phi_steps) * sub_pixels *
           sub_pixels * at_least_one(load->sensor_layers);
}
