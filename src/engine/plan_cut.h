/* Chooses the samples that a plan's kernels leave out, and bounds a pixel's photons. */
#ifndef DB_ENGINE_PLAN_CUT_H
#define DB_ENGINE_PLAN_CUT_H

#include "engine/plan_state.h"

/* A pixel (photons) of that solid angle (sr) in which all domains, at all spindle angles and for
 * all sources, had a reflection of that squared amplitude exactly there, unpolarized light being
 * scattered forwards and all of it absorbed. */
double db_perfect_peak(const db_kernel_job *job, double solid_angle, double intensity);

/* The largest product of a pixel's factors (solid angle, polarization, Debye-Waller, overall scale), for spots in
 * closed form. */
double db_plan_pixel_factor(const db_plan *plan);

/* The largest variance (radian^2) of a direction by the spread of places on the panels. */
double db_plan_place_variance(const db_plan *plan);

/* Fills the job's members for leaving samples out, from its other values and the tolerance. */
void db_plan_fill_cut(db_plan *plan);

#endif
