/* Spots in closed form in both reports. */
#include "bench/report.h"
#include "bench/report_text.h"
#include "bench/report_values.h"

#include <math.h>

/* Bytes that a call stores; 0: next to none. */
static double stored(const db_bench_spots_row *row) {
    if (row->call->output == DB_BENCH_NORMAL) return 0;
    return row->pixels * (double)sizeof(float) *
           (row->call->output == DB_BENCH_IMAGE ? 1 : 1 + row->call->parameters);
}

/* Writing as much memory: measured for images of one scene. */
static const db_bench_series *fill_of(const db_bench_results *r, const db_bench_spots_row *row) {
    if (row->call->scene != DB_BENCH_THAUMATIN || row->call->domains || stored(row) == 0)
        return NULL;
    return &r->spots.fill[row->call->output == DB_BENCH_DERIVATIVES];
}

/* Time / time of the scene's image in closed form. */
static double over_image(const db_bench_results *r, const db_bench_spots_row *row) {
    const db_bench_spots_row *image =
        db_bench_spots_find(&r->spots, row->call->scene, "image", row->precision);
    return db_bench_median_ratio(&row->time, &image->time);
}

static void put_row(FILE *out, const db_bench_results *r, const db_bench_spots_row *row) {
    const db_bench_series *fill = fill_of(r, row);
    fprintf(out, "| %s | %s, %s | %s |", db_bench_scene_names[row->call->scene],
            row->call->domains ? "sampled" : "closed", row->call->name,
            db_bench_precision_name(row->precision));
    if (row->call->domains)
        fputs(" - | - |", out);
    else
        fprintf(out, " %.0f | %.3g |", row->spots, 1e-6 * row->reached);
    db_bench_put_times(out, &row->time);
    db_bench_put_cell(out, row->there.count ? 1e3 * db_bench_summarize(&row->there).minimum : NAN);
    db_bench_put_cell(out, over_image(r, row));
    db_bench_put_cell(out,
                      fill ? 1e-9 * stored(row) / db_bench_summarize(&row->time).minimum : NAN);
    db_bench_put_cell(out, fill ? 1e3 * db_bench_summarize(fill).minimum : NAN);
    db_bench_put_cell(out, row->difference);
    fprintf(out, " %zu |\n", row->heap.calls);
}

static void put_runs(FILE *out, const db_bench_results *r) {
    static const char *const titles[] = { "domains",
                                          "reference min, ms",
                                          "median, ms",
                                          "dualbragg sim, mixed, min, ms",
                                          "median, ms",
                                          "reference / closed image",
                                          "sim / closed image",
                                          NULL };
    const db_bench_spots_row *image =
        db_bench_spots_find(&r->spots, DB_BENCH_PUBLISHED, "image", DB_PRECISION_MIXED);
    if (!r->spots.run[0].reference.count) return;
    fprintf(out, "\nWhole programs, sampled, beside the warm closed image, mixed: %s.\n\n",
            db_bench_scene_names[DB_BENCH_PUBLISHED]);
    db_bench_put_head(out, titles, 1);
    for (int i = 0; i < DB_BENCH_SPOTS_RUNS; i++) {
        const db_bench_spots_run *run = &r->spots.run[i];
        if (!run->reference.count) continue;
        fprintf(out, "| %d |", run->domains);
        db_bench_put_times(out, &run->reference);
        db_bench_put_times(out, &run->program);
        db_bench_put_cell(out, db_bench_median_ratio(&run->reference, &image->time));
        db_bench_put_cell(out, db_bench_median_ratio(&run->program, &image->time));
        fputc('\n', out);
    }
}

static void put_error(FILE *out, double value) { fprintf(out, " %.1e |", value); }

static void put_convergence(FILE *out, const db_bench_convergence *c) {
    static const char *const titles[] = { "method",
                                          "domains",
                                          "sub-pixels",
                                          "samples",
                                          "time, ms",
                                          "rms error / maximum",
                                          "largest error / maximum",
                                          NULL };
    fputs("\n## Error against time\n\n", out);
    fprintf(out,
            "Crop of %d x %d pixels. Errors are differences from %d low-discrepancy domains x %d x "
            "%d sub-pixels, whose\nown error is %.0e (rms; largest %.0e) by the difference of two "
            "halves.\n\n",
            c->size, c->size, c->reference_domains, c->reference_oversample,
            c->reference_oversample, c->reference_rms, c->reference_largest);
    db_bench_put_head(out, titles, 1);
    for (int i = 0; i < c->count; i++) {
        const db_bench_convergence_point *p = &c->point[i];
        const int sub_pixels = p->oversample * p->oversample;
        fprintf(out, "| %s |", p->method);
        if (p->domains)
            fprintf(out, " %d | %d | %d |", p->domains, sub_pixels, p->domains * sub_pixels);
        else
            fprintf(out, " - | %d | - |", sub_pixels);
        db_bench_put_cell(out, 1e3 * p->seconds);
        put_error(out, p->rms);
        put_error(out, p->largest);
        fputc('\n', out);
    }
}

