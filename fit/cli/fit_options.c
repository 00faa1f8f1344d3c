#include "fit/cli/fit_options.h"

#include "cli/complaint.h"
#include "base/nearest_name.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "dualbragg fit: refines crystal, beam and detector against a measured image\n"
    "\n"
    "usage: dualbragg fit CONFIG.yaml [KEY=VALUE ...] [FLAGS]\n"
    "\n"
    "CONFIG.yaml names the image, the starting model and the parameters to refine. KEY=VALUE goes "
    "over the\n"
    "file, e.g. data.dmin=3, model.cells=[20,20,10], stages.coarse.blur=4.\n"
    "\n"
    "A configuration to start from, with every key explained:\n"
    "  dualbragg fit --show-defaults > fit.yaml\n"
    "Many shots with a common detector (shots.list in the configuration); the same on four "
    "processes, "
    "in builds\n"
    "with MPI (dualbragg --version) and on at least four cores:\n"
    "  dualbragg fit shots.yaml --output all\n"
    "  mpirun -n 4 dualbragg fit shots.yaml --output all\n"
    "The same refinement of another frame of a series, without the page:\n"
    "  dualbragg fit fit.yaml --image frame_0002.cbf --output frame_0002 --no-report\n"
    "\n"
    "Writes PREFIX.yaml (refined model, a configuration again), .expt (experiment list), .mat "
    "(MOSFLM matrix),\n"
    ".json (everything, for programs), .html (report with pictures), .png (measured and model "
    "image) "
    "and .log\n"
    "(what is printed).\n"
    "\n";

static const char after_flags[] =
    "\n"
    "Ctrl-C ends with the best model so far; a second one at once.\n"
    "\n"
    "Exit status: 0 converged; 1 not converged, not to be used or cancelled (the log says why); 2 "
    "wrong\n"
    "use or configuration; 3 unusable input or output; 4 device or instruction set not there.\n";

/* A flag either sets an int to 1 or takes a text. */
typedef struct flag {
    const char *name, *argument, *text;
    size_t offset;
} flag;

#define TO(member) offsetof(db_fit_options, member)
static const flag flags[] = {
    { "--image", "FILE", "the measured image, instead of the configuration's", TO(image) },
    { "--output", "PREFIX",
      "prefix of the output files, or a folder (ends in /), instead of the configuration's",
      TO(output) },
    { "--threads", "COUNT", "threads; 0 (default): all", TO(threads) },
    { "--isa", "NAME", "instruction set: auto, sse2, avx2 or avx512", TO(isa) },
    { "--device", "NAME", "where to compute: cpu, cuda, cuda:N or auto", TO(device) },
    { "--precision", "NAME", "double or mixed, instead of the configuration's", TO(precision) },
    { "--no-report", NULL, "writes no HTML page", TO(no_report) },
    { "--quiet", NULL, "prints nothing but errors", TO(quiet) },
    { "--resume", NULL, "many shots: goes on from PREFIX.checkpoint, where a run was cut off",
      TO(resume) },
    { "--show-defaults", NULL, "prints a complete configuration with explanations",
      TO(show_defaults) },
    { "--show-json", NULL, "prints what every value of PREFIX.json is", TO(show_json) },
    { "--help", NULL, "prints this", TO(help) },
};
enum { FLAG_COUNT = sizeof flags / sizeof *flags };

void db_fit_help(FILE *out) {
    fputs(usage, out);
    for (size_t i = 0; i < FLAG_COUNT; i++) {
        char name[40];
        snprintf(name, sizeof name, "%s %s", flags[i].name,
                 flags[i].argument ? flags[i].argument : "");
        fprintf(out, "  %-20s %s\n", name, flags[i].text);
    }
    fputs(after_flags, out);
}

static db_status read_threads(const char *text, int *threads) {
    char *end;
    const long value = strtol(text, &end, 10);
    if (end == text || *end || value < 0 || value > INT_MAX)
        return db_complain("fit", DB_ERROR_USAGE,
                           "--threads: expected a whole number not below 0, found '%s'", text);
    *threads = (int)value;
    return DB_OK;
}

static db_status unknown_flag(const char *found, size_t length) {
    const char *names[FLAG_COUNT];
    for (size_t i = 0; i < FLAG_COUNT; i++) names[i] = flags[i].name;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1),
             found);
    return db_complain(
        "fit", DB_ERROR_USAGE, "unknown flag '%s'%s", name,
        db_hint_at_names(name, names, FLAG_COUNT, "dualbragg help fit lists all").text);
}

/* Reads argv[*i], a flag, and the argument it may take: "--image FILE" or "--image=FILE". */
static db_status read_flag(db_fit_options *options, int argc, char **argv, int *i) {
    const char *const word = argv[*i];
    const size_t length = strcspn(word, "=");
    size_t f = 0;
    while (f < FLAG_COUNT &&
           (strlen(flags[f].name) != length || strncmp(flags[f].name, word, length) != 0))
        f++;
    if (strcmp(word, "-h") == 0) {
        options->help = 1;
        return DB_OK;
    }
    if (f == FLAG_COUNT) return unknown_flag(word, length);
    char *const field = (char *)options + flags[f].offset;
    if (!flags[f].argument) {
        if (word[length])
            return db_complain("fit", DB_ERROR_USAGE, "%s takes no value, found '%s'",
                               flags[f].name, word + length + 1);
        *(int *)(void *)field = 1;
        return DB_OK;
    }
    const char *const value = word[length] ? word + length + 1 : *i + 1 < argc ? argv[++*i] : "";
    if (!*value)
        return db_complain("fit", DB_ERROR_USAGE, "%s: expected %s", flags[f].name,
                           flags[f].argument);
    if (flags[f].offset == TO(threads)) return read_threads(value, &options->threads);
    *(const char **)(void *)field = value;
    return DB_OK;
}

db_status db_fit_options_read(db_fit_options *options, int argc, char **argv) {
    memset(options, 0, sizeof *options);
    options->overrides = calloc((size_t)argc, sizeof *options->overrides);
    if (!options->overrides)
        return db_complain("fit", DB_ERROR_MEMORY, "out of memory for the arguments");
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-') {
            const db_status status = read_flag(options, argc, argv, &i);
            if (status != DB_OK) return status;
        } else if (!options->config) {
            options->config = argv[i];
        } else if (strchr(argv[i], '=')) {
            options->overrides[options->override_count++] = argv[i];
        } else {
            return db_complain("fit", DB_ERROR_USAGE,
                               "expected KEY=VALUE after the configuration, found '%s'", argv[i]);
        }
    }
    if (!options->config && !options->help && !options->show_defaults && !options->show_json)
        return db_complain(
            "fit", DB_ERROR_USAGE,
            "expected a configuration: dualbragg fit CONFIG.yaml; --show-defaults prints one");
    return DB_OK;
}

void db_fit_options_clear(db_fit_options *options) {
    free(options->overrides);
    options->overrides = NULL;
}
