#define _POSIX_C_SOURCE 200809L /* strdup */
/* dualbragg add: sums of images. */
#include "cli/complaint.h"
#include "base/shown_text.h"
#include "cli/flag_files.h"
#include "cli/help.h"
#include "cli/standard_streams.h"
#include "base/growth.h"

#include <dualbragg/expert/image_sum.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct add_options {
    db_summand *summands; /* paths are owned */
    size_t count, capacity;
    double *scales; /* -scale1, -scale2 ...; NAN: not given */
    size_t scale_count;
    float *ignore;
    double offset, out_offset; /* NAN: not given */
    db_sum_options sum;
    const char *output;
    db_named_files files; /* names in the list so far */
    int header, no_statistics, quiet, help;
} add_options;

enum { MOST_IGNORED = 255 };

static const char compares[] = "compares images, which dualbragg add does not do";

#define FLAGS_FILL add_options
#define NOT_TAKEN .status = DB_FLAG_REFUSED, .remark = compares
static const db_flag flags[] = {
    // clang-format off
    { .name = "-o", .aliases = "-outfile -output", .arguments = "FILE", DB_ONE(TEXT), DB_TO(output), .writes = ~0u, .endings = "bin f32",
      .help = "file for the sum; - is standard output" },
    { .name = "-list", .arguments = "FILE", DB_ONE(TEXT), .by_command = 1,
      .help = "list of more images, one a line: 'FILE [FACTOR [OFFSET]]'" },
    { .name = "-scale", .numbered = 1, .arguments = "FACTOR", DB_ONE(NUMBER), .by_command = 1,
      .help = "multiplies the Nth image: -scale1, -scale2 ..." },
    { .name = "-offset", .arguments = "X", DB_ONE(NUMBER), DB_TO(offset),
      .help = "subtracted from every pixel of every image, before the factor" },
    { .name = "-outscale", .arguments = "FACTOR", DB_ONE(NUMBER), DB_TO(sum.scale), .help = "multiplies the sum" },
    { .name = "-outoffset", .arguments = "X", DB_ONE(NUMBER), DB_TO(out_offset),
      .help = "added to the sum after -outscale; default: -offset, else 0" },
    { .name = "-header", .arguments = "BYTES", DB_ONE(INTEGER), .maximum = 1e9,
      .expected = "a whole number from 0 to 1e9", DB_TO(header),
      .help = "bytes to skip in every image; the sum begins with those of the first image" },
    { .name = "-ignore", .arguments = "X", DB_ONE(NUMBER), .by_command = 1,
      .help = "pixels with this value keep it and are not counted; may be repeated" },
    { .name = "-nostats", DB_SETS(no_statistics, 1), .help = "no statistics" },
    { .name = "--quiet", .aliases = "-q", DB_SETS(quiet, 1), .help = "prints nothing but errors" },
    { .name = "--help", .aliases = "-h", DB_SETS(help, 1), .ends = 1, .help = "prints this" },
    { .name = "-normalize", NOT_TAKEN },
    { .name = "-histogram", NOT_TAKEN },
    { .name = "-binsize", .aliases = "-bin", NOT_TAKEN },
    { .name = "-epsilon", NOT_TAKEN },
    { .name = "-reject", NOT_TAKEN },
    // clang-format on
};
static const db_flag_table flag_table = {
    .command = "add", .flags = flags, .count = sizeof flags / sizeof *flags, .takes_words = 1
};

/* A finite number that is the whole text. */
static int is_number(const char *text, double *value) {
    char *end;
    *value = strtod(text, &end);
    return end != text && !*end && isfinite(*value);
}

static db_status memory(void) {
    return db_complain("add", DB_ERROR_MEMORY, "out of memory for the list of images");
}

static db_status append_summand(add_options *options, const char *path, size_t length,
                                double factor, double offset) {
    db_summand *const grown =
        db_grown(options->summands, &options->capacity, options->count + 1, sizeof *grown);
    if (!grown) return memory();
    options->summands = grown;
    char *const copy = strndup(path, length);
    if (!copy) return memory();
    options->summands[options->count++] = (db_summand){ copy, factor, offset };
    return DB_OK;
}

/* Is the text before a colon of `path` the name of a file? */
static int names_file(const char *path, char *colon) {
    struct stat info;
    *colon = 0;
    const int named = stat(path, &info) == 0;
    *colon = ':';
    return named;
}

