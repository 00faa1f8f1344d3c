/** @file
 * Kinds of files, recognized by content. */
#ifndef DUALBRAGG_EXPERT_FILE_KIND_H
#define DUALBRAGG_EXPERT_FILE_KIND_H

#include <dualbragg/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Possible contents of a file. */
enum {
    DB_HOLDS_IMAGES = 1,
    DB_HOLDS_GEOMETRY = 2,   /**< frame, detector, beam: db_read_expt */
    DB_HOLDS_CRYSTALS = 4,   /**< orientation: db_read_mosflm_matrix, db_read_expt */
    DB_HOLDS_SPOTS = 8,      /**< places or boxes of reflections on an image */
    DB_HOLDS_AMPLITUDES = 16 /**< db_read_structure_factors */
};

/** Kind of a file. */
typedef struct db_file_kind {
    char label[16]; /**< "SMV"; "": an unknown format */
    char name[64];  /**< "an SMV image" */
    unsigned holds; /**< of DB_HOLDS_*; 0: known, but not read */
    int uncertain;  /**< 1: text that could be something else, too */
} db_file_kind;

/** Recognizes a file by its content; its name has no
 * effect. All readers of this library use this test.
 *
 * @param context receives the message of a failure
 * @param path name of the file, or FILE#N of an image in one
 * @param kind filled
 * @return DB_OK, also where the file is of no known kind; DB_ERROR_FILE where it cannot be read */
DB_API db_status db_recognize_file(db_context *context, const char *path, db_file_kind *kind);

#ifdef __cplusplus
}
#endif
#endif
