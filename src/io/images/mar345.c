/* Images of mar345 scanners (image plates). Header of 4096 bytes: 16 words in the first 64, then lines of 64
 * characters. Table of pixels above 65535: 8 pairs (number, value) in each 64 bytes. Then the lower 16 bits of all
 * pixels, packed by J. P. Abrahams' first method: blocks of differences as in x-CBF_PACKED (cbf_packed.c), but
 * from the mean of four neighbours, in one run through the whole image and in signed 16-bit numbers. */
#include "base/context_internal.h"
#include "base/rotation.h"
#include "base/text_reader.h"
#include "io/images/bit_stream.h"
#include "io/images/placement.h"
#include "io/images/tiff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 4096, MARK = 1234, PAIRS = 8, RECORD = 8 * PAIRS, LARGEST_SIDE = 20000 };

/* The scanners count to that; saturated pixels are 999999. */
static const double SATURATION = 250000;

/* The first place of some text among bytes; NULL: there is none. */
static const char *find_text(const char *bytes, size_t size, const char *text) {
    const size_t length = strlen(text);
    for (const char *at = bytes; size - (size_t)(at - bytes) >= length; at++) {
        at = memchr(at, *text, size - (size_t)(at - bytes) - length + 1);
        if (!at || memcmp(at, text, length) == 0) return at;
    }
    return NULL;
}

typedef struct scan {
    db_context *context;
    const char *path;
    const char *bytes;
    size_t size;
    int big_endian;
    size_t fast, slow, high; /* pixels along each axis; entries of the table */
} scan;

static int32_t word(const scan *s, int number) {
    return (int32_t)db_word_at(s->bytes, 4 * (size_t)number, s->big_endian);
}

int db_is_mar345(const db_file_content *start) {
    return start->size >= 256 &&
           (db_word_at(start->bytes, 0, 0) == MARK || db_word_at(start->bytes, 0, 1) == MARK) &&
           find_text(start->bytes + 64, 128, "mar research");
}

static db_status read_shape(scan *s) {
    const int32_t side = word(s, 1), high = word(s, 2), kind = word(s, 3), pixels = word(s, 5);
    if (s->size <= HEADER)
        return db_fail(s->context, DB_ERROR_INPUT,
                       "%s: expected a header of %d bytes and pixels, found %zu bytes (cut?)",
                       s->path, (int)HEADER, s->size);
    if (kind == 2)
        return db_fail(s->context, DB_ERROR_UNSUPPORTED,
                       "%s: expected a transformed image of a mar345, found a spiral one", s->path);
    if (side < 1 || side > LARGEST_SIDE || pixels < side || pixels / side > LARGEST_SIDE ||
        pixels % side)
        return db_fail(s->context, DB_ERROR_INPUT,
                       "%s: expected rows of 1 to %d pixels in the header of a mar345, found %ld "
                       "pixels in rows of %ld",
                       s->path, (int)LARGEST_SIDE, (long)pixels, (long)side);
    s->fast = (size_t)side;
    s->slow = (size_t)(pixels / side);
    s->high = high > 0 ? (size_t)high : 0;
    if (high >= 0 && (s->high + PAIRS - 1) / PAIRS <= (s->size - HEADER) / RECORD) return DB_OK;
    return db_fail(s->context, DB_ERROR_INPUT,
                   "%s: expected a table of %ld pixels above 65535 behind byte %d, found %zu bytes",
                   s->path, (long)high, (int)HEADER, s->size - HEADER);
}

/* Copies the text after a key at the start of a header line; "" if there is none. */
static void find_line(const scan *s, const char *key, char text[65]) {
    *text = '\0';
    for (size_t at = 64; at < HEADER; at++) {
        const char *const line = s->bytes + at;
        const size_t room = HEADER - at, length = strlen(key);
        const int begins = at == 64 || line[-1] == '\n' || at % 64 == 0;
        if (!begins || room <= length || memcmp(line, key, length) != 0 || line[length] != ' ')
            continue;
        size_t n = 0;
        for (; n < 64 && length + n < room && line[length + n] >= ' '; n++)
            text[n] = line[length + n];
        text[n] = '\0';
        return;
    }
}

