/* SMV images as they are read. */
#include "support/expect.h"
#include "support/notices.h"
#include "files_for_tests.h"
#include "smv_file.h"

#include <dualbragg/io.h>
#include <dualbragg/version.h>
#include <math.h>
#include <stdlib.h>

#define LAYOUT "DIM=2;\nBYTE_ORDER=little_endian;\nTYPE=unsigned_short;\nSIZE1=3;\nSIZE2=2;\n"
static const unsigned char six[12] = { 1, 0, 0, 1, 0xff, 0xff, 0, 0, 44, 1, 0xfe, 0xff };

static void read_keys(const char *keys, db_measured_image *image) {
    expect_ok(test_context(),
              db_read_image(test_context(), smv_file("k.img", keys, six, sizeof six), image));
}

static void pixels_and_mask_follow_the_header(void **state) {
    (void)state;
    db_measured_image image;
    read_keys(LAYOUT, &image);
    static const float little[6] = { 1, 256, 65535, 0, 300, 65534 };
    assert_int_equal(image.fast_pixels, 3);
    assert_int_equal(image.slow_pixels, 2);
    assert_memory_equal(image.value, little, sizeof little);
    assert_int_equal(image.mask[2], DB_MASK_OVERLOAD);
    assert_int_equal(image.masked, 1);
    assert_true(image.overload == 65535 && image.pedestal == 0 && image.gain == 1);
    assert_true(isnan(image.wavelength) && isnan(image.distance) && isnan(image.pixel_size[0]) &&
                isnan(image.beam_centre[0]) && isnan(image.phi) && isnan(image.exposure) &&
                isnan(image.twotheta) && isnan(image.osc_range) && isnan(image.polarization));
    db_measured_image_clear(&image);

    read_keys(
        "BYTE_ORDER=big_endian;\nTYPE=unsigned_short;\nSIZE1=2;\nSIZE2=3;\nIMAGE_PEDESTAL=10;\n"
        "CCD_IMAGE_SATURATION=65000;\nGAIN=1.7;\nTIME=0.5;\nPHI=1;\nOSC_START=2;\nOSC_RANGE=-0.5;"
        "\n",
        &image);
    static const float big[6] = { 256 - 10, 1 - 10, 65535 - 10, -10, 0x2c01 - 10, 0xfeff - 10 };
    static const uint8_t big_mask[6] = { 0, 0, DB_MASK_OVERLOAD, DB_MASK_GAP, 0, DB_MASK_OVERLOAD };
    assert_memory_equal(image.value, big, sizeof big);
    assert_memory_equal(image.mask, big_mask, sizeof big_mask);
    assert_true(image.overload == 65000 - 10 && image.pedestal == 10);
    assert_true(image.gain == 1.7 && image.exposure == 0.5 && image.phi == 2 &&
                image.osc_range == -0.5);
    db_measured_image_clear(&image);
}

static void other_pixel_types_are_read(void **state) {
    (void)state;
    db_measured_image image;
    read_keys("BYTE_ORDER=little_endian;\nTYPE=signed_short;\nSIZE1=6;\nSIZE2=1;\n", &image);
    assert_true(image.value[2] == -1 && image.value[5] == -2 && image.mask[2] == DB_MASK_GAP &&
                image.mask[5] == DB_MASK_BAD);
    db_measured_image_clear(&image);
    read_keys("BYTE_ORDER=little_endian;\nData_type=long int;\nSIZE1=3;\nSIZE2=1;\n", &image);
    assert_true(image.value[0] == 16777216 && image.value[1] == 0xffff &&
                image.value[2] == -130772);
    db_measured_image_clear(&image);
    read_keys("BYTE_ORDER=big_endian;\nTYPE=unsigned_long;\nSIZE1=1;\nSIZE2=3;\n", &image);
    assert_true(image.value[1] == (float)0xffff0000u);
    db_measured_image_clear(&image);
    const float floats[3] = { 0.25f, NAN, -3 };
    expect_ok(test_context(),
              db_read_image(test_context(),
                            smv_file("f.img",
                                     "BYTE_ORDER=little_endian;\nTYPE=float;\nSIZE1=3;\nSIZE2=1;\n",
                                     floats, sizeof floats),
                            &image));
    assert_true(image.value[0] == 0.25f && image.value[2] == -3 && image.mask[1] == DB_MASK_BAD);
    assert_int_equal(image.masked, 1);
    db_measured_image_clear(&image);
}

