#include "cli/report.h"

#include <math.h>
#include <stdio.h>

/* "    NAME: 0.1 0.2 UNIT" */
static void print_numbers(const char *name, const double *value, int count, double factor,
                          const char *unit, int digits) {
    int any = 0;
    for (int i = 0; i < count; i++) any |= value[i] != 0;
    if (!any) return;
    printf("    %s:", name);
    for (int i = 0; i < count; i++) printf(" %.*g", digits, factor * value[i]);
    printf("%s%s\n", *unit ? " " : "", unit);
}

/* Standard deviations of variances. */
static void print_rms(const char *name, const double *variance, int count, double factor,
                      const char *unit, int digits) {
    double rms[6];
    for (int i = 0; i < count; i++) rms[i] = sqrt(fmax(variance[i], 0));
    print_numbers(name, rms, count, factor, unit, digits);
}

/* Along two axes, with their correlation. */
static void print_pair(const char *name, const double covariance[3], const char *unit, int digits) {
    char text[64];
    const double both = sqrt(fmax(covariance[0] * covariance[1], 0));
    snprintf(text, sizeof text, "%s, correlation %.*g", unit, digits,
             both > 0 ? covariance[2] / both : 0);
    print_rms(name, covariance, 2, 1, covariance[2] != 0 ? text : unit, digits);
}

void db_report_closed_spots(const db_experiment *experiment, int digits) {
    static const char *const ties[] = { [DB_STRAIN_UNIAXIAL] = ", xx along x and y",
                                        [DB_STRAIN_ISOTROPIC] = ", xx along x, y and z",
                                        [DB_STRAIN_SHEAR_XY] = NULL };
    const db_spread *const s = &experiment->spread;
    const db_goniometer *const g = &experiment->goniometer;
    char text[80];
    puts("  spots in closed form, standard deviations of Gaussians "
         "(x = a*, y = c x a*, z = c of the crystal):");
    print_numbers("block size, correlations bc ca ab", s->size_correlation, 3, 1, "", digits);
    print_rms("mosaic, about each axis", &s->mosaic, 1, 1, "degree", digits);
    print_numbers("mosaic, in addition, covariances xx yy zz yz zx xy", s->mosaic_tensor, 6, 1,
                  "degree^2", digits);
    print_rms("strain, along all axes", &s->strain, 1, 0.1, "%", digits);
    snprintf(text, sizeof text, "%%%s", ties[s->strain_ties] ? ties[s->strain_ties] : "");
    print_rms("strain, in addition, xx yy zz yz zx xy", s->strain_tensor, 6, 0.1, text, digits);
    for (int k = 0; k < DB_SPREAD_MODES; k++) {
        snprintf(text, sizeof text, "mode %d, xx xy xz yx yy yz zx zy zz", k + 1);
        print_numbers(text, s->mode[k], 9, 1, "per mille (mrad)", digits);
    }
    for (int k = 0; k < s->tails; k++)
        printf("    tail %d: %.*g %% of the blocks, %.*g times as wide\n", k + 1, digits,
               100 * s->tail_fraction[k], digits, s->tail_width[k]);
    print_rms("bandwidth", &s->bandwidth, 1, 0.1, "%", digits);
    print_pair("divergence, horizontal vertical", s->divergence, "mrad", digits);
    print_pair("footprint, horizontal vertical", s->footprint, "mm", digits);
    print_pair("point spread, fast slow", s->point_spread, "mm", digits);
    printf("    rotation from %.*g to %.*g degrees\n", digits, g->phi, digits,
           g->phi + g->phi_steps * g->phi_step);
}
