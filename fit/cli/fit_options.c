/* Reading the arguments of "dualbragg fit". */
#include "fit/cli/fit_run.h"

#include "cli/complaint.h"
#include "fit/config/config_print.h"

#include <dualbragg/io.h>
#include <dualbragg/expert/file_kind.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLAGS_FILL db_fit_options
static const db_flag flags[] = {
    // clang-format off
    { .name = "--image", .arguments = "FILE", DB_ONE(TEXT), DB_TO(image),
      .help = "measured image, instead of the configuration's" },
    { .name = "--cell", .arguments = "A [B C ALPHA BETA GAMMA]", .unit = "A, degree", .kind = DB_FLAG_NUMBER, .least = 1,
      .most = DB_CELL_CONSTANTS, DB_TO(cell), DB_SETS(cell_given, 1),
      .help = "without a configuration: unit cell; missing edges equal A; without angles they are 90; default: it is found" },
    { .name = "--symmetry", .arguments = "SYSTEM", DB_ONE(TEXT), DB_TO(symmetry),
      .help = "without a configuration: crystal system, lattice or space group" },
    { .name = "--matrix", .arguments = "FILE", DB_ONE(TEXT), DB_TO(matrix), .help = "without a configuration: MOSFLM matrix" },
    { .name = "--expt", .arguments = "FILE", DB_ONE(TEXT), DB_TO(expt), .help = "without a configuration: experiment list of DIALS, .geom or .stream of CrystFEL, XPARM.XDS, NXmx file" },
    { .name = "--output", .arguments = "PREFIX", DB_ONE(TEXT), DB_TO(output),
      .help = "prefix of the output files, or a folder (ends in /), instead of the configuration's" },
    { .name = "--threads", .arguments = "COUNT", DB_ONE(INTEGER), DB_TO(threads), .help = "threads; 0 (default): all" },
    { .name = "--isa", .arguments = "auto|sse2|neon|avx2|avx512", DB_ONE(TEXT), DB_TO(isa), .help = "instruction set" },
    { .name = "--device", .arguments = DB_DEVICE_NAMES, DB_ONE(TEXT), DB_TO(device),
      .help = "device" },
    { .name = "--precision", .arguments = "double|mixed", DB_ONE(TEXT), DB_TO(precision),
      .help = "instead of the configuration's" },
    { .name = "--no-report", DB_SETS(no_report, 1), .help = "writes no HTML page" },
    { .name = "--model-image", DB_SETS(model_image, 1),
      .help = "writes PREFIX_model.bin, the refined model's spots on the whole image, and PREFIX_background.bin" },
    { .name = "--quiet", .aliases = "-q", DB_SETS(quiet, 1), .help = "prints nothing but errors" },
    { .name = "--verbose", .aliases = "-v", DB_SETS(verbose, 1),
      .help = "prints the content of PREFIX.log: every parameter, evaluation and test" },
    { .name = "--resume", DB_SETS(resume, 1),
      .help = "many shots: continues an interrupted run from PREFIX.checkpoint" },
    { .name = "--array", .arguments = "K/N", DB_ONE(TEXT), DB_TO(array),
      .help = "many shots: task K of N of a job array, which refines single shots; --merge then continues" },
    { .name = "--merge", DB_SETS(merge, 1),
      .help = "many shots: continues after all tasks of an array (--array)" },
    { .name = "--show-defaults", DB_SETS(show_defaults, 1),
      .help = "prints a complete configuration with explanations" },
    { .name = "--show-json", DB_SETS(show_json, 1), .help = "prints the meaning of every value of PREFIX.json" },
    { .name = "--help", .aliases = "-h", DB_SETS(help, 1), .ends = 1, .help = "prints this" },
    // clang-format on
};
const db_flag_table db_fit_flags = {
    .command = "fit", .flags = flags, .count = sizeof flags / sizeof *flags, .takes_words = 1
};

static int is_image(const char *path) {
    db_file_kind kind;
    return db_recognize_file(NULL, path, &kind) == DB_OK && kind.holds & DB_HOLDS_IMAGES;
}

/* Are words images, because there is no configuration? */
static int names_images(const db_fit_options *options) {
    return options->cell_given || options->matrix || options->expt || options->is_image;
}

/* Is the first word without "=" an image? */
static int begins_with_image(const db_arguments *given) {
    for (size_t i = 0; i < given->count; i++)
        if (!given->argument[i].flag && !strchr(given->argument[i].text, '='))
            return is_image(given->argument[i].text);
    return 0;
}

/* Complains about a file of a measurement instead of a configuration; 0: it may be a configuration. */
static int complain_of_file(const char *path) {
    db_file_kind kind;
    if (db_recognize_file(NULL, path, &kind) != DB_OK || !kind.holds) return 0;
    if (kind.holds & (DB_HOLDS_GEOMETRY | DB_HOLDS_CRYSTALS))
        db_complain("fit", DB_ERROR_USAGE,
                    "%s: found %s, expected an image, too: dualbragg fit IMAGE %s %s", path,
                    kind.name, kind.holds & DB_HOLDS_GEOMETRY ? "--expt" : "--matrix", path);
    else
        db_complain(
            "fit", DB_ERROR_USAGE,
            "%s: found %s, expected a configuration or an image: dualbragg fit IMAGE --cell "
            "A,B,C,ALPHA,BETA,GAMMA --symmetry SYSTEM",
            path, kind.name);
    return 1;
}

