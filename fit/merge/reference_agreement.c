/* Correlation of intensities with those of a reference, each divided by the mean of its shell of
 * resolution. */
#include "fit/merge/reference_agreement.h"

#include "fit/merge/likeness.h"
#include "fit/merge/scaling.h"
#include "fit/merge/usual_intensity.h"

#include <math.h>

db_reference_agreement db_reference_agreement_find(const db_asu_list *list, const double *reference,
                                                   const double *intensity, const double *sigma) {
    const db_shells shells = db_scaling_shells(list);
    double given[DB_MOST_SHELLS], found[DB_MOST_SHELLS];
    db_reference_agreement a = { .count = 0 };
    db_likeness c = { 0 };
    db_usual_intensities(list, &shells, reference, NULL, intensity, given);
    db_usual_intensities(list, &shells, intensity, sigma, reference, found);
    for (uint32_t r = 0; r < list->count; r++) {
        const int b = db_shell_of(&shells, (double)list->d[r]);
        if (isnan(reference[r]) || isnan(intensity[r]) || !(given[b] > 0 && found[b] > 0)) continue;
        const double usual = found[b] * list->epsilon[r], error = sigma[r] / usual;
        db_likeness_add(&c, intensity[r] / usual - 1, error * error,
                        reference[r] / (given[b] * list->epsilon[r]) - 1, 0);
        a.count++;
    }
    a.correlation = db_likeness_value(&c, &a.error);
    return a;
}

int db_reference_is_doubtful(const db_reference_agreement *a) {
    const double certain = 2.5, least = 0.5;
    return a->count > 0 && a->correlation + certain * a->error < least;
}
