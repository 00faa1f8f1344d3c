/* Full CBF images: packed pixels, arrays cut into panels, and what the tables say of them. */
#include "cbf_file.h"
#include "support/expect.h"
#include "support/notices.h"
#include "files_for_tests.h"
#include "io/images/cbf.h"
#include "io/images/image_geometry.h"

#include <dualbragg/io.h>
#include <dualbragg/expert/experiment_geometry.h>
#if defined(DB_HAVE_JANSSON)
#include <jansson.h>
#endif

#include <math.h>
#include <stdlib.h>

/* Packing, straight from its definition; bits are written one by one. */
typedef struct packer {
    unsigned char bytes[20000];
    size_t bits;
} packer;

static void put_bits(packer *p, int64_t value, int count) {
    for (int i = 0; i < count; i++, p->bits++)
        if (value >> i & 1) p->bytes[p->bits / 8] |= (unsigned char)(1 << p->bits % 8);
}

typedef struct solid {
    int fast, slow, sections;
    const int32_t *value;
} solid;

static int64_t at(const solid *s, int x, int y, int z) {
    return s->value[((size_t)z * (size_t)s->slow + (size_t)y) * (size_t)s->fast + (size_t)x];
}

static int64_t rounded(double mean) { return (int64_t)floor(mean + 0.5); }

/* The mean of the neighbours that came before. */
static int64_t expected_at(const solid *s, int flags, int x, int y, int z) {
    const int last = x == s->fast - 1;
    if (x == 0 && y == 0 && z == 0) return 0;
    if (flags & DB_PACKED_FLAT)
        return x   ? at(s, x - 1, y, z)
               : y ? at(s, s->fast - 1, y - 1, z)
                   : at(s, s->fast - 1, s->slow - 1, z - 1);
    if (y == 0) return x ? at(s, x - 1, 0, z) : at(s, 0, 0, z - 1);
    double sum = 0;
    int count = 0;
    const int layers = z > 0 && !(flags & DB_PACKED_UNCORRELATED_SECTIONS) ? 2 : 1;
    for (int layer = 0; layer < layers; layer++) {
        const int w = z - layer;
        sum += (double)at(s, x, y - 1, w);
        if (x > 0) sum += (double)(layer ? at(s, x, y, w) : at(s, x - 1, y, w));
        if (!last) sum += (double)at(s, x + 1, y - 1, w);
        if (x > 0 && !last) sum += (double)at(s, x - 1, y - 1, w);
        count += 1 + (x > 0) + !last + (x > 0 && !last);
    }
    return rounded(sum / count);
}

static const int first_widths[] = { 0, 4, 5, 6, 7, 8, 16, 65, -1 };
static const int second_widths[] = { 0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 65, -1 };

static int width_of(int64_t difference, const int *widths, int *code) {
    for (*code = 0;; ++*code) {
        const int bits = widths[*code];
        if (bits == 65 || (bits == 0 ? difference == 0
                                     : difference >= -((int64_t)1 << (bits - 1)) &&
                                           difference < (int64_t)1 << (bits - 1)))
            return bits;
    }
}

/* One block for each element, or of 4 for four equal differences of 0. */
static size_t pack(const solid *s, int flags, packer *p) {
    const int *const widths = flags & DB_PACKED_VERSION_2 ? second_widths : first_widths;
    const int code_bits = flags & DB_PACKED_VERSION_2 ? 7 : 6;
    const int count = s->fast * s->slow * s->sections;
    memset(p, 0, sizeof *p);
    put_bits(p, count, 64);
    p->bits = 256;
    for (int i = 0; i < count;) {
        int zeros = 0, code;
        for (int k = i; k < count && zeros < 4; k++, zeros++)
            if (s->value[k] !=
                expected_at(s, flags, k % s->fast, k / s->fast % s->slow, k / s->fast / s->slow))
                break;
        if (zeros == 4) {
            put_bits(p, 2, code_bits);
            i += 4;
            continue;
        }
        const int64_t difference =
            s->value[i] -
            expected_at(s, flags, i % s->fast, i / s->fast % s->slow, i / s->fast / s->slow);
        const int bits = width_of(difference, widths, &code);
        put_bits(p, code << 3, code_bits);
        put_bits(p, difference,
                 bits == 65 && !(flags & DB_PACKED_FLAT) ? 32
                 : bits < 64                             ? bits
                                                         : 64);
        if (bits == 65 && flags & DB_PACKED_FLAT) put_bits(p, difference < 0, 1);
        i++;
    }
    return (p->bits + 7) / 8;
}

static void fill_numbers(int32_t *value, int count) {
    uint32_t state = 12345;
    for (int i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        const int32_t size = 1 << (state >> 8 & 15);
        value[i] = i % 13 < 6 ? 7 : (int32_t)(state >> 16) % size - size / 3;
    }
    value[count / 2] = 2000000000;
    value[count - 1] = -1999999999;
}

static void packed_pixels_are_unpacked(void **state) {
    (void)state;
    static const int all_flags[] = { 0, DB_PACKED_VERSION_2, DB_PACKED_UNCORRELATED_SECTIONS,
                                     DB_PACKED_FLAT, DB_PACKED_FLAT | DB_PACKED_VERSION_2 };
    int32_t value[9 * 7 * 3], found[9 * 7 * 3];
    fill_numbers(value, 9 * 7 * 3);
    packer *const p = malloc(sizeof *p);
    assert_non_null(p);
    for (size_t k = 0; k < sizeof all_flags / sizeof *all_flags; k++)
        for (int sections = 1; sections <= 3; sections += 2) {
            const solid s = { 9, 7, sections, value };
            const size_t size = pack(&s, all_flags[k], p), count = (size_t)(63 * sections);
            assert_int_equal(
                db_cbf_unpack(p->bytes, size, 9, 7, (size_t)sections, all_flags[k], found), count);
            assert_memory_equal(found, value, count * sizeof *value);
            for (size_t cut = 0; cut < size; cut += 5)
                assert_true(db_cbf_unpack(p->bytes, cut, 9, 7, (size_t)sections, all_flags[k],
                                          found) < count);
        }
    free(p);
}

