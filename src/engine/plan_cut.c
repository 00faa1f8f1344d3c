/* Which samples a plan's kernels leave out (kernel/spot_cut.h): what becomes of the tolerance. */
#include "engine/perfect_peak.h"
#include "engine/plan_internal.h"

#define REAL double
#define DIRS 0
#include "kernel/lattice.h"
#include "kernel/spot_cut.h"

#include <math.h>

/* Of a spot's peak, always left out of compact spots: far below what rounding does. */
static const double ALWAYS = 1e-24;

/* Of a spot's peak, never left out: the bounds of spot_cut.h hold for smaller parts. */
static const double MOST = 1e-2;

/* The kernels compare in single precision. */
static const double ROUNDING = 1e-3;

/* Parts of reciprocal space in which samples count, from which on looking costs more than it saves:
 * the ball of a compact spot as a cube, the streaks of the square shape as what is below a product
 * of three distances. Measured (bench/NOTES.md). */
static const double MOST_BALL = 0.8, MOST_STREAK = 0.01;

/* 1.25: what the weights of the cubic through four nodes add up to at most, along each axis. */
static double largest_factor(const db_plan *plan) {
    const double cubic = 1.25 * 1.25 * 1.25;
    return plan->largest_intensity * (plan->job.interpolate ? cubic * cubic : 1);
}

/* |P| is at most this: d.W d/2 lies between those of light polarized one way and the other. */
static double largest_polarization(const db_beam *beam) {
    return beam->polarized ? fmax(1, (1 + fabs(beam->polarization)) / 2) : 1;
}

/* exp(-B |q|^2/2), where |q| is at most 2/wavelength. */
static double largest_debye_waller(const db_kernel_job *job) {
    double kappa = 0;
    for (size_t j = 0; j < job->source_count; j++) kappa = fmax(kappa, job->source_double[j].kappa);
    return exp(2 * fmax(0, -job->b_factor) * kappa * kappa);
}

/* Solid angle (sr) of a pixel at its largest: at the plane's point nearest to the sample. */
static double largest_solid_angle(const db_plan *plan) {
    double largest = 0;
    for (size_t i = 0; i < plan->experiment.detector.panel_count; i++) {
        const db_kernel_panel *p = &plan->job.panel[i];
        const double *f = p->fast, *s = p->slow, *o = p->origin;
        const double normal[3] = { f[1] * s[2] - f[2] * s[1], f[2] * s[0] - f[0] * s[2],
                                   f[0] * s[1] - f[1] * s[0] };
        const double length =
            sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
        const double nearest =
            plan->job.curved
                ? fabs(p->radius)
                : fabs(o[0] * normal[0] + o[1] * normal[1] + o[2] * normal[2]) / length;
        const double square = nearest * nearest;
        /* deeper layers are further away, and z grows with them: z/R^3 does not exceed 1/R^2 there
         * by more than it does here */
        const double angle = plan->job.point_pixel ? 1 / square
                                                   : p->pixel_size[0] * p->pixel_size[1] *
                                                         fabs(p->z) / (square * nearest);
        largest = fmax(largest, angle);
    }
    return largest;
}

/* The part of its peak that each sample of each pixel may lack. */
static double part_left_out(const db_plan *plan) {
    const double least = plan->job.shape == DB_SHAPE_GAUSS ? ALWAYS : 0;
    if (!(plan->tolerance > 0)) return least;
    const double peak =
        db_perfect_peak(&plan->job, largest_solid_angle(plan), largest_factor(plan)) *
        largest_polarization(&plan->experiment.beam) * largest_debye_waller(&plan->job);
    const double part = (1 - ROUNDING) * plan->tolerance / peak;
    return part > least ? fmin(part, MOST) : least; /* no bound on the peak: nothing */
}

static int pays(const db_kernel_job *job, double part) {
    const double *n = job->cells;
    if (job->shape == DB_SHAPE_SQUARE)
        return n[0] >= 1 && n[1] >= 1 && n[2] >= 1 &&
               sqrt(1 / part) < MOST_STREAK * n[0] * n[1] * n[2];
    const double width = 2 * sqrt(job->cut / job->fudge);
    return fmin(1, width / n[0]) * fmin(1, width / n[1]) * fmin(1, width / n[2]) < MOST_BALL;
}

void db_plan_fill_cut(db_plan *plan) {
    db_kernel_job *job = &plan->job;
    const double part = part_left_out(plan);
    const int flat = job->shape == DB_SHAPE_TOPHAT; /* nothing is left out, and always cut off */
    job->cuts = flat;
    if (!flat && !(part > 0)) return;
    job->cut = spot_cut(job->shape, part);
    job->cuts = flat || pays(job, part);
}
