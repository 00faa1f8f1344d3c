/* What a pixel would show at most. */
#ifndef DB_ENGINE_PERFECT_PEAK_H
#define DB_ENGINE_PERFECT_PEAK_H

#include "engine/plan_internal.h"

/* Largest squared amplitude of the list (or default_F). */
double db_largest_intensity(const db_structure_factors *f);

/* A pixel (photons) of that solid angle (sr) in which all domains, at all spindle angles and for
 * all sources, had a reflection of that squared amplitude exactly there, unpolarized light being
 * scattered forwards and all of it absorbed. */
double db_perfect_peak(const db_kernel_job *job, double solid_angle, double intensity);

#endif
