#include "bench/report_loads.h"

#include "bench/report_cells.h"
#include "bench/rows.h"

static void put_row(FILE *out, const db_bench_row *row, int beside_reference) {
    const db_bench_series *image = &row->timing[DB_BENCH_FORWARD_WARM],
                          *derivatives = &row->timing[DB_BENCH_GRADIENT_WARM];
    const double fastest = db_bench_summarize(image).minimum;
    fprintf(out, "| %s | %.0f | %s |", row->workload.load->name,
            db_bench_workload_pixels(&row->workload), db_bench_precision_name(row->precision));
    db_bench_put_cell(out, db_bench_load_samples(row->workload.load));
    db_bench_put_cell(out, 1e3 * fastest);
    db_bench_put_cell(out, db_bench_sample_rate(row, fastest));
    db_bench_put_cell(out, 1e3 * db_bench_summarize(derivatives).minimum);
    db_bench_put_cell(out, db_bench_median_ratio(derivatives, image));
    if (beside_reference && row->reference.count) {
        db_bench_put_cell(out, 1e3 * db_bench_summarize(&row->reference).minimum);
        db_bench_put_cell(out, 1e3 * db_bench_summarize(&row->program).minimum);
        db_bench_put_cell(out, db_bench_median_ratio(&row->reference, &row->program));
        db_bench_put_cell(out, db_bench_median_ratio(&row->reference, image));
        db_bench_put_difference(out, &row->to_reference);
    } else if (beside_reference) {
        fputs(" - | - | - | - | - |", out);
    }
    fputc('\n', out);
}

void db_bench_put_loads(FILE *out, const db_bench_results *r) {
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