/* FILE[:FACTOR[:OFFSET]]; a file with exactly this name has precedence. */
static db_status take_image(add_options *options, const char *word) {
    struct stat info;
    double value[2];
    int count = 0;
    char *const path = strdup(word);
    if (!path) return memory();
    while (count < 2 && stat(path, &info) != 0) {
        char *const colon = strrchr(path, ':');
        if (!colon || colon == path) break;
        if (!is_number(colon + 1, &value[count])) {
            if (!names_file(path, colon)) break;
            const db_status wrong =
                db_complain("add", DB_ERROR_USAGE,
                            "%s: expected FILE[:FACTOR[:OFFSET]] with finite numbers, found '%s'",
                            word, colon + 1);
            free(path);
            return wrong;
        }
        *colon = 0;
        count++;
    }
    /* the last number was parsed first */
    const char *const name = db_streams_input_name(path);
    const db_status status = append_summand(
        options, name, strlen(name), count ? value[count - 1] : 1, count == 2 ? value[0] : 0);
    free(path);
    return status;
}

static db_status take_list_line(add_options *options, const char *file, size_t number, char *line) {
    double value[2] = { 1, 0 };
    int count = 0;
    line[strcspn(line, "#\r\n")] = 0;
    char *words[4];
    for (char *word = strtok(line, " \t"); word; word = strtok(NULL, " \t")) {
        if (count == 3)
            return db_complain("add", DB_ERROR_INPUT,
                               "%s:%zu: expected FILE [FACTOR [OFFSET]], found more: '%s'", file,
                               number, word);
        words[count++] = word;
    }
    for (int i = 1; i < count; i++)
        if (!is_number(words[i], &value[i - 1]))
            return db_complain("add", DB_ERROR_INPUT, "%s:%zu: expected a finite %s, found '%s'",
                               file, number, i == 1 ? "factor" : "offset", words[i]);
    return count ? append_summand(options, words[0], strlen(words[0]), value[0], value[1]) : DB_OK;
}

static db_status take_list(add_options *options, const char *path) {
    db_named_files_add(&options->files, DB_ROLE_INPUT, "-list", path);
    FILE *const file = fopen(path, "r");
    if (!file) return db_complain("add", DB_ERROR_FILE, "-list %s: cannot open", path);
    char *line = NULL;
    size_t size = 0, number = 0;
    const size_t before = options->count;
    db_status status = DB_OK;
    while (status == DB_OK && getline(&line, &size, file) >= 0)
        status = take_list_line(options, path, ++number, line);
    if (status == DB_OK && ferror(file))
        status = db_complain("add", DB_ERROR_FILE, "-list %s: cannot read", path);
    free(line);
    fclose(file);
    if (status == DB_OK && options->count == before)
        status = db_complain("add", DB_ERROR_INPUT,
                             "-list %s: expected lines FILE [FACTOR [OFFSET]], found none", path);
    return status;
}

static db_status take_scale(add_options *options, size_t number, double value) {
    if (number > options->scale_count) {
        double *const grown = realloc(options->scales, number * sizeof *grown);
        if (!grown) return memory();
        options->scales = grown;
        while (options->scale_count < number) options->scales[options->scale_count++] = NAN;
    }
    options->scales[number - 1] = value;
    return DB_OK;
}

static db_status take_ignored(add_options *options, double value) {
    if (options->sum.ignore_count == MOST_IGNORED)
        return db_complain("add", DB_ERROR_USAGE, "-ignore: expected at most %d values",
                           MOST_IGNORED);
    if (!options->ignore) options->ignore = calloc(MOST_IGNORED, sizeof *options->ignore);
    if (!options->ignore) return memory();
    options->ignore[options->sum.ignore_count++] = (float)value;
    return DB_OK;
}

static db_status take_add_flag(add_options *options, const db_argument *given) {
    const db_flag *const flag = given->flag;
    if (!flag) return take_image(options, given->text);
    if (flag->numbered) return take_scale(options, given->index, given->number[0]);
    if (flag->kind == DB_FLAG_TEXT && flag->by_command) return take_list(options, given->text);
    if (flag->by_command) return take_ignored(options, given->number[0]);
    db_argument_store(given, options);
    return DB_OK;
}

