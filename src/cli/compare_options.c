#include "cli/compare_options.h"

#include "cli/complaint.h"
#include "cli/standard_streams.h"
#include "base/nearest_name.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "dualbragg compare: how alike two images are\n"
    "\n"
    "usage: dualbragg compare A B [FLAGS]\n"
    "\n"
    "A and B are raw 32-bit floats (dualbragg sim -floatfile), SMV or CBF images, in any "
    "combination.\n"
    "Prints sums, correlation, root mean square and largest difference B - A, where that is, and "
    "how\n"
    "many pixels lie beyond the bounds. A pixel agrees if |B - A| <= X + R |A| + M (largest |A|), "
    "with\n"
    "the X, R and M of -absolute, -relative and -brightest; without any of them it has to be "
    "equal.\n"
    "Counts have their pedestal subtracted. Gaps, bad and overloaded pixels of either image are "
    "left\n"
    "out, and what is no number in both.\n"
    "\n"
    "Are two images equal, number by number?\n"
    "  dualbragg compare a.bin b.bin && echo equal\n"
    "Is the faster arithmetic good enough, to 1e-6 of the brightest pixel?\n"
    "  dualbragg compare double.bin mixed.bin -brightest 1e-6\n"
    "Where does another program's image differ? A picture, blue where B is lower, red where it is "
    "higher:\n"
    "  dualbragg compare ours.bin theirs.img -scale fit -relative 0.01 -pngfile difference.png\n"
    "A measured frame and its model, for a script; one pixel in a thousand may differ by more than "
    "50:\n"
    "  dualbragg compare frame.cbf model.bin -absolute 50 -share 0.001 -correlation 0.9 \\\n"
    "      -json result.json\n"
    "\n";

static const char after_flags[] =
    "\nExit status, as of cmp and diff: 0 the images agree within the bounds; 1 they do not; 2 "
    "wrong use;\n"
    "3 unusable input or output, or different sizes.\n";

typedef enum kind { INPUT, OUTPUT, NUMBER, PIXELS, BOTH_PIXELS, SCALE, ON } kind;

/* Numbers are from 0 to `largest`. */
typedef struct flag {
    const char *name, *alias, *argument, *text;
    kind kind;
    size_t offset; /* of the member */
    double largest;
} flag;

#define TO(member) offsetof(db_compare_options, member)
static const flag flags[] = {
    { "-absolute", NULL, "X", "bound on |B - A|, in the images' unit; default 0", NUMBER,
      TO(bounds.absolute), INFINITY },
    { "-relative", NULL, "R", "bound relative to the same pixel of A; default 0", NUMBER,
      TO(bounds.relative), INFINITY },
    { "-brightest", NULL, "M", "bound relative to the largest |A|; default 0", NUMBER,
      TO(bounds.of_brightest), INFINITY },
    { "-share", NULL, "S", "share of the pixels that may lie beyond the bounds; default 0", NUMBER,
      TO(share), 1 },
    { "-correlation", NULL, "C", "smallest correlation; default: any", NUMBER, TO(correlation), 1 },
    { "-scale", NULL, "F|fit", "multiplies B first; fit: the factor that brings it closest to A",
      SCALE, TO(scale), INFINITY },
    { "-mask", NULL, "FILE", "SMV image; pixels that are 0 in it are left out", INPUT,
      TO(mask_file), 0 },
    { "-detpixels", NULL, "COUNT",
      "pixels along fast and slow, where no header says it; default: a square", BOTH_PIXELS,
      TO(shape), INT_MAX },
    { "-detpixels_f", "-detpixels_x", "COUNT", "along fast", PIXELS, TO(shape[0]), INT_MAX },
    { "-detpixels_s", "-detpixels_y", "COUNT", "along slow", PIXELS, TO(shape[1]), INT_MAX },
    { "-pngfile", "-png", "FILE", "picture of B - A: blue below 0, red above, grey left out",
      OUTPUT, TO(png_file), 0 },
    { "-json", NULL, "FILE", "all results for programs; - is the standard output", OUTPUT,
      TO(json_file), 0 },
    { "--quiet", "-q", NULL, "prints nothing but errors", ON, TO(quiet), 0 },
    { "--help", "-h", NULL, "prints this", ON, TO(help), 0 },
};
enum { FLAG_COUNT = sizeof flags / sizeof *flags };