/* A file in pieces: text and binary sections one after the other. */
typedef struct pieces {
    char bytes[40000];
    size_t size;
} pieces;

static void add(pieces *p, const void *bytes, size_t size) {
    assert_true(p->size + size <= sizeof p->bytes);
    memcpy(p->bytes + p->size, bytes, size);
    p->size += size;
}
static void add_text(pieces *p, const char *text) { add(p, text, strlen(text)); }

static const char usual_type[] = "signed 32-bit integer", *element_type = usual_type;

static void add_section(pieces *p, int id, const char *conversions, const char *shape,
                        const void *bytes, size_t size) {
    char header[600];
    snprintf(header, sizeof header,
             ";\n--CIF-BINARY-FORMAT-SECTION--\nContent-Type: application/octet-stream;\n"
             "     conversions=\"%s\"\nContent-Transfer-Encoding: BINARY\nX-Binary-Size: %zu\n"
             "X-Binary-ID: %d\nX-Binary-Element-Type: \"%s\"\n%s\n",
             conversions, size, id, element_type, shape);
    add_text(p, header);
    add(p, "\x0c\x1a\x04\xd5", 4);
    add(p, bytes, size);
    add_text(p, "\n--CIF-BINARY-FORMAT-SECTION----\n;\n");
}

#define TABLES                                                                                     \
    "###CBF: VERSION 1.7\ndata_x\n_diffrn.id 'it''s a ; test'\n"                                   \
    "_diffrn_radiation_wavelength.wavelength 1.25\nloop_\n_diffrn_data_frame.array_id\n"           \
    "_diffrn_data_frame.binary_id\n A 1\n B 2\n"                                                   \
    "loop_\n_array_structure_list_axis.axis_id\n"                                                  \
    "_array_structure_list_axis.displacement_increment\n F 0.11(2)\n S 0.11\n"
#define SECTIONS                                                                                   \
    "loop_\n_array_structure_list_section.array_id\n_array_structure_list_section.id\n"            \
    "_array_structure_list_section.index\n_array_structure_list_section.start\n"                   \
    "_array_structure_list_section.end\n"                                                          \
    " A A2 1 4 6\n A A2 2 1 2\n A A2 3 2 2\n A A1 1 1 3\n A A1 2 1 2\n A A1 3 1 1\n"
#define INTENSITIES                                                                                \
    "loop_\n_array_intensities.array_id\n_array_intensities.undefined_value\n"                     \
    "_array_intensities.overload\n_array_intensities.gain\n A -400 5000 7.5\n B . ? 1\n"

/* Array A is packed, 6 x 2 x 2, of which two parts of 3 x 2 are panels, named in the table in the
 * other order; B is one panel of 3 x 4. */
static const char *two_arrays(const char *tables) {
    static const int32_t a[24] = { 1,  2,  3,  4,  5,  6,  7,  8,  -9,   10,   11, 12,
                                   13, 14, 15, 16, 17, 18, 19, 20, -400, 5000, 23, 24 };
    static const int64_t b[12] = { 100, 101, 102, 103, 104, 105, 106, -107, 108, 109, 9999, 111 };
    static pieces file;
    packer *const packed = malloc(sizeof *packed);
    const solid s = { 6, 2, 2, a };
    unsigned char offsets[15 * 12];
    assert_non_null(packed);
    file.size = 0;
    add_text(&file, tables);
    add_text(&file, "loop_\n_array_data.array_id\n_array_data.binary_id\n_array_data.data\n A 1\n");
    add_section(&file, 1, "x-CBF_PACKED",
                "X-Binary-Number-of-Elements: 24\nX-Binary-Size-Fastest-Dimension: 6\n"
                "X-Binary-Size-Second-Dimension: 2\nX-Binary-Size-Third-Dimension: 2",
                packed->bytes, pack(&s, 0, packed));
    add_text(&file, " B 2\n");
    add_section(&file, 2, "x-CBF_BYTE_OFFSET",
                "X-Binary-Number-of-Elements: 12\nX-Binary-Size-Fastest-Dimension: 3\n"
                "X-Binary-Size-Second-Dimension: 4",
                offsets, cbf_compress(b, 12, offsets));
    free(packed);
    return folder_file("arrays.cbf", file.bytes, file.size);
}

static void arrays_are_cut_into_panels(void **state) {
    (void)state;
    static const float expected[24] = { 16,  17,  18,  5000, 23,  24,  1,    2,
                                        3,   7,   8,   -9,   100, 101, 102,  103,
                                        104, 105, 106, -107, 108, 109, 9999, 111 };
    db_measured_image image;
    expect_ok(test_context(),
              db_read_image(test_context(), two_arrays(TABLES SECTIONS INTENSITIES), &image));
    assert_string_equal(image.format, "CBF");
    assert_int_equal(image.fast_pixels, 3);
    assert_int_equal(image.slow_pixels, 8);
    assert_int_equal(image.panel_count, 3);
    assert_string_equal(image.panels[0].name, "A2");
    assert_string_equal(image.panels[1].name, "A1");
    assert_string_equal(image.panels[2].name, "B");
    assert_int_equal(image.panels[2].first_row, 4);
    assert_int_equal(image.panels[2].slow_pixels, 4);
    for (int i = 0; i < 24; i++) assert_true(image.value[i] == expected[i]);
    assert_int_equal(image.mask[3], DB_MASK_OVERLOAD); /* A's limit, not B's */
    assert_int_equal(image.mask[22], DB_MASK_TRUSTED);
    assert_int_equal(image.masked, 1);
    assert_true(image.wavelength == 1.25 && image.pixel_size[0] == 0.11 && image.gain == 7.5 &&
                image.stated_gain == 7.5);
    db_measured_image_clear(&image);
}

