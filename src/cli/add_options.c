#define _POSIX_C_SOURCE 200809L /* strdup */
#include "cli/add_options.h"

#include "cli/complaint.h"
#include "cli/standard_streams.h"
#include "base/nearest_name.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char usage[] =
    "dualbragg add: adds images of raw 32-bit floats, pixel by pixel\n"
    "\n"
    "usage: dualbragg add FILE[:FACTOR[:OFFSET]] ... -o FILE [FLAGS]\n"
    "\n"
    "Each image contributes FACTOR x pixel + OFFSET (1 and 0 where left out). All images must have "
    "the same\n"
    "size. Sums are taken in double precision; any number of images takes the same small memory.\n"
    "\n"
    "Spots, half of the water and the air of a simulation:\n"
    "  dualbragg add spots.bin water.bin:0.5 air.bin -o image.bin\n"
    "The difference of two images:\n"
    "  dualbragg add a.bin b.bin:-1 -o difference.bin\n"
    "The mean of a hundred, named one a line with factor and offset behind, as in 'shot.bin "
    "0.01':\n"
    "  dualbragg add -list shots.txt -o mean.bin\n"
    "The same as float_add -scale1 0.625 smv.bin -offset 40 -outoffset 0 -ignore 65535 -outfile "
    "photons.bin:\n"
    "  dualbragg add -scale1 0.625 smv.bin -offset 40 -outoffset 0 -ignore 65535 -outfile "
    "photons.bin\n"
    "\n";

typedef enum kind { TEXT, NUMBER, COUNT, IGNORED, LIST, SCALE, ON, OFF, REFUSED } kind;

typedef struct flag {
    const char *name, *aliases[2], *argument, *text;
    kind kind;
    size_t offset; /* of the member */
} flag;

static const char compares[] = "compares images, which dualbragg add does not do";

#define TO(member) offsetof(db_add_options, member)
static const flag flags[] = {
    { "-o",
      { "-outfile", "-output" },
      "FILE",
      "where the sum goes; - is standard output",
      TEXT,
      TO(output) },
    { "-list", { 0 }, "FILE", "more images: a line for each, 'FILE [FACTOR [OFFSET]]'", LIST, 0 },
    { "-scaleN", { 0 }, "FACTOR", "multiplies the Nth image: -scale1, -scale2 ...", SCALE, 0 },
    { "-offset",
      { 0 },
      "X",
      "is subtracted from every pixel of every image, before its factor",
      NUMBER,
      TO(offset) },
    { "-outscale", { 0 }, "FACTOR", "multiplies the sum", NUMBER, TO(sum.scale) },
    { "-outoffset",
      { 0 },
      "X",
      "is added to the sum after that; default that of -offset, else 0",
      NUMBER,
      TO(out_offset) },
    { "-header",
      { 0 },
      "BYTES",
      "are skipped in every image; the first image's start the sum",
      COUNT,
      TO(sum.header) },
    { "-ignore",
      { 0 },
      "X",
      "pixels with this value in an image keep it and are not counted; may be repeated",
      IGNORED,
      0 },
    { "-nostats", { 0 }, NULL, "no statistics", OFF, TO(statistics) },
    { "--quiet", { "-q", NULL }, NULL, "prints nothing but errors", ON, TO(quiet) },
    { "--help", { "-h", NULL }, NULL, "prints this", ON, TO(help) },
    { "-normalize", { 0 }, NULL, compares, REFUSED, 0 },
    { "-histogram", { 0 }, NULL, compares, REFUSED, 0 },
    { "-binsize", { "-bin", NULL }, NULL, compares, REFUSED, 0 },
    { "-epsilon", { 0 }, NULL, compares, REFUSED, 0 },
    { "-reject", { 0 }, NULL, compares, REFUSED, 0 },
};
enum { FLAG_COUNT = sizeof flags / sizeof *flags, MOST_SCALES = 1000000, MOST_IGNORED = 255 };

