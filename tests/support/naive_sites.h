/* Structure factors that depend on the photon energy: two kinds of sites for any list, and |F|^2 from
 * complex numbers. It shares no code with the project. */
#ifndef DB_TESTS_SUPPORT_NAIVE_SITES_H
#define DB_TESTS_SUPPORT_NAIVE_SITES_H

#include <dualbragg/experiment.h>

#include <complex.h>
#include <math.h>

enum { NAIVE_KINDS = 2, NAIVE_POINTS = 5 };

/* Gives the experiment's list two kinds of sites of edges in the middle of `wavelength` 1 +- part. */
static inline db_status naive_give_sites(db_context *of, db_experiment *e, double part) {
    static double share[1 << 20];
    double energy[NAIVE_POINTS], f[4][NAIVE_POINTS];
    db_site_kinds sites = { .count = NAIVE_KINDS, .part = share };
    const int *const extent = e->structure_factors.extent;
    const double middle = 12398.419843320026 / e->beam.wavelength;
    for (int i = 0; i < NAIVE_POINTS; i++) { /* no source is at a point */
        energy[i] = middle * (1 + part * (i / 2.0 - 1.013));
        f[0][i] = -6 - 9 / (1 + fabs(i - 1.7));
        f[1][i] = i < 2 ? 0.6 : 4.1 - 0.2 * i;
        f[2][i] = -3.5 - 2 * i % 3;
        f[3][i] = 0.5 + i * 0.8;
    }
    for (int i = 0; i < extent[0] * extent[1] * extent[2]; i++)
        for (int n = 0; n < 6; n++)
            share[6 * i + n] = (n < 2 ? 30 : 2) * sin(1.3 * i + 2.1 * n * (1 + i % 7));
    for (int k = 0; k < NAIVE_KINDS; k++)
        sites.kind[k] = (db_site_kind){ .name = { (char)('a' + k) },
                                        .count = NAIVE_POINTS - (size_t)k,
                                        .energy = energy,
                                        .f_prime = f[2 * k],
                                        .f_second = f[2 * k + 1] };
    energy[NAIVE_POINTS - 2] = middle * (1 + 0.97 * part); /* where the second curve ends */
    return db_experiment_set_site_kinds(of, e, &sites);
}

/* |F|^2 of an entry of the box at a wavelength. */
static inline double naive_site_square(const db_site_kinds *s, int entry, double wavelength) {
    const double energy = 12398.419843320026 / wavelength;
    const double *const p = s->part + 2 * (1 + s->count) * entry;
    double complex f = p[0] + I * p[1];
    for (int k = 0; k < s->count; k++) {
        const db_site_kind *const c = &s->kind[k];
        for (size_t i = 0; i + 1 < c->count; i++) {
            const double u = (energy - c->energy[i]) / (c->energy[i + 1] - c->energy[i]);
            if (u < 0 || u >= 1) continue;
            f += (p[2 + 2 * k] + I * p[3 + 2 * k]) *
                 ((1 - u) * (c->f_prime[i] + I * c->f_second[i]) +
                  u * (c->f_prime[i + 1] + I * c->f_second[i + 1]));
        }
    }
    return creal(f * conj(f));
}

#endif
