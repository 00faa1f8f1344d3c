/* Random deviates of a block of pixels: the generator's rounds and the short cuts of normal.h and poisson.h in
 * loops over pixels; the other pixels one by one. */
#ifdef DB_HAVE_RANDOM123

#include "noise/deviates.h"

#include "noise/pixel_chain.h"

/* Streams of pixels of a row, which differ only by columns. */
typedef struct row_stream {
    uint32_t seed, stream, panel, slow;
} row_stream;

typedef struct block_pairs {
    double first[NOISE_BLOCK], second[NOISE_BLOCK];
} block_pairs;

static double uniform_of(uint32_t high, uint32_t low) {
    /* noise_uniform without a conversion of 64 bits, which few processors have for vectors: the sum of
     * both halves is a whole number below 2^52, and exact */
    return ((double)(int32_t)(high >> 6) * 67108864.0 + (double)(int32_t)(low >> 6) + 0.5) *
           (1.0 / 4503599627370496.0);
}

/* noise_next_pair for some pixels, each with its number of earlier draws. */
static void draw_pairs(const row_stream *s, uint32_t drawn, const uint32_t *fast, int count,
                       block_pairs *pairs) {
    uint32_t a[NOISE_BLOCK], b[NOISE_BLOCK], c[NOISE_BLOCK], d[NOISE_BLOCK];
    uint32_t one = s->seed, two = s->stream;
    for (int i = 0; i < count; i++) {
        a[i] = fast[i];
        b[i] = s->slow;
        c[i] = s->panel;
        d[i] = drawn;
    }
    for (int round = 0; round < PHILOX4x32_DEFAULT_ROUNDS; round++) {
        for (int i = 0; i < count; i++) {
            const uint64_t p = (uint64_t)PHILOX_M4x32_0 * a[i], q = (uint64_t)PHILOX_M4x32_1 * c[i];
            a[i] = (uint32_t)(q >> 32) ^ b[i] ^ one;
            c[i] = (uint32_t)(p >> 32) ^ d[i] ^ two;
            b[i] = (uint32_t)q;
            d[i] = (uint32_t)p;
        }
        one += PHILOX_W32_0;
        two += PHILOX_W32_1;
    }
    for (int i = 0; i < count; i++) {
        pairs->first[i] = uniform_of(a[i], b[i]);
        pairs->second[i] = uniform_of(c[i], d[i]);
    }
}

/* noise_normal for some pixels; those whose pair is refused draw again. */
static void draw_normals(const row_stream *s, const uint32_t *columns, int count, double *normal) {
    uint32_t fast[NOISE_BLOCK];
    int place[NOISE_BLOCK], refused[NOISE_BLOCK] = { 0 };
    double form[NOISE_BLOCK], ratio[NOISE_BLOCK];
    block_pairs pairs;
    for (int i = 0; i < count; i++) {
        fast[i] = columns[i];
        place[i] = i;
    }
    for (uint32_t drawn = 0; count > 0; drawn++) {
        draw_pairs(s, drawn, fast, count, &pairs);
        for (int i = 0; i < count; i++) {
            const double u = pairs.first[i], v = noise_normal_across(pairs.second[i]);
            form[i] = noise_normal_form(u, v);
            ratio[i] = v / u;
        }
        int doubtful = 0, left = 0;
        for (int i = 0; i < count; i++) { /* no branches: one of four is refused */
            normal[place[i]] = ratio[i];
            refused[doubtful] = i;
            doubtful += !(form[i] < NOISE_NORMAL_INNER);
        }
        for (int k = 0; k < doubtful; k++) {
            const int i = refused[k];
            if (noise_normal_accepts(pairs.first[i], noise_normal_across(pairs.second[i])))
                continue;
            fast[left] = fast[i];
            place[left++] = place[i];
        }
        count = left;
    }
}

/* Multiplies means of some pixels by their sensitivity. */
static void weigh_means(const noise_chain *c, int slow, const uint32_t *fast, int count,
                        double *mean) {
    const row_stream s = { c->calibration_seed, NOISE_STREAM_CALIBRATION, c->panel,
                           (uint32_t)slow };
    double normal[NOISE_BLOCK];
    draw_normals(&s, fast, count, normal);
    for (int i = 0; i < count; i++) mean[i] *= 1 + c->calibration * normal[i];
}

