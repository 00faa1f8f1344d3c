#include "support/unit_test.h"
#include "images.h"

#include <math.h>
#include <stdlib.h>

images images_create(size_t pixels) {
    images i;
    i.pixels = pixels;
    i.image = calloc(pixels, sizeof(double));
    assert_non_null(i.image);
    for (int p = 0; p < MOST_PARAMETERS; p++) {
        i.derivative[p] = calloc(pixels, sizeof(double));
        assert_non_null(i.derivative[p]);
    }
    return i;
}

void images_destroy(images *i) {
    free(i->image);
    for (int p = 0; p < MOST_PARAMETERS; p++) free(i->derivative[p]);
}

double largest(const double *values, size_t count) {
    double m = 0;
    for (size_t i = 0; i < count; i++) {
        assert_true(isfinite(values[i]));
        m = fmax(m, fabs(values[i]));
    }
    return m;
}

double largest_difference(const double *a, const double *b, size_t count) {
    double m = 0;
    for (size_t i = 0; i < count; i++) {
        assert_true(isfinite(a[i]) && isfinite(b[i]));
        m = fmax(m, fabs(a[i] - b[i]));
    }
    return m;
}
