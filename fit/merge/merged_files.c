/* Writes merged and unmerged intensities. */
#include "fit/merge/merged_files.h"

#include "base/context_internal.h"
#include "base/text_stream.h"
#include "fit/merge/french_wilson.h"

#include <dualbragg/version.h>
#include <dualbragg/expert/reflection_tables.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* One value of a reflection, with its error. */
typedef struct value {
    double at, sigma;
} value;

static value value_of(const double *at, const double *sigma, uint32_t r) {
    return (value){ at[r], sigma[r] };
}

static const value nothing = { NAN, NAN };

/* Weighted mean of two mates, or the value of the only one. */
static value mean_of(value a, value b) {
    if (isnan(a.at)) return b;
    if (isnan(b.at)) return a;
    const double u = 1 / (a.sigma * a.sigma), v = 1 / (b.sigma * b.sigma);
    return (value){ (u * a.at + v * b.at) / (u + v), 1 / sqrt(u + v) };
}

/* ---- merged */

enum {
    IMEAN,
    I_PLUS,
    I_MINUS,
    F,
    F_PLUS,
    F_MINUS,
    HALF_1,
    HALF_2,
    HALF_1_PLUS,
    HALF_1_MINUS,
    HALF_2_PLUS,
    HALF_2_MINUS,
    VALUES, /* each followed by its sigma */
    N = 2 * VALUES,
    N_PLUS,
    N_MINUS,
    COLUMNS
};

/* Columns of values in this order: values have even numbers, their sigmas follow. */
#define WITH_SIGMA(name, type, sigma_type, mate)                                                   \
    { name, type, 2 * (mate) }, { "SIG" name, sigma_type, 2 * (mate) + 1 }
#define ALONE(name, type)                                                                          \
    { name, type, -1 }, { "SIG" name, 'Q', -1 }
static const db_mtz_column merged_columns[COLUMNS] = {
    ALONE("IMEAN", 'J'),
    WITH_SIGMA("I(+)", 'K', 'M', I_MINUS),
    WITH_SIGMA("I(-)", 'K', 'M', I_PLUS),
    ALONE("F", 'F'),
    WITH_SIGMA("F(+)", 'G', 'L', F_MINUS),
    WITH_SIGMA("F(-)", 'G', 'L', F_PLUS),
    ALONE("IHALF1", 'J'),
    ALONE("IHALF2", 'J'),
    WITH_SIGMA("IHALF1(+)", 'K', 'M', HALF_1_MINUS),
    WITH_SIGMA("IHALF1(-)", 'K', 'M', HALF_1_PLUS),
    WITH_SIGMA("IHALF2(+)", 'K', 'M', HALF_2_MINUS),
    WITH_SIGMA("IHALF2(-)", 'K', 'M', HALF_2_PLUS),
    { "N", 'I', -1 },
    { "N(+)", 'I', N_MINUS },
    { "N(-)", 'I', N_PLUS },
};

static void put_value(float row[COLUMNS], int column, value v) {
    row[2 * column] = (float)v.at;
    row[2 * column + 1] = (float)v.sigma;
}

/* Puts values of both mates: their mean, and each. */
static value put_pair(float row[COLUMNS], int mean, int plus, const double *at, const double *sigma,
                      const db_asu_list *list, uint32_t r) {
    const uint32_t mate = list->mate[r];
    const value first = value_of(at, sigma, r),
                second = mate == r ? nothing : value_of(at, sigma, mate),
                both = mean_of(first, second);
    put_value(row, mean, both);
    if (list->anomalous) {
        put_value(row, plus, first);
        put_value(row, plus + 1, second);
    }
    return both;
}

/* F of a mean, with the expected intensity at its resolution. */
static value amplitude_of(const db_asu_list *list, const db_wilson_mean *mean, uint32_t r,
                          value I) {
    value amplitude = nothing;
    const double expected = list->epsilon[r] * db_wilson_mean_at(mean, (double)list->d[r]);
    if (!isnan(I.at) && I.sigma > 0)
        db_french_wilson(I.at, I.sigma, expected, list->centric[r], &amplitude.at,
                         &amplitude.sigma);
    return amplitude;
}

/* The merged file in memory. */
typedef struct merged_rows {
    size_t count;
    int (*hkl)[3];
    float *values;
    double *amplitude, *amplitude_sigma; /* [list->count] */
    db_wilson_mean mean;
} merged_rows;

