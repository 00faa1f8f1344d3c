#include "bench/options.h"

#include "base/context_internal.h"
#include "cli/arguments.h"
#include "cli/help.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int usual_sizes[] = { 512, 1024, 4096 };
static const int quick_sizes[] = { 256, 512 };
enum { USUAL_REPEATS = 5, QUICK_REPEATS = 2, LARGEST_SIZE = 16384, MOST_REPEATS = 1000 };

static const char SPOTS[] = "spots"; /* among the loads */

/* Enough for 1024 x 1024 pixels of 100 samples. */
static const double USUAL_LIMIT = 110e6;

#define FLAGS_FILL db_bench_options
#define MILLION_SAMPLES                                                                            \
    DB_ONE(NUMBER), .unit = "million samples", .factor = 1e6, .ranged = 1, .minimum = DBL_MIN,     \
                    .expected = "a positive number"
static const db_flag flags[] = {
    // clang-format off
    { .name = "--sizes", .arguments = "N,N,...", DB_ONE(TEXT), DB_TO(size_list),
      .help = "pixels along each side; default 512,1024,4096; none: no main tables" },
    { .name = "--loads", .arguments = "NAME,NAME,...", DB_ONE(TEXT), DB_TO(load_list),
      .help = "realistic loads to measure besides, and spots (in closed form); default all; none for none" },
    { .name = "--repeats", .arguments = "N", DB_ONE(INTEGER), .minimum = 1, .maximum = MOST_REPEATS, DB_TO(repeats),
      .help = "rounds over everything; default 5" },
    { .name = "--threads", .arguments = "N", DB_ONE(INTEGER), .maximum = 4096, DB_TO(threads),
      .help = "default 2; 0: all processors" },
    { .name = "--isa", .arguments = "auto|sse2|neon|avx2|avx512", DB_ONE(TEXT), DB_TO(isa),
      .help = "instruction set; default DUALBRAGG_ISA, else the best one" },
    { .name = "--device", .arguments = DB_DEVICE_NAMES, DB_ONE(TEXT), DB_TO(device),
      .help = "where to compute; default DUALBRAGG_DEVICE, else cpu" },
    { .name = "--quick", DB_SETS(quick, 1),
      .help = "sizes 256,512 and 2 rounds, where not given, and smaller images of the loads: a trial, not a measurement" },
    { .name = "--output", .arguments = "PREFIX", DB_ONE(TEXT), DB_TO(output),
      .help = "writes PREFIX.json and PREFIX.md too" },
    { .name = "--sample-limit", .arguments = "M", MILLION_SAMPLES, DB_TO(sample_limit),
      .help = "largest image of the main tables; default 110" },
    { .name = "--reference", .arguments = "PROGRAM", DB_ONE(TEXT), DB_TO(reference),
      .help = "times a nanoBragg-compatible program in the same rounds, and compares the images; default: the "
              "environment variable NB_C_BIN" },
    { .name = "--reference-limit", .arguments = "M", MILLION_SAMPLES, DB_TO(reference_limit),
      .help = "largest image the reference is asked for; default 110 (1024 x 1024 pixels of 100 samples)" },
    { .name = "--program", .arguments = "PROGRAM", DB_ONE(TEXT), DB_TO(program),
      .help = "the dualbragg program to run beside the reference; default: the one beside this program or in the "
              "folder above" },
    { .name = "--once", .arguments = "LOAD,PRECISION,RESULT", DB_ONE(TEXT), DB_TO(once_text),
      .help = "nothing but a single call, to be looked at by a profiler: double or mixed; image, derivatives or "
              "normal; the load's size is the first of --sizes" },
    { .name = "--version", DB_SETS(version, 1), .help = "version and compiler" },
    { .name = "--help", .aliases = "-h", DB_SETS(help, 1), .ends = 1, .help = "this text" },
    // clang-format on
};
static const db_flag_table flag_table = { .command = "bench",
                                          .flags = flags,
                                          .count = sizeof flags / sizeof *flags };

void db_bench_print_help(void) {
    fputs(
        "usage: dualbragg_bench [OPTIONS]\n\n"
        "Times images and 16 derivative images, cold and warm, in double and mixed precision, and "
        "prints\nthe tables in Markdown.\n\n",
        stdout);
    db_print_flags(stdout, &flag_table);
    fputs("\nLoads:\n", stdout);
    for (int i = 0; i < DB_BENCH_LOADS; i++)
        printf("  %-12s %s\n", db_bench_loads[i].key, db_bench_loads[i].name);
    printf("  %-12s %s\n", SPOTS, "spots in closed form, beside samples");
}

static db_status read_int(db_context *context, const char *flag, const char *text, int low,
                          int high, int *value) {
    char *end;
    const long number = strtol(text, &end, 10);
    if (end == text || *end || number < low || number > high)
        return db_fail(context, DB_ERROR_USAGE,
                       "%s: expected a whole number from %d to %d, found '%s'", flag, low, high,
                       text);
    *value = (int)number;
    return DB_OK;
}

