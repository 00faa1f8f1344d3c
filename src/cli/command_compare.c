/* dualbragg compare: agreement of two images. */
#include "cli/complaint.h"
#include "base/shown_text.h"
#include "cli/flag_files.h"
#include "cli/help.h"
#include "cli/standard_streams.h"
#include "base/moments.h"

#if defined(DB_HAVE_JANSSON)
#include "base/atomic_file.h"
#include "cli/json_text.h"
#endif

#include <dualbragg/expert/colour.h>
#include <dualbragg/expert/image_arrays.h>
#include <dualbragg/expert/picture_files.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A pixel agrees if |b - a| <= absolute + relative x |a| + of_brightest x (largest |a|). */
typedef struct comparison_bounds {
    double absolute, relative, of_brightest;
} comparison_bounds;

/* Result for the pixels that count. A pixel counts if no mask leaves it out and it is finite in at least one
 * image; a pixel that is finite in one image only differs beyond any bound, and is in no sum. Sums, means and
 * differences are NAN if no pixel counts. */
typedef struct comparison_result {
    size_t pixels, left_out; /* pixels that count, and others */
    size_t one_sided;        /* finite in one image only */
    double sum[2], mean[2], largest[2];
    double correlation;  /* Pearson's; NAN if an image does not vary */
    double rms;          /* of b - a */
    double rms_of_first; /* of a */
    double brightest;    /* largest |a| */
    double difference;   /* b - a with the largest size; the first one of equals */
    size_t place;        /* of this pixel, and of the brightest */
    size_t largest_place[2];
    double at_place[2]; /* both images at these places */
    size_t beyond;      /* pixels that do not agree, one-sided ones included */
    double share;       /* beyond / pixels; 0 without pixels */
} comparison_result;

typedef struct compare_options {
    const char *image[2];
    comparison_bounds bounds;
    double share;       /* fraction of the pixels that may be beyond the bounds */
    double correlation; /* smallest; NAN: any */
    double scale;       /* of the second image */
    int fit_scale;      /* 1: the scale that brings it closest */
    int shape[2];       /* fast, slow pixels of raw floats; 0: open */
    const char *mask_file;
    const char *png_file;
    const char *json_file;
    int quiet, help;
} compare_options;

#define FLAGS_FILL compare_options
#define WHOLE DB_ONE(INTEGER), .minimum = 1
static const db_flag flags[] = {
    // clang-format off
    { .name = "-absolute", .arguments = "X", DB_ONE(NUMBER), .ranged = 1, DB_TO(bounds.absolute),
      .help = "bound on |B - A|, in the images' unit; default 0" },
    { .name = "-relative", .arguments = "R", DB_ONE(NUMBER), .ranged = 1, DB_TO(bounds.relative),
      .help = "bound relative to the same pixel of A; default 0" },
    { .name = "-brightest", .arguments = "M", DB_ONE(NUMBER), .ranged = 1, DB_TO(bounds.of_brightest),
      .help = "bound relative to the largest |A|; default 0" },
    { .name = "-share", .arguments = "S", DB_ONE(NUMBER), .ranged = 1, .maximum = 1, DB_TO(share),
      .help = "share of the pixels that may lie beyond the bounds; default 0" },
    { .name = "-correlation", .arguments = "C", DB_ONE(NUMBER), .ranged = 1, .maximum = 1, DB_TO(correlation),
      .help = "smallest correlation; default: any" },
    { .name = "-scale", .arguments = "F|fit", DB_ONE(NUMBER), .ranged = 1, DB_TO(scale), .words = "fit",
      .word_member = offsetof(FLAGS_FILL, fit_scale),
      .help = "factor on B; fit: the factor of least squares" },
    { .name = "-mask", .arguments = "FILE", DB_ONE(TEXT), DB_TO(mask_file),
      .help = "SMV image; pixels that are 0 in it are left out" },
    { .name = "-detpixels", .arguments = "COUNT", WHOLE, DB_TO(shape), .fill = 2,
      .help = "pixels along fast and slow of images without a header; default: a square" },
    { .name = "-detpixels_f", .aliases = "-detpixels_x", .arguments = "COUNT", WHOLE, DB_TO(shape[0]),
      .help = "along fast" },
    { .name = "-detpixels_s", .aliases = "-detpixels_y", .arguments = "COUNT", WHOLE, DB_TO(shape[1]),
      .help = "along slow" },
    { .name = "-pngfile", .aliases = "-png", .arguments = "FILE", DB_ONE(TEXT), DB_TO(png_file), .writes = ~0u, .endings = "png",
      .help = "picture of B - A: blue below 0, red above, grey left out" },
    { .name = "-json", .arguments = "FILE", DB_ONE(TEXT), DB_TO(json_file), .writes = ~0u, .endings = "json", .for_terminal = 1,
      .help = "all results for programs; - is the standard output" },
    { .name = "--quiet", .aliases = "-q", DB_SETS(quiet, 1), .help = "prints nothing but errors" },
    { .name = "--help", .aliases = "-h", DB_SETS(help, 1), .ends = 1, .help = "prints this" },
    // clang-format on
};
static const db_flag_table flag_table = {
    .command = "compare", .flags = flags, .count = sizeof flags / sizeof *flags, .takes_words = 1
};