/* A detector on an arm that swings by 20 degree about x, 105 mm away, whose pixels follow one another
 * upwards and then along x; three circles, of which `turning` moves by `width`. mini: lines of another
 * header, which says other things. */
static const char *swung(const char *mini, const char *turning, double width) {
    static pieces file;
    char text[4000];
    unsigned char offsets[15 * 12];
    const int64_t pixels[12] = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, -1 };
    const char *const names[] = { "OMEGA", "KAPPA", "PHI" };
    double widths[3];
    for (int i = 0; i < 3; i++) widths[i] = strcmp(names[i], turning) == 0 ? width : 0;
    snprintf(text, sizeof text,
             "###CBF: VERSION 1.5\ndata_x\n%s_diffrn.id here\n"
             "_diffrn_radiation.polarizn_source_ratio 0.9\n_diffrn_radiation_wavelength.wavelength "
             "0.75\n"
             "loop_\n_axis.id\n_axis.type\n_axis.equipment\n_axis.depends_on\n_axis.vector[1] "
             "_axis.vector[2] "
             "_axis.vector[3]\n_axis.offset[1] _axis.offset[2] _axis.offset[3]\n"
             "PHI rotation goniometer KAPPA 1 0 0 . . .\n"
             "OMEGA rotation goniometer . 1 0 0 . . .\n"
             "KAPPA rotation goniometer OMEGA 3 0 4 . . .\n"
             "SOURCE general source . 0 0 1 . . .\n"
             "ARM rotation detector . 1 0 0 . . .\n"
             "Z translation detector ARM 0 0 -1 0 0 2\n"
             "F translation detector Z 0 1 0 -3 -5 0\n"
             "S translation detector F 1 0 0 0 0 0\n"
             "loop_\n_diffrn_scan_axis.axis_id\n_diffrn_scan_axis.angle_start\n"
             "_diffrn_scan_axis.angle_increment\n_diffrn_scan_axis.displacement_start\n"
             "OMEGA 30 %g 0\nKAPPA 40 %g 0\nPHI -50 %g 0\nARM 0 0 0\nZ 0 0 105\nF 0 0 0\n"
             "loop_\n_diffrn_scan_frame_axis.frame_id\n_diffrn_scan_frame_axis.axis_id\n"
             "_diffrn_scan_frame_axis.angle\n_diffrn_scan_frame_axis.displacement\n"
             "FRAME0 ARM 5 0\nFRAME1 ARM 20 0\nFRAME2 Z 0 300\n"
             "loop_\n_array_structure_list.array_id\n_array_structure_list.index\n"
             "_array_structure_list.dimension\n_array_structure_list.precedence\n"
             "_array_structure_list.direction\n_array_structure_list.axis_set_id\n"
             "A 1 4 1 increasing FS\nA 2 3 2 increasing SS\n"
             "loop_\n_array_structure_list_axis.axis_set_id\n_array_structure_list_axis.axis_id\n"
             "_array_structure_list_axis.displacement\n_array_structure_list_axis.displacement_"
             "increment\n"
             "FS F 0.1 0.2\nSS S 0.0 0.2\n"
             "_diffrn_data_frame.id FRAME1\n_diffrn_data_frame.array_id "
             "A\n_diffrn_data_frame.binary_id 1\n_array_data.data\n",
             mini, widths[0], widths[1], widths[2]);
    file.size = 0;
    add_text(&file, text);
    add_section(&file, 1, "x-CBF_BYTE_OFFSET",
                "X-Binary-Number-of-Elements: 12\nX-Binary-Size-Fastest-Dimension: 4\n"
                "X-Binary-Size-Second-Dimension: 3",
                offsets, cbf_compress(pixels, 12, offsets));
    return folder_file("swung.cbf", file.bytes, file.size);
}

/* v turned about an axis of any length, as q v q* of the quaternion. */
static void turn(const double axis[3], double degrees, double v[3]) {
    const double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    const double half = degrees * 0.00872664625997164788, w = cos(half);
    double q[3], t[3];
    for (int i = 0; i < 3; i++) q[i] = axis[i] / length * sin(half);
    for (int i = 0; i < 3; i++)
        t[i] = 2 * (q[(i + 1) % 3] * v[(i + 2) % 3] - q[(i + 2) % 3] * v[(i + 1) % 3]);
    double out[3];
    for (int i = 0; i < 3; i++)
        out[i] =
            v[i] + w * t[i] + q[(i + 1) % 3] * t[(i + 2) % 3] - q[(i + 2) % 3] * t[(i + 1) % 3];
    memcpy(v, out, sizeof out);
}

static void assert_near(const double found[3], const double expected[3]) {
    for (int i = 0; i < 3; i++)
        if (!(fabs(found[i] - expected[i]) < 1e-9))
            fail_msg("expected %.9g %.9g %.9g, found %.9g %.9g %.9g", expected[0], expected[1],
                     expected[2], found[0], found[1], found[2]);
}

static const char other_numbers[] =
    "_array_data.header_convention \"PILATUS_1.2\"\n_array_data.header_contents\n;\n"
    "# Detector: PILATUS test\n# Pixel_size 172e-6 m x 172e-6 m\n# Wavelength 1.5 A\n"
    "# Detector_distance 0.3 m\n# Beam_xy (1, 2) pixels\n# Start_angle 7 deg.\n"
    "# Angle_increment 1 deg.\n# Detector_2theta 30 deg.\n# Polarization 0.990\n"
    "# Silicon sensor, thickness 0.000320 m\n;\n";

