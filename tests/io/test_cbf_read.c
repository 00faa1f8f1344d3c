/* miniCBF images. */
#include "support/expect.h"
#include "support/notices.h"
#include "cbf_file.h"
#include "files_for_tests.h"

#include <dualbragg/io.h>

#include "base/md5.h"

#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

static const char pilatus_header[] = "# Detector: PILATUS 300K, S/N 1-2\r\n"
                                     "# 2020-01-01T00:00:00\r\n"
                                     "# Pixel_size 172e-6 m x 173e-6 m\r\n"
                                     "# Exposure_time 0.0190000 s\r\n"
                                     "# Exposure_period 0.02 s\r\n"
                                     "# Count_cutoff 1000 counts\r\n"
                                     "# Wavelength 0.96859 A\r\n"
                                     "# Detector_distance 0.35100 m\r\n"
                                     "# Detector_Voffset 0.1 m\r\n"
                                     "# Beam_xy (1261.61, 1306.96) pixels\r\n"
                                     "# Start_angle 89.5 deg.\r\n"
                                     "# Angle_increment 0.25 deg.\r\n"
                                     "# Detector_2theta 3 deg.\r\n"
                                     "# Polarization 0.990\r\n";

static void differences_of_every_width_are_read(void **state) {
    (void)state;
    static const int64_t values[] = {
        0,  127,        0, -127 + 127,      128,        -1, 127, 32767 + 127, 127,   -32640, 32895,
        0,  2147483647, 0, -2147483647 - 1, 2147483647, 5,  5,   -100,        70000, 3,      40000,
        -5, 1 << 30,
    };
    enum { COUNT = sizeof values / sizeof *values };
    db_measured_image image;
    const char *path =
        cbf_file("widths.cbf", "# Count_cutoff 4e9 counts\r\n", values, COUNT / 2, 2);
    expect_ok(test_context(), db_read_image(test_context(), path, &image));
    assert_string_equal(image.format, "miniCBF");
    assert_int_equal(image.fast_pixels, COUNT / 2);
    assert_int_equal(image.slow_pixels, 2);
    for (int i = 0; i < COUNT; i++) assert_true(image.value[i] == (float)values[i]);
    db_measured_image_clear(&image);
}

static void random_images_come_back(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    static int64_t values[COUNT];
    srand(3);
    for (int i = 0; i < COUNT; i++)
        values[i] = (int64_t)ldexp((double)rand() / RAND_MAX, rand() % 31) - 2;
    db_measured_image image;
    expect_ok(test_context(),
              db_read_image(test_context(), cbf_file("random.cbf", "", values, 100, COUNT / 100),
                            &image));
    for (int i = 0; i < COUNT; i++) {
        assert_true(image.value[i] == (float)values[i]);
        assert_int_equal(image.mask[i], values[i] == -1 ? DB_MASK_GAP
                                        : values[i] < 0 ? DB_MASK_BAD
                                                        : DB_MASK_TRUSTED);
    }
    assert_true(image.overload == INFINITY);
    db_measured_image_clear(&image);
}

static void the_header_is_read(void **state) {
    (void)state;
    static const int64_t values[6] = { 5, -1, -2, 999, 1000, 0 };
    static const uint8_t mask[6] = { 0, DB_MASK_GAP, DB_MASK_BAD, 0, DB_MASK_OVERLOAD, 0 };
    db_measured_image image;
    expect_ok(
        test_context(),
        db_read_image(test_context(), cbf_file("h.cbf", pilatus_header, values, 3, 2), &image));
    assert_true(fabs(image.pixel_size[0] - 0.172) < 1e-12 &&
                fabs(image.pixel_size[1] - 0.173) < 1e-12);
    assert_true(image.exposure == 0.019 && image.wavelength == 0.96859);
    /* the direct beam hits the panel that has swung up lower, and further away */
    assert_true(fabs(image.distance - 351 / cos(PI / 60)) < 1e-9);
    assert_true(image.beam_centre[0] == 1261.61 &&
                fabs(image.beam_centre[1] - (1306.96 + 351 * tan(PI / 60) / 0.173)) < 1e-9);
    assert_true(image.phi == 89.5 && image.osc_range == 0.25 && image.twotheta == -3);
    assert_true(fabs(image.polarization - 0.98) < 1e-12);
    assert_true(image.overload == 1000 && image.pedestal == 0 && image.gain == 1);
    assert_string_equal(image.detector, "PILATUS 300K, S/N 1-2");
    assert_memory_equal(image.mask, mask, sizeof mask);
    assert_int_equal(image.masked, 3);
    db_measured_image_clear(&image);
}

