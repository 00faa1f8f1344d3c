/* How alike two images of the same shape are. */
#ifndef DB_CLI_IMAGE_COMPARISON_H
#define DB_CLI_IMAGE_COMPARISON_H

#include <stddef.h>
#include <stdint.h>

/* A pixel agrees if |b - a| <= absolute + relative x |a| + of_brightest x (largest |a|). */
typedef struct db_comparison_bounds {
    double absolute, relative, of_brightest;
} db_comparison_bounds;

/* Of the pixels that count: those that no mask leaves out and that are finite in both images, or
 * else in one of them, which then differ beyond any bound and are in no sum. Sums, means and
 * differences are NAN if there are none. */
typedef struct db_comparison {
    size_t pixels, left_out; /* that count, and the others */
    size_t one_sided;        /* finite in one image only */
    double sum[2], mean[2], largest[2];
    double correlation; /* Pearson's; NAN where an image does not vary */
    double rms;         /* of b - a */
    double difference;  /* b - a where its size is largest; the first place of equals */
    size_t place;       /* of this pixel, and of the brightest ones */
    size_t largest_place[2];
    double at_place[2]; /* both images there */
    size_t beyond;      /* pixels that do not agree, one-sided ones included */
    double share;       /* beyond / pixels; 0 without pixels */
} db_comparison;

/* left_out: other than 0 where a pixel is not to count. */
db_comparison db_compare_images(const float *a, const float *b, const uint8_t *left_out,
                                size_t count, const db_comparison_bounds *bounds);

/* The factor on b that brings it closest to a; NAN if b is 0 everywhere. */
double db_closest_scale(const float *a, const float *b, const uint8_t *left_out, size_t count);

#endif