/* Pixel coordinates of the plate's centre; the middle where the header has none. */
static void read_centre(const scan *s, double centre[2]) {
    static const char *const names[] = { "X", "Y" };
    char text[65];
    double stated[2] = { NAN, NAN };
    const char *cursor = text;
    find_line(s, "CENTER", text);
    for (db_word w = db_next_word(&cursor, DB_WHITE_SPACE); w.length;
         w = db_next_word(&cursor, DB_WHITE_SPACE))
        for (int i = 0; i < 2; i++)
            if (w.length == 1 && *w.start == *names[i])
                db_word_number(db_next_word(&cursor, DB_WHITE_SPACE), &stated[i]);
    const int known = stated[0] > 0 && stated[1] > 0;
    centre[0] = known ? stated[0] : 0.5 * (double)s->fast;
    centre[1] = known ? stated[1] : 0.5 * (double)s->slow;
}

static db_status read_experiment(const scan *s, db_measured_image *image) {
    char text[65];
    const char *cursor = text;
    for (int i = 0; i < 2; i++)
        if (word(s, 6 + i) > 0) image->pixel_size[i] = 1e-3 * word(s, 6 + i);
    if (word(s, 8) > 0) image->wavelength = 1e-6 * word(s, 8);
    const int axis = word(s, 10) == word(s, 11) && word(s, 12) != word(s, 13) ? 12 : 10;
    image->phi = 1e-3 * word(s, axis);
    image->osc_range = db_turn_of_ends(1e-3 * ((double)word(s, axis + 1) - word(s, axis)));
    find_line(s, "TIME", text);
    double seconds;
    if (db_word_number(db_next_word(&cursor, DB_WHITE_SPACE), &seconds) && seconds > 0)
        image->exposure = seconds;
    snprintf(image->detector, sizeof image->detector, "mar345");
    read_centre(s, image->beam_centre);
    if (word(s, 9) < 0)
        return db_fail(s->context, DB_ERROR_INPUT,
                       "%s: expected a distance > 0 in the header of a mar345, found %g mm",
                       s->path, 1e-3 * word(s, 9));
    if (word(s, 9) > 0) image->distance = 1e-3 * word(s, 9);
    db_image_swing(s->context, s->path, 1e-3 * word(s, 15), 1, image);
    return DB_OK;
}

/* The line in front of the packed pixels, and the pixels. */
static db_status find_pixels(const scan *s, db_bit_stream *stream) {
    static const char mark[] = "CCP4 packed image";
    const size_t from = HEADER + (s->high + PAIRS - 1) / PAIRS * RECORD;
    const char *const line = find_text(s->bytes + from, s->size - from, mark);
    const char *const end = line ? memchr(line, '\n', s->size - (size_t)(line - s->bytes)) : NULL;
    unsigned long fast = 0, slow = 0;
    if (!end || end - line > 80)
        return db_fail(s->context, DB_ERROR_INPUT,
                       "%s: expected a line '%s' behind byte %zu, found none", s->path, mark, from);
    if (sscanf(line + sizeof mark - 1, ", X: %9lu, Y: %9lu", &fast, &slow) != 2 ||
        fast != s->fast || slow != s->slow)
        return db_fail(s->context, DB_ERROR_INPUT,
                       "%s: expected '%s, X: %zu, Y: %zu', found '%.*s'", s->path, mark, s->fast,
                       s->slow, (int)(end - line), line);
    *stream = (db_bit_stream){ .next = (const unsigned char *)end + 1,
                               .end = (const unsigned char *)s->bytes + s->size };
    return DB_OK;
}

/* Mean of the pixel on the left and three of the row before, in one run through the image. */
static int foretold_value(const int16_t *pixel, size_t i, size_t fast) {
    if (i > fast)
        return (pixel[i - 1] + pixel[i - fast + 1] + pixel[i - fast] + pixel[i - fast - 1] + 2) / 4;
    return i > 0 ? pixel[i - 1] : 0;
}

/* Number of pixels found. */
static size_t unpack_mar345(db_bit_stream *stream, size_t fast, size_t count, int16_t *pixel) {
    static const unsigned char widths[8] = { 0, 4, 5, 6, 7, 8, 16, 32 };
    size_t i = 0;
    while (i < count) {
        uint32_t code, difference;
        if (!db_take_bits(stream, 6, &code)) break;
        const int bits = widths[code >> 3];
        for (int left = 1 << (code & 7); left > 0 && i < count; left--, i++) {
            if (!db_take_bits(stream, bits, &difference)) return i;
            const uint32_t sum =
                (uint32_t)foretold_value(pixel, i, fast) + db_widen_bits(difference, bits);
            pixel[i] = (int16_t)(uint16_t)sum;
        }
    }
    return i;
}

