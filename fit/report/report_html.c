#include "fit/report/report.h"

#include "base/context_internal.h"

#include <stdlib.h>
#include <string.h>

void db_html_text(FILE *stream, const char *text) {
    for (const char *c = text; *c; c++) {
        switch (*c) {
        case '&': fputs("&amp;", stream); break;
        case '<': fputs("&lt;", stream); break;
        case '>': fputs("&gt;", stream); break;
        case '"': fputs("&quot;", stream); break;
        default: fputc(*c, stream);
        }
    }
}

void db_html_base64(FILE *stream, const unsigned char *bytes, size_t count) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < count; i += 3) {
        const size_t left = count - i;
        const unsigned triple = (unsigned)bytes[i] << 16 |
                                (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                                (left > 2 ? bytes[i + 2] : 0);
        fputc(digits[triple >> 18], stream);
        fputc(digits[triple >> 12 & 63], stream);
        fputc(left > 1 ? digits[triple >> 6 & 63] : '=', stream);
        fputc(left > 2 ? digits[triple & 63] : '=', stream);
    }
}

db_status db_html_picture(const db_html_report *report, const char *before_data,
                          const float *pixels, int fast_pixels, int slow_pixels, db_colour_map map,
                          double low, double high, const char *after_data) {
    unsigned char *png = NULL;
    size_t count = 0;
    const db_status status = db_encode_png(report->context, pixels, fast_pixels, slow_pixels, map,
                                           low, high, &png, &count);
    if (status == DB_ERROR_UNSUPPORTED) return DB_OK; /* the page says so once, at its head */
    if (status != DB_OK) return status;
    fprintf(report->stream, "%sdata:image/png;base64,", before_data);
    db_html_base64(report->stream, png, count);
    fputs(after_data, report->stream);
    free(png);
    return DB_OK;
}

const char *db_html_stage_name(const db_html_report *report, int stage) {
    const db_fit_settings *const settings = &report->config->settings;
    if (stage < 0 || (size_t)stage >= settings->stage_count) return "";
    return settings->stages[stage].name;
}
