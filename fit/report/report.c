/* The HTML report: one self-contained page. */
#define _POSIX_C_SOURCE 200809L
#include "base/context_internal.h"
#include "fit/config/config_print.h"
#include "fit/report/report.h"
#include "base/text_stream.h"

#include <string.h>
#include <time.h>

static const char *file_name(const char *path) {
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *const parts[][2] = {
    { "verdict", "verdict" },         { "images", "images" },
    { "parameters", "parameters" },   { "directions", "determined?" },
    { "correlation", "correlation" }, { "resolution", "resolution" },
    { "detector", "detector" },       { "outliers", "outliers" },
    { "shoeboxes", "shoeboxes" },     { "convergence", "convergence" },
    { "provenance", "provenance" }
};

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
    fputs(r->status == DB_OK  ? "<span class=\"badge good\">converged</span>"
          : r->verdict.usable ? "<span class=\"badge warn\">not converged</span>"
                              : "<span class=\"badge warn\">not to be used</span>",
          out);
    fputs("</h1><p>", out);
    db_html_text(out, r->reason);
    fprintf(out,
            "</p><p>%d &#215; %d pixels, %s &#183; %d evaluations in %.1f s &#183; dualbragg "
            "%s</p></div></header>",
            report->image->fast_pixels, report->image->slow_pixels, report->image->format,
            r->evaluations, r->seconds, db_version());
    fputs("<nav aria-label=\"Parts of the report\"><div>", out);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        fprintf(out, "<a href=\"#%s\">%s</a>", parts[i][0], parts[i][1]);
    fputs("</div></nav><main>", out);
#if !defined(DB_HAVE_PNG)
    fputs("<section>This build has no PNG library: the pictures are missing.</section>", out);
#endif
}

static void fact(FILE *out, const char *name, const char *value) {
    fprintf(out, "<tr><th>%s</th><td><code>", name);
    db_html_text(out, *value ? value : "-");
    fputs("</code></td></tr>", out);
}

/* Where the page comes from: program, command, files, and the whole configuration as it was used.
 */
db_status db_html_provenance(const db_html_report *report) {
    FILE *const out = report->stream;
    const db_fit_config *const config = report->config;
    char date[64] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &utc);
    db_text_stream text;
    DB_TRY(db_text_stream_open(report->context, &text));
    db_fit_config_print(config, DB_CONFIG_PLAIN, text.stream);
    DB_TRY(db_text_stream_finish(report->context, &text));
    fputs("<section id=\"provenance\"><h2>Provenance</h2><table><tbody>", out);
    fact(out, "program", "dualbragg " DB_VERSION_STRING);
    fact(out, "built with", db_features());
    fact(out, "written", date);
    fact(out, "command", config->command);
    fact(out, "configuration", config->config_file);
    fact(out, "image", config->image_file);
    fact(out, "detector", report->image->detector);
    fact(out, "matrix", config->matrix_file);
    fact(out, "structure factors", config->hkl_file);
    fputs("</tbody></table><details><summary>Configuration as it was used</summary><pre>", out);
    db_html_text(out, text.bytes);
    fputs("</pre></details></section>", out);
    db_text_stream_free(&text);
    return DB_OK;
}

static db_status page(const db_html_report *report) {
    page_head(report);
    db_html_warnings(report);
    db_html_summary(report);
    db_html_verdict(report);
    DB_TRY(db_html_viewer(report));
    db_html_parameters(report);
    db_html_directions(report);
    db_html_correlation(report);
    db_html_resolution(report);
    db_html_detector(report);
    db_html_outliers(report);
    DB_TRY(db_html_gallery(report));
    db_html_starts(report);
    db_html_convergence(report);
    db_html_stages(report);
    db_html_parameter_curves(report);
    db_html_statistics(report);
    DB_TRY(db_html_provenance(report));
    fputs("</main><script>", report->stream);
    fputs(db_html_script, report->stream);
    fputs("</script></body></html>\n", report->stream);
    return DB_OK;
}

db_status db_fit_write_html(db_context *context, const char *path, const db_fit_config *config,
                            const db_measured_image *image, const db_fit_result *result) {
    db_panel_layout layout;
    DB_TRY(db_panel_layout_make(context, &result->experiment, image, &layout));
    db_text_stream text;
    db_status status = db_text_stream_open(context, &text);
    if (status == DB_OK) {
        const db_html_report report = { context, text.stream, config, image, result, &layout };
        status = db_text_stream_write(context, &text, page(&report), path);
    }
    db_panel_layout_clear(&layout);
    return status;
}
