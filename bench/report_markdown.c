#include "bench/report.h"
#include "bench/targets.h"
#include "core/context_internal.h"

#include <dualbragg/version.h>
#include <math.h>
#include <stdio.h>

/* Three significant digits, but whole numbers whole. */
static void put_number(FILE *out, double value) {
    if (!isfinite(value)) {
        fputs("-", out);
        return;
    }
    const double size = fabs(value);
    const int decimals = size >= 100 || size == 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
    fprintf(out, "%.*f", decimals, value);
}

static void put_cell(FILE *out, double value) {
    fputc(' ', out);
    put_number(out, value);
    fputs(" |", out);
}

/* Minimum and median in milliseconds. */
static void put_times(FILE *out, const db_bench_series *series) {
    const db_bench_summary s = db_bench_summarize(series);
    put_cell(out, 1e3 * s.minimum);
    put_cell(out, 1e3 * s.median);
}

/* Millions of pixels and of samples per second, by the median. */
static void put_rates(FILE *out, const db_bench_row *row, db_bench_timing timing) {
    const double seconds = db_bench_summarize(&row->timing[timing]).median;
    put_cell(out, 1e-6 * row->workload.size * row->workload.size / seconds);
    put_cell(out, 1e-6 * db_bench_workload_samples(&row->workload) / seconds);
}

/* A table's head: titles up to NULL; the first three are text, the rest numbers. */
static void put_head(FILE *out, const char *const *titles) {
    fputc('|', out);
    for (int i = 0; titles[i]; i++) fprintf(out, " %s |", titles[i]);
    fputs("\n|", out);
    for (int i = 0; titles[i]; i++) fputs(i < 3 ? "---|" : "---:|", out);
    fputc('\n', out);
}

static void put_row_name(FILE *out, const db_bench_row *row) {
    fprintf(out, "| %d² | %d | %s |", row->workload.size, row->workload.sampling->samples,
            db_bench_precision_name(row->precision));
}

static void put_conditions(FILE *out, const db_bench_results *r) {
    const db_bench_machine *m = &r->machine;
    fprintf(out, "dualbragg %s, %s, %d threads, %s, %d round%s\n\n", db_version(), r->isa,
            r->threads, r->date, r->options.repeats, r->options.repeats == 1 ? "" : "s");
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
    fputs("## Targets\n\n| warm | at most | measured | |\n|---|---:|---:|---|\n", out);
    for (int i = 0; i < DB_BENCH_TARGETS; i++) {
        if (isnan(targets[i].measured)) continue;
        fprintf(out, "| %s | %.0f%s | ", targets[i].text, targets[i].limit, targets[i].unit);
        put_number(out, targets[i].measured);
        fprintf(out, "%s | %s |\n", targets[i].unit, targets[i].reached ? "reached" : "missed");
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
    put_head(out, titles);
    for (int i = 0; i < r->row_count; i++) {
        const db_bench_row *row = &r->rows[i];
        put_row_name(out, row);
        put_times(out, &row->timing[DB_BENCH_FORWARD_WARM]);
        put_rates(out, row, DB_BENCH_FORWARD_WARM);
        put_times(out, &row->timing[DB_BENCH_GRADIENT_WARM]);
        put_rates(out, row, DB_BENCH_GRADIENT_WARM);
        put_cell(out, db_bench_median_ratio(&row->timing[DB_BENCH_GRADIENT_WARM],
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
    put_head(out, titles);
    for (int i = 0; i < r->row_count; i++) {
        const db_bench_series *t = r->rows[i].timing;
        put_row_name(out, &r->rows[i]);
        put_times(out, &t[DB_BENCH_FORWARD_COLD]);
        put_cell(out, db_bench_median_ratio(&t[DB_BENCH_FORWARD_COLD], &t[DB_BENCH_FORWARD_WARM]));
        put_times(out, &t[DB_BENCH_GRADIENT_COLD]);
        put_cell(out,
                 db_bench_median_ratio(&t[DB_BENCH_GRADIENT_COLD], &t[DB_BENCH_GRADIENT_WARM]));
        fputc('\n', out);
    }
}

static void put_comparison(FILE *out, const db_bench_comparison *c) {
    if (isfinite(c->correlation))
        fprintf(out, " %.9f |", c->correlation);
    else
        fputs(" - |", out);
    if (isfinite(c->largest_difference))
        fprintf(out, c->largest_difference > 0 ? " %.1e" : " %.0f", c->largest_difference);
    else
        fputs(" -", out);
    if (c->left_out) fprintf(out, " (%zu pixels left out)", c->left_out);
    fputs(" |", out);
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
    put_head(out, titles);
    for (int i = 0; i < r->row_count; i++) {
        const db_bench_row *row = &r->rows[i];
        if (!row->reference.count) continue;
        put_row_name(out, row);
        put_times(out, &row->reference);
        put_times(out, &row->program);
        put_cell(out, db_bench_median_ratio(&row->reference, &row->program));
        put_cell(out, db_bench_median_ratio(&row->reference, &row->timing[DB_BENCH_FORWARD_WARM]));
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
    put_warm(out, results);
    put_cold(out, results);
    if (*results->reference_name) put_reference(out, results);
    return fclose(out) == 0 ? DB_OK : db_fail_memory(context, "the Markdown report");
}
