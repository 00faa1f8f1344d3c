#include "bench/report.h"
#include "bench/measure.h"
#include "bench/report_text.h"
#include "bench/targets.h"
#include "base/context_internal.h"

#include <dualbragg/version.h>

#include <math.h>
#include <stdio.h>

static void put_difference(FILE *out, const db_bench_comparison *c) {
    if (isfinite(c->largest_difference))
        fprintf(out, c->largest_difference > 0 ? " %.1e" : " %.0f", c->largest_difference);
    else
        fputs(" -", out);
    if (c->left_out) fprintf(out, " (%zu pixels left out)", c->left_out);
    fputs(" |", out);
}

static double sample_rate(const db_bench_row *row, double seconds) {
    return 1e-6 * db_bench_workload_samples(&row->workload) / seconds;
}

static void put_row(FILE *out, const db_bench_row *row, int beside_reference) {
    const db_bench_series *image = &row->timing[DB_BENCH_FORWARD_WARM],
                          *derivatives = &row->timing[DB_BENCH_GRADIENT_WARM];
    const double fastest = db_bench_summarize(image).minimum;
    fprintf(out, "| %s | %.0f | %s |", row->workload.load->name,
            db_bench_workload_pixels(&row->workload), db_bench_precision_name(row->precision));
    db_bench_put_cell(out, db_bench_load_samples(row->workload.load));
    db_bench_put_cell(out, 1e3 * fastest);
    db_bench_put_cell(out, sample_rate(row, fastest));
    db_bench_put_cell(out, 1e3 * db_bench_summarize(derivatives).minimum);
    db_bench_put_cell(out, db_bench_median_ratio(derivatives, image));
    if (beside_reference && row->reference.count) {
        db_bench_put_cell(out, 1e3 * db_bench_summarize(&row->reference).minimum);
        db_bench_put_cell(out, 1e3 * db_bench_summarize(&row->program).minimum);
        db_bench_put_cell(out, db_bench_median_ratio(&row->reference, &row->program));
        db_bench_put_cell(out, db_bench_median_ratio(&row->reference, image));
        put_difference(out, &row->to_reference);
    } else if (beside_reference) {
        fputs(" - | - | - | - | - |", out);
    }
    fputc('\n', out);
}

static void put_loads(FILE *out, const db_bench_results *r) {
    const char *titles[] = { "load",
                             "pixels",
                             "precision",
                             "samples",
                             "image, ms",
                             "Msample/s",
                             "16 derivatives, ms",
                             "derivatives / image",
                             "reference, ms",
                             "dualbragg sim, ms",
                             "reference / dualbragg sim",
                             "reference / warm image",
                             "largest difference / maximum",
                             NULL };
    const int beside_reference = *r->reference_name != '\0';
    int rows = 0;
    if (!beside_reference) titles[8] = NULL;
    for (int i = 0; i < r->row_count; i++) {
        if (db_bench_row_is_plain(&r->rows[i])) continue;
        if (rows++ == 0) {
            fputs("\n## Realistic loads\n\nMinima; warm, and whole programs.\n\n", out);
            db_bench_put_head(out, titles, 3);
        }
        put_row(out, &r->rows[i], beside_reference);
    }
}

/* Millions of pixels and of samples per second, by the median. */
static void put_rates(FILE *out, const db_bench_row *row, db_bench_timing timing) {
    const double seconds = db_bench_summarize(&row->timing[timing]).median;
    db_bench_put_cell(out, 1e-6 * db_bench_workload_pixels(&row->workload) / seconds);
    db_bench_put_cell(out, sample_rate(row, seconds));
}

static void put_row_name(FILE *out, const db_bench_row *row) {
    fprintf(out, "| %d² | %.0f | %s |", row->workload.size,
            db_bench_load_samples(row->workload.load), db_bench_precision_name(row->precision));
}