/* Does a name end as configurations do? */
static int is_configuration(const char *word) {
    const char *const ending = strrchr(word, '.');
    return ending && (strcmp(ending, ".yaml") == 0 || strcmp(ending, ".yml") == 0);
}

static db_status take_word(db_fit_options *options, const char *word) {
    if (strchr(word, '=')) {
        options->overrides[options->override_count++] = word;
        return DB_OK;
    }
    if (names_images(options)) {
        if (is_configuration(word))
            return db_complain("fit", DB_ERROR_USAGE,
                               "%s: expected an image, found a configuration; --cell, --matrix and "
                               "--expt are for images alone: beside a configuration write "
                               "model.cell=A,B,C, model.matrix=FILE or model.expt=FILE",
                               word);
        options->images[options->image_count++] = word;
        return DB_OK;
    }
    if (options->config)
        return complain_of_file(options->config)
                   ? DB_ERROR_USAGE
                   : db_complain("fit", DB_ERROR_USAGE,
                                 "expected KEY=VALUE after the configuration, found '%s'", word);
    options->config = word;
    return DB_OK;
}

/* Writes the cell as the key model.cell. */
static void write_cell(db_fit_options *o) {
    const size_t size = sizeof o->cell_text;
    size_t length = (size_t)snprintf(o->cell_text, size, "model.cell=");
    for (int i = 0; i < DB_CELL_CONSTANTS && !isnan(o->cell[i]); i++)
        length += (size_t)snprintf(o->cell_text + length, size - length, "%c%.15g", i ? ',' : '[',
                                   o->cell[i]);
    snprintf(o->cell_text + length, size - length, "]");
}

/* Writes flags about the model as keys of a configuration; KEY=VALUE, which comes later, has precedence. */
static db_status say_model(db_fit_options *o) {
    const struct {
        const char *key, *text;
    } given[DB_MODEL_TEXTS] = { { "model.symmetry", o->symmetry },
                                { "model.matrix", o->matrix },
                                { "model.expt", o->expt } };
    write_cell(o);
    if (o->cell_given) o->overrides[o->override_count++] = o->cell_text;
    for (int i = 0; i < DB_MODEL_TEXTS; i++) {
        if (!given[i].text) continue;
        if (db_yaml_setting(NULL, given[i].key, given[i].text, &o->texts[i]) != DB_OK)
            return db_complain("fit", DB_ERROR_MEMORY, "out of memory for the arguments");
        o->overrides[o->override_count++] = o->texts[i];
    }
    if (!o->matrix && !o->expt) o->overrides[o->override_count++] = "model.find_orientation=yes";
    return DB_OK;
}

static db_status complete(db_fit_options *options) {
    if (options->help || options->show_defaults || options->show_json) return DB_OK;
    if (names_images(options)) {
        if (options->image_count && options->image)
            return db_complain("fit", DB_ERROR_USAGE,
                               "--image %s: expected no further image, found '%s'; images without "
                               "a configuration follow one another: dualbragg fit IMAGE ...",
                               options->image, options->images[0]);
        if (options->image) options->images[options->image_count++] = options->image;
        if (!options->image_count)
            return db_complain("fit", DB_ERROR_USAGE,
                               "expected images beside the flags of a model");
        return DB_OK;
    }
    if (options->symmetry)
        return db_complain("fit", DB_ERROR_USAGE, "--symmetry: expected an image, or --cell, too");
    if (options->config) return complain_of_file(options->config) ? DB_ERROR_USAGE : DB_OK;
    return db_complain(
        "fit", DB_ERROR_USAGE,
        "expected a configuration: dualbragg fit CONFIG.yaml (--show-defaults prints one), or an "
        "image: dualbragg fit IMAGE [--cell A,B,C --symmetry SYSTEM]");
}

db_status db_fit_options_read(db_fit_options *options, int argc, char **argv) {
    const size_t room = (size_t)argc + 8;
    db_arguments given;
    memset(options, 0, sizeof *options);
    options->overrides = calloc(room, sizeof *options->overrides);
    options->images = calloc(room, sizeof *options->images);
    if (!options->overrides || !options->images)
        return db_complain("fit", DB_ERROR_MEMORY, "out of memory for the arguments");
    db_status status = db_arguments_read(&given, &db_fit_flags, argc, argv);
    for (size_t i = 0; i < given.count && status == DB_OK; i++)
        if (given.argument[i].flag) db_argument_store(&given.argument[i], options);
    options->is_image = status == DB_OK && begins_with_image(&given);
    if (status == DB_OK && names_images(options)) status = say_model(options);
    for (size_t i = 0; i < given.count && status == DB_OK; i++)
        if (!given.argument[i].flag) status = take_word(options, given.argument[i].text);
    db_arguments_clear(&given);
    return status == DB_OK ? complete(options) : status;
}

void db_fit_options_clear(db_fit_options *options) {
    free(options->overrides);
    free(options->images);
    for (int i = 0; i < DB_MODEL_TEXTS; i++) free(options->texts[i]);
    *options = (db_fit_options){ 0 };
}
