/* An image and one derivative image per parameter, in doubles. */
#ifndef DB_TESTS_GRADIENT_IMAGES_H
#define DB_TESTS_GRADIENT_IMAGES_H

#include <dualbragg/dualbragg.h>

typedef struct images {
    size_t pixels;
    double *image, *derivative[DB_PARAMETER_COUNT];
} images;

/* Zero-filled, and free of charge to the caller's error handling: allocation failure fails the
 * test. */
images images_create(size_t pixels);
void images_destroy(images *i);

double largest(const double *values, size_t count);
double largest_difference(const double *a, const double *b, size_t count);

#endif