/* noise_poisson_search for a block, for the first steps. */
typedef struct block_search {
    double mean[NOISE_BLOCK]; /* 0 for pixels that take another way */
    double rest[NOISE_BLOCK], p[NOISE_BLOCK], k[NOISE_BLOCK];
} block_search;

enum { FIRST_STEPS = 4 };

static void search_first(block_search *b, int count) {
    for (int i = 0; i < count; i++) b->p[i] = portable_exp(-b->mean[i]);
    for (int i = 0; i < count; i++) {
        double rest = b->rest[i], p = b->p[i], k = 0;
        /* a pixel that continues has passed all earlier steps */
        for (int step = 1; step <= FIRST_STEPS; step++) {
            const int on = rest > p;
            const double next = p * (b->mean[i] / step);
            rest -= on ? p : 0;
            k += on ? 1 : 0;
            p = on ? next : p;
        }
        b->rest[i] = rest;
        b->p[i] = p;
        b->k[i] = k;
    }
}

/* noise_photons for some pixels with means above 0. */
static void draw_photons(const noise_chain *c, int slow, const uint32_t *fast, int count,
                         double *mean, double *photons) {
    const row_stream s = { c->seed, NOISE_STREAM_PHOTONS, c->panel, (uint32_t)slow };
    block_pairs pairs;
    block_search b;
    if (c->calibration > 0) weigh_means(c, slow, fast, count, mean);
    draw_pairs(&s, 0, fast, count, &pairs);
    for (int i = 0; i < count; i++) {
        b.mean[i] = mean[i] > 0 && mean[i] < DB_NOISE_POISSON_INVERSION ? mean[i] : 0;
        b.rest[i] = pairs.first[i];
    }
    search_first(&b, count);
    for (int i = 0; i < count; i++) {
        if (b.mean[i] > 0) {
            photons[i] = b.rest[i] > b.p[i]
                             ? noise_poisson_search(b.rest[i], mean[i], b.p[i], FIRST_STEPS)
                             : b.k[i];
            continue;
        }
        noise_stream alone = noise_stream_at(s.seed, s.stream, s.panel, fast[i], s.slow);
        photons[i] = noise_poisson(&alone, mean[i]);
    }
}

static void expose_block(const noise_chain *c, int fast, int slow, int count, const float *expected,
                         double *light) {
    uint32_t column[NOISE_BLOCK] = { 0 };
    double mean[NOISE_BLOCK] = { 0 }, photons[NOISE_BLOCK] = { 0 };
    int some = 0;
    for (int i = 0; i < count; i++) {
        const double all = (double)expected[i] * c->beam;
        light[i] = c->noisy ? 0 : all;
        column[some] = (uint32_t)(fast + i);
        mean[some] = all;
        some += all > 0;
    }
    if (!c->noisy || some == 0) return;
    draw_photons(c, slow, column, some, mean, photons);
    for (int i = 0; i < some; i++) light[column[i] - (uint32_t)fast] = photons[i];
}

void noise_photons_of_row(const noise_chain *c, int fast, int slow, int count,
                          const float *expected, double *light) {
    for (int done = 0; done < count; done += NOISE_BLOCK) {
        const int now = count - done < NOISE_BLOCK ? count - done : NOISE_BLOCK;
        expose_block(c, fast + done, slow, now, expected + done, light + done);
    }
}

void noise_signals_of_block(const noise_chain *c, int fast, int slow, int count,
                            const double *light, double *signal) {
    for (int i = 0; i < count; i++) signal[i] = light[i] * c->gain + c->adc;
    if (!c->noisy || !(c->readout > 0)) return;
    const row_stream s = { c->seed, NOISE_STREAM_READOUT, c->panel, (uint32_t)slow };
    uint32_t column[NOISE_BLOCK] = { 0 };
    double normal[NOISE_BLOCK];
    for (int i = 0; i < count; i++) column[i] = (uint32_t)(fast + i);
    draw_normals(&s, column, count, normal);
    for (int i = 0; i < count; i++) signal[i] += c->readout * normal[i];
}

#else
typedef int noise_deviates_unused;
#endif
