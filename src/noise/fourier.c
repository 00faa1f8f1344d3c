/* Fast Fourier transforms of lengths that are products of 2, 3 and 5. */
#include "noise/fourier.h"

#include "base/context_internal.h"

#include <math.h>
#include <stdlib.h>

int noise_fourier_length(int n) {
    for (;; n++) {
        int rest = n;
        for (int p = 2; p <= 5; p++)
            while (rest % p == 0) rest /= p;
        if (rest == 1) return n;
    }
}

db_status noise_fourier_init(db_context *context, int n, noise_fourier *fourier) {
    fourier->n = n;
    fourier->twiddle = malloc((size_t)n * sizeof *fourier->twiddle);
    if (!fourier->twiddle) return db_fail_memory(context, "a Fourier transform");
    for (int j = 0; j < n; j++) {
        const double angle = -6.283185307179586477 * j / n;
        fourier->twiddle[j] = (noise_complex){ cos(angle), sin(angle) };
    }
    return DB_OK;
}

void noise_fourier_clear(noise_fourier *fourier) {
    free(fourier->twiddle);
    fourier->twiddle = NULL;
}

static noise_complex sum(noise_complex a, noise_complex b) {
    return (noise_complex){ a.re + b.re, a.im + b.im };
}

static noise_complex complex_difference(noise_complex a, noise_complex b) {
    return (noise_complex){ a.re - b.re, a.im - b.im };
}

static noise_complex complex_product(noise_complex a, noise_complex b) {
    return (noise_complex){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

static void butterfly_2(noise_complex *a) {
    const noise_complex b = a[1];
    a[1] = complex_difference(a[0], b);
    a[0] = sum(a[0], b);
}

static void butterfly_4(noise_complex *a) {
    const noise_complex even = sum(a[0], a[2]), even_less = complex_difference(a[0], a[2]),
                        odd = sum(a[1], a[3]), d = complex_difference(a[1], a[3]),
                        odd_less = { d.im, -d.re };
    a[0] = sum(even, odd);
    a[1] = sum(even_less, odd_less);
    a[2] = complex_difference(even, odd);
    a[3] = complex_difference(even_less, odd_less);
}

/* root: exp(-2 pi i j/p), j < p */
static void butterfly(int p, const noise_complex *root, noise_complex *a) {
    noise_complex b[5];
    for (int r = 0; r < p; r++) {
        b[r] = a[0];
        for (int k = 1; k < p; k++) b[r] = sum(b[r], complex_product(a[k], root[k * r % p]));
    }
    for (int r = 0; r < p; r++) a[r] = b[r];
}

/* One step of Stockham's algorithm: `stride` interleaved sequences of length n become
 * p * stride ones of length n/p. */
static void stockham_step(const noise_fourier *f, int p, int n, int stride,
                          const noise_complex *from, noise_complex *to) {
    const int m = n / p;
    noise_complex root[5], a[5];
    for (int j = 0; j < p; j++) root[j] = f->twiddle[f->n / p * j];
    for (int i = 0; i < m; i++)
        for (int q = 0; q < stride; q++) {
            for (int k = 0; k < p; k++) a[k] = from[q + stride * (i + m * k)];
            if (p == 2)
                butterfly_2(a);
            else if (p == 4)
                butterfly_4(a);
            else
                butterfly(p, root, a);
            to[q + stride * p * i] = a[0];
            for (int r = 1; r < p; r++)
                to[q + stride * (p * i + r)] = complex_product(a[r], f->twiddle[i * r * stride]);
        }
}

void noise_fourier_transform(const noise_fourier *fourier, noise_complex *data,
                             noise_complex *scratch) {
    noise_complex *from = data;
    noise_complex *to = scratch;
    int n = fourier->n, stride = 1;
    while (n > 1) {
        const int p = n % 4 == 0 ? 4 : n % 2 == 0 ? 2 : n % 3 == 0 ? 3 : 5;
        stockham_step(fourier, p, n, stride, from, to);
        n /= p;
        stride *= p;
        noise_complex *const spare = from;
        from = to;
        to = spare;
    }
    if (from == data) return;
    for (int j = 0; j < fourier->n; j++) data[j] = from[j];
}