/* The file, as an experiment; phi, width: what is expected of the scan. */
static void expect_swung(const char *path, const double spindle[3], double phi, double width,
                         double kahn) {
    static const double x[3] = { 1, 0, 0 };
    const db_expt_selection selection = { .number = -1, .image = path };
    db_experiment e;
    db_expt_content content;
    expect_ok(test_context(), db_experiment_init(test_context(), &e));
    expect_ok(test_context(), db_read_expt(test_context(), path, &selection, &e, &content));
    /* pixels from the corner of the first one: upwards, then along x */
    const double pixels[3][2] = { { 0, 0 }, { 4, 0 }, { 0, 3 } };
    for (int p = 0; p < 3; p++) {
        double found[3];
        double expected[3] = { -3 + 0.2 * pixels[p][1], -4.9 + 0.2 * pixels[p][0], 2 - 105 };
        turn(x, 20, expected);
        expect_ok(test_context(),
                  db_experiment_pixel_position(&e, 0, pixels[p][0], pixels[p][1], found));
        assert_near(found, expected);
    }
    assert_near(e.goniometer.spindle_axis, spindle);
    assert_true(fabs(content.phi - phi) < 1e-12 && fabs(content.osc_range - width) < 1e-12);
    assert_true(fabs(e.goniometer.phi - phi) < 1e-12);
    assert_true(e.beam.wavelength == 0.75 && fabs(e.beam.polarization - kahn) < 1e-12);
    db_expt_content_clear(&content);
    db_experiment_clear(&e);
}

static void tables_of_axes_place_detector_and_spindle(void **state) {
    (void)state;
    static const double x[3] = { 1, 0, 0 };
    double tilted[3] = { 0.6, 0, 0.8 };
    turn(x, 30, tilted); /* kappa's axis stands on omega */
    expect_swung(swung("", "OMEGA", 0.5), x, 30, 0.5, 0.9);
    expect_swung(swung(other_numbers, "OMEGA", -0.5), x, 30, -0.5, 0.98);
    expect_swung(swung("", "KAPPA", 0.25), tilted, 40, 0.25, 0.9);
    double phi[3] = { 1, 0, 0 };
    const double kappa[3] = { 3, 0, 4 };
    turn(kappa, 40, phi);
    turn(x, 30, phi);
    expect_swung(swung(other_numbers, "PHI", 0.1), phi, -50, 0.1, 0.98);
    expect_swung(swung("", "none", 0), x, 0, 0, 0.9); /* nothing turns: any axis */
    /* of another image the scan, if it tells one */
    const char *const path = swung("", "OMEGA", 0.5);
    static const char *const images[] = { "nowhere_0001.cbf", "", NULL };
    for (int i = 0; images[i]; i++) {
        const db_expt_selection selection = { .number = -1, .image = images[i] };
        db_experiment e;
        db_expt_content content;
        expect_ok(test_context(), db_experiment_init(test_context(), &e));
        expect_ok(test_context(), db_read_expt(test_context(), path, &selection, &e, &content));
        assert_string_equal(content.other_image, "swung.cbf");
        assert_true(content.phi == 30);
        db_expt_content_clear(&content);
        db_experiment_clear(&e);
    }
}

/* A list of a file with circles has them beside the crystal as it stands on the spindle; read again,
 * spindle and crystal are what they were. */
static void circles_come_into_lists(void **state) {
    (void)state;
#if defined(DB_HAVE_JANSSON)
    const char *const path = swung("", "KAPPA", 0.25);
    const char *const list = folder_path("circles.expt");
    const db_expt_selection selection = { .number = -1, .image = path };
    db_experiment e, again;
    db_expt_content content;
    expect_ok(test_context(), db_experiment_init(test_context(), &e));
    expect_ok(test_context(), db_experiment_init(test_context(), &again));
    expect_ok(test_context(), db_read_expt(test_context(), path, &selection, &e, &content));
    static const double x[3] = { 1, 0, 0 };
    for (int k = 0; k < 3; k++) { /* phi, then omega */
        double turned[3] = { k == 0, k == 1, k == 2 };
        turn(x, -50, turned);
        turn(x, 30, turned);
        for (int i = 0; i < 3; i++)
            assert_true(fabs(content.circles[3 * i + k] - turned[i]) < 1e-12);
    }
    db_expt_content_clear(&content);
    const db_expt_image image = { .path = "swung_0001.cbf", .gain = 1 };
    /* as it stands on the spindle: a*, b*, c* along x, y, z */
    double a_star[9], column[3][3] = { { 0.02, 0, 0 }, { 0, 0.03, 0 }, { 0, 0, 0.05 } };
    for (int k = 0; k < 3; k++) {
        turn(x, -50, column[k]); /* phi */
        turn(x, 30, column[k]);  /* omega; kappa is the spindle, at 0 */
        for (int i = 0; i < 3; i++) a_star[3 * i + k] = column[k][i];
    }
    expect_ok(test_context(), db_crystal_set_matrix(test_context(), &e.crystal, a_star));
    expect_ok(test_context(), db_write_expt(test_context(), list, &e, &image));
    expect_ok(test_context(), db_expt_keep(test_context(), list, path, 0, 0));
    json_t *const root = json_load_file(list, 0, NULL);
    const json_t *const gonio = json_array_get(json_object_get(root, "goniometer"), 0);
    const json_t *const crystal = json_array_get(json_object_get(root, "crystal"), 0);
    static const double kappa[3] = { 0.6, 0, 0.8 }, a[3] = { 50, 0, 0 };
    double found[3], column_of_fixed[3] = { 0, 1, 0 }, column_of_setting[3] = { 0, 1, 0 };
    turn(x, -50, column_of_fixed);
    turn(x, 30, column_of_setting);
    for (size_t i = 0; i < 3; i++)
        found[i] = json_number_value(json_array_get(json_object_get(gonio, "rotation_axis"), i));
    assert_near(found, kappa);
    for (size_t i = 0; i < 3; i++)
        found[i] =
            json_number_value(json_array_get(json_object_get(gonio, "fixed_rotation"), 3 * i + 1));
    assert_near(found, column_of_fixed);
    for (size_t i = 0; i < 3; i++)
        found[i] = json_number_value(
            json_array_get(json_object_get(gonio, "setting_rotation"), 3 * i + 1));
    assert_near(found, column_of_setting);
    for (size_t i = 0; i < 3; i++)
        found[i] = json_number_value(json_array_get(json_object_get(crystal, "real_space_a"), i));
    assert_near(found, a);
    json_decref(root);
    const db_expt_selection first = { .number = 0 };
    expect_ok(test_context(), db_read_expt(test_context(), list, &first, &again, &content));
    db_expt_content_clear(&content);
    double back[9];
    db_crystal_matrix(&again.crystal, back);
    for (int i = 0; i < 9; i++) assert_true(fabs(back[i] - a_star[i]) < 1e-12);
    assert_near(again.goniometer.spindle_axis, e.goniometer.spindle_axis);
    assert_true(fabs(again.goniometer.phi - 40) < 1e-12);
    db_experiment_clear(&e);
    db_experiment_clear(&again);
#endif
}

