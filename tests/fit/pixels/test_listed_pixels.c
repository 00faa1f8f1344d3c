/* What an experiment list says of the pixels of an image: pedestals, gains, trusted ranges, masks. */
#include "support/expect.h"
#include "support/notices.h"
#include "fit/rendered_image.h"
#include "fit/scratch_file.h"

#include <dualbragg/fit.h>
#include <dualbragg/expert/experiment_list_content.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAST = 24, SLOW = 16, PIXELS = FAST * SLOW, UPPER = 10 };
static db_context *context;
static db_experiment experiment; /* of one panel */
static uint16_t counts[PIXELS];
static db_measured_image image;

static int make(void **state) {
    (void)state;
    if (db_context_create(&context) != DB_OK ||
        rendered_experiment(context, FAST, 1000, &experiment) != DB_OK)
        return -1;
    experiment.detector.panels[0].slow_pixels = SLOW;
    return 0;
}

static int drop(void **state) {
    (void)state;
    db_experiment_clear(&experiment);
    db_context_destroy(&context);
    return 0;
}

static void write_bytes(const char *name, const void *head, size_t head_size, const void *bytes,
                        size_t size) {
    FILE *const file = fopen(scratch_path(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(head, 1, head_size, file), head_size);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

/* An SMV image of `counts`, with further keys in its header. */
static void write_smv(const char *name, const char *keys) {
    char header[512];
    memset(header, ' ', sizeof header);
    const int length =
        snprintf(header, sizeof header,
                 "{\nHEADER_BYTES=512;\nBYTE_ORDER=little_endian;\nTYPE=unsigned_short;\n"
                 "SIZE1=%d;\nSIZE2=%d;\n%s}\n",
                 FAST, SLOW, keys);
    header[length] = ' ';
    write_bytes(name, header, sizeof header, counts, sizeof counts);
}

static void write_list(double pedestal, double gain) {
    const db_expt_image said = {
        .path = "shot_1.img", .pedestal = pedestal, .gain = gain, .trusted = { -5, 800 }
    };
    expect_ok(context, db_write_expt(context, scratch_path("shot.expt"), &experiment, &said));
}

/* Puts another text in place of the last one of its kind in the list. */
static void change_list(const char *from, const char *to) {
    char *const text = read_whole_file(scratch_path("shot.expt"));
    char *at = strstr(text, from);
    assert_non_null(at);
    for (char *next = at; next; next = strstr(at + 1, from)) at = next;
    char *const changed = malloc(strlen(text) + strlen(to) + 1);
    assert_non_null(changed);
    sprintf(changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    scratch_file("shot.expt", changed);
    free(changed);
    free(text);
}

static db_status try_image(const char *argument) {
    static db_fit_config config;
    const char *const yaml = scratch_file(
        "pixels.yaml", "image: shot_1.img\nmodel: {expt: shot.expt}\nrefine: {misset_x: }\n"
                       "data: {hot_sigma: 0}\n");
    db_measured_image_clear(&image);
    notices[0] = '\0';
    expect_ok(context, db_fit_config_read(context, yaml, &argument, argument != NULL, &config));
    return db_fit_config_read_image(context, &config, &image, keep_notice, NULL);
}

/* Reads the image as a fit does. argument: of the configuration; NULL: none. */
static void read_image(const char *argument) { expect_ok(context, try_image(argument)); }

static void expect_notice(const char *text) {
    if (!strstr(notices, text)) fail_msg("'%s' is not said: %s", text, notices);
}

static void set_counts(uint16_t value) {
    for (int i = 0; i < PIXELS; i++) counts[i] = (uint16_t)(value + i % 2);
}

static void a_pedestal_is_subtracted_once(void **state) {
    (void)state;
    static const struct {
        double header, listed, subtracted;
        const char *notice;
    } cases[] = { { 0, 0, 0, "" },
                  { 0, 40, 40, "" },
                  { 40, 40, 40, "" },
                  { 40, 0, 40, "" },
                  { 38, 40, 40, "its pedestal 40 is used, not 38 of the image's header" } };
    set_counts(50);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char key[64] = "";
        if (cases[i].header > 0) snprintf(key, sizeof key, "IMAGE_PEDESTAL=%g;\n", cases[i].header);
        write_smv("shot_1.img", key);
        write_list(cases[i].listed, 1);
        read_image(NULL);
        assert_true(image.value[0] == (float)(50 - cases[i].subtracted));
        assert_true(image.value[PIXELS - 1] == (float)(51 - cases[i].subtracted));
        assert_true(image.pedestal == cases[i].subtracted);
        expect_notice(cases[i].notice);
    }
}

/* A list's range is that of stored numbers; ours is without the pedestal. */
static void a_trusted_range_counts_with_the_pedestal(void **state) {
    (void)state;
    static const char *const keys[] = { "", "IMAGE_PEDESTAL=40;\n" };
    set_counts(50);
    counts[3] = 840;
    counts[4] = 841;
    counts[5] = 35;
    counts[6] = 34;
    for (int i = 0; i < 2; i++) {
        write_smv("shot_1.img", keys[i]);
        write_list(40, 1);
        read_image(NULL);
        assert_int_equal(image.mask[3], DB_MASK_TRUSTED);
        assert_int_equal(image.mask[4], DB_MASK_OVERLOAD);
        assert_int_equal(image.mask[5], DB_MASK_TRUSTED);
        assert_int_equal(image.mask[6], DB_MASK_BAD);
    }
}

/* A list of two panels in one array. row: with which the second one begins there. */
static void write_two_panels(int row, double pedestal, double gain) {
    const db_experiment one = experiment;
    db_panel panels[2] = { experiment.detector.panels[0], experiment.detector.panels[0] };
    panels[0].slow_pixels = UPPER;
    panels[1].slow_pixels = SLOW - UPPER;
    panels[1].image_offset[1] = row;
    panels[1].origin[1] += UPPER * panels[0].pixel_size[1];
    experiment.detector.panels = panels;
    experiment.detector.panel_count = 2;
    write_list(pedestal, gain);
    experiment = one;
}

/* Lists of old versions do not say it. */
static void panels_have_a_place_in_the_array(void **state) {
    (void)state;
    set_counts(50);
    write_smv("shot_1.img", "");
    write_two_panels(0, 0, 1);
    expect_failure(context, DB_ERROR_INPUT, try_image(NULL),
                   "shot_1.img has 1; expected raw_image_offset of each panel: the pixel of the "
                   "image with which it begins");
    write_two_panels(UPPER, 0, 1);
    read_image(NULL);
    assert_int_equal(image.panel_count, 2);
}

/* Two panels in one array, with gains and pedestals of their own: one photon more is as many counts more
 * in both. */
static void panels_of_other_gains_are_brought_to_one(void **state) {
    (void)state;
    write_two_panels(UPPER, 20, 1.5);
    change_list("\"gain\": 1.5", "\"gain\": 3.0");
    change_list("\"pedestal\": 20.0", "\"pedestal\": 26.0");
    for (int i = 0; i < PIXELS; i++) counts[i] = i < UPPER * FAST ? 20 + 15 : 26 + 30;
    counts[0]++;
    write_smv("shot_1.img", "");
    read_image(NULL);
    assert_int_equal(image.panel_count, 2);
    assert_true(image.value[0] == 16 && image.value[1] == 15 && image.value[PIXELS - 1] == 15);
    assert_true(image.gain == 1.5);
    expect_notice("gains of its panels are 1.5 to 3: counts are scaled to the gain of the first");
    read_image("data.gain=2");
    assert_true(image.value[1] == 15 && image.value[PIXELS - 1] == 30);
    expect_notice("gains of its panels, 1.5 to 3, are not used, because data.gain is");
    change_list("\"gain\": 3.0", "\"gain\": 0.0");
    read_image(NULL);
    assert_true(image.value[PIXELS - 1] == 30);
    expect_notice("not used: expected numbers above 0, found 0");
}

/* Bytes of a pickle, one after the other. */
typedef struct pickle {
    unsigned char byte[16 * PIXELS];
    size_t size;
} pickle;

static void put(pickle *p, const void *bytes, size_t size) {
    assert_true(p->size + size <= sizeof p->byte);
    memcpy(p->byte + p->size, bytes, size);
    p->size += size;
}
#define PUT(p, literal) put((p), (literal), sizeof(literal) - 1)
static void put_byte(pickle *p, unsigned byte) {
    put(p, &(unsigned char){ (unsigned char)byte }, 1);
}

/* The elements as flex writes them: the number of them, and each. */
static void put_elements(pickle *p, int is_mask, const double *value) {
    PUT(p, "\x03");
    put_byte(p, PIXELS & 0xff);
    put_byte(p, PIXELS >> 8);
    for (int i = 0; i < PIXELS; i++) {
        int exponent;
        double part = frexp(fabs(value[i]), &exponent);
        if (is_mask) {
            put_byte(p, value[i] != 0 ? '1' : '0');
            continue;
        }
        if (value[i] == 0) {
            put_byte(p, 0);
            continue;
        }
        put_byte(p, value[i] < 0 ? 0x83 : 3); /* two digits of 8 bits are enough here */
        for (int digit = 0; digit < 2; digit++) {
            part *= 256;
            put_byte(p, (unsigned)part);
            part -= floor(part);
        }
        if (exponent == 0)
            put_byte(p, 0);
        else {
            put_byte(p, exponent < 0 ? 0x82 : 2);
            put_byte(p, (unsigned)abs(exponent));
        }
    }
}

/* (flex.double of PIXELS elements,) by protocol 2: bytes as letters of Latin-1, in UTF-8. */
static void write_old_pickle(const char *name, const char *type, int slow, const double *value) {
    static pickle p, elements, letters;
    static const char call[] = "c_codecs\nencode\nq\x08X";
    p.size = elements.size = letters.size = 0;
    put_elements(&elements, strcmp(type, "bool") == 0, value);
    for (size_t i = 0; i < elements.size; i++) {
        const unsigned byte = elements.byte[i];
        if (byte >= 0x80) put_byte(&letters, 0xc0 | byte >> 6);
        put_byte(&letters, byte >= 0x80 ? 0x80 | (byte & 0x3f) : byte);
    }
    PUT(&p, "\x80\x02"
            "cscitbx_array_family_flex_ext\n");
    put(&p, type, strlen(type));
    PUT(&p, "\nq\0)Rq\1cscitbx_array_family_flex_ext\ngrid\nq\2K\0K\0\x86q\3K");
    put_byte(&p, (unsigned)slow);
    PUT(&p, "K\x18\x86q\4\x88\x87q\5Rq\6K");
    put_byte(&p, (unsigned)slow);
    PUT(&p, "K\x18\x86q\7b");
    put(&p, call, sizeof call - 1);
    for (int i = 0; i < 4; i++) put_byte(&p, letters.size >> 8 * i & 0xff);
    put(&p, letters.byte, letters.size);
    PUT(&p, "q\x09X\6\0\0\0latin1q\x0a\x86q\x0bRq\x0c\x86q\x0d"
            "b\x85q\x0e.");
    write_bytes(name, p.byte, p.size, "", 0);
}

/* The same by protocol 4. */
static void write_pickle(const char *name, const char *type, const double *value) {
    static pickle p, elements;
    p.size = elements.size = 0;
    put_elements(&elements, strcmp(type, "bool") == 0, value);
    PUT(&p, "\x80\4\x95\0\0\0\0\0\0\0\0\x8c\x1c"
            "scitbx_array_family_flex_ext\x94\x8c");
    put_byte(&p, (unsigned)strlen(type));
    put(&p, type, strlen(type));
    PUT(&p, "\x94\x93\x94)R\x94h\0\x8c\4grid\x94\x93\x94K\0K\0\x86\x94K\x10K\x18\x86\x94\x88\x87");
    PUT(&p, "\x94R\x94K\x10K\x18\x86\x94"
            "bB");
    for (int i = 0; i < 4; i++) put_byte(&p, elements.size >> 8 * i & 0xff);
    put(&p, elements.byte, elements.size);
    PUT(&p, "\x94\x86\x94"
            "b\x85\x94.");
    write_bytes(name, p.byte, p.size, "", 0);
}

static void name_map(const char *kind, const char *file) {
    char from[40], to[80];
    snprintf(from, sizeof from, "\"%s\": null", kind);
    snprintf(to, sizeof to, "\"%s\": \"%s\"", kind, file);
    change_list(from, to);
}

static void masks_gains_and_pedestals_of_pixels_are_used(void **state) {
    (void)state;
    static double good[PIXELS], gain[PIXELS], pedestal[PIXELS];
    for (int i = 0; i < PIXELS; i++) {
        good[i] = i != 7 && i != 200;
        gain[i] = i % 2 ? 0.75 : 1.25;
        pedestal[i] = i % 3 ? 0.5 : -3;
        counts[i] = (uint16_t)(i % 2 ? 60 : 100);
    }
    gain[11] = 0;
    gain[13] = 1e-45; /* its counts would be infinite */
    write_smv("shot_1.img", "");
    for (int old = 0; old < 2; old++) {
        write_list(9, 1);
        if (old) {
            write_old_pickle("mask.pickle", "bool", SLOW, good);
            write_old_pickle("gain.pickle", "double", SLOW, gain);
            write_old_pickle("pedestal.pickle", "double", SLOW, pedestal);
        } else {
            write_pickle("mask.pickle", "bool", good);
            write_pickle("gain.pickle", "float", gain);
            write_pickle("pedestal.pickle", "double", pedestal);
        }
        name_map("mask", "mask.pickle");
        name_map("gain", "gain.pickle");
        name_map("pedestal", "pedestal.pickle");
        name_map("dx", "dx.pickle");
        read_image(NULL);
        assert_int_equal(image.mask[7], DB_MASK_BAD);
        assert_int_equal(image.mask[200], DB_MASK_BAD);
        assert_int_equal(image.mask[11], DB_MASK_BAD);
        assert_int_equal(image.mask[13], DB_MASK_BAD);
        assert_int_equal(image.masked, 4);
        const double common = image.gain;
        assert_true(fabs(common - 1) < 0.01);
        assert_true(fabs((double)image.value[1] - (60 - 0.5) * common / 0.75) < 1e-4);
        assert_true(fabs((double)image.value[6] - (100 + 3) * common / 1.25) < 1e-4);
        expect_notice("displacements of single pixels (dx, dy of the images) are not used");
    }
    read_image("data.gain=1");
    assert_true(image.value[1] == 59.5f);
    expect_notice("the gain of each pixel (gain.pickle) is not used, because data.gain is");
}

static void a_mask_may_be_an_image(void **state) {
    (void)state;
    for (int i = 0; i < PIXELS; i++) counts[i] = i != 30;
    write_smv("mask_of_list.img", "");
    set_counts(50);
    write_smv("shot_1.img", "");
    write_list(0, 1);
    name_map("mask", "mask_of_list.img");
    read_image(NULL);
    assert_int_equal(image.masked, 1);
    assert_int_equal(image.mask[30], DB_MASK_BAD);
}

/* Two files that DIALS itself wrote, of arrays of 4 x 3 pixels. */
static void arrays_that_dials_pickled_are_read(void **state) {
    (void)state;
    static const struct {
        const char *name;
        float value[12];
    } files[] = { { "flex_double.pickle", { 0.5, 1, 1.5, 2, 2.5, 3, 1, 1, 1, 1, 0.001F, -7 } },
                  { "flex_mask.pickle", { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0 } } };
    const db_measured_image shape = { .fast_pixels = 4, .slow_pixels = 3 };
    const char *const source = getenv("SOURCE_DIR");
    if (!source) skip();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[4096];
        float found[12];
        snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s", source, files[i].name);
        const db_expt_content content = { .map = { [DB_EXPT_MASK] = path } };
        expect_ok(context, db_read_listed_map(context, &content, DB_EXPT_MASK, &shape, found));
        assert_memory_equal(found, files[i].value, sizeof found);
        expect_failure(context, DB_ERROR_USAGE,
                       db_read_listed_map(context, &content, DB_EXPT_GAIN, &shape, found),
                       "expected a file that the list names");
    }
}

/* The end of a pickle that would run a command. */
static const char evil[] = "\x80\2cposix\nsystem\nX\x06\0\0\0touch x\x85R.";

static void what_cannot_be_read_is_named(void **state) {
    (void)state;
    static double ones[PIXELS];
    static const char cut[] = "\x80\2"
                              "cscitbx_array_family_flex_ext\nbool.";
    set_counts(50);
    write_smv("shot_1.img", "");
    for (int i = 0; i < PIXELS; i++) ones[i] = 1;
    write_old_pickle("small.pickle", "bool", SLOW - 1, ones);
    write_bytes("evil.pickle", evil, sizeof evil - 1, "", 0);
    write_bytes("cut.pickle", cut, sizeof cut - 1, "", 0);
    scratch_file("text.pickle", "hello\n");
    static const char *const files[][2] = {
        { "missing.pickle", "the mask of the images is not used: |missing.pickle: cannot open" },
        { "small.pickle", "expected an array of 24 x 16 pixels (fast, slow), found 24 x 15" },
        { "evil.pickle", "expected pickled arrays of flex" },
        { "cut.pickle", "truncated, or damaged" },
        { "text.pickle", "text.pickle: " }
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        write_list(0, 1);
        name_map("mask", files[i][0]);
        read_image(NULL);
        assert_int_equal(image.masked, 0);
        char parts[200];
        snprintf(parts, sizeof parts, "%s", files[i][1]);
        for (char *part = strtok(parts, "|"); part; part = strtok(NULL, "|")) expect_notice(part);
    }
}

/* A pickle cut off anywhere, or with any byte changed, is no crash. */
static void damaged_pickles_are_harmless(void **state) {
    (void)state;
    static double ones[PIXELS];
    set_counts(50);
    write_smv("shot_1.img", "");
    for (int i = 0; i < PIXELS; i++) ones[i] = 1 + i % 5;
    write_list(0, 1);
    name_map("gain", "gain.pickle");
    write_pickle("gain.pickle", "double", ones);
    FILE *const file = fopen(scratch_path("gain.pickle"), "rb");
    assert_non_null(file);
    static unsigned char bytes[16 * PIXELS];
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t i = 0; i < 130; i++) {
        const unsigned char kept = bytes[i];
        bytes[i] = (unsigned char)(kept ^ (1u << i % 8));
        write_bytes("gain.pickle", bytes, size, "", 0);
        read_image(NULL);
        bytes[i] = kept;
        write_bytes("gain.pickle", bytes, i * size / 130, ".", 1);
        read_image(NULL);
    }
    db_measured_image_clear(&image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pedestal_is_subtracted_once),
        cmocka_unit_test(a_trusted_range_counts_with_the_pedestal),
        cmocka_unit_test(panels_have_a_place_in_the_array),
        cmocka_unit_test(panels_of_other_gains_are_brought_to_one),
        cmocka_unit_test(masks_gains_and_pedestals_of_pixels_are_used),
        cmocka_unit_test(arrays_that_dials_pickled_are_read),
        cmocka_unit_test(a_mask_may_be_an_image),
        cmocka_unit_test(what_cannot_be_read_is_named),
        cmocka_unit_test(damaged_pickles_are_harmless),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