static void put_conditions(FILE *out, const db_bench_results *r) {
    const db_bench_machine *m = &r->machine;
    fprintf(out, "dualbragg %s, %s, %d threads, %s, %d round%s\n\n", db_version(), r->isa,
            r->threads, r->date, r->options.repeats, r->options.repeats == 1 ? "" : "s");
    if (*r->device) fprintf(out, "- device: %s\n", r->device);
    fprintf(out, "- machine: %s, %d processors, %.1f GiB", m->processor, m->processors,
            m->memory / (1 << 30));
    if (m->cache[2] > 0)
        fprintf(out, ", caches %.0f KiB, %.0f KiB, %.0f MiB", m->cache[0] / 1024,
                m->cache[1] / 1024, m->cache[2] / (1 << 20));
    fprintf(out, "\n- system: %s, transparent huge pages: %s\n", m->system, m->huge_pages);
    fprintf(out, "- compiler: %s, %s\n", m->compiler, m->compiler_flags);
    fprintf(out, "- load average before and after: %.2f, %.2f\n\n", r->load_before, r->load_after);
}

static void put_targets(FILE *out, const db_bench_results *r) {
    db_bench_target targets[DB_BENCH_TARGETS];
    db_bench_judge(r, targets);
    fputs(
        "## Targets\n\nTimes are minima.\n\n| | | limit | measured | |\n|---|---|---:|---:|---|\n",
        out);
    for (int i = 0; i < DB_BENCH_TARGETS; i++) {
        const db_bench_target *t = &targets[i];
        if (isnan(t->measured)) continue;
        fprintf(out, "| %s | %s | %g%s | ", t->text, t->at_least ? "at least" : "at most", t->limit,
                t->unit);
        db_bench_put_number(out, t->measured);
        fprintf(out, "%s | %s |\n", t->unit, t->reached ? "reached" : "missed");
    }
}

static void put_rounding(FILE *out, const db_bench_results *r) {
    static const char *const titles[] = { "load",
                                          "pixels",
                                          "above 1e-6 of the maximum",
                                          "double: largest relative error of these",
                                          "mixed: largest error / maximum",
                                          NULL };
    fputs("\n## Rounding\n\nImages of 32-bit floats beside long double arithmetic, model "
          "included.\n\n",
          out);
    db_bench_put_head(out, titles, 1);
    for (int i = 0; i < r->rounding_count; i++) {
        const db_bench_rounding *one = &r->rounding[i];
        fprintf(out, "| %s | %zu | %zu |", one->load->name, one->pixels, one->bright);
        db_bench_put_cell(out, one->in_double);
        db_bench_put_cell(out, one->mixed);
        fputc('\n', out);
    }
}

static void put_warm(FILE *out, const db_bench_results *r) {
    static const char *const titles[] = {
        "pixels",      "samples",           "precision", "image min, ms",
        "median, ms",  "Mpixel/s",          "Msample/s", "16 derivatives min, ms",
        "median, ms",  "Mpixel/s",          "Msample/s", "derivatives / image",
        "allocations", "heap growth, byte", NULL
    };
    fputs("\n## Warm: plan and memory are there\n\n", out);
    db_bench_put_head(out, titles, 3);
    for (int i = 0; i < r->row_count; i++) {
        const db_bench_row *row = &r->rows[i];
        if (!db_bench_row_is_plain(row)) continue;
        put_row_name(out, row);
        db_bench_put_times(out, &row->timing[DB_BENCH_FORWARD_WARM]);
        put_rates(out, row, DB_BENCH_FORWARD_WARM);
        db_bench_put_times(out, &row->timing[DB_BENCH_GRADIENT_WARM]);
        put_rates(out, row, DB_BENCH_GRADIENT_WARM);
        db_bench_put_cell(out, db_bench_median_ratio(&row->timing[DB_BENCH_GRADIENT_WARM],
                                                     &row->timing[DB_BENCH_FORWARD_WARM]));
        fprintf(out, " %zu | %zu |", row->warm_heap.calls, row->warm_heap.bytes);
        fputc('\n', out);
    }
}

