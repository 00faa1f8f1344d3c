/* Table of structure factors for the kernels: squares on the box, or for interpolation the structure
 * factors themselves on the box with a margin. */
#include "engine/plan_table.h"

#include "base/context_internal.h"
#include "base/threads.h"
#include "kernel/job.h"
#include "model/amplitude_box.h"
#include "model/site_kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t margin_entries(const db_structure_factors *f) {
    if (!f->amplitude || !f->interpolate) return 0;
    size_t count = 1;
    for (int j = 0; j < 3; j++) count *= (size_t)f->extent[j] + 2 * DB_TABLE_MARGIN;
    return count;
}

size_t db_table_entries(const db_structure_factors *f) {
    return f->amplitude ? (size_t)f->extent[0] * (size_t)f->extent[1] * (size_t)f->extent[2] : 0;
}

double db_largest_intensity(const db_structure_factors *f) {
    double largest = f->default_F * f->default_F;
    const size_t count = db_table_entries(f), each = db_site_part(db_site_count(f));
    for (size_t i = 0; f->sites && i < count; i++)
        largest = fmax(largest, db_site_largest_square(f->sites, f->sites->part + i * each));
    for (size_t i = 0; i < count; i++) largest = fmax(largest, f->amplitude[i] * f->amplitude[i]);
    return largest;
}

db_status db_plan_table_create(db_context *context, const db_structure_factors *f,
                               db_precision precision, db_plan_table *table) {
    void *made;
    table->count = db_table_entries(f);
    table->margin_count = margin_entries(f);
    if (f->sites && !table->site_part) {
        const size_t each = db_site_part(f->sites->count);
        table->site_part = malloc((table->count + 1) * each * sizeof *table->site_part);
        if (!table->site_part) return db_fail_memory(context, "the structure factors of a plan");
    }
    if (table->margin_count) {
        if (!table->amplitude) table->amplitude = malloc(table->margin_count * sizeof(double));
        made = table->amplitude;
    } else if (precision == DB_PRECISION_MIXED) {
        if (!table->intensity_float)
            table->intensity_float = malloc((table->count + 1) * sizeof(float));
        made = table->intensity_float;
    } else {
        if (!table->intensity_double)
            table->intensity_double = malloc((table->count + 1) * sizeof(double));
        made = table->intensity_double;
    }
    return made ? DB_OK : db_fail_memory(context, "the structure factors of a plan");
}

void db_plan_table_clear(db_plan_table *table) {
    free(table->intensity_double);
    free(table->intensity_float);
    free(table->site_part);
    free(table->amplitude);
}

static void fill_squares(const db_structure_factors *f, db_plan_table *table) {
    for (size_t i = 0; i <= table->count; i++) {
        const double amplitude = i < table->count ? f->amplitude[i] : f->default_F;
        if (table->intensity_double) table->intensity_double[i] = amplitude * amplitude;
        if (table->intensity_float) table->intensity_float[i] = (float)(amplitude * amplitude);
    }
}

static void fill_sites(const db_structure_factors *f, db_plan_table *table) {
    const size_t each = db_site_part(f->sites->count), all = table->count * each;
    memcpy(table->site_part, f->sites->part, all * sizeof *table->site_part);
    for (size_t i = 0; i < each; i++) table->site_part[all + i] = i == 0 ? f->default_F : 0;
}

/* Structure factor at a place of the box with margin: from the list, or default_F in the margin. */
static double with_margin(const db_structure_factors *f, const int place[3]) {
    int node[3];
    size_t entry;
    for (int j = 0; j < 3; j++) node[j] = f->min[j] + place[j] - DB_TABLE_MARGIN;
    return db_amplitude_entry(f, node, &entry) ? f->amplitude[entry] : f->default_F;
}

static void fill_amplitudes(const db_structure_factors *f, db_plan_table *table) {
    int place[3], extent[3];
    size_t i = 0;
    for (int j = 0; j < 3; j++) extent[j] = f->extent[j] + 2 * DB_TABLE_MARGIN;
    for (place[0] = 0; place[0] < extent[0]; place[0]++)
        for (place[1] = 0; place[1] < extent[1]; place[1]++)
            for (place[2] = 0; place[2] < extent[2]; place[2]++, i++) {
                table->amplitude[i] = with_margin(f, place);
            }
}

int db_tables_differ(const db_context *context, const double *a, const double *b, size_t count) {
    const size_t piece = 1 << 15, pieces = (count + piece - 1) / piece;
    const int threads = db_threads_for(context, (long)pieces);
    int differ = 0;
    (void)threads;
#pragma omp parallel for num_threads(threads) reduction(| : differ) if (threads > 1 && pieces > 2)
    for (size_t i = 0; i < pieces; i++) {
        const size_t first = i * piece, left = count - first;
        differ |= memcmp(a + first, b + first, (left < piece ? left : piece) * sizeof *a) != 0;
    }
    return differ;
}

void db_plan_table_fill(const db_structure_factors *f, double tolerance, db_plan_table *table) {
    table->version++;
    if (f->sites) fill_sites(f, table);
    if (tolerance > 0) table->largest_intensity = db_largest_intensity(f);
    if (table->margin_count)
        fill_amplitudes(f, table);
    else
        fill_squares(f, table);
}
