/* Every lane operation and rule once, as an object whose undefined symbols tell what the inner loop
 * would call. */
#define AD_MANY 4
#include "ad/vec_isa.h"
#if defined(PROBE_MIXED)
#define LANES (AD_VEC_BYTES / 4)
#else
#define LANES (AD_VEC_BYTES / 8)
#endif

#if defined(PROBE_MIXED)
#define REAL float
#include "real_probe.h"
#undef REAL
#endif
#define REAL double
#include "real_probe.h"

#if defined(PROBE_MIXED)
void probe_narrow(float *out, const double *in);
void probe_narrow(float *out, const double *in) {
    const lane x = l_load(in);
    l_store_float(out, vec_narrow(x.lo, x.hi));
}
#endif
