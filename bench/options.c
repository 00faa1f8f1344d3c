#include "bench/options.h"

#include "base/context_internal.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int usual_sizes[] = { 512, 1024, 4096 };
static const int quick_sizes[] = { 256, 512 };
enum { USUAL_REPEATS = 5, QUICK_REPEATS = 2, LARGEST_SIZE = 16384, MOST_REPEATS = 1000 };

/* Enough for 1024 x 1024 pixels of 100 samples. */
static const double USUAL_LIMIT = 110e6;

enum {
    SIZES = 256,
    LOADS,
    REPEATS,
    THREADS,
    ISA,
    DEVICE,
    QUICK,
    OUTPUT,
    SAMPLE_LIMIT,
    REFERENCE,
    REFERENCE_LIMIT,
    PROGRAM,
    ONCE,
    VERSION
};
static const struct option long_options[] = {
    { "sizes", required_argument, NULL, SIZES },
    { "loads", required_argument, NULL, LOADS },
    { "repeats", required_argument, NULL, REPEATS },
    { "threads", required_argument, NULL, THREADS },
    { "isa", required_argument, NULL, ISA },
    { "device", required_argument, NULL, DEVICE },
    { "quick", no_argument, NULL, QUICK },
    { "output", required_argument, NULL, OUTPUT },
    { "sample-limit", required_argument, NULL, SAMPLE_LIMIT },
    { "reference", required_argument, NULL, REFERENCE },
    { "reference-limit", required_argument, NULL, REFERENCE_LIMIT },
    { "program", required_argument, NULL, PROGRAM },
    { "once", required_argument, NULL, ONCE },
    { "version", no_argument, NULL, VERSION },
    { "help", no_argument, NULL, 'h' },
    { NULL, 0, NULL, 0 },
};