static void fill_row(const db_asu_list *list, const db_merged *m, uint32_t r, merged_rows *rows) {
    float *const row = rows->values + rows->count * COLUMNS;
    const uint32_t mate = list->mate[r];
    for (int c = 0; c < COLUMNS; c++) row[c] = NAN;
    for (int i = 0; i < 3; i++) rows->hkl[rows->count][i] = list->hkl[r][i];
    const value both = put_pair(row, IMEAN, I_PLUS, m->intensity, m->sigma, list, r);
    put_pair(row, F, F_PLUS, rows->amplitude, rows->amplitude_sigma, list, r);
    put_value(row, F, amplitude_of(list, &rows->mean, r, both));
    put_pair(row, HALF_1, HALF_1_PLUS, m->half[0], m->half_sigma[0], list, r);
    put_pair(row, HALF_2, HALF_2_PLUS, m->half[1], m->half_sigma[1], list, r);
    row[N] = (float)(m->multiplicity[r] + (mate == r ? 0 : m->multiplicity[mate]));
    if (list->anomalous) {
        row[N_PLUS] = (float)m->multiplicity[r];
        if (mate != r) row[N_MINUS] = (float)m->multiplicity[mate];
    }
    rows->count++;
}

static void find_amplitudes(const db_asu_list *list, const db_merged *merged, merged_rows *rows) {
    const db_shells shell = { db_shells_for(list->count, 200), 1.001 * db_asu_coarsest(list),
                              list->d_min };
    db_wilson_mean_make(list, merged->intensity, merged->sigma, &shell, &rows->mean);
    db_amplitudes_of(list, &rows->mean, merged->intensity, merged->sigma, rows->amplitude,
                     rows->amplitude_sigma);
}

static void clear_rows(merged_rows *rows) {
    free(rows->hkl);
    free(rows->values);
    free(rows->amplitude);
    free(rows->amplitude_sigma);
}

static db_status make_rows(db_context *context, const db_asu_list *list, merged_rows *rows) {
    const size_t n = list->count + 1;
    rows->hkl = malloc(n * sizeof *rows->hkl);
    rows->values = malloc(n * COLUMNS * sizeof *rows->values);
    rows->amplitude = malloc(n * sizeof *rows->amplitude);
    rows->amplitude_sigma = malloc(n * sizeof *rows->amplitude_sigma);
    if (rows->hkl && rows->values && rows->amplitude && rows->amplitude_sigma) return DB_OK;
    clear_rows(rows);
    return db_fail_memory(context, "the merged intensities");
}

/* Columns of the file: mates are separate only if they were kept separate. */
static size_t columns_of(const db_asu_list *list, db_mtz_column columns[COLUMNS],
                         int from[COLUMNS]) {
    int place[COLUMNS] = { 0 };
    size_t count = 0;
    for (int c = 0; c < COLUMNS; c++) {
        if (merged_columns[c].mate >= 0 && !list->anomalous) continue;
        place[c] = (int)count;
        from[count] = c;
        columns[count++] = merged_columns[c];
    }
    for (size_t c = 0; c < count; c++)
        if (columns[c].mate >= 0) columns[c].mate = place[columns[c].mate];
    return count;
}

/* Packs rows to `count` columns. */
static void pack_columns(merged_rows *rows, const int *from, size_t count) {
    for (size_t r = 0; r < rows->count; r++)
        for (size_t c = 0; c < count; c++)
            rows->values[r * count + c] = rows->values[r * COLUMNS + (size_t)from[c]];
}

static db_mtz_content content_of(const db_asu_list *list, double wavelength, const char *title) {
    db_mtz_content content = { .title = title,
                               .group = list->group->name,
                               .wavelength = wavelength };
    for (int i = 0; i < 6; i++) content.cell[i] = list->cell[i];
    return content;
}

db_status db_merged_write_mtz(db_context *context, const char *path, const db_asu_list *list,
                              const db_merged *merged, double wavelength) {
    db_mtz_column columns[COLUMNS];
    int from[COLUMNS];
    merged_rows rows = { 0 };
    DB_TRY(make_rows(context, list, &rows));
    find_amplitudes(list, merged, &rows);
    for (uint32_t r = 0; r < list->count; r++) {
        const uint32_t mate = list->mate[r];
        if (mate < r || (isnan(merged->intensity[r]) && isnan(merged->intensity[mate]))) continue;
        fill_row(list, merged, r, &rows);
    }
    db_mtz_content content = content_of(list, wavelength, "merged intensities of many shots");
    content.columns = columns;
    content.column_count = columns_of(list, columns, from);
    pack_columns(&rows, from, content.column_count);
    content.rows = rows.count;
    content.hkl = (const int(*)[3])rows.hkl;
    content.values = rows.values;
    const db_status status = db_mtz_write(context, path, &content);
    clear_rows(&rows);
    return status;
}