/* Does a pixel of the table have the lower bits of its value in the image, or the highest number? */
static int is_at(const scan *s, const int16_t *pixel, uint32_t number, uint32_t value) {
    if (number >= s->fast * s->slow) return 0;
    const uint16_t low = (uint16_t)pixel[number];
    return low == UINT16_MAX || low == (uint16_t)value;
}

/* The number of the first pixel in the table: 1 in the maker's manual, 0 in its programs; chosen by the better
 * fit. */
static uint32_t first_number(const scan *s, const int16_t *pixel) {
    size_t fit[2] = { 0 };
    for (size_t i = 0; i < s->high; i++) {
        const size_t at = HEADER + 8 * i;
        const uint32_t number = db_word_at(s->bytes, at, s->big_endian),
                       value = db_word_at(s->bytes, at + 4, s->big_endian);
        for (uint32_t first = 0; first < 2; first++)
            fit[first] += number >= first && is_at(s, pixel, number - first, value);
    }
    return fit[0] > fit[1] ? 0 : 1;
}

/* Pixels of the table have their values from there. */
static db_status take_high(const scan *s, const int16_t *pixel, db_measured_image *image) {
    const uint32_t first = first_number(s, pixel);
    for (size_t i = 0; i < s->high; i++) {
        const size_t at = HEADER + 8 * i;
        const uint32_t number = db_word_at(s->bytes, at, s->big_endian),
                       value = db_word_at(s->bytes, at + 4, s->big_endian);
        if (number < first || number - first >= s->fast * s->slow)
            return db_fail(s->context, DB_ERROR_INPUT,
                           "%s: byte %zu: expected a pixel from 1 to %zu, found %lu", s->path, at,
                           s->fast * s->slow, (unsigned long)number);
        image->value[number - first] = (float)value;
    }
    return DB_OK;
}

/* Nothing is read outside of the round plate. */
static void mark_pixels(const scan *s, db_measured_image *image) {
    const double radius = 0.5 * (double)(s->fast < s->slow ? s->fast : s->slow);
    for (size_t i = 0; i < s->fast * s->slow; i++) {
        const size_t column = i % s->fast, row = i / s->fast;
        const double x = (double)column + 0.5 - 0.5 * (double)s->fast,
                     y = (double)row + 0.5 - 0.5 * (double)s->slow;
        if ((double)image->value[i] >= SATURATION)
            image->mask[i] = DB_MASK_OVERLOAD;
        else if (image->value[i] == 0 && x * x + y * y > radius * radius)
            image->mask[i] = DB_MASK_GAP;
    }
    image->overload = SATURATION;
}

static db_status read_pixels(const scan *s, int16_t *pixel, db_measured_image *image) {
    const size_t count = s->fast * s->slow;
    db_bit_stream stream;
    DB_TRY(find_pixels(s, &stream));
    const size_t found = unpack_mar345(&stream, s->fast, count, pixel);
    if (found < count)
        return db_fail(s->context, DB_ERROR_INPUT,
                       "%s: damaged pixels: expected %zu, found the end of the data after %zu",
                       s->path, count, found);
    for (size_t i = 0; i < count; i++) image->value[i] = (uint16_t)pixel[i];
    DB_TRY(take_high(s, pixel, image));
    mark_pixels(s, image);
    return DB_OK;
}

db_status db_mar345_decode(db_context *context, const char *path, const db_file_content *content,
                           db_measured_image *image) {
    scan s = { .context = context,
               .path = path,
               .bytes = content->bytes,
               .size = content->size,
               .big_endian = db_word_at(content->bytes, 0, 1) == MARK };
    DB_TRY(read_shape(&s));
    DB_TRY(read_experiment(&s, image));
    DB_TRY(db_image_allocate(context, path, (long long)s.fast, (long long)s.slow, image));
    int16_t *const pixel = malloc(s.fast * s.slow * sizeof *pixel);
    if (!pixel) return db_fail_memory(context, path);
    const db_status status = read_pixels(&s, pixel, image);
    free(pixel);
    return status;
}
