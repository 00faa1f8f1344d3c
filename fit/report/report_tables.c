/* Head figures and tables of the report. */
#include "fit/report/report.h"
#include "fit/report/value_with_error.h"

#include <math.h>

static void card(FILE *out, const char *title, int decimals, const char *unit, double before,
                 double after, const char *note) {
    fprintf(
        out,
        "<div class=\"card\"><h3>%s</h3><div class=\"figures\"><span class=\"was\">%.*f%s</span>"
        "<span class=\"arrow\">&#8594;</span><span class=\"is\">%.*f%s</span></div><p>%s</p></div>",
        title, decimals, before, unit, decimals, after, unit, note);
}

void db_html_summary(const db_html_report *report) {
    const db_fit_statistics *const before = &report->result->before, *const after =
                                                                         &report->result->after;
    FILE *const out = report->stream;
    fputs("<section class=\"cards\">", out);
    card(out, "&#967;&#178; per degree of freedom", 3, "", before->chi2_reduced,
         after->chi2_reduced, "1 if model and noise are right");
    card(out, "Strong pixels explained", 1, "&#8239;%", 100 * before->strong_explained,
         100 * after->strong_explained, "where the model has half to twice what the image has");
    card(out, "Correlation", 3, "", before->correlation, after->correlation,
         "model with measured, background removed");
    card(out, "Spot position error", 2, "&#8239;px", before->centroid_rms, after->centroid_rms,
         "observed minus model centroid, rms");
    fputs("</section>", out);
}

/* Where the value lies between its bounds, as a mark on a line. */
static void bounds_cell(const db_html_report *report, const db_fit_parameter *settings,
                        double value, int at_bound) {
    FILE *const out = report->stream;
    char name[DB_FIT_NAME_SIZE];
    if (settings->follows >= 0) {
        fprintf(
            out, "<td>follows %s</td>",
            db_fit_quantity_name(&report->config->settings.panel_groups, settings->follows, name));
        return;
    }
    if (!isfinite(settings->lower) || !isfinite(settings->upper)) {
        fputs("<td>", out);
        if (isfinite(settings->lower)) fprintf(out, "&ge; %.6g", settings->lower);
        if (isfinite(settings->upper)) fprintf(out, "&le; %.6g", settings->upper);
        fputs(at_bound ? " <b class=\"bad\">at bound</b></td>" : "</td>", out);
        return;
    }
    const double place = 120 * (value - settings->lower) / (settings->upper - settings->lower);
    fprintf(out,
            "<td title=\"%.8g to %.8g\"><svg class=\"bounds\" viewBox=\"-5 0 130 12\"><path d=\"M0 "
            "6H120M0 2V10M120 2V10\"/>"
            "<circle cx=\"%.1f\" cy=\"6\" r=\"4\"%s/></svg>%s</td>",
            settings->lower, settings->upper, fmax(0, fmin(120, place)),
            at_bound ? " class=\"bad\"" : "", at_bound ? " <b class=\"bad\">at bound</b>" : "");
}

static void error_cell(FILE *out, double error) {
    if (error > 0 && isfinite(error))
        fprintf(out, "<td class=\"n\">%.2g</td>", error);
    else
        fprintf(out, "<td class=\"n\">%s</td>", isinf(error) ? "?" : "&#8211;");
}

/* Whether any parameter has a prior: only then there is a column for it. */
static int any_prior(const db_html_report *report) {
    for (size_t i = 0; i < report->result->parameter_count; i++)
        if (isfinite(report->config->settings.parameters[i].prior[1])) return 1;
    return 0;
}

static void prior_cell(FILE *out, const double prior[2]) {
    if (isfinite(prior[1]))
        fprintf(out, "<td class=\"n\">%.8g &#177; %.3g</td>", prior[0], prior[1]);
    else
        fputs("<td></td>", out);
}

