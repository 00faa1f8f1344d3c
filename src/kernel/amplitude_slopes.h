/* Derivatives of a pixel by the structure factors: with a cotangent, each sample's part of the sums by entries of
 * the table; without one, the image along a direction in the table. A sample adds u F_latt^2 F_c^2 to the pixel. A
 * nearest entry gets the derivative by its square, so that F_c = 0 is no special case; interpolated entries get it
 * by F_c. */
#ifndef DB_KERNEL_AMPLITUDE_SLOPES_H
#define DB_KERNEL_AMPLITUDE_SLOPES_H

#include "kernel/amplitude.h"
#include "kernel/amplitude_sums.h"
#include "kernel/pixel_sums.h"

#if defined(DB_INSTANCE_AMPLITUDES)
/* Adds to entries; neighbouring lanes often have the same entry, and are added together. */
AD_INLINE void add_by_entry(db_amplitude_sums *to, const double entry[LANES], size_t behind,
                            fine value) {
    SHAPE_REAL lane[LANES];
    f_store(lane, value);
    for (int i = 0; i < LANES;) {
        const double at = entry[i];
        double sum = (double)lane[i++];
        for (; i < LANES && entry[i] == at; i++) sum += (double)lane[i];
        if (sum != 0) db_amplitude_sums_add(to, (uint32_t)at + (uint32_t)behind, sum);
    }
}

/* Selects 0 where the cotangent is 0, since the pixel may be infinite or NaN there. */
AD_INLINE fine by_cotangent(const pixel_sums *sums, fine value) {
    return f_select(f_eq(sums->cotangent, f_set(0)), f_set(0), f_mul(sums->cotangent, value));
}

/* Adds a sample to its nearest entry; listed 0: default_F for all. weight: u F_latt^2. */
AD_INLINE void add_nearest(const db_kernel_job *job, int listed, const wide node[3], fine weight,
                           const pixel_sums *sums) {
    double entry[LANES] = { 0 };
    if (listed) w_store(entry, table_index(job, node));
    add_by_entry(sums->amplitudes, entry, 0, by_cotangent(sums, weight));
}

/* Adds a sample of an interpolated structure factor. Returns its part of the image along the direction, in units
 * of the weight: 2 F_c times F_c of the direction. */
AD_INLINE fine add_interpolated(const db_kernel_job *job, const wide h[3], fine weight,
                                const pixel_sums *sums) {
    amplitude_window w;
    window_of(job, h, &w);
    const wide f = window_amplitude(job, job->amplitude_table, &w, NULL), twice = w_add(f, f);
    if (!sums->amplitudes)
        return narrow(w_mul(twice, window_amplitude(job, job->amplitude_direction, &w, NULL)));
    const size_t along_l = (size_t)job->margin_extent[2],
                 along_k = (size_t)job->margin_extent[1] * along_l;
    const fine each = by_cotangent(sums, f_mul(weight, narrow(twice)));
    for (size_t n = 0; n < 64; n++) {
        const size_t a = n / 16, b = n / 4 % 4, c = n % 4;
        const wide product = w_mul(w_mul(w.weight[0][a].v, w.weight[1][b].v), w.weight[2][c].v);
        add_by_entry(sums->amplitudes, w.index, a * along_k + b * along_l + c,
                     f_mul(each, narrow(product)));
    }
    return f_set(0);
}
#endif

#endif