void db_compare_help(FILE *out) {
    fputs(usage, out);
    for (size_t i = 0; i < FLAG_COUNT; i++) {
        char name[40];
        snprintf(name, sizeof name, "%s %s", flags[i].name,
                 flags[i].argument ? flags[i].argument : "");
        fprintf(out, "  %-20s %s", name, flags[i].text);
        if (flags[i].alias) fprintf(out, "; also %s", flags[i].alias);
        fputc('\n', out);
    }
    fputs(after_flags, out);
}

/* Both ways of writing are understood, -json and --json. A file may be called json. */
static int is_flag(const flag *f, const char *word) {
    if (*word != '-') return 0;
    if (strncmp(word, "--", 2) == 0 && strncmp(f->name, "--", 2) != 0) word++;
    return strcmp(f->name, word) == 0 || (f->alias && strcmp(f->alias, word) == 0) ||
           strcmp(f->name + 1, word) == 0;
}

static const flag *find_flag(const char *word) {
    for (size_t i = 0; i < FLAG_COUNT; i++)
        if (is_flag(&flags[i], word)) return &flags[i];
    return NULL;
}

static db_status unknown_flag(const char *found) {
    const char *names[2 * FLAG_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < FLAG_COUNT; i++) {
        names[count++] = flags[i].name;
        if (flags[i].alias) names[count++] = flags[i].alias;
    }
    return db_complain(
        "compare", DB_ERROR_USAGE, "unknown flag '%s'%s", found,
        db_hint_at_names(found, names, count, "dualbragg help compare lists all").text);
}

static db_status take_number(db_compare_options *options, const flag *f, const char *text) {
    char *end;
    double value = strtod(text, &end);
    const int whole = f->kind == PIXELS || f->kind == BOTH_PIXELS;
    if (f->kind == SCALE && strcmp(text, "fit") == 0)
        value = NAN;
    else if (end == text || *end || !isfinite(value) || value < whole || value > f->largest ||
             (whole && value != floor(value)))
        return db_complain("compare", DB_ERROR_USAGE, "%s: expected a %s from %d%s, found '%s'",
                           f->name, whole ? "whole number" : "number", whole,
                           f->largest == 1 ? " to 1" : "", text);
    memcpy((char *)options + f->offset, &value, sizeof value);
    if (f->kind == BOTH_PIXELS) options->shape[1] = value;
    return DB_OK;
}

static db_status take_flag(db_compare_options *options, int argc, char **argv, int *i) {
    const char *const word = argv[*i];
    const int on = 1;
    const flag *const f = find_flag(word);
    if (!f) return unknown_flag(word);
    if (f->kind == ON) {
        memcpy((char *)options + f->offset, &on, sizeof on);
        return DB_OK;
    }
    const char *const value = *i + 1 < argc ? argv[++*i] : "";
    if (!*value || find_flag(value))
        return db_complain("compare", DB_ERROR_USAGE, "%s: expected %s, found %s", word,
                           f->argument, *value ? value : "the end of the command line");
    if (f->kind != INPUT && f->kind != OUTPUT) return take_number(options, f, value);
    const char *const name =
        f->kind == OUTPUT ? db_streams_output_name(value) : db_streams_input_name(value);
    memcpy((char *)options + f->offset, &name, sizeof name);
    return DB_OK;
}

db_status db_compare_options_read(db_compare_options *options, int argc, char **argv) {
    int count = 0;
    *options = (db_compare_options){ .scale = 1, .correlation = NAN };
    for (int i = 1; i < argc && !options->help; i++) {
        if (argv[i][0] == '-' && argv[i][1]) {
            const db_status status = take_flag(options, argc, argv, &i);
            if (status != DB_OK) return status;
        } else if (count == 2) {
            return db_complain("compare", DB_ERROR_USAGE,
                               "expected two images, found one more: '%s'", argv[i]);
        } else {
            options->image[count++] = db_streams_input_name(argv[i]);
        }
    }
    if (options->help || count == 2) return DB_OK;
    return db_complain("compare", DB_ERROR_USAGE,
                       "expected two images, found %d: dualbragg compare A B", count);
}
