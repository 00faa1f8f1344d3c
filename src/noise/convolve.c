/* Convolution of a real image with a real, even kernel. Two real rows share one complex transform. One half of
 * their symmetric spectra is kept, column by column. */
#include "base/context_internal.h"
#include "base/threads.h"
#include "noise/fourier.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct convolution {
    int threads;
    int fast, slow, half; /* padded lengths; columns of the half spectrum */
    noise_fourier row, column;
    noise_complex *spectrum; /* half columns of `slow` elements */
    double *response;        /* the kernel's spectrum, real as the kernel is even */
    noise_complex *scratch;  /* per thread: twice the longer of fast and slow */
} convolution;

/* Source of a transform: rows of an image, or of the kernel around the origin, wrapped around. */
typedef struct source {
    const double *image;
    const double *quarter;
    int fast_pixels, slow_pixels, radius;
} source;

static void load_image_row(const source *s, int slow, noise_complex *row, int imaginary) {
    if (slow >= s->slow_pixels) return;
    const double *from = s->image + (size_t)slow * (size_t)s->fast_pixels;
    for (int x = 0; x < s->fast_pixels; x++)
        if (imaginary)
            row[x].im = from[x];
        else
            row[x].re = from[x];
}

static void load_kernel_row(const source *s, const convolution *c, int slow, noise_complex *row,
                            int imaginary) {
    const int distance = slow <= c->slow / 2 ? slow : c->slow - slow;
    if (distance > s->radius) return;
    const double *from = s->quarter + (size_t)distance * ((size_t)s->radius + 1);
    for (int x = -s->radius; x <= s->radius; x++) {
        noise_complex *const to = &row[x < 0 ? x + c->fast : x];
        *(imaginary ? &to->im : &to->re) = from[x < 0 ? -x : x];
    }
}

static void load_row(const source *s, const convolution *c, int slow, noise_complex *row,
                     int imaginary) {
    if (slow >= c->slow) return;
    if (s->quarter)
        load_kernel_row(s, c, slow, row, imaginary);
    else
        load_image_row(s, slow, row, imaginary);
}

static noise_complex *thread_scratch(const convolution *c, int thread) {
    const size_t longest = (size_t)(c->fast > c->slow ? c->fast : c->slow);
    return c->scratch + 2 * longest * (size_t)thread;
}

/* Transforms rows `slow` and `slow` + 1, and writes the spectra into the columns. */
static void row_pair_forward(const convolution *c, const source *s, int slow, int thread) {
    noise_complex *const row = thread_scratch(c, thread);
    memset(row, 0, (size_t)c->fast * sizeof *row);
    load_row(s, c, slow, row, 0);
    load_row(s, c, slow + 1, row, 1);
    noise_fourier_transform(&c->row, row, row + c->fast);
    for (int k = 0; k < c->half; k++) {
        const noise_complex a = row[k], b = row[k ? c->fast - k : 0];
        noise_complex *const to = c->spectrum + (size_t)k * (size_t)c->slow + slow;
        to[0] = (noise_complex){ 0.5 * (a.re + b.re), 0.5 * (a.im - b.im) };
        if (slow + 1 < c->slow) to[1] = (noise_complex){ 0.5 * (a.im + b.im), 0.5 * (b.re - a.re) };
    }
}

/* Transforms back; the spectra are conjugated, so that the forward transform is the inverse. */
static void row_pair_back(const convolution *c, int slow, int thread, double *image,
                          int fast_pixels, int slow_pixels) {
    noise_complex *const row = thread_scratch(c, thread);
    const int both = slow + 1 < slow_pixels;
    for (int k = 0; k < c->half; k++) {
        const noise_complex *from = c->spectrum + (size_t)k * (size_t)c->slow + slow;
        const noise_complex a = from[0], b = both ? from[1] : (noise_complex){ 0, 0 };
        row[k] = (noise_complex){ a.re - b.im, a.im + b.re };
        if (k) row[c->fast - k] = (noise_complex){ a.re + b.im, b.re - a.im };
    }
    noise_fourier_transform(&c->row, row, row + c->fast);
    const double factor = 1.0 / ((double)c->fast * (double)c->slow);
    for (int x = 0; x < fast_pixels; x++) {
        const size_t pixel = (size_t)slow * (size_t)fast_pixels + (size_t)x;
        image[pixel] = fmax(0, row[x].re * factor);
        if (both) image[pixel + (size_t)fast_pixels] = fmax(0, row[x].im * factor);
    }
}