static void what_the_header_leaves_out_stays_unknown(void **state) {
    (void)state;
    static const int64_t values[1] = { 70000 };
    db_measured_image image;
    expect_ok(test_context(),
              db_read_image(test_context(),
                            cbf_file("e.cbf", "# Count_cutoff 0 counts\r\n# Polarization 0.2\r\n",
                                     values, 1, 1),
                            &image));
    assert_true(isnan(image.wavelength) && isnan(image.distance) && isnan(image.pixel_size[1]) &&
                isnan(image.beam_centre[1]) && isnan(image.phi) && isnan(image.exposure) &&
                isnan(image.polarization) && image.overload == INFINITY);
    assert_int_equal(image.mask[0], 0);
    assert_string_equal(image.detector, "");
    db_measured_image_clear(&image);
    /* the panels of this one stand on a cylinder */
    expect_ok(test_context(),
              db_read_image(test_context(),
                            cbf_file("c.cbf",
                                     "# Detector: PILATUS 12M, S/N 120-0100\r\n"
                                     "# Wavelength 2.7552 A\r\n# Detector_distance 0.01 m\r\n"
                                     "# Beam_xy (1080.00, 2595.00) pixels\r\n",
                                     values, 1, 1),
                            &image));
    assert_true(image.wavelength == 2.7552 && isnan(image.distance) &&
                isnan(image.beam_centre[0]) && isnan(image.beam_centre[1]));
    db_measured_image_clear(&image);
}

static void units_are_those_of_the_header(void **state) {
    (void)state;
    static const int64_t values[1] = { 1 };
    db_measured_image image;
    static const struct {
        const char *lines;
        size_t member;
        double expected;
    } cases[] = {
#define AT(member) offsetof(db_measured_image, member)
        { "# Pixel_size 0.2 mm x 0.2 mm\r\n", AT(pixel_size[1]), 0.2 },
        { "# Pixel_size 200 x 200 um\r\n", AT(pixel_size[0]), 0.2 },
        { "# Pixel_size 200um x 172 um\r\n", AT(pixel_size[1]), 0.172 },
        { "# Pixel_size 2e-4 m x 2e-4 m\r\n", AT(pixel_size[0]), 0.2 },
        { "# Detector_distance 100.0 mm\r\n", AT(distance), 100 },
        { "# Detector_distance 0.1\r\n", AT(distance), 100 },
        { "# Detector_distance = 10 cm\r\n", AT(distance), 100 },
        { "# Detector_distance 351.0\r\n", AT(distance), 351 },
        { "# Pixel_size 0.172 x 0.172\r\n", AT(pixel_size[1]), 0.172 },
        { "# Pixel_size 172e-6 x 172e-6\r\n", AT(pixel_size[0]), 0.172 },
        { "# Silicon sensor, thickness 0.00045\r\n", AT(sensor_thickness), 450 },
        { "# Silicon sensor, thickness 0.45\r\n", AT(sensor_thickness), 450 },
        { "# Wavelength 0.1 nm\r\n", AT(wavelength), 1 },
        { "# Wavelength 12.398419843320026 keV\r\n", AT(wavelength), 1 },
        { "# Photon_energy 12398.419843320026 eV\r\n", AT(wavelength), 1 },
        { "# Start_angle 0.5 rad\r\n# Angle_increment 1 mrad\r\n", AT(phi), 90 / PI },
        { "# Start_angle 0.5 rad\r\n# Angle_increment 1 mrad\r\n", AT(osc_range), 0.18 / PI },
        { "# Detector_2theta 1 rad\r\n", AT(twotheta), -180 / PI },
        { "# Exposure_time 20 ms\r\n", AT(exposure), 0.02 },
        { "# Pixel_size 200 um x 100 um\r\n# Beam_xy (25.8, 25.8) mm\r\n", AT(beam_centre[0]),
          129 },
        { "# Pixel_size 200 um x 100 um\r\n# Beam_xy (25.8, 25.8) mm\r\n", AT(beam_centre[1]),
          258 },
        { "# Beam_xy (3.5, 4.5)\r\n", AT(beam_centre[1]), 4.5 },
        { "# Silicon sensor, thickness 0.45 mm\r\n", AT(sensor_thickness), 450 },
        { "# Silicon sensor, thickness 450 um\r\n", AT(sensor_thickness), 450 },
#undef AT
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_ok(
            test_context(),
            db_read_image(test_context(), cbf_file("u.cbf", cases[i].lines, values, 1, 1), &image));
        const double found = *(const double *)((const char *)&image + cases[i].member);
        if (!(fabs(found - cases[i].expected) < 1e-9))
            fail_msg("%s: expected %.10g, found %.10g", cases[i].lines, cases[i].expected, found);
        db_measured_image_clear(&image);
    }
}

