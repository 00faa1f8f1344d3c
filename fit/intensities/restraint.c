/* Restraints of intensities. */
#include "fit/intensities/restraint.h"

#include "base/context_internal.h"
#include "fit/merge/known_amplitudes.h"
#include "fit/merge/scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Adds a file's intensities, with any equivalent indices, to sums and counts. */
static void add_intensities(const db_asu_list *list, const db_structure_factors *factors,
                            double *sum, unsigned *count) {
    const double *F = factors->amplitude;
    int at[3];
    for (at[0] = 0; at[0] < factors->extent[0]; at[0]++)
        for (at[1] = 0; at[1] < factors->extent[1]; at[1]++)
            for (at[2] = 0; at[2] < factors->extent[2]; at[2]++, F++) {
                const int hkl[3] = { at[0] + factors->min[0], at[1] + factors->min[1],
                                     at[2] + factors->min[2] };
                const uint32_t h = *F > 0 ? db_asu_number(list, hkl) : DB_NO_REFLECTION;
                if (h == DB_NO_REFLECTION) continue;
                sum[h] += *F * *F;
                count[h]++;
            }
}

db_status db_intensity_reference_make(db_context *context, const db_asu_list *list,
                                      const db_structure_factors *factors, double **intensity) {
    size_t known = 0;
    *intensity = NULL;
    if (*list->group->name == 'R' && list->group->centring_count > 1) /* in hexagonal axes */
        DB_TRY(
            db_refuse_reverse_list(context, "intensities.reference", factors, list->group->name));
    double *const value = calloc(list->count + 1, sizeof *value);
    unsigned *const count = calloc(list->count + 1, sizeof *count);
    if (value && count && factors->amplitude) add_intensities(list, factors, value, count);
    for (size_t h = 0; h < list->count && value && count; h++) {
        value[h] = count[h] ? value[h] / count[h] : (double)NAN;
        known += count[h] > 0 ? 1 : 0;
    }
    for (size_t h = 0; h < list->count && value && count; h++) /* a mate is better than nothing */
        if (!count[h] && count[list->mate[h]]) value[h] = value[list->mate[h]];
    const int made = value && count;
    free(count);
    if (known) {
        *intensity = value;
        return DB_OK;
    }
    free(value);
    return made ? db_fail(context, DB_ERROR_INPUT,
                          "intensities.reference: it has none of the %zu reflections to %g A; "
                          "expected amplitudes of this crystal",
                          list->count, list->d_min)
                : db_fail_memory(context, "the reference of the intensities");
}

db_status db_intensity_restraint_make(db_context *context, const db_fit_joint *settings,
                                      size_t reflections, const double *reference,
                                      db_intensity_restraint *r) {
    /* without a restraint it is only compared */
    r->reference = isnan(settings->reference_restraint) ? NULL : reference;
    r->scale = (db_reference_scale){ .k = 1 };
    if (isnan(settings->restraint) && !r->reference) return DB_OK;
    r->strength = calloc(reflections + 1, sizeof *r->strength);
    r->centre = calloc(reflections + 1, sizeof *r->centre);
    r->pull = calloc(reflections + 1, sizeof *r->pull);
    return db_need_memory(context, r->strength && r->centre && r->pull,
                          "the restraint of the intensities");
}

void db_intensity_restraint_clear(db_intensity_restraint *r) {
    free(r->strength);
    free(r->centre);
    free(r->pull);
    *r = (db_intensity_restraint){ .strength = NULL };
}

static int is_held_to_reference(const db_intensity_restraint *r, size_t h) {
    return r->reference && !isnan(r->reference[h]);
}

void db_intensity_restraint_begin(const db_asu_list *list, const db_fit_joint *settings,
                                  const db_merged *merged, db_intensity_restraint *r) {
    const db_shells shells = db_intensity_shells(list);
    double mean[2][DB_MOST_SHELLS]; /* of the data, of the reference */
    if (!r->strength) return;
    db_shell_means(list, &shells, merged->intensity, mean[0]);
    if (r->reference) {
        db_shell_means(list, &shells, r->reference, mean[1]);
        r->scale = db_reference_scale_find(list, r->reference, merged->intensity, merged->sigma);
    }
    for (size_t h = 0; h < list->count; h++) {
        const double d = (double)list->d[h];
        const int held = is_held_to_reference(r, h), shell = db_shell_of(&shells, d);
        const double factor = held ? db_reference_factor(&r->scale, d) : 1,
                     usual = mean[held][shell] * factor * list->epsilon[h],
                     width = usual * (held ? settings->reference_restraint : settings->restraint);
        r->centre[h] = held ? r->reference[h] * factor : width > 0 ? usual : 0;
        r->strength[h] = width > 0 ? 1 / (width * width) : 0; /* NAN: not restrained */
    }
    db_intensity_restraint_follow(list, merged->intensity, NULL, r);
}

