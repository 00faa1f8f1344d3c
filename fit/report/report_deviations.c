/* Distribution of the normalized residuals, and the shoeboxes that stand out. */
#include "fit/report/report_axis.h"
#include "fit/report/report.h"

#include <math.h>
#include <stdlib.h>

enum { BINS = 64, MOST_LISTED = 20 };
static const double REACH = 8; /* standard deviations at the ends of the histogram */

static size_t count_z(const db_fit_result *r, size_t bins[BINS]) {
    size_t total = 0;
    for (size_t b = 0; b < r->shoebox_count; b++) {
        const db_fit_shoebox *const box = &r->shoeboxes[b];
        const db_region *const g = &box->region;
        for (int s = 0; s < g->slow_count; s++)
            for (int f = 0; f < g->fast_count; f++) {
                const size_t i = g->offset + (size_t)s * g->stride + (size_t)f;
                if (!(box->sigma[i] > 0)) continue;
                const double z = (double)((box->measured[i] - box->model[i]) / box->sigma[i]);
                if (!isfinite(z)) continue;
                const double place = (z + REACH) / (2 * REACH) * BINS;
                bins[(int)fmin(fmax(place, 0), BINS - 1)]++;
                total++;
            }
    }
    return total;
}

void db_html_deviations(const db_html_report *report) {
    enum {
        WIDTH = 560,
        HEIGHT = 260,
        LEFT = 60,
        RIGHT = WIDTH - 10,
        TOP = 8,
        BOTTOM = HEIGHT - 40
    };
    size_t bins[BINS] = { 0 };
    const size_t total = count_z(report->result, bins);
    if (total == 0) return;
    FILE *const out = report->stream;
    const double pi = 3.14159265358979323846, width = 2 * REACH / BINS, n = (double)total;
    double most = n * width / sqrt(2 * pi);
    for (int i = 0; i < BINS; i++) most = fmax(most, (double)bins[i]);
    const db_axis x = { -REACH, REACH, LEFT, RIGHT, 0 }, y = { 0.7, 1.6 * most, BOTTOM, TOP, 1 };
    fprintf(out,
            "<figure><figcaption><b>Normalized residuals</b> of %zu pixels in shoeboxes"
            "</figcaption><svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" "
            "aria-label=\"histogram of normalized residuals\">",
            total, WIDTH, HEIGHT);
    db_axis_draw_left(out, &y, 5, LEFT, RIGHT);
    for (int i = 0; i < BINS; i++) {
        if (bins[i] == 0) continue;
        const double left = db_axis_place(&x, -REACH + i * width),
                     top = db_axis_place(&y, (double)bins[i]);
        fprintf(out, "<rect class=\"bar\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
                left, top, db_axis_place(&x, -REACH + (i + 1) * width) - left - 0.6, BOTTOM - top);
    }
    db_axis_draw_bottom(out, &x, 8, BOTTOM, BOTTOM);
    fputs("<polyline class=\"expected\" points=\"", out);
    for (double z = -REACH; z <= REACH; z += 0.1) {
        const double expected = n * width * exp(-0.5 * z * z) / sqrt(2 * pi);
        if (expected >= y.low)
            fprintf(out, "%.1f,%.1f ", db_axis_place(&x, z), db_axis_place(&y, expected));
    }
    fprintf(out,
            "\"/><text class=\"label\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">(measured &#8722; "
            "model)/&#963;</text></svg></figure>",
            (LEFT + RIGHT) / 2, HEIGHT - 6);
}

typedef struct rank {
    double key;
    size_t index;
} rank;

static int descending(const void *a, const void *b) {
    const rank *const x = a, *const y = b;
    if (x->key != y->key) return x->key < y->key ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

static void row(FILE *out, const db_fit_shoebox *box, size_t index) {
    fprintf(out,
            "<tr class=\"pick\" data-box=\"%zu\"><td>%d %d %d</td><td class=\"n\">%.2f</td><td "
            "class=\"n\">%.0f, %.0f</td><td class=\"n\"><b>%.2f</b></td><td class=\"n\">%+.1f</td>"
            "<td class=\"n\">%d</td></tr>",
            index, box->hkl[0], box->hkl[1], box->hkl[2], box->d_spacing, box->predicted[0],
            box->predicted[1], box->sigma_z, box->worst_z, box->pixels_used);
}

/* The farthest off first. */
static void list(const db_html_report *report, rank *ranks) {
    const db_fit_result *const r = report->result;
    FILE *const out = report->stream;
    size_t outliers = 0, ranked = 0;
    for (size_t b = 0; b < r->shoebox_count; b++) {
        outliers += (size_t)(r->shoeboxes[b].outlier != 0);
        if (isfinite(r->shoeboxes[b].sigma_z))
            ranks[ranked++] = (rank){ r->shoeboxes[b].sigma_z, b };
    }
    qsort(ranks, ranked, sizeof *ranks, descending);
    fprintf(out,
            "<h3>Shoeboxes with the largest sigma Z</h3><p class=\"note\">%zu of %zu are "
            "outliers",
            outliers, r->shoebox_count);
    if (isfinite(r->sigma_z_limit))
        fprintf(out,
                ": sigma Z, the standard deviation of (measured &#8722; model)/&#963;, above %.2f; "
                "median %.2f",
                r->sigma_z_limit, r->sigma_z_median);
    fputs(".</p><div class=\"wide\"><table><thead><tr><th>h k l</th><th class=\"n\">d (&#197;)</th>"
          "<th class=\"n\">fast, slow</th><th class=\"n\">sigma Z</th><th class=\"n\">farthest "
          "pixel (&#963;)</th><th class=\"n\">pixels</th></tr></thead><tbody>",
          out);
    const size_t listed = outliers < 8 ? 8 : outliers < MOST_LISTED ? outliers : MOST_LISTED;
    for (size_t i = 0; i < ranked && i < listed; i++)
        row(out, &r->shoeboxes[ranks[i].index], ranks[i].index);
    fputs("</tbody></table></div>", out);
}

void db_html_outliers(const db_html_report *report) {
    const size_t count = report->result->shoebox_count;
    if (count == 0) return;
    rank *const ranks = malloc(count * sizeof *ranks);
    fputs("<section id=\"outliers\"><h2>Residuals and outliers</h2><div class=\"columns\"><div>",
          report->stream);
    db_html_deviations(report);
    fputs("<p class=\"note\">Orange: the normal distribution that noise alone gives; the outermost "
          "bars hold all beyond. Wide wings "
          "are misfit or outliers; a curve narrower than the orange one means overestimated "
          "noise.</p></div>",
          report->stream);
    fputs("<div>", report->stream);
    if (ranks) list(report, ranks);
    db_html_distrusted(report);
    fputs("</div></div></section>", report->stream);
    free(ranks);
}
