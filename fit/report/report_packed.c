#include "fit/report/report_packed.h"

#include "base/context_internal.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#if defined(DB_HAVE_PNG)
#include <zlib.h>
#endif

enum { BYTES = 3 };                     /* of a number: counts reach millions */
static const double LARGEST = 0x7ffffe; /* differences take one bit more */

db_packing db_packing_for(const float *values, size_t count, double noise) {
    double low = INFINITY, high = -INFINITY;
    int whole = 1;
    for (size_t i = 0; i < count; i++) {
        const double v = (double)values[i];
        if (!isfinite(v)) continue;
        low = fmin(low, v);
        high = fmax(high, v);
        whole = whole && v == nearbyint(v);
    }
    db_packing p = { 0, 1, 0, 0 };
    if (!(low <= high)) return p;
    p.offset = floor(fmin(0, low));
    if (!whole && noise > 0) p.unit = exp2(floor(log2(noise / 16)));
    while ((high - p.offset) / p.unit > LARGEST) p.unit *= 2;
    return p;
}

#if defined(DB_HAVE_PNG)
static const uint32_t MISSING = 0xffffff;

static uint32_t number_of(const db_packing *p, float value) {
    const double v = p->logarithmic ? log2((double)value) : (double)value;
    if (!isfinite(v)) return MISSING;
    return (uint32_t)fmin(fmax(nearbyint((v - p->offset) / p->unit), 0), LARGEST);
}

/* Bytes of one kind after each other, as those of one kind resemble one another. Differences from
 * the last number are folded to 0, -1, 1, -2, 2 ... = 0, 1, 2, 3, 4 ... */
static void spread(const float *values, size_t count, const db_packing *packing, uint8_t *bytes) {
    int64_t last = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t number = number_of(packing, values[i]);
        if (packing->smooth && number != MISSING) {
            const int64_t step = (int64_t)number - last;
            last = number;
            number = (uint32_t)(step < 0 ? -2 * step - 1 : 2 * step);
        }
        for (size_t b = 0; b < BYTES; b++) bytes[b * count + i] = (uint8_t)(number >> 8 * b);
    }
}

/* Run lengths and Huffman codes: noise offers no more. */
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
#endif

db_status db_html_packed(const db_html_report *report, const char *id, const float *values,
                         int fast_pixels, int slow_pixels, const db_packing *packing) {
#if defined(DB_HAVE_PNG)
    const size_t count = (size_t)fast_pixels * (size_t)slow_pixels;
    uint8_t *const bytes = malloc(BYTES * count), *packed = NULL;
    size_t packed_count = 0;
    int made = 0;
    if (bytes) {
        spread(values, count, packing, bytes);
        made = compress_bytes(bytes, BYTES * count, &packed, &packed_count);
    }
    if (made) {
        fprintf(report->stream,
                "<script type=\"text/plain\" id=\"%s\" data-fast=\"%d\" data-slow=\"%d\" "
                "data-offset=\"%.17g\" data-unit=\"%.17g\" data-logarithmic=\"%d\" "
                "data-smooth=\"%d\">",
                id, fast_pixels, slow_pixels, packing->offset, packing->unit, packing->logarithmic,
                packing->smooth);
        db_html_base64(report->stream, packed, packed_count);
        fputs("</script>\n", report->stream);
    }
    free(packed);
    free(bytes);
    return made ? DB_OK : db_fail_memory(report->context, "the report's images");
#else
    (void)report, (void)id, (void)values, (void)fast_pixels, (void)slow_pixels, (void)packing;
    return DB_OK;
#endif
}
