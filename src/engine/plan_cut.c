/* Chooses from the tolerance which samples a plan's kernels leave out (kernel/spot_cut.h). */
#include "engine/plan_cut.h"

#include "base/vector.h"
#include "engine/plan_state.h"

#define REAL double
#define DIRS 0
#include "kernel/lattice.h"
#include "kernel/spot_cut.h"

#include <math.h>

/* Part of a spot's peak that is always left out for compact spots: far below rounding. */
static const double ALWAYS = 1e-24;

/* Largest part of a spot's peak that may be left out: the bounds of spot_cut.h hold below it. */
static const double MOST = 1e-2;

/* Relative margin of the cut, since kernels compare in single precision. */
static const double ROUNDING = 1e-3;

/* Largest share of groups (of lanes, per sample) with a sample that counts: above it, testing costs more than it
 * saves. [double, mixed], for images, and for derivatives, whose samples cost more. Measured (bench/NOTES.md). */
static const double MOST_GROUPS[] = { 0.55, 0.3 }, MOST_GROUPS_DERIVATIVES[] = { 0.8, 0.7 };

enum { PROBES = 64 };

double db_perfect_peak(const db_kernel_job *job, double solid_angle, double intensity) {
    const double cells = job->cells[0] * job->cells[1] * job->cells[2];
    double weights = 0;
    for (size_t j = 0; j < job->source_count; j++) weights += fabs(job->source_double[j].weight);
    return job->scale * solid_angle * weights * (double)job->sample_count * job->oversample *
           job->oversample * cells * cells * intensity;
}

/* Largest squared amplitude of a pixel. Interpolated amplitudes may exceed the listed ones: 1.25 is the largest sum of
 * the absolute weights of the cubic through four nodes along an axis. */
static double largest_factor(const db_plan *plan) {
    const double cubic = 1.25 * 1.25 * 1.25;
    return plan->table.largest_intensity * (plan->job.interpolate ? cubic * cubic : 1);
}

/* The largest |P|: d.W d/2 lies between its values for the two linear polarizations. */
static double largest_polarization(const db_beam *beam) {
    return beam->polarized ? fmax(1, (1 + fabs(beam->polarization)) / 2) : 1;
}

/* exp(-B |q|^2/2), where |q| is at most 2/wavelength. */
static double largest_debye_waller(const db_kernel_job *job) {
    double kappa = 0;
    for (size_t j = 0; j < job->source_count; j++) kappa = fmax(kappa, job->source_double[j].kappa);
    return exp(2 * fmax(0, -job->b_factor) * kappa * kappa);
}

/* Largest solid angle (sr) of a pixel: at the point of the panel's plane nearest to the sample. */
static double largest_solid_angle(const db_plan *plan) {
    double largest = 0;
    for (size_t i = 0; i < plan->experiment.detector.panel_count; i++) {
        const db_kernel_panel *p = &plan->job.panel[i];
        const double *f = p->fast;
        const double *s = p->slow;
        const double *o = p->origin;
        double normal[3];
        db_cross(f, s, normal);
        const double nearest =
            plan->job.curved ? fabs(p->radius) : fabs(db_dot(o, normal)) / db_length(normal);
        const double square = nearest * nearest;
        /* deeper layers are farther away, and z grows with depth: z/R^3 exceeds 1/R^2 there by no more
         * than at the front */
        const double angle = plan->job.point_pixel ? 1 / square
                                                   : p->pixel_size[0] * p->pixel_size[1] *
                                                         fabs(p->z) / (square * nearest);
        largest = fmax(largest, angle);
    }
    return largest;
}

double db_plan_pixel_factor(const db_plan *plan) {
    return plan->job.scale * plan->job.oversample * plan->job.oversample *
           largest_solid_angle(plan) * largest_polarization(&plan->experiment.beam) *
           largest_debye_waller(&plan->job);
}

/* The depth of absorption varies at most as much as a uniform distribution over the sensor. */
double db_plan_place_variance(const db_plan *plan) {
    const double thickness = 1e-6 * plan->experiment.detector.sensor_thickness;
    double largest = 0;
    for (size_t i = 0; i < plan->experiment.detector.panel_count; i++) {
        const db_panel_interface *p = &plan->values.interface.panel[i];
        const double variance =
            p->spread[0].v + p->spread[1].v + p->spread[2].v + thickness * thickness / 12;
        largest = fmax(largest, variance / (p->z.v * p->z.v));
    }
    return largest;
}

