#include "bench/report_text.h"

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