#if defined(DB_HAVE_JANSSON)
static void read_axis(const char *list, double axis[3]) {
    json_t *const root = json_load_file(list, 0, NULL);
    const json_t *const crystal = json_array_get(json_object_get(root, "crystal"), 0);
    for (size_t i = 0; i < 3; i++)
        axis[i] = json_number_value(json_array_get(json_object_get(crystal, "real_space_b"), i));
    json_decref(root);
}
#endif

/* Circles about different axes: the crystal loses the outer ones first. */
static void outer_circles_are_taken_out_first(void **state) {
    (void)state;
#if defined(DB_HAVE_JANSSON)
    const char *const path = swung("", "KAPPA", 0.25);
    const char *const list = folder_path("crossed.expt");
    const db_expt_selection selection = { .number = -1, .image = path };
    const db_expt_image image = { .path = "swung_0001.cbf", .gain = 1 };
    db_experiment e;
    db_expt_content content;
    double before[3], after[3], outer[9], inner[9], expected[3] = { 0 };
    expect_ok(test_context(), db_experiment_init(test_context(), &e));
    expect_ok(test_context(), db_read_expt(test_context(), path, &selection, &e, &content));
    db_expt_content_clear(&content);
    static const double a_star[9] = { 0.02, 0, 0, 0, 0.03, 0, 0, 0, 0.05 };
    expect_ok(test_context(), db_crystal_set_matrix(test_context(), &e.crystal, a_star));
    expect_ok(test_context(), db_write_expt(test_context(), list, &e, &image));
    read_axis(list, before);
    for (int k = 0; k < 3; k++) {
        static const double x[3] = { 1, 0, 0 }, z[3] = { 0, 0, 1 };
        double columns[2][3] = { { k == 0, k == 1, k == 2 }, { k == 0, k == 1, k == 2 } };
        turn(x, 40, columns[0]);
        turn(z, 25, columns[1]);
        for (int i = 0; i < 3; i++) {
            outer[3 * i + k] = columns[0][i];
            inner[3 * i + k] = columns[1][i];
        }
    }
    db_circles crossed;
    memcpy(crossed.setting, outer, sizeof outer);
    memcpy(crossed.fixed, inner, sizeof inner);
    expect_ok(test_context(), db_expt_put_circles(test_context(), list, &crossed));
    read_axis(list, after);
    /* outer (inner v) is where it stood */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                expected[i] += outer[3 * i + j] * inner[3 * j + k] * after[k];
    for (int i = 0; i < 3; i++) assert_true(fabs(expected[i] - before[i]) < 1e-10);
    assert_true(fabs(before[0] - after[0]) > 1);
    db_experiment_clear(&e);
#endif
}

/* Images have room for flat detectors that face the beam: numbers of another header are not left. */
static void tables_win_over_lines(void **state) {
    (void)state;
    db_measured_image image;
    expect_ok(test_context(),
              db_read_image(test_context(), swung(other_numbers, "OMEGA", 0.5), &image));
    assert_string_equal(image.format, "miniCBF");
    assert_true(image.wavelength == 0.75 && image.pixel_size[0] == 0.2);
    assert_true(isnan(image.distance) && isnan(image.beam_centre[0]) && isnan(image.phi));
    assert_true(fabs(image.sensor_thickness - 320) < 1e-9);
    assert_int_equal(image.mask[11], DB_MASK_GAP);
    db_measured_image_clear(&image);
    db_image_geometry g;
    expect_ok(test_context(),
              db_image_geometry_read(test_context(), swung(other_numbers, "OMEGA", 0.5), &g));
    /* frame of images: beam, up, x. The beam hits the swung plane at 103 mm over cosine. */
    const double c = cos(20 * 0.01745329251994329577), s = sin(20 * 0.01745329251994329577);
    const double fast[3] = { -s, c, 0 }, slow[3] = { 0, 0, 1 };
    assert_near(g.fast_axis, fast);
    assert_near(g.slow_axis, slow);
    assert_true(fabs(g.distance - 103 / c) < 1e-9);
    assert_true(fabs(g.beam_centre[1] - 3) < 1e-9);
    assert_true(fabs(g.beam_centre[0] - (4.9 - 103 * s / c)) < 1e-9);
    assert_true(g.phi == 30 && g.osc_range == 0.5 && isnan(g.twotheta));
    /* an arm at 95 degree, which the beam passes by: the pixels are read, the panel stands 103 mm away */
    size_t size;
    char *const bytes = load_file(swung("", "OMEGA", 0.5), &size);
    memcpy(strstr(bytes, "ARM 20 0"), "ARM 95 0", 8);
    const char *const far = folder_file("far.cbf", bytes, size);
    free(bytes);
    expect_ok(test_context(), db_read_image(test_context(), far, &image));
    db_measured_image_clear(&image);
    expect_ok(test_context(), db_image_geometry_read(test_context(), far, &g));
    assert_true(isnan(g.distance) && fabs(g.close_distance - 103) < 1e-9);
    assert_true(fabs(g.near_point[0] - 4.9) < 1e-9 && fabs(g.near_point[1] - 3) < 1e-9);
}

