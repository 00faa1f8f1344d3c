/* Reads pages of TIFF files as images, with libtiff. Numbers and rows are taken as stored; tags for colours and
 * orientation are for pictures, and ignored. */
#include "io/images/tiff.h"

#include "base/context_internal.h"

#if defined(DB_HAVE_TIFF)
#include "io/images/cbf.h"
#include "io/images/counts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

/* Pixels of one image, or claims of it. */
static const uint64_t MOST_PIXELS = (uint64_t)1 << 28;

typedef struct page {
    db_context *context;
    const char *path;
    TIFF *tiff;
    char reason[200]; /* what libtiff said first */
    uint32_t width, height;
    uint16_t bits, format, samples, compression;
    db_pixel_kind kind;
    db_counts counts;
} page;

static int keep_reason(TIFF *tiff, void *user, const char *module, const char *format,
                       va_list values) {
    page *const p = user;
    (void)tiff;
    (void)module;
    if (!*p->reason) vsnprintf(p->reason, sizeof p->reason, format, values);
    return 1; /* it is not printed */
}

static int ignore_warning(TIFF *tiff, void *user, const char *module, const char *format,
                          va_list values) {
    (void)tiff;
    (void)user;
    (void)module;
    (void)format;
    (void)values;
    return 1;
}

static db_status fail_damaged(const page *p, const char *what) {
    return db_fail(p->context, DB_ERROR_INPUT, "%s: damaged TIFF image: %s%s%s", p->path, what,
                   *p->reason ? ": " : "", p->reason);
}

static db_status open_tiff(page *p) {
    static const tmsize_t LARGEST_BLOCK = (tmsize_t)1 << 31; /* that libtiff may allocate */
    TIFFOpenOptions *const options = TIFFOpenOptionsAlloc();
    if (!options) return db_fail_memory(p->context, p->path);
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, LARGEST_BLOCK);
    TIFFOpenOptionsSetErrorHandlerExtR(options, keep_reason, p);
    TIFFOpenOptionsSetWarningHandlerExtR(options, ignore_warning, NULL);
    p->tiff = TIFFOpenExt(p->path, "rm", options); /* m: a file may become shorter */
    TIFFOpenOptionsFree(options);
    return p->tiff ? DB_OK : fail_damaged(p, "it cannot be opened");
}

/* Small versions of other pages are no images of their own. */
static int is_preview(TIFF *tiff) {
    uint32_t kind = 0;
    return TIFFGetField(tiff, TIFFTAG_SUBFILETYPE, &kind) && kind & FILETYPE_REDUCEDIMAGE;
}

/* Goes to image `frame` of those there are; 0: the only one. */
static db_status find_page(page *p, long frame) {
    long passed = 0;
    tdir_t first = 0;
    do {
        if (is_preview(p->tiff)) continue;
        if (++passed == 1) first = TIFFCurrentDirectory(p->tiff);
        if (passed == frame) return DB_OK;
    } while ((frame > 0 || passed < 2) && TIFFReadDirectory(p->tiff));
    if (*p->reason) return fail_damaged(p, "a page cannot be read");
    if (frame > 0)
        return db_fail(p->context, DB_ERROR_INPUT, "%s: expected image %ld, found %ld image%s",
                       p->path, frame, passed, passed == 1 ? "" : "s");
    if (passed > 1)
        return db_fail(p->context, DB_ERROR_INPUT,
                       "%s: has several images; name one of them, the first as %s#1", p->path,
                       p->path);
    if (passed == 0 || !TIFFSetDirectory(p->tiff, first)) return fail_damaged(p, "it has no image");
    return DB_OK;
}

/* Compression without loss, by decoders that are made for any numbers. */
static int is_faithful(uint16_t compression) {
    static const uint16_t known[] = { COMPRESSION_NONE,          COMPRESSION_LZW,
                                      COMPRESSION_PACKBITS,      COMPRESSION_DEFLATE,
                                      COMPRESSION_ADOBE_DEFLATE, COMPRESSION_LZMA,
                                      COMPRESSION_ZSTD };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (compression == known[i]) return TIFFIsCODECConfigured(compression);
    return 0;
}

