/* The number types of a kernel instance, and the physics compiled for each:
 *   wide   double, no slopes: positions, scattering vectors, Miller indices
 *   fine   SHAPE_REAL, no slopes: everything after reduction to the nearest node; sums
 *   axis   SHAPE_REAL, slopes by dh and N: the interference function along one axis
 *   site   SHAPE_REAL, slopes by the pixel's position or direction: solid angle, polarization;
 *          double where the place itself is found and digits would be lost otherwise */
#ifndef DB_KERNEL_INSTANCE_TYPES_H
#define DB_KERNEL_INSTANCE_TYPES_H

#define REAL double
#define DIRS 0
#include "ad/lane.h"
#include "ad/num.h"
#include "kernel/scattering.h"
#include "kernel/structure_factor.h"
#if DB_INSTANCE_KIND == 0 && defined(DB_INSTANCE_PRECISION_MIXED)
#include "kernel/radiometry.h"
#endif
typedef lane wide;
typedef vec3 wide_vec3;
#undef DIRS
#if DB_INSTANCE_KIND > 0
#if defined(DB_INSTANCE_PRECISION_MIXED)
#define DIRS 1
#include "ad/num.h"
#include "kernel/structure_factor.h"
#undef DIRS
#endif
#define DIRS 3
#include "ad/num.h"
#include "kernel/scattering.h"
#include "kernel/radiometry.h"
#undef DIRS
#endif
#undef REAL

#define REAL SHAPE_REAL
#define DIRS 0
#if defined(DB_INSTANCE_PRECISION_MIXED)
#include "ad/lane.h"
#include "ad/num.h"
#endif
typedef lane fine;
#include "kernel/radiometry.h"
#if DB_INSTANCE_KIND == 0
#include "kernel/lattice.h"
#if defined(DB_INSTANCE_PRECISION_MIXED)
#include "kernel/structure_factor.h"
#endif
#endif
#undef DIRS

#if DB_INSTANCE_KIND > 0
#define DIRS 1
#include "ad/num.h"
#include "kernel/radiometry.h"
#include "kernel/structure_factor.h"
#if DB_INSTANCE_KIND > 1
#undef DIRS
#define DIRS 2
#include "ad/num.h"
#endif
#include "kernel/lattice.h"
#undef DIRS
#define DIRS 3
#if defined(DB_INSTANCE_PRECISION_MIXED)
#include "ad/num.h"
#endif
#include "kernel/structure_factor.h"
#undef DIRS
#endif
#undef REAL

/* The job's arrays in fine's precision: FINE(sample) is sample_float or sample_double. */
#define FINE_PASTE_(name, real) name##_##real
#define FINE_PASTE(name, real) FINE_PASTE_(name, real)
#define FINE(name) FINE_PASTE(name, SHAPE_REAL)
typedef FINE(db_kernel_sample) fine_sample;
typedef FINE(db_kernel_source) fine_source;

/* wide -> fine: the only place where digits are given up, after the nearest node has been
 * subtracted. */
#if defined(DB_INSTANCE_PRECISION_MIXED)
#if LANES == 1
AD_INLINE fine narrow(wide a) { return (float)a; }
#else
AD_INLINE fine narrow(wide a) { return vec_narrow(a.lo, a.hi); }
#endif
#else
AD_INLINE fine narrow(wide a) { return a; }
#endif

/* The offset from the nearest integer of a number to which INDEX_SHIFT has been added. */
#if defined(DB_INSTANCE_PRECISION_MIXED)
#define INDEX_SHIFT DB_OFFSET_SHIFT
#if LANES == 1
AD_INLINE fine narrow_offset(wide shifted) { return l_fraction_double(shifted); }
#else
_Static_assert((int)DB_OFFSET_SHIFT == (int)VEC_FRACTION_SHIFT,
               "both leave the same binary places");
AD_INLINE fine narrow_offset(wide shifted) { return vec_fraction(shifted.lo, shifted.hi); }
#endif
#else
#define INDEX_SHIFT 0
AD_INLINE fine narrow_offset(wide shifted) { return narrow(l_reduce_double(shifted)); }
#endif

#endif