/* Each circle is compared with all others: thousands of them would take minutes. */
static void goniometers_of_many_circles_are_refused(void **state) {
    (void)state;
    size_t size, length = 0;
    char *const bytes = load_file(swung("", "OMEGA", 0.5), &size);
    char *const arm = strstr(bytes, "ARM rotation detector .");
    assert_non_null(arm);
    const char *const rest = arm + strlen("ARM rotation detector .");
    const int width = (int)strcspn(rest, "\n") + 1;
    char *const longer = malloc(size + 40 * 200);
    length = (size_t)(arm - bytes);
    memcpy(longer, bytes, length);
    for (int i = 0; i < 40; i++)
        length += (size_t)snprintf(longer + length, 200, "C%d rotation goniometer C%d%.*s", i,
                                   39 - i, width, rest);
    memcpy(longer + length, arm, size - (size_t)(arm - bytes));
    const char *const path =
        folder_file("circles.cbf", longer, length + size - (size_t)(arm - bytes));
    free(longer);
    free(bytes);
    db_circles circles;
    int found;
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_cbf_circles(test_context(), path, &circles, &found), "circles.cbf",
                   "at most 32 circles");
}

/* A circle whose angle a table leaves open. */
static void open_circles_are_noticed(void **state) {
    (void)state;
    static const char *const written[] = { "KAPPA 40 0", "KAPPA ?  0", "KAPPA .  0" };
    for (int i = 0; i < 3; i++) {
        size_t size;
        char *const bytes = load_file(swung("", "OMEGA", 0.5), &size);
        char *const at = strstr(bytes, written[0]);
        assert_non_null(at);
        memcpy(at, written[i], strlen(written[i]));
        const char *const path = folder_file("open.cbf", bytes, size);
        free(bytes);
        db_circles circles;
        int found;
        notices[0] = '\0';
        db_context_set_notices(test_context(), keep_notice, NULL);
        expect_ok(test_context(), db_cbf_circles(test_context(), path, &circles, &found));
        db_context_set_notices(test_context(), NULL, NULL);
        if (i == 0)
            assert_string_equal(notices, "");
        else
            assert_non_null(strstr(notices, "open.cbf: axis KAPPA: its angle is not known"));
    }
}

