/* Reading the arguments of "dualbragg fit". */
#include "fit/cli/fit_options.h"

#include "cli/complaint.h"

#include <stdlib.h>
#include <string.h>

#define FLAGS_FILL db_fit_options
static const db_flag flags[] = {
    // clang-format off
    { .name = "--image", .arguments = "FILE", DB_ONE(TEXT), DB_TO(image),
      .help = "the measured image, instead of the configuration's" },
    { .name = "--output", .arguments = "PREFIX", DB_ONE(TEXT), DB_TO(output),
      .help = "prefix of the output files, or a folder (ends in /), instead of the configuration's" },
    { .name = "--threads", .arguments = "COUNT", DB_ONE(INTEGER), DB_TO(threads), .help = "threads; 0 (default): all" },
    { .name = "--isa", .arguments = "auto|sse2|avx2|avx512", DB_ONE(TEXT), DB_TO(isa), .help = "instruction set" },
    { .name = "--device", .arguments = "cpu|cuda|cuda:N|auto", DB_ONE(TEXT), DB_TO(device),
      .help = "where to compute" },
    { .name = "--precision", .arguments = "double|mixed", DB_ONE(TEXT), DB_TO(precision),
      .help = "instead of the configuration's" },
    { .name = "--no-report", DB_SETS(no_report, 1), .help = "writes no HTML page" },
    { .name = "--model-image", DB_SETS(model_image, 1),
      .help = "writes PREFIX_model.bin, the refined model's spots on the whole image, and PREFIX_background.bin" },
    { .name = "--quiet", .aliases = "-q", DB_SETS(quiet, 1), .help = "prints nothing but errors" },
    { .name = "--resume", DB_SETS(resume, 1),
      .help = "many shots: goes on from PREFIX.checkpoint, where a run was cut off" },
    { .name = "--show-defaults", DB_SETS(show_defaults, 1),
      .help = "prints a complete configuration with explanations" },
    { .name = "--show-json", DB_SETS(show_json, 1), .help = "prints what every value of PREFIX.json is" },
    { .name = "--help", .aliases = "-h", DB_SETS(help, 1), .ends = 1, .help = "prints this" },
    // clang-format on
};
const db_flag_table db_fit_flags = { .command = "fit",
                                     .flags = flags,
                                     .count = sizeof flags / sizeof *flags,
                                     .takes_words = 1,
                                     .takes_equals = 1 };

static db_status take_word(db_fit_options *options, const char *word) {
    if (!options->config) {
        options->config = word;
        return DB_OK;
    }
    if (!strchr(word, '='))
        return db_complain("fit", DB_ERROR_USAGE,
                           "expected KEY=VALUE after the configuration, found '%s'", word);
    options->overrides[options->override_count++] = word;
    return DB_OK;
}

db_status db_fit_options_read(db_fit_options *options, int argc, char **argv) {
    db_arguments given;
    memset(options, 0, sizeof *options);
    options->overrides = calloc((size_t)argc, sizeof *options->overrides);
    if (!options->overrides)
        return db_complain("fit", DB_ERROR_MEMORY, "out of memory for the arguments");
    db_status status = db_arguments_read(&given, &db_fit_flags, argc, argv);
    for (size_t i = 0; i < given.count && status == DB_OK; i++)
        if (given.argument[i].flag)
            db_argument_store(&given.argument[i], options);
        else
            status = take_word(options, given.argument[i].text);
    db_arguments_clear(&given);
    const int prints = options->help || options->show_defaults || options->show_json;
    if (status == DB_OK && !options->config && !prints)
        status = db_complain(
            "fit", DB_ERROR_USAGE,
            "expected a configuration: dualbragg fit CONFIG.yaml; --show-defaults prints one");
    return status;
}

void db_fit_options_clear(db_fit_options *options) {
    free(options->overrides);
    options->overrides = NULL;
}