static db_status read_kind(page *p) {
    TIFF *const t = p->tiff;
    TIFFGetField(t, TIFFTAG_IMAGEWIDTH, &p->width);
    TIFFGetField(t, TIFFTAG_IMAGELENGTH, &p->height);
    TIFFGetFieldDefaulted(t, TIFFTAG_BITSPERSAMPLE, &p->bits);
    TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLEFORMAT, &p->format);
    TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLESPERPIXEL, &p->samples);
    TIFFGetFieldDefaulted(t, TIFFTAG_COMPRESSION, &p->compression);
    if (p->width < 1 || p->height < 1 || (uint64_t)p->width * p->height > MOST_PIXELS)
        return db_fail(p->context, DB_ERROR_INPUT,
                       "%s: expected 1 to 2^28 pixels, found a shape of %lu x %lu", p->path,
                       (unsigned long)p->width, (unsigned long)p->height);
    if (p->samples != 1)
        return db_fail(p->context, DB_ERROR_UNSUPPORTED,
                       "%s: expected one number for each pixel, found %d (a colour picture?)",
                       p->path, (int)p->samples);
    if (!is_faithful(p->compression))
        return db_fail(p->context, DB_ERROR_UNSUPPORTED,
                       "%s: expected a TIFF image without compression or by LZW, PackBits, "
                       "deflate, LZMA or zstd, as far as this libtiff has them, found method %d",
                       p->path, (int)p->compression);
    p->kind = p->format == SAMPLEFORMAT_IEEEFP ? DB_PIXELS_FLOAT
              : p->format == SAMPLEFORMAT_INT  ? DB_PIXELS_SIGNED
                                               : DB_PIXELS_UNSIGNED;
    const int is_float = p->kind == DB_PIXELS_FLOAT, bits = p->bits;
    const int known = bits == 32 || bits == 64 || (!is_float && (bits == 8 || bits == 16));
    if (known && (is_float || p->format <= SAMPLEFORMAT_INT || p->format == SAMPLEFORMAT_VOID))
        return DB_OK;
    return db_fail(p->context, DB_ERROR_UNSUPPORTED,
                   "%s: expected integers of 8, 16, 32 or 64 bits or floats of 32 or 64, found %d "
                   "bits of sample format %d",
                   p->path, bits, (int)p->format);
}

/* Detectors of Dectris describe the image as in miniCBF files; there negative numbers are marks. */
static db_status read_header(page *p, db_measured_image *image, int *marks) {
    const char *text = NULL;
    *marks = 0;
    if (!TIFFGetField(p->tiff, TIFFTAG_IMAGEDESCRIPTION, &text) || !text) return DB_OK;
    const char *const lines = db_cbf_mini_header_find(text);
    *marks = lines != NULL;
    return lines ? db_cbf_mini_header_read(p->context, p->path, lines, 0, image) : DB_OK;
}

/* Sets the limits of valid counts: below the type's largest number. */
static void set_limits(page *p, int marks, db_measured_image *image) {
    const int is_signed = p->kind == DB_PIXELS_SIGNED, bits = p->bits - is_signed;
    const double stated = image->overload, largest = ldexp(1, bits) - 1;
    const double end = p->kind == DB_PIXELS_FLOAT ? stated : fmin(stated, largest);
    p->counts = (db_counts){
        .lowest = marks ? 0 : INT64_MIN,
        .highest = (int64_t)fmin(ceil(end) - 1, 9e18),
        /* of 32 bits and more the last two are no counts: a gap, a pixel that does not work */
        .gap = (bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1) - (bits >= 32),
        .gap_is = marks ? DB_MASK_BAD : DB_MASK_OVERLOAD,
        .least = marks ? 0 : -INFINITY,
        .most = nextafter(stated, -INFINITY),
    };
    if (isinf(stated)) p->counts.most = INFINITY;
    image->overload = end;
}

/* Converts a block of pixels; blocks at the edges may be larger than the rest of the image. */
static void place_block(const page *p, const unsigned char *bytes, size_t row_bytes, uint32_t x,
                        uint32_t y, uint32_t width, uint32_t height, db_measured_image *image) {
    const size_t columns = p->width - x < width ? p->width - x : width,
                 rows = p->height - y < height ? p->height - y : height;
    for (size_t r = 0; r < rows; r++) {
        const size_t to = ((size_t)y + r) * p->width + x;
        db_counts_take(&p->counts, p->kind, p->bits / 8, bytes + r * row_bytes, columns,
                       image->value + to, image->mask + to);
    }
}

static db_status fail_block(const page *p, const char *name, uint32_t x, uint32_t y) {
    char what[80];
    snprintf(what, sizeof what, "the %s with pixel %lu %lu cannot be read", name, (unsigned long)x,
             (unsigned long)y);
    return fail_damaged(p, what);
}

/* 1 if a tile or strip is in the file with all its bytes; otherwise libtiff would read other bytes. */
static int is_there(const page *p, uint32_t block, tmsize_t wanted) {
    const uint64_t size = TIFFGetStrileByteCount(p->tiff, block);
    if (TIFFGetStrileOffset(p->tiff, block) == 0) return 0;
    return p->compression == COMPRESSION_NONE ? size >= (uint64_t)wanted : size > 0;
}