/* The image, with the notices of its header alone. */
static void read_noticed(const char *header, db_measured_image *image) {
    static const int64_t values[1] = { 1 };
    db_context *context = NULL;
    notices[0] = '\0';
    assert_int_equal(db_context_create(&context), DB_OK);
    db_context_set_notices(context, keep_notice, NULL);
    expect_ok(context, db_read_image(context, cbf_file("n.cbf", header, values, 1, 1), image));
    db_context_destroy(&context);
}

static void zeros_are_not_known_and_named(void **state) {
    (void)state;
    db_measured_image image;
    read_noticed("# Pixel_size 0 m x 0 m\r\n# Wavelength 0.0 A\r\n# Detector_distance 0 m\r\n"
                 "# Beam_xy (0.00, 0.00) pixels\r\n",
                 &image);
    assert_true(isnan(image.pixel_size[0]) && isnan(image.wavelength) && isnan(image.distance) &&
                isnan(image.beam_centre[0]) && isnan(image.beam_centre[1]));
    assert_int_equal(image.fast_pixels, 1);
    static const char *const named[] = { "Pixel_size", "Wavelength", "Detector_distance",
                                         "Beam_xy" };
    for (int i = 0; i < 4; i++) assert_non_null(strstr(notices, named[i]));
    db_measured_image_clear(&image);
    read_noticed("# Beam_xy (0.00, 12.5) pixels\r\n", &image); /* at an edge */
    assert_true(image.beam_centre[0] == 0 && image.beam_centre[1] == 12.5);
    assert_string_equal(notices, "");
    db_measured_image_clear(&image);
}

/* Headers as published; what makes no sense in them does not keep the image from being read. */
static void what_makes_no_sense_is_named_and_not_used(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        { "# Silicon sensor, thickness 1000.000000 m\r\n", "a sensor of 1e+06 mm" },
        { "# Silicon sensor, thickness -0.0003 m\r\n", "a sensor of -0.3 mm" },
        { "# Count_cutoff (nil)\r\n", "Count_cutoff is (nil)" },
        { "# Exposure_time (nil)\r\n", "Exposure_time is (nil)" },
        { "# Start_angle (nil)\r\n", "Start_angle is (nil)" },
        { "# Detector_2theta (nil) deg.\r\n", "Detector_2theta is (nil)" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        db_measured_image image;
        read_noticed(cases[i][0], &image);
        if (!strstr(notices, cases[i][1])) fail_msg("%s: found '%s'", cases[i][0], notices);
        assert_true(isnan(image.sensor_thickness) && isinf(image.overload) &&
                    isnan(image.exposure) && isnan(image.phi) && isnan(image.twotheta));
        db_measured_image_clear(&image);
    }
}

