/** @file
 * Semantic version of the library. */
#ifndef DUALBRAGG_VERSION_H
#define DUALBRAGG_VERSION_H

#include <dualbragg/status.h>
#include <stddef.h>

#define DB_VERSION_MAJOR 0
#define DB_VERSION_MINOR 1
#define DB_VERSION_PATCH 0
#define DB_VERSION_STRING "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif
/** "0.1.0" of the library in use. Static storage.
 *
 * @return static storage */
DB_API const char *db_version(void);
/** Comma-separated optional components of this build, e.g. "OpenMP, AVX2, PNG". Static storage.
 *
 * @return static storage */
DB_API const char *db_features(void);
/** Bytes of a public struct of the library in use by its name, e.g. "db_experiment"; 0: there is
 * none. For callers that were compiled with other headers, or that describe structs
 * themselves, as Python's ctypes does: a different size means another version.
 *
 * @param name of the struct
 * @return bytes; 0: there is none */
DB_API size_t db_struct_size(const char *name);
#ifdef __cplusplus
}
#endif
#endif