/* Rigaku writes images of Pilatus detectors so: -1 between modules, -2 for pixels that do not work. */
static void marks_of_gaps_are_no_counts(void **state) {
    (void)state;
    enum { SIDE = 20, COUNT = SIDE * SIDE };
    static const char *const others[] = { "", "IMAGE_PEDESTAL=3;\n", "BEAMLINE=dualbragg;\n" };
    int32_t stored[COUNT];
    for (int i = 0; i < COUNT; i++) stored[i] = i / SIDE == 7 || i % SIDE == 4 ? -1 : i % 5;
    stored[0] = -2;
    for (int p = 0; p < 3; p++) {
        char keys[200];
        db_measured_image image;
        snprintf(keys, sizeof keys,
                 "BYTE_ORDER=little_endian;\nTYPE=long int;\nSIZE1=20;\nSIZE2=20;\n%s", others[p]);
        expect_ok(
            test_context(),
            db_read_image(test_context(), smv_file("p.img", keys, stored, sizeof stored), &image));
        for (int i = 0; i < COUNT && p == 0; i++)
            assert_int_equal(image.mask[i], stored[i] == -1   ? DB_MASK_GAP
                                            : stored[i] == -2 ? DB_MASK_BAD
                                                              : DB_MASK_TRUSTED);
        if (p > 0) assert_int_equal(image.mask[0], DB_MASK_TRUSTED);
        db_measured_image_clear(&image);
    }
}

static void keys_match_exactly_and_the_last_one_counts(void **state) {
    (void)state;
    db_measured_image image;
    read_keys(LAYOUT "DISTANCE=70;\nCLOSE_DISTANCE=68;\nXDISTANCE=1;\nDISTANCE_2=2;\n", &image);
    assert_true(image.distance == 70);
    db_measured_image_clear(&image);
    read_keys(LAYOUT "DISTANCE=70;\n WAVELENGTH = 1.5 ; \r\nDISTANCE=71\nTWOTHETA=;\n", &image);
    assert_true(image.distance == 71 && image.wavelength == 1.5 && isnan(image.twotheta));
    db_measured_image_clear(&image);
}