static void scans_keep_their_sense_and_their_axis(void **state) {
    (void)state;
    static const char scan[] = "# Start_angle 10.0 deg.\r\n# Angle_increment -0.5 deg.\r\n";
    static const struct {
        const char *lines, *named;
        double phi, range;
    } cases[] = {
        { "", NULL, 10, -0.5 },
        { "# Oscillation_axis X.CW\r\n", NULL, 10, -0.5 },
        { "# Oscillation_axis X, CW\r\n", NULL, 10, -0.5 },
        { "# Oscillation_axis X.CCW\r\n", NULL, -10, 0.5 },
        { "# Oscillation_axis OMEGA\r\n# Phi 0 deg.\r\n# Chi 0 deg.\r\n", NULL, 10, -0.5 },
        { "# Oscillation_axis OMEGA\r\n# Chi 54.7 deg.\r\n# Phi 120.0 deg.\r\n",
          "Phi 120, Chi 54.7", 10, -0.5 },
        { "# Oscillation_axis OMEGA\r\n# Omega 12 deg.\r\n", "Omega 12", 10, -0.5 },
        { "# Oscillation_axis PHI\r\n# Omega 30 deg.\r\n# Chi 0 deg.\r\n", "Omega 30", 10, -0.5 },
        { "# Oscillation_axis PHI\r\n# Omega 30 deg.\r\n# Chi 45 deg.\r\n",
          "Oscillation_axis is PHI", NAN, NAN },
        { "# Oscillation_axis CHI\r\n", "Oscillation_axis is CHI", NAN, NAN },
        { "# Oscillation_axis Y.CW\r\n", "Oscillation_axis is Y.CW", NAN, NAN },
        { "# Detector_distnace 0.1 m\r\n", "Detector_distance", 10, -0.5 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char header[400];
        db_measured_image image;
        snprintf(header, sizeof header, "%s%s", scan, cases[i].lines);
        read_noticed(header, &image);
        if (cases[i].named ? !strstr(notices, cases[i].named) : *notices)
            fail_msg("%s: expected a notice with '%s', found '%s'", cases[i].lines,
                     cases[i].named ? cases[i].named : "nothing", notices);
        const double both[2][2] = { { cases[i].phi, image.phi },
                                    { cases[i].range, image.osc_range } };
        for (int k = 0; k < 2; k++)
            if (isnan(both[k][0]) ? !isnan(both[k][1]) : !(fabs(both[k][0] - both[k][1]) < 1e-12))
                fail_msg("%s: expected %g, found %g", cases[i].lines, both[k][0], both[k][1]);
        db_measured_image_clear(&image);
    }
    db_measured_image image;
    read_noticed("# Oscillation_axis PHI\r\n# Phi 3 deg.\r\n# Phi_increment 0.2 deg.\r\n", &image);
    assert_true(fabs(image.phi - 3) < 1e-12 && fabs(image.osc_range - 0.2) < 1e-12);
    db_measured_image_clear(&image);
}

static void bad_header_values_are_errors_that_name_them(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        { "# Wavelength none A\r\n", "Wavelength" },
        { "# Wavelength -1 A\r\n", "Wavelength" },
        { "# Wavelength 1 furlong\r\n", "furlong" },
        { "# Detector_distance 0.1 s\r\n", "Detector_distance" },
        { "# Start_angle 3 A\r\n", "Start_angle" },
        { "# Count_cutoff 3 mm\r\n", "Count_cutoff" },
        { "# Beam_xy (3, 4) mm\r\n", "Beam_xy" },
        { "# Exposure_time 1 deg.\r\n", "Exposure_time" },
        { "# Silicon sensor, thickness 3 counts\r\n", "thickness" },
        { "# Beam_xy (1, x) pixels\r\n", "2 numbers" },
        { "# Detector_distance -0.1 m\r\n", "Detector_distance" },
        { "# Pixel_size 172e-6 m\r\n", "Pixel_size" },
        { "# Count_cutoff many\r\n", "Count_cutoff" },
    };
    static const int64_t values[1] = { 1 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        db_measured_image image;
        const char *path = cbf_file("bad.cbf", cases[i][0], values, 1, 1);
        expect_failure(test_context(), DB_ERROR_INPUT, db_read_image(test_context(), path, &image),
                       "bad.cbf", cases[i][1]);
        assert_null(image.value);
    }
}

/* Reads a file of one to four small values whose binary header claims something else. */
static db_status read_layout(const cbf_layout *layout, const unsigned char *compressed,
                             size_t compressed_size, db_measured_image *image) {
    size_t size;
    char *bytes = cbf_bytes(layout, compressed, compressed_size, &size);
    const char *path = folder_file("layout.cbf", bytes, size);
    free(bytes);
    return db_read_image(test_context(), path, image);
}