static db_status read_options(compare_options *options, int argc, char **argv) {
    db_arguments given;
    int count = 0;
    *options = (compare_options){ .scale = 1, .correlation = NAN };
    db_status status = db_arguments_read(&given, &flag_table, argc, argv);
    for (size_t i = 0; i < given.count && status == DB_OK; i++) {
        const db_argument *const one = &given.argument[i];
        if (one->flag)
            db_argument_store(one, options);
        else if (count == 2)
            status = db_complain("compare", DB_ERROR_USAGE,
                                 "expected two images, found one more: '%s'", one->text);
        else
            options->image[count++] = db_streams_input_name(one->text);
    }
    db_arguments_clear(&given);
    if (status != DB_OK || options->help) return status;
    db_flag_files_settle(&flag_table, options);
    if (count == 2) return DB_OK;
    return db_complain("compare", DB_ERROR_USAGE,
                       "expected two images, found %d: dualbragg compare A B", count);
}

typedef struct comparison {
    db_context *context;
    compare_options options;
    db_measured_image image[2];
    uint8_t *left_out;
    double scale; /* of the second image */
    comparison_result result;
} comparison;

static int is_raw(const db_measured_image *image) { return strcmp(image->format, "float") == 0; }

static size_t pixels_of(const db_measured_image *image) {
    return (size_t)image->fast_pixels * (size_t)image->slow_pixels;
}

static void set_shape(db_measured_image *image, int fast, int slow) {
    image->fast_pixels = fast;
    image->slow_pixels = slow;
}

/* Shape of two raw images: the given one, else a square. */
static db_status choose_shape(comparison *c) {
    const size_t count = pixels_of(&c->image[0]);
    int *const shape = c->options.shape;
    const int root = (int)round(sqrt((double)count));
    if (!shape[0] && !shape[1] && (size_t)root * (size_t)root == count) shape[0] = shape[1] = root;
    for (int i = 0; i < 2; i++)
        if (shape[i] && !shape[1 - i]) shape[1 - i] = (int)(count / (size_t)shape[i]);
    if (!shape[0])
        return db_complain("compare", DB_ERROR_INPUT,
                           "%s: %zu pixels are no square; give their shape by -detpixels_f FAST "
                           "and -detpixels_s SLOW",
                           c->options.image[0], count);
    if ((size_t)shape[0] * (size_t)shape[1] != count)
        return db_complain("compare", DB_ERROR_INPUT, "%s: expected %d x %d pixels, found %zu",
                           c->options.image[0], shape[0], shape[1], count);
    for (int i = 0; i < 2; i++) set_shape(&c->image[i], shape[0], shape[1]);
    return DB_OK;
}

