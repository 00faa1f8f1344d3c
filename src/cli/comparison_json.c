#define _POSIX_C_SOURCE 200809L /* strdup */
#include "cli/comparison_json.h"

#include "cli/complaint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(DB_HAVE_JANSSON)
#include "base/atomic_file.h"

#include <jansson.h>

/* JSON knows no NaN and no infinity: null. */
static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *place_of(const db_measured_image *image, size_t pixel) {
    const size_t width = (size_t)image->fast_pixels;
    return json_pack("[I,I]", (json_int_t)(pixel % width), (json_int_t)(pixel / width));
}

/* A file name need not be UTF-8, as JSON is. */
static json_t *file_name(const char *bytes) {
    json_t *const plain = json_string(bytes);
    char *const copy = plain ? NULL : strdup(bytes);
    if (!copy) return plain;
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c > 0x7e) *c = '?';
    json_t *const replaced = json_string(copy);
    free(copy);
    return replaced;
}

static json_t *image_object(const db_comparison_report *report, int i) {
    const db_comparison *const r = report->result;
    return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o}", "file", file_name(report->options->image[i]),
                     "format", report->image[i]->format, "sum", number(r->sum[i]), "mean",
                     number(r->mean[i]), "largest", number(r->largest[i]), "largest_at",
                     place_of(report->image[0], r->largest_place[i]));
}

static json_t *document(const db_comparison_report *report) {
    const db_comparison *const r = report->result;
    const db_compare_options *const o = report->options;
    return json_pack(
        "{s:b, s:o, s:o, s:[i,i], s:I, s:I, s:I, s:f, s:o, s:o,"
        " s:{s:o, s:o, s:o, s:o}, s:I, s:f, s:{s:f, s:f, s:f, s:f, s:o}}",
        "agree", report->agree, "A", image_object(report, 0), "B", image_object(report, 1), "shape",
        report->image[0]->fast_pixels, report->image[0]->slow_pixels, "pixels",
        (json_int_t)r->pixels, "left_out", (json_int_t)r->left_out, "finite_in_one_only",
        (json_int_t)r->one_sided, "scale_of_B", report->scale, "correlation",
        number(r->correlation), "rms_difference", number(r->rms), "largest_difference", "value",
        number(r->difference), "at", place_of(report->image[0], r->place), "A",
        number(r->at_place[0]), "B", number(r->at_place[1]), "beyond_bounds", (json_int_t)r->beyond,
        "share_beyond_bounds", r->share, "bounds", "absolute", o->bounds.absolute, "relative",
        o->bounds.relative, "brightest", o->bounds.of_brightest, "share", o->share, "correlation",
        number(o->correlation));
}

static db_status write_line(db_context *context, const char *path, const char *text) {
    const db_file_part parts[] = { { text, strlen(text) }, { "\n", 1 } };
    return db_write_atomically(context, path, parts, 2);
}

db_status db_comparison_json(db_context *context, const char *path,
                             const db_comparison_report *report) {
    json_t *const root = document(report);
    char *const text =
        root ? json_dumps(root, JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17))
             : NULL;
    db_status status = DB_OK;
    if (!text)
        status = db_complain("compare", DB_ERROR_MEMORY, "out of memory for the results");
    else if ((status = write_line(context, path, text)) != DB_OK)
        db_complain_context("compare", status, context);
    free(text);
    json_decref(root);
    return status;
}
#else
db_status db_comparison_json(db_context *context, const char *path,
                             const db_comparison_report *report) {
    (void)context, (void)path, (void)report;
    return db_complain("compare", DB_ERROR_UNSUPPORTED, "-json: this build has no jansson");
}
#endif