static void put_cold(FILE *out, const db_bench_results *r) {
    static const char *const titles[] = { "pixels",
                                          "samples",
                                          "precision",
                                          "image min, ms",
                                          "median, ms",
                                          "cold / warm",
                                          "16 derivatives min, ms",
                                          "median, ms",
                                          "cold / warm",
                                          NULL };
    fputs("\n## Cold: context, plan, first call into fresh memory\n\n", out);
    db_bench_put_head(out, titles, 3);
    for (int i = 0; i < r->row_count; i++) {
        const db_bench_series *t = r->rows[i].timing;
        if (!db_bench_row_is_plain(&r->rows[i])) continue;
        put_row_name(out, &r->rows[i]);
        db_bench_put_times(out, &t[DB_BENCH_FORWARD_COLD]);
        db_bench_put_cell(
            out, db_bench_median_ratio(&t[DB_BENCH_FORWARD_COLD], &t[DB_BENCH_FORWARD_WARM]));
        db_bench_put_times(out, &t[DB_BENCH_GRADIENT_COLD]);
        db_bench_put_cell(
            out, db_bench_median_ratio(&t[DB_BENCH_GRADIENT_COLD], &t[DB_BENCH_GRADIENT_WARM]));
        fputc('\n', out);
    }
}

static void put_device(FILE *out, const db_bench_results *r) {
    static const char *const titles[] = { "pixels",     "samples",
                                          "precision",  "image min, ms",
                                          "median, ms", "16 derivatives min, ms",
                                          "median, ms", "normal equations min, ms",
                                          "median, ms", "image to locked memory min, ms",
                                          "median, ms", NULL };
    fputs("\n## Kernels alone, and an image of a changed plan copied to locked memory\n\n", out);
    db_bench_put_head(out, titles, 3);
    for (int i = 0; i < r->row_count; i++) {
        if (!db_bench_row_is_plain(&r->rows[i])) continue;
        put_row_name(out, &r->rows[i]);
        for (db_bench_device_timing t = 0; t < DB_BENCH_DEVICE_TIMINGS; t++)
            db_bench_put_times(out, &r->rows[i].device[t]);
        fputc('\n', out);
    }
}

static void put_comparison(FILE *out, const db_bench_comparison *c) {
    if (isfinite(c->correlation))
        fprintf(out, " %.9f |", c->correlation);
    else
        fputs(" - |", out);
    put_difference(out, c);
}

static void put_reference(FILE *out, const db_bench_results *r) {
    static const char *const titles[] = { "pixels",
                                          "samples",
                                          "precision",
                                          "reference min, ms",
                                          "median, ms",
                                          "dualbragg sim min, ms",
                                          "median, ms",
                                          "reference / dualbragg sim",
                                          "reference / warm image",
                                          "correlation",
                                          "largest difference / maximum",
                                          NULL };
    fprintf(out, "\n## Beside the reference program %s\n\n", r->reference_name);
    db_bench_put_head(out, titles, 3);
    for (int i = 0; i < r->row_count; i++) {
        const db_bench_row *row = &r->rows[i];
        if (!row->reference.count || !db_bench_row_is_plain(row)) continue;
        put_row_name(out, row);
        db_bench_put_times(out, &row->reference);
        db_bench_put_times(out, &row->program);
        db_bench_put_cell(out, db_bench_median_ratio(&row->reference, &row->program));
        db_bench_put_cell(
            out, db_bench_median_ratio(&row->reference, &row->timing[DB_BENCH_FORWARD_WARM]));
        put_comparison(out, &row->to_reference);
        fputc('\n', out);
    }
    if (!*r->program_name) fputs("\nThe dualbragg program was not found: see --program.\n", out);
}

db_status db_bench_report_markdown(db_context *context, const db_bench_results *results,
                                   char **text) {
    size_t length;
    FILE *out = open_memstream(text, &length);
    if (!out) return db_fail_memory(context, "the Markdown report");
    put_conditions(out, results);
    put_targets(out, results);
    if (results->options.size_count) {
        put_warm(out, results);
        put_cold(out, results);
    }
    if (*results->device) put_device(out, results);
    if (*results->reference_name) put_reference(out, results);
    put_loads(out, results);
    db_bench_put_spots(out, results);
    put_rounding(out, results);
    return fclose(out) == 0 ? DB_OK : db_fail_memory(context, "the Markdown report");
}