void db_add_help(FILE *out) {
    fputs(usage, out);
    for (size_t i = 0; i < FLAG_COUNT; i++) {
        if (flags[i].kind == REFUSED) continue;
        char name[40];
        snprintf(name, sizeof name, "%s %s", flags[i].name,
                 flags[i].argument ? flags[i].argument : "");
        fprintf(out, "  %-20s %s", name, flags[i].text);
        if (flags[i].aliases[0]) fprintf(out, "; also %s", flags[i].aliases[0]);
        if (flags[i].aliases[1]) fprintf(out, ", %s", flags[i].aliases[1]);
        fputc('\n', out);
    }
    fputs("\nExit status: 0 success; 2 wrong use; 3 unusable input or output.\n", out);
}

/* A finite number that is the whole text. */
static int is_number(const char *text, double *value) {
    char *end;
    *value = strtod(text, &end);
    return end != text && !*end && isfinite(*value);
}

static db_status memory(void) {
    return db_complain("add", DB_ERROR_MEMORY, "out of memory for the list of images");
}

static db_status append(db_add_options *options, const char *path, size_t length, double factor,
                        double offset) {
    if (options->count == options->capacity) {
        const size_t capacity = options->capacity ? 2 * options->capacity : 16;
        db_summand *const grown = realloc(options->summands, capacity * sizeof *grown);
        if (!grown) return memory();
        options->summands = grown;
        options->capacity = capacity;
    }
    char *const copy = strndup(path, length);
    if (!copy) return memory();
    options->summands[options->count++] = (db_summand){ copy, factor, offset };
    return DB_OK;
}

/* FILE[:FACTOR[:OFFSET]]; a file of exactly this name comes first. */
static db_status take_image(db_add_options *options, const char *word) {
    struct stat info;
    double value[2];
    int count = 0;
    char *const path = strdup(word);
    if (!path) return memory();
    while (count < 2 && stat(path, &info) != 0) {
        char *const colon = strrchr(path, ':');
        if (!colon || colon == path || !is_number(colon + 1, &value[count])) break;
        *colon = 0;
        count++;
    }
    /* the last number was met first */
    const char *const name = db_streams_input_name(path);
    const db_status status = append(options, name, strlen(name), count ? value[count - 1] : 1,
                                    count == 2 ? value[0] : 0);
    free(path);
    return status;
}

static db_status take_list_line(db_add_options *options, const char *file, size_t number,
                                char *line) {
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
    return count ? append(options, words[0], strlen(words[0]), value[0], value[1]) : DB_OK;
}

