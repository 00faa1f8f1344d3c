#include "bench/options.h"

#include "core/context_internal.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int usual_sizes[] = { 256, 512, 1024, 2048, 4096 };
static const int quick_sizes[] = { 256, 512 };
enum { USUAL_REPEATS = 7, QUICK_REPEATS = 2, LARGEST_SIZE = 16384, MOST_REPEATS = 1000 };

/* Enough for 1024 x 1024 pixels of 100 samples. */
static const double USUAL_REFERENCE_LIMIT = 110e6;

enum { SIZES = 256, REPEATS, THREADS, ISA, QUICK, OUTPUT, REFERENCE, REFERENCE_LIMIT, PROGRAM };
static const struct option long_options[] = {
    { "sizes", required_argument, NULL, SIZES },
    { "repeats", required_argument, NULL, REPEATS },
    { "threads", required_argument, NULL, THREADS },
    { "isa", required_argument, NULL, ISA },
    { "quick", no_argument, NULL, QUICK },
    { "output", required_argument, NULL, OUTPUT },
    { "reference", required_argument, NULL, REFERENCE },
    { "reference-limit", required_argument, NULL, REFERENCE_LIMIT },
    { "program", required_argument, NULL, PROGRAM },
    { "help", no_argument, NULL, 'h' },
    { NULL, 0, NULL, 0 },
};

void db_bench_print_help(void) {
    fputs("usage: dualbragg_bench [OPTIONS]\n"
          "\n"
          "Times images and 16 derivative images, cold and warm, in double and mixed precision, "
          "and prints\n"
          "the tables in Markdown.\n"
          "\n"
          "  --sizes N,N,...        pixels along each side; default 256,512,1024,2048,4096\n"
          "  --repeats N            rounds over everything; default 7\n"
          "  --threads N            default 2; 0: all processors\n"
          "  --isa NAME             auto, sse2, avx2 or avx512; default DUALBRAGG_ISA, else the "
          "best one\n"
          "  --quick                sizes 256,512 and 2 rounds, where not given: a trial, not a "
          "measurement\n"
          "  --output PREFIX        writes PREFIX.json and PREFIX.md too\n"
          "  --reference PROGRAM    times a nanoBragg-compatible program in the same rounds, and "
          "compares\n"
          "                         the images; default: the environment variable NB_C_BIN\n"
          "  --reference-limit M    largest image the reference is asked for, in million samples;\n"
          "                         default 110 (1024 x 1024 pixels of 100 samples)\n"
          "  --program PROGRAM      the dualbragg program to run beside the reference; default: "
          "the one\n"
          "                         beside this program or in the folder above\n"
          "  --help                 this text\n",
          stdout);
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

static db_status read_limit(db_context *context, const char *text, double *limit) {
    char *end;
    const double millions = strtod(text, &end);
    if (end == text || *end || !(millions > 0) || !isfinite(millions))
        return db_fail(
            context, DB_ERROR_USAGE,
            "--reference-limit: expected a positive number (million samples), found '%s'", text);
    *limit = millions * 1e6;
    return DB_OK;
}

static db_status take(db_context *context, int option, const char *value, int *quick,
                      db_bench_options *options) {
    switch (option) {
    case SIZES: return read_sizes(context, value, options);
    case REPEATS: return read_int(context, "--repeats", value, 1, MOST_REPEATS, &options->repeats);
    case THREADS: return read_int(context, "--threads", value, 0, 4096, &options->threads);
    case REFERENCE_LIMIT: return read_limit(context, value, &options->reference_limit);
    case ISA: options->isa = value; break;
    case QUICK: *quick = 1; break;
    case OUTPUT: options->output = value; break;
    case REFERENCE: options->reference = value; break;
    case PROGRAM: options->program = value; break;
    case 'h': options->help = 1; break;
    default: break;
    }
    return DB_OK;
}

static void fill_defaults(int quick, db_bench_options *options) {
    if (!options->size_count) {
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
    int quick = 0, option;
    *options = (db_bench_options){ .threads = 2, .reference_limit = USUAL_REFERENCE_LIMIT };
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        if (option == '?')
            return db_fail(context, DB_ERROR_USAGE, "unknown option '%s'; see --help",
                           argv[optind - 1]);
        if (option == ':')
            return db_fail(context, DB_ERROR_USAGE, "%s: expected a value, found none",
                           argv[optind - 1]);
        DB_TRY(take(context, option, optarg, &quick, options));
    }
    if (optind < argc)
        return db_fail(context, DB_ERROR_USAGE, "expected options only, found '%s'", argv[optind]);
    fill_defaults(quick, options);
    return DB_OK;
}