static void rows_forward(const convolution *c, const source *s) {
#pragma omp parallel for schedule(static) num_threads(c->threads)
    for (int slow = 0; slow < c->slow; slow += 2) row_pair_forward(c, s, slow, db_thread_number());
}

static void rows_back(const convolution *c, const source *s, double *image) {
#pragma omp parallel for schedule(static) num_threads(c->threads)
    for (int slow = 0; slow < s->slow_pixels; slow += 2)
        row_pair_back(c, slow, db_thread_number(), image, s->fast_pixels, s->slow_pixels);
}

static void kernel_columns(const convolution *c) {
#pragma omp parallel for schedule(static) num_threads(c->threads)
    for (int k = 0; k < c->half; k++) {
        noise_complex *const column = c->spectrum + (size_t)k * (size_t)c->slow;
        noise_fourier_transform(&c->column, column, thread_scratch(c, db_thread_number()));
        for (int y = 0; y < c->slow; y++)
            c->response[(size_t)k * (size_t)c->slow + (size_t)y] = column[y].re;
    }
}

/* Transform, product with the kernel's spectrum, and transform back. This gives the conjugate of the rows'
 * spectra: conjugated again, the rows are also transformed back by a forward transform. */
static void image_columns(const convolution *c) {
#pragma omp parallel for schedule(static) num_threads(c->threads)
    for (int k = 0; k < c->half; k++) {
        noise_complex *const column = c->spectrum + (size_t)k * (size_t)c->slow;
        const double *response = c->response + (size_t)k * (size_t)c->slow;
        noise_fourier_transform(&c->column, column, thread_scratch(c, db_thread_number()));
        for (int y = 0; y < c->slow; y++) {
            column[y].re *= response[y];
            column[y].im *= -response[y];
        }
        noise_fourier_transform(&c->column, column, thread_scratch(c, db_thread_number()));
    }
}

static db_status allocate_rows(db_context *context, convolution *c) {
    const size_t elements = (size_t)c->half * (size_t)c->slow,
                 longest = (size_t)(c->fast > c->slow ? c->fast : c->slow);
    DB_TRY(noise_fourier_init(context, c->fast, &c->row));
    DB_TRY(noise_fourier_init(context, c->slow, &c->column));
    c->spectrum = malloc(elements * sizeof *c->spectrum);
    c->response = malloc(elements * sizeof *c->response);
    c->scratch = malloc((size_t)c->threads * 2 * longest * sizeof *c->scratch);
    if (!c->spectrum || !c->response || !c->scratch)
        return db_fail_memory(context, "the point spread function");
    return DB_OK;
}

static void clear_rows(convolution *c) {
    noise_fourier_clear(&c->row);
    noise_fourier_clear(&c->column);
    free(c->spectrum);
    free(c->response);
    free(c->scratch);
}

db_status noise_convolve(db_context *context, int threads, int fast_pixels, int slow_pixels,
                         double *image, const double *quarter, int radius) {
    /* Padding behind the image receives what the kernel carries across the edges; the kernel must not overlap
     * itself. */
    const int wide = radius < fast_pixels ? fast_pixels : radius + 1,
              high = radius < slow_pixels ? slow_pixels : radius + 1;
    convolution c = { .threads = threads,
                      .fast = noise_fourier_length(wide + radius),
                      .slow = noise_fourier_length(high + radius) };
    c.half = c.fast / 2 + 1;
    const source kernel = { .quarter = quarter, .radius = radius }, pixels = {
        .image = image, .fast_pixels = fast_pixels, .slow_pixels = slow_pixels
    };
    const db_status status = allocate_rows(context, &c);
    if (status == DB_OK) {
        rows_forward(&c, &kernel);
        kernel_columns(&c);
        rows_forward(&c, &pixels);
        image_columns(&c);
        rows_back(&c, &pixels, image);
    }
    clear_rows(&c);
    return status;
}
