/* The report of many shots: one self-contained page. What they share is shown as a refinement of
 * its own, by the pieces of the report of one image. */
#define _POSIX_C_SOURCE 200809L
#include "base/context_internal.h"
#include "fit/report/report_axis.h"
#include "fit/report/report.h"
#include "fit/shots/shared_view.h"
#include "fit/shots/spread.h"
#include "base/text_stream.h"
#include "fit/report/value_with_error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BINS = 30, MOST_ROWS = 5000 };

typedef struct page {
    db_html_report report; /* of what is shared */
    const db_fit_config *config;
    const db_fit_shots_result *result;
} page;

static const char *last_part(const char *path) {
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static size_t determined(const db_fit_result *shared) {
    size_t count = 0;
    for (size_t i = 0; i < shared->parameter_count; i++) count += isfinite(shared->error[i]) != 0;
    return count;
}

/* Links to the parts that the page has. */
static void links(const page *p) {
    const db_fit_result *const shared = p->report.result;
    const struct {
        const char *id, *name;
        int there;
    } parts[] = { { "aside", "set aside", p->result->used < p->result->shot_count },
                  { "parameters", "shared", shared->parameter_count > 0 },
                  { "directions", "determined?", shared->direction_count > 0 },
                  { "correlation", "correlation", determined(shared) > 1 },
                  { "spreads", "spreads", 1 },
                  { "shots", "shots", 1 },
                  { "convergence", "convergence", shared->history_count > 0 },
                  { "provenance", "provenance", 1 } };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].there)
            fprintf(p->report.stream, "<a href=\"#%s\">%s</a>", parts[i].id, parts[i].name);
}

static void head(const page *p) {
    FILE *const out = p->report.stream;
    const db_fit_shots_result *const r = p->result;
    const char *const name = last_part(p->config->shot_list);
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
    fprintf(out,
            "</p><p>%zu of %zu shots in use &#183; %zu pixels in %zu shoeboxes &#183; %zu joint "
            "evaluations in %.1f s &#183; dualbragg %s</p></div></header>",
            r->used, r->shot_count, r->pixels, r->shoeboxes, r->history_count, r->seconds,
            db_version());
    fputs("<nav aria-label=\"Parts of the report\"><div>", out);
    links(p);
    fputs("</div></nav><main>", out);
}

static void aside(const page *p) {
    FILE *const out = p->report.stream;
    const db_fit_shots_result *const r = p->result;
    if (r->used == r->shot_count) return;
    fprintf(out,
            "<section class=\"warnings\" id=\"aside\"><h2>%zu of %zu shots were set aside</h2>"
            "<div class=\"wide\"><table><tbody>",
            r->shot_count - r->used, r->shot_count);
    for (size_t s = 0; s < r->shot_count; s++) {
        if (r->shot[s].used) continue;
        fputs("<tr><td>", out);
        db_html_text(out, r->shot[s].name);
        fputs("</td><td>", out);
        db_html_text(out, r->shot[s].reason);
        fputs("</td></tr>", out);
    }
    fputs("</tbody></table></div></section>", out);
}

/* Counts of a histogram. */
typedef struct histogram {
    db_axis x, y;
    int count[BINS];
} histogram;

static void count_values(const double *values, size_t count, const db_spread *spread,
                         histogram *h) {
    int most = 1;
    const double room = spread->most > spread->least ? 0 : fmax(1e-12, 0.01 * fabs(spread->most));
    memset(h->count, 0, sizeof h->count);
    h->x = (db_axis){ spread->least - room, spread->most + room, 50, 332, 0 };
    for (size_t i = 0; i < count; i++) {
        const int bin = (int)(BINS * (values[i] - h->x.low) / (h->x.high - h->x.low));
        int *const at = &h->count[bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin];
        if (++*at > most) most = *at;
    }
    h->y = (db_axis){ 0, most, 128, 8, 0 };
}

