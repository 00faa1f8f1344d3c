/* The number types of a kernel instance, their names, and the physics compiled for each.
 *
 * A formula (scattering.h, radiometry.h, lattice.h, structure_factor.h) is written once, in the
 * names of ad/names.h, which follow REAL and DIRS. The loops use it in these widths:
 *
 *   names                what it is                     used for
 *   wide     w_ w3_ wn_  double, no slopes              positions, scattering vectors, Miller
 *                                                       indices: before the nearest node is
 *                                                       subtracted
 *   fine     f_ f3_ fn_  SHAPE_REAL, no slopes          all that comes after; sums, columns
 *   WIDE_DIRS(name)      double, 3 slopes               layers of a sensor and curved panels,
 *                                                       whose digits float would lose
 *   DISTANCE(name)       SHAPE_REAL, 1 slope            solid angle by 1/distance,
 *                                                       polarization factor by its form
 *   num, n_mul, vec3 ..  as REAL and DIRS say where     one sample, in lattice_factor.h (1 slope
 *                        they are written; lanes are    along each axis, with cell counts 2),
 *                        still fine or wide             amplitude.h (double, 1),
 *                                                       debye_waller.h, lattice_free.h (3)
 *
 * Forward instances (DB_INSTANCE_KIND 0) have no slopes: there all widths carry values alone.
 *
 *   w_add, f_add         add lanes; every l_ function of ad/lane.h has such names
 *   w3_dot, f3_dot       of vectors; so do v3_ functions of ad/vec3.h; wm3_: matrices
 *   wn_passive           of single numbers, which in these two widths are values
 *   w_NAME, f_NAME       the formula NAME in that width
 *   FINE(name)           name_float or name_double: the job's arrays in fine's precision
 *
 * SHAPE_REAL is float in mixed precision. LANES is how many numbers are side by side: 1 on devices,
 * else a vector of the instruction set. */
#ifndef DB_KERNEL_INSTANCE_TYPES_H
#define DB_KERNEL_INSTANCE_TYPES_H

#include "kernel/job.h"

/* 0: without the features that plain jobs do not have (those have a flat detector without thickness, nearest
 * structure factors, no background, no resolution limit). */
enum { GENERAL = DB_INSTANCE_GENERAL };

/* Instances with DB_INSTANCE_FLAT, on devices, leave out of general jobs curved panels, interpolation,
 * structure factors by energy and a diffuse halo, which take many registers and which most data do not need. */
#if defined(DB_INSTANCE_FLAT)
#define CURVED(job) 0
#define INTERPOLATED(job) 0
#define BY_ENERGY(job) 0
#else
#define CURVED(job) (GENERAL && (job)->curved)
#define INTERPOLATED(job) (GENERAL && (job)->interpolate)
#define BY_ENERGY(job) (GENERAL && (job)->site_kinds)
#endif

/* A halo needs registers, too, and columns: not in the amplitudes' instance, nor in those of devices that leave it out
 * (DB_INSTANCE_FLAT, DB_INSTANCE_WITHOUT_HALO). */
#if DB_INSTANCE_GENERAL && !defined(DB_INSTANCE_AMPLITUDES) && !defined(DB_INSTANCE_FLAT) &&       \
    !defined(DB_INSTANCE_WITHOUT_HALO)
#define DB_INSTANCE_HALO 1
#define HALO(job) ((job)->halo.number != NULL)
#else
#define DB_INSTANCE_HALO 0
#define HALO(job) 0
#endif

/* Columns that devices keep apart. */
enum {
    DB_LOOSE_COLUMNS =
        DB_COLUMN_ROTATION - DB_COLUMN_AMPLITUDE +
        (DB_INSTANCE_HALO ? DB_MAX_ROTATION_SLOPES : DB_MAX_ROTATION_SLOPES_WITHOUT_HALO)
};

#if defined(DB_INSTANCE_PRECISION_MIXED)
#define SHAPE_REAL float
#else
#define SHAPE_REAL double
#endif
#if !defined(LANES)
#include "ad/vec_isa.h"
#if defined(DB_INSTANCE_PRECISION_MIXED)
#define LANES (AD_VEC_BYTES / 4)
#else
#define LANES (AD_VEC_BYTES / 8)
#endif
#endif

#define REAL double
#define DIRS 0
#include "ad/lane.h"
#include "ad/num.h"
#include "kernel/scattering.h"
#include "kernel/structure_factor.h"
#include "model/site_scattering.h"
#if DB_INSTANCE_KIND == 0 && defined(DB_INSTANCE_PRECISION_MIXED)
#include "kernel/radiometry.h"
#endif
typedef lane wide;
typedef lane_mask wide_mask;
typedef num wide_num;
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
typedef lane_mask fine_mask;
typedef num fine_num;
typedef vec3 fine_vec3;
#include "kernel/radiometry.h"
#if DB_INSTANCE_KIND == 0
#include "kernel/lattice.h"
#if defined(DB_INSTANCE_PRECISION_MIXED)
#include "kernel/structure_factor.h"
#endif
#endif
AD_INLINE fine f_set(double a) { return l_set((SHAPE_REAL)a); }
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
#include "kernel/spot_cut.h"
#undef REAL