static void a_binary_header_that_does_not_fit_the_data_is_noticed(void **state) {
    (void)state;
    static const unsigned char four[] = { 1, 1, 1, 1 };
    db_context *context = test_context();
    db_measured_image image;
    cbf_layout layout = cbf_layout_of(2, 2, 4);
    expect_ok(context, read_layout(&layout, four, 4, &image));
    assert_true(image.value[3] == 4);
    db_measured_image_clear(&image);

    layout = cbf_layout_of(3, 2, 4);
    expect_failure(context, DB_ERROR_INPUT, read_layout(&layout, four, 4, &image),
                   "at least 6 bytes for 6 pixels", "X-Binary-Size: 4");
    static const unsigned char wide[] = { 1, 0x80, 1, 0, 1, 1 }; /* four values in six bytes */
    layout = cbf_layout_of(3, 2, 6);
    expect_failure(context, DB_ERROR_INPUT, read_layout(&layout, wide, 6, &image), "pixel 1 1",
                   "end of the data");
    layout = cbf_layout_of(1, 2, 4); /* where careless readers write past the image */
    expect_failure(context, DB_ERROR_INPUT, read_layout(&layout, four, 4, &image),
                   "2 bytes are left");
    layout = cbf_layout_of(2, 2, 4000);
    expect_failure(context, DB_ERROR_INPUT, read_layout(&layout, four, 4, &image), "truncated",
                   "4000");
    layout = cbf_layout_of(2, 2, 4);
    layout.elements = 5;
    expect_failure(context, DB_ERROR_INPUT, read_layout(&layout, four, 4, &image), "2 x 2", "5");
    layout = cbf_layout_of(2147483647, 2147483647, 4);
    expect_failure(context, DB_ERROR_INPUT, read_layout(&layout, four, 4, &image),
                   "Number-of-Elements");
    layout = cbf_layout_of(-2, -2, 4);
    expect_failure(context, DB_ERROR_INPUT, read_layout(&layout, four, 4, &image),
                   "Fastest-Dimension", "-2");
    layout = cbf_layout_of(2, 2, -4);
    expect_failure(context, DB_ERROR_INPUT, read_layout(&layout, four, 4, &image), "X-Binary-Size",
                   "-4");
}

/* Against another implementation, around the lengths where the padding changes. */
static void checksums_are_those_of_md5(void **state) {
    (void)state;
    static const struct {
        size_t size;
        const char *digest;
    } cases[] = {
        { 0, "1B2M2Y8AsgTpgAmY7PhCfg==" },   { 1, "hmZoNQaqzZALvVp0rE7faA==" },
        { 55, "UsDldOEZjeX+P48RRA3LGw==" },  { 56, "RsmQf8kI7mix57jnEoalGA==" },
        { 63, "pi9tWeg3hnaT8EL1uPWiNg==" },  { 64, "cWC4+16eQCPVScOXH7rurQ==" },
        { 65, "cL1mLnrvvahaD3JEFnt4lw==" },  { 119, "6EkF1CFPTRylbCzcwVKxQw==" },
        { 120, "4+tabIZp6gGowYW4q8il3A==" }, { 1000, "EARvB38ggqwZZ2uAefHLGg==" },
    };
    char digest[DB_MD5_TEXT_SIZE];
    db_md5_base64("abc", 3, digest);
    assert_string_equal(digest, "kAFQmDzST7DWlj99KOF/cg=="); /* RFC 1321 */
    unsigned char bytes[1000];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(7 * i + 3);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        db_md5_base64(bytes, cases[i].size, digest);
        assert_string_equal(digest, cases[i].digest);
    }
}

static void a_wrong_checksum_is_noticed(void **state) {
    (void)state;
    static const unsigned char four[] = { 1, 1, 1, 1 }, damaged[] = { 1, 2, 1, 1 };
    char digest[DB_MD5_TEXT_SIZE], line[80];
    db_md5_base64(four, 4, digest);
    snprintf(line, sizeof line, "Content-MD5: %s\r\n", digest);
    cbf_layout layout = cbf_layout_of(2, 2, 4);
    layout.md5 = line;
    db_measured_image image;
    expect_ok(test_context(), read_layout(&layout, four, 4, &image));
    db_measured_image_clear(&image);
    expect_failure(test_context(), DB_ERROR_INPUT, read_layout(&layout, damaged, 4, &image),
                   "layout.cbf", "damaged", digest);
}

/* Other writers: the name of the compression on the first line, room for a checksum that was not filled. */
static void other_ways_to_write_the_binary_header_are_understood(void **state) {
    (void)state;
    static const int64_t values[4] = { 3, 1, 4, 1 };
    unsigned char compressed[60];
    const size_t length = cbf_compress(values, 4, compressed);
    cbf_layout layout = cbf_layout_of(2, 2, (long long)length);
    layout.md5 = "Content-MD5:                         \r\n";
    size_t size;
    char *const bytes = cbf_bytes(&layout, compressed, length, &size);
    static const char broken[] = ";\r\n     conv", joined[] = ";       conv";
    char *const at = strstr(bytes, broken);
    assert_non_null(at);
    memcpy(at, joined, sizeof joined - 1);
    db_measured_image image;
    expect_ok(test_context(),
              db_read_image(test_context(), folder_file("other.cbf", bytes, size), &image));
    free(bytes);
    for (int i = 0; i < 4; i++) assert_true(image.value[i] == (float)values[i]);
    db_measured_image_clear(&image);
}

