#include "fit/report/packed_image.h"

#include "base/base64.h"
#include "base/context_internal.h"
#include "base/threads.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#if defined(DB_HAVE_PNG)
#include <zlib.h>
#endif

enum { BYTES = 3 };                     /* bytes of a number: counts reach millions */
static const double LARGEST = 0x7ffffe; /* differences take one bit more */

/* Added and taken away again, it leaves a whole number, halves to even; of doubles below 2^51. */
static const double WHOLE = 6755399441055744;

static inline int is_whole_number(float value) {
    const double v = (double)value;
    return (v + WHOLE) - WHOLE == v;
}

/* Least and largest finite values, and whether all of these are whole numbers; of each eighth value. */
enum { LANES = 8 };
typedef struct value_range {
    float low[LANES], high[LANES];
    int broken[LANES];
} value_range;

static inline void take_value(value_range *r, int lane, float v) {
    const int is_finite = fabsf(v) <= FLT_MAX;
    r->low[lane] = (is_finite & (v < r->low[lane])) ? v : r->low[lane];
    r->high[lane] = (is_finite & (v > r->high[lane])) ? v : r->high[lane];
    r->broken[lane] |= is_finite & !is_whole_number(v);
}

db_packing db_packing_for(const float *values, size_t count, double noise) {
    value_range r;
    double low = INFINITY, high = -INFINITY;
    int broken = 0;
    for (int k = 0; k < LANES; k++) {
        r.low[k] = INFINITY;
        r.high[k] = -INFINITY;
        r.broken[k] = 0;
    }
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int k = 0; k < LANES; k++) take_value(&r, k, values[i + (size_t)k]);
    for (; i < count; i++) take_value(&r, 0, values[i]);
    for (int k = 0; k < LANES; k++) {
        low = fmin(low, (double)r.low[k]);
        high = fmax(high, (double)r.high[k]);
        broken |= r.broken[k];
    }
    db_packing p = { 0, 1, 0, 0 };
    if (!(low <= high)) return p;
    p.offset = floor(fmin(0, low));
    if (broken && noise > 0) p.unit = exp2(floor(log2(noise / 16)));
    while ((high - p.offset) / p.unit > LARGEST) p.unit *= 2;
    return p;
}

int db_page_prints_images(void) {
#if defined(DB_HAVE_PNG)
    return 1;
#else
    return 0;
#endif
}

#if defined(DB_HAVE_PNG)
static void print_base64(FILE *stream, const unsigned char *bytes, size_t count) {
    enum { GROUPS = 1024 };
    char text[4 * GROUPS];
    size_t used = 0;
    for (size_t i = 0; i < count; i += 3) {
        db_base64_group(bytes + i, count - i, text + used);
        used += 4;
        if (used < sizeof text && i + 3 < count) continue;
        fwrite(text, 1, used, stream);
        used = 0;
    }
}

static const uint32_t MISSING = 0xffffff;

enum { CHUNK = 1024 };

static void number_values(const float *values, size_t count, const db_packing *p,
                          uint32_t numbers[CHUNK]) {
    double v[CHUNK];
    for (size_t i = 0; i < count; i++) v[i] = (double)values[i];
    for (size_t i = 0; i < count && p->logarithmic; i++) v[i] = log2(v[i]);
    for (size_t i = 0; i < count; i++) {
        const double number = (v[i] - p->offset) / p->unit,
                     within = number > 0 ? (number < LARGEST ? number : LARGEST) : 0;
        const uint32_t whole = (uint32_t)(int32_t)((within + WHOLE) - WHOLE);
        numbers[i] = fabs(v[i]) <= DBL_MAX ? whole : MISSING;
    }
}

/* Differences from the last number are folded: 0, -1, 1, -2, 2 ... become 0, 1, 2, 3, 4 ... Returns the last one. */
static int32_t fold_numbers(uint32_t *numbers, size_t count, int32_t last) {
    for (size_t i = 0; i < count; i++) {
        if (numbers[i] == MISSING) continue;
        const int32_t step = (int32_t)numbers[i] - last;
        last = (int32_t)numbers[i];
        numbers[i] = (uint32_t)(step < 0 ? -2 * step - 1 : 2 * step);
    }
    return last;
}

/* Groups bytes of one significance, which resemble each other. */
static void spread_bytes(const float *values, size_t count, const db_packing *packing,
                         uint8_t *bytes) {
    uint32_t numbers[CHUNK];
    int32_t last = 0;
    for (size_t from = 0; from < count; from += CHUNK) {
        const size_t next = count - from < CHUNK ? count - from : CHUNK;
        number_values(values + from, next, packing, numbers);
        if (packing->smooth) last = fold_numbers(numbers, next, last);
        for (size_t b = 0; b < BYTES; b++)
            for (size_t i = 0; i < next; i++)
                bytes[b * count + from + i] = (uint8_t)(numbers[i] >> 8 * b);
    }
}

/* Run lengths and Huffman codes; noise has no more to compress. */
static int compress_bytes(uint8_t *bytes, size_t count, uint8_t **packed, size_t *packed_count) {
    z_stream z = { 0 };
    *packed = NULL;
    if (deflateInit2(&z, 6, Z_DEFLATED, 15, 9, Z_RLE) != Z_OK) return 0;
    const uLong room = deflateBound(&z, (uLong)count);
    *packed = malloc(room);
    z.next_in = bytes;
    z.avail_in = (uInt)count;
    z.next_out = *packed;
    z.avail_out = (uInt)room;
    const int end = *packed ? deflate(&z, Z_FINISH) : Z_MEM_ERROR;
    *packed_count = z.total_out;
    deflateEnd(&z);
    return end == Z_STREAM_END;
}

typedef struct packed_bytes {
    uint8_t *bytes;
    size_t count;
    int made;
} packed_bytes;

static packed_bytes pack_image(const db_page_image *image) {
    const size_t count = (size_t)image->fast * (size_t)image->slow;
    uint8_t *const bytes = malloc(BYTES * count + 1);
    packed_bytes p = { 0 };
    if (!bytes) return p;
    spread_bytes(image->values, count, &image->packing, bytes);
    p.made = compress_bytes(bytes, BYTES * count, &p.bytes, &p.count);
    free(bytes);
    return p;
}

static void print_packed(const db_page_image *image, const packed_bytes *p, FILE *stream) {
    const db_packing *const packing = &image->packing;
    fprintf(stream,
            "<script type=\"text/plain\" id=\"%s\" data-fast=\"%d\" data-slow=\"%d\" "
            "data-offset=\"%.17g\" data-unit=\"%.17g\" data-logarithmic=\"%d\" "
            "data-smooth=\"%d\">",
            image->id, image->fast, image->slow, packing->offset, packing->unit,
            packing->logarithmic, packing->smooth);
    print_base64(stream, p->bytes, p->count);
    fputs("</script>\n", stream);
}
#endif

db_status db_page_print_images(db_context *context, const db_page_image *images, int count,
                               FILE *stream) {
#if defined(DB_HAVE_PNG)
    packed_bytes packed[DB_PAGE_IMAGES];
    int made = 1;
    const int threads = db_threads_for(context, count);
    (void)threads;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int i = 0; i < count; i++) packed[i] = pack_image(&images[i]);
    for (int i = 0; i < count; i++) {
        made = made && packed[i].made;
        if (made) print_packed(&images[i], &packed[i], stream);
        free(packed[i].bytes);
    }
    return db_need_memory(context, made, "the report's images");
#else
    (void)context, (void)images, (void)count, (void)stream;
    return DB_OK;
#endif
}
