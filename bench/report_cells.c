#include "bench/report_cells.h"

#include <math.h>

void db_bench_put_number(FILE *out, double value) {
    if (!isfinite(value)) {
        fputs("-", out);
        return;
    }
    const double size = fabs(value);
    const int decimals = size >= 100 || size == 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
    if (size < 1e-3 && size > 0)
        fprintf(out, "%.1e", value);
    else
        fprintf(out, "%.*f", decimals, value);
}

void db_bench_put_cell(FILE *out, double value) {
    fputc(' ', out);
    db_bench_put_number(out, value);
    fputs(" |", out);
}

void db_bench_put_times(FILE *out, const db_bench_series *series) {
    const db_bench_summary s = db_bench_summarize(series);
    db_bench_put_cell(out, 1e3 * s.minimum);
    db_bench_put_cell(out, 1e3 * s.median);
}

void db_bench_put_head(FILE *out, const char *const *titles, int texts) {
    fputc('|', out);
    for (int i = 0; titles[i]; i++) fprintf(out, " %s |", titles[i]);
    fputs("\n|", out);
    for (int i = 0; titles[i]; i++) fputs(i < texts ? "---|" : "---:|", out);
    fputc('\n', out);
}

void db_bench_put_difference(FILE *out, const db_bench_comparison *c) {
    if (isfinite(c->largest_difference))
        fprintf(out, c->largest_difference > 0 ? " %.1e" : " %.0f", c->largest_difference);
    else
        fputs(" -", out);
    if (c->left_out) fprintf(out, " (%zu pixels left out)", c->left_out);
    fputs(" |", out);
}

double db_bench_sample_rate(const db_bench_row *row, double seconds) {
    return 1e-6 * db_bench_workload_samples(&row->workload) / seconds;
}