/* Flags for single images, and the offsets. */
static db_status resolve_noise(add_options *options) {
    if (options->scale_count > options->count)
        return db_complain("add", DB_ERROR_USAGE,
                           "-scale%zu: expected the number of an image, found %zu images",
                           options->scale_count, options->count);
    for (size_t i = 0; i < options->count; i++) {
        db_summand *const s = &options->summands[i];
        if (i < options->scale_count && !isnan(options->scales[i])) s->factor *= options->scales[i];
        if (!isnan(options->offset)) s->offset -= s->factor * options->offset;
    }
    options->sum.offset = !isnan(options->out_offset) ? options->out_offset
                          : !isnan(options->offset)   ? options->offset
                                                      : 0;
    options->sum.ignore = options->ignore;
    options->sum.header = (size_t)options->header;
    return DB_OK;
}

static db_status read_options(add_options *options, int argc, char **argv) {
    const db_sum_options defaults = DB_SUM_OPTIONS_INIT;
    db_arguments given;
    memset(options, 0, sizeof *options);
    options->sum = defaults;
    options->offset = options->out_offset = NAN;
    db_status status = db_arguments_read(&given, &flag_table, argc, argv);
    for (size_t i = 0; i < given.count && status == DB_OK && !options->help; i++)
        status = take_add_flag(options, &given.argument[i]);
    db_arguments_clear(&given);
    if (status != DB_OK || options->help) return status;
    if (!options->count)
        return db_complain("add", DB_ERROR_USAGE, "expected images to add, found none");
    if (!options->output)
        return db_complain("add", DB_ERROR_USAGE, "no output named: expected -o FILE");
    db_flag_files_settle(&flag_table, options);
    return resolve_noise(options);
}

static void clear_options(add_options *options) {
    for (size_t i = 0; i < options->count; i++) free((char *)(uintptr_t)options->summands[i].path);
    free(options->summands);
    free(options->scales);
    free(options->ignore);
    db_named_files_clear(&options->files);
}

static void report_images(const add_options *options) {
    for (size_t i = 0; i < options->count; i++) {
        const db_summand *s = &options->summands[i];
        db_shown_print(stdout, "image %zu: %s", i + 1, s->path);
        if (s->factor != 1) printf(" x %g", s->factor);
        if (s->offset != 0) printf(" %+g", s->offset);
        fputc('\n', stdout);
    }
}

/* Prints statistics in the form of float_add where they are the same. */
static void report_statistics(const add_options *options, const db_sum_statistics *s) {
    if (options->sum.ignore_count)
        printf("%zu invalid of %zu pixels ( %zu left)\n", s->ignored, s->pixels,
               s->pixels - s->ignored);
    else
        printf("%zu pixels\n", s->pixels);
    if (s->not_finite) printf("%zu pixels are infinite or not numbers\n", s->not_finite);
    printf("max = %g min = %g\n", s->largest, s->smallest);
    printf("mean = %g rms = %g rmsd = %g\n", s->mean, s->rms, s->rmsd);
    if (options->count > 1) printf("CC = %.12g\n", s->correlation);
}

static db_status check_files(add_options *options) {
    for (size_t i = 0; i < options->count; i++)
        db_named_files_add(&options->files, DB_ROLE_INPUT, "image", options->summands[i].path);
    db_status status = db_flag_files_check(&flag_table, options, &options->files);
    for (size_t i = 0; i < options->count && status == DB_OK; i++)
        status = db_streams_take_input("add", "image", options->summands[i].path);
    return status == DB_OK ? db_flag_files_take_output(&flag_table, options) : status;
}

static db_status add_images(db_context *context, add_options *options) {
    db_sum_statistics statistics;
    db_status status = check_files(options);
    if (status != DB_OK) return status;
    if (!options->quiet) report_images(options);
    status = db_add_float_images(context, options->summands, options->count, &options->sum,
                                 options->output, &statistics);
    if (status != DB_OK) return db_complain_context("add", status, context);
    if (options->quiet) return DB_OK;
    if (!options->no_statistics) report_statistics(options, &statistics);
    db_shown_print(stdout, "wrote %s as a %zu-byte header with %zu 4-byte floats\n",
                   db_shown_path(options->output), options->sum.header, statistics.pixels);
    return DB_OK;
}

static int run_add(const db_command *command, int argc, char **argv) {
    add_options options;
    db_context *context = NULL;
    db_status status = read_options(&options, argc, argv);
    if (status == DB_OK && options.help) {
        db_print_help(stdout, command);
    } else if (status == DB_OK) {
        status = db_context_create(&context);
        status = status == DB_OK ? add_images(context, &options)
                                 : db_complain_context("add", status, context);
    }
    db_context_destroy(&context);
    clear_options(&options);
    return db_status_exit_code(status);
}

const db_command db_add_command = { "add", db_add_help, &flag_table, run_add };