static void element_types_set_the_range(void **state) {
    (void)state;
    db_context *context = test_context();
    db_measured_image image;
    unsigned char bytes[45];
    const int64_t values[3] = { 65534, 65535, 70000 };
    size_t size = cbf_compress(values, 2, bytes);
    cbf_layout layout = cbf_layout_of(2, 1, (long long)size);
    layout.element_type = "unsigned 16-bit integer";
    expect_ok(context, read_layout(&layout, bytes, size, &image));
    assert_int_equal(image.mask[0], DB_MASK_TRUSTED);
    assert_int_equal(image.mask[1], DB_MASK_BAD);
    db_measured_image_clear(&image);
    size = cbf_compress(values, 3, bytes);
    layout = cbf_layout_of(3, 1, (long long)size);
    layout.element_type = "unsigned 16-bit integer";
    expect_failure(context, DB_ERROR_INPUT, read_layout(&layout, bytes, size, &image), "pixel 2 0",
                   "range");
    layout.element_type = "signed 32-bit real IEEE";
    expect_failure(context, DB_ERROR_UNSUPPORTED, read_layout(&layout, bytes, size, &image),
                   "Element-Type", "real");
    layout = cbf_layout_of(3, 1, (long long)size);
    layout.conversions = "x-CBF_CANONICAL";
    expect_failure(context, DB_ERROR_UNSUPPORTED, read_layout(&layout, bytes, size, &image),
                   "x-CBF_BYTE_OFFSET", "CANONICAL");
    const int64_t huge[3] = { INT64_MAX, INT64_MIN, -3 }; /* wraps around, back into the range */
    size = cbf_compress(huge, 3, bytes);
    layout = cbf_layout_of(3, 1, (long long)size);
    expect_failure(context, DB_ERROR_INPUT, read_layout(&layout, bytes, size, &image), "pixel 0 0",
                   "range");
    layout.element_type = "signed 64-bit integer";
    expect_ok(context, read_layout(&layout, bytes, size, &image));
    assert_true(image.value[2] == -3);
    db_measured_image_clear(&image);
}

/* A file with header and pixels, cut at every byte, and with every byte changed. */
/* A writer that misspelt "_array_data.header_contents". */
static void a_header_without_its_item_is_found(void **state) {
    (void)state;
    static const int64_t values[4] = { 3, -1, -2, 5 };
    unsigned char compressed[60];
    const size_t length = cbf_compress(values, 4, compressed);
    cbf_layout layout = cbf_layout_of(2, 2, (long long)length);
    layout.header = "# Detector: PILATUS 300K\r\n# Wavelength 1.5 A\r\n";
    size_t size;
    char *const bytes = cbf_bytes(&layout, compressed, length, &size);
    char *const item = strstr(bytes, "header_contents");
    assert_non_null(item);
    memcpy(item, "header_content ", 15);
    db_measured_image image;
    expect_ok(test_context(),
              db_read_image(test_context(), folder_file("item.cbf", bytes, size), &image));
    free(bytes);
    assert_true(image.wavelength == 1.5);
    static const uint8_t mask[4] = { 0, DB_MASK_GAP, DB_MASK_BAD, 0 };
    assert_memory_equal(image.mask, mask, sizeof mask);
    db_measured_image_clear(&image);
}

