/* The HTML report: one self-contained page. */
#define _POSIX_C_SOURCE 200809L
#include "core/context_internal.h"
#include "fit/config_print.h"
#include "fit/report_html.h"
#include "fit/text_stream.h"

#include <string.h>
#include <time.h>

static const char *file_name(const char *path) {
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void page_head(const db_html_report *report) {
    FILE *const out = report->stream;
    const db_fit_result *const r = report->result;
    const char *const name = file_name(report->config->image_file);
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>",
          out);
    db_html_text(out, name);
    fputs(" - dualbragg fit</title><style>", out);
    fputs(db_html_style, out);
    fputs("</style></head><body><header><div><h1>", out);
    db_html_text(out, name);
    fputs(r->status == DB_OK ? "<span class=\"badge good\">converged</span>"
                             : "<span class=\"badge warn\">not converged</span>",
          out);
    fputs("</h1><p>", out);
    db_html_text(out, r->reason);
    char date[64] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &utc);
    fprintf(out,
            "</p><p>%d &#215; %d pixels, %s &#183; %d evaluations in %.1f s &#183; dualbragg %s, "
            "%s</p>",
            report->image->fast_pixels, report->image->slow_pixels, report->image->format,
            r->evaluations, r->seconds, db_version(), date);
    if (*report->config->command) {
        fputs("<p><code>", out);
        db_html_text(out, report->config->command);
        fputs("</code></p>", out);
    }
    fputs("</div></header><main>", out);
#if !defined(DB_HAVE_PNG)
    fputs("<section>This build has no PNG library: the pictures are missing.</section>", out);
#endif
}

/* The whole configuration as it was used, so that the page says how it came about. */
static db_status configuration(const db_html_report *report) {
    db_text_stream text;
    DB_TRY(db_text_stream_open(report->context, &text));
    db_fit_config_print(report->config, DB_CONFIG_PLAIN, text.stream);
    DB_TRY(db_text_stream_finish(report->context, &text));
    fputs("<section><details><summary>Configuration</summary><pre>", report->stream);
    db_html_text(report->stream, text.bytes);
    fputs("</pre></details></section>", report->stream);
    db_text_stream_free(&text);
    return DB_OK;
}

static db_status page(const db_html_report *report) {
    page_head(report);
    db_html_summary(report);
    db_html_parameters(report);
    db_html_convergence(report);
    DB_TRY(db_html_whole_images(report));
    DB_TRY(db_html_gallery(report));
    db_html_parameter_curves(report);
    db_html_correlation(report);
    db_html_statistics(report);
    DB_TRY(configuration(report));
    fputs("</main></body></html>\n", report->stream);
    return DB_OK;
}

db_status db_fit_write_html(db_context *context, const char *path, const db_fit_config *config,
                            const db_measured_image *image, const db_fit_result *result) {
    db_text_stream text;
    DB_TRY(db_text_stream_open(context, &text));
    const db_html_report report = { context, text.stream, config, image, result };
    return db_text_stream_write(context, &text, page(&report), path);
}