/* Axes of the detector, which the frame or the start of the scan places. */
static void open_axes_of_the_detector_are_noticed(void **state) {
    (void)state;
    static const struct {
        const char *from[2], *to[2], *expected;
    } cases[] = {
        { { "Z 0 0 105", "ARM 0 0 0" }, { "Z . . 105", "ARM ? . ." }, "" },
        { { "Z 0 0 105" }, { "Z 0 0 ?  " }, "open.cbf: axis Z: its displacement is not known" },
        { { "FRAME1 ARM 20", "ARM 0 0 0" },
          { "FRAME1 ARM ? ", "ARM . 0 0" },
          "open.cbf: axis ARM: its angle is not known" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size;
        char *const bytes = load_file(swung("", "OMEGA", 0.5), &size);
        for (int k = 0; k < 2 && cases[i].from[k]; k++) {
            char *const at = strstr(bytes, cases[i].from[k]);
            assert_non_null(at);
            memcpy(at, cases[i].to[k], strlen(cases[i].to[k]));
        }
        const char *const path = folder_file("open.cbf", bytes, size);
        free(bytes);
        db_measured_image image;
        notices[0] = '\0';
        db_context_set_notices(test_context(), keep_notice, NULL);
        expect_ok(test_context(), db_read_image(test_context(), path, &image));
        db_context_set_notices(test_context(), NULL, NULL);
        db_measured_image_clear(&image);
        print_message("%s\n", notices);
        assert_non_null(strstr(notices, cases[i].expected));
        assert_true(*cases[i].expected || !strstr(notices, "not known"));
    }
}

static void axes_that_lead_nowhere_are_named(void **state) {
    (void)state;
    static const struct {
        const char *from, *to, *named;
    } cases[] = {
        { "Z translation detector ARM", "Z translation detector NIL", "NIL" },
        { "ARM rotation detector .    ", "ARM rotation detector F    ", "axis" },
        { "ARM rotation detector . 1", "ARM rotation detector . 0", "ARM" },
        { "FS F 0.1 0.2", "FS F 0.1 0.0", "displacement_increment" },
        { "KAPPA 40 0", "KAPPA 40 1", "turns" },
        { "KAPPA 40 0 0\nPHI -50 0 0\nARM 0 0 0\nZ 0 0 105\nF 0 0 0\n",
          "KAPPA 9e999 0 0\nPHI -50 0 0\nARM 0 0 0\nZ 0 0 105     \n",
          "axis KAPPA: expected a finite number in diffrn_scan_axis.angle_start, found '9e999'" },
        { "OMEGA 30", "OMEGA 3O", "axis OMEGA: expected a finite number in diffrn_scan_axis" },
        { "FRAME0 ARM 5 0\nFRAME1 ARM 20 0\n", "FRAME1 ARM inf 0              \n",
          "axis ARM: expected a finite number in diffrn_scan_frame_axis.angle, found 'inf'" },
        { "Z 0 1 0 -3 -5", "Z 0 1 0 inf 1",
          "axis F: expected a finite number in axis.offset[1], found 'inf'" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size;
        const char *const path = swung("", "OMEGA", 0.5);
        char *const bytes = load_file(path, &size);
        char *const at = strstr(bytes, cases[i].from);
        if (i != 1) assert_non_null(at);
        if (at) memcpy(at, cases[i].to, strlen(cases[i].to));
        if (!at) { /* a circle */
            char *const arm = strstr(bytes, "ARM rotation detector . 1 0 0 .");
            memcpy(arm, "ARM rotation detector F 1 0 0 .", 31);
        }
        const char *const changed = folder_file("nowhere.cbf", bytes, size);
        free(bytes);
        const db_expt_selection selection = { .number = -1 };
        db_experiment e;
        db_expt_content content;
        expect_ok(test_context(), db_experiment_init(test_context(), &e));
        expect_failure(test_context(), DB_ERROR_INPUT,
                       db_read_expt(test_context(), changed, &selection, &e, &content),
                       "nowhere.cbf", cases[i].named);
        db_expt_content_clear(&content);
        db_experiment_clear(&e);
    }
}

/* Without a table of sections every section of an array is a panel; here they differ in width. */
static void panels_must_have_one_width(void **state) {
    (void)state;
    db_measured_image image;
    expect_failure(test_context(), DB_ERROR_UNSUPPORTED,
                   db_read_image(test_context(), two_arrays(TABLES), &image), "arrays.cbf",
                   "one width", "6 and 3");
}

/* Without tables each binary section is a panel of its own, of 3 x 2 and 3 x 1 pixels. A table that gives one array two
 * sections contradicts itself. */
static void sections_without_names_are_panels(void **state) {
    (void)state;
    static const int64_t pixels[2][6] = { { 1, 2, 3, 4, 5, 6 }, { 7, 8, 9 } };
    static const char *const rows[] = { "2", "1" };
    static pieces file;
    db_measured_image image;
    for (int named = 0; named < 2; named++) {
        file.size = 0;
        add_text(&file, "###CBF: VERSION 1.5\ndata_x\n");
        if (named)
            add_text(&file, "loop_\n_diffrn_data_frame.array_id\n_diffrn_data_frame.binary_id\n"
                            " A 1\n A 2\n");
        add_text(&file, "loop_\n_array_data.data\n");
        for (int s = 0; s < 2; s++) {
            unsigned char offsets[15 * 6];
            char shape[160];
            snprintf(shape, sizeof shape,
                     "X-Binary-Number-of-Elements: %d\nX-Binary-Size-Fastest-Dimension: 3\n"
                     "X-Binary-Size-Second-Dimension: %s",
                     6 - 3 * s, rows[s]);
            add_section(&file, s + 1, "x-CBF_BYTE_OFFSET", shape, offsets,
                        cbf_compress(pixels[s], (size_t)(6 - 3 * s), offsets));
        }
        const char *const path = folder_file("unnamed.cbf", file.bytes, file.size);
        if (named) {
            expect_failure(test_context(), DB_ERROR_INPUT,
                           db_read_image(test_context(), path, &image), "unnamed.cbf: array A",
                           "expected one binary section, found two");
            continue;
        }
        expect_ok(test_context(), db_read_image(test_context(), path, &image));
        assert_int_equal(image.panel_count, 2);
        assert_int_equal(image.panels[1].first_row, 2);
        assert_int_equal(image.slow_pixels, 3);
        for (int i = 0; i < 9; i++) assert_true(image.value[i] == (float)(i + 1));
        db_measured_image_clear(&image);
    }
}

/* Of 12 pixels in one array of a type, with a row of array_intensities. */
static void limits_are_those_of_table_and_type(void **state) {
    (void)state;
    enum { G = DB_MASK_GAP, O = DB_MASK_OVERLOAD, B = DB_MASK_BAD };
    static const struct {
        const char *type, *items, *values;
        int64_t pixel[12];
        uint8_t mask[12];
        double underload, overload;
    } cases[] = {
        { "unsigned 32-bit integer",
          "gain",
          "1",
          { 4294967295, 2147483648, 2147483647, 5, 0 },
          { B, B },
          0,
          INFINITY },
        { "unsigned 32-bit integer",
          "overload",
          "900",
          { 4294967295, 900, 899 },
          { B, O },
          0,
          900 },
        { "unsigned 32-bit integer", "gain", "1", { -1, -2, 7, 0 }, { B, B }, 0, INFINITY },
        { "unsigned 16-bit integer",
          "undefined_value",
          "65535",
          { 65535, 65534, 7, 0 },
          { B },
          0,
          INFINITY },
        { "unsigned 16-bit integer", "overload", "65535", { 65535, 65534, 7, 0 }, { O }, 0, 65535 },
        { "signed 16-bit integer", "gain", "1", { 32767, 32766, 7, 0 }, { O }, 0, 32767 },
        { "signed 16-bit integer", "gain", "1", { 40000, 32766, 7, 0 }, { O }, 0, 32767 },
        { "signed 32-bit integer",
          "undefined_value",
          "0",
          { 0, 3, -7, 5, 1, 1, 1, 1, 1, 1, 1, 1 },
          { B },
          0,
          INFINITY },
        { "signed 32-bit integer",
          "undefined_value",
          "-1",
          { -1, 3, -2, 5, 1, 1, 1, 1, 1, 1, 1, 1 },
          { B, 0, B },
          0,
          INFINITY },
        { "signed 32-bit integer",
          "underload",
          "-5",
          { -6, -5, -9, 5, 1, 1, 1, 1, 1, 1, 1, 1 },
          { B, 0, B },
          -5,
          INFINITY },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static pieces file;
        char text[400];
        unsigned char offsets[15 * 12];
        db_measured_image image;
        file.size = 0;
        snprintf(
            text, sizeof text,
            "###CBF: VERSION 1.5\ndata_x\n_array_intensities.array_id A\n_array_intensities.%s %s\n"
            "_diffrn_data_frame.array_id A\n_diffrn_data_frame.binary_id 1\n_array_data.data\n",
            cases[i].items, cases[i].values);
        add_text(&file, text);
        snprintf(text, sizeof text,
                 "X-Binary-Number-of-Elements: 12\nX-Binary-Size-Fastest-Dimension: 4\n"
                 "X-Binary-Size-Second-Dimension: 3");
        element_type = cases[i].type;
        add_section(&file, 1, "x-CBF_BYTE_OFFSET", text, offsets,
                    cbf_compress(cases[i].pixel, 12, offsets));
        element_type = usual_type;
        expect_ok(test_context(),
                  db_read_image(test_context(), folder_file("limits.cbf", file.bytes, file.size),
                                &image));
        for (int k = 0; k < 12; k++)
            if (image.mask[k] != cases[i].mask[k])
                fail_msg("case %zu, pixel %d: mask %d", i, k, image.mask[k]);
        assert_true(image.underload == cases[i].underload && image.overload == cases[i].overload);
        db_measured_image_clear(&image);
    }
}

static void tables_that_contradict_the_arrays_are_named(void **state) {
    (void)state;
    db_measured_image image;
    expect_failure(
        test_context(), DB_ERROR_INPUT,
        db_read_image(test_context(), two_arrays(TABLES SECTIONS " A A1 3 2 3\n"), &image),
        "arrays.cbf", "A1", "from 2 to 3");
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_read_image(test_context(), two_arrays(TABLES SECTIONS " A A1 3\n"), &image),
                   "whole rows of 5", "array_structure_list_section");
    expect_failure(
        test_context(), DB_ERROR_UNSUPPORTED,
        db_read_image(test_context(),
                      two_arrays(TABLES
                                 "loop_\n_array_structure_list.array_id\n"
                                 "_array_structure_list.index\n_array_structure_list.precedence\n"
                                 " A 1 2\n A 2 1\n"),
                      &image),
        "array_structure_list", "precedence");
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_read_image(test_context(), two_arrays(TABLES "_a.b 'open\n"), &image),
                   "closing '");
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_read_image(test_context(),
                                 folder_text("none.cbf", "###CBF: VERSION 1.7\ndata_x\n"), &image),
                   "none.cbf", "binary section");
}