/* Part of a spot's peak that may be missing in each sample of each pixel. */
static double part_left_out(const db_plan *plan) {
    const double least = plan->job.shape == DB_SHAPE_GAUSS ? ALWAYS : 0;
    if (!(plan->tolerance > 0)) return least;
    const double peak =
        db_perfect_peak(&plan->job, largest_solid_angle(plan), largest_factor(plan)) *
        largest_polarization(&plan->experiment.beam) * largest_debye_waller(&plan->job);
    const double part = (1 - ROUNDING) * plan->tolerance / peak;
    return part > least ? fmin(part, MOST) : least; /* without a bound of the peak: least */
}

/* 1 if a sample counts at a pixel of a panel; curved panels are taken as flat. */
static int counts_at(const db_plan *plan, size_t panel, size_t sample, double fast, double slow) {
    const db_kernel_job *job = &plan->job;
    const db_kernel_panel *p = &job->panel[panel];
    const db_kernel_source_double *source = &job->source_double[sample % job->source_count];
    const double *lattice = job->sample_double[sample].lattice;
    double x[3], offset[3], square = 0;
    for (int c = 0; c < 3; c++) {
        x[c] = p->origin[c] + fast * p->pixel_size[0] * p->fast[c] +
               slow * p->pixel_size[1] * p->slow[c];
        square += x[c] * x[c];
    }
    const double per_metre = source->kappa / sqrt(square);
    for (int j = 0; j < 3; j++) {
        double h = 0;
        for (int c = 0; c < 3; c++) h += lattice[3 * j + c] * (x[c] * per_metre - source->s0[c]);
        offset[j] = h - rint(h);
    }
    return job->shape == DB_SHAPE_SQUARE ? on_streaks(offset, job->cells, job->cut)
                                         : near_node(offset, job->cells, job->fudge, job->cut);
}

/* Share of groups (neighbouring pixels and one sample) in which the sample counts, estimated from a few groups all
 * over the detector. It does not depend on the plan's regions, so that a pixel has the same bits in all regions. */
static double groups_that_count(const db_plan *plan) {
    const db_detector *d = &plan->experiment.detector;
    const int lanes = plan->precision == DB_PRECISION_MIXED ? 16 : 8;
    int found = 0;
    for (int n = 0; n < PROBES; n++) {
        /* multiples of irrational numbers spread evenly */
        const double u = (n + 0.5) / PROBES, v = n * 0.7548776662466927, w = n * 0.5698402909980532;
        const size_t panel = (size_t)(u * (double)d->panel_count);
        const double fast = (v - floor(v)) * d->panels[panel].fast_pixels,
                     slow = (w - floor(w)) * d->panels[panel].slow_pixels;
        const size_t sample = (size_t)n * 29 % plan->values.sample_count;
        int any = 0;
        for (int i = 0; i < lanes && !any; i++)
            any = counts_at(plan, panel, sample, floor(fast) + i + 0.5, floor(slow) + 0.5);
        found += any;
    }
    return (double)found / PROBES;
}

static int pays(const db_plan *plan) {
    const double *n = plan->job.cells;
    /* the bound of the square shape holds for one cell or more */
    if (plan->job.shape == DB_SHAPE_SQUARE && !(n[0] >= 1 && n[1] >= 1 && n[2] >= 1)) return 0;
    const double *most = plan->parameters.count ? MOST_GROUPS_DERIVATIVES : MOST_GROUPS;
    return groups_that_count(plan) < most[plan->precision];
}

void db_plan_fill_cut(db_plan *plan) {
    db_kernel_job *job = &plan->job;
    const double part = part_left_out(plan);
    const int flat =
        job->shape == DB_SHAPE_TOPHAT; /* always cut: flat spots are 0 beyond their edge */
    job->cuts = flat;
    if (!flat && !(part > 0)) return;
    job->cut = spot_cut(job->shape, part);
    job->cuts = flat || pays(plan);
}
