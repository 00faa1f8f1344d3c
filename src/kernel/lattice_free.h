/* Scattering without a lattice (background): water, the same in all directions, and amorphous
 * matter, whose amplitude is a curve of sin(theta)/lambda (docs/theory/pixel.md, Scattering without
 * a lattice). */
#ifndef DB_KERNEL_LATTICE_FREE_H
#define DB_KERNEL_LATTICE_FREE_H

#include "kernel/instance_types.h"

typedef struct {
    fine sum; /* squared amplitudes; add them to those of the crystal's samples */
#if DB_INSTANCE_KIND > 0
    fine per_molecule; /* of amorphous matter */
    fine by_q[3];      /* slope of sum by q */
#endif
} lattice_free;

/* The cubic at each lane's sin(theta)/lambda, and the place within its interval. */
AD_INLINE wide cubic_at(const db_kernel_amorphous *curve, wide stol, fine cubic[4]) {
    double at[LANES], in_interval[LANES];
    SHAPE_REAL coefficient[4][LANES];
    w_store(at, stol);
    for (int i = 0; i < LANES; i++) {
        const double place = (at[i] - curve->first) * curve->per_bin;
        const int32_t bin = place <= 0                 ? 0
                            : place >= curve->bins - 1 ? curve->bins - 1
                                                       : (int32_t)place;
        int32_t interval = curve->bin[bin];
        while (at[i] >= curve->knot[interval + 1]) interval++;
        in_interval[i] = at[i] - curve->knot[interval];
        for (int n = 0; n < 4; n++) coefficient[n][i] = (SHAPE_REAL)curve->cubic[4 * interval + n];
    }
    for (int n = 0; n < 4; n++) cubic[n] = f_load(coefficient[n]);
    return w_load(in_interval);
}

#define REAL SHAPE_REAL
#if DB_INSTANCE_KIND > 0
#define DIRS 3
#else
#define DIRS 0
#endif
AD_INLINE lattice_free lattice_free_scattering(const db_kernel_job *job, wide_vec3 q) {
    lattice_free s;
    s.sum = f_set(job->water);
#if DB_INSTANCE_KIND > 0
    s.per_molecule = f_set(0);
    for (int c = 0; c < 3; c++) s.by_q[c] = f_set(0);
#endif
    if (!job->amorphous.bins) return s;
    fine cubic[4];
    const wide stol = w_resolution(w3_square(q)).v;
    const wide in_interval = cubic_at(&job->amorphous, stol, cubic);
    const vec3 fine_q = v3_seed(narrow(q.x.v), narrow(q.y.v), narrow(q.z.v), 0);
    num u = resolution(v3_square(fine_q));
    u.v = narrow(in_interval); /* the interval's lower end has no slope */
    const num molecule = amorphous_intensity(u, cubic);
    const fine molecules = f_set(job->molecules);
    s.sum = f_fma(molecules, molecule.v, s.sum);
#if DB_INSTANCE_KIND > 0
    s.per_molecule = molecule.v;
    for (int c = 0; c < 3; c++) s.by_q[c] = f_mul(molecules, molecule.d[c]);
#endif
    return s;
}
#undef REAL
#undef DIRS
#endif
