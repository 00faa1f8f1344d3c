/* An image and one derivative image per parameter of the table and slot beyond, in doubles. */
#ifndef DB_TESTS_GRADIENT_IMAGES_H
#define DB_TESTS_GRADIENT_IMAGES_H

#include <dualbragg/dualbragg.h>

enum { MOST_PARAMETERS = DB_PARAMETER_COUNT + DB_PARAMETER_SLOTS };

typedef struct images {
    size_t pixels;
    double *image, *derivative[MOST_PARAMETERS];
} images;

/* Zero-filled, and free of charge to the caller's error handling: allocation failure fails the
 * test. */
images images_create(size_t pixels);
void images_destroy(images *i);

double largest(const double *values, size_t count);
double largest_difference(const double *a, const double *b, size_t count);

#endif