static void damaged_files_never_crash(void **state) {
    (void)state;
    size_t size;
    char *bytes = load_file(two_arrays(TABLES SECTIONS INTENSITIES), &size);
    for (size_t i = 0; i < size; i += 3) {
        const char kept = bytes[i];
        db_measured_image image;
        bytes[i] = (char)(kept ^ (1 << i % 8));
        if (db_read_image(test_context(), folder_file("flip.cbf", bytes, size), &image) != DB_OK)
            assert_true(strstr(db_context_message(test_context()), "flip.cbf") != NULL);
        db_measured_image_clear(&image);
        bytes[i] = kept;
    }
    free(bytes);
}

/* Sums over all pixels, as another reader of CBF files found them. */
static void measured_images_are_read(void **state) {
    (void)state;
    db_measured_image image;
    const char *path = shared_path("realdata/thermolysin/idx-20130301060858401.cbf");
    expect_ok(test_context(), db_read_image(test_context(), path, &image));
    assert_int_equal(image.panel_count, 64);
    assert_int_equal(image.fast_pixels, 194);
    assert_int_equal(image.panels[63].slow_pixels, 185);
    assert_string_equal(image.panels[17].name, "ARRAY_D0Q1S0A1");
    double sum = 0;
    for (size_t i = 0; i < 64 * 194 * 185; i++) sum += (double)image.value[i];
    assert_true(sum == 32878926);
    db_measured_image_clear(&image);

    path = shared_path("realdata/rayonix/hit-20181213155134902.cbf");
    expect_ok(test_context(), db_read_image(test_context(), path, &image));
    assert_int_equal(image.panel_count, 0);
    assert_int_equal(image.slow_pixels, 1920);
    double moment = 0;
    for (size_t i = 0; i < 1920 * 1920; i++)
        moment += (double)(i % 1000003) * (double)image.value[i];
    assert_true(moment == 1629478653919754);
    db_measured_image_clear(&image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_pixels_are_unpacked),
        cmocka_unit_test(arrays_are_cut_into_panels),
        cmocka_unit_test(tables_of_axes_place_detector_and_spindle),
        cmocka_unit_test(circles_come_into_lists),
        cmocka_unit_test(outer_circles_are_taken_out_first),
        cmocka_unit_test(tables_win_over_lines),
        cmocka_unit_test(goniometers_of_many_circles_are_refused),
        cmocka_unit_test(open_circles_are_noticed),
        cmocka_unit_test(open_axes_of_the_detector_are_noticed),
        cmocka_unit_test(axes_that_lead_nowhere_are_named),
        cmocka_unit_test(panels_must_have_one_width),
        cmocka_unit_test(sections_without_names_are_panels),
        cmocka_unit_test(limits_are_those_of_table_and_type),
        cmocka_unit_test(tables_that_contradict_the_arrays_are_named),
        cmocka_unit_test(damaged_files_never_crash),
        cmocka_unit_test(measured_images_are_read),
    };
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