static void marks_of_unsigned_pixels_are_no_counts(void **state) {
    (void)state;
    static const struct {
        const char *type;
        int64_t value[4];
        int masked[4];
    } cases[] = {
        { "unsigned 32-bit integer", { 7, 4294967295, 4294967294, 2147483648 }, { 0, 1, 1, 1 } },
        { "unsigned 32-bit integer", { 2147483646, 0, 4294967040, 5 }, { 0, 0, 1, 0 } },
        { "unsigned 16-bit integer", { 65535, 65534, 65533, 40000 }, { 1, 0, 0, 0 } },
        /* cut off where the type ends, although Count_cutoff is not known */
        { "signed 16-bit integer", { 32767, 32766, -1, 0 }, { 1, 0, 1, 0 } },
        { "signed 8-bit integer", { 127, 126, 1, 0 }, { 1, 0, 0, 0 } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char compressed[60];
        const size_t length = cbf_compress(cases[i].value, 4, compressed);
        cbf_layout layout = cbf_layout_of(2, 2, (long long)length);
        layout.element_type = cases[i].type;
        db_measured_image image;
        expect_ok(test_context(), read_layout(&layout, compressed, length, &image));
        for (int k = 0; k < 4; k++) assert_int_equal(image.mask[k] != 0, cases[i].masked[k]);
        db_measured_image_clear(&image);
    }
}

static void damaged_files_never_crash(void **state) {
    (void)state;
    static const int64_t values[12] = { 0, 1, -1, 400, 70000, 3, 3, 3, -2, 90, 100000, 2 };
    const char *path = cbf_file("whole.cbf", pilatus_header, values, 4, 3);
    size_t size;
    char *bytes = load_file(path, &size);
    const size_t data = (size_t)(strstr(bytes, "\x0c\x1a\x04\xd5") - bytes) + 4;
    for (size_t cut = 0; cut < size; cut++) {
        db_measured_image image;
        const db_status status =
            db_read_image(test_context(), folder_file("cut.cbf", bytes, cut), &image);
        if (cut < data + 12) assert_int_not_equal(status, DB_OK);
        if (status != DB_OK)
            assert_true(strstr(db_context_message(test_context()), "cut.cbf") != NULL);
        db_measured_image_clear(&image);
    }
    int refused = 0;
    for (size_t i = 0; i < size; i++) {
        const char kept = bytes[i];
        for (int bit = 0; bit < 8; bit += 3) {
            bytes[i] = (char)(kept ^ (1 << bit));
            db_measured_image image;
            refused += db_read_image(test_context(), folder_file("flip.cbf", bytes, size),
                                     &image) != DB_OK;
            db_measured_image_clear(&image);
        }
        bytes[i] = kept;
    }
    assert_true(refused > 0);
    free(bytes);
}

/* 60 modules of 487 x 195 pixels on 2463 x 2527. */
static void a_pilatus_frame_is_read(void **state) {
    (void)state;
    db_measured_image image;
    expect_ok(
        test_context(),
        db_read_image(test_context(), shared_path("realdata/thaumatin/thau_3_2_0005.cbf"), &image));
    assert_int_equal(image.fast_pixels, 2463);
    assert_int_equal(image.slow_pixels, 2527);
    size_t gaps = 0;
    for (int i = 0; i < 2463 * 2527; i++) gaps += image.mask[i] == DB_MASK_GAP;
    assert_int_equal(gaps, 2463 * 2527 - 60 * 487 * 195);
    assert_true(image.mask[487] == DB_MASK_GAP && image.mask[486] != DB_MASK_GAP);
    assert_true(image.wavelength == 0.96859 && fabs(image.distance - 351) < 1e-9);
    assert_true(image.overload == 115897);
    assert_string_equal(image.detector, "PILATUS3 6M, S/N 60-0119");
    db_measured_image_clear(&image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_of_every_width_are_read),
        cmocka_unit_test(random_images_come_back),
        cmocka_unit_test(the_header_is_read),
        cmocka_unit_test(what_the_header_leaves_out_stays_unknown),
        cmocka_unit_test(units_are_those_of_the_header),
        cmocka_unit_test(zeros_are_not_known_and_named),
        cmocka_unit_test(what_makes_no_sense_is_named_and_not_used),
        cmocka_unit_test(scans_keep_their_sense_and_their_axis),
        cmocka_unit_test(a_header_without_its_item_is_found),
        cmocka_unit_test(marks_of_unsigned_pixels_are_no_counts),
        cmocka_unit_test(bad_header_values_are_errors_that_name_them),
        cmocka_unit_test(a_binary_header_that_does_not_fit_the_data_is_noticed),
        cmocka_unit_test(checksums_are_those_of_md5),
        cmocka_unit_test(a_wrong_checksum_is_noticed),
        cmocka_unit_test(other_ways_to_write_the_binary_header_are_understood),
        cmocka_unit_test(element_types_set_the_range),
        cmocka_unit_test(damaged_files_never_crash),
        cmocka_unit_test(a_pilatus_frame_is_read),
    };
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