db_status db_merged_write_hkl(db_context *context, const char *path, const db_asu_list *list,
                              const db_merged *merged, const char *remark) {
    db_text_stream text;
    merged_rows rows = { 0 };
    DB_TRY(make_rows(context, list, &rows));
    const db_status opened = db_text_stream_open(context, &text);
    if (opened != DB_OK) {
        clear_rows(&rows);
        return opened;
    }
    find_amplitudes(list, merged, &rows);
    fprintf(
        text.stream,
        "# dualbragg %s: merged intensities, space group %s, Bijvoet mates %s\n"
        "# h k l F sigma(F) I sigma(I) multiplicity I(first half of the shots) I(second half)\n",
        db_version(), list->group->name, list->anomalous ? "apart" : "together");
    fputs(remark, text.stream);
    for (uint32_t r = 0; r < list->count; r++) {
        const int *const hkl = list->hkl[r];
        if (isnan(merged->intensity[r])) continue;
        fprintf(text.stream, "%d %d %d %.7g %.4g %.7g %.4g %u %.7g %.7g\n", hkl[0], hkl[1], hkl[2],
                rows.amplitude[r], rows.amplitude_sigma[r], merged->intensity[r], merged->sigma[r],
                (unsigned)merged->multiplicity[r], merged->half[0][r], merged->half[1][r]);
    }
    clear_rows(&rows);
    return db_text_stream_write(context, &text, DB_OK, path);
}

/* ---- unmerged */

enum { I_OBSERVED, SIGMA_OBSERVED, FRACTION, SCALE, FLAG, UNMERGED };
static const db_mtz_column unmerged_columns[UNMERGED] = {
    { "I", 'J', -1 },         { "SIGI", 'Q', -1 }, { "FRACTIONCALC", 'R', -1 },
    { "SCALEUSED", 'R', -1 }, { "FLAG", 'I', -1 },
};

/* The measurements of shots in use, as rows of columns. */
typedef struct measurements {
    size_t count;
    int (*hkl)[3];
    float *values;
    uint32_t *batch;
} measurements;

static void take_shot(const db_asu_list *list, const db_observations *o, const db_scaling *scaling,
                      size_t s, measurements *m) {
    for (size_t i = o->first[s]; i < o->first[s + 1]; i++) {
        const db_observation *const from = &o->list[i];
        if (from->reflection == DB_NO_REFLECTION) continue;
        const double d = (double)list->d[from->reflection],
                     scale = exp(scaling->shot[s].b / (2 * d * d)) / scaling->shot[s].scale;
        float *const row = m->values + m->count * UNMERGED;
        row[I_OBSERVED] = (float)(scale * (double)from->intensity);
        row[SIGMA_OBSERVED] = (float)(scale * (double)from->sigma);
        row[FRACTION] = from->partiality;
        row[SCALE] = (float)scale;
        row[FLAG] = (from->flags & DB_OBSERVATION_REJECTED) ? 1.0F : 0.0F;
        for (int k = 0; k < 3; k++) m->hkl[m->count][k] = from->hkl[k];
        m->batch[m->count++] = (uint32_t)s + 1;
    }
}

db_status db_unmerged_write_mtz(db_context *context, const char *path, const db_asu_list *list,
                                const db_observations *observations, const db_scaling *scaling,
                                double wavelength) {
    const size_t room = observations->first[observations->shots] + 1;
    measurements m = { .hkl = malloc(room * sizeof *m.hkl),
                       .values = malloc(room * UNMERGED * sizeof *m.values),
                       .batch = malloc(room * sizeof *m.batch) };
    db_status status =
        db_need_memory(context, m.hkl && m.values && m.batch, "the intensities of the shots");
    for (size_t s = 0; s < observations->shots && status == DB_OK; s++)
        if (scaling->shot[s].excluded == DB_NOT_EXCLUDED)
            take_shot(list, observations, scaling, s, &m);
    if (status == DB_OK) {
        db_mtz_content content = content_of(list, wavelength, "intensities of many shots");
        content.columns = unmerged_columns;
        content.column_count = UNMERGED;
        content.rows = m.count;
        content.hkl = (const int(*)[3])m.hkl;
        content.values = m.values;
        content.batch = m.batch;
        content.batches = (uint32_t)observations->shots;
        status = db_mtz_write(context, path, &content);
    }
    free(m.hkl);
    free(m.values);
    free(m.batch);
    return status;
}
