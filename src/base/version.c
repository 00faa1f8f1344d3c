/* Version, and the optional components of this build. */
#include <dualbragg/version.h>

/* The names of the components, each with the separator in front. */
static const char features[] = ", "
#ifdef DB_HAVE_OPENMP
                               ", OpenMP"
#endif
#ifdef DB_HAVE_AVX2
                               ", AVX2"
#endif
#ifdef DB_HAVE_AVX512
                               ", AVX-512"
#endif
#ifdef DB_HAVE_RANDOM123
                               ", Random123"
#endif
#ifdef DB_HAVE_PNG
                               ", PNG"
#endif
#ifdef DB_HAVE_ZLIB
                               ", zlib"
#endif
#ifdef DB_HAVE_JANSSON
                               ", JSON"
#endif
#ifdef DB_HAVE_MSGPACK
                               ", msgpack"
#endif
#ifdef DB_HAVE_GEMMI
                               ", gemmi"
#endif
#ifdef DB_HAVE_HDF5
                               ", HDF5"
#endif
#ifdef DB_HAVE_TIFF
                               ", TIFF"
#endif
#ifdef DB_HAVE_CUDA
                               ", CUDA"
#endif
#ifdef DB_HAVE_FIT
                               ", fit"
#endif
#ifdef DB_HAVE_MPI
                               ", MPI"
#endif
    ;

const char *db_version(void) { return DB_VERSION_STRING; }

/* Without any component the list is just its leading separator. */
const char *db_features(void) { return sizeof features > 3 ? features + 4 : features + 2; }
