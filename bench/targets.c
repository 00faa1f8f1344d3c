#include "bench/targets.h"

#include "bench/measure.h"

#include <math.h>
#include <string.h>

/* Times and the ratio to the reference are asked for with this number of threads. */
enum { THREADS = 2 };

/* NULL if there is no such row. */
static const db_bench_row *find(const db_bench_results *results, const char *load, int size,
                                db_precision precision) {
    for (int i = 0; i < results->row_count; i++) {
        const db_bench_row *row = &results->rows[i];
        if (strcmp(row->workload.load->key, load) == 0 && row->precision == precision &&
            (row->workload.size == size || !size))
            return row;
    }
    return NULL;
}

/* Shortest time (ms) of a warm image; NAN if it was not measured. */
static double warm_image(const db_bench_results *results, const char *load, int size,
                         db_precision precision) {
    const db_bench_row *row =
        results->threads == THREADS ? find(results, load, size, precision) : NULL;
    return row ? 1e3 * db_bench_summarize(&row->timing[DB_BENCH_FORWARD_WARM]).minimum : NAN;
}

static double whole_program(const db_bench_results *results) {
    const db_bench_row *row =
        results->threads == THREADS ? find(results, "still", 4096, DB_PRECISION_MIXED) : NULL;
    return row ? db_bench_minimum_ratio(&row->reference, &row->program) : NAN;
}

/* Of a load's mixed rows. */
static double largest_ratio(const db_bench_results *results, const char *load) {
    double largest = NAN;
    for (int i = 0; i < results->row_count; i++) {
        const db_bench_row *row = &results->rows[i];
        if (strcmp(row->workload.load->key, load) != 0 || row->precision != DB_PRECISION_MIXED)
            continue;
        largest = fmax(largest, db_bench_minimum_ratio(&row->timing[DB_BENCH_GRADIENT_WARM],
                                                       &row->timing[DB_BENCH_FORWARD_WARM]));
    }
    return largest;
}

static double boxes_over_block(const db_bench_results *results) {
    const db_bench_row *boxes = find(results, "boxes", 0, DB_PRECISION_MIXED),
                       *block = find(results, "block", 0, DB_PRECISION_MIXED);
    if (!boxes || !block) return NAN;
    return db_bench_minimum_ratio(&boxes->timing[DB_BENCH_FORWARD_WARM],
                                  &block->timing[DB_BENCH_FORWARD_WARM]);
}

/* Mixed; ms of a call with spots in closed form. */
static double spots(const db_bench_results *results, db_bench_scene scene, const char *key) {
    const db_bench_spots_row *row =
        results->threads == THREADS && !results->options.quick
            ? db_bench_spots_find(&results->spots, scene, key, DB_PRECISION_MIXED)
            : NULL;
    return row ? 1e3 * db_bench_summarize(&row->time).minimum : NAN;
}

/* The large scene, over its image. */
static double spots_ratio(const db_bench_results *results, const char *key) {
    return spots(results, DB_BENCH_THAUMATIN, key) / spots(results, DB_BENCH_THAUMATIN, "image");
}

static double probes(const db_bench_results *results, db_bench_probe above, db_bench_probe below) {
    return db_bench_minimum_ratio(&results->probe[above], &results->probe[below]);
}

static db_bench_rounding worst_rounding(const db_bench_results *results) {
    db_bench_rounding worst = { .in_double = NAN, .mixed = NAN };
    for (int i = 0; i < results->rounding_count; i++) {
        worst.in_double = fmax(worst.in_double, results->rounding[i].in_double);
        worst.mixed = fmax(worst.mixed, results->rounding[i].mixed);
    }
    return worst;
}

static db_bench_heap most_heap(const db_bench_results *results) {
    db_bench_heap most = { 0 };
    for (int i = 0; i < results->row_count; i++) {
        const db_bench_heap *heap = &results->rows[i].warm_heap;
        if (heap->calls > most.calls) most.calls = heap->calls;
        if (heap->bytes > most.bytes) most.bytes = heap->bytes;
    }
    for (int i = 0; results->spots.measured && i < DB_BENCH_SPOTS_ROWS; i++) {
        const db_bench_heap *heap = &results->spots.row[i].heap;
        if (heap->calls > most.calls) most.calls = heap->calls;
        if (heap->bytes > most.bytes) most.bytes = heap->bytes;
    }
    return most;
}