void db_bench_print_help(void) {
    fputs(
        "usage: dualbragg_bench [OPTIONS]\n"
        "\n"
        "Times images and 16 derivative images, cold and warm, in double and mixed precision, "
        "and prints\n"
        "the tables in Markdown.\n"
        "\n"
        "  --sizes N,N,...        pixels along each side; default 512,1024,4096\n"
        "  --loads NAME,NAME,...  realistic loads to measure besides; default all; none for none\n"
        "  --repeats N            rounds over everything; default 5\n"
        "  --threads N            default 2; 0: all processors\n"
        "  --isa NAME             auto, sse2, avx2 or avx512; default DUALBRAGG_ISA, else the "
        "best one\n"
        "  --device NAME          cpu, cuda, cuda:N or auto; default DUALBRAGG_DEVICE, else cpu\n"
        "  --quick                sizes 256,512 and 2 rounds, where not given, and smaller "
        "images of the\n"
        "                         loads: a trial, not a measurement\n"
        "  --output PREFIX        writes PREFIX.json and PREFIX.md too\n"
        "  --sample-limit M       largest image of the main tables, in million samples; default "
        "110\n"
        "  --reference PROGRAM    times a nanoBragg-compatible program in the same rounds, and "
        "compares\n"
        "                         the images; default: the environment variable NB_C_BIN\n"
        "  --reference-limit M    largest image the reference is asked for, in million samples;\n"
        "                         default 110 (1024 x 1024 pixels of 100 samples)\n"
        "  --program PROGRAM      the dualbragg program to run beside the reference; default: "
        "the one\n"
        "                         beside this program or in the folder above\n"
        "  --once LOAD,PRECISION,RESULT\n"
        "                         nothing but a single call, to be looked at by a profiler: "
        "double or\n"
        "                         mixed; image or derivatives; the load's size is the first of "
        "--sizes\n"
        "  --help                 this text\n"
        "\n"
        "Loads:\n",
        stdout);
    for (int i = 0; i < DB_BENCH_LOADS; i++)
        printf("  %-12s %s\n", db_bench_loads[i].key, db_bench_loads[i].name);
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

static db_status unknown_load(db_context *context, const char *flag, const char *key) {
    return db_fail(context, DB_ERROR_USAGE,
                   "%s: expected names of loads that --help lists, found '%s'", flag, key);
}

static db_status read_loads(db_context *context, const char *list, db_bench_options *options) {
    const int all = strcmp(list, "all") == 0;
    for (int i = 0; i < DB_BENCH_LOADS; i++) options->load[i] = all;
    if (all || strcmp(list, "none") == 0) return DB_OK;
    for (const char *at = list;;) {
        const size_t length = strcspn(at, ",");
        const db_bench_load *load = db_bench_find_load(at, length);
        if (!load) return unknown_load(context, "--loads", at);
        options->load[load - db_bench_loads] = 1;
        if (!at[length]) return DB_OK;
        at += length + 1;
    }
}

static db_status read_once(db_context *context, const char *text, db_bench_options *options) {
    static const char *const rest[] = { ",double,image", ",mixed,image", ",double,derivatives",
                                        ",mixed,derivatives" };
    const size_t length = strcspn(text, ",");
    options->once = db_bench_find_load(text, length);
    if (!options->once) return unknown_load(context, "--once", text);
    for (int i = 0; i < 4; i++) {
        if (strcmp(text + length, rest[i]) != 0) continue;
        options->once_precision = i % 2 ? DB_PRECISION_MIXED : DB_PRECISION_DOUBLE;
        options->once_derivatives = i / 2;
        return DB_OK;
    }
    return db_fail(context, DB_ERROR_USAGE,
                   "--once: expected LOAD,double|mixed,image|derivatives, found '%s'", text);
}

static db_status read_limit(db_context *context, const char *flag, const char *text,
                            double *limit) {
    char *end;
    const double millions = strtod(text, &end);
    if (end == text || *end || !(millions > 0) || !isfinite(millions))
        return db_fail(context, DB_ERROR_USAGE,
                       "%s: expected a positive number (million samples), found '%s'", flag, text);
    *limit = millions * 1e6;
    return DB_OK;
}

static db_status take(db_context *context, int option, const char *value,
                      db_bench_options *options) {
    switch (option) {
    case SIZES: return read_sizes(context, value, options);
    case REPEATS: return read_int(context, "--repeats", value, 1, MOST_REPEATS, &options->repeats);
    case THREADS: return read_int(context, "--threads", value, 0, 4096, &options->threads);
    case REFERENCE_LIMIT:
        return read_limit(context, "--reference-limit", value, &options->reference_limit);
    case SAMPLE_LIMIT: return read_limit(context, "--sample-limit", value, &options->sample_limit);
    case LOADS: return read_loads(context, value, options);
    case ONCE: return read_once(context, value, options);
    case ISA: options->isa = value; break;
    case DEVICE: options->device = value; break;
    case QUICK: options->quick = 1; break;
    case OUTPUT: options->output = value; break;
    case REFERENCE: options->reference = value; break;
    case PROGRAM: options->program = value; break;
    case VERSION: options->version = 1; break;
    case 'h': options->help = 1; break;
    default: break;
    }
    return DB_OK;
}

static void fill_defaults(db_bench_options *options) {
    const int quick = options->quick;
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
    int option;
    *options = (db_bench_options){ .threads = 2,
                                   .sample_limit = USUAL_LIMIT,
                                   .reference_limit = USUAL_LIMIT };
    DB_TRY(read_loads(context, "all", options));
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        if (option == '?')
            return db_fail(context, DB_ERROR_USAGE, "unknown option '%s'; see --help",
                           argv[optind - 1]);
        if (option == ':')
            return db_fail(context, DB_ERROR_USAGE, "%s: expected a value, found none",
                           argv[optind - 1]);
        DB_TRY(take(context, option, optarg, options));
    }
    if (optind < argc)
        return db_fail(context, DB_ERROR_USAGE, "expected options only, found '%s'", argv[optind]);
    fill_defaults(options);
    return DB_OK;
}