static void draw_histogram(FILE *out, const histogram *h, const char *name) {
    fprintf(out, "<svg class=\"chart\" viewBox=\"0 0 340 150\" role=\"img\" aria-label=\"");
    db_html_text(out, name);
    fputs(" over the shots\">", out);
    db_axis_draw_left(out, &h->y, 3, 50, 332);
    for (int b = 0; b < BINS; b++) {
        const double step = (h->x.high - h->x.low) / BINS,
                     left = db_axis_place(&h->x, h->x.low + b * step),
                     right = db_axis_place(&h->x, h->x.low + (b + 1) * step),
                     top = db_axis_place(&h->y, h->count[b]);
        if (h->count[b])
            fprintf(out,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                    "fill=\"#0b5fa5\"/>",
                    left, top, fmax(1, right - left - 1), 128 - top);
    }
    db_axis_draw_bottom(out, &h->x, 4, 128, 128);
    fputs("</svg>", out);
}

/* Values that are shown as a figure, which are put in order. */
static void figure(const page *p, const char *name, const char *unit, double *values,
                   size_t count) {
    FILE *const out = p->report.stream;
    db_spread spread;
    histogram h;
    if (!db_spread_make(values, count, &spread)) return;
    count_values(values, spread.count, &spread, &h);
    fputs("<figure><figcaption><b>", out);
    db_html_text(out, name);
    fprintf(out, "</b> median %.6g, 80 %% from %.6g to %.6g %s</figcaption>", spread.median,
            spread.low, spread.high, unit);
    draw_histogram(out, &h, name);
    fputs("</figure>", out);
}

static db_status spreads(const page *p) {
    const db_fit_shots_result *const r = p->result;
    FILE *const out = p->report.stream;
    double *const values = malloc((r->shot_count + 1) * sizeof *values);
    if (!values) return db_fail_memory(p->report.context, "the report");
    fputs("<section id=\"spreads\"><h2>Each shot's own</h2><div class=\"curves\">", out);
    size_t n = 0;
    for (size_t s = 0; s < r->shot_count; s++)
        if (r->shot[s].used) values[n++] = r->shot[s].chi2_reduced[1];
    figure(p, "chi2 per degree of freedom", "", values, n);
    n = 0;
    for (size_t s = 0; s < r->shot_count; s++)
        if (r->shot[s].used) values[n++] = r->shot[s].centroid_rms[1];
    figure(p, "spots off their model (rms)", "pixels", values, n);
    for (size_t i = 0; i < r->parameter_count; i++) {
        if (r->shared[i]) continue;
        n = 0;
        for (size_t s = 0; s < r->shot_count; s++)
            if (r->shot[s].used) values[n++] = r->shot[s].refined[i];
        figure(p, r->name[i], db_parameter_describe(r->parameter[i])->unit, values, n);
    }
    fputs("</div></section>", out);
    free(values);
    return DB_OK;
}

static void pair(FILE *out, int decimals, const double of[2]) {
    for (int k = 0; k < 2; k++) {
        if (isfinite(of[k]))
            fprintf(out, "<td class=\"n\">%.*f</td>", decimals, of[k]);
        else
            fputs("<td class=\"n\">&#8211;</td>", out);
    }
}

static void shot_row(const page *p, const db_fit_shot_result *shot, size_t number) {
    const db_fit_shots_result *const r = p->result;
    FILE *const out = p->report.stream;
    fprintf(out, "<tr><td class=\"n\">%zu</td><td>", number + 1);
    db_html_text(out, last_part(shot->name));
    fprintf(out, "</td><td class=\"n\">%zu</td>", shot->shoeboxes);
    pair(out, 3, shot->chi2_reduced);
    pair(out, 2, shot->centroid_rms);
    for (size_t i = 0; i < r->parameter_count; i++) {
        char text[DB_VALUE_TEXT_SIZE];
        if (r->shared[i]) continue;
        fprintf(out, "<td class=\"n\">%s%s</td>",
                db_value_with_error(text, shot->refined[i], shot->error[i]),
                shot->at_bound[i] ? " <b class=\"bad\">|</b>" : "");
    }
    fputs("</tr>", out);
}

