/* Images in a page's text: what a browser unpacks is what was packed. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "support/context.h"
#include "fit/report/report.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(DB_HAVE_PNG)
#include <zlib.h>

enum { FAST = 37, SLOW = 23, COUNT = FAST * SLOW };

static int digit_of(char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *const at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* The bytes of a text in base 64; returns their number. */
static size_t decode(const char *text, unsigned char *bytes) {
    size_t count = 0;
    uint32_t bits = 0;
    int have = 0;
    for (; digit_of(*text) >= 0; text++) {
        bits = bits << 6 | (uint32_t)digit_of(*text);
        have += 6;
        if (have >= 8) bytes[count++] = (unsigned char)(bits >> (have -= 8) & 0xff);
    }
    return count;
}

/* As fit/report/page/numbers.js unpacks it: bytes of one significance after each other, differences folded. */
static void unpack(const char *page, double value[COUNT]) {
    double offset, unit;
    int fast, slow, logarithmic, smooth, used = 0;
    assert_int_equal(sscanf(page,
                            "<script type=\"text/plain\" id=\"image\" data-fast=\"%d\" "
                            "data-slow=\"%d\" data-offset=\"%lf\" data-unit=\"%lf\" "
                            "data-logarithmic=\"%d\" data-smooth=\"%d\">%n",
                            &fast, &slow, &offset, &unit, &logarithmic, &smooth, &used),
                     6);
    assert_true(fast == FAST && slow == SLOW);
    unsigned char *const packed = malloc(strlen(page)), bytes[3 * COUNT];
    const size_t count = decode(page + used, packed);
    uLongf room = sizeof bytes;
    assert_int_equal(uncompress(bytes, &room, packed, (uLong)count), Z_OK);
    assert_int_equal(room, sizeof bytes);
    free(packed);
    long last = 0;
    for (int i = 0; i < COUNT; i++) {
        long number = bytes[i] | bytes[COUNT + i] << 8 | bytes[2 * COUNT + i] << 16;
        value[i] = NAN;
        if (number == 0xffffff) continue;
        if (smooth) last = number = last + (number % 2 ? -(number + 1) / 2 : number / 2);
        value[i] = offset + unit * (double)number;
        if (logarithmic) value[i] = exp2(value[i]);
    }
}

static void check_image(const float *value, double noise, int smooth, double off) {
    double found[COUNT];
    char *text = NULL;
    size_t size = 0;
    FILE *const stream = open_memstream(&text, &size);
    db_page_image image = { "image", value, FAST, SLOW, db_packing_for(value, COUNT, noise) };
    image.packing.smooth = smooth;
    assert_int_equal(db_page_print_images(context, &image, 1, stream), DB_OK);
    fclose(stream);
    unpack(text, found);
    for (int i = 0; i < COUNT; i++)
        assert_true(isfinite(value[i]) ? fabs(found[i] - (double)value[i]) <= off
                                       : isnan(found[i]));
    free(text);
}

static void images_are_unpacked_as_they_were(void **state) {
    (void)state;
    float value[COUNT];
    for (int smooth = 0; smooth < 2; smooth++) {
        for (int i = 0; i < COUNT; i++)
            value[i] = i % 41 == 7 ? NAN : (float)(i * 7919 % 3001 - 90 + (i == 500) * 4000000);
        check_image(value, 1, smooth, 0); /* counts as they are */
        for (int i = 0; i < COUNT; i++)
            value[i] = i % 29 == 3 ? INFINITY : (float)(100 * sin(0.37 * i) + 3);
        check_image(value, 4, smooth, 0.5 * 4 / 16 * (1 + 1e-6)); /* parts of the noise */
        for (int i = 0; i < COUNT; i++) value[i] = NAN;
        check_image(value, 1, smooth, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(images_are_unpacked_as_they_were) };
    return cmocka_run_group_tests(tests, open_context, close_context);
}

#else

int main(void) { return 77; }

#endif