void db_bench_judge(const db_bench_results *r, db_bench_target targets[DB_BENCH_TARGETS]) {
    const db_precision d = DB_PRECISION_DOUBLE, m = DB_PRECISION_MIXED;
    const db_bench_heap heap = most_heap(r);
    const db_bench_rounding rounding = worst_rounding(r);
    const double cold_start = 1e3 * db_bench_summarize(&r->cold_start).minimum;
    const db_bench_target list[DB_BENCH_TARGETS] = {
        { "4096² image, 1 sample, mixed, 2 threads", " ms", 12, 0, warm_image(r, "still", 4096, m),
          0 },
        { "4096² image, 1 sample, double, 2 threads", " ms", 30, 0, warm_image(r, "still", 4096, d),
          0 },
        { "1024² image, 100 samples, mixed, 2 threads", " ms", 35, 0,
          warm_image(r, "mosaic", 1024, m), 0 },
        { "1024² image, 100 samples, double, 2 threads", " ms", 75, 0,
          warm_image(r, "mosaic", 1024, d), 0 },
        { "reference / dualbragg sim, whole programs, 4096², 1 sample, mixed", "", 12, 1,
          whole_program(r), 0 },
        { "from the start of the program to a 512² image on disk", " ms", 20, 0, cold_start, 0 },
        { "16 derivative images / image, 1 sample, mixed", "", 4, 0, largest_ratio(r, "still"), 0 },
        { "16 derivative images / image, 100 samples, mixed", "", 2.8, 0,
          largest_ratio(r, "mosaic"), 0 },
        { "normal equations of 16 parameters / image, 1 sample, mixed", "", 4.5, 0,
          probes(r, DB_BENCH_NORMAL_1, DB_BENCH_IMAGE_1), 0 },
        { "normal equations of 16 parameters / image, 100 samples, mixed", "", 2.8, 0,
          probes(r, DB_BENCH_NORMAL_100, DB_BENCH_IMAGE_100), 0 },
        { "normal equations of 32 parameters / 16, 100 samples, mixed", "", 1.15, 0,
          probes(r, DB_BENCH_NORMAL_32, DB_BENCH_NORMAL_16), 0 },
        { "1 thread / 2 threads, image of 100 samples, mixed", "", 1.9, 1,
          probes(r, DB_BENCH_ONE_THREAD, DB_BENCH_TWO_THREADS), 0 },
        { "AVX2 / AVX-512, image of 100 samples, mixed", "", 2.2, 0,
          probes(r, DB_BENCH_AVX2, DB_BENCH_AVX512), 0 },
        { "error of pixels above 1e-6 of the maximum, double, all loads", "", 2e-7, 0,
          rounding.in_double, 0 },
        { "error / maximum, mixed, all loads", "", 1e-6, 0, rounding.mixed, 0 },
        { "memory of the program beyond its image", " MB", 16, 0, 1e-6 * r->peak_memory, 0 },
        { "200 shoeboxes / one block of as many pixels", "", 1.1, 0, boxes_over_block(r), 0 },
        { "closed form, small crystal, 1024² image, mixed", " ms", 3, 0,
          spots(r, DB_BENCH_PUBLISHED, "image"), 0 },
        { "the same, aim", " ms", 1.5, 0, spots(r, DB_BENCH_PUBLISHED, "image"), 0 },
        { "closed form, thaumatin, 4096² image, mixed", " ms", 20, 0,
          spots(r, DB_BENCH_THAUMATIN, "image"), 0 },
        { "the same, aim", " ms", 8, 0, spots(r, DB_BENCH_THAUMATIN, "image"), 0 },
        { "16 derivative images / image, thaumatin", "", 4, 0, spots_ratio(r, "derivatives_16"),
          0 },
        { "normal equations of 16 parameters / image, thaumatin", "", 2.5, 0,
          spots_ratio(r, "normal_16"), 0 },
        { "normal equations of 40 parameters / image, thaumatin", "", 3, 0,
          spots_ratio(r, "normal_40"), 0 },
        { "closed form, 400 shoeboxes of 17 x 17, normal equations of 20 parameters, mixed", " ms",
          2, 0, spots(r, DB_BENCH_SHOT, "normal_20"), 0 },
        { "allocations, most of all rows", "", 0, 0, (double)heap.calls, 0 },
        { "heap growth, most of all rows", " byte", 0, 0, (double)heap.bytes, 0 },
    };
    for (int i = 0; i < DB_BENCH_TARGETS; i++) {
        targets[i] = list[i];
        targets[i].reached = list[i].at_least ? list[i].measured >= list[i].limit
                                              : list[i].measured <= list[i].limit;
    }
}
