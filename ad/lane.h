/* A lane bundle: LANES numbers of type REAL processed together. Include once per REAL.
 * LANES = 1: the plain number (always so in CUDA and on the host side of the model).
 * Otherwise one hardware vector, or two where LANES needs twice a vector's elements (doubles beside
 * floats). */
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