static void print_size(const db_measured_image *image, char text[64]) {
    if (is_raw(image))
        snprintf(text, 64, "%zu floats", pixels_of(image));
    else
        snprintf(text, 64, "%d x %d pixels", image->fast_pixels, image->slow_pixels);
}

/* A raw image has the shape of the other one. */
static db_status resolve_shapes(comparison *c) {
    db_measured_image *const image = c->image;
    for (int i = 0; i < 2; i++) {
        const db_measured_image *const other = &image[1 - i];
        if (is_raw(&image[i]) && !is_raw(other) && pixels_of(&image[i]) == pixels_of(other))
            set_shape(&image[i], other->fast_pixels, other->slow_pixels);
    }
    if (image[0].fast_pixels == image[1].fast_pixels &&
        image[0].slow_pixels == image[1].slow_pixels)
        return is_raw(&image[0]) && is_raw(&image[1]) ? choose_shape(c) : DB_OK;
    char size[2][64];
    for (int i = 0; i < 2; i++) print_size(&image[i], size[i]);
    return db_complain("compare", DB_ERROR_INPUT,
                       "the images have different sizes: %s has %s, %s has %s", c->options.image[0],
                       size[0], c->options.image[1], size[1]);
}

enum { LEFT_OUT, ONE_SIDED, COUNTS };

static int kind_of_pixel(const float *a, const float *b, const uint8_t *left_out, size_t i) {
    const int finite = (isfinite(a[i]) != 0) + (isfinite(b[i]) != 0);
    return left_out[i] || !finite ? LEFT_OUT : finite == 1 ? ONE_SIDED : COUNTS;
}

static double brightest(const float *a, const float *b, const uint8_t *left_out, size_t count) {
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        if (kind_of_pixel(a, b, left_out, i) == COUNTS) largest = fmax(largest, fabs((double)a[i]));
    return largest;
}

static void take_in(comparison_result *c, db_co_moments *moments, size_t place, double a, double b,
                    double bound) {
    const double pixel[2] = { a, b }, difference = b - a;
    for (int k = 0; k < 2; k++)
        if (!moments->x.count || pixel[k] > c->largest[k]) {
            c->largest[k] = pixel[k];
            c->largest_place[k] = place;
        }
    if (!moments->x.count || fabs(difference) > fabs(c->difference)) {
        c->difference = difference;
        c->place = place;
        for (int k = 0; k < 2; k++) c->at_place[k] = pixel[k];
    }
    for (int k = 0; k < 2; k++) c->sum[k] += pixel[k];
    c->rms += difference * difference;
    c->rms_of_first += a * a;
    c->beyond += fabs(difference) > bound;
    db_co_moments_add(moments, a, b);
}

/* left_out: other than 0 for pixels that do not count. */
static comparison_result compare_images(const float *a, const float *b, const uint8_t *left_out,
                                        size_t count, const comparison_bounds *bounds) {
    comparison_result c = { 0 };
    db_co_moments moments = { 0 };
    c.brightest = brightest(a, b, left_out, count);
    const double fixed = bounds->absolute + bounds->of_brightest * c.brightest;
    for (size_t i = 0; i < count; i++) {
        const int kind = kind_of_pixel(a, b, left_out, i);
        if (kind == COUNTS)
            take_in(&c, &moments, i, (double)a[i], (double)b[i],
                    fixed + bounds->relative * fabs((double)a[i]));
        c.left_out += kind == LEFT_OUT;
        c.one_sided += kind == ONE_SIDED;
    }
    const size_t both = moments.x.count;
    c.pixels = both + c.one_sided;
    c.beyond += c.one_sided;
    c.share = c.pixels ? (double)c.beyond / (double)c.pixels : 0;
    c.rms = sqrt(c.rms / (double)both);
    c.rms_of_first = sqrt(c.rms_of_first / (double)both);
    c.correlation = db_co_moments_correlation(&moments);
    for (int k = 0; k < 2; k++) {
        c.mean[k] = c.sum[k] / (double)both;
        if (!both) c.sum[k] = c.largest[k] = c.at_place[k] = NAN;
    }
    if (!both) c.difference = NAN;
    return c;
}

