/* Outputs of joint intensities: reflection files, tables. */
#include "fit/intensities/outputs.h"

#include "base/context_internal.h"
#include "fit/merge/merged_files.h"
#include "fit/intensities/joint_intensities.h"
#include "fit/verdict/verdict_of_light.h"

#include <dualbragg/expert/fit_files.h>
#include <math.h>
#include <stdio.h>

const db_joint_intensities *db_intensities_of(const db_fit_shots_result *result) {
    return result->intensities ? result->intensities : result->merged;
}

static db_status check(db_context *context, const char *path, const db_fit_shots_result *result) {
    return db_intensities_of(result)
               ? DB_OK
               : db_fail(context, DB_ERROR_USAGE,
                         "%s: no intensities are shared by all shots; expected intensity: joint, "
                         "or a rotation series with free ones",
                         path);
}

db_status db_fit_shots_write_mtz(db_context *context, const char *path,
                                 const db_fit_shots_result *result) {
    DB_TRY(check(context, path, result));
    const db_joint_intensities *const a = db_intensities_of(result);
    return db_merged_write_mtz(context, path, &a->list, &a->merged, a->wavelength);
}

db_status db_fit_shots_write_hkl(db_context *context, const char *path,
                                 const db_fit_shots_result *result) {
    DB_TRY(check(context, path, result));
    const db_joint_intensities *const a = db_intensities_of(result);
    return db_merged_write_hkl(context, path, &a->list, &a->merged,
                               result->intensities_usable ? "" : DB_INTENSITIES_UNUSABLE);
}

/* After passes over pixels the measurements are on the common scale, because models contain the scales; before,
 * they are not. */
db_status db_fit_shots_write_unmerged(db_context *context, const char *path,
                                      const db_fit_shots_result *result) {
    db_scaling scaling;
    DB_TRY(check(context, path, result));
    const db_joint_intensities *const a = db_intensities_of(result);
    DB_TRY(db_scaling_make(context, result->shot_count, &scaling));
    for (size_t s = 0; s < result->shot_count; s++) {
        if (a->passes == 0) scaling.shot[s] = a->scaling.shot[s];
        if (!result->shot[s].used) scaling.shot[s].excluded = DB_EXCLUDED_BEFORE;
    }
    const db_status status =
        db_unmerged_write_mtz(context, path, &a->list, &a->observations, &scaling, a->wavelength);
    db_scaling_clear(&scaling);
    return status;
}

void db_intensity_statistics(const db_fit_shots_result *result, db_merge_statistics *statistics) {
    const db_joint_intensities *const a = db_intensities_of(result);
    const db_shells shells = db_statistics_shells(&a->list, &a->merged);
    db_merge_statistics_make(&a->list, &a->merged, &shells, a->reference, statistics);
}

const db_indexing *db_intensity_indexing(const db_fit_shots_result *result, size_t shot,
                                         double *probability) {
    const db_joint_intensities *const a = db_intensities_of(result);
    if (!a || shot >= a->indexing.shots || isnan(a->indexing.probability[shot])) return NULL;
    *probability = a->indexing.probability[shot];
    return &a->indexing.ways.way[a->indexing.way[shot]];
}

static size_t other_hands(const db_scaling *scaling) {
    size_t count = 0;
    for (size_t s = 0; s < scaling->shots; s++)
        count += scaling->shot[s].excluded == DB_EXCLUDED_OTHER_HAND;
    return count;
}

