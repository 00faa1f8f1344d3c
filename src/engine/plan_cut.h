/* Samples that a plan's kernels leave out, and bounds of a pixel's photons. */
#ifndef DB_ENGINE_PLAN_CUT_H
#define DB_ENGINE_PLAN_CUT_H

#include "engine/plan_state.h"

/* Perfect peak: the photons of a pixel of a solid angle (sr) if all domains, at all spindle angles and for
 * all sources, had a reflection of squared amplitude `intensity` exactly at the pixel. Light is
 * unpolarized, scattered forwards, and absorbed completely. */
double db_perfect_peak(const db_kernel_job *job, double solid_angle, double intensity);

/* The largest product of a pixel's factors (solid angle, polarization, Debye-Waller, overall scale), for spots in
 * closed form. */
double db_plan_pixel_factor(const db_plan *plan);

/* The largest variance (radian^2) of directions that the spread of places on the panels causes. */
double db_plan_place_variance(const db_plan *plan);

/* Fills job.cuts and job.cut, which say which samples are left out, from the job's values and the tolerance. */
void db_plan_fill_cut(db_plan *plan);

#endif