static void parameter_row(const db_html_report *report, size_t i) {
    const db_fit_result *const r = report->result;
    const db_parameter_info *const info = db_parameter_describe(r->parameter[i]);
    char start[DB_VALUE_TEXT_SIZE], refined[DB_VALUE_TEXT_SIZE];
    FILE *const out = report->stream;
    fprintf(out, "<tr><td><b>%s</b></td><td class=\"n\">%s</td><td class=\"n\"><b>%s</b></td>",
            r->name[i], db_value_with_error(start, r->start[i], NAN),
            db_value_with_error(refined, r->refined[i], r->error[i]));
    error_cell(out, r->error_unscaled[i]);
    error_cell(out, r->error_scaled[i]);
    error_cell(out, r->error_robust[i]);
    fprintf(out, "<td class=\"n\">%+.3g</td><td>%s</td>", r->refined[i] - r->start[i], info->unit);
    bounds_cell(report, &report->config->settings.parameters[i], r->refined[i], r->at_bound[i]);
    if (any_prior(report)) prior_cell(out, report->config->settings.parameters[i].prior);
    fprintf(out, "<td class=\"meaning\">%s</td></tr>", info->description);
}

/* The table; of_parts: what disagrees and so tells errors. */
static void parameter_table(const db_html_report *report, const char *title, const char *of_parts) {
    const db_fit_result *const r = report->result;
    FILE *const out = report->stream;
    fprintf(out,
            "<section id=\"parameters\"><h2>%s</h2><div class=\"wide\"><table><thead><tr>"
            "<th>parameter</th><th class=\"n\">start</th><th class=\"n\">refined</th><th "
            "class=\"n\">error by noise</th><th class=\"n\">by misfit</th><th "
            "class=\"n\">by %s</th>"
            "<th class=\"n\">change</th><th>unit</th><th>"
            "between its bounds</th>",
            title, of_parts);
    if (any_prior(report)) fputs("<th class=\"n\">prior</th>", out);
    fputs("<th>meaning</th></tr></thead><tbody>", out);
    for (size_t i = 0; i < r->parameter_count; i++) parameter_row(report, i);
    fputs("</tbody></table></div>", out);
}

void db_html_shared_parameters(const db_html_report *report) {
    parameter_table(report, "Shared by all shots", "shots");
    fputs(
        "<p class=\"note\">Refined values with standard errors in units of the last digit. Errors "
        "<i>by noise</i> follow from the variances of the pixels alone; <i>by misfit</i>, these "
        "times the root of &#967;&#178; per degree of freedom where it exceeds 1; <i>by "
        "shots</i>, from how much single shots, or their shoeboxes, pull the parameter in "
        "different directions. "
        "Quoted is the larger of the last two. What each shot has for itself has been "
        "refined with them.</p></section>",
        report->stream);
}

void db_html_parameters(const db_html_report *report) {
    const db_fit_result *const r = report->result;
    const double *const cell = r->experiment.crystal.cell;
    parameter_table(report, "Parameters", "spots");
    fprintf(report->stream,
            "<p class=\"note\">Refined values with standard errors in "
            "units of the last digit. Errors <i>by noise</i> follow from the variances of the "
            "pixels alone; <i>by misfit</i>, these times the root of &#967;&#178; per degree of "
            "freedom (%.2f) where it exceeds 1; <i>by spots</i>, from how much single shoeboxes "
            "pull the parameter in different directions, which needs neither the right noise nor "
            "independent residuals within a spot. Quoted is the larger of the last two. None "
            "knows of errors that all spots share. "
            "Refined cell: %.4f %.4f %.4f &#197;, %.3f %.3f %.3f&#176;.</p></section>",
            sqrt(fmax(0, r->after.chi2_reduced)), cell[0], cell[1], cell[2], cell[3], cell[4],
            cell[5]);
}

void db_html_warnings(const db_html_report *report) {
    const db_fit_result *const r = report->result;
    FILE *const out = report->stream;
    if (r->warning_count == 0) return;
    fputs("<section class=\"warnings\" id=\"warnings\"><h2>Before you use this result</h2><ul>",
          out);
    for (size_t i = 0; i < r->warning_count; i++) {
        fputs("<li>", out);
        db_html_text(out, r->warnings[i]);
        fputs("</li>", out);
    }
    fputs("</ul></section>", out);
}