/* Slopes of the restraint by the logarithm of a common factor on all intensities, and by a common B; their changes
 * with log k and B of the reference. */
typedef struct scale_sums {
    double slope[2], by_k[2], by_b[2];
} scale_sums;

static scale_sums sum_scale(const db_asu_list *list, const double *intensity,
                            const double *curvature, const db_intensity_restraint *r) {
    scale_sums n = { { 0 }, { 0 }, { 0 } };
    for (size_t h = 0; h < list->count; h++) {
        if (!is_held_to_reference(r, h) || !(curvature[h] > 0)) continue;
        const double d = (double)list->d[h], fall = 1 / (2 * d * d), I = intensity[h],
                     strength = r->strength[h] * I,
                     centre = r->reference[h] * db_reference_factor(&r->scale, d);
        n.slope[0] += strength * (I - centre);
        n.slope[1] += strength * (I - centre) * fall;
        n.by_k[0] -= strength * centre;
        n.by_k[1] -= strength * centre * fall;
        n.by_b[0] += strength * centre * fall;
        n.by_b[1] += strength * centre * fall * fall;
    }
    return n;
}

/* Sets the reference's scale so that it does not pull along a common factor and B of all intensities. A
 * least-squares scale would let intensities shrink without end: their noise makes it too small, they are pulled to
 * it, and the next scale is smaller. */
static void follow_scale(const db_asu_list *list, const double *intensity, const double *curvature,
                         db_intensity_restraint *r) {
    const db_reference_scale before = r->scale;
    const double farthest = 2, /* of log k */ farthest_b = 50;
    for (int step = 0; step < 10; step++) {
        const scale_sums n = sum_scale(list, intensity, curvature, r);
        const double determinant = n.by_k[0] * n.by_b[1] - n.by_k[1] * n.by_b[0];
        if (!(n.by_k[0] < 0)) break;
        double log_k = -n.slope[0] / n.by_k[0], b = 0;
        if (determinant < -1e-9 * n.by_k[0] * n.by_k[0]) { /* there are different resolutions */
            log_k = (n.by_b[0] * n.slope[1] - n.by_b[1] * n.slope[0]) / determinant;
            b = (n.by_k[1] * n.slope[0] - n.by_k[0] * n.slope[1]) / determinant;
        }
        r->scale.k *= exp(fmax(-1, fmin(1, log_k)));
        r->scale.b += fmax(-20, fmin(20, b));
    }
    if (!(fabs(log(r->scale.k / before.k)) < farthest) ||
        !(fabs(r->scale.b - before.b) < farthest_b))
        r->scale = before;
}

void db_intensity_restraint_follow(const db_asu_list *list, const double *intensity,
                                   const double *curvature, db_intensity_restraint *r) {
    if (!r->strength) return;
    if (r->reference && curvature) follow_scale(list, intensity, curvature, r);
    for (size_t h = 0; h < list->count; h++)
        if (is_held_to_reference(r, h))
            r->centre[h] = r->reference[h] * db_reference_factor(&r->scale, (double)list->d[h]);
    for (size_t h = 0; h < list->count; h++) {
        const double off = (isnan(intensity[h]) ? 0 : intensity[h]) - r->centre[h];
        r->pull[h] = r->strength[h] * off;
    }
}

void db_intensity_restraint_scale(db_intensity_restraint *r, size_t reflections, double factor) {
    r->scale.k *= factor;
    for (size_t h = 0; h < reflections && r->strength; h++) {
        r->centre[h] *= factor;
        r->strength[h] /= factor * factor;
        r->pull[h] /= factor;
    }
}

static double loss_of(const db_intensity_restraint *r, const double *intensity, size_t h) {
    const double off = intensity[h] - r->centre[h];
    return r->strength[h] * off * off;
}

double db_intensity_restraint_drop(const db_intensity_restraint *r, const double *intensity,
                                   const double *curvature, size_t reflections) {
    double sum = 0;
    for (size_t h = 0; h < reflections && r->strength; h++) {
        if (curvature[h] > 0 || !(r->strength[h] > 0)) continue;
        sum += loss_of(r, intensity, h);
        r->strength[h] = 0;
    }
    return sum;
}

double db_intensity_restraint_loss(const db_intensity_restraint *r, const double *intensity,
                                   size_t reflections) {
    double sum = 0;
    for (size_t h = 0; h < reflections && r->strength; h++)
        if (r->strength[h] > 0) sum += loss_of(r, intensity, h);
    return sum;
}

void db_intensity_restraint_add(const db_intensity_restraint *r, size_t reflections,
                                double *diagonal, double *right) {
    for (size_t h = 0; h < reflections && r->strength; h++) {
        if (!(diagonal[h] > 0)) continue; /* restraints alone do not determine an intensity */
        diagonal[h] += r->strength[h];
        right[h] -= r->pull[h];
    }
}
