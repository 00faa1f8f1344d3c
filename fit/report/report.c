/* Fills the page's frame; images go in as packed, compressed base64. */
#include "fit/report/report.h"

#include "base/base64.h"
#include "base/context_internal.h"
#include "base/text_stream.h"

#include <stdint.h>

#if defined(DB_HAVE_PNG)
#include <zlib.h>
#endif

/* The files of fit/report/page, embedded. */
extern const char db_page_frame[], db_page_style[], db_page_script[], db_view_script[];

const db_page db_report_page = {
    .title = "dualbragg fit",
    .otherwise = "Files with the name of this page contain the results: the text log (.log), all "
                 "numbers (.json),\nthe refined model (.yaml) and, for one image, a picture of "
                 "measured and model image (.png).",
    .script = db_page_script
};
const db_page db_view_page = { .title = "dualbragg view",
                               .otherwise =
                                   "dualbragg view IMAGE -o image.png makes a picture without any.",
                               .script = db_view_script };

static void print_part(const db_page *page, const char *mark, FILE *stream) {
    const struct {
        const char *name, *text;
    } parts[] = { { "{{style}}", db_page_style },
                  { "{{script}}", page->script },
                  { "{{title}}", page->title },
                  { "{{otherwise}}", page->otherwise } };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strncmp(mark, parts[i].name, strlen(parts[i].name)) == 0) fputs(parts[i].text, stream);
}

static db_status print_page(db_context *context, const db_page *page,
                            db_status (*print_data)(db_context *context, const void *of,
                                                    FILE *stream),
                            const void *of, FILE *stream) {
    const char *from = db_page_frame;
    for (const char *mark; (mark = strstr(from, "{{")) != NULL; from = strstr(mark, "}}") + 2) {
        fwrite(from, 1, (size_t)(mark - from), stream);
        if (strncmp(mark, "{{data}}", 8) == 0)
            DB_TRY(print_data(context, of, stream));
        else
            print_part(page, mark, stream);
    }
    fputs(from, stream);
    return DB_OK;
}

db_status db_page_write(db_context *context, const char *path, const db_page *page,
                        db_status (*print_data)(db_context *context, const void *of, FILE *stream),
                        const void *of) {
    db_text_stream text;
    DB_TRY(db_text_stream_open(context, &text));
    const db_status status = print_page(context, page, print_data, of, text.stream);
    return db_text_stream_write(context, &text, status, path);
}

db_status db_page_print_document(db_context *context, const char *id, db_document *document,
                                 FILE *stream) {
    fprintf(stream, "<script type=\"application/json\" id=\"%s\">", id);
    DB_TRY(db_document_print(context, document, stream));
    fputs("</script>\n", stream);
    return DB_OK;
}

enum { BYTES = 3 };                     /* bytes of a number: counts reach millions */
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
static void print_base64(FILE *stream, const unsigned char *bytes, size_t count) {
    for (size_t i = 0; i < count; i += 3) {
        char group[4];
        db_base64_group(bytes + i, count - i, group);
        fwrite(group, 1, sizeof group, stream);
    }
}

static const uint32_t MISSING = 0xffffff;

static uint32_t number_of(const db_packing *p, float value) {
    const double v = p->logarithmic ? log2((double)value) : (double)value;
    if (!isfinite(v)) return MISSING;
    return (uint32_t)fmin(fmax(nearbyint((v - p->offset) / p->unit), 0), LARGEST);
}

/* Groups bytes of one significance, which resemble each other. Differences from the last number are folded: 0, -1,
 * 1, -2, 2 ... become 0, 1, 2, 3, 4 ... */
static void spread_bytes(const float *values, size_t count, const db_packing *packing,
                         uint8_t *bytes) {
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
#endif

int db_page_prints_images(void) {
#if defined(DB_HAVE_PNG)
    return 1;
#else
    return 0;
#endif
}

db_status db_page_print_image(db_context *context, const char *id, const float *values, int fast,
                              int slow, const db_packing *packing, FILE *stream) {
#if defined(DB_HAVE_PNG)
    const size_t count = (size_t)fast * (size_t)slow;
    uint8_t *const bytes = malloc(BYTES * count + 1);
    uint8_t *packed = NULL;
    size_t packed_count = 0;
    int made = 0;
    if (bytes) {
        spread_bytes(values, count, packing, bytes);
        made = compress_bytes(bytes, BYTES * count, &packed, &packed_count);
    }
    if (made) {
        fprintf(stream,
                "<script type=\"text/plain\" id=\"%s\" data-fast=\"%d\" data-slow=\"%d\" "
                "data-offset=\"%.17g\" data-unit=\"%.17g\" data-logarithmic=\"%d\" "
                "data-smooth=\"%d\">",
                id, fast, slow, packing->offset, packing->unit, packing->logarithmic,
                packing->smooth);
        print_base64(stream, packed, packed_count);
        fputs("</script>\n", stream);
    }
    free(packed);
    free(bytes);
    return made ? DB_OK : db_fail_memory(context, "the report's images");
#else
    (void)context, (void)id, (void)values, (void)fast, (void)slow, (void)packing, (void)stream;
    return DB_OK;
#endif
}