void db_intensity_indexing_line(const db_fit_shots_result *result, char line[DB_INDEXING_LINE]) {
    const db_indexing_result *const r = &db_intensities_of(result)->indexing;
    char text[DB_INDEXING_TEXT];
    size_t at = 0;
    line[0] = '\0';
    if (r->end != DB_INDEXING_UNIQUE) {
        at += (size_t)snprintf(line, DB_INDEXING_LINE, "%d ways to index the lattice (",
                               r->ways.count);
        for (int w = 0; w < r->ways.count && at < DB_INDEXING_LINE / 2; w++)
            at += (size_t)snprintf(line + at, DB_INDEXING_LINE - at, "%s%s", w ? "; " : "",
                                   db_indexing_text(&r->ways.way[w], text));
        at += (size_t)snprintf(line + at, DB_INDEXING_LINE - at, "): ");
        if (r->end == DB_INDEXING_ALIKE)
            at +=
                (size_t)snprintf(line + at, DB_INDEXING_LINE - at,
                                 "the intensities do not distinguish them; no shot was reindexed");
        else
            at += (size_t)snprintf(line + at, DB_INDEXING_LINE - at,
                                   "%zu of %zu shots were reindexed, %zu are undecided", r->changed,
                                   r->shots, r->undecided);
    }
    const size_t other = other_hands(&db_intensities_of(result)->scaling);
    if (other)
        (void)snprintf(line + at, DB_INDEXING_LINE - at, "%s%zu of the other hand", at ? ", " : "",
                       other);
}

int db_intensity_crystals_line(const db_fit_shots_result *result, char line[DB_KINDS_LINE]) {
    const db_crystal_kinds *const kinds = &db_intensities_of(result)->kinds;
    db_crystal_kinds_line(kinds, line);
    return kinds->clear || kinds->count < 2;
}

void db_intensity_reference_line(const db_fit_shots_result *result, char line[DB_REFERENCE_LINE]) {
    const db_reference_agreement *const a = &db_intensities_of(result)->agreement;
    line[0] = '\0';
    if (db_reference_is_doubtful(a))
        (void)snprintf(
            line, DB_REFERENCE_LINE,
            "intensities.reference: its intensities correlate by %.2f (error %.2f) with the "
            "intensities of single shots, expected about 1: the reference has another crystal, "
            "hand or indexing, or the intensities of shots are too inexact",
            a->correlation, a->error);
}

#define OF db_merge_shell
static const db_json_field shell_rows[] = {
    VALUE(d_max, "Å", ""),
    VALUE(d_min, "Å", ""),
    VALUE(possible, "", "reflections of the asymmetric unit, Bijvoet mates as one"),
    VALUE(measured, "", "measured reflections of the asymmetric unit"),
    VALUE(completeness, "", "0 to 1"),
    VALUE(multiplicity, "", "measurements for each measured reflection"),
    VALUE(pairs, "", "possible pairs of Bijvoet mates"),
    VALUE(pairs_measured, "", "pairs with both mates measured"),
    VALUE(mean_intensity, "", "mean intensity of reflections, Bijvoet mates separate"),
    VALUE(mean_i_over_sigma, "", ""),
    VALUE(half_pairs, "", "reflections that both halves of the shots show"),
    VALUE(cc_half, "", "correlation of the intensities of the two halves of the shots"),
    VALUE(cc_star, "", "estimated correlation with the true intensities"),
    VALUE(r_split, "", "√2 Σ abs(I₁ − I₂) / Σ(I₁ + I₂)"),
    VALUE(cc_anomalous, "", "correlation of the two halves' Bijvoet differences"),
    VALUE(anomalous_pairs, "", "pairs in cc_anomalous"),
    VALUE(cc_half_weighted, "",
          "cc_half with the weight 1/(1 + variance of both halves/square of the mean intensity at "
          "its resolution) for each reflection"),
    VALUE(cc_anomalous_weighted, "",
          "cc_anomalous, each pair weighted by its variance, as in cc_half_weighted"),
    VALUE(reference_count, "", "measured reflections that are also in the reference"),
    VALUE(cc_reference, "", "correlation of intensities with the reference"),
    VALUE(r_reference, "",
          "Σ abs(I − I₀) / Σ I₀ with the reference I₀, after a scale and a B factor"),
    VALUE(reference_pairs, "", "pairs of Bijvoet mates in both data and reference"),
    VALUE(cc_anomalous_reference, "",
          "correlation of Bijvoet differences with those of the reference"),
};
static TABLE(shell_fields, shell_rows);
#undef OF