/* Evaluations and target of each stage. */
void db_html_stages(const db_html_report *report) {
    const db_fit_result *const r = report->result;
    FILE *const out = report->stream;
    if (r->history_count == 0) return;
    fputs("<section><h2>Stages</h2><div class=\"wide\"><table><thead><tr><th>stage</th><th "
          "class=\"n\">evaluations</th><th class=\"n\">&#967;&#178;/dof at its start</th><th "
          "class=\"n\">lowest</th><th class=\"n\">finest resolution</th><th class=\"n\">blur</th>"
          "<th>method</th></tr></thead><tbody>",
          out);
    for (size_t i = 0, first = 0; i < r->history_count; i++) {
        const int stage = r->history[i].stage;
        if (i + 1 < r->history_count && r->history[i + 1].stage == stage) continue;
        double lowest = INFINITY;
        for (size_t k = first; k <= i; k++) lowest = fmin(lowest, r->history[k].target);
        fputs("<tr><td><b>", out);
        db_html_text(out, db_html_stage_name(report, stage));
        fprintf(out, "</b></td><td class=\"n\">%zu</td>", i + 1 - first);
        if (isfinite(r->history[first].target) && isfinite(lowest))
            fprintf(out, "<td class=\"n\">%.4f</td><td class=\"n\">%.4f</td>",
                    r->history[first].target, lowest);
        else
            fputs("<td class=\"n\">&#8211;</td><td class=\"n\">&#8211;</td>", out);
        const db_fit_settings *const settings = &report->config->settings;
        if ((size_t)stage < settings->stage_count) {
            const db_fit_stage *const s = &settings->stages[stage];
            const double dmin = fmax(s->dmin, settings->dmin);
            if (dmin > 0)
                fprintf(out, "<td class=\"n\">%.3g &#197;</td>", dmin);
            else
                fputs("<td class=\"n\">all</td>", out);
            fprintf(out, "<td class=\"n\">%.3g</td><td>", s->blur);
            db_html_text(out, s->algorithm);
            fputs("</td></tr>", out);
        } else {
            fputs("<td></td><td></td><td></td></tr>", out);
        }
        first = i + 1;
    }
    fputs("</tbody></table></div><p class=\"note\">End: ", out);
    db_html_text(out, r->reason);
    fputs("</p></section>", out);
}

static void row(FILE *out, const char *name, int decimals, double before, double after) {
    fprintf(out, "<tr><td>%s</td><td class=\"n\">%.*f</td><td class=\"n\">%.*f</td></tr>", name,
            decimals, before, decimals, after);
}

void db_html_statistics(const db_html_report *report) {
    const db_fit_statistics *const b = &report->result->before, *const a = &report->result->after;
    FILE *const out = report->stream;
    fputs("<section id=\"statistics\"><h2>Statistics on the same "
          "data</h2><table><thead><tr><th></th><th "
          "class=\"n\">start</th>"
          "<th class=\"n\">refined</th></tr></thead><tbody>",
          out);
    row(out, "shoeboxes", 0, (double)b->shoeboxes, (double)a->shoeboxes);
    row(out, "pixels", 0, (double)b->pixels, (double)a->pixels);
    row(out, "&#967;&#178;", 0, b->chi2, a->chi2);
    row(out, "&#967;&#178; per degree of freedom", 4, b->chi2_reduced, a->chi2_reduced);
    row(out, "rms residual (counts)", 3, b->rms_residual, a->rms_residual);
    row(out, "strong pixels", 0, b->strong_pixels, a->strong_pixels);
    row(out, "strong pixels explained (fraction)", 3, b->strong_explained, a->strong_explained);
    row(out, "correlation", 4, b->correlation, a->correlation);
    row(out, "spot centroids, observed minus model, rms (pixels)", 3, b->centroid_rms,
        a->centroid_rms);
    fputs("</tbody></table></section>", out);
}