void db_bench_put_spots(FILE *out, const db_bench_results *r) {
    static const char *const titles[] = { "scene",
                                          "call",
                                          "precision",
                                          "spots",
                                          "spots x pixels, million",
                                          "min, ms",
                                          "median, ms",
                                          "results stay on the device, min, ms",
                                          "/ closed image",
                                          "stored, GB/s",
                                          "writing as much alone, ms",
                                          "largest error / maximum",
                                          "allocations",
                                          NULL };
    if (!r->spots.measured) return;
    fputs("\n## Spots in closed form\n\n", out);
    fprintf(out, "Warm calls, update included; %d shoeboxes of %d x %d pixels.\n\n", r->spots.boxes,
            r->spots.box_size, r->spots.box_size);
    db_bench_put_head(out, titles, 3);
    for (int i = 0; i < DB_BENCH_SPOTS_ROWS; i++) put_row(out, r, &r->spots.row[i]);
    put_runs(out, r);
    put_convergence(out, &r->convergence);
}

static json_t *row_json(const db_bench_results *r, const db_bench_spots_row *row) {
    return json_pack("{s:s, s:s, s:s, s:i, s:i, s:I, s:f, s:f, s:o, s:o*, s:o, s:o, s:I}", "scene",
                     db_bench_scene_names[row->call->scene], "call", row->call->key, "precision",
                     db_bench_precision_name(row->precision), "domains", row->call->domains, "rays",
                     row->call->rays, "pixels", (json_int_t)row->pixels, "spots", row->spots,
                     "spots_times_pixels", row->reached, "time", db_bench_series_json(&row->time),
                     "time_on_device", row->there.count ? db_bench_series_json(&row->there) : NULL,
                     "over_closed_image", db_bench_number_json(over_image(r, row)),
                     "exact_difference", db_bench_number_json(row->difference), "warm_allocations",
                     (json_int_t)row->heap.calls);
}

static json_t *convergence_json(const db_bench_convergence *c) {
    json_t *points = json_array();
    for (int i = 0; i < c->count; i++) {
        const db_bench_convergence_point *p = &c->point[i];
        json_array_append_new(points, json_pack("{s:s, s:i, s:i, s:f, s:f, s:f}", "method",
                                                p->method, "domains", p->domains, "oversample",
                                                p->oversample, "seconds", p->seconds, "rms_error",
                                                p->rms, "largest_error", p->largest));
    }
    return json_pack("{s:i, s:i, s:i, s:f, s:f, s:o}", "crop", c->size, "reference_domains",
                     c->reference_domains, "reference_oversample", c->reference_oversample,
                     "reference_rms_error", c->reference_rms, "reference_largest_error",
                     c->reference_largest, "points", points);
}

json_t *db_bench_spots_json(const db_bench_results *r) {
    const db_bench_spots_results *s = &r->spots;
    json_t *rows = json_array(), *runs = json_array();
    for (int i = 0; i < DB_BENCH_SPOTS_ROWS; i++)
        json_array_append_new(rows, row_json(r, &s->row[i]));
    for (int i = 0; i < DB_BENCH_SPOTS_RUNS; i++)
        if (s->run[i].reference.count)
            json_array_append_new(
                runs, json_pack("{s:i, s:o, s:o}", "domains", s->run[i].domains, "whole_reference",
                                db_bench_series_json(&s->run[i].reference), "dualbragg_sim",
                                db_bench_series_json(&s->run[i].program)));
    return json_pack("{s:o, s:o, s:o, s:i, s:i, s:o, s:o}", "rows", rows, "fill_image",
                     db_bench_series_json(&s->fill[0]), "fill_17_images",
                     db_bench_series_json(&s->fill[1]), "boxes", s->boxes, "box_size", s->box_size,
                     "programs", runs, "convergence", convergence_json(&r->convergence));
}