static db_status read_tiles(page *p, unsigned char *room, tmsize_t size, uint32_t width,
                            uint32_t height, db_measured_image *image) {
    for (uint32_t y = 0; y < p->height; y += height)
        for (uint32_t x = 0; x < p->width; x += width) {
            const uint32_t tile = TIFFComputeTile(p->tiff, x, y, 0, 0);
            if (!is_there(p, tile, size) || TIFFReadEncodedTile(p->tiff, tile, room, size) != size)
                return fail_block(p, "tile", x, y);
            place_block(p, room, (size_t)size / height, x, y, width, height, image);
        }
    return DB_OK;
}

static db_status read_strips(page *p, unsigned char *room, tmsize_t size, uint32_t height,
                             db_measured_image *image) {
    const tmsize_t row = TIFFScanlineSize(p->tiff);
    for (uint32_t y = 0; y < p->height; y += height) {
        const uint32_t rows = p->height - y < height ? p->height - y : height;
        const uint32_t strip = TIFFComputeStrip(p->tiff, y, 0);
        const tmsize_t wanted = row * (tmsize_t)rows;
        if (!is_there(p, strip, wanted) ||
            TIFFReadEncodedStrip(p->tiff, strip, room, size) < wanted)
            return fail_block(p, "strip", 0, y);
        place_block(p, room, (size_t)row, 0, y, p->width, rows, image);
    }
    return DB_OK;
}

/* Checks the size of tiles or strips: as the pixels need, and not more than the largest image. */
static db_status read_pixels(page *p, db_measured_image *image) {
    const int tiled = TIFFIsTiled(p->tiff);
    uint32_t width = p->width, height = p->height;
    if (tiled) {
        TIFFGetField(p->tiff, TIFFTAG_TILEWIDTH, &width);
        TIFFGetField(p->tiff, TIFFTAG_TILELENGTH, &height);
    } else {
        TIFFGetFieldDefaulted(p->tiff, TIFFTAG_ROWSPERSTRIP, &height);
        if (height > p->height) height = p->height;
    }
    const uint64_t pixels = (uint64_t)width * height;
    if (width < 1 || height < 1 || width > INT32_MAX || height > INT32_MAX || pixels > MOST_PIXELS)
        return fail_damaged(p, "tiles or strips of an impossible size");
    const tmsize_t size = (tmsize_t)(pixels * (p->bits / 8U));
    if ((tiled ? TIFFTileSize(p->tiff) : TIFFVStripSize(p->tiff, height)) != size)
        return fail_damaged(p, "tiles or strips of an unexpected size");
    unsigned char *const room = malloc((size_t)size);
    if (!room) return db_fail_memory(p->context, p->path);
    const db_status status = tiled ? read_tiles(p, room, size, width, height, image)
                                   : read_strips(p, room, size, height, image);
    free(room);
    return status;
}

static db_status read_page(page *p, long frame, db_measured_image *image) {
    int marks;
    DB_TRY(find_page(p, frame));
    DB_TRY(read_kind(p));
    DB_TRY(read_header(p, image, &marks));
    set_limits(p, marks, image);
    DB_TRY(db_image_allocate(p->context, p->path, p->width, p->height, image));
    DB_TRY(read_pixels(p, image));
    if (!marks) db_decide_marks(image);
    return DB_OK;
}

db_status db_tiff_read(db_context *context, const char *path, long frame,
                       db_measured_image *image) {
    page p = { .context = context, .path = path };
    DB_TRY(open_tiff(&p));
    const db_status status = read_page(&p, frame, image);
    TIFFClose(p.tiff);
    return status;
}

db_status db_tiff_count(db_context *context, const char *path, size_t *count) {
    page p = { .context = context, .path = path };
    *count = 0;
    DB_TRY(open_tiff(&p));
    do *count += !is_preview(p.tiff);
    while (TIFFReadDirectory(p.tiff));
    const db_status status = *p.reason    ? fail_damaged(&p, "a page cannot be read")
                             : *count < 1 ? fail_damaged(&p, "it has no image")
                                          : DB_OK;
    TIFFClose(p.tiff);
    return status;
}
#else
static db_status refuse_tiff(db_context *context, const char *path) {
    return db_fail(context, DB_ERROR_UNSUPPORTED,
                   "%s: this build does not read TIFF: it needs libtiff 4.5 or later when it is "
                   "configured (Debian: libtiff-dev)",
                   path);
}

db_status db_tiff_read(db_context *context, const char *path, long frame,
                       db_measured_image *image) {
    (void)frame;
    (void)image;
    return refuse_tiff(context, path);
}

db_status db_tiff_count(db_context *context, const char *path, size_t *count) {
    *count = 0;
    return refuse_tiff(context, path);
}
#endif