/* Factor on b that brings it closest to a; NAN if b is 0 everywhere. */
static double closest_scale(const float *a, const float *b, const uint8_t *left_out, size_t count) {
    double ab = 0, bb = 0;
    for (size_t i = 0; i < count; i++) {
        if (kind_of_pixel(a, b, left_out, i) != COUNTS) continue;
        ab += (double)a[i] * (double)b[i];
        bb += (double)b[i] * (double)b[i];
    }
    return ab / bb;
}

static db_status read_images(comparison *c) {
    for (int i = 0; i < 2; i++) {
        const db_status status =
            db_read_image_or_floats(c->context, c->options.image[i], 0, 0, &c->image[i]);
        if (status != DB_OK) return db_complain_context("compare", status, c->context);
    }
    return resolve_shapes(c);
}

static db_status read_left_out(comparison *c) {
    const db_measured_image *const a = &c->image[0];
    const db_measured_image *const b = &c->image[1];
    const size_t count = pixels_of(a);
    c->left_out = malloc(count);
    if (!c->left_out) return db_complain("compare", DB_ERROR_MEMORY, "out of memory for a mask");
    memset(c->left_out, 1, count);
    if (c->options.mask_file) {
        const db_status status = db_read_mask(c->context, c->options.mask_file, a->fast_pixels,
                                              a->slow_pixels, c->left_out);
        if (status != DB_OK) return db_complain_context("compare", status, c->context);
    }
    for (size_t i = 0; i < count; i++)
        c->left_out[i] = (uint8_t)(!c->left_out[i] || a->mask[i] || b->mask[i]);
    return DB_OK;
}

static db_status scale_second(comparison *c) {
    const size_t count = pixels_of(&c->image[0]);
    float *const a = c->image[0].value;
    float *const b = c->image[1].value;
    c->scale = c->options.scale;
    if (c->options.fit_scale) c->scale = closest_scale(a, b, c->left_out, count);
    if (isnan(c->scale))
        return db_complain("compare", DB_ERROR_INPUT,
                           "-scale fit: %s has no compared pixel other than 0",
                           c->options.image[1]);
    if (c->scale != 1)
        for (size_t i = 0; i < count; i++) b[i] = (float)(c->scale * (double)b[i]);
    return DB_OK;
}

static int images_agree(const comparison *c) {
    const comparison_result *const r = &c->result;
    const int equal = r->one_sided == 0 && r->difference == 0;
    return r->share <= c->options.share &&
           (isnan(c->options.correlation) || equal || r->correlation >= c->options.correlation);
}

/* Prints the verdict with its criterion: images that agree by a generous one may differ. */
static void print_verdict(const comparison *c) {
    const compare_options *const o = &c->options;
    const comparison_bounds *const b = &o->bounds;
    const int any = b->absolute > 0 || b->relative > 0 || b->of_brightest > 0;
    printf("the images %s by the criterion: ", images_agree(c) ? "agree" : "differ");
    if (o->share > 0)
        printf("all but %.6g %% of the pixels ", 100 * o->share);
    else
        printf("all pixels ");
    printf(any ? "differ by at most" : "are equal");
    const char *plus = " ";
    if (b->absolute > 0) printf("%s%.9g", plus, b->absolute), plus = " + ";
    if (b->relative > 0) printf("%s%.9g |A|", plus, b->relative), plus = " + ";
    if (b->of_brightest > 0)
        printf("%s%.9g (%.9g of the brightest pixel)", plus, b->of_brightest * c->result.brightest,
               b->of_brightest);
    if (!isnan(o->correlation)) printf(", and the correlation is at least %.9g", o->correlation);
    fputc('\n', stdout);
}