/* Intensities and statistics for a document. */
typedef struct intensities_view {
    const char *group;
    double d_min;
    int anomalous, passes;
    char indexing[DB_INDEXING_LINE], crystals[DB_KINDS_LINE];
    double agreement; /* with the reference; NAN: there is none */
    db_merge_statistics statistics;
    const db_smooth_scales *scales;
} intensities_view;

static json_t *shells(db_document *d, const void *of) {
    const intensities_view *const view = of;
    return db_json_list(d, &shell_fields, view->statistics.shell, (size_t)view->statistics.shells,
                        sizeof view->statistics.shell[0]);
}

static json_t *overall(db_document *d, const void *of) {
    return db_json_object(d, &shell_fields, &((const intensities_view *)of)->statistics.overall);
}

/* Scales of a series at a knot. */
typedef struct knot_view {
    double frame, scale, b;
} knot_view;

#define OF knot_view
static const db_json_field knot_rows[] = {
    VALUE(frame, "", "position of the knot: number of frames before it"),
    VALUE(scale, "", "scale of the light at the knot, relative to the first knot"),
    VALUE(b, "Å²", "B factor at the knot, relative to the first knot"),
};
static TABLE(knot_fields, knot_rows);
#undef OF

static json_t *knots(db_document *d, const void *of) {
    const db_smooth_scales *const s = ((const intensities_view *)of)->scales;
    json_t *const array = json_array();
    for (size_t sweep = 0; sweep < s->sweeps; sweep++)
        for (size_t k = s->first[sweep]; k < s->first[sweep + 1]; k++) {
            const knot_view knot = { s->begin[sweep] +
                                         (double)(k - s->first[sweep]) * s->spacing[sweep],
                                     exp(s->log_k[k]), s->b[k] };
            db_document_add(d, array, db_json_object(d, &knot_fields, &knot));
        }
    return array;
}

#define OF intensities_view
static const db_json_field intensity_rows[] = {
    NAMED("space_group", group, "", "Hermann-Mauguin symbol"),
    VALUE(d_min, "Å", "finest resolution in use"),
    FLAG(anomalous, "Bijvoet mates have separate intensities"),
    VALUE(passes, "",
          "passes over all pixels; 0: intensities of single shots, scaled and averaged"),
    VALUE(indexing, "", "result of reindexing; empty: the lattice allows one way of indexing only"),
    VALUE(crystals, "", "other crystal forms among the shots; empty: one form only"),
    NAMED(
        "reference_agreement", agreement, "",
        "correlation of the reference with the intensities of single shots at the start, relative "
        "to the mean at their resolution and corrected for errors; null: no reference"),
    MADE("scales", knots, "list", &knot_fields, "",
         "rotation series: scale of intensities on each frame, linear between these knots; else "
         "empty"),
    MADE("overall", overall, "object", &shell_fields, "",
         "statistics of all reflections to `d_min`"),
    MADE("shells", shells, "list", &shell_fields, "",
         "resolution shells, the lowest resolution first"),
};
TABLE(db_intensity_fields, intensity_rows);
#undef OF

int db_has_intensities(const void *of) { return db_intensities_of(of) != NULL; }

json_t *db_make_intensities(db_document *d, const void *of) {
    const db_fit_shots_result *const result = of;
    const db_joint_intensities *const a = db_intensities_of(result);
    intensities_view view = { .group = a->list.group->name,
                              .d_min = a->list.d_min,
                              .anomalous = a->list.anomalous,
                              .passes = a->passes,
                              .agreement =
                                  a->agreement.count ? a->agreement.correlation : (double)NAN,
                              .scales = &a->smooth };
    db_intensity_indexing_line(result, view.indexing);
    (void)db_intensity_crystals_line(result, view.crystals);
    db_intensity_statistics(result, &view.statistics);
    return db_json_object(d, &db_intensity_fields, &view);
}