static db_status read_sizes(db_context *context, const char *list, db_bench_options *options) {
    options->size_count = 0;
    if (strcmp(list, "none") == 0) return DB_OK;
    for (const char *at = list;;) {
        const size_t length = strcspn(at, ",");
        char item[16] = "";
        if (length < sizeof item) memcpy(item, at, length);
        if (options->size_count == DB_BENCH_MAX_SIZES)
            return db_fail(context, DB_ERROR_USAGE,
                           "--sizes: expected at most %d sizes, found '%s'", DB_BENCH_MAX_SIZES,
                           list);
        DB_TRY(read_int(context, "--sizes", item, 1, LARGEST_SIZE,
                        &options->sizes[options->size_count++]));
        if (!at[length]) return DB_OK;
        at += length + 1;
    }
}

static db_status unknown_load(db_context *context, const char *flag, const char *key) {
    return db_fail(context, DB_ERROR_USAGE,
                   "%s: expected names of loads that --help lists, found '%s'", flag, key);
}

static db_status read_loads(db_context *context, const char *list, db_bench_options *options) {
    const int all = strcmp(list, "all") == 0;
    options->spots = all;
    for (int i = 0; i < DB_BENCH_LOADS; i++) options->load[i] = all;
    if (all || strcmp(list, "none") == 0) return DB_OK;
    for (const char *at = list;;) {
        const size_t length = strcspn(at, ",");
        const db_bench_load *load = db_bench_find_load(at, length);
        if (length == strlen(SPOTS) && memcmp(at, SPOTS, length) == 0)
            options->spots = 1;
        else if (!load)
            return unknown_load(context, "--loads", at);
        else
            options->load[load - db_bench_loads] = 1;
        if (!at[length]) return DB_OK;
        at += length + 1;
    }
}

static db_status read_once(db_context *context, const char *text, db_bench_options *options) {
    static const struct {
        const char *text;
        db_precision precision;
        db_bench_output output;
    } rest[] = {
        { ",double,image", DB_PRECISION_DOUBLE, DB_BENCH_IMAGE },
        { ",mixed,image", DB_PRECISION_MIXED, DB_BENCH_IMAGE },
        { ",double,derivatives", DB_PRECISION_DOUBLE, DB_BENCH_DERIVATIVES },
        { ",mixed,derivatives", DB_PRECISION_MIXED, DB_BENCH_DERIVATIVES },
        { ",double,normal", DB_PRECISION_DOUBLE, DB_BENCH_NORMAL },
        { ",mixed,normal", DB_PRECISION_MIXED, DB_BENCH_NORMAL },
    };
    const size_t length = strcspn(text, ",");
    options->once = db_bench_find_load(text, length);
    if (!options->once) return unknown_load(context, "--once", text);
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) {
        if (strcmp(text + length, rest[i].text) != 0) continue;
        options->once_precision = rest[i].precision;
        options->once_output = rest[i].output;
        return DB_OK;
    }
    return db_fail(context, DB_ERROR_USAGE,
                   "--once: expected LOAD,double|mixed,image|derivatives|normal, found '%s'", text);
}

static void fill_defaults(db_bench_options *options) {
    const int quick = options->quick;
    if (!options->size_list || (options->once && !options->size_count)) {
        const int *sizes = quick ? quick_sizes : usual_sizes;
        const size_t bytes = quick ? sizeof quick_sizes : sizeof usual_sizes;
        memcpy(options->sizes, sizes, bytes);
        options->size_count = (int)(bytes / sizeof *sizes);
    }
    if (!options->repeats) options->repeats = quick ? QUICK_REPEATS : USUAL_REPEATS;
    if (!options->reference) {
        const char *named = getenv("NB_C_BIN");
        if (named && *named) options->reference = named;
    }
}

db_status db_bench_read_options(db_context *context, int argc, char **argv,
                                db_bench_options *options) {
    db_arguments given;
    *options = (db_bench_options){ .threads = 2,
                                   .sample_limit = USUAL_LIMIT,
                                   .reference_limit = USUAL_LIMIT,
                                   .load_list = "all" };
    db_status status = db_arguments_read(&given, &flag_table, argc, argv);
    for (size_t i = 0; i < given.count && status == DB_OK; i++)
        db_argument_store(&given.argument[i], options);
    db_arguments_clear(&given);
    if (status == DB_OK && options->size_list)
        status = read_sizes(context, options->size_list, options);
    if (status == DB_OK) status = read_loads(context, options->load_list, options);
    if (status == DB_OK && options->once_text)
        status = read_once(context, options->once_text, options);
    fill_defaults(options);
    return status;
}
