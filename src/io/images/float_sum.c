/* Sums of images of raw floats, piece by piece. */
#define _XOPEN_SOURCE 700 /* pread */
#include <dualbragg/io.h>
#include <dualbragg/expert/image_sum.h>

#include "base/context_internal.h"
#include "base/given.h"
#include "base/atomic_file.h"
#include "base/file_content.h"
#include "base/moments.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 20, MOST_MARKS = 255 }; /* pixels; values to ignore */

typedef struct adder {
    db_context *context;
    const db_summand *summands;
    size_t count;
    db_sum_options options;
    size_t pixels, done; /* of the image; handed over */
    int header_done;
    char *header;
    float *pixel[2]; /* of the first image, and of the others one after the other */
    double *sum;
    float *result;
    unsigned char *mark; /* 0, or 1 + number of the ignored value found */
    db_moments of_sum;
    db_co_moments of_pair;
    size_t ignored, not_finite;
} adder;

/* Opens an image; the first one sets the size of all. Close the descriptor unless it is -1, after a failure, too. */
static db_status open_image(adder *a, const char *path, int *descriptor) {
    struct stat info;
    const size_t header = a->options.header;
    *descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (*descriptor < 0)
        return db_fail(a->context, DB_ERROR_FILE, "%s: cannot open: %s", path, strerror(errno));
    if (fstat(*descriptor, &info) != 0)
        return db_fail(a->context, DB_ERROR_FILE, "%s: cannot read: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return db_fail(a->context, DB_ERROR_FILE, "%s: expected a regular file", path);
    const size_t size = (size_t)info.st_size;
    if (size <= header || (size - header) % sizeof(float) != 0)
        return db_fail(a->context, DB_ERROR_INPUT,
                       "%s: expected a header of %zu bytes and 4-byte floats, found %zu bytes",
                       path, header, size);
    const size_t pixels = (size - header) / sizeof(float);
    if (a->pixels && pixels != a->pixels)
        return db_fail(a->context, DB_ERROR_INPUT, "%s: expected %zu pixels as in %s, found %zu",
                       path, a->pixels, a->summands[0].path, pixels);
    a->pixels = pixels;
    return DB_OK;
}

static db_status read_bytes(adder *a, const char *path, int descriptor, size_t start, size_t size,
                            void *bytes) {
    size_t done = 0;
    while (done < size) {
        const ssize_t got =
            pread(descriptor, (char *)bytes + done, size - done, (off_t)(start + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return db_fail(a->context, DB_ERROR_FILE, "%s: cannot read: %s", path, strerror(errno));
        if (got == 0)
            return db_fail(a->context, DB_ERROR_FILE, "%s: became shorter while it was read", path);
        done += (size_t)got;
    }
    return DB_OK;
}

static void swap_if_needed(float *values, size_t count) {
    if (!db_machine_is_big_endian()) return;
    for (size_t i = 0; i < count; i++) {
        uint32_t word;
        memcpy(&word, &values[i], sizeof word);
        word = __builtin_bswap32(word);
        memcpy(&values[i], &word, sizeof word);
    }
}

/* size 0: only looks at the file's size. */
static db_status read_part(adder *a, size_t image, size_t start, size_t size, void *bytes) {
    int descriptor;
    const char *path = a->summands[image].path;
    db_status status = open_image(a, path, &descriptor);
    if (status == DB_OK && size) status = read_bytes(a, path, descriptor, start, size, bytes);
    if (descriptor >= 0) close(descriptor);
    return status;
}

static void find_marks(adder *a, const float *pixel, size_t count) {
    for (size_t m = 0; m < a->options.ignore_count; m++)
        for (size_t i = 0; i < count; i++)
            if (pixel[i] == a->options.ignore[m] && !a->mark[i])
                a->mark[i] = (unsigned char)(m + 1);
}

static void take_in(adder *a, size_t image, const float *pixel, size_t count) {
    const double factor = a->summands[image].factor, offset = a->summands[image].offset;
    for (size_t i = 0; i < count; i++) a->sum[i] += factor * (double)pixel[i] + offset;
    find_marks(a, pixel, count);
}

static void finish_piece(adder *a, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (a->mark[i]) {
            a->result[i] = a->options.ignore[a->mark[i] - 1];
            a->ignored++;
            continue;
        }
        a->result[i] = (float)(a->options.scale * a->sum[i] + a->options.offset);
        if (isfinite(a->result[i]))
            db_moments_add(&a->of_sum, (double)a->result[i]);
        else
            a->not_finite++;
    }
}

/* Adds to the correlation of the first two images; marks of later images do not count. */
static void correlate_with(adder *a, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!a->mark[i] && isfinite(a->pixel[0][i]) && isfinite(a->pixel[1][i]))
            db_co_moments_add(&a->of_pair, (double)a->pixel[0][i], (double)a->pixel[1][i]);
}

static db_status next_piece(void *user, db_file_part *part) {
    adder *const a = user;
    const size_t header = a->options.header;
    if (header && !a->header_done) {
        a->header_done = 1;
        *part = (db_file_part){ a->header, header };
        return read_part(a, 0, 0, header, a->header);
    }
    const size_t left = a->pixels - a->done, count = left < PIECE ? left : PIECE;
    *part = (db_file_part){ a->result, count * sizeof(float) };
    if (!count) return DB_OK;
    memset(a->sum, 0, count * sizeof *a->sum);
    memset(a->mark, 0, count);
    for (size_t image = 0; image < a->count; image++) {
        float *const pixel = a->pixel[image > 0];
        DB_TRY(read_part(a, image, header + a->done * sizeof(float), count * sizeof(float), pixel));
        swap_if_needed(pixel, count);
        take_in(a, image, pixel, count);
        if (image == 1) correlate_with(a, count);
    }
    finish_piece(a, count);
    swap_if_needed(a->result, count);
    a->done += count;
    return DB_OK;
}

static db_status check_input(adder *a, const char *path) {
    if (a->count < 1)
        return db_fail(a->context, DB_ERROR_USAGE, "%s: expected at least one image to add", path);
    if (a->options.ignore_count > MOST_MARKS)
        return db_fail(a->context, DB_ERROR_USAGE,
                       "%s: expected at most %d values to ignore, found %zu", path, MOST_MARKS,
                       a->options.ignore_count);
    DB_TRY(db_need_list(a->context, "images to add", a->summands, a->count));
    DB_TRY(
        db_need_list(a->context, "values to ignore", a->options.ignore, a->options.ignore_count));
    /* the sizes of all before anything is written */
    for (size_t i = 0; i < a->count; i++) DB_TRY(read_part(a, i, 0, 0, NULL));
    return DB_OK;
}

static db_status add_summand(adder *a, const char *path) {
    DB_TRY(check_input(a, path));
    const size_t piece = a->pixels < PIECE ? a->pixels : PIECE;
    a->header = malloc(a->options.header + 1);
    a->sum = malloc(piece * sizeof *a->sum);
    a->mark = malloc(piece);
    a->result = malloc(piece * sizeof *a->result);
    for (int i = 0; i < 2; i++) a->pixel[i] = malloc(piece * sizeof *a->pixel[i]);
    if (!a->header || !a->sum || !a->mark || !a->result || !a->pixel[0] || !a->pixel[1])
        return db_fail_memory(a->context, "a piece of the sum");
    return db_write_atomically_from(a->context, path, next_piece, a);
}

db_status db_add_float_images(db_context *context, const db_summand *summands, size_t count,
                              const db_sum_options *options, const char *path,
                              db_sum_statistics *statistics) {
    const db_sum_options defaults = DB_SUM_OPTIONS_INIT;
    adder a = { .context = context,
                .summands = summands,
                .count = count,
                .options = options ? *options : defaults };
    const db_status status = add_summand(&a, path);
    free(a.header);
    free(a.sum);
    free(a.mark);
    free(a.result);
    free(a.pixel[0]);
    free(a.pixel[1]);
    if (status == DB_OK && statistics)
        *statistics = (db_sum_statistics){
            .pixels = a.pixels,
            .ignored = a.ignored,
            .not_finite = a.not_finite,
            .smallest = a.of_sum.count ? a.of_sum.smallest : NAN,
            .largest = a.of_sum.count ? a.of_sum.largest : NAN,
            .mean = a.of_sum.count ? a.of_sum.mean : NAN,
            .rms = db_moments_rms(&a.of_sum),
            .rmsd = db_moments_rmsd(&a.of_sum),
            .correlation = db_co_moments_correlation(&a.of_pair),
        };
    return status;
}
