/* A lane: LANES numbers of type REAL that are processed together (SIMD). Include once per REAL.
 *
 * LANES 1 is the plain number: always so in CUDA and in the model on the host. Otherwise a lane is
 * one hardware vector, or two where one holds only half of LANES (doubles beside floats). */
#include "ad/names.h"

#if LANES == 1
#include "ad/lane_scalar.h"
#else
#include "ad/vec_isa.h"
#if LANES * AD_SIZE == AD_VEC_BYTES
#include "ad/lane_vector.h"
#elif LANES * AD_SIZE == 2 * AD_VEC_BYTES
#include "ad/lane_pair.h"
#else
#error "LANES must fill one or two hardware vectors"
#endif
#endif
#include "ad/elementary.h"
