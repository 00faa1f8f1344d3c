/* What "auto" predicts that a GPU takes is what one took, within a factor of two: whole calls on an H200 with 16 cores, results
 * in ordinary memory (bench/README.md, "On a GPU"). */
#include "support/unit_test.h"

#include "cuda/operations.h"

#include <string.h>

/* ms: measured */
typedef struct {
    const char *work;
    double ms;
    db_device_load load;
} measured;

enum { MIXED = 1, THREADS = 16 };
static const double MEGA = 1024 * 1024, FLOAT = 4;

static measured image(const char *work, double ms, double megapixels, double samples,
                      double derivatives, int mixed) {
    const double pixels = megapixels * MEGA;
    return (measured){ work,
                       ms,
                       { .pixels = pixels,
                         .samples = samples * pixels,
                         .derivatives = derivatives,
                         .bytes = pixels * (1 + derivatives) * FLOAT,
                         .mixed = mixed,
                         .threads = THREADS } };
}

static measured closed(measured m) {
    m.load.closed = 1;
    return m;
}

/* 400 shoeboxes of 17 x 17 pixels, sums by a number of parameters. */
static measured boxes(const char *work, double ms, double samples, double derivatives) {
    measured m = image(work, ms, 400 * 17 * 17 / MEGA, samples, derivatives, MIXED);
    const double all = derivatives + DB_LINEAR;
    m.load.boxes = 400;
    m.load.bytes = 400 * 8 * (all + all * (all + 1) / 2);
    return m;
}

/* Sums come back, and no images. */
static measured sums(measured m) {
    m.load.bytes = 0;
    return m;
}

static void expect_near(const measured *m) {
    const double predicted = 1e3 * db_cuda_backend.operations->seconds(&m->load);
    if (predicted > 2 * m->ms || m->ms > 2 * predicted)
        fail_msg("%s: predicted %.3g ms, measured %.3g ms", m->work, predicted, m->ms);
}

static void predictions_are_what_was_measured(void **state) {
    (void)state;
    const measured table[] = {
        image("1024 x 1024, double", 0.250, 1, 1, 0, 0),
        image("1024 x 1024", 0.238, 1, 1, 0, MIXED),
        image("1024 x 1024, 100 samples, double", 0.771, 1, 100, 0, 0),
        image("1024 x 1024, 100 samples", 0.501, 1, 100, 0, MIXED),
        image("4096 x 4096, double", 3.10, 16, 1, 0, 0),
        image("4096 x 4096", 3.28, 16, 1, 0, MIXED),
        image("16 derivatives, 1024 x 1024, double", 3.35, 1, 1, 16, 0),
        image("16 derivatives, 1024 x 1024", 3.37, 1, 1, 16, MIXED),
        image("16 derivatives, 1024 x 1024, 100 samples, double", 5.15, 1, 100, 16, 0),
        image("16 derivatives, 4096 x 4096, double", 54.8, 16, 1, 16, 0),
        image("16 derivatives, 4096 x 4096", 55.8, 16, 1, 16, MIXED),
        image("100 domains, 512 x 512", 0.168, 0.25, 100, 0, MIXED),
        image("1000 domains, 1024 x 1024", 4.38, 1, 1000, 0, MIXED),
        boxes("sums of shoeboxes, 25 samples, 9 parameters", 0.272, 25, 9),
        closed(boxes("closed, sums of shoeboxes, 20 parameters", 0.458, 1, 20)),
        closed(image("closed, 1024 x 1024", 0.373, 1, 1, 0, MIXED)),
        closed(sums(image("closed, 1024 x 1024, stays", 0.156, 1, 1, 0, MIXED))),
        closed(image("closed, 1024 x 1024, 16 derivatives", 3.63, 1, 1, 16, MIXED)),
        closed(sums(image("closed, 1024 x 1024, 16 derivatives, stay", 0.707, 1, 1, 16, MIXED))),
        closed(sums(image("closed, 1024 x 1024, normal equations of 16", 0.694, 1, 1, 16, MIXED))),
        closed(image("closed, 4096 x 4096", 3.22, 16, 1, 0, MIXED)),
        closed(sums(image("closed, 4096 x 4096, stays", 0.395, 16, 1, 0, MIXED))),
        closed(image("closed, 4096 x 4096, 16 derivatives", 51.8, 16, 1, 16, MIXED)),
        closed(sums(image("closed, 4096 x 4096, 16 derivatives, stay", 1.82, 16, 1, 16, MIXED))),
        closed(sums(image("closed, 4096 x 4096, normal equations of 16", 2.43, 16, 1, 16, MIXED))),
        closed(sums(image("closed, 4096 x 4096, normal equations of 40", 5.96, 16, 1, 40, MIXED))),
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) expect_near(&table[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(predictions_are_what_was_measured) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