static void shots(const page *p) {
    const db_fit_shots_result *const r = p->result;
    FILE *const out = p->report.stream;
    fputs("<section id=\"shots\"><h2>Shots</h2><div class=\"wide\"><table><thead><tr><th></th>"
          "<th>image</th><th class=\"n\">boxes</th><th class=\"n\">&#967;&#178;/dof at start</th>"
          "<th class=\"n\">refined</th><th class=\"n\">spots off at start (pixels)</th>"
          "<th class=\"n\">refined</th>",
          out);
    for (size_t i = 0; i < r->parameter_count; i++) {
        if (r->shared[i]) continue;
        fputs("<th class=\"n\">", out);
        db_html_text(out, r->name[i]);
        fputs("</th>", out);
    }
    fputs("</tr></thead><tbody>", out);
    size_t rows = 0;
    for (size_t s = 0; s < r->shot_count && rows < MOST_ROWS; s++) {
        if (!r->shot[s].used) continue;
        shot_row(p, &r->shot[s], s);
        rows++;
    }
    fputs("</tbody></table></div><p class=\"note\">", out);
    if (rows < r->used)
        fprintf(out, "The first %d; the JSON file beside this page has all %zu. ", MOST_ROWS,
                r->used);
    fputs("Values with standard errors in units of the last digit; errors of the shared "
          "parameters are in them. A bar marks a value at its bound.</p></section>",
          out);
}

static void fact(FILE *out, const char *name, const char *value) {
    fprintf(out, "<tr><th>%s</th><td><code>", name);
    db_html_text(out, *value ? value : "-");
    fputs("</code></td></tr>", out);
}

static void provenance(const page *p) {
    FILE *const out = p->report.stream;
    char date[64] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &utc);
    fputs("<section id=\"provenance\"><h2>Provenance</h2><table><tbody>", out);
    fact(out, "program", "dualbragg " DB_VERSION_STRING);
    fact(out, "built with", db_features());
    fact(out, "written", date);
    fact(out, "command", p->config->command);
    fact(out, "configuration", p->config->config_file);
    fact(out, "shots", p->config->shot_list);
    fact(out, "structure factors", p->config->hkl_file);
    fputs("</tbody></table></section>", out);
}

static void card(FILE *out, const char *title, const char *text) {
    fprintf(out,
            "<div class=\"card\"><h3>%s</h3><div class=\"figures\"><span class=\"is\">%s</span>"
            "</div></div>",
            title, text);
}

static void cards(const page *p) {
    const db_fit_shots_result *const r = p->result;
    FILE *const out = p->report.stream;
    char text[128];
    fputs("<section class=\"cards\">", out);
    snprintf(text, sizeof text, "%zu of %zu", r->used, r->shot_count);
    card(out, "shots in use", text);
    snprintf(text, sizeof text, "%.3f &#8594; %.3f", r->chi2_reduced[0], r->chi2_reduced[1]);
    card(out, "&#967;&#178; per degree of freedom, all shots", text);
    for (size_t i = 0, shown = 0; i < r->parameter_count && shown < 4; i++) {
        char value[DB_VALUE_TEXT_SIZE];
        if (!r->shared[i] || !isfinite(r->error[i])) continue;
        shown++;
        snprintf(text, sizeof text, "%s %s", db_value_with_error(value, r->refined[i], r->error[i]),
                 db_parameter_describe(r->parameter[i])->unit);
        card(out, r->name[i], text);
    }
    fputs("</section>", out);
}

static db_status compose(const page *p) {
    head(p);
    aside(p);
    cards(p);
    if (p->report.result->parameter_count) {
        db_html_shared_parameters(&p->report);
        db_html_directions(&p->report);
        db_html_correlation(&p->report);
    }
    DB_TRY(spreads(p));
    shots(p);
    if (p->report.result->history_count) {
        db_html_convergence(&p->report);
        db_html_stages(&p->report);
        db_html_parameter_curves(&p->report);
    }
    provenance(p);
    fputs("</main></body></html>\n", p->report.stream);
    return DB_OK;
}

db_status db_fit_shots_write_html(db_context *context, const char *path,
                                  const db_fit_config *config, const db_fit_shots_result *result) {
    db_shared_view *view;
    DB_TRY(db_shared_view_make(context, config, result, &view));
    db_text_stream text;
    db_status status = db_text_stream_open(context, &text);
    if (status == DB_OK) {
        const page p = { .report = { .context = context,
                                     .stream = text.stream,
                                     .config = &view->config,
                                     .result = &view->result },
                         .config = config,
                         .result = result };
        status = db_text_stream_write(context, &text, compose(&p), path);
    }
    db_shared_view_destroy(&view);
    return status;
}