static db_status take_list(db_add_options *options, const char *path) {
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

/* -scale12: number 12, 0 if it is none. */
static size_t scale_number(const char *word) {
    if (strncmp(word, "-scale", 6) != 0 || !word[6] || word[6] == '0') return 0;
    char *end;
    const long number = strspn(word + 6, "0123456789") ? strtol(word + 6, &end, 10) : 0;
    return number > 0 && number <= MOST_SCALES && !*end ? (size_t)number : 0;
}

static db_status take_scale(db_add_options *options, size_t number, double value) {
    if (number > options->scale_count) {
        double *const grown = realloc(options->scales, number * sizeof *grown);
        if (!grown) return memory();
        options->scales = grown;
        while (options->scale_count < number) options->scales[options->scale_count++] = NAN;
    }
    options->scales[number - 1] = value;
    return DB_OK;
}

static db_status take_ignored(db_add_options *options, double value) {
    if (options->sum.ignore_count == MOST_IGNORED)
        return db_complain("add", DB_ERROR_USAGE, "-ignore: expected at most %d values",
                           MOST_IGNORED);
    if (!options->ignore) options->ignore = calloc(MOST_IGNORED, sizeof *options->ignore);
    if (!options->ignore) return memory();
    options->ignore[options->sum.ignore_count++] = (float)value;
    return DB_OK;
}

static int is_flag(const flag *f, const char *word) {
    return f->kind == SCALE ? scale_number(word) > 0
                            : strcmp(f->name, word) == 0 ||
                                  (f->aliases[0] && strcmp(f->aliases[0], word) == 0) ||
                                  (f->aliases[1] && strcmp(f->aliases[1], word) == 0);
}

static db_status unknown_flag(const char *found) {
    const char *names[3 * FLAG_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < FLAG_COUNT; i++) {
        names[count++] = flags[i].name;
        for (int a = 0; a < 2 && flags[i].aliases[a]; a++) names[count++] = flags[i].aliases[a];
    }
    return db_complain("add", DB_ERROR_USAGE, "unknown flag '%s'%s", found,
                       db_hint_at_names(found, names, count, "dualbragg help add lists all").text);
}

static db_status take_number(db_add_options *options, const flag *f, const char *word,
                             double value) {
    if (f->kind == SCALE) return take_scale(options, scale_number(word), value);
    if (f->kind == IGNORED) return take_ignored(options, value);
    if (f->kind == COUNT) {
        if (!(value >= 0 && value <= 1e9 && value == floor(value)))
            return db_complain("add", DB_ERROR_USAGE,
                               "%s: expected a whole number from 0 to 1e9, found %g", word, value);
        options->sum.header = (size_t)value;
        return DB_OK;
    }
    memcpy((char *)options + f->offset, &value, sizeof value);
    return DB_OK;
}

static db_status take_flag(db_add_options *options, int argc, char **argv, int *i) {
    const char *const word = argv[*i];
    size_t n = 0;
    while (n < FLAG_COUNT && !is_flag(&flags[n], word)) n++;
    if (n == FLAG_COUNT) return unknown_flag(word);
    const flag *const f = &flags[n];
    if (f->kind == REFUSED) return db_complain("add", DB_ERROR_UNSUPPORTED, "%s %s", word, f->text);
    if (f->kind == ON || f->kind == OFF) {
        const int on = f->kind == ON;
        memcpy((char *)options + f->offset, &on, sizeof on);
        return DB_OK;
    }
    const char *const value = *i + 1 < argc ? argv[++*i] : "";
    if (!*value)
        return db_complain("add", DB_ERROR_USAGE,
                           "%s: expected %s, found the end of the command line", word, f->argument);
    if (f->kind == TEXT) {
        options->output = db_streams_output_name(value);
        return DB_OK;
    }
    if (f->kind == LIST) return take_list(options, value);
    double number;
    if (!is_number(value, &number))
        return db_complain("add", DB_ERROR_USAGE, "%s: expected a finite number, found '%s'", word,
                           value);
    return take_number(options, f, word, number);
}

/* What the flags say about single images, and the offsets. */
static db_status settle(db_add_options *options) {
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
    return DB_OK;
}

db_status db_add_options_read(db_add_options *options, int argc, char **argv) {
    const db_sum_options defaults = DB_SUM_OPTIONS_INIT;
    memset(options, 0, sizeof *options);
    options->sum = defaults;
    options->offset = options->out_offset = NAN;
    options->statistics = 1;
    for (int i = 1; i < argc && !options->help; i++) {
        const db_status status = argv[i][0] == '-' && argv[i][1]
                                     ? take_flag(options, argc, argv, &i)
                                     : take_image(options, argv[i]);
        if (status != DB_OK) return status;
    }
    if (options->help) return DB_OK;
    if (!options->count)
        return db_complain("add", DB_ERROR_USAGE, "expected images to add, found none");
    if (!options->output)
        return db_complain("add", DB_ERROR_USAGE, "no output named: expected -o FILE");
    return settle(options);
}

void db_add_options_clear(db_add_options *options) {
    for (size_t i = 0; i < options->count; i++) free((char *)(uintptr_t)options->summands[i].path);
    free(options->summands);
    free(options->scales);
    free(options->ignore);
    db_named_files_clear(&options->files);
}
