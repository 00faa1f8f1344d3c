/* Quantiles of pixel values by counting digits, and of numbers by parts that are smaller, equal and larger. */
#include "base/quantile.h"

#include "base/context_internal.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 65536 };

/* Unsigned integers in the order of the floats, and back. */
static uint32_t ordered_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

static float from_ordered_bits(uint32_t ordered) {
    const uint32_t bits = ordered & 0x80000000u ? ordered & 0x7fffffffu : ~ordered;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The digit at which the running count passes rank; reduces rank to the rank within the digit. */
static uint32_t select_digit(const size_t *histogram, size_t *rank) {
    uint32_t digit = 0;
    while (*rank >= histogram[digit]) *rank -= histogram[digit++];
    return digit;
}

/* The value with this rank, by the upper 16 bits (with a given histogram), then the lower ones. */
static float select_rank(const float *values, size_t count, const size_t *upper, size_t rank,
                         size_t *lower) {
    const uint32_t high_digit = select_digit(upper, &rank);
    memset(lower, 0, DIGITS * sizeof *lower);
    for (size_t i = 0; i < count; i++) {
        const uint32_t bits = ordered_bits(values[i]);
        if (isfinite(values[i]) && bits >> 16 == high_digit) lower[bits & 0xffffu]++;
    }
    return from_ordered_bits(high_digit << 16 | select_digit(lower, &rank));
}

db_status db_quantiles(db_context *context, const float *values, size_t count, double low_share,
                       double high_share, float *low, float *high) {
    *low = *high = 0;
    size_t *upper = calloc(2 * DIGITS, sizeof *upper);
    if (!upper) return db_fail_memory(context, "quantiles");
    size_t finite = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i])) {
            upper[ordered_bits(values[i]) >> 16]++;
            finite++;
        }
    if (finite > 0) {
        const double last = (double)(finite - 1);
        *low = select_rank(values, count, upper, (size_t)floor(low_share * last), upper + DIGITS);
        *high = select_rank(values, count, upper, (size_t)ceil(high_share * last), upper + DIGITS);
    }
    free(upper);
    return DB_OK;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

void db_sort_numbers(double *values, size_t count) {
    qsort(values, count, sizeof *values, by_value);
}

static double middle_of(double a, double b, double c) {
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

static void exchange(double *a, double *b) {
    const double kept = *a;
    *a = *b;
    *b = kept;
}

/* C. A. R. Hoare, Commun. ACM 4, 321 (1961): only the part with the rank is divided again. Equal numbers are a part of their
 * own, because counts of pixels often are. */
double db_ranked(double *values, size_t count, size_t rank) {
    size_t first = 0, end = count;
    while (first < end) {
        const double pivot =
            middle_of(values[first], values[first + (end - first) / 2], values[end - 1]);
        size_t smaller = first, larger = end;
        for (size_t i = first; i < larger;)
            if (values[i] < pivot)
                exchange(&values[smaller++], &values[i++]);
            else if (values[i] > pivot)
                exchange(&values[i], &values[--larger]);
            else
                i++;
        if (rank >= smaller && rank < larger) return pivot;
        if (rank < smaller)
            end = smaller;
        else
            first = larger;
    }
    return NAN;
}

double db_median(double *values, size_t count) {
    if (count == 0) return NAN;
    const double upper = db_ranked(values, count, count / 2);
    double lower = upper;
    if (count % 2 == 0) {
        lower = values[0];
        for (size_t i = 1; i < count / 2; i++) lower = fmax(lower, values[i]);
    }
    return 0.5 * (lower + upper);
}
