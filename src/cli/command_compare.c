/* dualbragg compare: how alike two images are. */
#include "cli/command.h"
#include "cli/compare_options.h"
#include "cli/comparison_json.h"
#include "cli/complaint.h"
#include "cli/named_files.h"
#include "cli/output.h"
#include "cli/standard_streams.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct comparison {
    db_context *context;
    db_compare_options options;
    db_measured_image image[2];
    uint8_t *left_out;
    double scale; /* of the second image */
    db_comparison result;
} comparison;

static int is_raw(const db_measured_image *image) { return strcmp(image->format, "float") == 0; }

static size_t pixels_of(const db_measured_image *image) {
    return (size_t)image->fast_pixels * (size_t)image->slow_pixels;
}

static void set_shape(db_measured_image *image, double fast, double slow) {
    image->fast_pixels = (int)fast;
    image->slow_pixels = (int)slow;
}

/* Both images raw: the shape that was asked for, else a square. */
static db_status choose_shape(comparison *c) {
    const size_t count = pixels_of(&c->image[0]);
    double *const shape = c->options.shape;
    const double pixels = (double)count, root = round(sqrt(pixels));
    if (shape[0] <= 0 && shape[1] <= 0 && root * root == pixels) shape[0] = shape[1] = root;
    for (int i = 0; i < 2; i++)
        if (shape[i] > 0 && shape[1 - i] <= 0) shape[1 - i] = floor(pixels / shape[i]);
    if (shape[0] <= 0)
        return db_complain("compare", DB_ERROR_INPUT,
                           "%s: %zu pixels are no square; -detpixels_f FAST and -detpixels_s SLOW "
                           "tell their shape",
                           c->options.image[0], count);
    if (shape[0] * shape[1] != pixels)
        return db_complain("compare", DB_ERROR_INPUT, "%s: expected %g x %g pixels, found %zu",
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

/* Raw images have the shape of the other one. */
static db_status settle_shapes(comparison *c) {
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

static db_status read_images(comparison *c) {
    for (int i = 0; i < 2; i++) {
        const db_status status =
            db_read_image_or_floats(c->context, c->options.image[i], 0, 0, &c->image[i]);
        if (status != DB_OK) return db_complain_context("compare", status, c->context);
    }
    return settle_shapes(c);
}

static db_status read_left_out(comparison *c) {
    const db_measured_image *const a = &c->image[0], *const b = &c->image[1];
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
    float *const a = c->image[0].value, *const b = c->image[1].value;
    c->scale = c->options.scale;
    if (isnan(c->scale)) c->scale = db_closest_scale(a, b, c->left_out, count);
    if (isnan(c->scale))
        return db_complain("compare", DB_ERROR_INPUT,
                           "-scale fit: %s has no pixel that counts and is not 0",
                           c->options.image[1]);
    if (c->scale != 1)
        for (size_t i = 0; i < count; i++) b[i] = (float)(c->scale * (double)b[i]);
    return DB_OK;
}

static int agree(const comparison *c) {
    const db_comparison *const r = &c->result;
    const int equal = r->one_sided == 0 && r->difference == 0;
    return r->share <= c->options.share &&
           (isnan(c->options.correlation) || equal || r->correlation >= c->options.correlation);
}

static void print_results(const comparison *c) {
    const db_comparison *const r = &c->result;
    const size_t width = (size_t)c->image[0].fast_pixels;
    for (int i = 0; i < 2; i++) {
        const db_measured_image *const image = &c->image[i];
        printf("%c: %s, %s, %d x %d pixels", "AB"[i], c -> options.image[i], image->format,
               image->fast_pixels, image->slow_pixels);
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
    printf("rms of B - A %.9g\n", r->rms);
    printf("largest difference %.9g at fast %zu slow %zu: A %.9g, B %.9g\n", r->difference,
           r->place % width, r->place / width, r->at_place[0], r->at_place[1]);
    printf("%zu pixels (%.6g %%) lie beyond the bounds\n", r->beyond, 100 * r->share);
    puts(agree(c) ? "the images agree" : "the images differ");
}

static db_status write_picture(comparison *c) {
    const db_measured_image *const a = &c->image[0];
    const size_t count = pixels_of(a);
    float *const difference = c->image[1].value; /* of no more use as it was */
    for (size_t i = 0; i < count; i++)
        difference[i] = c->left_out[i] ? NAN : difference[i] - a->value[i];
    const db_status status =
        db_write_png(c->context, c->options.png_file, difference, a->fast_pixels, a->slow_pixels,
                     DB_COLOUR_SIGNED, NAN, NAN);
    return status == DB_OK ? DB_OK : db_complain_context("compare", status, c->context);
}

static db_status write_json(const comparison *c) {
    return db_comparison_json(c->context, c->options.json_file,
                              &(db_comparison_report){ .options = &c->options,
                                                       .image = { &c->image[0], &c->image[1] },
                                                       .scale = c->scale,
                                                       .result = &c->result,
                                                       .agree = agree(c) });
}

/* Before any work: images and mask are not replaced, and results find their place. */
static db_status check_files(db_compare_options *o) {
    db_named_files files = { 0 };
    static const char *const images[] = { "A", "B" };
    for (int i = 0; i < 2; i++) db_named_files_add(&files, DB_ROLE_INPUT, images[i], o->image[i]);
    db_named_files_add(&files, DB_ROLE_INPUT, "-mask", o->mask_file);
    db_named_files_add(&files, DB_ROLE_OUTPUT, "-pngfile", o->png_file);
    db_named_files_add(&files, DB_ROLE_OUTPUT, "-json", o->json_file);
    db_named_files_add_printed(&files);
    db_status status = db_named_files_check("compare", &files);
    if (status == DB_OK) status = db_output_check_image("compare", "-pngfile", o->png_file);
    if (status == DB_OK) status = db_output_check("compare", "-json", o->json_file);
    for (int i = 0; i < 2 && status == DB_OK; i++)
        status = db_streams_take_input("compare", images[i], o->image[i]);
    if (status == DB_OK) status = db_streams_take_input("compare", "-mask", o->mask_file);
    if (status == DB_OK) status = db_streams_give_output("compare", "-pngfile", &o->png_file);
    if (status == DB_OK) status = db_streams_give_output("compare", "-json", &o->json_file);
    return status;
}

static db_status compare(comparison *c) {
    const db_compare_options *const o = &c->options;
    db_status status = check_files(&c->options);
    if (status == DB_OK) status = read_images(c);
    if (status == DB_OK) status = read_left_out(c);
    if (status == DB_OK) status = scale_second(c);
    if (status != DB_OK) return status;
    c->result = db_compare_images(c->image[0].value, c->image[1].value, c->left_out,
                                  pixels_of(&c->image[0]), &o->bounds);
    if (c->result.pixels == 0)
        return db_complain("compare", DB_ERROR_INPUT, "no pixels to compare: all %zu are left out",
                           c->result.left_out);
    if (o->json_file) status = write_json(c);
    if (status == DB_OK && o->png_file) status = write_picture(c);
    if (status == DB_OK && !o->quiet) print_results(c);
    return status;
}

int db_command_compare(int argc, char **argv) {
    enum { DIFFER = 1 };
    comparison c = { 0 };
    db_status status = db_compare_options_read(&c.options, argc, argv);
    int code = db_status_exit_code(status);
    if (status == DB_OK && c.options.help) {
        db_compare_help(stdout);
    } else if (status == DB_OK) {
        status = db_context_create(&c.context);
        status = status == DB_OK ? compare(&c) : db_complain_context("compare", status, c.context);
        code = status == DB_OK && !agree(&c) ? DIFFER : db_status_exit_code(status);
    }
    for (int i = 0; i < 2; i++) db_measured_image_clear(&c.image[i]);
    free(c.left_out);
    db_context_destroy(&c.context);
    return code;
}
