/** @file
 * Status codes and their texts. They come from one list. */
#ifndef DUALBRAGG_STATUS_H
#define DUALBRAGG_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DB_API __attribute__((visibility("default")))
#else
#define DB_API
#endif

/** X(name, process exit code, text) */
#define DB_STATUS_LIST(X)                                                                          \
    X(DB_OK, 0, "success")                                                                         \
    X(DB_NOT_CONVERGED, 1, "the refinement did not converge")                                      \
    X(DB_ERROR_USAGE, 2, "wrong use of a function, flag or configuration")                         \
    X(DB_ERROR_INPUT, 3, "an input file or value is unusable")                                     \
    X(DB_ERROR_FILE, 3, "a file cannot be read or written")                                        \
    X(DB_ERROR_MEMORY, 3, "out of memory")                                                         \
    X(DB_ERROR_CANCELLED, 1, "cancelled by the caller")                                            \
    X(DB_ERROR_UNSUPPORTED, 2, "not supported by this build or version")                           \
    X(DB_ERROR_DEVICE, 4, "the requested device or instruction set is not available")

/** Status of a call. */
typedef enum db_status {
#define DB_STATUS_ENUM(name, exit_code, text) name,
    DB_STATUS_LIST(DB_STATUS_ENUM)
#undef DB_STATUS_ENUM
        DB_STATUS_COUNT
} db_status;

/** One-line text of a status; never NULL. Thread-safe.
 *
 * @param status which
 * @return static storage */
DB_API const char *db_status_text(db_status status);

/** Exit code a program should end with after this status (0 to 4). Thread-safe.
 *
 * @param status which
 * @return 0 to 4 */
DB_API int db_status_exit_code(db_status status);

#ifdef __cplusplus
}
#endif
#endif