/* wide */
#define w_set l_set_double
#define w_load l_load_double
#define w_store l_store_double
#define w_iota l_iota_double
#define w_add l_add_double
#define w_sub l_sub_double
#define w_neg l_neg_double
#define w_mul l_mul_double
#define w_fma l_fma_double
#define w_rsqrt l_rsqrt_double
#define w_rint l_rint_double
#define w_reduce l_reduce_double
#define w_fraction l_fraction_double
#define w_lt l_lt_double
#define w_le l_le_double
#define w_eq l_eq_double
#define w_and l_and_double
#define w_select l_select_double
#define wn_passive n_passive_double_0
#define w3_passive v3_passive_double_0
#define w3_add v3_add_double_0
#define w3_scale v3_scale_double_0
#define w3_dot v3_dot_double_0
#define w3_square v3_square_double_0
#define w3_symmetric v3_symmetric_double_0
#define w3_inverse_length v3_inverse_length_double_0
#define wm3_passive m3_passive_double_0
#define wm3_apply m3_apply_double_0
#define w_pixel_position pixel_position_double_0
#define w_scattering_vector scattering_vector_double_0
#define w_nearest_node nearest_node_double_0
#define w_row_index row_index_double_0
#define w_row_square row_square_double_0
#define w_resolution resolution_double_0
#define w_within_resolution within_resolution_double_0

/* fine */
#if defined(DB_INSTANCE_PRECISION_MIXED)
#define FINE(name) name##_float
#define FINE_NUM(name) name##_float_0
#else
#define FINE(name) name##_double
#define FINE_NUM(name) name##_double_0
#endif
#define f_load FINE(l_load)
#define f_store FINE(l_store)
#define f_add FINE(l_add)
#define f_sub FINE(l_sub)
#define f_mul FINE(l_mul)
#define f_div FINE(l_div)
#define f_fma FINE(l_fma)
#define f_fnma FINE(l_fnma)
#define f_sqrt FINE(l_sqrt)
#define f_exp FINE(l_exp)
#define f_erf FINE(l_erf)
#define f_abs FINE(l_abs)
#define f_max FINE(l_max)
#define f_neg FINE(l_neg)
#define f_reduce FINE(l_reduce)
#define f_lt FINE(l_lt)
#define f_eq FINE(l_eq)
#define f_any FINE(l_any)
#define f_bitmask FINE(l_bitmask)
#define f_keep FINE(l_keep)
#define f_select FINE(l_select)
#define fn_passive FINE_NUM(n_passive)
#define f3_passive FINE_NUM(v3_passive)
#define f3_dot FINE_NUM(v3_dot)
#define f3_symmetric FINE_NUM(v3_symmetric)
#define f3_form_back FINE_NUM(v3_form_back)
#define f3_unit_back FINE_NUM(v3_unit_back)
#define f_polarization_of_form FINE_NUM(polarization_of_form)
#define f_row_polarization FINE_NUM(row_polarization)
typedef FINE(db_kernel_sample) fine_sample;
typedef FINE(db_kernel_source) fine_source;

/* The widths with slopes. */
#if DB_INSTANCE_KIND > 0
#define WIDE_DIRS(name) name##_double_3
#else
#define WIDE_DIRS(name) name##_double_0
#endif
#if DB_INSTANCE_KIND > 0 && defined(DB_INSTANCE_PRECISION_MIXED)
#define DISTANCE(name) name##_float_1
#elif DB_INSTANCE_KIND > 0
#define DISTANCE(name) name##_double_1
#elif defined(DB_INSTANCE_PRECISION_MIXED)
#define DISTANCE(name) name##_float_0
#else
#define DISTANCE(name) name##_double_0
#endif

/* wide -> fine: the only place where digits are given up, after the nearest node has been
 * subtracted. */
#if !defined(DB_INSTANCE_PRECISION_MIXED)
AD_INLINE fine narrow(wide a) { return a; }
#elif LANES == 1
AD_INLINE fine narrow(wide a) { return (float)a; }
#else
AD_INLINE fine narrow(wide a) { return vec_narrow(a.lo, a.hi); }
#endif

AD_INLINE void narrow_vector(wide_vec3 v, fine narrowed[3]) {
    narrowed[0] = narrow(v.x.v);
    narrowed[1] = narrow(v.y.v);
    narrowed[2] = narrow(v.z.v);
}

/* The offset from the nearest integer of a number to which INDEX_SHIFT has been added. */
#if !defined(DB_INSTANCE_PRECISION_MIXED)
#define INDEX_SHIFT 0
AD_INLINE fine narrow_offset(wide shifted) { return narrow(w_reduce(shifted)); }
#else
#define INDEX_SHIFT DB_OFFSET_SHIFT
#if LANES == 1
AD_INLINE fine narrow_offset(wide shifted) { return w_fraction(shifted); }
#else
_Static_assert((int)DB_OFFSET_SHIFT == (int)VEC_FRACTION_SHIFT,
               "both leave the same binary places");
AD_INLINE fine narrow_offset(wide shifted) { return vec_fraction(shifted.lo, shifted.hi); }
#endif
#endif

AD_INLINE wide_vec3 wide_vector(const double v[3]) {
    return w3_passive(w_set(v[0]), w_set(v[1]), w_set(v[2]));
}

#endif
