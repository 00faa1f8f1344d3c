/* Weights of a box's pixels on the processor, row by row. */
#include "loss/box_weight.h"

/* Rows of a box, with an empty one before and one after, and sums of them. */
typedef struct smoothing {
    float *counts; /* [rows + 2][width]: sums of threes along rows, of own pixels */
    float *number; /* [rows + 2][width]: number of own pixels in these sums */
    float *kept;   /* [width + 2]: a row, with zeros at both ends */
} smoothing;

static void sum_threes(const float *restrict padded, size_t count, float *restrict sums) {
    for (size_t i = 0; i < count; i++)
        sums[i] = db_sum_three(padded[i], padded[i + 1], padded[i + 2]);
}

static void smooth_row(const unsigned char *restrict own, const float *restrict value, size_t width,
                       size_t at, smoothing *s) {
    float *const restrict kept = s->kept + 1;
    for (size_t f = 0; f < width; f++) kept[f] = own[f] ? value[f] : 0;
    sum_threes(s->kept, width, s->counts + at);
    for (size_t f = 0; f < width; f++) kept[f] = own[f] ? 1 : 0;
    sum_threes(s->kept, width, s->number + at);
}

/* counts, number: three rows of sums, the middle one for the row itself. */
static void weigh_row(const db_box_noise *noise, size_t width, const float *restrict counts,
                      const float *restrict number, const unsigned char *restrict own,
                      const float *restrict level, float *restrict shape_variance,
                      float *restrict weight) {
    const db_box_noise by = *noise;
    for (size_t f = 0; f < width; f++) {
        const float near = db_sum_rows(number[f], number[width + f], number[2 * width + f]);
        const float all = db_sum_rows(counts[f], counts[width + f], counts[2 * width + f]);
        const db_box_weight w = db_box_weight_of(&by, all, near, level[f]);
        shape_variance[f] = own[f] ? w.shape_variance : 0;
        weight[f] = own[f] ? w.weight : 0;
    }
}

void db_box_weigh(const db_box_noise *noise, size_t width, size_t rows, const unsigned char *own,
                  const float *value, const float *background, float *room, float *shape_variance,
                  float *weight) {
    const size_t sums = (rows + 2) * width;
    smoothing s = { room, room + sums, room + 2 * sums };
    for (size_t row = 0; row < rows; row++)
        smooth_row(own + row * width, value + row * width, width, (row + 1) * width, &s);
    for (size_t row = 0; row < rows; row++) {
        const size_t at = row * width;
        weigh_row(noise, width, s.counts + at, s.number + at, own + at, background + at,
                  shape_variance + at, weight + at);
    }
}