static void print_results(const comparison *c) {
    const comparison_result *const r = &c->result;
    const size_t width = (size_t)c->image[0].fast_pixels;
    for (int i = 0; i < 2; i++) {
        const db_measured_image *const image = &c->image[i];
        db_shown_print(stdout, "%c: %s, %s, %d x %d pixels", "AB"[i], c -> options.image[i],
                       image->format, image->fast_pixels, image->slow_pixels);
        if (i == 1 && c->scale != 1) printf(", times %.9g", c->scale);
        printf("\n   sum %.9g, mean %.9g, largest %.9g at fast %zu slow %zu\n", r->sum[i],
               r->mean[i], r->largest[i], r->largest_place[i] % width, r->largest_place[i] / width);
    }
    printf("%zu pixels compared, %zu left out\n", r->pixels, r->left_out);
    if (r->one_sided) printf("%zu pixels are a number in one image only\n", r->one_sided);
    if (isnan(r->correlation))
        puts("correlation not defined: an image is constant");
    else
        printf("correlation %.12g\n", r->correlation);
    printf("rms of B - A %.9g", r->rms);
    if (r->rms_of_first > 0) printf(" (%.3g %% of that of A)", 100 * r->rms / r->rms_of_first);
    fputc('\n', stdout);
    printf("largest difference %.9g at fast %zu slow %zu: A %.9g, B %.9g\n", r->difference,
           r->place % width, r->place / width, r->at_place[0], r->at_place[1]);
    printf("%zu pixels (%.6g %%) lie beyond the bounds\n", r->beyond, 100 * r->share);
    print_verdict(c);
}

static db_status write_picture(comparison *c) {
    const db_measured_image *const a = &c->image[0];
    const size_t count = pixels_of(a);
    float *const difference = c->image[1].value; /* no longer needed */
    for (size_t i = 0; i < count; i++)
        difference[i] = c->left_out[i] ? NAN : difference[i] - a->value[i];
    const db_status status =
        db_write_png(c->context, c->options.png_file, difference, a->fast_pixels, a->slow_pixels,
                     DB_COLOUR_SIGNED, NAN, NAN);
    return status == DB_OK ? DB_OK : db_complain_context("compare", status, c->context);
}

#if defined(DB_HAVE_JANSSON)
/* JSON knows no NaN and no infinity: null. */
static json_t *finite_number(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *place_of(const db_measured_image *image, size_t pixel) {
    const size_t width = (size_t)image->fast_pixels;
    return json_pack("[I,I]", (json_int_t)(pixel % width), (json_int_t)(pixel / width));
}

static json_t *image_object(const comparison *c, int i) {
    const comparison_result *const r = &c->result;
    return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o}", "file", db_json_text_of(c->options.image[i]),
                     "format", c->image[i].format, "sum", finite_number(r->sum[i]), "mean",
                     finite_number(r->mean[i]), "largest", finite_number(r->largest[i]),
                     "largest_at", place_of(&c->image[0], r->largest_place[i]));
}

static json_t *compare_document(const comparison *c) {
    const comparison_result *const r = &c->result;
    const compare_options *const o = &c->options;
    return json_pack(
        "{s:b, s:o, s:o, s:[i,i], s:I, s:I, s:I, s:f, s:o, s:o,"
        " s:{s:o, s:o, s:o, s:o}, s:I, s:f, s:{s:f, s:f, s:f, s:f, s:o}}",
        "agree", images_agree(c), "A", image_object(c, 0), "B", image_object(c, 1), "shape",
        c->image[0].fast_pixels, c->image[0].slow_pixels, "pixels", (json_int_t)r->pixels,
        "left_out", (json_int_t)r->left_out, "finite_in_one_only", (json_int_t)r->one_sided,
        "scale_of_B", c->scale, "correlation", finite_number(r->correlation), "rms_difference",
        finite_number(r->rms), "largest_difference", "value", finite_number(r->difference), "at",
        place_of(&c->image[0], r->place), "A", finite_number(r->at_place[0]), "B",
        finite_number(r->at_place[1]), "beyond_bounds", (json_int_t)r->beyond,
        "share_beyond_bounds", r->share, "bounds", "absolute", o->bounds.absolute, "relative",
        o->bounds.relative, "brightest", o->bounds.of_brightest, "share", o->share, "correlation",
        finite_number(o->correlation));
}

