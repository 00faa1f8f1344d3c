/* Gallery of shoeboxes: measured, model, residual. */
#include "base/context_internal.h"
#include "fit/report/report.h"

#include <math.h>
#include <stdlib.h>

enum { STRONGEST = 48, WORST = 12 };

static const double RESIDUAL_LIMIT = 5; /* standard deviations at the ends of the colour scale */

typedef struct rank {
    double key;
    size_t index;
} rank;

static int descending(const void *a, const void *b) {
    const rank *const x = a, *const y = b;
    if (x->key != y->key) return x->key < y->key ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

static double strength(const db_fit_shoebox *box) {
    return box->intensity_esd > 0 ? box->intensity / box->intensity_esd : 0;
}

static double misfit(const db_fit_shoebox *box) {
    return box->pixels_used > 0 ? box->chi2 / box->pixels_used : 0;
}

/* Measured, model, residual of one shoebox as three small pictures. planes: room for 3 x pixels. */
static db_status pictures(const db_html_report *report, const db_fit_shoebox *box, float *planes) {
    const db_region *const g = &box->region;
    const size_t count = (size_t)g->fast_count * (size_t)g->slow_count;
    float *const measured = planes, *const model = planes + count,
                 *const residual = planes + 2 * count;
    float low = INFINITY, high = -INFINITY;
    for (int s = 0; s < g->slow_count; s++)
        for (int f = 0; f < g->fast_count; f++) {
            const size_t from = g->offset + (size_t)s * g->stride + (size_t)f;
            const size_t to = (size_t)s * (size_t)g->fast_count + (size_t)f;
            const int used = box->sigma[from] > 0;
            measured[to] = used ? box->measured[from] : NAN;
            model[to] = box->model[from];
            residual[to] = used ? (box->measured[from] - box->model[from]) / box->sigma[from] : NAN;
            low = fminf(low, fminf(measured[to], model[to]));
            high = fmaxf(high, fmaxf(measured[to], model[to]));
        }
    if (!(low < high)) high = (low = isfinite(low) ? low : 0) + 1;
    const char *const img = "<img alt=\"\" src=\"", *const end = "\">";
    DB_TRY(db_html_picture(report, img, measured, g->fast_count, g->slow_count, DB_COLOUR_GREY,
                           (double)low, (double)high, end));
    DB_TRY(db_html_picture(report, img, model, g->fast_count, g->slow_count, DB_COLOUR_GREY,
                           (double)low, (double)high, end));
    return db_html_picture(report, img, residual, g->fast_count, g->slow_count, DB_COLOUR_SIGNED,
                           -RESIDUAL_LIMIT, RESIDUAL_LIMIT, end);
}

static db_status box_figure(const db_html_report *report, size_t index) {
    const db_fit_shoebox *const box = &report->result->shoeboxes[index];
    float *const planes = malloc(3 * (size_t)box->region.fast_count *
                                 (size_t)box->region.slow_count * sizeof *planes);
    if (!planes) return db_fail_memory(report->context, "the report's pictures");
    fprintf(report->stream, "<div class=\"box%s\" data-box=\"%zu\"><div>",
            box->outlier ? " outlier" : "", index);
    const db_status status = pictures(report, box, planes);
    free(planes);
    fprintf(report->stream,
            "</div><p><b>%d %d %d</b> &#183; %.2f &#197; &#183; I/&#963; %.1f &#183; "
            "&#967;&#178;/px %.2f</p></div>",
            box->hkl[0], box->hkl[1], box->hkl[2], box->d_spacing, strength(box), misfit(box));
    return status;
}

static db_status figures(const db_html_report *report, double (*key)(const db_fit_shoebox *box),
                         rank *ranks, size_t most) {
    const db_fit_result *const r = report->result;
    for (size_t i = 0; i < r->shoebox_count; i++) {
        const double value = key(&r->shoeboxes[i]);
        ranks[i] = (rank){ isfinite(value) ? value : 0, i };
    }
    qsort(ranks, r->shoebox_count, sizeof *ranks, descending);
    fputs("<div class=\"gallery\">", report->stream);
    db_status status = DB_OK;
    for (size_t i = 0; i < r->shoebox_count && i < most && status == DB_OK; i++)
        status = box_figure(report, ranks[i].index);
    fputs("</div>", report->stream);
    return status;
}

db_status db_html_gallery(const db_html_report *report) {
    const size_t count = report->result->shoebox_count;
    if (count == 0) return DB_OK;
    rank *const ranks = malloc(count * sizeof *ranks);
    if (!ranks) return db_fail_memory(report->context, "the report's gallery");
    fprintf(report->stream,
            "<section id=\"shoeboxes\"><h2>Shoeboxes</h2><p class=\"note\">Measured, model, "
            "residual from &#8722;%g "
            "to %g &#963;; %zu shoeboxes "
            "in all. A click shows one in the images above.</p><h4>The strongest</h4>",
            RESIDUAL_LIMIT, RESIDUAL_LIMIT, count);
    db_status status = figures(report, strength, ranks, STRONGEST);
    if (status == DB_OK && count > STRONGEST) {
        fputs("<h4>The worst fitted</h4>", report->stream);
        status = figures(report, misfit, ranks, WORST);
    }
    fputs("</section>", report->stream);
    free(ranks);
    return status;
}
