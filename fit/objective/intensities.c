/* Intensities of reflections from their shoeboxes (docs/theory/refinement.md, Intensities). */
#include "fit/objective/intensities.h"

#include <math.h>
#include <string.h>

/* What a box misses more than noise is taken for noise of its own. */
int db_intensity_of(const db_box_measured *m, const db_reflection *r, const db_region *region,
                    db_fit_reflection *spot) {
    if (!m->has_light) return 0;
    db_fit_reflection i = { .region = *region,
                            .d_spacing = r->d_spacing,
                            .partiality = r->recorded,
                            .wavelength = r->wavelength[0],
                            .wavelength_width = r->wavelength[1],
                            .F = sqrt(fmax(0, m->solution.linear[0])),
                            .square = m->intensity,
                            .background = m->background / m->pixels,
                            .sum = m->sum,
                            .sum_sigma = sqrt(m->sum_variance),
                            .strong = m->strong,
                            .pixels = m->pixels };
    memcpy(i.hkl, r->hkl, sizeof i.hkl);
    memcpy(i.position, r->position, sizeof i.position);
    memcpy(i.observed, m->observed, sizeof i.observed);
    memcpy(i.observed_variance, m->observed_variance, sizeof i.observed_variance);
    const double degrees = fmax(1, i.pixels - DB_LINEAR);
    i.square_sigma = sqrt(m->variance * fmax(1, m->chi2 / degrees));
    i.counts = i.square * m->shape;
    i.counts_sigma = i.square_sigma * m->shape;
    *spot = i;
    return 1;
}

void db_intensities_share(db_fit_reflection *list, size_t count) {
    for (size_t i = 0, end; i < count; i = end) {
        double sum = 0, weights = 0;
        for (end = i; end < count && db_compare_hkl(list[i].hkl, list[end].hkl) == 0; end++) {
            const double weight = 1 / (list[end].square_sigma * list[end].square_sigma);
            sum += weight * list[end].F * list[end].F;
            weights += weight;
        }
        for (size_t k = i; k < end && end > i + 1; k++) list[k].F = sqrt(sum / weights);
    }
}