static db_status write_line(db_context *context, const char *path, const char *text) {
    const db_file_part parts[] = { { text, strlen(text) }, { "\n", 1 } };
    return db_write_atomically(context, path, parts, 2);
}

static db_status write_json(const comparison *c) {
    json_t *const root = compare_document(c);
    char *const text =
        root ? json_dumps(root, JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17))
             : NULL;
    db_status status = DB_OK;
    if (!text)
        status = db_complain("compare", DB_ERROR_MEMORY, "out of memory for the results");
    else if ((status = write_line(c->context, c->options.json_file, text)) != DB_OK)
        db_complain_context("compare", status, c->context);
    free(text);
    json_decref(root);
    return status;
}
#else
static db_status write_json(const comparison *c) {
    (void)c;
    return db_complain("compare", DB_ERROR_UNSUPPORTED, "-json: this build has no jansson");
}
#endif

/* Before any work: images and mask are not overwritten, and results can be written. */
static db_status check_files(compare_options *o) {
    db_named_files files = { 0 };
    static const char *const images[] = { "A", "B" };
    for (int i = 0; i < 2; i++) db_named_files_add(&files, DB_ROLE_INPUT, images[i], o->image[i]);
    db_status status = db_flag_files_check(&flag_table, o, &files);
    for (int i = 0; i < 2 && status == DB_OK; i++)
        status = db_streams_take_input("compare", images[i], o->image[i]);
    if (status == DB_OK) status = db_flag_files_take_input(&flag_table, o);
    return status == DB_OK ? db_flag_files_take_output(&flag_table, o) : status;
}

static db_status compare_pair(comparison *c) {
    const compare_options *const o = &c->options;
    db_status status = check_files(&c->options);
    if (status == DB_OK) status = read_images(c);
    if (status == DB_OK) status = read_left_out(c);
    if (status == DB_OK) status = scale_second(c);
    if (status != DB_OK) return status;
    c->result = compare_images(c->image[0].value, c->image[1].value, c->left_out,
                               pixels_of(&c->image[0]), &o->bounds);
    if (c->result.pixels == 0)
        return db_complain("compare", DB_ERROR_INPUT, "no pixels to compare: all %zu are left out",
                           c->result.left_out);
    if (o->json_file) status = write_json(c);
    if (status == DB_OK && o->png_file) status = write_picture(c);
    if (status == DB_OK && !o->quiet) print_results(c);
    return status;
}

static int run_compare(const db_command *command, int argc, char **argv) {
    enum { DIFFER = 1 };
    comparison c = { 0 };
    db_status status = read_options(&c.options, argc, argv);
    int code = db_status_exit_code(status);
    if (status == DB_OK && c.options.help) {
        db_print_help(stdout, command);
    } else if (status == DB_OK) {
        status = db_context_create(&c.context);
        status =
            status == DB_OK ? compare_pair(&c) : db_complain_context("compare", status, c.context);
        code = status == DB_OK && !images_agree(&c) ? DIFFER : db_status_exit_code(status);
    }
    for (int i = 0; i < 2; i++) db_measured_image_clear(&c.image[i]);
    free(c.left_out);
    db_context_destroy(&c.context);
    return code;
}

const db_command db_compare_command = { "compare", db_compare_help, &flag_table, run_compare };