static void the_beam_centre_comes_from_the_least_ambiguous_key(void **state) {
    (void)state;
    static const struct {
        const char *keys;
        double fast, slow;
    } cases[] = {
        { "BEAM_CENTER_X=10;\nBEAM_CENTER_Y=20;\n", 40, 20 },
        { "BEAM_CENTER_X=1;\nBEAM_CENTER_Y=2;\nXDS_ORGX=40.5;\nXDS_ORGY=20.5;\n", 40, 20 },
        { "BEAM_CENTER_X=10;\nBEAM_CENTER_Y=20;\nXDS_ORGX=1;\nXDS_ORGY=2;\nTWOTHETA=5;\n"
          "CONVENTION=mosflm;\n",
          40, 20 },
        /* a detector on an arm: the direct beam is 100 mm tan 45 degree below */
        { "BEAM_CENTER_X=10;\nBEAM_CENTER_Y=20;\nTWOTHETA=45;\n", NAN, NAN },
        { "BEAM_CENTER_X=10;\nBEAM_CENTER_Y=20;\nTWOTHETA=45;\nDISTANCE=100;\n", 40, 20 + 200 },
        { "DENZO_X_BEAM=9;\nDENZO_Y_BEAM=9;\nXDS_ORGX=40.5;\nXDS_ORGY=20.5;\nTWOTHETA=45;\n"
          "DISTANCE=100;\n",
          40, 20 + 200 },
        /* simulators state these two without two-theta, which turns downwards */
        { "DENZO_X_BEAM=9;\nDENZO_Y_BEAM=9;\nXDS_ORGX=40.5;\nXDS_ORGY=20.5;\nTWOTHETA=45;\n"
          "DISTANCE=100;\nCLOSE_DISTANCE=100;\nBEAMLINE=fake;\n",
          40, 20 - 200 },
        { "BEAM_CENTER_X=1;\nBEAM_CENTER_Y=2;\nXDS_ORGX=3;\nXDS_ORGY=4;\nMOSFLM_CENTER_X=9.75;\n"
          "MOSFLM_CENTER_Y=19.75;\n",
          40, 20 },
        { "BEAM_CENTER_X=1;\nBEAM_CENTER_Y=2;\nMOSFLM_CENTER_X=3;\nMOSFLM_CENTER_Y=4;\nDENZO_X_"
          "BEAM=10;\n"
          "DENZO_Y_BEAM=20;\n",
          40, 20 },
        { "BEAM_CENTER_X=10;\n", NAN, NAN },
        /* in pixels of 0.5 mm, X along fast; the second pair is that of DENZO, or swapped */
        { "BEAM_CENTER_X=40;\nBEAM_CENTER_Y=20;\nDENZO_X_BEAM=10;\nDENZO_Y_BEAM=20;\n", 40, 20 },
        { "BEAM_CENTER_X=40;\nBEAM_CENTER_Y=20;\nDENZO_X_BEAM=20;\nDENZO_Y_BEAM=10;\n", 40, 20 },
        { "BEAM_CENTER_X=10;\nBEAM_CENTER_Y=20;\nDENZO_X_BEAM=20;\nDENZO_Y_BEAM=10;\n", 40, 20 },
        { "BEAM_CENTER_X=20;\nBEAM_CENTER_Y=10;\nMOSFLM_CENTER_X=9.75;\nMOSFLM_CENTER_Y=19.75;\n"
          "DENZO_X_BEAM=10;\nDENZO_Y_BEAM=20;\n",
          40, 20 },
        { "BEAM_CENTER_X=7;\nBEAM_CENTER_Y=3;\nDENZO_X_BEAM=10;\nDENZO_Y_BEAM=20;\n", 40, 20 },
        { "BEAM_CENTER_X=10;\nBEAM_CENTER_Y=20;\nDENZO_X_BEAM=0;\nDENZO_Y_BEAM=0;\n", 40, 20 },
        { "BEAM_CENTER_X=0;\nBEAM_CENTER_Y=0;\n", NAN, NAN },
        { "XDS_ORGX=0;\nXDS_ORGY=0;\n", NAN, NAN },
        { "BEAM_CENTER_X=0;\nBEAM_CENTER_Y=20;\n", 40, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char keys[400];
        snprintf(keys, sizeof keys, LAYOUT "PIXEL_SIZE=0.5;\n%s", cases[i].keys);
        db_measured_image image;
        read_keys(keys, &image);
        const double *centre = image.beam_centre;
        if (isnan(cases[i].fast)
                ? !isnan(centre[0])
                : fabs(centre[0] - cases[i].fast) + fabs(centre[1] - cases[i].slow) > 1e-9)
            fail_msg("case %zu: %g %g", i, centre[0], centre[1]);
        db_measured_image_clear(&image);
    }
}

static void a_centre_that_looks_like_pixels_is_named(void **state) {
    (void)state;
    static const struct {
        const char *keys;
        int named;
    } cases[] = { { "PIXEL_SIZE=0.05;\nBEAM_CENTER_X=2.5;\nBEAM_CENTER_Y=1.25;\n", 1 },
                  { "PIXEL_SIZE=0.05;\nBEAM_CENTER_X=0.1;\nBEAM_CENTER_Y=0.1;\n", 0 },
                  { "PIXEL_SIZE=0.05;\nBEAM_CENTER_X=20;\nBEAM_CENTER_Y=10;\n", 0 },
                  { "BEAM_CENTER_X=2.5;\nBEAM_CENTER_Y=1.25;\n", 0 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char keys[300];
        db_context *context = NULL;
        db_measured_image image;
        snprintf(keys, sizeof keys, LAYOUT "%s", cases[i].keys);
        notices[0] = '\0';
        assert_int_equal(db_context_create(&context), DB_OK);
        db_context_set_notices(context, keep_notice, NULL);
        expect_ok(context,
                  db_read_image(context, smv_file("px.img", keys, six, sizeof six), &image));
        db_context_destroy(&context);
        if ((strstr(notices, "BEAM_CENTER_X and BEAM_CENTER_Y, 2.5 and 1.25") != NULL) !=
            cases[i].named)
            fail_msg("case %zu: %s", i, notices);
        db_measured_image_clear(&image);
    }
}

static void a_centre_that_another_key_contradicts_is_named(void **state) {
    (void)state;
    static const struct {
        const char *keys;
        int named;
    } cases[] = { { "BEAM_CENTER_X=40.02;\nBEAM_CENTER_Y=42.64;\n", 1 },
                  { "BEAM_CENTER_X=41.85;\nBEAM_CENTER_Y=42.64;\n", 0 },
                  { "BEAM_CENTER_X=42.64;\nBEAM_CENTER_Y=41.84;\n", 0 },
                  { "BEAM_CENTER_X=523;\nBEAM_CENTER_Y=533;\n", 0 },
                  { "BEAM_CENTER_X=40.02;\nBEAM_CENTER_Y=42.64;\nMOSFLM_CENTER_X=41.8;\n"
                    "MOSFLM_CENTER_Y=42.6;\n",
                    0 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char keys[300];
        db_context *context = NULL;
        db_measured_image image;
        snprintf(keys, sizeof keys,
                 LAYOUT "PIXEL_SIZE=0.08;\nDENZO_X_BEAM=41.84;\nDENZO_Y_BEAM=42.64;\n%s",
                 cases[i].keys);
        notices[0] = '\0';
        assert_int_equal(db_context_create(&context), DB_OK);
        db_context_set_notices(context, keep_notice, NULL);
        expect_ok(context,
                  db_read_image(context, smv_file("two.img", keys, six, sizeof six), &image));
        db_context_destroy(&context);
        if ((strstr(notices, "41.84 and 42.64, are the beam centre; BEAM_CENTER_X and "
                             "BEAM_CENTER_Y, 40.02 and 42.64") != NULL) != cases[i].named)
            fail_msg("case %zu: %s", i, notices);
        db_measured_image_clear(&image);
    }
}

/* d*TREK names them in its own case. Numbers from 32768 on may be parts of larger ones. */
static void compressions_of_dtrek_are_seen(void **state) {
    (void)state;
    db_measured_image image;
    expect_failure(test_context(), DB_ERROR_UNSUPPORTED,
                   db_read_image(test_context(),
                                 smv_file("c.img", LAYOUT "Compression=BS1;\n", six, sizeof six),
                                 &image),
                   "Compression=BS1");
    read_keys(LAYOUT "Compression=None;\nRAXIS_COMPRESSION_RATIO=1;\n", &image);
    assert_true(image.overload == 65535);
    db_measured_image_clear(&image);
    read_keys(LAYOUT "RAXIS_COMPRESSION_RATIO=8;\nSATURATED_VALUE=262112;\n", &image);
    static const uint8_t mask[6] = { 0, 0, DB_MASK_OVERLOAD, 0, 0, DB_MASK_OVERLOAD };
    assert_memory_equal(image.mask, mask, sizeof mask);
    assert_true(image.overload == 32768);
    db_measured_image_clear(&image);
}

static void simulators_add_a_pedestal_of_40_unless_they_say_otherwise(void **state) {
    (void)state;
    db_measured_image image;
    read_keys(LAYOUT "BEAMLINE=fake;\n", &image);
    assert_true(image.pedestal == 40);
    db_measured_image_clear(&image);
    read_keys(LAYOUT "BEAMLINE=fake;\nADC_OFFSET=0;\n", &image);
    assert_true(image.pedestal == 0);
    db_measured_image_clear(&image);
    read_keys(LAYOUT "ADC_OFFSET=7;\nIMAGE_PEDESTAL=5;\n", &image);
    assert_true(image.pedestal == 5);
    db_measured_image_clear(&image);
}

static void bad_headers_are_errors_that_name_the_key(void **state) {
    (void)state;
    static const struct {
        const char *keys, *expected, *found;
        db_status status;
    } cases[] = {
        { "BYTE_ORDER=little_endian;\nTYPE=unsigned_short;\nSIZE2=2;\n", "SIZE1", "found 0",
          DB_ERROR_INPUT },
        { LAYOUT "SIZE1=-3;\n", "SIZE1", "-3", DB_ERROR_INPUT },
        { LAYOUT "SIZE1=2.5;\n", "SIZE1", "2.5", DB_ERROR_INPUT },
        { LAYOUT "SIZE1=99999999999;\n", "SIZE1", "1e+11", DB_ERROR_INPUT },
        { LAYOUT "SIZE1=2000000000;\nSIZE2=2000000000;\n", "truncated", "found 12",
          DB_ERROR_INPUT },
        { LAYOUT "SIZE2=x;\n", "SIZE2", "'x'", DB_ERROR_INPUT },
        { LAYOUT "SIZE2=3;\n", "truncated: expected 18 bytes", "found 12", DB_ERROR_INPUT },
        { LAYOUT "SIZE2=1;\n", "expected 6 bytes", "found 12", DB_ERROR_INPUT },
        { LAYOUT "TYPE=complex;\n", "TYPE", "'complex'", DB_ERROR_INPUT },
        { LAYOUT "BYTE_ORDER=middle;\n", "BYTE_ORDER", "'middle'", DB_ERROR_INPUT },
        { "TYPE=unsigned_short;\nSIZE1=3;\nSIZE2=2;\n", "BYTE_ORDER", "''", DB_ERROR_INPUT },
        { LAYOUT "DISTANCE=far;\n", "DISTANCE", "'far'", DB_ERROR_INPUT },
        { LAYOUT "DISTANCE=nan;\n", "DISTANCE", "'nan'", DB_ERROR_INPUT },
        { LAYOUT "WAVELENGTH=-1;\n", "WAVELENGTH", "-1", DB_ERROR_INPUT },
        { LAYOUT "PIXEL_SIZE=-0.1;\n", "PIXEL_SIZE", "found -0.1", DB_ERROR_INPUT },
        { LAYOUT "DIM=3;\n", "DIM=2", "found 3", DB_ERROR_UNSUPPORTED },
        { LAYOUT "COMPRESSION=RLE;\n", "uncompressed", "RLE", DB_ERROR_UNSUPPORTED },
        { LAYOUT "HEADER_BYTES=1e9;\n", "header of 1000000000 bytes", "524", DB_ERROR_INPUT },
        { LAYOUT "HEADER_BYTES=-5;\n", "HEADER_BYTES", "-5", DB_ERROR_INPUT },
        { LAYOUT "HEADER_BYTES=64;\n", "'}'", "HEADER_BYTES=64", DB_ERROR_INPUT },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        db_measured_image image;
        const char *path = smv_file("bad.img", cases[i].keys, six, sizeof six);
        expect_failure(test_context(), cases[i].status, db_read_image(test_context(), path, &image),
                       "bad.img", cases[i].expected, cases[i].found);
        assert_null(image.value);
        assert_null(image.mask);
    }
}

static void zeros_are_not_known_and_named(void **state) {
    (void)state;
    static const char *const keys[] = { "PIXEL_SIZE",     "DISTANCE", "WAVELENGTH",
                                        "CLOSE_DISTANCE", "GAIN",     "CCD_IMAGE_SATURATION" };
    char header[400] = LAYOUT;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const size_t length = strlen(header);
        snprintf(header + length, sizeof header - length, "%s=0;\n", keys[i]);
    }
    db_context *context = NULL;
    db_measured_image image;
    notices[0] = '\0';
    assert_int_equal(db_context_create(&context), DB_OK);
    db_context_set_notices(context, keep_notice, NULL);
    expect_ok(context,
              db_read_image(context, smv_file("zeros.img", header, six, sizeof six), &image));
    db_context_destroy(&context);
    assert_true(isnan(image.pixel_size[0]) && isnan(image.distance) && isnan(image.wavelength));
    assert_true(image.gain == 1 && image.overload == 65535 && image.masked == 1);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_non_null(strstr(notices, keys[i]));
    db_measured_image_clear(&image);
}

/* Where the reference's header grows beyond its declared 512 bytes, all pixels are shifted. */
static void a_header_longer_than_declared_is_noticed(void **state) {
    (void)state;
    char bytes[600];
    int length = snprintf(bytes, sizeof bytes, "{\nHEADER_BYTES=512;\n" LAYOUT);
    memset(bytes + length, 'x', (size_t)(513 - length));
    length = 513;
    length += snprintf(bytes + length, 10, "\n}\n\f");
    memcpy(bytes + length, six, sizeof six);
    db_measured_image image;
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_read_image(test_context(),
                                 folder_file("long.img", bytes, (size_t)length + sizeof six),
                                 &image),
                   "long.img", "'}'", "512");
}

/* A program that copies lines as strings of C leaves the byte 0 in place of a line feed. */
static void a_zero_byte_ends_a_line_of_a_header(void **state) {
    (void)state;
    enum { HEADER = 512 };
    static const char keys[] = "{\nHEADER_BYTES= 512;\n" LAYOUT "DISTANCE=70;\0WAVELENGTH=2;\0}  ";
    char bytes[HEADER + sizeof six] = { 0 };
    memcpy(bytes, keys, sizeof keys);
    memcpy(bytes + HEADER, six, sizeof six);
    db_measured_image image;
    expect_ok(test_context(),
              db_read_image(test_context(), folder_file("zero.img", bytes, sizeof bytes), &image));
    assert_true(image.distance == 70 && image.wavelength == 2 && image.value[1] == 256);
    db_measured_image_clear(&image);
}

static void other_contents_are_refused_by_what_they_are(void **state) {
    (void)state;
    db_context *context = test_context();
    static const struct {
        const char *bytes;
        size_t size;
        db_status status;
        const char *expected;
    } cases[] = {
        { "", 0, DB_ERROR_INPUT, "empty" },
        { "{", 1, DB_ERROR_INPUT, "7b" },
        { "{\nHEADER_BYTES", 14, DB_ERROR_INPUT, "HEADER_BYTES" },
        { "{\nHEADER_BYTES=512", 18, DB_ERROR_INPUT, "truncated" },
        { "{\n  HEADER_BYTES=16;\n", 21, DB_ERROR_INPUT, "'}'" },
        { "hello", 5, DB_ERROR_INPUT, "5 bytes that begin with 68 65 6c 6c 6f" },
#if defined(DB_HAVE_HDF5)
        { "\x89HDF\r\n\x1a\n rest", 13, DB_ERROR_INPUT, "HDF5" },
#else
        { "\x89HDF\r\n\x1a\n rest", 13, DB_ERROR_UNSUPPORTED, "libhdf5-dev" },
#endif
        { "\x1f\x8b rest", 7, DB_ERROR_INPUT, "gunzip" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        db_measured_image image;
        expect_failure(
            context, cases[i].status,
            db_read_image(context, folder_file("other.img", cases[i].bytes, cases[i].size), &image),
            "other.img", cases[i].expected);
    }
    db_measured_image image;
    const int tiff = strstr(db_features(), "TIFF") != NULL;
    expect_failure(context, tiff ? DB_ERROR_INPUT : DB_ERROR_UNSUPPORTED,
                   db_read_image(context, folder_file("other.img", "II*\0 rest", 9), &image),
                   "other.img", tiff ? "damaged TIFF image" : "libtiff-dev");
    expect_failure(context, DB_ERROR_FILE, db_read_image(context, folder_path("none.img"), &image),
                   "none.img");
    expect_failure(context, DB_ERROR_FILE, db_read_image(context, folder_path("."), &image),
                   "directory");
}

static void the_reference_images_are_read(void **state) {
    (void)state;
    db_measured_image image;
    expect_ok(test_context(),
              db_read_image(test_context(), golden_path("reference/io_basic.noise.img"), &image));
    double photons = 0;
    for (int i = 0; i < 64 * 48; i++) photons += image.value[i];
    assert_true(photons == 80120); /* as its log says */
    assert_int_equal(image.fast_pixels, 64);
    assert_int_equal(image.slow_pixels, 48);
    assert_int_equal(image.masked, 0);
    assert_true(image.wavelength == 1.3 && image.phi == 5 && image.osc_range == 0.5 &&
                image.twotheta == 6);
    /* its flags, although DISTANCE and DENZO_X_BEAM leave two-theta out: 69.6165, 12.5401 mm */
    assert_true(image.pixel_size[0] == 0.5 && fabs(image.distance - 70) < 1e-4 &&
                fabs(0.5 * image.beam_centre[0] - 16.5) < 1e-4 &&
                fabs(0.5 * image.beam_centre[1] - 12.5) < 1e-4);
    db_measured_image_clear(&image);
}

static void measured_images_are_read(void **state) {
    (void)state;
    db_measured_image image;
    expect_ok(test_context(),
              db_read_image(test_context(),
                            shared_path("realdata/formats/TIMEPIX_SU_516-stdgoni_0001.img"),
                            &image));
    assert_int_equal(image.fast_pixels, 516);
    assert_true(image.phi == -65.4 && image.wavelength == 0.0251);
    assert_true(fabs(image.beam_centre[0] - 13.54 / 0.055) < 1e-9);
    assert_true(fabs(image.beam_centre[1] - 13.22 / 0.055) < 1e-9);
    db_measured_image_clear(&image);
    expect_ok(test_context(),
              db_read_image(test_context(),
                            shared_path("realdata/formats/simtbx_FormatSMVJHSim_001.img"), &image));
    assert_true(image.pedestal == 0 && image.beam_centre[0] == 512 && image.beam_centre[1] == 512);
    db_measured_image_clear(&image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixels_and_mask_follow_the_header),
        cmocka_unit_test(other_pixel_types_are_read),
        cmocka_unit_test(marks_of_gaps_are_no_counts),
        cmocka_unit_test(keys_match_exactly_and_the_last_one_counts),
        cmocka_unit_test(the_beam_centre_comes_from_the_least_ambiguous_key),
        cmocka_unit_test(a_centre_that_looks_like_pixels_is_named),
        cmocka_unit_test(a_centre_that_another_key_contradicts_is_named),
        cmocka_unit_test(compressions_of_dtrek_are_seen),
        cmocka_unit_test(simulators_add_a_pedestal_of_40_unless_they_say_otherwise),
        cmocka_unit_test(bad_headers_are_errors_that_name_the_key),
        cmocka_unit_test(zeros_are_not_known_and_named),
        cmocka_unit_test(a_header_longer_than_declared_is_noticed),
        cmocka_unit_test(a_zero_byte_ends_a_line_of_a_header),
        cmocka_unit_test(other_contents_are_refused_by_what_they_are),
        cmocka_unit_test(the_reference_images_are_read),
        cmocka_unit_test(measured_images_are_read),
    };
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
